/*
 * bytewise.c - any file read value by value, one byte each: what study C suggests to readers without its data. The bytes go
 * one by one into a small piece that is handed over when it is full; no call and no instruction takes two of them at once.
 */
#include <errno.h>
#include <stdio.h>

#include "cstream.h"
#include "held.h"
#include "methods.h"

/* Few enough to stay in the first-level cache. */
#define PIECE_BYTES ((size_t)4096)

struct bytewise {
  struct held held;
  struct cstream stream;
  unsigned char piece[PIECE_BYTES];
};

static size_t piece_length(const struct weir_job *job, uint64_t at) {
  const uint64_t left = job->file_size - at;
  return left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;
}

/* Puts `length` bytes, which the file holds at `at`, into the piece. */
typedef int take_bytes(struct bytewise *s, const struct weir_job *job, uint64_t at, size_t length);

static int read_bytes(struct bytewise *s, const struct weir_job *job, struct weir_flow *flow, uint64_t budget,
                      take_bytes *take) {
  if (budget == 0) return 0;
  const uint64_t began = weir_operation_begin(flow);
  for (uint64_t at = 0; at < job->file_size;) {
    const size_t length = piece_length(job, at);
    if (weir_stopped(flow)) return 0;
    int error = take(s, job, at, length);
    if (error) return error;
    weir_deliver(flow, at, s->piece, length);
    at += length;
  }
  weir_operation_end(flow, began);
  return 0;
}

/* ---- out of memory ------------------------------------------------------------------------------------------------- */

/* Volatile: else compilers would make one copy of it. */
static int take_held(struct bytewise *s, const struct weir_job *job, uint64_t at, size_t length) {
  const volatile unsigned char *data = s->held.data + (size_t)at;
  (void)job;
  for (size_t i = 0; i < length; i++) s->piece[i] = data[i];
  return 0;
}

static int setup_nothing(void *state, const struct weir_job *job) {
  (void)state, (void)job;
  return 0;
}
static int map_open(void *state, const struct weir_job *job) { return held_map(&((struct bytewise *)state)->held, job); }
static int map_close(void *state, const struct weir_job *job) { return held_unmap(&((struct bytewise *)state)->held, job); }
static int map_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  return read_bytes(state, job, flow, budget, take_held);
}

enum { SLURP_BUFFER };

static int slurp_setup(void *state, const struct weir_job *job) {
  return held_setup(&((struct bytewise *)state)->held, job, (enum weir_buffer_policy)job->params[SLURP_BUFFER]);
}
static int slurp_open(void *state, const struct weir_job *job) { return held_open(&((struct bytewise *)state)->held, job); }
static int slurp_close(void *state, const struct weir_job *job) {
  return held_close(&((struct bytewise *)state)->held, job);
}
static int slurp_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  int error = budget ? held_read(&((struct bytewise *)state)->held, job) : 0;
  return error ? error : read_bytes(state, job, flow, budget, take_held);
}

/* ---- by getc ------------------------------------------------------------------------------------------------------- */

enum { STDIO_LOCK, STDIO_SETVBUF };

static inline __attribute__((always_inline)) int take_stream(struct bytewise *s, const struct weir_job *job, uint64_t at,
                                                             size_t length, bool unlocked) {
  for (size_t i = 0; i < length; i++) {
    const int byte = unlocked ? getc_unlocked(s->stream.stream) : getc(s->stream.stream);
    const int error = byte == EOF ? cstream_read_on(&s->stream, job, at + i, s->piece + i, 1, 0) : 0;
    if (error) return error;
    if (byte != EOF) s->piece[i] = (unsigned char)byte;
  }
  return 0;
}
static int take_locked(struct bytewise *s, const struct weir_job *job, uint64_t at, size_t length) {
  return take_stream(s, job, at, length, false);
}
static int take_unlocked(struct bytewise *s, const struct weir_job *job, uint64_t at, size_t length) {
  return take_stream(s, job, at, length, true);
}

static int stdio_setup(void *state, const struct weir_job *job) {
  return cstream_setup(&((struct bytewise *)state)->stream, job, job->params[STDIO_SETVBUF], job->params[STDIO_LOCK]);
}
static int stdio_open(void *state, const struct weir_job *job) {
  return cstream_open(&((struct bytewise *)state)->stream, job, TARGET_GROW);
}
static int stdio_close(void *state, const struct weir_job *job) {
  return cstream_close(&((struct bytewise *)state)->stream, job);
}
static int stdio_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct bytewise *s = state;
  return read_bytes(s, job, flow, budget, s->stream.unlocked ? take_unlocked : take_locked);
}

static void teardown(void *state, const struct weir_job *job) {
  struct bytewise *s = state;
  held_teardown(&s->held, job);
  cstream_teardown(&s->stream, job);
}

static const struct weir_param stdio_params[] = {
    [STDIO_LOCK] = CSTREAM_PARAM_LOCK("locked|unlocked"), [STDIO_SETVBUF] = CSTREAM_PARAM_SETVBUF};
static const struct weir_param map_params[] = {HELD_MAP_PARAMS(NULL)};
static const struct weir_param slurp_params[] = {[SLURP_BUFFER] = HELD_PARAM_BUFFER(NULL)};

#define BYTEWISE                                                                                        \
  METHODS_ABI, METHODS_READS, .tasks = WEIR_BIT(WEIR_TASK_TEXT), .accesses = WEIR_BIT(WEIR_SEQUENTIAL), \
                              .state_size = sizeof(struct bytewise), .capabilities = WEIR_CAP_VARIANT, .teardown = teardown
#define PARAMS(list) .params = (list), .param_count = METHODS_COUNT(list)

const struct weir_method methods_records_bytes_stdio = {BYTEWISE,
                                                        .name = "records/bytes-stdio",
                                                        .summary = "byte by byte through the C library's stream",
                                                        .calls = "fdopen(3), setvbuf(3), getc(3) or getc_unlocked(3)",
                                                        PARAMS(stdio_params),
                                                        .setup = stdio_setup,
                                                        .open = stdio_open,
                                                        .run = stdio_run,
                                                        .close = stdio_close};

const struct weir_method methods_records_bytes_mapped = {BYTEWISE,
                                                         .name = "records/bytes-mapped",
                                                         .summary = "byte by byte out of the mapped file",
                                                         .calls = "mmap(2), one load for each byte, munmap(2)",
                                                         PARAMS(map_params),
                                                         .probe = held_probe_map,
                                                         .setup = setup_nothing,
                                                         .open = map_open,
                                                         .run = map_run,
                                                         .close = map_close};

const struct weir_method methods_records_bytes_slurp = {BYTEWISE,
                                                        .name = "records/bytes-slurp",
                                                        .summary = "byte by byte out of a file that was read whole",
                                                        .calls = "read(2) of the whole file, one load for each byte",
                                                        PARAMS(slurp_params),
                                                        .setup = slurp_setup,
                                                        .open = slurp_open,
                                                        .run = slurp_run,
                                                        .close = slurp_close};
