/*
 * count_lines.c - the lines of one file by several threads: counted, or handed to the caller's function. Threads take
 * segments of the file from one counter; a line belongs to the segment in which it begins.
 */
#include <stdlib.h>

#include "lib/crew.h"
#include "lib/lines.h"

#define SEGMENT ((uint64_t)2 << 20)
#define SEGMENTS_MOST (1u << 30) /* larger files have larger segments, so that their number fits a counter everywhere */
/* Counting: bytes read at once, which stay in the second-level cache; a thread is worth starting for so many. */
#define COUNT_BLOCK ((size_t)256 << 10)
#define COUNT_BYTES_A_THREAD ((uint64_t)4 << 20)

/* ---- threads over segments ---- */

/* One job shared by all threads. */
struct crowd {
  uint64_t segment; /* bytes of one */
  unsigned segments;
  atomic_uint taken;
  atomic_int result;       /* what ends it all, when not zero */
  struct weir_error error; /* of who set it */
};

static void divide(struct crowd *crowd, uint64_t size, uint64_t segment) {
  crowd->segment = segment;
  while (size / crowd->segment >= SEGMENTS_MOST) crowd->segment *= 2;
  crowd->segments = (unsigned)(size / crowd->segment) + (size % crowd->segment != 0);
  if (crowd->segments == 0) crowd->segments = 1; /* what seems empty may not be */
}

/* The next segment; false if there is none, or all has been ended. The counter stays far from wrapping: it stops at the
 * number of segments and of threads. */
static bool take_segment(struct crowd *crowd, uint64_t *from, uint64_t *to) {
  if (atomic_load(&crowd->result)) return false;
  const unsigned segment = atomic_fetch_add(&crowd->taken, 1);
  if (segment >= crowd->segments) return false;
  *from = segment * crowd->segment;
  *to = segment + 1 == crowd->segments ? UINT64_MAX : *from + crowd->segment;
  return true;
}

/* Only the first result counts. */
static void end_all(struct crowd *crowd, int result, const struct weir_error *error) {
  int none = 0;
  if (!atomic_compare_exchange_strong(&crowd->result, &none, result)) return;
  if (error) crowd->error = *error;
}

static unsigned at_most(unsigned threads, uint64_t most) {
  if (threads > WEIR__CREW_MAX) threads = WEIR__CREW_MAX;
  return threads <= most ? threads : most ? (unsigned)most : 1;
}

/* ---- counting ---- */

struct tally {
  uint64_t newlines;
  uint64_t end; /* the furthest byte seen lies before it */
  char last;    /* that byte */
};

struct counting {
  struct crowd crowd;
  os_file file;
  const char *map; /* all of the file; NULL: it is read */
  uint64_t map_size;
  const char *path;
  struct tally *tallies; /* one for each thread */
};

static void tally_up(struct tally *tally, const char *data, size_t size, uint64_t offset) {
  tally->newlines += weir__count_newlines(data, size);
  if (!size || offset + size < tally->end) return;
  tally->end = offset + size;
  tally->last = data[size - 1];
}

/* [from, to) of the file, or what there is of it. */
static int count_range(struct counting *counting, struct tally *tally, char *block, uint64_t from, uint64_t to) {
  while (from < to) {
    const size_t size = to - from < COUNT_BLOCK ? (size_t)(to - from) : COUNT_BLOCK;
    size_t done;
    const int code = weir__pread(counting->file, block, size, from, &done);
    tally_up(tally, block, done, from);
    from += done;
    if (code) {
      struct weir_error error;
      (void)weir__fail(&error, code, "read", counting->path, from, size - done, 0);
      end_all(&counting->crowd, code, &error);
      return code;
    }
    if (done < size) break;
  }
  return 0;
}

static void count_mapped_segments(void *context, unsigned member) {
  struct counting *counting = context;
  struct tally tally = {0};
  uint64_t from, to;
  while (take_segment(&counting->crowd, &from, &to)) {
    if (to > counting->map_size) to = counting->map_size;
    tally_up(&tally, counting->map + from, (size_t)(to - from), from);
  }
  counting->tallies[member] = tally;
}

static void count_segments(void *context, unsigned member) {
  struct counting *counting = context;
  struct tally tally = {0};
  uint64_t from, to;
  void *block;
  const int code = weir__pages_get(COUNT_BLOCK, 0, &block);
  if (code) {
    struct weir_error error;
    (void)weir__fail(&error, code, "read", counting->path, 0, 0, 0);
    end_all(&counting->crowd, code, &error);
    return;
  }
  while (take_segment(&counting->crowd, &from, &to) && !count_range(counting, &tally, block, from, to)) continue;
  weir__pages_put(block, COUNT_BLOCK);
  counting->tallies[member] = tally;
}

static uint64_t lines_of(const struct tally *tallies, unsigned count) {
  struct tally sum = {0};
  for (unsigned i = 0; i < count; i++) {
    sum.newlines += tallies[i].newlines;
    if (tallies[i].end > sum.end) {
      sum.end = tallies[i].end;
      sum.last = tallies[i].last;
    }
  }
  return sum.newlines + (sum.end && sum.last != '\n'); /* a last line without LF counts */
}

static int count_together(struct counting *counting, uint64_t size, const struct weir__together *together, uint64_t *count,
                          struct weir_error *error) {
  divide(&counting->crowd, size, together->segment);
  const unsigned threads = at_most(together->threads, counting->crowd.segments);
  counting->tallies = calloc(threads, sizeof *counting->tallies);
  if (!counting->tallies) return weir__fail(error, WEIR_ENOMEM, "read", counting->path, 0, 0, 0);
  (void)weir__crew_work(threads, counting->map ? count_mapped_segments : count_segments, counting);
  const int code = atomic_load(&counting->crowd.result);
  *count = lines_of(counting->tallies, threads);
  if (code && error) *error = counting->crowd.error;
  free(counting->tallies);
  return code;
}

static int count_mapped(const char *path, struct weir__together together, uint64_t *count, struct weir_error *error) {
  struct weir_view view;
  int code = weir_view_open(&view, path, 0, 0, WEIR_HINT_SEQUENTIAL, false, error);
  if (code) return code;
  struct counting counting = {.map = view.data, .map_size = view.size, .path = path};
  if (!together.threads) together.threads = at_most(weir__processors(), view.size / COUNT_BYTES_A_THREAD);
  code = count_together(&counting, view.size, &together, count, error);
  (void)weir_view_close(&view);
  return code;
}

static int count_in_order(const char *path, enum weir_strategy strategy, uint64_t *count, struct weir_error *error) {
  const struct weir_stream_options options = {.strategy = strategy};
  struct weir_stream *stream;
  struct weir_slice block;
  struct tally tally = {0};
  int code = weir_stream_open(path, &options, &stream, error);
  if (code) return code;
  while ((code = weir_stream_next(stream, &block)) > 0) tally_up(&tally, block.data, block.size, tally.end);
  if (code && error) *error = *weir_stream_error(stream);
  (void)weir_stream_close(stream, NULL);
  *count = lines_of(&tally, 1);
  return code;
}

/* A file that is not cached comes as fast as its device gives it, whoever counts. */
static unsigned choose_threads(os_file file, const struct os_stat *stat) {
  const unsigned threads = at_most(weir__processors(), stat->size / COUNT_BYTES_A_THREAD);
  if (threads < 2) return 1;
  const int cached = weir__cached_percent(file, 0, stat->size);
  return cached < 0 || cached >= 50 ? threads : 1;
}

int weir__count_lines(const char *path, struct weir__together together, uint64_t *count, struct weir_error *error) {
  os_file file;
  struct os_stat stat;
  if (!count) return weir__fail(error, WEIR_EINVAL, "open", path, 0, 0, 0);
  *count = 0;
  if (together.strategy == WEIR_MAPPED) return count_mapped(path, together, count, error);
  if (together.threads == 1 || together.strategy != WEIR_AUTO) {
    return count_in_order(path, together.strategy == WEIR_AUTO ? WEIR_BUFFERED : together.strategy, count, error);
  }
  int code = weir__open(path, OS_READ, 0, 0, &file, &stat, error);
  if (code) return code;
  if (!together.threads) together.threads = choose_threads(file, &stat);
  struct counting counting = {.file = file, .path = path};
  if (together.threads > 1 && stat.size)
    code = count_together(&counting, stat.size, &together, count, error);
  else
    code = count_in_order(path, WEIR_AUTO, count, error);
  (void)os_close(file);
  return code;
}

int weir_count_lines(const char *path, unsigned threads, const struct weir_lines_options *options, uint64_t *count,
                     struct weir_error *error) {
  struct weir__together together = {.threads = threads, .segment = SEGMENT};
  if (options) {
    const int code = weir__check(options->flags, 0, options->reserved);
    if (code) return weir__fail(error, code, "open", path, 0, 0, 0);
    together.strategy = options->strategy;
  }
  return weir__count_lines(path, together, count, error);
}

/* ---- handing lines to the caller's function ---- */

struct handing {
  struct crowd crowd;
  struct weir_stream *stream;
  const struct weir_lines_options *options;
  weir_lines_worker *each;
  void *context;
};

/* How many lines of the batch begin before `to`; the first one does. */
static size_t lines_before(const struct weir_batch *batch, uint64_t offset, uint64_t to) {
  size_t low = 1, high = batch->count; /* line `high` and those behind it begin at or behind `to` */
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const uint64_t begin = offset + ((size_t)batch->ends[middle - 1] + batch->gap - batch->begin);
    if (begin >= to)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/* All lines that begin in the segment. A line that comes in parts began where its first part did, and the first line of the
 * file at 0, though a mark before it be left out. */
static int hand_segment(struct handing *handing, struct weir_lines *lines, unsigned member, uint64_t from, uint64_t to) {
  struct weir_batch batch;
  bool ours = false;
  int result;
  weir__lines_restart(lines, from, to);
  while ((result = weir_lines_batch(lines, &batch)) > 0) {
    const uint64_t offset = weir__lines_batch_offset(lines);
    const bool first_of_file = from == 0 && batch.number == 1; /* at 0, though a mark before it be left out */
    if (!ours && !first_of_file && offset >= to) return 0;
    const size_t all = batch.count;
    batch.count = lines_before(&batch, offset, to);
    batch.number = 0;
    ours = (weir_lines_marks(lines) & WEIR_LINE_PART) != 0;
    result = atomic_load(&handing->crowd.result);
    if (!result) result = handing->each(handing->context, member, offset, &batch);
    if (result) {
      end_all(&handing->crowd, result, NULL);
      return result;
    }
    if (batch.count < all) return 0;
  }
  if (result < 0) end_all(&handing->crowd, result, weir_lines_error(lines));
  return result;
}

/* A mapped stream is shared; else each thread has a block of its own. */
static int open_member(struct handing *handing, struct weir_lines *lines, struct weir_stream **clone) {
  struct weir_slice whole;
  struct weir_stream *stream = handing->stream;
  if (!weir__stream_whole(stream, &whole)) {
    const int error = weir__stream_clone(stream, clone);
    if (error) return error;
    stream = *clone;
  }
  return weir__lines_begin(lines, stream, handing->options);
}

static void hand_segments(void *context, unsigned member) {
  struct handing *handing = context;
  struct weir_lines lines = {0};
  struct weir_stream *clone = NULL;
  uint64_t from, to;
  const int code = open_member(handing, &lines, &clone);
  if (code) {
    struct weir_error error;
    (void)weir__fail(&error, code, "open", weir_stream_error(handing->stream)->path, 0, 0, 0);
    end_all(&handing->crowd, code, &error);
  }
  while (!code && take_segment(&handing->crowd, &from, &to) && !hand_segment(handing, &lines, member, from, to)) continue;
  (void)weir_lines_close(&lines, NULL);
  (void)weir_stream_close(clone, NULL);
}

int weir__lines_parallel(const char *path, struct weir__together together, const struct weir_lines_options *options,
                         weir_lines_worker *each, void *context, struct weir_error *error) {
  static const struct weir_lines_options none;
  if (!options) options = &none;
  struct handing handing = {.options = options, .each = each, .context = context};
  int code = each ? weir__lines_check(options) : WEIR_EINVAL;
  if (!code && (options->flags & WEIR_ANY_KIND)) code = WEIR_EINVAL;
  if (!code && options->strategy == WEIR_RING) code = WEIR_EOPNOTSUPP; /* a block at a time, by each thread */
  if (code) return weir__fail(error, code, "open", path, 0, 0, 0);
  /* Each thread reads what it wants next, so all of them together keep the device busy. */
  const struct weir_stream_options how = {.block_bytes = options->block_bytes,
                                          .depth = 1,
                                          .strategy = options->strategy == WEIR_AUTO ? WEIR_BUFFERED : options->strategy};
  code = weir__stream_open(path, &how, true, &handing.stream, error);
  if (code) return code;
  divide(&handing.crowd, handing.stream->stat.size, together.segment);
  if (!together.threads) together.threads = weir__processors();
  (void)weir__crew_work(at_most(together.threads, handing.crowd.segments), hand_segments, &handing);
  code = atomic_load(&handing.crowd.result);
  if (code && error && handing.crowd.error.code == code) *error = handing.crowd.error;
  (void)weir_stream_close(handing.stream, NULL);
  return code;
}

int weir_lines_parallel(const char *path, unsigned threads, const struct weir_lines_options *options,
                        weir_lines_worker *each, void *context, struct weir_error *error) {
  const struct weir__together together = {.threads = threads, .segment = SEGMENT};
  return weir__lines_parallel(path, together, options, each, context, error);
}
