/* json_parts.h - what JSON documents share. */
#ifndef WEIR_JSON_PARTS_H
#define WEIR_JSON_PARTS_H

#include <jansson.h>

#include "measure/run.h"

/* The facts of a run, by name. */
json_t *json_environment(const struct run *run);

#endif
