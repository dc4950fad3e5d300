/*
 * worker.h - one sample in a process of its own. The order goes in and the record comes out through shared memory.
 *
 * A process for each sample gives every method the same start: no heap history, buffers at fresh addresses, a crash that
 * costs one sample and not the run, and a peak of memory that is its own.
 */
#ifndef WEIR_WORKER_H
#define WEIR_WORKER_H

#include <stdatomic.h>

#include "measure/content.h"
#include "measure/measure.h"
#include "measure/reference.h"
#include "measure/run.h"
#include "os/os.h"
#include "weir/method.h"

#define WORKER_PATH_MAX 4096
#define WORKER_THREADS_MAX 256

enum worker_outcome {
  WORKER_CRASHED = 0,  /* nothing was reported */
  WORKER_DONE,
  WORKER_UNAVAILABLE,  /* probe or setup said no: reason and remedy */
  WORKER_FAILED,       /* reason */
};

/* What instances work on. */
struct worker_file {
  char path[WORKER_PATH_MAX], directory[WORKER_PATH_MAX];
  uint64_t device; /* os_stat.device of the file, for device counters */
};

/* Plain data in memory that both processes see. */
struct worker_order {
  /* in */
  char copies[WORKER_PATH_MAX]; /* task copy */
  uint32_t group, cell;
  uint64_t passes;
  uint32_t consumer;       /* enum weir_consumer: the demand's, or verify in the pilot */
  bool own_content;        /* the file holds scratch content; else it is the user's */
  uint64_t content_seed;   /* of that content */
  uint64_t supply_seed;    /* of what is written; writers get a new one for each sample, so that old data cannot pass */
  bool probe;              /* ask the method first */
  bool warm_up;            /* a short untimed pass before */
  bool count_allocations;  /* of the only pass, whose time is of no use then */
  bool count_calls;        /* system calls of one pass of `budget` operations, which is all that is done then; no time is of use */
  uint64_t budget;         /* of each instance */
  bool check;              /* compare the checksum of each pass with `expected` */
  uint64_t expected, expected_bytes, expected_operations; /* of one pass */
  struct reference_total totals[REFERENCE_FORMS]; /* of one pass of a stream */
  int parent;              /* os_process_id of the run; 0: the worker runs under another program */
  bool mark;               /* MEASURE_MARK_... around each timed pass */
  atomic_int stop;         /* set by the parent: finish up */
  /* out */
  atomic_int outcome;      /* enum worker_outcome */
  struct weir_reason reason;
  struct sample sample;    /* in: round; out: the fields that only the worker can know */
  uint64_t latency[HISTOGRAM_SLOTS]; /* with plan.latency */
  /* in: one for each member of a striped demand, else one; last, because it is large and mostly not used */
  unsigned file_count;
  struct worker_file files[PLAN_MEMBERS_MAX];
};

/* Which file an instance works on: its own, or the one that all share. */
static inline unsigned worker_file_index(const struct worker_order *order, unsigned instance) {
  return instance < order->file_count ? instance : 0;
}

struct worker_scene {      /* the same for all samples of a run */
  const struct run *run;
  const struct content *content;
  const struct reference *stream; /* of the sample at hand, if it is one of a stream; NULL: not made yet */
  struct measure_prepare prepare;
  os_file janitor;         /* closed first, so that only the run itself keeps the janitor waiting; os_no_file: none */
};

/* Body of the process: does the order, stores the outcome, returns the exit code. */
int worker_body(const struct worker_scene *scene, struct worker_order *order);
/* ---- rehearse.c ---- */

/*
 * Fills in what one pass should deliver when the file holds what it should: requests, bytes and, with `check`, the checksum,
 * from the scratch content or by plain reads of the user's file. 0, or a negative errno value.
 */
int worker_expect(const struct worker_scene *scene, struct worker_order *order);

#endif
