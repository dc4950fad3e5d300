/*
 * test_lib_lines.c - lines against a simple reference: every cut of a small text at every block size, policies for what is
 * too long, all ways of opening, files that change, and failures at every place.
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "lib/lines.h"
#include "tests/lib/inject.h"

/* ---- the reference ---- */

struct event {
  int result; /* 1: a line; else an error */
  size_t begin, size;
  uint64_t offset, number;
  unsigned marks;
};
struct reference {
  struct event *events;
  size_t count;
  uint64_t skipped;
};

static void add_event(struct reference *r, struct event event) {
  r->events = realloc(r->events, (r->count + 1) * sizeof *r->events);
  assert_non_null(r->events);
  r->events[r->count++] = event;
}

static struct reference refer(const char *text, size_t size, const struct weir_lines_options *options) {
  struct reference r = {0};
  const size_t most = options->max_line ? options->max_line : (size_t)64 << 20;
  size_t at = (options->flags & WEIR_SKIP_BOM) && size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  for (uint64_t number = 1; at < size; number++) {
    const char *newline = memchr(text + at, '\n', size - at);
    const size_t end = newline ? (size_t)(newline - text) : size, next = newline ? end + 1 : end;
    size_t content = end - at;
    if (newline && !(options->flags & WEIR_KEEP_CR) && content && text[end - 1] == '\r') content--;
    for (; content > most && (options->flags & WEIR_LONG_PARTS); at += most, content -= most) {
      add_event(&r, (struct event){1, at, most, at, number, WEIR_LINE_PART});
    }
    if (content <= most)
      add_event(&r, (struct event){1, at, content, at, number, newline ? 0 : WEIR_LINE_NO_NEWLINE});
    else if (options->flags & WEIR_LONG_SKIP)
      r.skipped++;
    else
      add_event(&r, (struct event){WEIR_ELIMIT, at, 0, at, number, 0});
    at = next;
  }
  return r;
}

static void check_line(const char *text, const struct event *want, struct weir_slice line) {
  if (line.size != want->size || memcmp(line.data, text + want->begin, line.size) != 0) {
    fail_msg("line at %zu has %zu bytes \"%.*s\", wanted %zu", want->begin, line.size, (int)line.size, line.data,
             want->size);
  }
}

static void check_place(const struct weir_lines *lines, const struct event *want) {
  uint64_t offset, number;
  weir_lines_position(lines, &offset, &number);
  assert_int_equal(offset, want->offset);
  assert_int_equal(number, want->number);
  assert_int_equal(weir_lines_marks(lines), want->marks);
}

static void check_error(const struct weir_lines *lines, const struct event *want, int result) {
  assert_int_equal(result, want->result);
  assert_int_equal(weir_lines_error(lines)->code, want->result);
  assert_int_equal(weir_lines_error(lines)->offset, want->offset);
}

/* Takes `how_many` lines by next, then a batch, and so on; 0: batches only; SIZE_MAX: next only. */
static void check_all(struct weir_lines *lines, const char *text, const struct reference *r, size_t how_many) {
  size_t at = 0;
  int result = 1, first_error = 0;
  while (result != 0) {
    struct weir_slice line;
    struct weir_batch batch;
    size_t i = 0;
    for (; i < how_many && (result = weir_lines_next(lines, &line)) != 0; i++, at++) {
      assert_true(at < r->count);
      if (result < 0) {
        check_error(lines, &r->events[at], result);
        if (!first_error) first_error = result;
      } else {
        check_line(text, &r->events[at], line);
        check_place(lines, &r->events[at]);
      }
    }
    if (result == 0 || how_many == SIZE_MAX) continue;
    result = weir_lines_batch(lines, &batch);
    if (result < 0) {
      check_error(lines, &r->events[at++], result);
      if (!first_error) first_error = result;
    } else if (result > 0) {
      assert_int_equal(batch.number, r->events[at].number);
      assert_true(batch.gap <= 2);
      for (i = 0; i < batch.count; i++) {
        line = weir_batch_line(&batch, i);
        check_line(text, &r->events[at + i], line);
        assert_memory_equal(line.data + line.size, &"\r\n"[2 - batch.gap], batch.gap);
      }
      at += batch.count;
      check_place(lines, &r->events[at - 1]);
    }
  }
  assert_int_equal(at, r->count);
  assert_int_equal(lines->skipped, r->skipped);
  struct weir_slice line;
  assert_int_equal(weir_lines_next(lines, &line), 0); /* the end stays the end */
  if (r->count && r->events[r->count - 1].result > 0) check_place(lines, &r->events[r->count - 1]);
  assert_int_equal(weir_lines_close(lines, NULL), first_error);
  assert_int_equal(weir_lines_close(lines, NULL), 0);
}

/* ---- texts ---- */

struct text {
  const char *data;
  size_t size;
};
#define TEXT(literal) \
  { literal, sizeof literal - 1 }

#define LONG_20 "abcdefghijklmnopqrst"
#define LONG_100 LONG_20 LONG_20 LONG_20 LONG_20 LONG_20

static const struct text texts[] = {
    TEXT(""),
    TEXT("\n"),
    TEXT("\r\n"),
    TEXT("\r"),
    TEXT("a"),
    TEXT("\n\n\n\n"),
    TEXT("one\ntwo\nthree\n\nfive, the last"),
    TEXT("one\r\ntwo\r\n\r\nfour\r\n"),
    TEXT("mixed\r\nends\nlone\rcr\r\r\nnul\0here\n\rfirst\nlast\r"),
    TEXT("\xef\xbb\xbfmarked\nsecond\xef\xbb\xbf\n"),
    TEXT("\xef\xbb\xbf"),
    TEXT("\xef\xbb"),
    TEXT("\xef\xbb\n"),
    TEXT("x\n" LONG_100 LONG_20 "\r\ny\n" LONG_100 LONG_100),
    TEXT(LONG_100 LONG_100 LONG_100 "\n" LONG_20 "\n"),
};
#define TEXTS (sizeof texts / sizeof texts[0])

static struct path text_path(void **state) { return path_in(*state, "text"); }

/* ---- every block size, every cut ---- */

static void check_file(const char *path, const struct text *text, const struct weir_lines_options *options,
                       size_t how_many) {
  struct reference r = refer(text->data, text->size, options);
  struct weir_lines lines;
  assert_int_equal(weir_lines_open(&lines, path, options, NULL), 0);
  check_all(&lines, text->data, &r, how_many);
  free(r.events);
}

static void every_block_size_gives_the_same_lines(void **state) {
  const struct path path = text_path(state);
  for (size_t t = 0; t < TEXTS; t++) {
    put_content(path.text, texts[t].data, texts[t].size);
    for (size_t block = 0; block <= 66; block++) {
      for (unsigned flags = 0; flags < 4; flags++) {
        const struct weir_lines_options options = {
            .block_bytes = block, .flags = (flags & 1 ? WEIR_KEEP_CR : 0) | (flags & 2 ? WEIR_SKIP_BOM : 0)};
        check_file(path.text, &texts[t], &options, flags == 3 ? 2 : flags == 2 ? 0 : SIZE_MAX);
      }
    }
  }
}

/* The text ends after each of its bytes. */
static void every_cut_gives_the_same_lines(void **state) {
  static const char whole[] = "ab\r\n\r\n\ncd\0e\r\rf\r\n" LONG_20 LONG_20 LONG_20 "-" LONG_20 "\r\ng\nlast\r\n";
  const struct path path = text_path(state);
  for (size_t size = 0; size < sizeof whole; size++) {
    const struct text text = {whole, size};
    put_content(path.text, whole, size);
    for (size_t block = 1; block <= 64; block++) {
      check_file(path.text, &text, &(struct weir_lines_options){.block_bytes = block}, block % 2 ? SIZE_MAX : 1);
    }
  }
}

static const unsigned policies[] = {0, WEIR_LONG_PARTS, WEIR_LONG_SKIP};
static const size_t limits[] = {1, 2, 3, 4, 5, 19, 20, 21, 63, 64, 65, 66, 99, 119, 120, 121, 199, 200, 201, 300};
static const size_t few_blocks[] = {1, 2, 3, 7, 16, 63, 64, 65, 120, 0};

static void what_is_too_long_is_treated_as_asked(void **state) {
  const struct path path = text_path(state);
  for (size_t t = 0; t < TEXTS; t++) {
    put_content(path.text, texts[t].data, texts[t].size);
    for (size_t l = 0; l < sizeof limits / sizeof limits[0]; l++) {
      for (size_t p = 0; p < 12; p++) {
        const unsigned flags = policies[p % 3] | (p % 2 ? WEIR_KEEP_CR : 0) | (p / 6 ? WEIR_SKIP_BOM : 0);
        struct weir_lines_options options = {.max_line = limits[l], .flags = flags};
        for (size_t b = 0; b < sizeof few_blocks / sizeof few_blocks[0]; b++) {
          options.block_bytes = few_blocks[b];
          check_file(path.text, &texts[t], &options, b % 3 == 0 ? 0 : b % 3 == 1 ? 1 : SIZE_MAX);
        }
        struct reference r = refer(texts[t].data, texts[t].size, &options);
        struct weir_lines lines;
        assert_int_equal(weir_lines_open_memory(&lines, texts[t].data, texts[t].size, &options, NULL), 0);
        check_all(&lines, texts[t].data, &r, p % 2 ? 0 : SIZE_MAX);
        free(r.events);
      }
    }
  }
}

/* ---- memory, open files, strategies ---- */

static void lines_of_memory_are_not_copied(void **state) {
  struct weir_lines lines;
  struct weir_slice line;
  static const char data[] = "one\ntwo";
  assert_int_equal(weir_lines_open_memory(&lines, data, 7, NULL, NULL), 0);
  assert_int_equal(weir_lines_next(&lines, &line), 1);
  assert_ptr_equal(line.data, data);
  assert_int_equal(weir_lines_next(&lines, &line), 1);
  assert_ptr_equal(line.data, data + 4);
  assert_int_equal(weir_lines_close(&lines, NULL), 0);
  assert_int_equal(weir_lines_open_memory(&lines, NULL, 0, NULL, NULL), 0);
  assert_int_equal(weir_lines_next(&lines, &line), 0);
  assert_int_equal(weir_lines_close(&lines, NULL), 0);
}

static void memory_before_a_page_that_must_not_be_touched(void **state) {
  const size_t page = os_page_size();
  char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(pages != MAP_FAILED);
  assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
  for (size_t t = 0; t < TEXTS; t++) {
    char *data = pages + page - texts[t].size;
    memcpy(data, texts[t].data, texts[t].size);
    const struct weir_lines_options options = {0};
    struct reference r = refer(data, texts[t].size, &options);
    struct weir_lines lines;
    assert_int_equal(weir_lines_open_memory(&lines, data, texts[t].size, &options, NULL), 0);
    check_all(&lines, data, &r, 0);
    free(r.events);
  }
  (void)munmap(pages, 2 * page);
}

/* Numbered lines of all lengths, some longer than any block. */
static struct text make_large(size_t size) {
  char *data = malloc(size);
  assert_non_null(data);
  uint32_t seed = 1;
  for (size_t at = 0; at < size;) {
    seed = seed * 1664525u + 1013904223u;
    size_t length = seed >> 24 == 0 ? 100000 + (seed & 0xffff) * 8 : (seed >> 16) % 97;
    for (; length && at < size; length--, at++) data[at] = (char)('a' + (at + length) % 26);
    if (at < size && seed % 5 == 0) data[at++] = '\r';
    if (at < size) data[at++] = '\n';
  }
  return (struct text){data, size};
}

static void all_strategies_give_the_same_lines(void **state) {
  const struct path path = path_in(*state, "large");
  const struct text text = make_large(5 * MIB + 4321);
  put_content(path.text, text.data, text.size);
  for (int strategy = WEIR_AUTO; strategy <= WEIR_THREADS; strategy++) {
    for (size_t block = 0; block <= 8192; block += 4096) {
      const struct weir_lines_options options = {.strategy = (enum weir_strategy)strategy, .block_bytes = block};
      struct reference r = refer(text.data, text.size, &options);
      struct weir_lines lines;
      const int code = weir_lines_open(&lines, path.text, &options, NULL);
      if (code) {
        printf("[  SKIPPED ] %s: %s\n", weir_strategy_name(options.strategy), weir_strerror(code));
        assert_true(strategy != WEIR_AUTO && strategy != WEIR_BUFFERED && strategy != WEIR_MAPPED &&
                    strategy != WEIR_THREADS);
      } else {
        check_all(&lines, text.data, &r, block == 4096 ? 3 : block ? SIZE_MAX : 0);
      }
      free(r.events);
    }
  }
  free((char *)text.data);
}

static void an_open_file_is_read_from_its_position_and_left_behind_the_line(void **state) {
  const struct path path = text_path(state);
  static const char data[] = "one\ntwo\r\nthree\nfour";
  put_content(path.text, data, sizeof data - 1);
  for (size_t block = 0; block < 8; block++) {
    const struct weir_lines_options options = {.block_bytes = block};
    struct weir_file *file;
    struct weir_lines lines;
    struct weir_slice line;
    uint64_t offset, number;
    assert_int_equal(weir_file_open(path.text, NULL, &file, NULL), 0);
    assert_int_equal(weir_file_seek(file, 4), 0);
    assert_int_equal(weir_lines_open_file(&lines, file, &options, NULL), 0);
    assert_int_equal(weir_lines_close(&lines, NULL), 0);
    assert_int_equal(weir_file_tell(file), 4); /* nothing was given */
    assert_int_equal(weir_lines_open_file(&lines, file, &options, NULL), 0);
    assert_int_equal(weir_lines_next(&lines, &line), 1);
    assert_memory_equal(line.data, "two", 3);
    weir_lines_position(&lines, &offset, &number);
    assert_int_equal(offset, 4);
    assert_int_equal(number, 1);
    assert_int_equal(weir_lines_close(&lines, NULL), 0);
    assert_int_equal(weir_file_tell(file), 9);
    assert_int_equal(weir_lines_open_file(&lines, file, &options, NULL), 0);
    while (weir_lines_next(&lines, &line) > 0) continue;
    assert_int_equal(weir_lines_close(&lines, NULL), 0);
    assert_int_equal(weir_file_tell(file), sizeof data - 1);
    assert_int_equal(weir_file_close(file, NULL), 0);
  }
}

static void a_file_open_for_writing_is_refused(void **state) {
  const struct path path = path_in(*state, "written");
  struct weir_file *file;
  struct weir_lines lines;
  struct weir_error error;
  assert_int_equal(weir_file_open(path.text, &(struct weir_open_options){.access = WEIR_OPEN_WRITE}, &file, NULL), 0);
  assert_int_equal(weir_lines_open_file(&lines, file, NULL, &error), WEIR_EBADF);
  assert_int_equal(error.code, WEIR_EBADF);
  assert_int_equal(weir_lines_close(&lines, &error), WEIR_EBADF);
  assert_int_equal(weir_lines_close(&lines, &error), 0);
  assert_int_equal(weir_file_close(file, NULL), 0);
}

/* ---- what is not a plain file ---- */

static void what_cannot_be_opened_says_why(void **state) {
  struct weir_lines lines;
  struct weir_error error;
  struct weir_slice line;
  const struct path none = path_in(*state, "none"), fifo = path_in(*state, "refused-fifo");
  assert_int_equal(weir_lines_open(&lines, none.text, NULL, &error), WEIR_ENOENT);
  assert_string_equal(error.path, none.text);
  assert_int_equal(weir_lines_next(&lines, &line), WEIR_ENOENT);
  assert_int_equal(weir_lines_marks(&lines), 0);
  assert_int_equal(weir_lines_error(&lines)->code, 0);
  assert_int_equal(weir_lines_close(&lines, &error), WEIR_ENOENT); /* one check is enough, and what the open said stays */
  assert_string_equal(error.path, none.text);
  assert_int_equal(weir_lines_next(&lines, &line), WEIR_EBADF);
  assert_int_equal(weir_lines_close(&lines, NULL), 0);
  assert_int_equal(weir_lines_open(&lines, *state, NULL, NULL), WEIR_EISDIR);
  assert_int_equal(mkfifo(fifo.text, 0600), 0);
  assert_int_equal(weir_lines_open(&lines, fifo.text, NULL, NULL), WEIR_ENOTREG); /* without waiting */
  assert_int_equal(weir_lines_open(&lines, NULL, NULL, NULL), WEIR_EINVAL);
  assert_int_equal(weir_lines_open(NULL, none.text, NULL, NULL), WEIR_EINVAL);
}

static void what_is_not_known_is_refused(void **state) {
  struct weir_lines lines;
  const struct path path = text_path(state);
  put_content(path.text, "a\n", 2);
  const struct weir_lines_options wrong[] = {{.flags = WEIR_EXACT},
                                             {.flags = 1u << 30},
                                             {.flags = WEIR_LONG_PARTS | WEIR_LONG_SKIP},
                                             {.strategy = (enum weir_strategy)99},
                                             {.reserved = {0, 0, 1}}};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    assert_int_equal(weir_lines_open(&lines, path.text, &wrong[i], NULL), WEIR_EINVAL);
    assert_int_equal(weir_lines_open_memory(&lines, "a", 1, &wrong[i], NULL), WEIR_EINVAL);
  }
}

struct pieces {
  const char *path;
  const struct text *text;
};

static void *write_pieces(void *context) {
  const struct pieces *pieces = context;
  int fd = open(pieces->path, O_WRONLY | O_CLOEXEC);
  for (size_t at = 0, step = 1; fd >= 0 && at < pieces->text->size; at += step, step = step % 5 + 1) {
    if (step > pieces->text->size - at) step = pieces->text->size - at;
    if (write(fd, pieces->text->data + at, step) != (ssize_t)step) break;
    os_thread_yield();
  }
  if (fd >= 0) (void)close(fd);
  return NULL;
}

static void a_fifo_comes_as_it_is_written(void **state) {
  const struct path path = path_in(*state, "fifo");
  assert_int_equal(mkfifo(path.text, 0600), 0);
  for (size_t t = 0; t < TEXTS; t++) {
    for (size_t block = 0; block <= 65; block += 13) {
      const struct weir_lines_options options = {.block_bytes = block, .flags = WEIR_ANY_KIND};
      struct pieces pieces = {path.text, &texts[t]};
      struct reference r = refer(texts[t].data, texts[t].size, &options);
      struct weir_lines lines;
      pthread_t writer;
      assert_int_equal(pthread_create(&writer, NULL, write_pieces, &pieces), 0);
      assert_int_equal(weir_lines_open(&lines, path.text, &options, NULL), 0);
      check_all(&lines, texts[t].data, &r, SIZE_MAX);
      assert_int_equal(pthread_join(writer, NULL), 0);
      free(r.events);
    }
  }
}

/* A line is given as soon as its newline is there, though the block is not full and the writer waits. */
static void a_line_of_a_pipe_does_not_wait_for_more(void **state) {
  int ends[2];
  struct weir_file *file;
  struct weir_lines lines;
  struct weir_slice line;
  assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
  assert_int_equal(weir_file_from(ends[0], WEIR_OPEN_READ, &file, NULL), 0);
  assert_int_equal(weir_lines_open_file(&lines, file, NULL, NULL), 0);
  assert_int_equal(write(ends[1], "one\ntw", 6), 6);
  assert_int_equal(weir_lines_next(&lines, &line), 1);
  assert_int_equal(line.size, 3);
  assert_int_equal(write(ends[1], "o\n", 2), 2);
  assert_int_equal(weir_lines_next(&lines, &line), 1);
  assert_memory_equal(line.data, "two", 3);
  assert_int_equal(close(ends[1]), 0);
  assert_int_equal(weir_lines_next(&lines, &line), 0);
  assert_int_equal(weir_lines_close(&lines, NULL), 0);
  assert_int_equal(weir_file_close(file, NULL), 0);
  assert_int_equal(close(ends[0]), 0);
}

static void files_of_proc_tell_no_size_and_have_lines(void **state) {
  static const char *const paths[] = {"/proc/filesystems", "/proc/self/limits", "/proc/version"};
  for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
    if (access(paths[i], R_OK)) skip_because("%s is not there", paths[i]);
    for (int strategy = WEIR_AUTO; strategy <= WEIR_MAPPED; strategy++) {
      FILE *file = fopen(paths[i], "re");
      struct weir_lines lines;
      struct weir_slice line;
      char *want = NULL;
      size_t capacity = 0;
      assert_non_null(file);
      const struct weir_lines_options options = {.strategy = (enum weir_strategy)strategy, .block_bytes = 100};
      assert_int_equal(weir_lines_open(&lines, paths[i], &options, NULL), 0);
      for (ssize_t size; (size = getline(&want, &capacity, file)) > 0;) {
        assert_int_equal(weir_lines_next(&lines, &line), 1);
        assert_int_equal(line.size, (size_t)size - (want[size - 1] == '\n'));
        assert_memory_equal(line.data, want, line.size);
      }
      assert_int_equal(weir_lines_next(&lines, &line), 0);
      assert_int_equal(weir_lines_close(&lines, NULL), 0);
      free(want);
      (void)fclose(file);
    }
  }
}

/* ---- files that change ---- */

static void a_file_that_grows_is_read_to_its_new_end(void **state) {
  const struct path path = text_path(state);
  struct weir_lines lines;
  struct weir_slice line;
  put_content(path.text, "one\ntw", 6);
  assert_int_equal(weir_lines_open(&lines, path.text, &(struct weir_lines_options){.block_bytes = 4}, NULL), 0);
  assert_int_equal(weir_lines_next(&lines, &line), 1);
  put_content(path.text, "one\ntwo\nthree\n", 14);
  assert_int_equal(weir_lines_next(&lines, &line), 1);
  assert_memory_equal(line.data, "two", 3);
  assert_int_equal(weir_lines_next(&lines, &line), 1);
  assert_memory_equal(line.data, "three", 5);
  assert_int_equal(weir_lines_next(&lines, &line), 0);
  assert_int_equal(weir_lines_close(&lines, NULL), 0);
}

static void a_file_that_shrinks_ends_where_it_ends(void **state) {
  const struct path path = text_path(state);
  struct weir_lines lines;
  struct weir_slice line;
  put_content(path.text, "one\ntwo\nthree\n", 14);
  assert_int_equal(weir_lines_open(&lines, path.text, &(struct weir_lines_options){.block_bytes = 4}, NULL), 0);
  assert_int_equal(weir_lines_next(&lines, &line), 1);
  assert_int_equal(truncate(path.text, 6), 0);
  assert_int_equal(weir_lines_next(&lines, &line), 1);
  assert_int_equal(line.size, 2);
  assert_int_equal(weir_lines_marks(&lines), WEIR_LINE_NO_NEWLINE);
  assert_int_equal(weir_lines_next(&lines, &line), 0);
  assert_int_equal(weir_lines_close(&lines, NULL), 0);
}

/* ---- failures ---- */

static struct {
  ssize_t (*pread)(int fd, void *data, size_t size, off_t offset);
  ssize_t (*preadv2)(int fd, const struct iovec *parts, int count, off_t offset, int flags);
  size_t step;         /* bytes a call at most */
  unsigned calls;      /* so far */
  unsigned interrupts; /* every so many-th call is interrupted; 0: none */
  unsigned fail_at;    /* this call and all later ones fail; 0: none */
  int error;
} faulty;

static bool fails(void) {
  faulty.calls++;
  if (faulty.interrupts && faulty.calls % faulty.interrupts == 0) {
    errno = EINTR;
    return true;
  }
  if (!faulty.fail_at || faulty.calls < faulty.fail_at) return false;
  errno = faulty.error;
  return true;
}

static ssize_t faulty_pread(int fd, void *data, size_t size, off_t offset) {
  if (fails()) return -1;
  return faulty.pread(fd, data, size < faulty.step ? size : faulty.step, offset);
}

static ssize_t faulty_preadv2(int fd, const struct iovec *parts, int count, off_t offset, int flags) {
  if (fails()) return -1;
  const struct iovec part = {parts->iov_base, parts->iov_len < faulty.step ? parts->iov_len : faulty.step};
  return faulty.preadv2(fd, &part, 1, offset, flags);
}

static void begin_faulty(size_t step) {
  memset(&faulty, 0, sizeof faulty);
  faulty.step = step;
  faulty.pread = (ssize_t(*)(int, void *, size_t, off_t))os_override("pread", (os_function *)faulty_pread);
  faulty.preadv2 =
      (ssize_t(*)(int, const struct iovec *, int, off_t, int))os_override("preadv2", (os_function *)faulty_preadv2);
}

static void end_faulty(void) {
  restore("pread");
  restore("preadv2");
}

static void short_reads_and_interrupts_change_nothing(void **state) {
  const struct path path = text_path(state);
  for (size_t t = 0; t < TEXTS; t++) {
    put_content(path.text, texts[t].data, texts[t].size);
    for (size_t step = 1; step <= 9; step++) {
      for (size_t b = 0; b < sizeof few_blocks / sizeof few_blocks[0]; b++) {
        begin_faulty(step);
        faulty.interrupts = (unsigned)(step % 4 + (step % 4 == 1));
        check_file(path.text, &texts[t], &(struct weir_lines_options){.block_bytes = few_blocks[b]}, SIZE_MAX);
        end_faulty();
      }
    }
  }
}

/* All whole lines before the error come, then the error, and it stays. */
static void an_error_comes_after_the_lines_before_it(void **state) {
  const struct path path = text_path(state);
  static const char data[] = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";
  put_content(path.text, data, sizeof data - 1);
  for (unsigned at = 1; at < 60; at++) {
    struct weir_lines lines;
    struct weir_slice line;
    begin_faulty(3);
    assert_int_equal(weir_lines_open(&lines, path.text, &(struct weir_lines_options){.block_bytes = 7}, NULL), 0);
    faulty.calls = 0;
    faulty.fail_at = at;
    faulty.error = EIO;
    size_t begin = 0;
    int result;
    while ((result = weir_lines_next(&lines, &line)) > 0) {
      assert_memory_equal(line.data, data + begin, line.size);
      begin += line.size + 1;
    }
    if (result < 0) {
      assert_int_equal(result, WEIR_EIO);
      assert_int_equal(weir_lines_error(&lines)->code, WEIR_EIO);
      assert_string_equal(weir_lines_error(&lines)->operation, "read");
      assert_true(weir_lines_error(&lines)->transferred >= begin);
      assert_true(weir_lines_error(&lines)->transferred < begin + 6); /* no whole line was held back */
      assert_int_equal(weir_lines_next(&lines, &line), WEIR_EIO);
      assert_int_equal(weir_lines_close(&lines, NULL), WEIR_EIO);
    } else {
      assert_true(at > 12); /* all had been read */
      assert_int_equal(weir_lines_close(&lines, NULL), 0);
    }
    end_faulty();
  }
}

static int read_everything(const char *path, const struct text *text, enum weir_strategy strategy) {
  const struct weir_lines_options options = {.block_bytes = 64, .strategy = strategy};
  struct weir_lines lines;
  struct weir_slice line;
  size_t begin = 0;
  int result = weir_lines_open(&lines, path, &options, NULL);
  if (result < 0) return result;
  while ((result = weir_lines_next(&lines, &line)) > 0 || result == WEIR_ENOMEM) {
    if (result < 0) continue; /* the next call goes on behind it */
    uint64_t offset;
    weir_lines_position(&lines, &offset, NULL);
    assert_true(offset >= begin);
    begin = (size_t)offset;
    assert_memory_equal(line.data, text->data + begin, line.size);
  }
  assert_int_equal(result, 0);
  return weir_lines_close(&lines, NULL);
}

static void lack_of_memory_is_an_error_at_every_place(void **state) {
  const struct path path = text_path(state);
  const struct text *text = &texts[TEXTS - 2];
  put_content(path.text, text->data, text->size);
  static const enum weir_strategy strategies[] = {WEIR_AUTO, WEIR_BUFFERED, WEIR_THREADS, WEIR_MAPPED};
  for (size_t s = 0; s < 4; s++) {
    bool hit = true;
    for (unsigned at = 1; hit; at++) {
      assert_true(at < 1000);
      inject_memory_arm(at);
      const int code = read_everything(path.text, text, strategies[s]);
      hit = inject_memory_disarm();
      assert_true(code == 0 || (hit && code == WEIR_ENOMEM));
    }
  }
}

static int in_child(void *context) {
  struct weir_lines *lines = context;
  struct weir_slice line;
  lines->end = lines->stop;
  if (weir_lines_next(lines, &line) != WEIR_EFORKED) return 1;
  return weir_lines_close(lines, NULL) == WEIR_EFORKED ? 0 : 2;
}

static void a_forked_process_is_told_so(void **state) {
  const struct path path = text_path(state);
  put_content(path.text, "one\ntwo\nthree\n", 14);
  static const enum weir_strategy strategies[] = {WEIR_BUFFERED, WEIR_THREADS, WEIR_RING};
  for (size_t s = 0; s < 3; s++) {
    struct weir_lines lines;
    struct weir_slice line;
    os_process child;
    struct os_exit ended;
    const struct weir_lines_options options = {.block_bytes = 4, .strategy = strategies[s]};
    if (weir_lines_open(&lines, path.text, &options, NULL)) continue;
    assert_int_equal(weir_lines_next(&lines, &line), 1);
    assert_int_equal(os_process_fork(in_child, &lines, &child), 0);
    assert_int_equal(os_process_wait(child, UINT64_MAX, &ended), 0);
    assert_false(ended.crashed);
    assert_int_equal(ended.code, 0);
    assert_int_equal(weir_lines_next(&lines, &line), 1);
    assert_memory_equal(line.data, "two", 3);
    assert_int_equal(weir_lines_close(&lines, NULL), 0);
  }
}

/* ---- long lines ---- */

/* 40 MiB without a newline between two short lines: read through blocks of all sizes, and refused in a moment. */
static void a_giant_line_is_whole(void **state) {
  const struct path path = path_in(*state, "giant");
  const size_t giant = 9 * MIB, size = giant + 4;
  char *data = malloc(size);
  assert_non_null(data);
  memset(data, 'g', size);
  memcpy(data, "a\n", 2);
  memcpy(data + size - 2, "\nz", 2);
  put_content(path.text, data, size);
  static const size_t blocks[] = {0, 4096, 100000, MIB};
  for (size_t b = 0; b < 4; b++) {
    for (int strategy = WEIR_BUFFERED; strategy <= WEIR_MAPPED; strategy++) {
      struct weir_lines_options options = {.block_bytes = blocks[b], .strategy = (enum weir_strategy)strategy};
      const struct text text = {data, size};
      check_file(path.text, &text, &options, SIZE_MAX);
      options.max_line = 1000;
      check_file(path.text, &text, &options, SIZE_MAX);
      options.flags = WEIR_LONG_SKIP;
      check_file(path.text, &text, &options, 0);
      options.flags = WEIR_LONG_PARTS;
      options.max_line = 100000;
      check_file(path.text, &text, &options, SIZE_MAX);
    }
  }
  free(data);
}

/* ---- lists and callbacks ---- */

static void a_list_holds_all_lines(void **state) {
  const struct path path = text_path(state);
  for (size_t t = 0; t < TEXTS; t++) {
    put_content(path.text, texts[t].data, texts[t].size);
    for (size_t p = 1; p < 4; p++) {
      const struct weir_lines_options options = {.max_line = p == 3 ? 0 : 7, .flags = policies[p % 3]};
      struct reference r = refer(texts[t].data, texts[t].size, &options);
      struct weir_line_list list;
      assert_int_equal(weir_read_lines(path.text, &list, &options, NULL), 0);
      assert_int_equal(list.count, r.count);
      for (size_t i = 0; i < r.count; i++) check_line(texts[t].data, &r.events[i], list.line[i]);
      weir_line_list_free(&list);
      weir_line_list_free(&list);
      free(r.events);
    }
  }
  weir_line_list_free(NULL);
}

static void a_list_that_cannot_be_made_is_empty(void **state) {
  const struct path path = text_path(state), none = path_in(*state, "none");
  struct weir_line_list list;
  struct weir_error error;
  put_content(path.text, "a\nlong\nb\n", 9);
  assert_int_equal(weir_read_lines(path.text, &list, &(struct weir_lines_options){.max_line = 3}, &error), WEIR_ELIMIT);
  assert_int_equal(error.offset, 2);
  assert_string_equal(error.path, path.text);
  assert_int_equal(list.count, 0);
  assert_null(list.line);
  assert_int_equal(weir_read_lines(none.text, &list, NULL, &error), WEIR_ENOENT);
  assert_int_equal(weir_read_lines(path.text, &list, &(struct weir_lines_options){.flags = WEIR_EXACT}, NULL), WEIR_EINVAL);
  assert_int_equal(weir_read_lines(path.text, NULL, NULL, NULL), WEIR_EINVAL);
  bool hit = true;
  for (unsigned at = 1; hit; at++) {
    inject_memory_arm(at);
    const int code = weir_read_lines(path.text, &list, NULL, NULL);
    hit = inject_memory_disarm();
    assert_true(code == 0 || (hit && code == WEIR_ENOMEM));
    weir_line_list_free(&list);
  }
}

struct seen {
  const struct text *text;
  const struct reference *reference;
  size_t at, batches, most_lines, most_bytes;
  int stop_at;
};

static int see(void *context, const struct weir_batch *batch) {
  struct seen *seen = context;
  assert_true(batch->count > 0);
  assert_int_equal(batch->number, seen->at + 1);
  for (size_t i = 0; i < batch->count; i++) {
    check_line(seen->text->data, &seen->reference->events[seen->at++], weir_batch_line(batch, i));
  }
  const size_t bytes = batch->ends[batch->count - 1] - batch->begin;
  if (batch->count > seen->most_lines) seen->most_lines = batch->count;
  if (batch->count > 1 && bytes > seen->most_bytes) seen->most_bytes = bytes;
  return ++seen->batches == (size_t)seen->stop_at ? seen->stop_at : 0;
}

static void batches_have_the_size_that_is_asked_for(void **state) {
  const struct path path = text_path(state);
  const struct text text = {texts[6].data, texts[6].size};
  put_content(path.text, text.data, text.size);
  const struct weir_lines_options options = {0};
  struct reference r = refer(text.data, text.size, &options);
  for (size_t lines = 0; lines < 7; lines++) {
    for (size_t bytes = 0; bytes < 40; bytes++) {
      struct seen seen = {.text = &text, .reference = &r};
      assert_int_equal(weir_lines_each(path.text, lines, bytes, NULL, see, &seen, NULL), 0);
      assert_int_equal(seen.at, r.count);
      if (lines) assert_true(seen.most_lines <= lines);
      if (bytes) assert_true(seen.most_bytes < bytes + 16);
      if (lines == 1) assert_int_equal(seen.batches, r.count);
    }
  }
  struct seen seen = {.text = &text, .reference = &r, .stop_at = 3};
  assert_int_equal(weir_lines_each(path.text, 1, 0, NULL, see, &seen, NULL), 3);
  assert_int_equal(seen.at, 3);
  free(r.events);
}

static void a_callback_is_told_what_fails(void **state) {
  const struct path path = text_path(state), none = path_in(*state, "none");
  struct weir_error error;
  struct seen seen = {0};
  put_content(path.text, "long\n", 5);
  assert_int_equal(weir_lines_each(none.text, 0, 0, NULL, see, &seen, &error), WEIR_ENOENT);
  assert_int_equal(weir_lines_each(path.text, 0, 0, NULL, NULL, &seen, &error), WEIR_EINVAL);
  const struct weir_lines_options options = {.max_line = 3};
  assert_int_equal(weir_lines_each(path.text, 0, 0, &options, see, &seen, &error), WEIR_ELIMIT);
  assert_int_equal(error.code, WEIR_ELIMIT);
  assert_int_equal(seen.batches, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_block_size_gives_the_same_lines),
      cmocka_unit_test(every_cut_gives_the_same_lines),
      cmocka_unit_test(what_is_too_long_is_treated_as_asked),
      cmocka_unit_test(lines_of_memory_are_not_copied),
      cmocka_unit_test(memory_before_a_page_that_must_not_be_touched),
      cmocka_unit_test(all_strategies_give_the_same_lines),
      cmocka_unit_test(an_open_file_is_read_from_its_position_and_left_behind_the_line),
      cmocka_unit_test(a_file_open_for_writing_is_refused),
      cmocka_unit_test(what_cannot_be_opened_says_why),
      cmocka_unit_test(what_is_not_known_is_refused),
      cmocka_unit_test(a_fifo_comes_as_it_is_written),
      cmocka_unit_test(a_line_of_a_pipe_does_not_wait_for_more),
      cmocka_unit_test(files_of_proc_tell_no_size_and_have_lines),
      cmocka_unit_test(a_file_that_grows_is_read_to_its_new_end),
      cmocka_unit_test(a_file_that_shrinks_ends_where_it_ends),
      cmocka_unit_test(short_reads_and_interrupts_change_nothing),
      cmocka_unit_test(an_error_comes_after_the_lines_before_it),
      cmocka_unit_test(lack_of_memory_is_an_error_at_every_place),
      cmocka_unit_test(a_forked_process_is_told_so),
      cmocka_unit_test(a_giant_line_is_whole),
      cmocka_unit_test(a_list_holds_all_lines),
      cmocka_unit_test(a_list_that_cannot_be_made_is_empty),
      cmocka_unit_test(batches_have_the_size_that_is_asked_for),
      cmocka_unit_test(a_callback_is_told_what_fails),
  };
  return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
