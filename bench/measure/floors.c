/*
 * floors.c - the floors: harness, clock, system call, page faults, memory copy and scan. Each is the median of several
 * short runs, which one interruption cannot move.
 */
#include "measure/floors.h"

#include <stdlib.h>
#include <string.h>

#include "measure/cells.h"
#include "measure/flow.h"
#include "os/os.h"

#define RUNS 9u
#define MIB ((size_t)1024 * 1024)
#define COPY_BYTES ((size_t)RUN_FLOOR_BYTES) /* larger than most last-level caches: memory, not cache, is the floor */
#define COPY_PIECE (256 * 1024)
#define FAULT_BYTES (16 * MIB)

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The median time of `measure`, in ns for each unit; negative when it cannot be measured. */
static double median_of(double (*measure)(void *context), void *context) {
  double values[RUNS];
  for (unsigned i = 0; i < RUNS; i++) {
    values[i] = measure(context);
    if (values[i] < 0) return 0;
  }
  qsort(values, RUNS, sizeof values[0], ascending);
  return values[RUNS / 2];
}

/* ---- system call: the shortest that really enters the kernel ------------------------------------------------------- */

static double seek_ns(void *context) {
  const os_file *file = context;
  enum { CALLS = 20000 };
  uint64_t began = os_clock_ns();
  for (unsigned i = 0; i < CALLS; i++)
    if (os_seek(*file, i) < 0) return -1;
  return (double)(os_clock_ns() - began) / CALLS;
}

static double syscall_floor(void) {
  os_file file;
  if (os_memory_file("weir-floor", 4096, &file) < 0) return 0;
  double ns = median_of(seek_ns, &file);
  os_close(file);
  return ns;
}

/* ---- page faults ----------------------------------------------------------------------------------------------------- */

struct fault { size_t page; unsigned flags; };

static double fault_ns(void *context) {
  const struct fault *fault = context;
  void *memory;
  if (fault->page == 0 || os_memory_get(FAULT_BYTES, fault->flags, &memory) < 0) return -1;
  volatile unsigned char *bytes = memory;
  struct os_usage before, after;
  os_usage(&before);
  uint64_t began = os_clock_ns();
  for (size_t at = 0; at < FAULT_BYTES; at += fault->page) bytes[at] = 1;
  uint64_t elapsed = os_clock_ns() - began;
  os_usage(&after);
  os_memory_put(memory, FAULT_BYTES);
  uint64_t pages = FAULT_BYTES / fault->page, faults = after.minor_faults - before.minor_faults;
  bool refused = (fault->flags & OS_MEMORY_HUGE) && faults > 2 * pages; /* small pages were given instead */
  return refused ? -1 : (double)elapsed / (double)pages;
}

/* ---- memory ---------------------------------------------------------------------------------------------------------- */

struct memory { unsigned char *source, *target; uint64_t sink; };

/* Nanoseconds for a byte, into a buffer that is used again and again, as a reader with one block buffer does it. */
static double copy_ns(void *context) {
  struct memory *memory = context;
  uint64_t began = os_clock_ns();
  for (size_t at = 0; at < COPY_BYTES; at += COPY_PIECE) {
    memcpy(memory->target, memory->source + at, COPY_PIECE);
    memory->sink += *(volatile unsigned char *)memory->target;
  }
  return (double)(os_clock_ns() - began) / (double)COPY_BYTES;
}

/* The default consumer's own loop: one load a cache line. */
static double scan_ns(void *context) {
  struct memory *memory = context;
  uint64_t began = os_clock_ns();
  memory->sink += weir_touch(0, memory->source, COPY_BYTES);
  return (double)(os_clock_ns() - began) / (double)COPY_BYTES;
}

static void memory_floors(struct run_floors *out) {
  void *source, *target;
  if (os_memory_get(COPY_BYTES, OS_MEMORY_HUGE, &source) < 0) return;
  if (os_memory_get(COPY_PIECE, 0, &target) == 0) {
    struct memory memory = {source, target, 0};
    memset(source, 1, COPY_BYTES);
    memset(target, 1, COPY_PIECE);
    double copy = median_of(copy_ns, &memory), scan = median_of(scan_ns, &memory);
    volatile uint64_t keep = memory.sink;
    (void)keep;
    out->memcpy_bytes_per_s = copy > 0 ? 1e9 / copy : 0;
    out->scan_bytes_per_s = scan > 0 ? 1e9 / scan : 0;
    os_memory_put(target, COPY_PIECE);
  }
  os_memory_put(source, COPY_BYTES);
}

/* ---- the harness itself ------------------------------------------------------------------------------------------------ */

struct harness { const struct weir_method *null; bool latency; };

/* The null method through the same calls as any other, 4 KiB requests, nothing consumed. */
static double harness_ns(void *context) {
  const struct harness *harness = context;
  struct plan_cell cell = {.threads = 1, .param_count = 1, .params = {{.name = "block", .value = 4096}}};
  struct plan_group group = {.cells = &cell, .cell_count = 1,
                             .demand = {.size_bytes = 512 * MIB, .request_bytes = 4096, .consumer = WEIR_CONSUMER_NONE}};
  struct plan plan = {.group_count = 1, .groups = &group};
  const struct cell_files files = {.path = "", .directory = ""};
  struct cell_job job;
  struct weir_flow flow;
  struct flow_core core;
  atomic_int stop = 0;
  const struct flow_setup setup = {.consumer = WEIR_CONSUMER_NONE, .stop = &stop, .latency = harness->latency,
                                   .reference = os_no_file};
  cell_job_init(&job, &plan, 0, 0, 0, &files);
  if (flow_init(&flow, &core, &setup) < 0) return -1;
  void *state = calloc(1, harness->null->state_size + 1);
  double ns = -1;
  if (state && (!harness->null->setup || harness->null->setup(state, &job.job) == 0)) {
    uint64_t began = os_clock_ns();
    harness->null->run(state, &job.job, &flow, UINT64_MAX);
    uint64_t elapsed = os_clock_ns() - began;
    if (flow.operations > 0) ns = (double)elapsed / (double)flow.operations;
    if (harness->null->teardown) harness->null->teardown(state, &job.job);
  }
  free(state);
  flow_free(&flow);
  return ns;
}

void floors_measure(struct run_floors *out, const struct weir_method *null) {
  struct os_clock_facts clock;
  struct fault small = {os_page_size(), 0}, huge = {os_huge_page_size(), OS_MEMORY_HUGE};
  struct harness plain = {null, false}, timed = {null, true};
  *out = (struct run_floors){0};
  os_clock_measure(&clock);
  out->clock_read_ns = clock.read_ns;
  out->clock_step_ns = clock.step_ns;
  out->syscall_ns = syscall_floor();
  out->page_fault_ns = median_of(fault_ns, &small);
  out->huge_page_fault_ns = median_of(fault_ns, &huge);
  memory_floors(out);
  if (!null) return;
  out->harness_ns_per_op = median_of(harness_ns, &plain);
  if (os_fast_clock_start() == 0) out->harness_latency_ns_per_op = median_of(harness_ns, &timed);
}
