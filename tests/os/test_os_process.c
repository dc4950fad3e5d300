/*
 * test_os_process.c - processes, threads and signals.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "check.h"

static struct os_exit run(int (*body)(void *), void *context) {
  os_process process;
  struct os_exit status;
  assert_int_equal(os_process_fork(body, context, &process), 0);
  assert_int_equal(os_process_wait(process, UINT64_MAX, &status), 0);
  return status;
}

static int give_back(void *context) { return *(int *)context; }
static int abort_at_once(void *context) {
  (void)signal(SIGABRT, SIG_DFL);
  abort();
}

static void exit_values_and_crashes_come_back(void **state) {
  int value = 7;
  struct os_exit status = run(give_back, &value);
  assert_true(!status.crashed && status.code == 7);
  value = 0x1ff;
  assert_int_equal(run(give_back, &value).code, 255);
  status = run(abort_at_once, NULL);
  assert_true(status.crashed);
  assert_string_equal(os_crash_name(status.code), "SIGABRT");
  assert_string_equal(os_crash_name(12345), "an unknown signal");
}

static int wait_for_end_of_pipe(void *read_end) {
  char byte;
  return (int)os_read(*(os_file *)read_end, &byte, 1);
}

static int no_pidfd(int pid) {
  errno = ENOSYS;
  return -1;
}

static void check_timeouts(void) {
  os_file ends[2];
  os_process process;
  struct os_exit status;
  assert_int_equal(os_pipe(&ends[0], &ends[1]), 0);
  assert_int_equal(os_process_fork(wait_for_end_of_pipe, &ends[0], &process), 0);
  assert_int_equal(os_process_wait(process, 0, &status), -ETIMEDOUT);
  uint64_t begin_ns = os_clock_ns();
  assert_int_equal(os_process_wait(process, 20000000, &status), -ETIMEDOUT);
  assert_true(os_clock_ns() - begin_ns >= 20000000);
  assert_int_equal(os_process_kill(process), 0);
  assert_int_equal(os_process_wait(process, UINT64_MAX - 1, &status), 0);
  assert_true(status.crashed);
  assert_string_equal(os_crash_name(status.code), "SIGKILL");
  assert_int_equal(os_process_wait(process, 0, &status), -ECHILD);
  assert_int_equal(os_close(ends[0]), 0);
  assert_int_equal(os_close(ends[1]), 0);
}

static void waiting_ends_in_time(void **state) {
  check_timeouts();
  replace("pidfd_open", (os_function *)no_pidfd);
  check_timeouts();
  restore("pidfd_open");
}

static void everybody_is_never_killed(void **state) {
  assert_int_equal(os_process_kill(-1), -EINVAL);
  assert_int_equal(os_process_kill(0), -EINVAL);
  assert_int_equal(os_process_wait(-1, 0, NULL), -EINVAL);
}

static pid_t no_fork(void) {
  errno = EAGAIN;
  return -1;
}

static void failed_fork_is_an_error(void **state) {
  replace("fork", (os_function *)no_fork);
  os_process process;
  const char *const argv[] = {"/bin/true", NULL};
  int value = 0;
  assert_int_equal(os_process_fork(give_back, &value, &process), -EAGAIN);
  assert_int_equal(os_process_spawn(argv, NULL, 0, &process), -EAGAIN);
  restore("fork");
}

/* Kept files swapped with the numbers that they are to get: 4 becomes 3 and 3 becomes 4. */
static int spawn_with_swapped_files(void *context) {
  os_file first, second;
  if (os_memory_file("first", 0, &first) || os_memory_file("second", 0, &second)) return 1;
  if (os_pwrite(first, "A", 1, 0) != 1 || os_pwrite(second, "B", 1, 0) != 1) return 2;
  int high_first = fcntl((int)first, F_DUPFD, 20), high_second = fcntl((int)second, F_DUPFD, 20);
  if (dup2(high_first, 4) != 4 || dup2(high_second, 3) != 3) return 3;
  os_file keep[] = {4, 3};
  const char *const argv[] = {
      "/bin/sh", "-c", "test \"$(cat <&3)\" = A && test \"$(cat <&4)\" = B && ! test -e /proc/self/fd/5 && exit 42", NULL};
  for (int fd = 5; fd < 40; fd++) (void)close(fd);
  os_process process;
  struct os_exit status;
  if (os_process_spawn(argv, keep, 2, &process)) return 4;
  if (os_process_wait(process, UINT64_MAX, &status)) return 5;
  return status.code == 42 ? 0 : 6;
}

static void spawned_program_finds_its_files(void **state) {
  struct os_exit status = run(spawn_with_swapped_files, NULL);
  assert_false(status.crashed);
  assert_int_equal(status.code, 0);
}

static void failed_spawn_is_an_error(void **state) {
  os_process process;
  const char *const missing[] = {"/no/such/program", NULL}, *const directory[] = {"/tmp", NULL};
  assert_int_equal(os_process_spawn(missing, NULL, 0, &process), -ENOENT);
  assert_int_equal(os_process_spawn(directory, NULL, 0, &process), -EACCES);
  os_file closed = 900;
  const char *const argv[] = {"/bin/true", NULL};
  assert_int_equal(os_process_spawn(argv, &closed, 1, &process), -EBADF);
}

static void own_program_is_found(void **state) {
  char path[4096], tiny[3];
  assert_int_equal(os_self_path(path, sizeof path), 0);
  assert_int_equal(access(path, X_OK), 0);
  assert_non_null(strstr(path, "test_os_process"));
  assert_int_equal(os_self_path(tiny, sizeof tiny), -ENAMETOOLONG);
}

static int check_shield(void *context) {
  if (os_process_shield() || os_process_shield()) return 1; /* twice does no harm */
  return getpgrp() == getpid() ? 0 : 2;
}

static int check_follow(void *context) {
  int wanted = 0;
  if (os_process_follow_parent(getppid()) || prctl(PR_GET_PDEATHSIG, &wanted)) return 1;
  return wanted == SIGKILL ? 0 : 2;
}

static void groups_and_parents_are_left_or_followed(void **state) {
  assert_int_equal(run(check_shield, NULL).code, 0);
  assert_int_equal(run(check_follow, NULL).code, 0);
  assert_int_equal(os_process_id(), getpid());
}

static int check_interrupts(void *context) {
  volatile int flag = 0;
  (void)signal(SIGHUP, SIG_DFL); /* the tests may run under nohup */
  if (os_interrupts_catch(&flag)) return 1;
  if (raise(SIGINT) || flag != 1) return 2;
  if (raise(SIGTERM) || flag != 2) return 3;
  if (raise(SIGHUP) || flag != 3) return 4;
  os_file ends[2];
  if (os_pipe(&ends[0], &ends[1]) || os_close(ends[0])) return 5;
  if (os_write(ends[1], "x", 1) != -EPIPE) return 6; /* and no signal */
  return raise(SIGXFSZ) ? 7 : 0;
}

static int check_nohup(void *context) {
  volatile int flag = 0;
  (void)signal(SIGHUP, SIG_IGN);
  if (os_interrupts_catch(&flag)) return 1;
  return raise(SIGHUP) || flag != 0 ? 2 : 0;
}

static void interrupts_are_counted(void **state) {
  struct os_exit status = run(check_interrupts, NULL);
  assert_true(!status.crashed && status.code == 0);
  status = run(check_nohup, NULL);
  assert_true(!status.crashed && status.code == 0);
}

static void pipe_carries_bytes_and_ends(void **state) {
  os_file ends[2];
  char text[4] = "";
  assert_int_equal(os_pipe(&ends[0], &ends[1]), 0);
  assert_int_equal(os_write(ends[1], "abc", 3), 3);
  assert_int_equal(os_close(ends[1]), 0);
  assert_int_equal(os_read(ends[0], text, 4), 3);
  assert_string_equal(text, "abc");
  assert_int_equal(os_read(ends[0], text, 4), 0);
  assert_int_equal(os_close(ends[0]), 0);
}

static int write_later(void *write_end) {
  os_sleep_ns(5000000);
  return os_write(*(os_file *)write_end, "z", 1) != 1;
}

static void non_blocking_pipe_of_others_is_waited_for(void **state) {
  os_file ends[2];
  os_process process;
  char byte = 0;
  assert_int_equal(os_pipe(&ends[0], &ends[1]), 0);
  assert_int_equal(fcntl((int)ends[0], F_SETFL, O_NONBLOCK), 0);
  assert_int_equal(os_process_fork(write_later, &ends[1], &process), 0);
  assert_int_equal(os_read(ends[0], &byte, 1), 1);
  assert_int_equal(byte, 'z');
  assert_int_equal(os_process_wait(process, UINT64_MAX, NULL), 0);
  assert_int_equal(os_close(ends[0]), 0);
  assert_int_equal(os_close(ends[1]), 0);
}

static void *note_mask(void *context) {
  sigset_t mask;
  (void)pthread_sigmask(SIG_SETMASK, NULL, &mask);
  *(int *)context = sigismember(&mask, SIGINT);
  os_thread_yield();
  return NULL;
}

static int no_thread(void *out, const void *attributes, void *(*body)(void *), void *context) { return EAGAIN; }

static void threads_run_without_signals(void **state) {
  struct os_thread *thread;
  int blocked = 0;
  assert_int_equal(os_thread_start(note_mask, &blocked, &thread), 0);
  assert_int_equal(os_thread_join(thread), 0);
  assert_int_equal(blocked, 1);
  sigset_t mask;
  assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &mask), 0);
  assert_false(sigismember(&mask, SIGINT));
  replace("pthread_create", (os_function *)no_thread);
  assert_int_equal(os_thread_start(note_mask, &blocked, &thread), -EAGAIN);
  restore("pthread_create");
}

static int check_pin(void *context) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set)) return 1;
  int count = CPU_COUNT(&set);
  if (os_thread_pin((unsigned)count) != -EINVAL) return 2;
  if (os_thread_pin((unsigned)count - 1)) return 3;
  if (sched_getaffinity(0, sizeof set, &set)) return 4;
  return CPU_COUNT(&set) == 1 ? 0 : 5;
}

static void threads_are_pinned(void **state) { assert_int_equal(run(check_pin, NULL).code, 0); }

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(exit_values_and_crashes_come_back),
      cmocka_unit_test(waiting_ends_in_time),
      cmocka_unit_test(everybody_is_never_killed),
      cmocka_unit_test(failed_fork_is_an_error),
      cmocka_unit_test(spawned_program_finds_its_files),
      cmocka_unit_test(failed_spawn_is_an_error),
      cmocka_unit_test(own_program_is_found),
      cmocka_unit_test(groups_and_parents_are_left_or_followed),
      cmocka_unit_test(interrupts_are_counted),
      cmocka_unit_test(pipe_carries_bytes_and_ends),
      cmocka_unit_test(non_blocking_pipe_of_others_is_waited_for),
      cmocka_unit_test(threads_run_without_signals),
      cmocka_unit_test(threads_are_pinned),
  };
  return cmocka_run_group_tests_name("processes and threads", tests, NULL, NULL);
}
