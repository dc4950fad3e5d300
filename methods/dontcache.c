/*
 * dontcache.c - through the page cache without staying in it: what a request brought in is dropped when it is done. No
 * alignment is asked for, unlike direct.c.
 */
#include "transfer.h"

static int64_t read_at(const struct transfer *t, unsigned char *data, size_t length, uint64_t offset) {
  return os_preadv(t->file, &(struct os_piece){data, length}, 1, offset, OS_TRANSFER_UNCACHED);
}
static int64_t write_at(const struct transfer *t, unsigned char *data, size_t length, uint64_t offset) {
  return os_pwritev(t->file, &(struct os_piece){data, length}, 1, offset, OS_TRANSFER_UNCACHED);
}
static const struct transfer_way at = {.positional = true, .read = read_at, .write = write_at};

#define REMEDY "Linux 6.14 or later and a file system that knows it, such as ext4 or xfs; or use direct/pread, direct/pwrite"

static int probe_reader(const struct weir_job *job, struct weir_reason *reason) {
  return transfer_probe_flags(job, OS_TRANSFER_UNCACHED, REMEDY, reason);
}
static int probe_writer(const struct weir_job *job, struct weir_reason *reason) {
  int error = transfer_probe_writer(job, reason);
  return error ? error : transfer_probe_flags(job, OS_TRANSFER_UNCACHED, REMEDY, reason);
}

static int run_read(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  return transfer_read(state, job, flow, budget, at);
}
static int run_write(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  return transfer_write(state, job, flow, budget, at);
}

static const struct weir_param reader_params[] = {TRANSFER_READER_PARAMS(NULL)};
static const struct weir_param writer_params[] = {TRANSFER_WRITER_PARAMS(NULL, METHODS_EXTEND_AT)};

const struct weir_method methods_dontcache_read = {TRANSFER_READER,
                                                   .capabilities = WEIR_CAP_PACED,
                                                   .setup = transfer_setup_reader,
                                                   .name = "dontcache/read",
                                                   .summary = "reads that leave nothing in the page cache",
                                                   .calls = "open(2), preadv2(2) RWF_DONTCACHE in a loop",
                                                   .params = reader_params,
                                                   .param_count = METHODS_COUNT(reader_params),
                                                   .probe = probe_reader,
                                                   .run = run_read};

const struct weir_method methods_dontcache_write = {
    TRANSFER_WRITER,
    .capabilities = WEIR_CAP_PACED,
    .setup = transfer_setup_writer,
    .name = "dontcache/write",
    .summary = "writes that leave nothing in the page cache",
    .calls = "open(2), pwritev2(2) RWF_DONTCACHE in a loop; fdatasync(2) or O_DSYNC",
    .params = writer_params,
    .param_count = METHODS_COUNT(writer_params),
    .probe = probe_writer,
    .run = run_write};
