/*
 * command.h - what a command of `weir` is. The list of them is in main.c; each has a file of its own.
 */
#ifndef WEIR_CLI_COMMAND_H
#define WEIR_CLI_COMMAND_H

#include <stdbool.h>

#include "cli/option.h"

/* Exit codes; 130 as shells have it for SIGINT. */
enum { EXIT_FINE = 0, EXIT_BAD_ANSWER = 1, EXIT_CANNOT = 2, EXIT_UNSURE = 3, EXIT_INTERRUPTED = 130 };

struct command {
  const char *name;
  const char *synopsis; /* "[OPTION]... [FILE]" */
  const char *summary;  /* one line, for the list of commands */
  const char *description;
  const char *examples; /* whole lines, indented */
  const struct option_row *options;
  const char *const *operands; /* words of which operands are made, NULL-terminated; NULL: they are files, or none */
  /* argv[0] is the command's own name. Returns the exit code. */
  int (*run)(const struct command *self, int argc, char **argv);
};

extern const struct command cmd_bench, cmd_plan, cmd_claims, cmd_list, cmd_report, cmd_compare, cmd_doctor, cmd_selftest,
    cmd_copy, cmd_make, cmd_export_fio, cmd_help;

/* NULL-terminated; in main.c. */
extern const struct command *const command_list[];
const struct command *command_find(const char *name);

/* Set by the first Ctrl-C to 1, by the second to 2; in main.c. Commands that hold scratch files ask to catch it. */
volatile int *command_interrupts(void);

/* help.c */
void help_overview(void);
void help_command(const struct command *command);

/*
 * Prints "weir: --access: unknown value 'randm' (did you mean 'random'?)" and where to read on. `option` and `hint` may be
 * NULL. Returns EXIT_CANNOT.
 */
int command_fail(const struct command *command, const char *option, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The same for what is no fault of the command line. */
int command_cannot(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
