/*
 * stream.h - the C++ streams, for stream.c: implemented in stream.cpp, or in nostream.c where there was no C++ compiler.
 *
 * The functions are C functions; stream.cpp includes this in extern "C". Errors are negative errno values as far as the
 * library leaves them in errno, else -EIO.
 */
#ifndef WEIR_STREAM_H
#define WEIR_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum stream_kind {
  STREAM_FSTREAM, /* std::ifstream, std::ofstream */
  STREAM_FILEBUF, /* std::filebuf, the buffer beneath these, without their formatting layer */
  STREAM_CIN,     /* std::cin; only one in a process */
};
struct stream_wish {
  enum stream_kind kind;
  const char *path;
  int descriptor;       /* STREAM_CIN: what becomes descriptor 0 until the stream is closed */
  bool writes, appends; /* the file exists and is not truncated */
  bool sets_sync;       /* STREAM_FSTREAM: call sync_with_stdio, as STREAM_CIN always does */
  bool synced;          /* what it is called with; once off, it stays off in the process */
  char *buffer;         /* NULL: unbuffered */
  size_t buffer_size;
};

struct stream;
struct weir_span; /* of weir/method.h */
bool stream_built_in(void);
int stream_open(const struct stream_wish *wish, struct stream **out);
/* Bytes read; fewer than asked for at the end of the file only. */
int64_t stream_read(struct stream *stream, void *data, size_t length);
/* The next line without its LF, by std::getline; it lives until the next call. 1, 0 at the end, or an error. *ended: an LF
 * was there. */
int stream_line(struct stream *stream, const char **data, size_t *length, bool *ended);
/* All or an error. */
int stream_write(struct stream *stream, const void *data, size_t length);
/* The same for several pieces, one after the other. */
int stream_write_each(struct stream *stream, const struct weir_span *pieces, size_t count);
int stream_seek(struct stream *stream, uint64_t offset);
int stream_flush(struct stream *stream);
/* Frees the stream whatever happens. */
int stream_close(struct stream *stream);

#endif
