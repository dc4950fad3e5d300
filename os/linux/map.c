/*
 * map.c - files mapped into memory. Private memory is in memory.c.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>

#include "os/linux/calls.h"

/* What an empty map points to: nothing may be read from it, yet it is not NULL. */
static const char empty_map = 0;

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22 /* since 5.14 */
#endif

/* Bytes from the start of the page to `address`. */
static size_t page_slack(uintptr_t address) { return address % os_page_size(); }

int os_map_part(os_file file, uint64_t offset, size_t length, unsigned flags, void **out) {
  if (length == 0) { /* the kernel refuses it */
    *out = (void *)(uintptr_t)&empty_map;
    return 0;
  }
  if (offset > INT64_MAX || length > SIZE_MAX / 2) return -EOVERFLOW;
  size_t slack = page_slack((uintptr_t)offset);
  int protection = PROT_READ | (flags & OS_MAP_WRITE ? PROT_WRITE : 0);
  int kind = (flags & OS_MAP_PRIVATE ? MAP_PRIVATE : MAP_SHARED) | (flags & OS_MAP_POPULATE ? MAP_POPULATE : 0);
  void *address = sys(mmap)(NULL, length + slack, protection, kind, (int)file, (off_t)(offset - slack));
  if (address == MAP_FAILED) return -errno;
  *out = (char *)address + slack;
  return 0;
}

int os_map(os_file file, size_t length, unsigned flags, void **out) { return os_map_part(file, 0, length, flags, out); }

int os_unmap(void *address, size_t length) {
  if (length == 0) return 0;
  size_t slack = page_slack((uintptr_t)address);
  return call_result(sys(munmap)((char *)address - slack, length + slack));
}

int os_map_sync(void *address, size_t length) {
  if (length == 0) return 0;
  size_t slack = page_slack((uintptr_t)address);
  int result;
  do result = sys(msync)((char *)address - slack, length + slack, MS_SYNC);
  while (result < 0 && errno == EINTR);
  return call_result(result);
}

int os_map_advise(void *address, size_t length, enum os_advice advice) {
  static const int words[] = {
      [OS_ADVICE_NORMAL] = MADV_NORMAL,      [OS_ADVICE_SEQUENTIAL] = MADV_SEQUENTIAL, [OS_ADVICE_RANDOM] = MADV_RANDOM,
      [OS_ADVICE_WILL_NEED] = MADV_WILLNEED, [OS_ADVICE_HUGE] = MADV_HUGEPAGE,
  };
  if ((unsigned)advice >= sizeof words / sizeof words[0]) return -EINVAL;
  if (length == 0) return 0;
  size_t slack = page_slack((uintptr_t)address);
  return call_result(sys(madvise)((char *)address - slack, length + slack, words[advice]));
}

/* EINVAL is what kernels say that do not know it; on a map of a file nothing else about the call can be invalid. */
int os_map_populate(void *address, size_t length) {
  if (length == 0) return 0;
  size_t slack = page_slack((uintptr_t)address);
  int result;
  do result = sys(madvise)((char *)address - slack, length + slack, MADV_POPULATE_READ);
  while (result < 0 && errno == EINTR);
  int error = call_result(result);
  return error == -EINVAL || error == -ENOSYS ? -EOPNOTSUPP : error;
}
