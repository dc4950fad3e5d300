/*
 * curve.c - what groups say together that differ in the request size alone: best rates through the page cache and past it,
 * and the half-power points. Medians without intervals: it tells where to look; who is faster is told inside the groups.
 */
#include "stat/curve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GIB 1073741824.0

static uint64_t request_of(const struct stat_group *group) { return group->plan->demand.request_bytes; }

static bool counts(const struct stat_cell *cell, bool unbuffered) {
  if (cell->status != PLAN_OK || cell->n == 0 || cell->plan->twin || (cell->plan->capabilities & WEIR_CAP_FLOOR))
    return false;
  return cell->bytes_per_s > 0 && ((cell->plan->capabilities & WEIR_CAP_DIRECT) != 0) == unbuffered;
}

static unsigned depth_of(const struct plan_cell *cell) {
  for (unsigned i = 0; i < cell->param_count && (cell->capabilities & WEIR_CAP_DEPTH); i++)
    if (strcmp(cell->params[i].name, "depth") == 0 && cell->params[i].value > 0) return (unsigned)cell->params[i].value;
  return 1;
}

static bool same_but_request(const struct plan_group *a, const struct plan_group *b) {
  struct plan_demand as_a = b->demand;
  as_a.request_bytes = a->demand.request_bytes;
  return plan_same_demand(&a->demand, &as_a) && a->demand.request_bytes && b->demand.request_bytes;
}

/* The next group of the curve that begins with `first`; group_count: there is none. */
static unsigned next_of(const struct summary *summary, unsigned first, unsigned from) {
  while (from < summary->group_count && !same_but_request(summary->groups[first].plan, summary->groups[from].plan)) from++;
  return from;
}

static void take_best(const struct stat_group *group, bool unbuffered, struct stat_curve_side *side) {
  for (unsigned c = 0; c < group->cell_count; c++) {
    const struct stat_cell *cell = &group->cells[c];
    if (!counts(cell, unbuffered) || (side->best && side->best->bytes_per_s >= cell->bytes_per_s)) continue;
    side->best = cell;
    side->best_request_bytes = request_of(group);
    side->best_depth = depth_of(cell->plan);
  }
}

/* A smaller request before a smaller depth; of two that are alike in both, the faster one. */
static bool comes_before(const struct stat_cell *cell, uint64_t request, const struct stat_curve_side *side) {
  if (!side->half || request != side->half_request_bytes) return !side->half || request < side->half_request_bytes;
  const unsigned depth = depth_of(cell->plan);
  return depth != side->half_depth ? depth < side->half_depth : cell->bytes_per_s > side->half->bytes_per_s;
}

static void take_half(const struct stat_group *group, bool unbuffered, struct stat_curve_side *side) {
  for (unsigned c = 0; c < group->cell_count; c++) {
    const struct stat_cell *cell = &group->cells[c];
    if (!counts(cell, unbuffered) || cell->bytes_per_s < side->best->bytes_per_s / 2) continue;
    if (!comes_before(cell, request_of(group), side)) continue;
    side->half = cell;
    side->half_request_bytes = request_of(group);
    side->half_depth = depth_of(cell->plan);
  }
}

static void fill_side(const struct summary *summary, unsigned first, bool unbuffered, const struct stat_curve *curve,
                      struct stat_curve_side *side) {
  for (unsigned g = first; g < summary->group_count; g = next_of(summary, first, g + 1))
    take_best(&summary->groups[g], unbuffered, side);
  if (!side->best) return;
  for (unsigned g = first; g < summary->group_count; g = next_of(summary, first, g + 1))
    take_half(&summary->groups[g], unbuffered, side);
  const double bytes = side->best->bytes_per_s * side->best->elapsed_ns.median / 1e9;
  side->cpu_ns_per_gib = bytes > 0 && side->best->cpu_ns >= 0 ? side->best->cpu_ns / bytes * GIB : -1;
  side->half_is_smallest = side->half_request_bytes == curve->smallest_request_bytes;
}

/* The curve that begins with this group, if it does, with something on both sides. */
static bool make_curve(const struct summary *summary, unsigned first, struct stat_curve *curve) {
  *curve = (struct stat_curve){.first = summary->groups[first].plan, .smallest_request_bytes = UINT64_MAX};
  if (!curve->first->demand.request_bytes || next_of(summary, first, 0) != first) return false;
  for (unsigned g = first; g < summary->group_count; g = next_of(summary, first, g + 1)) {
    const struct stat_group *group = &summary->groups[g];
    if (group->k == 0) continue; /* dropped, or nothing was measured */
    curve->group_count++;
    if (request_of(group) < curve->smallest_request_bytes) curve->smallest_request_bytes = request_of(group);
  }
  if (curve->group_count < 2) return false;
  fill_side(summary, first, false, curve, &curve->buffered);
  fill_side(summary, first, true, curve, &curve->unbuffered);
  if (!curve->buffered.best || !curve->unbuffered.best) return false;
  curve->buffered_share = curve->buffered.best->bytes_per_s / curve->unbuffered.best->bytes_per_s;
  return true;
}

int curve_fill(struct summary *summary) {
  summary->curves = calloc(summary->group_count + (size_t)1, sizeof *summary->curves);
  if (!summary->curves) return -ENOMEM;
  for (unsigned g = 0; g < summary->group_count; g++)
    summary->curve_count += make_curve(summary, g, &summary->curves[summary->curve_count]);
  return 0;
}
