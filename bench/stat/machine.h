/*
 * machine.h - what the rounds tell of the machine, and whether writers had come to rest. Internal to the stat stage.
 */
#ifndef WEIR_MACHINE_H
#define WEIR_MACHINE_H

#include "stat/series.h"

/* Fills the machine of the summary and of each of its groups, and what is odd about each round. 0 or -ENOMEM. */
int machine_fill(const struct run *run, struct summary *out);
/* Did the rate of a writing cell stay where it was over its last rounds? */
void machine_steadiness(const struct series *series, unsigned index, struct stat_cell *cell);

#endif
