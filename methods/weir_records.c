/*
 * weir_records.c - libweir among the contenders: packed records and typed values, read and written. Uses the library as any
 * program would, through weir.h.
 */
#include "feed.h"
#include "little.h"
#include "typed.h"
#include "weir_job.h"

#define STREAM .accesses = WEIR_BIT(WEIR_SEQUENTIAL)
#define PARAMS(list) .params = (list), .param_count = METHODS_COUNT(list)

static int setup_nothing(void *state, const struct weir_job *job) {
  (void)state, (void)job;
  return 0;
}
static void teardown_nothing(void *state, const struct weir_job *job) { (void)state, (void)job; }

/* ---- weir/records, weir/records-view -------------------------------------------------------------------------------- */

struct records_state {
  struct weir_records *records;
  struct weir_view view; /* records-view */
};

/* A field is never larger than the file, and never refused for being large. */
static struct weir_record_format format_of(const struct weir_job *job) {
  return (struct weir_record_format){.prefix = WEIR_RECORD_U32LE, .max_bytes = (size_t)job->file_size};
}

static int records_open(void *state, const struct weir_job *job) {
  const struct weir_record_format format = format_of(job);
  int code = weir_records_open(job->path, &format, &((struct records_state *)state)->records, NULL);
  return code < 0 ? weir_job_refused(job, "opening for reading", code) : 0;
}

static int view_open(void *state, const struct weir_job *job) {
  struct records_state *s = state;
  const struct weir_record_format format = format_of(job);
  struct weir_error error;
  int code = weir_view_open(&s->view, job->path, 0, (size_t)job->file_size, WEIR_HINT_NONE, false, &error);
  if (code < 0) return weir_job_failed(job, "mapping", &error);
  code = weir_records_open_memory(s->view.data, s->view.size, &format, &s->records, NULL);
  if (code == 0) return 0;
  (void)weir_view_close(&s->view);
  return weir_job_refused(job, "opening records", code);
}

/* The next field, which must be there. */
static int take(struct weir_records *records, const struct weir_job *job, enum weir_record_prefix prefix, size_t fixed,
                struct weir_slice *field) {
  const int code = weir_records_field(records, prefix, fixed, field);
  if (code > 0) return 0;
  if (code == 0) return weir_job_refused(job, "reading a record", WEIR_ETRUNCATED);
  return weir_job_failed(job, "reading a record of", weir_records_error(records));
}

static int take_record(struct weir_records *records, const struct weir_job *job, struct weir_flow *flow) {
  struct weir_slice field;
  int error = take(records, job, WEIR_RECORD_VARINT, 0, &field);
  if (error) return error;
  weir_item(flow, field.data, field.size);
  error = take(records, job, WEIR_RECORD_U32LE, 0, &field);
  if (!error) weir_item(flow, field.data, field.size);
  return error;
}

static int records_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct weir_records *records = ((struct records_state *)state)->records;
  struct weir_slice count;
  if (budget == 0) return 0;
  const uint64_t began = weir_operation_begin(flow);
  int error = take(records, job, WEIR_RECORD_FIXED, 4, &count);
  if (error) return error;
  const uint32_t wanted = little_load32((const unsigned char *)count.data);
  for (uint32_t i = 0; i < wanted; i++) {
    if (weir_stopped(flow)) return 0;
    error = take_record(records, job, flow);
    if (error) return error;
  }
  weir_operation_end(flow, began);
  return 0;
}

/* A failure that was told already comes once more. */
static int records_close(void *state, const struct weir_job *job) {
  int code = weir_records_close(((struct records_state *)state)->records, NULL);
  return code == 0 || job->reason->text[0] ? code : weir_job_refused(job, "closing", code);
}
static int view_close(void *state, const struct weir_job *job) {
  struct records_state *s = state;
  const int closed = records_close(s, job), unmapped = weir_view_close(&s->view);
  return closed || unmapped == 0 ? closed : weir_job_refused(job, "unmapping", unmapped);
}

#define RECORDS_READER                                                                                                  \
  METHODS_ABI, METHODS_READS, STREAM, .tasks = WEIR_BIT(WEIR_TASK_RECORDS), .state_size = sizeof(struct records_state), \
                                      .setup = setup_nothing, .run = records_run, .teardown = teardown_nothing

const struct weir_method methods_weir_records = {RECORDS_READER,
                                                 .name = "weir/records",
                                                 .summary = "libweir: fields where they were read",
                                                 .calls = "weir_records_open(3), weir_records_field(3)",
                                                 .open = records_open,
                                                 .close = records_close};

const struct weir_method methods_weir_records_view = {
    RECORDS_READER,
    .name = "weir/records-view",
    .summary = "libweir: fields where they lie in the mapped file",
    .calls = "weir_view_open(3), weir_records_open_memory(3), weir_records_field(3)",
    .capabilities = WEIR_CAP_VIEW,
    .open = view_open,
    .close = view_close};

/* ---- a writer, for both -------------------------------------------------------------------------------------------- */

enum { WRITER_BUFFER, WRITER_RESERVE };

/* The writer opens its file itself, unless every write is to be durable: that is a property of an open file. */
struct writer_state {
  struct weir_writer writer;
  struct weir_file *file; /* NULL: the writer's own */
  bool finished;
};

static struct weir_writer_options writer_options(const struct weir_job *job) {
  struct weir_writer_options options = {.buffer_bytes = (size_t)job->params[WRITER_BUFFER]};
  if (job->params[WRITER_RESERVE]) options.expected_bytes = job->file_size;
  if (job->durability == WEIR_DURABILITY_EACH) return options;
  if (job->durability == WEIR_DURABILITY_END) options.flags |= WEIR_DURABLE;
  if (job->target == WEIR_TARGET_NEW) options.flags |= WEIR_NEW;
  return options;
}

static int open_through(struct writer_state *s, const struct weir_job *job, const struct weir_writer_options *options) {
  int code = weir_job_open(job, &(struct weir_job_wish){.write_through = true}, &s->file);
  if (code < 0) return code;
  code = weir_writer_open_file(&s->writer, s->file, options, NULL);
  if (code == 0) return 0;
  (void)weir_file_close(s->file, NULL);
  return weir_job_refused(job, "opening for writing", code);
}

static int writer_open(void *state, const struct weir_job *job) {
  struct writer_state *s = state;
  const struct weir_writer_options options = writer_options(job);
  s->file = NULL;
  s->finished = false;
  if (job->durability == WEIR_DURABILITY_EACH) return open_through(s, job, &options);
  int code = weir_writer_open(&s->writer, job->path, &options, NULL);
  return code < 0 ? weir_job_refused(job, "opening for writing", code) : 0;
}

static int writer_failed(struct writer_state *s, const struct weir_job *job) {
  int code = weir_job_failed(job, "writing", weir_writer_error(&s->writer));
  weir_writer_abandon(&s->writer);
  s->finished = true;
  return code;
}

/* Writes what the writer still holds, unless the sync phase does it. */
static int writer_end(struct writer_state *s, const struct weir_job *job) {
  if (job->durability == WEIR_DURABILITY_END) return 0;
  return weir_writer_flush(&s->writer) < 0 ? writer_failed(s, job) : 0;
}

static int finish(struct writer_state *s, const struct weir_job *job, const char *doing) {
  s->finished = true;
  int code = weir_writer_finish(&s->writer, NULL);
  return code < 0 ? weir_job_refused(job, doing, code) : 0;
}
static int writer_sync(void *state, const struct weir_job *job) { return finish(state, job, "flushing to storage"); }
static int writer_close(void *state, const struct weir_job *job) {
  struct writer_state *s = state;
  const int finished = s->finished ? 0 : finish(s, job, "closing");
  const int closed = s->file ? weir_job_close(job, s->file) : 0;
  return finished ? finished : closed;
}

#define WRITER_PARAMS                                                        \
  [WRITER_BUFFER] = {.name = "buffer",                                       \
                     .kind = WEIR_PARAM_SIZE,                                \
                     .preset = "0",                                          \
                     .min = 0,                                               \
                     .max = 1 << 30,                                         \
                     WEIR_PARAM_EVERYWHERE,                                  \
                     .help = "the writer's buffer; 0: the library chooses"}, \
  [WRITER_RESERVE] = {.name = "reserve",                                     \
                      .kind = WEIR_PARAM_CHOICE,                             \
                      .preset = "no",                                        \
                      .choices = "no|yes",                                   \
                      WEIR_PARAM_EVERYWHERE,                                 \
                      .help = "is the writer told the size of what comes"}

#define WRITER                                                                                           \
  METHODS_ABI, METHODS_WRITES, STREAM, .setup = setup_nothing, .open = writer_open, .sync = writer_sync, \
                                       .close = writer_close, .teardown = teardown_nothing,              \
                                       .state_size = sizeof(struct writer_state)

/* ---- weir/write-records --------------------------------------------------------------------------------------------- */

static int put_record(struct weir_writer *writer, const struct weir_span *fields) {
  int code = weir_writer_put_record(writer, WEIR_RECORD_VARINT, fields[0].data, fields[0].size);
  return code < 0 ? code : weir_writer_put_record(writer, WEIR_RECORD_U32LE, fields[1].data, fields[1].size);
}

static int write_records_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct writer_state *s = state;
  const struct weir_input *input = job->input;
  unsigned char count[4];
  if (budget == 0) return 0;
  const uint64_t began = weir_operation_begin(flow);
  little_store32(count, (uint32_t)(input->item_count / 2));
  int code = weir_writer_put(&s->writer, count, sizeof count);
  for (size_t i = 0; i + 1 < input->item_count && code >= 0 && !weir_stopped(flow); i += 2)
    code = put_record(&s->writer, input->items + i);
  if (code < 0) return writer_failed(s, job);
  weir_passed(flow, weir_writer_size(&s->writer));
  if (weir_writer_size(&s->writer) < input->size) return 0; /* stopped */
  code = writer_end(s, job);
  if (code == 0) weir_operation_end(flow, began);
  return code;
}

static const struct weir_param write_records_params[] = {WRITER_PARAMS};

const struct weir_method methods_weir_write_records = {
    WRITER,
    .tasks = WEIR_BIT(WEIR_TASK_RECORDS),
    .name = "weir/write-records",
    .summary = "libweir: fields with their lengths, collected and written in order",
    .calls = "weir_writer_open(3) or weir_writer_open_file(3), weir_writer_put_record(3), weir_writer_finish(3)",
    PARAMS(write_records_params),
    .run = write_records_run};

/* ---- weir/typed ---------------------------------------------------------------------------------------------------- */

enum { TYPED_FORM };
enum { FORM_ARRAY, FORM_RECORDS };

/* All structs were handed over: 0, unless there are fewer than the job promises. */
static int typed_ended(const struct weir_job *job, struct weir_flow *flow, uint64_t began, uint64_t count) {
  if (count < job->file_size / TYPED_BYTES) return target_ended(job, count * TYPED_BYTES);
  weir_operation_end(flow, began);
  return 0;
}

static int typed_array(const struct weir_job *job, struct weir_flow *flow, uint64_t began) {
  struct weir_bytes bytes = {0};
  struct weir_error error;
  size_t count = 0, i = 0;
  int code = weir_read_items(job->path, TYPED_BYTES, &bytes, &count, &error);
  if (code < 0) code = weir_job_failed(job, "reading", &error);
  for (; code == 0 && i < count && (i % TYPED_STRETCH || !weir_stopped(flow)); i++)
    typed_deliver(flow, (const unsigned char *)bytes.data + i * TYPED_BYTES);
  weir_bytes_free(&bytes);
  return code < 0 || i < count ? code : typed_ended(job, flow, began, count);
}

static int typed_records(const struct weir_job *job, struct weir_flow *flow, uint64_t began) {
  const struct weir_record_format format = {.fixed_bytes = TYPED_BYTES};
  struct weir_records *records;
  struct weir_slice record;
  uint64_t count = 0;
  int code = weir_records_open(job->path, &format, &records, NULL), got = 1;
  if (code < 0) return weir_job_refused(job, "opening for reading", code);
  while (count % TYPED_STRETCH || !weir_stopped(flow)) {
    got = weir_records_next(records, &record);
    if (got <= 0) break;
    typed_deliver(flow, (const unsigned char *)record.data);
    count++;
  }
  if (got < 0) code = weir_job_failed(job, "reading a struct of", weir_records_error(records));
  (void)weir_records_close(records, NULL);
  return got ? code : typed_ended(job, flow, began, count);
}

static int typed_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  (void)state;
  if (budget == 0) return 0;
  const uint64_t began = weir_operation_begin(flow);
  return job->params[TYPED_FORM] == FORM_ARRAY ? typed_array(job, flow, began) : typed_records(job, flow, began);
}

static const struct weir_param typed_params[] = {
    [TYPED_FORM] = {.name = "form",
                    .kind = WEIR_PARAM_CHOICE,
                    .preset = "array",
                    .sweep = "array|records",
                    .choices = "array|records",
                    WEIR_PARAM_EVERYWHERE,
                    .help = "the whole file as an array, or struct by struct where it was read"}};

const struct weir_method methods_weir_typed = {
    METHODS_ABI,
    METHODS_READS,
    STREAM,
    .tasks = WEIR_BIT(WEIR_TASK_TYPED),
    .name = "weir/typed",
    .summary = "libweir: an array of structs by one call, or structs as records of a fixed size",
    .calls = "weir_read_items(3), or weir_records_open(3) and weir_records_next(3)",
    PARAMS(typed_params),
    .probe = feed_probe,
    .setup = setup_nothing,
    .open = setup_nothing,
    .run = typed_run,
    .close = setup_nothing,
    .teardown = teardown_nothing};

/* ---- weir/write-typed ----------------------------------------------------------------------------------------------- */

static inline int put_struct(struct weir_writer *writer, const struct weir_typed *typed) {
  unsigned char out[TYPED_BYTES];
  typed_store(out, typed);
  return weir_writer_put(writer, out, sizeof out);
}

static int write_typed_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct writer_state *s = state;
  const struct weir_input *input = job->input;
  int code = 0;
  if (budget == 0) return 0;
  const uint64_t began = weir_operation_begin(flow);
  for (size_t i = 0; i < input->typed_count && code >= 0 && (i % TYPED_STRETCH || !weir_stopped(flow)); i++)
    code = put_struct(&s->writer, input->typed + i);
  if (code < 0) return writer_failed(s, job);
  weir_passed(flow, weir_writer_size(&s->writer));
  if (weir_writer_size(&s->writer) < input->typed_count * TYPED_BYTES) return 0; /* stopped */
  code = writer_end(s, job);
  if (code == 0) weir_operation_end(flow, began);
  return code;
}

static const struct weir_param write_typed_params[] = {WRITER_PARAMS};

const struct weir_method methods_weir_write_typed = {
    WRITER,
    .tasks = WEIR_BIT(WEIR_TASK_TYPED),
    .name = "weir/write-typed",
    .summary = "libweir: struct by struct, collected and written in order",
    .calls = "weir_writer_open(3) or weir_writer_open_file(3), weir_writer_put(3), weir_writer_finish(3)",
    PARAMS(write_typed_params),
    .run = write_typed_run};
