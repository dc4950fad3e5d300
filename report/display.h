/*
 * display.h - text for a terminal: a growing string, widths in columns, names made harmless, wrapping. It knows UTF-8 but
 * no locale, and nothing of what is reported.
 */
#ifndef WEIR_DISPLAY_H
#define WEIR_DISPLAY_H

#include <stddef.h>
#include <stdio.h>

/* A string that grows. All zero is empty. When memory is short, what does not fit is left out. */
struct text { char *data; size_t length, room; };

const char *text_string(const struct text *text); /* "" when empty */
void text_clear(struct text *text);               /* keeps the memory */
void text_release(struct text *text);
void text_put(struct text *text, const char *string);
/* Whole numbers and strings only: %f would follow the locale. */
void text_format(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "-12.34": rounded half away from zero; "-" for what is no number or too large to have a meaning. */
void text_decimal(struct text *text, double value, unsigned decimals);
/* Any bytes: control characters, marks that turn the direction of text and bytes that are no UTF-8 become \x1b, \u202e. */
void text_name(struct text *text, const char *name);

/* A space at which display_wrap does not break. */
#define DISPLAY_GLUE "\x1f"

/* Columns that well-formed text takes up. */
size_t display_width(const char *text);
/* Bytes of the longest beginning that takes up at most `columns`. */
size_t display_fit(const char *text, size_t columns);
void display_fill(FILE *out, size_t columns);

/*
 * Prints `text` broken at spaces to lines of `width` columns. The caller has printed `used` columns of the first line; the
 * others start with `indent` spaces. Ends the last line.
 */
struct display_box { size_t width, used, indent; };
void display_wrap(FILE *out, const struct display_box *box, const char *text);

#endif
