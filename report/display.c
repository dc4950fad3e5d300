/*
 * display.c - see display.h. Widths follow the East Asian width classes in broad strokes: enough to keep a table straight,
 * not a typesetter.
 */
#include "report/display.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "measure/run.h"

/* ---- the string ---------------------------------------------------------------------------------------------------- */

const char *text_string(const struct text *text) { return text->data ? text->data : ""; }

void text_clear(struct text *text) {
  text->length = 0;
  if (text->data != NULL) text->data[0] = '\0';
}

void text_release(struct text *text) {
  free(text->data);
  *text = (struct text){0};
}

static void put_bytes(struct text *text, const char *bytes, size_t length) {
  if (length >= SIZE_MAX / 4 - text->length) return;
  if (text->length + length + 1 > text->room) {
    size_t room = 2 * (text->length + length) + 32;
    char *data = realloc(text->data, room);
    if (data == NULL) return;
    text->data = data;
    text->room = room;
  }
  memcpy(text->data + text->length, bytes, length);
  text->length += length;
  text->data[text->length] = '\0';
}

void text_put(struct text *text, const char *string) { put_bytes(text, string, strlen(string)); }

void text_format(struct text *text, const char *format, ...) {
  char piece[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(piece, sizeof piece, format, arguments);
  va_end(arguments);
  text_put(text, piece);
}

void text_decimal(struct text *text, double value, unsigned decimals) {
  uint64_t scale = 1;
  for (unsigned i = 0; i < decimals; i++) scale *= 10;
  double scaled = round(fabs(value) * (double)scale);
  if (!(scaled < 1e18)) {
    text_put(text, "-");
    return;
  }
  uint64_t whole = (uint64_t)scaled;
  if (value < 0 && whole != 0) text_put(text, "-");
  text_format(text, "%llu", (unsigned long long)(whole / scale));
  if (decimals > 0) text_format(text, ".%0*llu", (int)decimals, (unsigned long long)(whole % scale));
}

/* ---- characters ---------------------------------------------------------------------------------------------------- */

/* The character at `*at`, which is well-formed; moves on to the next. */
static uint32_t next_character(const char **at) {
  const unsigned char *bytes = (const unsigned char *)*at;
  size_t length = bytes[0] < 0x80 ? 1 : bytes[0] < 0xe0 ? 2 : bytes[0] < 0xf0 ? 3 : 4;
  uint32_t code = length == 1 ? bytes[0] : bytes[0] & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; i++) code = code << 6 | (bytes[i] & 0x3fu);
  *at += length;
  return code;
}

struct span {
  uint32_t first, last;
};

static bool in_spans(uint32_t code, const struct span *spans, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (code >= spans[i].first && code <= spans[i].last) return true;
  }
  return false;
}

static bool is_wide(uint32_t code) {
  static const struct span wide[] = {{0x1100, 0x115f},  {0x2e80, 0x303e},   {0x3041, 0xa4cf},   {0xa960, 0xa97f},
                                     {0xac00, 0xd7a3},  {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},
                                     {0xffe0, 0xffe6},  {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff},
                                     {0x20000, 0x3fffd}};
  return in_spans(code, wide, sizeof wide / sizeof wide[0]);
}

static bool is_combining(uint32_t code) {
  static const struct span marks[] = {{0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},
                                      {0x64b, 0x65f},   {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x20d0, 0x20ff},
                                      {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}};
  return in_spans(code, marks, sizeof marks / sizeof marks[0]);
}

/* What could move the cursor, hide text or turn its direction. */
static bool is_hostile(uint32_t code) {
  static const struct span hostile[] = {{0, 0x1f},        {0x7f, 0x9f},      {0xad, 0xad},     {0x61c, 0x61c},
                                        {0x200b, 0x200f}, {0x2028, 0x202e},  {0x2060, 0x206f}, {0xfeff, 0xfeff},
                                        {0xfff9, 0xfffb}, {0xe0000, 0xe0fff}};
  return in_spans(code, hostile, sizeof hostile / sizeof hostile[0]);
}

void text_name(struct text *text, const char *name) {
  char *encoded = run_text_encode(name);
  if (encoded == NULL) return;
  for (const char *at = encoded; *at != '\0';) {
    const char *start = at;
    uint32_t code = next_character(&at);
    if (code >= 0xef80 && code <= 0xefff) { /* a byte that is no UTF-8, as run_text_encode spells it */
      text_format(text, "\\x%02x", (unsigned)(code - 0xef80 + 0x80));
    } else if (is_hostile(code)) {
      text_format(text, code < 0x100 ? "\\x%02x" : "\\u%04x", (unsigned)code);
    } else {
      put_bytes(text, start, (size_t)(at - start));
    }
  }
  free(encoded);
}

/* ---- columns ------------------------------------------------------------------------------------------------------- */

static size_t character_columns(uint32_t code) { return is_combining(code) ? 0 : is_wide(code) ? 2 : 1; }

size_t display_width(const char *text) {
  size_t columns = 0;
  while (*text != '\0') columns += character_columns(next_character(&text));
  return columns;
}

size_t display_fit(const char *text, size_t columns) {
  const char *at = text, *end = text;
  for (size_t used = 0; *at != '\0'; end = at) {
    used += character_columns(next_character(&at));
    if (used > columns) break;
  }
  return (size_t)(end - text);
}

void display_fill(FILE *out, size_t columns) {
  for (size_t i = 0; i < columns; i++) putc(' ', out);
}

static void put_word(FILE *out, const char *word, size_t length) {
  for (size_t i = 0; i < length; i++) putc(word[i] == DISPLAY_GLUE[0] ? ' ' : word[i], out);
}

static size_t word_columns(const char *word, size_t length) {
  size_t columns = 0;
  for (const char *at = word; at < word + length;) columns += character_columns(next_character(&at));
  return columns;
}

void display_wrap(FILE *out, const struct display_box *box, const char *text) {
  size_t used = box->used, gap = 0;
  while (*text != '\0') {
    size_t length = strcspn(text, " "), columns = word_columns(text, length);
    if (gap > 0 && used + gap + columns > box->width) {
      putc('\n', out);
      display_fill(out, box->indent);
      used = box->indent;
      gap = 0;
    }
    display_fill(out, gap);
    put_word(out, text, length);
    used += gap + columns;
    text += length;
    gap = strspn(text, " ");
    text += gap;
  }
  putc('\n', out);
}
