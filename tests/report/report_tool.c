/* report_tool.c - run file in, report out: `report_tool FILE REPORT [WIDTH [color|ascii]]`, in the caller's locale. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"

static int show(const struct run *run, const struct report *report, const struct report_options *options) {
  struct summary summary;
  if (stat_summarize(run, &summary) < 0) return 2;
  report->write(&summary, options, stdout);
  stat_release(&summary);
  return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 2;
}

int main(int count, char **words) {
  char problem[160];
  struct run run;
  setlocale(LC_ALL, "");
  const struct report *report = count > 2 ? report_by_name(words[2]) : NULL;
  FILE *in = report ? fopen(words[1], "rb") : NULL;
  struct report_options options = {.width = count > 3 ? (unsigned)strtoul(words[3], NULL, 10) : 0, .color = count > 4 && strcmp(words[4], "color") == 0,
                                   .ascii = count > 4 && strcmp(words[4], "ascii") == 0};
  if (in == NULL) {
    fputs("usage: report_tool FILE REPORT [WIDTH [color|ascii]]\n", stderr);
    return 2;
  }
  int code = run_read(in, NULL, &run, problem, sizeof problem);
  fclose(in);
  if (code < 0) {
    fprintf(stderr, "report_tool: %s: %s\n", words[1], problem);
    return 2;
  }
  code = show(&run, report, &options);
  run_release(&run);
  return code;
}
