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
#include "report/report.h"

#define SUMMARY_SCHEMA 1

/* ---- values -------------------------------------------------------------------------------------------------------- */

/* Takes `value` over; what has no value is null. */
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

static json_t *count_value(uint64_t count) {
  return count <= INT64_MAX ? json_integer((json_int_t)count) : json_real((double)count);
}

/* Numbers that are 0, or -1, when they are not known. json_real has no value for what is no number. */
static json_t *positive_value(double number) { return number > 0 ? json_real(number) : NULL; }
static json_t *known_value(double number) { return number >= 0 ? json_real(number) : NULL; }

static json_t *interval_value(const struct stat_interval *interval) {
  if (!(interval->median > 0)) return NULL;
  json_t *object = json_object();
  put(object, "median", json_real(interval->median));
  put(object, "low", interval->known ? json_real(interval->low) : NULL);
  put(object, "high", interval->known ? json_real(interval->high) : NULL);
  return object;
}

/* ---- cells --------------------------------------------------------------------------------------------------------- */

static json_t *family_value(const char *method) {
  char family[sizeof((struct plan_cell *)0)->method];
  snprintf(family, sizeof family, "%s", method);
  family[strcspn(family, "/")] = '\0';
  return text_value(family);
}

/* Sizes and counts are numbers; choices are words, whose value is only an index. */
static json_t *param_value(const struct plan_param *param) {
  uint64_t number;
  if (units_parse_size(param->text, &number) == 0 && number == param->value) return count_value(number);
  return text_value(param->text);
}

static json_t *params_value(const struct plan_cell *cell) {
  json_t *object = json_object();
  for (unsigned i = 0; i < cell->param_count; i++) {
    char *name = run_text_encode(cell->params[i].name);
    if (name != NULL) put(object, name, param_value(&cell->params[i]));
    free(name);
  }
  return object;
}

static json_t *phases_value(const struct stat_cell *cell) {
  static const char *const names[RUN_PHASES] = {"open", "run", "sync", "close"};
  if (cell->n == 0) return NULL;
  json_t *object = json_object();
  for (int phase = 0; phase < RUN_PHASES; phase++) put(object, names[phase], known_value(cell->phases_ns[phase]));
  return object;
}

static json_t *evidence_value(const struct stat_cell *cell) {
  if (cell->n == 0) return NULL;
  json_t *object = json_object();
  put(object, "resident_before", known_value(cell->resident_before));
  put(object, "resident_after", known_value(cell->resident_after));
  put(object, "device_read_bytes", known_value(cell->device_read_bytes));
  put(object, "device_write_bytes", known_value(cell->device_write_bytes));
  put(object, "flushes", known_value(cell->flushes));
  return object;
}

static json_t *cost_value(const struct stat_cell *cell) {
  if (cell->n == 0) return NULL;
  json_t *object = json_object();
  put(object, "cpu_ns", known_value(cell->cpu_ns));
  put(object, "minor_faults", known_value(cell->minor_faults));
  put(object, "major_faults", known_value(cell->major_faults));
  put(object, "peak_bytes", known_value(cell->peak_bytes));
  put(object, "allocations", known_value(cell->allocations));
  put(object, "allocated_bytes", known_value(cell->allocated_bytes));
  put(object, "setup_ns", known_value(cell->setup_ns));
  put(object, "cpu_ns_per_byte", known_value(cell->cpu_ns_per_byte));
  put(object, "cycles", known_value(cell->cycles));
  put(object, "instructions", known_value(cell->instructions));
  put(object, "system_calls", known_value(cell->system_calls));
  put(object, "voluntary_switches", known_value(cell->voluntary_switches));
  put(object, "involuntary_switches", known_value(cell->involuntary_switches));
  put(object, "cache_growth_bytes", cell->cache_growth_known ? json_real(cell->cache_growth_bytes) : NULL);
  put(object, "evicted_share", known_value(cell->evicted_share));
  return object;
}

/* Of writers: had the rate come to rest in the last rounds? null where there are too few. */
static json_t *steady_value(const struct stat_cell *cell) {
  if (cell->steadiness == STAT_STEADINESS_UNKNOWN) return NULL;
  json_t *object = json_object();
  put(object, "reached", json_boolean(cell->steadiness == STAT_STEADY));
  put(object, "range", json_real(cell->steady_range));
  put(object, "slope", json_real(cell->steady_slope));
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
    put(object, key, count_value(count));
  }
  return object;
}

/* [from, below, operations], of the slots that are not empty. */
static json_t *histogram_value(const struct stat_latency *latency) {
  json_t *rows = json_array();
  for (size_t i = 0; i < latency->slot_count && !latency->is_log2; i++) {
    json_t *row = json_array();
    append(row, count_value(histogram_low(latency->slots[i].slot)));
    append(row, count_value(histogram_end(latency->slots[i].slot)));
    append(row, count_value(latency->slots[i].count));
    append(rows, row);
  }
  return rows;
}

/* A percentile is null where a sample has too few operations. */
static json_t *latency_value(const struct stat_cell *cell) {
  const struct stat_latency *latency = cell->latency;
  if (latency == NULL) return NULL;
  json_t *object = json_object(), *percentiles = json_object();
  for (unsigned i = 0; i < STAT_PERCENTILES; i++)
    put(percentiles, stat_percentiles[i].name, interval_value(&latency->percentile_ns[i]));
  put(object, "percentiles", percentiles);
  put(object, "operations_per_sample", count_value(latency->operations));
  put(object, "late_share", known_value(latency->late_share));
  put(object, "histogram", histogram_value(latency));
  put(object, "operations_by_log2", octaves_value(latency));
  return object;
}

static json_t *rank_value(const struct stat_cell *cell) {
  if (!cell->ranked) return NULL;
  json_t *object = json_object();
  put(object, "low", json_integer(cell->rank_low));
  put(object, "high", json_integer(cell->rank_high));
  return object;
}

static void put_speed(json_t *object, const struct stat_cell *cell) {
  put(object, "n", json_integer(cell->n));
  put(object, "elapsed_ns", interval_value(&cell->elapsed_ns));
  put(object, "phases_ns", phases_value(cell));
  put(object, "bytes_per_s", positive_value(cell->bytes_per_s));
  put(object, "operations_per_s", positive_value(cell->operations_per_s));
  put(object, "items_per_s", positive_value(cell->items_per_s));
  put(object, "speed_ratio", interval_value(&cell->speed_ratio));
  put(object, "rank", rank_value(cell));
  put(object, "verdict", text_value(stat_verdict_words[cell->verdict]));
}

/* Where the cell's file lies; of a striped one, the list of all that it lies in. */
static json_t *place_value(const struct plan *plan, const struct plan_group *group, const struct plan_cell *cell) {
  if (!group->demand.members) return cell->place < plan->place_count ? text_value(plan->places[cell->place]) : NULL;
  json_t *array = json_array();
  for (unsigned i = 0; i < plan->place_count; i++) append(array, text_value(plan->places[i]));
  return array;
}

static json_t *cell_value(const struct plan *plan, const struct plan_group *group, const struct stat_cell *cell) {
  static const char *const status_words[] = {"ok", "unavailable", "failed"}; /* enum plan_status */
  json_t *object = json_object();
  put(object, "id", text_value(cell->plan->id));
  if (cell->plan->style[0]) put(object, "style", text_value(cell->plan->style));
  put(object, "method", text_value(cell->plan->method));
  put(object, "family", family_value(cell->plan->method));
  put(object, "params", params_value(cell->plan));
  if (cell->plan->style[0]) put(object, "style", text_value(cell->plan->style));
  put(object, "threads", json_integer(cell->plan->threads));
  put(object, "place", place_value(plan, group, cell->plan));
  put(object, "status", json_string(status_words[cell->status]));
  put(object, "reason", text_value(cell->reason));
  put(object, "remedy", text_value(cell->plan->remedy));
  put_speed(object, cell);
  put(object, "label", text_value(cell->label));
  put(object, "limit_percent", positive_value(cell->limit_percent));
  put(object, "limit", text_value(cell->limit));
  put(object, "evidence", evidence_value(cell));
  put(object, "cost", cost_value(cell));
  if (group->demand.direction != WEIR_READ) put(object, "steady", steady_value(cell));
  put(object, "latency_ns", latency_value(cell));
  return object;
}

/* ---- groups -------------------------------------------------------------------------------------------------------- */

static json_t *demand_value(const struct plan_demand *demand) {
  json_t *object = json_object();
  put(object, "task", json_string(plan_task_words[demand->task]));
  put(object, "direction", json_string(plan_direction_words[demand->direction]));
  put(object, "access", json_string(plan_access_words[demand->access]));
  put(object, "size_bytes", count_value(demand->size_bytes));
  put(object, "request_bytes", demand->request_bytes ? count_value(demand->request_bytes) : NULL);
  if (demand->item_bytes) put(object, "item_bytes", count_value(demand->item_bytes));
  if (demand->rate_per_s > 0) put(object, "rate_per_s", json_real(demand->rate_per_s));
  if (demand->members) put(object, "members", json_integer(demand->members));
  put(object, "durability", json_string(plan_durability_words[demand->durability]));
  put(object, "target", demand->direction == WEIR_WRITE ? json_string(plan_target_words[demand->target]) : NULL);
  put(object, "cache", json_string(plan_cache_words[demand->cache]));
  put(object, "process", json_string(plan_process_words[demand->process]));
  put(object, "consumer", json_string(plan_consumer_words[demand->consumer]));
  put(object, "coverage", positive_value(demand->coverage));
  if (demand->direction == WEIR_MIXED) put(object, "write_share", positive_value(demand->write_share));
  return object;
}

/* Row i, column j: speed of cell j against cell i. Rows and columns are those of `cells`. */
static json_t *pairs_value(const struct stat_group *group) {
  json_t *rows = json_array();
  for (unsigned i = 0; i < group->cell_count; i++) {
    if (group->cells[i].plan->twin) continue;
    json_t *row = json_array();
    for (unsigned j = 0; j < group->cell_count; j++) {
      if (!group->cells[j].plan->twin) append(row, interval_value(&group->pairs[(size_t)i * group->cell_count + j]));
    }
    append(rows, row);
  }
  return rows;
}

static json_t *best_set_value(const struct stat_group *group) {
  json_t *array = json_array();
  for (unsigned i = 0; i < group->order_count; i++) {
    const struct stat_cell *cell = &group->cells[group->order[i]];
    if (cell->best) append(array, text_value(cell->plan->id));
  }
  return array;
}

static json_t *needed_value(const struct stat_group *group) {
  json_t *object = json_object();
  put(object, "best_set", json_integer(group->needed_best));
  put(object, "baseline", json_integer(group->needed_baseline));
  put(object, "ranks", json_integer(group->needed_pairs));
  return object;
}

static json_t *group_value(const struct summary *summary, const struct stat_group *group) {
  const struct plan *plan = &summary->run->plan;
  json_t *object = json_object(), *cells = json_array();
  const struct stat_cell *baseline = group->baseline >= 0 ? &group->cells[group->baseline] : NULL;
  put(object, "id", text_value(group->plan->id));
  put(object, "title", text_value(group->plan->title));
  put(object, "demand", demand_value(&group->plan->demand));
  put(object, "dropped", text_value(group->plan->dropped ? group->plan->drop_reason : NULL));
  put(object, "baseline", baseline ? text_value(baseline->plan->id) : NULL);
  put(object, "rounds", json_integer(group->rounds));
  put(object, "rounds_planned", json_integer(group->plan->dropped ? 0 : group->plan->rounds));
  put(object, "rounds_needed", needed_value(group));
  put(object, "passes", count_value(group->plan->passes));
  put(object, "best_set", best_set_value(group));
  put(object, "aa_twin", interval_value(&group->twin));
  put(object, "ranked_by", json_string(plan_rank_words[plan->rank_by]));
  put(object, "margin", known_value(group->margin));
  put(object, "margin_asked", known_value(plan->margin));
  put(object, "state_missed", json_boolean(group->state_missed));
  put(object, "smallest_callable_ratio", positive_value(group->smallest_callable_ratio));
  put(object, "noise", positive_value(group->noise));
  put(object, "machine", json_machine(&group->machine));
  put(object, "pairs", pairs_value(group));
  for (unsigned i = 0; i < group->cell_count; i++) {
    if (!group->cells[i].plan->twin) append(cells, cell_value(plan, group->plan, &group->cells[i]));
  }
  put(object, "cells", cells);
  put(object, "advice", json_advice(summary, group));
  return object;
}

/* ---- the document -------------------------------------------------------------------------------------------------- */

static json_t *fact_value(const struct run_fact *fact) {
  char *end;
  errno = 0;
  long long number = strtoll(fact->text, &end, 10);
  bool whole = fact->number && errno == 0 && end != fact->text && *end == '\0';
  return whole ? json_integer(number) : text_value(fact->text);
}

json_t *json_environment(const struct run *run) {
  json_t *object = json_object();
  for (unsigned i = 0; i < run->fact_count; i++) {
    char *name = run_text_encode(run->facts[i].name);
    if (name != NULL) put(object, name, fact_value(&run->facts[i]));
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
    put(object, "place", text_value(run->plan.file ? run->plan.file : run->plan.places[i]));
    put(object, "sequential_read_bytes_per_s", positive_value(limits->read_bytes_per_s));
    put(object, "random_reads_per_s", positive_value(limits->random_reads_per_s));
    put(object, "sequential_write_bytes_per_s", positive_value(limits->write_bytes_per_s));
    put(object, "sync_ns", positive_value(limits->sync_ns));
    put(object, "reason", text_value(limits->reason));
    append(array, object);
  }
  return array;
}

static json_t *floors_value(const struct run *run) {
  const struct run_floors *floors = &run->floors;
  json_t *object = json_object();
  put(object, "harness_ns_per_op", positive_value(floors->harness_ns_per_op));
  put(object, "harness_latency_ns_per_op", positive_value(floors->harness_latency_ns_per_op));
  put(object, "clock_read_ns", positive_value(floors->clock_read_ns));
  put(object, "clock_step_ns", positive_value(floors->clock_step_ns));
  put(object, "syscall_ns", positive_value(floors->syscall_ns));
  put(object, "page_fault_ns", positive_value(floors->page_fault_ns));
  put(object, "huge_page_fault_ns", positive_value(floors->huge_page_fault_ns));
  put(object, "memcpy_bytes_per_s", positive_value(floors->memcpy_bytes_per_s));
  put(object, "scan_bytes_per_s", positive_value(floors->scan_bytes_per_s));
  put(object, "devices", devices_value(run));
  return object;
}

static json_t *warnings_value(const struct run *run) {
  json_t *array = json_array();
  for (unsigned i = 0; i < run->warning_count; i++) {
    json_t *object = json_object();
    put(object, "id", text_value(run->warnings[i].id));
    put(object, "text", text_value(run->warnings[i].text));
    put(object, "remedy", text_value(run->warnings[i].remedy));
    append(array, object);
  }
  return array;
}

static json_t *arguments_value(const struct run *run) {
  json_t *array = json_array();
  for (unsigned i = 0; i < run->argument_count; i++) {
    json_t *argument = text_value(run->arguments[i]);
    append(array, argument ? argument : json_string(""));
  }
  return array;
}

static json_t *side_value(const struct stat_curve_side *side) {
  json_t *object = json_object();
  put(object, "best", text_value(side->best->plan->id));
  put(object, "bytes_per_s", positive_value(side->best->bytes_per_s));
  put(object, "request_bytes", count_value(side->best_request_bytes));
  put(object, "depth", json_integer(side->best_depth));
  put(object, "cpu_ns_per_gib", known_value(side->cpu_ns_per_gib));
  put(object, "half_power", text_value(side->half->plan->id));
  put(object, "half_power_request_bytes", count_value(side->half_request_bytes));
  put(object, "half_power_depth", json_integer(side->half_depth));
  put(object, "half_power_is_smallest", json_boolean(side->half_is_smallest));
  return object;
}

static json_t *curves_value(const struct summary *summary) {
  json_t *array = json_array();
  for (unsigned i = 0; i < summary->curve_count; i++) {
    const struct stat_curve *curve = &summary->curves[i];
    json_t *object = json_object();
    put(object, "first_group", text_value(curve->first->id));
    put(object, "groups", json_integer(curve->group_count));
    put(object, "buffered", side_value(&curve->buffered));
    put(object, "unbuffered", side_value(&curve->unbuffered));
    put(object, "buffered_by_unbuffered", positive_value(curve->buffered_share));
    append(array, object);
  }
  return array;
}

json_t *json_summary(const struct summary *summary) {
  const struct run *run = summary->run;
  json_t *document = json_object(), *groups = json_array();
  char seed[24];
  snprintf(seed, sizeof seed, "0x%016llx", (unsigned long long)run->plan.seed);
  put(document, "schema", json_integer(SUMMARY_SCHEMA));
  put(document, "weir", text_value(run_fact_text(run, "weir.version")));
  put(document, "seed", json_string(seed));
  put(document, "argv", arguments_value(run));
  put(document, "interrupted", json_boolean(run->interrupted));
  put(document, "rounds", json_integer(summary->rounds));
  put(document, "rounds_planned", json_integer(summary->rounds_planned));
  put(document, "rank_by", json_string(plan_rank_words[run->plan.rank_by]));
  put(document, "private_copies", json_boolean(run->plan.private_copies));
  put(document, "environment", json_environment(run));
  put(document, "floors", floors_value(run));
  put(document, "machine", json_machine(&summary->machine));
  for (unsigned i = 0; i < summary->group_count; i++) append(groups, group_value(summary, &summary->groups[i]));
  put(document, "groups", groups);
  if (summary->curve_count) put(document, "curves", curves_value(summary));
  put(document, "time_line", json_time_line(summary));
  put(document, "warnings", warnings_value(run));
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
