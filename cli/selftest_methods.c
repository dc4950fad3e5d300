/*
 * selftest_methods.c - the methods' part of `weir selftest`: a plan in which each of them stands in every use that it
 * serves, one compared sample of each, and what these say about direct and durable.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/selftest.h"
#include "measure/measure.h"

#define FILE_BYTES (UINT64_C(1) << 20)
#define SLICE_NS UINT64_C(20000000)
#define GRACE_NS UINT64_C(3000000000) /* from being told to stop to being killed */
#define CACHED_PPM 10000

struct methods_job {
  const struct weir_method *const *methods;
  const char *place;
  struct selftest_result *results;
  /* in memory that both processes see */
  volatile int *stop;
  int *code;
  int parent;
};

/* ---- in the process of its own ------------------------------------------------------------------------------------- */

static int make_plan(const struct methods_job *job, struct plan *out) {
  struct plan_request request = {.direction = {3, {WEIR_READ, WEIR_WRITE, WEIR_MIXED}},
                                 .access = {2, {WEIR_SEQUENTIAL, WEIR_RANDOM}},
                                 .durability = {1, {WEIR_DURABILITY_END}},
                                 .target = {2, {WEIR_TARGET_OVERWRITE, WEIR_TARGET_NEW}},
                                 .cache = {1, {PLAN_COLD}},
                                 .size = {1, {FILE_BYTES}},
                                 .request = {1, {65536}},
                                 .places = {1, {job->place}},
                                 .seed = os_wall_ns()};
  struct plan_strings *names = &request.methods;
  struct plan_error error;
  for (int i = 0; plan_task_words[i]; i++) request.task.values[request.task.count++] = i;
  for (unsigned i = 0; job->methods[i] && names->count < sizeof names->values / sizeof *names->values; i++)
    names->values[names->count++] = job->methods[i]->name;
  return plan_make(&request, job->methods, out, &error);
}

static bool writes(const struct plan_group *group) { return group->demand.direction != WEIR_READ; }

/* What one good sample says beside that it was right. */
static void add_evidence(const struct plan_group *group, const struct plan_cell *cell, const struct sample *sample,
                         bool read_back, struct selftest_result *out) {
  enum selftest_answer direct = sample->resident_after_ppm < 0            ? SELFTEST_UNSEEN
                                : sample->resident_after_ppm < CACHED_PPM ? SELFTEST_YES
                                                                          : SELFTEST_NO;
  const bool tells = (cell->capabilities & WEIR_CAP_DIRECT) && !read_back;
  if (tells && out->direct != SELFTEST_NO) out->direct = direct;
  if (!writes(group) || group->demand.durability != WEIR_DURABILITY_END || !read_back) return;
  if (out->durable != SELFTEST_YES) out->durable = sample->flushes > 0 ? SELFTEST_YES : SELFTEST_UNSEEN;
}

/* A writer's first sample is the one that was read back. */
static void add_samples(const struct run *run, unsigned g, unsigned c, struct selftest_result *out) {
  const struct plan_group *group = &run->plan.groups[g];
  bool first = true;
  for (size_t i = 0; i < run->sample_count; i++) {
    const struct sample *sample = &run->samples[i];
    if (sample->group != g || sample->cell != c) continue;
    if (sample->status == RUN_OK) add_evidence(group, &group->cells[c], sample, first && writes(group), out);
    first = false;
  }
  if (!first && group->cells[c].status == PLAN_OK) out->here = SELFTEST_YES;
}

static void set_words(struct selftest_result *out, const char *note, const char *remedy) {
  snprintf(out->note, sizeof out->note, "%s", note);
  snprintf(out->remedy, sizeof out->remedy, "%s", remedy);
}

static void add_cell(const struct run *run, unsigned g, unsigned c, struct selftest_result *out) {
  const struct plan_cell *cell = &run->plan.groups[g].cells[c];
  char note[sizeof out->note];
  if (cell->status == PLAN_FAILED && out->correct != SELFTEST_NO) {
    snprintf(note, sizeof note, "%.60s: %.150s", run->plan.groups[g].title, cell->reason);
    set_words(out, note, "");
    out->correct = SELFTEST_NO;
    out->here = SELFTEST_YES;
  }
  if (cell->status == PLAN_UNAVAILABLE && out->correct != SELFTEST_NO && !out->note[0])
    set_words(out, cell->reason, cell->remedy);
  add_samples(run, g, c, out);
}

/* Works in one use: it is here. */
static void tell_method(const struct run *run, const struct weir_method *method, struct selftest_result *out) {
  bool tried = false;
  for (unsigned g = 0; g < run->plan.group_count; g++)
    for (unsigned c = 0; c < run->plan.groups[g].cell_count; c++) {
      if (strcmp(run->plan.groups[g].cells[c].method, method->name) != 0) continue;
      add_cell(run, g, c, out);
      tried = tried || out->here == SELFTEST_YES || run->plan.groups[g].cells[c].status == PLAN_UNAVAILABLE;
    }
  if (!tried) return; /* no time */
  if (out->here != SELFTEST_YES) out->here = SELFTEST_NO;
  if (out->here == SELFTEST_YES && out->correct != SELFTEST_NO) {
    out->correct = SELFTEST_YES;
    set_words(out, out->direct == SELFTEST_NO ? "accepted past the cache, and found in it afterwards" : "", "");
  }
  atomic_store(&out->state, SELFTEST_DONE);
}

static int methods_body(void *context) {
  const struct methods_job *job = context;
  const struct measure_options options = {.methods = job->methods, .interrupted = job->stop};
  struct run run = {.argument_count = 0};
  struct weir_reason problem;
  os_process_shield();
  if (os_process_follow_parent(job->parent) < 0) return 1;
  int code = make_plan(job, &run.plan);
  if (code == 0) code = measure_check(&run, &options, &problem);
  for (unsigned i = 0; job->methods[i]; i++) tell_method(&run, job->methods[i], &job->results[i]);
  *job->code = code == -EINTR ? 0 : code;
  run_release(&run);
  return 0;
}

/* ---- outside ------------------------------------------------------------------------------------------------------- */

static int await(os_process child, const struct methods_job *job, volatile int *interrupted, uint64_t deadline_ns) {
  struct os_exit end;
  uint64_t kill_at = UINT64_MAX;
  int code;
  while ((code = os_process_wait(child, SLICE_NS, &end)) == -ETIMEDOUT) {
    const uint64_t now = os_clock_ns();
    if (kill_at == UINT64_MAX && (*interrupted || now >= deadline_ns)) {
      *job->stop = 1;
      kill_at = now + GRACE_NS;
    }
    if (now < kill_at && *interrupted < 2) continue;
    (void)os_process_kill(child);
    (void)os_process_wait(child, GRACE_NS, &end);
    return 0;
  }
  return code < 0 ? code : end.crashed ? -EIO : *job->code;
}

int selftest_methods(const struct weir_method *const *methods, const char *place, struct selftest_result *results,
                     volatile int *interrupted, uint64_t deadline_ns) {
  void *shared;
  os_process child;
  int code = os_memory_get(2 * sizeof(int), OS_MEMORY_SHARED, &shared);
  if (code < 0) return code;
  struct methods_job job = {.methods = methods,
                            .place = place,
                            .results = results,
                            .stop = shared,
                            .code = (int *)shared + 1,
                            .parent = os_process_id()};
  code = os_process_fork(methods_body, &job, &child);
  if (code == 0) code = await(child, &job, interrupted, deadline_ns);
  (void)os_memory_put(shared, 2 * sizeof(int));
  return code;
}
