/*
 * test_measure_files.c - the measuring stage where the job's bytes lie in many files: whole runs of made-up methods that
 * copy or read them rightly, and of such that lie. The methods of the product are tested in tests/methods.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#undef fail /* weir_host has a member of that name */

#include "measure/layout.h"
#include "measure/measure.h"
#include "os/os.h"

#define FILE_BYTES 65536u
#define SIZE 300000u /* four files and a shorter one */

static char place[64];

static int make_place(void **state) {
  (void)state;
  snprintf(place, sizeof place, "measure-files-%d", os_process_id());
  os_remove_tree(place);
  return os_make_directory(place);
}
static int drop_place(void **state) {
  (void)state;
  return os_remove_tree(place);
}

/* ---- made-up methods ------------------------------------------------------------------------------------------------- */

struct state {
  unsigned char data[FILE_BYTES + 1];
  char path[512];
};

static int nothing(void *state, const struct weir_job *job) {
  (void)state;
  (void)job;
  return 0;
}

static int load(struct state *s, const struct weir_job *job, uint64_t offset) {
  os_file file;
  if (os_open(weir_many_path(job, offset, s->path), OS_READ, &file) < 0) return -ENOENT;
  const int64_t count = os_pread_full(file, s->data, sizeof s->data, 0);
  os_close(file);
  return count == (int64_t)weir_order_length(job, offset) ? 0 : -ENODATA;
}

static int store(struct state *s, const struct weir_job *job, uint64_t offset, size_t length) {
  os_file file;
  if (os_open(weir_copy_path(job, offset, s->path), OS_WRITE | OS_CREATE | OS_EXCLUSIVE, &file) < 0) return -EEXIST;
  const int64_t count = os_pwrite_full(file, s->data, length, 0);
  os_close(file);
  return count == (int64_t)length ? 0 : -EIO;
}

/* What a method does with its third file. */
enum lie { TRUTH, FLIPPED_BIT, SHORT_COPY, LONG_COPY, NO_COPY, OTHER_PLACE, TWICE };
static const enum lie lies[] = {TRUTH, FLIPPED_BIT, SHORT_COPY, LONG_COPY, NO_COPY, OTHER_PLACE, TWICE};

static int copy_file(struct state *s, const struct weir_job *job, uint64_t offset, enum lie lie) {
  const size_t length = weir_order_length(job, offset);
  if (lie == NO_COPY) return 0;
  if (lie == FLIPPED_BIT) s->data[100] ^= 4;
  s->data[length] = 0;
  return store(s, job, offset, lie == SHORT_COPY ? length - 1 : lie == LONG_COPY ? length + 1 : length);
}

static int made_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct state *s = state;
  for (uint64_t i = 0; i < budget && i < job->operations && !weir_stopped(flow); i++) {
    const uint64_t offset = weir_order_offset(job, i);
    const enum lie lie = i == 2 ? *(const enum lie *)job->data : TRUTH;
    int error = load(s, job, offset);
    if (!error && job->task == WEIR_TASK_COPY) error = copy_file(s, job, offset, lie);
    if (error) return job->host->fail(job, error, "file at %llu", (unsigned long long)offset);
    if (lie == FLIPPED_BIT && job->task == WEIR_TASK_MANY) s->data[100] ^= 4;
    if (job->task == WEIR_TASK_COPY)
      weir_passed(flow, weir_order_length(job, offset));
    else
      for (int time = lie == TWICE ? 0 : 1; time < 2; time++)
        weir_deliver(flow, lie == OTHER_PLACE ? 0 : offset, s->data, weir_order_length(job, offset));
    weir_operation_end(flow, weir_operation_begin(flow));
  }
  return 0;
}

#define MADE(id, method_name, lie)                                                                    \
  static const struct weir_method id = {.abi = WEIR_METHOD_ABI,                                       \
                                        .struct_size = sizeof(struct weir_method),                    \
                                        .name = method_name,                                          \
                                        .summary = "made up",                                         \
                                        .calls = "none",                                              \
                                        .tasks = WEIR_BIT(WEIR_TASK_COPY) | WEIR_BIT(WEIR_TASK_MANY), \
                                        .directions = WEIR_BIT(WEIR_READ) | WEIR_BIT(WEIR_WRITE),     \
                                        .accesses = WEIR_ANY,                                         \
                                        .durabilities = WEIR_ANY,                                     \
                                        .state_size = sizeof(struct state),                           \
                                        .open = nothing,                                              \
                                        .run = made_run,                                              \
                                        .sync = nothing,                                              \
                                        .close = nothing,                                             \
                                        .data = &lies[lie]}

MADE(good, "made/good", TRUTH);
MADE(flipped, "made/flipped", FLIPPED_BIT);
MADE(shorter, "made/shorter", SHORT_COPY);
MADE(longer, "made/longer", LONG_COPY);
MADE(forgetful, "made/forgetful", NO_COPY);
MADE(elsewhere, "made/elsewhere", OTHER_PLACE);
MADE(twice, "made/twice", TWICE);
#define BURNT_NS UINT64_C(30000000)

static int burn(void *context) {
  struct os_usage usage;
  (void)context;
  do os_usage(&usage);
  while (usage.cpu_ns < BURNT_NS);
  return 0;
}

/* Lets a program take time, then copies. */
static int program_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  os_process process;
  if (os_process_fork(burn, NULL, &process) < 0 || os_process_wait(process, UINT64_MAX, NULL) < 0) return -ECHILD;
  return made_run(state, job, flow, budget);
}

static const struct weir_method program = {.abi = WEIR_METHOD_ABI,
                                           .struct_size = sizeof(struct weir_method),
                                           .name = "made/program",
                                           .summary = "made up",
                                           .calls = "none",
                                           .tasks = WEIR_BIT(WEIR_TASK_COPY),
                                           .directions = WEIR_BIT(WEIR_WRITE),
                                           .accesses = WEIR_ANY,
                                           .durabilities = WEIR_ANY,
                                           .capabilities = WEIR_CAP_PROGRAM,
                                           .state_size = sizeof(struct state),
                                           .open = nothing,
                                           .run = program_run,
                                           .sync = nothing,
                                           .close = nothing,
                                           .data = &lies[TRUTH]};

static const struct weir_method *const made[] = {&good,      &flipped, &shorter, &longer, &forgetful,
                                                 &elsewhere, &twice,   &program, NULL};

/* ---- whole runs ------------------------------------------------------------------------------------------------------ */

static void measure_made(struct plan_request request, struct run *run) {
  static volatile int interrupted;
  struct plan_error error;
  struct weir_reason problem = {0};
  memset(run, 0, sizeof *run);
  request.places = (struct plan_strings){1, {place}};
  request.margin = 0.03;
  request.seed = 7;
  request.rounds = 1;
  request.size = (struct plan_sizes){1, {SIZE}};
  request.request = (struct plan_sizes){1, {FILE_BYTES}};
  assert_int_equal(plan_make(&request, made, &run->plan, &error), 0);
  const struct measure_options options = {.methods = made, .interrupted = &interrupted};
  assert_int_equal(measure_run(run, &options, &problem), 0);
}

static const struct plan_cell *cell_of(const struct run *run, const char *method) {
  const struct plan_group *group = &run->plan.groups[0];
  for (unsigned c = 0; c < group->cell_count; c++)
    if (strcmp(group->cells[c].method, method) == 0 && !group->cells[c].twin) return &group->cells[c];
  print_error("no cell of %s\n", method);
  assert_true(false);
  return NULL;
}

static void expect_lie(const struct run *run, const char *method, const char *words) {
  const struct plan_cell *cell = cell_of(run, method);
  if (cell->status != PLAN_FAILED || !strstr(cell->reason, words))
    print_error("%s: status %d, '%s'\n", method, (int)cell->status, cell->reason);
  assert_int_equal(cell->status, PLAN_FAILED);
  assert_non_null(strstr(cell->reason, words));
}

static void copies_that_are_not_right_are_failed_rows(void **state) {
  struct run run;
  (void)state;
  measure_made(
      (struct plan_request){.task = {1, {WEIR_TASK_COPY}},
                            .direction = {1, {WEIR_WRITE}},
                            .methods = {5, {"made/good", "made/flipped", "made/shorter", "made/longer", "made/forgetful"}}},
      &run);
  assert_string_equal(cell_of(&run, "made/good")->reason, "");
  assert_int_equal(cell_of(&run, "made/good")->status, PLAN_OK);
  expect_lie(&run, "made/flipped", "read back, the byte at offset 100 of");
  expect_lie(&run, "made/shorter", "not the right size");
  expect_lie(&run, "made/longer", "not the right size");
  expect_lie(&run, "made/forgetful", "not there");
  run_release(&run);
}

static void many_files_that_are_not_right_are_failed_rows(void **state) {
  struct run run;
  (void)state;
  for (int access = WEIR_SEQUENTIAL; access <= WEIR_RANDOM; access++) {
    measure_made((struct plan_request){.task = {1, {WEIR_TASK_MANY}},
                                       .access = {1, {access}},
                                       .threads = {1, {access == WEIR_RANDOM ? 3 : 1}},
                                       .methods = {1, {"made/good"}}},
                 &run);
    assert_string_equal(cell_of(&run, "made/good")->reason, "");
    run_release(&run);
  }
  measure_made((struct plan_request){.task = {1, {WEIR_TASK_MANY}},
                                     .methods = {4, {"made/good", "made/flipped", "made/elsewhere", "made/twice"}}},
               &run);
  assert_string_equal(cell_of(&run, "made/good")->reason, "");
  expect_lie(&run, "made/flipped", "wrong data: the byte at offset 131172");
  expect_lie(&run, "made/elsewhere", "wrong data");
  expect_lie(&run, "made/twice", "wrong data");
  run_release(&run);
}

static void programs_count_with_what_they_took(void **state) {
  struct run run;
  unsigned samples = 0;
  (void)state;
  measure_made((struct plan_request){.task = {1, {WEIR_TASK_COPY}}, .methods = {1, {"made/program"}}}, &run);
  assert_string_equal(cell_of(&run, "made/program")->reason, "");
  for (size_t i = 0; i < run.sample_count; i++) {
    if (run.samples[i].round == 0) continue;
    samples++;
    assert_true(run.samples[i].cpu_ns >= BURNT_NS);
  }
  assert_true(samples > 0);
  run_release(&run);
}

/* ---- what a pass leaves behind --------------------------------------------------------------------------------------- */

/* A pass that was stopped makes fewer copies: those are not lost, as a file that was to be written would be. */
static void copies_that_were_never_made_are_not_lost(void **state) {
  char sources[80], copies[80], path[128];
  os_file file;
  (void)state;
  snprintf(sources, sizeof sources, "%s/sources", place);
  snprintf(copies, sizeof copies, "%s/copies", place);
  struct layout_file files = {.role = LAYOUT_WRITE,
                              .task = WEIR_TASK_COPY,
                              .size = SIZE,
                              .part_bytes = FILE_BYTES,
                              .path = sources,
                              .copies = copies,
                              .directory = place};
  assert_int_equal(os_make_directory(copies), 0);
  assert_int_equal(os_open(weir_name_at(path, copies, 1), OS_WRITE | OS_CREATE, &file), 0);
  assert_int_equal(os_pwrite_full(file, place, sizeof place, 0), sizeof place);
  assert_int_equal(os_close(file), 0);
  assert_true(layout_settle(&files) >= 0);
  files.copies = NULL;
  files.part_bytes = 0;
  assert_int_equal(layout_settle(&files), -ENOENT); /* a file that was written and is gone */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(copies_that_are_not_right_are_failed_rows),
      cmocka_unit_test(many_files_that_are_not_right_are_failed_rows),
      cmocka_unit_test(programs_count_with_what_they_took),
      cmocka_unit_test(copies_that_were_never_made_are_not_lost),
  };
  return cmocka_run_group_tests_name("measured files", tests, make_place, drop_place);
}
