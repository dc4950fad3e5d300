/*
 * copy_one.c - one source to one destination: shared storage, else moved by the system, else read and written; then checked
 * if asked for, and put in place. It knows nothing of other destinations, nor of threads but that there are some.
 */
#include "lib/copy_one.h"

#include <string.h>

#define KERNEL_PIECE ((uint64_t)1 << 30)
#define KERNEL_PIECE_TOLD ((uint64_t)32 << 20) /* where somebody wants to see progress, or may cancel */
#define VERIFY_BLOCK ((size_t)1 << 20)
#define SMALL ((uint64_t)128 << 10) /* read in one piece anyway */
#define TELL_NS UINT64_C(20000000)
#define DIRECT_ALIGNMENT 4096u

/* ---- progress ---- */

bool weir__copying_cancelled(const struct weir__copying *call) { return atomic_load(&call->tally.cancelled); }

/* `always`: however short ago the last time was. */
static void tell(struct weir__copying *call, bool always) {
  struct weir__tally *tally = &call->tally;
  if (!call->options->progress) return;
  const uint64_t now_ns = os_clock_ns();
  weir__lock(&tally->lock);
  const bool due = !tally->telling && (always || now_ns - tally->told_ns >= TELL_NS);
  const struct weir_copy_progress now = tally->now;
  if (due) {
    tally->telling = true;
    tally->told_ns = now_ns;
  }
  weir__unlock(&tally->lock);
  if (!due) return;
  if (call->options->progress(call->options->context, &now)) atomic_store(&tally->cancelled, true);
  weir__lock(&tally->lock);
  tally->telling = false;
  weir__unlock(&tally->lock);
}

void weir__tally_tell(struct weir__copying *call) { tell(call, true); }

static void count(struct weir__copy *copy, uint64_t bytes) {
  struct weir__tally *tally = &copy->call->tally;
  weir__lock(&tally->lock);
  copy->counted += bytes;
  tally->now.bytes_done += bytes;
  weir__unlock(&tally->lock);
  tell(copy->call, false);
}

/* A copy that is over: what is counted is what was expected, so that all adds up in the end. */
static void settle_tally(struct weir__copy *copy, uint64_t total) {
  struct weir__tally *tally = &copy->call->tally;
  weir__lock(&tally->lock);
  tally->now.bytes_done += total - copy->counted;
  tally->now.bytes_total += total - copy->expected;
  tally->now.copies_done++;
  weir__unlock(&tally->lock);
  tell(copy->call, false);
}

/* ---- failures ---- */

int weir__copy_fail(struct weir__copy *copy, int code, const char *operation, const char *path, uint64_t offset,
                    uint64_t size) {
  int none = 0;
  if (!atomic_compare_exchange_strong(&copy->status, &none, code)) return none;
  return weir__fail(&copy->result->error, code, operation, path, offset, size, 0);
}

static int cancelled(struct weir__copy *copy) {
  return weir__copying_cancelled(copy->call) ? weir__copy_fail(copy, WEIR_ECANCELED, "copy", copy->path, 0, 0) : 0;
}

/* ---- memory ---- */

int weir__workspace_get(struct weir__workspace *space, size_t bytes) {
  if (space->bytes >= bytes) return 0;
  weir__workspace_release(space);
  void *data = NULL;
  const int code = weir__pages_get(bytes, 0, &data);
  if (code) return code;
  *space = (struct weir__workspace){.data = data, .bytes = bytes};
  return 0;
}

void weir__workspace_release(struct weir__workspace *space) {
  if (space->data) weir__pages_put(space->data, space->bytes);
  *space = (struct weir__workspace){0};
}

/* ---- the source ---- */

int weir__source_open(struct weir__source *source, const char *path, struct weir_error *error) {
  source->path = path;
  source->file = os_no_file;
  const int code = weir__open(path, OS_READ | OS_STAY_READY, 0, 0, &source->file, &source->stat, error);
  if (!code && source->stat.size > SMALL) (void)os_advise(source->file, 0, 0, OS_ADVICE_SEQUENTIAL);
  return code;
}

void weir__source_close(struct weir__source *source) {
  (void)os_close(source->file); /* it was only read */
  source->file = os_no_file;
}

static bool has_holes(const struct weir__source *source) { return source->stat.allocated < source->stat.size; }

/*
 * Fewer blocks than bytes say that there may be holes (or compressed data, or nothing of the kind: files of /proc and /sys).
 * Where data wait to be written there are file systems that call them holes; what is flushed is seen by all.
 */
struct weir__ranges weir__ranges_of(const struct weir__source *source, unsigned flags) {
  const bool sparse = has_holes(source) && !(flags & WEIR_COPY_DENSE);
  if (sparse) (void)os_sync(source->file, false);
  return (struct weir__ranges){.source = source, .sparse = sparse};
}

/* The rest, whatever it is. */
static bool all_the_rest(struct weir__ranges *ranges, struct weir__range *out) {
  *out = (struct weir__range){.begin = ranges->at, .end = UINT64_MAX};
  ranges->sparse = false;
  ranges->last = true;
  return true;
}

bool weir__ranges_next(struct weir__ranges *ranges, struct weir__range *out) {
  if (ranges->last) return false;
  if (!ranges->sparse) return all_the_rest(ranges, out);
  int code = os_next_data(ranges->source->file, ranges->at, &out->begin);
  if (code == WEIR_ENXIO) return false;
  if (!code) code = os_next_hole(ranges->source->file, out->begin, &out->end);
  if (code || out->end <= out->begin) return all_the_rest(ranges, out);
  ranges->at = out->end;
  return true;
}

uint64_t weir__ranges_total(const struct weir__ranges *ranges, uint64_t at, bool ended) {
  if (ended || ranges->last) return at;
  return ranges->source->stat.size > at ? ranges->source->stat.size : at; /* a hole at the end */
}

/* ---- the destination ---- */

/* Would writing there destroy a source? */
static bool is_source(const struct weir__copying *call, const struct os_stat *stat) {
  size_t low = 0, high = call->id_count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const struct weir__file_id *id = &call->ids[middle];
    if (id->device == stat->device && id->inode == stat->inode) return true;
    if (id->device < stat->device || (id->device == stat->device && id->inode < stat->inode))
      low = middle + 1;
    else
      high = middle;
  }
  return false;
}

/* There is something of this name: which of the reasons not to touch it is it? */
static int why_not(const struct weir__copy *copy) {
  struct os_stat stat;
  if (os_stat_path(copy->path, &stat)) return WEIR_EEXIST; /* a link that leads nowhere */
  if (stat.kind == OS_DIRECTORY) return WEIR_EISDIR;
  if (stat.kind != OS_REGULAR) return WEIR_ENOTREG;
  return weir__same_file(&stat, &copy->source->stat) ? WEIR_ESAME : WEIR_EEXIST;
}

/* What was opened over may be a source, by another name too; nothing is changed yet. */
static int take_over(struct weir__copy *copy) {
  const struct weir__save *save = &copy->save;
  const bool atomic = (save->flags & WEIR_ATOMIC) != 0;
  const struct os_stat *old = atomic ? &save->old : &save->stat;
  if (atomic && !save->replaces) return 0;
  if (weir__same_file(old, &copy->source->stat) || is_source(copy->call, old)) return WEIR_ESAME;
  copy->had_old = !atomic;
  return atomic || old->size == 0 ? 0 : os_resize(save->file, 0);
}

int weir__copy_begin(struct weir__copy *copy) {
  const unsigned flags = copy->call->options->flags;
  const unsigned mode = copy->source->stat.mode & 0777u;
  unsigned save_flags = flags & (WEIR_ATOMIC | WEIR_DURABLE);
  if (!(flags & WEIR_COPY_REPLACE)) save_flags |= WEIR_NEW;
  if (cancelled(copy)) return WEIR_ECANCELED;
  struct weir_error error = {.operation = "create"};
  int code = weir__save_begin(&copy->save, copy->path, 0, save_flags, mode ? mode : 0600u, &error);
  if (code == WEIR_EEXIST && (save_flags & WEIR_NEW)) {
    code = why_not(copy);
    error.operation = "create";
  }
  if (code) return weir__copy_fail(copy, code, error.operation, copy->path, 0, 0);
  code = save_flags & WEIR_NEW ? 0 : take_over(copy);
  if (code) {
    weir__save_undo(&copy->save, UINT64_MAX);
    return weir__copy_fail(copy, code, "replace", copy->path, 0, 0);
  }
  copy->begun = true;
  return 0;
}

/* ---- bytes ---- */

/* The system's own ways may share storage, and leave holes. */
static bool system_may(const struct weir__copy *copy) {
  const unsigned flags = copy->call->options->flags;
  return !(flags & WEIR_COPY_NO_CLONE) && !((flags & WEIR_COPY_DENSE) && has_holes(copy->source));
}

bool weir__copy_clone(struct weir__copy *copy) {
  struct os_stat stat = copy->source->stat;
  if (!system_may(copy) || stat.size == 0) return false; /* 0 may be a lie: /proc */
  if (os_clone(copy->source->file, copy->save.file)) return false;
  copy->result->method = "clone";
  (void)os_stat_file(copy->save.file, &stat); /* it may have grown since it was opened */
  count(copy, stat.size);
  return true;
}

/* A way over part of a file: [at, end), until the end of the source is met. */
struct way {
  struct weir__copy *copy;
  struct weir__workspace *space;
  uint64_t at;
  bool ended;
  bool by_kernel, by_hand; /* what was used */
  bool kernel_may;
};

/* A read that brings a byte shows that it is not the end. Errors show up when the byte is really wanted. */
static bool at_end(const struct way *way) {
  char byte;
  return os_pread(way->copy->source->file, &byte, 1, way->at) == 0;
}

/* As far as the system goes. What it refuses may still be read and written, from there on. */
static int move_by_kernel(struct way *way, uint64_t end) {
  struct weir__copy *copy = way->copy;
  const uint64_t piece = copy->call->options->progress ? KERNEL_PIECE_TOLD : KERNEL_PIECE;
  while (way->kernel_may && way->at < end) {
    if (cancelled(copy)) return WEIR_ECANCELED;
    const uint64_t left = end - way->at;
    const int64_t moved = os_copy_range(copy->source->file, way->at, copy->save.file, way->at, left < piece ? left : piece);
    if (moved == 0 && at_end(way)) {
      way->ended = true;
      return 0;
    }
    if (moved <= 0) {
      way->kernel_may = false;
      return 0;
    }
    way->by_kernel = true;
    way->at += (uint64_t)moved;
    count(copy, (uint64_t)moved);
  }
  return 0;
}

int weir__copy_write(struct weir__copy *copy, const void *data, size_t size, uint64_t offset) {
  size_t put = 0;
  if (cancelled(copy)) return WEIR_ECANCELED;
  const int code = weir__pwrite(copy->save.file, data, size, offset, &put);
  count(copy, put);
  return code ? weir__copy_fail(copy, code, "write", copy->path, offset + put, size - put) : 0;
}

static int move_by_hand(struct way *way, uint64_t end) {
  struct weir__copy *copy = way->copy;
  const size_t block = copy->call->block_bytes;
  int code = weir__workspace_get(way->space, block);
  if (code) return weir__copy_fail(copy, code, "copy", copy->path, way->at, 0);
  while (!code && !way->ended && way->at < end) {
    size_t got = 0;
    const size_t want = end - way->at < block ? (size_t)(end - way->at) : block;
    const int read_code = weir__pread(copy->source->file, way->space->data, want, way->at, &got);
    if (got) code = weir__copy_write(copy, way->space->data, got, way->at);
    way->at += got;
    if (!code && read_code) code = weir__copy_fail(copy, read_code, "read", copy->source->path, way->at, want - got);
    way->ended = got < want;
    way->by_hand = way->by_hand || got;
  }
  return code;
}

static const char *words_for(const struct way *way) {
  if (way->by_kernel) return way->by_hand ? "kernel, then read and write" : "kernel";
  return "read and write";
}

int weir__copy_bytes(struct weir__copy *copy, struct weir__workspace *space, uint64_t *total) {
  struct way way = {.copy = copy, .space = space, .kernel_may = system_may(copy)};
  struct weir__range range;
  if (weir__copy_clone(copy)) {
    *total = copy->counted;
    return 0;
  }
  struct weir__ranges ranges = weir__ranges_of(copy->source, copy->call->options->flags);
  int code = 0;
  while (!code && !way.ended && weir__ranges_next(&ranges, &range)) {
    way.at = range.begin;
    code = move_by_kernel(&way, range.end);
    if (!code && !way.ended) code = move_by_hand(&way, range.end);
  }
  *total = weir__ranges_total(&ranges, way.at, way.ended);
  copy->result->method = words_for(&way);
  return code;
}

/* ---- verify ---- */

/* The destination while it is read back. */
struct back {
  os_file cached, direct; /* direct: os_no_file where that is not possible */
};

/*
 * What was written has to come from the device: flushed, taken out of the cache, and read past it. Where that cannot be had
 * (memory has no device) it is compared all the same.
 */
static int open_back(struct weir__copy *copy, struct back *back, uint64_t total) {
  *back = (struct back){.cached = os_no_file, .direct = os_no_file};
  int code = os_sync(copy->save.file, false);
  if (code) return weir__copy_fail(copy, code, "sync", copy->path, 0, 0);
  (void)os_cache_evict(copy->save.file, 0, total);
  const char *named = copy->save.temporary ? copy->save.temporary : copy->path;
  code = os_reopen(copy->save.file, OS_READ, &back->cached);
  if (code) code = os_open(named, OS_READ, &back->cached);
  if (code) return weir__copy_fail(copy, code, "open", copy->path, 0, 0);
  if (os_reopen(copy->save.file, OS_READ | OS_DIRECT, &back->direct)) back->direct = os_no_file;
  return 0;
}

static void close_back(struct back *back) {
  (void)os_close(back->cached);
  (void)os_close(back->direct);
}

/* Blocks begin at multiples of their size, so a direct read ends within a sector only where the file does. */
static int read_direct(struct back *back, char *data, size_t size, uint64_t offset, size_t *got) {
  *got = 0;
  while (*got < size) {
    const int64_t more = os_pread(back->direct, data + *got, size - *got, offset + *got);
    if (more < 0) return (int)more;
    *got += (size_t)more;
    if (more == 0 || *got % DIRECT_ALIGNMENT) break;
  }
  return 0;
}

/* `size` is room; `want` of it should be there. What a direct read does not give is looked for in the ordinary way. */
static int read_back(struct back *back, char *data, size_t size, size_t want, uint64_t offset, size_t *got) {
  size_t more = 0;
  *got = 0;
  if (back->direct != os_no_file && read_direct(back, data, size, offset, got)) {
    (void)os_close(back->direct);
    back->direct = os_no_file;
    *got = 0;
  }
  if (*got >= want) return 0;
  const int code = weir__pread(back->cached, data + *got, want - *got, offset + *got, &more);
  *got += more;
  return code;
}

static size_t first_difference(const char *a, const char *b, size_t size) {
  size_t at = 0;
  while (at < size && a[at] == b[at]) at++;
  return at;
}

/* The start of the block in which the next data of either file lie: what are holes in both need not be read. */
static uint64_t skip_holes(const struct weir__copy *copy, const struct back *back, uint64_t at, uint64_t total) {
  uint64_t ours = total, theirs = total;
  int code = os_next_data(copy->source->file, at, &theirs);
  if (code && code != WEIR_ENXIO) return at;
  code = os_next_data(back->cached, at, &ours);
  if (code && code != WEIR_ENXIO) return at;
  uint64_t next = ours < theirs ? ours : theirs;
  if (next > total) next = total;
  const uint64_t begin = next / VERIFY_BLOCK * VERIFY_BLOCK;
  return next == total ? total : begin > at ? begin : at;
}

static int compare_block(struct weir__copy *copy, struct back *back, char *memory, uint64_t at, uint64_t total) {
  char *ours = memory, *theirs = memory + VERIFY_BLOCK;
  const size_t want = total - at < VERIFY_BLOCK ? (size_t)(total - at) : VERIFY_BLOCK;
  size_t got_ours = 0, got_theirs = 0;
  int code = read_back(back, ours, VERIFY_BLOCK, want, at, &got_ours);
  if (code) return weir__copy_fail(copy, code, "read back", copy->path, at, want);
  code = weir__pread(copy->source->file, theirs, want, at, &got_theirs);
  if (code) return weir__copy_fail(copy, code, "read", copy->source->path, at, want);
  const size_t both = got_ours < got_theirs ? got_ours : got_theirs;
  if (memcmp(ours, theirs, both) == 0 && got_ours == want && got_theirs == want) return 0;
  const size_t same = first_difference(ours, theirs, both);
  return weir__copy_fail(copy, WEIR_EVERIFY, "compare", copy->path, at + same, want - same);
}

static int compare(struct weir__copy *copy, struct back *back, char *memory, uint64_t total) {
  const bool sparse = has_holes(copy->source);
  int code = 0;
  uint64_t at = sparse ? skip_holes(copy, back, 0, total) : 0;
  while (!code && at < total) {
    code = cancelled(copy);
    if (!code) code = compare_block(copy, back, memory, at, total);
    at += total - at < VERIFY_BLOCK ? total - at : VERIFY_BLOCK;
    if (sparse && at < total) at = skip_holes(copy, back, at, total);
  }
  return code;
}

static int verify(struct weir__copy *copy, struct weir__workspace *space, uint64_t total) {
  struct back back;
  struct os_stat stat;
  int code = weir__workspace_get(space, 2 * VERIFY_BLOCK);
  if (code) return weir__copy_fail(copy, code, "compare", copy->path, 0, 0);
  code = os_stat_file(copy->save.file, &stat);
  if (code) return weir__copy_fail(copy, code, "compare", copy->path, 0, 0);
  if (stat.size != total) return weir__copy_fail(copy, WEIR_EVERIFY, "compare", copy->path, stat.size, 0);
  code = open_back(copy, &back, total);
  if (!code) code = compare(copy, &back, space->data, total);
  close_back(&back);
  copy->result->verified = !code;
  return code;
}

/* ---- the end ---- */

/* Exactly as long as it has to be: the last bytes of the source may be a hole. */
static int set_size(struct weir__copy *copy, uint64_t total) {
  struct os_stat stat;
  int code = os_stat_file(copy->save.file, &stat);
  if (!code && stat.size != total) code = os_resize(copy->save.file, total);
  return code ? weir__copy_fail(copy, code, "resize", copy->path, total, 0) : 0;
}

static int set_attributes(struct weir__copy *copy) {
  copy->save.replaces = false; /* they come from the source, not from the file that was there */
  const int code = os_copy_attributes(copy->source->file, copy->save.file);
  return code ? weir__copy_fail(copy, code, "set the mode of", copy->path, 0, 0) : 0;
}

static int complete(struct weir__copy *copy, struct weir__workspace *space, uint64_t total) {
  const unsigned flags = copy->call->options->flags;
  int code = atomic_load(&copy->status);
  if (!code) code = set_size(copy, total);
  if (!code && (flags & WEIR_COPY_VERIFY)) code = verify(copy, space, total);
  if (!code && (flags & WEIR_COPY_MODE)) code = set_attributes(copy);
  return code;
}

/* Nothing half remains: where an old file was written over in place it is lost, and better missing than wrong. The name may
 * lead to somebody else's file by now. */
static void take_away(const char *path, const struct os_stat *ours) {
  if (weir__still_named(path, ours)) (void)os_remove(path);
}

static void undo(struct weir__copy *copy) {
  if (copy->had_old) (void)os_resize(copy->save.file, 0); /* its other names, if there are any, lead to nothing wrong */
  weir__save_undo(&copy->save, UINT64_MAX);
}

static int put_in_place(struct weir__copy *copy) {
  struct weir_error error = {0};
  const int code = weir__save_finish(&copy->save, UINT64_MAX, &error);
  return code ? weir__copy_fail(copy, code, error.operation, copy->path, 0, 0) : 0;
}

void weir__copy_end(struct weir__copy *copy, struct weir__workspace *space, uint64_t total) {
  struct weir_copy_result *result = copy->result;
  const struct os_stat ours = copy->save.stat;
  if (copy->begun && complete(copy, space, total) == 0)
    (void)put_in_place(copy);
  else if (copy->begun)
    undo(copy);
  result->status = atomic_load(&copy->status);
  const bool there = result->status == 0 || result->status == WEIR_EDURABLE;
  if (!there && copy->begun) take_away(copy->path, &ours);
  copy->begun = false;
  result->bytes = there ? total : copy->counted;
  result->verified = result->verified && there;
  result->error.transferred = result->status ? result->bytes : 0;
  settle_tally(copy, result->bytes);
}

void weir__copy_whole(struct weir__copy *copy, struct weir__workspace *space) {
  uint64_t total = 0;
  struct weir__source *source = copy->source;
  const bool open_here = source->file == os_no_file;
  int code = 0;
  if (open_here) {
    struct weir_error error = {0};
    code = weir__source_open(source, source->path, &error);
    if (code) code = weir__copy_fail(copy, code, error.operation, source->path, 0, 0);
  }
  if (!code) code = weir__copy_begin(copy);
  if (!code) (void)weir__copy_bytes(copy, space, &total);
  weir__copy_end(copy, space, total);
  if (open_here) weir__source_close(source);
}
