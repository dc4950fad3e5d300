/*
 * writer.c - many small pieces become few large writes. A buffer is filled to its last byte, written, and what did not fit
 * begins the next; pieces larger than the buffer go to the system from where they are. How a file gets in place is in
 * save.c.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/save.h"

/* Small enough to stay in the processor's cache until the system copies it, large enough that a call costs next to nothing.
 */
#define BUFFER_BYTES ((size_t)256 << 10)
/* Past the page cache only one request is in flight, so it must keep a device busy alone. */
#define BUFFER_DIRECT_BYTES ((size_t)4 << 20)
/* What weir_writer_reserve gives: it lies behind the buffer's end, so that a piece in one part can still fill it exactly. */
#define RESERVE_BYTES ((size_t)64 << 10)
/* Of a piece that passes the buffer by: between two such parts there is a look at the pace. */
#define PASS_BYTES ((size_t)8 << 20)
#define PACE_BYTES ((uint64_t)8 << 20)
/* What direct transfers are aligned to where the system does not tell. */
#define ALIGNMENT_DEFAULT 4096u
#define LENGTH_BYTES_MAX 10u /* before a record */

struct weir_writer_state {
  struct weir__save save;
  struct weir_file *caller; /* the caller's file, where it is written to; `save` is not used then */
  os_file file;
  char *path;
  struct os_stat stat;
  char *buffer;
  size_t capacity;     /* bytes of one write */
  size_t memory_bytes; /* of the buffer */
  size_t fill;         /* bytes of the next write: fewer once where direct transfers would not be aligned */
  size_t reserved;
  uint64_t offset; /* of what is in the buffer */
  uint64_t begin;  /* of the first byte put */
  uint64_t pace, paced;
  uint32_t memory_alignment, offset_alignment;
  unsigned flags;
  bool positional; /* writes say where */
  bool direct, uncached;
  bool forced;     /* the strategy: no other is used */
  bool cut;        /* what is in the file behind the end goes */
  bool lengthened; /* space was asked for: the file may be longer than what is written */
  int process;
  struct weir_choice how;
  struct weir_error error;
};

static size_t in_buffer(const struct weir_writer *writer) { return (size_t)(writer->at - writer->state->buffer); }

/* Keeps the first error. No room is left in the buffer from then on, so every later call comes to see it. */
static int fail(struct weir_writer *writer, int code, const char *operation, uint64_t size) {
  struct weir_writer_state *state = writer->state;
  uint64_t good = state->offset > state->begin ? state->offset - state->begin : 0;
  if (!state->error.code) (void)weir__fail(&state->error, code, operation, state->path, state->offset, size, good);
  writer->at = writer->end = state->buffer;
  return state->error.code;
}

static void empty_buffer(struct weir_writer *writer) {
  struct weir_writer_state *state = writer->state;
  state->fill = state->capacity - (state->direct ? (size_t)(state->offset % state->offset_alignment) : 0);
  writer->at = state->buffer;
  writer->end = state->buffer + state->fill;
}

/* ---- to the system ---- */

static void fall_back(struct weir_writer_state *state, enum weir_feature feature, const char *reason) {
  weir__cannot(&state->stat, feature);
  state->direct = state->uncached = false;
  state->how.strategy = WEIR_BUFFERED;
  state->how.direct = false;
  state->how.reason = reason;
}

static bool is_aligned(const struct weir_writer_state *state, const char *data, size_t size) {
  return (uintptr_t)data % state->memory_alignment == 0 && size % state->offset_alignment == 0 &&
         state->offset % state->offset_alignment == 0;
}

/*
 * What is not aligned, as the end of a file is, goes through the page cache: so no byte too many is ever in the file. A
 * transfer that came short, where space runs out, is gone on with in the same way: then the system tells the reason.
 */
static int write_direct(struct weir_writer_state *state, const char *data, size_t size, size_t *done) {
  bool aligned = is_aligned(state, data, size);
  int code = aligned ? weir__pwrite(state->file, data, size, state->offset, done) : WEIR_EINVAL;
  bool refused = aligned && code == WEIR_EINVAL && *done == 0;
  if (code != WEIR_EINVAL || (refused && state->forced)) return code;
  code = os_set_direct(state->file, false);
  if (code) return code;
  size_t rest = 0;
  code = weir__pwrite(state->file, data + *done, size - *done, state->offset + *done, &rest);
  *done += rest;
  if (refused) {
    fall_back(state, WEIR_FEATURE_DIRECT, "direct transfers are refused");
    return code;
  }
  int again = os_set_direct(state->file, true);
  return code ? code : again;
}

static int write_uncached(struct weir_writer_state *state, const char *data, size_t size, size_t *done) {
  while (*done < size) {
    size_t left = size - *done;
    struct os_piece piece = {.data = (char *)data + *done, .length = left < PASS_BYTES ? left : PASS_BYTES};
    int64_t count = os_pwritev(state->file, &piece, 1, state->offset + *done, OS_TRANSFER_UNCACHED);
    if (count == WEIR_EOPNOTSUPP && !state->forced) {
      fall_back(state, WEIR_FEATURE_UNCACHED, "uncached transfers are refused");
      size_t rest = 0;
      int code = weir__pwrite(state->file, data + *done, left, state->offset + *done, &rest);
      *done += rest;
      return code;
    }
    if (count <= 0) return count ? (int)count : WEIR_EIO; /* nothing written and no reason given: it could go on for ever */
    *done += (size_t)count;
  }
  return 0;
}

static int transfer(struct weir_writer_state *state, const char *data, size_t size, size_t *done) {
  if (state->caller && state->positional && !state->forced) {
    return weir__file_pwrite(state->caller, (void *)data, size, state->offset, done);
  }
  if (state->direct) return write_direct(state, data, size, done);
  if (state->uncached) return write_uncached(state, data, size, done);
  if (state->positional) return weir__pwrite(state->file, data, size, state->offset, done);
  return weir__write(state->file, data, size, done);
}

/* Errors of the data themselves count; that a system cannot begin write-back does not. */
static int keep_pace(struct weir_writer_state *state) {
  if (state->offset - state->paced < state->pace) return 0;
  int code = os_write_back(state->file, state->paced, state->offset - state->paced);
  state->paced = state->offset;
  if (code == WEIR_EIO || code == WEIR_ENOSPC || code == WEIR_EDQUOT) return code;
  if (code) state->pace = UINT64_MAX;
  return 0;
}

/* Writes `size` bytes at the offset, which moves. */
static int hand(struct weir_writer *writer, const char *data, size_t size) {
  struct weir_writer_state *state = writer->state;
  if (state->process != weir__process()) return fail(writer, WEIR_EFORKED, "write", size);
  size_t done = 0;
  int code = transfer(state, data, size, &done);
  state->offset += done;
  if (code) return fail(writer, code, "write", size - done);
  code = keep_pace(state);
  return code ? fail(writer, code, "write back", 0) : 0;
}

/* Writes the full buffers that there are, and moves what is left to the front. */
static int spill(struct weir_writer *writer) {
  struct weir_writer_state *state = writer->state;
  size_t have = in_buffer(writer), whole = state->fill + (have - state->fill) / state->capacity * state->capacity;
  int code = hand(writer, state->buffer, whole);
  if (code) return code;
  memmove(state->buffer, state->buffer + whole, have - whole);
  empty_buffer(writer);
  writer->at += have - whole;
  return 0;
}

/* What is not a full buffer, too. */
static int hand_rest(struct weir_writer *writer) {
  struct weir_writer_state *state = writer->state;
  size_t have = in_buffer(writer), whole = have;
  if (state->direct && state->offset % state->offset_alignment == 0) whole -= have % state->offset_alignment;
  int code = whole ? hand(writer, state->buffer, whole) : 0;
  if (!code && whole < have) code = hand(writer, state->buffer + whole, have - whole);
  if (!code) empty_buffer(writer);
  return code;
}

/* ---- from the caller ---- */

/* How much of a piece need not go through the buffer: whole writes of it, when the buffer is empty. */
static size_t passing(const struct weir_writer *writer, const char *data, size_t size) {
  const struct weir_writer_state *state = writer->state;
  if (writer->at != state->buffer || size < state->capacity || state->fill != state->capacity) return 0;
  if (state->direct && (uintptr_t)data % state->memory_alignment) return 0;
  size_t most = size < PASS_BYTES || state->capacity > PASS_BYTES ? size : PASS_BYTES;
  return most - most % state->capacity;
}

int weir_writer_put_slow(struct weir_writer *writer, const void *data, size_t size) {
  struct weir_writer_state *state = writer->state;
  if (!state) return WEIR_EBADF;
  int code = state->error.code;
  const char *from = data;
  while (size && !code) {
    size_t count = passing(writer, from, size);
    if (count) {
      code = hand(writer, from, count);
      if (!code) empty_buffer(writer);
    } else {
      size_t room = (size_t)(writer->end - writer->at);
      count = size < room ? size : room;
      memcpy(writer->at, from, count);
      writer->at += count;
      if (count == room) code = spill(writer);
    }
    from += count;
    size -= count;
  }
  return code;
}

int weir_writer_put_line(struct weir_writer *writer, const void *data, size_t size) {
  size_t room = (size_t)(writer->end - writer->at);
  if (room > 1 && size < room - 1) {
    if (size) memcpy(writer->at, data, size);
    writer->at[size] = '\n';
    writer->at += size + 1;
    return 0;
  }
  int code = weir_writer_put_slow(writer, data, size);
  return code ? code : weir_writer_put_slow(writer, "\n", 1);
}

void *weir_writer_reserve(struct weir_writer *writer, size_t size) {
  struct weir_writer_state *state = writer->state;
  if (!state || state->error.code) return NULL;
  if (size > RESERVE_BYTES) {
    (void)fail(writer, WEIR_EINVAL, "reserve", size);
    return NULL;
  }
  state->reserved = size;
  return writer->at;
}

int weir_writer_commit(struct weir_writer *writer, size_t size) {
  struct weir_writer_state *state = writer->state;
  if (!state) return WEIR_EBADF;
  if (state->error.code) return state->error.code;
  if (size > state->reserved) return fail(writer, WEIR_EINVAL, "commit", size);
  state->reserved = 0;
  writer->at += size;
  return writer->at < writer->end ? 0 : spill(writer);
}

/* The length before a record. Its size, or 0 where it does not fit. */
static size_t encode_length(unsigned char *out, enum weir_record_prefix prefix, uint64_t length) {
  size_t bytes = 0;
  if (prefix == WEIR_RECORD_VARINT) {
    for (; length >= 0x80; length >>= 7) out[bytes++] = (unsigned char)(length | 0x80);
    out[bytes++] = (unsigned char)length;
    return bytes;
  }
  bytes = (size_t)1 << (unsigned)prefix / 2; /* 1, 2, 2, 4, 4, 8, 8 */
  if (bytes < 8 && length >> (8 * bytes)) return 0;
  bool big = prefix == WEIR_RECORD_U16BE || prefix == WEIR_RECORD_U32BE || prefix == WEIR_RECORD_U64BE;
  for (size_t i = 0; i < bytes; i++, length >>= 8) out[big ? bytes - 1 - i : i] = (unsigned char)length;
  return bytes;
}

int weir_writer_put_record(struct weir_writer *writer, enum weir_record_prefix prefix, const void *data, size_t size) {
  struct weir_writer_state *state = writer->state;
  if (prefix == WEIR_RECORD_FIXED) return weir_writer_put(writer, data, size);
  if (!state) return WEIR_EBADF;
  if ((unsigned)prefix > WEIR_RECORD_VARINT) return fail(writer, WEIR_EINVAL, "write a record to", size);
  unsigned char length[LENGTH_BYTES_MAX];
  size_t room = (size_t)(writer->end - writer->at);
  bool fits = room > LENGTH_BYTES_MAX && size < room - LENGTH_BYTES_MAX;
  size_t bytes = encode_length(fits ? (unsigned char *)writer->at : length, prefix, size);
  if (!bytes) return fail(writer, WEIR_EOVERFLOW, "write a record to", size);
  if (fits) {
    if (size) memcpy(writer->at + bytes, data, size);
    writer->at += bytes + size;
    return 0;
  }
  int code = weir_writer_put_slow(writer, length, bytes);
  return code ? code : weir_writer_put_slow(writer, data, size);
}

/* ---- opening ---- */

/* Finds out how direct transfers must be aligned, and turns them on. */
static int go_direct(struct weir_writer_state *state) {
  uint32_t memory = ALIGNMENT_DEFAULT, offset = ALIGNMENT_DEFAULT;
  if (os_direct_alignment(state->file, &memory, &offset) || !memory || !offset) memory = offset = ALIGNMENT_DEFAULT;
  int code = os_set_direct(state->file, true);
  if (code) return code;
  state->direct = true;
  state->memory_alignment = memory;
  state->offset_alignment = offset;
  return 0;
}

static int force(struct weir_writer_state *state, enum weir_strategy strategy) {
  state->forced = true;
  state->how.reason = "asked for";
  if (strategy == WEIR_BUFFERED) return os_set_direct(state->file, false);
  enum weir_feature feature = strategy == WEIR_DIRECT ? WEIR_FEATURE_DIRECT : WEIR_FEATURE_UNCACHED;
  if (!state->positional || !weir__can(state->file, &state->stat, feature, NULL)) return WEIR_EOPNOTSUPP;
  if (strategy == WEIR_DIRECT) return go_direct(state);
  state->uncached = true;
  return os_set_direct(state->file, false);
}

/* A file of the caller's is written to as it was opened. Else what will be written decides; a refusal means the plain way.
 */
static void choose(struct weir_writer_state *state, uint64_t bytes) {
  const struct weir_file *file = state->caller;
  state->how.reason = file ? "as the file was opened" : "size not known, or no positions";
  if (file) {
    state->direct = file->direct && state->positional;
    state->uncached = file->uncached && state->positional;
    state->memory_alignment = file->memory_alignment;
    state->offset_alignment = file->offset_alignment;
  } else if (bytes && state->positional) {
    weir__choose(state->file, &state->stat, WEIR_USE_WRITE, (struct weir__part){0, bytes}, &state->how);
    if (state->how.strategy == WEIR_DIRECT) (void)go_direct(state);
    state->uncached = state->how.strategy == WEIR_UNCACHED;
  }
}

static int make_buffer(struct weir_writer *writer, size_t bytes) {
  struct weir_writer_state *state = writer->state;
  if (!bytes) bytes = state->direct ? BUFFER_DIRECT_BYTES : BUFFER_BYTES;
  if (bytes > SIZE_MAX / 2) return WEIR_ENOMEM;
  if (state->direct) bytes = (bytes + state->offset_alignment - 1) / state->offset_alignment * state->offset_alignment;
  void *pages = NULL;
  int code = weir__pages_get(bytes + RESERVE_BYTES, 0, &pages);
  if (code) return code;
  state->buffer = pages;
  state->capacity = bytes;
  state->memory_bytes = bytes + RESERVE_BYTES;
  empty_buffer(writer);
  return 0;
}

static int reserve_space(struct weir_writer_state *state, uint64_t bytes) {
  if (!bytes || state->stat.kind != OS_REGULAR || !state->positional) return 0;
  if (bytes > UINT64_MAX - state->offset) return WEIR_EFBIG;
  int code = os_allocate(state->file, state->offset + bytes);
  state->lengthened = code != WEIR_EOPNOTSUPP; /* what ends in a failure may have come some way */
  return state->lengthened ? code : 0;
}

static void set_pace(struct weir_writer_state *state, uint64_t pace) {
  if (!pace) pace = state->flags & WEIR_DURABLE ? PACE_BYTES : UINT64_MAX;
  bool useful = state->positional && !state->direct && !state->uncached && state->stat.kind == OS_REGULAR;
  state->pace = useful ? pace : UINT64_MAX;
  state->paced = state->offset;
}

/*
 * The same for a path and an open file: `file`, `stat`, `offset` and `positional` are known. What the file held is cut only
 * when nothing but the space can still be missing.
 */
static int set_up(struct weir_writer *writer, const struct weir_writer_options *options, bool owns_end,
                  const char **operation) {
  struct weir_writer_state *state = writer->state;
  *operation = "choose how to write";
  int code = 0;
  if (options->strategy == WEIR_AUTO)
    choose(state, options->expected_bytes);
  else
    code = force(state, options->strategy);
  if (code) return code;
  *operation = "get memory for";
  code = make_buffer(writer, options->buffer_bytes);
  if (code) return code;
  state->cut = owns_end;
  *operation = "resize";
  if (owns_end && state->stat.size > state->offset) code = os_resize(state->file, state->offset);
  if (code) return code;
  *operation = "reserve space for";
  code = reserve_space(state, options->expected_bytes);
  set_pace(state, options->pace_bytes);
  state->begin = state->offset;
  state->how.strategy = state->direct ? WEIR_DIRECT : state->uncached ? WEIR_UNCACHED : WEIR_BUFFERED;
  state->how.direct = state->direct;
  state->how.block_bytes = state->capacity;
  state->how.depth = 1;
  state->how.threads = 0;
  return code;
}

static int check(const struct weir_writer_options *options, unsigned known) {
  if (weir__check(options->flags, known, options->reserved) || options->mode > 07777) return WEIR_EINVAL;
  switch (options->strategy) {
    case WEIR_AUTO:
    case WEIR_BUFFERED:
    case WEIR_DIRECT:
    case WEIR_UNCACHED:
      return 0;
    default:
      return WEIR_EINVAL;
  }
}

static void release(struct weir_writer *writer) {
  struct weir_writer_state *state = writer->state;
  if (state->buffer) weir__pages_put(state->buffer, state->memory_bytes);
  free(state->path);
  free(state);
  *writer = (struct weir_writer){0};
}

static struct weir_writer_state *make_state(const char *path, unsigned flags) {
  struct weir_writer_state *state = calloc(1, sizeof *state);
  if (!state) return NULL;
  size_t size = strlen(path) + 1;
  state->path = malloc(size);
  if (!state->path) {
    free(state);
    return NULL;
  }
  memcpy(state->path, path, size);
  state->flags = flags;
  state->file = os_no_file;
  state->process = weir__process();
  return state;
}

/* The end of a file that others may lengthen too is found by the system at each write; what asks for places cannot be. */
static bool wants_positions(const struct weir_writer_options *options) {
  return options->expected_bytes || options->strategy == WEIR_DIRECT || options->strategy == WEIR_UNCACHED;
}

/* Fills the buffer from `old` until that ends, and writes it whenever it is full. */
static int copy_from(struct weir_writer *writer, os_file old) {
  for (size_t got = 1; got;) {
    int code = weir__read(old, writer->at, (size_t)(writer->end - writer->at), &got);
    if (code) return fail(writer, code, "read", 0);
    writer->at += got;
    if (writer->at == writer->end && (code = spill(writer))) return code;
  }
  return 0;
}

/* An atomic save that goes on at the end begins with what the old file holds. */
static int take_over(struct weir_writer *writer) {
  struct weir_writer_state *state = writer->state;
  os_file old = os_no_file;
  struct os_stat stat;
  int code = weir__open(state->save.target, OS_READ, 0, 0, &old, &stat, &state->error);
  if (code) return code;
  code = copy_from(writer, old);
  (void)os_close(old);
  state->begin = state->offset + in_buffer(writer);
  return code;
}

static int open_path(struct weir_writer *writer, const struct weir_writer_options *options) {
  struct weir_writer_state *state = writer->state;
  bool append = state->flags & WEIR_APPEND, atomic = state->flags & WEIR_ATOMIC;
  bool at_end = append && !atomic && !wants_positions(options);
  int code = weir__save_begin(&state->save, state->path, at_end ? OS_APPEND : 0, state->flags & WEIR__SAVE_FLAGS,
                              options->mode, &state->error);
  if (code) return code;
  state->file = state->save.file;
  state->stat = state->save.stat;
  bool regular = state->stat.kind == OS_REGULAR;
  state->positional = (regular && !at_end) || state->stat.kind == OS_BLOCK_DEVICE;
  if (append && !atomic && regular) state->offset = state->stat.size;
  const char *operation;
  code = set_up(writer, options, regular && !at_end, &operation);
  if (code)
    (void)weir__fail(&state->error, code, operation, state->path, 0, 0, 0);
  else if (append && atomic && state->save.replaces)
    code = take_over(writer);
  if (code) weir__save_undo(&state->save, state->cut ? state->offset : UINT64_MAX);
  return code;
}

int weir_writer_open(struct weir_writer *writer, const char *path, const struct weir_writer_options *options,
                     struct weir_error *error) {
  static const struct weir_writer_options defaults;
  if (!options) options = &defaults;
  *writer = (struct weir_writer){0};
  int code = check(options, WEIR__SAVE_FLAGS | WEIR_APPEND);
  if (code || !path) return weir__fail(error, WEIR_EINVAL, "open", path, 0, 0, 0);
  writer->state = make_state(path, options->flags);
  if (!writer->state) return weir__fail(error, WEIR_ENOMEM, "open", path, 0, 0, 0);
  code = open_path(writer, options);
  if (!code) return 0;
  if (error) *error = writer->state->error;
  release(writer);
  return code;
}

static int check_file(const struct weir_file *file) {
  if (file->process != weir__process()) return WEIR_EFORKED;
  return file->access == WEIR_OPEN_READ ? WEIR_EBADF : atomic_load(&file->sync_error);
}

int weir_writer_open_file(struct weir_writer *writer, struct weir_file *file, const struct weir_writer_options *options,
                          struct weir_error *error) {
  static const struct weir_writer_options defaults;
  if (!options) options = &defaults;
  *writer = (struct weir_writer){0};
  if (!file) return weir__fail(error, WEIR_EINVAL, "write", NULL, 0, 0, 0);
  const char *path = file->path ? file->path : "", *operation = "write";
  int code = check(options, WEIR_DURABLE | WEIR_PREALLOCATE | WEIR_APPEND);
  if (!code) code = check_file(file);
  if (code) return weir__fail(error, code, operation, path, 0, 0, 0);
  struct weir_writer_state *state = writer->state = make_state(path, options->flags);
  if (!state) return weir__fail(error, WEIR_ENOMEM, operation, path, 0, 0, 0);
  state->caller = file;
  state->file = file->os;
  state->positional = file->seekable && file->access != WEIR_OPEN_APPEND;
  code = os_stat_file(file->os, &state->stat);
  bool at_end = (options->flags & WEIR_APPEND) || file->access == WEIR_OPEN_APPEND;
  state->offset = at_end ? state->stat.size : file->position;
  if (!code) code = set_up(writer, options, false, &operation);
  if (!code) return 0;
  if (state->lengthened) (void)os_resize(file->os, state->stat.size);
  if (state->forced) (void)os_set_direct(file->os, file->direct);
  code = weir__fail(error, code, operation, path, 0, 0, 0);
  release(writer);
  return code;
}

/* ---- ending ---- */

int weir_writer_flush(struct weir_writer *writer) {
  struct weir_writer_state *state = writer->state;
  if (!state) return WEIR_EBADF;
  if (state->error.code) return state->error.code;
  int code = hand_rest(writer);
  if (code || !(state->flags & WEIR_DURABLE)) return code;
  code = state->caller ? weir_file_sync(state->caller) : weir__save_flush(&state->save);
  return code ? fail(writer, code, "sync", 0) : 0;
}

uint64_t weir_writer_size(const struct weir_writer *writer) {
  const struct weir_writer_state *state = writer->state;
  return state ? state->offset + in_buffer(writer) - state->begin : 0;
}

/* The caller's file gets back what it had, and stands behind what was written. */
static void give_back(struct weir_writer *writer) {
  struct weir_writer_state *state = writer->state;
  struct weir_file *file = state->caller;
  if (state->forced) (void)os_set_direct(file->os, file->direct);
  uint64_t end = state->offset > state->stat.size ? state->offset : state->stat.size;
  if (state->lengthened) {
    int code = os_resize(file->os, end);
    if (code) (void)fail(writer, code, "resize", 0);
  }
  file->position = file->access == WEIR_OPEN_APPEND && file->seekable ? UINT64_MAX : state->offset; /* the end, wherever */
  if (!state->error.code && (state->flags & WEIR_DURABLE)) {
    int code = weir_file_sync(file);
    if (code) (void)fail(writer, code, "sync", 0);
  }
}

static void end_path(struct weir_writer_state *state) {
  uint64_t size = state->cut ? state->offset : UINT64_MAX;
  if (state->error.code)
    weir__save_undo(&state->save, size);
  else
    (void)weir__save_finish(&state->save, size, &state->error);
}

int weir_writer_finish(struct weir_writer *writer, struct weir_error *error) {
  struct weir_writer_state *state = writer->state;
  if (!state) return weir__fail(error, WEIR_EBADF, "finish", NULL, 0, 0, 0);
  bool forked = state->process != weir__process();
  if (forked) (void)fail(writer, WEIR_EFORKED, "finish", 0);
  if (!state->error.code) (void)hand_rest(writer);
  if (state->caller && !forked)
    give_back(writer);
  else if (!state->caller && !forked)
    end_path(state);
  else if (!state->caller)
    weir__save_drop(&state->save);
  int code = state->error.code;
  if (code && error) *error = state->error;
  release(writer);
  return code;
}

void weir_writer_abandon(struct weir_writer *writer) {
  if (!writer->state) return;
  (void)fail(writer, WEIR_ECANCELED, "write", 0);
  (void)weir_writer_finish(writer, NULL);
}

const struct weir_error *weir_writer_error(const struct weir_writer *writer) {
  static const struct weir_error none;
  return writer->state ? &writer->state->error : &none;
}

void weir_writer_how(const struct weir_writer *writer, struct weir_choice *how) {
  static const struct weir_choice none = {.strategy = WEIR_BUFFERED, .reason = "not open"};
  *how = writer->state ? writer->state->how : none;
}
