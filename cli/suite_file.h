/* suite_file.h - a suite of the user's own: `--suite my.ini`. Reads the file; what its text says is read by the plan. */
#ifndef WEIR_CLI_SUITE_FILE_H
#define WEIR_CLI_SUITE_FILE_H

#include "cli/command.h"

/*
 * Where `suite` (may be NULL) names a file - it holds a / or ends in .ini - its text, which the caller frees; else *text is
 * NULL. 0, or EXIT_CANNOT with the error printed: also for a name that is no built-in suite but that of a file here.
 */
int suite_file_read(const struct command *command, const char *suite, char **text);

#endif
