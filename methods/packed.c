/*
 * packed.c - readers of packed records, after study C: through the C library's streams, out of a mapping with and without a
 * copy, out of a file read whole, and through a wrap-around buffer. The format is in packed.h.
 */
#include "packed.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cstream.h"
#include "held.h"
#include "methods.h"

int packed_malformed(const struct weir_job *job, const char *what, uint64_t length, uint64_t at) {
  return job->host->fail(job, -EBADMSG, "%s of %" PRIu64 " bytes at byte %" PRIu64 " where %" PRIu64 " are left", what,
                         length, at, job->file_size - at);
}

/* ---- memory for fields --------------------------------------------------------------------------------------------- */

enum { FRESH, REUSED };
#define PARAM_MEMORY(tried)                                                                                       \
  {                                                                                                               \
    .name = "memory", .kind = WEIR_PARAM_CHOICE, .preset = "fresh", .sweep = (tried), .choices = "fresh|reused",  \
    WEIR_PARAM_EVERYWHERE, .help = "for each field: by malloc and free, or one piece that grows with the largest" \
  }

struct fields {
  struct packed_place place; /* first: see packed.h */
  unsigned char length[PACKED_LENGTH_MAX];
  unsigned char *data;
  size_t capacity;
  bool reused;
};

static unsigned char *no_memory(struct fields *f, const struct weir_job *job, size_t length) {
  f->place.error = job->host->fail(job, -ENOMEM, "no memory for a field of %zu bytes", length);
  return NULL;
}

static unsigned char *grow(struct fields *f, const struct weir_job *job, size_t length) {
  size_t capacity = f->capacity ? f->capacity : 256;
  while (capacity < length) capacity = capacity <= SIZE_MAX / 2 ? capacity * 2 : length;
  unsigned char *data = malloc(capacity);
  if (!data) return no_memory(f, job, length);
  free(f->data);
  f->data = data;
  f->capacity = capacity;
  return data;
}

/* Room for the next field. */
static inline unsigned char *room_for(struct fields *f, const struct weir_job *job, size_t length) {
  if (f->reused) return f->data && length <= f->capacity ? f->data : grow(f, job, length);
  f->data = malloc(length ? length : 1);
  return f->data ? f->data : no_memory(f, job, length);
}

static inline void drop_field(void *state) {
  struct fields *f = state;
  if (f->reused) return;
  free(f->data);
  f->data = NULL;
}

/* ---- records/stdio ------------------------------------------------------------------------------------------------- */

enum { STDIO_MEMORY, STDIO_SETVBUF, STDIO_LOCK };

struct stdio_state {
  struct fields fields;
  struct cstream stream;
};

static int stdio_setup(void *state, const struct weir_job *job) {
  struct stdio_state *s = state;
  s->fields.reused = job->params[STDIO_MEMORY] == REUSED;
  return cstream_setup(&s->stream, job, job->params[STDIO_SETVBUF], job->params[STDIO_LOCK]);
}

static int stdio_open(void *state, const struct weir_job *job) {
  return cstream_open(&((struct stdio_state *)state)->stream, job, TARGET_GROW);
}

static inline const unsigned char *stdio_read(struct stdio_state *s, const struct weir_job *job, unsigned char *data,
                                              size_t length) {
  struct packed_place *place = &s->fields.place;
  place->error = cstream_read(&s->stream, job, place->at, data, length);
  place->at += length;
  return place->error ? NULL : data;
}
static inline const unsigned char *stdio_length(void *state, const struct weir_job *job, size_t length) {
  struct stdio_state *s = state;
  return stdio_read(s, job, s->fields.length, length);
}
static inline const unsigned char *stdio_field(void *state, const struct weir_job *job, size_t length) {
  unsigned char *data = room_for(state, job, length);
  return data ? stdio_read(state, job, data, length) : NULL;
}

static int stdio_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  static const struct packed_way way = {.length = stdio_length, .field = stdio_field, .drop = drop_field};
  return packed_read(state, job, flow, budget, way);
}

static int stdio_close(void *state, const struct weir_job *job) {
  struct stdio_state *s = state;
  drop_field(s); /* what an error left */
  return cstream_close(&s->stream, job);
}

static void stdio_teardown(void *state, const struct weir_job *job) {
  struct stdio_state *s = state;
  free(s->fields.data);
  cstream_teardown(&s->stream, job);
}

static const struct weir_param stdio_params[] = {[STDIO_MEMORY] = PARAM_MEMORY("fresh|reused"),
                                                 [STDIO_SETVBUF] = CSTREAM_PARAM_SETVBUF,
                                                 [STDIO_LOCK] = CSTREAM_PARAM_LOCK(NULL)};

#define RECORDS_READER \
  METHODS_ABI, METHODS_READS, .tasks = WEIR_BIT(WEIR_TASK_RECORDS), .accesses = WEIR_BIT(WEIR_SEQUENTIAL)
#define PARAMS(list) .params = (list), .param_count = METHODS_COUNT(list)

const struct weir_method methods_records_stdio = {
    RECORDS_READER,
    .name = "records/stdio",
    .summary = "field by field through the C library's stream",
    .calls = "fdopen(3), setvbuf(3), fread(3) or fread_unlocked(3) for each length and field, malloc(3)",
    PARAMS(stdio_params),
    .state_size = sizeof(struct stdio_state),
    .setup = stdio_setup,
    .open = stdio_open,
    .run = stdio_run,
    .close = stdio_close,
    .teardown = stdio_teardown};

/* ---- records/mapped-view, records/mapped-copy, records/slurp: out of memory ----------------------------------------- */

enum { COPY_MEMORY = HELD_MAP_OWN };
enum { SLURP_BUFFER, SLURP_COPY };

struct held_state {
  struct fields fields;
  struct held held;
  bool copies;
};

static inline const unsigned char *view_take(void *state, const struct weir_job *job, size_t length) {
  struct held_state *s = state;
  const unsigned char *data = s->held.data + (size_t)s->fields.place.at;
  (void)job;
  s->fields.place.at += length;
  return data;
}
static inline const unsigned char *copy_field(void *state, const struct weir_job *job, size_t length) {
  unsigned char *data = room_for(state, job, length);
  return data ? memcpy(data, view_take(state, job, length), length) : NULL;
}

static int view_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  static const struct packed_way way = {.length = view_take, .field = view_take};
  return packed_read(state, job, flow, budget, way);
}
static int copy_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  static const struct packed_way way = {.length = view_take, .field = copy_field, .drop = drop_field};
  return packed_read(state, job, flow, budget, way);
}

static int view_setup(void *state, const struct weir_job *job) {
  (void)state, (void)job;
  return 0;
}
static int copy_setup(void *state, const struct weir_job *job) {
  ((struct held_state *)state)->fields.reused = job->params[COPY_MEMORY] == REUSED;
  return 0;
}
static int map_open(void *state, const struct weir_job *job) { return held_map(&((struct held_state *)state)->held, job); }
static int map_close(void *state, const struct weir_job *job) {
  drop_field(state);
  return held_unmap(&((struct held_state *)state)->held, job);
}
static void held_state_teardown(void *state, const struct weir_job *job) {
  struct held_state *s = state;
  free(s->fields.data);
  held_teardown(&s->held, job);
}

static int slurp_setup(void *state, const struct weir_job *job) {
  struct held_state *s = state;
  s->copies = job->params[SLURP_COPY] != 0;
  return held_setup(&s->held, job, (enum weir_buffer_policy)job->params[SLURP_BUFFER]);
}
static int slurp_open(void *state, const struct weir_job *job) {
  return held_open(&((struct held_state *)state)->held, job);
}
static int slurp_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct held_state *s = state;
  int error = budget ? held_read(&s->held, job) : 0;
  if (error) return error;
  return s->copies ? copy_run(s, job, flow, budget) : view_run(s, job, flow, budget);
}
static int slurp_close(void *state, const struct weir_job *job) {
  drop_field(state);
  return held_close(&((struct held_state *)state)->held, job);
}

static const struct weir_param view_params[] = {HELD_MAP_PARAMS("none|populate")};
static const struct weir_param copy_params[] = {HELD_MAP_PARAMS(NULL), [COPY_MEMORY] = PARAM_MEMORY(NULL)};
static const struct weir_param slurp_params[] = {
    [SLURP_BUFFER] = HELD_PARAM_BUFFER("fresh|reused"),
    [SLURP_COPY] = {.name = "copy",
                    .kind = WEIR_PARAM_CHOICE,
                    .preset = "no",
                    .sweep = "no|yes",
                    .choices = "no|yes",
                    WEIR_PARAM_EVERYWHERE,
                    .help = "does each field get memory of its own (malloc), or is it handed over where it lies"}};

#define HELD_READER RECORDS_READER, .state_size = sizeof(struct held_state), .teardown = held_state_teardown

const struct weir_method methods_records_mapped_view = {HELD_READER,
                                                        .name = "records/mapped-view",
                                                        .summary = "fields where they lie in the mapped file",
                                                        .calls = "mmap(2), munmap(2)",
                                                        .capabilities = WEIR_CAP_VIEW,
                                                        PARAMS(view_params),
                                                        .probe = held_probe_map,
                                                        .setup = view_setup,
                                                        .open = map_open,
                                                        .run = view_run,
                                                        .close = map_close};

const struct weir_method methods_records_mapped_copy = {
    HELD_READER,
    .name = "records/mapped-copy",
    .summary = "fields copied out of the mapped file",
    .calls = "mmap(2), malloc(3) and memcpy(3) for each field, munmap(2)",
    PARAMS(copy_params),
    .probe = held_probe_map,
    .setup = copy_setup,
    .open = map_open,
    .run = copy_run,
    .close = map_close};

const struct weir_method methods_records_slurp = {
    HELD_READER,
    .name = "records/slurp",
    .summary = "the file is read whole, then taken apart in memory",
    .calls = "read(2) of the whole file; with copy=yes malloc(3) and memcpy(3) for each field",
    PARAMS(slurp_params),
    .setup = slurp_setup,
    .open = slurp_open,
    .run = slurp_run,
    .close = slurp_close};

/* ---- records/ring -------------------------------------------------------------------------------------------------- */

enum { RING_BLOCK };

/*
 * The byte at `offset` of the file lies at `offset` modulo the capacity, which is a power of two. What goes over the end of
 * the buffer, or is larger, is put together in `fields`; all else is handed over where it lies.
 */
struct ring_state {
  struct fields fields;
  os_file file;
  unsigned char *data;
  size_t block, capacity;
  uint64_t read; /* bytes of the file that were read so far */
};

static int ring_setup(void *state, const struct weir_job *job) {
  struct ring_state *s = state;
  void *data = NULL;
  s->fields.reused = true;
  s->block = (size_t)job->params[RING_BLOCK];
  for (s->capacity = 2; s->capacity / 2 < s->block;) s->capacity *= 2;
  int error = job->host->buffer_get(job, s->capacity, 1, WEIR_BUFFER_REUSED, &data);
  if (error) return job->host->fail(job, error, "no memory for a buffer of %zu bytes", s->capacity);
  s->data = data;
  return 0;
}

static int ring_open(void *state, const struct weir_job *job) {
  struct ring_state *s = state;
  s->read = 0;
  return target_open(job, 0, &s->file);
}

/* One call; at least one byte. */
static int ring_read(struct ring_state *s, const struct weir_job *job, unsigned char *data, size_t length) {
  const int64_t count = os_read(s->file, data, length);
  if (count < 0) return target_failed(job, "reading", s->read, length, (int)count);
  if (count == 0) return target_ended(job, s->read);
  s->read += (uint64_t)count;
  return 0;
}

static size_t least(uint64_t a, uint64_t b) { return (size_t)(a < b ? a : b); }
static size_t ring_has(const struct ring_state *s) { return (size_t)(s->read - s->fields.place.at); }
static size_t ring_index(const struct ring_state *s, uint64_t offset) { return (size_t)(offset & (s->capacity - 1)); }

/* Reads block by block until `length` bytes are there, which the buffer has room for. */
static int ring_fill(struct ring_state *s, const struct weir_job *job, size_t length) {
  int error = 0;
  while (ring_has(s) < length && !error) {
    const size_t index = ring_index(s, s->read), room = least(s->capacity - ring_has(s), s->capacity - index);
    error = ring_read(s, job, s->data + index, least(least(room, s->block), job->file_size - s->read));
  }
  return error;
}

/* Moves what is there of the next `length` bytes to `out`. */
static void ring_move(const struct ring_state *s, unsigned char *out, size_t length) {
  const size_t index = ring_index(s, s->fields.place.at), have = least(ring_has(s), length);
  const size_t before = least(have, s->capacity - index);
  memcpy(out, s->data + index, before);
  memcpy(out + before, s->data, have - before);
}

/* In memory of its own; what the buffer has no room for is read to its place. */
static const unsigned char *ring_join(struct ring_state *s, const struct weir_job *job, size_t length) {
  struct packed_place *place = &s->fields.place;
  unsigned char *out = room_for(&s->fields, job, length);
  if (!out) return NULL;
  ring_move(s, out, length);
  while (ring_has(s) < length) {
    const size_t have = ring_has(s);
    place->error = ring_read(s, job, out + have, length - have);
    if (place->error) return NULL;
  }
  place->at += length;
  return out;
}

static const unsigned char *ring_take(void *state, const struct weir_job *job, size_t length) {
  struct ring_state *s = state;
  struct packed_place *place = &s->fields.place;
  if (length > s->capacity) return ring_join(s, job, length);
  if (ring_has(s) < length) place->error = ring_fill(s, job, length);
  if (place->error) return NULL;
  const size_t index = ring_index(s, place->at);
  if (s->capacity - index < length) return ring_join(s, job, length);
  place->at += length;
  return s->data + index;
}

static int ring_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  static const struct packed_way way = {.length = ring_take, .field = ring_take};
  return packed_read(state, job, flow, budget, way);
}

static int ring_close(void *state, const struct weir_job *job) {
  return target_close(job, ((struct ring_state *)state)->file);
}

static void ring_teardown(void *state, const struct weir_job *job) {
  struct ring_state *s = state;
  free(s->fields.data);
  if (s->data) job->host->buffer_put(job, s->data, s->capacity);
}

static const struct weir_param ring_params[] = {[RING_BLOCK] = {.name = "block",
                                                                .kind = WEIR_PARAM_SIZE,
                                                                .preset = "64KiB",
                                                                .min = 1,
                                                                .max = 1 << 30,
                                                                WEIR_PARAM_EVERYWHERE,
                                                                .help = "bytes a read; the buffer holds two or more"}};

const struct weir_method methods_records_ring = {
    RECORDS_READER,
    .name = "records/ring",
    .summary = "blocks read into a wrap-around buffer, fields where they lie in it",
    .calls = "read(2) in a loop; memcpy(3) of what goes over the buffer's end",
    PARAMS(ring_params),
    .state_size = sizeof(struct ring_state),
    .setup = ring_setup,
    .open = ring_open,
    .run = ring_run,
    .close = ring_close,
    .teardown = ring_teardown};
