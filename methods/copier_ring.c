/*
 * copier_ring.c - copies with several chunks in flight: for each, a read and the write that is linked to it, so that the
 * system begins the write when the read is done.
 *
 * A slot's memory belongs to the system from the moment it is queued until its completions are taken, so a file is never
 * left before all are in, not even after an error. What came short or was put off is queued once more from where it stands.
 */
#include <errno.h>
#include <stdlib.h>

#include "copier.h"

enum { RING_DEPTH = COPIER_OWN };
#define DEPTH_MAX 1024u
#define REAP_MAX 64u
#define RETRIES_MAX 1000u /* of one chunk that the system puts off */
#define SUBMITS_MAX 50u   /* in a row that brought nothing; os.h waits a tenth of a second in each */
#define WRITE_TAG (UINT64_C(1) << 32)

struct ring_slot {
  size_t at, length; /* place and size of the chunk in the file */
  size_t got, put;   /* bytes of it that were read, and written */
  unsigned pending, retries;
  bool reads, writes; /* what was queued last */
  int32_t read, written;
};

struct rings {
  struct os_ring *ring;
  unsigned depth;
  struct ring_slot slots[DEPTH_MAX];
  unsigned free[DEPTH_MAX], free_count;
};

/* One file under way. */
struct ring_run {
  struct copier *c;
  struct rings *r;
  const struct weir_job *job;
  struct copier_pair *pair;
  size_t next; /* byte of the file that the next chunk begins with */
  unsigned in_flight;
  int error;
};

static void fail_slot(struct ring_run *run, const char *doing, size_t at, int error) {
  if (run->error) return;
  run->error = error == -ENODATA ? files_ended(run->job, run->pair->offset + at)
                                 : files_failed(run->job, doing, run->pair->offset + at, error);
}

static struct os_ring_request request(const struct ring_run *run, unsigned number, bool writes) {
  const struct ring_slot *slot = &run->r->slots[number];
  const size_t from = writes ? slot->put : slot->got;
  return (struct os_ring_request){.kind = writes ? OS_RING_WRITE : OS_RING_READ,
                                  .file = writes ? run->pair->to : run->pair->from,
                                  .buffer_index = -1,
                                  .data = run->c->data + number * run->c->chunk + from,
                                  .length = (uint32_t)(slot->length - from),
                                  .offset = slot->at + from,
                                  .tag = number | (writes ? WRITE_TAG : 0),
                                  .linked = !writes};
}

/* The read, if there is something left to read, and the write behind it. There is always room: two for each slot. */
static void queue_slot(struct ring_run *run, unsigned number) {
  struct ring_slot *slot = &run->r->slots[number];
  const bool reads = slot->got < slot->length;
  slot->pending = 0;
  slot->reads = slot->writes = false;
  for (int writes = reads ? 0 : 1; writes < 2; writes++) {
    const struct os_ring_request wanted = request(run, number, writes != 0);
    int error = os_ring_queue(run->r->ring, &wanted);
    if (error) fail_slot(run, "queueing", slot->at, error);
    if (error) break;
    slot->pending++;
    if (writes)
      slot->writes = true;
    else
      slot->reads = true;
  }
  if (slot->pending > 0) return;
  run->in_flight--;
  run->r->free[run->r->free_count++] = number;
}

static void start_slot(struct ring_run *run) {
  struct rings *r = run->r;
  const unsigned number = r->free[--r->free_count];
  const size_t left = run->pair->length - run->next;
  r->slots[number] = (struct ring_slot){.at = run->next, .length = left < run->c->chunk ? left : run->c->chunk};
  run->next += r->slots[number].length;
  run->in_flight++;
  queue_slot(run, number);
}

/* The system put it off, or the one before it in its chain came short. */
static bool passes(struct ring_slot *slot, int32_t result) {
  return (result == -EAGAIN || result == -EINTR || result == -ECANCELED) && slot->retries++ < RETRIES_MAX;
}

/* Takes in what the last round brought. False where the slot cannot go on. */
static bool judge_slot(struct ring_run *run, struct ring_slot *slot) {
  if (slot->reads) {
    if (slot->read > 0) slot->got += (size_t)slot->read;
    if (slot->read <= 0 && !passes(slot, slot->read)) {
      fail_slot(run, "reading", slot->at + slot->got, slot->read ? slot->read : -ENODATA);
      return false;
    }
    if (slot->got < slot->length) return true; /* the write was not begun */
  }
  if (!slot->writes) return true;
  if (slot->written > 0) slot->put += (size_t)slot->written;
  if (slot->written > 0 || passes(slot, slot->written)) return true;
  fail_slot(run, "writing", slot->at + slot->put, slot->written ? slot->written : -EIO);
  return false;
}

/* After a failure nothing new is begun, but what is under way is taken in. */
static void complete(struct ring_run *run, const struct os_ring_completion *done) {
  const unsigned number = (unsigned)(done->tag & ~WRITE_TAG);
  struct ring_slot *slot = &run->r->slots[number];
  if (done->tag & WRITE_TAG)
    slot->written = done->result;
  else
    slot->read = done->result;
  if (--slot->pending > 0) return;
  if (judge_slot(run, slot) && slot->put < slot->length && !run->error) {
    queue_slot(run, number);
    return;
  }
  run->in_flight--;
  run->r->free[run->r->free_count++] = number;
}

static unsigned reap(struct ring_run *run) {
  struct os_ring_completion done[REAP_MAX];
  const unsigned count = os_ring_reap(run->r->ring, done, REAP_MAX);
  for (unsigned i = 0; i < count; i++) complete(run, &done[i]);
  return count;
}

/* A ring that refuses for good is given up. */
static void turn(struct ring_run *run, unsigned *idle) {
  const int error = os_ring_submit(run->r->ring, 1);
  if (reap(run) > 0 || error == 0) {
    *idle = 0;
    return;
  }
  if (error != -EAGAIN && error != -EBUSY && !run->error) run->error = target_refused(run->job, "submitting", error);
  if (++*idle < SUBMITS_MAX) {
    os_sleep_ns(1000000);
    return;
  }
  if (!run->error) run->error = target_refused(run->job, "submitting again and again", error);
  run->c->lost = true;
}

static int move_by_ring(struct copier *c, const struct weir_job *job, struct copier_pair *pair) {
  struct rings *r = c->own;
  struct ring_run run = {.c = c, .r = r, .job = job, .pair = pair};
  unsigned idle = 0;
  r->free_count = 0;
  for (unsigned i = 0; i < r->depth; i++) r->free[r->free_count++] = r->depth - 1 - i;
  for (;;) {
    while (!run.error && run.next < pair->length && r->free_count > 0) start_slot(&run);
    if (run.in_flight == 0 || c->lost) return run.error;
    turn(&run, &idle);
  }
}

#define RING_REMEDY "raise the limit on locked memory (ulimit -l), or use fewer threads or less depth, or copy/read-write"

static int setup_ring(struct copier *c, const struct weir_job *job) {
  struct rings *r = calloc(1, sizeof *r);
  if (!r) return job->host->fail(job, -ENOMEM, "no memory for the requests of a ring");
  c->own = r;
  r->depth = (unsigned)job->params[RING_DEPTH];
  int error = os_ring_open(2 * r->depth, &r->ring);
  if (error == -ENOMEM) target_remedy(job, RING_REMEDY);
  if (error) return target_refused(job, "opening a ring", error);
  return copier_get_buffers(c, job, r->depth);
}

static void free_ring(struct copier *c) {
  struct rings *r = c->own;
  if (!r || c->lost) return; /* the system may still use them; the process ends with this sample anyway */
  if (r->ring) os_ring_close(r->ring);
  free(r);
}

static int probe_ring(const struct weir_job *job, struct weir_reason *reason) {
  int error = os_ring_probe(reason->text, sizeof reason->text, reason->remedy, sizeof reason->remedy);
  if (error && !reason->remedy[0]) return target_unavailable(reason, error, "opening a ring", "use copy/read-write");
  return error ? error : copier_probe_extend(job, reason);
}

static const struct copier_way by_ring = {
    .chunked = true, .extends = true, .setup = setup_ring, .teardown = free_ring, .move = move_by_ring};
static const struct weir_param ring_params[] = {
    [COPIER_CHUNK] = COPIER_PARAM_CHUNK("256KiB", NULL),
    [COPIER_EXTEND] = METHODS_PARAM_EXTEND(METHODS_EXTEND_AT),
    [RING_DEPTH] = {.name = "depth",
                    .kind = WEIR_PARAM_COUNT,
                    .preset = "4",
                    .sweep = "1|4|16",
                    .min = 1,
                    .max = DEPTH_MAX,
                    WEIR_PARAM_EVERYWHERE,
                    .help = "chunks in flight"},
};

const struct weir_method methods_copy_ring = {
    COPIER_METHOD,
    .name = "copy/ring",
    .summary = "several chunks in flight by io_uring, each write linked to its read",
    .calls = "io_uring_enter(2), IOSQE_IO_LINK",
    .capabilities = WEIR_CAP_DEPTH,
    .params = ring_params,
    .param_count = METHODS_COUNT(ring_params),
    .probe = probe_ring,
    .data = &by_ring};
