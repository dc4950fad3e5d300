/*
 * direct.c - positional calls that pass the page cache by.
 *
 * One request at a time; ring.c has the queued form. What happens at the unaligned end of a file is told in aligned.h.
 */
#include <errno.h>

#include "aligned.h"
#include "landing.h"
#include "methods.h"
#include "target.h"

enum { PARAM_BLOCK, PARAM_BUFFER, PARAM_FLUSH };

struct direct_state {
  struct landing landing;
  size_t granule;
  os_file file, rest;
};

static int direct_setup(void *state, const struct weir_job *job) {
  struct direct_state *s = state;
  s->granule = aligned_granule(job);
  const enum weir_buffer_policy policy = (enum weir_buffer_policy)job->params[PARAM_BUFFER];
  return landing_setup(&s->landing, job, &(struct landing_wish){.policy = policy, .alignment = s->granule});
}

static bool writes_through(const struct weir_job *job) {
  return job->direction == WEIR_WRITE && job->durability == WEIR_DURABILITY_EACH &&
         job->params[PARAM_FLUSH] == METHODS_FLUSH_DSYNC;
}

static int direct_open(void *state, const struct weir_job *job) {
  struct direct_state *s = state;
  const unsigned flags = writes_through(job) ? OS_DATA_SYNC : 0;
  int error = target_open(job, OS_DIRECT | flags, &s->file);
  if (error) return error;
  error = aligned_open_rest(job, s->granule, flags, &s->rest);
  if (!error) error = landing_open(&s->landing, job);
  if (!error) return 0;
  (void)os_close(s->rest);
  (void)os_close(s->file);
  return error;
}

static int direct_close(void *state, const struct weir_job *job) {
  struct direct_state *s = state;
  landing_close(&s->landing, job);
  const int rest = target_close(job, s->rest), file = target_close(job, s->file);
  return rest ? rest : file;
}

static void direct_teardown(void *state, const struct weir_job *job) {
  landing_teardown(&((struct direct_state *)state)->landing, job);
}

/* ---- reading ------------------------------------------------------------------------------------------------------- */

/* After a short count. One that is no multiple of the granule is the end of the file; the next offset would be refused. */
static int read_on(const struct direct_state *s, const struct weir_job *job, struct landing_piece piece, int64_t count) {
  size_t done = 0;
  for (;;) {
    const uint64_t offset = piece.offset + done;
    if (count < 0) return target_failed(job, "reading", offset, piece.length - done, (int)count);
    done += (size_t)count;
    if (done >= piece.length) return 0;
    if (count == 0 || done % s->granule != 0) return target_ended(job, piece.offset + done);
    count = os_pread(s->file, piece.data + done, aligned_up(piece.length - done, s->granule), piece.offset + done);
  }
}

static int direct_run_pread(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  const struct direct_state *s = state;
  const uint64_t count = landing_count(job, budget);
  const size_t granule = s->granule;
  uint64_t done = 0;
  for (; done < count && !weir_stopped(flow); done++) {
    const uint64_t began = weir_operation_begin(flow);
    const struct landing_piece piece = landing_piece(&s->landing, job, done, 0);
    const int64_t got = os_pread(s->file, piece.data, aligned_up(piece.length, granule), piece.offset);
    int error = got >= (int64_t)piece.length ? 0 : read_on(s, job, piece, got);
    if (error) return error;
    landing_deliver(&s->landing, flow, piece);
    weir_operation_end(flow, began);
  }
  landing_deliver_rest(&s->landing, job, flow, done);
  return 0;
}

/* ---- writing ------------------------------------------------------------------------------------------------------- */

static int write_granules(const struct direct_state *s, const struct weir_job *job, struct landing_piece piece,
                          size_t length) {
  for (size_t done = 0; done < length;) {
    const uint64_t offset = piece.offset + done;
    int64_t count = os_pwrite(s->file, piece.data + done, length - done, offset);
    if (count == 0 || (count > 0 && (size_t)count % s->granule != 0)) count = -EIO; /* nowhere to go on from */
    if (count < 0) return target_failed(job, "writing", offset, length - done, (int)count);
    done += (size_t)count;
  }
  return 0;
}

static int write_piece(const struct direct_state *s, const struct weir_job *job, struct landing_piece piece) {
  const size_t direct = aligned_down(piece.length, s->granule), left = piece.length - direct;
  int error = write_granules(s, job, piece, direct);
  if (error || left == 0) return error;
  return aligned_write_rest(job, s->rest, piece.data + direct, left, piece.offset + direct);
}

/* The page cache is passed by, the device's own cache is not. Both descriptors are the same file. */
static int flush_piece(const struct direct_state *s, const struct weir_job *job, struct landing_piece piece) {
  int error = os_sync(s->file, false);
  return error ? target_failed(job, "flushing", piece.offset, piece.length, error) : 0;
}

static int direct_run_pwrite(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  const struct direct_state *s = state;
  const uint64_t count = landing_count(job, budget);
  const bool flush_each = job->durability == WEIR_DURABILITY_EACH && !writes_through(job);
  uint64_t done = 0;
  landing_supply_all(&s->landing, job, flow, count);
  for (; done < count && !weir_stopped(flow); done++) {
    const struct landing_piece piece = landing_piece(&s->landing, job, done, 0);
    landing_supply(&s->landing, flow, piece);
    const uint64_t began = weir_operation_begin(flow);
    int error = write_piece(s, job, piece);
    if (!error && flush_each) error = flush_piece(s, job, piece);
    if (error) return error;
    weir_operation_end(flow, began);
  }
  landing_settle(&s->landing, job, flow, count, done);
  return 0;
}

static int direct_sync(void *state, const struct weir_job *job) {
  const struct direct_state *s = state;
  int error = s->rest == os_no_file ? 0 : os_sync(s->rest, false);
  return error ? target_refused(job, "flushing the unaligned end", error) : target_sync(job, s->file);
}

static const struct weir_param direct_params[] = {
    [PARAM_BLOCK] = LANDING_PARAM_BLOCK(LANDING_BLOCK_SWEEP),
    [PARAM_BUFFER] = LANDING_PARAM_BUFFER(LANDING_BUFFER_SWEEP),
    [PARAM_FLUSH] = METHODS_PARAM_FLUSH,
};

#define DIRECT_METHOD                                                                                              \
  METHODS_ABI, .tasks = METHODS_BOTH_TASKS, .accesses = METHODS_BOTH_ACCESSES, .params = direct_params,            \
               .capabilities = WEIR_CAP_DIRECT, .state_size = sizeof(struct direct_state), .probe = aligned_probe, \
               .setup = direct_setup, .open = direct_open, .close = direct_close, .teardown = direct_teardown

const struct weir_method methods_direct_pread = {DIRECT_METHOD,
                                                 METHODS_READS,
                                                 .name = "direct/pread",
                                                 .summary = "positional reads past the page cache",
                                                 .calls = "open(2) O_DIRECT, pread(2) in a loop",
                                                 .param_count = PARAM_FLUSH,
                                                 .run = direct_run_pread};

const struct weir_method methods_direct_pwrite = {
    DIRECT_METHOD,
    METHODS_WRITES,
    .name = "direct/pwrite",
    .summary = "positional writes past the page cache",
    .calls = "open(2) O_DIRECT, pwrite(2) in a loop, the unaligned end buffered; fdatasync(2) or O_DSYNC",
    .param_count = METHODS_COUNT(direct_params),
    .run = direct_run_pwrite,
    .sync = direct_sync};
