/*
 * test_encode.c - the encoder against a slow one that knows nothing of pieces: every place where a text can be cut, every
 * size of room, every kind of character beside every other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <string.h>

#include "base/random.h"
#include "methods/encode.h"

#define TEXT_MAX 256u

struct bytes {
  unsigned char byte[3 * TEXT_MAX + 16];
  size_t count;
};

/* ---- the reference: code points first, then their bits by the rules of the standard ----------------------------------- */

static void add(struct bytes *out, uint32_t point) {
  static const uint32_t limits[] = {0x80, 0x800, 0x10000, 0x110000};
  static const unsigned leads[] = {0, 0xc0, 0xe0, 0xf0};
  unsigned tail = 0;
  while (point >= limits[tail]) tail++;
  out->byte[out->count++] = (unsigned char)(leads[tail] + (point >> 6 * tail));
  while (tail-- > 0) out->byte[out->count++] = (unsigned char)(0x80 + (point >> 6 * tail) % 64);
}

static void slow(struct bytes *out, const uint16_t *units, size_t count) {
  out->count = 0;
  for (size_t i = 0; i < count; i++) {
    const bool first = units[i] / 0x400 == 0x36, second = units[i] / 0x400 == 0x37;
    if (first && i + 1 < count && units[i + 1] / 0x400 == 0x37) {
      add(out, 0x10000 + (units[i] % 0x400u) * 0x400 + units[i + 1] % 0x400u);
      i++;
    } else {
      add(out, first || second ? 0xfffd : units[i]);
    }
  }
}

/* ---- the encoder, in pieces and steps ----------------------------------------------------------------------------------
 */

/* Nothing is written beyond the room. */
static void fill_all(struct encode *encode, struct bytes *out, size_t room) {
  static const char guard[] = "nothing is here";
  char step[3 * TEXT_MAX + 32];
  do {
    memcpy(step + room, guard, sizeof guard);
    const size_t size = encode_fill(encode, step, room);
    assert_true(size <= room && out->count + size <= sizeof out->byte);
    assert_memory_equal(step + room, guard, sizeof guard);
    assert_true(size > 0 || encode->units == encode->end); /* never stuck */
    memcpy(out->byte + out->count, step, size);
    out->count += size;
  } while (encode->units < encode->end);
}

static void check(const uint16_t *units, size_t count, size_t cut, size_t room) {
  struct encode encode = {.units = units, .end = units + cut};
  struct bytes got = {.count = 0}, wanted;
  slow(&wanted, units, count);
  fill_all(&encode, &got, room);
  encode.end = units + count;
  fill_all(&encode, &got, room);
  got.count += encode_end(&encode, (char *)got.byte + got.count);
  assert_int_equal(got.count, wanted.count);
  assert_memory_equal(got.byte, wanted.byte, wanted.count);
  assert_int_equal(encode_size(units, count), wanted.count);
}

static void check_cuts(const uint16_t *units, size_t count) {
  static const size_t rooms[] = {ENCODE_MOST, 5, 6, 7, 16, 17, 19, 33, 3 * TEXT_MAX};
  for (size_t cut = 0; cut <= count; cut++)
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) check(units, count, cut, rooms[i]);
}

/* ---- tests -------------------------------------------------------------------------------------------------------------
 */

static void every_single_unit(void **unused) {
  for (uint32_t unit = 0; unit <= 0xffff; unit++) {
    const uint16_t text[] = {(uint16_t)unit};
    check(text, 1, 0, 8);
  }
}

static void every_pair(void **unused) {
  for (uint32_t high = 0xd800; high < 0xdc00; high++) {
    for (uint32_t low = 0xdc00; low < 0xe000; low += high % 64 ? 0x155 : 1) {
      const uint16_t text[] = {(uint16_t)high, (uint16_t)low};
      check(text, 2, high % 3, 8);
    }
  }
}

/* Edges of all lengths, and halves alone, behind and before each other. */
static void characters_beside_each_other(void **unused) {
  static const uint16_t kinds[] = {0, 'a', 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xd800, 0xdbff, 0xdc00, 0xdfff, 0xe000, 0xffff};
  const size_t count = sizeof kinds / sizeof *kinds;
  for (size_t i = 0; i < count * count * count; i++) {
    const uint16_t text[] = {kinds[i / count / count], kinds[i / count % count], kinds[i % count]};
    check_cuts(text, 3);
  }
}

/* Whole groups of ASCII, with one other character at each place. */
static void one_stranger_among_ascii(void **unused) {
  static const uint16_t strangers[] = {0x80, 0x100, 0x7ff, 0x8000, 0xd801, 0xdc01, 0xff41, 0xff80};
  uint16_t text[67];
  for (size_t kind = 0; kind < sizeof strangers / sizeof *strangers; kind++) {
    for (size_t place = 0; place < 67; place += 1 + place / 34) {
      for (size_t i = 0; i < 67; i++) text[i] = (uint16_t)('!' + i);
      text[place] = strangers[kind];
      check_cuts(text, 67);
    }
  }
}

static void random_texts(void **unused) {
  struct random_state random = random_start(7, 1);
  uint16_t text[TEXT_MAX];
  for (unsigned turn = 0; turn < 60; turn++) {
    const size_t count = random_below(&random, TEXT_MAX + 1);
    const uint64_t ascii = random_below(&random, 101);
    for (size_t i = 0; i < count; i++) {
      const uint64_t most = random_below(&random, 2) ? 0x10000 : 0x900;
      text[i] = (uint16_t)random_below(&random, random_below(&random, 100) < ascii ? 0x80 : most);
    }
    check_cuts(text, count);
  }
}

static void an_empty_text(void **unused) {
  const uint16_t none[] = {0};
  check(none, 0, 0, ENCODE_MOST);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_single_unit),
      cmocka_unit_test(every_pair),
      cmocka_unit_test(characters_beside_each_other),
      cmocka_unit_test(one_stranger_among_ascii),
      cmocka_unit_test(random_texts),
      cmocka_unit_test(an_empty_text),
  };
  return cmocka_run_group_tests_name("encode", tests, NULL, NULL);
}
