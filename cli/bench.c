/* bench.c - `weir bench`: plan, measure, stat, report. */
#include "cli/progress.h"
#include "cli/request.h"
#include "os/os.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const struct option_row rows[] = {
    REQUEST_DEMAND_ROWS,
    REQUEST_CONTENDER_ROWS,
    REQUEST_EFFORT_ROWS,
    OUTPUT_ROWS(struct request, output),
    {.name = "strict", .kind = OPTION_FLAG, .offset = REQUEST_AT(strict), .help = "exit 3 when the answer is not clear"},
    {.name = "quiet", .letter = 'q', .kind = OPTION_FLAG, .offset = REQUEST_AT(quiet), .help = "no progress and no notes"},
    {.name = "verbose",
     .letter = 'v',
     .kind = OPTION_FLAG,
     .offset = REQUEST_AT(verbose),
     .help = "a line for every sample, and for what does not work here"},
    {0},
};

static int measure(const struct request *request, struct output_list *outputs, struct run *run,
                   struct weir_reason *problem) {
  struct progress progress = progress_start(request->quiet);
  progress.verbose = request->verbose;
  struct measure_options options = {.methods = request->outside.methods,
                                    .worker_arguments = request->outside.worker_arguments,
                                    .memory_limit = request->memory.values[0],
                                    .quiet_wait_ns = request->quiet_wait_ns,
                                    .interrupted = command_interrupts(),
                                    .stream = output_live(outputs),
                                    .observer = progress_observer(&progress)};
  if (!request->quiet) fprintf(stderr, "seed: 0x%" PRIX64 "\n", run->plan.seed);
  int code = measure_run(run, &options, problem);
  progress_end(&progress);
  return code;
}

/* What was measured, told; also what an interrupt left. */
static int tell(const struct request *request, const struct output_list *outputs, const struct run *run) {
  struct summary summary;
  if (stat_summarize(run, &summary) < 0) return EXIT_CANNOT;
  int code = output_write(outputs, &summary);
  if (code == 0 && run->interrupted) code = EXIT_INTERRUPTED;
  if (code == 0 && summary.failed) code = EXIT_BAD_ANSWER;
  if (code == 0 && summary.inconclusive && request->strict) code = EXIT_UNSURE;
  stat_release(&summary);
  if (!request->quiet && !output_keeps_samples(outputs))
    fprintf(stderr, "samples were not kept; with -o run.jsonl, 'weir report run.jsonl' shows them again\n");
  return code;
}

static bool has_rounds(const struct run *run) {
  for (size_t i = 0; i < run->sample_count; i++)
    if (!(run->samples[i].flags & (RUN_PILOT | RUN_BURN_IN))) return true;
  return false;
}

static int measure_and_tell(const struct request *request, struct output_list *outputs, struct run *run) {
  struct weir_reason problem = {{0}, {0}};
  int code = os_interrupts_catch(command_interrupts());
  if (code == 0) code = measure(request, outputs, run, &problem);
  if (code == 0 || code == -EINTR) return tell(request, outputs, run);
  if (has_rounds(run)) tell(request, outputs, run); /* a run that breaks in its middle keeps what it has, like Ctrl-C */
  const char *text = problem.text[0] ? problem.text : strerror(-code);
  return command_cannot("%s%s%s", text, problem.remedy[0] ? "; " : "", problem.remedy);
}

static int bench(const struct command *self, const struct request *request, int argc, char **argv) {
  struct output_list outputs = {0};
  struct run run = {0};
  if (request->quiet && request->verbose) return command_fail(self, "--verbose", NULL, "goes not with --quiet");
  int code = request_plan(self, request, argc, argv, &run);
  if (code == 0) code = output_prepare(self, &request->output, request->plan.file, &outputs);
  if (code == 0) request_notes(request, &run.plan);
  if (code == 0) code = measure_and_tell(request, &outputs, &run);
  output_release(&outputs);
  run_release(&run);
  return code;
}

static int run_bench(const struct command *self, int argc, char **argv) {
  struct request request;
  enum option_result parsed = request_parse(self, argc, argv, &request);
  int code = parsed == OPTION_BAD ? EXIT_CANNOT : EXIT_FINE;
  if (parsed == OPTION_GO) code = bench(self, &request, argc, argv);
  request_release(&request);
  return code;
}

const struct command cmd_bench = {
    .name = "bench",
    .synopsis = "[OPTION]... [FILE]",
    .summary = "measure ways to read and write files side by side",
    .description =
        "Measures every way that fits, in random order, round after round, and ranks them with ties. Files are made in\n"
        "the current directory and removed. FILE is only read.",
    .examples =
        "  weir bench                                  the usual uses, in about a minute\n"
        "  weir bench --task whole --size 1GiB         one use, all methods\n"
        "  weir bench -m 'fd/pread[block=64KiB|1MiB]' -m map/view -o run.jsonl data.bin\n"
        "                                              some methods on a file of yours; keeps every sample\n",
    .options = rows,
    .run = run_bench,
};
