/*
 * copy_to_many.c - copies files into many directories at once: copy_to_many FILE ... --to DIRECTORY ... Each file is read
 * once. A directory that is full or broken does not hold the others.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir.h>

int main(int argc, char **argv) {
  int files = 0;
  while (files + 1 < argc && strcmp(argv[files + 1], "--to") != 0) files++;
  int directories = argc - files - 2;
  if (files < 1 || directories < 1) return 2;
  const char *const *from = (const char *const *)argv + 1, *const *to = from + files + 1;
  size_t count = (size_t)files * (size_t)directories;
  struct weir_copy_result *results = calloc(count, sizeof *results);
  struct weir_copy_options options = {.flags = WEIR_COPY_REPLACE | WEIR_COPY_VERIFY | WEIR_ATOMIC};
  if (!results) return 1;
  int code = weir_copy(from, (size_t)files, to, (size_t)directories, NULL, &options, results, NULL);
  for (size_t i = 0; i < count; i++) {
    const struct weir_copy_result *result = &results[i];
    const char *status = result->status < 0 ? weir_strerror(result->status) : result->verified ? "verified" : "copied";
    printf("%s to %s: %s\n", from[i / (size_t)directories], to[i % (size_t)directories], status);
  }
  free(results);
  return code < 0;
}
