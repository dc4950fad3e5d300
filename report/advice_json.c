/* advice_json.c - what follows from a group for a program, as a part of the JSON document. */
#include <jansson.h>
#include <stdlib.h>

#include "report/json_parts.h"
#include "report/json_values.h"
#include "report/page.h"

static json_t *knob_value(const struct stat_knob *knob) {
  if (!knob->least) return NULL;
  json_t *object = json_object();
  value_put(object, "least", value_count(knob->least->value));
  value_put(object, "most", value_count(knob->most->value));
  value_put(object, "enough", knob->enough ? value_count(knob->enough->value) : NULL);
  value_put(object, "faster_than_baseline_from", knob->beats_from ? value_count(knob->beats_from->value) : NULL);
  return object;
}

static json_t *crossing_value(const struct stat_crossing *crossing) {
  if (crossing->measured < 2) return NULL;
  json_t *object = json_object();
  value_put(object, "measured", json_integer(crossing->measured));
  value_put(object, "least_bytes", value_count(crossing->least));
  value_put(object, "most_bytes", value_count(crossing->most));
  value_put(object, "faster_than_baseline_from_bytes", crossing->from ? value_count(crossing->from) : NULL);
  value_put(object, "below_bytes", crossing->below ? value_count(crossing->below) : NULL);
  value_put(object, "below_verdict", crossing->below ? value_text(stat_verdict_words[crossing->below_verdict]) : NULL);
  value_put(object, "leads_no_more_at_bytes", crossing->above ? value_count(crossing->above) : NULL);
  value_put(object, "then_lead",
            crossing->above && crossing->above_lead ? value_text(crossing->above_lead->plan->id) : NULL);
  return object;
}

static json_t *changes_value(const struct stat_advice *advice) {
  json_t *array = json_array();
  for (unsigned i = 0; i < advice->change_count; i++) {
    json_t *object = json_object();
    value_put(object, "word", json_string(advice->changes[i].word));
    value_put(object, "group", value_text(advice->changes[i].group->plan->id));
    value_put(object, "lead", value_text(advice->changes[i].lead->plan->id));
    value_put(object, "holds", json_boolean(advice->changes[i].holds));
    value_append(array, object);
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
  value_put(object, "lead", value_text(advice->lead->plan->id));
  value_put(object, "keeps_baseline", json_boolean(advice->keeps_baseline));
  value_put(object, "tied", json_integer(advice->tied));
  value_put(object, "frugal", advice->frugal ? value_text(advice->frugal->plan->id) : NULL);
  value_put(object, "block", knob_value(&advice->block));
  value_put(object, "depth", knob_value(&advice->depth));
  value_put(object, "request", crossing_value(&advice->request));
  value_put(object, "size", crossing_value(&advice->size));
  value_put(object, "cpu_ratio", value_positive(advice->cpu_ratio));
  value_put(object, "extra_bytes", advice->knows_memory ? json_real(advice->extra_bytes) : NULL);
  value_put(object, "extra_minor_faults", json_real(advice->extra_faults));
  value_put(object, "changes", changes_value(advice));
  for (unsigned i = 0; i < 3 && advice->not_measured[i]; i++) value_append(unknown, json_string(advice->not_measured[i]));
  value_put(object, "not_measured", unknown);
  value_put(object, "text", value_text(text_string(&text)));
  value_put(object, "code_plain", value_text(page_plain_code(&page)));
  value_put(object, "code_libweir", value_text(page_library_code(&page)));
  text_release(&text);
  return object;
}
