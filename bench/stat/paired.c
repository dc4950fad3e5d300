/*
 * paired.c - differences between cells of the same round. Pairing cancels what the machine did to both; the sign of a
 * difference is our own coin, so all intervals come from the sign test alone.
 */
#include "stat/paired.h"

#include <math.h>
#include <string.h>

#include "stat/exact.h"

unsigned paired_differences(const struct series *series, unsigned a, unsigned b, double *out) {
  unsigned n = 0;
  for (size_t r = 0; r < series->round_count; r++) {
    double difference = series_value(series, a, r) - series_value(series, b, r);
    if (!isnan(difference)) out[n++] = difference;
  }
  return n;
}

struct stat_interval paired_interval(const double *sorted, unsigned n, unsigned rank) {
  struct stat_interval interval = {0};
  if (n > 0) interval.median = exact_middle(sorted, n);
  if (rank > 0) {
    interval.low = sorted[rank - 1];
    interval.high = sorted[n - rank];
    interval.known = true;
  }
  return interval;
}

/* sign -1 turns the pair round: the speed of a against b. */
static struct stat_interval ratio_of(struct stat_interval ln, double sign) {
  double end = exp(sign * ln.low), other = exp(sign * ln.high);
  struct stat_interval ratio = {.median = exp(sign * ln.median), .known = ln.known};
  if (ln.known) {
    ratio.low = sign > 0 ? end : other;
    ratio.high = sign > 0 ? other : end;
  }
  return ratio;
}

struct stat_interval paired_ratio(const double *sorted, unsigned n, unsigned rank) {
  if (n == 0) return (struct stat_interval){0};
  return ratio_of(paired_interval(sorted, n, rank), 1);
}

/* ---- all pairs ----------------------------------------------------------------------------------------------------- */

/* The rank that goes with a number of rounds. Nearly all pairs of a run have the same number, so one is kept. */
struct rank_memo {
  unsigned n, rank;
};

/*
 * Below the floor of k cells no interval can hold for all of them at once; the plain one is still worth printing, and no
 * verdict is drawn from it.
 */
static unsigned interval_rank(struct rank_memo *memo, unsigned n, unsigned k) {
  if (n != memo->n) {
    bool simultaneous = k > 1 && n >= exact_floor_baseline(k);
    *memo = (struct rank_memo){n, exact_interval_rank(n, simultaneous ? PAIRED_LEVEL / (k - 1) : PAIRED_LEVEL)};
  }
  return memo->rank;
}

static unsigned count_positive(const double *sorted, unsigned n) {
  unsigned at = n;
  while (at > 0 && sorted[at - 1] > 0) at--;
  return n - at;
}

static unsigned count_negative(const double *sorted, unsigned n) {
  unsigned at = 0;
  while (at < n && sorted[at] < 0) at++;
  return at;
}

void paired_compare_all(const struct series *series, struct stat_group *group, struct paired_duel *duels) {
  struct rank_memo memo = {0};
  double *differences = series->scratch;
  const unsigned k = series->k;
  for (unsigned x = 0; x < k; x++) {
    size_t a = series->play[x];
    group->pairs[a * group->cell_count + a] = (struct stat_interval){1, 1, 1, true};
    for (unsigned y = x + 1; y < k; y++) {
      size_t b = series->play[y];
      unsigned n = paired_differences(series, (unsigned)a, (unsigned)b, differences);
      if (n == 0) continue;
      exact_sort(differences, n);
      struct stat_interval ln = paired_interval(differences, n, interval_rank(&memo, n, k));
      group->pairs[a * group->cell_count + b] = ratio_of(ln, 1);
      group->pairs[b * group->cell_count + a] = ratio_of(ln, -1);
      duels[x * k + y] = (struct paired_duel){n, count_positive(differences, n)};
      duels[y * k + x] = (struct paired_duel){n, count_negative(differences, n)};
    }
  }
}

/* ---- the A/A twin -------------------------------------------------------------------------------------------------- */

static bool same_choice(const struct plan_cell *a, const struct plan_cell *b) {
  if (strcmp(a->method, b->method) != 0 || a->threads != b->threads || a->place != b->place) return false;
  if (a->param_count != b->param_count) return false;
  for (unsigned i = 0; i < a->param_count; i++) {
    if (strcmp(a->params[i].name, b->params[i].name) != 0 || a->params[i].value != b->params[i].value) return false;
  }
  return true;
}

int paired_original(const struct plan_group *plan, unsigned twin) {
  for (unsigned c = 0; c < plan->cell_count; c++) {
    if (!plan->cells[c].twin && same_choice(&plan->cells[c], &plan->cells[twin])) return (int)c;
  }
  return -1;
}

static int find_twin(const struct series *series, const struct stat_group *group) {
  for (unsigned c = 0; c < series->cell_count; c++) {
    if (series->plan->cells[c].twin && group->cells[c].status == PLAN_OK) return (int)c;
  }
  return -1;
}

/* Differences of the A/A pair, sorted; 0 when there is no twin. */
static unsigned twin_differences(const struct series *series, const struct stat_group *group, double *out) {
  int twin = find_twin(series, group), original = twin < 0 ? -1 : paired_original(series->plan, (unsigned)twin);
  if (original < 0 || group->cells[original].status != PLAN_OK) return 0;
  unsigned n = paired_differences(series, (unsigned)original, (unsigned)twin, out);
  exact_sort(out, n);
  return n;
}

/* Replaces n sorted values by their distances from their median, unsorted. */
static void centre(double *values, unsigned n) {
  double middle = exact_middle(values, n);
  for (unsigned i = 0; i < n; i++) values[i] -= middle;
}

/* 1.4826 makes the median distance of normal values their standard deviation. */
static double spread(double *sorted, unsigned n) {
  centre(sorted, n);
  for (unsigned i = 0; i < n; i++) sorted[i] = fabs(sorted[i]);
  return 1.4826 * exact_median(sorted, n);
}

void paired_twin(const struct series *series, struct stat_group *group) {
  double *differences = series->scratch;
  unsigned n = twin_differences(series, group, differences);
  group->margin = series->run->plan.margin > 0 ? series->run->plan.margin : 0;
  if (n == 0) return;
  unsigned rank = exact_interval_rank(n, PAIRED_LEVEL);
  group->twin = paired_ratio(differences, n, rank);
  if (group->twin.known) {
    struct stat_interval ln = paired_interval(differences, n, rank);
    group->margin = fmax(group->margin, expm1(fmax(fabs(ln.low), fabs(ln.high))));
  }
  group->noise = spread(differences, n);
}

/* ---- what could have been called ----------------------------------------------------------------------------------- */

/* The differences of every cell to the baseline, each cell about its own median. With one cell alone: of its twin. */
static unsigned pool_differences(const struct series *series, const struct stat_group *group, double *out) {
  unsigned total = 0;
  for (unsigned i = 0; i < series->k; i++) {
    if ((int)series->play[i] == group->baseline) continue;
    unsigned n = paired_differences(series, (unsigned)group->baseline, series->play[i], out + total);
    if (n == 0) continue;
    exact_sort(out + total, n);
    centre(out + total, n);
    total += n;
  }
  if (series->k == 1) {
    total = twin_differences(series, group, out);
    if (total > 0) centre(out, total);
  }
  exact_sort(out, total);
  return total;
}

/* Between order statistics; `share` in [0, 1]. */
static double quantile(const double *sorted, unsigned n, double share) {
  double at = share * (n - 1);
  unsigned below = (unsigned)at;
  if (below + 1 >= n) return sorted[n - 1];
  return sorted[below] + (at - below) * (sorted[below + 1] - sorted[below]);
}

/*
 * A true ratio (1 + margin) * exp(delta) is called when enough differences lie beyond the margin: each does so with the
 * probability that noise stays below delta. Faster and slower differ where noise is lopsided; the mean stands for both.
 */
double paired_smallest_callable(const struct series *series, const struct stat_group *group) {
  if (series->k == 0 || group->baseline < 0) return 0;
  unsigned tests = series->k > 1 ? series->k - 1 : 1;
  double win = exact_detectable_win(series->rounds, PAIRED_LEVEL / tests);
  unsigned pooled = win > 0 ? pool_differences(series, group, series->scratch) : 0;
  if (pooled == 0) return 0;
  double up = quantile(series->scratch, pooled, win), down = -quantile(series->scratch, pooled, 1 - win);
  return (1 + group->margin) * exp((up + down) / 2);
}
