/*
 * utf8_reference.c - the list of all well-formed sequences, tried byte by byte.
 */
#include "utf8_reference.h"

#include <string.h>

/* Table 3-7 of the Unicode standard, row by row: the least and the largest value of each byte. */
static const struct row {
  unsigned size;
  unsigned char least[4], most[4];
} rows[] = {{1, {0x00}, {0x7f}},
            {2, {0xc2, 0x80}, {0xdf, 0xbf}},
            {3, {0xe0, 0xa0, 0x80}, {0xe0, 0xbf, 0xbf}},
            {3, {0xe1, 0x80, 0x80}, {0xec, 0xbf, 0xbf}},
            {3, {0xed, 0x80, 0x80}, {0xed, 0x9f, 0xbf}},
            {3, {0xee, 0x80, 0x80}, {0xef, 0xbf, 0xbf}},
            {4, {0xf0, 0x90, 0x80, 0x80}, {0xf0, 0xbf, 0xbf, 0xbf}},
            {4, {0xf1, 0x80, 0x80, 0x80}, {0xf3, 0xbf, 0xbf, 0xbf}},
            {4, {0xf4, 0x80, 0x80, 0x80}, {0xf4, 0x8f, 0xbf, 0xbf}}};

/* How many bytes of the row's sequence `data` begins with. */
static unsigned fits(const struct row *row, const unsigned char *data, size_t length) {
  unsigned at = 0;
  while (at < row->size && at < length && data[at] >= row->least[at] && data[at] <= row->most[at]) at++;
  return at;
}

static void add(struct reference_units *out, uint32_t point) {
  if (point >= 0x10000) {
    out->unit[out->count++] = (uint16_t)(0xd800 | (point - 0x10000) / 0x400);
    out->unit[out->count++] = (uint16_t)(0xdc00 | (point - 0x10000) % 0x400);
  } else {
    out->unit[out->count++] = (uint16_t)point;
  }
}

static uint32_t value_of(const unsigned char *data, unsigned size) {
  static const unsigned char lead_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
  uint32_t value = data[0] & lead_bits[size];
  for (unsigned i = 1; i < size; i++) value = value * 64 + data[i] % 64;
  return value;
}

static size_t slow_one(struct reference_units *out, const unsigned char *data, size_t length) {
  unsigned longest = 0;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const unsigned got = fits(&rows[i], data, length);
    if (got == rows[i].size) {
      add(out, value_of(data, got));
      return got;
    }
    if (got > longest) longest = got;
  }
  add(out, 0xfffd);
  out->invalid++;
  return longest ? longest : 1;
}

void reference_decode(struct reference_units *out, const void *text, size_t length) {
  const unsigned char *data = text;
  out->count = 0;
  out->invalid = 0;
  size_t at = length >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  while (at < length) at += slow_one(out, data + at, length - at);
}
