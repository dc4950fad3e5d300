/*
 * kernel_aio.c - the engine of rings that is Linux AIO (io_submit, io_getevents), by bare system calls: no library is
 * needed.
 *
 * A request that the kernel refuses to take comes back as a completion with the error, like one that failed later.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>

#include "os/linux/calls.h"
#include "os/linux/ring.h"

/* Bound on EAGAIN when nothing is in flight that could make room: a tenth of a second. */
#define SUBMIT_TRIES 1000u
#define SUBMIT_PAUSE_NS 100000u

struct kernel_aio {
  struct os_ring base;
  aio_context_t context;
  struct iocb *blocks;
  struct iocb **queue, **free; /* handed over next; idle */
  unsigned queued, free_count;
  struct io_event *events; /* fetched and not yet reaped: first ... first + ready */
  unsigned first, ready;
};

static struct kernel_aio *own(struct os_ring *ring) { return (struct kernel_aio *)(void *)ring; }

static void release(struct kernel_aio *ring) {
  free(ring->events);
  free(ring->free);
  free(ring->queue);
  free(ring->blocks);
  free(ring);
}

/* Waits for what is still in flight. */
static void aio_close(struct os_ring *ring) {
  (void)sys(io_destroy)(own(ring)->context);
  release(own(ring));
}

static int aio_queue(struct os_ring *base, const struct os_ring_request *request) {
  static const uint16_t codes[] = {
      [OS_RING_READ] = IOCB_CMD_PREAD, [OS_RING_WRITE] = IOCB_CMD_PWRITE, [OS_RING_SYNC] = IOCB_CMD_FDSYNC};
  struct kernel_aio *ring = own(base);
  struct iocb *block = ring->free[--ring->free_count];
  *block =
      (struct iocb){.aio_data = request->tag, .aio_lio_opcode = codes[request->kind], .aio_fildes = (uint32_t)request->file};
  if (request->kind != OS_RING_SYNC) { /* which is refused if it says where */
    block->aio_buf = (uint64_t)(uintptr_t)request->data;
    block->aio_nbytes = request->length;
    block->aio_offset = (int64_t)request->offset;
    block->aio_rw_flags = request->data_sync ? RWF_DSYNC : 0;
  }
  ring->queue[ring->queued++] = block;
  return 0;
}

static void add_event(struct kernel_aio *ring, struct iocb *block, int result) {
  ring->events[ring->first + ring->ready++] =
      (struct io_event){.data = block->aio_data, .obj = (uint64_t)(uintptr_t)block, .res = result};
}

/* The kernel stops at the first request that it does not take, and tells the error only when that is the first of all. */
static int hand_over(struct kernel_aio *ring) {
  unsigned done = 0, tries = 0;
  int error = 0;
  while (done < ring->queued && !error) {
    const int count = sys(io_submit)(ring->context, (long)(ring->queued - done), ring->queue + done);
    if (count > 0) done += (unsigned)count;
    if (count > 0 || (count < 0 && errno == EINTR)) continue;
    if (count < 0 && errno != EAGAIN) {
      add_event(ring, ring->queue[done++], -errno);
      continue;
    }
    if (++tries > SUBMIT_TRIES) error = -EAGAIN;
    os_sleep_ns(SUBMIT_PAUSE_NS);
  }
  memmove(ring->queue, ring->queue + done, (ring->queued - done) * sizeof(struct iocb *));
  ring->queued -= done;
  return error;
}

static int aio_submit(struct os_ring *base, unsigned wait) {
  struct kernel_aio *ring = own(base);
  memmove(ring->events, ring->events + ring->first, ring->ready * sizeof(struct io_event));
  ring->first = 0;
  int error = hand_over(ring);
  if (error) return error;
  do {
    const unsigned missing = wait > ring->ready ? wait - ring->ready : 0;
    const int count =
        sys(io_getevents)(ring->context, (long)missing, (long)(base->depth - ring->ready), ring->events + ring->ready, NULL);
    if (count < 0 && errno != EINTR) return -errno;
    ring->ready += count > 0 ? (unsigned)count : 0;
  } while (ring->ready < wait);
  return 0;
}

static unsigned aio_reap(struct os_ring *base, struct os_ring_completion *out, unsigned max) {
  struct kernel_aio *ring = own(base);
  unsigned count = 0;
  for (; count < max && ring->ready > 0; count++, ring->first++, ring->ready--) {
    const struct io_event *event = &ring->events[ring->first];
    out[count] = (struct os_ring_completion){.tag = event->data, .result = (int32_t)event->res};
    ring->free[ring->free_count++] = (struct iocb *)(uintptr_t)event->obj;
  }
  return count;
}

static const struct ring_engine engine = {.close = aio_close, .queue = aio_queue, .submit = aio_submit, .reap = aio_reap};

static int make_room(struct kernel_aio *ring, unsigned depth) {
  ring->blocks = calloc(depth, sizeof *ring->blocks);
  ring->queue = calloc(depth, sizeof *ring->queue);
  ring->free = calloc(depth, sizeof *ring->free);
  ring->events = calloc(depth, sizeof *ring->events);
  if (!ring->blocks || !ring->queue || !ring->free || !ring->events) return -ENOMEM;
  for (unsigned i = 0; i < depth; i++) ring->free[i] = &ring->blocks[depth - 1 - i];
  ring->free_count = depth;
  return 0;
}

int kernel_aio_open(unsigned depth, struct os_ring **out) {
  struct kernel_aio *ring = calloc(1, sizeof *ring);
  if (!ring) return -ENOMEM;
  ring->base.engine = &engine;
  int error = make_room(ring, depth);
  if (!error) error = call_result(sys(io_setup)(depth, &ring->context));
  if (error)
    release(ring);
  else
    *out = &ring->base;
  return error;
}
