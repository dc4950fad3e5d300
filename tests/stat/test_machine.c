/*
 * test_machine.c - what rounds tell of the machine, whether writers had come to rest, and what cells cost.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "made_run.h"

#define MS 1e6
#define assert_near(a, b, e) assert_true(fabs((a) - (b)) <= (e))

static void finish(struct summary *summary, struct run *run) {
  stat_release(summary);
  run_release(run);
}

static void add_round(struct run *run, int32_t number, double first_ns, double last_ns) {
  const struct run_round round = {.round = number,
                                  .start_ns = (uint64_t)number,
                                  .elapsed_ns = 1000000,
                                  .anchor_ns = {(uint64_t)first_ns, (uint64_t)last_ns},
                                  .steal_ns = 20000,
                                  .cpu_stall_ns = -1,
                                  .io_stall_ns = 100000,
                                  .processor_hz = 2000000000 + number,
                                  .waited_ns = 5};
  if (run_add_round(run, &round) != 0) abort();
}

/* ---- the machine ---- */

static void a_steady_machine_has_no_drift(void **state) {
  struct run run = made_run(1);
  for (int32_t i = 0; i <= 20; i++) add_round(&run, i, 5 * MS, 5 * MS);
  struct summary summary = made_summary(&run);
  const struct stat_machine *machine = &summary.machine;
  assert_int_equal(machine->rounds, 20); /* burn-in is not in it */
  assert_int_equal(machine->noisy, 0);
  assert_near(machine->control_ns, 5 * MS, 1);
  assert_near(machine->control_noise, 0, 1e-12);
  assert_true(machine->drift_known);
  assert_near(machine->drift, 0, 1e-12);
  assert_near(machine->steal, 0.02, 1e-12); /* nobody says how many processors: one */
  assert_near(machine->cpu_stall, -1, 0);
  assert_near(machine->io_stall, 0.1, 1e-12);
  assert_near(machine->slowest_hz, 2000000001, 0);
  assert_near(machine->fastest_hz, 2000000020, 0);
  assert_near(machine->waited_ns, 100, 0);
  assert_int_equal(summary.groups[0].machine.rounds, 20);
  stat_release(&summary);
  assert_int_equal(run_add_number(&run, "cpus", 4), 0);
  summary = made_summary(&run);
  assert_near(summary.machine.steal, 0.005, 1e-12);
  finish(&summary, &run);
}

/* 1 % slower each round, with outliers that no line through the mean would survive. */
static void drift_is_found_and_outliers_do_not_turn_it(void **state) {
  struct run run = made_run(1);
  for (int32_t i = 1; i <= 21; i++) {
    const double ns = 5 * MS * pow(1.01, i);
    add_round(&run, i, i % 7 == 0 ? 4 * ns : ns, i % 7 == 0 ? 4 * ns : ns);
  }
  struct summary summary = made_summary(&run);
  assert_near(summary.machine.drift, pow(1.01, 20) - 1, 0.004);
  assert_int_equal(summary.machine.noisy_by[0], 3); /* control */
  for (size_t i = 0; i < run.round_count; i++)
    assert_int_equal((summary.noise[i] & RUN_NOISE_CONTROL) != 0, run.rounds[i].round % 7 == 0);
  finish(&summary, &run);
}

static void noise_of_the_control_is_its_spread_within_rounds(void **state) {
  struct run run = made_run(1);
  struct random_state random = random_start(1, 1);
  for (int32_t i = 1; i <= 2000; i++) add_round(&run, i, 5 * MS, 5 * MS * exp(0.03 * random_normal(&random)));
  struct summary summary = made_summary(&run);
  assert_near(summary.machine.control_noise, 0.03, 0.003);
  assert_near(summary.machine.drift, 0, 0.02);
  finish(&summary, &run);
}

static void groups_are_told_apart(void **state) {
  struct run run = made_run(1);
  struct run_round other;
  for (int32_t i = 1; i <= 10; i++) add_round(&run, i, 5 * MS, 5 * MS);
  run.plan.groups = realloc(run.plan.groups, 2 * sizeof *run.plan.groups);
  if (!run.plan.groups) abort();
  run.plan.groups[1] = (struct plan_group){.id = made_text("h"), .title = made_text("other")};
  run.plan.group_count = 2;
  for (int32_t i = 1; i <= 10; i++) {
    add_round(&run, i, 10 * MS, 10 * MS);
    run.rounds[run.round_count - 1].group = 1;
  }
  other = run.rounds[run.round_count - 1];
  assert_int_equal(other.group, 1);
  struct summary summary = made_summary(&run);
  assert_int_equal(summary.machine.rounds, 20);
  assert_near(summary.groups[0].machine.control_ns, 5 * MS, 1);
  assert_near(summary.groups[1].machine.control_ns, 10 * MS, 1);
  finish(&summary, &run);
}

static void what_was_not_measured_is_unknown(void **state) {
  struct run run = made_run(1);
  struct summary summary = made_summary(&run);
  assert_int_equal(summary.machine.rounds, 0);
  assert_near(summary.machine.control_noise, -1, 0);
  assert_near(summary.machine.steal, -1, 0);
  assert_false(summary.machine.drift_known);
  stat_release(&summary);
  add_round(&run, 1, 0, 5 * MS); /* interrupted */
  summary = made_summary(&run);
  assert_int_equal(summary.machine.rounds, 1);
  assert_near(summary.machine.control_ns, 0, 0);
  assert_false(summary.machine.drift_known);
  finish(&summary, &run);
}

/* ---- writers ---- */

struct rest {
  enum weir_direction direction;
  double rates[8]; /* of the last rounds; 0 ends */
  enum stat_steadiness wanted;
};

static void the_last_rounds_of_writers_must_be_alike(void **state) {
  static const struct rest rests[] = {
      {WEIR_WRITE, {100, 100, 100, 100, 100}, STAT_STEADY},
      {WEIR_WRITE, {100, 100, 100, 100}, STAT_STEADINESS_UNKNOWN},
      {WEIR_WRITE, {900, 10, 100, 109, 100, 91, 100}, STAT_STEADY}, /* what was before is past */
      {WEIR_WRITE, {111, 90, 111, 90, 111}, STAT_NOT_STEADY},       /* by 21 % of the mean */
      {WEIR_WRITE, {109, 91, 109, 91, 109}, STAT_STEADY},           /* 18 %, and no way up or down */
      {WEIR_WRITE, {106, 103, 100, 97, 94}, STAT_NOT_STEADY},       /* 12 % in all, always down */
      {WEIR_WRITE, {94, 97, 100, 103, 106}, STAT_NOT_STEADY},
      {WEIR_WRITE, {104, 102, 100, 98, 96}, STAT_STEADY},
      {WEIR_MIXED, {100, 100, 200, 100, 100}, STAT_NOT_STEADY},
      {WEIR_READ, {100, 100, 200, 100, 100}, STAT_STEADINESS_UNKNOWN},
  };
  for (size_t i = 0; i < sizeof rests / sizeof *rests; i++) {
    struct run run = made_run(1);
    run.plan.groups[0].demand.direction = rests[i].direction;
    for (int r = 0; r < 8 && rests[i].rates[r] > 0; r++) made_time(&run, 0, r + 1, 1e9 / rests[i].rates[r]);
    struct summary summary = made_summary(&run);
    const struct stat_group *group = &summary.groups[0];
    if (group->cells[0].steadiness != rests[i].wanted) fail_msg("case %zu: %d", i, (int)group->cells[0].steadiness);
    assert_int_equal(group->steady, rests[i].wanted == STAT_STEADY);
    assert_int_equal(group->not_steady, rests[i].wanted == STAT_NOT_STEADY);
    finish(&summary, &run);
  }
}

/* ---- cost ---- */

static struct sample counting_pilot(uint64_t bytes, int64_t calls) {
  struct sample pilot = made_sample(0, -1, 5 * MS);
  pilot.flags = RUN_PILOT;
  pilot.bytes = bytes;
  pilot.allocations = pilot.allocated_bytes = pilot.victim_bytes = pilot.victim_lost_bytes = -1;
  pilot.system_calls = calls;
  return pilot;
}

static void add_costs(struct run *run) {
  for (int r = 1; r <= 6; r++) {
    struct sample sample = made_sample(0, r, 10 * MS);
    sample.passes = 2;
    sample.bytes = 2 * MADE_BYTES;
    sample.cpu_ns = 4 * MADE_BYTES;
    sample.cycles = 20 * (int64_t)MADE_BYTES;
    sample.instructions = r == 1 ? -1 : 10 * (int64_t)MADE_BYTES;
    sample.voluntary_switches = 8;
    sample.involuntary_switches = 2;
    sample.cache_before_bytes = (int64_t)MADE_BYTES;
    sample.cache_after_bytes = (int64_t)MADE_BYTES / 4;
    made_add(run, sample);
  }
}

static void costs_are_per_pass(void **state) {
  struct run run = made_run(1);
  made_add(&run, counting_pilot(MADE_BYTES, 18));
  add_costs(&run);
  struct summary summary = made_summary(&run);
  const struct stat_cell *cell = &summary.groups[0].cells[0];
  assert_near(cell->cpu_ns_per_byte, 2, 1e-12);
  assert_near(cell->cycles, 10.0 * MADE_BYTES, 1e-6);
  assert_near(cell->instructions, 5.0 * MADE_BYTES, 1e-6);
  assert_near(cell->voluntary_switches, 4, 1e-12);
  assert_near(cell->involuntary_switches, 1, 1e-12);
  assert_near(cell->system_calls, 18, 1e-12);
  assert_true(cell->cache_growth_known);
  assert_near(cell->cache_growth_bytes, -0.75 * MADE_BYTES, 1e-6); /* it was there, and went */
  assert_near(cell->evicted_share, -1, 0);
  finish(&summary, &run);
}

/* The pilot tried a file of twice the size. */
static void calls_grow_with_the_bytes_where_requests_have_a_size(void **state) {
  for (int whole = 0; whole < 2; whole++) {
    struct run run = made_run(1);
    run.plan.groups[0].demand.task = whole ? WEIR_TASK_WHOLE : WEIR_TASK_BLOCKS;
    made_add(&run, counting_pilot(2 * MADE_BYTES, 36));
    add_costs(&run);
    struct summary summary = made_summary(&run);
    assert_near(summary.groups[0].cells[0].system_calls, whole ? -1 : 18, 1e-9);
    finish(&summary, &run);
  }
}

static void what_was_evicted_is_a_share(void **state) {
  struct run run = made_run(1);
  struct sample pilot = counting_pilot(MADE_BYTES, -1);
  pilot.victim_bytes = 1000;
  pilot.victim_lost_bytes = 250;
  made_add(&run, pilot);
  add_costs(&run);
  struct summary summary = made_summary(&run);
  assert_near(summary.groups[0].cells[0].evicted_share, 0.25, 1e-12);
  assert_near(summary.groups[0].cells[0].system_calls, -1, 0);
  finish(&summary, &run);
}

static void what_no_sample_tells_is_unknown(void **state) {
  struct run run = made_run(1);
  for (int r = 1; r <= 6; r++) {
    struct sample sample = made_sample(0, r, 10 * MS);
    sample.cycles = sample.instructions = sample.cache_before_bytes = sample.cache_after_bytes = -1;
    made_add(&run, sample);
  }
  struct summary summary = made_summary(&run);
  const struct stat_cell *cell = &summary.groups[0].cells[0];
  assert_near(cell->cycles, -1, 0);
  assert_near(cell->instructions, -1, 0);
  assert_near(cell->system_calls, -1, 0);
  assert_false(cell->cache_growth_known);
  finish(&summary, &run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_steady_machine_has_no_drift),
      cmocka_unit_test(drift_is_found_and_outliers_do_not_turn_it),
      cmocka_unit_test(noise_of_the_control_is_its_spread_within_rounds),
      cmocka_unit_test(groups_are_told_apart),
      cmocka_unit_test(what_was_not_measured_is_unknown),
      cmocka_unit_test(the_last_rounds_of_writers_must_be_alike),
      cmocka_unit_test(costs_are_per_pass),
      cmocka_unit_test(calls_grow_with_the_bytes_where_requests_have_a_size),
      cmocka_unit_test(what_was_evicted_is_a_share),
      cmocka_unit_test(what_no_sample_tells_is_unknown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
