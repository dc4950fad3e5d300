/*
 * weir_write.c - libweir among the writers of lines and text: lines or pieces put into a writer, and UTF-16 encoded into the
 * writer's own buffer. Uses the library through weir.h.
 */
#include <errno.h>

#include "weir_job.h"

#define PARAM_NO_YES(word, text) \
  { .name = (word), .kind = WEIR_PARAM_CHOICE, .preset = "no", .choices = "no|yes", WEIR_PARAM_EVERYWHERE, .help = (text) }

#define WEIR_WRITES METHODS_ABI, METHODS_WRITES, .accesses = WEIR_BIT(WEIR_SEQUENTIAL)

/* ---- a writer for one pass ----------------------------------------------------------------------------------------- */

enum { WRITER_STRATEGY, WRITER_BUFFER, WRITER_RESERVE, WRITER_OWN };

struct writer_state {
  struct weir_writer writer;
  struct weir_file *file; /* beneath a writer whose every write is durable; NULL: the writer's own */
  bool finished;
};

static int nothing(void *state, const struct weir_job *job) { return 0; }

/* A writer sees to it that direct requests are whole sectors, whatever the size of the file. */
static int writer_probe(const struct weir_job *job, struct weir_reason *reason) {
  struct weir_job aligned = *job;
  aligned.block = UINT64_C(1) << 20;
  return weir_job_probe(&aligned, job->params[WRITER_STRATEGY], reason);
}

static int open_through(struct writer_state *s, const struct weir_job *job, const struct weir_writer_options *options) {
  const struct weir_job_wish wish = {.strategy = options->strategy,
                                     .extend = options->expected_bytes ? TARGET_ALLOCATE : TARGET_GROW,
                                     .write_through = true};
  int code = weir_job_open(job, &wish, &s->file);
  if (code < 0) return code;
  const struct weir_writer_options on_file = {.strategy = options->strategy, .buffer_bytes = options->buffer_bytes};
  code = weir_writer_open_file(&s->writer, s->file, &on_file, NULL);
  if (code == 0) return 0;
  (void)weir_file_close(s->file, NULL);
  return weir_job_refused(job, "opening for writing", code);
}

static int writer_open(void *state, const struct weir_job *job) {
  struct writer_state *s = state;
  struct weir_writer_options options = {.strategy = weir_job_strategy(job->params[WRITER_STRATEGY]),
                                        .buffer_bytes = (size_t)job->params[WRITER_BUFFER],
                                        .expected_bytes = job->params[WRITER_RESERVE] ? job->file_size : 0};
  if (job->target == WEIR_TARGET_NEW) options.flags |= WEIR_NEW;
  if (job->durability == WEIR_DURABILITY_END) options.flags |= WEIR_DURABLE;
  s->file = NULL;
  s->finished = false;
  if (job->durability == WEIR_DURABILITY_EACH) return open_through(s, job, &options);
  int code = weir_writer_open(&s->writer, job->path, &options, NULL);
  return code < 0 ? weir_job_refused(job, "opening for writing", code) : 0;
}

static int writer_failed(struct writer_state *s, const struct weir_job *job) {
  int code = weir_job_failed(job, "writing", weir_writer_error(&s->writer));
  weir_writer_abandon(&s->writer);
  s->finished = true;
  return code;
}

/* All is put. What is durable at the end is flushed in the sync phase, with the rest of the buffer. */
static int writer_done(struct writer_state *s, const struct weir_job *job, struct weir_flow *flow) {
  if (job->durability != WEIR_DURABILITY_END && weir_writer_flush(&s->writer) < 0) return writer_failed(s, job);
  flow->operations++;
  return 0;
}

static int finish(struct writer_state *s, const struct weir_job *job, const char *doing) {
  s->finished = true;
  int code = weir_writer_finish(&s->writer, NULL);
  return code < 0 ? weir_job_refused(job, doing, code) : 0;
}

static int writer_sync(void *state, const struct weir_job *job) { return finish(state, job, "flushing to storage"); }

static int writer_close(void *state, const struct weir_job *job) {
  struct writer_state *s = state;
  const int finished = s->finished ? 0 : finish(s, job, "closing");
  const int closed = s->file ? weir_job_close(job, s->file) : 0;
  return finished ? finished : closed;
}

static void writer_teardown(void *state, const struct weir_job *job) {}

#define WRITER_PARAMS                                                        \
  [WRITER_STRATEGY] = WEIR_JOB_PARAM_STRATEGY,                               \
  [WRITER_BUFFER] = {.name = "buffer",                                       \
                     .kind = WEIR_PARAM_SIZE,                                \
                     .preset = "0",                                          \
                     .min = 0,                                               \
                     .max = UINT64_C(1) << 30,                               \
                     WEIR_PARAM_EVERYWHERE,                                  \
                     .help = "the writer's buffer; 0: the library chooses"}, \
  [WRITER_RESERVE] = PARAM_NO_YES("reserve", "is the writer told the size of what comes")

#define WRITER_METHOD                                                                                                   \
  WEIR_WRITES, .state_size = sizeof(struct writer_state), .probe = writer_probe, .setup = nothing, .open = writer_open, \
               .sync = writer_sync, .close = writer_close, .teardown = writer_teardown

/* ---- weir/write-lines ---------------------------------------------------------------------------------------------- */

/* Lines between two looks at the flow's stop. */
#define BATCH 256u

/* Only the last line may lack its end. */
static int put_line(struct weir_writer *writer, const struct weir_span *line) {
  const bool ended = line->size > 0 && line->data[line->size - 1] == '\n';
  return ended ? weir_writer_put_line(writer, line->data, line->size - 1) : weir_writer_put(writer, line->data, line->size);
}

static int put_lines(struct writer_state *s, const struct weir_job *job, struct weir_flow *flow, size_t from, size_t to) {
  const struct weir_span *items = job->input->items;
  const uint64_t before = weir_writer_size(&s->writer);
  for (; from < to; from++)
    if (put_line(&s->writer, &items[from]) < 0) return writer_failed(s, job);
  weir_passed(flow, weir_writer_size(&s->writer) - before);
  return 0;
}

static int lines_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct writer_state *s = state;
  const size_t count = job->input->item_count;
  if (budget == 0) return 0;
  for (size_t from = 0; from < count; from += BATCH) {
    if (weir_stopped(flow)) return 0;
    int error = put_lines(s, job, flow, from, count - from < BATCH ? count : from + BATCH);
    if (error) return error;
  }
  return writer_done(s, job, flow);
}

static const struct weir_param lines_params[] = {WRITER_PARAMS};

const struct weir_method methods_weir_write_lines = {
    WRITER_METHOD,
    .name = "weir/write-lines",
    .summary = "libweir: line by line into a writer",
    .calls = "weir_writer_open(3), weir_writer_put_line(3), weir_writer_finish(3)",
    .tasks = WEIR_BIT(WEIR_TASK_LINES) | WEIR_BIT(WEIR_TASK_TEXT),
    .params = lines_params,
    .param_count = METHODS_COUNT(lines_params),
    .run = lines_run};

/* ---- weir/write-pieces --------------------------------------------------------------------------------------------- */

enum { PIECES_BLOCK = WRITER_OWN };

static int pieces_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct writer_state *s = state;
  const struct weir_input *input = job->input;
  const size_t block = (size_t)job->params[PIECES_BLOCK];
  if (budget == 0) return 0;
  for (size_t at = 0; at < input->size; at += block) {
    const size_t size = input->size - at < block ? input->size - at : block;
    if (weir_stopped(flow)) return 0;
    if (weir_writer_put(&s->writer, input->data + at, size) < 0) return writer_failed(s, job);
    weir_passed(flow, size);
  }
  return writer_done(s, job, flow);
}

static const struct weir_param pieces_params[] = {WRITER_PARAMS, [PIECES_BLOCK] = {.name = "block",
                                                                                   .kind = WEIR_PARAM_SIZE,
                                                                                   .preset = "64KiB",
                                                                                   .min = 1,
                                                                                   .max = UINT64_C(1) << 30,
                                                                                   WEIR_PARAM_EVERYWHERE,
                                                                                   .help = "bytes of a piece that is put"}};

const struct weir_method methods_weir_write_pieces = {
    WRITER_METHOD,
    .name = "weir/write-pieces",
    .summary = "libweir: bytes that lie ready put piece by piece into a writer",
    .calls = "weir_writer_open(3), weir_writer_put(3), weir_writer_finish(3)",
    .tasks = WEIR_BIT(WEIR_TASK_TEXT),
    .params = pieces_params,
    .param_count = METHODS_COUNT(pieces_params),
    .run = pieces_run};

/* ---- weir/encode --------------------------------------------------------------------------------------------------- */

/* The room asked of the writer at once, its most. */
#define ROOM (64u << 10)

static enum weir_encoding machine_encoding(void) {
  const uint16_t one = 1;
  return *(const unsigned char *)&one ? WEIR_UTF16LE : WEIR_UTF16BE;
}

/* Until the text is used up. */
static int encode_room(struct writer_state *s, const struct weir_job *job, struct weir_flow *flow,
                       struct weir_decoder *decoder, struct weir_slice *in) {
  char *const room = weir_writer_reserve(&s->writer, ROOM);
  if (!room) return writer_failed(s, job);
  char *out = room;
  size_t left = ROOM;
  const int code = weir_decode(decoder, in, &out, &left, true);
  if (code < 0) return weir_job_failed_at(job, "encoding", decoder->offset, in->size, code);
  if (weir_writer_commit(&s->writer, (size_t)(out - room)) < 0) return writer_failed(s, job);
  weir_passed(flow, (uint64_t)(out - room));
  return 0;
}

static int encode_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct writer_state *s = state;
  struct weir_slice in = {(const char *)job->input->units, 2 * job->input->unit_count};
  struct weir_decoder decoder;
  if (budget == 0) return 0;
  int code = weir_decoder_init(&decoder, machine_encoding(), WEIR_UTF8, true);
  if (code < 0) return weir_job_refused(job, "beginning to encode", code);
  while (in.size > 0) {
    if (weir_stopped(flow)) return 0;
    int error = encode_room(s, job, flow, &decoder, &in);
    if (error) return error;
  }
  return writer_done(s, job, flow);
}

static const struct weir_param encode_params[] = {WRITER_PARAMS};

const struct weir_method methods_weir_encode = {WRITER_METHOD,
                                                .name = "weir/encode",
                                                .summary = "libweir: UTF-16 encoded into a writer's buffer",
                                                .calls =
                                                    "weir_writer_open(3), weir_writer_reserve(3), weir_decode(3), "
                                                    "weir_writer_commit(3), weir_writer_finish(3)",
                                                .tasks = WEIR_BIT(WEIR_TASK_TEXT),
                                                .params = encode_params,
                                                .param_count = METHODS_COUNT(encode_params),
                                                .run = encode_run};
