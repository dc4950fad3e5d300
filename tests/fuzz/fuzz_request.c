/*
 * fuzz_request.c - any words as method specs, sizes, durations and shares, as they come from a command line.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "methods/methods.h"
#include "plan/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct plan plan = {0};
  struct plan_error error;
  uint64_t number;
  double share;
  char *text = malloc(size + 1);
  if (!text) return 0;
  memcpy(text, data, size);
  text[size] = '\0';
  struct plan_request request = {.margin = 0.03, .methods = {1, {text}}};
  if (units_parse_size(text, &number) == 0) request.size = (struct plan_sizes){1, {number}};
  units_parse_duration(text, &number);
  units_parse_seed(text, &number);
  units_parse_count(text, &number);
  units_parse_share(text, &share);
  if (plan_make(&request, methods_list, &plan, &error) == 0) plan_release(&plan);
  request.methods.count = 0;
  request.baseline = text;
  if (plan_make(&request, methods_list, &plan, &error) == 0) plan_release(&plan);
  free(text);
  return 0;
}
