/*
 * map.c - the file as memory: copied out of a mapping, looked at in place, or written through it.
 *
 * The mapping is made when the file is opened and covers this instance's partition. A file that somebody cuts while it is
 * mapped raises SIGBUS; the core runs every sample in a process of its own for that reason.
 */
#include <errno.h>
#include <string.h>

#include "landing.h"
#include "methods.h"
#include "target.h"

enum { PARAM_BLOCK, PARAM_BUFFER };

struct map_state {
  struct landing landing; /* copy and write; unused by the views */
  os_file file;
  unsigned char *view; /* the byte at the partition's start */
  size_t view_length;
};

/* Where the byte at `offset` of the file lies. */
static unsigned char *view_at(const struct map_state *s, const struct weir_job *job, uint64_t offset) {
  return s->view + (size_t)(offset - job->part_offset);
}

/* ---- probes -------------------------------------------------------------------------------------------------------- */

#define MAP_REMEDY "use fd/pread or fd/pwrite, or another file system"

static int try_map(os_file file, unsigned flags, struct weir_reason *reason) {
  void *view = NULL;
  const size_t length = os_page_size(); /* mapping past the end is fine as long as nobody looks */
  int error = os_map(file, length, flags, &view);
  if (error) return target_unavailable(reason, error, "this file cannot be mapped", MAP_REMEDY);
  (void)os_unmap(view, length);
  return 0;
}

static int map_probe_reader(const struct weir_job *job, struct weir_reason *reason) {
  os_file file;
  int error = os_open(job->path, OS_READ, &file);
  if (error) return target_unavailable(reason, error, "opening for reading", "name a file that can be read");
  error = try_map(file, 0, reason);
  (void)os_close(file);
  return error;
}

/* On a nameless file beside the job's; where the system has none, open will tell. */
static int map_probe_writer(const struct weir_job *job, struct weir_reason *reason) {
  os_file file;
  if (os_open(job->directory, OS_READ | OS_WRITE | OS_UNNAMED, &file) != 0) return 0;
  int error = try_map(file, OS_MAP_WRITE, reason);
  (void)os_close(file);
  return error;
}

/* ---- opening ------------------------------------------------------------------------------------------------------- */

static int map_setup(void *state, const struct weir_job *job) {
  struct map_state *s = state;
  if (job->part_length > SIZE_MAX / 2)
    return job->host->fail(job, -EOVERFLOW, "the file does not fit into the address space");
  const enum weir_buffer_policy policy = (enum weir_buffer_policy)job->params[PARAM_BUFFER];
  return landing_setup(&s->landing, job, &(struct landing_wish){.policy = policy});
}

static int map_setup_view(void *state, const struct weir_job *job) {
  (void)state;
  return job->part_length > SIZE_MAX / 2 ? job->host->fail(job, -EOVERFLOW, "the file does not fit into the address space")
                                         : 0;
}

static int make_view(struct map_state *s, const struct weir_job *job, unsigned flags) {
  void *view = NULL;
  s->view_length = (size_t)job->part_length;
  int error = os_map_part(s->file, job->part_offset, s->view_length, flags, &view);
  if (error) return target_failed(job, "mapping", job->part_offset, s->view_length, error);
  s->view = view;
  error = landing_open(&s->landing, job);
  if (error) (void)os_unmap(s->view, s->view_length);
  return error;
}

static int open_reader(struct map_state *s, const struct weir_job *job, unsigned flags) {
  int error = target_open(job, 0, &s->file);
  if (error) return error;
  error = target_check_size(job, s->file);
  if (!error) error = make_view(s, job, flags);
  if (error) (void)os_close(s->file);
  return error;
}

static int map_open(void *state, const struct weir_job *job) { return open_reader(state, job, 0); }
static int map_open_populate(void *state, const struct weir_job *job) { return open_reader(state, job, OS_MAP_POPULATE); }

/* Storage by writing zeros, where the file system cannot allocate. */
static int fill_with_zeros(os_file file, uint64_t size) {
  const size_t piece = (size_t)1 << 20;
  void *zeros = NULL;
  int error = os_memory_get(piece, 0, &zeros);
  for (uint64_t at = 0; at < size && !error;) {
    const size_t length = size - at < piece ? (size_t)(size - at) : piece;
    const int64_t count = os_pwrite_full(file, zeros, length, at);
    if (count < 0) error = (int)count;
    if (count == 0) error = -EIO;
    at += count > 0 ? (uint64_t)count : 0;
  }
  if (zeros) (void)os_memory_put(zeros, piece);
  return error;
}

/*
 * A store into a hole of a mapped file kills with SIGBUS when the disk is full. So a file that has no storage yet gets it
 * first, where a full disk is a plain error.
 */
static int provide_storage(const struct map_state *s, const struct weir_job *job) {
  const bool empty = job->target == WEIR_TARGET_NEW || job->target == WEIR_TARGET_TRUNCATE;
  if (!empty || !weir_is_first(job) || job->file_size == 0) return 0;
  int error = os_allocate(s->file, job->file_size);
  if (error == -EOPNOTSUPP) error = fill_with_zeros(s->file, job->file_size);
  return error ? target_failed(job, "allocating", 0, job->file_size, error) : 0;
}

static int map_open_writer(void *state, const struct weir_job *job) {
  struct map_state *s = state;
  int error = target_open(job, OS_READ, &s->file); /* a shared mapping reads what it is going to change */
  if (error) return error;
  error = provide_storage(s, job);
  if (!error) error = target_check_size(job, s->file);
  if (!error) error = make_view(s, job, OS_MAP_WRITE);
  if (error) (void)os_close(s->file);
  return error;
}

static int map_close(void *state, const struct weir_job *job) {
  struct map_state *s = state;
  landing_close(&s->landing, job);
  const int unmapped = os_unmap(s->view, s->view_length), closed = target_close(job, s->file);
  return unmapped ? target_refused(job, "unmapping", unmapped) : closed;
}

static void map_teardown(void *state, const struct weir_job *job) {
  landing_teardown(&((struct map_state *)state)->landing, job);
}

/* ---- moving -------------------------------------------------------------------------------------------------------- */

static int map_run_copy(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  const struct map_state *s = state;
  const uint64_t count = landing_count(job, budget);
  uint64_t done = 0;
  for (; done < count && !weir_stopped(flow); done++) {
    const uint64_t began = weir_operation_begin(flow);
    const struct landing_piece piece = landing_piece(&s->landing, job, done, 0);
    memcpy(piece.data, view_at(s, job, piece.offset), piece.length);
    landing_deliver(&s->landing, flow, piece);
    weir_operation_end(flow, began);
  }
  landing_deliver_rest(&s->landing, job, flow, done);
  return 0;
}

/* The whole file is there once it is mapped: one delivery, which counts as all the requests that it stands for. */
static int view_whole(const struct map_state *s, const struct weir_job *job, struct weir_flow *flow, uint64_t count) {
  if (count == 0 || weir_stopped(flow)) return 0;
  const uint64_t began = weir_operation_begin(flow);
  weir_deliver(flow, job->part_offset, s->view, landing_prefix(job, count));
  flow->operations += count - 1;
  weir_operation_end(flow, began);
  return 0;
}

static int map_run_view(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  const struct map_state *s = state;
  const uint64_t count = landing_count(job, budget);
  if (job->task == WEIR_TASK_WHOLE) return view_whole(s, job, flow, count);
  for (uint64_t i = 0; i < count && !weir_stopped(flow); i++) {
    const uint64_t began = weir_operation_begin(flow), offset = weir_order_offset(job, i);
    weir_deliver(flow, offset, view_at(s, job, offset), weir_order_length(job, offset));
    weir_operation_end(flow, began);
  }
  return 0;
}

static int write_back(const struct weir_job *job, unsigned char *address, uint64_t offset, size_t length) {
  int error = os_map_sync(address, length);
  return error ? target_failed(job, "flushing", offset, length, error) : 0;
}

static int map_run_write(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  const struct map_state *s = state;
  const uint64_t count = landing_count(job, budget);
  const bool flush_each = job->durability == WEIR_DURABILITY_EACH;
  uint64_t done = 0;
  landing_supply_all(&s->landing, job, flow, count);
  for (; done < count && !weir_stopped(flow); done++) {
    const struct landing_piece piece = landing_piece(&s->landing, job, done, 0);
    landing_supply(&s->landing, flow, piece);
    const uint64_t began = weir_operation_begin(flow);
    memcpy(view_at(s, job, piece.offset), piece.data, piece.length);
    int error = flush_each ? write_back(job, view_at(s, job, piece.offset), piece.offset, piece.length) : 0;
    if (error) return error;
    weir_operation_end(flow, began);
  }
  landing_settle(&s->landing, job, flow, count, done);
  return 0;
}

/* First the pages of the mapping, then what the file needs to find them again. */
static int map_sync(void *state, const struct weir_job *job) {
  const struct map_state *s = state;
  int error = write_back(job, s->view, job->part_offset, s->view_length);
  return error ? error : target_sync(job, s->file);
}

static const struct weir_param map_params[] = {
    [PARAM_BLOCK] = LANDING_PARAM_BLOCK(NULL),
    [PARAM_BUFFER] = LANDING_PARAM_BUFFER(LANDING_BUFFER_SWEEP),
};
/* A view of the whole file has no requests. */
static const struct weir_param view_params[] = {{.name = "block",
                                                 .kind = WEIR_PARAM_SIZE,
                                                 .preset = "128KiB",
                                                 .min = 1,
                                                 .max = LANDING_BLOCK_MAX,
                                                 .tasks = WEIR_BIT(WEIR_TASK_BLOCKS),
                                                 .accesses = WEIR_ANY,
                                                 .durabilities = WEIR_ANY,
                                                 .help = "bytes handed over at a time"}};

#define MAP_METHOD                                                                                                     \
  METHODS_ABI, .tasks = METHODS_BOTH_TASKS, .accesses = METHODS_BOTH_ACCESSES, .state_size = sizeof(struct map_state), \
               .close = map_close, .teardown = map_teardown
#define MAP_COPIER MAP_METHOD, .params = map_params, .param_count = METHODS_COUNT(map_params), .setup = map_setup
#define MAP_VIEWER                                                                                                      \
  MAP_METHOD, METHODS_READS, .params = view_params, .param_count = METHODS_COUNT(view_params), .setup = map_setup_view, \
                             .probe = map_probe_reader, .run = map_run_view, .capabilities = WEIR_CAP_VIEW

const struct weir_method methods_map_copy = {MAP_COPIER,
                                             METHODS_READS,
                                             .name = "map/copy",
                                             .summary = "the file is mapped once and copied out block by block",
                                             .calls = "mmap(2) MAP_SHARED, memcpy(3), munmap(2)",
                                             .probe = map_probe_reader,
                                             .open = map_open,
                                             .run = map_run_copy};

const struct weir_method methods_map_view = {MAP_VIEWER, .name = "map/view",
                                             .summary = "the file is mapped and looked at in place, without a copy",
                                             .calls = "mmap(2) MAP_SHARED, munmap(2)", .open = map_open};

const struct weir_method methods_map_populate = {
    MAP_VIEWER, .name = "map/populate", .summary = "like map/view, with all pages mapped in ahead by one call",
    .calls = "mmap(2) MAP_SHARED | MAP_POPULATE, munmap(2)", .open = map_open_populate};

const struct weir_method methods_map_write = {MAP_COPIER,
                                              METHODS_WRITES,
                                              .name = "map/write",
                                              .summary = "the file gets its storage, is mapped, and blocks are copied in",
                                              .calls = "fallocate(2), mmap(2) MAP_SHARED, memcpy(3), msync(2), munmap(2)",
                                              .probe = map_probe_writer,
                                              .open = map_open_writer,
                                              .run = map_run_write,
                                              .sync = map_sync};
