/* claims_words.c - numbers and sentences that all forms of the verdicts on claims have in common. */
#include "report/claims_text.h"

const struct claim_finding *claims_shown(const struct claim_report *claims, const struct claim_result *result) {
  return result->shown < 0 ? NULL : &claims->findings[result->shown];
}

static void put_ratio(struct text *out, double ratio) {
  text_decimal(out, ratio, ratio < 0.0995 ? 3 : ratio < 9.995 ? 2 : ratio < 99.95 ? 1 : 0);
}

static void put_share(struct text *out, double share) { text_decimal(out, share * 100, share < 0.0995 ? 2 : 0); }

void claims_put_published(struct text *out, const struct claim_test *test) {
  if (test->kind == CLAIM_EVIDENCE) {
    text_put(out, test->above ? "over " : "up to ");
    put_share(out, test->limit);
    text_put(out, " %");
    return;
  }
  if (test->published_low <= 0) return;
  put_ratio(out, test->published_low);
  if (test->published_high <= test->published_low) return;
  text_put(out, " to ");
  put_ratio(out, test->published_high);
}

void claims_put_value(struct text *out, const struct claim_finding *finding) {
  const bool share = finding->test->kind == CLAIM_EVIDENCE;
  void (*const put)(struct text *, double) = share ? put_share : put_ratio;
  if (finding->n == 0) return;
  put(out, finding->value.median);
  if (finding->value.known) {
    text_put(out, " [");
    put(out, finding->value.low);
    text_put(out, ", ");
    put(out, finding->value.high);
    text_put(out, "]");
  }
  if (share) text_put(out, " %");
}

void claims_put_test(struct text *out, const struct claim_finding *finding) {
  const struct claim_test *test = finding->test;
  text_name(out, finding->first);
  if (test->kind == CLAIM_EVIDENCE) {
    text_format(out, ": %s ", claim_quantity_words[test->quantity]);
    claims_put_published(out, test);
    return;
  }
  text_put(out, " against ");
  text_name(out, finding->second);
  text_format(out, ": %s", claim_expect_words[test->expect]);
  if (test->kind == CLAIM_MEAN) text_format(out, " in the mean of %u groups", finding->check->count);
}

void claims_put_counts(struct text *out, const struct claim_report *claims) {
  static const char *const words[] = {"hold", "reversed", "tie", "unclear", "cannot be tested"};
  text_format(out, "%u claim%s: ", claims->result_count, claims->result_count == 1 ? "" : "s");
  for (int v = CLAIM_HOLDS; v <= CLAIM_CANNOT_TEST; v++)
    text_format(out, "%s%u %s", v ? ", " : "", claims->verdicts[v], words[v]);
}

const char *claims_strength_text(enum claim_strength strength) {
  static const char *const texts[] = {"", "weaker than published", "as published", "stronger than published"};
  return texts[strength];
}
