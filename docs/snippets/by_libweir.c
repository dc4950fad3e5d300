/*
 * by_libweir.c - each use of files by libweir, in the few lines that a program needs. Reports show these functions as they
 * stand: each belongs to the task, direction and access named in the line above it. The build compiles them.
 */
#include <stdio.h>
#include <weir.h>

#include "lines_of_c.h"

/*= blocks read sequential */
int read_blocks(const char *path, struct weir_error *error) { /* reads ahead while use() works */
  struct weir_stream *stream;
  struct weir_slice block;
  int code = weir_stream_open(path, NULL, &stream, error); /* options: .block_bytes, .depth, .strategy */
  if (code < 0) return code;
  while (weir_stream_next(stream, &block) > 0) use(block.data, block.size);
  return weir_stream_close(stream, error);
}

/*= blocks read random */
int read_at_random(struct weir_file *file, struct weir_request *requests, size_t count) { /* filled in by the caller */
  struct weir_queue *queue;
  struct weir_request *list[64], *done[64];
  struct weir_queue_options options = {.depth = 32, .file = file};
  int code = count > 64 ? WEIR_EINVAL : weir_queue_open(&options, &queue, NULL);
  if (code < 0) return code;
  for (size_t i = 0; i < count; i++) list[i] = &requests[i];
  size_t taken = 0, finished = 0;
  while (finished < count && code >= 0) {
    size_t more = 0;
    code = weir_queue_submit(queue, list + taken, count - taken, &more);
    taken += more;
    if (code == WEIR_EBUSY || code == 0) code = weir_queue_wait(queue, done, 64, 1);
    for (int i = 0; i < code; i++) use(done[i]->data, done[i]->transferred);
    if (code > 0) finished += (size_t)code;
  }
  weir_queue_close(queue);
  return code < 0 ? code : 0;
}

/*= whole read */
int read_whole(const char *path, struct weir_error *error) {
  struct weir_bytes bytes = {0}; /* one struct for many files: its memory is used again */
  int code = weir_read_file(path, &bytes, NULL, error);
  if (code >= 0) use(bytes.data, bytes.size);
  weir_bytes_free(&bytes);
  return code;
}

/*= whole write */
int write_whole(const char *path, const void *data, size_t size, struct weir_error *error) {
  struct weir_write_options options = {.flags = WEIR_ATOMIC | WEIR_DURABLE}; /* the old file or the new one, never half */
  return weir_write_file(path, data, size, &options, error);
}

/*= blocks write sequential */
int write_blocks(const char *path, const void *data, size_t size, struct weir_error *error) {
  struct weir_writer writer;
  struct weir_writer_options options = {.expected_bytes = size, .flags = WEIR_DURABLE}; /* and .strategy */
  int code = weir_writer_open(&writer, path, &options, error);
  if (code < 0) return code;
  weir_writer_put(&writer, data, size); /* as often as needed; errors stay until the end */
  return weir_writer_finish(&writer, error);
}

/*= blocks write random */
int write_at_random(const char *path, const void *data, size_t size, uint64_t offset, struct weir_error *error) {
  struct weir_file *file;
  struct weir_open_options options = {.access = WEIR_OPEN_UPDATE};
  int code = weir_file_open(path, &options, &file, error);
  if (code < 0) return code;
  if (weir_file_pwrite(file, data, size, offset) >= 0) weir_file_sync(file); /* the close gives their errors again */
  code = weir_file_error(file)->code;
  int closed = weir_file_close(file, error);
  return code < 0 ? code : closed;
}

/*= blocks mixed */
int64_t read_or_write(struct weir_file *file, void *block, size_t size, uint64_t offset, bool writes) {
  return writes ? weir_file_pwrite(file, block, size, offset) : weir_file_pread(file, block, size, offset);
}

/*= lines read */
int read_lines(const char *path, struct weir_error *error) { /* weir_lines_batch: a whole block of lines at once */
  struct weir_lines lines;
  struct weir_slice line;
  weir_lines_open(&lines, path, NULL, error);
  while (weir_lines_next(&lines, &line) > 0) use(line.data, line.size);
  return weir_lines_close(&lines, error);
}

/*= lines write */
int write_lines(const char *path, const struct weir_slice *lines, size_t count, struct weir_error *error) {
  struct weir_writer writer;
  int code = weir_writer_open(&writer, path, NULL, error);
  if (code < 0) return code;
  for (size_t i = 0; i < count; i++) weir_writer_put_line(&writer, lines[i].data, lines[i].size);
  return weir_writer_finish(&writer, error); /* the first error of all */
}

/*= text read */
int read_text(const char *path, struct weir_error *error) { /* finds out the encoding; gives UTF-8 */
  struct weir_bytes text = {0};
  int code = weir_read_text(path, WEIR_ENCODING_UNKNOWN, false, &text, error);
  if (code >= 0) use(text.data, text.size);
  weir_bytes_free(&text);
  return code;
}

/*= text write */
int write_text(const char *path, const char *text, size_t size, struct weir_error *error) {
  struct weir_write_options options = {.flags = WEIR_ATOMIC};
  return weir_write_file(path, text, size, &options, error);
}

/*= records read */
int read_records(const char *path, struct weir_error *error) { /* a 32-bit length before each; hostile ones are errors */
  struct weir_record_format format = {.prefix = WEIR_RECORD_U32LE};
  struct weir_records *records;
  struct weir_slice record;
  int code = weir_records_open(path, &format, &records, error);
  if (code < 0) return code;
  while (weir_records_next(records, &record) > 0) use(record.data, record.size);
  return weir_records_close(records, error);
}

/*= records write */
int write_record(struct weir_writer *writer, const void *data, size_t size) { /* then weir_writer_finish */
  return weir_writer_put_record(writer, WEIR_RECORD_U32LE, data, size);
}

/*= typed read */
int read_structs(const char *path, struct weir_error *error) {
  struct weir_bytes bytes = {0};
  size_t count = 0;
  int code = WEIR_READ_ITEMS(path, struct point, &bytes, &count, error);
  const struct point *points = (const struct point *)(const void *)bytes.data;
  for (size_t i = 0; code >= 0 && i < count; i++) use(&points[i], sizeof points[i]);
  weir_bytes_free(&bytes);
  return code;
}

/*= typed write */
int write_structs(struct weir_writer *writer, const struct point *points, size_t count) { /* then weir_writer_finish */
  return weir_writer_put(writer, points, count * sizeof *points);
}

/*= copy */
int copy(const char *from, const char *to, struct weir_error *error) { /* weir_copy: many files to many directories */
  struct weir_copy_options options = {.flags = WEIR_COPY_REPLACE | WEIR_ATOMIC};
  return weir_copy_file(from, to, &options, NULL, error);
}

/*= many read */
int read_many(const char *const *paths, size_t count, struct weir_error *error) {
  struct weir_bytes bytes = {0}; /* the same memory for all of them */
  int code = 0;
  for (size_t i = 0; i < count && code >= 0; i++) {
    code = weir_read_file(paths[i], &bytes, NULL, error);
    if (code >= 0) use(bytes.data, bytes.size);
  }
  weir_bytes_free(&bytes);
  return code;
}
