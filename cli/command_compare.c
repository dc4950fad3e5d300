/*
 * command_compare.c - `weir compare`: what became slower or faster between two run files; with --rerun, between two plugins
 * or two builds of libweir that take turns in one run.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli/progress.h"
#include "cli/request.h"
#include "methods/methods.h"
#include "os/os.h"
#include "stat/compare.h"

#define MARGIN_DEFAULT 0.03

struct comparing {
  struct request request; /* first: the rows of bench count from here */
  bool rerun, absolute, any_machine;
  const struct command *self;
  struct run runs[2];
  struct summary summaries[2];
  unsigned summary_count;
  struct sides_texts texts;
  struct output_list outputs;
};
#define COMPARE_AT(member) offsetof(struct comparing, member)

static const char *const format_words[] = {"table", "json", "csv", "markdown", NULL};
static const struct option_row rows[] = {
    {.section = "What to compare",
     .name = "rerun",
     .kind = OPTION_FLAG,
     .offset = COMPARE_AT(rerun),
     .help = "OLD and NEW are plugins, or builds of libweir (libweir.so):\nmeasure both now, taking turns; options below "
             "that say what"},
    {.name = "absolute",
     .kind = OPTION_FLAG,
     .offset = COMPARE_AT(absolute),
     .help = "compare times as they are: what the whole machine changed\nis not taken out"},
    {.name = "any-machine",
     .kind = OPTION_FLAG,
     .offset = COMPARE_AT(any_machine),
     .help = "compare although machine, kernel or file system differ"},
    {.section = "Results",
     .name = "output",
     .letter = 'o',
     .argument = "FILE",
     .kind = OPTION_TEXTS,
     .offset = REQUEST_AT(output.files),
     .help = "write the results there too, by suffix: .json, .txt, .md,\n.csv, with --rerun also .jsonl; '-' is standard "
             "output; may\nbe repeated"},
    {.name = "format",
     .argument = "FORMAT",
     .kind = OPTION_TEXT,
     .offset = REQUEST_AT(output.format),
     .words = format_words,
     .help = "format on standard output"},
    {.name = "color",
     .argument = "WHEN",
     .kind = OPTION_WORD,
     .offset = REQUEST_AT(output.color),
     .words = terminal_color_words,
     .help = "colours on standard output"},
    {.name = "ascii",
     .kind = OPTION_FLAG,
     .offset = REQUEST_AT(output.ascii),
     .help = "tables in nothing but ASCII, as where the locale is no UTF-8"},
    {.name = "strict", .kind = OPTION_FLAG, .offset = REQUEST_AT(strict), .help = "exit 3 when some verdict is unclear"},
    {.name = "quiet", .letter = 'q', .kind = OPTION_FLAG, .offset = REQUEST_AT(quiet), .help = "no progress and no notes"},
    REQUEST_EFFORT_ROWS,
    REQUEST_DEMAND_ROWS,
    REQUEST_CONTENDER_ROWS,
    {0},
};

/* ---- telling ---- */

static int check_formats(const struct comparing *comparing) {
  for (unsigned i = 0; i < comparing->outputs.count; i++) {
    const struct output *output = &comparing->outputs.outputs[i];
    if (output->report ? output->report->write_comparison != NULL : comparing->rerun && !output->standard) continue;
    return command_fail(comparing->self, output->standard ? "--format" : "--output", NULL,
                        "%s: a comparison is written as table, json, csv or markdown", output->name);
  }
  return 0;
}

static bool is_undecided(const struct comparison *comparison) {
  return comparison->counts[STAT_UNCLEAR] > 0 ||
         comparison->counts[STAT_FASTER] + comparison->counts[STAT_SAME] + comparison->counts[STAT_SLOWER] == 0;
}

static int tell(const struct comparing *comparing, const struct comparison *comparison) {
  int code = output_write_comparison(&comparing->outputs, comparison);
  if (code) return code;
  if (comparison->refused) return EXIT_CANNOT;
  if (comparing->rerun && comparing->runs[0].interrupted) code = EXIT_INTERRUPTED;
  if (comparison->counts[STAT_SLOWER] || comparison->broken) code = EXIT_BAD_ANSWER;
  for (unsigned i = 0; i < comparing->summary_count && comparing->rerun; i++)
    if (comparing->summaries[i].failed) code = EXIT_BAD_ANSWER;
  if (code == 0 && is_undecided(comparison) && comparing->request.strict) code = EXIT_UNSURE;
  return code;
}

/* ---- two run files ---- */

static int read_run(const char *path, struct run *run) {
  char problem[256] = "";
  const bool standard = strcmp(path, "-") == 0;
  FILE *in = standard ? stdin : fopen(path, "r");
  if (!in) return command_cannot("'%s': %s", path, strerror(errno));
  const int code = run_read(in, methods_list, run, problem, sizeof problem);
  if (!standard) fclose(in);
  return code < 0 ? command_cannot("'%s': %s", path, problem[0] ? problem : strerror(-code)) : 0;
}

static int summarize(struct comparing *comparing, unsigned index) {
  const struct plan_request *asked = &comparing->request.plan;
  struct run *run = &comparing->runs[index];
  if ((int)asked->rank_by >= 0) run->plan.rank_by = asked->rank_by;
  if (asked->margin >= 0) run->plan.margin = asked->margin;
  const int code = stat_summarize(run, &comparing->summaries[index]);
  if (code == 0) comparing->summary_count++;
  return code < 0 ? command_cannot("out of memory") : 0;
}

static struct compare_options options_of(const struct comparing *comparing, char *const *names) {
  return (struct compare_options){.margin = comparing->request.plan.margin,
                                  .absolute = comparing->absolute,
                                  .any_machine = comparing->any_machine,
                                  .before_name = names[0],
                                  .now_name = names[1]};
}

static int compare_files(struct comparing *comparing, char *const *names) {
  int code = 0;
  for (unsigned i = 0; i < 2 && code == 0; i++) {
    code = output_prepare(comparing->self, &comparing->request.output, names[i], &comparing->outputs);
    if (code == 0 && i == 0) output_release(&comparing->outputs); /* neither of them is to be overwritten */
  }
  if (code == 0) code = check_formats(comparing);
  for (unsigned i = 0; i < 2 && code == 0; i++) code = read_run(names[i], &comparing->runs[i]);
  comparing->runs[0].plan.rank_by = comparing->runs[1].plan.rank_by; /* the same quantity of both */
  for (unsigned i = 0; i < 2 && code == 0; i++) code = summarize(comparing, i);
  if (code) return code;
  const struct compare_options options = options_of(comparing, names);
  struct comparison comparison;
  if (compare_runs(&comparing->summaries[0], &comparing->summaries[1], &options, &comparison) < 0)
    return command_cannot("out of memory");
  code = tell(comparing, &comparison);
  compare_release(&comparison);
  return code;
}

/* ---- --rerun ---- */

/* Does this method serve what is asked for? Making a plan is the way to find out, and costs nothing. */
static bool fits(const struct comparing *comparing, const char *name) {
  struct plan_request alone = comparing->request.plan;
  struct plan_error error;
  struct plan plan;
  alone.methods = (struct plan_strings){1, {name}};
  alone.also.count = alone.also_must = 0;
  if (plan_make(&alone, comparing->request.outside.methods, &plan, &error) < 0) return false;
  plan_release(&plan);
  return true;
}

/* Both sides of what the user names, or of all that fits. */
static int choose_methods(struct comparing *comparing) {
  struct plan_strings *methods = &comparing->request.plan.methods, said = *methods;
  const struct side *sides = comparing->request.outside.sides;
  *methods = (struct plan_strings){.count = 0};
  if (said.count) return sides_specs(sides, &said, methods, &comparing->texts) < 0 ? command_cannot("out of memory") : 0;
  struct plan_strings found = {.count = 0};
  const unsigned room = sizeof found.values / sizeof *found.values;
  for (unsigned s = 0; s < SIDES_MAX; s++)
    for (unsigned i = 0; i < sides[s].methods.count && found.count < room; i++)
      if (fits(comparing, sides[s].methods.methods[i].name)) found.values[found.count++] = sides[s].methods.methods[i].name;
  *methods = found;
  return found.count
             ? 0
             : command_cannot("no method of OLD and NEW does what is asked for; say what with --task, --direction ...");
}

static int measure(struct comparing *comparing, struct weir_reason *problem) {
  const struct request *request = &comparing->request;
  struct progress progress = progress_start(request->quiet);
  const struct measure_options options = {.methods = request->outside.methods,
                                          .prepare = outside_prepare(&comparing->request.outside),
                                          .worker_arguments = request->outside.worker_arguments,
                                          .memory_limit = request->memory.values[0],
                                          .interrupted = command_interrupts(),
                                          .observer = progress_observer(&progress)};
  if (!request->quiet) fprintf(stderr, "seed: 0x%" PRIX64 "\n", comparing->runs[0].plan.seed);
  int code = os_interrupts_catch(command_interrupts());
  if (code == 0) code = measure_run(&comparing->runs[0], &options, problem);
  progress_end(&progress);
  return code;
}

static int compare_measured(struct comparing *comparing, char *const *names) {
  struct comparison comparison;
  const struct compare_options options = options_of(comparing, names);
  if (compare_pairs(&comparing->summaries[0], sides_endings, &options, &comparison) < 0)
    return command_cannot("out of memory");
  const int code = tell(comparing, &comparison);
  compare_release(&comparison);
  return code;
}

static int rerun(struct comparing *comparing, int argc, char **argv, const struct option_operands *operands) {
  struct weir_reason problem = {{0}, {0}};
  struct request *request = &comparing->request;
  struct option_operands file = {operands->count - 2, operands->values + 2};
  for (unsigned s = 0; s < SIDES_MAX; s++) request->outside.side_files[s] = operands->values[s];
  if (request->plan.margin < 0) request->plan.margin = MARGIN_DEFAULT;
  if ((int)request->plan.rank_by < 0) request->plan.rank_by = PLAN_RANK_TIME;
  if (request_settle(comparing->self, request, &file) != OPTION_GO) return EXIT_CANNOT;
  int code = choose_methods(comparing);
  if (code == 0) code = request_plan(comparing->self, request, argc, argv, &comparing->runs[0]);
  if (code == 0) code = output_prepare(comparing->self, &request->output, request->plan.file, &comparing->outputs);
  if (code == 0) code = check_formats(comparing);
  if (code) return code;
  code = measure(comparing, &problem);
  if (code < 0 && code != -EINTR)
    return command_cannot("%s%s%s", problem.text[0] ? problem.text : strerror(-code), problem.remedy[0] ? "; " : "",
                          problem.remedy);
  code = summarize(comparing, 0);
  return code ? code : compare_measured(comparing, operands->values);
}

/* ---- the command ---- */

static int compare(struct comparing *comparing, int argc, char **argv, const struct option_operands *operands) {
  const char *what = comparing->rerun ? "libraries" : "run files";
  if (operands->count < 2) return command_fail(comparing->self, NULL, NULL, "two %s are compared: OLD and NEW", what);
  if (operands->count > (comparing->rerun ? 3 : 2))
    return command_fail(comparing->self, NULL, NULL, "two %s are compared; '%s' is one too many", what,
                        operands->values[operands->count - 1]);
  return comparing->rerun ? rerun(comparing, argc, argv, operands) : compare_files(comparing, operands->values);
}

static void release(struct comparing *comparing) {
  for (unsigned i = 0; i < comparing->summary_count; i++) stat_release(&comparing->summaries[i]);
  for (unsigned i = 0; i < 2; i++) run_release(&comparing->runs[i]);
  output_release(&comparing->outputs);
  request_release(&comparing->request);
  sides_texts_release(&comparing->texts);
}

static int run_compare(const struct command *self, int argc, char **argv) {
  struct comparing comparing = {.self = self, .request = {.plan = {.margin = -1, .flush = PLAN_UNSAID}}};
  struct option_operands operands;
  comparing.request.plan.rank_by = (enum plan_rank) - 1; /* as measured */
  enum option_result parsed = option_parse(self, argc, argv, &comparing, &operands);
  int code = parsed == OPTION_BAD ? EXIT_CANNOT : EXIT_FINE;
  if (parsed == OPTION_GO) code = compare(&comparing, argc, argv, &operands);
  release(&comparing);
  return code;
}

const struct command cmd_compare = {
    .name = "compare",
    .synopsis = "[OPTION]... OLD NEW",
    .summary = "say what became faster or slower between two runs",
    .description =
        "Compares two run files of the same machine: each method's place among the others, apart from what the whole\n"
        "machine changed. Exit 1 when something became slower or broke. With --rerun OLD and NEW are plugins, or builds\n"
        "of libweir, that are measured now, taking turns; a third operand is a file to read. Other options of bench\n"
        "then say what is measured; --margin and --rank-by hold for both.",
    .examples =
        "  weir compare before.jsonl now.jsonl\n"
        "  weir compare before.jsonl now.jsonl --margin 5% -o changes.md\n"
        "  weir compare --rerun old/libweir.so new/libweir.so --task whole\n",
    .options = rows,
    .run = run_compare,
};
