/*
 * scan_x86_64.c - newlines of short lines, where the processor has PEXT for 64 bits and is fast at it: 16 bytes become the
 * places of their newlines in one instruction. Lines that are not short go through the loop of AVX2.
 */
#include "lib/scan_x86.h"

#define USES_BMI2 __attribute__((target("avx2,bmi,bmi2,popcnt")))
/* Masks that are made before the first one is taken apart. They go through memory: that is cheaper than from one kind of
 * register to the other. */
#define AHEAD 16u
#define HALF 32u
#define EIGHT_PLACES 32u /* eight places, in bits of a mask or in bytes of the index */

/* Four bits for each of 64 bytes, all set where it is LF: places 0 to 15, 32 to 47, 16 to 31 and 48 to 63, as they come out
 * of the instruction that packs them. Their number of bits is the number of bytes that their entries take in the index. */
union nibbles {
  __m256i all;
  uint64_t part[4];
};

USES_BMI2 PART_OF_LOOP __m256i nibbles_of(const char *data, __m256i *any_cr) {
  const __m256i lf = _mm256_set1_epi8('\n'), cr = _mm256_set1_epi8('\r'), middle = _mm256_set1_epi16(0x0ff0);
  const __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)data);
  const __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(data + HALF));
  *any_cr = _mm256_or_si256(*any_cr, _mm256_or_si256(_mm256_cmpeq_epi8(low, cr), _mm256_cmpeq_epi8(high, cr)));
  return _mm256_packus_epi16(_mm256_srli_epi16(_mm256_and_si256(_mm256_cmpeq_epi8(low, lf), middle), 4),
                             _mm256_srli_epi16(_mm256_and_si256(_mm256_cmpeq_epi8(high, lf), middle), 4));
}

/* The places of LF among 16 bytes, lowest first, four bits each. */
USES_BMI2 PART_OF_LOOP uint64_t places_of(uint64_t nibbles) { return _pext_u64(UINT64_C(0xfedcba9876543210), nibbles); }

/* The eight lowest of what was found, each plus its own part of `begin`. */
USES_BMI2 PART_OF_LOOP void add_eight(char *out, uint64_t found, __m256i begin) {
  const __m128i bytes = _mm_cvtsi64_si128((long long)_pdep_u64(found, UINT64_C(0x0f0f0f0f0f0f0f0f)));
  _mm256_storeu_si256((__m256i *)(void *)out, _mm256_add_epi32(_mm256_cvtepu8_epi32(bytes), begin));
}

/* Adds 16 bytes with any number of LF. */
USES_BMI2 static char *add_sixteen(char *out, uint64_t nibbles, __m256i begin) {
  const uint64_t found = places_of(nibbles);
  add_eight(out, found, begin);
  add_eight(out + EIGHT_PLACES, found >> 32, begin);
  return out + __builtin_popcountll(nibbles);
}

/* Adds 32 bytes: two runs of places become one, which is eight places at most but for the shortest lines. */
USES_BMI2 PART_OF_LOOP char *add_nibbles(char *out, uint64_t first, uint64_t second, __m256i begin) {
  static const uint32_t sixteen_behind[16] = {0, 0, 0, 0, 0, 0, 0, 0, 16, 16, 16, 16, 16, 16, 16, 16};
  const __m256i sixteen = _mm256_set1_epi32(16);
  const unsigned bits = (unsigned)__builtin_popcountll(first);
  const unsigned both = bits + (unsigned)__builtin_popcountll(second);
  if (__builtin_expect(both > EIGHT_PLACES, 0)) {
    return add_sixteen(add_sixteen(out, first, begin), second, _mm256_add_epi32(begin, sixteen));
  }
  const void *behind = (const char *)&sixteen_behind[8] - bits; /* 16 from where the second run begins */
  const uint64_t found = places_of(first) | places_of(second) << bits;
  add_eight(out, found, _mm256_add_epi32(begin, _mm256_loadu_si256((const __m256i *)behind)));
  return out + both;
}

/* As take_avx2, for lines of fewer than 30 bytes; there is room for 64 entries for each 64 bytes, at most AHEAD times. */
USES_BMI2 PART_OF_LOOP void take_bmi2(struct weir__loop *loop, const char *data, size_t stop) {
  const __m256i half = _mm256_set1_epi32(HALF);
  __m256i begin = _mm256_set1_epi32((int)(uint32_t)loop->at);
  union nibbles nibbles[AHEAD];
  char *out = (char *)loop->out;
  const size_t count = (stop - loop->at) / STEP;
  for (size_t i = 0; i < count; i++) nibbles[i].all = nibbles_of(data + loop->at + i * STEP, &loop->any_cr);
  for (size_t i = 0; i < count; i++) {
    out = add_nibbles(out, nibbles[i].part[0], nibbles[i].part[2], begin);
    begin = _mm256_add_epi32(begin, half);
    out = add_nibbles(out, nibbles[i].part[1], nibbles[i].part[3], begin);
    begin = _mm256_add_epi32(begin, half);
  }
  loop->out = (uint32_t *)(void *)out;
  loop->at = stop;
}

USES_BMI2 static size_t lines_bmi2(const char *data, size_t from, size_t size, uint32_t *ends, size_t max, size_t *used,
                                   bool *cr) {
  struct weir__loop loop = {_mm256_setzero_si256(), ends, from};
  bool many = true;
  while (size - loop.at >= STEP && (size_t)(ends + max - loop.out) >= STEP) {
    const uint32_t *const before = loop.out;
    size_t steps = (size - loop.at) / STEP, room = (size_t)(ends + max - loop.out) / STEP;
    if (steps > AHEAD) steps = AHEAD;
    if (steps > room) steps = room;
    const size_t stop = loop.at + steps * STEP;
    if (many)
      take_bmi2(&loop, data, stop);
    else
      take_avx2(&loop, data, stop, ends + max - STEP);
    many = (size_t)(loop.out - before) > FEW * steps;
  }
  return weir__scan_finish(&loop, data, from, size, ends, max, used, cr);
}

/* Zen 1, Zen 2 and what came before them take PEXT apart into many steps. */
static bool has_fast_pext(void) {
  return __builtin_cpu_supports("bmi2") &&
         (__builtin_cpu_is("intel") ||
          (__builtin_cpu_is("amd") && !__builtin_cpu_is("amdfam15h") && !__builtin_cpu_is("amdfam17h")));
}

static const struct weir__scanner scanner = {.name = "avx2 and bmi2", .lines = lines_bmi2, .count = weir__count_avx2};

const struct weir__scanner *weir__scanner_x86_64(void) { return has_fast_pext() ? &scanner : NULL; }
