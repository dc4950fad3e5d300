/*
 * ring.c - many requests in flight through one submission queue: plain, with registered buffers and file, and direct.
 *
 * The requests live in slots that this file owns. A slot's memory belongs to the system from the moment it is queued until
 * its completion is taken, so run never returns before all are in, not even after an error. What completes short goes on
 * from where it stopped: memory, offset and length.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aligned.h"
#include "landing.h"
#include "methods.h"
#include "target.h"

enum { PARAM_BLOCK, PARAM_DEPTH, PARAM_BUFFER };

#define DEPTH_MAX 1024u
#define REAP_MAX 64u
#define RETRIES_MAX 1000u /* of one request that the system puts off */
#define SUBMITS_MAX 50u   /* in a row that brought nothing; os.h waits a tenth of a second in each */
/* The system frees a closed ring a little later, and until then its memory counts against the user's limit. */
#define MEMORY_TRIES 10u /* of a probe, and of a set-up */
#define MEMORY_PAUSE_NS 1000000u
#define TRANSFER_MAX ((size_t)1 << 30)
#define REGISTERED_MAX ((size_t)1 << 30) /* one registered buffer */

struct ring_slot {
  struct landing_piece piece;
  size_t goal; /* bytes to ask for: whole granules, more than the piece (readers) or less (writers) */
  size_t done;
  uint64_t began;
  unsigned retries;
};

struct ring_state {
  struct landing landing;
  struct os_ring *ring;
  struct ring_slot *slots;
  unsigned *free; /* stack of idle slots */
  unsigned depth;
  unsigned tries; /* for memory, all in all */
  size_t granule; /* 1 unless direct */
  size_t chunk;   /* whole: bytes in one registered buffer */
  bool buffers_registered, file_registered;
  bool lost; /* requests are still out and will not come back: their memory may not be touched any more */
  os_file file, rest;
  unsigned char *rest_data; /* room for a granule */
};

struct ring_run {
  struct ring_state *s;
  const struct weir_job *job;
  struct weir_flow *flow;
  uint64_t next, count;
  unsigned in_flight, free_count;
  int error;
  /* Requests fail in any order; told is the one that lies first in the file. */
  uint64_t error_offset;
  /* the operation whose last bytes do not fill a granule */
  bool rest_waits;
  size_t rest_length;
  uint64_t rest_offset, rest_began;
};

/* ---- set-up -------------------------------------------------------------------------------------------------------- */

/* Is this a lack of memory that may pass? Counts the tries and waits. */
static bool memory_may_come(int error, unsigned *tries) {
  if (error != -ENOMEM || ++*tries >= MEMORY_TRIES) return false;
  os_sleep_ns(MEMORY_PAUSE_NS);
  return true;
}

static int open_ring(struct ring_state *s) {
  int error;
  do error = os_ring_open(s->depth, &s->ring);
  while (memory_may_come(error, &s->tries));
  return error;
}

#define REMEDY "raise the limit on locked memory (ulimit -l), or use fewer threads, less depth, or ring/plain"

/* Rings of other processes count against the same limit, so what the probe could do may fail here. */
static int setup_refused(const struct weir_job *job, const char *doing, int error) {
  if (error == -ENOMEM) target_remedy(job, REMEDY);
  return target_refused(job, doing, error);
}

/* Tells the ring about the landing's memory: one buffer a slot, or the whole one in chunks of whole requests. */
static int register_buffers(struct ring_state *s, const struct weir_job *job) {
  const struct landing *l = &s->landing;
  s->chunk = l->whole ? REGISTERED_MAX / (size_t)job->block * (size_t)job->block : l->stride;
  if (l->size == 0) return 0;
  if (s->chunk == 0) return -EOVERFLOW;
  const size_t count = (l->size - 1) / s->chunk + 1;
  void **data = calloc(count, sizeof *data);
  size_t *lengths = calloc(count, sizeof *lengths);
  int error = data && lengths && count <= UINT32_MAX ? 0 : -ENOMEM;
  for (size_t i = 0; i < count && !error; i++) {
    data[i] = l->data + i * s->chunk;
    lengths[i] = l->size - i * s->chunk < s->chunk ? l->size - i * s->chunk : s->chunk;
  }
  if (!error) {
    do error = os_ring_register_buffers(s->ring, data, lengths, (unsigned)count);
    while (memory_may_come(error, &s->tries));
  }
  free(lengths);
  free(data);
  s->buffers_registered = error == 0;
  return error;
}

static int make_slots(struct ring_state *s, const struct weir_job *job) {
  s->slots = calloc(s->depth, sizeof *s->slots);
  s->free = calloc(s->depth, sizeof *s->free);
  s->rest_data = calloc(1, s->granule);
  return s->slots && s->free && s->rest_data ? 0 : job->host->fail(job, -ENOMEM, "no memory for %u requests", s->depth);
}

static int setup_with(struct ring_state *s, const struct weir_job *job, enum weir_buffer_policy policy, size_t granule) {
  s->granule = granule;
  s->depth = (unsigned)job->params[PARAM_DEPTH];
  int error = make_slots(s, job);
  if (error) return error;
  error = landing_setup(&s->landing, job, &(struct landing_wish){.policy = policy, .alignment = granule, .slots = s->depth});
  if (error) return error;
  error = open_ring(s);
  return error ? setup_refused(job, "opening a ring", error) : 0;
}

static int ring_setup_plain(void *state, const struct weir_job *job) {
  return setup_with(state, job, (enum weir_buffer_policy)job->params[PARAM_BUFFER], 1);
}

/* Registered memory has to stay, so there is no fresh memory to choose here. */
static int ring_setup_fixed(void *state, const struct weir_job *job) {
  int error = setup_with(state, job, WEIR_BUFFER_REUSED, 1);
  if (error) return error;
  error = register_buffers(state, job);
  return error ? setup_refused(job, "registering buffers", error) : 0;
}

static int ring_setup_direct(void *state, const struct weir_job *job) {
  struct ring_state *s = state;
  int error = setup_with(s, job, (enum weir_buffer_policy)job->params[PARAM_BUFFER], aligned_granule(job));
  /* An extra that may be missing: the ring works without it. */
  if (!error && s->landing.policy == WEIR_BUFFER_REUSED) (void)register_buffers(s, job);
  return error;
}

static void ring_teardown(void *state, const struct weir_job *job) {
  struct ring_state *s = state;
  if (s->lost) return; /* the system may still write there; the process ends with this sample anyway */
  if (s->ring) os_ring_close(s->ring);
  landing_teardown(&s->landing, job);
  free(s->rest_data);
  free(s->free);
  free(s->slots);
}

/* ---- open, sync, close --------------------------------------------------------------------------------------------- */

static int open_with(struct ring_state *s, const struct weir_job *job, unsigned flags) {
  int error = target_open(job, flags, &s->file);
  if (error) return error;
  error = aligned_open_rest(job, s->granule, 0, &s->rest);
  if (!error) error = landing_open(&s->landing, job);
  if (!error) return 0;
  (void)os_close(s->rest);
  (void)os_close(s->file);
  return error;
}

static int ring_close(void *state, const struct weir_job *job) {
  struct ring_state *s = state;
  if (!s->lost) landing_close(&s->landing, job);
  const int rest = target_close(job, s->rest), file = target_close(job, s->file);
  return rest ? rest : file;
}

static int ring_open_plain(void *state, const struct weir_job *job) { return open_with(state, job, 0); }

static int ring_open_fixed(void *state, const struct weir_job *job) {
  struct ring_state *s = state;
  int error = open_with(s, job, 0);
  if (error) return error;
  error = os_ring_register_file(s->ring, s->file);
  s->file_registered = error == 0;
  if (!error) return 0;
  error = target_refused(job, "registering the file", error);
  landing_close(&s->landing, job);
  (void)os_close(s->file);
  return error;
}

static int ring_open_direct(void *state, const struct weir_job *job) {
  struct ring_state *s = state;
  int error = open_with(s, job, OS_DIRECT);
  if (!error) s->file_registered = os_ring_register_file(s->ring, s->file) == 0;
  return error;
}

static int ring_sync(void *state, const struct weir_job *job) {
  const struct ring_state *s = state;
  int error = s->rest == os_no_file ? 0 : os_sync(s->rest, false);
  return error ? target_refused(job, "flushing the unaligned end", error) : target_sync(job, s->file);
}

/* ---- one request --------------------------------------------------------------------------------------------------- */

static const char *doing(const struct weir_job *job) { return job->direction == WEIR_READ ? "reading" : "writing"; }

/* Keeps the failure of the request that lies first in the file. */
static void fail_request(struct ring_run *r, const struct ring_slot *slot, int error) {
  const uint64_t offset = slot->piece.offset + slot->done;
  if (r->error && offset >= r->error_offset) return;
  r->error_offset = offset;
  r->error = error == -ENODATA ? target_ended(r->job, offset)
                               : target_failed(r->job, doing(r->job), offset, slot->goal - slot->done, error);
}

static void release(struct ring_run *r, unsigned number) { r->s->free[r->free_count++] = number; }

/* Queues what is left of a slot. There is always room: never more requests than slots, never more slots than depth. */
static void queue(struct ring_run *r, unsigned number) {
  const struct ring_state *s = r->s;
  const struct ring_slot *slot = &s->slots[number];
  const size_t left = slot->goal - slot->done;
  unsigned char *data = slot->piece.data + slot->done;
  const struct os_ring_request request = {
      .kind = r->job->direction == WEIR_READ ? OS_RING_READ : OS_RING_WRITE,
      .file = s->file,
      .registered_file = s->file_registered,
      .data_sync = r->job->durability == WEIR_DURABILITY_EACH && r->job->direction == WEIR_WRITE,
      .buffer_index = s->buffers_registered ? (int)((size_t)(data - s->landing.data) / s->chunk) : -1,
      .data = data,
      .length = (uint32_t)(left < TRANSFER_MAX ? left : TRANSFER_MAX),
      .offset = slot->piece.offset + slot->done,
      .tag = number,
  };
  int error = os_ring_queue(s->ring, &request);
  if (!error) return;
  fail_request(r, slot, error);
  r->in_flight--;
  release(r, number);
}

/* Puts the bytes that do not fill a granule aside until the direct ones are done: the two must not be under way at once. */
static void keep_rest(struct ring_run *r, const struct ring_slot *slot) {
  r->rest_waits = true;
  r->rest_length = slot->piece.length - slot->goal;
  r->rest_offset = slot->piece.offset + slot->goal;
  r->rest_began = slot->began;
  memcpy(r->s->rest_data, slot->piece.data + slot->goal, r->rest_length);
}

static void start(struct ring_run *r) {
  struct ring_state *s = r->s;
  const unsigned number = s->free[--r->free_count];
  struct ring_slot *slot = &s->slots[number];
  *slot = (struct ring_slot){.piece = landing_piece(&s->landing, r->job, r->next++, number)};
  const bool read = r->job->direction == WEIR_READ;
  if (!read) landing_supply(&s->landing, r->flow, slot->piece);
  slot->began = weir_operation_begin(r->flow);
  slot->goal = read ? aligned_up(slot->piece.length, s->granule) : aligned_down(slot->piece.length, s->granule);
  if (slot->goal < slot->piece.length) keep_rest(r, slot);
  if (slot->goal == 0) {
    release(r, number);
    return;
  }
  r->in_flight++;
  queue(r, number);
}

/* All bytes are there, but for those put aside. */
static void finish(struct ring_run *r, const struct ring_slot *slot) {
  if (r->job->direction == WEIR_READ) landing_deliver(&r->s->landing, r->flow, slot->piece);
  if (slot->goal >= slot->piece.length) weir_operation_end(r->flow, slot->began);
}

/* What a completion says: 0 the request is done, 1 it has to go on, else the error. */
static int judge(const struct ring_run *r, struct ring_slot *slot, int32_t result) {
  const int end = r->job->direction == WEIR_READ ? -ENODATA : -EIO;
  if ((result == -EAGAIN || result == -EINTR) && slot->retries++ < RETRIES_MAX) return 1;
  if (result < 0) return result;
  if (result == 0) return end;
  slot->done += (size_t)result;
  if (slot->done >= slot->piece.length || slot->done >= slot->goal) return 0;
  return slot->done % r->s->granule == 0 ? 1 : end; /* a direct transfer cannot go on from within a granule */
}

/* After a failure nothing new is begun, but what is under way goes on: it may be the one that tells where it all ended. */
static void complete(struct ring_run *r, const struct os_ring_completion *completion) {
  const unsigned number = (unsigned)completion->tag;
  struct ring_slot *slot = &r->s->slots[number];
  const int verdict = judge(r, slot, completion->result);
  if (verdict == 1) {
    queue(r, number);
    return;
  }
  if (verdict < 0) fail_request(r, slot, verdict);
  if (verdict == 0) finish(r, slot);
  r->in_flight--;
  release(r, number);
}

/* ---- the run ------------------------------------------------------------------------------------------------------- */

static unsigned reap(struct ring_run *r) {
  struct os_ring_completion completions[REAP_MAX];
  const unsigned count = os_ring_reap(r->s->ring, completions, REAP_MAX);
  for (unsigned i = 0; i < count; i++) complete(r, &completions[i]);
  return count;
}

/*
 * Hands over what is queued and takes what is done. Waits for an eighth of the requests, so that a deep queue needs fewer
 * system calls than requests and the device still never runs dry. A ring that refuses for good is given up.
 */
static void turn(struct ring_run *r, unsigned *idle) {
  const int error = os_ring_submit(r->s->ring, (r->in_flight + 7) / 8);
  if (reap(r) > 0 || error == 0) {
    *idle = 0;
    return;
  }
  if (error != -EAGAIN && error != -EBUSY && !r->error) r->error = target_refused(r->job, "submitting", error);
  if (++*idle < SUBMITS_MAX) {
    os_sleep_ns(1000000);
    return;
  }
  if (!r->error) r->error = target_refused(r->job, "submitting again and again", error);
  r->s->lost = true;
}

static int write_rest(struct ring_run *r) {
  const struct ring_state *s = r->s;
  int error = aligned_write_rest(r->job, s->rest, s->rest_data, r->rest_length, r->rest_offset);
  if (!error && r->job->durability == WEIR_DURABILITY_EACH) {
    error = os_sync(s->rest, false);
    if (error) return target_failed(r->job, "flushing", r->rest_offset, r->rest_length, error);
  }
  if (!error) weir_operation_end(r->flow, r->rest_began);
  return error;
}

static int ring_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct ring_state *s = state;
  struct ring_run r = {.s = s, .job = job, .flow = flow, .count = landing_count(job, budget)};
  unsigned idle = 0;
  for (unsigned i = 0; i < s->depth; i++) release(&r, s->depth - 1 - i);
  if (job->direction == WEIR_WRITE) landing_supply_all(&s->landing, job, flow, r.count);
  for (;;) {
    while (!r.error && r.next < r.count && r.free_count > 0 && !weir_stopped(flow)) start(&r);
    if (r.in_flight == 0 || s->lost) break;
    turn(&r, &idle);
  }
  if (!r.error && r.rest_waits) r.error = write_rest(&r);
  if (r.error) return r.error;
  if (job->direction == WEIR_READ) landing_deliver_rest(&s->landing, job, flow, r.next);
  if (job->direction == WEIR_WRITE) landing_settle(&s->landing, job, flow, r.count, r.next);
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

static int try_file(struct os_ring *ring, const struct weir_job *job, struct weir_reason *reason) {
  os_file file;
  bool scratch;
  if (target_open_trial(job, 0, &file, &scratch) != 0) return 0; /* opening will tell */
  int error = os_ring_register_file(ring, file);
  (void)os_close(file);
  return error ? target_unavailable(reason, error, "registering a file with the ring", "use ring/plain") : 0;
}

/* The same registration as in the real run, with memory of the same size. */
static int try_buffers(struct ring_state *s, const struct weir_job *job, struct weir_reason *reason) {
  struct landing *l = &s->landing;
  void *data = NULL;
  l->whole = job->task == WEIR_TASK_WHOLE;
  l->stride = aligned_up((size_t)job->block, os_page_size());
  l->size = l->whole ? aligned_up((size_t)job->part_length, os_page_size()) : l->stride * s->depth;
  if (l->size == 0) return 0;
  int error = os_memory_get(l->size, 0, &data);
  if (error) return target_unavailable(reason, error, "memory for registered buffers", "use smaller blocks or less depth");
  l->data = data;
  error = register_buffers(s, job);
  return error ? target_unavailable(reason, error, "registering buffers with the ring", REMEDY) : 0;
}

static int try_ring(struct ring_state *s, const struct weir_job *job, bool registered, struct weir_reason *reason) {
  s->depth = (unsigned)job->params[PARAM_DEPTH];
  int error = open_ring(s);
  if (error) return target_unavailable(reason, error, "opening a ring", REMEDY);
  if (!registered) return 0;
  error = try_buffers(s, job, reason);
  return error ? error : try_file(s->ring, job, reason);
}

/* As many at once as there will be instances: they share the user's limit. */
static int try_rings(const struct weir_job *job, bool registered, struct weir_reason *reason) {
  unsigned tries = 0;
  int error = try_any(&tries, reason);
  if (error) return error;
  struct ring_state *all = calloc(job->instances, sizeof *all);
  if (!all) return target_unavailable(reason, -ENOMEM, "memory for rings", "use fewer threads");
  for (unsigned i = 0; i < job->instances && !error; i++) {
    all[i].tries = tries;
    error = try_ring(&all[i], job, registered, reason);
    tries = all[i].tries;
  }
  for (unsigned i = 0; i < job->instances; i++) {
    if (all[i].ring) os_ring_close(all[i].ring);
    if (all[i].landing.data) (void)os_memory_put(all[i].landing.data, all[i].landing.size);
  }
  free(all);
  return error;
}

static int ring_probe_plain(const struct weir_job *job, struct weir_reason *reason) { return try_rings(job, false, reason); }
static int ring_probe_fixed(const struct weir_job *job, struct weir_reason *reason) { return try_rings(job, true, reason); }
static int ring_probe_direct(const struct weir_job *job, struct weir_reason *reason) {
  int error = try_rings(job, false, reason);
  return error ? error : aligned_probe(job, reason);
}

/* ---- entries ------------------------------------------------------------------------------------------------------- */

#define RING_PARAM_DEPTH(tried)                                                                             \
  {                                                                                                         \
    .name = "depth", .kind = WEIR_PARAM_COUNT, .preset = "8", .sweep = (tried), .min = 1, .max = DEPTH_MAX, \
    .tasks = WEIR_ANY, .accesses = WEIR_ANY, .durabilities = WEIR_ANY, .help = "requests in flight"         \
  }

static const struct weir_param ring_params[] = {
    [PARAM_BLOCK] = LANDING_PARAM_BLOCK(LANDING_BLOCK_SWEEP),
    [PARAM_DEPTH] = RING_PARAM_DEPTH(NULL),
    [PARAM_BUFFER] = LANDING_PARAM_BUFFER(NULL),
};
/* What a device gains from depth, the page cache does not have to give. */
static const struct weir_param direct_ring_params[] = {
    [PARAM_BLOCK] = LANDING_PARAM_BLOCK(LANDING_BLOCK_SWEEP),
    [PARAM_DEPTH] = RING_PARAM_DEPTH("8|32"),
    [PARAM_BUFFER] = LANDING_PARAM_BUFFER(NULL),
};

#define RING_METHOD                                                                                              \
  METHODS_ABI, .tasks = METHODS_BOTH_TASKS, .directions = WEIR_BIT(WEIR_READ) | WEIR_BIT(WEIR_WRITE),            \
               .accesses = METHODS_BOTH_ACCESSES, .durabilities = METHODS_ALL_DURABILITIES,                      \
               .state_size = sizeof(struct ring_state), .run = ring_run, .sync = ring_sync, .close = ring_close, \
               .teardown = ring_teardown

const struct weir_method methods_ring_plain = {RING_METHOD,
                                               .name = "ring/plain",
                                               .summary = "several requests in flight through the page cache",
                                               .calls = "io_uring: READ, WRITE (RWF_DSYNC when each is durable)",
                                               .capabilities = WEIR_CAP_DEPTH,
                                               .params = ring_params,
                                               .param_count = METHODS_COUNT(ring_params),
                                               .probe = ring_probe_plain,
                                               .setup = ring_setup_plain,
                                               .open = ring_open_plain};

const struct weir_method methods_ring_fixed = {RING_METHOD,
                                               .name = "ring/fixed",
                                               .summary = "ring/plain with registered buffers and a registered file",
                                               .calls = "io_uring: READ_FIXED, WRITE_FIXED, IOSQE_FIXED_FILE",
                                               .capabilities = WEIR_CAP_DEPTH,
                                               .params = ring_params,
                                               .param_count = PARAM_BUFFER,
                                               .probe = ring_probe_fixed,
                                               .setup = ring_setup_fixed,
                                               .open = ring_open_fixed};

const struct weir_method methods_ring_direct = {
    RING_METHOD,
    .name = "ring/direct",
    .summary = "several requests in flight past the page cache",
    .calls = "open(2) O_DIRECT, io_uring: READ_FIXED, WRITE_FIXED, IOSQE_FIXED_FILE; the unaligned end pwrite(2)",
    .capabilities = WEIR_CAP_DEPTH | WEIR_CAP_DIRECT,
    .params = direct_ring_params,
    .param_count = METHODS_COUNT(ring_params),
    .probe = ring_probe_direct,
    .setup = ring_setup_direct,
    .open = ring_open_direct};
