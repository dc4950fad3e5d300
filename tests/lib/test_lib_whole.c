/*
 * test_lib_whole.c - whole files into memory: every size around the borders, files whose size lies, grows and shrinks,
 * everything that is no regular file, every strategy, and each call and each request for memory that fails.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "lib/internal.h"
#include "tests/lib/inject.h"
#include "tests/lib/shorten.h"

static char directory[] = "lib-whole-XXXXXX";

static int set_up(void **state) { return mkdtemp(directory) ? 0 : -1; }
static int tear_down(void **state) { return os_remove_tree(directory); }

static struct path in(const char *name) { return path_in(directory, name); }

static char byte_at(uint64_t offset) { return (char)(offset * 7 + offset / 251); }

/* A file of `size` bytes, each told by its offset. */
static struct path make(const char *name, size_t size) {
  const struct path path = in(name);
  char *data = malloc(size + 1);
  assert_non_null(data);
  for (size_t i = 0; i < size; i++) data[i] = byte_at(i);
  put_content(path.text, data, size);
  free(data);
  return path;
}

static void check_bytes(const char *data, size_t size, uint64_t offset) {
  for (size_t i = 0; i < size; i++) {
    if (data[i] != byte_at(offset + i)) fail_msg("byte %zu is wrong", i);
  }
}

static const size_t sizes[] = {0,           1,       2,           63,          4095,    4096,           4097,   65534,
                               65535,       65536,   65537,       660000,      MIB - 2, MIB - 1,        MIB,    MIB + 1,
                               2 * MIB - 1, 2 * MIB, 2 * MIB + 1, 3 * MIB + 5, 4 * MIB, 4 * MIB + 4096, 5 * MIB};
#define SIZES (sizeof sizes / sizeof sizes[0])

static void every_size_is_read_and_terminated(void **state) {
  static const unsigned flags[] = {0, WEIR_HUGE, WEIR_SMALL_PAGES};
  for (size_t i = 0; i < SIZES; i++) {
    const struct path path = make("sized", sizes[i]);
    for (size_t f = 0; f < 3; f++) {
      struct weir_bytes bytes = {0};
      struct weir_error error = {.code = 77};
      assert_int_equal(weir_read_file(path.text, &bytes, &(struct weir_read_options){.flags = flags[f]}, &error), 0);
      assert_int_equal(error.code, 77); /* filled only on failure */
      assert_int_equal(bytes.size, sizes[i]);
      check_bytes(bytes.data, bytes.size, 0);
      assert_int_equal(bytes.data[bytes.size], '\0');
      weir_bytes_free(&bytes);
    }
  }
}

static void one_struct_holds_many_files(void **state) {
  struct weir_bytes bytes = {0};
  for (size_t i = 0; i < 2 * SIZES; i++) {
    const size_t size = sizes[i < SIZES ? i : 2 * SIZES - 1 - i];
    const struct path path = make("reused", size);
    const char *before = bytes.data;
    const size_t capacity = bytes.capacity;
    assert_int_equal(weir_read_file(path.text, &bytes, NULL, NULL), 0);
    assert_int_equal(bytes.size, size);
    check_bytes(bytes.data, size, 0);
    assert_int_equal(bytes.data[size], '\0');
    if (size < capacity) assert_ptr_equal(bytes.data, before);
  }
  weir_bytes_free(&bytes);
}

static void a_file_that_is_missing_leaves_no_text(void **state) {
  struct weir_bytes bytes = {0};
  put_content(in("there").text, "text", 4);
  assert_int_equal(weir_read_file(in("there").text, &bytes, NULL, NULL), 0);
  assert_int_equal(weir_read_file(in("missing").text, &bytes, NULL, NULL), WEIR_ENOENT);
  assert_int_equal(bytes.size, 0);
  assert_int_equal(bytes.data[0], '\0');
  weir_bytes_free(&bytes);
}

static void reading_again_faults_no_more(void **state) {
  const struct path path = make("again", 6 * MIB);
  struct weir_bytes bytes = {0};
  const struct weir_read_options options = {.flags = WEIR_SMALL_PAGES, .threads = 1};
  for (unsigned round = 0; round < 3; round++) {
    struct os_usage before, after;
    os_usage(&before);
    assert_int_equal(weir_read_file(path.text, &bytes, &options, NULL), 0);
    os_usage(&after);
    if (round) assert_in_range(after.minor_faults - before.minor_faults, 0, 8);
  }
  weir_bytes_free(&bytes);
}

static void offsets_and_limits_are_kept(void **state) {
  static const uint64_t offsets[] = {0, 1, 4095, 4096, 4097, 9999, 10000, 10001, UINT64_MAX};
  static const uint64_t limits[] = {0, 1, 100, 4096, 9999, 10000, 10001, UINT64_MAX};
  const struct path path = make("ten", 10000);
  for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
    for (size_t j = 0; j < sizeof limits / sizeof limits[0]; j++) {
      struct weir_bytes bytes = {0};
      struct weir_error error = {0};
      const struct weir_read_options options = {.offset = offsets[i], .max_bytes = limits[j]};
      const uint64_t left = offsets[i] < 10000 ? 10000 - offsets[i] : 0;
      const int code = weir_read_file(path.text, &bytes, &options, &error);
      if (limits[j] && left > limits[j]) {
        assert_int_equal(code, WEIR_ELIMIT);
        assert_int_equal(error.code, WEIR_ELIMIT);
        assert_int_equal(bytes.size, error.transferred);
      } else {
        assert_int_equal(code, 0);
        assert_int_equal(bytes.size, left);
        check_bytes(bytes.data, bytes.size, offsets[i]);
        assert_int_equal(bytes.data[bytes.size], '\0');
      }
      weir_bytes_free(&bytes);
    }
  }
}

static void wrong_options_are_refused(void **state) {
  const struct path path = make("options", 10);
  struct weir_bytes bytes = {0};
  struct weir_error error;
  static const struct weir_read_options wrong[] = {{.flags = WEIR_ATOMIC},
                                                   {.flags = WEIR_HUGE | WEIR_SMALL_PAGES},
                                                   {.strategy = (enum weir_strategy)99},
                                                   {.reserved = {0, 0, 0, 1}}};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    assert_int_equal(weir_read_file(path.text, &bytes, &wrong[i], &error), WEIR_EINVAL);
  }
  assert_int_equal(weir_read_file(path.text, NULL, NULL, &error), WEIR_EINVAL);
  assert_int_equal(weir_read_file(NULL, &bytes, NULL, &error), WEIR_EINVAL);
  assert_int_equal(weir_read_file("", &bytes, NULL, &error), WEIR_ENOENT);
  weir_bytes_free(&bytes);
}

/* ---- strategies ---- */

static void every_strategy_gives_the_same_bytes(void **state) {
  static const enum weir_strategy all[] = {WEIR_AUTO, WEIR_BUFFERED, WEIR_DIRECT, WEIR_UNCACHED, WEIR_THREADS};
  static const size_t odd[] = {0, 1, 511, 512, 4096, 5000, 8192, 2 * MIB, 5 * MIB, 5 * MIB + 7};
  static const uint64_t offsets[] = {0, 1, 512, 4096, 4099};
  for (size_t s = 0; s < sizeof all / sizeof all[0]; s++) {
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
      const struct path path = make("strategy", odd[i]);
      for (size_t o = 0; o < 5; o++) {
        for (unsigned threads = 0; threads < 4; threads++) {
          struct weir_bytes bytes = {0};
          struct weir_choice how;
          const struct weir_read_options options = {
              .strategy = all[s], .offset = offsets[o], .threads = threads, .how = &how};
          const uint64_t left = odd[i] > offsets[o] ? odd[i] - offsets[o] : 0;
          const int code = weir_read_file(path.text, &bytes, &options, NULL);
          if (code == WEIR_EOPNOTSUPP || code == WEIR_EINVAL) {
            assert_true(all[s] == WEIR_DIRECT || all[s] == WEIR_UNCACHED);
            printf("# %s is not supported here\n", weir_strategy_name(all[s]));
            weir_bytes_free(&bytes);
            threads = 4, o = 5, i = sizeof odd / sizeof odd[0];
            continue;
          }
          assert_int_equal(code, 0);
          assert_int_equal(bytes.size, left);
          check_bytes(bytes.data, bytes.size, offsets[o]);
          assert_int_equal(bytes.data[bytes.size], '\0');
          assert_non_null(how.reason);
          if (all[s] != WEIR_AUTO) assert_int_equal(how.strategy, all[s]);
          if (threads == 1) assert_int_equal(how.threads, 0);
          weir_bytes_free(&bytes);
        }
      }
    }
  }
}

static void what_cannot_be_used_is_said(void **state) {
  const struct path path = make("cannot", 100);
  struct weir_bytes bytes = {0};
  struct weir_error error;
  assert_int_equal(weir_read_file(path.text, &bytes, &(struct weir_read_options){.strategy = WEIR_MAPPED}, &error),
                   WEIR_EOPNOTSUPP);
  assert_string_equal(error.operation, "mapped");
  weir_bytes_free(&bytes);
}

static void direct_reading_keeps_the_limit(void **state) {
  const struct path path = make("direct", 10000);
  for (uint64_t offset = 0; offset < 3; offset++) {
    struct weir_bytes bytes = {0};
    struct weir_read_options options = {.strategy = WEIR_DIRECT, .offset = offset * 77, .max_bytes = 10000 - offset * 77};
    int code = weir_read_file(path.text, &bytes, &options, NULL);
    if (code == WEIR_EINVAL || code == WEIR_EOPNOTSUPP) skip_because("no direct reading here");
    assert_int_equal(code, 0);
    assert_int_equal(bytes.size, options.max_bytes);
    check_bytes(bytes.data, bytes.size, options.offset);
    options.max_bytes--;
    assert_int_equal(weir_read_file(path.text, &bytes, &options, NULL), WEIR_ELIMIT);
    weir_bytes_free(&bytes);
  }
}

static ssize_t refuse_flags(int fd, const struct iovec *parts, int count, off_t offset, int flags) {
  errno = EOPNOTSUPP;
  return -1;
}

static void refused_strategy_is_an_error(void **state) {
  const struct path path = make("refused", 5000);
  struct weir_bytes bytes = {0};
  struct weir_error error = {0};
  replace("preadv2", (os_function *)refuse_flags);
  const int code = weir_read_file(path.text, &bytes, &(struct weir_read_options){.strategy = WEIR_UNCACHED}, &error);
  restore("preadv2");
  assert_int_equal(code, WEIR_EOPNOTSUPP);
  assert_int_equal(error.code, code);
  weir_bytes_free(&bytes);
}

static int no_threads(pthread_t *out, const pthread_attr_t *attributes, void *(*body)(void *), void *context) {
  return EAGAIN;
}

static void without_threads_one_does_it_all(void **state) {
  const struct path path = make("alone", 9 * MIB + 3);
  struct weir_bytes bytes = {0};
  struct weir_choice how;
  replace("pthread_create", (os_function *)no_threads);
  assert_int_equal(weir_read_file(path.text, &bytes, &(struct weir_read_options){.threads = 4, .how = &how}, NULL), 0);
  restore("pthread_create");
  assert_int_equal(bytes.size, 9 * MIB + 3);
  check_bytes(bytes.data, bytes.size, 0);
  assert_int_equal(how.threads, 0);
  weir_bytes_free(&bytes);
}

/* ---- what is no regular file ---- */

static void directories_and_special_files_are_named(void **state) {
  struct weir_bytes bytes = {0};
  struct weir_error error;
  assert_int_equal(weir_read_file(directory, &bytes, NULL, &error), WEIR_EISDIR);
  assert_int_equal(weir_read_file("/dev/null", &bytes, NULL, &error), WEIR_ENOTREG);
  const struct path fifo = in("fifo");
  assert_int_equal(mkfifo(fifo.text, 0600), 0);
  assert_int_equal(weir_read_file(fifo.text, &bytes, NULL, &error), WEIR_ENOTREG); /* and does not wait */
  const struct path name = in("socket");
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  assert_true(strlen(name.text) < sizeof address.sun_path);
  memcpy(address.sun_path, name.text, strlen(name.text) + 1);
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
  assert_int_equal(weir_read_file(name.text, &bytes, NULL, &error), WEIR_ENOTREG);
  assert_string_equal(error.operation, "open");
  assert_string_equal(error.path, name.text);
  (void)close(listener);
  assert_int_equal(weir_read_file(in("missing").text, &bytes, NULL, &error), WEIR_ENOENT);
  weir_bytes_free(&bytes);
}

static void *feed(void *context) {
  const char *path = context;
  const int fd = open(path, O_WRONLY);
  char block[7777];
  for (size_t at = 0; at < 300000;) {
    const size_t want = 300000 - at < sizeof block ? 300000 - at : sizeof block;
    for (size_t i = 0; i < want; i++) block[i] = byte_at(at + i);
    const ssize_t count = write(fd, block, want);
    if (count <= 0) break;
    at += (size_t)count;
  }
  (void)close(fd);
  return NULL;
}

static void a_fifo_is_read_when_it_is_wanted(void **state) {
  struct path fifo = in("wanted");
  struct os_thread *thread;
  assert_int_equal(mkfifo(fifo.text, 0600), 0);
  assert_int_equal(os_thread_start(feed, fifo.text, &thread), 0);
  struct weir_bytes bytes = {0};
  assert_int_equal(weir_read_file(fifo.text, &bytes, &(struct weir_read_options){.flags = WEIR_ANY_KIND}, NULL), 0);
  assert_int_equal(os_thread_join(thread), 0);
  assert_int_equal(bytes.size, 300000);
  check_bytes(bytes.data, bytes.size, 0);
  assert_int_equal(os_thread_start(feed, fifo.text, &thread), 0);
  struct weir_error error;
  const struct weir_read_options options = {.flags = WEIR_ANY_KIND, .offset = 1};
  assert_int_equal(weir_read_file(fifo.text, &bytes, &options, &error), WEIR_ESPIPE);
  (void)signal(SIGPIPE, SIG_IGN);
  assert_int_equal(os_thread_join(thread), 0);
  weir_bytes_free(&bytes);
}

static void endless_devices_meet_the_limit(void **state) {
  struct weir_bytes bytes = {0};
  struct weir_error error;
  const struct weir_read_options options = {.flags = WEIR_ANY_KIND, .max_bytes = 3000000};
  assert_int_equal(weir_read_file("/dev/zero", &bytes, &options, &error), WEIR_ELIMIT);
  assert_int_equal(bytes.size, 3000000);
  assert_int_equal(error.transferred, 3000000);
  weir_bytes_free(&bytes);
}

/* ---- sizes that lie ---- */

static void files_without_a_size_are_read(void **state) {
  static const char *const paths[] = {"/proc/self/maps", "/proc/cpuinfo", "/proc/sys/kernel/ostype",
                                      "/proc/sys/net/ipv4/ip_local_port_range"};
  struct weir_bytes bytes = {0};
  assert_int_equal(weir__bytes_reserve(&bytes, 20 * MIB, 0, 0), 0); /* some refuse to fill so much at once */
  for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
    if (access(paths[i], R_OK)) continue;
    assert_int_equal(weir_read_file(paths[i], &bytes, NULL, NULL), 0);
    assert_true(bytes.size > 0);
    assert_int_equal(bytes.data[bytes.size], '\0');
    size_t size;
    assert_int_equal(weir_read_into(paths[i], bytes.data, 20 * MIB, &size, NULL), 0);
    assert_true(size > 0);
  }
  weir_bytes_free(&bytes);
}

static void sizes_that_are_too_large_are_hints(void **state) {
  const char *path = "/sys/kernel/mm/transparent_hugepage/enabled";
  if (access(path, R_OK)) skip_because("no %s", path);
  struct weir_bytes bytes = {0};
  struct weir_error error;
  assert_int_equal(weir_read_file(path, &bytes, &(struct weir_read_options){.max_bytes = 1000}, NULL), 0);
  assert_in_range(bytes.size, 1, 100);
  assert_int_equal(weir_read_file(path, &bytes, &(struct weir_read_options){.flags = WEIR_EXACT}, &error), WEIR_ETRUNCATED);
  assert_int_equal(error.transferred, bytes.size);
  weir_bytes_free(&bytes);
}

/* The size that fstat tells is another than the file has. */
static off_t told_size;
static int tell_size(int fd, struct stat *out) {
  const int result = fstat(fd, out);
  if (S_ISREG(out->st_mode)) out->st_size = told_size;
  return result;
}

static void any_told_size_gives_the_whole_file(void **state) {
  static const size_t real[] = {0, 1, 100, 65535, 65536, 200000, 3 * MIB};
  static const off_t told[] = {0, 1, 99, 100, 101, 4096, 65536, 199999, 3 << 20, (3 << 20) + 1, 40 << 20};
  for (size_t i = 0; i < sizeof real / sizeof real[0]; i++) {
    const struct path path = make("told", real[i]);
    for (size_t j = 0; j < sizeof told / sizeof told[0]; j++) {
      for (unsigned exact = 0; exact < 2; exact++) {
        struct weir_bytes bytes = {0};
        told_size = told[j];
        replace("fstat", (os_function *)tell_size);
        const int code =
            weir_read_file(path.text, &bytes, &(struct weir_read_options){.flags = exact ? WEIR_EXACT : 0}, NULL);
        restore("fstat");
        assert_int_equal(code, exact && (off_t)real[i] < told[j] ? WEIR_ETRUNCATED : 0);
        assert_int_equal(bytes.size, real[i]);
        check_bytes(bytes.data, bytes.size, 0);
        assert_int_equal(bytes.data[bytes.size], '\0');
        weir_bytes_free(&bytes);
      }
    }
  }
}

static void sizes_beyond_memory_are_errors(void **state) {
  const struct path path = make("beyond", 10);
  struct weir_bytes bytes = {0};
  struct weir_error error;
  static const off_t told[] = {INT64_MAX, INT64_MAX - 1, (off_t)1 << 60, (off_t)1 << 47};
  for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
    told_size = told[i];
    replace("fstat", (os_function *)tell_size);
    const int code = weir_read_file(path.text, &bytes, NULL, &error);
    restore("fstat");
    assert_true(code == WEIR_ENOMEM || code == WEIR_EOVERFLOW);
    assert_int_equal(bytes.size, 0);
  }
  weir_bytes_free(&bytes);
}

/* The file changes while it is read, at its first transfer. */
static _Atomic(const char *) changing_path; /* several threads may read */
static off_t changed_size;
static ssize_t change_then_pread(int fd, void *data, size_t size, off_t offset) {
  const char *path = atomic_exchange(&changing_path, NULL);
  if (path) (void)truncate(path, changed_size);
  return pread(fd, data, size, offset);
}

static void growing_and_shrinking_files_are_right(void **state) {
  static const size_t before[] = {100, 4096, 300000, 20 * MIB};
  static const off_t after[] = {0, 50, 4096, 150000, 600000, 9 << 20, 21 << 20};
  for (size_t i = 0; i < sizeof before / sizeof before[0]; i++) {
    for (size_t j = 0; j < sizeof after / sizeof after[0]; j++) {
      const struct path path = make("changing", before[i]);
      struct weir_bytes bytes = {0};
      changing_path = path.text;
      changed_size = after[j];
      replace("pread", (os_function *)change_then_pread);
      assert_int_equal(weir_read_file(path.text, &bytes, NULL, NULL), 0);
      restore("pread");
      assert_int_equal(bytes.size, after[j]);
      check_bytes(bytes.data, before[i] < bytes.size ? before[i] : bytes.size, 0);
      for (size_t at = before[i]; at < bytes.size; at++) assert_int_equal(bytes.data[at], 0);
      assert_int_equal(bytes.data[bytes.size], '\0');
      weir_bytes_free(&bytes);
    }
  }
}

static void a_file_above_2_gib_is_counted_right(void **state) {
  const struct path path = in("sparse");
  const uint64_t size = (UINT64_C(5) << 29) + 12345;
  if (sizeof(size_t) < 8 || os_available_bytes() < size * 2) skip_because("not enough memory for a file of 2.5 GiB");
  os_file file = open_in(directory, "sparse", OS_READ | OS_WRITE | OS_CREATE);
  assert_int_equal(os_resize(file, size), 0);
  assert_int_equal(os_pwrite_full(file, "end", 3, size - 3), 3);
  assert_int_equal(os_close(file), 0);
  struct weir_bytes bytes = {0};
  assert_int_equal(weir_read_file(path.text, &bytes, NULL, NULL), 0);
  assert_int_equal(bytes.size, size);
  assert_string_equal(bytes.data + size - 3, "end");
  weir_bytes_free(&bytes);
  assert_int_equal(os_remove(path.text), 0);
}

/* ---- failures ---- */

static void short_and_interrupted_reads_go_on(void **state) {
  static const size_t most[] = {1, 2, 7, 99, 100, 101};
  for (size_t size = 0; size < 103; size++) {
    const struct path path = make("short", size);
    for (size_t i = 0; i < sizeof most / sizeof most[0]; i++) {
      struct weir_bytes bytes = {0};
      char buffer[200];
      size_t got;
      shorten_begin(most[i], i % 2);
      assert_int_equal(weir_read_file(path.text, &bytes, NULL, NULL), 0);
      assert_int_equal(weir_read_into(path.text, buffer, sizeof buffer, &got, NULL), 0);
      shorten_end();
      assert_int_equal(bytes.size, size);
      check_bytes(bytes.data, size, 0);
      assert_int_equal(got, size);
      check_bytes(buffer, size, 0);
      weir_bytes_free(&bytes);
    }
  }
}

static void an_error_keeps_what_came_before(void **state) {
  const struct path path = make("broken", 100);
  for (unsigned at = 1; at < 12; at++) {
    struct weir_bytes bytes = {0};
    struct weir_error error = {0};
    shorten_begin(10, false);
    shorten_fail(at, EIO);
    int code = weir_read_file(path.text, &bytes, NULL, &error);
    if (at > 10) {
      assert_int_equal(code, 0);
    } else {
      assert_int_equal(code, WEIR_EIO);
      assert_int_equal(error.transferred, 10 * (at - 1));
      assert_int_equal(error.offset, 10 * (at - 1));
      assert_string_equal(error.operation, "read");
    }
    assert_int_equal(bytes.size, at > 10 ? 100 : 10 * (at - 1));
    check_bytes(bytes.data, bytes.size, 0);
    assert_int_equal(bytes.data[bytes.size], '\0');
    char buffer[200];
    size_t size;
    shorten_fail(at, EIO);
    code = weir_read_into(path.text, buffer, 100, &size, &error);
    shorten_end();
    assert_int_equal(code, at > 11 ? 0 : WEIR_EIO);
    assert_int_equal(size, at > 10 ? 100 : 10 * (at - 1));
    check_bytes(buffer, size, 0);
    weir_bytes_free(&bytes);
  }
}

/* Bytes from here on cannot be read. */
static off_t bad_from;
static ssize_t bad_pread(int fd, void *data, size_t size, off_t offset) {
  if (offset >= bad_from) {
    errno = EIO;
    return -1;
  }
  if ((off_t)size > bad_from - offset) size = (size_t)(bad_from - offset);
  return pread(fd, data, size, offset);
}

static void threads_agree_on_the_first_error(void **state) {
  const struct path path = make("many", 20 * MIB);
  static const off_t bad[] = {0, 1, 2 << 20, (2 << 20) + 1, (11 << 20) - 1, (20 << 20) - 1};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    struct weir_bytes bytes = {0};
    struct weir_error error;
    bad_from = bad[i];
    replace("pread", (os_function *)bad_pread);
    assert_int_equal(weir_read_file(path.text, &bytes, &(struct weir_read_options){.threads = 4}, &error), WEIR_EIO);
    restore("pread");
    assert_int_equal(bytes.size, bad[i]);
    assert_int_equal(error.transferred, bad[i]);
    check_bytes(bytes.data, bytes.size, 0);
    weir_bytes_free(&bytes);
  }
}

/* The first piece fails, and not before another thread has read far behind it. */
#define FAR_AWAY (8 * MIB)
static atomic_bool far_is_read;
static ssize_t bad_first_piece(int fd, void *data, size_t size, off_t offset) {
  for (unsigned i = 0; offset == 0 && i < 5000 && !atomic_load(&far_is_read); i++) os_sleep_ns(1000000);
  if (offset == 0) {
    errno = EIO;
    return -1;
  }
  const ssize_t count = pread(fd, data, size, offset);
  if (offset == (off_t)FAR_AWAY) atomic_store(&far_is_read, true);
  return count;
}

static void memory_behind_an_error_is_not_taken_for_zeros(void **state) {
  const struct path path = make("many", 20 * MIB), whole_pages = make("pages", FAR_AWAY);
  struct weir_bytes bytes = {0};
  atomic_store(&far_is_read, false);
  replace("pread", (os_function *)bad_first_piece);
  assert_int_equal(weir_read_file(path.text, &bytes, &(struct weir_read_options){.threads = 4}, NULL), WEIR_EIO);
  restore("pread");
  assert_int_equal(bytes.size, 0);
  assert_int_equal(bytes.data[0], '\0');
  assert_int_equal(weir_read_file(whole_pages.text, &bytes, NULL, NULL), 0);
  assert_int_equal(bytes.size, FAR_AWAY);
  assert_int_equal(bytes.data[bytes.size], '\0');
  weir_bytes_free(&bytes);
}

static void every_call_that_fails_leaves_nothing_open(void **state) {
  static const char *const names[] = {"open", "fstat", "pread", "mmap"};
  const struct path path = make("failing", 3 * MIB);
  const unsigned before = open_files();
  inject_begin();
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    struct weir_bytes bytes = {0};
    struct weir_error error = {0};
    inject_arm(names[i], 1, EIO);
    const int code = weir_read_file(path.text, &bytes, &(struct weir_read_options){.flags = WEIR_SMALL_PAGES}, &error);
    assert_true(inject_disarm());
    assert_int_equal(code, WEIR_EIO);
    assert_int_equal(error.code, WEIR_EIO);
    assert_string_equal(error.path, path.text);
    weir_bytes_free(&bytes);
    assert_int_equal(open_files(), before);
  }
  static const size_t memory_sizes[] = {0, 10, 100000};
  for (size_t i = 0; i < 3; i++) {
    const struct path small = make("small", memory_sizes[i]);
    struct weir_bytes bytes = {0};
    inject_memory_arm(1);
    const int code = weir_read_file(small.text, &bytes, NULL, NULL);
    assert_true(inject_memory_disarm());
    assert_int_equal(code, WEIR_ENOMEM);
    weir_bytes_free(&bytes);
    assert_int_equal(open_files(), before);
  }
}

/* Memory runs out while a file without a size is read: what is there stays. */
static void growth_that_fails_keeps_what_was_read(void **state) {
  const struct path path = make("endless", 300000);
  told_size = 0;
  for (unsigned at = 1; at < 5; at++) {
    struct weir_bytes bytes = {0};
    struct weir_error error = {0};
    replace("fstat", (os_function *)tell_size);
    inject_memory_arm(at);
    const int code = weir_read_file(path.text, &bytes, NULL, &error);
    const bool hit = inject_memory_disarm();
    restore("fstat");
    assert_int_equal(code, hit ? WEIR_ENOMEM : 0);
    if (hit) assert_int_equal(bytes.size, error.transferred);
    check_bytes(bytes.data, bytes.size, 0);
    if (bytes.data) assert_int_equal(bytes.data[bytes.size], '\0');
    weir_bytes_free(&bytes);
  }
}

static void more_than_there_is_memory_is_refused_before(void **state) {
  const struct path path = in("huge");
  os_file file = open_in(directory, "huge", OS_WRITE | OS_CREATE);
  const int resized = os_resize(file, UINT64_C(1) << 40);
  assert_int_equal(os_close(file), 0);
  if (resized) skip_because("no sparse file of 1 TiB here: %s", strerror(-resized));
  struct weir_bytes bytes = {0};
  const bool addressable = SIZE_MAX > UINT32_MAX;
  assert_int_equal(weir_read_file(path.text, &bytes, NULL, NULL), addressable ? WEIR_ENOMEM : WEIR_EOVERFLOW);
  assert_int_equal(weir_read_file(path.text, &bytes, &(struct weir_read_options){.max_bytes = 1000}, NULL), WEIR_ELIMIT);
  weir_bytes_free(&bytes);
  assert_int_equal(os_remove(path.text), 0);
}

/* ---- into the caller's memory ---- */

static void the_callers_memory_is_never_overrun(void **state) {
  const struct path path = make("into", 100);
  char buffer[300];
  for (size_t capacity = 0; capacity < 130; capacity++) {
    size_t size = 12345;
    memset(buffer, '#', sizeof buffer);
    const int code = weir_read_into(path.text, buffer, capacity, &size, NULL);
    assert_int_equal(code, capacity < 100 ? WEIR_MORE : 0);
    assert_int_equal(size, capacity < 100 ? capacity : 100);
    check_bytes(buffer, size, 0);
    for (size_t i = size; i < sizeof buffer; i++) assert_int_equal(buffer[i], '#'); /* no zero byte either */
  }
  size_t size = 5;
  assert_int_equal(weir_read_into(path.text, NULL, 0, &size, NULL), WEIR_MORE);
  assert_int_equal(size, 0);
  assert_int_equal(weir_read_into(make("nothing", 0).text, NULL, 0, &size, NULL), 0);
  assert_int_equal(weir_read_into(path.text, NULL, 1, &size, NULL), WEIR_EINVAL);
  assert_int_equal(weir_read_into(path.text, buffer, 1, NULL, NULL), WEIR_EINVAL);
  size = 5;
  assert_int_equal(weir_read_into(in("missing").text, buffer, 1, &size, NULL), WEIR_ENOENT);
  assert_int_equal(size, 0);
  assert_int_equal(weir_read_into("/proc/self/maps", buffer, 10, &size, NULL), WEIR_MORE);
  assert_int_equal(size, 10);
}

static void large_files_go_into_the_callers_memory(void **state) {
  static const size_t lengths[] = {17 * MIB, 20 * MIB, 20 * MIB + 5};
  const struct path path = make("large", 20 * MIB);
  char *memory = malloc(21 * MIB);
  for (size_t i = 0; i < 3; i++) {
    size_t size;
    memset(memory, '#', 21 * MIB);
    assert_int_equal(weir_read_into(path.text, memory, lengths[i], &size, NULL), i == 0 ? WEIR_MORE : 0);
    assert_int_equal(size, i == 0 ? lengths[0] : 20 * MIB);
    check_bytes(memory, size, 0);
    assert_int_equal(memory[size], '#');
  }
  free(memory);
}

/* ---- items ---- */

static void items_are_whole_and_aligned(void **state) {
  struct weir_bytes bytes = {0};
  struct weir_error error;
  size_t count = 99;
  const struct path path = make("items", 24);
  assert_int_equal(WEIR_READ_ITEMS(path.text, double, &bytes, &count, &error), 0);
  assert_int_equal(count, 3);
  assert_int_equal((uintptr_t)bytes.data % _Alignof(max_align_t), 0);
  assert_int_equal(weir_read_items(path.text, 7, &bytes, &count, &error), WEIR_EFORMAT);
  assert_int_equal(error.offset, 21);
  assert_int_equal(weir_read_items(path.text, 25, &bytes, &count, &error), WEIR_EFORMAT);
  assert_int_equal(weir_read_items(path.text, 0, &bytes, &count, &error), WEIR_EINVAL);
  assert_int_equal(weir_read_items(path.text, 8, &bytes, NULL, &error), WEIR_EINVAL);
  assert_int_equal(weir_read_items(path.text, 8, NULL, &count, &error), WEIR_EINVAL);
  assert_int_equal(weir_read_items(make("no-items", 0).text, 8, &bytes, &count, &error), 0);
  assert_int_equal(count, 0);
  assert_non_null(bytes.data);
  assert_int_equal(weir_read_items(in("missing").text, 8, &bytes, &count, &error), WEIR_ENOENT);
  assert_int_equal(count, 0);
  weir_bytes_free(&bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_size_is_read_and_terminated),
      cmocka_unit_test(one_struct_holds_many_files),
      cmocka_unit_test(a_file_that_is_missing_leaves_no_text),
      cmocka_unit_test(reading_again_faults_no_more),
      cmocka_unit_test(offsets_and_limits_are_kept),
      cmocka_unit_test(wrong_options_are_refused),
      cmocka_unit_test(every_strategy_gives_the_same_bytes),
      cmocka_unit_test(what_cannot_be_used_is_said),
      cmocka_unit_test(direct_reading_keeps_the_limit),
      cmocka_unit_test(refused_strategy_is_an_error),
      cmocka_unit_test(without_threads_one_does_it_all),
      cmocka_unit_test(directories_and_special_files_are_named),
      cmocka_unit_test(a_fifo_is_read_when_it_is_wanted),
      cmocka_unit_test(endless_devices_meet_the_limit),
      cmocka_unit_test(files_without_a_size_are_read),
      cmocka_unit_test(sizes_that_are_too_large_are_hints),
      cmocka_unit_test(any_told_size_gives_the_whole_file),
      cmocka_unit_test(sizes_beyond_memory_are_errors),
      cmocka_unit_test(growing_and_shrinking_files_are_right),
      cmocka_unit_test(a_file_above_2_gib_is_counted_right),
      cmocka_unit_test(short_and_interrupted_reads_go_on),
      cmocka_unit_test(an_error_keeps_what_came_before),
      cmocka_unit_test(threads_agree_on_the_first_error),
      cmocka_unit_test(memory_behind_an_error_is_not_taken_for_zeros),
      cmocka_unit_test(every_call_that_fails_leaves_nothing_open),
      cmocka_unit_test(growth_that_fails_keeps_what_was_read),
      cmocka_unit_test(more_than_there_is_memory_is_refused_before),
      cmocka_unit_test(the_callers_memory_is_never_overrun),
      cmocka_unit_test(large_files_go_into_the_callers_memory),
      cmocka_unit_test(items_are_whole_and_aligned),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
