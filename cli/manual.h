/* manual.h - the manual pages of the program, made from the tables that the parser and the help read. */
#ifndef WEIR_CLI_MANUAL_H
#define WEIR_CLI_MANUAL_H

#include <stdbool.h>

/* Prints the page: "weir", the name of a command, or "methods". False when there is no such page. */
bool manual_print(const char *page);

/* ---- shared by the files of the manual ---- */

/* Text as roff takes it, with its line breaks; a blank line begins a paragraph. */
void manual_text(const char *text);
/* The same in one line, with the hyphens of code. */
void manual_code(const char *text);
/* manual_methods.c: weir-methods(7). */
void manual_methods(void);
/* ".TH" and the name of the page with what it is about. */
void manual_head(const char *page, unsigned section, const char *about);

#endif
