/* test_noise.c - which rounds are called noisy, and why; and what is recorded around a round. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "measure/run.h"
#include "measure/watch.h"

#define MS UINT64_C(1000000)
enum { ROUNDS = 20 };

/* Twenty quiet rounds of one group of warm readers, on two processors. */
static struct run quiet_run(void) {
  struct run run = {.plan = {.group_count = 1}};
  run.plan.groups = calloc(1, sizeof *run.plan.groups);
  assert_non_null(run.plan.groups);
  assert_int_equal(run_add_number(&run, "cpus", 2), 0);
  for (int32_t i = 1; i <= ROUNDS; i++) {
    const struct run_round round = {
        .round = i, .elapsed_ns = 100 * MS, .anchor_ns = {1000 * MS + (uint64_t)i, 1000 * MS}, .processor_hz = 3000000000};
    assert_int_equal(run_add_round(&run, &round), 0);
  }
  return run;
}

/* What is odd about round `at`; all others must be quiet. */
static uint32_t noise_of(const struct run *run, size_t at) {
  uint32_t noise[ROUNDS];
  assert_int_equal(run_judge_rounds(run, noise), 0);
  for (size_t i = 0; i < ROUNDS; i++)
    if (i != at) assert_int_equal(noise[i], 0);
  return noise[at];
}

static void quiet_rounds_are_quiet(void **state) {
  struct run run = quiet_run();
  assert_int_equal(noise_of(&run, 0), 0);
  run_release(&run);
}

static void a_slow_control_is_noise(void **state) {
  for (unsigned which = 0; which < RUN_ANCHORS; which++) {
    struct run run = quiet_run();
    run.rounds[7].anchor_ns[which] = 1040 * MS; /* far beyond the spread, but by little */
    assert_int_equal(noise_of(&run, 7), 0);
    run.rounds[7].anchor_ns[which] = 1060 * MS;
    assert_int_equal(noise_of(&run, 7), RUN_NOISE_CONTROL);
    run.rounds[7].anchor_ns[which] = 500 * MS; /* fast is not slow */
    assert_int_equal(noise_of(&run, 7), 0);
    run.rounds[7].anchor_ns[which] = 0; /* not measured */
    assert_int_equal(noise_of(&run, 7), 0);
    run_release(&run);
  }
}

/* Where the control always varies, more is needed. */
static void the_usual_spread_is_no_noise(void **state) {
  struct run run = quiet_run();
  for (size_t i = 0; i < ROUNDS; i++) run.rounds[i].anchor_ns[RUN_FIRST] = (i % 2 ? 900 : 1100) * MS;
  run.rounds[3].anchor_ns[RUN_LAST] = 1150 * MS;
  assert_int_equal(noise_of(&run, 3), 0);
  run.rounds[3].anchor_ns[RUN_LAST] = 1500 * MS;
  assert_int_equal(noise_of(&run, 3), RUN_NOISE_CONTROL);
  run_release(&run);
}

static void steal_counts_over_all_processors(void **state) {
  struct run run = quiet_run();
  run.rounds[2].steal_ns = (int64_t)(39 * MS / 10); /* of 200 ms of two processors */
  assert_int_equal(noise_of(&run, 2), 0);
  run.rounds[2].steal_ns = (int64_t)(41 * MS / 10);
  assert_int_equal(noise_of(&run, 2), RUN_NOISE_STEAL);
  run.rounds[2].steal_ns = -1;
  assert_int_equal(noise_of(&run, 2), 0);
  run_release(&run);
}

/* A cold reader waits for its own device. */
static void stalls_count_where_samples_read_memory(void **state) {
  struct run run = quiet_run();
  run.rounds[4].io_stall_ns = (int64_t)(11 * MS);
  assert_int_equal(noise_of(&run, 4), RUN_NOISE_STALL);
  run.plan.groups[0].demand.cache = PLAN_COLD;
  assert_int_equal(noise_of(&run, 4), 0);
  run.plan.groups[0].demand.cache = PLAN_WARM;
  run.plan.groups[0].demand.direction = WEIR_WRITE;
  assert_int_equal(noise_of(&run, 4), 0);
  run.plan.groups[0].demand.direction = WEIR_READ;
  assert_int_equal(run_add_number(&run, "memory_limit_bytes", 1 << 25), 0);
  assert_int_equal(noise_of(&run, 4), 0);
  run_release(&run);
}

static void a_slow_processor_is_noise(void **state) {
  struct run run = quiet_run();
  run.rounds[5].processor_hz = 2600000000;
  assert_int_equal(noise_of(&run, 5), RUN_NOISE_SPEED);
  run.rounds[5].processor_hz = -1;
  assert_int_equal(noise_of(&run, 5), 0);
  run_release(&run);
}

static void others_on_the_device_are_noise_of_their_round(void **state) {
  struct run run = quiet_run();
  struct sample sample = {
      .round = 9, .passes = 1, .foreign_bytes = 1 << 20, .device_read_bytes = 0, .device_write_bytes = -1};
  assert_int_equal(run_add_sample(&run, &sample), 0);
  assert_int_equal(noise_of(&run, 8), 0);
  run.samples[0].foreign_bytes = 2 << 20;
  assert_int_equal(noise_of(&run, 8), RUN_NOISE_DEVICE);
  run.samples[0].device_read_bytes = 100 << 20; /* beside so much of our own it is nothing */
  assert_int_equal(noise_of(&run, 8), 0);
  run.samples[0].device_read_bytes = 0;
  run.samples[0].flags = RUN_PILOT;
  assert_int_equal(noise_of(&run, 8), 0);
  run.samples[0].flags = 0;
  run.samples[0].round = 77; /* a round that nobody watched */
  assert_int_equal(noise_of(&run, 8), 0);
  run_release(&run);
}

static void a_run_without_rounds_has_no_noise(void **state) {
  struct run run = {.round_count = 0};
  uint32_t none = 0;
  assert_int_equal(run_judge_rounds(&run, &none), 0);
}

/* ---- around a round ---- */

static volatile int interrupted;

static void a_round_is_recorded(void **state) {
  const struct measure_options options = {.interrupted = &interrupted};
  struct run_round round = {.round = 1};
  struct watch watch;
  watch_open(&watch, &options);
  watch_begin(&watch, &round);
  os_sleep_ns(2000000);
  watch_end(&watch, &round);
  watch_close(&watch);
  watch_close(&watch);
  assert_true(round.anchor_ns[RUN_FIRST] > 0 && round.anchor_ns[RUN_LAST] > 0);
  assert_true(round.elapsed_ns >= 2000000 && round.start_ns > 0);
  assert_int_equal(round.waited_ns, 0);
  assert_true(round.busy_ns >= -1 && round.steal_ns >= -1 && round.io_stall_ns >= -1);
}

static int no_memory_file(const char *name, unsigned flags) {
  errno = ENOSYS;
  return -1;
}

static void without_a_control_the_rest_is_recorded(void **state) {
  const struct measure_options options = {.interrupted = &interrupted};
  struct run_round round = {.round = 1};
  struct watch watch;
  assert_non_null(os_override("memfd_create", (os_function *)no_memory_file));
  watch_open(&watch, &options);
  os_override("memfd_create", NULL);
  watch_begin(&watch, &round);
  watch_end(&watch, &round);
  watch_close(&watch);
  assert_int_equal(round.anchor_ns[RUN_FIRST], 0);
  assert_int_equal(round.anchor_ns[RUN_LAST], 0);
  assert_true(round.start_ns > 0);
}

/* Somebody always works: then the round begins when the time is over. */
static void *be_busy(void *context) {
  while (!interrupted) continue;
  return NULL;
}

static void waiting_for_quiet_ends(void **state) {
  const struct measure_options options = {.interrupted = &interrupted, .quiet_wait_ns = 300 * MS};
  struct run_round round = {.round = 1};
  struct os_pressure pressure;
  struct os_thread *thread;
  struct watch watch;
  os_pressure(&pressure);
  if (pressure.busy_ns < 0) skip();
  assert_int_equal(os_thread_start(be_busy, NULL, &thread), 0);
  watch_open(&watch, &options);
  watch_begin(&watch, &round);
  assert_true(round.waited_ns >= 300 * MS);
  interrupted = 1; /* and does not begin to wait when told to stop */
  assert_int_equal(os_thread_join(thread), 0);
  round.waited_ns = 77;
  watch_begin(&watch, &round);
  assert_true(round.waited_ns < 300 * MS);
  watch_close(&watch);
  interrupted = 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(quiet_rounds_are_quiet),
      cmocka_unit_test(a_slow_control_is_noise),
      cmocka_unit_test(the_usual_spread_is_no_noise),
      cmocka_unit_test(steal_counts_over_all_processors),
      cmocka_unit_test(stalls_count_where_samples_read_memory),
      cmocka_unit_test(a_slow_processor_is_noise),
      cmocka_unit_test(others_on_the_device_are_noise_of_their_round),
      cmocka_unit_test(a_run_without_rounds_has_no_noise),
      cmocka_unit_test(a_round_is_recorded),
      cmocka_unit_test(without_a_control_the_rest_is_recorded),
      cmocka_unit_test(waiting_for_quiet_ends),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
