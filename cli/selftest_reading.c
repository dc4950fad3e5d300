/*
 * selftest_reading.c - the checks of `weir selftest` for calls of the library that read, decode, or only tell. Each makes
 * its file without the library and compares every byte that it gets.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/selftest.h"
#include "weir.h"

#define EXPECT(fine, what)                            \
  do {                                                \
    if (!selftest_expect(test, (fine), what)) return; \
  } while (0)
#define WENT(code, call)                            \
  do {                                              \
    if (!selftest_went(test, (code), call)) return; \
  } while (0)

static const char *at(struct selftest *test, const char *name) { return selftest_path(test, name); }

static bool is_text(struct weir_slice slice, const char *text) {
  return slice.size == strlen(text) && memcmp(slice.data, text, slice.size) == 0;
}

/* ---- words --------------------------------------------------------------------------------------------------------- */

static void check_words(struct selftest *test) {
  struct weir_error error = {.code = 0};
  char text[400];
  EXPECT(weir_version()[0] != '\0', "weir_version says nothing");
  EXPECT(strcmp(weir_strerror(WEIR_ENOENT), "no such file or directory") == 0, "weir_strerror has other words");
  EXPECT(strcmp(weir_error_name(WEIR_ENOENT), "WEIR_ENOENT") == 0, "weir_error_name has another name");
  EXPECT(strcmp(weir_strategy_name(WEIR_BUFFERED), "buffered") == 0, "weir_strategy_name has another name");
  struct weir_bytes bytes = {0};
  const int code = weir_read_file(at(test, "missing"), &bytes, NULL, &error);
  weir_bytes_free(&bytes);
  EXPECT(code == WEIR_ENOENT && error.code == code, "a missing file is another error");
  EXPECT(weir_error_text(&error, text, sizeof text) > 0 && strstr(text, "no such file"), "weir_error_text says nothing");
}

/* ---- whole files --------------------------------------------------------------------------------------------------- */

static void read_past_cache(struct selftest *test) {
  const struct weir_read_options options = {.strategy = WEIR_DIRECT};
  struct weir_bytes bytes = {0};
  selftest_cool(test, "whole");
  const int code = weir_read_file(at(test, "whole"), &bytes, &options, NULL);
  if (code == 0)
    selftest_expect(test, bytes.size == SELFTEST_BYTES && memcmp(bytes.data, test->scene->data, bytes.size) == 0,
                    "past the cache other bytes are read");
  weir_bytes_free(&bytes);
  selftest_passed_by(test, "whole", code);
}

static void check_read_file(struct selftest *test) {
  struct weir_bytes bytes = {0};
  if (!selftest_make(test, "whole", test->scene->data, SELFTEST_BYTES)) return;
  for (int again = 0; again < 2; again++) {
    WENT(weir_read_file(at(test, "whole"), &bytes, NULL, NULL), "weir_read_file");
    EXPECT(bytes.size == SELFTEST_BYTES && bytes.data[bytes.size] == '\0', "not the size of the file");
    EXPECT(memcmp(bytes.data, test->scene->data, bytes.size) == 0, "other bytes are read");
  }
  weir_bytes_free(&bytes);
  EXPECT(bytes.data == NULL && bytes.size == 0, "weir_bytes_free leaves something");
  read_past_cache(test);
}

static void check_read_into(struct selftest *test) {
  static char room[SELFTEST_BYTES + 1];
  size_t size = 0;
  if (!selftest_make(test, "into", test->scene->data, SELFTEST_BYTES)) return;
  WENT(weir_read_into(at(test, "into"), room, sizeof room, &size, NULL), "weir_read_into");
  EXPECT(size == SELFTEST_BYTES && memcmp(room, test->scene->data, size) == 0, "other bytes are read");
  EXPECT(weir_read_into(at(test, "into"), room, 1000, &size, NULL) == WEIR_MORE && size == 1000, "no WEIR_MORE");
}

static void check_read_items(struct selftest *test) {
  struct weir_bytes bytes = {0};
  size_t count = 0;
  if (!selftest_make(test, "items", test->scene->data, 8000)) return;
  WENT(WEIR_READ_ITEMS(at(test, "items"), uint64_t, &bytes, &count, NULL), "weir_read_items");
  EXPECT(count == 1000 && memcmp(bytes.data, test->scene->data, 8000) == 0, "other items are read");
  EXPECT(weir_read_items(at(test, "items"), 7, &bytes, &count, NULL) == WEIR_EFORMAT, "half an item is no error");
  weir_bytes_free(&bytes);
}

/* ---- lines --------------------------------------------------------------------------------------------------------- */

static const char text[] = "one\r\ntwo\n\nlast";
static const char *const text_lines[] = {"one", "two", "", "last"};
enum { TEXT_LINES = 4 };

static bool make_text(struct selftest *test) { return selftest_make(test, "text", text, sizeof text - 1); }

static void walk_lines(struct selftest *test, struct weir_lines *lines) {
  struct weir_slice line = {NULL, 0};
  for (int i = 0; i < TEXT_LINES; i++) {
    EXPECT(weir_lines_next(lines, &line) == 1, "a line is missing");
    EXPECT(is_text(line, text_lines[i]), "another line is read");
  }
  EXPECT(weir_lines_marks(lines) == WEIR_LINE_NO_NEWLINE, "the missing newline is not told");
  EXPECT(weir_lines_next(lines, &line) == 0, "there are more lines than there are");
}

static void check_lines(struct selftest *test) {
  struct weir_lines lines;
  struct weir_slice line = {NULL, 0};
  uint64_t offset = 0, number = 0;
  if (!make_text(test)) return;
  WENT(weir_lines_open(&lines, at(test, "text"), NULL, NULL), "weir_lines_open");
  walk_lines(test, &lines);
  weir_lines_position(&lines, &offset, &number);
  EXPECT(offset == 10 && number == 4, "weir_lines_position tells another place");
  WENT(weir_lines_close(&lines, NULL), "weir_lines_close");
  WENT(weir_lines_open(&lines, at(test, "text"), NULL, NULL), "weir_lines_open");
  EXPECT(weir_lines_fill(&lines) == 1 && weir_lines_next(&lines, &line) == 1, "weir_lines_fill loads nothing");
  EXPECT(weir_lines_error(&lines) != NULL, "weir_lines_error gives nothing");
  WENT(weir_lines_close(&lines, NULL), "weir_lines_close");
}

static void check_lines_elsewhere(struct selftest *test) {
  struct weir_lines lines;
  struct weir_file *file = NULL;
  if (!make_text(test)) return;
  WENT(weir_lines_open_memory(&lines, text, sizeof text - 1, NULL, NULL), "weir_lines_open_memory");
  walk_lines(test, &lines);
  WENT(weir_lines_close(&lines, NULL), "weir_lines_close");
  WENT(weir_file_open(at(test, "text"), NULL, &file, NULL), "weir_file_open");
  WENT(weir_lines_open_file(&lines, file, NULL, NULL), "weir_lines_open_file");
  walk_lines(test, &lines);
  WENT(weir_lines_close(&lines, NULL), "weir_lines_close");
  WENT(weir_file_close(file, NULL), "weir_file_close");
}

static void check_batches(struct selftest *test) {
  struct weir_lines lines;
  struct weir_batch batch;
  size_t count = 0;
  int code;
  if (!make_text(test)) return;
  WENT(weir_lines_open(&lines, at(test, "text"), NULL, NULL), "weir_lines_open");
  while ((code = weir_lines_batch(&lines, &batch)) > 0)
    for (size_t i = 0; i < batch.count; i++, count++) {
      EXPECT(count < TEXT_LINES, "weir_lines_batch gives more lines");
      EXPECT(is_text(weir_batch_line(&batch, i), text_lines[count]), "weir_batch_line gives another line");
    }
  WENT(code, "weir_lines_batch");
  EXPECT(count == TEXT_LINES, "weir_lines_batch gives fewer lines");
  WENT(weir_lines_close(&lines, NULL), "weir_lines_close");
  char *copy = weir_slice_copy((struct weir_slice){text + 5, 3});
  const bool same = copy && strcmp(copy, "two") == 0;
  free(copy);
  EXPECT(same, "weir_slice_copy copies something else");
  struct weir_slice rest = {"a -2.5e1", 8}, field = {NULL, 0};
  double value = 0;
  EXPECT(weir_slice_field(&rest, &field) && weir_slice_field(&rest, &field), "weir_slice_field finds fewer columns");
  WENT(weir_slice_double(field, &value), "weir_slice_double");
  EXPECT(value == -25, "weir_slice_double reads another number");
}

static int count_batch(void *context, const struct weir_batch *batch) {
  *(size_t *)context += batch->count;
  return 0;
}

static int count_piece(void *context, unsigned thread, uint64_t offset, const struct weir_batch *batch) {
  (void)thread, (void)offset;
  atomic_fetch_add((atomic_size_t *)context, batch->count);
  return 0;
}

static void check_all_lines(struct selftest *test) {
  struct weir_line_list list = {0};
  size_t each = 0;
  uint64_t count = 0;
  atomic_size_t parallel = 0;
  if (!make_text(test)) return;
  WENT(weir_read_lines(at(test, "text"), &list, NULL, NULL), "weir_read_lines");
  EXPECT(list.count == TEXT_LINES && is_text(list.line[3], "last"), "weir_read_lines gives other lines");
  weir_line_list_free(&list);
  WENT(weir_lines_each(at(test, "text"), 2, 0, NULL, count_batch, &each, NULL), "weir_lines_each");
  EXPECT(each == TEXT_LINES, "weir_lines_each gives another number");
  WENT(weir_count_lines(at(test, "text"), 0, NULL, &count, NULL), "weir_count_lines");
  EXPECT(count == TEXT_LINES, "weir_count_lines gives another number");
  WENT(weir_lines_parallel(at(test, "text"), 2, NULL, count_piece, &parallel, NULL), "weir_lines_parallel");
  EXPECT(atomic_load(&parallel) == TEXT_LINES, "weir_lines_parallel gives another number");
}

/* ---- blocks and views ---------------------------------------------------------------------------------------------- */

static void walk_stream(struct selftest *test, struct weir_stream *stream) {
  struct weir_slice block;
  size_t offset = 0;
  int code;
  while ((code = weir_stream_next(stream, &block)) > 0) {
    EXPECT(offset + block.size <= SELFTEST_BYTES, "more than the file");
    EXPECT(memcmp(block.data, test->scene->data + offset, block.size) == 0, "other bytes are read");
    offset += block.size;
  }
  WENT(code, "weir_stream_next");
  EXPECT(offset == SELFTEST_BYTES, "not all of the file");
}

static void stream_past_cache(struct selftest *test) {
  const struct weir_stream_options options = {.strategy = WEIR_DIRECT, .block_bytes = 128 * 1024};
  struct weir_stream *stream = NULL;
  selftest_cool(test, "stream");
  int code = weir_stream_open(at(test, "stream"), &options, &stream, NULL);
  if (code == 0) walk_stream(test, stream);
  if (code == 0) code = weir_stream_close(stream, NULL);
  selftest_passed_by(test, "stream", code);
}

static void check_stream(struct selftest *test) {
  struct weir_stream *stream = NULL;
  struct weir_file *file = NULL;
  struct weir_choice how = {.reason = NULL};
  if (!selftest_make(test, "stream", test->scene->data, SELFTEST_BYTES)) return;
  WENT(weir_stream_open(at(test, "stream"), NULL, &stream, NULL), "weir_stream_open");
  walk_stream(test, stream);
  weir_stream_how(stream, &how);
  EXPECT(how.reason && weir_stream_error(stream), "weir_stream_how gives no reason");
  WENT(weir_stream_close(stream, NULL), "weir_stream_close");
  WENT(weir_file_open(at(test, "stream"), NULL, &file, NULL), "weir_file_open");
  WENT(weir_stream_open_file(file, NULL, &stream, NULL), "weir_stream_open_file");
  walk_stream(test, stream);
  WENT(weir_stream_close(stream, NULL), "weir_stream_close");
  WENT(weir_file_close(file, NULL), "weir_file_close");
  stream_past_cache(test);
}

static void check_view(struct selftest *test) {
  struct weir_view view;
  if (!selftest_make(test, "view", test->scene->data, SELFTEST_BYTES)) return;
  for (int populate = 0; populate < 2; populate++) {
    WENT(weir_view_open(&view, at(test, "view"), 1000, 0, WEIR_HINT_NONE, populate != 0, NULL), "weir_view_open");
    EXPECT(view.size == SELFTEST_BYTES - 1000, "the view has another size");
    EXPECT(memcmp(view.data, test->scene->data + 1000, view.size) == 0, "other bytes are seen");
    WENT(weir_view_close(&view), "weir_view_close");
  }
}

/* ---- files with a position ----------------------------------------------------------------------------------------- */

static void read_here_and_there(struct selftest *test, struct weir_file *file) {
  static char room[SELFTEST_BYTES];
  const unsigned char *data = test->scene->data;
  size_t size = 0;
  EXPECT(weir_file_size(file) == (int64_t)SELFTEST_BYTES, "weir_file_size tells another size");
  EXPECT(weir_file_read(file, room, 5000) == 5000 && memcmp(room, data, 5000) == 0, "weir_file_read: other bytes");
  EXPECT(weir_file_tell(file) == 5000, "weir_file_tell tells another place");
  EXPECT(weir_file_pread(file, room, 999, 77777) == 999 && memcmp(room, data + 77777, 999) == 0,
         "weir_file_pread: other bytes");
  WENT(weir_file_seek(file, SELFTEST_BYTES - 100), "weir_file_seek");
  WENT(weir_file_read_to_end(file, room, sizeof room, &size), "weir_file_read_to_end");
  EXPECT(size == 100 && memcmp(room, data + SELFTEST_BYTES - 100, 100) == 0, "weir_file_read_to_end: other bytes");
  WENT(weir_file_set_buffer(file, room, sizeof room, false), "weir_file_set_buffer");
  WENT(weir_file_seek(file, 4096), "weir_file_seek");
  EXPECT(weir_file_fill(file, 4096) == 4096 && memcmp(room, data + 4096, 4096) == 0, "weir_file_fill: other bytes");
  EXPECT(weir_file_error(file) != NULL, "weir_file_error gives nothing");
}

static void pread_past_cache(struct selftest *test) {
  const struct weir_open_options options = {.strategy = WEIR_DIRECT};
  struct weir_pool *pool = NULL;
  struct weir_file *file = NULL;
  selftest_cool(test, "file");
  int64_t code = weir_file_open(at(test, "file"), &options, &file, NULL);
  if (code == 0) code = weir_pool_open(65536, 1, 0, &pool);
  void *buffer = code == 0 ? weir_pool_get(pool) : NULL;
  if (buffer) code = weir_file_pread(file, buffer, 65536, 65536);
  if (buffer && code >= 0)
    selftest_expect(test, code == 65536 && memcmp(buffer, test->scene->data + 65536, 65536) == 0,
                    "past the cache other bytes are read");
  if (pool) weir_pool_close(pool);
  (void)weir_file_close(file, NULL);
  selftest_passed_by(test, "file", code);
}

static void check_file(struct selftest *test) {
  struct weir_file *file = NULL, *second = NULL;
  struct weir_choice how = {.reason = NULL};
  os_file plain;
  char room[100];
  if (!selftest_make(test, "file", test->scene->data, SELFTEST_BYTES)) return;
  WENT(weir_file_open(at(test, "file"), NULL, &file, NULL), "weir_file_open");
  read_here_and_there(test, file);
  weir_file_how(file, &how);
  EXPECT(how.reason != NULL, "weir_file_how gives no reason");
  WENT(weir_file_close(file, NULL), "weir_file_close");
  EXPECT(os_open(at(test, "file"), OS_READ, &plain) == 0, "the file cannot be opened");
  WENT(weir_file_from((int)plain, WEIR_OPEN_READ, &second, NULL), "weir_file_from");
  EXPECT(weir_file_read(second, room, 100) == 100 && memcmp(room, test->scene->data, 100) == 0, "other bytes are read");
  WENT(weir_file_close(second, NULL), "weir_file_close");
  EXPECT(os_close(plain) == 0, "weir_file_close closed what is not its own");
  pread_past_cache(test);
}

/* ---- queues and pools ---------------------------------------------------------------------------------------------- */

enum { REQUESTS = 16, REQUEST_BYTES = 65536 };

struct requests {
  struct weir_request all[REQUESTS];
  struct weir_request *list[REQUESTS], *done[REQUESTS];
};

static void prepare_requests(struct requests *r, struct weir_file *file, struct weir_pool *pool) {
  for (unsigned i = 0; i < REQUESTS; i++) {
    r->all[i] = (struct weir_request){.operation = WEIR_OP_READ,
                                      .file = file,
                                      .data = weir_pool_get(pool),
                                      .size = REQUEST_BYTES,
                                      .offset = (uint64_t)(REQUESTS - 1 - i) * REQUEST_BYTES};
    r->list[i] = &r->all[i];
  }
}

static int64_t read_all_requests(struct selftest *test, struct requests *r, struct weir_queue *queue) {
  size_t taken = 0, back = 0;
  int code = weir_queue_submit(queue, r->list, REQUESTS, &taken);
  if (code < 0) return code;
  selftest_expect(test, taken == REQUESTS && weir_queue_pending(queue) == REQUESTS, "requests are missing in the queue");
  while (back < taken && (code = weir_queue_wait(queue, r->done, REQUESTS, 1)) > 0) back += (size_t)code;
  if (code < 0) return code;
  for (unsigned i = 0; i < REQUESTS; i++) {
    if (r->all[i].status < 0) return r->all[i].status;
    selftest_expect(test, r->all[i].transferred == REQUEST_BYTES, "a request came short");
    selftest_expect(test, memcmp(r->all[i].data, test->scene->data + r->all[i].offset, REQUEST_BYTES) == 0,
                    "other bytes are read");
  }
  selftest_expect(test, weir_queue_pending(queue) == 0, "requests stay in the queue");
  return 0;
}

static int64_t queue_reads(struct selftest *test, enum weir_strategy file_strategy, enum weir_strategy strategy) {
  const struct weir_open_options options = {.strategy = file_strategy};
  static struct requests requests;
  struct weir_file *file = NULL;
  struct weir_pool *pool = NULL;
  struct weir_queue *queue = NULL;
  int64_t code = weir_file_open(at(test, "queue"), &options, &file, NULL);
  if (code == 0) code = weir_pool_open(REQUEST_BYTES, REQUESTS, 0, &pool);
  struct weir_queue_options wish = {.depth = REQUESTS, .strategy = strategy, .file = file};
  if (code == 0) wish.buffers = weir_pool_memory(pool, &wish.buffers_bytes);
  if (code == 0) code = weir_queue_open(&wish, &queue, NULL);
  if (code == 0) prepare_requests(&requests, file, pool);
  if (code == 0) code = read_all_requests(test, &requests, queue);
  struct weir_choice how = {.reason = NULL};
  if (queue) weir_queue_how(queue, &how);
  if (queue) selftest_expect(test, how.reason != NULL, "weir_queue_how gives no reason");
  weir_queue_close(queue);
  if (pool) weir_pool_close(pool);
  (void)weir_file_close(file, NULL);
  return code;
}

static void check_queue(struct selftest *test) {
  if (!selftest_make(test, "queue", test->scene->data, SELFTEST_BYTES)) return;
  WENT(queue_reads(test, WEIR_BUFFERED, WEIR_THREADS), "a queue of threads");
  WENT(queue_reads(test, WEIR_BUFFERED, WEIR_AUTO), "weir_queue_open");
  selftest_cool(test, "queue");
  selftest_passed_by(test, "queue", queue_reads(test, WEIR_DIRECT, WEIR_AUTO));
}

static void check_ring(struct selftest *test) {
  if (!selftest_make(test, "queue", test->scene->data, SELFTEST_BYTES)) return;
  const char *why = NULL;
  if (!weir_can(at(test, "queue"), WEIR_FEATURE_RING, &why)) {
    test->result->here = SELFTEST_NO;
    snprintf(test->result->note, sizeof test->result->note, "io_uring: %s", why ? why : "refused");
    return;
  }
  WENT(queue_reads(test, WEIR_BUFFERED, WEIR_RING), "a queue of a ring");
}

static void check_pool(struct selftest *test) {
  struct weir_pool *pool = NULL;
  size_t bytes = 0;
  WENT(weir_pool_open(100000, 2, 0, &pool), "weir_pool_open");
  char *one = weir_pool_get(pool), *two = weir_pool_get(pool);
  const char *memory = weir_pool_memory(pool, &bytes);
  bool right = one && two && one != two && weir_pool_get(pool) == NULL && (uintptr_t)one % os_page_size() == 0;
  right = right && memory && bytes >= 200000 && one >= memory && one + 100000 <= memory + bytes;
  if (right) memset(one, 1, 100000);
  weir_pool_put(pool, one);
  right = right && weir_pool_get(pool) == one;
  weir_pool_close(pool);
  EXPECT(right, "buffers are not as promised");
}

/* ---- text and records ---------------------------------------------------------------------------------------------- */

static void check_text(struct selftest *test) {
  static const unsigned char wide[] = {0xff, 0xfe, 'h', 0, 0xe9, 0};
  struct weir_decoder decoder;
  struct weir_slice in = {(const char *)wide + 2, 4};
  struct weir_bytes bytes = {0};
  char room[16], *out = room;
  size_t left = sizeof room, mark = 0;
  EXPECT(weir_detect(wide, sizeof wide, &mark) == WEIR_UTF16LE && mark == 2, "weir_detect takes it for something else");
  EXPECT(strcmp(weir_encoding_name(WEIR_UTF8), "UTF-8") == 0, "weir_encoding_name has another name");
  EXPECT(weir_utf8_valid("h\xc3\xa9", 3) == 3 && weir_utf8_valid("h\xc3", 2) == 1, "weir_utf8_valid is wrong");
  WENT(weir_decoder_init(&decoder, WEIR_UTF16LE, WEIR_UTF8, false), "weir_decoder_init");
  WENT(weir_decode(&decoder, &in, &out, &left, true), "weir_decode");
  EXPECT(out - room == 3 && memcmp(room, "h\xc3\xa9", 3) == 0, "weir_decode gives other text");
  if (!selftest_make(test, "wide", wide, sizeof wide)) return;
  WENT(weir_read_text(at(test, "wide"), WEIR_ENCODING_UNKNOWN, false, &bytes, NULL), "weir_read_text");
  const bool same = bytes.size == 3 && memcmp(bytes.data, "h\xc3\xa9", 4) == 0;
  weir_bytes_free(&bytes);
  EXPECT(same, "weir_read_text gives other text");
}

static void walk_records(struct selftest *test, struct weir_records *records) {
  struct weir_slice record;
  EXPECT(weir_records_next(records, &record) == 1 && is_text(record, "abc"), "another record is read");
  EXPECT(weir_records_field(records, WEIR_RECORD_U8, 0, &record) == 1 && is_text(record, "de"), "another field is read");
  EXPECT(weir_records_next(records, &record) == 0, "there are more records than there are");
  EXPECT(weir_records_error(records) != NULL, "weir_records_error gives nothing");
}

static void check_records(struct selftest *test) {
  static const char packed[] = "\3\0abc\2de";
  const struct weir_record_format format = {.prefix = WEIR_RECORD_U16LE};
  struct weir_records *records = NULL;
  if (!selftest_make(test, "records", packed, sizeof packed - 1)) return;
  WENT(weir_records_open(at(test, "records"), &format, &records, NULL), "weir_records_open");
  walk_records(test, records);
  WENT(weir_records_close(records, NULL), "weir_records_close");
  WENT(weir_records_open_memory(packed, sizeof packed - 1, &format, &records, NULL), "weir_records_open_memory");
  walk_records(test, records);
  WENT(weir_records_close(records, NULL), "weir_records_close");
}

/* ---- what would be chosen ------------------------------------------------------------------------------------------ */

static void check_choice(struct selftest *test) {
  struct weir_choice how = {.reason = NULL};
  const char *reason = "";
  if (!selftest_make(test, "choice", test->scene->data, SELFTEST_BYTES)) return;
  for (int use = WEIR_USE_WHOLE; use <= WEIR_USE_COPY; use++) {
    WENT(weir_how(at(test, "choice"), (enum weir_use)use, 0, &how, NULL), "weir_how");
    EXPECT(how.reason && how.strategy != WEIR_AUTO, "weir_how chooses nothing");
  }
  for (int feature = WEIR_FEATURE_RING; feature <= WEIR_FEATURE_HUGE_PAGES; feature++) {
    const bool can = weir_can(at(test, "choice"), (enum weir_feature)feature, &reason);
    EXPECT(can || (reason && reason[0]), "weir_can says no without a reason");
  }
}

const struct selftest_check selftest_reading[] = {
    {"words", "weir_version weir_strerror weir_error_name weir_error_text weir_strategy_name", check_words},
    {"whole file", "weir_read_file weir_bytes_free", check_read_file},
    {"whole file, own memory", "weir_read_into", check_read_into},
    {"items", "weir_read_items", check_read_items},
    {"lines",
     "weir_lines_open weir_lines_next weir_lines_fill weir_lines_marks weir_lines_position weir_lines_error "
     "weir_lines_close",
     check_lines},
    {"lines of memory, of a file", "weir_lines_open_memory weir_lines_open_file", check_lines_elsewhere},
    {"lines in batches", "weir_lines_batch weir_batch_line weir_slice_copy weir_slice_field weir_slice_double",
     check_batches},
    {"all lines", "weir_read_lines weir_line_list_free weir_lines_each weir_count_lines weir_lines_parallel",
     check_all_lines},
    {"stream of blocks",
     "weir_stream_open weir_stream_open_file weir_stream_next weir_stream_how weir_stream_error weir_stream_close",
     check_stream},
    {"mapped view", "weir_view_open weir_view_close", check_view},
    {"file, read",
     "weir_file_open weir_file_from weir_file_read weir_file_read_to_end weir_file_pread weir_file_seek weir_file_tell "
     "weir_file_size weir_file_set_buffer weir_file_fill weir_file_error weir_file_how weir_file_close",
     check_file},
    {"queue of requests",
     "weir_queue_open weir_queue_submit weir_queue_wait weir_queue_pending weir_queue_how weir_queue_close", check_queue},
    {"queue by io_uring", "weir_queue_open weir_queue_submit weir_queue_wait", check_ring},
    {"pool of buffers", "weir_pool_open weir_pool_get weir_pool_put weir_pool_memory weir_pool_close", check_pool},
    {"text", "weir_detect weir_encoding_name weir_utf8_valid weir_decoder_init weir_decode weir_read_text", check_text},
    {"records",
     "weir_records_open weir_records_open_memory weir_records_next weir_records_field weir_records_error "
     "weir_records_close",
     check_records},
    {"what is chosen", "weir_how weir_can", check_choice},
    {NULL, NULL, NULL},
};
