/*
 * test_lib_failure.c - codes as text, what failed as one line, and the checks of flags that all calls share.
 */
#include "lib/internal.h"
#include "tests/os/check.h"

static const struct {
  int code;
  const char *name, *text;
} listed[] = {
#define ROW(name, value, text) {name, #name, text},
    WEIR_ERRORS(ROW)
#undef ROW
};
#define LISTED (sizeof listed / sizeof listed[0])

static void version_is_that_of_the_header(void **state) {
  char text[32];
  (void)snprintf(text, sizeof text, "%d.%d.%d", WEIR_VERSION_MAJOR, WEIR_VERSION_MINOR, WEIR_VERSION_PATCH);
  assert_string_equal(weir_version(), text);
}

static void every_code_has_its_own_name_and_text(void **state) {
  for (size_t i = 0; i < LISTED; i++) {
    assert_string_equal(weir_strerror(listed[i].code), listed[i].text);
    assert_string_equal(weir_error_name(listed[i].code), listed[i].name);
    assert_true(listed[i].code < 0);
    for (size_t j = 0; j < i; j++) {
      assert_int_not_equal(listed[i].code, listed[j].code);
      assert_string_not_equal(listed[i].text, listed[j].text);
    }
  }
}

static void codes_are_the_systems_own(void **state) {
  assert_int_equal(WEIR_ENOENT, -ENOENT);
  assert_int_equal(WEIR_EAGAIN, -EAGAIN);
  assert_int_equal(WEIR_EOVERFLOW, -EOVERFLOW);
  assert_int_equal(WEIR_EOPNOTSUPP, -EOPNOTSUPP);
  assert_int_equal(WEIR_EDQUOT, -EDQUOT);
  assert_int_equal(WEIR_ESTALE, -ESTALE);
  assert_int_equal(WEIR_ECANCELED, -ECANCELED);
  assert_int_equal(WEIR_EILSEQ, -EILSEQ);
  assert_int_equal(WEIR_ELOOP, -ELOOP);
  assert_int_equal(WEIR_ETIMEDOUT, -ETIMEDOUT);
}

static bool is_listed(int code) {
  for (size_t i = 0; i < LISTED; i++) {
    if (listed[i].code == code) return true;
  }
  return false;
}

static void unlisted_codes_are_numbers(void **state) {
  for (int code = 1; code < 1000; code++) {
    char text[16];
    if (is_listed(-code)) continue;
    (void)snprintf(text, sizeof text, "error %d", code);
    assert_string_equal(weir_strerror(-code), text);
    assert_string_equal(weir_error_name(-code), "");
  }
  static const int odd[] = {0, 1, INT32_MAX, INT32_MIN, -1000, -4999, -5000, -6000};
  for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) assert_non_null(weir_strerror(odd[i]));
  assert_string_equal(weir_error_name(INT32_MIN), "");
  assert_string_equal(weir_error_name(0), "WEIR_OK");
}

static void text_tells_operation_path_place_and_reason(void **state) {
  struct weir_error error;
  char text[512];
  assert_int_equal(weir__fail(&error, WEIR_EIO, "read", "notes.txt", 4096, 100, 7), WEIR_EIO);
  assert_int_equal(error.transferred, 7);
  assert_int_equal(weir_error_text(&error, text, sizeof text), strlen("read notes.txt at 4096: input/output error"));
  assert_string_equal(text, "read notes.txt at 4096: input/output error");
  (void)weir__fail(&error, WEIR_EIO, "read", "notes.txt", 0, 100, 0);
  (void)weir_error_text(&error, text, sizeof text);
  assert_string_equal(text, "read notes.txt at 0: input/output error");
  (void)weir__fail(&error, WEIR_ENOENT, "open", "a\nb\033", 0, 0, 0);
  (void)weir_error_text(&error, text, sizeof text);
  assert_string_equal(text, "open a?b?: no such file or directory");
  (void)weir__fail(&error, -200, "sync", NULL, 0, 0, 0);
  (void)weir_error_text(&error, text, sizeof text);
  assert_string_equal(text, "sync: error 200");
  assert_int_equal(weir_error_text(NULL, text, sizeof text), strlen("no error"));
  assert_string_equal(text, "no error");
  error = (struct weir_error){0};
  assert_int_equal(weir_error_text(&error, text, sizeof text), strlen("no error"));
}

static void text_is_cut_as_snprintf_cuts(void **state) {
  struct weir_error error;
  char whole[512], part[512];
  (void)weir__fail(&error, WEIR_EIO, "read", "notes.txt", UINT64_MAX, 1, 0);
  int length = weir_error_text(&error, whole, sizeof whole);
  for (size_t size = 0; size <= (size_t)length + 2; size++) {
    memset(part, 'x', sizeof part);
    assert_int_equal(weir_error_text(&error, size ? part : NULL, size), length);
    if (size == 0) continue;
    assert_int_equal(strlen(part), size > (size_t)length ? (size_t)length : size - 1);
    assert_memory_equal(part, whole, strlen(part));
    assert_int_equal(part[size], 'x');
  }
}

static void long_paths_keep_their_end_and_whole_characters(void **state) {
  struct weir_error error;
  char path[600];
  for (size_t before = 200; before < 300; before++) {
    size_t at = 0;
    memset(path, 'a', before);
    for (at = before; at + 2 < 560; at += 2) memcpy(path + at, "\xc3\xa4", 2);
    memcpy(path + at, "end", 4);
    (void)weir__fail(&error, WEIR_EIO, "open", path, 0, 0, 0);
    assert_in_range(strlen(error.path), 250, 255);
    assert_string_equal(error.path + strlen(error.path) - 3, "end");
    assert_int_not_equal((unsigned char)error.path[0] & 0xc0, 0x80);
  }
  memset(path, 'b', 255);
  path[255] = '\0';
  (void)weir__fail(&error, WEIR_EIO, "open", path, 0, 0, 0);
  assert_string_equal(error.path, path);
  memset(path, 0x80, 599); /* no whole character anywhere */
  path[599] = '\0';
  (void)weir__fail(&error, WEIR_EIO, "open", path, 0, 0, 0);
  assert_string_equal(error.path, "");
  (void)weir__fail(&error, WEIR_EIO, "open", "first", 0, 0, 0);
  (void)weir__fail(&error, WEIR_EIO, "open", error.path, 0, 0, 0); /* its own path */
  assert_string_equal(error.path, "first");
  assert_int_equal(weir__fail(NULL, WEIR_EPERM, "open", "x", 0, 0, 0), WEIR_EPERM);
}

static void unknown_flags_and_reserved_words_are_refused(void **state) {
  uint64_t reserved[4] = {0};
  assert_int_equal(weir__check(0, 0, NULL), 0);
  assert_int_equal(weir__check(WEIR_HUGE, WEIR_HUGE | WEIR_EXACT, reserved), 0);
  assert_int_equal(weir__check(WEIR_HUGE | 1u << 30, WEIR_HUGE, reserved), WEIR_EINVAL);
  for (unsigned i = 0; i < 4; i++) {
    reserved[i] = 1;
    assert_int_equal(weir__check(0, 0, reserved), WEIR_EINVAL);
    reserved[i] = 0;
  }
}

static void strategies_have_names(void **state) {
  assert_string_equal(weir_strategy_name(WEIR_AUTO), "auto");
  assert_string_equal(weir_strategy_name(WEIR_BUFFERED), "buffered");
  assert_string_equal(weir_strategy_name(WEIR_MAPPED), "mapped");
  assert_string_equal(weir_strategy_name(WEIR_DIRECT), "direct");
  assert_string_equal(weir_strategy_name(WEIR_UNCACHED), "uncached");
  assert_string_equal(weir_strategy_name(WEIR_RING), "ring");
  assert_string_equal(weir_strategy_name(WEIR_THREADS), "threads");
  assert_string_equal(weir_strategy_name((enum weir_strategy)99), "unknown");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(version_is_that_of_the_header),
      cmocka_unit_test(every_code_has_its_own_name_and_text),
      cmocka_unit_test(codes_are_the_systems_own),
      cmocka_unit_test(unlisted_codes_are_numbers),
      cmocka_unit_test(text_tells_operation_path_place_and_reason),
      cmocka_unit_test(text_is_cut_as_snprintf_cuts),
      cmocka_unit_test(long_paths_keep_their_end_and_whole_characters),
      cmocka_unit_test(unknown_flags_and_reserved_words_are_refused),
      cmocka_unit_test(strategies_have_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
