/*
 * big_write.c - writes numbered lines to a file whose size is known before: big_write FILE LINES. The space is reserved
 * first, so that a full disk shows at once and the file lies in one piece, and all is on stable storage in the end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <weir.h>

enum { LINE = 16 };

static int write_lines(struct weir_writer *out, unsigned long long count) {
  char line[32];
  for (unsigned long long i = 0; i < count; i++) {
    snprintf(line, sizeof line, "%015llu\n", i);
    int code = weir_writer_put(out, line, LINE);
    if (code < 0) return code;
  }
  return 0;
}

int main(int argc, char **argv) {
  struct weir_writer out;
  struct weir_error error;
  char text[WEIR_ERROR_TEXT_MAX];
  if (argc != 3) return 2;
  unsigned long long count = strtoull(argv[2], NULL, 10);
  struct weir_writer_options options = {.expected_bytes = count * LINE, .flags = WEIR_DURABLE};
  int code = weir_writer_open(&out, argv[1], &options, &error);
  if (code == 0) {
    write_lines(&out, count); /* an error stays and comes out below */
    code = weir_writer_finish(&out, &error);
  }
  if (code < 0) {
    weir_error_text(&error, text, sizeof text);
    fprintf(stderr, "%s\n", text);
  }
  return code < 0;
}
