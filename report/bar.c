/*
 * bar.c - a row's ratio as a bar: full up to the lower end of its interval, light from there to the upper end, with the
 * median darker. Where the interval is narrower than a character the bar ends at the median, to an eighth of one. All rows
 * of a group share one scale, which begins at zero, so that twice as long is twice as much.
 */
#include <math.h>

#include "report/page.h"

#define EIGHTHS 8.0

/* Is there anything to draw? The ratio as it is printed. */
static bool shown_ratio(const struct page *page, const struct stat_cell *cell, struct stat_interval *out) {
  if (!(cell->speed_ratio.median > 0) || page_is_floor(cell)) return false;
  *out = page_shown_ratio(page, cell->speed_ratio);
  if (cell->verdict == STAT_BASELINE || !out->known) out->low = out->high = out->median;
  return true;
}

double page_bar_scale(const struct page *page) {
  double most = 0;
  for (unsigned i = 0; i < page->group->cell_count; i++) {
    const struct stat_cell *cell = &page->group->cells[i];
    struct stat_interval ratio;
    if (page_is_measured(cell) && !cell->plan->twin && shown_ratio(page, cell, &ratio)) most = fmax(most, ratio.high);
  }
  return most;
}

/* The character that ends a bar within its cell; nothing where less than a sixteenth of it is filled. */
static const char *part_of(double share) {
  static const char *const parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
  const double eighths = floor(share * EIGHTHS + 0.5);
  return parts[eighths < 0 ? 0 : eighths > EIGHTHS ? 8 : (int)eighths];
}

void page_put_bar(const struct page *page, const struct stat_cell *cell, size_t width, double scale, struct text *out) {
  struct stat_interval ratio;
  if (!(scale > 0) || !shown_ratio(page, cell, &ratio)) return;
  const double factor = (double)width / scale, low = ratio.low * factor, high = ratio.high * factor;
  const double median = ratio.median * factor;
  const bool wide = high - low >= 1;
  for (size_t i = 0; i < width; i++) {
    const double from = (double)i, end = wide ? low : ratio.median * factor;
    if (from + 1 <= end)
      text_put(out, "█");
    else if (!wide && from < end)
      text_put(out, part_of(end - from));
    else if (wide && from <= median && median < from + 1)
      text_put(out, "▓");
    else if (wide && from + 0.5 < high)
      text_put(out, "░");
  }
}
