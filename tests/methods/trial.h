/*
 * trial.h - a small core for the tests of methods: gives a method its job, hooks and memory, walks it through its life on
 * one thread, and tells what came of it. No clock, no statistics, no second process.
 */
#ifndef WEIR_TESTS_TRIAL_H
#define WEIR_TESTS_TRIAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "weir/method.h"

#define TRIAL_INSTANCES_MAX 4u
#define TRIAL_SIZE_MAX ((uint64_t)1048577)

/* What to do. Zeroes are sensible: no stop, the whole of the work. */
struct trial {
  const struct weir_method *method;
  enum weir_task task;
  enum weir_direction direction;
  enum weir_access access;
  enum weir_durability durability;
  enum weir_target target;
  enum weir_consumer consumer; /* as it is; most tests want WEIR_CONSUMER_VERIFY */
  uint64_t size, block;
  unsigned instances; /* 0 counts as 1 */
  uint64_t params[WEIR_PARAMS_MAX];
  bool limited;
  uint64_t budget;     /* of each instance, when limited */
  uint64_t stop_after; /* the hook sets stop at this many deliveries or supplies; 0: never */
  bool timed;          /* with a clock for each operation */
  unsigned passes;     /* 0 counts as 1 */
  bool as_it_is;       /* the file has been laid out by the test */
  bool may_leak;       /* memory may be kept from the core, because the system may still write to it */
};

/* The phase that a life ended in. */
enum trial_end { TRIAL_DONE, TRIAL_UNAVAILABLE, TRIAL_SETUP, TRIAL_OPEN, TRIAL_RUN, TRIAL_SYNC, TRIAL_CLOSE };

struct trial_result {
  enum trial_end end;
  int error;
  struct weir_reason reason;
  uint64_t operations, bytes, sum; /* all instances, last pass */
  uint64_t expected_operations;
  uint64_t latencies;
  uint64_t wrong;          /* bytes that were delivered and are not the file's */
  uint64_t covered, twice; /* bytes delivered or supplied once; more than once */
};

/* Makes the scratch directory in the current one; its files are trial_path() and content(). 0 on success. */
int trial_begin(void);
void trial_finish(void);
/*
 * Keeps contexts of Linux AIO from one trial to the next: the kernel takes tens of milliseconds to destroy one, and there
 * are thousands of trials. That they can be made and destroyed is tested with os.
 */
void trial_pool_contexts(void);
const char *trial_path(void);
const char *trial_directory(void);
const unsigned char *trial_content(void);

/* Makes the file as the job expects to find it: full of content (readers), of something else, allocated, or absent. */
void trial_lay_out(const struct trial *trial);
/* All parameters at their presets. */
void trial_presets(struct trial *trial);
/* Index of a parameter by name, or -1. */
int trial_param(const struct weir_method *method, const char *name);
void trial_run(const struct trial *trial, struct trial_result *result);
/* Sets stop for the trial that is running, from wherever a test is called by it. Any thread. */
void trial_stop(void);
/* The file holds exactly the first `size` bytes of the content. */
bool trial_file_is_right(uint64_t size);
unsigned trial_descriptors(void);
/* "fd/pread blocks read sequential ..." for messages. */
const char *trial_name(const struct trial *trial, char *out, size_t size);

#endif
