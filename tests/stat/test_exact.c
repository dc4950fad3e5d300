/*
 * test_exact.c - exact arithmetic against known integers and tables.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "stat/exact.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static void assert_near(double got, double expected, double relative) {
  if (!(fabs(got - expected) <= relative * fabs(expected))) fail_msg("%.17g is not %.17g", got, expected);
}

/* With a fair coin tails are whole numbers over 2^n; up to n = 50 both are exact in a double. */
static void fair_tails_are_sums_of_binomials(void **state) {
  (void)state;
  for (unsigned n = 0; n <= 50; n++) {
    double row[52] = {1};
    for (unsigned i = 1; i <= n; i++) {
      for (unsigned k = i; k > 0; k--) row[k] += row[k - 1];
    }
    double sum = 0;
    for (unsigned wins = n + 1; wins-- > 0;) {
      sum += row[wins];
      assert_near(exact_upper_tail(n, wins, 0.5), ldexp(sum, -(int)n), 1e-13);
    }
    assert_true(exact_upper_tail(n, n + 1, 0.5) == 0);
  }
}

static void tails_of_other_coins_are_known(void **state) {
  (void)state;
  assert_near(exact_upper_tail(3, 2, 0.9), 0.972, 1e-14);
  assert_near(exact_upper_tail(10, 1, 0.1), 1 - pow(0.9, 10), 1e-13);
  assert_near(exact_upper_tail(20, 20, 0.8), pow(0.8, 20), 1e-13);
  assert_true(exact_upper_tail(5, 0, 0) == 1);
  assert_true(exact_upper_tail(5, 1, 0) == 0);
  assert_true(exact_upper_tail(5, 5, 1) == 1);
}

/* Far beyond the range where 2^-n is a number: symmetry still holds to many digits, and small tails are not lost. */
static void thousands_of_rounds_neither_overflow_nor_vanish(void **state) {
  (void)state;
  for (unsigned n = 1001; n < 9000; n += 2000) {
    assert_near(exact_upper_tail(n, (n + 1) / 2, 0.5), 0.5, 1e-10);
    double above = exact_upper_tail(n, n / 2 + 60, 0.5), below = exact_upper_tail(n, n - (n / 2 + 60) + 1, 0.5);
    assert_near(above + below, 1, 1e-10);
  }
  assert_near(exact_upper_tail(5000, 5000, 0.999), exp(5000 * log(0.999)), 1e-10);
  /* The normal with continuity correction is close to it, as far out as this. */
  assert_near(exact_upper_tail(5000, 2650, 0.5), 0.5 * erfc((2649.5 - 2500) / sqrt(2500.0)), 0.02);
  assert_true(exact_critical_wins(5000, 0.05) > 2500 && exact_critical_wins(5000, 0.05) < 2600);
}

static void critical_wins_are_the_fewest_that_reject(void **state) {
  (void)state;
  assert_int_equal(exact_critical_wins(4, 0.05), 5);
  assert_int_equal(exact_critical_wins(5, 0.05), 5);
  assert_int_equal(exact_critical_wins(10, 0.05), 9);
  assert_int_equal(exact_critical_wins(20, 0.05), 15);
  assert_int_equal(exact_critical_wins(20, 0.025), 15);
  assert_int_equal(exact_critical_wins(20, 0.05 / 29), 17);
  assert_int_equal(exact_critical_wins(4, 0.0625), 4); /* a tail that equals alpha rejects */
  assert_int_equal(exact_critical_wins(0, 0.05), 1);
  for (unsigned n = 1; n < 300; n += 7) {
    unsigned wins = exact_critical_wins(n, 0.01);
    assert_true(exact_upper_tail(n, wins, 0.5) <= 0.01);
    assert_true(exact_upper_tail(n, wins - 1, 0.5) > 0.01);
  }
}

static void floors_are_those_of_the_table(void **state) {
  (void)state;
  static const unsigned table[][4] = {
      {1, 0, 0, 0},    {2, 6, 5, 6},     {3, 7, 6, 7},     {5, 8, 7, 9},      {10, 9, 8, 11},
      {20, 10, 9, 13}, {30, 11, 10, 15}, {40, 11, 10, 15}, {100, 12, 11, 18}, {200, 13, 12, 20},
  };
  for (size_t i = 0; i < COUNT_OF(table); i++) {
    assert_int_equal(exact_floor_baseline(table[i][0]), table[i][1]);
    assert_int_equal(exact_floor_best(table[i][0]), table[i][2]);
    assert_int_equal(exact_floor_pairs(table[i][0]), table[i][3]);
  }
  assert_int_equal(exact_floor_baseline(0), 0);
  /* A floor is the first n at which unanimous rounds reject. */
  for (unsigned k = 2; k <= 200; k++) {
    unsigned n = exact_floor_best(k);
    assert_true(exact_critical_wins(n, 0.05 / (k - 1)) == n);
    assert_true(exact_critical_wins(n - 1, 0.05 / (k - 1)) == n);
  }
}

static void interval_ranks_are_those_of_the_table(void **state) {
  (void)state;
  static const struct {
    unsigned n, rank;
    double coverage;
  } table[] = {{6, 1, 0.96875}, {10, 2, 0.978515625}, {20, 6, 0.9586105346679688}, {30, 10, 0.957226}};
  for (size_t i = 0; i < COUNT_OF(table); i++) {
    unsigned rank = exact_interval_rank(table[i].n, 0.05);
    assert_int_equal(rank, table[i].rank);
    assert_near(1 - 2 * exact_upper_tail(table[i].n, table[i].n - rank + 1, 0.5), table[i].coverage, 1e-6);
  }
  for (unsigned n = 0; n < 6; n++) assert_int_equal(exact_interval_rank(n, 0.05), 0);
  for (unsigned n = 1; n < 50; n++) assert_true(exact_interval_rank(n, 1) <= (n + 1) / 2);
}

static void a_detectable_win_has_the_power_it_names(void **state) {
  (void)state;
  for (unsigned k = 2; k <= 40; k++) {
    double alpha = 0.05 / (k - 1);
    for (unsigned n = 1; n <= 60; n++) {
      double win = exact_detectable_win(n, alpha);
      if (n < exact_floor_baseline(k)) {
        assert_true(win == 0);
        continue;
      }
      unsigned critical = exact_critical_wins(n, alpha / 2);
      assert_true(win > 0.5 && win < 1);
      assert_near(exact_upper_tail(n, critical, win), 0.8, 1e-9);
    }
  }
  /* All of 6 rounds must be won: 0.8 ^ (1/6). */
  assert_near(exact_detectable_win(6, 0.05), pow(0.8, 1.0 / 6), 1e-12);
}

static void holm_steps_down_and_stops(void **state) {
  (void)state;
  bool reject[5];
  const double textbook[] = {0.01, 0.04, 0.03, 0.005};
  assert_int_equal(exact_holm(textbook, 4, 0.05, reject), 0);
  assert_true(reject[0] && !reject[1] && !reject[2] && reject[3]);
  const double step[] = {0.0125, 0.016, 0.025, 0.05}; /* each just at its level */
  assert_int_equal(exact_holm(step, 4, 0.05, reject), 0);
  assert_true(reject[0] && reject[1] && reject[2] && reject[3]);
  const double first_misses[] = {0.013, 0.0001, 0.02, 0.02, 0.02}; /* 0.013 > 0.05 / 4 */
  assert_int_equal(exact_holm(first_misses, 5, 0.05, reject), 0);
  assert_true(!reject[0] && reject[1] && !reject[2] && !reject[3] && !reject[4]);
  assert_int_equal(exact_holm(NULL, 0, 0.05, NULL), 0);
}

static void sorting_and_medians_are_right(void **state) {
  (void)state;
  struct random_state random = random_start(2, 0);
  for (size_t n = 1; n <= 3000; n = n * 2 + 1) {
    double values[4096];
    for (size_t i = 0; i < n; i++) values[i] = (double)random_below(&random, 50);
    exact_sort(values, n);
    for (size_t i = 1; i < n; i++) assert_true(values[i - 1] <= values[i]);
  }
  double odd[] = {3, 1, 2}, even[] = {4, 1, 3, 2}, one[] = {7};
  assert_true(exact_median(odd, 3) == 2);
  assert_true(exact_median(even, 4) == 2.5);
  assert_true(exact_median(one, 1) == 7);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fair_tails_are_sums_of_binomials),
      cmocka_unit_test(tails_of_other_coins_are_known),
      cmocka_unit_test(thousands_of_rounds_neither_overflow_nor_vanish),
      cmocka_unit_test(critical_wins_are_the_fewest_that_reject),
      cmocka_unit_test(floors_are_those_of_the_table),
      cmocka_unit_test(interval_ranks_are_those_of_the_table),
      cmocka_unit_test(a_detectable_win_has_the_power_it_names),
      cmocka_unit_test(holm_steps_down_and_stops),
      cmocka_unit_test(sorting_and_medians_are_right),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
