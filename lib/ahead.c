/*
 * ahead.c - a file from front to back in blocks: handing them out. What is cached is copied when it is wanted, into memory
 * that stays in the processor's cache; what is not is asked for ahead. ahead_open.c chooses how; flight.c keeps several
 * blocks in flight where the page cache is passed by.
 */
#include "lib/ahead.h"

#include <stdlib.h>
#include <string.h>

/* Behind a cut, where only the rest of one line is wanted. */
#define CUT_BLOCK ((size_t)16 << 10)
/* Reading ahead: the first distance, and what the system is asked for at once: longer requests are clipped to what the
 * device takes. */
#define AHEAD_FIRST ((uint64_t)1 << 20)
#define AHEAD_PIECE ((uint64_t)256 << 10)
/* So many blocks in a row must have been there before the distance shrinks by one block. */
#define AHEAD_HITS 8u

/* ---- errors ---- */

static int fail(struct weir_stream *s, int code, uint64_t size) {
  if (!s->first_error) s->first_error = code;
  s->failed = code;
  return weir__fail(&s->error, code, "read", s->error.path, s->position, size, s->position - s->begin);
}

/* The end was met, or the end of the range. */
static int finish(struct weir_stream *s) {
  s->ended = true;
  return s->exact && s->position < s->known_end ? fail(s, WEIR_ETRUNCATED, s->known_end - s->position) : 0;
}

/* ---- one block ---- */

/* Bytes of the block at `position`. Behind the cut only the rest of one line is wanted. */
static size_t block_size(const struct weir_stream *s, uint64_t position) {
  uint64_t size = weir__smaller(s->block, s->end - position);
  if (s->cut) size = weir__smaller(size, position < s->cut ? s->cut - position : CUT_BLOCK);
  return (size_t)size;
}

void weir__slot_prepare(const struct weir_stream *s, struct weir__slot *slot, uint64_t position) {
  const size_t size = block_size(s, position);
  slot->skip = (size_t)(position % s->alignment);
  slot->offset = position - slot->skip;
  slot->want = weir__round_up(slot->skip + size, s->alignment);
  slot->got = 0;
  slot->error = 0;
}

static int64_t transfer(const struct weir_stream *s, void *data, size_t size, uint64_t offset) {
  if (!s->transfer) return os_pread(s->file, data, size, offset);
  const struct os_piece piece = {data, size};
  return os_preadv(s->file, &piece, 1, offset, s->transfer);
}

/* A direct transfer must begin at a whole sector, so the one that holds the end so far is read again: no further is the end
 * of the file. */
void weir__slot_read(const struct weir_stream *s, struct weir__slot *slot) {
  slot->error = 0;
  while (slot->got < slot->want) {
    const size_t at = slot->got - slot->got % s->alignment;
    const int64_t count = transfer(s, slot->memory + at, slot->want - at, slot->offset + at);
    if (count < 0) {
      slot->error = (int)count;
      return;
    }
    if (at + (size_t)count <= slot->got) return;
    slot->got = at + (size_t)count;
  }
}

/* ---- reading ahead by the system, for what goes through the page cache ---- */

static void hit(struct weir_stream *s) {
  struct weir__ahead *ahead = &s->ahead;
  if (!ahead->distance || ++ahead->hits < AHEAD_HITS) return;
  ahead->hits = 0;
  ahead->distance = ahead->distance > s->block ? ahead->distance - s->block : 0;
}

static void miss(struct weir_stream *s) {
  struct weir__ahead *ahead = &s->ahead;
  ahead->hits = 0;
  ahead->distance = weir__smaller(ahead->distance ? 2 * ahead->distance : AHEAD_FIRST, ahead->most);
  if (!ahead->sequential && s->close_file) (void)os_advise(s->file, 0, 0, OS_ADVICE_SEQUENTIAL);
  ahead->sequential = true;
}

/* Asks for what lies behind `from`. Not for each block: a quarter of the distance at least, or the rest. */
static void request(struct weir_stream *s, uint64_t from) {
  struct weir__ahead *ahead = &s->ahead;
  const uint64_t to = weir__smaller(s->known_end, from + ahead->distance);
  if (ahead->requested > from) from = ahead->requested;
  if (from >= to || (to - from < ahead->distance / 4 && to < s->known_end)) return;
  ahead->requested = to;
  for (; from < to; from += AHEAD_PIECE) {
    if (os_advise(s->file, from, weir__smaller(AHEAD_PIECE, to - from), OS_ADVICE_WILL_NEED)) {
      ahead->most = ahead->distance = 0;
      return;
    }
  }
}

/* Takes what is cached of the block, and from that learns whether reading ahead pays. */
static void read_cached(struct weir_stream *s, struct weir__slot *slot) {
  if (s->ahead.ask && slot->offset < s->known_end) {
    const struct os_piece piece = {slot->memory, slot->want};
    const int64_t count = os_preadv(s->file, &piece, 1, slot->offset, OS_TRANSFER_CACHED);
    if (count > 0) slot->got = (size_t)count;
    if (count < 0 && count != WEIR_EAGAIN)
      s->ahead.ask = false; /* not known here: the system reads ahead as it thinks fit */
    else if (slot->got == slot->want || slot->offset + slot->got >= s->known_end)
      hit(s);
    else
      miss(s);
  }
  if (s->ahead.distance) request(s, slot->offset + slot->want);
}

static void read_now(struct weir_stream *s, struct weir__slot *slot) {
  if (s->ahead.most) read_cached(s, slot);
  weir__slot_read(s, slot);
}

/* ---- going on another way ---- */

/* Ends what is in flight. Memory that the system may still write to is given up for new one, never to be used again. */
static int land(struct weir_stream *s) {
  if (weir__flight_close(s)) return 0;
  s->pages = NULL;
  weir__slots_drop(s);
  return weir__slots_make(s, weir__slots_at_rest(s), 0);
}

static bool is_refusal(int code) {
  return code == WEIR_EINVAL || code == WEIR_EOPNOTSUPP || code == WEIR_ENOSYS || code == WEIR_EPERM;
}

/* True where a transfer of a kind that not all file systems know was refused and may be made in the plain way. */
static bool may_go_plain(const struct weir_stream *s, int code) {
  return s->may_change && is_refusal(code) && (s->alignment > 1 || s->transfer);
}

static int go_plain(struct weir_stream *s) {
  weir__cannot(&s->stat, s->transfer & OS_TRANSFER_UNCACHED ? WEIR_FEATURE_UNCACHED : WEIR_FEATURE_DIRECT);
  int error = land(s);
  if (!error) error = weir__stream_take_plain(s);
  if (error) return error;
  s->transfer = 0;
  weir__stream_buffered(s, "refused here in use");
  return 0;
}

/* ---- the next block ---- */

static void join(const struct weir_stream *s, const struct weir__slot *slot, const char *tail, size_t size) {
  if (size && size <= s->room) memmove(slot->memory + slot->skip - size, tail, size);
}

static int next_mapped(struct weir_stream *s, struct weir_slice *block) {
  const uint64_t left = s->known_end - s->position;
  if (!left) return finish(s);
  block->size = (size_t)weir__smaller(s->block, left);
  block->data = s->map + (s->position - s->begin);
  s->position += block->size;
  return 1;
}

/* What there is now: who waits for the rest of a block would hold back what another program has said already. */
static int next_arrived(struct weir_stream *s, const char *tail, size_t tail_size, struct weir_slice *block) {
  struct weir__slot *slot = &s->slots[0];
  const size_t size = (size_t)weir__smaller(s->block, s->end - s->position);
  slot->skip = 0;
  join(s, slot, tail, tail_size);
  int64_t count = 0;
  if (size && s->pushed >= 0) {
    slot->memory[0] = (char)s->pushed;
    s->pushed = -1;
    count = 1;
  } else if (size) {
    count = os_read(s->file, slot->memory, size);
  }
  if (count < 0) return fail(s, (int)count, size);
  *block = (struct weir_slice){slot->memory, (size_t)count};
  if (!count) return finish(s);
  s->held = slot;
  s->position += (uint64_t)count;
  return 1;
}

static struct weir__slot *other_slot(const struct weir_stream *s) {
  return s->held ? &s->slots[(size_t)(s->held - s->slots + 1) & (s->slot_count - 1)] : &s->slots[0];
}

/* The slot with the next block, its error in it; or an error of what keeps blocks in flight. */
static int next_slot(struct weir_stream *s, const char *tail, size_t tail_size, struct weir__slot **out) {
  int error = 0;
  struct weir__slot *slot = s->flight ? weir__flight_take(s, &error) : NULL;
  if (error) {
    if (!s->may_change) return error;
    error = land(s);
    if (error) return error;
    weir__stream_buffered(s, "the ring failed in use");
    s->how.direct = s->alignment > 1;
  }
  if (slot) {
    /* short, or the ring's own trouble: what a plain call says is the truth */
    if (slot->error != WEIR_EIO && (slot->error || slot->got < slot->want)) weir__slot_read(s, slot);
  } else {
    slot = other_slot(s);
    weir__slot_prepare(s, slot, s->position);
    if (slot == s->held) join(s, slot, tail, tail_size);
    read_now(s, slot);
  }
  if (slot != s->held) join(s, slot, tail, tail_size);
  *out = slot;
  return 0;
}

static int hand_out(struct weir_stream *s, struct weir__slot *slot, struct weir_slice *block) {
  const size_t size = block_size(s, s->position);
  const size_t there = slot->got > slot->skip ? slot->got - slot->skip : 0;
  *block = (struct weir_slice){slot->memory + slot->skip, there < size ? there : size};
  s->held = slot;
  s->position += block->size;
  if (slot->error && block->size < size) {
    const int code = fail(s, slot->error, size - block->size);
    return block->size ? 1 : code; /* the good bytes first, then the error */
  }
  if (block->size < size) s->ended = true;
  if (!block->size) return finish(s);
  if (s->flight && !s->ended) weir__flight_go_on(s);
  return 1;
}

static int next_positional(struct weir_stream *s, const char *tail, size_t tail_size, struct weir_slice *block) {
  struct weir__slot *slot = NULL;
  if (s->position >= s->end) return finish(s);
  int error = next_slot(s, tail, tail_size, &slot);
  if (error) return fail(s, error, s->block);
  if (slot->error && may_go_plain(s, slot->error)) {
    error = go_plain(s);
    return error ? fail(s, error, s->block) : next_positional(s, tail, tail_size, block);
  }
  if (slot->error == WEIR_ESPIPE && s->position == 0) { /* of regular kind, and yet to be read in order only */
    s->positional = false;
    return next_arrived(s, tail, tail_size, block);
  }
  return hand_out(s, slot, block);
}

int weir__stream_next(struct weir_stream *s, const char *tail, size_t tail_size, struct weir_slice *block) {
  *block = (struct weir_slice){NULL, 0};
  if (s->process != weir__process()) return fail(s, WEIR_EFORKED, 0);
  if (s->failed) return s->failed;
  if (s->ended) return finish(s);
  if (s->map) return next_mapped(s, block);
  return s->positional ? next_positional(s, tail, tail_size, block) : next_arrived(s, tail, tail_size, block);
}

/* ---- for other files of the library ---- */

size_t weir__stream_room(const struct weir_stream *s) { return s->room; }

bool weir__stream_whole(const struct weir_stream *s, struct weir_slice *whole) {
  *whole = (struct weir_slice){s->map, s->map_bytes};
  return s->map != NULL;
}

void weir__stream_restart(struct weir_stream *s, uint64_t offset, uint64_t cut) {
  s->begin = s->position = offset;
  s->cut = cut;
  s->ended = false;
  s->failed = 0;
  s->held = NULL;
  s->ahead.requested = 0;
}

/* ---- the public calls ---- */

int weir_stream_next(struct weir_stream *stream, struct weir_slice *block) {
  const int result = weir__stream_next(stream, NULL, 0, block);
  if (result <= 0) *block = (struct weir_slice){NULL, 0};
  return result;
}

void weir_stream_how(const struct weir_stream *stream, struct weir_choice *how) {
  *how = stream->how;
  how->block_bytes = stream->block;
}

const struct weir_error *weir_stream_error(const struct weir_stream *stream) { return &stream->error; }

/* A forked process has copies of the memory and the descriptors, but neither the threads nor the ring. */
int weir_stream_close(struct weir_stream *stream, struct weir_error *error) {
  if (!stream) return 0;
  const int first = weir__report(error, stream->first_error, &stream->error);
  if (stream->process == weir__process() && !weir__flight_close(stream)) stream->pages = NULL;
  weir__stream_release(stream);
  return first;
}
