/*
 * label.h - what a cell's number may be called. Internal to the stat stage.
 */
#ifndef WEIR_LABEL_H
#define WEIR_LABEL_H

/* Below so much of a file in the page cache, in parts per million, it is out of it. */
#define LABEL_COLD_PPM 10000

#include "stat/series.h"

/* What one sample shows of where its bytes came from. */
enum label_source { LABEL_UNKNOWN, LABEL_CACHE, LABEL_DEVICE, LABEL_BOTH };
enum label_source label_source(const struct sample *sample);
/* Words joined by '+', from the samples of the cell; "" when it has none. */
void label_cell(const struct series *series, unsigned cell, char out[64]);
/* The file of this cell lies in memory, not on a device. */
bool label_ram_backed(const struct series *series, unsigned cell);

#endif
