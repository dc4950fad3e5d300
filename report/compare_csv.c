/* compare_csv.c - two runs side by side, one row a method of each group. What is not known is empty. */
#include <stdlib.h>
#include <string.h>

#include "report/compare_text.h"

static void put_text(FILE *out, const char *text) {
  if (text[strcspn(text, ",\"\r\n")] == '\0') {
    fputs(text, out);
    return;
  }
  putc('"', out);
  for (; *text; text++) {
    if (*text == '"') putc('"', out);
    putc(*text, out);
  }
  putc('"', out);
}

static void put_name(FILE *out, const char *name) {
  char *encoded = run_text_encode(name);
  put_text(out, encoded ? encoded : "");
  free(encoded);
}

static void put_number(FILE *out, double value, bool known) {
  struct text text = {0};
  if (known && value > 0) text_decimal(&text, value, 6);
  fprintf(out, ",%s", text_string(&text));
  text_release(&text);
}

static void put_interval(FILE *out, const struct stat_interval *interval) {
  put_number(out, interval->median, true);
  put_number(out, interval->low, interval->known);
  put_number(out, interval->high, interval->known);
}

static void put_row(const struct compare_group *group, const struct compare_row *row, FILE *out) {
  put_name(out, (group->now ? group->now : group->before)->plan->id);
  putc(',', out);
  put_name(out, compare_cell_name(row));
  fprintf(out, ",%u,%u", row->n_before, row->n_now);
  put_interval(out, &row->speed_ratio);
  put_interval(out, &row->as_measured);
  put_number(out, group->shift.median, true);
  put_number(out, group->margin, true);
  fprintf(out, ",%s,", compare_verdict(row));
  put_name(out, row->reason[0] ? row->reason : group->reason);
  putc('\n', out);
}

void compare_csv(const struct comparison *comparison, const struct report_options *options, FILE *out) {
  (void)options;
  fputs(
      "group,cell,n_before,n_now,speed_ratio_median,speed_ratio_low,speed_ratio_high,as_measured_median,as_measured_low,"
      "as_measured_high,group_shift,margin,verdict,reason\n",
      out);
  for (unsigned g = 0; g < comparison->group_count; g++)
    for (unsigned r = 0; r < comparison->groups[g].row_count; r++)
      put_row(&comparison->groups[g], &comparison->groups[g].rows[r], out);
}
