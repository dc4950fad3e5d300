/*
 * remarks.c - what the table report says in words: what could not be measured, who won, what could have been seen and what
 * the numbers rest on. It computes nothing.
 */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "report/page.h"

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
  return page_is_measured(cell) ? NULL : cell;
}

static bool told_before(const struct stat_group *group, unsigned i) {
  for (unsigned j = 0; j < i; j++) {
    const struct stat_cell *other = absent_cell(group, j);
    if (other != NULL && same_absence(other, absent_cell(group, i))) return true;
  }
  return false;
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
    page_put_glued(&text, other->plan->id);
  }
  text_put(&text, ": ");
  text_name(&text, absence_reason(cell));
  if (cell->plan->remedy[0] && cell->status != PLAN_OK) {
    text_put(&text, " → ");
    text_name(&text, cell->plan->remedy);
  }
  const char *word = absence_word(cell);
  size_t indent = PAGE_INDENT + strlen("not measured") + PAGE_GAP;
  enum style style = cell->status == PLAN_FAILED ? STYLE_BOLD : STYLE_DIM;
  page_style_on(page, style);
  fprintf(page->out, "  %-14s", word);
  display_wrap(page->out, &(struct display_box){page->width, indent, indent}, text_string(&text));
  page_style_off(page, style);
  text_release(&text);
}

void page_absences(const struct page *page) {
  for (unsigned i = 0; i < page->group->order_count; i++) {
    if (absent_cell(page->group, i) != NULL && !told_before(page->group, i)) print_absence(page, i);
  }
}
/* ---- sentences ----------------------------------------------------------------------------------------------------- */

static void put_percent(struct text *out, double ratio) {
  double percent = (ratio - 1) * 100;
  if (percent >= 0.05) text_put(out, "+");
  text_decimal(out, percent, 1);
}

/* Beyond twice and half, percentages only confuse. */
static bool reads_as_percent(double ratio) { return ratio <= 2 && ratio >= 0.5; }

static const char *winner_words(enum plan_rank rank_by, bool one) {
  static const char *const several[] = {"the fastest method", "the method with the fastest transfer",
                                        "the method with the least CPU time", "the method with the least memory"};
  static const char *const single[] = {"this method is the fastest", "this method has the fastest transfer",
                                       "this method needs the least CPU time", "this method needs the least memory"};
  return one ? single[rank_by] : several[rank_by];
}

static const char *lead_words(enum plan_rank rank_by) {
  static const char *const words[] = {"no other method is faster than this one", "no other method transfers faster than this one",
                                      "no other method needs less CPU time than this one",
                                      "no other method needs less memory than this one"};
  return words[rank_by];
}

/* Who leads alone may do so by little: verdict and rank, which ask for more, then stand undecided in the same row. */
static bool leads_clearly(const struct stat_cell *cell) {
  if (cell->verdict == STAT_UNCLEAR || cell->verdict == STAT_SAME) return false;
  return !cell->ranked || cell->rank_high == 1;
}

static const struct stat_cell *first_best(const struct stat_group *group) {
  unsigned i = 0;
  while (i + 1 < group->order_count && !group->cells[group->order[i]].best) i++;
  return &group->cells[group->order[i]];
}

static void print_best_set(const struct page *page) {
  const struct stat_group *group = page->group;
  enum plan_rank rank_by = page->summary->run->plan.rank_by;
  struct text text = {0};
  text_put(&text, "with 95" DISPLAY_GLUE "% confidence ");
  if (group->best_count > 1)
    text_format(&text, "%s is among these %u.", winner_words(rank_by, false), group->best_count);
  else if (leads_clearly(first_best(group)))
    text_format(&text, "%s.", winner_words(rank_by, true));
  else
    text_format(&text, "%s, but it may lead by very little.", lead_words(rank_by));
  if (group->rounds < group->needed_baseline) text_format(&text, " Verdicts need %u rounds.", group->needed_baseline);
  if (group->rounds < group->needed_pairs) text_format(&text, " Ranks need %u rounds.", group->needed_pairs);
  page_sentence(page, "★", text_string(&text));
  text_release(&text);
}

static void print_numbers_only(const struct page *page) {
  const struct stat_group *group = page->group;
  struct text text = {0};
  text_format(&text, "%u round%s: numbers only – %u methods need at least %u rounds for a best set and %u for ranks.",
              group->rounds, group->rounds == 1 ? "" : "s", group->k, group->needed_best, group->needed_pairs);
  page_sentence(page, " ", text_string(&text));
  text_release(&text);
}

/* The group's name says what was asked for; this says that it was not so. */
static void print_missed_state(const struct page *page) {
  bool cold = page->group->plan->demand.cache == PLAN_COLD;
  page_sentence(page, "!", cold ? "cold was asked for, but in no sample was the file out of the cache and read from the device: "
                                  "these are not numbers of a disk."
                                : "warm was asked for, but in no sample did the file stay in the cache.");
}

static void put_share(struct text *out, double share) {
  if (share < 0) {
    text_put(out, "unknown");
    return;
  }
  text_decimal(out, share * 100, share > 0 && share < 0.1 ? 1 : 0);
  text_put(out, DISPLAY_GLUE "%");
}

/* Cold by reading a second file: did that do anything to the first one? */
static void print_flush(const struct page *page) {
  const struct stat_group *group = page->group;
  const struct stat_interval *resident = &group->resident_before;
  bool by_file = page->summary->run->plan.flush == PLAN_FLUSH_FILE && group->plan->demand.cache == PLAN_COLD;
  struct text text = {0};
  if (!by_file || !resident->known) return;
  text_put(&text, "flush: after a second file of this size was read, ");
  put_share(&text, resident->median);
  text_put(&text, " of the first was still in the cache");
  if (resident->low < resident->high) {
    text_put(&text, " (");
    put_share(&text, resident->low);
    text_put(&text, DISPLAY_GLUE "…" DISPLAY_GLUE);
    put_share(&text, resident->high);
    text_put(&text, ")");
  }
  text_put(&text, resident->low >= 0.99 ? ": reading it flushed nothing." : ".");
  page_sentence(page, " ", text_string(&text));
  text_release(&text);
}

void page_answer(const struct page *page) {
  const struct stat_group *group = page->group;
  print_flush(page);
  if (group->state_missed) print_missed_state(page);
  if (group->k == 0) {
    page_sentence(page, " ", "No method was measured.");
  } else if (group->k == 1) {
    page_sentence(page, " ", "Only one method was measured: there is nothing to rank.");
  } else if (group->claims && group->best_count > 0) {
    print_best_set(page);
  } else {
    print_numbers_only(page);
  }
}

static void put_smallest(struct text *text, double ratio) {
  if (ratio > 1) {
    text_put(text, "The smallest difference this run could have called is ");
    bool percent = reads_as_percent(ratio);
    if (percent) text_decimal(text, (ratio - 1) * 100, 1);
    if (percent) text_put(text, DISPLAY_GLUE "% (");
    page_put_ratio(text, ratio);
    text_put(text, percent ? "×)." : "×.");
  } else {
    text_put(text, "No difference from the baseline could have been called with so few rounds.");
  }
}

/* All three as percentages or none, so that they can be compared. */
static void put_twin(struct text *text, const struct page *page) {
  const struct stat_group *group = page->group;
  const struct stat_interval twin = page_shown_ratio(page, group->twin);
  if (!(twin.median > 0) || group->baseline < 0) return;
  bool percent = reads_as_percent(twin.median) && (!twin.known || (reads_as_percent(twin.low) && reads_as_percent(twin.high)));
  void (*put)(struct text *, double) = percent ? put_percent : page_put_ratio;
  const char *unit = percent ? DISPLAY_GLUE "%" : "×";
  if (text->length > 0) text_put(text, " ");
  text_put(text, "Two identical entries of ");
  page_put_glued(text, group->cells[group->baseline].plan->id);
  text_put(text, " differed by ");
  put(text, twin.median);
  text_put(text, unit);
  if (twin.known) {
    text_put(text, " (");
    put(text, twin.low);
    text_put(text, DISPLAY_GLUE "…" DISPLAY_GLUE);
    put(text, twin.high);
    text_format(text, "%s)", unit);
  }
  text_put(text, ".");
}

void page_certainty(const struct page *page) {
  struct text text = {0};
  if (page->group->k > 1) put_smallest(&text, page->group->smallest_callable_ratio);
  put_twin(&text, page);
  if (text.length > 0) page_sentence(page, " ", text_string(&text));
  text_release(&text);
}

/* ---- evidence ------------------------------------------------------------------------------------------------------ */

/* The first of the best set, else the baseline, else whoever has samples; NULL: nobody. */
static const struct stat_cell *witness(const struct stat_group *group) {
  const struct stat_cell *first = NULL;
  for (unsigned i = 0; i < group->order_count; i++) {
    const struct stat_cell *cell = &group->cells[group->order[i]];
    if (!page_is_measured(cell) || page_is_floor(cell)) continue;
    if (cell->best) return cell;
    if (first == NULL) first = cell;
  }
  return group->baseline >= 0 && page_is_measured(&group->cells[group->baseline]) ? &group->cells[group->baseline] : first;
}

/* Units and numbers stay on one line. */
static void put_size(struct text *out, double bytes) {
  char text[UNITS_TEXT_MAX];
  if (bytes < 0) {
    text_put(out, "unknown");
  } else {
    page_put_glued(out, units_size_text(bytes, text));
  }
}

static void print_evidence(const struct page *page, const struct stat_cell *cell) {
  struct text text = {0};
  page_put_glued(&text, cell->plan->id);
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
  put_size(&text, page_pass_bytes(cell));
  fputs("  evidence: ", page->out);
  display_wrap(page->out, &(struct display_box){page->width, 12, PAGE_INDENT + 2}, text_string(&text));
  text_release(&text);
}

static void print_read_back(const struct page *page) {
  const struct stat_group *group = page->group;
  struct text text = {0};
  if (group->read_back == 0) return;
  text_format(&text, "read back past the cache after the pilot: the %s of %u method%s, every byte as it was handed over.",
              group->read_back == 1 ? "file" : "files", group->read_back, group->read_back == 1 ? "" : "s");
  page_sentence(page, " ", text_string(&text));
  text_release(&text);
}

/* One stands for all where they are many; of two, each speaks for itself. */
void page_evidence(const struct page *page) {
  const struct stat_group *group = page->group;
  const struct stat_cell *first = witness(group);
  if (first == NULL) return;
  print_evidence(page, first);
  for (unsigned i = 0; i < group->order_count && group->k == 2; i++) {
    const struct stat_cell *cell = &group->cells[group->order[i]];
    if (cell != first && page_is_measured(cell) && !page_is_floor(cell)) print_evidence(page, cell);
  }
  print_read_back(page);
}
