/*
 * library.c - what libweir does in uses for which the program has no task: lines, packed records, counted lines. The same
 * files and the same bytes delivered as by the peers in hand.c: each line with its newline, each field with its length.
 */
#include <errno.h>
#include <stdio.h>

#include "passes.h"
#include "weir.h"

/* ---- lines --------------------------------------------------------------------------------------------------------- */

/* A mapping saves the copy of each byte; who asks for it knows that nobody cuts the file short meanwhile. */
static const char mapped[] = "mapped";
static enum weir_strategy strategy_of(const struct weir_job *job) { return job->data == mapped ? WEIR_MAPPED : WEIR_AUTO; }

/* Files of peers end in a newline and have no CR, so the byte behind a slice is its newline. Bytes that nobody looks at are
 * counted for all lines together: what a batch takes from one end to the other. */
static void deliver_batch(struct passes *pieces, const struct weir_batch *batch) {
  const struct weir_batch found = *batch; /* nobody else knows this one: it stays in registers */
  if (!pieces->unseen) {
    for (size_t i = 0; i < found.count; i++) {
      const struct weir_slice line = weir_batch_line(&found, i);
      passes_deliver(pieces, line.data, line.size + 1);
    }
    return;
  }
  for (size_t i = 0; i < found.count; i++) {
    const struct weir_slice line = weir_batch_line(&found, i);
    passes_ignore(line.data, line.size);
  }
  pieces->offset += (size_t)found.ends[found.count - 1] + found.gap - found.begin;
}

static int run_batch(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  const struct weir_lines_options options = {.strategy = strategy_of(job)};
  const uint64_t limit = passes_limit(job, budget);
  struct passes pieces = passes_begin(flow);
  struct weir_lines lines;
  struct weir_batch batch;
  (void)state;
  int code = weir_lines_open(&lines, job->path, &options, NULL);
  if (code < 0) return code;
  while (pieces.offset < limit && (code = weir_lines_batch(&lines, &batch)) > 0) deliver_batch(&pieces, &batch);
  passes_end(&pieces);
  const int closed = weir_lines_close(&lines, NULL);
  return passes_done(job, flow, budget, code < 0 ? code : closed);
}

static int run_next(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  const struct weir_lines_options options = {.strategy = strategy_of(job)};
  const uint64_t limit = passes_limit(job, budget);
  struct passes pieces = passes_begin(flow);
  struct weir_lines lines;
  struct weir_slice line;
  (void)state;
  int code = weir_lines_open(&lines, job->path, &options, NULL);
  if (code < 0) return code;
  if (pieces.unseen && limit == job->part_length) { /* no more than a program does that reads all lines */
    while (weir_lines_next(&lines, &line) > 0) {
      passes_ignore(line.data, line.size);
      pieces.offset += line.size + 1;
    }
  }
  while (pieces.offset < limit && weir_lines_next(&lines, &line) > 0) passes_deliver(&pieces, line.data, line.size + 1);
  passes_end(&pieces);
  code = weir_lines_close(&lines, NULL);
  return passes_done(job, flow, budget, code);
}

/* ---- records ------------------------------------------------------------------------------------------------------- */

struct cursor {
  struct weir_records *records;
  struct passes pieces;
};

static void give(struct cursor *c, const void *data, size_t size) { passes_deliver(&c->pieces, data, size); }

/* The length in front of a field is not handed out: it is made again. */
static void give_varint(struct cursor *c, size_t value) {
  unsigned char bytes[10];
  size_t count = 0;
  for (; value > 0x7f; value >>= 7) bytes[count++] = (unsigned char)(value | 0x80);
  bytes[count++] = (unsigned char)value;
  give(c, bytes, count);
}

static void give_u32(struct cursor *c, size_t value) {
  const unsigned char bytes[4] = {(unsigned char)value, (unsigned char)(value >> 8), (unsigned char)(value >> 16),
                                  (unsigned char)(value >> 24)};
  give(c, bytes, 4);
}

static int next_record(struct cursor *c) {
  struct weir_slice field;
  int code = weir_records_field(c->records, WEIR_RECORD_VARINT, 0, &field);
  if (code <= 0) return code;
  give_varint(c, field.size);
  give(c, field.data, field.size);
  code = weir_records_field(c->records, WEIR_RECORD_U32LE, 0, &field);
  if (code <= 0) return code < 0 ? code : -EIO;
  give_u32(c, field.size);
  give(c, field.data, field.size);
  return 1;
}

static int run_records(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  const struct weir_record_format format = {.prefix = WEIR_RECORD_VARINT};
  const uint64_t limit = passes_limit(job, budget);
  struct cursor c = {.pieces = passes_begin(flow)};
  struct weir_slice count;
  (void)state;
  int code = weir_records_open(job->path, &format, &c.records, NULL);
  if (code < 0) return code;
  code = weir_records_field(c.records, WEIR_RECORD_FIXED, 4, &count);
  if (code > 0) give(&c, count.data, count.size);
  while (code > 0 && c.pieces.offset < limit) code = next_record(&c);
  passes_end(&c.pieces);
  const int closed = weir_records_close(c.records, NULL);
  return passes_done(job, flow, budget, code < 0 ? code : closed);
}

/* ---- the list ------------------------------------------------------------------------------------------------------ */

static const struct weir_method batch = {PASSES_WHOLE, .name = "library/lines-batch", .summary = "lines, a block at once",
                                         .calls = "weir_lines_batch(3)", .run = run_batch};
static const struct weir_method next = {PASSES_WHOLE, .name = "library/lines-next", .summary = "line by line",
                                        .calls = "weir_lines_next(3)", .run = run_next};
static const struct weir_method batch_mapped = {PASSES_WHOLE,
                                                .name = "library/lines-batch-mapped",
                                                .summary = "lines, a block at once, of a mapped file",
                                                .calls = "weir_lines_batch(3)",
                                                .run = run_batch,
                                                .data = mapped};
static const struct weir_method next_mapped = {PASSES_WHOLE,
                                               .name = "library/lines-next-mapped",
                                               .summary = "line by line, of a mapped file",
                                               .calls = "weir_lines_next(3)",
                                               .run = run_next,
                                               .data = mapped};
static const struct weir_method records = {PASSES_WHOLE, .name = "library/records", .summary = "packed records",
                                           .calls = "weir_records_field(3)", .run = run_records};

static const struct weir_method *const all[] = {&batch, &next, &batch_mapped, &next_mapped, &records, NULL};

weir_plugin_entry WEIR_PLUGIN_ENTRY; /* the same signature for all */
const struct weir_method *const *WEIR_PLUGIN_ENTRY(uint32_t abi) { return abi == WEIR_METHOD_ABI ? all : NULL; }
