/*
 * compare.c - two runs side by side. In each round of each run the median over the common cells tells how far the machine as
 * a whole is from where the two runs meet; what is left of a cell is its place among the others, and that is compared
 * between the runs. The median stands as long as fewer than half of the cells changed: when all change alike, that is the
 * machine's own shift, and it is told as such.
 */
#include "stat/compare.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stat/compare_facts.h"
#include "stat/exact.h"
#include "stat/paired.h"
#include "stat/ranking.h"
#include "stat/unpaired.h"

#define BOTH 2 /* index 0: before, 1: now */

/* ---- one group of both runs ---------------------------------------------------------------------------------------- */

/* Common cells: their indices in each run, their row, and where the two runs meet in ln. */
struct common {
  unsigned cell[BOTH], row;
  double meeting;
};

struct match {
  const struct comparison *comparison;
  struct compare_group *group;
  struct series series[BOTH];
  unsigned k;
  struct common *cells;
  double *shifts[BOTH];               /* of every round */
  double *values[BOTH];               /* room for one cell */
  unsigned last_m, last_n, last_rank; /* nearly all rows of a group have the same numbers of rounds */
};

static const struct stat_group *side_group(const struct compare_group *group, int side) {
  return side ? group->now : group->before;
}

static int find_cell(const struct stat_group *group, const char *id) {
  for (unsigned c = 0; c < group->cell_count; c++)
    if (!group->cells[c].plan->twin && strcmp(group->cells[c].plan->id, id) == 0) return (int)c;
  return -1;
}

static bool is_shown(const struct stat_cell *cell) {
  return !cell->plan->twin && !(cell->plan->capabilities & WEIR_CAP_FLOOR);
}

static void explain(struct compare_row *row, const char *when, const struct stat_cell *cell) {
  static const char *const words[] = {"no samples", "not available", "wrong"};
  snprintf(row->reason, sizeof row->reason, "%s %s%s%.110s", words[cell->status], when,
           cell->reason && *cell->reason ? ": " : "", cell->reason ? cell->reason : "");
}

static struct compare_row make_row(const struct stat_cell *before, const struct stat_cell *now) {
  struct compare_row row = {.before = before, .now = now, .verdict = STAT_NONE};
  row.name = (now ? now : before)->plan->id;
  row.n_before = before ? before->n : 0;
  row.n_now = now ? now->n : 0;
  if (!before || !now)
    snprintf(row.reason, sizeof row.reason, before ? "only in the run before" : "only in the run now");
  else if (before->status != PLAN_OK || before->n == 0)
    explain(&row, "before", before);
  else if (now->status != PLAN_OK || now->n == 0)
    explain(&row, "now", now);
  row.broke = before && now && before->status == PLAN_OK && before->n > 0 && now->status == PLAN_FAILED;
  return row;
}

static int make_rows(struct compare_group *group) {
  const struct stat_group *before = group->before, *now = group->now;
  group->rows = calloc(before->cell_count + now->cell_count + (size_t)1, sizeof *group->rows);
  if (!group->rows) return -ENOMEM;
  for (unsigned c = 0; c < now->cell_count; c++) {
    if (!is_shown(&now->cells[c])) continue;
    const int other = find_cell(before, now->cells[c].plan->id);
    group->rows[group->row_count++] = make_row(other < 0 ? NULL : &before->cells[other], &now->cells[c]);
  }
  for (unsigned c = 0; c < before->cell_count; c++)
    if (is_shown(&before->cells[c]) && find_cell(now, before->cells[c].plan->id) < 0)
      group->rows[group->row_count++] = make_row(&before->cells[c], NULL);
  return 0;
}

/* ---- the machine's own shift --------------------------------------------------------------------------------------- */

/* ln values of a cell in the rounds that have one. */
static unsigned gather(const struct series *series, unsigned cell, double *out) {
  unsigned n = 0;
  for (size_t r = 0; r < series->round_count; r++)
    if (!isnan(series_value(series, cell, r))) out[n++] = series_value(series, cell, r);
  return n;
}

static bool add_common(struct match *match, unsigned row) {
  const struct compare_row *at = &match->group->rows[row];
  struct common *common = &match->cells[match->k];
  if (!at->before || !at->now || at->reason[0]) return false;
  *common = (struct common){.row = row};
  for (int side = 0; side < BOTH; side++) {
    const struct stat_cell *cell = side ? at->now : at->before;
    common->cell[side] = (unsigned)(cell - side_group(match->group, side)->cells);
    const unsigned n = gather(&match->series[side], common->cell[side], match->values[side]);
    if (n == 0) return false;
    common->meeting += exact_median(match->values[side], n) / BOTH;
  }
  return true;
}

/* How far the cells of this round lie from where they meet, in the middle. NAN where none has a value. */
static double shift_of(const struct match *match, int side, size_t round, double *scratch) {
  unsigned n = 0;
  for (unsigned i = 0; i < match->k; i++) {
    const double value = series_value(&match->series[side], match->cells[i].cell[side], round);
    if (!isnan(value)) scratch[n++] = value - match->cells[i].meeting;
  }
  return n ? exact_median(scratch, n) : NAN;
}

static int find_shifts(struct match *match) {
  double *scratch = malloc((match->k + (size_t)1) * sizeof *scratch);
  unsigned n[BOTH] = {0, 0};
  if (!scratch) return -ENOMEM;
  for (int side = 0; side < BOTH; side++)
    for (size_t r = 0; r < match->series[side].round_count; r++) {
      match->shifts[side][r] = shift_of(match, side, r, scratch);
      if (!isnan(match->shifts[side][r])) match->values[side][n[side]++] = match->shifts[side][r];
    }
  free(scratch);
  struct stat_interval ln;
  const unsigned rank = unpaired_rank(n[0], n[1], PAIRED_LEVEL);
  const int error = unpaired_interval(match->values[0], n[0], match->values[1], n[1], rank, &ln);
  if (!error && n[0] && n[1])
    match->group->shift = (struct stat_interval){exp(ln.median), exp(ln.low), exp(ln.high), ln.known};
  return error;
}

/* ---- rows ---------------------------------------------------------------------------------------------------------- */

static unsigned rank_of(struct match *match, unsigned m, unsigned n) {
  if (m != match->last_m || n != match->last_n)
    match->last_rank = unpaired_rank(m, n, PAIRED_LEVEL / (match->k ? match->k : 1));
  match->last_m = m;
  match->last_n = n;
  return match->last_rank;
}

/* exp() of before - now, where now is what takes the values without the shift when `apart`. */
static int ratio_of(struct match *match, const struct common *common, bool apart, struct stat_interval *out) {
  unsigned n[BOTH] = {0, 0};
  struct stat_interval ln;
  for (int side = 0; side < BOTH; side++)
    for (size_t r = 0; r < match->series[side].round_count; r++) {
      const double value = series_value(&match->series[side], common->cell[side], r);
      if (!isnan(value)) match->values[side][n[side]++] = value - (apart ? match->shifts[side][r] : 0);
    }
  const unsigned rank = rank_of(match, n[0], n[1]);
  const int error = unpaired_interval(match->values[0], n[0], match->values[1], n[1], rank, &ln);
  if (error) return error;
  *out = (struct stat_interval){.median = exp(ln.median), .known = ln.known};
  if (ln.known) out->low = exp(ln.low);
  if (ln.known) out->high = exp(ln.high);
  return 0;
}

/* Verdicts take rounds enough, and, unless times are taken as they are, cells enough. */
static void find_obstacle(struct match *match) {
  struct compare_group *group = match->group;
  const bool few = match->k < COMPARE_CELLS_MIN && !match->comparison->absolute;
  const unsigned needed = group->rounds_needed;
  if (group->reason[0] || match->k == 0) return;
  if (few)
    snprintf(group->reason, sizeof group->reason,
             "%u method%s in common: the machine's own shift cannot be told from a change of %s, that takes %u", match->k,
             match->k == 1 ? "" : "s", match->k == 1 ? "it" : "one of them", COMPARE_CELLS_MIN);
  else if (group->before->rounds < needed || group->now->rounds < needed)
    snprintf(group->reason, sizeof group->reason, "%u and %u rounds: verdicts on %u methods need %u in each run",
             group->before->rounds, group->now->rounds, match->k, needed);
}

static int judge_rows(struct match *match) {
  const bool apart = !match->comparison->absolute;
  for (unsigned i = 0; i < match->k; i++) {
    struct compare_row *row = &match->group->rows[match->cells[i].row];
    int error = ratio_of(match, &match->cells[i], false, &row->as_measured);
    if (!error) error = ratio_of(match, &match->cells[i], apart, &row->speed_ratio);
    if (error) return error;
    row->verdict = match->group->reason[0]
                       ? STAT_UNCLEAR
                       : ranking_judge(row->speed_ratio, match->group->margin, match->comparison->margin);
  }
  return 0;
}

static int compare_matched(struct match *match) {
  struct compare_group *group = match->group;
  for (unsigned r = 0; r < group->row_count; r++) match->k += add_common(match, r);
  group->k = match->k;
  group->rounds_needed = unpaired_needed(PAIRED_LEVEL / (match->k ? match->k : 1));
  group->margin = fmax(match->comparison->margin, fmax(group->before->margin, group->now->margin));
  if (group->before->machine.control_ns > 0 && group->now->machine.control_ns > 0)
    group->control = group->before->machine.control_ns / group->now->machine.control_ns;
  find_obstacle(match);
  int error = find_shifts(match);
  return error ? error : judge_rows(match);
}

static int make_room(struct match *match) {
  match->cells = calloc(match->group->row_count + (size_t)1, sizeof *match->cells);
  for (int side = 0; side < BOTH; side++) {
    const size_t rounds = match->series[side].round_count + 1;
    match->shifts[side] = calloc(rounds, sizeof(double));
    match->values[side] = calloc(rounds, sizeof(double));
    if (!match->shifts[side] || !match->values[side]) return -ENOMEM;
  }
  return match->cells ? 0 : -ENOMEM;
}

static void release_match(struct match *match) {
  for (int side = 0; side < BOTH; side++) {
    series_release(&match->series[side]);
    free(match->shifts[side]);
    free(match->values[side]);
  }
  free(match->cells);
}

static int collect(struct match *match, int side) {
  const struct summary *summary = side ? match->comparison->now : match->comparison->before;
  const struct stat_group *group = side_group(match->group, side);
  return series_collect(summary->run, (unsigned)(group - summary->groups), group->cells, &match->series[side]);
}

static int compare_group(const struct comparison *comparison, struct compare_group *group) {
  struct match match = {.comparison = comparison, .group = group};
  int error = make_rows(group);
  if (!error) error = collect(&match, 0);
  if (!error) error = collect(&match, 1);
  if (!error) error = make_room(&match);
  if (!error) error = compare_matched(&match);
  release_match(&match);
  return error;
}

/* ---- all groups ---------------------------------------------------------------------------------------------------- */

/* The group of the other run with this demand; of several, the one of the same name. */
static const struct stat_group *counterpart(const struct summary *summary, const struct plan_group *plan) {
  const struct stat_group *found = NULL;
  for (unsigned g = 0; g < summary->group_count; g++) {
    const struct plan_group *other = summary->groups[g].plan;
    if (!plan_same_demand(&other->demand, &plan->demand)) continue;
    if (!found || (strcmp(other->id, plan->id) == 0 && strcmp(found->plan->id, plan->id) != 0)) found = &summary->groups[g];
  }
  return found;
}

static void why_not(struct compare_group *group) {
  if (!group->before || !group->now)
    snprintf(group->reason, sizeof group->reason, "only in the run %s", group->now ? "now" : "before");
  else if (group->before->plan->dropped || group->now->plan->dropped)
    snprintf(group->reason, sizeof group->reason, "not measured %s", group->now->plan->dropped ? "now" : "before");
  else if (group->before->plan->pass_bytes != group->now->plan->pass_bytes)
    snprintf(group->reason, sizeof group->reason, "a pass moved another part of the file in each run");
}

static int pair_groups(struct comparison *out) {
  const struct summary *before = out->before, *now = out->now;
  out->groups = calloc(before->group_count + now->group_count + (size_t)1, sizeof *out->groups);
  if (!out->groups) return -ENOMEM;
  for (unsigned g = 0; g < now->group_count; g++)
    out->groups[out->group_count++] =
        (struct compare_group){.now = &now->groups[g], .before = counterpart(before, now->groups[g].plan)};
  for (unsigned g = 0; g < before->group_count; g++)
    if (!counterpart(now, before->groups[g].plan))
      out->groups[out->group_count++] = (struct compare_group){.before = &before->groups[g]};
  for (unsigned g = 0; g < out->group_count; g++) why_not(&out->groups[g]);
  return 0;
}

/* Of the groups with a shift: the middle one, and the outermost. */
static int whole_shift(struct comparison *out) {
  double *shifts = calloc(out->group_count + (size_t)1, sizeof *shifts);
  unsigned n = 0;
  if (!shifts) return -ENOMEM;
  for (unsigned g = 0; g < out->group_count; g++)
    if (out->groups[g].k >= COMPARE_CELLS_MIN && out->groups[g].shift.median > 0) shifts[n++] = out->groups[g].shift.median;
  exact_sort(shifts, n);
  if (n) out->shift = (struct stat_interval){exact_middle(shifts, n), shifts[0], shifts[n - 1], true};
  free(shifts);
  return 0;
}

void compare_count(struct comparison *out) {
  for (unsigned g = 0; g < out->group_count; g++)
    for (unsigned r = 0; r < out->groups[g].row_count; r++) {
      out->counts[out->groups[g].rows[r].verdict]++;
      out->broken += out->groups[g].rows[r].broke;
    }
}

int compare_runs(const struct summary *before, const struct summary *now, const struct compare_options *options,
                 struct comparison *out) {
  *out =
      (struct comparison){.before = before, .now = now, .before_name = options->before_name, .now_name = options->now_name};
  out->margin = options->margin >= 0 ? options->margin : fmax(before->run->plan.margin, now->run->plan.margin);
  out->absolute = options->absolute;
  int error = compare_facts(before->run, now->run, &out->differences, &out->difference_count);
  for (unsigned i = 0; i < out->difference_count; i++)
    out->refused = out->refused || (out->differences[i].refuses && !options->any_machine);
  if (error || out->refused) return error;
  error = pair_groups(out);
  for (unsigned g = 0; g < out->group_count && !error; g++)
    if (!out->groups[g].reason[0]) error = compare_group(out, &out->groups[g]);
  if (!error) error = whole_shift(out);
  compare_count(out);
  if (error) compare_release(out);
  return error;
}

void compare_release(struct comparison *comparison) {
  for (unsigned g = 0; g < comparison->group_count; g++) free(comparison->groups[g].rows);
  for (unsigned i = 0; i < comparison->made_count; i++) free(comparison->made[i]);
  free(comparison->made);
  free(comparison->groups);
  free(comparison->differences);
  *comparison = (struct comparison){0};
}
