/*
 * weir.h - libweir: reads and writes files, fast and by simple calls.
 *
 *     #include <weir.h>                                  cc program.c $(pkg-config --cflags --libs weir)
 *
 *     struct weir_bytes text = {0};
 *     if (weir_read_file("notes.txt", &text, NULL, NULL) < 0) return 1;
 *     fwrite(text.data, 1, text.size, stdout);
 *     weir_bytes_free(&text);
 *
 * The sections stand in the order in which one needs them: errors, whole files, lines, blocks, output, text, records, files
 * with a position, mapped views, many requests at once, copies, buffers, and what would be chosen.
 *
 * Rules that hold everywhere
 *   Results   >= 0 is good, < 0 is a WEIR_E... code. Iterators give 1 (an item), 0 (the end) or an error. WEIR_MORE (1)
 *             says that a buffer is full and the file goes on: neither an error nor the end.
 *   Errors    Calls that open, close or take a path also take a struct weir_error, which may be NULL and is filled only
 *             on failure. Handles keep their last one: weir_file_error(file) and the like, never NULL, code 0 before any.
 *   Options   Structs that are set to zero, then only what differs is filled in. NULL is the same as all zero.
 *   Paths     are taken literally: no pattern, no "-" for standard input, no home directory.
 *   Ownership open/close, init/release. An open that fails sets *out to NULL, or a struct to closed; closing that is fine.
 *             What a call hands out by const pointer stays the library's and lives until the next call on the same
 *             handle. What it hands out in a struct weir_bytes is the caller's: weir_bytes_free.
 *   Threads   One handle, one thread at a time, unless a call says otherwise; different handles are independent. The
 *             library keeps no state but one table of what each file system can do, safe to use from all threads.
 *   Manners   It prints nothing, never exits, installs no signal handler, follows no locale, and repeats what a signal
 *             interrupted. Its helper threads block all signals and end with their handle. Files it opens are not
 *             inherited by other programs. Handles do not survive fork: the child gets WEIR_EFORKED.
 *   Sizes     Bytes, 64 bits for files, on 32-bit systems too.
 *   Kinds     A path that names a directory is WEIR_EISDIR. One that names a FIFO, socket or device is WEIR_ENOTREG,
 *             without waiting for it, unless WEIR_ANY_KIND is given.
 */
#ifndef WEIR_H
#define WEIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_VERSION_MAJOR 0
#define WEIR_VERSION_MINOR 1
#define WEIR_VERSION_PATCH 0
/* "0.1.0": of the library that runs, which may be newer than this header. */
const char *weir_version(void);

/* ---- errors -------------------------------------------------------------------------------------------------------- */

/*
 * One line each: name, value, text. Values above -5000 are the negative errno values of Linux, on every system; those below
 * are the library's own. A system may also answer with an errno value that is not listed: it comes through unchanged.
 */
#define WEIR_ERRORS(X)                                                       \
  X(WEIR_EPERM, -1, "not permitted")                                         \
  X(WEIR_ENOENT, -2, "no such file or directory")                            \
  X(WEIR_EINTR, -4, "interrupted")                                           \
  X(WEIR_EIO, -5, "input/output error")                                      \
  X(WEIR_ENXIO, -6, "no such device or address")                             \
  X(WEIR_EBADF, -9, "not open for this")                                     \
  X(WEIR_EAGAIN, -11, "not ready now")                                       \
  X(WEIR_ENOMEM, -12, "out of memory")                                       \
  X(WEIR_EACCES, -13, "permission denied")                                   \
  X(WEIR_EFAULT, -14, "bad address")                                         \
  X(WEIR_EBUSY, -16, "busy")                                                 \
  X(WEIR_EEXIST, -17, "exists already")                                      \
  X(WEIR_EXDEV, -18, "on another file system")                               \
  X(WEIR_ENODEV, -19, "no such device")                                      \
  X(WEIR_ENOTDIR, -20, "not a directory")                                    \
  X(WEIR_EISDIR, -21, "is a directory")                                      \
  X(WEIR_EINVAL, -22, "invalid argument")                                    \
  X(WEIR_ENFILE, -23, "too many open files in the system")                   \
  X(WEIR_EMFILE, -24, "too many open files")                                 \
  X(WEIR_ETXTBSY, -26, "a running program")                                  \
  X(WEIR_EFBIG, -27, "file too large")                                       \
  X(WEIR_ENOSPC, -28, "no space left")                                       \
  X(WEIR_ESPIPE, -29, "has no positions")                                    \
  X(WEIR_EROFS, -30, "read-only file system")                                \
  X(WEIR_EMLINK, -31, "too many links")                                      \
  X(WEIR_EPIPE, -32, "nobody reads it")                                      \
  X(WEIR_ENAMETOOLONG, -36, "name too long")                                 \
  X(WEIR_ENOSYS, -38, "not known to this system")                            \
  X(WEIR_ENOTEMPTY, -39, "directory not empty")                              \
  X(WEIR_ELOOP, -40, "too many links on the way")                            \
  X(WEIR_EOVERFLOW, -75, "number too large")                                 \
  X(WEIR_EILSEQ, -84, "invalid text")                                        \
  X(WEIR_EOPNOTSUPP, -95, "not supported here")                              \
  X(WEIR_ETIMEDOUT, -110, "took too long")                                   \
  X(WEIR_ESTALE, -116, "the server forgot the file")                         \
  X(WEIR_EDQUOT, -122, "quota exceeded")                                     \
  X(WEIR_ECANCELED, -125, "cancelled")                                       \
  X(WEIR_ELIMIT, -5001, "larger than the limit that was set")                \
  X(WEIR_EFORMAT, -5002, "malformed data")                                   \
  X(WEIR_ETRUNCATED, -5003, "ends too early")                                \
  X(WEIR_EVERIFY, -5004, "read back, it differs")                            \
  X(WEIR_ENOTREG, -5005, "not a regular file")                               \
  X(WEIR_EDURABLE, -5006, "in place, but perhaps not yet on stable storage") \
  X(WEIR_EFORKED, -5007, "opened by another process")                        \
  X(WEIR_ESAME, -5008, "source and destination are the same file")

enum weir_error_code {
  WEIR_OK = 0,
#define WEIR_ERROR_VALUE(name, value, text) name = value,
  WEIR_ERRORS(WEIR_ERROR_VALUE)
#undef WEIR_ERROR_VALUE
};

#define WEIR_MORE 1 /* the buffer is full and the file goes on */

/* What failed. `transferred` bytes had gone well before it: they are good. */
struct weir_error {
  int code;              /* WEIR_E... */
  const char *operation; /* "open", "read", "sync" ...: a constant */
  uint64_t offset, size; /* where in the file, and of how many bytes; 0 and 0 where that means nothing */
  uint64_t transferred;
  char path[256]; /* the end of it where it is longer */
};

/* "no such file or directory"; "error 200" for what is not in the list. Never NULL. Any thread. */
const char *weir_strerror(int code);
/* The name of the code, "WEIR_ENOENT", or "". */
const char *weir_error_name(int code);
#define WEIR_ERROR_TEXT_MAX 512 /* room for every weir_error_text */
/* One line without a newline, as in `read notes.txt at 4096: input/output error`. Returns its length, as snprintf does. */
int weir_error_text(const struct weir_error *error, char *out, size_t size);

/* ---- words used by several sections -------------------------------------------------------------------------------- */

/* Bytes of a buffer of the library or of the caller. Not terminated by anything. */
struct weir_slice {
  const char *data;
  size_t size;
};

/* How the bytes are moved. WEIR_AUTO chooses by size, cache and file system, and falls back where something is refused;
 * any other value is used, or the call fails with the reason. */
enum weir_strategy {
  WEIR_AUTO = 0,
  WEIR_BUFFERED, /* plain reads and writes through the page cache */
  WEIR_MAPPED,   /* the file's pages, mapped */
  WEIR_DIRECT,   /* past the page cache: for data that is not used again, or larger than memory */
  WEIR_UNCACHED, /* through the page cache, leaving nothing in it */
  WEIR_RING,     /* many requests in flight by io_uring */
  WEIR_THREADS,  /* many requests in flight by threads */
};

/* What was chosen, and why. */
struct weir_choice {
  enum weir_strategy strategy;
  bool direct;        /* past the page cache */
  size_t block_bytes; /* of one request */
  unsigned depth;     /* requests in flight at once, at most */
  unsigned threads;   /* that the library started */
  const char *reason; /* a constant, "the file is cached" */
};
/* "buffered", "mapped", ... A constant. */
const char *weir_strategy_name(enum weir_strategy strategy);

/* Flags; each call names those that it knows and refuses the others with WEIR_EINVAL. */
enum weir_flag {
  WEIR_ANY_KIND = 1 << 0,    /* take FIFOs, sockets and devices too; opening may then wait for the other side */
  WEIR_ATOMIC = 1 << 1,      /* readers see the old file or the new one, whole: a temporary file takes its place */
  WEIR_DURABLE = 1 << 2,     /* on stable storage, with its name, when the call returns */
  WEIR_PREALLOCATE = 1 << 3, /* reserve the space first, where the file system can */
  WEIR_NEW = 1 << 4,         /* WEIR_EEXIST if there is one */
  WEIR_NO_FOLLOW = 1 << 5,   /* WEIR_ELOOP if the path itself is a symbolic link */
  WEIR_HUGE = 1 << 6,        /* memory in huge pages, where the system gives them: the default from 1 MiB on */
  WEIR_SMALL_PAGES = 1 << 7, /* never huge pages */
  WEIR_LOCK = 1 << 8,        /* take an advisory lock: shared for reading, exclusive for writing; WEIR_EAGAIN if taken */
  WEIR_EXACT = 1 << 9,       /* WEIR_ETRUNCATED if the file ends before what its size said when it was opened */
};

/* ---- whole files --------------------------------------------------------------------------------------------------- */

/*
 * Memory of the caller's. Set it to zero before first use; a call that fills it takes the memory it already holds where
 * that is large enough, so one struct in a loop over many files costs no page faults. A zero byte follows data[size - 1],
 * not counted, so text can be used as a C string. `data` is never NULL after success, also for an empty file.
 */
struct weir_bytes {
  char *data;
  size_t size;
  size_t capacity; /* private from here on */
  unsigned kind;
};
/* Gives the memory back and sets all to zero. NULL and zero are fine. */
void weir_bytes_free(struct weir_bytes *bytes);

struct weir_read_options {
  uint64_t max_bytes; /* WEIR_ELIMIT if the file has more; 0: as much as memory holds */
  uint64_t offset;    /* begin here; a start behind the end gives 0 bytes */
  enum weir_strategy strategy;
  unsigned threads;        /* 0: chosen; 1: only the calling one */
  unsigned flags;          /* WEIR_ANY_KIND, WEIR_HUGE, WEIR_SMALL_PAGES, WEIR_EXACT */
  struct weir_choice *how; /* filled when not NULL */
  uint64_t reserved[4];
};

/*
 * Reads a whole file into memory, up to where reading meets its end. The size that the system tells is a hint only, so files
 * of /proc and /sys, growing and shrinking files are right too. On an error `bytes` holds what was read before it
 * (error->transferred bytes); free it all the same.
 */
int weir_read_file(const char *path, struct weir_bytes *bytes, const struct weir_read_options *options,
                   struct weir_error *error);
/* The same into the caller's memory. 0: the whole file is there; WEIR_MORE: `capacity` bytes are, and the file goes on.
 * *size is set in every case, also on an error. No byte is added at the end. */
int weir_read_into(const char *path, void *buffer, size_t capacity, size_t *size, struct weir_error *error);
/* The same for an array of items of one size, aligned for any type: `double *v = (double *)bytes.data`, *count of them.
 * WEIR_EFORMAT if the file is not a whole number of items. */
int weir_read_items(const char *path, size_t item_size, struct weir_bytes *bytes, size_t *count, struct weir_error *error);
/* An array of `type`: WEIR_READ_ITEMS(path, double, &bytes, &count, &error). */
#define WEIR_READ_ITEMS(path, type, bytes, count, error) weir_read_items(path, sizeof(type), bytes, count, error)

struct weir_write_options {
  unsigned flags; /* WEIR_ATOMIC, WEIR_DURABLE, WEIR_PREALLOCATE, WEIR_NEW, WEIR_NO_FOLLOW, WEIR_ANY_KIND */
  unsigned mode;  /* of a new file, before the umask; 0: 0666. A file that is replaced keeps its own. */
  uint64_t reserved[4];
};
/*
 * Makes `path` hold exactly these bytes. Without flags an existing file is overwritten and cut. With WEIR_ATOMIC the data go
 * to a temporary file beside it, ".NAME.weir-XXXXXX", which then takes its name, keeping mode and, where allowed, owner of
 * the old one; a symbolic link is followed, so it is its target that is replaced. A temporary file left by a crash is
 * removed by the next atomic write of the same name once no living process holds it (where more than four wrote at once,
 * perhaps by a later one); a long NAME is cut, and more than 256 writes of one name at once are WEIR_EBUSY. WEIR_DURABLE
 * flushes the data, and the directory too where the name is new or
 * WEIR_ATOMIC: WEIR_EDURABLE means the new file is in place but the directory's flush failed. On any other error an atomic
 * write leaves the old file as it was. Other names (hard links) of the old file keep the old content; its extended
 * attributes and access lists are not taken over.
 */
int weir_write_file(const char *path, const void *data, size_t size, const struct weir_write_options *options,
                    struct weir_error *error);

/* ---- lines --------------------------------------------------------------------------------------------------------- */

/*
 * A line is what ends with LF; the LF does not belong to the slice, and one CR before it is cut off too (unless
 * WEIR_KEEP_CR). A lone CR, a NUL or any other byte is text. The last line may lack its LF. An empty file has no line.
 *
 *     struct weir_lines lines;
 *     struct weir_slice line;
 *     struct weir_error error;
 *     weir_lines_open(&lines, path, NULL, &error);
 *     while (weir_lines_next(&lines, &line) > 0) use(line.data, line.size);
 *     if (weir_lines_close(&lines, &error) < 0) puts(weir_strerror(error.code));
 *
 * After an open that failed there are no lines, and the close gives its code again: one check is enough. A slice lives until
 * the next call on the same lines; no zero byte follows it.
 */
enum weir_lines_flag {
  WEIR_KEEP_CR = 1 << 16,    /* leave CR before LF in the line */
  WEIR_SKIP_BOM = 1 << 17,   /* leave out the three bytes of a UTF-8 mark at the start */
  WEIR_LONG_PARTS = 1 << 18, /* lines above max_line come in pieces, all but the last marked WEIR_LINE_PART */
  WEIR_LONG_SKIP = 1 << 19,  /* lines above max_line are left out and counted */
};
struct weir_lines_options {
  size_t max_line; /* longest line in bytes; 0: 64 MiB; larger values than 4 GiB - 1 MiB count as that. A longer line gives
                      WEIR_ELIMIT once; calling again goes on with the line behind it */
  size_t block_bytes; /* of one read; 0: chosen */
  enum weir_strategy strategy;
  unsigned flags; /* of enum weir_lines_flag, and WEIR_ANY_KIND */
  uint64_t reserved[4];
};
enum weir_line_mark {
  WEIR_LINE_NO_NEWLINE = 1 << 0, /* the file ended without one */
  WEIR_LINE_PART = 1 << 1,       /* the line goes on in the next slice */
};

struct weir_lines_state; /* private */
/* Only `skipped` is the caller's to look at. A local variable, as above, is fastest: the compiler keeps it in registers. */
struct weir_lines {
  const char *base, *next;    /* private: the block, and its next line */
  const uint32_t *end, *stop; /* private: where that line ends, counted from `base`; behind the last such place */
  uint32_t gap;               /* private: bytes between the end of a line and the next one */
  struct weir_lines_state *state;
  uint64_t skipped; /* lines left out because of WEIR_LONG_SKIP */
  int failed;       /* private: why it is not open */
};

static inline int weir_lines_open(struct weir_lines *lines, const char *path, const struct weir_lines_options *options,
                                  struct weir_error *error);
/* Lines of memory that stays the caller's and unchanged until the close. */
static inline int weir_lines_open_memory(struct weir_lines *lines, const void *data, size_t size,
                                         const struct weir_lines_options *options, struct weir_error *error);
/* Lines of an open file from its position on; `file` stays the caller's and must not be used until the close, which leaves
 * its position behind the line given last. Where there are no positions, what was read ahead is lost. */
struct weir_file;
static inline int weir_lines_open_file(struct weir_lines *lines, struct weir_file *file,
                                       const struct weir_lines_options *options, struct weir_error *error);
/* The next line: 1, 0 at the end, or an error. */
static inline int weir_lines_next(struct weir_lines *lines, struct weir_slice *line);
/* Loads the next block; weir_lines_next calls it. 1, 0 or an error. */
static inline int weir_lines_fill(struct weir_lines *lines);
/* Ends it and gives the first error that a call on these lines met; that of a failed open leaves *error alone, which the
 * open has filled. Closing twice is 0. */
static inline int weir_lines_close(struct weir_lines *lines, struct weir_error *error);
static inline const struct weir_error *weir_lines_error(const struct weir_lines *lines);
/* Marks of the line given last, of enum weir_line_mark. */
static inline unsigned weir_lines_marks(const struct weir_lines *lines);
/* Where the line given last begins: its byte in the file, the first is 0, and its number, the first is 1; each may be NULL.
 * Parts of a line begin each at their own byte and have one number; lines left out are counted. */
static inline void weir_lines_position(const struct weir_lines *lines, uint64_t *offset, uint64_t *number);

/* All lines of a block at once, for the tightest loops. In one batch all lines end with LF (`gap` is 1), or all with a CR
 * that is cut off and LF (2): a file that mixes them comes in more batches. A part of a line, and a last one without LF,
 * comes alone (0). */
struct weir_batch {
  const char *base;
  const uint32_t *ends; /* where line i ends in `base`; the next one begins `gap` bytes behind that, line 0 at `begin`,
                           which is ends[-1] + gap, too, in 32 bits */
  size_t begin, count;
  uint32_t gap;
  uint64_t number; /* of the first line, counted from 1 */
};
/* What weir_lines_next has not given yet of a batch, else the next one. 1, 0 or an error. May be mixed with it. */
static inline int weir_lines_batch(struct weir_lines *lines, struct weir_batch *batch);
static inline struct weir_slice weir_batch_line(const struct weir_batch *batch, size_t i) {
  const uint32_t *end = batch->ends + i;
  const uint32_t begin = end[-1] + batch->gap;
  struct weir_slice line;
  line.data = batch->base + begin;
  line.size = *end - begin;
  return line;
}

/* A copy that ends with a zero byte; free() it. NULL: out of memory. */
char *weir_slice_copy(struct weir_slice slice);
/* Takes the next piece without white space (space, tab, CR, LF, VT, FF) off the front of *rest. False: there is none. */
bool weir_slice_field(struct weir_slice *rest, struct weir_slice *field);
/* The decimal number that the slice is, all of it, as in "-12.5e3", "inf", "nan": nearest value, whatever the locale.
 * WEIR_EFORMAT: it is none, and *value stays. */
int weir_slice_double(struct weir_slice slice, double *value);

/* All lines of a file in memory: line[i] for i < count, in one piece of text. */
struct weir_line_list {
  struct weir_slice *line;
  size_t count;
  struct weir_bytes text; /* private */
};
int weir_read_lines(const char *path, struct weir_line_list *list, const struct weir_lines_options *options,
                    struct weir_error *error);
void weir_line_list_free(struct weir_line_list *list);

/* Calls `each` for batches of at most `lines` lines and about `bytes` bytes (0: as weir_lines_batch gives them) until it
 * returns non-zero, and returns that. 0 after all lines; let the callback return values above 0, to be told from errors. */
typedef int weir_lines_callback(void *context, const struct weir_batch *batch);
int weir_lines_each(const char *path, size_t lines, size_t bytes, const struct weir_lines_options *options,
                    weir_lines_callback *each, void *context, struct weir_error *error);

/* How many lines the file has; a last one without LF counts. threads 0: chosen. Of the options, the strategy: WEIR_MAPPED is
 * the fastest for cached files that nobody cuts meanwhile (see struct weir_view), and never chosen by itself. */
int weir_count_lines(const char *path, unsigned threads, const struct weir_lines_options *options, uint64_t *count,
                     struct weir_error *error);

/*
 * The lines of a file by several threads: `each` is called from `threads` threads at once (0: one for each processor; fewer
 * where the file is small), with the number of its thread (0 ... threads - 1; 0 is the caller's own) and the place in the
 * file where the batch begins. Threads take pieces of about 2 MiB, in no order; a piece comes in one batch or more, in
 * order. Every line comes exactly once, whole; batch->number is 0. A non-zero value ends all and is returned. The file must
 * be regular; WEIR_RING is WEIR_EOPNOTSUPP.
 */
typedef int weir_lines_worker(void *context, unsigned thread, uint64_t offset, const struct weir_batch *batch);
int weir_lines_parallel(const char *path, unsigned threads, const struct weir_lines_options *options,
                        weir_lines_worker *each, void *context, struct weir_error *error);

/* ---- blocks -------------------------------------------------------------------------------------------------------- */

/*
 * A file from front to back in blocks that are not copied once more: the library reads ahead while the caller works, further
 * when it had to wait, less when it had not, not at all while the file is cached.
 */
struct weir_stream;
struct weir_stream_options {
  size_t block_bytes;      /* 0: chosen. All blocks but the last have this size, unless the file is a pipe or the like */
  unsigned depth;          /* blocks read ahead at most; 0: chosen */
  uint64_t offset, length; /* of the file; length 0: to the end */
  enum weir_strategy strategy;
  unsigned flags; /* WEIR_ANY_KIND, WEIR_HUGE, WEIR_SMALL_PAGES, WEIR_EXACT */
  uint64_t reserved[4];
};
int weir_stream_open(const char *path, const struct weir_stream_options *options, struct weir_stream **out,
                     struct weir_error *error);
/* From an open file; `file` stays the caller's. One without positions is read from where it stands. */
int weir_stream_open_file(struct weir_file *file, const struct weir_stream_options *options, struct weir_stream **out,
                          struct weir_error *error);
/* The next block: 1, 0 at the end, or an error. It lives until the next call. */
int weir_stream_next(struct weir_stream *stream, struct weir_slice *block);
void weir_stream_how(const struct weir_stream *stream, struct weir_choice *how);
const struct weir_error *weir_stream_error(const struct weir_stream *stream);
/* Waits for what is in flight. Gives the first error that a call on this stream met. NULL is 0. */
int weir_stream_close(struct weir_stream *stream, struct weir_error *error);

/* ---- output -------------------------------------------------------------------------------------------------------- */

/*
 * Collects small pieces and writes full buffers of one size; what does not fit goes on in the next. Nothing counts as
 * written before weir_writer_finish returned 0.
 */
struct weir_writer_options {
  size_t buffer_bytes;     /* 0: chosen */
  uint64_t expected_bytes; /* size to reserve; more or less may be written. 0: unknown */
  uint64_t pace_bytes;     /* begin writing back behind every so many bytes, so that the end is not a long wait; 0: chosen;
                              UINT64_MAX: never */
  enum weir_strategy strategy; /* WEIR_BUFFERED, WEIR_DIRECT, WEIR_UNCACHED, WEIR_AUTO */
  unsigned flags;              /* as for weir_write_file, and WEIR_APPEND, WEIR_LOCK; expected_bytes alone reserves space */
  unsigned mode;               /* as for weir_write_file */
  uint64_t reserved[4];
};
#define WEIR_APPEND (1u << 20) /* go on at the end of the file; with WEIR_ATOMIC, of a copy that takes its place */

struct weir_writer_state; /* private */
struct weir_writer {
  char *at, *end; /* private: free part of the buffer */
  struct weir_writer_state *state;
};
int weir_writer_open(struct weir_writer *writer, const char *path, const struct weir_writer_options *options,
                     struct weir_error *error);
/* Onto an open file, from its position on; `file` stays the caller's and must not be used before the end. */
int weir_writer_open_file(struct weir_writer *writer, struct weir_file *file, const struct weir_writer_options *options,
                          struct weir_error *error);
/* weir_writer_put for what does not fit: call that. */
int weir_writer_put_slow(struct weir_writer *writer, const void *data, size_t size);
/* Adds bytes. 0 or an error; after an error all later calls give it again. */
static inline int weir_writer_put(struct weir_writer *writer, const void *data, size_t size) {
  if (size < (size_t)(writer->end - writer->at)) {
    if (size) memcpy(writer->at, data, size);
    writer->at += size;
    return 0;
  }
  return weir_writer_put_slow(writer, data, size);
}
/* Adds bytes and LF. */
int weir_writer_put_line(struct weir_writer *writer, const void *data, size_t size);
/* Room for `size` bytes in one piece, to be filled in place and then counted by weir_writer_commit; size at most 64 KiB.
 * NULL: see weir_writer_error. */
void *weir_writer_reserve(struct weir_writer *writer, size_t size);
int weir_writer_commit(struct weir_writer *writer, size_t size);
/* Hands all so far to the system; with WEIR_DURABLE onto stable storage. Not needed before the finish. */
int weir_writer_flush(struct weir_writer *writer);
/* Bytes put so far. */
uint64_t weir_writer_size(const struct weir_writer *writer);
/* Writes the rest, makes it durable and gives it its name where asked, and closes: also after an error, which it returns. */
int weir_writer_finish(struct weir_writer *writer, struct weir_error *error);
/* Closes and throws away what is not written. With WEIR_ATOMIC or WEIR_NEW nothing remains; else the file keeps what got
 * there. */
void weir_writer_abandon(struct weir_writer *writer);
const struct weir_error *weir_writer_error(const struct weir_writer *writer);
void weir_writer_how(const struct weir_writer *writer, struct weir_choice *how);

/* ---- text ---------------------------------------------------------------------------------------------------------- */

enum weir_encoding {
  WEIR_ENCODING_UNKNOWN = 0, /* for weir_read_text: to be detected */
  WEIR_UTF8,
  WEIR_UTF16LE,
  WEIR_UTF16BE,
  WEIR_UTF32LE,
  WEIR_UTF32BE,
  WEIR_LATIN1,
};
/*
 * By its mark (BOM), whose length goes to *mark_bytes (may be NULL); else by zero bytes for UTF-16 and UTF-32 and by
 * validity for UTF-8; what is none of them is Latin-1. A guess from the first bytes of a file: 4 KiB are plenty.
 */
enum weir_encoding weir_detect(const void *data, size_t size, size_t *mark_bytes);
/* "UTF-8", "UTF-16LE", ... */
const char *weir_encoding_name(enum weir_encoding encoding);
/* How many bytes from the start are valid UTF-8: `size` when all are. A character cut off at the end is not. */
size_t weir_utf8_valid(const void *data, size_t size);

/* Piece by piece. Characters cut at the edge of a piece are carried over. */
struct weir_decoder {
  enum weir_encoding from, to; /* to: WEIR_UTF8, WEIR_UTF16LE or WEIR_UTF16BE */
  bool replace;                /* U+FFFD for what is invalid, instead of an error */
  uint64_t offset;             /* in the input, of the next character; after WEIR_EILSEQ the invalid bytes begin here */
  uint64_t replaced;           /* how many were */
  unsigned char carry[8];      /* private */
  unsigned carried;            /* private */
};
/* WEIR_EINVAL for encodings that are none, unknown too. A mark is a character as any other: weir_detect tells its length. */
int weir_decoder_init(struct weir_decoder *decoder, enum weir_encoding from, enum weir_encoding to, bool replace);
/*
 * Uses up *in and fills *out, advancing both. 0: all of the input is used; WEIR_MORE: the output has no room for the next
 * character (6 bytes are always enough for one); WEIR_EILSEQ: invalid at decoder->offset, and what came before is written.
 * `last`: no more input follows, so that a character cut off is invalid.
 */
int weir_decode(struct weir_decoder *decoder, struct weir_slice *in, char **out, size_t *out_size, bool last);
/* A whole text file as UTF-8 without its mark, ending with a zero byte. `from` WEIR_ENCODING_UNKNOWN: detected.
 * WEIR_EILSEQ: error->offset tells where, unless `replace`. */
int weir_read_text(const char *path, enum weir_encoding from, bool replace, struct weir_bytes *text,
                   struct weir_error *error);

/* ---- records ------------------------------------------------------------------------------------------------------- */

enum weir_record_prefix {
  WEIR_RECORD_FIXED = 0, /* no length before it: every record has `fixed_bytes` */
  WEIR_RECORD_U8,
  WEIR_RECORD_U16LE,
  WEIR_RECORD_U16BE,
  WEIR_RECORD_U32LE,
  WEIR_RECORD_U32BE,
  WEIR_RECORD_U64LE,
  WEIR_RECORD_U64BE,
  WEIR_RECORD_VARINT, /* 7 bits a byte, low ones first, the top bit says that more follow; at most 10 bytes */
};
struct weir_record_format {
  enum weir_record_prefix prefix;
  size_t fixed_bytes; /* WEIR_RECORD_FIXED */
  size_t max_bytes;   /* of one record: WEIR_ELIMIT above; 0: 64 MiB. A hostile length is found before memory is asked for */
  size_t header_bytes; /* left out at the start of the file */
  uint64_t reserved[4];
};
struct weir_records;
int weir_records_open(const char *path, const struct weir_record_format *format, struct weir_records **out,
                      struct weir_error *error);
int weir_records_open_memory(const void *data, size_t size, const struct weir_record_format *format,
                             struct weir_records **out, struct weir_error *error);
/* The next record without its length: 1, 0 at the end, or an error. WEIR_ETRUNCATED: the file ends inside a record. It lives
 * until the next call. */
int weir_records_next(struct weir_records *records, struct weir_slice *record);
/*
 * The next field, whatever `format` said: for files whose records are made of several, as in: a text with a varint length,
 * then bytes with a 32-bit length. Errors as above.
 */
int weir_records_field(struct weir_records *records, enum weir_record_prefix prefix, size_t fixed_bytes,
                       struct weir_slice *field);
const struct weir_error *weir_records_error(const struct weir_records *records);
int weir_records_close(struct weir_records *records, struct weir_error *error); /* the first error; NULL is 0 */
/* Adds a record, with its length before it, to a writer. WEIR_EOVERFLOW: the length does not fit its prefix. */
int weir_writer_put_record(struct weir_writer *writer, enum weir_record_prefix prefix, const void *data, size_t size);

/* ---- files with a position ----------------------------------------------------------------------------------------- */

enum weir_access_mode {
  WEIR_OPEN_READ = 0,
  WEIR_OPEN_WRITE,  /* made if missing, cut to nothing */
  WEIR_OPEN_UPDATE, /* read and write; must exist */
  WEIR_OPEN_APPEND, /* write at the end, wherever the position is; made if missing */
};
enum weir_hint { WEIR_HINT_NONE = 0, WEIR_HINT_SEQUENTIAL, WEIR_HINT_RANDOM, WEIR_HINT_ONCE /* not used again */ };
struct weir_open_options {
  enum weir_access_mode access;
  enum weir_hint hint;
  enum weir_strategy strategy; /* WEIR_AUTO and WEIR_BUFFERED, WEIR_DIRECT, WEIR_UNCACHED */
  bool write_through;          /* each write is on stable storage when it returns */
  unsigned flags;              /* WEIR_ANY_KIND, WEIR_NEW, WEIR_NO_FOLLOW, WEIR_LOCK */
  unsigned mode;               /* as for weir_write_file */
  size_t block_bytes; /* of one system call in read and write, direct ones in whole sectors; 0: as large as it goes */
  uint64_t reserved[4];
};
struct weir_file;
int weir_file_open(const char *path, const struct weir_open_options *options, struct weir_file **out,
                   struct weir_error *error);
/* An open descriptor of the caller's, standard input for example; closing leaves it open. It must allow what `access` says.
 * Where it is set not to block, the library waits until it is ready. */
int weir_file_from(int descriptor, enum weir_access_mode access, struct weir_file **out, struct weir_error *error);
/*
 * At the position, which moves. They go on until all is done: a count below `size` is the end of the file when reading, and
 * never happens when writing. On an error after some bytes, weir_file_error()->transferred tells how many.
 */
int64_t weir_file_read(struct weir_file *file, void *data, size_t size);
int64_t weir_file_write(struct weir_file *file, const void *data, size_t size);
/* All that is left. 0: at the end; WEIR_MORE: `capacity` bytes are there and the file goes on. *size is always set. */
int weir_file_read_to_end(struct weir_file *file, void *data, size_t capacity, size_t *size);
/* At `offset`; the position stays. Several threads may use them on one file at once. Not with WEIR_OPEN_APPEND. */
int64_t weir_file_pread(struct weir_file *file, void *data, size_t size, uint64_t offset);
int64_t weir_file_pwrite(struct weir_file *file, const void *data, size_t size, uint64_t offset);
int weir_file_seek(struct weir_file *file, uint64_t offset); /* behind the end is allowed */
uint64_t weir_file_tell(const struct weir_file *file);
int64_t weir_file_size(struct weir_file *file); /* now; of a block device too */
int weir_file_resize(struct weir_file *file, uint64_t size);
/* Reserves space for [0, size) and sets the size. WEIR_EOPNOTSUPP where the file system cannot. */
int weir_file_preallocate(struct weir_file *file, uint64_t size);
/* A buffer of the caller's for weir_file_fill and _drain; `pinned`: kept in memory, best effort. NULL takes it back. */
int weir_file_set_buffer(struct weir_file *file, void *buffer, size_t capacity, bool pinned);
/* Reads up to `size` bytes into, or writes them from, the start of that buffer. WEIR_EOVERFLOW if it is smaller. */
int64_t weir_file_fill(struct weir_file *file, size_t size);
int64_t weir_file_drain(struct weir_file *file, size_t size);
/* All written so far onto stable storage. A failure is final: the system may have dropped the data, so every later sync
 * and the close give it again. */
int weir_file_sync(struct weir_file *file);
/* Exactly once. Gives a failed sync again, else what only closing tells. NULL is 0. */
int weir_file_close(struct weir_file *file, struct weir_error *error);
const struct weir_error *weir_file_error(const struct weir_file *file);
void weir_file_how(const struct weir_file *file, struct weir_choice *how);

/* ---- mapped views -------------------------------------------------------------------------------------------------- */

/*
 * The file's own pages as memory, read-only: no copy, fastest where data are used again and again or here and there. For
 * files that only you change: where another program cuts the file while it is mapped, reading beyond its new end kills the
 * process (SIGBUS), and what it writes is seen or not. Nothing is promised behind data[size - 1], not even a zero.
 */
struct weir_view {
  const char *data; /* never NULL after success, also for an empty file */
  size_t size;
  void *map; /* private from here on */
  size_t map_size;
  int file;
};
/* [offset, offset + length) of the file, cut at its end; length 0: to the end. `populate`: all of it in memory now, with an
 * error instead of a signal where that fails. */
int weir_view_open(struct weir_view *view, const char *path, uint64_t offset, size_t length, enum weir_hint hint,
                   bool populate, struct weir_error *error);
int weir_view_close(struct weir_view *view); /* twice is 0 */

/* ---- many requests at once ----------------------------------------------------------------------------------------- */

/*
 * A queue holds the device busy with up to `depth` requests. Requests are the caller's: fill one in, submit it, leave it and
 * its memory alone until weir_queue_wait gives it back, in any order; then it may be submitted again as it is. Set it to
 * zero before its first use. Short transfers are continued inside, so `transferred` is less than `size` only at the end of
 * the file or with an error in `status`.
 */
enum weir_operation { WEIR_OP_READ = 0, WEIR_OP_WRITE, WEIR_OP_SYNC };
struct weir_request {
  enum weir_operation operation;
  struct weir_file *file;
  void *data;
  size_t size;
  uint64_t offset;
  void *user; /* yours */
  int status; /* 0 or an error, when it is back */
  size_t transferred;
  struct weir_request *next; /* private from here on */
  size_t done;
  unsigned state;
};
struct weir_queue;
struct weir_queue_options {
  unsigned depth;              /* 0: 32 */
  enum weir_strategy strategy; /* WEIR_AUTO, WEIR_RING, WEIR_THREADS */
  unsigned threads;            /* WEIR_THREADS: 0: as many as depth, at most 64 */
  void *buffers;               /* memory that many requests use, to be registered once; best effort. NULL: none */
  size_t buffers_bytes;
  struct weir_file *file; /* a file that most requests use, likewise; open until the queue is closed */
  bool any_thread;        /* threads take turns while requests are pending, at some cost; else WEIR_EPERM */
  uint64_t reserved[4];
};
int weir_queue_open(const struct weir_queue_options *options, struct weir_queue **out, struct weir_error *error);
/*
 * Takes `count` requests. All are handed over at the next wait, or now if that is convenient. WEIR_EBUSY: there is room for
 * fewer (see *taken, may be NULL): wait first. One that cannot be right is refused and those after it are not looked at:
 * WEIR_EINVAL where it has no file, no memory, or a direct file and is not aligned to its sectors, WEIR_EBADF where the file
 * is not open for this, WEIR_ESPIPE where it has no positions.
 */
int weir_queue_submit(struct weir_queue *queue, struct weir_request *const *requests, size_t count, size_t *taken);
/*
 * Hands over what was submitted, waits until at least `least` requests are back, and puts up to `max` into `done`: their
 * number, or an error of the queue itself. `least` counts as no more than `max` and than what is pending; 0 does not wait.
 */
int weir_queue_wait(struct weir_queue *queue, struct weir_request **done, size_t max, size_t least);
/* Submitted and not yet given back by weir_queue_wait. */
size_t weir_queue_pending(const struct weir_queue *queue);
void weir_queue_how(const struct weir_queue *queue, struct weir_choice *how);
/*
 * Waits for all that is pending. NULL is fine. By the thread that used it last, unless `any_thread`: from another one, as
 * after a failure of the system's queue, pending requests may go on, so what they need is left to the system until the
 * process ends.
 */
void weir_queue_close(struct weir_queue *queue);

/* ---- copies -------------------------------------------------------------------------------------------------------- */

enum weir_copy_flag {
  WEIR_COPY_REPLACE = 1 << 24,  /* destinations may exist; else WEIR_EEXIST. Without WEIR_ATOMIC they are overwritten in
                                   place, and gone if the copy fails */
  WEIR_COPY_VERIFY = 1 << 25,   /* read every copy back past the cache, where possible, and compare it with the source,
                                   which is read once more for it */
  WEIR_COPY_MODE = 1 << 26,     /* permissions and times too */
  WEIR_COPY_NO_CLONE = 1 << 27, /* move bytes even where the file system could share them */
  WEIR_COPY_DENSE = 1 << 28,    /* write holes out as zeros */
};
struct weir_copy_progress {
  uint64_t bytes_done, bytes_total; /* over all destinations */
  size_t copies_done, copies_total;
};
/* One copy: source i to destination d. */
struct weir_copy_result {
  int status;         /* 0 or an error; WEIR_ECANCELED where another error or the caller ended it */
  uint64_t bytes;     /* of the whole copy, or that had been copied when it failed */
  const char *method; /* "clone", "kernel", "read and write", ...: a constant */
  bool verified;
  struct weir_error error;
};
struct weir_copy_options {
  unsigned flags;      /* of enum weir_copy_flag, and WEIR_DURABLE, WEIR_ATOMIC */
  unsigned threads;    /* for each destination; 0: 1 */
  size_t block_bytes;  /* 0: chosen */
  size_t window_bytes; /* read and not yet written everywhere, at most; 0: 64 MiB. A slow destination holds the others back
                          only when it is full, or when 256 files wait for it */
  int (*progress)(void *context,
                  const struct weir_copy_progress *now); /* non-zero cancels; from one thread at a time; NULL: none */
  void *context;
  uint64_t reserved[4];
};
/* One file to another path. What cannot be finished leaves nothing behind; see WEIR_COPY_REPLACE. WEIR_ESAME if
 * both are one file. `result` may be NULL. */
int weir_copy_file(const char *from, const char *to, const struct weir_copy_options *options,
                   struct weir_copy_result *result, struct weir_error *error);
/*
 * Many files to many directories at once; each source is read once, however many destinations it has. `map`, where not NULL,
 * says which file goes where: map[i * directory_count + d] != 0. `results` (may be NULL) has source_count * directory_count
 * entries in the same order, all set by the call, zero for what the map leaves out. The directories must be there. Each
 * destination stands for itself: one that is full or broken does not hold the others. Returns 0 if all are whole, else the
 * first error; the names are the sources' last parts, and two alike are WEIR_EEXIST.
 */
int weir_copy(const char *const *sources, size_t source_count, const char *const *directories, size_t directory_count,
              const unsigned char *map, const struct weir_copy_options *options, struct weir_copy_result *results,
              struct weir_error *error);

/* ---- buffers ------------------------------------------------------------------------------------------------------- */

/* Memory for transfers: page-aligned, good for direct I/O, huge pages from 1 MiB on where the system gives them, not zeroed
 * again when it comes back. Any thread. */
struct weir_pool;
/* `flags`: WEIR_HUGE, WEIR_SMALL_PAGES. Each buffer is rounded up to whole pages. */
int weir_pool_open(size_t buffer_bytes, unsigned count, unsigned flags, struct weir_pool **out);
void *weir_pool_get(struct weir_pool *pool); /* NULL: all are out */
void weir_pool_put(struct weir_pool *pool, void *buffer);
/* All buffers in one piece, to be registered with a queue. */
void *weir_pool_memory(const struct weir_pool *pool, size_t *bytes);
void weir_pool_close(struct weir_pool *pool); /* with all buffers, also those that are out */

/* ---- what would be chosen ------------------------------------------------------------------------------------------ */

enum weir_use { WEIR_USE_WHOLE, WEIR_USE_STREAM, WEIR_USE_RANDOM, WEIR_USE_WRITE, WEIR_USE_COPY };
/* What WEIR_AUTO would do with this file now. For WEIR_USE_WRITE the file need not exist; `bytes` is what will be written.
 */
int weir_how(const char *path, enum weir_use use, uint64_t bytes, struct weir_choice *how, struct weir_error *error);
/* Can this be done on the file system that holds `path`? true, or false with the reason. Asked once for each file system. */
enum weir_feature {
  WEIR_FEATURE_RING,
  WEIR_FEATURE_DIRECT,
  WEIR_FEATURE_UNCACHED,
  WEIR_FEATURE_CLONE,
  WEIR_FEATURE_PREALLOCATE,
  WEIR_FEATURE_CACHE_STATE,
  WEIR_FEATURE_HUGE_PAGES
};
bool weir_can(const char *path, enum weir_feature feature, const char **reason);

/* ---- bodies of inline functions ------------------------------------------------------------------------------------ */

/*
 * Nothing to read here for who uses the library. The functions named weir_abi_ are those in it, for other languages to bind
 * to. They get a copy of the caller's struct weir_lines: its own address is never given away, so that a compiler keeps it in
 * registers while a loop goes from line to line. In memory each line would wait for what the one before it stored.
 */
int weir_abi_lines_open(struct weir_lines *lines, const char *path, const struct weir_lines_options *options,
                        struct weir_error *error);
int weir_abi_lines_open_memory(struct weir_lines *lines, const void *data, size_t size,
                               const struct weir_lines_options *options, struct weir_error *error);
int weir_abi_lines_open_file(struct weir_lines *lines, struct weir_file *file, const struct weir_lines_options *options,
                             struct weir_error *error);
int weir_abi_lines_fill(struct weir_lines *lines);
int weir_abi_lines_batch(struct weir_lines *lines, struct weir_batch *batch);
int weir_abi_lines_close(struct weir_lines *lines, struct weir_error *error);
const struct weir_error *weir_abi_lines_error(const struct weir_lines *lines);
unsigned weir_abi_lines_marks(const struct weir_lines *lines);
void weir_abi_lines_position(const struct weir_lines *lines, uint64_t *offset, uint64_t *number);

static inline int weir_lines_open(struct weir_lines *lines, const char *path, const struct weir_lines_options *options,
                                  struct weir_error *error) {
  struct weir_lines copy;
  const int code = weir_abi_lines_open(lines ? &copy : NULL, path, options, error);
  if (lines) *lines = copy;
  return code;
}
static inline int weir_lines_open_memory(struct weir_lines *lines, const void *data, size_t size,
                                         const struct weir_lines_options *options, struct weir_error *error) {
  struct weir_lines copy;
  const int code = weir_abi_lines_open_memory(lines ? &copy : NULL, data, size, options, error);
  if (lines) *lines = copy;
  return code;
}
static inline int weir_lines_open_file(struct weir_lines *lines, struct weir_file *file,
                                       const struct weir_lines_options *options, struct weir_error *error) {
  struct weir_lines copy;
  const int code = weir_abi_lines_open_file(lines ? &copy : NULL, file, options, error);
  if (lines) *lines = copy;
  return code;
}
static inline int weir_lines_fill(struct weir_lines *lines) {
  struct weir_lines copy = *lines;
  const int result = weir_abi_lines_fill(&copy);
  *lines = copy;
  return result;
}
static inline int weir_lines_next(struct weir_lines *lines, struct weir_slice *line) {
  if (lines->end == lines->stop) {
    const int filled = weir_lines_fill(lines);
    if (filled <= 0) return filled;
  }
  const char *stop = lines->base + *lines->end++;
  line->data = lines->next;
  line->size = (size_t)(stop - line->data);
  lines->next = stop + lines->gap;
  return 1;
}
static inline int weir_lines_batch(struct weir_lines *lines, struct weir_batch *batch) {
  struct weir_lines copy = *lines;
  const int result = weir_abi_lines_batch(&copy, batch);
  *lines = copy;
  return result;
}
static inline int weir_lines_close(struct weir_lines *lines, struct weir_error *error) {
  if (!lines) return 0;
  struct weir_lines copy = *lines;
  const int code = weir_abi_lines_close(&copy, error);
  *lines = copy;
  return code;
}
static inline const struct weir_error *weir_lines_error(const struct weir_lines *lines) {
  const struct weir_lines copy = *lines;
  return weir_abi_lines_error(&copy);
}
static inline unsigned weir_lines_marks(const struct weir_lines *lines) {
  const struct weir_lines copy = *lines;
  return weir_abi_lines_marks(&copy);
}
static inline void weir_lines_position(const struct weir_lines *lines, uint64_t *offset, uint64_t *number) {
  const struct weir_lines copy = *lines;
  weir_abi_lines_position(&copy, offset, number);
}

#ifdef __cplusplus
}
#endif
#endif
