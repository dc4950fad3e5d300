/* listing.c - `weir list`: what is built in - methods with their parameters and whether they work here, suites, reports. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cli/show_calls.h"
#include "cli/terminal.h"
#include "measure/measure.h"
#include "os/os.h"
#include "report/display.h"
#include "report/report.h"

struct listing_request {
  struct plan_strings places;
  struct outside outside;
  const char *show_calls;
};
static const struct option_row rows[] = {
    {.section = "Options",
     .name = "dir",
     .letter = 'd',
     .argument = "DIR",
     .kind = OPTION_TEXTS,
     .offset = offsetof(struct listing_request, places),
     .help = "where methods are tried (.)"},
    OUTSIDE_PLUGIN_ROW(offsetof(struct listing_request, outside.plugin_files)),
    {.name = "show-calls",
     .argument = "SPEC",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct listing_request, show_calls),
     .help = "instead of a list: the system calls of one pass of this\nmethod on a file of 1 MiB (needs strace)"},
    {0},
};

/* ---- methods ---- */

/* Works in some use, works in none, could not be tried. */
struct availability {
  bool tried, works;
  const char *reason, *remedy;
};

static struct availability availability_of(const struct plan *plan, const struct weir_method *method) {
  struct availability found = {.reason = "", .remedy = ""};
  for (unsigned g = 0; g < plan->group_count; g++)
    for (unsigned c = 0; c < plan->groups[g].cell_count; c++) {
      const struct plan_cell *cell = &plan->groups[g].cells[c];
      if (strcmp(cell->method, method->name) != 0) continue;
      found.tried = true;
      if (cell->status == PLAN_OK) found.works = true;
      if (cell->status == PLAN_OK) return found;
      found.reason = cell->reason;
      found.remedy = cell->remedy;
    }
  return found;
}

/* Continuation lines stand below the summary. */
#define LIST_WIDTH 100
#define SUMMARY_COLUMN 30
static void print_below(const char *before, const char *text) {
  printf("%*s%s", SUMMARY_COLUMN, "", before);
  display_wrap(stdout, &(struct display_box){LIST_WIDTH, SUMMARY_COLUMN + strlen(before), SUMMARY_COLUMN + 2}, text);
}

static void print_presets(const struct weir_method *method) {
  char text[512] = "";
  size_t used = 0;
  for (size_t i = 0; i < method->param_count && used < sizeof text; i++)
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s=%s", i ? ", " : "", method->params[i].name,
                             method->params[i].preset);
  if (used) print_below("", text);
}

static void print_method(const struct plan *plan, const struct weir_method *method) {
  struct availability found = availability_of(plan, method);
  char why[sizeof((struct weir_reason *)0)->text + sizeof((struct weir_reason *)0)->remedy + 8];
  const char *arrow = !found.remedy[0] ? "" : terminal_is_ascii() ? " -> " : " → ";
  const int used = printf("  %-17s %-9s ", method->name, !found.tried ? "?" : found.works ? "ok" : "not here");
  display_wrap(stdout, &(struct display_box){LIST_WIDTH, (size_t)used, SUMMARY_COLUMN}, method->summary);
  snprintf(why, sizeof why, "%s%s%s", found.reason, arrow, found.remedy);
  if (found.tried && !found.works) print_below("not here: ", why);
  if (method->calls) print_below("", method->calls);
  print_presets(method);
}

/* ---- parameters, each once ---- */

static bool same_param(const struct weir_param *a, const struct weir_param *b) {
  if (strcmp(a->name, b->name) != 0 || a->kind != b->kind || a->min != b->min || a->max != b->max) return false;
  return strcmp(a->help ? a->help : "", b->help ? b->help : "") == 0 &&
         strcmp(a->choices ? a->choices : "", b->choices ? b->choices : "") == 0;
}

static void print_param(const struct weir_param *param) {
  char low[UNITS_TEXT_MAX], high[UNITS_TEXT_MAX], range[128];
  if (param->kind == WEIR_PARAM_CHOICE)
    snprintf(range, sizeof range, "%s", param->choices);
  else if (param->kind == WEIR_PARAM_SIZE)
    snprintf(range, sizeof range, "%s to %s", units_size_name(param->min, low), units_size_name(param->max, high));
  else
    snprintf(range, sizeof range, "%llu to %llu", (unsigned long long)param->min, (unsigned long long)param->max);
  printf("  %-9s %-18s ", param->name, range);
  size_t used = strlen(range) > 18 ? 13 + strlen(range) : 31;
  display_wrap(stdout, &(struct display_box){LIST_WIDTH, used, 31}, param->help ? param->help : "");
}

/* The first of its kind in the list of methods? */
static bool is_first(const struct weir_method *const *methods, unsigned method, size_t index) {
  const struct weir_param *param = &methods[method]->params[index];
  for (unsigned m = 0; m <= method; m++)
    for (size_t i = 0; i < methods[m]->param_count && !(m == method && i == index); i++)
      if (same_param(&methods[m]->params[i], param)) return false;
  return true;
}

static void print_params(const struct weir_method *const *methods) {
  printf("\nTheir parameters, written 'fd/pread[block=64KiB|1MiB]':\n");
  for (unsigned m = 0; methods[m]; m++)
    for (size_t i = 0; i < methods[m]->param_count; i++)
      if (is_first(methods, m, i)) print_param(&methods[m]->params[i]);
}

/* A plan in which every method stands, each with its presets, in every use that it serves. */
static int plan_all(const struct listing_request *listing, struct plan *out, struct weir_reason *problem) {
  struct plan_request request = {
      .places = listing->places, .target = {2, {WEIR_TARGET_OVERWRITE, WEIR_TARGET_NEW}}, .size = {1, {UINT64_C(1) << 20}}};
  struct plan_error error;
  const struct plan_strings *names = &request.methods;
  const struct weir_method *const *methods = listing->outside.methods;
  uint32_t directions = 0;
  for (int i = 0; plan_task_words[i]; i++) request.task.values[request.task.count++] = i;
  for (int i = 0; plan_direction_words[i]; i++) {
    request.direction.values[request.direction.count++] = i;
    directions |= WEIR_BIT(i);
  }
  for (unsigned i = 0; methods[i] && request.methods.count < sizeof names->values / sizeof *names->values; i++)
    if (methods[i]->directions & directions) request.methods.values[request.methods.count++] = methods[i]->name;
  int code = plan_make(&request, methods, out, &error);
  if (code == -EINVAL) snprintf(problem->text, sizeof problem->text, "%.190s", error.text);
  return code;
}

static void print_methods(const struct listing_request *listing, const struct run *run) {
  const struct weir_method *const *methods = listing->outside.methods;
  printf("Methods, whether they work here, and their parameters as they are when nothing is said:\n");
  for (unsigned i = 0; methods[i]; i++) print_method(&run->plan, methods[i]);
  print_params(methods);
}

static int list_methods(const struct listing_request *listing) {
  struct run run = {0};
  struct weir_reason problem = {{0}, {0}};
  const struct measure_options options = {.methods = listing->outside.methods,
                                          .worker_arguments = listing->outside.worker_arguments,
                                          .interrupted = command_interrupts()};
  int code = plan_all(listing, &run.plan, &problem);
  if (code == 0) code = os_interrupts_catch(command_interrupts());
  if (code == 0) code = measure_probe(&run, &options, &problem);
  if (code < 0 && code != -EINTR)
    fprintf(stderr, "weir: whether they work here is not known: %s\n", problem.text[0] ? problem.text : strerror(-code));
  if (code < 0) plan_release(&run.plan);
  if (code != -EINTR) print_methods(listing, &run);
  run_release(&run);
  return code == -EINTR ? EXIT_INTERRUPTED : EXIT_FINE; /* what does not work here is an answer, no failure */
}

/* ---- suites, reports ---- */

static int list_suites(const struct listing_request *listing) {
  printf("Suites:\n");
  for (const struct plan_suite *suite = plan_suites; suite->name; suite++)
    printf("  %-16s ", suite->name), display_wrap(stdout, &(struct display_box){LIST_WIDTH, 19, 19}, suite->summary);
  printf("  %-16s ", "FILE.ini");
  display_wrap(stdout, &(struct display_box){LIST_WIDTH, 19, 19}, "a suite of your own (docs/suites.md); 'weir plan' checks it");
  return EXIT_FINE;
}

static int list_reports(const struct listing_request *listing) {
  printf("Reports (name, suffix):\n");
  for (unsigned i = 0; report_list[i]; i++)
    printf("  %-8s %-8s %s\n", report_list[i]->name, report_list[i]->suffix, report_list[i]->summary);
  printf("  %-8s %-8s %s\n", "jsonl", ".jsonl", "run file: every sample as it was taken; 'weir report' reads it");
  return EXIT_FINE;
}

/* ---- the command ---- */

static const char *const topics[] = {"methods", "suites", "reports", NULL};

static int list_all(const struct listing_request *listing) {
  int code = list_methods(listing);
  printf("\n");
  list_suites(listing);
  printf("\n");
  list_reports(listing);
  return code;
}

static int list_topic(const struct command *self, const struct listing_request *listing, const char *name) {
  int (*const lists[])(const struct listing_request *) = {list_methods, list_suites, list_reports};
  int topic = name ? plan_word_index(topics, name) : -1;
  if (!name) return list_all(listing);
  if (topic >= 0) return lists[topic](listing);
  const char *hint = plan_nearest(name, topics);
  return command_fail(self, NULL, hint, "unknown list '%s'%s", name, hint ? "" : "; choose from methods, suites, reports");
}

static int run_list(const struct command *self, int argc, char **argv) {
  struct listing_request listing = {.places = {.count = 0}};
  struct option_operands operands;
  enum option_result parsed = option_parse(self, argc, argv, &listing, &operands);
  if (parsed != OPTION_GO) return parsed == OPTION_DONE ? EXIT_FINE : EXIT_CANNOT;
  if (listing.places.count > 1) return command_fail(self, "--dir", NULL, "one directory at a time");
  if (operands.count > 1) return command_fail(self, NULL, NULL, "one list at a time");
  if (operands.count && listing.show_calls) return command_fail(self, "--show-calls", NULL, "goes with no list");
  int code = outside_open(self, &listing.outside);
  if (code == 0 && listing.show_calls)
    code = show_calls(self, &listing.outside, &listing.places, listing.show_calls);
  else if (code == 0)
    code = list_topic(self, &listing, operands.count ? operands.values[0] : NULL);
  outside_close(&listing.outside);
  return code;
}

const struct command cmd_list = {
    .name = "list",
    .synopsis = "[OPTION]... [methods|suites|reports]",
    .summary = "list methods, suites and reports",
    .description =
        "Lists what is built in. Methods are tried on a small file, to tell which of them work here and why others do not.",
    .examples =
        "  weir list\n"
        "  weir list methods --dir /mnt/data\n"
        "  weir list suites\n"
        "  weir list --show-calls 'ring/plain[depth=8]'\n",
    .options = rows,
    .operands = topics,
    .run = run_list,
};
