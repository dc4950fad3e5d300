/*
 * curves.c - how the rate grows with the request, through the page cache and past it: a sentence for each side, below the
 * groups. It looks up what bench/stat/curve.c found.
 */
#include "base/units.h"
#include "report/page.h"

static void put_size(struct text *out, uint64_t bytes) {
  char text[UNITS_TEXT_MAX];
  page_put_glued(out, units_size_text((double)bytes, text));
}

static void put_side(struct text *out, const char *name, const struct stat_curve_side *side) {
  char text[UNITS_TEXT_MAX];
  text_format(out, "%s at best ", name);
  page_put_glued(out, units_rate_text(side->best->bytes_per_s, text));
  text_put(out, " (");
  page_put_glued(out, side->best->plan->id);
  text_put(out, ", requests of ");
  put_size(out, side->best_request_bytes);
  if (side->cpu_ns_per_gib >= 0) {
    text_put(out, ", CPU ");
    page_put_glued(out, units_time_text(side->cpu_ns_per_gib, text));
    text_put(out, "/GiB");
  }
  text_put(out, "), half of it with requests of ");
  put_size(out, side->half_request_bytes);
  text_format(out, "%s at depth %u", side->half_is_smallest ? " (the smallest)" : "", side->half_depth);
}

static void print_curve(const struct page *page, const struct stat_curve *curve) {
  struct plan_demand demand = curve->first->demand;
  char title[PLAN_TITLE_MAX];
  struct text text = {0};
  demand.request_bytes = 0;
  plan_demand_title(&demand, title);
  text_name(&text, title);
  text_format(&text, ", %u sizes of requests: ", curve->group_count);
  put_side(&text, "unbuffered", &curve->unbuffered);
  text_put(&text, "; ");
  put_side(&text, "buffered", &curve->buffered);
  text_put(&text, ": buffered reaches ");
  text_decimal(&text, curve->buffered_share * 100, 0);
  text_put(&text, DISPLAY_GLUE "% of unbuffered.");
  page_sentence(page, " ", text_string(&text));
  text_release(&text);
}

void page_curves(const struct page *page) {
  for (unsigned i = 0; i < page->summary->curve_count; i++) print_curve(page, &page->summary->curves[i]);
}
