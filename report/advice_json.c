/* advice_json.c - what follows from a group for a program, as a part of the JSON document. */
#include <jansson.h>
#include <stdlib.h>

#include "report/json_parts.h"
#include "report/page.h"

static void put(json_t *object, const char *key, json_t *value) {
  (void)json_object_set_new_nocheck(object, key, value ? value : json_null());
}

static void append(json_t *array, json_t *value) { (void)json_array_append_new(array, value ? value : json_null()); }

static json_t *text_value(const char *text) {
  char *encoded = text && text[0] ? run_text_encode(text) : NULL;
  json_t *value = encoded ? json_string(encoded) : NULL;
  free(encoded);
  return value;
}

static json_t *count_value(uint64_t count) {
  return count <= INT64_MAX ? json_integer((json_int_t)count) : json_real((double)count);
}

static json_t *positive_value(double number) { return number > 0 ? json_real(number) : NULL; }

static json_t *knob_value(const struct stat_knob *knob) {
  if (!knob->least) return NULL;
  json_t *object = json_object();
  put(object, "least", count_value(knob->least->value));
  put(object, "most", count_value(knob->most->value));
  put(object, "enough", knob->enough ? count_value(knob->enough->value) : NULL);
  put(object, "faster_than_baseline_from", knob->beats_from ? count_value(knob->beats_from->value) : NULL);
  return object;
}

static json_t *crossing_value(const struct stat_crossing *crossing) {
  if (crossing->measured < 2) return NULL;
  json_t *object = json_object();
  put(object, "measured", json_integer(crossing->measured));
  put(object, "least_bytes", count_value(crossing->least));
  put(object, "most_bytes", count_value(crossing->most));
  put(object, "faster_than_baseline_from_bytes", crossing->from ? count_value(crossing->from) : NULL);
  put(object, "below_bytes", crossing->below ? count_value(crossing->below) : NULL);
  put(object, "below_verdict", crossing->below ? text_value(stat_verdict_words[crossing->below_verdict]) : NULL);
  put(object, "leads_no_more_at_bytes", crossing->above ? count_value(crossing->above) : NULL);
  put(object, "then_lead", crossing->above && crossing->above_lead ? text_value(crossing->above_lead->plan->id) : NULL);
  return object;
}

static json_t *changes_value(const struct stat_advice *advice) {
  json_t *array = json_array();
  for (unsigned i = 0; i < advice->change_count; i++) {
    json_t *object = json_object();
    put(object, "word", json_string(advice->changes[i].word));
    put(object, "group", text_value(advice->changes[i].group->plan->id));
    put(object, "lead", text_value(advice->changes[i].lead->plan->id));
    put(object, "holds", json_boolean(advice->changes[i].holds));
    append(array, object);
  }
  return array;
}

json_t *json_advice(const struct summary *summary, const struct stat_group *group) {
  const struct stat_advice *advice = &group->advice;
  const struct page page = {.summary = summary, .group = group};
  struct text text = {0};
  if (!advice->lead) return NULL;
  json_t *object = json_object(), *unknown = json_array();
  page_put_advice(&page, &text);
  for (size_t i = 0; i < text.length; i++)
    if (text.data[i] == DISPLAY_GLUE[0]) text.data[i] = ' ';
  put(object, "lead", text_value(advice->lead->plan->id));
  put(object, "keeps_baseline", json_boolean(advice->keeps_baseline));
  put(object, "tied", json_integer(advice->tied));
  put(object, "frugal", advice->frugal ? text_value(advice->frugal->plan->id) : NULL);
  put(object, "block", knob_value(&advice->block));
  put(object, "depth", knob_value(&advice->depth));
  put(object, "request", crossing_value(&advice->request));
  put(object, "size", crossing_value(&advice->size));
  put(object, "cpu_ratio", positive_value(advice->cpu_ratio));
  put(object, "extra_bytes", advice->knows_memory ? json_real(advice->extra_bytes) : NULL);
  put(object, "extra_minor_faults", json_real(advice->extra_faults));
  put(object, "changes", changes_value(advice));
  for (unsigned i = 0; i < 3 && advice->not_measured[i]; i++) append(unknown, json_string(advice->not_measured[i]));
  put(object, "not_measured", unknown);
  put(object, "text", text_value(text_string(&text)));
  put(object, "code_plain", text_value(page_plain_code(&page)));
  put(object, "code_libweir", text_value(page_library_code(&page)));
  text_release(&text);
  return object;
}
