/* latency.h - percentiles of the time that single operations took. Internal to the stat stage. */
#ifndef WEIR_STAT_LATENCY_H
#define WEIR_STAT_LATENCY_H

#include "stat/series.h"

/* Fills `latency` of every cell whose operations were timed. 0 or -ENOMEM. */
int latency_fill(const struct series *series, struct stat_group *group);

#endif
