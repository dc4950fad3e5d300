/*
 * test_faults.c - what methods do when the world does not play along: short and interrupted calls, errors in the middle,
 * files that are too short, full disks, refused rings and refused direct I/O.
 *
 * Calls beneath os.h are replaced by name. What makes its own calls (the C library's streams, methods from outside) never
 * meets them: that is noticed and said, and only what the kernel itself does (files too short, size limits) counts.
 *
 * test_faults [METHOD]: all methods of the list, or one.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <aio.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/aio_abi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#ifdef TEST_HAS_LIBURING
#include <liburing.h>
#endif

#include "methods/methods.h"
#include "os/os.h"
#include "trial.h"

#define SIZE UINT64_C(99991)
#define BLOCK UINT64_C(4096)

/* What the replaced calls do. */
static struct {
  bool interrupt;      /* every second call says EINTR */
  size_t unit;         /* counts are cut to multiples of this, below what was asked; 0: not cut */
  uint64_t bad_offset; /* the transfer at this offset says EIO; 0: none */
  unsigned calls;
  bool linked;  /* requests of a ring were linked */
  unsigned met; /* times that a replaced call was made */
  uint64_t random;
} fault;

static const char *chosen; /* method to test; NULL: all */

static void plan_fault(bool interrupt, size_t unit, uint64_t bad_offset) {
  memset(&fault, 0, sizeof fault);
  fault.interrupt = interrupt;
  fault.unit = unit;
  fault.bad_offset = bad_offset;
}

static size_t cut(size_t length) {
  if (fault.unit == 0 || length <= fault.unit) return length;
  fault.random = fault.random * UINT64_C(6364136223846793005) + 1442695040888963407u;
  const size_t units = (length - 1) / fault.unit; /* at least one fewer than all */
  return (1 + (size_t)(fault.random >> 33) % units) * fault.unit;
}

/* A transfer that would pass the bad place ends before it, so that the next one begins there. */
static size_t cut_at(uint64_t offset, size_t length) {
  length = cut(length);
  const bool passes = fault.bad_offset > offset && fault.bad_offset - offset < length;
  return passes ? (size_t)(fault.bad_offset - offset) : length;
}

static bool refuse(uint64_t offset) {
  fault.met++;
  if (fault.interrupt && ++fault.calls % 2) {
    errno = EINTR;
    return true;
  }
  if (fault.bad_offset == 0 || offset != fault.bad_offset) return false;
  errno = EIO;
  return true;
}

static uint64_t position(int fd) { return (uint64_t)lseek(fd, 0, SEEK_CUR); }

static ssize_t bad_pread(int fd, void *data, size_t length, off_t offset) {
  return refuse((uint64_t)offset) ? -1 : pread(fd, data, cut_at((uint64_t)offset, length), offset);
}
static ssize_t bad_pwrite(int fd, const void *data, size_t length, off_t offset) {
  return refuse((uint64_t)offset) ? -1 : pwrite(fd, data, cut_at((uint64_t)offset, length), offset);
}
static ssize_t bad_read(int fd, void *data, size_t length) {
  return refuse(position(fd)) ? -1 : read(fd, data, cut_at(position(fd), length));
}
static ssize_t bad_write(int fd, const void *data, size_t length) {
  return refuse(position(fd)) ? -1 : write(fd, data, cut_at(position(fd), length));
}

/* Keeps the first pieces, as many bytes as the cut leaves. */
static int cut_parts(const struct iovec *parts, int count, uint64_t offset, struct iovec *out) {
  size_t length = 0;
  for (int i = 0; i < count; i++) length += parts[i].iov_len;
  length = cut_at(offset, length);
  int kept = 0;
  for (; kept < count && length > 0; length -= out[kept++].iov_len) {
    out[kept] = parts[kept];
    if (out[kept].iov_len > length) out[kept].iov_len = length;
  }
  return kept;
}
static ssize_t bad_readv(int fd, const struct iovec *parts, int count) {
  struct iovec kept[64];
  return refuse(position(fd)) ? -1 : readv(fd, kept, cut_parts(parts, count, position(fd), kept));
}
static ssize_t bad_writev(int fd, const struct iovec *parts, int count) {
  struct iovec kept[64];
  return refuse(position(fd)) ? -1 : writev(fd, kept, cut_parts(parts, count, position(fd), kept));
}
static ssize_t bad_preadv2(int fd, const struct iovec *parts, int count, off_t offset, int flags) {
  struct iovec kept[64];
  return refuse((uint64_t)offset) ? -1 : preadv2(fd, kept, cut_parts(parts, count, (uint64_t)offset, kept), offset, flags);
}
static ssize_t bad_pwritev2(int fd, const struct iovec *parts, int count, off_t offset, int flags) {
  struct iovec kept[64];
  return refuse((uint64_t)offset) ? -1 : pwritev2(fd, kept, cut_parts(parts, count, (uint64_t)offset, kept), offset, flags);
}

/* Linux AIO: what is submitted is cut, and the request at the bad offset gets a descriptor that is none. */
static int bad_io_submit(aio_context_t context, long count, struct iocb **blocks) {
  fault.met++;
  for (long i = 0; i < count; i++) {
    if (blocks[i]->aio_lio_opcode == IOCB_CMD_FDSYNC) continue;
    blocks[i]->aio_nbytes = cut(blocks[i]->aio_nbytes);
    if (fault.bad_offset && (uint64_t)blocks[i]->aio_offset == fault.bad_offset) blocks[i]->aio_fildes = 1 << 20;
  }
  if (fault.interrupt && ++fault.calls % 2) {
    errno = EINTR;
    return -1;
  }
  return (int)syscall(SYS_io_submit, context, count, blocks);
}
/* POSIX AIO the same. */
static struct aiocb *spoil(struct aiocb *block) {
  fault.met++;
  block->aio_nbytes = cut(block->aio_nbytes);
  if (fault.bad_offset && (uint64_t)block->aio_offset == fault.bad_offset) block->aio_fildes = 1 << 20;
  return block;
}
static int bad_aio_read(struct aiocb *block) { return aio_read(spoil(block)); }
static int bad_aio_write(struct aiocb *block) { return aio_write(spoil(block)); }
static int bad_aio_suspend(const struct aiocb *const *blocks, int count, const struct timespec *timeout) {
  if (fault.interrupt && ++fault.calls % 2) {
    errno = EINTR;
    return -1;
  }
  return aio_suspend(blocks, count, timeout);
}

#ifdef TEST_HAS_LIBURING
/* Cuts what is about to be submitted; the request at the bad offset gets a descriptor that is none. */
static void cut_requests(struct io_uring *ring) {
  fault.met++;
  for (unsigned at = ring->sq.sqe_head; at != ring->sq.sqe_tail; at++) {
    struct io_uring_sqe *request = &ring->sq.sqes[at & ring->sq.ring_mask];
    request->len = (uint32_t)cut_at(request->off, request->len);
    if (request->flags & IOSQE_IO_LINK) fault.linked = true;
    if (fault.bad_offset && request->off == fault.bad_offset) request->fd = 1 << 20;
  }
}
/* A request may also be told that the one before it in its chain came short. */
static void interrupt_some(struct io_uring *ring) {
  const int results[] = {-EAGAIN, -EINTR, fault.linked ? -ECANCELED : -EAGAIN};
  unsigned head;
  struct io_uring_cqe *completion;
  if (fault.interrupt) {
    io_uring_for_each_cqe(ring, head, completion) {
      if (++fault.calls % 3 == 0) completion->res = results[fault.calls / 3 % 3];
    }
  }
}
static int bad_enter(struct io_uring *ring, unsigned wait) {
  cut_requests(ring);
  const int result = io_uring_submit_and_wait(ring, wait);
  interrupt_some(ring);
  return result;
}
static int bad_poll(struct io_uring *ring) {
  cut_requests(ring);
  const int result = io_uring_submit_and_get_events(ring);
  interrupt_some(ring);
  return result;
}
static int dead_enter(struct io_uring *ring, unsigned wait) {
  (void)ring, (void)wait;
  return -EBADF;
}
static int dead_poll(struct io_uring *ring) {
  (void)ring;
  return -EBADF;
}
#endif

static void replace(const char *name, os_function *by) { assert_non_null(os_override(name, by)); }

static void replace_transfers(bool on) {
  static const struct {
    const char *name;
    os_function *bad;
  } table[] = {{"pread", (os_function *)bad_pread},         {"pwrite", (os_function *)bad_pwrite},
               {"read", (os_function *)bad_read},           {"write", (os_function *)bad_write},
               {"raw_pread", (os_function *)bad_pread},     {"raw_pwrite", (os_function *)bad_pwrite},
               {"raw_read", (os_function *)bad_read},       {"raw_write", (os_function *)bad_write},
               {"readv", (os_function *)bad_readv},         {"writev", (os_function *)bad_writev},
               {"io_submit", (os_function *)bad_io_submit}, {"aio_read", (os_function *)bad_aio_read},
               {"aio_write", (os_function *)bad_aio_write}, {"aio_suspend", (os_function *)bad_aio_suspend},
               {"preadv2", (os_function *)bad_preadv2},     {"pwritev2", (os_function *)bad_pwritev2}};
  for (size_t i = 0; i < METHODS_COUNT(table); i++) replace(table[i].name, on ? table[i].bad : NULL);
#ifdef TEST_HAS_LIBURING
  replace("io_uring_enter", on ? (os_function *)bad_enter : NULL);
  replace("io_uring_poll", on ? (os_function *)bad_poll : NULL);
#endif
}

static void fail_trial(const struct trial *trial, const struct trial_result *result, const char *what) {
  char name[512];
  print_error("%s: %s\n  end %d error %d reason '%s' wrong %" PRIu64 " covered %" PRIu64 " operations %" PRIu64 "\n",
              trial_name(trial, name, sizeof name), what, (int)result->end, result->error, result->reason.text,
              result->wrong, result->covered, result->operations);
  fail();
}

static bool is(const struct trial *trial, const char *family) {
  return strncmp(trial->method->name, family, strlen(family)) == 0;
}

/* The methods that are built in promise their words: what, how much, where. Others owe a reason. */
static bool keeps_to_words(const struct trial *trial) {
  static const char *const families[] = {"fd/",        "sys/",  "stdio/", "map/",    "direct/",
                                         "dontcache/", "ring/", "aio/",   "stream/", "weir/"};
  for (size_t i = 0; i < METHODS_COUNT(families); i++)
    if (is(trial, families[i])) return true;
  return false;
}

/* Did the method make a call that was replaced? Says so when it did not: then nothing was tested. */
static bool met_fault(const struct trial *trial, const char *what) {
  if (fault.met == 0)
    print_message("SKIPPED %s: makes its calls past os.h, so no %s reaches it\n", trial->method->name, what);
  return fault.met > 0;
}

static bool is_floor(const struct trial *trial) { return (trial->method->capabilities & WEIR_CAP_FLOOR) != 0; }

/* Runs, and proves that nothing is left open. False when not available here; the reason is printed. */
static bool run(const struct trial *trial, struct trial_result *result) {
  const unsigned descriptors = trial_descriptors();
  trial_run(trial, result);
  if (trial_descriptors() != descriptors) fail_trial(trial, result, "descriptors leaked");
  if (result->end != TRIAL_UNAVAILABLE) return true;
  if (!result->reason.text[0] || !result->reason.remedy[0]) fail_trial(trial, result, "no reason or remedy");
  return false;
}

static struct trial usual(const struct weir_method *method, enum weir_direction direction) {
  struct trial trial = {.method = method,
                        .direction = direction,
                        .consumer = WEIR_CONSUMER_VERIFY,
                        .size = SIZE,
                        .block = BLOCK,
                        .target = WEIR_TARGET_TRUNCATE};
  if (!(method->tasks & WEIR_BIT(WEIR_TASK_BLOCKS))) trial.task = WEIR_TASK_WHOLE;
  trial_presets(&trial);
  return trial;
}

typedef void visit(struct trial *trial);
static void visit_all(enum weir_direction direction, visit *each) {
  for (const struct weir_method *const *at = methods_list; *at; at++) {
    struct trial trial = usual(*at, direction);
    const bool here = ((*at)->tasks & METHODS_BOTH_TASKS) != 0; /* other tasks have tests of their own */
    const bool wanted = here && (!chosen || strcmp((*at)->name, chosen) == 0);
    if (wanted && ((*at)->directions & WEIR_BIT(direction)) && !is_floor(&trial)) each(&trial);
  }
}
static void visit_both(visit *each) {
  visit_all(WEIR_READ, each);
  visit_all(WEIR_WRITE, each);
  visit_all(WEIR_MIXED, each);
}

static struct trial usual_named(const char *name, enum weir_direction direction) {
  for (const struct weir_method *const *at = methods_list; *at; at++)
    if (strcmp((*at)->name, name) == 0) return usual(*at, direction);
  fail_msg("no method %s", name);
  return (struct trial){0};
}

/* ---- transfers that need more than one call ------------------------------------------------------------------------ */

static void check_right(const struct trial *trial) {
  struct trial_result result;
  if (!run(trial, &result)) {
    print_message("SKIPPED %s: %s\n", trial->method->name, result.reason.text);
    return;
  }
  if (result.end != TRIAL_DONE || result.wrong || result.covered != SIZE || result.twice) fail_trial(trial, &result, "data");
  if (trial->direction != WEIR_READ && !trial_file_is_right(SIZE)) fail_trial(trial, &result, "file");
}

/* Does the method do this task in this direction at all? */
static bool serves(const struct trial *trial) {
  if (trial->direction == WEIR_MIXED && trial->task == WEIR_TASK_WHOLE) return false;
  return (trial->method->tasks & WEIR_BIT(trial->task)) && (trial->method->accesses & WEIR_BIT(trial->access));
}

static void go_short(struct trial *trial) {
  const bool direct = (trial->method->capabilities & WEIR_CAP_DIRECT) != 0;
  for (unsigned i = 0; i < 3 * 2 * 2; i++) {
    trial->task = i % 3 == 2 ? WEIR_TASK_WHOLE : WEIR_TASK_BLOCKS;
    trial->access = i % 3 == 1 ? WEIR_RANDOM : WEIR_SEQUENTIAL;
    if (!serves(trial)) continue;
    trial->block = i / 3 % 2 ? 65536 : 4096;
    plan_fault(i / 6 == 1, direct ? 4096 : 1, 0); /* a direct transfer cannot go on in the middle of a granule */
    check_right(trial);
  }
}
/* A write and its flush are linked; either may be put off. */
static void flushes_that_are_linked_go_on(void) {
  struct trial trial = usual_named("ring/linked", WEIR_WRITE);
  trial.durability = WEIR_DURABILITY_EACH;
  for (unsigned i = 0; i < 4; i++) {
    plan_fault(i > 0, i > 1, 0);
    check_right(&trial);
  }
}
static void short_and_interrupted_calls_go_on(void **unused) {
  replace_transfers(true);
  visit_both(go_short);
  if (!chosen) flushes_that_are_linked_go_on();
  trial_pool_contexts();
  replace_transfers(false);
}

static void meet_error(struct trial *trial) {
  struct trial_result result;
  for (int whole = 0; whole < 2; whole++) {
    trial->task = whole ? WEIR_TASK_WHOLE : WEIR_TASK_BLOCKS;
    if (!serves(trial)) continue;
    plan_fault(false, 0, 2 * BLOCK);
    if (!run(trial, &result) || !met_fault(trial, "error")) return;
    const bool in_flight = is(trial, "ring/") || is(trial, "aio/") || is(trial, "weir/queue");
    const bool expected =
        result.error == -EIO ? !is(trial, "ring/") && !is(trial, "aio/") : in_flight && result.error == -EBADF;
    if (result.end != TRIAL_RUN || !expected || result.wrong) fail_trial(trial, &result, "no such error");
    const char *words = keeps_to_words(trial) ? "bytes at 8192" : "";
    if (!result.reason.text[0] || !strstr(result.reason.text, words)) fail_trial(trial, &result, "does not say where");
  }
}
static void an_error_in_the_middle_tells_its_place(void **unused) {
  replace_transfers(true);
  visit_both(meet_error);
  replace_transfers(false);
}

/* ---- files that end too early, disks that are full ----------------------------------------------------------------- */

static void meet_end(struct trial *trial) {
  static const uint64_t ends[] = {50000, 49152, 0};
  struct trial_result result;
  char text[32];
  trial->as_it_is = true;
  for (unsigned i = 0; i < METHODS_COUNT(ends) * 2; i++) {
    trial->task = i % 2 ? WEIR_TASK_WHOLE : WEIR_TASK_BLOCKS;
    if (!serves(trial)) continue;
    trial_lay_out(trial);
    assert_int_equal(truncate(trial_path(), (off_t)ends[i / 2]), 0);
    if (!run(trial, &result)) return;
    (void)snprintf(text, sizeof text, "ended at byte %" PRIu64 ";", ends[i / 2]);
    if (result.end != TRIAL_OPEN && result.end != TRIAL_RUN) fail_trial(trial, &result, "took the end for success");
    if (result.error >= 0 || !result.reason.text[0]) fail_trial(trial, &result, "no reason");
    if (keeps_to_words(trial) && (result.error != -ENODATA || !strstr(result.reason.text, text)))
      fail_trial(trial, &result, "does not say where");
    if (result.wrong || result.covered > ends[i / 2]) fail_trial(trial, &result, "delivered what is not there");
  }
}
static void a_file_that_ends_early_is_a_failure(void **unused) { visit_all(WEIR_READ, meet_end); }

static void limit_file_size(rlim_t bytes) {
  struct rlimit limit;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
  limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void meet_limit(struct trial *trial) {
  struct trial_result result;
  trial->as_it_is = true;
  for (int whole = 0; whole < 2; whole++) {
    trial->task = whole ? WEIR_TASK_WHOLE : WEIR_TASK_BLOCKS;
    if (!serves(trial)) continue;
    trial_lay_out(trial);
    limit_file_size(50000);
    const bool available = run(trial, &result);
    limit_file_size(RLIM_INFINITY);
    if (!available) return;
    if (result.end == TRIAL_DONE || result.error >= 0) fail_trial(trial, &result, "took a cut file for success");
    if (!result.reason.text[0]) fail_trial(trial, &result, "no reason");
  }
}
static void a_file_that_may_not_grow_is_a_failure(void **unused) {
  assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
  visit_all(WEIR_WRITE, meet_limit);
}

static int allocate_error;
static int bad_fallocate(int fd, int mode, off_t offset, off_t length) {
  (void)fd, (void)mode, (void)offset, (void)length;
  errno = allocate_error;
  return -1;
}

static void a_map_gets_its_storage_before_it_is_written(void **unused) {
  struct trial trial = usual_named("map/write", WEIR_WRITE);
  struct trial_result result;
  replace("fallocate", (os_function *)bad_fallocate);
  allocate_error = EOPNOTSUPP;
  check_right(&trial);
  allocate_error = ENOSPC;
  trial_run(&trial, &result);
  replace("fallocate", NULL);
  assert_int_equal(result.end, TRIAL_OPEN);
  assert_int_equal(result.error, -ENOSPC);
  assert_non_null(strstr(result.reason.text, "allocating"));
}

/* ---- flushing and closing ------------------------------------------------------------------------------------------ */

static int bad_flush(int fd) {
  (void)fd;
  fault.met++;
  errno = EIO;
  return -1;
}
static int bad_msync(void *address, size_t length, int flags) {
  (void)address, (void)length, (void)flags;
  fault.met++;
  errno = EIO;
  return -1;
}

/* Each write, or what is linked to it, is durable without a call that could fail here. */
static bool flushes_by_itself(const struct trial *trial) {
  static const char *const names[] = {"ring/plain", "ring/fixed", "ring/linked", "aio/cached", "aio/posix", "weir/queue"};
  if (trial->direction == WEIR_MIXED && (is(trial, "ring/") || is(trial, "aio/"))) return true;
  for (size_t i = 0; i < METHODS_COUNT(names); i++)
    if (is(trial, names[i])) return true;
  return false;
}

static void meet_bad_flush(struct trial *trial) {
  struct trial_result result;
  trial->durability = WEIR_DURABILITY_END;
  if (!(trial->method->durabilities & WEIR_BIT(trial->durability))) return;
  plan_fault(false, 0, 0);
  if (!run(trial, &result) || !met_fault(trial, "failed flush")) return;
  const enum trial_end phase = is(trial, "weir/write-file") ? TRIAL_RUN : TRIAL_SYNC; /* one call does it all */
  if (result.end != phase || result.error != -EIO || !result.reason.text[0]) fail_trial(trial, &result, "end");
  trial->durability = WEIR_DURABILITY_EACH;
  if (!(trial->method->durabilities & WEIR_BIT(trial->durability))) return;
  if (flushes_by_itself(trial)) return;
  (void)run(trial, &result);
  if (result.end != TRIAL_RUN || result.error != -EIO || !result.reason.text[0]) fail_trial(trial, &result, "each");
}
static void a_failed_flush_is_a_failure(void **unused) {
  replace("fdatasync", (os_function *)bad_flush);
  replace("fsync", (os_function *)bad_flush);
  replace("msync", (os_function *)bad_msync);
  visit_all(WEIR_WRITE, meet_bad_flush);
  visit_all(WEIR_MIXED, meet_bad_flush);
  replace("fdatasync", NULL);
  replace("fsync", NULL);
  replace("msync", NULL);
}

static int bad_close(int fd) {
  fault.met++;
  (void)close(fd);
  errno = EIO;
  return -1;
}
static void meet_bad_close(struct trial *trial) {
  struct trial_result result;
  plan_fault(false, 0, 0);
  replace("close", (os_function *)bad_close);
  const bool available = run(trial, &result);
  replace("close", NULL);
  if (!available || !met_fault(trial, "failed close")) return;
  const enum trial_end phase = is(trial, "weir/write-file") ? TRIAL_RUN : TRIAL_CLOSE;
  if (result.end != phase || result.error != -EIO || !result.reason.text[0]) fail_trial(trial, &result, "close");
}
static void a_failed_close_is_a_failure(void **unused) {
  visit_all(WEIR_WRITE, meet_bad_close);
  visit_all(WEIR_MIXED, meet_bad_close);
}

/* ---- what parameters ask for --------------------------------------------------------------------------------------- */

static struct {
  unsigned resizes, allocations, zeroings, advices, appends;
  int advice;
  off_t size;
} asked;

static int watch_ftruncate(int fd, off_t size) {
  asked.resizes += size == (off_t)SIZE;
  return ftruncate(fd, size);
}
static int watch_fallocate(int fd, int mode, off_t offset, off_t length) {
  asked.allocations += mode == 0 && length == (off_t)SIZE;
  asked.zeroings += mode == FALLOC_FL_ZERO_RANGE && length == (off_t)SIZE;
  return fallocate(fd, mode, offset, length);
}
static int watch_fadvise(int fd, off_t offset, off_t length, int advice) {
  asked.advices++;
  asked.advice = advice;
  return posix_fadvise(fd, offset, length, advice);
}
static int watch_open(const char *path, int flags, mode_t mode) {
  asked.appends += (flags & O_APPEND) != 0;
  return open(path, flags, mode);
}

/* False, with the reason on the screen, where this place cannot do it. */
static bool run_with(const char *name, enum weir_direction direction, enum weir_target target, const char *param,
                     uint64_t value) {
  struct trial trial = usual_named(name, direction);
  struct trial_result result;
  memset(&asked, 0, sizeof asked);
  trial.target = target;
  trial.params[trial_param(trial.method, param)] = value;
  if (!run(&trial, &result)) {
    print_message("SKIPPED %s %s: %s\n", name, param, result.reason.text);
    return false;
  }
  memset(&asked, 0, sizeof asked); /* without what the probe asked */
  check_right(&trial);
  return true;
}

static void parameters_reach_the_system(void **unused) {
  static const char *const writers[] = {"fd/pwrite",       "fd/write",      "stdio/fwrite",
                                        "stream/ofstream", "direct/pwrite", "ring/plain"};
  replace("ftruncate", (os_function *)watch_ftruncate);
  replace("fallocate", (os_function *)watch_fallocate);
  replace("posix_fadvise", (os_function *)watch_fadvise);
  replace("open", (os_function *)watch_open);
  for (size_t i = 0; i < METHODS_COUNT(writers); i++) {
    if (run_with(writers[i], WEIR_WRITE, WEIR_TARGET_NEW, "extend", 0))
      assert_true(asked.resizes == 0 && asked.allocations == 0 && asked.zeroings == 0 && asked.appends == 0);
    if (run_with(writers[i], WEIR_WRITE, WEIR_TARGET_NEW, "extend", 1)) assert_int_equal(asked.resizes, 1);
    if (run_with(writers[i], WEIR_WRITE, WEIR_TARGET_TRUNCATE, "extend", 2)) assert_int_equal(asked.allocations, 1);
    if (run_with(writers[i], WEIR_WRITE, WEIR_TARGET_TRUNCATE, "extend", 3)) assert_int_equal(asked.zeroings, 1);
    if (run_with(writers[i], WEIR_WRITE, WEIR_TARGET_OVERWRITE, "extend", 1)) assert_int_equal(asked.resizes, 0);
  }
  if (run_with("fd/write", WEIR_WRITE, WEIR_TARGET_NEW, "extend", 4)) assert_int_equal(asked.appends, 1);
  if (run_with("fd/pread", WEIR_READ, WEIR_TARGET_OVERWRITE, "hint", 2))
    assert_true(asked.advices == 1 && asked.advice == POSIX_FADV_RANDOM);
  if (run_with("fd/pread", WEIR_READ, WEIR_TARGET_OVERWRITE, "hint", 0)) assert_int_equal(asked.advices, 0);
  static const char *const watched[] = {"ftruncate", "fallocate", "posix_fadvise", "open"};
  for (size_t i = 0; i < METHODS_COUNT(watched); i++) replace(watched[i], NULL);
}

/* ---- what is refused ----------------------------------------------------------------------------------------------- */

static int open_without_direct(const char *path, int flags, mode_t mode) {
  fault.met++;
  if (!(flags & 040000)) return open(path, flags, mode); /* O_DIRECT, which POSIX does not name */
  errno = EINVAL;
  return -1;
}
static ssize_t refuse_pread(int fd, void *data, size_t length, off_t offset) {
  (void)fd, (void)data, (void)length, (void)offset;
  fault.met++;
  errno = EINVAL;
  return -1;
}
static ssize_t refuse_pwrite(int fd, const void *data, size_t length, off_t offset) {
  return refuse_pread(fd, NULL, length + (data == NULL), offset);
}

static void expect_unavailable(struct trial *trial) {
  struct trial_result result;
  if (!(trial->method->capabilities & WEIR_CAP_DIRECT)) return;
  for (unsigned target = WEIR_TARGET_OVERWRITE; target <= WEIR_TARGET_PREALLOCATED; target++) {
    trial->target = (enum weir_target)target;
    plan_fault(false, 0, 0);
    if (run(trial, &result) && met_fault(trial, "refused direct transfer")) fail_trial(trial, &result, "not noticed");
  }
}
static void refused_direct_transfers_have_a_reason(void **unused) {
  replace("open", (os_function *)open_without_direct);
  visit_both(expect_unavailable);
  replace("open", NULL);
  replace("pread", (os_function *)refuse_pread);
  replace("pwrite", (os_function *)refuse_pwrite);
  visit_both(expect_unavailable);
  replace("pread", NULL);
  replace("pwrite", NULL);
}

static int refuse_io_setup(unsigned depth, unsigned long *out) {
  (void)depth, (void)out;
  errno = EAGAIN;
  return -1;
}
static void a_full_system_refuses_linux_aio_with_a_remedy(void **unused) {
  struct trial trial = usual_named("aio/libaio", WEIR_READ);
  struct trial_result result;
  replace("io_setup", (os_function *)refuse_io_setup);
  assert_false(run(&trial, &result));
  trial_pool_contexts();
  assert_non_null(strstr(result.reason.remedy, "aio-max-nr"));
}

#ifdef TEST_HAS_LIBURING
static int ring_error;
static int refuse_setup(unsigned entries, struct io_uring *ring, struct io_uring_params *params) {
  (void)entries, (void)ring, (void)params;
  return ring_error;
}
static int refuse_buffers(struct io_uring *ring, const struct iovec *buffers, unsigned count) {
  (void)ring, (void)buffers, (void)count;
  return -ENOMEM;
}
static int refuse_files(struct io_uring *ring, const int *files, unsigned count) {
  (void)ring, (void)files, (void)count;
  return -EMFILE;
}

static void expect_no_ring(struct trial *trial) {
  struct trial_result result;
  if (is(trial, "ring/") && run(trial, &result)) fail_trial(trial, &result, "not noticed");
}
static void a_forbidden_ring_has_a_reason(void **unused) {
  static const int errors[] = {-EPERM, -ENOSYS, -ENOMEM, -EACCES, -EMFILE, -EOPNOTSUPP, -EBUSY};
  replace("io_uring_setup", (os_function *)refuse_setup);
  for (size_t i = 0; i < METHODS_COUNT(errors); i++) {
    ring_error = errors[i];
    visit_both(expect_no_ring);
  }
  replace("io_uring_setup", NULL);
}

static bool rings_work(void) {
  char why[192] = "";
  if (os_ring_probe(why, sizeof why, NULL, 0) == 0) return true;
  print_message("SKIPPED: %s\n", why);
  return false;
}

static void registration_is_needed_only_where_it_is_promised(void **unused) {
  struct trial fixed = usual_named("ring/fixed", WEIR_READ), direct = usual_named("ring/direct", WEIR_READ);
  struct trial_result result;
  if (!rings_work()) skip();
  replace("io_uring_register_buffers", (os_function *)refuse_buffers);
  assert_false(run(&fixed, &result));
  assert_non_null(strstr(result.reason.remedy, "ulimit -l"));
  check_right(&direct);
  replace("io_uring_register_buffers", NULL);
  replace("io_uring_register_files", (os_function *)refuse_files);
  assert_false(run(&fixed, &result));
  check_right(&direct);
  replace("io_uring_register_files", NULL);
}

static unsigned setups;
static int late_setup(unsigned entries, struct io_uring *ring, struct io_uring_params *params) {
  return ++setups % 4 ? -ENOMEM : io_uring_queue_init_params(entries, ring, params);
}
/* The system takes back a closed ring's memory when it finds time. */
static void memory_of_a_closed_ring_may_come_late(void **unused) {
  struct trial trial = usual_named("ring/plain", WEIR_READ);
  if (!rings_work()) skip();
  replace("io_uring_setup", (os_function *)late_setup);
  check_right(&trial);
  assert_true(setups >= 8);
  setups = 0;
}

/* The probe gets its two rings, the set-up after it none. */
static int scarce_setup(unsigned entries, struct io_uring *ring, struct io_uring_params *params) {
  return ++setups > 2 ? -ENOMEM : io_uring_queue_init_params(entries, ring, params);
}
static void memory_that_went_since_the_probe_has_a_remedy(void **unused) {
  struct trial trial = usual_named("ring/plain", WEIR_READ);
  struct trial_result result;
  if (!rings_work()) skip();
  setups = 0;
  replace("io_uring_setup", (os_function *)scarce_setup);
  assert_false(run(&trial, &result)); /* not here, and it is said what would help */
  replace("io_uring_setup", NULL);
  assert_int_equal(result.end, TRIAL_UNAVAILABLE);
  assert_int_equal(result.error, -ENOMEM);
  assert_non_null(strstr(result.reason.remedy, "ulimit -l"));
}

static int run_on_dead_ring(void *unused) {
  struct trial trial = usual_named("ring/plain", WEIR_READ);
  struct trial_result result;
  trial.may_leak = true;
  (void)os_override("io_uring_enter", (os_function *)dead_enter);
  (void)os_override("io_uring_poll", (os_function *)dead_poll);
  trial_run(&trial, &result);
  return result.end == TRIAL_RUN && result.error == -EBADF && result.reason.text[0] && result.covered == 0 ? 0 : 1;
}
static void a_ring_that_dies_ends_the_run(void **unused) {
  os_process child;
  struct os_exit end;
  if (!rings_work()) skip();
  assert_int_equal(os_process_fork(run_on_dead_ring, NULL, &child), 0);
  assert_int_equal(os_process_wait(child, UINT64_MAX, &end), 0);
  assert_false(end.crashed);
  assert_int_equal(end.code, 0);
}
#endif

static int begin(void **unused) {
  trial_pool_contexts();
  return trial_begin();
}
static int finish(void **unused) {
  trial_finish();
  return 0;
}

/* Also after a test that failed half-way. */
static int put_back(void **unused) {
  static const char *const names[] = {"open",  "close",     "fdatasync", "fsync",
                                      "msync", "fallocate", "ftruncate", "posix_fadvise"};
  replace_transfers(false);
  for (size_t i = 0; i < METHODS_COUNT(names); i++) (void)os_override(names[i], NULL);
#ifdef TEST_HAS_LIBURING
  static const char *const rings[] = {"io_uring_setup", "io_uring_enter", "io_uring_register_buffers",
                                      "io_uring_register_files"};
  for (size_t i = 0; i < METHODS_COUNT(rings); i++) (void)os_override(rings[i], NULL);
#endif
  return 0;
}
#define TEST(name) cmocka_unit_test_teardown(name, put_back)

int main(int count, char **arguments) {
  if (count > 1) chosen = arguments[1];
  const struct CMUnitTest tests[] = {
      TEST(short_and_interrupted_calls_go_on),
      TEST(an_error_in_the_middle_tells_its_place),
      TEST(a_file_that_ends_early_is_a_failure),
      TEST(a_file_that_may_not_grow_is_a_failure),
      TEST(a_map_gets_its_storage_before_it_is_written),
      TEST(a_failed_flush_is_a_failure),
      TEST(a_failed_close_is_a_failure),
      TEST(parameters_reach_the_system),
      TEST(refused_direct_transfers_have_a_reason),
      TEST(a_full_system_refuses_linux_aio_with_a_remedy),
#ifdef TEST_HAS_LIBURING
      TEST(a_forbidden_ring_has_a_reason),
      TEST(registration_is_needed_only_where_it_is_promised),
      TEST(memory_of_a_closed_ring_may_come_late),
      TEST(memory_that_went_since_the_probe_has_a_remedy),
      TEST(a_ring_that_dies_ends_the_run),
#endif
  };
#ifndef TEST_HAS_LIBURING
  print_message("SKIPPED: tests of refused rings: built without liburing\n");
#endif
  return cmocka_run_group_tests_name("faults", tests, begin, finish);
}
