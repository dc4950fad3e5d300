/* precision.c - see precision.h. The times are sorted into one array, cell after cell. */
#include "stat/precision.h"

#include <math.h>
#include <stdlib.h>

#include "stat/exact.h"

#define LEVEL 0.05

struct times {
  size_t cell_count;
  size_t *first; /* of each cell in values; cell_count + 1 of them */
  double *values;
  double *widths; /* one for each cell that has an interval */
};

static bool counts(const struct sample *sample) {
  return sample->round >= 1 && sample->status == RUN_OK && !(sample->flags & (RUN_PARTIAL | RUN_RETAKEN)) &&
         sample_elapsed_ns(sample) > 0;
}

/* Which cell of the run, through all groups. */
static size_t cell_of(const struct run *run, const struct sample *sample) {
  size_t index = sample->cell;
  for (unsigned g = 0; g < sample->group && g < run->plan.group_count; g++) index += run->plan.groups[g].cell_count;
  return index;
}

static bool take_room(const struct run *run, struct times *times) {
  for (unsigned g = 0; g < run->plan.group_count; g++) times->cell_count += run->plan.groups[g].cell_count;
  times->first = calloc(times->cell_count + 2, sizeof *times->first);
  times->values = malloc((run->sample_count + 1) * sizeof *times->values);
  times->widths = malloc((times->cell_count + 1) * sizeof *times->widths);
  return times->first && times->values && times->widths;
}

/* first[c + 1] counts cell c, then becomes where cell c begins, and while values are put there, where it ends. */
static void sort_in(const struct run *run, struct times *times) {
  for (size_t i = 0; i < run->sample_count; i++)
    if (counts(&run->samples[i])) times->first[cell_of(run, &run->samples[i]) + 2]++;
  for (size_t c = 2; c < times->cell_count + 2; c++) times->first[c] += times->first[c - 1];
  for (size_t i = 0; i < run->sample_count; i++)
    if (counts(&run->samples[i]))
      times->values[times->first[cell_of(run, &run->samples[i]) + 1]++] = sample_elapsed_ns(&run->samples[i]);
}

/* 0: too few. */
static double width_of(double *values, unsigned n) {
  const unsigned rank = n ? exact_interval_rank(n, LEVEL) : 0;
  if (!rank) return 0;
  exact_sort(values, n);
  return (values[n - rank] - values[rank - 1]) / 2 / exact_middle(values, n);
}

double stat_precision(const struct run *run) {
  struct times times = {0};
  size_t count = 0;
  double precision = 0;
  if (take_room(run, &times)) {
    sort_in(run, &times);
    for (size_t c = 0; c < times.cell_count; c++) {
      const double width = width_of(times.values + times.first[c], (unsigned)(times.first[c + 1] - times.first[c]));
      if (width > 0) times.widths[count++] = width;
    }
    if (count) precision = exact_median(times.widths, count);
  }
  free(times.first);
  free(times.values);
  free(times.widths);
  return precision;
}
