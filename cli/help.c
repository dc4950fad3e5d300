/* help.c - `weir help`, --help and what is printed when nothing else fits. The rows of options are printed by option.c. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/method_card.h"
#include "cli/topics.h"
#include "methods/methods.h"

void help_overview(void) {
  printf(
      "Usage: weir COMMAND [OPTION]... [FILE]\n"
      "Measures every way to read and write files side by side.\n\n"
      "Examples:\n"
      "  weir bench                              the usual uses, here, in about a minute\n"
      "  weir bench --cache cold -o run.jsonl    cold uses only; keeps every sample\n"
      "  weir report run.jsonl                   shows the results again\n\n"
      "Commands:\n");
  for (unsigned i = 0; command_list[i]; i++) printf("  %-10s %s\n", command_list[i]->name, command_list[i]->summary);
  printf("\nTopics:\n");
  for (unsigned i = 0; topic_list[i].name; i++) printf("  %-10s %s\n", topic_list[i].name, topic_list[i].summary);
  printf("\n'weir help WORD' tells the options of a command or explains a topic; 'weir --version' the version.\n");
}

void help_command(const struct command *command) {
  printf("Usage: weir %s %s\n%s\n\nExamples:\n%s", command->name, command->synopsis, command->description,
         command->examples);
  if (!command->options || !command->options->section) printf("\nOptions:\n");
  option_help(command->options);
}

int command_fail(const struct command *command, const char *option, const char *hint, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "weir: ");
  if (option) fprintf(stderr, "%s: ", option);
  vfprintf(stderr, format, arguments);
  if (hint) fprintf(stderr, " (did you mean '%s'?)", hint);
  fprintf(stderr, "\n");
  if (command)
    fprintf(stderr, "weir: see 'weir help %s'\n", command->name);
  else
    fprintf(stderr, "weir: see 'weir help'\n");
  va_end(arguments);
  return EXIT_CANNOT;
}

int command_cannot(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "weir: ");
  vfprintf(stderr, format, arguments);
  fprintf(stderr, "\n");
  va_end(arguments);
  return EXIT_CANNOT;
}

static int explain_method(const char *name) {
  const struct weir_method *method = method_card_find(name);
  const char *names[256] = {NULL};
  for (unsigned i = 0; methods_list[i] && i < 255; i++) names[i] = methods_list[i]->name;
  if (!method) return command_fail(NULL, NULL, plan_nearest(name, names), "there is no method '%s'; see 'weir list methods'", name);
  method_card_print(method);
  return EXIT_FINE;
}

/* A command, a topic or a method. */
static int explain(const char *word) {
  if (strchr(word, '/') || method_card_find(word)) return explain_method(word);
  const char *names[32] = {NULL};
  unsigned count = 0;
  for (unsigned i = 0; command_list[i] && count < 31; i++) {
    if (strcmp(command_list[i]->name, word) == 0) {
      help_command(command_list[i]);
      return EXIT_FINE;
    }
    names[count++] = command_list[i]->name;
  }
  for (unsigned i = 0; topic_list[i].name && count < 31; i++) {
    if (strcmp(topic_list[i].name, word) == 0) {
      topic_list[i].print();
      return EXIT_FINE;
    }
    names[count++] = topic_list[i].name;
  }
  const char *hint = plan_nearest(word, names);
  return command_fail(NULL, NULL, hint, "no help on '%s'%s", word, hint ? "" : "; there is help on commands, rounds, ranks, warnings");
}

static int run_help(const struct command *self, int argc, char **argv) {
  struct option_operands operands;
  enum option_result parsed = option_parse(self, argc, argv, NULL, &operands);
  if (parsed != OPTION_GO) return parsed == OPTION_DONE ? EXIT_FINE : EXIT_CANNOT;
  if (operands.count == 0) {
    help_overview();
    return EXIT_FINE;
  }
  if (operands.count > 1) return command_fail(self, NULL, NULL, "one word at a time");
  return explain(operands.values[0]);
}

const struct command cmd_help = {
    .name = "help",
    .synopsis = "[COMMAND|TOPIC|METHOD]",
    .summary = "tell the options of a command, or what a topic or a method is",
    .description = "Tells what a command does and its options. Topics are rounds, ranks and warnings. Of\n"
        "a method it tells what it calls, what can be set, and the few lines of C that do it.",
    .examples =
        "  weir help\n"
        "  weir help bench\n"
        "  weir help ranks\n"
        "  weir help map/populate\n",
    .run = run_help,
};
