/*
 * inject.h - failures on demand for tests of the library: the n-th use of one system call, or the n-th request for memory,
 * fails. A program that includes it is linked with --wrap=malloc,--wrap=calloc,--wrap=realloc. Holds no test.
 */
#ifndef WEIR_TESTS_INJECT_H
#define WEIR_TESTS_INJECT_H

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/os/check.h"

/* ---- system calls ---- */

static struct {
  const char *name; /* NULL: none fails */
  unsigned at;      /* its n-th use fails, from 1 */
  int error;
  unsigned calls; /* of it so far */
} inject;

static inline bool inject_hit(const char *name) {
  if (!inject.name || strcmp(inject.name, name) != 0 || ++inject.calls != inject.at) return false;
  errno = inject.error;
  return true;
}

#define INJECT_CALLS(X)                                                                            \
  X(open, int, -1, (const char *a, int b, mode_t c), (a, b, c))                                    \
  X(write, ssize_t, -1, (int a, const void *b, size_t c), (a, b, c))                               \
  X(pread, ssize_t, -1, (int a, void *b, size_t c, off_t d), (a, b, c, d))                         \
  X(pwrite, ssize_t, -1, (int a, const void *b, size_t c, off_t d), (a, b, c, d))                  \
  X(pwritev2, ssize_t, -1, (int a, const struct iovec *b, int c, off_t d, int e), (a, b, c, d, e)) \
  X(fsync, int, -1, (int a), (a))                                                                  \
  X(fdatasync, int, -1, (int a), (a))                                                              \
  X(ftruncate, int, -1, (int a, off_t b), (a, b))                                                  \
  X(fallocate, int, -1, (int a, int b, off_t c, off_t d), (a, b, c, d))                            \
  X(fstat, int, -1, (int a, struct stat *b), (a, b))                                               \
  X(stat, int, -1, (const char *a, struct stat *b), (a, b))                                        \
  X(fcntl, int, -1, (int a, int b, int c), (a, b, c))                                              \
  X(fchmod, int, -1, (int a, mode_t b), (a, b))                                                    \
  X(fchown, int, -1, (int a, uid_t b, gid_t c), (a, b, c))                                         \
  X(flock, int, -1, (int a, int b), (a, b))                                                        \
  X(unlink, int, -1, (const char *a), (a))                                                         \
  X(rename, int, -1, (const char *a, const char *b), (a, b))                                       \
  X(renameat2, int, -1, (const char *a, const char *b, unsigned c), (a, b, c))                     \
  X(link, int, -1, (const char *a, const char *b), (a, b))                                         \
  X(readlink, ssize_t, -1, (const char *a, char *b, size_t c), (a, b, c))                          \
  X(sync_file_range, int, -1, (int a, off_t b, off_t c, unsigned d), (a, b, c, d))                 \
  X(mmap, void *, MAP_FAILED, (void *a, size_t b, int c, int d, int e, off_t f), (a, b, c, d, e, f))

#define INJECT_CALL(name, type, failed, parameters, arguments) \
  static type(*inject_real_##name) parameters;                 \
  static type inject_##name parameters {                       \
    if (inject_hit(#name)) return failed;                      \
    return inject_real_##name arguments;                       \
  }
INJECT_CALLS(INJECT_CALL)
#undef INJECT_CALL

/* What cannot be closed is closed all the same. */
static int (*inject_real_close)(int);
static int inject_close(int fd) {
  bool hit = inject_hit("close");
  int result = inject_real_close(fd);
  if (hit) errno = inject.error;
  return hit ? -1 : result;
}

static const char *const inject_names[] = {
#define INJECT_NAME(name, type, failed, parameters, arguments) #name,
    INJECT_CALLS(INJECT_NAME)
#undef INJECT_NAME
        "close",
};
#define INJECT_NAME_COUNT (sizeof inject_names / sizeof inject_names[0])

/* Puts all of them in place; tests that replace one for themselves restore it by inject_begin again. */
static inline void inject_begin(void) {
  inject.name = NULL;
#define INJECT_PUT(name, type, failed, parameters, arguments) \
  (void)os_override(#name, NULL);                             \
  inject_real_##name = (type(*) parameters)os_override(#name, (os_function *)inject_##name);
  INJECT_CALLS(INJECT_PUT)
#undef INJECT_PUT
  (void)os_override("close", NULL);
  inject_real_close = (int (*)(int))os_override("close", (os_function *)inject_close);
}

static inline void inject_arm(const char *name, unsigned at, int error) {
  inject.name = name;
  inject.at = at;
  inject.error = error;
  inject.calls = 0;
}
/* Whether it was used as often as that. */
static inline bool inject_disarm(void) {
  bool hit = inject.calls >= inject.at;
  inject.name = NULL;
  return hit;
}

/* ---- memory ---- */

static unsigned inject_memory_at, inject_memory_calls; /* 0: none fails */

/* From helper threads too. */
static inline bool inject_memory_fails(void) {
  return inject_memory_at && __atomic_add_fetch(&inject_memory_calls, 1, __ATOMIC_SEQ_CST) == inject_memory_at;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size) { return inject_memory_fails() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) { return inject_memory_fails() ? NULL : __real_calloc(count, size); }
void *__wrap_realloc(void *old, size_t size) { return inject_memory_fails() ? NULL : __real_realloc(old, size); }

static inline void inject_memory_arm(unsigned at) {
  inject_memory_calls = 0;
  inject_memory_at = at;
}
static inline bool inject_memory_disarm(void) {
  bool hit = inject_memory_at && inject_memory_calls >= inject_memory_at;
  inject_memory_at = 0;
  return hit;
}

/* ---- what is there ---- */

static inline unsigned entries_in(const char *path) {
  DIR *directory = opendir(path);
  assert_non_null(directory);
  unsigned count = 0;
  for (const struct dirent *entry; (entry = readdir(directory));) {
    count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
  }
  (void)closedir(directory);
  return count;
}

static inline unsigned open_files(void) { return entries_in("/proc/self/fd"); }

/* Without the library. Cut behind the end, not at the open: some file systems flush a file that was emptied and filled. */
static inline void put_content(const char *path, const void *data, size_t size) {
  int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, data, size), size);
  assert_int_equal(ftruncate(fd, (off_t)size), 0);
  assert_int_equal(close(fd), 0);
}

static inline size_t get_content(const char *path, void *data, size_t capacity) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return SIZE_MAX;
  size_t size = 0;
  for (ssize_t count; (count = read(fd, (char *)data + size, capacity - size)) > 0;) size += (size_t)count;
  assert_int_equal(close(fd), 0);
  return size;
}

static inline bool holds(const char *path, const void *data, size_t size) {
  char *content = __real_malloc(size + 1);
  assert_non_null(content);
  bool same = get_content(path, content, size + 1) == size && memcmp(content, data, size) == 0;
  free(content);
  return same;
}

static inline bool is_there(const char *path) {
  struct stat status;
  return lstat(path, &status) == 0;
}

#endif
