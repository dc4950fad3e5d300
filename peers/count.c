/*
 * count.c - the line counter that is compared with wc -l, a whole program each: count THREADS FILE.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "weir.h"

int main(int argc, char **argv) {
  struct weir_error error;
  uint64_t lines;
  char text[400];
  if (argc != 3) return 2;
  if (weir_count_lines(argv[2], (unsigned)atoi(argv[1]), &lines, &error) < 0) {
    weir_error_text(&error, text, sizeof text);
    fprintf(stderr, "count: %s\n", text);
    return 1;
  }
  printf("%" PRIu64 " %s\n", lines, argv[2]);
  return 0;
}
