/*
 * claim_conclude.c - from the findings of a claim to its verdict, and the sentence that says why.
 */
#include <stdarg.h>
#include <stdio.h>

#include "stat/claim.h"

/* ---- sentences ---- */

struct sentence {
  char *out;
  size_t size, used;
};

static void say(struct sentence *sentence, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct sentence *sentence, const char *format, ...) {
  if (sentence->used >= sentence->size) return;
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(sentence->out + sentence->used, sentence->size - sentence->used, format, arguments);
  va_end(arguments);
  if (length > 0) sentence->used += (size_t)length;
}

static const char *before(const struct sentence *sentence) { return sentence->used ? "; " : ""; }

/* "12.4", "1.04", "0.013" */
static void say_number(struct sentence *sentence, double value) {
  const int decimals = value >= 100 ? 0 : value >= 10 ? 1 : value >= 0.1 ? 2 : 4;
  say(sentence, "%.*f", decimals, value);
}

static void say_value(struct sentence *sentence, const struct claim_finding *finding) {
  const bool share = finding->test->kind == CLAIM_EVIDENCE;
  const double factor = share ? 100 : 1;
  say_number(sentence, finding->value.median * factor);
  if (share) say(sentence, " %%");
}

/* ---- the verdict ---- */

static bool decides(const struct claim_finding *finding) { return finding->setup->role == CLAIM_DECIDES; }

/* What one of several says about all: the first of these that some finding has. */
static enum claim_verdict overall(const struct claim_finding *findings, const struct claim_result *result) {
  static const enum claim_verdict order[] = {CLAIM_REVERSED, CLAIM_UNCLEAR, CLAIM_TIE, CLAIM_HOLDS};
  for (unsigned i = 0; i < sizeof order / sizeof *order; i++)
    for (unsigned f = result->first; f < result->first + result->count; f++)
      if (decides(&findings[f]) && findings[f].verdict == order[i]) return order[i];
  return CLAIM_CANNOT_TEST;
}

static bool is_measured(const struct claim_finding *finding) { return finding->verdict != CLAIM_CANNOT_TEST; }

/* The first finding that has the verdict of the claim; where nothing decides, the first that was measured. */
static int shown(const struct claim_finding *findings, const struct claim_result *result) {
  for (unsigned f = result->first; f < result->first + result->count; f++)
    if (decides(&findings[f]) && is_measured(&findings[f]) && findings[f].verdict == result->verdict) return (int)f;
  for (unsigned f = result->first; f < result->first + result->count; f++)
    if (is_measured(&findings[f]) && findings[f].n) return (int)f;
  return -1;
}

/* ---- why ---- */

static unsigned count_of(const struct claim_finding *findings, const struct claim_result *result,
                         enum claim_verdict verdict) {
  unsigned count = 0;
  for (unsigned f = result->first; f < result->first + result->count; f++)
    count += decides(&findings[f]) && findings[f].verdict == verdict;
  return count;
}

/* "5 of 7 hold, 1 is reversed, 1 unclear": where there are several and they disagree. */
static void say_counts(struct sentence *sentence, const struct claim_finding *findings, const struct claim_result *result) {
  unsigned total = 0;
  for (int v = CLAIM_HOLDS; v <= CLAIM_CANNOT_TEST; v++) total += count_of(findings, result, (enum claim_verdict)v);
  if (total < 2) return;
  const unsigned holds = count_of(findings, result, CLAIM_HOLDS);
  say(sentence, holds == total ? "all %u comparisons hold" : "of %u comparisons", total);
  const char *mark = " ";
  for (int v = CLAIM_HOLDS; v <= CLAIM_CANNOT_TEST && holds < total; v++) {
    const unsigned count = count_of(findings, result, (enum claim_verdict)v);
    static const char *const words[] = {"hold", "reversed", "tie", "unclear", "cannot be tested"};
    if (count) say(sentence, "%s%u %s", mark, count, words[v]);
    if (count) mark = ", ";
  }
}

/* Of the findings that are not what the claim says, the one that is shown: it is the reason for the verdict. */
static void say_shown(struct sentence *sentence, const struct claim_finding *findings, const struct claim_result *result) {
  const struct claim_finding *finding = result->shown < 0 ? NULL : &findings[result->shown];
  if (!finding || result->verdict == CLAIM_HOLDS || result->verdict == CLAIM_CANNOT_TEST) return;
  if (finding->reason[0]) say(sentence, "%s%s", before(sentence), finding->reason);
  if (result->verdict == CLAIM_REVERSED && finding->test->kind != CLAIM_EVIDENCE && finding->test->expect == CLAIM_EQUAL)
    say(sentence, "%sa difference where none was claimed", before(sentence));
}

static void say_cannot(struct sentence *sentence, const struct claim_finding *findings, const struct claim_result *result) {
  if (result->verdict != CLAIM_CANNOT_TEST) return;
  if (*result->claim->cannot) {
    say(sentence, "%s", result->claim->cannot);
    return;
  }
  for (unsigned f = result->first; f < result->first + result->count; f++)
    if (decides(&findings[f]) && findings[f].reason[0]) {
      say(sentence, "%s%s", before(sentence), findings[f].reason);
      return;
    }
}

/* What the study's own set-up and the other conditions say, in a word each; several of one case together. */
static void say_others(struct sentence *sentence, const struct claim_finding *findings, const struct claim_result *result) {
  const struct claim_case *last = NULL;
  for (unsigned f = result->first; f < result->first + result->count; f++) {
    const struct claim_finding *finding = &findings[f];
    if (decides(finding)) continue;
    const bool original = finding->setup->role == CLAIM_ORIGINAL;
    if (finding->setup == last)
      say(sentence, ", %s", claim_verdict_words[finding->verdict]);
    else
      say(sentence, "%s%s%s%s: %s", before(sentence), original ? "the study's set-up" : "beside it",
          *finding->setup->name ? ", " : "", finding->setup->name, claim_verdict_words[finding->verdict]);
    last = finding->setup;
    if (!is_measured(finding) || !finding->n) continue;
    say(sentence, " (");
    say_value(sentence, finding);
    say(sentence, ")");
  }
}

void claim_conclude(const struct claim_finding *findings, struct claim_result *result) {
  struct sentence sentence = {result->reason, sizeof result->reason, 0};
  result->reason[0] = '\0';
  result->verdict = *result->claim->cannot ? CLAIM_CANNOT_TEST : overall(findings, result);
  result->shown = shown(findings, result);
  result->strength = CLAIM_NO_STRENGTH;
  if (result->verdict != CLAIM_CANNOT_TEST && result->shown >= 0) result->strength = findings[result->shown].strength;
  say_cannot(&sentence, findings, result);
  if (result->verdict != CLAIM_CANNOT_TEST) say_counts(&sentence, findings, result);
  say_shown(&sentence, findings, result);
  say_others(&sentence, findings, result);
}
