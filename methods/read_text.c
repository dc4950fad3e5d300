/*
 * read_text.c - a file of text taken whole: as bytes, as one text, in steps into memory that is ready, and read to its end into
 * a text that grows.
 */
#include "text.h"

#include <errno.h>
#include <stdlib.h>

int text_no_memory(const struct weir_job *job) { return job->host->fail(job, -ENOMEM, "no memory for the text"); }

int text_check_size(const struct weir_job *job) {
  return job->part_length < SIZE_MAX / 8 ? 0 : job->host->fail(job, -EOVERFLOW, "the text does not fit into memory");
}

static void no_teardown(void *state, const struct weir_job *job) { (void)state, (void)job; }

/* ---- a text that grows --------------------------------------------------------------------------------------------- */

#define TEXT_LEAST 256u

int text_grow(struct text *t, const struct weir_job *job, size_t more) {
  size_t room = t->room ? 2 * t->room : TEXT_LEAST;
  if (t->count > SIZE_MAX / 8 || more > SIZE_MAX / 8) return text_no_memory(job);
  if (room < t->count + more) room = t->count + more;
  char *data = realloc(t->data, room * t->unit);
  if (!data) return text_no_memory(job);
  t->data = data;
  t->room = room;
  return 0;
}

int text_trim(struct text *t, const struct weir_job *job) {
  if (t->room == t->count) return 0;
  char *data = realloc(t->data, t->count > 0 ? t->count * t->unit : 1);
  if (!data) return text_no_memory(job);
  t->data = data;
  t->room = t->count;
  return 0;
}

void text_free(struct text *t) {
  free(t->data);
  text_begin(t, t->unit);
}

/* ---- text/bytes ---------------------------------------------------------------------------------------------------- */

enum { BYTES_BLOCK, BYTES_HINT, BYTES_BUFFER, BYTES_UNTIL };
/* The first three are those of enum weir_buffer_policy. */
enum { BUFFER_ZEROED = WEIR_BUFFER_HUGE + 1 };
enum { UNTIL_SIZE, UNTIL_END };

struct bytes {
  struct feed_file file;
  void *data; /* one byte more than the file has, for the read that finds its end */
  size_t size;
  uint64_t policy;
};

static int get_bytes(struct bytes *s, const struct weir_job *job) {
  const enum weir_buffer_policy policy = s->policy == BUFFER_ZEROED ? WEIR_BUFFER_FRESH : (enum weir_buffer_policy)s->policy;
  int error = job->host->buffer_get(job, s->size, 1, policy, &s->data);
  if (error) return job->host->fail(job, error, "no memory for a buffer of %zu bytes", s->size);
  if (s->policy == BUFFER_ZEROED) memset(s->data, 0, s->size);
  return 0;
}

static void put_bytes(struct bytes *s, const struct weir_job *job) {
  if (s->data) job->host->buffer_put(job, s->data, s->size);
  s->data = NULL;
}

static int bytes_setup(void *state, const struct weir_job *job) {
  struct bytes *s = state;
  int error = text_check_size(job);
  s->size = (size_t)job->part_length + 1;
  s->policy = job->params[BYTES_BUFFER];
  return error || s->policy != WEIR_BUFFER_REUSED ? error : get_bytes(s, job);
}

/* Memory that is new each time is as large as the file is said to be. */
static int bytes_open(void *state, const struct weir_job *job) {
  struct bytes *s = state;
  int error = feed_file_open(&s->file, job, job->params[BYTES_HINT]);
  if (error || s->policy == WEIR_BUFFER_REUSED) return error;
  error = target_check_size(job, s->file.file);
  if (!error) error = get_bytes(s, job);
  if (error) (void)feed_file_close(&s->file, job);
  return error;
}

static int bytes_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct bytes *s = state;
  struct feed *feed = &s->file.feed;
  bool stopped;
  const uint64_t began = weir_operation_begin(flow);
  if (budget == 0) return 0;
  int error = feed_all(feed, flow, s->data, job->params[BYTES_BLOCK], &stopped);
  if (error || stopped) return error;
  if (job->params[BYTES_UNTIL] == UNTIL_END) {
    const int64_t more = feed->read(feed, (char *)s->data + job->part_length, 1);
    if (more < 0) return (int)more;
  }
  weir_deliver(flow, 0, s->data, (size_t)job->part_length);
  weir_operation_end(flow, began);
  return 0;
}

static int bytes_close(void *state, const struct weir_job *job) {
  struct bytes *s = state;
  if (s->policy != WEIR_BUFFER_REUSED) put_bytes(s, job);
  return feed_file_close(&s->file, job);
}

static void bytes_teardown(void *state, const struct weir_job *job) { put_bytes(state, job); }

static const struct weir_param bytes_params[] = {
    [BYTES_BLOCK] = {.name = "block",
                     .kind = WEIR_PARAM_SIZE,
                     .preset = "0",
                     .sweep = "0|64KiB",
                     .min = 0,
                     .max = UINT64_C(1) << 30,
                     WEIR_PARAM_EVERYWHERE,
                     .help = "bytes of a read; 0: all in one"},
    [BYTES_HINT] = METHODS_PARAM_HINT,
    [BYTES_BUFFER] = {.name = "buffer",
                      .kind = WEIR_PARAM_CHOICE,
                      .preset = "reused",
                      .sweep = "reused|fresh",
                      .choices = "fresh|reused|huge|zeroed",
                      WEIR_PARAM_EVERYWHERE,
                      .help = "memory for the file: new each time, used before, new in huge pages, or new and set to zero"},
    [BYTES_UNTIL] = {.name = "until",
                     .kind = WEIR_PARAM_CHOICE,
                     .preset = "size",
                     .choices = "size|end",
                     WEIR_PARAM_EVERYWHERE,
                     .help = "read as much as the file has, or on until a read gives nothing"},
};

const struct weir_method methods_text_bytes = {METHODS_ABI,
                                               FEED_READS,
                                               .name = "text/bytes",
                                               .summary = "the bytes of the file in one buffer",
                                               .calls = "read(2); posix_fadvise(2) for a hint, fstat(2) for new memory",
                                               .tasks = WEIR_BIT(WEIR_TASK_TEXT),
                                               .params = bytes_params,
                                               .param_count = METHODS_COUNT(bytes_params),
                                               .state_size = sizeof(struct bytes),
                                               .setup = bytes_setup,
                                               .open = bytes_open,
                                               .run = bytes_run,
                                               .close = bytes_close,
                                               .teardown = bytes_teardown};

/* ---- text/whole ---------------------------------------------------------------------------------------------------- */

enum { WHOLE_DECODE };

struct whole {
  struct feed_file file;
  struct decode decode;
  char *bytes;
  uint16_t *units;
};

static int whole_setup(void *state, const struct weir_job *job) { return text_check_size(job); }

static int whole_open(void *state, const struct weir_job *job) {
  struct whole *s = state;
  int error = feed_file_open(&s->file, job, OS_ADVICE_NORMAL);
  if (error) return error;
  error = target_check_size(job, s->file.file);
  if (error) (void)feed_file_close(&s->file, job);
  return error;
}

static int whole_decode(struct whole *s, const struct weir_job *job, struct weir_flow *flow) {
  const size_t size = (size_t)job->part_length;
  decode_begin(&s->decode);
  if (job->params[WHOLE_DECODE] == TEXT_UTF8) {
    decode_check(&s->decode, s->bytes, size);
    decode_check_end(&s->decode);
    weir_deliver(flow, 0, s->bytes, size);
    return 0;
  }
  s->units = malloc((size + 1) * sizeof *s->units);
  if (!s->units) return text_no_memory(job);
  size_t count = decode_units(&s->decode, s->bytes, size, s->units);
  count += decode_end(&s->decode, s->units + count);
  weir_units(flow, s->units, count);
  return 0;
}

static int whole_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct whole *s = state;
  bool stopped = false;
  const uint64_t began = weir_operation_begin(flow);
  if (budget == 0) return 0;
  s->bytes = malloc((size_t)job->part_length + 1);
  int error = s->bytes ? feed_all(&s->file.feed, flow, s->bytes, 0, &stopped) : text_no_memory(job);
  if (error || stopped) return error;
  error = whole_decode(s, job, flow);
  if (!error) weir_operation_end(flow, began);
  return error;
}

static int whole_close(void *state, const struct weir_job *job) {
  struct whole *s = state;
  free(s->bytes);
  free(s->units);
  s->bytes = NULL;
  s->units = NULL;
  return feed_file_close(&s->file, job);
}

static const struct weir_param whole_params[] = {[WHOLE_DECODE] = TEXT_PARAM_DECODE("utf16|utf8")};

const struct weir_method methods_text_whole = {METHODS_ABI,
                                               FEED_READS,
                                               .name = "text/whole",
                                               .summary = "the whole file into new memory, then decoded at once",
                                               .calls = "fstat(2), malloc(3), read(2); free(3) when it is closed",
                                               .tasks = WEIR_BIT(WEIR_TASK_TEXT),
                                               .params = whole_params,
                                               .param_count = METHODS_COUNT(whole_params),
                                               .state_size = sizeof(struct whole),
                                               .setup = whole_setup,
                                               .open = whole_open,
                                               .run = whole_run,
                                               .close = whole_close,
                                               .teardown = no_teardown};

/* ---- text/steps ---------------------------------------------------------------------------------------------------- */

enum { STEPS_STEP, STEPS_DECODE, STEPS_BUFFER, STEPS_FILL, STEPS_LAYER };
enum { FILL_ONCE, FILL_FULL };
enum { LAYER_OWN, LAYER_STDIO };

struct steps {
  struct feed_file file;
  struct feed_stdio stdio;
  struct feed *feed;
  struct decode decode;
  size_t step, room; /* decoded at a time; asked for at a time */
  bool own, utf8, fill;
  char *bytes; /* `room` of them */
  void *out;   /* what the file becomes */
  size_t out_size;
};

static int steps_setup(void *state, const struct weir_job *job) {
  struct steps *s = state;
  int error = text_check_size(job);
  if (error) return error;
  s->own = job->params[STEPS_LAYER] == LAYER_OWN;
  s->utf8 = job->params[STEPS_DECODE] == TEXT_UTF8;
  s->fill = job->params[STEPS_FILL] == FILL_FULL;
  s->step = s->room = (size_t)job->params[STEPS_STEP];
  if (s->own && s->room < job->params[STEPS_BUFFER]) s->room = (size_t)job->params[STEPS_BUFFER];
  s->bytes = malloc(s->room);
  if (!s->bytes) return text_no_memory(job);
  s->out_size = ((size_t)job->part_length + 1) * (s->utf8 ? 1 : sizeof(uint16_t));
  error = job->host->buffer_get(job, s->out_size, 1, WEIR_BUFFER_REUSED, &s->out);
  if (error) return text_no_memory(job);
  s->feed = s->own ? &s->file.feed : &s->stdio.feed;
  return s->own ? 0 : feed_stdio_setup(&s->stdio, job, job->params[STEPS_BUFFER]);
}

static int steps_open(void *state, const struct weir_job *job) {
  struct steps *s = state;
  return s->own ? feed_file_open(&s->file, job, OS_ADVICE_NORMAL) : feed_stdio_open(&s->stdio, job);
}

/* Decodes what was read, step by step; adds to the units so far. */
static size_t steps_decode(struct steps *s, size_t length, size_t count) {
  uint16_t *units = s->out;
  for (size_t at = 0; at < length; at += s->step) {
    const size_t left = length - at, step = left < s->step ? left : s->step;
    if (s->utf8)
      decode_check(&s->decode, s->bytes + at, step);
    else
      count += decode_units(&s->decode, s->bytes + at, step, units + count);
  }
  if (!s->utf8) return count;
  memcpy((char *)s->out + count, s->bytes, length);
  return count + length;
}

static void steps_deliver(struct steps *s, struct weir_flow *flow, size_t count) {
  uint16_t *units = s->out;
  if (s->utf8) {
    decode_check_end(&s->decode);
    weir_deliver(flow, 0, s->out, count);
  } else {
    weir_units(flow, units, count + decode_end(&s->decode, units + count));
  }
}

static int steps_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct steps *s = state;
  size_t count = 0;
  int64_t got = 1;
  const uint64_t began = weir_operation_begin(flow);
  if (budget == 0) return 0;
  decode_begin(&s->decode);
  while (got > 0) {
    if (weir_stopped(flow)) return 0;
    got = s->fill ? feed_fill(s->feed, s->bytes, s->room) : s->feed->read(s->feed, s->bytes, s->room);
    if (got > 0) count = steps_decode(s, (size_t)got, count);
  }
  int error = got < 0 ? (int)got : feed_end(s->feed);
  if (error) return error;
  steps_deliver(s, flow, count);
  weir_operation_end(flow, began);
  return 0;
}

static int steps_close(void *state, const struct weir_job *job) {
  struct steps *s = state;
  return s->own ? feed_file_close(&s->file, job) : feed_stdio_close(&s->stdio, job);
}

static void steps_teardown(void *state, const struct weir_job *job) {
  struct steps *s = state;
  free(s->bytes);
  if (s->out) job->host->buffer_put(job, s->out, s->out_size);
  feed_stdio_teardown(&s->stdio, job);
}

static const struct weir_param steps_params[] = {
    [STEPS_STEP] = TEXT_PARAM_SIZE("step", "64KiB", "4KiB|64KiB", "bytes decoded at a time"),
    [STEPS_DECODE] = TEXT_PARAM_DECODE(NULL),
    [STEPS_BUFFER] = TEXT_PARAM_SIZE("buffer", "4KiB", NULL, "bytes of a read where steps are smaller; the stream's buffer"),
    [STEPS_FILL] = {.name = "fill",
                    .kind = WEIR_PARAM_CHOICE,
                    .preset = "once",
                    .choices = "once|full",
                    WEIR_PARAM_EVERYWHERE,
                    .help = "decode what one read gave, or read on until the buffer is full"},
    [STEPS_LAYER] = {.name = "layer",
                     .kind = WEIR_PARAM_CHOICE,
                     .preset = "own",
                     .choices = "own|stdio",
                     WEIR_PARAM_EVERYWHERE,
                     .help = "own: read(2) into a buffer; stdio: fread(3) of each step"},
};

const struct weir_method methods_text_steps = {METHODS_ABI,
                                               FEED_READS,
                                               .name = "text/steps",
                                               .summary = "decoded step by step into memory that is ready",
                                               .calls = "read(2), or setvbuf(3) and fread(3)",
                                               .tasks = WEIR_BIT(WEIR_TASK_TEXT),
                                               .params = steps_params,
                                               .param_count = METHODS_COUNT(steps_params),
                                               .state_size = sizeof(struct steps),
                                               .setup = steps_setup,
                                               .open = steps_open,
                                               .run = steps_run,
                                               .close = steps_close,
                                               .teardown = steps_teardown};

/* ---- text/grow ----------------------------------------------------------------------------------------------------- */

enum { GROW_STEP, GROW_DECODE };

struct grow {
  struct feed_file file;
  struct decode decode;
  struct text text;
  char *bytes;
  size_t step;
  bool utf8;
};

static int grow_setup(void *state, const struct weir_job *job) {
  struct grow *s = state;
  s->utf8 = job->params[GROW_DECODE] == TEXT_UTF8;
  s->step = (size_t)job->params[GROW_STEP];
  s->bytes = malloc(s->step);
  return s->bytes ? text_check_size(job) : text_no_memory(job);
}

static int grow_open(void *state, const struct weir_job *job) {
  return feed_file_open(&((struct grow *)state)->file, job, OS_ADVICE_NORMAL);
}

static int grow_add(struct grow *s, const struct weir_job *job, size_t length) {
  if (!s->utf8) return text_append_decoded(&s->text, job, &s->decode, s->bytes, length);
  decode_check(&s->decode, s->bytes, length);
  return text_append(&s->text, job, s->bytes, length);
}

static int grow_finish(struct grow *s, const struct weir_job *job, struct weir_flow *flow) {
  int error = feed_end(&s->file.feed);
  if (!error && !s->utf8) error = text_append_end(&s->text, job, &s->decode);
  if (!error) error = text_trim(&s->text, job);
  if (error) return error;
  if (!s->utf8)
    text_deliver_units(&s->text, flow);
  else if (s->text.count > 0)
    weir_deliver(flow, 0, s->text.data, s->text.count);
  return 0;
}

static int grow_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct grow *s = state;
  struct feed *feed = &s->file.feed;
  const uint64_t began = weir_operation_begin(flow);
  if (budget == 0) return 0;
  text_begin(&s->text, s->utf8 ? 1 : sizeof(uint16_t));
  decode_begin(&s->decode);
  int64_t got = 1;
  int error = 0;
  while (got > 0 && !error) {
    if (weir_stopped(flow)) return 0;
    got = feed->read(feed, s->bytes, s->step);
    if (got > 0) error = grow_add(s, job, (size_t)got);
  }
  if (got < 0) return (int)got;
  if (!error) error = grow_finish(s, job, flow);
  if (!error) weir_operation_end(flow, began);
  return error;
}

static int grow_close(void *state, const struct weir_job *job) {
  struct grow *s = state;
  text_free(&s->text);
  return feed_file_close(&s->file, job);
}

static void grow_teardown(void *state, const struct weir_job *job) { free(((struct grow *)state)->bytes); }

static const struct weir_param grow_params[] = {
    [GROW_STEP] = TEXT_PARAM_SIZE("step", "64KiB", NULL, "bytes of a read, decoded at a time"),
    [GROW_DECODE] = TEXT_PARAM_DECODE(NULL)};

const struct weir_method methods_text_grow = {METHODS_ABI,
                                              FEED_READS,
                                              .name = "text/grow",
                                              .summary = "read to the end into a text that doubles, cut to its size then",
                                              .calls = "read(2), realloc(3); free(3) when it is closed",
                                              .tasks = WEIR_BIT(WEIR_TASK_TEXT),
                                              .params = grow_params,
                                              .param_count = METHODS_COUNT(grow_params),
                                              .state_size = sizeof(struct grow),
                                              .setup = grow_setup,
                                              .open = grow_open,
                                              .run = grow_run,
                                              .close = grow_close,
                                              .teardown = grow_teardown};
