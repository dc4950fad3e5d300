/*
 * columns.c - the rows of the table report. Columns of less weight go first where the width is small; names that are too
 * long are broken, never cut.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "report/page.h"

/* ---- columns ------------------------------------------------------------------------------------------------------- */

/* Two decimals, so that a column stays straight; more for what would be nothing but zeros, fewer for the large. */
static void put_value(struct text *out, double value) {
  text_decimal(out, value, value < 0.0995 ? 4 : value < 99.995 ? 2 : value < 999.95 ? 1 : 0);
}

static void put_rank(const struct page *page, const struct stat_cell *cell, struct text *out) {
  if (!cell->ranked || page->group->k < 2) return;
  text_format(out, "%u", cell->rank_low);
  if (cell->rank_high != cell->rank_low) text_format(out, "–%u", cell->rank_high);
}

static void put_method(const struct page *page, const struct stat_cell *cell, struct text *out) {
  if (cell->plan->style[0]) {
    text_name(out, cell->plan->style);
    text_put(out, " ");
  }
  text_name(out, cell->plan->id);
}

static void put_rate(const struct page *page, const struct stat_cell *cell, struct text *out) {
  if (cell->bytes_per_s > 0 && !page_is_floor(cell)) put_value(out, cell->bytes_per_s / page->rate.factor);
}

static void put_operations(const struct page *page, const struct stat_cell *cell, struct text *out) {
  const struct plan_demand *demand = &page->group->plan->demand;
  bool small = demand->request_bytes > 0 && demand->request_bytes <= 65536;
  if (demand->access != WEIR_RANDOM && !small) return;
  if (cell->operations_per_s > 0 && !page_is_floor(cell)) put_value(out, cell->operations_per_s / page->operations.factor);
}

static void put_time(const struct page *page, const struct stat_cell *cell, struct text *out) {
  char text[UNITS_TEXT_MAX];
  text_put(out, units_time_text(cell->elapsed_ns.median, text));
}

static void put_precision(const struct page *page, const struct stat_cell *cell, struct text *out) {
  const struct stat_interval *elapsed = &cell->elapsed_ns;
  if (!elapsed->known || page_is_floor(cell)) return;
  text_decimal(out, (elapsed->high - elapsed->low) / 2 / elapsed->median * 100, 1);
  text_put(out, "%");
}

static void put_speed(const struct page *page, const struct stat_cell *cell, struct text *out) {
  if (cell->speed_ratio.median > 0 && !page_is_floor(cell)) {
    page_put_ratio(out, page_shown_ratio(page, cell->speed_ratio).median);
    text_put(out, "×");
  }
}

static void put_interval(const struct page *page, const struct stat_cell *cell, struct text *out) {
  if (cell->verdict == STAT_BASELINE || !cell->speed_ratio.known || page_is_floor(cell)) return;
  const struct stat_interval shown = page_shown_ratio(page, cell->speed_ratio);
  page_put_ratio(out, shown.low);
  text_put(out, " … ");
  page_put_ratio(out, shown.high);
}

static void put_verdict(const struct page *page, const struct stat_cell *cell, struct text *out) {
  if (page_is_floor(cell)) {
    text_put(out, "(floor)");
  } else if (cell->verdict == STAT_BASELINE) {
    text_put(out, "(base)");
  } else if (page_counts_use(page) && (cell->verdict == STAT_FASTER || cell->verdict == STAT_SLOWER)) {
    text_put(out, cell->verdict == STAT_FASTER ? "less" : "more");
  } else {
    text_put(out, stat_verdict_words[cell->verdict]);
  }
}

static void put_cpu(const struct page *page, const struct stat_cell *cell, struct text *out) {
  char text[UNITS_TEXT_MAX];
  double bytes = page_pass_bytes(cell);
  if (bytes > 0 && cell->cpu_ns >= 0) text_put(out, units_time_text(cell->cpu_ns / bytes * PAGE_GIB, text));
}

static void put_faults(const struct page *page, const struct stat_cell *cell, struct text *out) {
  double bytes = page_pass_bytes(cell), faults = cell->minor_faults + cell->major_faults;
  if (!(bytes > 0) || cell->minor_faults < 0 || cell->major_faults < 0) return;
  faults = faults / bytes * PAGE_GIB;
  text_decimal(out, faults < 9999.5 ? faults : faults / 1000, 0);
  if (faults >= 9999.5) text_put(out, " k");
}

static void put_peak(const struct page *page, const struct stat_cell *cell, struct text *out) {
  char text[UNITS_TEXT_MAX];
  if (cell->peak_bytes > 0) text_put(out, units_size_text(cell->peak_bytes, text));
}

/* Where a program has a choice: the whole, or piece by piece. */
static bool shows_allocations(const struct page *page, const struct stat_cell *cell) {
  const enum weir_task task = page->group->plan->demand.task;
  const bool takes = task == WEIR_TASK_WHOLE || task == WEIR_TASK_LINES || task == WEIR_TASK_TEXT || task == WEIR_TASK_RECORDS;
  return takes && !page_is_floor(cell) && cell->allocations >= 0;
}

static void put_allocations(const struct page *page, const struct stat_cell *cell, struct text *out) {
  if (!shows_allocations(page, cell)) return;
  text_decimal(out, cell->allocations < 9999.5 ? cell->allocations : cell->allocations / 1000, 0);
  if (cell->allocations >= 9999.5) text_put(out, " k");
}

static void put_allocated(const struct page *page, const struct stat_cell *cell, struct text *out) {
  char text[UNITS_TEXT_MAX];
  if (shows_allocations(page, cell)) text_put(out, units_size_text(cell->allocated_bytes, text));
}

/* Of what grows with the bytes. */
static void put_per_gib(const struct stat_cell *cell, double value, struct text *out) {
  const double bytes = page_pass_bytes(cell), each = value / bytes * PAGE_GIB;
  if (!(bytes > 0) || value < 0) return;
  text_decimal(out, each < 9999.5 ? each : each < 9999500 ? each / 1000 : each / 1e6, 0);
  if (each >= 9999.5) text_put(out, each < 9999500 ? " k" : " M");
}

static void put_calls(const struct page *page, const struct stat_cell *cell, struct text *out) {
  put_per_gib(cell, cell->system_calls, out);
}

static void put_switches(const struct page *page, const struct stat_cell *cell, struct text *out) {
  if (cell->voluntary_switches >= 0) put_per_gib(cell, cell->voluntary_switches + cell->involuntary_switches, out);
}

static void put_per_byte(const struct stat_cell *cell, double value, struct text *out) {
  const double bytes = page_pass_bytes(cell);
  if (bytes > 0 && value >= 0) put_value(out, value / bytes);
}

static void put_cycles(const struct page *page, const struct stat_cell *cell, struct text *out) {
  put_per_byte(cell, cell->cycles, out);
}

static void put_instructions(const struct page *page, const struct stat_cell *cell, struct text *out) {
  put_per_byte(cell, cell->instructions, out);
}

static void put_growth(const struct page *page, const struct stat_cell *cell, struct text *out) {
  char text[UNITS_TEXT_MAX];
  if (!cell->cache_growth_known || page_is_floor(cell)) return;
  const double bytes = cell->cache_growth_bytes;
  if (bytes < 0) text_put(out, "-");
  text_put(out, units_size_text(bytes < 0 ? -bytes : bytes, text));
}

static void put_evicted(const struct page *page, const struct stat_cell *cell, struct text *out) {
  if (cell->evicted_share < 0 || page_is_floor(cell)) return;
  text_decimal(out, cell->evicted_share * 100, cell->evicted_share > 0 && cell->evicted_share < 0.1 ? 1 : 0);
  text_put(out, "%");
}

/* Beside what was asked to last: what the device was told to make last. */
static void put_flushes(const struct page *page, const struct stat_cell *cell, struct text *out) {
  const struct plan_demand *demand = &page->group->plan->demand;
  if (demand->direction == WEIR_READ || demand->durability == WEIR_DURABILITY_NONE) return;
  if (cell->flushes >= 0) text_decimal(out, cell->flushes, cell->flushes < 9.95 && cell->flushes != floor(cell->flushes));
}

static void put_limit(const struct page *page, const struct stat_cell *cell, struct text *out) {
  if (!(cell->limit_percent > 0)) return;
  text_decimal(out, cell->limit_percent, cell->limit_percent < 9.95 ? 1 : 0);
  text_put(out, "%");
  if (cell->limit == NULL) return;
  const char *word = strrchr(cell->limit, ' '); /* "device random": the foot of the page tells of which */
  text_format(out, " %s", word ? word + 1 : cell->limit);
}

/* ---- what a study published ---- */

static const struct overlay_figure *figure_of(const struct page *page, const struct stat_cell *cell) {
  return overlay_find(page->overlay, page->group->plan, cell->plan);
}

static void put_published(const struct page *page, const struct stat_cell *cell, struct text *out) {
  const struct overlay_figure *figure = figure_of(page, cell);
  if (figure == NULL) return;
  if (figure->mb_per_s > 0) {
    text_decimal(out, figure->mb_per_s, figure->mb_per_s < 99.95 ? 1 : 0);
    text_put(out, " MB/s");
  } else {
    text_decimal(out, figure->seconds * 1e3, 3);
    text_put(out, " ms");
  }
}

/* Against the style of our baseline, as our own ratio is. */
static void put_published_speed(const struct page *page, const struct stat_cell *cell, struct text *out) {
  const struct stat_group *group = page->group;
  const struct overlay_figure *figure = figure_of(page, cell);
  const struct overlay_figure *base = group->baseline >= 0 ? figure_of(page, &group->cells[group->baseline]) : NULL;
  if (figure == NULL || base == NULL) return;
  page_put_ratio(out, base->seconds / figure->seconds);
  text_put(out, "×");
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
  if (!page_is_floor(cell) && !label_is_expected(&page->group->plan->demand, cell->label)) text_name(out, cell->label);
}

/* `keep`: the column of the lowest number goes first when the width is small; KEEP stays, KEEP_LONG nearly so. */
#define KEEP 100u
#define KEEP_LONG 90u
enum { SPEED = 1 << REPORT_SPEED, COST = 1 << REPORT_COST }; /* the views that a column belongs to */
struct column {
  const char *title;
  bool right;
  unsigned keep, views;
  void (*put)(const struct page *page, const struct stat_cell *cell, struct text *out);
};

/* Drawn when the widths of the others are known; until then it asks for the least that shows something. */
#define BAR_LEAST 10u
#define BAR_MOST 32u
static void put_bar(const struct page *page, const struct stat_cell *cell, struct text *out) {
  struct text bar = {0};
  if (page->group->k < 2) return;
  page_put_bar(page, cell, BAR_LEAST, page_bar_scale(page), &bar);
  if (bar.length) text_put(out, "          ");
  text_release(&bar);
}

enum {
  COLUMN_RANK,
  COLUMN_METHOD,
  COLUMN_RATE,
  COLUMN_OPERATIONS,
  COLUMN_TIME,
  COLUMN_PRECISION,
  COLUMN_SPEED,
  COLUMN_INTERVAL,
  COLUMN_BAR
};
static const struct column columns[] = {
    [COLUMN_RANK] = {"rank", false, KEEP, SPEED | COST, put_rank},
    [COLUMN_METHOD] = {"method", false, KEEP, SPEED | COST, put_method},
    [COLUMN_RATE] = {NULL, true, KEEP, SPEED, put_rate},
    [COLUMN_OPERATIONS] = {NULL, true, KEEP_LONG + 1, SPEED, put_operations},
    [COLUMN_TIME] = {"time", true, 10, SPEED, put_time},
    [COLUMN_PRECISION] = {"±95%", true, 50, SPEED, put_precision},
    [COLUMN_SPEED] = {NULL, true, KEEP, SPEED | COST, put_speed},
    [COLUMN_INTERVAL] = {"95% interval", true, KEEP_LONG, SPEED, put_interval},
    [COLUMN_BAR] = {"", false, 55, SPEED, put_bar},
    {"verdict", false, KEEP, SPEED, put_verdict},
    {"published", true, 80, SPEED, put_published},
    {"its speed", true, 81, SPEED, put_published_speed},
    {"cpu/GiB", true, 40, SPEED | COST, put_cpu},
    {"cycles/B", true, 60, COST, put_cycles},
    {"instr/B", true, 25, COST, put_instructions},
    {"calls/GiB", true, 70, COST, put_calls},
    {"faults/GiB", true, 30, SPEED | COST, put_faults},
    {"switches/GiB", true, 20, COST, put_switches},
    {"peak", true, 5, SPEED | COST, put_peak},
    {"cache", true, 50, COST, put_growth},
    {"evicts", true, 55, COST, put_evicted},
    {"allocs", true, 38, SPEED | COST, put_allocations},
    {"allocated", true, 37, SPEED | COST, put_allocated},
    {"flushes", true, 45, SPEED, put_flushes},
    {"limit", true, 35, SPEED, put_limit},
    {"label", false, KEEP, SPEED, put_label},
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

/* What the cells are ranked by stays on the page, and so does their time when there is no rate. */
static unsigned column_weight(const struct page *page, size_t column) {
  if (column == COLUMN_TIME && !page->has_rate) return KEEP;
  enum plan_rank rank_by = page->summary->run->plan.rank_by;
  if (columns[column].put == put_cpu && rank_by == PLAN_RANK_CPU) return KEEP;
  if (columns[column].put == put_peak && rank_by == PLAN_RANK_MEMORY) return KEEP;
  if (page->view == REPORT_COST && columns[column].put == put_peak) return 65;
  return columns[column].keep;
}

static const char *column_title(const struct page *page, size_t column) {
  if (column == COLUMN_RATE) return page->rate.name;
  if (column == COLUMN_OPERATIONS) return page->operations.name;
  static const char *const ratios[] = {"speed", "transfer speed", "cpu ratio", "memory ratio"}; /* enum plan_rank */
  if (column == COLUMN_SPEED) return ratios[page->summary->run->plan.rank_by];
  return columns[column].title;
}

size_t page_column_count(void) { return COLUMNS; }
bool page_shows_column(const struct page *page, size_t column) { return columns[column].views >> page->view & 1u; }
const char *page_column_title(const struct page *page, size_t column) { return column_title(page, column); }
const char *page_column_key(size_t column) {
  static const char *const keys[COLUMNS] = {[COLUMN_RATE] = "rate", [COLUMN_OPERATIONS] = "operations", [COLUMN_SPEED] = "speed"};
  return keys[column] ? keys[column] : columns[column].title;
}
bool page_column_is_right(size_t column) { return columns[column].right; }
bool page_column_is_name(size_t column) { return column == COLUMN_METHOD; }
void page_put_column(const struct page *page, const struct stat_cell *cell, size_t column, struct text *out) {
  if (column != COLUMN_BAR) columns[column].put(page, cell, out);
}

/* ---- layout -------------------------------------------------------------------------------------------------------- */

/* The measured rows; text[row * COLUMNS + column]. */
struct layout {
  unsigned row_count;
  const struct stat_cell **rows;
  struct text *text;
  size_t widths[COLUMNS]; /* 0: not shown */
  struct text scale;      /* title of the bars: from 0 to what the longest one stands for */
};

static void layout_release(struct layout *layout) {
  for (size_t i = 0; layout->text != NULL && i < (size_t)layout->row_count * COLUMNS; i++) text_release(&layout->text[i]);
  free(layout->text);
  free(layout->rows);
  text_release(&layout->scale);
}

static void measure_column(const struct page *page, struct layout *layout, size_t column) {
  size_t widest = 0;
  if (!page_shows_column(page, column)) return;
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
  size_t width = PAGE_INDENT, shown = 0;
  for (size_t column = 0; column < COLUMNS; column++) {
    width += layout->widths[column];
    shown += layout->widths[column] > 0;
  }
  return shown ? width + (shown - 1) * PAGE_GAP : width;
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
  while (!page->whole && layout_width(layout) > page->width) {
    size_t column = lightest_column(page, layout);
    if (column == COLUMNS || column_weight(page, column) >= below) return;
    layout->widths[column] = 0;
  }
}

/*
 * Names may take a third of the width before columns of little weight go. Then names give way, then all columns that
 * may. Names get what is left over.
 */
#define NAME_LEAST 24u
static void fit_width(const struct page *page, struct layout *layout) {
  size_t *name = &layout->widths[COLUMN_METHOD], whole = *name, most = page->width / 3;
  if (page->whole) return;
  if (*name > most) *name = most;
  drop_columns(page, layout, KEEP_LONG);
  size_t width = layout_width(layout), over = width > page->width ? width - page->width : 0;
  if (over > 0) *name = *name > NAME_LEAST + over ? *name - over : *name < NAME_LEAST ? *name : NAME_LEAST;
  drop_columns(page, layout, KEEP);
  width = layout_width(layout);
  if (width < page->width) *name += page->width - width;
  if (*name > whole) *name = whole;
}

/* Bars take what is left of the line, up to what is pleasant. */
static void draw_bars(const struct page *page, struct layout *layout) {
  size_t *width = &layout->widths[COLUMN_BAR];
  const size_t used = layout_width(layout), most = page->whole ? BAR_MOST : page->width;
  const double scale = page_bar_scale(page);
  if (*width == 0) return;
  if (page->whole)
    *width = most;
  else if (used < most)
    *width = *width + most - used < BAR_MOST ? *width + most - used : BAR_MOST;
  for (unsigned row = 0; row < layout->row_count; row++) {
    struct text *text = &layout->text[row * (size_t)COLUMNS + COLUMN_BAR];
    text_clear(text);
    page_put_bar(page, layout->rows[row], *width, scale, text);
  }
  struct text end = {0};
  page_put_ratio(&end, scale);
  text_put(&layout->scale, "0");
  for (size_t at = 1 + end.length + 1; at < *width; at++) text_put(&layout->scale, " ");
  text_put(&layout->scale, text_string(&end));
  text_put(&layout->scale, "×");
  text_release(&end);
}

static bool layout_make(const struct page *page, struct layout *layout) {
  const struct stat_group *group = page->group;
  *layout = (struct layout){0};
  layout->rows = calloc(group->order_count + (size_t)1, sizeof *layout->rows);
  if (layout->rows == NULL) return false;
  for (unsigned i = 0; i < group->order_count; i++) {
    const struct stat_cell *cell = &group->cells[group->order[i]];
    if (page_is_measured(cell)) layout->rows[layout->row_count++] = cell;
  }
  layout->text = calloc((size_t)layout->row_count * COLUMNS + 1, sizeof *layout->text);
  if (layout->text == NULL) return false;
  for (size_t column = 0; column < COLUMNS; column++) measure_column(page, layout, column);
  fit_width(page, layout);
  draw_bars(page, layout);
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
    size_t start = cursor->want + pad;
    display_fill(page->out, start > cursor->at ? start - cursor->at : 0);
    fputs(piece, page->out);
    cursor->at = start + columns_used;
  }
  cursor->want += width + PAGE_GAP;
  free(piece);
}

static void print_titles(const struct page *page, const struct layout *layout) {
  struct cursor cursor = {0, PAGE_INDENT};
  page_style_on(page, STYLE_DIM);
  for (size_t column = 0; column < COLUMNS; column++) {
    if (layout->widths[column] == 0) continue;
    const char *title = column == COLUMN_BAR ? text_string(&layout->scale) : column_title(page, column);
    put_field(page, &cursor, title, strlen(title), columns[column].right, layout->widths[column]);
  }
  page_style_off(page, STYLE_DIM);
  putc('\n', page->out);
}

/* The rest of a name that did not fit, below its beginning. */
static void print_name_rest(const struct page *page, const struct layout *layout, const char *rest) {
  size_t rank = layout->widths[COLUMN_RANK], width = layout->widths[COLUMN_METHOD];
  while (*rest != '\0') {
    size_t indent = PAGE_INDENT + (rank ? rank + PAGE_GAP : 0), length = name_piece(rest, width);
    display_fill(page->out, indent);
    fprintf(page->out, "%.*s\n", (int)length, rest);
    rest += length;
  }
}

static void print_row(const struct page *page, const struct layout *layout, unsigned row) {
  const struct stat_cell *cell = layout->rows[row];
  enum style style = page_is_starred(page, cell) ? STYLE_BOLD : STYLE_PLAIN;
  struct cursor cursor = {0, PAGE_INDENT};
  const char *rest = "";
  page_style_on(page, style);
  if (page_is_starred(page, cell)) {
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
  page_style_off(page, style);
}

void page_rows(const struct page *page) {
  struct layout layout;
  if (layout_make(page, &layout) && layout.row_count > 0) {
    putc('\n', page->out);
    print_titles(page, &layout);
    for (unsigned row = 0; row < layout.row_count; row++) print_row(page, &layout, row);
  }
  layout_release(&layout);
}
