/*
 * read_file.c - prints a file: read_file FILE. The whole file in memory, by one call.
 */
#include <stdio.h>
#include <weir.h>

int main(int argc, char **argv) {
  struct weir_bytes bytes = {0};
  struct weir_error error;
  char text[WEIR_ERROR_TEXT_MAX];
  if (argc != 2) return 2;
  if (weir_read_file(argv[1], &bytes, NULL, &error) < 0) {
    weir_error_text(&error, text, sizeof text);
    fprintf(stderr, "%s\n", text);
    weir_bytes_free(&bytes);
    return 1;
  }
  fwrite(bytes.data, 1, bytes.size, stdout);
  weir_bytes_free(&bytes);
  return 0;
}
