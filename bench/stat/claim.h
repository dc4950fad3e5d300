/*
 * claim.h - what the samples say of published claims.
 *
 * Pure, like the rest of this stage: plans of claims and summaries in, verdicts out. A verdict is drawn from the interval of a
 * ratio, beyond a margin, and never from a lack of data: see docs/claims.md for the rules.
 */
#ifndef WEIR_CLAIM_H
#define WEIR_CLAIM_H

#include "plan/claims.h"
#include "stat/summary.h"

enum claim_verdict {
  CLAIM_HOLDS,       /* the same side beyond the margin, or no difference where none was claimed */
  CLAIM_REVERSED,    /* the other side beyond it, or a difference where none was claimed */
  CLAIM_TIE,         /* no difference, where one was claimed */
  CLAIM_UNCLEAR,     /* the interval is too wide to tell */
  CLAIM_CANNOT_TEST, /* and why */
};
enum claim_strength { CLAIM_NO_STRENGTH, CLAIM_WEAKER, CLAIM_AS_PUBLISHED, CLAIM_STRONGER };
extern const char *const claim_verdict_words[], *const claim_strength_words[]; /* in enum order, NULL-terminated */

/* No tie is told where identical cells differ by more than this: too little is seen there to say that nothing is there. */
#define CLAIM_TIE_MARGIN_MAX 0.10

/* What one check came to. */
struct claim_finding {
  const struct claim *claim;
  const struct claim_case *setup;
  const struct claim_test *test;
  const struct claim_check *check;
  const char *title;          /* of the group, or of the first of them */
  const char *first, *second; /* ids of the cells; "" where there is no second */
  unsigned n;                 /* rounds */
  double margin;              /* effective */
  struct stat_interval value; /* time of second / time of first; evidence: the quantity */
  enum claim_verdict verdict;
  enum claim_strength strength;
  unsigned rounds_needed; /* of an unclear one; 0: more than anybody has */
  char reason[224];       /* of an unclear one, or one that cannot be tested */
};

struct claim_result {
  const struct claim *claim;
  unsigned first, count; /* its findings */
  int shown;             /* the one whose figures stand for the claim, or -1 */
  enum claim_verdict verdict;
  enum claim_strength strength;
  char reason[640];
};

struct claim_report {
  const struct claims_plan *plan;
  const struct summary *summaries; /* one for each part of the plan */
  unsigned finding_count, result_count;
  struct claim_finding *findings;
  struct claim_result *results;
  unsigned verdicts[CLAIM_CANNOT_TEST + 1]; /* how many of each */
  bool failed, interrupted;
};

/*
 * `wanted` as in the request of the plan. A part that was not measured has a summary of no groups. 0 or -ENOMEM. Plan and
 * summaries must outlive the report.
 */
int claims_judge(const struct claims_plan *plan, const bool *wanted, const struct summary *summaries, struct claim_report *out);
void claims_report_release(struct claim_report *report);

/*
 * The rule itself: from the differences ln(second) - ln(first) of n rounds, sorted, and finding->margin to value, verdict,
 * strength and rounds_needed. claim_weigh is the same for evidence, from sorted values.
 */
void claim_decide(const double *differences, unsigned n, struct claim_finding *finding);
void claim_weigh(const double *values, unsigned n, struct claim_finding *finding);
/* From the findings of a claim to its result; result->claim, first and count are given. */
void claim_conclude(const struct claim_finding *findings, struct claim_result *result);

#endif
