/* help.c - `weir help`, --help and what is printed when nothing else fits. The rows of options are printed by option.c. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"

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
  printf("\n'weir help COMMAND' tells the options of a command; 'weir --version' the version.\n");
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

static int run_help(const struct command *self, int argc, char **argv) {
  struct option_operands operands;
  enum option_result parsed = option_parse(self, argc, argv, NULL, &operands);
  if (parsed != OPTION_GO) return parsed == OPTION_DONE ? EXIT_FINE : EXIT_CANNOT;
  if (operands.count == 0) {
    help_overview();
    return EXIT_FINE;
  }
  const struct command *command = command_find(operands.values[0]);
  if (!command) return EXIT_CANNOT;
  help_command(command);
  return EXIT_FINE;
}

const struct command cmd_help = {
    .name = "help",
    .synopsis = "[COMMAND]",
    .summary = "tell the options of a command",
    .description = "Tells what a command does and its options.",
    .examples =
        "  weir help\n"
        "  weir help bench\n",
    .run = run_help,
};
