/*
 * sampler.h - one sample from preparation to record: puts the file into the state that the demand names, runs a worker,
 * and collects what the worker cannot know about itself.
 */
#ifndef WEIR_SAMPLER_H
#define WEIR_SAMPLER_H

#include "measure/layout.h"
#include "measure/measure.h"
#include "measure/victim.h"
#include "measure/worker.h"

/* What a pass should deliver, for all cells that make the same requests. */
struct sampler_sum {
  uint32_t group, consumer, threads;
  int32_t round;
  uint64_t block, sum, bytes, operations;
  struct reference_total totals[REFERENCE_FORMS];
};

/* What a stream holds, kept as long as its file is. */
struct sampler_stream {
  enum weir_task task;
  bool input; /* for writers */
  const struct layout_file *file;
  uint64_t size, item;
  struct reference reference;
};

struct sampler {
  struct run *run;
  const struct measure_options *options;
  struct content content;
  struct scratch scratch;
  struct layout layout;
  struct worker_scene scene;
  struct worker_order *order;   /* shared with the worker of the moment */
  os_file order_file, plan_file;/* hand-over to newly executed workers */
  bool plan_is_stale;
  uint64_t writes;              /* writing samples so far: each gets data of its own */
  struct sampler_sum *sums;     /* checksums known already */
  unsigned sum_count;
  struct sampler_stream *streams;
  unsigned stream_count;
  struct victim victim;
};

int sampler_open(struct sampler *sampler, struct run *run, const struct measure_options *options, struct weir_reason *problem);
/* Brings scratch files up to date with the plan's sizes; forgets checksums of other sizes. */
int sampler_layout(struct sampler *sampler, struct weir_reason *problem);
void sampler_close(struct sampler *sampler);

struct sampler_wish {
  unsigned group, cell;
  int32_t round, position, predecessor;
  uint32_t flags;               /* RUN_PILOT, RUN_BURN_IN */
  bool verify;                  /* every byte is compared; writers' files are read back past the cache */
  bool probe;                   /* ask the method first whether it can */
  bool keep_state;              /* leave the cache as it is: for verifying, where state does not matter */
  bool count_calls;             /* of a part of a pass; nothing else of the sample is of use */
  bool with_victim;             /* see what becomes of a file in the cache that nobody uses */
  uint64_t cap_ns;              /* stop the worker after this time; 0: only the guard against hanging */
};

/*
 * Takes one sample. Its status and reason tell of failures of the cell; `unavailable` is set when the probe said no (the
 * sample is then empty). A negative errno value means that the run itself cannot go on; -EINTR: interrupted.
 */
int sampler_take(struct sampler *sampler, const struct sampler_wish *wish, struct sample *out, struct weir_reason *unavailable);

/* The sample failed; the first reason stays. */
void sampler_fail(struct sample *out, const char *text);

#endif
