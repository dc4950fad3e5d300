/*
 * opening.c - from a path to an open file that is known to be what the caller wants. Nothing is read or written here.
 */
#include "lib/internal.h"

#define MODE_DEFAULT 0666u

/* What kind of file is refused, or 0. */
static int refuse(enum os_kind kind, unsigned flags) {
  if (kind == OS_DIRECTORY) return WEIR_EISDIR;
  return kind == OS_REGULAR || (flags & WEIR_ANY_KIND) ? 0 : WEIR_ENOTREG;
}

/*
 * Opening a FIFO lets whoever waits at its other end go on, and closing it again ends that one's input or kills it by
 * SIGPIPE: what is not wanted must not even be opened. Who changes the path after this look is found out by the look behind
 * the open.
 */
static int look_before(const char *path, unsigned flags) {
  struct os_stat stat;
  return os_stat_path(path, &stat) ? 0 : refuse(stat.kind, flags); /* open has the better word for what is wrong */
}

/* Sockets cannot be opened, nor can FIFOs for writing that nobody reads: the system calls them all "no such device". */
static int explain(const char *path, unsigned flags, int error) {
  struct os_stat stat;
  if ((error != WEIR_ENXIO && error != WEIR_ENODEV) || (flags & WEIR_ANY_KIND)) return error;
  if (os_stat_path(path, &stat)) return error;
  const int refused = refuse(stat.kind, flags);
  return refused ? refused : error;
}

static int open_path(const char *path, unsigned os_flags, unsigned flags, unsigned mode, os_file *out) {
  if (!(flags & (WEIR_ANY_KIND | WEIR_NO_FOLLOW))) {
    const int error = look_before(path, flags);
    if (error) return error;
  }
  const int error = os_open_mode(path, os_flags, mode ? mode : MODE_DEFAULT, out);
  return error ? explain(path, flags, error) : 0;
}

static int lock(os_file file, unsigned os_flags) { return os_flags & OS_WRITE ? os_lock(file) : os_lock_shared(file); }

/* All that is done with the open file before it is the caller's; *operation says what failed. */
static int settle(os_file file, unsigned os_flags, unsigned flags, bool cut, struct os_stat *stat, const char **operation) {
  int error = os_stat_file(file, stat);
  if (!error) error = refuse(stat->kind, flags);
  if (!error && (flags & WEIR_LOCK)) {
    *operation = "lock";
    error = lock(file, os_flags);
  }
  if (!error && cut && stat->kind == OS_REGULAR) {
    *operation = "resize";
    error = os_resize(file, 0);
    stat->size = 0;
  }
  return error;
}

int weir__open(const char *path, unsigned os_flags, unsigned flags, unsigned mode, os_file *out, struct os_stat *stat,
               struct weir_error *error) {
  const char *operation = "open";
  if (!path) return weir__fail(error, WEIR_EINVAL, operation, NULL, 0, 0, 0);
  if (flags & WEIR_NO_FOLLOW) os_flags |= OS_NO_FOLLOW;
  if (flags & WEIR_NEW) os_flags |= OS_CREATE | OS_EXCLUSIVE;
  os_flags = flags & WEIR_ANY_KIND ? os_flags & ~(unsigned)OS_STAY_READY : os_flags | OS_NO_WAIT;
  /* Whoever holds the lock still needs what is in the file. */
  const bool cut = (flags & WEIR_LOCK) && (os_flags & OS_TRUNCATE);
  if (cut) os_flags &= ~(unsigned)OS_TRUNCATE;
  os_file file = os_no_file;
  int code = open_path(path, os_flags, flags, mode, &file);
  if (code) return weir__fail(error, code, operation, path, 0, 0, 0);
  code = settle(file, os_flags, flags, cut, stat, &operation);
  if (code) {
    (void)os_close(file);
    return weir__fail(error, code, operation, path, 0, 0, 0);
  }
  *out = file;
  return 0;
}

bool weir__same_file(const struct os_stat *a, const struct os_stat *b) {
  return a->device == b->device && a->inode == b->inode;
}

bool weir__still_named(const char *path, const struct os_stat *stat) {
  struct os_stat now;
  return os_stat_path(path, &now) == 0 && weir__same_file(&now, stat);
}
