/*
 * test_overlap.c - readers that use one block while the next ones are read: whole lines and the right bytes wherever blocks
 * end, blocks that stay as they are while they are used, requests that really are under way meanwhile, and errors.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <aio.h>
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef TEST_HAS_LIBURING
#include <liburing.h>
#endif

#include "methods/methods.h"
#include "os/os.h"

#define TEXT_MAX ((size_t)300000)
#define SYNCS 5u
#define PATIENCE_NS 5000000000u

/* ---- the scene: a file, what is expected of it, and what came ------------------------------------------------------ */

enum form { FORM_BYTES, FORM_ITEMS, FORM_UNITS };

static struct {
  char path[PATH_MAX];
  unsigned char text[TEXT_MAX];
  size_t size;
  enum form form;
  size_t checked;      /* bytes of the text that have come and were right */
  size_t items, units; /* so far */
  bool wrong;
  uint64_t stop_after, hooks; /* the hook sets stop at this many; 0: never */
  atomic_int stop;
  void (*while_used)(const void *data, size_t length); /* the first time that something is handed over */
  unsigned buffers;
} scene;

/* The line at scene.checked, without its end; moves on. */
static bool next_line(const unsigned char **line, size_t *length) {
  const size_t left = scene.size - scene.checked;
  if (left == 0) return false;
  *line = scene.text + scene.checked;
  const unsigned char *lf = memchr(*line, '\n', left);
  *length = lf ? (size_t)(lf - *line) : left;
  scene.checked += *length + (lf ? 1 : 0);
  if (lf && *length > 0 && (*line)[*length - 1] == '\r') --*length;
  return true;
}

/* The next unit of the text, which is valid UTF-8; *second is the other half of a pair, or 0. */
static uint16_t next_unit(uint16_t *second) {
  const unsigned char *at = scene.text + scene.checked;
  const unsigned more = *at < 0x80 ? 0 : *at < 0xe0 ? 1 : *at < 0xf0 ? 2 : 3;
  uint32_t point = more ? *at & (0x3fu >> more) : *at;
  for (unsigned i = 1; i <= more; i++) point = point << 6 | (at[i] & 0x3fu);
  scene.checked += more + 1;
  *second = point < 0x10000 ? 0 : (uint16_t)(0xdc00 + ((point - 0x10000) & 0x3ff));
  return (uint16_t)(point < 0x10000 ? point : 0xd800 + ((point - 0x10000) >> 10));
}

static void check_units(const uint16_t *units, size_t count) {
  for (size_t i = 0; i < count; i++) {
    uint16_t second = 0;
    if (scene.checked >= scene.size || units[i] != next_unit(&second)) scene.wrong = true;
    if (second && (++i == count || units[i] != second)) scene.wrong = true;
    if (scene.wrong) return;
  }
  scene.units += count;
}

static void meanwhile(const void *data, size_t length) {
  void (*each)(const void *, size_t) = scene.while_used;
  scene.while_used = NULL;
  if (each) each(data, length);
  if (++scene.hooks == scene.stop_after) atomic_store(&scene.stop, 1);
}

static void deliver(struct weir_flow *flow, uint64_t offset, const void *data, size_t length) {
  const bool units = scene.form == FORM_UNITS;
  if (offset != (units ? 2 * scene.units : scene.checked) || scene.form == FORM_ITEMS) scene.wrong = true;
  if (scene.wrong) return;
  meanwhile(data, length);
  if (units) {
    check_units(data, length / 2);
  } else {
    scene.wrong = length > scene.size - scene.checked || memcmp(data, scene.text + scene.checked, length) != 0;
    scene.checked += length;
  }
}

static void item(struct weir_flow *flow, const void *data, size_t length) {
  const unsigned char *line;
  size_t expected;
  meanwhile(data, length);
  if (scene.form != FORM_ITEMS || !next_line(&line, &expected) || expected != length || memcmp(line, data, length) != 0)
    scene.wrong = true;
  scene.items++;
}

static int buffer_get(const struct weir_job *job, size_t length, size_t alignment, enum weir_buffer_policy policy,
                      void **out) {
  const int error = os_memory_get(length, 0, out);
  scene.buffers += error == 0;
  return error;
}
static void buffer_put(const struct weir_job *job, void *buffer, size_t length) {
  assert_int_equal(os_memory_put(buffer, length), 0);
  scene.buffers--;
}
static int host_fail(const struct weir_job *job, int code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(job->reason->text, sizeof job->reason->text, format, arguments);
  va_end(arguments);
  return code;
}
static const struct weir_host host = {.abi = WEIR_METHOD_ABI,
                                      .struct_size = sizeof(struct weir_host),
                                      .buffer_get = buffer_get,
                                      .buffer_put = buffer_put,
                                      .fail = host_fail};

/* ---- a life -------------------------------------------------------------------------------------------------------- */

struct life {
  const char *method;
  enum weir_task task;
  enum form form;
  uint64_t block, depth, sync, parse, engine;
  uint64_t promised; /* bytes that the job says the file has; 0: those it has */
  unsigned passes;   /* 0 counts as 1 */
};
struct outcome {
  int unavailable, error;
  uint64_t operations;
  struct weir_reason reason;
};

static const struct weir_method *method_of(const char *name) {
  for (const struct weir_method *const *at = methods_list; *at; at++)
    if (strcmp((*at)->name, name) == 0) return *at;
  fail_msg("there is no %s", name);
  return NULL;
}

static uint64_t value_of(const struct life *life, const char *param) {
  const struct {
    const char *name;
    uint64_t value;
  } values[] = {{"block", life->block},
                {"depth", life->depth},
                {"sync", life->sync},
                {"parse", life->parse},
                {"engine", life->engine}};
  for (size_t i = 0; i < METHODS_COUNT(values); i++)
    if (strcmp(values[i].name, param) == 0) return values[i].value;
  fail_msg("no value for %s", param);
  return 0;
}

static unsigned descriptors(void) {
  unsigned count = 0;
  DIR *list = opendir("/proc/self/fd");
  assert_non_null(list);
  while (readdir(list)) count++;
  (void)closedir(list);
  return count;
}

static void begin_pass(const struct life *life, struct weir_flow *flow) {
  scene.form = life->form;
  scene.checked = scene.items = scene.units = 0;
  scene.hooks = 0;
  scene.wrong = false;
  atomic_store(&scene.stop, 0);
  *flow = (struct weir_flow){.mode = WEIR_CONSUMER_VERIFY, .stop = &scene.stop, .deliver = deliver, .item = item};
}

static int pass(const struct life *life, const struct weir_method *m, void *state, const struct weir_job *job,
                struct outcome *out) {
  struct weir_flow flow;
  begin_pass(life, &flow);
  int error = m->open(state, job);
  if (error) return error;
  error = m->run(state, job, &flow, UINT64_MAX);
  out->operations = flow.operations;
  const int closed = m->close(state, job);
  return error ? error : closed;
}

static struct outcome live(const struct life *life) {
  const struct weir_method *m = method_of(life->method);
  struct outcome out = {.unavailable = 0};
  uint64_t params[WEIR_PARAMS_MAX] = {0};
  for (size_t i = 0; i < m->param_count; i++) params[i] = value_of(life, m->params[i].name);
  const uint64_t size = life->promised ? life->promised : scene.size;
  const struct weir_job job = {.abi = WEIR_METHOD_ABI,
                               .struct_size = sizeof job,
                               .task = life->task,
                               .direction = WEIR_READ,
                               .consumer = WEIR_CONSUMER_VERIFY,
                               .path = scene.path,
                               .directory = ".",
                               .file_size = size,
                               .part_length = size,
                               .instances = 1,
                               .params = params,
                               .block = size,
                               .blocks = 1,
                               .operations = 1,
                               .host = &host,
                               .reason = &out.reason,
                               .data = m->data};
  const unsigned before = descriptors();
  out.unavailable = m->probe(&job, &out.reason);
  assert_int_equal(descriptors(), before);
  if (out.unavailable) return out;
  void *state = calloc(1, m->state_size);
  assert_non_null(state);
  out.error = m->setup(state, &job);
  for (unsigned i = 0; i < (life->passes ? life->passes : 1) && !out.error; i++)
    out.error = pass(life, m, state, &job, &out);
  m->teardown(state, &job);
  static void *lost; /* what a dead ring still may write to stays in reach */
  if (scene.buffers)
    lost = state;
  else
    free(state);
  (void)lost;
  return out;
}

static void say(const struct life *life, const struct outcome *out, const char *what) {
  print_error("%s block %llu depth %llu sync %llu parse %llu engine %llu of %zu bytes: %s; error %d '%s', %zu bytes right\n",
              life->method, (unsigned long long)life->block, (unsigned long long)life->depth, (unsigned long long)life->sync,
              (unsigned long long)life->parse, (unsigned long long)life->engine, scene.size, what, out->error,
              out->reason.text, scene.checked);
  fail();
}

/* Rings of all processes of a user count against one limit of locked memory, and other tests have rings as well. */
static bool is_scarce(const struct outcome *out) {
  return out->error == -ENOMEM && strstr(out->reason.text, "opening a ring") != NULL;
}

/* Lives, and everything comes, once, in order, and nothing is left behind. False: not available here. */
static bool check(const struct life *life) {
  const unsigned before = descriptors();
  const struct outcome out = live(life);
  if (out.unavailable || is_scarce(&out)) {
    assert_true(out.reason.text[0] && out.reason.remedy[0]);
    static const char *told;
    if (told != life->method) print_message("SKIPPED %s: %s (%s)\n", life->method, out.reason.text, out.reason.remedy);
    told = life->method;
    return false;
  }
  if (out.error) say(life, &out, "failed");
  if (scene.wrong) say(life, &out, "something wrong came");
  if (scene.checked != scene.size) say(life, &out, "not all came");
  if (out.operations != 1) say(life, &out, "not one operation");
  if (scene.buffers) say(life, &out, "memory was not given back");
  if (descriptors() != before) say(life, &out, "descriptors leaked");
  return true;
}

/* ---- texts --------------------------------------------------------------------------------------------------------- */

static void write_text(void) {
  const int fd = open(scene.path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, scene.text, scene.size), (ssize_t)scene.size);
  assert_int_equal(close(fd), 0);
}

static void take_text(const char *text) {
  scene.size = strlen(text);
  memcpy(scene.text, text, scene.size);
  write_text();
}

/* Lines of 0 to 130 bytes with characters of each length, one in four behind a CR, the last without an end. */
static void make_text(size_t least) {
  static const char *const parts[] = {"a", "Zz9 ", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x8c\x8a", ".,;", "\r"};
  uint64_t random = 0x5eed;
  scene.size = 0;
  while (scene.size < least) {
    random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    for (uint64_t i = random >> 33; i % 33; i--) {
      const char *part = parts[(i * i + (random >> 40)) % METHODS_COUNT(parts)];
      memcpy(scene.text + scene.size, part, strlen(part));
      scene.size += strlen(part);
    }
    scene.text[scene.size++] = (random >> 60) % 4 ? 'x' : '\r';
    scene.text[scene.size++] = '\n';
  }
  memcpy(scene.text + scene.size, "no end", 6);
  scene.size += 6;
  write_text();
}

/* ---- all combinations ---------------------------------------------------------------------------------------------- */

static const char *const readers[] = {"overlap/none", "overlap/ring", "overlap/aio", "overlap/thread"};
static const char *const texts[] = {"overlap/text-all", "overlap/text-grow", "overlap/lines-append"};

/* A reader in each of its forms: lines, text parsed, text handed over. False: not available. */
static bool check_forms(struct life life) {
  life.task = WEIR_TASK_LINES;
  life.form = FORM_ITEMS;
  if (!check(&life)) return false;
  life.task = WEIR_TASK_TEXT;
  life.parse = 1;
  (void)check(&life);
  life.parse = 0;
  life.form = FORM_BYTES;
  (void)check(&life);
  return true;
}

static void check_depths(const char *method, uint64_t block) {
  static const uint64_t depths[] = {1, 2, 5};
  const bool threads = strcmp(method, "overlap/thread") == 0;
  for (size_t d = 0; d < METHODS_COUNT(depths); d++) {
    if (d > 0 && strcmp(method, "overlap/none") == 0) break;
    for (unsigned sync = 0; sync < (threads ? SYNCS : 1); sync++) {
      if (sync > 0 && block % 8) break; /* what is told how does not depend on every size */
      if (!check_forms((struct life){.method = method, .block = block, .depth = depths[d], .sync = sync})) return;
    }
  }
}

static void lines_are_whole_wherever_blocks_end(void **unused) {
  static const char *const odd[] = {"",     "\n",       "a",          "\r",         "\r\n", "a\r\nb", "a\n\nb\r\n\r\n\n",
                                    "a\rb", "a\r\r\nb", "ab\ncd\r\n", "\xc3\xa9\n", "\n\r"};
  for (size_t i = 0; i < METHODS_COUNT(odd); i++) {
    take_text(odd[i]);
    for (size_t m = 0; m < METHODS_COUNT(readers); m++)
      for (uint64_t block = 1; block <= scene.size + 1; block++) check_depths(readers[m], block);
  }
  make_text(180);
  for (size_t m = 0; m < METHODS_COUNT(readers); m++)
    for (uint64_t block = 1; block <= scene.size + 1; block++) check_depths(readers[m], block);
}

static void long_files_and_deep_queues_are_right(void **unused) {
  make_text(200000);
  for (size_t m = 0; m < METHODS_COUNT(readers); m++) {
    const bool threads = strcmp(readers[m], "overlap/thread") == 0;
    for (unsigned sync = 0; sync < (threads ? SYNCS : 1); sync++) {
      (void)check_forms((struct life){.method = readers[m], .block = 4096, .depth = 32, .sync = sync, .passes = 3});
      (void)check_forms((struct life){.method = readers[m], .block = 1000, .depth = 4, .sync = sync});
      (void)check_forms((struct life){.method = readers[m], .block = 131072, .depth = 1, .sync = sync, .passes = 2});
    }
  }
}

static void texts_are_decoded_wherever_blocks_end(void **unused) {
  for (unsigned engine = 0; engine < 3; engine++)
    for (size_t m = 0; m < METHODS_COUNT(texts); m++) {
      struct life life = {
          .method = texts[m], .task = WEIR_TASK_TEXT, .form = FORM_UNITS, .engine = engine, .passes = 2, .block = 3};
      take_text("");
      (void)check(&life);
      make_text(100);
      for (life.block = 1; life.block <= scene.size + 1; life.block++) (void)check(&life);
      make_text(100000);
      life.block = 4096;
      (void)check(&life);
    }
}

static void a_line_longer_than_many_blocks_stays_one(void **unused) {
  memset(scene.text, 'l', 50000);
  scene.size = 50000;
  scene.text[49000] = '\n';
  write_text();
  for (size_t m = 0; m < METHODS_COUNT(readers); m++)
    (void)check_forms((struct life){.method = readers[m], .block = 512, .depth = 3});
}

/* ---- what goes on while a block is used ---------------------------------------------------------------------------- */

static atomic_uint begun; /* reads of the file */

static ssize_t counted_pread(int fd, void *data, size_t length, off_t offset) {
  atomic_fetch_add(&begun, 1);
  return pread(fd, data, length, offset);
}
static int counted_aio_read(struct aiocb *block) {
  atomic_fetch_add(&begun, 1);
  return aio_read(block);
}
#ifdef TEST_HAS_LIBURING
static int counted_enter(struct io_uring *ring, unsigned wait) {
  atomic_fetch_add(&begun, io_uring_sq_ready(ring));
  return io_uring_submit_and_wait(ring, wait);
}
static int counted_poll(struct io_uring *ring) {
  atomic_fetch_add(&begun, io_uring_sq_ready(ring));
  return io_uring_submit_and_get_events(ring);
}
#endif

static void replace(const char *name, os_function *by) { assert_non_null(os_override(name, by)); }
static void restore(const char *name) { assert_non_null(os_override(name, NULL)); }

static unsigned expected_begun;
static bool as_many_begun, unchanged;

/* Waits until as many as expected are under way, then long enough for more to come and for what they read to arrive. */
static void watch(const void *data, size_t length) {
  void *copy = malloc(length);
  assert_non_null(copy);
  memcpy(copy, data, length);
  const uint64_t start = os_clock_ns();
  while (atomic_load(&begun) < expected_begun && os_clock_ns() - start < PATIENCE_NS) os_sleep_ns(100000);
  os_sleep_ns(20000000);
  as_many_begun = atomic_load(&begun) == expected_begun;
  unchanged = memcmp(copy, data, length) == 0;
  free(copy);
}

static void the_next_requests_are_under_way_while_a_block_is_used(void **unused) {
  make_text(100000);
  replace("pread", (os_function *)counted_pread);
  replace("aio_read", (os_function *)counted_aio_read);
#ifdef TEST_HAS_LIBURING
  replace("io_uring_enter", (os_function *)counted_enter);
  replace("io_uring_poll", (os_function *)counted_poll);
#endif
  for (size_t i = 0; i < METHODS_COUNT(readers) * 2; i++) {
    struct life life = {.method = readers[i / 2], .task = WEIR_TASK_TEXT, .form = FORM_BYTES, .block = 4096};
    life.depth = i % 2 ? 4 : 1;
    const bool none = strcmp(life.method, "overlap/none") == 0;
    atomic_store(&begun, 0);
    expected_begun = none ? 1 : 1 + (unsigned)life.depth;
    as_many_begun = unchanged = false;
    scene.while_used = watch;
    if (!check(&life)) {
      scene.while_used = NULL;
      continue;
    }
    if (!as_many_begun) fail_msg("%s depth %u: not %u begun", life.method, (unsigned)life.depth, expected_begun);
    if (!unchanged) fail_msg("%s depth %u: written to while it was used", life.method, (unsigned)life.depth);
  }
  restore("pread");
  restore("aio_read");
#ifdef TEST_HAS_LIBURING
  restore("io_uring_enter");
  restore("io_uring_poll");
#endif
}

/* ---- faults -------------------------------------------------------------------------------------------------------- */

static uint64_t bad_offset; /* the transfer that begins here fails; 0: none */
static atomic_uint fault_calls;

/* Cuts counts to odd shares and interrupts every third. */
static bool interrupts(void) { return bad_offset == 0 && atomic_fetch_add(&fault_calls, 1) % 3 == 2; }
static size_t shorter(uint64_t offset, size_t length) {
  const size_t cut = bad_offset == 0 && length > 1 ? length / 2 + offset % 7 % length / 2 : length;
  return bad_offset > offset && bad_offset - offset < cut ? (size_t)(bad_offset - offset) : cut;
}

static ssize_t bad_pread(int fd, void *data, size_t length, off_t offset) {
  const bool bad = bad_offset && (uint64_t)offset == bad_offset;
  if (bad || interrupts()) {
    errno = bad ? EIO : EINTR;
    return -1;
  }
  return pread(fd, data, shorter((uint64_t)offset, length), offset);
}
static int bad_aio_read(struct aiocb *block) {
  if (bad_offset && (uint64_t)block->aio_offset == bad_offset) block->aio_fildes = 1 << 20;
  block->aio_nbytes = shorter((uint64_t)block->aio_offset, block->aio_nbytes);
  return aio_read(block);
}
#ifdef TEST_HAS_LIBURING
static void spoil(struct io_uring *ring) {
  for (unsigned at = ring->sq.sqe_head; at != ring->sq.sqe_tail; at++) {
    struct io_uring_sqe *request = &ring->sq.sqes[at & ring->sq.ring_mask];
    request->len = (uint32_t)shorter(request->off, request->len);
    if (bad_offset && request->off == bad_offset) request->fd = 1 << 20;
  }
}
static void interrupt_some(struct io_uring *ring) {
  unsigned head;
  struct io_uring_cqe *completion;
  io_uring_for_each_cqe(ring, head, completion) {
    if (interrupts()) completion->res = -EINTR;
  }
}
static int bad_enter(struct io_uring *ring, unsigned wait) {
  spoil(ring);
  const int result = io_uring_submit_and_wait(ring, wait);
  interrupt_some(ring);
  return result;
}
static int bad_poll(struct io_uring *ring) {
  spoil(ring);
  const int result = io_uring_submit_and_get_events(ring);
  interrupt_some(ring);
  return result;
}
#endif

static void plan_faults(uint64_t offset) {
  bad_offset = offset;
  atomic_store(&fault_calls, 0);
  replace("pread", (os_function *)bad_pread);
  replace("aio_read", (os_function *)bad_aio_read);
#ifdef TEST_HAS_LIBURING
  replace("io_uring_enter", (os_function *)bad_enter);
  replace("io_uring_poll", (os_function *)bad_poll);
#endif
}
static void end_faults(void) {
  restore("pread");
  restore("aio_read");
#ifdef TEST_HAS_LIBURING
  restore("io_uring_enter");
  restore("io_uring_poll");
#endif
}

static void short_and_interrupted_transfers_go_on(void **unused) {
  make_text(20000);
  plan_faults(0);
  for (size_t m = 0; m < METHODS_COUNT(readers); m++)
    for (uint64_t depth = 1; depth < 8; depth += 3)
      (void)check_forms((struct life){.method = readers[m], .block = 1024, .depth = depth});
  for (unsigned i = 0; i < 3 * METHODS_COUNT(texts); i++)
    (void)check(
        &(struct life){.method = texts[i / 3], .task = WEIR_TASK_TEXT, .form = FORM_UNITS, .engine = i % 3, .block = 1000});
  end_faults();
}

/* What comes before the bad place is right, and what is told names the place. */
static void check_failure(const struct life *life, int error, const char *words, size_t come) {
  const unsigned before = descriptors();
  const struct outcome out = live(life);
  if (out.unavailable) return;
  if (out.error != error || !strstr(out.reason.text, words)) say(life, &out, words);
  if (scene.wrong || scene.checked > come) say(life, &out, "something wrong came before the error");
  if (out.operations) say(life, &out, "counted as done");
  if (scene.buffers) say(life, &out, "memory was not given back");
  if (descriptors() != before) say(life, &out, "descriptors leaked");
}

/* Plain calls are told that the device failed; rings and POSIX AIO that the descriptor is none. */
static int bad_error(bool plain_calls) { return plain_calls ? -EIO : -EBADF; }

static void the_first_failure_is_told_and_ends_it(void **unused) {
  make_text(40000);
  for (unsigned at = 0; at < 4; at++) {
    const uint64_t offset = at < 3 ? 1024 * (1 + 10 * at) : 1024 * 7 + 100;
    char words[64];
    (void)snprintf(words, sizeof words, "bytes at %llu", (unsigned long long)offset);
    plan_faults(offset);
    for (size_t m = 0; m < METHODS_COUNT(readers); m++)
      for (uint64_t depth = 1; depth < 8; depth += 3)
        for (unsigned sync = 0; sync < SYNCS; sync++)
          check_failure(&(struct life){.method = readers[m],
                                       .task = WEIR_TASK_TEXT,
                                       .form = FORM_BYTES,
                                       .block = 1024,
                                       .depth = depth,
                                       .sync = sync},
                        bad_error(m == 0 || m == 3), words, (size_t)offset);
    for (unsigned i = 0; i < 3 * METHODS_COUNT(texts); i++)
      check_failure(
          &(struct life){.method = texts[i / 3], .task = WEIR_TASK_TEXT, .form = FORM_UNITS, .engine = i % 3, .block = 1024},
          bad_error(i % 3 == 2), words, 0);
    end_faults();
  }
}

static void a_file_that_ends_too_early_is_told(void **unused) {
  make_text(10000);
  char words[64];
  (void)snprintf(words, sizeof words, "ended at byte %zu", scene.size);
  for (size_t m = 0; m < METHODS_COUNT(readers); m++)
    check_failure(&(struct life){.method = readers[m],
                                 .task = WEIR_TASK_LINES,
                                 .form = FORM_ITEMS,
                                 .block = 4096,
                                 .depth = 4,
                                 .promised = scene.size + 9999},
                  -ENODATA, words, scene.size);
  for (unsigned i = 0; i < 3 * METHODS_COUNT(texts); i++)
    check_failure(&(struct life){.method = texts[i / 3],
                                 .task = WEIR_TASK_TEXT,
                                 .form = FORM_UNITS,
                                 .engine = i % 3,
                                 .block = 4096,
                                 .promised = scene.size + 1},
                  -ENODATA, words, 0);
}

static void stop_ends_it_early(void **unused) {
  make_text(100000);
  for (unsigned i = 0; i < 2 * METHODS_COUNT(readers); i++) {
    const bool parses = i % 2;
    const struct life life = {.method = readers[i / 2],
                              .task = WEIR_TASK_TEXT,
                              .parse = parses,
                              .form = parses ? FORM_ITEMS : FORM_BYTES,
                              .block = 1024,
                              .depth = 8};
    scene.stop_after = 3;
    const struct outcome out = live(&life);
    scene.stop_after = 0;
    if (out.unavailable) continue;
    if (out.error || out.operations || scene.wrong || scene.checked == 0) say(&life, &out, "stopped, but not well");
    if (scene.checked > 4 * 1024) say(&life, &out, "went on after it was stopped");
    if (scene.buffers) say(&life, &out, "memory was not given back");
  }
}

/* ---- what cannot be had -------------------------------------------------------------------------------------------- */

static int no_thread(pthread_t *out, const pthread_attr_t *attributes, void *(*body)(void *), void *context) {
  return EAGAIN;
}
static int few_threads(pthread_t *out, const pthread_attr_t *attributes, void *(*body)(void *), void *context) {
  return atomic_fetch_add(&fault_calls, 1) < 2 ? pthread_create(out, attributes, body, context) : EAGAIN;
}
static int no_event(unsigned count, int flags) {
  errno = EMFILE;
  return -1;
}

static void check_refused(const struct life *life, int error) {
  const struct outcome out = live(life);
  if (out.unavailable != error || !out.reason.text[0] || !out.reason.remedy[0]) say(life, &out, "not refused with a reason");
}

static void what_cannot_be_had_is_unavailable_with_a_reason(void **unused) {
  take_text("a\n");
  struct life threads = {.method = "overlap/thread", .task = WEIR_TASK_LINES, .form = FORM_ITEMS, .block = 4096, .depth = 4};
  replace("pthread_create", (os_function *)no_thread);
  check_refused(&threads, -EAGAIN);
  atomic_store(&fault_calls, 0);
  replace("pthread_create", (os_function *)few_threads);
  check_refused(&threads, -EAGAIN); /* those that started are joined, else this hangs or leaks */
  restore("pthread_create");
  replace("eventfd", (os_function *)no_event);
  threads.sync = OS_GATE_EVENT;
  check_refused(&threads, -EMFILE);
  restore("eventfd");
}

#ifdef TEST_HAS_LIBURING
static int no_ring(unsigned entries, struct io_uring *ring, struct io_uring_params *params) { return -EPERM; }
static int dead_ring(struct io_uring *ring, unsigned wait) { return -EBADF; }
static int dead_poll(struct io_uring *ring) { return -EBADF; }
#endif

static void forbidden_rings_are_unavailable_with_a_reason(void **unused) {
#ifdef TEST_HAS_LIBURING
  take_text("a\n");
  replace("io_uring_setup", (os_function *)no_ring);
  check_refused(&(struct life){.method = "overlap/ring", .task = WEIR_TASK_LINES, .block = 4096, .depth = 1}, -EPERM);
  for (size_t m = 0; m < METHODS_COUNT(texts); m++)
    check_refused(&(struct life){.method = texts[m], .task = WEIR_TASK_TEXT, .block = 4096}, -EPERM);
  restore("io_uring_setup");
#else
  print_message("SKIPPED: built without liburing\n");
  skip();
#endif
}

/* Its requests may still come, so their memory stays. */
static void a_ring_that_dies_is_given_up(void **unused) {
#ifdef TEST_HAS_LIBURING
  make_text(10000);
  replace("io_uring_enter", (os_function *)dead_ring);
  replace("io_uring_poll", (os_function *)dead_poll);
  const struct life life = {
      .method = "overlap/ring", .task = WEIR_TASK_LINES, .form = FORM_ITEMS, .block = 4096, .depth = 2};
  const struct outcome out = live(&life);
  restore("io_uring_enter");
  restore("io_uring_poll");
  if (out.unavailable) {
    print_message("SKIPPED %s: %s\n", life.method, out.reason.text);
    skip();
  }
  if (out.error != -EBADF || out.operations) say(&life, &out, "not given up");
  assert_int_equal(scene.buffers, 1);
  scene.buffers = 0;
#else
  print_message("SKIPPED: built without liburing\n");
  skip();
#endif
}

static int begin(void **unused) {
  char here[PATH_MAX - 32];
  if (!getcwd(here, sizeof here)) return -1;
  (void)snprintf(scene.path, sizeof scene.path, "%s/overlap-XXXXXX", here);
  const int fd = mkstemp(scene.path);
  return fd < 0 ? -1 : close(fd);
}
static int finish(void **unused) { return unlink(scene.path); }

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lines_are_whole_wherever_blocks_end),
      cmocka_unit_test(long_files_and_deep_queues_are_right),
      cmocka_unit_test(texts_are_decoded_wherever_blocks_end),
      cmocka_unit_test(a_line_longer_than_many_blocks_stays_one),
      cmocka_unit_test(the_next_requests_are_under_way_while_a_block_is_used),
      cmocka_unit_test(short_and_interrupted_transfers_go_on),
      cmocka_unit_test(the_first_failure_is_told_and_ends_it),
      cmocka_unit_test(a_file_that_ends_too_early_is_told),
      cmocka_unit_test(stop_ends_it_early),
      cmocka_unit_test(what_cannot_be_had_is_unavailable_with_a_reason),
      cmocka_unit_test(forbidden_rings_are_unavailable_with_a_reason),
      cmocka_unit_test(a_ring_that_dies_is_given_up),
  };
  return cmocka_run_group_tests_name("overlap", tests, begin, finish);
}
