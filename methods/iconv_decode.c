/*
 * iconv_decode.c - iconv/decode: the C library's converter from UTF-8 to UTF-16, block by block into memory that is ready:
 * what the own decoder is measured by. What iconv refuses becomes U+FFFD as everywhere.
 */
#include <errno.h>
#include <iconv.h>
#include <stdlib.h>

#include "text.h"

enum { PARAM_STEP };
#define MARK 0xfeffu
#define REPLACEMENT 0xfffdu

struct iconv_state {
  struct feed_file file;
  iconv_t converter;
  char *bytes; /* what was cut off stands before the next block */
  size_t step, kept;
  uint16_t *units;
  size_t units_size; /* in bytes */
};

static const char *native(void) {
  const uint16_t one = 1;
  unsigned char first;
  memcpy(&first, &one, 1);
  return first ? "UTF-16LE" : "UTF-16BE";
}

static int converter_open(iconv_t *out) {
  *out = iconv_open(native(), "UTF-8");
  return *out == (iconv_t)-1 ? -errno : 0;
}

static int iconv_probe(const struct weir_job *job, struct weir_reason *reason) {
  iconv_t converter;
  int error = converter_open(&converter);
  if (error)
    return target_unavailable(reason, error, "iconv from UTF-8 to UTF-16", "install the C library's converters (gconv)");
  (void)iconv_close(converter);
  return feed_probe(job, reason);
}

static int iconv_setup(void *state, const struct weir_job *job) {
  struct iconv_state *s = state;
  void *units = NULL;
  int error = text_check_size(job);
  if (error) return error;
  s->step = (size_t)job->params[PARAM_STEP];
  s->bytes = malloc(s->step + 4);
  s->units_size = ((size_t)job->part_length + 1) * sizeof *s->units;
  if (!s->bytes || job->host->buffer_get(job, s->units_size, 1, WEIR_BUFFER_REUSED, &units) != 0) return text_no_memory(job);
  s->units = units;
  return 0;
}

static int iconv_open_file(void *state, const struct weir_job *job) {
  struct iconv_state *s = state;
  int error = converter_open(&s->converter);
  if (error) return target_refused(job, "iconv_open", error);
  error = feed_file_open(&s->file, job, OS_ADVICE_NORMAL);
  if (error) (void)iconv_close(s->converter);
  return error;
}

/* What iconv stopped at: the bytes that U+FFFD stands for, or 0 where more of the character may follow. */
static size_t skip_invalid(const char *at, size_t length) {
  uint32_t point;
  const unsigned used = decode_one((const unsigned char *)at, length, &point);
  return used > 0 && point == DECODE_INVALID ? used : 0;
}

/* Converts the block; what is left of it is moved to the front. */
static int convert(struct iconv_state *s, const struct weir_job *job, size_t length, bool last, char **out, size_t *room) {
  char *in = s->bytes;
  while (length > 0 && iconv(s->converter, &in, &length, out, room) == (size_t)-1) {
    if (errno != EILSEQ && errno != EINVAL) return target_refused(job, "iconv", -errno);
    const size_t skipped = last && errno == EINVAL ? length : skip_invalid(in, length);
    if (skipped == 0) break;
    if (*room < sizeof *s->units) return text_no_memory(job);
    const uint16_t unit = REPLACEMENT;
    memcpy(*out, &unit, sizeof unit);
    *out += sizeof unit;
    *room -= sizeof unit;
    in += skipped;
    length -= skipped;
  }
  s->kept = length;
  if (s->kept > 4) return job->host->fail(job, -EILSEQ, "iconv refuses what is valid");
  memmove(s->bytes, in, s->kept);
  return 0;
}

static int convert_all(struct iconv_state *s, const struct weir_job *job, struct weir_flow *flow, size_t *count) {
  char *out = (char *)s->units;
  size_t room = s->units_size;
  int64_t got = 1;
  s->kept = 0;
  while (got > 0 && !weir_stopped(flow)) {
    got = s->file.feed.read(&s->file.feed, s->bytes + s->kept, s->step);
    if (got < 0) return (int)got;
    int error = convert(s, job, s->kept + (size_t)got, got == 0, &out, &room);
    if (error) return error;
  }
  *count = (s->units_size - room) / sizeof *s->units;
  return got == 0 ? feed_end(&s->file.feed) : 0;
}

static int iconv_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct iconv_state *s = state;
  size_t count = 0;
  const uint64_t began = weir_operation_begin(flow);
  if (budget == 0) return 0;
  int error = convert_all(s, job, flow, &count);
  if (error || weir_stopped(flow)) return error;
  const size_t mark = count > 0 && s->units[0] == MARK;
  weir_units(flow, s->units + mark, count - mark);
  weir_operation_end(flow, began);
  return 0;
}

static int iconv_close_file(void *state, const struct weir_job *job) {
  struct iconv_state *s = state;
  const int error = iconv_close(s->converter) == 0 ? 0 : -errno, closed = feed_file_close(&s->file, job);
  return error ? target_refused(job, "iconv_close", error) : closed;
}

static void iconv_teardown(void *state, const struct weir_job *job) {
  struct iconv_state *s = state;
  free(s->bytes);
  if (s->units) job->host->buffer_put(job, s->units, s->units_size);
}

static const struct weir_param iconv_params[] = {
    [PARAM_STEP] = TEXT_PARAM_SIZE("step", "64KiB", NULL, "bytes of a read, converted at a time")};

const struct weir_method methods_iconv_decode = {
    METHODS_ABI,
    METHODS_READS,
    .accesses = WEIR_BIT(WEIR_SEQUENTIAL),
    .name = "iconv/decode",
    .summary = "the C library's converter, step by step into memory that is ready",
    .calls = "read(2), iconv(3)",
    .tasks = WEIR_BIT(WEIR_TASK_TEXT),
    .params = iconv_params,
    .param_count = METHODS_COUNT(iconv_params),
    .state_size = sizeof(struct iconv_state),
    .probe = iconv_probe,
    .setup = iconv_setup,
    .open = iconv_open_file,
    .run = iconv_run,
    .close = iconv_close_file,
    .teardown = iconv_teardown};
