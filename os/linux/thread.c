/*
 * thread.c - threads and their place. They block all signals: interrupts are the main thread's.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/linux/calls.h"

#define CPUS_MAX 8192 /* CONFIG_NR_CPUS of the largest kernels built today */

struct os_thread {
  pthread_t id;
};

int os_thread_start(void *(*body)(void *context), void *context, struct os_thread **out) {
  struct os_thread *thread = malloc(sizeof *thread);
  if (!thread) return -ENOMEM;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); /* a thread inherits the mask of its creator */
  int error = sys(pthread_create)(&thread->id, NULL, body, context);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (error) {
    free(thread);
    return -error;
  }
  *out = thread;
  return 0;
}

int os_thread_join(struct os_thread *thread) {
  int error = pthread_join(thread->id, NULL);
  free(thread);
  return -error;
}

void os_thread_yield(void) { (void)sched_yield(); }

void os_wait_word(const volatile unsigned *word, unsigned value) {
  (void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

void os_wake_word(const volatile unsigned *word) {
  (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void os_wake_one(const volatile unsigned *word) {
  (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* The number of the cpu-th member of the set, or -EINVAL. */
static int nth_cpu(const cpu_set_t *set, size_t size, unsigned cpu) {
  for (size_t i = 0; i < CPUS_MAX; i++) {
    if (CPU_ISSET_S(i, size, set) && cpu-- == 0) return (int)i;
  }
  return -EINVAL;
}

static int pin(cpu_set_t *set, size_t size, unsigned cpu) {
  if (sys(sched_getaffinity)(0, size, set) < 0) return -errno;
  int number = nth_cpu(set, size, cpu);
  if (number < 0) return number;
  CPU_ZERO_S(size, set);
  CPU_SET_S((size_t)number, size, set);
  return call_result(sys(sched_setaffinity)(0, size, set));
}

int os_thread_pin(unsigned cpu) {
  cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
  if (!set) return -ENOMEM;
  size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
  CPU_ZERO_S(size, set);
  int error = pin(set, size, cpu);
  CPU_FREE(set);
  return error;
}
