/*
 * read_lines.c - one line after the other: the C library's calls, own readers, and what it costs to keep every line.
 *
 * All hand over lines as items, so they serve task `text` too. Reading by the C library goes past os.h.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "feed.h"

#define LINES_TASKS .tasks = WEIR_BIT(WEIR_TASK_LINES) | WEIR_BIT(WEIR_TASK_TEXT)

static int no_room(const struct weir_job *job) { return job->host->fail(job, -ENOMEM, "no memory for the lines"); }

/* ---- getline, with a copy of each line or not; fgets --------------------------------------------------------------- */

enum { PARAM_BUFFER, PARAM_ROOM };

struct stdio_lines {
  struct feed_stdio feed;
  char *line; /* grows with the longest */
  size_t room;
};

static int stdio_setup(void *state, const struct weir_job *job) {
  return feed_stdio_setup(&((struct stdio_lines *)state)->feed, job, job->params[PARAM_BUFFER]);
}

static int stdio_open(void *state, const struct weir_job *job) {
  return feed_stdio_open(&((struct stdio_lines *)state)->feed, job);
}

static int stdio_close(void *state, const struct weir_job *job) {
  return feed_stdio_close(&((struct stdio_lines *)state)->feed, job);
}

static void stdio_teardown(void *state, const struct weir_job *job) {
  struct stdio_lines *s = state;
  free(s->line);
  feed_stdio_teardown(&s->feed, job);
}

/* The stream gave no more: the end of the pass, or an error. */
static int stdio_end(const struct stdio_lines *s, struct weir_flow *flow, uint64_t began) {
  int error = feed_stdio_end(&s->feed);
  if (!error) weir_operation_end(flow, began);
  return error;
}

static int run_getline(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct stdio_lines *s = state;
  const uint64_t began = weir_operation_begin(flow);
  if (budget == 0) return 0;
  errno = 0;
  while (!weir_stopped(flow)) {
    const ssize_t size = getline(&s->line, &s->room, s->feed.stream);
    if (size < 0) return stdio_end(s, flow, began);
    s->feed.feed.at += (uint64_t)size;
    feed_deliver_line(flow, s->line, (size_t)size);
  }
  return 0;
}

static int run_strdup(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct stdio_lines *s = state;
  const uint64_t began = weir_operation_begin(flow);
  if (budget == 0) return 0;
  errno = 0;
  while (!weir_stopped(flow)) {
    const ssize_t size = getline(&s->line, &s->room, s->feed.stream);
    if (size < 0) return stdio_end(s, flow, began);
    char *copy = malloc((size_t)size + 1);
    if (!copy) return no_room(job);
    memcpy(copy, s->line, (size_t)size + 1);
    s->feed.feed.at += (uint64_t)size;
    feed_deliver_line(flow, copy, (size_t)size);
    free(copy);
  }
  return 0;
}

static int fgets_setup(void *state, const struct weir_job *job) {
  struct stdio_lines *s = state;
  s->room = (size_t)job->params[PARAM_ROOM];
  s->line = malloc(s->room);
  return s->line ? stdio_setup(state, job) : no_room(job);
}

/* fgets tells no length: a zero byte in a line hides what follows it. */
static int hidden(const struct weir_job *job, uint64_t at) {
  target_remedy(job, "use lines/getline for files that hold zero bytes");
  return job->host->fail(job, -EILSEQ, "a zero byte behind byte %llu: fgets does not tell where such a line ends",
                         (unsigned long long)at);
}

static int grow_line(struct stdio_lines *s, const struct weir_job *job) {
  const size_t room = 2 * s->room;
  char *line = realloc(s->line, room);
  if (!line) return no_room(job);
  s->line = line;
  s->room = room;
  return 0;
}

/* Adds what fgets gives to the `have` bytes of the line. 1 as long as the line goes on, 0 when it is whole. */
static int gets_more(struct stdio_lines *s, const struct weir_job *job, size_t *have) {
  if (s->room - *have < 2) {
    int error = grow_line(s, job);
    if (error) return error;
  }
  const size_t free_room = s->room - *have;
  if (!fgets(s->line + *have, free_room < INT_MAX ? (int)free_room : INT_MAX, s->feed.stream)) return 0;
  *have += strlen(s->line + *have);
  if (*have > 0 && s->line[*have - 1] == '\n') return 0;
  if (*have < s->room - 1 && !feof(s->feed.stream)) return hidden(job, s->feed.feed.at);
  return 1;
}

static int fgets_end(const struct stdio_lines *s, const struct weir_job *job, struct weir_flow *flow, uint64_t began) {
  const bool hides = feof(s->feed.stream) && s->feed.feed.at < (uint64_t)ftello(s->feed.stream);
  return hides ? hidden(job, s->feed.feed.at) : stdio_end(s, flow, began);
}

static int run_fgets(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct stdio_lines *s = state;
  const uint64_t began = weir_operation_begin(flow);
  if (budget == 0) return 0;
  errno = 0;
  while (!weir_stopped(flow)) {
    size_t size = 0;
    int more = gets_more(s, job, &size);
    while (more > 0) more = gets_more(s, job, &size);
    if (more < 0) return more;
    if (size == 0) return fgets_end(s, job, flow, began);
    s->feed.feed.at += size;
    feed_deliver_line(flow, s->line, size);
  }
  return 0;
}

#define PARAM_STDIO_BUFFER                                                                                                  \
  {                                                                                                                         \
    .name = "buffer", .kind = WEIR_PARAM_SIZE, .preset = "4KiB", .sweep = "4KiB|64KiB", .min = 0, .max = UINT64_C(1) << 30, \
    WEIR_PARAM_EVERYWHERE, .help = "the stream's buffer (setvbuf); 0 is unbuffered, 4KiB what the C library takes"          \
  }
static const struct weir_param getline_params[] = {[PARAM_BUFFER] = PARAM_STDIO_BUFFER};
static const struct weir_param fgets_params[] = {
    [PARAM_BUFFER] = {.name = "buffer",
                      .kind = WEIR_PARAM_SIZE,
                      .preset = "4KiB",
                      .min = 0,
                      .max = UINT64_C(1) << 30,
                      WEIR_PARAM_EVERYWHERE,
                      .help = "the stream's buffer (setvbuf); 0 is unbuffered, 4KiB what the C library takes"},
    [PARAM_ROOM] = {.name = "room",
                    .kind = WEIR_PARAM_SIZE,
                    .preset = "4KiB",
                    .min = 2,
                    .max = 1 << 20,
                    WEIR_PARAM_EVERYWHERE,
                    .help = "memory for a line at first; it doubles for longer lines"}};

#define STDIO_LINES                                                                                                         \
  METHODS_ABI, FEED_READS, LINES_TASKS, .state_size = sizeof(struct stdio_lines), .open = stdio_open, .close = stdio_close, \
                                        .teardown = stdio_teardown

const struct weir_method methods_lines_getline = {STDIO_LINES,
                                                  .name = "lines/getline",
                                                  .summary = "the C library's lines, each into the same memory",
                                                  .calls = "setvbuf(3), getline(3)",
                                                  .params = getline_params,
                                                  .param_count = METHODS_COUNT(getline_params),
                                                  .setup = stdio_setup,
                                                  .run = run_getline};

const struct weir_method methods_lines_strdup = {STDIO_LINES,
                                                 .name = "lines/strdup",
                                                 .summary = "the C library's lines, each in new memory",
                                                 .calls = "setvbuf(3), getline(3), malloc(3), free(3)",
                                                 .capabilities = WEIR_CAP_VARIANT,
                                                 .params = getline_params,
                                                 .param_count = METHODS_COUNT(getline_params),
                                                 .setup = stdio_setup,
                                                 .run = run_strdup};

const struct weir_method methods_lines_fgets = {STDIO_LINES,
                                                .name = "lines/fgets",
                                                .summary = "the C library's lines by the older call",
                                                .calls = "setvbuf(3), fgets(3), strlen(3)",
                                                .params = fgets_params,
                                                .param_count = METHODS_COUNT(fgets_params),
                                                .setup = fgets_setup,
                                                .run = run_fgets};

/* ---- own reader: slices of a block, by a loop or by an iterator ---------------------------------------------------- */

enum { PARAM_BLOCK };

struct own_lines {
  struct feed_file file;
  struct feed_lines lines;
  int (*next)(struct own_lines *s, struct feed_line *line); /* of the iterator: known when the program runs only */
};

static int own_setup(void *state, const struct weir_job *job) {
  return feed_lines_setup(&((struct own_lines *)state)->lines, job, job->params[PARAM_BLOCK]);
}

static int own_open(void *state, const struct weir_job *job) {
  struct own_lines *s = state;
  feed_lines_open(&s->lines, &s->file.feed);
  return feed_file_open(&s->file, job, OS_ADVICE_NORMAL);
}

static int own_close(void *state, const struct weir_job *job) {
  return feed_file_close(&((struct own_lines *)state)->file, job);
}

static void own_teardown(void *state, const struct weir_job *job) {
  feed_lines_teardown(&((struct own_lines *)state)->lines);
}

static int run_slices(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct own_lines *s = state;
  struct feed_line line;
  const uint64_t began = weir_operation_begin(flow);
  if (budget == 0) return 0;
  while (!weir_stopped(flow)) {
    const int more = feed_lines_next(&s->lines, &line);
    if (more == 0) weir_operation_end(flow, began);
    if (more <= 0) return more;
    feed_deliver_line(flow, line.data, line.size);
  }
  return 0;
}

static int next_of_iterator(struct own_lines *s, struct feed_line *line) { return feed_lines_next(&s->lines, line); }

static int iterator_setup(void *state, const struct weir_job *job) {
  ((struct own_lines *)state)->next = next_of_iterator;
  return own_setup(state, job);
}

static int run_iterator(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct own_lines *s = state;
  struct feed_line line;
  const uint64_t began = weir_operation_begin(flow);
  if (budget == 0) return 0;
  while (!weir_stopped(flow)) {
    const int more = s->next(s, &line);
    if (more == 0) weir_operation_end(flow, began);
    if (more <= 0) return more;
    feed_deliver_line(flow, line.data, line.size);
  }
  return 0;
}

static const struct weir_param own_params[] = {[PARAM_BLOCK] = {.name = "block",
                                                                .kind = WEIR_PARAM_SIZE,
                                                                .preset = "64KiB",
                                                                .min = 1,
                                                                .max = UINT64_C(1) << 30,
                                                                WEIR_PARAM_EVERYWHERE,
                                                                .help = "bytes of a read"}};

#define OWN_LINES                                                                                                     \
  METHODS_ABI, FEED_READS, LINES_TASKS, .params = own_params, .param_count = METHODS_COUNT(own_params),               \
                                        .state_size = sizeof(struct own_lines), .open = own_open, .close = own_close, \
                                        .teardown = own_teardown

const struct weir_method methods_lines_slices = {OWN_LINES,
                                                 .name = "lines/slices",
                                                 .summary = "blocks, and the lines in them where they lie",
                                                 .calls = "read(2), memchr(3)",
                                                 .setup = own_setup,
                                                 .run = run_slices};

const struct weir_method methods_lines_iterator = {OWN_LINES,
                                                   .name = "lines/iterator",
                                                   .summary = "the same behind an iterator: a call by pointer for each line",
                                                   .calls = "read(2), memchr(3)",
                                                   .capabilities = WEIR_CAP_VARIANT,
                                                   .setup = iterator_setup,
                                                   .run = run_iterator};

/* ---- all lines of a file in memory: each in memory of its own, or as slices of one buffer -------------------------- */

struct all_lines {
  struct feed_file file;
  char *text;
  struct feed_line *lines;
  size_t count, room;
  bool own; /* each line has memory of its own */
};

static int array_setup(void *state, const struct weir_job *job) {
  struct all_lines *s = state;
  s->own = job->data != NULL;
  return job->part_length < SIZE_MAX / 4 ? 0 : job->host->fail(job, -EOVERFLOW, "the file does not fit into memory");
}

static int array_open(void *state, const struct weir_job *job) {
  return feed_file_open(&((struct all_lines *)state)->file, job, OS_ADVICE_NORMAL);
}

static void forget_lines(struct all_lines *s) {
  for (size_t i = 0; s->own && i < s->count; i++) free((char *)s->lines[i].data);
  free(s->lines);
  free(s->text);
  s->lines = NULL;
  s->text = NULL;
  s->count = s->room = 0;
}

static int array_close(void *state, const struct weir_job *job) {
  struct all_lines *s = state;
  forget_lines(s);
  return feed_file_close(&s->file, job);
}

static void array_teardown(void *state, const struct weir_job *job) { (void)state, (void)job; }

static int more_lines(struct all_lines *s, const struct weir_job *job) {
  const size_t room = s->room ? 2 * s->room : 64;
  struct feed_line *lines = realloc(s->lines, room * sizeof *lines);
  if (!lines) return no_room(job);
  s->lines = lines;
  s->room = room;
  return 0;
}

static int add_line(struct all_lines *s, const struct weir_job *job, struct feed_line line) {
  int error = s->count == s->room ? more_lines(s, job) : 0;
  if (error) return error;
  if (s->own) {
    char *copy = malloc(line.size + 1);
    if (!copy) return no_room(job);
    memcpy(copy, line.data, line.size);
    copy[line.size] = '\0';
    line.data = copy;
  }
  s->lines[s->count++] = line;
  return 0;
}

/* The lines without their ends. */
static int split(struct all_lines *s, const struct weir_job *job, const struct weir_flow *flow) {
  const char *at = s->text, *end = s->text + job->part_length;
  int error = 0;
  while (at < end && !error && !weir_stopped(flow)) {
    const char *newline = memchr(at, '\n', (size_t)(end - at)), *next = newline ? newline + 1 : end;
    error = add_line(s, job, (struct feed_line){at, feed_line_text(at, (size_t)(next - at))});
    at = next;
  }
  return error;
}

static int run_array(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct all_lines *s = state;
  bool stopped = false;
  const uint64_t began = weir_operation_begin(flow);
  if (budget == 0) return 0;
  s->text = malloc((size_t)job->part_length + 1);
  int error = s->text ? feed_all(&s->file.feed, flow, s->text, 0, &stopped) : no_room(job);
  if (!error && !stopped) error = split(s, job, flow);
  if (error || stopped || weir_stopped(flow)) return error;
  for (size_t i = 0; i < s->count; i++) {
    if (weir_stopped(flow)) return 0;
    weir_item(flow, s->lines[i].data, s->lines[i].size);
  }
  weir_operation_end(flow, began);
  return 0;
}

#define ALL_LINES                                                                                                         \
  METHODS_ABI, FEED_READS, LINES_TASKS, .state_size = sizeof(struct all_lines), .setup = array_setup, .open = array_open, \
                                        .run = run_array, .close = array_close, .teardown = array_teardown

static const bool each_own = true;

const struct weir_method methods_lines_array = {
    ALL_LINES, .name = "lines/array", .summary = "the whole file, then an array of lines, each in new memory",
    .calls = "read(2), memchr(3), malloc(3); free(3) when it is closed", .data = &each_own};

const struct weir_method methods_lines_slice_array = {
    ALL_LINES,
    .name = "lines/slice-array",
    .summary = "the whole file, then an array of where its lines are",
    .calls = "read(2), memchr(3), realloc(3)",
    .capabilities = WEIR_CAP_VARIANT,
};

/* ---- lines of a mapped file ---------------------------------------------------------------------------------------- */

enum { PARAM_POPULATE };

struct mapped_lines {
  os_file file;
  void *map;
};

static int mapped_setup(void *state, const struct weir_job *job) {
  return job->part_length < SIZE_MAX / 2 ? 0 : job->host->fail(job, -EOVERFLOW, "the file does not fit into memory");
}

static int mapped_open(void *state, const struct weir_job *job) {
  struct mapped_lines *s = state;
  int error = target_open(job, 0, &s->file);
  if (error) return error;
  error = target_check_size(job, s->file); /* touching what is behind the end would kill */
  if (!error) {
    error = os_map(s->file, (size_t)job->part_length, job->params[PARAM_POPULATE] ? OS_MAP_POPULATE : 0, &s->map);
    if (error) error = target_failed(job, "mapping", 0, job->part_length, error);
  }
  if (error) (void)os_close(s->file);
  return error;
}

static int mapped_close(void *state, const struct weir_job *job) {
  const struct mapped_lines *s = state;
  const int error = os_unmap(s->map, (size_t)job->part_length), closed = target_close(job, s->file);
  return error ? target_refused(job, "unmapping", error) : closed;
}

static void mapped_teardown(void *state, const struct weir_job *job) { (void)state, (void)job; }

static int run_mapped(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  const char *at = ((struct mapped_lines *)state)->map, *end = at + job->part_length;
  const uint64_t began = weir_operation_begin(flow);
  if (budget == 0) return 0;
  while (at < end) {
    const char *newline = memchr(at, '\n', (size_t)(end - at)), *next = newline ? newline + 1 : end;
    if (weir_stopped(flow)) return 0;
    feed_deliver_line(flow, at, (size_t)(next - at));
    at = next;
  }
  weir_operation_end(flow, began);
  return 0;
}

static const struct weir_param mapped_params[] = {[PARAM_POPULATE] = {.name = "populate",
                                                                      .kind = WEIR_PARAM_CHOICE,
                                                                      .preset = "no",
                                                                      .choices = "no|yes",
                                                                      WEIR_PARAM_EVERYWHERE,
                                                                      .help = "all of it mapped in ahead"}};

const struct weir_method methods_lines_mapped = {METHODS_ABI,
                                                 FEED_READS,
                                                 LINES_TASKS,
                                                 .name = "lines/mapped",
                                                 .summary = "the lines of a mapped file, where they lie",
                                                 .calls = "mmap(2), memchr(3)",
                                                 .capabilities = WEIR_CAP_VIEW,
                                                 .params = mapped_params,
                                                 .param_count = METHODS_COUNT(mapped_params),
                                                 .state_size = sizeof(struct mapped_lines),
                                                 .setup = mapped_setup,
                                                 .open = mapped_open,
                                                 .run = run_mapped,
                                                 .close = mapped_close,
                                                 .teardown = mapped_teardown};
