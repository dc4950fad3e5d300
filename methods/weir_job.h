/*
 * weir_job.h - what the contenders that use libweir share: the job's file as a weir_file, the library's errors in the words
 * of a report, and the probe of a strategy. Moves no data.
 */
#ifndef WEIR_WEIR_JOB_H
#define WEIR_WEIR_JOB_H

#include "methods.h"
#include "target.h"
#include "weir.h"

/* How the library is to move the bytes; the values in the order of the words. */
enum weir_job_way { WEIR_JOB_AUTO, WEIR_JOB_BUFFERED, WEIR_JOB_DIRECT, WEIR_JOB_UNCACHED };
#define WEIR_JOB_PARAM_STRATEGY                                                                                  \
  {                                                                                                              \
    .name = "strategy", .kind = WEIR_PARAM_CHOICE, .preset = "auto", .choices = "auto|buffered|direct|uncached", \
    WEIR_PARAM_EVERYWHERE, .help = "as the library chooses, or what it is told"                                  \
  }
enum weir_strategy weir_job_strategy(uint64_t value);
/* Can it be had here, with these requests? Fills in the reason if not. */
int weir_job_probe(const struct weir_job *job, uint64_t value, struct weir_reason *reason);

/* How a new or truncated file gets its length; the values in the order of enum target_extend. */
#define WEIR_JOB_PARAM_EXTEND                                                                                           \
  {                                                                                                                     \
    .name = "extend", .kind = WEIR_PARAM_CHOICE, .preset = "grow", .choices = "grow|ftruncate|fallocate",               \
    WEIR_PARAM_EVERYWHERE,                                                                                              \
    .help = "how a new or truncated file gets its length: by each write, or ahead by weir_file_resize or _preallocate", \
    .targets = WEIR_BIT(WEIR_TARGET_NEW) | WEIR_BIT(WEIR_TARGET_TRUNCATE)                                               \
  }

/* Some calls take the whole file or nothing. */
int weir_job_whole_file(const struct weir_job *job, struct weir_reason *reason);

struct weir_job_wish {
  enum weir_strategy strategy;
  enum target_extend extend;
  bool write_through;
  enum weir_hint hint;
};
/* As target_open_extending does it, through the library. */
int weir_job_open(const struct weir_job *job, const struct weir_job_wish *wish, struct weir_file **out);
int weir_job_sync(const struct weir_job *job, struct weir_file *file);
int weir_job_close(const struct weir_job *job, struct weir_file *file);

/* Keeps "`doing` SIZE bytes at OFFSET: ..." as the library tells it, and returns the error. */
int weir_job_failed(const struct weir_job *job, const char *doing, const struct weir_error *error);
/* The same where the caller knows the place better, and where there is none. */
int weir_job_failed_at(const struct weir_job *job, const char *doing, uint64_t offset, uint64_t length, int error);
int weir_job_refused(const struct weir_job *job, const char *doing, int error);

#endif
