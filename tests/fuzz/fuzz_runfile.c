/*
 * fuzz_runfile.c - any bytes as a run file: refused with words, or read, summarised and reported; never a crash.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "methods/methods.h"
#include "report/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char problem[256], *text = NULL;
  size_t length = 0;
  struct run run = {0};
  struct summary summary;
  FILE *in = size ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
  if (!in) return 0;
  if (run_read(in, methods_list, &run, problem, sizeof problem) == 0) {
    FILE *out = open_memstream(&text, &length);
    const struct report_options options = {.width = 100};
    if (out && stat_summarize(&run, &summary) == 0) {
      for (const struct report *const *report = report_list; *report; report++) (*report)->write(&summary, &options, out);
      stat_release(&summary);
    }
    if (out) fclose(out);
    free(text);
  }
  run_release(&run);
  fclose(in);
  return 0;
}
