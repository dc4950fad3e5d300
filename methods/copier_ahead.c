/*
 * copier_ahead.c - copies with two buffers and a second thread: it reads the next chunk while the first thread writes this
 * one. The thread lives as long as a pass; files are handed over to it one by one.
 *
 * Each word below is written by one side only, and the other side sleeps on it. The descriptor and the length are handed
 * over by `begun`, a chunk and its count by `filled`, its buffer back by `emptied`, the file back by `ended`.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "copier.h"

#define BUFFERS 2u

struct ahead {
  struct os_thread *thread;
  unsigned char *data;
  size_t chunk;
  /* written by the writer */
  os_file from;
  size_t length;
  bool quits;
  atomic_uint begun, emptied;
  atomic_bool gives_up; /* then `emptied` moves on once more, without a meaning */
  /* written by the reader */
  atomic_uint filled, ended;
  int64_t counts[BUFFERS]; /* of the chunk in each buffer, or the error; 0: end of the file */
};

static void await(const atomic_uint *word, unsigned seen) {
  while (atomic_load(word) == seen) os_wait_word((const volatile unsigned *)word, seen);
}

static void advance(atomic_uint *word) {
  (void)atomic_fetch_add(word, 1);
  os_wake_one((const volatile unsigned *)word);
}

/* ---- the thread that reads ----------------------------------------------------------------------------------------- */

/* The number of the next buffer, once it is empty. */
static unsigned await_room(struct ahead *a) {
  const unsigned filled = atomic_load(&a->filled);
  if (filled - atomic_load(&a->emptied) >= BUFFERS) await(&a->emptied, filled - BUFFERS);
  return filled % BUFFERS;
}

static void read_ahead(struct ahead *a) {
  for (size_t done = 0; done < a->length;) {
    const size_t left = a->length - done;
    const unsigned buffer = await_room(a);
    if (atomic_load(&a->gives_up)) return;
    const int64_t count = os_read(a->from, a->data + buffer * a->chunk, left < a->chunk ? left : a->chunk);
    a->counts[buffer] = count;
    advance(&a->filled);
    if (count <= 0) return;
    done += (size_t)count;
  }
}

static void *read_files(void *context) {
  struct ahead *a = context;
  for (unsigned files = 0;; files++) {
    await(&a->begun, files);
    if (a->quits) return NULL;
    read_ahead(a);
    advance(&a->ended);
  }
}

/* ---- the one that writes ------------------------------------------------------------------------------------------- */

static int write_behind(struct ahead *a, const struct weir_job *job, struct copier_pair *pair) {
  for (size_t done = 0; done < pair->length;) {
    const unsigned emptied = atomic_load(&a->emptied), buffer = emptied % BUFFERS;
    await(&a->filled, emptied);
    const int64_t count = a->counts[buffer];
    int error = copier_judge(job, pair, "reading", done, count);
    if (!error) error = copier_write(job, pair, a->data + buffer * a->chunk, (size_t)count, done);
    if (error) return error;
    done += (size_t)count;
    advance(&a->emptied);
  }
  return 0;
}

/* The file belongs to the reader from `begun` to `ended`. After a failure the counts of the two sides differ: both start
 * anew. */
static int move_ahead(struct copier *c, const struct weir_job *job, struct copier_pair *pair) {
  struct ahead *a = c->own;
  const unsigned files = atomic_load(&a->ended);
  a->from = pair->from;
  a->length = pair->length;
  advance(&a->begun);
  int error = write_behind(a, job, pair);
  if (error) {
    atomic_store(&a->gives_up, true);
    advance(&a->emptied);
  }
  await(&a->ended, files);
  if (!error) return 0;
  atomic_store(&a->gives_up, false);
  atomic_store(&a->filled, 0);
  atomic_store(&a->emptied, 0);
  return error;
}

static int setup_ahead(struct copier *c, const struct weir_job *job) {
  c->own = calloc(1, sizeof(struct ahead));
  return c->own ? 0 : job->host->fail(job, -ENOMEM, "no memory for a thread's state");
}

static int start_ahead(struct copier *c, const struct weir_job *job) {
  struct ahead *a = c->own;
  *a = (struct ahead){.data = c->data, .chunk = c->chunk};
  int error = os_thread_start(read_files, a, &a->thread);
  return error ? target_refused(job, "starting a thread", error) : 0;
}

static void stop_ahead(struct copier *c) {
  struct ahead *a = c->own;
  a->quits = true;
  advance(&a->begun);
  (void)os_thread_join(a->thread);
}

static void free_ahead(struct copier *c) { free(c->own); }

static const struct copier_way ahead = {.chunked = true,
                                        .buffers = BUFFERS,
                                        .setup = setup_ahead,
                                        .open = start_ahead,
                                        .move = move_ahead,
                                        .close = stop_ahead,
                                        .teardown = free_ahead};
static const struct weir_param ahead_params[] = {[COPIER_CHUNK] = COPIER_PARAM_CHUNK("64KiB", "64KiB|1MiB")};

const struct weir_method methods_copy_double = {
    COPIER_METHOD,
    .name = "copy/double",
    .summary = "two buffers: a thread reads the next chunk while this one is written",
    .calls = "read(2) in a thread, write(2); futex(2) between them",
    .params = ahead_params,
    .param_count = METHODS_COUNT(ahead_params),
    .data = &ahead};
