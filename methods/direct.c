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

enum { PARAM_BLOCK, PARAM_BUFFER, PARAM_FLUSH, PARAM_EXTEND };
enum { MIXED_FLUSH = 1 };

struct direct_state {
  struct landing landing;
  size_t granule;
  os_file file, rest;
  enum methods_flush flush;
  enum target_extend extend;
};

static int setup_with(struct direct_state *s, const struct weir_job *job, enum weir_buffer_policy policy) {
  s->granule = aligned_granule(job);
  return landing_setup(&s->landing, job, &(struct landing_wish){.policy = policy, .alignment = s->granule});
}
static int direct_setup_reader(void *state, const struct weir_job *job) {
  return setup_with(state, job, (enum weir_buffer_policy)job->params[PARAM_BUFFER]);
}
static int direct_setup_writer(void *state, const struct weir_job *job) {
  struct direct_state *s = state;
  s->flush = (enum methods_flush)job->params[PARAM_FLUSH];
  s->extend = (enum target_extend)job->params[PARAM_EXTEND];
  return setup_with(s, job, (enum weir_buffer_policy)job->params[PARAM_BUFFER]);
}
static int direct_setup_mixer(void *state, const struct weir_job *job) {
  struct direct_state *s = state;
  s->flush = (enum methods_flush)job->params[MIXED_FLUSH];
  return setup_with(s, job, WEIR_BUFFER_REUSED);
}

static int direct_probe_writer(const struct weir_job *job, struct weir_reason *reason) {
  int error = target_probe_extend(job, (enum target_extend)job->params[PARAM_EXTEND], reason);
  return error ? error : aligned_probe(job, reason);
}

static bool writes_through(const struct direct_state *s, const struct weir_job *job) {
  return job->durability == WEIR_DURABILITY_EACH && s->flush == METHODS_FLUSH_DSYNC;
}
static bool flushes_each(const struct direct_state *s, const struct weir_job *job) {
  return job->durability == WEIR_DURABILITY_EACH && s->flush == METHODS_FLUSH_DATASYNC;
}

static int direct_open(void *state, const struct weir_job *job) {
  struct direct_state *s = state;
  const unsigned flags = writes_through(s, job) ? OS_DATA_SYNC : 0;
  int error = target_open_extending(job, OS_DIRECT | flags, s->extend, &s->file);
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

static int read_piece(const struct direct_state *s, const struct weir_job *job, struct landing_piece piece) {
  const int64_t got = os_pread(s->file, piece.data, aligned_up(piece.length, s->granule), piece.offset);
  return got >= (int64_t)piece.length ? 0 : read_on(s, job, piece, got);
}

static int direct_run_pread(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  const struct direct_state *s = state;
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
  const bool flush_each = flushes_each(s, job);
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

static int direct_run_mixed(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  const struct direct_state *s = state;
  const uint64_t count = landing_count(job, budget);
  const bool flush_each = flushes_each(s, job);
  for (uint64_t done = 0; done < count && !weir_stopped(flow); done++) {
    const struct landing_piece piece = landing_piece(&s->landing, job, done, 0);
    const bool writes = weir_order_writes(job, piece.offset);
    if (writes) landing_supply(&s->landing, flow, piece);
    const uint64_t began = weir_operation_begin(flow);
    int error = writes ? write_piece(s, job, piece) : read_piece(s, job, piece);
    if (!error && writes && flush_each) error = flush_piece(s, job, piece);
    if (error) return error;
    if (!writes) landing_deliver(&s->landing, flow, piece);
    weir_operation_end(flow, began);
  }
  return 0;
}

static int direct_sync(void *state, const struct weir_job *job) {
  const struct direct_state *s = state;
  int error = s->rest == os_no_file ? 0 : os_sync(s->rest, false);
  return error ? target_refused(job, "flushing the unaligned end", error) : target_sync(job, s->file);
}

static const struct weir_param reader_params[] = {
    [PARAM_BLOCK] = LANDING_PARAM_BLOCK(LANDING_BLOCK_SWEEP),
    [PARAM_BUFFER] = LANDING_PARAM_BUFFER(LANDING_BUFFER_SWEEP),
};
static const struct weir_param writer_params[] = {
    [PARAM_BLOCK] = LANDING_PARAM_BLOCK(LANDING_BLOCK_SWEEP),
    [PARAM_BUFFER] = LANDING_PARAM_BUFFER(LANDING_BUFFER_SWEEP),
    [PARAM_FLUSH] = METHODS_PARAM_FLUSH,
    [PARAM_EXTEND] = METHODS_PARAM_EXTEND(METHODS_EXTEND_AT),
};
static const struct weir_param mixed_params[] = {
    [PARAM_BLOCK] = LANDING_PARAM_BLOCK(LANDING_BLOCK_SWEEP),
    [MIXED_FLUSH] = METHODS_PARAM_FLUSH,
};

#define DIRECT_METHOD                                                                                   \
  METHODS_ABI, .accesses = METHODS_BOTH_ACCESSES, .capabilities = WEIR_CAP_DIRECT | WEIR_CAP_PACED, .open = direct_open, \
               .state_size = sizeof(struct direct_state), .close = direct_close, .teardown = direct_teardown

const struct weir_method methods_direct_pread = {DIRECT_METHOD,
                                                 METHODS_READS,
                                                 .tasks = METHODS_BOTH_TASKS,
                                                 .name = "direct/pread",
                                                 .summary = "positional reads past the page cache",
                                                 .calls = "open(2) O_DIRECT, pread(2) in a loop",
                                                 .params = reader_params,
                                                 .param_count = METHODS_COUNT(reader_params),
                                                 .probe = aligned_probe,
                                                 .setup = direct_setup_reader,
                                                 .run = direct_run_pread};

const struct weir_method methods_direct_pwrite = {
    DIRECT_METHOD,
    METHODS_WRITES,
    .tasks = METHODS_BOTH_TASKS,
    .name = "direct/pwrite",
    .summary = "positional writes past the page cache",
    .calls = "open(2) O_DIRECT, pwrite(2) in a loop, the unaligned end buffered; fdatasync(2) or O_DSYNC",
    .params = writer_params,
    .param_count = METHODS_COUNT(writer_params),
    .probe = direct_probe_writer,
    .setup = direct_setup_writer,
    .run = direct_run_pwrite,
    .sync = direct_sync};

const struct weir_method methods_direct_mixed = {
    DIRECT_METHOD,
    METHODS_MIXES,
    .name = "direct/mixed",
    .summary = "positional reads and writes of one file past the page cache",
    .calls = "open(2) O_DIRECT | O_RDWR, pread(2) or pwrite(2) in a loop; fdatasync(2) or O_DSYNC",
    .params = mixed_params,
    .param_count = METHODS_COUNT(mixed_params),
    .probe = aligned_probe,
    .setup = direct_setup_mixer,
    .run = direct_run_mixed,
    .sync = direct_sync};
