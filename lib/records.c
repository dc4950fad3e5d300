/*
 * records.c - records of a fixed size or with a length before them, and fields of records, given out where they were read.
 * Only a record that lies across the end of what was read is moved, to the front of the buffer; a larger one makes the
 * buffer grow, never by more than twice what the file really holds of it. Writing records is in writer.c.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/internal.h"

/* One read: small enough to stay in the processor's cache until its records are looked at. */
#define BLOCK_BYTES ((size_t)256 << 10)
#define RECORD_BYTES_MAX ((size_t)64 << 20) /* where the caller sets no limit */
#define VARINT_BYTES_MAX 10u

struct weir_records {
  const char *at, *end; /* what is there and was not given out */
  char *buffer;         /* NULL: the caller's memory, all of it there from the start */
  size_t capacity;
  uint64_t offset; /* in the file, of `end` */
  bool ended;      /* nothing comes behind `end` */
  bool started;    /* the header is left out */
  os_file file;
  int process;
  struct weir_record_format format;
  char *path;
  struct weir_error error;
};

/* Where the next record begins in the file or the memory. */
static uint64_t position(const struct weir_records *records) {
  return records->offset - (uint64_t)(records->end - records->at);
}

static size_t available(const struct weir_records *records) { return (size_t)(records->end - records->at); }

/* Keeps the first error; every later call gives it again, for nobody knows where the next record would begin. */
static int fail(struct weir_records *records, int code, const char *operation, uint64_t size) {
  return weir__fail(&records->error, code, operation, records->path, position(records), size, position(records));
}

/* ---- reading ---- */

/* Makes room behind `end` for more of a record of `need` bytes: by moving it to the front, else by growing. */
static int make_room(struct weir_records *records, size_t need) {
  size_t have = available(records);
  if (records->at != records->buffer) {
    if (have) memmove(records->buffer, records->at, have);
  } else if (have == records->capacity) {
    size_t capacity = records->capacity <= need / 2 ? records->capacity * 2 : need;
    void *pages = NULL;
    int code = weir__pages_get(capacity, 0, &pages);
    if (code) return fail(records, code, "get memory for", need);
    memcpy(pages, records->at, have);
    weir__pages_put(records->buffer, records->capacity);
    records->buffer = pages;
    records->capacity = capacity;
  }
  records->at = records->buffer;
  records->end = records->buffer + have;
  return 0;
}

/* Reads until `need` bytes are there. 0, also where the file ends before: then `ended` is set. */
static int fill(struct weir_records *records, size_t need) {
  if (!records->ended && records->process != weir__process()) return fail(records, WEIR_EFORKED, "read", need);
  while (available(records) < need && !records->ended) {
    int code = make_room(records, need);
    if (code) return code;
    size_t have = available(records);
    int64_t count = os_pread(records->file, records->buffer + have, records->capacity - have, records->offset);
    if (count < 0) return fail(records, (int)count, "read", records->capacity - have);
    records->ended = count == 0;
    records->end += count;
    records->offset += (uint64_t)count;
  }
  return 0;
}

/* `need` bytes at `at`: 1; 0: the file ends here; else an error. */
static int want(struct weir_records *records, size_t need) {
  if (available(records) >= need) return 1;
  int code = fill(records, need);
  if (code || available(records) >= need) return code ? code : 1;
  return available(records) ? fail(records, WEIR_ETRUNCATED, "read a record of", need) : 0;
}

/* What must be there, because something before it was. */
static int must(struct weir_records *records, size_t need) {
  int code = want(records, need);
  return code == 0 ? fail(records, WEIR_ETRUNCATED, "read a record of", need) : code;
}

/*
 * Leaves the header out: in a file by beginning to read at its last byte, which proves that it is all there. 1 or an error.
 */
static int start(struct weir_records *records) {
  size_t header = records->format.header_bytes;
  records->started = true;
  if (!header) return 1;
  if (records->buffer) {
    records->offset = header - 1;
    header = 1;
  }
  int code = must(records, header);
  if (code > 0) records->at += header;
  return code;
}

/* ---- lengths ---- */

static inline uint64_t little16(const unsigned char *p) { return p[0] | (uint64_t)p[1] << 8; }
static inline uint64_t little32(const unsigned char *p) { return little16(p) | little16(p + 2) << 16; }
static inline uint64_t little64(const unsigned char *p) { return little32(p) | little32(p + 4) << 32; }
static inline uint64_t big16(const unsigned char *p) { return (uint64_t)p[0] << 8 | p[1]; }
static inline uint64_t big32(const unsigned char *p) { return big16(p) << 16 | big16(p + 2); }
static inline uint64_t big64(const unsigned char *p) { return big32(p) << 32 | big32(p + 4); }

/* A length that is not a varint: 1, 0 at the end, or an error. */
static inline int plain_length(struct weir_records *records, enum weir_record_prefix prefix, uint64_t *length,
                               size_t *bytes) {
  static const unsigned char sizes[] = {0, 1, 2, 2, 4, 4, 8, 8};
  *bytes = sizes[prefix];
  int code = available(records) >= *bytes ? 1 : want(records, *bytes);
  if (code <= 0) return code;
  const unsigned char *at = (const unsigned char *)records->at;
  switch (prefix) {
    case WEIR_RECORD_U8:
      *length = *at;
      return 1;
    case WEIR_RECORD_U16LE:
      *length = little16(at);
      return 1;
    case WEIR_RECORD_U16BE:
      *length = big16(at);
      return 1;
    case WEIR_RECORD_U32LE:
      *length = little32(at);
      return 1;
    case WEIR_RECORD_U32BE:
      *length = big32(at);
      return 1;
    case WEIR_RECORD_U64LE:
      *length = little64(at);
      return 1;
    default:
      *length = big64(at);
      return 1;
  }
}

/* Bytes come one at a time until one says that it is the last: there may be no more of them in the file than that. */
static int varint_length(struct weir_records *records, uint64_t *length, size_t *prefix) {
  uint64_t value = 0;
  for (unsigned i = 0; i < VARINT_BYTES_MAX; i++) {
    int code = available(records) > i ? 1 : want(records, i + 1);
    if (code <= 0) return code;
    uint64_t byte = (unsigned char)records->at[i];
    if (i == VARINT_BYTES_MAX - 1 && byte > 1) break; /* more than 64 bits, or no end */
    value |= (byte & 0x7f) << 7 * i;
    if (byte < 0x80) {
      *length = value;
      *prefix = i + 1;
      return 1;
    }
  }
  return fail(records, WEIR_EFORMAT, "read the length of a record of", 0);
}

static inline int read_length(struct weir_records *records, enum weir_record_prefix prefix, size_t fixed, uint64_t *length,
                              size_t *bytes) {
  if (prefix == WEIR_RECORD_VARINT) return varint_length(records, length, bytes);
  if ((unsigned)prefix > WEIR_RECORD_VARINT) return fail(records, WEIR_EINVAL, "read a record of", 0);
  if (prefix != WEIR_RECORD_FIXED) return plain_length(records, prefix, length, bytes);
  *length = fixed;
  *bytes = 0;
  return 1;
}

/* ---- records ---- */

int weir_records_field(struct weir_records *records, enum weir_record_prefix prefix, size_t fixed_bytes,
                       struct weir_slice *field) {
  uint64_t length = 0;
  size_t bytes = 0;
  if (records->error.code) return records->error.code;
  int code = records->started ? 1 : start(records);
  if (code > 0) code = read_length(records, prefix, fixed_bytes, &length, &bytes);
  if (code <= 0) return code;
  if (length > records->format.max_bytes) return fail(records, WEIR_ELIMIT, "read a record of", length);
  size_t all = bytes + (size_t)length; /* max_bytes leaves room for the prefix */
  if (available(records) < all) {
    code = want(records, all);
    if (code <= 0) return code;
  }
  field->data = records->at + bytes;
  field->size = (size_t)length;
  records->at += all;
  return 1;
}

int weir_records_next(struct weir_records *records, struct weir_slice *record) {
  const struct weir_record_format *format = &records->format;
  if (format->prefix == WEIR_RECORD_FIXED && !format->fixed_bytes && !records->error.code) {
    return fail(records, WEIR_EINVAL, "read a record of", 0); /* there would be no end of them */
  }
  return weir_records_field(records, format->prefix, format->fixed_bytes, record);
}

/* ---- opening and closing ---- */

static int check(const struct weir_record_format *format) {
  if (weir__check(0, 0, format->reserved) || (unsigned)format->prefix > WEIR_RECORD_VARINT) return WEIR_EINVAL;
  return 0;
}

static struct weir_records *make(const char *path, const struct weir_record_format *format) {
  struct weir_records *records = calloc(1, sizeof *records);
  if (!records) return NULL;
  size_t size = strlen(path) + 1;
  records->path = malloc(size);
  if (!records->path) {
    free(records);
    return NULL;
  }
  memcpy(records->path, path, size);
  records->format = *format;
  size_t most = format->max_bytes ? format->max_bytes : RECORD_BYTES_MAX;
  records->format.max_bytes = most < SIZE_MAX / 4 ? most : SIZE_MAX / 4;
  records->file = os_no_file;
  records->process = weir__process();
  return records;
}

/* The file was only read from: there is nothing that closing it could still tell. */
static void release(struct weir_records *records) {
  (void)os_close(records->file);
  if (records->buffer) weir__pages_put(records->buffer, records->capacity);
  free(records->path);
  free(records);
}

int weir__records_open(const char *path, const struct weir_record_format *format, size_t block_bytes,
                       struct weir_records **out, struct weir_error *error) {
  static const struct weir_record_format defaults;
  if (!format) format = &defaults;
  if (out) *out = NULL;
  if (!path || !out || check(format)) return weir__fail(error, WEIR_EINVAL, "open", path, 0, 0, 0);
  struct weir_records *records = make(path, format);
  if (!records) return weir__fail(error, WEIR_ENOMEM, "open", path, 0, 0, 0);
  struct os_stat stat;
  int code = weir__open(path, OS_READ | OS_STAY_READY, 0, 0, &records->file, &stat, error);
  if (!code) {
    void *pages = NULL;
    code = weir__pages_get(block_bytes, 0, &pages);
    records->buffer = pages;
    records->capacity = block_bytes;
    if (code) (void)weir__fail(error, code, "get memory for", path, 0, block_bytes, 0);
  }
  if (code) {
    release(records);
    return code;
  }
  (void)os_advise(records->file, 0, 0, OS_ADVICE_SEQUENTIAL);
  records->at = records->end = records->buffer;
  *out = records;
  return 0;
}

int weir_records_open(const char *path, const struct weir_record_format *format, struct weir_records **out,
                      struct weir_error *error) {
  return weir__records_open(path, format, BLOCK_BYTES, out, error);
}

int weir_records_open_memory(const void *data, size_t size, const struct weir_record_format *format,
                             struct weir_records **out, struct weir_error *error) {
  static const struct weir_record_format defaults;
  if (!format) format = &defaults;
  if (out) *out = NULL;
  if (!out || (!data && size) || check(format)) return weir__fail(error, WEIR_EINVAL, "open", NULL, 0, size, 0);
  struct weir_records *records = make("", format);
  if (!records) return weir__fail(error, WEIR_ENOMEM, "open", NULL, 0, size, 0);
  records->at = data ? data : "";
  records->end = records->at + size;
  records->offset = size;
  records->ended = true;
  *out = records;
  return 0;
}

const struct weir_error *weir_records_error(const struct weir_records *records) { return &records->error; }

int weir_records_close(struct weir_records *records, struct weir_error *error) {
  if (!records) return 0;
  int code = weir__report(error, records->error.code, &records->error);
  release(records);
  return code;
}
