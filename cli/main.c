/*
 * main.c - finds the command and runs it. Holds the list of commands and the program's one global: whether the user wants
 * to stop.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/completion.h"
#include "cli/manual.h"
#include "cli/output.h"
#include "cli/outside.h"
#include "version.h"

const struct command *const command_list[] = {&cmd_bench,    &cmd_plan, &cmd_claims, &cmd_list, &cmd_report, &cmd_compare, &cmd_doctor,
                                              &cmd_selftest, &cmd_copy, &cmd_make,   &cmd_export_fio,
                                              &cmd_help,     NULL};

static volatile int interrupts;

volatile int *command_interrupts(void) { return &interrupts; }

/* The command of this name, or NULL with the error printed. */
const struct command *command_find(const char *name) {
  const char *names[16] = {NULL};
  for (unsigned i = 0; command_list[i]; i++) {
    if (strcmp(command_list[i]->name, name) == 0) return command_list[i];
    names[i] = command_list[i]->name;
  }
  command_fail(NULL, NULL, plan_nearest(name, names), "unknown command '%s'", name);
  return NULL;
}

/*
 * A file that is opened must not become descriptor 0, 1 or 2 because the caller closed them: output meant for the user would
 * go into it. The stand-in can only be read, so writing to it fails as it should.
 */
static void hold_standard_streams(void) {
  for (int descriptor = 0; descriptor < 3; descriptor++)
    if (fcntl(descriptor, F_GETFD) < 0 && errno == EBADF && open("/dev/null", O_RDONLY) != descriptor) return;
}

/* For tests: each command's options, one a line, with the words that their values are made of. What may be left out stands in
 * brackets. */
static int print_options(void) {
  for (unsigned i = 0; command_list[i]; i++)
    for (const struct option_row *row = command_list[i]->options; row && row->name; row++) {
      printf("%s\t%s\t%c\t%s%s%s\t", command_list[i]->name, row->name, row->letter ? row->letter : '-',
             row->otherwise ? "[" : "", row->argument ? row->argument : "", row->otherwise ? "]" : "");
      for (unsigned w = 0; row->words && row->words[w]; w++) printf("%s%s", w ? "," : "", row->words[w]);
      printf("\n");
    }
  return EXIT_FINE;
}

/* What the build makes of the tables: `__man PAGE`, `__completion SHELL`. */
static int print_made(int argc, char **argv) {
  const bool known = argc == 2 && (strcmp(argv[0], "__man") == 0 ? manual_print(argv[1]) : completion_print(argv[1]));
  return known ? EXIT_FINE : command_cannot("%s knows nothing of '%s'", argv[0], argc > 1 ? argv[1] : "");
}

static int run_word(int argc, char **argv) {
  const char *word = argv[0];
  if (strcmp(word, "--version") == 0) {
    printf("weir %s\n", WEIR_VERSION);
    return EXIT_FINE;
  }
  if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
    help_overview();
    return EXIT_FINE;
  }
  if (strcmp(word, "__worker") == 0) return outside_worker(argc, argv);
  if (strcmp(word, "__options") == 0) return print_options();
  if (strcmp(word, "__man") == 0 || strcmp(word, "__completion") == 0) return print_made(argc, argv);
  if (word[0] == '-') return command_fail(NULL, NULL, NULL, "unknown option '%s'; options stand after the command", word);
  const struct command *command = command_find(word);
  return command ? command->run(command, argc, argv) : EXIT_CANNOT;
}

int main(int argc, char **argv) {
  hold_standard_streams();
  /* A closed pipe and a file size limit are errors of the write that meets them, not the end of the program. */
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  int code = EXIT_FINE;
  if (argc < 2)
    help_overview();
  else
    code = run_word(argc - 1, argv + 1);
  return output_finish(code);
}
