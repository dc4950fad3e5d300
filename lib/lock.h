/*
 * lock.h - a lock for a few threads that hold it for a few instructions, and a bell to sleep on. Plain words, zeroed at the
 * start: nothing to make or to destroy, and nothing that can fail.
 */
#ifndef WEIR_LOCK_H
#define WEIR_LOCK_H

#include <stdatomic.h>

#include "os/os.h"

_Static_assert(sizeof(atomic_uint) == sizeof(unsigned), "os_wait_word looks at the plain word");

struct weir__lock {
  atomic_uint word; /* 0 free, 1 taken, 2 taken and somebody may wait */
};

static inline const volatile unsigned *weir__plain(const atomic_uint *word) { return (const volatile unsigned *)word; }

static inline void weir__lock(struct weir__lock *lock) {
  unsigned free_word = 0;
  if (atomic_compare_exchange_strong_explicit(&lock->word, &free_word, 1, memory_order_acquire, memory_order_relaxed))
    return;
  while (atomic_exchange_explicit(&lock->word, 2, memory_order_acquire)) os_wait_word(weir__plain(&lock->word), 2);
}

static inline void weir__unlock(struct weir__lock *lock) {
  if (atomic_exchange_explicit(&lock->word, 0, memory_order_release) == 2) os_wake_one(weir__plain(&lock->word));
}

/* Rung when something changed that others may wait for. `sleepers` is looked at under the lock that guards the something. */
struct weir__bell {
  atomic_uint rings;
  unsigned sleepers;
};

/* Called and returning with the lock held; also returns without a reason. */
static inline void weir__bell_wait(struct weir__bell *bell, struct weir__lock *lock) {
  const unsigned rings = atomic_load(&bell->rings);
  bell->sleepers++;
  weir__unlock(lock);
  os_wait_word(weir__plain(&bell->rings), rings);
  weir__lock(lock);
  bell->sleepers--;
}

/* Called with the lock held. */
static inline void weir__bell_ring(struct weir__bell *bell) {
  if (!bell->sleepers) return;
  atomic_fetch_add(&bell->rings, 1);
  os_wake_word(weir__plain(&bell->rings));
}

#endif
