/*
 * test_measure.c - the measuring stage without a method of the product: content, jobs, schedule, scratch directories, and
 * whole runs of made-up methods that lie, crash, hang or fail.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#undef fail /* weir_host has a member of that name */

#include "measure/cells.h"
#include "measure/content.h"
#include "measure/measure.h"
#include "measure/schedule.h"
#include "measure/scratch.h"
#include "os/os.h"

/* ---- content ---------------------------------------------------------------------------------------------------------- */

static void content_is_the_same_in_any_pieces(void **state) {
  (void)state;
  struct content content;
  enum { SIZE = 300000 };
  unsigned char *whole = malloc(SIZE), *pieces = malloc(SIZE);
  assert_int_equal(content_init(&content, 42), 0);
  content_fill(&content, 0, whole, SIZE);
  for (size_t step = 1; step < 5000; step = step * 3 + 1) {
    memset(pieces, 0, SIZE);
    for (size_t at = 0; at < SIZE; at += step) content_fill(&content, at, pieces + at, SIZE - at < step ? SIZE - at : step);
    assert_memory_equal(whole, pieces, SIZE);
  }
  assert_int_equal(content_mismatch(&content, 0, whole, SIZE), SIZE);
  assert_int_equal(content_mismatch(&content, 777, whole + 777, SIZE - 777), SIZE - 777);
  whole[123456] ^= 1;
  assert_int_equal(content_mismatch(&content, 0, whole, SIZE), 123456);
  whole[123456] ^= 1;
  for (size_t from = 0; from < 200; from += 7)
    assert_true(content_sum(&content, from, SIZE - from) == weir_touch(from, whole + from, SIZE - from));
  free(whole);
  free(pieces);
  content_free(&content);
}

static void content_differs_in_every_line_and_seed(void **state) {
  (void)state;
  struct content a, b;
  unsigned char x[4096], y[4096];
  assert_int_equal(content_init(&a, 1), 0);
  b = (struct content){2, a.pool};
  content_fill(&a, 0, x, sizeof x);
  content_fill(&a, CONTENT_POOL, y, sizeof y);
  for (size_t at = 0; at < sizeof x; at += 64) assert_memory_not_equal(x + at, y + at, 8);
  content_fill(&b, 0, y, sizeof y);
  for (size_t at = 0; at < sizeof x; at += 64) assert_memory_not_equal(x + at, y + at, 8);
  content_free(&a);
}

/* ---- jobs --------------------------------------------------------------------------------------------------------------- */

static struct plan_cell one_cell(uint64_t block, unsigned threads) {
  return (struct plan_cell){.id = "cell", .threads = threads, .param_count = 1, .params = {{.name = "block", .value = block}}};
}

static void partitions_cover_a_file_once(void **state) {
  (void)state;
  const uint64_t sizes[] = {0, 1, 511, 4096, 4097, 65536, 1048577}, blocks[] = {1, 512, 1000, 4096, 2097152};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
      for (unsigned threads = 1; threads <= 7; threads += 3) {
        struct plan_cell cell = one_cell(blocks[b], threads);
        struct plan_group group = {.cell_count = 1, .cells = &cell, .demand = {.size_bytes = sizes[s], .coverage = 1}};
        struct plan plan = {.group_count = 1, .groups = &group};
        const struct cell_files files = {.path = "f", .directory = "d", .round = 1};
        uint64_t at = 0;
        for (unsigned i = 0; i < threads; i++) {
          struct cell_job job;
          cell_job_init(&job, &plan, 0, 0, i, &files);
          if (job.job.part_length) assert_true(job.job.part_offset == at);
          at += job.job.part_length;
          assert_true(job.job.blocks == (job.job.part_length + blocks[b] - 1) / blocks[b]);
        }
        assert_true(at == sizes[s]);
      }
}

static void random_order_visits_each_block_once(void **state) {
  (void)state;
  for (uint64_t blocks = 1; blocks < 3000; blocks = blocks * 2 + 1) {
    struct plan_cell cell = one_cell(4096, 1);
    struct plan_group group = {.cell_count = 1, .cells = &cell,
                               .demand = {.access = WEIR_RANDOM, .size_bytes = blocks * 4096 - 7, .coverage = 1}};
    struct plan plan = {.seed = blocks, .group_count = 1, .groups = &group};
    const struct cell_files files = {.path = "f", .directory = "d", .round = 1};
    struct cell_job job;
    cell_job_init(&job, &plan, 0, 0, 0, &files);
    unsigned char *seen = calloc(blocks, 1);
    uint64_t bytes = 0, in_order = 0, last = UINT64_MAX;
    for (uint64_t i = 0; i < job.job.operations; i++) {
      uint64_t offset = weir_order_offset(&job.job, i);
      assert_true(offset % 4096 == 0 && offset / 4096 < blocks);
      assert_int_equal(seen[offset / 4096]++, 0);
      bytes += weir_order_length(&job.job, offset);
      in_order += last != UINT64_MAX && offset == last + 4096;
      last = offset;
    }
    assert_true(bytes == group.demand.size_bytes);
    if (blocks > 500) assert_true(in_order < blocks / 20);
    free(seen);
  }
}

static void coverage_and_cuts_bound_a_pass(void **state) {
  (void)state;
  struct plan_cell cell = one_cell(4096, 1);
  struct plan_group group = {.cell_count = 1, .cells = &cell,
                             .demand = {.access = WEIR_RANDOM, .size_bytes = 1000 * 4096, .coverage = 0.1}};
  struct plan plan = {.group_count = 1, .groups = &group};
  assert_int_equal(cell_operations(&plan, 0, 0), 100);
  group.pass_bytes = 40 * 4096;
  assert_int_equal(cell_operations(&plan, 0, 0), 40);
  group.pass_bytes = 1;
  assert_int_equal(cell_operations(&plan, 0, 0), 1);
}

/* ---- schedule ----------------------------------------------------------------------------------------------------------- */

#define SECOND UINT64_C(1000000000)

static struct plan_cell many_cells[10];

static struct plan_group made_group(uint64_t cost_ns, unsigned priority) {
  for (unsigned i = 0; i < 10; i++) many_cells[i] = one_cell(4096, 1);
  return (struct plan_group){.cell_count = 10, .cells = many_cells, .round_cost_ns = cost_ns, .priority = priority,
                             .demand = {.size_bytes = 128 << 20}, .smallest_bytes = 32 << 20};
}

static void schedule_fills_the_default_rounds_when_time_allows(void **state) {
  (void)state;
  struct plan_group groups[] = {made_group(SECOND / 100, 0), made_group(SECOND / 100, 1)};
  struct plan plan = {.group_count = 2, .groups = groups, .time_ns = 60 * SECOND};
  assert_false(schedule_groups(&plan, 60 * SECOND));
  schedule_rounds(&plan, 60 * SECOND);
  assert_int_equal(groups[0].rounds, PLAN_ROUNDS_DEFAULT);
  plan.fill_time = true;
  schedule_rounds(&plan, 60 * SECOND);
  assert_true(groups[1].rounds > 1000 / 2);
}

static void schedule_shrinks_then_drops_and_keeps_the_floor(void **state) {
  (void)state;
  struct plan_group groups[] = {made_group(2 * SECOND, 0), made_group(2 * SECOND, 7), made_group(2 * SECOND, 3)};
  for (unsigned i = 0; i < 3; i++) plan_resize(&groups[i], 128 << 20);
  struct plan plan = {.group_count = 3, .groups = groups, .time_ns = 15 * SECOND};
  assert_true(schedule_groups(&plan, 15 * SECOND));
  schedule_rounds(&plan, 15 * SECOND);
  assert_true(groups[0].demand.size_bytes == 32 << 20);
  assert_false(groups[0].dropped);
  assert_true(groups[1].dropped);
  assert_true(groups[1].drop_reason[0] != '\0');
  assert_true(groups[0].rounds >= plan_rounds_for_verdicts(10));
  assert_int_equal(groups[1].rounds, 0);
  for (unsigned i = 0; i < 3; i++) free(groups[i].title);
}

static void schedule_gives_cheap_groups_their_rounds_first(void **state) {
  (void)state;
  struct plan_group groups[] = {made_group(SECOND, 0), made_group(SECOND / 100, 1)};
  groups[0].size_fixed = groups[1].size_fixed = true;
  struct plan plan = {.group_count = 2, .groups = groups, .time_ns = 15 * SECOND};
  assert_false(schedule_groups(&plan, 15 * SECOND));
  schedule_rounds(&plan, 15 * SECOND);
  assert_int_equal(groups[1].rounds, PLAN_ROUNDS_DEFAULT);
  assert_in_range(groups[0].rounds, plan_rounds_for_verdicts(10), 14);
}

static void schedule_never_shrinks_what_the_user_named(void **state) {
  (void)state;
  struct plan_group group = made_group(100 * SECOND, 0);
  group.size_fixed = true;
  struct plan plan = {.group_count = 1, .groups = &group, .time_ns = 20 * SECOND};
  assert_false(schedule_groups(&plan, 20 * SECOND));
  schedule_rounds(&plan, 20 * SECOND);
  assert_false(group.dropped);
  assert_int_equal(group.rounds, plan_rounds_for_verdicts(10));
  plan.rounds = 3;
  schedule_rounds(&plan, 20 * SECOND);
  assert_int_equal(group.rounds, 3);
}

/* ---- scratch ------------------------------------------------------------------------------------------------------------ */

struct listing { unsigned ours; };

static int count_ours(void *context, const char *name) {
  struct listing *listing = context;
  listing->ours += strncmp(name, SCRATCH_PREFIX, strlen(SCRATCH_PREFIX)) == 0;
  return 0;
}

static unsigned ours_in(const char *place) {
  struct listing listing = {0};
  os_list_directory(place, count_ours, &listing);
  return listing.ours;
}

static char place[64];
static char *places[] = {place, NULL};

static int make_place(void **state) {
  (void)state;
  snprintf(place, sizeof place, "measure-test-%d", os_process_id());
  os_remove_tree(place);
  return os_make_directory(place);
}

static int drop_place(void **state) {
  (void)state;
  return os_remove_tree(place);
}

static void scratch_leaves_nothing(void **state) {
  (void)state;
  struct scratch scratch;
  struct weir_reason problem = {0};
  assert_int_equal(scratch_open(&scratch, places, 1, &problem), 0);
  assert_int_equal(ours_in(place), 1);
  scratch_close(&scratch);
  assert_int_equal(ours_in(place), 0);
}

static int die_in_the_middle(void *context) {
  struct scratch scratch;
  struct weir_reason problem = {0};
  (void)context;
  if (scratch_open(&scratch, places, 1, &problem) < 0) return 1;
  raise(SIGKILL);
  return 2;
}

static void scratch_is_swept_after_sigkill(void **state) {
  (void)state;
  os_process child;
  struct os_exit end;
  assert_int_equal(os_process_fork(die_in_the_middle, NULL, &child), 0);
  assert_int_equal(os_process_wait(child, UINT64_MAX, &end), 0);
  assert_true(end.crashed);
  for (unsigned i = 0; i < 1000 && ours_in(place) > 0; i++) os_sleep_ns(10000000);
  assert_int_equal(ours_in(place), 0);
}

static void scratch_of_dead_runs_is_swept_and_of_live_runs_kept(void **state) {
  (void)state;
  struct scratch live;
  struct weir_reason problem = {0};
  os_file file;
  char path[160];
  assert_int_equal(scratch_open(&live, places, 1, &problem), 0);
  snprintf(path, sizeof path, "%s/" SCRATCH_PREFIX "0123456789abcdef", place);
  assert_int_equal(os_make_directory(path), 0);
  strcat(path, "/lock");
  assert_int_equal(os_open(path, OS_WRITE | OS_CREATE, &file), 0);
  os_close(file);
  snprintf(path, sizeof path, "%s/" SCRATCH_PREFIX "not-ours-at-all", place);
  assert_int_equal(os_make_directory(path), 0);
  assert_int_equal(ours_in(place), 3);
  assert_int_equal(scratch_sweep(place), 1);
  assert_int_equal(ours_in(place), 2);
  scratch_close(&live);
  assert_int_equal(ours_in(place), 1);
  os_remove_tree(path);
}

static void scratch_that_cannot_be_made_says_why(void **state) {
  (void)state;
  struct scratch scratch;
  struct weir_reason problem = {0};
  char *nowhere[] = {"/proc/no/such/place"};
  assert_true(scratch_open(&scratch, nowhere, 1, &problem) < 0);
  assert_non_null(strstr(problem.text, "/proc/no/such/place"));
  assert_true(problem.remedy[0] != '\0');
}

/* ---- whole runs of made-up methods ----------------------------------------------------------------------------------------- */

struct fake { os_file file; unsigned char *buffer; };

static int fake_open(void *state, const struct weir_job *job) {
  struct fake *fake = state;
  unsigned flags = job->direction == WEIR_READ ? OS_READ : OS_READ | OS_WRITE;
  fake->file = os_no_file;
  fake->buffer = malloc(job->block);
  int result = os_open(job->path, flags, &fake->file);
  return result < 0 ? job->host->fail(job, result, "open: %s", strerror(-result)) : 0;
}

static int fake_close(void *state, const struct weir_job *job) {
  struct fake *fake = state;
  (void)job;
  free(fake->buffer);
  return os_close(fake->file);
}

static int good_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct fake *fake = state;
  for (uint64_t i = 0; i < budget && i < job->operations && !weir_stopped(flow); i++) {
    uint64_t offset = weir_order_offset(job, i);
    size_t length = weir_order_length(job, offset);
    if (job->direction == WEIR_WRITE || (job->direction == WEIR_MIXED && weir_order_writes(job, offset))) {
      weir_supply(flow, offset, fake->buffer, length);
      if (os_pwrite_full(fake->file, fake->buffer, length, offset) != (int64_t)length) return -EIO;
    } else {
      if (os_pread_full(fake->file, fake->buffer, length, offset) != (int64_t)length) return -EIO;
      weir_deliver(flow, offset, fake->buffer, length);
    }
    weir_operation_end(flow, weir_operation_begin(flow));
  }
  return 0;
}

/* Delivers one flipped byte in the last block. */
static int lying_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct fake *fake = state;
  int result = 0;
  for (uint64_t i = 0; i < budget && i < job->operations; i++) {
    uint64_t offset = weir_order_offset(job, i);
    size_t length = weir_order_length(job, offset);
    if (os_pread_full(fake->file, fake->buffer, length, offset) != (int64_t)length) result = -EIO;
    if (i + 1 == job->operations) fake->buffer[length - 1] ^= 1;
    weir_deliver(flow, offset, fake->buffer, length);
    flow->operations++;
  }
  return result;
}

/* Says that all was read and delivers nothing. */
static int lazy_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  (void)state;
  (void)budget;
  flow->operations = job->operations;
  return 0;
}

/* Claims to write. */
static int forgetful_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct fake *fake = state;
  (void)budget;
  for (uint64_t i = 0; i < job->operations; i++) {
    uint64_t offset = weir_order_offset(job, i);
    size_t length = weir_order_length(job, offset);
    weir_supply(flow, offset, fake->buffer, length);
    if (i > 0 && os_pwrite_full(fake->file, fake->buffer, length, offset) != (int64_t)length) return -EIO;
    flow->operations++;
  }
  return 0;
}

static char members[3][80];

static int keep_scratch(void *context, const char *name) {
  if (strncmp(name, SCRATCH_PREFIX, strlen(SCRATCH_PREFIX)) == 0) snprintf(context, 64, "%s", name);
  return 0;
}

/* Works on the first member's file, whichever it was given. */
static int same_file_open(void *state, const struct weir_job *job) {
  struct weir_job other = *job;
  char scratch[64] = "", path[512];
  os_list_directory(members[0], keep_scratch, scratch);
  snprintf(path, sizeof path, "%s/%s%s", members[0], scratch, strrchr(job->path, '/'));
  other.path = path;
  return fake_open(state, &other);
}

/* Does the first request only, and says so. */
static int half_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  (void)budget;
  return good_run(state, job, flow, 1);
}

/* Goes to the device in every second sample, as if the system had taken pages out of the cache after they were checked. */
static int forgetting_cache_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct fake *fake = state;
  if (os_clock_ns() / 1000 % 2 == 0) os_cache_evict(fake->file, 0, job->file_size);
  return good_run(state, job, flow, budget);
}

static int poor_setup(void *state, const struct weir_job *job) {
  (void)state;
  snprintf(job->reason->remedy, sizeof job->reason->remedy, "buy more");
  return job->host->fail(job, -ENOMEM, "no memory for this");
}

static int crashing_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  (void)state;
  (void)job;
  (void)flow;
  (void)budget;
  signal(SIGBUS, SIG_DFL); /* the test framework catches it otherwise */
  raise(SIGBUS);
  return 0;
}

static int failing_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  (void)state;
  (void)budget;
  return flow->mode == WEIR_CONSUMER_VERIFY ? 0 : job->host->fail(job, -EIO, "made-up failure at offset %d", 42);
}

static int refusing_probe(const struct weir_job *job, struct weir_reason *reason) {
  (void)job;
  snprintf(reason->text, sizeof reason->text, "not on this machine");
  snprintf(reason->remedy, sizeof reason->remedy, "use another");
  return -ENOSYS;
}

static int no_open(void *state, const struct weir_job *job) {
  (void)state;
  return job->host->fail(job, -EMFILE, "no descriptors left");
}

static const struct weir_param block_param = {.name = "block", .kind = WEIR_PARAM_SIZE, .preset = "64KiB", .min = 1,
                                              .max = UINT64_C(1) << 30, WEIR_PARAM_EVERYWHERE, .help = "request size"};

#define FAKE(id, method_name, run_function, ...)                                                                         \
  static const struct weir_method id = {.abi = WEIR_METHOD_ABI, .struct_size = sizeof(struct weir_method),               \
                                        .name = method_name, .summary = "made up", .calls = "none", .tasks = WEIR_ANY,  \
                                        .directions = WEIR_ANY, .accesses = WEIR_ANY, .durabilities = WEIR_ANY,          \
                                        .params = &block_param, .param_count = 1, .state_size = sizeof(struct fake),     \
                                        .open = fake_open, .run = run_function, .close = fake_close, __VA_ARGS__}

FAKE(good, "made/good", good_run, .probe = NULL);
FAKE(lying, "made/lying", lying_run, .probe = NULL);
FAKE(lazy, "made/lazy", lazy_run, .probe = NULL);
FAKE(forgetful, "made/forgetful", forgetful_run, .probe = NULL);
FAKE(crashing, "made/crashing", crashing_run, .probe = NULL);
FAKE(failing, "made/failing", failing_run, .probe = NULL);
FAKE(refusing, "made/refusing", good_run, .probe = refusing_probe);
FAKE(half, "made/half", half_run, .probe = NULL);
FAKE(forgetting, "made/forgetting-cache", forgetting_cache_run, .probe = NULL);
FAKE(poor, "made/poor", good_run, .setup = poor_setup);
static const struct weir_method same_file = {.abi = WEIR_METHOD_ABI, .struct_size = sizeof(struct weir_method),
                                             .name = "made/same-file", .summary = "made up", .calls = "none", .tasks = WEIR_ANY,
                                             .directions = WEIR_ANY, .accesses = WEIR_ANY, .durabilities = WEIR_ANY,
                                             .params = &block_param, .param_count = 1, .state_size = sizeof(struct fake),
                                             .capabilities = WEIR_CAP_VARIANT, .open = same_file_open, .run = good_run,
                                             .close = fake_close};
static const struct weir_method closed = {.abi = WEIR_METHOD_ABI, .struct_size = sizeof(struct weir_method),
                                          .name = "made/closed", .summary = "made up", .calls = "none", .tasks = WEIR_ANY,
                                          .directions = WEIR_ANY, .accesses = WEIR_ANY, .durabilities = WEIR_ANY,
                                          .params = &block_param, .param_count = 1, .state_size = 8, .open = no_open,
                                          .run = good_run, .close = fake_close};

static const struct weir_method *const fakes[] = {&good, &lying, &lazy, &forgetful, &crashing, &failing, &refusing, &closed, &half, &poor,
                                           &forgetting, &same_file, NULL};

struct outcome { struct run run; int result; struct weir_reason problem; };

static volatile int interrupted;

static void measure_fakes(struct plan_request request, struct measure_observer observer, struct outcome *out) {
  struct plan_error error;
  memset(out, 0, sizeof *out);
  if (request.members.count == 0) request.places = (struct plan_strings){1, {place}};
  request.margin = 0.03;
  request.seed = 7;
  if (request.rounds == 0) request.rounds = 2;
  if (request.size.count == 0) request.size = (struct plan_sizes){1, {300000}};
  assert_int_equal(plan_make(&request, fakes, &out->run.plan, &error), 0);
  const struct measure_options options = {.methods = fakes, .interrupted = &interrupted, .observer = observer};
  interrupted = 0;
  out->result = measure_run(&out->run, &options, &out->problem);
  assert_int_equal(ours_in(place), 0);
}

static const struct plan_cell *cell_of(const struct outcome *outcome, const char *method) {
  const struct plan_group *group = &outcome->run.plan.groups[0];
  for (unsigned c = 0; c < group->cell_count; c++)
    if (strcmp(group->cells[c].method, method) == 0 && !group->cells[c].twin) return &group->cells[c];
  print_error("no cell of %s\n", method);
  assert_true(false);
  return NULL;
}

static void readers_that_lie_or_crash_are_failed_rows(void **state) {
  (void)state;
  struct outcome outcome;
  measure_fakes((struct plan_request){.task = {1, {WEIR_TASK_BLOCKS}}}, (struct measure_observer){0}, &outcome);
  assert_int_equal(outcome.result, 0);
  assert_string_equal(cell_of(&outcome, "made/good")->reason, "");
  assert_int_equal(cell_of(&outcome, "made/good")->status, PLAN_OK);
  assert_int_equal(cell_of(&outcome, "made/lying")->status, PLAN_FAILED);
  assert_non_null(strstr(cell_of(&outcome, "made/lying")->reason, "wrong data: the byte at offset 299999"));
  assert_non_null(strstr(cell_of(&outcome, "made/lazy")->reason, "wrong data: 0 bytes passed, 300000 expected"));
  assert_non_null(strstr(cell_of(&outcome, "made/crashing")->reason, "SIGBUS"));
  assert_non_null(strstr(cell_of(&outcome, "made/closed")->reason, "no descriptors left"));
  assert_int_equal(cell_of(&outcome, "made/failing")->status, PLAN_FAILED);
  assert_int_equal(cell_of(&outcome, "made/refusing")->status, PLAN_UNAVAILABLE);
  assert_string_equal(cell_of(&outcome, "made/refusing")->remedy, "use another");
  assert_non_null(strstr(cell_of(&outcome, "made/half")->reason, "wrong data: 65536 bytes passed, 300000 expected"));
  assert_int_equal(cell_of(&outcome, "made/poor")->status, PLAN_UNAVAILABLE);
  assert_string_equal(cell_of(&outcome, "made/poor")->reason, "no memory for this");
  assert_string_equal(cell_of(&outcome, "made/poor")->remedy, "buy more");
  unsigned analysed = 0;
  for (size_t i = 0; i < outcome.run.sample_count; i++) {
    const struct sample *sample = &outcome.run.samples[i];
    bool good_or_twin = strcmp(outcome.run.plan.groups[0].cells[sample->cell].method, "made/good") == 0;
    analysed += sample->round >= 1 && good_or_twin && !(sample->flags & RUN_RETAKEN);
  }
  assert_int_equal(analysed, 4); /* two rounds of made/good and its twin */
  run_release(&outcome.run);
}

static void writers_that_forget_are_failed_rows(void **state) {
  (void)state;
  for (int target = WEIR_TARGET_OVERWRITE; target <= WEIR_TARGET_TRUNCATE; target++) {
    struct outcome outcome;
    measure_fakes((struct plan_request){.direction = {1, {WEIR_WRITE}}, .target = {1, {target}},
                                        .methods = {2, {"made/good", "made/forgetful"}}},
                  (struct measure_observer){0}, &outcome);
    assert_int_equal(outcome.result, 0);
    assert_int_equal(cell_of(&outcome, "made/good")->status, PLAN_OK);
    assert_int_equal(cell_of(&outcome, "made/forgetful")->status, PLAN_FAILED);
    assert_non_null(strstr(cell_of(&outcome, "made/forgetful")->reason, "read back, the byte at offset 0"));
    run_release(&outcome.run);
  }
}

static void writers_that_do_a_part_of_the_work_are_failed_rows(void **state) {
  (void)state;
  for (int access = WEIR_SEQUENTIAL; access <= WEIR_RANDOM; access++) {
    struct outcome outcome;
    measure_fakes((struct plan_request){.direction = {1, {WEIR_WRITE}}, .access = {1, {access}},
                                        .coverage = access == WEIR_RANDOM ? 0.5 : 0,
                                        .methods = {2, {"made/good", "made/half"}}},
                  (struct measure_observer){0}, &outcome);
    assert_int_equal(outcome.result, 0);
    assert_string_equal(cell_of(&outcome, "made/good")->reason, "");
    assert_int_equal(cell_of(&outcome, "made/half")->status, PLAN_FAILED);
    assert_non_null(strstr(cell_of(&outcome, "made/half")->reason, "wrong data"));
    run_release(&outcome.run);
  }
}

static void mixed_requests_are_checked_on_both_sides(void **state) {
  (void)state;
  struct outcome outcome;
  measure_fakes((struct plan_request){.direction = {1, {WEIR_MIXED}}, .access = {1, {WEIR_RANDOM}}, .write_share = 0.5,
                                      .threads = {2, {1, 3}}, .methods = {2, {"made/good", "made/forgetful"}}},
                (struct measure_observer){0}, &outcome);
  assert_int_equal(outcome.result, 0);
  assert_string_equal(cell_of(&outcome, "made/good")->reason, "");
  assert_int_equal(cell_of(&outcome, "made/good")->status, PLAN_OK);
  assert_int_equal(cell_of(&outcome, "made/forgetful")->status, PLAN_FAILED); /* it writes where it should read */
  struct cell_job job;
  const struct cell_files files = {.path = "f", .directory = "d", .round = 1};
  uint64_t writes = 0;
  cell_job_init(&job, &outcome.run.plan, 0, 0, 0, &files);
  for (uint64_t i = 0; i < 10000; i++) writes += weir_order_writes(&job.job, i * job.job.block);
  assert_in_range(writes, 4700, 5300);
  run_release(&outcome.run);
}

static void an_overwritten_file_was_written_before(void **state) {
  (void)state;
  struct outcome outcome;
  measure_fakes((struct plan_request){.direction = {1, {WEIR_WRITE}}, .access = {1, {WEIR_RANDOM}}, .coverage = 0.1,
                                      .target = {2, {WEIR_TARGET_PREALLOCATED, WEIR_TARGET_OVERWRITE}},
                                      .methods = {1, {"made/good"}}, .size = {1, {1 << 20}}},
                (struct measure_observer){0}, &outcome);
  assert_int_equal(outcome.result, 0);
  for (size_t i = 0; i < outcome.run.sample_count; i++) {
    const struct sample *sample = &outcome.run.samples[i];
    bool overwrites = outcome.run.plan.groups[sample->group].demand.target == WEIR_TARGET_OVERWRITE;
    if (overwrites && sample->round >= 1) assert_int_equal(sample->resident_before_ppm, 1000000);
  }
  run_release(&outcome.run);
}

static void warm_samples_that_lost_their_pages_are_taken_again(void **state) {
  (void)state;
  struct os_place facts;
  struct outcome outcome;
  assert_int_equal(os_place(place, &facts), 0);
  measure_fakes((struct plan_request){.methods = {1, {"made/forgetting-cache"}}, .rounds = 20},
                (struct measure_observer){0}, &outcome);
  unsigned retaken = 0, moved = 0;
  for (size_t i = 0; i < outcome.run.sample_count; i++) {
    const struct sample *sample = &outcome.run.samples[i];
    if (sample->round < 0 || sample->device_read_bytes < 0) continue;
    moved += sample->device_read_bytes > 0;
    retaken += (sample->flags & RUN_RETAKEN) != 0;
    if (sample->flags & RUN_RETAKEN) assert_true(sample->device_read_bytes > 0);
    if (i > 0 && (outcome.run.samples[i - 1].flags & RUN_RETAKEN)) {
      assert_int_equal(sample->predecessor, sample->cell);
      assert_int_equal(sample->round, outcome.run.samples[i - 1].round);
    }
  }
  run_release(&outcome.run);
  if (moved == 0) {
    print_message("SKIPPED: no device reads are seen here\n");
    skip();
  }
  assert_true(retaken > 0);
}

static void threads_and_random_access_add_up(void **state) {
  (void)state;
  for (int consumer = WEIR_CONSUMER_NONE; consumer <= WEIR_CONSUMER_VERIFY; consumer++) {
    struct outcome outcome;
    measure_fakes((struct plan_request){.access = {2, {WEIR_SEQUENTIAL, WEIR_RANDOM}}, .consumer = {1, {consumer}},
                                        .threads = {3, {1, 2, 5}}, .methods = {1, {"made/good"}}},
                  (struct measure_observer){0}, &outcome);
    assert_int_equal(outcome.result, 0);
    assert_int_equal(outcome.run.plan.group_count, 2);
    for (size_t i = 0; i < outcome.run.sample_count; i++) {
      assert_int_equal(outcome.run.samples[i].status, RUN_OK);
      assert_int_equal(outcome.run.samples[i].bytes, outcome.run.samples[i].passes * 300000);
    }
    run_release(&outcome.run);
  }
}

static struct plan_strings make_members(void) {
  struct plan_strings list = {3, {members[0], members[1], members[2]}};
  for (unsigned m = 0; m < 3; m++) {
    snprintf(members[m], sizeof members[m], "%s/member-%u", place, m);
    os_remove_tree(members[m]);
    assert_int_equal(os_make_directory(members[m]), 0);
  }
  return list;
}

/* Whoever moves the right number of bytes, but those of another member, has not done the work. */
static void members_have_files_and_bytes_of_their_own(void **state) {
  (void)state;
  const struct plan_strings list = make_members();
  for (int direction = WEIR_READ; direction <= WEIR_MIXED; direction++)
    for (int access = WEIR_SEQUENTIAL; access <= WEIR_RANDOM; access++) {
      struct outcome outcome;
      measure_fakes((struct plan_request){.direction = {1, {direction}}, .access = {1, {access}}, .members = list,
                                          .size = {1, {3 << 18}}, .methods = {2, {"made/good", "made/same-file"}}},
                    (struct measure_observer){0}, &outcome);
      assert_int_equal(outcome.result, 0);
      assert_string_equal(cell_of(&outcome, "made/good")->reason, "");
      assert_int_equal(cell_of(&outcome, "made/good")->status, PLAN_OK);
      assert_int_equal(cell_of(&outcome, "made/same-file")->status, PLAN_FAILED);
      assert_non_null(strstr(cell_of(&outcome, "made/same-file")->reason, "wrong data"));
      for (unsigned m = 0; m < 3; m++) assert_int_equal(ours_in(members[m]), 0);
      run_release(&outcome.run);
    }
}

static void members_work_in_every_mode(void **state) {
  (void)state;
  const struct plan_strings list = make_members();
  for (int consumer = WEIR_CONSUMER_NONE; consumer <= WEIR_CONSUMER_VERIFY; consumer++) {
    struct outcome outcome;
    measure_fakes((struct plan_request){.access = {2, {WEIR_SEQUENTIAL, WEIR_RANDOM}}, .consumer = {1, {consumer}},
                                        .cache = {2, {PLAN_WARM, PLAN_COLD}}, .members = list, .flush = PLAN_FLUSH_FILE,
                                        .methods = {1, {"made/good"}}},
                  (struct measure_observer){0}, &outcome);
    assert_int_equal(outcome.result, 0);
    for (size_t i = 0; i < outcome.run.sample_count; i++) {
      const struct sample *sample = &outcome.run.samples[i];
      const struct plan_group *group = &outcome.run.plan.groups[sample->group];
      assert_int_equal(sample->status, RUN_OK);
      assert_int_equal(sample->bytes, sample->passes * 300000);
      assert_int_equal(sample->operations, sample->passes * cell_operations(&outcome.run.plan, sample->group, sample->cell));
      if (sample->resident_before_ppm >= 0 && group->demand.cache == PLAN_WARM && sample->round >= 0)
        assert_int_equal(sample->resident_before_ppm, 1000000);
    }
    run_release(&outcome.run);
  }
}

/* Each member's job is the whole of its file, and alone on it: nothing tells a method that there are others. */
static void a_member_is_alone_on_its_file(void **state) {
  (void)state;
  struct plan_cell cell = one_cell(4096, 4);
  struct plan_group group = {.cell_count = 1, .cells = &cell,
                             .demand = {.access = WEIR_RANDOM, .size_bytes = 400 * 4096, .coverage = 1, .members = 4}};
  struct plan plan = {.group_count = 1, .groups = &group};
  const struct cell_files files = {.path = "f", .directory = "d", .round = 1};
  struct cell_job job[4];
  for (unsigned i = 0; i < 4; i++) {
    cell_job_init(&job[i], &plan, 0, 0, i, &files);
    assert_int_equal(job[i].job.instance, 0);
    assert_int_equal(job[i].job.instances, 1);
    assert_int_equal(job[i].job.part_offset, 0);
    assert_int_equal(job[i].job.part_length, 100 * 4096);
    assert_int_equal(job[i].job.file_size, 100 * 4096);
  }
  assert_memory_not_equal(job[0].job.order_key, job[1].job.order_key, sizeof job[0].job.order_key);
  assert_int_equal(cell_operations(&plan, 0, 0), 400);
  group.pass_bytes = 80 * 4096;
  assert_int_equal(cell_operations(&plan, 0, 0), 80);
}

static void interrupt_after_three(void *context, const struct measure_event *event) {
  (void)context;
  if (event->kind == MEASURE_SAMPLE && event->done == 3) interrupted = 1;
}

static void an_interrupt_keeps_what_was_measured(void **state) {
  (void)state;
  struct outcome outcome;
  measure_fakes((struct plan_request){.methods = {1, {"made/good"}}, .rounds = 10},
                (struct measure_observer){NULL, interrupt_after_three}, &outcome);
  assert_int_equal(outcome.result, -EINTR);
  assert_true(outcome.run.interrupted);
  unsigned in_rounds = 0;
  for (size_t i = 0; i < outcome.run.sample_count; i++) in_rounds += outcome.run.samples[i].round >= 0;
  assert_int_equal(in_rounds, 3);
  run_release(&outcome.run);
}

static void cold_is_verified_cold_and_warm_is_warm(void **state) {
  (void)state;
  struct outcome outcome;
  struct os_place facts;
  assert_int_equal(os_place(place, &facts), 0);
  measure_fakes((struct plan_request){.cache = {2, {PLAN_WARM, PLAN_COLD}}, .methods = {1, {"made/good"}},
                                      .size = {1, {8 << 20}}},
                (struct measure_observer){0}, &outcome);
  for (size_t i = 0; i < outcome.run.sample_count; i++) {
    const struct sample *sample = &outcome.run.samples[i];
    if (sample->round < 1 || (sample->flags & RUN_RETAKEN)) continue;
    if (sample->resident_before_ppm < 0 || facts.ram_backed) {
      print_message("SKIPPED: this file system does not tell what is in the cache, or has no device\n");
      skip();
    }
    bool cold = outcome.run.plan.groups[sample->group].demand.cache == PLAN_COLD;
    if (cold) {
      assert_true(sample->resident_before_ppm < 10000);
      if (sample->device_read_bytes >= 0) assert_true(sample->device_read_bytes >= (8 << 20) / 100 * 99);
    }
    if (!cold) {
      assert_int_equal(sample->resident_before_ppm, 1000000);
      if (sample->device_read_bytes >= 0) assert_int_equal(sample->device_read_bytes, 0);
    }
  }
  run_release(&outcome.run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(content_is_the_same_in_any_pieces),
      cmocka_unit_test(content_differs_in_every_line_and_seed),
      cmocka_unit_test(partitions_cover_a_file_once),
      cmocka_unit_test(random_order_visits_each_block_once),
      cmocka_unit_test(coverage_and_cuts_bound_a_pass),
      cmocka_unit_test(schedule_fills_the_default_rounds_when_time_allows),
      cmocka_unit_test(schedule_shrinks_then_drops_and_keeps_the_floor),
      cmocka_unit_test(schedule_gives_cheap_groups_their_rounds_first),
      cmocka_unit_test(schedule_never_shrinks_what_the_user_named),
      cmocka_unit_test(scratch_leaves_nothing),
      cmocka_unit_test(scratch_is_swept_after_sigkill),
      cmocka_unit_test(scratch_of_dead_runs_is_swept_and_of_live_runs_kept),
      cmocka_unit_test(scratch_that_cannot_be_made_says_why),
      cmocka_unit_test(readers_that_lie_or_crash_are_failed_rows),
      cmocka_unit_test(writers_that_forget_are_failed_rows),
      cmocka_unit_test(writers_that_do_a_part_of_the_work_are_failed_rows),
      cmocka_unit_test(mixed_requests_are_checked_on_both_sides),
      cmocka_unit_test(an_overwritten_file_was_written_before),
      cmocka_unit_test(warm_samples_that_lost_their_pages_are_taken_again),
      cmocka_unit_test(threads_and_random_access_add_up),
      cmocka_unit_test(members_have_files_and_bytes_of_their_own),
      cmocka_unit_test(members_work_in_every_mode),
      cmocka_unit_test(a_member_is_alone_on_its_file),
      cmocka_unit_test(an_interrupt_keeps_what_was_measured),
      cmocka_unit_test(cold_is_verified_cold_and_warm_is_warm),
  };
  return cmocka_run_group_tests(tests, make_place, drop_place);
}
