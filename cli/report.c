/* report.c - `weir report`: the results of a run file once more. Pure: the same file gives the same bytes. */
#include "report/report.h"

#include <errno.h>
#include <string.h>

#include "cli/output.h"
#include "cli/terminal.h"
#include "methods/methods.h"

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

static int tell(const struct report_request *request, const struct output_list *outputs, struct run *run) {
  struct summary summary;
  if (request->rank_by >= 0) run->plan.rank_by = (enum plan_rank)request->rank_by;
  if (request->margin >= 0) run->plan.margin = request->margin;
  if (stat_summarize(run, &summary) < 0) return EXIT_CANNOT;
  int code = output_write(outputs, &summary);
  if (code == 0 && summary.failed) code = EXIT_BAD_ANSWER;
  if (code == 0 && summary.inconclusive && request->strict) code = EXIT_UNSURE;
  stat_release(&summary);
  return code;
}

static int run_report(const struct command *self, int argc, char **argv) {
  struct report_request request = {.rank_by = -1, .margin = -1};
  struct option_operands operands;
  struct output_list outputs = {0};
  struct run run = {0};
  enum option_result parsed = option_parse(self, argc, argv, &request, &operands);
  if (parsed != OPTION_GO) return parsed == OPTION_DONE ? EXIT_FINE : EXIT_CANNOT;
  if (operands.count != 1)
    return command_fail(
        self, NULL, NULL,
        operands.count ? "one run file at a time" : "no run file named; write one with 'weir bench -o run.jsonl'");
  int code = output_prepare(self, &request.output, operands.values[0], &outputs);
  if (code == 0) code = read_run(operands.values[0], &run);
  if (code == 0) code = tell(&request, &outputs, &run);
  output_release(&outputs);
  run_release(&run);
  return code;
}

const struct command cmd_report = {
    .name = "report",
    .synopsis = "[OPTION]... RUN.jsonl",
    .summary = "show the results of a run file again",
    .description = "Reads a run file that 'weir bench -o run.jsonl' wrote ('-' is standard input) and reports it.",
    .examples =
        "  weir report run.jsonl\n"
        "  weir report run.jsonl -o run.json\n"
        "  weir report run.jsonl --rank-by cpu --margin 5%\n",
    .options = rows,
    .run = run_report,
};
