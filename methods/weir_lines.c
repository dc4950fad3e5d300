/*
 * weir_lines.c - libweir among the readers of lines: one by one, by the block, each copied, and all at once. Uses the
 * library as any program would, through weir.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "feed.h"
#include "weir_job.h"

#define LINES_TASKS .tasks = WEIR_BIT(WEIR_TASK_LINES) | WEIR_BIT(WEIR_TASK_TEXT)

enum { PARAM_STRATEGY, PARAM_BLOCK };

/* The library as it chooses, or as it is told. */
#define PARAM_LINES_STRATEGY(words)                                                                             \
  {                                                                                                             \
    .name = "strategy", .kind = WEIR_PARAM_CHOICE, .preset = "auto", .choices = (words), WEIR_PARAM_EVERYWHERE, \
    .help = "as the library chooses, or what it is told"                                                        \
  }

static struct weir_lines_options options_of(const struct weir_job *job, size_t block) {
  static const enum weir_strategy strategies[] = {WEIR_AUTO, WEIR_BUFFERED, WEIR_MAPPED, WEIR_THREADS};
  return (struct weir_lines_options){.strategy = strategies[job->params[PARAM_STRATEGY]], .block_bytes = block};
}

/*
 * The last line ends at byte `end` of the file, without its LF and a CR that may stand before it: is that the end of the
 * job's file?
 */
static int check_end(const struct weir_job *job, uint64_t end) {
  return end + 2 < job->part_length ? target_ended(job, end) : 0;
}

/* ---- one after the other ------------------------------------------------------------------------------------------- */

static int lines_setup(void *state, const struct weir_job *job) {
  (void)state, (void)job;
  return 0;
}

static int lines_open(void *state, const struct weir_job *job) {
  const struct weir_lines_options options = options_of(job, (size_t)job->params[PARAM_BLOCK]);
  struct weir_error error;
  int code = weir_lines_open(state, job->path, &options, &error);
  return code < 0 ? weir_job_failed(job, "opening for reading", &error) : 0;
}

static int lines_close(void *state, const struct weir_job *job) {
  struct weir_error error;
  int code = weir_lines_close(state, &error);
  if (code == 0 || job->reason->text[0]) return code; /* a failure that was told already comes once more */
  return weir_job_failed(job, "closing", &error);
}

static void lines_teardown(void *state, const struct weir_job *job) { (void)state, (void)job; }

/* The three that follow are given lines whose address goes nowhere else, so that their place stays in registers. */

/* After the last line, which had `size` bytes, or an error. */
static int lines_end(struct weir_lines lines, const struct weir_job *job, struct weir_flow *flow, uint64_t began,
                     size_t size, int code) {
  uint64_t begin = 0;
  if (code < 0) return weir_job_failed(job, "reading", weir_lines_error(&lines));
  if (flow->items > 0) weir_lines_position(&lines, &begin, NULL);
  int error = check_end(job, begin + size);
  if (!error) weir_operation_end(flow, began);
  return error;
}

static inline int give_next(struct weir_lines *lines, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct weir_slice line = {NULL, 0};
  const uint64_t began = weir_operation_begin(flow);
  if (budget == 0) return 0;
  while (!weir_stopped(flow)) {
    const int more = weir_lines_next(lines, &line);
    if (more <= 0) return lines_end(*lines, job, flow, began, line.size, more);
    weir_item(flow, line.data, line.size);
  }
  return 0;
}

static inline int give_owned(struct weir_lines *lines, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct weir_slice line = {NULL, 0};
  const uint64_t began = weir_operation_begin(flow);
  if (budget == 0) return 0;
  while (!weir_stopped(flow)) {
    const int more = weir_lines_next(lines, &line);
    if (more <= 0) return lines_end(*lines, job, flow, began, line.size, more);
    char *copy = weir_slice_copy(line);
    if (!copy) return job->host->fail(job, -ENOMEM, "no memory for a line of %zu bytes", line.size);
    weir_item(flow, copy, line.size);
    free(copy);
  }
  return 0;
}

static inline int give_batch(struct weir_lines *lines, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct weir_batch batch;
  size_t size = 0;
  const uint64_t began = weir_operation_begin(flow);
  if (budget == 0) return 0;
  for (;;) {
    const int more = weir_lines_batch(lines, &batch);
    if (more <= 0) return lines_end(*lines, job, flow, began, size, more);
    for (size_t i = 0; i < batch.count; i++) {
      const struct weir_slice line = weir_batch_line(&batch, i);
      if (weir_stopped(flow)) return 0;
      weir_item(flow, line.data, line.size);
      size = line.size;
    }
  }
}

typedef int give_lines(struct weir_lines *lines, const struct weir_job *job, struct weir_flow *flow, uint64_t budget);

static inline int run_local(give_lines *give, struct weir_lines *kept, const struct weir_job *job, struct weir_flow *flow,
                            uint64_t budget) {
  struct weir_lines lines = *kept;
  const int code = give(&lines, job, flow, budget);
  *kept = lines;
  return code;
}

static int run_next(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  return run_local(give_next, state, job, flow, budget);
}

static int run_owned(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  return run_local(give_owned, state, job, flow, budget);
}

static int run_batch(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  return run_local(give_batch, state, job, flow, budget);
}

static const struct weir_param lines_params[] = {[PARAM_STRATEGY] = PARAM_LINES_STRATEGY("auto|buffered|mapped|threads"),
                                                 [PARAM_BLOCK] = {.name = "block",
                                                                  .kind = WEIR_PARAM_SIZE,
                                                                  .preset = "0",
                                                                  .min = 0,
                                                                  .max = UINT64_C(1) << 30,
                                                                  WEIR_PARAM_EVERYWHERE,
                                                                  .help = "bytes of a read; 0: the library chooses"}};

#define WEIR_LINES                                                                                                         \
  METHODS_ABI, FEED_READS, LINES_TASKS, .params = lines_params, .param_count = METHODS_COUNT(lines_params),                \
                                        .state_size = sizeof(struct weir_lines), .setup = lines_setup, .open = lines_open, \
                                        .close = lines_close, .teardown = lines_teardown

const struct weir_method methods_weir_lines_next = {WEIR_LINES, .name = "weir/lines-next",
                                                    .summary = "libweir: one line after the other",
                                                    .calls = "weir_lines_open(3), weir_lines_next(3)", .run = run_next};

const struct weir_method methods_weir_lines_batch = {WEIR_LINES, .name = "weir/lines-batch",
                                                     .summary = "libweir: all lines of a block at once",
                                                     .calls = "weir_lines_open(3), weir_lines_batch(3)", .run = run_batch};

const struct weir_method methods_weir_lines_owned = {WEIR_LINES,
                                                     .name = "weir/lines-owned",
                                                     .summary = "libweir: one line after the other, each in new memory",
                                                     .calls = "weir_lines_next(3), weir_slice_copy(3), free(3)",
                                                     .capabilities = WEIR_CAP_VARIANT,
                                                     .run = run_owned};

/* ---- all at once --------------------------------------------------------------------------------------------------- */

static int list_open(void *state, const struct weir_job *job) {
  (void)state, (void)job; /* the call does it all */
  return 0;
}

static int list_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct weir_line_list *list = state;
  const struct weir_lines_options options = options_of(job, 0);
  struct weir_error error;
  const uint64_t began = weir_operation_begin(flow);
  if (budget == 0 || weir_stopped(flow)) return 0;
  if (weir_read_lines(job->path, list, &options, &error) < 0) return weir_job_failed(job, "reading", &error);
  const struct weir_slice *last = list->count > 0 ? &list->line[list->count - 1] : NULL;
  int short_of = check_end(job, last ? (uint64_t)(last->data - list->line[0].data) + last->size : 0);
  if (short_of) return short_of;
  for (size_t i = 0; i < list->count; i++) {
    if (weir_stopped(flow)) return 0;
    weir_item(flow, list->line[i].data, list->line[i].size);
  }
  weir_operation_end(flow, began);
  return 0;
}

static int list_close(void *state, const struct weir_job *job) {
  (void)job;
  weir_line_list_free(state);
  return 0;
}

static const struct weir_param list_params[] = {[PARAM_STRATEGY] = PARAM_LINES_STRATEGY("auto|buffered")};

const struct weir_method methods_weir_read_lines = {METHODS_ABI,
                                                    FEED_READS,
                                                    LINES_TASKS,
                                                    .name = "weir/read-lines",
                                                    .summary = "libweir: an array of all lines by one call",
                                                    .calls = "weir_read_lines(3)",
                                                    .params = list_params,
                                                    .param_count = METHODS_COUNT(list_params),
                                                    .state_size = sizeof(struct weir_line_list),
                                                    .setup = lines_setup,
                                                    .open = list_open,
                                                    .run = list_run,
                                                    .close = list_close,
                                                    .teardown = lines_teardown};
