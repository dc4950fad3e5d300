/*
 * measure.c - the run: floors, pilot, then rounds of samples in fresh random orders. The only loop that decides what is
 * measured when; it prints nothing and computes no statistic.
 */
#include "measure/measure.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "measure/floors.h"
#include "measure/limits.h"
#include "measure/memory.h"
#include "measure/pilot.h"
#include "measure/sampler.h"
#include "measure/watch.h"

struct progress { size_t done, total; uint64_t began_ns, rounds_began_ns; };

static void notify(const struct sampler *sampler, const struct measure_event *event) {
  const struct measure_observer *observer = &sampler->options->observer;
  if (observer->event) observer->event(observer->context, event);
}

static const struct weir_method *find_null(const struct weir_method *const *methods) {
  for (; methods && *methods; methods++)
    if (strcmp((*methods)->name, "null") == 0) return *methods;
  return NULL;
}

/* ---- rounds ----------------------------------------------------------------------------------------------------------- */

static size_t samples_of_round(const struct plan *plan, unsigned round) {
  size_t count = 0;
  for (unsigned g = 0; g < plan->group_count; g++) {
    const struct plan_group *group = &plan->groups[g];
    if (group->dropped || group->rounds == 0 || round > group->rounds) continue;
    for (unsigned c = 0; c < group->cell_count; c++) count += group->cells[c].status == PLAN_OK;
  }
  return count;
}

static unsigned rounds_of(const struct plan *plan) {
  unsigned rounds = 0;
  for (unsigned g = 0; g < plan->group_count; g++)
    if (!plan->groups[g].dropped && plan->groups[g].rounds > rounds) rounds = plan->groups[g].rounds;
  return rounds;
}

static void tell_sample(const struct sampler *sampler, const struct sample *sample, struct progress *progress, unsigned rounds) {
  uint64_t now = os_clock_ns(), spent = now - progress->rounds_began_ns;
  struct measure_event event = {
      .kind = MEASURE_SAMPLE, .run = sampler->run, .group = sample->group, .cell = sample->cell,
      .round = (unsigned)sample->round, .rounds = rounds, .done = ++progress->done, .total = progress->total,
      .elapsed_ns = now - progress->began_ns,
      .left_ns = progress->done ? (uint64_t)((double)spent / (double)progress->done * (double)(progress->total - progress->done)) : 0};
  notify(sampler, &event);
}

/* A cell that failed once is not tried again: its row tells what happened, and a crash costs time. */
static void put_out(struct plan_cell *cell, const char *reason) {
  cell->status = PLAN_FAILED;
  snprintf(cell->reason, sizeof cell->reason, "%s", reason);
}

/* What could be done in the pilot no longer can: rights or free memory have changed. Nothing was measured. */
static int put_unavailable(struct plan_cell *cell, const struct weir_reason *reason) {
  cell->status = PLAN_UNAVAILABLE;
  snprintf(cell->reason, sizeof cell->reason, "%s", reason->text);
  snprintf(cell->remedy, sizeof cell->remedy, "%s", reason->remedy);
  return 1;
}

/*
 * A warm sample that had to go to the device: the system took pages out after they had been checked. The rule looks at the
 * state alone, never at the time, so that it cannot prefer one result to another.
 */
static bool lost_its_warmth(const struct plan_group *group, const struct sample *sample) {
  const struct plan_demand *demand = &group->demand;
  if (demand->direction != WEIR_READ || demand->cache != PLAN_WARM || sample->status != RUN_OK) return false;
  if (group->cells[sample->cell].capabilities & WEIR_CAP_DIRECT) return false;
  return !(sample->flags & (RUN_NOT_WARM | RUN_PARTIAL)) && sample->device_read_bytes > 0;
}

/* 0: taken; 1: the cell is out without a sample; negative: the run cannot go on. */
static int one_sample(struct sampler *sampler, const struct sampler_wish *wish, struct sample *sample) {
  struct run *run = sampler->run;
  struct weir_reason unavailable;
  struct plan_group *group = &run->plan.groups[wish->group];
  int result = 0;
  struct sampler_wish now = *wish;
  for (unsigned tries = 3; tries > 0 && result == 0; tries--) {
    result = sampler_take(sampler, &now, sample, &unavailable);
    now.predecessor = (int32_t)wish->cell;
    if (result == 0 && unavailable.text[0]) return put_unavailable(&group->cells[wish->cell], &unavailable);
    bool again = result == 0 && tries > 1 && lost_its_warmth(group, sample);
    if (again) sample->flags |= RUN_RETAKEN;
    if (result == 0) result = run_add_sample(run, sample);
    if (!again) break;
  }
  if (result == 0 && sample->status == RUN_FAILED) put_out(&group->cells[wish->cell], sample->reason);
  return result;
}

static int group_round(struct sampler *sampler, unsigned group, unsigned round, struct progress *progress, unsigned rounds) {
  struct plan_group *g = &sampler->run->plan.groups[group];
  uint32_t *order = malloc((g->cell_count + 1) * sizeof *order);
  if (!order) return -ENOMEM;
  plan_round_order(&sampler->run->plan, group, round, order);
  int result = 0;
  int32_t predecessor = -1, position = 0;
  for (unsigned i = 0; i < g->cell_count && result == 0; i++) {
    struct sample sample;
    struct sampler_wish wish = {.group = group, .cell = order[i], .round = (int32_t)round, .position = position,
                                .predecessor = predecessor, .flags = round == 0 ? RUN_BURN_IN : 0};
    if (g->cells[order[i]].status != PLAN_OK) continue;
    if (*sampler->options->interrupted) result = -EINTR;
    if (result == 0) result = one_sample(sampler, &wish, &sample);
    if (result == 0) tell_sample(sampler, &sample, progress, rounds);
    if (result == 1) result = 0;
    predecessor = (int32_t)order[i];
    position++;
  }
  free(order);
  return result;
}

/* Samples reach the run file between rounds, never between two samples that are compared. */
static void stream_from(const struct sampler *sampler, size_t first, size_t first_round) {
  FILE *stream = sampler->options->stream;
  const struct run *run = sampler->run;
  if (!stream) return;
  for (size_t i = first; i < run->sample_count; i++) run_write_sample(run, &run->samples[i], stream);
  for (size_t i = first_round; i < run->round_count; i++) run_write_round(run, &run->rounds[i], stream);
  fflush(stream);
}

static int watched_round(struct sampler *sampler, struct watch *watch, unsigned group, unsigned round,
                         struct progress *progress) {
  struct run_round record = {.group = group, .round = (int32_t)round};
  const uint64_t began = os_clock_ns();
  watch_begin(watch, &record);
  const int result = group_round(sampler, group, round, progress, rounds_of(&sampler->run->plan));
  watch_end(watch, &record);
  if (round == 0) sampler->run->plan.groups[group].round_cost_ns = os_clock_ns() - began - record.waited_ns;
  const int added = run_add_round(sampler->run, &record);
  return result < 0 ? result : added;
}

/* Nothing is left to measure where all have failed. */
static bool has_cells(const struct plan_group *group) {
  for (unsigned c = 0; c < group->cell_count; c++)
    if (group->cells[c].status == PLAN_OK) return true;
  return false;
}

static int one_round(struct sampler *sampler, struct watch *watch, unsigned round, struct progress *progress) {
  const struct plan *plan = &sampler->run->plan;
  const size_t first = sampler->run->sample_count, first_round = sampler->run->round_count;
  int result = 0;
  for (unsigned g = 0; g < plan->group_count && result == 0; g++) {
    const struct plan_group *group = &plan->groups[g];
    if (group->dropped || group->rounds == 0 || round > group->rounds || !has_cells(group)) continue;
    result = watched_round(sampler, watch, g, round, progress);
  }
  stream_from(sampler, first, first_round);
  return result;
}

static void count_samples(const struct plan *plan, struct progress *progress) {
  unsigned rounds = rounds_of(plan);
  progress->total = 0;
  for (unsigned round = 0; rounds > 0 && round <= rounds; round++) progress->total += samples_of_round(plan, round);
}

/* The burn-in round tells what a round really costs; with that the number of rounds is settled. */
static int all_rounds(struct sampler *sampler, struct watch *watch, struct progress *progress) {
  struct plan *plan = &sampler->run->plan;
  if (rounds_of(plan) == 0) return 0;
  progress->rounds_began_ns = os_clock_ns();
  count_samples(plan, progress);
  int result = one_round(sampler, watch, 0, progress);
  if (result < 0) return result;
  schedule_rounds(plan, pilot_time_left(plan, progress->began_ns));
  count_samples(plan, progress);
  if (sampler->options->stream) run_write_found(sampler->run, sampler->options->stream);
  for (unsigned round = 1; round <= rounds_of(plan) && result == 0; round++) result = one_round(sampler, watch, round, progress);
  return result;
}

/* ---- what the samples say about themselves ----------------------------------------------------------------------------- */

/* More than a twentieth of what the sample itself made the device move; journals and logs stay below that. */
static bool has_company(const struct sample *sample) {
  return sample->device_read_bytes > 0 && sample->foreign_bytes > sample->device_read_bytes / 20 + 65536;
}

/* Files in memory are always there; W04 says so. */
static bool wants_cold(const struct run *run, const struct sample *sample) {
  const struct plan_group *group = &run->plan.groups[sample->group];
  char name[48] = "file.ram_backed";
  if (!run->plan.file) snprintf(name, sizeof name, "place.%u.ram_backed", group->cells[sample->cell].place);
  const char *in_memory = run_fact_text(run, name);
  return group->demand.cache == PLAN_COLD && !(in_memory && strcmp(in_memory, "1") == 0);
}

static void warn_of_flags(struct run *run) {
  size_t total = 0, wanted_cold = 0, not_cold = 0, not_warm = 0, unsettled = 0, foreign = 0;
  for (size_t i = 0; i < run->sample_count; i++) {
    uint32_t flags = run->samples[i].flags;
    if (flags & (RUN_PILOT | RUN_BURN_IN)) continue;
    total++;
    bool cold = wants_cold(run, &run->samples[i]);
    wanted_cold += cold;
    not_cold += cold && (flags & RUN_NOT_COLD) != 0;
    not_warm += (flags & RUN_NOT_WARM) != 0;
    unsettled += (flags & RUN_UNSETTLED) != 0;
    foreign += has_company(&run->samples[i]);
  }
  if (not_cold)
    run_warn(run, "W05",
             run->plan.flush == PLAN_FLUSH_FILE ? "reading a second file empties no cache that holds both; use --flush=dontneed"
                                                : "close other programs that use the file; as root, --flush=drop",
             "%zu of %zu samples wanted a cold file, but 1 %% or more of it stayed in the cache", not_cold, wanted_cold);
  if (not_warm)
    run_warn(run, "W07", "use a smaller --size", "%zu of %zu samples wanted a warm file, but it did not stay in the cache",
             not_warm, total);
  if (unsettled)
    run_warn(run, "W08", "measure when the disk is idle",
             "%zu of %zu samples left data that the system had not written back 5 s later: what came next was disturbed",
             unsettled, total);
  if (foreign)
    run_warn(run, "W09", "measure when nothing else uses the disk",
             "other programs used the device during %zu of %zu samples; kept", foreign, total);
}

static void warn_of_noise(struct run *run) {
  uint32_t *noise = calloc(run->round_count + 1, sizeof *noise);
  unsigned all = 0, noisy = 0, counts[RUN_NOISE_KINDS] = {0};
  char why[160] = "";
  if (noise && run_judge_rounds(run, noise) == 0)
    for (size_t i = 0; i < run->round_count; i++) {
      if (run->rounds[i].round < 1) continue;
      all++;
      noisy += noise[i] != 0;
      for (unsigned kind = 0; kind < RUN_NOISE_KINDS; kind++) counts[kind] += noise[i] >> kind & 1u;
    }
  free(noise);
  for (unsigned kind = 0; kind < RUN_NOISE_KINDS; kind++) {
    const size_t used = strlen(why);
    if (counts[kind]) snprintf(why + used, sizeof why - used, "%s%s %u", used ? ", " : "", run_noise_words[kind], counts[kind]);
  }
  if (noisy)
    run_warn(run, "W20", "measure when the machine does nothing else, or say --wait-quiet",
             "%u of %u rounds were noisy (%s); they are kept", noisy, all, why);
}

static uint64_t waited_ns(const struct run *run) {
  uint64_t sum = 0;
  for (size_t i = 0; i < run->round_count; i++) sum += run->rounds[i].waited_ns;
  return sum;
}

/* The rounds that it takes to tell anything apart come before the time. Waiting for quiet does not count. */
static void warn_of_length(struct run *run, uint64_t elapsed_ns) {
  const struct plan *plan = &run->plan;
  char took[UNITS_TEXT_MAX], asked[UNITS_TEXT_MAX];
  if ((plan->rounds == 0 || plan->fill_time) && elapsed_ns > plan->time_ns + plan->time_ns / 10)
    run_warn(run, "W16", "give more --time, or name fewer methods with -m",
             "the run took %s instead of %s: trying all methods and the fewest rounds that tell something apart took so long",
             units_duration_text(elapsed_ns, took), units_duration_text(plan->time_ns, asked));
}

/* ---- the run ------------------------------------------------------------------------------------------------------------ */

static void write_start(struct run *run, FILE *stream) {
  if (!stream) return;
  run_write_header(run, stream);
  run_write_floors(run, stream);
  fflush(stream);
}

static void tell_plan(struct sampler *sampler, uint64_t began) {
  struct plan *plan = &sampler->run->plan;
  uint64_t estimate = 0;
  for (unsigned g = 0; g < plan->group_count; g++)
    if (!plan->groups[g].dropped) estimate += plan->groups[g].round_cost_ns * (plan->groups[g].rounds + 1);
  if (sampler->options->stream) run_write_found(sampler->run, sampler->options->stream);
  const struct measure_event event = {.kind = MEASURE_PLANNED, .run = sampler->run, .rounds = rounds_of(plan),
                                      .elapsed_ns = os_clock_ns() - began, .left_ns = estimate};
  notify(sampler, &event);
}

/* They need the scratch directories, so they come after the floors. */
static int measure_limits(struct sampler *sampler) {
  const int result = limits_measure(sampler->run, &sampler->scratch, &sampler->content, sampler->options);
  if (sampler->options->stream) run_write_limits(sampler->run, sampler->options->stream);
  return result;
}

static int measure_cells(struct sampler *sampler, uint64_t began, struct weir_reason *problem) {
  struct progress progress = {.began_ns = began};
  int result = measure_limits(sampler);
  if (result == 0) result = pilot_run(sampler, began, problem);
  if (result < 0) {
    if (sampler->options->stream) run_write_found(sampler->run, sampler->options->stream);
    return result;
  }
  tell_plan(sampler, began);
  struct watch watch;
  watch_open(&watch, sampler->options);
  result = all_rounds(sampler, &watch, &progress);
  watch_close(&watch);
  warn_of_flags(sampler->run);
  warn_of_noise(sampler->run);
  if (result == 0 || result == -EINTR) return result;
  if (!problem->text[0]) snprintf(problem->text, sizeof problem->text, "the run cannot go on: %s", strerror(-result));
  run_warn(sampler->run, "W10", "", "%s; this is what was measured before", problem->text);
  return result;
}

static int note_limit(struct run *run, uint64_t limit) {
  char size[UNITS_TEXT_MAX];
  if (limit == 0) return 0;
  run_warn(run, "W17", "", "the run had %s of memory, page cache included (--memory): larger files do not stay in the cache",
           units_size_text((double)limit, size));
  return run_add_number(run, "memory_limit_bytes", (int64_t)limit);
}

/* The floors want more memory than a limit may leave, and say what the machine can do: they stand outside. */
static int measure_within(struct run *run, const struct measure_options *options, const struct memory *memory,
                          struct weir_reason *problem) {
  struct sampler sampler;
  uint64_t began = os_clock_ns();
  const struct measure_event floors = {.kind = MEASURE_FLOORS, .run = run}, done = {.kind = MEASURE_DONE, .run = run};
  int result = measure_environment(run);
  if (result == 0) result = note_limit(run, options->memory_limit);
  if (result == 0) result = layout_fits(run, problem);
  if (result < 0) return result;
  if (options->observer.event) options->observer.event(options->observer.context, &floors);
  floors_measure(&run->floors, find_null(options->methods));
  write_start(run, options->stream);
  result = memory_enter(memory, problem);
  if (result == 0) result = sampler_open(&sampler, run, options, problem);
  if (result == 0) {
    result = measure_cells(&sampler, began, problem);
    sampler_close(&sampler);
  }
  warn_of_length(run, os_clock_ns() - began - waited_ns(run));
  run->interrupted = result < 0 || *options->interrupted > 0;
  if (options->stream) run_write_trailer(run, options->stream);
  if (options->observer.event) options->observer.event(options->observer.context, &done);
  return result;
}

int measure_run(struct run *run, const struct measure_options *options, struct weir_reason *problem) {
  struct memory memory;
  *problem = (struct weir_reason){0};
  int result = memory_open(&memory, options->memory_limit, problem);
  if (result == 0) result = measure_within(run, options, &memory, problem);
  memory_close(&memory);
  return result;
}

/* ---- availability alone -------------------------------------------------------------------------------------------------- */

static int probe_cell(struct sampler *sampler, unsigned group, unsigned index) {
  struct plan_cell *cell = &sampler->run->plan.groups[group].cells[index];
  const struct sampler_wish wish = {.group = group, .cell = index, .round = -1, .flags = RUN_PILOT, .verify = true,
                                    .probe = true, .keep_state = true};
  struct sample sample;
  struct weir_reason unavailable;
  int result = sampler_take(sampler, &wish, &sample, &unavailable);
  if (result < 0) return result;
  if (unavailable.text[0]) {
    put_unavailable(cell, &unavailable);
  } else if (sample.status == RUN_FAILED) {
    put_out(cell, sample.reason);
  }
  return 0;
}

/* One verified pass over a small file tells as much about availability as one over a large file. */
static int probe_all(struct run *run, const struct measure_options *options, struct weir_reason *problem) {
  struct plan *plan = &run->plan;
  struct sampler sampler;
  const uint64_t small = 4 * 1024 * 1024;
  uint64_t *sizes = malloc((plan->group_count + 1) * sizeof *sizes);
  if (!sizes) return -ENOMEM;
  for (unsigned g = 0; g < plan->group_count; g++) {
    sizes[g] = plan->groups[g].demand.size_bytes;
    if (sizes[g] > small) plan->groups[g].demand.size_bytes = small;
  }
  int result = sampler_open(&sampler, run, options, problem);
  for (unsigned g = 0; g < plan->group_count && result == 0; g++)
    for (unsigned c = 0; c < plan->groups[g].cell_count && result == 0; c++) {
      if (plan->groups[g].cells[c].status != PLAN_OK) continue;
      result = *options->interrupted ? -EINTR : probe_cell(&sampler, g, c);
    }
  sampler_close(&sampler);
  for (unsigned g = 0; g < plan->group_count; g++) plan->groups[g].demand.size_bytes = sizes[g];
  free(sizes);
  return result;
}

int measure_probe(struct run *run, const struct measure_options *options, struct weir_reason *problem) {
  struct memory memory;
  *problem = (struct weir_reason){0};
  int result = memory_open(&memory, options->memory_limit, problem);
  if (result == 0) result = memory_enter(&memory, problem);
  if (result == 0) result = probe_all(run, options, problem);
  memory_close(&memory);
  return result;
}

/* ---- each once, all bytes compared -------------------------------------------------------------------------------------- */

#define CHECK_CAP_NS UINT64_C(4000000000)

static int check_cell(struct sampler *sampler, unsigned group, unsigned index, bool verify) {
  struct plan_cell *cell = &sampler->run->plan.groups[group].cells[index];
  const struct sampler_wish wish = {.group = group, .cell = index, .round = -1, .predecessor = -1, .flags = RUN_PILOT,
                                    .verify = verify, .probe = verify, .cap_ns = CHECK_CAP_NS};
  struct sample sample;
  struct weir_reason unavailable;
  int result = sampler_take(sampler, &wish, &sample, &unavailable);
  if (result < 0) return result;
  if (unavailable.text[0]) {
    put_unavailable(cell, &unavailable);
    return 0;
  }
  if (sample.status == RUN_FAILED) put_out(cell, sample.reason);
  return run_add_sample(sampler->run, &sample);
}

static int check_group(struct sampler *sampler, unsigned index) {
  const struct plan_group *group = &sampler->run->plan.groups[index];
  int result = 0;
  for (unsigned c = 0; c < group->cell_count && result == 0; c++) {
    const struct plan_cell *cell = &group->cells[c];
    if (cell->status != PLAN_OK) continue;
    result = *sampler->options->interrupted ? -EINTR : check_cell(sampler, index, c, true);
    bool twice = group->demand.direction != WEIR_READ && (cell->capabilities & WEIR_CAP_DIRECT);
    if (result == 0 && twice && cell->status == PLAN_OK) result = check_cell(sampler, index, c, false);
  }
  return result;
}

int measure_check(struct run *run, const struct measure_options *options, struct weir_reason *problem) {
  struct sampler sampler;
  *problem = (struct weir_reason){0};
  int result = sampler_open(&sampler, run, options, problem);
  if (result < 0) return result;
  for (unsigned g = 0; g < run->plan.group_count && result == 0; g++) result = check_group(&sampler, g);
  sampler_close(&sampler);
  return result;
}

int measure_one(struct run *run, const struct measure_options *options, struct weir_reason *problem) {
  struct sampler sampler;
  struct sample sample;
  struct weir_reason unavailable;
  const struct sampler_wish wish = {.round = -1, .predecessor = -1, .flags = RUN_PILOT, .probe = true};
  *problem = (struct weir_reason){0};
  int result = sampler_open(&sampler, run, options, problem);
  if (result < 0) return result;
  result = sampler_take(&sampler, &wish, &sample, &unavailable);
  if (result == 0 && unavailable.text[0]) result = -EOPNOTSUPP;
  if (result == -EOPNOTSUPP) *problem = unavailable;
  if (result == 0 && sample.status == RUN_FAILED) snprintf(problem->text, sizeof problem->text, "%s", sample.reason);
  if (*options->interrupted) result = -EINTR;
  sampler_close(&sampler);
  return result;
}
