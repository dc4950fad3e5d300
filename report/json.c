/*
 * json.c - the summary as one JSON document. Units stand in the names, and they are base units; what is not known is null;
 * nothing depends on the locale. Keys stand in the order in which they are written here. Consumers ignore fields that they
 * do not know: the schema grows only. The hidden second entry of the baseline is not among the cells.
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "report/claims_text.h"
#include "report/compare_text.h"
#include "report/json_parts.h"
#include "report/json_values.h"
#include "report/report.h"

#define SUMMARY_SCHEMA 1

/* ---- cells --------------------------------------------------------------------------------------------------------- */

static json_t *family_value(const char *method) {
  char family[sizeof((struct plan_cell *)0)->method];
  snprintf(family, sizeof family, "%s", method);
  family[strcspn(family, "/")] = '\0';
  return value_text(family);
}

/* Sizes and counts are numbers; choices are words, whose value is only an index. */
static json_t *param_value(const struct plan_param *param) {
  uint64_t number;
  if (units_parse_size(param->text, &number) == 0 && number == param->value) return value_count(number);
  return value_text(param->text);
}

static json_t *params_value(const struct plan_cell *cell) {
  json_t *object = json_object();
  for (unsigned i = 0; i < cell->param_count; i++) {
    char *name = run_text_encode(cell->params[i].name);
    if (name != NULL) value_put(object, name, param_value(&cell->params[i]));
    free(name);
  }
  return object;
}

static json_t *phases_value(const struct stat_cell *cell) {
  static const char *const names[RUN_PHASES] = {"open", "run", "sync", "close"};
  if (cell->n == 0) return NULL;
  json_t *object = json_object();
  for (int phase = 0; phase < RUN_PHASES; phase++) value_put(object, names[phase], value_known(cell->phases_ns[phase]));
  return object;
}

static json_t *evidence_value(const struct stat_cell *cell) {
  if (cell->n == 0) return NULL;
  json_t *object = json_object();
  value_put(object, "resident_before", value_known(cell->resident_before));
  value_put(object, "resident_after", value_known(cell->resident_after));
  value_put(object, "device_read_bytes", value_known(cell->device_read_bytes));
  value_put(object, "device_write_bytes", value_known(cell->device_write_bytes));
  value_put(object, "flushes", value_known(cell->flushes));
  return object;
}

static json_t *cost_value(const struct stat_cell *cell) {
  if (cell->n == 0) return NULL;
  json_t *object = json_object();
  value_put(object, "cpu_ns", value_known(cell->cpu_ns));
  value_put(object, "minor_faults", value_known(cell->minor_faults));
  value_put(object, "major_faults", value_known(cell->major_faults));
  value_put(object, "peak_bytes", value_known(cell->peak_bytes));
  value_put(object, "allocations", value_known(cell->allocations));
  value_put(object, "allocated_bytes", value_known(cell->allocated_bytes));
  value_put(object, "setup_ns", value_known(cell->setup_ns));
  value_put(object, "cpu_ns_per_byte", value_known(cell->cpu_ns_per_byte));
  value_put(object, "cycles", value_known(cell->cycles));
  value_put(object, "instructions", value_known(cell->instructions));
  value_put(object, "system_calls", value_known(cell->system_calls));
  value_put(object, "voluntary_switches", value_known(cell->voluntary_switches));
  value_put(object, "involuntary_switches", value_known(cell->involuntary_switches));
  value_put(object, "cache_growth_bytes", cell->cache_growth_known ? json_real(cell->cache_growth_bytes) : NULL);
  value_put(object, "evicted_share", value_known(cell->evicted_share));
  return object;
}

/* Of writers: had the rate come to rest in the last rounds? null where there are too few. */
static json_t *steady_value(const struct stat_cell *cell) {
  if (cell->steadiness == STAT_STEADINESS_UNKNOWN) return NULL;
  json_t *object = json_object();
  value_put(object, "reached", json_boolean(cell->steadiness == STAT_STEADY));
  value_put(object, "range", json_real(cell->steady_range));
  value_put(object, "slope", json_real(cell->steady_slope));
  return object;
}

static unsigned octave(uint64_t ns) {
  unsigned log2 = 0;
  while (ns >>= 1) log2++;
  return log2;
}

/* Operations by floor(log2(ns)), for who looks no closer. */
static json_t *octaves_value(const struct stat_latency *latency) {
  json_t *object = json_object();
  for (size_t i = 0; i < latency->slot_count;) {
    const unsigned log2 = octave(histogram_low(latency->slots[i].slot));
    uint64_t count = 0;
    char key[8];
    for (; i < latency->slot_count && octave(histogram_low(latency->slots[i].slot)) == log2; i++)
      count += latency->slots[i].count;
    snprintf(key, sizeof key, "%u", log2);
    value_put(object, key, value_count(count));
  }
  return object;
}

/* [from, below, operations], of the slots that are not empty. */
static json_t *histogram_value(const struct stat_latency *latency) {
  json_t *rows = json_array();
  for (size_t i = 0; i < latency->slot_count && !latency->is_log2; i++) {
    json_t *row = json_array();
    value_append(row, value_count(histogram_low(latency->slots[i].slot)));
    value_append(row, value_count(histogram_end(latency->slots[i].slot)));
    value_append(row, value_count(latency->slots[i].count));
    value_append(rows, row);
  }
  return rows;
}

/* A percentile is null where a sample has too few operations. */
static json_t *latency_value(const struct stat_cell *cell) {
  const struct stat_latency *latency = cell->latency;
  if (latency == NULL) return NULL;
  json_t *object = json_object(), *percentiles = json_object();
  for (unsigned i = 0; i < STAT_PERCENTILES; i++)
    value_put(percentiles, stat_percentiles[i].name, value_interval(&latency->percentile_ns[i]));
  value_put(object, "percentiles", percentiles);
  value_put(object, "operations_per_sample", value_count(latency->operations));
  value_put(object, "late_share", value_known(latency->late_share));
  value_put(object, "histogram", histogram_value(latency));
  value_put(object, "operations_by_log2", octaves_value(latency));
  return object;
}

static json_t *rank_value(const struct stat_cell *cell) {
  if (!cell->ranked) return NULL;
  json_t *object = json_object();
  value_put(object, "low", json_integer(cell->rank_low));
  value_put(object, "high", json_integer(cell->rank_high));
  return object;
}

static void put_speed(json_t *object, const struct stat_cell *cell) {
  value_put(object, "n", json_integer(cell->n));
  value_put(object, "elapsed_ns", value_interval(&cell->elapsed_ns));
  value_put(object, "phases_ns", phases_value(cell));
  value_put(object, "bytes_per_s", value_positive(cell->bytes_per_s));
  value_put(object, "operations_per_s", value_positive(cell->operations_per_s));
  value_put(object, "items_per_s", value_positive(cell->items_per_s));
  value_put(object, "speed_ratio", value_interval(&cell->speed_ratio));
  value_put(object, "rank", rank_value(cell));
  value_put(object, "verdict", value_text(stat_verdict_words[cell->verdict]));
}

/* Where the cell's file lies; of a striped one, the list of all that it lies in. */
static json_t *place_value(const struct plan *plan, const struct plan_group *group, const struct plan_cell *cell) {
  if (!group->demand.members) return cell->place < plan->place_count ? value_text(plan->places[cell->place]) : NULL;
  json_t *array = json_array();
  for (unsigned i = 0; i < plan->place_count; i++) value_append(array, value_text(plan->places[i]));
  return array;
}

static json_t *cell_value(const struct plan *plan, const struct plan_group *group, const struct stat_cell *cell) {
  static const char *const status_words[] = {"ok", "unavailable", "failed"}; /* enum plan_status */
  json_t *object = json_object();
  value_put(object, "id", value_text(cell->plan->id));
  if (cell->plan->style[0]) value_put(object, "style", value_text(cell->plan->style));
  value_put(object, "method", value_text(cell->plan->method));
  value_put(object, "family", family_value(cell->plan->method));
  value_put(object, "params", params_value(cell->plan));
  if (cell->plan->style[0]) value_put(object, "style", value_text(cell->plan->style));
  value_put(object, "threads", json_integer(cell->plan->threads));
  value_put(object, "place", place_value(plan, group, cell->plan));
  value_put(object, "status", json_string(status_words[cell->status]));
  value_put(object, "reason", value_text(cell->reason));
  value_put(object, "remedy", value_text(cell->plan->remedy));
  put_speed(object, cell);
  value_put(object, "label", value_text(cell->label));
  value_put(object, "limit_percent", value_positive(cell->limit_percent));
  value_put(object, "limit", value_text(cell->limit));
  value_put(object, "evidence", evidence_value(cell));
  value_put(object, "cost", cost_value(cell));
  if (group->demand.direction != WEIR_READ) value_put(object, "steady", steady_value(cell));
  value_put(object, "latency_ns", latency_value(cell));
  return object;
}

/* ---- groups -------------------------------------------------------------------------------------------------------- */

static json_t *demand_value(const struct plan_demand *demand) {
  json_t *object = json_object();
  value_put(object, "task", json_string(plan_task_words[demand->task]));
  value_put(object, "direction", json_string(plan_direction_words[demand->direction]));
  value_put(object, "access", json_string(plan_access_words[demand->access]));
  value_put(object, "size_bytes", value_count(demand->size_bytes));
  value_put(object, "request_bytes", demand->request_bytes ? value_count(demand->request_bytes) : NULL);
  if (demand->item_bytes) value_put(object, "item_bytes", value_count(demand->item_bytes));
  if (demand->rate_per_s > 0) value_put(object, "rate_per_s", json_real(demand->rate_per_s));
  if (demand->members) value_put(object, "members", json_integer(demand->members));
  value_put(object, "durability", json_string(plan_durability_words[demand->durability]));
  value_put(object, "target", demand->direction == WEIR_WRITE ? json_string(plan_target_words[demand->target]) : NULL);
  value_put(object, "cache", json_string(plan_cache_words[demand->cache]));
  value_put(object, "process", json_string(plan_process_words[demand->process]));
  value_put(object, "consumer", json_string(plan_consumer_words[demand->consumer]));
  value_put(object, "coverage", value_positive(demand->coverage));
  if (demand->direction == WEIR_MIXED) value_put(object, "write_share", value_positive(demand->write_share));
  return object;
}

/* Row i, column j: speed of cell j against cell i. Rows and columns are those of `cells`. */
static json_t *pairs_value(const struct stat_group *group) {
  json_t *rows = json_array();
  for (unsigned i = 0; i < group->cell_count; i++) {
    if (group->cells[i].plan->twin) continue;
    json_t *row = json_array();
    for (unsigned j = 0; j < group->cell_count; j++) {
      if (!group->cells[j].plan->twin) value_append(row, value_interval(&group->pairs[(size_t)i * group->cell_count + j]));
    }
    value_append(rows, row);
  }
  return rows;
}

static json_t *best_set_value(const struct stat_group *group) {
  json_t *array = json_array();
  for (unsigned i = 0; i < group->order_count; i++) {
    const struct stat_cell *cell = &group->cells[group->order[i]];
    if (cell->best) value_append(array, value_text(cell->plan->id));
  }
  return array;
}

static json_t *needed_value(const struct stat_group *group) {
  json_t *object = json_object();
  value_put(object, "best_set", json_integer(group->needed_best));
  value_put(object, "baseline", json_integer(group->needed_baseline));
  value_put(object, "ranks", json_integer(group->needed_pairs));
  return object;
}

static json_t *group_value(const struct summary *summary, const struct stat_group *group) {
  const struct plan *plan = &summary->run->plan;
  json_t *object = json_object(), *cells = json_array();
  const struct stat_cell *baseline = group->baseline >= 0 ? &group->cells[group->baseline] : NULL;
  value_put(object, "id", value_text(group->plan->id));
  value_put(object, "title", value_text(group->plan->title));
  value_put(object, "demand", demand_value(&group->plan->demand));
  value_put(object, "dropped", value_text(group->plan->dropped ? group->plan->drop_reason : NULL));
  value_put(object, "baseline", baseline ? value_text(baseline->plan->id) : NULL);
  value_put(object, "rounds", json_integer(group->rounds));
  value_put(object, "rounds_planned", json_integer(group->plan->dropped ? 0 : group->plan->rounds));
  value_put(object, "rounds_needed", needed_value(group));
  value_put(object, "passes", value_count(group->plan->passes));
  value_put(object, "best_set", best_set_value(group));
  value_put(object, "aa_twin", value_interval(&group->twin));
  value_put(object, "ranked_by", json_string(plan_rank_words[plan->rank_by]));
  value_put(object, "margin", value_known(group->margin));
  value_put(object, "margin_asked", value_known(plan->margin));
  value_put(object, "state_missed", json_boolean(group->state_missed));
  value_put(object, "smallest_callable_ratio", value_positive(group->smallest_callable_ratio));
  value_put(object, "noise", value_positive(group->noise));
  value_put(object, "machine", json_machine(&group->machine));
  value_put(object, "pairs", pairs_value(group));
  for (unsigned i = 0; i < group->cell_count; i++) {
    if (!group->cells[i].plan->twin) value_append(cells, cell_value(plan, group->plan, &group->cells[i]));
  }
  value_put(object, "cells", cells);
  value_put(object, "advice", json_advice(summary, group));
  return object;
}

/* ---- the document -------------------------------------------------------------------------------------------------- */

static json_t *fact_value(const struct run_fact *fact) {
  char *end;
  errno = 0;
  long long number = strtoll(fact->text, &end, 10);
  bool whole = fact->number && errno == 0 && end != fact->text && *end == '\0';
  return whole ? json_integer(number) : value_text(fact->text);
}

json_t *json_environment(const struct run *run) {
  json_t *object = json_object();
  for (unsigned i = 0; i < run->fact_count; i++) {
    char *name = run_text_encode(run->facts[i].name);
    if (name != NULL) value_put(object, name, fact_value(&run->facts[i]));
    free(name);
  }
  return object;
}

/* Of each place, in their order. */
static json_t *devices_value(const struct run *run) {
  json_t *array = json_array();
  for (unsigned i = 0; run->limits && i < run->plan.place_count; i++) {
    const struct run_limits *limits = &run->limits[i];
    json_t *object = json_object();
    value_put(object, "place", value_text(run->plan.file ? run->plan.file : run->plan.places[i]));
    value_put(object, "sequential_read_bytes_per_s", value_positive(limits->read_bytes_per_s));
    value_put(object, "random_reads_per_s", value_positive(limits->random_reads_per_s));
    value_put(object, "sequential_write_bytes_per_s", value_positive(limits->write_bytes_per_s));
    value_put(object, "sync_ns", value_positive(limits->sync_ns));
    value_put(object, "reason", value_text(limits->reason));
    value_append(array, object);
  }
  return array;
}

static json_t *floors_value(const struct run *run) {
  const struct run_floors *floors = &run->floors;
  json_t *object = json_object();
  value_put(object, "harness_ns_per_op", value_positive(floors->harness_ns_per_op));
  value_put(object, "harness_latency_ns_per_op", value_positive(floors->harness_latency_ns_per_op));
  value_put(object, "clock_read_ns", value_positive(floors->clock_read_ns));
  value_put(object, "clock_step_ns", value_positive(floors->clock_step_ns));
  value_put(object, "syscall_ns", value_positive(floors->syscall_ns));
  value_put(object, "page_fault_ns", value_positive(floors->page_fault_ns));
  value_put(object, "huge_page_fault_ns", value_positive(floors->huge_page_fault_ns));
  value_put(object, "memcpy_bytes_per_s", value_positive(floors->memcpy_bytes_per_s));
  value_put(object, "scan_bytes_per_s", value_positive(floors->scan_bytes_per_s));
  value_put(object, "devices", devices_value(run));
  return object;
}

static json_t *warnings_value(const struct run *run) {
  json_t *array = json_array();
  for (unsigned i = 0; i < run->warning_count; i++) {
    json_t *object = json_object();
    value_put(object, "id", value_text(run->warnings[i].id));
    value_put(object, "text", value_text(run->warnings[i].text));
    value_put(object, "remedy", value_text(run->warnings[i].remedy));
    value_append(array, object);
  }
  return array;
}

static json_t *arguments_value(const struct run *run) {
  json_t *array = json_array();
  for (unsigned i = 0; i < run->argument_count; i++) {
    json_t *argument = value_text(run->arguments[i]);
    value_append(array, argument ? argument : json_string(""));
  }
  return array;
}

static json_t *side_value(const struct stat_curve_side *side) {
  json_t *object = json_object();
  value_put(object, "best", value_text(side->best->plan->id));
  value_put(object, "bytes_per_s", value_positive(side->best->bytes_per_s));
  value_put(object, "request_bytes", value_count(side->best_request_bytes));
  value_put(object, "depth", json_integer(side->best_depth));
  value_put(object, "cpu_ns_per_gib", value_known(side->cpu_ns_per_gib));
  value_put(object, "half_power", value_text(side->half->plan->id));
  value_put(object, "half_power_request_bytes", value_count(side->half_request_bytes));
  value_put(object, "half_power_depth", json_integer(side->half_depth));
  value_put(object, "half_power_is_smallest", json_boolean(side->half_is_smallest));
  return object;
}

static json_t *curves_value(const struct summary *summary) {
  json_t *array = json_array();
  for (unsigned i = 0; i < summary->curve_count; i++) {
    const struct stat_curve *curve = &summary->curves[i];
    json_t *object = json_object();
    value_put(object, "first_group", value_text(curve->first->id));
    value_put(object, "groups", json_integer(curve->group_count));
    value_put(object, "buffered", side_value(&curve->buffered));
    value_put(object, "unbuffered", side_value(&curve->unbuffered));
    value_put(object, "buffered_by_unbuffered", value_positive(curve->buffered_share));
    value_append(array, object);
  }
  return array;
}

json_t *json_summary(const struct summary *summary) {
  const struct run *run = summary->run;
  json_t *document = json_object(), *groups = json_array();
  char seed[24];
  snprintf(seed, sizeof seed, "0x%016llx", (unsigned long long)run->plan.seed);
  value_put(document, "schema", json_integer(SUMMARY_SCHEMA));
  value_put(document, "weir", value_text(run_fact_text(run, "weir.version")));
  value_put(document, "seed", json_string(seed));
  value_put(document, "argv", arguments_value(run));
  value_put(document, "interrupted", json_boolean(run->interrupted));
  value_put(document, "rounds", json_integer(summary->rounds));
  value_put(document, "rounds_planned", json_integer(summary->rounds_planned));
  value_put(document, "rank_by", json_string(plan_rank_words[run->plan.rank_by]));
  value_put(document, "private_copies", json_boolean(run->plan.private_copies));
  value_put(document, "environment", json_environment(run));
  value_put(document, "floors", floors_value(run));
  value_put(document, "machine", json_machine(&summary->machine));
  for (unsigned i = 0; i < summary->group_count; i++) value_append(groups, group_value(summary, &summary->groups[i]));
  value_put(document, "groups", groups);
  if (summary->curve_count) value_put(document, "curves", curves_value(summary));
  value_put(document, "time_line", json_time_line(summary));
  value_put(document, "warnings", warnings_value(run));
  return document;
}

static void write_json(const struct summary *summary, const struct report_options *options, FILE *out) {
  json_t *document = json_summary(summary);
  /* 15 digits are as many as every double keeps, and 0.03 stays 0.03 */
  if (document != NULL && json_dumpf(document, out, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) == 0) putc('\n', out);
  json_decref(document);
}

const struct report report_json = {.name = "json",
                                   .suffix = ".json",
                                   .summary = "the summary as one JSON document",
                                   .write = write_json,
                                   .write_claims = claims_json,
                                   .write_comparison = compare_json};
