/*
 * table.c - the answer on a terminal: who is fastest, with ties, what it rests on and what could not be tried. It looks
 * numbers up and gives them a unit; it computes no statistic. Columns of less weight go first where the width is small;
 * names that are too long are broken, never cut.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "report/display.h"
#include "report/report.h"

#define WIDTH_PRESET 100u
#define WIDTH_LEAST 40u
#define GIB 1073741824.0

enum style { STYLE_PLAIN, STYLE_BOLD, STYLE_DIM };

/* One group on its way to the page, with the units that suit it. */
struct page {
  const struct summary *summary;
  const struct stat_group *group;
  FILE *out;
  bool color;
  size_t width;
  bool has_rate;
  struct {
    double factor;
    const char *name;
  } rate, operations;
};

static void style_on(const struct page *page, enum style style) {
  static const char *const codes[] = {"", "\033[1m", "\033[2m"};
  if (page->color) fputs(codes[style], page->out);
}

static void style_off(const struct page *page, enum style style) {
  if (page->color && style != STYLE_PLAIN) fputs("\033[0m", page->out);
}

static bool is_floor(const struct stat_cell *cell) { return cell->plan->capabilities & WEIR_CAP_FLOOR; }
static bool is_measured(const struct stat_cell *cell) { return cell->status == PLAN_OK && cell->n > 0; }

/* Bytes of one pass; 0 when unknown. */
static double pass_bytes(const struct stat_cell *cell) {
  if (is_floor(cell) || !(cell->bytes_per_s > 0)) return 0;
  return cell->bytes_per_s * cell->elapsed_ns.median / 1e9;
}

/* ---- columns ------------------------------------------------------------------------------------------------------- */

/* Two decimals, so that a column stays straight; more for what would be nothing but zeros, fewer for the large. */
static void put_value(struct text *out, double value) {
  text_decimal(out, value, value < 0.0995 ? 4 : value < 99.995 ? 2 : value < 999.95 ? 1 : 0);
}

static void put_ratio(struct text *out, double ratio) {
  text_decimal(out, ratio, ratio < 0.0995 ? 3 : ratio < 9.995 ? 2 : ratio < 99.95 ? 1 : 0);
}

static void put_rank(const struct page *page, const struct stat_cell *cell, struct text *out) {
  if (!cell->ranked) return;
  text_format(out, "%u", cell->rank_low);
  if (cell->rank_high != cell->rank_low) text_format(out, "–%u", cell->rank_high);
}

static void put_method(const struct page *page, const struct stat_cell *cell, struct text *out) {
  text_name(out, cell->plan->id);
}

static void put_rate(const struct page *page, const struct stat_cell *cell, struct text *out) {
  if (cell->bytes_per_s > 0 && !is_floor(cell)) put_value(out, cell->bytes_per_s / page->rate.factor);
}

static void put_operations(const struct page *page, const struct stat_cell *cell, struct text *out) {
  const struct plan_demand *demand = &page->group->plan->demand;
  bool small = demand->request_bytes > 0 && demand->request_bytes <= 65536;
  if (demand->access != WEIR_RANDOM && !small) return;
  if (cell->operations_per_s > 0 && !is_floor(cell)) put_value(out, cell->operations_per_s / page->operations.factor);
}

static void put_time(const struct page *page, const struct stat_cell *cell, struct text *out) {
  char text[UNITS_TEXT_MAX];
  text_put(out, units_time_text(cell->elapsed_ns.median, text));
}

static void put_precision(const struct page *page, const struct stat_cell *cell, struct text *out) {
  const struct stat_interval *elapsed = &cell->elapsed_ns;
  if (!elapsed->known || is_floor(cell)) return;
  text_decimal(out, (elapsed->high - elapsed->low) / 2 / elapsed->median * 100, 1);
  text_put(out, "%");
}

static void put_speed(const struct page *page, const struct stat_cell *cell, struct text *out) {
  if (cell->speed_ratio.median > 0 && !is_floor(cell)) {
    put_ratio(out, cell->speed_ratio.median);
    text_put(out, "×");
  }
}

static void put_interval(const struct page *page, const struct stat_cell *cell, struct text *out) {
  if (cell->verdict == STAT_BASELINE || !cell->speed_ratio.known || is_floor(cell)) return;
  put_ratio(out, cell->speed_ratio.low);
  text_put(out, " … ");
  put_ratio(out, cell->speed_ratio.high);
}

static void put_verdict(const struct page *page, const struct stat_cell *cell, struct text *out) {
  if (is_floor(cell)) {
    text_put(out, "(floor)");
  } else if (cell->verdict == STAT_BASELINE) {
    text_put(out, "(base)");
  } else {
    text_put(out, stat_verdict_words[cell->verdict]);
  }
}

static void put_cpu(const struct page *page, const struct stat_cell *cell, struct text *out) {
  char text[UNITS_TEXT_MAX];
  double bytes = pass_bytes(cell);
  if (bytes > 0 && cell->cpu_ns >= 0) text_put(out, units_time_text(cell->cpu_ns / bytes * GIB, text));
}

static void put_faults(const struct page *page, const struct stat_cell *cell, struct text *out) {
  double bytes = pass_bytes(cell), faults = cell->minor_faults + cell->major_faults;
  if (!(bytes > 0) || cell->minor_faults < 0 || cell->major_faults < 0) return;
  faults = faults / bytes * GIB;
  text_decimal(out, faults < 9999.5 ? faults : faults / 1000, 0);
  if (faults >= 9999.5) text_put(out, " k");
}

static void put_peak(const struct page *page, const struct stat_cell *cell, struct text *out) {
  char text[UNITS_TEXT_MAX];
  if (cell->peak_bytes > 0) text_put(out, units_size_text(cell->peak_bytes, text));
}

static void put_limit(const struct page *page, const struct stat_cell *cell, struct text *out) {
  if (!(cell->limit_percent > 0)) return;
  text_decimal(out, cell->limit_percent, 0);
  text_put(out, "%");
}

/* What the numbers of such a demand are when all went as asked. */
static bool label_is_expected(const struct plan_demand *demand, const char *label) {
  if (demand->direction == WEIR_WRITE) {
    return strcmp(label, demand->durability == WEIR_DURABILITY_NONE ? "not-durable" : "durable") == 0;
  }
  if (demand->cache == PLAN_WARM) return strcmp(label, "warm") == 0;
  return strcmp(label, "cold") == 0 || strcmp(label, "guest-cold") == 0;
}

static void put_label(const struct page *page, const struct stat_cell *cell, struct text *out) {
  if (!is_floor(cell) && !label_is_expected(&page->group->plan->demand, cell->label)) text_name(out, cell->label);
}

/* `keep`: the column of the lowest number goes first when the width is small; KEEP stays, KEEP_LONG nearly so. */
#define KEEP 100u
#define KEEP_LONG 90u
struct column {
  const char *title;
  bool right;
  unsigned keep;
  void (*put)(const struct page *page, const struct stat_cell *cell, struct text *out);
};

enum { COLUMN_RANK, COLUMN_METHOD, COLUMN_RATE, COLUMN_OPERATIONS, COLUMN_TIME };
static const struct column columns[] = {
    [COLUMN_RANK] = {"rank", false, KEEP, put_rank},
    [COLUMN_METHOD] = {"method", false, KEEP, put_method},
    [COLUMN_RATE] = {NULL, true, KEEP, put_rate},
    [COLUMN_OPERATIONS] = {NULL, true, KEEP_LONG + 1, put_operations},
    [COLUMN_TIME] = {"time", true, 10, put_time},
    {"±95%", true, 50, put_precision},
    {"speed", true, KEEP, put_speed},
    {"95% interval", true, KEEP_LONG, put_interval},
    {"verdict", false, KEEP, put_verdict},
    {"cpu/GiB", true, 40, put_cpu},
    {"faults/GiB", true, 30, put_faults},
    {"peak", true, 5, put_peak},
    {"limit", true, 35, put_limit},
    {"label", false, KEEP, put_label},
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

/* What the cells are ranked by stays on the page, and so does their time when there is no rate. */
static unsigned column_weight(const struct page *page, size_t column) {
  if (column == COLUMN_TIME && !page->has_rate) return KEEP;
  enum plan_rank rank_by = page->summary->run->plan.rank_by;
  if (columns[column].put == put_cpu && rank_by == PLAN_RANK_CPU) return KEEP;
  if (columns[column].put == put_peak && rank_by == PLAN_RANK_MEMORY) return KEEP;
  return columns[column].keep;
}

static const char *column_title(const struct page *page, size_t column) {
  if (column == COLUMN_RATE) return page->rate.name;
  if (column == COLUMN_OPERATIONS) return page->operations.name;
  return columns[column].title;
}

/* ---- layout -------------------------------------------------------------------------------------------------------- */

#define MARK_COLUMNS 2u /* the star and a space */
#define GAP_COLUMNS 2u

/* The measured rows; text[row * COLUMNS + column]. */
struct layout {
  unsigned row_count;
  const struct stat_cell **rows;
  struct text *text;
  size_t widths[COLUMNS]; /* 0: not shown */
};

static void layout_release(struct layout *layout) {
  for (size_t i = 0; layout->text != NULL && i < (size_t)layout->row_count * COLUMNS; i++) text_release(&layout->text[i]);
  free(layout->text);
  free(layout->rows);
}

static void measure_column(const struct page *page, struct layout *layout, size_t column) {
  size_t widest = 0;
  for (unsigned row = 0; row < layout->row_count; row++) {
    struct text *text = &layout->text[row * (size_t)COLUMNS + column];
    columns[column].put(page, layout->rows[row], text);
    size_t width = display_width(text_string(text));
    if (width > widest) widest = width;
  }
  size_t title = display_width(column_title(page, column));
  layout->widths[column] = widest == 0 ? 0 : widest > title ? widest : title;
}

static size_t layout_width(const struct layout *layout) {
  size_t width = MARK_COLUMNS, shown = 0;
  for (size_t column = 0; column < COLUMNS; column++) {
    width += layout->widths[column];
    shown += layout->widths[column] > 0;
  }
  return shown ? width + (shown - 1) * GAP_COLUMNS : width;
}

/* The shown column of the least weight, or COLUMNS when all must stay. */
static size_t lightest_column(const struct page *page, const struct layout *layout) {
  size_t lightest = COLUMNS;
  for (size_t column = 0; column < COLUMNS; column++) {
    if (layout->widths[column] == 0 || column_weight(page, column) >= KEEP) continue;
    if (lightest == COLUMNS || column_weight(page, column) < column_weight(page, lightest)) lightest = column;
  }
  return lightest;
}

static void drop_columns(const struct page *page, struct layout *layout, unsigned below) {
  while (layout_width(layout) > page->width) {
    size_t column = lightest_column(page, layout);
    if (column == COLUMNS || column_weight(page, column) >= below) return;
    layout->widths[column] = 0;
  }
}

/*
 * Names may take two fifths of the width before columns of little weight go. Then names give way, then all columns that
 * may. Names get what is left over.
 */
#define NAME_LEAST 24u
static void fit_width(const struct page *page, struct layout *layout) {
  size_t *name = &layout->widths[COLUMN_METHOD], whole = *name, most = page->width * 2 / 5;
  if (*name > most) *name = most;
  drop_columns(page, layout, KEEP_LONG);
  size_t width = layout_width(layout), over = width > page->width ? width - page->width : 0;
  if (over > 0) *name = *name > NAME_LEAST + over ? *name - over : *name < NAME_LEAST ? *name : NAME_LEAST;
  drop_columns(page, layout, KEEP);
  width = layout_width(layout);
  if (width < page->width) *name += page->width - width;
  if (*name > whole) *name = whole;
}

static bool layout_make(const struct page *page, struct layout *layout) {
  const struct stat_group *group = page->group;
  *layout = (struct layout){0};
  layout->rows = calloc(group->order_count + (size_t)1, sizeof *layout->rows);
  if (layout->rows == NULL) return false;
  for (unsigned i = 0; i < group->order_count; i++) {
    const struct stat_cell *cell = &group->cells[group->order[i]];
    if (is_measured(cell)) layout->rows[layout->row_count++] = cell;
  }
  layout->text = calloc((size_t)layout->row_count * COLUMNS + 1, sizeof *layout->text);
  if (layout->text == NULL) return false;
  for (size_t column = 0; column < COLUMNS; column++) measure_column(page, layout, column);
  fit_width(page, layout);
  return true;
}

/* ---- rows ---------------------------------------------------------------------------------------------------------- */

/* Bytes of `name` that go on this line: all, or up to the last mark at which a name may be broken. */
static size_t name_piece(const char *name, size_t columns_left) {
  size_t fit = display_fit(name, columns_left), end = fit;
  if (name[fit] == '\0') return fit;
  while (end > 0 && strchr(",[@/ ", name[end - 1]) == NULL) end--;
  if (end == 0) end = fit;
  return end ? end : strlen(name);
}

/* Prints one field, and the gap before it: what comes after the last field is never padding. */
struct cursor {
  size_t at, want;
};

static void put_field(const struct page *page, struct cursor *cursor, const char *text, size_t length, bool right,
                      size_t width) {
  char *piece = strndup(text, length);
  if (piece == NULL) return;
  size_t columns_used = display_width(piece), pad = right && columns_used < width ? width - columns_used : 0;
  if (length > 0) {
    display_fill(page->out, cursor->want + pad - cursor->at);
    fputs(piece, page->out);
    cursor->at = cursor->want + pad + columns_used;
  }
  cursor->want += width + GAP_COLUMNS;
  free(piece);
}

static void print_titles(const struct page *page, const struct layout *layout) {
  struct cursor cursor = {0, MARK_COLUMNS};
  style_on(page, STYLE_DIM);
  for (size_t column = 0; column < COLUMNS; column++) {
    if (layout->widths[column] == 0) continue;
    const char *title = column_title(page, column);
    put_field(page, &cursor, title, strlen(title), columns[column].right, layout->widths[column]);
  }
  style_off(page, STYLE_DIM);
  putc('\n', page->out);
}

/* The rest of a name that did not fit, below its beginning. */
static void print_name_rest(const struct page *page, const struct layout *layout, const char *rest) {
  size_t rank = layout->widths[COLUMN_RANK], width = layout->widths[COLUMN_METHOD];
  while (*rest != '\0') {
    size_t indent = MARK_COLUMNS + (rank ? rank + GAP_COLUMNS : 0), length = name_piece(rest, width);
    display_fill(page->out, indent);
    fprintf(page->out, "%.*s\n", (int)length, rest);
    rest += length;
  }
}

static void print_row(const struct page *page, const struct layout *layout, unsigned row) {
  const struct stat_cell *cell = layout->rows[row];
  enum style style = cell->best ? STYLE_BOLD : STYLE_PLAIN;
  struct cursor cursor = {0, MARK_COLUMNS};
  const char *rest = "";
  style_on(page, style);
  if (cell->best) {
    fputs("★", page->out);
    cursor.at = 1;
  }
  for (size_t column = 0; column < COLUMNS; column++) {
    if (layout->widths[column] == 0) continue;
    const char *text = text_string(&layout->text[row * (size_t)COLUMNS + column]);
    size_t length = strlen(text);
    if (column == COLUMN_METHOD) {
      length = name_piece(text, layout->widths[column]);
      rest = text + length;
    }
    if (length == 0 && columns[column].right) text = "–", length = strlen(text);
    put_field(page, &cursor, text, length, columns[column].right, layout->widths[column]);
  }
  putc('\n', page->out);
  print_name_rest(page, layout, rest);
  style_off(page, style);
}

/* ---- what could not be measured ------------------------------------------------------------------------------------ */

static const char *absence_word(const struct stat_cell *cell) {
  if (cell->status == PLAN_FAILED) return "failed";
  return cell->status == PLAN_UNAVAILABLE ? "unavailable" : "not measured";
}

static const char *absence_reason(const struct stat_cell *cell) {
  if (cell->status == PLAN_OK) return "the run ended before";
  return cell->reason && cell->reason[0] ? cell->reason : "no reason is known";
}

static bool same_absence(const struct stat_cell *a, const struct stat_cell *b) {
  return a->status == b->status && strcmp(absence_reason(a), absence_reason(b)) == 0 &&
         strcmp(a->plan->remedy, b->plan->remedy) == 0;
}

/* Cell `i` of the printing order if it is absent, else NULL. */
static const struct stat_cell *absent_cell(const struct stat_group *group, unsigned i) {
  const struct stat_cell *cell = &group->cells[group->order[i]];
  return is_measured(cell) ? NULL : cell;
}

static bool told_before(const struct stat_group *group, unsigned i) {
  for (unsigned j = 0; j < i; j++) {
    const struct stat_cell *other = absent_cell(group, j);
    if (other != NULL && same_absence(other, absent_cell(group, i))) return true;
  }
  return false;
}

/* What was put since `from` stays on one line. */
static void glue(struct text *out, size_t from) {
  for (size_t i = from; i < out->length; i++) {
    if (out->data[i] == ' ') out->data[i] = DISPLAY_GLUE[0];
  }
}

static void put_glued(struct text *out, const char *name) {
  size_t from = out->length;
  text_name(out, name);
  glue(out, from);
}

/* All cells that are absent for the same reason, in one entry. */
static void print_absence(const struct page *page, unsigned first) {
  const struct stat_group *group = page->group;
  const struct stat_cell *cell = absent_cell(group, first);
  struct text text = {0};
  for (unsigned i = first; i < group->order_count; i++) {
    const struct stat_cell *other = absent_cell(group, i);
    if (other == NULL || !same_absence(cell, other)) continue;
    if (text.length > 0) text_put(&text, ", ");
    put_glued(&text, other->plan->id);
  }
  text_put(&text, ": ");
  text_name(&text, absence_reason(cell));
  if (cell->plan->remedy[0] && cell->status != PLAN_OK) {
    text_put(&text, " → ");
    text_name(&text, cell->plan->remedy);
  }
  const char *word = absence_word(cell);
  size_t indent = MARK_COLUMNS + strlen("not measured") + GAP_COLUMNS;
  enum style style = cell->status == PLAN_FAILED ? STYLE_BOLD : STYLE_DIM;
  style_on(page, style);
  fprintf(page->out, "  %-14s", word);
  display_wrap(page->out, &(struct display_box){page->width, indent, indent}, text_string(&text));
  style_off(page, style);
  text_release(&text);
}

static void print_absences(const struct page *page) {
  for (unsigned i = 0; i < page->group->order_count; i++) {
    if (absent_cell(page->group, i) != NULL && !told_before(page->group, i)) print_absence(page, i);
  }
}

/* ---- sentences ----------------------------------------------------------------------------------------------------- */

static void print_sentence(const struct page *page, const char *mark, const char *sentence) {
  fprintf(page->out, "%s ", mark);
  display_wrap(page->out, &(struct display_box){page->width, MARK_COLUMNS, MARK_COLUMNS}, sentence);
}

static void put_percent(struct text *out, double ratio, bool sign) {
  double percent = (ratio - 1) * 100;
  if (sign && percent >= 0.05) text_put(out, "+");
  text_decimal(out, percent, 1);
}

static const char *winner_words(enum plan_rank rank_by, bool one) {
  static const char *const several[] = {"the fastest method", "the method with the fastest transfer",
                                        "the method with the least CPU time", "the method with the least memory"};
  static const char *const single[] = {"this method is the fastest", "this method has the fastest transfer",
                                       "this method needs the least CPU time", "this method needs the least memory"};
  return one ? single[rank_by] : several[rank_by];
}

static void print_best_set(const struct page *page) {
  const struct stat_group *group = page->group;
  enum plan_rank rank_by = page->summary->run->plan.rank_by;
  struct text text = {0};
  text_format(&text, "with 95" DISPLAY_GLUE "%% confidence %s", winner_words(rank_by, group->best_count == 1));
  if (group->best_count > 1) text_format(&text, " is among these %u", group->best_count);
  text_put(&text, ".");
  if (group->rounds < group->needed_baseline) text_format(&text, " Verdicts need %u rounds.", group->needed_baseline);
  if (group->rounds < group->needed_pairs) text_format(&text, " Ranks need %u rounds.", group->needed_pairs);
  print_sentence(page, "★", text_string(&text));
  text_release(&text);
}

static void print_numbers_only(const struct page *page) {
  const struct stat_group *group = page->group;
  struct text text = {0};
  text_format(&text, "%u round%s: numbers only – %u methods need at least %u rounds for a best set and %u for ranks.",
              group->rounds, group->rounds == 1 ? "" : "s", group->k, group->needed_best, group->needed_pairs);
  print_sentence(page, " ", text_string(&text));
  text_release(&text);
}

static void print_answer(const struct page *page) {
  const struct stat_group *group = page->group;
  if (group->k == 0) {
    print_sentence(page, " ", "No method was measured.");
  } else if (group->k == 1) {
    print_sentence(page, " ", "Only one method was measured: there is nothing to rank.");
  } else if (group->claims && group->best_count > 0) {
    print_best_set(page);
  } else {
    print_numbers_only(page);
  }
}

static void put_smallest(struct text *text, double ratio) {
  if (ratio > 1) {
    text_put(text, "The smallest difference this run could have called is ");
    put_percent(text, ratio, false);
    text_put(text, DISPLAY_GLUE "% (");
    put_ratio(text, ratio);
    text_put(text, "×).");
  } else {
    text_put(text, "No difference from the baseline could have been called with so few rounds.");
  }
}

static void put_twin(struct text *text, const struct stat_group *group) {
  if (!(group->twin.median > 0) || group->baseline < 0) return;
  text_put(text, " Two identical entries of ");
  put_glued(text, group->cells[group->baseline].plan->id);
  text_put(text, " differed by ");
  put_percent(text, group->twin.median < 1 ? 2 - group->twin.median : group->twin.median, false);
  text_put(text, DISPLAY_GLUE "%");
  if (group->twin.known) {
    text_put(text, " (");
    put_percent(text, group->twin.low, true);
    text_put(text, DISPLAY_GLUE "…" DISPLAY_GLUE);
    put_percent(text, group->twin.high, true);
    text_put(text, DISPLAY_GLUE "%)");
  }
  text_put(text, ".");
}

static void print_certainty(const struct page *page) {
  struct text text = {0};
  if (page->group->k > 1) put_smallest(&text, page->group->smallest_callable_ratio);
  put_twin(&text, page->group);
  if (text.length > 0) print_sentence(page, " ", text_string(&text));
  text_release(&text);
}

/* ---- evidence ------------------------------------------------------------------------------------------------------ */

/* The first of the best set, else the baseline, else whoever has samples; NULL: nobody. */
static const struct stat_cell *witness(const struct stat_group *group) {
  const struct stat_cell *first = NULL;
  for (unsigned i = 0; i < group->order_count; i++) {
    const struct stat_cell *cell = &group->cells[group->order[i]];
    if (!is_measured(cell) || is_floor(cell)) continue;
    if (cell->best) return cell;
    if (first == NULL) first = cell;
  }
  return group->baseline >= 0 && is_measured(&group->cells[group->baseline]) ? &group->cells[group->baseline] : first;
}

/* Units and numbers stay on one line. */
static void put_size(struct text *out, double bytes) {
  char text[UNITS_TEXT_MAX];
  if (bytes < 0) {
    text_put(out, "unknown");
  } else {
    put_glued(out, units_size_text(bytes, text));
  }
}

static void put_share(struct text *out, double share) {
  if (share < 0) {
    text_put(out, "unknown");
    return;
  }
  text_decimal(out, share * 100, share > 0 && share < 0.1 ? 1 : 0);
  text_put(out, DISPLAY_GLUE "%");
}

static void print_evidence(const struct page *page) {
  const struct stat_cell *cell = witness(page->group);
  struct text text = {0};
  if (cell == NULL) return;
  put_glued(&text, cell->plan->id);
  text_put(&text, " per pass: ");
  if (cell->label[0]) text_format(&text, "%s, ", cell->label);
  text_put(&text, "in cache before ");
  put_share(&text, cell->resident_before);
  if (page->group->plan->demand.direction == WEIR_READ) {
    text_put(&text, ", from the device ");
    put_size(&text, cell->device_read_bytes);
    text_put(&text, ", delivered ");
  } else {
    text_put(&text, ", to the device ");
    put_size(&text, cell->device_write_bytes);
    if (cell->flushes >= 0) text_put(&text, ", flushes ");
    if (cell->flushes >= 0) text_decimal(&text, cell->flushes, cell->flushes < 10 && cell->flushes != floor(cell->flushes));
    text_put(&text, ", written ");
  }
  put_size(&text, pass_bytes(cell));
  fputs("  evidence: ", page->out);
  display_wrap(page->out, &(struct display_box){page->width, 12, MARK_COLUMNS + 2}, text_string(&text));
  text_release(&text);
}

/* ---- groups -------------------------------------------------------------------------------------------------------- */

static void put_heading(const struct page *page, struct text *left, struct text *right) {
  static const char *const rank_words[] = {"", " · ranked by transfer time", " · ranked by CPU time", " · ranked by memory"};
  const struct stat_group *group = page->group;
  text_name(left, group->plan->title);
  if (!group->plan->dropped) text_format(left, " · %u round%s", group->rounds, group->rounds == 1 ? "" : "s");
  text_put(left, rank_words[page->summary->run->plan.rank_by]);
  if (group->baseline < 0) return;
  text_put(right, "baseline: ");
  text_name(right, group->cells[group->baseline].plan->id);
}

static void print_heading(const struct page *page) {
  struct text left = {0}, right = {0};
  put_heading(page, &left, &right);
  size_t used = display_width(text_string(&left)), tail = display_width(text_string(&right));
  style_on(page, STYLE_BOLD);
  fputs(text_string(&left), page->out);
  style_off(page, STYLE_BOLD);
  if (tail > 0 && used + tail + GAP_COLUMNS > page->width) {
    putc('\n', page->out);
    used = 0;
  }
  if (tail > 0) {
    display_fill(page->out, used + tail < page->width ? page->width - used - tail : 0);
    fputs(text_string(&right), page->out);
  }
  putc('\n', page->out);
  text_release(&left);
  text_release(&right);
}

/* The unit in which the fastest of the group reads well serves for all. */
static void choose_units(struct page *page) {
  double rate = 0, operations = 0;
  for (unsigned i = 0; i < page->group->cell_count; i++) {
    const struct stat_cell *cell = &page->group->cells[i];
    if (is_floor(cell) || !is_measured(cell)) continue;
    rate = fmax(rate, cell->bytes_per_s);
    operations = fmax(operations, cell->operations_per_s);
  }
  page->has_rate = rate > 0;
  page->rate.factor = rate >= GIB ? GIB : rate >= GIB / 1024 ? GIB / 1024 : GIB / 1024 / 1024;
  page->rate.name = rate >= GIB ? "GiB/s" : rate >= GIB / 1024 ? "MiB/s" : "KiB/s";
  page->operations.factor = operations >= 1e6 ? 1e6 : operations >= 1e3 ? 1e3 : 1;
  page->operations.name = operations >= 1e6 ? "M op/s" : operations >= 1e3 ? "k op/s" : "op/s";
}

static void print_rows(const struct page *page) {
  struct layout layout;
  if (layout_make(page, &layout) && layout.row_count > 0) {
    putc('\n', page->out);
    print_titles(page, &layout);
    for (unsigned row = 0; row < layout.row_count; row++) print_row(page, &layout, row);
  }
  layout_release(&layout);
}

static void print_dropped(const struct page *page) {
  struct text text = {0};
  text_put(&text, "not measured: ");
  text_name(&text, page->group->plan->drop_reason[0] ? page->group->plan->drop_reason : "no reason is known");
  print_sentence(page, " ", text_string(&text));
  text_release(&text);
}

static void print_group(struct page *page) {
  choose_units(page);
  putc('\n', page->out);
  print_heading(page);
  if (page->group->plan->dropped) {
    print_dropped(page);
    return;
  }
  print_rows(page);
  putc('\n', page->out);
  print_absences(page);
  print_answer(page);
  print_certainty(page);
  print_evidence(page);
}

/* ---- head and foot of the page ------------------------------------------------------------------------------------- */

static void put_part(struct text *out, const char *before, const char *part, const char *after) {
  if (part == NULL || part[0] == '\0') return;
  if (out->length > 0) text_put(out, " · ");
  text_put(out, before);
  put_glued(out, part);
  text_put(out, after);
}

static void put_place(struct text *out, const struct run *run) {
  const char *prefix = run->plan.file ? "file" : "place.0";
  char name[48];
  snprintf(name, sizeof name, "%s.file_system", prefix);
  const char *file_system = run_fact_text(run, name);
  snprintf(name, sizeof name, "%s.device", prefix);
  const char *device = run_fact_text(run, name);
  if (file_system == NULL || file_system[0] == '\0') return;
  put_part(out, "", file_system, "");
  if (device == NULL || device[0] == '\0') return;
  text_put(out, DISPLAY_GLUE "on" DISPLAY_GLUE);
  put_glued(out, device);
}

static void print_head(const struct page *page) {
  const struct run *run = page->summary->run;
  const char *system = run_fact_text(run, "system"), *kernel = run_fact_text(run, "kernel");
  const char *cpus = run_fact_text(run, "cpus"), *version = run_fact_text(run, "weir.version");
  struct text text = {0};
  text_put(&text, "weir");
  if (version != NULL) text_put(&text, DISPLAY_GLUE);
  if (version != NULL) put_glued(&text, version);
  put_part(&text, "", system, "");
  if (kernel != NULL && system != NULL) text_put(&text, DISPLAY_GLUE);
  if (kernel != NULL && system != NULL) put_glued(&text, kernel);
  if (system == NULL) put_part(&text, "", kernel, "");
  put_place(&text, run);
  put_part(&text, "", cpus, cpus && strcmp(cpus, "1") == 0 ? DISPLAY_GLUE "CPU" : DISPLAY_GLUE "CPUs");
  put_part(&text, "guest of ", run_fact_text(run, "hypervisor"), "");
  text_format(&text, " · seed" DISPLAY_GLUE "0x%llX", (unsigned long long)run->plan.seed);
  display_wrap(page->out, &(struct display_box){page->width, 0, 2}, text_string(&text));
  if (run->interrupted) fputs("interrupted: this is what was measured until then\n", page->out);
  text_release(&text);
}

static void put_floor(struct text *out, const char *name, const char *value) {
  if (out->length > 0) text_put(out, " · ");
  size_t from = out->length;
  text_format(out, "%s %s", name, value);
  glue(out, from);
}

static void put_floor_time(struct text *out, const char *name, double ns) {
  char text[UNITS_TEXT_MAX];
  if (ns > 0) put_floor(out, name, units_time_text(ns, text));
}

static void put_floor_rate(struct text *out, const char *name, double bytes_per_s) {
  char text[UNITS_TEXT_MAX];
  if (bytes_per_s > 0) put_floor(out, name, units_rate_text(bytes_per_s, text));
}

static void print_floors(const struct page *page) {
  const struct run_floors *floors = &page->summary->run->floors;
  struct text text = {0};
  put_floor_time(&text, "harness per operation", floors->harness_ns_per_op);
  put_floor_time(&text, "with latency", floors->harness_latency_ns_per_op);
  put_floor_time(&text, "clock read", floors->clock_read_ns);
  put_floor_time(&text, "clock step", floors->clock_step_ns);
  put_floor_time(&text, "system call", floors->syscall_ns);
  put_floor_time(&text, "page fault", floors->page_fault_ns);
  put_floor_time(&text, "huge page fault", floors->huge_page_fault_ns);
  put_floor_rate(&text, "memory copy", floors->memcpy_bytes_per_s);
  put_floor_rate(&text, "scan", floors->scan_bytes_per_s);
  if (text.length > 0) {
    fputs("floors: ", page->out);
    display_wrap(page->out, &(struct display_box){page->width, 8, 8}, text_string(&text));
  }
  text_release(&text);
}

static void print_warning(const struct page *page, const struct run_warning *warning) {
  struct text id = {0}, text = {0};
  text_name(&id, warning->id);
  text_name(&text, warning->text);
  if (warning->remedy[0]) {
    text_put(&text, " → ");
    text_name(&text, warning->remedy);
  }
  style_on(page, STYLE_BOLD);
  fputs(text_string(&id), page->out);
  style_off(page, STYLE_BOLD);
  size_t indent = display_width(text_string(&id)) + 1;
  putc(' ', page->out);
  display_wrap(page->out, &(struct display_box){page->width, indent, indent}, text_string(&text));
  text_release(&id);
  text_release(&text);
}

static bool run_is_kept(const struct run *run) {
  for (unsigned i = 0; i < run->argument_count; i++) {
    if (strstr(run->arguments[i], ".jsonl") != NULL) return true;
  }
  return false;
}

static void print_foot(const struct page *page) {
  const struct run *run = page->summary->run;
  putc('\n', page->out);
  print_floors(page);
  for (unsigned i = 0; i < run->warning_count; i++) print_warning(page, &run->warnings[i]);
  if (run_is_kept(run)) return;
  display_wrap(page->out, &(struct display_box){page->width, 0, 2},
               "keep every sample: weir bench -o run.jsonl, then weir report run.jsonl");
}

static void write_table(const struct summary *summary, const struct report_options *options, FILE *out) {
  struct page page = {.summary = summary, .out = out, .color = options->color};
  page.width = options->width ? options->width : WIDTH_PRESET;
  if (page.width < WIDTH_LEAST) page.width = WIDTH_LEAST;
  print_head(&page);
  for (unsigned i = 0; i < summary->group_count; i++) {
    page.group = &summary->groups[i];
    print_group(&page);
  }
  print_foot(&page);
}

const struct report report_table = {"table", ".txt", "the answer as a table for the terminal", write_table};
