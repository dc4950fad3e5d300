/*
 * inflight_threads.c - threads that work through the requests of a queue where no ring can be had or is wanted. They know
 * nothing of the queue: requests come in by one list and go out by another.
 *
 * Each thread sleeps on a word of its own, so that handing over n requests wakes n threads and not all of them.
 */
#include <stdlib.h>

#include "lib/inflight.h"
#include "lib/lock.h"

struct worker {
  struct weir__hands *hands;
  struct os_thread *thread;
  atomic_uint asleep;
  struct worker *next; /* of those that sleep */
};

struct weir__hands {
  struct weir__lock lock;
  struct weir_request *todo, *todo_last, *back, *back_last;
  size_t back_count, wanted; /* wanted: the waiting thread is woken when so many are back */
  atomic_uint news;
  struct worker *idle;
  bool stop;
  unsigned count;
  struct worker workers[];
};

static void append(struct weir_request **first, struct weir_request **last, struct weir_request *request) {
  if (*first)
    (*last)->next = request;
  else
    *first = request;
  *last = request;
}

/* Is this what the waiting thread waits for? */
static bool give_back(struct weir__hands *hands, struct weir_request *request) {
  request->next = NULL;
  append(&hands->back, &hands->back_last, request);
  hands->back_count++;
  if (!hands->wanted || hands->back_count < hands->wanted) return false;
  hands->wanted = 0;
  atomic_fetch_add(&hands->news, 1);
  return true;
}

/* The next request; NULL and among those that sleep if there is none. */
static struct weir_request *take(struct worker *worker) {
  struct weir__hands *hands = worker->hands;
  struct weir_request *request = hands->todo;
  if (request) {
    hands->todo = request->next;
    return request;
  }
  if (hands->stop) return NULL;
  atomic_store(&worker->asleep, 1);
  worker->next = hands->idle;
  hands->idle = worker;
  return NULL;
}

static void *work(void *context) {
  struct worker *worker = context;
  struct weir__hands *hands = worker->hands;
  struct weir_request *request = NULL;
  for (;;) {
    weir__lock(&hands->lock);
    const bool wake = request && give_back(hands, request);
    request = take(worker);
    const bool stop = !request && hands->stop;
    weir__unlock(&hands->lock);
    if (wake) os_wake_one(weir__plain(&hands->news));
    if (stop) return NULL;
    if (request) weir__request_perform(request);
    while (!request && atomic_load(&worker->asleep)) os_wait_word(weir__plain(&worker->asleep), 1);
  }
}

/* What sleeps stays asleep until its word changes, so the list is ours once it is cut off under the lock. */
static void wake_all(struct worker *worker) {
  while (worker) {
    struct worker *next = worker->next;
    atomic_store(&worker->asleep, 0);
    os_wake_one(weir__plain(&worker->asleep));
    worker = next;
  }
}

/* Cuts off the first `count` that sleep. */
static struct worker *cut_idle(struct weir__hands *hands, size_t count) {
  struct worker *first = hands->idle, **end = &hands->idle;
  while (*end && count) {
    end = &(*end)->next;
    count--;
  }
  struct worker *rest = *end;
  if (end == &hands->idle) return NULL;
  *end = NULL;
  hands->idle = rest;
  return first;
}

void weir__hands_put(struct weir__hands *hands, struct weir_request *first) {
  size_t count = 0;
  weir__lock(&hands->lock);
  for (struct weir_request *request = first, *next; request; request = next) {
    next = request->next;
    request->next = NULL;
    append(&hands->todo, &hands->todo_last, request);
    count++;
  }
  struct worker *woken = cut_idle(hands, count);
  weir__unlock(&hands->lock);
  wake_all(woken);
}

struct weir_request *weir__hands_get(struct weir__hands *hands, size_t least) {
  weir__lock(&hands->lock);
  while (hands->back_count < least) {
    hands->wanted = least;
    const unsigned news = atomic_load(&hands->news);
    weir__unlock(&hands->lock);
    os_wait_word(weir__plain(&hands->news), news);
    weir__lock(&hands->lock);
  }
  struct weir_request *back = hands->back;
  hands->back = NULL;
  hands->back_count = hands->wanted = 0;
  weir__unlock(&hands->lock);
  return back;
}

int weir__hands_open(unsigned threads, struct weir__hands **out) {
  struct weir__hands *hands = calloc(1, sizeof *hands + threads * sizeof hands->workers[0]);
  if (!hands) return WEIR_ENOMEM;
  int error = 0;
  while (!error && hands->count < threads) {
    struct worker *worker = &hands->workers[hands->count];
    worker->hands = hands;
    error = os_thread_start(work, worker, &worker->thread);
    if (!error) hands->count++;
  }
  if (hands->count == 0) {
    free(hands);
    return error;
  }
  *out = hands;
  return 0;
}

unsigned weir__hands_size(const struct weir__hands *hands) { return hands->count; }

void weir__hands_close(struct weir__hands *hands) {
  if (!hands) return;
  weir__lock(&hands->lock);
  hands->stop = true;
  struct worker *woken = hands->idle;
  hands->idle = NULL;
  weir__unlock(&hands->lock);
  wake_all(woken);
  for (unsigned i = 0; i < hands->count; i++) (void)os_thread_join(hands->workers[i].thread);
  free(hands);
}
