/*
 * typed_values.c - writes an array and reads it back: typed_values FILE. The bytes are those of this machine's memory.
 */
#include <stdio.h>
#include <weir.h>

struct point {
  double x, y;
};

int main(int argc, char **argv) {
  struct point points[1000];
  struct weir_bytes bytes = {0};
  struct weir_error error;
  size_t count = 0;
  char text[WEIR_ERROR_TEXT_MAX];
  if (argc != 2) return 2;
  for (int i = 0; i < 1000; i++) points[i] = (struct point){i, i / 2.0};
  int code = weir_write_file(argv[1], points, sizeof points, NULL, &error);
  if (code == 0) code = WEIR_READ_ITEMS(argv[1], struct point, &bytes, &count, &error);
  if (code < 0) {
    weir_error_text(&error, text, sizeof text);
    fprintf(stderr, "%s\n", text);
    weir_bytes_free(&bytes);
    return 1;
  }
  const struct point *read = (const struct point *)(const void *)bytes.data;
  double x = 0, y = 0;
  for (size_t i = 0; i < count; i++) {
    x += read[i].x;
    y += read[i].y;
  }
  printf("%zu points, sums %.1f and %.1f\n", count, x, y);
  weir_bytes_free(&bytes);
  return 0;
}
