/*
 * series.h - the samples of one group that count, by cell and round, and the quantity they are ranked by.
 *
 * Internal to the stat stage. Analysed are samples of rounds 1 and up that ended well and whole; pilots, burn-in, partial
 * and failed ones stay in the run and are not in here, and neither is a sample whose file was not in the cache state that
 * the group asks for, where others found it in that state: it is a number of something else. The rule looks at the state
 * alone and never at the time. Where cold is made by reading a second file, every state counts: none was promised.
 */
#ifndef WEIR_SERIES_H
#define WEIR_SERIES_H

#include "stat/summary.h"

struct series {
  const struct run *run;
  unsigned group;
  const struct plan_group *plan;
  unsigned cell_count;
  bool state_missed;             /* no sample found the file in the state that was asked for; all are analysed then */
  size_t round_count;            /* distinct rounds that some cell has */
  const struct sample **samples; /* cell_count x round_count, NULL where there is none */
  double *values;                /* the same shape: ln of the ranked quantity, NAN where there is none */
  unsigned k;
  unsigned *play;  /* indices of the k cells that are ranked */
  unsigned rounds; /* rounds in which all k cells have a value */
  double *scratch; /* room for one value of every cell and round */
};

/* Collects; `cells` says which cells failed. 0 or -ENOMEM. */
int series_collect(const struct run *run, unsigned group, const struct stat_cell *cells, struct series *out);
void series_release(struct series *series);

static inline const struct sample *series_sample(const struct series *series, unsigned cell, size_t round) {
  return series->samples[cell * series->round_count + round];
}
static inline double series_value(const struct series *series, unsigned cell, size_t round) {
  return series->values[cell * series->round_count + round];
}

#endif
