/* ascii.c - see ascii.h: one table of stand-ins for the signs that reports use. */
#include "report/ascii.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "report/display.h"

static const struct {
  const char *sign, *instead;
} stand_ins[] = {
    {"★", "*"},  {"–", "-"},  {"—", "-"}, {"×", "x"}, {"…", "~"},  {"±", "~"},  {"·", "|"}, {"→", "->"},
    {"≥", ">="}, {"≤", "<="}, {"≈", "~"}, {"µ", "u"}, {"“", "\""}, {"”", "\""}, {"‘", "'"}, {"’", "'"},
    {"─", "-"},  {"│", "|"},  {"├", "|"}, {"┤", "|"}, {"●", "o"},  {"○", "."},  {"█", "#"}, {"▓", "+"},
    {"░", "-"},  {"▏", "."},  {"▎", "."}, {"▍", "."}, {"▌", "#"},  {"▋", "#"},  {"▊", "#"}, {"▉", "#"},
};

static size_t length_at(const char *text) {
  const unsigned char first = (unsigned char)*text;
  return first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

static void put_unknown(FILE *out, const char *sign, size_t length) {
  char one[5] = "";
  memcpy(one, sign, length);
  for (size_t columns = display_width(one); columns > 0; columns--) putc('?', out);
}

static void put_sign(FILE *out, const char *sign, size_t length) {
  for (size_t i = 0; i < sizeof stand_ins / sizeof *stand_ins; i++)
    if (strlen(stand_ins[i].sign) == length && memcmp(stand_ins[i].sign, sign, length) == 0) {
      fputs(stand_ins[i].instead, out);
      return;
    }
  put_unknown(out, sign, length);
}

void ascii_put(FILE *out, const char *text) {
  while (*text) {
    const size_t length = length_at(text);
    if (strlen(text) < length) return;
    if (length == 1)
      putc(*text, out);
    else
      put_sign(out, text, length);
    text += length;
  }
}

FILE *ascii_open(struct ascii_sheet *sheet, bool wanted, FILE *out) {
  *sheet = (struct ascii_sheet){.out = out};
  if (wanted) sheet->memory = open_memstream(&sheet->text, &sheet->size);
  return sheet->memory ? sheet->memory : out;
}

void ascii_close(struct ascii_sheet *sheet) {
  if (!sheet->memory) return;
  if (fclose(sheet->memory) == 0) ascii_put(sheet->out, sheet->text);
  free(sheet->text);
}
