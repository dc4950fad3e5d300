/*
 * weir_copier.c - libweir in tasks `copy` and `many`: one call for each copy, one call for all copies, one call for each
 * file that is read. Uses the library through weir.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "copier.h"
#include "weir_job.h"

/* The library's words for what failed in one file. */
static int failed_in(const struct weir_job *job, uint64_t offset, const struct weir_error *error) {
  return job->host->fail(job, error->code, "%s, file %08" PRIu64 ": %s", error->operation ? error->operation : "copy",
                         offset / job->block, weir_strerror(error->code));
}

/* A call that takes whatever is there has found `size` bytes. */
static int check_size(const struct weir_job *job, uint64_t offset, uint64_t size) {
  const size_t length = weir_order_length(job, offset);
  if (size < length) return files_ended(job, offset + size);
  return size > length ? files_too_long(job, offset) : 0;
}

/* ---- weir/copy ----------------------------------------------------------------------------------------------------- */

enum { COPY_CHUNK, COPY_CLONE, COPY_CREW };
enum { CLONE_AUTO, CLONE_NEVER };

static void fill_options(const struct weir_job *job, struct weir_copy_options *options) {
  options->block_bytes = (size_t)job->params[COPY_CHUNK];
  if (job->params[COPY_CLONE] == CLONE_NEVER) options->flags |= WEIR_COPY_NO_CLONE;
  if (job->durability == WEIR_DURABILITY_EACH) options->flags |= WEIR_DURABLE;
}

static int copy_file(struct copier *c, const struct weir_job *job, uint64_t offset) {
  struct weir_copy_options options = {.flags = 0};
  struct weir_copy_result result;
  struct weir_error error;
  fill_options(job, &options);
  if (weir_copy_file(c->files.source, c->files.copy, &options, &result, &error) < 0) return failed_in(job, offset, &error);
  return check_size(job, offset, result.bytes);
}

static const struct copier_way by_library = {.durable = true, .by_name = copy_file};

#define COPY_PARAMS                                                         \
  [COPY_CHUNK] = {.name = "chunk",                                          \
                  .kind = WEIR_PARAM_SIZE,                                  \
                  .preset = "0",                                            \
                  .min = 0,                                                 \
                  .max = 1 << 30,                                           \
                  WEIR_PARAM_EVERYWHERE,                                    \
                  .help = "bytes moved at a time; 0: the library chooses"}, \
  [COPY_CLONE] = {.name = "clone",                                          \
                  .kind = WEIR_PARAM_CHOICE,                                \
                  .preset = "auto",                                         \
                  .choices = "auto|never",                                  \
                  WEIR_PARAM_EVERYWHERE,                                    \
                  .help = "auto: storage is shared where the file system can; never: the bytes are moved all the same"}

static const struct weir_param copy_params[] = {COPY_PARAMS};

const struct weir_method methods_weir_copy = {COPIER_METHOD,
                                              .name = "weir/copy",
                                              .summary = "libweir: one call for each file",
                                              .calls = "weir_copy_file(3)",
                                              .params = copy_params,
                                              .param_count = METHODS_COUNT(copy_params),
                                              .data = &by_library};

/* ---- weir/copy-many ------------------------------------------------------------------------------------------------ */

/* All the job's files in one call. */
struct crowd {
  struct copier copier; /* for names and flushing; first, so that copier's functions take it */
  struct weir_copy_options options;
  char *names;
  const char **sources;
  struct weir_copy_result *results;
  uint64_t count; /* results of this pass */
};

static int crowd_setup(void *state, const struct weir_job *job) {
  struct crowd *s = state;
  const size_t room = strlen(job->path) + WEIR_MANY_NAME, count = (size_t)job->operations;
  int error = copier_setup(&s->copier, job);
  if (error) return error;
  fill_options(job, &s->options);
  s->options.threads = (unsigned)job->params[COPY_CREW];
  if (count == 0) return 0;
  s->names = calloc(count, room);
  s->sources = calloc(count, sizeof *s->sources);
  s->results = calloc(count, sizeof *s->results);
  if (!s->names || !s->sources || !s->results) return job->host->fail(job, -ENOMEM, "no memory for %zu names", count);
  for (size_t i = 0; i < count; i++) s->sources[i] = weir_many_path(job, weir_order_offset(job, i), s->names + i * room);
  return 0;
}

static void crowd_teardown(void *state, const struct weir_job *job) {
  struct crowd *s = state;
  free(s->names);
  free(s->sources);
  free(s->results);
  copier_teardown(&s->copier, job);
}

static int stopped(void *context, const struct weir_copy_progress *now) {
  (void)now;
  return weir_stopped(context);
}

/* The first that failed for itself, not because others did or somebody stopped it all. */
static int judge(const struct crowd *s, const struct weir_job *job) {
  for (uint64_t i = 0; i < s->count; i++) {
    const struct weir_copy_result *result = &s->results[i];
    const uint64_t offset = weir_order_offset(job, i);
    if (result->status < 0 && result->status != WEIR_ECANCELED) return failed_in(job, offset, &result->error);
    int error = result->status == 0 ? check_size(job, offset, result->bytes) : 0;
    if (error) return error;
  }
  return 0;
}

static uint64_t count_done(const struct crowd *s, struct weir_flow *flow) {
  uint64_t done = 0;
  for (uint64_t i = 0; i < s->count; i++) {
    if (s->results[i].status != 0) continue;
    weir_passed(flow, s->results[i].bytes);
    done++;
  }
  return done;
}

static int crowd_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct crowd *s = state;
  struct weir_error error = {.code = 0};
  s->count = 0;
  const uint64_t count = budget < job->operations ? budget : job->operations;
  if (count == 0 || weir_stopped(flow)) return 0;
  const uint64_t began = weir_operation_begin(flow);
  s->count = count;
  s->options.progress = stopped;
  s->options.context = flow;
  int code = weir_copy(s->sources, (size_t)count, &job->copy_directory, 1, NULL, &s->options, s->results, &error);
  int failed = judge(s, job);
  if (failed) return failed;
  if (code < 0 && code != WEIR_ECANCELED) return weir_job_refused(job, "copying", code);
  const uint64_t done = count_done(s, flow);
  if (done == 0) return 0;
  flow->operations += done - 1;
  weir_operation_end(flow, began);
  return 0;
}

static int crowd_sync(void *state, const struct weir_job *job) {
  struct crowd *s = state;
  int error = 0;
  for (uint64_t i = 0; i < s->count && !error; i++)
    if (s->results[i].status == 0) error = copier_flush_name(&s->copier, job, weir_order_offset(job, i));
  return error || s->count == 0 ? error : copier_flush_directory(job);
}

static const struct copier_way crowd_way = {.durable = true};
static const struct weir_param crowd_params[] = {
    COPY_PARAMS, [COPY_CREW] = {.name = "crew",
                                .kind = WEIR_PARAM_COUNT,
                                .preset = "1",
                                .sweep = "1|10",
                                .min = 1,
                                .max = 64,
                                WEIR_PARAM_EVERYWHERE,
                                .help = "threads that the library writes copies with"}};

const struct weir_method methods_weir_copy_many = {METHODS_ABI,
                                                   METHODS_WRITES,
                                                   .name = "weir/copy-many",
                                                   .summary = "libweir: one call for all files",
                                                   .calls = "weir_copy(3)",
                                                   .tasks = WEIR_BIT(WEIR_TASK_COPY),
                                                   .accesses = WEIR_BIT(WEIR_SEQUENTIAL),
                                                   .params = crowd_params,
                                                   .param_count = METHODS_COUNT(crowd_params),
                                                   .state_size = sizeof(struct crowd),
                                                   .setup = crowd_setup,
                                                   .open = copier_open,
                                                   .run = crowd_run,
                                                   .sync = crowd_sync,
                                                   .close = copier_close,
                                                   .teardown = crowd_teardown,
                                                   .data = &crowd_way};

/* ---- weir/read-many ------------------------------------------------------------------------------------------------ */

enum { READ_MEMORY };
enum { MEMORY_REUSED, MEMORY_FRESH, MEMORY_CALLER };

struct read_many {
  struct files files;
  struct weir_bytes bytes;
  void *data; /* the caller's */
  size_t size;
};

static int read_many_setup(void *state, const struct weir_job *job) {
  struct read_many *s = state;
  int error = files_setup(&s->files, job);
  if (error || job->params[READ_MEMORY] != MEMORY_CALLER) return error;
  s->size = (size_t)job->block;
  error = job->host->buffer_get(job, s->size, 1, WEIR_BUFFER_REUSED, &s->data);
  return error ? job->host->fail(job, error, "no memory for %zu bytes", s->size) : 0;
}

static void read_many_teardown(void *state, const struct weir_job *job) {
  struct read_many *s = state;
  files_teardown(&s->files);
  weir_bytes_free(&s->bytes);
  if (s->data) job->host->buffer_put(job, s->data, s->size);
}

static int read_into(struct read_many *s, const struct weir_job *job, struct weir_flow *flow, uint64_t offset) {
  struct weir_error error;
  size_t size = 0;
  const int code = weir_read_into(files_source(&s->files, job, offset), s->data, s->size, &size, &error);
  if (code < 0) return failed_in(job, offset, &error);
  const int wrong = code == WEIR_MORE ? files_too_long(job, offset) : check_size(job, offset, size);
  if (!wrong) weir_deliver(flow, offset, s->data, size);
  return wrong;
}

static int read_bytes(struct read_many *s, const struct weir_job *job, struct weir_flow *flow, uint64_t offset) {
  struct weir_error error;
  if (weir_read_file(files_source(&s->files, job, offset), &s->bytes, NULL, &error) < 0)
    return failed_in(job, offset, &error);
  const int wrong = check_size(job, offset, s->bytes.size);
  if (!wrong) weir_deliver(flow, offset, s->bytes.data, s->bytes.size);
  if (job->params[READ_MEMORY] == MEMORY_FRESH) weir_bytes_free(&s->bytes);
  return wrong;
}

static int read_many_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  const uint64_t count = budget < job->operations ? budget : job->operations;
  for (uint64_t i = 0; i < count && !weir_stopped(flow); i++) {
    const uint64_t began = weir_operation_begin(flow), offset = weir_order_offset(job, i);
    int error = job->params[READ_MEMORY] == MEMORY_CALLER ? read_into(state, job, flow, offset)
                                                          : read_bytes(state, job, flow, offset);
    if (error) return error;
    weir_operation_end(flow, began);
  }
  return 0;
}

static int nothing(void *state, const struct weir_job *job) {
  (void)state, (void)job;
  return 0;
}

static const struct weir_param read_many_params[] = {
    [READ_MEMORY] = {.name = "memory",
                     .kind = WEIR_PARAM_CHOICE,
                     .preset = "reused",
                     .sweep = "reused|caller",
                     .choices = "reused|fresh|caller",
                     WEIR_PARAM_EVERYWHERE,
                     .help = "one struct weir_bytes for all files, one for each, or weir_read_into the caller's memory"}};

const struct weir_method methods_weir_read_many = {METHODS_ABI,
                                                   METHODS_READS,
                                                   .name = "weir/read-many",
                                                   .summary = "libweir: one call for each file",
                                                   .calls = "weir_read_file(3), weir_read_into(3)",
                                                   .tasks = WEIR_BIT(WEIR_TASK_MANY),
                                                   .accesses = METHODS_BOTH_ACCESSES,
                                                   .params = read_many_params,
                                                   .param_count = METHODS_COUNT(read_many_params),
                                                   .state_size = sizeof(struct read_many),
                                                   .setup = read_many_setup,
                                                   .open = nothing,
                                                   .run = read_many_run,
                                                   .close = nothing,
                                                   .teardown = read_many_teardown};
