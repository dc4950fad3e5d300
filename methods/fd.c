/*
 * fd.c - plain system calls on a descriptor: positional (pread, pwrite) and at the current position (read, write).
 *
 * Buffered by the page cache; nothing is hinted. The run loops differ from each other by one constant, which the compiler
 * folds, so a positional operation costs its system call and a few instructions.
 */
#include <errno.h>

#include "landing.h"
#include "methods.h"
#include "target.h"

enum { PARAM_BLOCK, PARAM_BUFFER, PARAM_FLUSH };

struct fd_state {
  struct landing landing;
  os_file file;
};

static int fd_setup(void *state, const struct weir_job *job) {
  struct fd_state *s = state;
  return landing_setup(&s->landing, job,
                       &(struct landing_wish){.policy = (enum weir_buffer_policy)job->params[PARAM_BUFFER]});
}

static int fd_open_with(struct fd_state *s, const struct weir_job *job, unsigned flags) {
  int error = target_open(job, flags, &s->file);
  if (error) return error;
  error = landing_open(&s->landing, job);
  if (error) (void)os_close(s->file);
  return error;
}

static bool writes_through(const struct weir_job *job) {
  return job->durability == WEIR_DURABILITY_EACH && job->params[PARAM_FLUSH] == METHODS_FLUSH_DSYNC;
}

static int fd_open_reader(void *state, const struct weir_job *job) { return fd_open_with(state, job, 0); }
static int fd_open_writer(void *state, const struct weir_job *job) {
  return fd_open_with(state, job, writes_through(job) ? OS_DATA_SYNC : 0);
}

static int seek_to(const struct fd_state *s, const struct weir_job *job, uint64_t offset) {
  int error = os_seek(s->file, offset);
  return error ? target_failed(job, "seeking to", offset, 0, error) : 0;
}

/* ---- reading ------------------------------------------------------------------------------------------------------- */

/* The rest of a piece whose first call transferred `count` (or failed). Kept out of the loop: it is rarely needed. */
static int read_on(const struct fd_state *s, const struct weir_job *job, struct landing_piece piece, int64_t count,
                   bool positional) {
  size_t done = 0;
  for (;;) {
    const uint64_t offset = piece.offset + done;
    if (count < 0) return target_failed(job, "reading", offset, piece.length - done, (int)count);
    if (count == 0) return target_ended(job, offset);
    done += (size_t)count;
    if (done == piece.length) return 0;
    unsigned char *data = piece.data + done;
    count = positional ? os_pread(s->file, data, piece.length - done, piece.offset + done)
                       : os_read(s->file, data, piece.length - done);
  }
}

static inline int read_piece(const struct fd_state *s, const struct weir_job *job, struct landing_piece piece,
                             bool positional) {
  const int64_t count =
      positional ? os_pread(s->file, piece.data, piece.length, piece.offset) : os_read(s->file, piece.data, piece.length);
  return count == (int64_t)piece.length ? 0 : read_on(s, job, piece, count, positional);
}

static inline int read_pieces(const struct fd_state *s, const struct weir_job *job, struct weir_flow *flow, uint64_t count,
                              bool positional) {
  const bool seek_each = !positional && job->access == WEIR_RANDOM;
  uint64_t done = 0;
  for (; done < count && !weir_stopped(flow); done++) {
    const uint64_t began = weir_operation_begin(flow);
    const struct landing_piece piece = landing_piece(&s->landing, job, done, 0);
    int error = seek_each ? seek_to(s, job, piece.offset) : 0;
    if (!error) error = read_piece(s, job, piece, positional);
    if (error) return error;
    landing_deliver(&s->landing, flow, piece);
    weir_operation_end(flow, began);
  }
  landing_deliver_rest(&s->landing, job, flow, done);
  return 0;
}

static int fd_run_pread(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  return read_pieces(state, job, flow, landing_count(job, budget), true);
}

/* A new descriptor stands at 0; an instance that works on a later partition, or at random, has to move it. */
static int to_partition(const struct fd_state *s, const struct weir_job *job) {
  return job->access == WEIR_SEQUENTIAL && job->part_offset > 0 ? seek_to(s, job, job->part_offset) : 0;
}

static int fd_run_read(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  int error = to_partition(state, job);
  return error ? error : read_pieces(state, job, flow, landing_count(job, budget), false);
}

/* ---- writing ------------------------------------------------------------------------------------------------------- */

static int write_on(const struct fd_state *s, const struct weir_job *job, struct landing_piece piece, int64_t count,
                    bool positional) {
  size_t done = 0;
  for (;;) {
    const uint64_t offset = piece.offset + done;
    if (count == 0) count = -EIO; /* neither progress nor a reason: trying again might never end */
    if (count < 0) return target_failed(job, "writing", offset, piece.length - done, (int)count);
    done += (size_t)count;
    if (done == piece.length) return 0;
    const unsigned char *data = piece.data + done;
    count = positional ? os_pwrite(s->file, data, piece.length - done, piece.offset + done)
                       : os_write(s->file, data, piece.length - done);
  }
}

static inline int write_piece(const struct fd_state *s, const struct weir_job *job, struct landing_piece piece,
                              bool positional) {
  const int64_t count =
      positional ? os_pwrite(s->file, piece.data, piece.length, piece.offset) : os_write(s->file, piece.data, piece.length);
  return count == (int64_t)piece.length ? 0 : write_on(s, job, piece, count, positional);
}

static int flush_piece(const struct fd_state *s, const struct weir_job *job, struct landing_piece piece) {
  int error = os_sync(s->file, false);
  return error ? target_failed(job, "flushing", piece.offset, piece.length, error) : 0;
}

static inline int write_pieces(const struct fd_state *s, const struct weir_job *job, struct weir_flow *flow, uint64_t count,
                               bool positional) {
  const bool seek_each = !positional && job->access == WEIR_RANDOM;
  const bool flush_each = job->durability == WEIR_DURABILITY_EACH && !writes_through(job);
  uint64_t done = 0;
  landing_supply_all(&s->landing, job, flow, count);
  for (; done < count && !weir_stopped(flow); done++) {
    const struct landing_piece piece = landing_piece(&s->landing, job, done, 0);
    landing_supply(&s->landing, flow, piece);
    const uint64_t began = weir_operation_begin(flow);
    int error = seek_each ? seek_to(s, job, piece.offset) : 0;
    if (!error) error = write_piece(s, job, piece, positional);
    if (!error && flush_each) error = flush_piece(s, job, piece);
    if (error) return error;
    weir_operation_end(flow, began);
  }
  landing_settle(&s->landing, job, flow, count, done);
  return 0;
}

static int fd_run_pwrite(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  return write_pieces(state, job, flow, landing_count(job, budget), true);
}

static int fd_run_write(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  int error = to_partition(state, job);
  return error ? error : write_pieces(state, job, flow, landing_count(job, budget), false);
}

/* ---- ends ---------------------------------------------------------------------------------------------------------- */

static int fd_sync(void *state, const struct weir_job *job) { return target_sync(job, ((struct fd_state *)state)->file); }

static int fd_close(void *state, const struct weir_job *job) {
  struct fd_state *s = state;
  landing_close(&s->landing, job);
  return target_close(job, s->file);
}

static void fd_teardown(void *state, const struct weir_job *job) {
  landing_teardown(&((struct fd_state *)state)->landing, job);
}

static const struct weir_param fd_params[] = {
    [PARAM_BLOCK] = LANDING_PARAM_BLOCK(LANDING_BLOCK_SWEEP),
    [PARAM_BUFFER] = LANDING_PARAM_BUFFER(LANDING_BUFFER_SWEEP),
    [PARAM_FLUSH] = METHODS_PARAM_FLUSH,
};

/* Readers have no `flush`. */
#define FD_READER                                                                                                   \
  METHODS_ABI, METHODS_READS, .tasks = METHODS_BOTH_TASKS, .accesses = METHODS_BOTH_ACCESSES, .params = fd_params,  \
                              .param_count = PARAM_FLUSH, .state_size = sizeof(struct fd_state), .setup = fd_setup, \
                              .open = fd_open_reader, .close = fd_close, .teardown = fd_teardown
#define FD_WRITER                                                                                                   \
  METHODS_ABI, METHODS_WRITES, .tasks = METHODS_BOTH_TASKS, .accesses = METHODS_BOTH_ACCESSES, .params = fd_params, \
                               .param_count = METHODS_COUNT(fd_params), .state_size = sizeof(struct fd_state),      \
                               .setup = fd_setup, .open = fd_open_writer, .sync = fd_sync, .close = fd_close,       \
                               .teardown = fd_teardown

const struct weir_method methods_fd_pread = {FD_READER, .name = "fd/pread",
                                             .summary = "positional reads through the page cache",
                                             .calls = "open(2), pread(2) in a loop", .run = fd_run_pread};

const struct weir_method methods_fd_read = {
    FD_READER, .name = "fd/read", .summary = "reads at the current position through the page cache",
    .calls = "open(2), read(2) in a loop; lseek(2) before each random one", .run = fd_run_read};

const struct weir_method methods_fd_pwrite = {
    FD_WRITER, .name = "fd/pwrite", .summary = "positional writes through the page cache",
    .calls = "open(2), pwrite(2) in a loop; fdatasync(2) or O_DSYNC", .run = fd_run_pwrite};

const struct weir_method methods_fd_write = {
    FD_WRITER, .name = "fd/write", .summary = "writes at the current position through the page cache",
    .calls = "open(2), write(2) in a loop; lseek(2) before each random one; fdatasync(2) or O_DSYNC", .run = fd_run_write};
