/*
 * trial_files.h - the files of trials whose task is `copy` or `many`: laid out from the trial's content, and their copies
 * compared with it.
 */
#ifndef WEIR_TESTS_TRIAL_FILES_H
#define WEIR_TESTS_TRIAL_FILES_H

#include "trial.h"

/* The two directories below trial_directory(). */
const char *trial_sources(void);
const char *trial_copies(void);
/* Makes them anew: the files as the job expects them, and no copy. */
void trial_lay_out_files(const struct trial *trial);
/* There are copies of just the first `count` files, and each is right. Of more than one instance only all can be asked. */
bool trial_copies_are_right(const struct trial *trial, uint64_t count);
uint64_t trial_copy_count(void);

#endif
