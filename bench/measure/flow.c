/*
 * flow.c - consuming, hashing, comparing and making the data that pass the seam. Nothing here knows which method moves
 * them.
 */
#include "measure/flow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static void deliver_hash(struct weir_flow *flow, uint64_t offset, const void *data, size_t length) {
  flow->sum += XXH3_64bits_withSeed(data, length, offset);
}

/* Index of the first byte that differs from what a plain read of the file gives. */
static size_t reference_mismatch(struct flow_core *core, uint64_t offset, const unsigned char *data, size_t length) {
  for (size_t at = 0; at < length;) {
    size_t piece = length - at < FLOW_SPARE ? length - at : FLOW_SPARE;
    int64_t got = os_pread_full(core->reference, core->spare, piece, offset + at);
    if (got < 0) core->error = (int)got;
    if (got < 0) return length;
    size_t have = (size_t)got, i = 0;
    if (have == piece && memcmp(data + at, core->spare, piece) == 0) {
      at += piece;
      continue;
    }
    while (i < have && data[at + i] == core->spare[i]) i++;
    return at + i;
  }
  return length;
}

static void deliver_verify(struct weir_flow *flow, uint64_t offset, const void *data, size_t length) {
  struct flow_core *core = flow->core;
  size_t good = core->content ? content_mismatch(core->content, offset, data, length)
                              : reference_mismatch(core, offset, data, length);
  if (good < length && !core->bad) {
    core->bad = true;
    core->bad_offset = offset + good;
  }
  flow->sum += weir_touch(offset, data, length);
}

/* ---- streams ---- */

static void find_bad(struct flow_core *core, uint64_t place, bool item) {
  if (core->bad) return;
  core->bad = true;
  core->bad_item = item;
  core->bad_offset = place;
}

static void compare_stream(struct weir_flow *flow, uint64_t offset, const void *data, size_t length) {
  struct flow_core *core = flow->core;
  const struct reference *r = core->stream;
  const unsigned char *want = flow->units ? (const unsigned char *)r->units : r->data, *got = data;
  const uint64_t size = flow->units ? 2 * (uint64_t)r->unit_count : r->size;
  const size_t there = offset >= size ? 0 : size - offset < length ? (size_t)(size - offset) : length;
  size_t good = 0;
  if (there == length && length && memcmp(want + offset, got, length) == 0) good = length;
  while (good < there && want[offset + good] == got[good]) good++;
  if (good < length) find_bad(core, offset + good, false);
  flow->sum += weir_touch(offset, data, length);
}

static void hash_item(struct weir_flow *flow, const void *data, size_t length) {
  flow->sum += reference_hash_item(flow->items, data, length);
}

/* The sum is that of consumer touch, as for bytes. */
static void compare_item(struct weir_flow *flow, const void *data, size_t length) {
  struct flow_core *core = flow->core;
  const struct reference *r = core->stream;
  struct weir_flow again = {.mode = WEIR_CONSUMER_TOUCH, .items = flow->items - 1};
  const uint64_t index = flow->items - 1;
  const bool good = index < r->item_count && r->items[index].size == length &&
                    (length == 0 || memcmp(r->items[index].data, data, length) == 0);
  if (!good) find_bad(core, index, true);
  weir_item(&again, data, length);
  flow->sum += again.sum;
}

static void supply_content(struct weir_flow *flow, uint64_t offset, void *data, size_t length) {
  const struct flow_core *core = flow->core;
  content_fill(core->supplied, offset, data, length);
}

static void record_latency(struct weir_flow *flow, uint64_t elapsed_ns) {
  struct flow_core *core = flow->core;
  if (elapsed_ns > INT64_MAX) elapsed_ns = 0; /* the counter of another CPU lags by a hair */
  core->latency[histogram_slot(elapsed_ns)]++;
}

/* Sleeping is not exact: the rest is spent looking at the clock. */
#define PACE_SPIN_NS 200000u
#define PACE_SLEEP_NS 10000000u /* so that a stop is seen */

static uint64_t pace(struct weir_flow *flow) {
  struct flow_core *core = flow->core;
  uint64_t now = flow->clock();
  if (core->paced == 0) core->pace_start_ns = flow->due_ns = now;
  const uint64_t due = flow->due_ns;
  for (; now < due && !weir_stopped(flow); now = flow->clock()) {
    const uint64_t left = due - now;
    if (left > PACE_SPIN_NS) os_sleep_ns(left < PACE_SLEEP_NS ? left - PACE_SPIN_NS : PACE_SLEEP_NS);
  }
  flow->due_ns = core->pace_start_ns + (uint64_t)((double)++core->paced * core->period_ns);
  core->late += now >= flow->due_ns;
  return due;
}

int flow_init(struct weir_flow *flow, struct flow_core *core, const struct flow_setup *setup) {
  *core = (struct flow_core){.content = setup->content, .supplied = setup->supplied, .stream = setup->stream,
                             .reference = setup->reference};
  *flow = (struct weir_flow){.mode = setup->consumer, .stop = setup->stop, .supply = supply_content, .core = core};
  flow->deliver = setup->consumer == WEIR_CONSUMER_HASH ? deliver_hash : deliver_verify;
  flow->item = setup->consumer == WEIR_CONSUMER_HASH ? hash_item : compare_item;
  if (setup->stream && setup->consumer == WEIR_CONSUMER_VERIFY) flow->deliver = compare_stream;
  if (setup->latency) {
    core->latency = calloc(HISTOGRAM_SLOTS, sizeof *core->latency);
    if (!core->latency) return -ENOMEM;
    flow->clock = os_fast_clock_ns;
    flow->latency = record_latency;
    if (setup->rate_per_s > 0) core->period_ns = 1e9 / setup->rate_per_s;
    if (setup->rate_per_s > 0) flow->pace = pace;
  }
  if (setup->consumer != WEIR_CONSUMER_VERIFY || setup->direction != WEIR_READ || setup->content || setup->stream)
    return 0;
  core->spare = malloc(FLOW_SPARE);
  return core->spare ? 0 : -ENOMEM;
}

void flow_free(struct weir_flow *flow) {
  struct flow_core *core = flow->core;
  if (!core) return;
  free(core->spare);
  core->spare = NULL;
  free(core->latency);
  core->latency = NULL;
}

void flow_reset(struct weir_flow *flow) {
  flow->operations = flow->bytes = flow->sum = 0;
  flow->items = flow->units = flow->values = 0;
  flow->due_ns = ((struct flow_core *)flow->core)->paced = 0;
}
