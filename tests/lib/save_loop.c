/*
 * save_loop.c - for kill_save.py: saves PATH atomically, COUNT times or until it is killed, with content that tells whether
 * it is whole: eight digits, then as many letters as follow from them. Writes a line when the first is in place.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weir.h"

static size_t make_content(char *out, unsigned number) {
  size_t size = (size_t)(number * 7919u % 60000u);
  (void)snprintf(out, 9, "%08u", number);
  memset(out + 8, 'a' + (int)(number % 26), size);
  return size + 8;
}

/* By one call, or by many small pieces. */
static int save(const char *path, const char *text, size_t size, unsigned flags, unsigned number) {
  struct weir_write_options options = {.flags = flags};
  struct weir_writer_options writer_options = {.flags = flags, .buffer_bytes = 4096};
  struct weir_writer writer;
  if (number % 2) return weir_write_file(path, text, size, &options, NULL);
  int code = weir_writer_open(&writer, path, &writer_options, NULL);
  if (code) return code;
  for (size_t at = 0; at < size; at += 100) (void)weir_writer_put(&writer, text + at, size - at < 100 ? size - at : 100);
  return weir_writer_finish(&writer, NULL);
}

int main(int argc, char **argv) {
  static char text[70000];
  if (argc != 4) return 2;
  unsigned long count = strtoul(argv[2], NULL, 10);
  unsigned flags = WEIR_ATOMIC | (strcmp(argv[3], "durable") == 0 ? WEIR_DURABLE : 0u);
  for (unsigned i = 0; count == 0 || i < count; i++) {
    int code = save(argv[1], text, make_content(text, i), flags, i);
    if (code) {
      (void)fprintf(stderr, "save %u: %s\n", i, weir_strerror(code));
      return 1;
    }
    if (i == 0 && (puts("in place") < 0 || fflush(stdout))) return 1;
  }
  return 0;
}
