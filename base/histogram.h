/*
 * histogram.h - counts of durations by size: log-linear slots, so that small and large ones are told equally well.
 *
 * Below 64 every value has a slot of its own; above, each octave has 64 of equal width. The middle of a slot is at most
 * 1/128 (0.8 %) away from any value in it. The last octave ends at 2^48 ns, three days; what is longer counts as that.
 * Histograms are merged by adding their counts.
 */
#ifndef WEIR_HISTOGRAM_H
#define WEIR_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_BITS 6u /* 64 slots an octave */
#define HISTOGRAM_END_BITS 48u
#define HISTOGRAM_SLOTS ((HISTOGRAM_END_BITS - HISTOGRAM_BITS + 1u) << HISTOGRAM_BITS)

/* One slot that is not empty; lists of them are sorted by slot. */
struct histogram_entry {
  uint32_t slot;
  uint64_t count;
};

static inline unsigned histogram_slot(uint64_t value) {
  if (value >> HISTOGRAM_BITS == 0) return (unsigned)value;
  if (value >> HISTOGRAM_END_BITS != 0) return HISTOGRAM_SLOTS - 1;
  const unsigned shift = 63u - (unsigned)__builtin_clzll(value) - HISTOGRAM_BITS;
  return (shift << HISTOGRAM_BITS) + (unsigned)(value >> shift);
}

/* The smallest value of a slot, and of the one after it. slot < HISTOGRAM_SLOTS. */
uint64_t histogram_low(unsigned slot);
uint64_t histogram_end(unsigned slot);
/* The slot that begins with this value, or -1. */
int histogram_slot_at(uint64_t low);

/* The slots that are not empty. `out` has room for HISTOGRAM_SLOTS; returns how many there are. */
size_t histogram_pack(const uint64_t counts[HISTOGRAM_SLOTS], struct histogram_entry *out);
uint64_t histogram_total(const struct histogram_entry *entries, size_t count);
/* The smallest value that `share` of all values do not exceed: the middle of its slot. 0 when there are none. */
double histogram_quantile(const struct histogram_entry *entries, size_t count, double share);

#endif
