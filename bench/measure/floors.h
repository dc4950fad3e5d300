/*
 * floors.h - what nothing on this machine can beat, measured in the same run as everything else.
 */
#ifndef WEIR_FLOORS_H
#define WEIR_FLOORS_H

#include "measure/run.h"

/* Takes about half a second. `null` is the method that moves nothing, or NULL: the harness floors stay 0. */
void floors_measure(struct run_floors *out, const struct weir_method *null);

#endif
