/*
 * file.c - opening, syncing and asking about single files. Their bytes are moved in transfer.c; directories are in
 * directory.c, extents in extents.c, the page cache in cache.c.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "os/linux/calls.h"

static const int open_flags[] = {
    [0] = 0,
    [OS_READ] = O_RDONLY,
    [OS_WRITE] = O_WRONLY,
    [OS_READ | OS_WRITE] = O_RDWR,
};

/* -EINVAL for what would be harmful or meaningless: O_RDONLY | O_TRUNC empties the file on Linux. */
static int translate_flags(unsigned flags, int *out) {
  if (!(flags & (OS_READ | OS_WRITE))) return -EINVAL;
  if ((flags & (OS_TRUNCATE | OS_UNNAMED)) && !(flags & OS_WRITE)) return -EINVAL;
  if ((flags & OS_APPEND) && !(flags & OS_WRITE)) return -EINVAL;
  if ((flags & OS_EXCLUSIVE) && !(flags & OS_CREATE)) return -EINVAL;
  if ((flags & OS_UNNAMED) && (flags & (OS_CREATE | OS_TRUNCATE))) return -EINVAL;
  if ((flags & OS_STAY_READY) && !(flags & OS_NO_WAIT)) return -EINVAL;
  *out = open_flags[flags & (OS_READ | OS_WRITE)] | (flags & OS_CREATE ? O_CREAT : 0) | (flags & OS_EXCLUSIVE ? O_EXCL : 0) |
         (flags & OS_TRUNCATE ? O_TRUNC : 0) | (flags & OS_DIRECT ? O_DIRECT : 0) | (flags & OS_DATA_SYNC ? O_DSYNC : 0) |
         (flags & OS_NO_WAIT ? O_NONBLOCK : 0) | (flags & OS_UNNAMED ? O_TMPFILE : 0) | (flags & OS_APPEND ? O_APPEND : 0) |
         (flags & OS_NO_FOLLOW ? O_NOFOLLOW : 0);
  return 0;
}

/* What kernels and file systems say that do not know O_TMPFILE: they try to open the directory for writing. */
static bool means_no_unnamed(int error, unsigned flags) {
  return error == -EISDIR || error == -EOPNOTSUPP || error == -ENOSYS || (error == -EINVAL && !(flags & OS_DIRECT));
}

static int change_flags(os_file file, int clear, int set) {
  int flags = sys(fcntl)((int)file, F_GETFL, 0);
  return call_result(flags < 0 ? -1 : sys(fcntl)((int)file, F_SETFL, (flags & ~clear) | set));
}

/* Only the opening must not wait; transfers on the new description (which is ours alone) shall. */
int os_wait_again(os_file file) { return change_flags(file, O_NONBLOCK, 0); }
int os_set_direct(os_file file, bool direct) { return change_flags(file, O_DIRECT, direct ? O_DIRECT : 0); }

int os_open_mode(const char *path, unsigned flags, unsigned mode, os_file *out) {
  int linux_flags;
  int error = translate_flags(flags, &linux_flags);
  if (error) return error;
  int fd = call_open_above(path, linux_flags, (mode_t)mode);
  if (fd < 0) return (flags & OS_UNNAMED) && means_no_unnamed(fd, flags) ? -EOPNOTSUPP : fd;
  if ((flags & OS_NO_WAIT) && !(flags & OS_STAY_READY)) {
    error = os_wait_again(fd);
    if (error) {
      (void)sys(close)(fd);
      return error;
    }
  }
  *out = fd;
  return 0;
}

int os_open(const char *path, unsigned flags, os_file *out) { return os_open_mode(path, flags, S_IRUSR | S_IWUSR, out); }

int os_open_at(os_file directory, const char *name, unsigned flags, os_file *out) {
  int linux_flags, fd;
  if (flags & (OS_CREATE | OS_UNNAMED | OS_NO_WAIT)) return -EINVAL;
  int error = translate_flags(flags, &linux_flags);
  if (error) return error;
  do fd = sys(openat)((int)directory, name, linux_flags | O_CLOEXEC | O_NOCTTY);
  while (fd < 0 && errno == EINTR);
  fd = fd < 0 ? -errno : call_above_standard(fd);
  if (fd < 0) return fd;
  *out = fd;
  return 0;
}

int os_reopen(os_file file, unsigned flags, os_file *out) {
  char path[32];
  (void)snprintf(path, sizeof path, "/proc/self/fd/%d", (int)file);
  int error = os_open(path, flags, out);
  return error == -ENOENT || error == -ENOTDIR ? -EOPNOTSUPP : error; /* no /proc, or nothing of that number in it */
}

int os_duplicate(os_file file, os_file *out) {
  int fd = sys(fcntl)((int)file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (fd < 0) return -errno;
  *out = fd;
  return 0;
}

int os_opened_for(os_file file, unsigned *flags) {
  int opened = sys(fcntl)((int)file, F_GETFL, 0);
  if (opened < 0) return -errno;
  static const unsigned access[] = {[O_RDONLY] = OS_READ, [O_WRONLY] = OS_WRITE, [O_RDWR] = OS_READ | OS_WRITE};
  *flags = opened & O_PATH || (opened & O_ACCMODE) > O_RDWR ? 0 : access[opened & O_ACCMODE];
  *flags |= (opened & O_APPEND ? OS_APPEND : 0) | (opened & O_DIRECT ? OS_DIRECT : 0) |
            (opened & O_NONBLOCK ? OS_NO_WAIT : 0);
  return 0;
}

/* EINTR is not repeated: Linux has closed the descriptor by then, and its number may be another thread's already. */
int os_close(os_file file) { return file == os_no_file ? 0 : call_result(sys(close)((int)file)); }

int os_sync(os_file file, bool metadata) {
  int result;
  do result = metadata ? sys(fsync)((int)file) : sys(fdatasync)((int)file);
  while (result < 0 && errno == EINTR);
  return call_result(result);
}

static int sync_path(const char *path, int flags) {
  int fd = call_open_above(path, O_RDONLY | flags, 0);
  if (fd < 0) return fd;
  int error = os_sync(fd, true);
  int close_error = os_close(fd);
  return error ? error : close_error;
}

int os_sync_directory(const char *path) { return sync_path(path, O_DIRECTORY); }
int os_sync_file_path(const char *path) { return sync_path(path, O_NONBLOCK); }

int os_write_back(os_file file, uint64_t offset, uint64_t length) {
  if (offset > INT64_MAX || length > INT64_MAX - offset) return -EOVERFLOW;
  return call_result(sys(sync_file_range)((int)file, (off_t)offset, (off_t)length, SYNC_FILE_RANGE_WRITE));
}

int os_resize(os_file file, uint64_t size) {
  if (size > INT64_MAX) return -EFBIG;
  int result;
  do result = sys(ftruncate)((int)file, (off_t)size);
  while (result < 0 && errno == EINTR);
  return call_result(result);
}

/* fallocate itself: glibc's posix_fallocate writes a byte into every block where the file system cannot do it. */
static int allocate(os_file file, uint64_t offset, uint64_t length, int mode) {
  if (offset > INT64_MAX || length > INT64_MAX - offset) return -EFBIG;
  if (length == 0) return 0; /* the kernel calls that invalid */
  int result;
  do result = sys(fallocate)((int)file, mode, (off_t)offset, (off_t)length);
  while (result < 0 && errno == EINTR);
  int error = call_result(result);
  return error == -EINVAL || error == -ENOSYS ? -EOPNOTSUPP : error;
}

int os_allocate(os_file file, uint64_t size) { return allocate(file, 0, size, 0); }
int os_allocate_zeroed(os_file file, uint64_t size) { return allocate(file, 0, size, FALLOC_FL_ZERO_RANGE); }
int os_allocate_part(os_file file, uint64_t offset, uint64_t length) { return allocate(file, offset, length, 0); }

int os_advise(os_file file, uint64_t offset, uint64_t length, enum os_advice advice) {
  static const int words[] = {
      [OS_ADVICE_NORMAL] = POSIX_FADV_NORMAL,
      [OS_ADVICE_SEQUENTIAL] = POSIX_FADV_SEQUENTIAL,
      [OS_ADVICE_RANDOM] = POSIX_FADV_RANDOM,
      [OS_ADVICE_WILL_NEED] = POSIX_FADV_WILLNEED,
      [OS_ADVICE_HUGE] = -1,
      [OS_ADVICE_ONCE] = POSIX_FADV_NOREUSE,
  };
  if ((unsigned)advice >= sizeof words / sizeof words[0] || words[advice] < 0) return -EINVAL;
  if (offset > INT64_MAX || length > INT64_MAX) return -EOVERFLOW;
  return -sys(posix_fadvise)((int)file, (off_t)offset, (off_t)length, words[advice]);
}

static enum os_kind kind_of(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return OS_REGULAR;
    case S_IFDIR:
      return OS_DIRECTORY;
    case S_IFIFO:
      return OS_FIFO;
    case S_IFSOCK:
      return OS_SOCKET;
    case S_IFCHR:
      return OS_CHARACTER_DEVICE;
    case S_IFBLK:
      return OS_BLOCK_DEVICE;
    default:
      return OS_OTHER;
  }
}

static int64_t nanoseconds(const struct timespec *time) {
  int64_t ns;
  if (__builtin_mul_overflow((int64_t)time->tv_sec, INT64_C(1000000000), &ns) ||
      __builtin_add_overflow(ns, (int64_t)time->tv_nsec, &ns)) {
    return time->tv_sec < 0 ? INT64_MIN : INT64_MAX;
  }
  return ns;
}

static void fill_stat(const struct stat *from, struct os_stat *out) {
  *out = (struct os_stat){
      .kind = kind_of(from->st_mode),
      .size = (uint64_t)from->st_size,
      .allocated = (uint64_t)from->st_blocks * 512, /* the unit of st_blocks, whatever the block size */
      .device = from->st_dev,
      .inode = from->st_ino,
      .modified_ns = nanoseconds(&from->st_mtim),
      .links = from->st_nlink,
      .mode = from->st_mode & 07777u,
      .owner = from->st_uid,
      .group = from->st_gid,
  };
}

int os_stat_file(os_file file, struct os_stat *out) {
  struct stat status;
  int error = call_result(sys(fstat)((int)file, &status));
  if (error) return error;
  fill_stat(&status, out);
  uint64_t size;
  if (out->kind == OS_BLOCK_DEVICE && sys(ioctl)((int)file, BLKGETSIZE64, &size) == 0) out->size = size;
  return 0;
}

int os_stat_path(const char *path, struct os_stat *out) {
  struct stat status;
  int error = call_result(sys(stat)(path, &status));
  if (!error) fill_stat(&status, out);
  return error;
}

int os_set_mode(os_file file, uint32_t mode) { return call_result(sys(fchmod)((int)file, (mode_t)(mode & 07777u))); }
int os_set_owner(os_file file, uint32_t owner, uint32_t group) {
  return call_result(sys(fchown)((int)file, (uid_t)owner, (gid_t)group));
}

const char *os_kind_name(enum os_kind kind) {
  static const char *const names[] = {
      [OS_REGULAR] = "regular file",
      [OS_DIRECTORY] = "directory",
      [OS_FIFO] = "FIFO",
      [OS_SOCKET] = "socket",
      [OS_CHARACTER_DEVICE] = "character device",
      [OS_BLOCK_DEVICE] = "block device",
      [OS_OTHER] = "special file",
  };
  return (unsigned)kind <= OS_OTHER ? names[kind] : names[OS_OTHER];
}

/* A device's logical sector, for kernels whose statx says nothing about devices. */
static int sector_alignment(int fd, uint32_t *memory, uint32_t *offset) {
  int sector = 0;
  if (sys(ioctl)(fd, BLKSSZGET, &sector) < 0 || sector <= 0) return -EOPNOTSUPP;
  *memory = *offset = (uint32_t)sector;
  return 0;
}

int os_direct_alignment(os_file file, uint32_t *memory, uint32_t *offset) {
  struct call_statx status = {0};
  int error = call_result(sys(statx)((int)file, CALL_STATX_DIOALIGN, &status));
  if (error && error != -ENOSYS && error != -EINVAL) return error;
  if (error || !(status.mask & CALL_STATX_DIOALIGN)) return sector_alignment((int)file, memory, offset);
  if (status.direct_offset == 0) return -EINVAL; /* told, and told not to */
  *memory = status.direct_memory;
  *offset = status.direct_offset;
  return 0;
}

static int lock(os_file file, int operation) {
  int result;
  do result = sys(flock)((int)file, operation | LOCK_NB);
  while (result < 0 && errno == EINTR);
  return call_result(result);
}

int os_lock(os_file file) { return lock(file, LOCK_EX); }
int os_lock_shared(os_file file) { return lock(file, LOCK_SH); }

int os_pipe(os_file *read_end, os_file *write_end) {
  int ends[2];
  if (sys(pipe2)(ends, O_CLOEXEC) < 0) return -errno;
  int first = call_above_standard(ends[0]), second = call_above_standard(ends[1]);
  if (first < 0 || second < 0) {
    if (first >= 0) (void)sys(close)(first);
    if (second >= 0) (void)sys(close)(second);
    return first < 0 ? first : second;
  }
  *read_end = first;
  *write_end = second;
  return 0;
}

int os_pipe_resize(os_file pipe, size_t bytes) {
  if (bytes > INT32_MAX) return -EINVAL;
  return sys(fcntl)((int)pipe, F_SETPIPE_SZ, (int)bytes) < 0 ? -errno : 0;
}
