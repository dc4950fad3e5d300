/*
 * text_lines.c - text/line-append: a text put together again from its lines, each decoded and added with its end, as
 * programs do that know only a call for the next line. How many buffers the bytes pass on the way is a parameter.
 *
 * Lines keep the end that they have in the file, so the text is the file's.
 */
#include <errno.h>
#include <stdlib.h>

#include "text.h"

enum { PARAM_LAYER, PARAM_SOURCE, PARAM_COPY, PARAM_BUFFER };
enum layer { LAYER_STDIO, LAYER_OWN, LAYER_DOUBLE, LAYER_UNBUFFERED };
enum source { SOURCE_LOOP, SOURCE_ITERATOR, SOURCE_ARRAY };

/* Lines in memory of their own, decoded. */
struct decoded {
  uint16_t *units;
  size_t count;
};

struct line_append {
  struct feed_file file;
  struct feed_stdio stdio;
  struct feed_layer below, above; /* on top of the file, in this order; not all are used */
  struct feed_lines lines;
  struct decode decode;
  struct text text;
  enum layer layer;
  enum source source;
  bool copies;
  char *line; /* of getline */
  size_t line_room;
  int (*next)(struct line_append *s, struct feed_line *line); /* of the iterator: known when the program runs only */
  struct decoded *array;
  size_t count, room;
};

/* ---- layers -------------------------------------------------------------------------------------------------------- */

/* Buffers between the system and the lines' own. */
static unsigned layers(const struct line_append *s) {
  return s->layer == LAYER_DOUBLE ? 2 : s->layer == LAYER_UNBUFFERED ? 1 : 0;
}

static int next_of_stdio(struct line_append *s, struct feed_line *line) {
  errno = 0;
  const ssize_t size = getline(&s->line, &s->line_room, s->stdio.stream);
  if (size < 0) return feed_stdio_end(&s->stdio);
  s->stdio.feed.at += (uint64_t)size;
  *line = (struct feed_line){s->line, (size_t)size};
  return 1;
}

static int next_of_buffer(struct line_append *s, struct feed_line *line) { return feed_lines_next(&s->lines, line); }

static int line_setup(void *state, const struct weir_job *job) {
  struct line_append *s = state;
  const uint64_t buffer = job->params[PARAM_BUFFER];
  s->layer = (enum layer)job->params[PARAM_LAYER];
  s->source = (enum source)job->params[PARAM_SOURCE];
  s->copies = job->params[PARAM_COPY] != 0;
  s->next = s->layer == LAYER_STDIO ? next_of_stdio : next_of_buffer;
  int error = text_check_size(job);
  if (!error)
    error = s->layer == LAYER_STDIO ? feed_stdio_setup(&s->stdio, job, buffer) : feed_lines_setup(&s->lines, job, buffer);
  if (!error && layers(s) > 0) error = feed_layer_setup(&s->below, job, buffer);
  if (!error && layers(s) > 1) error = feed_layer_setup(&s->above, job, buffer);
  return error;
}

static int line_open(void *state, const struct weir_job *job) {
  struct line_append *s = state;
  if (s->layer == LAYER_STDIO) return feed_stdio_open(&s->stdio, job);
  struct feed *top = &s->file.feed;
  if (layers(s) > 0) feed_layer_open(&s->below, job, top), top = &s->below.feed;
  if (layers(s) > 1) feed_layer_open(&s->above, job, top), top = &s->above.feed;
  feed_lines_open(&s->lines, top);
  return feed_file_open(&s->file, job, OS_ADVICE_NORMAL);
}

static void line_teardown(void *state, const struct weir_job *job) {
  struct line_append *s = state;
  free(s->line);
  feed_lines_teardown(&s->lines);
  feed_layer_teardown(&s->above, job);
  feed_layer_teardown(&s->below, job);
  feed_stdio_teardown(&s->stdio, job);
}

/* ---- lines --------------------------------------------------------------------------------------------------------- */

static inline int next_line(struct line_append *s, struct feed_line *line) {
  if (s->source == SOURCE_ITERATOR) return s->next(s, line);
  return s->layer == LAYER_STDIO ? next_of_stdio(s, line) : next_of_buffer(s, line);
}

/* New memory for a line, with room for the unit that may follow the last one. */
static int copy_line(struct line_append *s, const struct weir_job *job, struct feed_line line, struct decoded *out) {
  out->units = malloc((decode_room(line.size) + 1) * sizeof *out->units);
  if (!out->units) return text_no_memory(job);
  out->count = decode_units(&s->decode, line.data, line.size, out->units);
  return 0;
}

static int add_line(struct line_append *s, const struct weir_job *job, struct feed_line line) {
  struct decoded copy = {NULL, 0};
  if (!s->copies) return text_append_decoded(&s->text, job, &s->decode, line.data, line.size);
  int error = copy_line(s, job, line, &copy);
  if (error) return error;
  error = text_append(&s->text, job, copy.units, copy.count);
  free(copy.units);
  return error;
}

static int keep_line(struct line_append *s, const struct weir_job *job, struct feed_line line) {
  if (s->count == s->room) {
    const size_t room = s->room ? 2 * s->room : 64;
    struct decoded *array = realloc(s->array, room * sizeof *array);
    if (!array) return text_no_memory(job);
    s->array = array;
    s->room = room;
  }
  int error = copy_line(s, job, line, &s->array[s->count]);
  if (!error) s->count++;
  return error;
}

static int add_array(struct line_append *s, const struct weir_job *job) {
  int error = 0;
  for (size_t i = 0; i < s->count && !error; i++) error = text_append(&s->text, job, s->array[i].units, s->array[i].count);
  return error;
}

static int line_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct line_append *s = state;
  struct feed_line line;
  const uint64_t began = weir_operation_begin(flow);
  if (budget == 0) return 0;
  text_begin(&s->text, sizeof(uint16_t));
  decode_begin(&s->decode);
  int more;
  while ((more = next_line(s, &line)) > 0) {
    if (weir_stopped(flow)) return 0;
    int error = s->source == SOURCE_ARRAY ? keep_line(s, job, line) : add_line(s, job, line);
    if (error) return error;
  }
  int error = more < 0 ? more : add_array(s, job);
  if (!error) error = text_append_end(&s->text, job, &s->decode);
  if (error) return error;
  text_deliver_units(&s->text, flow);
  weir_operation_end(flow, began);
  return 0;
}

static int line_close(void *state, const struct weir_job *job) {
  struct line_append *s = state;
  for (size_t i = 0; i < s->count; i++) free(s->array[i].units);
  free(s->array);
  s->array = NULL;
  s->count = s->room = 0;
  text_free(&s->text);
  return s->layer == LAYER_STDIO ? feed_stdio_close(&s->stdio, job) : feed_file_close(&s->file, job);
}

static const struct weir_param line_params[] = {
    [PARAM_LAYER] = {.name = "layer",
                     .kind = WEIR_PARAM_CHOICE,
                     .preset = "stdio",
                     .choices = "stdio|own|double|unbuffered",
                     WEIR_PARAM_EVERYWHERE,
                     .help =
                         "stdio: getline; own: lines of a block; unbuffered, double: of a block copied out of 1 or 2 more"},
    [PARAM_SOURCE] = {.name = "source",
                      .kind = WEIR_PARAM_CHOICE,
                      .preset = "loop",
                      .choices = "loop|iterator|array",
                      WEIR_PARAM_EVERYWHERE,
                      .help = "the next line by a call, by a call through a pointer, or all lines first"},
    [PARAM_COPY] = {.name = "copy",
                    .kind = WEIR_PARAM_CHOICE,
                    .preset = "yes",
                    .choices = "no|yes",
                    WEIR_PARAM_EVERYWHERE,
                    .help = "is each line a text of its own before it is added (source=array: it always is)"},
    [PARAM_BUFFER] = TEXT_PARAM_SIZE("buffer", "4KiB", NULL, "bytes of each buffer")};

const struct weir_method methods_text_line_append = {METHODS_ABI,
                                                     FEED_READS,
                                                     .name = "text/line-append",
                                                     .summary = "the text put together from its lines",
                                                     .calls = "getline(3), or read(2) and memchr(3); malloc(3), realloc(3)",
                                                     .tasks = WEIR_BIT(WEIR_TASK_TEXT),
                                                     .params = line_params,
                                                     .param_count = METHODS_COUNT(line_params),
                                                     .state_size = sizeof(struct line_append),
                                                     .setup = line_setup,
                                                     .open = line_open,
                                                     .run = line_run,
                                                     .close = line_close,
                                                     .teardown = line_teardown};
