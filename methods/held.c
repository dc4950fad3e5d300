/*
 * held.c - maps the job's file or reads it whole. What is done with its bytes is the families' own.
 */
#include "held.h"

#include <errno.h>

enum { ADVICE_NONE, ADVICE_SEQUENTIAL, ADVICE_POPULATE };

static const unsigned char nothing = 0; /* what an empty file is */

static int check_room(struct held *held, const struct weir_job *job) {
  if (job->file_size > SIZE_MAX / 2) return job->host->fail(job, -EOVERFLOW, "the file does not fit into the address space");
  held->size = (size_t)job->file_size;
  return 0;
}

/* ---- mapped -------------------------------------------------------------------------------------------------------- */

static unsigned map_flags(const struct weir_job *job) {
  return (job->params[HELD_MAPPING] ? OS_MAP_PRIVATE : 0u) |
         (job->params[HELD_ADVICE] == ADVICE_POPULATE ? OS_MAP_POPULATE : 0u);
}

int held_probe_map(const struct weir_job *job, struct weir_reason *reason) {
  os_file file;
  void *view = NULL;
  const size_t length = os_page_size(); /* mapping past the end is fine as long as nobody looks */
  int error = os_open(job->path, OS_READ, &file);
  if (error) return target_unavailable(reason, error, "opening for reading", "name a file that can be read");
  error = os_map(file, length, map_flags(job) & ~(unsigned)OS_MAP_POPULATE, &view);
  (void)os_close(file);
  if (error) return target_unavailable(reason, error, "this file cannot be mapped", "use a method that reads it");
  (void)os_unmap(view, length);
  return 0;
}

static int make_map(struct held *held, const struct weir_job *job) {
  void *view = NULL;
  int error = os_map(held->file, held->size, map_flags(job), &view);
  if (error) return target_failed(job, "mapping", 0, held->size, error);
  held->data = view;
  if (job->params[HELD_ADVICE] != ADVICE_SEQUENTIAL) return 0;
  error = os_map_advise(view, held->size, OS_ADVICE_SEQUENTIAL);
  if (!error) return 0;
  (void)os_unmap(view, held->size);
  return target_refused(job, "advising how the map will be used", error);
}

int held_map(struct held *held, const struct weir_job *job) {
  int error = check_room(held, job);
  if (!error) error = target_open(job, 0, &held->file);
  if (error) return error;
  error = target_check_size(job, held->file);
  if (!error) error = make_map(held, job);
  if (error) (void)os_close(held->file);
  return error;
}

int held_unmap(struct held *held, const struct weir_job *job) {
  const int unmapped = os_unmap((void *)(uintptr_t)held->data, held->size), closed = target_close(job, held->file);
  return unmapped ? target_refused(job, "unmapping", unmapped) : closed;
}

/* ---- read ---------------------------------------------------------------------------------------------------------- */

static int get(struct held *held, const struct weir_job *job) {
  held->data = &nothing;
  if (held->size == 0) return 0;
  int error = job->host->buffer_get(job, held->size, 1, held->policy, &held->room);
  if (error) return job->host->fail(job, error, "no memory for a buffer of %zu bytes", held->size);
  held->data = held->room;
  return 0;
}

static void put(struct held *held, const struct weir_job *job) {
  if (held->room) job->host->buffer_put(job, held->room, held->size);
  held->room = NULL;
}

int held_setup(struct held *held, const struct weir_job *job, enum weir_buffer_policy policy) {
  held->policy = policy;
  int error = check_room(held, job);
  return error || policy != WEIR_BUFFER_REUSED ? error : get(held, job);
}

int held_open(struct held *held, const struct weir_job *job) {
  int error = target_open(job, 0, &held->file);
  if (error || held->policy == WEIR_BUFFER_REUSED) return error;
  error = get(held, job);
  if (error) (void)os_close(held->file);
  return error;
}

int held_read(struct held *held, const struct weir_job *job) {
  for (size_t done = 0; done < held->size;) {
    const int64_t count = os_read(held->file, (unsigned char *)held->room + done, held->size - done);
    if (count < 0) return target_failed(job, "reading", done, held->size - done, (int)count);
    if (count == 0) return target_ended(job, done);
    done += (size_t)count;
  }
  return 0;
}

int held_close(struct held *held, const struct weir_job *job) {
  if (held->policy != WEIR_BUFFER_REUSED) put(held, job);
  return target_close(job, held->file);
}

void held_teardown(struct held *held, const struct weir_job *job) { put(held, job); }
