/*
 * check.h - what the tests of os share: cmocka with all it needs before it, and a scratch directory in the current one.
 */
#ifndef WEIR_TESTS_CHECK_H
#define WEIR_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka comes after the four above */
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/os.h"

#define KIB ((size_t)1024)
#define MIB (KIB * 1024)

/* Leaves the test as skipped, with the reason on the screen. */
#define skip_because(...) (printf("[  SKIPPED ] "), printf(__VA_ARGS__), printf("\n"), skip())

/* Replaces a system call for the rest of the test; restore puts it back. */
static inline void replace(const char *name, os_function *function) { assert_non_null(os_override(name, function)); }
static inline void restore(const char *name) { assert_non_null(os_override(name, NULL)); }

/* Group set-up and tear-down: *state is the path of a fresh directory. */
static inline int make_scratch(void **state) {
  char name[] = "os-test-XXXXXX";
  *state = mkdtemp(name) ? strdup(name) : NULL;
  return *state ? 0 : -1;
}
static inline int remove_scratch(void **state) {
  int error = os_remove_tree(*state);
  if (error) printf("%s is left behind: %s\n", (char *)*state, strerror(-error));
  free(*state);
  return error;
}

struct path {
  char text[128];
};
static inline struct path path_in(const char *directory, const char *name) {
  struct path path;
  int length = snprintf(path.text, sizeof path.text, "%s/%s", directory, name);
  assert_in_range(length, 0, sizeof path.text - 1);
  return path;
}

static inline os_file open_in(const char *directory, const char *name, unsigned flags) {
  os_file file;
  assert_int_equal(os_open(path_in(directory, name).text, flags, &file), 0);
  return file;
}

/* A file of these bytes, each the low byte of its offset times 7, synced. */
static inline os_file make_file(const char *directory, const char *name, size_t length) {
  os_file file = open_in(directory, name, OS_READ | OS_WRITE | OS_CREATE | OS_TRUNCATE);
  unsigned char *data = malloc(length + 1);
  assert_non_null(data);
  for (size_t i = 0; i < length; i++) data[i] = (unsigned char)(i * 7);
  assert_int_equal(os_pwrite_full(file, data, length, 0), (int64_t)length);
  free(data);
  assert_int_equal(os_sync(file, true), 0);
  return file;
}

#endif
