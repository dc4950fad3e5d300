/*
 * overlap_engines.c - who works through the requests of a file that is read ahead: io_uring, POSIX AIO, or nobody. Threads
 * of our own are in overlap_pool.c.
 */
#include <errno.h>

#include "overlap.h"

#define TRANSFER_MAX ((size_t)1 << 30)
#define SUBMITS_MAX 50u /* in a row that brought nothing; os.h waits a tenth of a second in each */
#define SUBMIT_PAUSE_NS 1000000u
/* The system frees a closed ring a little later, and until then its memory counts against the user's limit. */
#define MEMORY_TRIES 10u
#define MEMORY_PAUSE_NS 1000000u

static size_t share(const struct overlap_slot *slot) {
  const size_t left = slot->length - slot->done;
  return left < TRANSFER_MAX ? left : TRANSFER_MAX;
}

/* ---- rings --------------------------------------------------------------------------------------------------------- */

static int open_ring(struct overlap *o, enum os_ring_engine engine) {
  int error = -ENOMEM;
  for (unsigned tries = 0; error == -ENOMEM && tries < MEMORY_TRIES; tries++) {
    if (tries > 0) os_sleep_ns(MEMORY_PAUSE_NS);
    error = os_ring_open_engine(engine, o->options.depth, &o->ring);
  }
  return error;
}
static int open_shared(struct overlap *o) { return open_ring(o, OS_RING_SHARED); }
static int open_posix(struct overlap *o) { return open_ring(o, OS_RING_THREADS); }
static void close_ring(struct overlap *o) { os_ring_close(o->ring); }

static int can_ring(struct weir_reason *reason) {
  int error = -ENOMEM;
  for (unsigned tries = 0; error == -ENOMEM && tries < MEMORY_TRIES; tries++) {
    if (tries > 0) os_sleep_ns(MEMORY_PAUSE_NS);
    error = os_ring_probe(reason->text, sizeof reason->text, reason->remedy, sizeof reason->remedy);
  }
  if (!error || reason->remedy[0]) return error;
  return target_unavailable(reason, error, "a ring cannot be set up here", "use overlap/thread");
}

/*
 * Handed over at once: it is to be under way while the block before is in use. io_uring copies what lies in the page cache
 * within this call, so nothing overlaps where everything does. What is refused now goes with the wait.
 */
static int begin_ring(struct overlap *o, unsigned number) {
  struct overlap_slot *slot = &o->slots[number];
  const struct os_ring_request request = {.kind = OS_RING_READ,
                                          .file = o->file,
                                          .buffer_index = -1,
                                          .data = slot->data + slot->done,
                                          .length = (uint32_t)share(slot),
                                          .offset = slot->offset + slot->done,
                                          .tag = number};
  const int error = os_ring_queue(o->ring, &request);
  if (error) return error;
  slot->out = true;
  (void)os_ring_submit(o->ring, 0);
  return 0;
}

static unsigned take_in(struct overlap *o) {
  struct os_ring_completion told[OVERLAP_DEPTH_MAX];
  const unsigned count = os_ring_reap(o->ring, told, OVERLAP_DEPTH_MAX);
  for (unsigned i = 0; i < count; i++) {
    struct overlap_slot *slot = &o->slots[told[i].tag];
    slot->result = told[i].result;
    slot->out = false;
  }
  return count;
}

/* A ring that refuses for good is given up. */
static int await_ring(struct overlap *o, unsigned number) {
  for (unsigned idle = 0; o->slots[number].out;) {
    const int error = take_in(o) > 0 ? 0 : os_ring_submit(o->ring, 1);
    if (!error) {
      idle = 0;
      continue;
    }
    if (++idle == SUBMITS_MAX) {
      o->lost = true;
      return error;
    }
    os_sleep_ns(SUBMIT_PAUSE_NS);
  }
  return 0;
}

const struct overlap_engine overlap_ring = {.doing = "opening a ring",
                                            .remedy = "raise the limit on locked memory (ulimit -l), or use overlap/thread",
                                            .can = can_ring,
                                            .open = open_shared,
                                            .close = close_ring,
                                            .begin = begin_ring,
                                            .await = await_ring};

const struct overlap_engine overlap_aio = {.doing = "preparing POSIX AIO",
                                           .remedy = "use overlap/thread",
                                           .open = open_posix,
                                           .close = close_ring,
                                           .begin = begin_ring,
                                           .await = await_ring};

/* ---- plain calls --------------------------------------------------------------------------------------------------- */

static int open_nothing(struct overlap *o) { return 0; }
static void close_nothing(struct overlap *o) {}

static int begin_call(struct overlap *o, unsigned number) {
  o->slots[number].out = true;
  return 0;
}
static int await_call(struct overlap *o, unsigned number) {
  struct overlap_slot *slot = &o->slots[number];
  slot->result = os_pread(o->file, slot->data + slot->done, share(slot), slot->offset + slot->done);
  slot->out = false;
  return 0;
}

const struct overlap_engine overlap_calls = {
    .doing = "", .remedy = "", .open = open_nothing, .close = close_nothing, .begin = begin_call, .await = await_call};
