/*
 * precision.h - how sure the times of a run are while it goes on: for those who wait for it. No claim rests on it.
 */
#ifndef WEIR_STAT_PRECISION_H
#define WEIR_STAT_PRECISION_H

#include "measure/run.h"

/*
 * Half the width of the 95 % interval of a cell's median time, as a fraction of the median: the median over all cells that
 * have samples enough for an interval. 0 when there is none, or no memory.
 */
double stat_precision(const struct run *run);

#endif
