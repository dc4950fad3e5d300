/*
 * unpaired.h - two samples that share no rounds: how far apart they lie. Internal to the stat stage.
 */
#ifndef WEIR_UNPAIRED_H
#define WEIR_UNPAIRED_H

#include "stat/summary.h"

/*
 * Largest r for which the r-th smallest and r-th largest of the m * n differences hold the true shift with at least 1 -
 * alpha (Mann and Whitney's test turned round); 0 when m and n are too small. Exact up to UNPAIRED_EXACT_MAX values on each
 * side, by the normal law above.
 */
#define UNPAIRED_EXACT_MAX 64u
unsigned unpaired_rank(unsigned m, unsigned n, double alpha);
/* Fewest values on both sides at which that is above 0. */
unsigned unpaired_needed(double alpha);

/* Median of the differences a - b (Hodges and Lehmann), with that interval. 0 or -ENOMEM. */
int unpaired_interval(const double *a, unsigned m, const double *b, unsigned n, unsigned rank, struct stat_interval *out);

#endif
