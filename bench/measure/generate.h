/*
 * generate.h - the contents of made files: text, packed records, typed values, random and compressible bytes. All follows
 * from the options: the same ones give the same bytes on every machine.
 *
 * The bytes are pulled in order, in pieces of any size. For scratch data that must be made at any offset see content.h.
 */
#ifndef WEIR_GENERATE_H
#define WEIR_GENERATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/random.h"

enum generate_kind { GENERATE_RANDOM, GENERATE_TEXT, GENERATE_RECORDS, GENERATE_TYPED };
extern const char *const generate_kind_words[]; /* NULL-terminated, in that order; so are those below */
enum generate_newline { GENERATE_LF, GENERATE_CRLF };
extern const char *const generate_newline_words[];
enum generate_encoding { GENERATE_UTF8, GENERATE_LATIN1, GENERATE_ASCII, GENERATE_UTF16LE, GENERATE_UTF16BE };
extern const char *const generate_encoding_words[];

#define GENERATE_ITEM 66u /* bytes of a line when nothing is said: study A's average */
#define GENERATE_PAGE 4096u

/* Zeroed, they mean presets; `kind` decides which of them count. */
struct generate_options {
  enum generate_kind kind;
  uint64_t seed, size_bytes;
  /*
   * Text: bytes of a line with its end, from item_bytes - item_spread to item_bytes + item_spread, all alike often. 0:
   * GENERATE_ITEM, and half of item_bytes. The last line has what is left.
   */
  unsigned item_bytes, item_spread;
  enum generate_newline newline;
  enum generate_encoding encoding; /* about 1 % of the characters are no ASCII, but in GENERATE_ASCII */
  int mark;                        /* text begins with a byte order mark, if the encoding has one */
  double compressible;             /* random: this share of each page is one word again and again, 0 to 1 */
};

struct generator {
  struct generate_options options;    /* presets filled in */
  struct random_state sizes, content; /* of lines or records; of what is in them */
  uint64_t size, made;                /* bytes of all, and of what went through the chunk */
  uint64_t count;                     /* records */
  uint64_t left_of_line;
  uint64_t bits; /* of the last draw for characters */
  unsigned bytes_of_bits;
  unsigned char *chunk;
  size_t filled, taken;
};

/*
 * How many bytes come out, exactly: size_bytes or, of text too small for a line's end or half a unit, less; of records so
 * many whole ones as reach size_bytes; of typed values as many whole ones as fit. UINT64_MAX: too many records to count.
 */
uint64_t generate_size(const struct generate_options *options);
int generate_open(struct generator *generator, const struct generate_options *options); /* 0, -ENOMEM or -EFBIG */
/* Stores the next bytes, `room` of them but at the end; 0: that was all. */
size_t generate_next(struct generator *generator, void *out, size_t room);
void generate_close(struct generator *generator);

#endif
