/*
 * machine.c - see machine.h. From the control and the counters around each round; no time of a sample is looked at, but for
 * the steady state of writers, which is about nothing else.
 */
#include "stat/machine.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "stat/exact.h"

/* Rounds that a slope is taken through at most: all pairs of them are looked at. */
#define SLOPE_ROUNDS 200u

/* The rounds that are told of: of one group, or of all. */
struct scope {
  const struct run *run;
  const uint32_t *noise;
  bool all;
  uint32_t group;
  double *values; /* room for one of each round */
  double *slopes; /* room for all pairs of SLOPE_ROUNDS */
};

static bool is_in(const struct scope *scope, size_t i) {
  const struct run_round *round = &scope->run->rounds[i];
  return round->round >= 1 && (scope->all || round->group == scope->group);
}

/* ---- shares ---- */

typedef int64_t counter(const struct run_round *round);
static int64_t read_steal(const struct run_round *round) { return round->steal_ns; }
static int64_t read_cpu_stall(const struct run_round *round) { return round->cpu_stall_ns; }
static int64_t read_io_stall(const struct run_round *round) { return round->io_stall_ns; }
static int64_t read_memory_stall(const struct run_round *round) { return round->memory_stall_ns; }

/* Of the time of all rounds whose counter is known; -1 of none. */
static double share(const struct scope *scope, counter *read) {
  double sum = 0, elapsed = 0;
  for (size_t i = 0; i < scope->run->round_count; i++) {
    const int64_t value = is_in(scope, i) ? read(&scope->run->rounds[i]) : -1;
    if (value < 0) continue;
    sum += (double)value;
    elapsed += (double)scope->run->rounds[i].elapsed_ns;
  }
  return elapsed > 0 ? sum / elapsed : -1;
}

static double processors(const struct run *run) {
  const char *text = run_fact_text(run, "cpus");
  const double count = text ? (double)strtoul(text, NULL, 10) : 0;
  return count > 0 ? count : 1;
}

/* ---- the control ---- */

static bool has_control(const struct run_round *round) {
  return round->anchor_ns[RUN_FIRST] > 0 && round->anchor_ns[RUN_LAST] > 0;
}

static double control_of(const struct run_round *round) {
  return ((double)round->anchor_ns[RUN_FIRST] + (double)round->anchor_ns[RUN_LAST]) / 2;
}

static unsigned collect(const struct scope *scope, double (*value)(const struct run_round *round)) {
  unsigned n = 0;
  for (size_t i = 0; i < scope->run->round_count; i++)
    if (is_in(scope, i) && has_control(&scope->run->rounds[i])) scope->values[n++] = value(&scope->run->rounds[i]);
  return n;
}

static double change_within(const struct run_round *round) {
  return log((double)round->anchor_ns[RUN_LAST]) - log((double)round->anchor_ns[RUN_FIRST]);
}
static double ln_of(const struct run_round *round) { return log(control_of(round)); }

static double spread_of(double *values, unsigned n) {
  const double middle = exact_median(values, n);
  for (unsigned i = 0; i < n; i++) values[i] = fabs(values[i] - middle);
  return 1.4826 * exact_median(values, n);
}

/* The median of the slopes between any two rounds: single bad ones do not turn it. */
static void find_drift(const struct scope *scope, unsigned n, struct stat_machine *out) {
  const unsigned step = n > SLOPE_ROUNDS ? n / SLOPE_ROUNDS + 1 : 1;
  size_t pairs = 0;
  for (unsigned a = 0; a < n; a += step)
    for (unsigned b = a + step; b < n; b += step) scope->slopes[pairs++] = (scope->values[b] - scope->values[a]) / (b - a);
  out->drift_known = pairs > 0;
  if (pairs > 0) out->drift = expm1(exact_median(scope->slopes, pairs) * (n - 1));
}

static void fill_control(const struct scope *scope, struct stat_machine *out) {
  unsigned n = collect(scope, ln_of);
  out->control_noise = -1;
  if (n == 0) return;
  find_drift(scope, n, out);
  n = collect(scope, control_of);
  out->control_ns = exact_median(scope->values, n);
  n = collect(scope, change_within);
  if (n > 1) out->control_noise = spread_of(scope->values, n);
}

/* ---- all of it ---- */

static void fill_one(const struct scope *scope, struct stat_machine *out) {
  *out = (struct stat_machine){0};
  for (size_t i = 0; i < scope->run->round_count; i++) {
    const struct run_round *round = &scope->run->rounds[i];
    const double hz = (double)round->processor_hz;
    if (!is_in(scope, i)) continue;
    out->rounds++;
    out->noisy += scope->noise[i] != 0;
    for (unsigned kind = 0; kind < RUN_NOISE_KINDS; kind++) out->noisy_by[kind] += scope->noise[i] >> kind & 1u;
    out->waited_ns += (double)round->waited_ns;
    if (hz > 0 && (out->slowest_hz <= 0 || hz < out->slowest_hz)) out->slowest_hz = hz;
    if (hz > out->fastest_hz) out->fastest_hz = hz;
  }
  const double steal = share(scope, read_steal);
  out->steal = steal < 0 ? -1 : steal / processors(scope->run);
  out->cpu_stall = share(scope, read_cpu_stall);
  out->io_stall = share(scope, read_io_stall);
  out->memory_stall = share(scope, read_memory_stall);
  fill_control(scope, out);
}

static void fill_all(struct scope *scope, struct summary *out) {
  scope->all = true;
  fill_one(scope, &out->machine);
  scope->all = false;
  for (unsigned g = 0; g < out->group_count; g++) {
    scope->group = g;
    fill_one(scope, &out->groups[g].machine);
  }
}

int machine_fill(const struct run *run, struct summary *out) {
  struct scope scope = {.run = run};
  out->noise = calloc(run->round_count + 1, sizeof *out->noise);
  scope.values = calloc(run->round_count + 1, sizeof *scope.values);
  const size_t points = run->round_count < SLOPE_ROUNDS ? run->round_count : SLOPE_ROUNDS;
  scope.slopes = calloc(points * points + 1, sizeof *scope.slopes);
  scope.noise = out->noise;
  int error = out->noise && scope.values && scope.slopes ? run_judge_rounds(run, out->noise) : -ENOMEM;
  if (!error) fill_all(&scope, out);
  free(scope.values);
  free(scope.slopes);
  return error;
}

/* ---- writers at rest ---- */

/* By least squares through x = 0, 1, ...: how far the line moves from the first value to the last. */
static double moved(const double *values, unsigned n) {
  double x_mean = (n - 1) / 2.0, mean = 0, top = 0, bottom = 0;
  for (unsigned i = 0; i < n; i++) mean += values[i] / n;
  for (unsigned i = 0; i < n; i++) {
    top += (i - x_mean) * (values[i] - mean);
    bottom += (i - x_mean) * (i - x_mean);
  }
  return top / bottom * (n - 1);
}

void machine_steadiness(const struct series *series, unsigned index, struct stat_cell *cell) {
  double rates[STAT_STEADY_ROUNDS], mean = 0, least = 0, most = 0;
  unsigned n = 0;
  if (series->plan->demand.direction == WEIR_READ) return;
  for (size_t r = series->round_count; r-- > 0 && n < STAT_STEADY_ROUNDS;) {
    const struct sample *sample = series_sample(series, index, r);
    if (sample) rates[STAT_STEADY_ROUNDS - ++n] = 1 / sample_elapsed_ns(sample);
  }
  if (n < STAT_STEADY_ROUNDS) return;
  for (unsigned i = 0; i < n; i++) {
    mean += rates[i] / n;
    if (i == 0 || rates[i] < least) least = rates[i];
    if (i == 0 || rates[i] > most) most = rates[i];
  }
  cell->steady_range = (most - least) / mean;
  cell->steady_slope = moved(rates, n) / mean;
  const bool steady = cell->steady_range <= STAT_STEADY_RANGE && fabs(cell->steady_slope) <= STAT_STEADY_SLOPE;
  cell->steadiness = steady ? STAT_STEADY : STAT_NOT_STEADY;
}
