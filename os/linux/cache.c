/*
 * cache.c - what the page cache holds of a file, and taking it out. Never fills it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "os/linux/calls.h"
#include "os/linux/procfs.h"

#define WINDOW ((uint64_t)1 << 30) /* mapped at a time where mincore must do */

static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Whole pages are counted, so the last one may stick out of the range. */
static uint64_t page_bytes(uint64_t pages, uint64_t length) {
  uint64_t bytes;
  return __builtin_mul_overflow(pages, (uint64_t)os_page_size(), &bytes) ? length : smaller(bytes, length);
}

static int count_window(int fd, uint64_t offset, size_t length, unsigned char *states, uint64_t *pages) {
  void *address = sys(mmap)(NULL, length, PROT_READ, MAP_SHARED, fd, (off_t)offset);
  if (address == MAP_FAILED) return -errno;
  int error = call_result(sys(mincore)(address, length, states));
  size_t count = (length + os_page_size() - 1) / os_page_size();
  for (size_t i = 0; !error && i < count; i++) *pages += states[i] & 1u;
  (void)sys(munmap)(address, length);
  return error;
}

/* mincore calls every page of a file that one may not write resident, so it is asked about own files only. */
static int may_trust_mincore(int fd, uint64_t *size) {
  struct stat status;
  int error = call_result(sys(fstat)(fd, &status));
  if (error) return error;
  if (!S_ISREG(status.st_mode)) return -EOPNOTSUPP;
  *size = (uint64_t)status.st_size;
  return geteuid() == 0 || geteuid() == status.st_uid ? 0 : -EPERM;
}

static int count_by_mincore(int fd, uint64_t offset, uint64_t end, uint64_t *pages) {
  uint64_t size;
  int error = may_trust_mincore(fd, &size);
  if (error) return error;
  unsigned char *states = malloc((size_t)WINDOW / os_page_size());
  if (!states) return -ENOMEM;
  end = smaller(end, size);
  for (offset -= offset % os_page_size(); !error && offset < end; offset += WINDOW) {
    error = count_window(fd, offset, (size_t)smaller(end - offset, WINDOW), states, pages);
  }
  free(states);
  return error;
}

/* Files of overlayfs are read into the cache of the files beneath: cachestat sees their own, empty one, a mapping theirs. */
static int count_by_cachestat(int fd, uint64_t offset, uint64_t length, struct call_cache *found) {
  struct statfs place;
  if (sys(fstatfs)(fd, &place) == 0 && place.f_type == OVERLAYFS_SUPER_MAGIC) return -ENOSYS;
  return call_result(sys(cachestat)(fd, &(struct call_range){offset, length}, found));
}

int os_cache_state(os_file file, uint64_t offset, uint64_t length, struct os_cache *out) {
  uint64_t end;
  if (__builtin_add_overflow(offset, length, &end) || end > INT64_MAX) return -EOVERFLOW;
  *out = (struct os_cache){.dirty_known = true};
  if (length == 0) return 0; /* to cachestat it would mean the rest of the file */
  struct call_cache found = {0};
  int error = count_by_cachestat((int)file, offset, length, &found);
  if (error == -ENOSYS) {
    error = count_by_mincore((int)file, offset, end, &found.cached);
    out->dirty_known = false;
  }
  if (error) return error;
  out->cached_bytes = page_bytes(found.cached, length);
  out->dirty_bytes = page_bytes(found.dirty, length);
  out->writeback_bytes = page_bytes(found.writeback, length);
  return 0;
}

/* The range is widened to whole pages: the kernel leaves pages alone that are named only in part. */
int os_cache_evict(os_file file, uint64_t offset, uint64_t length) {
  uint64_t end, page = os_page_size();
  if (length == 0) return 0;
  if (__builtin_add_overflow(offset, length, &end) || end > INT64_MAX - page) return -EOVERFLOW;
  offset -= offset % page;
  end = (end + page - 1) / page * page;
  return -sys(posix_fadvise)((int)file, (off_t)offset, (off_t)(end - offset), POSIX_FADV_DONTNEED);
}

int os_cache_drop_all(void) { return procfs_write("/proc/sys/vm/drop_caches", "1"); }
