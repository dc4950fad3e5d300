/*
 * filter_text.c - keeps the lines that begin with a word, without it: filter_text WORD IN OUT. Files larger than memory are
 * fine. OUT appears when it is whole.
 */
#include <stdio.h>
#include <string.h>
#include <weir.h>

/* To the end or to the first error, which lines or writer keep. */
static void filter(const char *word, struct weir_lines *lines, struct weir_writer *out) {
  struct weir_slice line;
  size_t size = strlen(word);
  while (weir_lines_next(lines, &line) > 0) {
    if (line.size < size || memcmp(line.data, word, size) != 0) continue;
    if (weir_writer_put_line(out, line.data + size, line.size - size) < 0) return;
  }
}

int main(int argc, char **argv) {
  struct weir_lines lines;
  struct weir_writer out;
  struct weir_writer_options options = {.flags = WEIR_ATOMIC};
  if (argc != 4) return 2;
  int code = weir_lines_open(&lines, argv[2], NULL, NULL);
  if (code == 0) code = weir_writer_open(&out, argv[3], &options, NULL);
  if (code == 0) {
    filter(argv[1], &lines, &out);
    code = weir_lines_close(&lines, NULL);
    if (code < 0)
      weir_writer_abandon(&out); /* the old OUT stays */
    else
      code = weir_writer_finish(&out, NULL);
  }
  weir_lines_close(&lines, NULL); /* twice is fine */
  if (code < 0) fprintf(stderr, "filter_text: %s\n", weir_strerror(code));
  return code < 0;
}
