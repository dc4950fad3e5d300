/*
 * calls.h - the table of system calls beneath os/linux, and small helpers that its files share. Private to this folder.
 *
 * Every call that can fail is made as `sys(name)(arguments)`, so that a test can replace it by os_override("name", ...).
 * Calls with variable arguments have their fixed form here. The table and the calibration of the fast clock are all the
 * memory that this folder keeps (with the address of the interrupt flag, which a signal handler has no other way to know).
 */
#ifndef WEIR_OS_CALLS_H
#define WEIR_OS_CALLS_H

#include <aio.h>
#include <dirent.h>
#include <linux/aio_abi.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/vfs.h>

#include "os/os.h"

struct perf_event_attr;

/* What the headers of Debian 12 lack. */
struct call_range {
  uint64_t offset, length;
};
struct call_cache {
  uint64_t cached, dirty, writeback, evicted, recently_evicted;
}; /* pages */

/* statx(2) as the kernel lays it out, with the direct alignment that older headers do not have. */
struct call_statx {
  uint32_t mask, block_size;
  uint64_t attributes;
  uint32_t links, uid, gid;
  uint16_t mode, pad;
  uint64_t inode, size, blocks, attributes_mask;
  struct {
    int64_t seconds;
    uint32_t nanoseconds;
    int32_t pad;
  } times[4];
  uint32_t rdev_major, rdev_minor, dev_major, dev_minor;
  uint64_t mount_id;
  uint32_t direct_memory, direct_offset;
  uint64_t spare[12];
};
_Static_assert(sizeof(struct call_statx) == 256, "the kernel writes 256 bytes");
#define CALL_STATX_DIOALIGN 0x2000u

/* X(name for os_override, function, type of result, parameters) */
#define CALLS_PLAIN(X)                                                                                                \
  X(open, call_open, int, (const char *path, int flags, mode_t mode))                                                 \
  X(openat, call_openat, int, (int directory, const char *path, int flags))                                           \
  X(close, close, int, (int fd))                                                                                      \
  X(read, read, ssize_t, (int fd, void *data, size_t length))                                                         \
  X(write, write, ssize_t, (int fd, const void *data, size_t length))                                                 \
  X(pread, pread, ssize_t, (int fd, void *data, size_t length, off_t offset))                                         \
  X(pwrite, pwrite, ssize_t, (int fd, const void *data, size_t length, off_t offset))                                 \
  X(raw_read, call_raw_read, ssize_t, (int fd, void *data, size_t length))                                            \
  X(raw_write, call_raw_write, ssize_t, (int fd, const void *data, size_t length))                                    \
  X(raw_pread, call_raw_pread, ssize_t, (int fd, void *data, size_t length, off_t offset))                            \
  X(raw_pwrite, call_raw_pwrite, ssize_t, (int fd, const void *data, size_t length, off_t offset))                    \
  X(readv, readv, ssize_t, (int fd, const struct iovec *parts, int count))                                            \
  X(writev, writev, ssize_t, (int fd, const struct iovec *parts, int count))                                          \
  X(preadv2, preadv2, ssize_t, (int fd, const struct iovec *parts, int count, off_t offset, int flags))               \
  X(pwritev2, pwritev2, ssize_t, (int fd, const struct iovec *parts, int count, off_t offset, int flags))             \
  X(io_setup, call_io_setup, int, (unsigned depth, aio_context_t *out))                                               \
  X(io_destroy, call_io_destroy, int, (aio_context_t context))                                                        \
  X(io_submit, call_io_submit, int, (aio_context_t context, long count, struct iocb **blocks))                        \
  X(io_getevents, call_io_getevents, int,                                                                             \
    (aio_context_t context, long least, long most, struct io_event *out, struct timespec *timeout))                   \
  X(aio_read, aio_read, int, (struct aiocb * block))                                                                  \
  X(aio_write, aio_write, int, (struct aiocb * block))                                                                \
  X(aio_fsync, aio_fsync, int, (int kind, struct aiocb *block))                                                       \
  X(aio_error, aio_error, int, (const struct aiocb *block))                                                           \
  X(aio_return, aio_return, ssize_t, (struct aiocb * block))                                                          \
  X(aio_suspend, aio_suspend, int, (const struct aiocb *const *blocks, int count, const struct timespec *timeout))    \
  X(copy_file_range, copy_file_range, ssize_t,                                                                        \
    (int from, off_t *from_offset, int to, off_t *to_offset, size_t length, unsigned flags))                          \
  X(sendfile, sendfile, ssize_t, (int to, int from, off_t *from_offset, size_t length))                               \
  X(splice, splice, ssize_t, (int from, off_t *from_offset, int to, off_t *to_offset, size_t length, unsigned flags)) \
  X(futimens, futimens, int, (int fd, const struct timespec times[2]))                                                \
  X(lseek, lseek, off_t, (int fd, off_t offset, int whence))                                                          \
  X(fsync, fsync, int, (int fd))                                                                                      \
  X(fdatasync, fdatasync, int, (int fd))                                                                              \
  X(ftruncate, ftruncate, int, (int fd, off_t size))                                                                  \
  X(fallocate, fallocate, int, (int fd, int mode, off_t offset, off_t length))                                        \
  X(posix_fadvise, posix_fadvise, int, (int fd, off_t offset, off_t length, int advice))                              \
  X(fstat, fstat, int, (int fd, struct stat *out))                                                                    \
  X(stat, stat, int, (const char *path, struct stat *out))                                                            \
  X(statx, call_statx_fd, int, (int fd, unsigned mask, struct call_statx *out))                                       \
  X(statfs, statfs, int, (const char *path, struct statfs *out))                                                      \
  X(fstatfs, fstatfs, int, (int fd, struct statfs *out))                                                              \
  X(ioctl, call_ioctl, int, (int fd, unsigned long request, void *argument))                                          \
  X(fcntl, call_fcntl, int, (int fd, int command, int argument))                                                      \
  X(fchmod, fchmod, int, (int fd, mode_t mode))                                                                       \
  X(fchown, fchown, int, (int fd, uid_t owner, gid_t group))                                                          \
  X(sync_file_range, sync_file_range, int, (int fd, off_t offset, off_t length, unsigned flags))                      \
  X(flock, flock, int, (int fd, int operation))                                                                       \
  X(mkdir, mkdir, int, (const char *path, mode_t mode))                                                               \
  X(unlink, unlink, int, (const char *path))                                                                          \
  X(unlinkat, unlinkat, int, (int directory, const char *path, int flags))                                            \
  X(rename, rename, int, (const char *from, const char *to))                                                          \
  X(renameat2, call_renameat2, int, (const char *from, const char *to, unsigned flags))                               \
  X(link, link, int, (const char *from, const char *to))                                                              \
  X(readlink, readlink, ssize_t, (const char *path, char *out, size_t size))                                          \
  X(mmap, mmap, void *, (void *address, size_t length, int protection, int flags, int fd, off_t offset))              \
  X(munmap, munmap, int, (void *address, size_t length))                                                              \
  X(msync, msync, int, (void *address, size_t length, int flags))                                                     \
  X(madvise, madvise, int, (void *address, size_t length, int advice))                                                \
  X(mlock, mlock, int, (const void *address, size_t length))                                                          \
  X(munlock, munlock, int, (const void *address, size_t length))                                                      \
  X(mincore, mincore, int, (void *address, size_t length, unsigned char *out))                                        \
  X(cachestat, call_cachestat, int, (int fd, struct call_range *range, struct call_cache *out))                       \
  X(seccomp, call_seccomp, int, (unsigned operation, unsigned flags, const void *argument))                           \
  X(perf_event_open, call_perf_event_open, int, (struct perf_event_attr * attributes))                                \
  X(memfd_create, memfd_create, int, (const char *name, unsigned flags))                                              \
  X(fork, fork, pid_t, (void))                                                                                        \
  X(execv, execv, int, (const char *path, char *const *argv))                                                         \
  X(waitpid, waitpid, pid_t, (pid_t pid, int *status, int options))                                                   \
  X(kill, kill, int, (pid_t pid, int signal))                                                                         \
  X(pidfd_open, call_pidfd_open, int, (pid_t pid))                                                                    \
  X(ppoll, ppoll, int, (struct pollfd * fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask))     \
  X(pipe2, pipe2, int, (int *ends, int flags))                                                                        \
  X(eventfd, eventfd, int, (unsigned count, int flags))                                                               \
  X(setpgid, setpgid, int, (pid_t pid, pid_t group))                                                                  \
  X(prctl, call_prctl, int, (int option, unsigned long argument))                                                     \
  X(sched_getaffinity, sched_getaffinity, int, (pid_t pid, size_t size, cpu_set_t * set))                             \
  X(sched_setaffinity, sched_setaffinity, int, (pid_t pid, size_t size, const cpu_set_t *set))                        \
  X(pthread_create, pthread_create, int,                                                                              \
    (pthread_t * out, const pthread_attr_t *attributes, void *(*body)(void *), void *context))

#ifdef OS_HAS_LIBURING
#include <liburing.h>
#define CALLS_RING(X)                                                                                                  \
  X(io_uring_setup, io_uring_queue_init_params, int,                                                                   \
    (unsigned entries, struct io_uring *ring, struct io_uring_params *params))                                         \
  X(io_uring_enter, io_uring_submit_and_wait, int, (struct io_uring * ring, unsigned wait))                            \
  X(io_uring_poll, io_uring_submit_and_get_events, int, (struct io_uring * ring))                                      \
  X(io_uring_register_files, io_uring_register_files, int, (struct io_uring * ring, const int *files, unsigned count)) \
  X(io_uring_register_files_sparse, io_uring_register_files_sparse, int, (struct io_uring * ring, unsigned count))     \
  X(io_uring_register_buffers, io_uring_register_buffers, int,                                                         \
    (struct io_uring * ring, const struct iovec *buffers, unsigned count))
#else
#define CALLS_RING(X)
#endif

#define CALLS(X) CALLS_PLAIN(X) CALLS_RING(X)

#define CALL_TYPES(name, function, result, parameters) typedef result call_type_##name parameters;
CALLS(CALL_TYPES)
#undef CALL_TYPES

enum call_index {
#define CALL_INDEX(name, function, result, parameters) CALL_##name,
  CALLS(CALL_INDEX)
#undef CALL_INDEX
      CALL_COUNT
};

struct call {
  const char *name;
  os_function *current, *original;
};
extern struct call calls[CALL_COUNT];

#define sys(name) ((call_type_##name *)calls[CALL_##name].current)

/* 0 for a call's result that is not negative, else the negative errno value. */
int call_result(int result);
/* Moves a new descriptor above 2, so that no stray printf of the program can ever hit it. The descriptor, or an error. */
int call_above_standard(int fd);
/* open(2), repeated when interrupted, always O_CLOEXEC | O_NOCTTY and above 2. */
int call_open_above(const char *path, int flags, mode_t mode);

#endif
