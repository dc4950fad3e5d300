/*
 * crew.c - several threads that fill one piece of memory from one file. They take pieces in rising order, so whatever one of
 * them meets, all before it is being read by somebody and will be there in the end.
 */
#include "lib/crew.h"

int64_t crew_read(const struct crew_source *source, void *data, size_t size, size_t at) {
  if (!source->positional) return os_read(source->file, data, size);
  if (!source->uncached) return weir__pread_once(source->file, data, size, source->offset + at);
  const struct os_piece piece = {data, size};
  return os_preadv(source->file, &piece, 1, source->offset + at, OS_TRANSFER_UNCACHED);
}

struct crew {
  const struct crew_source *source;
  char *data;
  size_t size;
  atomic_size_t next;  /* begin of the first piece that nobody has taken */
  atomic_size_t limit; /* where somebody met an error or the end: nothing behind it counts */
};

struct member {
  struct crew *crew;
  struct os_thread *thread;
  struct crew_result stopped; /* where this one did, first of all; done == size: nowhere */
};

static void lower(atomic_size_t *limit, size_t at) {
  size_t before = atomic_load(limit);
  while (at < before && !atomic_compare_exchange_weak(limit, &before, at)) continue;
}

/* A short direct read that is not whole blocks is the end: the next one could not begin there. */
static bool read_piece(const struct crew *crew, size_t at, size_t size, struct crew_result *result) {
  size_t done = 0;
  int64_t count = 0;
  while (done < size) {
    count = crew_read(crew->source, crew->data + at + done, size - done, at + done);
    if (count <= 0) break;
    done += (size_t)count;
    if (done % crew->source->align != 0) break;
  }
  *result = (struct crew_result){at + done, count < 0 ? (int)count : 0};
  return done == size;
}

static void *work(void *context) {
  struct member *member = context;
  struct crew *crew = member->crew;
  for (;;) {
    const size_t at = atomic_fetch_add(&crew->next, CREW_PIECE);
    if (at >= crew->size || at >= atomic_load(&crew->limit)) return NULL;
    const size_t left = crew->size - at;
    struct crew_result result;
    if (read_piece(crew, at, left < CREW_PIECE ? left : CREW_PIECE, &result)) continue;
    if (result.done < member->stopped.done) member->stopped = result;
    lower(&crew->limit, result.done);
  }
}

unsigned crew_run(const struct crew_source *source, char *data, size_t size, unsigned helpers, struct crew_result *result) {
  struct crew crew = {.source = source, .data = data, .size = size};
  struct member members[CREW_MAX];
  unsigned started = 0;
  atomic_init(&crew.next, 0);
  atomic_init(&crew.limit, size);
  for (unsigned i = 0; i < CREW_MAX; i++) members[i] = (struct member){.crew = &crew, .stopped = {size, 0}};
  while (started < helpers && started + 1 < CREW_MAX && started + 1 < size / CREW_PIECE + 1) {
    if (os_thread_start(work, &members[started + 1], &members[started + 1].thread)) break; /* those that are there do it */
    started++;
  }
  (void)work(&members[0]);
  *result = members[0].stopped;
  for (unsigned i = 1; i <= started; i++) {
    (void)os_thread_join(members[i].thread);
    if (members[i].stopped.done < result->done) *result = members[i].stopped;
  }
  return started;
}
