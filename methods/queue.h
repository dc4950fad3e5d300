/*
 * queue.h - methods that keep several requests in flight, whatever works through them (enum os_ring_engine).
 *
 * A family says in struct queue_options what it wants and gets from here: set-up, the run with its slots, going on after
 * short counts, registered memory, the unaligned end.
 */
#ifndef WEIR_QUEUE_H
#define WEIR_QUEUE_H

#include "landing.h"
#include "methods.h"
#include "target.h"

#define QUEUE_DEPTH_MAX 1024u
#define QUEUE_RINGS_MAX 16u
#define QUEUE_CHAIN_MAX 64u

enum queue_registration {
  QUEUE_REGISTERS_NOTHING,
  QUEUE_REGISTERS_IF_IT_CAN, /* an extra that may be missing */
  QUEUE_REGISTERS,           /* memory and file, or it is not this method */
};

struct queue_options {
  enum os_ring_engine engine;
  unsigned depth, batch; /* batch 0: a sixteenth of the depth */
  unsigned rings;        /* requests are dealt out among them in turn; 0 counts as 1 */
  unsigned chain;        /* requests linked so that one begins after the other; below 2: none */
  bool direct;           /* past the page cache */
  bool near;             /* the thread and those that work for its ring stay on one CPU */
  bool opens_durable;    /* durability each: by opening the file so; else each request asks for it */
  enum queue_registration registration;
  enum weir_buffer_policy policy; /* of a whole buffer */
  enum target_extend extend;
};

struct queue {
  struct queue_options options;
  struct landing landing;
  struct os_ring *rings[QUEUE_RINGS_MAX];
  struct queue_slot *slots;
  unsigned *free; /* stack of idle slots */
  unsigned tries; /* for memory, all in all */
  size_t granule; /* 1 unless direct */
  size_t chunk;   /* whole: bytes in one registered buffer */
  bool buffers_registered, file_registered;
  bool lost; /* requests are still out and will not come back: their memory may not be touched any more */
  os_file file, rest;
  unsigned char *rest_data; /* room for a granule */
};

/* The parameters that all have, in this order; `own` ones follow. */
enum { QUEUE_BLOCK, QUEUE_DEPTH, QUEUE_BATCH, QUEUE_EXTEND, QUEUE_BUFFER, QUEUE_OWN };
#define QUEUE_PARAMS(blocks, depths)                                                          \
  [QUEUE_BLOCK] = LANDING_PARAM_BLOCK(blocks),                                                \
  [QUEUE_DEPTH] = {.name = "depth",                                                           \
                   .kind = WEIR_PARAM_COUNT,                                                  \
                   .preset = "8",                                                             \
                   .sweep = (depths),                                                         \
                   .min = 1,                                                                  \
                   .max = QUEUE_DEPTH_MAX,                                                    \
                   WEIR_PARAM_EVERYWHERE,                                                     \
                   .help = "requests in flight"},                                             \
  [QUEUE_BATCH] = {.name = "batch",                                                           \
                   .kind = WEIR_PARAM_COUNT,                                                  \
                   .preset = "0",                                                             \
                   .min = 0,                                                                  \
                   .max = QUEUE_DEPTH_MAX,                                                    \
                   WEIR_PARAM_EVERYWHERE,                                                     \
                   .help = "completions that one call waits for; 0: a sixteenth of the depth"}, \
  [QUEUE_EXTEND] = METHODS_PARAM_EXTEND(METHODS_EXTEND_AT)
/* Sets depth, batch and extend from these parameters. */
void queue_take_params(struct queue_options *options, const struct weir_job *job);

/* With as many rings at once as there will be instances: they share the user's limits. */
int queue_probe(const struct weir_job *job, const struct queue_options *options, struct weir_reason *reason);
int queue_setup(struct queue *q, const struct weir_job *job, const struct queue_options *options);
int queue_open(void *state, const struct weir_job *job);
int queue_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget);
int queue_sync(void *state, const struct weir_job *job);
int queue_close(void *state, const struct weir_job *job);
void queue_teardown(void *state, const struct weir_job *job);

#define QUEUE_METHOD                                                                                                     \
  METHODS_ABI, .tasks = METHODS_BOTH_TASKS, .accesses = METHODS_BOTH_ACCESSES, .durabilities = METHODS_ALL_DURABILITIES, \
               .state_size = sizeof(struct queue), .open = queue_open, .run = queue_run, .sync = queue_sync,             \
               .close = queue_close, .teardown = queue_teardown
#define QUEUE_READS_AND_WRITES .directions = WEIR_BIT(WEIR_READ) | WEIR_BIT(WEIR_WRITE)
#define QUEUE_ALL_DIRECTIONS .directions = WEIR_BIT(WEIR_READ) | WEIR_BIT(WEIR_WRITE) | WEIR_BIT(WEIR_MIXED)

#endif
