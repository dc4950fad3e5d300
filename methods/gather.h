/*
 * gather.h - the job's file written through a buffer of our own that is filled to its last byte before it is written, for
 * writers of streams. What does not fit goes on in the next.
 *
 * Life: gather_setup in setup, gather_open in open, gather_put and at the end gather_finish in run, and so on.
 */
#ifndef WEIR_GATHER_H
#define WEIR_GATHER_H

#include <string.h>

#include "methods.h"
#include "target.h"

struct gather {
  os_file file;
  unsigned char *data; /* NULL: none, for gather_write alone */
  size_t size, used;
  uint64_t at; /* bytes of the file that are written */
};

/* `block`, of the buffer. */
#define GATHER_PARAM_BLOCK                                                                                                  \
  {                                                                                                                         \
    .name = "block", .kind = WEIR_PARAM_SIZE, .preset = "64KiB", .min = 1, .max = UINT64_C(1) << 30, WEIR_PARAM_EVERYWHERE, \
    .help = "bytes a write"                                                                                                 \
  }

int gather_setup(struct gather *g, const struct weir_job *job, uint64_t size);
/* Durability `each`: every write is durable. */
int gather_open(struct gather *g, const struct weir_job *job, enum target_extend extend);
int gather_sync(struct gather *g, const struct weir_job *job);
int gather_close(struct gather *g, const struct weir_job *job);
void gather_teardown(struct gather *g, const struct weir_job *job);

/* Writes these bytes as they are. */
int gather_write(struct gather *g, const struct weir_job *job, const void *data, size_t length);
/* gather_put for what fills the buffer. */
int gather_put_slow(struct gather *g, const struct weir_job *job, const void *data, size_t length);
static inline int gather_put(struct gather *g, const struct weir_job *job, const void *data, size_t length) {
  if (length >= g->size - g->used) return gather_put_slow(g, job, data, length);
  if (length) memcpy(g->data + g->used, data, length);
  g->used += length;
  return 0;
}
/* Writes what the buffer still holds. */
int gather_finish(struct gather *g, const struct weir_job *job);

#endif
