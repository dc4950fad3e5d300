/*
 * test_lib_copy.c - copies: every way of moving the bytes and every way of being refused, holes, what is in the way, several
 * destinations of which some fail, and that what cannot be finished leaves nothing behind.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "tests/lib/inject.h"
#include "weir.h"

#define BIG (MIB + 5)

static unsigned char byte_at(uint64_t offset) { return (unsigned char)((offset * 2654435761u) >> 13 ^ offset); }

static unsigned char *content(size_t size, uint64_t seed) {
  unsigned char *data = malloc(size + 1);
  assert_non_null(data);
  for (size_t i = 0; i < size; i++) data[i] = byte_at(i + seed);
  return data;
}

static void make_source(const char *path, size_t size, uint64_t seed) {
  unsigned char *data = content(size, seed);
  put_content(path, data, size);
  free(data);
}

static bool is_copy(const char *path, size_t size, uint64_t seed) {
  unsigned char *data = content(size, seed);
  const bool same = holds(path, data, size);
  free(data);
  return same;
}

/* An empty directory of this name. */
static struct path fresh_directory(const char *scratch, const char *name) {
  const struct path path = path_in(scratch, name);
  if (is_there(path.text)) assert_int_equal(os_remove_tree(path.text), 0);
  assert_int_equal(os_make_directory(path.text), 0);
  return path;
}

static int copy_file(const char *from, const char *to, unsigned flags, struct weir_copy_result *result) {
  const struct weir_copy_options options = {.flags = flags};
  struct weir_error error = {0};
  const int code = weir_copy_file(from, to, &options, result, &error);
  if (code) assert_int_equal(error.code, code);
  if (result) assert_int_equal(result->status, code);
  return code;
}

static uint64_t allocated(const char *path) {
  struct stat status;
  assert_int_equal(stat(path, &status), 0);
  return (uint64_t)status.st_blocks * 512;
}

/* ---- one to one ---- */

static const unsigned some_flags[] = {0,
                                      WEIR_COPY_NO_CLONE,
                                      WEIR_COPY_NO_CLONE | WEIR_COPY_DENSE,
                                      WEIR_ATOMIC,
                                      WEIR_DURABLE | WEIR_ATOMIC | WEIR_COPY_MODE,
                                      WEIR_DURABLE,
                                      WEIR_COPY_VERIFY,
                                      WEIR_COPY_VERIFY | WEIR_ATOMIC | WEIR_COPY_NO_CLONE,
                                      WEIR_COPY_REPLACE,
                                      WEIR_COPY_REPLACE | WEIR_ATOMIC};
#define FLAGS_COUNT (sizeof some_flags / sizeof some_flags[0])

static void every_size_by_every_flag(void **state) {
  static const size_t sizes[] = {0, 1, 4095, 4096, 4097, 256 * KIB - 1, 256 * KIB, 256 * KIB + 1, BIG};
  const struct path from = path_in(*state, "from"), to = path_in(*state, "to");
  for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    make_source(from.text, sizes[i], i);
    for (unsigned f = 0; f < FLAGS_COUNT; f++) {
      struct weir_copy_result result;
      assert_int_equal(copy_file(from.text, to.text, some_flags[f], &result), 0);
      assert_true(is_copy(to.text, sizes[i], i));
      assert_int_equal(result.bytes, sizes[i]);
      assert_int_equal(result.verified, (some_flags[f] & WEIR_COPY_VERIFY) != 0);
      assert_non_null(result.method);
      if (some_flags[f] & WEIR_COPY_NO_CLONE) assert_string_equal(result.method, "read and write");
      assert_int_equal(unlink(to.text), 0);
    }
  }
  assert_int_equal(unlink(from.text), 0);
}

static void options_that_make_no_sense_are_refused(void **state) {
  const struct path from = path_in(*state, "from"), to = path_in(*state, "to");
  struct weir_copy_result result = {.status = 7};
  make_source(from.text, 10, 0);
  assert_int_equal(copy_file(from.text, to.text, WEIR_PREALLOCATE, &result), WEIR_EINVAL);
  assert_int_equal(weir_copy_file(from.text, to.text, &(struct weir_copy_options){.reserved = {1}}, NULL, NULL),
                   WEIR_EINVAL);
  assert_int_equal(weir_copy_file(from.text, to.text, &(struct weir_copy_options){.threads = 1000}, NULL, NULL),
                   WEIR_EINVAL);
  assert_int_equal(weir_copy_file(NULL, to.text, NULL, NULL, NULL), WEIR_EINVAL);
  assert_int_equal(weir_copy_file(from.text, NULL, NULL, NULL, NULL), WEIR_EINVAL);
  assert_false(is_there(to.text));
  assert_int_equal(weir_copy_file(from.text, to.text, NULL, NULL, NULL), 0);
  assert_int_equal(unlink(to.text) | unlink(from.text), 0);
  const char *const one = from.text;
  assert_int_equal(weir_copy(NULL, 1, &one, 1, NULL, NULL, NULL, NULL), WEIR_EINVAL);
  assert_int_equal(weir_copy(NULL, 0, NULL, 0, NULL, NULL, NULL, NULL), 0);
}

static void what_is_there_is_left_alone_unless_told(void **state) {
  const struct path from = path_in(*state, "from"), to = path_in(*state, "to");
  static const unsigned ways[] = {0, WEIR_ATOMIC, WEIR_ATOMIC | WEIR_DURABLE};
  make_source(from.text, 5000, 1);
  for (unsigned i = 0; i < 3; i++) {
    struct stat status;
    make_source(to.text, 9000, 2);
    assert_int_equal(chmod(to.text, 0640), 0);
    assert_int_equal(copy_file(from.text, to.text, ways[i], NULL), WEIR_EEXIST);
    assert_true(is_copy(to.text, 9000, 2));
    assert_int_equal(copy_file(from.text, to.text, ways[i] | WEIR_COPY_REPLACE, NULL), 0);
    assert_true(is_copy(to.text, 5000, 1));
    assert_int_equal(stat(to.text, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0640);
    assert_int_equal(unlink(to.text), 0);
    assert_int_equal(symlink("nowhere", to.text), 0);
    assert_int_equal(copy_file(from.text, to.text, ways[i], NULL), WEIR_EEXIST);
    assert_int_equal(unlink(to.text), 0);
  }
  assert_int_equal(unlink(from.text), 0);
}

static void a_source_is_never_its_own_destination(void **state) {
  const struct path from = path_in(*state, "from"), link_path = path_in(*state, "link"), soft = path_in(*state, "soft");
  make_source(from.text, 5000, 1);
  assert_int_equal(link(from.text, link_path.text), 0);
  assert_int_equal(symlink("from", soft.text), 0);
  const char *const names[] = {from.text, link_path.text, soft.text};
  static const unsigned ways[] = {0, WEIR_ATOMIC, WEIR_COPY_REPLACE, WEIR_COPY_REPLACE | WEIR_ATOMIC};
  for (unsigned i = 0; i < 9; i++) {
    for (unsigned way = 0; way < 4; way++) {
      assert_int_equal(copy_file(names[i / 3], names[i % 3], ways[way], NULL), WEIR_ESAME);
      assert_true(is_copy(from.text, 5000, 1));
      assert_int_equal(entries_in(*state), 3);
    }
  }
  assert_int_equal(unlink(from.text) | unlink(link_path.text) | unlink(soft.text), 0);
}

static void other_kinds_of_files_are_named(void **state) {
  const struct path from = path_in(*state, "from"), fifo = path_in(*state, "fifo"), none = path_in(*state, "none");
  struct weir_copy_result result;
  make_source(from.text, 10, 0);
  assert_int_equal(mkfifo(fifo.text, 0600), 0);
  for (unsigned replace_flag = 0; replace_flag < 2; replace_flag++) {
    const unsigned flags = replace_flag ? WEIR_COPY_REPLACE : 0;
    assert_int_equal(copy_file(from.text, *state, flags, NULL), WEIR_EISDIR);
    assert_int_equal(copy_file(from.text, fifo.text, flags, NULL), WEIR_ENOTREG);
    assert_int_equal(copy_file(*state, none.text, flags, &result), WEIR_EISDIR);
    assert_string_equal(result.error.path, *state);
    assert_int_equal(copy_file(fifo.text, none.text, flags, NULL), WEIR_ENOTREG);
    assert_int_equal(copy_file(none.text, fifo.text, flags, NULL), WEIR_ENOENT);
    assert_int_equal(copy_file(from.text, path_in(none.text, "x").text, flags, NULL), WEIR_ENOENT);
    assert_int_equal(copy_file(from.text, path_in(from.text, "x").text, flags, NULL), WEIR_ENOTDIR);
    assert_false(is_there(none.text));
  }
  assert_int_equal(unlink(from.text) | unlink(fifo.text), 0);
}

static void made_up_files_come_whole(void **state) {
  static const char *const sources[] = {"/proc/version", "/proc/filesystems", "/sys/kernel/mm/transparent_hugepage/enabled"};
  const struct path to = path_in(*state, "to");
  for (unsigned i = 0; i < 3; i++) {
    char data[65536];
    const size_t size = get_content(sources[i], data, sizeof data);
    if (size == SIZE_MAX) continue;
    for (unsigned f = 0; f < FLAGS_COUNT; f++) {
      assert_int_equal(copy_file(sources[i], to.text, some_flags[f], NULL), 0);
      assert_true(holds(to.text, data, size));
      assert_int_equal(unlink(to.text), 0);
    }
  }
}

static void permissions_and_times(void **state) {
  const struct path from = path_in(*state, "from"), to = path_in(*state, "to");
  const struct timespec times[2] = {{.tv_sec = 1000000000, .tv_nsec = 0}, {.tv_sec = 1100000000, .tv_nsec = 5000}};
  const mode_t mask = umask(027);
  for (unsigned way = 0; way < 4; way++) {
    const unsigned flags = (way & 1 ? WEIR_ATOMIC : 0u) | (way & 2 ? WEIR_COPY_VERIFY : 0u);
    struct stat status;
    make_source(from.text, 5000, 1);
    assert_int_equal(chmod(from.text, 0757), 0);
    assert_int_equal(utimensat(AT_FDCWD, from.text, times, 0), 0);
    assert_int_equal(copy_file(from.text, to.text, flags, NULL), 0);
    assert_int_equal(stat(to.text, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0750); /* as the umask leaves it */
    assert_true(status.st_mtim.tv_sec > 1100000000);
    assert_int_equal(chmod(to.text, 0640), 0);
    assert_int_equal(copy_file(from.text, to.text, flags | WEIR_COPY_MODE | WEIR_COPY_REPLACE, NULL), 0);
    assert_int_equal(stat(to.text, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0757);
    assert_int_equal(status.st_mtim.tv_sec, 1100000000);
    assert_int_equal(unlink(to.text), 0);
  }
  (void)umask(mask);
  assert_int_equal(unlink(from.text), 0);
}

/* ---- holes ---- */

#define SPARSE (8 * MIB + 12345)

static bool make_sparse(const char *path, bool ends_with_data) {
  unsigned char *data = content(64 * KIB, 3);
  const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  assert_true(fd >= 0);
  assert_int_equal(pwrite(fd, data, 64 * KIB, MIB), 64 * KIB);
  assert_int_equal(pwrite(fd, data, 1000, 3 * MIB + 100), 1000);
  assert_int_equal(ftruncate(fd, SPARSE), 0);
  if (ends_with_data) assert_int_equal(pwrite(fd, data, 10, SPARSE - 10), 10);
  assert_int_equal(fsync(fd) | close(fd), 0);
  free(data);
  return allocated(path) < SPARSE / 2;
}

static bool same_files(const char *a, const char *b) {
  unsigned char *data = malloc(SPARSE + 1);
  assert_non_null(data);
  const size_t size = get_content(a, data, SPARSE + 1);
  const bool same = holds(b, data, size);
  free(data);
  return same;
}

static void holes_stay_holes_unless_told(void **state) {
  const struct path from = path_in(*state, "sparse"), to = path_in(*state, "to");
  if (!make_sparse(from.text, false)) skip_because("this file system has no holes");
  for (unsigned ends = 0; ends < 2; ends++) {
    assert_true(make_sparse(from.text, ends));
    for (unsigned f = 0; f < FLAGS_COUNT; f++) {
      struct weir_copy_result result;
      assert_int_equal(copy_file(from.text, to.text, some_flags[f], &result), 0);
      assert_int_equal(result.bytes, SPARSE);
      assert_true(same_files(from.text, to.text));
      if (some_flags[f] & WEIR_COPY_DENSE)
        assert_true(allocated(to.text) >= SPARSE);
      else
        assert_true(allocated(to.text) < SPARSE / 2);
      assert_int_equal(unlink(to.text), 0);
    }
  }
  /* nothing but a hole; and what stood there before must not shine through */
  assert_int_equal(truncate(from.text, 0) | truncate(from.text, SPARSE), 0);
  make_source(to.text, 2 * MIB, 1);
  assert_int_equal(copy_file(from.text, to.text, WEIR_COPY_REPLACE, NULL), 0);
  assert_true(same_files(from.text, to.text));
  assert_true(make_sparse(from.text, false));
  make_source(to.text, SPARSE + 5, 1);
  assert_int_equal(copy_file(from.text, to.text, WEIR_COPY_REPLACE | WEIR_COPY_VERIFY, NULL), 0);
  assert_true(same_files(from.text, to.text));
  assert_int_equal(unlink(from.text) | unlink(to.text), 0);
}

static off_t no_seek_data(int fd, off_t offset, int whence) {
  if (whence != SEEK_DATA && whence != SEEK_HOLE) return lseek(fd, offset, whence);
  return errno = EINVAL, -1;
}

static void where_holes_cannot_be_found_they_are_read(void **state) {
  const struct path from = path_in(*state, "sparse"), to = path_in(*state, "to");
  if (!make_sparse(from.text, false)) skip_because("this file system has no holes");
  replace("lseek", (os_function *)no_seek_data);
  assert_int_equal(copy_file(from.text, to.text, WEIR_COPY_NO_CLONE | WEIR_COPY_VERIFY, NULL), 0);
  restore("lseek");
  assert_true(same_files(from.text, to.text));
  assert_int_equal(unlink(from.text) | unlink(to.text), 0);
}

/* ---- what the system does by itself ---- */

static struct {
  int64_t good;   /* bytes that go well before it says `error`, or 0 */
  size_t at_most; /* of one call */
  int error;
} kernel;

static ssize_t odd_range(int from, off_t *from_offset, int to, off_t *to_offset, size_t length, unsigned flags) {
  char data[4096];
  if (kernel.good <= 0) return errno = kernel.error, kernel.error ? -1 : 0;
  if (length > kernel.at_most) length = kernel.at_most;
  if (length > sizeof data) length = sizeof data;
  (void)flags;
  const ssize_t got = pread(from, data, length, *from_offset);
  if (got > 0) assert_int_equal(pwrite(to, data, (size_t)got, *to_offset), got);
  kernel.good -= got;
  return got;
}
static int no_ioctl(int fd, unsigned long request, void *argument) {
  (void)fd, (void)request, (void)argument;
  return errno = EOPNOTSUPP, -1;
}

/* A refusal at any point, and an end that is none. */
static void what_the_system_refuses_is_done_by_hand(void **state) {
  static const int errors[] = {EXDEV, EINVAL, EPERM, EOPNOTSUPP, ENOSYS, EACCES, ETXTBSY, EBADF, ENOENT, EFBIG, EIO, 0};
  const struct path from = path_in(*state, "from"), to = path_in(*state, "to");
  make_source(from.text, 20000, 1);
  replace("copy_file_range", (os_function *)odd_range);
  replace("ioctl", (os_function *)no_ioctl);
  for (unsigned i = 0; i < sizeof errors / sizeof errors[0]; i++) {
    for (int64_t good = 0; good <= 24000; good += 4000) {
      struct weir_copy_result result;
      kernel.good = good;
      kernel.at_most = 1000;
      kernel.error = errors[i];
      assert_int_equal(copy_file(from.text, to.text, 0, &result), 0);
      assert_true(is_copy(to.text, 20000, 1));
      assert_string_equal(result.method, good == 0       ? "read and write"
                                      : good >= 20000 ? "kernel"
                                                      : "kernel, then read and write");
      assert_int_equal(unlink(to.text), 0);
    }
  }
  restore("copy_file_range");
  restore("ioctl");
  assert_int_equal(unlink(from.text), 0);
}

/* ---- failures ---- */

static struct {
  unsigned count, cut, fail_at, spoil_at;
  int error;
} fault;

static ssize_t bad_pread(int fd, void *data, size_t length, off_t offset) {
  const unsigned number = __atomic_add_fetch(&fault.count, 1, __ATOMIC_SEQ_CST);
  if (fault.fail_at == number) return errno = fault.error, -1;
  if (fault.cut && length > 1) length = 1 + number * 1237 % length;
  if (number % 5 == 0 && fault.cut) return errno = EINTR, -1;
  return pread(fd, data, length, offset);
}
static ssize_t bad_pwrite(int fd, const void *data, size_t length, off_t offset) {
  const unsigned number = __atomic_add_fetch(&fault.count, 1, __ATOMIC_SEQ_CST);
  if (fault.fail_at == number) return errno = fault.error, -1;
  if (fault.cut && length > 1) length = 1 + number * 1237 % length;
  if (fault.spoil_at != number) return pwrite(fd, data, length, offset);
  unsigned char *spoilt = malloc(length);
  assert_non_null(spoilt);
  memcpy(spoilt, data, length);
  spoilt[length / 2] ^= 1;
  const ssize_t put = pwrite(fd, spoilt, length, offset);
  free(spoilt);
  return put;
}

static void short_transfers_go_on(void **state) {
  const struct path from = path_in(*state, "from"), to = path_in(*state, "to");
  make_source(from.text, 60000, 1);
  for (unsigned f = 0; f < FLAGS_COUNT; f++) {
    memset(&fault, 0, sizeof fault);
    fault.cut = 1;
    replace("pread", (os_function *)bad_pread);
    replace("pwrite", (os_function *)bad_pwrite);
    assert_int_equal(copy_file(from.text, to.text, some_flags[f] | WEIR_COPY_NO_CLONE, NULL), 0);
    restore("pread");
    restore("pwrite");
    assert_true(is_copy(to.text, 60000, 1));
    assert_int_equal(unlink(to.text), 0);
  }
  assert_int_equal(unlink(from.text), 0);
}

static void what_fails_half_way_leaves_nothing(void **state) {
  const struct path from = path_in(*state, "from"), folder = fresh_directory(*state, "folder");
  const struct path to = path_in(folder.text, "to");
  const struct weir_copy_options plain = {.flags = WEIR_COPY_NO_CLONE, .block_bytes = 1000};
  const struct weir_copy_options atomic = {.flags = WEIR_COPY_NO_CLONE | WEIR_ATOMIC, .block_bytes = 1000};
  const struct weir_copy_options over = {.flags = WEIR_COPY_NO_CLONE | WEIR_COPY_REPLACE, .block_bytes = 1000};
  const struct weir_copy_options *const all[] = {&plain, &atomic, &over};
  make_source(from.text, 10000, 1);
  for (unsigned i = 0; i < 6; i++) {
    for (unsigned at = 1; at <= 10; at++) {
      struct weir_copy_result result;
      struct weir_error error;
      const bool writes = i % 2;
      memset(&fault, 0, sizeof fault);
      fault.fail_at = at;
      fault.error = writes ? ENOSPC : EIO;
      if (all[i / 2] == &over) make_source(to.text, 300, 9);
      replace(writes ? "pwrite" : "pread", (os_function *)(writes ? (os_function *)bad_pwrite : (os_function *)bad_pread));
      const int code = weir_copy_file(from.text, to.text, all[i / 2], &result, &error);
      restore("pread");
      restore("pwrite");
      assert_int_equal(code, writes ? WEIR_ENOSPC : WEIR_EIO);
      assert_string_equal(error.operation, writes ? "write" : "read");
      assert_string_equal(error.path, writes ? to.text : from.text);
      assert_int_equal(error.offset, (at - 1) * 1000);
      assert_int_equal(error.transferred, (at - 1) * 1000);
      assert_int_equal(result.bytes, (at - 1) * 1000);
      assert_int_equal(entries_in(folder.text), 0);
    }
  }
  make_source(to.text, 300, 9);
  const struct weir_copy_options both = {.flags = WEIR_COPY_NO_CLONE | WEIR_COPY_REPLACE | WEIR_ATOMIC, .block_bytes = 1000};
  memset(&fault, 0, sizeof fault);
  fault.fail_at = 3;
  fault.error = ENOSPC;
  replace("pwrite", (os_function *)bad_pwrite);
  assert_int_equal(weir_copy_file(from.text, to.text, &both, NULL, NULL), WEIR_ENOSPC);
  restore("pwrite");
  assert_true(is_copy(to.text, 300, 9)); /* the old one */
  assert_int_equal(entries_in(folder.text), 1);
  assert_int_equal(unlink(from.text) | os_remove_tree(folder.text), 0);
}

static void a_wrong_byte_is_found(void **state) {
  const struct path from = path_in(*state, "from"), folder = fresh_directory(*state, "folder");
  const struct path to = path_in(folder.text, "to");
  const size_t size = 3 * MIB + 77;
  make_source(from.text, size, 1);
  for (unsigned at = 1; at <= 4; at++) {
    struct weir_copy_result result;
    const struct weir_copy_options options = {.flags = WEIR_COPY_VERIFY | WEIR_COPY_NO_CLONE | (at % 2 ? WEIR_ATOMIC : 0u),
                                              .block_bytes = MIB};
    memset(&fault, 0, sizeof fault);
    fault.spoil_at = at;
    replace("pwrite", (os_function *)bad_pwrite);
    assert_int_equal(weir_copy_file(from.text, to.text, &options, &result, NULL), WEIR_EVERIFY);
    restore("pwrite");
    assert_int_equal(result.error.offset, at < 4 ? (at - 1) * MIB + MIB / 2 : 3 * MIB + 77 / 2);
    assert_false(result.verified);
    assert_int_equal(entries_in(folder.text), 0);
  }
  assert_int_equal(unlink(from.text) | os_remove_tree(folder.text), 0);
}

/* Whatever call fails: the copy is whole, or it is not there, and nothing else is. */
static void every_call_may_fail(void **state) {
  static const unsigned flags[] = {0, WEIR_ATOMIC | WEIR_DURABLE | WEIR_COPY_MODE | WEIR_COPY_VERIFY,
                                   WEIR_COPY_REPLACE | WEIR_DURABLE | WEIR_COPY_NO_CLONE};
  const struct path from = path_in(*state, "from"), folder = fresh_directory(*state, "folder");
  const struct path to = path_in(folder.text, "from");
  make_source(from.text, 5000, 1);
  inject_begin();
  const unsigned files = open_files();
  for (unsigned f = 0; f < 3; f++) {
    for (unsigned i = 0; i < INJECT_NAME_COUNT; i++) {
      bool hit = true;
      for (unsigned at = 1; hit && at < 60; at++) {
        inject_arm(inject_names[i], at, strcmp(inject_names[i], "open") == 0 ? EMFILE : EIO);
        const int code = copy_file(from.text, to.text, flags[f], NULL);
        hit = inject_disarm();
        if (!hit) assert_int_equal(code, 0);
        if (code == 0 || code == WEIR_EDURABLE)
          assert_true(is_copy(to.text, 5000, 1));
        else if (strcmp(inject_names[i], "unlink") != 0)
          assert_int_equal(entries_in(folder.text), 0);
        assert_int_equal(open_files(), files);
        assert_int_equal(os_remove_tree(folder.text) | os_make_directory(folder.text), 0);
      }
    }
  }
  assert_int_equal(unlink(from.text) | os_remove_tree(folder.text), 0);
}

/* ---- progress ---- */

struct seen {
  struct weir_copy_progress last;
  unsigned calls, cancel_at;
  int inside;
};

static int see(void *context, const struct weir_copy_progress *now) {
  struct seen *seen = context;
  assert_int_equal(__atomic_add_fetch(&seen->inside, 1, __ATOMIC_SEQ_CST), 1);
  assert_true(now->bytes_done >= seen->last.bytes_done && now->copies_done >= seen->last.copies_done);
  assert_true(now->copies_done <= now->copies_total);
  seen->last = *now;
  const bool cancel = ++seen->calls == seen->cancel_at;
  (void)__atomic_sub_fetch(&seen->inside, 1, __ATOMIC_SEQ_CST);
  return cancel;
}

static void progress_reaches_the_end(void **state) {
  const struct path from = path_in(*state, "from"), to = path_in(*state, "to");
  struct seen seen = {0};
  const struct weir_copy_options options = {
      .progress = see, .context = &seen, .block_bytes = 4096, .flags = WEIR_COPY_NO_CLONE};
  make_source(from.text, BIG, 1);
  assert_int_equal(weir_copy_file(from.text, to.text, &options, NULL, NULL), 0);
  assert_true(seen.calls >= 2);
  assert_int_equal(seen.last.bytes_done, BIG);
  assert_int_equal(seen.last.bytes_total, BIG);
  assert_int_equal(seen.last.copies_done, 1);
  assert_int_equal(unlink(to.text), 0);
  seen = (struct seen){.cancel_at = 1};
  struct weir_copy_result result;
  assert_int_equal(weir_copy_file(from.text, to.text, &options, &result, NULL), WEIR_ECANCELED);
  assert_false(is_there(to.text));
  assert_int_equal(unlink(from.text), 0);
}

/* ---- many to many ---- */

#define SOURCES 5
#define LANES 4

struct many {
  struct path sources[SOURCES], lanes[LANES];
  const char *source[SOURCES], *lane[LANES];
  struct weir_copy_result results[SOURCES * LANES];
};
static const size_t many_sizes[SOURCES] = {0, 1, 5000, 70000, 300 * KIB + 3};

static struct many make_many(const char *scratch) {
  struct many many;
  for (unsigned i = 0; i < SOURCES; i++) {
    char name[16];
    (void)snprintf(name, sizeof name, "source%u", i);
    many.sources[i] = path_in(scratch, name);
    make_source(many.sources[i].text, many_sizes[i], i);
  }
  for (unsigned d = 0; d < LANES; d++) {
    char name[16];
    (void)snprintf(name, sizeof name, "lane%u", d);
    many.lanes[d] = fresh_directory(scratch, name);
  }
  memset(many.results, 0x55, sizeof many.results);
  return many;
}

static void point(struct many *many) {
  for (unsigned i = 0; i < SOURCES; i++) many->source[i] = many->sources[i].text;
  for (unsigned d = 0; d < LANES; d++) many->lane[d] = many->lanes[d].text;
}

static struct path copy_path(const struct many *many, unsigned i, unsigned d) {
  return path_in(many->lanes[d].text, strrchr(many->sources[i].text, '/') + 1);
}

static bool whole(const struct many *many, unsigned i, unsigned d) {
  return is_copy(copy_path(many, i, d).text, many_sizes[i], i);
}

static void remove_many(struct many *many) {
  for (unsigned i = 0; i < SOURCES; i++) (void)unlink(many->sources[i].text);
  for (unsigned d = 0; d < LANES; d++) assert_int_equal(os_remove_tree(many->lanes[d].text), 0);
}

static void check_mapped(const struct many *many, const unsigned char *map) {
  for (unsigned i = 0; i < SOURCES; i++) {
    for (unsigned d = 0; d < LANES; d++) {
      const struct weir_copy_result *result = &many->results[i * LANES + d];
      const bool mapped = !map || map[i * LANES + d];
      assert_int_equal(result->status, 0);
      assert_int_equal(is_there(copy_path(many, i, d).text), mapped);
      if (!mapped) {
        const struct weir_copy_result zero = {0};
        assert_memory_equal(result, &zero, sizeof zero);
        continue;
      }
      assert_true(whole(many, i, d));
      assert_int_equal(result->bytes, many_sizes[i]);
    }
  }
}

static void many_to_many_by_every_flag(void **state) {
  unsigned char map[SOURCES * LANES];
  for (unsigned round = 0; round < 2 * FLAGS_COUNT; round++) {
    struct many many = make_many(*state);
    point(&many);
    for (unsigned i = 0; i < SOURCES * LANES; i++) map[i] = (unsigned char)(i * 7 % 3 != 1);
    for (unsigned d = 0; d < LANES; d++) map[2 * LANES + d] = d == 1; /* one destination only */
    for (unsigned d = 0; d < LANES; d++) map[1 * LANES + d] = 0;      /* none */
    const bool mapped = round % 2;
    const struct weir_copy_options options = {
        .flags = some_flags[round / 2], .threads = round % 3, .block_bytes = round % 4 ? 4096 : 0, .window_bytes = 16384};
    struct weir_error error = {0};
    assert_int_equal(weir_copy(many.source, SOURCES, many.lane, LANES, mapped ? map : NULL, &options, many.results, &error),
                     0);
    check_mapped(&many, mapped ? map : NULL);
    remove_many(&many);
  }
}

static void every_block_size_and_window(void **state) {
  struct many many = make_many(*state);
  point(&many);
  for (unsigned block = 1; block <= 64; block += block < 9 ? 1 : 11) {
    for (unsigned window = 1; window <= 200; window += 66) {
      const struct weir_copy_options options = {.flags = WEIR_COPY_NO_CLONE | WEIR_COPY_REPLACE,
                                                .threads = 1 + block % 3,
                                                .block_bytes = block,
                                                .window_bytes = window};
      assert_int_equal(weir_copy(many.source, 3, many.lane, LANES, NULL, &options, NULL, NULL), 0);
      for (unsigned i = 0; i < 3; i++)
        for (unsigned d = 0; d < LANES; d++) assert_true(whole(&many, i, d));
    }
  }
  remove_many(&many);
}

static uint64_t bytes_read;
static ssize_t counting_pread(int fd, void *data, size_t length, off_t offset) {
  const ssize_t got = pread(fd, data, length, offset);
  if (got > 0) (void)__atomic_add_fetch(&bytes_read, (uint64_t)got, __ATOMIC_SEQ_CST);
  return got;
}

static void each_source_is_read_once(void **state) {
  struct many many = make_many(*state);
  point(&many);
  uint64_t total = 0;
  for (unsigned i = 0; i < SOURCES; i++) total += many_sizes[i];
  bytes_read = 0;
  replace("pread", (os_function *)counting_pread);
  const struct weir_copy_options options = {.flags = WEIR_COPY_NO_CLONE};
  assert_int_equal(weir_copy(many.source, SOURCES, many.lane, LANES, NULL, &options, many.results, NULL), 0);
  restore("pread");
  assert_int_equal(bytes_read, total);
  check_mapped(&many, NULL);
  remove_many(&many);
}

static void holes_stay_holes_in_all(void **state) {
  struct many many = make_many(*state);
  point(&many);
  const struct path from = path_in(*state, "sparse");
  const char *const source = from.text;
  if (!make_sparse(from.text, false)) skip_because("this file system has no holes");
  for (unsigned dense = 0; dense < 2; dense++) {
    const struct weir_copy_options options = {.flags = WEIR_COPY_NO_CLONE | WEIR_COPY_VERIFY | WEIR_COPY_REPLACE |
                                                       (dense ? WEIR_COPY_DENSE : 0u)};
    assert_int_equal(weir_copy(&source, 1, many.lane, LANES, NULL, &options, many.results, NULL), 0);
    for (unsigned d = 0; d < LANES; d++) {
      const struct path to = path_in(many.lanes[d].text, "sparse");
      assert_true(same_files(from.text, to.text));
      assert_int_equal(allocated(to.text) < SPARSE / 2, !dense);
      assert_true(many.results[d].verified);
    }
  }
  assert_int_equal(unlink(from.text), 0);
  remove_many(&many);
}

/* Files in this directory are full after so many bytes. */
static char full_folder[128];
static off_t full_after;
static int full_error;

static ssize_t full_pwrite(int fd, const void *data, size_t length, off_t offset) {
  char link_path[64], target[512] = "";
  (void)snprintf(link_path, sizeof link_path, "/proc/self/fd/%d", fd);
  const ssize_t size = readlink(link_path, target, sizeof target - 1);
  if (size > 0 && strstr(target, full_folder)) {
    if (offset >= full_after) return errno = full_error, -1;
    if ((off_t)length > full_after - offset) length = (size_t)(full_after - offset);
  }
  return pwrite(fd, data, length, offset);
}

static void one_that_is_full_does_not_hurt_the_others(void **state) {
  static const int errors[] = {ENOSPC, EDQUOT, EIO, EFBIG};
  for (unsigned round = 0; round < 16; round++) {
    struct many many = make_many(*state);
    struct weir_error error = {0};
    struct weir_copy_result one;
    point(&many);
    const struct weir_copy_options options = {.flags = WEIR_COPY_NO_CLONE | (round & 1 ? WEIR_ATOMIC : 0u),
                                              .block_bytes = 4096,
                                              .window_bytes = round & 2 ? 8192 : 0,
                                              .threads = round & 4 ? 3 : 0};
    (void)snprintf(full_folder, sizeof full_folder, "/lane2/");
    full_after = 30000;
    full_error = errors[round / 4];
    replace("pwrite", (os_function *)full_pwrite);
    const int code = weir_copy(many.source, SOURCES, many.lane, LANES, NULL, &options, many.results, &error);
    restore("pwrite");
    assert_int_equal(code, -errors[round / 4]);
    assert_int_equal(error.code, code);
    assert_string_equal(error.operation, "write");
    for (unsigned i = 0; i < SOURCES; i++) {
      for (unsigned d = 0; d < LANES; d++) {
        const bool fails = d == 2 && i >= 3; /* the two that are longer */
        one = many.results[i * LANES + d];
        assert_int_equal(one.status, fails ? code : 0);
        if (fails) assert_true(one.error.offset >= 30000 && one.bytes <= many_sizes[i]);
        if (!fails) assert_true(whole(&many, i, d));
      }
    }
    assert_int_equal(entries_in(many.lanes[2].text), 3);
    remove_many(&many);
  }
}

static struct {
  unsigned count;
  struct path paths[LANES];
} mounts;

/* Also after a test that failed. */
static int unmount_all(void **state) {
  (void)state;
  int code = 0;
  while (mounts.count) code |= umount2(mounts.paths[--mounts.count].text, MNT_DETACH);
  return code;
}

/* The same with four file systems of their own, one of them too small. */
static void a_small_file_system_does_not_hurt_the_others(void **state) {
  struct many many = make_many(*state);
  point(&many);
  const struct path from = path_in(*state, "large");
  const char *const source = from.text;
  for (unsigned d = 0; d < LANES; d++) {
    if (geteuid() != 0 || mount("none", many.lane[d], "tmpfs", 0, d == 1 ? "size=1m" : "size=16m") != 0) {
      assert_int_equal(unmount_all(state), 0);
      remove_many(&many);
      skip_because("file systems cannot be mounted here");
    }
    mounts.paths[mounts.count++] = many.lanes[d];
  }
  make_source(from.text, 3 * MIB, 1);
  for (unsigned round = 0; round < 4; round++) {
    const struct weir_copy_options options = {.flags = WEIR_COPY_VERIFY | WEIR_COPY_REPLACE | (round & 1 ? WEIR_ATOMIC : 0u),
                                              .window_bytes = round & 2 ? 512 * KIB : 0};
    const int code = weir_copy(&source, 1, many.lane, LANES, NULL, &options, many.results, NULL);
    assert_int_equal(code, WEIR_ENOSPC);
    for (unsigned d = 0; d < LANES; d++) {
      const struct path to = path_in(many.lanes[d].text, "large");
      assert_int_equal(many.results[d].status, d == 1 ? WEIR_ENOSPC : 0);
      assert_int_equal(many.results[d].verified, d != 1);
      assert_int_equal(entries_in(many.lane[d]), d != 1);
      if (d != 1) assert_true(is_copy(to.text, 3 * MIB, 1));
    }
  }
  assert_int_equal(unlink(from.text), 0);
  assert_int_equal(unmount_all(state), 0);
  remove_many(&many);
}

static void broken_ones_fail_alone(void **state) {
  struct many many = make_many(*state);
  struct weir_error error = {0};
  point(&many);
  assert_int_equal(os_remove_tree(many.lanes[1].text), 0); /* missing */
  many.lane[3] = many.source[4];                           /* a file */
  assert_int_equal(unlink(many.source[2]), 0);             /* a source that is missing */
  for (unsigned round = 0; round < 2; round++) {
    const struct weir_copy_options options = {.flags = WEIR_COPY_REPLACE | (round ? WEIR_COPY_NO_CLONE : 0u)};
    assert_int_equal(weir_copy(many.source, SOURCES, many.lane, LANES, NULL, &options, many.results, &error), WEIR_ENOENT);
    for (unsigned i = 0; i < SOURCES; i++) {
      for (unsigned d = 0; d < LANES; d++) {
        const struct weir_copy_result *result = &many.results[i * LANES + d];
        const int expected = d == 1 ? WEIR_ENOENT : d == 3 ? WEIR_ENOTDIR : i == 2 ? WEIR_ENOENT : 0;
        assert_int_equal(result->status, expected);
        if (!expected) assert_true(whole(&many, i, d));
      }
    }
    assert_string_equal(many.results[1].error.path, many.lanes[1].text);
    assert_string_equal(many.results[2 * LANES].error.path, many.source[2]);
  }
  assert_int_equal(os_make_directory(many.lanes[1].text), 0);
  remove_many(&many);
}

static void twins_are_refused(void **state) {
  struct many many = make_many(*state);
  point(&many);
  const struct path other = path_in(many.lanes[3].text, "source3");
  make_source(other.text, 10, 50);
  const char *const sources[] = {many.source[3], other.text, many.source[0]};
  const char *const lanes[] = {many.lane[0], many.lane[1], many.lane[0]}; /* one of them twice */
  struct weir_copy_result results[9];
  const struct weir_copy_options options = {.flags = WEIR_COPY_REPLACE};
  assert_int_equal(weir_copy(sources, 3, lanes, 3, NULL, &options, results, NULL), WEIR_EEXIST);
  static const int expected[9] = {0, 0, WEIR_EEXIST, WEIR_EEXIST, WEIR_EEXIST, WEIR_EEXIST, 0, 0, WEIR_EEXIST};
  for (unsigned i = 0; i < 9; i++) assert_int_equal(results[i].status, expected[i]);
  assert_true(whole(&many, 3, 0) && whole(&many, 3, 1) && whole(&many, 0, 0) && whole(&many, 0, 1));
  /* by the map each has a directory of its own */
  static const unsigned char map[4] = {1, 0, 0, 1};
  const char *const two[] = {many.lane[0], many.lane[2]};
  assert_int_equal(weir_copy(sources, 2, two, 2, map, &options, results, NULL), 0);
  assert_true(is_copy(path_in(many.lanes[2].text, "source3").text, 10, 50));
  remove_many(&many);
}

/* What stands at the destination is another source, by another name. */
static void no_source_is_overwritten(void **state) {
  struct many many = make_many(*state);
  point(&many);
  const struct path trap = copy_path(&many, 2, 1);
  assert_int_equal(link(many.source[4], trap.text), 0);
  for (unsigned round = 0; round < 4; round++) {
    const struct weir_copy_options options = {.flags = WEIR_COPY_REPLACE | (round & 1 ? WEIR_ATOMIC : 0u) |
                                                       (round & 2 ? WEIR_COPY_NO_CLONE : 0u)};
    assert_int_equal(weir_copy(many.source, SOURCES, many.lane, LANES, NULL, &options, many.results, NULL), WEIR_ESAME);
    assert_int_equal(many.results[2 * LANES + 1].status, WEIR_ESAME);
    assert_true(is_copy(many.source[4], many_sizes[4], 4));
    assert_true(whole(&many, 4, 1) && whole(&many, 2, 0) && whole(&many, 2, 3));
  }
  remove_many(&many);
}

static void a_read_that_fails_fails_all_of_its_copies(void **state) {
  struct many many = make_many(*state);
  point(&many);
  const char *const source = many.source[4];
  const struct weir_copy_options options = {.flags = WEIR_COPY_NO_CLONE, .block_bytes = 4096};
  memset(&fault, 0, sizeof fault);
  fault.fail_at = 20;
  fault.error = EIO;
  replace("pread", (os_function *)bad_pread);
  assert_int_equal(weir_copy(&source, 1, many.lane, LANES, NULL, &options, many.results, NULL), WEIR_EIO);
  restore("pread");
  for (unsigned d = 0; d < LANES; d++) {
    assert_int_equal(many.results[d].status, WEIR_EIO);
    assert_string_equal(many.results[d].error.path, source);
    assert_int_equal(many.results[d].error.offset, 19 * 4096);
    assert_int_equal(entries_in(many.lane[d]), 0);
  }
  remove_many(&many);
}

static void cancelling_ends_all(void **state) {
  for (unsigned at = 1; at < 3; at++) {
    struct many many = make_many(*state);
    point(&many);
    struct seen seen = {.cancel_at = at};
    const struct weir_copy_options options = {
        .flags = WEIR_COPY_NO_CLONE, .block_bytes = 64, .progress = see, .context = &seen};
    const int code = weir_copy(many.source, SOURCES, many.lane, LANES, NULL, &options, many.results, NULL);
    if (at == 1) assert_int_equal(code, WEIR_ECANCELED);
    for (unsigned i = 0; i < SOURCES; i++) {
      for (unsigned d = 0; d < LANES; d++) {
        const int status = many.results[i * LANES + d].status;
        assert_true(status == 0 || status == WEIR_ECANCELED);
        assert_int_equal(is_there(copy_path(&many, i, d).text), status == 0);
        if (status == 0) assert_true(whole(&many, i, d));
      }
    }
    remove_many(&many);
  }
  struct many many = make_many(*state);
  point(&many);
  struct seen seen = {0};
  const struct weir_copy_options options = {.threads = 2, .block_bytes = 4096, .progress = see, .context = &seen};
  assert_int_equal(weir_copy(many.source, SOURCES, many.lane, LANES, NULL, &options, NULL, NULL), 0);
  assert_int_equal(seen.last.copies_done, SOURCES * LANES);
  assert_int_equal(seen.last.bytes_done, seen.last.bytes_total);
  remove_many(&many);
}

static unsigned threads_left;
static int few_threads(pthread_t *out, const pthread_attr_t *attributes, void *(*body)(void *), void *context) {
  return threads_left ? threads_left--, pthread_create(out, attributes, body, context) : EAGAIN;
}

static void with_fewer_threads_all_is_made(void **state) {
  for (unsigned count = 0; count < 9; count++) {
    struct many many = make_many(*state);
    point(&many);
    const struct weir_copy_options options = {.threads = 2, .flags = WEIR_COPY_NO_CLONE};
    threads_left = count;
    replace("pthread_create", (os_function *)few_threads);
    assert_int_equal(weir_copy(many.source, SOURCES, many.lane, LANES, NULL, &options, many.results, NULL), 0);
    restore("pthread_create");
    check_mapped(&many, NULL);
    remove_many(&many);
  }
}

static void lack_of_memory_is_told(void **state) {
  bool hit = true;
  const unsigned files = open_files();
  for (unsigned at = 1; hit; at++) {
    struct many many = make_many(*state);
    point(&many);
    const struct weir_copy_options options = {.flags = at % 2 ? WEIR_ATOMIC : 0};
    inject_memory_arm(at);
    const int code = weir_copy(many.source, SOURCES, many.lane, LANES, NULL, &options, many.results, NULL);
    hit = inject_memory_disarm();
    assert_true(code == 0 || code == WEIR_ENOMEM);
    if (!hit) assert_int_equal(code, 0);
    for (unsigned i = 0; i < SOURCES; i++) {
      for (unsigned d = 0; d < LANES; d++) {
        const int status = many.results[i * LANES + d].status;
        assert_true(status == 0 || status == WEIR_ENOMEM);
        assert_int_equal(is_there(copy_path(&many, i, d).text), status == 0);
        if (status == 0) assert_true(whole(&many, i, d));
      }
    }
    assert_int_equal(open_files(), files);
    remove_many(&many);
  }
}

static void *no_mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
  (void)address, (void)length, (void)protection, (void)flags, (void)fd, (void)offset;
  return errno = ENOMEM, MAP_FAILED;
}

static void without_pages_there_are_no_half_files(void **state) {
  struct many many = make_many(*state);
  point(&many);
  const struct weir_copy_options options = {.flags = WEIR_COPY_NO_CLONE};
  replace("mmap", (os_function *)no_mmap);
  (void)weir_copy(many.source, SOURCES, many.lane, LANES, NULL, &options, many.results, NULL);
  restore("mmap");
  for (unsigned i = 0; i < SOURCES; i++) {
    for (unsigned d = 0; d < LANES; d++) {
      const int status = many.results[i * LANES + d].status;
      assert_true(status == 0 || status == WEIR_ENOMEM);
      assert_int_equal(is_there(copy_path(&many, i, d).text), status == 0);
      if (status == 0) assert_true(whole(&many, i, d));
    }
  }
  remove_many(&many);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_size_by_every_flag),
      cmocka_unit_test(options_that_make_no_sense_are_refused),
      cmocka_unit_test(what_is_there_is_left_alone_unless_told),
      cmocka_unit_test(a_source_is_never_its_own_destination),
      cmocka_unit_test(other_kinds_of_files_are_named),
      cmocka_unit_test(made_up_files_come_whole),
      cmocka_unit_test(permissions_and_times),
      cmocka_unit_test(holes_stay_holes_unless_told),
      cmocka_unit_test(where_holes_cannot_be_found_they_are_read),
      cmocka_unit_test(what_the_system_refuses_is_done_by_hand),
      cmocka_unit_test(short_transfers_go_on),
      cmocka_unit_test(what_fails_half_way_leaves_nothing),
      cmocka_unit_test(a_wrong_byte_is_found),
      cmocka_unit_test(progress_reaches_the_end),
      cmocka_unit_test(many_to_many_by_every_flag),
      cmocka_unit_test(every_block_size_and_window),
      cmocka_unit_test(each_source_is_read_once),
      cmocka_unit_test(holes_stay_holes_in_all),
      cmocka_unit_test(one_that_is_full_does_not_hurt_the_others),
      cmocka_unit_test_teardown(a_small_file_system_does_not_hurt_the_others, unmount_all),
      cmocka_unit_test(broken_ones_fail_alone),
      cmocka_unit_test(twins_are_refused),
      cmocka_unit_test(no_source_is_overwritten),
      cmocka_unit_test(a_read_that_fails_fails_all_of_its_copies),
      cmocka_unit_test(cancelling_ends_all),
      cmocka_unit_test(with_fewer_threads_all_is_made),
      cmocka_unit_test(lack_of_memory_is_told),
      cmocka_unit_test(without_pages_there_are_no_half_files),
      cmocka_unit_test(every_call_may_fail),
  };
  return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
