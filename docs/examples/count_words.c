/*
 * count_words.c - counts lines and words: count_words FILE. One line after the other, without copying any.
 */
#include <stdio.h>
#include <weir.h>

int main(int argc, char **argv) {
  struct weir_lines lines;
  struct weir_slice line, word;
  unsigned long long line_count = 0, word_count = 0;
  if (argc != 2) return 2;
  weir_lines_open(&lines, argv[1], NULL, NULL); /* an error comes out below */
  while (weir_lines_next(&lines, &line) > 0) {
    line_count++;
    while (weir_slice_field(&line, &word)) word_count++;
  }
  int code = weir_lines_close(&lines, NULL);
  if (code < 0) {
    fprintf(stderr, "%s: %s\n", argv[1], weir_strerror(code));
    return 1;
  }
  printf("%llu lines, %llu words\n", line_count, word_count);
  return 0;
}
