/*
 * scan_x86.c - finding newlines with the vector instructions of x86: 64 bytes are compared at once and become the bits of a
 * mask. SSE2, which every 64-bit processor has, and AVX2, chosen when the program runs; scan_x86_64.c has one more. The last
 * bytes are read as part of the last 64 where there are so many, else copied: nothing outside of the range is touched.
 */
#include "lib/scan_x86.h"

#include <string.h>

#define USES_SSE2 __attribute__((target("sse2")))

#define PLACES_0(above) (above), ((above) << 8)
#define PLACES_1(above) PLACES_0(above), PLACES_0((above) << 8 | 1)
#define PLACES_2(above) PLACES_1(above), PLACES_1((above) << 8 | 2)
#define PLACES_3(above) PLACES_2(above), PLACES_2((above) << 8 | 3)
#define PLACES_4(above) PLACES_3(above), PLACES_3((above) << 8 | 4)
#define PLACES_5(above) PLACES_4(above), PLACES_4((above) << 8 | 5)
#define PLACES_6(above) PLACES_5(above), PLACES_5((above) << 8 | 6)
#define PLACES_7(above) PLACES_6(above), PLACES_6((above) << 8 | 7)
const uint64_t weir__places[256] = {PLACES_7((uint64_t)0)};

/* How many they are; for processors that cannot count them. */
#define BITS_2(n) (n), (n) + 1, (n) + 1, (n) + 2
#define BITS_4(n) BITS_2(n), BITS_2((n) + 1), BITS_2((n) + 1), BITS_2((n) + 2)
#define BITS_6(n) BITS_4(n), BITS_4((n) + 1), BITS_4((n) + 1), BITS_4((n) + 2)
static const uint8_t bits_of[256] = {BITS_6(0), BITS_6(1), BITS_6(1), BITS_6(2)};

USES_SSE2 PART_OF_LOOP uint32_t *add_sse2(uint32_t *out, uint64_t mask, uint32_t at) {
  const __m128i zero = _mm_setzero_si128();
  if ((mask & (mask - 1)) == 0) {
    out[0] = at + lowest(mask);
    return out + (mask != 0);
  }
  for (unsigned i = 0; i < STEP; i += 8) {
    const unsigned byte = (unsigned)(mask >> i) & 255;
    const __m128i words = _mm_unpacklo_epi8(_mm_loadl_epi64((const __m128i *)(const void *)&weir__places[byte]), zero);
    const __m128i begin = _mm_set1_epi32((int)(at + i));
    _mm_storeu_si128((__m128i *)(void *)out, _mm_add_epi32(_mm_unpacklo_epi16(words, zero), begin));
    _mm_storeu_si128((__m128i *)(void *)(out + 4), _mm_add_epi32(_mm_unpackhi_epi16(words, zero), begin));
    out += bits_of[byte];
  }
  return out;
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

/* What the loop has found, and what it has left: fewer than 64 bytes, or all for which there was too little room. */
struct rest {
  const char *data;
  size_t from, at, size; /* the loop began at `from` and went up to `at` */
  uint32_t *ends;
  size_t count, max;
  bool any_cr;
};

/* Adds as much of the mask as there is room for; false if some is left. */
static bool add_some(struct rest *rest, uint64_t mask, uint32_t at) {
  for (; mask; mask &= mask - 1) {
    if (rest->count == rest->max) return false;
    rest->ends[rest->count++] = at + lowest(mask);
  }
  return true;
}

/* Bit by bit. Where something was found and there may be more of it than room, the next call goes on, fast again. */
static void add_rest(struct rest *rest, size_t *used) {
  const char *data = rest->data;
  *used = rest->at;
  if (rest->count && rest->size - rest->at >= STEP) return;
  for (size_t at = rest->at; at < rest->size; at += STEP) {
    const struct masks masks = rest->size - at < STEP ? masks_of_rest(data, at, rest->size) : masks_sse2(data + at);
    if (masks.cr) rest->any_cr = true;
    if (!add_some(rest, masks.lf, (uint32_t)at)) break;
  }
  *used = rest->count < rest->max ? rest->size : rest->max ? (size_t)rest->ends[rest->max - 1] + 1 : rest->from;
}

static size_t finish(struct rest *rest, size_t *used, bool *cr) {
  const char *data = rest->data;
  add_rest(rest, used);
  if (rest->from && data[rest->from - 1] == '\r') rest->any_cr = true;
  if (rest->any_cr && weir__has_cr(data, rest->ends, rest->count)) *cr = true;
  return rest->count;
}

USES_SSE2 static size_t lines_sse2(const char *data, size_t from, size_t size, uint32_t *ends, size_t max, size_t *used,
                                   bool *cr) {
  uint32_t *out = ends, *const full = ends + max;
  uint64_t any_cr = 0;
  size_t at = from;
  for (; size - at >= STEP && (size_t)(full - out) >= STEP; at += STEP) {
    const struct masks masks = masks_sse2(data + at);
    any_cr |= masks.cr;
    out = add_sse2(out, masks.lf, (uint32_t)at);
  }
  struct rest rest = {data, from, at, size, ends, (size_t)(out - ends), max, any_cr != 0};
  return finish(&rest, used, cr);
}

USES_AVX2 size_t weir__scan_finish(const struct weir__loop *loop, const char *data, size_t from, size_t size, uint32_t *ends,
                                   size_t max, size_t *used, bool *cr) {
  const bool any_cr = !_mm256_testz_si256(loop->any_cr, loop->any_cr);
  struct rest rest = {data, from, loop->at, size, ends, (size_t)(loop->out - ends), max, any_cr};
  return finish(&rest, used, cr);
}

USES_AVX2 static size_t lines_avx2(const char *data, size_t from, size_t size, uint32_t *ends, size_t max, size_t *used,
                                   bool *cr) {
  struct weir__loop loop = {_mm256_setzero_si256(), ends, from};
  if (size - from >= STEP && max >= STEP) {
    take_avx2(&loop, data, from + (size - from) / STEP * STEP, ends + max - STEP);
  }
  return weir__scan_finish(&loop, data, from, size, ends, max, used, cr);
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

USES_AVX2 uint64_t weir__count_avx2(const char *data, size_t size) {
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

static const struct weir__scanner avx2 = {.name = "avx2", .lines = lines_avx2, .count = weir__count_avx2};
static const struct weir__scanner sse2 = {.name = "sse2", .lines = lines_sse2, .count = count_sse2};

const struct weir__scanner *weir__scanner(unsigned i) {
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt");
  const struct weir__scanner *const all[] = {has_avx2 ? weir__scanner_x86_64() : NULL, has_avx2 ? &avx2 : NULL,
                                             __builtin_cpu_supports("sse2") ? &sse2 : NULL, &weir__scanner_plain};
  for (size_t which = 0; which < sizeof all / sizeof all[0]; which++) {
    if (all[which] && i-- == 0) return all[which];
  }
  return NULL;
}
