/* curve.h - how rates grow with the size of requests; a step of summarize.c. */
#ifndef WEIR_STAT_CURVE_H
#define WEIR_STAT_CURVE_H

#include "stat/summary.h"

/* Fills in summary->curves from its groups. 0 or -ENOMEM. */
int curve_fill(struct summary *summary);

#endif
