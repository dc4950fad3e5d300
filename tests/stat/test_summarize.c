/*
 * test_summarize.c - runs made by hand, with a truth that is known, and what the summary has to say of them.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "made_run.h"
#include "stat/exact.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define MS 1e6

static void assert_near(double got, double expected, double tolerance) {
  if (!(fabs(got - expected) <= tolerance)) fail_msg("%.17g is not %.17g", got, expected);
}

/* A small wobble that is different in every round and repeats nowhere. */
static double wobble(unsigned cell, int round) {
  struct random_state random = random_start(cell + 1, (uint64_t)round);
  return 1 + 0.004 * (random_unit(&random) - 0.5);
}

/* Every cell c takes times_ms[c] in rounds 1 ... rounds, within 0.2 %; all rounds drift together. */
static void add_rounds(struct run *run, const double *times_ms, int rounds) {
  for (int round = 1; round <= rounds; round++) {
    for (unsigned c = 0; c < run->plan.groups[0].cell_count; c++) {
      if (times_ms[c] > 0) made_time(run, c, round, times_ms[c] * MS * wobble(c, round) * (1 + 0.1 * round));
    }
  }
}

static void finish(struct summary *summary, struct run *run) {
  stat_release(summary);
  run_release(run);
}

/* ---- claims -------------------------------------------------------------------------------------------------------- */

static void clear_differences_are_called_and_ranked(void **state) {
  (void)state;
  struct run run = made_run(5);
  add_rounds(&run, (double[]){10, 5, 20, 10.05, 5}, 20);
  struct summary summary = made_summary(&run);
  const struct stat_group *group = &summary.groups[0];
  static const enum stat_verdict verdicts[] = {STAT_BASELINE, STAT_FASTER, STAT_SLOWER, STAT_SAME, STAT_FASTER};
  static const unsigned ranks[][2] = {{3, 3}, {1, 2}, {5, 5}, {4, 4}, {1, 2}}, last[] = {0, 3, 2};
  assert_int_equal(group->k, 5);
  assert_int_equal(group->rounds, 20);
  assert_int_equal(group->baseline, 0);
  assert_true(group->claims);
  assert_int_equal(group->best_count, 2);
  for (unsigned c = 0; c < 5; c++) {
    const struct stat_cell *cell = &group->cells[c];
    assert_int_equal(cell->n, 20);
    assert_int_equal(cell->verdict, verdicts[c]);
    assert_true(cell->ranked);
    assert_int_equal(cell->rank_low, ranks[c][0]);
    assert_int_equal(cell->rank_high, ranks[c][1]);
    assert_int_equal(cell->best, c == 1 || c == 4);
  }
  assert_near(group->cells[1].speed_ratio.median, 2, 0.01);
  assert_near(group->cells[2].speed_ratio.median, 0.5, 0.01);
  assert_int_equal(group->order_count, 5);
  for (unsigned i = 0; i < 3; i++) assert_int_equal(group->order[2 + i], last[i]);
  assert_false(summary.failed);
  assert_false(summary.inconclusive);
  finish(&summary, &run);
}

static void the_pair_matrix_mirrors_itself(void **state) {
  (void)state;
  struct run run = made_run(4);
  add_rounds(&run, (double[]){10, 5, 20, 11}, 20);
  struct summary summary = made_summary(&run);
  const struct stat_group *group = &summary.groups[0];
  for (unsigned i = 0; i < 4; i++) {
    for (unsigned j = 0; j < 4; j++) {
      const struct stat_interval *there = &group->pairs[i * 4 + j], *back = &group->pairs[j * 4 + i];
      assert_true(there->known && there->low <= there->median && there->median <= there->high);
      assert_near(there->median * back->median, 1, 1e-12);
      assert_near(there->low * back->high, 1, 1e-12);
    }
    assert_true(group->pairs[i * 4 + i].low == 1 && group->pairs[i * 4 + i].high == 1);
    assert_near(group->cells[i].speed_ratio.low, group->pairs[i].low, 0);
  }
  assert_near(group->pairs[2 * 4 + 1].median, 4, 0.02); /* cell 1 is four times as fast as cell 2 */
  finish(&summary, &run);
}

/* Ten rounds with ratios 1.01 ... 1.10: k = 2 takes the second and the ninth of them. */
static void intervals_are_order_statistics(void **state) {
  (void)state;
  struct run run = made_run(2);
  for (int round = 1; round <= 10; round++) {
    made_time(&run, 0, round, 100e6 + 1e6 * round);
    made_time(&run, 1, round, 100e6);
  }
  struct summary summary = made_summary(&run);
  const struct stat_cell *cells = summary.groups[0].cells;
  assert_near(cells[1].speed_ratio.low, 1.02, 1e-9);
  assert_near(cells[1].speed_ratio.high, 1.09, 1e-9);
  assert_near(cells[1].speed_ratio.median, sqrt(1.05 * 1.06), 1e-9);
  assert_near(cells[0].elapsed_ns.low, 102e6, 1);
  assert_near(cells[0].elapsed_ns.high, 109e6, 1);
  assert_near(cells[0].elapsed_ns.median, 105.5e6, 1);
  finish(&summary, &run);
}

static void below_the_floor_numbers_are_given_and_nothing_is_claimed(void **state) {
  (void)state;
  struct run run = made_run(3);
  add_rounds(&run, (double[]){10, 5, 20}, 5);
  struct summary summary = made_summary(&run);
  const struct stat_group *group = &summary.groups[0];
  assert_int_equal(group->needed_best, exact_floor_best(3));
  assert_int_equal(group->rounds, 5);
  assert_false(group->claims);
  assert_int_equal(group->best_count, 0);
  assert_true(group->smallest_callable_ratio == 0);
  for (unsigned c = 0; c < 3; c++) {
    assert_false(group->cells[c].elapsed_ns.known);
    assert_true(group->cells[c].elapsed_ns.median > 0);
    assert_false(group->cells[c].ranked);
    assert_false(group->cells[c].best);
  }
  assert_false(group->cells[1].speed_ratio.known);
  assert_near(group->cells[1].speed_ratio.median, 2, 0.01);
  assert_int_equal(group->cells[1].verdict, STAT_UNCLEAR);
  assert_int_equal(group->cells[0].verdict, STAT_BASELINE);
  assert_true(summary.inconclusive);
  assert_false(summary.failed);
  finish(&summary, &run);
}

/* Ten cells: plain intervals from 6 rounds, a best set from 8, verdicts from 9, ranks from 11. */
static void each_claim_begins_at_its_own_floor(void **state) {
  (void)state;
  double times_ms[10];
  for (unsigned c = 0; c < 10; c++) times_ms[c] = 10.0 + c;
  for (int rounds = 4; rounds <= 12; rounds++) {
    struct run run = made_run(10);
    add_rounds(&run, times_ms, rounds);
    struct summary summary = made_summary(&run);
    const struct stat_group *group = &summary.groups[0];
    assert_int_equal(group->cells[1].speed_ratio.known, rounds >= 6);
    assert_int_equal(group->claims, rounds >= 8);
    assert_int_equal(group->best_count, rounds >= 8);
    assert_int_equal(group->cells[9].verdict, rounds >= 9 ? STAT_SLOWER : STAT_UNCLEAR);
    assert_int_equal(group->smallest_callable_ratio > 0, rounds >= 9);
    assert_int_equal(group->cells[9].ranked, rounds >= 11);
    if (rounds >= 11) assert_int_equal(group->cells[9].rank_low, 10);
    assert_int_equal(summary.inconclusive, rounds < 9);
    finish(&summary, &run);
  }
}

/* Cell 1 is faster in `wins` of `rounds`, by 20 %, and slower in the others. */
static struct run split_run(int rounds, int wins) {
  struct run run = made_run(2);
  for (int round = 1; round <= rounds; round++) {
    made_time(&run, 0, round, 10 * MS);
    made_time(&run, 1, round, round <= wins ? 8 * MS : 12 * MS);
  }
  return run;
}

/*
 * Two cells: the best set asks a one-sided question, ranks and verdicts a two-sided one. 10 of 13 has a tail of 4.6 %,
 * which is enough for the first alone; 9 of 13 (13 %) is for neither, 11 of 13 (1.1 %) for both.
 */
static void one_sided_and_two_sided_are_kept_apart(void **state) {
  (void)state;
  for (int wins = 9; wins <= 11; wins++) {
    struct run run = split_run(13, wins);
    struct summary summary = made_summary(&run);
    const struct stat_group *group = &summary.groups[0];
    assert_int_equal(group->best_count, wins >= 10 ? 1 : 2);
    assert_int_equal(group->cells[0].rank_low, wins >= 11 ? 2 : 1);
    assert_int_equal(group->cells[1].rank_high, wins >= 11 ? 1 : 2);
    assert_int_equal(group->cells[1].verdict, wins >= 11 ? STAT_FASTER : STAT_UNCLEAR);
    finish(&summary, &run);
  }
  struct run run = split_run(5, 5); /* the least that two cells need for a best set */
  struct summary summary = made_summary(&run);
  assert_int_equal(summary.groups[0].best_count, 1);
  finish(&summary, &run);
}

static void equal_times_are_nobodys_win(void **state) {
  (void)state;
  struct run run = made_run(3);
  for (int round = 1; round <= 20; round++) {
    for (unsigned c = 0; c < 3; c++) made_time(&run, c, round, 10 * MS);
  }
  struct summary summary = made_summary(&run);
  const struct stat_group *group = &summary.groups[0];
  assert_int_equal(group->best_count, 3);
  for (unsigned c = 0; c < 3; c++) {
    assert_int_equal(group->cells[c].rank_low, 1);
    assert_int_equal(group->cells[c].rank_high, 3);
    assert_int_equal(group->cells[c].verdict, c ? STAT_SAME : STAT_BASELINE);
  }
  assert_false(summary.inconclusive);
  finish(&summary, &run);
}

static void a_single_cell_is_best_without_a_comparison(void **state) {
  (void)state;
  struct run run = made_run(2);
  made_twin(&run, 0);
  add_rounds(&run, (double[]){10, 10}, 20);
  struct summary summary = made_summary(&run);
  const struct stat_group *group = &summary.groups[0];
  assert_int_equal(group->k, 1);
  assert_true(group->claims);
  assert_int_equal(group->best_count, 1);
  assert_true(group->cells[0].best);
  assert_int_equal(group->cells[0].rank_high, 1);
  assert_true(group->smallest_callable_ratio >= 1.03 && group->smallest_callable_ratio < 1.04);
  assert_int_equal(group->order_count, 1);
  assert_false(summary.inconclusive);
  finish(&summary, &run);
}

static void a_group_where_nothing_is_available_says_so(void **state) {
  (void)state;
  struct run run = made_run(3);
  for (unsigned c = 0; c < 3; c++) made_cell(&run, c)->status = PLAN_UNAVAILABLE;
  struct summary summary = made_summary(&run);
  const struct stat_group *group = &summary.groups[0];
  assert_int_equal(group->k, 0);
  assert_int_equal(group->baseline, -1);
  assert_int_equal(group->rounds, 0);
  assert_false(group->claims);
  assert_int_equal(group->order_count, 3);
  assert_true(summary.inconclusive);
  assert_false(summary.failed);
  finish(&summary, &run);
}

static void an_empty_run_and_a_dropped_group_are_fine(void **state) {
  (void)state;
  struct run run = made_run(2);
  run.plan.groups[0].dropped = true;
  struct summary summary = made_summary(&run);
  assert_false(summary.inconclusive);
  finish(&summary, &run);
  struct run nothing = {.plan = {.margin = 0.03}};
  summary = made_summary(&nothing);
  assert_int_equal(summary.group_count, 0);
  finish(&summary, &nothing);
}

/* ---- which samples count ------------------------------------------------------------------------------------------- */

static void one_failed_sample_fails_the_cell(void **state) {
  (void)state;
  for (int round = -1; round <= 3; round += 2) {
    struct run run = made_run(4);
    struct sample bad = made_sample(0, round, 1 * MS);
    bad.status = RUN_FAILED;
    if (round < 0) bad.flags = RUN_PILOT;
    strcpy(bad.reason, "wrong data at offset 4096");
    made_add(&run, bad);
    strcpy(bad.reason, "a later one");
    made_add(&run, bad);
    add_rounds(&run, (double[]){10, 5, 20, 11}, 20);
    struct summary summary = made_summary(&run);
    const struct stat_group *group = &summary.groups[0];
    assert_int_equal(group->k, 3);
    assert_int_equal(group->cells[0].status, PLAN_FAILED);
    assert_string_equal(group->cells[0].reason, "wrong data at offset 4096");
    assert_int_equal(group->cells[0].verdict, STAT_NONE);
    assert_true(group->cells[0].elapsed_ns.median == 0 && group->cells[0].bytes_per_s == 0 && group->cells[0].n == 0);
    assert_false(group->pairs[1].known);
    assert_int_equal(group->baseline, 1); /* the first that is well takes over */
    assert_int_equal(group->cells[1].verdict, STAT_BASELINE);
    assert_int_equal(group->rounds, 20);
    assert_int_equal(group->order[3], 0);
    assert_true(summary.failed);
    finish(&summary, &run);
  }
}

static void what_a_twin_gets_wrong_fails_its_original(void **state) {
  (void)state;
  struct run run = made_run(3);
  made_twin(&run, 0);
  add_rounds(&run, (double[]){10, 5, 10}, 20);
  struct sample bad = made_sample(2, 21, 1 * MS);
  bad.status = RUN_FAILED;
  strcpy(bad.reason, "crashed");
  made_add(&run, bad);
  struct summary summary = made_summary(&run);
  assert_int_equal(summary.groups[0].cells[0].status, PLAN_FAILED);
  assert_string_equal(summary.groups[0].cells[0].reason, "crashed");
  assert_true(summary.failed);
  assert_false(summary.groups[0].twin.known);
  finish(&summary, &run);
}

static void a_refused_first_transfer_is_not_a_failure(void **state) {
  (void)state;
  struct run run = made_run(3);
  struct sample refused = made_sample(2, -1, 1 * MS);
  refused.status = RUN_FAILED;
  refused.flags = RUN_PILOT;
  made_add(&run, refused);
  made_cell(&run, 2)->status = PLAN_UNAVAILABLE;
  strcpy(made_cell(&run, 2)->reason, "O_DIRECT is refused here");
  add_rounds(&run, (double[]){10, 5, 0}, 20);
  struct summary summary = made_summary(&run);
  assert_int_equal(summary.groups[0].cells[2].status, PLAN_UNAVAILABLE);
  assert_string_equal(summary.groups[0].cells[2].reason, "O_DIRECT is refused here");
  assert_false(summary.failed);
  finish(&summary, &run);
}

static void pilots_burn_in_and_partial_samples_are_not_analysed(void **state) {
  (void)state;
  struct run run = made_run(2);
  struct sample sample = made_sample(0, -1, 900 * MS);
  sample.flags = RUN_PILOT;
  made_add(&run, sample);
  sample = made_sample(0, 0, 900 * MS);
  sample.flags = RUN_BURN_IN;
  made_add(&run, sample);
  sample.flags = 0; /* round 0 is burn-in, said or not */
  made_add(&run, sample);
  sample = made_sample(0, 21, 900 * MS);
  sample.flags = RUN_PARTIAL;
  made_add(&run, sample);
  sample.flags = 0;
  sample.passes = 0; /* nothing was done */
  sample.round = 22;
  made_add(&run, sample);
  add_rounds(&run, (double[]){10, 5}, 20);
  sample = made_sample(0, 23, 900 * MS);
  sample.flags = RUN_REWARMED; /* flagged, and yet good */
  made_add(&run, sample);
  struct summary summary = made_summary(&run);
  assert_int_equal(summary.groups[0].cells[0].n, 21);
  assert_int_equal(summary.groups[0].cells[1].n, 20);
  assert_int_equal(summary.groups[0].rounds, 20);
  finish(&summary, &run);
}

/* Cell 2 lacks rounds 1 - 12: the group has 8 complete rounds, the pair of the others has all 20. */
static void missing_samples_cost_only_the_pairs_they_belong_to(void **state) {
  (void)state;
  struct run run = made_run(3);
  add_rounds(&run, (double[]){10, 5, 0}, 20);
  for (int round = 13; round <= 20; round++) made_time(&run, 2, round, 20 * MS * wobble(2, round) * (1 + 0.1 * round));
  struct summary summary = made_summary(&run);
  const struct stat_group *group = &summary.groups[0];
  assert_int_equal(group->k, 3);
  assert_int_equal(group->rounds, 8);
  assert_int_equal(group->cells[2].n, 8);
  assert_near(group->cells[2].speed_ratio.median, 0.5, 0.01); /* no bias from the rounds it missed */
  assert_int_equal(group->cells[2].verdict, STAT_SLOWER);     /* 8 rounds are enough for 3 cells */
  assert_true(group->cells[2].speed_ratio.high - group->cells[2].speed_ratio.low > 0);
  assert_true(group->claims && group->best_count == 1 && group->cells[1].best);
  finish(&summary, &run);
}

static void a_cell_without_a_sample_does_not_hold_up_the_others(void **state) {
  (void)state;
  struct run run = made_run(3);
  add_rounds(&run, (double[]){10, 0, 20}, 20);
  struct summary summary = made_summary(&run);
  const struct stat_group *group = &summary.groups[0];
  assert_int_equal(group->k, 2);
  assert_int_equal(group->rounds, 20);
  assert_int_equal(group->cells[1].n, 0);
  assert_int_equal(group->cells[1].verdict, STAT_NONE);
  assert_int_equal(group->order[2], 1);
  finish(&summary, &run);
}

/* Reading a second file promises no state: what came of it is told, and nothing is left out for it. */
static void cold_by_a_second_file_counts_whatever_came_of_it(void **state) {
  (void)state;
  struct run run = made_run(2);
  run.plan.flush = PLAN_FLUSH_FILE;
  run.plan.groups[0].demand.cache = PLAN_COLD;
  add_rounds(&run, (double[]){10, 5}, 10);
  run.samples[0].resident_before_ppm = 0; /* one of them found the file gone, and read it from the device */
  run.samples[0].device_read_bytes = MADE_BYTES;
  struct summary summary = made_summary(&run);
  const struct stat_group *group = &summary.groups[0];
  assert_int_equal(group->cells[0].n, 10);
  assert_int_equal(group->cells[1].n, 10);
  assert_false(group->state_missed);
  assert_string_equal(group->cells[0].label, "mixed");
  assert_true(group->resident_before.known);
  assert_near(group->resident_before.median, 1, 0);
  assert_near(group->resident_before.low, 0, 0);
  assert_near(group->resident_before.high, 1, 0);
  finish(&summary, &run);
}

/* Only whole pilots of writers, read back when the cache no longer held the file, say that the data had left it. */
static void files_read_back_are_counted(void **state) {
  (void)state;
  struct run run = made_run(3);
  run.plan.groups[0].demand.direction = WEIR_WRITE;
  add_rounds(&run, (double[]){10, 5, 7}, 6);
  for (unsigned cell = 0; cell < 3; cell++) {
    struct sample pilot = made_sample(cell, -1, 10 * MS);
    pilot.flags = RUN_PILOT | (cell == 1 ? RUN_PARTIAL : 0);
    pilot.resident_after_ppm = cell == 2 ? 500000 : 0;
    made_add(&run, pilot);
  }
  struct summary summary = made_summary(&run);
  assert_int_equal(summary.groups[0].read_back, 1);
  finish(&summary, &run);
}

static void numbers_of_a_broken_file_are_no_danger(void **state) {
  (void)state;
  struct run run = made_run(2);
  add_rounds(&run, (double[]){10, 5}, 20);
  made_time(&run, 2, 3, 1 * MS);
  made_time(&run, UINT32_MAX, 3, 1 * MS);
  struct sample sample = made_sample(0, 3, 1 * MS); /* a second one of round 3 */
  made_add(&run, sample);
  sample.group = 7;
  made_add(&run, sample);
  made_time(&run, 0, INT32_MAX, 1 * MS);
  made_time(&run, 0, INT32_MIN, 1 * MS);
  struct summary summary = made_summary(&run);
  assert_int_equal(summary.groups[0].rounds, 20);
  assert_int_equal(summary.groups[0].cells[0].n, 21);
  assert_near(summary.groups[0].cells[1].speed_ratio.median, 2, 0.01);
  finish(&summary, &run);
}

static void the_first_of_two_samples_of_a_round_counts(void **state) {
  (void)state;
  struct run run = made_run(1);
  made_time(&run, 0, 1, 10 * MS);
  made_time(&run, 0, 1, 20 * MS);
  struct summary summary = made_summary(&run);
  assert_int_equal(summary.groups[0].cells[0].n, 1);
  assert_near(summary.groups[0].cells[0].elapsed_ns.median, 10 * MS, 0);
  finish(&summary, &run);
}

/* The order of lines in a file is the order of the measurement; it means nothing to the summary. */
static void the_order_of_samples_changes_nothing(void **state) {
  (void)state;
  struct run run = made_run(6);
  made_twin(&run, 0);
  add_rounds(&run, (double[]){10, 9.9, 10.3, 9, 10.1, 10}, 15);
  struct summary before = made_summary(&run);
  for (size_t i = 0; i < run.sample_count / 2; i++) {
    struct sample kept = run.samples[i];
    run.samples[i] = run.samples[run.sample_count - 1 - i];
    run.samples[run.sample_count - 1 - i] = kept;
  }
  struct summary after = made_summary(&run);
  const struct stat_group *a = &before.groups[0], *b = &after.groups[0];
  for (unsigned i = 0; i < 36; i++) {
    assert_true(a->pairs[i].median == b->pairs[i].median && a->pairs[i].low == b->pairs[i].low);
  }
  for (unsigned c = 0; c < 6; c++) {
    assert_true(a->cells[c].verdict == b->cells[c].verdict && a->cells[c].best == b->cells[c].best);
    assert_true(a->cells[c].rank_low == b->cells[c].rank_low && a->cells[c].rank_high == b->cells[c].rank_high);
  }
  assert_true(a->smallest_callable_ratio == b->smallest_callable_ratio && a->noise == b->noise);
  stat_release(&before);
  finish(&after, &run);
}

static void two_hundred_cells_and_rounds_are_digested(void **state) {
  (void)state;
  double times_ms[200];
  struct run run = made_run(200);
  for (unsigned c = 0; c < 200; c++) times_ms[c] = 10 + 0.1 * c;
  add_rounds(&run, times_ms, 200);
  struct summary summary = made_summary(&run);
  assert_int_equal(summary.groups[0].k, 200);
  assert_int_equal(summary.groups[0].rounds, 200);
  assert_int_equal(summary.groups[0].best_count, 1);
  assert_int_equal(summary.groups[0].cells[199].rank_low, 200);
  finish(&summary, &run);
}

/* ---- what is ranked ------------------------------------------------------------------------------------------------ */

static void cells_are_ranked_by_what_was_asked(void **state) {
  (void)state;
  for (int rank_by = PLAN_RANK_TIME; rank_by <= PLAN_RANK_MEMORY; rank_by++) {
    struct run run = made_run(2);
    run.plan.rank_by = (enum plan_rank)rank_by;
    for (int round = 1; round <= 10; round++) {
      struct sample a = made_sample(0, round, 0), b = made_sample(1, round, 0);
      a.passes = b.passes = 4;
      a.phase_ns[RUN_OPEN] = 3000, a.phase_ns[RUN_RUN] = 4000, a.phase_ns[RUN_SYNC] = 2000, a.phase_ns[RUN_CLOSE] = 1000;
      b.phase_ns[RUN_OPEN] = 1000, b.phase_ns[RUN_RUN] = 2000, b.phase_ns[RUN_SYNC] = 1000, b.phase_ns[RUN_CLOSE] = 1000;
      a.cpu_ns = 12000, b.cpu_ns = 3000;
      a.peak_bytes = 4096, b.peak_bytes = 8192;
      made_add(&run, a);
      made_add(&run, b);
    }
    struct summary summary = made_summary(&run);
    const struct stat_group *group = &summary.groups[0];
    static const double ratios[] = {
        [PLAN_RANK_TIME] = 2, [PLAN_RANK_TRANSFER] = 2, [PLAN_RANK_CPU] = 4, [PLAN_RANK_MEMORY] = 0.5};
    assert_near(group->cells[1].speed_ratio.median, ratios[rank_by], 1e-9);
    assert_int_equal(group->lower_is_better_bytes, rank_by == PLAN_RANK_MEMORY);
    assert_int_equal(group->order[0], rank_by == PLAN_RANK_MEMORY ? 0 : 1);
    assert_near(group->cells[0].elapsed_ns.median, 2500, 1e-9); /* times stay times, per pass */
    assert_near(group->cells[0].phases_ns[RUN_OPEN], 750, 1e-9);
    assert_near(group->cells[0].cpu_ns, 3000, 1e-9);
    assert_near(group->cells[0].bytes_per_s, (double)MADE_BYTES / 4 / 2500e-9, 1);
    assert_near(group->cells[0].operations_per_s, 4 / 2500e-9, 1);
    finish(&summary, &run);
  }
}

static void floors_failed_and_unavailable_come_last_and_the_twin_nowhere(void **state) {
  (void)state;
  struct run run = made_run(7);
  made_twin(&run, 2);
  made_cell(&run, 0)->status = PLAN_UNAVAILABLE;
  made_cell(&run, 1)->status = PLAN_FAILED;
  made_cell(&run, 4)->capabilities = WEIR_CAP_FLOOR;
  add_rounds(&run, (double[]){0, 0, 20, 10, 1, 30, 20}, 20);
  struct summary summary = made_summary(&run);
  const struct stat_group *group = &summary.groups[0];
  static const unsigned expected[] = {3, 2, 5, 4, 1, 0};
  assert_int_equal(group->k, 3);
  assert_int_equal(group->order_count, 6);
  for (unsigned i = 0; i < 6; i++) assert_int_equal(group->order[i], expected[i]);
  assert_int_equal(group->cells[4].verdict, STAT_NONE);
  assert_int_equal(group->cells[4].n, 20);
  assert_false(group->cells[4].ranked || group->cells[4].best || group->pairs[2 * 7 + 4].known);
  assert_int_equal(group->cells[6].verdict, STAT_NONE);
  assert_true(group->cells[6].speed_ratio.known);
  assert_true(summary.failed);
  finish(&summary, &run);
}

static void the_margin_grows_to_what_the_twin_shows(void **state) {
  (void)state;
  struct run run = made_run(4);
  made_twin(&run, 0);
  /* The twin runs 8 % slower: this machine makes differences of that size out of nothing. */
  add_rounds(&run, (double[]){10, 10.5, 10.9, 10.8}, 20);
  struct summary summary = made_summary(&run);
  const struct stat_group *group = &summary.groups[0];
  assert_true(group->twin.known);
  assert_near(group->twin.median, 1 / 1.08, 0.002);
  assert_near(group->margin, 1 / group->twin.low - 1, 1e-12);
  assert_true(group->margin > 0.08 && group->margin < 0.085);
  assert_int_equal(group->cells[1].verdict, STAT_UNCLEAR); /* neither a difference nor, as asked, the same */
  assert_true(group->smallest_callable_ratio > 1.08);
  assert_true(group->noise > 0 && group->noise < 0.005);
  finish(&summary, &run);

  run = made_run(3);
  made_twin(&run, 0);
  add_rounds(&run, (double[]){10, 10.5, 10}, 5); /* too few for the twin's interval */
  summary = made_summary(&run);
  assert_false(summary.groups[0].twin.known);
  assert_near(summary.groups[0].margin, 0.03, 0);
  finish(&summary, &run);
}

static void the_twin_is_paired_with_its_own_original(void **state) {
  (void)state;
  struct run run = made_run(3);
  made_twin(&run, 1);
  made_cell(&run, 1)->param_count = made_cell(&run, 2)->param_count = 1;
  made_cell(&run, 1)->params[0].value = made_cell(&run, 2)->params[0].value = 4096;
  add_rounds(&run, (double[]){10, 20, 20}, 20);
  struct summary summary = made_summary(&run);
  assert_near(summary.groups[0].twin.median, 1, 0.002);
  stat_release(&summary);
  made_cell(&run, 2)->params[0].value = 8192; /* twin of nothing that is here */
  summary = made_summary(&run);
  assert_true(summary.groups[0].twin.median == 0 && !summary.groups[0].twin.known);
  finish(&summary, &run);
}

/* ---- labels and evidence ------------------------------------------------------------------------------------------- */

struct labelled {
  const char *label;
  const char *fact; /* set to "1" */
  enum weir_direction direction;
  enum weir_durability durability;
  int32_t resident_ppm[2]; /* of even and odd rounds */
  int64_t device_read[2];
  int64_t flushes[2];
};

#define FULL ((int64_t)MADE_BYTES)

static const struct labelled labelled[] = {
    {"warm", NULL, WEIR_READ, 0, {1000000, 990000}, {0, 0}, {-1, -1}},
    {"unknown", NULL, WEIR_READ, 0, {1000000, 1000000}, {-1, 0}, {-1, -1}},
    {"mixed", NULL, WEIR_READ, 0, {1000000, 989999}, {0, 0}, {-1, -1}},
    {"mixed", NULL, WEIR_READ, 0, {1000000, 1000000}, {0, 4096}, {-1, -1}},
    {"cold", NULL, WEIR_READ, 0, {0, 9999}, {FULL, FULL + 4096}, {-1, -1}},
    {"guest-cold", "hypervisor", WEIR_READ, 0, {0, 0}, {FULL, FULL}, {-1, -1}},
    {"mixed", NULL, WEIR_READ, 0, {0, 0}, {0, 0}, {-1, -1}}, /* the bytes came, and not from the device */
    {"mixed", NULL, WEIR_READ, 0, {0, 0}, {FULL, FULL / 2}, {-1, -1}},
    {"mixed", NULL, WEIR_READ, 0, {0, 10000}, {FULL, FULL}, {-1, -1}},
    {"mixed", NULL, WEIR_READ, 0, {0, 1000000}, {FULL, 0}, {-1, -1}},
    {"unknown", NULL, WEIR_READ, 0, {0, 0}, {FULL, -1}, {-1, -1}},
    {"unknown", NULL, WEIR_READ, 0, {1000000, -1}, {0, 0}, {-1, -1}},
    {"ram-backed", "place.0.ram_backed", WEIR_READ, 0, {0, -1}, {0, -1}, {-1, -1}},
    {"warm", "place.1.ram_backed", WEIR_READ, 0, {1000000, 1000000}, {0, 0}, {-1, -1}},
    {"not-durable", NULL, WEIR_WRITE, WEIR_DURABILITY_NONE, {0, 0}, {0, 0}, {0, 0}},
    {"durable", NULL, WEIR_WRITE, WEIR_DURABILITY_END, {0, 0}, {0, 0}, {1, 2}},
    {"durable", NULL, WEIR_WRITE, WEIR_DURABILITY_EACH, {0, 0}, {0, 0}, {16, 17}},
    {"few-flushes-seen", NULL, WEIR_WRITE, WEIR_DURABILITY_EACH, {0, 0}, {0, 0}, {1, 15}},
    {"not-durable", NULL, WEIR_WRITE, WEIR_DURABILITY_END, {0, 0}, {0, 0}, {0, 0}},
    {"not-durable", NULL, WEIR_WRITE, WEIR_DURABILITY_END, {0, 0}, {0, 0}, {1, 0}},
    {"not-durable", NULL, WEIR_WRITE, WEIR_DURABILITY_EACH, {0, 0}, {0, 0}, {0, 0}},
    {"no-flush-seen", "place.0.write_through", WEIR_WRITE, WEIR_DURABILITY_EACH, {0, 0}, {0, 0}, {0, 0}},
    {"not-durable", "place.0.write_through", WEIR_WRITE, WEIR_DURABILITY_END, {0, 0}, {0, 0}, {0, 0}},
    {"warm+loop", "place.0.loop", WEIR_READ, 0, {1000000, 1000000}, {0, 0}, {-1, -1}},
    {"unknown", NULL, WEIR_WRITE, WEIR_DURABILITY_END, {0, 0}, {0, 0}, {1, -1}},
    {"ram-backed", "place.0.ram_backed", WEIR_WRITE, WEIR_DURABILITY_END, {0, 0}, {0, 0}, {1, 1}},
};

static struct run labelled_run(const struct labelled *expected) {
  struct run run = made_run(1);
  run.plan.groups[0].demand.direction = expected->direction;
  run.plan.groups[0].demand.durability = expected->durability;
  if (expected->fact && run_add_fact(&run, expected->fact, "1") != 0) abort();
  for (int round = 1; round <= 10; round++) {
    struct sample sample = made_sample(0, round, 10 * MS);
    sample.resident_before_ppm = expected->resident_ppm[round % 2];
    sample.device_read_bytes = expected->device_read[round % 2];
    sample.flushes = expected->flushes[round % 2];
    sample.operations = 16;
    made_add(&run, sample);
  }
  return run;
}

static void labels_say_what_the_evidence_bears_out(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(labelled); i++) {
    struct run run = labelled_run(&labelled[i]);
    struct summary summary = made_summary(&run);
    const char *label = summary.groups[0].cells[0].label;
    if (strcmp(label, labelled[i].label) != 0) fail_msg("case %zu: %s is not %s", i, label, labelled[i].label);
    finish(&summary, &run);
  }
}

/* Nothing lies in such a device that a flush would save. */
static void a_device_without_a_cache_needs_no_flush(void **state) {
  (void)state;
  for (int back = 0; back < 2; back++) {
    struct run run = made_run(1);
    run.plan.groups[0].demand.direction = WEIR_WRITE;
    run.plan.groups[0].demand.durability = WEIR_DURABILITY_END;
    assert_int_equal(run_add_fact(&run, "place.0.write_cache", back ? "write back" : "write through"), 0);
    for (int round = 1; round <= 6; round++) {
      struct sample sample = made_sample(0, round, 10 * MS);
      sample.flushes = 0;
      made_add(&run, sample);
    }
    struct summary summary = made_summary(&run);
    assert_string_equal(summary.groups[0].cells[0].label, back ? "not-durable" : "no-flush-needed");
    finish(&summary, &run);
  }
}

static void cold_counts_the_bytes_of_one_pass(void **state) {
  (void)state;
  struct run run = made_run(1);
  for (int round = 1; round <= 6; round++) {
    struct sample sample = made_sample(0, round, 10 * MS);
    sample.resident_before_ppm = 0;
    sample.passes = 2;
    sample.bytes = 2 * MADE_BYTES;
    sample.device_read_bytes = FULL; /* the first pass fills the cache, the second reads from it */
    made_add(&run, sample);
  }
  struct summary summary = made_summary(&run);
  assert_string_equal(summary.groups[0].cells[0].label, "cold");
  finish(&summary, &run);
}

static void holes_of_the_users_file_are_named(void **state) {
  (void)state;
  struct run run = made_run(1);
  run.plan.file = made_text("/tmp/x");
  assert_int_equal(run_add_number(&run, "file.hole_bytes", 4096), 0);
  assert_int_equal(run_add_number(&run, "file.unwritten_bytes", 8192), 0);
  add_rounds(&run, (double[]){10}, 6);
  struct summary summary = made_summary(&run);
  assert_string_equal(summary.groups[0].cells[0].label, "warm+holes+unwritten");
  stat_release(&summary);
  assert_int_equal(run_add_fact(&run, "file.ram_backed", "1"), 0);
  assert_int_equal(run_add_number(&run, "file.hole_bytes", 0), 0);
  assert_int_equal(run_add_number(&run, "file.unwritten_bytes", 0), 0);
  summary = made_summary(&run);
  assert_string_equal(summary.groups[0].cells[0].label, "ram-backed");
  finish(&summary, &run);
}

static void what_stands_before_the_disk_is_named(void **state) {
  (void)state;
  struct run run = made_run(1);
  assert_int_equal(run_add_fact(&run, "place.0.special", "overlay"), 0);
  assert_int_equal(run_add_number(&run, "place.0.packs", 1), 0);
  assert_int_equal(run_add_number(&run, "file.compressible", 1), 0); /* no file of the user is read */
  add_rounds(&run, (double[]){10}, 6);
  struct summary summary = made_summary(&run);
  assert_string_equal(summary.groups[0].cells[0].label, "warm+compressing+overlay");
  stat_release(&summary);
  run.plan.groups[0].demand.direction = WEIR_WRITE;
  summary = made_summary(&run);
  assert_string_equal(summary.groups[0].cells[0].label, "not-durable+compressing+overlay");
  stat_release(&summary);
  run.plan.groups[0].demand.direction = WEIR_READ;
  run.plan.file = made_text("/tmp/x");
  assert_int_equal(run_add_fact(&run, "file.special", "fuse"), 0);
  summary = made_summary(&run);
  assert_string_equal(summary.groups[0].cells[0].label, "warm+compressible+fuse");
  finish(&summary, &run);
}

static void evidence_is_the_median_of_what_is_known(void **state) {
  (void)state;
  struct run run = made_run(1);
  for (int round = 1; round <= 5; round++) {
    struct sample sample = made_sample(0, round, 10 * MS);
    sample.passes = 2;
    sample.device_read_bytes = round == 1 ? -1 : 1000 * round;
    sample.resident_after_ppm = 250000;
    sample.minor_faults = 10;
    sample.setup_ns = 700;
    made_add(&run, sample);
  }
  struct summary summary = made_summary(&run);
  const struct stat_cell *cell = &summary.groups[0].cells[0];
  assert_near(cell->device_read_bytes, 1750, 1e-9); /* 2000 ... 5000 over two passes */
  assert_near(cell->device_write_bytes, -1, 0);
  assert_near(cell->flushes, -1, 0);
  assert_near(cell->resident_before, 1, 0);
  assert_near(cell->resident_after, 0.25, 0);
  assert_near(cell->minor_faults, 5, 0);
  assert_near(cell->setup_ns, 700, 0);
  assert_near(cell->peak_bytes, 4096, 0);
  assert_null(cell->latency);
  finish(&summary, &run);
}

/* Of a pass of the size that was measured, whole and good; the last count stands. */
static void allocations_are_those_of_the_pilot(void **state) {
  (void)state;
  struct run run = made_run(3);
  struct sample sample = made_sample(0, -1, 5 * MS);
  sample.flags = RUN_PILOT;
  sample.allocations = 40, sample.allocated_bytes = 4000;
  made_add(&run, sample);
  sample.allocations = 41, sample.allocated_bytes = 4100;
  made_add(&run, sample);
  sample.allocations = sample.allocated_bytes = -1; /* the second sample of the pilot does not count */
  made_add(&run, sample);
  sample.allocations = 99, sample.flags = RUN_PILOT | RUN_PARTIAL;
  made_add(&run, sample);
  sample.cell = 1, sample.bytes *= 2, sample.allocations = 7, sample.flags = RUN_PILOT;
  made_add(&run, sample);
  for (int round = 1; round <= 5; round++) {
    for (unsigned cell = 0; cell < 3; cell++) {
      sample = made_sample(cell, round, 10 * MS);
      sample.allocations = sample.allocated_bytes = 1000; /* never taken from a sample that is timed */
      made_add(&run, sample);
    }
  }
  struct summary summary = made_summary(&run);
  const struct stat_cell *cells = summary.groups[0].cells;
  assert_near(cells[0].allocations, 41, 0);
  assert_near(cells[0].allocated_bytes, 4100, 0);
  assert_near(cells[1].allocations, -1, 0);
  assert_near(cells[2].allocations, -1, 0);
  assert_near(cells[2].allocated_bytes, -1, 0);
  finish(&summary, &run);
}

static void the_limit_is_that_of_the_floor_that_bounds_it(void **state) {
  (void)state;
  struct run run = made_run(5);
  run.floors.memcpy_bytes_per_s = 4 * (double)MADE_BYTES / 10e-3;
  run.floors.scan_bytes_per_s = 10 * (double)MADE_BYTES / 10e-3;
  made_cell(&run, 1)->capabilities = WEIR_CAP_VIEW;
  made_cell(&run, 2)->capabilities = WEIR_CAP_DIRECT;
  made_cell(&run, 3)->threads = 2;
  for (int round = 1; round <= 6; round++) {
    for (unsigned c = 0; c < 5; c++) {
      struct sample sample = made_sample(c, round, 10 * MS);
      if (c == 4) sample.resident_before_ppm = 500000;
      made_add(&run, sample);
    }
  }
  run.plan.groups[0].demand.size_bytes = RUN_FLOOR_BYTES;
  struct summary summary = made_summary(&run);
  static const double limits[] = {25, 10, 0, 0, 0};
  for (unsigned c = 0; c < 5; c++) assert_near(summary.groups[0].cells[c].limit_percent, limits[c], 1e-6);
  stat_release(&summary);
  run.plan.groups[0].demand.size_bytes = RUN_FLOOR_BYTES - 1; /* may fit into a cache that is faster than memory */
  summary = made_summary(&run);
  for (unsigned c = 0; c < 5; c++) assert_near(summary.groups[0].cells[c].limit_percent, 0, 0);
  finish(&summary, &run);
}

/* A run of one cell that moves MADE_BYTES in 10 ms, in 16 requests, and what its device can do. */
static struct run device_run(const struct plan_demand *demand, int32_t resident_ppm, uint32_t capabilities) {
  struct run run = made_run(1);
  run.plan.groups[0].demand = *demand;
  run.plan.groups[0].demand.size_bytes = RUN_FLOOR_BYTES;
  made_cell(&run, 0)->capabilities = capabilities;
  run.plan.place_count = 2;
  run.plan.places = made_room(2, sizeof *run.plan.places);
  for (unsigned i = 0; i < 2; i++) run.plan.places[i] = made_text("p");
  run.limits = made_room(2, sizeof *run.limits);
  const double rate = (double)MADE_BYTES / 10e-3;
  for (unsigned i = 0; i < 2; i++)
    run.limits[i] = (struct run_limits){.read_bytes_per_s = 4 * rate, .random_reads_per_s = 2 * 1600, .write_bytes_per_s = 5 * rate,
                                        .sync_ns = 1e9 / 1600 / 4};
  run.floors.memcpy_bytes_per_s = 10 * rate;
  for (int round = 1; round <= 6; round++) {
    struct sample sample = made_sample(0, round, 10 * MS);
    sample.resident_before_ppm = resident_ppm;
    sample.device_read_bytes = resident_ppm ? 0 : (int64_t)MADE_BYTES;
    sample.flushes = 16;
    made_add(&run, sample);
  }
  return run;
}

static void expect_limit(struct run run, const char *name, double percent) {
  struct summary summary = made_summary(&run);
  const struct stat_cell *cell = &summary.groups[0].cells[0];
  assert_near(cell->limit_percent, percent, 1e-6);
  if (name) assert_string_equal(cell->limit, name);
  else assert_null(cell->limit);
  finish(&summary, &run);
}

static void the_limit_is_the_one_that_the_cell_comes_nearest_to(void **state) {
  (void)state;
  const struct plan_demand cold = {.cache = PLAN_COLD}, random = {.cache = PLAN_COLD, .access = WEIR_RANDOM, .request_bytes = 65536};
  const struct plan_demand small = {.cache = PLAN_COLD, .access = WEIR_RANDOM, .request_bytes = 512};
  struct plan_demand durable = {.direction = WEIR_WRITE, .durability = WEIR_DURABILITY_END};
  struct plan_demand each = {.direction = WEIR_WRITE, .durability = WEIR_DURABILITY_EACH};
  const struct plan_demand buffered = {.direction = WEIR_WRITE}, warm = {.consumer = WEIR_CONSUMER_TOUCH};
  expect_limit(device_run(&warm, 1000000, 0), "memory copy", 10);
  expect_limit(device_run(&cold, 0, 0), "device sequential", 25);
  expect_limit(device_run(&random, 0, 0), "device random", 50); /* 1600 requests a second of 3200 */
  expect_limit(device_run(&small, 0, 0), "device sequential", 25);
  expect_limit(device_run(&durable, 0, 0), "device write", 20);
  expect_limit(device_run(&each, 0, 0), "sync", 25);
  expect_limit(device_run(&each, 0, WEIR_CAP_DEPTH), "sync", 25); /* depth 1: no parameter says more */
  expect_limit(device_run(&buffered, 0, 0), NULL, 0);
  expect_limit(device_run(&buffered, 0, WEIR_CAP_DIRECT), "device write", 20);
  struct run run = device_run(&random, 0, 0);
  run.limits[0].random_reads_per_s = 400; /* pages that were read ahead: single requests did not bound it */
  expect_limit(run, "device sequential", 25);
  run = device_run(&random, 0, WEIR_CAP_DIRECT);
  run.limits[0].random_reads_per_s = 400; /* there is no way round it: the limit is wrong, and that has to show */
  expect_limit(run, "device random", 400);
  run = device_run(&cold, 0, 0);
  run.plan.groups[0].demand.members = 2; /* both devices at once */
  made_cell(&run, 0)->threads = 2;
  expect_limit(run, "device sequential", 12.5);
  run = device_run(&cold, 0, 0);
  run.limits[0].read_bytes_per_s = 0;
  expect_limit(run, NULL, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(clear_differences_are_called_and_ranked),
      cmocka_unit_test(the_pair_matrix_mirrors_itself),
      cmocka_unit_test(intervals_are_order_statistics),
      cmocka_unit_test(below_the_floor_numbers_are_given_and_nothing_is_claimed),
      cmocka_unit_test(each_claim_begins_at_its_own_floor),
      cmocka_unit_test(one_sided_and_two_sided_are_kept_apart),
      cmocka_unit_test(equal_times_are_nobodys_win),
      cmocka_unit_test(a_single_cell_is_best_without_a_comparison),
      cmocka_unit_test(a_group_where_nothing_is_available_says_so),
      cmocka_unit_test(an_empty_run_and_a_dropped_group_are_fine),
      cmocka_unit_test(one_failed_sample_fails_the_cell),
      cmocka_unit_test(what_a_twin_gets_wrong_fails_its_original),
      cmocka_unit_test(a_refused_first_transfer_is_not_a_failure),
      cmocka_unit_test(pilots_burn_in_and_partial_samples_are_not_analysed),
      cmocka_unit_test(missing_samples_cost_only_the_pairs_they_belong_to),
      cmocka_unit_test(a_cell_without_a_sample_does_not_hold_up_the_others),
      cmocka_unit_test(cold_by_a_second_file_counts_whatever_came_of_it),
      cmocka_unit_test(files_read_back_are_counted),
      cmocka_unit_test(numbers_of_a_broken_file_are_no_danger),
      cmocka_unit_test(the_first_of_two_samples_of_a_round_counts),
      cmocka_unit_test(the_order_of_samples_changes_nothing),
      cmocka_unit_test(two_hundred_cells_and_rounds_are_digested),
      cmocka_unit_test(cells_are_ranked_by_what_was_asked),
      cmocka_unit_test(floors_failed_and_unavailable_come_last_and_the_twin_nowhere),
      cmocka_unit_test(the_margin_grows_to_what_the_twin_shows),
      cmocka_unit_test(the_twin_is_paired_with_its_own_original),
      cmocka_unit_test(labels_say_what_the_evidence_bears_out),
      cmocka_unit_test(a_device_without_a_cache_needs_no_flush),
      cmocka_unit_test(cold_counts_the_bytes_of_one_pass),
      cmocka_unit_test(holes_of_the_users_file_are_named),
      cmocka_unit_test(what_stands_before_the_disk_is_named),
      cmocka_unit_test(evidence_is_the_median_of_what_is_known),
      cmocka_unit_test(allocations_are_those_of_the_pilot),
      cmocka_unit_test(the_limit_is_that_of_the_floor_that_bounds_it),
      cmocka_unit_test(the_limit_is_the_one_that_the_cell_comes_nearest_to),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
