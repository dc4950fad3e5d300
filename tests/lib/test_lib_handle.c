/*
 * test_lib_handle.c - files with a position: opening in every way, transfers at every cut and with every failure, borrowed
 * descriptors, direct files with any offset, locks, syncs that fail, and fork.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>

#include "lib/internal.h"
#include "os/linux/calls.h"
#include "tests/lib/inject.h"
#include "tests/lib/shorten.h"

static char directory[] = "lib-handle-XXXXXX";

static int set_up(void **state) {
  (void)umask(022);
  return mkdtemp(directory) ? 0 : -1;
}
static int tear_down(void **state) { return os_remove_tree(directory); }

static struct path in(const char *name) { return path_in(directory, name); }
static char byte_at(uint64_t offset) { return (char)(offset * 7 + offset / 251); }
static void fill(char *data, size_t size, uint64_t offset) {
  for (size_t i = 0; i < size; i++) data[i] = byte_at(offset + i);
}
static void check_bytes(const char *data, size_t size, uint64_t offset) {
  for (size_t i = 0; i < size; i++) {
    if (data[i] != byte_at(offset + i)) fail_msg("byte %zu is wrong", i);
  }
}

static struct path make(const char *name, size_t size) {
  const struct path path = in(name);
  char *data = malloc(size + 1);
  assert_non_null(data);
  fill(data, size, 0);
  put_content(path.text, data, size);
  free(data);
  return path;
}

static struct weir_file *open_as(const char *path, enum weir_access_mode access, unsigned flags) {
  struct weir_file *file;
  assert_int_equal(weir_file_open(path, &(struct weir_open_options){.access = access, .flags = flags}, &file, NULL), 0);
  return file;
}

/* ---- opening ---- */

static void each_access_does_what_it_says(void **state) {
  const struct path path = make("access", 10);
  char data[20];
  struct weir_file *file = open_as(path.text, WEIR_OPEN_READ, 0);
  assert_int_equal(weir_file_read(file, data, 20), 10);
  assert_int_equal(weir_file_write(file, data, 1), WEIR_EBADF);
  assert_int_equal(weir_file_error(file)->code, WEIR_EBADF);
  assert_string_equal(weir_file_error(file)->path, path.text);
  assert_int_equal(weir_file_resize(file, 1), WEIR_EBADF);
  assert_int_equal(weir_file_preallocate(file, 1), WEIR_EBADF);
  assert_int_equal(weir_file_close(file, NULL), 0);

  file = open_as(path.text, WEIR_OPEN_UPDATE, 0);
  assert_int_equal(weir_file_pwrite(file, "X", 1, 3), 1);
  assert_int_equal(weir_file_pread(file, data, 20, 2), 8);
  assert_int_equal(data[1], 'X');
  assert_int_equal(weir_file_close(file, NULL), 0);
  struct weir_error error;
  assert_int_equal(
      weir_file_open(in("missing").text, &(struct weir_open_options){.access = WEIR_OPEN_UPDATE}, &file, &error),
      WEIR_ENOENT);
  assert_null(file);

  file = open_as(path.text, WEIR_OPEN_APPEND, 0);
  assert_int_equal(weir_file_tell(file), 10);
  assert_int_equal(weir_file_seek(file, 0), 0);
  assert_int_equal(weir_file_tell(file), 0);
  assert_int_equal(weir_file_write(file, "end", 3), 3);
  assert_int_equal(weir_file_tell(file), 13);
  assert_int_equal(weir_file_pwrite(file, "X", 1, 0), WEIR_EINVAL);
  assert_int_equal(weir_file_pread(file, data, 1, 0), WEIR_EBADF);
  assert_int_equal(weir_file_read(file, data, 1), WEIR_EBADF);
  assert_int_equal(weir_file_close(file, NULL), 0);
  assert_int_equal(get_content(path.text, data, sizeof data), 13);
  assert_memory_equal(data + 10, "end", 3);

  file = open_as(path.text, WEIR_OPEN_WRITE, 0);
  assert_int_equal(weir_file_size(file), 0);
  assert_int_equal(weir_file_read(file, data, 1), WEIR_EBADF);
  assert_int_equal(weir_file_write(file, "", 0), 0);
  assert_int_equal(weir_file_close(file, NULL), 0);
  assert_int_equal(weir_file_close(NULL, NULL), 0);
}

static void new_files_have_the_mode_asked_for(void **state) {
  static const struct { unsigned asked, given; } modes[] = {{0, 0644}, {0600, 0600}, {0777, 0755}, {0640, 0640}};
  for (size_t i = 0; i < 4; i++) {
    const struct path path = in("mode");
    struct weir_file *file;
    const struct weir_open_options options = {.access = WEIR_OPEN_WRITE, .mode = modes[i].asked, .flags = WEIR_NEW};
    struct stat status;
    assert_int_equal(weir_file_open(path.text, &options, &file, NULL), 0);
    assert_int_equal(weir_file_close(file, NULL), 0);
    assert_int_equal(stat(path.text, &status), 0);
    assert_int_equal(status.st_mode & 07777, modes[i].given);
    assert_int_equal(weir_file_open(path.text, &options, &file, NULL), WEIR_EEXIST);
    assert_int_equal(unlink(path.text), 0);
  }
}

static void wrong_options_are_refused(void **state) {
  static const struct weir_open_options wrong[] = {
      {.access = (enum weir_access_mode)9},
      {.hint = (enum weir_hint)9},
      {.strategy = WEIR_MAPPED},
      {.strategy = WEIR_RING},
      {.strategy = (enum weir_strategy)99},
      {.access = WEIR_OPEN_APPEND, .strategy = WEIR_DIRECT},
      {.flags = WEIR_NEW},
      {.flags = WEIR_ATOMIC},
      {.mode = 010000},
      {.reserved = {1}},
  };
  struct weir_file *file;
  const struct path path = make("options", 1);
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    assert_int_equal(weir_file_open(path.text, &wrong[i], &file, NULL), WEIR_EINVAL);
    assert_null(file);
  }
  assert_int_equal(weir_file_open(path.text, NULL, NULL, NULL), WEIR_EINVAL);
  assert_int_equal(weir_file_open(NULL, NULL, &file, NULL), WEIR_EINVAL);
}

static void links_are_not_followed_where_forbidden(void **state) {
  const struct path path = make("target", 5), link_path = in("link");
  struct weir_file *file;
  assert_int_equal(symlink("target", link_path.text), 0);
  static const enum weir_access_mode modes[] = {WEIR_OPEN_READ, WEIR_OPEN_UPDATE, WEIR_OPEN_APPEND, WEIR_OPEN_WRITE};
  for (size_t i = 0; i < 4; i++) {
    const struct weir_open_options options = {.access = modes[i], .flags = WEIR_NO_FOLLOW};
    assert_int_equal(weir_file_open(link_path.text, &options, &file, NULL), WEIR_ELOOP);
  }
  assert_true(holds(path.text, "\0\7\16\25\34", 5));
  assert_int_equal(weir_file_close(open_as(link_path.text, WEIR_OPEN_READ, 0), NULL), 0);
}

static void what_is_no_regular_file_is_refused_without_waiting(void **state) {
  static const enum weir_access_mode modes[] = {WEIR_OPEN_READ, WEIR_OPEN_WRITE, WEIR_OPEN_UPDATE, WEIR_OPEN_APPEND};
  struct weir_file *file;
  const struct path fifo = in("fifo");
  assert_int_equal(mkfifo(fifo.text, 0600), 0);
  const int reader = open(fifo.text, O_RDONLY | O_NONBLOCK);
  for (unsigned i = 0; i < 4; i++) {
    const struct weir_open_options options = {.access = modes[i]};
    assert_int_equal(weir_file_open(directory, &options, &file, NULL), WEIR_EISDIR);
    assert_int_equal(weir_file_open("/dev/null", &options, &file, NULL), WEIR_ENOTREG);
    assert_int_equal(weir_file_open(fifo.text, &options, &file, NULL), WEIR_ENOTREG);
  }
  (void)close(reader);
  assert_int_equal(weir_file_open(fifo.text, &(struct weir_open_options){.access = WEIR_OPEN_WRITE}, &file, NULL),
                   WEIR_ENOTREG);
  file = open_as("/dev/null", WEIR_OPEN_UPDATE, WEIR_ANY_KIND);
  char byte;
  assert_int_equal(weir_file_read(file, &byte, 1), 0);
  assert_int_equal(weir_file_write(file, &byte, 1), 1);
  assert_int_equal(weir_file_close(file, NULL), 0);
}

/* Somebody else's lock protects the content too. */
static void locks_are_taken_before_anything_is_cut(void **state) {
  const struct path path = make("locked", 10);
  struct weir_file *file, *other;
  struct weir_error error;
  file = open_as(path.text, WEIR_OPEN_UPDATE, WEIR_LOCK);
  for (unsigned access = WEIR_OPEN_READ; access <= WEIR_OPEN_APPEND; access++) {
    const struct weir_open_options options = {.access = (enum weir_access_mode)access, .flags = WEIR_LOCK};
    assert_int_equal(weir_file_open(path.text, &options, &other, &error), WEIR_EAGAIN);
    assert_string_equal(error.operation, "lock");
  }
  assert_int_equal(weir_file_size(file), 10);
  assert_int_equal(weir_file_close(file, NULL), 0);
  file = open_as(path.text, WEIR_OPEN_READ, WEIR_LOCK);
  other = open_as(path.text, WEIR_OPEN_READ, WEIR_LOCK);
  assert_int_equal(weir_file_close(file, NULL), 0);
  assert_int_equal(weir_file_close(other, NULL), 0);
  file = open_as(path.text, WEIR_OPEN_WRITE, WEIR_LOCK);
  assert_int_equal(weir_file_size(file), 0);
  assert_int_equal(weir_file_close(file, NULL), 0);
}

/* ---- transfers ---- */

static void every_cut_is_transferred(void **state) {
  static const size_t most[] = {0, 1, 3, 64};
  const struct path path = in("cuts");
  char data[130], back[130];
  for (size_t m = 0; m < 4; m++) {
    for (size_t size = 0; size < 67; size++) {
      for (size_t block = 0; block < 9; block += 4) {
        struct weir_file *file;
        const struct weir_open_options options = {.access = WEIR_OPEN_WRITE, .block_bytes = block};
        shorten_begin(most[m], m % 2);
        assert_int_equal(weir_file_open(path.text, &options, &file, NULL), 0);
        fill(data, size, 0);
        assert_int_equal(weir_file_write(file, data, size / 3), size / 3);
        assert_int_equal(weir_file_write(file, data + size / 3, size - size / 3), size - size / 3);
        assert_int_equal(weir_file_tell(file), size);
        assert_int_equal(weir_file_close(file, NULL), 0);
        file = open_as(path.text, WEIR_OPEN_READ, 0);
        assert_int_equal(weir_file_read(file, back, size / 2), size / 2);
        assert_int_equal(weir_file_read(file, back + size / 2, sizeof back - size / 2), size - size / 2);
        check_bytes(back, size, 0);
        assert_int_equal(weir_file_read(file, back, 10), 0);
        assert_int_equal(weir_file_pread(file, back, 130, 5), size > 5 ? size - 5 : 0);
        assert_int_equal(weir_file_tell(file), size);
        assert_int_equal(weir_file_close(file, NULL), 0);
        shorten_end();
      }
    }
  }
}

static void errors_tell_what_went_well(void **state) {
  const struct path path = make("errors", 100);
  char data[100];
  static const int errors[] = {EIO, ENOSPC, EDQUOT, ESTALE};
  for (unsigned at = 1; at <= 10; at++) {
    struct weir_file *file = open_as(path.text, WEIR_OPEN_UPDATE, 0);
    const int error = errors[at % 4];
    shorten_begin(10, false);
    shorten_fail(at, error);
    assert_int_equal(weir_file_read(file, data, 100), -error);
    assert_int_equal(weir_file_error(file)->transferred, 10 * (at - 1));
    assert_int_equal(weir_file_error(file)->offset, 10 * (at - 1));
    assert_int_equal(weir_file_tell(file), 10 * (at - 1));
    check_bytes(data, 10 * (at - 1), 0);
    assert_int_equal(weir_file_seek(file, 0), 0);
    fill(data, 100, 0);
    shorten_fail(at, error);
    assert_int_equal(weir_file_write(file, data, 100), -error);
    assert_int_equal(weir_file_error(file)->transferred, 10 * (at - 1));
    assert_string_equal(weir_file_error(file)->operation, "write");
    shorten_fail(at, error);
    assert_int_equal(weir_file_pread(file, data, 100, 0), -error);
    shorten_fail(at, error);
    assert_int_equal(weir_file_pwrite(file, data, 100, 0), -error);
    shorten_end();
    assert_int_equal(weir_file_close(file, NULL), 0);
  }
}

static ssize_t write_nothing(int fd, const void *data, size_t size, off_t offset) { return 0; }

static void writing_nothing_is_no_progress(void **state) {
  struct weir_file *file = open_as(in("stuck").text, WEIR_OPEN_WRITE, 0);
  replace("pwrite", (os_function *)write_nothing);
  assert_int_equal(weir_file_write(file, "abc", 3), WEIR_EIO);
  restore("pwrite");
  assert_int_equal(weir_file_close(file, NULL), 0);
}

static void limits_of_the_system_come_through(void **state) {
  struct rlimit before, low;
  char data[8192] = {0};
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  low = before;
  low.rlim_cur = 5000;
  struct weir_file *file = open_as(in("limited").text, WEIR_OPEN_WRITE, 0);
  (void)signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
  const int64_t code = weir_file_write(file, data, sizeof data);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  assert_int_equal(code, WEIR_EFBIG);
  assert_int_equal(weir_file_error(file)->transferred, 5000);
  assert_int_equal(weir_file_close(file, NULL), 0);
}

static void reading_to_the_end_says_whether_it_is(void **state) {
  const struct path path = make("to-end", 50);
  char data[60];
  for (size_t begin = 0; begin < 60; begin += 7) {
    for (size_t capacity = 0; capacity < 60; capacity++) {
      struct weir_file *file = open_as(path.text, WEIR_OPEN_READ, 0);
      size_t size = 99;
      const size_t left = begin < 50 ? 50 - begin : 0;
      assert_int_equal(weir_file_seek(file, begin), 0);
      assert_int_equal(weir_file_read_to_end(file, data, capacity, &size), capacity < left ? WEIR_MORE : 0);
      assert_int_equal(size, capacity < left ? capacity : left);
      check_bytes(data, size, begin);
      assert_int_equal(weir_file_close(file, NULL), 0);
    }
  }
}

static void positions_may_be_anywhere(void **state) {
  struct weir_file *file = open_as(make("positions", 10).text, WEIR_OPEN_UPDATE, 0);
  char byte;
  assert_int_equal(weir_file_seek(file, 1000), 0);
  assert_int_equal(weir_file_read(file, &byte, 1), 0);
  assert_int_equal(weir_file_write(file, "x", 1), 1);
  assert_int_equal(weir_file_size(file), 1001);
  assert_int_equal(weir_file_seek(file, (uint64_t)INT64_MAX + 1), WEIR_EOVERFLOW);
  assert_int_equal(weir_file_tell(file), 1001);
  assert_true(weir_file_pread(file, &byte, 1, UINT64_MAX) <= 0);
  assert_int_equal(weir_file_seek(file, UINT64_C(5) << 30), 0); /* beyond 32 bits */
  assert_int_equal(weir_file_write(file, "y", 1), 1);
  assert_int_equal(weir_file_size(file), (INT64_C(5) << 30) + 1);
  assert_int_equal(weir_file_resize(file, 3), 0);
  assert_int_equal(weir_file_size(file), 3);
  assert_true(weir_file_resize(file, UINT64_MAX) < 0);
  assert_int_equal(weir_file_close(file, NULL), 0);
}

static int refuse_allocation(int fd, int mode, off_t offset, off_t length) {
  errno = EOPNOTSUPP;
  return -1;
}

static void space_is_reserved_where_that_is_known(void **state) {
  struct weir_file *file = open_as(in("reserved").text, WEIR_OPEN_WRITE, 0);
  const int code = weir_file_preallocate(file, 100000);
  assert_true(code == 0 || code == WEIR_EOPNOTSUPP);
  if (code == 0) assert_int_equal(weir_file_size(file), 100000);
  replace("fallocate", (os_function *)refuse_allocation);
  assert_int_equal(weir_file_preallocate(file, 200000), WEIR_EOPNOTSUPP);
  restore("fallocate");
  assert_int_equal(weir_file_close(file, NULL), 0);
}

static unsigned pinned_now;
static int count_lock(const void *address, size_t length) { return (void)pinned_now++, 0; }
static int count_unlock(const void *address, size_t length) { return (void)pinned_now--, 0; }
static int refuse_lock(const void *address, size_t length) {
  errno = ENOMEM;
  return -1;
}

static void the_callers_buffer_is_used(void **state) {
  struct weir_file *file = open_as(make("buffer", 100).text, WEIR_OPEN_UPDATE, 0);
  char buffer[64];
  assert_int_equal(weir_file_fill(file, 1), WEIR_EOVERFLOW);
  replace("mlock", (os_function *)count_lock);
  replace("munlock", (os_function *)count_unlock);
  assert_int_equal(weir_file_set_buffer(file, buffer, sizeof buffer, true), 0);
  assert_int_equal(pinned_now, 1);
  assert_int_equal(weir_file_fill(file, 65), WEIR_EOVERFLOW);
  assert_int_equal(weir_file_fill(file, 64), 64);
  check_bytes(buffer, 64, 0);
  assert_int_equal(weir_file_fill(file, 64), 36);
  assert_int_equal(weir_file_seek(file, 0), 0);
  memset(buffer, 'b', 64);
  assert_int_equal(weir_file_drain(file, 65), WEIR_EOVERFLOW);
  assert_int_equal(weir_file_drain(file, 64), 64);
  assert_int_equal(weir_file_set_buffer(file, NULL, 64, true), 0);
  assert_int_equal(pinned_now, 0);
  assert_int_equal(weir_file_drain(file, 1), WEIR_EOVERFLOW);
  assert_int_equal(weir_file_set_buffer(file, buffer, sizeof buffer, true), 0);
  assert_int_equal(weir_file_close(file, NULL), 0);
  assert_int_equal(pinned_now, 0);
  file = open_as(in("buffer").text, WEIR_OPEN_READ, 0);
  replace("mlock", (os_function *)refuse_lock); /* best effort */
  assert_int_equal(weir_file_set_buffer(file, buffer, sizeof buffer, true), 0);
  assert_int_equal(weir_file_fill(file, 64), 64);
  assert_int_equal(weir_file_close(file, NULL), 0);
  assert_int_equal(pinned_now, 0);
  restore("mlock"), restore("munlock");
}

/* ---- from several threads ---- */

static void *read_by_offset(void *context) {
  struct weir_file *file = context;
  char data[100];
  for (uint64_t offset = 0; offset < 100000; offset += 997) {
    if (weir_file_pread(file, data, 100, offset) <= 0) return NULL;
    for (size_t i = 0; i < 100 && offset + i < 100000; i++) {
      if (data[i] != byte_at(offset + i)) return NULL;
    }
  }
  return file;
}

static void *read_by_offset_checked(void *context) {
  void **result = context;
  *result = read_by_offset(*result);
  return NULL;
}

static void offsets_are_safe_from_several_threads(void **state) {
  struct weir_file *file = open_as(make("threads", 100000).text, WEIR_OPEN_READ, 0);
  struct os_thread *threads[3];
  void *results[3] = {file, file, file};
  for (unsigned i = 0; i < 3; i++) assert_int_equal(os_thread_start(read_by_offset_checked, &results[i], &threads[i]), 0);
  for (unsigned i = 0; i < 3; i++) assert_int_equal(os_thread_join(threads[i]), 0);
  for (unsigned i = 0; i < 3; i++) assert_ptr_equal(results[i], file);
  assert_int_equal(weir_file_close(file, NULL), 0);
}

/* ---- borrowed descriptors ---- */

static void a_borrowed_descriptor_stays_open_and_goes_on(void **state) {
  const int fd = open(make("borrowed", 50).text, O_RDWR | O_CLOEXEC);
  struct weir_file *file;
  char data[50];
  assert_int_equal(lseek(fd, 10, SEEK_SET), 10);
  assert_int_equal(weir_file_from(fd, WEIR_OPEN_READ, &file, NULL), 0);
  assert_int_equal(weir_file_tell(file), 10);
  assert_int_equal(weir_file_read(file, data, 7), 7);
  check_bytes(data, 7, 10);
  assert_int_equal(weir_file_close(file, NULL), 0);
  assert_int_equal(lseek(fd, 0, SEEK_CUR), 17);
  assert_int_equal(close(fd), 0);
}

static void a_descriptor_must_allow_what_is_wanted(void **state) {
  const struct path path = make("allowed", 50);
  struct weir_file *file;
  const int reading = open(path.text, O_RDONLY | O_CLOEXEC), writing = open(path.text, O_WRONLY | O_CLOEXEC),
            appending = open(path.text, O_RDWR | O_APPEND | O_CLOEXEC), folder = open(directory, O_RDONLY | O_CLOEXEC),
            name = open(path.text, O_PATH | O_CLOEXEC);
  assert_int_equal(weir_file_from(reading, WEIR_OPEN_WRITE, &file, NULL), WEIR_EBADF);
  assert_int_equal(weir_file_from(reading, WEIR_OPEN_UPDATE, &file, NULL), WEIR_EBADF);
  assert_int_equal(weir_file_from(writing, WEIR_OPEN_READ, &file, NULL), WEIR_EBADF);
  assert_int_equal(weir_file_from(writing, WEIR_OPEN_APPEND, &file, NULL), WEIR_EINVAL);
  assert_int_equal(weir_file_from(appending, WEIR_OPEN_UPDATE, &file, NULL), WEIR_EINVAL);
  assert_int_equal(weir_file_from(folder, WEIR_OPEN_READ, &file, NULL), WEIR_EISDIR);
  assert_int_equal(weir_file_from(name, WEIR_OPEN_READ, &file, NULL), WEIR_EBADF);
  assert_int_equal(weir_file_from(-1, WEIR_OPEN_READ, &file, NULL), WEIR_EBADF);
  assert_int_equal(weir_file_from(reading, (enum weir_access_mode)7, &file, NULL), WEIR_EINVAL);
  assert_int_equal(weir_file_from(reading, WEIR_OPEN_READ, NULL, NULL), WEIR_EINVAL);
  assert_null(file);
  assert_int_equal(weir_file_from(appending, WEIR_OPEN_WRITE, &file, NULL), 0);
  assert_int_equal(weir_file_pwrite(file, "x", 1, 0), WEIR_EINVAL); /* it would be appended */
  assert_int_equal(weir_file_write(file, "x", 1), 1);
  assert_int_equal(weir_file_tell(file), 51);
  assert_int_equal(weir_file_close(file, NULL), 0);
  (void)close(reading), (void)close(writing), (void)close(appending), (void)close(folder), (void)close(name);
}

static void *write_late(void *context) {
  const int *fd = context;
  for (unsigned i = 0; i < 5; i++) {
    os_sleep_ns(2000000);
    if (write(*fd, "0123456789", 10) != 10) break;
  }
  (void)close(*fd);
  return NULL;
}

static void a_pipe_that_does_not_block_is_waited_for(void **state) {
  int ends[2];
  struct weir_file *file;
  struct os_thread *thread;
  char data[100];
  assert_int_equal(pipe(ends), 0);
  assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
  assert_int_equal(weir_file_from(ends[0], WEIR_OPEN_READ, &file, NULL), 0);
  assert_int_equal(os_thread_start(write_late, &ends[1], &thread), 0);
  assert_int_equal(weir_file_read(file, data, 25), 25);
  assert_memory_equal(data, "0123456789012345678901234", 25);
  assert_int_equal(weir_file_tell(file), 25);
  assert_int_equal(weir_file_seek(file, 0), WEIR_ESPIPE);
  assert_int_equal(weir_file_pread(file, data, 1, 0), WEIR_ESPIPE);
  assert_int_equal(weir_file_size(file), WEIR_ESPIPE);
  size_t size;
  assert_int_equal(weir_file_read_to_end(file, data, 10, &size), WEIR_MORE); /* took a byte to know */
  assert_int_equal(weir_file_read_to_end(file, data + 10, 15, &size), 0);
  assert_int_equal(size, 15);
  assert_memory_equal(data, "5678901234567890123456789", 25);
  assert_int_equal(weir_file_read(file, data, 1), 0);
  assert_int_equal(fcntl(ends[0], F_GETFL) & O_NONBLOCK, O_NONBLOCK); /* not ours to change */
  assert_int_equal(weir_file_close(file, NULL), 0);
  assert_int_equal(os_thread_join(thread), 0);
  (void)close(ends[0]);
}

static void a_pipe_that_nobody_reads_is_an_error(void **state) {
  int ends[2];
  struct weir_file *file;
  (void)signal(SIGPIPE, SIG_IGN);
  assert_int_equal(pipe(ends), 0);
  assert_int_equal(weir_file_from(ends[1], WEIR_OPEN_WRITE, &file, NULL), 0);
  assert_int_equal(weir_file_write(file, "abc", 3), 3);
  (void)close(ends[0]);
  assert_int_equal(weir_file_write(file, "abc", 3), WEIR_EPIPE);
  assert_int_equal(weir_file_sync(file), WEIR_EOPNOTSUPP);
  (void)weir_file_close(file, NULL);
  (void)close(ends[1]);
}

/* ---- past the cache ---- */

/* Everything that a file in memory can do, at any offset, of any size, from any address. */
static void check_any_range(struct weir_file *file, size_t file_size) {
  static const size_t offsets[] = {0, 1, 511, 512, 4096, 5000}, lengths[] = {1, 511, 512, 4096, 8192, 10000};
  char *model = malloc(file_size), *memory;
  assert_int_equal(posix_memalign((void **)&memory, 4096, 32768), 0);
  fill(model, file_size, 0);
  for (size_t i = 0; i < 36; i++) {
    for (size_t skew = 0; skew < 2; skew++) {
      const size_t offset = offsets[i / 6], length = lengths[i % 6];
      char *data = memory + skew * 3;
      memset(data, (int)(i + 1), length);
      memset(model + offset, (int)(i + 1), length);
      assert_int_equal(weir_file_pwrite(file, data, length, offset), length);
      memset(memory, 0, 32768);
      const size_t begin = offset > 700 ? offset - 700 : 0;
      assert_int_equal(weir_file_pread(file, data, length + 1000, begin), length + 1000);
      assert_memory_equal(data, model + begin, length + 1000);
    }
  }
  assert_int_equal(weir_file_pread(file, memory + 1, 4096, file_size - 100), 100);
  assert_memory_equal(memory + 1, model + file_size - 100, 100);
  assert_int_equal(weir_file_pread(file, memory, 4096, file_size), 0);
  assert_int_equal(weir_file_pread(file, memory, 4096, file_size + 4096), 0);
  free(model);
  free(memory);
}

static void direct_and_uncached_files_take_any_range(void **state) {
  static const enum weir_strategy strategies[] = {WEIR_BUFFERED, WEIR_DIRECT, WEIR_UNCACHED};
  for (size_t i = 0; i < 3; i++) {
    const struct path path = make("any-range", 30000);
    const struct weir_open_options options = {.access = WEIR_OPEN_UPDATE, .strategy = strategies[i]};
    struct weir_file *file;
    struct weir_choice how;
    const int code = weir_file_open(path.text, &options, &file, NULL);
    if (code == WEIR_EINVAL || code == WEIR_EOPNOTSUPP) {
      printf("# %s is not supported here\n", weir_strategy_name(strategies[i]));
      continue;
    }
    assert_int_equal(code, 0);
    weir_file_how(file, &how);
    assert_int_equal(how.strategy, strategies[i]);
    assert_int_equal(how.direct, strategies[i] == WEIR_DIRECT);
    check_any_range(file, 30000);
    assert_int_equal(weir_file_close(file, NULL), 0);
  }
}

/* File systems differ in whether they refuse to begin inside a block behind the end. */
static ssize_t strict_pread(int fd, void *data, size_t size, off_t offset) {
  if ((fcntl(fd, F_GETFL) & O_DIRECT) && (offset % 512 || size % 512 || (uintptr_t)data % 512)) {
    errno = EINVAL;
    return -1;
  }
  return pread(fd, data, size, offset);
}

static void direct_reading_ends_inside_a_block(void **state) {
  static const size_t sizes[] = {1, 511, 512, 513, 5000, 8192};
  char *memory;
  assert_int_equal(posix_memalign((void **)&memory, 4096, 16384), 0);
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    const struct path path = make("inside", sizes[i]);
    const struct weir_open_options options = {.strategy = WEIR_DIRECT};
    struct weir_file *file;
    size_t size;
    if (weir_file_open(path.text, &options, &file, NULL)) {
      free(memory);
      skip_because("no direct reading here");
    }
    replace("pread", (os_function *)strict_pread);
    assert_int_equal(weir_file_read(file, memory, 16384), sizes[i]);
    check_bytes(memory, sizes[i], 0);
    assert_int_equal(weir_file_read(file, memory, 16384), 0);
    assert_int_equal(weir_file_pread(file, memory, 16384, 3), sizes[i] > 3 ? sizes[i] - 3 : 0);
    assert_int_equal(weir_file_seek(file, 0), 0);
    assert_int_equal(weir_file_read_to_end(file, memory, sizes[i], &size), 0);
    restore("pread");
    assert_int_equal(weir_file_close(file, NULL), 0);
  }
  free(memory);
}

static void direct_blocks_are_whole_sectors(void **state) {
  static const size_t blocks[] = {1, 511, 1000, 5000, SIZE_MAX};
  const struct path path = make("sectors", 30000);
  char *memory;
  assert_int_equal(posix_memalign((void **)&memory, 4096, 32768), 0);
  for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
    const struct weir_open_options options = {.access = WEIR_OPEN_UPDATE, .strategy = WEIR_DIRECT, .block_bytes = blocks[i]};
    struct weir_file *file;
    if (weir_file_open(path.text, &options, &file, NULL)) {
      free(memory);
      skip_because("no direct transfers here");
    }
    replace("pread", (os_function *)strict_pread);
    assert_int_equal(weir_file_pread(file, memory, 32768, 0), 30000);
    check_bytes(memory, 30000, 0);
    assert_int_equal(weir_file_pread(file, memory + 3, 9999, 77), 9999);
    check_bytes(memory + 3, 9999, 77);
    restore("pread");
    fill(memory, 16384, 4096);
    assert_int_equal(weir_file_pwrite(file, memory, 16384, 4096), 16384);
    assert_int_equal(weir_file_close(file, NULL), 0);
  }
  free(memory);
}

/* A device that takes memory from anywhere, as most do; none need be here. */
static int tell_small_alignment(int fd, unsigned mask, struct call_statx *out) {
  *out = (struct call_statx){.mask = CALL_STATX_DIOALIGN, .direct_memory = 4, .direct_offset = 512};
  return 0;
}
static size_t largest;
static ssize_t note_size(int fd, void *data, size_t size, off_t offset) {
  if (size > largest) largest = size;
  memset(data, 'x', size);
  return (ssize_t)size;
}

static void direct_reading_is_not_cut_for_the_sake_of_the_processor(void **state) {
  const struct path path = make("from-anywhere", 4096);
  const struct weir_open_options options = {.strategy = WEIR_DIRECT};
  struct weir_file *file;
  char *memory;
  assert_int_equal(posix_memalign((void **)&memory, 4096, MIB + 4096), 0);
  replace("statx", (os_function *)tell_small_alignment);
  const int code = weir_file_open(path.text, &options, &file, NULL);
  restore("statx");
  if (code) {
    free(memory);
    skip_because("no direct reading here");
  }
  largest = 0;
  replace("pread", (os_function *)note_size);
  assert_int_equal(weir_file_pread(file, memory + 16, MIB, 0), MIB); /* where malloc gives large memory */
  restore("pread");
  assert_int_equal(largest, MIB);
  assert_int_equal(weir_file_close(file, NULL), 0);
  free(memory);
}

static void a_refused_strategy_cuts_no_file(void **state) {
  const struct path path = make("uncut", 10);
  const struct weir_open_options options = {.access = WEIR_OPEN_WRITE, .strategy = WEIR_DIRECT};
  struct weir_file *file;
  inject_begin();
  inject_arm("fcntl", 3, EINVAL); /* the two before end the opening without waiting */
  const int code = weir_file_open(path.text, &options, &file, NULL);
  assert_true(inject_disarm());
  assert_int_equal(code, WEIR_EINVAL);
  char data[20];
  assert_int_equal(get_content(path.text, data, sizeof data), 10);
}

static void a_refused_strategy_makes_no_file(void **state) {
  const struct path path = in("unmade");
  const struct weir_open_options options = {.access = WEIR_OPEN_WRITE, .strategy = WEIR_DIRECT, .flags = WEIR_NEW};
  struct weir_file *file;
  inject_begin();
  inject_arm("fcntl", 3, EINVAL);
  const int code = weir_file_open(path.text, &options, &file, NULL);
  assert_true(inject_disarm());
  assert_int_equal(code, WEIR_EINVAL);
  assert_false(is_there(path.text));
}

/* ---- stable storage ---- */

static void a_failed_sync_is_final(void **state) {
  struct weir_file *file = open_as(in("sync").text, WEIR_OPEN_WRITE, 0);
  assert_int_equal(weir_file_write(file, "x", 1), 1);
  assert_int_equal(weir_file_sync(file), 0);
  inject_begin();
  inject_arm("fdatasync", 1, EIO);
  assert_int_equal(weir_file_sync(file), WEIR_EIO);
  assert_true(inject_disarm());
  assert_int_equal(weir_file_sync(file), WEIR_EIO); /* though the system would now say 0 */
  assert_string_equal(weir_file_error(file)->operation, "sync");
  assert_int_equal(weir_file_close(file, NULL), WEIR_EIO);
}

static void closing_reports_what_only_closing_tells(void **state) {
  struct weir_file *file = open_as(in("close").text, WEIR_OPEN_WRITE, 0);
  inject_begin();
  inject_arm("close", 1, EDQUOT);
  assert_int_equal(weir_file_close(file, NULL), WEIR_EDQUOT);
  assert_true(inject_disarm());
}

static void write_through_opens_so(void **state) {
  struct weir_file *file;
  const struct weir_open_options options = {.access = WEIR_OPEN_WRITE, .write_through = true, .hint = WEIR_HINT_ONCE};
  assert_int_equal(weir_file_open(in("through").text, &options, &file, NULL), 0);
  assert_int_equal(fcntl((int)file->os, F_GETFL) & O_DSYNC, O_DSYNC);
  assert_int_equal(fcntl((int)file->os, F_GETFL) & O_NONBLOCK, 0);
  assert_int_equal(fcntl((int)file->os, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  assert_int_equal(weir_file_write(file, "x", 1), 1);
  assert_int_equal(weir_file_close(file, NULL), 0);
}

/* ---- fork and failures ---- */

static int use_in_child(void *context) {
  struct weir_file *file = context;
  char byte;
  size_t size;
  const bool refused = weir_file_read(file, &byte, 1) == WEIR_EFORKED && weir_file_write(file, "x", 1) == WEIR_EFORKED &&
                       weir_file_pread(file, &byte, 1, 0) == WEIR_EFORKED &&
                       weir_file_pwrite(file, "x", 1, 0) == WEIR_EFORKED && weir_file_seek(file, 0) == WEIR_EFORKED &&
                       weir_file_size(file) == WEIR_EFORKED && weir_file_resize(file, 0) == WEIR_EFORKED &&
                       weir_file_preallocate(file, 9) == WEIR_EFORKED && weir_file_sync(file) == WEIR_EFORKED &&
                       weir_file_read_to_end(file, &byte, 1, &size) == WEIR_EFORKED &&
                       weir_file_error(file)->code == WEIR_EFORKED;
  struct weir_file *fresh;
  const bool new_works = weir_file_open(file->path, NULL, &fresh, NULL) == 0 && weir_file_read(fresh, &byte, 1) == 1 &&
                         weir_file_close(fresh, NULL) == 0;
  return !(refused && new_works && weir_file_close(file, NULL) == WEIR_EFORKED);
}

static void handles_do_not_survive_fork(void **state) {
  struct weir_file *file = open_as(make("forked", 10).text, WEIR_OPEN_UPDATE, 0);
  os_process child;
  struct os_exit status;
  char byte;
  assert_int_equal(os_process_fork(use_in_child, file, &child), 0);
  assert_int_equal(os_process_wait(child, UINT64_MAX, &status), 0);
  assert_false(status.crashed);
  assert_int_equal(status.code, 0);
  assert_int_equal(weir_file_read(file, &byte, 1), 1);
  assert_int_equal(weir_file_close(file, NULL), 0);
}

static void every_call_that_fails_leaves_nothing_open(void **state) {
  static const char *const names[] = {"open", "fstat", "fcntl", "flock", "ftruncate"};
  const struct path path = make("failing", 10);
  const unsigned before = open_files();
  inject_begin();
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    for (unsigned at = 1; at < 6; at++) {
      struct weir_file *file;
      const struct weir_open_options options = {
          .access = WEIR_OPEN_WRITE, .strategy = at % 2 ? WEIR_DIRECT : WEIR_BUFFERED, .flags = WEIR_LOCK};
      inject_arm(names[i], at, EIO);
      const int code = weir_file_open(path.text, &options, &file, NULL);
      const bool hit = inject_disarm();
      if (code) assert_null(file);
      if (!hit && code) assert_true(code == WEIR_EINVAL || code == WEIR_EOPNOTSUPP);
      if (!code) assert_int_equal(weir_file_close(file, NULL), 0);
      assert_int_equal(open_files(), before);
    }
  }
  struct weir_file *file;
  put_content(path.text, "content", 7);
  inject_memory_arm(1);
  assert_int_equal(weir_file_open(path.text, &(struct weir_open_options){.access = WEIR_OPEN_WRITE}, &file, NULL),
                   WEIR_ENOMEM);
  inject_memory_arm(1);
  assert_int_equal(weir_file_from(0, WEIR_OPEN_READ, &file, NULL), WEIR_ENOMEM);
  inject_memory_disarm();
  assert_true(holds(path.text, "content", 7)); /* not cut for nothing */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_access_does_what_it_says),
      cmocka_unit_test(new_files_have_the_mode_asked_for),
      cmocka_unit_test(wrong_options_are_refused),
      cmocka_unit_test(links_are_not_followed_where_forbidden),
      cmocka_unit_test(what_is_no_regular_file_is_refused_without_waiting),
      cmocka_unit_test(locks_are_taken_before_anything_is_cut),
      cmocka_unit_test(every_cut_is_transferred),
      cmocka_unit_test(errors_tell_what_went_well),
      cmocka_unit_test(writing_nothing_is_no_progress),
      cmocka_unit_test(limits_of_the_system_come_through),
      cmocka_unit_test(reading_to_the_end_says_whether_it_is),
      cmocka_unit_test(positions_may_be_anywhere),
      cmocka_unit_test(space_is_reserved_where_that_is_known),
      cmocka_unit_test(the_callers_buffer_is_used),
      cmocka_unit_test(offsets_are_safe_from_several_threads),
      cmocka_unit_test(a_borrowed_descriptor_stays_open_and_goes_on),
      cmocka_unit_test(a_descriptor_must_allow_what_is_wanted),
      cmocka_unit_test(a_pipe_that_does_not_block_is_waited_for),
      cmocka_unit_test(a_pipe_that_nobody_reads_is_an_error),
      cmocka_unit_test(direct_and_uncached_files_take_any_range),
      cmocka_unit_test(direct_reading_ends_inside_a_block),
      cmocka_unit_test(direct_blocks_are_whole_sectors),
      cmocka_unit_test(direct_reading_is_not_cut_for_the_sake_of_the_processor),
      cmocka_unit_test(a_refused_strategy_cuts_no_file),
      cmocka_unit_test(a_refused_strategy_makes_no_file),
      cmocka_unit_test(a_failed_sync_is_final),
      cmocka_unit_test(closing_reports_what_only_closing_tells),
      cmocka_unit_test(write_through_opens_so),
      cmocka_unit_test(handles_do_not_survive_fork),
      cmocka_unit_test(every_call_that_fails_leaves_nothing_open),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
