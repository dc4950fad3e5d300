/* histogram.c - from slots to values and back. See histogram.h for the slots. */
#include "base/histogram.h"

#include <math.h>

/* The slots of the first two octaves are one wide. */
static unsigned shift_of(unsigned slot) { return slot >> HISTOGRAM_BITS > 1 ? (slot >> HISTOGRAM_BITS) - 1 : 0; }

uint64_t histogram_low(unsigned slot) {
  const unsigned shift = shift_of(slot);
  return (uint64_t)(slot - (shift << HISTOGRAM_BITS)) << shift;
}

uint64_t histogram_end(unsigned slot) { return histogram_low(slot) + (UINT64_C(1) << shift_of(slot)); }

int histogram_slot_at(uint64_t low) {
  const unsigned slot = histogram_slot(low);
  return histogram_low(slot) == low ? (int)slot : -1;
}

size_t histogram_pack(const uint64_t counts[HISTOGRAM_SLOTS], struct histogram_entry *out) {
  size_t used = 0;
  for (unsigned slot = 0; slot < HISTOGRAM_SLOTS; slot++)
    if (counts[slot] != 0) out[used++] = (struct histogram_entry){slot, counts[slot]};
  return used;
}

/* Counts come from files, too: a sum that does not fit stays at the largest number. */
uint64_t histogram_total(const struct histogram_entry *entries, size_t count) {
  uint64_t total = 0;
  for (size_t i = 0; i < count; i++) total = entries[i].count > UINT64_MAX - total ? UINT64_MAX : total + entries[i].count;
  return total;
}

double histogram_quantile(const struct histogram_entry *entries, size_t count, double share) {
  /* 0.999 x 10 000 is a hair more than 9990 in binary */
  const double wanted = ceil(share * (double)histogram_total(entries, count) - 1e-6);
  double below = 0;
  for (size_t i = 0; i < count; i++) {
    below += (double)entries[i].count;
    if (below < wanted && i + 1 < count) continue;
    const uint64_t low = histogram_low(entries[i].slot), end = histogram_end(entries[i].slot);
    return (double)low + (double)(end - low - 1) / 2;
  }
  return 0;
}
