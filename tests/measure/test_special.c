/* test_special.c - which file systems and data are called special, and that looking at a file leaves its cache as it was. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "measure/special.h"

#define SIZE ((size_t)1 << 20)

static const char *kind_of(const char *type) {
  struct os_place place = {.read_ahead_kib = -1};
  strncpy(place.file_system, type, sizeof place.file_system - 1);
  const char *kind = special_kind(&place);
  return kind ? kind : "";
}

static void file_systems_have_kinds(void **state) {
  static const char *const expected[][2] = {{"ext4", ""},
                                            {"xfs", ""},
                                            {"tmpfs", ""},
                                            {"fusectl", ""},
                                            {"", ""},
                                            {"overlay", "overlay"},
                                            {"fuse.bindfs", "fuse"},
                                            {"fuseblk", "fuse"},
                                            {"fuse", "fuse"},
                                            {"nfs4", "network"},
                                            {"cifs", "network"},
                                            {"9p", "network"},
                                            {"virtiofs", "network"}};
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
    assert_string_equal(kind_of(expected[i][0]), expected[i][1]);
}

static bool packs(const char *options) {
  struct os_place place = {.read_ahead_kib = -1};
  strncpy(place.options, options, sizeof place.options - 1);
  return special_packs(&place);
}

static void compression_is_a_mount_option(void **state) {
  assert_true(packs("rw,compress=zstd:3"));
  assert_true(packs("compress-force=lzo,rw"));
  assert_true(packs("rw,compress"));
  assert_false(packs(""));
  assert_false(packs("rw,nocompress,relatime"));
  assert_false(packs("rw,compress=no"));
  assert_false(packs("rw,compress=none"));
}

/* A file of `size` bytes in this directory, random or all alike, synced. */
static os_file make_file(size_t size, bool random) {
  os_file file;
  unsigned char *data = malloc(size);
  assert_non_null(data);
  uint64_t word = 1;
  for (size_t i = 0; i < size; i++) {
    word = word * UINT64_C(6364136223846793005) + 1442695040888963407u;
    data[i] = random ? (unsigned char)(word >> 56) : 'a';
  }
  assert_int_equal(os_open("special-file", OS_READ | OS_WRITE | OS_CREATE | OS_TRUNCATE, &file), 0);
  assert_int_equal(os_pwrite_full(file, data, size, 0), size);
  assert_int_equal(os_sync(file, true), 0);
  os_remove("special-file");
  free(data);
  return file;
}

static void data_that_pack_are_told_from_data_that_do_not(void **state) {
  static const size_t sizes[] = {1, 4095, 4096, 5000, SIZE, SIZE + 1};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    double ratio = -1;
    os_file file = make_file(sizes[i], true);
    int code = special_ratio(file, sizes[i], &ratio);
    os_close(file);
    if (code == -ENOSYS) skip();
    assert_int_equal(code, 0);
    assert_true(ratio >= SPECIAL_COMPRESSIBLE);
    file = make_file(sizes[i], false);
    assert_int_equal(special_ratio(file, sizes[i], &ratio), 0);
    os_close(file);
    if (sizes[i] > 100) assert_true(ratio < 0.1);
  }
  os_file file = make_file(1, true);
  double ratio;
  assert_true(special_ratio(file, 0, &ratio) < 0);
  os_close(file);
}

static void looking_leaves_the_cache_as_it_was(void **state) {
  struct os_cache before, after;
  double ratio;
  os_file file = make_file(SIZE, true);
  if (os_cache_state(file, 0, SIZE, &before) < 0) skip();
  assert_int_equal(os_cache_evict(file, 0, SIZE), 0);
  os_cache_state(file, 0, SIZE, &before);
  int code = special_ratio(file, SIZE, &ratio);
  os_cache_state(file, 0, SIZE, &after);
  os_close(file);
  if (code == -ENOSYS || before.cached_bytes > 0) skip(); /* in memory: nothing can be taken out */
  assert_int_equal(code, 0);
  assert_int_equal(after.cached_bytes, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(file_systems_have_kinds),
      cmocka_unit_test(compression_is_a_mount_option),
      cmocka_unit_test(data_that_pack_are_told_from_data_that_do_not),
      cmocka_unit_test(looking_leaves_the_cache_as_it_was),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
