/*
 * runfile_fields.h - the fields that the two sides of a run file, runfile.c and runread.c, go through by table, and the
 * words in them. Not for other files: they know of run files what run.h says.
 *
 * Lines by their "type": one `header`, one `floors`, `limits` for each place, a `sample` each, a `round` for each of a group,
 * `found` for each group once the pilot is over, one
 * `trailer`. The schema grows only: readers skip types and fields that they do not know. Whole numbers are written in
 * full; those that do not fit into 63 bits are strings of digits. Seeds and checksums are "0x..." strings. Text that is no
 * UTF-8 is spelled as run_text_encode says. Fields that the system does not tell are null.
 */
#ifndef WEIR_RUNFILE_FIELDS_H
#define WEIR_RUNFILE_FIELDS_H

#include "measure/run.h"

struct count_field {
  const char *name;
  size_t at;
};
struct word_field {
  const char *name;
  const char *const *words;
  size_t at;
};

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

/* As long as the tables: one that grows grows here too. */
extern const struct count_field runfile_sample_counts[8], runfile_sample_work[4], runfile_sample_phases[RUN_PHASES];
extern const struct count_field runfile_sample_maybes[8]; /* int64_t, -1 unknown */
extern const struct count_field runfile_sample_rares[9];  /* the same; written where known */
extern const struct count_field runfile_floor_reals[9];   /* double */
extern const struct count_field runfile_limit_reals[4];   /* the same, of struct run_limits */
extern const struct count_field runfile_round_counts[5];  /* of struct run_round */
extern const struct count_field runfile_round_maybes[6];

/* The enums of a demand, each reached as an unsigned number. */
enum { DEMAND_WORDS = 8 };
void runfile_demand_words(struct word_field out[DEMAND_WORDS]);

extern const char *const runfile_status_words[];        /* enum plan_status */
extern const char *const runfile_sample_status_words[]; /* enum run_status */

#endif
