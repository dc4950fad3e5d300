/*
 * transfer.c - moving the bytes of a file: one call each, repeated when interrupted or put off.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/fs.h>
#include <unistd.h>

#include "os/linux/calls.h"

/* Linux stops at 0x7ffff000, others fail above 2 GiB; a power of two keeps the rest of a long transfer aligned. */
#define TRANSFER_MAX ((size_t)1 << 30)

/*
 * A descriptor that another process made non-blocking is waited for. poll calls regular files always ready: a file system
 * that keeps saying EAGAIN is given a second (a thousand tries, 1 ms apart after the first ten) and then believed.
 */
#define AGAIN_TRIES 1000u
#define AGAIN_TRIES_AT_ONCE 10u

static bool try_again(int fd, short events, unsigned *tries) {
  if (errno == EINTR) return true;
  if (errno != EAGAIN || ++*tries > AGAIN_TRIES) return false;
  struct pollfd wanted = {.fd = fd, .events = events};
  (void)sys(ppoll)(&wanted, 1, NULL, NULL);
  if (*tries > AGAIN_TRIES_AT_ONCE) os_sleep_ns(1000000);
  errno = EAGAIN;
  return true;
}

int os_wait_ready(os_file file, bool to_write) {
  struct pollfd wanted = {.fd = (int)file, .events = to_write ? POLLOUT : POLLIN};
  int result;
  do result = sys(ppoll)(&wanted, 1, NULL, NULL);
  while (result < 0 && errno == EINTR);
  if (result < 0) return -errno;
  return wanted.revents & POLLNVAL ? -EBADF : 0; /* what went wrong on the other side is told by the transfer */
}

static size_t capped(size_t length) { return length < TRANSFER_MAX ? length : TRANSFER_MAX; }

int64_t os_read(os_file file, void *data, size_t length) {
  unsigned tries = 0;
  ssize_t count;
  do count = sys(read)((int)file, data, capped(length));
  while (count < 0 && try_again((int)file, POLLIN, &tries));
  return count < 0 ? -errno : count;
}

int64_t os_write(os_file file, const void *data, size_t length) {
  unsigned tries = 0;
  ssize_t count;
  do count = sys(write)((int)file, data, capped(length));
  while (count < 0 && try_again((int)file, POLLOUT, &tries));
  return count < 0 ? -errno : count;
}

int64_t os_pread(os_file file, void *data, size_t length, uint64_t offset) {
  if (offset > INT64_MAX) return -EOVERFLOW;
  unsigned tries = 0;
  ssize_t count;
  do count = sys(pread)((int)file, data, capped(length), (off_t)offset);
  while (count < 0 && try_again((int)file, POLLIN, &tries));
  return count < 0 ? -errno : count;
}

int64_t os_pwrite(os_file file, const void *data, size_t length, uint64_t offset) {
  if (offset > INT64_MAX) return -EOVERFLOW;
  unsigned tries = 0;
  ssize_t count;
  do count = sys(pwrite)((int)file, data, capped(length), (off_t)offset);
  while (count < 0 && try_again((int)file, POLLOUT, &tries));
  return count < 0 ? -errno : count;
}

int64_t os_pread_full(os_file file, void *data, size_t length, uint64_t offset) {
  size_t done = 0;
  while (done < length) {
    int64_t count = os_pread(file, (char *)data + done, length - done, offset + done);
    if (count < 0 && done == 0) return count;
    if (count <= 0) break;
    done += (size_t)count;
  }
  return (int64_t)done;
}

int64_t os_pwrite_full(os_file file, const void *data, size_t length, uint64_t offset) {
  size_t done = 0;
  while (done < length) {
    int64_t count = os_pwrite(file, (const char *)data + done, length - done, offset + done);
    if (count == 0) count = -EIO; /* nothing written and no reason given: asking again could go on for ever */
    if (count < 0) return done ? (int64_t)done : count;
    done += (size_t)count;
  }
  return (int64_t)done;
}

int os_seek(os_file file, uint64_t offset) {
  if (offset > INT64_MAX) return -EOVERFLOW;
  return sys(lseek)((int)file, (off_t)offset, SEEK_SET) < 0 ? -errno : 0;
}

int64_t os_tell(os_file file) {
  off_t offset = sys(lseek)((int)file, 0, SEEK_CUR);
  return offset < 0 ? -errno : offset;
}

/* ---- the system calls themselves ---- */

int64_t os_raw_read(os_file file, void *data, size_t length) {
  unsigned tries = 0;
  ssize_t count;
  do count = sys(raw_read)((int)file, data, capped(length));
  while (count < 0 && try_again((int)file, POLLIN, &tries));
  return count < 0 ? -errno : count;
}

int64_t os_raw_write(os_file file, const void *data, size_t length) {
  unsigned tries = 0;
  ssize_t count;
  do count = sys(raw_write)((int)file, data, capped(length));
  while (count < 0 && try_again((int)file, POLLOUT, &tries));
  return count < 0 ? -errno : count;
}

int64_t os_raw_pread(os_file file, void *data, size_t length, uint64_t offset) {
  if (offset > INT64_MAX) return -EOVERFLOW;
  unsigned tries = 0;
  ssize_t count;
  do count = sys(raw_pread)((int)file, data, capped(length), (off_t)offset);
  while (count < 0 && try_again((int)file, POLLIN, &tries));
  return count < 0 ? -errno : count;
}

int64_t os_raw_pwrite(os_file file, const void *data, size_t length, uint64_t offset) {
  if (offset > INT64_MAX) return -EOVERFLOW;
  unsigned tries = 0;
  ssize_t count;
  do count = sys(raw_pwrite)((int)file, data, capped(length), (off_t)offset);
  while (count < 0 && try_again((int)file, POLLOUT, &tries));
  return count < 0 ? -errno : count;
}

/* ---- several pieces ---- */

#ifndef RWF_DONTCACHE
#define RWF_DONTCACHE 0x80 /* since 6.14 */
#endif

_Static_assert(sizeof(struct os_piece) == sizeof(struct iovec) &&
                   offsetof(struct os_piece, data) == offsetof(struct iovec, iov_base) &&
                   offsetof(struct os_piece, length) == offsetof(struct iovec, iov_len),
               "pieces are handed to the kernel as they are");
static const struct iovec *parts(const struct os_piece *pieces) { return (const struct iovec *)(const void *)pieces; }

static int transfer_flags(unsigned flags) {
  return (flags & OS_TRANSFER_POLLED ? RWF_HIPRI : 0) | (flags & OS_TRANSFER_UNCACHED ? RWF_DONTCACHE : 0) |
         (flags & OS_TRANSFER_CACHED ? RWF_NOWAIT : 0);
}

/* EAGAIN is what the caller wants to know then. */
static bool answers_not_cached(unsigned flags) { return (flags & OS_TRANSFER_CACHED) && errno == EAGAIN; }

int64_t os_readv(os_file file, const struct os_piece *pieces, unsigned count) {
  unsigned tries = 0;
  ssize_t got;
  do got = sys(readv)((int)file, parts(pieces), (int)count);
  while (got < 0 && try_again((int)file, POLLIN, &tries));
  return got < 0 ? -errno : got;
}

int64_t os_writev(os_file file, const struct os_piece *pieces, unsigned count) {
  unsigned tries = 0;
  ssize_t put;
  do put = sys(writev)((int)file, parts(pieces), (int)count);
  while (put < 0 && try_again((int)file, POLLOUT, &tries));
  return put < 0 ? -errno : put;
}

int64_t os_preadv(os_file file, const struct os_piece *pieces, unsigned count, uint64_t offset, unsigned flags) {
  if (offset > INT64_MAX) return -EOVERFLOW; /* the kernel takes -1 for the current position */
  unsigned tries = 0;
  ssize_t got;
  do got = sys(preadv2)((int)file, parts(pieces), (int)count, (off_t)offset, transfer_flags(flags));
  while (got < 0 && !answers_not_cached(flags) && try_again((int)file, POLLIN, &tries));
  return got < 0 ? -errno : got;
}

int64_t os_pwritev(os_file file, const struct os_piece *pieces, unsigned count, uint64_t offset, unsigned flags) {
  if (offset > INT64_MAX) return -EOVERFLOW;
  unsigned tries = 0;
  ssize_t put;
  do put = sys(pwritev2)((int)file, parts(pieces), (int)count, (off_t)offset, transfer_flags(flags));
  while (put < 0 && !answers_not_cached(flags) && try_again((int)file, POLLOUT, &tries));
  return put < 0 ? -errno : put;
}

/* ---- C streams ---- */

size_t os_stream_read(void *data, size_t length, FILE *stream) { return (fread_unlocked)(data, 1, length, stream); }
size_t os_stream_write(const void *data, size_t length, FILE *stream) { return (fwrite_unlocked)(data, 1, length, stream); }
