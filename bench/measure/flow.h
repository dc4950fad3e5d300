/*
 * flow.h - the core's side of the seam where data passes: what stands behind weir_deliver and weir_supply.
 */
#ifndef WEIR_FLOW_H
#define WEIR_FLOW_H

#include "measure/content.h"
#include "measure/reference.h"
#include "measure/run.h"
#include "os/os.h"
#include "weir/method.h"

/* One for each instance; weir_flow.core points at it. */
struct flow_core {
  const struct content *content; /* NULL: the user's own file, compared with what a plain read of `reference` gives */
  const struct content *supplied;/* what writers are given */
  const struct reference *stream;/* of a stream: what it holds, for comparing; else NULL */
  os_file reference;
  unsigned char *spare;          /* FLOW_SPARE bytes, for comparing */
  bool bad, bad_item;            /* verify found a wrong byte, or item, at: */
  uint64_t bad_offset;
  int error;                     /* the reference could not be read */
  double period_ns;              /* between the beginnings of two operations; 0: one after the other */
  uint64_t pace_start_ns, paced; /* since the last reset */
  uint64_t late;                 /* operations that began after the next one was due */
  uint64_t *latency;             /* HISTOGRAM_SLOTS counts; NULL when it is off */
};
#define FLOW_SPARE ((size_t)256 * 1024)

struct flow_setup {
  enum weir_consumer consumer;
  enum weir_direction direction;
  const struct content *content, *supplied;
  const struct reference *stream;
  os_file reference;
  const atomic_int *stop;
  bool latency; /* os_fast_clock_start has been called */
  double rate_per_s; /* with latency: operations that begin a second; 0: one after the other */
};

int flow_init(struct weir_flow *flow, struct flow_core *core, const struct flow_setup *setup); /* 0 or -ENOMEM */
void flow_free(struct weir_flow *flow);
/* Forgets what has passed, between passes. Latencies, what was late and findings stay. */
void flow_reset(struct weir_flow *flow);

#endif
