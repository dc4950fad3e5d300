/*
 * ranking.h - which cells are claimed to be best, better or alike. Internal to the stat stage.
 */
#ifndef WEIR_RANKING_H
#define WEIR_RANKING_H

#include "stat/paired.h"

/* Sets `best` and group->best_count, where there are rounds enough for a claim. */
void ranking_best_set(const struct series *series, const struct paired_duel *duels, struct stat_group *group);
/* Sets rank_low and rank_high, where there are rounds enough for all pairs. 0 or -ENOMEM. */
int ranking_ranges(const struct series *series, const struct paired_duel *duels, struct stat_group *group);
/* Sets speed_ratio and verdict of the cells in play. Needs baseline, pairs and margin. */
void ranking_verdicts(const struct series *series, const struct paired_duel *duels, struct stat_group *group);

/* The word for a ratio: `effective` is the margin of a difference, `asked` that of likeness. */
enum stat_verdict ranking_judge(struct stat_interval ratio, double effective, double asked);

#endif
