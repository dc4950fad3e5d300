/*
 * weir_job.c - opens, flushes and closes the job's file through libweir; turns its errors into words. Moves no data.
 */
#include "weir_job.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "aligned.h"
#include "transfer.h"

enum weir_strategy weir_job_strategy(uint64_t value) {
  static const enum weir_strategy strategies[] = {WEIR_AUTO, WEIR_BUFFERED, WEIR_DIRECT, WEIR_UNCACHED};
  return strategies[value];
}

int weir_job_failed_at(const struct weir_job *job, const char *doing, uint64_t offset, uint64_t length, int error) {
  return job->host->fail(job, error, "%s %" PRIu64 " bytes at %" PRIu64 ": %s", doing, length, offset, weir_strerror(error));
}

int weir_job_failed(const struct weir_job *job, const char *doing, const struct weir_error *error) {
  if (error->size == 0 && error->offset == 0 && error->operation)
    return weir_job_refused(job, error->operation, error->code); /* no transfer */
  return weir_job_failed_at(job, doing, error->offset, error->size, error->code);
}

int weir_job_refused(const struct weir_job *job, const char *doing, int error) {
  return job->host->fail(job, error, "%s: %s", doing, weir_strerror(error));
}

/* ---- probes -------------------------------------------------------------------------------------------------------- */

#define UNCACHED_REMEDY "use strategy=auto, or Linux 6.14 or later and a file system that knows it, such as ext4 or xfs"

int weir_job_probe(const struct weir_job *job, uint64_t value, struct weir_reason *reason) {
  if (value == WEIR_JOB_DIRECT) return aligned_probe(job, reason);
  return value == WEIR_JOB_UNCACHED ? transfer_probe_flags(job, OS_TRANSFER_UNCACHED, UNCACHED_REMEDY, reason) : 0;
}

static int too_long(const struct weir_job *job, struct weir_reason *reason) {
  struct os_stat facts;
  const bool longer = job->direction == WEIR_READ && os_stat_path(job->path, &facts) == 0 && facts.size > job->file_size;
  if (!longer && job->operations == job->blocks) return 0;
  return target_unfit(reason, -EOPNOTSUPP, "one call moves the whole file, and a part of it is measured here",
                      "use a smaller file, or a --size that is that of the file");
}

int weir_job_whole_file(const struct weir_job *job, struct weir_reason *reason) {
  if (job->instances > 1)
    return target_unfit(reason, -EOPNOTSUPP, "one call moves the whole file: threads cannot share it",
                        "use one thread, or weir/pread and weir/pwrite");
  return too_long(job, reason);
}

/* ---- the file ------------------------------------------------------------------------------------------------------ */

/* Of writers the first instance makes or cuts the file. */
static bool makes(const struct weir_job *job) {
  const bool empty = job->target == WEIR_TARGET_NEW || job->target == WEIR_TARGET_TRUNCATE;
  return job->direction == WEIR_WRITE && empty && weir_is_first(job);
}

static int make_name_durable(const struct weir_job *job) {
  const bool created = job->direction == WEIR_WRITE && job->target == WEIR_TARGET_NEW && weir_is_first(job);
  int error = created ? os_sync_directory(job->directory) : 0;
  return error ? weir_job_refused(job, "flushing the directory", error) : 0;
}

static int give_length(const struct weir_job *job, struct weir_file *file, enum target_extend extend) {
  if (!makes(job) || job->file_size == 0) return 0;
  int error = 0;
  if (extend == TARGET_RESIZE) error = weir_file_resize(file, job->file_size);
  if (extend == TARGET_ALLOCATE) error = weir_file_preallocate(file, job->file_size);
  return error ? weir_job_failed_at(job, "allocating", 0, job->file_size, error) : 0;
}

int weir_job_open(const struct weir_job *job, const struct weir_job_wish *wish, struct weir_file **out) {
  struct weir_open_options options = {.hint = wish->hint, .strategy = wish->strategy, .write_through = wish->write_through};
  struct weir_error error;
  options.access = job->direction == WEIR_READ ? WEIR_OPEN_READ : makes(job) ? WEIR_OPEN_WRITE : WEIR_OPEN_UPDATE;
  if (makes(job) && job->target == WEIR_TARGET_NEW) options.flags = WEIR_NEW;
  int code = weir_file_open(job->path, &options, out, &error);
  if (code < 0)
    return weir_job_refused(job, job->direction == WEIR_READ ? "opening for reading" : "opening for writing", code);
  code = give_length(job, *out, wish->extend);
  if (code == 0 && job->durability == WEIR_DURABILITY_EACH) code = make_name_durable(job);
  if (code < 0) (void)weir_file_close(*out, NULL);
  return code;
}

int weir_job_sync(const struct weir_job *job, struct weir_file *file) {
  int code = weir_file_sync(file);
  return code < 0 ? weir_job_refused(job, "flushing to storage", code) : make_name_durable(job);
}

int weir_job_close(const struct weir_job *job, struct weir_file *file) {
  int code = weir_file_close(file, NULL);
  if (code == 0 || job->reason->text[0]) return code; /* a failure that was told already comes once more */
  return weir_job_refused(job, "closing", code);
}
