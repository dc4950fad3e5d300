/*
 * transfer.h - methods that move one request at a time by a call on a descriptor, through the page cache.
 *
 * A family brings its calls as a struct transfer_way and gets the rest from here: opening, the loops, going on after short
 * counts, flushing. The way is a constant of the run function that hands it over, so the compiler folds it into the loop.
 */
#ifndef WEIR_TRANSFER_H
#define WEIR_TRANSFER_H

#include "landing.h"
#include "methods.h"
#include "target.h"

#define TRANSFER_PIECES_MAX 64u

struct transfer {
  struct landing landing;
  os_file file;
  enum os_advice hint;
  enum methods_flush flush;
  enum target_extend extend;
  unsigned pieces, flags; /* of vector.c and dontcache.c */
};

/* One call; it may transfer less. Those that work at the current position ignore `offset`. */
typedef int64_t transfer_call(const struct transfer *t, unsigned char *data, size_t length, uint64_t offset);
struct transfer_way {
  bool positional; /* the call says where; else random requests are sought first */
  transfer_call *read, *write;
};

/* Parameters: these come first, in this order; a family's own follow. */
enum { TRANSFER_BLOCK, TRANSFER_BUFFER, TRANSFER_HINT, TRANSFER_READER_OWN };
enum { TRANSFER_FLUSH = 2, TRANSFER_EXTEND, TRANSFER_WRITER_OWN };
enum { TRANSFER_MIXED_FLUSH = 1 };
/* `tried` are the block sizes that a group tries. */
#define TRANSFER_READER_PARAMS(tried)                                                                            \
  [TRANSFER_BLOCK] = LANDING_PARAM_BLOCK(tried), [TRANSFER_BUFFER] = LANDING_PARAM_BUFFER(LANDING_BUFFER_SWEEP), \
  [TRANSFER_HINT] = METHODS_PARAM_HINT
#define TRANSFER_WRITER_PARAMS(tried, ways)                                                                      \
  [TRANSFER_BLOCK] = LANDING_PARAM_BLOCK(tried), [TRANSFER_BUFFER] = LANDING_PARAM_BUFFER(LANDING_BUFFER_SWEEP), \
  [TRANSFER_FLUSH] = METHODS_PARAM_FLUSH, [TRANSFER_EXTEND] = METHODS_PARAM_EXTEND(ways)
#define TRANSFER_MIXED_PARAMS(tried) \
  [TRANSFER_BLOCK] = LANDING_PARAM_BLOCK(tried), [TRANSFER_MIXED_FLUSH] = METHODS_PARAM_FLUSH

int transfer_setup_reader(void *state, const struct weir_job *job);
int transfer_setup_writer(void *state, const struct weir_job *job);
int transfer_setup_mixer(void *state, const struct weir_job *job);
int transfer_probe_writer(const struct weir_job *job, struct weir_reason *reason);
/* A real transfer in the job's direction with these flags (enum os_transfer_flag). */
int transfer_probe_flags(const struct weir_job *job, unsigned flags, const char *remedy, struct weir_reason *reason);
int transfer_open(void *state, const struct weir_job *job);
int transfer_sync(void *state, const struct weir_job *job);
int transfer_close(void *state, const struct weir_job *job);
void transfer_teardown(void *state, const struct weir_job *job);

#define TRANSFER_READER                                                                                              \
  METHODS_ABI, METHODS_READS, .tasks = METHODS_BOTH_TASKS, .accesses = METHODS_BOTH_ACCESSES,                        \
                              .state_size = sizeof(struct transfer), .open = transfer_open, .close = transfer_close, \
                              .teardown = transfer_teardown
#define TRANSFER_WRITER                                                                                             \
  METHODS_ABI, METHODS_WRITES, .tasks = METHODS_BOTH_TASKS, .accesses = METHODS_BOTH_ACCESSES,                      \
                               .state_size = sizeof(struct transfer), .open = transfer_open, .sync = transfer_sync, \
                               .close = transfer_close, .teardown = transfer_teardown
#define TRANSFER_MIXER                                                                                  \
  METHODS_ABI, METHODS_MIXES, .accesses = METHODS_BOTH_ACCESSES, .state_size = sizeof(struct transfer), \
                              .open = transfer_open, .sync = transfer_sync, .close = transfer_close,    \
                              .teardown = transfer_teardown

/* ---- the loops, and what they rarely need -------------------------------------------------------------------------- */

int transfer_seek(const struct transfer *t, const struct weir_job *job, uint64_t offset);
int transfer_flush(const struct transfer *t, const struct weir_job *job, struct landing_piece piece);
/* The rest of a piece whose first call gave `count`. */
int transfer_read_on(const struct transfer *t, const struct weir_job *job, struct landing_piece piece, int64_t count,
                     transfer_call *call);
int transfer_write_on(const struct transfer *t, const struct weir_job *job, struct landing_piece piece, int64_t count,
                      transfer_call *call);

/* Each write is flushed by a call of its own. */
static inline bool transfer_flushes_each(const struct transfer *t, const struct weir_job *job) {
  return job->durability == WEIR_DURABILITY_EACH && t->flush == METHODS_FLUSH_DATASYNC;
}

/* Compilers would rather keep one copy and call through the pointers, which is slower than the loop itself. */
#define TRANSFER_FOLDED static inline __attribute__((always_inline))

/* A new descriptor stands at 0; an instance that works in order on a later partition has to move it. */
TRANSFER_FOLDED int transfer_start(const struct transfer *t, const struct weir_job *job, struct transfer_way way) {
  const bool elsewhere = !way.positional && job->access == WEIR_SEQUENTIAL && job->part_offset > 0;
  return elsewhere ? transfer_seek(t, job, job->part_offset) : 0;
}

TRANSFER_FOLDED int transfer_read_piece(const struct transfer *t, const struct weir_job *job, struct landing_piece piece,
                                        struct transfer_way way) {
  const int64_t count = way.read(t, piece.data, piece.length, piece.offset);
  return count == (int64_t)piece.length ? 0 : transfer_read_on(t, job, piece, count, way.read);
}

TRANSFER_FOLDED int transfer_write_piece(const struct transfer *t, const struct weir_job *job, struct landing_piece piece,
                                         struct transfer_way way) {
  const int64_t count = way.write(t, piece.data, piece.length, piece.offset);
  return count == (int64_t)piece.length ? 0 : transfer_write_on(t, job, piece, count, way.write);
}

TRANSFER_FOLDED int transfer_read(const struct transfer *t, const struct weir_job *job, struct weir_flow *flow,
                                  uint64_t budget, struct transfer_way way) {
  const bool seek_each = !way.positional && job->access == WEIR_RANDOM;
  const uint64_t count = landing_count(job, budget);
  uint64_t done = 0;
  int error = transfer_start(t, job, way);
  if (error) return error;
  for (; done < count && !weir_stopped(flow); done++) {
    const uint64_t began = weir_operation_begin(flow);
    const struct landing_piece piece = landing_piece(&t->landing, job, done, 0);
    if (seek_each) error = transfer_seek(t, job, piece.offset);
    if (!error) error = transfer_read_piece(t, job, piece, way);
    if (error) return error;
    landing_deliver(&t->landing, flow, piece);
    weir_operation_end(flow, began);
  }
  landing_deliver_rest(&t->landing, job, flow, done);
  return 0;
}

TRANSFER_FOLDED int transfer_write(const struct transfer *t, const struct weir_job *job, struct weir_flow *flow,
                                   uint64_t budget, struct transfer_way way) {
  const bool seek_each = !way.positional && job->access == WEIR_RANDOM, flush_each = transfer_flushes_each(t, job);
  const uint64_t count = landing_count(job, budget);
  uint64_t done = 0;
  int error = transfer_start(t, job, way);
  if (error) return error;
  landing_supply_all(&t->landing, job, flow, count);
  for (; done < count && !weir_stopped(flow); done++) {
    const struct landing_piece piece = landing_piece(&t->landing, job, done, 0);
    landing_supply(&t->landing, flow, piece);
    const uint64_t began = weir_operation_begin(flow);
    if (seek_each) error = transfer_seek(t, job, piece.offset);
    if (!error) error = transfer_write_piece(t, job, piece, way);
    if (!error && flush_each) error = transfer_flush(t, job, piece);
    if (error) return error;
    weir_operation_end(flow, began);
  }
  landing_settle(&t->landing, job, flow, count, done);
  return 0;
}

/* Positional ways only. */
TRANSFER_FOLDED int transfer_mix(const struct transfer *t, const struct weir_job *job, struct weir_flow *flow,
                                 uint64_t budget, struct transfer_way way) {
  const bool flush_each = transfer_flushes_each(t, job);
  const uint64_t count = landing_count(job, budget);
  for (uint64_t done = 0; done < count && !weir_stopped(flow); done++) {
    const struct landing_piece piece = landing_piece(&t->landing, job, done, 0);
    const bool writes = weir_order_writes(job, piece.offset);
    if (writes) landing_supply(&t->landing, flow, piece);
    const uint64_t began = weir_operation_begin(flow);
    int error = writes ? transfer_write_piece(t, job, piece, way) : transfer_read_piece(t, job, piece, way);
    if (!error && writes && flush_each) error = transfer_flush(t, job, piece);
    if (error) return error;
    if (!writes) landing_deliver(&t->landing, flow, piece);
    weir_operation_end(flow, began);
  }
  return 0;
}

#endif
