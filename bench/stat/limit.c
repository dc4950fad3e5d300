/*
 * limit.c - of all that bounds a cell the one that it comes nearest to: memory for data that come from memory, the device
 * for those that come from there, flushes for what is durable.
 *
 * The floors of memory are those of one thread and of data too large for the caches, so they bound no cell of several
 * threads and no small file; a view that nobody touches moves nothing and has no bound.
 */
#include "stat/limit.h"

#include <string.h>

#include "stat/label.h"

/* Buffered random reads may find pages that were read ahead: what goes beyond this was not bounded by single requests. */
#define EXCEEDED_PERCENT 105

static void consider(struct stat_cell *cell, const char *name, double percent) {
  if (!(percent > cell->limit_percent)) return;
  cell->limit_percent = percent;
  cell->limit = name;
}

/* `amount` a second against what is possible a second. */
static void bound(struct stat_cell *cell, const char *name, double amount, double possible) {
  if (possible > 0) consider(cell, name, 100 * amount / possible);
}

static bool is_label(const struct stat_cell *cell, const char *word) {
  return strncmp(cell->label, word, strlen(word)) == 0 && strcspn(cell->label, "+") == strlen(word);
}

/* ---- memory --------------------------------------------------------------------------------------------------------- */

static void bound_by_memory(const struct series *series, const struct plan_cell *plan, struct stat_cell *cell) {
  const struct plan_demand *demand = &series->plan->demand;
  const bool view = plan->capabilities & WEIR_CAP_VIEW;
  if (plan->threads > 1 || demand->size_bytes < RUN_FLOOR_BYTES || (plan->capabilities & WEIR_CAP_DIRECT)) return;
  if (view && demand->consumer == WEIR_CONSUMER_NONE) return;
  const struct run_floors *floors = &series->run->floors;
  bound(cell, view ? "scan" : "memory copy", cell->bytes_per_s,
        view ? floors->scan_bytes_per_s : floors->memcpy_bytes_per_s);
}

/* ---- devices -------------------------------------------------------------------------------------------------------- */

static double sum_known(double a, double b) { return a > 0 && b > 0 ? a + b : 0; }

/* Members work side by side; one of which nothing is known leaves nothing known of all. For flushes: the slowest. */
static struct run_limits device_limits(const struct series *series, const struct plan_cell *plan) {
  const struct run *run = series->run;
  const unsigned members = series->plan->demand.members, count = members ? members : 1;
  if (!run->limits || plan->place + count > run->plan.place_count) return (struct run_limits){0};
  struct run_limits all = run->limits[plan->place];
  for (unsigned i = 1; i < count; i++) {
    const struct run_limits *one = &run->limits[plan->place + i];
    all.read_bytes_per_s = sum_known(all.read_bytes_per_s, one->read_bytes_per_s);
    all.write_bytes_per_s = sum_known(all.write_bytes_per_s, one->write_bytes_per_s);
    all.random_reads_per_s = sum_known(all.random_reads_per_s, one->random_reads_per_s);
    if (one->sync_ns > all.sync_ns) all.sync_ns = one->sync_ns;
  }
  return all;
}

static uint64_t parameter(const struct plan_cell *plan, const char *name) {
  for (unsigned i = 0; i < plan->param_count; i++)
    if (strcmp(plan->params[i].name, name) == 0) return plan->params[i].value;
  return 0;
}

/* Random requests of less than a page share pages with others. */
static bool is_random(const struct series *series, const struct plan_cell *plan) {
  const struct plan_demand *demand = &series->plan->demand;
  const uint64_t request = demand->request_bytes ? demand->request_bytes : parameter(plan, "block");
  return demand->task == WEIR_TASK_BLOCKS && demand->access == WEIR_RANDOM && request >= RUN_LIMIT_RANDOM_BYTES;
}

static void bound_reader(const struct series *series, const struct plan_cell *plan, struct stat_cell *cell) {
  const struct run_limits limits = device_limits(series, plan);
  bound(cell, "device sequential", cell->bytes_per_s, limits.read_bytes_per_s);
  if (!is_random(series, plan) || !(limits.random_reads_per_s > 0)) return;
  const double percent = 100 * cell->operations_per_s / limits.random_reads_per_s;
  if (percent <= EXCEEDED_PERCENT || (plan->capabilities & WEIR_CAP_DIRECT)) consider(cell, "device random", percent);
}

static void bound_writer(const struct series *series, const struct plan_cell *plan, struct stat_cell *cell) {
  const struct plan_demand *demand = &series->plan->demand;
  const struct run_limits limits = device_limits(series, plan);
  const bool one_at_a_time =
      plan->threads <= 1 && !demand->members && !(plan->capabilities & WEIR_CAP_DEPTH && parameter(plan, "depth") > 1);
  bound(cell, "device write", cell->bytes_per_s, limits.write_bytes_per_s);
  if (!(limits.sync_ns > 0)) return;
  if (demand->durability == WEIR_DURABILITY_END) consider(cell, "sync", 100 * limits.sync_ns / cell->elapsed_ns.median);
  if (demand->durability == WEIR_DURABILITY_EACH && one_at_a_time)
    bound(cell, "sync", cell->operations_per_s, 1e9 / limits.sync_ns);
}

void limit_fill(const struct series *series, unsigned index, struct stat_cell *cell) {
  const struct plan_cell *plan = &series->plan->cells[index];
  const struct plan_demand *demand = &series->plan->demand;
  const bool in_memory = label_ram_backed(series, index), direct = plan->capabilities & WEIR_CAP_DIRECT;
  const bool files = demand->task == WEIR_TASK_COPY || demand->task == WEIR_TASK_MANY;
  if (plan->capabilities & (WEIR_CAP_FLOOR | WEIR_CAP_OUTSIDE)) return;
  if (demand->direction == WEIR_READ) {
    if (is_label(cell, "warm") || in_memory) bound_by_memory(series, plan, cell);
    const bool from_device = is_label(cell, "cold") || is_label(cell, "guest-cold") || direct;
    if (from_device && !in_memory && !files) bound_reader(series, plan, cell);
  } else if (demand->direction == WEIR_WRITE && !in_memory && !files) {
    if (demand->durability != WEIR_DURABILITY_NONE || direct) bound_writer(series, plan, cell);
  }
}
