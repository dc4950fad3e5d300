/*
 * encode.h - UTF-16 to UTF-8, piece by piece. Writes to memory and nothing else.
 *
 * A surrogate without its partner becomes U+FFFD.
 */
#ifndef WEIR_ENCODE_H
#define WEIR_ENCODE_H

#include <stddef.h>
#include <stdint.h>

/* All zero at the start of a text. Set `units` and `end` for each piece of it. */
struct encode {
  const uint16_t *units, *end; /* what is left of the piece, in the machine's byte order */
  uint16_t high;               /* the first half of a pair, at the end of the piece before; 0: none */
};

/* Room for any one character. */
#define ENCODE_MOST 4u

/*
 * Fills `out` with whole characters as far as `room` goes, at least ENCODE_MOST, and takes them off the piece. Returns the
 * bytes written; the piece is used up when `units` is `end`.
 */
size_t encode_fill(struct encode *encode, char *out, size_t room);
/* Behind the last piece: at most ENCODE_MOST bytes. */
size_t encode_end(struct encode *encode, char *out);
/* Bytes of the UTF-8 of a whole text. */
size_t encode_size(const uint16_t *units, size_t count);

#endif
