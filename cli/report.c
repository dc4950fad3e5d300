/* report.c - `weir report`: the results of a run file once more. Pure: the same file gives the same bytes. */
#include "report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "cli/terminal.h"
#include "methods/methods.h"

/* As many as have a letter and a colour of their own. */
#define RUNS_MAX 8

struct report_request {
  struct output_options output;
  int rank_by;   /* -1: as measured */
  double margin; /* -1: as measured */
  bool strict;
};

static const struct option_row rows[] = {
    OUTPUT_ROWS(struct report_request, output),
    {.section = "Reading it otherwise",
     .name = "rank-by",
     .argument = "WHAT",
     .kind = OPTION_WORD,
     .offset = offsetof(struct report_request, rank_by),
     .words = plan_rank_words,
     .help = "what is compared and ranked"},
    {.name = "margin",
     .argument = "SHARE",
     .kind = OPTION_SHARE,
     .offset = offsetof(struct report_request, margin),
     .help = "smaller differences do not matter"},
    {.name = "strict",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct report_request, strict),
     .help = "exit 3 when the answer is not clear"},
    {0},
};

static int read_run(const char *path, struct run *run) {
  char problem[256] = "";
  bool standard = strcmp(path, "-") == 0;
  FILE *in = standard ? stdin : fopen(path, "r");
  if (!in) return command_cannot("'%s': %s", path, strerror(errno));
  int code = run_read(in, methods_list, run, problem, sizeof problem);
  if (!standard) fclose(in);
  if (code < 0) return command_cannot("'%s': %s", path, problem[0] ? problem : strerror(-code));
  return 0;
}

/* What was read, in the order in which it was named. */
struct readings {
  unsigned count;
  struct run *runs;
  struct summary *summaries;
  struct report_run *named;
};

static bool readings_make(struct readings *readings, unsigned count) {
  readings->count = count;
  readings->runs = calloc(count, sizeof *readings->runs);
  readings->summaries = calloc(count, sizeof *readings->summaries);
  readings->named = calloc(count, sizeof *readings->named);
  return readings->runs && readings->summaries && readings->named;
}

static void readings_release(struct readings *readings) {
  for (unsigned i = 0; i < readings->count && readings->runs && readings->summaries; i++) {
    stat_release(&readings->summaries[i]);
    run_release(&readings->runs[i]);
  }
  free(readings->runs);
  free(readings->summaries);
  free(readings->named);
}

static int read_one(const struct report_request *request, const char *path, struct readings *readings, unsigned i) {
  struct run *run = &readings->runs[i];
  int code = read_run(path, run);
  if (code) return code;
  if (request->rank_by >= 0) run->plan.rank_by = (enum plan_rank)request->rank_by;
  if (request->margin >= 0) run->plan.margin = request->margin;
  if (stat_summarize(run, &readings->summaries[i]) < 0) return command_cannot("out of memory");
  readings->named[i] = (struct report_run){path, &readings->summaries[i]};
  return 0;
}

static int tell(const struct report_request *request, const struct output_list *outputs, const struct readings *readings) {
  bool failed = false, inconclusive = false;
  int code = readings->count == 1 ? output_write(outputs, readings->summaries)
                                  : output_write_runs(outputs, readings->named, readings->count);
  for (unsigned i = 0; i < readings->count; i++) {
    failed |= readings->summaries[i].failed;
    inconclusive |= readings->summaries[i].inconclusive;
  }
  if (code == 0 && failed) code = EXIT_BAD_ANSWER;
  if (code == 0 && inconclusive && request->strict) code = EXIT_UNSURE;
  return code;
}

static int report_files(const struct command *self, const struct report_request *request,
                        const struct option_operands *operands) {
  const unsigned count = (unsigned)operands->count;
  struct output_list outputs = {0};
  struct readings readings = {0};
  int code = output_prepare(self, &request->output, operands->values[0], &outputs);
  if (code == 0 && count > 1) code = output_check_several(self, &outputs);
  for (unsigned i = 1; i < count && code == 0; i++) code = output_check_input(self, operands->values[i], &outputs);
  if (code == 0 && !readings_make(&readings, count)) code = command_cannot("out of memory");
  for (unsigned i = 0; i < count && code == 0; i++) code = read_one(request, operands->values[i], &readings, i);
  if (code == 0) code = tell(request, &outputs, &readings);
  readings_release(&readings);
  output_release(&outputs);
  return code;
}

static int run_report(const struct command *self, int argc, char **argv) {
  struct report_request request = {.rank_by = -1, .margin = -1};
  struct option_operands operands;
  enum option_result parsed = option_parse(self, argc, argv, &request, &operands);
  if (parsed != OPTION_GO) return parsed == OPTION_DONE ? EXIT_FINE : EXIT_CANNOT;
  if (operands.count < 1)
    return command_fail(self, NULL, NULL, "no run file named; write one with 'weir bench -o run.jsonl'");
  if (operands.count > RUNS_MAX)
    return command_fail(self, NULL, NULL, "more than %d runs: nobody could compare them", RUNS_MAX);
  return report_files(self, &request, &operands);
}

const struct command cmd_report = {
    .name = "report",
    .synopsis = "[OPTION]... RUN.jsonl...",
    .summary = "show the results of run files again",
    .description =
        "Reads a run file that 'weir bench -o run.jsonl' wrote ('-' is standard input) and reports it; several, of "
        "machines,\n"
        "places or kernels, side by side.",
    .examples =
        "  weir report run.jsonl\n"
        "  weir report run.jsonl -o run.html\n"
        "  weir report before.jsonl after.jsonl -o both.html\n"
        "  weir report run.jsonl --rank-by cpu --margin 5%\n",
    .options = rows,
    .run = run_report,
};
