/*
 * made.h - what the scratch files of streams are filled with: from a demand to what generate.h makes.
 */
#ifndef WEIR_MADE_H
#define WEIR_MADE_H

#include "measure/generate.h"
#include "plan/plan.h"

struct generate_options made_options(const struct plan_demand *demand, uint64_t seed);
/* Bytes that a made file of this demand has: records are whole. */
uint64_t made_size(const struct plan_demand *demand, uint64_t seed);
/* The first `size` bytes, in memory. 0, -ENOMEM, or -ENODATA when there are fewer. */
int made_fill(const struct generate_options *options, void *out, size_t size);
/* Writes the file (made or cut) and syncs it; 0, or a negative errno value. */
int made_write(const struct generate_options *options, const char *path, volatile int *interrupted);

#endif
