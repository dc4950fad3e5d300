/*
 * pilot.c - the run before the rounds. Nothing measured here is analysed: it decides what will be, and a cell that moves
 * wrong bytes goes no further.
 */
#include "measure/pilot.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "measure/cells.h"

#define MILLISECOND UINT64_C(1000000)
#define SAMPLE_MIN_NS (5 * MILLISECOND)       /* shorter ones drown in what a machine does every few milliseconds */
#define CLOCK_STEPS_MIN 1000.0                /* so that the clock's own grain is below 0.1 % */
#define SAMPLE_MAX_NS (2000 * MILLISECOND)    /* passes are not repeated beyond this */
#define PASS_MAX_NS (10000 * MILLISECOND)     /* one pass longer than this is cut */
#define PILOT_CAP_NS (4000 * MILLISECOND)
#define COUNT_CAP_NS (1000 * MILLISECOND)     /* what was done until then stands for the rest */
#define SAMPLE_OVERHEAD_NS (MILLISECOND / 2)  /* fork, wait, bookkeeping */

/* What the pilot learned about one group. */
struct findings { double fastest_ns, slowest_ns; uint64_t cost_ns; };

static void notify(struct sampler *sampler, unsigned group, unsigned cell) {
  const struct measure_event event = {.kind = MEASURE_PILOT, .run = sampler->run, .group = group, .cell = cell};
  if (sampler->options->observer.event) sampler->options->observer.event(sampler->options->observer.context, &event);
}

static void set_status(struct plan_cell *cell, enum plan_status status, const char *reason, const char *remedy) {
  cell->status = status;
  snprintf(cell->reason, sizeof cell->reason, "%s", reason);
  snprintf(cell->remedy, sizeof cell->remedy, "%s", remedy);
}

/* How many system calls a pass takes; -1 where they cannot be counted. Nothing else is kept of the sample. */
static int count_calls(struct sampler *sampler, const struct sampler_wish *tried, int64_t *calls) {
  struct weir_reason unavailable;
  struct sample sample;
  const struct plan_cell *cell = &sampler->run->plan.groups[tried->group].cells[tried->cell];
  struct sampler_wish wish = *tried;
  *calls = -1;
  if (cell->capabilities & ((uint32_t)WEIR_CAP_OUTSIDE | WEIR_CAP_PROGRAM)) return 0; /* what other programs do is not seen */
  wish.verify = wish.probe = wish.with_victim = false;
  wish.count_calls = true;
  wish.keep_state = sampler->run->plan.groups[tried->group].demand.direction != WEIR_WRITE;
  wish.cap_ns = COUNT_CAP_NS;
  const int result = sampler_take(sampler, &wish, &sample, &unavailable);
  if (result < 0) return result;
  if (!unavailable.text[0] && sample.status == RUN_OK) *calls = sample.system_calls;
  return 0;
}

/* Takes one sample into the run. 1: good, 0: the cell is out, negative: the run is. `counts`: its calls too. */
static int try_sample(struct sampler *sampler, const struct sampler_wish *wish, bool counts, struct sample *sample) {
  struct weir_reason unavailable;
  struct plan_cell *cell = &sampler->run->plan.groups[wish->group].cells[wish->cell];
  int result = sampler_take(sampler, wish, sample, &unavailable);
  if (result < 0) return result;
  if (unavailable.text[0]) {
    set_status(cell, PLAN_UNAVAILABLE, unavailable.text, unavailable.remedy);
    return 0;
  }
  if (counts && sample->status == RUN_OK && !*sampler->options->interrupted)
    result = count_calls(sampler, wish, &sample->system_calls);
  if (result == 0) result = run_add_sample(sampler->run, sample);
  if (result < 0) return result;
  if (sampler->options->stream) run_write_sample(sampler->run, sample, sampler->options->stream);
  if (*sampler->options->interrupted) return -EINTR;
  if (sample->status == RUN_OK) return 1;
  set_status(cell, PLAN_FAILED, sample->reason, "");
  return 0;
}

/* Time of a whole pass, also when the cap cut the sample short. */
static double pass_ns(const struct plan *plan, const struct sample *sample) {
  double elapsed = sample_elapsed_ns(sample);
  uint64_t want = cell_operations(plan, sample->group, sample->cell);
  if (!(sample->flags & RUN_PARTIAL) || sample->operations == 0 || want <= sample->operations) return elapsed;
  return elapsed * (double)want / (double)sample->operations;
}

static int try_cell(struct sampler *sampler, unsigned group, unsigned cell, struct findings *findings) {
  struct plan *plan = &sampler->run->plan;
  struct sample sample;
  bool writes = plan->groups[group].demand.direction == WEIR_WRITE; /* mixed ones are tried as readers are */
  struct sampler_wish wish = {.group = group, .cell = cell, .round = -1, .position = (int32_t)cell, .predecessor = -1,
                              .flags = RUN_PILOT, .verify = true, .probe = true, .keep_state = !writes,
                              .with_victim = writes, .cap_ns = PILOT_CAP_NS};
  int result = try_sample(sampler, &wish, writes, &sample);
  if (result <= 0) return result;
  if (!writes) { /* comparing every byte takes time of its own: once more, as it will be measured */
    wish.verify = wish.probe = wish.keep_state = false;
    wish.with_victim = true;
    result = try_sample(sampler, &wish, true, &sample);
    if (result <= 0) return result;
  }
  if (plan->groups[group].cells[cell].capabilities & WEIR_CAP_FLOOR) return 1;
  double pass = pass_ns(plan, &sample);
  if (findings->fastest_ns == 0 || pass < findings->fastest_ns) findings->fastest_ns = pass;
  if (pass > findings->slowest_ns) findings->slowest_ns = pass;
  findings->cost_ns += sample.prepare_ns + sample.setup_ns + SAMPLE_OVERHEAD_NS;
  return 1;
}

/* ---- one group ------------------------------------------------------------------------------------------------------- */

/* How often a pass is repeated in one sample. Where every pass needs a new state of the file, it is one. */
static uint64_t choose_passes(const struct plan_group *group, const struct findings *findings, double step_ns) {
  const struct plan_demand *demand = &group->demand;
  if (group->loops) return group->loops;
  bool once = demand->task == WEIR_TASK_COPY || demand->cache == PLAN_COLD || (demand->direction == WEIR_WRITE && demand->target != WEIR_TARGET_OVERWRITE);
  if (once || findings->fastest_ns <= 0) return 1;
  double least = fmax((double)SAMPLE_MIN_NS, CLOCK_STEPS_MIN * step_ns);
  double passes = ceil(least / findings->fastest_ns), cap = floor((double)SAMPLE_MAX_NS / findings->slowest_ns);
  if (passes > cap) passes = cap;
  return passes < 1 ? 1 : (uint64_t)passes;
}

/* Not where rounds are given: then all of it was asked for, however long it takes. */
static void cut_pass(struct run *run, struct plan_group *group, struct findings *findings) {
  if (run->plan.rounds || group->demand.task == WEIR_TASK_WHOLE ||
      weir_task_streams(group->demand.task) || group->loops || findings->slowest_ns <= (double)PASS_MAX_NS) return;
  double share = (double)SAMPLE_MAX_NS / findings->slowest_ns;
  if (group->demand.access == WEIR_RANDOM) share *= group->demand.coverage;
  uint64_t largest = 1;
  for (unsigned c = 0; c < group->cell_count; c++) {
    uint64_t block = cell_block(group, &group->cells[c]) * (group->cells[c].threads ? group->cells[c].threads : 1);
    if (group->cells[c].status == PLAN_OK && block > largest) largest = block;
  }
  uint64_t bytes = (uint64_t)(share * (double)group->demand.size_bytes);
  bytes = (bytes / largest + 1) * largest;
  if (bytes >= group->demand.size_bytes) return;
  char a[UNITS_TEXT_MAX], b[UNITS_TEXT_MAX];
  group->pass_bytes = bytes;
  run_warn(run, "W06", "use a smaller --size or a larger --request, or say --rounds",
           "%s: one pass moves %s, not %s, or it would take more than 10 s", group->id, units_size_text((double)bytes, a),
           units_size_text((double)group->demand.size_bytes, b));
  findings->fastest_ns *= share;
  findings->slowest_ns = (double)SAMPLE_MAX_NS;
}

static unsigned first_good(const struct plan_group *group) {
  for (unsigned c = 0; c < group->cell_count; c++)
    if (plan_cell_counts(&group->cells[c])) return c;
  return 0;
}

/* The pilot's elapsed times of this group's cells, summed: one round of samples. */
static uint64_t round_elapsed(const struct run *run, unsigned group, uint64_t passes) {
  double sum = 0;
  for (size_t i = 0; i < run->sample_count; i++) {
    const struct sample *sample = &run->samples[i];
    if (sample->group != group || sample->status != RUN_OK || sample->passes == 0) continue;
    bool reader = run->plan.groups[group].demand.direction != WEIR_WRITE;
    bool verify = reader && i + 1 < run->sample_count && run->samples[i + 1].group == group &&
                  run->samples[i + 1].cell == sample->cell;
    if (!verify) sum += pass_ns(&run->plan, sample) * (double)passes;
  }
  return (uint64_t)sum;
}

static int try_group(struct sampler *sampler, unsigned index, double step_ns) {
  struct run *run = sampler->run;
  struct plan_group *group = &run->plan.groups[index];
  struct findings findings = {0};
  for (unsigned c = 0; c < group->cell_count; c++) {
    if (*sampler->options->interrupted) return -EINTR;
    if (group->cells[c].status != PLAN_OK) continue; /* known when the plan was made */
    notify(sampler, index, c);
    int result = try_cell(sampler, index, c, &findings);
    if (result < 0) return result;
  }
  cut_pass(run, group, &findings);
  group->passes = choose_passes(group, &findings, step_ns);
  uint64_t elapsed = round_elapsed(run, index, group->passes);
  if (group->pass_bytes) elapsed = (uint64_t)(findings.slowest_ns * plan_group_k(group));
  group->baseline = first_good(group);
  unsigned k = plan_group_k(group);
  if (k == 0) return 0;
  group->round_cost_ns = (elapsed + findings.cost_ns) / k * (k + 1); /* the twin costs what an average cell does */
  return plan_add_twin(group, group->baseline);
}

uint64_t pilot_time_left(const struct plan *plan, uint64_t began_ns) {
  uint64_t spent = os_clock_ns() - began_ns;
  uint64_t left = plan->time_ns > spent ? plan->time_ns - spent : 0;
  return left - left / 20;
}

/* A smaller file needs more passes for a sample of the same length. */
static int fit_into_time(struct sampler *sampler, uint64_t began_ns, struct weir_reason *problem) {
  struct plan *plan = &sampler->run->plan;
  uint64_t *before = malloc((plan->group_count + 1) * sizeof *before);
  if (!before) return -ENOMEM;
  for (unsigned g = 0; g < plan->group_count; g++) before[g] = plan->groups[g].demand.size_bytes;
  bool resized = schedule_groups(plan, pilot_time_left(plan, began_ns));
  for (unsigned g = 0; g < plan->group_count; g++) {
    struct plan_group *group = &plan->groups[g];
    bool repeats = group->demand.cache == PLAN_WARM &&
                   (group->demand.direction == WEIR_READ || group->demand.target == WEIR_TARGET_OVERWRITE);
    if (repeats && group->demand.size_bytes && !group->loops) group->passes *= before[g] / group->demand.size_bytes;
    if (group->pass_bytes >= group->demand.size_bytes) group->pass_bytes = 0;
  }
  free(before);
  /* where cells do not share, twins have come and failed ones are gone */
  return resized || plan->private_copies ? sampler_layout(sampler, problem) : 0;
}

int pilot_run(struct sampler *sampler, uint64_t began_ns, struct weir_reason *problem) {
  struct run *run = sampler->run;
  for (unsigned g = 0; g < run->plan.group_count; g++) {
    int result = try_group(sampler, g, run->floors.clock_step_ns);
    if (result < 0 && result != -EINTR && !problem->text[0])
      snprintf(problem->text, sizeof problem->text, "%s: %s", run->plan.groups[g].id, strerror(-result));
    if (result < 0) return result;
  }
  victim_release(&sampler->victim); /* the rounds have the cache to themselves */
  int result = fit_into_time(sampler, began_ns, problem);
  schedule_rounds(&run->plan, pilot_time_left(&run->plan, began_ns));
  sampler->plan_is_stale = true;
  return result;
}
