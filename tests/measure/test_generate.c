/*
 * test_generate.c - made contents: the same bytes on every machine and in pieces of any size, of the length that was
 * promised, and what each kind says of itself, read back by parsers of their own.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <xxhash.h>

#include "base/random.h"
#include "measure/generate.h"

struct made {
  unsigned char *data;
  size_t size;
};

/* Pulled `piece` bytes at a time. */
static struct made make(const struct generate_options *options, size_t piece) {
  struct generator generator;
  assert_int_equal(generate_open(&generator, options), 0);
  const uint64_t size = generate_size(options);
  struct made made = {malloc((size_t)size + piece), 0};
  assert_non_null(made.data);
  for (size_t got; (got = generate_next(&generator, made.data + made.size, piece)) > 0;) {
    made.size += got;
    assert_true(made.size <= size);
    assert_true(got == piece || made.size == size);
  }
  assert_int_equal(generate_next(&generator, made.data, piece), 0);
  assert_int_equal(made.size, size);
  generate_close(&generator);
  return made;
}

/* What other machines and later versions must make too. Only a change of the format may change these. */
static void bytes_are_the_known_ones(void **state) {
  static const struct {
    struct generate_options options;
    uint64_t hash;
  } known[] = {
      {{.kind = GENERATE_RANDOM, .size_bytes = 200001}, UINT64_C(0x4bc0bfb509d850ca)},
      {{.kind = GENERATE_RANDOM, .size_bytes = 200001, .seed = 7, .compressible = 0.3}, UINT64_C(0x320a25ca81c62076)},
      {{.kind = GENERATE_TEXT, .size_bytes = 200001}, UINT64_C(0x7a160ddc3e763b1)},
      {{.kind = GENERATE_TEXT, .size_bytes = 200001, .newline = GENERATE_CRLF, .encoding = GENERATE_LATIN1},
       UINT64_C(0xdce7c2637a1041b7)},
      {{.kind = GENERATE_TEXT, .size_bytes = 200001, .encoding = GENERATE_UTF16BE, .mark = 1, .item_bytes = 300},
       UINT64_C(0xd82b7bc46a104f28)},
      {{.kind = GENERATE_RECORDS, .size_bytes = 200001}, UINT64_C(0x9efd331e69df9548)},
      {{.kind = GENERATE_TYPED, .size_bytes = 200001}, UINT64_C(0x5d43b8efad4889e6)}};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    const struct made made = make(&known[i].options, 1 << 16);
    const uint64_t hash = XXH3_64bits(made.data, made.size);
    free(made.data);
    if (hash != known[i].hash) fail_msg("row %zu: %#llx", i, (unsigned long long)hash);
  }
}

static void pieces_do_not_matter(void **state) {
  static const size_t pieces[] = {1, 7, 4096, 65535, 65537};
  for (int kind = GENERATE_RANDOM; kind <= GENERATE_TYPED; kind++) {
    const struct generate_options options = {.kind = (enum generate_kind)kind, .seed = 3, .size_bytes = 150000};
    const struct made whole = make(&options, 1 << 20);
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
      const struct made made = make(&options, pieces[i]);
      assert_int_equal(made.size, whole.size);
      assert_memory_equal(made.data, whole.data, whole.size);
      free(made.data);
    }
    free(whole.data);
  }
}

static void seeds_matter(void **state) {
  for (int kind = GENERATE_RANDOM; kind <= GENERATE_TYPED; kind++) {
    struct generate_options options = {.kind = (enum generate_kind)kind, .size_bytes = 10000};
    const struct made first = make(&options, 1 << 16);
    options.seed = 1;
    const struct made second = make(&options, 1 << 16);
    assert_memory_not_equal(first.data + 8, second.data + 8, 1000);
    free(first.data);
    free(second.data);
  }
}

/* ---- text ---- */

/* The code point at *at, which moves on; fails on anything that the encoding has not. */
static unsigned next_code(const struct generate_options *options, const struct made *made, size_t *at) {
  const unsigned char *data = made->data + *at;
  const size_t left = made->size - *at;
  switch (options->encoding) {
    case GENERATE_UTF16LE:
    case GENERATE_UTF16BE:
      assert_true(left >= 2);
      *at += 2;
      return options->encoding == GENERATE_UTF16LE ? data[0] | (unsigned)data[1] << 8 : data[1] | (unsigned)data[0] << 8;
    case GENERATE_UTF8:
      *at += data[0] < 0x80 ? 1 : 2;
      if (data[0] < 0x80) return data[0];
      assert_true(left >= 2 && data[0] >= 0xc2 && data[0] <= 0xdf && data[1] >= 0x80 && data[1] <= 0xbf);
      return (data[0] & 0x1fu) << 6 | (data[1] & 0x3fu);
    default:
      ++*at;
      return data[0];
  }
}

struct seen {
  size_t lines, shortest, longest, wide, codes;
};

/* Reads all lines: each ends as it should, and the last byte ends one. */
static struct seen read_text(const struct generate_options *options, const struct made *made) {
  struct seen seen = {.shortest = SIZE_MAX};
  size_t begin = 0, at = 0;
  unsigned last = 0;
  while (at < made->size) {
    const unsigned code = next_code(options, made, &at);
    seen.codes++;
    seen.wide += code >= 0x80;
    assert_true(code == '\n' || code == '\r' || (code >= ' ' && code <= '~') || (code >= 0xc0 && code <= 0xff));
    if (options->newline == GENERATE_LF) assert_true(code != '\r');
    if (options->newline == GENERATE_CRLF) assert_true((code == '\n') == (last == '\r'));
    last = code;
    if (code != '\n') continue;
    const size_t length = at - begin;
    if (at < made->size) { /* the last line has what is left */
      if (length < seen.shortest) seen.shortest = length;
      if (length > seen.longest) seen.longest = length;
    }
    seen.lines++;
    begin = at;
  }
  assert_true(made->size == 0 || last == '\n');
  return seen;
}

static void text_is_lines_of_the_asked_length(void **state) {
  static const unsigned items[] = {0, 7, 66, 300, 100000};
  for (int encoding = GENERATE_UTF8; encoding <= GENERATE_UTF16BE; encoding++) {
    for (size_t i = 0; i < 2 * sizeof items / sizeof items[0]; i++) {
      const struct generate_options options = {.kind = GENERATE_TEXT,
                                               .size_bytes = 3000000,
                                               .item_bytes = items[i / 2],
                                               .newline = i % 2 ? GENERATE_CRLF : GENERATE_LF,
                                               .encoding = (enum generate_encoding)encoding};
      const struct made made = make(&options, 1 << 20);
      const struct seen seen = read_text(&options, &made);
      const size_t item = items[i / 2] ? items[i / 2] : 66;
      assert_int_equal(made.size, 3000000);
      assert_true(seen.shortest >= item / 2 - 1 && seen.longest <= item + item / 2);
      if (item <= 300) assert_true(seen.shortest <= item / 2 + 3 && seen.longest >= item + item / 2 - 2);
      const double share = (double)seen.wide / (double)seen.codes;
      const double lines = (double)made.size / (double)item / (double)seen.lines;
      if (item <= 300 && item > 7) assert_true(lines > 0.97 && lines < 1.03);
      if (encoding == GENERATE_ASCII)
        assert_int_equal(seen.wide, 0);
      else if (item > 7)
        assert_true(share > 0.009 && share < 0.013);
      free(made.data);
    }
  }
}

static void lines_can_be_alike(void **state) {
  const struct generate_options options = {
      .kind = GENERATE_TEXT, .size_bytes = 66 * 100, .item_bytes = 66, .item_spread = 1};
  const struct made made = make(&options, 1 << 16);
  const struct seen seen = read_text(&options, &made);
  assert_int_equal(seen.shortest, 65);
  assert_int_equal(seen.longest, 67);
  free(made.data);
}

/* Every small size, and those around a chunk's end. */
static void odd_sizes_are_exact(void **state) {
  for (unsigned i = 0; i < 4 * 5 * 600; i++) {
    struct generate_options options = {.kind = GENERATE_TEXT, .seed = i, .item_bytes = i % 3 ? 66 : 1};
    options.newline = i & 1 ? GENERATE_CRLF : GENERATE_LF;
    options.mark = (i & 2) != 0;
    options.encoding = (enum generate_encoding)(i / 4 % 5);
    options.size_bytes = i / 20 < 300 ? i / 20 : 65536 - 450 + i / 20;
    struct made made = make(&options, 1 << 16);
    const bool utf16 = options.encoding >= GENERATE_UTF16LE;
    const size_t mark = !options.mark ? 0 : utf16 ? 2 : options.encoding == GENERATE_UTF8 ? 3 : 0;
    const size_t unit = utf16 ? 2 : 1, end = options.newline == GENERATE_CRLF ? 2 * unit : unit;
    const size_t wanted = (size_t)options.size_bytes / unit * unit;
    assert_int_equal(made.size, wanted < mark + end ? 0 : wanted);
    if (mark && made.size) {
      static const char *const marks[] = {"\xef\xbb\xbf", "", "", "\xff\xfe", "\xfe\xff"};
      assert_memory_equal(made.data, marks[options.encoding], mark);
      memmove(made.data, made.data + mark, made.size -= mark);
    }
    read_text(&options, &made);
    free(made.data);
  }
}

/* ---- records, typed values ---- */

static uint32_t number_at(const unsigned char *data) {
  return data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 | (uint32_t)data[3] << 24;
}

/* Bytes of the record at `at`, its lengths checked. */
static size_t check_record(const struct made *made, size_t at) {
  const unsigned char *data = made->data + at;
  const size_t lead = data[0] & 0x80 ? 2 : 1;
  const size_t text = lead == 2 ? (data[0] & 0x7fu) | (size_t)data[1] << 7 : data[0];
  assert_true(lead == 1 || (data[1] > 0 && data[1] < 0x80));
  assert_true(text >= 20 && text <= 300 && at + lead + text + 4 <= made->size);
  const struct generate_options plain = {.encoding = GENERATE_UTF8};
  const struct made field = {(unsigned char *)data + lead, text};
  for (size_t i = 0; i < text;) assert_true(next_code(&plain, &field, &i) >= ' ');
  const size_t body = number_at(data + lead + text);
  assert_true(body >= 1000 && body <= 4900 && at + lead + text + 4 + body <= made->size);
  return lead + text + 4 + body;
}

static void records_are_whole(void **state) {
  static const uint64_t sizes[] = {0, 4, 5, 1000, 65536, 4370000};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    const struct generate_options options = {.kind = GENERATE_RECORDS, .seed = i, .size_bytes = sizes[i]};
    const struct made made = make(&options, 1 << 16);
    size_t at = 4, last = 0;
    uint32_t count = 0;
    for (; at < made.size; at += last, count++) last = check_record(&made, at);
    assert_int_equal(number_at(made.data), count);
    assert_int_equal(at, made.size);
    assert_true(made.size >= sizes[i] && made.size - last < (sizes[i] > 4 ? sizes[i] : 5));
    if (sizes[i] == 4370000) assert_in_range(count, 1350, 1450); /* study C: 1,400 */
    free(made.data);
  }
}

static void too_many_records_are_refused(void **state) {
  const struct generate_options options = {.kind = GENERATE_RECORDS, .size_bytes = UINT64_MAX};
  struct generator generator;
  assert_true(generate_size(&options) == UINT64_MAX);
  assert_int_equal(generate_open(&generator, &options), -EFBIG);
}

static void typed_values_are_finite_and_rise(void **state) {
  const struct generate_options options = {.kind = GENERATE_TYPED, .size_bytes = 1000};
  const struct made made = make(&options, 1 << 16);
  bool negative = false;
  int64_t before = 0;
  assert_int_equal(made.size, 1000 / 24 * 24);
  for (size_t at = 0; at < made.size; at += 24) {
    const unsigned char *data = made.data + at;
    const uint64_t bits = number_at(data + 8) | (uint64_t)number_at(data + 12) << 32;
    const int64_t time = (int64_t)(number_at(data + 16) | (uint64_t)number_at(data + 20) << 32);
    double value;
    memcpy(&value, &bits, sizeof value);
    assert_true(isfinite(value) && fabs(value) <= 0x1p21);
    assert_true(time > before);
    assert_true(number_at(data + 4) < 16);
    before = time;
    negative = negative || (int32_t)number_at(data) < 0;
  }
  assert_true(negative);
  free(made.data);
}

/* ---- random bytes ---- */

static void a_share_of_each_page_repeats(void **state) {
  static const double shares[] = {0, 0.25, 0.5, 0.999, 1};
  for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
    const struct generate_options options = {.compressible = shares[i], .size_bytes = 40960};
    const struct made made = make(&options, 1 << 16);
    const uint64_t word = random_mix(0);
    unsigned char bytes[8];
    for (unsigned b = 0; b < 8; b++) bytes[b] = (unsigned char)(word >> 8 * b);
    for (size_t page = 0; page < made.size; page += 4096) {
      size_t alike = 0;
      const size_t begin = 4096 - (size_t)(shares[i] * 4096 + 0.5);
      for (size_t at = begin; at < 4096; at++) alike += made.data[page + at] == bytes[(at - begin) % 8];
      assert_int_equal(alike, 4096 - begin);
      assert_true(begin < 16 || memcmp(made.data + page, made.data + page + begin / 2, begin / 2) != 0);
    }
    free(made.data);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bytes_are_the_known_ones),
      cmocka_unit_test(pieces_do_not_matter),
      cmocka_unit_test(seeds_matter),
      cmocka_unit_test(text_is_lines_of_the_asked_length),
      cmocka_unit_test(lines_can_be_alike),
      cmocka_unit_test(odd_sizes_are_exact),
      cmocka_unit_test(records_are_whole),
      cmocka_unit_test(too_many_records_are_refused),
      cmocka_unit_test(typed_values_are_finite_and_rise),
      cmocka_unit_test(a_share_of_each_page_repeats),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
