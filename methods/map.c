/*
 * map.c - the file as memory: copied out of a mapping, looked at in place, or written through it.
 *
 * The mapping is made when the file is opened and covers this instance's partition. A file that somebody cuts while it is
 * mapped raises SIGBUS; the core runs every sample in a process of its own for that reason.
 */
#include <errno.h>
#include <string.h>

#include "landing.h"
#include "load.h"
#include "methods.h"
#include "target.h"

enum { COPY_BLOCK, COPY_BUFFER, COPY_ADVICE, COPY_EXTEND };
enum { VIEW_BLOCK, VIEW_ADVICE };
enum { WINDOW_BLOCK, WINDOW_BUFFER, WINDOW_EXTEND };
/* The values of `extend` here: a map that is written needs storage beneath it. */
static const enum target_extend storage_ways[] = {TARGET_ALLOCATE, TARGET_ZERO};

struct map_state {
  struct landing landing; /* copy and write; unused by the views */
  os_file file;
  unsigned char *view; /* the byte at the partition's start */
  size_t view_length;
  enum os_advice advice;
  enum target_extend storage;
};

/* Where the byte at `offset` of the file lies. */
static unsigned char *view_at(const struct map_state *s, const struct weir_job *job, uint64_t offset) {
  return s->view + (size_t)(offset - job->part_offset);
}

/* ---- probes -------------------------------------------------------------------------------------------------------- */

#define MAP_REMEDY "use fd/pread or fd/pwrite, or another file system"

static int try_map(os_file file, unsigned flags, enum os_advice advice, struct weir_reason *reason) {
  void *view = NULL;
  const size_t length = os_page_size(); /* mapping past the end is fine as long as nobody looks */
  int error = os_map(file, length, flags, &view);
  if (error) return target_unavailable(reason, error, "this file cannot be mapped", MAP_REMEDY);
  error = advice == OS_ADVICE_NORMAL ? 0 : os_map_advise(view, length, advice);
  (void)os_unmap(view, length);
  return error ? target_unavailable(reason, error, "this advice is refused for a map", "use advice=none") : 0;
}

static int probe_reader(const struct weir_job *job, enum os_advice advice, struct weir_reason *reason) {
  os_file file;
  int error = os_open(job->path, OS_READ, &file);
  if (error) return target_unavailable(reason, error, "opening for reading", "name a file that can be read");
  error = try_map(file, 0, advice, reason);
  (void)os_close(file);
  return error;
}

static int copy_probe_reader(const struct weir_job *job, struct weir_reason *reason) {
  return probe_reader(job, (enum os_advice)job->params[COPY_ADVICE], reason);
}
static int view_probe(const struct weir_job *job, struct weir_reason *reason) {
  return probe_reader(job, (enum os_advice)job->params[VIEW_ADVICE], reason);
}
static int window_probe_reader(const struct weir_job *job, struct weir_reason *reason) {
  return probe_reader(job, OS_ADVICE_NORMAL, reason);
}

/* On a nameless file beside the job's; where the system has none, open will tell. */
static int probe_writer(const struct weir_job *job, enum os_advice advice, struct weir_reason *reason) {
  os_file file;
  if (target_open_scratch(job, 0, &file) != 0) return 0;
  int error = try_map(file, OS_MAP_WRITE, advice, reason);
  (void)os_close(file);
  return error;
}

static int copy_probe_writer(const struct weir_job *job, struct weir_reason *reason) {
  return probe_writer(job, (enum os_advice)job->params[COPY_ADVICE], reason);
}
static int mixed_probe(const struct weir_job *job, struct weir_reason *reason) {
  return probe_writer(job, (enum os_advice)job->params[VIEW_ADVICE], reason);
}
static int window_probe_writer(const struct weir_job *job, struct weir_reason *reason) {
  return probe_writer(job, OS_ADVICE_NORMAL, reason);
}

/* ---- opening ------------------------------------------------------------------------------------------------------- */

static int check_room(const struct weir_job *job) {
  if (job->part_length <= SIZE_MAX / 2) return 0;
  return job->host->fail(job, -EOVERFLOW, "the file does not fit into the address space");
}

static int map_setup(struct map_state *s, const struct weir_job *job, enum weir_buffer_policy policy) {
  int error = check_room(job);
  return error ? error : landing_setup(&s->landing, job, &(struct landing_wish){.policy = policy});
}

static int copy_setup_reader(void *state, const struct weir_job *job) {
  struct map_state *s = state;
  s->advice = (enum os_advice)job->params[COPY_ADVICE];
  return map_setup(s, job, (enum weir_buffer_policy)job->params[COPY_BUFFER]);
}
static int copy_setup_writer(void *state, const struct weir_job *job) {
  ((struct map_state *)state)->storage = storage_ways[job->params[COPY_EXTEND]];
  return copy_setup_reader(state, job);
}
static int window_setup_reader(void *state, const struct weir_job *job) {
  return map_setup(state, job, (enum weir_buffer_policy)job->params[WINDOW_BUFFER]);
}
static int window_setup_writer(void *state, const struct weir_job *job) {
  ((struct map_state *)state)->storage = storage_ways[job->params[WINDOW_EXTEND]];
  return window_setup_reader(state, job);
}
static int mixed_setup(void *state, const struct weir_job *job) {
  ((struct map_state *)state)->advice = (enum os_advice)job->params[VIEW_ADVICE];
  return map_setup(state, job, WEIR_BUFFER_REUSED);
}
static int view_setup(void *state, const struct weir_job *job) {
  ((struct map_state *)state)->advice = (enum os_advice)job->params[VIEW_ADVICE];
  return check_room(job);
}

static int make_view(struct map_state *s, const struct weir_job *job, unsigned flags) {
  void *view = NULL;
  s->view_length = (size_t)job->part_length;
  int error = os_map_part(s->file, job->part_offset, s->view_length, flags, &view);
  if (error) return target_failed(job, "mapping", job->part_offset, s->view_length, error);
  s->view = view;
  error = s->advice == OS_ADVICE_NORMAL ? 0 : os_map_advise(view, s->view_length, s->advice);
  error = error ? target_refused(job, "advising how the map will be used", error) : landing_open(&s->landing, job);
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
  if (job->direction != WEIR_WRITE || !empty || !weir_is_first(job) || job->file_size == 0) return 0;
  int error = s->storage == TARGET_ZERO ? os_allocate_zeroed(s->file, job->file_size) : os_allocate(s->file, job->file_size);
  if (error == -EOPNOTSUPP) error = fill_with_zeros(s->file, job->file_size);
  return error ? target_failed(job, "allocating", 0, job->file_size, error) : 0;
}

/* The file alone; a shared mapping reads what it is going to change. */
static int open_writable(struct map_state *s, const struct weir_job *job) {
  int error = target_open(job, OS_READ, &s->file);
  if (error) return error;
  error = provide_storage(s, job);
  if (!error) error = target_check_size(job, s->file);
  if (error) (void)os_close(s->file);
  return error;
}

static int map_open_writer(void *state, const struct weir_job *job) {
  struct map_state *s = state;
  int error = open_writable(s, job);
  if (error) return error;
  error = make_view(s, job, OS_MAP_WRITE);
  if (error) (void)os_close(s->file);
  return error;
}

static int window_open_reader(void *state, const struct weir_job *job) {
  struct map_state *s = state;
  int error = target_open(job, 0, &s->file);
  if (error) return error;
  error = target_check_size(job, s->file);
  if (!error) error = landing_open(&s->landing, job);
  if (error) (void)os_close(s->file);
  return error;
}
static int window_open_writer(void *state, const struct weir_job *job) {
  struct map_state *s = state;
  int error = open_writable(s, job);
  if (error) return error;
  error = landing_open(&s->landing, job);
  if (error) (void)os_close(s->file);
  return error;
}
static int window_close(void *state, const struct weir_job *job) {
  struct map_state *s = state;
  landing_close(&s->landing, job);
  return target_close(job, s->file);
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

/* Requests that are no larger than a number: see load.h. */
static int view_values(const struct map_state *s, const struct weir_job *job, struct weir_flow *flow, uint64_t count) {
  for (uint64_t i = 0; i < count && !weir_stopped(flow); i++) {
    const uint64_t began = weir_operation_begin(flow), offset = weir_order_offset(job, i);
    const size_t length = weir_order_length(job, offset);
    const uint64_t value = load_value(view_at(s, job, offset), length);
    weir_deliver(flow, offset, &value, length);
    weir_operation_end(flow, began);
  }
  return 0;
}

static int map_run_view(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  const struct map_state *s = state;
  const uint64_t count = landing_count(job, budget);
  if (job->task == WEIR_TASK_WHOLE) return view_whole(s, job, flow, count);
  if (job->block <= LOAD_BYTES_MAX) return view_values(s, job, flow, count);
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

static int map_run_mixed(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  const struct map_state *s = state;
  const uint64_t count = landing_count(job, budget);
  const bool flush_each = job->durability == WEIR_DURABILITY_EACH;
  for (uint64_t done = 0; done < count && !weir_stopped(flow); done++) {
    const struct landing_piece piece = landing_piece(&s->landing, job, done, 0);
    unsigned char *place = view_at(s, job, piece.offset);
    const bool writes = weir_order_writes(job, piece.offset);
    if (writes) landing_supply(&s->landing, flow, piece);
    const uint64_t began = weir_operation_begin(flow);
    memcpy(writes ? place : piece.data, writes ? piece.data : place, piece.length);
    int error = writes && flush_each ? write_back(job, place, piece.offset, piece.length) : 0;
    if (error) return error;
    if (!writes) landing_deliver(&s->landing, flow, piece);
    weir_operation_end(flow, began);
  }
  return 0;
}

/* ---- a window for each request ------------------------------------------------------------------------------------- */

static int open_window(const struct map_state *s, const struct weir_job *job, struct landing_piece piece, unsigned flags,
                       void **out) {
  int error = os_map_part(s->file, piece.offset, piece.length, flags, out);
  return error ? target_failed(job, "mapping", piece.offset, piece.length, error) : 0;
}
static int close_window(const struct weir_job *job, struct landing_piece piece, void *window) {
  int error = os_unmap(window, piece.length);
  return error ? target_failed(job, "unmapping", piece.offset, piece.length, error) : 0;
}

static int window_run_read(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  const struct map_state *s = state;
  const uint64_t count = landing_count(job, budget);
  uint64_t done = 0;
  for (; done < count && !weir_stopped(flow); done++) {
    const uint64_t began = weir_operation_begin(flow);
    const struct landing_piece piece = landing_piece(&s->landing, job, done, 0);
    void *window = NULL;
    int error = open_window(s, job, piece, 0, &window);
    if (error) return error;
    memcpy(piece.data, window, piece.length);
    error = close_window(job, piece, window);
    if (error) return error;
    landing_deliver(&s->landing, flow, piece);
    weir_operation_end(flow, began);
  }
  landing_deliver_rest(&s->landing, job, flow, done);
  return 0;
}

static int write_window(const struct map_state *s, const struct weir_job *job, struct landing_piece piece) {
  void *window = NULL;
  int error = open_window(s, job, piece, OS_MAP_WRITE, &window);
  if (error) return error;
  memcpy(window, piece.data, piece.length);
  if (job->durability == WEIR_DURABILITY_EACH) error = write_back(job, window, piece.offset, piece.length);
  const int closed = close_window(job, piece, window);
  return error ? error : closed;
}

static int window_run_write(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  const struct map_state *s = state;
  const uint64_t count = landing_count(job, budget);
  uint64_t done = 0;
  landing_supply_all(&s->landing, job, flow, count);
  for (; done < count && !weir_stopped(flow); done++) {
    const struct landing_piece piece = landing_piece(&s->landing, job, done, 0);
    landing_supply(&s->landing, flow, piece);
    const uint64_t began = weir_operation_begin(flow);
    int error = write_window(s, job, piece);
    if (error) return error;
    weir_operation_end(flow, began);
  }
  landing_settle(&s->landing, job, flow, count, done);
  return 0;
}

/* The windows are gone; what they changed is in the page cache like any other write. */
static int window_sync(void *state, const struct weir_job *job) {
  return target_sync(job, ((struct map_state *)state)->file);
}

/* First the pages of the mapping, then what the file needs to find them again. */
static int map_sync(void *state, const struct weir_job *job) {
  const struct map_state *s = state;
  int error = write_back(job, s->view, job->part_offset, s->view_length);
  return error ? error : target_sync(job, s->file);
}

#define PARAM_ADVICE                                                                                                  \
  {                                                                                                                   \
    .name = "advice", .kind = WEIR_PARAM_CHOICE, .preset = "none", .choices = "none|sequential|random|willneed|huge", \
    WEIR_PARAM_EVERYWHERE, .help = "what the system is told (madvise) when the file is mapped"                        \
  }
#define PARAM_STORAGE                                                                                      \
  {                                                                                                        \
    .name = "extend", .kind = WEIR_PARAM_CHOICE, .preset = "fallocate", .choices = "fallocate|zero-range", \
    WEIR_PARAM_EVERYWHERE, .help = "how a new or truncated file gets its storage before it is mapped",     \
    .targets = WEIR_BIT(WEIR_TARGET_NEW) | WEIR_BIT(WEIR_TARGET_TRUNCATE)                                  \
  }

#define COPY_PARAMS                                                                                     \
  [COPY_BLOCK] = LANDING_PARAM_BLOCK(NULL), [COPY_BUFFER] = LANDING_PARAM_BUFFER(LANDING_BUFFER_SWEEP), \
  [COPY_ADVICE] = PARAM_ADVICE
static const struct weir_param copy_params[] = {COPY_PARAMS};
static const struct weir_param write_params[] = {COPY_PARAMS, [COPY_EXTEND] = PARAM_STORAGE};
#define WINDOW_PARAMS [WINDOW_BLOCK] = LANDING_PARAM_BLOCK(NULL), [WINDOW_BUFFER] = LANDING_PARAM_BUFFER(NULL)
static const struct weir_param window_params[] = {WINDOW_PARAMS};
static const struct weir_param window_write_params[] = {WINDOW_PARAMS, [WINDOW_EXTEND] = PARAM_STORAGE};
static const struct weir_param mixed_params[] = {[VIEW_BLOCK] = LANDING_PARAM_BLOCK(NULL), [VIEW_ADVICE] = PARAM_ADVICE};
/* A view of the whole file has no requests. */
static const struct weir_param view_params[] = {[VIEW_BLOCK] = {.name = "block",
                                                                .kind = WEIR_PARAM_SIZE,
                                                                .preset = "128KiB",
                                                                .min = 1,
                                                                .max = LANDING_BLOCK_MAX,
                                                                .tasks = WEIR_BIT(WEIR_TASK_BLOCKS),
                                                                .accesses = WEIR_ANY,
                                                                .durabilities = WEIR_ANY,
                                                                .help = "bytes handed over at a time; up to 8: loaded"},
                                                [VIEW_ADVICE] = PARAM_ADVICE};

#define MAP_METHOD \
  METHODS_ABI, .accesses = METHODS_BOTH_ACCESSES, .state_size = sizeof(struct map_state), .teardown = map_teardown
#define MAP_PARAMS(list) .params = (list), .param_count = METHODS_COUNT(list)
#define MAP_VIEWER                                                                                      \
  MAP_METHOD, METHODS_READS, .tasks = METHODS_BOTH_TASKS, MAP_PARAMS(view_params), .setup = view_setup, \
                             .probe = view_probe, .run = map_run_view, .close = map_close, .capabilities = WEIR_CAP_VIEW | WEIR_CAP_PACED

const struct weir_method methods_map_copy = {MAP_METHOD,
                                             METHODS_READS,
                                             .tasks = METHODS_BOTH_TASKS,
                                             .capabilities = WEIR_CAP_PACED,
                                             .name = "map/copy",
                                             .summary = "the file is mapped once and copied out block by block",
                                             .calls = "mmap(2) MAP_SHARED, memcpy(3), munmap(2)",
                                             MAP_PARAMS(copy_params),
                                             .probe = copy_probe_reader,
                                             .setup = copy_setup_reader,
                                             .open = map_open,
                                             .run = map_run_copy,
                                             .close = map_close};

const struct weir_method methods_map_view = {MAP_VIEWER, .name = "map/view",
                                             .summary = "the file is mapped and looked at in place, without a copy",
                                             .calls = "mmap(2) MAP_SHARED, munmap(2)", .open = map_open};

const struct weir_method methods_map_populate = {
    MAP_VIEWER, .name = "map/populate", .summary = "like map/view, with all pages mapped in ahead by one call",
    .calls = "mmap(2) MAP_SHARED | MAP_POPULATE, munmap(2)", .open = map_open_populate};

const struct weir_method methods_map_window = {MAP_METHOD,
                                               METHODS_READS,
                                               .tasks = METHODS_BOTH_TASKS,
                                               .capabilities = WEIR_CAP_VARIANT | WEIR_CAP_PACED,
                                               .name = "map/window",
                                               .summary = "each request is mapped, copied out and unmapped",
                                               .calls = "mmap(2) MAP_SHARED, memcpy(3), munmap(2) for each request",
                                               MAP_PARAMS(window_params),
                                               .probe = window_probe_reader,
                                               .setup = window_setup_reader,
                                               .open = window_open_reader,
                                               .run = window_run_read,
                                               .close = window_close};

const struct weir_method methods_map_write = {MAP_METHOD,
                                              METHODS_WRITES,
                                              .tasks = METHODS_BOTH_TASKS,
                                              .capabilities = WEIR_CAP_PACED,
                                              .name = "map/write",
                                              .summary = "the file gets its storage, is mapped, and blocks are copied in",
                                              .calls = "fallocate(2), mmap(2) MAP_SHARED, memcpy(3), msync(2), munmap(2)",
                                              MAP_PARAMS(write_params),
                                              .probe = copy_probe_writer,
                                              .setup = copy_setup_writer,
                                              .open = map_open_writer,
                                              .run = map_run_write,
                                              .sync = map_sync,
                                              .close = map_close};

const struct weir_method methods_map_window_write = {
    MAP_METHOD,
    METHODS_WRITES,
    .tasks = METHODS_BOTH_TASKS,
    .capabilities = WEIR_CAP_VARIANT | WEIR_CAP_PACED,
    .name = "map/window-write",
    .summary = "the file gets its storage; each request is mapped, copied in and unmapped",
    .calls = "fallocate(2); mmap(2) MAP_SHARED, memcpy(3), munmap(2) for each request; msync(2) or fdatasync(2)",
    MAP_PARAMS(window_write_params),
    .probe = window_probe_writer,
    .setup = window_setup_writer,
    .open = window_open_writer,
    .run = window_run_write,
    .sync = window_sync,
    .close = window_close};

const struct weir_method methods_map_mixed = {MAP_METHOD,
                                              METHODS_MIXES,
                                              .capabilities = WEIR_CAP_PACED,
                                              .name = "map/mixed",
                                              .summary = "the file is mapped once; blocks are copied out and in",
                                              .calls = "mmap(2) MAP_SHARED, memcpy(3), msync(2), munmap(2)",
                                              MAP_PARAMS(mixed_params),
                                              .probe = mixed_probe,
                                              .setup = mixed_setup,
                                              .open = map_open_writer,
                                              .run = map_run_mixed,
                                              .sync = map_sync,
                                              .close = map_close};
