/*
 * schedule.h - what fits into the time. Pure: from round_cost_ns of each group to sizes, dropped groups and rounds.
 */
#ifndef WEIR_SCHEDULE_H
#define WEIR_SCHEDULE_H

#include "plan/plan.h"

/*
 * Where the usual rounds do not fit, sizes are halved (never those that the user named); where not even the floor of the
 * verdicts fits, groups are dropped from the highest priority number down. Returns whether sizes changed.
 */
bool schedule_groups(struct plan *plan, uint64_t budget_ns);
/* Sets the rounds of every group: at least the floor of its verdicts, more as the budget allows. One more is the burn-in. */
void schedule_rounds(struct plan *plan, uint64_t budget_ns);

#endif
