/*
 * advice.c - from ranked groups to what one can act on: who leads, how much of its parameters is enough, where along size
 * and request it begins to lead, what it costs, and what other uses of this run say. Medians are not compared anywhere: all
 * rests on best sets, verdicts and intervals that are there already.
 */
#include "stat/advice.h"

#include <string.h>

#define FRUGAL 0.8

static bool is_fit(const struct stat_cell *cell) {
  return cell->status == PLAN_OK && cell->n > 0 && !cell->plan->twin && !(cell->plan->capabilities & WEIR_CAP_FLOOR);
}

static bool has_claims(const struct stat_group *group) {
  return group->claims && group->k > 1 && group->best_count > 0 && !group->plan->dropped;
}

/* The baseline where it is in the best set: nothing is gained by leaving it. Else the first by its median. */
static const struct stat_cell *lead_of(const struct stat_group *group) {
  if (!has_claims(group)) return NULL;
  if (group->baseline >= 0 && group->cells[group->baseline].best) return &group->cells[group->baseline];
  for (unsigned i = 0; i < group->order_count; i++)
    if (group->cells[group->order[i]].best) return &group->cells[group->order[i]];
  return NULL;
}

static void fill_tie(const struct stat_group *group, struct stat_advice *advice) {
  advice->tied = group->best_count - 1;
  for (unsigned c = 0; c < group->cell_count; c++) {
    const struct stat_cell *cell = &group->cells[c];
    if (!cell->best || !(cell->cpu_ns > 0) || !(cell->cpu_ns < FRUGAL * advice->lead->cpu_ns)) continue;
    if (!advice->frugal || cell->cpu_ns < advice->frugal->cpu_ns) advice->frugal = cell;
  }
}

/* ---- parameters ---------------------------------------------------------------------------------------------------- */

static const struct plan_param *param_of(const struct plan_cell *cell, const char *name) {
  for (unsigned i = 0; i < cell->param_count; i++)
    if (strcmp(cell->params[i].name, name) == 0 && !cell->params[i].fixed) return &cell->params[i];
  return NULL;
}

static bool differs_in(const struct plan_cell *a, const struct plan_cell *b, const char *name) {
  if (strcmp(a->method, b->method) != 0 || a->threads != b->threads || a->place != b->place) return false;
  if (a->param_count != b->param_count) return false;
  for (unsigned i = 0; i < a->param_count; i++)
    if (strcmp(a->params[i].name, name) != 0 && a->params[i].value != b->params[i].value) return false;
  return true;
}

static const struct stat_interval *pair(const struct stat_group *group, const struct stat_cell *i,
                                        const struct stat_cell *j) {
  return &group->pairs[(size_t)(i - group->cells) * group->cell_count + (size_t)(j - group->cells)];
}

/* Is some other value of this parameter surely faster than this cell? */
static bool is_beaten(const struct stat_group *group, const struct stat_cell *cell, const char *name) {
  for (unsigned c = 0; c < group->cell_count; c++) {
    const struct stat_cell *other = &group->cells[c];
    if (other == cell || !is_fit(other) || !differs_in(other->plan, cell->plan, name)) continue;
    const struct stat_interval *speed = pair(group, cell, other);
    if (speed->known && speed->low > 1) return true;
  }
  return false;
}

static void fill_knob(const struct stat_group *group, const struct stat_cell *lead, const char *name,
                      struct stat_knob *knob) {
  const struct plan_param *slow = NULL; /* the largest value that is not faster than the baseline */
  if (!param_of(lead->plan, name)) return;
  for (unsigned c = 0; c < group->cell_count; c++) {
    const struct stat_cell *cell = &group->cells[c];
    if (!is_fit(cell) || !differs_in(cell->plan, lead->plan, name)) continue;
    const struct plan_param *param = param_of(cell->plan, name);
    if (!param) continue;
    if (!knob->least || param->value < knob->least->value) knob->least = param;
    if (!knob->most || param->value > knob->most->value) knob->most = param;
    if ((!knob->enough || param->value < knob->enough->value) && !is_beaten(group, cell, name)) knob->enough = param;
    if (cell->verdict != STAT_FASTER && (!slow || param->value > slow->value)) slow = param;
  }
  if (!knob->least || knob->least->value == knob->most->value) *knob = (struct stat_knob){.least = NULL};
  if (!knob->least || !slow) return;
  for (unsigned c = 0; c < group->cell_count; c++) {
    const struct plan_param *param =
        differs_in(group->cells[c].plan, lead->plan, name) ? param_of(group->cells[c].plan, name) : NULL;
    if (!param || !is_fit(&group->cells[c]) || param->value <= slow->value) continue;
    if (!knob->beats_from || param->value < knob->beats_from->value) knob->beats_from = param;
  }
}

/* ---- along size and request ---------------------------------------------------------------------------------------- */

enum axis { AXIS_SIZE, AXIS_REQUEST };

static uint64_t value_on(const struct plan_demand *demand, enum axis axis) {
  return axis == AXIS_SIZE ? demand->size_bytes : demand->request_bytes;
}

static bool same_but(const struct stat_group *a, const struct stat_group *b, enum axis axis) {
  struct plan_demand other = b->plan->demand;
  if (value_on(&a->plan->demand, axis) == 0 || value_on(&other, axis) == 0) return false;
  if (axis == AXIS_SIZE) other.size_bytes = a->plan->demand.size_bytes;
  if (axis == AXIS_REQUEST) other.request_bytes = a->plan->demand.request_bytes;
  return plan_same_demand(&a->plan->demand, &other) && has_claims(b);
}

/* The lead's cell in another group: of the same name, else the best of the same method; NULL: it was not measured there. */
static const struct stat_cell *same_method(const struct stat_group *group, const struct stat_cell *lead) {
  const struct stat_cell *found = NULL;
  for (unsigned i = 0; i < group->order_count; i++) {
    const struct stat_cell *cell = &group->cells[group->order[i]];
    if (!is_fit(cell) || strcmp(cell->plan->method, lead->plan->method) != 0) continue;
    if (strcmp(cell->plan->id, lead->plan->id) == 0) return cell;
    if (!found) found = cell;
  }
  return found;
}

static bool method_is_best(const struct stat_group *group, const struct stat_cell *lead) {
  for (unsigned c = 0; c < group->cell_count; c++)
    if (group->cells[c].best && strcmp(group->cells[c].plan->method, lead->plan->method) == 0) return true;
  return false;
}

/* The group on this axis with the nearest value on one side of `value`; NULL: none. */
static const struct stat_group *neighbour(const struct summary *summary, const struct stat_group *of, enum axis axis,
                                          uint64_t value, bool larger) {
  const struct stat_group *found = NULL;
  for (unsigned g = 0; g < summary->group_count; g++) {
    const struct stat_group *group = &summary->groups[g];
    const uint64_t here = value_on(&group->plan->demand, axis);
    if (!same_but(of, group, axis) || here == value || (here > value) != larger) continue;
    if (!found || (here < value_on(&found->plan->demand, axis)) == larger) found = group;
  }
  return found;
}

static bool same_baseline(const struct stat_group *a, const struct stat_group *b) {
  return a->baseline >= 0 && b->baseline >= 0 &&
         strcmp(a->cells[a->baseline].plan->method, b->cells[b->baseline].plan->method) == 0;
}

/* Downwards while the lead's method beats the same baseline. */
static void find_begin(const struct summary *summary, const struct stat_group *group, enum axis axis,
                       struct stat_crossing *out) {
  const struct stat_group *at = group;
  const struct stat_cell *cell = group->advice.lead;
  while (at && cell && same_baseline(group, at) && cell->verdict == STAT_FASTER) {
    out->from = value_on(&at->plan->demand, axis);
    at = neighbour(summary, group, axis, out->from, false);
    cell = at ? same_method(at, group->advice.lead) : NULL;
  }
  if (!out->from || !at || !cell || !same_baseline(group, at)) return;
  out->below = value_on(&at->plan->demand, axis);
  out->below_verdict = cell->verdict;
}

static void find_end(const struct summary *summary, const struct stat_group *group, enum axis axis,
                     struct stat_crossing *out) {
  uint64_t value = value_on(&group->plan->demand, axis);
  const struct stat_group *at;
  while ((at = neighbour(summary, group, axis, value, true)) && method_is_best(at, group->advice.lead))
    value = value_on(&at->plan->demand, axis);
  if (!at || !same_method(at, group->advice.lead)) return;
  out->above = value_on(&at->plan->demand, axis);
  out->above_lead = lead_of(at);
}

static void fill_crossing(const struct summary *summary, struct stat_group *group, enum axis axis,
                          struct stat_crossing *out) {
  const uint64_t here = value_on(&group->plan->demand, axis);
  if (!here) return;
  out->measured = 1;
  out->least = out->most = here;
  const struct stat_group *at = group;
  while ((at = neighbour(summary, group, axis, value_on(&at->plan->demand, axis), false))) {
    out->least = value_on(&at->plan->demand, axis);
    out->measured++;
  }
  at = group;
  while ((at = neighbour(summary, group, axis, value_on(&at->plan->demand, axis), true))) {
    out->most = value_on(&at->plan->demand, axis);
    out->measured++;
  }
  if (out->measured < 2) return;
  find_begin(summary, group, axis, out);
  find_end(summary, group, axis, out);
}

/* ---- other uses ---------------------------------------------------------------------------------------------------- */

/* The word in which the other demand differs, where it is one alone; sizes may have been shrunk and do not count. */
static const char *one_word(const struct plan_demand *a, const struct plan_demand *b) {
  struct plan_demand other = *b;
  const char *word = NULL;
  unsigned differences = 0;
  if (a->cache != b->cache) word = plan_cache_words[b->cache], differences++;
  if (a->access != b->access) word = plan_access_words[b->access], differences++;
  if (a->durability != b->durability) word = plan_durability_words[b->durability], differences++;
  if (a->consumer != b->consumer) word = plan_consumer_words[b->consumer], differences++;
  if (a->target != b->target) word = plan_target_words[b->target], differences++;
  if (differences != 1) return NULL;
  if (a->access != b->access) other.request_bytes = a->request_bytes;
  other.cache = a->cache;
  other.access = a->access;
  other.durability = a->durability;
  other.consumer = a->consumer;
  other.target = a->target;
  other.size_bytes = a->size_bytes;
  other.coverage = a->coverage;
  return plan_same_demand(a, &other) ? word : NULL;
}

static void fill_changes(const struct summary *summary, const struct stat_group *group, struct stat_advice *advice) {
  for (unsigned g = 0; g < summary->group_count && advice->change_count < STAT_CHANGES_MAX; g++) {
    const struct stat_group *other = &summary->groups[g];
    const char *word = other != group ? one_word(&group->plan->demand, &other->plan->demand) : NULL;
    const struct stat_cell *lead = word ? lead_of(other) : NULL;
    if (lead)
      advice->changes[advice->change_count++] = (struct stat_change){other, word, lead, method_is_best(other, advice->lead)};
  }
}

static bool has_change(const struct stat_advice *advice, const char *const *words) {
  for (unsigned i = 0; i < advice->change_count; i++)
    if (plan_word_index(words, advice->changes[i].word) >= 0) return true;
  return false;
}

/* What readers and writers stumble over, where this run says nothing of it. */
static void fill_not_measured(const struct stat_group *group, struct stat_advice *advice) {
  const struct plan_demand *demand = &group->plan->demand;
  unsigned count = 0;
  if (demand->direction == WEIR_READ && !has_change(advice, plan_cache_words))
    advice->not_measured[count++] = demand->cache == PLAN_WARM ? "cold" : "warm";
  if (demand->direction != WEIR_READ && !has_change(advice, plan_durability_words))
    advice->not_measured[count++] = demand->durability == WEIR_DURABILITY_NONE ? "durable" : "not durable";
  if (advice->size.measured < 2) advice->not_measured[count++] = "other sizes";
}

/* ---- cost ---------------------------------------------------------------------------------------------------------- */

static void fill_cost(const struct stat_group *group, struct stat_advice *advice) {
  if (group->baseline < 0) return;
  const struct stat_cell *base = &group->cells[group->baseline], *lead = advice->lead;
  if (lead->cpu_ns > 0 && base->cpu_ns > 0) advice->cpu_ratio = lead->cpu_ns / base->cpu_ns;
  if (lead->minor_faults >= 0 && base->minor_faults >= 0) advice->extra_faults = lead->minor_faults - base->minor_faults;
  advice->knows_memory = lead->peak_bytes >= 0 && base->peak_bytes >= 0;
  if (advice->knows_memory) advice->extra_bytes = lead->peak_bytes - base->peak_bytes;
}

void advice_fill(struct summary *summary) {
  for (unsigned g = 0; g < summary->group_count; g++) {
    struct stat_group *group = &summary->groups[g];
    struct stat_advice *advice = &group->advice;
    advice->lead = lead_of(group);
    if (!advice->lead) continue;
    advice->keeps_baseline =
        advice->lead == &group->cells[group->baseline >= 0 ? group->baseline : 0] && group->baseline >= 0;
    fill_tie(group, advice);
    fill_knob(group, advice->lead, "block", &advice->block);
    fill_knob(group, advice->lead, "depth", &advice->depth);
    fill_crossing(summary, group, AXIS_SIZE, &advice->size);
    fill_crossing(summary, group, AXIS_REQUEST, &advice->request);
    fill_cost(group, advice);
    fill_changes(summary, group, advice);
    fill_not_measured(group, advice);
  }
}
