/*
 * generate.c - makes the contents of files a chunk at a time, so that what comes out does not depend on the pieces in which
 * it is pulled. Numbers are put byte by byte, lowest first, and no floating point is rounded but a share of a page.
 */
#include "measure/generate.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "weir/method.h"

const char *const generate_kind_words[] = {"random", "text", "records", "typed", NULL};
const char *const generate_newline_words[] = {"lf", "crlf", NULL};
const char *const generate_encoding_words[] = {"utf8", "latin1", "ascii", "utf16le", "utf16be", NULL};

enum { CHUNK = 64 * 1024, TYPED = 24 };
static_assert(CHUNK % GENERATE_PAGE == 0, "pages are made whole");
static_assert(sizeof(struct weir_typed) == TYPED, "as it lies in the file");

enum { STREAM_SIZES = 2, STREAM_CONTENT = 3 }; /* content.h has 1 */

/* Study C's records: 1,400 of them in 4.37 MB. The longest, with the lengths before its fields. */
enum { TEXT_MIN = 20, TEXT_MAX = 300, BODY_MIN = 1000, BODY_MAX = 4900, RECORD_MAX = 2 + TEXT_MAX + 4 + BODY_MAX };

/* ---- numbers ---- */

static void put_byte(struct generator *g, unsigned byte) { g->chunk[g->filled++] = (unsigned char)byte; }

static void put_number(struct generator *g, uint64_t number, unsigned bytes) {
  unsigned char *out = g->chunk + g->filled;
  for (unsigned i = 0; i < bytes; i++) out[i] = (unsigned char)(number >> 8 * i);
  g->filled += bytes;
}

static void put_random(struct generator *g, size_t bytes) {
  struct random_state content = g->content; /* a copy: no store to the chunk can change it */
  for (; bytes >= 8; bytes -= 8) put_number(g, random_next(&content), 8);
  if (bytes) put_number(g, random_next(&content), (unsigned)bytes);
  g->content = content;
}

/* ---- characters ---- */

/* A draw of 0 to 255 picks one: below WIDE a letter from U+00C0 to U+00FF, else of these 64. */
enum { WIDE = 3, WIDE_FIRST = 0xc0 };
static const char narrow[] = "          abcdefghijklmnopqrstuvwxyzeaioABEMST0123456789,.-;:'()";
static_assert(sizeof narrow == 64 + 1, "six bits of a draw");

static unsigned draw_byte(struct generator *g) {
  if (g->bytes_of_bits == 0) {
    g->bits = random_next(&g->content);
    g->bytes_of_bits = 8;
  }
  const unsigned byte = g->bits & 0xff;
  g->bits >>= 8;
  g->bytes_of_bits--;
  return byte;
}

static bool is_utf16(enum generate_encoding encoding) {
  return encoding == GENERATE_UTF16LE || encoding == GENERATE_UTF16BE;
}

/* Below U+0100, which all encodings but ASCII have. */
static void put_code(struct generator *g, unsigned code) {
  switch (g->options.encoding) {
    case GENERATE_UTF16LE:
      put_byte(g, code);
      put_byte(g, 0);
      return;
    case GENERATE_UTF16BE:
      put_byte(g, 0);
      put_byte(g, code);
      return;
    case GENERATE_UTF8:
      if (code >= 0x80) put_byte(g, 0xc0 | code >> 6);
      put_byte(g, code < 0x80 ? code : 0x80 | (code & 0x3f));
      return;
    default:
      put_byte(g, code);
  }
}

/* Characters of so many bytes. */
static void put_characters(struct generator *g, size_t bytes) {
  const enum generate_encoding encoding = g->options.encoding;
  for (const size_t end = g->filled + bytes; g->filled < end;) {
    const unsigned draw = draw_byte(g);
    const bool fits = encoding != GENERATE_ASCII && (encoding != GENERATE_UTF8 || end - g->filled >= 2);
    put_code(g, draw < WIDE && fits ? WIDE_FIRST + (draw_byte(g) & 0x3f) : (unsigned char)narrow[draw & 0x3f]);
  }
}

/* ---- text ---- */

static unsigned unit_bytes(const struct generate_options *options) { return is_utf16(options->encoding) ? 2 : 1; }

static unsigned newline_bytes(const struct generate_options *options) {
  return unit_bytes(options) * (options->newline == GENERATE_CRLF ? 2 : 1);
}

static unsigned mark_bytes(const struct generate_options *options) {
  if (!options->mark) return 0;
  return is_utf16(options->encoding) ? 2 : options->encoding == GENERATE_UTF8 ? 3 : 0;
}

static uint64_t text_size(const struct generate_options *options) {
  const uint64_t size = options->size_bytes - options->size_bytes % unit_bytes(options);
  return size < mark_bytes(options) + newline_bytes(options) ? 0 : size;
}

/* What is left behind a line is nothing, or enough for another one. */
static uint64_t draw_line(struct generator *g, uint64_t left) {
  const struct generate_options *options = &g->options;
  const uint64_t end = newline_bytes(options);
  const uint64_t least = options->item_bytes > options->item_spread ? options->item_bytes - options->item_spread : 0;
  const uint64_t most = (uint64_t)options->item_bytes + options->item_spread;
  uint64_t length = least + random_below(&g->sizes, most - least + 1);
  length -= length % unit_bytes(options);
  if (length < end) length = end;
  return length > left || left - length < end ? left : length;
}

static void put_mark(struct generator *g) {
  if (mark_bytes(&g->options) == 0) return;
  if (g->options.encoding == GENERATE_UTF8) {
    put_number(g, UINT64_C(0xbfbbef), 3);
  } else {
    put_number(g, g->options.encoding == GENERATE_UTF16LE ? 0xfeff : 0xfffe, 2);
  }
}

static void put_newline(struct generator *g) {
  if (g->options.newline == GENERATE_CRLF) put_code(g, '\r');
  put_code(g, '\n');
}

/* A line may need many chunks. Their borders lie at whole characters. */
static void fill_text(struct generator *g) {
  const uint64_t end = newline_bytes(&g->options);
  if (g->made == 0) put_mark(g);
  while (g->made + g->filled < g->size && CHUNK - g->filled >= end) {
    if (g->left_of_line == 0) g->left_of_line = draw_line(g, g->size - g->made - g->filled);
    const uint64_t room = CHUNK - g->filled, wanted = g->left_of_line - end;
    if (wanted == 0) {
      put_newline(g);
      g->left_of_line = 0;
    } else {
      const uint64_t bytes = wanted < room ? wanted : room - room % unit_bytes(&g->options);
      put_characters(g, (size_t)bytes);
      g->left_of_line -= bytes;
    }
  }
}

/* ---- records ---- */

struct record {
  unsigned text, body;
};

static struct record draw_record(struct random_state *sizes) {
  struct record record;
  record.text = TEXT_MIN + (unsigned)random_below(sizes, TEXT_MAX - TEXT_MIN + 1);
  record.body = BODY_MIN + (unsigned)random_below(sizes, BODY_MAX - BODY_MIN + 1);
  return record;
}

static unsigned record_bytes(struct record record) { return (record.text < 0x80 ? 1 : 2) + record.text + 4 + record.body; }

static uint64_t count_records(const struct generate_options *options, uint64_t *size) {
  struct random_state sizes = random_start(options->seed, STREAM_SIZES);
  uint64_t count = 0;
  if (options->size_bytes / RECORD_MAX > UINT32_MAX) return UINT64_MAX;
  for (*size = 4; *size < options->size_bytes && count <= UINT32_MAX; count++) *size += record_bytes(draw_record(&sizes));
  return count;
}

static void fill_records(struct generator *g) {
  if (g->made == 0) put_number(g, g->count, 4);
  while (g->made + g->filled < g->size && CHUNK - g->filled >= RECORD_MAX) {
    const struct record record = draw_record(&g->sizes);
    if (record.text >= 0x80) put_byte(g, 0x80 | (record.text & 0x7f));
    put_byte(g, record.text < 0x80 ? record.text : record.text >> 7);
    put_characters(g, record.text);
    put_number(g, record.body, 4);
    put_random(g, record.body);
  }
}

/* ---- typed values ---- */

/* A value has 53 bits at most, so that it is the same number everywhere; times rise, as they do in logs. */
static void fill_typed(struct generator *g) {
  while (g->made + g->filled < g->size && CHUNK - g->filled >= TYPED) {
    const uint64_t index = (g->made + g->filled) / TYPED, draw = random_next(&g->content);
    const double value = ((double)(draw >> 32) - 0x1p31) / 1024;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_number(g, draw & UINT32_MAX, 4);
    put_number(g, draw >> 40 & 0xf, 4);
    put_number(g, bits, 8);
    put_number(g, UINT64_C(1700000000000000000) + index * 1000000 + draw % 1000000, 8);
  }
}

/* ---- random and compressible bytes ---- */

static void fill_random(struct generator *g) {
  const size_t alike = (size_t)(g->options.compressible * GENERATE_PAGE + 0.5);
  const uint64_t word = random_mix(g->options.seed);
  while (g->made + g->filled < g->size && g->filled < CHUNK) {
    put_random(g, GENERATE_PAGE - alike);
    for (size_t done = 0; done < alike; done += 8) put_number(g, word, alike - done < 8 ? (unsigned)(alike - done) : 8);
  }
  const uint64_t left = g->size - g->made;
  if (g->filled > left) g->filled = (size_t)left;
}

/* ---- all kinds ---- */

uint64_t generate_size(const struct generate_options *options) {
  uint64_t size;
  switch (options->kind) {
    case GENERATE_TEXT:
      return text_size(options);
    case GENERATE_TYPED:
      return options->size_bytes - options->size_bytes % TYPED;
    case GENERATE_RECORDS:
      return count_records(options, &size) > UINT32_MAX ? UINT64_MAX : size;
    default:
      return options->size_bytes;
  }
}

static void set_presets(struct generate_options *options) {
  if (options->item_bytes == 0) options->item_bytes = GENERATE_ITEM;
  if (options->item_spread == 0) options->item_spread = options->item_bytes / 2;
  if (options->kind == GENERATE_RECORDS) options->encoding = GENERATE_UTF8;
}

int generate_open(struct generator *generator, const struct generate_options *options) {
  *generator = (struct generator){.options = *options};
  set_presets(&generator->options);
  if (options->kind == GENERATE_RECORDS)
    generator->count = count_records(options, &generator->size);
  else
    generator->size = generate_size(options);
  if (generator->count > UINT32_MAX) return -EFBIG;
  generator->sizes = random_start(options->seed, STREAM_SIZES);
  generator->content = random_start(options->seed, STREAM_CONTENT);
  generator->chunk = malloc(CHUNK);
  return generator->chunk ? 0 : -ENOMEM;
}

void generate_close(struct generator *generator) {
  free(generator->chunk);
  *generator = (struct generator){0};
}

static void refill(struct generator *g) {
  static void (*const fill[])(struct generator *) = {fill_random, fill_text, fill_records, fill_typed};
  g->made += g->filled;
  g->filled = g->taken = 0;
  if (g->made < g->size) fill[g->options.kind](g);
}

size_t generate_next(struct generator *generator, void *out, size_t room) {
  unsigned char *bytes = out;
  size_t done = 0;
  while (done < room) {
    if (generator->taken == generator->filled) refill(generator);
    const size_t ready = generator->filled - generator->taken;
    if (ready == 0) break;
    const size_t piece = ready < room - done ? ready : room - done;
    memcpy(bytes + done, generator->chunk + generator->taken, piece);
    generator->taken += piece;
    done += piece;
  }
  return done;
}
