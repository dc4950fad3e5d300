/*
 * overlap.h - a file that is read in blocks, in order, with requests under way while the block before them is in use.
 *
 * A reader takes block after block with overlap_next. With `ahead` there is one buffer more than requests, so `depth` of
 * them are under way while a block is looked at, and none of them ever writes to that block. Who works through the requests
 * is an engine: the system itself (io_uring), threads of the C library (POSIX AIO), threads of our own, or nobody (plain
 * calls).
 *
 * Life: overlap_setup, overlap_open, { overlap_start, overlap_next ..., overlap_finish }, overlap_close, overlap_teardown.
 */
#ifndef WEIR_OVERLAP_H
#define WEIR_OVERLAP_H

#include "methods.h"
#include "os/os.h"
#include "target.h"

#define OVERLAP_DEPTH_MAX 32u
#define OVERLAP_SLOTS_MAX (OVERLAP_DEPTH_MAX + 1)
#define OVERLAP_BLOCK_MAX (UINT64_C(64) << 20)

struct overlap;
struct overlap_pool;

/* One kind of worker. What returns an int returns 0 or a negative errno value, without words. */
struct overlap_engine {
  const char *doing;                      /* what opening does, for messages */
  const char *remedy;                     /* against what opening cannot get here */
  int (*can)(struct weir_reason *reason); /* can it be had at all? With words. NULL: always */
  int (*open)(struct overlap *o);
  void (*close)(struct overlap *o);
  /* The timed phases begin and end: workers that do not sleep while they wait run in between only. NULL: nothing to do. */
  void (*rouse)(struct overlap *o);
  void (*settle)(struct overlap *o);
  int (*begin)(struct overlap *o, unsigned slot); /* hands over what is left of the slot */
  int (*await)(struct overlap *o, unsigned slot); /* returns when it is told how that went; an error: it will never be */
};
extern const struct overlap_engine overlap_ring, overlap_aio, overlap_thread, overlap_calls;

struct overlap_options {
  const struct overlap_engine *engine;
  size_t block;
  unsigned depth;         /* requests under way, at most */
  bool ahead;             /* the next ones while a block is in use; else they begin when it is asked for */
  enum os_gate_kind gate; /* threads of our own: how they are told and tell */
  enum os_advice hint;
  enum weir_buffer_policy policy; /* reused, or new in each pass */
};

/* A block and the request that fills it. While it is out, all but `out` are the engine's. */
struct overlap_slot {
  unsigned char *data;
  size_t length, done;
  uint64_t offset;
  int64_t result; /* of the last transfer: a count or an error */
  unsigned retries;
  bool out;
};

struct overlap {
  struct overlap_options options;
  os_file file;
  struct overlap_slot slots[OVERLAP_SLOTS_MAX];
  struct os_ring *ring;      /* engines ring and aio */
  struct overlap_pool *pool; /* engine thread */
  void *memory;
  size_t stride, memory_size;
  uint64_t count, head, next; /* blocks; the next one to be taken; the next one to be begun */
  bool lost;                  /* requests are out and will not come back: their memory may not be touched any more */
};

struct overlap_piece {
  const unsigned char *data;
  size_t length;
  uint64_t offset;
};

int overlap_probe(const struct overlap_options *options, struct weir_reason *reason);
int overlap_setup(struct overlap *o, const struct weir_job *job, const struct overlap_options *options);
int overlap_open(struct overlap *o, const struct weir_job *job);
void overlap_start(struct overlap *o, const struct weir_job *job);
/* 1: the next block, valid until the next call. 0: there is none. Or an error, whose words the host has. */
int overlap_next(struct overlap *o, const struct weir_job *job, struct overlap_piece *piece);
/* Takes in what is still out. Also after errors and when stopped. */
void overlap_finish(struct overlap *o);
int overlap_close(struct overlap *o, const struct weir_job *job);
void overlap_teardown(struct overlap *o, const struct weir_job *job);

#define OVERLAP_PARAM_BLOCK(usual)                                                                                          \
  {                                                                                                                         \
    .name = "block", .kind = WEIR_PARAM_SIZE, .preset = (usual), .min = 1, .max = OVERLAP_BLOCK_MAX, WEIR_PARAM_EVERYWHERE, \
    .help = "bytes a request"                                                                                               \
  }

#endif
