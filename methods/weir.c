/*
 * weir.c - libweir among the contenders: whole files by one call, views, streams of blocks and the writer. Uses the library
 * as any program would, through weir.h. Files with a position and queues are in weir_file.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "landing.h"
#include "load.h"
#include "weir_job.h"

/* What some calls do in one is done in `run`; there is nothing to open. */
static int nothing(void *state, const struct weir_job *job) {
  (void)state, (void)job;
  return 0;
}

/* One call stands for all the requests of the job. */
static void count_all(struct weir_flow *flow, uint64_t began, uint64_t count) {
  flow->operations += count - 1;
  weir_operation_end(flow, began);
}

/* ---- weir/read-file ------------------------------------------------------------------------------------------------ */

enum { READ_BUFFER, READ_STRATEGY, READ_CREW };
enum { FRESH, REUSED };
/* A text is one operation of any size, but the library's requests are whole multiples of this. */
#define READ_REQUEST 65536u

struct read_file {
  struct weir_bytes bytes;
  struct weir_read_options options;
  bool reused;
};

static int read_file_probe(const struct weir_job *job, struct weir_reason *reason) {
  int error = weir_job_whole_file(job, reason);
  struct weir_job asked = *job;
  if (job->task == WEIR_TASK_TEXT) asked.block = READ_REQUEST;
  return error ? error : weir_job_probe(&asked, job->params[READ_STRATEGY], reason);
}

/* Memory that was used before: by a file in memory of the same size, so that the job's own stays as cold as it is. */
static int use_memory(struct read_file *s, const struct weir_job *job) {
  os_file file;
  char path[64];
  struct weir_error error = {.code = 0};
  int code = os_memory_file("weir-before", job->part_length, &file);
  if (code) return target_refused(job, "a file in memory", code);
  code = os_memory_file_path(file, path, sizeof path);
  if (!code) code = weir_read_file(path, &s->bytes, NULL, &error);
  (void)os_close(file);
  return code < 0 ? weir_job_refused(job, "getting memory for the file", code) : 0;
}

static int read_file_setup(void *state, const struct weir_job *job) {
  struct read_file *s = state;
  struct weir_reason reason = {{0}, {0}};
  int error = weir_job_whole_file(job, &reason);
  if (error) return job->host->fail(job, error, "%s", reason.text);
  s->options.strategy = weir_job_strategy(job->params[READ_STRATEGY]);
  s->options.threads = (unsigned)job->params[READ_CREW];
  s->reused = job->params[READ_BUFFER] == REUSED;
  return s->reused && job->part_length > 0 ? use_memory(s, job) : 0;
}

static int read_file_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct read_file *s = state;
  struct weir_error error;
  const uint64_t count = landing_count(job, budget);
  if (count == 0 || weir_stopped(flow)) return 0;
  const uint64_t began = weir_operation_begin(flow);
  if (weir_read_file(job->path, &s->bytes, &s->options, &error) < 0) return weir_job_failed(job, "reading", &error);
  if (s->bytes.size < job->part_length) return target_ended(job, s->bytes.size);
  weir_deliver(flow, job->part_offset, s->bytes.data, landing_prefix(job, count));
  count_all(flow, began, count);
  return 0;
}

static int read_file_close(void *state, const struct weir_job *job) {
  struct read_file *s = state;
  (void)job;
  if (!s->reused) weir_bytes_free(&s->bytes);
  return 0;
}

static void read_file_teardown(void *state, const struct weir_job *job) {
  (void)job;
  weir_bytes_free(&((struct read_file *)state)->bytes);
}

static const struct weir_param read_file_params[] = {
    [READ_BUFFER] = {.name = "buffer",
                     .kind = WEIR_PARAM_CHOICE,
                     .preset = "fresh",
                     .sweep = "fresh|reused",
                     .choices = "fresh|reused",
                     .tasks = WEIR_BIT(WEIR_TASK_WHOLE) | WEIR_BIT(WEIR_TASK_TEXT),
                     .accesses = WEIR_ANY,
                     .durabilities = WEIR_ANY,
                     .help = "a struct weir_bytes for each file, or one that held a file before"},
    [READ_STRATEGY] = WEIR_JOB_PARAM_STRATEGY,
    [READ_CREW] = {.name = "crew",
                   .kind = WEIR_PARAM_COUNT,
                   .preset = "0",
                   .min = 0,
                   .max = 64,
                   WEIR_PARAM_EVERYWHERE,
                   .help = "threads that the library reads with; 0: it chooses"},
};

const struct weir_method methods_weir_read_file = {METHODS_ABI,
                                                   METHODS_READS,
                                                   .name = "weir/read-file",
                                                   .summary = "libweir: a whole file by one call",
                                                   .calls = "weir_read_file(3)",
                                                   .tasks = WEIR_BIT(WEIR_TASK_WHOLE) | WEIR_BIT(WEIR_TASK_TEXT),
                                                   .accesses = METHODS_BOTH_ACCESSES,
                                                   .params = read_file_params,
                                                   .param_count = METHODS_COUNT(read_file_params),
                                                   .state_size = sizeof(struct read_file),
                                                   .probe = read_file_probe,
                                                   .setup = read_file_setup,
                                                   .open = nothing,
                                                   .run = read_file_run,
                                                   .close = read_file_close,
                                                   .teardown = read_file_teardown};

/* ---- weir/write-file ----------------------------------------------------------------------------------------------- */

enum { WRITE_BUFFER, WRITE_ATOMIC, WRITE_PREALLOCATE };

struct write_file {
  struct landing landing;
  struct weir_write_options options;
};

static int write_file_probe(const struct weir_job *job, struct weir_reason *reason) {
  if (job->target == WEIR_TARGET_OVERWRITE || job->target == WEIR_TARGET_PREALLOCATED)
    return target_unfit(reason, -EOPNOTSUPP, "the call makes the file anew and leaves nothing of the old one",
                        "use target=truncate or target=new, or weir/pwrite");
  return weir_job_whole_file(job, reason);
}

static int write_file_setup(void *state, const struct weir_job *job) {
  struct write_file *s = state;
  const enum weir_buffer_policy policy = (enum weir_buffer_policy)job->params[WRITE_BUFFER];
  if (job->params[WRITE_ATOMIC]) s->options.flags |= WEIR_ATOMIC;
  if (job->params[WRITE_PREALLOCATE]) s->options.flags |= WEIR_PREALLOCATE;
  if (job->target == WEIR_TARGET_NEW) s->options.flags |= WEIR_NEW;
  if (job->durability != WEIR_DURABILITY_NONE) s->options.flags |= WEIR_DURABLE;
  if (job->input) return 0; /* a text lies ready */
  return landing_setup(&s->landing, job, &(struct landing_wish){.policy = policy});
}

static int write_file_open(void *state, const struct weir_job *job) {
  return landing_open(&((struct write_file *)state)->landing, job);
}

static int write_text_file(const struct write_file *s, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct weir_error error;
  if (budget == 0 || weir_stopped(flow)) return 0;
  if (weir_write_file(job->path, job->input->data, job->input->size, &s->options, &error) < 0)
    return weir_job_failed(job, "writing", &error);
  weir_passed(flow, job->input->size);
  flow->operations++;
  return 0;
}

static int write_file_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct write_file *s = state;
  struct weir_error error;
  if (job->input) return write_text_file(s, job, flow, budget);
  const uint64_t count = landing_count(job, budget);
  if (weir_stopped(flow)) return 0;
  landing_supply_all(&s->landing, job, flow, count);
  const bool stopped = weir_stopped(flow);
  if (stopped) landing_settle(&s->landing, job, flow, count, 0);
  if (stopped) return 0;
  const uint64_t began = weir_operation_begin(flow);
  if (weir_write_file(job->path, s->landing.data, landing_prefix(job, count), &s->options, &error) < 0)
    return weir_job_failed(job, "writing", &error);
  if (count > 0) count_all(flow, began, count);
  return 0;
}

static int write_file_close(void *state, const struct weir_job *job) {
  landing_close(&((struct write_file *)state)->landing, job);
  return 0;
}

static void write_file_teardown(void *state, const struct weir_job *job) {
  landing_teardown(&((struct write_file *)state)->landing, job);
}

#define PARAM_NO_YES(word, text) \
  { .name = (word), .kind = WEIR_PARAM_CHOICE, .preset = "no", .choices = "no|yes", WEIR_PARAM_EVERYWHERE, .help = (text) }

static const struct weir_param write_file_params[] = {
    [WRITE_BUFFER] = LANDING_PARAM_BUFFER(NULL),
    [WRITE_ATOMIC] = PARAM_NO_YES("atomic", "WEIR_ATOMIC: a temporary file takes the file's name"),
    [WRITE_PREALLOCATE] = PARAM_NO_YES("preallocate", "WEIR_PREALLOCATE: the space is reserved first"),
};

/* The call flushes by itself, so durable costs lie in `run`. */
const struct weir_method methods_weir_write_file = {
    METHODS_ABI,
    .directions = WEIR_BIT(WEIR_WRITE),
    .durabilities = WEIR_BIT(WEIR_DURABILITY_NONE) | WEIR_BIT(WEIR_DURABILITY_END),
    .name = "weir/write-file",
    .summary = "libweir: a whole file made by one call",
    .calls = "weir_write_file(3)",
    .tasks = WEIR_BIT(WEIR_TASK_WHOLE) | WEIR_BIT(WEIR_TASK_TEXT),
    .accesses = METHODS_BOTH_ACCESSES,
    .params = write_file_params,
    .param_count = METHODS_COUNT(write_file_params),
    .state_size = sizeof(struct write_file),
    .probe = write_file_probe,
    .setup = write_file_setup,
    .open = write_file_open,
    .run = write_file_run,
    .sync = nothing,
    .close = write_file_close,
    .teardown = write_file_teardown};

/* ---- weir/view ----------------------------------------------------------------------------------------------------- */

enum { VIEW_BLOCK, VIEW_HINT, VIEW_POPULATE };

static int view_setup(void *state, const struct weir_job *job) {
  (void)state;
  if (job->part_length <= SIZE_MAX / 2) return 0;
  return job->host->fail(job, -EOVERFLOW, "the file does not fit into the address space");
}

static int view_open(void *state, const struct weir_job *job) {
  struct weir_view *view = state;
  struct weir_error error;
  /* Without a length all of the rest is mapped, which costs as little as nothing. */
  int code = weir_view_open(view, job->path, job->part_offset, (size_t)job->part_length,
                            (enum weir_hint)job->params[VIEW_HINT], job->params[VIEW_POPULATE] != 0, &error);
  if (code < 0) return weir_job_failed(job, "mapping", &error);
  if (view->size >= job->part_length) return 0;
  const uint64_t end = job->part_offset + view->size;
  (void)weir_view_close(view);
  return target_ended(job, end);
}

static int view_whole(const struct weir_view *view, const struct weir_job *job, struct weir_flow *flow, uint64_t count) {
  if (count == 0 || weir_stopped(flow)) return 0;
  const uint64_t began = weir_operation_begin(flow);
  weir_deliver(flow, job->part_offset, view->data, landing_prefix(job, count));
  count_all(flow, began, count);
  return 0;
}

/* Requests that are no larger than a number: see load.h. */
static int view_values(const struct weir_view *view, const struct weir_job *job, struct weir_flow *flow, uint64_t count) {
  for (uint64_t i = 0; i < count && !weir_stopped(flow); i++) {
    const uint64_t began = weir_operation_begin(flow), offset = weir_order_offset(job, i);
    const size_t length = weir_order_length(job, offset);
    const uint64_t value = load_value(view->data + (size_t)(offset - job->part_offset), length);
    weir_deliver(flow, offset, &value, length);
    weir_operation_end(flow, began);
  }
  return 0;
}

static int view_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  const struct weir_view *view = state;
  const uint64_t count = landing_count(job, budget);
  if (job->task == WEIR_TASK_WHOLE) return view_whole(view, job, flow, count);
  if (job->block <= LOAD_BYTES_MAX) return view_values(view, job, flow, count);
  for (uint64_t i = 0; i < count && !weir_stopped(flow); i++) {
    const uint64_t began = weir_operation_begin(flow), offset = weir_order_offset(job, i);
    weir_deliver(flow, offset, view->data + (size_t)(offset - job->part_offset), weir_order_length(job, offset));
    weir_operation_end(flow, began);
  }
  return 0;
}

static int view_close(void *state, const struct weir_job *job) {
  int code = weir_view_close(state);
  return code < 0 ? weir_job_refused(job, "unmapping", code) : 0;
}

static void view_teardown(void *state, const struct weir_job *job) { (void)state, (void)job; }

static const struct weir_param view_params[] = {
    [VIEW_BLOCK] = {.name = "block",
                    .kind = WEIR_PARAM_SIZE,
                    .preset = "128KiB",
                    .min = 1,
                    .max = LANDING_BLOCK_MAX,
                    .tasks = WEIR_BIT(WEIR_TASK_BLOCKS),
                    .accesses = WEIR_ANY,
                    .durabilities = WEIR_ANY,
                    .help = "bytes handed over at a time; up to 8: loaded"},
    [VIEW_HINT] = {.name = "hint",
                   .kind = WEIR_PARAM_CHOICE,
                   .preset = "none",
                   .choices = "none|sequential|random|once",
                   WEIR_PARAM_EVERYWHERE,
                   .help = "what the library is told of the use (enum weir_hint)"},
    [VIEW_POPULATE] = PARAM_NO_YES("populate", "all of it mapped in ahead"),
};

const struct weir_method methods_weir_view = {METHODS_ABI,
                                              METHODS_READS,
                                              .name = "weir/view",
                                              .summary = "libweir: the file's own pages as memory, without a copy",
                                              .calls = "weir_view_open(3)",
                                              .tasks = METHODS_BOTH_TASKS,
                                              .accesses = METHODS_BOTH_ACCESSES,
                                              .capabilities = WEIR_CAP_VIEW,
                                              .params = view_params,
                                              .param_count = METHODS_COUNT(view_params),
                                              .state_size = sizeof(struct weir_view),
                                              .setup = view_setup,
                                              .open = view_open,
                                              .run = view_run,
                                              .close = view_close,
                                              .teardown = view_teardown};

/* ---- weir/stream --------------------------------------------------------------------------------------------------- */

enum { STREAM_BLOCK, STREAM_STRATEGY, STREAM_AHEAD };

struct stream_state {
  struct weir_stream *stream;
};

/* Of a text all is one operation, so the block is the method's own. */
static size_t stream_block(const struct weir_job *job) {
  return (size_t)(job->task == WEIR_TASK_TEXT ? job->params[STREAM_BLOCK] : job->block);
}

static int stream_probe(const struct weir_job *job, struct weir_reason *reason) {
  struct weir_job asked = *job;
  asked.block = stream_block(job);
  return weir_job_probe(&asked, job->params[STREAM_STRATEGY], reason);
}

static int stream_open(void *state, const struct weir_job *job) {
  const struct weir_stream_options options = {.block_bytes = stream_block(job),
                                              .depth = (unsigned)job->params[STREAM_AHEAD],
                                              .offset = job->part_offset,
                                              .length = job->part_length,
                                              .strategy = weir_job_strategy(job->params[STREAM_STRATEGY])};
  struct weir_stream **stream = &((struct stream_state *)state)->stream;
  int code = weir_stream_open(job->path, &options, stream, NULL);
  return code < 0 ? weir_job_refused(job, "opening for reading", code) : 0;
}

static int stream_text(struct weir_stream *stream, const struct weir_job *job, struct weir_flow *flow) {
  const uint64_t began = weir_operation_begin(flow);
  uint64_t at = 0;
  int code = 1;
  while (code > 0) {
    struct weir_slice block;
    if (weir_stopped(flow)) return 0;
    code = weir_stream_next(stream, &block);
    if (code < 0) return weir_job_failed(job, "reading", weir_stream_error(stream));
    if (code == 0) break;
    weir_deliver(flow, at, block.data, block.size);
    at += block.size;
  }
  if (at < job->part_length) return target_ended(job, at);
  weir_operation_end(flow, began);
  return 0;
}

static int stream_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct weir_stream *stream = ((struct stream_state *)state)->stream;
  if (job->task == WEIR_TASK_TEXT) return budget == 0 ? 0 : stream_text(stream, job, flow);
  const uint64_t count = landing_count(job, budget);
  for (uint64_t i = 0; i < count && !weir_stopped(flow); i++) {
    const uint64_t began = weir_operation_begin(flow), offset = weir_order_offset(job, i);
    struct weir_slice block;
    const int code = weir_stream_next(stream, &block);
    if (code < 0) return weir_job_failed(job, "reading", weir_stream_error(stream));
    if (code == 0) return target_ended(job, offset);
    if (block.size != weir_order_length(job, offset)) return target_ended(job, offset + block.size);
    weir_deliver(flow, offset, block.data, block.size);
    weir_operation_end(flow, began);
  }
  return 0;
}

static int stream_close(void *state, const struct weir_job *job) {
  int code = weir_stream_close(((struct stream_state *)state)->stream, NULL);
  return code < 0 ? weir_job_refused(job, "closing", code) : 0;
}

static const struct weir_param stream_params[] = {
    [STREAM_BLOCK] = LANDING_PARAM_BLOCK(LANDING_BLOCK_SWEEP),
    [STREAM_STRATEGY] = WEIR_JOB_PARAM_STRATEGY,
    [STREAM_AHEAD] = {.name = "ahead",
                      .kind = WEIR_PARAM_COUNT,
                      .preset = "0",
                      .min = 0,
                      .max = 64,
                      WEIR_PARAM_EVERYWHERE,
                      .help = "blocks read ahead at most; 0: the library chooses"},
};

const struct weir_method methods_weir_stream = {METHODS_ABI,
                                                METHODS_READS,
                                                .name = "weir/stream",
                                                .summary = "libweir: blocks in order, read ahead where that helps",
                                                .calls = "weir_stream_open(3), weir_stream_next(3)",
                                                .tasks = WEIR_BIT(WEIR_TASK_BLOCKS) | WEIR_BIT(WEIR_TASK_TEXT),
                                                .accesses = WEIR_BIT(WEIR_SEQUENTIAL),
                                                .params = stream_params,
                                                .param_count = METHODS_COUNT(stream_params),
                                                .state_size = sizeof(struct stream_state),
                                                .probe = stream_probe,
                                                .setup = nothing,
                                                .open = stream_open,
                                                .run = stream_run,
                                                .close = stream_close,
                                                .teardown = view_teardown};

/* ---- weir/writer --------------------------------------------------------------------------------------------------- */

enum { WRITER_BLOCK, WRITER_STRATEGY, WRITER_RESERVE };

/* A file that is made anew is the writer's own, by its path; one that is overwritten, or shared, is opened for it. */
struct writer_state {
  struct landing landing;
  struct weir_writer writer;
  struct weir_file *file; /* NULL: the writer's own */
  bool finished;
};

static bool is_own(const struct weir_job *job) {
  return job->instances == 1 && (job->target == WEIR_TARGET_NEW || job->target == WEIR_TARGET_TRUNCATE);
}

static int writer_probe(const struct weir_job *job, struct weir_reason *reason) {
  return weir_job_probe(job, job->params[WRITER_STRATEGY], reason);
}

static int writer_setup(void *state, const struct weir_job *job) {
  struct writer_state *s = state;
  return landing_setup(&s->landing, job, &(struct landing_wish){.policy = WEIR_BUFFER_REUSED});
}

static struct weir_writer_options writer_options(const struct weir_job *job) {
  struct weir_writer_options options = {.strategy = weir_job_strategy(job->params[WRITER_STRATEGY])};
  if (job->durability == WEIR_DURABILITY_EACH) options.flags |= WEIR_DURABLE;
  if (!is_own(job)) return options;
  if (job->durability == WEIR_DURABILITY_END) options.flags |= WEIR_DURABLE;
  if (job->target == WEIR_TARGET_NEW) options.flags |= WEIR_NEW;
  if (job->params[WRITER_RESERVE]) options.expected_bytes = job->file_size;
  return options;
}

static int open_shared(struct writer_state *s, const struct weir_job *job, const struct weir_writer_options *options) {
  const struct weir_job_wish wish = {.strategy = options->strategy};
  struct weir_error error;
  int code = weir_job_open(job, &wish, &s->file);
  if (code < 0) return code;
  code = weir_file_seek(s->file, job->part_offset);
  if (code == 0) code = weir_writer_open_file(&s->writer, s->file, options, &error);
  if (code == 0) return 0;
  (void)weir_file_close(s->file, NULL);
  return weir_job_refused(job, "opening for writing", code);
}

static int writer_open(void *state, const struct weir_job *job) {
  struct writer_state *s = state;
  const struct weir_writer_options options = writer_options(job);
  s->file = NULL;
  s->finished = false;
  if (!is_own(job)) return open_shared(s, job, &options);
  int code = weir_writer_open(&s->writer, job->path, &options, NULL);
  return code < 0 ? weir_job_refused(job, "opening for writing", code) : 0;
}

static int writer_failed(struct writer_state *s, const struct weir_job *job) {
  int code = weir_job_failed(job, "writing", weir_writer_error(&s->writer));
  weir_writer_abandon(&s->writer);
  s->finished = true;
  return code;
}

static int writer_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct writer_state *s = state;
  const bool each = job->durability == WEIR_DURABILITY_EACH;
  const uint64_t count = landing_count(job, budget);
  uint64_t done = 0;
  landing_supply_all(&s->landing, job, flow, count);
  for (; done < count && !weir_stopped(flow); done++) {
    const struct landing_piece piece = landing_piece(&s->landing, job, done, 0);
    landing_supply(&s->landing, flow, piece);
    const uint64_t began = weir_operation_begin(flow);
    int code = weir_writer_put(&s->writer, piece.data, piece.length);
    if (code == 0 && each) code = weir_writer_flush(&s->writer);
    if (code < 0) return writer_failed(s, job);
    weir_operation_end(flow, began);
  }
  landing_settle(&s->landing, job, flow, count, done);
  /* What is durable at the end is flushed in the sync phase, with the rest of the buffer. */
  const bool later = is_own(job) && job->durability == WEIR_DURABILITY_END;
  return later || weir_writer_flush(&s->writer) == 0 ? 0 : writer_failed(s, job);
}

static int finish(struct writer_state *s, const struct weir_job *job, const char *doing) {
  s->finished = true;
  int code = weir_writer_finish(&s->writer, NULL);
  return code < 0 ? weir_job_refused(job, doing, code) : 0;
}

static int writer_sync(void *state, const struct weir_job *job) {
  struct writer_state *s = state;
  return s->file ? weir_job_sync(job, s->file) : finish(s, job, "flushing to storage");
}

static int writer_close(void *state, const struct weir_job *job) {
  struct writer_state *s = state;
  const int finished = s->finished ? 0 : finish(s, job, "closing");
  const int closed = s->file ? weir_job_close(job, s->file) : 0;
  return finished ? finished : closed;
}

static void writer_teardown(void *state, const struct weir_job *job) {
  landing_teardown(&((struct writer_state *)state)->landing, job);
}

static const struct weir_param writer_params[] = {
    [WRITER_BLOCK] = LANDING_PARAM_BLOCK(NULL),
    [WRITER_STRATEGY] = WEIR_JOB_PARAM_STRATEGY,
    [WRITER_RESERVE] = {.name = "reserve",
                        .kind = WEIR_PARAM_CHOICE,
                        .preset = "no",
                        .choices = "no|yes",
                        WEIR_PARAM_EVERYWHERE,
                        .help = "is the writer told the size of what comes",
                        .targets = WEIR_BIT(WEIR_TARGET_NEW) | WEIR_BIT(WEIR_TARGET_TRUNCATE)},
};

const struct weir_method methods_weir_writer = {
    METHODS_ABI,
    METHODS_WRITES,
    .name = "weir/writer",
    .summary = "libweir: pieces collected and written in order",
    .calls = "weir_writer_open(3) or weir_writer_open_file(3), weir_writer_put(3), weir_writer_finish(3)",
    .tasks = METHODS_BOTH_TASKS,
    .accesses = WEIR_BIT(WEIR_SEQUENTIAL),
    .params = writer_params,
    .param_count = METHODS_COUNT(writer_params),
    .state_size = sizeof(struct writer_state),
    .probe = writer_probe,
    .setup = writer_setup,
    .open = writer_open,
    .run = writer_run,
    .sync = writer_sync,
    .close = writer_close,
    .teardown = writer_teardown};
