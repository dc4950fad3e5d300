/*
 * show_calls.h - `weir list --show-calls METHOD`: the system calls of one pass, as strace sees them.
 */
#ifndef WEIR_CLI_SHOW_CALLS_H
#define WEIR_CLI_SHOW_CALLS_H

#include "cli/outside.h"

/* Prints them. `spec` as for --method; of what it names the first cell is shown. The exit code. */
int show_calls(const struct command *command, const struct outside *outside, const struct plan_strings *places,
               const char *spec);

#endif
