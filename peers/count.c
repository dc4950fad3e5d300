/*
 * count.c - the line counter that is compared with wc -l, a whole program each: count THREADS FILE [mapped].
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "weir.h"

int main(int argc, char **argv) {
  struct weir_error error;
  uint64_t lines;
  char text[WEIR_ERROR_TEXT_MAX];
  if (argc != 3 && argc != 4) return 2;
  const struct weir_lines_options options = {.strategy = argc == 4 ? WEIR_MAPPED : WEIR_AUTO};
  if (weir_count_lines(argv[2], (unsigned)atoi(argv[1]), &options, &lines, &error) < 0) {
    weir_error_text(&error, text, sizeof text);
    fprintf(stderr, "count: %s\n", text);
    return 1;
  }
  printf("%" PRIu64 " %s\n", lines, argv[2]);
  return 0;
}
