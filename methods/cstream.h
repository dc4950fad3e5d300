/*
 * cstream.h - the job's file as a stream of the C library, for methods that read or write it piece by piece in order.
 *
 * The descriptor is opened by os.h, so that creation, truncation and durability follow the demand, and handed to fdopen. The
 * library's own read and write calls go past os.h. Life: cstream_setup in setup, cstream_open in open, and so on.
 */
#ifndef WEIR_CSTREAM_H
#define WEIR_CSTREAM_H

#include <stdio.h>

#include "methods.h"
#include "target.h"

struct cstream {
  FILE *stream;
  os_file file; /* beneath the stream, which owns it */
  char *room;   /* the stream's own buffer; NULL: unbuffered */
  size_t room_size;
  bool unlocked;
};

#define CSTREAM_PARAM_SETVBUF                                                                            \
  {                                                                                                      \
    .name = "setvbuf", .kind = WEIR_PARAM_SIZE, .preset = "4KiB", .min = 0, .max = UINT64_C(1) << 30,    \
    WEIR_PARAM_EVERYWHERE, .help = "the stream's buffer; 0 is unbuffered, 4KiB what the C library takes" \
  }
#define CSTREAM_PARAM_LOCK(tried)                                                                                  \
  {                                                                                                                \
    .name = "lock", .kind = WEIR_PARAM_CHOICE, .preset = "locked", .sweep = (tried), .choices = "locked|unlocked", \
    WEIR_PARAM_EVERYWHERE, .help = "does each call lock the stream"                                                \
  }

/* `size` is that of the stream's buffer, `unlocked` the value of `lock`. */
int cstream_setup(struct cstream *s, const struct weir_job *job, uint64_t size, uint64_t unlocked);
/* A writer's file gets its length by `extend`; durability `each`: every write of the library is durable. */
int cstream_open(struct cstream *s, const struct weir_job *job, enum target_extend extend);
int cstream_sync(struct cstream *s, const struct weir_job *job);
int cstream_close(struct cstream *s, const struct weir_job *job);
void cstream_teardown(struct cstream *s, const struct weir_job *job);

/* Goes on after a call that read only the first `done` of `length` bytes; `offset` is where these begin in the file. */
int cstream_read_on(struct cstream *s, const struct weir_job *job, uint64_t offset, unsigned char *data, size_t length,
                    size_t done);
/* What went wrong with a call that wrote only `done` of `length` bytes. */
int cstream_write_failed(const struct weir_job *job, uint64_t offset, size_t length, size_t done);

/* `length` bytes, which the file holds at `offset`; there must be so many. */
static inline int cstream_read(struct cstream *s, const struct weir_job *job, uint64_t offset, unsigned char *data,
                               size_t length) {
  const size_t done = s->unlocked ? os_stream_read(data, length, s->stream) : fread(data, 1, length, s->stream);
  return done == length ? 0 : cstream_read_on(s, job, offset, data, length, done);
}

static inline int cstream_write(struct cstream *s, const struct weir_job *job, uint64_t offset, const void *data,
                                size_t length) {
  const size_t done = s->unlocked ? os_stream_write(data, length, s->stream) : fwrite(data, 1, length, s->stream);
  return done == length ? 0 : cstream_write_failed(job, offset, length, done);
}

#endif
