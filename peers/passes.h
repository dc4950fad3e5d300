/*
 * passes.h - what the peers that take a file as a whole share: how much of it a pass delivers, and how its pieces are handed
 * over and counted.
 */
#ifndef WEIR_PEERS_PASSES_H
#define WEIR_PEERS_PASSES_H

#include "weir/method.h"

/* Bytes that a pass delivers: all, or about as many as the budget says in the short pass before the window. */
static inline uint64_t passes_limit(const struct weir_job *job, uint64_t budget) {
  return budget < job->operations ? budget * job->block : job->part_length;
}

/* One call stands for all requests. */
static inline int passes_done(const struct weir_job *job, struct weir_flow *flow, uint64_t budget, int code) {
  if (code == 0) flow->operations = budget < job->operations ? budget : job->operations;
  return code;
}

/* Pieces in order, some of a few bytes only. */
struct passes {
  struct weir_flow *flow;
  uint64_t offset;
  bool unseen; /* nobody looks at the bytes; here, so that it stays in a register */
};

static inline struct passes passes_begin(struct weir_flow *flow) {
  struct passes begun = {flow, 0, flow->mode == WEIR_CONSUMER_NONE};
  return begun;
}

/* Pointer and length of a piece are there as if somebody used them. */
static inline void passes_ignore(const void *data, size_t length) { __asm__ volatile("" : : "r"(data), "r"(length)); }

/*
 * weir_deliver for them. Where nobody looks at the bytes it costs one addition, in a register and not in the flow: a store
 * for each piece would be most of the time of pieces of 8 bytes.
 */
static inline void passes_deliver(struct passes *p, const void *data, size_t length) {
  if (__builtin_expect(p->unseen, 1))
    passes_ignore(data, length);
  else
    weir_deliver(p->flow, p->offset, data, length);
  p->offset += length;
}

static inline void passes_end(const struct passes *p) {
  if (p->unseen) p->flow->bytes += p->offset;
}

#define PASSES_METHOD                                                                                   \
  .abi = WEIR_METHOD_ABI, .struct_size = sizeof(struct weir_method), .directions = WEIR_BIT(WEIR_READ), \
  .accesses = WEIR_BIT(WEIR_SEQUENTIAL), .durabilities = WEIR_BIT(WEIR_DURABILITY_NONE)
#define PASSES_WHOLE PASSES_METHOD, .tasks = WEIR_BIT(WEIR_TASK_WHOLE), .state_size = 1

#endif
