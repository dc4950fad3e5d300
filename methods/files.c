/*
 * files.c - names, opening and words for jobs whose bytes lie in many files.
 */
#include "files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "target.h"

static char *room_for(const char *directory) { return malloc(strlen(directory) + WEIR_MANY_NAME); }

int files_setup(struct files *files, const struct weir_job *job) {
  files->source = room_for(job->path);
  if (job->copy_directory) files->copy = room_for(job->copy_directory);
  if (files->source && (files->copy || !job->copy_directory)) return 0;
  return job->host->fail(job, -ENOMEM, "no memory for names");
}

void files_teardown(struct files *files) {
  free(files->source);
  free(files->copy);
}

const char *files_source(struct files *files, const struct weir_job *job, uint64_t offset) {
  return weir_many_path(job, offset, files->source);
}

const char *files_copy(struct files *files, const struct weir_job *job, uint64_t offset) {
  return weir_copy_path(job, offset, files->copy);
}

const char *files_base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

int files_failed(const struct weir_job *job, const char *doing, uint64_t offset, int error) {
  const uint64_t number = offset / job->block, at = offset % job->block;
  char text[TARGET_WORDS_MAX];
  (void)target_words(error, text);
  if (at == 0) return job->host->fail(job, error, "%s file %08" PRIu64 ": %s", doing, number, text);
  return job->host->fail(job, error, "%s file %08" PRIu64 " at byte %" PRIu64 ": %s", doing, number, at, text);
}

int files_ended(const struct weir_job *job, uint64_t offset) {
  const uint64_t first = offset - offset % job->block;
  return job->host->fail(job, -ENODATA, "file %08" PRIu64 " ended at byte %" PRIu64 "; %zu expected", offset / job->block,
                         offset - first, weir_order_length(job, first));
}

int files_too_long(const struct weir_job *job, uint64_t offset) {
  return job->host->fail(job, -EFBIG, "file %08" PRIu64 " has more than the %zu bytes expected", offset / job->block,
                         weir_order_length(job, offset));
}

int files_open(struct files *files, const struct weir_job *job, uint64_t offset, unsigned flags, os_file *out) {
  int error = os_open(files_source(files, job, offset), OS_READ | flags, out);
  return error ? files_failed(job, "opening", offset, error) : 0;
}

int files_check_size(const struct weir_job *job, os_file file, uint64_t offset) {
  const size_t length = weir_order_length(job, offset);
  struct os_stat facts;
  int error = os_stat_file(file, &facts);
  if (error) return files_failed(job, "asking for the size of", offset, error);
  if (facts.size < length) return files_ended(job, offset + facts.size);
  return facts.size > length ? files_too_long(job, offset) : 0;
}

int files_close(const struct weir_job *job, os_file file, uint64_t offset) {
  int error = os_close(file);
  return error ? files_failed(job, "closing", offset, error) : 0;
}
