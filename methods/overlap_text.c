/*
 * overlap_text.c - study B's asynchronous readers: a request is awaited, then its bytes are decoded to UTF-16. Nothing is
 * read meanwhile; what is shown is the price of waiting through an engine, by the system itself or by threads that stand in
 * for it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode.h"
#include "overlap.h"

#define ROOM_FIRST ((size_t)4096) /* units, as many as the usual block has bytes */

struct units {
  uint16_t *data;
  size_t count, room;
};

struct overlap_text {
  struct overlap blocks;
  struct decode decode;
  struct units text;  /* what is delivered */
  struct units block; /* lines: a block, decoded */
  struct units line;  /* lines: what there is of the current one */
};

enum { TEXT_ENGINE, TEXT_BLOCK };

/* ---- units --------------------------------------------------------------------------------------------------------- */

/* Room for `more` units behind those that are there; it doubles, so that appending takes linear time. */
static int make_room(struct units *units, size_t more) {
  size_t room = units->room ? units->room : ROOM_FIRST;
  if (more > SIZE_MAX / 4 - units->count) return -ENOMEM;
  while (room < units->count + more) room *= 2;
  if (room == units->room) return 0;
  uint16_t *grown = realloc(units->data, room * sizeof *grown);
  if (!grown) return -ENOMEM;
  units->data = grown;
  units->room = room;
  return 0;
}

static int append(struct units *units, const uint16_t *data, size_t count) {
  const int error = make_room(units, count);
  if (error) return error;
  if (count > 0) memcpy(units->data + units->count, data, count * sizeof *data);
  units->count += count;
  return 0;
}

static int append_decoded(struct units *units, struct decode *decode, const void *data, size_t length) {
  const int error = make_room(units, decode_room(length));
  if (error) return error;
  units->count += decode_units(decode, data, length, units->data + units->count);
  return 0;
}

static int append_decoded_end(struct units *units, struct decode *decode) {
  const int error = make_room(units, 1);
  if (error) return error;
  units->count += decode_end(decode, units->data + units->count);
  return 0;
}

/* All that is there is given up. */
static void release(struct units *units) {
  free(units->data);
  *units = (struct units){.data = NULL};
}

/* ---- what becomes of a block, and what is done at the end ---------------------------------------------------------- */

/* How a method takes a block and ends a text. Both 0 or -ENOMEM. */
struct text_way {
  bool whole; /* the file is one block, in memory that is new each time */
  int (*take)(struct overlap_text *t, struct overlap_piece piece);
  int (*end)(struct overlap_text *t, struct weir_flow *flow);
};

/* The text has all its room at once. */
static int take_all(struct overlap_text *t, struct overlap_piece piece) {
  release(&t->text);
  t->text.room = decode_room(piece.length);
  t->text.data = malloc(t->text.room * sizeof *t->text.data);
  if (!t->text.data) return -ENOMEM;
  return append_decoded(&t->text, &t->decode, piece.data, piece.length);
}
static int end_all(struct overlap_text *t, struct weir_flow *flow) {
  const int error = append_decoded_end(&t->text, &t->decode);
  if (!error) weir_units(flow, t->text.data, t->text.count);
  return error;
}

static int take_growing(struct overlap_text *t, struct overlap_piece piece) {
  return append_decoded(&t->text, &t->decode, piece.data, piece.length);
}
/* The text that is handed over has no room to spare: a copy of what has grown. */
static int end_growing(struct overlap_text *t, struct weir_flow *flow) {
  int error = append_decoded_end(&t->text, &t->decode);
  if (error || t->text.count == 0) return error;
  struct units exact = {.count = 0, .room = t->text.count};
  exact.data = malloc(exact.room * sizeof *exact.data);
  error = exact.data ? append(&exact, t->text.data, t->text.count) : -ENOMEM;
  if (!error) weir_units(flow, exact.data, exact.count);
  release(&exact);
  return error;
}

/* Appends the line that ended, then its end as it was, so that the text comes out as it went in. */
static int append_line(struct overlap_text *t) {
  static const uint16_t both[] = {'\r', '\n'};
  const bool cr = t->line.count > 0 && t->line.data[t->line.count - 1] == '\r';
  t->line.count -= cr;
  const int error = append(&t->text, t->line.data, t->line.count);
  t->line.count = 0;
  return error ? error : append(&t->text, cr ? both : both + 1, cr ? 2 : 1);
}

static size_t units_before_lf(const uint16_t *data, size_t count) {
  size_t at = 0;
  while (at < count && data[at] != '\n') at++;
  return at;
}

static int split(struct overlap_text *t) {
  const struct units *block = &t->block;
  for (size_t at = 0; at < block->count;) {
    const size_t length = units_before_lf(block->data + at, block->count - at);
    int error = append(&t->line, block->data + at, length);
    at += length;
    if (!error && at < block->count) error = append_line(t), at++;
    if (error) return error;
  }
  return 0;
}

static int take_lines(struct overlap_text *t, struct overlap_piece piece) {
  t->block.count = 0;
  const int error = append_decoded(&t->block, &t->decode, piece.data, piece.length);
  return error ? error : split(t);
}
static int end_lines(struct overlap_text *t, struct weir_flow *flow) {
  t->block.count = 0;
  int error = append_decoded_end(&t->block, &t->decode);
  if (!error) error = split(t);
  if (!error) error = append(&t->text, t->line.data, t->line.count); /* no end behind the last line */
  if (!error) weir_units(flow, t->text.data, t->text.count);
  return error;
}

static const struct text_way all = {true, take_all, end_all}, growing = {false, take_growing, end_growing},
                             lines = {false, take_lines, end_lines};

/* ---- the method ---------------------------------------------------------------------------------------------------- */

static struct overlap_options options_of(const struct weir_job *job) {
  static const struct overlap_engine *const engines[] = {&overlap_ring, &overlap_aio, &overlap_thread};
  const struct text_way *way = job->data;
  struct overlap_options options = {.engine = engines[job->params[TEXT_ENGINE]], .depth = 1, .gate = OS_GATE_ATOMIC};
  options.block = (size_t)(way->whole ? job->file_size : job->params[TEXT_BLOCK]);
  if (options.block == 0) options.block = 1; /* an empty file */
  options.policy = way->whole ? WEIR_BUFFER_FRESH : WEIR_BUFFER_REUSED;
  options.hint = way->whole ? OS_ADVICE_NORMAL : OS_ADVICE_SEQUENTIAL;
  return options;
}

static int text_probe(const struct weir_job *job, struct weir_reason *reason) {
  const struct overlap_options options = options_of(job);
  return overlap_probe(&options, reason);
}

static int text_setup(void *state, const struct weir_job *job) {
  const struct overlap_options options = options_of(job);
  return overlap_setup(&((struct overlap_text *)state)->blocks, job, &options);
}

static int text_open(void *state, const struct weir_job *job) {
  return overlap_open(&((struct overlap_text *)state)->blocks, job);
}

static int out_of_memory(const struct weir_job *job, int error) {
  return job->host->fail(job, error, "no memory for the text of %llu bytes", (unsigned long long)job->file_size);
}

static int text_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct overlap_text *t = state;
  const struct text_way *way = job->data;
  if (budget == 0) return 0;
  const uint64_t began = weir_operation_begin(flow);
  struct overlap_piece piece;
  int more = 1;
  t->text.count = t->line.count = 0;
  decode_begin(&t->decode);
  overlap_start(&t->blocks, job);
  while (more == 1 && !weir_stopped(flow)) {
    more = overlap_next(&t->blocks, job, &piece);
    const int error = more == 1 ? way->take(t, piece) : 0;
    if (error) more = out_of_memory(job, error);
  }
  overlap_finish(&t->blocks);
  if (more != 0) return more < 0 ? more : 0; /* failed, or stopped */
  const int error = way->end(t, flow);
  if (error) return out_of_memory(job, error);
  weir_operation_end(flow, began);
  return 0;
}

static int text_close(void *state, const struct weir_job *job) {
  struct overlap_text *t = state;
  release(&t->text);
  release(&t->block);
  release(&t->line);
  return overlap_close(&t->blocks, job);
}

static void text_teardown(void *state, const struct weir_job *job) {
  overlap_teardown(&((struct overlap_text *)state)->blocks, job);
}

/* ---- the list ------------------------------------------------------------------------------------------------------ */

#define PARAM_ENGINE                             \
  [TEXT_ENGINE] = {.name = "engine",             \
                   .kind = WEIR_PARAM_CHOICE,    \
                   .preset = "ring",             \
                   .sweep = "ring|aio|thread",   \
                   .choices = "ring|aio|thread", \
                   WEIR_PARAM_EVERYWHERE,        \
                   .help = "who reads: io_uring (real), POSIX AIO or a thread of our own (both faked)"}
static const struct weir_param all_params[] = {PARAM_ENGINE};
static const struct weir_param block_params[] = {PARAM_ENGINE, [TEXT_BLOCK] = OVERLAP_PARAM_BLOCK("4KiB")};

#define OVERLAP_TEXT                                                                                        \
  METHODS_ABI, METHODS_READS, .tasks = WEIR_BIT(WEIR_TASK_TEXT), .accesses = WEIR_BIT(WEIR_SEQUENTIAL),     \
                              .capabilities = WEIR_CAP_VARIANT, .state_size = sizeof(struct overlap_text),  \
                              .calls = "io_uring READ (real), aio_read(3) or pread(2) in a thread (faked)", \
                              .probe = text_probe, .setup = text_setup, .open = text_open, .run = text_run, \
                              .close = text_close, .teardown = text_teardown

const struct weir_method methods_overlap_text_all = {
    OVERLAP_TEXT,
    .name = "overlap/text-all",
    .summary = "the whole file is awaited, really or faked as the engine is, then decoded to UTF-16",
    .params = all_params,
    .param_count = METHODS_COUNT(all_params),
    .data = &all};

const struct weir_method methods_overlap_text_grow = {
    OVERLAP_TEXT,
    .name = "overlap/text-grow",
    .summary = "blocks are awaited, really or faked, and decoded behind a growing text, copied at the end",
    .params = block_params,
    .param_count = METHODS_COUNT(block_params),
    .data = &growing};

const struct weir_method methods_overlap_lines_append = {
    OVERLAP_TEXT,
    .name = "overlap/lines-append",
    .summary = "blocks are awaited, really or faked, and decoded; each line is copied and appended to a text",
    .params = block_params,
    .param_count = METHODS_COUNT(block_params),
    .data = &lines};
