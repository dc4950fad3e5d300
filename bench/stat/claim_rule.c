/*
 * claim_rule.c - from differences to a verdict on a claim: the rule, and nothing about where the differences come from.
 */
#include <math.h>
#include <stdio.h>

#include "stat/claim.h"
#include "stat/exact.h"
#include "stat/paired.h"

const char *const claim_verdict_words[] = {"holds", "reversed", "tie", "unclear", "cannot-test", NULL};
const char *const claim_strength_words[] = {"", "weaker", "as", "stronger", NULL};

/* More rounds than this nobody runs. */
#define ROUNDS_MAX 1000u

/* ---- which side ---- */

enum side { SIDE_UNKNOWN, SIDE_FASTER, SIDE_EQUAL, SIDE_SLOWER };

/* Within `tie` of 1 on both sides is equal, beyond `margin` is not. */
struct bounds { double margin, tie; };

static double tie_margin(double margin) { return fmin(margin, CLAIM_TIE_MARGIN_MAX); }

/* What a study called equal, is: where its own figures differ by more than the margin, their difference is the bound. */
static struct bounds bounds_of(const struct claim_finding *finding) {
  const struct claim_test *test = finding->test;
  struct bounds bounds = {finding->margin, tie_margin(finding->margin)};
  if (test->expect != CLAIM_EQUAL || test->published_low <= 0) return bounds;
  const double published = fmax(test->published_high, 1 / test->published_low) - 1;
  return (struct bounds){fmax(bounds.margin, published), fmax(bounds.tie, published)};
}

static enum side side_of(const struct stat_interval *ratio, const struct bounds *bounds) {
  if (!ratio->known) return SIDE_UNKNOWN;
  if (ratio->low > 1 + bounds->margin) return SIDE_FASTER;
  if (ratio->high < 1 / (1 + bounds->margin)) return SIDE_SLOWER;
  return ratio->low >= 1 / (1 + bounds->tie) && ratio->high <= 1 + bounds->tie ? SIDE_EQUAL : SIDE_UNKNOWN;
}

/* Below is out of the question, even if the rest is open. */
static bool not_slower(const struct stat_interval *ratio, const struct bounds *bounds) {
  return ratio->known && ratio->low >= 1 / (1 + bounds->tie);
}

static enum claim_verdict verdict_of(const struct claim_finding *finding) {
  const struct bounds bounds = bounds_of(finding);
  const enum claim_expect expect = finding->test->expect;
  const enum side side = side_of(&finding->value, &bounds);
  if (expect == CLAIM_NOT_SLOWER && not_slower(&finding->value, &bounds)) return CLAIM_HOLDS;
  if (side == SIDE_UNKNOWN) return CLAIM_UNCLEAR;
  switch (expect) {
    case CLAIM_FASTER:
      return side == SIDE_FASTER ? CLAIM_HOLDS : side == SIDE_SLOWER ? CLAIM_REVERSED : CLAIM_TIE;
    case CLAIM_SLOWER:
      return side == SIDE_SLOWER ? CLAIM_HOLDS : side == SIDE_FASTER ? CLAIM_REVERSED : CLAIM_TIE;
    case CLAIM_EQUAL:
      return side == SIDE_EQUAL ? CLAIM_HOLDS : CLAIM_REVERSED;
    case CLAIM_NOT_SLOWER:
      break;
  }
  return side == SIDE_SLOWER ? CLAIM_REVERSED : CLAIM_HOLDS;
}

/* ---- how strong ---- */

/* Where the interval and the published range, widened by the margin, have something in common, nothing tells them apart. */
static enum claim_strength strength_of(const struct claim_test *test, const struct claim_finding *finding) {
  const struct stat_interval *ratio = &finding->value;
  if (finding->verdict == CLAIM_TIE) return CLAIM_WEAKER;
  if (finding->verdict != CLAIM_HOLDS || test->published_low <= 0) return CLAIM_NO_STRENGTH;
  if (test->expect == CLAIM_EQUAL) return CLAIM_AS_PUBLISHED;
  const bool more = ratio->low > test->published_high * (1 + finding->margin);
  const bool less = ratio->high < test->published_low / (1 + finding->margin);
  if (!more && !less) return CLAIM_AS_PUBLISHED;
  return more == (test->expect != CLAIM_SLOWER) ? CLAIM_STRONGER : CLAIM_WEAKER;
}

/* ---- how many rounds it would take ---- */

/* Rounds at which a sign test sees that more than half lie beyond a bound, when `share` of them do; 0 when none is enough.
 */
static unsigned rounds_for(double share) {
  for (unsigned n = exact_rounds_needed(PAIRED_LEVEL / 2); n <= ROUNDS_MAX && share > 0.5; n += 1 + n / 16) {
    const double win = exact_detectable_win(n, PAIRED_LEVEL);
    if (win > 0 && win <= share) return n;
  }
  return 0;
}

/* Share of the values above a bound, drawn towards the middle as few values ask for. */
static double share_above(const double *values, unsigned n, double bound) {
  unsigned above = 0;
  for (unsigned i = 0; i < n; i++) above += values[i] > bound;
  return (above + 0.5) / (n + 1.0);
}

static unsigned rounds_needed(const double *differences, unsigned n, const struct bounds *bounds) {
  const unsigned least = exact_rounds_needed(PAIRED_LEVEL / 2);
  if (n < least) return least;
  const double middle = exact_middle(differences, n), far = log1p(bounds->margin), near = log1p(bounds->tie);
  unsigned needed;
  if (middle > far) {
    needed = rounds_for(share_above(differences, n, far));
  } else if (middle < -far) {
    needed = rounds_for(1 - share_above(differences, n, -far));
  } else {
    const double above = share_above(differences, n, -near), below = 1 - share_above(differences, n, near);
    needed = rounds_for(fmin(above, below));
  }
  return needed && needed <= n ? n + 1 + n / 4 : needed; /* it was not enough */
}

static unsigned values_needed(const double *values, unsigned n, double limit) {
  const unsigned least = exact_rounds_needed(PAIRED_LEVEL / 2);
  if (n < least) return least;
  const double above = share_above(values, n, limit);
  const unsigned needed = rounds_for(fmax(above, 1 - above));
  return needed && needed <= n ? n + 1 + n / 4 : needed;
}

static void tell_unclear(struct claim_finding *finding) {
  char *out = finding->reason;
  const unsigned least = exact_rounds_needed(PAIRED_LEVEL / 2);
  if (finding->n == 0)
    snprintf(out, sizeof finding->reason, "no round was measured; it takes at least %u", least);
  else if (finding->rounds_needed)
    snprintf(out, sizeof finding->reason, "too few rounds (%u): it takes about %u", finding->n, finding->rounds_needed);
  else
    snprintf(out, sizeof finding->reason, "too near the margin of %.3g %% to be told in %u rounds", finding->margin * 100,
             ROUNDS_MAX);
}

/* ---- the rule ---- */

void claim_decide(const double *differences, unsigned n, struct claim_finding *finding) {
  const unsigned rank = n ? exact_interval_rank(n, PAIRED_LEVEL) : 0;
  finding->n = n;
  finding->value = paired_ratio(differences, n, rank);
  finding->verdict = verdict_of(finding);
  finding->strength = strength_of(finding->test, finding);
  if (finding->verdict != CLAIM_UNCLEAR) return;
  const struct bounds bounds = bounds_of(finding);
  finding->rounds_needed = rounds_needed(differences, n, &bounds);
  tell_unclear(finding);
}

void claim_weigh(const double *values, unsigned n, struct claim_finding *finding) {
  const struct claim_test *test = finding->test;
  finding->n = n;
  finding->value = paired_interval(values, n, n ? exact_interval_rank(n, PAIRED_LEVEL) : 0);
  finding->strength = CLAIM_NO_STRENGTH;
  const struct stat_interval *value = &finding->value;
  const bool above = value->known && value->low > test->limit, below = value->known && value->high <= test->limit;
  finding->verdict = !above && !below ? CLAIM_UNCLEAR : above == test->above ? CLAIM_HOLDS : CLAIM_REVERSED;
  if (finding->verdict != CLAIM_UNCLEAR) return;
  finding->rounds_needed = values_needed(values, n, test->limit);
  tell_unclear(finding);
}
