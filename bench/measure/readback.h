/*
 * readback.h - proof for writers: reads their files again and fails the sample where a byte differs.
 */
#ifndef WEIR_READBACK_H
#define WEIR_READBACK_H

#include "measure/sampler.h"

/* A file of blocks: the requests of this round, as they were made. Tells in `out` what of it was in the cache. */
void read_back_file(struct sampler *sampler, struct layout_file *file, struct sample *out);
/* A file of a stream, or all copies and parts. */
void read_back_parts(struct sampler *sampler, const struct layout_file *file, struct sample *out);

#endif
