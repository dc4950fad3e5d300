/*
 * runread.c - a run from its file. It computes nothing: what is read is checked so far that no later stage can be led out of
 * its arrays by a damaged or hostile file. Its counterpart is runfile.c.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "measure/reader.h"

/* Bounds that no honest run comes near; they keep the tables of later stages small. */
#define GROUPS_MAX 10000u
#define CELLS_MAX (PLAN_CELLS_MAX + 16u)
#define HEADER_LINE_MAX ((size_t)64 << 20)
#define LINE_MAX_BYTES ((size_t)8 << 20)

/* ---- the plan ------------------------------------------------------------------------------------------------------ */

/* Each of them is a place. */
static int read_members(struct reader *reader, const json_t *object, struct plan_demand *demand) {
  int code = reader_unsigned(reader, object, "members", &demand->members);
  if (code < 0 || demand->members == 0) return code;
  bool fits = demand->members > 1 && demand->members <= PLAN_MEMBERS_MAX && demand->members == reader->run->plan.place_count;
  return fits ? 0 : reader_wrong(reader, "'members' is out of range");
}

static int read_demand(struct reader *reader, const json_t *group, struct plan_demand *demand) {
  struct word_field fields[DEMAND_WORDS];
  const json_t *object;
  int code = reader_object(reader, group, "demand", &object);
  runfile_demand_words(fields);
  for (size_t i = 0; i < DEMAND_WORDS && code == 0; i++) {
    unsigned index = 0;
    code = reader_word(reader, object, fields[i].name, fields[i].words, &index);
    memcpy((char *)demand + fields[i].at, &index, sizeof index);
  }
  if (code == 0) code = reader_count(reader, object, "size_bytes", &demand->size_bytes);
  if (code == 0) code = reader_count(reader, object, "request_bytes", &demand->request_bytes);
  if (code == 0) code = reader_real(reader, object, "coverage", &demand->coverage);
  if (code == 0 && json_object_get(object, "item_bytes")) code = reader_count(reader, object, "item_bytes", &demand->item_bytes);
  if (code == 0 && json_object_get(object, "write_share"))
    code = reader_real(reader, object, "write_share", &demand->write_share);
  if (code == 0 && json_object_get(object, "rate_per_s")) code = reader_real(reader, object, "rate_per_s", &demand->rate_per_s);
  if (code == 0 && json_object_get(object, "members")) code = read_members(reader, object, demand);
  return code;
}

static int read_params(struct reader *reader, const json_t *object, struct plan_cell *cell) {
  const json_t *array;
  int code = reader_array(reader, object, "params", WEIR_PARAMS_MAX, &array);
  for (size_t i = 0; code == 0 && i < json_array_size(array); i++) {
    const json_t *item = json_array_get(array, i);
    struct plan_param *param = &cell->params[i];
    code = reader_fixed(reader, item, "name", param->name, sizeof param->name);
    if (code == 0) code = reader_count(reader, item, "value", &param->value);
    if (code == 0) code = reader_fixed(reader, item, "text", param->text, sizeof param->text);
    if (code == 0) code = reader_bool(reader, item, "fixed", &param->fixed);
    cell->param_count = (unsigned)i + 1;
  }
  return code;
}

static const struct weir_method *find_method(const struct reader *reader, const char *name) {
  for (size_t i = 0; reader->methods != NULL && reader->methods[i] != NULL; i++) {
    if (strcmp(reader->methods[i]->name, name) == 0) return reader->methods[i];
  }
  return NULL;
}

static int read_cell(struct reader *reader, const json_t *object, struct plan_cell *cell) {
  int code = reader_text(reader, object, "id", &cell->id);
  if (code == 0) code = reader_fixed(reader, object, "method", cell->method, sizeof cell->method);
  if (code == 0) code = reader_unsigned(reader, object, "capabilities", &cell->capabilities);
  if (code == 0) code = read_params(reader, object, cell);
  if (code == 0) code = reader_unsigned(reader, object, "threads", &cell->threads);
  if (code == 0) code = reader_unsigned(reader, object, "place", &cell->place);
  if (code == 0) code = reader_bool(reader, object, "twin", &cell->twin);
  if (code == 0 && json_object_get(object, "style"))
    code = reader_fixed(reader, object, "style", cell->style, sizeof cell->style);
  if (code < 0) return code;
  if (cell->place != 0 && cell->place >= reader->run->plan.place_count) return reader_wrong(reader, "'place' is out of range");
  cell->impl = find_method(reader, cell->method);
  return 0;
}

static int find_cell(const struct plan_group *group, const json_t *id) {
  int found = -1;
  char *text = NULL;
  if (!json_is_string(id) || reader_take_text(id, &text) < 0) return -1;
  for (unsigned i = 0; i < group->cell_count && found < 0; i++) {
    if (strcmp(group->cells[i].id, text) == 0) found = (int)i;
  }
  free(text);
  return found;
}

/* A cell that fails to read is counted all the same, so that plan_release finds what it owns. */
static int append_cell(struct reader *reader, const json_t *object, struct plan_group *group) {
  if (group->cell_count >= CELLS_MAX) return reader_wrong(reader, "more than %u cells in a group", CELLS_MAX);
  if (find_cell(group, json_object_get(object, "id")) >= 0) return reader_wrong(reader, "a cell's id stands twice in its group");
  struct plan_cell *cells = realloc(group->cells, (group->cell_count + (size_t)1) * sizeof *cells);
  if (cells == NULL) return -ENOMEM;
  group->cells = cells;
  struct plan_cell *cell = &cells[group->cell_count++];
  memset(cell, 0, sizeof *cell);
  return read_cell(reader, object, cell);
}

static struct plan_group *find_group(const struct plan *plan, const json_t *id) {
  struct plan_group *found = NULL;
  char *text = NULL;
  if (!json_is_string(id) || reader_take_text(id, &text) < 0) return NULL;
  for (unsigned i = 0; i < plan->group_count && found == NULL; i++) {
    if (plan->groups[i].id != NULL && strcmp(plan->groups[i].id, text) == 0) found = &plan->groups[i];
  }
  free(text);
  return found;
}

static int read_group(struct reader *reader, const json_t *object, struct plan_group *group) {
  const json_t *cells;
  if (find_group(&reader->run->plan, json_object_get(object, "id")) != NULL) {
    return reader_wrong(reader, "a group's id stands twice");
  }
  int code = reader_text(reader, object, "id", &group->id);
  if (code == 0) code = reader_text(reader, object, "title", &group->title);
  if (code == 0) code = read_demand(reader, object, &group->demand);
  if (code == 0) code = reader_unsigned(reader, object, "priority", &group->priority);
  if (code == 0) code = reader_bool(reader, object, "size_fixed", &group->size_fixed);
  if (code == 0) code = reader_count(reader, object, "smallest_bytes", &group->smallest_bytes);
  if (code == 0 && json_object_get(object, "loops")) code = reader_count(reader, object, "loops", &group->loops);
  if (code == 0) code = reader_array(reader, object, "cells", CELLS_MAX, &cells);
  for (size_t i = 0; code == 0 && i < json_array_size(cells); i++) {
    code = append_cell(reader, json_array_get(cells, i), group);
  }
  return code;
}

static int read_groups(struct reader *reader, const json_t *object, struct plan *plan) {
  const json_t *groups;
  int code = reader_array(reader, object, "groups", GROUPS_MAX, &groups);
  if (code < 0) return code;
  size_t count = json_array_size(groups);
  plan->groups = calloc(count ? count : 1, sizeof *plan->groups);
  if (plan->groups == NULL) return -ENOMEM;
  for (size_t i = 0; code == 0 && i < count; i++) {
    plan->group_count = (unsigned)i + 1;
    code = read_group(reader, json_array_get(groups, i), &plan->groups[i]);
  }
  return code;
}

static int read_plan(struct reader *reader, const json_t *header) {
  struct plan *plan = &reader->run->plan;
  const json_t *object, *file;
  unsigned flush = 0, rank = 0;
  int code = reader_object(reader, header, "plan", &object);
  if (code == 0) code = reader_unsigned(reader, object, "rounds", &plan->rounds);
  if (code == 0) code = reader_count(reader, object, "time_ns", &plan->time_ns);
  if (code == 0) code = reader_bool(reader, object, "fill_time", &plan->fill_time);
  if (code == 0) code = reader_real(reader, object, "margin", &plan->margin);
  if (code == 0) code = reader_word(reader, object, "flush", plan_flush_words, &flush);
  if (code == 0) code = reader_word(reader, object, "rank_by", plan_rank_words, &rank);
  if (code == 0) code = reader_bool(reader, object, "latency", &plan->latency);
  if (code == 0 && json_object_get(object, "private_copies"))
    code = reader_bool(reader, object, "private_copies", &plan->private_copies);
  if (code == 0) code = reader_text(reader, object, "suite", &plan->suite);
  file = json_object_get(object, "file");
  if (code == 0 && !json_is_null(file)) code = reader_text(reader, object, "file", &plan->file);
  if (code == 0) code = reader_strings(reader, object, "places", &plan->places, &plan->place_count);
  plan->flush = (enum plan_flush)flush;
  plan->rank_by = (enum plan_rank)rank;
  return code < 0 ? code : read_groups(reader, object, plan);
}

/* ---- lines --------------------------------------------------------------------------------------------------------- */

static int read_fact(struct reader *reader, const char *key, const json_t *value) {
  char *name = strdup(key), *text = NULL;
  int code = name ? 0 : -ENOMEM;
  if (code == 0) run_text_decode(name);
  if (code == 0 && json_is_integer(value)) code = run_add_number(reader->run, name, json_integer_value(value));
  if (code == 0 && json_is_string(value)) code = reader_take_text(value, &text);
  if (code == 0 && text != NULL) code = run_add_fact(reader->run, name, text);
  free(text);
  free(name);
  return code;
}

#define FACTS_MAX 10000u

static int read_environment(struct reader *reader, const json_t *header) {
  json_t *object = json_object_get(header, "environment");
  if (!json_is_object(object)) return reader_wrong_key(reader, "environment", "an object");
  if (json_object_size(object) > FACTS_MAX) return reader_wrong(reader, "'environment' is too large");
  int code = 0;
  for (void *at = json_object_iter(object); code == 0 && at != NULL; at = json_object_iter_next(object, at)) {
    code = read_fact(reader, json_object_iter_key(at), json_object_iter_value(at));
  }
  return code;
}

static int read_header(struct reader *reader, const json_t *line) {
  struct run *run = reader->run;
  const json_t *schema = json_object_get(line, "schema");
  if (reader->header) return reader_wrong(reader, "a second header");
  reader->header = true;
  if (!json_is_integer(schema)) return reader_wrong_key(reader, "schema", "a number");
  if (json_integer_value(schema) != RUN_SCHEMA) {
    return reader_wrong(reader, "schema %lld, but this weir reads schema %d", (long long)json_integer_value(schema), RUN_SCHEMA);
  }
  int code = reader_hex(reader, line, "seed", &run->plan.seed);
  if (code == 0) code = reader_strings(reader, line, "argv", &run->arguments, &run->argument_count);
  if (code == 0) code = read_environment(reader, line);
  return code < 0 ? code : read_plan(reader, line);
}

static int read_floors(struct reader *reader, const json_t *line) {
  if (reader->floors) return reader_wrong(reader, "floors stand twice");
  reader->floors = true;
  return reader_reals(reader, line, runfile_floor_reals, COUNT_OF(runfile_floor_reals), &reader->run->floors);
}

static int read_limits(struct reader *reader, const json_t *line) {
  struct run *run = reader->run;
  unsigned place = 0;
  int code = reader_unsigned(reader, line, "place", &place);
  if (code < 0) return code;
  if (place >= run->plan.place_count) return reader_wrong(reader, "'place' is out of range");
  if (run->limits == NULL) run->limits = calloc(run->plan.place_count, sizeof *run->limits);
  if (run->limits == NULL) return -ENOMEM;
  code = reader_reals(reader, line, runfile_limit_reals, COUNT_OF(runfile_limit_reals), &run->limits[place]);
  if (code < 0 || !json_is_string(json_object_get(line, "reason"))) return code;
  return reader_fixed(reader, line, "reason", run->limits[place].reason, sizeof run->limits[place].reason);
}

static int read_flags(struct reader *reader, const json_t *line, uint32_t *flags) {
  const json_t *array;
  int code = reader_array(reader, line, "flags", 64, &array);
  for (size_t i = 0; code == 0 && i < json_array_size(array); i++) {
    const char *word = json_string_value(json_array_get(array, i));
    int bit = word ? plan_word_index(run_flag_words, word) : -1;
    if (word == NULL) code = reader_wrong_key(reader, "flags", "a list of words");
    if (bit >= 0) *flags |= UINT32_C(1) << bit; /* later words are skipped */
  }
  return code;
}

static int by_slot(const void *left, const void *right) {
  const struct histogram_entry *a = left, *b = right;
  return a->slot < b->slot ? -1 : a->slot > b->slot;
}

/* The slot that a key stands for, or -1: see put_latency in runfile.c. */
static int latency_slot(const char *key, bool is_log2) {
  char *end;
  errno = 0;
  const unsigned long long number = strtoull(key, &end, 10);
  if (errno != 0 || *end != '\0' || key[0] < '0' || key[0] > '9') return -1;
  if (is_log2) return number < 64 ? (int)number : -1;
  return histogram_slot_at(number);
}

static int read_latency_slots(struct reader *reader, json_t *sparse, struct sample *sample) {
  struct histogram_entry *entries = calloc(json_object_size(sparse) + 1, sizeof *entries);
  size_t count = 0;
  int code = entries ? 0 : -ENOMEM;
  for (void *at = json_object_iter(sparse); code == 0 && at != NULL; at = json_object_iter_next(sparse, at)) {
    const int slot = latency_slot(json_object_iter_key(at), sample->latency_is_log2);
    struct histogram_entry *entry = &entries[count++];
    if (slot < 0 || !reader_count_of(json_object_iter_value(at), &entry->count))
      code = reader_wrong_key(reader, sample->latency_is_log2 ? "latency" : "latency_ns", "a list of counts");
    entry->slot = (uint32_t)slot;
  }
  if (code == 0) qsort(entries, count, sizeof *entries, by_slot);
  if (code == 0) code = run_keep_latency(reader->run, sample, entries, count);
  free(entries);
  return code;
}

/* Older weirs wrote octaves only; a file that has both tells it better in the newer way. */
static int read_latency(struct reader *reader, const json_t *line, struct sample *sample) {
  json_t *sparse = json_object_get(line, "latency_ns");
  if (sparse == NULL) {
    sparse = json_object_get(line, "latency");
    sample->latency_is_log2 = sparse != NULL && !json_is_null(sparse);
  }
  if (sparse == NULL || json_is_null(sparse)) return 0;
  if (!json_is_object(sparse)) return reader_wrong_key(reader, sample->latency_is_log2 ? "latency" : "latency_ns", "an object");
  return read_latency_slots(reader, sparse, sample);
}

/* Whose sample it is, and when it was taken. */
static int read_sample_place(struct reader *reader, const json_t *line, struct sample *sample) {
  const struct plan *plan = &reader->run->plan;
  const struct plan_group *group = find_group(plan, json_object_get(line, "group"));
  if (group == NULL) return reader_wrong_key(reader, "group", "the id of a group in the header");
  int cell = find_cell(group, json_object_get(line, "cell"));
  if (cell < 0) return reader_wrong_key(reader, "cell", "the id of a cell in its group");
  sample->group = (uint32_t)(group - plan->groups);
  sample->cell = (uint32_t)cell;
  sample->predecessor = find_cell(group, json_object_get(line, "predecessor"));
  int code = reader_integer(reader, line, "round", &sample->round);
  return code < 0 ? code : reader_integer(reader, line, "position", &sample->position);
}

static int read_sample_evidence(struct reader *reader, const json_t *line, struct sample *sample) {
  int code = reader_share(reader, line, "resident_before", &sample->resident_before_ppm);
  if (code == 0) code = reader_share(reader, line, "resident_after", &sample->resident_after_ppm);
  if (code == 0) code = reader_maybes(reader, line, runfile_sample_maybes, COUNT_OF(runfile_sample_maybes), sample);
  return code < 0 ? code : reader_maybes(reader, line, runfile_sample_rares, COUNT_OF(runfile_sample_rares), sample);
}

static int read_sample(struct reader *reader, const json_t *line) {
  struct sample sample = {0};
  const json_t *phases, *reason = json_object_get(line, "reason");
  unsigned status = 0;
  int code = read_sample_place(reader, line, &sample);
  if (code == 0) code = reader_counts(reader, line, runfile_sample_work, COUNT_OF(runfile_sample_work), &sample);
  if (code == 0 && json_object_get(line, "items")) code = reader_count(reader, line, "items", &sample.items);
  if (code == 0 && json_object_get(line, "late")) code = reader_count(reader, line, "late", &sample.late);
  if (code == 0) code = reader_object(reader, line, "phases", &phases);
  if (code == 0) code = reader_counts(reader, phases, runfile_sample_phases, COUNT_OF(runfile_sample_phases), &sample);
  if (code == 0) code = reader_counts(reader, line, runfile_sample_counts, COUNT_OF(runfile_sample_counts), &sample);
  if (code == 0) code = read_sample_evidence(reader, line, &sample);
  if (code == 0) code = reader_hex(reader, line, "checksum", &sample.checksum);
  if (code == 0) code = reader_word(reader, line, "status", runfile_sample_status_words, &status);
  if (code == 0 && json_is_string(reason)) code = reader_fixed(reader, line, "reason", sample.reason, sizeof sample.reason);
  if (code == 0) code = read_flags(reader, line, &sample.flags);
  if (code == 0) code = read_latency(reader, line, &sample);
  sample.status = (enum run_status)status;
  return code < 0 ? code : run_add_sample(reader->run, &sample);
}

static int read_round(struct reader *reader, const json_t *line) {
  struct run_round round = {0};
  const struct plan_group *group = find_group(&reader->run->plan, json_object_get(line, "group"));
  if (group == NULL) return reader_wrong_key(reader, "group", "the id of a group in the header");
  round.group = (uint32_t)(group - reader->run->plan.groups);
  int code = reader_integer(reader, line, "round", &round.round);
  if (code == 0) code = reader_counts(reader, line, runfile_round_counts, COUNT_OF(runfile_round_counts), &round);
  if (code == 0) code = reader_maybes(reader, line, runfile_round_maybes, COUNT_OF(runfile_round_maybes), &round);
  return code < 0 ? code : run_add_round(reader->run, &round);
}

static int read_found_cell(struct reader *reader, const json_t *object, struct plan_group *group) {
  unsigned status = 0;
  int index = find_cell(group, json_object_get(object, "id"));
  if (index < 0) {
    bool twin = false;
    int code = reader_bool(reader, object, "twin", &twin);
    if (code == 0 && !twin) code = reader_wrong_key(reader, "id", "the id of a cell in the header");
    if (code == 0) code = append_cell(reader, object, group);
    if (code < 0) return code;
    index = (int)group->cell_count - 1;
  }
  struct plan_cell *cell = &group->cells[index];
  int code = reader_word(reader, object, "status", runfile_status_words, &status);
  if (code == 0) code = reader_fixed(reader, object, "reason", cell->reason, sizeof cell->reason);
  if (code == 0) code = reader_fixed(reader, object, "remedy", cell->remedy, sizeof cell->remedy);
  cell->status = (enum plan_status)status;
  return code;
}

static int read_found(struct reader *reader, const json_t *line) {
  struct plan_group *group = find_group(&reader->run->plan, json_object_get(line, "group"));
  const json_t *cells, *baseline = json_object_get(line, "baseline");
  char *title = NULL;
  if (group == NULL) return reader_wrong_key(reader, "group", "the id of a group in the header");
  int code = reader_text(reader, line, "title", &title);
  if (code < 0) return code;
  free(group->title);
  group->title = title;
  code = reader_count(reader, line, "size_bytes", &group->demand.size_bytes);
  if (code == 0) code = reader_count(reader, line, "passes", &group->passes);
  if (code == 0 && json_object_get(line, "pass_bytes")) code = reader_count(reader, line, "pass_bytes", &group->pass_bytes);
  if (code == 0) code = reader_unsigned(reader, line, "rounds", &group->rounds);
  if (code == 0) code = reader_count(reader, line, "round_cost_ns", &group->round_cost_ns);
  if (code == 0) code = reader_bool(reader, line, "dropped", &group->dropped);
  if (code == 0) code = reader_fixed(reader, line, "drop_reason", group->drop_reason, sizeof group->drop_reason);
  if (code == 0) code = reader_array(reader, line, "cells", CELLS_MAX, &cells);
  for (size_t i = 0; code == 0 && i < json_array_size(cells); i++) {
    code = read_found_cell(reader, json_array_get(cells, i), group);
  }
  if (code < 0) return code;
  int index = find_cell(group, baseline);
  if (index < 0 && !json_is_null(baseline)) return reader_wrong_key(reader, "baseline", "the id of a cell in its group");
  group->baseline = index < 0 ? 0 : (unsigned)index;
  return group->rounds > READER_ROUNDS_MAX ? reader_wrong(reader, "'rounds' is out of range") : 0;
}

static int read_trailer(struct reader *reader, const json_t *line) {
  struct run *run = reader->run;
  const json_t *warnings;
  reader->trailer = true;
  int code = reader_bool(reader, line, "interrupted", &run->interrupted);
  if (code == 0) code = reader_array(reader, line, "warnings", FACTS_MAX, &warnings);
  for (size_t i = 0; code == 0 && i < json_array_size(warnings) && i < COUNT_OF(run->warnings); i++) {
    const json_t *item = json_array_get(warnings, i);
    struct run_warning *warning = &run->warnings[i];
    code = reader_fixed(reader, item, "id", warning->id, sizeof warning->id);
    if (code == 0) code = reader_fixed(reader, item, "text", warning->text, sizeof warning->text);
    if (code == 0) code = reader_fixed(reader, item, "remedy", warning->remedy, sizeof warning->remedy);
    if (code == 0) run->warning_count = (unsigned)i + 1;
  }
  return code;
}

static int read_object(struct reader *reader, const json_t *line) {
  static const struct {
    const char *type;
    int (*read)(struct reader *, const json_t *);
  } kinds[] = {
      {"header", read_header}, {"floors", read_floors},   {"sample", read_sample},
      {"found", read_found},   {"round", read_round},     {"trailer", read_trailer},
      {"limits", read_limits},
  };
  const char *type = json_string_value(json_object_get(line, "type"));
  if (type == NULL) return reader_wrong_key(reader, "type", "a word");
  if (!reader->header && strcmp(type, "header") != 0)
    return reader_wrong(reader, "not a run file: it does not start with a header");
  for (size_t i = 0; i < COUNT_OF(kinds); i++) {
    if (strcmp(type, kinds[i].type) != 0) continue;
    return reader->trailer ? reader_wrong(reader, "a %s after the trailer", type) : kinds[i].read(reader, line);
  }
  return 0;
}

/* ---- the file ------------------------------------------------------------------------------------------------------ */

struct line {
  char *text;
  size_t length, room;
  bool ended;
};

static int line_put(struct line *line, char byte) {
  if (line->length == line->room) {
    size_t room = line->room ? line->room * 2 : 4096;
    char *text = realloc(line->text, room);
    if (text == NULL) return -ENOMEM;
    line->text = text;
    line->room = room;
  }
  line->text[line->length++] = byte;
  return 0;
}

/* 1: a line, 0: end of file. */
static int next_line(struct reader *reader, FILE *in, struct line *line) {
  size_t most = reader->header ? LINE_MAX_BYTES : HEADER_LINE_MAX;
  int byte, code;
  line->length = 0;
  line->ended = false;
  reader->line++;
  while ((byte = getc_unlocked(in)) != EOF) {
    line->ended = byte == '\n';
    if (line->ended) return 1;
    if (line->length == most) return reader_wrong(reader, "longer than %zu MiB", most >> 20);
    code = line_put(line, (char)byte);
    if (code < 0) return code;
  }
  if (ferror(in)) return reader_wrong(reader, "the file cannot be read");
  return line->length > 0;
}

#define CUT_REMEDY "the run was killed; all whole lines are used"

/* Only the last line can lack its end; a program that was killed left it so. */
static int read_line(struct reader *reader, const struct line *line) {
  json_error_t error;
  if (line->length == 0) return 0;
  json_t *object = json_loadb(line->text, line->length, JSON_REJECT_DUPLICATES, &error);
  if (!json_is_object(object)) {
    json_decref(object);
    if (!reader->header) return reader_wrong(reader, "not a run file: it does not start with a header");
    if (line->ended) return reader_wrong(reader, "not a JSON object");
    run_warn(reader->run, "W19", CUT_REMEDY, "the run file ends in the middle of line %zu", reader->line);
    return 0;
  }
  int code = read_object(reader, object);
  json_decref(object);
  return code;
}

int run_read(FILE *in, const struct weir_method *const *methods, struct run *out, char *problem, size_t problem_size) {
  struct reader reader = {.run = out, .methods = methods, .problem = problem, .problem_size = problem_size};
  struct line line = {0};
  int code;
  memset(out, 0, sizeof *out);
  if (problem_size > 0) problem[0] = '\0';
  while ((code = next_line(&reader, in, &line)) > 0) {
    code = read_line(&reader, &line);
    if (code < 0) break;
  }
  free(line.text);
  if (code == 0 && !reader.header) code = reader_wrong(&reader, "not a run file: it is empty");
  if (code == 0 && !reader.trailer) {
    out->interrupted = true;
    if (out->warning_count == 0) run_warn(out, "W19", CUT_REMEDY, "the run file has no last line");
  }
  if (code < 0) run_release(out);
  return code;
}
