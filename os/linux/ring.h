/*
 * ring.h - what the engines of rings give to ring.c. Private to this folder.
 *
 * ring.c counts what is outstanding, so an engine never holds more than `depth` requests that are queued, in flight or not
 * yet reaped.
 */
#ifndef WEIR_OS_RING_H
#define WEIR_OS_RING_H

#include "os/os.h"

struct ring_engine {
  void (*close)(struct os_ring *ring);
  int (*queue)(struct os_ring *ring, const struct os_ring_request *request);
  int (*submit)(struct os_ring *ring, unsigned wait); /* `wait` is at most what is outstanding */
  unsigned (*reap)(struct os_ring *ring, struct os_ring_completion *out, unsigned max);
  int (*register_file)(struct os_ring *ring, os_file file); /* NULL: cannot */
  int (*register_buffers)(struct os_ring *ring, void *const *buffers, const size_t *lengths, unsigned count);
  int (*reserve_files)(struct os_ring *ring, unsigned count); /* NULL: cannot */
  int (*keep_near)(struct os_ring *ring);                     /* NULL: cannot */
};

/* The start of every engine's own struct. */
struct os_ring {
  const struct ring_engine *engine;
  unsigned depth;
  unsigned outstanding; /* queued, in flight or not yet reaped */
};

/* Each fills in `engine`; ring.c the rest. */
int uring_open(unsigned depth, struct os_ring **out);
int uring_open_movable(unsigned depth, struct os_ring **out);
int kernel_aio_open(unsigned depth, struct os_ring **out);
int posix_aio_open(unsigned depth, struct os_ring **out);

#endif
