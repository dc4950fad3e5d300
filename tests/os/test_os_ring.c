/*
 * test_os_ring.c - rings: transfers, limits, and every way of being refused, each with words for the user.
 */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

#define DEPTH 4
#define BLOCK ((size_t)4096)

/* A ring, or a loud skip. */
static struct os_ring *need_ring(unsigned depth) {
  char why[128] = "", remedy[128] = "";
  int error = os_ring_probe(why, sizeof why, remedy, sizeof remedy);
  if (error) skip_because("%s (%s)", why, remedy);
  struct os_ring *ring = NULL;
  assert_int_equal(os_ring_open(depth, &ring), 0);
  return ring;
}

static struct os_ring_request transfer(enum os_ring_kind kind, os_file file, void *data, uint64_t block) {
  return (struct os_ring_request){.kind = kind,
                                  .file = file,
                                  .buffer_index = -1,
                                  .data = data,
                                  .length = (uint32_t)BLOCK,
                                  .offset = block * BLOCK,
                                  .tag = 100 + block};
}

static void reads_deliver_what_the_file_holds(void **state) {
  struct os_ring *ring = need_ring(DEPTH);
  os_file file = make_file(*state, "read", 3 * BLOCK + 100);
  static unsigned char data[DEPTH][4096];
  for (unsigned i = 0; i < DEPTH; i++) {
    struct os_ring_request request = transfer(OS_RING_READ, file, data[i], i);
    assert_int_equal(os_ring_queue(ring, &request), 0);
  }
  struct os_ring_request more = transfer(OS_RING_READ, file, data[0], 0);
  assert_int_equal(os_ring_queue(ring, &more), -EBUSY);
  assert_int_equal(os_ring_submit(ring, DEPTH), 0);
  assert_int_equal(os_ring_queue(ring, &more), -EBUSY); /* done, but not reaped */
  struct os_ring_completion done[DEPTH];
  assert_int_equal(os_ring_reap(ring, done, 1), 1);
  assert_int_equal(os_ring_reap(ring, done + 1, DEPTH), DEPTH - 1);
  for (unsigned i = 0; i < DEPTH; i++) {
    uint64_t block = done[i].tag - 100;
    assert_true(block < DEPTH);
    assert_int_equal(done[i].result, block < 3 ? (int)BLOCK : 100);
    assert_int_equal(data[block][99], (unsigned char)((block * BLOCK + 99) * 7));
  }
  assert_int_equal(os_ring_reap(ring, done, DEPTH), 0);
  assert_int_equal(os_ring_submit(ring, 5), 0); /* nothing can come: does not hang */
  os_ring_close(ring);
  assert_int_equal(os_close(file), 0);
}

static void one_after_another_never_fills_the_queue(void **state) {
  struct os_ring *ring = need_ring(1);
  os_file file = make_file(*state, "many", BLOCK);
  static unsigned char data[4096];
  for (unsigned i = 0; i < 1000; i++) {
    struct os_ring_request request = transfer(OS_RING_READ, file, data, 0);
    struct os_ring_completion done;
    assert_int_equal(os_ring_queue(ring, &request), 0);
    assert_int_equal(os_ring_submit(ring, 1), 0);
    assert_int_equal(os_ring_reap(ring, &done, 1), 1);
    assert_int_equal(done.result, (int)BLOCK);
  }
  os_ring_close(ring);
  assert_int_equal(os_close(file), 0);
}

static void submitting_without_waiting_finds_completions_later(void **state) {
  struct os_ring *ring = need_ring(DEPTH);
  os_file file = make_file(*state, "poll", BLOCK);
  static unsigned char data[4096];
  struct os_ring_request request = transfer(OS_RING_READ, file, data, 0);
  struct os_ring_completion done;
  unsigned count = 0;
  assert_int_equal(os_ring_queue(ring, &request), 0);
  for (unsigned i = 0; i < 10000 && count == 0; i++) {
    assert_int_equal(os_ring_submit(ring, 0), 0);
    count = os_ring_reap(ring, &done, 1);
    if (count == 0) os_sleep_ns(100000);
  }
  assert_int_equal(count, 1);
  os_ring_close(ring);
  assert_int_equal(os_close(file), 0);
}

static struct os_ring_completion do_one(struct os_ring *ring, const struct os_ring_request *request) {
  struct os_ring_completion done = {0};
  assert_int_equal(os_ring_queue(ring, request), 0);
  assert_int_equal(os_ring_submit(ring, 1), 0);
  assert_int_equal(os_ring_reap(ring, &done, 1), 1);
  return done;
}

/* The engines that are not io_uring keep the same promises. */
static void check_engine(const char *directory, enum os_ring_engine engine) {
  struct os_ring *ring = NULL;
  const int error = os_ring_open_engine(engine, DEPTH, &ring);
  if (error == -ENOSYS || error == -EPERM) skip_because("engine %d: %s", (int)engine, strerror(-error));
  assert_int_equal(error, 0);
  os_file file = make_file(directory, "engine", 3 * BLOCK + 100);
  static unsigned char data[DEPTH][4096], back[4096];
  struct os_ring_completion done[DEPTH];
  struct os_ring_request request;
  for (unsigned round = 0; round < 20; round++) {
    for (unsigned i = 0; i < DEPTH; i++) {
      request = transfer(OS_RING_READ, file, data[i], i);
      assert_int_equal(os_ring_queue(ring, &request), 0);
    }
    assert_int_equal(os_ring_queue(ring, &request), -EBUSY);
    unsigned count = 0;
    while (count < DEPTH) {
      assert_int_equal(os_ring_submit(ring, 1), 0);
      count += os_ring_reap(ring, done + count, 1 + round % DEPTH < DEPTH - count ? 1 + round % DEPTH : DEPTH - count);
    }
    for (unsigned i = 0; i < DEPTH; i++) {
      uint64_t block = done[i].tag - 100;
      assert_true(block < DEPTH);
      assert_int_equal(done[i].result, block < 3 ? (int)BLOCK : 100);
      assert_int_equal(data[block][99], (unsigned char)((block * BLOCK + 99) * 7));
    }
  }
  assert_int_equal(os_ring_submit(ring, 5), 0); /* nothing can come: does not hang */
  memset(data[0], 'e', BLOCK);
  request = transfer(OS_RING_WRITE, file, data[0], 1);
  assert_int_equal(do_one(ring, &request).result, (int)BLOCK);
  request = transfer(OS_RING_SYNC, file, NULL, 0);
  assert_int_equal(do_one(ring, &request).result, 0);
  assert_int_equal(os_pread_full(file, back, BLOCK, BLOCK), (int64_t)BLOCK);
  assert_memory_equal(back, data[0], BLOCK);
  request = transfer(OS_RING_READ, 900, data[0], 0); /* no such descriptor */
  assert_int_equal(do_one(ring, &request).result, -EBADF);
  assert_true(os_ring_register_file(ring, file) < 0);
  os_ring_close(ring);
  assert_int_equal(os_close(file), 0);
}
static void kernel_aio_keeps_the_promises(void **state) { check_engine(*state, OS_RING_KERNEL); }
static void threads_keep_the_promises(void **state) { check_engine(*state, OS_RING_THREADS); }

static void linked_requests_stop_after_a_short_one(void **state) {
  struct os_ring *ring = need_ring(DEPTH);
  os_file file = make_file(*state, "chain", BLOCK + 100);
  static unsigned char data[DEPTH][4096];
  struct os_ring_completion done[3];
  for (unsigned i = 0; i < 3; i++) {
    struct os_ring_request request = transfer(OS_RING_READ, file, data[i], i);
    request.linked = i < 2;
    assert_int_equal(os_ring_queue(ring, &request), 0);
  }
  assert_int_equal(os_ring_submit(ring, 3), 0);
  assert_int_equal(os_ring_reap(ring, done, 3), 3);
  for (unsigned i = 0; i < 3; i++)
    assert_int_equal(done[i].result, done[i].tag == 100 ? (int)BLOCK : done[i].tag == 101 ? 100 : -ECANCELED);
  os_ring_close(ring);
  assert_int_equal(os_close(file), 0);
}

static void writes_and_syncs_reach_the_file(void **state) {
  struct os_ring *ring = need_ring(DEPTH);
  os_file file = open_in(*state, "written", OS_READ | OS_WRITE | OS_CREATE);
  static unsigned char data[4096], back[4096];
  memset(data, 'w', sizeof data);
  struct os_ring_request request = transfer(OS_RING_WRITE, file, data, 1);
  assert_int_equal(do_one(ring, &request).result, (int)BLOCK);
  request = transfer(OS_RING_WRITE, file, data, 0);
  request.data_sync = true;
  assert_int_equal(do_one(ring, &request).result, (int)BLOCK);
  request = transfer(OS_RING_SYNC, file, NULL, 0);
  assert_int_equal(do_one(ring, &request).result, 0);
  assert_int_equal(os_pread_full(file, back, BLOCK, BLOCK), (int64_t)BLOCK);
  assert_memory_equal(back, data, BLOCK);
  request = transfer(OS_RING_READ, 900, data, 0);
  assert_int_equal(do_one(ring, &request).result, -EBADF);
  os_ring_close(ring);
  assert_int_equal(os_close(file), 0);
}

static void registered_files_and_buffers_are_used(void **state) {
  struct os_ring *ring = need_ring(DEPTH);
  os_file first = make_file(*state, "first", BLOCK), second = open_in(*state, "second", OS_READ | OS_WRITE | OS_CREATE);
  void *memory;
  assert_int_equal(os_memory_get(2 * BLOCK, 0, &memory), 0);
  void *buffers[2] = {memory, (char *)memory + BLOCK};
  size_t lengths[2] = {BLOCK, BLOCK};
  int error = os_ring_register_buffers(ring, buffers, lengths, 2);
  if (error == -ENOMEM) skip_because("buffers cannot be registered: limit of locked memory");
  assert_int_equal(error, 0);
  assert_int_equal(os_ring_register_file(ring, first), 0);
  struct os_ring_request request = transfer(OS_RING_READ, os_no_file, buffers[1], 0);
  request.registered_file = true;
  request.buffer_index = 1;
  assert_int_equal(do_one(ring, &request).result, (int)BLOCK);
  assert_int_equal(((unsigned char *)buffers[1])[3], 21);
  assert_int_equal(os_ring_register_file(ring, second), 0); /* takes the place of the first */
  request.kind = OS_RING_WRITE;
  request.data_sync = true;
  assert_int_equal(do_one(ring, &request).result, (int)BLOCK);
  unsigned char byte = 0;
  assert_int_equal(os_pread(second, &byte, 1, 3), 1);
  assert_int_equal(byte, 21);
  assert_int_equal(os_ring_register_file(ring, os_no_file), 0);
  assert_int_equal(do_one(ring, &request).result, -EBADF);
  os_ring_close(ring);
  assert_int_equal(os_memory_put(memory, 2 * BLOCK), 0);
  assert_int_equal(os_close(first), 0);
  assert_int_equal(os_close(second), 0);
}

/* Queues open, read, close of one file as a chain: 10, 20, 30 plus the file's number come back. */
static void queue_file(struct os_ring *ring, const char *path, unsigned slot, void *data) {
  struct os_ring_request open = {
      .kind = OS_RING_OPEN, .buffer_index = -1, .path = path, .slot = slot, .linked = true, .tag = 10 + slot};
  struct os_ring_request read = transfer(OS_RING_READ, 0, data, 0);
  struct os_ring_request close = {.kind = OS_RING_CLOSE, .buffer_index = -1, .slot = slot, .tag = 30 + slot};
  read.registered_file = read.linked_anyway = true;
  read.slot = slot;
  read.tag = 20 + slot;
  assert_int_equal(os_ring_queue(ring, &open), 0);
  assert_int_equal(os_ring_queue(ring, &read), 0);
  assert_int_equal(os_ring_queue(ring, &close), 0);
}

static void a_ring_opens_and_closes_files_of_its_own(void **state) {
  struct os_ring *ring = need_ring(9);
  struct os_ring_completion done[9];
  static unsigned char data[3][4096];
  const struct path first = path_in(*state, "first"), second = path_in(*state, "second"), none = path_in(*state, "none");
  int results[40] = {0};
  assert_int_equal(os_close(make_file(*state, "first", 100)), 0); /* comes short, and is closed all the same */
  assert_int_equal(os_close(make_file(*state, "second", 5000)), 0);
  const int error = os_ring_reserve_files(ring, 3);
  if (error) skip_because("no room for files in a ring: %s", strerror(-error));
  for (unsigned turn = 0; turn < 2; turn++) {
    queue_file(ring, first.text, 0, data[0]);
    queue_file(ring, second.text, 1, data[1]);
    queue_file(ring, none.text, 2, data[2]);
    assert_int_equal(os_ring_submit(ring, 9), 0);
    assert_int_equal(os_ring_reap(ring, done, 9), 9);
    for (unsigned i = 0; i < 9; i++) results[done[i].tag] = done[i].result;
    assert_true(results[10] == 0 && results[20] == 100 && results[30] == 0);
    assert_true(results[11] == 0 && results[21] == 4096 && results[31] == 0);
    assert_true(results[12] == -ENOENT && results[22] == -ECANCELED && results[32] == -ECANCELED);
    assert_true(data[0][99] == (unsigned char)(99 * 7) && data[1][4095] == (unsigned char)(4095 * 7));
  }
  os_ring_close(ring);
}

static void engines_without_files_of_their_own_say_so(void **state) {
  const struct os_ring_request request = {.kind = OS_RING_OPEN, .buffer_index = -1, .path = "."};
  struct os_ring *ring;
  assert_int_equal(os_ring_open_engine(OS_RING_THREADS, 1, &ring), 0);
  assert_int_equal(os_ring_reserve_files(ring, 1), -EOPNOTSUPP);
  assert_int_equal(os_ring_queue(ring, &request), -EOPNOTSUPP);
  os_ring_close(ring);
}

static void impossible_depths_are_refused(void **state) {
  struct os_ring *ring = need_ring(1);
  os_ring_close(ring);
  assert_int_equal(os_ring_open(0, &ring), -EINVAL);
  assert_true(os_ring_open(UINT32_MAX, &ring) < 0);
}

/* ---- refusals ---- */

static int scripted_error;
static unsigned calls;

static int refusing_setup(unsigned entries, void *ring, void *params) {
  calls++;
  return -scripted_error;
}

static void every_refusal_has_words(void **state) {
  static const struct {
    int error;
    const char *word;
  } cases[] = {{ENOSYS, "ENOSYS"}, {EPERM, "io_uring"}, {EACCES, "EACCES"},         {ENOMEM, "locked"},
               {EMFILE, "EMFILE"}, {ENFILE, "ENFILE"},  {EOPNOTSUPP, "EOPNOTSUPP"}, {EINVAL, "ring"}};
  if (!os_override("io_uring_setup", (os_function *)refusing_setup)) {
    char why[128];
    assert_int_equal(os_ring_probe(why, sizeof why, NULL, 0), -ENOSYS);
    assert_string_equal(why, "built without liburing");
    skip_because("%s", why);
  }
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char why[128] = "", remedy[128] = "";
    struct os_ring *ring = NULL;
    scripted_error = cases[i].error;
    calls = 0;
    assert_int_equal(os_ring_open(4, &ring), -cases[i].error);
    assert_null(ring);
    assert_int_equal(calls, cases[i].error == EINVAL ? 5 : 1); /* EINVAL: unknown flags are dropped step by step */
    assert_int_equal(os_ring_probe(why, sizeof why, remedy, sizeof remedy), -cases[i].error);
    assert_non_null(strstr(why, cases[i].word));
    assert_int_equal(os_ring_probe(NULL, 0, NULL, 0), -cases[i].error);
  }
  restore("io_uring_setup");
}

/* After this the kernel answers io_uring_setup with `error`. */
static int filter_rings(int error) {
  struct sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {.len = sizeof rules / sizeof rules[0], .filter = rules};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int probe_behind_filter(void *context) {
  int error = *(int *)context;
  char why[160] = "", remedy[160] = "";
  if (filter_rings(error)) return 77;
  if (os_ring_probe(why, sizeof why, remedy, sizeof remedy) != -error) return 1;
  printf("  %s; remedy: %s\n", why, remedy);
  (void)fflush(stdout);
  return strstr(why, "io_uring") && remedy[0] ? 0 : 2;
}

static void container_filters_are_named(void **state) {
  os_ring_close(need_ring(1));
  static int errors[] = {EPERM, ENOSYS};
  for (size_t i = 0; i < 2; i++) {
    os_process process;
    struct os_exit status;
    (void)fflush(stdout);
    assert_int_equal(os_process_fork(probe_behind_filter, &errors[i], &process), 0);
    assert_int_equal(os_process_wait(process, UINT64_MAX, &status), 0);
    if (status.code == 77) skip_because("no seccomp filters here");
    assert_true(!status.crashed && status.code == 0);
  }
}

/* Other users than root pay for rings and buffers out of their limit of locked memory. */
static int register_as_nobody(void *context) {
  struct rlimit limit = {0, 64 * KIB};
  char why[160] = "", remedy[160] = "";
  if (geteuid() != 0 || setrlimit(RLIMIT_MEMLOCK, &limit) || setresuid(65534, 65534, 65534)) return 77;
  if (os_ring_probe(why, sizeof why, remedy, sizeof remedy) == -ENOMEM && !strstr(remedy, "ulimit -l")) return 1;
  limit.rlim_cur = limit.rlim_max;
  struct os_ring *ring;
  if (setrlimit(RLIMIT_MEMLOCK, &limit) || os_ring_open(4, &ring)) return 78;
  void *memory;
  size_t length = MIB;
  if (os_memory_get(length, 0, &memory)) return 2;
  int error = os_ring_register_buffers(ring, &memory, &length, 1);
  struct os_ring_request request = {.kind = OS_RING_SYNC, .file = 900, .buffer_index = -1};
  struct os_ring_completion done;
  bool works = !os_ring_queue(ring, &request) && !os_ring_submit(ring, 1) && os_ring_reap(ring, &done, 1) == 1;
  os_ring_close(ring);
  return error == -ENOMEM && works ? 0 : 3;
}

static void refused_buffers_leave_the_ring_usable(void **state) {
  os_ring_close(need_ring(1));
  os_process process;
  struct os_exit status;
  assert_int_equal(os_process_fork(register_as_nobody, NULL, &process), 0);
  assert_int_equal(os_process_wait(process, UINT64_MAX, &status), 0);
  if (status.code == 77) skip_because("needs root to become another user");
  if (status.code == 78) skip_because("no ring for other users here");
  assert_true(!status.crashed && status.code == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_deliver_what_the_file_holds),
      cmocka_unit_test(one_after_another_never_fills_the_queue),
      cmocka_unit_test(submitting_without_waiting_finds_completions_later),
      cmocka_unit_test(writes_and_syncs_reach_the_file),
      cmocka_unit_test(kernel_aio_keeps_the_promises),
      cmocka_unit_test(threads_keep_the_promises),
      cmocka_unit_test(linked_requests_stop_after_a_short_one),
      cmocka_unit_test(registered_files_and_buffers_are_used),
      cmocka_unit_test(a_ring_opens_and_closes_files_of_its_own),
      cmocka_unit_test(engines_without_files_of_their_own_say_so),
      cmocka_unit_test(impossible_depths_are_refused),
      cmocka_unit_test(every_refusal_has_words),
      cmocka_unit_test(container_filters_are_named),
      cmocka_unit_test(refused_buffers_leave_the_ring_usable),
  };
  int failed = cmocka_run_group_tests_name("rings", tests, make_scratch, remove_scratch);
  return failed == 0 && os_ring_probe(NULL, 0, NULL, 0) != 0 ? 77 : failed; /* the reason was printed by every test */
}
