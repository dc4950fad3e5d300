/*
 * write_apart.c - writers of a text that do not go by plain writes into the page cache: past it, by way of a buffer that is
 * aligned, and by stores into a mapping of the file.
 */
#include <errno.h>
#include <string.h>

#include "aligned.h"
#include "methods.h"
#include "target.h"

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* ---- text/write-direct --------------------------------------------------------------------------------------------- */

enum { DIRECT_BLOCK, DIRECT_EXTEND };

struct direct {
  os_file file, rest; /* the rest is what fills no granule: see aligned.h */
  size_t granule, block;
  char *room;
};

static int direct_probe(const struct weir_job *job, struct weir_reason *reason) {
  struct weir_job requests = *job;
  requests.block = job->params[DIRECT_BLOCK];
  int error = target_probe_extend(job, (enum target_extend)job->params[DIRECT_EXTEND], reason);
  return error ? error : aligned_probe(&requests, reason);
}

static int direct_setup(void *state, const struct weir_job *job) {
  struct direct *s = state;
  void *room = NULL;
  s->granule = aligned_granule(job);
  s->block = (size_t)job->params[DIRECT_BLOCK];
  int error = job->host->buffer_get(job, s->block, s->granule, WEIR_BUFFER_REUSED, &room);
  s->room = room;
  return error ? job->host->fail(job, error, "no memory for a buffer of %zu bytes", s->block) : 0;
}

static int direct_open(void *state, const struct weir_job *job) {
  struct direct *s = state;
  const unsigned through = job->durability == WEIR_DURABILITY_EACH ? OS_DATA_SYNC : 0;
  int error = target_open_extending(job, OS_DIRECT | through, (enum target_extend)job->params[DIRECT_EXTEND], &s->file);
  if (error) return error;
  error = aligned_open_rest(job, s->granule, through, &s->rest);
  if (error) (void)os_close(s->file);
  return error;
}

static int direct_write(const struct direct *s, const struct weir_job *job, size_t length, uint64_t offset) {
  for (size_t done = 0; done < length;) {
    int64_t count = os_pwrite(s->file, s->room + done, length - done, offset + done);
    if (count == 0 || (count > 0 && (size_t)count % s->granule != 0)) count = -EIO; /* nowhere to go on from */
    if (count < 0) return target_failed(job, "writing", offset + done, length - done, (int)count);
    done += (size_t)count;
  }
  return 0;
}

/* The text lies where it lies; the device takes aligned memory only. */
static int direct_block(const struct direct *s, const struct weir_job *job, size_t length, uint64_t offset) {
  const size_t direct = aligned_down(length, s->granule);
  memcpy(s->room, job->input->data + offset, length);
  int error = direct_write(s, job, direct, offset);
  if (error || direct == length) return error;
  return aligned_write_rest(job, s->rest, s->room + direct, length - direct, offset + direct);
}

static int direct_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  const struct direct *s = state;
  const size_t size = job->input->size;
  if (budget == 0) return 0;
  for (size_t at = 0; at < size; at += s->block) {
    const size_t length = smaller(s->block, size - at);
    if (weir_stopped(flow)) return 0;
    int error = direct_block(s, job, length, at);
    if (error) return error;
    weir_passed(flow, length);
  }
  flow->operations++;
  return 0;
}

static int direct_sync(void *state, const struct weir_job *job) {
  const struct direct *s = state;
  int error = s->rest == os_no_file ? 0 : os_sync(s->rest, false);
  return error ? target_refused(job, "flushing the unaligned end", error) : target_sync(job, s->file);
}

static int direct_close(void *state, const struct weir_job *job) {
  const struct direct *s = state;
  const int rest = target_close(job, s->rest), file = target_close(job, s->file);
  return rest ? rest : file;
}

static void direct_teardown(void *state, const struct weir_job *job) {
  struct direct *s = state;
  if (s->room) job->host->buffer_put(job, s->room, s->block);
}

static const struct weir_param direct_params[] = {[DIRECT_BLOCK] = {.name = "block",
                                                                    .kind = WEIR_PARAM_SIZE,
                                                                    .preset = "1MiB",
                                                                    .min = 512,
                                                                    .max = UINT64_C(1) << 30,
                                                                    WEIR_PARAM_EVERYWHERE,
                                                                    .help = "bytes a call"},
                                                  [DIRECT_EXTEND] = METHODS_PARAM_EXTEND(METHODS_EXTEND_AT)};

const struct weir_method methods_text_direct = {METHODS_ABI,
                                                METHODS_WRITES,
                                                .name = "text/write-direct",
                                                .summary = "bytes that lie ready, past the page cache",
                                                .calls = "open(2) O_DIRECT, pwrite(2), the unaligned end buffered",
                                                .tasks = WEIR_BIT(WEIR_TASK_TEXT),
                                                .accesses = WEIR_BIT(WEIR_SEQUENTIAL),
                                                .capabilities = WEIR_CAP_DIRECT,
                                                .params = direct_params,
                                                .param_count = METHODS_COUNT(direct_params),
                                                .state_size = sizeof(struct direct),
                                                .probe = direct_probe,
                                                .setup = direct_setup,
                                                .open = direct_open,
                                                .run = direct_run,
                                                .sync = direct_sync,
                                                .close = direct_close,
                                                .teardown = direct_teardown};

/* ---- text/write-mapped --------------------------------------------------------------------------------------------- */

enum { MAPPED_EXTEND };

/* Bytes between two looks at the flow's stop. */
#define MAPPED_PIECE ((size_t)1 << 20)

struct mapped {
  os_file file;
  char *view;
};

/* A store into a hole kills where the disk is full: the storage is there first, or the method is not. */
static enum target_extend storage_of(const struct weir_job *job) {
  return job->params[MAPPED_EXTEND] ? TARGET_ZERO : TARGET_ALLOCATE;
}

static int try_map(os_file file, struct weir_reason *reason) {
  void *view = NULL;
  int error = os_map(file, os_page_size(), OS_MAP_WRITE, &view);
  if (error)
    return target_unavailable(reason, error, "this file cannot be mapped", "use text/write, or another file system");
  (void)os_unmap(view, os_page_size());
  return 0;
}

static int mapped_probe(const struct weir_job *job, struct weir_reason *reason) {
  os_file file;
  int error = target_probe_extend(job, storage_of(job), reason);
  if (error || target_open_scratch(job, 0, &file) != 0) return error; /* else opening will tell */
  error = try_map(file, reason);
  (void)os_close(file);
  return error;
}

static int mapped_setup(void *state, const struct weir_job *job) { return 0; }

static int mapped_open(void *state, const struct weir_job *job) {
  struct mapped *s = state;
  void *view = NULL;
  int error = target_open_extending(job, OS_READ, storage_of(job), &s->file);
  if (error) return error;
  error = os_map(s->file, job->input->size, OS_MAP_WRITE, &view);
  if (error) error = target_failed(job, "mapping", 0, job->input->size, error);
  if (error) (void)os_close(s->file);
  s->view = view;
  return error;
}

static int mapped_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  const struct mapped *s = state;
  const size_t size = job->input->size;
  if (budget == 0) return 0;
  for (size_t at = 0; at < size; at += MAPPED_PIECE) {
    const size_t length = smaller(MAPPED_PIECE, size - at);
    if (weir_stopped(flow)) return 0;
    memcpy(s->view + at, job->input->data + at, length);
    weir_passed(flow, length);
  }
  flow->operations++;
  return 0;
}

/* First the pages of the mapping, then what the file needs to find them again. */
static int mapped_sync(void *state, const struct weir_job *job) {
  const struct mapped *s = state;
  int error = os_map_sync(s->view, job->input->size);
  return error ? target_failed(job, "flushing", 0, job->input->size, error) : target_sync(job, s->file);
}

static int mapped_close(void *state, const struct weir_job *job) {
  const struct mapped *s = state;
  const int unmapped = os_unmap(s->view, job->input->size), closed = target_close(job, s->file);
  return unmapped ? target_refused(job, "unmapping", unmapped) : closed;
}

static void mapped_teardown(void *state, const struct weir_job *job) {}

static const struct weir_param mapped_params[] = {
    [MAPPED_EXTEND] = {.name = "extend",
                       .kind = WEIR_PARAM_CHOICE,
                       .preset = "fallocate",
                       .choices = "fallocate|zero-range",
                       WEIR_PARAM_EVERYWHERE,
                       .help = "how a new or truncated file gets its storage before it is mapped",
                       .targets = WEIR_BIT(WEIR_TARGET_NEW) | WEIR_BIT(WEIR_TARGET_TRUNCATE)}};

const struct weir_method methods_text_mapped = {
    METHODS_ABI,
    .directions = WEIR_BIT(WEIR_WRITE),
    .durabilities = WEIR_BIT(WEIR_DURABILITY_NONE) | WEIR_BIT(WEIR_DURABILITY_END),
    .name = "text/write-mapped",
    .summary = "bytes that lie ready, stored into the file's pages",
    .calls = "open(2), fallocate(2), mmap(2), stores; msync(2), fdatasync(2)",
    .tasks = WEIR_BIT(WEIR_TASK_TEXT),
    .accesses = WEIR_BIT(WEIR_SEQUENTIAL),
    .params = mapped_params,
    .param_count = METHODS_COUNT(mapped_params),
    .state_size = sizeof(struct mapped),
    .probe = mapped_probe,
    .setup = mapped_setup,
    .open = mapped_open,
    .run = mapped_run,
    .sync = mapped_sync,
    .close = mapped_close,
    .teardown = mapped_teardown};
