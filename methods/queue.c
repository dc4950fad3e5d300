/*
 * queue.c - the slots and the run of methods that keep several requests in flight.
 *
 * A slot's memory belongs to the system from the moment it is queued until its completion is taken, so run never returns
 * before all are in, not even after an error. What completes short goes on from where it stopped: memory, offset and length.
 */
#include "queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aligned.h"

#define REAP_MAX 64u
#define RETRIES_MAX 1000u /* of one request that the system puts off */
#define SUBMITS_MAX 50u   /* in a row that brought nothing; os.h waits a tenth of a second in each */
/* The system frees a closed ring a little later, and until then its memory counts against the user's limit. */
#define MEMORY_TRIES 10u /* of a probe, and of a set-up */
#define MEMORY_PAUSE_NS 1000000u
#define TRANSFER_MAX ((size_t)1 << 30)
#define REGISTERED_MAX ((size_t)1 << 30) /* one registered buffer */
/* A write that is linked to its flush: the tag of the flush has this bit. */
#define FLUSH_TAG (UINT64_C(1) << 32)

struct queue_slot {
  struct landing_piece piece;
  size_t goal; /* bytes to ask for: whole granules, more than the piece (reads) or less (writes) */
  size_t done;
  uint64_t began;
  unsigned retries;
  bool writes;
  /* a write and its flush */
  unsigned pending;
  int32_t written, flushed;
};

struct queue_run {
  struct queue *q;
  const struct weir_job *job;
  struct weir_flow *flow;
  uint64_t next, count;
  unsigned in_flight, free_count;
  unsigned waiting;                  /* queued and not handed over, of one ring */
  unsigned in_ring[QUEUE_RINGS_MAX]; /* in flight, by ring */
  unsigned turn;                     /* ring to wait for next, if several */
  int error;
  /* Requests fail in any order; told is the one that lies first in the file. */
  uint64_t error_offset;
  /* the operation whose last bytes do not fill a granule */
  bool rest_waits;
  size_t rest_length;
  uint64_t rest_offset, rest_began;
};

static unsigned ring_count(const struct queue *q) { return q->options.rings ? q->options.rings : 1; }

/* Does each write go out with a flush linked to it? */
static bool pairs(const struct queue *q, const struct weir_job *job) {
  return q->options.chain > 1 && job->durability == WEIR_DURABILITY_EACH;
}

/* ---- set-up -------------------------------------------------------------------------------------------------------- */

void queue_take_params(struct queue_options *options, const struct weir_job *job) {
  options->depth = (unsigned)job->params[QUEUE_DEPTH];
  options->batch = (unsigned)job->params[QUEUE_BATCH];
  options->extend = (enum target_extend)job->params[QUEUE_EXTEND];
}

/* Is this a lack of memory that may pass? Counts the tries and waits. */
static bool memory_may_come(int error, unsigned *tries) {
  if (error != -ENOMEM || ++*tries >= MEMORY_TRIES) return false;
  os_sleep_ns(MEMORY_PAUSE_NS);
  return true;
}

static int open_ring(struct queue *q, const struct weir_job *job, struct os_ring **out) {
  const unsigned share = (q->options.depth + ring_count(q) - 1) / ring_count(q);
  int error;
  do error = os_ring_open_engine(q->options.engine, pairs(q, job) ? 2 * share : share, out);
  while (memory_may_come(error, &q->tries));
  return error;
}

static int open_rings(struct queue *q, const struct weir_job *job) {
  int error = 0;
  for (unsigned i = 0; i < ring_count(q) && !error; i++) error = open_ring(q, job, &q->rings[i]);
  return error;
}

static void close_rings(struct queue *q) {
  for (unsigned i = 0; i < QUEUE_RINGS_MAX; i++)
    if (q->rings[i]) os_ring_close(q->rings[i]);
}

/*
 * What cannot be begun at once, such as a write to the page cache, the system hands to a thread of its own: if that sleeps
 * on another CPU, waking it costs several times the write.
 */
static int keep_near(struct queue *q, const struct weir_job *job) {
  const unsigned processors = os_processors();
  int error = os_thread_pin(processors ? job->instance % processors : 0);
  for (unsigned i = 0; i < ring_count(q) && !error; i++) error = os_ring_keep_near(q->rings[i]);
  return error;
}

/* What would help against a ring that cannot be had. */
static const char *remedy_for(const struct queue_options *options, int error) {
  if (options->engine == OS_RING_SHARED)
    return "raise the limit on locked memory (ulimit -l), or use fewer threads, less depth, or ring/plain";
  if (options->engine == OS_RING_KERNEL && error == -EAGAIN)
    return "raise fs.aio-max-nr, or use fewer threads or less depth";
  return "use direct/pread or direct/pwrite";
}

/* Rings of other processes count against the same limits, so what the probe could do may fail here. */
static int setup_refused(const struct queue *q, const struct weir_job *job, const char *doing, int error) {
  if (error == -ENOMEM || error == -EAGAIN) target_remedy(job, remedy_for(&q->options, error));
  return target_refused(job, doing, error);
}

/* Tells a ring about the landing's memory: one buffer a slot, or the whole one in chunks of whole requests. */
static int register_buffers(struct queue *q, const struct weir_job *job, struct os_ring *ring) {
  const struct landing *l = &q->landing;
  q->chunk = l->whole ? REGISTERED_MAX / (size_t)job->block * (size_t)job->block : l->stride;
  if (l->size == 0) return 0;
  if (q->chunk == 0) return -EOVERFLOW;
  const size_t count = (l->size - 1) / q->chunk + 1;
  void **data = calloc(count, sizeof *data);
  size_t *lengths = calloc(count, sizeof *lengths);
  int error = data && lengths && count <= UINT32_MAX ? 0 : -ENOMEM;
  for (size_t i = 0; i < count && !error; i++) {
    data[i] = l->data + i * q->chunk;
    lengths[i] = l->size - i * q->chunk < q->chunk ? l->size - i * q->chunk : q->chunk;
  }
  if (!error) {
    do error = os_ring_register_buffers(ring, data, lengths, (unsigned)count);
    while (memory_may_come(error, &q->tries));
  }
  free(lengths);
  free(data);
  return error;
}

static int register_all_buffers(struct queue *q, const struct weir_job *job) {
  int error = 0;
  for (unsigned i = 0; i < ring_count(q) && !error; i++) error = register_buffers(q, job, q->rings[i]);
  q->buffers_registered = error == 0;
  return error;
}

static int make_slots(struct queue *q, const struct weir_job *job) {
  const unsigned depth = q->options.depth;
  q->slots = calloc(depth, sizeof *q->slots);
  q->free = calloc(depth, sizeof *q->free);
  q->rest_data = calloc(1, q->granule);
  return q->slots && q->free && q->rest_data ? 0 : job->host->fail(job, -ENOMEM, "no memory for %u requests", depth);
}

int queue_setup(struct queue *q, const struct weir_job *job, const struct queue_options *options) {
  q->options = *options;
  q->granule = options->direct ? aligned_granule(job) : 1;
  int error = make_slots(q, job);
  if (error) return error;
  error = landing_setup(&q->landing, job,
                        &(struct landing_wish){.policy = options->policy, .alignment = q->granule, .slots = options->depth});
  if (error) return error;
  error = open_rings(q, job);
  if (error) return setup_refused(q, job, "opening a ring", error);
  if (options->near && (error = keep_near(q, job))) return target_refused(job, "keeping the ring on one CPU", error);
  /* Registered memory has to stay from set-up to teardown. */
  if (options->registration == QUEUE_REGISTERS_NOTHING || q->landing.policy != WEIR_BUFFER_REUSED) return 0;
  error = register_all_buffers(q, job);
  return error && options->registration == QUEUE_REGISTERS ? setup_refused(q, job, "registering buffers", error) : 0;
}

void queue_teardown(void *state, const struct weir_job *job) {
  struct queue *q = state;
  if (q->lost) return; /* the system may still write there; the process ends with this sample anyway */
  close_rings(q);
  landing_teardown(&q->landing, job);
  free(q->rest_data);
  free(q->free);
  free(q->slots);
}

/* ---- open, sync, close --------------------------------------------------------------------------------------------- */

static int register_file(struct queue *q) {
  int error = 0;
  for (unsigned i = 0; i < ring_count(q) && !error; i++) error = os_ring_register_file(q->rings[i], q->file);
  q->file_registered = error == 0;
  return error;
}

static int open_file(struct queue *q, const struct weir_job *job) {
  const bool durable = q->options.opens_durable && job->durability == WEIR_DURABILITY_EACH;
  const unsigned flags = (q->options.direct ? OS_DIRECT : 0) | (durable ? OS_DATA_SYNC : 0);
  return target_open_extending(job, flags, q->options.extend, &q->file);
}

int queue_open(void *state, const struct weir_job *job) {
  struct queue *q = state;
  int error = open_file(q, job);
  if (error) return error;
  error = aligned_open_rest(job, q->granule, 0, &q->rest);
  if (!error) error = landing_open(&q->landing, job);
  if (!error && q->options.registration != QUEUE_REGISTERS_NOTHING) {
    error = register_file(q);
    error = error && q->options.registration == QUEUE_REGISTERS ? target_refused(job, "registering the file", error) : 0;
    if (error) landing_close(&q->landing, job);
  }
  if (!error) return 0;
  (void)os_close(q->rest);
  (void)os_close(q->file);
  return error;
}

int queue_close(void *state, const struct weir_job *job) {
  struct queue *q = state;
  if (!q->lost) landing_close(&q->landing, job);
  const int rest = target_close(job, q->rest), file = target_close(job, q->file);
  return rest ? rest : file;
}

int queue_sync(void *state, const struct weir_job *job) {
  const struct queue *q = state;
  int error = q->rest == os_no_file ? 0 : os_sync(q->rest, false);
  return error ? target_refused(job, "flushing the unaligned end", error) : target_sync(job, q->file);
}

/* ---- one request --------------------------------------------------------------------------------------------------- */

/* Keeps the failure of the request that lies first in the file. */
static void fail_request(struct queue_run *r, const struct queue_slot *slot, int error) {
  const uint64_t offset = slot->piece.offset + slot->done;
  if (r->error && offset >= r->error_offset) return;
  r->error_offset = offset;
  r->error = error == -ENODATA
                 ? target_ended(r->job, offset)
                 : target_failed(r->job, slot->writes ? "writing" : "reading", offset, slot->goal - slot->done, error);
}

static unsigned ring_of(const struct queue *q, unsigned number) { return number % ring_count(q); }

/* A slot is taken, or idle again. */
static unsigned take(struct queue_run *r) { return r->q->free[--r->free_count]; }
static void give_back(struct queue_run *r, unsigned number) { r->q->free[r->free_count++] = number; }

/* Its last completion is in. */
static void release(struct queue_run *r, unsigned number) {
  r->in_flight--;
  r->in_ring[ring_of(r->q, number)]--;
  give_back(r, number);
}

static struct os_ring_request transfer(const struct queue_run *r, unsigned number) {
  const struct queue *q = r->q;
  const struct queue_slot *slot = &q->slots[number];
  const size_t left = slot->goal - slot->done;
  unsigned char *data = slot->piece.data + slot->done;
  return (struct os_ring_request){
      .kind = slot->writes ? OS_RING_WRITE : OS_RING_READ,
      .file = q->file,
      .registered_file = q->file_registered,
      .data_sync =
          slot->writes && r->job->durability == WEIR_DURABILITY_EACH && !q->options.opens_durable && !pairs(q, r->job),
      .buffer_index = q->buffers_registered ? (int)((size_t)(data - q->landing.data) / q->chunk) : -1,
      .data = data,
      .length = (uint32_t)(left < TRANSFER_MAX ? left : TRANSFER_MAX),
      .offset = slot->piece.offset + slot->done,
      .tag = number,
  };
}

/* The flush that begins when the write queued just before is done. */
static int queue_flush(struct queue_run *r, unsigned number) {
  const struct queue *q = r->q;
  return os_ring_queue(q->rings[ring_of(q, number)], &(struct os_ring_request){.kind = OS_RING_SYNC,
                                                                               .file = q->file,
                                                                               .registered_file = q->file_registered,
                                                                               .buffer_index = -1,
                                                                               .tag = number | FLUSH_TAG});
}

/* Queues what is left of a slot. There is always room: never more requests than slots, never more slots than depth. */
static void queue(struct queue_run *r, unsigned number, bool linked) {
  const struct queue *q = r->q;
  struct queue_slot *slot = &q->slots[number];
  struct os_ring_request request = transfer(r, number);
  const bool paired = slot->writes && pairs(q, r->job);
  request.linked = linked || paired;
  slot->pending = 1;
  int error = os_ring_queue(q->rings[ring_of(q, number)], &request);
  if (!error && paired && queue_flush(r, number) == 0) slot->pending = 2;
  r->waiting++;
  if (!error) return;
  fail_request(r, slot, error);
  release(r, number);
}

/* Puts the bytes that do not fill a granule aside until the direct ones are done: the two must not be under way at once. */
static void keep_rest(struct queue_run *r, const struct queue_slot *slot) {
  r->rest_waits = true;
  r->rest_length = slot->piece.length - slot->goal;
  r->rest_offset = slot->piece.offset + slot->goal;
  r->rest_began = slot->began;
  memcpy(r->q->rest_data, slot->piece.data + slot->goal, r->rest_length);
}

/* May another request follow in the same chain at once? If none does after all, the chain just ends. */
static bool link_next(const struct queue_run *r) {
  const unsigned chain = r->q->options.chain;
  return chain > 1 && r->next % chain != 0 && r->next < r->count && r->free_count > 0;
}

static void start(struct queue_run *r) {
  struct queue *q = r->q;
  const unsigned number = take(r);
  struct queue_slot *slot = &q->slots[number];
  *slot = (struct queue_slot){.piece = landing_piece(&q->landing, r->job, r->next++, number)};
  slot->writes =
      r->job->direction == WEIR_WRITE || (r->job->direction == WEIR_MIXED && weir_order_writes(r->job, slot->piece.offset));
  if (slot->writes) landing_supply(&q->landing, r->flow, slot->piece);
  slot->began = weir_operation_begin(r->flow);
  slot->goal = slot->writes ? aligned_down(slot->piece.length, q->granule) : aligned_up(slot->piece.length, q->granule);
  if (slot->goal < slot->piece.length) keep_rest(r, slot);
  if (slot->goal == 0) {
    give_back(r, number);
    return;
  }
  r->in_flight++;
  r->in_ring[ring_of(q, number)]++;
  queue(r, number, link_next(r));
}

/* All bytes are there, but for those put aside. */
static void finish(struct queue_run *r, const struct queue_slot *slot) {
  if (!slot->writes) landing_deliver(&r->q->landing, r->flow, slot->piece);
  if (slot->goal >= slot->piece.length) weir_operation_end(r->flow, slot->began);
}

/* The system put it off, or the one before it in its chain came short. */
static bool passes(const struct queue_run *r, int32_t result) {
  return result == -EAGAIN || result == -EINTR || (result == -ECANCELED && r->q->options.chain > 1);
}

/* What a completion says: 0 the request is done, 1 it has to go on, else the error. */
static int judge(const struct queue_run *r, struct queue_slot *slot, int32_t result) {
  const int end = slot->writes ? -EIO : -ENODATA;
  if (passes(r, result) && slot->retries++ < RETRIES_MAX) return 1;
  if (result < 0) return result;
  if (result == 0) return end;
  slot->done += (size_t)result;
  if (slot->done >= slot->piece.length || slot->done >= slot->goal) return 0;
  return slot->done % r->q->granule == 0 ? 1 : end; /* a direct transfer cannot go on from within a granule */
}

/* A flush whose write came whole, but that was put off or left behind, is queued once more by itself. */
static int judge_flush(struct queue_run *r, struct queue_slot *slot, unsigned number) {
  if (slot->flushed >= 0) return 0;
  if (!passes(r, slot->flushed) || slot->retries++ >= RETRIES_MAX) return slot->flushed;
  int error = queue_flush(r, number);
  slot->pending = 1;
  return error ? error : 1;
}

/* After a failure nothing new is begun, but what is under way goes on: it may be the one that tells where it all ended. */
static void complete(struct queue_run *r, const struct os_ring_completion *completion) {
  const unsigned number = (unsigned)(completion->tag & ~FLUSH_TAG);
  struct queue_slot *slot = &r->q->slots[number];
  const bool paired = slot->writes && pairs(r->q, r->job), is_flush = (completion->tag & FLUSH_TAG) != 0;
  if (is_flush)
    slot->flushed = completion->result;
  else
    slot->written = completion->result, slot->flushed = -ECANCELED;
  if (--slot->pending > 0) return;
  int verdict = slot->done < slot->goal ? judge(r, slot, slot->written) : 0;
  if (verdict == 1) {
    queue(r, number, false);
    return;
  }
  if (verdict == 0 && paired) verdict = judge_flush(r, slot, number);
  if (verdict == 1) return;
  if (verdict < 0) fail_request(r, slot, verdict);
  if (verdict == 0) finish(r, slot);
  release(r, number);
}

/* ---- the run ------------------------------------------------------------------------------------------------------- */

static unsigned reap(struct queue_run *r, unsigned ring) {
  struct os_ring_completion completions[REAP_MAX];
  const unsigned count = os_ring_reap(r->q->rings[ring], completions, REAP_MAX);
  for (unsigned i = 0; i < count; i++) complete(r, &completions[i]);
  return count;
}

/* At a rate the next request may be due before any completion is in: then nothing waits, and all are looked at in turn. */
static bool waits_for_due(const struct queue_run *r) { return weir_is_paced(r->flow) && r->next < r->count && !r->error; }

/*
 * How many completions to wait for at once. A batch makes a deep queue need fewer system calls than requests; the rest keeps
 * the device from running dry meanwhile.
 */
static unsigned batch(const struct queue_run *r) {
  if (waits_for_due(r)) return 0;
  const struct queue_options *options = &r->q->options;
  const unsigned wanted = options->batch ? options->batch : (options->depth + 15) / 16;
  return wanted < r->in_flight ? wanted : r->in_flight;
}

/*
 * A device that has told of all its requests at once has nothing to do while the next ones are prepared: the first of them is
 * handed over at once, then as many again as are under way. What the ring refuses here is handed over with the rest.
 */
static void pass_early(struct queue_run *r) {
  if (ring_count(r->q) > 1 || r->q->options.chain > 1 || r->free_count == 0) return;
  if (r->waiting < r->in_flight - r->waiting || r->in_flight == 0) return;
  (void)os_ring_submit(r->q->rings[0], 0);
  r->waiting = 0;
}

/* One ring: hands over what is queued, waits for a batch, takes what is done. Several: looks at all, waits for one. */
static int pass_on(struct queue_run *r, unsigned *reaped) {
  const unsigned count = ring_count(r->q);
  int error = 0;
  *reaped = 0;
  if (count == 1) {
    error = os_ring_submit(r->q->rings[0], batch(r));
    r->waiting = 0;
    *reaped = reap(r, 0);
    return error;
  }
  for (unsigned i = 0; i < count && !error; i++) {
    if (r->in_ring[i] == 0) continue;
    error = os_ring_submit(r->q->rings[i], 0);
    *reaped += reap(r, i);
  }
  if (error || *reaped > 0 || waits_for_due(r)) return error;
  do r->turn = (r->turn + 1) % count;
  while (r->in_ring[r->turn] == 0);
  error = os_ring_submit(r->q->rings[r->turn], 1);
  *reaped = reap(r, r->turn);
  return error;
}

/* A ring that refuses for good is given up. */
static void turn(struct queue_run *r, unsigned *idle) {
  unsigned reaped;
  const int error = pass_on(r, &reaped);
  if (reaped > 0 || error == 0) {
    *idle = 0;
    return;
  }
  if (error != -EAGAIN && error != -EBUSY && !r->error) r->error = target_refused(r->job, "submitting", error);
  if (++*idle < SUBMITS_MAX) {
    os_sleep_ns(1000000);
    return;
  }
  if (!r->error) r->error = target_refused(r->job, "submitting again and again", error);
  r->q->lost = true;
}

static int write_rest(struct queue_run *r) {
  const struct queue *q = r->q;
  int error = aligned_write_rest(r->job, q->rest, q->rest_data, r->rest_length, r->rest_offset);
  if (!error && r->job->durability == WEIR_DURABILITY_EACH) {
    error = os_sync(q->rest, false);
    if (error) return target_failed(r->job, "flushing", r->rest_offset, r->rest_length, error);
  }
  if (!error) weir_operation_end(r->flow, r->rest_began);
  return error;
}

/* With nothing to look after, beginning may wait. */
static bool may_begin(const struct queue_run *r) { return r->in_flight == 0 || weir_operation_due(r->flow); }

int queue_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct queue *q = state;
  struct queue_run r = {.q = q, .job = job, .flow = flow, .count = landing_count(job, budget)};
  unsigned idle = 0;
  for (unsigned i = 0; i < q->options.depth; i++) give_back(&r, q->options.depth - 1 - i);
  if (job->direction == WEIR_WRITE) landing_supply_all(&q->landing, job, flow, r.count);
  for (;;) {
    while (!r.error && r.next < r.count && r.free_count > 0 && !weir_stopped(flow) && may_begin(&r)) {
      start(&r);
      pass_early(&r);
    }
    if (r.in_flight == 0 || q->lost) break;
    turn(&r, &idle);
  }
  if (!r.error && r.rest_waits) r.error = write_rest(&r);
  if (r.error) return r.error;
  if (job->direction == WEIR_READ) landing_deliver_rest(&q->landing, job, flow, r.next);
  if (job->direction == WEIR_WRITE) landing_settle(&q->landing, job, flow, r.count, r.next);
  return 0;
}

/* ---- probes -------------------------------------------------------------------------------------------------------- */

/* Can rings be had at all? The system's own words where it has some. */
static int try_any(unsigned *tries, struct weir_reason *reason) {
  int error;
  do error = os_ring_probe(reason->text, sizeof reason->text, reason->remedy, sizeof reason->remedy);
  while (memory_may_come(error, tries));
  if (!error || reason->remedy[0]) return error;
  return target_unavailable(reason, error, "a ring cannot be set up here", "use fd/pread or fd/pwrite");
}

static int try_file(struct queue *q, const struct weir_job *job, struct weir_reason *reason) {
  os_file file;
  bool scratch;
  if (target_open_trial(job, 0, &file, &scratch) != 0) return 0; /* opening will tell */
  int error = os_ring_register_file(q->rings[0], file);
  (void)os_close(file);
  return error ? target_unavailable(reason, error, "registering a file with the ring", "use ring/plain") : 0;
}

/* The same registration as in the real run, with memory of the same size. */
static int try_buffers(struct queue *q, const struct weir_job *job, struct weir_reason *reason) {
  struct landing *l = &q->landing;
  void *data = NULL;
  l->whole = job->task == WEIR_TASK_WHOLE;
  l->stride = aligned_up((size_t)job->block, os_page_size());
  l->size = l->whole ? aligned_up((size_t)job->part_length, os_page_size()) : l->stride * q->options.depth;
  if (l->size == 0) return 0;
  int error = os_memory_get(l->size, 0, &data);
  if (error) return target_unavailable(reason, error, "memory for registered buffers", "use smaller blocks or less depth");
  l->data = data;
  error = register_all_buffers(q, job);
  if (!error) return 0;
  return target_unavailable(reason, error, "registering buffers with the ring", remedy_for(&q->options, error));
}

static int try_one(struct queue *q, const struct weir_job *job, struct weir_reason *reason) {
  int error = open_rings(q, job);
  if (error) return target_unavailable(reason, error, "opening a ring", remedy_for(&q->options, error));
  if (q->options.registration != QUEUE_REGISTERS) return 0;
  error = try_buffers(q, job, reason);
  return error ? error : try_file(q, job, reason);
}

static void put_back(struct queue *q) {
  close_rings(q);
  if (q->landing.data) (void)os_memory_put(q->landing.data, q->landing.size);
}

static int try_all(const struct weir_job *job, const struct queue_options *options, struct weir_reason *reason) {
  unsigned tries = 0;
  int error = options->engine == OS_RING_SHARED ? try_any(&tries, reason) : 0;
  if (error) return error;
  struct queue *all = calloc(job->instances, sizeof *all);
  if (!all) return target_unavailable(reason, -ENOMEM, "memory for rings", "use fewer threads");
  for (unsigned i = 0; i < job->instances && !error; i++) {
    all[i].options = *options;
    all[i].tries = tries;
    error = try_one(&all[i], job, reason);
    tries = all[i].tries;
  }
  for (unsigned i = 0; i < job->instances; i++) put_back(&all[i]);
  free(all);
  return error;
}

int queue_probe(const struct weir_job *job, const struct queue_options *options, struct weir_reason *reason) {
  int error = target_probe_extend(job, options->extend, reason);
  if (!error) error = try_all(job, options, reason);
  return error || !options->direct ? error : aligned_probe(job, reason);
}
