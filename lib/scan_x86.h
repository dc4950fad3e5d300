/*
 * scan_x86.h - what the scanners of x86 share: the loop over 64 bytes at a time with AVX2.
 */
#ifndef WEIR_SCAN_X86_H
#define WEIR_SCAN_X86_H

#include <immintrin.h>

#include "lib/internal.h"

#define STEP 64u
/* Masks with no more bits than this, as lines above 30 bytes make, are taken apart bit by bit. */
#define FEW 2u

#define USES_AVX2 __attribute__((target("avx2,bmi,popcnt")))
#define PART_OF_LOOP static inline __attribute__((always_inline))

/* The places of the bits of a byte, lowest first, each in a byte of its own; what is above them is not used. */
extern const uint64_t weir__places[256];

/* The offset of the lowest bit; what it gives for none is not used. */
PART_OF_LOOP uint32_t lowest(uint64_t mask) { return (uint32_t)__builtin_ctzll(mask | (uint64_t)1 << 63); }

/* Adds the lowest eight bits, counted from `begin`, and returns where the next entry goes. */
USES_AVX2 PART_OF_LOOP uint32_t *add_byte(uint32_t *out, uint32_t mask, __m256i begin) {
  const __m128i packed = _mm_loadl_epi64((const __m128i *)(const void *)&weir__places[mask & 255]);
  _mm256_storeu_si256((__m256i *)(void *)out, _mm256_add_epi32(_mm256_cvtepu8_epi32(packed), begin));
  return out + __builtin_popcount(mask & 255);
}

USES_AVX2 PART_OF_LOOP void add_half(uint32_t *out, uint32_t mask, __m256i begin) {
  const __m256i eight = _mm256_set1_epi32(8);
  out = add_byte(out, mask, begin);
  begin = _mm256_add_epi32(begin, eight);
  out = add_byte(out, mask >> 8, begin);
  begin = _mm256_add_epi32(begin, eight);
  out = add_byte(out, mask >> 16, begin);
  begin = _mm256_add_epi32(begin, eight);
  (void)add_byte(out, mask >> 24, begin);
}

/* Adds all of the mask and returns where the next entry goes; there must be room for 64. Entries are written without
 * looking how many bits there are, since a branch for each would be guessed wrong too often. The processor works on both
 * halves at once; the first may write into the place of the second, which comes later. */
USES_AVX2 PART_OF_LOOP uint32_t *add_avx2(uint32_t *out, uint64_t mask, uint32_t at) {
  const unsigned bits = (unsigned)__builtin_popcountll(mask);
  if (bits <= FEW) {
    out[0] = at + lowest(mask);
    out[1] = at + lowest(mask & (mask - 1));
    return out + bits;
  }
  add_half(out, (uint32_t)mask, _mm256_set1_epi32((int)at));
  add_half(out + __builtin_popcount((uint32_t)mask), (uint32_t)(mask >> 32), _mm256_set1_epi32((int)(at + 32)));
  return out + bits;
}

USES_AVX2 PART_OF_LOOP uint64_t mask_avx2(const char *data, __m256i *any_cr) {
  const __m256i lf = _mm256_set1_epi8('\n'), cr = _mm256_set1_epi8('\r');
  const __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)data);
  const __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(data + 32));
  *any_cr = _mm256_or_si256(*any_cr, _mm256_or_si256(_mm256_cmpeq_epi8(low, cr), _mm256_cmpeq_epi8(high, cr)));
  return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, lf)) |
         (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, lf)) << 32;
}

/* How far a loop has come. */
struct weir__loop {
  __m256i any_cr;
  uint32_t *out;
  size_t at;
};

/* Up to `stop`, or until there is less room than for 64: up to `room_up_to`. The next mask is made before the last one is
 * taken apart, so that the processor has both to do. */
USES_AVX2 PART_OF_LOOP void take_avx2(struct weir__loop *loop, const char *data, size_t stop, const uint32_t *room_up_to) {
  const size_t last = stop - STEP;
  uint64_t mask = mask_avx2(data + loop->at, &loop->any_cr);
  for (; loop->at != last && loop->out <= room_up_to; loop->at += STEP) {
    const uint64_t next = mask_avx2(data + loop->at + STEP, &loop->any_cr);
    loop->out = add_avx2(loop->out, mask, (uint32_t)loop->at);
    mask = next;
  }
  if (loop->out > room_up_to) return;
  loop->out = add_avx2(loop->out, mask, (uint32_t)loop->at);
  loop->at += STEP;
}

/* What the loop has left: fewer than 64 bytes, or all for which there was too little room; then as a scanner returns. */
size_t weir__scan_finish(const struct weir__loop *loop, const char *data, size_t from, size_t size, uint32_t *ends,
                         size_t max, size_t *used, bool *cr);

/* What only 64-bit processors have, if this one has it; else NULL. Where there is AVX2. */
const struct weir__scanner *weir__scanner_x86_64(void);
/* The same as count for all with AVX2. */
uint64_t weir__count_avx2(const char *data, size_t size);

#endif
