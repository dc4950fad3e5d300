/*
 * test_files.c - the contract of methods that copy files or read many: each byte once, each copy whole, nothing left open;
 * and what they do when files, calls and file systems do not play along.
 *
 * Driven by the list of methods like test_methods.c and test_faults.c, which do the same for blocks and whole files.
 *
 * test_files [METHOD]: all methods of the list, or one.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <unistd.h>
#ifdef TEST_HAS_LIBURING
#include <liburing.h>
#endif

#include "methods/methods.h"
#include "os/os.h"
#include "trial_files.h"

#define SIZE UINT64_C(99991) /* 25 files, the last one not full */
#define BLOCK UINT64_C(4096)
#define FILES_MAX 32u /* of one trial */
#define SLOW_FILES 8u /* of one that starts a program or waits for a device for each file */

/* What replaced calls do. */
static struct {
  bool interrupt; /* every second call says EINTR */
  size_t unit;    /* counts are cut to multiples of this, below what was asked; 0: not cut */
  uint64_t calls; /* that moved something */
  uint64_t bad;   /* this one of them says EIO; 0: none */
  unsigned turns;
  uint64_t random;
} fault;

static const char *chosen; /* method to test; NULL: all */

static bool is(const struct trial *trial, const char *name) { return strncmp(trial->method->name, name, strlen(name)) == 0; }
static bool copies(const struct trial *trial) { return trial->task == WEIR_TASK_COPY; }

static uint64_t files_of(const struct trial *trial) { return (trial->size + trial->block - 1) / trial->block; }

static void fail_trial(const struct trial *trial, const struct trial_result *result, const char *what) {
  char name[512];
  print_error("%s: %s\n  end %d error %d reason '%s' remedy '%s'\n  operations %" PRIu64 " of %" PRIu64 " bytes %" PRIu64
              " wrong %" PRIu64 " covered %" PRIu64 " twice %" PRIu64 "\n",
              trial_name(trial, name, sizeof name), what, (int)result->end, result->error, result->reason.text,
              result->reason.remedy, result->operations, result->expected_operations, result->bytes, result->wrong,
              result->covered, result->twice);
  fail();
}

/* Runs, and proves that nothing is left open. False where it is not available here: said once for each method. */
static bool run(const struct trial *trial, struct trial_result *result) {
  static const struct weir_method *told[64];
  const unsigned descriptors = trial_descriptors();
  trial_run(trial, result);
  if (trial_descriptors() != descriptors) fail_trial(trial, result, "descriptors leaked");
  if (result->end != TRIAL_UNAVAILABLE) return true;
  if (!result->reason.text[0] || !result->reason.remedy[0]) fail_trial(trial, result, "no reason or remedy");
  size_t i = 0;
  while (told[i] && told[i] != trial->method) i++;
  if (!told[i] && !fault.bad)
    if (!fault.bad) told[i] = trial->method;
  told[i] = trial->method;
  return false;
}

/* The first `count` files have been read or copied, no more. */
static void check_files(const struct trial *trial, const struct trial_result *result, uint64_t count) {
  const uint64_t bytes = count * trial->block < trial->size ? count * trial->block : trial->size;
  if (result->operations != count) fail_trial(trial, result, "operations");
  if (result->bytes != bytes) fail_trial(trial, result, "bytes");
  if (copies(trial) && !trial_copies_are_right(trial, count)) fail_trial(trial, result, "the copies are not right");
  if (!copies(trial) && (result->covered != bytes || result->twice || result->wrong))
    fail_trial(trial, result, "not each byte once");
}

/* False when not available here. */
static bool check(const struct trial *trial) {
  struct trial_result result;
  if (!run(trial, &result)) return false;
  if (result.end != TRIAL_DONE) fail_trial(trial, &result, "failed");
  check_files(trial, &result, files_of(trial));
  if (!copies(trial) && result.sum != weir_touch(0, trial_content(), (size_t)trial->size)) fail_trial(trial, &result, "sum");
  return true;
}

typedef void visit(struct trial *trial);
static void visit_task(enum weir_task task, visit *each) {
  for (const struct weir_method *const *at = methods_list; *at; at++) {
    if (!((*at)->tasks & WEIR_BIT(task)) || ((*at)->capabilities & WEIR_CAP_FLOOR)) continue;
    if (chosen && strcmp((*at)->name, chosen) != 0) continue;
    struct trial trial = {.method = *at,
                          .task = task,
                          .direction = task == WEIR_TASK_COPY ? WEIR_WRITE : WEIR_READ,
                          .target = WEIR_TARGET_NEW,
                          .consumer = WEIR_CONSUMER_VERIFY,
                          .size = SIZE,
                          .block = BLOCK};
    trial_presets(&trial);
    each(&trial);
  }
}
static void visit_both(visit *each) {
  visit_task(WEIR_TASK_COPY, each);
  visit_task(WEIR_TASK_MANY, each);
}

/* ---- sizes, choices and numbers ------------------------------------------------------------------------------------ */

static unsigned choice_count(const struct weir_param *param) {
  unsigned count = 1;
  if (param->kind != WEIR_PARAM_CHOICE) return 1;
  for (const char *at = param->choices; *at; at++) count += *at == '|';
  return count;
}

/* All values of one choice at a time, the others at their presets. */
static void check_choices(struct trial *trial) {
  if (!check(trial)) return;
  for (size_t i = 0; i < trial->method->param_count; i++) {
    const uint64_t kept = trial->params[i];
    const unsigned count = choice_count(&trial->method->params[i]);
    for (unsigned value = 0; value < count && count > 1; value++) {
      trial->params[i] = value;
      if (value != kept) (void)check(trial);
      trial->params[i] = kept;
    }
  }
}

static bool too_many(const struct trial *trial) {
  const bool slow =
      is(trial, "copy/cp") || trial->durability != WEIR_DURABILITY_NONE || (trial->method->capabilities & WEIR_CAP_DIRECT);
  return files_of(trial) > (slow ? SLOW_FILES : FILES_MAX);
}

/* Files of one byte, tails of one byte, granules and pages met and missed by one, one file for all, and no file at all. */
static void meet_sizes(struct trial *trial) {
  static const uint64_t sizes[] = {0, 1, 7, 513, 4096, 4097, 99991, 1048577};
  static const uint64_t blocks[] = {1, 1000, 4096, 65536, UINT64_C(2) << 20};
  for (size_t i = 0; i < METHODS_COUNT(sizes) * METHODS_COUNT(blocks) * 2; i++) {
    trial->size = sizes[i / 2 / METHODS_COUNT(blocks)];
    trial->block = blocks[i / 2 % METHODS_COUNT(blocks)];
    trial->instances = i % 2 ? 3 : 1;
    if (too_many(trial)) continue;
    if (trial->size == 4097 || trial->size == 0)
      check_choices(trial);
    else
      (void)check(trial);
  }
}
static void every_size_arrives_whole(void **unused) { visit_both(meet_sizes); }

static void read_at_random(struct trial *trial) {
  trial->access = WEIR_RANDOM;
  trial->block = 1000;
  if (!(trial->method->accesses & WEIR_BIT(WEIR_RANDOM)) || too_many(trial)) trial->block = 65536;
  if (trial->method->accesses & WEIR_BIT(WEIR_RANDOM)) (void)check(trial);
}
static void the_order_of_files_does_not_matter(void **unused) { visit_both(read_at_random); }

static void vary_numbers(struct trial *trial) {
  static const struct {
    const char *name;
    uint64_t values[5];
  } numbers[] = {{"chunk", {1000, 4096, 5000, 65536, 1 << 20}},
                 {"depth", {1, 2, 3, 16, 1024}},
                 {"pipe", {4096, 5000, 8192, 65536, 1 << 20}},
                 {"keep", {0, 1, 2, 24, 1000}},
                 {"crew", {1, 2, 5, 10, 50}}};
  for (size_t i = 0; i < METHODS_COUNT(numbers) * 5; i++) {
    const int at = trial_param(trial->method, numbers[i / 5].name);
    if (at < 0) continue;
    trial_presets(trial);
    trial->params[at] = numbers[i / 5].values[i % 5];
    trial->size = SIZE;
    trial->block = i % 2 ? 16384 : 99991;
    (void)check(trial);
  }
}
static void numbers_may_take_any_value(void **unused) { visit_both(vary_numbers); }

static void repeat_passes(struct trial *trial) {
  trial->block = 16384;
  trial->passes = 3;
  check_choices(trial);
}
static void a_state_serves_several_passes(void **unused) { visit_both(repeat_passes); }

/* ---- budgets, stop, clock, consumers ------------------------------------------------------------------------------- */

static void limit_budget(struct trial *trial) {
  static const uint64_t budgets[] = {0, 1, 6, 7, 1000};
  struct trial_result result;
  trial->block = 16384; /* 7 files */
  trial->limited = true;
  for (size_t i = 0; i < METHODS_COUNT(budgets); i++) {
    trial->budget = budgets[i];
    if (!run(trial, &result)) return;
    if (result.end != TRIAL_DONE) fail_trial(trial, &result, "failed");
    check_files(trial, &result, trial->budget < 7 ? trial->budget : 7);
  }
}
static void a_budget_is_a_prefix(void **unused) { visit_both(limit_budget); }

/* What is under way when stop is set is finished and counted; nothing is begun after. */
static void stop_early(struct trial *trial) {
  struct trial_result result;
  const int depth = trial_param(trial->method, "depth");
  if (trial_param(trial->method, "crew") >= 0) return; /* one call for all files: stop_one_call */
  trial->timed = true;
  trial->stop_after = 5;
  if (!run(trial, &result)) return;
  if (result.end != TRIAL_DONE) fail_trial(trial, &result, "failed");
  const uint64_t most = 5 + (depth >= 0 && !copies(trial) ? trial->params[depth] : 0);
  if (result.operations < 5 || result.operations > most) fail_trial(trial, &result, "did not stop");
  if (copies(trial)) check_files(trial, &result, 5);
  if (result.bytes != result.operations * trial->block) fail_trial(trial, &result, "counts do not agree");
}
static void stop_ends_a_run_early(void **unused) { visit_both(stop_early); }

static atomic_uint closes;
static int close_and_stop(int fd) {
  const bool now = atomic_fetch_add(&closes, 1) == 20;
  if (now) trial_stop();
  if (now) os_sleep_ns(50000000); /* the library asks every 20 ms */
  return close(fd);
}
/* One call copies all files, and is told to stop while it does. */
static void stop_one_call(struct trial *trial) {
  struct trial_result result;
  if (trial_param(trial->method, "crew") < 0) return;
  atomic_store(&closes, 0);
  assert_non_null(os_override("close", (os_function *)close_and_stop));
  const bool available = run(trial, &result);
  assert_non_null(os_override("close", NULL));
  if (!available) return;
  if (result.end != TRIAL_DONE) fail_trial(trial, &result, "failed");
  if (result.operations < 1 || result.operations > 24) fail_trial(trial, &result, "did not stop");
  if (result.bytes != result.operations * trial->block) fail_trial(trial, &result, "counts do not agree");
  if (trial_copy_count() != result.operations) fail_trial(trial, &result, "left what was not finished");
}
static void stop_ends_one_call_early(void **unused) { visit_both(stop_one_call); }

static void time_operations(struct trial *trial) {
  struct trial_result result;
  trial->timed = true;
  if (trial_param(trial->method, "crew") >= 0 || !run(trial, &result)) return; /* one call is timed once */
  if (result.end != TRIAL_DONE || result.latencies != result.operations) fail_trial(trial, &result, "latencies");
}
static void each_file_is_timed_once(void **unused) { visit_both(time_operations); }

static void consume_otherwise(struct trial *trial) {
  struct trial_result result;
  for (int touch = 0; touch < 2; touch++) {
    trial->consumer = touch ? WEIR_CONSUMER_TOUCH : WEIR_CONSUMER_NONE;
    if (!run(trial, &result)) return;
    if (result.end != TRIAL_DONE || result.bytes != trial->size) fail_trial(trial, &result, "bytes");
    if (result.sum != (touch ? weir_touch(0, trial_content(), (size_t)trial->size) : 0)) fail_trial(trial, &result, "sum");
  }
}
static void other_consumers_are_served(void **unused) { visit_task(WEIR_TASK_MANY, consume_otherwise); }

/* ---- durability ---------------------------------------------------------------------------------------------------- */

static unsigned flushes;
static int watch_sync(int fd) {
  __atomic_fetch_add(&flushes, 1, __ATOMIC_RELAXED);
  return fsync(fd);
}

static void copy_durably(struct trial *trial) {
  struct trial_result result;
  trial->size = 99991;
  trial->block = 16384;
  for (unsigned durability = WEIR_DURABILITY_NONE; durability <= WEIR_DURABILITY_EACH; durability++) {
    trial->durability = (enum weir_durability)durability;
    if (!(trial->method->durabilities & WEIR_BIT(durability))) continue;
    flushes = 0;
    if (!run(trial, &result)) return;
    if (result.end != TRIAL_DONE) fail_trial(trial, &result, "failed");
    check_files(trial, &result, 7);
    /* each file, and the directory once or each time */
    const unsigned least = durability == WEIR_DURABILITY_NONE ? 0 : durability == WEIR_DURABILITY_END ? 8 : 14;
    if (flushes < least || (least == 0 && flushes > 0)) fail_trial(trial, &result, "flushes");
  }
}
static void durable_copies_are_flushed(void **unused) {
  assert_non_null(os_override("fsync", (os_function *)watch_sync));
  assert_non_null(os_override("fdatasync", (os_function *)watch_sync));
  visit_task(WEIR_TASK_COPY, copy_durably);
}

static int bad_sync(int fd) {
  (void)fd;
  errno = EIO;
  return -1;
}
static void meet_bad_flush(struct trial *trial) {
  struct trial_result result;
  for (unsigned durability = WEIR_DURABILITY_END; durability <= WEIR_DURABILITY_EACH; durability++) {
    trial->durability = (enum weir_durability)durability;
    if (!(trial->method->durabilities & WEIR_BIT(durability))) continue;
    if (!run(trial, &result)) return;
    const enum trial_end phase = durability == WEIR_DURABILITY_END ? TRIAL_SYNC : TRIAL_RUN;
    if (result.end != phase || result.error != -EIO || !result.reason.text[0]) fail_trial(trial, &result, "flush");
  }
}
static void a_failed_flush_is_a_failure(void **unused) {
  assert_non_null(os_override("fsync", (os_function *)bad_sync));
  assert_non_null(os_override("fdatasync", (os_function *)bad_sync));
  visit_task(WEIR_TASK_COPY, meet_bad_flush);
}

/* ---- calls that move less, or fail --------------------------------------------------------------------------------- */

static bool refuse(void) {
  if (fault.interrupt && __atomic_add_fetch(&fault.turns, 1, __ATOMIC_RELAXED) % 2) {
    errno = EINTR;
    return true;
  }
  if (__atomic_add_fetch(&fault.calls, 1, __ATOMIC_RELAXED) != fault.bad) return false;
  errno = EIO;
  return true;
}

static size_t cut(size_t length) {
  if (fault.unit == 0 || length <= fault.unit) return length;
  const uint64_t random = __atomic_add_fetch(&fault.random, UINT64_C(0x9e3779b97f4a7c15), __ATOMIC_RELAXED);
  return (1 + (size_t)(random >> 33) % ((length - 1) / fault.unit)) * fault.unit;
}

static ssize_t bad_read(int fd, void *data, size_t length) { return refuse() ? -1 : read(fd, data, cut(length)); }
static ssize_t bad_write(int fd, const void *data, size_t length) { return refuse() ? -1 : write(fd, data, cut(length)); }
static ssize_t bad_pread(int fd, void *data, size_t length, off_t at) {
  return refuse() ? -1 : pread(fd, data, cut(length), at);
}
static ssize_t bad_pwrite(int fd, const void *data, size_t length, off_t at) {
  return refuse() ? -1 : pwrite(fd, data, cut(length), at);
}
static ssize_t bad_range(int from, off_t *from_at, int to, off_t *to_at, size_t length, unsigned flags) {
  return refuse() ? -1 : copy_file_range(from, from_at, to, to_at, cut(length), flags);
}
static ssize_t bad_sendfile(int to, int from, off_t *at, size_t length) {
  return refuse() ? -1 : sendfile(to, from, at, cut(length));
}
static ssize_t bad_splice(int from, off_t *from_at, int to, off_t *to_at, size_t length, unsigned flags) {
  return refuse() ? -1 : splice(from, from_at, to, to_at, cut(length), flags);
}
#ifdef TEST_HAS_LIBURING
/* Cuts transfers that are about to be submitted; a bad one gets an operation that nobody knows. */
static void spoil(struct io_uring *ring) {
  for (unsigned at = ring->sq.sqe_head; at != ring->sq.sqe_tail; at++) {
    struct io_uring_sqe *entry = &ring->sq.sqes[at & ring->sq.ring_mask];
    if (entry->opcode != IORING_OP_READ && entry->opcode != IORING_OP_WRITE) continue;
    entry->len = (uint32_t)cut(entry->len);
    if (++fault.calls == fault.bad) entry->off = (uint64_t)INT64_MAX - 1; /* behind all that a file can have */
  }
}
static void put_off_some(struct io_uring *ring) {
  unsigned head;
  struct io_uring_cqe *done;
  if (!fault.interrupt) return;
  io_uring_for_each_cqe(ring, head, done) {
    if (++fault.turns % 3 == 0 && done->res > 0) done->res = fault.turns % 2 ? -EAGAIN : -EINTR;
  }
}
static int bad_enter(struct io_uring *ring, unsigned wait) {
  spoil(ring);
  const int result = io_uring_submit_and_wait(ring, wait);
  put_off_some(ring);
  return result;
}
static int bad_poll(struct io_uring *ring) {
  spoil(ring);
  const int result = io_uring_submit_and_get_events(ring);
  put_off_some(ring);
  return result;
}
#endif

static void replace_transfers(bool on) {
  static const struct {
    const char *name;
    os_function *bad;
  } table[] = {{"read", (os_function *)bad_read},         {"write", (os_function *)bad_write},
               {"pread", (os_function *)bad_pread},       {"pwrite", (os_function *)bad_pwrite},
               {"sendfile", (os_function *)bad_sendfile}, {"copy_file_range", (os_function *)bad_range},
               {"splice", (os_function *)bad_splice}};
  for (size_t i = 0; i < METHODS_COUNT(table); i++) assert_non_null(os_override(table[i].name, on ? table[i].bad : NULL));
#ifdef TEST_HAS_LIBURING
  assert_non_null(os_override("io_uring_enter", on ? (os_function *)bad_enter : NULL));
  assert_non_null(os_override("io_uring_poll", on ? (os_function *)bad_poll : NULL));
#endif
}

static void go_short(struct trial *trial) {
  static const uint64_t blocks[] = {16384, 99991};
  const bool direct = (trial->method->capabilities & WEIR_CAP_DIRECT) != 0;
  for (unsigned i = 0; i < 4; i++) {
    memset(&fault, 0, sizeof fault);
    fault.interrupt = i % 2 == 1;
    fault.unit = direct ? 4096 : 1; /* a direct transfer cannot go on in the middle of a granule */
    trial->block = blocks[i / 2];
    (void)check(trial);
  }
}
static void short_and_interrupted_calls_go_on(void **unused) {
  replace_transfers(true);
  visit_both(go_short);
}

static ssize_t slow_read(int fd, void *data, size_t length) {
  os_sleep_ns(100000);
  return read(fd, data, length);
}
static ssize_t slow_write(int fd, const void *data, size_t length) {
  os_sleep_ns(100000);
  return write(fd, data, length);
}
/* One that reads ahead overwrites nothing that is still to be written, and waits for what is still to come. */
static void wait_for_other(struct trial *trial) {
  if (!is(trial, "copy/double")) return;
  trial->params[0] = 1000;
  for (int writes = 0; writes < 2; writes++) {
    const char *name = writes ? "write" : "read";
    assert_non_null(os_override(name, writes ? (os_function *)slow_write : (os_function *)slow_read));
    for (trial->block = 3000; trial->block < 100000; trial->block += 96991) (void)check(trial);
    assert_non_null(os_override(name, NULL));
  }
}
static void either_side_may_be_the_slower_one(void **unused) { visit_task(WEIR_TASK_COPY, wait_for_other); }

/* Whichever call fails: the run fails, says which file it was, and leaves nothing open. */
static void meet_error(struct trial *trial) {
  struct trial_result result;
  unsigned failed = 0;
  trial->block = 16384;
  for (uint64_t bad = 1; bad <= 12; bad++) {
    memset(&fault, 0, sizeof fault);
    fault.bad = bad;
    if (!run(trial, &result)) continue; /* it was the probe's */
    if (fault.calls < bad) break;
    if (result.end == TRIAL_DONE) check_files(trial, &result, 7); /* met by something with another way */
    if (result.end == TRIAL_DONE) continue;
    failed++;
    if (result.end != TRIAL_RUN || result.error >= 0) fail_trial(trial, &result, "no such error");
    if (!strstr(result.reason.text, "file 0000000") && !strstr(result.reason.text, "sources/0000000") &&
        !strstr(result.reason.text, "copies/0000000"))
      fail_trial(trial, &result, "does not say where");
  }
  if (failed == 0) print_message("SKIPPED %s: no failing call reaches it, or it has another way\n", trial->method->name);
}
static void an_error_names_the_file(void **unused) {
  replace_transfers(true);
  visit_both(meet_error);
}

/* ---- files that are not what was promised -------------------------------------------------------------------------- */

static void change_size(uint64_t number, off_t size) {
  char path[PATH_MAX + 64];
  assert_int_equal(truncate(weir_name_at(path, trial_sources(), number), size), 0);
}

/* Programs that know nothing of the job copy whatever is there; what is too much is found when the copies are compared. */
static bool knows_the_size(const struct trial *trial) { return !is(trial, "copy/cp"); }

static void meet_size(struct trial *trial, off_t size) {
  struct trial_result result;
  char text[64];
  if (!knows_the_size(trial)) return;
  trial->as_it_is = true;
  trial_lay_out(trial);
  change_size(3, size);
  if (!run(trial, &result)) return;
  const int wanted = (uint64_t)size < trial->block ? -ENODATA : -EFBIG;
  if (result.end != TRIAL_RUN || result.error != wanted) fail_trial(trial, &result, "took a changed file for success");
  (void)snprintf(text, sizeof text, wanted == -EFBIG ? "file 00000003 has more than" : "file 00000003 ended at byte %d;",
                 (int)size);
  if (!strstr(result.reason.text, text)) fail_trial(trial, &result, "does not say where");
  if (result.wrong) fail_trial(trial, &result, "delivered what is not there");
}
static void meet_shorter(struct trial *trial) {
  meet_size(trial, 1000);
  meet_size(trial, 0);
  meet_size(trial, 4095);
}
static void meet_longer(struct trial *trial) { meet_size(trial, 4097); }
static void a_file_that_ends_early_is_a_failure(void **unused) { visit_both(meet_shorter); }
static void a_file_that_goes_on_is_a_failure(void **unused) { visit_both(meet_longer); }

static void meet_missing(struct trial *trial) {
  char path[PATH_MAX + 64];
  struct trial_result result;
  trial->as_it_is = true;
  trial_lay_out(trial);
  assert_int_equal(unlink(weir_name_at(path, trial_sources(), 3)), 0);
  if (!run(trial, &result)) return;
  if (result.end != TRIAL_RUN || result.error >= 0) fail_trial(trial, &result, "missed nothing");
  if (!strstr(result.reason.text, "00000003")) fail_trial(trial, &result, "does not say which");
}
static void a_missing_file_is_named(void **unused) { visit_both(meet_missing); }

static void meet_existing(struct trial *trial) {
  char path[PATH_MAX + 64];
  struct trial_result result;
  if (is(trial, "copy/cp")) return; /* takes what is there for an old copy */
  trial->as_it_is = true;
  trial_lay_out(trial);
  const int fd = open(weir_name_at(path, trial_copies(), 3), O_WRONLY | O_CREAT | O_EXCL, 0600);
  assert_true(fd >= 0 && close(fd) == 0);
  if (!run(trial, &result)) return;
  if (result.end != TRIAL_RUN || result.error != -EEXIST || !strstr(result.reason.text, "00000003"))
    fail_trial(trial, &result, "overwrote a file that was there");
}
static void a_copy_is_never_an_old_file(void **unused) { visit_task(WEIR_TASK_COPY, meet_existing); }

static int bad_close(int fd) {
  (void)close(fd);
  errno = EIO;
  return -1;
}
static void meet_bad_close(struct trial *trial) {
  struct trial_result result;
  if (is(trial, "copy/stdio") || is(trial, "copy/cp")) return; /* close past os.h */
  assert_non_null(os_override("close", (os_function *)bad_close));
  const bool available = run(trial, &result);
  assert_non_null(os_override("close", NULL));
  if (!available) return;
  if (result.end != TRIAL_RUN || result.error != -EIO || !result.reason.text[0]) fail_trial(trial, &result, "close");
}
static void a_failed_close_is_a_failure(void **unused) { visit_task(WEIR_TASK_COPY, meet_bad_close); }

/* ---- what is refused ----------------------------------------------------------------------------------------------- */

static int refuse_ioctl(int fd, unsigned long request, void *argument) {
  (void)fd, (void)request, (void)argument;
  errno = EOPNOTSUPP;
  return -1;
}
static ssize_t refuse_range(int from, off_t *from_at, int to, off_t *to_at, size_t length, unsigned flags) {
  (void)from, (void)from_at, (void)to, (void)to_at, (void)length, (void)flags;
  errno = ENOSYS;
  return -1;
}
static ssize_t refuse_sendfile(int to, int from, off_t *at, size_t length) {
  (void)to, (void)from, (void)at, (void)length;
  errno = EINVAL;
  return -1;
}
static int refuse_direct(const char *path, int flags, mode_t mode) {
  if (!(flags & O_DIRECT)) return open(path, flags, mode);
  errno = EINVAL;
  return -1;
}
static int refuse_pipe_size(int fd, int command, int argument) {
  if (command != F_SETPIPE_SZ) return fcntl(fd, command, argument);
  errno = EPERM;
  return -1;
}
#ifdef TEST_HAS_LIBURING
static int refuse_ring(unsigned entries, struct io_uring *ring, struct io_uring_params *params) {
  (void)entries, (void)ring, (void)params;
  return -EPERM;
}
static int refuse_files(struct io_uring *ring, unsigned count) {
  (void)ring, (void)count;
  return -EINVAL;
}
#endif

static const struct refusal {
  const char *method, *call;
  os_function *by;
} refusals[] = {
    {"copy/reflink", "ioctl", (os_function *)refuse_ioctl},
    {"copy/copy-file-range", "copy_file_range", (os_function *)refuse_range},
    {"copy/sendfile", "sendfile", (os_function *)refuse_sendfile},
    {"copy/splice", "splice", (os_function *)refuse_range},
    {"copy/splice", "fcntl", (os_function *)refuse_pipe_size},
    {"copy/direct", "open", (os_function *)refuse_direct},
    {"many/direct", "open", (os_function *)refuse_direct},
#ifdef TEST_HAS_LIBURING
    {"copy/ring", "io_uring_setup", (os_function *)refuse_ring},
    {"many/ring", "io_uring_setup", (os_function *)refuse_ring},
    {"many/ring", "io_uring_register_files_sparse", (os_function *)refuse_files},
#endif
};

static const struct refusal *refusal;
static unsigned refused;
static void expect_refusal(struct trial *trial) {
  struct trial_result result;
  if (strcmp(trial->method->name, refusal->method) != 0) return;
  refused++;
  assert_non_null(os_override(refusal->call, refusal->by));
  const bool available = run(trial, &result);
  assert_non_null(os_override(refusal->call, NULL));
  if (available) fail_trial(trial, &result, "not noticed");
}
static void what_is_refused_has_a_reason(void **unused) {
  if (chosen) skip();
  for (refusal = refusals; refusal < refusals + METHODS_COUNT(refusals); refusal++) visit_both(expect_refusal);
  assert_int_equal(refused, METHODS_COUNT(refusals));
}

static void run_without_cp(struct trial *trial) {
  struct trial_result result;
  if (!is(trial, "copy/cp")) return;
  char *before = strdup(getenv("PATH"));
  assert_true(before && setenv("PATH", trial_directory(), 1) == 0);
  const bool available = run(trial, &result);
  assert_int_equal(setenv("PATH", before, 1), 0);
  free(before);
  if (available) fail_trial(trial, &result, "found a cp that is not there");
}
static void a_missing_cp_is_told(void **unused) { visit_task(WEIR_TASK_COPY, run_without_cp); }

/* ---- parameters ---------------------------------------------------------------------------------------------------- */

static struct {
  unsigned allocations, advices;
  int advice;
} asked;
static int watch_fallocate(int fd, int mode, off_t offset, off_t length) {
  asked.allocations += mode == 0 && offset == 0 && length == 16384;
  return fallocate(fd, mode, offset, length);
}
static int watch_fadvise(int fd, off_t offset, off_t length, int advice) {
  asked.advices++;
  asked.advice = advice;
  return posix_fadvise(fd, offset, length, advice);
}
static void ask(struct trial *trial) {
  const int extend = trial_param(trial->method, "extend"), hint = trial_param(trial->method, "hint");
  trial->block = 16384; /* 6 files of this size and a shorter one */
  memset(&asked, 0, sizeof asked);
  if (extend >= 0) trial->params[extend] = 2;
  if (hint >= 0) trial->params[hint] = 1;
  if (!check(trial)) return;
  if (extend >= 0) assert_in_range(asked.allocations, 6, 7); /* the probe may ask once */
  if (hint >= 0) assert_true(asked.advices == 7 && asked.advice == POSIX_FADV_SEQUENTIAL);
}
static void parameters_reach_the_system(void **unused) {
  assert_non_null(os_override("fallocate", (os_function *)watch_fallocate));
  assert_non_null(os_override("posix_fadvise", (os_function *)watch_fadvise));
  visit_both(ask);
}

static int begin(void **unused) { return trial_begin(); }
static int finish(void **unused) {
  trial_finish();
  return 0;
}
/* Also after a test that failed half-way. */
static int put_back(void **unused) {
  static const char *const names[] = {"open", "close", "fsync", "fdatasync", "ioctl", "fcntl", "fallocate", "posix_fadvise"};
  replace_transfers(false);
  for (size_t i = 0; i < METHODS_COUNT(names); i++) (void)os_override(names[i], NULL);
#ifdef TEST_HAS_LIBURING
  (void)os_override("io_uring_setup", NULL);
  (void)os_override("io_uring_register_files_sparse", NULL);
#endif
  return 0;
}
#define TEST(name) cmocka_unit_test_teardown(name, put_back)

int main(int count, char **arguments) {
  if (count > 1) chosen = arguments[1];
  const struct CMUnitTest tests[] = {
      TEST(every_size_arrives_whole),
      TEST(the_order_of_files_does_not_matter),
      TEST(numbers_may_take_any_value),
      TEST(a_state_serves_several_passes),
      TEST(a_budget_is_a_prefix),
      TEST(stop_ends_a_run_early),
      TEST(stop_ends_one_call_early),
      TEST(each_file_is_timed_once),
      TEST(other_consumers_are_served),
      TEST(durable_copies_are_flushed),
      TEST(a_failed_flush_is_a_failure),
      TEST(short_and_interrupted_calls_go_on),
      TEST(either_side_may_be_the_slower_one),
      TEST(an_error_names_the_file),
      TEST(a_file_that_ends_early_is_a_failure),
      TEST(a_file_that_goes_on_is_a_failure),
      TEST(a_missing_file_is_named),
      TEST(a_copy_is_never_an_old_file),
      TEST(a_failed_close_is_a_failure),
      TEST(what_is_refused_has_a_reason),
      TEST(a_missing_cp_is_told),
      TEST(parameters_reach_the_system),
  };
#ifndef TEST_HAS_LIBURING
  print_message("SKIPPED: faults of rings: built without liburing\n");
#endif
  return cmocka_run_group_tests_name("files", tests, begin, finish);
}
