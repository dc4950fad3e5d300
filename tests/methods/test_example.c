/*
 * test_example.c - the worked example in CONTRIBUTING.md compiles against the public header alone and works.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <unistd.h>

#include "trial.h"

extern const struct weir_method methods_ahead_sequential;

static struct trial usual(uint64_t size, uint64_t block) {
  struct trial trial = {
      .method = &methods_ahead_sequential, .consumer = WEIR_CONSUMER_VERIFY, .size = size, .block = block, .instances = 3};
  trial_presets(&trial);
  return trial;
}

static void the_example_delivers_each_byte_once(void **unused) {
  static const uint64_t sizes[] = {0, 1, 4096, 99991}, blocks[] = {512, 1000, 65536};
  const unsigned descriptors = trial_descriptors();
  struct trial_result result;
  for (size_t i = 0; i < 4 * 3; i++) {
    const struct trial trial = usual(sizes[i / 3], blocks[i % 3]);
    trial_run(&trial, &result);
    assert_int_equal(result.end, TRIAL_DONE);
    assert_true(result.covered == trial.size && result.twice == 0 && result.wrong == 0);
    assert_true(result.operations == result.expected_operations);
  }
  assert_int_equal(trial_descriptors(), descriptors);
}

static void the_example_notices_the_end_of_the_file(void **unused) {
  struct trial trial = usual(99991, 4096);
  struct trial_result result;
  trial_lay_out(&trial);
  trial.as_it_is = true;
  assert_int_equal(truncate(trial_path(), 50000), 0);
  trial_run(&trial, &result);
  assert_int_equal(result.end, TRIAL_RUN);
  assert_int_equal(result.error, -ENODATA);
  assert_true(result.reason.text[0] != 0);
}

static int begin(void **unused) { return trial_begin(); }
static int finish(void **unused) {
  trial_finish();
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_example_delivers_each_byte_once),
      cmocka_unit_test(the_example_notices_the_end_of_the_file),
  };
  return cmocka_run_group_tests_name("example", tests, begin, finish);
}
