/*
 * fuzz_suite.c - any bytes as a suite.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "plan/parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct suite suite = {0};
  struct plan_error error;
  char *text = malloc(size + 1);
  if (!text) return 0;
  memcpy(text, data, size);
  text[size] = '\0';
  if (suite_parse("fuzz", text, &suite, &error) == 0) suite_release(&suite);
  free(text);
  return 0;
}
