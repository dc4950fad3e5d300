/*
 * latency.c - percentiles over the operations of a sample, and what the rounds say of them: the median over rounds of the
 * round's percentile, with the same order-statistic interval as times have. A percentile beyond which a sample has fewer
 * than ten operations is made of a handful of accidents and is not given.
 */
#include "stat/latency.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stat/exact.h"
#include "stat/paired.h"

const struct stat_percentile stat_percentiles[STAT_PERCENTILES] = {
    {"p50", 0.5, 20}, {"p90", 0.9, 100}, {"p99", 0.99, 1000}, {"p99.9", 0.999, 10000}, {"p99.99", 0.9999, 100000}};

/* Octaves of older files go where they begin, so that their counts stay what they were. */
static void merge(const struct run *run, const struct sample *sample, uint64_t counts[HISTOGRAM_SLOTS]) {
  const struct histogram_entry *entries = run_latency(run, sample);
  for (size_t i = 0; i < sample->latency_count; i++) {
    const uint32_t slot = entries[i].slot;
    counts[sample->latency_is_log2 ? histogram_slot(UINT64_C(1) << slot) : slot] += entries[i].count;
  }
}

static struct stat_interval percentile(const struct series *series, unsigned cell, double share) {
  unsigned n = 0;
  for (size_t r = 0; r < series->round_count; r++) {
    const struct sample *sample = series_sample(series, cell, r);
    if (sample && sample->latency_count)
      series->scratch[n++] = histogram_quantile(run_latency(series->run, sample), sample->latency_count, share);
  }
  exact_sort(series->scratch, n);
  return paired_interval(series->scratch, n, exact_interval_rank(n, PAIRED_LEVEL));
}

/* The fewest operations of a sample, and the counts of all. */
static unsigned add_samples(const struct series *series, unsigned cell, struct stat_latency *out, uint64_t *counts) {
  unsigned n = 0;
  for (size_t r = 0; r < series->round_count; r++) {
    const struct sample *sample = series_sample(series, cell, r);
    if (!sample || !sample->latency_count) continue;
    const uint64_t operations = histogram_total(run_latency(series->run, sample), sample->latency_count);
    if (n++ == 0 || operations < out->operations) out->operations = operations;
    out->is_log2 |= sample->latency_is_log2;
    merge(series->run, sample, counts);
  }
  return n;
}

static double late_share(const struct series *series, unsigned cell) {
  double late = 0, operations = 0;
  for (size_t r = 0; r < series->round_count; r++) {
    const struct sample *sample = series_sample(series, cell, r);
    if (!sample || !sample->latency_count) continue;
    late += (double)sample->late;
    operations += (double)sample->operations;
  }
  return series->plan->demand.rate_per_s > 0 && operations > 0 ? late / operations : -1;
}

static int fill(const struct series *series, unsigned cell, struct stat_cell *out, uint64_t *counts) {
  struct stat_latency found = {0};
  memset(counts, 0, HISTOGRAM_SLOTS * sizeof *counts);
  if (add_samples(series, cell, &found, counts) == 0) return 0;
  out->latency = malloc(sizeof *out->latency + HISTOGRAM_SLOTS * sizeof out->latency->slots[0]);
  if (!out->latency) return -ENOMEM;
  for (unsigned i = 0; i < STAT_PERCENTILES; i++)
    if (!found.is_log2 && found.operations >= stat_percentiles[i].operations)
      found.percentile_ns[i] = percentile(series, cell, stat_percentiles[i].share);
  found.late_share = late_share(series, cell);
  *out->latency = found;
  out->latency->slot_count = histogram_pack(counts, out->latency->slots);
  return 0;
}

int latency_fill(const struct series *series, struct stat_group *group) {
  int error = 0;
  if (!series->run->latency_count) return 0;
  uint64_t *counts = malloc(HISTOGRAM_SLOTS * sizeof *counts);
  if (!counts) return -ENOMEM;
  for (unsigned c = 0; c < group->cell_count && !error; c++)
    if (group->cells[c].status == PLAN_OK) error = fill(series, c, &group->cells[c], counts);
  free(counts);
  return error;
}
