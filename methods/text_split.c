/*
 * text_split.c - text/split: all of the file in memory first, then its lines are looked for: as bytes, as UTF-16 units of
 * the text decoded before, or decoded line by line.
 *
 * With bounds=buffer the search does not stop where the file ends but runs through all of a large buffer that an earlier,
 * larger file is supposed to have filled, as in a published program. What it finds there is handed over to nobody.
 */
#include <stdlib.h>

#include "text.h"

enum { PARAM_BLOCK, PARAM_HINT, PARAM_DECODE, PARAM_COPY, PARAM_BOUNDS };
enum { DECODE_NONE, DECODE_UTF16, DECODE_LINES };
enum { BOUNDS_READ, BOUNDS_BUFFER };

/* The buffer of that program, and what its lines looked like. */
#define BUFFER_BYTES UINT64_C(59000000)
#define STALE_LINE 66u

struct split {
  struct feed_file file;
  struct decode decode;
  uint64_t decodes;
  bool copies;
  char *bytes;
  uint16_t *units; /* DECODE_UTF16 only */
  size_t byte_room, unit_room;
};

static int get(const struct weir_job *job, size_t size, void **out) {
  int error = job->host->buffer_get(job, size, 1, WEIR_BUFFER_REUSED, out);
  return error ? text_no_memory(job) : 0;
}

/* Lines of what was there before. */
static void fill_stale(struct split *s) {
  memset(s->bytes, 'x', s->byte_room);
  for (size_t at = STALE_LINE - 1; at < s->byte_room; at += STALE_LINE) s->bytes[at] = '\n';
  for (size_t at = 0; at < s->unit_room; at++) s->units[at] = (at + 1) % STALE_LINE ? 'x' : '\n';
}

static int split_setup(void *state, const struct weir_job *job) {
  struct split *s = state;
  int error = text_check_size(job);
  if (error) return error;
  const bool unbounded = job->params[PARAM_BOUNDS] == BOUNDS_BUFFER;
  const size_t size = (size_t)job->part_length + 1, room = unbounded && size < BUFFER_BYTES ? BUFFER_BYTES : size;
  s->decodes = job->params[PARAM_DECODE];
  s->copies = job->params[PARAM_COPY] != 0;
  s->byte_room = s->decodes == DECODE_UTF16 ? size : room;
  s->unit_room = s->decodes == DECODE_UTF16 ? room : 0;
  void *bytes = NULL, *units = NULL;
  error = get(job, s->byte_room, &bytes);
  if (!error && s->unit_room) error = get(job, s->unit_room * sizeof *s->units, &units);
  s->bytes = bytes;
  s->units = units;
  if (!error && unbounded) fill_stale(s);
  return error;
}

static int split_open(void *state, const struct weir_job *job) {
  return feed_file_open(&((struct split *)state)->file, job, job->params[PARAM_HINT]);
}

/* ---- lines of bytes ------------------------------------------------------------------------------------------------ */

/* `flow` NULL: the line is nobody's. */
static int take_slice(const struct split *s, const struct weir_job *job, struct weir_flow *flow, const char *line,
                      size_t size) {
  const size_t text = feed_line_text(line, size);
  char *copy = NULL;
  if (s->copies) {
    copy = malloc(text + 1);
    if (!copy) return text_no_memory(job);
    memcpy(copy, line, text);
    copy[text] = '\0';
  }
  if (flow) weir_item(flow, copy ? copy : line, text);
  free(copy);
  return 0;
}

/* Each line becomes a text of its own; its end is handed over as it was. */
static int take_decoded(struct split *s, const struct weir_job *job, struct weir_flow *flow, const char *line, size_t size) {
  uint16_t *units = malloc((decode_room(size) + 1) * sizeof *units);
  if (!units) return text_no_memory(job);
  size_t count = decode_units(&s->decode, line, size, units);
  if (line + size == s->bytes + job->part_length) count += decode_end(&s->decode, units + count);
  if (flow) weir_units(flow, units, count);
  free(units);
  return 0;
}

/* The lines of [begin, end) of the buffer. `live` is polled for the stop also where nothing is handed over. */
static int split_bytes(struct split *s, const struct weir_job *job, struct weir_flow *flow, const struct weir_flow *live,
                       size_t begin, size_t end) {
  int error = 0;
  while (begin < end && !error && !weir_stopped(live)) {
    const char *line = s->bytes + begin, *newline = memchr(line, '\n', end - begin);
    const size_t size = newline ? (size_t)(newline - line) + 1 : end - begin;
    error = s->decodes == DECODE_LINES ? take_decoded(s, job, flow, line, size) : take_slice(s, job, flow, line, size);
    begin += size;
  }
  return error;
}

/* ---- lines of units ------------------------------------------------------------------------------------------------ */

static int take_units(const struct split *s, const struct weir_job *job, struct weir_flow *flow, const uint16_t *line,
                      size_t count) {
  uint16_t *copy = NULL;
  if (s->copies) {
    copy = malloc(count * sizeof *copy);
    if (!copy) return text_no_memory(job);
    memcpy(copy, line, count * sizeof *copy);
  }
  if (flow) weir_units(flow, copy ? copy : line, count);
  free(copy);
  return 0;
}

static int split_units(const struct split *s, const struct weir_job *job, struct weir_flow *flow,
                       const struct weir_flow *live, size_t begin, size_t end) {
  int error = 0;
  while (begin < end && !error && !weir_stopped(live)) {
    size_t stop = begin;
    while (stop < end && s->units[stop] != '\n') stop++;
    if (stop < end) stop++;
    error = take_units(s, job, flow, s->units + begin, stop - begin);
    begin = stop;
  }
  return error;
}

/* What was read, then what is left of the buffer: none of it unless the bounds say so. */
static int split_all(struct split *s, const struct weir_job *job, struct weir_flow *flow) {
  const bool beyond = job->params[PARAM_BOUNDS] == BOUNDS_BUFFER;
  size_t size = (size_t)job->part_length;
  int error;
  if (s->decodes == DECODE_UTF16) {
    size = decode_units(&s->decode, s->bytes, size, s->units);
    size += decode_end(&s->decode, s->units + size);
    error = split_units(s, job, flow, flow, 0, size);
    return error || !beyond ? error : split_units(s, job, NULL, flow, size, s->unit_room);
  }
  error = split_bytes(s, job, flow, flow, 0, size);
  return error || !beyond ? error : split_bytes(s, job, NULL, flow, size, s->byte_room);
}

static int split_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct split *s = state;
  bool stopped;
  const uint64_t began = weir_operation_begin(flow);
  if (budget == 0) return 0;
  decode_begin(&s->decode);
  int error = feed_all(&s->file.feed, flow, s->bytes, job->params[PARAM_BLOCK], &stopped);
  if (error || stopped) return error;
  error = split_all(s, job, flow);
  if (!error && !weir_stopped(flow)) weir_operation_end(flow, began);
  return error;
}

static int split_close(void *state, const struct weir_job *job) {
  return feed_file_close(&((struct split *)state)->file, job);
}

static void split_teardown(void *state, const struct weir_job *job) {
  struct split *s = state;
  if (s->bytes) job->host->buffer_put(job, s->bytes, s->byte_room);
  if (s->units) job->host->buffer_put(job, s->units, s->unit_room * sizeof *s->units);
}

static const struct weir_param split_params[] = {
    [PARAM_BLOCK] = {.name = "block",
                     .kind = WEIR_PARAM_SIZE,
                     .preset = "0",
                     .min = 0,
                     .max = UINT64_C(1) << 30,
                     WEIR_PARAM_EVERYWHERE,
                     .help = "bytes of a read; 0: all in one"},
    [PARAM_HINT] = METHODS_PARAM_HINT,
    [PARAM_DECODE] = {.name = "decode",
                      .kind = WEIR_PARAM_CHOICE,
                      .preset = "none",
                      .choices = "none|utf16|lines",
                      .tasks = WEIR_BIT(WEIR_TASK_TEXT),
                      .accesses = WEIR_ANY,
                      .durabilities = WEIR_ANY,
                      .help = "none: lines of bytes; utf16: the whole text first; lines: each line into a text of its own"},
    [PARAM_COPY] = {.name = "copy",
                    .kind = WEIR_PARAM_CHOICE,
                    .preset = "no",
                    .choices = "no|yes",
                    WEIR_PARAM_EVERYWHERE,
                    .help = "is each line copied into new memory (decode=lines: it always is)"},
    [PARAM_BOUNDS] = {.name = "bounds",
                      .kind = WEIR_PARAM_CHOICE,
                      .preset = "read",
                      .choices = "read|buffer",
                      WEIR_PARAM_EVERYWHERE,
                      .help = "search what was read, or on purpose all of a buffer of 59,000,000 with old lines behind it"},
};

const struct weir_method methods_text_split = {METHODS_ABI,
                                               FEED_READS,
                                               .name = "text/split",
                                               .summary = "all of the file, then the lines in it",
                                               .calls = "read(2), memchr(3); malloc(3) for copies",
                                               .tasks = WEIR_BIT(WEIR_TASK_TEXT) | WEIR_BIT(WEIR_TASK_LINES),
                                               .params = split_params,
                                               .param_count = METHODS_COUNT(split_params),
                                               .state_size = sizeof(struct split),
                                               .setup = split_setup,
                                               .open = split_open,
                                               .run = split_run,
                                               .close = split_close,
                                               .teardown = split_teardown};
