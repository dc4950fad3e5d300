/*
 * test_lib_stream.c - blocks: every strategy, block size and range against the file's bytes; pipes; reading ahead seen by
 * the hints it gives; refusals, short reads and errors at every place; lack of memory; forks.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>

#include "lib/ahead.h"
#include "tests/lib/inject.h"

#define NUMBER_OF(array) (sizeof(array) / sizeof(array)[0])

static unsigned char byte_at(uint64_t offset) { return (unsigned char)(offset * 7 + (offset >> 8) * 3 + (offset >> 16)); }

static struct path make(void **state, size_t size) {
  const struct path path = path_in(*state, "file");
  unsigned char *data = malloc(size + 1);
  assert_non_null(data);
  for (size_t i = 0; i < size; i++) data[i] = byte_at(i);
  put_content(path.text, data, size);
  free(data);
  return path;
}

static const enum weir_strategy strategies[] = {WEIR_AUTO,     WEIR_BUFFERED, WEIR_MAPPED, WEIR_DIRECT,
                                                WEIR_UNCACHED, WEIR_RING,     WEIR_THREADS};

/* What may be missing on a machine or a file system. */
static bool may_be_refused(enum weir_strategy strategy, int code) {
  if (strategy == WEIR_DIRECT || strategy == WEIR_UNCACHED) return code == WEIR_EOPNOTSUPP || code == WEIR_EINVAL;
  return strategy == WEIR_RING && code < 0;
}

/* ---- the bytes ---- */

struct range {
  uint64_t begin, end;
};

static struct range range_of(size_t size, const struct weir_stream_options *options) {
  struct range range = {options->offset, size};
  if (range.begin > size) range.begin = size;
  if (options->length && options->length < size - range.begin) range.end = range.begin + options->length;
  return range;
}

static void check_bytes(struct weir_slice block, uint64_t offset) {
  for (size_t i = 0; i < block.size; i++) {
    if ((unsigned char)block.data[i] != byte_at(offset + i))
      fail_msg("wrong byte at %llu", (unsigned long long)(offset + i));
  }
}

/* All blocks but the last have one size. */
static void check_stream(struct weir_stream *stream, struct range range) {
  struct weir_slice block;
  struct weir_choice how;
  uint64_t at = range.begin;
  size_t full = 0;
  int result;
  weir_stream_how(stream, &how);
  assert_non_null(how.reason);
  while ((result = weir_stream_next(stream, &block)) > 0) {
    assert_true(block.size > 0);
    assert_true(block.size <= range.end - at);
    check_bytes(block, at);
    if (full) assert_true(block.size == full || at + block.size == range.end);
    full = block.size;
    if (at + block.size < range.end) assert_int_equal(block.size, how.block_bytes);
    at += block.size;
  }
  assert_int_equal(result, 0);
  assert_int_equal(at, range.end);
  assert_int_equal(weir_stream_next(stream, &block), 0);
  assert_null(block.data);
  assert_int_equal(weir_stream_error(stream)->code, 0);
  assert_int_equal(weir_stream_close(stream, NULL), 0);
}

/* False if it was refused, as it may be. */
static bool check_path(const char *path, size_t size, const struct weir_stream_options *options) {
  struct weir_stream *stream;
  const int code = weir_stream_open(path, options, &stream, NULL);
  if (code) {
    if (!may_be_refused(options->strategy, code)) fail_msg("%s: %d", weir_strategy_name(options->strategy), code);
    return false;
  }
  check_stream(stream, range_of(size, options));
  return true;
}

static const size_t sizes[] = {0, 1, 511, 512, 4095, 4096, 4097, 20000, 65536, 65537};

static void all_strategies_give_all_bytes(void **state) {
  static const size_t blocks[] = {0, 1, 100, 512, 4096, 5000, 65536};
  for (size_t i = 0; i < NUMBER_OF(sizes); i++) {
    const struct path path = make(state, sizes[i]);
    for (size_t s = 0; s < NUMBER_OF(strategies); s++) {
      for (size_t b = 0; b < NUMBER_OF(blocks); b++) {
        if (blocks[b] && sizes[i] / blocks[b] > 5000) continue; /* a process switch a byte proves nothing more */
        const struct weir_stream_options options = {.strategy = strategies[s], .block_bytes = blocks[b]};
        if (!check_path(path.text, sizes[i], &options)) {
          if (b == 0 && i == 1) printf("[  SKIPPED ] %s is refused here\n", weir_strategy_name(strategies[s]));
        }
      }
    }
  }
}

static void all_ranges_give_their_bytes(void **state) {
  const size_t size = 20000;
  static const uint64_t offsets[] = {0, 1, 511, 512, 4096, 5000, 19999, 20000, 20001, UINT64_MAX};
  static const uint64_t lengths[] = {0, 1, 4096, 5001, 20000, UINT64_MAX};
  static const size_t blocks[] = {0, 700, 4096};
  const struct path path = make(state, size);
  for (size_t s = 0; s < NUMBER_OF(strategies); s++) {
    for (size_t o = 0; o < NUMBER_OF(offsets); o++) {
      for (size_t l = 0; l < NUMBER_OF(lengths); l++) {
        for (size_t b = 0; b < NUMBER_OF(blocks); b++) {
          (void)check_path(path.text, size,
                           &(struct weir_stream_options){.strategy = strategies[s],
                                                         .block_bytes = blocks[b],
                                                         .offset = offsets[o],
                                                         .length = lengths[l],
                                                         .flags = b ? WEIR_EXACT | WEIR_SMALL_PAGES : WEIR_HUGE});
        }
      }
    }
  }
}

static void all_depths_give_all_bytes(void **state) {
  const size_t size = 300001;
  const struct path path = make(state, size);
  for (size_t s = 0; s < NUMBER_OF(strategies); s++) {
    for (unsigned depth = 1; depth < 20; depth++) {
      (void)check_path(
          path.text, size,
          &(struct weir_stream_options){.strategy = strategies[s], .block_bytes = depth % 2 ? 8192 : 10000, .depth = depth});
    }
    (void)check_path(path.text, size,
                     &(struct weir_stream_options){.strategy = strategies[s], .depth = UINT32_MAX, .block_bytes = 512});
  }
}

/* What the consumer sees must not depend on how long it takes. */
static void a_slow_reader_sees_the_same(void **state) {
  const size_t size = 200000;
  const struct path path = make(state, size);
  for (size_t s = 0; s < NUMBER_OF(strategies); s++) {
    struct weir_stream *stream;
    struct weir_slice block;
    uint64_t at = 0;
    const struct weir_stream_options options = {.strategy = strategies[s], .block_bytes = 8192};
    if (weir_stream_open(path.text, &options, &stream, NULL)) continue;
    while (weir_stream_next(stream, &block) > 0) {
      os_sleep_ns(at % 3 * 1000000);
      check_bytes(block, at);
      at += block.size;
    }
    assert_int_equal(at, size);
    assert_int_equal(weir_stream_close(stream, NULL), 0);
  }
}

static size_t address_bytes(void) {
  char text[256] = "";
  (void)get_content("/proc/self/statm", text, sizeof text - 1);
  return strtoul(text, NULL, 10) * os_page_size();
}

/* Whatever is in flight then is waited for, and its memory given back. */
static void a_stream_can_be_closed_at_any_block(void **state) {
  const struct path path = make(state, 100000);
  const unsigned before = open_files();
  for (size_t s = 0; s < NUMBER_OF(strategies); s++) {
    size_t bytes = 0;
    for (unsigned blocks = 0; blocks < 14; blocks++) {
      if (blocks == 1) bytes = address_bytes(); /* of thread stacks and the like some are kept for the next one */
      struct weir_stream *stream;
      struct weir_slice block;
      const struct weir_stream_options options = {.strategy = strategies[s], .block_bytes = 8192};
      if (weir_stream_open(path.text, &options, &stream, NULL)) continue;
      for (unsigned i = 0; i < blocks; i++) assert_true(weir_stream_next(stream, &block) >= 0);
      assert_int_equal(weir_stream_close(stream, NULL), 0);
    }
    assert_true(address_bytes() < bytes + 3 * 4 * 8192); /* each of 13 streams had four blocks or more */
  }
  assert_int_equal(open_files(), before);
  assert_int_equal(weir_stream_close(NULL, NULL), 0);
}

/* ---- open files ---- */

static void an_open_file_gives_the_range_wherever_it_stands(void **state) {
  const size_t size = 20000;
  const struct path path = make(state, size);
  static const enum weir_strategy opened[] = {WEIR_BUFFERED, WEIR_DIRECT, WEIR_UNCACHED};
  for (size_t i = 0; i < NUMBER_OF(opened); i++) {
    struct weir_file *file;
    if (weir_file_open(path.text, &(struct weir_open_options){.strategy = opened[i]}, &file, NULL)) continue;
    assert_int_equal(weir_file_seek(file, 777), 0);
    for (size_t s = 0; s < NUMBER_OF(strategies); s++) {
      for (uint64_t offset = 0; offset < 6000; offset += 1999) {
        struct weir_stream *stream;
        const struct weir_stream_options options = {.strategy = strategies[s], .block_bytes = 4000, .offset = offset};
        const int code = weir_stream_open_file(file, &options, &stream, NULL);
        if (code)
          assert_true(may_be_refused(strategies[s], code));
        else
          check_stream(stream, range_of(size, &options));
      }
    }
    assert_int_equal(weir_file_tell(file), 777);
    assert_int_equal(weir_file_close(file, NULL), 0);
  }
}

struct text {
  const unsigned char *data;
  size_t size;
  int fd;
};

static void *write_all(void *context) {
  struct text *text = context;
  for (size_t at = 0, step = 1; at < text->size; at += step, step = (step * 5 + 3) % 9000) {
    if (step == 0) step = 1;
    if (step > text->size - at) step = text->size - at;
    if (write(text->fd, text->data + at, step) != (ssize_t)step) break;
  }
  (void)close(text->fd);
  return NULL;
}

static void a_pipe_is_read_from_where_it_stands(void **state) {
  const size_t size = 200000;
  unsigned char *data = malloc(size);
  assert_non_null(data);
  for (size_t i = 0; i < size; i++) data[i] = byte_at(i);
  for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
    for (size_t block = 0; block <= 70000; block += 35000) {
      int ends[2];
      assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
      if (nonblocking) assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
      struct text text = {data, size, ends[1]};
      pthread_t writer;
      struct weir_file *file;
      struct weir_stream *stream;
      struct weir_slice piece;
      char first;
      assert_int_equal(pthread_create(&writer, NULL, write_all, &text), 0);
      assert_int_equal(weir_file_from(ends[0], WEIR_OPEN_READ, &file, NULL), 0);
      size_t at = 0;
      if (block) { /* leaves a byte that was looked at inside the handle */
        assert_int_equal(weir_file_read_to_end(file, &first, 1, &at), WEIR_MORE);
        assert_int_equal((unsigned char)first, byte_at(0));
      }
      const struct weir_stream_options options = {.block_bytes = block, .length = block ? 150000 : 0};
      assert_int_equal(weir_stream_open_file(file, &options, &stream, NULL), 0);
      const size_t end = block ? at + 150000 : size;
      int result;
      while ((result = weir_stream_next(stream, &piece)) > 0) {
        check_bytes(piece, at);
        at += piece.size;
      }
      assert_int_equal(result, 0);
      assert_int_equal(at, end);
      assert_int_equal(weir_stream_close(stream, NULL), 0);
      assert_int_equal(weir_file_close(file, NULL), 0);
      while (read(ends[0], &first, 1) != 0) continue; /* the writer goes on */
      assert_int_equal(pthread_join(writer, NULL), 0);
      assert_int_equal(close(ends[0]), 0);
    }
  }
  free(data);
}

static void what_has_no_positions_takes_no_offset(void **state) {
  int ends[2];
  struct weir_file *file;
  struct weir_stream *stream;
  assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
  assert_int_equal(weir_file_from(ends[0], WEIR_OPEN_READ, &file, NULL), 0);
  assert_int_equal(weir_stream_open_file(file, &(struct weir_stream_options){.offset = 1}, &stream, NULL), WEIR_ESPIPE);
  assert_null(stream);
  assert_int_equal(weir_stream_open_file(file, &(struct weir_stream_options){.strategy = WEIR_RING}, &stream, NULL),
                   WEIR_ESPIPE);
  assert_int_equal(weir_file_close(file, NULL), 0);
  (void)close(ends[0]);
  (void)close(ends[1]);
}

static void devices_need_leave(void **state) {
  struct weir_stream *stream;
  struct weir_slice block;
  assert_int_equal(weir_stream_open("/dev/zero", NULL, &stream, NULL), WEIR_ENOTREG);
  const struct weir_stream_options options = {.flags = WEIR_ANY_KIND, .block_bytes = 1000};
  assert_int_equal(weir_stream_open("/dev/zero", &options, &stream, NULL), 0);
  for (unsigned i = 0; i < 10; i++) {
    assert_int_equal(weir_stream_next(stream, &block), 1);
    assert_int_equal(block.data[block.size - 1], 0);
  }
  assert_int_equal(weir_stream_close(stream, NULL), 0);
}

static void what_is_wrong_is_refused(void **state) {
  const struct path path = make(state, 10);
  struct weir_stream *stream;
  struct weir_error error;
  const struct weir_stream_options wrong[] = {{.flags = WEIR_ATOMIC},
                                              {.strategy = (enum weir_strategy)7},
                                              {.strategy = (enum weir_strategy) - 1},
                                              {.reserved = {1}}};
  for (size_t i = 0; i < NUMBER_OF(wrong); i++) {
    assert_int_equal(weir_stream_open(path.text, &wrong[i], &stream, &error), WEIR_EINVAL);
    assert_string_equal(error.path, path.text);
    assert_null(stream);
  }
  assert_int_equal(weir_stream_open(path.text, NULL, NULL, NULL), WEIR_EINVAL);
  assert_int_equal(weir_stream_open(NULL, NULL, &stream, NULL), WEIR_EINVAL);
  assert_int_equal(weir_stream_open_file(NULL, NULL, &stream, NULL), WEIR_EINVAL);
  assert_int_equal(weir_stream_open(*state, NULL, &stream, NULL), WEIR_EISDIR);
  assert_int_equal(weir_stream_open(path.text, &(struct weir_stream_options){.block_bytes = SIZE_MAX - 10}, &stream, NULL),
                   WEIR_ENOMEM);
}

/* ---- files that change ---- */

static void exact_tells_of_a_file_that_was_cut(void **state) {
  for (size_t s = 0; s < NUMBER_OF(strategies); s++) {
    if (strategies[s] == WEIR_MAPPED) continue; /* it would be a signal */
    for (int exact = 0; exact < 2; exact++) {
      const struct path path = make(state, 100000);
      struct weir_stream *stream;
      struct weir_slice block;
      const struct weir_stream_options options = {
          .strategy = strategies[s], .block_bytes = 4096, .depth = 1, .flags = exact ? WEIR_EXACT : 0};
      if (weir_stream_open(path.text, &options, &stream, NULL)) continue;
      assert_int_equal(weir_stream_next(stream, &block), 1);
      assert_int_equal(truncate(path.text, 50001), 0);
      uint64_t at = block.size;
      int result;
      while ((result = weir_stream_next(stream, &block)) > 0) at += block.size;
      if (at != 50001) assert_true(at > 50001 && (strategies[s] == WEIR_RING || strategies[s] == WEIR_THREADS));
      assert_int_equal(result, exact ? WEIR_ETRUNCATED : 0);
      if (exact) {
        assert_int_equal(weir_stream_error(stream)->code, WEIR_ETRUNCATED);
        assert_int_equal(weir_stream_error(stream)->transferred, at);
        assert_int_equal(weir_stream_next(stream, &block), WEIR_ETRUNCATED);
      }
      assert_int_equal(weir_stream_close(stream, NULL), exact ? WEIR_ETRUNCATED : 0);
    }
  }
}

static void growth_is_read_too(void **state) {
  for (size_t s = 0; s < NUMBER_OF(strategies); s++) {
    if (strategies[s] == WEIR_MAPPED) continue; /* its size is that of the open */
    const struct path path = make(state, 10000);
    struct weir_stream *stream;
    struct weir_slice block;
    const struct weir_stream_options options = {.strategy = strategies[s], .block_bytes = 4096};
    if (weir_stream_open(path.text, &options, &stream, NULL)) continue;
    assert_int_equal(weir_stream_next(stream, &block), 1);
    uint64_t at = block.size;
    (void)make(state, 50000);
    while (weir_stream_next(stream, &block) > 0) {
      check_bytes(block, at);
      at += block.size;
    }
    assert_int_equal(at, 50000);
    assert_int_equal(weir_stream_close(stream, NULL), 0);
  }
}

/* ---- what the system is asked for ---- */

static struct {
  ssize_t (*pread)(int fd, void *data, size_t size, off_t offset);
  ssize_t (*preadv2)(int fd, const struct iovec *parts, int count, off_t offset, int flags);
  int (*advise)(int fd, off_t offset, off_t length, int advice);
  uint64_t cached_from, cached_to; /* what is said to be cached */
  uint64_t asked_to;               /* read ahead up to here */
  unsigned hints;
  size_t step; /* bytes a call at most */
  unsigned calls, fail_at, fail_count;
  int error;
  bool only_direct; /* fail only where the file passes the cache by */
} world;

static bool fails(int fd) {
  if (world.only_direct && !(fcntl(fd, F_GETFL) & O_DIRECT)) return false;
  const unsigned call = __atomic_add_fetch(&world.calls, 1, __ATOMIC_SEQ_CST); /* from helper threads too */
  if (!world.fail_at || call < world.fail_at || call - world.fail_at >= world.fail_count) return false;
  errno = world.error;
  return true;
}

static ssize_t world_pread(int fd, void *data, size_t size, off_t offset) {
  if (fails(fd)) return -1;
  return world.pread(fd, data, size < world.step ? size : world.step, offset);
}

static ssize_t world_preadv2(int fd, const struct iovec *parts, int count, off_t offset, int flags) {
  if (fails(fd)) return -1;
  const bool cached = (uint64_t)offset >= world.cached_from && (uint64_t)offset < world.cached_to;
  if ((flags & RWF_NOWAIT) && !cached) {
    errno = EAGAIN;
    return -1;
  }
  return world.pread(fd, parts->iov_base, parts->iov_len < world.step ? parts->iov_len : world.step, offset);
}

static int world_advise(int fd, off_t offset, off_t length, int advice) {
  if (advice != POSIX_FADV_WILLNEED) return 0;
  assert_true(length > 0 && length <= 256 * 1024);
  assert_true((uint64_t)offset >= world.asked_to); /* nothing is asked for twice */
  world.asked_to = (uint64_t)(offset + length);
  world.hints++;
  return 0;
}

static void begin_world(void) {
  memset(&world, 0, sizeof world);
  world.step = SIZE_MAX;
  world.cached_to = UINT64_MAX;
  world.pread = (ssize_t(*)(int, void *, size_t, off_t))os_override("pread", (os_function *)world_pread);
  world.preadv2 =
      (ssize_t(*)(int, const struct iovec *, int, off_t, int))os_override("preadv2", (os_function *)world_preadv2);
  world.advise = (int (*)(int, off_t, off_t, int))os_override("posix_fadvise", (os_function *)world_advise);
}

static void end_world(void) {
  restore("pread");
  restore("preadv2");
  restore("posix_fadvise");
}

static struct weir_stream *open_buffered(const char *path, unsigned depth) {
  struct weir_stream *stream;
  const struct weir_stream_options options = {.strategy = WEIR_BUFFERED, .block_bytes = 65536, .depth = depth};
  assert_int_equal(weir_stream_open(path, &options, &stream, NULL), 0);
  return stream;
}

static void a_cached_file_is_not_read_ahead(void **state) {
  const struct path path = make(state, 4 * MIB);
  begin_world();
  check_stream(open_buffered(path.text, 0), (struct range){0, 4 * MIB});
  assert_int_equal(world.hints, 0);
  end_world();
}

static void the_distance_doubles_on_each_miss(void **state) {
  const struct path path = make(state, 20 * MIB);
  struct weir_slice block;
  begin_world();
  world.cached_from = UINT64_MAX;
  struct weir_stream *stream = open_buffered(path.text, 0);
  for (uint64_t misses = 1; misses < 6; misses++) {
    assert_int_equal(weir_stream_next(stream, &block), 1);
    const uint64_t distance = (uint64_t)MIB << (misses - 1 < 4 ? misses - 1 : 4);
    if (misses < 5) assert_int_equal(world.asked_to, misses * 65536 + distance);
  }
  assert_true(world.asked_to <= 20 * MIB);
  assert_int_equal(weir_stream_close(stream, NULL), 0);
  end_world();
}

static void the_distance_is_limited_by_the_depth_and_the_end(void **state) {
  const struct path path = make(state, 2 * MIB + 1);
  begin_world();
  world.cached_from = UINT64_MAX;
  struct weir_stream *stream = open_buffered(path.text, 3);
  struct weir_slice block;
  for (uint64_t blocks = 1; weir_stream_next(stream, &block) > 0; blocks++) {
    assert_true(world.asked_to <= (blocks + 3) * 65536);
    assert_true(world.asked_to <= 2 * MIB + 1);
  }
  assert_true(world.hints > 0);
  assert_int_equal(weir_stream_close(stream, NULL), 0);
  end_world();
}

/* One miss, then all is cached: after a while nothing is asked for any more. */
static void the_distance_shrinks_on_hits(void **state) {
  const size_t size = 30 * MIB;
  const struct path path = make(state, size);
  begin_world();
  world.cached_from = 1;
  check_stream(open_buffered(path.text, 0), (struct range){0, size});
  assert_true(world.hints > 0);
  assert_true(world.asked_to < 15 * MIB);
  end_world();
}

static void where_it_cannot_be_asked_the_file_is_read_all_the_same(void **state) {
  const struct path path = make(state, MIB);
  begin_world();
  (void)os_override("preadv2", NULL);
  world.preadv2 = NULL;
  world.fail_at = 1; /* of preadv2: see below */
  world.fail_count = UINT32_MAX;
  world.error = EOPNOTSUPP;
  restore("pread");
  (void)os_override("preadv2", (os_function *)world_preadv2);
  check_stream(open_buffered(path.text, 0), (struct range){0, MIB});
  assert_int_equal(world.calls, 1); /* asked once */
  (void)os_override("preadv2", NULL);
  (void)os_override("posix_fadvise", NULL);
}

/* ---- refusals ---- */

static int no_ring_error;
static int no_ring(unsigned entries, void *ring, void *params) { return no_ring_error; }
static int no_thread(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *context) {
  return EAGAIN;
}

static void without_rings_there_are_threads(void **state) {
  static const int errors[] = {-EPERM, -ENOSYS, -ENOMEM, -EACCES};
  const size_t size = 100000;
  const struct path path = make(state, size);
  if (!os_override("io_uring_setup", (os_function *)no_ring)) skip_because("built without liburing");
  for (size_t e = 0; e < NUMBER_OF(errors); e++) {
    struct weir_stream_options options = {.strategy = WEIR_RING, .block_bytes = 8192};
    struct weir_stream *stream;
    struct weir_error error;
    struct weir_choice how;
    no_ring_error = errors[e];
    assert_int_equal(weir_stream_open(path.text, &options, &stream, &error), errors[e]);
    assert_int_equal(error.code, errors[e]);
    options.strategy = WEIR_DIRECT;
    if (weir_stream_open(path.text, &options, &stream, NULL)) continue; /* not on this file system */
    weir_stream_how(stream, &how);
    assert_true(how.threads > 0);
    assert_true(how.direct);
    check_stream(stream, (struct range){0, size});
  }
  restore("io_uring_setup");
}

static void without_threads_one_block_is_read_at_a_time(void **state) {
  const size_t size = 100000;
  const struct path path = make(state, size);
  struct weir_stream_options options = {.strategy = WEIR_THREADS, .block_bytes = 8192};
  struct weir_stream *stream;
  replace("pthread_create", (os_function *)no_thread);
  const bool rings = os_override("io_uring_setup", (os_function *)no_ring) != NULL;
  no_ring_error = -EPERM;
  assert_int_equal(weir_stream_open(path.text, &options, &stream, NULL), WEIR_EAGAIN);
  options.strategy = WEIR_DIRECT;
  if (weir_stream_open(path.text, &options, &stream, NULL) == 0) check_stream(stream, (struct range){0, size});
  options.strategy = WEIR_UNCACHED;
  if (weir_stream_open(path.text, &options, &stream, NULL) == 0) check_stream(stream, (struct range){0, size});
  options.strategy = WEIR_AUTO;
  assert_int_equal(weir_stream_open(path.text, &options, &stream, NULL), 0);
  check_stream(stream, (struct range){0, size});
  restore("pthread_create");
  if (rings) restore("io_uring_setup");
}

/* The file was opened past the cache, and after some blocks the system says no. */
static void direct_reads_that_are_refused_in_use_go_on_buffered(void **state) {
  const size_t size = 100000;
  const struct path path = make(state, size);
  const bool rings = os_override("io_uring_setup", (os_function *)no_ring) != NULL;
  no_ring_error = -EPERM;
  for (unsigned at = 1; at < 8; at++) {
    struct weir_file *file;
    struct weir_stream *stream;
    struct weir_choice how;
    if (weir_file_open(path.text, &(struct weir_open_options){.strategy = WEIR_DIRECT}, &file, NULL)) break;
    begin_world();
    world.only_direct = true;
    world.error = EINVAL;
    world.fail_at = at;
    world.fail_count = UINT32_MAX;
    const struct weir_stream_options options = {.block_bytes = 8192, .depth = at % 2};
    assert_int_equal(weir_stream_open_file(file, &options, &stream, NULL), 0);
    struct weir_slice block;
    uint64_t offset = 0;
    while (weir_stream_next(stream, &block) > 0) {
      check_bytes(block, offset);
      offset += block.size;
    }
    assert_int_equal(offset, size);
    weir_stream_how(stream, &how);
    assert_false(how.direct);
    assert_int_equal(how.strategy, WEIR_BUFFERED);
    assert_int_equal(weir_stream_close(stream, NULL), 0);
    end_world();
    assert_int_equal(weir_file_close(file, NULL), 0);
  }
  if (rings) restore("io_uring_setup");
}

static int broken_after;
static int (*real_enter)(void *ring, unsigned wait);
static int broken_enter(void *ring, unsigned wait) { return broken_after-- > 0 ? real_enter(ring, wait) : -EBADF; }

/* A ring that fails while blocks are in flight: an error where it was asked for; what the kernel may still write to stays.
 */
static void a_ring_that_breaks_is_an_error_or_left_behind(void **state) {
  const size_t size = 100000;
  const struct path path = make(state, size);
  const struct weir_stream_options ring = {.strategy = WEIR_RING, .block_bytes = 8192};
  struct weir_stream *stream;
  struct weir_slice block;
  if (weir_stream_open(path.text, &ring, &stream, NULL)) skip_because("no rings here");
  check_stream(stream, (struct range){0, size});
  for (int after = 0; after < 8; after++) {
    uint64_t at = 0;
    int result;
    assert_int_equal(weir_stream_open(path.text, &ring, &stream, NULL), 0);
    broken_after = after;
    real_enter = (int (*)(void *, unsigned))os_override("io_uring_enter", (os_function *)broken_enter);
    while ((result = weir_stream_next(stream, &block)) > 0) {
      check_bytes(block, at);
      at += block.size;
    }
    assert_true(result == WEIR_EBADF || (result == 0 && at == size));
    restore("io_uring_enter");
    assert_int_equal(weir_stream_close(stream, NULL), result);
  }
}

static void a_direct_stream_leaves_a_broken_ring(void **state) {
  const size_t size = 100000;
  const struct path path = make(state, size);
  for (int after = 0; after < 8; after++) {
    struct weir_file *file;
    struct weir_stream *stream;
    if (weir_file_open(path.text, &(struct weir_open_options){.strategy = WEIR_DIRECT}, &file, NULL)) break;
    assert_int_equal(weir_stream_open_file(file, &(struct weir_stream_options){.block_bytes = 8192}, &stream, NULL), 0);
    broken_after = after;
    real_enter = (int (*)(void *, unsigned))os_override("io_uring_enter", (os_function *)broken_enter);
    if (real_enter) {
      check_stream(stream, (struct range){0, size});
      restore("io_uring_enter");
    } else {
      assert_int_equal(weir_stream_close(stream, NULL), 0);
    }
    assert_int_equal(weir_file_close(file, NULL), 0);
  }
}

/* ---- short reads, interrupts, errors ---- */

static void short_reads_are_not_the_end(void **state) {
  const size_t size = 5000;
  const struct path path = make(state, size);
  for (size_t s = 0; s < NUMBER_OF(strategies); s++) {
    for (size_t step = 1; step <= 1024; step = step * 2 + 1) {
      begin_world();
      world.step = strategies[s] == WEIR_DIRECT || strategies[s] == WEIR_RING ? 4096 : step;
      (void)check_path(path.text, size, &(struct weir_stream_options){.strategy = strategies[s], .block_bytes = 1000});
      end_world();
    }
  }
}

static void interrupts_are_repeated(void **state) {
  const size_t size = 50000;
  const struct path path = make(state, size);
  for (size_t s = 0; s < NUMBER_OF(strategies); s++) {
    for (unsigned at = 1; at < 20; at++) {
      begin_world();
      world.fail_at = at;
      world.fail_count = 2;
      world.error = EINTR;
      (void)check_path(path.text, size, &(struct weir_stream_options){.strategy = strategies[s], .block_bytes = 5000});
      end_world();
    }
  }
}

/* All good bytes come before it; it stays, and the close gives it. */
static void an_error_comes_behind_the_good_bytes(void **state) {
  const size_t size = 50000;
  const struct path path = make(state, size);
  static const enum weir_strategy some[] = {WEIR_BUFFERED, WEIR_THREADS, WEIR_AUTO, WEIR_UNCACHED};
  for (size_t s = 0; s < NUMBER_OF(some); s++) {
    for (unsigned at = 1; at < 40; at++) {
      struct weir_stream *stream;
      struct weir_slice block;
      const struct weir_stream_options options = {.strategy = some[s], .block_bytes = 5000};
      if (weir_stream_open(path.text, &options, &stream, NULL)) continue;
      begin_world();
      world.step = 2000;
      world.fail_at = at;
      world.fail_count = UINT32_MAX;
      world.error = EIO;
      uint64_t offset = 0;
      int result;
      while ((result = weir_stream_next(stream, &block)) > 0) {
        check_bytes(block, offset);
        offset += block.size;
      }
      assert_true(result == WEIR_EIO || (result == 0 && offset == size));
      const struct weir_error *error = weir_stream_error(stream);
      assert_int_equal(error->code, result);
      if (result) {
        assert_string_equal(error->operation, "read");
        assert_string_equal(error->path, path.text);
        assert_int_equal(error->transferred, offset);
        assert_int_equal(weir_stream_next(stream, &block), result);
      }
      assert_int_equal(weir_stream_close(stream, NULL), result);
      end_world();
    }
  }
}

/* ---- memory and processes ---- */

static void *no_memory(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
  errno = ENOMEM;
  return MAP_FAILED;
}

static void lack_of_memory_leaves_nothing_open(void **state) {
  const struct path path = make(state, 100000);
  const unsigned before = open_files();
  for (size_t s = 0; s < NUMBER_OF(strategies); s++) {
    const struct weir_stream_options options = {.strategy = strategies[s], .block_bytes = 5000};
    struct weir_stream *stream;
    bool hit = true;
    for (unsigned at = 1; hit; at++) {
      inject_memory_arm(at);
      const int code = weir_stream_open(path.text, &options, &stream, NULL);
      hit = inject_memory_disarm();
      if (code == 0)
        check_stream(stream, (struct range){0, 100000});
      else
        assert_true(code == WEIR_ENOMEM || may_be_refused(strategies[s], code));
    }
    replace("mmap", (os_function *)no_memory);
    const struct weir_stream_options large = {.strategy = strategies[s], .block_bytes = 4 * MIB};
    const int code = weir_stream_open(path.text, &large, &stream, NULL);
    restore("mmap");
    if (code == 0) assert_int_equal(weir_stream_close(stream, NULL), 0);
  }
  assert_int_equal(open_files(), before);
}

static int in_child(void *context) {
  struct weir_slice block;
  if (weir_stream_next(context, &block) != WEIR_EFORKED) return 1;
  return weir_stream_close(context, NULL) == WEIR_EFORKED ? 0 : 2;
}

static void a_forked_process_is_told_so(void **state) {
  const struct path path = make(state, 100000);
  for (size_t s = 0; s < NUMBER_OF(strategies); s++) {
    struct weir_stream *stream;
    struct weir_slice block;
    os_process child;
    struct os_exit ended;
    const struct weir_stream_options options = {.strategy = strategies[s], .block_bytes = 5000};
    if (weir_stream_open(path.text, &options, &stream, NULL)) continue;
    assert_int_equal(weir_stream_next(stream, &block), 1);
    assert_int_equal(os_process_fork(in_child, stream, &child), 0);
    assert_int_equal(os_process_wait(child, UINT64_MAX, &ended), 0);
    assert_false(ended.crashed);
    assert_int_equal(ended.code, 0);
    for (uint64_t at = block.size; weir_stream_next(stream, &block) > 0; at += block.size) check_bytes(block, at);
    assert_int_equal(weir_stream_close(stream, NULL), 0);
  }
}

/* A handle may go from thread to thread. */
static void *next_in_thread(void *context) {
  struct weir_slice block;
  return (void *)(intptr_t)weir_stream_next(context, &block);
}

static void each_block_may_be_taken_by_another_thread(void **state) {
  const struct path path = make(state, 100000);
  for (size_t s = 0; s < NUMBER_OF(strategies); s++) {
    struct weir_stream *stream;
    const struct weir_stream_options options = {.strategy = strategies[s], .block_bytes = 10000};
    if (weir_stream_open(path.text, &options, &stream, NULL)) continue;
    for (int i = 0; i <= 10; i++) {
      pthread_t thread;
      void *result;
      assert_int_equal(pthread_create(&thread, NULL, next_in_thread, stream), 0);
      assert_int_equal(pthread_join(thread, &result), 0);
      assert_int_equal((intptr_t)result, i < 10);
    }
    assert_int_equal(weir_stream_close(stream, NULL), 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_strategies_give_all_bytes),
      cmocka_unit_test(all_ranges_give_their_bytes),
      cmocka_unit_test(all_depths_give_all_bytes),
      cmocka_unit_test(a_slow_reader_sees_the_same),
      cmocka_unit_test(a_stream_can_be_closed_at_any_block),
      cmocka_unit_test(an_open_file_gives_the_range_wherever_it_stands),
      cmocka_unit_test(a_pipe_is_read_from_where_it_stands),
      cmocka_unit_test(what_has_no_positions_takes_no_offset),
      cmocka_unit_test(devices_need_leave),
      cmocka_unit_test(what_is_wrong_is_refused),
      cmocka_unit_test(exact_tells_of_a_file_that_was_cut),
      cmocka_unit_test(growth_is_read_too),
      cmocka_unit_test(a_cached_file_is_not_read_ahead),
      cmocka_unit_test(the_distance_doubles_on_each_miss),
      cmocka_unit_test(the_distance_is_limited_by_the_depth_and_the_end),
      cmocka_unit_test(the_distance_shrinks_on_hits),
      cmocka_unit_test(where_it_cannot_be_asked_the_file_is_read_all_the_same),
      cmocka_unit_test(without_rings_there_are_threads),
      cmocka_unit_test(without_threads_one_block_is_read_at_a_time),
      cmocka_unit_test(direct_reads_that_are_refused_in_use_go_on_buffered),
      cmocka_unit_test(a_ring_that_breaks_is_an_error_or_left_behind),
      cmocka_unit_test(a_direct_stream_leaves_a_broken_ring),
      cmocka_unit_test(short_reads_are_not_the_end),
      cmocka_unit_test(interrupts_are_repeated),
      cmocka_unit_test(an_error_comes_behind_the_good_bytes),
      cmocka_unit_test(lack_of_memory_leaves_nothing_open),
      cmocka_unit_test(a_forked_process_is_told_so),
      cmocka_unit_test(each_block_may_be_taken_by_another_thread),
  };
  return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
