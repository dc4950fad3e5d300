/*
 * weir_file.c - libweir among the contenders: positional calls on a file, and queues of requests. Uses the library through
 * weir.h, which takes care of what is not aligned in positional calls; a queue is given whole granules only.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aligned.h"
#include "landing.h"
#include "weir_job.h"

/* ---- weir/pread, weir/pwrite --------------------------------------------------------------------------------------- */

enum { PREAD_BLOCK, PREAD_BUFFER, PREAD_STRATEGY, PREAD_HINT };
enum { PWRITE_BLOCK, PWRITE_BUFFER, PWRITE_STRATEGY, PWRITE_FLUSH, PWRITE_EXTEND };

struct positional {
  struct landing landing;
  struct weir_job_wish wish;
  struct weir_file *file;
  bool flush_each;
};

static int positional_setup(struct positional *s, const struct weir_job *job, uint64_t way, uint64_t policy) {
  s->wish.strategy = weir_job_strategy(way);
  return landing_setup(&s->landing, job, &(struct landing_wish){.policy = (enum weir_buffer_policy)policy});
}

static int pread_setup(void *state, const struct weir_job *job) {
  struct positional *s = state;
  s->wish.hint = (enum weir_hint)job->params[PREAD_HINT];
  return positional_setup(s, job, job->params[PREAD_STRATEGY], job->params[PREAD_BUFFER]);
}

static int pwrite_setup(void *state, const struct weir_job *job) {
  struct positional *s = state;
  const bool each = job->durability == WEIR_DURABILITY_EACH;
  s->wish.extend = (enum target_extend)job->params[PWRITE_EXTEND];
  s->wish.write_through = each && job->params[PWRITE_FLUSH] == METHODS_FLUSH_DSYNC;
  s->flush_each = each && !s->wish.write_through;
  return positional_setup(s, job, job->params[PWRITE_STRATEGY], job->params[PWRITE_BUFFER]);
}

static int pread_probe(const struct weir_job *job, struct weir_reason *reason) {
  return weir_job_probe(job, job->params[PREAD_STRATEGY], reason);
}

static int pwrite_probe(const struct weir_job *job, struct weir_reason *reason) {
  int error = target_probe_extend(job, (enum target_extend)job->params[PWRITE_EXTEND], reason);
  return error ? error : weir_job_probe(job, job->params[PWRITE_STRATEGY], reason);
}

static int positional_open(void *state, const struct weir_job *job) {
  struct positional *s = state;
  int error = weir_job_open(job, &s->wish, &s->file);
  if (error) return error;
  error = landing_open(&s->landing, job);
  if (error) (void)weir_file_close(s->file, NULL);
  return error;
}

static int positional_close(void *state, const struct weir_job *job) {
  struct positional *s = state;
  landing_close(&s->landing, job);
  return weir_job_close(job, s->file);
}

static void positional_teardown(void *state, const struct weir_job *job) {
  landing_teardown(&((struct positional *)state)->landing, job);
}

static int positional_sync(void *state, const struct weir_job *job) {
  return weir_job_sync(job, ((struct positional *)state)->file);
}

static int read_piece(const struct positional *s, const struct weir_job *job, struct landing_piece piece) {
  const int64_t count = weir_file_pread(s->file, piece.data, piece.length, piece.offset);
  if (count == (int64_t)piece.length) return 0;
  if (count < 0) return weir_job_failed_at(job, "reading", piece.offset, piece.length, (int)count);
  return target_ended(job, piece.offset + (uint64_t)count);
}

static int pread_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  const struct positional *s = state;
  const uint64_t count = landing_count(job, budget);
  uint64_t done = 0;
  for (; done < count && !weir_stopped(flow); done++) {
    const uint64_t began = weir_operation_begin(flow);
    const struct landing_piece piece = landing_piece(&s->landing, job, done, 0);
    int error = read_piece(s, job, piece);
    if (error) return error;
    landing_deliver(&s->landing, flow, piece);
    weir_operation_end(flow, began);
  }
  landing_deliver_rest(&s->landing, job, flow, done);
  return 0;
}

static int write_piece(const struct weir_job *job, struct weir_file *file, struct landing_piece piece) {
  const int64_t count = weir_file_pwrite(file, piece.data, piece.length, piece.offset);
  return count < 0 ? weir_job_failed_at(job, "writing", piece.offset, piece.length, (int)count) : 0;
}

static int flush_piece(const struct positional *s, const struct weir_job *job, struct landing_piece piece) {
  const int code = weir_file_sync(s->file);
  return code < 0 ? weir_job_failed_at(job, "flushing", piece.offset, piece.length, code) : 0;
}

static int pwrite_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  const struct positional *s = state;
  const uint64_t count = landing_count(job, budget);
  uint64_t done = 0;
  landing_supply_all(&s->landing, job, flow, count);
  for (; done < count && !weir_stopped(flow); done++) {
    const struct landing_piece piece = landing_piece(&s->landing, job, done, 0);
    landing_supply(&s->landing, flow, piece);
    const uint64_t began = weir_operation_begin(flow);
    int error = write_piece(job, s->file, piece);
    if (!error && s->flush_each) error = flush_piece(s, job, piece);
    if (error) return error;
    weir_operation_end(flow, began);
  }
  landing_settle(&s->landing, job, flow, count, done);
  return 0;
}

static const struct weir_param pread_params[] = {
    [PREAD_BLOCK] = LANDING_PARAM_BLOCK(NULL),
    [PREAD_BUFFER] = LANDING_PARAM_BUFFER(NULL),
    [PREAD_STRATEGY] = WEIR_JOB_PARAM_STRATEGY,
    [PREAD_HINT] = {.name = "hint",
                    .kind = WEIR_PARAM_CHOICE,
                    .preset = "none",
                    .choices = "none|sequential|random|once",
                    WEIR_PARAM_EVERYWHERE,
                    .help = "what the library is told of the use (enum weir_hint)"},
};
static const struct weir_param pwrite_params[] = {
    [PWRITE_BLOCK] = LANDING_PARAM_BLOCK(NULL),  [PWRITE_BUFFER] = LANDING_PARAM_BUFFER(NULL),
    [PWRITE_STRATEGY] = WEIR_JOB_PARAM_STRATEGY, [PWRITE_FLUSH] = METHODS_PARAM_FLUSH,
    [PWRITE_EXTEND] = WEIR_JOB_PARAM_EXTEND,
};

#define POSITIONAL                                                                                                      \
  METHODS_ABI, .tasks = METHODS_BOTH_TASKS, .accesses = METHODS_BOTH_ACCESSES, .state_size = sizeof(struct positional), \
               .open = positional_open, .close = positional_close, .teardown = positional_teardown

const struct weir_method methods_weir_pread = {POSITIONAL,
                                               METHODS_READS,
                                               .name = "weir/pread",
                                               .summary = "libweir: positional reads, one at a time",
                                               .calls = "weir_file_open(3), weir_file_pread(3) in a loop",
                                               .params = pread_params,
                                               .param_count = METHODS_COUNT(pread_params),
                                               .probe = pread_probe,
                                               .setup = pread_setup,
                                               .run = pread_run};

const struct weir_method methods_weir_pwrite = {
    POSITIONAL,
    METHODS_WRITES,
    .name = "weir/pwrite",
    .summary = "libweir: positional writes, one at a time",
    .calls = "weir_file_open(3), weir_file_pwrite(3) in a loop; weir_file_sync(3) or write_through",
    .params = pwrite_params,
    .param_count = METHODS_COUNT(pwrite_params),
    .probe = pwrite_probe,
    .setup = pwrite_setup,
    .run = pwrite_run,
    .sync = positional_sync};

/* ---- weir/queue ---------------------------------------------------------------------------------------------------- */

enum { QUEUE_BLOCK, QUEUE_DEPTH, QUEUE_BATCH, QUEUE_LIFE, QUEUE_EXTEND };
enum { KEPT, OPENED };
#define DEPTH_MAX 1024u

struct slot {
  struct weir_request request; /* request.user is the slot */
  struct landing_piece piece;
  uint64_t began;
};

struct queue_state {
  struct landing landing;
  struct weir_job_wish wish;
  struct weir_file *file;
  struct weir_queue *queue;
  struct slot *slots;
  struct slot **idle;            /* a stack */
  struct weir_request **waiting; /* to be submitted, and what came back */
  unsigned depth, batch;
  size_t granule;
  bool kept; /* one queue for all passes */
  unsigned char *rest_data;
};

struct queue_pass {
  struct queue_state *q;
  const struct weir_job *job;
  struct weir_flow *flow;
  uint64_t next, count;
  unsigned idle_count, in_flight;
  int error;
  uint64_t error_offset; /* of several failures the one that lies first in the file is told */
  struct landing_piece rest;
  uint64_t rest_began;
};

static bool is_direct(const struct weir_job *job) { return job->data != NULL; }

static int open_queue(struct queue_state *q, const struct weir_job *job) {
  const struct weir_queue_options options = {
      .depth = q->depth, .buffers = q->landing.data, .buffers_bytes = q->landing.size, .file = q->kept ? NULL : q->file};
  int code = weir_queue_open(&options, &q->queue, NULL);
  if (code == 0) return 0;
  if (code == WEIR_ENOMEM || code == WEIR_EAGAIN) target_remedy(job, "use fewer threads or less depth");
  return weir_job_refused(job, "opening a queue", code);
}

static int queue_setup(void *state, const struct weir_job *job) {
  struct queue_state *q = state;
  q->depth = (unsigned)job->params[QUEUE_DEPTH];
  q->batch = (unsigned)(job->params[QUEUE_BATCH] ? job->params[QUEUE_BATCH] : (q->depth + 15) / 16);
  q->kept = job->params[QUEUE_LIFE] == KEPT;
  q->granule = is_direct(job) ? aligned_granule(job) : 1;
  q->wish = (struct weir_job_wish){.strategy = is_direct(job) ? WEIR_DIRECT : WEIR_BUFFERED,
                                   .extend = (enum target_extend)job->params[QUEUE_EXTEND],
                                   .write_through = job->durability == WEIR_DURABILITY_EACH};
  q->slots = calloc(q->depth, sizeof *q->slots);
  q->idle = calloc(q->depth, sizeof *q->idle);
  q->waiting = calloc(q->depth, sizeof *q->waiting);
  q->rest_data = calloc(1, q->granule);
  if (!q->slots || !q->idle || !q->waiting || !q->rest_data)
    return job->host->fail(job, -ENOMEM, "no memory for %u requests", q->depth);
  const struct landing_wish wish = {.policy = WEIR_BUFFER_REUSED, .alignment = q->granule, .slots = q->depth};
  int error = landing_setup(&q->landing, job, &wish);
  return error || !q->kept ? error : open_queue(q, job);
}

static void queue_teardown(void *state, const struct weir_job *job) {
  struct queue_state *q = state;
  weir_queue_close(q->queue); /* first: requests may still be under way into the memory that goes now */
  landing_teardown(&q->landing, job);
  free(q->rest_data);
  free(q->waiting);
  free(q->idle);
  free(q->slots);
}

static int queue_probe(const struct weir_job *job, struct weir_reason *reason) {
  int error = target_probe_extend(job, (enum target_extend)job->params[QUEUE_EXTEND], reason);
  return error || !is_direct(job) ? error : aligned_probe(job, reason);
}

static int queue_open(void *state, const struct weir_job *job) {
  struct queue_state *q = state;
  int error = weir_job_open(job, &q->wish, &q->file);
  if (error || q->queue) return error;
  error = open_queue(q, job);
  if (error) (void)weir_file_close(q->file, NULL);
  return error;
}

static void end_queue(struct queue_state *q) {
  weir_queue_close(q->queue);
  q->queue = NULL;
}

static int queue_close(void *state, const struct weir_job *job) {
  struct queue_state *q = state;
  if (!q->kept) end_queue(q);
  return weir_job_close(job, q->file);
}

static int queue_sync(void *state, const struct weir_job *job) {
  return weir_job_sync(job, ((struct queue_state *)state)->file);
}

static void put_back(struct queue_pass *p, struct slot *slot) { p->q->idle[p->idle_count++] = slot; }

static void fail_slot(struct queue_pass *p, const struct slot *slot, int error) {
  const uint64_t offset = slot->piece.offset + slot->request.transferred;
  if (p->error && offset >= p->error_offset) return;
  p->error_offset = offset;
  const char *doing = p->job->direction == WEIR_WRITE ? "writing" : "reading";
  p->error = error == -ENODATA
                 ? target_ended(p->job, offset)
                 : weir_job_failed_at(p->job, doing, offset, slot->piece.length - slot->request.transferred, error);
}

/* Bytes that do not fill a granule are put aside until the direct ones are done: both share a page of the file. */
static void keep_rest(struct queue_pass *p, const struct slot *slot, size_t direct) {
  struct queue_state *q = p->q;
  p->rest = (struct landing_piece){slot->piece.offset + direct, slot->piece.length - direct, q->rest_data};
  p->rest_began = slot->began;
  memcpy(q->rest_data, slot->piece.data + direct, p->rest.length);
}

/* The next request of the job; NULL where all of it was put aside. */
static struct weir_request *prepare(struct queue_pass *p) {
  struct queue_state *q = p->q;
  struct slot *slot = q->idle[--p->idle_count];
  const bool writes = p->job->direction == WEIR_WRITE;
  slot->piece = landing_piece(&q->landing, p->job, p->next++, (unsigned)(slot - q->slots));
  if (writes) landing_supply(&q->landing, p->flow, slot->piece);
  slot->began = weir_operation_begin(p->flow);
  const size_t size = writes ? aligned_down(slot->piece.length, q->granule) : aligned_up(slot->piece.length, q->granule);
  if (size < slot->piece.length) keep_rest(p, slot, size);
  slot->request = (struct weir_request){.operation = writes ? WEIR_OP_WRITE : WEIR_OP_READ,
                                        .file = q->file,
                                        .data = slot->piece.data,
                                        .size = size,
                                        .offset = slot->piece.offset,
                                        .user = slot};
  if (size == 0) put_back(p, slot);
  return size == 0 ? NULL : &slot->request;
}

/* Hands over as many requests as there are idle slots. What the queue does not take has failed. */
static void submit(struct queue_pass *p) {
  struct queue_state *q = p->q;
  size_t count = 0, taken = 0;
  while (!p->error && p->next < p->count && p->idle_count > 0 && !weir_stopped(p->flow)) {
    if (p->in_flight + count > 0 && !weir_operation_due(p->flow)) break;
    struct weir_request *request = prepare(p);
    if (request) q->waiting[count++] = request;
  }
  if (count == 0) return;
  const int code = weir_queue_submit(q->queue, q->waiting, count, &taken);
  p->in_flight += (unsigned)taken;
  for (size_t i = taken; i < count; i++) {
    struct slot *slot = q->waiting[i]->user;
    fail_slot(p, slot, code < 0 ? code : WEIR_EBUSY);
    put_back(p, slot);
  }
}

static void complete(struct queue_pass *p, const struct weir_request *request) {
  struct slot *slot = request->user;
  const bool writes = p->job->direction == WEIR_WRITE;
  const size_t wanted = writes ? request->size : slot->piece.length;
  int error = request->status;
  if (error == 0 && request->transferred < wanted) error = writes ? -EIO : -ENODATA;
  if (error) fail_slot(p, slot, error);
  if (!error && !writes) landing_deliver(&p->q->landing, p->flow, slot->piece);
  if (!error && wanted == slot->piece.length) weir_operation_end(p->flow, slot->began);
  put_back(p, slot);
}

/* A queue that fails itself is closed, which waits for what is under way. */
static void wait(struct queue_pass *p) {
  struct queue_state *q = p->q;
  const bool looks_only = weir_is_paced(p->flow) && p->next < p->count && !p->error; /* the next one may be due first */
  const unsigned least = looks_only ? 0 : q->batch < p->in_flight ? q->batch : p->in_flight;
  const int count = weir_queue_wait(q->queue, q->waiting, q->depth, least);
  if (count < 0) {
    end_queue(q);
    p->in_flight = 0;
    p->error = weir_job_refused(p->job, "waiting for requests", count);
    return;
  }
  p->in_flight -= (unsigned)count;
  for (int i = 0; i < count; i++) complete(p, q->waiting[i]);
}

static int write_rest(struct queue_pass *p) {
  const int error = write_piece(p->job, p->q->file, p->rest);
  if (!error) weir_operation_end(p->flow, p->rest_began);
  return error;
}

static int queue_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct queue_state *q = state;
  struct queue_pass p = {.q = q, .job = job, .flow = flow, .count = landing_count(job, budget)};
  for (unsigned i = 0; i < q->depth; i++) put_back(&p, &q->slots[q->depth - 1 - i]);
  if (job->direction == WEIR_WRITE) landing_supply_all(&q->landing, job, flow, p.count);
  for (;;) {
    submit(&p);
    if (p.in_flight == 0) break;
    wait(&p);
  }
  if (!p.error && p.rest.length > 0) p.error = write_rest(&p);
  if (p.error) return p.error;
  if (job->direction == WEIR_READ) landing_deliver_rest(&q->landing, job, flow, p.next);
  if (job->direction == WEIR_WRITE) landing_settle(&q->landing, job, flow, p.count, p.next);
  return 0;
}

#define QUEUE_PARAMS(depths)                                                                  \
  [QUEUE_BLOCK] = LANDING_PARAM_BLOCK(NULL),                                                  \
  [QUEUE_DEPTH] = {.name = "depth",                                                           \
                   .kind = WEIR_PARAM_COUNT,                                                  \
                   .preset = "8",                                                             \
                   .sweep = (depths),                                                         \
                   .min = 1,                                                                  \
                   .max = DEPTH_MAX,                                                          \
                   WEIR_PARAM_EVERYWHERE,                                                     \
                   .help = "requests in flight"},                                             \
  [QUEUE_BATCH] = {.name = "batch",                                                           \
                   .kind = WEIR_PARAM_COUNT,                                                  \
                   .preset = "0",                                                             \
                   .min = 0,                                                                  \
                   .max = DEPTH_MAX,                                                          \
                   WEIR_PARAM_EVERYWHERE,                                                     \
                   .help = "completions that one call waits for; 0: a sixteenth of the depth"}, \
  [QUEUE_LIFE] = {.name = "queue",                                                            \
                  .kind = WEIR_PARAM_CHOICE,                                                  \
                  .preset = "kept",                                                           \
                  .choices = "kept|opened",                                                   \
                  WEIR_PARAM_EVERYWHERE,                                                      \
                  .help = "one queue for all files, or one for each, which knows its file"},  \
  [QUEUE_EXTEND] = WEIR_JOB_PARAM_EXTEND
static const struct weir_param queue_params[] = {QUEUE_PARAMS(NULL)};
static const struct weir_param queue_direct_params[] = {QUEUE_PARAMS("8|32")};
static const char past_the_cache[] = "direct";

#define QUEUE                                                                                                            \
  METHODS_ABI, .tasks = METHODS_BOTH_TASKS, .accesses = METHODS_BOTH_ACCESSES, .durabilities = METHODS_ALL_DURABILITIES, \
               .directions = WEIR_BIT(WEIR_READ) | WEIR_BIT(WEIR_WRITE), .state_size = sizeof(struct queue_state),       \
               .probe = queue_probe, .setup = queue_setup, .open = queue_open, .run = queue_run, .sync = queue_sync,     \
               .close = queue_close, .teardown = queue_teardown,                                                         \
               .calls = "weir_queue_open(3), weir_queue_submit(3), weir_queue_wait(3)"

const struct weir_method methods_weir_queue = {QUEUE,
                                               .name = "weir/queue",
                                               .summary = "libweir: several requests in flight through the page cache",
                                               .capabilities = WEIR_CAP_DEPTH | WEIR_CAP_PACED,
                                               .params = queue_params,
                                               .param_count = METHODS_COUNT(queue_params)};

const struct weir_method methods_weir_queue_direct = {QUEUE,
                                                      .name = "weir/queue-direct",
                                                      .summary = "libweir: several requests in flight past the page cache",
                                                      .capabilities = WEIR_CAP_DEPTH | WEIR_CAP_DIRECT | WEIR_CAP_PACED,
                                                      .params = queue_direct_params,
                                                      .param_count = METHODS_COUNT(queue_direct_params),
                                                      .data = past_the_cache};
