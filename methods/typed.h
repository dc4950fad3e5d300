/*
 * typed.h - struct weir_typed between a file and its four values, for the methods of task `typed`.
 */
#ifndef WEIR_TYPED_H
#define WEIR_TYPED_H

#include <string.h>

#include "little.h"
#include "weir/method.h"

#define TYPED_BYTES ((size_t)24)
_Static_assert(sizeof(struct weir_typed) == TYPED_BYTES, "the struct has no gaps");

/* Where the fields lie in the file. */
enum { TYPED_NUMBER = 0, TYPED_KIND = 4, TYPED_VALUE = 8, TYPED_TIME = 16 };

/* Structs between two looks at whether to stop. */
#define TYPED_STRETCH 256u

/* Hands over the values of the struct at `at`. */
static inline void typed_deliver(struct weir_flow *flow, const unsigned char *at) {
  weir_value(flow, (uint64_t)(int64_t)(int32_t)little_load32(at + TYPED_NUMBER));
  weir_value(flow, (uint64_t)(int64_t)(int32_t)little_load32(at + TYPED_KIND));
  weir_value(flow, little_load64(at + TYPED_VALUE));
  weir_value(flow, little_load64(at + TYPED_TIME));
}

/* The struct as it lies in the file. */
static inline void typed_store(unsigned char out[TYPED_BYTES], const struct weir_typed *typed) {
  uint64_t value;
  memcpy(&value, &typed->value, sizeof value);
  little_store32(out + TYPED_NUMBER, (uint32_t)typed->number);
  little_store32(out + TYPED_KIND, (uint32_t)typed->kind);
  little_store64(out + TYPED_VALUE, value);
  little_store64(out + TYPED_TIME, (uint64_t)typed->time);
}

#endif
