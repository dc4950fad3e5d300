/*
 * test_os_map.c - maps, private memory, and what a truncated map does to a process (and only to that one).
 */
#define _GNU_SOURCE
#include <signal.h>

#include "check.h"

static void empty_map_is_valid(void **state) {
  os_file file = make_file(*state, "empty", 0);
  void *view = NULL;
  assert_int_equal(os_map(file, 0, 0, &view), 0);
  assert_non_null(view);
  assert_int_equal(os_map_advise(view, 0, OS_ADVICE_RANDOM), 0);
  assert_int_equal(os_map_sync(view, 0), 0);
  assert_int_equal(os_unmap(view, 0), 0);
  assert_int_equal(os_close(file), 0);
}

static void map_shows_and_changes_the_file(void **state) {
  os_file file = make_file(*state, "mapped", 10000);
  void *view;
  assert_int_equal(os_map(file, 10000, OS_MAP_WRITE | OS_MAP_POPULATE, &view), 0);
  unsigned char *bytes = view;
  assert_int_equal(bytes[9999], (unsigned char)(9999 * 7));
  bytes[5001] = 99;
  assert_int_equal(os_map_sync(bytes + 5001, 1), 0); /* an address inside a page */
  assert_int_equal(os_map_advise(bytes + 123, 4567, OS_ADVICE_SEQUENTIAL), 0);
  unsigned char byte = 0;
  assert_int_equal(os_pread(file, &byte, 1, 5001), 1);
  assert_int_equal(byte, 99);
  assert_int_equal(os_unmap(view, 10000), 0);
  assert_int_equal(os_close(file), 0);
}

static void what_is_written_to_a_private_map_stays_there(void **state) {
  os_file file = make_file(*state, "private", 10000);
  void *view;
  assert_int_equal(os_map(file, 10000, OS_MAP_WRITE | OS_MAP_PRIVATE, &view), 0);
  unsigned char *bytes = view, byte = 0;
  assert_int_equal(bytes[5001], (unsigned char)(5001 * 7));
  bytes[5001] = 99;
  assert_int_equal(os_pread(file, &byte, 1, 5001), 1);
  assert_int_equal(byte, (unsigned char)(5001 * 7));
  assert_int_equal(os_unmap(view, 10000), 0);
  assert_int_equal(os_close(file), 0);
}

/* Wherever a part begins and ends, it shows these bytes, and changes only them. */
static void a_part_may_begin_anywhere(void **state) {
  static const uint64_t offsets[] = {0, 1, 4095, 4096, 4097, 8191, 9999};
  os_file file = make_file(*state, "parts", 10000);
  void *view;
  for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
    const size_t length = (size_t)(10000 - offsets[i]);
    assert_int_equal(os_map_part(file, offsets[i], length, OS_MAP_WRITE, &view), 0);
    unsigned char *bytes = view, byte = 0;
    assert_int_equal(bytes[0], (unsigned char)(offsets[i] * 7));
    assert_int_equal(bytes[length - 1], (unsigned char)(9999 * 7));
    bytes[0] ^= 0xff;
    assert_int_equal(os_map_sync(bytes, 1), 0);
    assert_int_equal(os_pread(file, &byte, 1, offsets[i]), 1);
    assert_int_equal(byte, (unsigned char)~(offsets[i] * 7));
    bytes[0] ^= 0xff;
    assert_int_equal(os_unmap(view, length), 0);
  }
  assert_int_equal(os_map_part(file, UINT64_MAX, 1, 0, &view), -EOVERFLOW);
  assert_int_equal(os_close(file), 0);
}

static void writable_map_needs_a_file_open_for_both(void **state) {
  assert_int_equal(os_close(make_file(*state, "read-only", 100)), 0);
  os_file file = open_in(*state, "read-only", OS_READ);
  void *view;
  assert_int_equal(os_map(file, 100, OS_MAP_WRITE, &view), -EACCES);
  assert_int_equal(os_map(file, 100, 0, &view), 0);
  assert_int_equal(os_unmap(view, 100), 0);
  assert_int_equal(os_close(file), 0);
}

static unsigned interruptions;
static int interrupted_msync(void *address, size_t length, int flags) {
  assert_int_equal((uintptr_t)address % os_page_size(), 0);
  if (interruptions == 0) return 0;
  interruptions--;
  errno = EINTR;
  return -1;
}

static void interrupted_sync_of_a_map_is_repeated(void **state) {
  replace("msync", (os_function *)interrupted_msync);
  interruptions = 3;
  char byte;
  assert_int_equal(os_map_sync(&byte, 1), 0);
  assert_int_equal(interruptions, 0);
  restore("msync");
}

static int read_past_the_end(void *directory) {
  (void)signal(SIGBUS, SIG_DFL); /* a sanitizer may have taken it */
  os_file file = make_file(directory, "cut", 8192);
  void *view;
  if (os_map(file, 8192, 0, &view) || os_resize(file, 0)) return 1;
  volatile unsigned char *bytes = view;
  return bytes[4096];
}

static void truncated_map_crashes_the_child_by_name(void **state) {
  os_process process;
  struct os_exit status;
  assert_int_equal(os_process_fork(read_past_the_end, *state, &process), 0);
  assert_int_equal(os_process_wait(process, UINT64_MAX, &status), 0);
  assert_true(status.crashed);
  assert_string_equal(os_crash_name(status.code), "SIGBUS");
}

static void memory_is_zeroed_aligned_and_given_back(void **state) {
  size_t huge = os_huge_page_size();
  static const size_t lengths[] = {1, 4096, 5 * 1024 * 1024 + 1};
  for (size_t i = 0; i < 3; i++) {
    for (unsigned flags = 0; flags < 4; flags++) {
      void *memory;
      assert_int_equal(os_memory_get(lengths[i], flags, &memory), 0);
      assert_int_equal((uintptr_t)memory % os_page_size(), 0);
      if ((flags & OS_MEMORY_HUGE) && huge) assert_int_equal((uintptr_t)memory % huge, 0);
      unsigned char *bytes = memory;
      assert_true(bytes[0] == 0 && bytes[lengths[i] - 1] == 0);
      bytes[lengths[i] - 1] = 1;
      assert_int_equal(os_memory_put(memory, lengths[i]), 0);
    }
  }
  void *memory;
  assert_int_equal(os_memory_get(SIZE_MAX - 10, OS_MEMORY_HUGE, &memory), -ENOMEM);
  assert_int_equal(os_memory_get(0, OS_MEMORY_HUGE, &memory), -EINVAL);
}

static int raise_shared(void *context) {
  *(int *)context = 42;
  return 0;
}

static void shared_memory_is_seen_by_forked_processes(void **state) {
  void *memory;
  os_process process;
  assert_int_equal(os_memory_get(4096, OS_MEMORY_SHARED, &memory), 0);
  assert_int_equal(os_process_fork(raise_shared, memory, &process), 0);
  assert_int_equal(os_process_wait(process, UINT64_MAX, NULL), 0);
  assert_int_equal(*(int *)memory, 42);
  assert_int_equal(os_memory_put(memory, 4096), 0);
}

static void memory_file_is_mapped(void **state) {
  os_file file;
  void *view;
  assert_int_equal(os_memory_file("test", 4096, &file), 0);
  assert_int_equal(os_map(file, 4096, OS_MAP_WRITE, &view), 0);
  ((char *)view)[5] = 'x';
  char byte = 0;
  assert_int_equal(os_pread(file, &byte, 1, 5), 1);
  assert_int_equal(byte, 'x');
  assert_int_equal(os_unmap(view, 4096), 0);
  assert_int_equal(os_close(file), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(empty_map_is_valid),
      cmocka_unit_test(map_shows_and_changes_the_file),
      cmocka_unit_test(what_is_written_to_a_private_map_stays_there),
      cmocka_unit_test(a_part_may_begin_anywhere),
      cmocka_unit_test(writable_map_needs_a_file_open_for_both),
      cmocka_unit_test(interrupted_sync_of_a_map_is_repeated),
      cmocka_unit_test(truncated_map_crashes_the_child_by_name),
      cmocka_unit_test(memory_is_zeroed_aligned_and_given_back),
      cmocka_unit_test(shared_memory_is_seen_by_forked_processes),
      cmocka_unit_test(memory_file_is_mapped),
  };
  return cmocka_run_group_tests_name("maps and memory", tests, make_scratch, remove_scratch);
}
