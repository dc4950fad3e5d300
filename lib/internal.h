/*
 * internal.h - what the files of libweir share and nobody else sees.
 *
 * Everything here begins with weir__ and returns as weir.h says: 0 or a count, else a WEIR_E... code. Errors of os.h are
 * the same numbers on Linux.
 */
#ifndef WEIR_INTERNAL_H
#define WEIR_INTERNAL_H

#include <stdatomic.h>

#include "os/os.h"
#include "weir.h"

/* An open file. Positional calls may come from several threads, so `sync_error` is atomic and they leave the rest alone. */
struct weir_file {
  os_file os;
  bool borrowed; /* closing leaves the descriptor open */
  bool seekable; /* has positions: pread and pwrite work */
  bool direct;   /* opened past the page cache */
  bool uncached; /* transfers ask to leave nothing in the page cache */
  bool pinned;
  enum weir_access_mode access;
  uint32_t memory_alignment, offset_alignment; /* of direct transfers; 1 otherwise */
  size_t block_bytes;                          /* of one system call; 0: as large as it goes */
  uint64_t position;
  int ahead; /* without positions: a byte that was read to know whether there is one, to be given first; -1: none */
  struct os_stat stat;   /* when it was opened */
  atomic_int sync_error; /* sticky */
  int process;           /* that opened it: weir__process */
  os_file plain;         /* the same file through the page cache, for direct transfers that are not aligned */
  void *buffer;          /* of the caller */
  size_t buffer_capacity;
  const char *reason; /* why this strategy */
  struct weir_error error;
  char *path;
};

/* ---- numbers ---- */

static inline uint64_t weir__smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline size_t weir__smaller_size(size_t a, size_t b) { return a < b ? a : b; }
static inline size_t weir__round_up(size_t size, size_t unit) { return (size + (unit - 1)) / unit * unit; }

/* ---- failure.c ---- */

/* Fills *error (may be NULL) and returns `code`. */
int weir__fail(struct weir_error *error, int code, const char *operation, const char *path, uint64_t offset, uint64_t size,
               uint64_t transferred);
/* At a close: gives `code`, and its details where *last is about it. */
int weir__report(struct weir_error *error, int code, const struct weir_error *last);
/* 0, or WEIR_EINVAL where a flag is not in `known` or a reserved word is not zero. reserved may be NULL. */
int weir__check(unsigned flags, unsigned known, const uint64_t reserved[4]);

/* ---- opening.c ---- */

/*
 * Opens a path without waiting for anybody, looks at what it is, refuses what is not regular (unless WEIR_ANY_KIND) and
 * takes the lock that WEIR_LOCK asks for. `os_flags` of enum os_open_flag, `flags` of enum weir_flag; `mode` as in
 * weir_write_options. OS_STAY_READY spares a system call where only pread and pwrite on regular files follow.
 */
int weir__open(const char *path, unsigned os_flags, unsigned flags, unsigned mode, os_file *out, struct os_stat *stat,
               struct weir_error *error);

/* Are both of one file, and does a path still lead to it? */
bool weir__same_file(const struct os_stat *a, const struct os_stat *b);
bool weir__still_named(const char *path, const struct os_stat *stat);

/* ---- transferring.c: until all is done, the end, or an error; *done tells how many bytes in each case ---- */

/* One transfer through the page cache, maybe short, as os_pread and os_pwrite; the way round memory that copies slowly. */
int64_t weir__pread_once(os_file file, void *data, size_t size, uint64_t offset);
int64_t weir__pwrite_once(os_file file, const void *data, size_t size, uint64_t offset);

int weir__pread(os_file file, void *data, size_t size, uint64_t offset, size_t *done);
int weir__pwrite(os_file file, const void *data, size_t size, uint64_t offset, size_t *done);
/* At the file's own position: pipes and the like too. They wait where a descriptor is set not to block. */
int weir__read(os_file file, void *data, size_t size, size_t *done);
int weir__write(os_file file, const void *data, size_t size, size_t *done);

/* ---- pages.c: memory for transfers ---- */

/* At least `bytes`, aligned to a page; in huge pages as `flags` (WEIR_HUGE, WEIR_SMALL_PAGES) say, by default from 1 MiB on.
 * Not zeroed again. weir__pages_put wants the same number. */
int weir__pages_get(size_t bytes, unsigned flags, void **out);
void weir__pages_put(void *pages, size_t bytes);
/* Makes room for `capacity` bytes and the zero byte behind them, keeping the first `keep`. */
int weir__bytes_reserve(struct weir_bytes *bytes, size_t capacity, size_t keep, unsigned flags);
/*
 * The same for who ends with weir__bytes_end, which sets the size and the zero byte: `written` says how far bytes were
 * written since. Pages that never were hold zeros anyway, so that the zero byte costs no page. `flags` also WEIR__PAGES.
 */
int weir__bytes_room(struct weir_bytes *bytes, size_t capacity, size_t keep, unsigned flags);
void weir__bytes_end(struct weir_bytes *bytes, size_t size, size_t written);
#define WEIR__PAGES (1u << 31) /* aligned to a page, however small */

/* ---- ability.c: what file systems can do, learned once each ---- */

/* True, or false with a reason (constant; may be NULL). Tries it out the first time, on this file, without changing it. */
bool weir__can(os_file file, const struct os_stat *stat, enum weir_feature feature, const char **reason);
/* Records what was learned in use: that it is refused here after all. */
void weir__cannot(const struct os_stat *stat, enum weir_feature feature);
/* How much of the range the page cache holds, 0 to 100; -1 unknown. */
int weir__cached_percent(os_file file, uint64_t offset, uint64_t length);
/* The part of a file that is wanted; no bytes: all from there on. */
struct weir__part {
  uint64_t offset, bytes;
};
/* What WEIR_AUTO does. Fills all of *how. */
void weir__choose(os_file file, const struct os_stat *stat, enum weir_use use, struct weir__part range,
                  struct weir_choice *how);
/* Processors that this process may use. */
unsigned weir__processors(void);
/* Bytes of a huge page; 0 where there are none. Asked once. */
size_t weir__huge_page(void);
/* A number that differs in every forked process, for handles that do not survive fork. Costs one look at memory. */
int weir__process(void);
/* A number of the calling thread that no other has had. */
unsigned weir__thread(void);

/* ---- handle.c ---- */

/* weir_file_pread and _pwrite that tell how far they got, and leave file->error alone. */
int weir__file_pread(struct weir_file *file, void *data, size_t size, uint64_t offset, size_t *done);
int weir__file_pwrite(struct weir_file *file, const void *data, size_t size, uint64_t offset, size_t *done);

/* ---- whole.c ---- */

/* weir_read_file on a file that weir__open gave. */
int weir__read_whole(os_file file, const struct os_stat *stat, const char *path, struct weir_bytes *bytes,
                     const struct weir_read_options *options, struct weir_error *error);

/* ---- records.c ---- */

/* weir_records_open that reads so many bytes at once. */
int weir__records_open(const char *path, const struct weir_record_format *format, size_t block_bytes,
                       struct weir_records **out, struct weir_error *error);

/* ---- scan.c; scan_plain.c, or scan_x86.c and its kin: newlines ---- */

/*
 * Finds LF in [data + from, data + size), size < 2^32: writes up to `max` of their offsets, counted from `data`, to `ends`
 * and returns how many; *used is how far it got: to `size`, or behind the last one where `ends` is full, or not as far where
 * it found some and has room for fewer than 64 more. *cr is set when one of them has a CR right before it, at or behind
 * `data`, and else left alone. Never reads outside of [data, data + size); of `ends` it may write entries above the count,
 * but never above `max`.
 */
size_t weir__scan_lines(const char *data, size_t from, size_t size, uint32_t *ends, size_t max, size_t *used, bool *cr);
uint64_t weir__count_newlines(const char *data, size_t size);

/* The ways in which the two above are done; for tests, and for who chooses. */
struct weir__scanner {
  const char *name;
  size_t (*lines)(const char *data, size_t from, size_t size, uint32_t *ends, size_t max, size_t *used, bool *cr);
  uint64_t (*count)(const char *data, size_t size);
};
/* Those that this processor can run, the best first; the last one is plain. NULL behind it. */
const struct weir__scanner *weir__scanner(unsigned i);
extern const struct weir__scanner weir__scanner_plain;
/* True if one of the `count` LF at `ends` has a CR right before it. */
bool weir__has_cr(const char *data, const uint32_t *ends, size_t count);

#endif
