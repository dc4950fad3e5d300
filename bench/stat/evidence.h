/*
 * evidence.h - what a cell took and what it cost, apart from any comparison. Internal to the stat stage.
 */
#ifndef WEIR_EVIDENCE_H
#define WEIR_EVIDENCE_H

#include "stat/series.h"

/* Fills n, elapsed, phases, rates, label, limit, evidence and cost of one cell that did not fail. */
void evidence_fill(const struct series *series, unsigned index, struct stat_cell *cell);

/* Share of the file in the cache before the samples of the group: median, least and most. Not known where nothing tells. */
struct stat_interval evidence_resident(const struct series *series);

/* Cells of a writing group whose pilot was read back, every byte as it was handed over, with the cache emptied before. */
unsigned evidence_read_back(const struct series *series);

#endif
