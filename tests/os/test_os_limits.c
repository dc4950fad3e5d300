#define _GNU_SOURCE
/* test_os_limits.c - limits of the process are told as they are set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "os/os.h"

static void lower(int resource, rlim_t value) {
  struct rlimit limit;
  assert_int_equal(getrlimit((__rlimit_resource_t)resource, &limit), 0);
  limit.rlim_cur = value;
  assert_int_equal(setrlimit((__rlimit_resource_t)resource, &limit), 0);
}

static void limits_are_told(void **state) {
  struct os_limits limits;
  lower(RLIMIT_MEMLOCK, 12288);
  lower(RLIMIT_NOFILE, 77);
  lower(RLIMIT_FSIZE, 1 << 20);
  os_limits(&limits);
  assert_int_equal(limits.locked_bytes, 12288);
  assert_int_equal(limits.open_files, 77);
  assert_int_equal(limits.file_bytes, 1 << 20);
  struct rlimit address;
  assert_int_equal(getrlimit(RLIMIT_AS, &address), 0);
  if (address.rlim_cur == RLIM_INFINITY) assert_true(limits.address_bytes == UINT64_MAX);
}

static void machine_has_sane_limits(void **state) {
  struct os_machine machine;
  os_machine(&machine);
  assert_true(machine.group_limit_bytes > 0);
  assert_true(machine.group_limit_bytes == UINT64_MAX || machine.group_limit_bytes < machine.memory_bytes);
  assert_true(machine.processor_hz == 0 || (machine.processor_hz > 1000000 && machine.processor_hz < 100000000000));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(machine_has_sane_limits), cmocka_unit_test(limits_are_told)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
