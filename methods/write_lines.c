/*
 * write_lines.c - writers of lines that lie ready in memory, each with its end: line by line through a stream of the C
 * library, from UTF-8 or UTF-16, many at once by writev(2), through a buffer of their own, and each by a call of its own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode.h"
#include "encode.h"
#include "outlet.h"

/* A text that lies ready can be taken as its lines. */
#define LINES_TASKS (WEIR_BIT(WEIR_TASK_LINES) | WEIR_BIT(WEIR_TASK_TEXT))

/* Lines between two looks at the flow's stop. */
#define BATCH 256u

/* Writes the lines [from, to); `state` is the method's. */
typedef int write_batch(void *state, const struct weir_job *job, struct weir_flow *flow, size_t from, size_t to);

/* All lines, then `rest` (NULL: nothing) for what the method still keeps. */
static int write_all(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget, write_batch *batch,
                     int (*rest)(void *state, const struct weir_job *job, struct weir_flow *flow)) {
  const size_t count = job->input->item_count;
  if (budget == 0) return 0;
  for (size_t from = 0; from < count; from += BATCH) {
    if (weir_stopped(flow)) return 0;
    int error = batch(state, job, flow, from, count - from < BATCH ? count : from + BATCH);
    if (error) return error;
  }
  int error = rest ? rest(state, job, flow) : 0;
  if (!error) flow->operations++;
  return error;
}

static int flush_stream(void *state, const struct weir_job *job, struct weir_flow *flow) {
  (void)flow;
  return outlet_flush(state, job);
}

static int setup_nothing(void *state, const struct weir_job *job) { return 0; }

/* ---- lines/fputs --------------------------------------------------------------------------------------------------- */

static int fputs_setup(void *state, const struct weir_job *job) { return outlet_setup_stream(state, job); }

static int fputs_batch(void *state, const struct weir_job *job, struct weir_flow *flow, size_t from, size_t to) {
  const struct weir_span *items = job->input->items;
  errno = 0;
  for (int error; from < to; from++)
    if ((error = outlet_put(state, job, flow, items[from].data, items[from].size)) != 0) return error;
  return 0;
}

static int fputs_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  return write_all(state, job, flow, budget, fputs_batch, flush_stream);
}

static const struct weir_param fputs_params[] = {OUTLET_STREAM_PARAMS("4KiB", "4KiB|64KiB")};

const struct weir_method methods_lines_fputs = {OUTLET_METHOD,
                                                .name = "lines/fputs",
                                                .summary = "line by line through a stream of the C library",
                                                .calls = "fdopen(3), setvbuf(3), fwrite(3) or fwrite_unlocked(3), fflush(3)",
                                                .tasks = LINES_TASKS,
                                                .params = fputs_params,
                                                .param_count = METHODS_COUNT(fputs_params),
                                                .state_size = sizeof(struct outlet),
                                                .setup = fputs_setup,
                                                .run = fputs_run,
                                                .teardown = outlet_teardown};

/* ---- lines/encode -------------------------------------------------------------------------------------------------- */

/* The lines as a program holds them whose strings are UTF-16. */
struct wide_line {
  const uint16_t *units;
  size_t count;
};

struct encode_state {
  struct outlet outlet;
  struct wide_line *lines;
  uint16_t *units;
  char *line; /* one of them in UTF-8 */
  size_t line_size;
};

/* What is no UTF-8 would come out as something else. */
static int widen_all(struct encode_state *s, const struct weir_job *job) {
  uint16_t *out = s->units;
  for (size_t i = 0; i < job->input->item_count; i++) {
    const struct weir_span *line = &job->input->items[i];
    struct decode decode = {.begun = true}; /* a mark is a character here */
    size_t count = decode_units(&decode, line->data, line->size, out);
    count += decode_end(&decode, out + count);
    if (decode.invalid) return job->host->fail(job, -EILSEQ, "line %zu is not UTF-8", i + 1);
    s->lines[i] = (struct wide_line){out, count};
    out += count;
    if (line->size > s->line_size) s->line_size = line->size;
  }
  return 0;
}

static int encode_setup(void *state, const struct weir_job *job) {
  struct encode_state *s = state;
  s->lines = calloc(job->input->item_count + 1, sizeof *s->lines);
  s->units = calloc(decode_room(job->input->size), sizeof *s->units);
  if (!s->lines || !s->units) return job->host->fail(job, -ENOMEM, "no memory for the lines in UTF-16");
  int error = widen_all(s, job);
  if (error) return error;
  s->line_size += ENCODE_MOST; /* the least that can be filled */
  s->line = malloc(s->line_size);
  if (!s->line) return job->host->fail(job, -ENOMEM, "no memory for a line of %zu bytes", s->line_size);
  return outlet_setup_stream(&s->outlet, job);
}

static int encode_batch(void *state, const struct weir_job *job, struct weir_flow *flow, size_t from, size_t to) {
  struct encode_state *s = state;
  errno = 0;
  for (; from < to; from++) {
    struct encode encode = {.units = s->lines[from].units, .end = s->lines[from].units + s->lines[from].count};
    const size_t size = encode_fill(&encode, s->line, s->line_size);
    int error = outlet_put(&s->outlet, job, flow, s->line, size);
    if (error) return error;
  }
  return 0;
}

static int encode_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  return write_all(state, job, flow, budget, encode_batch, flush_stream);
}

static void encode_teardown(void *state, const struct weir_job *job) {
  struct encode_state *s = state;
  free(s->line);
  free(s->units);
  free(s->lines);
  outlet_teardown(&s->outlet, job);
}

static const struct weir_param encode_params[] = {OUTLET_STREAM_PARAMS("4KiB", NULL)};

const struct weir_method methods_lines_encode = {OUTLET_METHOD,
                                                 .name = "lines/encode",
                                                 .summary = "line by line from UTF-16 through a stream of the C library",
                                                 .calls = "UTF-16 to UTF-8, then as lines/fputs",
                                                 .tasks = LINES_TASKS,
                                                 .params = encode_params,
                                                 .param_count = METHODS_COUNT(encode_params),
                                                 .state_size = sizeof(struct encode_state),
                                                 .setup = encode_setup,
                                                 .run = encode_run,
                                                 .teardown = encode_teardown};

/* ---- lines/writev -------------------------------------------------------------------------------------------------- */

enum { WRITEV_PIECES = OUTLET_OWN };
#define PIECES_MAX 1024u /* IOV_MAX of Linux */

struct writev_state {
  struct outlet outlet;
  struct os_piece *pieces;
  unsigned most, count;
};

static int writev_setup(void *state, const struct weir_job *job) {
  struct writev_state *s = state;
  s->most = (unsigned)job->params[WRITEV_PIECES];
  s->pieces = calloc(s->most, sizeof *s->pieces);
  return s->pieces ? 0 : job->host->fail(job, -ENOMEM, "no memory for %u pieces", s->most);
}

static int writev_rest(void *state, const struct weir_job *job, struct weir_flow *flow) {
  struct writev_state *s = state;
  const unsigned count = s->count;
  s->count = 0;
  return outlet_write_pieces(&s->outlet, job, flow, s->pieces, count);
}

static int writev_batch(void *state, const struct weir_job *job, struct weir_flow *flow, size_t from, size_t to) {
  struct writev_state *s = state;
  const struct weir_span *items = job->input->items;
  for (; from < to; from++) {
    s->pieces[s->count++] = (struct os_piece){(void *)(uintptr_t)items[from].data, items[from].size};
    int error = s->count == s->most ? writev_rest(s, job, flow) : 0;
    if (error) return error;
  }
  return 0;
}

static int writev_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  ((struct writev_state *)state)->count = 0;
  return write_all(state, job, flow, budget, writev_batch, writev_rest);
}

static void writev_teardown(void *state, const struct weir_job *job) {
  free(((struct writev_state *)state)->pieces);
  outlet_teardown(state, job);
}

static const struct weir_param writev_params[] = {OUTLET_PARAMS, [WRITEV_PIECES] = {.name = "pieces",
                                                                                    .kind = WEIR_PARAM_COUNT,
                                                                                    .preset = "64",
                                                                                    .sweep = "64|1024",
                                                                                    .min = 1,
                                                                                    .max = PIECES_MAX,
                                                                                    WEIR_PARAM_EVERYWHERE,
                                                                                    .help = "lines a call"}};

const struct weir_method methods_lines_writev = {OUTLET_METHOD,
                                                 .name = "lines/writev",
                                                 .summary = "many lines a call, from where they lie",
                                                 .calls = "open(2), writev(2) in a loop",
                                                 .tasks = LINES_TASKS,
                                                 .params = writev_params,
                                                 .param_count = METHODS_COUNT(writev_params),
                                                 .state_size = sizeof(struct writev_state),
                                                 .setup = writev_setup,
                                                 .run = writev_run,
                                                 .teardown = writev_teardown};

/* ---- lines/buffer -------------------------------------------------------------------------------------------------- */

enum { BUFFER_BLOCK = OUTLET_OWN };

struct buffer_state {
  struct outlet outlet;
  char *block;
  size_t size, used;
};

static int buffer_setup(void *state, const struct weir_job *job) {
  struct buffer_state *s = state;
  s->size = (size_t)job->params[BUFFER_BLOCK];
  void *block = NULL;
  int error = job->host->buffer_get(job, s->size, 1, WEIR_BUFFER_REUSED, &block);
  s->block = block;
  return error ? job->host->fail(job, error, "no memory for a buffer of %zu bytes", s->size) : 0;
}

static int buffer_rest(void *state, const struct weir_job *job, struct weir_flow *flow) {
  struct buffer_state *s = state;
  const size_t used = s->used;
  s->used = 0;
  return outlet_write(&s->outlet, job, flow, s->block, used);
}

/* Every write is a full buffer, so a line that does not fit goes on in the next one. */
static int buffer_long(struct buffer_state *s, const struct weir_job *job, struct weir_flow *flow, struct weir_span line) {
  while (line.size > 0) {
    const size_t fits = s->size - s->used < line.size ? s->size - s->used : line.size;
    memcpy(s->block + s->used, line.data, fits);
    s->used += fits;
    line.data += fits;
    line.size -= fits;
    int error = s->used == s->size ? buffer_rest(s, job, flow) : 0;
    if (error) return error;
  }
  return 0;
}

static int buffer_batch(void *state, const struct weir_job *job, struct weir_flow *flow, size_t from, size_t to) {
  struct buffer_state *s = state;
  const struct weir_span *items = job->input->items;
  for (; from < to; from++) {
    if (items[from].size < s->size - s->used) {
      memcpy(s->block + s->used, items[from].data, items[from].size);
      s->used += items[from].size;
      continue;
    }
    int error = buffer_long(s, job, flow, items[from]);
    if (error) return error;
  }
  return 0;
}

static int buffer_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  ((struct buffer_state *)state)->used = 0;
  return write_all(state, job, flow, budget, buffer_batch, buffer_rest);
}

static void buffer_teardown(void *state, const struct weir_job *job) {
  struct buffer_state *s = state;
  if (s->block) job->host->buffer_put(job, s->block, s->size);
  outlet_teardown(state, job);
}

static const struct weir_param buffer_params[] = {
    OUTLET_PARAMS, [BUFFER_BLOCK] = {.name = "block",
                                     .kind = WEIR_PARAM_SIZE,
                                     .preset = "64KiB",
                                     .min = 1,
                                     .max = OUTLET_SIZE_MAX,
                                     WEIR_PARAM_EVERYWHERE,
                                     .help = "bytes of the buffer, and of each write"}};

const struct weir_method methods_lines_buffer = {OUTLET_METHOD,
                                                 .name = "lines/buffer",
                                                 .summary = "lines collected in a buffer that is written when it is full",
                                                 .calls = "open(2), write(2) of full buffers",
                                                 .tasks = LINES_TASKS,
                                                 .params = buffer_params,
                                                 .param_count = METHODS_COUNT(buffer_params),
                                                 .state_size = sizeof(struct buffer_state),
                                                 .setup = buffer_setup,
                                                 .run = buffer_run,
                                                 .teardown = buffer_teardown};

/* ---- lines/each ---------------------------------------------------------------------------------------------------- */

static int each_batch(void *state, const struct weir_job *job, struct weir_flow *flow, size_t from, size_t to) {
  const struct weir_span *items = job->input->items;
  for (int error; from < to; from++)
    if ((error = outlet_write(state, job, flow, items[from].data, items[from].size)) != 0) return error;
  return 0;
}

static int each_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  return write_all(state, job, flow, budget, each_batch, NULL);
}

static const struct weir_param each_params[] = {OUTLET_PARAMS};

/* A durable call for each line would take minutes for what the others do in seconds. */
const struct weir_method methods_lines_each = {
    METHODS_ABI,
    .directions = WEIR_BIT(WEIR_WRITE),
    .durabilities = WEIR_BIT(WEIR_DURABILITY_NONE) | WEIR_BIT(WEIR_DURABILITY_END),
    .accesses = WEIR_BIT(WEIR_SEQUENTIAL),
    .probe = outlet_probe,
    .open = outlet_open,
    .sync = outlet_sync,
    .close = outlet_close,
    .name = "lines/each",
    .summary = "each line by a call of its own",
    .calls = "open(2), write(2) in a loop",
    .tasks = LINES_TASKS,
    .params = each_params,
    .param_count = METHODS_COUNT(each_params),
    .state_size = sizeof(struct outlet),
    .setup = setup_nothing,
    .run = each_run,
    .teardown = outlet_teardown};
