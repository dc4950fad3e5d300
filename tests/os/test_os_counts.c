/*
 * test_os_counts.c - system calls of threads, cycles and instructions. What the machine has no counters for is given to the
 * code by a file that says what counters would.
 */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

struct perf_event_attr;

/* ---- system calls ---- */

/* A thread or process takes calls to start and to end, more of them under the sanitizers: MANY is far beyond those. */
enum { CALLS = 37, MANY = 1000, STARTING = 300, FAILED = 99, REFUSED = 98 };

static void *call_often(void *context) {
  for (int i = 0; i < CALLS; i++) (void)syscall(SYS_getppid);
  return NULL;
}

static void *call_many_times(void *context) {
  for (int i = 0; i < MANY; i++) (void)syscall(SYS_getppid);
  return NULL;
}

/* In a process of its own, for it never ends. Each returns the calls that were counted. */
static int count_main(void *context) {
  struct os_call_count *count;
  unsigned own = 0;
  if (os_call_count_start(&own, &count) < 0) return REFUSED;
  const uint64_t before = os_call_count_read(count);
  call_often(NULL);
  os_wake_word(&own); /* the harness's own word, and the clock, count for nothing */
  os_wait_word(&own, 1);
  (void)os_clock_ns();
  return (int)(os_call_count_read(count) - before);
}

static int count_others_word(void *context) {
  struct os_call_count *count;
  unsigned own = 0, other = 0;
  if (os_call_count_start(&own, &count) < 0) return REFUSED;
  const uint64_t before = os_call_count_read(count);
  os_wake_word(&other);
  return (int)(os_call_count_read(count) - before);
}

static int count_thread(void *context) {
  struct os_call_count *count;
  struct os_thread *thread;
  unsigned own = 0;
  if (os_call_count_start(&own, &count) < 0) return REFUSED;
  const uint64_t before = os_call_count_read(count);
  if (os_thread_start(call_many_times, NULL, &thread) < 0 || os_thread_join(thread) < 0) return FAILED;
  const uint64_t calls = os_call_count_read(count) - before;
  return calls >= MANY && calls < MANY + STARTING ? 1 : 0;
}

static int count_child(void *context) {
  struct os_call_count *count;
  unsigned own = 0;
  if (os_call_count_start(&own, &count) < 0) return REFUSED;
  const uint64_t before = os_call_count_read(count);
  const pid_t child = fork();
  if (child == 0) _exit(call_many_times(NULL) != NULL);
  int status;
  if (child < 0 || waitpid(child, &status, 0) != child) return FAILED;
  const uint64_t calls = os_call_count_read(count) - before;
  return calls >= MANY && calls < MANY + STARTING ? 1 : 0;
}

static int answer_of(int (*body)(void *)) {
  os_process child;
  struct os_exit end;
  assert_int_equal(os_process_fork(body, NULL, &child), 0);
  assert_int_equal(os_process_wait(child, UINT64_C(60000000000), &end), 0);
  if (!end.crashed && end.code == REFUSED) skip_because("calls cannot be counted here");
  assert_false(end.crashed);
  return end.code;
}

static void every_call_is_counted_once(void **state) { assert_int_equal(answer_of(count_main), CALLS); }
static void other_words_are_not_the_harness(void **state) { assert_int_equal(answer_of(count_others_word), 1); }
static void threads_started_later_count(void **state) { assert_int_equal(answer_of(count_thread), 1); }
static void processes_started_later_count(void **state) { assert_int_equal(answer_of(count_child), 1); }

static int no_seccomp(unsigned operation, unsigned flags, const void *argument) {
  errno = ENOSYS;
  return -1;
}

static int refused_code(void *context) {
  struct os_call_count *count;
  unsigned own = 0;
  replace("seccomp", (os_function *)no_seccomp);
  const int code = os_call_count_start(&own, &count);
  call_often(NULL); /* and nobody waits for an answer */
  return -code;
}

static void a_refusal_is_told_and_harms_nothing(void **state) { assert_int_equal(answer_of(refused_code), ENOSYS); }

/* ---- cycles ---- */

static uint64_t told[2][2][3]; /* of cycles and instructions, at two readings: value, time enabled, time running */
static int asked;

static int fake_counter(struct perf_event_attr *attributes) {
  os_file file;
  assert_int_equal(os_memory_file("counter", sizeof told[0], &file), 0);
  assert_int_equal(os_pwrite_full(file, told[asked], sizeof told[0], 0), (int64_t)sizeof told[0]);
  asked = 1 - asked;
  return (int)file;
}

static int no_counter(struct perf_event_attr *attributes) {
  errno = ENOENT;
  return -1;
}

static int forbidden_second(struct perf_event_attr *attributes) {
  errno = EACCES;
  return asked++ ? -1 : dup(2);
}

static void counters_are_read_and_scaled(void **state) {
  struct os_cycles counters;
  int64_t cycles, instructions;
  memcpy(told, (uint64_t[2][2][3]){{{1000, 7, 7}, {3000, 20, 10}}, {{500, 7, 7}, {900, 20, 0}}}, sizeof told);
  asked = 0;
  replace("perf_event_open", (os_function *)fake_counter);
  assert_int_equal(os_cycles_start(&counters), 0);
  os_cycles_read(&counters, &cycles, &instructions);
  assert_int_equal(cycles, 1000);
  assert_int_equal(instructions, 500);
  os_cycles_read(&counters, &cycles, &instructions);
  assert_int_equal(cycles, 6000);     /* it ran half of the time */
  assert_int_equal(instructions, -1); /* it never ran */
  os_cycles_read(&counters, &cycles, &instructions);
  assert_int_equal(cycles, -1); /* nothing more can be read */
  os_cycles_stop(&counters);
  os_cycles_stop(&counters);
  restore("perf_event_open");
}

static void missing_counters_are_unknown_not_zero(void **state) {
  struct os_cycles counters;
  int64_t cycles = 0, instructions = 0;
  replace("perf_event_open", (os_function *)no_counter);
  assert_int_equal(os_cycles_start(&counters), -ENOENT);
  os_cycles_read(&counters, &cycles, &instructions);
  assert_true(cycles == -1 && instructions == -1);
  os_cycles_stop(&counters);
  asked = 0;
  replace("perf_event_open", (os_function *)forbidden_second);
  assert_int_equal(os_cycles_start(&counters), -EACCES);
  os_cycles_read(&counters, &cycles, &instructions);
  assert_true(cycles == -1 && instructions == -1);
  restore("perf_event_open");
}

/* Of this machine, where it has them: work takes instructions. */
static void work_takes_instructions(void **state) {
  struct os_cycles counters;
  int64_t cycles[2], instructions[2];
  const int error = os_cycles_start(&counters);
  if (error) skip_because("no counters here: %s", strerror(-error));
  os_cycles_read(&counters, &cycles[0], &instructions[0]);
  for (volatile int i = 0; i < 1000000; i++) continue;
  os_cycles_read(&counters, &cycles[1], &instructions[1]);
  os_cycles_stop(&counters);
  assert_true(instructions[1] - instructions[0] >= 1000000);
  assert_true(cycles[1] > cycles[0]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_call_is_counted_once),
      cmocka_unit_test(other_words_are_not_the_harness),
      cmocka_unit_test(threads_started_later_count),
      cmocka_unit_test(processes_started_later_count),
      cmocka_unit_test(a_refusal_is_told_and_harms_nothing),
      cmocka_unit_test(counters_are_read_and_scaled),
      cmocka_unit_test(missing_counters_are_unknown_not_zero),
      cmocka_unit_test(work_takes_instructions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
