/*
 * test_simulation.c - do the claims hold? Seeded machines with drift, bursts, jitter and spikes, and methods whose truth is
 * known, are measured many times over; what the summary says is counted. Measures nothing real, and no time is asserted.
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

#define BASE_NS 10e6
#define RUNS_MAX 400

/* What is measured, on what machine. */
struct world {
  unsigned cells, rounds;
  const double *slowness; /* time of each cell, 1 = BASE_NS; NULL: all alike */
  double margin;
  bool twin;
  unsigned disturbers; /* so many cells slow whoever runs next by 15 % */
  bool fixed_order;
  double jitter;
};

/* One machine: its speed wanders, neighbours come and go, a sample is jittered and now and then hit. */
struct machine {
  struct random_state random;
  double drift, burst;
};

static double machine_slowness(struct machine *machine, double jitter) {
  struct random_state *random = &machine->random;
  machine->drift = 0.995 * machine->drift + 0.004 * random_normal(random);
  machine->burst *= 0.9;
  if (random_unit(random) < 0.01) machine->burst += 0.2 * random_unit(random);
  double spike = random_unit(random) < 0.02 ? 0.5 * random_unit(random) : 0;
  return machine->drift + machine->burst + jitter * random_normal(random) + spike;
}

static void add_round(const struct world *world, struct machine *machine, unsigned round, struct run *run) {
  uint32_t order[PLAN_CELLS_MAX];
  unsigned count = world->cells + world->twin;
  bool disturbed = false;
  for (uint32_t i = 0; i < count; i++) order[i] = i;
  if (!world->fixed_order) random_permutation(&machine->random, count, order);
  for (unsigned i = 0; i < count; i++) {
    unsigned cell = order[i], like = cell < world->cells ? cell : 0;
    double slowness = world->slowness ? world->slowness[like] : 1;
    double ln = machine_slowness(machine, world->jitter) + (disturbed ? log(1.15) : 0);
    made_time(run, cell, (int)round, BASE_NS * slowness * exp(ln));
    disturbed = cell > 0 && cell <= world->disturbers;
  }
}

static struct run measure(const struct world *world, uint64_t seed) {
  struct run run = made_run(world->cells + world->twin);
  struct machine machine = {.random = random_start(0x5EED, seed)};
  run.plan.margin = world->margin;
  if (world->twin) made_twin(&run, 0);
  for (unsigned i = 0; i < 200; i++) machine_slowness(&machine, world->jitter); /* the drift finds its width */
  for (unsigned round = 1; round <= world->rounds; round++) add_round(world, &machine, round, &run);
  return run;
}

/* What many runs of one world came to. */
struct tally {
  unsigned runs;
  unsigned with_false_verdict; /* some cell called faster or slower than a baseline that is its equal, or the wrong way */
  unsigned best_held;          /* the true fastest (or one of several) is in the best set */
  unsigned covered;            /* all simultaneous intervals hold the true ratio */
  unsigned ranks_right;        /* all rank ranges hold a true rank */
  unsigned called;             /* cell 1 was called faster or slower */
  double best_size;
  double callables[RUNS_MAX];
  double callable; /* their median */
};

static double true_slowness(const struct world *world, unsigned cell) { return world->slowness ? world->slowness[cell] : 1; }

static bool wrong_verdict(const struct world *world, const struct stat_cell *cell, unsigned index) {
  double ratio = true_slowness(world, 0) / true_slowness(world, index);
  if (cell->verdict == STAT_FASTER) return ratio <= 1 + world->margin;
  if (cell->verdict == STAT_SLOWER) return ratio >= 1 / (1 + world->margin);
  return cell->verdict == STAT_SAME && (ratio > 1.0001 + world->margin || ratio < 0.9999 / (1 + world->margin));
}

static bool holds_true_ranks(const struct world *world, const struct stat_cell *cell, unsigned index) {
  unsigned low = 1, high = world->cells;
  for (unsigned c = 0; c < world->cells; c++) {
    low += true_slowness(world, c) < true_slowness(world, index);
    high -= true_slowness(world, c) > true_slowness(world, index);
  }
  return !cell->ranked || (cell->rank_low <= high && cell->rank_high >= low);
}

static void count_run(const struct world *world, const struct stat_group *group, struct tally *tally) {
  bool wrong = false, held = false, covered = true, ranks = true;
  unsigned fastest = 0;
  for (unsigned c = 1; c < world->cells; c++) {
    if (true_slowness(world, c) < true_slowness(world, fastest)) fastest = c;
  }
  for (unsigned c = 0; c < world->cells; c++) {
    const struct stat_cell *cell = &group->cells[c];
    double ratio = true_slowness(world, 0) / true_slowness(world, c);
    wrong |= wrong_verdict(world, cell, c);
    held |= cell->best && true_slowness(world, c) <= true_slowness(world, fastest);
    covered &= cell->speed_ratio.low <= ratio && ratio <= cell->speed_ratio.high;
    ranks &= holds_true_ranks(world, cell, c);
  }
  tally->with_false_verdict += wrong;
  tally->best_held += held;
  tally->covered += covered;
  tally->ranks_right += ranks;
  tally->called += world->cells > 1 && (group->cells[1].verdict == STAT_FASTER || group->cells[1].verdict == STAT_SLOWER);
  tally->best_size += group->best_count;
  tally->callables[tally->runs++] = group->smallest_callable_ratio;
}

static struct tally simulate(const struct world *world, const char *title, unsigned runs) {
  struct tally tally = {0};
  for (unsigned i = 0; i < runs; i++) {
    struct run run = measure(world, i);
    struct summary summary = made_summary(&run);
    count_run(world, &summary.groups[0], &tally);
    stat_release(&summary);
    run_release(&run);
  }
  tally.best_size /= runs;
  tally.callable = exact_median(tally.callables, runs);
  print_message(
      "%-44s %4u runs: wrong verdict %5.1f %%, best held %5.1f %% (size %4.1f), covered %5.1f %%, ranks %5.1f %%, "
      "cell 1 called %5.1f %%, callable %.3f\n",
      title, runs, 100.0 * tally.with_false_verdict / runs, 100.0 * tally.best_held / runs, tally.best_size,
      100.0 * tally.covered / runs, 100.0 * tally.ranks_right / runs, 100.0 * tally.called / runs, tally.callable);
  return tally;
}

/* `count` of `runs` is compatible with a true share of at most 5 %: such a count or more has probability over 0.001. */
static bool at_most_5_percent(unsigned count, unsigned runs) { return exact_upper_tail(runs, count, 0.05) > 0.001; }
static bool at_least_95_percent(unsigned count, unsigned runs) { return at_most_5_percent(runs - count, runs); }

/* ---- worlds -------------------------------------------------------------------------------------------------------- */

static void identical_cells_are_not_told_apart(void **state) {
  (void)state;
  struct world world = {.cells = 30, .rounds = 20, .margin = 0.03, .twin = true, .jitter = 0.02};
  struct tally tally = simulate(&world, "30 alike, margin 3 %, twin", 200);
  assert_true(at_most_5_percent(tally.with_false_verdict, tally.runs));
  world.margin = 0;
  world.twin = false;
  tally = simulate(&world, "30 alike, margin 0, no twin", 400);
  assert_true(at_most_5_percent(tally.with_false_verdict, tally.runs));
  assert_true(at_least_95_percent(tally.covered, tally.runs));
  assert_true(at_least_95_percent(tally.ranks_right, tally.runs));
  assert_true(tally.best_size > 27);
}

static void slowing_the_next_one_makes_no_difference_in_random_order(void **state) {
  (void)state;
  struct world world = {.cells = 30, .rounds = 20, .jitter = 0.02, .disturbers = 3};
  struct tally tally = simulate(&world, "30 alike, 3 slow the next by 15 %, margin 0", 400);
  assert_true(at_most_5_percent(tally.with_false_verdict, tally.runs));
  world.fixed_order = true;
  tally = simulate(&world, "the same in a fixed order", 50);
  assert_true(tally.with_false_verdict > tally.runs / 2); /* what fresh permutations are for */
}

static void the_truth_is_covered(void **state) {
  (void)state;
  double slowness[30];
  for (unsigned i = 0; i < 30; i++) slowness[i] = 1;
  slowness[17] = 1 / 1.05;
  struct world world = {.cells = 30, .rounds = 20, .slowness = slowness, .jitter = 0.02};
  struct tally tally = simulate(&world, "30, one is 5 % faster, margin 0", 300);
  assert_true(at_least_95_percent(tally.best_held, tally.runs));
  assert_true(at_least_95_percent(tally.covered, tally.runs));
  assert_true(at_least_95_percent(tally.ranks_right, tally.runs));
  for (unsigned i = 0; i < 30; i++) slowness[i] = 1 + 0.01 * i;
  tally = simulate(&world, "30 in steps of 1 %", 200);
  assert_true(at_least_95_percent(tally.best_held, tally.runs));
  assert_true(at_least_95_percent(tally.covered, tally.runs));
  assert_true(at_least_95_percent(tally.ranks_right, tally.runs));
  for (unsigned i = 0; i < 30; i++) slowness[i] = i < 5 ? 1 : 1.1;
  tally = simulate(&world, "5 tied, 25 are 10 % slower", 100);
  assert_true(at_least_95_percent(tally.best_held, tally.runs));
  assert_true(tally.best_size > 4.5 && tally.best_size < 7);
}

static void a_delay_of_6_percent_is_called(void **state) {
  (void)state;
  const double slowness[10] = {1, 1.06, 1, 1, 1, 1, 1, 1, 1, 1};
  struct world world = {.cells = 10, .rounds = 40, .slowness = slowness, .margin = 0.03, .twin = true, .jitter = 0.014};
  struct tally tally = simulate(&world, "10, one is 6 % slower, 40 rounds, margin 3 %", 100);
  assert_true(tally.called >= 95);
  assert_true(at_most_5_percent(tally.with_false_verdict, tally.runs));
}

/* A ratio that the run says it could have called is called in four of five runs. */
static void what_is_said_to_be_callable_is_called(void **state) {
  (void)state;
  static const struct { unsigned cells, rounds; } shapes[] = {{11, 20}, {30, 20}, {5, 12}};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    double slowness[30];
    char title[64];
    for (unsigned c = 0; c < 30; c++) slowness[c] = 1;
    struct world world = {.cells = shapes[i].cells, .rounds = shapes[i].rounds, .margin = 0.03, .jitter = 0.02};
    world.slowness = slowness;
    snprintf(title, sizeof title, "%u alike, %u rounds: what is callable?", world.cells, world.rounds);
    double callable = simulate(&world, title, 200).callable;
    slowness[1] = 1 / callable;
    struct tally tally = simulate(&world, "cell 1 faster by just that", 300);
    assert_true(tally.called >= 0.7 * tally.runs && tally.called <= 0.9 * tally.runs);
  }
}

static void an_identical_copy_is_rarely_called_different(void **state) {
  (void)state;
  struct world world = {.cells = 3, .rounds = 40, .margin = 0.03, .twin = true, .jitter = 0.014};
  struct tally tally = simulate(&world, "3 alike, 40 rounds, margin 3 %", 100);
  assert_true(tally.called <= 10);
  world.margin = 0;
  world.twin = false;
  tally = simulate(&world, "the same, margin 0", 100);
  assert_true(tally.called <= 10);
}

/*
 * The exact power: of each run, the ratio from which on cell 1 is called faster (its times fall by just that, and the interval
 * moves along); the ratio that four of five runs call is what the runs themselves should have named.
 */
static void the_smallest_callable_ratio_is_that_of_the_exact_power(void **state) {
  (void)state;
  static const struct { unsigned cells, rounds; } shapes[] = {{11, 20}, {30, 20}, {5, 12}, {10, 40}};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    double callables[RUNS_MAX], thresholds[RUNS_MAX];
    const struct world world = {.cells = shapes[i].cells, .rounds = shapes[i].rounds, .margin = 0.03, .jitter = 0.02};
    for (unsigned r = 0; r < RUNS_MAX; r++) {
      struct run run = measure(&world, r);
      struct summary summary = made_summary(&run);
      callables[r] = summary.groups[0].smallest_callable_ratio;
      thresholds[r] = (1 + world.margin) / summary.groups[0].cells[1].speed_ratio.low;
      stat_release(&summary);
      run_release(&run);
    }
    exact_sort(thresholds, RUNS_MAX);
    const double said = exact_median(callables, RUNS_MAX), exact = thresholds[RUNS_MAX * 4 / 5];
    print_message("%2u cells, %u rounds: callable by the run %.2f %%, in four of five runs %.2f %%\n", world.cells, world.rounds,
                  (said - 1) * 100, (exact - 1) * 100);
    assert_true(fabs((said - 1) / (exact - 1) - 1) <= 0.1);
  }
}

/* Looking after every round and stopping at the first difference is what a fixed number of rounds guards against. */
static void peeking_breaks_the_level_that_a_fixed_number_keeps(void **state) {
  (void)state;
  const unsigned runs = 400, rounds = 40;
  unsigned fixed = 0, peeked = 0;
  for (unsigned i = 0; i < runs; i++) {
    struct random_state random = random_start(99, i);
    unsigned wins = 0;
    bool ever = false, now = false;
    for (unsigned n = 1; n <= rounds; n++) {
      wins += random_normal(&random) < random_normal(&random);
      unsigned critical = exact_critical_wins(n, 0.025);
      now = wins >= critical || n - wins >= critical;
      ever |= now;
    }
    fixed += now;
    peeked += ever;
  }
  print_message("two alike: called different %.1f %% with a fixed number of rounds, %.1f %% when every round is looked at\n",
                100.0 * fixed / runs, 100.0 * peeked / runs);
  assert_true(at_most_5_percent(fixed, runs));
  assert_false(at_most_5_percent(peeked, runs));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(identical_cells_are_not_told_apart),
      cmocka_unit_test(slowing_the_next_one_makes_no_difference_in_random_order),
      cmocka_unit_test(the_truth_is_covered),
      cmocka_unit_test(a_delay_of_6_percent_is_called),
      cmocka_unit_test(what_is_said_to_be_callable_is_called),
      cmocka_unit_test(an_identical_copy_is_rarely_called_different),
      cmocka_unit_test(the_smallest_callable_ratio_is_that_of_the_exact_power),
      cmocka_unit_test(peeking_breaks_the_level_that_a_fixed_number_keeps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
