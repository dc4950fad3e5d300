/*
 * overlap_pool.c - threads of our own that make plain calls: asynchronous for the reader, not for the system.
 *
 * Requests go through one queue, and whichever thread is free takes the next. How a thread is told that there is one, and
 * how the reader is told that a block is there, is the choice that is compared: the same gates, by five means (os.h).
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "overlap.h"

#define TRANSFER_MAX ((size_t)1 << 30)
#define QUEUE_SIZE 64u  /* more than ever wait, and a power of two, so that numbers may wrap around */
#define REST UINT32_MAX /* an entry of the queue: go to rest */

_Static_assert(QUEUE_SIZE > OVERLAP_SLOTS_MAX && (QUEUE_SIZE & (QUEUE_SIZE - 1)) == 0, "no entry is overwritten");

struct overlap_pool {
  struct overlap *owner;
  struct os_thread *threads[OVERLAP_DEPTH_MAX];
  unsigned thread_count;
  struct os_gate *asked;                   /* one for each entry of the queue */
  struct os_gate *told[OVERLAP_SLOTS_MAX]; /* the slot's transfer is over */
  struct os_gate *roused, *rested;         /* always such as sleep: a thread at rest takes no CPU */
  unsigned queue[QUEUE_SIZE];              /* slots */
  unsigned last;                           /* entries made so far */
  atomic_uint first;                       /* entries taken so far */
  bool awake, quits;
};

/* ---- a thread ------------------------------------------------------------------------------------------------------ */

/* The entry number is taken after the gate, so as many entries as were taken have been made before. */
static unsigned next_entry(struct overlap_pool *pool) {
  os_gate_take(pool->asked);
  return pool->queue[atomic_fetch_add(&pool->first, 1) % QUEUE_SIZE];
}

static void transfer(const struct overlap_pool *pool, unsigned number) {
  struct overlap_slot *slot = &pool->owner->slots[number];
  const size_t left = slot->length - slot->done;
  slot->result = os_pread(pool->owner->file, slot->data + slot->done, left < TRANSFER_MAX ? left : TRANSFER_MAX,
                          slot->offset + slot->done);
  os_gate_give(pool->told[number]);
}

static void *work(void *context) {
  struct overlap_pool *pool = context;
  for (;;) {
    os_gate_take(pool->roused);
    if (pool->quits) return NULL;
    for (unsigned number; (number = next_entry(pool)) != REST;) transfer(pool, number);
    os_gate_give(pool->rested);
  }
}

/* ---- the reader ---------------------------------------------------------------------------------------------------- */

static void ask(struct overlap_pool *pool, unsigned entry) {
  pool->queue[pool->last++ % QUEUE_SIZE] = entry;
  os_gate_give(pool->asked);
}

static void rouse(struct overlap_pool *pool) {
  for (unsigned i = 0; i < pool->thread_count; i++) os_gate_give(pool->roused);
  pool->awake = true;
}

static void rest(struct overlap_pool *pool) {
  if (!pool->awake) return;
  for (unsigned i = 0; i < pool->thread_count; i++) ask(pool, REST);
  for (unsigned i = 0; i < pool->thread_count; i++) os_gate_take(pool->rested);
  pool->awake = false;
}

static int open_gates(struct overlap_pool *pool, enum os_gate_kind kind) {
  int error = os_gate_open(OS_GATE_ATOMIC, &pool->roused);
  if (!error) error = os_gate_open(OS_GATE_ATOMIC, &pool->rested);
  if (!error) error = os_gate_open(kind, &pool->asked);
  for (unsigned i = 0; i <= pool->owner->options.depth && !error; i++) error = os_gate_open(kind, &pool->told[i]);
  return error;
}

static void close_pool(struct overlap *o) {
  struct overlap_pool *pool = o->pool;
  if (!pool) return;
  rest(pool);
  pool->quits = true;
  for (unsigned i = 0; i < pool->thread_count; i++) os_gate_give(pool->roused);
  for (unsigned i = 0; i < pool->thread_count; i++) (void)os_thread_join(pool->threads[i]);
  for (unsigned i = 0; i < OVERLAP_SLOTS_MAX; i++) os_gate_close(pool->told[i]);
  os_gate_close(pool->asked);
  os_gate_close(pool->rested);
  os_gate_close(pool->roused);
  free(pool);
  o->pool = NULL;
}

/* Threads that spin while they wait would take CPUs from all that is not timed. */
static bool spins(const struct overlap *o) { return o->options.gate == OS_GATE_SPIN; }

static int open_pool(struct overlap *o) {
  struct overlap_pool *pool = o->pool = calloc(1, sizeof *pool);
  if (!pool) return -ENOMEM;
  pool->owner = o;
  int error = open_gates(pool, o->options.gate);
  while (!error && pool->thread_count < o->options.depth) {
    error = os_thread_start(work, pool, &pool->threads[pool->thread_count]);
    pool->thread_count += error == 0;
  }
  if (error)
    close_pool(o);
  else if (!spins(o))
    rouse(pool);
  return error;
}

static void rouse_spinning(struct overlap *o) {
  if (spins(o)) rouse(o->pool);
}
static void settle_spinning(struct overlap *o) {
  if (spins(o)) rest(o->pool);
}

static int begin(struct overlap *o, unsigned number) {
  o->slots[number].out = true;
  ask(o->pool, number);
  return 0;
}

static int await(struct overlap *o, unsigned number) {
  os_gate_take(o->pool->told[number]);
  o->slots[number].out = false;
  return 0;
}

const struct overlap_engine overlap_thread = {.doing = "starting threads",
                                              .remedy = "raise the limit on processes (ulimit -u), or use less depth",
                                              .open = open_pool,
                                              .close = close_pool,
                                              .rouse = rouse_spinning,
                                              .settle = settle_spinning,
                                              .begin = begin,
                                              .await = await};
