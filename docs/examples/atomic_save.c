/*
 * atomic_save.c - keeps a counter in a file: atomic_save FILE. Whenever the power fails, the file holds the old number or
 * the new one, whole.
 */
#include <stdio.h>
#include <stdlib.h>
#include <weir.h>

int main(int argc, char **argv) {
  struct weir_write_options options = {.flags = WEIR_ATOMIC | WEIR_DURABLE};
  struct weir_error error;
  char number[32] = "", text[WEIR_ERROR_TEXT_MAX];
  size_t size = 0;
  if (argc != 2) return 2;
  int code = weir_read_into(argv[1], number, sizeof number - 1, &size, &error);
  if (code == WEIR_ENOENT) code = 0; /* the first time */
  if (code == 0) {
    number[size] = 0;
    size = (size_t)snprintf(number, sizeof number, "%llu\n", strtoull(number, NULL, 10) + 1);
    code = weir_write_file(argv[1], number, size, &options, &error);
  }
  if (code < 0) {
    weir_error_text(&error, text, sizeof text);
    fprintf(stderr, "%s\n", text);
  }
  return code != 0; /* WEIR_MORE: the file is no number */
}
