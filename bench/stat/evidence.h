/*
 * evidence.h - what a cell took and what it cost, apart from any comparison. Internal to the stat stage.
 */
#ifndef WEIR_EVIDENCE_H
#define WEIR_EVIDENCE_H

#include "stat/series.h"

/* Fills n, elapsed, phases, rates, label, limit, evidence, cost and latency of one cell that did not fail. */
void evidence_fill(const struct series *series, unsigned index, struct stat_cell *cell);

#endif
