/*
 * selftest_writing.c - the checks of `weir selftest` for calls of the library that write and copy. What they made is read
 * back without the library, past the cache where that is possible.
 */
#include <stdio.h>
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

/* Not whole pages, so that the end of direct writes is tried too. */
#define ODD_BYTES (SELFTEST_BYTES - 777)

static const char *at(struct selftest *test, const char *name) { return selftest_path(test, name); }

/* ---- whole files --------------------------------------------------------------------------------------------------- */

static void check_write_file(struct selftest *test) {
  const struct weir_write_options durable = {.flags = WEIR_DURABLE}, new = {.flags = WEIR_NEW};
  const unsigned char *data = test->scene->data;
  WENT(weir_write_file(at(test, "made"), "old", 3, NULL, NULL), "weir_write_file");
  EXPECT(weir_write_file(at(test, "made"), "new", 3, &new, NULL) == WEIR_EEXIST, "WEIR_NEW overwrites");
  const struct selftest_flushes watch = selftest_watch(test);
  selftest_flushed(test, &watch, weir_write_file(at(test, "made"), data, ODD_BYTES, &durable, NULL));
  selftest_holds(test, "made", data, ODD_BYTES);
}

static int count_temporary(void *context, const char *name) {
  *(int *)context += strncmp(name, ".saved.weir-", 12) == 0;
  return 0;
}

static void check_atomic(struct selftest *test) {
  const struct weir_write_options options = {.flags = WEIR_ATOMIC | WEIR_DURABLE};
  const unsigned char *data = test->scene->data;
  int left = 0;
  if (!selftest_make(test, "saved", "old", 3)) return;
  const struct selftest_flushes watch = selftest_watch(test);
  selftest_flushed(test, &watch, weir_write_file(at(test, "saved"), data, ODD_BYTES, &options, NULL));
  selftest_holds(test, "saved", data, ODD_BYTES);
  (void)os_list_directory(test->scene->directory, count_temporary, &left);
  EXPECT(left == 0, "a temporary file is left");
}

/* ---- the writer ---------------------------------------------------------------------------------------------------- */

/* All of the file, in pieces of odd sizes and by every way that there is. */
static bool put_pieces(struct weir_writer *writer, const unsigned char *data, size_t size) {
  size_t offset = 0;
  for (unsigned i = 0; offset < size; i++) {
    size_t piece = 1 + (size_t)i * 977 % 50000;
    if (piece > size - offset) piece = size - offset;
    char *room = i % 3 == 2 ? weir_writer_reserve(writer, piece) : NULL;
    if (i % 3 == 2 && !room) return false;
    if (room) memcpy(room, data + offset, piece);
    const int code = room         ? weir_writer_commit(writer, piece)
                     : i % 3 == 1 ? weir_writer_put_slow(writer, data + offset, piece)
                                  : weir_writer_put(writer, data + offset, piece);
    if (code < 0) return false;
    offset += piece;
  }
  return weir_writer_size(writer) == size;
}

static int write_by(struct selftest *test, const char *name, size_t size, const struct weir_writer_options *options) {
  struct weir_writer writer;
  struct weir_choice how = {.reason = NULL};
  int code = weir_writer_open(&writer, at(test, name), options, NULL);
  if (code < 0) return code;
  const bool put = put_pieces(&writer, test->scene->data, size);
  code = put ? weir_writer_flush(&writer) : weir_writer_error(&writer)->code;
  weir_writer_how(&writer, &how);
  selftest_expect(test, how.reason != NULL, "weir_writer_how gives no reason");
  selftest_expect(test, put || code < 0, "weir_writer_size counts something else");
  const int finished = weir_writer_finish(&writer, NULL);
  return code < 0 ? code : finished;
}

static void check_writer(struct selftest *test) {
  const struct weir_writer_options durable = {.flags = WEIR_DURABLE, .expected_bytes = ODD_BYTES};
  const struct weir_writer_options direct = {.strategy = WEIR_DIRECT};
  WENT(write_by(test, "written", ODD_BYTES, NULL), "weir_writer_open");
  selftest_holds(test, "written", test->scene->data, ODD_BYTES);
  const struct selftest_flushes watch = selftest_watch(test);
  selftest_flushed(test, &watch, write_by(test, "durable", ODD_BYTES, &durable));
  selftest_holds(test, "durable", test->scene->data, ODD_BYTES);
  /* An end that fills no block goes through the cache: whole blocks tell, and the odd end is only compared. */
  const int code = write_by(test, "direct", SELFTEST_BYTES, &direct);
  selftest_passed_by(test, "direct", code);
  if (code == 0) selftest_holds(test, "direct", test->scene->data, SELFTEST_BYTES);
  if (code == 0 && write_by(test, "direct-odd", ODD_BYTES, &direct) == 0)
    selftest_holds(test, "direct-odd", test->scene->data, ODD_BYTES);
}

static void check_writer_elsewhere(struct selftest *test) {
  const struct weir_open_options options = {.access = WEIR_OPEN_WRITE};
  const struct weir_writer_options new = {.flags = WEIR_NEW};
  struct weir_file *file = NULL;
  struct weir_writer writer;
  struct os_stat stat;
  WENT(weir_file_open(at(test, "lines"), &options, &file, NULL), "weir_file_open");
  WENT(weir_writer_open_file(&writer, file, NULL, NULL), "weir_writer_open_file");
  WENT(weir_writer_put_line(&writer, "one", 3), "weir_writer_put_line");
  WENT(weir_writer_put_record(&writer, WEIR_RECORD_U16BE, "two", 3), "weir_writer_put_record");
  WENT(weir_writer_finish(&writer, NULL), "weir_writer_finish");
  WENT(weir_file_close(file, NULL), "weir_file_close");
  selftest_holds(test, "lines", "one\n\0\3two", 9);
  WENT(weir_writer_open(&writer, at(test, "abandoned"), &new, NULL), "weir_writer_open");
  WENT(weir_writer_put(&writer, "x", 1), "weir_writer_put");
  weir_writer_abandon(&writer);
  EXPECT(os_stat_path(at(test, "abandoned"), &stat) == WEIR_ENOENT, "weir_writer_abandon leaves a file");
}

/* ---- files with a position ----------------------------------------------------------------------------------------- */

static void check_file_writing(struct selftest *test) {
  const struct weir_open_options options = {.access = WEIR_OPEN_WRITE};
  static char room[4096];
  const unsigned char *data = test->scene->data;
  struct weir_file *file = NULL;
  WENT(weir_file_open(at(test, "changed"), &options, &file, NULL), "weir_file_open");
  EXPECT(weir_file_write(file, data, 50000) == 50000, "weir_file_write comes short");
  EXPECT(weir_file_pwrite(file, data + 54096, ODD_BYTES - 54096, 54096) == (int64_t)(ODD_BYTES - 54096),
         "weir_file_pwrite comes short");
  memcpy(room, data + 50000, sizeof room);
  WENT(weir_file_set_buffer(file, room, sizeof room, false), "weir_file_set_buffer");
  EXPECT(weir_file_drain(file, sizeof room) == (int64_t)sizeof room, "weir_file_drain comes short");
  WENT(weir_file_resize(file, ODD_BYTES + 5000), "weir_file_resize");
  WENT(weir_file_resize(file, ODD_BYTES), "weir_file_resize");
  const struct selftest_flushes watch = selftest_watch(test);
  selftest_flushed(test, &watch, weir_file_sync(file));
  WENT(weir_file_close(file, NULL), "weir_file_close");
  selftest_holds(test, "changed", data, ODD_BYTES);
}

static void check_preallocate(struct selftest *test) {
  const struct weir_open_options options = {.access = WEIR_OPEN_WRITE};
  struct weir_file *file = NULL;
  WENT(weir_file_open(at(test, "reserved"), &options, &file, NULL), "weir_file_open");
  const int code = weir_file_preallocate(file, SELFTEST_BYTES);
  const int64_t size = weir_file_size(file);
  WENT(weir_file_close(file, NULL), "weir_file_close");
  WENT(code, "weir_file_preallocate");
  EXPECT(size == (int64_t)SELFTEST_BYTES, "weir_file_preallocate sets another size");
}

/* ---- copies -------------------------------------------------------------------------------------------------------- */

static void check_copy_file(struct selftest *test) {
  const struct weir_copy_options durable = {.flags = WEIR_COPY_VERIFY | WEIR_DURABLE};
  struct weir_copy_result result = {.method = NULL};
  char from[4400];
  if (!selftest_make(test, "source", test->scene->data, ODD_BYTES)) return;
  snprintf(from, sizeof from, "%s", at(test, "source"));
  const struct selftest_flushes watch = selftest_watch(test);
  const int code = weir_copy_file(from, at(test, "copy"), &durable, &result, NULL);
  selftest_flushed(test, &watch, code);
  EXPECT(code < 0 || (result.method && result.bytes == ODD_BYTES), "the result tells something else");
  selftest_holds(test, "copy", test->scene->data, ODD_BYTES);
  EXPECT(weir_copy_file(from, at(test, "copy"), NULL, NULL, NULL) == WEIR_EEXIST, "a copy overwrites");
}

static void check_copy(struct selftest *test) {
  struct weir_copy_result results[2];
  char paths[3][4400];
  if (!selftest_make(test, "spread", test->scene->data, ODD_BYTES)) return;
  static const char *const names[] = {"spread", "to-1", "to-2"};
  for (int i = 0; i < 3; i++) snprintf(paths[i], sizeof paths[i], "%s", at(test, names[i]));
  EXPECT(os_make_directory(paths[1]) == 0 && os_make_directory(paths[2]) == 0, "a directory cannot be made");
  const char *const sources[] = {paths[0]}, *const directories[] = {paths[1], paths[2]};
  WENT(weir_copy(sources, 1, directories, 2, NULL, NULL, results, NULL), "weir_copy");
  EXPECT(results[0].status == 0 && results[1].status == 0, "a result tells of an error");
  selftest_holds(test, "to-1/spread", test->scene->data, ODD_BYTES);
  selftest_holds(test, "to-2/spread", test->scene->data, ODD_BYTES);
}

const struct selftest_check selftest_writing[] = {
    {"whole file, written", "weir_write_file", check_write_file},
    {"whole file, replaced", "weir_write_file", check_atomic},
    {"writer",
     "weir_writer_open weir_writer_put weir_writer_put_slow weir_writer_reserve weir_writer_commit weir_writer_flush "
     "weir_writer_size weir_writer_finish weir_writer_error weir_writer_how",
     check_writer},
    {"writer onto a file", "weir_writer_open_file weir_writer_put_line weir_writer_put_record weir_writer_abandon",
     check_writer_elsewhere},
    {"file, written", "weir_file_write weir_file_pwrite weir_file_drain weir_file_resize weir_file_sync",
     check_file_writing},
    {"file, space reserved", "weir_file_preallocate", check_preallocate},
    {"copy", "weir_copy_file", check_copy_file},
    {"copy to many", "weir_copy", check_copy},
    {NULL, NULL, NULL},
};
