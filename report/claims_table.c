/* claims_table.c - the verdicts on published claims on a terminal: a row a claim, and below it why. */
#include "report/ascii.h"
#include "report/claims_text.h"

#define WIDTH_PRESET 100u
#define WIDTH_LEAST 60u
#define INDENT 6u

enum column { COLUMN_ID, COLUMN_VERDICT, COLUMN_STRENGTH, COLUMN_PUBLISHED, COLUMN_HERE, COLUMNS };
static const char *const titles[COLUMNS] = {"id", "verdict", "strength", "published", "here"};

struct table {
  const struct claim_report *claims;
  FILE *out;
  bool color;
  size_t width, widths[COLUMNS];
};

static void put_field(const struct table *table, const struct claim_result *result, enum column column, struct text *out) {
  const struct claim_finding *shown = claims_shown(table->claims, result);
  switch (column) {
    case COLUMN_ID:
      text_name(out, result->claim->id);
      return;
    case COLUMN_VERDICT:
      text_put(out, claim_verdict_words[result->verdict]);
      return;
    case COLUMN_STRENGTH:
      text_put(out, claim_strength_words[result->strength]);
      return;
    case COLUMN_PUBLISHED:
      if (shown) claims_put_published(out, shown->test);
      return;
    case COLUMN_HERE:
      if (shown) claims_put_value(out, shown);
      return;
    case COLUMNS:
      return;
  }
}

static void measure_columns(struct table *table) {
  for (enum column c = 0; c < COLUMNS; c++) {
    table->widths[c] = display_width(titles[c]);
    for (unsigned i = 0; i < table->claims->result_count; i++) {
      struct text text = {0};
      put_field(table, &table->claims->results[i], c, &text);
      const size_t width = display_width(text_string(&text));
      if (width > table->widths[c]) table->widths[c] = width;
      text_release(&text);
    }
  }
}

static void print_titles(const struct table *table) {
  for (enum column c = 0; c < COLUMNS; c++) {
    fputs(titles[c], table->out);
    if (c + 1 < COLUMNS) display_fill(table->out, table->widths[c] + 2 - display_width(titles[c]));
  }
  putc('\n', table->out);
}

static void print_row(const struct table *table, const struct claim_result *result) {
  if (table->color) fputs("\033[1m", table->out);
  size_t blanks = 0; /* before the next field that holds something */
  for (enum column c = 0; c < COLUMNS; c++) {
    struct text text = {0};
    put_field(table, result, c, &text);
    const size_t width = display_width(text_string(&text));
    if (width) display_fill(table->out, blanks);
    fputs(text_string(&text), table->out);
    blanks = (width ? 0 : blanks) + table->widths[c] + 2 - width;
    text_release(&text);
  }
  if (table->color) fputs("\033[0m", table->out);
  putc('\n', table->out);
}

static void print_line(const struct table *table, const char *mark, const char *text) {
  if (!*text) return;
  display_fill(table->out, INDENT);
  fputs(mark, table->out);
  display_wrap(table->out, &(struct display_box){table->width, INDENT + display_width(mark), INDENT}, text);
}

static void print_claim(const struct table *table, const struct claim_result *result) {
  const struct claim_finding *shown = claims_shown(table->claims, result);
  struct text text = {0};
  print_row(table, result);
  print_line(table, "", result->claim->says);
  if (shown) claims_put_test(&text, shown);
  if (shown) text_format(&text, " (%s)", shown->title);
  print_line(table, "tested: ", text_string(&text));
  print_line(table, "", result->reason);
  text_release(&text);
}

static void print_study(const struct table *table, const struct claim_study *study) {
  struct text text = {0};
  text_format(&text, "%s: %s", study->name, study->title);
  putc('\n', table->out);
  display_wrap(table->out, &(struct display_box){table->width, 0, 2}, text_string(&text));
  text_release(&text);
}

static void print_foot(const struct table *table) {
  struct text text = {0};
  claims_put_counts(&text, table->claims);
  putc('\n', table->out);
  display_wrap(table->out, &(struct display_box){table->width, 0, 2}, text_string(&text));
  fputs("published, here: time of the second cell by that of the first, with 95 % interval; see 'weir help claims'\n",
        table->out);
  text_release(&text);
}

static void write_utf8(const struct claim_report *claims, const struct report_options *options, FILE *out) {
  struct table table = {.claims = claims, .out = out, .color = options->color, .width = options->width};
  unsigned study = ~0u;
  if (!table.width) table.width = WIDTH_PRESET;
  if (table.width < WIDTH_LEAST) table.width = WIDTH_LEAST;
  measure_columns(&table);
  if (claims->interrupted) fputs("interrupted: this is what was measured before\n", out);
  print_titles(&table);
  for (unsigned i = 0; i < claims->result_count; i++) {
    const struct claim_result *result = &claims->results[i];
    if (result->claim->study != study) print_study(&table, &claims->plan->book->studies[result->claim->study]);
    study = result->claim->study;
    print_claim(&table, result);
  }
  print_foot(&table);
}

void claims_table(const struct claim_report *claims, const struct report_options *options, FILE *out) {
  struct ascii_sheet sheet;
  write_utf8(claims, options, ascii_open(&sheet, options->ascii, out));
  ascii_close(&sheet);
}
