/*
 * calls.c - the table of system calls that tests override by name. Holds no policy: who calls decides what a failure means.
 */
#define _GNU_SOURCE
#include "os/linux/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_cachestat
#define SYS_cachestat 451 /* since 6.5; one number on every architecture */
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434 /* since 5.3; one number on every architecture */
#endif

static int call_open(const char *path, int flags, mode_t mode) { return open(path, flags, mode); }
static int call_openat(int directory, const char *path, int flags) { return openat(directory, path, flags); }
static int call_ioctl(int fd, unsigned long request, void *argument) { return ioctl(fd, request, argument); }
static int call_fcntl(int fd, int command, int argument) { return fcntl(fd, command, argument); }
static int call_prctl(int option, unsigned long argument) { return prctl(option, argument, 0UL, 0UL, 0UL); }
static int call_renameat2(const char *from, const char *to, unsigned flags) {
  return renameat2(AT_FDCWD, from, AT_FDCWD, to, flags);
}
static int call_pidfd_open(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0U); }
static int call_statx_fd(int fd, unsigned mask, struct call_statx *out) {
  return (int)syscall(SYS_statx, fd, "", AT_EMPTY_PATH, mask, out);
}
static ssize_t call_raw_read(int fd, void *data, size_t length) { return syscall(SYS_read, fd, data, length); }
static ssize_t call_raw_write(int fd, const void *data, size_t length) { return syscall(SYS_write, fd, data, length); }
static ssize_t call_raw_pread(int fd, void *data, size_t length, off_t offset) {
  return syscall(SYS_pread64, fd, data, length, offset);
}
static ssize_t call_raw_pwrite(int fd, const void *data, size_t length, off_t offset) {
  return syscall(SYS_pwrite64, fd, data, length, offset);
}
static int call_io_setup(unsigned depth, aio_context_t *out) { return (int)syscall(SYS_io_setup, depth, out); }
static int call_io_destroy(aio_context_t context) { return (int)syscall(SYS_io_destroy, context); }
static int call_io_submit(aio_context_t context, long count, struct iocb **blocks) {
  return (int)syscall(SYS_io_submit, context, count, blocks);
}
static int call_io_getevents(aio_context_t context, long least, long most, struct io_event *out, struct timespec *timeout) {
  return (int)syscall(SYS_io_getevents, context, least, most, out, timeout);
}
static int call_seccomp(unsigned operation, unsigned flags, const void *argument) {
  return (int)syscall(SYS_seccomp, operation, flags, argument);
}
static int call_perf_event_open(struct perf_event_attr *attributes) {
  return (int)syscall(SYS_perf_event_open, attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC); /* this process, any processor */
}
static int call_cachestat(int fd, struct call_range *range, struct call_cache *out) {
  return (int)syscall(SYS_cachestat, fd, range, out, 0U);
}

struct call calls[CALL_COUNT] = {
#define CALL_ROW(name, function, result, parameters) {#name, (os_function *)function, (os_function *)function},
    CALLS(CALL_ROW)
#undef CALL_ROW
};

os_function *os_override(const char *name, os_function *replacement) {
  for (size_t i = 0; i < CALL_COUNT; i++) {
    if (strcmp(calls[i].name, name) != 0) continue;
    os_function *before = calls[i].current;
    calls[i].current = replacement ? replacement : calls[i].original;
    return before;
  }
  return NULL;
}

int call_result(int result) { return result < 0 ? -errno : 0; }

int call_above_standard(int fd) {
  if (fd < 0 || fd > STDERR_FILENO) return fd;
  int moved = sys(fcntl)(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  int error = errno;
  (void)sys(close)(fd);
  return moved < 0 ? -error : moved;
}

int call_open_above(const char *path, int flags, mode_t mode) {
  int fd;
  do fd = sys(open)(path, flags | O_CLOEXEC | O_NOCTTY, mode);
  while (fd < 0 && errno == EINTR);
  return fd < 0 ? -errno : call_above_standard(fd);
}
