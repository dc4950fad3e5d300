/*
 * What one does with a line: columns and numbers. Values are compared bit by bit with what strtod makes of them.
 */
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "weir.h"

/* The linker puts these in the place of the allocator. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
static bool memory_fails;
void *__wrap_malloc(size_t size) { return memory_fails ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) { return memory_fails ? NULL : __real_calloc(count, size); }
void *__wrap_realloc(void *old, size_t size) { return memory_fails ? NULL : __real_realloc(old, size); }

static struct weir_slice slice(const char *text) { return (struct weir_slice){text, strlen(text)}; }

static void expect_fields(struct weir_slice rest, const char *const *wanted) {
  struct weir_slice field;
  for (; *wanted; wanted++) {
    assert_true(weir_slice_field(&rest, &field));
    assert_int_equal(field.size, strlen(*wanted));
    assert_memory_equal(field.data, *wanted, field.size);
  }
  field = slice("kept");
  assert_false(weir_slice_field(&rest, &field));
  assert_int_equal(field.size, 4);
  assert_int_equal(rest.size, 0);
}

static void columns_are_what_stands_between_spaces(void **state) {
  (void)state;
  expect_fields(slice("one two  three"), (const char *const[]){"one", "two", "three", NULL});
  expect_fields(slice("\t one\v\f\r\n2 "), (const char *const[]){"one", "2", NULL});
  expect_fields(slice("x"), (const char *const[]){"x", NULL});
  expect_fields(slice(" \t"), (const char *const[]){NULL});
  expect_fields(slice(""), (const char *const[]){NULL});
  expect_fields((struct weir_slice){NULL, 0}, (const char *const[]){NULL});
  expect_fields((struct weir_slice){"a b and more", 3}, (const char *const[]){"a", "b", NULL});
  expect_fields(slice("\xc3\xa9\xa0 \x85"), (const char *const[]){"\xc3\xa9\xa0", "\x85", NULL}); /* no spaces of Latin-1 */
}

static void expect_number(const char *text) {
  double value = 7, wanted = strtod(text, NULL);
  if (weir_slice_double(slice(text), &value)) fail_msg("'%s' is refused", text);
  if (memcmp(&value, &wanted, sizeof value) != 0) fail_msg("'%s' is %.17g, not %.17g", text, value, wanted);
}

static void numbers_are_the_nearest(void **state) {
  (void)state;
  static const char *const texts[] = {
      "0",
      "-0",
      "+1",
      "1.",
      ".5",
      "-.5",
      "007",
      "3.14159",
      "0.1",
      "123456.789e3",
      "1e22",
      "1e23",
      "1e-22",
      "1e-23",
      "9007199254740993",
      "9007199254740992",
      "9007199254740991.5",
      "0.00000000000000000000000000012345",
      "1.7976931348623157e308",
      "2.2250738585072011e-308",
      "4.9e-324",
      "1e999",
      "-1e999",
      "1e-999",
      "inf",
      "-INF",
      "infinity",
      "179769313486231570814527423731704356798070567525844996598917476803157e240",
      "0.3000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) expect_number(texts[i]);
  double value;
  assert_int_equal(weir_slice_double(slice("nan"), &value), 0);
  assert_true(isnan(value));
  for (uint64_t i = 0, x = 88172645463325252u; i < 20000; i++) {
    char text[64];
    x ^= x << 13, x ^= x >> 7, x ^= x << 17; /* xorshift64, G. Marsaglia 2003 */
    (void)snprintf(text, sizeof text, "%s%llu.%0*llu", x & 1 ? "-" : "", (unsigned long long)(x >> (1 + x % 60)),
                   (int)(1 + x % 12), (unsigned long long)(x % 9973));
    expect_number(text);
  }
}

static void what_is_no_number_is_refused(void **state) {
  (void)state;
  static const char *const texts[] = {"",    " ",   " 1",   "1 ",    "1,5", "1.2.3", "-",      "+",   ".",   "e5", "1e",
                                      "--1", "+-1", "0x10", "0X1p3", "one", "1_000", "nan(1)", "12a", "\n1", "1\n"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    double value = 7;
    if (weir_slice_double(slice(texts[i]), &value) != WEIR_EFORMAT) fail_msg("'%s' is taken", texts[i]);
    assert_true(value == 7);
  }
  double value = 7;
  assert_int_equal(weir_slice_double((struct weir_slice){"1\0002", 3}, &value), WEIR_EFORMAT);
  assert_int_equal(weir_slice_double((struct weir_slice){NULL, 0}, &value), WEIR_EFORMAT);
}

static void only_the_slice_is_read(void **state) {
  (void)state;
  double value = 0;
  assert_int_equal(weir_slice_double((struct weir_slice){"1234567", 3}, &value), 0);
  assert_true(value == 123);
  assert_int_equal(weir_slice_double((struct weir_slice){"1e55", 3}, &value), 0);
  assert_true(value == 1e5);
}

static void no_memory_is_told(void **state) {
  (void)state;
  char digits[100];
  double value = 7;
  memset(digits, '1', sizeof digits);
  memory_fails = true;
  const int few = weir_slice_double((struct weir_slice){digits, 40}, &value);
  const int many = weir_slice_double((struct weir_slice){digits, sizeof digits}, &value);
  const char *copy = weir_slice_copy((struct weir_slice){digits, 1});
  memory_fails = false;
  assert_int_equal(few, 0);
  assert_int_equal(many, WEIR_ENOMEM);
  assert_null(copy);
}

static void a_decimal_comma_changes_nothing(void **state) {
  (void)state;
  double value = 0;
  if (!setlocale(LC_NUMERIC, "de_DE.UTF-8")) {
    printf("SKIP: no locale with a decimal comma is installed\n");
    return;
  }
  const int code = weir_slice_double(slice("1.5e300"), &value), comma = weir_slice_double(slice("1,5e300"), &value);
  setlocale(LC_NUMERIC, "C");
  assert_int_equal(code, 0);
  assert_true(value == 1.5e300);
  assert_int_equal(comma, WEIR_EFORMAT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(columns_are_what_stands_between_spaces),
      cmocka_unit_test(numbers_are_the_nearest),
      cmocka_unit_test(what_is_no_number_is_refused),
      cmocka_unit_test(only_the_slice_is_read),
      cmocka_unit_test(no_memory_is_told),
      cmocka_unit_test(a_decimal_comma_changes_nothing),
  };
  return cmocka_run_group_tests_name("lib slice", tests, NULL, NULL);
}
