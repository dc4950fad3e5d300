/*
 * copies.c - what the system does by itself to copy a file: sharing its storage, moving bytes without showing them to us,
 * telling where data and holes lie, carrying attributes over. It tries once and says what the answer was; going on by other
 * means is the caller's business.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <unistd.h>

#include "os/linux/calls.h"

#define COPY_MAX ((uint64_t)1 << 30) /* of one call: see transfer.c */

int os_clone(os_file from, os_file to) {
  int result;
  do result = sys(ioctl)((int)to, FICLONE, (void *)(intptr_t)from);
  while (result < 0 && errno == EINTR);
  return call_result(result);
}

int64_t os_copy_range(os_file from, uint64_t from_offset, os_file to, uint64_t to_offset, uint64_t length) {
  if (from_offset > INT64_MAX || to_offset > INT64_MAX) return -EOVERFLOW;
  const size_t part = (size_t)(length < COPY_MAX ? length : COPY_MAX);
  ssize_t count;
  do {
    off_t source = (off_t)from_offset, target = (off_t)to_offset;
    count = sys(copy_file_range)((int)from, &source, (int)to, &target, part, 0);
  } while (count < 0 && errno == EINTR);
  return count < 0 ? -errno : count;
}

int64_t os_send_file(os_file from, uint64_t from_offset, os_file to, uint64_t length) {
  if (from_offset > INT64_MAX) return -EOVERFLOW;
  const size_t part = (size_t)(length < COPY_MAX ? length : COPY_MAX);
  ssize_t count;
  do {
    off_t source = (off_t)from_offset;
    count = sys(sendfile)((int)to, (int)from, &source, part);
  } while (count < 0 && errno == EINTR);
  return count < 0 ? -errno : count;
}

int64_t os_splice(os_file from, os_file to, uint64_t length) {
  const size_t part = (size_t)(length < COPY_MAX ? length : COPY_MAX);
  ssize_t count;
  do count = sys(splice)((int)from, NULL, (int)to, NULL, part, 0);
  while (count < 0 && errno == EINTR);
  return count < 0 ? -errno : count;
}

static int seek(os_file file, uint64_t offset, int whence, uint64_t *out) {
  if (offset > INT64_MAX) return -EOVERFLOW;
  const off_t found = sys(lseek)((int)file, (off_t)offset, whence);
  if (found < 0) return errno == EINVAL ? -EOPNOTSUPP : -errno;
  if ((uint64_t)found < offset) return -EOPNOTSUPP; /* an answer that makes no sense */
  *out = (uint64_t)found;
  return 0;
}

int os_next_data(os_file file, uint64_t offset, uint64_t *out) { return seek(file, offset, SEEK_DATA, out); }
int os_next_hole(os_file file, uint64_t offset, uint64_t *out) { return seek(file, offset, SEEK_HOLE, out); }

int os_copy_attributes(os_file from, os_file to) {
  struct stat source, target;
  int error = call_result(sys(fstat)((int)from, &source));
  if (!error) error = call_result(sys(fstat)((int)to, &target));
  if (error) return error;
  /* The bits that lend somebody's identity must not lend another's. */
  const bool same_owner = source.st_uid == target.st_uid && source.st_gid == target.st_gid;
  const mode_t mode = source.st_mode & (same_owner ? (mode_t)07777 : (mode_t)0777);
  error = call_result(sys(fchmod)((int)to, mode));
  const struct timespec times[2] = {source.st_atim, source.st_mtim};
  const int second = call_result(sys(futimens)((int)to, times));
  return error ? error : second;
}
