/*
 * lines.c - a file line by line. Newlines are indexed block by block, and lines are given out as slices of the block. What a
 * block has behind its last newline is carried in front of the next one; only a line that is longer than the room there is
 * put together in memory of its own.
 */
#include "lib/lines.h"

#include <stdlib.h>
#include <string.h>

#define LINE_DEFAULT ((size_t)64 << 20)
/* Offsets in a block have 32 bits, and a block and its room must fit behind the longest line. */
#define LINE_MOST (UINT32_MAX - ((size_t)1 << 20))
/* Newlines indexed at once, and bytes looked at: index and bytes stay in the processor's cache while the lines are used. */
#define ENDS_MOST ((size_t)8192)
#define PIECE ((size_t)256 << 10)
/* A start inside the file is read from the page before it: copies between equally aligned places are faster. */
#define START_UNIT 4096u

enum { GO_ON = 2 }; /* no result yet */

static const char mark[3] = {'\xef', '\xbb', '\xbf'};

/* Where the line given last begins and where the next one does. */
struct last {
  uint64_t offset, number, behind;
  unsigned marks;
};

struct weir_lines_state {
  struct weir_stream *stream; /* NULL: memory */
  bool close_stream;
  struct weir_file *file; /* of the caller; NULL */
  bool ended;             /* the stream has no more */
  bool trim_cr, bom;      /* bom: the start may still be a mark to be left out */
  size_t max_line;
  unsigned policy; /* WEIR_LONG_PARTS, WEIR_LONG_SKIP or 0 */

  /* What is held of the file: lines from `next` on, looked at up to `scan`, held up to `stop`; then from `rest` on. */
  const char *next, *scan, *stop, *rest, *rest_stop;
  uint64_t offset, number; /* of the line at `next`: in the file, and counted from 1 */

  /* Lines found and not given: run ... found - 1 of `ends`, counted from `base`. */
  const char *base;
  size_t run, found;
  bool trim;       /* some of them end with a CR that is to be cut off */
  uint32_t *ends;  /* the place before the first one is there, too */
  uint32_t end[2]; /* of a line that has no newline */

  bool skipping; /* up to the next newline at or behind `skip_from`; not beyond `skip_to` */
  uint64_t skip_from, skip_to;

  char *spill; /* a line that is longer than the room */
  size_t spill_capacity;

  /* What the caller has: lines that end at `given` and behind. */
  const uint32_t *given;
  uint32_t given_gap;
  uint64_t given_offset, given_number;
  unsigned given_marks;
  struct last last; /* before that */

  int failed, first_error, process;
  struct weir_error error;
};

/* ---- errors ---- */

static int report(struct weir_lines_state *s, int code, uint64_t size) {
  if (!s->first_error) s->first_error = code;
  return weir__fail(&s->error, code, "read line", s->error.path, s->offset, size, s->offset);
}

static int report_stream(struct weir_lines_state *s, int code) {
  if (!s->first_error) s->first_error = code;
  s->failed = code;
  s->error = *weir_stream_error(s->stream);
  return code;
}

/* ---- giving lines out ---- */

static void advance(struct weir_lines_state *s, size_t bytes) {
  s->next += bytes;
  s->offset += bytes;
}

/* `count` lines, the first from s->next on; so that a loop over them need not ask which one is the first, the place before
 * its end is made that of a line before it. */
static void give(struct weir_lines *lines, struct weir_lines_state *s, const char *base, uint32_t *ends, size_t count,
                 uint32_t gap, unsigned marks) {
  lines->base = base;
  lines->next = s->next;
  lines->end = s->given = ends;
  lines->stop = ends + count;
  lines->gap = s->given_gap = gap;
  ends[-1] = (uint32_t)(s->next - base) - gap;
  s->given_offset = s->offset;
  s->given_number = s->number;
  s->given_marks = marks;
}

static bool ends_with_cr(const char *base, size_t begin, size_t end) { return end > begin && base[end - 1] == '\r'; }

/* How many of the lines found can be given together: they end alike, with CR and LF or with LF alone, and none is too long.
 * Those with CR now end before it. */
static size_t give_together(struct weir_lines_state *s, uint32_t *gap) {
  uint32_t *ends = s->ends + s->run;
  const size_t left = s->found - s->run;
  size_t begin = (size_t)(s->next - s->base), count = 0;
  const bool cr = s->trim && ends_with_cr(s->base, begin, ends[0]);
  *gap = cr ? 2 : 1;
  if (!s->trim && ends[left - 1] - begin <= s->max_line) return left;
  for (; count < left; count++) {
    const size_t end = ends[count];
    const bool has_cr = s->trim && ends_with_cr(s->base, begin, end);
    if (has_cr != cr || end - has_cr - begin > s->max_line) break;
    ends[count] -= has_cr;
    begin = end + 1;
  }
  return count;
}

/* The next `size` bytes as they are: a CR at their end belongs to them. */
static int give_bytes(struct weir_lines *lines, struct weir_lines_state *s, size_t size, unsigned marks) {
  s->end[1] = (uint32_t)size;
  give(lines, s, s->next, &s->end[1], 1, 0, marks);
  advance(s, size);
  return 1;
}

/* The line given last, as weir_lines stands now. */
static struct last last_given(const struct weir_lines *lines) {
  const struct weir_lines_state *s = lines->state;
  if (lines->end == s->given) return s->last;
  const uint32_t *line = lines->end - 1;
  const uint32_t begin = line[-1] + s->given_gap, first = s->given[-1] + s->given_gap;
  const uint64_t offset = s->given_offset + (begin - first);
  return (struct last){.offset = offset,
                       .number = s->given_number + (size_t)(line - s->given),
                       .behind = offset + (*line - begin) + s->given_gap,
                       .marks = s->given_marks};
}

/* ---- lines above the limit ---- */

/* Is what has been looked at of the line at `next` too long, whatever follows? */
static bool is_long(const struct weir_lines_state *s) {
  const size_t size = (size_t)(s->scan - s->next);
  if (size <= s->max_line || s->bom) return false;
  const bool at_end = s->scan == s->stop && !s->rest && s->ended;
  return at_end || !s->trim_cr || size > s->max_line + 1 || s->scan[-1] != '\r';
}

/* `whole`: bytes up to behind its LF, where that is known; else 0, and what follows is skipped up to there. */
static int refuse_long(struct weir_lines *lines, struct weir_lines_state *s, size_t whole) {
  if (s->policy == WEIR_LONG_PARTS) return give_bytes(lines, s, s->max_line, WEIR_LINE_PART);
  int result = GO_ON;
  if (s->policy == WEIR_LONG_SKIP)
    lines->skipped++;
  else
    result = report(s, WEIR_ELIMIT, s->max_line);
  s->number++;
  if (whole) {
    s->run++;
    advance(s, whole);
  } else {
    s->skipping = true;
  }
  return result;
}

static int give_found(struct weir_lines *lines, struct weir_lines_state *s) {
  const size_t begin = (size_t)(s->next - s->base);
  uint32_t gap;
  const size_t count = give_together(s, &gap);
  if (count == 0) return refuse_long(lines, s, (size_t)s->ends[s->run] + 1 - begin);
  give(lines, s, s->base, s->ends + s->run, count, gap, 0);
  s->run += count;
  s->number += count;
  advance(s, (size_t)s->ends[s->run - 1] + gap - begin);
  return 1;
}

/* ---- finding lines in what is held ---- */

static void hold(struct weir_lines_state *s, const char *data, size_t looked_at, size_t size) {
  s->next = data;
  s->scan = data + looked_at;
  s->stop = data + size;
}

static void index_more(struct weir_lines_state *s) {
  const size_t from = (size_t)(s->scan - s->next), left = (size_t)(s->stop - s->scan);
  bool cr = false;
  size_t used = 0;
  s->base = s->next;
  s->run = 0;
  s->found = weir__scan_lines(s->base, from, from + (left < PIECE ? left : PIECE), s->ends, ENDS_MOST, &used, &cr);
  s->trim = cr && s->trim_cr;
  s->scan = s->base + used;
}

/* Takes a mark at the start away as soon as it is there whole. */
static void look_for_mark(struct weir_lines_state *s) {
  const size_t held = (size_t)(s->stop - s->next);
  if (!held) {
    s->bom = !s->ended;
  } else if (memcmp(s->next, mark, held < sizeof mark ? held : sizeof mark)) {
    s->bom = false;
  } else if (held >= sizeof mark) {
    advance(s, sizeof mark);
    if (s->scan < s->next) s->scan = s->next;
    s->bom = false;
  } else {
    s->bom = !s->ended;
  }
}

/* Drops what is held up to the newline that is waited for. 0: there is none. */
static int skip(struct weir_lines_state *s) {
  if (s->offset < s->skip_from) {
    const uint64_t before = s->skip_from - s->offset;
    const size_t held = (size_t)(s->stop - s->next);
    advance(s, held < before ? held : (size_t)before);
  }
  size_t size = (size_t)(s->stop - s->next);
  if (size > s->skip_to - s->offset) size = (size_t)(s->skip_to - s->offset);
  const char *newline = size ? memchr(s->next, '\n', size) : NULL;
  advance(s, newline ? (size_t)(newline + 1 - s->next) : size);
  s->scan = s->next;
  s->skipping = !newline;
  if (newline || s->offset < s->skip_to) return GO_ON;
  s->rest = NULL;
  s->ended = true;
  return 0;
}

/* ---- getting more ---- */

static int to_spill(struct weir_lines_state *s, size_t at, const char *data, size_t size) {
  if (size > SIZE_MAX / 2 - at) return WEIR_ENOMEM;
  if (at + size > s->spill_capacity) {
    char *larger = realloc(s->spill, 2 * (at + size));
    if (!larger) return WEIR_ENOMEM;
    s->spill = larger;
    s->spill_capacity = 2 * (at + size);
  }
  memmove(s->spill + at, data, size);
  return 0;
}

static bool in_spill(const struct weir_lines_state *s) {
  return s->spill && s->next >= s->spill && s->next < s->spill + s->spill_capacity;
}

/* No memory for a line: it is left out like one above the limit. */
static int refuse_spill(struct weir_lines_state *s, size_t size) {
  const int code = report(s, WEIR_ENOMEM, size);
  s->number++;
  s->skipping = true;
  return code;
}

/* The tail is longer than the room before a block: the line is put together in the spill, and the block goes on behind. */
static int load_long(struct weir_lines_state *s, size_t tail) {
  struct weir_slice block;
  if (!in_spill(s) || s->next != s->spill) {
    if (to_spill(s, 0, s->next, tail)) return refuse_spill(s, tail);
    hold(s, s->spill, tail, tail);
  }
  const int result = weir__stream_next(s->stream, NULL, 0, &block);
  if (result < 0) return report_stream(s, result);
  if (result == 0) {
    s->ended = true;
    return GO_ON;
  }
  const char *newline = memchr(block.data, '\n', block.size);
  const size_t taken = newline ? (size_t)(newline + 1 - block.data) : block.size;
  if (to_spill(s, tail, block.data, taken)) {
    const int code = refuse_spill(s, tail);
    s->offset += tail;
    hold(s, block.data, 0, block.size);
    return code;
  }
  hold(s, s->spill, tail, tail + taken);
  s->rest = taken < block.size ? block.data + taken : NULL;
  s->rest_stop = block.data + block.size;
  return GO_ON;
}

static int load(struct weir_lines_state *s) {
  struct weir_slice block;
  const size_t tail = (size_t)(s->stop - s->next);
  if (tail > weir__stream_room(s->stream)) return load_long(s, tail);
  const int result = weir__stream_next(s->stream, s->next, tail, &block);
  if (result < 0) return report_stream(s, result);
  if (result == 0) s->ended = true;
  if (block.data) hold(s, block.data - tail, tail, tail + block.size);
  return GO_ON;
}

/* ---- the next block of lines ---- */

static int give_last(struct weir_lines *lines, struct weir_lines_state *s) {
  const size_t size = (size_t)(s->stop - s->next);
  if (!size) return 0;
  (void)give_bytes(lines, s, size, WEIR_LINE_NO_NEWLINE);
  s->scan = s->next;
  s->number++;
  return 1;
}

static int step(struct weir_lines *lines, struct weir_lines_state *s) {
  if (s->bom) look_for_mark(s);
  if (s->run < s->found) return give_found(lines, s);
  if (s->skipping && s->next < s->stop) return skip(s);
  if (is_long(s)) return refuse_long(lines, s, 0);
  if (s->scan < s->stop) {
    index_more(s);
    return GO_ON;
  }
  if (s->rest) {
    hold(s, s->rest, 0, (size_t)(s->rest_stop - s->rest));
    s->rest = NULL;
    return GO_ON;
  }
  if (s->ended) return give_last(lines, s);
  return load(s);
}

int weir_abi_lines_fill(struct weir_lines *lines) {
  struct weir_lines_state *s = lines->state;
  if (!s) return lines->failed ? lines->failed : WEIR_EBADF;
  if (s->process != weir__process()) return report(s, WEIR_EFORKED, 0);
  if (lines->end != lines->stop) return 1;
  s->last = last_given(lines);
  lines->end = lines->stop = s->given = NULL;
  if (s->failed) return s->failed;
  int result;
  do result = step(lines, s);
  while (result == GO_ON);
  return result;
}

int weir_abi_lines_batch(struct weir_lines *lines, struct weir_batch *batch) {
  if (lines->end == lines->stop) {
    const int filled = weir_abi_lines_fill(lines);
    if (filled <= 0) return filled;
  }
  const struct weir_lines_state *s = lines->state;
  batch->base = lines->base;
  batch->ends = lines->end;
  batch->begin = (size_t)(lines->next - lines->base);
  batch->count = (size_t)(lines->stop - lines->end);
  batch->gap = lines->gap;
  batch->number = s->given_number + (size_t)(lines->end - s->given);
  lines->end = lines->stop;
  lines->next = lines->base + lines->stop[-1] + lines->gap;
  return 1;
}

/* ---- opening and closing ---- */

int weir__lines_check(const struct weir_lines_options *options) {
  const unsigned both = WEIR_LONG_PARTS | WEIR_LONG_SKIP;
  if ((options->flags & both) == both || (unsigned)options->strategy > WEIR_THREADS) return WEIR_EINVAL;
  return weir__check(options->flags, WEIR__LINES_FLAGS, options->reserved);
}

static struct weir_lines_state *new_state(const struct weir_lines_options *options, const char *path) {
  struct weir_lines_state *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->ends = malloc((1 + ENDS_MOST) * sizeof *s->ends);
  if (!s->ends) {
    free(s);
    return NULL;
  }
  s->ends++;
  s->max_line = options->max_line ? options->max_line : LINE_DEFAULT;
  if (s->max_line > LINE_MOST) s->max_line = LINE_MOST;
  s->policy = options->flags & (WEIR_LONG_PARTS | WEIR_LONG_SKIP);
  s->trim_cr = !(options->flags & WEIR_KEEP_CR);
  s->bom = (options->flags & WEIR_SKIP_BOM) != 0;
  s->number = 1;
  s->skip_to = UINT64_MAX;
  s->process = weir__process();
  (void)weir__fail(&s->error, 0, "", path, 0, 0, 0);
  return s;
}

static void hold_all(struct weir_lines_state *s, struct weir_slice whole) {
  hold(s, whole.data, 0, whole.size);
  s->ended = true;
}

int weir__lines_begin(struct weir_lines *lines, struct weir_stream *stream, const struct weir_lines_options *options) {
  struct weir_slice whole;
  struct weir_lines_state *s = new_state(options, weir_stream_error(stream)->path);
  if (!s) return WEIR_ENOMEM;
  s->stream = stream;
  s->offset = s->last.behind = stream->begin;
  if (weir__stream_whole(stream, &whole)) hold_all(s, whole);
  lines->state = s;
  return 0;
}

static struct weir_stream_options stream_options(const struct weir_lines_options *options) {
  return (struct weir_stream_options){
      .block_bytes = options->block_bytes, .strategy = options->strategy, .flags = options->flags & WEIR_ANY_KIND};
}

static const struct weir_lines_options no_options;

/* What all three begin with. */
static int start(struct weir_lines *lines, const struct weir_lines_options **options, const char *path,
                 struct weir_error *error) {
  if (!lines) return weir__fail(error, WEIR_EINVAL, "open", path, 0, 0, 0);
  *lines = (struct weir_lines){0};
  if (!*options) *options = &no_options;
  lines->failed = weir__lines_check(*options);
  return lines->failed ? weir__fail(error, lines->failed, "open", path, 0, 0, 0) : 0;
}

/* The stream becomes the lines'. */
static int begin(struct weir_lines *lines, struct weir_stream *stream, const struct weir_lines_options *options,
                 struct weir_error *error) {
  const int code = weir__lines_begin(lines, stream, options);
  if (code) {
    (void)weir__fail(error, code, "open", weir_stream_error(stream)->path, 0, 0, 0);
    (void)weir_stream_close(stream, NULL);
    return lines->failed = code;
  }
  lines->state->close_stream = true;
  return 0;
}

int weir_abi_lines_open(struct weir_lines *lines, const char *path, const struct weir_lines_options *options,
                        struct weir_error *error) {
  struct weir_stream *stream;
  int code = start(lines, &options, path, error);
  if (code) return code;
  const struct weir_stream_options how = stream_options(options);
  code = weir__stream_open(path, &how, true, &stream, error);
  return code ? (lines->failed = code) : begin(lines, stream, options, error);
}

int weir_abi_lines_open_file(struct weir_lines *lines, struct weir_file *file, const struct weir_lines_options *options,
                             struct weir_error *error) {
  struct weir_stream *stream;
  int code = start(lines, &options, file ? file->path : NULL, error);
  if (code) return code;
  struct weir_stream_options how = stream_options(options);
  if (file && file->seekable) how.offset = file->position;
  code = weir__stream_open_file(file, &how, true, &stream, error);
  if (!code) code = begin(lines, stream, options, error);
  if (!code && file->seekable) lines->state->file = file;
  return lines->failed = code;
}

int weir_abi_lines_open_memory(struct weir_lines *lines, const void *data, size_t size,
                               const struct weir_lines_options *options, struct weir_error *error) {
  int code = start(lines, &options, NULL, error);
  if (code) return code;
  if (!data && size)
    code = WEIR_EINVAL;
  else if (!(lines->state = new_state(options, NULL)))
    code = WEIR_ENOMEM;
  if (code) return lines->failed = weir__fail(error, code, "open", NULL, 0, 0, 0);
  hold_all(lines->state, (struct weir_slice){data ? data : "", size});
  return 0;
}

void weir__lines_restart(struct weir_lines *lines, uint64_t from, uint64_t to) {
  struct weir_lines_state *s = lines->state;
  struct weir_slice whole;
  const uint64_t behind = from ? from - 1 : 0; /* the line begins there or behind the next LF */
  lines->end = lines->stop = s->given = NULL;
  s->run = s->found = 0;
  s->rest = NULL;
  s->failed = 0;
  s->bom = s->bom && from == 0;
  s->skipping = from != 0;
  s->skip_from = behind;
  s->skip_to = to;
  if (weir__stream_whole(s->stream, &whole)) {
    hold(s, whole.data + behind, 0, whole.size - (size_t)behind);
    s->offset = behind;
    return;
  }
  s->offset = behind - behind % START_UNIT;
  s->ended = false;
  hold(s, "", 0, 0);
  weir__stream_restart(s->stream, s->offset, to);
}

uint64_t weir__lines_batch_offset(const struct weir_lines *lines) { return lines->state->given_offset; }

/* The caller's file stands behind what was given, not behind what was read. */
static void leave_file(const struct weir_lines *lines) {
  struct weir_file *file = lines->state->file;
  if (file && lines->state->process == weir__process()) file->position = last_given(lines).behind;
}

int weir_abi_lines_close(struct weir_lines *lines, struct weir_error *error) {
  if (!lines) return 0;
  struct weir_lines_state *s = lines->state;
  const int failed = lines->failed;
  if (!s) {
    lines->failed = 0;
    return failed;
  }
  leave_file(lines);
  const int closed = s->close_stream ? weir_stream_close(s->stream, error) : 0;
  const int first = s->first_error ? weir__report(error, s->first_error, &s->error) : closed;
  free(s->spill);
  free(s->ends - 1);
  free(s);
  const uint64_t skipped = lines->skipped;
  *lines = (struct weir_lines){.skipped = skipped};
  return first;
}

/* ---- looking at it ---- */

const struct weir_error *weir_abi_lines_error(const struct weir_lines *lines) {
  static const struct weir_error none;
  return lines->state ? &lines->state->error : &none;
}

unsigned weir_abi_lines_marks(const struct weir_lines *lines) { return lines->state ? last_given(lines).marks : 0; }

void weir_abi_lines_position(const struct weir_lines *lines, uint64_t *offset, uint64_t *number) {
  const struct last last = lines->state ? last_given(lines) : (struct last){0};
  if (offset) *offset = last.offset;
  if (number) *number = last.number;
}
