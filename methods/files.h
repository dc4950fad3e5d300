/*
 * files.h - what methods of tasks `copy` and `many` share: the names of the job's files, their opening and their size, and
 * words that say which file went wrong and where in it. Moves no data.
 *
 * All return 0 or a negative errno value whose reason is already kept by the host.
 */
#ifndef WEIR_FILES_H
#define WEIR_FILES_H

#include "os/os.h"
#include "weir/method.h"

/* Room for the names of one file and its copy. Set to zero before; files_teardown is fine after a failed set-up. */
struct files {
  char *source;
  char *copy; /* task copy only */
};
int files_setup(struct files *files, const struct weir_job *job);
void files_teardown(struct files *files);

/* The name of the file at `offset` of the job; valid until the next call. */
const char *files_source(struct files *files, const struct weir_job *job, uint64_t offset);
const char *files_copy(struct files *files, const struct weir_job *job, uint64_t offset);
/* Without its directory. */
const char *files_base_name(const char *path);

/* Opens the file at `offset` for reading, with `flags` (enum os_open_flag) on top. */
int files_open(struct files *files, const struct weir_job *job, uint64_t offset, unsigned flags, os_file *out);
/* The file at `offset` has just the bytes that the job promised. */
int files_check_size(const struct weir_job *job, os_file file, uint64_t offset);
int files_close(const struct weir_job *job, os_file file, uint64_t offset);

/* Keeps "`doing` file 00000002 at byte 4096: words of `error`" and returns `error`; `offset` is that of the byte in the job.
 */
int files_failed(const struct weir_job *job, const char *doing, uint64_t offset, int error);
/* The file that holds the byte at `offset` ended there, before the job's length; -ENODATA. */
int files_ended(const struct weir_job *job, uint64_t offset);
/* The file at `offset` goes on after the bytes that the job promised; -EFBIG. */
int files_too_long(const struct weir_job *job, uint64_t offset);

#endif
