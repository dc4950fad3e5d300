/* json_parts.h - what JSON documents share. */
#ifndef WEIR_JSON_PARTS_H
#define WEIR_JSON_PARTS_H

#include <jansson.h>

#include "stat/summary.h"

/* The facts of a run, by name. */
json_t *json_environment(const struct run *run);
/* The whole summary. */
json_t *json_summary(const struct summary *summary);
/* What follows from a group for a program; NULL: nothing. */
json_t *json_advice(const struct summary *summary, const struct stat_group *group);
/* What the machine did over rounds; NULL where none was watched. */
json_t *json_machine(const struct stat_machine *machine);
/* The same round by round. */
json_t *json_time_line(const struct summary *summary);

#endif
