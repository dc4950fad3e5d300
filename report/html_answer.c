/* html_answer.c - what the page says first: a card for each question with who is fastest, and the warnings. */
#include <string.h>

#include "base/units.h"
#include "report/html_parts.h"

/* So many names of a tie are told; the table has all. */
#define TIE_SHOWN 3u
/* So many warnings stand open at the top. */
#define WARNINGS_SHOWN 3u

static void put_tie(const struct page *page) {
  unsigned told = 0;
  for (unsigned i = 0; i < page->group->order_count; i++) {
    const struct stat_cell *cell = &page->group->cells[page->group->order[i]];
    if (!page_is_starred(page, cell) || told++ >= TIE_SHOWN) continue;
    if (told > 1) fputs("<span class=\"or\"> or </span>", page->out);
    html_name(page->out, cell->plan->id);
  }
  if (told > TIE_SHOWN) fprintf(page->out, "<span class=\"or\"> and %u more</span>", told - TIE_SHOWN);
}

static const struct stat_cell *first_starred(const struct page *page) {
  for (unsigned i = 0; i < page->group->order_count; i++) {
    const struct stat_cell *cell = &page->group->cells[page->group->order[i]];
    if (page_is_starred(page, cell)) return cell;
  }
  return NULL;
}

static void put_lead(const struct page *page, const struct stat_cell *cell) {
  char rate[UNITS_TEXT_MAX];
  struct text ratio = {0};
  if (cell->speed_ratio.median > 0) page_put_ratio(&ratio, page_shown_ratio(page, cell->speed_ratio).median);
  fputs("<p class=\"lead\">", page->out);
  if (cell->verdict == STAT_BASELINE) {
    fputs("the baseline itself", page->out);
  } else if (ratio.length > 0 && page->group->baseline >= 0) {
    fprintf(page->out, "<b>%s×</b> ", text_string(&ratio));
    html_name(page->out, page->group->cells[page->group->baseline].plan->id);
  }
  if (cell->bytes_per_s > 0) fprintf(page->out, " · <b>%s</b>", units_rate_text(cell->bytes_per_s, rate));
  fputs("</p>\n", page->out);
  text_release(&ratio);
}

static void put_answer(const struct page *page) {
  const struct stat_group *group = page->group;
  const struct stat_cell *first = group->claims && !group->plan->dropped ? first_starred(page) : NULL;
  if (first != NULL) {
    fputs("<p class=\"who\"><span class=\"star\">★</span> ", page->out);
    put_tie(page);
    fputs("</p>\n", page->out);
    put_lead(page, first);
  }
  fputs(first != NULL ? "<div class=\"sure\">" : "<div class=\"undecided\">", page->out);
  html_lines(page, "p", group->plan->dropped ? page_dropped : page_answer);
  fputs("</div>\n", page->out);
}

static void put_card(const struct html *html, unsigned index) {
  const struct html_section *section = &html->sections[index];
  bool titled = false;
  fputs("<li>", html->out);
  for (unsigned run = 0; run < html->count; run++) {
    const struct stat_group *group = html_group(html, section, run);
    if (group == NULL) continue;
    const struct page page = html_page(html, run, group);
    if (!titled) {
      fprintf(html->out, "<a class=\"what\" href=\"#g%u\">", index);
      html_words(html->out, group->plan->title);
      fputs("</a>\n", html->out);
    }
    titled = true;
    if (html->count > 1) fprintf(html->out, "<div class=\"of-run\"><span class=\"letter\">%c</span>", HTML_LETTER(run));
    put_answer(&page);
    if (html->count > 1) fputs("</div>", html->out);
  }
  fputs("</li>\n", html->out);
}

void html_answers(const struct html *html) {
  fprintf(html->out,
          "<section id=\"answer\" aria-labelledby=\"answer-title\">\n<h1 id=\"answer-title\">%s</h1>\n<ol "
          "class=\"answers%s\">\n",
          html->count > 1 ? "What is fastest, run by run" : "What is fastest here", html->section_count > 12 ? " many" : "");
  for (unsigned i = 0; i < html->section_count; i++) put_card(html, i);
  fputs("</ol>\n</section>\n", html->out);
}

/* ---- warnings ------------------------------------------------------------------------------------------------------ */

static void put_warning(const struct html *html, unsigned run, const struct run_warning *warning) {
  fputs("<li>", html->out);
  if (html->count > 1) fprintf(html->out, "<span class=\"letter\">%c</span> ", HTML_LETTER(run));
  fputs("<b>", html->out);
  html_words(html->out, warning->id);
  fputs("</b> ", html->out);
  html_words(html->out, warning->text);
  if (warning->remedy[0]) {
    fputs(" <span class=\"remedy\">→ ", html->out);
    html_words(html->out, warning->remedy);
    fputs("</span>", html->out);
  }
  fputs("</li>\n", html->out);
}

/* Those from `first` on, at most `most`. Returns how many there are in all. */
static unsigned put_warnings(const struct html *html, unsigned first, unsigned most) {
  unsigned number = 0;
  for (unsigned run = 0; run < html->count; run++) {
    const struct run *source = html->runs[run].summary->run;
    for (unsigned i = 0; i < source->warning_count; i++, number++)
      if (number >= first && number - first < most) put_warning(html, run, &source->warnings[i]);
  }
  return number;
}

void html_warnings(const struct html *html) {
  unsigned all = put_warnings(html, 0, 0);
  if (all == 0) return;
  fputs("<section id=\"warnings\" aria-label=\"Warnings\">\n<ul class=\"warnings\">\n", html->out);
  put_warnings(html, 0, WARNINGS_SHOWN);
  fputs("</ul>\n", html->out);
  if (all > WARNINGS_SHOWN) {
    fprintf(html->out, "<details><summary>%u more</summary>\n<ul class=\"warnings\">\n", all - WARNINGS_SHOWN);
    put_warnings(html, WARNINGS_SHOWN, UINT32_MAX);
    fputs("</ul></details>\n", html->out);
  }
  fputs("</section>\n", html->out);
}
