/*
 * packed_write.c - writers of packed records: field by field through the C library's stream, and through a buffer of our
 * own.
 */
#include <string.h>

#include "cstream.h"
#include "gather.h"
#include "methods.h"
#include "packed.h"

/* The next bytes of the file, which come at `at`. */
typedef int packed_put(void *state, const struct weir_job *job, uint64_t at, const void *data, size_t length);

PACKED_FOLDED int put_count(void *state, const struct weir_job *job, uint64_t *at, uint64_t value, packed_put *put) {
  unsigned char bytes[4];
  little_store32(bytes, (uint32_t)value);
  int error = put(state, job, *at, bytes, sizeof bytes);
  *at += sizeof bytes;
  return error;
}

PACKED_FOLDED int put_data(void *state, const struct weir_job *job, uint64_t *at, struct weir_span span, packed_put *put) {
  int error = put(state, job, *at, span.data, span.size);
  *at += span.size;
  return error;
}

PACKED_FOLDED int put_record(void *state, const struct weir_job *job, uint64_t *at, const struct weir_span *fields,
                             packed_put *put) {
  unsigned char prefix[PACKED_VARINT_MAX];
  const size_t count = packed_varint(prefix, (uint32_t)fields[0].size);
  int error = put(state, job, *at, prefix, count);
  *at += count;
  if (!error) error = put_data(state, job, at, fields[0], put);
  if (!error) error = put_count(state, job, at, fields[1].size, put);
  return error ? error : put_data(state, job, at, fields[1], put);
}

/* All records of the input; *ended when none is left. */
PACKED_FOLDED int put_all(void *state, const struct weir_job *job, struct weir_flow *flow, bool *ended, packed_put *put) {
  const struct weir_input *input = job->input;
  uint64_t at = 0, passed = 0;
  int error = put_count(state, job, &at, input->item_count / 2, put);
  *ended = false;
  for (size_t i = 0; i + 1 < input->item_count && !error; i += 2) {
    if (weir_stopped(flow)) return 0;
    error = put_record(state, job, &at, input->items + i, put);
    weir_passed(flow, at - passed);
    passed = at;
  }
  weir_passed(flow, at - passed);
  *ended = !error;
  return error;
}

#define RECORDS_WRITER \
  METHODS_ABI, METHODS_WRITES, .tasks = WEIR_BIT(WEIR_TASK_RECORDS), .accesses = WEIR_BIT(WEIR_SEQUENTIAL)
#define PARAMS(list) .params = (list), .param_count = METHODS_COUNT(list)

/* ---- records/fwrite ------------------------------------------------------------------------------------------------ */

enum { STDIO_SETVBUF, STDIO_LOCK, STDIO_EXTEND };

static int stdio_probe(const struct weir_job *job, struct weir_reason *reason) {
  return target_probe_extend(job, (enum target_extend)job->params[STDIO_EXTEND], reason);
}
static int stdio_setup(void *state, const struct weir_job *job) {
  return cstream_setup(state, job, job->params[STDIO_SETVBUF], job->params[STDIO_LOCK]);
}
static int stdio_open(void *state, const struct weir_job *job) {
  return cstream_open(state, job, (enum target_extend)job->params[STDIO_EXTEND]);
}
static inline int stdio_put(void *state, const struct weir_job *job, uint64_t at, const void *data, size_t length) {
  return cstream_write(state, job, at, data, length);
}
static int stdio_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  bool ended = false;
  if (budget == 0) return 0;
  const uint64_t began = weir_operation_begin(flow);
  int error = put_all(state, job, flow, &ended, stdio_put);
  if (ended) weir_operation_end(flow, began);
  return error;
}
static int stdio_sync(void *state, const struct weir_job *job) { return cstream_sync(state, job); }
static int stdio_close(void *state, const struct weir_job *job) { return cstream_close(state, job); }
static void stdio_teardown(void *state, const struct weir_job *job) { cstream_teardown(state, job); }

static const struct weir_param stdio_params[] = {[STDIO_SETVBUF] = CSTREAM_PARAM_SETVBUF,
                                                 [STDIO_LOCK] = CSTREAM_PARAM_LOCK(NULL),
                                                 [STDIO_EXTEND] = METHODS_PARAM_EXTEND(METHODS_EXTEND_IN_ORDER)};

const struct weir_method methods_records_fwrite = {
    RECORDS_WRITER,
    .name = "records/fwrite",
    .summary = "field by field through the C library's stream",
    .calls = "fdopen(3), setvbuf(3), fwrite(3) or fwrite_unlocked(3) for each length and field; fdatasync(2) or O_DSYNC",
    PARAMS(stdio_params),
    .state_size = sizeof(struct cstream),
    .probe = stdio_probe,
    .setup = stdio_setup,
    .open = stdio_open,
    .run = stdio_run,
    .sync = stdio_sync,
    .close = stdio_close,
    .teardown = stdio_teardown};

/* ---- records/buffer ------------------------------------------------------------------------------------------------ */

enum { BUFFER_BLOCK, BUFFER_EXTEND };

static int buffer_probe(const struct weir_job *job, struct weir_reason *reason) {
  return target_probe_extend(job, (enum target_extend)job->params[BUFFER_EXTEND], reason);
}
static int buffer_setup(void *state, const struct weir_job *job) {
  return gather_setup(state, job, job->params[BUFFER_BLOCK]);
}
static int buffer_open(void *state, const struct weir_job *job) {
  return gather_open(state, job, (enum target_extend)job->params[BUFFER_EXTEND]);
}
static inline int buffer_put(void *state, const struct weir_job *job, uint64_t at, const void *data, size_t length) {
  (void)at;
  return gather_put(state, job, data, length);
}
static int buffer_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  bool ended = false;
  if (budget == 0) return 0;
  const uint64_t began = weir_operation_begin(flow);
  int error = put_all(state, job, flow, &ended, buffer_put);
  if (!error) error = gather_finish(state, job);
  if (!error && ended) weir_operation_end(flow, began);
  return error;
}
static int buffer_sync(void *state, const struct weir_job *job) { return gather_sync(state, job); }
static int buffer_close(void *state, const struct weir_job *job) { return gather_close(state, job); }
static void buffer_teardown(void *state, const struct weir_job *job) { gather_teardown(state, job); }

static const struct weir_param buffer_params[] = {
    [BUFFER_BLOCK] = GATHER_PARAM_BLOCK, [BUFFER_EXTEND] = METHODS_PARAM_EXTEND(METHODS_EXTEND_IN_ORDER)};

const struct weir_method methods_records_buffer = {RECORDS_WRITER,
                                                   .name = "records/buffer",
                                                   .summary = "fields gathered in a buffer that is written when it is full",
                                                   .calls = "open(2), write(2) in a loop; fdatasync(2) or O_DSYNC",
                                                   PARAMS(buffer_params),
                                                   .state_size = sizeof(struct gather),
                                                   .probe = buffer_probe,
                                                   .setup = buffer_setup,
                                                   .open = buffer_open,
                                                   .run = buffer_run,
                                                   .sync = buffer_sync,
                                                   .close = buffer_close,
                                                   .teardown = buffer_teardown};
