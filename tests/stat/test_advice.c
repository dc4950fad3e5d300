/* test_advice.c - what follows from groups made by hand, with times that are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "made_run.h"

enum { GROUPS_MAX = 4, CELLS = 5, ROUNDS = 20 };
#define KIB UINT64_C(1024)

/* Cell 0 is the baseline, 1 to 3 one method with three blocks, 4 another method. */
static void make_group(struct plan_group *group, unsigned index) {
  static const char *const names[CELLS] = {"a/plain", "b/blocks", "b/blocks", "b/blocks", "c/other"};
  char id[32];
  snprintf(id, sizeof id, "g%u", index);
  *group = (struct plan_group){.id = made_text(id), .title = made_text("made"), .cell_count = CELLS, .passes = 1};
  group->demand = (struct plan_demand){.consumer = WEIR_CONSUMER_TOUCH, .size_bytes = MADE_BYTES, .coverage = 1};
  group->cells = made_room(CELLS, sizeof *group->cells);
  for (unsigned c = 0; c < CELLS; c++) {
    struct plan_cell *cell = &group->cells[c];
    snprintf(cell->method, sizeof cell->method, "%s", names[c]);
    snprintf(id, sizeof id, "%s[%u]", names[c], c);
    cell->id = made_text(id);
    cell->threads = 1;
    if (c < 1 || c > 3) continue;
    cell->param_count = 1;
    cell->params[0] = (struct plan_param){.name = "block", .value = 4 * KIB << (2 * c)};
    snprintf(cell->params[0].text, sizeof cell->params[0].text, "%uKiB", 4u << (2 * c));
  }
}

static struct run make_run(const double times_ms[][CELLS], unsigned groups, unsigned rounds) {
  struct run run = {.plan = {.margin = 0.03, .group_count = groups}};
  struct random_state random = random_start(7, 7);
  run.plan.suite = made_text("");
  run.plan.groups = made_room(groups, sizeof *run.plan.groups);
  for (unsigned g = 0; g < groups; g++) make_group(&run.plan.groups[g], g);
  for (unsigned round = 1; round <= rounds; round++)
    for (unsigned g = 0; g < groups; g++)
      for (unsigned c = 0; c < CELLS; c++) {
        struct sample sample = made_sample(c, (int)round, times_ms[g][c] * 1e6 * (1 + 0.002 * random_normal(&random)));
        sample.group = g;
        sample.peak_bytes = 1048576 * (c + 1);
        sample.minor_faults = 1000 * c;
        made_add(&run, sample);
      }
  return run;
}

static void release(struct run *run, struct summary *summary) {
  stat_release(summary);
  run_release(run);
}

static void the_lead_its_block_and_its_cost_are_told(void **state) {
  (void)state;
  const double times_ms[][CELLS] = {{10, 8, 5, 5, 9}};
  struct run run = make_run(times_ms, 1, ROUNDS);
  for (size_t i = 0; i < run.sample_count; i++) run.samples[i].cpu_ns /= run.samples[i].cell == 2 ? 2 : 1;
  struct summary summary = made_summary(&run);
  const struct stat_advice *advice = &summary.groups[0].advice;
  assert_non_null(advice->lead);
  assert_string_equal(advice->lead->plan->method, "b/blocks");
  assert_false(advice->keeps_baseline);
  assert_string_equal(advice->block.least->text, "16KiB");
  assert_string_equal(advice->block.enough->text, "64KiB");
  assert_string_equal(advice->block.most->text, "256KiB");
  assert_null(advice->block.beats_from); /* all of them are faster than the baseline */
  assert_null(advice->depth.least);
  assert_true(advice->cpu_ratio > 0.2 && advice->cpu_ratio < 0.6);
  assert_true(advice->knows_memory && advice->extra_bytes >= 1048576);
  assert_true(advice->extra_faults >= 1000);
  assert_int_equal(advice->change_count, 0);
  assert_string_equal(advice->not_measured[0], "cold");
  assert_string_equal(advice->not_measured[1], "other sizes");
  assert_null(advice->not_measured[2]);
  release(&run, &summary);
}

static void the_block_from_which_on_it_pays_is_told(void **state) {
  (void)state;
  const double times_ms[][CELLS] = {{10, 12, 8, 5, 10}};
  struct run run = make_run(times_ms, 1, ROUNDS);
  struct summary summary = made_summary(&run);
  assert_string_equal(summary.groups[0].advice.block.beats_from->text, "64KiB");
  assert_string_equal(summary.groups[0].advice.block.enough->text, "256KiB");
  release(&run, &summary);
}

static void a_baseline_that_none_beats_stays(void **state) {
  (void)state;
  const double times_ms[][CELLS] = {{5, 8, 8, 8, 5}};
  struct run run = make_run(times_ms, 1, ROUNDS);
  struct summary summary = made_summary(&run);
  const struct stat_advice *advice = &summary.groups[0].advice;
  assert_true(advice->keeps_baseline);
  assert_ptr_equal(advice->lead, &summary.groups[0].cells[0]);
  assert_int_equal(advice->tied, 1);
  release(&run, &summary);
}

static void nothing_is_advised_without_a_claim(void **state) {
  (void)state;
  const double times_ms[][CELLS] = {{10, 8, 5, 5, 9}};
  struct run run = make_run(times_ms, 1, 3);
  struct summary summary = made_summary(&run);
  assert_null(summary.groups[0].advice.lead);
  release(&run, &summary);
}

/* Sizes 1, 4, 16 and 64 MiB, in another order: the lead of 16 MiB beats the baseline from 4 MiB on and leads no more at 64.
 */
static void the_crossing_is_between_sizes_that_were_measured(void **state) {
  (void)state;
  static const uint64_t sizes[] = {16, 1, 64, 4};
  const double times_ms[][CELLS] = {{10, 8, 5, 5, 9}, {10, 12, 12, 12, 12}, {10, 8, 5, 5, 3}, {10, 9, 8, 8, 9}};
  struct run run = make_run(times_ms, 4, ROUNDS);
  for (unsigned g = 0; g < 4; g++) run.plan.groups[g].demand.size_bytes = sizes[g] * MADE_BYTES;
  struct summary summary = made_summary(&run);
  const struct stat_crossing *size = &summary.groups[0].advice.size;
  assert_int_equal(size->measured, 4);
  assert_int_equal(size->least, MADE_BYTES);
  assert_int_equal(size->most, 64 * MADE_BYTES);
  assert_int_equal(size->from, 4 * MADE_BYTES);
  assert_int_equal(size->below, MADE_BYTES);
  assert_int_equal(size->below_verdict, STAT_SLOWER);
  assert_int_equal(size->above, 64 * MADE_BYTES);
  assert_string_equal(size->above_lead->plan->method, "c/other");
  assert_int_equal(summary.groups[0].advice.request.measured, 0); /* requests are not fixed here */
  assert_string_equal(summary.groups[0].advice.not_measured[0], "cold");
  assert_null(summary.groups[0].advice.not_measured[1]);
  release(&run, &summary);
}

static void other_uses_of_the_run_tell_what_would_change(void **state) {
  (void)state;
  const double times_ms[][CELLS] = {{10, 8, 5, 5, 9}, {10, 8, 8, 8, 4}, {10, 8, 5, 5, 9}, {10, 8, 5, 5, 9}};
  struct run run = make_run(times_ms, 4, ROUNDS);
  run.plan.groups[1].demand.cache = PLAN_COLD;
  run.plan.groups[1].demand.size_bytes *= 2; /* sizes are shrunk to the time there is; that does not count */
  run.plan.groups[2].demand.access = WEIR_RANDOM;
  run.plan.groups[2].demand.request_bytes = 4096;
  run.plan.groups[3].demand.access = WEIR_RANDOM; /* two words: no neighbour */
  run.plan.groups[3].demand.cache = PLAN_COLD;
  run.plan.flush = PLAN_FLUSH_FILE; /* takes every state for cold */
  struct summary summary = made_summary(&run);
  const struct stat_advice *advice = &summary.groups[0].advice;
  assert_int_equal(advice->change_count, 2);
  assert_string_equal(advice->changes[0].word, "cold");
  assert_string_equal(advice->changes[0].lead->plan->method, "c/other");
  assert_false(advice->changes[0].holds);
  assert_string_equal(advice->changes[1].word, "random");
  assert_true(advice->changes[1].holds);
  assert_string_equal(advice->not_measured[0], "other sizes");
  release(&run, &summary);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_lead_its_block_and_its_cost_are_told),
      cmocka_unit_test(the_block_from_which_on_it_pays_is_told),
      cmocka_unit_test(a_baseline_that_none_beats_stays),
      cmocka_unit_test(nothing_is_advised_without_a_claim),
      cmocka_unit_test(the_crossing_is_between_sizes_that_were_measured),
      cmocka_unit_test(other_uses_of_the_run_tell_what_would_change),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
