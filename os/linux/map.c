/*
 * map.c - files mapped into memory. Private memory is in memory.c.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>

#include "os/linux/calls.h"

/* What an empty map points to: nothing may be read from it, yet it is not NULL. */
static const char empty_map = 0;

int os_map(os_file file, size_t length, unsigned flags, void **out) {
  if (length == 0) { /* the kernel refuses it */
    *out = (void *)(uintptr_t)&empty_map;
    return 0;
  }
  int protection = PROT_READ | (flags & OS_MAP_WRITE ? PROT_WRITE : 0);
  int kind = MAP_SHARED | (flags & OS_MAP_POPULATE ? MAP_POPULATE : 0);
  void *address = sys(mmap)(NULL, length, protection, kind, (int)file, 0);
  if (address == MAP_FAILED) return -errno;
  *out = address;
  return 0;
}

int os_unmap(void *address, size_t length) { return length == 0 ? 0 : call_result(sys(munmap)(address, length)); }

/* Bytes from the start of the page to `address`. */
static size_t page_slack(const void *address) { return (uintptr_t)address % os_page_size(); }

int os_map_sync(void *address, size_t length) {
  if (length == 0) return 0;
  size_t slack = page_slack(address);
  int result;
  do result = sys(msync)((char *)address - slack, length + slack, MS_SYNC);
  while (result < 0 && errno == EINTR);
  return call_result(result);
}

int os_map_advise(void *address, size_t length, enum os_advice advice) {
  static const int words[] = {
      [OS_ADVICE_NORMAL] = MADV_NORMAL,
      [OS_ADVICE_SEQUENTIAL] = MADV_SEQUENTIAL,
      [OS_ADVICE_RANDOM] = MADV_RANDOM,
  };
  if (length == 0) return 0;
  size_t slack = page_slack(address);
  return call_result(sys(madvise)((char *)address - slack, length + slack, words[advice]));
}
