/*
 * test_lib_writer.c - weir_writer_*: every buffer size with every size of piece, what reaches the system and in which
 * writes, direct and uncached transfers with every tail, appending, locks, forks, and failures at every place.
 */
#define _GNU_SOURCE
#include <sys/file.h>
#include <sys/wait.h>

#include "inject.h"
#include "weir.h"

#define CONTENT_SIZE 331u
static char content[4 * 1024 * 1024];

static char directory[96], path[160];

static int set_up(void **state) {
  strcpy(directory, "lib-writer-XXXXXX");
  if (!mkdtemp(directory)) return -1;
  (void)snprintf(path, sizeof path, "%s/file", directory);
  (void)umask(022);
  for (size_t i = 0; i < sizeof content; i++) content[i] = (char)(i * 7 + i / 251 + 1);
  inject_begin();
  return 0;
}

static int tear_down(void **state) {
  inject_disarm();
  inject_memory_disarm();
  for (size_t i = 0; i < INJECT_NAME_COUNT; i++) (void)os_override(inject_names[i], NULL);
  return os_remove_tree(directory);
}

static struct weir_writer_options with(unsigned flags) { return (struct weir_writer_options){.flags = flags}; }

static struct weir_writer opened(const struct weir_writer_options *options) {
  struct weir_writer writer;
  struct weir_error error = {0};
  int code = weir_writer_open(&writer, path, options, &error);
  if (code) print_message("%s: %s\n", error.operation, weir_strerror(code));
  assert_int_equal(code, 0);
  return writer;
}

static int open_code(const struct weir_writer_options *options) {
  struct weir_writer writer;
  struct weir_error error = {0};
  int code = weir_writer_open(&writer, path, options, &error);
  assert_int_equal(error.code, code);
  if (code == 0)
    weir_writer_abandon(&writer);
  else
    assert_int_equal(weir_writer_finish(&writer, NULL), WEIR_EBADF);
  return code;
}

static int finished(struct weir_writer *writer) { return weir_writer_finish(writer, NULL); }

static int put_all(struct weir_writer *writer, const char *data, size_t size, size_t piece) {
  int code = 0;
  for (size_t at = 0; at < size && !code; at += piece) {
    code = weir_writer_put(writer, data + at, size - at < piece ? size - at : piece);
  }
  return code;
}

/* ---- what reaches the system ---- */

static size_t writes, sizes[4096];
static ssize_t note_pwrite(int fd, const void *data, size_t size, off_t offset) {
  if (writes < 4096) sizes[writes++] = size;
  return inject_real_pwrite(fd, data, size, offset);
}
static void note_writes(void) {
  writes = 0;
  (void)os_override("pwrite", (os_function *)note_pwrite);
}

/* All but the last write are full buffers, or several at once where a piece was that large. */
static void check_writes(size_t buffer, size_t size) {
  size_t sum = 0;
  for (size_t i = 0; i < writes; i++) {
    if (i + 1 < writes) assert_int_equal(sizes[i] % buffer, 0);
    sum += sizes[i];
  }
  assert_int_equal(sum, size);
  if (size % buffer) assert_int_equal(sizes[writes - 1], size % buffer);
}

static void every_buffer_is_filled_exactly(void **state) {
  for (size_t buffer = 1; buffer <= 64; buffer++) {
    for (size_t piece = 1; piece <= 70; piece++) {
      (void)unlink(path);
      struct weir_writer_options options = {.buffer_bytes = buffer};
      note_writes();
      struct weir_writer writer = opened(&options);
      assert_int_equal(put_all(&writer, content, CONTENT_SIZE, piece), 0);
      assert_int_equal(weir_writer_size(&writer), CONTENT_SIZE);
      assert_int_equal(finished(&writer), 0);
      check_writes(buffer, CONTENT_SIZE);
      assert_true(holds(path, content, CONTENT_SIZE));
    }
  }
}

static void every_size_of_file_ends_right(void **state) {
  for (size_t buffer = 1; buffer <= 64; buffer += 7) {
    for (size_t size = 0; size <= 200; size++) {
      (void)unlink(path);
      struct weir_writer_options options = {.buffer_bytes = buffer, .flags = size & 1 ? WEIR_ATOMIC : 0};
      struct weir_writer writer = opened(&options);
      assert_int_equal(put_all(&writer, content, size, 13), 0);
      assert_int_equal(finished(&writer), 0);
      assert_true(holds(path, content, size));
      assert_int_equal(entries_in(directory), 1);
    }
  }
}

static void reserved_room_fills_buffers_exactly_too(void **state) {
  for (size_t buffer = 1; buffer <= 64; buffer++) {
    for (size_t piece = 1; piece <= 150; piece += 3) {
      (void)unlink(path);
      struct weir_writer_options options = {.buffer_bytes = buffer};
      note_writes();
      struct weir_writer writer = opened(&options);
      for (size_t at = 0; at < CONTENT_SIZE;) {
        size_t want = CONTENT_SIZE - at < piece ? CONTENT_SIZE - at : piece;
        char *room = weir_writer_reserve(&writer, want + 5);
        assert_non_null(room);
        memset(room, 'x', want + 5);
        memcpy(room, content + at, want);
        assert_int_equal(weir_writer_commit(&writer, want), 0);
        at += want;
        if (at < CONTENT_SIZE && at % 2) {
          assert_int_equal(weir_writer_put(&writer, content + at, 1), 0);
          at++;
        }
        assert_int_equal(weir_writer_size(&writer), at);
      }
      assert_int_equal(finished(&writer), 0);
      check_writes(buffer, CONTENT_SIZE);
      assert_true(holds(path, content, CONTENT_SIZE));
    }
  }
}

static void reserves_up_to_64_kib(void **state) {
  struct weir_writer_options options = {.buffer_bytes = 100};
  struct weir_writer writer = opened(&options);
  assert_int_equal(weir_writer_put(&writer, content, 99), 0);
  void *room = weir_writer_reserve(&writer, 65536);
  assert_non_null(room);
  memcpy(room, content + 99, 65536);
  assert_int_equal(weir_writer_commit(&writer, 65536), 0);
  assert_int_equal(finished(&writer), 0);
  assert_true(holds(path, content, 99 + 65536));
  writer = opened(NULL);
  assert_null(weir_writer_reserve(&writer, 65537));
  assert_int_equal(weir_writer_error(&writer)->code, WEIR_EINVAL);
  assert_int_equal(finished(&writer), WEIR_EINVAL);
  writer = opened(NULL);
  assert_non_null(weir_writer_reserve(&writer, 10));
  assert_int_equal(weir_writer_commit(&writer, 11), WEIR_EINVAL);
  assert_null(weir_writer_reserve(&writer, 1));
  assert_int_equal(weir_writer_put(&writer, "x", 1), WEIR_EINVAL);
  weir_writer_abandon(&writer);
}

static void lines_get_their_newline(void **state) {
  for (size_t buffer = 1; buffer <= 40; buffer++) {
    (void)unlink(path);
    struct weir_writer_options options = {.buffer_bytes = buffer};
    struct weir_writer writer = opened(&options);
    char expected[4096];
    size_t size = 0;
    for (size_t length = 0; length < 60; length++) {
      assert_int_equal(weir_writer_put_line(&writer, length ? content : NULL, length), 0);
      memcpy(expected + size, content, length);
      expected[size + length] = '\n';
      size += length + 1;
    }
    assert_int_equal(finished(&writer), 0);
    assert_true(holds(path, expected, size));
  }
}

static const void *passed;
static ssize_t look_for_pass(int fd, const void *data, size_t size, off_t offset) {
  if ((const char *)data >= content && (const char *)data < content + sizeof content) passed = data;
  return inject_real_pwrite(fd, data, size, offset);
}
static void large_pieces_pass_the_buffer_by(void **state) {
  (void)os_override("pwrite", (os_function *)look_for_pass);
  for (size_t before = 0; before < 3; before++) {
    passed = NULL;
    struct weir_writer_options options = {.buffer_bytes = 1000};
    struct weir_writer writer = opened(&options);
    assert_int_equal(weir_writer_put(&writer, content, before), 0);
    assert_int_equal(weir_writer_put(&writer, content + before, sizeof content - before), 0);
    assert_int_equal(weir_writer_size(&writer), sizeof content);
    assert_int_equal(finished(&writer), 0);
    assert_non_null(passed);
    assert_true(holds(path, content, sizeof content));
  }
}

static void flush_hands_over_what_is_there(void **state) {
  for (size_t piece = 1; piece < 20; piece++) {
    struct weir_writer_options options = {.buffer_bytes = 16, .flags = piece & 1 ? WEIR_DURABLE : 0};
    struct weir_writer writer = opened(&options);
    for (size_t at = 0; at < 200; at += piece) {
      assert_int_equal(weir_writer_put(&writer, content + at, piece), 0);
      assert_int_equal(weir_writer_flush(&writer), 0);
      assert_true(holds(path, content, at + piece));
      assert_int_equal(weir_writer_size(&writer), at + piece);
    }
    assert_int_equal(finished(&writer), 0);
  }
}

/* ---- opening ---- */

static void refuses_bad_arguments(void **state) {
  struct weir_writer writer;
  assert_int_equal(weir_writer_open(&writer, NULL, NULL, NULL), WEIR_EINVAL);
  struct weir_writer_options options = with(WEIR_EXACT);
  assert_int_equal(open_code(&options), WEIR_EINVAL);
  options = (struct weir_writer_options){.reserved = {1}};
  assert_int_equal(open_code(&options), WEIR_EINVAL);
  static const enum weir_strategy bad[] = {WEIR_MAPPED, WEIR_RING, WEIR_THREADS, (enum weir_strategy)99};
  for (size_t i = 0; i < 4; i++) {
    options = (struct weir_writer_options){.strategy = bad[i]};
    assert_int_equal(open_code(&options), WEIR_EINVAL);
  }
  options = (struct weir_writer_options){.buffer_bytes = SIZE_MAX};
  assert_int_equal(open_code(&options), WEIR_ENOMEM);
  options = (struct weir_writer_options){.expected_bytes = UINT64_MAX, .flags = WEIR_NEW};
  assert_int_equal(unlink(path), 0);
  assert_int_equal(open_code(&options), WEIR_EFBIG);
  assert_int_equal(entries_in(directory), 0);
}

static void a_writer_that_is_not_open_says_so(void **state) {
  struct weir_writer writer = {0};
  struct weir_error error = {0};
  struct weir_choice how;
  assert_int_equal(weir_writer_put(&writer, "x", 1), WEIR_EBADF);
  assert_int_equal(weir_writer_put(&writer, NULL, 0), WEIR_EBADF);
  assert_int_equal(weir_writer_put_line(&writer, "x", 1), WEIR_EBADF);
  assert_int_equal(weir_writer_put_record(&writer, WEIR_RECORD_U8, "x", 1), WEIR_EBADF);
  assert_null(weir_writer_reserve(&writer, 1));
  assert_int_equal(weir_writer_commit(&writer, 0), WEIR_EBADF);
  assert_int_equal(weir_writer_flush(&writer), WEIR_EBADF);
  assert_int_equal(weir_writer_size(&writer), 0);
  assert_int_equal(weir_writer_error(&writer)->code, 0);
  weir_writer_how(&writer, &how);
  assert_non_null(how.reason);
  weir_writer_abandon(&writer);
  assert_int_equal(weir_writer_finish(&writer, &error), WEIR_EBADF);
  assert_int_equal(error.code, WEIR_EBADF);
}

static void what_is_not_a_file_is_refused(void **state) {
  assert_int_equal(mkdir(path, 0700), 0);
  assert_int_equal(open_code(NULL), WEIR_EISDIR);
  assert_int_equal(rmdir(path), 0);
  assert_int_equal(mkfifo(path, 0600), 0);
  assert_int_equal(open_code(NULL), WEIR_ENOTREG);
  int reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  assert_true(reader >= 0);
  struct weir_writer_options options = {.flags = WEIR_ANY_KIND, .buffer_bytes = 10, .expected_bytes = 1000};
  struct weir_writer writer = opened(&options);
  assert_int_equal(put_all(&writer, content, 500, 7), 0);
  assert_int_equal(finished(&writer), 0);
  char got[600];
  assert_int_equal(read(reader, got, sizeof got), 500);
  assert_memory_equal(got, content, 500);
  assert_int_equal(close(reader), 0);
  options.strategy = WEIR_DIRECT;
  reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  assert_int_equal(open_code(&options), WEIR_EOPNOTSUPP);
  assert_int_equal(close(reader), 0);
}

static void an_old_file_is_cut_at_the_open_unless_atomic(void **state) {
  put_content(path, "old content", 11);
  struct weir_writer_options options = with(WEIR_ATOMIC);
  struct weir_writer writer = opened(&options);
  assert_int_equal(weir_writer_put(&writer, "new", 3), 0);
  assert_true(holds(path, "old content", 11));
  assert_int_equal(finished(&writer), 0);
  assert_true(holds(path, "new", 3));
  writer = opened(NULL);
  assert_true(holds(path, "", 0));
  assert_int_equal(weir_writer_put(&writer, "newer", 5), 0);
  assert_int_equal(finished(&writer), 0);
  assert_true(holds(path, "newer", 5));
  options = with(WEIR_NEW);
  assert_int_equal(open_code(&options), WEIR_EEXIST);
  options = with(WEIR_NEW | WEIR_ATOMIC);
  assert_int_equal(open_code(&options), WEIR_EEXIST);
}

static void what_cannot_be_opened_is_not_cut(void **state) {
  put_content(path, "old content", 11);
  struct weir_writer_options options = {.buffer_bytes = SIZE_MAX};
  assert_int_equal(open_code(&options), WEIR_ENOMEM);
  assert_true(holds(path, "old content", 11));
  options = (struct weir_writer_options){0};
  inject_arm("mmap", 1, ENOMEM);
  assert_int_equal(open_code(&options), WEIR_ENOMEM);
  assert_true(holds(path, "old content", 11));
  options.flags = WEIR_APPEND;
  options.expected_bytes = 1000;
  inject_arm("fallocate", 1, ENOSPC);
  assert_int_equal(open_code(&options), WEIR_ENOSPC);
  assert_true(holds(path, "old content", 11));
}

static void locks_are_kept(void **state) {
  for (unsigned flags = 0; flags <= WEIR_ATOMIC; flags += WEIR_ATOMIC) {
    put_content(path, "old content", 11);
    struct weir_writer_options options = with(WEIR_LOCK | flags);
    struct weir_writer writer = opened(&options);
    assert_int_equal(open_code(&options), WEIR_EAGAIN);
    assert_int_equal(weir_writer_put(&writer, "new", 3), 0);
    assert_int_equal(finished(&writer), 0);
    assert_int_equal(open_code(&options), 0);
    put_content(path, "old content", 11);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_SH), 0);
    assert_int_equal(open_code(&options), WEIR_EAGAIN);
    assert_true(holds(path, "old content", 11)); /* also not cut */
    assert_int_equal(close(fd), 0);
    assert_int_equal(entries_in(directory), 1);
    assert_int_equal(unlink(path), 0);
  }
  struct weir_writer_options options = with(WEIR_LOCK | WEIR_NEW);
  struct weir_writer writer = opened(&options);
  options = with(WEIR_LOCK);
  assert_int_equal(open_code(&options), WEIR_EAGAIN);
  assert_int_equal(finished(&writer), 0);
}

/* ---- appending ---- */

static void appends_at_the_end(void **state) {
  static const unsigned flags[] = {0, WEIR_ATOMIC, WEIR_DURABLE, WEIR_ATOMIC | WEIR_DURABLE};
  for (size_t f = 0; f < 4; f++) {
    for (unsigned expected = 0; expected < 2; expected++) {
      for (size_t old_size = 0; old_size < 100; old_size += 33) {
        (void)unlink(path);
        if (old_size) put_content(path, content, old_size);
        struct weir_writer_options options = {
            .flags = flags[f] | WEIR_APPEND, .buffer_bytes = 32, .expected_bytes = expected ? 100000 : 0};
        struct weir_writer writer = opened(&options);
        assert_int_equal(weir_writer_size(&writer), 0);
        assert_int_equal(put_all(&writer, content + old_size, CONTENT_SIZE - old_size, 11), 0);
        assert_int_equal(weir_writer_size(&writer), CONTENT_SIZE - old_size);
        assert_int_equal(finished(&writer), 0);
        assert_true(holds(path, content, CONTENT_SIZE));
        assert_int_equal(entries_in(directory), 1);
      }
    }
  }
}

static void two_appenders_lose_nothing(void **state) {
  struct weir_writer_options options = {.flags = WEIR_APPEND, .buffer_bytes = 1};
  struct weir_writer first = opened(&options), second = opened(&options);
  for (unsigned i = 0; i < 50; i++) {
    assert_int_equal(weir_writer_put(&first, "ab", 2), 0);
    assert_int_equal(weir_writer_put(&second, "ab", 2), 0);
  }
  assert_int_equal(finished(&first), 0);
  assert_int_equal(finished(&second), 0);
  char got[300];
  assert_int_equal(get_content(path, got, sizeof got), 200);
  for (unsigned i = 0; i < 200; i++) assert_int_equal(got[i], i & 1 ? 'b' : 'a');
}

static void abandoned_appending_keeps_what_was_there(void **state) {
  put_content(path, "old", 3);
  static const unsigned flags[] = {WEIR_APPEND, WEIR_APPEND | WEIR_ATOMIC};
  for (size_t f = 0; f < 2; f++) {
    for (unsigned expected = 0; expected < 2; expected++) {
      struct weir_writer_options options = {.flags = flags[f], .expected_bytes = expected ? 5000 : 0};
      struct weir_writer writer = opened(&options);
      assert_int_equal(weir_writer_put(&writer, "new", 3), 0);
      weir_writer_abandon(&writer);
      assert_true(holds(path, "old", 3));
      assert_int_equal(entries_in(directory), 1);
    }
  }
}

/* ---- direct and uncached ---- */

static bool can(enum weir_feature feature, const char *name) {
  const char *reason = NULL;
  put_content(path, content, 8192);
  bool is = weir_can(path, feature, &reason);
  if (!is) print_message("[  SKIPPED ] %s: %s\n", name, reason);
  return is;
}

static void strategy_gives_the_right_bytes(enum weir_strategy strategy) {
  static const size_t file_sizes[] = {0, 1, 511, 512, 513, 4095, 4096, 4097, 8192, 8193, 40959, 40960, 40961, 1000003};
  static const size_t pieces[] = {100, 4096, 5000, 1000003};
  for (size_t s = 0; s < sizeof file_sizes / sizeof file_sizes[0]; s++) {
    for (size_t p = 0; p < 4; p++) {
      for (unsigned flags = 0; flags <= WEIR_ATOMIC; flags += WEIR_ATOMIC) {
        put_content(path, content + 1, 50000);
        struct weir_writer_options options = {
            .strategy = strategy, .buffer_bytes = 10000, .flags = flags, .expected_bytes = s % 3 ? 30000 : 0};
        struct weir_writer writer = opened(&options);
        struct weir_choice how;
        weir_writer_how(&writer, &how);
        assert_int_equal(how.strategy, strategy);
        assert_int_equal(how.direct, strategy == WEIR_DIRECT);
        assert_int_equal(put_all(&writer, content + p, file_sizes[s], pieces[p]), 0);
        assert_int_equal(finished(&writer), 0);
        assert_true(holds(path, content + p, file_sizes[s]));
      }
    }
  }
}

static void direct_files_have_the_right_tail(void **state) {
  if (!can(WEIR_FEATURE_DIRECT, "direct transfers")) skip();
  strategy_gives_the_right_bytes(WEIR_DIRECT);
}

static void uncached_files_have_the_right_bytes(void **state) {
  if (!can(WEIR_FEATURE_UNCACHED, "uncached transfers")) skip();
  strategy_gives_the_right_bytes(WEIR_UNCACHED);
}

static void direct_flushes_and_appends_go_on_where_they_were(void **state) {
  if (!can(WEIR_FEATURE_DIRECT, "direct transfers")) skip();
  for (size_t piece = 1000; piece < 10000; piece += 777) {
    put_content(path, content, 1234);
    struct weir_writer_options options = {.strategy = WEIR_DIRECT, .buffer_bytes = 8192, .flags = WEIR_APPEND};
    struct weir_writer writer = opened(&options);
    size_t at = 1234;
    for (unsigned i = 0; i < 10; i++, at += piece) {
      assert_int_equal(weir_writer_put(&writer, content + at, piece), 0);
      if (i % 3 == 0) {
        assert_int_equal(weir_writer_flush(&writer), 0);
        assert_true(holds(path, content, at + piece));
      }
    }
    assert_int_equal(finished(&writer), 0);
    assert_true(holds(path, content, at));
  }
}

static unsigned direct_writes, plain_writes;
static ssize_t count_direct(int fd, const void *data, size_t size, off_t offset) {
  if (fcntl(fd, F_GETFL) & O_DIRECT)
    direct_writes++;
  else
    plain_writes++;
  return inject_real_pwrite(fd, data, size, offset);
}
static void only_what_is_not_aligned_goes_through_the_cache(void **state) {
  if (!can(WEIR_FEATURE_DIRECT, "direct transfers")) skip();
  (void)os_override("pwrite", (os_function *)count_direct);
  direct_writes = plain_writes = 0;
  struct weir_writer_options options = {.strategy = WEIR_DIRECT, .buffer_bytes = 8192};
  struct weir_writer writer = opened(&options);
  assert_int_equal(weir_writer_put(&writer, content, 1000), 0);
  assert_int_equal(weir_writer_flush(&writer), 0);
  assert_int_equal(put_all(&writer, content + 1000, 99000, 100), 0);
  assert_int_equal(finished(&writer), 0);
  assert_true(holds(path, content, 100000));
  assert_int_equal(plain_writes, 3);      /* what was flushed, from there to the next block, and the end */
  assert_in_range(direct_writes, 11, 13); /* where blocks are small, those of the flush and the end, too */
}

/* The file system says no at the first transfer. What is asked for fails; what was chosen goes the plain way. */
static ssize_t refuse_aligned(int fd, const void *data, size_t size, off_t offset) {
  if (fcntl(fd, F_GETFL) & O_DIRECT) {
    errno = EINVAL;
    return -1;
  }
  return inject_real_pwrite(fd, data, size, offset);
}
static void refused_direct_transfers_are_told(void **state) {
  if (!can(WEIR_FEATURE_DIRECT, "direct transfers")) skip();
  (void)os_override("pwrite", (os_function *)refuse_aligned);
  struct weir_writer_options options = {.strategy = WEIR_DIRECT, .buffer_bytes = 8192, .flags = WEIR_ATOMIC};
  struct weir_writer writer = opened(&options);
  assert_int_equal(put_all(&writer, content, 20000, 100), WEIR_EINVAL);
  assert_int_equal(finished(&writer), WEIR_EINVAL);
  assert_true(holds(path, content, 8192));
  assert_int_equal(entries_in(directory), 1);
}

static void refused_uncached_transfers_are_told(void **state) {
  if (!can(WEIR_FEATURE_UNCACHED, "uncached transfers")) skip();
  struct weir_writer_options options = {.strategy = WEIR_UNCACHED, .buffer_bytes = 8192, .flags = WEIR_ATOMIC};
  struct weir_writer writer = opened(&options);
  inject_arm("pwritev2", 1, EOPNOTSUPP);
  assert_int_equal(put_all(&writer, content, 20000, 100), WEIR_EOPNOTSUPP);
  assert_int_equal(finished(&writer), WEIR_EOPNOTSUPP);
  assert_true(holds(path, content, 8192));
}

/* ---- space, pace ---- */

static void reserved_space_that_is_not_used_goes(void **state) {
  for (uint64_t expected = 1; expected <= 100000; expected *= 7) {
    struct weir_writer_options options = {.expected_bytes = expected, .flags = WEIR_PREALLOCATE};
    struct weir_writer writer = opened(&options);
    assert_int_equal(put_all(&writer, content, 5000, 77), 0);
    assert_int_equal(finished(&writer), 0);
    assert_true(holds(path, content, 5000));
    options.flags = 0;
    options.buffer_bytes = 1000;
    writer = opened(&options);
    assert_int_equal(put_all(&writer, content, 5500, 77), 0);
    weir_writer_abandon(&writer);
    assert_true(holds(path, content, 5000));
  }
  struct weir_writer_options options = {.expected_bytes = 5000, .flags = WEIR_NEW | WEIR_ATOMIC};
  assert_int_equal(unlink(path), 0);
  inject_arm("fallocate", 1, ENOSPC);
  assert_int_equal(open_code(&options), WEIR_ENOSPC);
  assert_int_equal(entries_in(directory), 0);
  inject_arm("fallocate", 1, EOPNOTSUPP);
  assert_int_equal(open_code(&options), 0);
}

static void writing_back_begins_at_the_pace(void **state) {
  struct weir_writer_options options = {.pace_bytes = 10000, .buffer_bytes = 1000};
  struct weir_writer writer = opened(&options);
  inject_arm("sync_file_range", 100, EIO);
  assert_int_equal(put_all(&writer, content, 55000, 100), 0);
  assert_int_equal(inject.calls, 5);
  assert_int_equal(finished(&writer), 0);
  writer = opened(&options);
  inject_arm("sync_file_range", 2, EIO);
  assert_int_equal(put_all(&writer, content, 55000, 100), WEIR_EIO);
  assert_string_equal(weir_writer_error(&writer)->operation, "write back");
  assert_int_equal(finished(&writer), WEIR_EIO);
  writer = opened(&options);
  inject_arm("sync_file_range", 1, ENOSYS);
  assert_int_equal(put_all(&writer, content, 55000, 100), 0);
  assert_int_equal(inject.calls, 1);
  assert_int_equal(finished(&writer), 0);
  options.pace_bytes = UINT64_MAX;
  options.flags = WEIR_DURABLE;
  writer = opened(&options);
  inject_arm("sync_file_range", 1, EIO);
  assert_int_equal(put_all(&writer, content, sizeof content, 100000), 0);
  assert_int_equal(finished(&writer), 0);
  assert_int_equal(inject.calls, 0);
}

/* ---- ends ---- */

static void abandoned_writers_leave_what_they_say(void **state) {
  static const unsigned clean[] = {WEIR_NEW, WEIR_ATOMIC, WEIR_NEW | WEIR_ATOMIC};
  for (size_t f = 0; f < 3; f++) {
    struct weir_writer_options options = {.flags = clean[f], .buffer_bytes = 10};
    struct weir_writer writer = opened(&options);
    assert_int_equal(put_all(&writer, content, 55, 3), 0);
    weir_writer_abandon(&writer);
    weir_writer_abandon(&writer);
    assert_int_equal(entries_in(directory), 0);
  }
  struct weir_writer_options options = {.buffer_bytes = 10};
  struct weir_writer writer = opened(&options);
  assert_int_equal(put_all(&writer, content, 55, 3), 0);
  weir_writer_abandon(&writer);
  assert_true(holds(path, content, 50));
}

static void a_forked_child_cannot_use_it(void **state) {
  static const unsigned flags[] = {0, WEIR_ATOMIC, WEIR_NEW};
  for (size_t f = 0; f < 3; f++) {
    for (unsigned how = 0; how < 3; how++) {
      (void)unlink(path);
      struct weir_writer_options options = {.flags = flags[f], .buffer_bytes = 10};
      struct weir_writer writer = opened(&options);
      assert_int_equal(put_all(&writer, content, 55, 3), 0);
      pid_t child = fork();
      assert_true(child >= 0);
      if (child == 0) {
        struct weir_error error = {0};
        int code = WEIR_EFORKED;
        if (how == 0) code = weir_writer_finish(&writer, &error);
        if (how == 1) weir_writer_abandon(&writer);
        if (how == 2) code = put_all(&writer, content, 50, 3);
        _exit(code == WEIR_EFORKED && (how || error.code == code) ? 0 : 1);
      }
      int status;
      assert_int_equal(waitpid(child, &status, 0), child);
      assert_int_equal(status, 0);
      assert_int_equal(put_all(&writer, content + 55, 45, 7), 0);
      assert_int_equal(finished(&writer), 0);
      assert_true(holds(path, content, 100));
    }
  }
}

/* ---- failures ---- */

static size_t room;
static ssize_t small_disk(int fd, const void *data, size_t size, off_t offset) {
  if (size > 7) size = 7; /* short, too */
  if (size > room) size = room;
  if (size == 0) {
    errno = ENOSPC;
    return -1;
  }
  ssize_t count = inject_real_pwrite(fd, data, size, offset);
  if (count > 0) room -= (size_t)count;
  return count;
}

static void the_first_error_stays(void **state) {
  (void)os_override("pwrite", (os_function *)small_disk);
  static const unsigned flags[] = {0, WEIR_ATOMIC, WEIR_NEW};
  for (size_t f = 0; f < 3; f++) {
    for (size_t taken = 0; taken < CONTENT_SIZE; taken++) {
      (void)unlink(path);
      struct weir_writer_options options = {.flags = flags[f], .buffer_bytes = 16};
      struct weir_writer writer = opened(&options);
      room = taken;
      int code = put_all(&writer, content, CONTENT_SIZE, 5);
      if (!code) code = weir_writer_flush(&writer);
      assert_int_equal(code, WEIR_ENOSPC);
      room = 10000;
      assert_int_equal(weir_writer_put(&writer, "x", 1), WEIR_ENOSPC);
      assert_int_equal(weir_writer_put(&writer, NULL, 0), WEIR_ENOSPC);
      assert_int_equal(weir_writer_put_line(&writer, "x", 1), WEIR_ENOSPC);
      assert_int_equal(weir_writer_put_record(&writer, WEIR_RECORD_VARINT, "x", 1), WEIR_ENOSPC);
      assert_int_equal(weir_writer_flush(&writer), WEIR_ENOSPC);
      assert_int_equal(weir_writer_commit(&writer, 0), WEIR_ENOSPC);
      assert_null(weir_writer_reserve(&writer, 1));
      assert_int_equal(weir_writer_size(&writer), taken);
      struct weir_error error = {0};
      assert_int_equal(weir_writer_finish(&writer, &error), WEIR_ENOSPC);
      assert_int_equal(error.transferred, taken);
      assert_int_equal(error.offset, taken);
      assert_string_equal(error.operation, "write");
      assert_string_equal(error.path, path);
      if (flags[f])
        assert_int_equal(entries_in(directory), 0);
      else
        assert_true(holds(path, content, taken));
    }
  }
}

static int whole_life(unsigned flags, enum weir_strategy strategy, uint64_t expected) {
  struct weir_writer_options options = {
      .flags = flags, .buffer_bytes = 100, .strategy = strategy, .expected_bytes = expected, .pace_bytes = 150};
  struct weir_writer writer;
  int code = weir_writer_open(&writer, path, &options, NULL);
  if (code) return code;
  (void)put_all(&writer, content, CONTENT_SIZE / 2, 9);
  (void)weir_writer_flush(&writer);
  (void)put_all(&writer, content + CONTENT_SIZE / 2, CONTENT_SIZE - CONTENT_SIZE / 2, 9);
  return weir_writer_finish(&writer, NULL);
}

static const struct {
  unsigned flags;
  uint64_t expected;
} lives[] = {{0, 0},
             {WEIR_DURABLE, 400},
             {WEIR_ATOMIC | WEIR_DURABLE | WEIR_LOCK, 0},
             {WEIR_ATOMIC | WEIR_APPEND, 0},
             {WEIR_NEW | WEIR_DURABLE | WEIR_LOCK, 400},
             {WEIR_NEW | WEIR_ATOMIC, 400}};
#define LIVES (sizeof lives / sizeof lives[0])

static void every_call_may_fail(void **state) {
  for (size_t f = 0; f < LIVES; f++) {
    unsigned flags = lives[f].flags;
    for (size_t c = 0; c < INJECT_NAME_COUNT; c++) {
      if (strcmp(inject_names[c], "unlink") == 0) continue; /* what cannot be removed stays */
      bool hit = true;
      for (unsigned at = 1; hit; at++) {
        (void)unlink(path);
        if (!(flags & WEIR_NEW)) put_content(path, "", 0);
        unsigned files = open_files();
        inject_arm(inject_names[c], at, EIO);
        int code = whole_life(flags, WEIR_AUTO, lives[f].expected);
        hit = inject_disarm();
        assert_int_equal(open_files(), files);
        bool is_whole = holds(path, content, CONTENT_SIZE);
        if (code == 0 || code == WEIR_EDURABLE)
          assert_true(is_whole);
        else if (flags & WEIR_ATOMIC)
          assert_true(is_whole || !is_there(path) || holds(path, "", 0));
        else if (flags & WEIR_NEW)
          assert_false(is_there(path));
        if (!hit) assert_int_equal(code, 0);
        assert_int_equal(entries_in(directory), is_there(path) ? 1 : 0);
      }
    }
  }
}

static void memory_may_be_short_everywhere(void **state) {
  for (size_t f = 0; f < LIVES; f++) {
    bool hit = true;
    for (unsigned at = 1; hit; at++) {
      (void)unlink(path);
      unsigned files = open_files();
      inject_memory_arm(at);
      int code = whole_life(lives[f].flags, WEIR_AUTO, lives[f].expected);
      hit = inject_memory_disarm();
      if (code != WEIR_EDURABLE) assert_int_equal(code, hit ? WEIR_ENOMEM : 0);
      assert_int_equal(open_files(), files);
      if (code == WEIR_ENOMEM && lives[f].flags)
        assert_true(!is_there(path) || !(lives[f].flags & (WEIR_NEW | WEIR_ATOMIC)));
    }
  }
}

/* ---- on an open file ---- */

static struct weir_file *open_update(enum weir_access_mode access, enum weir_strategy strategy) {
  struct weir_open_options options = {.access = access, .strategy = strategy};
  struct weir_file *file;
  assert_int_equal(weir_file_open(path, &options, &file, NULL), 0);
  return file;
}

static void writes_from_the_position_of_a_file(void **state) {
  static const enum weir_strategy strategies[] = {WEIR_AUTO, WEIR_BUFFERED, WEIR_DIRECT, WEIR_UNCACHED};
  bool direct = can(WEIR_FEATURE_DIRECT, "direct transfers"), uncached = can(WEIR_FEATURE_UNCACHED, "uncached transfers");
  for (unsigned own = 0; own < 4; own++) {
    for (unsigned asked = 0; asked < 4; asked++) {
      if (((own == 2 || asked == 2) && !direct) || ((own == 3 || asked == 3) && !uncached)) continue;
      for (unsigned where = 0; where < 30000; where += 4999) {
        static char expected[40000];
        memset(expected, 'o', sizeof expected);
        put_content(path, expected, 20000);
        struct weir_file *file = open_update(WEIR_OPEN_UPDATE, strategies[own]);
        assert_int_equal(weir_file_seek(file, where), 0);
        struct weir_writer_options options = {
            .strategy = strategies[asked], .buffer_bytes = 4096, .expected_bytes = where % 2 ? 33333 : 0};
        struct weir_writer writer;
        assert_int_equal(weir_writer_open_file(&writer, file, &options, NULL), 0);
        assert_int_equal(put_all(&writer, content, 9000, 700), 0);
        assert_int_equal(weir_writer_size(&writer), 9000);
        assert_int_equal(finished(&writer), 0);
        assert_int_equal(weir_file_tell(file), where + 9000);
        assert_int_equal(weir_file_write(file, "!", 1), 1);
        assert_int_equal(weir_file_close(file, NULL), 0);
        size_t size = where + 9001 > 20000 ? where + 9001 : 20000;
        if (where > 20000) memset(expected + 20000, 0, where - 20000);
        memcpy(expected + where, content, 9000);
        expected[where + 9000] = '!';
        assert_true(holds(path, expected, size));
      }
    }
  }
}

static void appends_to_an_open_file(void **state) {
  put_content(path, content, 100);
  struct weir_file *file = open_update(WEIR_OPEN_APPEND, WEIR_AUTO);
  struct weir_writer writer;
  assert_int_equal(weir_writer_open_file(&writer, file, NULL, NULL), 0);
  assert_int_equal(put_all(&writer, content + 100, 100, 9), 0);
  assert_int_equal(finished(&writer), 0);
  assert_int_equal(weir_file_close(file, NULL), 0);
  assert_true(holds(path, content, 200));
  file = open_update(WEIR_OPEN_UPDATE, WEIR_AUTO);
  struct weir_writer_options options = with(WEIR_APPEND | WEIR_DURABLE);
  assert_int_equal(weir_writer_open_file(&writer, file, &options, NULL), 0);
  assert_int_equal(put_all(&writer, content + 200, 100, 9), 0);
  assert_int_equal(finished(&writer), 0);
  assert_int_equal(weir_file_close(file, NULL), 0);
  assert_true(holds(path, content, 300));
}

static void open_files_are_refused_where_they_must_be(void **state) {
  put_content(path, "old", 3);
  struct weir_writer writer;
  assert_int_equal(weir_writer_open_file(&writer, NULL, NULL, NULL), WEIR_EINVAL);
  struct weir_file *file = open_update(WEIR_OPEN_READ, WEIR_AUTO);
  assert_int_equal(weir_writer_open_file(&writer, file, NULL, NULL), WEIR_EBADF);
  assert_int_equal(weir_file_close(file, NULL), 0);
  file = open_update(WEIR_OPEN_UPDATE, WEIR_AUTO);
  static const unsigned bad[] = {WEIR_ATOMIC, WEIR_NEW, WEIR_NO_FOLLOW, WEIR_LOCK};
  for (size_t i = 0; i < 4; i++) {
    struct weir_writer_options options = with(bad[i]);
    assert_int_equal(weir_writer_open_file(&writer, file, &options, NULL), WEIR_EINVAL);
  }
  assert_int_equal(weir_writer_open_file(&writer, file, NULL, NULL), 0);
  inject_arm("pwrite", 1, EIO);
  assert_int_equal(weir_writer_put(&writer, "new", 3), 0);
  assert_int_equal(finished(&writer), WEIR_EIO);
  assert_int_equal(weir_file_close(file, NULL), 0);
}

static int fill_the_device(int fd, int mode, off_t offset, off_t size) {
  assert_int_equal(ftruncate(fd, (offset + size) / 2), 0);
  errno = ENOSPC;
  return -1;
}

static void space_that_cannot_be_had_lengthens_no_open_file(void **state) {
  put_content(path, "old content", 11);
  struct weir_file *file = open_update(WEIR_OPEN_UPDATE, WEIR_AUTO);
  struct weir_writer_options options = {.expected_bytes = 100000};
  struct weir_writer writer;
  (void)os_override("fallocate", (os_function *)fill_the_device);
  assert_int_equal(weir_writer_open_file(&writer, file, &options, NULL), WEIR_ENOSPC);
  assert_int_equal(weir_file_close(file, NULL), 0);
  assert_true(holds(path, "old content", 11));
}

static void writes_to_a_pipe_through_a_descriptor(void **state) {
  int ends[2];
  assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
  struct weir_file *file;
  assert_int_equal(weir_file_from(ends[1], WEIR_OPEN_WRITE, &file, NULL), 0);
  struct weir_writer_options options = {.buffer_bytes = 64};
  struct weir_writer writer;
  assert_int_equal(weir_writer_open_file(&writer, file, &options, NULL), 0);
  assert_int_equal(put_all(&writer, content, 1000, 33), 0);
  assert_int_equal(finished(&writer), 0);
  assert_int_equal(weir_file_close(file, NULL), 0);
  assert_int_equal(close(ends[1]), 0);
  char got[1001];
  size_t size = 0;
  for (ssize_t count; (count = read(ends[0], got + size, sizeof got - size)) > 0;) size += (size_t)count;
  assert_int_equal(size, 1000);
  assert_memory_equal(got, content, 1000);
  assert_int_equal(close(ends[0]), 0);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(every_buffer_is_filled_exactly),
      TEST(every_size_of_file_ends_right),
      TEST(reserved_room_fills_buffers_exactly_too),
      TEST(reserves_up_to_64_kib),
      TEST(lines_get_their_newline),
      TEST(large_pieces_pass_the_buffer_by),
      TEST(flush_hands_over_what_is_there),
      TEST(refuses_bad_arguments),
      TEST(a_writer_that_is_not_open_says_so),
      TEST(what_is_not_a_file_is_refused),
      TEST(an_old_file_is_cut_at_the_open_unless_atomic),
      TEST(what_cannot_be_opened_is_not_cut),
      TEST(locks_are_kept),
      TEST(appends_at_the_end),
      TEST(two_appenders_lose_nothing),
      TEST(abandoned_appending_keeps_what_was_there),
      TEST(direct_files_have_the_right_tail),
      TEST(uncached_files_have_the_right_bytes),
      TEST(direct_flushes_and_appends_go_on_where_they_were),
      TEST(only_what_is_not_aligned_goes_through_the_cache),
      TEST(refused_uncached_transfers_are_told),
      TEST(reserved_space_that_is_not_used_goes),
      TEST(writing_back_begins_at_the_pace),
      TEST(abandoned_writers_leave_what_they_say),
      TEST(a_forked_child_cannot_use_it),
      TEST(the_first_error_stays),
      TEST(every_call_may_fail),
      TEST(memory_may_be_short_everywhere),
      TEST(writes_from_the_position_of_a_file),
      TEST(appends_to_an_open_file),
      TEST(open_files_are_refused_where_they_must_be),
      TEST(space_that_cannot_be_had_lengthens_no_open_file),
      TEST(writes_to_a_pipe_through_a_descriptor),
      TEST(refused_direct_transfers_are_told), /* last: it is remembered */
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
