/*
 * schedule.c - how many rounds, of what size, of which groups. Pure: planned from the costs of pilot and burn-in, which are
 * not analysed, and never looked at again, because stopping when the result looks good is how false results are made.
 */
#include <stdio.h>

#include "base/units.h"
#include "measure/schedule.h"

#define ROUNDS_MAX 10000u

static bool in_play(const struct plan_group *group) { return !group->dropped && plan_group_k(group) > 0; }

/* What it costs to give every group at least `rounds`, or as many as its verdicts need. One more is burn-in. */
static uint64_t cost_of(const struct plan *plan, unsigned rounds) {
  uint64_t cost = 0;
  for (unsigned g = 0; g < plan->group_count; g++) {
    const struct plan_group *group = &plan->groups[g];
    if (!in_play(group)) continue;
    unsigned floor = plan_rounds_for_verdicts(plan_group_k(group));
    cost += group->round_cost_ns * (1 + (rounds > floor ? rounds : floor));
  }
  return cost;
}

static struct plan_group *costliest_that_may_shrink(struct plan *plan) {
  struct plan_group *found = NULL;
  for (unsigned g = 0; g < plan->group_count; g++) {
    struct plan_group *group = &plan->groups[g];
    if (!in_play(group) || group->size_fixed || group->demand.size_bytes / 2 < group->smallest_bytes) continue;
    if (group->demand.size_bytes / 2 < group->demand.request_bytes) continue;
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
  while (cost_of(plan, PLAN_ROUNDS_DEFAULT) > budget_ns) {
    struct plan_group *group = costliest_that_may_shrink(plan);
    if (!group) break;
    plan_resize(group, group->demand.size_bytes / 2);
    group->round_cost_ns = group->round_cost_ns * 55 / 100; /* some of the cost does not depend on the size */
    changed = true;
  }
  return changed;
}

static void set_floors(struct plan *plan) {
  for (unsigned g = 0; g < plan->group_count; g++) {
    struct plan_group *group = &plan->groups[g];
    group->rounds = !in_play(group) ? 0 : plan->rounds ? plan->rounds : plan_rounds_for_verdicts(plan_group_k(group));
  }
}

static struct plan_group *cheapest_below(struct plan *plan, unsigned rounds) {
  struct plan_group *found = NULL;
  for (unsigned g = 0; g < plan->group_count; g++) {
    struct plan_group *group = &plan->groups[g];
    if (!in_play(group) || group->rounds >= rounds) continue;
    if (!found || group->round_cost_ns < found->round_cost_ns) found = group;
  }
  return found;
}

/* Cheap groups first: theirs cost little, and the usual number is where one odd round no longer decides an interval. */
static uint64_t fill_up(struct plan *plan, uint64_t left_ns) {
  for (struct plan_group *group; (group = cheapest_below(plan, PLAN_ROUNDS_DEFAULT)) && group->round_cost_ns <= left_ns;) {
    group->rounds++;
    left_ns -= group->round_cost_ns;
  }
  return left_ns;
}

/* What is left of a time that the user named goes to all alike. */
static void use_up(struct plan *plan, uint64_t left_ns) {
  uint64_t round = 0;
  for (unsigned g = 0; g < plan->group_count; g++)
    if (in_play(&plan->groups[g])) round += plan->groups[g].round_cost_ns;
  uint64_t more = round ? left_ns / round : 0;
  for (unsigned g = 0; g < plan->group_count; g++) {
    struct plan_group *group = &plan->groups[g];
    if (in_play(group)) group->rounds += more < ROUNDS_MAX - group->rounds ? (unsigned)more : ROUNDS_MAX - group->rounds;
  }
}

void schedule_rounds(struct plan *plan, uint64_t budget_ns) {
  set_floors(plan);
  if (plan->rounds) return;
  uint64_t floor = cost_of(plan, 0);
  uint64_t left = fill_up(plan, budget_ns > floor ? budget_ns - floor : 0);
  if (plan->fill_time) use_up(plan, left);
}

bool schedule_groups(struct plan *plan, uint64_t budget_ns) {
  if (plan->rounds) return false;
  bool changed = shrink(plan, budget_ns);
  for (struct plan_group *group; cost_of(plan, 0) > budget_ns && (group = least_wanted(plan));) drop(group, plan->time_ns);
  return changed;
}
