/*
 * compare_json.c - two runs side by side as one JSON document. What is not known is null. A speed_ratio is the time before
 * by the time now: above 1 is faster now.
 */
#include <jansson.h>
#include <stdlib.h>

#include "report/compare_text.h"
#include "report/json_parts.h"

#define COMPARE_SCHEMA 1

static void put(json_t *object, const char *key, json_t *value) {
  (void)json_object_set_new_nocheck(object, key, value ? value : json_null());
}

static void append(json_t *array, json_t *value) { (void)json_array_append_new(array, value ? value : json_null()); }

/* NULL, and with it null, for text that is missing or empty. */
static json_t *text_value(const char *text) {
  char *encoded = text && text[0] ? run_text_encode(text) : NULL;
  json_t *value = encoded ? json_string(encoded) : NULL;
  free(encoded);
  return value;
}

static json_t *interval_value(const struct stat_interval *interval) {
  if (!(interval->median > 0)) return NULL;
  json_t *object = json_object();
  put(object, "median", json_real(interval->median));
  put(object, "low", interval->known ? json_real(interval->low) : NULL);
  put(object, "high", interval->known ? json_real(interval->high) : NULL);
  return object;
}

static json_t *differences_value(const struct comparison *comparison) {
  json_t *array = json_array();
  for (unsigned i = 0; i < comparison->difference_count; i++) {
    const struct compare_difference *difference = &comparison->differences[i];
    json_t *object = json_object();
    put(object, "what", text_value(difference->what));
    put(object, "before", text_value(difference->before));
    put(object, "now", text_value(difference->now));
    put(object, "refuses", json_boolean(difference->refuses));
    append(array, object);
  }
  return array;
}

static json_t *elapsed_value(const struct stat_cell *cell) { return cell ? interval_value(&cell->elapsed_ns) : NULL; }

static json_t *row_value(const struct compare_row *row) {
  json_t *object = json_object();
  put(object, "cell", text_value(compare_cell_name(row)));
  put(object, "n_before", json_integer(row->n_before));
  put(object, "n_now", json_integer(row->n_now));
  put(object, "elapsed_ns_before", elapsed_value(row->before));
  put(object, "elapsed_ns_now", elapsed_value(row->now));
  put(object, "speed_ratio", interval_value(&row->speed_ratio));
  put(object, "as_measured", interval_value(&row->as_measured));
  put(object, "verdict", text_value(compare_verdict(row)));
  put(object, "broke", json_boolean(row->broke));
  put(object, "reason", text_value(row->reason));
  return object;
}

static json_t *group_value(const struct compare_group *group) {
  const struct plan_group *plan = (group->now ? group->now : group->before)->plan;
  json_t *object = json_object(), *rows = json_array();
  put(object, "id", text_value(plan->id));
  put(object, "title", text_value(plan->title));
  put(object, "reason", text_value(group->reason));
  put(object, "rounds_before", group->before ? json_integer(group->before->rounds) : NULL);
  put(object, "rounds_now", group->now ? json_integer(group->now->rounds) : NULL);
  put(object, "rounds_needed", group->k ? json_integer(group->rounds_needed) : NULL);
  put(object, "margin", group->k ? json_real(group->margin) : NULL);
  put(object, "shift", interval_value(&group->shift));
  put(object, "control", group->control > 0 ? json_real(group->control) : NULL);
  for (unsigned r = 0; r < group->row_count; r++) append(rows, row_value(&group->rows[r]));
  put(object, "cells", rows);
  return object;
}

static json_t *counts_value(const struct comparison *comparison) {
  json_t *object = json_object();
  for (int v = STAT_FASTER; v <= STAT_UNCLEAR; v++) put(object, stat_verdict_words[v], json_integer(comparison->counts[v]));
  put(object, "broke", json_integer(comparison->broken));
  return object;
}

static json_t *run_value(const struct summary *summary, const char *name) {
  json_t *object = json_object();
  char seed[24];
  snprintf(seed, sizeof seed, "0x%016llx", (unsigned long long)summary->run->plan.seed);
  put(object, "name", text_value(name));
  put(object, "seed", json_string(seed));
  put(object, "weir", text_value(run_fact_text(summary->run, "weir.version")));
  put(object, "environment", json_environment(summary->run));
  return object;
}

void compare_json(const struct comparison *comparison, const struct report_options *options, FILE *out) {
  json_t *document = json_object(), *groups = json_array();
  (void)options;
  put(document, "schema", json_integer(COMPARE_SCHEMA));
  put(document, "before", run_value(comparison->before, comparison->before_name));
  put(document, "now", run_value(comparison->now, comparison->now_name));
  put(document, "ranked_by", json_string(plan_rank_words[comparison->now->run->plan.rank_by]));
  put(document, "margin_asked", json_real(comparison->margin));
  put(document, "absolute", json_boolean(comparison->absolute));
  put(document, "interleaved", json_boolean(comparison->interleaved));
  put(document, "refused", json_boolean(comparison->refused));
  put(document, "differences", differences_value(comparison));
  put(document, "shift", interval_value(&comparison->shift));
  put(document, "verdicts", counts_value(comparison));
  for (unsigned g = 0; g < comparison->group_count; g++) append(groups, group_value(&comparison->groups[g]));
  put(document, "groups", groups);
  if (document != NULL && json_dumpf(document, out, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) == 0) putc('\n', out);
  json_decref(document);
}
