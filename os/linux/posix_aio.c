/*
 * posix_aio.c - the engine of rings that is the C library's aio_read and aio_write: threads that make plain calls. glibc
 * works through the requests of one descriptor one after the other, whatever the depth.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "os/linux/calls.h"
#include "os/linux/ring.h"

enum state { IDLE, QUEUED, IN_FLIGHT, DONE };

struct entry {
  struct aiocb block;
  enum os_ring_kind kind;
  uint64_t tag;
  enum state state;
  int32_t result;
};

struct posix_aio {
  struct os_ring base;
  struct entry *entries;
  const struct aiocb **waiting; /* for aio_suspend */
};

static struct posix_aio *own(struct os_ring *ring) { return (struct posix_aio *)(void *)ring; }

static void aio_close(struct os_ring *ring) {
  free(own(ring)->waiting);
  free(own(ring)->entries);
  free(ring);
}

static int aio_queue(struct os_ring *ring, const struct os_ring_request *request) {
  struct entry *entry = own(ring)->entries;
  while (entry->state != IDLE) entry++; /* one is: fewer than `depth` are outstanding */
  *entry = (struct entry){.block = {.aio_fildes = (int)request->file,
                                    .aio_buf = request->data,
                                    .aio_nbytes = request->length,
                                    .aio_offset = (off_t)request->offset,
                                    .aio_sigevent = {.sigev_notify = SIGEV_NONE}},
                          .kind = request->kind,
                          .tag = request->tag,
                          .state = QUEUED};
  return 0;
}

static int begin(struct entry *entry) {
  switch (entry->kind) {
    case OS_RING_READ:
      return sys(aio_read)(&entry->block);
    case OS_RING_WRITE:
      return sys(aio_write)(&entry->block);
    case OS_RING_SYNC:
    case OS_RING_OPEN: /* refused before: ring.c */
    case OS_RING_CLOSE:
      break;
  }
  return sys(aio_fsync)(O_DSYNC, &entry->block);
}

static void hand_over(struct posix_aio *ring) {
  for (unsigned i = 0; i < ring->base.depth; i++) {
    struct entry *entry = &ring->entries[i];
    if (entry->state != QUEUED) continue;
    const int error = call_result(begin(entry));
    entry->state = error ? DONE : IN_FLIGHT;
    entry->result = error;
  }
}

/* Notes what has ended since; how many entries are done, and in `waiting` those that are not. */
static unsigned look(struct posix_aio *ring, unsigned *waiting) {
  unsigned done = 0;
  *waiting = 0;
  for (unsigned i = 0; i < ring->base.depth; i++) {
    struct entry *entry = &ring->entries[i];
    if (entry->state == IN_FLIGHT) {
      const int error = sys(aio_error)(&entry->block);
      if (error == EINPROGRESS) {
        ring->waiting[(*waiting)++] = &entry->block;
        continue;
      }
      const ssize_t count = sys(aio_return)(&entry->block);
      entry->result = error ? -error : (int32_t)count;
      entry->state = DONE;
    }
    done += entry->state == DONE;
  }
  return done;
}

static int aio_submit(struct os_ring *base, unsigned wait) {
  struct posix_aio *ring = own(base);
  hand_over(ring);
  for (;;) {
    unsigned waiting;
    if (look(ring, &waiting) >= wait || waiting == 0) return 0;
    const int result = sys(aio_suspend)(ring->waiting, (int)waiting, NULL);
    if (result < 0 && errno != EINTR && errno != EAGAIN) return -errno;
  }
}

static unsigned aio_reap(struct os_ring *base, struct os_ring_completion *out, unsigned max) {
  struct posix_aio *ring = own(base);
  unsigned count = 0;
  for (unsigned i = 0; i < base->depth && count < max; i++) {
    struct entry *entry = &ring->entries[i];
    if (entry->state != DONE) continue;
    out[count++] = (struct os_ring_completion){.tag = entry->tag, .result = entry->result};
    entry->state = IDLE;
  }
  return count;
}

static const struct ring_engine engine = {.close = aio_close, .queue = aio_queue, .submit = aio_submit, .reap = aio_reap};

int posix_aio_open(unsigned depth, struct os_ring **out) {
  struct posix_aio *ring = calloc(1, sizeof *ring);
  if (!ring) return -ENOMEM;
  ring->base.engine = &engine;
  ring->entries = calloc(depth, sizeof *ring->entries);
  ring->waiting = calloc(depth, sizeof *ring->waiting);
  if (!ring->entries || !ring->waiting) {
    aio_close(&ring->base);
    return -ENOMEM;
  }
  *out = &ring->base;
  return 0;
}
