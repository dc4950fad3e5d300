/*
 * handle.c - files with a position. The position is the handle's own, so reading and writing go by offset wherever the file
 * has such; only pipes and the like, and appending, use the system's.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/internal.h"

#define KIB ((size_t)1024)
#define MIB (KIB * 1024)
#define BOUNCE MIB        /* moved at a time where the caller's memory is not aligned for direct transfers */
#define AT_END UINT64_MAX /* position behind what was appended, wherever others have moved the end */

/* Notes what failed, for weir_file_error. */
static int fail(struct weir_file *file, int code, const char *operation, uint64_t offset, uint64_t size, uint64_t done) {
  return weir__fail(&file->error, code, operation, file->path, offset, size, done);
}

static bool is_forked(const struct weir_file *file) { return file->process != weir__process(); }

/* What forbids it, or 0. The system would say the same, but not for each of the ways that lead to it. */
static int may_read(const struct weir_file *file) {
  if (is_forked(file)) return WEIR_EFORKED;
  return file->access == WEIR_OPEN_READ || file->access == WEIR_OPEN_UPDATE ? 0 : WEIR_EBADF;
}

static int may_write(const struct weir_file *file) {
  if (is_forked(file)) return WEIR_EFORKED;
  return file->access == WEIR_OPEN_READ ? WEIR_EBADF : 0;
}

/* ---- transfers by offset ---- */

static size_t one_call(const struct weir_file *file, size_t size) {
  return file->block_bytes && file->block_bytes < size ? file->block_bytes : size;
}

static int64_t read_some(const struct weir_file *file, void *data, size_t size, uint64_t offset) {
  size = one_call(file, size);
  if (file->direct) return os_pread(file->os, data, size, offset); /* the device copies, in one piece */
  if (!file->uncached) return weir__pread_once(file->os, data, size, offset);
  const struct os_piece piece = {data, size};
  return os_preadv(file->os, &piece, 1, offset, OS_TRANSFER_UNCACHED);
}

static int64_t write_some(const struct weir_file *file, const void *data, size_t size, uint64_t offset) {
  size = one_call(file, size);
  if (file->direct) return os_pwrite(file->os, data, size, offset);
  if (!file->uncached) return weir__pwrite_once(file->os, data, size, offset);
  const struct os_piece piece = {(void *)(uintptr_t)data, size};
  return os_pwritev(file->os, &piece, 1, offset, OS_TRANSFER_UNCACHED);
}

static bool is_range_aligned(const struct weir_file *file, size_t size, uint64_t offset) {
  return offset % file->offset_alignment == 0 && size % file->offset_alignment == 0;
}

static bool is_memory_aligned(const struct weir_file *file, const void *data) {
  return (uintptr_t)data % file->memory_alignment == 0;
}

/* Until all is there. A direct read of part of a block is the last one: behind it there is no place to begin. */
static int read_range(const struct weir_file *file, char *data, size_t size, uint64_t offset, size_t *done) {
  size_t got = 0;
  int64_t count = 0;
  while (got < size) {
    count = read_some(file, data + got, size - got, offset + got);
    if (count <= 0) break;
    got += (size_t)count;
    if (got % file->offset_alignment != 0) break;
  }
  *done = got;
  return count < 0 ? (int)count : 0;
}

static int write_range(const struct weir_file *file, const char *data, size_t size, uint64_t offset, size_t *done) {
  size_t put = 0;
  int64_t count = 0;
  while (put < size) {
    count = write_some(file, data + put, size - put, offset + put);
    if (count == 0) count = WEIR_EIO; /* nothing written and no reason given: asking again could go on for ever */
    if (count < 0) break;
    put += (size_t)count;
  }
  *done = put;
  return count < 0 ? (int)count : 0;
}

/* ---- direct transfers from and to where they may not go: by aligned memory in between ---- */

/* Whole blocks around what is wanted are read, and the wanted part is given on. */
static int read_bounced(const struct weir_file *file, char *data, size_t size, uint64_t offset, size_t *done) {
  const size_t align = file->offset_alignment;
  size_t got = 0, block = BOUNCE / align * align;
  void *bounce;
  if (size < block - 2 * align) block = (size + 2 * align) / align * align;
  *done = 0;
  int code = weir__pages_get(block, 0, &bounce);
  if (code) return code;
  while (!code && got < size) {
    const size_t skew = (size_t)((offset + got) % align);
    size_t count;
    code = read_range(file, bounce, weir__smaller_size(block, weir__round_up(size - got + skew, align)), offset + got - skew,
                      &count);
    const size_t useful = count > skew ? weir__smaller_size(count - skew, size - got) : 0;
    if (useful) memcpy(data + got, (char *)bounce + skew, useful);
    got += useful;
    if (!useful || count % align != 0) break;
  }
  *done = got;
  weir__pages_put(bounce, block);
  return code;
}

static int write_bounced(const struct weir_file *file, const char *data, size_t size, uint64_t offset, size_t *done) {
  const size_t align = file->offset_alignment, block = weir__smaller_size(BOUNCE / align * align, size);
  size_t put = 0;
  void *bounce;
  *done = 0;
  int code = weir__pages_get(block, 0, &bounce);
  if (code) return code;
  while (!code && put < size) {
    const size_t want = weir__smaller_size(block, size - put);
    size_t count;
    memcpy(bounce, data + put, want);
    code = write_range(file, bounce, want, offset + put, &count);
    put += count;
  }
  *done = put;
  weir__pages_put(bounce, block);
  return code;
}

/* Parts of blocks are written through the page cache; the system keeps that and direct transfers in step. */
static int write_plainly(const struct weir_file *file, const void *data, size_t size, uint64_t offset, size_t *done) {
  *done = 0;
  return file->plain == os_no_file ? WEIR_EINVAL : weir__pwrite(file->plain, data, size, offset, done);
}

int weir__file_pread(struct weir_file *file, void *data, size_t size, uint64_t offset, size_t *done) {
  *done = 0;
  if (size == 0) return 0;
  if (file->direct && !(is_range_aligned(file, size, offset) && is_memory_aligned(file, data))) {
    return read_bounced(file, data, size, offset, done);
  }
  return read_range(file, data, size, offset, done);
}

int weir__file_pwrite(struct weir_file *file, const void *data, size_t size, uint64_t offset, size_t *done) {
  *done = 0;
  if (size == 0) return 0;
  if (!file->direct) return write_range(file, data, size, offset, done);
  if (!is_range_aligned(file, size, offset)) return write_plainly(file, data, size, offset, done);
  return is_memory_aligned(file, data) ? write_range(file, data, size, offset, done)
                                       : write_bounced(file, data, size, offset, done);
}

/* ---- transfers by position ---- */

static int read_stream(struct weir_file *file, char *data, size_t size, size_t *done) {
  size_t got = 0;
  int64_t count = 0;
  if (size && file->ahead >= 0) {
    data[got++] = (char)file->ahead;
    file->ahead = -1;
  }
  while (got < size) {
    count = os_read(file->os, data + got, one_call(file, size - got));
    if (count <= 0) break;
    got += (size_t)count;
  }
  *done = got;
  return count < 0 ? (int)count : 0;
}

static int write_stream(struct weir_file *file, const char *data, size_t size, size_t *done) {
  size_t put = 0;
  int64_t count = 0;
  const bool appends_uncached = file->uncached && file->access == WEIR_OPEN_APPEND;
  while (put < size) {
    const size_t want = one_call(file, size - put);
    count = appends_uncached ? write_some(file, data + put, want, 0) : os_write(file->os, data + put, want);
    if (count == 0) count = WEIR_EIO;
    if (count < 0) break;
    put += (size_t)count;
  }
  *done = put;
  return count < 0 ? (int)count : 0;
}

static bool uses_offsets(const struct weir_file *file) { return file->seekable && file->access != WEIR_OPEN_APPEND; }

int64_t weir_file_read(struct weir_file *file, void *data, size_t size) {
  size_t done;
  const uint64_t offset = file->position;
  int code = may_read(file);
  if (code) return fail(file, code, "read", 0, 0, 0);
  code = file->seekable ? weir__file_pread(file, data, size, offset, &done) : read_stream(file, data, size, &done);
  file->position += done;
  return code ? fail(file, code, "read", offset + done, size - done, done) : (int64_t)done;
}

int64_t weir_file_write(struct weir_file *file, const void *data, size_t size) {
  size_t done;
  const uint64_t offset = file->access == WEIR_OPEN_APPEND ? 0 : file->position;
  int code = may_write(file);
  if (code) return fail(file, code, "write", 0, 0, 0);
  code = uses_offsets(file) ? weir__file_pwrite(file, data, size, offset, &done) : write_stream(file, data, size, &done);
  file->position = file->access == WEIR_OPEN_APPEND && file->seekable ? AT_END : offset + done;
  return code ? fail(file, code, "write", offset + done, size - done, done) : (int64_t)done;
}

/* Is there one byte more? Where it must be taken to know, it is kept for the next read. */
static int64_t look_ahead(struct weir_file *file) {
  unsigned char byte;
  size_t more;
  if (file->seekable) {
    const int code = weir__file_pread(file, &byte, 1, file->position, &more);
    return code ? code : (int64_t)more;
  }
  if (file->ahead >= 0) return 1;
  const int64_t count = os_read(file->os, &byte, 1);
  if (count > 0) file->ahead = byte;
  return count;
}

int weir_file_read_to_end(struct weir_file *file, void *data, size_t capacity, size_t *size) {
  *size = 0;
  const int64_t got = weir_file_read(file, data, capacity);
  if (got < 0) {
    *size = (size_t)file->error.transferred;
    return (int)got;
  }
  *size = (size_t)got;
  if (*size < capacity) return 0;
  const int64_t code = look_ahead(file);
  return code < 0 ? fail(file, (int)code, "read", file->position, 1, *size) : code > 0 ? WEIR_MORE : 0;
}

/* They leave file->error alone: several threads may be here. */
int64_t weir_file_pread(struct weir_file *file, void *data, size_t size, uint64_t offset) {
  size_t done;
  int code = may_read(file);
  if (!code && !file->seekable) code = WEIR_ESPIPE;
  if (!code) code = weir__file_pread(file, data, size, offset, &done);
  return code ? code : (int64_t)done;
}

int64_t weir_file_pwrite(struct weir_file *file, const void *data, size_t size, uint64_t offset) {
  size_t done;
  int code = may_write(file);
  if (!code && !file->seekable) code = WEIR_ESPIPE;
  if (!code && file->access == WEIR_OPEN_APPEND) code = WEIR_EINVAL; /* the system would append all the same */
  if (!code) code = weir__file_pwrite(file, data, size, offset, &done);
  return code ? code : (int64_t)done;
}

/* ---- position and size ---- */

int weir_file_seek(struct weir_file *file, uint64_t offset) {
  if (is_forked(file)) return fail(file, WEIR_EFORKED, "seek", 0, 0, 0);
  if (!file->seekable) return fail(file, WEIR_ESPIPE, "seek", offset, 0, 0);
  if (offset > INT64_MAX) return fail(file, WEIR_EOVERFLOW, "seek", offset, 0, 0);
  file->position = offset;
  return 0;
}

uint64_t weir_file_tell(const struct weir_file *file) {
  struct os_stat stat;
  if (file->position != AT_END) return file->position;
  return os_stat_file(file->os, &stat) ? 0 : stat.size;
}

int64_t weir_file_size(struct weir_file *file) {
  struct os_stat stat;
  if (is_forked(file)) return fail(file, WEIR_EFORKED, "stat", 0, 0, 0);
  int code = os_stat_file(file->os, &stat);
  if (!code && !file->seekable) code = WEIR_ESPIPE;
  if (!code && stat.size > INT64_MAX) code = WEIR_EOVERFLOW;
  return code ? fail(file, code, "stat", 0, 0, 0) : (int64_t)stat.size;
}

int weir_file_resize(struct weir_file *file, uint64_t size) {
  int code = may_write(file);
  if (!code) code = os_resize(file->os, size);
  return code ? fail(file, code, "resize", size, 0, 0) : 0;
}

int weir_file_preallocate(struct weir_file *file, uint64_t size) {
  int code = may_write(file);
  if (!code) code = os_allocate(file->os, size);
  if (code == WEIR_EOPNOTSUPP) weir__cannot(&file->stat, WEIR_FEATURE_PREALLOCATE);
  return code ? fail(file, code, "preallocate", 0, size, 0) : 0;
}

/* ---- the caller's buffer ---- */

int weir_file_set_buffer(struct weir_file *file, void *buffer, size_t capacity, bool pinned) {
  if (is_forked(file)) return fail(file, WEIR_EFORKED, "set buffer", 0, 0, 0);
  if (!buffer) capacity = 0;
  if (file->pinned) (void)os_memory_unlock(file->buffer, file->buffer_capacity);
  file->buffer = buffer;
  file->buffer_capacity = capacity;
  file->pinned = pinned && capacity && os_memory_lock(buffer, capacity) == 0;
  return 0;
}

int64_t weir_file_fill(struct weir_file *file, size_t size) {
  if (size > file->buffer_capacity) return fail(file, WEIR_EOVERFLOW, "read", 0, size, 0);
  return weir_file_read(file, file->buffer, size);
}

int64_t weir_file_drain(struct weir_file *file, size_t size) {
  if (size > file->buffer_capacity) return fail(file, WEIR_EOVERFLOW, "write", 0, size, 0);
  return weir_file_write(file, file->buffer, size);
}

/* ---- onto stable storage ---- */

int weir_file_sync(struct weir_file *file) {
  if (is_forked(file)) return fail(file, WEIR_EFORKED, "sync", 0, 0, 0);
  int code = atomic_load(&file->sync_error);
  if (!code) {
    code = os_sync(file->os, false);
    if (code == WEIR_EINVAL) code = WEIR_EOPNOTSUPP; /* pipes and the like have no stable storage */
    if (code) atomic_store(&file->sync_error, code);
  }
  return code ? fail(file, code, "sync", 0, 0, 0) : 0;
}

/* ---- opening and closing ---- */

static const unsigned access_flags[] = {
    [WEIR_OPEN_READ] = OS_READ,
    [WEIR_OPEN_WRITE] = OS_WRITE | OS_CREATE | OS_TRUNCATE,
    [WEIR_OPEN_UPDATE] = OS_READ | OS_WRITE,
    [WEIR_OPEN_APPEND] = OS_WRITE | OS_CREATE | OS_APPEND,
};

static int check(const struct weir_open_options *options) {
  const enum weir_strategy strategy = options->strategy;
  if ((unsigned)options->access > WEIR_OPEN_APPEND || (unsigned)options->hint > WEIR_HINT_ONCE) return WEIR_EINVAL;
  if (strategy != WEIR_AUTO && strategy != WEIR_BUFFERED && strategy != WEIR_DIRECT && strategy != WEIR_UNCACHED) {
    return WEIR_EINVAL;
  }
  if (strategy == WEIR_DIRECT && options->access == WEIR_OPEN_APPEND) return WEIR_EINVAL; /* ends lie anywhere */
  if ((options->flags & WEIR_NEW) && options->access == WEIR_OPEN_READ) return WEIR_EINVAL;
  if (options->mode > 07777) return WEIR_EINVAL;
  return weir__check(options->flags, WEIR_ANY_KIND | WEIR_NEW | WEIR_NO_FOLLOW | WEIR_LOCK, options->reserved);
}

/* A handle with its path behind it. Before anything is opened: a file must not be cut for want of memory. */
static struct weir_file *make(const char *path, enum weir_access_mode access) {
  const size_t length = strlen(path) + 1;
  struct weir_file *file = malloc(sizeof *file + length);
  if (!file) return NULL;
  *file = (struct weir_file){.os = os_no_file,
                             .plain = os_no_file,
                             .access = access,
                             .ahead = -1,
                             .memory_alignment = 1,
                             .offset_alignment = 1,
                             .process = weir__process(),
                             .reason = "the default"};
  atomic_init(&file->sync_error, 0);
  file->path = memcpy(file + 1, path, length);
  return file;
}

static bool finds_positions(const struct weir_file *file, uint64_t *position) {
  if (file->stat.kind == OS_FIFO || file->stat.kind == OS_SOCKET) return false;
  const int64_t at = os_tell(file->os);
  *position = at > 0 ? (uint64_t)at : 0;
  return at >= 0;
}

/* The alignment of direct transfers, and the way round them for parts of blocks. */
static int settle_direct(struct weir_file *file, unsigned opened_for) {
  uint32_t memory, offset;
  if (file->stat.kind != OS_REGULAR && file->stat.kind != OS_BLOCK_DEVICE) return WEIR_EOPNOTSUPP;
  const int code = os_direct_alignment(file->os, &memory, &offset);
  if (code && code != WEIR_EOPNOTSUPP) return code;
  file->direct = true;
  file->memory_alignment = code ? 4 * KIB : memory ? memory : 1;
  file->offset_alignment = code ? 4 * KIB : offset;
  if (file->block_bytes) { /* whole sectors, one at least */
    file->block_bytes -= file->block_bytes % file->offset_alignment;
    if (!file->block_bytes) file->block_bytes = file->offset_alignment;
  }
  if ((opened_for & OS_WRITE) && os_reopen(file->os, opened_for, &file->plain)) file->plain = os_no_file;
  return 0;
}

static int settle_strategy(struct weir_file *file, const struct weir_open_options *options) {
  const unsigned keep = OS_READ | OS_WRITE;
  if (options->strategy != WEIR_AUTO) file->reason = "asked for";
  if (options->strategy == WEIR_UNCACHED) {
    if (!file->seekable || !weir__can(file->os, &file->stat, WEIR_FEATURE_UNCACHED, NULL)) return WEIR_EOPNOTSUPP;
    file->uncached = true;
  }
  if (options->strategy != WEIR_DIRECT) return 0;
  const int code = os_set_direct(file->os, true);
  if (code) return code;
  return settle_direct(file, (access_flags[file->access] & keep) | (options->write_through ? OS_DATA_SYNC : 0));
}

static void give_hint(const struct weir_file *file, enum weir_hint hint) {
  static const enum os_advice advices[] = {
      [WEIR_HINT_NONE] = OS_ADVICE_NORMAL,
      [WEIR_HINT_SEQUENTIAL] = OS_ADVICE_SEQUENTIAL,
      [WEIR_HINT_RANDOM] = OS_ADVICE_RANDOM,
      [WEIR_HINT_ONCE] = OS_ADVICE_ONCE,
  };
  if (hint != WEIR_HINT_NONE && file->seekable) (void)os_advise(file->os, 0, 0, advices[hint]);
}

/* What may still be refused is found out before the file is cut. */
static int settle(struct weir_file *file, const struct weir_open_options *options, bool cut, struct weir_error *error) {
  uint64_t position = 0;
  file->seekable = finds_positions(file, &position);
  int code = settle_strategy(file, options);
  if (code) return weir__fail(error, code, weir_strategy_name(options->strategy), file->path, 0, 0, 0);
  if (cut && file->stat.kind == OS_REGULAR && file->stat.size) {
    code = os_resize(file->os, 0);
    if (code) return weir__fail(error, code, "resize", file->path, 0, 0, 0);
    file->stat.size = 0;
  }
  if (file->access == WEIR_OPEN_APPEND && file->seekable) file->position = AT_END;
  give_hint(file, options->hint);
  return 0;
}

static void release(struct weir_file *file) {
  if (file->plain != os_no_file) (void)os_close(file->plain);
  if (file->pinned && !is_forked(file)) (void)os_memory_unlock(file->buffer, file->buffer_capacity);
  free(file);
}

int weir_file_open(const char *path, const struct weir_open_options *options, struct weir_file **out,
                   struct weir_error *error) {
  static const struct weir_open_options none = {0};
  if (!options) options = &none;
  if (out) *out = NULL;
  if (!out || !path || check(options)) return weir__fail(error, WEIR_EINVAL, "open", path, 0, 0, 0);
  struct weir_file *file = make(path, options->access);
  if (!file) return weir__fail(error, WEIR_ENOMEM, "open", path, 0, 0, 0);
  unsigned os_flags = access_flags[options->access] | (options->write_through ? OS_DATA_SYNC : 0);
  const bool cut = (os_flags & OS_TRUNCATE) && options->strategy != WEIR_AUTO && options->strategy != WEIR_BUFFERED;
  if (cut) os_flags &= ~(unsigned)OS_TRUNCATE;
  file->block_bytes = options->block_bytes;
  int code = weir__open(path, os_flags, options->flags, options->mode, &file->os, &file->stat, error);
  if (!code) {
    code = settle(file, options, cut, error);
    if (code && (options->flags & WEIR_NEW) && weir__still_named(path, &file->stat)) (void)os_remove(path);
    if (code) (void)os_close(file->os);
  }
  if (code) {
    release(file);
    return code;
  }
  *out = file;
  return 0;
}

/* Whether an open descriptor allows what is wanted, and what more it says of itself. */
static int adopt(struct weir_file *file) {
  unsigned opened;
  int code = os_opened_for(file->os, &opened);
  if (!code) code = os_stat_file(file->os, &file->stat);
  if (code) return code;
  const unsigned needed = access_flags[file->access] & (OS_READ | OS_WRITE);
  if ((opened & needed) != needed) return WEIR_EBADF;
  if (file->stat.kind == OS_DIRECTORY) return WEIR_EISDIR;
  file->seekable = finds_positions(file, &file->position);
  /* Appending must not depend on where the end was, nor positions on where it is. */
  if (file->access == WEIR_OPEN_APPEND && file->seekable && !(opened & OS_APPEND)) return WEIR_EINVAL;
  if (file->access == WEIR_OPEN_UPDATE && (opened & OS_APPEND)) return WEIR_EINVAL;
  if ((opened & OS_APPEND) && file->access == WEIR_OPEN_WRITE) file->access = WEIR_OPEN_APPEND;
  if (file->access == WEIR_OPEN_APPEND && file->seekable) file->position = AT_END;
  return (opened & OS_DIRECT) && file->seekable ? settle_direct(file, opened & (OS_READ | OS_WRITE)) : 0;
}

int weir_file_from(int descriptor, enum weir_access_mode access, struct weir_file **out, struct weir_error *error) {
  if (out) *out = NULL;
  if (!out || (unsigned)access > WEIR_OPEN_APPEND) return weir__fail(error, WEIR_EINVAL, "open", NULL, 0, 0, 0);
  struct weir_file *file = make("", access);
  if (!file) return weir__fail(error, WEIR_ENOMEM, "open", NULL, 0, 0, 0);
  file->os = descriptor;
  file->borrowed = true;
  const int code = adopt(file);
  if (code) {
    release(file);
    return weir__fail(error, code, "open", NULL, 0, 0, 0);
  }
  *out = file;
  return 0;
}

/* Who goes on with a borrowed descriptor finds it where we are. */
static void hand_back(const struct weir_file *file) {
  if (file->seekable && file->position != AT_END) (void)os_seek(file->os, file->position);
}

int weir_file_close(struct weir_file *file, struct weir_error *error) {
  if (!file) return 0;
  int code = is_forked(file) ? WEIR_EFORKED : atomic_load(&file->sync_error);
  if (!file->borrowed) {
    const int close_code = os_close(file->os);
    if (!code) code = close_code;
  } else if (code != WEIR_EFORKED) {
    hand_back(file);
  }
  if (code && code != file->error.code) (void)weir__fail(&file->error, code, "close", file->path, 0, 0, 0);
  (void)weir__report(error, code, &file->error);
  release(file);
  return code;
}

const struct weir_error *weir_file_error(const struct weir_file *file) { return &file->error; }

void weir_file_how(const struct weir_file *file, struct weir_choice *how) {
  *how = (struct weir_choice){.strategy = file->direct     ? WEIR_DIRECT
                                          : file->uncached ? WEIR_UNCACHED
                                                           : WEIR_BUFFERED,
                              .direct = file->direct,
                              .block_bytes = file->block_bytes,
                              .depth = 1,
                              .reason = file->reason};
}
