/*
 * test_methods.c - the contract that every method signs: the right bytes, each once, for every demand that it claims.
 *
 * Driven by the list of methods, so a new method is tested by being in it. What goes wrong outside is in test_faults.c.
 *
 * test_methods [METHOD | PART/PARTS]: all methods of the list, one, or every PARTS-th so that parts can run side by side.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "methods/methods.h"
#include "os/os.h"
#include "trial.h"

static const uint64_t all_sizes[] = {0, 1, 511, 512, 513, 4095, 4096, 4097, 99991, 1048577};
static const uint64_t some_sizes[] = {0, 513, 4096, 99991};
static const uint64_t few_sizes[] = {513, 16385};
static const uint64_t all_blocks[] = {512, 1000, 4096, 65536, UINT64_C(2) << 20};
static const uint64_t some_blocks[] = {4096, 65536};

/* Requests past the page cache each cost a device access; more than this would only take time. */
#define DEVICE_OPERATIONS_MAX 32u

struct grid {
  const uint64_t *sizes, *blocks;
  size_t size_count, block_count;
};
#define GRID(s, b) \
  { s, b, METHODS_COUNT(s), METHODS_COUNT(b) }

static void fail_trial(const struct trial *trial, const struct trial_result *result, const char *what) {
  char name[512];
  print_error(
      "%s: %s\n  end %d error %d reason '%s' remedy '%s'\n  operations %llu of %llu bytes %llu wrong %llu covered "
      "%llu twice %llu\n",
      trial_name(trial, name, sizeof name), what, (int)result->end, result->error, result->reason.text,
      result->reason.remedy, (unsigned long long)result->operations, (unsigned long long)result->expected_operations,
      (unsigned long long)result->bytes, (unsigned long long)result->wrong, (unsigned long long)result->covered,
      (unsigned long long)result->twice);
  fail();
}

/* Says once for each method and reason what this place cannot do. */
static void tell_unavailable(const struct trial *trial, const struct trial_result *result) {
  static struct {
    const struct weir_method *method;
    char text[192];
  } told[64];
  for (size_t i = 0; i < METHODS_COUNT(told); i++) {
    if (told[i].method == trial->method && strcmp(told[i].text, result->reason.text) == 0) return;
    if (told[i].method) continue;
    told[i].method = trial->method;
    memcpy(told[i].text, result->reason.text, sizeof told[i].text);
    print_message("SKIPPED %s: %s (%s)\n", trial->method->name, result->reason.text, result->reason.remedy);
    return;
  }
}

static void check_data(const struct trial *trial, const struct trial_result *result) {
  const bool floor = (trial->method->capabilities & WEIR_CAP_FLOOR) != 0;
  if (result->operations != result->expected_operations) fail_trial(trial, result, "operations");
  if (result->bytes != trial->size) fail_trial(trial, result, "bytes");
  if (result->covered != trial->size || result->twice) fail_trial(trial, result, "not each byte once");
  if (result->wrong && !floor) fail_trial(trial, result, "wrong bytes");
  if (floor) return;
  if (trial->direction == WEIR_READ && result->sum != weir_touch(0, trial_content(), (size_t)trial->size))
    fail_trial(trial, result, "sum");
  if (trial->direction != WEIR_READ && !trial_file_is_right(trial->size)) fail_trial(trial, result, "file");
}

/* Runs one combination. False when it is not available here. */
static bool check(const struct trial *trial) {
  struct trial_result result;
  const unsigned descriptors = trial_descriptors();
  trial_run(trial, &result);
  if (trial_descriptors() != descriptors) fail_trial(trial, &result, "descriptors leaked");
  if (result.end == TRIAL_UNAVAILABLE) {
    if (!result.reason.text[0] || !result.reason.remedy[0] || result.error >= 0) fail_trial(trial, &result, "no reason");
    tell_unavailable(trial, &result);
    return false;
  }
  if (result.end != TRIAL_DONE) fail_trial(trial, &result, "failed");
  check_data(trial, &result);
  return true;
}

/* ---- combinations -------------------------------------------------------------------------------------------------- */

static unsigned choice_count(const struct weir_param *param, const struct trial *trial) {
  const bool meant = param->kind == WEIR_PARAM_CHOICE && (param->tasks & WEIR_BIT(trial->task)) &&
                     (param->accesses & WEIR_BIT(trial->access)) && (param->durabilities & WEIR_BIT(trial->durability)) &&
                     (trial->direction != WEIR_WRITE || !param->targets || (param->targets & WEIR_BIT(trial->target)));
  unsigned count = 1;
  if (meant)
    for (const char *at = param->choices; *at; at++) count += *at == '|';
  return count;
}

/* All values of one choice at a time, the others at their presets. */
static void check_choices(struct trial *trial) {
  const struct weir_method *method = trial->method;
  trial_presets(trial);
  if (!check(trial)) return;
  for (size_t i = 0; i < method->param_count; i++) {
    const uint64_t kept = trial->params[i];
    const unsigned count = choice_count(&method->params[i], trial);
    for (unsigned value = 0; value < count && count > 1; value++) {
      if (value == kept) continue;
      trial->params[i] = value;
      (void)check(trial);
    }
    trial->params[i] = kept;
  }
}

static void check_presets(struct trial *trial) {
  trial_presets(trial);
  (void)check(trial);
}

static bool too_slow(const struct trial *trial) {
  const bool device = (trial->method->capabilities & WEIR_CAP_DIRECT) || trial->durability == WEIR_DURABILITY_EACH;
  return device && trial->size / trial->block > DEVICE_OPERATIONS_MAX;
}

static void check_grid(struct trial *trial, const struct grid *grid) {
  for (size_t i = 0; i < grid->size_count * grid->block_count * 2; i++) {
    trial->size = grid->sizes[i / 2 / grid->block_count];
    trial->block = grid->blocks[i / 2 % grid->block_count];
    trial->instances = i % 2 ? 3 : 1;
    if (too_slow(trial)) continue;
    /* What a choice changes does not depend on every size. */
    if (trial->size == 0 || trial->size == 513 || (trial->size == 99991 && trial->block >= 4096))
      check_choices(trial);
    else
      check_presets(trial);
  }
}

/* Blocks in order, blocks at random, whole in order: as far as the method claims them. */
static void check_forms(struct trial *trial, const struct grid *grid) {
  static const struct {
    enum weir_task task;
    enum weir_access access;
  } forms[] = {{WEIR_TASK_BLOCKS, WEIR_SEQUENTIAL}, {WEIR_TASK_BLOCKS, WEIR_RANDOM}, {WEIR_TASK_WHOLE, WEIR_SEQUENTIAL}};
  for (size_t i = 0; i < METHODS_COUNT(forms); i++) {
    trial->task = forms[i].task;
    trial->access = forms[i].access;
    if (trial->direction == WEIR_MIXED && trial->task == WEIR_TASK_WHOLE) continue;
    if ((trial->method->tasks & WEIR_BIT(trial->task)) && (trial->method->accesses & WEIR_BIT(trial->access)))
      check_grid(trial, grid);
  }
}

static const char *chosen; /* a method; NULL: those of this part */
static unsigned part, parts = 1;

static bool is_wanted(const struct weir_method *const *at) {
  return chosen ? strcmp((*at)->name, chosen) == 0 : (size_t)(at - methods_list) % parts == part;
}

/* Blocks where the method has both tasks. */
static enum weir_task first_task(const struct weir_method *method) {
  return method->tasks & WEIR_BIT(WEIR_TASK_BLOCKS) ? WEIR_TASK_BLOCKS : WEIR_TASK_WHOLE;
}

static void for_each_method(enum weir_direction direction, void (*each)(struct trial *trial)) {
  for (const struct weir_method *const *at = methods_list; *at; at++) {
    struct trial trial = {
        .method = *at, .direction = direction, .consumer = WEIR_CONSUMER_VERIFY, .task = first_task(*at)};
    const bool here = ((*at)->tasks & METHODS_BOTH_TASKS) != 0; /* other tasks have tests of their own */
    if (here && is_wanted(at) && ((*at)->directions & WEIR_BIT(direction))) each(&trial);
  }
}

/* ---- tests --------------------------------------------------------------------------------------------------------- */

static void check_description(const struct weir_method *m) {
  assert_int_equal(m->abi, WEIR_METHOD_ABI);
  assert_int_equal(m->struct_size, sizeof *m);
  assert_true(m->name[0] && m->summary[0] && m->calls[0]);
  assert_true(m->tasks && m->directions && m->accesses && m->durabilities);
  assert_true(m->setup && m->open && m->run && m->close && m->teardown);
  assert_true(m->sync || m->directions == WEIR_BIT(WEIR_READ) || (m->capabilities & WEIR_CAP_FLOOR));
  assert_true(m->param_count <= WEIR_PARAMS_MAX);
  for (size_t i = 0; i < m->param_count; i++) {
    const struct weir_param *p = &m->params[i];
    assert_true(p->name[0] && p->preset[0] && p->help[0]);
    assert_true(p->tasks && p->accesses && p->durabilities);
    assert_true(p->kind == WEIR_PARAM_CHOICE ? p->choices != NULL : p->max > p->min);
  }
}

static void every_method_describes_itself(void **unused) {
  for (const struct weir_method *const *at = methods_list; *at; at++) {
    check_description(*at);
    for (const struct weir_method *const *other = methods_list; other != at; other++)
      assert_string_not_equal((*other)->name, (*at)->name);
  }
}

static void read_everything(struct trial *trial) {
  static const struct grid grid = GRID(all_sizes, all_blocks);
  check_forms(trial, &grid);
}
static void readers_deliver_each_byte_once(void **unused) { for_each_method(WEIR_READ, read_everything); }

static void write_everything(struct trial *trial) {
  static const struct grid all = GRID(all_sizes, all_blocks), some = GRID(some_sizes, some_blocks);
  static const enum weir_target targets[] = {WEIR_TARGET_TRUNCATE, WEIR_TARGET_OVERWRITE, WEIR_TARGET_NEW,
                                             WEIR_TARGET_PREALLOCATED};
  for (size_t i = 0; i < METHODS_COUNT(targets); i++) {
    trial->target = targets[i];
    check_forms(trial, i == 0 ? &all : &some);
  }
}
static void writers_leave_exactly_the_file(void **unused) { for_each_method(WEIR_WRITE, write_everything); }

static void mix_everything(struct trial *trial) {
  static const struct grid all = GRID(all_sizes, all_blocks), few = GRID(few_sizes, some_blocks);
  check_forms(trial, &all);
  for (unsigned durability = WEIR_DURABILITY_END; durability <= WEIR_DURABILITY_EACH; durability++) {
    trial->durability = (enum weir_durability)durability;
    if (trial->method->durabilities & WEIR_BIT(durability)) check_forms(trial, &few);
  }
}
static void mixers_read_and_write_each_block_as_told(void **unused) { for_each_method(WEIR_MIXED, mix_everything); }

static void write_durably(struct trial *trial) {
  static const struct grid some = GRID(some_sizes, some_blocks), few = GRID(few_sizes, some_blocks);
  static const enum weir_target targets[] = {WEIR_TARGET_NEW, WEIR_TARGET_OVERWRITE};
  for (size_t i = 0; i < METHODS_COUNT(targets); i++) {
    trial->target = targets[i];
    trial->durability = WEIR_DURABILITY_END;
    if (trial->method->durabilities & WEIR_BIT(trial->durability)) check_forms(trial, &some);
    trial->durability = WEIR_DURABILITY_EACH;
    if (trial->method->durabilities & WEIR_BIT(trial->durability)) check_forms(trial, &few);
  }
}
static void durable_writers_leave_exactly_the_file(void **unused) { for_each_method(WEIR_WRITE, write_durably); }

/* Queue depths and stream buffers that the presets do not reach. */
static void vary_numbers(struct trial *trial) {
  static const struct {
    const char *name;
    uint64_t values[4];
  } numbers[] = {{"depth", {1, 2, 16, 1024}}, {"setvbuf", {0, 1, 1000, 1 << 20}}, {"pieces", {1, 2, 7, 64}},
                 {"batch", {1, 2, 8, 1024}},  {"chain", {2, 3, 8, 64}},           {"rings", {1, 2, 3, 16}}};
  static const struct grid grid = GRID(some_sizes, some_blocks);
  for (size_t i = 0; i < METHODS_COUNT(numbers) * 4; i++) {
    const int at = trial_param(trial->method, numbers[i / 4].name);
    if (at < 0) continue;
    for (size_t size = 0; size < grid.size_count; size++) {
      trial->size = grid.sizes[size];
      trial->block = 4096;
      trial_presets(trial);
      trial->params[at] = numbers[i / 4].values[i % 4];
      (void)check(trial);
    }
  }
}
static void numbers_may_take_any_value(void **unused) {
  for_each_method(WEIR_READ, vary_numbers);
  for_each_method(WEIR_WRITE, vary_numbers);
  for_each_method(WEIR_MIXED, vary_numbers);
}

/* Requests of a number or less, in order and not, as far as the method takes them. */
static void read_small(struct trial *trial) {
  static const uint64_t sizes[] = {1, 7, 8, 1001}, blocks[] = {1, 3, 4, 8};
  if ((trial->method->capabilities & WEIR_CAP_DIRECT) || trial->task != WEIR_TASK_BLOCKS) return;
  trial_presets(trial);
  for (size_t i = 0; i < 2 * METHODS_COUNT(sizes) * METHODS_COUNT(blocks); i++) {
    trial->access = i % 2 ? WEIR_RANDOM : WEIR_SEQUENTIAL;
    trial->size = sizes[i / 2 / METHODS_COUNT(blocks)];
    trial->block = blocks[i / 2 % METHODS_COUNT(blocks)];
    if (trial->method->accesses & WEIR_BIT(trial->access)) (void)check(trial);
  }
}
static void requests_may_be_single_numbers(void **unused) { for_each_method(WEIR_READ, read_small); }

static uint64_t faults_of(struct trial *trial, uint64_t block) {
  struct trial_result result;
  struct os_usage before, after;
  trial->block = block;
  os_usage(&before);
  trial_run(trial, &result);
  os_usage(&after);
  if (result.end != TRIAL_DONE) fail_trial(trial, &result, "failed");
  return after.minor_faults - before.minor_faults;
}

/* A view hands a pointer over, which nobody need follow. A number it has to load, and so to meet the pages: in as many
 * faults as the system finds right, for it may map all of a large folio at once. */
static void views_load_single_numbers(void **unused) {
  static const char *const views[] = {"map/view", "weir/view"};
  for (const struct weir_method *const *at = methods_list; *at; at++) {
    struct trial trial = {.method = *at, .consumer = WEIR_CONSUMER_NONE, .access = WEIR_RANDOM, .size = TRIAL_SIZE_MAX};
    if (!is_wanted(at) || (strcmp((*at)->name, views[0]) != 0 && strcmp((*at)->name, views[1]) != 0)) continue;
    trial_presets(&trial);
    trial_lay_out(&trial);
    trial.as_it_is = true;
    (void)faults_of(&trial, 16); /* memory of the test itself */
    assert_true(faults_of(&trial, 8) > faults_of(&trial, 16));
  }
}

static void repeat_passes(struct trial *trial) {
  trial->size = 99991;
  trial->block = 4096;
  trial->passes = 3;
  trial->target = WEIR_TARGET_TRUNCATE;
  for (int whole = 0; whole < 2; whole++) {
    trial->task = whole ? WEIR_TASK_WHOLE : WEIR_TASK_BLOCKS;
    if (trial->method->tasks & WEIR_BIT(trial->task) && !(whole && trial->direction == WEIR_MIXED)) check_choices(trial);
  }
}
static void a_state_serves_several_passes(void **unused) {
  for_each_method(WEIR_READ, repeat_passes);
  for_each_method(WEIR_WRITE, repeat_passes);
  for_each_method(WEIR_MIXED, repeat_passes);
}

static uint64_t prefix_bytes(const struct trial *trial, uint64_t operations) {
  const uint64_t bytes = operations * trial->block;
  return bytes < trial->size ? bytes : trial->size;
}

static bool file_begins_right(uint64_t size) {
  static unsigned char data[131072];
  os_file file;
  assert_true(size <= sizeof data);
  assert_int_equal(os_open(trial_path(), OS_READ, &file), 0);
  const int64_t count = os_pread_full(file, data, (size_t)size, 0);
  assert_int_equal(os_close(file), 0);
  return count == (int64_t)size && memcmp(data, trial_content(), (size_t)size) == 0;
}

static void check_prefix(const struct trial *trial) {
  struct trial_result result;
  trial_run(trial, &result);
  if (result.end == TRIAL_UNAVAILABLE) return;
  if (result.end != TRIAL_DONE) fail_trial(trial, &result, "failed");
  const uint64_t wanted = trial->budget < result.expected_operations ? trial->budget : result.expected_operations;
  const uint64_t bytes = prefix_bytes(trial, wanted);
  const bool floor = (trial->method->capabilities & WEIR_CAP_FLOOR) != 0;
  if (result.operations != wanted || result.bytes != bytes || result.covered != bytes || result.twice ||
      (result.wrong && !floor))
    fail_trial(trial, &result, "not the prefix");
  if (trial->direction != WEIR_WRITE || floor) return;
  if (!file_begins_right(bytes)) fail_trial(trial, &result, "file");
  struct stat facts; /* what is overwritten in part stays as long as it was */
  if (stat(trial_path(), &facts) != 0 || (uint64_t)facts.st_size != trial->size) fail_trial(trial, &result, "length");
}

static void limit_budget(struct trial *trial) {
  static const uint64_t budgets[] = {0, 1, 7, 24, 25, 1000};
  trial->size = 99991; /* 25 requests */
  trial->block = 4096;
  trial->limited = true;
  trial->target = WEIR_TARGET_OVERWRITE;
  trial_presets(trial);
  for (size_t i = 0; i < METHODS_COUNT(budgets) * 2; i++) {
    trial->task = i % 2 ? WEIR_TASK_WHOLE : WEIR_TASK_BLOCKS;
    trial->budget = budgets[i / 2];
    if (trial->method->tasks & WEIR_BIT(trial->task)) check_prefix(trial);
  }
}
static void a_budget_is_a_prefix(void **unused) {
  for_each_method(WEIR_READ, limit_budget);
  for_each_method(WEIR_WRITE, limit_budget);
}

/* Requests under way when stop is set are finished and counted; none is begun after. */
static void stop_early(struct trial *trial) {
  if (trial->task == WEIR_TASK_WHOLE) return; /* one call: there is no early */
  trial->size = TRIAL_SIZE_MAX;
  trial->block = 4096;
  trial->stop_after = 5;
  trial_presets(trial);
  const int depth = trial_param(trial->method, "depth");
  struct trial_result result;
  trial_run(trial, &result);
  if (result.end == TRIAL_UNAVAILABLE) return;
  if (result.end != TRIAL_DONE) fail_trial(trial, &result, "failed");
  const uint64_t most = 5 + (depth >= 0 ? trial->params[depth] : 0);
  if (result.operations < 5 || result.operations > most) fail_trial(trial, &result, "did not stop");
  if (result.bytes != result.operations * trial->block || result.covered != result.bytes)
    fail_trial(trial, &result, "counts do not agree");
}
static void stop_ends_a_run_early(void **unused) {
  for_each_method(WEIR_READ, stop_early);
  for_each_method(WEIR_WRITE, stop_early);
  for_each_method(WEIR_MIXED, stop_early);
}

/* A whole buffer is supplied before its first request; stopped then, nothing was moved. */
static void stop_whole(struct trial *trial) {
  if (!(trial->method->tasks & WEIR_BIT(WEIR_TASK_WHOLE))) return;
  trial->size = 99991;
  trial->block = 4096;
  trial->task = WEIR_TASK_WHOLE;
  trial->stop_after = 1;
  trial_presets(trial);
  struct trial_result result;
  trial_run(trial, &result);
  if (result.end == TRIAL_UNAVAILABLE) return;
  if (result.end != TRIAL_DONE || result.operations || result.bytes) fail_trial(trial, &result, "counts do not agree");
}
static void a_stopped_whole_write_counts_what_it_wrote(void **unused) { for_each_method(WEIR_WRITE, stop_whole); }

static void time_operations(struct trial *trial) {
  if (trial->task == WEIR_TASK_WHOLE) return; /* one call is timed once, whatever it counts for */
  trial->size = 99991;
  trial->block = 4096;
  trial->timed = true;
  trial_presets(trial);
  struct trial_result result;
  trial_run(trial, &result);
  if (result.end == TRIAL_UNAVAILABLE) return;
  if (result.end != TRIAL_DONE || result.latencies != result.operations) fail_trial(trial, &result, "latencies");
}
static void each_operation_is_timed_once(void **unused) {
  for_each_method(WEIR_READ, time_operations);
  for_each_method(WEIR_WRITE, time_operations);
  for_each_method(WEIR_MIXED, time_operations);
}

/* Without hooks: the sum of touched lines is the same for every method, and mode `none` counts all the same. */
static void consume_otherwise(struct trial *trial) {
  trial->size = TRIAL_SIZE_MAX;
  trial->block = 65536;
  trial_presets(trial);
  for (int touch = 0; touch < 2; touch++) {
    trial->consumer = touch ? WEIR_CONSUMER_TOUCH : WEIR_CONSUMER_NONE;
    struct trial_result result;
    trial_run(trial, &result);
    if (result.end == TRIAL_UNAVAILABLE) return;
    if (result.end != TRIAL_DONE || result.bytes != trial->size) fail_trial(trial, &result, "bytes");
    const uint64_t sum = touch ? weir_touch(0, trial_content(), (size_t)trial->size) : 0;
    if (!(trial->method->capabilities & WEIR_CAP_FLOOR) && result.sum != sum) fail_trial(trial, &result, "sum");
  }
}
static void other_consumers_are_served(void **unused) { for_each_method(WEIR_READ, consume_otherwise); }

static void read_without_trace(struct trial *trial) {
  struct stat before, after;
  trial->size = 99991;
  trial->block = 4096;
  trial->as_it_is = true;
  trial_presets(trial);
  struct trial_result result;
  trial_lay_out(trial);
  assert_int_equal(stat(trial_path(), &before), 0);
  trial_run(trial, &result);
  assert_int_equal(stat(trial_path(), &after), 0);
  if (result.end != TRIAL_DONE && result.end != TRIAL_UNAVAILABLE) fail_trial(trial, &result, "failed");
  assert_true(before.st_ino == after.st_ino && before.st_size == after.st_size);
  assert_true(before.st_mtim.tv_sec == after.st_mtim.tv_sec && before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
  assert_true(before.st_ctim.tv_sec == after.st_ctim.tv_sec && before.st_ctim.tv_nsec == after.st_ctim.tv_nsec);
}
static void readers_leave_no_trace(void **unused) { for_each_method(WEIR_READ, read_without_trace); }

static void meet_existing(struct trial *trial) {
  if (trial->method->capabilities & WEIR_CAP_FLOOR) return;
  trial->size = 4096;
  trial->block = 4096;
  trial->target = WEIR_TARGET_OVERWRITE;
  trial_presets(trial);
  trial_lay_out(trial);
  trial->target = WEIR_TARGET_NEW;
  trial->as_it_is = true;
  struct trial_result result;
  trial_run(trial, &result);
  if (result.end == TRIAL_UNAVAILABLE) return;
  const bool refused = result.end == TRIAL_OPEN || result.end == TRIAL_RUN; /* one call opens in its run */
  if (!refused || result.error != -EEXIST || !result.reason.text[0])
    fail_trial(trial, &result, "overwrote a file that was there");
}
static void a_new_file_is_never_an_old_one(void **unused) { for_each_method(WEIR_WRITE, meet_existing); }

static int begin(void **unused) {
  trial_pool_contexts();
  return trial_begin();
}
static int finish(void **unused) {
  trial_finish();
  return 0;
}

int main(int count, char **arguments) {
  if (count > 1 && (sscanf(arguments[1], "%u/%u", &part, &parts) != 2 || parts == 0)) chosen = arguments[1];
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_method_describes_itself),
      cmocka_unit_test(readers_deliver_each_byte_once),
      cmocka_unit_test(writers_leave_exactly_the_file),
      cmocka_unit_test(mixers_read_and_write_each_block_as_told),
      cmocka_unit_test(durable_writers_leave_exactly_the_file),
      cmocka_unit_test(numbers_may_take_any_value),
      cmocka_unit_test(requests_may_be_single_numbers),
      cmocka_unit_test(views_load_single_numbers),
      cmocka_unit_test(a_state_serves_several_passes),
      cmocka_unit_test(a_budget_is_a_prefix),
      cmocka_unit_test(stop_ends_a_run_early),
      cmocka_unit_test(a_stopped_whole_write_counts_what_it_wrote),
      cmocka_unit_test(each_operation_is_timed_once),
      cmocka_unit_test(other_consumers_are_served),
      cmocka_unit_test(readers_leave_no_trace),
      cmocka_unit_test(a_new_file_is_never_an_old_one),
  };
  return cmocka_run_group_tests_name("methods", tests, begin, finish);
}
