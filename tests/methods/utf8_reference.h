/*
 * utf8_reference.h - a slow decoder of UTF-8 that knows nothing of pieces, for tests to compare with.
 */
#ifndef WEIR_TESTS_UTF8_REFERENCE_H
#define WEIR_TESTS_UTF8_REFERENCE_H

#include <stddef.h>
#include <stdint.h>

#define REFERENCE_UNITS_MAX 262144

struct reference_units {
  uint16_t unit[REFERENCE_UNITS_MAX];
  size_t count;
  uint64_t invalid; /* parts that U+FFFD stands for */
};

/* A mark at the start is left out. `length` at most REFERENCE_UNITS_MAX. */
void reference_decode(struct reference_units *out, const void *data, size_t length);

#endif
