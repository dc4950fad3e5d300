/*
 * test_decode.c - the decoder against a slow one that knows nothing of pieces, at every place where a text can be cut.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "methods/decode.h"
#include "utf8_reference.h"

/* ---- pieces ---------------------------------------------------------------------------------------------------------- */

/* The pieces and the units lie in memory of just their size, so that a sanitizer sees each byte too many. */
static size_t piece_of(struct decode *d, const unsigned char *data, size_t length, uint16_t *out) {
  unsigned char *copy = malloc(length ? length : 1);
  assert_non_null(copy);
  memcpy(copy, data, length);
  const size_t made = decode_units(d, copy, length, out);
  free(copy);
  return made;
}

static void in_pieces(struct reference_units *out, const unsigned char *data, size_t length, const size_t *cuts,
                      size_t cut_count) {
  struct decode units, check;
  uint16_t *room = malloc(sizeof *room * (length ? length : 1)); /* as much as the header promises to be enough */
  assert_non_null(room);
  decode_begin(&units);
  decode_begin(&check);
  out->count = 0;
  size_t at = 0;
  for (size_t i = 0; i <= cut_count; i++) {
    const size_t end = i < cut_count ? cuts[i] : length;
    out->count += piece_of(&units, data + at, end - at, room + out->count);
    decode_check(&check, data + at, end - at);
    at = end;
  }
  out->count += decode_end(&units, room + out->count);
  decode_check_end(&check);
  assert_true(out->count <= length);
  memcpy(out->unit, room, sizeof *room * out->count);
  free(room);
  assert_int_equal(units.invalid, check.invalid);
  out->invalid = units.invalid;
}

static struct reference_units wanted, got;

static void same(const char *what, const unsigned char *data, size_t length, const size_t *cuts, size_t cut_count) {
  in_pieces(&got, data, length, cuts, cut_count);
  const bool right = got.count == wanted.count && got.invalid == wanted.invalid &&
                     memcmp(got.unit, wanted.unit, sizeof *got.unit * got.count) == 0;
  if (!right)
    fail_msg("%s of %zu bytes, cut at %zu and %zu: %zu units, %zu wanted; %u invalid, %u wanted", what, length,
             cut_count ? cuts[0] : 0, cut_count > 1 ? cuts[1] : 0, got.count, wanted.count, (unsigned)got.invalid,
             (unsigned)wanted.invalid);
}

/* In one piece, cut once and cut twice, at every place. */
static void at_every_cut(const char *what, const void *text, size_t length) {
  const unsigned char *data = text;
  reference_decode(&wanted, data, length);
  same(what, data, length, NULL, 0);
  for (size_t i = 0; i <= length; i++) same(what, data, length, (size_t[]){i}, 1);
  for (size_t i = 0; i <= length && length <= 40; i++)
    for (size_t j = i; j <= length; j++) same(what, data, length, (size_t[]){i, j}, 2);
}

/* ---- tests ----------------------------------------------------------------------------------------------------------- */

#define TEXT(name, text) \
  { name, text, sizeof(text) - 1 }
static const struct sample {
  const char *name, *text;
  size_t length;
} samples[] = {
    TEXT("nothing", ""),
    TEXT("ascii", "plain words of more than two steps, 0123456789"),
    TEXT("zero", "a\0b\0\0c"),
    TEXT("each length", "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z"),
    TEXT("ends of the rows",
         "\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"),
    TEXT("mark", "\xef\xbb\xbftext"),
    TEXT("mark alone", "\xef\xbb\xbf"),
    TEXT("half a mark", "\xef\xbb"),
    TEXT("two marks", "\xef\xbb\xbf\xef\xbb\xbfx"),
    TEXT("mark later", "x\xef\xbb\xbfy"),
    TEXT("latin-1", "caf\xe9 na\xefve \xfc\xdf"),
    TEXT("lone continuations", "\x80\xbf\x80\x80"),
    TEXT("overlong", "\xc0\xaf\xe0\x80\xaf\xf0\x80\x80\xaf"),
    TEXT("overlong lead bytes", "\xc0\xc1\xc0\x80"),
    TEXT("surrogates", "\xed\xa0\x80\xed\xbf\xbf"),
    TEXT("too large", "\xf4\x90\x80\x80\xf5\x80\xff\xfe"),
    TEXT("truncated, then text", "\xe1\x80 \xf1\x80\x80z\xf0\x9f\xc3"),
    TEXT("the standard's example", "\x61\xf1\x80\x80\xe1\x80\xc2\x62\x80\x63\x80\xbf\x64"),
    TEXT("replacement itself", "\xef\xbf\xbd"),
    TEXT("cut off", "text\xf0\x9f\x98"),
    TEXT("one in a step",
         "0123456789abcde\xc3\xa4"
         "fghijklmnopqrst\xe2\x82\xac"),
};

static void samples_decode_alike_at_every_cut(void **unused) {
  for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
    at_every_cut(samples[i].name, samples[i].text, samples[i].length);
}

/* Known answers, so that a fault that both decoders share shows. */
static void known_units(void **unused) {
  static const uint16_t right[] = {0x61, 0xfffd, 0xfffd, 0xfffd, 0x62, 0xfffd, 0x63, 0xfffd, 0xfffd, 0x64};
  static const char text[] = "\x61\xf1\x80\x80\xe1\x80\xc2\x62\x80\x63\x80\xbf\x64";
  in_pieces(&got, (const unsigned char *)text, sizeof text - 1, NULL, 0);
  assert_int_equal(got.count, sizeof right / sizeof *right);
  assert_memory_equal(got.unit, right, sizeof right);
  assert_int_equal(got.invalid, 6);
  static const uint16_t smile[] = {0xd83d, 0xde00};
  in_pieces(&got, (const unsigned char *)"\xf0\x9f\x98\x80", 4, NULL, 0);
  assert_int_equal(got.count, 2);
  assert_memory_equal(got.unit, smile, sizeof smile);
}

/* All pairs of bytes, and all that can follow a lead byte by one of each kind. */
static void every_pair_and_many_quadruples(void **unused) {
  static const unsigned char kinds[] = {0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0,
                                        0xbf, 0xc1, 0xc2, 0xe0, 0xed, 0xf4, 0xff};
  const size_t count = sizeof kinds;
  for (unsigned i = 0; i < 65536; i++) {
    const unsigned char pair[] = {(unsigned char)(i >> 8), (unsigned char)i, 'x'};
    at_every_cut("pair", pair, sizeof pair);
  }
  for (unsigned lead = 0xc0; lead < 256; lead++) {
    for (size_t i = 0; i < count * count * count; i++) {
      const unsigned char four[] = {(unsigned char)lead, kinds[i % count], kinds[i / count % count],
                                    kinds[i / count / count]};
      reference_decode(&wanted, four, sizeof four);
      same("four", four, sizeof four, NULL, 0);
      same("four", four, sizeof four, (size_t[]){1 + i % 3}, 1);
    }
  }
}

static uint64_t next_random(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
  return *state >> 33;
}

/* Long runs of ASCII with something else here and there, so that every offset in a step of 16 is met. */
static void random_texts(void **unused) {
  static const char *const others[] = {"\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xe9", "\xf0\x9f", "\xef\xbb\xbf"};
  uint64_t state = 1;
  for (unsigned round = 0; round < 400; round++) {
    unsigned char text[600];
    size_t length = 0, end = 1 + next_random(&state) % 500;
    const unsigned seldom = 2 + (unsigned)(next_random(&state) % 60);
    while (length < end) {
      const char *other = others[next_random(&state) % 6];
      if (next_random(&state) % seldom) other = (const char[]){(char)(' ' + next_random(&state) % 90), 0};
      memcpy(text + length, other, strlen(other));
      length += strlen(other);
    }
    at_every_cut("random text", text, length);
  }
}

static void one_character_tells_its_length(void **unused) {
  uint32_t point;
  assert_int_equal(decode_one((const unsigned char *)"\xe2\x82\xac", 3, &point), 3);
  assert_int_equal(point, 0x20ac);
  assert_int_equal(decode_one((const unsigned char *)"\xe2\x82", 2, &point), 0);
  assert_int_equal(decode_one((const unsigned char *)"\xe2\x82x", 3, &point), 2);
  assert_int_equal(point, DECODE_INVALID);
  assert_int_equal(decode_one((const unsigned char *)"\xff\xff", 2, &point), 1);
  assert_int_equal(point, DECODE_INVALID);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(known_units),
      cmocka_unit_test(samples_decode_alike_at_every_cut),
      cmocka_unit_test(every_pair_and_many_quadruples),
      cmocka_unit_test(random_texts),
      cmocka_unit_test(one_character_tells_its_length),
  };
  return cmocka_run_group_tests_name("decode", tests, NULL, NULL);
}
