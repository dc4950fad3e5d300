/*
 * limits.h - what the devices below the places can do at best, beside the floors: direct reads and writes with depth,
 * flushes.
 */
#ifndef WEIR_LIMITS_H
#define WEIR_LIMITS_H

#include "measure/content.h"
#include "measure/measure.h"
#include "measure/scratch.h"

/*
 * Fills run->limits: of every place what some cell of the plan needs, on a file of its own that is removed again; of the
 * user's file reads alone. About a second, shared by all places. What cannot be measured stays 0 and says why. 0, -ENOMEM,
 * or -EINTR.
 */
int limits_measure(struct run *run, const struct scratch *scratch, const struct content *content,
                   const struct measure_options *options);

#endif
