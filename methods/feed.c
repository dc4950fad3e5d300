/*
 * feed.c - reads the job's file from front to back for the readers of streams. What is called for each line is in feed.h.
 */
#include "feed.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

static int no_memory(const struct weir_job *job, uint64_t size) {
  return job->host->fail(job, -ENOMEM, "no memory for a buffer of %" PRIu64 " bytes", size);
}

int feed_probe(const struct weir_job *job, struct weir_reason *reason) {
  struct os_stat facts;
  if (os_stat_path(job->path, &facts) != 0 || facts.kind != OS_REGULAR || facts.size <= job->file_size) return 0;
  return target_unfit(reason, -EOPNOTSUPP, "a stream is read to its end, and a part of the file is measured here",
                      "use a --size that is that of the file");
}

/* ---- bytes --------------------------------------------------------------------------------------------------------- */

/* A file that grows meanwhile would not fit into what was made ready for it. */
static int check_growth(const struct feed *feed) {
  const struct weir_job *job = feed->job;
  if (feed->at <= job->part_length) return 0;
  return job->host->fail(job, -EFBIG, "the file grew above %" PRIu64 " bytes", job->part_length);
}

static int64_t count(struct feed *feed, int64_t got) {
  feed->at += (uint64_t)got;
  int error = check_growth(feed);
  return error ? error : got;
}

int64_t feed_fill(struct feed *feed, void *data, size_t length) {
  size_t done = 0;
  while (done < length) {
    const int64_t got = feed->read(feed, (char *)data + done, length - done);
    if (got < 0) return got;
    if (got == 0) break;
    done += (size_t)got;
  }
  return (int64_t)done;
}

int feed_end(const struct feed *feed) {
  return feed->at < feed->job->part_length ? target_ended(feed->job, feed->at) : check_growth(feed);
}

int feed_all(struct feed *feed, struct weir_flow *flow, void *data, uint64_t block, bool *stopped) {
  const uint64_t size = feed->job->part_length;
  *stopped = weir_stopped(flow);
  while (feed->at < size && !*stopped) {
    const uint64_t left = size - feed->at, wanted = block && block < left ? block : left;
    const int64_t got = feed->read(feed, (char *)data + feed->at, (size_t)wanted);
    if (got < 0) return (int)got;
    if (got == 0) return feed_end(feed);
    *stopped = weir_stopped(flow);
  }
  return 0;
}

static int64_t read_file(struct feed *feed, void *data, size_t length) {
  const int64_t got = os_read(((struct feed_file *)feed)->file, data, length);
  if (got < 0) return target_failed(feed->job, "reading", feed->at, length, (int)got);
  return count(feed, got);
}

int feed_file_open(struct feed_file *f, const struct weir_job *job, uint64_t hint) {
  f->feed = (struct feed){.read = read_file, .job = job};
  int error = target_open(job, 0, &f->file);
  if (error) return error;
  error = target_advise(job, f->file, (enum os_advice)hint);
  if (error) (void)os_close(f->file);
  return error;
}

int feed_file_close(struct feed_file *f, const struct weir_job *job) { return target_close(job, f->file); }

/* ---- the C library's stream ---------------------------------------------------------------------------------------- */

/* errno as the library left it, or the plainest error where it left none. */
static int stream_error(void) { return errno ? -errno : -EIO; }

int feed_stdio_end(const struct feed_stdio *f) {
  if (feof(f->stream) && !ferror(f->stream)) return feed_end(&f->feed);
  return target_failed(f->feed.job, "reading", f->feed.at, f->feed.job->part_length - f->feed.at, stream_error());
}

static int64_t read_stdio(struct feed *feed, void *data, size_t length) {
  struct feed_stdio *f = (struct feed_stdio *)feed;
  errno = 0;
  const size_t got = fread(data, 1, length, f->stream);
  if (got == 0 && (ferror(f->stream) || !feof(f->stream)))
    return target_failed(feed->job, "reading", feed->at, length, stream_error());
  return count(feed, (int64_t)got);
}

int feed_stdio_setup(struct feed_stdio *f, const struct weir_job *job, uint64_t buffer) {
  /* glibc ignores the size given to setvbuf unless the memory is given too. */
  f->room_size = (size_t)buffer;
  int error = buffer ? job->host->buffer_get(job, f->room_size, 1, WEIR_BUFFER_REUSED, &f->room) : 0;
  return error ? no_memory(job, buffer) : 0;
}

int feed_stdio_open(struct feed_stdio *f, const struct weir_job *job) {
  os_file file;
  f->feed = (struct feed){.read = read_stdio, .job = job};
  int error = target_open(job, 0, &file);
  if (error) return error;
  errno = 0;
  f->stream = fdopen((int)file, "r");
  if (!f->stream) {
    error = target_refused(job, "opening a stream", stream_error());
    (void)os_close(file);
    return error;
  }
  if (setvbuf(f->stream, f->room, f->room ? _IOFBF : _IONBF, f->room_size) == 0) return 0;
  (void)fclose(f->stream);
  return job->host->fail(job, -EINVAL, "setvbuf refused a buffer of %zu bytes", f->room_size);
}

int feed_stdio_close(struct feed_stdio *f, const struct weir_job *job) {
  errno = 0;
  return fclose(f->stream) == 0 ? 0 : target_refused(job, "closing the stream", stream_error());
}

void feed_stdio_teardown(struct feed_stdio *f, const struct weir_job *job) {
  if (f->room) job->host->buffer_put(job, f->room, f->room_size);
}

/* ---- layers -------------------------------------------------------------------------------------------------------- */

static int64_t read_layer(struct feed *feed, void *data, size_t length) {
  struct feed_layer *l = (struct feed_layer *)feed;
  if (l->begin == l->end) {
    const int64_t got = l->below->read(l->below, l->buffer, l->size);
    if (got <= 0) return got;
    l->begin = 0;
    l->end = (size_t)got;
  }
  const size_t here = l->end - l->begin, taken = length < here ? length : here;
  memcpy(data, l->buffer + l->begin, taken);
  l->begin += taken;
  return count(feed, (int64_t)taken);
}

int feed_layer_setup(struct feed_layer *l, const struct weir_job *job, uint64_t size) {
  void *room = NULL;
  l->size = (size_t)size;
  int error = job->host->buffer_get(job, l->size, 1, WEIR_BUFFER_REUSED, &room);
  l->buffer = room;
  return error ? no_memory(job, size) : 0;
}

void feed_layer_open(struct feed_layer *l, const struct weir_job *job, struct feed *below) {
  l->feed = (struct feed){.read = read_layer, .job = job};
  l->below = below;
  l->begin = l->end = 0;
}

void feed_layer_teardown(struct feed_layer *l, const struct weir_job *job) {
  if (l->buffer) job->host->buffer_put(job, l->buffer, l->size);
}

/* ---- lines --------------------------------------------------------------------------------------------------------- */

/* Of a block that ends inside a line, the beginning of that line stays; lines are seldom longer. */
#define LINE_USUAL 4096u

int feed_lines_setup(struct feed_lines *l, const struct weir_job *job, uint64_t block) {
  l->block = (size_t)block;
  l->room = l->block + LINE_USUAL;
  l->data = malloc(l->room);
  return l->data ? 0 : no_memory(job, l->room);
}

void feed_lines_open(struct feed_lines *l, struct feed *feed) {
  l->feed = feed;
  l->begin = l->end = 0;
}

void feed_lines_teardown(struct feed_lines *l) { free(l->data); }

/* Room for a block behind what is left of the last one, which moves to the front. */
static int make_room(struct feed_lines *l) {
  const size_t rest = l->end - l->begin;
  if (rest > 0 && l->begin > 0) memmove(l->data, l->data + l->begin, rest);
  l->begin = 0;
  l->end = rest;
  if (l->room - rest >= l->block) return 0;
  if (l->room > SIZE_MAX / 4) return no_memory(l->feed->job, SIZE_MAX);
  const size_t room = 2 * (rest + l->block);
  char *data = realloc(l->data, room);
  if (!data) return no_memory(l->feed->job, room);
  l->data = data;
  l->room = room;
  return 0;
}

int feed_lines_load(struct feed_lines *l, struct feed_line *line) {
  const char *newline = NULL;
  int64_t got = 1;
  while (!newline && got > 0) {
    int error = make_room(l);
    if (error) return error;
    got = l->feed->read(l->feed, l->data + l->end, l->block);
    if (got < 0) return (int)got;
    newline = memchr(l->data + l->end, '\n', (size_t)got);
    l->end += (size_t)got;
  }
  line->data = l->data + l->begin;
  line->size = newline ? (size_t)(newline - line->data) + 1 : l->end - l->begin;
  l->begin += line->size;
  if (newline || line->size > 0) return 1;
  return feed_end(l->feed);
}
