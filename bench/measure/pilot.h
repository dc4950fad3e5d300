/*
 * pilot.h - every cell is tried once before the rounds: can it run here, does it move the right bytes, what does it cost.
 * From the costs follow the passes of a sample, the rounds of each group, and what has to shrink or go.
 */
#ifndef WEIR_PILOT_H
#define WEIR_PILOT_H

#include "measure/sampler.h"

/* Fills in the found fields of the plan. The time already spent counts against the budget. */
int pilot_run(struct sampler *sampler, uint64_t began_ns, struct weir_reason *problem);

/* ---- the pure part: from costs to a schedule ---- */

/*
 * Fits the groups into budget_ns: rounds up to the cap; where not even the ranks' floor fits, sizes are halved (never those
 * that the user named), then groups are dropped from the highest priority number down. Returns whether sizes changed.
 */
bool pilot_schedule(struct plan *plan, uint64_t budget_ns);

#endif
