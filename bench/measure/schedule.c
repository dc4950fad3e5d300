/*
 * schedule.c - how many rounds, of what size, of which groups. Pure: planned once from the pilot's costs and never looked
 * at again, because stopping when the result looks good is how false results are made.
 */
#include <stdio.h>

#include "base/units.h"
#include "measure/pilot.h"

#define ROUNDS_MAX 1000u

static bool in_play(const struct plan_group *group) { return !group->dropped && plan_group_k(group) > 0; }

/* One round of everything, and what the floors need on top of that. Each group has one round more than it counts. */
static uint64_t cost_at_floor(const struct plan *plan, bool ranks) {
  uint64_t cost = 0;
  for (unsigned g = 0; g < plan->group_count; g++) {
    const struct plan_group *group = &plan->groups[g];
    if (!in_play(group)) continue;
    unsigned k = plan_group_k(group);
    cost += group->round_cost_ns * (1 + (ranks ? plan_rounds_for_ranks(k) : plan_rounds_for_verdicts(k)));
  }
  return cost;
}

static struct plan_group *costliest_that_may_shrink(struct plan *plan) {
  struct plan_group *found = NULL;
  for (unsigned g = 0; g < plan->group_count; g++) {
    struct plan_group *group = &plan->groups[g];
    if (!in_play(group) || group->size_fixed || group->demand.size_bytes / 2 < group->smallest_bytes) continue;
    if (group->smallest_bytes == 0 || (found && found->round_cost_ns >= group->round_cost_ns)) continue;
    found = group;
  }
  return found;
}

static struct plan_group *least_wanted(struct plan *plan) {
  struct plan_group *found = NULL;
  unsigned in = 0;
  for (unsigned g = 0; g < plan->group_count; g++) {
    struct plan_group *group = &plan->groups[g];
    if (!in_play(group)) continue;
    in++;
    if (!found || group->priority >= found->priority) found = group;
  }
  return in > 1 ? found : NULL; /* the last one stays, however long it takes */
}

static void drop(struct plan_group *group, uint64_t budget_ns) {
  char text[UNITS_TEXT_MAX];
  group->dropped = true;
  snprintf(group->drop_reason, sizeof group->drop_reason, "did not fit into %s; give more --time",
           units_duration_text(budget_ns, text));
}

static bool shrink(struct plan *plan, uint64_t budget_ns) {
  bool changed = false;
  while (cost_at_floor(plan, true) > budget_ns) {
    struct plan_group *group = costliest_that_may_shrink(plan);
    if (!group) break;
    plan_resize(group, group->demand.size_bytes / 2);
    group->round_cost_ns = group->round_cost_ns * 55 / 100; /* some of the cost does not depend on the size */
    changed = true;
  }
  return changed;
}

static unsigned rounds_that_fit(const struct plan *plan, uint64_t budget_ns) {
  uint64_t round = 0;
  for (unsigned g = 0; g < plan->group_count; g++)
    if (in_play(&plan->groups[g])) round += plan->groups[g].round_cost_ns;
  unsigned cap = plan->fill_time ? ROUNDS_MAX : PLAN_ROUNDS_DEFAULT;
  if (round == 0) return cap;
  uint64_t fit = budget_ns / round;
  if (fit > cap) return cap;
  return fit > 1 ? (unsigned)fit - 1 : 1; /* one for the burn-in */
}

bool pilot_schedule(struct plan *plan, uint64_t budget_ns) {
  bool changed = false;
  if (plan->rounds == 0) {
    changed = shrink(plan, budget_ns);
    for (struct plan_group *group; cost_at_floor(plan, false) > budget_ns && (group = least_wanted(plan));)
      drop(group, plan->time_ns);
  }
  unsigned fit = plan->rounds ? plan->rounds : rounds_that_fit(plan, budget_ns);
  for (unsigned g = 0; g < plan->group_count; g++) {
    struct plan_group *group = &plan->groups[g];
    unsigned floor = plan_rounds_for_verdicts(plan_group_k(group));
    group->rounds = !in_play(group) ? 0 : plan->rounds || fit > floor ? fit : floor;
  }
  return changed;
}
