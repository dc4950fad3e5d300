/*
 * test_lib_count.c - lines by several threads, and counting them: every cut of small files at every size of the segments,
 * against the serial answer; errors, ends asked for by the caller, and lack of threads and memory.
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "lib/lines.h"
#include "tests/lib/inject.h"

#define NUMBER_OF(array) (sizeof(array) / sizeof(array)[0])
#define LONG_20 "abcdefghijklmnopqrst"

struct text {
  const char *data;
  size_t size;
};
#define TEXT(literal) \
  { literal, sizeof literal - 1 }

static const struct text texts[] = {
    TEXT(""),
    TEXT("\n"),
    TEXT("a"),
    TEXT("\n\n\n\n\n\n\n"),
    TEXT("one\ntwo\nthree\n\nfive, the last"),
    TEXT("one\r\ntwo\r\n\r\nfour\r\n"),
    TEXT("\xef\xbb\xbfmarked\r\nnul\0here\nlone\rcr\r"),
    TEXT("x\n" LONG_20 LONG_20 LONG_20 "\ny\n" LONG_20),
    TEXT(LONG_20 LONG_20 LONG_20 LONG_20 LONG_20 LONG_20 LONG_20 "\n"),
    TEXT(LONG_20 LONG_20 LONG_20 LONG_20 "\nonce\nand this, too\r\n"),
};

static uint64_t lines_in(const char *data, size_t size) {
  uint64_t count = 0;
  for (size_t i = 0; i < size; i++) count += data[i] == '\n';
  return count + (size && data[size - 1] != '\n');
}

/* ---- counting ---- */

static void every_cut_is_counted(void **state) {
  const struct path path = path_in(*state, "text");
  for (size_t t = 0; t < NUMBER_OF(texts); t++) {
    for (size_t size = 0; size <= texts[t].size; size++) {
      put_content(path.text, texts[t].data, size);
      for (uint64_t segment = 1; segment < 12; segment++) {
        for (unsigned threads = 0; threads <= 3; threads++) {
          uint64_t count = 77;
          assert_int_equal(
              weir__count_lines(path.text, (struct weir__together){.threads = threads, .segment = segment}, &count, NULL),
              0);
          assert_int_equal(count, lines_in(texts[t].data, size));
        }
      }
    }
  }
}

static char *make_large(size_t size) {
  char *data = malloc(size);
  assert_non_null(data);
  uint32_t seed = 7;
  for (size_t i = 0; i < size; i++) {
    seed = seed * 1664525u + 1013904223u;
    data[i] = seed >> 24 < 5 ? '\n' : seed >> 24 < 9 ? '\r' : (char)(seed >> 20);
  }
  memset(data + size / 3, 'g', size / 3 + 5); /* a line over several segments */
  return data;
}

static void large_files_are_counted(void **state) {
  const struct path path = path_in(*state, "large");
  const size_t size = 20 * MIB + 333;
  char *data = make_large(size);
  put_content(path.text, data, size);
  for (unsigned threads = 0; threads < 6; threads++) {
    uint64_t count = 0;
    assert_int_equal(weir_count_lines(path.text, threads, NULL, &count, NULL), 0);
    assert_int_equal(count, lines_in(data, size));
  }
  free(data);
}

static void mapped_files_are_counted(void **state) {
  const struct path path = path_in(*state, "mapped");
  const struct weir_lines_options mapped = {.strategy = WEIR_MAPPED};
  const size_t size = 5 * MIB + 333;
  char *data = make_large(size);
  for (size_t cut = 0; cut < 4; cut++) { /* empty, one byte, a whole number of segments, and not */
    const size_t length = (const size_t[]){0, 1, 4 * MIB, size}[cut];
    put_content(path.text, data, length);
    for (unsigned threads = 0; threads < 4; threads++) {
      uint64_t count = 7;
      assert_int_equal(weir_count_lines(path.text, threads, &mapped, &count, NULL), 0);
      assert_int_equal(count, lines_in(data, length));
    }
  }
  free(data);
}

static void options_that_mean_nothing_are_refused(void **state) {
  const struct path path = path_in(*state, "large");
  const struct weir_lines_options options = {.flags = WEIR_KEEP_CR};
  uint64_t count;
  put_content(path.text, "a\n", 2);
  assert_int_equal(weir_count_lines(path.text, 1, &options, &count, NULL), WEIR_EINVAL);
}

static void what_cannot_be_counted_says_why(void **state) {
  const struct path none = path_in(*state, "none"), fifo = path_in(*state, "fifo");
  struct weir_error error;
  uint64_t count;
  assert_int_equal(mkfifo(fifo.text, 0600), 0);
  for (unsigned threads = 0; threads < 3; threads++) {
    assert_int_equal(weir_count_lines(none.text, threads, NULL, &count, &error), WEIR_ENOENT);
    assert_string_equal(error.path, none.text);
    assert_int_equal(weir_count_lines(*state, threads, NULL, &count, NULL), WEIR_EISDIR);
    assert_int_equal(weir_count_lines(fifo.text, threads, NULL, &count, NULL), WEIR_ENOTREG);
    assert_int_equal(weir_count_lines(none.text, threads, NULL, NULL, NULL), WEIR_EINVAL);
  }
}

static void files_of_proc_are_counted(void **state) {
  static const char path[] = "/proc/filesystems";
  char data[65536];
  const size_t size = get_content(path, data, sizeof data);
  if (size == SIZE_MAX) skip_because("%s is not there", path);
  for (unsigned threads = 0; threads < 4; threads++) {
    uint64_t count;
    assert_int_equal(weir_count_lines(path, threads, NULL, &count, NULL), 0);
    assert_int_equal(count, lines_in(data, size));
  }
}

static ssize_t (*real_pread)(int fd, void *data, size_t size, off_t offset);
static unsigned calls, fail_at;
static ssize_t failing_pread(int fd, void *data, size_t size, off_t offset) {
  if (__atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST) == fail_at) {
    errno = EIO;
    return -1;
  }
  return real_pread(fd, data, size > 3 ? 3 : size, offset);
}
static int no_thread(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *context) {
  return EAGAIN;
}

static void an_error_is_told_at_every_place(void **state) {
  const struct path path = path_in(*state, "text");
  const struct text *text = &texts[4];
  put_content(path.text, text->data, text->size);
  for (fail_at = 0; fail_at < 20; fail_at++) {
    uint64_t count = 0;
    struct weir_error error = {0};
    calls = 0;
    real_pread = (ssize_t(*)(int, void *, size_t, off_t))os_override("pread", (os_function *)failing_pread);
    const int code = weir__count_lines(path.text, (struct weir__together){.threads = 2, .segment = 5}, &count, &error);
    restore("pread");
    if (fail_at && calls >= fail_at) {
      assert_int_equal(code, WEIR_EIO);
      assert_int_equal(error.code, WEIR_EIO);
      assert_string_equal(error.path, path.text);
    } else {
      assert_int_equal(code, 0);
      assert_int_equal(count, lines_in(text->data, text->size));
    }
  }
}

static void without_threads_and_memory(void **state) {
  const struct path path = path_in(*state, "text");
  const struct text *text = &texts[4];
  uint64_t count;
  put_content(path.text, text->data, text->size);
  replace("pthread_create", (os_function *)no_thread);
  assert_int_equal(weir__count_lines(path.text, (struct weir__together){.threads = 4, .segment = 5}, &count, NULL), 0);
  assert_int_equal(count, lines_in(text->data, text->size));
  restore("pthread_create");
  bool hit = true;
  for (unsigned at = 1; hit; at++) {
    inject_memory_arm(at);
    const int code = weir__count_lines(path.text, (struct weir__together){.threads = 2, .segment = 5}, &count, NULL);
    hit = inject_memory_disarm();
    assert_true(code == 0 || (hit && code == WEIR_ENOMEM));
    if (code == 0) assert_int_equal(count, lines_in(text->data, text->size));
  }
}

/* ---- all lines by several threads ---- */

/* A line is known by where it begins; each must come once, with the bytes that the serial reader gives. */
struct collected {
  const char *data;
  size_t size;
  unsigned threads;
  pthread_mutex_t lock;
  unsigned char *seen; /* times that a line or part was seen to begin at each byte; one more for an empty file */
  uint64_t bytes, lines;
  int stop_at;
};

static int collect(void *context, unsigned thread, uint64_t offset, const struct weir_batch *batch) {
  struct collected *collected = context;
  (void)pthread_mutex_lock(&collected->lock);
  assert_true(thread < collected->threads);
  assert_int_equal(batch->number, 0);
  for (size_t i = 0; i < batch->count; i++) {
    const struct weir_slice line = weir_batch_line(batch, i);
    const uint64_t at = offset + (uint64_t)(line.data - (batch->base + batch->begin));
    assert_true(at < collected->size);
    assert_memory_equal(line.data, collected->data + at, line.size);
    collected->seen[at]++;
    collected->bytes += line.size;
    collected->lines++;
  }
  const int result = collected->stop_at && collected->lines >= (uint64_t)collected->stop_at ? -collected->stop_at : 0;
  (void)pthread_mutex_unlock(&collected->lock);
  return result;
}

static void check_against_serial(const struct collected *collected, const struct weir_lines_options *options) {
  struct weir_lines lines;
  struct weir_slice line;
  uint64_t bytes = 0, count = 0, offset;
  assert_int_equal(weir_lines_open_memory(&lines, collected->data, collected->size, options, NULL), 0);
  while (weir_lines_next(&lines, &line) > 0) {
    weir_lines_position(&lines, &offset, NULL);
    assert_int_equal(collected->seen[offset], 1);
    bytes += line.size;
    count++;
  }
  assert_int_equal(weir_lines_close(&lines, NULL), 0);
  assert_int_equal(collected->bytes, bytes);
  assert_int_equal(collected->lines, count);
}

static struct collected make_collected(const char *data, size_t size, unsigned threads) {
  struct collected collected = {.data = data, .size = size, .threads = threads, .lock = PTHREAD_MUTEX_INITIALIZER};
  collected.seen = calloc(size + 1, 1);
  assert_non_null(collected.seen);
  return collected;
}

static void check_parallel(const char *path, const struct text *text, struct weir__together together,
                           const struct weir_lines_options *options) {
  struct collected collected = make_collected(text->data, text->size, together.threads ? together.threads : 1024);
  const int code = weir__lines_parallel(path, together, options, collect, &collected, NULL);
  if (code) fail_msg("%d", code);
  check_against_serial(&collected, options);
  free(collected.seen);
}

static void every_cut_gives_each_line_once(void **state) {
  const struct path path = path_in(*state, "text");
  for (size_t t = 0; t < NUMBER_OF(texts); t++) {
    for (size_t cut = 0; cut < 6 && cut <= texts[t].size; cut++) {
      const struct text text = {texts[t].data, texts[t].size - cut};
      put_content(path.text, text.data, text.size);
      for (uint64_t segment = 1; segment < 70; segment += segment < 12 ? 1 : 9) {
        for (size_t block = 0; block < 40; block += 3) {
          const struct weir_lines_options options = {.block_bytes = block,
                                                     .strategy = block < 30 ? WEIR_AUTO : WEIR_MAPPED,
                                                     .flags = block % 2 ? WEIR_SKIP_BOM : WEIR_KEEP_CR};
          check_parallel(path.text, &text, (struct weir__together){.threads = block % 4, .segment = segment}, &options);
        }
      }
    }
  }
}

static void long_lines_belong_to_where_they_begin(void **state) {
  const struct path path = path_in(*state, "text");
  static const unsigned policies[] = {WEIR_LONG_PARTS, WEIR_LONG_SKIP};
  for (size_t t = 0; t < NUMBER_OF(texts); t++) {
    put_content(path.text, texts[t].data, texts[t].size);
    for (uint64_t segment = 1; segment < 70; segment += 4) {
      for (size_t limit = 1; limit < 60; limit += 6) {
        for (size_t p = 0; p < 4; p++) {
          const struct weir_lines_options options = {.max_line = limit,
                                                     .flags = policies[p % 2],
                                                     .strategy = p < 2 ? WEIR_AUTO : WEIR_MAPPED,
                                                     .block_bytes = limit % 11};
          check_parallel(path.text, &texts[t], (struct weir__together){.threads = 2, .segment = segment}, &options);
        }
      }
    }
  }
}

static void large_files_come_whole_by_every_strategy(void **state) {
  const struct path path = path_in(*state, "large");
  const size_t size = 9 * MIB + 333;
  char *data = make_large(size);
  const struct text text = {data, size};
  put_content(path.text, data, size);
  for (int strategy = WEIR_AUTO; strategy <= WEIR_THREADS; strategy++) {
    for (unsigned threads = 0; threads < 4; threads++) {
      struct collected collected = make_collected(text.data, text.size, threads ? threads : 1024);
      const struct weir_lines_options options = {.strategy = (enum weir_strategy)strategy};
      const int code = weir_lines_parallel(path.text, threads, &options, collect, &collected, NULL);
      if (code)
        assert_true(strategy == WEIR_DIRECT || strategy == WEIR_UNCACHED || strategy == WEIR_RING);
      else
        check_against_serial(&collected, &(struct weir_lines_options){0});
      free(collected.seen);
    }
  }
  free(data);
}

static void a_value_ends_all_and_is_returned(void **state) {
  const struct path path = path_in(*state, "text");
  const struct text *text = &texts[3];
  put_content(path.text, text->data, text->size);
  for (int stop = 1; stop < 7; stop++) {
    struct weir_error error = {.code = 5};
    struct collected collected = make_collected(text->data, text->size, 2);
    collected.stop_at = stop;
    assert_int_equal(weir__lines_parallel(path.text, (struct weir__together){.threads = 2, .segment = 1}, NULL, collect,
                                          &collected, &error),
                     -stop);
    assert_int_equal(error.code, 5); /* nothing of the library's failed */
    free(collected.seen);
  }
}

static void errors_of_parallel_lines(void **state) {
  const struct path path = path_in(*state, "text"), none = path_in(*state, "none"), fifo = path_in(*state, "fifo");
  const struct text *text = &texts[4];
  struct collected collected = make_collected(text->data, text->size, 2);
  struct weir_error error = {0};
  put_content(path.text, text->data, text->size);
  assert_int_equal(weir_lines_parallel(none.text, 2, NULL, collect, &collected, &error), WEIR_ENOENT);
  assert_int_equal(weir_lines_parallel(fifo.text, 2, NULL, collect, &collected, NULL), WEIR_ENOTREG);
  assert_int_equal(weir_lines_parallel(path.text, 2, NULL, NULL, NULL, NULL), WEIR_EINVAL);
  const struct weir_lines_options wrong[] = {{.flags = WEIR_EXACT}, {.flags = WEIR_ANY_KIND}};
  for (size_t i = 0; i < 2; i++) {
    assert_int_equal(weir_lines_parallel(path.text, 2, &wrong[i], collect, &collected, NULL), WEIR_EINVAL);
  }
  const struct weir_lines_options shorter = {.max_line = 2};
  assert_int_equal(weir_lines_parallel(path.text, 2, &shorter, collect, &collected, &error), WEIR_ELIMIT);
  assert_int_equal(error.code, WEIR_ELIMIT);
  assert_string_equal(error.path, path.text);
  bool hit = true;
  for (unsigned at = 1; hit; at++) {
    inject_memory_arm(at);
    const int code = weir__lines_parallel(path.text, (struct weir__together){.threads = 2, .segment = 5}, NULL, collect,
                                          &collected, NULL);
    hit = inject_memory_disarm();
    assert_true(code == 0 || (hit && code == WEIR_ENOMEM));
  }
  free(collected.seen);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_cut_is_counted),
      cmocka_unit_test(large_files_are_counted),
      cmocka_unit_test(mapped_files_are_counted),
      cmocka_unit_test(options_that_mean_nothing_are_refused),
      cmocka_unit_test(what_cannot_be_counted_says_why),
      cmocka_unit_test(files_of_proc_are_counted),
      cmocka_unit_test(an_error_is_told_at_every_place),
      cmocka_unit_test(without_threads_and_memory),
      cmocka_unit_test(every_cut_gives_each_line_once),
      cmocka_unit_test(long_lines_belong_to_where_they_begin),
      cmocka_unit_test(large_files_come_whole_by_every_strategy),
      cmocka_unit_test(a_value_ends_all_and_is_returned),
      cmocka_unit_test(errors_of_parallel_lines),
  };
  return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
