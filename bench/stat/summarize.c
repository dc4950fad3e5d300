/*
 * summarize.c - from a run to its summary, group by group. Owns the order of the steps; the steps are in the files beside
 * it.
 */
#include <errno.h>
#include <stdlib.h>

#include "stat/advice.h"
#include "stat/curve.h"
#include "stat/evidence.h"
#include "stat/exact.h"
#include "stat/latency.h"
#include "stat/machine.h"
#include "stat/paired.h"
#include "stat/ranking.h"

const char *const stat_verdict_words[] = {"baseline", "faster", "same", "slower", "unclear", "", NULL};

/* ---- cells --------------------------------------------------------------------------------------------------------- */

static void start_cell(const struct plan_cell *plan, struct stat_cell *cell) {
  *cell = (struct stat_cell){.plan = plan, .status = plan->status, .reason = plan->reason, .verdict = STAT_NONE};
  cell->resident_before = cell->resident_after = cell->device_read_bytes = cell->device_write_bytes = cell->flushes = -1;
  cell->cpu_ns_per_byte = cell->cycles = cell->instructions = cell->system_calls = cell->evicted_share = -1;
}

/* A first transfer that was refused makes a cell unavailable, not wrong: what the plan says of it stands. */
static void fail_cell(struct stat_cell *cell, const char *reason) {
  if (cell->status != PLAN_OK) return;
  cell->status = PLAN_FAILED;
  cell->reason = reason;
}

/* One wrong answer is enough, whenever it was given: the method's times are times of something else. */
static void mark_failures(const struct run *run, unsigned index, struct stat_group *group) {
  for (size_t i = 0; i < run->sample_count; i++) {
    const struct sample *sample = &run->samples[i];
    if (sample->group != index || sample->cell >= group->cell_count || sample->status == RUN_OK) continue;
    fail_cell(&group->cells[sample->cell], sample->reason);
  }
  /* The twin is shown nowhere; what it got wrong is its original's fault. */
  for (unsigned c = 0; c < group->cell_count; c++) {
    int original = group->plan->cells[c].twin ? paired_original(group->plan, c) : -1;
    if (original >= 0 && group->cells[c].status == PLAN_FAILED) fail_cell(&group->cells[original], group->cells[c].reason);
  }
}

/* Measured, and in no round what the group compares. */
static void set_aside(const struct series *series, struct stat_cell *cell) {
  static const char cold[] = "its file was never found cold, or the device did not move the bytes: not ranked with those that were";
  static const char warm[] = "its file was never found warm: not ranked with those that were";
  if (cell->n > 0 || series->round_count == 0 || (cell->plan->capabilities & WEIR_CAP_FLOOR)) return;
  cell->status = PLAN_UNAVAILABLE;
  cell->reason = series->plan->demand.cache == PLAN_COLD ? cold : warm;
}

static void fill_cells(const struct series *series, struct stat_group *group) {
  for (unsigned c = 0; c < group->cell_count; c++) {
    if (group->cells[c].status != PLAN_OK) continue;
    evidence_fill(series, c, &group->cells[c]);
    if (series->plan->demand.direction == WEIR_READ && !series->state_missed) set_aside(series, &group->cells[c]);
  }
}

/* ---- order of printing --------------------------------------------------------------------------------------------- */

enum place { PLACE_RANKED, PLACE_UNRANKED, PLACE_FLOOR, PLACE_FAILED, PLACE_UNAVAILABLE };

struct entry {
  enum place place;
  double median; /* ln of the ranked quantity */
  unsigned cell;
};

static int by_place(const void *left, const void *right) {
  const struct entry *a = left, *b = right;
  if (a->place != b->place) return a->place < b->place ? -1 : 1;
  if (a->median != b->median) return a->median < b->median ? -1 : 1;
  return a->cell < b->cell ? -1 : a->cell > b->cell;
}

static enum place place_of(const struct stat_cell *cell) {
  if (cell->status == PLAN_FAILED) return PLACE_FAILED;
  if (cell->status == PLAN_UNAVAILABLE) return PLACE_UNAVAILABLE;
  return cell->plan->capabilities & WEIR_CAP_FLOOR ? PLACE_FLOOR : PLACE_UNRANKED;
}

static double median_value(const struct series *series, unsigned cell) {
  unsigned n = 0;
  for (size_t r = 0; r < series->round_count; r++) {
    double value = series_value(series, cell, r);
    if (value == value) series->scratch[n++] = value; /* NAN is not itself */
  }
  return n > 0 ? exact_median(series->scratch, n) : 0;
}

static int fill_order(const struct series *series, struct stat_group *group) {
  struct entry *entries = calloc(group->cell_count + (size_t)1, sizeof *entries);
  if (!entries) return -ENOMEM;
  for (unsigned c = 0; c < group->cell_count; c++) {
    entries[c] = (struct entry){place_of(&group->cells[c]), 0, c};
    if (entries[c].place == PLACE_FLOOR) entries[c].median = median_value(series, c);
  }
  for (unsigned i = 0; i < series->k; i++) {
    unsigned c = series->play[i];
    entries[c] = (struct entry){PLACE_RANKED, median_value(series, c), c};
  }
  qsort(entries, group->cell_count, sizeof *entries, by_place);
  for (unsigned i = 0; i < group->cell_count; i++) {
    if (!group->plan->cells[entries[i].cell].twin) group->order[group->order_count++] = entries[i].cell;
  }
  free(entries);
  return 0;
}

/* ---- groups -------------------------------------------------------------------------------------------------------- */

static int make_group(const struct plan_group *plan, bool rank_by_memory, struct stat_group *group) {
  size_t count = plan->cell_count;
  *group = (struct stat_group){.plan = plan, .baseline = -1, .cell_count = plan->cell_count};
  group->lower_is_better_bytes = rank_by_memory;
  if (count > SIZE_MAX / (count + 1) / sizeof *group->pairs) return -ENOMEM;
  group->cells = calloc(count + 1, sizeof *group->cells);
  group->pairs = calloc(count * count + 1, sizeof *group->pairs);
  group->order = calloc(count + 1, sizeof *group->order);
  if (!group->cells || !group->pairs || !group->order) return -ENOMEM;
  for (unsigned c = 0; c < plan->cell_count; c++) start_cell(&plan->cells[c], &group->cells[c]);
  return 0;
}

static int find_baseline(const struct series *series) {
  for (unsigned i = 0; i < series->k; i++) {
    if (series->play[i] == series->plan->baseline) return (int)series->plan->baseline;
  }
  return series->k ? (int)series->play[0] : -1;
}

static void fill_floors(const struct series *series, struct stat_group *group) {
  group->k = series->k;
  group->state_missed = series->state_missed;
  group->rounds = series->rounds;
  group->baseline = find_baseline(series);
  group->needed_best = exact_floor_best(series->k);
  group->needed_baseline = exact_floor_baseline(series->k);
  group->needed_pairs = exact_floor_pairs(series->k);
  group->claims = series->k > 0 && series->rounds > 0 && series->rounds >= group->needed_best;
}

static int compare_cells(const struct series *series, struct stat_group *group) {
  size_t k = series->k;
  struct paired_duel *duels = calloc(k * k + 1, sizeof *duels);
  if (!duels) return -ENOMEM;
  fill_floors(series, group);
  paired_twin(series, group);
  paired_compare_all(series, group, duels);
  if (group->baseline >= 0) ranking_verdicts(series, duels, group);
  ranking_best_set(series, duels, group);
  group->smallest_callable_ratio = paired_smallest_callable(series, group);
  int error = ranking_ranges(series, duels, group);
  free(duels);
  return error;
}

/* Beside the twin stands what it is there for: how far apart the same method looks. */
static void show_twin(struct stat_group *group) {
  for (unsigned c = 0; c < group->cell_count; c++) {
    struct stat_cell *cell = &group->cells[c];
    if (cell->plan->twin && cell->status == PLAN_OK) cell->speed_ratio = group->twin;
  }
}

static int summarize_group(const struct run *run, unsigned index, struct stat_group *group) {
  struct series series;
  int error = make_group(&run->plan.groups[index], run->plan.rank_by == PLAN_RANK_MEMORY, group);
  if (error) return error;
  mark_failures(run, index, group);
  error = series_collect(run, index, group->cells, &series);
  if (error) return error;
  fill_cells(&series, group);
  group->resident_before = evidence_resident(&series);
  group->read_back = evidence_read_back(&series);
  error = latency_fill(&series, group);
  for (unsigned c = 0; c < group->cell_count; c++) {
    if (group->cells[c].plan->twin) continue;
    group->steady += group->cells[c].steadiness == STAT_STEADY;
    group->not_steady += group->cells[c].steadiness == STAT_NOT_STEADY;
  }
  if (!error) error = compare_cells(&series, group);
  if (!error) error = fill_order(&series, group);
  show_twin(group);
  series_release(&series);
  return error;
}

/* ---- the whole ----------------------------------------------------------------------------------------------------- */

static bool has_failures(const struct stat_group *group) {
  for (unsigned c = 0; c < group->cell_count; c++) {
    if (group->cells[c].status == PLAN_FAILED) return true;
  }
  return false;
}

/* A group of one has nothing to decide. */
static bool is_inconclusive(const struct stat_group *group) {
  unsigned compared = 0, unclear = 0;
  if (group->plan->dropped) return false;
  for (unsigned c = 0; c < group->cell_count; c++) {
    enum stat_verdict verdict = group->cells[c].verdict;
    compared += verdict == STAT_FASTER || verdict == STAT_SAME || verdict == STAT_SLOWER;
    unclear += verdict == STAT_UNCLEAR;
  }
  return !group->claims || (unclear > 0 && compared == 0);
}

static void count_work(const struct stat_group *group, struct summary *out) {
  if (group->rounds > out->rounds) out->rounds = group->rounds;
  if (!group->plan->dropped && group->plan->rounds > out->rounds_planned) out->rounds_planned = group->plan->rounds;
  for (unsigned c = 0; c < group->cell_count; c++) out->analysed += group->cells[c].n;
}

int stat_summarize(const struct run *run, struct summary *out) {
  *out = (struct summary){.run = run};
  out->groups = calloc(run->plan.group_count + (size_t)1, sizeof *out->groups);
  if (!out->groups) return -ENOMEM;
  for (unsigned g = 0; g < run->plan.group_count; g++) {
    out->group_count = g + 1;
    int error = summarize_group(run, g, &out->groups[g]);
    if (error) {
      stat_release(out);
      return error;
    }
    count_work(&out->groups[g], out);
    out->failed |= has_failures(&out->groups[g]);
    out->inconclusive |= is_inconclusive(&out->groups[g]);
  }
  advice_fill(out);
  int error = curve_fill(out);
  if (!error) error = machine_fill(run, out);
  if (error) stat_release(out);
  return error;
}

void stat_release(struct summary *summary) {
  for (unsigned g = 0; g < summary->group_count; g++) {
    for (unsigned c = 0; summary->groups[g].cells && c < summary->groups[g].cell_count; c++)
      free(summary->groups[g].cells[c].latency);
    free(summary->groups[g].cells);
    free(summary->groups[g].pairs);
    free(summary->groups[g].order);
  }
  free(summary->groups);
  free(summary->curves);
  free(summary->noise);
  *summary = (struct summary){0};
}
