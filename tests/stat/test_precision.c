/* How sure the times are while a run goes on: the half width of exact intervals, over cells. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "made_run.h"
#include "stat/precision.h"

static void nothing_is_known_of_few_rounds(void **state) {
  (void)state;
  struct run run = made_run(1);
  assert_true(stat_precision(&run) == 0);
  for (int round = 1; round <= 5; round++) made_time(&run, 0, round, 1e6 + round);
  assert_true(stat_precision(&run) == 0); /* of five values no interval of the median holds 95 % */
  made_time(&run, 0, 6, 1e6 + 6);
  assert_true(stat_precision(&run) > 0);
  run_release(&run);
}

/* Of 9 values the interval goes from the 2nd to the 8th. */
static void it_is_half_the_width_of_the_interval(void **state) {
  (void)state;
  struct run run = made_run(1);
  static const double times[] = {109e4, 100e4, 104e4, 101e4, 105e4, 102e4, 106e4, 103e4, 107e4};
  for (int round = 1; round <= 9; round++) made_time(&run, 0, round, times[round - 1]);
  assert_true(fabs(stat_precision(&run) - (107.0 - 101.0) / 2 / 104.0) < 1e-9);
  run_release(&run);
}

static void what_is_not_analysed_does_not_count(void **state) {
  (void)state;
  struct run run = made_run(1);
  for (int round = -1; round <= 0; round++)
    for (int i = 0; i < 20; i++) made_time(&run, 0, round, 1e6 * (i + 1));
  for (int round = 1; round <= 9; round++) {
    struct sample sample = made_sample(0, round, 1e6 * round);
    sample.flags = round % 2 ? RUN_RETAKEN : RUN_PARTIAL;
    made_add(&run, sample);
    sample.flags = 0;
    sample.status = RUN_FAILED;
    made_add(&run, sample);
  }
  assert_true(stat_precision(&run) == 0);
  run_release(&run);
}

/* The median over cells: the one of three that is neither the surest nor the least sure. Also through groups. */
static void it_is_the_median_over_cells(void **state) {
  (void)state;
  struct run run = made_run(4);
  static const double spread[] = {1e3, 5e4, 1e4};
  for (int round = 1; round <= 9; round++)
    for (unsigned cell = 0; cell < 3; cell++) made_time(&run, cell, round, 1e6 + (round - 5) * spread[cell]);
  assert_true(fabs(stat_precision(&run) - 3e4 / 1e6) < 1e-9);
  run_release(&run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_is_known_of_few_rounds),
      cmocka_unit_test(it_is_half_the_width_of_the_interval),
      cmocka_unit_test(what_is_not_analysed_does_not_count),
      cmocka_unit_test(it_is_the_median_over_cells),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
