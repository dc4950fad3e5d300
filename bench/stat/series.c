/*
 * series.c - sorts the samples of a group into a table of cells and rounds. Decides which samples count, and nothing about
 * what they mean.
 */
#include "stat/series.h"

#include "stat/label.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* What a sample is ranked by, per pass; 0 where it says nothing, for there is no logarithm of it. */
static double ranked_quantity(const struct sample *sample, enum plan_rank rank_by) {
  double passes = (double)sample->passes;
  switch (rank_by) {
    case PLAN_RANK_TRANSFER:
      return ((double)sample->phase_ns[RUN_RUN] + (double)sample->phase_ns[RUN_SYNC]) / passes;
    case PLAN_RANK_CPU:
      return (double)sample->cpu_ns / passes;
    case PLAN_RANK_MEMORY:
      return (double)sample->peak_bytes;
    case PLAN_RANK_TIME:
      break;
  }
  return sample_elapsed_ns(sample);
}

/* Was the file in the state that the group asks for? What is not known does not count against a sample. */
static bool in_wanted_state(const struct series *series, const struct sample *sample) {
  const struct plan_demand *demand = &series->plan->demand;
  const struct plan_cell *cell = &series->plan->cells[sample->cell];
  if (demand->direction != WEIR_READ || (cell->capabilities & WEIR_CAP_FLOOR)) return true;
  if (sample->flags & RUN_SELF_TIMED) return true; /* its bytes moved before our window; its own report stands */
  if (demand->cache == PLAN_WARM) return !(sample->flags & RUN_NOT_WARM);
  enum label_source source = label_source(sample);
  return source == LABEL_DEVICE || source == LABEL_UNKNOWN || label_ram_backed(series, sample->cell);
}

static bool is_complete_sample(const struct series *series, const struct sample *sample) {
  return sample->group == series->group && sample->cell < series->cell_count && sample->round >= 1 &&
         sample->status == RUN_OK && !(sample->flags & (RUN_PILOT | RUN_BURN_IN | RUN_PARTIAL | RUN_RETAKEN)) &&
         sample_elapsed_ns(sample) > 0;
}

/* Reading a second file is a procedure with an effect that nobody promises: whatever came of it is the answer. */
static bool any_state_counts(const struct series *series) {
  bool by_procedure = series->run->plan.flush == PLAN_FLUSH_FILE && series->plan->demand.cache == PLAN_COLD;
  return by_procedure || series->state_missed;
}

static bool is_analysed(const struct series *series, const struct sample *sample) {
  return is_complete_sample(series, sample) && (any_state_counts(series) || in_wanted_state(series, sample));
}

static void look_at_state(struct series *series) {
  bool any = false;
  for (size_t i = 0; i < series->run->sample_count; i++) {
    const struct sample *sample = &series->run->samples[i];
    if (!is_complete_sample(series, sample) || (series->plan->cells[sample->cell].capabilities & WEIR_CAP_FLOOR)) continue;
    any = true;
    if (in_wanted_state(series, sample)) return;
  }
  series->state_missed = any;
}

static int by_number(const void *left, const void *right) {
  int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
  return a < b ? -1 : a > b;
}

/*
 * The round numbers that occur, ascending. They come from a file and may be any; the table has a column for those that
 * are there and no room for those that are not.
 */
static int list_rounds(struct series *series, int32_t **out) {
  const struct run *run = series->run;
  size_t count = 0;
  int32_t *rounds = calloc(run->sample_count + 1, sizeof *rounds);
  if (!rounds) return -ENOMEM;
  for (size_t i = 0; i < run->sample_count; i++) {
    if (is_analysed(series, &run->samples[i])) rounds[count++] = run->samples[i].round;
  }
  qsort(rounds, count, sizeof *rounds, by_number);
  for (size_t i = 0; i < count; i++) {
    if (i == 0 || rounds[i] != rounds[i - 1]) rounds[series->round_count++] = rounds[i];
  }
  *out = rounds;
  return 0;
}

/* One more than needed everywhere, so that an empty table is not mistaken for a lack of memory. */
static int make_table(struct series *series) {
  size_t cells = series->cell_count, rounds = series->round_count;
  if (rounds && cells > (SIZE_MAX / sizeof *series->values - 1) / rounds) return -ENOMEM;
  size_t size = cells * rounds;
  series->samples = calloc(size + 1, sizeof *series->samples);
  series->values = calloc(size + 1, sizeof *series->values);
  series->scratch = calloc(size + 1, sizeof *series->scratch);
  series->play = calloc(cells + 1, sizeof *series->play);
  if (!series->samples || !series->values || !series->scratch || !series->play) return -ENOMEM;
  for (size_t i = 0; i < size; i++) series->values[i] = NAN;
  return 0;
}

/* A cell has one sample in a round; should a file hold two, the first counts. */
static void fill_table(struct series *series, const int32_t *rounds) {
  const struct run *run = series->run;
  for (size_t i = 0; i < run->sample_count; i++) {
    const struct sample *sample = &run->samples[i];
    if (!is_analysed(series, sample)) continue;
    const int32_t *round = bsearch(&sample->round, rounds, series->round_count, sizeof *rounds, by_number);
    size_t slot = sample->cell * series->round_count + (size_t)(round - rounds);
    if (series->samples[slot]) continue;
    double quantity = ranked_quantity(sample, run->plan.rank_by);
    series->samples[slot] = sample;
    if (quantity > 0) series->values[slot] = log(quantity);
  }
}

static bool has_values(const struct series *series, unsigned cell) {
  for (size_t r = 0; r < series->round_count; r++) {
    if (!isnan(series_value(series, cell, r))) return true;
  }
  return false;
}

static bool is_complete(const struct series *series, size_t round) {
  for (unsigned i = 0; i < series->k; i++) {
    if (isnan(series_value(series, series->play[i], round))) return false;
  }
  return true;
}

static void find_play(struct series *series, const struct stat_cell *cells) {
  for (unsigned c = 0; c < series->cell_count; c++) {
    bool counts = plan_cell_counts(&series->plan->cells[c]) && cells[c].status == PLAN_OK;
    if (counts && has_values(series, c)) series->play[series->k++] = c;
  }
  for (size_t r = 0; series->k && r < series->round_count; r++) series->rounds += is_complete(series, r);
}

int series_collect(const struct run *run, unsigned group, const struct stat_cell *cells, struct series *out) {
  const struct plan_group *plan = &run->plan.groups[group];
  int32_t *rounds = NULL;
  *out = (struct series){.run = run, .group = group, .plan = plan, .cell_count = plan->cell_count};
  look_at_state(out);
  int error = list_rounds(out, &rounds);
  if (!error) error = make_table(out);
  if (!error) {
    fill_table(out, rounds);
    find_play(out, cells);
  } else {
    series_release(out);
  }
  free(rounds);
  return error;
}

void series_release(struct series *series) {
  free(series->samples);
  free(series->values);
  free(series->scratch);
  free(series->play);
  *series = (struct series){0};
}
