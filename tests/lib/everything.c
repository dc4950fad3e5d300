/*
 * everything.c - a program of somebody else's that uses each section of weir.h once: everything DIRECTORY. Plain C that is
 * C++ too; built with the shared and the static library, as C++ and for 32 bits. Exit status 0, or the line that is not as
 * it should be. What each call does in odd cases is not its matter.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir.h>

static char path[4200], other[4200];

#define CHECK(condition)                                             \
  do {                                                               \
    if (!(condition)) {                                              \
      printf("everything.c:%d: not so: %s\n", __LINE__, #condition); \
      exit(1);                                                       \
    }                                                                \
  } while (0)

static const char *name(char *out, const char *directory, const char *file) {
  snprintf(out, sizeof path, "%s/%s", directory, file);
  return out;
}

static void errors(void) {
  struct weir_error error;
  struct weir_bytes bytes;
  char text[512];
  memset(&bytes, 0, sizeof bytes);
  CHECK(strcmp(weir_version(), "0.1.0") == 0);
  CHECK(weir_read_file("/nowhere/at/all", &bytes, NULL, &error) == WEIR_ENOENT);
  CHECK(error.code == WEIR_ENOENT && strcmp(error.path, "/nowhere/at/all") == 0);
  CHECK(weir_error_text(&error, text, sizeof text) == (int)strlen(text));
  CHECK(strcmp(weir_error_name(WEIR_ENOENT), "WEIR_ENOENT") == 0);
  weir_bytes_free(&bytes);
}

static void whole_files(const char *directory) {
  struct weir_write_options options;
  struct weir_bytes bytes;
  size_t count = 0, size = 0;
  char small[4];
  double values[3] = {1, 2, 3};
  memset(&options, 0, sizeof options);
  memset(&bytes, 0, sizeof bytes);
  options.flags = WEIR_ATOMIC;
  CHECK(weir_write_file(name(path, directory, "values"), values, sizeof values, &options, NULL) == 0);
  CHECK(WEIR_READ_ITEMS(path, double, &bytes, &count, NULL) == 0 && count == 3);
  CHECK(bytes.size == sizeof values && memcmp(bytes.data, values, sizeof values) == 0);
  CHECK(weir_read_into(path, small, sizeof small, &size, NULL) == WEIR_MORE && size == sizeof small);
  weir_bytes_free(&bytes);
}

static void lines_and_output(const char *directory) {
  struct weir_writer writer;
  struct weir_lines lines;
  struct weir_slice line;
  struct weir_line_list list;
  uint64_t count = 0;
  char text[32];
  CHECK(weir_writer_open(&writer, name(path, directory, "lines"), NULL, NULL) == 0);
  for (int i = 0; i < 10000; i++) {
    int length = snprintf(text, sizeof text, "line %d", i);
    CHECK(weir_writer_put_line(&writer, text, (size_t)length) == 0);
  }
  CHECK(weir_writer_put(&writer, "end", 3) == 0);
  CHECK(weir_writer_finish(&writer, NULL) == 0);
  CHECK(weir_lines_open(&lines, path, NULL, NULL) == 0);
  for (int i = 0; i < 10000; i++) {
    int length = snprintf(text, sizeof text, "line %d", i);
    CHECK(weir_lines_next(&lines, &line) == 1);
    CHECK(line.size == (size_t)length && memcmp(line.data, text, line.size) == 0);
  }
  CHECK(weir_lines_next(&lines, &line) == 1 && line.size == 3 && weir_lines_marks(&lines) == WEIR_LINE_NO_NEWLINE);
  CHECK(weir_lines_next(&lines, &line) == 0);
  CHECK(weir_lines_close(&lines, NULL) == 0);
  CHECK(weir_count_lines(path, 0, NULL, &count, NULL) == 0 && count == 10001);
  memset(&list, 0, sizeof list);
  CHECK(weir_read_lines(path, &list, NULL, NULL) == 0 && list.count == 10001);
  CHECK(memcmp(list.line[7].data, "line 7", 6) == 0);
  weir_line_list_free(&list);
}

static void blocks(void) {
  struct weir_stream *stream;
  struct weir_stream_options options;
  struct weir_slice block;
  uint64_t bytes = 0;
  memset(&options, 0, sizeof options);
  options.block_bytes = 4096;
  CHECK(weir_stream_open(path, &options, &stream, NULL) == 0);
  while (weir_stream_next(stream, &block) == 1) bytes += block.size;
  CHECK(weir_stream_close(stream, NULL) == 0);
  CHECK(bytes == 98893);
}

static void text(const char *directory) {
  struct weir_bytes bytes;
  memset(&bytes, 0, sizeof bytes);
  CHECK(weir_write_file(name(path, directory, "text"),
                        "\xff\xfe"
                        "a\0\xe4\0",
                        6, NULL, NULL) == 0);
  CHECK(weir_read_text(path, WEIR_ENCODING_UNKNOWN, false, &bytes, NULL) == 0);
  CHECK(strcmp(bytes.data, "a\xc3\xa4") == 0);
  weir_bytes_free(&bytes);
}

static void records(const char *directory) {
  struct weir_writer writer;
  struct weir_record_format format;
  struct weir_records *records;
  struct weir_slice record;
  memset(&format, 0, sizeof format);
  format.prefix = WEIR_RECORD_VARINT;
  CHECK(weir_writer_open(&writer, name(path, directory, "records"), NULL, NULL) == 0);
  for (int i = 0; i < 1000; i++) CHECK(weir_writer_put_record(&writer, format.prefix, &i, sizeof i) == 0);
  CHECK(weir_writer_finish(&writer, NULL) == 0);
  CHECK(weir_records_open(path, &format, &records, NULL) == 0);
  for (int i = 0; i < 1000; i++) {
    CHECK(weir_records_next(records, &record) == 1 && record.size == sizeof i && memcmp(record.data, &i, sizeof i) == 0);
  }
  CHECK(weir_records_next(records, &record) == 0);
  CHECK(weir_records_close(records, NULL) == 0);
}

/* Beyond what 32 bits count, in a file that is nearly all hole; skipped where files may not be so large. */
static void far_positions(const char *directory) {
  const uint64_t far = (uint64_t)5 << 30;
  struct weir_file *file;
  struct weir_open_options options;
  char data[8];
  memset(&options, 0, sizeof options);
  options.access = WEIR_OPEN_WRITE;
  CHECK(weir_file_open(name(path, directory, "far"), &options, &file, NULL) == 0);
  if (weir_file_pwrite(file, "far", 4, far) != 4) {
    printf("SKIPPED positions above 4 GiB: %s\n", weir_strerror(weir_file_error(file)->code));
  } else {
    CHECK(weir_file_size(file) == (int64_t)far + 4);
    CHECK(weir_file_close(file, NULL) == 0);
    options.access = WEIR_OPEN_UPDATE;
    CHECK(weir_file_open(path, &options, &file, NULL) == 0);
    CHECK(weir_file_seek(file, far) == 0 && weir_file_read(file, data, sizeof data) == 4);
    CHECK(weir_file_tell(file) == far + 4 && weir_file_pread(file, data, 4, far) == 4 && strcmp(data, "far") == 0);
  }
  CHECK(weir_file_close(file, NULL) == 0);
  CHECK(remove(path) == 0);
}

static void view_queue_and_pool(const char *directory) {
  struct weir_view view;
  struct weir_file *file;
  struct weir_queue *queue;
  struct weir_pool *pool;
  struct weir_request request, *submitted = &request, *back = NULL;
  CHECK(weir_view_open(&view, name(path, directory, "lines"), 5, 4, WEIR_HINT_NONE, false, NULL) == 0);
  CHECK(view.size == 4 && memcmp(view.data, "0\nli", 4) == 0);
  CHECK(weir_view_close(&view) == 0);
  CHECK(weir_pool_open(4096, 2, 0, &pool) == 0);
  CHECK(weir_file_open(path, NULL, &file, NULL) == 0);
  CHECK(weir_queue_open(NULL, &queue, NULL) == 0);
  memset(&request, 0, sizeof request);
  request.file = file;
  request.data = weir_pool_get(pool);
  request.size = 4096;
  CHECK(request.data && weir_queue_submit(queue, &submitted, 1, NULL) >= 0);
  CHECK(weir_queue_wait(queue, &back, 1, 1) == 1 && back == &request);
  CHECK(request.status == 0 && request.transferred == 4096 && memcmp(request.data, "line 0\n", 7) == 0);
  weir_queue_close(queue);
  CHECK(weir_file_close(file, NULL) == 0);
  weir_pool_close(pool);
}

static void copies(const char *directory) {
  struct weir_copy_options options;
  struct weir_bytes bytes;
  struct weir_choice how;
  memset(&options, 0, sizeof options);
  memset(&bytes, 0, sizeof bytes);
  options.flags = WEIR_COPY_VERIFY;
  name(path, directory, "lines");
  CHECK(weir_copy_file(path, name(other, directory, "copy"), &options, NULL, NULL) == 0);
  CHECK(weir_copy_file(path, other, &options, NULL, NULL) == WEIR_EEXIST);
  CHECK(weir_read_file(other, &bytes, NULL, NULL) == 0 && bytes.size == 98893);
  CHECK(weir_how(path, WEIR_USE_WHOLE, 0, &how, NULL) == 0 && how.reason && *weir_strategy_name(how.strategy));
  (void)weir_can(path, WEIR_FEATURE_DIRECT, NULL);
  weir_bytes_free(&bytes);
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  errors();
  whole_files(argv[1]);
  lines_and_output(argv[1]);
  blocks();
  text(argv[1]);
  records(argv[1]);
  far_positions(argv[1]);
  view_queue_and_pool(argv[1]);
  copies(argv[1]);
  return 0;
}
