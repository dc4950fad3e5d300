/*
 * claims_text.h - the verdicts on published claims as text, and what their forms share. They look values up and compute
 * nothing.
 */
#ifndef WEIR_CLAIMS_TEXT_H
#define WEIR_CLAIMS_TEXT_H

#include "report/display.h"
#include "report/report.h"
#include "stat/claim.h"

void claims_table(const struct claim_report *claims, const struct report_options *options, FILE *out);
void claims_json(const struct claim_report *claims, const struct report_options *options, FILE *out);
void claims_markdown(const struct claim_report *claims, const struct report_options *options, FILE *out);

/* ---- claims_words.c ---- */

/* Whose figures stand for the claim, or NULL. */
const struct claim_finding *claims_shown(const struct claim_report *claims, const struct claim_result *result);
/* "13.6", "9.20 to 13.6", or nothing; of evidence "over 50 %". */
void claims_put_published(struct text *out, const struct claim_test *test);
/* "12.8 [12.1, 13.5]"; of evidence as shares. Nothing where nothing was measured. */
void claims_put_value(struct text *out, const struct claim_finding *finding);
/* "A against B: faster", "A: device-read above 50 %" */
void claims_put_test(struct text *out, const struct claim_finding *finding);
/* "31 hold, 4 reversed, 5 tie, 2 unclear, 3 cannot be tested" */
void claims_put_counts(struct text *out, const struct claim_report *claims);
/* The strength in words: "weaker than published". */
const char *claims_strength_text(enum claim_strength strength);

#endif
