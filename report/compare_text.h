/* compare_text.h - what the reports on two runs share: words and numbers. Not for other folders. */
#ifndef WEIR_COMPARE_TEXT_H
#define WEIR_COMPARE_TEXT_H

#include "report/display.h"
#include "report/report.h"
#include "stat/compare.h"

/* "kernel 6.12.3 → 6.12.4 (!)" */
void compare_put_difference(struct text *out, const struct compare_difference *difference);
/* Why nothing is compared, and what to do. */
void compare_put_refusal(struct text *out, const struct comparison *comparison);
/* "the machine as a whole is 4.2 % slower now (groups: 3.9 % ... 4.5 % slower): taken out of what follows" */
void compare_put_machine(struct text *out, const struct comparison *comparison);
/* "20 and 20 rounds, as a whole 4.2 % slower" */
void compare_put_group(struct text *out, const struct compare_group *group);
/* "0.98 … 1.02"; nothing where it is not known. */
void compare_put_interval(struct text *out, const struct stat_interval *interval);
/* "0.88×"; nothing without a number. */
void compare_put_speed(struct text *out, const struct stat_interval *interval);
/* What stands behind the verdict: "beyond 5 %", or why there is none. */
void compare_put_note(struct text *out, const struct compare_group *group, const struct compare_row *row);
/* "1 regression, 0 improvements, 24 same, 2 unclear" */
void compare_put_counts(struct text *out, const struct comparison *comparison);
const char *compare_cell_name(const struct compare_row *row);
const char *compare_group_title(const struct compare_group *group);
const char *compare_verdict(const struct compare_row *row);

void compare_table(const struct comparison *comparison, const struct report_options *options, FILE *out);
void compare_json(const struct comparison *comparison, const struct report_options *options, FILE *out);
void compare_csv(const struct comparison *comparison, const struct report_options *options, FILE *out);
void compare_markdown(const struct comparison *comparison, const struct report_options *options, FILE *out);

#endif
