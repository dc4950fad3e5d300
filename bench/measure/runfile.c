/*
 * runfile.c - a run as JSON Lines. It computes nothing: what is written is what is in struct run. Reading it back is
 * runread.c; runfile_fields.h tells of the lines.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "measure/runfile_fields.h"

/* Takes `value` over. What cannot be said (not a number, memory short) is null; the reader refuses it where it matters. */
static void put(json_t *object, const char *key, json_t *value) {
  (void)json_object_set_new_nocheck(object, key, value ? value : json_null());
}

static json_t *text_value(const char *text) {
  if (text == NULL) return json_null();
  char *encoded = run_text_encode(text);
  json_t *value = encoded ? json_string(encoded) : NULL;
  free(encoded);
  return value;
}

static json_t *count_value(uint64_t count) {
  char digits[24];
  if (count <= INT64_MAX) return json_integer((json_int_t)count);
  snprintf(digits, sizeof digits, "%" PRIu64, count);
  return json_string(digits);
}

static json_t *hex_value(uint64_t number) {
  char digits[24];
  snprintf(digits, sizeof digits, "0x%016" PRIx64, number);
  return json_string(digits);
}

static json_t *maybe_value(int64_t count) { return count < 0 ? json_null() : json_integer(count); }
static json_t *share_value(int32_t ppm) { return ppm < 0 ? json_null() : json_real(ppm / 1e6); }

static void put_maybes(json_t *object, const struct count_field *fields, size_t count, const void *base) {
  for (size_t i = 0; i < count; i++) {
    int64_t value;
    memcpy(&value, (const char *)base + fields[i].at, sizeof value);
    put(object, fields[i].name, maybe_value(value));
  }
}

static void put_counts(json_t *object, const struct count_field *fields, size_t count, const void *base) {
  for (size_t i = 0; i < count; i++) {
    uint64_t value;
    memcpy(&value, (const char *)base + fields[i].at, sizeof value);
    put(object, fields[i].name, count_value(value));
  }
}

static json_t *line_start(const char *type) {
  json_t *line = json_object();
  put(line, "type", json_string(type));
  return line;
}

static void line_end(json_t *line, FILE *out) {
  if (line != NULL && json_dumpf(line, out, JSON_COMPACT | JSON_REAL_PRECISION(17)) == 0) putc('\n', out);
  json_decref(line);
}

static json_t *strings_value(char *const *strings, unsigned count) {
  json_t *array = json_array();
  for (unsigned i = 0; i < count; i++) (void)json_array_append_new(array, text_value(strings[i]));
  return array;
}

static json_t *demand_value(const struct plan_demand *demand) {
  struct word_field fields[DEMAND_WORDS];
  json_t *object = json_object();
  runfile_demand_words(fields);
  for (size_t i = 0; i < DEMAND_WORDS; i++) {
    unsigned index;
    memcpy(&index, (const char *)demand + fields[i].at, sizeof index);
    put(object, fields[i].name, json_string(fields[i].words[index]));
  }
  put(object, "size_bytes", count_value(demand->size_bytes));
  put(object, "request_bytes", count_value(demand->request_bytes));
  if (demand->item_bytes) put(object, "item_bytes", count_value(demand->item_bytes));
  if (demand->members) put(object, "members", json_integer(demand->members));
  put(object, "coverage", json_real(demand->coverage));
  if (demand->write_share > 0) put(object, "write_share", json_real(demand->write_share));
  if (demand->rate_per_s > 0) put(object, "rate_per_s", json_real(demand->rate_per_s));
  return object;
}

static json_t *param_value(const struct plan_param *param) {
  json_t *object = json_object();
  put(object, "name", text_value(param->name));
  put(object, "value", count_value(param->value));
  put(object, "text", text_value(param->text));
  put(object, "fixed", json_boolean(param->fixed));
  return object;
}

static void put_cell(json_t *object, const struct plan_cell *cell) {
  json_t *params = json_array();
  for (unsigned i = 0; i < cell->param_count; i++) (void)json_array_append_new(params, param_value(&cell->params[i]));
  put(object, "method", text_value(cell->method));
  put(object, "capabilities", json_integer(cell->capabilities));
  put(object, "params", params);
  put(object, "threads", json_integer(cell->threads));
  put(object, "place", json_integer(cell->place));
  put(object, "twin", json_boolean(cell->twin));
  if (cell->style[0]) put(object, "style", text_value(cell->style));
}

static json_t *group_value(const struct plan_group *group) {
  json_t *object = json_object(), *cells = json_array();
  put(object, "id", text_value(group->id));
  put(object, "title", text_value(group->title));
  put(object, "demand", demand_value(&group->demand));
  put(object, "priority", json_integer(group->priority));
  put(object, "size_fixed", json_boolean(group->size_fixed));
  put(object, "smallest_bytes", count_value(group->smallest_bytes));
  if (group->loops) put(object, "loops", count_value(group->loops));
  for (unsigned i = 0; i < group->cell_count; i++) {
    json_t *cell = json_object();
    put(cell, "id", text_value(group->cells[i].id));
    put_cell(cell, &group->cells[i]);
    (void)json_array_append_new(cells, cell);
  }
  put(object, "cells", cells);
  return object;
}

static json_t *plan_value(const struct plan *plan) {
  json_t *object = json_object(), *groups = json_array();
  put(object, "rounds", json_integer(plan->rounds));
  put(object, "time_ns", count_value(plan->time_ns));
  put(object, "fill_time", json_boolean(plan->fill_time));
  put(object, "margin", json_real(plan->margin));
  put(object, "flush", json_string(plan_flush_words[plan->flush]));
  put(object, "rank_by", json_string(plan_rank_words[plan->rank_by]));
  put(object, "latency", json_boolean(plan->latency));
  if (plan->private_copies) put(object, "private_copies", json_boolean(true));
  put(object, "suite", text_value(plan->suite));
  put(object, "file", text_value(plan->file));
  put(object, "places", strings_value(plan->places, plan->place_count));
  for (unsigned i = 0; i < plan->group_count; i++) (void)json_array_append_new(groups, group_value(&plan->groups[i]));
  put(object, "groups", groups);
  return object;
}

static json_t *fact_value(const struct run_fact *fact) {
  if (fact->number) {
    char *end;
    errno = 0;
    long long number = strtoll(fact->text, &end, 10);
    if (errno == 0 && end != fact->text && *end == '\0') return json_integer(number);
  }
  return text_value(fact->text);
}

void run_write_header(const struct run *run, FILE *out) {
  json_t *line = line_start("header"), *environment = json_object();
  put(line, "schema", json_integer(RUN_SCHEMA));
  put(line, "weir", text_value(run_fact_text(run, "weir.version")));
  put(line, "seed", hex_value(run->plan.seed));
  put(line, "argv", strings_value(run->arguments, run->argument_count));
  put(line, "plan", plan_value(&run->plan));
  for (unsigned i = 0; i < run->fact_count; i++) {
    char *name = run_text_encode(run->facts[i].name);
    if (name != NULL) put(environment, name, fact_value(&run->facts[i]));
    free(name);
  }
  put(line, "environment", environment);
  line_end(line, out);
}

static void put_reals(json_t *object, const struct count_field *fields, size_t count, const void *base) {
  for (size_t i = 0; i < count; i++) {
    double value;
    memcpy(&value, (const char *)base + fields[i].at, sizeof value);
    put(object, fields[i].name, json_real(value));
  }
}

void run_write_floors(const struct run *run, FILE *out) {
  json_t *line = line_start("floors");
  put_reals(line, runfile_floor_reals, COUNT_OF(runfile_floor_reals), &run->floors);
  line_end(line, out);
}

void run_write_limits(const struct run *run, FILE *out) {
  for (unsigned i = 0; run->limits && i < run->plan.place_count; i++) {
    json_t *line = line_start("limits");
    put(line, "place", json_integer(i));
    put_reals(line, runfile_limit_reals, COUNT_OF(runfile_limit_reals), &run->limits[i]);
    put(line, "reason", text_value(run->limits[i].reason));
    line_end(line, out);
  }
}

static json_t *flags_value(uint32_t flags) {
  json_t *array = json_array();
  for (unsigned bit = 0; run_flag_words[bit] != NULL; bit++) {
    if (flags >> bit & 1u) (void)json_array_append_new(array, json_string(run_flag_words[bit]));
  }
  return array;
}

/* By the smallest number of nanoseconds in each slot; as files of older weirs had it, by floor(log2(ns)). */
static void put_latency(json_t *line, const struct run *run, const struct sample *sample) {
  const struct histogram_entry *entries = run_latency(run, sample);
  if (entries == NULL) return;
  json_t *sparse = json_object();
  for (size_t i = 0; i < sample->latency_count; i++) {
    char key[24];
    snprintf(key, sizeof key, "%" PRIu64, sample->latency_is_log2 ? entries[i].slot : histogram_low(entries[i].slot));
    put(sparse, key, count_value(entries[i].count));
  }
  put(line, sample->latency_is_log2 ? "latency" : "latency_ns", sparse);
}

static json_t *cell_name_value(const struct plan_group *group, int64_t cell) {
  return cell >= 0 && cell < group->cell_count ? text_value(group->cells[cell].id) : json_null();
}

void run_write_sample(const struct run *run, const struct sample *sample, FILE *out) {
  assert(sample->group < run->plan.group_count);
  const struct plan_group *group = &run->plan.groups[sample->group];
  json_t *line = line_start("sample"), *phases = json_object();
  assert(sample->cell < group->cell_count);
  put(line, "schema", json_integer(RUN_SCHEMA));
  put(line, "cell", cell_name_value(group, sample->cell));
  put(line, "group", text_value(group->id));
  put(line, "round", json_integer(sample->round));
  put(line, "position", json_integer(sample->position));
  put(line, "predecessor", cell_name_value(group, sample->predecessor));
  put_counts(line, runfile_sample_work, COUNT_OF(runfile_sample_work), sample);
  if (group->demand.rate_per_s > 0) put(line, "late", count_value(sample->late));
  if (sample->items) put(line, "items", count_value(sample->items));
  put_counts(phases, runfile_sample_phases, COUNT_OF(runfile_sample_phases), sample);
  put(line, "phases", phases);
  put_counts(line, runfile_sample_counts, COUNT_OF(runfile_sample_counts), sample);
  put(line, "resident_before", share_value(sample->resident_before_ppm));
  put(line, "resident_after", share_value(sample->resident_after_ppm));
  put_maybes(line, runfile_sample_maybes, COUNT_OF(runfile_sample_maybes), sample);
  for (size_t i = 0; i < COUNT_OF(runfile_sample_rares); i++) {
    int64_t value;
    memcpy(&value, (const char *)sample + runfile_sample_rares[i].at, sizeof value);
    if (value >= 0) put(line, runfile_sample_rares[i].name, maybe_value(value));
  }
  put(line, "checksum", hex_value(sample->checksum));
  put(line, "status", json_string(runfile_sample_status_words[sample->status]));
  put(line, "reason", sample->reason[0] ? text_value(sample->reason) : json_null());
  put(line, "flags", flags_value(sample->flags));
  put_latency(line, run, sample);
  line_end(line, out);
}

void run_write_round(const struct run *run, const struct run_round *round, FILE *out) {
  assert(round->group < run->plan.group_count);
  json_t *line = line_start("round");
  put(line, "group", text_value(run->plan.groups[round->group].id));
  put(line, "round", json_integer(round->round));
  put_counts(line, runfile_round_counts, COUNT_OF(runfile_round_counts), round);
  put_maybes(line, runfile_round_maybes, COUNT_OF(runfile_round_maybes), round);
  line_end(line, out);
}

/* What became of a cell; a twin is not in the header, so it is told in full. */
static json_t *found_cell_value(const struct plan_cell *cell) {
  json_t *object = json_object();
  put(object, "id", text_value(cell->id));
  put(object, "status", json_string(runfile_status_words[cell->status]));
  put(object, "reason", text_value(cell->reason));
  put(object, "remedy", text_value(cell->remedy));
  if (cell->twin) put_cell(object, cell);
  return object;
}

static void write_found_group(const struct plan_group *group, FILE *out) {
  json_t *line = line_start("found"), *cells = json_array();
  put(line, "group", text_value(group->id));
  put(line, "title", text_value(group->title));
  put(line, "size_bytes", count_value(group->demand.size_bytes));
  put(line, "passes", count_value(group->passes));
  put(line, "pass_bytes", count_value(group->pass_bytes));
  put(line, "rounds", json_integer(group->rounds));
  put(line, "round_cost_ns", count_value(group->round_cost_ns));
  put(line, "baseline", cell_name_value(group, group->baseline));
  put(line, "dropped", json_boolean(group->dropped));
  put(line, "drop_reason", text_value(group->drop_reason));
  for (unsigned i = 0; i < group->cell_count; i++) {
    (void)json_array_append_new(cells, found_cell_value(&group->cells[i]));
  }
  put(line, "cells", cells);
  line_end(line, out);
}

void run_write_found(const struct run *run, FILE *out) {
  for (unsigned i = 0; i < run->plan.group_count; i++) write_found_group(&run->plan.groups[i], out);
}

void run_write_trailer(const struct run *run, FILE *out) {
  json_t *line = line_start("trailer"), *warnings = json_array();
  put(line, "interrupted", json_boolean(run->interrupted));
  for (unsigned i = 0; i < run->warning_count; i++) {
    json_t *warning = json_object();
    put(warning, "id", text_value(run->warnings[i].id));
    put(warning, "text", text_value(run->warnings[i].text));
    put(warning, "remedy", text_value(run->warnings[i].remedy));
    (void)json_array_append_new(warnings, warning);
  }
  put(line, "warnings", warnings);
  line_end(line, out);
}
