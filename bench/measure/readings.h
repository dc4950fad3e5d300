/*
 * readings.h - what the system counts, read before and after the timed window, and what it comes to.
 */
#ifndef WEIR_READINGS_H
#define WEIR_READINGS_H

#include "measure/worker.h"

struct readings {
  struct os_device_counters device;
  struct os_pressure pressure;
  int64_t own_read_bytes;
  bool has_device;
  struct os_usage usage;
  int64_t cycles, instructions;
};

/*
 * What costs time to read stands outside of the window; usage, which counts that time too, is read right beside it.
 * `children`: what ended programs took counts too.
 */
void readings_before(const struct worker_order *order, struct os_cycles *cycles, bool children, struct readings *out);
void readings_after(const struct worker_order *order, struct os_cycles *cycles, bool children, struct readings *out);
/* Both into order->sample. `reader`: the sample only reads, so that all writing is foreign. */
void readings_record(struct worker_order *order, const struct readings *before, const struct readings *after, bool reader);

#endif
