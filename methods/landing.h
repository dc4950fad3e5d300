/*
 * landing.h - where the bytes of an operation go.
 *
 * Task `blocks`: every request goes through the same block buffer (or, with a queue, through one of `slots` of them) and is
 * delivered from there by itself. Task `whole`: every request has its own place in one buffer that holds the partition, and
 * the buffer is delivered once, at the end. Writers the other way round: blocks are supplied one by one, a whole buffer once
 * before its first request.
 *
 * Life: landing_setup in setup, landing_open in open, landing_close in close, landing_teardown in teardown. A buffer that is
 * `reused` lives from setup to teardown; a `fresh` or `huge` one from open to close, so that its cost is timed.
 */
#ifndef WEIR_LANDING_H
#define WEIR_LANDING_H

#include "weir/method.h"

/* A single request stays below the largest transfer that systems do in one call. */
#define LANDING_BLOCK_MAX (UINT64_C(1) << 30)

/* `tried` is what a group tries when the user names nothing; NULL: the preset alone. */
#define LANDING_PARAM_BLOCK(tried)                                                                                      \
  {                                                                                                                     \
    .name = "block", .kind = WEIR_PARAM_SIZE, .preset = "128KiB", .sweep = (tried), .min = 1, .max = LANDING_BLOCK_MAX, \
    WEIR_PARAM_EVERYWHERE, .help = "bytes a request"                                                                    \
  }
#define LANDING_BLOCK_SWEEP "128KiB|1MiB"

/* The values are those of enum weir_buffer_policy. `tried` is what a group tries when the user names nothing. */
#define LANDING_PARAM_BUFFER(tried)                                                                                    \
  {                                                                                                                    \
    .name = "buffer", .kind = WEIR_PARAM_CHOICE, .preset = "reused", .sweep = (tried), .choices = "fresh|reused|huge", \
    .tasks = WEIR_BIT(WEIR_TASK_WHOLE), .accesses = WEIR_ANY, .durabilities = WEIR_ANY,                                \
    .help = "memory for the whole file: new each time, used before, or new in huge pages"                              \
  }
#define LANDING_BUFFER_SWEEP "fresh|reused|huge"

struct landing {
  unsigned char *data; /* NULL while there is none */
  size_t size;
  size_t stride; /* blocks: from one slot to the next */
  size_t alignment;
  bool whole;
  enum weir_buffer_policy policy;
};

struct landing_wish {
  enum weir_buffer_policy policy; /* of a whole buffer; block buffers are always reused */
  size_t alignment;               /* of addresses and lengths, a power of two; 0: no wish */
  unsigned slots;                 /* block buffers; 0 counts as 1 */
};

int landing_setup(struct landing *landing, const struct weir_job *job, const struct landing_wish *wish);
int landing_open(struct landing *landing, const struct weir_job *job);
void landing_close(struct landing *landing, const struct weir_job *job);
void landing_teardown(struct landing *landing, const struct weir_job *job);

/* ---- inside run ---------------------------------------------------------------------------------------------------- */

struct landing_piece {
  uint64_t offset;
  size_t length;
  unsigned char *data;
};

static inline uint64_t landing_count(const struct weir_job *job, uint64_t budget) {
  return budget < job->operations ? budget : job->operations;
}

/* Operation `index`: its place in the file and in memory. */
static inline struct landing_piece landing_piece(const struct landing *landing, const struct weir_job *job, uint64_t index,
                                                 unsigned slot) {
  const uint64_t offset = weir_order_offset(job, index);
  const size_t place = landing->whole ? (size_t)(offset - job->part_offset) : slot * landing->stride;
  return (struct landing_piece){offset, weir_order_length(job, offset), landing->data + place};
}

/* Bytes of the first `count` requests of a sequential partition. */
static inline size_t landing_prefix(const struct weir_job *job, uint64_t count) {
  return (size_t)(count < job->blocks ? count * job->block : job->part_length);
}

/* Readers, after each operation and after the last. */
static inline void landing_deliver(const struct landing *landing, struct weir_flow *flow, struct landing_piece piece) {
  if (!landing->whole) weir_deliver(flow, piece.offset, piece.data, piece.length);
}
static inline void landing_deliver_rest(const struct landing *landing, const struct weir_job *job, struct weir_flow *flow,
                                        uint64_t done) {
  if (landing->whole && done > 0) weir_deliver(flow, job->part_offset, landing->data, landing_prefix(job, done));
}

/* Writers, before the first operation and before each. */
static inline void landing_supply_all(const struct landing *landing, const struct weir_job *job, struct weir_flow *flow,
                                      uint64_t count) {
  if (landing->whole && count > 0) weir_supply(flow, job->part_offset, landing->data, landing_prefix(job, count));
}
static inline void landing_supply(const struct landing *landing, struct weir_flow *flow, struct landing_piece piece) {
  if (!landing->whole) weir_supply(flow, piece.offset, piece.data, piece.length);
}
/* What was supplied ahead but never written because the run was stopped does not count. */
static inline void landing_settle(const struct landing *landing, const struct weir_job *job, struct weir_flow *flow,
                                  uint64_t count, uint64_t done) {
  if (landing->whole) flow->bytes -= landing_prefix(job, count) - landing_prefix(job, done);
}

#endif
