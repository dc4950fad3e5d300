/*
 * naming.c - giving a finished file its name, and where a symbolic link leads. Other work with names is in directory.c; what
 * a file is and whose is in file.c.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "os/linux/calls.h"

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#endif

/* What kernels and file systems say that cannot rename without replacing. */
static bool means_no_exclusive_rename(int error) {
  return error == -EINVAL || error == -ENOSYS || error == -EOPNOTSUPP || error == -ENOTTY;
}

/* Making a link never replaces either. The old name may then be removed late or, after a crash, not at all. */
int os_rename_new(const char *from, const char *to) {
  int error = call_result(sys(renameat2)(from, to, RENAME_NOREPLACE));
  if (!means_no_exclusive_rename(error)) return error;
  error = call_result(sys(link)(from, to));
  if (!error) (void)sys(unlink)(from);
  return error;
}

int64_t os_read_link(const char *path, char *out, size_t size) {
  ssize_t length = sys(readlink)(path, out, size);
  return length < 0 ? -errno : length;
}
