/*
 * markdown.c - the answer as GitHub Markdown: what the table report says, as text that a wiki or an issue shows as a table.
 *
 * Words and numbers are those of the table report. Its sentences are printed into memory, each on one line, and escaped
 * here: names come from users and plugins and may hold anything.
 */
#include <stdlib.h>
#include <string.h>

#include "report/claims_text.h"
#include "report/compare_text.h"
#include "report/page.h"

/* Wider than any sentence, so that none is broken. */

/* ---- escaping ------------------------------------------------------------------------------------------------------ */

static const char *escape_of(char letter) {
  static const char special[] = "\\`*_[]~$#";
  static const char *const escaped[] = {"\\\\", "\\`", "\\*", "\\_", "\\[", "\\]", "\\~", "\\$", "\\#"};
  const char *found = letter ? strchr(special, letter) : NULL;
  if (found != NULL) return escaped[found - special];
  return letter == '<' ? "&lt;" : letter == '>' ? "&gt;" : letter == '&' ? "&amp;" : letter == '|' ? "&#124;" : NULL;
}

/* On one line, and with no letter that Markdown reads as anything but itself. Runs of spaces become one. */
static void put_escaped(FILE *out, const char *text) {
  for (; *text != '\0'; text++) {
    const char *escape = escape_of(*text);
    bool blank = *text == ' ' || *text == '\n' || *text == DISPLAY_GLUE[0];
    if (blank) {
      if (text[1] != ' ' && text[1] != '\0') putc(' ', out);
    } else if (escape != NULL) {
      fputs(escape, out);
    } else {
      putc(*text, out);
    }
  }
}

/* A name reads best as code, where nothing but what ends it has a meaning. */
static void put_name(FILE *out, const char *name) {
  struct text text = {0};
  text_name(&text, name);
  const char *harmless = text_string(&text);
  bool code = *harmless != '\0' && strpbrk(harmless, "`|\\") == NULL && harmless[0] != ' ';
  if (code) {
    fprintf(out, "`%s`", harmless);
  } else {
    put_escaped(out, harmless);
  }
  text_release(&text);
}

/* ---- sentences of the table report --------------------------------------------------------------------------------- */

static void put_line(const struct page *page, const char *mark, const char *line) {
  fputs(mark, page->out);
  put_escaped(page->out, line);
  putc('\n', page->out);
}

static void put_lines(const struct page *page, const char *mark, void (*print)(const struct page *page)) {
  page_lines(page, print, put_line, mark);
}

/* ---- the answer ---------------------------------------------------------------------------------------------------- */

static void put_winner(const struct page *page, const struct stat_cell *cell) {
  struct text speed = {0};
  put_name(page->out, cell->plan->id);
  if (cell->verdict != STAT_BASELINE && cell->speed_ratio.median > 0) {
    page_put_ratio(&speed, page_shown_ratio(page, cell->speed_ratio).median);
    fprintf(page->out, " (%s×)", text_string(&speed));
  }
  text_release(&speed);
}

static void put_answer(const struct page *page) {
  const struct stat_group *group = page->group;
  const char *before = ": ★ ";
  struct text title = {0};
  text_name(&title, group->plan->title);
  fputs("- **", page->out);
  put_escaped(page->out, text_string(&title));
  fputs("**", page->out);
  text_release(&title);
  for (unsigned i = 0; group->claims && i < group->order_count; i++) {
    const struct stat_cell *cell = &group->cells[group->order[i]];
    if (!page_is_starred(page, cell)) continue;
    fputs(before, page->out);
    put_winner(page, cell);
    before = ", ";
  }
  fputs("\n", page->out);
  put_lines(page, "  - ", group->plan->dropped ? page_dropped : page_answer);
}

/* ---- tables -------------------------------------------------------------------------------------------------------- */

static bool column_has_text(const struct page *page, size_t column) {
  bool any = false;
  for (unsigned i = 0; i < page->group->order_count && !any; i++) {
    const struct stat_cell *cell = &page->group->cells[page->group->order[i]];
    struct text text = {0};
    if (page_is_measured(cell) && page_shows_column(page, column)) page_put_column(page, cell, column, &text);
    any = text.length > 0;
    text_release(&text);
  }
  return any;
}

static void put_field(const struct page *page, const struct stat_cell *cell, size_t column) {
  struct text text = {0};
  page_put_column(page, cell, column, &text);
  fputs(page_column_is_name(column) && page_is_starred(page, cell) ? " ★ " : " ", page->out);
  if (page_column_is_name(column)) {
    put_name(page->out, cell->plan->id);
  } else {
    put_escaped(page->out, text.length > 0 ? text_string(&text) : "–");
  }
  fputs(" |", page->out);
  text_release(&text);
}

static void put_titles(const struct page *page, const bool *shown) {
  putc('|', page->out);
  for (size_t column = 0; column < page_column_count(); column++) {
    if (!shown[column]) continue;
    putc(' ', page->out);
    put_escaped(page->out, page_column_title(page, column));
    fputs(" |", page->out);
  }
  fputs("\n|", page->out);
  for (size_t column = 0; column < page_column_count(); column++) {
    if (shown[column]) fputs(page_column_is_right(column) ? "---:|" : "---|", page->out);
  }
  putc('\n', page->out);
}

static void put_table(const struct page *page) {
  bool *shown = calloc(page_column_count(), sizeof *shown), any = false;
  for (size_t column = 0; shown != NULL && column < page_column_count(); column++) {
    shown[column] = column_has_text(page, column);
    any = any || shown[column];
  }
  if (any) put_titles(page, shown);
  for (unsigned i = 0; any && i < page->group->order_count; i++) {
    const struct stat_cell *cell = &page->group->cells[page->group->order[i]];
    if (!page_is_measured(cell)) continue;
    putc('|', page->out);
    for (size_t column = 0; column < page_column_count(); column++) {
      if (shown[column]) put_field(page, cell, column);
    }
    putc('\n', page->out);
  }
  if (any) putc('\n', page->out);
  free(shown);
}

static void put_latency_titles(const struct page *page) {
  fputs("| time of an operation |", page->out);
  for (size_t column = 0; column < page_latency_count(); column++) {
    if (page_latency_is_shown(page, column)) fprintf(page->out, " %s |", page_latency_title(column));
  }
  fputs("\n|---|", page->out);
  for (size_t column = 0; column < page_latency_count(); column++) {
    if (page_latency_is_shown(page, column)) fputs("---:|", page->out);
  }
  putc('\n', page->out);
}

static void put_latency_row(const struct page *page, const struct stat_cell *cell) {
  fputs("| ", page->out);
  put_name(page->out, cell->plan->id);
  fputs(" |", page->out);
  for (size_t column = 0; column < page_latency_count(); column++) {
    struct text text = {0};
    if (!page_latency_is_shown(page, column)) continue;
    page_put_latency(cell, column, true, &text);
    putc(' ', page->out);
    put_escaped(page->out, text.length > 0 ? text_string(&text) : "–");
    fputs(" |", page->out);
    text_release(&text);
  }
  putc('\n', page->out);
}

static void put_latency(const struct page *page) {
  bool any = false;
  if (!page_has_latency(page)) return;
  for (size_t column = 0; column < page_latency_count(); column++) any = any || page_latency_is_shown(page, column);
  if (any) put_latency_titles(page);
  for (unsigned i = 0; any && i < page->group->order_count; i++) {
    const struct stat_cell *cell = &page->group->cells[page->group->order[i]];
    if (page_is_measured(cell) && cell->latency) put_latency_row(page, cell);
  }
  if (any) putc('\n', page->out);
  put_lines(page, "- ", page_latency_notes);
}

static void put_code(const struct page *page, const char *title, const char *code) {
  if (code) fprintf(page->out, "\n%s\n\n```c\n%s```\n", title, code);
}

/* What follows for a program, with the lines that do it. */
static void put_advice(const struct page *page) {
  struct text text = {0};
  page_put_advice(page, &text);
  if (text.length > 0) {
    fputs("\n### What to do\n\n", page->out);
    put_escaped(page->out, text_string(&text));
    putc('\n', page->out);
    put_code(page, "By hand:", page_plain_code(page));
    put_code(page, "By libweir:", page_library_code(page));
  }
  text_release(&text);
}

static void put_costs(const struct page *page) {
  struct page costs = *page;
  costs.view = REPORT_COST;
  fputs("What it costs:\n\n", page->out);
  put_table(&costs);
}

static void put_group(const struct page *page) {
  struct text left = {0}, right = {0};
  page_put_heading(page, &left, &right);
  fputs("\n## ", page->out);
  put_escaped(page->out, text_string(&left));
  fputs("\n\n", page->out);
  if (right.length > 0) {
    put_escaped(page->out, text_string(&right));
    fputs("\n\n", page->out);
  }
  if (page->group->plan->dropped) {
    put_lines(page, "- ", page_dropped);
  } else {
    put_table(page);
    put_latency(page);
    put_lines(page, "- ", page_absences);
    put_lines(page, "- ", page_answer);
    put_lines(page, "- ", page_certainty);
    put_lines(page, "- ", page_steadiness);
    put_lines(page, "- ", page_evidence);
    fputs("\n", page->out);
    put_costs(page);
    put_advice(page);
  }
  text_release(&left);
  text_release(&right);
}

/* ---- the document -------------------------------------------------------------------------------------------------- */

static void print_warnings(const struct page *page) {
  const struct run *run = page->summary->run;
  for (unsigned i = 0; i < run->warning_count; i++) page_warning(page, &run->warnings[i]);
}

static void put_curves(const struct page *page) {
  if (page->summary->curve_count == 0) return;
  fputs("\n## By the size of requests\n\n", page->out);
  put_lines(page, "- ", page_curves);
}

static void put_notes(const struct page *page) {
  fputs("\n## Notes\n\n", page->out);
  put_lines(page, "- ", page_floors);
  put_lines(page, "- ", page_machine);
  put_lines(page, "- ", print_warnings);
}

static void write_markdown(const struct summary *summary, const struct report_options *options, FILE *out) {
  struct page page = {.summary = summary, .out = out, .overlay = options->overlay};
  fputs("# weir\n\n", out);
  for (unsigned i = 0; i < summary->group_count && !page_is_void(&page); i++) {
    page.group = &summary->groups[i];
    page_choose_units(&page);
    put_answer(&page);
  }
  putc('\n', out);
  put_lines(&page, "", page_head);
  if (page_is_void(&page)) return;
  for (unsigned i = 0; i < summary->group_count; i++) {
    page.group = &summary->groups[i];
    page_choose_units(&page);
    put_group(&page);
  }
  put_curves(&page);
  put_notes(&page);
}

const struct report report_markdown = {.name = "markdown",
                                       .suffix = ".md",
                                       .summary = "the answer as Markdown, for issues and wikis",
                                       .write = write_markdown,
                                       .write_claims = claims_markdown,
                                       .write_comparison = compare_markdown};
