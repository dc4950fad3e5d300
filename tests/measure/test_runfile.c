/* test_runfile.c - a run survives its file, and no file, however damaged, does harm. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "measure/run.h"

/* ---- a run that uses every field ----------------------------------------------------------------------------------- */

static const struct weir_method pread_method = {
    .abi = WEIR_METHOD_ABI, .struct_size = sizeof(struct weir_method), .name = "fd/pread"};
static const struct weir_method *const methods[] = {&pread_method, NULL};

static char *copy(const char *text) {
  char *out = strdup(text);
  assert_non_null(out);
  return out;
}

static struct plan_cell make_cell(const char *id, const char *method) {
  struct plan_cell cell = {.id = copy(id), .capabilities = 5, .param_count = 2, .threads = 2};
  snprintf(cell.method, sizeof cell.method, "%s", method);
  snprintf(cell.style, sizeof cell.style, "%s", strchr(id, '@') ? "FILE" : "");
  cell.params[0] = (struct plan_param){.name = "block", .value = 65536, .text = "64KiB", .fixed = true};
  cell.params[1] = (struct plan_param){.name = "odd", .value = UINT64_MAX - 1, .text = "18446744073709551614"};
  return cell;
}

static void make_group(struct plan_group *group, const char *id) {
  *group = (struct plan_group){.id = copy(id),
                               .title = copy("write random, 1 GiB \"quoted\"\n"),
                               .priority = 3,
                               .size_fixed = true,
                               .smallest_bytes = 4096,
                               .cell_count = 3,
                               .passes = 7,
                               .round_cost_ns = UINT64_C(1) << 60,
                               .rounds = 20,
                               .baseline = 1};
  group->demand = (struct plan_demand){WEIR_TASK_WHOLE,
                                       WEIR_WRITE,
                                       WEIR_RANDOM,
                                       WEIR_DURABILITY_EACH,
                                       WEIR_TARGET_PREALLOCATED,
                                       WEIR_CONSUMER_HASH,
                                       PLAN_COLD,
                                       PLAN_FRESH,
                                       UINT64_C(1) << 30,
                                       4096,
                                       300,
                                       0.3,
                                       0.1,
                                       12.5,
                                       2};
  group->cells = calloc(3, sizeof *group->cells);
  assert_non_null(group->cells);
  group->cells[0] = make_cell("fd/pread[odd=1]@/mnt/\xff\xfe\xef\xbe\x80", "fd/pread");
  group->cells[1] = make_cell("other/\xee\xbe\x80\xee", "other/method");
  group->cells[2] = make_cell("fd/pread#twin", "fd/pread");
  group->cells[0].impl = group->cells[2].impl = &pread_method;
  group->cells[0].place = 1;
  group->cells[2].twin = true;
  group->cells[1].status = PLAN_UNAVAILABLE;
  snprintf(group->cells[1].reason, sizeof group->cells[1].reason, "cut in a character \xe2\x80");
  snprintf(group->cells[1].remedy, sizeof group->cells[1].remedy, "ask\tthe \x01 king");
}

static struct sample make_sample(uint32_t group, int32_t round) {
  struct sample sample = {.group = group,
                          .cell = 1,
                          .round = round,
                          .position = 2,
                          .predecessor = round % 2 ? 0 : -1,
                          .start_ns = UINT64_MAX,
                          .passes = 3,
                          .operations = 100,
                          .bytes = UINT64_C(1) << 62,
                          .phase_ns = {1, 2, 3, UINT64_C(1) << 63},
                          .setup_ns = 5,
                          .prepare_ns = 6,
                          .cpu_ns = 7,
                          .minor_faults = 8,
                          .major_faults = 9,
                          .voluntary_switches = 10,
                          .involuntary_switches = 11,
                          .peak_bytes = 12,
                          .resident_before_ppm = 999999,
                          .resident_after_ppm = -1,
                          .device_read_bytes = -1,
                          .device_write_bytes = 13,
                          .flushes = -1,
                          .foreign_bytes = 0,
                          .steal_ns = INT64_MAX,
                          .allocations = round < 0 ? 14 : -1,
                          .allocated_bytes = round < 0 ? INT64_MAX - 1 : -1,
                          .system_calls = round < 0 ? 15 : -1,
                          .cycles = INT64_MAX - 2,
                          .instructions = 16,
                          .cache_before_bytes = 17,
                          .cache_after_bytes = -1,
                          .victim_bytes = round < 0 ? 18 : -1,
                          .victim_lost_bytes = round < 0 ? 0 : -1,
                          .checksum = UINT64_C(0xfedcba9876543210),
                          .status = RUN_FAILED,
                          .flags = RUN_BURN_IN | RUN_UNSETTLED,
                          .latency_is_log2 = round == 2}; /* as an older weir left it */
  snprintf(sample.reason, sizeof sample.reason, "worker died by SIGBUS");
  return sample;
}

static void make_run(struct run *run) {
  *run = (struct run){.plan = {.seed = UINT64_C(0xf000000000000001),
                               .rounds = 6,
                               .time_ns = 60,
                               .fill_time = true,
                               .margin = 0.03,
                               .flush = PLAN_FLUSH_DROP,
                               .rank_by = PLAN_RANK_CPU,
                               .latency = true,
                               .suite = copy("default"),
                               .file = copy("/tmp/\x80 file"),
                               .place_count = 2},
                      .argument_count = 2,
                      .floors = {5.1, 0.1, 22, 1, 1 / 3.0, 250, 0, 1e10, 1.7976931348623157e308},
                      .interrupted = true};
  run->plan.places = calloc(2, sizeof *run->plan.places);
  run->plan.places[0] = copy(".");
  run->plan.places[1] = copy("/mnt/\xff\xfe\xef\xbe\x80");
  run->limits = calloc(2, sizeof *run->limits);
  run->limits[0] = (struct run_limits){1e9, 1 / 3.0, 0.1, 22, ""};
  snprintf(run->limits[1].reason, sizeof run->limits[1].reason, "no room");
  run->plan.group_count = 2;
  run->plan.groups = calloc(2, sizeof *run->plan.groups);
  make_group(&run->plan.groups[0], "write-random");
  make_group(&run->plan.groups[1], "second");
  run->plan.groups[1].dropped = true;
  snprintf(run->plan.groups[1].drop_reason, sizeof run->plan.groups[1].drop_reason, "no time");
  run->arguments = calloc(2, sizeof *run->arguments);
  run->arguments[0] = copy("weir");
  run->arguments[1] = copy("");
  assert_int_equal(run_add_fact(run, "weir.version", "0.1.0"), 0);
  assert_int_equal(run_add_number(run, "machine.cpus", INT64_MIN), 0);
  assert_int_equal(run_add_fact(run, "place.0.mount", "\xc3\x28"), 0);
  run_warn(run, "W04", "wait", "%d of %d rounds", 2, 20);
  for (int32_t round = -1; round < 4; round++) {
    struct sample sample = make_sample((uint32_t)round & 1u, round);
    const struct histogram_entry slots[] = {{0, 1}, {sample.latency_is_log2 ? 63 : HISTOGRAM_SLOTS - 1, UINT64_MAX}};
    assert_int_equal(run_keep_latency(run, &sample, slots, round == 3 ? 0 : 2), 0);
    assert_int_equal(run_add_sample(run, &sample), 0);
    const struct run_round told = {(uint32_t)round & 1u, round, UINT64_MAX, 2, 3, {4, 0}, -1, 5, -1, INT64_MAX, 6, 7};
    assert_int_equal(run_add_round(run, &told), 0);
  }
}

static void write_all(const struct run *run, FILE *out) {
  run_write_header(run, out);
  run_write_floors(run, out);
  run_write_limits(run, out);
  run_write_found(run, out);
  for (size_t i = 0; i < run->sample_count; i++) run_write_sample(run, &run->samples[i], out);
  for (size_t i = 0; i < run->round_count; i++) run_write_round(run, &run->rounds[i], out);
  run_write_trailer(run, out);
}

/* What is written, in memory of the caller. */
static char *text_of(const struct run *run, size_t *length) {
  char *text = NULL;
  FILE *out = open_memstream(&text, length);
  assert_non_null(out);
  write_all(run, out);
  assert_int_equal(fclose(out), 0);
  return text;
}

static int read_bytes(const char *text, size_t length, struct run *run, char problem[160]) {
  FILE *in = tmpfile();
  assert_non_null(in);
  assert_int_equal(fwrite(text, 1, length, in), length);
  rewind(in);
  int code = run_read(in, methods, run, problem, 160);
  fclose(in);
  return code;
}

/* ---- the way there and back ---------------------------------------------------------------------------------------- */

static void check_cell(const struct plan_cell *a, const struct plan_cell *b) {
  assert_string_equal(a->id, b->id);
  assert_string_equal(a->method, b->method);
  assert_ptr_equal(a->impl, b->impl);
  assert_int_equal(a->capabilities, b->capabilities);
  assert_int_equal(a->param_count, b->param_count);
  for (unsigned i = 0; i < a->param_count; i++) {
    assert_string_equal(a->params[i].name, b->params[i].name);
    assert_string_equal(a->params[i].text, b->params[i].text);
    assert_true(a->params[i].value == b->params[i].value);
    assert_int_equal(a->params[i].fixed, b->params[i].fixed);
  }
  assert_int_equal(a->threads, b->threads);
  assert_int_equal(a->place, b->place);
  assert_int_equal(a->twin, b->twin);
  assert_string_equal(a->style, b->style);
  assert_int_equal(a->status, b->status);
  assert_string_equal(a->reason, b->reason);
  assert_string_equal(a->remedy, b->remedy);
}

static void check_group(const struct plan_group *a, const struct plan_group *b) {
  assert_string_equal(a->id, b->id);
  assert_string_equal(a->title, b->title);
  assert_memory_equal(&a->demand, &b->demand, offsetof(struct plan_demand, members) + sizeof a->demand.members);
  assert_int_equal(a->priority, b->priority);
  assert_int_equal(a->size_fixed, b->size_fixed);
  assert_true(a->smallest_bytes == b->smallest_bytes && a->passes == b->passes);
  assert_true(a->round_cost_ns == b->round_cost_ns);
  assert_int_equal(a->baseline, b->baseline);
  assert_int_equal(a->rounds, b->rounds);
  assert_int_equal(a->dropped, b->dropped);
  assert_string_equal(a->drop_reason, b->drop_reason);
  assert_int_equal(a->cell_count, b->cell_count);
  for (unsigned i = 0; i < a->cell_count; i++) check_cell(&a->cells[i], &b->cells[i]);
}

static void check_plan(const struct plan *a, const struct plan *b) {
  assert_true(a->seed == b->seed && a->time_ns == b->time_ns && a->margin == b->margin);
  assert_int_equal(a->rounds, b->rounds);
  assert_int_equal(a->fill_time, b->fill_time);
  assert_int_equal(a->flush, b->flush);
  assert_int_equal(a->rank_by, b->rank_by);
  assert_int_equal(a->latency, b->latency);
  assert_string_equal(a->suite, b->suite);
  assert_string_equal(a->file, b->file);
  assert_int_equal(a->place_count, b->place_count);
  for (unsigned i = 0; i < a->place_count; i++) assert_string_equal(a->places[i], b->places[i]);
  assert_int_equal(a->group_count, b->group_count);
  for (unsigned i = 0; i < a->group_count; i++) check_group(&a->groups[i], &b->groups[i]);
}

static void check_latency(const struct run *run_a, const struct sample *a, const struct run *run_b, const struct sample *b) {
  assert_int_equal(a->latency_is_log2, b->latency_is_log2);
  assert_int_equal(a->latency_count, b->latency_count);
  for (size_t i = 0; i < a->latency_count; i++) {
    assert_int_equal(run_latency(run_a, a)[i].slot, run_latency(run_b, b)[i].slot);
    assert_true(run_latency(run_a, a)[i].count == run_latency(run_b, b)[i].count);
  }
}

static void check_sample(const struct sample *a, const struct sample *b) {
  assert_int_equal(a->group, b->group);
  assert_int_equal(a->cell, b->cell);
  assert_int_equal(a->round, b->round);
  assert_int_equal(a->predecessor, b->predecessor);
  assert_string_equal(a->reason, b->reason);
  assert_memory_equal(&a->start_ns, &b->start_ns, offsetof(struct sample, reason) - offsetof(struct sample, start_ns));
  assert_int_equal(a->flags, b->flags);
}

static void survives_the_file(void **state) {
  struct run run, back;
  size_t length, again_length;
  char problem[160];
  make_run(&run);
  char *text = text_of(&run, &length);
  if (read_bytes(text, length, &back, problem) != 0) fail_msg("%s", problem);
  check_plan(&run.plan, &back.plan);
  assert_int_equal(back.argument_count, 2);
  assert_string_equal(back.arguments[1], "");
  assert_int_equal(back.fact_count, run.fact_count);
  for (unsigned i = 0; i < run.fact_count; i++) {
    assert_string_equal(run.facts[i].name, back.facts[i].name);
    assert_string_equal(run.facts[i].text, back.facts[i].text);
    assert_int_equal(run.facts[i].number, back.facts[i].number);
  }
  assert_memory_equal(&run.floors, &back.floors, sizeof run.floors);
  assert_non_null(back.limits);
  for (unsigned i = 0; i < 2; i++) {
    assert_memory_equal(&run.limits[i], &back.limits[i], offsetof(struct run_limits, reason));
    assert_string_equal(run.limits[i].reason, back.limits[i].reason);
  }
  assert_int_equal(back.sample_count, run.sample_count);
  for (size_t i = 0; i < run.sample_count; i++) check_sample(&run.samples[i], &back.samples[i]);
  for (size_t i = 0; i < run.sample_count; i++) check_latency(&run, &run.samples[i], &back, &back.samples[i]);
  assert_int_equal(back.round_count, run.round_count);
  assert_memory_equal(back.rounds, run.rounds, run.round_count * sizeof *run.rounds);
  assert_int_equal(back.warning_count, 1);
  assert_memory_equal(back.warnings[0].text, run.warnings[0].text, strlen(run.warnings[0].text) + 1);
  assert_true(back.interrupted);
  char *again = text_of(&back, &again_length);
  assert_string_equal(again, text);
  free(again);
  free(text);
  run_release(&back);
  run_release(&run);
}

/* In a real run the header is written before the twin is there. */
static void twin_is_found_later(void **state) {
  struct run run, back;
  char problem[160], *text = NULL;
  size_t length;
  make_run(&run);
  FILE *out = open_memstream(&text, &length);
  run.plan.groups[0].cell_count = run.plan.groups[1].cell_count = 2;
  run_write_header(&run, out);
  run.plan.groups[0].cell_count = run.plan.groups[1].cell_count = 3;
  run_write_found(&run, out);
  run_write_trailer(&run, out);
  fclose(out);
  if (read_bytes(text, length, &back, problem) != 0) fail_msg("%s", problem);
  check_plan(&run.plan, &back.plan);
  free(text);
  run_release(&back);
  run_release(&run);
}

static void text_of_any_bytes(void **state) {
  struct random_state random = random_start(1, 2);
  for (int turn = 0; turn < 20000; turn++) {
    char text[16] = "";
    size_t length = random_below(&random, sizeof text - 1);
    for (size_t i = 0; i < length; i++) {
      static const unsigned char likely[] = {0xee, 0xbe, 0xbf, 0x80, 0xe2, 0xf4, 0x90, 0xed, 'a'};
      text[i] = (char)(turn % 2 ? likely[random_below(&random, sizeof likely)] : 1 + random_below(&random, 255));
    }
    char *encoded = run_text_encode(text);
    assert_non_null(encoded);
    run_text_decode(encoded);
    assert_string_equal(encoded, text);
    free(encoded);
  }
  char *plain = run_text_encode("pl\xc3\xa4in \xe2\x98\x85");
  assert_string_equal(plain, "pl\xc3\xa4in \xe2\x98\x85");
  free(plain);
}

static void cut_file_is_accepted(void **state) {
  struct run run, back;
  char problem[160];
  size_t length;
  make_run(&run);
  char *text = text_of(&run, &length);
  const char *last = strstr(text, "{\"type\":\"trailer\"");
  size_t whole = (size_t)(last - text);
  for (size_t cut = whole - 400; cut < length; cut += 3) {
    if (read_bytes(text, cut, &back, problem) != 0) fail_msg("%s", problem);
    assert_true(back.sample_count >= run.sample_count - 1);
    assert_true(back.interrupted);
    run_release(&back);
  }
  assert_int_equal(read_bytes(text, whole, &back, problem), 0); /* killed between two lines */
  assert_int_equal(back.warning_count, 1);
  run_release(&back);
  free(text);
  run_release(&run);
}

/* ---- damaged files ------------------------------------------------------------------------------------------------- */

static char *replace(const char *text, const char *old, const char *new) {
  const char *at = strstr(text, old);
  size_t size = strlen(text) + strlen(new) + 1;
  char *out = malloc(size);
  if (at == NULL) fail_msg("no %s in the text", old);
  assert_non_null(out);
  snprintf(out, size, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
  return out;
}

static void refused(const char *text, size_t length, const char *expected) {
  struct run back;
  char problem[160];
  int code = read_bytes(text, length, &back, problem);
  if (code == 0) run_release(&back);
  if (code != -EINVAL) fail_msg("accepted (%d), expected: %s", code, expected);
  if (strstr(problem, expected) == NULL) fail_msg("'%s' does not say '%s'", problem, expected);
  assert_memory_equal(problem, "line ", 5);
}

static void damaged_values_are_refused(void **state) {
  static const char *const cases[][3] = {
      {"\"schema\":1", "\"schema\":2", "line 1: schema 2"},
      {"\"schema\":1", "\"schema\":\"1\"", "schema"},
      {"\"passes\":3", "\"passes\":-3", "passes"},
      {"\"passes\":3", "\"passes\":1e3", "passes"},
      {"\"passes\":3", "\"passes\":\" 3\"", "passes"},
      {"\"passes\":3", "\"passes\":99999999999999999999", "not a JSON object"},
      {"\"passes\":3", "\"passes\":\"99999999999999999999\"", "passes"},
      {"\"passes\":3,", "", "passes"},
      {"\"round\":-1", "\"round\":-2", "round"},
      {"\"round\":-1", "\"round\":2147483647", "round"},
      {"\"cell\":\"other/", "\"cell\":\"another/", "cell"},
      {"\"group\":\"second\",\"round\"", "\"group\":\"third\",\"round\"", "group"},
      {"\"group\":\"second\",\"round\"", "\"group\":7,\"round\"", "group"},
      {"\"id\":\"second\"", "\"id\":\"write-random\"", "twice"},
      {"\"id\":\"fd/pread#twin\"", "\"id\":\"other/\\uefee\\uefbe\\uef80\\uefee\"", "twice"},
      {"\"task\":\"whole\"", "\"task\":\"half\"", "task"},
      {"\"task\":\"whole\"", "\"task\":null", "task"},
      {"\"place\":1", "\"place\":2", "place"},
      {"\"members\":2", "\"members\":1", "members"},
      {"\"members\":2", "\"members\":3", "members"},
      {"\"members\":2", "\"members\":65", "members"},
      {"\"members\":2", "\"members\":-1", "members"},
      {"\"resident_before\":0.9", "\"resident_before\":1.9", "resident_before"},
      {"\"checksum\":\"0x", "\"checksum\":\"0x-", "checksum"},
      {"\"seed\":\"0xf", "\"seed\":\"0xff", "seed"},
      {"\"type\":\"floors\"", "\"type\":\"header\"", "second header"},
      {"\"type\":\"found\"", "\"type\":\"trailer\"", "line 5"},
      {"\"baseline\":\"other/", "\"baseline\":\"none/", "baseline"},
      {"\"rounds\":20", "\"rounds\":4000000000", "rounds"},
      {"\"method\":\"other/method\"",
       "\"method\":\"0123456789012345678901234567890123456789012345678901234567890123456789\"", "too long"},
      {"\"groups\":[{", "\"groups\":[7,{", "line 1"},
      {"\"cells\":[", "\"cells\":[null,", "line 1"},
      {"\"environment\":{", "\"environment\":[],\"x\":{", "environment"},
      {"\"type\":\"header\"", "\"type\":\"footer\"", "does not start with a header"},
      {"\"type\":\"sample\"", "\"type\":3", "type"},
      {"\"phases\":{", "\"phases\":[{", "JSON"},
      {"\"63\":\"18446744073709551615\"", "\"63\":-1", "'latency'"},
      {"\"63\":\"18446744073709551615\"", "\"64\":1", "'latency'"},
      {"\"latency_ns\":{\"0\":1", "\"latency_ns\":{\"0\":-1", "latency_ns"},
      {"\"latency_ns\":{\"0\":1", "\"latency_ns\":{\"129\":1", "latency_ns"}, /* no slot begins there */
      {"\"latency_ns\":{\"0\":1", "\"latency_ns\":{\"-1\":1", "latency_ns"},
      {"\"latency_ns\":{\"0\":1", "\"latency_ns\":{\"x\":1", "latency_ns"},
      {"\"latency_ns\":{", "\"latency_ns\":[],\"later\":{", "latency_ns"},
      {"\"schema\":1", "\"schema\":1,\"schema\":1", "line 1"},
      {"\"type\":\"limits\",\"place\":1", "\"type\":\"limits\",\"place\":2", "place"},
      {"\"type\":\"limits\",\"place\":1", "\"type\":\"limits\",\"place\":-1", "place"},
      {"\"sync_ns\":", "\"sync_ns\":null,\"x\":", "sync_ns"},
  };
  struct run run;
  size_t length;
  make_run(&run);
  char *text = text_of(&run, &length);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char *damaged = replace(text, cases[i][0], cases[i][1]);
    refused(damaged, strlen(damaged), cases[i][2]);
    free(damaged);
  }
  free(text);
  run_release(&run);
}

static void later_schemas_fields_are_skipped(void **state) {
  struct run run, back;
  char problem[160];
  size_t length;
  make_run(&run);
  char *text = text_of(&run, &length);
  char *one = replace(text, "\"schema\":1", "\"schema\":1,\"later\":[{\"deep\":null}]");
  char *two = replace(one, "{\"type\":\"floors\"", "{\"type\":\"later\",\"x\":1}\n\n{\"type\":\"floors\"");
  char *three = replace(two, "[\"burn-in\"", "[\"later\",\"burn-in\"");
  if (read_bytes(three, strlen(three), &back, problem) != 0) fail_msg("%s", problem);
  check_plan(&run.plan, &back.plan);
  assert_int_equal(back.samples[0].flags, run.samples[0].flags);
  run_release(&back);
  run_release(&run);
  free(three);
  free(two);
  free(one);
  free(text);
}

static void garbage_is_refused(void **state) {
  static const char zeros[100] = {0};
  refused("", 0, "empty");
  refused("\n\n", 2, "empty");
  refused(zeros, sizeof zeros, "header");
  refused("{}\n", 3, "type");
  refused("[]\n", 3, "header");
  refused("\xff\xfe{\n", 4, "header");
  refused("{\"type\":\"header\"}\n", 18, "schema");
  refused("{\"type\":\"header\"", 16, "header");
}

static void long_lines_are_refused(void **state) {
  struct run run;
  size_t length, extra = (size_t)10 << 20;
  make_run(&run);
  char *text = text_of(&run, &length), *grown = malloc(length + extra);
  assert_non_null(grown);
  memset(grown, ' ', extra);
  refused(grown, extra, "header");
  memset(grown, '[', extra); /* nesting must not eat the stack */
  refused(grown, extra, "header");
  size_t header = (size_t)(strchr(text, '\n') + 1 - text);
  memcpy(grown, text, header);
  memset(grown + header, 'x', extra);
  refused(grown, header + extra, "longer than 8 MiB");
  free(grown);
  free(text);
  run_release(&run);
}

/* Bytes changed, dropped, doubled: the answer may be anything but a crash, and what is accepted can be written again. */
static void mutations_do_no_harm(void **state) {
  static const char spice[] = "{}[]\",:0123456789-.eE\\\n\0\xff utf";
  struct random_state random = random_start(20240607, 0);
  struct run run, back;
  char problem[160];
  size_t length, accepted = 0;
  make_run(&run);
  char *text = text_of(&run, &length), *mutant = malloc(length + 64);
  assert_non_null(mutant);
  for (int turn = 0; turn < 6000; turn++) {
    size_t size = length;
    memcpy(mutant, text, length);
    for (uint64_t change = 0; change <= random_below(&random, 3); change++) {
      size_t at = random_below(&random, size - 16), span = 1 + random_below(&random, 12);
      uint64_t kind = random_below(&random, 3);
      if (kind == 0) mutant[at] = spice[random_below(&random, sizeof spice)];
      if (kind == 1) memmove(mutant + at, mutant + at + span, size - at - span), size -= span;
      if (kind == 2) memmove(mutant + at, mutant + random_below(&random, size - 16), span);
    }
    FILE *in = fmemopen(mutant, size, "r");
    assert_non_null(in);
    int code = run_read(in, methods, &back, problem, sizeof problem);
    fclose(in);
    assert_true(code == 0 || code == -EINVAL);
    if (code < 0) assert_memory_equal(problem, "line ", 5);
    if (code < 0) continue;
    size_t again_length;
    free(text_of(&back, &again_length));
    run_release(&back);
    accepted++;
  }
  print_message("%zu of 6000 mutants were accepted\n", accepted);
  assert_true(accepted > 0);
  free(mutant);
  free(text);
  run_release(&run);
}

static void elapsed_is_per_pass(void **state) {
  struct sample sample = {.passes = 4, .phase_ns = {1, 2, 3, 4}};
  assert_true(sample_elapsed_ns(&sample) == 2.5);
  sample.passes = 0;
  assert_true(sample_elapsed_ns(&sample) == 0);
}

static void warnings_are_few(void **state) {
  struct run run = {0};
  for (int i = 0; i < 40; i++) run_warn(&run, "W01", NULL, "text %d", i / 2);
  assert_int_equal(run.warning_count, 16);
  assert_string_equal(run.warnings[1].text, "text 1");
  run_add_fact(&run, "a", "1");
  run_add_number(&run, "a", 2);
  assert_int_equal(run.fact_count, 1);
  assert_string_equal(run_fact_text(&run, "a"), "2");
  assert_null(run_fact_text(&run, "b"));
  run_release(&run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(survives_the_file),          cmocka_unit_test(twin_is_found_later),
      cmocka_unit_test(text_of_any_bytes),          cmocka_unit_test(cut_file_is_accepted),
      cmocka_unit_test(damaged_values_are_refused), cmocka_unit_test(later_schemas_fields_are_skipped),
      cmocka_unit_test(garbage_is_refused),         cmocka_unit_test(long_lines_are_refused),
      cmocka_unit_test(mutations_do_no_harm),       cmocka_unit_test(elapsed_is_per_pass),
      cmocka_unit_test(warnings_are_few),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
