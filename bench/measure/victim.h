/*
 * victim.h - a file that lies in the page cache and that nobody uses: how much of it is gone after a sample is what the
 * method's way of filling the cache costs others.
 */
#ifndef WEIR_VICTIM_H
#define WEIR_VICTIM_H

#include <stdbool.h>
#include <stdint.h>

struct sampler;
struct victim {
  char *path; /* NULL: not made yet, or not to be had */
  uint64_t size;
  bool refused;
};

/* Makes it when it is asked for first, and reads it into the cache. Its bytes there; -1: there can be none here. */
int64_t victim_ready(struct victim *victim, const struct sampler *sampler);
/* How many of `before` bytes are no longer there; -1 unknown. */
int64_t victim_lost(const struct victim *victim, int64_t before);
/* Takes it away; there is none any more. */
void victim_release(struct victim *victim);

#endif
