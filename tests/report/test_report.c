/* test_report.c - reports of runs that went badly: cut short, all refused, odd names, damaged files. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/random.h"
#include "report/display.h"
#include "report/report.h"

/* ---- a run and its reports ----------------------------------------------------------------------------------------- */

static void read_golden(struct run *run) {
  char problem[160];
  FILE *in = fopen(GOLDEN_FILE, "rb");
  assert_non_null(in);
  if (run_read(in, NULL, run, problem, sizeof problem) != 0) fail_msg("%s", problem);
  fclose(in);
}

static char *report_text(const struct run *run, const char *name, unsigned width, bool color) {
  const struct report_options options = {.color = color, .width = width};
  struct summary summary;
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  assert_non_null(out);
  assert_int_equal(stat_summarize(run, &summary), 0);
  report_by_name(name)->write(&summary, &options, out);
  assert_int_equal(fclose(out), 0);
  stat_release(&summary);
  return text;
}

/* No line is wider than the page but for words that cannot be broken; nothing moves the cursor. */
static void check_table(const char *text, unsigned width, bool strict) {
  while (*text != '\0') {
    size_t length = strcspn(text, "\n");
    char *line = strndup(text, length);
    assert_non_null(line);
    for (size_t i = 0; i < length; i++) {
      if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f) fail_msg("control character in: %s", line);
    }
    if (strict && display_width(line) > width) fail_msg("%zu columns: %s", display_width(line), line);
    if (length > 0 && line[length - 1] == ' ') fail_msg("trailing space in: %s", line);
    assert_null(strstr(line, "nan"));
    assert_null(strstr(line, "inf "));
    free(line);
    text += length + (text[length] == '\n');
  }
}

/* A valid document whose matrix fits its cells. */
static json_t *check_json(const char *text) {
  json_error_t error;
  json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, &error);
  size_t index;
  json_t *group;
  if (document == NULL) fail_msg("line %d: %s", error.line, error.text);
  json_array_foreach(json_object_get(document, "groups"), index, group) {
    size_t cells = json_array_size(json_object_get(group, "cells"));
    json_t *pairs = json_object_get(group, "pairs");
    assert_int_equal(json_array_size(pairs), cells);
    for (size_t i = 0; i < cells; i++) assert_int_equal(json_array_size(json_array_get(pairs, i)), cells);
  }
  return document;
}

/* Letters that begin something in Markdown, outside of code and not escaped; bars are those of the table. */
static unsigned bars_of(const char *line) {
  unsigned bars = 0;
  bool code = false;
  for (const char *at = line; *at != '\0'; at++) {
    if (*at == '`') code = !code;
    if (*at == '|') bars++;
    if (code) continue;
    if (*at == '\\' && at[1] != '\0') at++;
    else if (strchr("<>[]_~$", *at) != NULL) fail_msg("'%c' is not escaped in: %s", *at, line);
  }
  if (code) fail_msg("code does not end in: %s", line);
  return bars;
}

/* Every row has as many fields as the titles above it. */
static void check_markdown(const char *text) {
  unsigned fields = 0;
  bool block = false; /* of code: lines of our own, as they stand */
  while (*text != '\0') {
    size_t length = strcspn(text, "\n");
    const bool fence = strncmp(text, "```", 3) == 0;
    if (fence) block = !block;
    if (fence || block) {
      text += length + (text[length] == '\n');
      continue;
    }
    char *line = strndup(text, length);
    assert_non_null(line);
    for (size_t i = 0; i < length; i++) {
      if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f) fail_msg("control character in: %s", line);
    }
    unsigned bars = bars_of(line);
    if (bars > 0 && fields > 0 && bars != fields) fail_msg("%u fields, not %u: %s", bars, fields, line);
    if (bars > 0 && line[0] != '|') fail_msg("a bar outside of a table: %s", line);
    fields = bars;
    free(line);
    text += length + (text[length] == '\n');
  }
  assert_false(block);
}

static void check_reports(const struct run *run) {
  char *markdown = report_text(run, "markdown", 0, false);
  check_markdown(markdown);
  free(markdown);
  for (unsigned width = 80; width <= 200; width += 20) {
    char *table = report_text(run, "table", width, false);
    check_table(table, width, true);
    free(table);
  }
  char *text = report_text(run, "json", 0, false);
  json_decref(check_json(text));
  free(text);
}

static void keep_rounds(struct run *run, int32_t last) {
  size_t kept = 0;
  for (size_t i = 0; i < run->sample_count; i++) {
    if (run->samples[i].round <= last) run->samples[kept++] = run->samples[i];
  }
  run->sample_count = kept;
}

static void contains(const struct run *run, const char *expected) {
  char *table = report_text(run, "table", 1000, false);
  if (strstr(table, expected) == NULL) fail_msg("no '%s' in:\n%s", expected, table);
  free(table);
}

static void contains_not(const struct run *run, const char *unwanted) {
  char *table = report_text(run, "table", 1000, false);
  if (strstr(table, unwanted) != NULL) fail_msg("'%s' in:\n%s", unwanted, table);
  free(table);
}

/* ---- tests --------------------------------------------------------------------------------------------------------- */

static void whole_run(void **state) {
  struct run run;
  read_golden(&run);
  check_reports(&run);
  contains(&run, "★ with 95 % confidence");
  contains_not(&run, "#twin");
  contains(&run, "→ Use map/populate (1.34×).");
  contains(&run, "In C: weir help map/populate");
  char *markdown = report_text(&run, "markdown", 0, false), *json = report_text(&run, "json", 0, false);
  assert_non_null(strstr(markdown, "By libweir:\n\n```c\nint read_blocks("));
  assert_non_null(strstr(json, "\"lead\": \"map/populate\""));
  free(markdown);
  free(json);
  run_release(&run);
}

/* Two groups that differ in the request size, with a cell past the page cache in each; and a striped file. */
static void curves_stand_below_the_groups(void **state) {
  struct run run;
  read_golden(&run);
  contains_not(&run, "sizes of requests");
  assert_true(run.plan.group_count >= 2);
  run.plan.groups[1].demand = run.plan.groups[0].demand;
  for (unsigned g = 0; g < 2; g++) {
    run.plan.groups[g].demand.request_bytes = g ? 65536 : 4096;
    run.plan.groups[g].demand.members = 4;
    run.plan.groups[g].cells[1].capabilities |= WEIR_CAP_DIRECT;
  }
  check_reports(&run);
  contains(&run, "striped over 4");
  contains(&run, "2 sizes of requests: unbuffered at best");
  contains(&run, "half of it with requests of");
  contains(&run, "% of unbuffered.");
  char *text = report_text(&run, "json", 0, false);
  json_t *document = check_json(text), *curve = json_array_get(json_object_get(document, "curves"), 0);
  assert_int_equal(json_integer_value(json_object_get(curve, "groups")), 2);
  assert_true(json_real_value(json_object_get(curve, "buffered_by_unbuffered")) > 0);
  assert_true(json_integer_value(json_object_get(json_object_get(curve, "buffered"), "half_power_request_bytes")) >= 4096);
  json_decref(document);
  free(text);
  run_release(&run);
}

static void few_rounds_make_no_claim(void **state) {
  for (int32_t rounds = -2; rounds <= 5; rounds++) {
    struct run run;
    read_golden(&run);
    keep_rounds(&run, rounds);
    run.interrupted = true;
    check_reports(&run);
    contains_not(&run, "★");
    contains(&run, "interrupted");
    contains(&run, rounds < 1 ? "interrupted: nothing was measured\n" : "numbers only");
    if (rounds < 1) contains_not(&run, "fd/pread");
    if (rounds < 1) contains_not(&run, "floors");
    if (rounds == 3) contains(&run, "interrupted after 3 of 12 rounds");
    run.interrupted = false;
    if (rounds < 1) contains(&run, "not measured  fd/pread");
    run_release(&run);
  }
}

static void header_alone(void **state) {
  struct run run, back;
  char problem[160], *text = NULL;
  size_t length;
  read_golden(&run);
  FILE *out = open_memstream(&text, &length);
  run_write_header(&run, out);
  fclose(out);
  FILE *in = fmemopen(text, length, "r");
  assert_int_equal(run_read(in, NULL, &back, problem, sizeof problem), 0);
  fclose(in);
  check_reports(&back);
  contains(&back, "the run file has no last line");
  free(text);
  run_release(&back);
  run_release(&run);
}

static void set_status(struct run *run, unsigned first, enum plan_status status) {
  for (unsigned g = 0; g < run->plan.group_count; g++) {
    for (unsigned c = first; c < run->plan.groups[g].cell_count; c++) {
      struct plan_cell *cell = &run->plan.groups[g].cells[c];
      cell->status = status;
      snprintf(cell->reason, sizeof cell->reason, "because");
      snprintf(cell->remedy, sizeof cell->remedy, "do it");
    }
  }
}

static void nothing_is_available(void **state) {
  struct run run;
  read_golden(&run);
  keep_rounds(&run, -2);
  set_status(&run, 0, PLAN_UNAVAILABLE);
  check_reports(&run);
  contains(&run, "No method was measured.");
  contains(&run, "because → do it");
  run_release(&run);
}

static void one_method_alone(void **state) {
  struct run run;
  read_golden(&run);
  set_status(&run, 1, PLAN_UNAVAILABLE);
  for (unsigned g = 0; g < 2; g++) run.plan.groups[g].cells[run.plan.groups[g].cell_count - 1].status = PLAN_OK; /* twins */
  check_reports(&run);
  contains(&run, "nothing to rank");
  contains_not(&run, "★");
  contains_not(&run, "rank  method");
  contains(&run, "\n  Two identical entries");
  run_release(&run);
}

static void no_groups_and_no_cells(void **state) {
  struct run run;
  read_golden(&run);
  unsigned groups = run.plan.group_count, cells = run.plan.groups[0].cell_count;
  run.sample_count = 0;
  run.plan.groups[0].cell_count = 0;
  check_reports(&run);
  run.plan.group_count = 0;
  check_reports(&run);
  run.plan.group_count = groups;
  run.plan.groups[0].cell_count = cells;
  run_release(&run);
}

static void odd_names_do_no_harm(void **state) {
  static const char name[] = "fd/\xff\x1b[2J\xe2\x80\xae\xe6\xbc\xa2\xcc\x81\xee\xbe\x80 [a,b]@/\t\r\n";
  struct run run;
  read_golden(&run);
  struct plan_group *group = &run.plan.groups[0];
  free(group->cells[0].id);
  free(group->title);
  group->cells[0].id = strdup(name);
  group->title = strdup(name);
  snprintf(group->cells[0].method, sizeof group->cells[0].method, "%s", name);
  snprintf(run.warnings[0].text, sizeof run.warnings[0].text, "%s", name);
  snprintf(group->cells[8].reason, sizeof group->cells[8].reason, "%s", name);
  run_add_fact(&run, "place.0.device", name);
  run_add_fact(&run, name, name);
  check_reports(&run);
  contains(&run, "fd/\\xff\\x1b[2J\\u202e\xe6\xbc\xa2\xcc\x81\\xee\\xbe\\x80 [a,b]@/\\x09\\x0d\\x0a");
  char *text = report_text(&run, "json", 0, false);
  json_t *document = check_json(text);
  json_t *cells = json_object_get(json_array_get(json_object_get(document, "groups"), 0), "cells");
  char *id = strdup(json_string_value(json_object_get(json_array_get(cells, 0), "id")));
  run_text_decode(id);
  assert_string_equal(id, name);
  free(id);
  json_decref(document);
  free(text);
  run_release(&run);
}

static void markdown_shows_names_as_they_are(void **state) {
  static const char name[] = "a|b`c`<b>*d*_e_[f](g)~h~$i$&amp;\n# j\\";
  struct run run;
  read_golden(&run);
  struct plan_group *group = &run.plan.groups[0];
  free(group->cells[0].id);
  free(group->title);
  group->cells[0].id = strdup(name);
  group->title = strdup(name);
  snprintf(run.warnings[0].text, sizeof run.warnings[0].text, "%s", name);
  snprintf(group->cells[8].reason, sizeof group->cells[8].reason, "%s", name);
  check_reports(&run);
  char *text = report_text(&run, "markdown", 0, false);
  static const char escaped[] =
      "a&#124;b\\`c\\`&lt;b&gt;\\*d\\*\\_e\\_\\[f\\](g)\\~h\\~\\$i\\$&amp;amp;\\\\x0a\\# j\\\\";
  if (strstr(text, escaped) == NULL) fail_msg("no '%s' in:\n%s", escaped, text);
  free(text);
  run_release(&run);
}

/* ★ and verdict answer different questions; the sentence must not contradict the row. */
static void a_narrow_lead_is_called_narrow(void **state) {
  struct run run;
  read_golden(&run);
  contains(&run, "this method is the fastest.");
  run.plan.margin = 0.35;
  contains(&run, "no other method is faster than this one, but it may lead by very little.");
  contains_not(&run, "this method is the fastest");
  run_release(&run);
}

static void large_differences_are_ratios(void **state) {
  struct run run;
  read_golden(&run);
  unsigned twin = run.plan.groups[0].cell_count - 1;
  for (size_t i = 0; i < run.sample_count; i++) {
    struct sample *sample = &run.samples[i];
    if (sample->group == 0 && sample->cell == twin) sample->phase_ns[RUN_RUN] *= 3;
  }
  check_reports(&run);
  contains(&run, "could have called is 3.10×.");
  contains_not(&run, "could have called is 1");
  contains(&run, "differed by 0.33× (0.33 … 0.33×)");
  run_release(&run);
}

static void ranking_by_other_things(void **state) {
  struct run run;
  read_golden(&run);
  run.plan.rank_by = PLAN_RANK_CPU;
  check_reports(&run);
  contains(&run, "ranked by CPU time");
  contains(&run, "cpu ratio");
  contains(&run, "0.80 … 0.84  ");
  contains(&run, "  less");
  contains_not(&run, "speed");
  contains_not(&run, "faster");
  contains_not(&run, "slower");
  run.plan.rank_by = PLAN_RANK_MEMORY;
  check_reports(&run);
  contains(&run, "ranked by memory");
  contains(&run, "memory ratio");
  run.plan.rank_by = PLAN_RANK_TRANSFER;
  check_reports(&run);
  contains(&run, "transfer speed");
  char *text = report_text(&run, "json", 0, false);
  assert_non_null(strstr(text, "\"ranked_by\": \"transfer\""));
  free(text);
  run_release(&run);
}

static void writers_show_what_reached_the_device(void **state) {
  struct run run;
  read_golden(&run);
  run.plan.groups[0].demand.direction = WEIR_WRITE;
  run.plan.groups[0].demand.durability = WEIR_DURABILITY_END;
  for (size_t i = 0; i < run.sample_count; i++) {
    run.samples[i].flushes = 2 * (int64_t)run.samples[i].passes;
    run.samples[i].device_write_bytes = (int64_t)run.samples[i].bytes;
  }
  check_reports(&run);
  contains(&run, "to the device 64 MiB, flushes 2, written 64 MiB");
  contains(&run, "peak  flushes"); /* beside each cell too */
  run.plan.groups[0].demand.durability = WEIR_DURABILITY_NONE;
  contains_not(&run, "peak  flushes");
  run_release(&run);
}

/* Gives every cell that was measured a sample of the pilot that counted. */
static void add_counts(struct run *run) {
  const size_t before = run->sample_count;
  for (size_t i = 0; i < before; i++) {
    if (run->samples[i].round != 1) continue;
    struct sample sample = run->samples[i];
    sample.round = -1;
    sample.flags = RUN_PILOT;
    sample.bytes /= sample.passes;
    sample.passes = 1;
    sample.allocations = 12345 + sample.cell;
    sample.allocated_bytes = 3 << 20;
    assert_int_equal(run_add_sample(run, &sample), 0);
  }
}

static void allocations_stand_where_memory_is_a_choice(void **state) {
  struct run run;
  read_golden(&run);
  char *text = report_text(&run, "json", 0, false);
  assert_non_null(strstr(text, "\"allocations\": null"));
  free(text);
  add_counts(&run);
  check_reports(&run);
  contains_not(&run, "allocs");
  text = report_text(&run, "csv", 0, false);
  assert_non_null(strstr(text, ",12345,3145728,"));
  free(text);
  text = report_text(&run, "json", 0, false);
  assert_non_null(strstr(text, "\"allocated_bytes\": 3145728"));
  free(text);
  static const enum weir_task tasks[] = {WEIR_TASK_WHOLE, WEIR_TASK_LINES, WEIR_TASK_TEXT, WEIR_TASK_RECORDS};
  for (size_t i = 0; i < sizeof tasks / sizeof tasks[0]; i++) {
    run.plan.groups[0].demand.task = tasks[i];
    check_reports(&run);
    contains(&run, "allocs");
    contains(&run, "allocated");
    contains(&run, "12 k");
    contains(&run, "3 MiB");
    text = report_text(&run, "markdown", 0, false);
    assert_non_null(strstr(text, "| allocs | allocated |"));
    free(text);
  }
  run_release(&run);
}

/* Of the first group; borrowed. */
static json_t *first_cell(json_t *document) {
  return json_array_get(json_object_get(json_array_get(json_object_get(document, "groups"), 0), "cells"), 0);
}

/* What one view or another shows of the golden run. */
static char *view_text(const struct run *run, enum report_view view) {
  struct summary summary;
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  assert_non_null(out);
  assert_int_equal(stat_summarize(run, &summary), 0);
  const struct report_options options = {.width = 200, .view = view};
  report_by_name("table")->write(&summary, &options, out);
  stat_release(&summary);
  fclose(out);
  return text;
}

/* Gives every sample of the first group costs, and every cell of it a pilot that counted. */
static void add_costs(struct run *run) {
  add_counts(run);
  for (size_t i = 0; i < run->sample_count; i++) {
    struct sample *sample = &run->samples[i];
    if (sample->group != 0) continue;
    sample->cycles = 3 * (int64_t)sample->bytes;
    sample->instructions = 5 * (int64_t)sample->bytes;
    sample->cache_before_bytes = 5 << 20;
    sample->cache_after_bytes = 2 << 20;
    if (!(sample->flags & RUN_PILOT)) continue;
    sample->system_calls = 777;
    sample->victim_bytes = 1000;
    sample->victim_lost_bytes = 420;
  }
}

static void costs_are_a_view_of_their_own(void **state) {
  struct run run;
  read_golden(&run);
  add_costs(&run);
  check_reports(&run);
  char *text = view_text(&run, REPORT_COST);
  static const char *const there[] = {"cycles/B", "instr/B", "calls/GiB", "switches/GiB", "evicts", "42%", "-3 MiB", "3.00", "5.00", "12 k"};
  for (size_t i = 0; i < sizeof there / sizeof *there; i++)
    if (strstr(text, there[i]) == NULL) fail_msg("'%s' is not in\n%s", there[i], text);
  assert_null(strstr(text, "verdict"));
  free(text);
  text = view_text(&run, REPORT_SPEED);
  assert_null(strstr(text, "calls/GiB"));
  assert_non_null(strstr(text, "verdict"));
  free(text);
  text = report_text(&run, "markdown", 0, false);
  assert_non_null(strstr(text, "| calls/GiB |"));
  assert_non_null(strstr(text, "| verdict |"));
  free(text);
  text = report_text(&run, "csv", 0, false);
  assert_non_null(strstr(text, ",system_calls,"));
  assert_non_null(strstr(text, ",777,"));
  assert_non_null(strstr(text, ",-3145728,0.42"));
  free(text);
  text = report_text(&run, "json", 0, false);
  json_decref(check_json(text));
  assert_non_null(strstr(text, "\"system_calls\": 777"));
  assert_non_null(strstr(text, "\"cache_growth_bytes\": -3145728"));
  assert_non_null(strstr(text, "\"evicted_share\": 0.42"));
  assert_non_null(strstr(text, "\"cpu_ns_per_byte\": "));
  free(text);
  run_release(&run);
}

static void the_machine_is_told(void **state) {
  struct run run;
  read_golden(&run);
  check_reports(&run);
  contains_not(&run, "machine: ");
  for (int32_t i = 1; i <= 20; i++) {
    const struct run_round round = {.group = (uint32_t)i % 2, .round = i, .elapsed_ns = 1000000, .anchor_ns = {5000000, i == 7 ? 9000000 : 5000000},
                                    .steal_ns = 4000, .cpu_stall_ns = -1, .io_stall_ns = 30000, .processor_hz = 2100000000};
    assert_int_equal(run_add_round(&run, &round), 0);
  }
  check_reports(&run);
  contains(&run, "machine: the control varied by ±0.0 % within rounds and drifted by 0.0 %, steal 0.2 %, for I/O 3.0 %");
  contains(&run, "processor 2.10 … 2.10 GHz; 1 of 20 rounds noisy");
  char *text = report_text(&run, "json", 0, false);
  json_t *document = check_json(text);
  const json_t *line = json_object_get(document, "time_line");
  assert_int_equal(json_array_size(line), 20);
  assert_string_equal(json_string_value(json_array_get(json_object_get(json_array_get(line, 6), "noisy"), 0)), "control");
  assert_int_equal(json_integer_value(json_object_get(json_object_get(document, "machine"), "noisy_rounds")), 1);
  json_decref(document);
  free(text);
  run_release(&run);
}

static void writers_that_still_move_are_named(void **state) {
  struct run run;
  read_golden(&run);
  contains_not(&run, "not steady");
  run.plan.groups[0].demand.direction = WEIR_WRITE;
  for (size_t i = 0; i < run.sample_count; i++)
    if (run.samples[i].round % 2) run.samples[i].phase_ns[RUN_RUN] *= 2;
  check_reports(&run);
  contains(&run, "not steady: over the last 5 rounds the rate of ");
  char *text = report_text(&run, "json", 0, false);
  assert_non_null(strstr(text, "\"reached\": false"));
  free(text);
  run_release(&run);
}

static void latency_is_handed_on(void **state) {
  struct run run;
  read_golden(&run);
  for (size_t i = 0; i < run.sample_count; i++) {
    const struct histogram_entry slots[] = {{histogram_slot(4100 + i % 7 * 64), 990}, {histogram_slot(70000), 100}};
    assert_int_equal(run_keep_latency(&run, &run.samples[i], slots, 2), 0);
  }
  check_reports(&run);
  char *text = report_text(&run, "json", 0, false);
  json_t *document = check_json(text), *latency = json_object_get(first_cell(document), "latency_ns"), *percentiles = json_object_get(latency, "percentiles");
  const double p50 = json_number_value(json_object_get(json_object_get(percentiles, "p50"), "median"));
  assert_true(p50 > 4000 && p50 < 4600);
  assert_true(json_is_number(json_object_get(json_object_get(percentiles, "p99"), "low")));
  assert_true(json_is_null(json_object_get(percentiles, "p99.9"))); /* 1090 operations are too few */
  assert_true(json_array_size(json_object_get(latency, "histogram")) > 1);
  assert_non_null(json_object_get(json_object_get(latency, "operations_by_log2"), "12"));
  json_decref(document);
  free(text);
  contains(&run, "time of an operation");
  contains(&run, "p99.9 takes samples of 10000 operations or more, here are as few as 1090.");
  text = report_text(&run, "markdown", 0, false);
  assert_non_null(strstr(text, "| time of an operation | p50 | p90 | p99 |"));
  free(text);
  text = report_text(&run, "html", 0, false);
  if (report_by_name("html")->missing() == NULL) assert_non_null(strstr(text, "<table class=\"results latency\">"));
  free(text);
  text = report_text(&run, "csv", 0, false);
  assert_non_null(strstr(text, ",latency_p50_ns,latency_p50_ns_low,latency_p50_ns_high,"));
  free(text);
  run_release(&run);
}

/* Colour comes on top: without its codes the text is the same. */
static void colour_is_never_alone(void **state) {
  struct run run;
  read_golden(&run);
  char *plain = report_text(&run, "table", 100, false), *color = report_text(&run, "table", 100, true), *end = color;
  for (const char *at = color; *at != '\0'; at++) {
    if (*at == '\033') {
      at = strchr(at, 'm');
    } else {
      *end++ = *at;
    }
  }
  *end = '\0';
  assert_string_equal(color, plain);
  free(color);
  free(plain);
  run_release(&run);
}

static void damaged_files_reach_no_report(void **state) {
  struct random_state random = random_start(7, 0);
  struct run run;
  size_t length, accepted = 0;
  char problem[160], *text = NULL;
  read_golden(&run);
  keep_rounds(&run, 3);
  FILE *out = open_memstream(&text, &length);
  run_write_header(&run, out);
  run_write_found(&run, out);
  for (size_t i = 0; i < run.sample_count; i++) run_write_sample(&run, &run.samples[i], out);
  run_write_trailer(&run, out);
  fclose(out);
  char *mutant = malloc(length);
  for (int turn = 0; turn < 2000; turn++) {
    struct run back;
    memcpy(mutant, text, length);
    for (int change = 0; change < 2; change++) {
      size_t at = random_below(&random, length);
      mutant[at] = (char)(mutant[at] >= '0' && mutant[at] <= '9' ? '0' + (int)random_below(&random, 10) : mutant[at] ^ 1);
    }
    FILE *in = fmemopen(mutant, length, "r");
    int code = run_read(in, NULL, &back, problem, sizeof problem);
    fclose(in);
    if (code < 0) continue;
    char *table = report_text(&back, "table", 80, false), *json = report_text(&back, "json", 0, false);
    check_table(table, 80, false);
    json_decref(check_json(json));
    free(table);
    free(json);
    run_release(&back);
    accepted++;
  }
  print_message("%zu of 2000 mutants reached a report\n", accepted);
  assert_true(accepted > 0);
  free(mutant);
  free(text);
  run_release(&run);
}

static void reports_are_found(void **state) {
  assert_string_equal(report_by_name("table")->name, "table");
  assert_null(report_by_name("tabl"));
  assert_string_equal(report_by_suffix("a/b.json")->name, "json");
  assert_null(report_by_suffix(".json"));
  assert_null(report_by_suffix("run.jsonl"));
}

static void decimals_are_rounded(void **state) {
  static const struct {
    double value;
    unsigned decimals;
    const char *expected;
  } cases[] = {
      {0, 0, "0"},   {-0.04, 1, "0.0"}, {-0.05, 1, "-0.1"},  {1.005, 1, "1.0"},      {9.996, 2, "10.00"},
      {0.5, 0, "1"}, {1e300, 2, "-"},   {12.5, 3, "12.500"}, {1 / 3.0, 4, "0.3333"},
  };
  struct text text = {0};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    text_clear(&text);
    text_decimal(&text, cases[i].value, cases[i].decimals);
    assert_string_equal(text_string(&text), cases[i].expected);
  }
  text_release(&text);
  assert_int_equal(display_width("★ \xe6\xbc\xa2\xcc\x81"), 4);
  assert_int_equal(display_fit("a\xe6\xbc\xa2", 2), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(whole_run),
      cmocka_unit_test(curves_stand_below_the_groups),
      cmocka_unit_test(few_rounds_make_no_claim),
      cmocka_unit_test(header_alone),
      cmocka_unit_test(nothing_is_available),
      cmocka_unit_test(one_method_alone),
      cmocka_unit_test(no_groups_and_no_cells),
      cmocka_unit_test(odd_names_do_no_harm),
      cmocka_unit_test(markdown_shows_names_as_they_are),
      cmocka_unit_test(a_narrow_lead_is_called_narrow),
      cmocka_unit_test(large_differences_are_ratios),
      cmocka_unit_test(ranking_by_other_things),
      cmocka_unit_test(writers_show_what_reached_the_device),
      cmocka_unit_test(allocations_stand_where_memory_is_a_choice),
      cmocka_unit_test(costs_are_a_view_of_their_own),
      cmocka_unit_test(the_machine_is_told),
      cmocka_unit_test(writers_that_still_move_are_named),
      cmocka_unit_test(latency_is_handed_on),
      cmocka_unit_test(colour_is_never_alone),
      cmocka_unit_test(damaged_files_reach_no_report),
      cmocka_unit_test(reports_are_found),
      cmocka_unit_test(decimals_are_rounded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
