/* compare_markdown.c - two runs side by side as Markdown. */
#include <string.h>

#include "report/compare_text.h"

/* On one line, harmless in a table. */
static void put(FILE *out, const char *text) {
  for (; *text; text++) {
    if (strchr("\\`*_[]|~$#", *text))
      fprintf(out, "\\%c", *text);
    else if (*text == '<')
      fputs("&lt;", out);
    else if (*text == '&')
      fputs("&amp;", out);
    else
      putc(*text == '\n' || *text == DISPLAY_GLUE[0] ? ' ' : *text, out);
  }
}

static void put_text(FILE *out, struct text *text, const char *after) {
  put(out, text_string(text));
  fputs(after, out);
  text_clear(text);
}

static void put_row(const struct compare_group *group, const struct compare_row *row, FILE *out) {
  struct text text = {0};
  fputs("| ", out);
  text_name(&text, compare_cell_name(row));
  put_text(out, &text, " | ");
  compare_put_speed(&text, &row->speed_ratio);
  put_text(out, &text, " | ");
  compare_put_interval(&text, &row->speed_ratio);
  put_text(out, &text, " | ");
  compare_put_speed(&text, &row->as_measured);
  put_text(out, &text, " | ");
  text_put(&text, compare_verdict(row));
  put_text(out, &text, " | ");
  compare_put_note(&text, group, row);
  put_text(out, &text, " |\n");
  text_release(&text);
}

static void put_group(const struct compare_group *group, FILE *out) {
  struct text text = {0};
  fputs("\n## ", out);
  text_name(&text, compare_group_title(group));
  put_text(out, &text, "\n\n");
  compare_put_group(&text, group);
  put_text(out, &text, "\n\n");
  text_name(&text, group->reason);
  if (text.length) put_text(out, &text, "\n\n");
  text_release(&text);
  if (group->row_count == 0) return;
  fputs("| method | speed | 95% CI | as measured | verdict | |\n|---|---:|---|---:|---|---|\n", out);
  for (unsigned r = 0; r < group->row_count; r++) put_row(group, &group->rows[r], out);
}

void compare_markdown(const struct comparison *comparison, const struct report_options *options, FILE *out) {
  struct text text = {0};
  (void)options;
  fputs("# weir compare\n\nBefore: ", out);
  text_name(&text, comparison->before_name);
  put_text(out, &text, ", now: ");
  text_name(&text, comparison->now_name);
  put_text(out, &text, ". A speed above 1 is faster now.\n\n");
  for (unsigned i = 0; i < comparison->difference_count; i++) {
    fputs("- ", out);
    compare_put_difference(&text, &comparison->differences[i]);
    put_text(out, &text, "\n");
  }
  if (comparison->difference_count) putc('\n', out);
  if (comparison->refused)
    compare_put_refusal(&text, comparison);
  else
    compare_put_machine(&text, comparison);
  if (text.length) put_text(out, &text, ".\n\n");
  if (!comparison->refused) compare_put_counts(&text, comparison);
  if (text.length) put_text(out, &text, ".\n");
  for (unsigned g = 0; g < comparison->group_count; g++) put_group(&comparison->groups[g], out);
  text_release(&text);
}
