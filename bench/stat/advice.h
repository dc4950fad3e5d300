/* advice.h - what follows from the groups for somebody who writes a program; a step of summarize.c. */
#ifndef WEIR_STAT_ADVICE_H
#define WEIR_STAT_ADVICE_H

#include "stat/summary.h"

/* Fills in the advice of every group, from all of them: nothing is said that this run did not measure. */
void advice_fill(struct summary *summary);

#endif
