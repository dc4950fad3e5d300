/*
 * overlap_read.c - blocks that are parsed, or just handed over, while the next ones are read; and the same without that.
 *
 * Lines are cut out of each block by itself. What is left of a line at the end of a block waits in `carry` for the rest, so
 * every line is whole, wherever the blocks end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "overlap.h"

#define CARRY_FIRST ((size_t)4096)

struct overlap_reader {
  struct overlap blocks;
  bool parses;
  char *carry; /* the beginning of a line */
  size_t carried, room;
};

/* ---- lines --------------------------------------------------------------------------------------------------------- */

static int keep(struct overlap_reader *r, const char *data, size_t length) {
  size_t room = r->room;
  while (room - r->carried < length) {
    if (room > SIZE_MAX / 2) return -ENOMEM;
    room *= 2;
  }
  if (room > r->room) {
    char *grown = realloc(r->carry, room);
    if (!grown) return -ENOMEM;
    r->carry = grown;
    r->room = room;
  }
  memcpy(r->carry + r->carried, data, length);
  r->carried += length;
  return 0;
}

/* A line that an LF follows: without one CR at its end. */
static void deliver_line(struct weir_flow *flow, const char *line, size_t length) {
  weir_item(flow, line, length - (length > 0 && line[length - 1] == '\r'));
}

static int take_lines(struct overlap_reader *r, struct weir_flow *flow, const char *at, size_t length) {
  const char *const end = at + length;
  const char *stop = memchr(at, '\n', length);
  if (stop && r->carried > 0) {
    const int error = keep(r, at, (size_t)(stop - at));
    if (error) return error;
    deliver_line(flow, r->carry, r->carried);
    r->carried = 0;
    at = stop + 1;
    stop = memchr(at, '\n', (size_t)(end - at));
  }
  for (; stop; stop = memchr(at, '\n', (size_t)(end - at))) {
    deliver_line(flow, at, (size_t)(stop - at));
    at = stop + 1;
  }
  return keep(r, at, (size_t)(end - at));
}

/* ---- the method ---------------------------------------------------------------------------------------------------- */

enum { READ_BLOCK, READ_PARSE, READ_DEPTH, READ_SYNC };

static struct overlap_options options_of(const struct weir_job *job) {
  struct overlap_options options = {.engine = job->data, .block = (size_t)job->params[READ_BLOCK], .depth = 1};
  options.policy = WEIR_BUFFER_REUSED;
  options.ahead = options.engine != &overlap_calls;
  if (options.ahead) options.depth = (unsigned)job->params[READ_DEPTH];
  if (options.engine == &overlap_thread) options.gate = (enum os_gate_kind)job->params[READ_SYNC];
  return options;
}

static int read_probe(const struct weir_job *job, struct weir_reason *reason) {
  const struct overlap_options options = options_of(job);
  return overlap_probe(&options, reason);
}

static int read_setup(void *state, const struct weir_job *job) {
  struct overlap_reader *r = state;
  const struct overlap_options options = options_of(job);
  r->parses = job->task == WEIR_TASK_LINES || job->params[READ_PARSE] != 0;
  r->room = CARRY_FIRST;
  r->carry = malloc(r->room);
  if (!r->carry) return job->host->fail(job, -ENOMEM, "no memory for a line");
  return overlap_setup(&r->blocks, job, &options);
}

static int read_open(void *state, const struct weir_job *job) {
  return overlap_open(&((struct overlap_reader *)state)->blocks, job);
}

static int use(struct overlap_reader *r, const struct weir_job *job, struct weir_flow *flow, struct overlap_piece piece) {
  if (!r->parses) {
    weir_deliver(flow, piece.offset, piece.data, piece.length);
    return 0;
  }
  const int error = take_lines(r, flow, (const char *)piece.data, piece.length);
  return error ? job->host->fail(job, error, "no memory for a line of more than %zu bytes", r->room) : 0;
}

static int read_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct overlap_reader *r = state;
  if (budget == 0) return 0;
  const uint64_t began = weir_operation_begin(flow);
  struct overlap_piece piece;
  int more = 1;
  r->carried = 0;
  overlap_start(&r->blocks, job);
  while (more == 1 && !weir_stopped(flow)) {
    more = overlap_next(&r->blocks, job, &piece);
    const int error = more == 1 ? use(r, job, flow, piece) : 0;
    if (error) more = error;
  }
  overlap_finish(&r->blocks);
  if (more != 0) return more < 0 ? more : 0; /* failed, or stopped */
  if (r->carried > 0) weir_item(flow, r->carry, r->carried);
  weir_operation_end(flow, began);
  return 0;
}

static int read_close(void *state, const struct weir_job *job) {
  return overlap_close(&((struct overlap_reader *)state)->blocks, job);
}

static void read_teardown(void *state, const struct weir_job *job) {
  struct overlap_reader *r = state;
  overlap_teardown(&r->blocks, job);
  free(r->carry);
}

/* ---- the list ------------------------------------------------------------------------------------------------------ */

/* Lines are parsed in any case. */
#define PARAM_PARSE                                  \
  [READ_PARSE] = {.name = "parse",                   \
                  .kind = WEIR_PARAM_CHOICE,         \
                  .preset = "no",                    \
                  .choices = "no|yes",               \
                  .tasks = WEIR_BIT(WEIR_TASK_TEXT), \
                  .accesses = WEIR_ANY,              \
                  .durabilities = WEIR_ANY,          \
                  .help = "yes: each block is split into lines; no: it is handed over as it is"}
#define PARAM_DEPTH                         \
  [READ_DEPTH] = {.name = "depth",          \
                  .kind = WEIR_PARAM_COUNT, \
                  .preset = "1",            \
                  .sweep = "1|4",           \
                  .min = 1,                 \
                  .max = OVERLAP_DEPTH_MAX, \
                  WEIR_PARAM_EVERYWHERE,    \
                  .help = "requests under way while a block is in use"}

static const struct weir_param none_params[] = {[READ_BLOCK] = OVERLAP_PARAM_BLOCK("128KiB"), PARAM_PARSE};
static const struct weir_param engine_params[] = {[READ_BLOCK] = OVERLAP_PARAM_BLOCK("128KiB"), PARAM_PARSE, PARAM_DEPTH};
static const struct weir_param thread_params[] = {
    [READ_BLOCK] = OVERLAP_PARAM_BLOCK("128KiB"),
    PARAM_PARSE,
    PARAM_DEPTH,
    [READ_SYNC] = {.name = "sync",
                   .kind = WEIR_PARAM_CHOICE,
                   .preset = "mutex",
                   .choices = "mutex|event|semaphore|spin|atomic",
                   WEIR_PARAM_EVERYWHERE,
                   .help = "how threads and reader tell each other: lock and condition, a system's event, a semaphore, an "
                           "atomic number spun on, or one slept on"}};

#define OVERLAP_READER                                                                                            \
  METHODS_ABI, METHODS_READS, .tasks = WEIR_BIT(WEIR_TASK_LINES) | WEIR_BIT(WEIR_TASK_TEXT),                      \
                              .accesses = WEIR_BIT(WEIR_SEQUENTIAL), .state_size = sizeof(struct overlap_reader), \
                              .probe = read_probe, .setup = read_setup, .open = read_open, .run = read_run,       \
                              .close = read_close, .teardown = read_teardown

const struct weir_method methods_overlap_none = {OVERLAP_READER,
                                                 .name = "overlap/none",
                                                 .summary = "a block is read, then used, then the next one is read",
                                                 .calls = "pread(2) in a loop",
                                                 .params = none_params,
                                                 .param_count = METHODS_COUNT(none_params),
                                                 .data = &overlap_calls};

const struct weir_method methods_overlap_ring = {
    OVERLAP_READER,
    .name = "overlap/ring",
    .summary = "the next blocks are read while one is used, by the system itself: real asynchronous reading",
    .calls = "io_uring: READ, one io_uring_enter(2) a block and one for each wait",
    .capabilities = WEIR_CAP_DEPTH,
    .params = engine_params,
    .param_count = METHODS_COUNT(engine_params),
    .data = &overlap_ring};

const struct weir_method methods_overlap_aio = {
    OVERLAP_READER,
    .name = "overlap/aio",
    .summary = "the next blocks are read while one is used, by a thread of the C library: faked asynchronous reading",
    .calls = "aio_read(3), aio_suspend(3)",
    .capabilities = WEIR_CAP_DEPTH | WEIR_CAP_VARIANT,
    .params = engine_params,
    .param_count = METHODS_COUNT(engine_params),
    .data = &overlap_aio};

const struct weir_method methods_overlap_thread = {
    OVERLAP_READER,
    .name = "overlap/thread",
    .summary = "the next blocks are read while one is used, by a pool of `depth` threads: faked asynchronous reading",
    .calls = "pread(2) in threads, told of by futex(2), eventfd(2) or none",
    .capabilities = WEIR_CAP_DEPTH,
    .params = thread_params,
    .param_count = METHODS_COUNT(thread_params),
    .data = &overlap_thread};
