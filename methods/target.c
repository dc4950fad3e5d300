/*
 * target.c - opens, flushes and closes the job's file; turns error values into words. Moves no data.
 */
#include "target.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *target_words(int error, char out[TARGET_WORDS_MAX]) {
  if (strerror_r(-error, out, TARGET_WORDS_MAX) != 0) (void)snprintf(out, TARGET_WORDS_MAX, "error %d", -error);
  return out;
}

int target_failed(const struct weir_job *job, const char *doing, uint64_t offset, uint64_t length, int error) {
  char text[TARGET_WORDS_MAX];
  return job->host->fail(job, error, "%s %" PRIu64 " bytes at %" PRIu64 ": %s", doing, length, offset, target_words(error, text));
}

int target_refused(const struct weir_job *job, const char *doing, int error) {
  char text[TARGET_WORDS_MAX];
  return job->host->fail(job, error, "%s: %s", doing, target_words(error, text));
}

void target_remedy(const struct weir_job *job, const char *remedy) {
  (void)snprintf(job->reason->remedy, sizeof job->reason->remedy, "%s", remedy);
}

int target_ended(const struct weir_job *job, uint64_t at) {
  return job->host->fail(job, -ENODATA, "file ended at byte %" PRIu64 "; %" PRIu64 " expected", at, job->file_size);
}

int target_unavailable(struct weir_reason *reason, int error, const char *what, const char *remedy) {
  char text[TARGET_WORDS_MAX];
  (void)snprintf(reason->text, sizeof reason->text, "%s: %s", what, target_words(error, text));
  (void)snprintf(reason->remedy, sizeof reason->remedy, "%s", remedy);
  return error;
}

int target_unfit(struct weir_reason *reason, int error, const char *text, const char *remedy) {
  (void)snprintf(reason->text, sizeof reason->text, "%s", text);
  (void)snprintf(reason->remedy, sizeof reason->remedy, "%s", remedy);
  return error;
}

static unsigned direction_flags(const struct weir_job *job) {
  if (job->direction == WEIR_READ) return OS_READ;
  if (job->direction == WEIR_MIXED) return OS_READ | OS_WRITE;
  if (!weir_is_first(job)) return OS_WRITE;
  if (job->target == WEIR_TARGET_NEW) return OS_WRITE | OS_CREATE | OS_EXCLUSIVE;
  if (job->target == WEIR_TARGET_TRUNCATE) return OS_WRITE | OS_TRUNCATE;
  return OS_WRITE;
}

static int make_name_durable(const struct weir_job *job) {
  int error = os_sync_directory(job->directory);
  return error ? target_refused(job, "flushing the directory", error) : 0;
}

int target_open(const struct weir_job *job, unsigned flags, os_file *out) {
  int error = os_open(job->path, direction_flags(job) | flags, out);
  if (error) return target_refused(job, job->direction == WEIR_READ ? "opening for reading" : "opening for writing", error);
  /* Each write is durable by itself, but nobody would find the file after a crash if its name were not. */
  const bool created = job->direction == WEIR_WRITE && job->target == WEIR_TARGET_NEW && weir_is_first(job);
  if (!created || job->durability != WEIR_DURABILITY_EACH) return 0;
  error = make_name_durable(job);
  if (error) (void)os_close(*out);
  return error;
}

/* Does the file start out empty, so that this writer gives it its length? */
static bool starts_empty(const struct weir_job *job) {
  return job->direction == WEIR_WRITE && (job->target == WEIR_TARGET_NEW || job->target == WEIR_TARGET_TRUNCATE);
}

int target_give_length(os_file file, uint64_t size, enum target_extend extend) {
  switch (extend) {
    case TARGET_RESIZE:
      return os_resize(file, size);
    case TARGET_ALLOCATE:
      return os_allocate(file, size);
    case TARGET_ZERO:
      return os_allocate_zeroed(file, size);
    case TARGET_GROW:
    case TARGET_APPEND:
      break;
  }
  return 0;
}

int target_open_extending(const struct weir_job *job, unsigned flags, enum target_extend extend, os_file *out) {
  if (!starts_empty(job)) return target_open(job, flags, out);
  int error = target_open(job, flags | (extend == TARGET_APPEND ? OS_APPEND : 0), out);
  if (error || !weir_is_first(job) || job->file_size == 0) return error;
  error = target_give_length(*out, job->file_size, extend);
  if (!error) return 0;
  error = target_failed(job, "allocating", 0, job->file_size, error);
  (void)os_close(*out);
  return error;
}

int target_probe_extend(const struct weir_job *job, enum target_extend extend, struct weir_reason *reason) {
  if (!starts_empty(job)) return 0;
  if (extend == TARGET_APPEND && (job->instances > 1 || job->access != WEIR_SEQUENTIAL))
    return target_unfit(reason, -EINVAL, "writes that append keep the order in which they are made",
                        "use one thread and sequential access, or another extend");
  os_file file;
  if (extend == TARGET_GROW || extend == TARGET_APPEND || target_open_scratch(job, 0, &file) != 0) return 0;
  int error = target_give_length(file, os_page_size(), extend);
  (void)os_close(file);
  return error
             ? target_unavailable(reason, error, "giving a file its length ahead", "use extend=grow, or another file system")
             : 0;
}

int target_advise(const struct weir_job *job, os_file file, enum os_advice advice) {
  if (advice == OS_ADVICE_NORMAL || job->part_length == 0) return 0;
  int error = os_advise(file, job->part_offset, job->part_length, advice);
  return error ? target_refused(job, "telling the system how the file will be read", error) : 0;
}

int target_close(const struct weir_job *job, os_file file) {
  int error = os_close(file);
  return error ? target_refused(job, "closing", error) : 0;
}

int target_sync(const struct weir_job *job, os_file file) {
  const bool created = job->target == WEIR_TARGET_NEW;
  int error = os_sync(file, created);
  if (error) return target_refused(job, "flushing to storage", error);
  return created && weir_is_first(job) ? make_name_durable(job) : 0;
}

int target_check_size(const struct weir_job *job, os_file file) {
  struct os_stat facts;
  int error = os_stat_file(file, &facts);
  if (error) return target_refused(job, "asking for the size", error);
  if (facts.kind == OS_REGULAR && facts.size < target_part_end(job)) return target_ended(job, facts.size);
  return 0;
}

int target_open_scratch(const struct weir_job *job, unsigned flags, os_file *out) {
  return os_open(job->directory, OS_READ | OS_WRITE | OS_UNNAMED | flags, out);
}

int target_open_trial(const struct weir_job *job, unsigned flags, os_file *out, bool *scratch) {
  *scratch = false;
  int error = os_open(job->path, OS_READ | flags, out);
  if (error != -ENOENT || job->direction == WEIR_READ) return error;
  *scratch = true;
  return target_open_scratch(job, flags, out);
}
