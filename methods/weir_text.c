/*
 * weir_text.c - libweir among the readers of text: a whole text looked through by one call, and blocks decoded to UTF-16 as
 * they come. Uses the library as any program would, through weir.h.
 */
#include <errno.h>
#include <string.h>

#include "feed.h"
#include "weir_job.h"

/* The three bytes of a mark (BOM), which the library leaves out. */
static const char mark[] = "\xef\xbb\xbf";
#define MARK_BYTES (sizeof mark - 1)

/* ---- weir/read-text ------------------------------------------------------------------------------------------------ */

enum { TEXT_BUFFER };
enum { FRESH, REUSED };

static int no_step(void *state, const struct weir_job *job) {
  (void)state, (void)job; /* the call does it all */
  return 0;
}

static int text_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct weir_bytes *text = state;
  struct weir_error error;
  const uint64_t began = weir_operation_begin(flow);
  if (budget == 0 || weir_stopped(flow)) return 0;
  const int code = weir_read_text(job->path, WEIR_UTF8, false, text, &error);
  if (code == WEIR_EILSEQ) target_remedy(job, "use weir/decode, which replaces what is no UTF-8");
  if (code < 0) return weir_job_failed(job, "reading", &error);
  const uint64_t left_out = job->part_length - text->size;
  if (left_out != 0 && left_out != MARK_BYTES) return target_ended(job, text->size);
  if (left_out) weir_deliver(flow, 0, mark, MARK_BYTES);
  weir_deliver(flow, left_out, text->data, text->size);
  weir_operation_end(flow, began);
  return 0;
}

static int text_close(void *state, const struct weir_job *job) {
  if (job->params[TEXT_BUFFER] == FRESH) weir_bytes_free(state);
  return 0;
}

static void text_teardown(void *state, const struct weir_job *job) {
  (void)job;
  weir_bytes_free(state);
}

static const struct weir_param text_params[] = {
    [TEXT_BUFFER] = {.name = "buffer",
                     .kind = WEIR_PARAM_CHOICE,
                     .preset = "fresh",
                     .choices = "fresh|reused",
                     WEIR_PARAM_EVERYWHERE,
                     .help = "a struct weir_bytes for each file, or, from the second pass on, one that held a file before"}};

const struct weir_method methods_weir_read_text = {METHODS_ABI,
                                                   FEED_READS,
                                                   .name = "weir/read-text",
                                                   .summary = "libweir: a whole text, looked through, by one call",
                                                   .calls = "weir_read_text(3)",
                                                   .tasks = WEIR_BIT(WEIR_TASK_TEXT),
                                                   .params = text_params,
                                                   .param_count = METHODS_COUNT(text_params),
                                                   .state_size = sizeof(struct weir_bytes),
                                                   .setup = no_step,
                                                   .open = no_step,
                                                   .run = text_run,
                                                   .close = text_close,
                                                   .teardown = text_teardown};

/* ---- weir/decode --------------------------------------------------------------------------------------------------- */

enum { DECODE_BLOCK };

struct decoding {
  struct weir_stream *stream;
  struct weir_decoder decoder;
  void *units; /* all of the text */
  size_t room; /* in bytes; one unit for each byte of the file is enough, and 6 bytes more are asked for */
  char *out;
  size_t left;
};
#define SPARE_BYTES 6u

static enum weir_encoding native(void) {
  const uint16_t one = 1;
  unsigned char first;
  memcpy(&first, &one, 1);
  return first ? WEIR_UTF16LE : WEIR_UTF16BE;
}

static int decode_setup(void *state, const struct weir_job *job) {
  struct decoding *s = state;
  if (job->part_length > SIZE_MAX / 4) return job->host->fail(job, -EOVERFLOW, "the text does not fit into memory");
  s->room = 2 * (size_t)job->part_length + SPARE_BYTES;
  int error = job->host->buffer_get(job, s->room, 1, WEIR_BUFFER_REUSED, &s->units);
  return error ? job->host->fail(job, error, "no memory for a text of %zu bytes", s->room) : 0;
}

static int decode_open(void *state, const struct weir_job *job) {
  struct decoding *s = state;
  const struct weir_stream_options options = {.block_bytes = (size_t)job->params[DECODE_BLOCK]};
  int code = weir_decoder_init(&s->decoder, WEIR_UTF8, native(), true);
  if (code == 0) code = weir_stream_open(job->path, &options, &s->stream, NULL);
  return code < 0 ? weir_job_refused(job, "opening for reading", code) : 0;
}

static int decode_block(struct decoding *s, const struct weir_job *job, struct weir_slice block, bool last) {
  const int code = weir_decode(&s->decoder, &block, &s->out, &s->left, last);
  if (code < 0) return weir_job_refused(job, "decoding", code);
  return code == WEIR_MORE ? job->host->fail(job, -EFBIG, "the file grew while it was read") : 0;
}

/* A mark is left out. */
static struct weir_slice without_mark(struct weir_slice first) {
  size_t bytes = 0;
  if (weir_detect(first.data, first.size, &bytes) != WEIR_UTF8) bytes = 0;
  return (struct weir_slice){first.data + bytes, first.size - bytes};
}

/* All blocks, as long as the flow is not stopped; 1 at the end of the file. */
static int decode_all(struct decoding *s, const struct weir_job *job, const struct weir_flow *flow) {
  uint64_t at = 0;
  while (!weir_stopped(flow)) {
    struct weir_slice block = {mark, 0};
    const int more = weir_stream_next(s->stream, &block);
    if (more < 0) return weir_job_failed(job, "reading", weir_stream_error(s->stream));
    if (more == 0 && at < job->part_length) return target_ended(job, at);
    const struct weir_slice text = more && at == 0 ? without_mark(block) : block;
    at += block.size;
    int error = decode_block(s, job, text, more == 0);
    if (error || more == 0) return error ? error : 1;
  }
  return 0;
}

static int decode_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct decoding *s = state;
  const uint64_t began = weir_operation_begin(flow);
  if (budget == 0) return 0;
  s->out = s->units;
  s->left = s->room;
  const int ended = decode_all(s, job, flow);
  if (ended <= 0) return ended;
  weir_units(flow, s->units, (s->room - s->left) / 2);
  weir_operation_end(flow, began);
  return 0;
}

static int decode_close(void *state, const struct weir_job *job) {
  int code = weir_stream_close(((struct decoding *)state)->stream, NULL);
  if (code == 0 || job->reason->text[0]) return code; /* a failure that was told already comes once more */
  return weir_job_refused(job, "closing", code);
}

static void decode_teardown(void *state, const struct weir_job *job) {
  struct decoding *s = state;
  if (s->units) job->host->buffer_put(job, s->units, s->room);
}

static const struct weir_param decode_params[] = {[DECODE_BLOCK] = {.name = "block",
                                                                    .kind = WEIR_PARAM_SIZE,
                                                                    .preset = "64KiB",
                                                                    .min = 4096,
                                                                    .max = UINT64_C(1) << 30,
                                                                    WEIR_PARAM_EVERYWHERE,
                                                                    .help = "bytes of a read, decoded at a time"}};

const struct weir_method methods_weir_decode = {METHODS_ABI,
                                                FEED_READS,
                                                .name = "weir/decode",
                                                .summary = "libweir: blocks decoded to UTF-16 as they come",
                                                .calls = "weir_stream_next(3), weir_decode(3)",
                                                .tasks = WEIR_BIT(WEIR_TASK_TEXT),
                                                .params = decode_params,
                                                .param_count = METHODS_COUNT(decode_params),
                                                .state_size = sizeof(struct decoding),
                                                .setup = decode_setup,
                                                .open = decode_open,
                                                .run = decode_run,
                                                .close = decode_close,
                                                .teardown = decode_teardown};
