/*
 * contradiction.c - words of a request that cannot all be meant: told before a plan is made, with the option at fault. Pure.
 */
#include <errno.h>
#include <stdio.h>

#include "plan/parts.h"

#define PLACES_MAX SPEC_VALUES_MAX

static bool only(const struct plan_words *words, unsigned value) {
  for (unsigned i = 0; i < words->count; i++)
    if (words->values[i] != (int)value) return false;
  return words->count > 0;
}

/* Does every task that is asked for take a file as a whole? */
static bool whole_only(const struct plan_request *request) {
  for (unsigned i = 0; i < request->task.count; i++) {
    const enum weir_task task = (enum weir_task)request->task.values[i];
    if (task != WEIR_TASK_WHOLE && !weir_task_streams(task)) return false;
  }
  return request->task.count > 0;
}

/* Does everything that is asked only read? Without a suite reading is the default. */
static bool reads_only(const struct plan_request *request) {
  if (only(&request->only, WEIR_READ)) return true;
  if (plan_has_word(&request->task, WEIR_TASK_COPY)) return false;
  return request->file || only(&request->direction, WEIR_READ) ||
         (!request->suite && !request->direction.count && !request->only.count);
}

static int check_task(const struct plan_request *request, struct plan_error *error) {
  if (whole_only(request) && only(&request->access, WEIR_RANDOM))
    return plan_fail(error, "--access", "random", NULL,
                     "random access goes with task 'blocks'; a whole file is read in order");
  if (whole_only(request) && request->request.count)
    return plan_fail(error, "--request", "", NULL, "task '%s' has no request size; its methods choose their own",
                     plan_task_words[request->task.values[0]]);
  if (request->coverage > 0 && (whole_only(request) || only(&request->access, WEIR_SEQUENTIAL)))
    return plan_fail(error, "--coverage", "", NULL, "coverage goes with random access");
  if (request->coverage < 0 || request->coverage > 1)
    return plan_fail(error, "--coverage", "", NULL, "must be above 0 and at most 100%%");
  return 0;
}

static int check_rate(const struct plan_request *request, struct plan_error *error) {
  if (request->rate_per_s < 0 || request->rate_per_s > PLAN_RATE_MAX)
    return plan_fail(error, "--rate", "", NULL, "must be above 0 and at most %.0f requests a second", PLAN_RATE_MAX);
  for (unsigned i = 0; i < request->task.count && request->rate_per_s > 0; i++)
    if (request->task.values[i] != WEIR_TASK_BLOCKS)
      return plan_fail(error, "--rate", "", NULL, "task '%s' has no requests that could come at a rate; task 'blocks' has",
                       plan_task_words[request->task.values[i]]);
  return 0;
}

static int check_direction(const struct plan_request *request, struct plan_error *error) {
  if (request->write_share < 0 || request->write_share >= 1)
    return plan_fail(error, "--write-share", "", NULL, "must be above 0 and below 100%%");
  if (request->write_share > 0 && !plan_has_word(&request->direction, WEIR_MIXED))
    return plan_fail(error, "--write-share", "", NULL, "a share of writes goes with --direction mixed");
  if (request->file && plan_has_word(&request->direction, WEIR_MIXED))
    return plan_fail(error, "--direction", "mixed", NULL, "'%.120s' would be written; files of yours are only read",
                     request->file);
  if (only(&request->direction, WEIR_MIXED) && request->target.count && !only(&request->target, WEIR_TARGET_OVERWRITE))
    return plan_fail(error, "--target", "", NULL, "mixed requests read what is there: the target is 'overwrite'");
  if (request->file && only(&request->only, WEIR_WRITE))
    return plan_fail(error, "--only", "write", NULL, "'%.120s' would be written; files of yours are only read",
                     request->file);
  if (request->file && request->private_copies)
    return plan_fail(error, "--private-copies", "", NULL,
                     "'%.120s' is read where it is; copies are made of files that weir makes", request->file);
  if (request->file && plan_has_word(&request->direction, WEIR_WRITE))
    return plan_fail(error, "--direction", "write", NULL, "'%.120s' would be written; files of yours are only read",
                     request->file);
  if (reads_only(request) && request->durability.count && !only(&request->durability, WEIR_DURABILITY_NONE))
    return plan_fail(error, "--durability", "", NULL, "durability goes with --direction write");
  if (reads_only(request) && request->target.count)
    return plan_fail(error, "--target", "", NULL, "a target goes with --direction write");
  if (only(&request->direction, WEIR_WRITE) && only(&request->cache, PLAN_COLD) &&
      (only(&request->target, WEIR_TARGET_NEW) || only(&request->target, WEIR_TARGET_TRUNCATE)))
    return plan_fail(error, "--cache", "cold", NULL, "a file that is new or cut to zero has no pages to be cold");
  return 0;
}

static int check_sizes(const struct plan_request *request, struct plan_error *error) {
  for (unsigned i = 0; i < request->size.count; i++)
    if (request->size.values[i] == 0 || request->size.values[i] > INT64_MAX)
      return plan_fail(error, "--size", "", NULL, "must be at least 1 byte and less than 8 EiB");
  for (unsigned i = 0; i < request->request.count; i++)
    if (request->request.values[i] == 0) return plan_fail(error, "--request", "0", NULL, "must be at least 1 byte");
  for (unsigned i = 0; i < request->threads.count; i++)
    if (request->threads.values[i] < 1 || request->threads.values[i] > 256)
      return plan_fail(error, "--threads", "", NULL, "%d is out of range, 1 to 256", request->threads.values[i]);
  if (request->places.count > PLACES_MAX) return plan_fail(error, "--dir", "", NULL, "more than %u directories", PLACES_MAX);
  return 0;
}

/* Of one member there is nothing to stripe over. */
static bool is_striped(const struct plan_request *request) { return request->members.count > 1; }

/* All of them are one place, and each has one instance. */
static int check_member_words(const struct plan_request *request, struct plan_error *error) {
  if (request->members.count && request->places.count)
    return plan_fail(error, "--member", "", NULL, "members are where the files are made; leave --dir out");
  if (request->members.count && request->file)
    return plan_fail(error, "--member", "", NULL, "goes with files that weir makes; '%.120s' is read where it is",
                     request->file);
  if (!is_striped(request)) return 0;
  if (request->members.count > PLAN_MEMBERS_MAX)
    return plan_fail(error, "--member", "", NULL, "more than %u members", PLAN_MEMBERS_MAX);
  if (request->threads.count)
    return plan_fail(error, "--threads", "", NULL, "each member has one thread; leave this out with --member");
  for (unsigned i = 0; i < request->task.count; i++)
    if (request->task.values[i] != WEIR_TASK_BLOCKS)
      return plan_fail(error, "--member", "", NULL, "task '%s' has one file; several members go with task 'blocks'",
                       plan_task_words[request->task.values[i]]);
  return 0;
}

int plan_check_request(const struct plan_request *request, struct plan_error *error) {
  int code = check_task(request, error);
  if (code == 0) code = check_rate(request, error);
  if (code == 0) code = check_member_words(request, error);
  if (code == 0) code = check_direction(request, error);
  return code == 0 ? check_sizes(request, error) : code;
}
