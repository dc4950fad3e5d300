/*
 * random.h - seeded numbers that are the same on every machine: rounds, orders, scratch data, simulations.
 *
 * xoshiro256** (Blackman and Vigna 2018), its state filled by splitmix64. Not for secrets.
 */
#ifndef WEIR_RANDOM_H
#define WEIR_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct random_state { uint64_t word[4]; };

/* Two streams of one seed are independent for all purposes here. */
struct random_state random_start(uint64_t seed, uint64_t stream);
uint64_t random_next(struct random_state *state);
/* Uniform in [0, limit), without bias; limit > 0. */
uint64_t random_below(struct random_state *state, uint64_t limit);
double random_unit(struct random_state *state);   /* [0, 1) */
double random_normal(struct random_state *state); /* mean 0, deviation 1 */
/* order[i] = a uniformly random permutation of 0 ... count - 1. */
void random_permutation(struct random_state *state, size_t count, uint32_t *order);
/* One step of splitmix64 as a hash of a number. */
uint64_t random_mix(uint64_t value);

#endif
