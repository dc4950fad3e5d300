/*
 * crew.c - several threads that do one thing together. What fills memory takes pieces in rising order, so whatever one of
 * them meets, all before it is being read by somebody and will be there in the end.
 */
#include "lib/crew.h"

struct member {
  void (*work)(void *context, unsigned member);
  void *context;
  unsigned number;
  struct os_thread *thread;
};

static void *member_main(void *context) {
  const struct member *member = context;
  member->work(member->context, member->number);
  return NULL;
}

unsigned weir__crew_work(unsigned members, void (*work)(void *context, unsigned member), void *context) {
  struct member crew[WEIR__CREW_MAX];
  unsigned started = 1;
  if (members > WEIR__CREW_MAX) members = WEIR__CREW_MAX;
  for (; started < members; started++) {
    struct member *member = &crew[started];
    *member = (struct member){.work = work, .context = context, .number = started};
    if (os_thread_start(member_main, member, &member->thread)) break; /* those that are there do it */
  }
  work(context, 0);
  for (unsigned i = 1; i < started; i++) (void)os_thread_join(crew[i].thread);
  return started;
}

/* ---- filling memory ---- */

int64_t weir__crew_read(const struct weir__crew_source *source, void *data, size_t size, size_t at) {
  if (!source->positional) return os_read(source->file, data, size);
  if (!source->uncached) return weir__pread_once(source->file, data, size, source->offset + at);
  const struct os_piece piece = {data, size};
  return os_preadv(source->file, &piece, 1, source->offset + at, OS_TRANSFER_UNCACHED);
}

struct filling {
  const struct weir__crew_source *source;
  char *data;
  size_t size;
  atomic_size_t next;  /* begin of the first piece that nobody has taken */
  atomic_size_t limit; /* where somebody met an error or the end: nothing behind it counts */
  struct weir__crew_result stopped[WEIR__CREW_READERS]; /* where each did, first of all; done == size: nowhere */
};

static void lower(atomic_size_t *limit, size_t at) {
  size_t before = atomic_load(limit);
  while (at < before && !atomic_compare_exchange_weak(limit, &before, at)) continue;
}

/* A short direct read that is not whole blocks is the end: the next one could not begin there. */
static bool read_piece(const struct filling *filling, size_t at, size_t size, struct weir__crew_result *result) {
  size_t done = 0;
  int64_t count = 0;
  while (done < size) {
    count = weir__crew_read(filling->source, filling->data + at + done, size - done, at + done);
    if (count <= 0) break;
    done += (size_t)count;
    if (done % filling->source->align != 0) break;
  }
  *result = (struct weir__crew_result){at + done, count < 0 ? (int)count : 0};
  return done == size;
}

static void fill_pieces(void *context, unsigned member) {
  struct filling *filling = context;
  for (;;) {
    const size_t at = atomic_fetch_add(&filling->next, WEIR__CREW_PIECE);
    if (at >= filling->size || at >= atomic_load(&filling->limit)) return;
    const size_t left = filling->size - at;
    struct weir__crew_result result;
    if (read_piece(filling, at, left < WEIR__CREW_PIECE ? left : WEIR__CREW_PIECE, &result)) continue;
    if (result.done < filling->stopped[member].done) filling->stopped[member] = result;
    lower(&filling->limit, result.done);
  }
}

unsigned weir__crew_fill(const struct weir__crew_source *source, char *data, size_t size, unsigned helpers,
                         struct weir__crew_result *result) {
  struct filling filling = {.source = source, .data = data, .size = size};
  const size_t pieces = size / WEIR__CREW_PIECE + 1;
  unsigned members = helpers < WEIR__CREW_READERS ? helpers + 1 : WEIR__CREW_READERS;
  if (members > pieces) members = (unsigned)pieces;
  atomic_init(&filling.next, 0);
  atomic_init(&filling.limit, size);
  for (unsigned i = 0; i < members; i++) filling.stopped[i].done = size;
  members = weir__crew_work(members, fill_pieces, &filling);
  *result = filling.stopped[0];
  for (unsigned i = 1; i < members; i++) {
    if (filling.stopped[i].done < result->done) *result = filling.stopped[i];
  }
  return members - 1;
}
