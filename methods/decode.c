/*
 * decode.c - UTF-8 to UTF-16 after table 3-7 of the Unicode standard; ASCII 16 bytes at once.
 */
#include "decode.h"

#include <string.h>

#define REPLACEMENT 0xfffdu
#define MARK 0xfeffu
#define STEP 16u
#define HIGH_BITS UINT64_C(0x8080808080808080)

/* Compilers would rather keep one copy with and without units. */
#define FOLDED static inline __attribute__((always_inline))

/* May `byte` be the one at `at` of a character that begins with `lead`? The second byte tells overlong forms, surrogates and
 * what is above U+10FFFF. */
FOLDED bool continues(unsigned lead, unsigned at, unsigned byte) {
  const unsigned low = at > 1 ? 0x80 : lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const unsigned high = at > 1 ? 0xbf : lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  return byte >= low && byte <= high;
}

FOLDED unsigned one(const unsigned char *data, size_t length, uint32_t *point) {
  const unsigned lead = data[0];
  *point = lead < 0x80 ? lead : DECODE_INVALID;
  if (lead < 0xc2 || lead > 0xf4) return 1;
  const unsigned size = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  uint32_t value = lead & (0x7fu >> size);
  for (unsigned at = 1; at < size; at++) {
    if (at == length) return 0;
    if (!continues(lead, at, data[at])) return at;
    value = value << 6 | (data[at] & 0x3fu);
  }
  *point = value;
  return size;
}

unsigned decode_one(const unsigned char *data, size_t length, uint32_t *point) { return one(data, length, point); }

/* The units of a character; how many. Without `store` none are wanted. */
FOLDED size_t put(struct decode *d, uint32_t point, uint16_t *out, bool store) {
  if (point == DECODE_INVALID) d->invalid++;
  if (!store) return 0;
  if (point > 0xffff && point != DECODE_INVALID) {
    out[0] = (uint16_t)(0xd800 + ((point - 0x10000) >> 10));
    out[1] = (uint16_t)(0xdc00 + ((point - 0x10000) & 0x3ff));
    return 2;
  }
  out[0] = (uint16_t)(point == DECODE_INVALID ? REPLACEMENT : point);
  return 1;
}

/* All of a step as if it were ASCII. */
FOLDED void widen(const unsigned char *restrict in, uint16_t *restrict out) {
  for (unsigned i = 0; i < STEP; i++) out[i] = in[i];
}

/* Leading bytes below 0x80. Of the last step all is written: there is room for a unit for each byte that is left. */
FOLDED size_t ascii(const unsigned char *in, size_t length, uint16_t *out, bool store) {
  size_t at = 0;
  for (; length - at >= STEP; at += STEP) {
    uint64_t words[2];
    memcpy(words, in + at, sizeof words);
    if (store) widen(in + at, out + at);
    if ((words[0] | words[1]) & HIGH_BITS) break;
  }
  for (; at < length && in[at] < 0x80; at++) {
    if (store) out[at] = in[at];
  }
  return at;
}

/* The character that an earlier piece began, or the first of all; how many bytes of this piece it takes. */
FOLDED size_t join(struct decode *d, const unsigned char *in, size_t length, uint16_t *out, bool store, size_t *made) {
  unsigned char bytes[4];
  const size_t have = d->carried, missing = sizeof bytes - have, taken = missing < length ? missing : length;
  uint32_t point;
  memcpy(bytes, d->carry, have);
  memcpy(bytes + have, in, taken);
  const unsigned used = one(bytes, have + taken, &point);
  if (used == 0) { /* four bytes always decide, so these are all that there are */
    memcpy(d->carry, bytes, have + taken);
    d->carried = (unsigned)(have + taken);
    return taken;
  }
  if (d->begun || point != MARK) *made = put(d, point, out, store);
  d->begun = true;
  d->carried = 0;
  return used - have;
}

FOLDED size_t piece(struct decode *d, const unsigned char *in, size_t length, uint16_t *out, bool store) {
  size_t at = 0, made = 0;
  if (length > 0 && (d->carried || !d->begun)) at = join(d, in, length, out, store, &made);
  while (at < length) {
    const size_t run = ascii(in + at, length - at, out + made, store);
    at += run;
    if (store) made += run;
    while (at < length && in[at] >= 0x80) {
      uint32_t point;
      const unsigned used = one(in + at, length - at, &point);
      if (used == 0) {
        d->carried = (unsigned)(length - at);
        memcpy(d->carry, in + at, d->carried);
        return made;
      }
      made += put(d, point, out + made, store);
      at += used;
    }
  }
  return made;
}

size_t decode_units(struct decode *d, const void *data, size_t length, uint16_t *out) {
  return piece(d, data, length, out, true);
}

size_t decode_end(struct decode *d, uint16_t *out) {
  if (d->carried == 0) return 0;
  d->carried = 0;
  return put(d, DECODE_INVALID, out, true);
}

void decode_check(struct decode *d, const void *data, size_t length) {
  uint16_t none[1];
  (void)piece(d, data, length, none, false);
}

void decode_check_end(struct decode *d) {
  if (d->carried) d->invalid++;
  d->carried = 0;
}
