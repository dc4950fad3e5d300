/*
 * limits.c - the limits of devices. A ring is kept full for some windows of time; the limit is the median of what the
 * windows moved. The first one, in which the device gets going, does not count.
 */
#include "measure/limits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "measure/layout.h"
#include "os/os.h"

#define MIB (UINT64_C(1) << 20)
#define MILLISECOND UINT64_C(1000000)
#define WINDOWS 5u
#define WINDOW_NS (40 * MILLISECOND)
#define WINDOW_LEAST_NS (10 * MILLISECOND) /* small runs, and many places */
#define FILE_MOST (64 * MIB)
#define FILE_LEAST (8 * MIB)
#define USER_FILE_MOST (1024 * MIB)
#define SMALL_RUN (32 * MIB)
#define SYNCS 25u
#define READS_AHEAD 3u
#define RANDOM_BLOCK ((size_t)RUN_LIMIT_RANDOM_BYTES)
#define RANDOM_DEPTH 32u
#define SEQUENTIAL_BLOCK ((size_t)MIB)
#define SEQUENTIAL_DEPTH 8u

/* What some cell of the plan is bounded by. */
struct wants {
  bool reads, random, writes, syncs;
};

static void add_wants(const struct plan_group *group, struct wants *out) {
  const struct plan_demand *demand = &group->demand;
  const bool reads = demand->direction == WEIR_READ, durable = demand->durability != WEIR_DURABILITY_NONE;
  bool direct = false;
  for (unsigned c = 0; c < group->cell_count; c++) direct |= (group->cells[c].capabilities & WEIR_CAP_DIRECT) != 0;
  const bool device = reads ? demand->cache == PLAN_COLD || direct : durable || direct;
  if (demand->task == WEIR_TASK_COPY || demand->task == WEIR_TASK_MANY || demand->direction == WEIR_MIXED || !device) return;
  out->reads |= reads;
  out->random |= reads && demand->access == WEIR_RANDOM;
  out->writes |= !reads;
  out->syncs |= !reads && durable;
}

static struct wants wants_of(const struct plan *plan) {
  struct wants wants = {false, false, false, false};
  for (unsigned g = 0; g < plan->group_count; g++) add_wants(&plan->groups[g], &wants);
  return wants;
}

static uint64_t largest_size(const struct plan *plan) {
  uint64_t largest = 0;
  for (unsigned g = 0; g < plan->group_count; g++)
    if (plan->groups[g].demand.size_bytes > largest) largest = plan->groups[g].demand.size_bytes;
  return largest;
}

/* ---- a ring that is kept full --------------------------------------------------------------------------------------- */

struct load {
  os_file file;
  enum os_ring_kind kind;
  bool random;
  size_t block;
  unsigned depth;
  uint64_t blocks, next;
  unsigned char *data; /* depth blocks */
  struct os_ring *ring;
  struct random_state state;
  uint64_t window_ns;
  unsigned in_flight;
};

static int queue_next(struct load *load, unsigned slot) {
  const uint64_t block = load->random ? random_below(&load->state, load->blocks) : load->next++ % load->blocks;
  const struct os_ring_request request = {.kind = load->kind,
                                          .file = load->file,
                                          .buffer_index = -1,
                                          .data = load->data + slot * load->block,
                                          .length = (uint32_t)load->block,
                                          .offset = block * load->block,
                                          .tag = slot};
  const int error = os_ring_queue(load->ring, &request);
  if (!error) load->in_flight++;
  return error;
}

/* Takes what is done, and begins as many again while `going`. Returns how many were done, or an error. */
static int take_done(struct load *load, bool going) {
  struct os_ring_completion done[RANDOM_DEPTH];
  int error = os_ring_submit(load->ring, 1);
  if (error) return error;
  const unsigned count = os_ring_reap(load->ring, done, RANDOM_DEPTH);
  load->in_flight -= count;
  for (unsigned i = 0; i < count && !error; i++) {
    if (done[i].result != (int32_t)load->block) error = done[i].result < 0 ? done[i].result : -EIO;
    if (!error && going) error = queue_next(load, (unsigned)done[i].tag);
  }
  return error ? error : (int)count;
}

static int run_windows(struct load *load, volatile int *interrupted, double rates[WINDOWS]) {
  int result = 0;
  unsigned windows = 0;
  double done = 0;
  for (unsigned slot = 0; slot < load->depth && result == 0; slot++) result = queue_next(load, slot);
  for (uint64_t began = os_clock_ns(); result >= 0 && windows < WINDOWS + 1;) {
    result = take_done(load, true);
    if (result >= 0) done += result;
    if (result >= 0 && *interrupted) result = -EINTR;
    const uint64_t now = os_clock_ns();
    if (now - began < load->window_ns) continue;
    if (windows > 0) rates[windows - 1] = done / (double)(now - began) * 1e9;
    windows++;
    began = now;
    done = 0;
  }
  return result < 0 ? result : 0;
}

/* Nothing may be given back while the device may still write to it; one that never tells keeps it. A try takes a tenth of a
 * second at most. */
static bool drain(struct load *load) {
  for (unsigned tries = 0; load->in_flight > 0 && tries < 50; tries++) (void)take_done(load, false);
  return load->in_flight == 0;
}

static int ascending(const void *left, const void *right) {
  const double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

static int open_ring(unsigned depth, struct os_ring **out) {
  static const enum os_ring_engine engines[] = {OS_RING_SHARED, OS_RING_KERNEL, OS_RING_THREADS};
  int error = -ENOSYS;
  for (unsigned i = 0; i < 3 && error; i++) error = os_ring_open_engine(engines[i], depth, out);
  return error;
}

/* Blocks a second. */
static int measure_load(struct load *load, const struct content *content, volatile int *interrupted, double *per_s) {
  double rates[WINDOWS];
  void *data;
  const size_t size = load->block * load->depth;
  int error = os_memory_get(size, 0, &data);
  if (error) return error;
  load->data = data;
  content_fill(content, 0, data, size);
  error = open_ring(load->depth, &load->ring);
  if (!error) {
    error = run_windows(load, interrupted, rates);
    if (!drain(load)) return error ? error : -EIO;
    os_ring_close(load->ring);
  }
  os_memory_put(data, size);
  if (error) return error;
  qsort(rates, WINDOWS, sizeof *rates, ascending);
  *per_s = rates[WINDOWS / 2];
  return 0;
}

/* ---- one place ------------------------------------------------------------------------------------------------------- */

struct place {
  const char *path;
  uint64_t size, window_ns;
  struct wants wants;
  const struct content *content;
  volatile int *interrupted;
};

static int measure_transfers(const struct place *place, os_file file, struct run_limits *out) {
  const struct load sequential = {.file = file,
                                  .kind = OS_RING_READ,
                                  .block = SEQUENTIAL_BLOCK,
                                  .depth = SEQUENTIAL_DEPTH,
                                  .blocks = place->size / SEQUENTIAL_BLOCK,
                                  .window_ns = place->window_ns};
  struct load reads = sequential, writes = sequential, random = sequential;
  double per_s = 0;
  int error = 0;
  writes.kind = OS_RING_WRITE;
  random.random = true;
  random.block = RANDOM_BLOCK;
  random.depth = RANDOM_DEPTH;
  random.blocks = place->size / RANDOM_BLOCK;
  random.state = random_start(place->content->seed, 0x11);
  if (place->wants.writes) error = measure_load(&writes, place->content, place->interrupted, &per_s);
  if (!error && place->wants.writes) out->write_bytes_per_s = per_s * (double)SEQUENTIAL_BLOCK;
  if (!error && place->wants.reads) error = measure_load(&reads, place->content, place->interrupted, &per_s);
  if (!error && place->wants.reads) out->read_bytes_per_s = per_s * (double)SEQUENTIAL_BLOCK;
  if (!error && place->wants.random) error = measure_load(&random, place->content, place->interrupted, &per_s);
  if (!error && place->wants.random) out->random_reads_per_s = per_s;
  return error;
}

/* A page that is there is changed and flushed, again and again; the flush is timed. */
static int measure_syncs(const struct place *place, struct run_limits *out) {
  unsigned char page[RANDOM_BLOCK];
  double times[SYNCS];
  unsigned count = 0;
  os_file file;
  int error = os_open(place->path, OS_WRITE, &file);
  if (error) return error;
  const uint64_t until = os_clock_ns() + WINDOWS * place->window_ns;
  while (!error && count < SYNCS && (count < 3 || os_clock_ns() < until)) {
    content_fill(place->content, count * MIB, page, sizeof page);
    const int64_t put = os_pwrite_full(file, page, sizeof page, count * RANDOM_BLOCK);
    const uint64_t began = os_clock_ns();
    error = put == (int64_t)sizeof page ? os_sync(file, false) : put < 0 ? (int)put : -EIO;
    times[count++] = (double)(os_clock_ns() - began);
    if (*place->interrupted) error = -EINTR;
  }
  (void)os_close(file);
  if (error) return error;
  qsort(times, count, sizeof *times, ascending);
  out->sync_ns = times[count / 2];
  return 0;
}

/*
 * The same read through the page cache, from where none of it is in there: where the system reads far ahead its requests are
 * larger than direct ones, which pages scattered in memory keep small. Bytes a second; 0 where it cannot be emptied.
 */
static int read_ahead_once(const struct place *place, os_file file, unsigned char *data, double *rate) {
  const uint64_t size = place->size < FILE_MOST ? place->size : FILE_MOST;
  struct os_cache state;
  *rate = 0;
  if (os_cache_evict(file, 0, size) < 0 || os_cache_state(file, 0, size, &state) < 0 || state.cached_bytes) return 0;
  const uint64_t began = os_clock_ns();
  for (uint64_t at = 0; at < size; at += MIB) {
    const uint64_t want = size - at < MIB ? size - at : MIB;
    const int64_t got = os_pread_full(file, data, (size_t)want, at);
    if (got != (int64_t)want) return got < 0 ? (int)got : -EIO;
    if (*place->interrupted) return -EINTR;
  }
  *rate = (double)size / (double)(os_clock_ns() - began) * 1e9;
  return 0;
}

static int measure_read_ahead(const struct place *place, struct run_limits *out) {
  double rates[READS_AHEAD];
  unsigned count = 0;
  os_file file;
  void *data;
  int error = os_memory_get(MIB, 0, &data);
  if (error) return error;
  error = os_open(place->path, OS_READ, &file);
  const bool open = error == 0;
  while (!error && count < READS_AHEAD) error = read_ahead_once(place, file, data, &rates[count++]);
  if (open) (void)os_close(file);
  os_memory_put(data, MIB);
  if (error) return error;
  qsort(rates, READS_AHEAD, sizeof *rates, ascending);
  const double rate = rates[READS_AHEAD / 2];
  if (rate > out->read_bytes_per_s) out->read_bytes_per_s = rate;
  return 0;
}

static void say(struct run_limits *out, const char *what, int error) {
  snprintf(out->reason, sizeof out->reason, "%s: %s", what, strerror(-error));
}

/* What failed is not measured; only an interrupt ends it all. */
static int measure_file(const struct place *place, struct run_limits *out) {
  const struct wants *wants = &place->wants;
  os_file file;
  int error = os_open(place->path, OS_READ | (wants->writes ? OS_WRITE : 0) | OS_DIRECT, &file);
  if (!error) {
    error = measure_transfers(place, file, out);
    (void)os_close(file);
  }
  if (error == -EINTR) return error;
  if (error) say(out, "direct transfers", error);
  error = wants->reads ? measure_read_ahead(place, out) : 0;
  if (error == -EINTR) return error;
  if (error) say(out, "reading ahead", error);
  error = wants->syncs ? measure_syncs(place, out) : 0;
  if (error && error != -EINTR) say(out, "flushing", error);
  return error == -EINTR ? error : 0;
}

static bool has_room(const char *directory, uint64_t size) {
  struct os_place facts;
  return os_place(directory, &facts) < 0 || facts.free_bytes > 3 * size;
}

/* The file is gone from the device, too, before anything else is measured there. */
static int measure_place(struct place *place, const char *directory, struct run_limits *out) {
  if (!has_room(directory, place->size)) {
    snprintf(out->reason, sizeof out->reason, "too little room for a file to measure the device with");
    return 0;
  }
  char *path = scratch_path(directory, "limits");
  if (!path) return -ENOMEM;
  place->path = path;
  int error = layout_write(path, place->size, place->content, place->interrupted);
  if (!error) {
    error = measure_file(place, out);
  } else if (error != -EINTR) {
    say(out, "writing a file to measure the device with", error);
    error = 0;
  }
  (void)os_remove(path);
  (void)os_sync_directory(directory);
  free(path);
  return error;
}

static int measure_user_file(struct place *place, const struct plan *plan, struct run_limits *out) {
  struct os_stat stat;
  if (os_stat_path(plan->file, &stat) < 0 || stat.size < FILE_LEAST) {
    snprintf(out->reason, sizeof out->reason, "the file is too small to measure its device with");
    return 0;
  }
  place->path = plan->file;
  place->size = stat.size < USER_FILE_MOST ? stat.size : USER_FILE_MOST;
  return measure_file(place, out);
}

static bool in_memory(const struct run *run, unsigned place) {
  char name[48] = "file.ram_backed";
  if (!run->plan.file) snprintf(name, sizeof name, "place.%u.ram_backed", place);
  const char *text = run_fact_text(run, name);
  return text && strcmp(text, "1") == 0;
}

int limits_measure(struct run *run, const struct scratch *scratch, const struct content *content,
                   const struct measure_options *options) {
  const struct plan *plan = &run->plan;
  const uint64_t largest = largest_size(plan);
  struct place place = {.wants = wants_of(plan), .content = content, .interrupted = options->interrupted};
  int error = 0;
  if (!place.wants.reads && !place.wants.writes) return 0;
  const struct measure_event event = {.kind = MEASURE_FLOORS, .run = run};
  if (options->observer.event) options->observer.event(options->observer.context, &event);
  run->limits = calloc(plan->place_count + (size_t)1, sizeof *run->limits);
  if (!run->limits) return -ENOMEM;
  place.window_ns = largest < SMALL_RUN ? WINDOW_LEAST_NS : WINDOW_NS / plan->place_count;
  if (place.window_ns < WINDOW_LEAST_NS) place.window_ns = WINDOW_LEAST_NS;
  for (unsigned i = 0; i < plan->place_count && !error; i++) {
    struct run_limits *out = &run->limits[i];
    place.size = largest > FILE_MOST ? FILE_MOST : largest < FILE_LEAST ? FILE_LEAST : largest / MIB * MIB;
    if (in_memory(run, i)) continue;
    error = plan->file ? measure_user_file(&place, plan, out) : measure_place(&place, scratch->paths[i], out);
  }
  return error;
}
