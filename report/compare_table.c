/* compare_table.c - two runs side by side on a terminal: what differs around them, then a row for each method of both. */
#include <stdlib.h>
#include <string.h>

#include "report/ascii.h"
#include "report/compare_text.h"

#define WIDTH_PRESET 100u
#define WIDTH_LEAST 60u
#define INDENT 2u
#define GAP 2u

enum column { COLUMN_CELL, COLUMN_SPEED, COLUMN_INTERVAL, COLUMN_RAW, COLUMN_VERDICT, COLUMN_NOTE, COLUMNS };
static const char *const titles[COLUMNS] = {"method", "speed", "95% CI", "as measured", "verdict", ""};

struct table {
  const struct comparison *comparison;
  FILE *out;
  bool color;
  size_t width, widths[COLUMNS];
};

static void put_field(const struct compare_group *group, const struct compare_row *row, enum column column,
                      struct text *out) {
  switch (column) {
    case COLUMN_CELL:
      text_name(out, compare_cell_name(row));
      return;
    case COLUMN_SPEED:
      compare_put_speed(out, &row->speed_ratio);
      return;
    case COLUMN_INTERVAL:
      compare_put_interval(out, &row->speed_ratio);
      return;
    case COLUMN_RAW:
      compare_put_speed(out, &row->as_measured);
      return;
    case COLUMN_VERDICT:
      text_put(out, compare_verdict(row));
      return;
    case COLUMN_NOTE:
      compare_put_note(out, group, row);
      return;
    case COLUMNS:
      return;
  }
}

static void measure_columns(struct table *table, const struct compare_group *group) {
  for (enum column c = 0; c < COLUMNS; c++) {
    table->widths[c] = display_width(titles[c]);
    for (unsigned i = 0; i < group->row_count; i++) {
      struct text text = {0};
      put_field(group, &group->rows[i], c, &text);
      const size_t width = display_width(text_string(&text));
      if (width > table->widths[c]) table->widths[c] = width;
      text_release(&text);
    }
  }
}

static bool is_right(enum column column) { return column == COLUMN_SPEED || column == COLUMN_RAW; }

/* One field; `*blanks` is what is still to be left before it. */
static void print_field(const struct table *table, enum column column, const char *text, size_t *blanks) {
  const size_t width = display_width(text), room = table->widths[column] > width ? table->widths[column] - width : 0;
  if (width) display_fill(table->out, *blanks + (is_right(column) ? room : 0));
  fputs(text, table->out);
  *blanks = (width ? (is_right(column) ? 0 : room) : *blanks + table->widths[column]) + GAP;
}

static void print_titles(const struct table *table) {
  size_t blanks = INDENT;
  for (enum column c = 0; c < COLUMNS; c++) print_field(table, c, titles[c], &blanks);
  putc('\n', table->out);
}

static void print_row(const struct table *table, const struct compare_group *group, const struct compare_row *row) {
  size_t blanks = INDENT;
  const bool marked = row->broke || row->verdict == STAT_SLOWER || row->verdict == STAT_FASTER;
  if (table->color && marked) fputs("\033[1m", table->out);
  for (enum column c = 0; c < COLUMNS; c++) {
    struct text text = {0};
    put_field(group, row, c, &text);
    for (size_t i = 0; i < text.length; i++)
      if (text.data[i] == DISPLAY_GLUE[0]) text.data[i] = ' ';
    print_field(table, c, text_string(&text), &blanks);
    text_release(&text);
  }
  if (table->color && marked) fputs("\033[0m", table->out);
  putc('\n', table->out);
}

static void print_wrapped(const struct table *table, const struct text *text, size_t indent) {
  if (text->length == 0) return;
  display_fill(table->out, indent);
  display_wrap(table->out, &(struct display_box){table->width, indent, indent + 2}, text_string(text));
}

static void print_group(struct table *table, const struct compare_group *group) {
  struct text head = {0}, reason = {0};
  text_name(&head, compare_group_title(group));
  if (group->before && group->now) text_put(&head, " · ");
  compare_put_group(&head, group);
  putc('\n', table->out);
  print_wrapped(table, &head, 0);
  text_name(&reason, group->reason);
  print_wrapped(table, &reason, INDENT);
  text_release(&head);
  text_release(&reason);
  if (group->row_count == 0) return;
  measure_columns(table, group);
  print_titles(table);
  for (unsigned r = 0; r < group->row_count; r++) print_row(table, group, &group->rows[r]);
}

static void print_head(const struct table *table) {
  const struct comparison *comparison = table->comparison;
  struct text text = {0};
  text_put(&text, "before: ");
  text_name(&text, comparison->before_name);
  text_put(&text, " · now: ");
  text_name(&text, comparison->now_name);
  text_put(&text, " · speed above 1 is faster now");
  print_wrapped(table, &text, 0);
  for (unsigned i = 0; i < comparison->difference_count; i++) {
    text_clear(&text);
    compare_put_difference(&text, &comparison->differences[i]);
    print_wrapped(table, &text, INDENT);
  }
  text_clear(&text);
  if (comparison->refused)
    compare_put_refusal(&text, comparison);
  else
    compare_put_machine(&text, comparison);
  print_wrapped(table, &text, 0);
  text_release(&text);
}

static void write_utf8(const struct comparison *comparison, const struct report_options *options, FILE *out) {
  struct table table = {.comparison = comparison, .out = out, .color = options->color, .width = options->width};
  struct text counts = {0};
  if (!table.width) table.width = WIDTH_PRESET;
  if (table.width < WIDTH_LEAST) table.width = WIDTH_LEAST;
  print_head(&table);
  if (comparison->refused) return;
  for (unsigned g = 0; g < comparison->group_count; g++) print_group(&table, &comparison->groups[g]);
  compare_put_counts(&counts, comparison);
  fprintf(out, "\n%s\n", text_string(&counts));
  text_release(&counts);
}

void compare_table(const struct comparison *comparison, const struct report_options *options, FILE *out) {
  struct ascii_sheet sheet;
  write_utf8(comparison, options, ascii_open(&sheet, options->ascii, out));
  ascii_close(&sheet);
}
