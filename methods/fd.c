/*
 * fd.c - plain system calls on a descriptor, as the C library offers them: positional (pread, pwrite) and at the current
 * position (read, write).
 */
#include "transfer.h"

static int64_t fd_read(const struct transfer *t, unsigned char *data, size_t length, uint64_t offset) {
  (void)offset;
  return os_read(t->file, data, length);
}
static int64_t fd_pread(const struct transfer *t, unsigned char *data, size_t length, uint64_t offset) {
  return os_pread(t->file, data, length, offset);
}
static int64_t fd_write(const struct transfer *t, unsigned char *data, size_t length, uint64_t offset) {
  (void)offset;
  return os_write(t->file, data, length);
}
static int64_t fd_pwrite(const struct transfer *t, unsigned char *data, size_t length, uint64_t offset) {
  return os_pwrite(t->file, data, length, offset);
}

static const struct transfer_way here = {.positional = false, .read = fd_read, .write = fd_write};
static const struct transfer_way at = {.positional = true, .read = fd_pread, .write = fd_pwrite};

static int fd_run_read(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  return transfer_read(state, job, flow, budget, here);
}
static int fd_run_pread(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  return transfer_read(state, job, flow, budget, at);
}
static int fd_run_write(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  return transfer_write(state, job, flow, budget, here);
}
static int fd_run_pwrite(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  return transfer_write(state, job, flow, budget, at);
}
static int fd_run_mixed(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  return transfer_mix(state, job, flow, budget, at);
}

static const struct weir_param fd_reader_params[] = {TRANSFER_READER_PARAMS(LANDING_BLOCK_SWEEP)};
static const struct weir_param fd_writer_at_params[] = {TRANSFER_WRITER_PARAMS(LANDING_BLOCK_SWEEP, METHODS_EXTEND_AT)};
static const struct weir_param fd_writer_params[] = {TRANSFER_WRITER_PARAMS(LANDING_BLOCK_SWEEP, METHODS_EXTEND_IN_ORDER)};
static const struct weir_param fd_mixed_params[] = {TRANSFER_MIXED_PARAMS(LANDING_BLOCK_SWEEP)};

const struct weir_method methods_fd_pread = {TRANSFER_READER,
                                             .capabilities = WEIR_CAP_PACED,
                                             .setup = transfer_setup_reader,
                                             .name = "fd/pread",
                                             .summary = "positional reads through the page cache",
                                             .calls = "open(2), pread(2) in a loop",
                                             .params = fd_reader_params,
                                             .param_count = METHODS_COUNT(fd_reader_params),
                                             .run = fd_run_pread};

const struct weir_method methods_fd_read = {TRANSFER_READER,
                                            .capabilities = WEIR_CAP_PACED,
                                            .setup = transfer_setup_reader,
                                            .name = "fd/read",
                                            .summary = "reads at the current position through the page cache",
                                            .calls = "open(2), read(2) in a loop; lseek(2) before each random one",
                                            .params = fd_reader_params,
                                            .param_count = METHODS_COUNT(fd_reader_params),
                                            .run = fd_run_read};

const struct weir_method methods_fd_pwrite = {TRANSFER_WRITER,
                                              .capabilities = WEIR_CAP_PACED,
                                              .setup = transfer_setup_writer,
                                              .name = "fd/pwrite",
                                              .summary = "positional writes through the page cache",
                                              .calls = "open(2), pwrite(2) in a loop; fdatasync(2) or O_DSYNC",
                                              .params = fd_writer_at_params,
                                              .param_count = METHODS_COUNT(fd_writer_at_params),
                                              .probe = transfer_probe_writer,
                                              .run = fd_run_pwrite};

const struct weir_method methods_fd_write = {
    TRANSFER_WRITER,
    .capabilities = WEIR_CAP_PACED,
    .setup = transfer_setup_writer,
    .name = "fd/write",
    .summary = "writes at the current position through the page cache",
    .calls = "open(2), write(2) in a loop; lseek(2) before each random one; fdatasync(2) or O_DSYNC",
    .params = fd_writer_params,
    .param_count = METHODS_COUNT(fd_writer_params),
    .probe = transfer_probe_writer,
    .run = fd_run_write};

const struct weir_method methods_fd_mixed = {
    TRANSFER_MIXER,
    .capabilities = WEIR_CAP_PACED,
    .setup = transfer_setup_mixer,
    .name = "fd/mixed",
    .summary = "positional reads and writes of one file through the page cache",
    .calls = "open(2) O_RDWR, pread(2) or pwrite(2) in a loop; fdatasync(2) or O_DSYNC",
    .params = fd_mixed_params,
    .param_count = METHODS_COUNT(fd_mixed_params),
    .run = fd_run_mixed};
