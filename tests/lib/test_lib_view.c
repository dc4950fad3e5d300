/*
 * test_lib_view.c - mapped views: any offset and length, files that cannot be mapped, files that are cut, and every call
 * that fails.
 */
#define _GNU_SOURCE
#include "lib/internal.h"
#include "tests/lib/inject.h"

static char directory[] = "lib-view-XXXXXX";

static int set_up(void **state) { return mkdtemp(directory) ? 0 : -1; }
static int tear_down(void **state) { return os_remove_tree(directory); }

static char byte_at(uint64_t offset) { return (char)(offset * 7 + offset / 251); }

static struct path make(const char *name, size_t size) {
  const struct path path = path_in(directory, name);
  char *data = malloc(size + 1);
  assert_non_null(data);
  for (size_t i = 0; i < size; i++) data[i] = byte_at(i);
  put_content(path.text, data, size);
  free(data);
  return path;
}

static void check_bytes(const char *data, size_t size, uint64_t offset) {
  for (size_t i = 0; i < size; i++) {
    if (data[i] != byte_at(offset + i)) fail_msg("byte %zu is wrong", i);
  }
}

/* What a view of these parts of a file of 10000 bytes must show. */
static void check_parts(const char *path) {
  static const uint64_t offsets[] = {0, 1, 4095, 4096, 4097, 8192, 9999, 10000, 10001, INT64_MAX, UINT64_MAX};
  static const size_t lengths[] = {0, 1, 4096, 9999, 10000, 10001, SIZE_MAX};
  for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
    for (size_t j = 0; j < sizeof lengths / sizeof lengths[0]; j++) {
      for (unsigned kind = 0; kind < 8; kind++) {
        struct weir_view view;
        const uint64_t left = offsets[i] < 10000 ? 10000 - offsets[i] : 0;
        const uint64_t size = lengths[j] && lengths[j] < left ? lengths[j] : left;
        assert_int_equal(weir_view_open(&view, path, offsets[i], lengths[j], (enum weir_hint)(kind / 2), kind % 2, NULL), 0);
        assert_non_null(view.data);
        assert_int_equal(view.size, size);
        check_bytes(view.data, view.size, offsets[i]);
        assert_int_equal(weir_view_close(&view), 0);
        assert_null(view.data);
        assert_int_equal(weir_view_close(&view), 0);
      }
    }
  }
}

static void any_part_is_shown(void **state) { check_parts(make("parts", 10000).text); }

static void *no_file_map(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
  if (fd < 0) return mmap(address, length, protection, flags, fd, offset);
  errno = ENODEV;
  return MAP_FAILED;
}

static void what_cannot_be_mapped_is_read(void **state) {
  const struct path path = make("unmapped", 10000);
  replace("mmap", (os_function *)no_file_map);
  check_parts(path.text);
  restore("mmap");
}

static void empty_files_have_an_empty_view(void **state) {
  struct weir_view view;
  assert_int_equal(weir_view_open(&view, make("empty", 0).text, 0, 0, WEIR_HINT_NONE, true, NULL), 0);
  assert_non_null(view.data);
  assert_int_equal(view.size, 0);
  assert_int_equal(weir_view_close(&view), 0);
}

static void files_without_a_size_are_shown(void **state) {
  struct weir_view view;
  assert_int_equal(weir_view_open(&view, "/proc/self/maps", 0, 0, WEIR_HINT_NONE, true, NULL), 0);
  assert_true(view.size > 100);
  assert_non_null(memchr(view.data, '\n', view.size));
  assert_int_equal(weir_view_close(&view), 0);
  struct weir_error error = {.code = 77};
  assert_int_equal(weir_view_open(&view, "/proc/self/maps", 0, 10, WEIR_HINT_NONE, false, &error), 0);
  assert_int_equal(view.size, 10);
  assert_int_equal(error.code, 77);
  assert_int_equal(weir_view_close(&view), 0);
}

static void what_is_no_regular_file_is_refused(void **state) {
  struct weir_view view;
  struct weir_error error;
  assert_int_equal(weir_view_open(&view, directory, 0, 0, WEIR_HINT_NONE, false, &error), WEIR_EISDIR);
  assert_int_equal(weir_view_close(&view), 0);
  assert_int_equal(weir_view_open(&view, "/dev/zero", 0, 0, WEIR_HINT_NONE, false, &error), WEIR_ENOTREG);
  assert_int_equal(weir_view_open(&view, path_in(directory, "none").text, 0, 0, WEIR_HINT_NONE, false, &error), WEIR_ENOENT);
  assert_int_equal(weir_view_open(NULL, directory, 0, 0, WEIR_HINT_NONE, false, &error), WEIR_EINVAL);
  assert_int_equal(weir_view_open(&view, directory, 0, 0, (enum weir_hint)9, false, &error), WEIR_EINVAL);
  assert_int_equal(weir_view_close(NULL), 0);
  view = (struct weir_view){0};
  assert_int_equal(weir_view_close(&view), 0);
}

/* The size is told when the file was longer than it is by the time its pages are brought in. */
static int tell_double(int fd, struct stat *out) {
  const int result = fstat(fd, out);
  if (S_ISREG(out->st_mode)) out->st_size *= 2;
  return result;
}

static int no_populate(void *address, size_t length, int advice) {
  if (advice != 22) return madvise(address, length, advice);
  errno = EINVAL;
  return -1;
}

static void a_cut_file_is_an_error_and_no_signal(void **state) {
  const struct path path = make("cut", 40960);
  struct weir_view view;
  struct weir_error error;
  replace("fstat", (os_function *)tell_double);
  assert_int_equal(weir_view_open(&view, path.text, 0, 0, WEIR_HINT_NONE, true, &error), WEIR_ETRUNCATED);
  replace("madvise", (os_function *)no_populate); /* older systems */
  assert_int_equal(weir_view_open(&view, path.text, 0, 0, WEIR_HINT_NONE, true, &error), WEIR_ETRUNCATED);
  restore("fstat");
  assert_int_equal(weir_view_open(&view, path.text, 0, 0, WEIR_HINT_NONE, true, &error), 0);
  restore("madvise");
  check_bytes(view.data, view.size, 0);
  assert_int_equal(weir_view_close(&view), 0);
}

static void sizes_beyond_memory_are_errors(void **state) {
  const struct path path = path_in(directory, "huge");
  struct weir_view view;
  struct weir_error error;
  if (sizeof(size_t) > 4) skip_because("every file fits into 64 bits");
  os_file file = open_in(directory, "huge", OS_WRITE | OS_CREATE);
  const int resized = os_resize(file, UINT64_C(5) << 30);
  assert_int_equal(os_close(file), 0);
  if (resized) skip_because("no sparse file of 5 GiB here");
  assert_int_equal(weir_view_open(&view, path.text, 0, 0, WEIR_HINT_NONE, false, &error), WEIR_EOVERFLOW);
  assert_int_equal(weir_view_open(&view, path.text, UINT64_C(9) << 29, 100, WEIR_HINT_NONE, false, &error), 0);
  assert_int_equal(view.size, 100);
  assert_int_equal(weir_view_close(&view), 0);
}

static void every_call_that_fails_leaves_nothing_open(void **state) {
  static const char *const names[] = {"open", "fstat", "mmap"};
  const struct path path = make("failing", 10000);
  const unsigned before = open_files();
  inject_begin();
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    struct weir_view view;
    struct weir_error error;
    inject_arm(names[i], 1, ENOMEM);
    const int code = weir_view_open(&view, path.text, 0, 0, WEIR_HINT_NONE, false, &error);
    assert_true(inject_disarm());
    assert_int_equal(code, strcmp(names[i], "mmap") == 0 ? 0 : WEIR_ENOMEM); /* then it is read */
    if (!code) check_bytes(view.data, view.size, 0);
    assert_int_equal(weir_view_close(&view), 0);
    assert_int_equal(open_files(), before);
  }
  struct weir_view view;
  replace("mmap", (os_function *)no_file_map);
  inject_memory_arm(1);
  assert_int_equal(weir_view_open(&view, path.text, 0, 0, WEIR_HINT_NONE, false, NULL), WEIR_ENOMEM);
  inject_memory_disarm();
  inject_begin();
  assert_int_equal(open_files(), before);
  assert_null(view.data);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_part_is_shown),
      cmocka_unit_test(what_cannot_be_mapped_is_read),
      cmocka_unit_test(empty_files_have_an_empty_view),
      cmocka_unit_test(files_without_a_size_are_shown),
      cmocka_unit_test(what_is_no_regular_file_is_refused),
      cmocka_unit_test(a_cut_file_is_an_error_and_no_signal),
      cmocka_unit_test(sizes_beyond_memory_are_errors),
      cmocka_unit_test(every_call_that_fails_leaves_nothing_open),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
