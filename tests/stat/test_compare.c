/* test_compare.c - two runs made by hand, whose truth is known: what is called, what is refused, and what is left open. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "made_run.h"
#include "stat/compare.h"
#include "stat/exact.h"
#include "stat/unpaired.h"

#define CELLS_MAX 32

/* Two runs of as many cells and rounds, what each cell takes in each, and how they came out. */
struct world {
  unsigned cells, rounds;
  double before[CELLS_MAX], now[CELLS_MAX]; /* 0 and 1 alike: 1 */
  double machine;                           /* the run now takes so much longer as a whole */
  double jitter;
  uint64_t seed;
};

struct pair {
  struct run runs[2];
  struct summary summaries[2];
  struct comparison comparison;
};

static void measure(const struct world *world, int side, struct run *run) {
  struct random_state random = random_start(world->seed, (uint64_t)side + 77);
  double drift = 0;
  *run = made_run(world->cells);
  for (unsigned round = 1; round <= world->rounds; round++)
    for (unsigned c = 0; c < world->cells; c++) {
      const double own = side ? world->now[c] : world->before[c];
      drift = 0.995 * drift + 0.004 * random_normal(&random);
      const double ln =
          drift + world->jitter * random_normal(&random) + (side ? log(world->machine > 0 ? world->machine : 1) : 0);
      made_time(run, c, (int)round, 10e6 * (own > 0 ? own : 1) * (1 + 0.1 * c) * exp(ln));
    }
}

static void summarize(struct pair *pair) {
  for (int side = 0; side < 2; side++) pair->summaries[side] = made_summary(&pair->runs[side]);
}

static struct pair make_pair(const struct world *world) {
  struct pair pair;
  for (int side = 0; side < 2; side++) measure(world, side, &pair.runs[side]);
  return pair;
}

static const struct comparison *compare(struct pair *pair, struct compare_options options) {
  summarize(pair);
  options.before_name = "a";
  options.now_name = "b";
  assert_int_equal(compare_runs(&pair->summaries[0], &pair->summaries[1], &options, &pair->comparison), 0);
  return &pair->comparison;
}

static void release(struct pair *pair) {
  compare_release(&pair->comparison);
  for (int side = 0; side < 2; side++) {
    stat_release(&pair->summaries[side]);
    run_release(&pair->runs[side]);
  }
}

/* ---- the exact law ------------------------------------------------------------------------------------------------- */

/* Two-sided 5 % points of Mann and Whitney's count, from the printed tables: the rank is one more. */
static void ranks_are_those_of_the_tables(void **state) {
  (void)state;
  static const struct {
    unsigned m, n, critical;
  } table[] = {{5, 5, 2}, {8, 8, 13}, {10, 10, 23}, {15, 15, 64}, {20, 20, 127}, {5, 10, 8}, {8, 20, 41}, {12, 17, 57}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    assert_int_equal(unpaired_rank(table[i].m, table[i].n, 0.05), table[i].critical + 1);
    assert_int_equal(unpaired_rank(table[i].n, table[i].m, 0.05), table[i].critical + 1);
  }
  assert_int_equal(unpaired_rank(3, 3, 0.05), 0); /* 1 in 20 is more than 2.5 % */
  assert_int_equal(unpaired_rank(0, 9, 0.05), 0);
}

/* Beyond the exact law the normal one takes over without a jump: ranks grow with m much as before. */
static void large_samples_go_on_where_exact_ones_end(void **state) {
  (void)state;
  const unsigned n = UNPAIRED_EXACT_MAX;
  const double below = unpaired_rank(n - 1, n, 0.05 / 30), at = unpaired_rank(n, n, 0.05 / 30),
               above = unpaired_rank(n + 1, n, 0.05 / 30);
  assert_true(above > below && fabs((above - at) - (at - below)) <= 0.01 * at);
}

static void rounds_needed_are_where_the_law_can_first_reject(void **state) {
  (void)state;
  static const double levels[] = {0.05, 0.05 / 3, 0.05 / 10, 0.05 / 30, 0.05 / 200};
  for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
    const unsigned needed = unpaired_needed(levels[i]);
    assert_true(unpaired_rank(needed, needed, levels[i]) > 0);
    assert_int_equal(unpaired_rank(needed - 1, needed - 1, levels[i]), 0);
  }
}

static void intervals_are_order_statistics_of_all_differences(void **state) {
  (void)state;
  const double a[] = {10, 20, 30}, b[] = {1, 2};
  struct stat_interval interval;
  assert_int_equal(unpaired_interval(a, 3, b, 2, 2, &interval), 0); /* 8 9 18 19 28 29 */
  assert_float_equal(interval.median, 18.5, 1e-12);
  assert_float_equal(interval.low, 9, 1e-12);
  assert_float_equal(interval.high, 28, 1e-12);
  assert_int_equal(unpaired_interval(a, 3, b, 2, 0, &interval), 0);
  assert_false(interval.known);
}

/* Long runs: no list of all differences is made, and the interval is the same. */
static void intervals_of_many_values_are_those_of_the_list(void **state) {
  (void)state;
  enum { M = 150, N = 170 };
  double a[M], b[N], *all = made_room(M * N, sizeof *all);
  struct random_state random = random_start(3, 3);
  struct stat_interval interval;
  for (unsigned i = 0; i < M; i++) a[i] = floor(50 * random_normal(&random)) / 50; /* with ties */
  for (unsigned j = 0; j < N; j++) b[j] = floor(50 * random_normal(&random)) / 50;
  for (unsigned i = 0; i < M * N; i++) all[i] = a[i / N] - b[i % N];
  exact_sort(all, M * N);
  assert_int_equal(unpaired_interval(a, M, b, N, 9000, &interval), 0);
  assert_true(fabs(interval.median - exact_middle(all, M * N)) < 1e-12);
  assert_true(fabs(interval.low - all[8999]) < 1e-12);
  assert_true(fabs(interval.high - all[M * N - 9000]) < 1e-12);
  free(all);
}

/* ---- what is called ------------------------------------------------------------------------------------------------ */

static void a_slower_machine_is_told_apart_from_its_methods(void **state) {
  (void)state;
  struct world world = {.cells = 8, .rounds = 20, .machine = 1.3, .jitter = 0.004, .seed = 1};
  struct pair pair = make_pair(&world);
  const struct comparison *comparison = compare(&pair, (struct compare_options){.margin = 0.03});
  assert_true(fabs(comparison->shift.median * 1.3 - 1) < 0.08); /* the drift of either run is in it */
  assert_int_equal(comparison->counts[STAT_SAME], 8);
  assert_true(fabs(comparison->groups[0].rows[3].as_measured.median * 1.3 - 1) < 0.08);
  release(&pair);
}

static void what_the_control_did_is_told_beside_it(void **state) {
  (void)state;
  struct world world = {.cells = 4, .rounds = 10, .jitter = 0.004, .seed = 1};
  struct pair pair = make_pair(&world);
  summarize(&pair);
  pair.summaries[0].groups[0].machine.control_ns = 3e6;
  pair.summaries[1].groups[0].machine.control_ns = 2e6;
  const struct compare_options options = {.margin = 0.03};
  assert_int_equal(compare_runs(&pair.summaries[0], &pair.summaries[1], &options, &pair.comparison), 0);
  assert_true(fabs(pair.comparison.groups[0].control - 1.5) < 1e-9);
  compare_release(&pair.comparison);
  pair.summaries[0].groups[0].machine.control_ns = 0;
  assert_int_equal(compare_runs(&pair.summaries[0], &pair.summaries[1], &options, &pair.comparison), 0);
  assert_true(pair.comparison.groups[0].control == 0);
  release(&pair);
}

static void absolute_times_hold_what_the_machine_changed(void **state) {
  (void)state;
  struct world world = {.cells = 2, .rounds = 20, .machine = 1.3, .jitter = 0.004, .seed = 1};
  struct pair pair = make_pair(&world);
  const struct comparison *comparison = compare(&pair, (struct compare_options){.margin = 0.03, .absolute = true});
  assert_int_equal(comparison->counts[STAT_SLOWER], 2); /* and two cells are enough */
  release(&pair);
}

static void the_method_that_changed_is_called_and_no_other(void **state) {
  (void)state;
  struct world world = {.cells = 8, .rounds = 20, .machine = 0.8, .jitter = 0.004, .seed = 2};
  world.now[5] = 1.2;
  world.now[2] = 0.7;
  struct pair pair = make_pair(&world);
  const struct comparison *comparison = compare(&pair, (struct compare_options){.margin = 0.03});
  const struct compare_group *group = &comparison->groups[0];
  assert_int_equal(group->rows[5].verdict, STAT_SLOWER);
  assert_int_equal(group->rows[2].verdict, STAT_FASTER);
  assert_int_equal(comparison->counts[STAT_SAME], 6);
  assert_true(group->rows[5].speed_ratio.low < 1 / 1.2 && group->rows[5].speed_ratio.high > 1 / 1.2);
  release(&pair);
}

static void old_and_new_exchanged_give_the_ratio_turned_round(void **state) {
  (void)state;
  struct world world = {.cells = 5, .rounds = 15, .machine = 1.1, .jitter = 0.01, .seed = 3};
  world.now[1] = 1.1;
  struct pair one = make_pair(&world), other = make_pair(&world);
  const struct run kept = other.runs[0];
  other.runs[0] = other.runs[1];
  other.runs[1] = kept;
  const struct compare_options options = {.margin = 0.03};
  const struct comparison *there = compare(&one, options), *back = compare(&other, options);
  for (unsigned r = 0; r < 5; r++) {
    const struct stat_interval *a = &there->groups[0].rows[r].speed_ratio, *b = &back->groups[0].rows[r].speed_ratio;
    assert_true(fabs(a->median * b->median - 1) < 1e-9);
    assert_true(fabs(a->low * b->high - 1) < 1e-9);
  }
  release(&one);
  release(&other);
}

/* ---- what is left open --------------------------------------------------------------------------------------------- */

static void two_methods_do_not_tell_machine_and_method_apart(void **state) {
  (void)state;
  struct world world = {.cells = 2, .rounds = 20, .jitter = 0.004, .seed = 4};
  world.now[1] = 2;
  struct pair pair = make_pair(&world);
  const struct comparison *comparison = compare(&pair, (struct compare_options){.margin = 0.03});
  assert_int_equal(comparison->counts[STAT_UNCLEAR], 2);
  assert_non_null(strstr(comparison->groups[0].reason, "2 methods in common"));
  release(&pair);
}

static void few_rounds_have_no_verdict(void **state) {
  (void)state;
  struct world world = {.cells = 8, .rounds = 4, .jitter = 0.001, .seed = 5};
  world.now[5] = 3;
  struct pair pair = make_pair(&world);
  const struct comparison *comparison = compare(&pair, (struct compare_options){.margin = 0.03});
  assert_int_equal(comparison->counts[STAT_UNCLEAR], 8);
  assert_int_equal(comparison->groups[0].rounds_needed, 6);
  assert_non_null(strstr(comparison->groups[0].reason, "need 6"));
  release(&pair);
}

static void what_failed_now_broke_and_what_is_gone_is_told(void **state) {
  (void)state;
  struct world world = {.cells = 6, .rounds = 10, .jitter = 0.004, .seed = 6};
  struct pair pair = make_pair(&world);
  struct sample wrong = made_sample(2, 3, 1e6);
  wrong.status = RUN_FAILED;
  snprintf(wrong.reason, sizeof wrong.reason, "wrong data");
  made_add(&pair.runs[1], wrong);
  made_cell(&pair.runs[1], 3)->status = PLAN_UNAVAILABLE;
  made_cell(&pair.runs[1], 4)->id[0] = 'x';
  const struct comparison *comparison = compare(&pair, (struct compare_options){.margin = 0.03});
  const struct compare_group *group = &comparison->groups[0];
  assert_int_equal(comparison->broken, 1);
  assert_true(group->rows[2].broke && group->rows[2].verdict == STAT_NONE);
  assert_non_null(strstr(group->rows[2].reason, "wrong data"));
  assert_false(group->rows[3].broke);
  assert_string_equal(group->rows[4].reason, "only in the run now");
  assert_int_equal(group->row_count, 7);
  assert_string_equal(group->rows[6].reason, "only in the run before");
  release(&pair);
}

static void other_demands_are_not_compared(void **state) {
  (void)state;
  struct world world = {.cells = 4, .rounds = 10, .jitter = 0.004, .seed = 7};
  struct pair pair = make_pair(&world);
  pair.runs[1].plan.groups[0].demand.size_bytes *= 2;
  const struct comparison *comparison = compare(&pair, (struct compare_options){.margin = 0.03});
  assert_int_equal(comparison->group_count, 2);
  assert_null(comparison->groups[0].before);
  assert_null(comparison->groups[1].now);
  assert_int_equal(comparison->counts[STAT_SAME] + comparison->counts[STAT_UNCLEAR], 0);
  release(&pair);
}

/* ---- conditions ---------------------------------------------------------------------------------------------------- */

static void other_machines_kernels_and_file_systems_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *name, *before, *now;
    bool refused;
  } facts[] = {{"kernel", "6.12.3", "6.12.4", true},
               {"processor", "one", "two", true},
               {"place.0.file_system", "ext4", "xfs", true},
               {"place.0.device", "vda", "vdb", true},
               {"memory_bytes", "1000", "1010", false},
               {"memory_bytes", "1000", "2000", true},
               {"governor", "performance", "schedutil", false},
               {"kernel", "6.12.3", "6.12.3", false}};
  for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
    struct world world = {.cells = 4, .rounds = 10, .jitter = 0.004, .seed = 8};
    struct pair pair = make_pair(&world);
    pair.runs[0].plan.places = made_room(1, sizeof(char *));
    pair.runs[0].plan.places[0] = made_text(".");
    pair.runs[0].plan.place_count = 1;
    assert_int_equal(run_add_fact(&pair.runs[0], facts[i].name, facts[i].before), 0);
    assert_int_equal(run_add_fact(&pair.runs[1], facts[i].name, facts[i].now), 0);
    const struct comparison *comparison = compare(&pair, (struct compare_options){.margin = 0.03});
    assert_int_equal(comparison->refused, facts[i].refused);
    assert_int_equal(comparison->group_count > 0, !facts[i].refused);
    compare_release(&pair.comparison);
    const struct compare_options any = {.margin = 0.03, .any_machine = true};
    assert_int_equal(compare_runs(&pair.summaries[0], &pair.summaries[1], &any, &pair.comparison), 0);
    assert_false(pair.comparison.refused);
    assert_int_equal(pair.comparison.counts[STAT_SAME], 4);
    release(&pair);
  }
}

/* ---- seeded repetitions -------------------------------------------------------------------------------------------- */

static bool at_most_5_percent(unsigned count, unsigned runs) { return exact_upper_tail(runs, count, 0.05) > 0.001; }

/* Nothing changed but the machine, by 6 % from run to run: raw times would call half of the methods. */
static void an_identical_copy_is_rarely_called_different(void **state) {
  (void)state;
  unsigned called = 0, raw = 0;
  for (uint64_t seed = 0; seed < 100; seed++) {
    struct random_state random = random_start(0x5EED, seed);
    struct world world = {
        .cells = 30, .rounds = 20, .machine = exp(0.06 * random_normal(&random)), .jitter = 0.02, .seed = seed};
    struct pair pair = make_pair(&world);
    const struct comparison *comparison = compare(&pair, (struct compare_options){.margin = 0});
    bool any = false;
    for (unsigned r = 0; r < 30; r++) {
      const struct compare_row *row = &comparison->groups[0].rows[r];
      any = any || !(row->speed_ratio.low <= 1 && row->speed_ratio.high >= 1);
      raw += !(row->as_measured.low <= 1 && row->as_measured.high >= 1);
    }
    called += any;
    release(&pair);
  }
  print_message(
      "30 unchanged methods: some of them called in %u of 100 pairs of runs; by raw times %.0f %% of the methods\n", called,
      raw / 30.0);
  assert_true(called <= 10 && at_most_5_percent(called, 100));
  assert_true(raw > 900); /* what the shift is taken out for */
}

static void a_delay_of_6_percent_is_called_between_two_runs(void **state) {
  (void)state;
  unsigned called = 0, others = 0;
  for (uint64_t seed = 0; seed < 100; seed++) {
    struct random_state random = random_start(0x5EED, seed + 1000);
    struct world world = {
        .cells = 10, .rounds = 40, .machine = exp(0.06 * random_normal(&random)), .jitter = 0.014, .seed = seed};
    world.now[1] = 1.06;
    struct pair pair = make_pair(&world);
    const struct comparison *comparison = compare(&pair, (struct compare_options){.margin = 0.03});
    called += comparison->groups[0].rows[1].verdict == STAT_SLOWER;
    others += comparison->counts[STAT_SLOWER] + comparison->counts[STAT_FASTER] >
              (comparison->groups[0].rows[1].verdict == STAT_SLOWER);
    release(&pair);
  }
  print_message("one of 10 methods 6 %% slower, 40 rounds: called in %u of 100 pairs of runs, another one in %u\n", called,
                others);
  assert_true(called >= 95);
  assert_true(at_most_5_percent(others, 100));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ranks_are_those_of_the_tables),
      cmocka_unit_test(large_samples_go_on_where_exact_ones_end),
      cmocka_unit_test(rounds_needed_are_where_the_law_can_first_reject),
      cmocka_unit_test(intervals_are_order_statistics_of_all_differences),
      cmocka_unit_test(intervals_of_many_values_are_those_of_the_list),
      cmocka_unit_test(a_slower_machine_is_told_apart_from_its_methods),
      cmocka_unit_test(what_the_control_did_is_told_beside_it),
      cmocka_unit_test(absolute_times_hold_what_the_machine_changed),
      cmocka_unit_test(the_method_that_changed_is_called_and_no_other),
      cmocka_unit_test(old_and_new_exchanged_give_the_ratio_turned_round),
      cmocka_unit_test(two_methods_do_not_tell_machine_and_method_apart),
      cmocka_unit_test(few_rounds_have_no_verdict),
      cmocka_unit_test(what_failed_now_broke_and_what_is_gone_is_told),
      cmocka_unit_test(other_demands_are_not_compared),
      cmocka_unit_test(other_machines_kernels_and_file_systems_are_refused),
      cmocka_unit_test(an_identical_copy_is_rarely_called_different),
      cmocka_unit_test(a_delay_of_6_percent_is_called_between_two_runs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
