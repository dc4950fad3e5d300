/*
 * whole.c - a whole file into memory. The size that the system tells decides how much memory is got and how it is read,
 * never when the file ends: only a read that finds nothing does, or one of a regular file that asked for more than the size
 * and got just the size.
 */
#include <string.h>

#include "lib/crew.h"
#include "lib/internal.h"

#define KIB ((size_t)1024)
#define MIB (KIB * 1024)
#define FIRST_GUESS (64 * KIB - 1) /* for files that tell no size; with the zero byte a round number */
/* Of one read where the size tells nothing: some files that the system makes up refuse to fill more than a few MiB. */
#define UNKNOWN_PIECE MIB
#define MEMORY_ASKED_FROM (256 * MIB)   /* below it, finding out what is free costs more than it saves */
#define SIZE_LIMIT (SIZE_MAX - 4 * MIB) /* leaves room to round up */

struct whole {
  struct weir__crew_source from;
  const struct os_stat *stat;
  const char *path;
  struct weir_bytes *bytes;
  struct weir_error *error;
  bool chosen;      /* how to read is our choice: what is refused is done without */
  unsigned flags;   /* for the memory */
  unsigned helpers; /* threads to be started */
  size_t limit;     /* bytes to be read at most, one more than is allowed: then the file has too many */
  size_t expected;  /* as the size says; 0 where it tells nothing */
  size_t skew;      /* bytes before the ones that are wanted, so that direct reads begin where they may */
  size_t block;     /* that direct reads may write beyond the end; 1 otherwise */
  size_t done;      /* never more than bytes->capacity: the zero byte has its place */
  size_t touched;   /* threads may have written up to here, behind an error or the end that one of them met */
};

static size_t good_bytes(const struct whole *w) { return w->done > w->skew ? w->done - w->skew : 0; }

static int fail(const struct whole *w, int code, const char *operation, size_t size) {
  return weir__fail(w->error, code, operation, w->path, w->from.offset + w->done, size, good_bytes(w));
}

/* ---- memory ---- */

/* What cannot be had is refused before the system kills somebody for it. */
static int get_room(struct whole *w, size_t capacity) {
  if (capacity > w->bytes->capacity && capacity >= MEMORY_ASKED_FROM) {
    const uint64_t available = os_available_bytes();
    if (available && capacity - w->bytes->capacity > available) return fail(w, WEIR_ENOMEM, "allocate", capacity);
  }
  const int code = weir__bytes_room(w->bytes, capacity, w->done, w->flags);
  return code ? fail(w, code, "allocate", capacity) : 0;
}

/* One byte more than is expected: then one read brings all and tells that it is all. */
static int get_first_room(struct whole *w) {
  return get_room(w, weir__round_up(w->expected ? w->expected + 1 : weir__smaller_size(FIRST_GUESS, w->limit), w->block));
}

static int grow(struct whole *w) {
  const size_t capacity = w->bytes->capacity, most = weir__round_up(w->limit, w->block);
  if (capacity >= most) return 0;
  if (capacity > SIZE_LIMIT / 2) return fail(w, WEIR_ENOMEM, "allocate", capacity);
  return get_room(w, weir__smaller_size(capacity < FIRST_GUESS ? FIRST_GUESS : capacity * 2 + 1, most));
}

/* ---- one read after the other ---- */

static int end_direct(struct whole *w) {
  w->from.align = 1;
  return os_set_direct(w->from.file, false);
}

/* Drops what was refused at the first read, if it was only our choice. */
static bool go_without(struct whole *w, int code) {
  if (!w->chosen || w->done) return false;
  if (code == WEIR_EOPNOTSUPP && w->from.uncached) {
    weir__cannot(w->stat, WEIR_FEATURE_UNCACHED);
    w->from.uncached = false;
    return true;
  }
  if (code != WEIR_EINVAL || w->from.align == 1) return false;
  weir__cannot(w->stat, WEIR_FEATURE_DIRECT);
  return end_direct(w) == 0;
}

/* How much to ask for. */
static size_t wanted(const struct whole *w) {
  size_t most = w->bytes->capacity;
  if (w->expected && w->done <= w->expected) {
    most = w->expected + 1;
  } else if (most - w->done > UNKNOWN_PIECE) {
    most = w->done + UNKNOWN_PIECE;
  }
  most = weir__smaller_size(most, w->limit) - w->done;
  return w->from.align > 1 ? (w->bytes->capacity - w->done) / w->from.align * w->from.align : most;
}

/* The end: nothing came; or all that was expected of a regular file, and no more although more was asked for. */
static bool is_end(const struct whole *w, size_t count, size_t size) {
  return count == 0 || (w->stat->kind == OS_REGULAR && w->done == w->expected && count < size);
}

static int read_once(struct whole *w, bool *end) {
  size_t size = wanted(w);
  if (!size) {
    const int code = grow(w);
    if (code) return code;
    size = wanted(w);
  }
  const int64_t count = weir__crew_read(&w->from, w->bytes->data + w->done, size, w->done);
  if (count < 0) return go_without(w, (int)count) ? 0 : fail(w, (int)count, "read", size);
  w->done += (size_t)count;
  *end = is_end(w, (size_t)count, size);
  if (*end || (size_t)count % w->from.align == 0) return 0;
  /* Direct reads are whole blocks: what is behind a part of one, if anything, is read without. */
  const int code = end_direct(w);
  return code ? fail(w, code, "read", 0) : 0;
}

static int read_on(struct whole *w) {
  int code = 0;
  for (bool end = false; !code && !end && w->done < w->limit;) code = read_once(w, &end);
  return code;
}

/* Reads what is expected by several threads: they end early only where the file did. */
static int read_by_many(struct whole *w, struct weir_choice *how, bool *end) {
  struct weir__crew_result result;
  const size_t total = w->expected / w->from.align * w->from.align;
  w->touched = total;
  how->threads = weir__crew_fill(&w->from, w->bytes->data, total, w->helpers, &result);
  w->done = result.done;
  if (result.code) return go_without(w, result.code) ? 0 : fail(w, result.code, "read", total - result.done);
  *end = result.done < total;
  if (w->done % w->from.align == 0) return 0;
  const int code = end_direct(w);
  return code ? fail(w, code, "read", 0) : 0;
}

/* ---- what is asked for ---- */

static const unsigned known_flags = WEIR_ANY_KIND | WEIR_HUGE | WEIR_SMALL_PAGES | WEIR_EXACT;

static bool has_positions(enum os_kind kind) { return kind == OS_REGULAR || kind == OS_BLOCK_DEVICE; }

static int check(const struct weir_read_options *options) {
  if ((unsigned)options->strategy > WEIR_THREADS) return WEIR_EINVAL;
  if ((options->flags & WEIR_HUGE) && (options->flags & WEIR_SMALL_PAGES)) return WEIR_EINVAL;
  return weir__check(options->flags, known_flags, options->reserved);
}

/* How many threads are started, and how that is called. */
static void choose_helpers(struct whole *w, const struct weir_read_options *options, struct weir_choice *how) {
  w->helpers = how->threads;
  if (options->strategy == WEIR_THREADS) w->helpers = weir__processors() > 1 ? weir__processors() - 1 : 1;
  if (options->threads) w->helpers = options->threads - 1;
  if (w->helpers > WEIR__CREW_READERS - 1) w->helpers = WEIR__CREW_READERS - 1;
  if (!w->from.positional || !w->expected) w->helpers = 0;
  how->threads = 0; /* until they are there */
  if (w->helpers) {
    how->depth = w->helpers + 1;
    how->block_bytes = WEIR__CREW_PIECE;
    if (how->strategy == WEIR_BUFFERED && w->chosen) how->strategy = WEIR_THREADS;
  } else if (how->strategy == WEIR_THREADS && w->chosen) {
    *how = (struct weir_choice){.strategy = WEIR_BUFFERED, .depth = 1, .reason = "one thread was asked for"};
  }
}

static int choose(struct whole *w, const struct weir_read_options *options, struct weir_choice *how) {
  const enum weir_strategy asked = options->strategy;
  if (asked == WEIR_MAPPED || asked == WEIR_RING) return WEIR_EOPNOTSUPP; /* a copy of a map can kill: see weir_view */
  w->chosen = asked == WEIR_AUTO;
  if (w->chosen) {
    weir__choose(w->from.file, w->stat, WEIR_USE_WHOLE, (struct weir__part){w->from.offset, w->expected}, how);
  } else {
    *how = (struct weir_choice){.strategy = asked, .depth = 1, .reason = "asked for"};
  }
  choose_helpers(w, options, how);
  return 0;
}

static int begin_direct(struct whole *w) {
  uint32_t memory = 1, offset = 1;
  int code = w->from.positional ? os_direct_alignment(w->from.file, &memory, &offset) : WEIR_EOPNOTSUPP;
  if (code && (code != WEIR_EOPNOTSUPP || !w->from.positional)) return code;
  w->block = code || offset < 512 ? 4 * KIB : offset;
  if (w->block > os_page_size()) return WEIR_EOPNOTSUPP; /* memory is aligned to pages */
  code = os_set_direct(w->from.file, true);
  if (code) {
    w->block = 1;
    return code;
  }
  w->from.align = w->block;
  w->skew = (size_t)(w->from.offset % w->block);
  w->from.offset -= w->skew;
  if (w->limit != SIZE_LIMIT) w->limit += w->skew;
  if (w->expected) w->expected += w->skew;
  w->flags |= WEIR__PAGES;
  return 0;
}

static int begin(struct whole *w, const struct weir_read_options *options, struct weir_choice *how) {
  int code = choose(w, options, how);
  if (code) return fail(w, code, weir_strategy_name(options->strategy), 0);
  w->from.uncached = how->strategy == WEIR_UNCACHED;
  how->direct = how->strategy == WEIR_DIRECT;
  if (w->from.uncached && !w->from.positional) code = WEIR_EOPNOTSUPP;
  if (how->direct) code = begin_direct(w);
  if (code && w->chosen) {
    how->strategy = WEIR_BUFFERED;
    how->direct = w->from.uncached = false;
    code = 0;
  }
  return code ? fail(w, code, weir_strategy_name(options->strategy), 0) : 0;
}

/* Where the size says that there is too much, one byte proves it, and nothing is read for nothing. */
static int check_limit(struct whole *w, uint64_t max_bytes) {
  char byte;
  if (!max_bytes || !w->from.positional || w->stat->size <= w->from.offset) return 0;
  if (w->stat->size - w->from.offset <= max_bytes) return 0;
  if (os_pread(w->from.file, &byte, 1, w->from.offset + max_bytes) != 1) return 0;
  return fail(w, WEIR_ELIMIT, "read", 0);
}

static int prepare(struct whole *w, const struct weir_read_options *options) {
  const uint64_t size = w->stat->size, max = options->max_bytes;
  w->limit = max && max < SIZE_LIMIT ? (size_t)max + 1 : SIZE_LIMIT;
  if (!w->from.positional && options->offset) {
    const int code = w->stat->kind == OS_CHARACTER_DEVICE ? os_seek(w->from.file, options->offset) : WEIR_ESPIPE;
    if (code) return fail(w, code, "seek", 0);
  }
  const int code = check_limit(w, max);
  if (code || !w->from.positional || size <= w->from.offset) return code;
  if (size - w->from.offset >= SIZE_LIMIT && w->limit == SIZE_LIMIT) return fail(w, WEIR_EOVERFLOW, "read", 0);
  w->expected = size - w->from.offset < w->limit ? (size_t)(size - w->from.offset) : w->limit - 1;
  return 0;
}

static int read_all(struct whole *w, const struct weir_read_options *options, struct weir_choice *how) {
  bool end = false;
  int code = prepare(w, options);
  if (!code) code = begin(w, options, how);
  if (!code) code = get_first_room(w);
  if (w->from.positional && w->from.offset > INT64_MAX) return code; /* behind every end */
  if (!code && w->helpers) code = read_by_many(w, how, &end);
  if (!code && !end) code = read_on(w);
  return code;
}

/* What was read is put in order: from the first byte wanted, not more than allowed, a zero byte behind it. */
static void finish(struct whole *w) {
  if (!w->bytes->data) return;
  const size_t good = good_bytes(w), most = w->limit == SIZE_LIMIT ? SIZE_MAX : w->limit - w->skew - 1;
  if (w->skew && good) memmove(w->bytes->data, w->bytes->data + w->skew, good);
  const size_t read = weir__round_up(w->done, w->block), written = read > w->touched ? read : w->touched;
  weir__bytes_end(w->bytes, weir__smaller_size(good, most), weir__smaller_size(written, w->bytes->capacity + 1));
}

int weir__read_whole(os_file file, const struct os_stat *stat, const char *path, struct weir_bytes *bytes,
                     const struct weir_read_options *options, struct weir_error *error) {
  struct weir_choice how = {0};
  struct whole w = {.from = {.file = file, .positional = has_positions(stat->kind), .offset = options->offset, .align = 1},
                    .stat = stat,
                    .path = path,
                    .bytes = bytes,
                    .error = error,
                    .block = 1,
                    .flags = options->flags & (WEIR_HUGE | WEIR_SMALL_PAGES)};
  bytes->size = 0;
  int code = read_all(&w, options, &how);
  finish(&w);
  if (!code && w.limit != SIZE_LIMIT && w.done >= w.limit) {
    w.done = w.limit - 1;
    code = fail(&w, WEIR_ELIMIT, "read", 0);
  } else if (!code && (options->flags & WEIR_EXACT) && w.done < w.expected) {
    code = fail(&w, WEIR_ETRUNCATED, "read", w.expected - w.done);
  }
  if (options->how) *options->how = how;
  return code;
}

/* ---- by path ---- */

int weir_read_file(const char *path, struct weir_bytes *bytes, const struct weir_read_options *options,
                   struct weir_error *error) {
  static const struct weir_read_options none = {0};
  os_file file;
  struct os_stat stat;
  if (!options) options = &none;
  if (!bytes || check(options)) return weir__fail(error, WEIR_EINVAL, "read", path, 0, 0, 0);
  bytes->size = 0;
  if (bytes->data) bytes->data[0] = '\0'; /* what an earlier file left is not this one's */
  int code = weir__open(path, OS_READ | OS_STAY_READY, options->flags & WEIR_ANY_KIND, 0, &file, &stat, error);
  if (code) return code;
  code = weir__read_whole(file, &stat, path, bytes, options, error);
  (void)os_close(file);
  return code;
}

/* Does the file go on behind what was read? */
static int goes_on(os_file file, uint64_t offset) {
  char byte;
  const int64_t count = os_pread(file, &byte, 1, offset);
  return count < 0 ? (int)count : count > 0 ? WEIR_MORE : 0;
}

static int fill(os_file file, const struct os_stat *stat, char *buffer, size_t capacity, size_t *size) {
  const struct weir__crew_source from = {.file = file, .positional = true, .align = 1};
  struct weir_choice how;
  size_t done = 0;
  const uint64_t expected = stat->size < capacity ? stat->size : capacity;
  weir__choose(file, stat, WEIR_USE_WHOLE, (struct weir__part){0, expected}, &how);
  if (how.strategy == WEIR_THREADS) {
    struct weir__crew_result result;
    (void)weir__crew_fill(&from, buffer, (size_t)expected, how.threads, &result);
    *size = done = result.done;
    if (result.code || done < expected) return result.code;
  }
  while (done < capacity) {
    const size_t want = done < stat->size ? capacity - done : weir__smaller_size(capacity - done, UNKNOWN_PIECE);
    const int64_t count = weir__crew_read(&from, buffer + done, want, done);
    if (count <= 0) return (int)count;
    *size = done += (size_t)count;
    if (done == stat->size && (size_t)count < want) return 0;
  }
  return goes_on(file, done);
}

int weir_read_into(const char *path, void *buffer, size_t capacity, size_t *size, struct weir_error *error) {
  os_file file;
  struct os_stat stat;
  size_t done = 0;
  if (size) *size = 0;
  if (!size || (!buffer && capacity)) return weir__fail(error, WEIR_EINVAL, "read", path, 0, 0, 0);
  int code = weir__open(path, OS_READ | OS_STAY_READY, 0, 0, &file, &stat, error);
  if (code) return code;
  code = fill(file, &stat, buffer, capacity, &done);
  *size = done;
  if (code < 0) (void)weir__fail(error, code, "read", path, done, capacity - done, done);
  (void)os_close(file);
  return code;
}

int weir_read_items(const char *path, size_t item_size, struct weir_bytes *bytes, size_t *count, struct weir_error *error) {
  if (count) *count = 0;
  if (!item_size || !count) return weir__fail(error, WEIR_EINVAL, "read", path, 0, 0, 0);
  const int code = weir_read_file(path, bytes, NULL, error);
  if (bytes) *count = bytes->size / item_size;
  if (code) return code;
  const size_t rest = bytes->size % item_size;
  return rest ? weir__fail(error, WEIR_EFORMAT, "read", path, bytes->size - rest, rest, bytes->size) : 0;
}
