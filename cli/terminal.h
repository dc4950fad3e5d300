/* terminal.h - what the user sees the text on: a terminal or not, how wide, with colours or not. */
#ifndef WEIR_CLI_TERMINAL_H
#define WEIR_CLI_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

enum terminal_color { TERMINAL_AUTO, TERMINAL_ALWAYS, TERMINAL_NEVER };
extern const char *const terminal_color_words[];

bool terminal_is(FILE *stream);
/* Can a line be drawn anew? Not where TERM is dumb or missing. */
bool terminal_can_redraw(FILE *stream);
/* Columns: what COLUMNS says, else what the terminal does; 0 when the stream is none or does not tell. */
unsigned terminal_width(FILE *stream);
/* NO_COLOR beats CLICOLOR_FORCE beats CLICOLOR=0; TERM=dumb and what is no terminal have none. */
bool terminal_wants_color(FILE *stream, int mode);
/* Is the locale's character set another one than UTF-8? LC_ALL goes before LC_CTYPE and LANG; none of them set is ASCII. */
bool terminal_is_ascii(void);
/* Prints UTF-8 on the stream, or what stands for it where the locale is ASCII. */
void terminal_put(FILE *stream, const char *text);

#endif
