/* completion.h - scripts that let a shell complete weir's command line, made from the option tables. */
#ifndef WEIR_CLI_COMPLETION_H
#define WEIR_CLI_COMPLETION_H

#include <stdbool.h>

/* Prints the script for "bash", "zsh" or "fish". False when there is no such shell here. */
bool completion_print(const char *shell);

#endif
