/* page.c - the small things that every part of the table report needs: styles, units, text that is not broken. */
#include "report/page.h"

#include <stdlib.h>
#include <string.h>

#define WIDTH_ENDLESS ((size_t)1 << 30)

void page_style_on(const struct page *page, enum style style) {
  static const char *const codes[] = {"", "\033[1m", "\033[2m"};
  if (page->color) fputs(codes[style], page->out);
}

void page_style_off(const struct page *page, enum style style) {
  if (page->color && style != STYLE_PLAIN) fputs("\033[0m", page->out);
}

bool page_is_floor(const struct stat_cell *cell) { return cell->plan->capabilities & WEIR_CAP_FLOOR; }
bool page_is_measured(const struct stat_cell *cell) { return cell->status == PLAN_OK && cell->n > 0; }

bool page_is_void(const struct page *page) { return page->summary->run->interrupted && page->summary->analysed == 0; }

bool page_is_starred(const struct page *page, const struct stat_cell *cell) { return cell->best && page->group->k > 1; }

bool page_counts_use(const struct page *page) {
  enum plan_rank rank_by = page->summary->run->plan.rank_by;
  return rank_by == PLAN_RANK_CPU || rank_by == PLAN_RANK_MEMORY;
}

struct stat_interval page_shown_ratio(const struct page *page, struct stat_interval ratio) {
  if (!page_counts_use(page) || !(ratio.median > 0)) return ratio;
  struct stat_interval use = {.median = 1 / ratio.median, .known = ratio.known};
  if (ratio.known) {
    use.low = 1 / ratio.high;
    use.high = 1 / ratio.low;
  }
  return use;
}

double page_pass_bytes(const struct stat_cell *cell) {
  if (page_is_floor(cell) || !(cell->bytes_per_s > 0)) return 0;
  return cell->bytes_per_s * cell->elapsed_ns.median / 1e9;
}

void page_put_ratio(struct text *out, double ratio) {
  text_decimal(out, ratio, ratio < 0.0995 ? 3 : ratio < 9.995 ? 2 : ratio < 99.95 ? 1 : 0);
}

void page_glue(struct text *out, size_t from) {
  for (size_t i = from; i < out->length; i++) {
    if (out->data[i] == ' ') out->data[i] = DISPLAY_GLUE[0];
  }
}

void page_put_glued(struct text *out, const char *name) {
  size_t from = out->length;
  text_name(out, name);
  page_glue(out, from);
}

void page_sentence(const struct page *page, const char *mark, const char *sentence) {
  fprintf(page->out, "%s ", mark);
  display_wrap(page->out, &(struct display_box){page->width, PAGE_INDENT, PAGE_INDENT}, sentence);
}

/* The caller frees it; NULL when there is no memory. */
static char *printed(const struct page *page, void (*print)(const struct page *page)) {
  char *text = NULL;
  size_t length;
  struct page inner = *page;
  inner.color = false;
  inner.width = WIDTH_ENDLESS;
  inner.out = open_memstream(&text, &length);
  if (inner.out == NULL) return NULL;
  print(&inner);
  if (fclose(inner.out) == 0) return text;
  free(text);
  return NULL;
}

void page_lines(const struct page *page, void (*print)(const struct page *page), page_line *each, const char *with) {
  char *text = printed(page, print), *end;
  for (char *line = text; line != NULL && *line != '\0'; line = end) {
    end = line + strcspn(line, "\n");
    if (*end != '\0') *end++ = '\0';
    line += strspn(line, " ");
    if (*line != '\0') each(page, with, line);
  }
  free(text);
}
