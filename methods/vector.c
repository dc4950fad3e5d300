/*
 * vector.c - one request from or to several pieces of memory (readv, writev), and the positional calls with flags (preadv2,
 * pwritev2). The pieces lie side by side in one buffer, so only the cost of the call differs from fd.c.
 */
#include "transfer.h"

enum { READER_PIECES = TRANSFER_READER_OWN, READER_FLAGS };
enum { WRITER_PIECES = TRANSFER_WRITER_OWN, WRITER_FLAGS };

/* The values of `flags`. */
static const unsigned flag_words[] = {0, OS_TRANSFER_POLLED};

/* Cuts a request into pieces of one size; the last takes what is left. None is empty. */
static unsigned cut(const struct transfer *t, unsigned char *data, size_t length, struct os_piece *out) {
  const size_t share = length / t->pieces ? length / t->pieces : 1;
  unsigned count = 0;
  for (; count + 1 < t->pieces && length > share; count++, data += share, length -= share)
    out[count] = (struct os_piece){data, share};
  out[count++] = (struct os_piece){data, length};
  return count;
}

static int64_t read_here(const struct transfer *t, unsigned char *data, size_t length, uint64_t offset) {
  struct os_piece pieces[TRANSFER_PIECES_MAX];
  (void)offset;
  return os_readv(t->file, pieces, cut(t, data, length, pieces));
}
static int64_t write_here(const struct transfer *t, unsigned char *data, size_t length, uint64_t offset) {
  struct os_piece pieces[TRANSFER_PIECES_MAX];
  (void)offset;
  return os_writev(t->file, pieces, cut(t, data, length, pieces));
}
static int64_t read_at(const struct transfer *t, unsigned char *data, size_t length, uint64_t offset) {
  struct os_piece pieces[TRANSFER_PIECES_MAX];
  return os_preadv(t->file, pieces, cut(t, data, length, pieces), offset, t->flags);
}
static int64_t write_at(const struct transfer *t, unsigned char *data, size_t length, uint64_t offset) {
  struct os_piece pieces[TRANSFER_PIECES_MAX];
  return os_pwritev(t->file, pieces, cut(t, data, length, pieces), offset, t->flags);
}

static const struct transfer_way here = {.positional = false, .read = read_here, .write = write_here};
static const struct transfer_way at = {.positional = true, .read = read_at, .write = write_at};

static int setup_reader(void *state, const struct weir_job *job) {
  ((struct transfer *)state)->pieces = (unsigned)job->params[READER_PIECES];
  return transfer_setup_reader(state, job);
}
static int setup_flag_reader(void *state, const struct weir_job *job) {
  ((struct transfer *)state)->flags = flag_words[job->params[READER_FLAGS]];
  return setup_reader(state, job);
}
static int setup_writer(void *state, const struct weir_job *job) {
  ((struct transfer *)state)->pieces = (unsigned)job->params[WRITER_PIECES];
  return transfer_setup_writer(state, job);
}
static int setup_flag_writer(void *state, const struct weir_job *job) {
  ((struct transfer *)state)->flags = flag_words[job->params[WRITER_FLAGS]];
  return setup_writer(state, job);
}

#define FLAGS_REMEDY "use flags=none, or another file system"

static int probe_flag_reader(const struct weir_job *job, struct weir_reason *reason) {
  return transfer_probe_flags(job, flag_words[job->params[READER_FLAGS]], FLAGS_REMEDY, reason);
}
static int probe_flag_writer(const struct weir_job *job, struct weir_reason *reason) {
  int error = transfer_probe_writer(job, reason);
  return error ? error : transfer_probe_flags(job, flag_words[job->params[WRITER_FLAGS]], FLAGS_REMEDY, reason);
}

static int run_readv(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  return transfer_read(state, job, flow, budget, here);
}
static int run_preadv2(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  return transfer_read(state, job, flow, budget, at);
}
static int run_writev(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  return transfer_write(state, job, flow, budget, here);
}
static int run_pwritev2(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  return transfer_write(state, job, flow, budget, at);
}

#define PARAM_PIECES(usual)                                                                              \
  {                                                                                                      \
    .name = "pieces", .kind = WEIR_PARAM_COUNT, .preset = (usual), .min = 1, .max = TRANSFER_PIECES_MAX, \
    WEIR_PARAM_EVERYWHERE, .help = "pieces of memory that a request names"                               \
  }
#define PARAM_FLAGS                                                                                               \
  {                                                                                                               \
    .name = "flags", .kind = WEIR_PARAM_CHOICE, .preset = "none", .choices = "none|hipri", WEIR_PARAM_EVERYWHERE, \
    .help = "hipri: the device is polled, where it can be"                                                        \
  }

static const struct weir_param readv_params[] = {TRANSFER_READER_PARAMS(NULL), [READER_PIECES] = PARAM_PIECES("4")};
static const struct weir_param preadv2_params[] = {
    TRANSFER_READER_PARAMS(NULL), [READER_PIECES] = PARAM_PIECES("1"), [READER_FLAGS] = PARAM_FLAGS};
static const struct weir_param writev_params[] = {
    TRANSFER_WRITER_PARAMS(NULL, METHODS_EXTEND_IN_ORDER), [WRITER_PIECES] = PARAM_PIECES("4")};
static const struct weir_param pwritev2_params[] = {
    TRANSFER_WRITER_PARAMS(NULL, METHODS_EXTEND_AT), [WRITER_PIECES] = PARAM_PIECES("1"), [WRITER_FLAGS] = PARAM_FLAGS};

const struct weir_method methods_fd_readv = {TRANSFER_READER,
                                             .capabilities = WEIR_CAP_VARIANT | WEIR_CAP_PACED,
                                             .name = "fd/readv",
                                             .summary = "reads at the current position into several pieces of memory",
                                             .calls = "open(2), readv(2) in a loop; lseek(2) before each random one",
                                             .params = readv_params,
                                             .param_count = METHODS_COUNT(readv_params),
                                             .setup = setup_reader,
                                             .run = run_readv};

const struct weir_method methods_fd_preadv2 = {TRANSFER_READER,
                                               .capabilities = WEIR_CAP_VARIANT | WEIR_CAP_PACED,
                                               .name = "fd/preadv2",
                                               .summary = "positional reads with flags",
                                               .calls = "open(2), preadv2(2) in a loop",
                                               .params = preadv2_params,
                                               .param_count = METHODS_COUNT(preadv2_params),
                                               .probe = probe_flag_reader,
                                               .setup = setup_flag_reader,
                                               .run = run_preadv2};

const struct weir_method methods_fd_writev = {
    TRANSFER_WRITER,
    .capabilities = WEIR_CAP_VARIANT | WEIR_CAP_PACED,
    .name = "fd/writev",
    .summary = "writes at the current position from several pieces of memory",
    .calls = "open(2), writev(2) in a loop; lseek(2) before each random one; fdatasync(2) or O_DSYNC",
    .params = writev_params,
    .param_count = METHODS_COUNT(writev_params),
    .probe = transfer_probe_writer,
    .setup = setup_writer,
    .run = run_writev};

const struct weir_method methods_fd_pwritev2 = {TRANSFER_WRITER,
                                                .capabilities = WEIR_CAP_VARIANT | WEIR_CAP_PACED,
                                                .name = "fd/pwritev2",
                                                .summary = "positional writes with flags",
                                                .calls = "open(2), pwritev2(2) in a loop; fdatasync(2) or O_DSYNC",
                                                .params = pwritev2_params,
                                                .param_count = METHODS_COUNT(pwritev2_params),
                                                .probe = probe_flag_writer,
                                                .setup = setup_flag_writer,
                                                .run = run_pwritev2};
