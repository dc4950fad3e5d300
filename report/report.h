/*
 * report.h - the last noun: text. A report turns a summary into bytes and computes nothing.
 *
 * Adding a report: one file, one line in reports.c, one line in the build.
 */
#ifndef WEIR_REPORT_H
#define WEIR_REPORT_H

#include <stdio.h>

#include "stat/summary.h"

struct overlay;
struct claim_report;
struct comparison;

/* What the tables for people show of each cell. */
enum report_view { REPORT_SPEED, REPORT_COST, REPORT_VIEWS };
extern const char *const report_view_words[]; /* in enum order, NULL-terminated */

struct report_options {
  bool color;      /* ANSI colours; never the only carrier of a meaning */
  unsigned width;  /* columns of the page; 0: no page, every column of a table is shown, and text is broken at 100 */
  const struct overlay *overlay; /* published figures to set beside ours, or NULL; see overlay.h */
  enum report_view view; /* table; Markdown shows all */
  bool ascii;      /* of what is drawn for people: nothing but ASCII */
};

/* One of several runs, by the name of its file. */
struct report_run {
  const char *name;
  const struct summary *summary;
};

struct report {
  const char *name;    /* "table", "json": for --format */
  const char *suffix;  /* ".txt", ".json": for -o */
  const char *summary; /* one line for --help */
  void (*write)(const struct summary *summary, const struct report_options *options, FILE *out);
  /* The verdicts on published claims, see stat/claim.h; NULL: not in this form. */
  void (*write_claims)(const struct claim_report *claims, const struct report_options *options, FILE *out);
  /* Several runs side by side; NULL: not in this form. */
  void (*write_runs)(const struct report_run *runs, unsigned count, const struct report_options *options, FILE *out);
  /* Why this build cannot write it, or NULL; no function: it always can. */
  const char *(*missing)(void);
  /* Two runs side by side, see stat/compare.h; NULL: not in this form. */
  void (*write_comparison)(const struct comparison *comparison, const struct report_options *options, FILE *out);
};

extern const struct report *const report_list[]; /* NULL-terminated */
const struct report *report_by_name(const char *name);
const struct report *report_by_suffix(const char *path);

#endif
