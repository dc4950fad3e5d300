/* test_histogram.c - slots and percentiles against sorted values. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/histogram.h"
#include "base/random.h"

#define HOURS_10 UINT64_C(36000000000000)

static void every_value_lies_in_its_slot(void **state) {
  (void)state;
  struct random_state random = random_start(1, 1);
  unsigned last = 0;
  for (uint64_t value = 0; value < 100000; value++) {
    const unsigned slot = histogram_slot(value);
    assert_true(slot == last || slot == last + 1); /* no gap, never back */
    last = slot;
  }
  for (int i = 0; i < 100000; i++) {
    const uint64_t value = random_next(&random) >> (16 + random_below(&random, 48));
    const unsigned slot = histogram_slot(value);
    assert_true(slot < HISTOGRAM_SLOTS);
    assert_true(histogram_low(slot) <= value && value < histogram_end(slot));
    assert_int_equal(histogram_slot_at(histogram_low(slot)), slot);
    if (histogram_end(slot) - histogram_low(slot) > 1) assert_int_equal(histogram_slot_at(histogram_low(slot) + 1), -1);
  }
  assert_int_equal(histogram_slot(UINT64_MAX), HISTOGRAM_SLOTS - 1);
  assert_true(histogram_end(HISTOGRAM_SLOTS - 1) == UINT64_C(1) << HISTOGRAM_END_BITS);
  assert_true(histogram_low(HISTOGRAM_SLOTS - 1) > HOURS_10);
}

static void slots_are_narrow(void **state) {
  (void)state;
  for (unsigned slot = 1; slot < HISTOGRAM_SLOTS; slot++) {
    const double low = (double)histogram_low(slot), last = (double)histogram_end(slot) - 1;
    assert_true((last - low) / 2 / low < 0.008);
    assert_true(histogram_low(slot) == histogram_end(slot - 1));
  }
}

/* ---- percentiles --------------------------------------------------------------------------------------------------- */

#define COUNT 200000u

static int ascending(const void *left, const void *right) {
  const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return (a > b) - (a < b);
}

/* The smallest value that so many of 10 000 do not exceed. */
static uint64_t exact(const uint64_t *sorted, size_t count, uint64_t of_10000) {
  return sorted[(of_10000 * count + 9999) / 10000 - 1];
}

static void compare(uint64_t *values, size_t count) {
  static const unsigned shares[] = {100, 5000, 9000, 9900, 9990, 9999, 10000};
  uint64_t *counts = calloc(HISTOGRAM_SLOTS, sizeof *counts);
  struct histogram_entry *entries = calloc(HISTOGRAM_SLOTS, sizeof *entries);
  assert_true(counts && entries);
  for (size_t i = 0; i < count; i++) counts[histogram_slot(values[i])]++;
  const size_t used = histogram_pack(counts, entries);
  assert_true(histogram_total(entries, used) == count);
  qsort(values, count, sizeof *values, ascending);
  for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
    const double want = (double)exact(values, count, shares[i]);
    const double got = histogram_quantile(entries, used, shares[i] / 10000.0);
    if (fabs(got - want) > 0.01 * want) fail_msg("p%g: %.17g, not %.17g", shares[i] / 100.0, got, want);
  }
  free(entries);
  free(counts);
}

/* From 1 ns to 10 h, narrow, with a long tail, with two humps, all alike. */
static void percentiles_are_those_of_the_sorted_values_within_a_hundredth(void **state) {
  (void)state;
  struct random_state random = random_start(7, 7);
  uint64_t *values = malloc(COUNT * sizeof *values);
  assert_non_null(values);
  for (unsigned kind = 0; kind < 5; kind++) {
    for (unsigned i = 0; i < COUNT; i++) {
      const double unit = random_unit(&random), normal = random_normal(&random);
      const double made[] = {exp(unit * log((double)HOURS_10)), 80000 * exp(0.02 * normal), 5000 * exp(1.5 * normal),
                             unit < 0.995 ? 900 * exp(0.1 * normal) : 4e6 * exp(0.3 * normal), 12345};
      values[i] = (uint64_t)made[kind] + 1;
    }
    compare(values, COUNT);
  }
  free(values);
}

static void few_values_are_told_exactly(void **state) {
  (void)state;
  uint64_t one[] = {77}, ten[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  compare(one, 1);
  compare(ten, 10);
  struct histogram_entry none;
  assert_true(histogram_quantile(&none, 0, 0.5) == 0);
}

static void merged_counts_are_those_of_all(void **state) {
  (void)state;
  struct histogram_entry both[] = {{10, 3}, {200, 5}, {2000, 2}};
  assert_true(histogram_total(both, 3) == 10);
  assert_true(histogram_quantile(both, 3, 0.3) == 10);
  assert_true(histogram_quantile(both, 3, 0.31) > 10 &&
              histogram_quantile(both, 3, 0.31) == histogram_quantile(both, 3, 0.8));
  assert_true(histogram_quantile(both, 3, 0.81) == histogram_quantile(both, 3, 1));
  struct histogram_entry huge[] = {{1, UINT64_MAX}, {2, 5}};
  assert_true(histogram_total(huge, 2) == UINT64_MAX);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_value_lies_in_its_slot),
      cmocka_unit_test(slots_are_narrow),
      cmocka_unit_test(percentiles_are_those_of_the_sorted_values_within_a_hundredth),
      cmocka_unit_test(few_values_are_told_exactly),
      cmocka_unit_test(merged_counts_are_those_of_all),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
