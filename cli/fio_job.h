/*
 * fio_job.h - a cell said in fio's words: the options of one job that does the same, what stays different, or why fio has no
 * words for it. Pure.
 */
#ifndef WEIR_CLI_FIO_JOB_H
#define WEIR_CLI_FIO_JOB_H

#include "plan/plan.h"

#define FIO_TEXT_MAX 176
enum { FIO_OPTIONS_MAX = 40, FIO_NOTES_MAX = 16 };

struct fio_text {
  char text[FIO_TEXT_MAX];
};
struct fio_job {
  unsigned option_count, note_count;
  struct fio_text options[FIO_OPTIONS_MAX]; /* "--bs=4096"; all but the name of the file */
  struct fio_text notes[FIO_NOTES_MAX];     /* where the two differ */
  bool opens_file;                          /* false: fio's engine works without one */
  char reason[FIO_TEXT_MAX];                /* why it cannot be said */
};

/* `users_file`: it is there and is only read; else fio makes one and removes it. 0, or -EOPNOTSUPP with `reason`. */
int fio_job_make(const struct plan_group *group, const struct plan_cell *cell, enum plan_flush flush, bool users_file,
                 struct fio_job *out);

#endif
