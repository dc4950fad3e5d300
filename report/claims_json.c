/*
 * claims_json.c - the verdicts on published claims as one JSON document. What is not known is null. A speed_ratio is the
 * time of the second cell by that of the first: above 1 the first is faster.
 */
#include <jansson.h>
#include <math.h>

#include "report/claims_text.h"
#include "report/json_parts.h"
#include "report/json_values.h"

#define CLAIMS_SCHEMA 1

static json_t *interval_value(const struct claim_finding *finding, bool evidence) {
  if (!finding || finding->n == 0 || (finding->test->kind == CLAIM_EVIDENCE) != evidence) return NULL;
  json_t *object = json_object();
  value_put(object, "median", json_real(finding->value.median));
  value_put(object, "low", finding->value.known ? json_real(finding->value.low) : NULL);
  value_put(object, "high", finding->value.known ? json_real(finding->value.high) : NULL);
  return object;
}

/* One number for a range: its geometric middle. */
static json_t *published_value(const struct claim_finding *finding) {
  return finding ? value_positive(sqrt(finding->test->published_low * finding->test->published_high)) : NULL;
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
    (void)json_array_append_new(array, value_text(plan->groups[check->first[i].group].id));
  return array;
}

static void put_test(json_t *object, const struct claim_finding *finding) {
  const struct claim_test *test = finding->test;
  value_put(object, "kind", json_string(kind_word(test->kind)));
  value_put(object, "first", value_text(finding->first));
  value_put(object, "second", value_text(finding->second));
  if (test->kind == CLAIM_EVIDENCE) {
    value_put(object, "quantity", json_string(claim_quantity_words[test->quantity]));
    value_put(object, "expected", json_string(test->above ? "above" : "below"));
    value_put(object, "limit", json_real(test->limit));
  } else {
    value_put(object, "expected", json_string(claim_expect_words[test->expect]));
    value_put(object, "compared", json_string(finding->check->per == CLAIM_PER_BYTE ? "per byte" : "per pass"));
    value_put(object, "ranked_by", json_string(plan_rank_words[finding->setup->rank]));
  }
}

static json_t *finding_value(const struct claim_report *claims, const struct claim_finding *finding) {
  json_t *object = json_object();
  value_put(object, "case", value_text(finding->setup->name));
  value_put(object, "role", json_string(claim_role_words[finding->setup->role]));
  value_put(object, "note", value_text(finding->setup->note));
  value_put(object, "title", value_text(finding->title));
  value_put(object, "groups", groups_value(claims, finding->check));
  put_test(object, finding);
  value_put(object, "verdict", json_string(claim_verdict_words[finding->verdict]));
  value_put(object, "strength", value_text(claim_strength_words[finding->strength]));
  value_put(object, "published_low", value_positive(finding->test->published_low));
  value_put(object, "published_high", value_positive(finding->test->published_high));
  value_put(object, "speed_ratio", interval_value(finding, false));
  value_put(object, "value", interval_value(finding, true));
  value_put(object, "rounds", json_integer(finding->n));
  value_put(object, "rounds_needed", finding->rounds_needed ? json_integer(finding->rounds_needed) : NULL);
  value_put(object, "margin", finding->n ? json_real(finding->margin) : NULL);
  value_put(object, "reason", value_text(finding->reason));
  return object;
}

/* ---- claims ---- */

static json_t *claim_value(const struct claim_report *claims, const struct claim_result *result) {
  const struct claim_finding *shown = claims_shown(claims, result);
  const struct claim_study *study = &claims->plan->book->studies[result->claim->study];
  json_t *object = json_object(), *findings = json_array();
  value_put(object, "id", value_text(result->claim->id));
  value_put(object, "study", value_text(study->name));
  value_put(object, "says", value_text(result->claim->says));
  value_put(object, "published", value_text(result->claim->published));
  value_put(object, "trap", value_text(result->claim->trap));
  value_put(object, "verdict", json_string(claim_verdict_words[result->verdict]));
  value_put(object, "strength", value_text(claim_strength_words[result->strength]));
  value_put(object, "published_ratio", published_value(shown));
  value_put(object, "speed_ratio", interval_value(shown, false));
  value_put(object, "value", interval_value(shown, true));
  value_put(object, "reason", value_text(result->reason));
  for (unsigned f = 0; f < result->count; f++)
    (void)json_array_append_new(findings, finding_value(claims, &claims->findings[result->first + f]));
  value_put(object, "findings", findings);
  return object;
}

static json_t *counts_value(const struct claim_report *claims) {
  json_t *object = json_object();
  for (int v = CLAIM_HOLDS; v <= CLAIM_CANNOT_TEST; v++)
    value_put(object, claim_verdict_words[v], json_integer(claims->verdicts[v]));
  return object;
}

void claims_json(const struct claim_report *claims, const struct report_options *options, FILE *out) {
  (void)options;
  json_t *document = json_object(), *array = json_array();
  const struct run *run = claims->plan->part_count ? claims->summaries[0].run : NULL;
  char seed[24] = "";
  if (run) snprintf(seed, sizeof seed, "0x%016llx", (unsigned long long)run->plan.seed);
  value_put(document, "schema", json_integer(CLAIMS_SCHEMA));
  value_put(document, "weir", value_text(run ? run_fact_text(run, "weir.version") : NULL));
  value_put(document, "seed", value_text(seed));
  value_put(document, "interrupted", json_boolean(claims->interrupted));
  value_put(document, "environment", run ? json_environment(run) : NULL);
  value_put(document, "verdicts", counts_value(claims));
  for (unsigned i = 0; i < claims->result_count; i++)
    (void)json_array_append_new(array, claim_value(claims, &claims->results[i]));
  value_put(document, "claims", array);
  if (document != NULL && json_dumpf(document, out, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) == 0) putc('\n', out);
  json_decref(document);
}
