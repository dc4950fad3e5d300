/*
 * random.c - xoshiro256** and what is drawn from it. Holds no state of its own.
 *
 * Whole numbers are the same on every machine. random_normal goes through log and cos, whose last bit is the C library's.
 */
#include "base/random.h"

#include <assert.h>
#include <math.h>

#define GOLDEN UINT64_C(0x9e3779b97f4a7c15) /* 2^64 / golden ratio, odd: the step of splitmix64 */

static uint64_t rotate_left(uint64_t value, int bits) { return value << bits | value >> (64 - bits); }

uint64_t random_mix(uint64_t value) {
  value += GOLDEN;
  value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
  return value ^ value >> 31;
}

/* Stream 0 is the generator as published; other streams start from a seed that differs in about half of its bits. */
struct random_state random_start(uint64_t seed, uint64_t stream) {
  struct random_state state;
  uint64_t start = seed ^ random_mix(stream) ^ random_mix(0);
  for (int i = 0; i < 4; i++) state.word[i] = random_mix(start + (uint64_t)i * GOLDEN);
  return state;
}

uint64_t random_next(struct random_state *state) {
  uint64_t *word = state->word;
  uint64_t result = rotate_left(word[1] * 5, 7) * 9, shifted = word[1] << 17;
  word[2] ^= word[0];
  word[3] ^= word[1];
  word[1] ^= word[2];
  word[0] ^= word[3];
  word[2] ^= shifted;
  word[3] = rotate_left(word[3], 45);
  return result;
}

/* Draws below 2^64 mod limit are thrown away, so that what is left is a whole number of cycles. */
uint64_t random_below(struct random_state *state, uint64_t limit) {
  assert(limit > 0);
  uint64_t surplus = (UINT64_MAX - limit + 1) % limit, draw;
  do {
    draw = random_next(state);
  } while (draw < surplus);
  return draw % limit;
}

double random_unit(struct random_state *state) { return (double)(random_next(state) >> 11) * 0x1p-53; }

/* Box and Muller; the second number is not kept, so that the state stays four words. */
double random_normal(struct random_state *state) {
  const double two_pi = 6.283185307179586476925;
  double radius = sqrt(-2.0 * log(1.0 - random_unit(state)));
  return radius * cos(two_pi * random_unit(state));
}

void random_permutation(struct random_state *state, size_t count, uint32_t *order) {
  assert(count <= UINT32_MAX);
  for (size_t i = 0; i < count; i++) {
    size_t other = (size_t)random_below(state, i + 1);
    order[i] = order[other];
    order[other] = (uint32_t)i;
  }
}
