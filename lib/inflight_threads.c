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
  struct weir__crew *crew;
  struct os_thread *thread;
  atomic_uint asleep;
  struct worker *next; /* of those that sleep */
};

struct weir__crew {
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
static bool give_back(struct weir__crew *crew, struct weir_request *request) {
  request->next = NULL;
  append(&crew->back, &crew->back_last, request);
  crew->back_count++;
  if (!crew->wanted || crew->back_count < crew->wanted) return false;
  crew->wanted = 0;
  atomic_fetch_add(&crew->news, 1);
  return true;
}

/* The next request; NULL and among those that sleep if there is none. */
static struct weir_request *take(struct worker *worker) {
  struct weir__crew *crew = worker->crew;
  struct weir_request *request = crew->todo;
  if (request) {
    crew->todo = request->next;
    return request;
  }
  if (crew->stop) return NULL;
  atomic_store(&worker->asleep, 1);
  worker->next = crew->idle;
  crew->idle = worker;
  return NULL;
}

static void *work(void *context) {
  struct worker *worker = context;
  struct weir__crew *crew = worker->crew;
  struct weir_request *request = NULL;
  for (;;) {
    weir__lock(&crew->lock);
    const bool wake = request && give_back(crew, request);
    request = take(worker);
    const bool stop = !request && crew->stop;
    weir__unlock(&crew->lock);
    if (wake) os_wake_one(weir__plain(&crew->news));
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
static struct worker *cut_idle(struct weir__crew *crew, size_t count) {
  struct worker *first = crew->idle, **end = &crew->idle;
  while (*end && count) {
    end = &(*end)->next;
    count--;
  }
  struct worker *rest = *end;
  if (end == &crew->idle) return NULL;
  *end = NULL;
  crew->idle = rest;
  return first;
}

void weir__crew_put(struct weir__crew *crew, struct weir_request *first) {
  size_t count = 0;
  weir__lock(&crew->lock);
  for (struct weir_request *request = first, *next; request; request = next) {
    next = request->next;
    request->next = NULL;
    append(&crew->todo, &crew->todo_last, request);
    count++;
  }
  struct worker *woken = cut_idle(crew, count);
  weir__unlock(&crew->lock);
  wake_all(woken);
}

struct weir_request *weir__crew_get(struct weir__crew *crew, size_t least) {
  weir__lock(&crew->lock);
  while (crew->back_count < least) {
    crew->wanted = least;
    const unsigned news = atomic_load(&crew->news);
    weir__unlock(&crew->lock);
    os_wait_word(weir__plain(&crew->news), news);
    weir__lock(&crew->lock);
  }
  struct weir_request *back = crew->back;
  crew->back = NULL;
  crew->back_count = crew->wanted = 0;
  weir__unlock(&crew->lock);
  return back;
}

int weir__crew_open(unsigned threads, struct weir__crew **out) {
  struct weir__crew *crew = calloc(1, sizeof *crew + threads * sizeof crew->workers[0]);
  if (!crew) return WEIR_ENOMEM;
  int error = 0;
  while (!error && crew->count < threads) {
    struct worker *worker = &crew->workers[crew->count];
    worker->crew = crew;
    error = os_thread_start(work, worker, &worker->thread);
    if (!error) crew->count++;
  }
  if (crew->count == 0) {
    free(crew);
    return error;
  }
  *out = crew;
  return 0;
}

unsigned weir__crew_size(const struct weir__crew *crew) { return crew->count; }

void weir__crew_close(struct weir__crew *crew) {
  if (!crew) return;
  weir__lock(&crew->lock);
  crew->stop = true;
  struct worker *woken = crew->idle;
  crew->idle = NULL;
  weir__unlock(&crew->lock);
  wake_all(woken);
  for (unsigned i = 0; i < crew->count; i++) (void)os_thread_join(crew->workers[i].thread);
  free(crew);
}
