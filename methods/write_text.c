/*
 * write_text.c - writers of a text that lies ready in memory: as the bytes that the file will hold, in one call or in
 * blocks, or as UTF-16 that is encoded on the way, whole or step by step, here or by the C library's iconv.
 */
#include <errno.h>
#include <iconv.h>
#include <stdlib.h>

#include "encode.h"
#include "outlet.h"

#define PARAM_PIECE(word, usual, tried, least, text)                                                                      \
  {                                                                                                                       \
    .name = (word), .kind = WEIR_PARAM_SIZE, .preset = (usual), .sweep = (tried), .min = (least), .max = OUTLET_SIZE_MAX, \
    WEIR_PARAM_EVERYWHERE, .help = (text)                                                                                 \
  }

/* A whole text in pieces of `size` bytes, 0: in one. */
typedef int write_piece(struct outlet *outlet, const struct weir_job *job, struct weir_flow *flow, const void *data,
                        size_t length);
static inline int write_blocks(struct outlet *outlet, const struct weir_job *job, struct weir_flow *flow, size_t size,
                               write_piece *piece, bool *stopped) {
  const struct weir_input *input = job->input;
  if (size == 0) size = input->size;
  *stopped = false;
  for (size_t at = 0; at < input->size; at += size) {
    *stopped = weir_stopped(flow);
    if (*stopped) return 0;
    int error = piece(outlet, job, flow, input->data + at, input->size - at < size ? input->size - at : size);
    if (error) return error;
  }
  return 0;
}

/* ---- text/write ---------------------------------------------------------------------------------------------------- */

enum { WRITE_BLOCK = OUTLET_OWN };

static int write_setup(void *state, const struct weir_job *job) { return 0; }

static int write_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  bool stopped;
  if (budget == 0) return 0;
  int error = write_blocks(state, job, flow, (size_t)job->params[WRITE_BLOCK], outlet_write, &stopped);
  if (!error && !stopped) flow->operations++;
  return error;
}

static const struct weir_param write_params[] = {
    OUTLET_PARAMS, [WRITE_BLOCK] = PARAM_PIECE("block", "64KiB", "0|4KiB|64KiB|1MiB", 0, "bytes a call; 0: all by one")};

const struct weir_method methods_text_write = {OUTLET_METHOD,
                                               .name = "text/write",
                                               .summary = "bytes that lie ready, by one call or in blocks",
                                               .calls = "open(2), write(2)",
                                               .tasks = WEIR_BIT(WEIR_TASK_TEXT),
                                               .params = write_params,
                                               .param_count = METHODS_COUNT(write_params),
                                               .state_size = sizeof(struct outlet),
                                               .setup = write_setup,
                                               .run = write_run,
                                               .teardown = outlet_teardown};

/* ---- text/fwrite --------------------------------------------------------------------------------------------------- */

enum { FWRITE_BLOCK = OUTLET_STREAM_OWN };

static int fwrite_setup(void *state, const struct weir_job *job) { return outlet_setup_stream(state, job); }

static int fwrite_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  bool stopped;
  if (budget == 0) return 0;
  errno = 0;
  int error = write_blocks(state, job, flow, (size_t)job->params[FWRITE_BLOCK], outlet_put, &stopped);
  if (!error && !stopped) error = outlet_flush(state, job);
  if (!error && !stopped) flow->operations++;
  return error;
}

static const struct weir_param fwrite_params[] = {
    OUTLET_STREAM_PARAMS("4KiB", "4KiB|64KiB"), [FWRITE_BLOCK] =
                                                    PARAM_PIECE("block", "0", NULL, 0, "bytes a call; 0: all by one")};

const struct weir_method methods_text_fwrite = {OUTLET_METHOD,
                                                .name = "text/fwrite",
                                                .summary = "bytes that lie ready, through a stream of the C library",
                                                .calls = "fdopen(3), setvbuf(3), fwrite(3) or fwrite_unlocked(3), fflush(3)",
                                                .tasks = WEIR_BIT(WEIR_TASK_TEXT),
                                                .params = fwrite_params,
                                                .param_count = METHODS_COUNT(fwrite_params),
                                                .state_size = sizeof(struct outlet),
                                                .setup = fwrite_setup,
                                                .run = fwrite_run,
                                                .teardown = outlet_teardown};

/* ---- from UTF-16 --------------------------------------------------------------------------------------------------- */

struct encoding_state {
  struct outlet outlet;
  enum weir_buffer_policy policy;
  char *room; /* of the encoded text, or a step of it; NULL while there is none */
  size_t size;
  iconv_t iconv;
};

static int get_room(struct encoding_state *s, const struct weir_job *job) {
  void *room = NULL;
  int error = job->host->buffer_get(job, s->size, 1, s->policy, &room);
  s->room = room;
  return error ? job->host->fail(job, error, "no memory for a buffer of %zu bytes", s->size) : 0;
}

static void put_room(struct encoding_state *s, const struct weir_job *job) {
  if (s->room) job->host->buffer_put(job, s->room, s->size);
  s->room = NULL;
}

static void encoding_teardown(void *state, const struct weir_job *job) {
  put_room(state, job);
  outlet_teardown(state, job);
}

/* ---- text/encode-whole --------------------------------------------------------------------------------------------- */

enum { WHOLE_BUFFER = OUTLET_OWN };

/* The size is counted before the clock starts, for a program that knows its text. */
static int whole_setup(void *state, const struct weir_job *job) {
  struct encoding_state *s = state;
  s->policy = (enum weir_buffer_policy)job->params[WHOLE_BUFFER];
  s->size = encode_size(job->input->units, job->input->unit_count) + ENCODE_MOST;
  return s->policy == WEIR_BUFFER_REUSED ? get_room(s, job) : 0;
}

static int whole_open(void *state, const struct weir_job *job) {
  struct encoding_state *s = state;
  int error = outlet_open(state, job);
  if (error || s->room) return error;
  error = get_room(s, job);
  if (error) (void)outlet_close(state, job);
  return error;
}

static int whole_close(void *state, const struct weir_job *job) {
  struct encoding_state *s = state;
  if (s->policy != WEIR_BUFFER_REUSED) put_room(s, job);
  return outlet_close(state, job);
}

static int whole_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct encoding_state *s = state;
  struct encode encode = {.units = job->input->units, .end = job->input->units + job->input->unit_count};
  if (budget == 0 || weir_stopped(flow)) return 0;
  size_t size = encode_fill(&encode, s->room, s->size);
  size += encode_end(&encode, s->room + size);
  if (weir_stopped(flow)) return 0;
  int error = outlet_write(&s->outlet, job, flow, s->room, size);
  if (!error) flow->operations++;
  return error;
}

static const struct weir_param whole_params[] = {
    OUTLET_PARAMS, [WHOLE_BUFFER] = {.name = "buffer",
                                     .kind = WEIR_PARAM_CHOICE,
                                     .preset = "fresh",
                                     .choices = "fresh|reused|huge",
                                     WEIR_PARAM_EVERYWHERE,
                                     .help = "memory for the encoded text: new each time, "
                                             "used before, or new in huge pages"}};

const struct weir_method methods_text_encode_whole = {METHODS_ABI,
                                                      METHODS_WRITES,
                                                      .name = "text/encode-whole",
                                                      .summary = "UTF-16 encoded whole, then written by one call",
                                                      .calls = "UTF-16 to UTF-8, open(2), write(2)",
                                                      .tasks = WEIR_BIT(WEIR_TASK_TEXT),
                                                      .accesses = WEIR_BIT(WEIR_SEQUENTIAL),
                                                      .params = whole_params,
                                                      .param_count = METHODS_COUNT(whole_params),
                                                      .state_size = sizeof(struct encoding_state),
                                                      .probe = outlet_probe,
                                                      .setup = whole_setup,
                                                      .open = whole_open,
                                                      .run = whole_run,
                                                      .sync = outlet_sync,
                                                      .close = whole_close,
                                                      .teardown = encoding_teardown};

/* ---- text/encode-steps --------------------------------------------------------------------------------------------- */

enum { STEPS_STEP = OUTLET_OWN };
#define STEP_LEAST 4 /* ENCODE_MOST */

static int steps_setup(void *state, const struct weir_job *job) {
  struct encoding_state *s = state;
  s->policy = WEIR_BUFFER_REUSED;
  s->size = (size_t)job->params[STEPS_STEP];
  return get_room(s, job);
}

static int steps_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct encoding_state *s = state;
  struct encode encode = {.units = job->input->units, .end = job->input->units + job->input->unit_count};
  size_t size = 1;
  if (budget == 0) return 0;
  while (size > 0) {
    if (weir_stopped(flow)) return 0;
    size = encode_fill(&encode, s->room, s->size);
    int error = outlet_write(&s->outlet, job, flow, s->room, size);
    if (error) return error;
  }
  int error = outlet_write(&s->outlet, job, flow, s->room, encode_end(&encode, s->room));
  if (!error) flow->operations++;
  return error;
}

static const struct weir_param steps_params[] = {
    OUTLET_PARAMS, [STEPS_STEP] = PARAM_PIECE("step", "4KiB", "1KiB|4KiB|64KiB", STEP_LEAST,
                                              "bytes that are encoded and written at once")};

const struct weir_method methods_text_encode_steps = {OUTLET_METHOD,
                                                      .name = "text/encode-steps",
                                                      .summary = "UTF-16 encoded and written in small steps",
                                                      .calls = "UTF-16 to UTF-8, open(2), write(2)",
                                                      .tasks = WEIR_BIT(WEIR_TASK_TEXT),
                                                      .params = steps_params,
                                                      .param_count = METHODS_COUNT(steps_params),
                                                      .state_size = sizeof(struct encoding_state),
                                                      .setup = steps_setup,
                                                      .run = steps_run,
                                                      .teardown = encoding_teardown};

/* ---- iconv/encode -------------------------------------------------------------------------------------------------- */

/* The machine's byte order, which needs no mark. */
static iconv_t iconv_begin(void) {
  const uint16_t one = 1;
  return iconv_open("UTF-8", *(const unsigned char *)&one ? "UTF-16LE" : "UTF-16BE");
}

static int iconv_probe(const struct weir_job *job, struct weir_reason *reason) {
  const iconv_t trial = iconv_begin();
  if (trial == (iconv_t)-1)
    return target_unavailable(reason, -errno, "iconv from UTF-16 to UTF-8", "install the C library's converters (gconv)");
  (void)iconv_close(trial);
  return outlet_probe(job, reason);
}

static int iconv_begin_file(void *state, const struct weir_job *job) {
  struct encoding_state *s = state;
  int error = outlet_open(state, job);
  if (error) return error;
  s->iconv = iconv_begin();
  if (s->iconv != (iconv_t)-1) return 0;
  error = target_refused(job, "opening a converter", -errno);
  (void)outlet_close(state, job);
  return error;
}

static int iconv_end_file(void *state, const struct weir_job *job) {
  (void)iconv_close(((struct encoding_state *)state)->iconv);
  return outlet_close(state, job);
}

static int iconv_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct encoding_state *s = state;
  char *in = (char *)(uintptr_t)job->input->units;
  size_t left = 2 * job->input->unit_count;
  if (budget == 0) return 0;
  while (left > 0) {
    char *out = s->room;
    size_t room = s->size;
    if (weir_stopped(flow)) return 0;
    if (iconv(s->iconv, &in, &left, &out, &room) == (size_t)-1 && errno != E2BIG)
      return target_failed(job, "encoding", s->outlet.at, left, -errno);
    int error = outlet_write(&s->outlet, job, flow, s->room, (size_t)(out - s->room));
    if (error) return error;
  }
  flow->operations++;
  return 0;
}

static const struct weir_param iconv_params[] = {
    OUTLET_PARAMS, [STEPS_STEP] =
                       PARAM_PIECE("step", "64KiB", NULL, STEP_LEAST, "bytes that are encoded and written at once")};

const struct weir_method methods_iconv_encode = {METHODS_ABI,
                                                 METHODS_WRITES,
                                                 .name = "iconv/encode",
                                                 .summary = "UTF-16 encoded by the C library and written in steps",
                                                 .calls = "iconv_open(3), iconv(3), open(2), write(2)",
                                                 .tasks = WEIR_BIT(WEIR_TASK_TEXT),
                                                 .accesses = WEIR_BIT(WEIR_SEQUENTIAL),
                                                 .params = iconv_params,
                                                 .param_count = METHODS_COUNT(iconv_params),
                                                 .state_size = sizeof(struct encoding_state),
                                                 .probe = iconv_probe,
                                                 .setup = steps_setup,
                                                 .open = iconv_begin_file,
                                                 .run = iconv_run,
                                                 .sync = outlet_sync,
                                                 .close = iconv_end_file,
                                                 .teardown = encoding_teardown};
