/*
 * decode.h - UTF-8 turned into UTF-16 units, or only looked through, piece by piece.
 *
 * A character that is cut by the edge of a piece is carried over. What is no UTF-8 becomes U+FFFD, one for each longest part
 * that could have begun a character. A mark (BOM) at the start is left out of the units. Knows nothing of files.
 */
#ifndef WEIR_DECODE_H
#define WEIR_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct decode {
  unsigned char carry[4];
  unsigned carried; /* at most 3 */
  bool begun;       /* the first character is known, so a mark is none any more */
  uint64_t invalid; /* parts that were no UTF-8 */
};

static inline void decode_begin(struct decode *d) { *d = (struct decode){.carried = 0}; }

/*
 * Units for a piece of `length` bytes: never more than its bytes and those carried over. So all units of a text have room in
 * as many as it has bytes.
 */
static inline size_t decode_room(size_t length) { return length + 3; }

/* Takes all of the piece and writes its units, in the machine's byte order; how many. */
size_t decode_units(struct decode *d, const void *data, size_t length, uint16_t *out);
/* No piece follows: what is left of a character that was cut off, 0 or 1 unit. */
size_t decode_end(struct decode *d, uint16_t *out);

/* The same without units: only counts what is invalid. */
void decode_check(struct decode *d, const void *data, size_t length);
void decode_check_end(struct decode *d);

/*
 * The character that `data` begins with: its bytes, and its value in *point. For what is invalid the length of the part that
 * U+FFFD stands for, and DECODE_INVALID. 0: it is cut off. `length` > 0.
 */
#define DECODE_INVALID UINT32_MAX
unsigned decode_one(const unsigned char *data, size_t length, uint32_t *point);

#endif
