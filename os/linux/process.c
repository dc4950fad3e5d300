/*
 * process.c - starting processes, waiting for them, and signals. Threads are in thread.c.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "os/linux/calls.h"

#define SPAWN_KEEP_MAX 64u
#define SPAWN_FIRST 3    /* the number under which the first kept file appears */
#define EXIT_NOT_RUN 127 /* what a shell says of a program that could not be started; the pipe tells why */

int os_process_fork(int (*body)(void *context), void *context, os_process *out) {
  pid_t pid = sys(fork)();
  if (pid < 0) return -errno;
  if (pid == 0) _exit(body(context) & 255);
  *out = pid;
  return 0;
}

struct spawn {
  const char *file;
  const char *const *argv;
  const os_file *streams; /* of a program that runs for itself: the three standard ones */
  int parent;
  const os_file *keep;
  unsigned keep_count;
  int report;
};

/*
 * A kept file may have the number that another one is to get, so all move above the final range first, the report pipe
 * too. dup2 makes descriptors that the program inherits; everything else is closed by exec.
 */
static int place_files(struct spawn *spawn) {
  int moved[SPAWN_KEEP_MAX];
  int above = SPAWN_FIRST + (int)spawn->keep_count;
  int report = sys(fcntl)(spawn->report, F_DUPFD_CLOEXEC, above);
  if (report < 0) return -errno;
  spawn->report = report;
  for (unsigned i = 0; i < spawn->keep_count; i++) {
    moved[i] = sys(fcntl)((int)spawn->keep[i], F_DUPFD_CLOEXEC, above);
    if (moved[i] < 0) return -errno;
  }
  for (unsigned i = 0; i < spawn->keep_count; i++) {
    if (dup2(moved[i], SPAWN_FIRST + (int)i) < 0) return -errno;
  }
  return 0;
}

/* Ignored signals stay ignored over exec; the program shall find them as it would under a shell. */
static void default_signals(void) {
  (void)signal(SIGPIPE, SIG_DFL);
  (void)signal(SIGXFSZ, SIG_DFL);
}

/* Ours are all above 2, so none is overwritten before it is copied. */
static int place_streams(const struct spawn *spawn) {
  int nothing = call_open_above("/dev/null", O_RDWR, 0);
  if (nothing < 0) return nothing;
  for (int i = 0; i < 3; i++)
    if (dup2(spawn->streams[i] == os_no_file ? nothing : (int)spawn->streams[i], i) < 0) return -errno;
  return 0;
}

/* A group of its own, so that all it starts can be ended with it. */
static int stand_alone(const struct spawn *spawn) {
  if (!spawn->streams) return 0;
  int error = call_result(sys(setpgid)(0, 0));
  if (!error) error = os_process_follow_parent(spawn->parent);
  return error ? error : place_streams(spawn);
}

static _Noreturn void run_program(struct spawn *spawn) {
  int error = place_files(spawn);
  if (!error) error = stand_alone(spawn);
  if (!error) {
    default_signals();
    (void)sys(execv)(spawn->file, (char *const *)(uintptr_t)spawn->argv);
    error = -errno;
  }
  (void)os_write(spawn->report, &error, sizeof error);
  _exit(EXIT_NOT_RUN);
}

/* The pipe closes silently when exec succeeds, and brings an errno value when it does not. */
static int read_report(os_file report, pid_t pid) {
  int error = 0;
  if (os_read(report, &error, sizeof error) != (int64_t)sizeof error) return 0;
  (void)os_process_wait(pid, UINT64_MAX, NULL);
  return error;
}

static int start(struct spawn *spawn, os_process *out) {
  os_file read_end, write_end;
  int error = os_pipe(&read_end, &write_end);
  if (error) return error;
  pid_t pid = sys(fork)();
  error = pid < 0 ? -errno : 0;
  spawn->report = (int)write_end;
  if (pid == 0) run_program(spawn);
  (void)os_close(write_end);
  if (!error) error = read_report(read_end, pid);
  (void)os_close(read_end);
  if (!error) *out = pid;
  return error;
}

int os_process_spawn(const char *const *argv, const os_file *keep, unsigned keep_count, os_process *out) {
  if (keep_count > SPAWN_KEEP_MAX) return -E2BIG;
  return start(&(struct spawn){.file = argv[0], .argv = argv, .keep = keep, .keep_count = keep_count}, out);
}

int os_program_start(const char *file, const char *const *argv, const os_file streams[3], os_process *out) {
  return start(&(struct spawn){.file = file, .argv = argv, .streams = streams, .parent = os_process_id()}, out);
}

/* What a shell takes for a program: a regular file that may be executed. */
static int check_program(const char *path) {
  struct stat stat;
  if (sys(stat)(path, &stat) < 0) return -errno;
  if (!S_ISREG(stat.st_mode)) return -EACCES;
  return access(path, X_OK) < 0 ? -errno : 0;
}

int os_program_find(const char *name, char *out, size_t size) {
  const char *at = getenv("PATH");
  if (!at) at = "/usr/local/bin:/usr/bin:/bin";
  if (strchr(name, '/')) return snprintf(out, size, "%s", name) < (int)size ? check_program(name) : -ENAMETOOLONG;
  int found = -ENOENT;
  for (; *name; at++) {
    int length = (int)strcspn(at, ":");
    bool fits = snprintf(out, size, "%.*s/%s", length ? length : 1, length ? at : ".", name) < (int)size;
    int error = fits ? check_program(out) : -ENAMETOOLONG;
    if (!error) return 0;
    if (error == -EACCES) found = error;
    at += length;
    if (!*at) break;
  }
  return found;
}

static int reap(pid_t pid, int options, struct os_exit *out) {
  int status;
  pid_t got;
  do got = sys(waitpid)(pid, &status, options);
  while (got < 0 && errno == EINTR);
  if (got < 0) return -errno;
  if (got == 0) return -ETIMEDOUT;
  bool crashed = WIFSIGNALED(status);
  if (out) *out = (struct os_exit){.crashed = crashed, .code = crashed ? WTERMSIG(status) : WEXITSTATUS(status)};
  return 0;
}

static struct timespec timespec_of(uint64_t ns) {
  return (struct timespec){.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
}

/* Sleeps until the process ends or `left_ns` are over; without a process descriptor it naps and the caller looks again. */
static void wait_for_end(int pidfd, uint64_t left_ns) {
  if (pidfd < 0) {
    os_sleep_ns(left_ns < 1000000 ? left_ns : 1000000);
    return;
  }
  struct pollfd wanted = {.fd = pidfd, .events = POLLIN};
  struct timespec timeout = timespec_of(left_ns);
  (void)sys(ppoll)(&wanted, 1, &timeout, NULL);
}

int os_process_wait(os_process process, uint64_t timeout_ns, struct os_exit *out) {
  pid_t pid = (pid_t)process;
  if (pid <= 0) return -EINVAL; /* would wait for any child */
  if (timeout_ns == UINT64_MAX) return reap(pid, 0, out);
  uint64_t begin_ns = os_clock_ns();
  int error = reap(pid, WNOHANG, out);
  if (error != -ETIMEDOUT || timeout_ns == 0) return error;
  int pidfd = sys(pidfd_open)(pid);
  for (uint64_t passed_ns; error == -ETIMEDOUT && (passed_ns = os_clock_ns() - begin_ns) < timeout_ns;) {
    wait_for_end(pidfd, timeout_ns - passed_ns);
    error = reap(pid, WNOHANG, out);
  }
  if (pidfd >= 0) (void)sys(close)(pidfd);
  return error;
}

/* 0 and below mean whole groups, or everybody. */
int os_process_kill(os_process process) { return process <= 0 ? -EINVAL : call_result(sys(kill)((pid_t)process, SIGKILL)); }

int os_process_kill_group(os_process leader) {
  return leader <= 1 ? -EINVAL : call_result(sys(kill)(-(pid_t)leader, SIGKILL));
}

const char *os_crash_name(int code) {
  static const struct {
    int code;
    const char *name;
  } names[] = {
      {SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"}, {SIGILL, "SIGILL"},   {SIGTRAP, "SIGTRAP"},
      {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},   {SIGKILL, "SIGKILL"}, {SIGUSR1, "SIGUSR1"},
      {SIGSEGV, "SIGSEGV"}, {SIGUSR2, "SIGUSR2"}, {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"},
      {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"}, {SIGSYS, "SIGSYS"},
  };
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (names[i].code == code) return names[i].name;
  }
  return "an unknown signal";
}

int os_self_path(char *out, size_t size) {
  ssize_t length = sys(readlink)("/proc/self/exe", out, size);
  if (length < 0) return -errno;
  if ((size_t)length >= size) return -ENAMETOOLONG;
  out[length] = '\0';
  return 0;
}

/* A group of its own: the terminal signals the foreground group only. The leader of one is there already. */
int os_process_shield(void) { return getpgrp() == getpid() ? 0 : call_result(sys(setpgid)(0, 0)); }

int os_process_follow_parent(int parent) {
  int error = call_result(sys(prctl)(PR_SET_PDEATHSIG, SIGKILL));
  if (error) return error;
  return getppid() == parent ? 0 : -ESRCH; /* it may have ended before the call above */
}

int os_process_id(void) { return (int)getpid(); }

void os_mark(const char *text) { (void)sys(write)(-1, text, strlen(text)); }

/* ---- interrupts ---- */

/* A handler gets no context: the flag's address has to lie where it finds it. */
static _Atomic(volatile int *) interrupt_flag;

static void note_interrupt(int signal) {
  (void)signal;
  volatile int *flag = atomic_load_explicit(&interrupt_flag, memory_order_relaxed);
  if (*flag < INT16_MAX) *flag = *flag + 1;
}

int os_interrupts_catch(volatile int *flag) {
  static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction action = {.sa_handler = note_interrupt}; /* no SA_RESTART: waits shall end */
  struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
  for (size_t i = 0; i < 3; i++) sigaddset(&action.sa_mask, caught[i]);
  atomic_store(&interrupt_flag, flag);
  for (size_t i = 0; i < 3; i++) {
    if (sigaction(caught[i], NULL, &before) < 0) return -errno;
    if (caught[i] == SIGHUP && before.sa_handler == SIG_IGN) continue; /* started by nohup */
    if (sigaction(caught[i], &action, NULL) < 0) return -errno;
  }
  struct sigaction usual = {.sa_handler = SIG_DFL};
  if (sigaction(SIGCHLD, &usual, NULL) < 0) return -errno; /* inherited as ignored, it would hide how children end */
  if (sigaction(SIGPIPE, &ignore, NULL) < 0 || sigaction(SIGXFSZ, &ignore, NULL) < 0) return -errno;
  return 0;
}
