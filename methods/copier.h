/*
 * copier.h - methods that copy files, one after the other: the loop over the job's files, their opening and flushing, to
 * which each method adds its way of moving the bytes of one.
 *
 * A copy is a new file. Durability `each` flushes it, and its directory, before the operation counts as done; `end` flushes
 * all copies of the pass, and the directory once, in the sync phase.
 */
#ifndef WEIR_COPIER_H
#define WEIR_COPIER_H

#include "files.h"
#include "methods.h"
#include "target.h"

/* Parameters: `chunk` or what takes its place comes first, `extend` second; a method's own follow. */
enum { COPIER_CHUNK, COPIER_EXTEND, COPIER_OWN };
/* Not called `block`: that is the request size, here the size of the files. */
#define COPIER_PARAM_CHUNK(usual, tried)                                                                               \
  {                                                                                                                    \
    .name = "chunk", .kind = WEIR_PARAM_SIZE, .preset = (usual), .sweep = (tried), .min = 1, .max = UINT64_C(1) << 30, \
    WEIR_PARAM_EVERYWHERE, .help = "bytes read and written at a time"                                                  \
  }

/* One file under way. A way that closes one of the two itself puts os_no_file there. */
struct copier_pair {
  os_file from, to;
  uint64_t offset; /* of its first byte in the job */
  size_t length;
};

struct copier;
struct copier_way {
  unsigned flags;   /* enum os_open_flag: both files are opened with these on top */
  bool chunked;     /* has the parameter `chunk` */
  unsigned buffers; /* of `chunk` bytes, one behind the other in `data`; 0: set-up sees to it */
  bool extends;     /* has the parameter `extend` */
  bool durable;     /* does by itself what durability `each` asks for */
  /* what a method adds to the phases; NULL: nothing */
  int (*setup)(struct copier *c, const struct weir_job *job);
  int (*open)(struct copier *c, const struct weir_job *job);
  void (*close)(struct copier *c);
  void (*teardown)(struct copier *c);
  /* Moves the bytes between two open files; or, where that is NULL, makes the copy by the names in `files`. */
  int (*move)(struct copier *c, const struct weir_job *job, struct copier_pair *pair);
  int (*by_name)(struct copier *c, const struct weir_job *job, uint64_t offset);
};

struct copier {
  const struct copier_way *way; /* job->data */
  struct files files;
  unsigned char *data;
  size_t size, chunk, granule;
  enum target_extend extend;
  uint64_t done;             /* files copied in this pass */
  os_file pipe_out, pipe_in; /* splice */
  bool lost;                 /* the system may still write to `data`: it is kept */
  void *own;                 /* of copier_ahead.c and copier_ring.c */
  char program[512];         /* cp */
};

/* For the entry of a method in copier's files: all but name, summary, calls, data and parameters. */
#define COPIER_METHOD                                                                                           \
  METHODS_ABI, METHODS_WRITES, .tasks = WEIR_BIT(WEIR_TASK_COPY), .accesses = WEIR_BIT(WEIR_SEQUENTIAL),        \
                               .state_size = sizeof(struct copier), .setup = copier_setup, .open = copier_open, \
                               .run = copier_run, .sync = copier_sync, .close = copier_close, .teardown = copier_teardown

int copier_setup(void *state, const struct weir_job *job);
int copier_open(void *state, const struct weir_job *job);
int copier_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget);
int copier_sync(void *state, const struct weir_job *job);
int copier_close(void *state, const struct weir_job *job);
void copier_teardown(void *state, const struct weir_job *job);

/* ---- for ways ------------------------------------------------------------------------------------------------------ */

/* Writes where `to` stands; `at` is the place of the data in the file, for words. */
int copier_write(const struct weir_job *job, const struct copier_pair *pair, const void *data, size_t length, size_t at);
/* What a call that moves bytes of `pair` from `at` on said: 0 where it moved some, else the error, with words. */
int copier_judge(const struct weir_job *job, const struct copier_pair *pair, const char *doing, size_t at, int64_t count);
/* For set-ups: `count` buffers of `chunk` bytes, aligned to `granule`. */
int copier_get_buffers(struct copier *c, const struct weir_job *job, unsigned count);
/* As durability `each` wants it. */
int copier_flush(const struct weir_job *job, const struct copier_pair *pair);
/* The copy of the file at `offset`, by its name; the directory of the copies. */
int copier_flush_name(struct copier *c, const struct weir_job *job, uint64_t offset);
int copier_flush_directory(const struct weir_job *job);
int copier_probe_extend(const struct weir_job *job, struct weir_reason *reason);

#endif
