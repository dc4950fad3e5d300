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
/* Columns, or 0 when the stream is no terminal or does not tell. */
unsigned terminal_width(FILE *stream);
/* NO_COLOR beats CLICOLOR_FORCE beats CLICOLOR=0; TERM=dumb and what is no terminal have none. */
bool terminal_wants_color(FILE *stream, int mode);

#endif
