/*
 * test_claim.c - claims made by hand, with times whose truth is known, and the verdicts that have to come of them: the rule
 * on bare differences first, then the way from a text over plan and samples to the verdict.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "made_run.h"
#include "stat/claim.h"
#include "stat/exact.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define MS 1e6

/* ---- the rule ------------------------------------------------------------------------------------------------------ */

/* n ratios around `ratio`, evenly from ratio / (1 + spread) to ratio * (1 + spread), as sorted differences. */
static unsigned spread_out(double ratio, double spread, unsigned n, double *out) {
  for (unsigned i = 0; i < n; i++) out[i] = log(ratio) + log1p(spread) * (n > 1 ? 2.0 * i / (n - 1) - 1 : 0);
  return n;
}

struct expected {
  enum claim_expect says;
  double published_low, published_high, ratio, spread;
  unsigned n;
  double margin;
  enum claim_verdict verdict;
  enum claim_strength strength;
};

static void decide(const struct expected *e, struct claim_finding *finding) {
  static struct claim_test test;
  double differences[128];
  test = (struct claim_test){.kind = CLAIM_PAIR, .expect = e->says};
  test.published_low = e->published_low;
  test.published_high = e->published_high;
  *finding = (struct claim_finding){.test = &test, .margin = e->margin};
  claim_decide(differences, spread_out(e->ratio, e->spread, e->n, differences), finding);
}

static void every_verdict_and_strength_has_its_case(void **state) {
  static const struct expected cases[] = {
      /* says, published, here, spread, rounds, margin */
      {CLAIM_FASTER, 2, 2, 2.0, 0.01, 10, 0.03, CLAIM_HOLDS, CLAIM_AS_PUBLISHED},
      {CLAIM_FASTER, 2, 2, 3.0, 0.01, 10, 0.03, CLAIM_HOLDS, CLAIM_STRONGER},
      {CLAIM_FASTER, 2, 2, 1.2, 0.01, 10, 0.03, CLAIM_HOLDS, CLAIM_WEAKER},
      {CLAIM_FASTER, 2, 4, 3.0, 0.01, 10, 0.03, CLAIM_HOLDS, CLAIM_AS_PUBLISHED},
      {CLAIM_FASTER, 2, 4, 5.0, 0.01, 10, 0.03, CLAIM_HOLDS, CLAIM_STRONGER},
      {CLAIM_FASTER, 0, 0, 1.5, 0.01, 10, 0.03, CLAIM_HOLDS, CLAIM_NO_STRENGTH},
      {CLAIM_FASTER, 2, 2, 0.5, 0.01, 10, 0.03, CLAIM_REVERSED, CLAIM_NO_STRENGTH},
      {CLAIM_FASTER, 2, 2, 1.0, 0.01, 10, 0.03, CLAIM_TIE, CLAIM_WEAKER},
      {CLAIM_FASTER, 2, 2, 1.0, 0.50, 10, 0.03, CLAIM_UNCLEAR, CLAIM_NO_STRENGTH},
      {CLAIM_SLOWER, 0.5, 0.5, 0.5, 0.01, 10, 0.03, CLAIM_HOLDS, CLAIM_AS_PUBLISHED},
      {CLAIM_SLOWER, 0.5, 0.5, 0.2, 0.01, 10, 0.03, CLAIM_HOLDS, CLAIM_STRONGER},
      {CLAIM_SLOWER, 0.5, 0.5, 0.8, 0.01, 10, 0.03, CLAIM_HOLDS, CLAIM_WEAKER},
      {CLAIM_SLOWER, 0.5, 0.5, 2.0, 0.01, 10, 0.03, CLAIM_REVERSED, CLAIM_NO_STRENGTH},
      {CLAIM_SLOWER, 0.5, 0.5, 1.0, 0.01, 10, 0.03, CLAIM_TIE, CLAIM_WEAKER},
      {CLAIM_EQUAL, 1, 1, 1.0, 0.01, 10, 0.03, CLAIM_HOLDS, CLAIM_AS_PUBLISHED},
      {CLAIM_EQUAL, 1, 1, 1.3, 0.01, 10, 0.03, CLAIM_REVERSED, CLAIM_NO_STRENGTH},
      {CLAIM_EQUAL, 1, 1, 0.7, 0.01, 10, 0.03, CLAIM_REVERSED, CLAIM_NO_STRENGTH},
      {CLAIM_EQUAL, 1, 1, 1.0, 0.20, 10, 0.03, CLAIM_UNCLEAR, CLAIM_NO_STRENGTH},
      {CLAIM_EQUAL, 1.08, 1.17, 1.13, 0.02, 10, 0.03, CLAIM_HOLDS, CLAIM_AS_PUBLISHED}, /* equal by the study's measure */
      {CLAIM_EQUAL, 0.95, 0.95, 1.13, 0.02, 10, 0.03, CLAIM_REVERSED, CLAIM_NO_STRENGTH},
      {CLAIM_EQUAL, 1.08, 1.17, 1.3, 0.01, 10, 0.03, CLAIM_REVERSED, CLAIM_NO_STRENGTH},
      {CLAIM_NOT_SLOWER, 0, 0, 1.5, 0.01, 10, 0.03, CLAIM_HOLDS, CLAIM_NO_STRENGTH},
      {CLAIM_NOT_SLOWER, 0, 0, 1.0, 0.01, 10, 0.03, CLAIM_HOLDS, CLAIM_NO_STRENGTH},
      {CLAIM_NOT_SLOWER, 0, 0, 1.3, 0.30, 10, 0.03, CLAIM_HOLDS, CLAIM_NO_STRENGTH}, /* 1 or more: no matter how much */
      {CLAIM_NOT_SLOWER, 0, 0, 0.7, 0.01, 10, 0.03, CLAIM_REVERSED, CLAIM_NO_STRENGTH},
      {CLAIM_NOT_SLOWER, 0, 0, 0.9, 0.20, 10, 0.03, CLAIM_UNCLEAR, CLAIM_NO_STRENGTH},
  };
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    struct claim_finding finding;
    decide(&cases[i], &finding);
    if (finding.verdict != cases[i].verdict || finding.strength != cases[i].strength)
      fail_msg("case %zu: %s, '%s'", i, claim_verdict_words[finding.verdict], claim_strength_words[finding.strength]);
    assert_int_equal(finding.n, 10);
    assert_true(finding.value.known);
  }
}

/* A difference of a hundred times says nothing in five rounds: five heads of five are no proof. */
static void too_few_rounds_are_unclear_however_clear_they_look(void **state) {
  (void)state;
  for (unsigned n = 0; n <= 6; n++) {
    struct claim_finding faster, equal;
    decide(&(struct expected){.says = CLAIM_FASTER, .ratio = 100, .n = n, .margin = 0.03}, &faster);
    decide(&(struct expected){.says = CLAIM_EQUAL, .ratio = 1, .n = n, .margin = 0.03}, &equal);
    assert_int_equal(faster.verdict, n < 6 ? CLAIM_UNCLEAR : CLAIM_HOLDS);
    assert_int_equal(equal.verdict, n < 6 ? CLAIM_UNCLEAR : CLAIM_HOLDS);
    if (n == 6) continue;
    assert_int_equal(faster.rounds_needed, 6);
    assert_true(strlen(faster.reason) > 0);
  }
}

/* The nearer to the margin, the more rounds; at the margin no number is enough. */
static void unclear_says_how_many_rounds_it_takes(void **state) {
  struct claim_finding far, near, at;
  (void)state;
  decide(&(struct expected){.says = CLAIM_FASTER, .ratio = 1.14, .spread = 0.12, .n = 8, .margin = 0.03}, &far);
  decide(&(struct expected){.says = CLAIM_FASTER, .ratio = 1.06, .spread = 0.12, .n = 8, .margin = 0.03}, &near);
  decide(&(struct expected){.says = CLAIM_FASTER, .ratio = 1.03, .spread = 0.12, .n = 10, .margin = 0.03}, &at);
  assert_int_equal(far.verdict, CLAIM_UNCLEAR);
  assert_int_equal(near.verdict, CLAIM_UNCLEAR);
  assert_true(far.rounds_needed > 8);
  assert_true(near.rounds_needed > far.rounds_needed);
  assert_int_equal(at.rounds_needed, 0);
  assert_non_null(strstr(at.reason, "margin"));
}

/* Where identical cells differ by half, a difference of a third is no difference, but no tie either. */
static void noise_widens_the_margin_but_makes_no_ties(void **state) {
  struct claim_finding noisy, inside;
  (void)state;
  decide(&(struct expected){.says = CLAIM_FASTER, .ratio = 1.3, .spread = 0.01, .n = 10, .margin = 0.5}, &noisy);
  decide(&(struct expected){.says = CLAIM_FASTER, .ratio = 1.05, .spread = 0.01, .n = 10, .margin = 0.5}, &inside);
  assert_int_equal(noisy.verdict, CLAIM_UNCLEAR);
  assert_int_equal(inside.verdict, CLAIM_TIE);
}

static void evidence_is_weighed_against_its_limit(void **state) {
  static const struct {
    bool above;
    double limit, low, high;
    unsigned n;
    enum claim_verdict verdict;
  } cases[] = {{true, 0.5, 0.9, 1.0, 8, CLAIM_HOLDS},   {true, 0.5, 0.0, 0.1, 8, CLAIM_REVERSED},
               {false, 0.5, 0.0, 0.1, 8, CLAIM_HOLDS},  {false, 0.5, 0.9, 1.0, 8, CLAIM_REVERSED},
               {true, 0.5, 0.1, 0.9, 8, CLAIM_UNCLEAR}, {true, 0.5, 0.9, 1.0, 5, CLAIM_UNCLEAR},
               {false, 0.0, 0.0, 0.0, 8, CLAIM_HOLDS}};
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    const struct claim_test test = {.kind = CLAIM_EVIDENCE, .above = cases[i].above, .limit = cases[i].limit};
    struct claim_finding finding = {.test = &test};
    double values[8];
    for (unsigned v = 0; v < 8; v++) values[v] = cases[i].low + (cases[i].high - cases[i].low) * v / 7;
    claim_weigh(values, cases[i].n, &finding);
    if (finding.verdict != cases[i].verdict) fail_msg("case %zu: %s", i, claim_verdict_words[finding.verdict]);
  }
}

/* ---- from texts to verdicts ---------------------------------------------------------------------------------------- */

#define MADE_METHOD(title)                                                                                           \
  {                                                                                                                  \
    .abi = WEIR_METHOD_ABI, .struct_size = sizeof(struct weir_method), .name = (title), .tasks = 1, .directions = 3, \
    .accesses = 3, .durabilities = 7                                                                                 \
  }
static const struct weir_method made_methods[] = {MADE_METHOD("m/a"), MADE_METHOD("m/b"), MADE_METHOD("m/c")};
static const struct weir_method *const made_list[] = {&made_methods[0], &made_methods[1], &made_methods[2], NULL};

#define STUDY "[study]\nname = S\ntitle = T\n"
#define DEMAND "access = random\nsize = 1MiB\n"

struct trial {
  struct claims_book book;
  struct claims_plan plan;
  struct run run;
  struct summary summary;
  struct claim_report report;
};

static void begin(const char *text, struct trial *trial) {
  const struct claims_text texts[] = {{"made", text}, {NULL, NULL}};
  const struct claims_request request = {.place = ".", .margin = 0.03};
  struct plan_error error;
  *trial = (struct trial){.run = {.sample_count = 0}};
  if (claims_read(texts, &trial->book, &error) < 0) fail_msg("%s", error.text);
  if (claims_make(&trial->book, &request, made_list, &trial->plan, &error) < 0) fail_msg("%s", error.text);
  assert_int_equal(trial->plan.part_count, 1);
  trial->run.plan = trial->plan.parts[0].plan;
}

static void finish(struct trial *trial) {
  claims_report_release(&trial->report);
  stat_release(&trial->summary);
  trial->run.plan = (struct plan){0};
  run_release(&trial->run);
  claims_plan_release(&trial->plan);
  claims_release(&trial->book);
}

static void judge(struct trial *trial) {
  assert_int_equal(stat_summarize(&trial->run, &trial->summary), 0);
  assert_int_equal(claims_judge(&trial->plan, NULL, &trial->summary, &trial->report), 0);
}

/* Samples of `rounds` rounds, in which m/a takes a, m/b b and m/c c milliseconds, in the groups from `first` to `last`. */
static void add_times(struct trial *trial, unsigned first, unsigned last, const double times[3], int rounds) {
  for (int round = 1; round <= rounds; round++)
    for (unsigned g = first; g <= last; g++)
      for (unsigned c = 0; c < trial->run.plan.groups[g].cell_count; c++) {
        const struct plan_cell *cell = &trial->run.plan.groups[g].cells[c];
        struct random_state random = random_start(g * 10 + c + 1, (uint64_t)round);
        struct sample sample = made_sample(c, round, times[cell->method[2] - 'a'] * MS * (1 + 0.004 * random_unit(&random)));
        sample.group = g;
        made_add(&trial->run, sample);
      }
}

static const struct claim_result *result(const struct trial *trial, const char *id) {
  for (unsigned i = 0; i < trial->report.result_count; i++)
    if (strcmp(trial->report.results[i].claim->id, id) == 0) return &trial->report.results[i];
  fail_msg("no result for %s", id);
  return NULL;
}

static void assert_near(double got, double expected, double tolerance) {
  if (!(fabs(got - expected) <= tolerance)) fail_msg("%.17g is not %.17g", got, expected);
}

static void pairs_of_one_group_are_compared(void **state) {
  struct trial trial;
  (void)state;
  begin(STUDY "[claim X1]\nsays = a beats b\n[case X1]\n" DEMAND
              "pair = m/a m/b faster 2.0\n"
              "[claim X2]\nsays = b beats a\n[case X2]\n" DEMAND
              "pair = m/b m/a faster 2.0\n"
              "[claim X3]\nsays = all beat c\n[case X3]\n" DEMAND
              "pair = m/a m/c faster\npair = m/b m/c faster\n"
              "[claim X4]\nsays = a and b tie\n[case X4]\n" DEMAND "pair = m/a m/b equal\n",
        &trial);
  assert_int_equal(trial.run.plan.group_count, 1); /* one demand: measured once */
  assert_int_equal(trial.run.plan.groups[0].cell_count, 3);
  add_times(&trial, 0, 0, (double[]){10, 20, 15}, 12);
  judge(&trial);
  assert_int_equal(result(&trial, "X1")->verdict, CLAIM_HOLDS);
  assert_int_equal(result(&trial, "X1")->strength, CLAIM_AS_PUBLISHED);
  assert_near(trial.report.findings[result(&trial, "X1")->shown].value.median, 2, 0.01);
  assert_int_equal(result(&trial, "X2")->verdict, CLAIM_REVERSED);
  assert_int_equal(result(&trial, "X3")->verdict, CLAIM_REVERSED); /* one of two */
  assert_non_null(strstr(result(&trial, "X3")->reason, "1 hold, 1 reversed"));
  assert_near(trial.report.findings[result(&trial, "X3")->shown].value.median, 0.75, 0.01);
  assert_int_equal(result(&trial, "X4")->verdict, CLAIM_REVERSED);
  assert_non_null(strstr(result(&trial, "X4")->reason, "none was claimed"));
  assert_int_equal(trial.report.verdicts[CLAIM_HOLDS], 1);
  assert_int_equal(trial.report.verdicts[CLAIM_REVERSED], 3);
  finish(&trial);
}

/* b by a is 1.15; the twin of a takes `even` or `odd` times as long as a. */
static enum claim_verdict verdict_beside_twin(double even, double odd) {
  struct trial trial;
  begin(STUDY "[claim X1]\nsays = a beats b\n[case X1]\n" DEMAND "pair = m/a m/b faster\n", &trial);
  assert_int_equal(plan_add_twin(&trial.plan.parts[0].plan.groups[0], 0), 0);
  add_times(&trial, 0, 0, (double[]){10, 11.5, 0}, 12);
  for (size_t i = 0; i < trial.run.sample_count; i++) {
    struct sample *sample = &trial.run.samples[i];
    if (sample->cell == 2) sample->phase_ns[RUN_RUN] = (uint64_t)(10 * MS * (sample->round % 2 ? odd : even));
  }
  judge(&trial);
  const enum claim_verdict verdict = result(&trial, "X1")->verdict;
  finish(&trial);
  return verdict;
}

static void margin_is_what_twins_differ_by_and_not_how_much_they_vary(void **state) {
  (void)state;
  assert_int_equal(verdict_beside_twin(1.3, 1 / 1.3), CLAIM_HOLDS);
  assert_int_equal(verdict_beside_twin(1.3, 1.25), CLAIM_UNCLEAR);
}

/* 1 / 4 and 4 cancel; the mean of the ratios themselves would say 2.1. */
static void means_are_geometric_and_taken_in_each_round(void **state) {
  struct trial trial;
  (void)state;
  begin(STUDY
        "[claim X1]\nsays = tie on the whole\n[case X1]\naccess = random\nsize = 1MiB\nrequest = 4KiB|8KiB\n"
        "mean = m/a m/b equal\n"
        "[claim X2]\nsays = c is best\n[case X2]\naccess = random\nsize = 1MiB\nrequest = 4KiB|8KiB\n"
        "mean = m/c m/a faster 4.0\n",
        &trial);
  assert_int_equal(trial.run.plan.group_count, 2);
  add_times(&trial, 0, 0, (double[]){10, 40, 5}, 12);
  add_times(&trial, 1, 1, (double[]){40, 10, 5}, 12);
  judge(&trial);
  const struct claim_finding *tie = &trial.report.findings[result(&trial, "X1")->shown];
  const struct claim_finding *best = &trial.report.findings[result(&trial, "X2")->shown];
  assert_int_equal(result(&trial, "X1")->verdict, CLAIM_HOLDS);
  assert_near(tie->value.median, 1, 0.01);
  assert_true(tie->value.known && tie->value.low < tie->value.median && tie->value.high < 1.02);
  assert_int_equal(tie->n, 12);
  assert_int_equal(result(&trial, "X2")->verdict, CLAIM_HOLDS);
  assert_near(best->value.median, 4, 0.05);
  finish(&trial);
}

/* The mean of a round needs all groups of that round. */
static void a_mean_counts_rounds_that_all_groups_have(void **state) {
  struct trial trial;
  (void)state;
  begin(STUDY "[claim X1]\nsays = tie\n[case X1]\naccess = random\nsize = 1MiB\nrequest = 4KiB|8KiB\nmean = m/a m/b equal\n",
        &trial);
  add_times(&trial, 0, 0, (double[]){10, 10, 10}, 12);
  add_times(&trial, 1, 1, (double[]){10, 10, 10}, 4);
  judge(&trial);
  assert_int_equal(trial.report.findings[0].n, 4);
  assert_int_equal(result(&trial, "X1")->verdict, CLAIM_UNCLEAR);
  finish(&trial);
}

/* Two groups of different sizes are compared by the byte, or by the pass where the claim says so. */
static void cells_of_two_groups_are_compared_by_the_byte(void **state) {
  static const char text[] = STUDY
      "[claim X1]\nsays = the same rate\n[case X1]\naccess = random\nsize = 1MiB\nrequest = 4KiB|8KiB\n"
      "pair = m/a@4KiB m/a@8KiB slower\n"
      "[claim X2]\nsays = the same time\n[case X2]\nper = pass\naccess = random\nsize = 1MiB\nrequest = 4KiB|8KiB\n"
      "pair = m/a@4KiB m/a@8KiB equal\n";
  struct trial trial;
  (void)state;
  begin(text, &trial);
  add_times(&trial, 0, 1, (double[]){10, 10, 10}, 12);
  for (size_t i = 0; i < trial.run.sample_count; i++)
    if (trial.run.samples[i].group == 1) trial.run.samples[i].bytes *= 2; /* the same time for twice the bytes */
  judge(&trial);
  assert_int_equal(result(&trial, "X1")->verdict, CLAIM_HOLDS);
  assert_near(trial.report.findings[0].value.median, 0.5, 0.01);
  assert_int_equal(result(&trial, "X2")->verdict, CLAIM_HOLDS);
  finish(&trial);
}

/* The phases that a claim does not speak of do not count. */
static void a_case_may_rank_by_transfer(void **state) {
  struct trial trial;
  (void)state;
  begin(STUDY "[claim X1]\nsays = but for the opening they tie\n[case X1]\nrank = transfer\n" DEMAND
              "pair = m/a m/b equal\n"
              "[claim X2]\nsays = b opens slowly\n[case X2]\n" DEMAND "pair = m/a m/b faster\n",
        &trial);
  add_times(&trial, 0, 0, (double[]){10, 10, 10}, 12);
  for (size_t i = 0; i < trial.run.sample_count; i++) {
    struct sample *sample = &trial.run.samples[i];
    if (trial.run.plan.groups[0].cells[sample->cell].method[2] == 'b') sample->phase_ns[RUN_OPEN] = (uint64_t)(5 * MS);
  }
  judge(&trial);
  assert_int_equal(result(&trial, "X1")->verdict, CLAIM_HOLDS);
  assert_int_equal(result(&trial, "X2")->verdict, CLAIM_HOLDS);
  finish(&trial);
}

static void the_study_s_own_setup_is_shown_and_decides_nothing(void **state) {
  struct trial trial;
  (void)state;
  begin(STUDY
        "[claim X1]\nsays = a beats b\n"
        "[case X1 study]\nrole = original\naccess = random\nsize = 1MiB\nrequest = 4KiB\npair = m/a m/b faster\n"
        "[case X1 fair]\naccess = random\nsize = 1MiB\nrequest = 8KiB\npair = m/a m/b faster\n",
        &trial);
  add_times(&trial, 0, 0, (double[]){10, 30, 10}, 12);
  add_times(&trial, 1, 1, (double[]){30, 10, 10}, 12);
  judge(&trial);
  assert_int_equal(result(&trial, "X1")->verdict, CLAIM_REVERSED);
  assert_non_null(strstr(result(&trial, "X1")->reason, "the study's set-up, study: holds (3.0"));
  finish(&trial);
}

static void what_cannot_be_tested_says_why(void **state) {
  struct trial trial;
  (void)state;
  begin(STUDY "[claim X1]\nsays = a beats b\n[case X1]\n" DEMAND
              "pair = m/a m/b faster\n"
              "[claim X2]\nsays = sixteen disks\ncannot = it takes sixteen disks\n"
              "[case X2]\nrole = beside\n" DEMAND
              "pair = m/a m/c faster\n"
              "[claim X3]\nsays = over the network\n[case X3]\nneeds = network\n" DEMAND "pair = m/a m/c faster\n",
        &trial);
  struct plan_cell *b = &trial.run.plan.groups[0].cells[1];
  assert_string_equal(b->method, "m/b");
  b->status = PLAN_UNAVAILABLE;
  snprintf(b->reason, sizeof b->reason, "not on this system");
  add_times(&trial, 0, 0, (double[]){10, 20, 30}, 12);
  judge(&trial);
  assert_int_equal(result(&trial, "X1")->verdict, CLAIM_CANNOT_TEST);
  assert_non_null(strstr(result(&trial, "X1")->reason, "not on this system"));
  assert_int_equal(result(&trial, "X1")->shown, -1);
  assert_int_equal(result(&trial, "X2")->verdict, CLAIM_CANNOT_TEST);
  assert_non_null(strstr(result(&trial, "X2")->reason, "it takes sixteen disks; beside it: holds (3.0"));
  assert_int_equal(result(&trial, "X3")->verdict, CLAIM_CANNOT_TEST);
  assert_non_null(strstr(result(&trial, "X3")->reason, "another machine"));
  finish(&trial);
}

static void what_was_not_measured_is_unclear(void **state) {
  struct trial trial;
  (void)state;
  begin(STUDY "[claim X1]\nsays = a beats b\n[case X1]\n" DEMAND "pair = m/a m/b faster\n", &trial);
  trial.summary = (struct summary){.run = NULL};
  assert_int_equal(claims_judge(&trial.plan, NULL, &trial.summary, &trial.report), 0);
  assert_int_equal(result(&trial, "X1")->verdict, CLAIM_UNCLEAR);
  assert_true(trial.report.interrupted);
  finish(&trial);
}

/* Writers leave pages in the cache; whether the device wrote is counted, not timed. */
static void evidence_comes_from_the_samples(void **state) {
  struct trial trial;
  (void)state;
  begin(STUDY
        "[claim X1]\nsays = nothing reaches the disk\n[case X1]\ndirection = write\ndurability = none\n"
        "size = 1MiB\nevidence = m/a device-write below 50%\n"
        "[claim X2]\nsays = it stays in the cache\n[case X2]\n" DEMAND
        "evidence = m/a resident-after above 50%\n"
        "[claim X3]\nsays = times differ\n[case X3]\n" DEMAND "evidence = m/a deviation above 5%\n",
        &trial);
  add_times(&trial, 0, 1, (double[]){10, 10, 10}, 12);
  for (size_t i = 0; i < trial.run.sample_count; i++) trial.run.samples[i].device_write_bytes = 4096;
  for (size_t i = 0; i < trial.run.sample_count; i++) trial.run.samples[i].resident_after_ppm = 100000;
  judge(&trial);
  assert_int_equal(result(&trial, "X1")->verdict, CLAIM_HOLDS);
  assert_int_equal(result(&trial, "X2")->verdict, CLAIM_REVERSED);
  assert_int_equal(result(&trial, "X3")->verdict, CLAIM_REVERSED);
  finish(&trial);
}

static void evidence_that_nobody_tells_cannot_be_weighed(void **state) {
  struct trial trial;
  (void)state;
  begin(STUDY "[claim X1]\nsays = nothing is written\n[case X1]\n" DEMAND "evidence = m/a device-write below 50%\n", &trial);
  add_times(&trial, 0, 0, (double[]){10, 10, 10}, 12); /* made samples know nothing of the device */
  judge(&trial);
  assert_int_equal(result(&trial, "X1")->verdict, CLAIM_CANNOT_TEST);
  finish(&trial);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_verdict_and_strength_has_its_case),
      cmocka_unit_test(too_few_rounds_are_unclear_however_clear_they_look),
      cmocka_unit_test(unclear_says_how_many_rounds_it_takes),
      cmocka_unit_test(noise_widens_the_margin_but_makes_no_ties),
      cmocka_unit_test(margin_is_what_twins_differ_by_and_not_how_much_they_vary),
      cmocka_unit_test(evidence_is_weighed_against_its_limit),
      cmocka_unit_test(pairs_of_one_group_are_compared),
      cmocka_unit_test(means_are_geometric_and_taken_in_each_round),
      cmocka_unit_test(a_mean_counts_rounds_that_all_groups_have),
      cmocka_unit_test(cells_of_two_groups_are_compared_by_the_byte),
      cmocka_unit_test(a_case_may_rank_by_transfer),
      cmocka_unit_test(the_study_s_own_setup_is_shown_and_decides_nothing),
      cmocka_unit_test(what_cannot_be_tested_says_why),
      cmocka_unit_test(what_was_not_measured_is_unclear),
      cmocka_unit_test(evidence_comes_from_the_samples),
      cmocka_unit_test(evidence_that_nobody_tells_cannot_be_weighed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
