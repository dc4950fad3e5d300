/*
 * aligned.c - asks a file system for its granule, finds out whether it takes direct transfers at all, writes the rest.
 */
#include "aligned.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "target.h"

#define REMEDY "use a buffered method, or a directory on a file system with direct I/O such as ext4 or xfs"

size_t aligned_granule_of(os_file file) {
  uint32_t memory = 0, offset = 0;
  if (os_direct_alignment(file, &memory, &offset) != 0 || offset == 0) return ALIGNED_WHEN_NOT_TOLD;
  return memory > offset ? memory : offset;
}

size_t aligned_granule(const struct weir_job *job) {
  os_file file;
  bool scratch;
  if (target_open_trial(job, 0, &file, &scratch) != 0) return ALIGNED_WHEN_NOT_TOLD;
  const size_t granule = aligned_granule_of(file);
  (void)os_close(file);
  return granule;
}

/* Some file systems accept the flag when a file is opened and refuse the first transfer. */
int aligned_try(os_file file, bool scratch, size_t granule) {
  void *room = NULL;
  int error = os_memory_get(2 * granule, 0, &room);
  if (error) return error;
  unsigned char *data = (unsigned char *)room + (granule - (uintptr_t)room % granule) % granule;
  const int64_t count = scratch ? os_pwrite(file, data, granule, 0) : os_pread(file, data, granule, 0);
  (void)os_memory_put(room, 2 * granule);
  return count < 0 ? (int)count : 0;
}

static int check_request(const struct weir_job *job, size_t granule, struct weir_reason *reason) {
  if (job->block % granule != 0) {
    (void)snprintf(reason->text, sizeof reason->text,
                   "requests of %" PRIu64 " bytes; direct I/O needs multiples of %zu bytes here", job->block, granule);
    (void)snprintf(reason->remedy, sizeof reason->remedy, "make the request size a multiple of %zu", granule);
    return -EINVAL;
  }
  /* The rest is written through the page cache. While another instance writes the same page directly, one would undo the
   * other's work. */
  if (job->direction == WEIR_READ || job->instances < 2 || job->file_size % granule == 0) return 0;
  if (job->block % os_page_size() == 0) return 0;
  (void)snprintf(reason->text, sizeof reason->text, "several threads would share the page that holds the end of the file");
  (void)snprintf(reason->remedy, sizeof reason->remedy,
                 "use one thread, a request size that is a multiple of %zu, or a file size that is a multiple of %zu",
                 os_page_size(), granule);
  return -EINVAL;
}

int aligned_probe(const struct weir_job *job, struct weir_reason *reason) {
  os_file file;
  bool scratch;
  int error = target_open_trial(job, OS_DIRECT, &file, &scratch);
  /* No file yet and no way to make a nameless one to try on: opening will tell. */
  if (error == -EOPNOTSUPP && scratch) return check_request(job, ALIGNED_WHEN_NOT_TOLD, reason);
  if (error) return target_unavailable(reason, error, "opening for direct I/O", REMEDY);
  const size_t granule = aligned_granule_of(file);
  error = check_request(job, granule, reason);
  if (!error) {
    error = aligned_try(file, scratch, granule);
    if (error) (void)target_unavailable(reason, error, "the first direct transfer", REMEDY);
  }
  (void)os_close(file);
  return error;
}

int aligned_open_rest(const struct weir_job *job, size_t granule, unsigned flags, os_file *out) {
  *out = os_no_file;
  if (job->direction == WEIR_READ || target_part_end(job) % granule == 0) return 0;
  int error = os_open(job->path, OS_WRITE | flags, out);
  return error ? target_refused(job, "opening for the unaligned end", error) : 0;
}

int aligned_write_rest(const struct weir_job *job, os_file rest, const void *data, size_t length, uint64_t offset) {
  const int64_t count = os_pwrite_full(rest, data, length, offset);
  if (count == (int64_t)length) return 0;
  return target_failed(job, "writing the unaligned end,", offset, length, count < 0 ? (int)count : -EIO);
}
