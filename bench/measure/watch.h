/*
 * watch.h - what the machine does around a round: the control before and after it, what others took meanwhile, and, where
 * asked, waiting until nobody takes anything.
 */
#ifndef WEIR_WATCH_H
#define WEIR_WATCH_H

#include "measure/measure.h"
#include "os/os.h"

struct watch {
  const struct measure_options *options;
  os_file file; /* of the control, in memory */
  void *data, *copy;
  struct os_pressure before;
};

/* Never fails: what cannot be had is not measured. */
void watch_open(struct watch *watch, const struct measure_options *options);
void watch_close(struct watch *watch);
/* Around the samples of a round; `out` tells which it is. */
void watch_begin(struct watch *watch, struct run_round *out);
void watch_end(const struct watch *watch, struct run_round *out);

#endif
