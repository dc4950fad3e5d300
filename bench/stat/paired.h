/*
 * paired.h - two cells side by side, round by round: their differences in ln, and what order statistics make of them.
 *
 * Internal to the stat stage.
 */
#ifndef WEIR_PAIRED_H
#define WEIR_PAIRED_H

#include "stat/series.h"

/* Family level of all claims, and level of an interval that stands alone. */
#define PAIRED_LEVEL 0.05

/* The rounds that two cells have in common, and how many of them each won. Rounds of equal time are nobody's. */
struct paired_duel {
  unsigned n, wins;
};

/* ln(a) - ln(b) in every round that both have; positive where b is faster. Returns their number. */
unsigned paired_differences(const struct series *series, unsigned a, unsigned b, double *out);
/* Median and order statistics of n sorted values; not known where the rank is 0. */
struct stat_interval paired_interval(const double *sorted, unsigned n, unsigned rank);
/* The same with exp() taken of all three. */
struct stat_interval paired_ratio(const double *sorted, unsigned n, unsigned rank);

/*
 * Fills group->pairs for the cells in play, and duels[x * k + y] = how play[y] did against play[x].
 */
void paired_compare_all(const struct series *series, struct stat_group *group, struct paired_duel *duels);
/* The A/A pair: group->twin, noise and the effective margin. */
void paired_twin(const struct series *series, struct stat_group *group);
/* Which cell `twin` is the second entry of, or -1. */
int paired_original(const struct plan_group *plan, unsigned twin);
/* Smallest true ratio that would have been called with power 0.8; 0 when none. Needs baseline and margin. */
double paired_smallest_callable(const struct series *series, const struct stat_group *group);

#endif
