/*
 * lines.h - what weir_lines can do for the library's own files: begin in the middle of a file, where count_lines.c lets each
 * thread take a segment.
 */
#ifndef WEIR_LINES_H
#define WEIR_LINES_H

#include "lib/ahead.h"

#define WEIR__LINES_FLAGS (WEIR_KEEP_CR | WEIR_SKIP_BOM | WEIR_LONG_PARTS | WEIR_LONG_SKIP | WEIR_ANY_KIND)

/* 0, or WEIR_EINVAL. */
int weir__lines_check(const struct weir_lines_options *options);
/* The lines of a stream that has room before its blocks, or is mapped. The stream stays the caller's. */
int weir__lines_begin(struct weir_lines *lines, struct weir_stream *stream, const struct weir_lines_options *options);
/*
 * Goes on with the lines that begin in [from, to) of the file, and some behind it. The first line to come is the one behind
 * the first LF at or behind from - 1; where there is none before `to`, none comes. 0 begins at the start of the file.
 */
void weir__lines_restart(struct weir_lines *lines, uint64_t from, uint64_t to);
/* Where the first line of the batch given last begins in the file. */
uint64_t weir__lines_batch_offset(const struct weir_lines *lines);

/* ---- count_lines.c: the public calls with segments of any size, for tests of every cut ---- */

struct weir__together {
  unsigned threads;
  uint64_t segment;            /* bytes that a thread takes at a time */
  enum weir_strategy strategy; /* of counting */
};
int weir__count_lines(const char *path, struct weir__together together, uint64_t *count, struct weir_error *error);
int weir__lines_parallel(const char *path, struct weir__together together, const struct weir_lines_options *options,
                         weir_lines_worker *each, void *context, struct weir_error *error);

#endif
