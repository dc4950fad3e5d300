/*
 * copy_one.h - what copying.c (the calls), copy_many.c (each source read once for many destinations) and copy_one.c (one
 * source to one destination) share.
 */
#ifndef WEIR_COPY_ONE_H
#define WEIR_COPY_ONE_H

#include "lib/internal.h"
#include "lib/lock.h"
#include "lib/save.h"

struct weir__file_id {
  uint64_t device, inode;
};

/* How far a call is, and whether it is to go on. Any thread. */
struct weir__tally {
  struct weir__lock lock;
  struct weir_copy_progress now;
  bool telling; /* a thread is in the caller's function */
  uint64_t told_ns;
  atomic_bool cancelled;
};

/* One call of weir_copy_file or weir_copy. */
struct weir__copying {
  const struct weir_copy_options *options;
  size_t block_bytes;
  const struct weir__file_id *ids; /* of all sources, sorted: what must not be written to */
  size_t id_count;
  struct weir__tally tally;
};

struct weir__source {
  const char *path;
  os_file file;
  struct os_stat stat;
};

/* One source on its way to one destination. */
struct weir__copy {
  struct weir__copying *call;
  struct weir__source *source;
  const char *path;
  struct weir_copy_result *result;
  struct weir__save save;
  bool begun;        /* `save` is open */
  bool had_old;      /* it is written over a file that was there */
  uint64_t expected; /* bytes that the tally counts on */
  uint64_t counted;  /* bytes that the tally has */
  atomic_int status; /* the first failure */
};

/* Memory of one thread, got when it is first needed. */
struct weir__workspace {
  char *data;
  size_t bytes;
};
int weir__workspace_get(struct weir__workspace *space, size_t bytes);
void weir__workspace_release(struct weir__workspace *space);

/* Where the data of a source lie: `end` is UINT64_MAX where only reading tells. */
struct weir__range {
  uint64_t begin, end;
};
struct weir__ranges {
  const struct weir__source *source;
  bool sparse, last;
  uint64_t at;
};
struct weir__ranges weir__ranges_of(const struct weir__source *source, unsigned flags);
bool weir__ranges_next(struct weir__ranges *ranges, struct weir__range *out);
/* How long the copy has to be when the ranges up to `at` are done, and reading met the end there or not. */
uint64_t weir__ranges_total(const struct weir__ranges *ranges, uint64_t at, bool ended);

/* Calls the caller's function, if there is one and no thread is in it. */
void weir__tally_tell(struct weir__copying *call);
bool weir__copying_cancelled(const struct weir__copying *call);

int weir__source_open(struct weir__source *source, const char *path, struct weir_error *error);
void weir__source_close(struct weir__source *source);

/* Keeps the first failure of a copy and returns it. Any thread. */
int weir__copy_fail(struct weir__copy *copy, int code, const char *operation, const char *path, uint64_t offset,
                    uint64_t size);
/* Each is 0 or the failure, which is kept. */
int weir__copy_begin(struct weir__copy *copy);
/* True: the destination shares the source's storage, all is there. */
bool weir__copy_clone(struct weir__copy *copy);
/* All bytes by what is best; *total is how many the destination has to have. */
int weir__copy_bytes(struct weir__copy *copy, struct weir__workspace *space, uint64_t *total);
int weir__copy_write(struct weir__copy *copy, const void *data, size_t size, uint64_t offset);
/* Checks, settles and names what is whole, or takes away what is not; writes the result. Once for each copy. */
void weir__copy_end(struct weir__copy *copy, struct weir__workspace *space, uint64_t total);
/* All of it: begin, bytes, end, with the source opened for it if it is not. */
void weir__copy_whole(struct weir__copy *copy, struct weir__workspace *space);

/* ---- copying.c ---- */

/* The last part of a path, without slashes behind it. */
const char *weir__last_part(const char *path, size_t *length);

/* ---- copy_many.c ---- */

/* What weir_copy does when all is checked. */
struct weir__many {
  struct weir__copying *call;
  const char *const *sources;
  size_t source_count;
  const char *const *directories;
  size_t directory_count;
  const struct os_stat *source_stats, *directory_stats;
  struct weir_copy_result *results; /* those whose status is WEIR__COPY_TODO are to be made */
};
#define WEIR__COPY_TODO 1
/* Afterwards all results have their status. */
void weir__copy_many(const struct weir__many *many);

#endif
