/*
 * test_lib_pages.c - memory of the library: what is kept, what is terminated, what is touched, and pools from many threads.
 */
#define _GNU_SOURCE
#include "lib/internal.h"
#include "tests/lib/inject.h"

/* ---- struct weir_bytes ---- */

static void nothing_is_freed_without_harm(void **state) {
  struct weir_bytes bytes = {0};
  weir_bytes_free(NULL);
  weir_bytes_free(&bytes);
  assert_int_equal(weir__bytes_reserve(&bytes, 10, 0, 0), 0);
  weir_bytes_free(&bytes);
  assert_null(bytes.data);
  assert_int_equal(bytes.size + bytes.capacity + bytes.kind, 0);
  weir_bytes_free(&bytes);
}

static const size_t sizes[] = {0,   1,       4095,        4096,    4097,    65536,         MIB - 1,
                               MIB, MIB + 1, 2 * MIB - 1, 2 * MIB, 3 * MIB, 4 * MIB + 4096};

static void growing_keeps_what_was_there(void **state) {
  static const unsigned flags[] = {0, WEIR_HUGE, WEIR_SMALL_PAGES};
  for (size_t f = 0; f < 3; f++) {
    struct weir_bytes bytes = {0};
    size_t before = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
      assert_int_equal(weir__bytes_reserve(&bytes, sizes[i], before, flags[f]), 0);
      assert_true(bytes.capacity >= sizes[i]);
      for (size_t at = 0; at < before; at += 997) assert_int_equal((unsigned char)bytes.data[at], (unsigned char)(at * 7));
      for (size_t at = 0; at < sizes[i]; at++) bytes.data[at] = (char)(at * 7);
      bytes.data[sizes[i]] = '\0'; /* there is room for it */
      before = sizes[i];
    }
    weir_bytes_free(&bytes);
  }
}

static void enough_memory_is_kept(void **state) {
  struct weir_bytes bytes = {0};
  assert_int_equal(weir__bytes_reserve(&bytes, 5 * MIB, 0, 0), 0);
  const char *data = bytes.data;
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    assert_int_equal(weir__bytes_reserve(&bytes, sizes[i], 0, 0), 0);
    assert_ptr_equal(bytes.data, data);
  }
  weir_bytes_free(&bytes);
}

/* Memory of an earlier, longer content must not show behind a shorter one. */
static void every_size_is_terminated(void **state) {
  struct weir_bytes bytes = {0};
  for (size_t i = 0; i < 2 * (sizeof sizes / sizeof sizes[0]); i++) {
    const size_t count = sizeof sizes / sizeof sizes[0], size = sizes[i < count ? i : 2 * count - 1 - i];
    assert_int_equal(weir__bytes_room(&bytes, size, 0, 0), 0);
    if (size) memset(bytes.data, 'x', size);
    weir__bytes_end(&bytes, size, size);
    assert_int_equal(bytes.size, size);
    assert_int_equal(bytes.data[size], '\0');
  }
  /* written further than the size, as direct reads do */
  assert_int_equal(weir__bytes_room(&bytes, 2 * MIB, 0, 0), 0);
  memset(bytes.data, 'x', 2 * MIB);
  weir__bytes_end(&bytes, MIB, 2 * MIB);
  assert_int_equal(bytes.data[MIB], '\0');
  /* by who does not say how far */
  assert_int_equal(weir__bytes_reserve(&bytes, 2 * MIB, 0, 0), 0);
  memset(bytes.data, 'x', 2 * MIB);
  weir__bytes_end(&bytes, MIB, 0);
  assert_int_equal(bytes.data[MIB], '\0');
  weir_bytes_free(&bytes);
}

static uint64_t faults(void) {
  struct os_usage usage;
  os_usage(&usage);
  return usage.minor_faults;
}

static void zero_byte_costs_no_page(void **state) {
  struct weir_bytes bytes = {0};
  assert_int_equal(weir__bytes_room(&bytes, 4 * MIB, 0, WEIR_SMALL_PAGES), 0);
  memset(bytes.data, 'x', 4 * MIB);
  (void)faults();
  const uint64_t before = faults();
  weir__bytes_end(&bytes, 4 * MIB, 4 * MIB);
  assert_int_equal(faults() - before, 0);
  assert_int_equal(bytes.data[4 * MIB], '\0');
  weir_bytes_free(&bytes);
}

static void reused_memory_faults_no_more(void **state) {
  struct weir_bytes bytes = {0};
  for (unsigned round = 0; round < 3; round++) {
    const uint64_t before = faults();
    assert_int_equal(weir__bytes_room(&bytes, 4 * MIB, 0, WEIR_SMALL_PAGES), 0);
    memset(bytes.data, 'x', 4 * MIB);
    weir__bytes_end(&bytes, 4 * MIB, 4 * MIB);
    if (round == 0) assert_true(faults() - before >= 4 * MIB / os_page_size() / 16); /* some systems map several at once */
    if (round > 0) assert_in_range(faults() - before, 0, 8);
  }
  weir_bytes_free(&bytes);
}

static void impossible_sizes_are_out_of_memory(void **state) {
  static const size_t odd[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 4096, SIZE_MAX - 2 * MIB, SIZE_MAX / 2 + 1};
  struct weir_bytes bytes = {0};
  void *pages;
  for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
    assert_int_equal(weir__bytes_reserve(&bytes, odd[i], 0, 0), WEIR_ENOMEM);
    assert_int_equal(weir__pages_get(odd[i], 0, &pages), WEIR_ENOMEM);
  }
  weir_bytes_free(&bytes);
}

static void failed_growth_leaves_the_old(void **state) {
  struct weir_bytes bytes = {0};
  assert_int_equal(weir__bytes_reserve(&bytes, 4, 0, 0), 0);
  memcpy(bytes.data, "good", 5);
  bytes.size = 4;
  inject_memory_arm(1);
  assert_int_equal(weir__bytes_reserve(&bytes, 1000, 4, 0), WEIR_ENOMEM);
  assert_true(inject_memory_disarm());
  inject_begin();
  inject_arm("mmap", 1, ENOMEM);
  assert_int_equal(weir__bytes_reserve(&bytes, 3 * MIB, 4, WEIR_SMALL_PAGES), WEIR_ENOMEM);
  assert_true(inject_disarm());
  assert_string_equal(bytes.data, "good");
  assert_int_equal(bytes.size, 4);
  weir_bytes_free(&bytes);
}

static void pages_are_aligned_and_all_there(void **state) {
  static const unsigned flags[] = {0, WEIR_HUGE, WEIR_SMALL_PAGES};
  for (size_t f = 0; f < 3; f++) {
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
      void *pages;
      assert_int_equal(weir__pages_get(sizes[i], flags[f], &pages), 0);
      assert_int_equal((uintptr_t)pages % os_page_size(), 0);
      memset(pages, 'x', sizes[i]);
      weir__pages_put(pages, sizes[i]);
    }
  }
  weir__pages_put(NULL, 100);
}

static void mapped_memory_is_given_back(void **state) {
  const uint64_t before = os_resident_bytes();
  for (unsigned i = 0; i < 40; i++) {
    struct weir_bytes bytes = {0};
    assert_int_equal(weir__bytes_reserve(&bytes, 8 * MIB + 4096 * i, 0, 0), 0);
    memset(bytes.data, 'x', 8 * MIB);
    weir_bytes_free(&bytes);
  }
  assert_true(os_resident_bytes() < before + 64 * MIB);
}

/* ---- copies of slices ---- */

static void copies_are_terminated(void **state) {
  char *copy = weir_slice_copy((struct weir_slice){"abc", 2});
  assert_string_equal(copy, "ab");
  free(copy);
  copy = weir_slice_copy((struct weir_slice){NULL, 0});
  assert_string_equal(copy, "");
  free(copy);
  assert_null(weir_slice_copy((struct weir_slice){"x", SIZE_MAX}));
  inject_memory_arm(1);
  assert_null(weir_slice_copy((struct weir_slice){"x", 1}));
  inject_memory_disarm();
}

/* ---- pools ---- */

static void pool_gives_each_buffer_once(void **state) {
  struct weir_pool *pool;
  void *buffers[5];
  assert_int_equal(weir_pool_open(5000, 5, 0, &pool), 0);
  size_t bytes;
  char *memory = weir_pool_memory(pool, &bytes);
  assert_int_equal(bytes, 5 * 8192);
  for (unsigned i = 0; i < 5; i++) {
    buffers[i] = weir_pool_get(pool);
    assert_non_null(buffers[i]);
    assert_int_equal((uintptr_t)buffers[i] % os_page_size(), 0);
    assert_in_range((char *)buffers[i] - memory, 0, 4 * 8192);
    for (unsigned j = 0; j < i; j++) assert_ptr_not_equal(buffers[i], buffers[j]);
    memset(buffers[i], 'x', 5000);
  }
  assert_null(weir_pool_get(pool));
  weir_pool_put(pool, buffers[3]);
  weir_pool_put(pool, buffers[1]);
  assert_ptr_equal(weir_pool_get(pool), buffers[1]); /* the one that was used last */
  assert_ptr_equal(weir_pool_get(pool), buffers[3]);
  assert_int_equal(*(char *)buffers[3], 'x'); /* not zeroed again */
  assert_null(weir_pool_get(pool));
  weir_pool_close(pool); /* with those that are out */
  weir_pool_close(NULL);
}

static void pool_takes_only_what_it_gave(void **state) {
  struct weir_pool *pool;
  char other;
  assert_int_equal(weir_pool_open(4096, 2, WEIR_SMALL_PAGES, &pool), 0);
  char *first = weir_pool_get(pool);
  weir_pool_put(pool, NULL);
  weir_pool_put(pool, &other);
  weir_pool_put(pool, first + 1);
  weir_pool_put(pool, first);
  weir_pool_put(pool, first); /* twice */
  assert_non_null(weir_pool_get(pool));
  assert_non_null(weir_pool_get(pool));
  assert_null(weir_pool_get(pool));
  weir_pool_close(pool);
}

static void pool_refuses_what_makes_no_sense(void **state) {
  struct weir_pool *pool;
  assert_int_equal(weir_pool_open(0, 1, 0, &pool), WEIR_EINVAL);
  assert_null(pool);
  assert_int_equal(weir_pool_open(1, 0, 0, &pool), WEIR_EINVAL);
  assert_int_equal(weir_pool_open(1, 1, WEIR_EXACT, &pool), WEIR_EINVAL);
  assert_int_equal(weir_pool_open(1, 1, 0, NULL), WEIR_EINVAL);
  assert_int_equal(weir_pool_open(SIZE_MAX, 1, 0, &pool), WEIR_ENOMEM);
  assert_int_equal(weir_pool_open(SIZE_MAX / 2, 3, 0, &pool), WEIR_ENOMEM);
  inject_memory_arm(1);
  assert_int_equal(weir_pool_open(4096, 1, 0, &pool), WEIR_ENOMEM);
  inject_memory_disarm();
  inject_begin();
  inject_arm("mmap", 1, ENOMEM);
  assert_int_equal(weir_pool_open(4096, 1, 0, &pool), WEIR_ENOMEM);
  assert_true(inject_disarm());
  assert_null(pool);
}

#define HAMMER_THREADS 4
#define HAMMER_ROUNDS 20000

/* Whoever has a buffer writes his name into it and finds it again: nobody else has it. */
static void *hammer(void *context) {
  struct weir_pool *pool = context;
  char name;
  for (unsigned i = 0; i < HAMMER_ROUNDS; i++) {
    void **first = weir_pool_get(pool), **second = weir_pool_get(pool);
    if (first) *first = &name;
    if (second) *second = &name + 1;
    if (i % 64 == 0) os_thread_yield();
    if ((first && *first != &name) || (second && *second != &name + 1) || (first && first == second)) return pool;
    if (first) weir_pool_put(pool, first);
    if (second) weir_pool_put(pool, second);
  }
  return NULL;
}

static void *hammer_checked(void *context) {
  void **result = context;
  *result = hammer(*result);
  return NULL;
}

static void pool_is_safe_from_all_threads(void **state) {
  struct weir_pool *pool;
  struct os_thread *threads[HAMMER_THREADS];
  void *results[HAMMER_THREADS];
  assert_int_equal(weir_pool_open(64, 5, 0, &pool), 0);
  for (unsigned i = 0; i < HAMMER_THREADS; i++) {
    results[i] = pool;
    assert_int_equal(os_thread_start(hammer_checked, &results[i], &threads[i]), 0);
  }
  for (unsigned i = 0; i < HAMMER_THREADS; i++) assert_int_equal(os_thread_join(threads[i]), 0);
  for (unsigned i = 0; i < HAMMER_THREADS; i++) assert_null(results[i]);
  for (unsigned i = 0; i < 5; i++) assert_non_null(weir_pool_get(pool));
  assert_null(weir_pool_get(pool));
  weir_pool_close(pool);
}

/* ---- who a process is ---- */

static int is_another_process(void *context) {
  const int *before = context;
  const int now = weir__process();
  return now == *before || now != weir__process();
}

static void forked_processes_differ(void **state) {
  int before = weir__process();
  assert_int_equal(before, weir__process());
  for (unsigned i = 0; i < 2; i++) {
    os_process child;
    struct os_exit status;
    assert_int_equal(os_process_fork(is_another_process, &before, &child), 0);
    assert_int_equal(os_process_wait(child, UINT64_MAX, &status), 0);
    assert_false(status.crashed);
    assert_int_equal(status.code, 0);
    assert_int_equal(before, weir__process());
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_is_freed_without_harm),
      cmocka_unit_test(growing_keeps_what_was_there),
      cmocka_unit_test(enough_memory_is_kept),
      cmocka_unit_test(every_size_is_terminated),
      cmocka_unit_test(zero_byte_costs_no_page),
      cmocka_unit_test(reused_memory_faults_no_more),
      cmocka_unit_test(impossible_sizes_are_out_of_memory),
      cmocka_unit_test(failed_growth_leaves_the_old),
      cmocka_unit_test(pages_are_aligned_and_all_there),
      cmocka_unit_test(mapped_memory_is_given_back),
      cmocka_unit_test(copies_are_terminated),
      cmocka_unit_test(pool_gives_each_buffer_once),
      cmocka_unit_test(pool_takes_only_what_it_gave),
      cmocka_unit_test(pool_refuses_what_makes_no_sense),
      cmocka_unit_test(pool_is_safe_from_all_threads),
      cmocka_unit_test(forked_processes_differ),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
