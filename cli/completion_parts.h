/* completion_parts.h - what the files of completion share: one for each shell, and the words. Not for other files. */
#ifndef WEIR_CLI_COMPLETION_PARTS_H
#define WEIR_CLI_COMPLETION_PARTS_H

#include "cli/values.h"

void completion_bash(void);
void completion_zsh(void);
void completion_fish(void);

/* The first line of a help text, or all of it in one line, without what a shell would take for its own: in single quotes. */
void completion_help(const char *help);

#endif
