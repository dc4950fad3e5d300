/* test_curve.c - half-power points of groups made by hand, with rates that are known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "made_run.h"

enum { GROUPS = 3, CELLS = 4 };

/* A buffered cell, a direct one, a ring of depth 1 and of depth 8, with a request size for each group. */
static void make_group(struct plan_group *group, uint64_t request_bytes) {
  char id[32];
  snprintf(id, sizeof id, "read-%u", (unsigned)request_bytes);
  *group = (struct plan_group){.id = made_text(id), .title = made_text("made"), .cell_count = CELLS, .passes = 1};
  group->demand = (struct plan_demand){
      .consumer = WEIR_CONSUMER_TOUCH, .size_bytes = MADE_BYTES, .coverage = 1, .request_bytes = request_bytes};
  group->cells = made_room(CELLS, sizeof *group->cells);
  for (unsigned c = 0; c < CELLS; c++) {
    struct plan_cell *cell = &group->cells[c];
    snprintf(cell->method, sizeof cell->method, "m/%u", c);
    cell->id = made_text(cell->method);
    cell->threads = 1;
    if (c > 0) cell->capabilities = WEIR_CAP_DIRECT;
    if (c < 2) continue;
    cell->capabilities |= WEIR_CAP_DEPTH;
    cell->param_count = 1;
    cell->params[0] = (struct plan_param){.name = "depth", .value = c == 2 ? 1 : 8};
  }
}

/* Milliseconds of every cell; 0: never measured. The groups stand in another order than their requests. */
static struct run make_run(const double times_ms[GROUPS][CELLS]) {
  static const uint64_t requests[GROUPS] = {65536, 1048576, 4096};
  struct run run = {.plan = {.margin = 0.03, .group_count = GROUPS}};
  run.plan.suite = made_text("");
  run.plan.groups = made_room(GROUPS, sizeof *run.plan.groups);
  for (unsigned g = 0; g < GROUPS; g++) make_group(&run.plan.groups[g], requests[g]);
  for (int round = 1; round <= 3; round++)
    for (unsigned g = 0; g < GROUPS; g++)
      for (unsigned c = 0; c < CELLS; c++) {
        struct sample sample = made_sample(c, round, times_ms[g][c] * 1e6);
        sample.group = g;
        if (times_ms[g][c] > 0) made_add(&run, sample);
      }
  return run;
}

static void half_power_is_the_smallest_request_and_depth_that_reach_half(void **state) {
  (void)state;
  /* of 64 KiB, 1 MiB, 4 KiB: unbuffered is best at 1 MiB (2 ms), and half of that is reached at 64 KiB at depth 8 alone */
  const double times_ms[GROUPS][CELLS] = {{5, 6, 5, 3.9}, {4, 2.5, 2.4, 2}, {9, 90, 80, 12}};
  struct run run = make_run(times_ms);
  struct summary summary = made_summary(&run);
  assert_int_equal(summary.curve_count, 1);
  const struct stat_curve *curve = &summary.curves[0];
  assert_int_equal(curve->group_count, 3);
  assert_int_equal(curve->smallest_request_bytes, 4096);
  assert_ptr_equal(curve->first, &run.plan.groups[0]);
  assert_string_equal(curve->unbuffered.best->plan->id, "m/3");
  assert_int_equal(curve->unbuffered.best_request_bytes, 1048576);
  assert_int_equal(curve->unbuffered.best_depth, 8);
  assert_int_equal(curve->unbuffered.half_request_bytes, 65536);
  assert_int_equal(curve->unbuffered.half_depth, 8);
  assert_false(curve->unbuffered.half_is_smallest);
  assert_int_equal(curve->buffered.best_request_bytes, 1048576);
  assert_int_equal(curve->buffered.half_request_bytes, 65536);
  assert_int_equal(curve->buffered.half_depth, 1);
  assert_true(fabs(curve->buffered_share - 0.5) < 1e-3);
  assert_true(fabs(curve->unbuffered.cpu_ns_per_gib - 2e6 * 1024) < 2e3); /* MADE_BYTES are a MiB, all of its time is CPU */
  stat_release(&summary);
  run_release(&run);
}

static void a_small_depth_is_named_where_it_is_enough(void **state) {
  (void)state;
  const double times_ms[GROUPS][CELLS] = {{5, 3.8, 3.9, 3}, {4, 2.5, 2.4, 2}, {7.9, 90, 80, 4.1}};
  struct run run = make_run(times_ms);
  struct summary summary = made_summary(&run);
  const struct stat_curve *curve = &summary.curves[0];
  assert_int_equal(curve->unbuffered.half_depth, 1);
  assert_string_equal(curve->unbuffered.half->plan->id, "m/1"); /* of the two of depth 1 the faster one */
  assert_true(curve->buffered.half_is_smallest);
  stat_release(&summary);
  run_release(&run);
}

static void a_curve_takes_two_sizes_and_both_sides(void **state) {
  (void)state;
  const double buffered_only[GROUPS][CELLS] = {{5, 0, 0, 0}, {4, 0, 0, 0}, {3, 0, 0, 0}};
  const double one_size[GROUPS][CELLS] = {{5, 4, 3, 2}, {0, 0, 0, 0}, {0, 0, 0, 0}};
  const double(*const cases[])[CELLS] = {buffered_only, one_size};
  for (unsigned i = 0; i < 2; i++) {
    struct run run = make_run(cases[i]);
    struct summary summary = made_summary(&run);
    assert_int_equal(summary.curve_count, 0);
    stat_release(&summary);
    run_release(&run);
  }
}

/* Another direction is another curve, and a twin no further cell. */
static void other_demands_have_curves_of_their_own(void **state) {
  (void)state;
  const double times_ms[GROUPS][CELLS] = {{5, 4, 3, 1}, {4, 4, 3, 2}, {3, 4, 3, 2}};
  struct run run = make_run(times_ms);
  run.plan.groups[0].cells[3].twin = true;
  run.plan.groups[1].demand.members = 2;
  struct summary summary = made_summary(&run);
  assert_int_equal(summary.curve_count, 1);
  assert_int_equal(summary.curves[0].group_count, 2);
  assert_string_equal(summary.curves[0].unbuffered.best->plan->id, "m/3");
  assert_int_equal(summary.curves[0].unbuffered.best_request_bytes, 4096);
  stat_release(&summary);
  run_release(&run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(half_power_is_the_smallest_request_and_depth_that_reach_half),
      cmocka_unit_test(a_small_depth_is_named_where_it_is_enough),
      cmocka_unit_test(a_curve_takes_two_sizes_and_both_sides),
      cmocka_unit_test(other_demands_have_curves_of_their_own),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
