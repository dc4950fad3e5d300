/*
 * stdio.c - the C library's streams: fread and fwrite with a buffer of a chosen size.
 *
 * The descriptor is opened by os.h, so that creation and truncation follow the demand, and handed to fdopen. The library's
 * own read and write calls go past os.h.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/types.h>

#include "landing.h"
#include "methods.h"
#include "target.h"

enum { PARAM_BLOCK, PARAM_BUFFER, PARAM_SETVBUF, PARAM_LOCK, PARAM_HINT, PARAM_EXTEND = PARAM_HINT };
enum { LOCKED, UNLOCKED };

struct stdio_state {
  struct landing landing;
  FILE *stream;
  os_file file;      /* beneath the stream, which owns it */
  char *stream_room; /* the stream's own buffer; NULL: unbuffered */
  size_t stream_size;
  bool unlocked;
};

static int stdio_setup(void *state, const struct weir_job *job) {
  struct stdio_state *s = state;
  const enum weir_buffer_policy policy = (enum weir_buffer_policy)job->params[PARAM_BUFFER];
  s->unlocked = job->params[PARAM_LOCK] == UNLOCKED;
  int error = landing_setup(&s->landing, job, &(struct landing_wish){.policy = policy});
  if (error || job->params[PARAM_SETVBUF] == 0) return error;
  /* glibc ignores the size given to setvbuf unless the memory is given too. */
  void *room = NULL;
  const size_t size = (size_t)job->params[PARAM_SETVBUF];
  error = job->host->buffer_get(job, size, 1, WEIR_BUFFER_REUSED, &room);
  if (error) return job->host->fail(job, error, "no memory for a stream buffer of %zu bytes", size);
  s->stream_room = room;
  s->stream_size = size;
  return 0;
}

/* errno as the library left it, or the plainest error where it left none. */
static int stream_error(void) { return errno ? -errno : -EIO; }

static int stream_seek(const struct stdio_state *s, const struct weir_job *job, uint64_t offset) {
  if (fseeko(s->stream, (off_t)offset, SEEK_SET) == 0) return 0;
  return target_failed(job, "seeking to", offset, 0, stream_error());
}

static int stream_start(const struct stdio_state *s, const struct weir_job *job) {
  if (setvbuf(s->stream, s->stream_room, s->stream_room ? _IOFBF : _IONBF, s->stream_size) != 0)
    return job->host->fail(job, -EINVAL, "setvbuf refused a buffer of %zu bytes", s->stream_size);
  return job->access == WEIR_SEQUENTIAL && job->part_offset > 0 ? stream_seek(s, job, job->part_offset) : 0;
}

static int open_file(struct stdio_state *s, const struct weir_job *job) {
  if (job->direction == WEIR_WRITE)
    return target_open_extending(job, 0, (enum target_extend)job->params[PARAM_EXTEND], &s->file);
  int error = target_open(job, 0, &s->file);
  if (error) return error;
  error = target_advise(job, s->file, (enum os_advice)job->params[PARAM_HINT]);
  if (error) (void)os_close(s->file);
  return error;
}

static int stdio_open(void *state, const struct weir_job *job) {
  struct stdio_state *s = state;
  int error = open_file(s, job);
  if (error) return error;
  s->stream = fdopen((int)s->file, job->direction == WEIR_READ ? "r" : "w"); /* "w" truncates nothing here */
  if (!s->stream) {
    error = target_refused(job, "opening a stream", stream_error());
    (void)os_close(s->file);
    return error;
  }
  error = stream_start(s, job);
  if (!error) error = landing_open(&s->landing, job);
  if (error) (void)fclose(s->stream);
  return error;
}

static int stdio_close(void *state, const struct weir_job *job) {
  struct stdio_state *s = state;
  landing_close(&s->landing, job);
  errno = 0;
  return fclose(s->stream) == 0 ? 0 : target_refused(job, "closing the stream", stream_error());
}

static void stdio_teardown(void *state, const struct weir_job *job) {
  struct stdio_state *s = state;
  if (s->stream_room) job->host->buffer_put(job, s->stream_room, s->stream_size);
  landing_teardown(&s->landing, job);
}

/* ---- reading ------------------------------------------------------------------------------------------------------- */

static size_t get(const struct stdio_state *s, unsigned char *data, size_t length) {
  return s->unlocked ? os_stream_read(data, length, s->stream) : fread(data, 1, length, s->stream);
}

/* After a short fread: end of file, an error, or an interrupted call that may go on. */
static int read_on(const struct stdio_state *s, const struct weir_job *job, struct landing_piece piece, size_t done) {
  while (done < piece.length) {
    const int error = stream_error();
    if (feof(s->stream)) return target_ended(job, piece.offset + done);
    if (error != -EINTR) return target_failed(job, "reading", piece.offset + done, piece.length - done, error);
    clearerr(s->stream);
    errno = 0;
    done += get(s, piece.data + done, piece.length - done);
  }
  return 0;
}

static int stdio_run_fread(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  const struct stdio_state *s = state;
  const uint64_t count = landing_count(job, budget);
  const bool seek_each = job->access == WEIR_RANDOM;
  uint64_t done = 0;
  errno = 0;
  for (; done < count && !weir_stopped(flow); done++) {
    const uint64_t began = weir_operation_begin(flow);
    const struct landing_piece piece = landing_piece(&s->landing, job, done, 0);
    int error = seek_each ? stream_seek(s, job, piece.offset) : 0;
    if (error) return error;
    const size_t got = get(s, piece.data, piece.length);
    if (got != piece.length && (error = read_on(s, job, piece, got)) != 0) return error;
    landing_deliver(&s->landing, flow, piece);
    weir_operation_end(flow, began);
  }
  landing_deliver_rest(&s->landing, job, flow, done);
  return 0;
}

/* ---- writing ------------------------------------------------------------------------------------------------------- */

static int flush_piece(const struct stdio_state *s, const struct weir_job *job, struct landing_piece piece) {
  int error = fflush(s->stream) == 0 ? os_sync(s->file, false) : stream_error();
  return error ? target_failed(job, "flushing", piece.offset, piece.length, error) : 0;
}

/* Not repeated when interrupted: the standard leaves open what of the buffer is lost. */
static int write_piece(const struct stdio_state *s, const struct weir_job *job, struct landing_piece piece) {
  const size_t put =
      s->unlocked ? os_stream_write(piece.data, piece.length, s->stream) : fwrite(piece.data, 1, piece.length, s->stream);
  return put == piece.length ? 0 : target_failed(job, "writing", piece.offset + put, piece.length - put, stream_error());
}

static int stdio_run_fwrite(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  const struct stdio_state *s = state;
  const uint64_t count = landing_count(job, budget);
  const bool seek_each = job->access == WEIR_RANDOM, flush_each = job->durability == WEIR_DURABILITY_EACH;
  uint64_t done = 0;
  errno = 0;
  landing_supply_all(&s->landing, job, flow, count);
  for (; done < count && !weir_stopped(flow); done++) {
    const struct landing_piece piece = landing_piece(&s->landing, job, done, 0);
    landing_supply(&s->landing, flow, piece);
    const uint64_t began = weir_operation_begin(flow);
    int error = seek_each ? stream_seek(s, job, piece.offset) : 0;
    if (!error) error = write_piece(s, job, piece);
    if (!error && flush_each) error = flush_piece(s, job, piece);
    if (error) return error;
    weir_operation_end(flow, began);
  }
  landing_settle(&s->landing, job, flow, count, done);
  return 0;
}

static int stdio_sync(void *state, const struct weir_job *job) {
  const struct stdio_state *s = state;
  errno = 0;
  if (fflush(s->stream) != 0) return target_refused(job, "emptying the stream's buffer", stream_error());
  return target_sync(job, s->file);
}

static int stdio_probe_writer(const struct weir_job *job, struct weir_reason *reason) {
  return target_probe_extend(job, (enum target_extend)job->params[PARAM_EXTEND], reason);
}

#define STDIO_PARAMS                                                                                                     \
  [PARAM_BLOCK] = LANDING_PARAM_BLOCK(LANDING_BLOCK_SWEEP), [PARAM_BUFFER] = LANDING_PARAM_BUFFER(LANDING_BUFFER_SWEEP), \
  [PARAM_SETVBUF] = {.name = "setvbuf",                                                                                  \
                     .kind = WEIR_PARAM_SIZE,                                                                            \
                     .preset = "4KiB",                                                                                   \
                     .min = 0,                                                                                           \
                     .max = LANDING_BLOCK_MAX,                                                                           \
                     WEIR_PARAM_EVERYWHERE,                                                                              \
                     .help = "the stream's buffer; 0 is unbuffered, 4KiB what the C library takes"},                     \
  [PARAM_LOCK] = {.name = "lock",                                                                                        \
                  .kind = WEIR_PARAM_CHOICE,                                                                             \
                  .preset = "locked",                                                                                    \
                  .choices = "locked|unlocked",                                                                          \
                  WEIR_PARAM_EVERYWHERE,                                                                                 \
                  .help = "does each call lock the stream"}

static const struct weir_param reader_params[] = {STDIO_PARAMS, [PARAM_HINT] = METHODS_PARAM_HINT};
static const struct weir_param writer_params[] = {
    STDIO_PARAMS, [PARAM_EXTEND] = METHODS_PARAM_EXTEND(METHODS_EXTEND_IN_ORDER)};

#define STDIO_METHOD                                                                                                     \
  METHODS_ABI, .tasks = METHODS_BOTH_TASKS, .accesses = METHODS_BOTH_ACCESSES, .state_size = sizeof(struct stdio_state), \
               .setup = stdio_setup, .open = stdio_open, .close = stdio_close, .teardown = stdio_teardown

const struct weir_method methods_stdio_fread = {
    STDIO_METHOD,
    METHODS_READS,
    .capabilities = WEIR_CAP_PACED,
    .name = "stdio/fread",
    .summary = "the C library's buffered reads",
    .calls = "fdopen(3), setvbuf(3), fread(3) or fread_unlocked(3); fseeko(3) before each random one",
    .params = reader_params,
    .param_count = METHODS_COUNT(reader_params),
    .run = stdio_run_fread};

const struct weir_method methods_stdio_fwrite = {
    STDIO_METHOD,
    METHODS_WRITES,
    .capabilities = WEIR_CAP_PACED,
    .name = "stdio/fwrite",
    .summary = "the C library's buffered writes",
    .calls =
        "fdopen(3), setvbuf(3), fwrite(3) or fwrite_unlocked(3); fseeko(3) before each random one; fflush(3), fdatasync(2)",
    .params = writer_params,
    .param_count = METHODS_COUNT(writer_params),
    .probe = stdio_probe_writer,
    .run = stdio_run_fwrite,
    .sync = stdio_sync};
