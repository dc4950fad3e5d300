/*
 * test_lib_text.c - encodings: every character in every pair, every cut, every room, all short sequences of bytes against a
 * slow rule of its own, marks and guesses, and whole files.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/os/check.h"
#include "weir.h"

enum { SOURCES = 6, TARGETS = 3, PAIRS = SOURCES * TARGETS, ROOM = 64 };
static const enum weir_encoding sources[SOURCES] = {WEIR_UTF8,    WEIR_UTF16LE, WEIR_UTF16BE,
                                                    WEIR_UTF32LE, WEIR_UTF32BE, WEIR_LATIN1};
static const enum weir_encoding targets[TARGETS] = {WEIR_UTF8, WEIR_UTF16LE, WEIR_UTF16BE};

struct text {
  unsigned char data[512];
  size_t size;
};

/* ---- a reference that shares nothing with the library ---- */

static void add_unit(struct text *text, uint32_t unit, unsigned bytes, bool big) {
  for (unsigned i = 0; i < bytes; i++) {
    unsigned shift = 8 * (big ? bytes - 1 - i : i);
    text->data[text->size++] = (unsigned char)(unit >> shift);
  }
}

static void add_utf8(struct text *text, uint32_t code) {
  if (code < 0x80) {
    add_unit(text, code, 1, true);
  } else if (code < 0x800) {
    add_unit(text, 0xc080 | (code & 0x7c0) << 2 | (code & 0x3f), 2, true);
  } else if (code < 0x10000) {
    add_unit(text, 0xe08080 | (code & 0xf000) << 4 | (code & 0xfc0) << 2 | (code & 0x3f), 3, true);
  } else {
    uint32_t high = 0xf0808080 | (code & 0x1c0000) << 6 | (code & 0x3f000) << 4;
    add_unit(text, high | (code & 0xfc0) << 2 | (code & 0x3f), 4, true);
  }
}

static void add(struct text *text, enum weir_encoding encoding, uint32_t code) {
  bool big = encoding == WEIR_UTF16BE || encoding == WEIR_UTF32BE;
  if (encoding == WEIR_UTF8) {
    add_utf8(text, code);
  } else if (encoding == WEIR_LATIN1) {
    add_unit(text, code, 1, true);
  } else if (encoding == WEIR_UTF32LE || encoding == WEIR_UTF32BE) {
    add_unit(text, code, 4, big);
  } else if (code < 0x10000) {
    add_unit(text, code, 2, big);
  } else {
    add_unit(text, 0xd800 | (code - 0x10000) / 0x400, 2, big);
    add_unit(text, 0xdc00 | (code - 0x10000) % 0x400, 2, big);
  }
}

static bool is_character(uint32_t code) { return code < 0xd800 || (code > 0xdfff && code < 0x110000); }

static struct text encode(enum weir_encoding encoding, const uint32_t *codes, size_t count) {
  struct text text = {.size = 0};
  for (size_t i = 0; i < count; i++) add(&text, encoding, codes[i]);
  return text;
}

/* The same character as UTF-8, made by arithmetic alone: is this sequence that of some character? */
static bool is_sequence(const unsigned char *bytes, size_t size) {
  static const unsigned char ones[] = {0, 0, 0xc0, 0xe0, 0xf0};
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (size == 1) return bytes[0] < 0x80;
  unsigned char mask = (unsigned char)(0xff << (7 - size));
  if (size > 4 || (bytes[0] & mask) != ones[size]) return false;
  uint32_t code = bytes[0] & (unsigned char)~mask;
  for (size_t i = 1; i < size; i++) {
    if (bytes[i] < 0x80 || bytes[i] > 0xbf) return false;
    code = code * 64 + bytes[i] % 64;
  }
  return code >= least[size] && is_character(code);
}

/* Does some character begin with these bytes? Tried by completing them; ranges begin and end at these bytes. */
static bool is_start(const unsigned char *bytes, size_t size) {
  static const unsigned char nexts[] = {0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf};
  unsigned char longer[4];
  if (size >= 4) return false;
  memcpy(longer, bytes, size);
  for (size_t i = 0; i < sizeof nexts; i++) {
    longer[size] = nexts[i];
    if (is_sequence(longer, size + 1) || is_start(longer, size + 1)) return true;
  }
  return false;
}

/* ---- decoding ---- */

struct decoded {
  int code;
  uint64_t offset, replaced;
  char data[2048];
  size_t size;
};

static struct weir_decoder begin(enum weir_encoding from, enum weir_encoding to, bool replace) {
  struct weir_decoder decoder;
  assert_int_equal(weir_decoder_init(&decoder, from, to, replace), 0);
  return decoder;
}

/* Feeds one piece, giving `room` bytes of output at a time. */
static int feed(struct weir_decoder *decoder, const void *data, size_t size, size_t room, bool last, struct decoded *out) {
  struct weir_slice in = {data, size};
  int code;
  do {
    char piece[ROOM], *at = piece;
    size_t left = room;
    code = weir_decode(decoder, &in, &at, &left, last);
    assert_int_equal((size_t)(at - piece) + left, room);
    memcpy(out->data + out->size, piece, (size_t)(at - piece));
    out->size += (size_t)(at - piece);
    if (code == WEIR_MORE) assert_true(at > piece || room < 6);
  } while (code == WEIR_MORE);
  if (code == 0) assert_int_equal(in.size, 0);
  return code;
}

static struct decoded decode(enum weir_encoding from, enum weir_encoding to, bool replace, const void *data, size_t size,
                             size_t cut) {
  struct decoded out = {.code = 0};
  struct weir_decoder decoder = begin(from, to, replace);
  out.code = feed(&decoder, data, cut, 6, false, &out);
  if (out.code == 0) out.code = feed(&decoder, (const char *)data + cut, size - cut, 6, true, &out);
  out.offset = decoder.offset;
  out.replaced = decoder.replaced;
  return out;
}

static void assert_decoded(const struct decoded *out, const struct text *expected) {
  assert_int_equal(out->size, expected->size);
  assert_memory_equal(out->data, expected->data, expected->size);
}

/* 1, 2, 3 and 4 bytes of UTF-8 in every neighbourhood, edges of all ranges, and runs of ASCII longer than a machine word. */
static const uint32_t wide[] = {'a', 0xe4,   0x20ac, 0x1f600, 0x10ffff, 0xffff, 0x800, 0x80, 0x7f, 0,   0x7ff, 0x10000,
                                'x', 0xd7ff, 0xe000, 0xfeff,  'r',      'u',    'n',   's',  ' ',  'o', 'f',   ' ',
                                'a', 's',    'c',    'i',     'i',      ' ',    'h',   'e',  'r',  'e', 0xe9,  '.'};
static const uint32_t latin[] = {'a', 0xe4, 0xff, 0x80, 'b', 0,   0xa0, '\r', '\n', 0x7f, 0xc3, 0xa4, 'r', 'u',
                                 'n', 's',  ' ',  'o',  'f', ' ', 'a',  's',  'c',  'i',  'i',  ' ',  'h', 0xdf};

static struct text sample(enum weir_encoding from, enum weir_encoding to) {
  bool narrow = from == WEIR_LATIN1;
  return encode(to, narrow ? latin : wide, narrow ? sizeof latin / sizeof latin[0] : sizeof wide / sizeof wide[0]);
}

static void test_cut_everywhere_twice(void **state) {
  for (int pair = 0; pair < PAIRS; pair++) {
    enum weir_encoding from = sources[pair / TARGETS], to = targets[pair % TARGETS];
    struct text in = sample(from, from), expected = sample(from, to);
    for (size_t first = 0; first <= in.size; first++) {
      for (size_t second = first; second <= in.size; second++) {
        struct weir_decoder decoder = begin(from, to, false);
        struct decoded out = {.size = 0};
        assert_int_equal(feed(&decoder, in.data, first, ROOM, false, &out), 0);
        assert_int_equal(feed(&decoder, in.data + first, second - first, ROOM, false, &out), 0);
        assert_int_equal(feed(&decoder, in.data + second, in.size - second, ROOM, true, &out), 0);
        assert_decoded(&out, &expected);
        assert_int_equal(decoder.offset, in.size);
      }
    }
  }
}

static void test_pieces_of_every_size_into_every_room(void **state) {
  for (int pair = 0; pair < PAIRS; pair++) {
    enum weir_encoding from = sources[pair / TARGETS], to = targets[pair % TARGETS];
    struct text in = sample(from, from), expected = sample(from, to);
    for (size_t piece = 1; piece <= 9; piece++) {
      for (size_t room = 4; room <= 19; room++) {
        struct weir_decoder decoder = begin(from, to, false);
        struct decoded out = {.size = 0};
        for (size_t at = 0; at < in.size; at += piece) {
          size_t size = in.size - at < piece ? in.size - at : piece;
          assert_int_equal(feed(&decoder, in.data + at, size, room, at + size == in.size, &out), 0);
        }
        assert_decoded(&out, &expected);
      }
    }
  }
}

static void test_without_room_nothing_is_used(void **state) {
  for (int pair = 0; pair < PAIRS; pair++) {
    enum weir_encoding from = sources[pair / TARGETS], to = targets[pair % TARGETS];
    struct text in = sample(from, from);
    for (size_t cut = 0; cut < in.size; cut++) {
      struct weir_decoder decoder = begin(from, to, false);
      struct decoded ignored = {.size = 0};
      assert_int_equal(feed(&decoder, in.data, cut, ROOM, false, &ignored), 0);
      struct weir_decoder before = decoder;
      struct weir_slice rest = {(const char *)in.data + cut, in.size - cut};
      char none, *at = &none;
      size_t room = 0;
      assert_int_equal(weir_decode(&decoder, &rest, &at, &room, true), WEIR_MORE);
      assert_int_equal(rest.size, in.size - cut);
      assert_memory_equal(&before, &decoder, sizeof before);
    }
  }
}

static void test_every_character_in_every_pair(void **state) {
  enum { BATCH = 64 };
  for (int pair = 0; pair < PAIRS; pair++) {
    enum weir_encoding from = sources[pair / TARGETS], to = targets[pair % TARGETS];
    uint32_t limit = from == WEIR_LATIN1 ? 0x100 : 0x110000, codes[BATCH];
    for (uint32_t code = 0; code < limit;) {
      size_t count = 0;
      for (; count < BATCH && code < limit; code++) {
        if (is_character(code)) codes[count++] = code;
      }
      struct text in = encode(from, codes, count), expected = encode(to, codes, count);
      struct weir_decoder decoder = begin(from, to, false);
      struct weir_slice slice = {(const char *)in.data, in.size};
      char data[512], *at = data;
      size_t room = sizeof data;
      assert_int_equal(weir_decode(&decoder, &slice, &at, &room, true), 0);
      assert_int_equal((size_t)(at - data), expected.size);
      assert_memory_equal(data, expected.data, expected.size);
    }
  }
}

/* Several letters are looked at together: one that is no ASCII, by its lower or its upper half, is seen at every place. */
static void test_one_character_among_letters(void **state) {
  static const uint32_t odd[] = {0xe4, 0x161, 0x6100, 0x10061};
  for (int pair = 0; pair < PAIRS; pair++) {
    enum weir_encoding from = sources[pair / TARGETS], to = targets[pair % TARGETS];
    for (size_t place = 0; place < 40; place++) {
      for (size_t i = 0; i < (from == WEIR_LATIN1 ? 1 : 4); i++) {
        uint32_t codes[40];
        for (size_t at = 0; at < 40; at++) codes[at] = at == place ? odd[i] : 'a';
        struct text in = encode(from, codes, 40), expected = encode(to, codes, 40);
        struct weir_decoder decoder = begin(from, to, false);
        struct decoded out = {.size = 0};
        assert_int_equal(feed(&decoder, in.data, in.size, ROOM, true, &out), 0);
        assert_decoded(&out, &expected);
      }
    }
  }
}

/* ---- validity ---- */

/* As the rule says: character after character. */
static size_t valid_slowly(const unsigned char *data, size_t size) {
  size_t at = 0;
  while (at < size) {
    size_t length = 1;
    while (length <= 4 && at + length <= size && !is_sequence(data + at, length)) length++;
    if (length > 4 || at + length > size) break;
    at += length;
  }
  return at;
}

static void check_bytes(const unsigned char *bytes, size_t size) {
  size_t expected = valid_slowly(bytes, size);
  if (weir_utf8_valid(bytes, size) == expected) return;
  fail_msg("%02x %02x %02x %02x, %zu bytes: %zu valid, not %zu", bytes[0], bytes[1], bytes[2], bytes[3], size, expected,
           weir_utf8_valid(bytes, size));
}

static void test_validity_of_all_short_sequences(void **state) {
  static const unsigned char edges[] = {0x7f, 0x80, 0xbf, 0xc2, 0xe0};
  unsigned char bytes[4];
  for (unsigned first = 0; first < 256; first++) {
    for (unsigned second = 0; second < 256; second++) {
      bytes[0] = (unsigned char)first;
      bytes[1] = (unsigned char)second;
      for (size_t third = 0; third < sizeof edges; third++) {
        for (size_t fourth = 0; fourth < sizeof edges; fourth++) {
          bytes[2] = edges[third];
          bytes[3] = edges[fourth];
          for (size_t size = 1; size <= 4; size++) check_bytes(bytes, size);
        }
      }
    }
  }
}

/* One bad byte at each place of texts of all lengths, both before a page that cannot be read. */
static void test_validity_at_the_edge_of_a_page(void **state) {
  size_t page = os_page_size();
  unsigned char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(memory != MAP_FAILED);
  assert_int_equal(mprotect(memory + page, page, PROT_NONE), 0);
  for (size_t size = 0; size <= 70; size++) {
    unsigned char *text = memory + page - size;
    memset(text, 'a', size);
    assert_int_equal(weir_utf8_valid(text, size), size);
    for (size_t bad = 0; bad < size; bad++) {
      text[bad] = 0x80;
      assert_int_equal(weir_utf8_valid(text, size), bad);
      text[bad] = 0xf1; /* a character cut off by the end, or by a letter */
      assert_int_equal(weir_utf8_valid(text, size), bad);
      struct decoded out = decode(WEIR_UTF8, WEIR_UTF16LE, false, text, size, size);
      assert_int_equal(out.code, WEIR_EILSEQ);
      assert_int_equal(out.offset, bad);
      text[bad] = 'a';
    }
  }
  assert_int_equal(weir_utf8_valid(NULL, 0), 0);
  munmap(memory, 2 * page);
}

/* ---- what is invalid ---- */

struct invalid {
  enum weir_encoding from;
  const char *bytes;
  size_t size;
  size_t offset;       /* of the first that is invalid */
  unsigned replaced;   /* how many */
  const char *instead; /* as UTF-8 */
};
#define R "\xef\xbf\xbd"
#define CASE(from, bytes, offset, replaced, instead) \
  { from, bytes, sizeof bytes - 1, offset, replaced, instead }
static const struct invalid invalid[] = {
    CASE(WEIR_UTF8, "a\x80z", 1, 1, "a" R "z"),
    CASE(WEIR_UTF8, "a\xffz", 1, 1, "a" R "z"),
    CASE(WEIR_UTF8, "ab\xc0\xafz", 2, 2, "ab" R R "z"),           /* overlong */
    CASE(WEIR_UTF8, "\xe0\x80\x80z", 0, 3, R R R "z"),            /* overlong */
    CASE(WEIR_UTF8, "\xf0\x80\x80\x80z", 0, 4, R R R R "z"),      /* overlong */
    CASE(WEIR_UTF8, "a\xed\xa0\x80z", 1, 3, "a" R R R "z"),       /* a surrogate */
    CASE(WEIR_UTF8, "a\xf4\x90\x80\x80z", 1, 4, "a" R R R R "z"), /* above U+10FFFF */
    CASE(WEIR_UTF8, "\xf5\x80z", 0, 2, R R "z"),
    CASE(WEIR_UTF8, "a\xe2\x82z", 1, 1, "a" R "z"), /* the longest start is one error */
    CASE(WEIR_UTF8, "a\xf0\x9f\x98z", 1, 1, "a" R "z"),
    CASE(WEIR_UTF8, "a\xf0\x9f\x98", 1, 1, "a" R), /* cut off */
    CASE(WEIR_UTF8, "a\xc3", 1, 1, "a" R),
    CASE(WEIR_UTF8, "\xe2\xe2\x82\xac", 0, 1, R "\xe2\x82\xac"), /* good again at once */
    CASE(WEIR_UTF16LE, "a\0\x00\xd8z\0", 2, 1, "a" R "z"),       /* a first half alone */
    CASE(WEIR_UTF16LE, "a\0\x00\xdcz\0", 2, 1, "a" R "z"),       /* a second half alone */
    CASE(WEIR_UTF16LE, "\x00\xd8\x00\xd8\x00\xdc", 0, 1, R "\xf0\x90\x80\x80"),
    CASE(WEIR_UTF16LE, "\x00\xdc\x00\xdcz\0", 0, 2, R R "z"),
    CASE(WEIR_UTF16LE, "a\0b", 2, 1, "a" R), /* an odd byte */
    CASE(WEIR_UTF16LE, "a\0\x00\xd8", 2, 1, "a" R),
    CASE(WEIR_UTF16LE, "a\0\x00\xd8\x00", 2, 1, "a" R),
    CASE(WEIR_UTF16BE, "\0a\xd8\x00\0z", 2, 1, "a" R "z"),
    CASE(WEIR_UTF16BE, "\0a\xdc\x00\0z", 2, 1, "a" R "z"),
    CASE(WEIR_UTF16BE, "\0a\xd8", 2, 1, "a" R),
    CASE(WEIR_UTF32LE, "a\0\0\0\0\xd8\0\0z\0\0\0", 4, 1, "a" R "z"),
    CASE(WEIR_UTF32LE, "a\0\0\0\0\0\x11\0z\0\0\0", 4, 1, "a" R "z"),
    CASE(WEIR_UTF32LE, "a\0\0\0\xff\xff\xff\xff", 4, 1, "a" R),
    CASE(WEIR_UTF32LE, "a\0\0\0b\0\0", 4, 1, "a" R),
    CASE(WEIR_UTF32BE, "\0\0\0a\0\0\xdf\xff\0\0\0z", 4, 1, "a" R "z"),
    CASE(WEIR_UTF32BE, "\0\0\0a\0\x11\0\0\0\0\0z", 4, 1, "a" R "z"),
};

static void test_what_is_invalid_at_every_cut(void **state) {
  for (size_t i = 0; i < sizeof invalid / sizeof invalid[0]; i++) {
    const struct invalid *c = &invalid[i];
    for (size_t cut = 0; cut <= c->size; cut++) {
      struct decoded strict = decode(c->from, WEIR_UTF8, false, c->bytes, c->size, cut);
      assert_int_equal(strict.code, WEIR_EILSEQ);
      assert_int_equal(strict.offset, c->offset);
      assert_memory_equal(strict.data, c->instead, strict.size); /* what came before it */
      struct decoded lenient = decode(c->from, WEIR_UTF8, true, c->bytes, c->size, cut);
      assert_int_equal(lenient.code, 0);
      assert_int_equal(lenient.replaced, c->replaced);
      assert_int_equal(lenient.offset, c->size);
      assert_int_equal(lenient.size, strlen(c->instead));
      assert_memory_equal(lenient.data, c->instead, lenient.size);
    }
  }
}

/* What remains invalid stays so when it is asked again, and goes on when the caller wants a replacement after all. */
static void test_after_an_error(void **state) {
  struct weir_decoder decoder = begin(WEIR_UTF8, WEIR_UTF8, false);
  struct decoded out = {.size = 0};
  assert_int_equal(feed(&decoder, "a\xe2", 2, ROOM, false, &out), 0);
  for (int again = 0; again < 2; again++) {
    assert_int_equal(feed(&decoder, "zz", 2, ROOM, true, &out), WEIR_EILSEQ);
    assert_int_equal(decoder.offset, 1);
  }
  decoder.replace = true;
  assert_int_equal(feed(&decoder, "zz", 2, ROOM, true, &out), 0);
  assert_int_equal(out.size, 6);
  assert_memory_equal(out.data, "a" R "zz", 6);
  assert_int_equal(decoder.offset, 4);
  assert_int_equal(decoder.replaced, 1);
}

/* All sequences of up to three bytes: how many are replaced follows from the longest starts. */
static unsigned replaced_slowly(const unsigned char *data, size_t size) {
  unsigned replaced = 0;
  for (size_t at = 0; at < size;) {
    size_t length = 1;
    while (length <= size - at && !is_sequence(data + at, length) && is_start(data + at, length)) length++;
    bool good = length <= size - at && is_sequence(data + at, length);
    replaced += !good;
    at += good || length == 1 ? length : length - 1;
  }
  return replaced;
}

static void test_replacements_of_all_short_sequences(void **state) {
  static const unsigned char leads[] = {'a', 0x80, 0xbf, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xed, 0xef, 0xf0, 0xf1, 0xf4, 0xf5};
  static const unsigned char next[] = {'a', 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc3, 0xe2};
  unsigned char bytes[4];
  for (size_t i = 0; i < sizeof leads * sizeof next * sizeof next * sizeof next; i++) {
    size_t rest = i;
    bytes[0] = leads[rest % sizeof leads];
    rest /= sizeof leads;
    for (size_t j = 1; j < 4; j++, rest /= sizeof next) bytes[j] = next[rest % sizeof next];
    for (size_t cut = 0; cut <= 4; cut += 2) {
      struct decoded out = decode(WEIR_UTF8, WEIR_UTF16BE, true, bytes, 4, cut);
      assert_int_equal(out.code, 0);
      assert_int_equal(out.replaced, replaced_slowly(bytes, 4));
    }
  }
}

static void test_encodings_that_are_none(void **state) {
  struct weir_decoder decoder;
  struct weir_decoder zero = {.from = WEIR_ENCODING_UNKNOWN};
  struct weir_slice in = {"a", 1};
  char out[8], *at = out;
  size_t room = sizeof out;
  assert_int_equal(weir_decoder_init(&decoder, WEIR_ENCODING_UNKNOWN, WEIR_UTF8, false), WEIR_EINVAL);
  assert_int_equal(weir_decoder_init(&decoder, (enum weir_encoding)7, WEIR_UTF8, false), WEIR_EINVAL);
  for (enum weir_encoding to = (enum weir_encoding)0; to <= 8; to = (enum weir_encoding)(to + 1)) {
    bool target = to == WEIR_UTF8 || to == WEIR_UTF16LE || to == WEIR_UTF16BE;
    assert_int_equal(weir_decoder_init(&decoder, WEIR_UTF8, to, false), target ? 0 : WEIR_EINVAL);
  }
  assert_int_equal(weir_decode(&zero, &in, &at, &room, true), WEIR_EINVAL);
  assert_string_equal(weir_encoding_name(WEIR_UTF8), "UTF-8");
  assert_string_equal(weir_encoding_name(WEIR_UTF16LE), "UTF-16LE");
  assert_string_equal(weir_encoding_name(WEIR_UTF32BE), "UTF-32BE");
  assert_string_equal(weir_encoding_name((enum weir_encoding)99), "unknown");
}

/* ---- guesses ---- */

struct guess {
  const char *bytes;
  size_t size;
  enum weir_encoding encoding;
  size_t mark;
};
#define GUESS(bytes, encoding, mark) \
  { bytes, sizeof bytes - 1, encoding, mark }
static const struct guess guesses[] = {
    GUESS("", WEIR_UTF8, 0),
    GUESS("plain", WEIR_UTF8, 0),
    GUESS("\xef\xbb\xbf", WEIR_UTF8, 3),
    GUESS("\xef\xbb\xbf\xff", WEIR_UTF8, 3), /* the mark decides, whatever follows */
    GUESS("\xff\xfe"
          "a\0",
          WEIR_UTF16LE, 2),
    GUESS("\xfe\xff\0a", WEIR_UTF16BE, 2),
    GUESS("\xff\xfe\0\0a\0\0\0", WEIR_UTF32LE, 4),
    GUESS("\0\0\xfe\xff\0\0\0a", WEIR_UTF32BE, 4),
    GUESS("\xff\xfe", WEIR_UTF16LE, 2),
    GUESS("\xef\xbb", WEIR_LATIN1, 0), /* no mark yet */
    GUESS("a\0b\0c\0", WEIR_UTF16LE, 0),
    GUESS("\0a\0b\0c", WEIR_UTF16BE, 0),
    GUESS("a\0\0\0b\0\0\0", WEIR_UTF32LE, 0),
    GUESS("\0\0\0a\0\0\0b", WEIR_UTF32BE, 0),
    GUESS("\x1f\x04\x40\x04\x38\x04\x32\x04\x35\x04\x42\x04 \0\x3c\x04\x38\x04\x40\x04", WEIR_UTF16LE, 0), /* Cyrillic */
    GUESS("\xac\x20"
          "5\0",
          WEIR_UTF16LE, 0),
    GUESS("\xff\0\0ab\0", WEIR_LATIN1, 0), /* zeros on both sides */
    GUESS("gr\xfc\xdf dich", WEIR_LATIN1, 0),
    GUESS("gr\xc3\xbc\xc3\x9f dich", WEIR_UTF8, 0),
    GUESS("caf\xe9", WEIR_LATIN1, 0),                        /* at the end of a short text a letter ... */
    GUESS("caf\xc3\xa9 caf\xc3", WEIR_UTF8, 0),              /* ... unless it is UTF-8 before */
    GUESS("one\0two and\0three\0four\0five!", WEIR_UTF8, 0), /* NULs between strings */
    GUESS("abc\0", WEIR_UTF8, 0),
    GUESS("abc\0def\0", WEIR_UTF8, 0),
    GUESS("\0\0\0\0\0\0\0\0", WEIR_UTF8, 0),
};

static void test_guesses(void **state) {
  for (size_t i = 0; i < sizeof guesses / sizeof guesses[0]; i++) {
    size_t mark = 99;
    enum weir_encoding encoding = weir_detect(guesses[i].bytes, guesses[i].size, &mark);
    if (encoding != guesses[i].encoding || mark != guesses[i].mark) {
      fail_msg("guess %zu: %s with a mark of %zu", i, weir_encoding_name(encoding), mark);
    }
    assert_int_equal(weir_detect(guesses[i].bytes, guesses[i].size, NULL), encoding);
  }
}

/* The first 4 KiB of a long text, cut anywhere in a character. */
static void test_guess_from_a_part(void **state) {
  static char text[5000];
  for (size_t shift = 0; shift < 4; shift++) {
    memset(text, 'a', shift);
    for (size_t i = shift; i + 4 <= sizeof text; i += 4) memcpy(text + i, "\xf0\x9f\x98\x80", 4);
    assert_int_equal(weir_detect(text, 4096, NULL), WEIR_UTF8);
  }
  memset(text, 'a', sizeof text);
  text[4095] = (char)0xc3;
  assert_int_equal(weir_detect(text, 4096, NULL), WEIR_UTF8);
}

/* ---- whole files ---- */

static struct path put_file(const char *folder, const void *data, size_t size) {
  struct path path = path_in(folder, "text");
  os_file file = open_in(folder, "text", OS_WRITE | OS_CREATE | OS_TRUNCATE);
  assert_int_equal(os_pwrite_full(file, data, size, 0), (int64_t)size);
  assert_int_equal(os_close(file), 0);
  return path;
}

static void test_files_in_every_encoding(void **state) {
  static const char *const marks[] = {"", "\xef\xbb\xbf", "\xff\xfe", "\xfe\xff", "\xff\xfe\0\0", "\0\0\xfe\xff", ""};
  static const size_t mark_sizes[] = {0, 3, 2, 2, 4, 4, 0};
  struct weir_bytes text = {0}; /* one for all files: its memory is used again */
  for (int i = 0; i < SOURCES; i++) {
    enum weir_encoding from = sources[i];
    struct text expected = sample(from, WEIR_UTF8), body = sample(from, from);
    for (int marked = 0; marked < 2; marked++) {
      char data[600];
      size_t mark = marked ? mark_sizes[from] : 0;
      memcpy(data, marks[from], mark);
      memcpy(data + mark, body.data, body.size);
      struct path path = put_file(*state, data, mark + body.size);
      assert_int_equal(weir_read_text(path.text, from, false, &text, NULL), 0);
      assert_int_equal(text.size, expected.size);
      assert_memory_equal(text.data, expected.data, expected.size);
      assert_int_equal(text.data[text.size], 0);
      if (!mark) continue;
      assert_int_equal(weir_read_text(path.text, WEIR_ENCODING_UNKNOWN, false, &text, NULL), 0);
      assert_int_equal(text.size, expected.size);
      assert_memory_equal(text.data, expected.data, expected.size);
    }
  }
  weir_bytes_free(&text);
}

/* Latin-1 doubles, and needs room again and again. */
static void test_large_file_that_grows(void **state) {
  size_t size = 3 * MIB + 5;
  char *data = malloc(size);
  assert_non_null(data);
  memset(data, 0xe4, size);
  struct path path = put_file(*state, data, size);
  free(data);
  struct weir_bytes text = {0};
  assert_int_equal(weir_read_text(path.text, WEIR_ENCODING_UNKNOWN, false, &text, NULL), 0);
  assert_int_equal(text.size, 2 * size);
  for (size_t i = 0; i < size; i++) {
    if (memcmp(text.data + 2 * i, "\xc3\xa4", 2) != 0) fail_msg("wrong at %zu", i);
  }
  assert_int_equal(text.data[text.size], 0);
  weir_bytes_free(&text);
}

static void test_last_letter_of_latin1(void **state) {
  struct weir_bytes text = {0};
  struct path path = put_file(*state, "caf\xe9", 4);
  assert_int_equal(weir_read_text(path.text, WEIR_ENCODING_UNKNOWN, false, &text, NULL), 0);
  assert_string_equal(text.data, "caf\xc3\xa9");
  weir_bytes_free(&text);
}

static void test_empty_file_and_bare_mark(void **state) {
  struct weir_bytes text = {0};
  struct path path = put_file(*state, "", 0);
  assert_int_equal(weir_read_text(path.text, WEIR_ENCODING_UNKNOWN, false, &text, NULL), 0);
  assert_int_equal(text.size, 0);
  assert_string_equal(text.data, "");
  (void)put_file(*state, "\xff\xfe", 2);
  assert_int_equal(weir_read_text(path.text, WEIR_ENCODING_UNKNOWN, false, &text, NULL), 0);
  assert_int_equal(text.size, 0);
  assert_string_equal(text.data, "");
  weir_bytes_free(&text);
}

static void test_invalid_file(void **state) {
  struct weir_bytes text = {0};
  struct weir_error error;
  struct path path = put_file(*state,
                              "\xef\xbb\xbfgood\xff"
                              "bad",
                              11);
  assert_int_equal(weir_read_text(path.text, WEIR_ENCODING_UNKNOWN, false, &text, &error), WEIR_EILSEQ);
  assert_int_equal(error.code, WEIR_EILSEQ);
  assert_int_equal(error.offset, 7); /* in the file, with its mark */
  assert_int_equal(error.transferred, 4);
  assert_int_equal(text.size, 4);
  assert_string_equal(text.data, "good");
  assert_int_equal(weir_read_text(path.text, WEIR_UTF8, true, &text, &error), 0);
  assert_string_equal(text.data, "good" R "bad");
  assert_int_equal(weir_read_text(path.text, (enum weir_encoding)9, true, &text, &error), WEIR_EINVAL);
  weir_bytes_free(&text);
}

/* A bad byte far behind good ones is an error of their encoding, no reason for another. */
static void test_late_error_does_not_change_the_guess(void **state) {
  static char data[20000];
  struct weir_error error;
  struct weir_bytes text = {0};
  memset(data, ' ', sizeof data);
  memcpy(data + 9000, "\xc3\xa4", 2);
  data[19000] = (char)0xff;
  struct path path = put_file(*state, data, sizeof data);
  assert_int_equal(weir_read_text(path.text, WEIR_ENCODING_UNKNOWN, false, &text, &error), WEIR_EILSEQ);
  assert_int_equal(error.offset, 19000);
  data[9000] = data[9001] = ' '; /* nothing before it: Latin-1 */
  (void)put_file(*state, data, sizeof data);
  assert_int_equal(weir_read_text(path.text, WEIR_ENCODING_UNKNOWN, false, &text, &error), 0);
  assert_int_equal(text.size, sizeof data + 1);
  weir_bytes_free(&text);
}

static void test_errors_of_the_file(void **state) {
  struct weir_bytes text = {0};
  struct weir_error error;
  struct path path = path_in(*state, "missing");
  assert_int_equal(weir_read_text(path.text, WEIR_UTF8, false, &text, &error), WEIR_ENOENT);
  assert_string_equal(error.operation, "open");
  assert_int_equal(weir_read_text(*state, WEIR_UTF8, false, &text, NULL), WEIR_EISDIR);
  weir_bytes_free(&text);
}

/* ---- without memory ---- */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
static unsigned allocations, allocation_that_fails; /* from 1; 0: none */

static bool refused(void) { return ++allocations == allocation_that_fails; }

void *__wrap_malloc(size_t size) { return refused() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) { return refused() ? NULL : __real_calloc(count, size); }
void *__wrap_realloc(void *old, size_t size) { return refused() ? NULL : __real_realloc(old, size); }

static void test_every_allocation_refused(void **state) {
  char data[3000];
  memset(data, 0xe4, sizeof data);
  struct path path = put_file(*state, data, sizeof data);
  int code = -1;
  for (unsigned number = 1; code != 0; number++) {
    struct weir_bytes text = {0};
    struct weir_error error = {0};
    allocations = 0;
    allocation_that_fails = number;
    code = weir_read_text(path.text, WEIR_LATIN1, false, &text, &error);
    allocation_that_fails = 0;
    if (code) {
      assert_int_equal(code, WEIR_ENOMEM);
      assert_int_equal(error.code, WEIR_ENOMEM);
      assert_int_equal(text.size, error.transferred);
    }
    weir_bytes_free(&text);
    assert_in_range(number, 1, 20);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cut_everywhere_twice),
      cmocka_unit_test(test_pieces_of_every_size_into_every_room),
      cmocka_unit_test(test_without_room_nothing_is_used),
      cmocka_unit_test(test_every_character_in_every_pair),
      cmocka_unit_test(test_one_character_among_letters),
      cmocka_unit_test(test_validity_of_all_short_sequences),
      cmocka_unit_test(test_validity_at_the_edge_of_a_page),
      cmocka_unit_test(test_what_is_invalid_at_every_cut),
      cmocka_unit_test(test_after_an_error),
      cmocka_unit_test(test_replacements_of_all_short_sequences),
      cmocka_unit_test(test_encodings_that_are_none),
      cmocka_unit_test(test_guesses),
      cmocka_unit_test(test_guess_from_a_part),
      cmocka_unit_test(test_files_in_every_encoding),
      cmocka_unit_test(test_large_file_that_grows),
      cmocka_unit_test(test_last_letter_of_latin1),
      cmocka_unit_test(test_empty_file_and_bare_mark),
      cmocka_unit_test(test_invalid_file),
      cmocka_unit_test(test_late_error_does_not_change_the_guess),
      cmocka_unit_test(test_errors_of_the_file),
      cmocka_unit_test(test_every_allocation_refused),
  };
  return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
