/*
 * nostream.c - takes the place of stream.cpp in a build without a C++ compiler, where the probe of stream.c says so.
 */
#include <errno.h>

#include "stream.h"

bool stream_built_in(void) { return false; }
int stream_open(const struct stream_wish *wish, struct stream **out) { return -ENOSYS; }
int64_t stream_read(struct stream *stream, void *data, size_t length) { return -ENOSYS; }
int stream_line(struct stream *stream, const char **data, size_t *length, bool *ended) { return -ENOSYS; }
int stream_write(struct stream *stream, const void *data, size_t length) { return -ENOSYS; }
int stream_write_each(struct stream *stream, const struct weir_span *pieces, size_t count) { return -ENOSYS; }
int stream_seek(struct stream *stream, uint64_t offset) { return -ENOSYS; }
int stream_flush(struct stream *stream) { return -ENOSYS; }
int stream_close(struct stream *stream) { return -ENOSYS; }
