/*
 * exact.h - the few exact tests that weir's claims rest on: sign test, order statistics, Holm. Pure arithmetic.
 *
 * Rounds are randomised complete blocks: under "A and B are the same" the sign of each paired difference is our own fair
 * coin, so these hold whatever the machine does (docs/statistics.md).
 */
#ifndef WEIR_EXACT_H
#define WEIR_EXACT_H

#include <stdbool.h>
#include <stddef.h>

/* P(at least `wins` heads in n tosses of a coin that shows heads with probability p). */
double exact_upper_tail(unsigned n, unsigned wins, double p);
/* Fewest wins of n that a one-sided sign test at `alpha` rejects; n + 1 when no count can. */
unsigned exact_critical_wins(unsigned n, double alpha);
/* Smallest n at which a one-sided sign test at `alpha` can reject at all. */
unsigned exact_rounds_needed(double alpha);
/*
 * Order-statistic interval of the median of n values with coverage >= 1 - alpha (two-sided): the 1-based rank of its low
 * end; the high end is n + 1 - rank. 0 when n is too small.
 */
unsigned exact_interval_rank(unsigned n, double alpha);
/*
 * Fewest rounds at which k methods can be claimed anything at family level 5 %: against one baseline, for a best set, for
 * all pairs. 0 for k < 2.
 */
unsigned exact_floor_baseline(unsigned k), exact_floor_best(unsigned k), exact_floor_pairs(unsigned k);
/*
 * Smallest probability of a win at which a two-sided sign test at `alpha` rejects with power >= 0.8; 0 when it cannot.
 */
double exact_detectable_win(unsigned n, double alpha);
/* Holm: decides `count` hypotheses with these p-values at family level alpha; reject[i] is set for each. */
int exact_holm(const double *p, size_t count, double alpha, bool *reject); /* 0 or -ENOMEM */
/* Ascending. */
void exact_sort(double *values, size_t n);
/* Median of n sorted values. n > 0. */
double exact_middle(const double *sorted, size_t n);
/* Median of n values; sorts them. n > 0. */
double exact_median(double *values, size_t n);

#endif
