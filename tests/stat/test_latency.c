/* test_latency.c - percentiles over rounds, their intervals, and when they are not given. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "made_run.h"

static void assert_near(double got, double expected, double tolerance) {
  if (!(fabs(got - expected) <= tolerance)) fail_msg("%.17g is not %.17g", got, expected);
}

/* A sample whose operations took these times. */
static void add(struct run *run, unsigned cell, int round, const struct histogram_entry *entries, size_t count) {
  struct sample sample = made_sample(cell, round, 1e7);
  assert_int_equal(run_keep_latency(run, &sample, entries, count), 0);
  made_add(run, sample);
}

static void finish(struct summary *summary, struct run *run) {
  stat_release(summary);
  run_release(run);
}

/* Ten rounds with 11 ... 20 ns at the median and 21 ... 30 ns at p90: the 2nd and the 9th of each bound the interval. */
static void a_percentile_is_the_median_over_rounds_with_its_interval(void **state) {
  (void)state;
  struct run run = made_run(2);
  for (unsigned round = 1; round <= 10; round++) {
    const struct histogram_entry entries[] = {{10 + round, 800}, {20 + round, 185}, {40, 15}};
    add(&run, 0, (int)round, entries, 3);
    made_time(&run, 1, (int)round, 1e7);
  }
  struct summary summary = made_summary(&run);
  const struct stat_latency *latency = summary.groups[0].cells[0].latency;
  assert_non_null(latency);
  assert_int_equal(latency->operations, 1000);
  const struct stat_interval *p50 = &latency->percentile_ns[0], *p90 = &latency->percentile_ns[1];
  assert_true(p50->known && p90->known);
  assert_near(p50->median, 15.5, 0);
  assert_near(p50->low, 12, 0);
  assert_near(p50->high, 19, 0);
  assert_near(p90->median, 25.5, 0);
  assert_near(latency->percentile_ns[2].median, 40, 0);
  assert_int_equal(latency->slot_count, 21);
  assert_null(summary.groups[0].cells[1].latency); /* what was not timed says so */
  finish(&summary, &run);
}

/* Ten operations beyond it in each sample, or it is not given: the poorest sample decides. */
static void too_few_operations_give_no_percentile(void **state) {
  (void)state;
  static const uint64_t enough[] = {20, 100, 1000, 10000, 100000};
  for (unsigned i = 0; i < STAT_PERCENTILES; i++) {
    assert_int_equal(stat_percentiles[i].operations, enough[i]);
    for (uint64_t less = 0; less < 2; less++) {
      struct run run = made_run(1);
      for (int round = 1; round <= 6; round++)
        add(&run, 0, round, &(struct histogram_entry){30, enough[i] + 7 - (round == 3 ? 7 + less : 0)}, 1);
      struct summary summary = made_summary(&run);
      const struct stat_latency *latency = summary.groups[0].cells[0].latency;
      assert_int_equal(latency->operations, enough[i] - less);
      assert_near(latency->percentile_ns[i].median, less ? 0 : 30, 0);
      if (i + 1 < STAT_PERCENTILES) assert_near(latency->percentile_ns[i + 1].median, 0, 0);
      finish(&summary, &run);
    }
  }
}

static void below_six_rounds_there_is_no_interval(void **state) {
  (void)state;
  struct run run = made_run(1);
  for (int round = 1; round <= 5; round++) add(&run, 0, round, &(struct histogram_entry){50, 1000}, 1);
  struct summary summary = made_summary(&run);
  assert_near(summary.groups[0].cells[0].latency->percentile_ns[0].median, 50, 0);
  assert_false(summary.groups[0].cells[0].latency->percentile_ns[0].known);
  finish(&summary, &run);
}

/* Their counts are handed on, their percentiles would be off by a third. */
static void octaves_of_older_files_give_counts_only(void **state) {
  (void)state;
  struct run run = made_run(1);
  for (int round = 1; round <= 6; round++) {
    struct sample sample = made_sample(0, round, 1e7);
    const struct histogram_entry entries[] = {{12, 3}, {63, 1}};
    sample.latency_is_log2 = true;
    assert_int_equal(run_keep_latency(&run, &sample, entries, 2), 0);
    made_add(&run, sample);
  }
  struct summary summary = made_summary(&run);
  const struct stat_latency *latency = summary.groups[0].cells[0].latency;
  assert_true(latency->is_log2);
  assert_near(latency->percentile_ns[0].median, 0, 0);
  assert_int_equal(latency->slot_count, 2);
  assert_true(histogram_low(latency->slots[0].slot) == 4096 && latency->slots[0].count == 18);
  assert_true(latency->slots[1].slot < HISTOGRAM_SLOTS && latency->slots[1].count == 6);
  finish(&summary, &run);
}

static void the_late_share_is_that_of_all_operations(void **state) {
  (void)state;
  struct run run = made_run(1);
  run.plan.groups[0].demand.rate_per_s = 100;
  for (int round = 1; round <= 6; round++) {
    struct sample sample = made_sample(0, round, 1e7);
    sample.late = round == 2 ? 12 : 0; /* of 6 x 16 */
    assert_int_equal(run_keep_latency(&run, &sample, &(struct histogram_entry){50, 16}, 1), 0);
    made_add(&run, sample);
  }
  struct summary summary = made_summary(&run);
  assert_near(summary.groups[0].cells[0].latency->late_share, 0.125, 1e-12);
  stat_release(&summary);
  run.plan.groups[0].demand.rate_per_s = 0;
  summary = made_summary(&run);
  assert_near(summary.groups[0].cells[0].latency->late_share, -1, 0);
  finish(&summary, &run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_percentile_is_the_median_over_rounds_with_its_interval),
      cmocka_unit_test(too_few_operations_give_no_percentile),
      cmocka_unit_test(below_six_rounds_there_is_no_interval),
      cmocka_unit_test(octaves_of_older_files_give_counts_only),
      cmocka_unit_test(the_late_share_is_that_of_all_operations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
