/*
 * advice_words.c - what follows from a group for somebody who writes a program, in a few sentences: the most useful first,
 * so that a terminal may leave out the last ones. It computes nothing.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "report/page.h"
#include "report/snippets.h"

#define LINES_MOST 4u

static const struct stat_advice *advice_of(const struct page *page) { return &page->group->advice; }

static void put_size(struct text *out, uint64_t bytes) {
  char text[UNITS_TEXT_MAX];
  page_put_glued(out, units_size_text((double)bytes, text));
}

/* ---- what to use ---------------------------------------------------------------------------------------------------- */

static void put_speed(struct text *out, const struct stat_cell *cell) {
  if (cell->verdict == STAT_BASELINE || !(cell->speed_ratio.median > 0)) return;
  text_put(out, " (");
  page_put_ratio(out, cell->speed_ratio.median);
  text_put(out, "×)");
}

static void put_lead(const struct page *page, struct text *out) {
  const struct stat_advice *advice = advice_of(page);
  text_put(out, advice->keeps_baseline ? "Stay with " : "Use ");
  page_put_glued(out, advice->lead->plan->id);
  put_speed(out, advice->lead);
  if (advice->keeps_baseline)
    text_put(out, advice->tied ? ": none is surely faster; " : ": none is as fast.");
  else if (advice->tied)
    text_put(out, "; ");
  else
    text_put(out, ".");
  if (advice->tied) text_format(out, "%u other%s may be as fast.", advice->tied, advice->tied == 1 ? "" : "s");
}

static void put_frugal(const struct page *page, struct text *out) {
  const struct stat_advice *advice = advice_of(page);
  if (!advice->frugal) return;
  text_put(out, "Of these ");
  page_put_glued(out, advice->frugal->plan->id);
  text_put(out, " takes least processor time, ");
  page_put_ratio(out, advice->frugal->cpu_ns / advice->lead->cpu_ns);
  text_put(out, "× of that.");
}

static void put_knob(const struct stat_knob *knob, const char *what, struct text *out) {
  if (!knob->least || !knob->enough) return;
  text_format(out, "%s: ", what);
  text_name(out, knob->enough->text);
  text_put(out, knob->enough->value == knob->most->value ? " is best" : " is enough");
  text_put(out, " (measured ");
  text_name(out, knob->least->text);
  text_put(out, " … ");
  text_name(out, knob->most->text);
  text_put(out, ")");
  if (knob->beats_from && knob->beats_from->value != knob->least->value) {
    text_put(out, ", faster than the baseline from ");
    text_name(out, knob->beats_from->text);
    text_put(out, " on");
  }
  text_put(out, ".");
}

static void put_block(const struct page *page, struct text *out) { put_knob(&advice_of(page)->block, "Block", out); }
static void put_depth(const struct page *page, struct text *out) { put_knob(&advice_of(page)->depth, "Depth", out); }

/* ---- from where on -------------------------------------------------------------------------------------------------- */

static void put_crossing(const struct stat_crossing *crossing, uint64_t here, const char *what, struct text *out) {
  if (crossing->measured < 2) return;
  const size_t before = out->length;
  if (crossing->from && crossing->below) {
    text_format(out, "Faster than the baseline from %s of ", what);
    put_size(out, crossing->from);
    text_put(out, " on; with ");
    put_size(out, crossing->below);
    text_format(out, " %s.", stat_verdict_words[crossing->below_verdict]);
  } else if (crossing->from && crossing->from < here) {
    text_format(out, "Faster than the baseline at all smaller %s measured, down to ", what);
    put_size(out, crossing->from);
    text_put(out, ".");
  }
  if (!crossing->above || !crossing->above_lead) return;
  if (out->length > before) text_put(out, " ");
  text_format(out, "With %s of ", what);
  put_size(out, crossing->above);
  text_put(out, " ");
  page_put_glued(out, crossing->above_lead->plan->id);
  text_put(out, " leads.");
}

static void put_request(const struct page *page, struct text *out) {
  put_crossing(&advice_of(page)->request, page->group->plan->demand.request_bytes, "requests", out);
}
static void put_file_size(const struct page *page, struct text *out) {
  put_crossing(&advice_of(page)->size, page->group->plan->demand.size_bytes, "files", out);
}

/* ---- what it costs -------------------------------------------------------------------------------------------------- */

/* Faults below this number are noise of the process itself. */
#define FAULTS_TOLD 1000.0

static void put_item(struct text *out, bool *any) {
  text_put(out, *any ? ", " : "Against the baseline it takes ");
  *any = true;
}

static void put_cost(const struct page *page, struct text *out) {
  const struct stat_advice *advice = advice_of(page);
  const double change = advice->cpu_ratio > 0 ? advice->cpu_ratio : 1;
  char text[UNITS_TEXT_MAX];
  bool any = false;
  if (advice->keeps_baseline) return;
  if (change > 1.1 || change < 0.9) {
    put_item(out, &any);
    page_put_ratio(out, change);
    text_put(out, "× the processor time");
  }
  if (advice->knows_memory && fabs(advice->extra_bytes) >= 1048576.0) {
    put_item(out, &any);
    page_put_glued(out, units_size_text(fabs(advice->extra_bytes), text));
    text_put(out, advice->extra_bytes > 0 ? " more memory" : " less memory");
  }
  if (fabs(advice->extra_faults) >= FAULTS_TOLD) {
    put_item(out, &any);
    text_decimal(out, fabs(advice->extra_faults), 0);
    text_put(out, advice->extra_faults > 0 ? " more page faults" : " fewer page faults");
  }
  if (any) text_put(out, ".");
}

/* ---- what would change it ------------------------------------------------------------------------------------------- */

static void put_changes(const struct page *page, struct text *out) {
  const struct stat_advice *advice = advice_of(page);
  for (unsigned i = 0; i < advice->change_count; i++) {
    const struct stat_change *change = &advice->changes[i];
    text_format(out, "%s%s: ", i ? "; " : "Otherwise ",
                strcmp(change->word, "each") == 0 ? "durable each time" : change->word);
    if (change->holds) {
      text_put(out, "the same method");
    } else {
      page_put_glued(out, change->lead->plan->id);
    }
  }
  if (advice->change_count) text_put(out, ".");
}

static void put_not_measured(const struct page *page, struct text *out) {
  const struct stat_advice *advice = advice_of(page);
  for (unsigned i = 0; i < sizeof advice->not_measured / sizeof *advice->not_measured && advice->not_measured[i]; i++)
    text_format(out, "%s%s", i ? ", " : "Not measured: ", advice->not_measured[i]);
  if (advice->not_measured[0]) text_put(out, ".");
}

static void put_code(const struct page *page, struct text *out) {
  const struct stat_cell *lead = advice_of(page)->lead;
  if (!snippet_plain(lead->plan->method) && !snippet_library(&page->group->plan->demand)) return;
  text_put(out, "In" DISPLAY_GLUE "C:" DISPLAY_GLUE "weir" DISPLAY_GLUE "help" DISPLAY_GLUE);
  text_name(out, lead->plan->method);
}

/* ---- the paragraph -------------------------------------------------------------------------------------------------- */

typedef void sentence(const struct page *page, struct text *out);
static sentence *const sentences[] = {put_lead, put_block,   put_depth,  put_request,     put_file_size,
                                      put_cost, put_changes, put_frugal, put_not_measured};

static bool add(const struct page *page, sentence *put, struct text *out) {
  struct text one = {0};
  put(page, &one);
  const bool any = one.length > 0;
  if (any && out->length > 0) text_put(out, " ");
  if (any) text_put(out, text_string(&one));
  text_release(&one);
  return any;
}

static unsigned count_lines(const struct page *page, const struct text *text) {
  char *wrapped = NULL;
  size_t size = 0;
  unsigned lines = 0;
  FILE *memory = open_memstream(&wrapped, &size);
  if (!memory) return 0;
  display_wrap(memory, &(struct display_box){page->width, PAGE_INDENT, PAGE_INDENT}, text_string(text));
  if (fclose(memory) == 0)
    for (size_t i = 0; i < size; i++) lines += wrapped[i] == '\n';
  free(wrapped);
  return lines;
}

/* As many sentences as fit, and where the lines of code are to be had. */
static void put_within(const struct page *page, unsigned lines, struct text *out) {
  for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++) {
    struct text trial = {0};
    text_put(&trial, text_string(out));
    if (add(page, sentences[i], &trial)) {
      struct text whole = {0};
      text_put(&whole, text_string(&trial));
      add(page, put_code, &whole);
      if (i == 0 || count_lines(page, &whole) <= lines) {
        text_clear(out);
        text_put(out, text_string(&trial));
      }
      text_release(&whole);
    }
    text_release(&trial);
  }
  add(page, put_code, out);
}

void page_put_advice(const struct page *page, struct text *out) {
  if (!advice_of(page)->lead || page_counts_use(page)) return;
  for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++) add(page, sentences[i], out);
}

void page_advice(const struct page *page) {
  struct text text = {0};
  if (!advice_of(page)->lead || page_counts_use(page)) return;
  put_within(page, LINES_MOST, &text);
  page_sentence(page, "→", text_string(&text));
  text_release(&text);
}

const char *page_plain_code(const struct page *page) {
  const struct stat_cell *lead = advice_of(page)->lead;
  return lead && !page_counts_use(page) ? snippet_plain(lead->plan->method) : NULL;
}

const char *page_library_code(const struct page *page) {
  return advice_of(page)->lead && !page_counts_use(page) ? snippet_library(&page->group->plan->demand) : NULL;
}
