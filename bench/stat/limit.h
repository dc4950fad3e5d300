/* limit.h - what bounds a cell, and how near it comes. Internal to the stat stage. */
#ifndef WEIR_STAT_LIMIT_H
#define WEIR_STAT_LIMIT_H

#include "stat/series.h"

/* Fills limit and limit_percent of a cell whose label, time and rates are known. */
void limit_fill(const struct series *series, unsigned index, struct stat_cell *cell);

#endif
