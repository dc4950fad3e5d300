/* reports.c - the reports that are built in, and how the command line finds them. */
#include <stddef.h>
#include <string.h>

#include "report/report.h"

extern const struct report report_table, report_json, report_markdown, report_csv, report_html;

const struct report *const report_list[] = {&report_table, &report_json, &report_markdown, &report_csv, &report_html, NULL};

const char *const report_view_words[] = {"speed", "cost", NULL};

const struct report *report_by_name(const char *name) {
  for (size_t i = 0; report_list[i] != NULL; i++) {
    if (strcmp(report_list[i]->name, name) == 0) return report_list[i];
  }
  return NULL;
}

const struct report *report_by_suffix(const char *path) {
  size_t length = strlen(path);
  for (size_t i = 0; report_list[i] != NULL; i++) {
    size_t suffix = strlen(report_list[i]->suffix);
    if (length > suffix && strcmp(path + length - suffix, report_list[i]->suffix) == 0) return report_list[i];
  }
  return NULL;
}
