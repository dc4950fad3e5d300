/*
 * pilot.h - every cell is tried once before the rounds: can it run here, does it move the right bytes, what does it cost.
 * From the costs follow the passes of a sample, the rounds of each group, and what has to shrink or go.
 */
#ifndef WEIR_PILOT_H
#define WEIR_PILOT_H

#include "measure/sampler.h"
#include "measure/schedule.h"

/* Fills in the found fields of the plan. The time already spent counts against the budget. */
int pilot_run(struct sampler *sampler, uint64_t began_ns, struct weir_reason *problem);

/* What is left of the time for samples, a reserve for what nobody foresaw apart. */
uint64_t pilot_time_left(const struct plan *plan, uint64_t began_ns);

#endif
