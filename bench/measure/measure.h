/*
 * measure.h - the only stage with a clock and I/O: turns a plan into a run.
 *
 * Prints nothing. Progress goes to an observer; samples go to the run and, where asked, to a stream as they come.
 */
#ifndef WEIR_MEASURE_H
#define WEIR_MEASURE_H

#include "measure/run.h"

enum measure_event_kind {
  MEASURE_LAYOUT,  /* scratch files are being written: text = which */
  MEASURE_FLOORS,
  MEASURE_PILOT,   /* one cell was tried: group, cell */
  MEASURE_PLANNED, /* rounds and sizes are fixed: total_ns = estimate */
  MEASURE_SAMPLE,  /* one sample was taken */
  MEASURE_DONE,
};
struct measure_event {
  enum measure_event_kind kind;
  const struct run *run;
  const char *text;
  unsigned group, cell;
  unsigned round, rounds;
  size_t done, total;        /* samples */
  uint64_t elapsed_ns, left_ns; /* left: estimate for the whole run, 0 unknown */
};
struct measure_observer { void *context; void (*event)(void *context, const struct measure_event *event); };

/*
 * Called in the worker process of a sample before its method is used, for methods that need something there first; may change
 * what `method` points to. 0, or a negative errno value with words in `problem`: then the cell is not available.
 */
struct measure_prepare {
  void *context;
  int (*prepare)(void *context, const struct weir_method *method, struct weir_reason *problem); /* NULL: nothing */
};

struct measure_options {
  const struct weir_method *const *methods; /* all that there are; the floors use `null` */
  struct measure_prepare prepare;
  const char *const *worker_arguments; /* what a newly executed worker needs to find the same methods, or NULL */
  const char *const *worker_prefix;    /* a program that runs the worker and looks at it, or NULL; see measure_one */
  uint64_t memory_limit;         /* bytes that the run may have, page cache included; 0: what there is */
  uint64_t quiet_wait_ns;        /* before each round of a group: wait at most so long for the machine to be quiet; 0: not at all */
  volatile int *interrupted;     /* 1: finish up with what there is; 2: leave at once */
  FILE *stream;                  /* run file being written, or NULL */
  struct measure_observer observer; /* event may be NULL */
};

/*
 * Runs run->plan, filling in its found fields, facts, floors, samples and warnings. 0; -EINTR when interrupted (the run
 * holds what was measured); another negative errno value when nothing could be measured, with words in `problem`.
 */
int measure_run(struct run *run, const struct measure_options *options, struct weir_reason *problem);

/* Facts about machine and places alone, for `weir plan` and `weir list`. */
int measure_environment(struct run *run);
/* Fills status, reason and remedy of every cell by the methods' probes, on a small scratch file; no timing. */
int measure_probe(struct run *run, const struct measure_options *options, struct weir_reason *problem);

/*
 * Takes one sample of every cell, all of its bytes compared, in the state that its demand names; of writers past the cache one
 * more, whose file is not read back, so that it tells what they left in the cache. Status, reason and samples are in the run.
 */
int measure_check(struct run *run, const struct measure_options *options, struct weir_reason *problem);

/*
 * Takes one sample of the first cell, by a newly executed worker under options->worker_prefix, and keeps nothing of it. The
 * timed pass stands between two calls that write these words nowhere. 0, also when the sample failed (words in `problem`).
 */
#define MEASURE_MARK_BEGIN "weir-begins"
#define MEASURE_MARK_END "weir-ends"
int measure_one(struct run *run, const struct measure_options *options, struct weir_reason *problem);

/* The other side of `--process fresh`: runs one sample as the parent left it in the inherited files. */
int measure_worker_main(const struct weir_method *const *methods, const struct measure_prepare *prepare);

#endif
