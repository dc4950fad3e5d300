/*
 * text_chars.c - text taken in blocks of UTF-16 units, as the stream readers of other languages give it: block after block
 * into the same memory, or each added to a text that grows.
 */
#include <stdlib.h>

#include "text.h"

/* ---- the reader ---------------------------------------------------------------------------------------------------- */

int text_chars_setup(struct text_chars *c, const struct weir_job *job, uint64_t room) {
  c->room = (size_t)room;
  c->bytes = malloc(c->room);
  c->units = malloc(decode_room(c->room) * sizeof *c->units);
  return c->bytes && c->units ? 0 : text_no_memory(job);
}

void text_chars_open(struct text_chars *c, struct feed *feed) {
  c->feed = feed;
  decode_begin(&c->decode);
  c->begin = c->end = 0;
  c->ended = false;
}

void text_chars_teardown(struct text_chars *c) {
  free(c->bytes);
  free(c->units);
}

int text_chars_load(struct text_chars *c) {
  c->begin = c->end = 0;
  while (c->end == 0 && !c->ended) {
    const int64_t got = c->feed->read(c->feed, c->bytes, c->room);
    if (got < 0) return (int)got;
    c->ended = got == 0;
    c->end = c->ended ? decode_end(&c->decode, c->units) : decode_units(&c->decode, c->bytes, (size_t)got, c->units);
  }
  return c->end > 0 ? 1 : feed_end(c->feed);
}

int64_t text_chars_read(struct text_chars *c, uint16_t *out, size_t count) {
  size_t done = 0;
  while (done < count) {
    const int more = text_chars_peek(c);
    if (more < 0) return more;
    if (more == 0) break;
    const size_t here = c->end - c->begin, wanted = count - done, taken = wanted < here ? wanted : here;
    memcpy(out + done, c->units + c->begin, taken * sizeof *out);
    c->begin += taken;
    done += taken;
  }
  return (int64_t)done;
}

/* ---- text/chunks --------------------------------------------------------------------------------------------------- */

enum { CHUNKS_BUFFER, CHUNKS_UNITS };

struct chunks {
  struct feed_file file;
  struct text_chars chars;
  uint16_t *chunk;
  size_t units;
};

#define PARAM_UNITS(usual)                                                                                         \
  {                                                                                                                \
    .name = "units", .kind = WEIR_PARAM_COUNT, .preset = (usual), .min = 1, .max = 1 << 28, WEIR_PARAM_EVERYWHERE, \
    .help = "UTF-16 units asked for at a time"                                                                     \
  }

static int chunks_setup(void *state, const struct weir_job *job) {
  struct chunks *s = state;
  s->units = (size_t)job->params[CHUNKS_UNITS];
  s->chunk = malloc(s->units * sizeof *s->chunk);
  return s->chunk ? text_chars_setup(&s->chars, job, job->params[CHUNKS_BUFFER]) : text_no_memory(job);
}

static int chunks_open(void *state, const struct weir_job *job) {
  struct chunks *s = state;
  text_chars_open(&s->chars, &s->file.feed);
  return feed_file_open(&s->file, job, OS_ADVICE_NORMAL);
}

static int chunks_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct chunks *s = state;
  const uint64_t began = weir_operation_begin(flow);
  if (budget == 0) return 0;
  for (;;) {
    if (weir_stopped(flow)) return 0;
    const int more = text_chars_peek(&s->chars);
    if (more < 0) return more;
    if (more == 0) break;
    const int64_t count = text_chars_read(&s->chars, s->chunk, s->units);
    if (count < 0) return (int)count;
    weir_units(flow, s->chunk, (size_t)count);
  }
  weir_operation_end(flow, began);
  return 0;
}

static int chunks_close(void *state, const struct weir_job *job) {
  return feed_file_close(&((struct chunks *)state)->file, job);
}

static void chunks_teardown(void *state, const struct weir_job *job) {
  struct chunks *s = state;
  (void)job;
  free(s->chunk);
  text_chars_teardown(&s->chars);
}

static const struct weir_param chunks_params[] = {
    [CHUNKS_BUFFER] = TEXT_PARAM_SIZE("buffer", "64KiB", NULL, "bytes of a read, decoded at a time"),
    [CHUNKS_UNITS] = PARAM_UNITS("64000")};

const struct weir_method methods_text_chunks = {
    METHODS_ABI,
    FEED_READS,
    .name = "text/chunks",
    .summary = "text taken block by block into the same memory, asking before each",
    .calls = "read(2)",
    .tasks = WEIR_BIT(WEIR_TASK_TEXT),
    .capabilities = WEIR_CAP_VARIANT,
    .params = chunks_params,
    .param_count = METHODS_COUNT(chunks_params),
    .state_size = sizeof(struct chunks),
    .setup = chunks_setup,
    .open = chunks_open,
    .run = chunks_run,
    .close = chunks_close,
    .teardown = chunks_teardown};

/* ---- text/append --------------------------------------------------------------------------------------------------- */

enum { APPEND_COPY, APPEND_BLOCK, APPEND_BUFFER, APPEND_UNITS };
enum { BLOCK_REUSED, BLOCK_POOLED, BLOCK_NEW };

/* Blocks that are not in use, each with its size before it: what is got is the first that is large enough. */
struct pool_block {
  struct pool_block *next;
  size_t units;
  uint16_t unit[];
};

struct append {
  struct feed_file file;
  struct text_chars chars;
  struct text text;
  struct pool_block *pool;
  uint16_t *block; /* of `units`; NULL while there is none */
  size_t units;
  uint64_t kind;
  bool copies;
};

static struct pool_block *pool_add(struct pool_block **pool, size_t units) {
  struct pool_block *block = malloc(sizeof *block + units * sizeof *block->unit);
  if (!block) return NULL;
  *block = (struct pool_block){.next = *pool, .units = units};
  *pool = block;
  return block;
}

static struct pool_block *pool_get(struct pool_block **pool, size_t units) {
  for (struct pool_block **at = pool; *at; at = &(*at)->next) {
    struct pool_block *block = *at;
    if (block->units < units) continue;
    *at = block->next;
    return block;
  }
  return NULL;
}

static void pool_put(struct pool_block **pool, struct pool_block *block) {
  block->next = *pool;
  *pool = block;
}

static struct pool_block *pool_block_of(uint16_t *unit) {
  return (struct pool_block *)(void *)((char *)unit - offsetof(struct pool_block, unit));
}

static int append_setup(void *state, const struct weir_job *job) {
  struct append *s = state;
  s->units = (size_t)job->params[APPEND_UNITS];
  s->kind = job->params[APPEND_BLOCK];
  s->copies = job->params[APPEND_COPY] != 0;
  int error = text_check_size(job);
  if (!error) error = text_chars_setup(&s->chars, job, job->params[APPEND_BUFFER]);
  if (error) return error;
  if (s->kind == BLOCK_POOLED && !(pool_add(&s->pool, s->units) && pool_add(&s->pool, 16))) return text_no_memory(job);
  if (s->kind == BLOCK_REUSED && !(s->block = malloc(s->units * sizeof *s->block))) return text_no_memory(job);
  return 0;
}

static int append_open(void *state, const struct weir_job *job) {
  struct append *s = state;
  text_chars_open(&s->chars, &s->file.feed);
  return feed_file_open(&s->file, job, OS_ADVICE_NORMAL);
}

/* The block of this pass. */
static int take_block(struct append *s, const struct weir_job *job) {
  if (s->kind == BLOCK_NEW) s->block = malloc(s->units * sizeof *s->block);
  if (s->kind == BLOCK_POOLED) {
    struct pool_block *block = pool_get(&s->pool, s->units);
    s->block = block ? block->unit : NULL;
  }
  return s->block ? 0 : text_no_memory(job);
}

static void leave_block(struct append *s) {
  if (!s->block || s->kind == BLOCK_REUSED) return;
  if (s->kind == BLOCK_POOLED)
    pool_put(&s->pool, pool_block_of(s->block));
  else
    free(s->block);
  s->block = NULL;
}

/* Adds a block as it is, or a copy that is made for it. */
static int add_block(struct append *s, const struct weir_job *job, size_t count) {
  if (!s->copies) return text_append(&s->text, job, s->block, count);
  uint16_t *copy = malloc(count * sizeof *copy);
  if (!copy) return text_no_memory(job);
  memcpy(copy, s->block, count * sizeof *copy);
  int error = text_append(&s->text, job, copy, count);
  free(copy);
  return error;
}

static int append_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct append *s = state;
  const uint64_t began = weir_operation_begin(flow);
  if (budget == 0) return 0;
  text_begin(&s->text, sizeof(uint16_t));
  int error = take_block(s, job);
  int64_t count = 1;
  while (count > 0 && !error) {
    if (weir_stopped(flow)) return 0;
    count = text_chars_read(&s->chars, s->block, s->units);
    if (count > 0) error = add_block(s, job, (size_t)count);
  }
  if (count < 0) return (int)count;
  if (error) return error;
  leave_block(s);
  text_deliver_units(&s->text, flow);
  weir_operation_end(flow, began);
  return 0;
}

static int append_close(void *state, const struct weir_job *job) {
  struct append *s = state;
  leave_block(s);
  text_free(&s->text);
  return feed_file_close(&s->file, job);
}

static void append_teardown(void *state, const struct weir_job *job) {
  struct append *s = state;
  (void)job;
  while (s->pool) free(pool_get(&s->pool, 0));
  free(s->block);
  text_chars_teardown(&s->chars);
}

static const struct weir_param append_params[] = {
    [APPEND_COPY] = {.name = "copy",
                     .kind = WEIR_PARAM_CHOICE,
                     .preset = "no",
                     .sweep = "no|yes",
                     .choices = "no|yes",
                     WEIR_PARAM_EVERYWHERE,
                     .help = "is each block copied into new memory before it is added"},
    [APPEND_BLOCK] = {.name = "buffer",
                      .kind = WEIR_PARAM_CHOICE,
                      .preset = "reused",
                      .choices = "reused|pooled|new",
                      WEIR_PARAM_EVERYWHERE,
                      .help = "memory of the block: there before, taken out of a pool, or new each time"},
    [APPEND_BUFFER] = TEXT_PARAM_SIZE("room", "4KiB", NULL, "bytes of a read, decoded at a time"),
    [APPEND_UNITS] = PARAM_UNITS("4096")};

const struct weir_method methods_text_append = {METHODS_ABI,
                                                FEED_READS,
                                                .name = "text/append",
                                                .summary = "text taken block by block and added to one that grows",
                                                .calls = "read(2), realloc(3); malloc(3) for copies",
                                                .tasks = WEIR_BIT(WEIR_TASK_TEXT),
                                                .params = append_params,
                                                .param_count = METHODS_COUNT(append_params),
                                                .state_size = sizeof(struct append),
                                                .setup = append_setup,
                                                .open = append_open,
                                                .run = append_run,
                                                .close = append_close,
                                                .teardown = append_teardown};
