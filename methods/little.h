/*
 * little.h - numbers that lie low byte first in a file, whatever the machine's own order and wherever they lie. Compilers
 * make one load or store of each.
 */
#ifndef WEIR_LITTLE_H
#define WEIR_LITTLE_H

#include <stdint.h>

static inline uint32_t little_load32(const unsigned char *at) {
  return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}
static inline uint64_t little_load64(const unsigned char *at) {
  return (uint64_t)little_load32(at) | (uint64_t)little_load32(at + 4) << 32;
}
static inline void little_store32(unsigned char *at, uint32_t value) {
  for (unsigned i = 0; i < 4; i++) at[i] = (unsigned char)(value >> 8 * i);
}
static inline void little_store64(unsigned char *at, uint64_t value) {
  for (unsigned i = 0; i < 8; i++) at[i] = (unsigned char)(value >> 8 * i);
}

#endif
