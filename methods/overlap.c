/*
 * overlap.c - the order of things when a file is read ahead: which block is begun when, and which memory it may use.
 *
 * Blocks are handed out in the order of the file, so the first failure that is told is the one that lies first in it. A
 * slot's memory belongs to the engine from `begin` until `await` has returned; overlap_finish leaves none out.
 */
#include "overlap.h"

#include <errno.h>
#include <stdint.h>

#define RETRIES_MAX 1000u /* of one request that the system puts off */

static unsigned slot_count(const struct overlap *o) { return o->options.depth + (o->options.ahead ? 1 : 0); }
static unsigned slot_of(const struct overlap *o, uint64_t block) { return (unsigned)(block % slot_count(o)); }

/* ---- memory -------------------------------------------------------------------------------------------------------- */

/* Each slot on pages of its own. */
static int measure_out(struct overlap *o) {
  const size_t page = os_page_size(), block = o->options.block;
  if (block > SIZE_MAX / 2 / OVERLAP_SLOTS_MAX - page) return -EOVERFLOW;
  o->stride = (block + page - 1) / page * page;
  o->memory_size = o->stride * slot_count(o);
  return 0;
}

static int get_memory(struct overlap *o, const struct weir_job *job) {
  if (o->memory_size == 0) return 0;
  int error = job->host->buffer_get(job, o->memory_size, os_page_size(), o->options.policy, &o->memory);
  if (error) return job->host->fail(job, error, "no memory for buffers of %zu bytes", o->memory_size);
  for (unsigned i = 0; i < slot_count(o); i++) o->slots[i].data = (unsigned char *)o->memory + i * o->stride;
  return 0;
}

static void put_memory(struct overlap *o, const struct weir_job *job) {
  if (o->memory && !o->lost) job->host->buffer_put(job, o->memory, o->memory_size);
  o->memory = NULL;
}

/* ---- set-up, open, close ------------------------------------------------------------------------------------------- */

int overlap_probe(const struct overlap_options *options, struct weir_reason *reason) {
  const struct overlap_engine *engine = options->engine;
  int error = engine->can ? engine->can(reason) : 0;
  if (error) return error;
  struct overlap trial = {.options = *options};
  error = engine->open(&trial);
  engine->close(&trial);
  return error ? target_unavailable(reason, error, engine->doing, engine->remedy) : 0;
}

int overlap_setup(struct overlap *o, const struct weir_job *job, const struct overlap_options *options) {
  o->options = *options;
  int error = measure_out(o);
  if (error) return job->host->fail(job, error, "the buffers do not fit into the address space");
  error = options->engine->open(o);
  if (error) {
    /* What the probe could get, others may have taken since. */
    if (error == -ENOMEM || error == -EAGAIN) target_remedy(job, options->engine->remedy);
    return target_refused(job, options->engine->doing, error);
  }
  return options->policy == WEIR_BUFFER_REUSED ? get_memory(o, job) : 0;
}

void overlap_teardown(struct overlap *o, const struct weir_job *job) {
  if (o->lost) return; /* the system may still write there; the process ends with this sample anyway */
  if (o->options.engine) o->options.engine->close(o);
  put_memory(o, job);
}

int overlap_open(struct overlap *o, const struct weir_job *job) {
  int error = target_open(job, 0, &o->file);
  if (error) return error;
  error = target_advise(job, o->file, o->options.hint);
  if (!error && o->options.policy != WEIR_BUFFER_REUSED) error = get_memory(o, job);
  if (!error) {
    if (o->options.engine->rouse) o->options.engine->rouse(o);
    return 0;
  }
  (void)os_close(o->file);
  return error;
}

int overlap_close(struct overlap *o, const struct weir_job *job) {
  if (o->options.engine->settle) o->options.engine->settle(o);
  if (o->options.policy != WEIR_BUFFER_REUSED) put_memory(o, job);
  return target_close(job, o->file);
}

/* ---- the run ------------------------------------------------------------------------------------------------------- */

void overlap_start(struct overlap *o, const struct weir_job *job) {
  o->head = o->next = 0;
  o->count = job->file_size / o->options.block + (job->file_size % o->options.block > 0);
}

static int begin_next(struct overlap *o, const struct weir_job *job) {
  const unsigned number = slot_of(o, o->next);
  struct overlap_slot *slot = &o->slots[number];
  const uint64_t offset = o->next * o->options.block, left = job->file_size - offset;
  *slot = (struct overlap_slot){
      .data = slot->data, .offset = offset, .length = left < o->options.block ? (size_t)left : o->options.block};
  const int error = o->options.engine->begin(o, number);
  if (error) return target_failed(job, "asking for", slot->offset, slot->length, error);
  o->next++;
  return 0;
}

/* Blocks from `head` on, as many as may be under way. */
static int begin_all(struct overlap *o, const struct weir_job *job) {
  int error = 0;
  while (!error && o->next < o->count && o->next - o->head < o->options.depth) error = begin_next(o, job);
  return error;
}

/* What a transfer says: 0 the block is there, 1 it has to go on, else the error. */
static int judge(struct overlap_slot *slot) {
  if ((slot->result == -EAGAIN || slot->result == -EINTR) && slot->retries++ < RETRIES_MAX) return 1;
  if (slot->result < 0) return (int)slot->result;
  if (slot->result == 0) return -ENODATA;
  slot->done += (size_t)slot->result;
  return slot->done < slot->length;
}

/* Until the whole block is there. */
static int complete(struct overlap *o, unsigned number) {
  for (;;) {
    int error = o->options.engine->await(o, number);
    if (!error) error = judge(&o->slots[number]);
    if (error != 1) return error;
    error = o->options.engine->begin(o, number);
    if (error) return error;
  }
}

int overlap_next(struct overlap *o, const struct weir_job *job, struct overlap_piece *piece) {
  if (o->head == o->count) return 0;
  int error = begin_all(o, job);
  if (error) return error;
  const unsigned number = slot_of(o, o->head);
  const struct overlap_slot *slot = &o->slots[number];
  error = complete(o, number);
  if (error == -ENODATA) return target_ended(job, slot->offset + slot->done);
  if (error) return target_failed(job, "reading", slot->offset + slot->done, slot->length - slot->done, error);
  *piece = (struct overlap_piece){slot->data, slot->length, slot->offset};
  o->head++;
  error = o->options.ahead ? begin_all(o, job) : 0;
  return error ? error : 1;
}

void overlap_finish(struct overlap *o) {
  for (unsigned i = 0; i < slot_count(o) && !o->lost; i++)
    if (o->slots[i].out) (void)o->options.engine->await(o, i);
}
