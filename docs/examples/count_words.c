/*
 * count_words.c - counts lines and words: count_words FILE. One line after the other, without copying any.
 */
#include <stdio.h>
#include <weir.h>

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r'; }

static unsigned words_in(struct weir_slice line) {
  unsigned count = 0;
  bool inside = false;
  for (size_t i = 0; i < line.size; i++) {
    bool word = !is_space(line.data[i]);
    count += word && !inside;
    inside = word;
  }
  return count;
}

int main(int argc, char **argv) {
  struct weir_lines lines;
  struct weir_slice line;
  unsigned long long line_count = 0, word_count = 0;
  if (argc != 2) return 2;
  int code = weir_lines_open(&lines, argv[1], NULL, NULL);
  if (code == 0) {
    while (weir_lines_next(&lines, &line) > 0) {
      line_count++;
      word_count += words_in(line);
    }
    code = weir_lines_close(&lines, NULL); /* tells every error that there was */
  }
  if (code < 0) {
    fprintf(stderr, "%s: %s\n", argv[1], weir_strerror(code));
    return 1;
  }
  printf("%llu lines, %llu words\n", line_count, word_count);
  return 0;
}
