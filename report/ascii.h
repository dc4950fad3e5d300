/* ascii.h - text for terminals that show nothing but ASCII. */
#ifndef WEIR_ASCII_H
#define WEIR_ASCII_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Prints well-formed UTF-8 with each character that is not ASCII replaced by one that looks like it, or by '?'. Characters
 * keep their width, so that what stood in columns still does; of those in running text alone (→, ≥) some become two.
 */
void ascii_put(FILE *out, const char *text);

/*
 * What is printed on the stream that open returns goes to `out`, through ascii_put where that is wanted. Where memory is short it
 * goes there as it is.
 */
struct ascii_sheet {
  FILE *out, *memory;
  char *text;
  size_t size;
};
FILE *ascii_open(struct ascii_sheet *sheet, bool wanted, FILE *out);
void ascii_close(struct ascii_sheet *sheet);

#endif
