/*
 * gate.c - counts by which threads tell each other: the same meaning by five means, so that these can be compared.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "os/linux/calls.h"

#define LINE 64u          /* a gate has its cache lines for itself */
#define SPINS_A_TURN 256u /* about 10 us of looking: then whoever else waits for this CPU may have it */

_Static_assert(sizeof(atomic_uint) == sizeof(unsigned), "os_wait_word looks at the plain word");

struct os_gate {
  alignas(LINE) enum os_gate_kind kind;
  pthread_mutex_t lock;
  pthread_cond_t change;
  unsigned counted; /* under the lock */
  int event;
  sem_t semaphore;
  alignas(LINE) atomic_uint count;
  atomic_uint sleepers;
};

/* ---- one by one ---------------------------------------------------------------------------------------------------- */

static void lock_give(struct os_gate *gate) {
  (void)pthread_mutex_lock(&gate->lock);
  gate->counted++;
  (void)pthread_cond_signal(&gate->change);
  (void)pthread_mutex_unlock(&gate->lock);
}
static void lock_take(struct os_gate *gate) {
  (void)pthread_mutex_lock(&gate->lock);
  while (gate->counted == 0) (void)pthread_cond_wait(&gate->change, &gate->lock);
  gate->counted--;
  (void)pthread_mutex_unlock(&gate->lock);
}

/* Not through the table of calls: these are no transfers of a file. */
static void event_give(struct os_gate *gate) {
  const uint64_t one = 1;
  while (write(gate->event, &one, sizeof one) < 0 && errno == EINTR) continue;
}
static void event_take(struct os_gate *gate) {
  uint64_t one;
  while (read(gate->event, &one, sizeof one) < 0 && errno == EINTR) continue;
}

static void semaphore_give(struct os_gate *gate) { (void)sem_post(&gate->semaphore); }
static void semaphore_take(struct os_gate *gate) {
  while (sem_wait(&gate->semaphore) < 0 && errno == EINTR) continue;
}

static bool take_count(struct os_gate *gate) {
  unsigned count = atomic_load_explicit(&gate->count, memory_order_relaxed);
  while (count > 0)
    if (atomic_compare_exchange_weak_explicit(&gate->count, &count, count - 1, memory_order_acquire, memory_order_relaxed))
      return true;
  return false;
}

static void pause_a_little(void) {
#if defined(__x86_64__) || defined(__i386__)
  __asm__ volatile("pause");
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

static void spin_give(struct os_gate *gate) { (void)atomic_fetch_add_explicit(&gate->count, 1, memory_order_release); }
static void spin_take(struct os_gate *gate) {
  for (unsigned looks = 1; !take_count(gate); looks++) {
    if (looks % SPINS_A_TURN)
      pause_a_little();
    else
      os_thread_yield();
  }
}

static const volatile unsigned *plain(const atomic_uint *word) { return (const volatile unsigned *)word; }

/* Who gives looks for sleepers after the count has changed, who sleeps is one before it looks at the count: one sees the
 * other. */
static void atomic_give(struct os_gate *gate) {
  (void)atomic_fetch_add(&gate->count, 1);
  if (atomic_load(&gate->sleepers) > 0) os_wake_one(plain(&gate->count));
}
static void atomic_take(struct os_gate *gate) {
  while (!take_count(gate)) {
    (void)atomic_fetch_add(&gate->sleepers, 1);
    os_wait_word(plain(&gate->count), 0);
    (void)atomic_fetch_sub(&gate->sleepers, 1);
  }
}

/* ---- all of them --------------------------------------------------------------------------------------------------- */

static const struct {
  void (*give)(struct os_gate *gate);
  void (*take)(struct os_gate *gate);
} means[] = {
    [OS_GATE_LOCK] = {lock_give, lock_take},
    [OS_GATE_EVENT] = {event_give, event_take},
    [OS_GATE_SEMAPHORE] = {semaphore_give, semaphore_take},
    [OS_GATE_SPIN] = {spin_give, spin_take},
    [OS_GATE_ATOMIC] = {atomic_give, atomic_take},
};

void os_gate_give(struct os_gate *gate) { means[gate->kind].give(gate); }
void os_gate_take(struct os_gate *gate) { means[gate->kind].take(gate); }

/* Of the others only the event is something that the system may not have. */
static int prepare(struct os_gate *gate) {
  if (gate->kind == OS_GATE_EVENT) {
    const int event = sys(eventfd)(0, EFD_CLOEXEC | EFD_SEMAPHORE);
    gate->event = event < 0 ? -1 : call_above_standard(event);
    if (event < 0) return -errno;
    return gate->event < 0 ? gate->event : 0;
  }
  if (gate->kind == OS_GATE_SEMAPHORE) return call_result(sem_init(&gate->semaphore, 0, 0));
  if (gate->kind != OS_GATE_LOCK) return 0;
  const int error = pthread_mutex_init(&gate->lock, NULL);
  return error ? -error : -pthread_cond_init(&gate->change, NULL);
}

int os_gate_open(enum os_gate_kind kind, struct os_gate **out) {
  struct os_gate *gate = aligned_alloc(LINE, sizeof *gate);
  if (!gate) return -ENOMEM;
  *gate = (struct os_gate){.kind = kind, .event = -1};
  const int error = prepare(gate);
  if (error)
    free(gate);
  else
    *out = gate;
  return error;
}

void os_gate_close(struct os_gate *gate) {
  if (!gate) return;
  if (gate->kind == OS_GATE_LOCK) {
    (void)pthread_cond_destroy(&gate->change);
    (void)pthread_mutex_destroy(&gate->lock);
  }
  if (gate->kind == OS_GATE_EVENT) (void)close(gate->event);
  if (gate->kind == OS_GATE_SEMAPHORE) (void)sem_destroy(&gate->semaphore);
  free(gate);
}
