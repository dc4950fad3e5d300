/*
 * compare.h - two runs of the same plan on the same machine: what became faster or slower, apart from the machine itself.
 *
 * Pure, like the rest of this stage. Runs are never compared by raw times: a machine is some percent faster or slower from
 * one hour to the next, and then half of all methods look changed. Compared is each method's place among the others of its
 * group: see compare.c and docs/statistics.md for the rule and its limits.
 */
#ifndef WEIR_COMPARE_H
#define WEIR_COMPARE_H

#include "stat/summary.h"

/* Fewer cells than this in common, and what the machine did cannot be told from what one of them did. */
#define COMPARE_CELLS_MIN 3u

/* What stands between two runs. */
struct compare_difference {
  char what[48];            /* "kernel", "processor", "file system" ... */
  const char *before, *now; /* "" where one run does not tell */
  bool refuses;             /* numbers of the two are not comparable; else only worth knowing */
};

struct compare_row {
  const char *name; /* of the cell */
  const struct stat_cell *before, *now;
  unsigned n_before, n_now;         /* rounds analysed */
  struct stat_interval as_measured; /* time before / time now */
  struct stat_interval speed_ratio; /* the same without what the whole group changed: > 1 is faster now */
  enum stat_verdict verdict;        /* faster, same, slower, unclear; none: one of them has no number */
  bool broke;                       /* gave right data before and wrong data, or none, now */
  char reason[160];                 /* why there is no verdict; "" */
};

struct compare_group {
  const struct stat_group *before, *now; /* either is NULL when only the other run has such a group */
  char reason[160];                      /* why its rows have no verdict; "" */
  unsigned k;                            /* cells that both have numbers of */
  unsigned rounds_needed;                /* in each run, for verdicts on so many cells */
  double margin;                         /* effective: of the three, asked and of both runs, the largest */
  struct stat_interval shift;            /* speed of the group as a whole, before / now in time: > 1 is faster now */
  double control; /* the same of the control alone, work of the program's own beside each round; 0 unknown */
  unsigned row_count;
  struct compare_row *rows; /* in the order of the plan of the run now */
};

struct comparison {
  const struct summary *before, *now; /* not owned */
  const char *before_name, *now_name; /* what the runs are called */
  double margin;                      /* asked for */
  bool absolute;                      /* times as they are: the machine's own shift counts too */
  bool refused;                       /* some difference refuses; nothing below is filled in */
  unsigned difference_count;
  struct compare_difference *differences;
  struct stat_interval shift; /* of the machine: median of the groups' shifts, least and most */
  unsigned group_count;
  struct compare_group *groups;
  unsigned counts[STAT_NONE + 1]; /* rows by verdict */
  unsigned broken;                /* rows that broke */
  bool interleaved;               /* both were measured in one run: see compare_pairs */
  unsigned made_count;            /* private: names that were made */
  char **made;
};

struct compare_options {
  double margin;    /* a fraction; negative: the larger one that the runs were made with */
  bool absolute;    /* see struct comparison */
  bool any_machine; /* compare although something differs that refuses */
  const char *before_name, *now_name;
};

/* Summaries and names must outlive the comparison. 0 or -ENOMEM. */
int compare_runs(const struct summary *before, const struct summary *now, const struct compare_options *options,
                 struct comparison *out);
/*
 * The same of one run that holds both: cells whose methods are called NAME and `endings[0]` against NAME and `endings[1]`,
 * round by round as in the ranking. Nothing has to be taken out, so that each group has verdicts of its own.
 */
int compare_pairs(const struct summary *run, const char *const endings[2], const struct compare_options *options,
                  struct comparison *out);
/* For the two makers: counts the verdicts of all rows. */
void compare_count(struct comparison *comparison);
void compare_release(struct comparison *comparison);

#endif
