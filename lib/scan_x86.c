/*
 * scan_x86.c - finding newlines with the vector instructions of x86: 64 bytes are compared at once and become the bits of a
 * mask. SSE2, which every 64-bit processor has, and AVX2, chosen when the program runs. The last bytes are read as part of
 * the last 64 where there are so many, else copied: nothing outside of the range is touched.
 */
#include <immintrin.h>
#include <string.h>

#include "lib/internal.h"

#define STEP 64u
/* Entries that are written without looking, where there is room: for lines above 30 bytes, and for lines above 4. */
#define FEW 2u
#define MANY 12u

#define USES_SSE2 __attribute__((target("sse2")))
#define USES_AVX2 __attribute__((target("avx2,bmi,popcnt")))
#define PART_OF_LOOP static inline __attribute__((always_inline))

struct found {
  uint32_t *ends;
  size_t count, max;
};

/* The offset of the lowest bit; what it gives for none is not used. */
PART_OF_LOOP uint32_t lowest(uint64_t mask) { return (uint32_t)__builtin_ctzll(mask | (uint64_t)1 << 63); }

/* Adds all of the mask, which must fit. Most masks have few bits or many, so the number of entries written is one of two
 * whatever the bits are: a branch for each would be guessed wrong too often. */
PART_OF_LOOP void add_all(struct found *found, uint64_t mask, uint32_t at) {
  uint32_t *out = found->ends + found->count;
  const unsigned bits = (unsigned)__builtin_popcountll(mask);
  for (unsigned i = 0; i < FEW; i++, mask &= mask - 1) out[i] = at + lowest(mask);
  if (bits > FEW) {
    for (unsigned i = FEW; i < MANY; i++, mask &= mask - 1) out[i] = at + lowest(mask);
    for (unsigned i = MANY; i < bits; i++, mask &= mask - 1) out[i] = at + lowest(mask);
  }
  found->count += bits;
}

/* Adds as much of the mask as there is room for; false if some is left. */
static bool add_some(struct found *found, uint64_t mask, uint32_t at) {
  for (; mask; mask &= mask - 1) {
    if (found->count == found->max) return false;
    found->ends[found->count++] = at + lowest(mask);
  }
  return true;
}

/* Where 64 bytes have LF and CR. */
struct masks {
  uint64_t lf, cr;
};

USES_SSE2 static struct masks masks_sse2(const char *data) {
  const __m128i lf = _mm_set1_epi8('\n'), cr = _mm_set1_epi8('\r');
  struct masks masks = {0, 0};
  for (unsigned i = 0; i < 4; i++) {
    const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(data + 16 * i));
    masks.lf |= (uint64_t)(uint16_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, lf)) << (16 * i);
    masks.cr |= (uint64_t)(uint16_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, cr)) << (16 * i);
  }
  return masks;
}

/* The bytes from `from` to `size`, fewer than 64, as the low bits. */
static struct masks masks_of_rest(const char *data, size_t from, size_t size) {
  char bytes[STEP] = {0};
  const size_t rest = size - from;
  if (size < STEP) {
    memcpy(bytes, data + from, rest);
    return masks_sse2(bytes);
  }
  const struct masks masks = masks_sse2(data + size - STEP);
  return (struct masks){masks.lf >> (STEP - rest), masks.cr >> (STEP - rest)};
}

/* The bytes that the loop left: fewer than 64, or all for which `ends` had too little room. */
static void add_rest(struct found *found, const char *data, size_t from, size_t size, bool *any_cr) {
  for (; from < size; from += STEP) {
    const struct masks masks = size - from < STEP ? masks_of_rest(data, from, size) : masks_sse2(data + from);
    if (masks.cr) *any_cr = true;
    if (!add_some(found, masks.lf, (uint32_t)from)) return;
  }
}

static size_t finish(struct found *found, const char *data, size_t from, size_t at, size_t size, bool any_cr, size_t *used,
                     bool *cr) {
  add_rest(found, data, at, size, &any_cr);
  *used = found->count < found->max ? size : found->count ? (size_t)found->ends[found->count - 1] + 1 : from;
  if (from && data[from - 1] == '\r') any_cr = true;
  if (any_cr && weir__has_cr(data, found->ends, found->count)) *cr = true;
  return found->count;
}

USES_SSE2 static size_t lines_sse2(const char *data, size_t from, size_t size, uint32_t *ends, size_t max, size_t *used,
                                   bool *cr) {
  struct found found = {ends, 0, max};
  size_t at = from;
  uint64_t any_cr = 0;
  for (; size - at >= STEP && max - found.count >= STEP; at += STEP) {
    const struct masks masks = masks_sse2(data + at);
    any_cr |= masks.cr;
    add_all(&found, masks.lf, (uint32_t)at);
  }
  return finish(&found, data, from, at, size, any_cr != 0, used, cr);
}

USES_AVX2 static size_t lines_avx2(const char *data, size_t from, size_t size, uint32_t *ends, size_t max, size_t *used,
                                   bool *cr) {
  const __m256i lf = _mm256_set1_epi8('\n'), cr_byte = _mm256_set1_epi8('\r');
  __m256i any_cr = _mm256_setzero_si256();
  struct found found = {ends, 0, max};
  size_t at = from;
  for (; size - at >= STEP && max - found.count >= STEP; at += STEP) {
    const __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)(data + at));
    const __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(data + at + 32));
    const uint64_t mask = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, lf)) |
                          (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, lf)) << 32;
    any_cr = _mm256_or_si256(any_cr, _mm256_or_si256(_mm256_cmpeq_epi8(low, cr_byte), _mm256_cmpeq_epi8(high, cr_byte)));
    add_all(&found, mask, (uint32_t)at);
  }
  return finish(&found, data, from, at, size, !_mm256_testz_si256(any_cr, any_cr), used, cr);
}

/* ---- counting: bytes count up to 255 before they are added up ---- */

#define ROUNDS 255u

USES_SSE2 static uint64_t count_sse2(const char *data, size_t size) {
  const __m128i lf = _mm_set1_epi8('\n'), zero = _mm_setzero_si128();
  uint64_t count = 0;
  size_t at = 0;
  while (size - at >= STEP) {
    __m128i sums[4] = {zero, zero, zero, zero};
    for (unsigned round = 0; round < ROUNDS && size - at >= STEP; round++, at += STEP) {
      for (unsigned i = 0; i < 4; i++) {
        const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(data + at + 16 * i));
        sums[i] = _mm_sub_epi8(sums[i], _mm_cmpeq_epi8(bytes, lf));
      }
    }
    uint64_t parts[2];
    __m128i sum = zero;
    for (unsigned i = 0; i < 4; i++) sum = _mm_add_epi64(sum, _mm_sad_epu8(sums[i], zero));
    memcpy(parts, &sum, sizeof parts);
    count += parts[0] + parts[1];
  }
  return count + weir__scanner_plain.count(data + at, size - at);
}

USES_AVX2 static uint64_t count_avx2(const char *data, size_t size) {
  const __m256i lf = _mm256_set1_epi8('\n'), zero = _mm256_setzero_si256();
  uint64_t count = 0;
  size_t at = 0;
  while (size - at >= 2 * STEP) {
    __m256i sums[4] = {zero, zero, zero, zero};
    for (unsigned round = 0; round < ROUNDS && size - at >= 2 * STEP; round++, at += 2 * STEP) {
      for (unsigned i = 0; i < 4; i++) {
        const __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)(data + at + 32 * i));
        sums[i] = _mm256_sub_epi8(sums[i], _mm256_cmpeq_epi8(bytes, lf));
      }
    }
    uint64_t parts[4];
    __m256i sum = zero;
    for (unsigned i = 0; i < 4; i++) sum = _mm256_add_epi64(sum, _mm256_sad_epu8(sums[i], zero));
    memcpy(parts, &sum, sizeof parts);
    count += parts[0] + parts[1] + parts[2] + parts[3];
  }
  return count + count_sse2(data + at, size - at);
}

/* ---- which one ---- */

static const struct weir__scanner scanners[] = {
    {.name = "avx2", .lines = lines_avx2, .count = count_avx2},
    {.name = "sse2", .lines = lines_sse2, .count = count_sse2},
};

const struct weir__scanner *weir__scanner(unsigned i) {
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt");
  if (!avx2) i++;
  if (i == 1 && !__builtin_cpu_supports("sse2")) i++;
  return i < 2 ? &scanners[i] : i == 2 ? &weir__scanner_plain : NULL;
}
