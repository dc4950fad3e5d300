/*
 * test_os_allocations.c - every way of asking for memory is counted once, with its bytes, by all threads, between begin and
 * end and at no other time; and what is given is still right. TAKES_COUNTS says whether the build has the counting.
 */
#define _GNU_SOURCE
#include <malloc.h>

#include "check.h"

static void *volatile kept; /* so that no call is left out by the compiler */
static volatile size_t huge = SIZE_MAX / 2 + 2;

static void expect_counted(uint64_t count, uint64_t bytes) {
  struct os_allocations taken;
  os_allocations_end(&taken);
  assert_int_equal(taken.count, count);
  assert_int_equal(taken.bytes, bytes);
}

static void begin(void) {
  if (!TAKES_COUNTS) skip_because("built without counting");
  assert_int_equal(os_allocations_begin(), 0);
}

static void without_the_file_it_is_unknown(void **state) {
  struct os_allocations taken = {7, 7};
  if (TAKES_COUNTS) skip_because("built with counting");
  assert_int_equal(os_allocations_begin(), -EOPNOTSUPP);
  os_allocations_end(&taken);
  assert_int_equal(taken.count, 0);
}

static void plain_calls(void **state) {
  begin();
  kept = malloc(100);
  free(kept);
  expect_counted(1, 100);
  begin();
  kept = calloc(10, 30);
  free(kept);
  expect_counted(1, 300);
  begin();
  kept = malloc(5000000); /* glibc maps this */
  free(kept);
  free(NULL);
  expect_counted(1, 5000000);
}

static void growing_asks_for_all_of_the_new_size(void **state) {
  begin();
  char *data = realloc(NULL, 10);
  memcpy(data, "123456789", 10);
  data = realloc(data, 4000000);
  assert_string_equal(data, "123456789");
  data = reallocarray(data, 100, 70);
  assert_string_equal(data, "123456789");
  kept = realloc(data, 0); /* frees it */
  expect_counted(3, 10 + 4000000 + 7000);
}

static void aligned_calls(void **state) {
  void *memory = NULL;
  begin();
  assert_int_equal(posix_memalign(&memory, 4096, 100), 0);
  assert_int_equal((uintptr_t)memory % 4096, 0);
  free(memory);
  memory = aligned_alloc(256, 512);
  assert_int_equal((uintptr_t)memory % 256, 0);
  free(memory);
  memory = memalign(1024, 10);
  assert_int_equal((uintptr_t)memory % 1024, 0);
  assert_true(malloc_usable_size(memory) >= 10);
  free(memory);
  expect_counted(3, 622);
}

static void refused_calls_fail_as_they_should(void **state) {
  void *memory = &memory;
  begin();
  assert_int_equal(posix_memalign(&memory, 24, 100), EINVAL);
  assert_int_equal(posix_memalign(&memory, 4, 100), EINVAL);
  assert_ptr_equal(memory, &memory);
  errno = 0;
  assert_null(calloc(huge, 2));
  assert_int_equal(errno, ENOMEM);
  errno = 0;
  assert_null(reallocarray(NULL, huge, 2));
  assert_int_equal(errno, ENOMEM);
  expect_counted(0, 0);
  begin();
  errno = 5;
  assert_int_equal(posix_memalign(&memory, 64, huge), ENOMEM);
  assert_int_equal(errno, 5);
  struct os_allocations taken;
  os_allocations_end(&taken);
}

static void calls_of_the_c_library(void **state) {
  begin();
  kept = strdup("four");
  free(kept);
  expect_counted(1, 5);
  struct os_allocations taken;
  begin();
  FILE *file = fopen("/dev/null", "r");
  assert_non_null(file);
  (void)getc(file);
  fclose(file);
  os_allocations_end(&taken);
  assert_in_range(taken.count, 2, 4); /* the stream and its buffer */
  assert_true(taken.bytes >= 1024);
}

static void pages_from_the_system(void **state) {
  void *memory;
  begin();
  assert_int_equal(os_memory_get(MIB, 0, &memory), 0);
  os_memory_put(memory, MIB);
  assert_int_equal(os_memory_get(8 * MIB, OS_MEMORY_HUGE, &memory), 0);
  os_memory_put(memory, 8 * MIB);
  assert_int_equal(os_memory_get_huge(3 * MIB, os_huge_page_size(), &memory), 0);
  os_memory_put(memory, 3 * MIB);
  expect_counted(3, 12 * MIB);
}

static void *take_many(void *context) {
  for (int i = 0; i < 1000; i++) {
    char *volatile memory = malloc(16);
    free(memory);
  }
  return NULL;
}

static void all_threads(void **state) {
  struct os_thread *threads[4];
  struct os_allocations alone, taken;
  begin(); /* what starting them takes */
  for (int i = 0; i < 4; i++) assert_int_equal(os_thread_start(take_many, NULL, &threads[i]), 0);
  for (int i = 0; i < 4; i++) os_thread_join(threads[i]);
  os_allocations_end(&alone);
  assert_true(alone.count >= 4000 && alone.bytes >= 64000);
  assert_true(alone.count < 4100);
  begin();
  os_allocations_end(&taken);
  assert_int_equal(taken.count, 0);
}

static void nothing_is_counted_outside(void **state) {
  begin();
  struct os_allocations taken;
  os_allocations_end(&taken);
  kept = malloc(100);
  free(kept);
  os_allocations_end(&taken);
  assert_int_equal(taken.count, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_the_file_it_is_unknown),
      cmocka_unit_test(plain_calls),
      cmocka_unit_test(growing_asks_for_all_of_the_new_size),
      cmocka_unit_test(aligned_calls),
      cmocka_unit_test(refused_calls_fail_as_they_should),
      cmocka_unit_test(calls_of_the_c_library),
      cmocka_unit_test(pages_from_the_system),
      cmocka_unit_test(all_threads),
      cmocka_unit_test(nothing_is_counted_outside),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
