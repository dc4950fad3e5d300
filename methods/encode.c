/*
 * encode.c - UTF-16 to UTF-8. ASCII goes in groups that compilers turn into vector instructions; a group that holds
 * something else goes unit by unit.
 */
#include "encode.h"

#include <stdbool.h>

#define GROUP 16u
#define REPLACEMENT 0xfffdu

static bool is_high(uint32_t unit) { return unit - 0xd800u < 0x400u; }
static bool is_low(uint32_t unit) { return unit - 0xdc00u < 0x400u; }

static size_t size_of(uint32_t c) { return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4; }

/* `size` is size_of(c). */
static void put(char *out, uint32_t c, size_t size) {
  static const unsigned char marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
  for (size_t i = size - 1; i > 0; i--, c >>= 6) out[i] = (char)(0x80 | (c & 0x3f));
  out[0] = (char)(marks[size] | c);
}

/* Leading ASCII in whole groups; returns the units taken, of at most `most`. */
static size_t put_groups(const uint16_t *restrict units, size_t most, char *restrict out) {
  size_t done = 0;
  for (; most - done >= GROUP; done += GROUP) {
    unsigned any = 0;
    for (unsigned i = 0; i < GROUP; i++) any |= units[done + i];
    if (any >= 0x80) break;
    for (unsigned i = 0; i < GROUP; i++) out[done + i] = (char)units[done + i];
  }
  return done;
}

/*
 * The next character: its bytes, 0 where there is none or no room. A first half is put off until its second is seen, and
 * given up for U+FFFD where something else is.
 */
static size_t put_one(struct encode *e, char *out, size_t room) {
  while (e->units < e->end) {
    uint32_t c = *e->units;
    bool taken = true;
    if (e->high && is_low(c)) {
      c = 0x10000u + ((e->high - 0xd800u) << 10) + (c - 0xdc00u);
    } else if (e->high) {
      c = REPLACEMENT;
      taken = false;
    } else if (is_high(c)) {
      e->high = (uint16_t)c;
      e->units++;
      continue;
    } else if (is_low(c)) {
      c = REPLACEMENT;
    }
    const size_t size = size_of(c);
    if (size > room) return 0;
    put(out, c, size);
    e->high = 0;
    e->units += taken;
    return size;
  }
  return 0;
}

/* Up to a group of characters one by one; short of a whole group there is no group to be had. */
static size_t put_some(struct encode *e, char *out, size_t room) {
  size_t done = 0;
  for (unsigned i = 0; i < GROUP && e->units < e->end; i++) {
    const uint32_t unit = *e->units;
    size_t size = 1;
    if (unit < 0x80 && !e->high && done < room) {
      out[done] = (char)unit;
      e->units++;
    } else {
      size = put_one(e, out + done, room - done);
    }
    if (size == 0) break;
    done += size;
  }
  return done;
}

size_t encode_fill(struct encode *e, char *out, size_t room) {
  size_t done = 0;
  for (;;) {
    const size_t left = (size_t)(e->end - e->units), most = left < room - done ? left : room - done;
    const size_t groups = e->high ? 0 : put_groups(e->units, most, out + done);
    e->units += groups;
    done += groups;
    const size_t some = put_some(e, out + done, room - done);
    done += some;
    if (some == 0) return done;
  }
}

size_t encode_end(struct encode *e, char *out) {
  if (!e->high) return 0;
  e->high = 0;
  put(out, REPLACEMENT, size_of(REPLACEMENT));
  return size_of(REPLACEMENT);
}

size_t encode_size(const uint16_t *units, size_t count) {
  size_t size = 0;
  for (size_t i = 0; i < count; i++) {
    /* both halves of a pair are four bytes, a lone one is three */
    const bool pair = is_high(units[i]) && i + 1 < count && is_low(units[i + 1]);
    size += pair ? 4 : size_of(units[i]);
    i += pair;
  }
  return size;
}
