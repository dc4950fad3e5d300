/*
 * sys.c - the system calls of fd.c without the C library's wrapper, which checks for cancellation of threads.
 */
#include "transfer.h"

static int64_t sys_read(const struct transfer *t, unsigned char *data, size_t length, uint64_t offset) {
  (void)offset;
  return os_raw_read(t->file, data, length);
}
static int64_t sys_pread(const struct transfer *t, unsigned char *data, size_t length, uint64_t offset) {
  return os_raw_pread(t->file, data, length, offset);
}
static int64_t sys_write(const struct transfer *t, unsigned char *data, size_t length, uint64_t offset) {
  (void)offset;
  return os_raw_write(t->file, data, length);
}
static int64_t sys_pwrite(const struct transfer *t, unsigned char *data, size_t length, uint64_t offset) {
  return os_raw_pwrite(t->file, data, length, offset);
}

static const struct transfer_way here = {.positional = false, .read = sys_read, .write = sys_write};
static const struct transfer_way at = {.positional = true, .read = sys_pread, .write = sys_pwrite};

static int sys_run_read(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  return transfer_read(state, job, flow, budget, here);
}
static int sys_run_pread(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  return transfer_read(state, job, flow, budget, at);
}
static int sys_run_write(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  return transfer_write(state, job, flow, budget, here);
}
static int sys_run_pwrite(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  return transfer_write(state, job, flow, budget, at);
}

static const struct weir_param sys_reader_params[] = {TRANSFER_READER_PARAMS(NULL)};
static const struct weir_param sys_writer_at_params[] = {TRANSFER_WRITER_PARAMS(NULL, METHODS_EXTEND_AT)};
static const struct weir_param sys_writer_params[] = {TRANSFER_WRITER_PARAMS(NULL, METHODS_EXTEND_IN_ORDER)};

const struct weir_method methods_sys_pread = {TRANSFER_READER,
                                              .setup = transfer_setup_reader,
                                              .capabilities = WEIR_CAP_VARIANT | WEIR_CAP_PACED,
                                              .name = "sys/pread",
                                              .summary = "positional reads by the bare system call",
                                              .calls = "syscall(2) SYS_pread64 in a loop",
                                              .params = sys_reader_params,
                                              .param_count = METHODS_COUNT(sys_reader_params),
                                              .run = sys_run_pread};

const struct weir_method methods_sys_read = {TRANSFER_READER,
                                             .setup = transfer_setup_reader,
                                             .capabilities = WEIR_CAP_VARIANT | WEIR_CAP_PACED,
                                             .name = "sys/read",
                                             .summary = "reads at the current position by the bare system call",
                                             .calls = "syscall(2) SYS_read in a loop; lseek(2) before each random one",
                                             .params = sys_reader_params,
                                             .param_count = METHODS_COUNT(sys_reader_params),
                                             .run = sys_run_read};

const struct weir_method methods_sys_pwrite = {TRANSFER_WRITER,
                                               .setup = transfer_setup_writer,
                                               .capabilities = WEIR_CAP_VARIANT | WEIR_CAP_PACED,
                                               .name = "sys/pwrite",
                                               .summary = "positional writes by the bare system call",
                                               .calls = "syscall(2) SYS_pwrite64 in a loop; fdatasync(2) or O_DSYNC",
                                               .params = sys_writer_at_params,
                                               .param_count = METHODS_COUNT(sys_writer_at_params),
                                               .probe = transfer_probe_writer,
                                               .run = sys_run_pwrite};

const struct weir_method methods_sys_write = {
    TRANSFER_WRITER,
    .setup = transfer_setup_writer,
    .capabilities = WEIR_CAP_VARIANT | WEIR_CAP_PACED,
    .name = "sys/write",
    .summary = "writes at the current position by the bare system call",
    .calls = "syscall(2) SYS_write in a loop; lseek(2) before each random one; fdatasync(2) or O_DSYNC",
    .params = sys_writer_params,
    .param_count = METHODS_COUNT(sys_writer_params),
    .probe = transfer_probe_writer,
    .run = sys_run_write};
