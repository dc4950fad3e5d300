/*
 * cstream.c - opens, flushes and closes a stream of the C library on the job's file, and goes on after short reads.
 */
#include "cstream.h"

#include <errno.h>

/* errno as the library left it, or the plainest error where it left none. */
static int stream_error(void) { return errno ? -errno : -EIO; }

int cstream_setup(struct cstream *s, const struct weir_job *job, uint64_t size, uint64_t unlocked) {
  s->unlocked = unlocked != 0;
  if (size == 0) return 0;
  /* glibc ignores the size given to setvbuf unless the memory is given too. */
  void *room = NULL;
  int error = job->host->buffer_get(job, (size_t)size, 1, WEIR_BUFFER_REUSED, &room);
  if (error) return job->host->fail(job, error, "no memory for a stream buffer of %zu bytes", (size_t)size);
  s->room = room;
  s->room_size = (size_t)size;
  return 0;
}

static int make_stream(struct cstream *s, const struct weir_job *job) {
  s->stream = fdopen((int)s->file, job->direction == WEIR_READ ? "r" : "w"); /* "w" truncates nothing here */
  if (!s->stream) {
    const int error = target_refused(job, "opening a stream", stream_error());
    (void)os_close(s->file);
    return error;
  }
  if (setvbuf(s->stream, s->room, s->room ? _IOFBF : _IONBF, s->room_size) == 0) return 0;
  (void)fclose(s->stream);
  return job->host->fail(job, -EINVAL, "setvbuf refused a buffer of %zu bytes", s->room_size);
}

int cstream_open(struct cstream *s, const struct weir_job *job, enum target_extend extend) {
  const unsigned through = job->durability == WEIR_DURABILITY_EACH ? OS_DATA_SYNC : 0;
  int error = target_open_extending(job, through, extend, &s->file);
  errno = 0;
  return error ? error : make_stream(s, job);
}

int cstream_sync(struct cstream *s, const struct weir_job *job) {
  errno = 0;
  if (fflush(s->stream) != 0) return target_refused(job, "emptying the stream's buffer", stream_error());
  return target_sync(job, s->file);
}

int cstream_close(struct cstream *s, const struct weir_job *job) {
  errno = 0;
  return fclose(s->stream) == 0 ? 0 : target_refused(job, "closing the stream", stream_error());
}

void cstream_teardown(struct cstream *s, const struct weir_job *job) {
  if (s->room) job->host->buffer_put(job, s->room, s->room_size);
}

/* The end of the file, an error, or an interrupted call that may go on. */
int cstream_read_on(struct cstream *s, const struct weir_job *job, uint64_t offset, unsigned char *data, size_t length,
                    size_t done) {
  while (done < length) {
    const int error = stream_error();
    if (feof(s->stream)) return target_ended(job, offset + done);
    if (error != -EINTR) return target_failed(job, "reading", offset + done, length - done, error);
    clearerr(s->stream);
    errno = 0;
    done += fread(data + done, 1, length - done, s->stream);
  }
  return 0;
}

/* Not repeated when interrupted: the standard leaves open what of the buffer is lost. */
int cstream_write_failed(const struct weir_job *job, uint64_t offset, size_t length, size_t done) {
  return target_failed(job, "writing", offset + done, length - done, stream_error());
}
