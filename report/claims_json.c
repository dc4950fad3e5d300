/*
 * claims_json.c - the verdicts on published claims as one JSON document. What is not known is null. A speed_ratio is the
 * time of the second cell by that of the first: above 1 the first is faster.
 */
#include <jansson.h>
#include <math.h>

#include "report/claims_text.h"
#include "report/json_parts.h"

#define CLAIMS_SCHEMA 1

static void put(json_t *object, const char *key, json_t *value) {
  (void)json_object_set_new_nocheck(object, key, value ? value : json_null());
}

static json_t *text_value(const char *text) { return text && *text ? json_string(text) : NULL; }
static json_t *positive_value(double number) { return number > 0 ? json_real(number) : NULL; }

static json_t *interval_value(const struct claim_finding *finding, bool evidence) {
  if (!finding || finding->n == 0 || (finding->test->kind == CLAIM_EVIDENCE) != evidence) return NULL;
  json_t *object = json_object();
  put(object, "median", json_real(finding->value.median));
  put(object, "low", finding->value.known ? json_real(finding->value.low) : NULL);
  put(object, "high", finding->value.known ? json_real(finding->value.high) : NULL);
  return object;
}

/* One number for a range: its geometric middle. */
static json_t *published_value(const struct claim_finding *finding) {
  return finding ? positive_value(sqrt(finding->test->published_low * finding->test->published_high)) : NULL;
}

/* ---- findings ---- */

static const char *kind_word(enum claim_kind kind) {
  static const char *const words[] = {"pair", "mean", "evidence"};
  return words[kind];
}

static json_t *groups_value(const struct claim_report *claims, const struct claim_check *check) {
  json_t *array = json_array();
  const struct plan *plan = &claims->plan->parts[check->part].plan;
  for (unsigned i = 0; i < check->count; i++)
    (void)json_array_append_new(array, text_value(plan->groups[check->first[i].group].id));
  return array;
}

static void put_test(json_t *object, const struct claim_finding *finding) {
  const struct claim_test *test = finding->test;
  put(object, "kind", json_string(kind_word(test->kind)));
  put(object, "first", text_value(finding->first));
  put(object, "second", text_value(finding->second));
  if (test->kind == CLAIM_EVIDENCE) {
    put(object, "quantity", json_string(claim_quantity_words[test->quantity]));
    put(object, "expected", json_string(test->above ? "above" : "below"));
    put(object, "limit", json_real(test->limit));
  } else {
    put(object, "expected", json_string(claim_expect_words[test->expect]));
    put(object, "compared", json_string(finding->check->per == CLAIM_PER_BYTE ? "per byte" : "per pass"));
    put(object, "ranked_by", json_string(plan_rank_words[finding->setup->rank]));
  }
}

static json_t *finding_value(const struct claim_report *claims, const struct claim_finding *finding) {
  json_t *object = json_object();
  put(object, "case", text_value(finding->setup->name));
  put(object, "role", json_string(claim_role_words[finding->setup->role]));
  put(object, "note", text_value(finding->setup->note));
  put(object, "title", text_value(finding->title));
  put(object, "groups", groups_value(claims, finding->check));
  put_test(object, finding);
  put(object, "verdict", json_string(claim_verdict_words[finding->verdict]));
  put(object, "strength", text_value(claim_strength_words[finding->strength]));
  put(object, "published_low", positive_value(finding->test->published_low));
  put(object, "published_high", positive_value(finding->test->published_high));
  put(object, "speed_ratio", interval_value(finding, false));
  put(object, "value", interval_value(finding, true));
  put(object, "rounds", json_integer(finding->n));
  put(object, "rounds_needed", finding->rounds_needed ? json_integer(finding->rounds_needed) : NULL);
  put(object, "margin", finding->n ? json_real(finding->margin) : NULL);
  put(object, "reason", text_value(finding->reason));
  return object;
}

/* ---- claims ---- */

static json_t *claim_value(const struct claim_report *claims, const struct claim_result *result) {
  const struct claim_finding *shown = claims_shown(claims, result);
  const struct claim_study *study = &claims->plan->book->studies[result->claim->study];
  json_t *object = json_object(), *findings = json_array();
  put(object, "id", text_value(result->claim->id));
  put(object, "study", text_value(study->name));
  put(object, "says", text_value(result->claim->says));
  put(object, "published", text_value(result->claim->published));
  put(object, "trap", text_value(result->claim->trap));
  put(object, "verdict", json_string(claim_verdict_words[result->verdict]));
  put(object, "strength", text_value(claim_strength_words[result->strength]));
  put(object, "published_ratio", published_value(shown));
  put(object, "speed_ratio", interval_value(shown, false));
  put(object, "value", interval_value(shown, true));
  put(object, "reason", text_value(result->reason));
  for (unsigned f = 0; f < result->count; f++)
    (void)json_array_append_new(findings, finding_value(claims, &claims->findings[result->first + f]));
  put(object, "findings", findings);
  return object;
}

static json_t *counts_value(const struct claim_report *claims) {
  json_t *object = json_object();
  for (int v = CLAIM_HOLDS; v <= CLAIM_CANNOT_TEST; v++)
    put(object, claim_verdict_words[v], json_integer(claims->verdicts[v]));
  return object;
}

void claims_json(const struct claim_report *claims, const struct report_options *options, FILE *out) {
  (void)options;
  json_t *document = json_object(), *array = json_array();
  const struct run *run = claims->plan->part_count ? claims->summaries[0].run : NULL;
  char seed[24] = "";
  if (run) snprintf(seed, sizeof seed, "0x%016llx", (unsigned long long)run->plan.seed);
  put(document, "schema", json_integer(CLAIMS_SCHEMA));
  put(document, "weir", text_value(run ? run_fact_text(run, "weir.version") : NULL));
  put(document, "seed", text_value(seed));
  put(document, "interrupted", json_boolean(claims->interrupted));
  put(document, "environment", run ? json_environment(run) : NULL);
  put(document, "verdicts", counts_value(claims));
  for (unsigned i = 0; i < claims->result_count; i++)
    (void)json_array_append_new(array, claim_value(claims, &claims->results[i]));
  put(document, "claims", array);
  if (document != NULL && json_dumpf(document, out, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) == 0) putc('\n', out);
  json_decref(document);
}
