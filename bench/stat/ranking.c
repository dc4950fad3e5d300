/*
 * ranking.c - from pairs to claims: best set, rank ranges, verdicts. Says nothing where the number of rounds is below the
 * floor at which any data could decide.
 */
#include "stat/ranking.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "stat/exact.h"

/* One-sided at level / (k - 1): the true best is lost only if one of k - 1 true hypotheses is rejected. */
static bool is_beaten(const struct series *series, const struct paired_duel *duels, unsigned x) {
  unsigned n = 0, critical = 1;
  for (unsigned y = 0; y < series->k; y++) {
    const struct paired_duel *duel = &duels[x * series->k + y];
    if (y == x || duel->n == 0) continue;
    if (duel->n != n) critical = exact_critical_wins(n = duel->n, PAIRED_LEVEL / (series->k - 1));
    if (duel->wins >= critical) return true;
  }
  return false;
}

void ranking_best_set(const struct series *series, const struct paired_duel *duels, struct stat_group *group) {
  if (!group->claims) return;
  for (unsigned x = 0; x < series->k; x++) {
    struct stat_cell *cell = &group->cells[series->play[x]];
    cell->best = !is_beaten(series, duels, x);
    group->best_count += cell->best;
  }
}

/* ---- rank ranges --------------------------------------------------------------------------------------------------- */

static double two_sided(const struct paired_duel *one, const struct paired_duel *other) {
  unsigned wins = one->wins > other->wins ? one->wins : other->wins;
  return fmin(1, 2 * exact_upper_tail(one->n, wins, 0.5));
}

/* p-values of the pairs x < y, row after row. */
static void fill_p(const struct paired_duel *duels, unsigned k, double *p) {
  for (unsigned x = 0; x < k; x++) {
    for (unsigned y = x + 1; y < k; y++) *p++ = two_sided(&duels[x * k + y], &duels[y * k + x]);
  }
}

static void apply_ranks(const struct series *series, const struct paired_duel *duels, const bool *differ,
                        struct stat_group *group) {
  const unsigned k = series->k;
  for (unsigned x = 0; x < k; x++) {
    struct stat_cell *cell = &group->cells[series->play[x]];
    cell->rank_low = 1;
    cell->rank_high = k;
    cell->ranked = true;
  }
  for (unsigned x = 0; x < k; x++) {
    for (unsigned y = x + 1; y < k; y++) {
      if (!*differ++) continue;
      bool y_faster = duels[x * k + y].wins > duels[y * k + x].wins;
      group->cells[series->play[y_faster ? x : y]].rank_low++;
      group->cells[series->play[y_faster ? y : x]].rank_high--;
    }
  }
}

int ranking_ranges(const struct series *series, const struct paired_duel *duels, struct stat_group *group) {
  const size_t k = series->k, count = k * (k - (k > 0)) / 2;
  if (k == 0 || series->rounds < group->needed_pairs || series->rounds == 0) return 0;
  double *p = calloc(count + 1, sizeof *p);
  bool *differ = calloc(count + 1, sizeof *differ);
  int error = p && differ ? 0 : -ENOMEM;
  if (!error) {
    fill_p(duels, series->k, p);
    error = exact_holm(p, count, PAIRED_LEVEL, differ);
  }
  if (!error) apply_ranks(series, duels, differ, group);
  free(p);
  free(differ);
  return error;
}

/* ---- verdicts ------------------------------------------------------------------------------------------------------ */

/*
 * A difference must clear what this run showed between two identical cells; likeness must be as close as the user asked.
 * A noisy run that widened both would call everything the same.
 */
enum stat_verdict ranking_judge(struct stat_interval ratio, double effective, double asked) {
  if (!ratio.known) return STAT_UNCLEAR;
  if (ratio.low > 1 + effective) return STAT_FASTER;
  if (ratio.high < 1 / (1 + effective)) return STAT_SLOWER;
  return ratio.low >= 1 / (1 + asked) && ratio.high <= 1 + asked ? STAT_SAME : STAT_UNCLEAR;
}

void ranking_verdicts(const struct series *series, const struct paired_duel *duels, struct stat_group *group) {
  unsigned base = 0;
  while (base < series->k && (int)series->play[base] != group->baseline) base++;
  for (unsigned x = 0; x < series->k; x++) {
    unsigned index = series->play[x];
    struct stat_cell *cell = &group->cells[index];
    cell->speed_ratio = group->pairs[(size_t)group->baseline * group->cell_count + index];
    bool enough = duels[base * series->k + x].n >= group->needed_baseline;
    cell->verdict = enough ? ranking_judge(cell->speed_ratio, group->margin, series->run->plan.margin) : STAT_UNCLEAR;
    if (x == base) cell->verdict = STAT_BASELINE;
  }
}
