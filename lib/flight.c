/*
 * flight.c - blocks in flight: several blocks of a stream are being read while the caller has one, by a ring or by threads.
 * Which block comes next and what to do when one fails is ahead.c's.
 *
 * Blocks are numbered as they are begun; block i goes to slot i modulo the number of slots, a power of two, so that the
 * numbers may wrap. `taken` <= block < `issued` are in flight or ready; the slot of block taken - 1 is the caller's.
 */
#include <stdlib.h>

#include "lib/ahead.h"
#include "lib/lock.h"

enum done { PENDING, READY, AWAITED /* the caller sleeps until it is ready */ };

/* Where the caller had to wait, twice as many are kept in flight; after so many rounds of never waiting, one less. */
#define CALM_ROUNDS 4u
#define FIRST_DISTANCE 2u
#define THREADS_MOST 64u

struct weir__flight {
  struct weir_stream *stream;
  unsigned depth, distance, calm;
  unsigned issued, taken;
  struct os_ring *ring; /* NULL: threads */
  unsigned in_ring;     /* queued and not yet reaped */
  struct os_thread **threads;
  unsigned thread_count;
  atomic_uint ticket; /* the next block that a thread takes */
  atomic_uint limit;  /* blocks below it may be begun */
  atomic_uint signal; /* changes with `limit` and `stop`: threads sleep on it */
  atomic_uint sleepers;
  atomic_uint stop;
};

static struct weir__slot *slot_of(const struct weir_stream *stream, unsigned block) {
  return &stream->slots[block & (stream->slot_count - 1)];
}

/* ---- threads ---- */

static bool below(unsigned ticket, unsigned limit) { return limit - ticket - 1 < 1u << 31; }

/* Sleeps until the block may be begun. False: it is over. */
static bool may_begin(struct weir__flight *flight, unsigned ticket) {
  for (;;) {
    const unsigned seen = atomic_load(&flight->signal);
    if (atomic_load(&flight->stop)) return false;
    if (below(ticket, atomic_load(&flight->limit))) return true;
    (void)atomic_fetch_add(&flight->sleepers, 1);
    os_wait_word(weir__plain(&flight->signal), seen);
    (void)atomic_fetch_sub(&flight->sleepers, 1);
  }
}

static void *work(void *context) {
  struct weir__flight *flight = context;
  const struct weir_stream *stream = flight->stream;
  for (;;) {
    const unsigned ticket = atomic_fetch_add(&flight->ticket, 1);
    if (!may_begin(flight, ticket)) return NULL;
    struct weir__slot *slot = slot_of(stream, ticket);
    weir__slot_read(stream, slot);
    if (atomic_exchange(&slot->done, READY) == AWAITED) os_wake_word(weir__plain(&slot->done));
  }
}

static void call_threads(struct weir__flight *flight) {
  (void)atomic_fetch_add(&flight->signal, 1);
  if (atomic_load(&flight->sleepers)) os_wake_word(weir__plain(&flight->signal));
}

/* True if it had to wait. */
static bool await_thread(struct weir__slot *slot) {
  unsigned seen = PENDING;
  if (atomic_load(&slot->done) == READY) return false;
  (void)atomic_compare_exchange_strong(&slot->done, &seen, AWAITED);
  while (atomic_load(&slot->done) != READY) os_wait_word(weir__plain(&slot->done), AWAITED);
  return true;
}

static int start_threads(struct weir__flight *flight, unsigned count) {
  if (count > THREADS_MOST) count = THREADS_MOST;
  flight->threads = calloc(count, sizeof *flight->threads);
  if (!flight->threads) return WEIR_ENOMEM;
  int error = 0;
  while (!error && flight->thread_count < count) {
    error = os_thread_start(work, flight, &flight->threads[flight->thread_count]);
    if (!error) flight->thread_count++;
  }
  return flight->thread_count ? 0 : error; /* one is enough to go on */
}

static void stop_threads(struct weir__flight *flight) {
  atomic_store(&flight->stop, 1);
  call_threads(flight);
  for (unsigned i = 0; i < flight->thread_count; i++) (void)os_thread_join(flight->threads[i]);
  free(flight->threads);
}

/* ---- ring ---- */

static void land(struct weir_stream *stream, const struct os_ring_completion *completion) {
  struct weir__slot *slot = &stream->slots[completion->tag];
  if (completion->result < 0)
    slot->error = completion->result;
  else
    slot->got = (size_t)completion->result;
  atomic_store(&slot->done, READY);
  stream->flight->in_ring--;
}

/* Hands over what is queued, waits until `wait` are back, and takes all that are. */
static int turn_ring(struct weir_stream *stream, unsigned wait) {
  struct os_ring_completion completions[16];
  struct weir__flight *flight = stream->flight;
  const int error = os_ring_submit(flight->ring, wait);
  unsigned count;
  do {
    count = os_ring_reap(flight->ring, completions, 16);
    for (unsigned i = 0; i < count; i++) land(stream, &completions[i]);
  } while (count == 16);
  return error;
}

/* What the ring does not take is read when it is wanted. */
static void queue_read(struct weir_stream *stream, struct weir__slot *slot) {
  const size_t most = (size_t)1 << 30; /* the rest is read as after any short transfer */
  const struct os_ring_request request = {.kind = OS_RING_READ,
                                          .file = stream->file,
                                          .uncached = (stream->transfer & OS_TRANSFER_UNCACHED) != 0,
                                          .buffer_index = -1,
                                          .data = slot->memory,
                                          .length = (uint32_t)(slot->want < most ? slot->want : most),
                                          .offset = slot->offset,
                                          .tag = (uint64_t)(slot - stream->slots)};
  slot->error = os_ring_queue(stream->flight->ring, &request);
  if (slot->error)
    atomic_store(&slot->done, READY);
  else
    stream->flight->in_ring++;
}

static int await_ring(struct weir_stream *stream, struct weir__slot *slot, bool *waited) {
  *waited = false;
  if (atomic_load(&slot->done) != READY) {
    const int error = turn_ring(stream, 0); /* it may be back without our having looked */
    if (error) return error;
  }
  while (atomic_load(&slot->done) != READY) {
    *waited = true;
    const int error = turn_ring(stream, 1);
    if (error) return error;
  }
  return 0;
}

/* ---- both ---- */

static void adapt(struct weir__flight *flight, bool waited) {
  if (waited) {
    flight->distance = flight->distance * 2 < flight->depth ? flight->distance * 2 : flight->depth;
    flight->calm = 0;
  } else if (flight->distance > 1 && ++flight->calm >= CALM_ROUNDS * flight->distance) {
    flight->distance--;
    flight->calm = 0;
  }
}

/* Where block `issued` begins; false if it is not to be read ahead. */
static bool next_position(const struct weir_stream *stream, uint64_t *position) {
  const struct weir__flight *flight = stream->flight;
  const uint64_t ahead = (uint64_t)(flight->issued - flight->taken) * stream->block;
  *position = stream->position + ahead;
  return flight->issued - flight->taken < flight->distance && *position < stream->known_end;
}

void weir__flight_go_on(struct weir_stream *stream) {
  struct weir__flight *flight = stream->flight;
  uint64_t position;
  const unsigned before = flight->issued;
  for (; next_position(stream, &position); flight->issued++) {
    struct weir__slot *slot = slot_of(stream, flight->issued);
    weir__slot_prepare(stream, slot, position);
    atomic_store(&slot->done, PENDING);
    if (flight->ring) queue_read(stream, slot);
  }
  if (flight->issued == before) return;
  if (flight->ring) {
    (void)turn_ring(stream, 0); /* a failure shows when a block is waited for */
  } else {
    atomic_store(&flight->limit, flight->issued);
    call_threads(flight);
  }
}

struct weir__slot *weir__flight_take(struct weir_stream *stream, int *error) {
  struct weir__flight *flight = stream->flight;
  *error = 0;
  if (flight->issued == flight->taken) weir__flight_go_on(stream);
  if (flight->issued == flight->taken) return NULL;
  struct weir__slot *slot = slot_of(stream, flight->taken);
  bool waited = false;
  if (flight->ring)
    *error = await_ring(stream, slot, &waited);
  else
    waited = await_thread(slot);
  if (*error) return NULL;
  adapt(flight, waited);
  flight->taken++;
  return slot;
}

unsigned weir__flight_threads(const struct weir_stream *stream) { return stream->flight ? stream->flight->thread_count : 0; }

static bool drain_ring(struct weir_stream *stream) {
  struct weir__flight *flight = stream->flight;
  int error = 0;
  while (flight->in_ring && !error) error = turn_ring(stream, 1);
  return flight->in_ring == 0;
}

bool weir__flight_close(struct weir_stream *stream) {
  struct weir__flight *flight = stream->flight;
  if (!flight) return true;
  bool landed = true;
  if (flight->ring) {
    landed = drain_ring(stream);
    os_ring_close(flight->ring);
  } else {
    stop_threads(flight);
  }
  free(flight);
  stream->flight = NULL;
  return landed;
}

int weir__flight_open(struct weir_stream *stream, bool ring, unsigned depth, unsigned threads) {
  struct weir__flight *flight = calloc(1, sizeof *flight);
  if (!flight) return WEIR_ENOMEM;
  flight->stream = stream;
  flight->depth = depth;
  flight->distance = depth < FIRST_DISTANCE ? depth : FIRST_DISTANCE;
  const int error = ring ? os_ring_open_movable(depth, &flight->ring) : start_threads(flight, threads);
  if (error) {
    free(flight->threads);
    free(flight);
    return error;
  }
  stream->flight = flight;
  return 0;
}
