/*
 * shorten.h - transfers that move less than they were asked for, are interrupted, or fail once, for tests of the library.
 * Holds no test.
 */
#ifndef WEIR_TESTS_SHORTEN_H
#define WEIR_TESTS_SHORTEN_H

#include <sys/uio.h>
#include <unistd.h>

#include "tests/os/check.h"

static struct {
  size_t most;      /* bytes of one transfer; 0: all */
  bool interrupted; /* every other one is, before it does anything */
  unsigned fail_at; /* this one fails, counted from 1; 0: none */
  int error;
  unsigned calls;
} shorten;

/* How much is moved of `size`, or -1 with errno. */
static inline ssize_t shorten_next(size_t size) {
  shorten.calls++;
  if (shorten.fail_at == shorten.calls) {
    errno = shorten.error;
    return -1;
  }
  if (shorten.interrupted && shorten.calls % 2) {
    errno = EINTR;
    return -1;
  }
  return (ssize_t)(shorten.most && shorten.most < size ? shorten.most : size);
}

static ssize_t short_read(int fd, void *data, size_t size) {
  const ssize_t most = shorten_next(size);
  return most < 0 ? most : read(fd, data, (size_t)most);
}
static ssize_t short_write(int fd, const void *data, size_t size) {
  const ssize_t most = shorten_next(size);
  return most < 0 ? most : write(fd, data, (size_t)most);
}
static ssize_t short_pread(int fd, void *data, size_t size, off_t offset) {
  const ssize_t most = shorten_next(size);
  return most < 0 ? most : pread(fd, data, (size_t)most, offset);
}
static ssize_t short_pwrite(int fd, const void *data, size_t size, off_t offset) {
  const ssize_t most = shorten_next(size);
  return most < 0 ? most : pwrite(fd, data, (size_t)most, offset);
}

static inline void shorten_begin(size_t most, bool interrupted) {
  shorten.most = most;
  shorten.interrupted = interrupted;
  shorten.fail_at = shorten.calls = 0;
  replace("read", (os_function *)short_read);
  replace("write", (os_function *)short_write);
  replace("pread", (os_function *)short_pread);
  replace("pwrite", (os_function *)short_pwrite);
}
static inline void shorten_fail(unsigned at, int error) {
  shorten.fail_at = at;
  shorten.error = error;
  shorten.calls = 0;
}
static inline void shorten_end(void) { restore("read"), restore("write"), restore("pread"), restore("pwrite"); }

#endif
