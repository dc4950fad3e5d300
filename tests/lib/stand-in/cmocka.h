/*
 * cmocka.h - as much of cmocka as the tests of the library use, for builds that have none: 32 bits. It runs the tests one
 * after the other in the same way, and stops a test, not the program, at what is not so.
 */
#ifndef WEIR_TESTS_CMOCKA_H
#define WEIR_TESTS_CMOCKA_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
  const char *name;
  void (*test)(void **state);
  int (*setup)(void **state);
  int (*teardown)(void **state);
  void *state;
};

static jmp_buf stand_in_end; /* where a test goes that failed (1) or was skipped (2) */

static inline void stand_in_check(int good, const char *text, const char *file, int line) {
  if (good) return;
  printf("%s:%d: not so: %s\n", file, line, text);
  longjmp(stand_in_end, 1);
}

static inline int stand_in_strings(const char *a, const char *b) {
  if (strcmp(a, b) == 0) return 1;
  printf("\"%s\" != \"%s\"\n", a, b);
  return 0;
}

static inline int stand_in_integers(uintmax_t a, uintmax_t b) {
  if (a == b) return 1;
  printf("%#" PRIxMAX " != %#" PRIxMAX "\n", a, b);
  return 0;
}

#define STAND_IN_CHECK(good, text) stand_in_check(good, text, __FILE__, __LINE__)
#define assert_true(x) STAND_IN_CHECK((x) ? 1 : 0, #x)
#define assert_false(x) STAND_IN_CHECK((x) ? 0 : 1, "not " #x)
#define assert_null(x) STAND_IN_CHECK((x) == NULL, #x " is NULL")
#define assert_non_null(x) STAND_IN_CHECK((x) != NULL, #x " is not NULL")
#define assert_ptr_equal(a, b) STAND_IN_CHECK((const void *)(a) == (const void *)(b), #a " == " #b)
#define assert_ptr_not_equal(a, b) STAND_IN_CHECK((const void *)(a) != (const void *)(b), #a " != " #b)
#define assert_int_equal(a, b) STAND_IN_CHECK(stand_in_integers((uintmax_t)(a), (uintmax_t)(b)), #a " == " #b)
#define assert_int_not_equal(a, b) STAND_IN_CHECK((uintmax_t)(a) != (uintmax_t)(b), #a " != " #b)
#define assert_string_equal(a, b) STAND_IN_CHECK(stand_in_strings(a, b), #a " == " #b)
#define assert_string_not_equal(a, b) STAND_IN_CHECK(strcmp(a, b) != 0, #a " != " #b)
#define assert_memory_equal(a, b, size) STAND_IN_CHECK(memcmp(a, b, size) == 0, #a " == " #b)
#define assert_memory_not_equal(a, b, size) STAND_IN_CHECK(memcmp(a, b, size) != 0, #a " != " #b)
#define assert_in_range(x, low, high) \
  STAND_IN_CHECK((uintmax_t)(x) >= (uintmax_t)(low) && (uintmax_t)(x) <= (uintmax_t)(high), #x " in " #low " ... " #high)
#define assert_not_in_range(x, low, high) \
  STAND_IN_CHECK((uintmax_t)(x) < (uintmax_t)(low) || (uintmax_t)(x) > (uintmax_t)(high), #x " not in " #low " ... " #high)
#define fail() STAND_IN_CHECK(0, "reached")
#define fail_msg(...) (printf(__VA_ARGS__), printf("\n"), fail())
#define print_message(...) printf(__VA_ARGS__)
#define print_error(...) printf(__VA_ARGS__)
#define skip() longjmp(stand_in_end, 2)

#define cmocka_unit_test(test) \
  { #test, test, NULL, NULL, NULL }
#define cmocka_unit_test_setup(test, setup) \
  { #test, test, setup, NULL, NULL }
#define cmocka_unit_test_teardown(test, teardown) \
  { #test, test, NULL, teardown, NULL }
#define cmocka_unit_test_setup_teardown(test, setup, teardown) \
  { #test, test, setup, teardown, NULL }

/* 0: passed; 1: failed; 2: skipped. */
static inline int stand_in_run(const struct CMUnitTest *test, void *group) {
  void *volatile state = group;
  void *own = group;
  if (test->setup && test->setup(&own)) return 1;
  state = own;
  volatile int result = setjmp(stand_in_end);
  if (result == 0) {
    test->test(&own);
  }
  own = state;
  if (test->teardown && test->teardown(&own)) result = 1;
  if (result) printf("%s: %s\n", test->name, result == 2 ? "SKIPPED" : "failed");
  return result;
}

static inline int stand_in_group(const struct CMUnitTest *tests, size_t count, int (*setup)(void **),
                                 int (*teardown)(void **)) {
  void *state = NULL;
  int failed = 0;
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (setup && setup(&state)) return 1;
  for (size_t i = 0; i < count; i++) failed += stand_in_run(&tests[i], state) == 1;
  if (teardown && teardown(&state)) failed++;
  return failed;
}

#define cmocka_run_group_tests(tests, setup, teardown) \
  stand_in_group(tests, sizeof(tests) / sizeof((tests)[0]), setup, teardown)
#define cmocka_run_group_tests_name(name, tests, setup, teardown) cmocka_run_group_tests(tests, setup, teardown)

#endif
