/*
 * outlet.c - opens, writes, flushes and closes for writers of streams. What the C library writes by itself goes past os.h.
 */
#include "outlet.h"

#include <errno.h>

int outlet_probe(const struct weir_job *job, struct weir_reason *reason) {
  return target_probe_extend(job, (enum target_extend)job->params[OUTLET_EXTEND], reason);
}

/* ---- life ---------------------------------------------------------------------------------------------------------- */

int outlet_setup_stream(struct outlet *outlet, const struct weir_job *job) {
  outlet->streams = true;
  outlet->unlocked = job->params[OUTLET_LOCK] != 0;
  outlet->room_size = (size_t)job->params[OUTLET_BUFFER];
  if (outlet->room_size == 0) return 0;
  /* glibc ignores the size given to setvbuf unless the memory is given too. */
  void *room = NULL;
  int error = job->host->buffer_get(job, outlet->room_size, 1, WEIR_BUFFER_REUSED, &room);
  if (error) return job->host->fail(job, error, "no memory for a stream buffer of %zu bytes", outlet->room_size);
  outlet->room = room;
  return 0;
}

/* errno as the library left it, or the plainest error where it left none. */
static int stream_error(void) { return errno ? -errno : -EIO; }

static int open_stream(struct outlet *outlet, const struct weir_job *job) {
  errno = 0;
  outlet->stream = fdopen((int)outlet->file, "w"); /* truncates nothing here */
  if (!outlet->stream) return target_refused(job, "opening a stream", stream_error());
  if (setvbuf(outlet->stream, outlet->room, outlet->room ? _IOFBF : _IONBF, outlet->room_size) == 0) return 0;
  int error = job->host->fail(job, -EINVAL, "setvbuf refused a buffer of %zu bytes", outlet->room_size);
  (void)fclose(outlet->stream);
  outlet->stream = NULL;
  outlet->file = os_no_file;
  return error;
}

int outlet_open(void *state, const struct weir_job *job) {
  struct outlet *outlet = state;
  const bool through = job->durability == WEIR_DURABILITY_EACH ||
                       (job->durability == WEIR_DURABILITY_NONE && job->params[OUTLET_THROUGH] != 0);
  outlet->at = 0;
  outlet->stream = NULL;
  int error =
      target_open_extending(job, through ? OS_DATA_SYNC : 0, (enum target_extend)job->params[OUTLET_EXTEND], &outlet->file);
  if (error || !outlet->streams) return error;
  error = open_stream(outlet, job);
  if (error) (void)os_close(outlet->file);
  return error;
}

int outlet_sync(void *state, const struct weir_job *job) {
  struct outlet *outlet = state;
  int error = outlet->stream ? outlet_flush(outlet, job) : 0;
  return error ? error : target_sync(job, outlet->file);
}

int outlet_close(void *state, const struct weir_job *job) {
  struct outlet *outlet = state;
  if (!outlet->stream) return target_close(job, outlet->file);
  FILE *stream = outlet->stream;
  outlet->stream = NULL;
  errno = 0;
  return fclose(stream) == 0 ? 0 : target_refused(job, "closing the stream", stream_error());
}

void outlet_teardown(void *state, const struct weir_job *job) {
  struct outlet *outlet = state;
  if (outlet->room) job->host->buffer_put(job, outlet->room, outlet->room_size);
}

/* ---- writing ------------------------------------------------------------------------------------------------------- */

static int write_failed(const struct outlet *outlet, const struct weir_job *job, size_t length, int64_t count) {
  /* neither progress nor a reason: trying again might never end */
  return target_failed(job, "writing", outlet->at, length, count == 0 ? -EIO : (int)count);
}

int outlet_write(struct outlet *outlet, const struct weir_job *job, struct weir_flow *flow, const void *data,
                 size_t length) {
  for (const char *at = data; length > 0;) {
    const int64_t count = os_write(outlet->file, at, length);
    if (count <= 0) return write_failed(outlet, job, length, count);
    at += count;
    length -= (size_t)count;
    outlet->at += (uint64_t)count;
    weir_passed(flow, (uint64_t)count);
  }
  return 0;
}

/* Takes `done` bytes off the front; returns how many pieces were used up. */
static unsigned take_off(struct os_piece *pieces, unsigned count, size_t done) {
  unsigned used = 0;
  while (used < count && done >= pieces[used].length) done -= pieces[used++].length;
  if (used == count) return used;
  pieces[used].data = (char *)pieces[used].data + done;
  pieces[used].length -= done;
  return used;
}

int outlet_write_pieces(struct outlet *outlet, const struct weir_job *job, struct weir_flow *flow, struct os_piece *pieces,
                        unsigned count) {
  while (count > 0) {
    const int64_t done = os_writev(outlet->file, pieces, count);
    if (done <= 0) return write_failed(outlet, job, pieces->length, done);
    outlet->at += (uint64_t)done;
    weir_passed(flow, (uint64_t)done);
    const unsigned used = take_off(pieces, count, (size_t)done);
    pieces += used;
    count -= used;
  }
  return 0;
}

int outlet_put_failed(const struct outlet *outlet, const struct weir_job *job, size_t length) {
  return target_failed(job, "writing", outlet->at, length, stream_error());
}

int outlet_flush(struct outlet *outlet, const struct weir_job *job) {
  errno = 0;
  return fflush(outlet->stream) == 0 ? 0 : target_refused(job, "emptying the stream's buffer", stream_error());
}
