/*
 * ahead_open.c - opening a stream of blocks: what is asked for, how it is to be read, and making it so, with memory and what
 * is in flight. Also the way back from what is refused to plain reads.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/ahead.h"

/* A block that stays in the second-level cache between being filled and being used. */
#define CACHED_BLOCK ((size_t)256 << 10)
/* Two or three requests of this size keep one device busy. */
#define FLIGHT_BLOCK ((size_t)1 << 20)
#define FLIGHT_DEPTH 3u
#define DEPTH_MOST 1024u
/* The room for the rest of the block before: as much as a quarter of a block, of these sizes. */
#define ROOM_LEAST ((size_t)64)
#define ROOM_MOST ((size_t)64 << 10)
/* The longest distance of reading ahead. */
#define AHEAD_MOST ((uint64_t)16 << 20)

/* ---- memory ---- */

int weir__slots_make(struct weir_stream *s, unsigned count, unsigned flags) {
  const size_t unit = s->alignment > ROOM_LEAST ? s->alignment : ROOM_LEAST;
  size_t total;
  const size_t slack = s->room + 3 * unit;
  if (s->block > SIZE_MAX - slack) return WEIR_ENOMEM;
  s->room = weir__round_up(s->room, unit);
  /* an unaligned block sticks out of its sectors on both sides */
  s->stride = weir__round_up(s->room + s->block + (s->alignment > 1 ? 2 * s->alignment : 0), unit);
  if (s->stride > SIZE_MAX / count) return WEIR_ENOMEM;
  total = s->stride * count;
  s->slots = calloc(count, sizeof *s->slots);
  if (!s->slots) return WEIR_ENOMEM;
  const int error = weir__pages_get(total, flags, &s->pages);
  if (error) {
    free(s->slots);
    s->slots = NULL;
    return error;
  }
  s->pages_bytes = total;
  s->slot_count = count;
  s->held = NULL;
  for (unsigned i = 0; i < count; i++) s->slots[i].memory = (char *)s->pages + i * s->stride + s->room;
  return 0;
}

void weir__slots_drop(struct weir_stream *s) {
  if (s->pages) weir__pages_put(s->pages, s->pages_bytes);
  free(s->slots);
  s->pages = NULL;
  s->slots = NULL;
}

/* With two, a block that begins inside a sector is read beside the one whose tail is put before it. */
unsigned weir__slots_at_rest(const struct weir_stream *s) { return s->alignment > 1 ? 2 : 1; }

/* ---- through the page cache after all ---- */

void weir__stream_buffered(struct weir_stream *s, const char *reason) {
  s->how.strategy = WEIR_BUFFERED;
  s->how.direct = false;
  s->how.depth = 1;
  s->how.threads = 0;
  s->how.reason = reason;
}

/* From a file that passes the page cache by to the same file through it. */
int weir__stream_take_plain(struct weir_stream *s) {
  if (s->alignment == 1) return 0;
  if (s->plain == os_no_file) { /* the caller opened it so */
    const int error = os_reopen(s->file, OS_READ, &s->plain);
    if (error) {
      s->plain = os_no_file;
      return error;
    }
    s->close_plain = true;
  }
  if (s->close_file) (void)os_close(s->file);
  s->file = s->plain;
  s->close_file = s->close_plain;
  s->plain = os_no_file;
  s->close_plain = false;
  s->alignment = 1;
  return 0;
}

/* ---- opening: what is asked for ---- */

static uint64_t known_bytes(const struct weir_stream *s) { return s->known_end - s->begin; }

static void plan_auto(struct weir_stream *s) {
  if (s->alignment > 1)
    s->how = (struct weir_choice){.strategy = WEIR_DIRECT, .direct = true, .reason = "the file was opened so"};
  else if (s->transfer & OS_TRANSFER_UNCACHED)
    s->how = (struct weir_choice){.strategy = WEIR_UNCACHED, .reason = "the file was opened so"};
  else if (known_bytes(s) && known_bytes(s) < CACHED_BLOCK)
    s->how = (struct weir_choice){.strategy = WEIR_BUFFERED, .reason = "one block"};
  else if (s->stat.kind == OS_REGULAR)
    weir__choose(s->file, &s->stat, WEIR_USE_STREAM, (struct weir__part){s->begin, known_bytes(s)}, &s->how);
  else
    s->how = (struct weir_choice){.strategy = WEIR_BUFFERED, .reason = "not a regular file"};
}

static bool passes_cache(enum weir_strategy strategy) {
  return strategy == WEIR_DIRECT || strategy == WEIR_UNCACHED || strategy == WEIR_RING || strategy == WEIR_THREADS;
}

/* A ring gains nothing on what is cached: there it copies one block after the other in the thread that submits. */
static bool ring_goes_direct(const struct weir_stream *s) {
  return s->alignment > 1 || (weir__can(s->file, &s->stat, WEIR_FEATURE_DIRECT, NULL) &&
                              weir__cached_percent(s->file, s->begin, known_bytes(s)) < 50);
}

static void plan(struct weir_stream *s, const struct weir_stream_options *options) {
  struct weir_choice *how = &s->how;
  s->may_change = options->strategy == WEIR_AUTO;
  if (s->may_change)
    plan_auto(s);
  else
    *how = (struct weir_choice){.strategy = options->strategy, .reason = "asked for"};
  if (options->strategy == WEIR_DIRECT) how->direct = true;
  if (options->strategy == WEIR_RING) how->direct = ring_goes_direct(s);
  if (options->strategy == WEIR_THREADS) how->direct = s->alignment > 1;
  if (options->depth) how->depth = options->depth < DEPTH_MOST ? options->depth : DEPTH_MOST;
  if (options->block_bytes) {
    how->block_bytes = options->block_bytes;
  } else if (!passes_cache(how->strategy)) {
    if (!how->block_bytes || how->block_bytes > CACHED_BLOCK) how->block_bytes = CACHED_BLOCK;
    /* one byte more than there should be, so that one call meets the end */
    if (known_bytes(s) && known_bytes(s) < how->block_bytes) {
      how->block_bytes = weir__round_up((size_t)known_bytes(s) + 1, 4096);
    }
  } else if (!how->block_bytes) {
    how->block_bytes = FLIGHT_BLOCK;
  }
}

/* ---- opening: making it so ---- */

static int go_direct(struct weir_stream *s) {
  uint32_t memory = 4096, offset = 4096;
  os_file direct;
  if (s->alignment > 1) return 0;
  if (!weir__can(s->file, &s->stat, WEIR_FEATURE_DIRECT, NULL)) return WEIR_EOPNOTSUPP;
  const int error = os_reopen(s->file, OS_READ | OS_DIRECT, &direct);
  if (error) return error;
  if (os_direct_alignment(direct, &memory, &offset) || !memory || !offset) memory = offset = 4096;
  if (memory > os_page_size()) {
    (void)os_close(direct);
    return WEIR_EOPNOTSUPP;
  }
  s->alignment = memory > offset ? memory : offset;
  s->plain = s->file;
  s->close_plain = s->close_file;
  s->file = direct;
  s->close_file = true;
  return 0;
}

static int map(struct weir_stream *s) {
  const uint64_t size = known_bytes(s);
  void *address;
  if (size > SIZE_MAX) return WEIR_EOVERFLOW;
  const int error = os_map_part(s->file, s->begin, (size_t)size, 0, &address);
  if (error) return error;
  (void)os_map_advise(address, (size_t)size, OS_ADVICE_SEQUENTIAL);
  s->map = address;
  s->map_bytes = (size_t)size;
  return 0;
}

static unsigned power_of_two_above(unsigned value) {
  unsigned power = 2;
  while (power <= value) power *= 2;
  return power;
}

/* Rings fall back to threads where any way of keeping blocks in flight will do. */
static int take_off(struct weir_stream *s, unsigned flags) {
  struct weir_choice *how = &s->how;
  const bool uncached = how->strategy == WEIR_UNCACHED, any = s->may_change || how->strategy == WEIR_DIRECT;
  if (!how->depth) how->depth = FLIGHT_DEPTH;
  const uint64_t blocks = known_bytes(s) / s->block + 1;
  if (how->depth > blocks) how->depth = (unsigned)blocks;
  const unsigned threads = uncached ? 1 : how->threads && s->may_change ? how->threads : how->depth;
  int error = weir__slots_make(s, power_of_two_above(how->depth), flags);
  if (error) return error;
  error = WEIR_EOPNOTSUPP;
  if (how->strategy != WEIR_THREADS && !uncached) error = weir__flight_open(s, true, how->depth, 0);
  if (error && (how->strategy == WEIR_THREADS || uncached || any)) {
    error = weir__flight_open(s, false, how->depth, threads);
    if (!error && how->strategy == WEIR_RING) how->strategy = WEIR_THREADS;
  }
  how->threads = weir__flight_threads(s);
  if (error && (any || uncached)) { /* one at a time, then */
    how->depth = 1;
    error = 0;
  }
  return error;
}

static bool worth_a_flight(const struct weir_stream *s, const struct weir_stream_options *options) {
  const enum weir_strategy strategy = s->how.strategy;
  if (s->stat.kind != OS_REGULAR || !known_bytes(s) || options->depth == 1) return false;
  if (strategy == WEIR_RING || strategy == WEIR_THREADS) return !s->may_change || known_bytes(s) > s->block;
  if (strategy == WEIR_UNCACHED && weir__processors() < 2) return false;
  return (strategy == WEIR_DIRECT || strategy == WEIR_UNCACHED) && known_bytes(s) > s->block;
}

static int rest(struct weir_stream *s, const struct weir_stream_options *options) {
  if (s->alignment == 1 && !s->transfer && s->positional && known_bytes(s) > s->block) {
    s->ahead.ask = true;
    s->ahead.most = options->depth ? (uint64_t)s->how.depth * weir__smaller(s->block, AHEAD_MOST) : AHEAD_MOST;
  }
  if (!s->how.depth || !options->depth) s->how.depth = 1;
  s->how.threads = 0;
  return weir__slots_make(s, weir__slots_at_rest(s), options->flags & (WEIR_HUGE | WEIR_SMALL_PAGES));
}

/* What the strategy needs of the file itself. */
static int prepare_file(struct weir_stream *s) {
  const struct weir_choice *how = &s->how;
  if (how->strategy == WEIR_UNCACHED) {
    if (s->alignment > 1) return WEIR_EINVAL;
    if (!weir__can(s->file, &s->stat, WEIR_FEATURE_UNCACHED, NULL)) return WEIR_EOPNOTSUPP;
    s->transfer = OS_TRANSFER_UNCACHED;
    return 0;
  }
  if (how->direct) return go_direct(s);
  if (how->strategy != WEIR_BUFFERED) return 0;
  s->transfer = 0;
  return weir__stream_take_plain(s);
}

static int make_so(struct weir_stream *s, const struct weir_stream_options *options, bool room) {
  int error = prepare_file(s);
  if (error) return error;
  s->block = s->how.block_bytes;
  if (s->how.strategy == WEIR_MAPPED && known_bytes(s)) return map(s);
  if (s->how.strategy == WEIR_MAPPED) { /* files of /proc seem empty too, and are not */
    weir__stream_buffered(s, "there is nothing to map");
    error = prepare_file(s);
    if (error) return error;
  }
  if (room) {
    s->room = s->block / 4 < ROOM_MOST ? s->block / 4 : ROOM_MOST;
    if (s->room < ROOM_LEAST) s->room = ROOM_LEAST;
  }
  const unsigned flags = options->flags & (WEIR_HUGE | WEIR_SMALL_PAGES);
  if (!worth_a_flight(s, options)) return rest(s, options);
  error = take_off(s, flags);
  if (!error || !s->may_change) return error;
  weir__slots_drop(s);
  return rest(s, options);
}

static int set_up(struct weir_stream *s, const struct weir_stream_options *options, bool room) {
  plan(s, options);
  int error = make_so(s, options, room);
  if (error && error != WEIR_ENOMEM && s->may_change) {
    struct weir_stream_options plain = *options;
    plain.strategy = WEIR_BUFFERED;
    plan(s, &plain);
    s->may_change = true;
    s->how.reason = "what would be faster is refused here";
    weir__slots_drop(s);
    error = make_so(s, &plain, room);
  }
  return error;
}

static int set_range(struct weir_stream *s, const struct weir_stream_options *options) {
  const uint64_t offset = options->offset, length = options->length;
  if (!s->positional && offset) return WEIR_ESPIPE;
  if (!s->positional && options->strategy != WEIR_AUTO && options->strategy != WEIR_BUFFERED) return WEIR_ESPIPE;
  s->begin = s->position = offset;
  s->end = !length || length > UINT64_MAX - offset ? UINT64_MAX : offset + length;
  s->known_end = weir__smaller(s->end, s->stat.size);
  if (!s->positional || s->known_end < offset) s->known_end = offset;
  s->ended = offset > INT64_MAX;
  if (s->ended) weir__stream_buffered(s, "no file is so large");
  return 0;
}

void weir__stream_release(struct weir_stream *s) {
  if (s->map_bytes) (void)os_unmap(s->map, s->map_bytes);
  weir__slots_drop(s);
  if (s->close_plain) (void)os_close(s->plain);
  if (s->close_file) (void)os_close(s->file);
  free(s);
}

static int settle(struct weir_stream *s, const struct weir_stream_options *options, bool room, struct weir_stream **out,
                  struct weir_error *error) {
  s->exact = (options->flags & WEIR_EXACT) != 0;
  int code = set_range(s, options);
  if (!code && !s->ended) code = set_up(s, options, room);
  if (code) {
    (void)weir__fail(error, code, "open", s->error.path, 0, 0, 0);
    (void)weir__flight_close(s);
    weir__stream_release(s);
    return code;
  }
  *out = s;
  return 0;
}

static int check(const struct weir_stream_options *options, struct weir_stream **out) {
  if (!out) return WEIR_EINVAL;
  *out = NULL;
  if ((unsigned)options->strategy > WEIR_THREADS) return WEIR_EINVAL;
  return weir__check(options->flags, WEIR_ANY_KIND | WEIR_HUGE | WEIR_SMALL_PAGES | WEIR_EXACT, options->reserved);
}

static struct weir_stream *new_stream(const char *path) {
  struct weir_stream *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->file = s->plain = os_no_file;
  s->alignment = 1;
  s->pushed = -1;
  s->process = weir__process();
  (void)weir__fail(&s->error, 0, "", path, 0, 0, 0);
  return s;
}

static const struct weir_stream_options no_options;

int weir__stream_open(const char *path, const struct weir_stream_options *options, bool room, struct weir_stream **out,
                      struct weir_error *error) {
  if (!options) options = &no_options;
  int code = check(options, out);
  if (code) return weir__fail(error, code, "open", path, 0, 0, 0);
  struct weir_stream *s = new_stream(path);
  if (!s) return weir__fail(error, WEIR_ENOMEM, "open", path, 0, 0, 0);
  code = weir__open(path, OS_READ, options->flags & WEIR_ANY_KIND, 0, &s->file, &s->stat, error);
  if (code) {
    free(s);
    return code;
  }
  s->close_file = true;
  s->positional = s->stat.kind == OS_REGULAR || s->stat.kind == OS_BLOCK_DEVICE;
  return settle(s, options, room, out, error);
}

static int check_file(const struct weir_file *file) {
  if (!file) return WEIR_EINVAL;
  if (file->process != weir__process()) return WEIR_EFORKED;
  return file->access == WEIR_OPEN_WRITE || file->access == WEIR_OPEN_APPEND ? WEIR_EBADF : 0;
}

int weir__stream_open_file(struct weir_file *file, const struct weir_stream_options *options, bool room,
                           struct weir_stream **out, struct weir_error *error) {
  if (!options) options = &no_options;
  const char *path = file ? file->path : NULL;
  int code = check(options, out);
  if (!code) code = check_file(file);
  if (code) return weir__fail(error, code, "open", path, 0, 0, 0);
  struct weir_stream *s = new_stream(path);
  if (!s) return weir__fail(error, WEIR_ENOMEM, "open", path, 0, 0, 0);
  s->file = file->os;
  s->plain = file->plain;
  s->positional = file->seekable;
  if (file->direct) {
    s->alignment = file->memory_alignment > file->offset_alignment ? file->memory_alignment : file->offset_alignment;
  }
  if (file->uncached) s->transfer = OS_TRANSFER_UNCACHED;
  code = os_stat_file(s->file, &s->stat);
  if (code) {
    (void)weir__fail(error, code, "open", path, 0, 0, 0);
    free(s);
    return code;
  }
  code = settle(s, options, room, out, error);
  if (!code && !(*out)->positional) {
    (*out)->pushed = file->ahead;
    file->ahead = -1;
  }
  return code;
}

int weir__stream_clone(const struct weir_stream *s, struct weir_stream **out) {
  struct weir_stream *clone = new_stream(s->error.path);
  if (!clone) return WEIR_ENOMEM;
  clone->file = s->file;
  clone->positional = s->positional;
  clone->transfer = s->transfer;
  clone->stat = s->stat;
  clone->alignment = s->alignment;
  clone->block = s->block;
  clone->room = s->room;
  clone->end = s->end;
  clone->known_end = s->known_end;
  clone->ahead = (struct weir__ahead){.ask = s->ahead.ask, .most = s->ahead.most};
  const int error = weir__slots_make(clone, weir__slots_at_rest(clone), 0);
  if (error)
    free(clone);
  else
    *out = clone;
  return error;
}

int weir_stream_open(const char *path, const struct weir_stream_options *options, struct weir_stream **out,
                     struct weir_error *error) {
  return weir__stream_open(path, options, false, out, error);
}

int weir_stream_open_file(struct weir_file *file, const struct weir_stream_options *options, struct weir_stream **out,
                          struct weir_error *error) {
  return weir__stream_open_file(file, options, false, out, error);
}
