/*
 * fuzz.h - what the fuzz targets of the library share.
 */
#ifndef WEIR_TESTS_FUZZ_H
#define WEIR_TESTS_FUZZ_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUIRE(condition)     \
  do {                         \
    if (!(condition)) abort(); \
  } while (0)

static inline void put_file(const char *path, const void *data, size_t size) {
  FILE *file = fopen(path, "wb");
  REQUIRE(file && fwrite(data, 1, size, file) == size && fclose(file) == 0);
}

#endif
