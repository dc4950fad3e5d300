/*
 * html_data.c - what the scripts of the page read: the summary as the JSON report has it, pairs and samples as plain arrays.
 * "<" is spelled \u003c, so that nothing in it can end the element in which it stands.
 */
#include <jansson.h>
#include <stdlib.h>

#include "report/html_parts.h"
#include "report/json_parts.h"

/* More than the eye sees; the files for machines have all digits. */
#define DIGITS 6

static void put(json_t *object, const char *key, json_t *value) {
  (void)json_object_set_new_nocheck(object, key, value ? value : json_null());
}
static void append(json_t *array, json_t *value) { (void)json_array_append_new(array, value ? value : json_null()); }

static json_t *name_value(const char *name) {
  struct text text = {0};
  text_name(&text, name);
  json_t *value = json_string(text_string(&text));
  text_release(&text);
  return value;
}

/* ---- pairs --------------------------------------------------------------------------------------------------------- */

static json_t *pair_value(const struct stat_interval *pair) {
  if (!(pair->median > 0)) return NULL;
  return pair->known ? json_pack("[fff]", pair->median, pair->low, pair->high) : json_pack("[f]", pair->median);
}

static json_t *pairs_value(const struct stat_group *group) {
  json_t *rows = json_array();
  for (unsigned i = 0; i < group->cell_count; i++) {
    if (group->cells[i].plan->twin) continue;
    json_t *row = json_array();
    for (unsigned j = 0; j < group->cell_count; j++)
      if (!group->cells[j].plan->twin) append(row, pair_value(&group->pairs[(size_t)i * group->cell_count + j]));
    append(rows, row);
  }
  return rows;
}

/* ---- samples ------------------------------------------------------------------------------------------------------- */

/* What is told of each sample; -1 is not known. */
static double sample_ns(const struct sample *sample) { return sample_elapsed_ns(sample); }
static double sample_cpu(const struct sample *sample) {
  return sample->passes ? (double)sample->cpu_ns / (double)sample->passes : 0;
}
static double sample_peak(const struct sample *sample) { return (double)sample->peak_bytes; }
static double sample_wall(const struct sample *sample) {
  double wall = 0;
  for (int phase = 0; phase < RUN_PHASES; phase++) wall += (double)sample->phase_ns[phase];
  return wall;
}
static double sample_round(const struct sample *sample) { return sample->round; }
static double sample_position(const struct sample *sample) { return sample->position; }
static double sample_flags(const struct sample *sample) { return sample->flags; }
static double sample_steal(const struct sample *sample) { return (double)sample->steal_ns; }
static double sample_cpu_stall(const struct sample *sample) { return (double)sample->cpu_stall_ns; }
static double sample_io_stall(const struct sample *sample) { return (double)sample->io_stall_ns; }
static double sample_memory_stall(const struct sample *sample) { return (double)sample->memory_stall_ns; }
static double sample_foreign(const struct sample *sample) { return (double)sample->foreign_bytes; }

static const struct {
  const char *key;
  double (*of)(const struct sample *sample);
  bool rare; /* left out where it is 0 everywhere */
} columns[] = {
    {"round", sample_round, false},
    {"position", sample_position, false},
    {"ns", sample_ns, false},
    {"wall_ns", sample_wall, false},
    {"cpu_ns", sample_cpu, false},
    {"peak_bytes", sample_peak, true},
    {"flags", sample_flags, true},
    {"steal_ns", sample_steal, true},
    {"cpu_stall_ns", sample_cpu_stall, true},
    {"io_stall_ns", sample_io_stall, true},
    {"memory_stall_ns", sample_memory_stall, true},
    {"foreign_bytes", sample_foreign, true},
};

static bool is_shown(const struct sample *sample, const struct plan_group *plan, unsigned group) {
  return sample->group == group && sample->cell < plan->cell_count && sample->round >= 1 && sample->status == RUN_OK &&
         !(sample->flags & (RUN_PILOT | RUN_BURN_IN | RUN_PARTIAL | RUN_RETAKEN));
}

/* Numbers of the shown samples; whole ones are written as such. */
static json_t *column_value(const struct run *run, unsigned group, size_t column) {
  json_t *array = json_array();
  bool any = !columns[column].rare;
  for (size_t i = 0; i < run->sample_count; i++) {
    if (!is_shown(&run->samples[i], &run->plan.groups[group], group)) continue;
    const double value = columns[column].of(&run->samples[i]);
    any = any || value > 0;
    append(array, json_integer((json_int_t)value));
  }
  if (any) return array;
  json_decref(array);
  return NULL;
}

/* Index among the cells of the document; -1: the hidden second entry of the baseline. */
static json_t *cells_value(const struct run *run, unsigned group) {
  const struct plan_group *plan = &run->plan.groups[group];
  json_t *array = json_array();
  for (size_t i = 0; i < run->sample_count; i++) {
    if (!is_shown(&run->samples[i], plan, group)) continue;
    int index = 0;
    for (unsigned c = 0; c < run->samples[i].cell; c++) index += !plan->cells[c].twin;
    append(array, json_integer(plan->cells[run->samples[i].cell].twin ? -1 : index));
  }
  return array;
}

static json_t *samples_value(const struct run *run, unsigned group) {
  json_t *object = json_object();
  put(object, "cell", cells_value(run, group));
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
    json_t *values = column_value(run, group, i);
    if (values != NULL) put(object, columns[i].key, values);
  }
  return object;
}

/* ---- groups -------------------------------------------------------------------------------------------------------- */

/* Names as the tables print them, and what a study published. */
static void add_to_cell(json_t *cell, const struct html *html, const struct stat_group *group,
                        const struct stat_cell *stat) {
  const struct overlay_figure *figure = overlay_find(html->options->overlay, group->plan, stat->plan);
  put(cell, "id", name_value(stat->plan->id));
  put(cell, "method", name_value(stat->plan->method));
  (void)json_object_del(json_object_get(cell, "latency_ns"), "histogram"); /* percentiles and octaves are drawn */
  put(cell, "best", json_boolean(stat->best && group->k > 1));
  put(cell, "floor", json_boolean(page_is_floor(stat)));
  if (figure != NULL) put(cell, "published_mb_per_s", figure->mb_per_s > 0 ? json_real(figure->mb_per_s) : NULL);
}

static json_t *order_value(const struct stat_group *group) {
  json_t *array = json_array();
  for (unsigned i = 0; i < group->order_count; i++) {
    int index = 0;
    for (unsigned c = 0; c < group->order[i]; c++) index += !group->cells[c].plan->twin;
    append(array, json_integer(index));
  }
  return array;
}

static void add_to_group(json_t *object, const struct html *html, const struct summary *summary, unsigned index) {
  const struct stat_group *group = &summary->groups[index];
  json_t *cells = json_object_get(object, "cells");
  size_t at = 0;
  for (unsigned c = 0; c < group->cell_count; c++)
    if (!group->cells[c].plan->twin) add_to_cell(json_array_get(cells, at++), html, group, &group->cells[c]);
  put(object, "id", name_value(group->plan->id));
  put(object, "title", name_value(group->plan->title));
  put(object, "pairs", pairs_value(group));
  put(object, "order", order_value(group));
  put(object, "samples", samples_value(summary->run, index));
}

static json_t *run_value(const struct html *html, unsigned run) {
  const struct summary *summary = html->runs[run].summary;
  json_t *object = json_summary(summary), *groups = json_object_get(object, "groups");
  for (unsigned g = 0; g < summary->group_count; g++) add_to_group(json_array_get(groups, g), html, summary, g);
  put(object, "name", name_value(html->runs[run].name));
  return object;
}

static json_t *sections_value(const struct html *html) {
  json_t *array = json_array();
  for (unsigned i = 0; i < html->section_count; i++) {
    json_t *groups = json_array();
    for (unsigned run = 0; run < html->count; run++) {
      const unsigned group = html->sections[i].groups[run];
      append(groups, group == HTML_NO_GROUP ? NULL : json_integer(group));
    }
    append(array, groups);
  }
  return array;
}

static json_t *overlay_value(const struct overlay *overlay) {
  json_t *object = overlay ? json_object() : NULL;
  if (object == NULL) return NULL;
  put(object, "name", json_string(overlay->name));
  put(object, "source", json_string(overlay->source));
  put(object, "machine", json_string(overlay->machine));
  return object;
}

/* ---- the element --------------------------------------------------------------------------------------------------- */

static void put_safely(FILE *out, const char *json) {
  for (; *json != '\0'; json++) {
    if (*json == '<') {
      fputs("\\u003c", out);
    } else {
      putc(*json, out);
    }
  }
}

void html_data(const struct html *html) {
  json_t *document = json_object(), *runs = json_array();
  for (unsigned run = 0; run < html->count; run++) append(runs, run_value(html, run));
  put(document, "runs", runs);
  put(document, "sections", sections_value(html));
  put(document, "overlay", overlay_value(html->options->overlay));
  char *text = json_dumps(document, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS));
  fputs("<script type=\"application/json\" id=\"data\">", html->out);
  if (text != NULL) put_safely(html->out, text);
  fputs("</script>\n", html->out);
  free(text);
  json_decref(document);
}
