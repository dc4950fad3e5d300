/*
 * ring.c - many requests in flight, whoever works through them: counts and limits what is outstanding and asks the engine.
 */
#include "os/linux/ring.h"

#include <errno.h>
#include <stdlib.h>

static int open_with(int (*opener)(unsigned, struct os_ring **), unsigned depth, struct os_ring **out) {
  if (depth == 0) return -EINVAL;
  int error = opener(depth, out);
  if (!error) (*out)->depth = depth;
  return error;
}

int os_ring_open_engine(enum os_ring_engine engine, unsigned depth, struct os_ring **out) {
  static int (*const openers[])(unsigned, struct os_ring **) = {
      [OS_RING_SHARED] = uring_open, [OS_RING_KERNEL] = kernel_aio_open, [OS_RING_THREADS] = posix_aio_open};
  return open_with(openers[engine], depth, out);
}

int os_ring_open(unsigned depth, struct os_ring **out) { return os_ring_open_engine(OS_RING_SHARED, depth, out); }
int os_ring_open_movable(unsigned depth, struct os_ring **out) { return open_with(uring_open_movable, depth, out); }

void os_ring_close(struct os_ring *ring) {
  if (ring) ring->engine->close(ring);
}

int os_ring_register_file(struct os_ring *ring, os_file file) {
  return ring->engine->register_file ? ring->engine->register_file(ring, file) : -EOPNOTSUPP;
}

int os_ring_register_buffers(struct os_ring *ring, void *const *buffers, const size_t *lengths, unsigned count) {
  return ring->engine->register_buffers ? ring->engine->register_buffers(ring, buffers, lengths, count) : -EOPNOTSUPP;
}

int os_ring_reserve_files(struct os_ring *ring, unsigned count) {
  return ring->engine->reserve_files ? ring->engine->reserve_files(ring, count) : -EOPNOTSUPP;
}

int os_ring_keep_near(struct os_ring *ring) {
  return ring->engine->keep_near ? ring->engine->keep_near(ring) : -EOPNOTSUPP;
}

int os_ring_queue(struct os_ring *ring, const struct os_ring_request *request) {
  const bool of_files = request->kind == OS_RING_OPEN || request->kind == OS_RING_CLOSE;
  if (of_files && !ring->engine->reserve_files) return -EOPNOTSUPP;
  if (ring->outstanding >= ring->depth) return -EBUSY;
  int error = ring->engine->queue(ring, request);
  if (!error) ring->outstanding++;
  return error;
}

int os_ring_submit(struct os_ring *ring, unsigned wait) {
  /* more can never come */
  return ring->engine->submit(ring, wait < ring->outstanding ? wait : ring->outstanding);
}

unsigned os_ring_reap(struct os_ring *ring, struct os_ring_completion *out, unsigned max) {
  const unsigned count = ring->engine->reap(ring, out, max);
  ring->outstanding -= count;
  return count;
}
