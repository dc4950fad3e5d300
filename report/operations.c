/*
 * operations.c - how long single operations took, as a second table below the rows of a group. It looks up what
 * bench/stat/latency.c found and computes nothing.
 */
#include <string.h>

#include "base/units.h"
#include "report/page.h"

#define TITLE "time of an operation"
#define NAME_LEAST 20u
enum { LATE = STAT_PERCENTILES, COLUMNS }; /* the column behind the percentiles */

static bool has_times(const struct stat_cell *cell) { return page_is_measured(cell) && cell->latency != NULL; }

/* The next cell in the order of printing whose operations were timed, from `at` on; moves `at` behind it. NULL: no more. */
static const struct stat_cell *next_timed(const struct page *page, unsigned *at) {
  while (*at < page->group->order_count) {
    const struct stat_cell *cell = &page->group->cells[page->group->order[(*at)++]];
    if (has_times(cell)) return cell;
  }
  return NULL;
}

bool page_has_latency(const struct page *page) {
  unsigned at = 0;
  return next_timed(page, &at) != NULL;
}

/* ---- fields -------------------------------------------------------------------------------------------------------- */

size_t page_latency_count(void) { return COLUMNS; }
const char *page_latency_title(size_t column) { return column == LATE ? "late" : stat_percentiles[column].name; }

static bool has_value(const struct stat_latency *latency, size_t column) {
  return column == LATE ? latency->late_share >= 0 : latency->percentile_ns[column].median > 0;
}

bool page_latency_is_shown(const struct page *page, size_t column) {
  bool any = false;
  unsigned at = 0;
  for (const struct stat_cell *cell; !any && (cell = next_timed(page, &at)) != NULL;) any = has_value(cell->latency, column);
  return any;
}

static void put_time(const struct stat_interval *time, bool interval, struct text *out) {
  char text[UNITS_TEXT_MAX];
  text_put(out, units_time_text(time->median, text));
  if (!interval || !time->known) return;
  text_put(out, " ±");
  const double percent = (time->high - time->low) / 2 / time->median * 100;
  text_decimal(out, percent, percent < 9.95 ? 1 : 0);
  text_put(out, "%");
}

void page_put_latency(const struct stat_cell *cell, size_t column, bool interval, struct text *out) {
  if (!has_value(cell->latency, column)) return;
  if (column < STAT_PERCENTILES) {
    put_time(&cell->latency->percentile_ns[column], interval, out);
    return;
  }
  const double percent = cell->latency->late_share * 100;
  text_decimal(out, percent, percent > 0 && percent < 9.95 ? 2 : 0);
  text_put(out, "%");
}

/* ---- the table ----------------------------------------------------------------------------------------------------- */

struct widths {
  size_t name, column[COLUMNS];
};

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

static size_t field_width(const struct page *page, size_t column, bool intervals) {
  size_t width = strlen(page_latency_title(column));
  unsigned at = 0;
  for (const struct stat_cell *cell; (cell = next_timed(page, &at)) != NULL;) {
    struct text text = {0};
    page_put_latency(cell, column, intervals, &text);
    width = larger(width, display_width(text_string(&text)));
    text_release(&text);
  }
  return width;
}

static size_t name_width(const struct page *page) {
  size_t width = strlen(TITLE);
  unsigned at = 0;
  for (const struct stat_cell *cell; (cell = next_timed(page, &at)) != NULL;) {
    struct text text = {0};
    text_name(&text, cell->plan->id);
    width = larger(width, display_width(text_string(&text)));
    text_release(&text);
  }
  return width;
}

/* Names get what the fields leave; false: they leave too little. */
static bool fits(const struct page *page, bool intervals, struct widths *out) {
  size_t fields = PAGE_INDENT;
  for (size_t column = 0; column < COLUMNS; column++) {
    out->column[column] = page_latency_is_shown(page, column) ? field_width(page, column, intervals) : 0;
    if (out->column[column]) fields += PAGE_GAP + out->column[column];
  }
  out->name = name_width(page);
  if (fields + out->name <= page->width) return true;
  out->name = page->width > fields + NAME_LEAST ? page->width - fields : NAME_LEAST;
  return fields + NAME_LEAST <= page->width;
}

/* Columns of the outer percentiles go where even times without intervals are too wide. */
static bool choose_widths(const struct page *page, struct widths *out) {
  if (fits(page, true, out)) return true;
  if (fits(page, false, out)) return false;
  size_t used = PAGE_INDENT + NAME_LEAST;
  for (size_t column = 0; column < COLUMNS; column++) {
    used += out->column[column] ? PAGE_GAP + out->column[column] : 0;
    if (used > page->width) out->column[column] = 0;
  }
  return false;
}

static void put_right(FILE *out, const char *text, size_t width) {
  const size_t used = display_width(text);
  display_fill(out, PAGE_GAP + (width > used ? width - used : 0));
  fputs(text, out);
}

/* A name that is too long stands on lines of its own; the fields follow its last piece. */
static void put_name(const struct page *page, const char *name, size_t width) {
  for (;;) {
    const size_t length = display_fit(name, width);
    display_fill(page->out, PAGE_INDENT);
    if (length == 0 || name[length] == '\0') break;
    fprintf(page->out, "%.*s\n", (int)length, name);
    name += length;
  }
  fputs(name, page->out);
  const size_t used = display_width(name);
  display_fill(page->out, width > used ? width - used : 0);
}

static void print_titles(const struct page *page, const struct widths *widths) {
  page_style_on(page, STYLE_DIM);
  put_name(page, TITLE, widths->name);
  for (size_t column = 0; column < COLUMNS; column++)
    if (widths->column[column]) put_right(page->out, page_latency_title(column), widths->column[column]);
  page_style_off(page, STYLE_DIM);
  putc('\n', page->out);
}

static void print_row(const struct page *page, const struct stat_cell *cell, const struct widths *widths, bool intervals) {
  struct text name = {0};
  text_name(&name, cell->plan->id);
  put_name(page, text_string(&name), widths->name);
  text_release(&name);
  for (size_t column = 0; column < COLUMNS; column++) {
    struct text text = {0};
    if (!widths->column[column]) continue;
    page_put_latency(cell, column, intervals, &text);
    put_right(page->out, text.length ? text_string(&text) : "–", widths->column[column]);
    text_release(&text);
  }
  putc('\n', page->out);
}

static bool shows_any(const struct page *page) {
  bool any = false;
  for (size_t column = 0; column < COLUMNS; column++) any |= page_latency_is_shown(page, column);
  return any;
}

void page_latency(const struct page *page) {
  struct widths widths;
  unsigned at = 0;
  if (!shows_any(page)) return;
  const bool intervals = choose_widths(page, &widths);
  print_titles(page, &widths);
  for (const struct stat_cell *cell; (cell = next_timed(page, &at)) != NULL;) print_row(page, cell, &widths, intervals);
}

/* ---- what is not there --------------------------------------------------------------------------------------------- */

/* Of the cell whose samples have the fewest operations. */
static const struct stat_latency *poorest(const struct page *page) {
  const struct stat_latency *found = NULL;
  unsigned at = 0;
  for (const struct stat_cell *cell; (cell = next_timed(page, &at)) != NULL;)
    if (found == NULL || cell->latency->operations < found->operations) found = cell->latency;
  return found;
}

static void put_missing(struct text *text, const struct stat_latency *latency) {
  size_t first = 0;
  while (first < STAT_PERCENTILES && latency->operations >= stat_percentiles[first].operations) first++;
  if (first == STAT_PERCENTILES) return;
  text_format(text, "%s takes samples of %llu operations or more, here are as few as %llu.", stat_percentiles[first].name,
              (unsigned long long)stat_percentiles[first].operations, (unsigned long long)latency->operations);
}

void page_latency_notes(const struct page *page) {
  const struct stat_latency *latency = poorest(page);
  struct text text = {0};
  if (latency == NULL) return;
  if (latency->is_log2)
    text_put(&text, "the time of operations was kept by octaves, as older weirs did: no percentiles.");
  else
    put_missing(&text, latency);
  if (text.length) page_sentence(page, " ", text_string(&text));
  if (latency->late_share >= 0)
    page_sentence(page, " ",
                  "times count from when a request was due; late: the share that began after the next one was due.");
  text_release(&text);
}
