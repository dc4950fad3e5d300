/*
 * many_ring.c - reads many files with several of them in flight: for each, an open, a read and a close, linked, so that one
 * system call has many files opened, read and closed. The files get no descriptors; only the ring sees them.
 *
 * The read asks for one byte more than the job's files have, so it always meets the end; the close is begun whatever the
 * read did. What the system puts off or delivers short is read once more by plain calls. Memory belongs to the system until
 * its completion is taken, so run never returns before all are in.
 */
#include <errno.h>
#include <stdlib.h>

#include "files.h"
#include "methods.h"
#include "target.h"

enum { RING_DEPTH };
#define DEPTH_MAX 1024u
#define REAP_MAX 64u
#define SUBMITS_MAX 50u /* in a row that brought nothing; os.h waits a tenth of a second in each */
#define REQUESTS 3u     /* for each file */
#define BLOCK_MAX (UINT64_C(1) << 30)

enum step { STEP_OPEN, STEP_READ, STEP_CLOSE };

struct many_slot {
  struct files files; /* its name has to stay as long as the request */
  uint64_t offset, began;
  unsigned pending;
  int32_t results[REQUESTS];
};

struct many_ring {
  struct os_ring *ring;
  unsigned depth, free_count;
  struct many_slot *slots;
  unsigned *free;
  unsigned char *data;
  size_t size, stride;
  bool lost; /* the system may still write to `data` */
};

struct many_run {
  struct many_ring *m;
  const struct weir_job *job;
  struct weir_flow *flow;
  uint64_t next, count;
  unsigned in_flight;
  int error;
};

/* ---- set-up -------------------------------------------------------------------------------------------------------- */

#define REMEDY "raise the limit on locked memory (ulimit -l), or use fewer threads or less depth, or many/read"

static int get_memory(struct many_ring *m, const struct weir_job *job) {
  const size_t page = os_page_size();
  void *room = NULL;
  m->stride = ((size_t)job->block + 1 + page - 1) / page * page;
  m->size = m->stride * m->depth;
  int error = job->host->buffer_get(job, m->size, 1, WEIR_BUFFER_REUSED, &room);
  if (error) return job->host->fail(job, error, "no memory for %u files in flight", m->depth);
  m->data = room;
  m->slots = calloc(m->depth, sizeof *m->slots);
  m->free = calloc(m->depth, sizeof *m->free);
  if (!m->slots || !m->free) return job->host->fail(job, -ENOMEM, "no memory for %u files in flight", m->depth);
  for (unsigned i = 0; i < m->depth && !error; i++) error = files_setup(&m->slots[i].files, job);
  return error;
}

static int many_ring_setup(void *state, const struct weir_job *job) {
  struct many_ring *m = state;
  m->depth = (unsigned)job->params[RING_DEPTH];
  int error = os_ring_open(REQUESTS * m->depth, &m->ring);
  if (error == -ENOMEM) target_remedy(job, REMEDY);
  if (error) return target_refused(job, "opening a ring", error);
  error = os_ring_reserve_files(m->ring, m->depth);
  return error ? target_refused(job, "making room for files in a ring", error) : get_memory(m, job);
}

static int nothing(void *state, const struct weir_job *job) {
  (void)state, (void)job;
  return 0;
}

static void many_ring_teardown(void *state, const struct weir_job *job) {
  struct many_ring *m = state;
  if (m->lost) return; /* the process ends with this sample anyway */
  if (m->ring) os_ring_close(m->ring);
  for (unsigned i = 0; i < m->depth && m->slots; i++) files_teardown(&m->slots[i].files);
  if (m->data) job->host->buffer_put(job, m->data, m->size);
  free(m->slots);
  free(m->free);
}

/* ---- one file ------------------------------------------------------------------------------------------------------ */

static unsigned char *memory_of(const struct many_ring *m, unsigned number) { return m->data + number * m->stride; }

static struct os_ring_request request(const struct many_run *r, unsigned number, enum step step) {
  const struct many_slot *slot = &r->m->slots[number];
  struct os_ring_request wanted = {.buffer_index = -1, .slot = number, .tag = number * REQUESTS + (unsigned)step};
  if (step == STEP_OPEN) {
    wanted.kind = OS_RING_OPEN;
    wanted.path = slot->files.source;
    wanted.linked = true;
  } else if (step == STEP_READ) {
    wanted.kind = OS_RING_READ;
    wanted.registered_file = wanted.linked_anyway = true;
    wanted.data = memory_of(r->m, number);
    wanted.length = (uint32_t)weir_order_length(r->job, slot->offset) + 1;
  } else {
    wanted.kind = OS_RING_CLOSE;
  }
  return wanted;
}

static void give_back(struct many_run *r, unsigned number) {
  r->in_flight--;
  r->m->free[r->m->free_count++] = number;
}

/* There is always room: three requests for each slot. */
static void start(struct many_run *r) {
  struct many_ring *m = r->m;
  const unsigned number = m->free[--m->free_count];
  struct many_slot *slot = &m->slots[number];
  slot->began = weir_operation_begin(r->flow);
  slot->offset = weir_order_offset(r->job, r->next++);
  slot->pending = 0;
  (void)files_source(&slot->files, r->job, slot->offset);
  r->in_flight++;
  for (enum step step = STEP_OPEN; step <= STEP_CLOSE; step++) {
    const struct os_ring_request wanted = request(r, number, step);
    int error = os_ring_queue(m->ring, &wanted);
    slot->results[step] = -ECANCELED;
    if (error && !r->error) r->error = files_failed(r->job, "queueing", slot->offset, error);
    if (error) break;
    slot->pending++;
  }
  if (slot->pending == 0) give_back(r, number);
}

/* By plain calls, from byte `done` on; the file is right where it then has the job's length and no byte more. */
static int read_by_hand(struct many_run *r, unsigned number, size_t done) {
  struct many_slot *slot = &r->m->slots[number];
  const size_t length = weir_order_length(r->job, slot->offset);
  os_file file;
  int error = files_open(&slot->files, r->job, slot->offset, 0, &file);
  if (error) return error;
  while (done <= length && !error) {
    const int64_t count = os_pread(file, memory_of(r->m, number) + done, length + 1 - done, done);
    if (count < 0) error = files_failed(r->job, "reading", slot->offset + done, (int)count);
    if (count <= 0) break;
    done += (size_t)count;
  }
  if (!error && done < length) error = files_ended(r->job, slot->offset + done);
  if (!error && done > length) error = files_too_long(r->job, slot->offset);
  const int closed = os_close(file);
  return error || !closed ? error : files_failed(r->job, "closing", slot->offset, closed);
}

static bool put_off(int32_t result) { return result == -EAGAIN || result == -EINTR; }

/* What the three completions of a file say: 0 where its bytes are there. */
static int judge(struct many_run *r, unsigned number) {
  const struct many_slot *slot = &r->m->slots[number];
  const int32_t opened = slot->results[STEP_OPEN], count = slot->results[STEP_READ], closed = slot->results[STEP_CLOSE];
  const size_t length = weir_order_length(r->job, slot->offset);
  if (opened < 0 && !put_off(opened)) return files_failed(r->job, "opening", slot->offset, opened);
  if (opened < 0 || put_off(count)) return read_by_hand(r, number, 0);
  if (count < 0) return files_failed(r->job, "reading", slot->offset, count);
  if ((size_t)count != length) return read_by_hand(r, number, (size_t)count);
  return closed < 0 && !put_off(closed) ? files_failed(r->job, "closing", slot->offset, closed) : 0;
}

/* After a failure nothing new is begun, but what is under way is taken in. */
static void complete(struct many_run *r, const struct os_ring_completion *done) {
  const unsigned number = (unsigned)(done->tag / REQUESTS);
  struct many_slot *slot = &r->m->slots[number];
  slot->results[done->tag % REQUESTS] = done->result;
  if (--slot->pending > 0) return;
  int error = judge(r, number);
  if (error && !r->error) r->error = error;
  if (!error) {
    weir_deliver(r->flow, slot->offset, memory_of(r->m, number), weir_order_length(r->job, slot->offset));
    weir_operation_end(r->flow, slot->began);
  }
  give_back(r, number);
}

/* ---- the run ------------------------------------------------------------------------------------------------------- */

static unsigned reap(struct many_run *r) {
  struct os_ring_completion done[REAP_MAX];
  const unsigned count = os_ring_reap(r->m->ring, done, REAP_MAX);
  for (unsigned i = 0; i < count; i++) complete(r, &done[i]);
  return count;
}

/* A ring that refuses for good is given up. */
static void turn(struct many_run *r, unsigned *idle) {
  const int error = os_ring_submit(r->m->ring, REQUESTS);
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
  r->m->lost = true;
}

static int many_ring_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct many_ring *m = state;
  struct many_run r = {.m = m, .job = job, .flow = flow, .count = budget < job->operations ? budget : job->operations};
  unsigned idle = 0;
  m->free_count = 0;
  for (unsigned i = 0; i < m->depth; i++) m->free[m->free_count++] = m->depth - 1 - i;
  for (;;) {
    while (!r.error && r.next < r.count && m->free_count > 0 && !weir_stopped(flow)) start(&r);
    if (r.in_flight == 0 || m->lost) return r.error;
    turn(&r, &idle);
  }
}

/* ---- can it be had here? ------------------------------------------------------------------------------------------- */

static int queue_trial(struct os_ring *ring, const char *path, char *byte) {
  const struct os_ring_request wanted[] = {
      {.kind = OS_RING_OPEN, .buffer_index = -1, .path = path, .linked = true, .tag = STEP_OPEN},
      {.kind = OS_RING_READ,
       .buffer_index = -1,
       .registered_file = true,
       .linked_anyway = true,
       .data = byte,
       .length = 1,
       .tag = STEP_READ},
      {.kind = OS_RING_CLOSE, .buffer_index = -1, .tag = STEP_CLOSE}};
  int error = 0;
  for (size_t i = 0; i < REQUESTS && !error; i++) error = os_ring_queue(ring, &wanted[i]);
  return error ? error : os_ring_submit(ring, REQUESTS);
}

/* Opens the directory in the ring, is refused its bytes, closes it: then all three requests are known. */
static int try_chain(struct os_ring *ring, const struct weir_job *job) {
  struct os_ring_completion done[REQUESTS];
  int32_t results[REQUESTS] = {-EINVAL, -EINVAL, -EINVAL};
  char byte;
  int error = queue_trial(ring, job->directory, &byte);
  if (error) return error;
  const unsigned count = os_ring_reap(ring, done, REQUESTS);
  for (unsigned i = 0; i < count; i++) results[done[i].tag] = done[i].result;
  if (results[STEP_OPEN] < 0) return results[STEP_OPEN];
  return results[STEP_READ] == -EISDIR ? results[STEP_CLOSE] : -EOPNOTSUPP;
}

#define NEWER "use many/read, or Linux 5.19 or later"

static int many_ring_probe(const struct weir_job *job, struct weir_reason *reason) {
  struct os_ring *ring;
  if (job->block >= BLOCK_MAX) return target_unfit(reason, -EFBIG, "files as large as that", "use files below 1 GiB");
  int error = os_ring_probe(reason->text, sizeof reason->text, reason->remedy, sizeof reason->remedy);
  if (error && reason->remedy[0]) return error;
  if (!error) error = os_ring_open(REQUESTS, &ring);
  if (error) return target_unavailable(reason, error, "opening a ring", "use many/read");
  error = os_ring_reserve_files(ring, 1);
  if (!error) error = try_chain(ring, job);
  os_ring_close(ring);
  return error ? target_unavailable(reason, error, "files that only a ring sees", NEWER) : 0;
}

static const struct weir_param ring_params[] = {[RING_DEPTH] = {.name = "depth",
                                                                .kind = WEIR_PARAM_COUNT,
                                                                .preset = "16",
                                                                .sweep = "1|16|64",
                                                                .min = 1,
                                                                .max = DEPTH_MAX,
                                                                WEIR_PARAM_EVERYWHERE,
                                                                .help = "files in flight"}};

const struct weir_method methods_many_ring = {METHODS_ABI,
                                              METHODS_READS,
                                              .name = "many/ring",
                                              .summary = "several files in flight by io_uring: open, read and close linked",
                                              .calls = "io_uring_enter(2), direct descriptors, IOSQE_IO_LINK and _HARDLINK",
                                              .tasks = WEIR_BIT(WEIR_TASK_MANY),
                                              .accesses = METHODS_BOTH_ACCESSES,
                                              .capabilities = WEIR_CAP_DEPTH,
                                              .params = ring_params,
                                              .param_count = METHODS_COUNT(ring_params),
                                              .state_size = sizeof(struct many_ring),
                                              .probe = many_ring_probe,
                                              .setup = many_ring_setup,
                                              .open = nothing,
                                              .run = many_ring_run,
                                              .close = nothing,
                                              .teardown = many_ring_teardown};
