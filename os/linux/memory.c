/*
 * memory.c - memory from the system, by pages. Not a general allocator.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "os/linux/calls.h"
#include "os/linux/procfs.h"

#define HUGE_PAGES "/sys/kernel/mm/transparent_hugepage/"

size_t os_page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }

size_t os_huge_page_size(void) {
  char text[64], chosen[16];
  if (procfs_text(HUGE_PAGES "enabled", text, sizeof text) < 0) return 0;
  procfs_chosen(text, chosen, sizeof chosen);
  if (chosen[0] == 'n') return 0; /* never */
  int64_t size = procfs_number(HUGE_PAGES "hpage_pmd_size");
  return size > 0 ? (size_t)size : 0;
}

static int map_anonymous(size_t length, unsigned flags, void **out) {
  int kind = MAP_ANONYMOUS | (flags & OS_MEMORY_SHARED ? MAP_SHARED : MAP_PRIVATE);
  void *address = sys(mmap)(NULL, length, PROT_READ | PROT_WRITE, kind, -1, 0);
  if (address == MAP_FAILED) return -errno;
  *out = address;
  return 0;
}

/* Newer kernels align what is a whole number of huge pages by themselves: no more than two calls. */
static bool map_aligned(size_t length, size_t huge, unsigned flags, void **out) {
  if (length % huge != 0 || map_anonymous(length, flags, out)) return false;
  if ((uintptr_t)*out % huge == 0) {
    (void)sys(madvise)(*out, length, MADV_HUGEPAGE); /* refused: small pages do the same, only slower */
    return true;
  }
  (void)sys(munmap)(*out, length);
  return false;
}

/* Maps one huge page more than asked for and gives back what sticks out on both sides of the aligned part. */
static int map_huge(size_t length, size_t huge, unsigned flags, void **out) {
  size_t page = os_page_size(), total;
  if (map_aligned(length, huge, flags, out)) return 0;
  if (__builtin_add_overflow(length, huge + page - 1, &total)) return -ENOMEM;
  length = (length + page - 1) / page * page;
  total = length + huge;
  void *whole;
  int error = map_anonymous(total, flags, &whole);
  if (error) return error;
  size_t before = (huge - (uintptr_t)whole % huge) % huge;
  char *aligned = (char *)whole + before;
  if (before) (void)sys(munmap)(whole, before);
  if (total - before > length) (void)sys(munmap)(aligned + length, total - before - length);
  (void)sys(madvise)(aligned, length, MADV_HUGEPAGE);
  *out = aligned;
  return 0;
}

int os_memory_get(size_t length, unsigned flags, void **out) {
  size_t huge = flags & OS_MEMORY_HUGE ? os_huge_page_size() : 0;
  if (huge && length) return map_huge(length, huge, flags, out);
  int error = map_anonymous(length, flags, out);
  if (!error && (flags & OS_MEMORY_SMALL)) (void)sys(madvise)(*out, length, MADV_NOHUGEPAGE); /* refused: there are none */
  if (error || !(flags & OS_MEMORY_WIPED)) return error;
  if (sys(madvise)(*out, length, MADV_WIPEONFORK) == 0) return 0;
  (void)sys(munmap)(*out, length);
  return -EOPNOTSUPP;
}

int os_memory_get_huge(size_t length, size_t huge_page, void **out) {
  return huge_page && length ? map_huge(length, huge_page, 0, out) : map_anonymous(length, 0, out);
}

int os_memory_put(void *address, size_t length) { return call_result(sys(munmap)(address, length)); }
int os_memory_lock(void *address, size_t length) { return call_result(sys(mlock)(address, length)); }
int os_memory_unlock(void *address, size_t length) { return call_result(sys(munlock)(address, length)); }

int os_memory_file(const char *name, uint64_t size, os_file *out) {
  int fd = sys(memfd_create)(name, MFD_CLOEXEC);
  if (fd < 0) return -errno;
  fd = call_above_standard(fd);
  if (fd < 0) return fd;
  int error = os_resize(fd, size);
  if (error) {
    (void)os_close(fd);
    return error;
  }
  *out = fd;
  return 0;
}

void os_memory_volunteer(void) { (void)procfs_write("/proc/self/oom_score_adj", "1000"); }

int os_memory_file_path(os_file file, char *out, size_t size) {
  int length = snprintf(out, size, "/proc/%d/fd/%d", (int)getpid(), (int)file);
  return length < (int)size ? 0 : -ENAMETOOLONG;
}
