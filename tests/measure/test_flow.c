/*
 * test_flow.c - the time of operations as the flow takes it: what it keeps against what passed, one by one, and operations
 * that begin at a given rate.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "measure/flow.h"
#include "os/os.h"

#define OPERATIONS 30000u

static uint64_t raw[OPERATIONS];
static size_t raw_count;
static void (*keep)(struct weir_flow *flow, uint64_t elapsed_ns);

/* Hands on what it has noted. */
static void note(struct weir_flow *flow, uint64_t elapsed_ns) {
  if (raw_count < OPERATIONS) raw[raw_count++] = elapsed_ns;
  keep(flow, elapsed_ns);
}

static int ascending(const void *left, const void *right) {
  const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return (a > b) - (a < b);
}

static int start_clock(void **state) {
  (void)state;
  return os_fast_clock_start();
}

/* Real operations, from some ten to many thousand nanoseconds, on the clock that methods are timed with. */
static void percentiles_are_those_of_the_raw_times_within_a_hundredth(void **state) {
  (void)state;
  static const unsigned shares[] = {5000, 9000, 9900, 9990};
  struct weir_flow flow;
  struct flow_core core;
  struct random_state random = random_start(3, 3);
  const struct flow_setup setup = {.latency = true, .reference = os_no_file};
  struct histogram_entry *entries = calloc(HISTOGRAM_SLOTS, sizeof *entries);
  assert_non_null(entries);
  assert_int_equal(flow_init(&flow, &core, &setup), 0);
  keep = flow.latency;
  flow.latency = note;
  raw_count = 0;
  for (unsigned i = 0; i < OPERATIONS; i++) {
    const uint64_t began = weir_operation_begin(&flow), steps = random_next(&random) >> (52 + random_below(&random, 12));
    for (volatile uint64_t step = 0; step < steps; step++) continue;
    weir_operation_end(&flow, began);
  }
  assert_int_equal(flow.operations, OPERATIONS);
  assert_int_equal(raw_count, OPERATIONS);
  const size_t used = histogram_pack(core.latency, entries);
  assert_true(histogram_total(entries, used) == OPERATIONS);
  qsort(raw, OPERATIONS, sizeof *raw, ascending);
  for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
    const double want = (double)raw[shares[i] * OPERATIONS / 10000 - 1];
    const double got = histogram_quantile(entries, used, shares[i] / 10000.0);
    if (fabs(got - want) > 0.01 * want) fail_msg("p%g: %.17g ns, not %.17g", shares[i] / 100.0, got, want);
  }
  flow_free(&flow);
  free(entries);
}

static void a_clock_that_steps_back_is_no_long_time(void **state) {
  (void)state;
  struct weir_flow flow;
  struct flow_core core;
  const struct flow_setup setup = {.latency = true, .reference = os_no_file};
  assert_int_equal(flow_init(&flow, &core, &setup), 0);
  flow.latency(&flow, (uint64_t)-3);
  assert_int_equal(core.latency[0], 1);
  flow_free(&flow);
}

static void without_latency_nothing_is_kept(void **state) {
  (void)state;
  struct weir_flow flow;
  struct flow_core core;
  assert_int_equal(flow_init(&flow, &core, &(struct flow_setup){.reference = os_no_file}), 0);
  assert_null(core.latency);
  assert_true(weir_operation_begin(&flow) == 0);
  weir_operation_end(&flow, 0);
  assert_int_equal(flow.operations, 1);
  flow_free(&flow);
}

/* ---- at a rate ----------------------------------------------------------------------------------------------------- */

/* Never before they are due, and due one period apart, whatever the ones before took. */
static void operations_begin_at_the_rate(void **state) {
  (void)state;
  struct weir_flow flow;
  struct flow_core core;
  atomic_int stop = 0;
  const struct flow_setup setup = {.latency = true, .rate_per_s = 2000, .stop = &stop, .reference = os_no_file};
  assert_int_equal(flow_init(&flow, &core, &setup), 0);
  assert_true(weir_is_paced(&flow) && weir_operation_due(&flow));
  const uint64_t first = weir_operation_begin(&flow);
  for (unsigned i = 1; i < 100; i++) {
    const uint64_t due = weir_operation_begin(&flow);
    assert_true(due == first + i * UINT64_C(500000));
    assert_true(os_fast_clock_ns() >= due);
    weir_operation_end(&flow, due);
  }
  assert_int_equal(flow.operations, 99);
  flow_free(&flow);
}

/* One that holds up the others: they count from when they should have begun, and are late. */
static void who_waits_counts_from_when_it_was_due(void **state) {
  (void)state;
  struct weir_flow flow;
  struct flow_core core;
  atomic_int stop = 0;
  const struct flow_setup setup = {.latency = true, .rate_per_s = 10000, .stop = &stop, .reference = os_no_file};
  struct histogram_entry *entries = calloc(HISTOGRAM_SLOTS, sizeof *entries);
  assert_non_null(entries);
  assert_int_equal(flow_init(&flow, &core, &setup), 0);
  for (unsigned i = 0; i < 100; i++) {
    const uint64_t began = weir_operation_begin(&flow);
    if (i == 0) os_sleep_ns(20000000);
    weir_operation_end(&flow, began);
  }
  const size_t used = histogram_pack(core.latency, entries);
  /* Operation i was due i x 0.1 ms after the first, and could not begin before 20 ms: 10 ms or more for every one of them.
   */
  assert_true(histogram_total(entries, used) == 100 && histogram_low(entries[0].slot) >= 9900000);
  assert_true(core.late >= 98);
  flow_reset(&flow);
  assert_true(weir_operation_due(&flow));
  free(entries);
  flow_free(&flow);
}

static void a_stop_ends_the_wait(void **state) {
  (void)state;
  struct weir_flow flow;
  struct flow_core core;
  atomic_int stop = 0;
  const struct flow_setup setup = {.latency = true, .rate_per_s = 0.001, .stop = &stop, .reference = os_no_file};
  assert_int_equal(flow_init(&flow, &core, &setup), 0);
  weir_operation_begin(&flow);
  assert_false(weir_operation_due(&flow));
  atomic_store(&stop, 1);
  weir_operation_begin(&flow); /* would wait for a quarter of an hour */
  flow_free(&flow);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(percentiles_are_those_of_the_raw_times_within_a_hundredth),
      cmocka_unit_test(a_clock_that_steps_back_is_no_long_time),
      cmocka_unit_test(without_latency_nothing_is_kept),
      cmocka_unit_test(operations_begin_at_the_rate),
      cmocka_unit_test(who_waits_counts_from_when_it_was_due),
      cmocka_unit_test(a_stop_ends_the_wait),
  };
  return cmocka_run_group_tests(tests, start_clock, NULL);
}
