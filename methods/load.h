/*
 * load.h - a number loaded straight from mapped memory, for views whose requests are that small: of a few bytes that the
 * consumer does not look at, a view would not even meet the page.
 */
#ifndef WEIR_LOAD_H
#define WEIR_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Larger requests are not one load of the processor. */
#define LOAD_BYTES_MAX sizeof(uint64_t)

/* The `length` bytes at `place` in the memory of the result: by one load where that is the length of a number. Volatile,
 * because compilers may drop loads that nobody needs. */
static inline uint64_t load_value(const void *place, size_t length) {
  const bool aligned = length > 0 && (uintptr_t)place % length == 0;
  const volatile unsigned char *bytes = place;
  unsigned char out[LOAD_BYTES_MAX] = {0};
  uint64_t value = 0;
  if (aligned && length == 8) return *(const volatile uint64_t *)place;
  if (aligned && length == 4) {
    const uint32_t number = *(const volatile uint32_t *)place;
    memcpy(&value, &number, sizeof number);
    return value;
  }
  for (size_t i = 0; i < length; i++) out[i] = bytes[i];
  memcpy(&value, out, sizeof value);
  return value;
}

#endif
