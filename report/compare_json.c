/*
 * compare_json.c - two runs side by side as one JSON document. What is not known is null. A speed_ratio is the time before
 * by the time now: above 1 is faster now.
 */
#include <jansson.h>
#include <stdlib.h>

#include "report/compare_text.h"
#include "report/json_parts.h"
#include "report/json_values.h"

#define COMPARE_SCHEMA 1

static json_t *differences_value(const struct comparison *comparison) {
  json_t *array = json_array();
  for (unsigned i = 0; i < comparison->difference_count; i++) {
    const struct compare_difference *difference = &comparison->differences[i];
    json_t *object = json_object();
    value_put(object, "what", value_text(difference->what));
    value_put(object, "before", value_text(difference->before));
    value_put(object, "now", value_text(difference->now));
    value_put(object, "refuses", json_boolean(difference->refuses));
    value_append(array, object);
  }
  return array;
}

static json_t *elapsed_value(const struct stat_cell *cell) { return cell ? value_interval(&cell->elapsed_ns) : NULL; }

static json_t *row_value(const struct compare_row *row) {
  json_t *object = json_object();
  value_put(object, "cell", value_text(compare_cell_name(row)));
  value_put(object, "n_before", json_integer(row->n_before));
  value_put(object, "n_now", json_integer(row->n_now));
  value_put(object, "elapsed_ns_before", elapsed_value(row->before));
  value_put(object, "elapsed_ns_now", elapsed_value(row->now));
  value_put(object, "speed_ratio", value_interval(&row->speed_ratio));
  value_put(object, "as_measured", value_interval(&row->as_measured));
  value_put(object, "verdict", value_text(compare_verdict(row)));
  value_put(object, "broke", json_boolean(row->broke));
  value_put(object, "reason", value_text(row->reason));
  return object;
}

static json_t *group_value(const struct compare_group *group) {
  const struct plan_group *plan = (group->now ? group->now : group->before)->plan;
  json_t *object = json_object(), *rows = json_array();
  value_put(object, "id", value_text(plan->id));
  value_put(object, "title", value_text(plan->title));
  value_put(object, "reason", value_text(group->reason));
  value_put(object, "rounds_before", group->before ? json_integer(group->before->rounds) : NULL);
  value_put(object, "rounds_now", group->now ? json_integer(group->now->rounds) : NULL);
  value_put(object, "rounds_needed", group->k ? json_integer(group->rounds_needed) : NULL);
  value_put(object, "margin", group->k ? json_real(group->margin) : NULL);
  value_put(object, "shift", value_interval(&group->shift));
  value_put(object, "control", group->control > 0 ? json_real(group->control) : NULL);
  for (unsigned r = 0; r < group->row_count; r++) value_append(rows, row_value(&group->rows[r]));
  value_put(object, "cells", rows);
  return object;
}

static json_t *counts_value(const struct comparison *comparison) {
  json_t *object = json_object();
  for (int v = STAT_FASTER; v <= STAT_UNCLEAR; v++)
    value_put(object, stat_verdict_words[v], json_integer(comparison->counts[v]));
  value_put(object, "broke", json_integer(comparison->broken));
  return object;
}

static json_t *run_value(const struct summary *summary, const char *name) {
  json_t *object = json_object();
  char seed[24];
  snprintf(seed, sizeof seed, "0x%016llx", (unsigned long long)summary->run->plan.seed);
  value_put(object, "name", value_text(name));
  value_put(object, "seed", json_string(seed));
  value_put(object, "weir", value_text(run_fact_text(summary->run, "weir.version")));
  value_put(object, "environment", json_environment(summary->run));
  return object;
}

void compare_json(const struct comparison *comparison, const struct report_options *options, FILE *out) {
  json_t *document = json_object(), *groups = json_array();
  (void)options;
  value_put(document, "schema", json_integer(COMPARE_SCHEMA));
  value_put(document, "before", run_value(comparison->before, comparison->before_name));
  value_put(document, "now", run_value(comparison->now, comparison->now_name));
  value_put(document, "ranked_by", json_string(plan_rank_words[comparison->now->run->plan.rank_by]));
  value_put(document, "margin_asked", json_real(comparison->margin));
  value_put(document, "absolute", json_boolean(comparison->absolute));
  value_put(document, "interleaved", json_boolean(comparison->interleaved));
  value_put(document, "refused", json_boolean(comparison->refused));
  value_put(document, "differences", differences_value(comparison));
  value_put(document, "shift", value_interval(&comparison->shift));
  value_put(document, "verdicts", counts_value(comparison));
  for (unsigned g = 0; g < comparison->group_count; g++) value_append(groups, group_value(&comparison->groups[g]));
  value_put(document, "groups", groups);
  if (document != NULL && json_dumpf(document, out, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) == 0) putc('\n', out);
  json_decref(document);
}
