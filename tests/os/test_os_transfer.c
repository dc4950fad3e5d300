/*
 * test_os_transfer.c - opening and transferring: short counts, interruptions and refusals at every position, by overriding
 * the system calls beneath.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sys/uio.h>

#include "check.h"

/* ---- a file of 10 bytes in memory, whose n-th call fails ---- */

static struct {
  unsigned char data[10];
  size_t step; /* bytes a call */
  unsigned calls;
  unsigned fail_at;    /* number of the call that fails, from 1; 0 none */
  unsigned fail_count; /* that call and those after it */
  int error;
  size_t longest; /* longest length that was asked for */
} fake;

static bool fails(void) {
  fake.calls++;
  if (!fake.fail_at || fake.calls < fake.fail_at || fake.calls >= fake.fail_at + fake.fail_count) return false;
  errno = fake.error;
  return true;
}

static size_t piece(size_t length, size_t offset) {
  if (length > fake.longest) fake.longest = length;
  size_t left = offset < sizeof fake.data ? sizeof fake.data - offset : 0;
  if (length > left) length = left;
  return length > fake.step ? fake.step : length;
}

static ssize_t fake_pread(int fd, void *data, size_t length, off_t offset) {
  if (fails()) return -1;
  size_t count = piece(length, (size_t)offset);
  memcpy(data, fake.data + offset, count);
  return (ssize_t)count;
}

static ssize_t fake_pwrite(int fd, const void *data, size_t length, off_t offset) {
  if (fails()) return -1;
  size_t count = piece(length, (size_t)offset);
  memcpy(fake.data + offset, data, count);
  return (ssize_t)count;
}

static int fake_ppoll(void *fds, unsigned long count, const void *timeout, const void *mask) { return 1; }

static int set_up(void **state) {
  memset(&fake, 0, sizeof fake);
  for (size_t i = 0; i < sizeof fake.data; i++) fake.data[i] = (unsigned char)(i + 1);
  replace("pread", (os_function *)fake_pread);
  replace("pwrite", (os_function *)fake_pwrite);
  replace("ppoll", (os_function *)fake_ppoll);
  return 0;
}

static int tear_down(void **state) {
  restore("pread");
  restore("pwrite");
  restore("ppoll");
  return 0;
}

static const unsigned char expected[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

static void fail_at(unsigned position, unsigned count, int error, size_t step) {
  fake.calls = 0;
  fake.fail_at = position;
  fake.fail_count = count;
  fake.error = error;
  fake.step = step;
}

static void reads_go_on_after_passing_failures(void **state) {
  static const int passing[] = {EINTR, EAGAIN};
  for (size_t e = 0; e < 2; e++) {
    for (size_t step = 1; step <= 11; step++) {
      for (unsigned at = 0; at <= 12; at++) {
        unsigned char data[16] = {0};
        fail_at(at, 3, passing[e], step);
        assert_int_equal(os_pread_full(7, data, sizeof data, 0), 10);
        assert_memory_equal(data, expected, 10);
      }
    }
  }
}

static void writes_go_on_after_passing_failures(void **state) {
  static const int passing[] = {EINTR, EAGAIN};
  for (size_t e = 0; e < 2; e++) {
    for (size_t step = 1; step <= 10; step++) {
      for (unsigned at = 0; at <= 11; at++) {
        memset(fake.data, 0, sizeof fake.data);
        fail_at(at, 3, passing[e], step);
        assert_int_equal(os_pwrite_full(7, expected, 10, 0), 10);
        assert_memory_equal(fake.data, expected, 10);
      }
    }
  }
}

static void hard_failure_returns_what_went_before(void **state) {
  unsigned char data[16];
  fail_at(1, 100, EIO, 3);
  assert_int_equal(os_pread_full(7, data, sizeof data, 0), -EIO);
  fail_at(3, 100, EIO, 3);
  assert_int_equal(os_pread_full(7, data, sizeof data, 0), 6);
  fail_at(1, 100, ENOSPC, 3);
  assert_int_equal(os_pwrite_full(7, expected, 10, 0), -ENOSPC);
  fail_at(2, 100, ENOSPC, 3);
  assert_int_equal(os_pwrite_full(7, expected, 10, 0), 3);
}

static void endless_eagain_ends(void **state) {
  unsigned char data[4];
  fail_at(1, UINT32_MAX - 1, EAGAIN, 3);
  assert_int_equal(os_pread(7, data, sizeof data, 0), -EAGAIN);
}

static void write_of_nothing_is_not_repeated_for_ever(void **state) {
  fail_at(0, 0, 0, 0);
  assert_int_equal(os_pwrite_full(7, expected, 10, 0), -EIO);
}

static void one_call_moves_at_most_a_gibibyte(void **state) {
  unsigned char data[16];
  fail_at(0, 0, 0, 16);
  assert_int_equal(os_pread(7, data, (size_t)3 << 30, 0), 10);
  assert_int_equal(fake.longest, (size_t)1 << 30);
}

static void offsets_beyond_63_bits_are_refused(void **state) {
  unsigned char data[4] = {0};
  assert_int_equal(os_pread(7, data, 4, UINT64_MAX), -EOVERFLOW);
  assert_int_equal(os_pwrite(7, data, 4, (uint64_t)INT64_MAX + 1), -EOVERFLOW);
  assert_int_equal(os_seek(7, UINT64_MAX), -EOVERFLOW);
  assert_int_equal(os_resize(7, UINT64_MAX), -EFBIG);
  assert_int_equal(fake.calls, 0);
}

/* ---- other calls ---- */

static unsigned interruptions;
static int scripted_error;

static int fail_once_interrupted(void) {
  if (interruptions == 0) return 0;
  interruptions--;
  errno = EINTR;
  return -1;
}
static int interrupted_fd(int fd) { return fail_once_interrupted(); }
static int interrupted_size(int fd, off_t size) { return fail_once_interrupted(); }
static int interrupted_flock(int fd, int operation) { return fail_once_interrupted(); }
static int interrupted_allocate(int fd, int mode, off_t offset, off_t length) { return fail_once_interrupted(); }
static int failing_allocate(int fd, int mode, off_t offset, off_t length) {
  errno = scripted_error;
  return -1;
}

static void interrupted_calls_are_repeated(void **state) {
  replace("fsync", (os_function *)interrupted_fd);
  replace("fdatasync", (os_function *)interrupted_fd);
  replace("ftruncate", (os_function *)interrupted_size);
  replace("flock", (os_function *)interrupted_flock);
  replace("fallocate", (os_function *)interrupted_allocate);
  interruptions = 2;
  assert_int_equal(os_sync(7, true), 0);
  interruptions = 2;
  assert_int_equal(os_sync(7, false), 0);
  interruptions = 2;
  assert_int_equal(os_resize(7, 5), 0);
  interruptions = 2;
  assert_int_equal(os_lock(7), 0);
  interruptions = 2;
  assert_int_equal(os_allocate(7, 5), 0);
  assert_int_equal(interruptions, 0);
  restore("fsync"), restore("fdatasync"), restore("ftruncate"), restore("flock"), restore("fallocate");
}

static void close_is_called_once_even_if_interrupted(void **state) {
  replace("close", (os_function *)interrupted_fd);
  interruptions = 2;
  assert_int_equal(os_close(7), -EINTR);
  assert_int_equal(interruptions, 1);
  restore("close");
  assert_int_equal(os_close(os_no_file), 0);
  assert_int_equal(os_close(1000000), -EBADF);
}

static void allocation_says_plainly_that_it_cannot(void **state) {
  static const struct {
    int from, to;
  } cases[] = {{EOPNOTSUPP, -EOPNOTSUPP}, {EINVAL, -EOPNOTSUPP}, {ENOSYS, -EOPNOTSUPP}, {ENOSPC, -ENOSPC}, {EFBIG, -EFBIG}};
  replace("fallocate", (os_function *)failing_allocate);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    scripted_error = cases[i].from;
    assert_int_equal(os_allocate(7, 4096), cases[i].to);
  }
  restore("fallocate");
  assert_int_equal(os_allocate(7, 0), 0);
  assert_int_equal(os_allocate(7, UINT64_MAX), -EFBIG);
}

static void unknown_names_cannot_be_overridden(void **state) {
  assert_null(os_override("no_such_call", NULL));
  os_function *before = os_override("pread", (os_function *)fake_pread);
  assert_non_null(before);
  assert_ptr_equal((void *)(uintptr_t)os_override("pread", NULL), (void *)(uintptr_t)fake_pread);
  assert_ptr_equal((void *)(uintptr_t)os_override("pread", NULL), (void *)(uintptr_t)before);
}

/* ---- real files ---- */

static void meaningless_flags_are_refused_before_they_harm(void **state) {
  os_file file = make_file(*state, "kept", 100);
  struct path path = path_in(*state, "kept");
  os_file none;
  assert_int_equal(os_open(path.text, 0, &none), -EINVAL);
  assert_int_equal(os_open(path.text, OS_READ | OS_TRUNCATE, &none), -EINVAL); /* empties the file on Linux */
  assert_int_equal(os_open(path.text, OS_WRITE | OS_EXCLUSIVE, &none), -EINVAL);
  struct os_stat status;
  assert_int_equal(os_stat_file(file, &status), 0);
  assert_int_equal(status.size, 100);
  assert_int_equal(os_close(file), 0);
}

static void opening_follows_the_flags(void **state) {
  struct path path = path_in(*state, "opened");
  os_file file, second;
  assert_int_equal(os_open(path.text, OS_READ, &file), -ENOENT);
  assert_int_equal(os_open(path.text, OS_READ | OS_WRITE | OS_CREATE | OS_EXCLUSIVE, &file), 0);
  assert_int_equal(os_open(path.text, OS_WRITE | OS_CREATE | OS_EXCLUSIVE, &second), -EEXIST);
  struct stat status;
  assert_int_equal(fstat((int)file, &status), 0);
  assert_int_equal(status.st_mode & 0777 & ~0600u, 0);
  assert_int_equal(fcntl((int)file, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  assert_int_equal(os_pwrite_full(file, "hello", 5, 0), 5);
  assert_int_equal(os_seek(file, 1), 0);
  char text[8] = "";
  assert_int_equal(os_read(file, text, 3), 3);
  assert_string_equal(text, "ell");
  assert_int_equal(os_write(file, "p", 1), 1);
  assert_int_equal(os_pread(file, text, 8, 0), 5);
  assert_memory_equal(text, "hellp", 5);
  assert_int_equal(os_pread(file, text, 8, 5), 0);
  assert_int_equal(os_open(path.text, OS_WRITE | OS_TRUNCATE | OS_DATA_SYNC, &second), 0);
  assert_int_equal(os_pread(file, text, 8, 0), 0);
  assert_int_equal(os_close(second), 0);
  assert_int_equal(os_close(file), 0);
}

static void fifo_opens_without_waiting_and_reads_as_ended(void **state) {
  struct path path = path_in(*state, "fifo");
  assert_int_equal(mkfifo(path.text, 0600), 0);
  os_file file;
  assert_int_equal(os_open(path.text, OS_READ | OS_NO_WAIT, &file), 0);
  assert_int_equal(fcntl((int)file, F_GETFL) & O_NONBLOCK, 0);
  struct os_stat status;
  assert_int_equal(os_stat_file(file, &status), 0);
  assert_string_equal(os_kind_name(status.kind), "FIFO");
  char byte;
  assert_int_equal(os_pread(file, &byte, 1, 0), -ESPIPE);
  assert_int_equal(os_read(file, &byte, 1), 0);
  assert_int_equal(os_close(file), 0);
}

static void unnamed_file_leaves_no_name(void **state) {
  os_file file;
  int error = os_open(*state, OS_READ | OS_WRITE | OS_UNNAMED, &file);
  if (error == -EOPNOTSUPP) skip_because("this file system has no files without a name");
  assert_int_equal(error, 0);
  struct stat status;
  assert_int_equal(fstat((int)file, &status), 0);
  assert_int_equal(status.st_nlink, 0);
  assert_int_equal(os_close(file), 0);
  assert_int_equal(os_open("/no/such/directory", OS_WRITE | OS_UNNAMED, &file), -ENOENT);
}

static int refusing_open(const char *path, int flags, unsigned mode) {
  errno = scripted_error;
  return -1;
}

static void kernels_without_unnamed_files_are_understood(void **state) {
  static const struct {
    int from, to;
  } cases[] = {
      {EISDIR, -EOPNOTSUPP}, {EOPNOTSUPP, -EOPNOTSUPP}, {EINVAL, -EOPNOTSUPP}, {EACCES, -EACCES}, {ENOSPC, -ENOSPC}};
  replace("open", (os_function *)refusing_open);
  os_file file;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    scripted_error = cases[i].from;
    assert_int_equal(os_open(".", OS_WRITE | OS_UNNAMED, &file), cases[i].to);
  }
  scripted_error = EINVAL; /* may be the direct flag that is refused */
  assert_int_equal(os_open(".", OS_WRITE | OS_UNNAMED | OS_DIRECT, &file), -EINVAL);
  restore("open");
}

static void kinds_and_sizes_are_told(void **state) {
  struct os_stat status;
  os_file file = make_file(*state, "sized", 12345);
  assert_int_equal(os_stat_file(file, &status), 0);
  assert_int_equal(status.kind, OS_REGULAR);
  assert_int_equal(status.size, 12345);
  assert_true(status.modified_ns > INT64_C(1500000000) * 1000000000);
  struct os_stat by_path;
  assert_int_equal(os_stat_path(path_in(*state, "sized").text, &by_path), 0);
  assert_true(by_path.inode == status.inode && by_path.device == status.device);
  assert_int_equal(os_stat_path("/dev/null", &status), 0);
  assert_string_equal(os_kind_name(status.kind), "character device");
  assert_int_equal(os_stat_path(*state, &status), 0);
  assert_string_equal(os_kind_name(status.kind), "directory");
  assert_int_equal(os_stat_path("no-such-file", &status), -ENOENT);
  assert_int_equal(os_close(file), 0);
}

static void allocation_sets_the_size(void **state) {
  os_file file = open_in(*state, "allocated", OS_READ | OS_WRITE | OS_CREATE);
  int error = os_allocate(file, MIB);
  if (error == -EOPNOTSUPP) skip_because("this file system cannot allocate ahead");
  assert_int_equal(error, 0);
  struct os_stat status;
  assert_int_equal(os_stat_file(file, &status), 0);
  assert_int_equal(status.size, MIB);
  assert_int_equal(os_resize(file, 10), 0);
  assert_int_equal(os_stat_file(file, &status), 0);
  assert_int_equal(status.size, 10);
  assert_int_equal(os_allocate_part(file, MIB, 4096), 0); /* and leaves out what is before it */
  assert_int_equal(os_stat_file(file, &status), 0);
  assert_int_equal(status.size, MIB + 4096);
  assert_true(status.allocated < MIB);
  assert_int_equal(os_allocate_part(file, INT64_MAX, 1), -EFBIG);
  assert_int_equal(os_close(file), 0);
}

static void direct_alignment_is_a_power_of_two_or_not_told(void **state) {
  os_file file = make_file(*state, "direct", 100);
  uint32_t memory = 0, offset = 0;
  int error = os_direct_alignment(file, &memory, &offset);
  if (error == 0) {
    assert_true(memory > 0 && (memory & (memory - 1)) == 0);
    assert_true(offset > 0 && (offset & (offset - 1)) == 0);
  } else {
    assert_true(error == -EOPNOTSUPP || error == -EINVAL);
  }
  assert_int_equal(os_close(file), 0);
}

static void advice_and_syncs_work_on_real_files(void **state) {
  os_file file = make_file(*state, "advised", 5000);
  for (int advice = OS_ADVICE_NORMAL; advice <= OS_ADVICE_RANDOM; advice++) {
    assert_int_equal(os_advise(file, 0, 0, (enum os_advice)advice), 0);
  }
  assert_int_equal(os_advise(file, UINT64_MAX, 0, OS_ADVICE_NORMAL), -EOVERFLOW);
  assert_int_equal(os_sync(file, false), 0);
  assert_int_equal(os_sync_directory(*state), 0);
  assert_int_equal(os_sync_file_path(path_in(*state, "advised").text), 0);
  assert_int_equal(os_sync_directory(path_in(*state, "advised").text), -ENOTDIR);
  assert_int_equal(os_close(file), 0);
}

static int without_standard_files(void *directory) {
  for (int fd = 0; fd <= 2; fd++) (void)close(fd);
  os_file file, read_end, write_end, memory;
  struct path path = path_in(directory, "above");
  if (os_open(path.text, OS_WRITE | OS_CREATE, &file)) return 1;
  if (os_pipe(&read_end, &write_end)) return 2;
  if (os_memory_file("test", 10, &memory)) return 3;
  if (file < 3 || read_end < 3 || write_end < 3 || memory < 3) return 4;
  os_process process;
  struct os_exit status;
  const char *const argv[] = {"/bin/sh", "-c", "test -e /proc/self/fd/3 && exit 42", NULL};
  if (os_process_spawn(argv, &memory, 1, &process) || os_process_wait(process, UINT64_MAX, &status)) return 5;
  return status.crashed || status.code != 42 ? 6 : 0;
}

/* The ways to move the same bytes agree with each other. */
static void every_way_moves_the_same_bytes(void **state) {
  os_file file = make_file(*state, "ways", 5000);
  unsigned char plain[5000], other[5000];
  const struct os_piece pieces[] = {{other, 1}, {other + 1, 999}, {other + 1000, 4000}};
  assert_int_equal(os_pread_full(file, plain, 5000, 0), 5000);
  assert_int_equal(os_raw_pread(file, other, 5000, 0), 5000);
  assert_memory_equal(plain, other, 5000);
  memset(other, 0, sizeof other);
  assert_int_equal(os_seek(file, 0), 0);
  assert_int_equal(os_raw_read(file, other, 100), 100);
  assert_int_equal(os_readv(file, (const struct os_piece[]){{other + 100, 1}, {other + 101, 4899}}, 2), 4900);
  assert_memory_equal(plain, other, 5000);
  memset(other, 0, sizeof other);
  assert_int_equal(os_preadv(file, pieces, 3, 0, 0), 5000);
  assert_memory_equal(plain, other, 5000);
  for (size_t i = 0; i < sizeof other; i++) other[i] ^= 0xff;
  assert_int_equal(os_raw_pwrite(file, other, 10, 0), 10);
  assert_int_equal(os_pwritev(file, (const struct os_piece[]){{other + 10, 90}}, 1, 10, 0), 90);
  assert_int_equal(os_seek(file, 100), 0);
  assert_int_equal(os_writev(file, (const struct os_piece[]){{other + 100, 400}, {other + 500, 500}}, 2), 900);
  assert_int_equal(os_raw_write(file, other + 1000, 4000), 4000);
  assert_int_equal(os_pread_full(file, plain, 5000, 0), 5000);
  assert_memory_equal(plain, other, 5000);
  assert_int_equal(os_preadv(file, pieces, 3, UINT64_MAX, 0), -EOVERFLOW);
  assert_int_equal(os_raw_pread(file, other, 1, UINT64_MAX), -EOVERFLOW);
  assert_int_equal(os_close(file), 0);
}

static ssize_t unknown_flag(int fd, const struct iovec *parts, int count, off_t offset, int flags) {
  errno = flags == 0x80 ? EOPNOTSUPP : EINVAL;
  return -1;
}
static void flags_that_nobody_knows_are_told(void **state) {
  os_file file = make_file(*state, "flags", 100);
  unsigned char byte;
  replace("preadv2", (os_function *)unknown_flag);
  replace("pwritev2", (os_function *)unknown_flag);
  assert_int_equal(os_preadv(file, &(struct os_piece){&byte, 1}, 1, 0, OS_TRANSFER_UNCACHED), -EOPNOTSUPP);
  assert_int_equal(os_pwritev(file, &(struct os_piece){&byte, 1}, 1, 0, OS_TRANSFER_UNCACHED), -EOPNOTSUPP);
  restore("preadv2");
  restore("pwritev2");
  assert_int_equal(os_close(file), 0);
}

static void appended_writes_go_to_the_end(void **state) {
  assert_int_equal(os_close(make_file(*state, "log", 100)), 0);
  os_file file = open_in(*state, "log", OS_WRITE | OS_APPEND);
  struct os_stat facts;
  assert_int_equal(os_seek(file, 0), 0);
  assert_int_equal(os_write(file, "end", 3), 3);
  assert_int_equal(os_stat_file(file, &facts), 0);
  assert_int_equal(facts.size, 103);
  assert_int_equal(os_close(file), 0);
  assert_int_equal(os_open(path_in(*state, "log").text, OS_READ | OS_APPEND, &file), -EINVAL);
}

static void zeroed_storage_reads_as_zeros(void **state) {
  os_file file = make_file(*state, "zeroed", 5000);
  unsigned char data[8192];
  const int error = os_allocate_zeroed(file, 8192);
  if (error == -EOPNOTSUPP) skip_because("this file system cannot allocate zeros");
  assert_int_equal(error, 0);
  assert_int_equal(os_pread_full(file, data, sizeof data, 0), sizeof data);
  for (size_t i = 0; i < sizeof data; i++) assert_int_equal(data[i], 0);
  assert_int_equal(os_close(file), 0);
}

static void files_are_opened_below_a_directory(void **state) {
  os_file directory, file;
  unsigned char data[4];
  assert_int_equal(os_close(make_file(*state, "below", 100)), 0);
  assert_int_equal(os_open(*state, OS_READ, &directory), 0);
  assert_int_equal(os_open_at(directory, "below", OS_READ, &file), 0);
  assert_int_equal(os_pread(file, data, 4, 1), 4);
  assert_true(data[0] == 7 && data[3] == 28);
  assert_int_equal(os_close(file), 0);
  assert_int_equal(os_open_at(directory, "nobody", OS_READ, &file), -ENOENT);
  assert_int_equal(os_open_at(directory, "new", OS_WRITE | OS_CREATE, &file), -EINVAL);
  assert_int_equal(os_open_at(directory, "below", 0, &file), -EINVAL);
  assert_int_equal(os_close(directory), 0);
}

static void check_copy(os_file file, size_t length) {
  unsigned char data[100000];
  struct os_stat facts;
  assert_int_equal(os_stat_file(file, &facts), 0);
  assert_int_equal(facts.size, length);
  assert_int_equal(os_pread_full(file, data, length, 0), (int64_t)length);
  for (size_t i = 0; i < length; i++) assert_int_equal(data[i], (unsigned char)(i * 7));
}

/* sendfile and splice, each in parts: what they move follows the place where the files stand. */
static void the_system_moves_bytes_between_files(void **state) {
  os_file from = make_file(*state, "from", 100000), to = open_in(*state, "sent", OS_READ | OS_WRITE | OS_CREATE);
  os_file in, out;
  assert_int_equal(os_send_file(from, 0, to, 1000), 1000);
  assert_int_equal(os_send_file(from, 1000, to, 1 << 20), 99000);
  assert_int_equal(os_send_file(from, 100000, to, 1), 0);
  assert_int_equal(os_send_file(from, UINT64_MAX, to, 1), -EOVERFLOW);
  check_copy(to, 100000);
  assert_int_equal(os_close(to), 0);
  to = open_in(*state, "spliced", OS_READ | OS_WRITE | OS_CREATE);
  assert_int_equal(os_pipe(&out, &in), 0);
  assert_int_equal(os_pipe_resize(in, 8192), 0);
  assert_int_equal(os_pipe_resize(in, SIZE_MAX), -EINVAL);
  assert_int_equal(os_seek(from, 0), 0);
  for (int64_t done = 0, count; done < 100000; done += count) {
    count = os_splice(from, in, 1 << 20);
    assert_in_range(count, 1, 8192);
    for (int64_t left = count, moved; left > 0; left -= moved) {
      moved = os_splice(out, to, (uint64_t)left);
      assert_in_range(moved, 1, left);
    }
  }
  assert_int_equal(os_splice(from, in, 1), 0);
  assert_int_equal(os_splice(from, to, 1), -EINVAL); /* neither is a pipe */
  check_copy(to, 100000);
  const os_file all[] = {in, out, to, from};
  for (size_t i = 0; i < 4; i++) assert_int_equal(os_close(all[i]), 0);
}

static void closed_standard_files_are_never_taken(void **state) {
  os_process process;
  struct os_exit status;
  assert_int_equal(os_process_fork(without_standard_files, *state, &process), 0);
  assert_int_equal(os_process_wait(process, UINT64_MAX, &status), 0);
  assert_false(status.crashed);
  assert_int_equal(status.code, 0);
}

#define faked(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
  const struct CMUnitTest faked_tests[] = {
      faked(reads_go_on_after_passing_failures),
      faked(writes_go_on_after_passing_failures),
      faked(hard_failure_returns_what_went_before),
      faked(endless_eagain_ends),
      faked(write_of_nothing_is_not_repeated_for_ever),
      faked(one_call_moves_at_most_a_gibibyte),
      faked(offsets_beyond_63_bits_are_refused),
      cmocka_unit_test(interrupted_calls_are_repeated),
      cmocka_unit_test(close_is_called_once_even_if_interrupted),
      cmocka_unit_test(allocation_says_plainly_that_it_cannot),
      cmocka_unit_test(unknown_names_cannot_be_overridden),
      cmocka_unit_test(kernels_without_unnamed_files_are_understood),
  };
  const struct CMUnitTest real_tests[] = {
      cmocka_unit_test(meaningless_flags_are_refused_before_they_harm),
      cmocka_unit_test(opening_follows_the_flags),
      cmocka_unit_test(fifo_opens_without_waiting_and_reads_as_ended),
      cmocka_unit_test(unnamed_file_leaves_no_name),
      cmocka_unit_test(kinds_and_sizes_are_told),
      cmocka_unit_test(allocation_sets_the_size),
      cmocka_unit_test(direct_alignment_is_a_power_of_two_or_not_told),
      cmocka_unit_test(advice_and_syncs_work_on_real_files),
      cmocka_unit_test(zeroed_storage_reads_as_zeros),
      cmocka_unit_test(appended_writes_go_to_the_end),
      cmocka_unit_test(flags_that_nobody_knows_are_told),
      cmocka_unit_test(every_way_moves_the_same_bytes),
      cmocka_unit_test(files_are_opened_below_a_directory),
      cmocka_unit_test(the_system_moves_bytes_between_files),
      cmocka_unit_test(closed_standard_files_are_never_taken),
  };
  int failed = cmocka_run_group_tests_name("transfers overridden", faked_tests, NULL, NULL);
  return failed + cmocka_run_group_tests_name("files", real_tests, make_scratch, remove_scratch);
}
