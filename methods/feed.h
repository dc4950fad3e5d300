/*
 * feed.h - the job's file from front to back, for readers of streams: by read(2), by the C library's stream, or through
 * further buffers; and the lines in it. One instance, one pass, all of the file.
 *
 * Errors are negative errno values whose reason is already kept by the host.
 */
#ifndef WEIR_FEED_H
#define WEIR_FEED_H

#include <string.h>

#include "methods.h"
#include "target.h"

/* What every reader of a stream states alike. */
#define FEED_READS METHODS_READS, .accesses = WEIR_BIT(WEIR_SEQUENTIAL), .probe = feed_probe

/* A stream is read to its end: refused where the file goes on behind what is to be measured. */
int feed_probe(const struct weir_job *job, struct weir_reason *reason);

/* ---- bytes --------------------------------------------------------------------------------------------------------- */

struct feed {
  /* Up to `length` bytes, more than 0; 0 at the end of the file. */
  int64_t (*read)(struct feed *feed, void *data, size_t length);
  const struct weir_job *job;
  uint64_t at; /* bytes given so far: never more than the job's */
};

/* Until there are `length` or the file ends. */
int64_t feed_fill(struct feed *feed, void *data, size_t length);
/* Call when read gave 0. -ENODATA where the file is too short, -EFBIG where it grew. */
int feed_end(const struct feed *feed);
/* All of the job's bytes into `data`, `block` at a time (0: in one), unless the flow is stopped: then *stopped. */
int feed_all(struct feed *feed, struct weir_flow *flow, void *data, uint64_t block, bool *stopped);

/* read(2). */
struct feed_file {
  struct feed feed;
  os_file file;
};
int feed_file_open(struct feed_file *f, const struct weir_job *job, uint64_t hint); /* hint: enum os_advice */
int feed_file_close(struct feed_file *f, const struct weir_job *job);

/* The C library's stream: `stream` may be used directly, then `at` is the caller's to count. */
struct feed_stdio {
  struct feed feed;
  FILE *stream;
  void *room; /* the stream's buffer */
  size_t room_size;
};
int feed_stdio_setup(struct feed_stdio *f, const struct weir_job *job, uint64_t buffer);
int feed_stdio_open(struct feed_stdio *f, const struct weir_job *job);
int feed_stdio_close(struct feed_stdio *f, const struct weir_job *job);
void feed_stdio_teardown(struct feed_stdio *f, const struct weir_job *job);
/* After a call on `stream` that gave nothing: 0 at the end of a file of the right size, else the error. */
int feed_stdio_end(const struct feed_stdio *f);

/* A buffer on top of another feed. */
struct feed_layer {
  struct feed feed;
  struct feed *below;
  char *buffer;
  size_t size, begin, end;
};
int feed_layer_setup(struct feed_layer *l, const struct weir_job *job, uint64_t size);
void feed_layer_open(struct feed_layer *l, const struct weir_job *job, struct feed *below);
void feed_layer_teardown(struct feed_layer *l, const struct weir_job *job);

/* ---- lines --------------------------------------------------------------------------------------------------------- */

/* A line with its end, as far as it has one. */
struct feed_line {
  const char *data;
  size_t size;
};

/* Lines as slices of a buffer: only what a block cuts is moved. */
struct feed_lines {
  struct feed *feed;
  char *data;
  size_t block, room, begin, end;
};
int feed_lines_setup(struct feed_lines *l, const struct weir_job *job, uint64_t block);
void feed_lines_open(struct feed_lines *l, struct feed *feed);
void feed_lines_teardown(struct feed_lines *l);
/* The next line when none ends in the buffer. */
int feed_lines_load(struct feed_lines *l, struct feed_line *line);

/* The next line, valid until the next call: 1, 0 at the end, or an error. */
static inline int feed_lines_next(struct feed_lines *l, struct feed_line *line) {
  const char *begin = l->data + l->begin, *newline = memchr(begin, '\n', l->end - l->begin);
  if (!newline) return feed_lines_load(l, line);
  line->data = begin;
  line->size = (size_t)(newline - begin) + 1;
  l->begin += line->size;
  return 1;
}

/* Bytes of a line without LF and one CR before it. */
static inline size_t feed_line_text(const char *data, size_t size) {
  if (size == 0 || data[size - 1] != '\n') return size;
  return size > 1 && data[size - 2] == '\r' ? size - 2 : size - 1;
}
static inline void feed_deliver_line(struct weir_flow *flow, const char *data, size_t size) {
  weir_item(flow, data, feed_line_text(data, size));
}

#endif
