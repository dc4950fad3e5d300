/*
 * target.h - the job's file: opened as the demand says, flushed as it says, and words for what went wrong with it.
 *
 * Moves no data. All return 0 or a negative errno value whose reason is already kept by the host.
 */
#ifndef WEIR_TARGET_H
#define WEIR_TARGET_H

#include "os/os.h"
#include "weir/method.h"

/*
 * Opens job->path for the job's direction with `flags` (enum os_open_flag) on top. Of writers the first instance creates or
 * truncates as the target says; a file that was created for durability `each` has a durable name when this returns.
 */
int target_open(const struct weir_job *job, unsigned flags, os_file *out);
/* How a writer's new or truncated file gets its length. */
enum target_extend {
  TARGET_GROW,     /* by each write that goes past the end */
  TARGET_RESIZE,   /* ahead: no storage yet */
  TARGET_ALLOCATE, /* ahead: storage that was not written yet */
  TARGET_ZERO,     /* ahead: storage that reads as zeros */
  TARGET_APPEND,   /* every write goes to the end: one instance, in order */
};
/* target_open, and the first instance of a writer prepares a new or truncated file in the chosen way. */
int target_open_extending(const struct weir_job *job, unsigned flags, enum target_extend extend, os_file *out);
/* Can this be done here? For probes of writers. */
int target_probe_extend(const struct weir_job *job, enum target_extend extend, struct weir_reason *reason);
/* Gives an empty file its length in the chosen way. The plain error, no words. */
int target_give_length(os_file file, uint64_t size, enum target_extend extend);
/* Tells the system how the partition will be read. */
int target_advise(const struct weir_job *job, os_file file, enum os_advice advice);
int target_close(const struct weir_job *job, os_file file);

/* The sync phase: what was written through `file` is durable, and the name of a new file too. */
int target_sync(const struct weir_job *job, os_file file);

#define TARGET_WORDS_MAX 96
/* The system's words for an error; returns `out`. */
const char *target_words(int error, char out[TARGET_WORDS_MAX]);
/* Keeps "`doing` `length` bytes at `offset`: words of `error`" and returns `error`. */
int target_failed(const struct weir_job *job, const char *doing, uint64_t offset, uint64_t length, int error);
/* The same for calls without a place in the file: "`doing`: words of `error`". */
int target_refused(const struct weir_job *job, const char *doing, int error);
/* Keeps what would help against the failure that is told next to it. */
void target_remedy(const struct weir_job *job, const char *remedy);
/* The file ended at byte `at` though the job promised more; -ENODATA. */
int target_ended(const struct weir_job *job, uint64_t at);

/* A regular file that holds less than the job's partition needs is refused; other kinds do not tell their size. */
int target_check_size(const struct weir_job *job, os_file file);

/* Fills a probe's reason, "`what`: words of `error`", and its remedy; returns `error`. */
int target_unavailable(struct weir_reason *reason, int error, const char *what, const char *remedy);
/* The same where no call failed: the reason is `text` as it is. */
int target_unfit(struct weir_reason *reason, int error, const char *text, const char *remedy);
/*
 * Opens something to try a technique on: the job's file where it exists, read-only; else a nameless new file in its
 * directory, readable and writable. *scratch tells which. The plain error, no words.
 */
int target_open_trial(const struct weir_job *job, unsigned flags, os_file *out, bool *scratch);

/* A nameless new file in the job's directory, readable and writable; -EOPNOTSUPP where the system has none. */
int target_open_scratch(const struct weir_job *job, unsigned flags, os_file *out);

/* Where this instance's partition ends in the file. */
static inline uint64_t target_part_end(const struct weir_job *job) { return job->part_offset + job->part_length; }

#endif
