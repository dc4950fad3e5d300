/*
 * page.h - what the files of the table and the Markdown report share: the page in the making. Not for other folders.
 */
#ifndef WEIR_PAGE_H
#define WEIR_PAGE_H

#include "report/display.h"
#include "report/overlay.h"
#include "report/report.h"

#define PAGE_GIB 1073741824.0
#define PAGE_INDENT 2u /* the star and a space */
#define PAGE_GAP 2u    /* between fields */

enum style { STYLE_PLAIN, STYLE_BOLD, STYLE_DIM };

/* One group on its way to the page, with the units that suit it. */
struct page {
  const struct summary *summary;
  const struct stat_group *group;
  const struct overlay *overlay; /* or NULL */
  FILE *out;
  bool color;
  enum report_view view;
  size_t width;
  bool whole; /* no column gives way to the width */
  bool has_rate;
  struct {
    double factor;
    const char *name;
  } rate, operations;
};

/* ---- page.c ---- */

void page_style_on(const struct page *page, enum style style);
void page_style_off(const struct page *page, enum style style);
/* One star or space, then the sentence, wrapped. */
void page_sentence(const struct page *page, const char *mark, const char *sentence);
bool page_is_floor(const struct stat_cell *cell);
bool page_is_measured(const struct stat_cell *cell);
/* Interrupted before anything was measured: one line says it all. */
bool page_is_void(const struct page *page);
/* In the best set, where there is somebody to beat. */
bool page_is_starred(const struct page *page, const struct stat_cell *cell);
/* Ranked by what is used up: less is better, and nothing is fast. */
bool page_counts_use(const struct page *page);
/* The ratio as it is printed: of speeds, or of what is used, so that "less" stands beside a number below 1. */
struct stat_interval page_shown_ratio(const struct page *page, struct stat_interval ratio);
/* Bytes of one pass; 0 when unknown. */
double page_pass_bytes(const struct stat_cell *cell);
void page_put_ratio(struct text *out, double ratio);
/* What was put since `from` stays on one line. */
void page_glue(struct text *out, size_t from);
/* A name of any bytes, on one line. */
void page_put_glued(struct text *out, const char *name);

/* What `print` prints for this page, without colours and unwrapped: `each` gets every line that is not empty, and `with`. */
typedef void page_line(const struct page *page, const char *with, const char *line);
void page_lines(const struct page *page, void (*print)(const struct page *page), page_line *each, const char *with);

/* ---- table.c: head and foot of a page and of a group ---- */

void page_head(const struct page *page);
void page_floors(const struct page *page);
/* What the machine did meanwhile. */
void page_machine(const struct page *page);
void page_warning(const struct page *page, const struct run_warning *warning);
/* The units that suit the group. */
void page_choose_units(struct page *page);
void page_put_heading(const struct page *page, struct text *left, struct text *right);
void page_dropped(const struct page *page);

/* ---- columns.c: the measured cells ---- */

void page_rows(const struct page *page);
/* The same fields one by one, for reports that do not lay them out in columns of letters. */
size_t page_column_count(void);
bool page_shows_column(const struct page *page, size_t column); /* in the view of the page */
const char *page_column_title(const struct page *page, size_t column);
/* A word that stays the same whatever the units are. */
const char *page_column_key(size_t column);
bool page_column_is_right(size_t column);
bool page_column_is_name(size_t column);
/* Bars are drawn by page_rows alone. */
void page_put_column(const struct page *page, const struct stat_cell *cell, size_t column, struct text *out);

/* ---- operations.c: the time of single operations, where it was taken ---- */

bool page_has_latency(const struct page *page);
void page_latency(const struct page *page);
/* Which percentiles are missing, and why. */
void page_latency_notes(const struct page *page);
size_t page_latency_count(void);
const char *page_latency_title(size_t column);
bool page_latency_is_shown(const struct page *page, size_t column);
/* "12.3 us ±4%"; empty: not known. */
void page_put_latency(const struct stat_cell *cell, size_t column, bool interval, struct text *out);

/* ---- bar.c: ratios drawn ---- */

/* The ratio at which a bar of the group is as long as it may be; 0: there is nothing to draw. */
double page_bar_scale(const struct page *page);
void page_put_bar(const struct page *page, const struct stat_cell *cell, size_t width, double scale, struct text *out);

/* ---- remarks.c: what stands below the rows ---- */

/* Cells that could not be measured, by reason. */
void page_absences(const struct page *page);
/* Who is fastest, or why that is not said. */
void page_answer(const struct page *page);
/* What could have been seen. */
void page_certainty(const struct page *page);
/* What the numbers rest on. */
void page_evidence(const struct page *page);
/* Writers whose rate still moved in the last rounds. */
void page_steadiness(const struct page *page);

/* ---- advice_words.c: what follows for a program ---- */

/* At most four lines; nothing where the group makes no claim, or is ranked by what is used up. */
void page_advice(const struct page *page);
/* All that there is to say, on one line. */
void page_put_advice(const struct page *page, struct text *out);
/* The lines of C for the method that leads, and those by libweir; NULL: none. */
const char *page_plain_code(const struct page *page);
const char *page_library_code(const struct page *page);

/* ---- curves.c: what groups of different request sizes say together; below them ---- */

void page_curves(const struct page *page);

#endif
