/*
 * html.c - the answer as one page that works offline: the document around the parts of html_*.c. The page holds its style,
 * its scripts and its data, asks for nothing else, and may run no script but those two, whatever a name in it says.
 */
#include <stdlib.h>
#include <string.h>

#include "report/html_parts.h"
#include "version.h"

/* ---- what parts look up -------------------------------------------------------------------------------------------- */

struct page html_page(const struct html *html, unsigned run, const struct stat_group *group) {
  struct page page = {
      .summary = html->runs[run].summary, .group = group, .overlay = html->options->overlay, .out = html->out};
  if (group != NULL) page_choose_units(&page);
  return page;
}

const struct stat_group *html_group(const struct html *html, const struct html_section *section, unsigned run) {
  const unsigned group = section->groups[run];
  return group == HTML_NO_GROUP ? NULL : &html->runs[run].summary->groups[group];
}

/* ---- sections: what several runs asked alike ------------------------------------------------------------------------- */

static bool asks_the_same(const struct plan_group *a, const struct plan_group *b) {
  return strcmp(a->id, b->id) == 0 && a->demand.task == b->demand.task && a->demand.direction == b->demand.direction &&
         a->demand.access == b->demand.access && a->demand.request_bytes == b->demand.request_bytes;
}

/* The section to which this group belongs, or a new one. */
static struct html_section *section_of(struct html *html, unsigned run, const struct plan_group *plan) {
  for (unsigned i = 0; i < html->section_count; i++)
    for (unsigned other = 0; other < run; other++) {
      const struct stat_group *group = html_group(html, &html->sections[i], other);
      if (group != NULL && asks_the_same(group->plan, plan) && html->sections[i].groups[run] == HTML_NO_GROUP)
        return &html->sections[i];
    }
  struct html_section *section = &html->sections[html->section_count];
  section->groups = calloc(html->count, sizeof *section->groups);
  if (section->groups == NULL) return NULL;
  for (unsigned i = 0; i < html->count; i++) section->groups[i] = HTML_NO_GROUP;
  html->section_count++;
  return section;
}

static bool make_sections(struct html *html) {
  unsigned most = 0;
  for (unsigned run = 0; run < html->count; run++) most += html->runs[run].summary->group_count;
  html->sections = calloc(most + (size_t)1, sizeof *html->sections);
  if (html->sections == NULL) return false;
  for (unsigned run = 0; run < html->count; run++)
    for (unsigned g = 0; g < html->runs[run].summary->group_count; g++) {
      struct html_section *section = section_of(html, run, html->runs[run].summary->groups[g].plan);
      if (section == NULL) return false;
      section->groups[run] = g;
    }
  return true;
}

static void release_sections(struct html *html) {
  for (unsigned i = 0; html->sections != NULL && i < html->section_count; i++) free(html->sections[i].groups);
  free(html->sections);
}

/* ---- the document -------------------------------------------------------------------------------------------------- */

static void put_pieces(FILE *out, const char *const *pieces) {
  for (; *pieces != NULL; pieces++) fputs(*pieces, out);
}

static void put_title(const struct html *html) {
  const struct run *run = html->runs[0].summary->run;
  fputs("<title>weir", html->out);
  for (unsigned i = 0; i < html->count && html->count > 1; i++) {
    fputs(i > 0 ? ", " : ": ", html->out);
    html_words(html->out, html->runs[i].name);
  }
  if (html->count == 1 && run->plan.suite != NULL && run->plan.suite[0] != '\0') {
    fputs(": ", html->out);
    html_words(html->out, run->plan.suite);
  }
  fputs("</title>\n", html->out);
}

static void put_head(const struct html *html) {
  fprintf(html->out,
          "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src '%s' '%s'; "
          "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"generator\" content=\"weir " WEIR_VERSION
          "\">\n",
          html_assets.library_hash, html_assets.program_hash);
  put_title(html);
  fputs("<style>\n", html->out);
  put_pieces(html->out, html_assets.style);
  fputs("</style>\n</head>\n", html->out);
}

static void put_banner(const struct html *html) {
  fputs(
      "<body>\n<a class=\"skip\" href=\"#answer\">To the answer</a>\n<header>\n<span class=\"mark\" "
      "aria-hidden=\"true\"></span>"
      "<strong class=\"brand\">weir</strong>\n<div class=\"of\">",
      html->out);
  for (unsigned run = 0; run < html->count; run++) {
    struct page page = html_page(html, run, NULL);
    page.overlay = NULL; /* told where its lines are drawn */
    if (html->count > 1) {
      fprintf(html->out, "<p class=\"run-name\"><span class=\"letter\">%c</span> <b>", HTML_LETTER(run));
      html_words(html->out, html->runs[run].name);
      fputs("</b></p>\n", html->out);
    }
    html_lines(&page, "p", page_head);
  }
  fputs(
      "</div>\n<nav aria-label=\"Parts of this page\"><a href=\"#answer\">Answer</a> <a href=\"#overview\" "
      "hidden>Overview</a> "
      "<a href=\"#details\">Details</a> <a href=\"#conditions\">Conditions</a> <a href=\"#sure\">How sure</a> "
      "<a href=\"#methods\">Methods</a> <a href=\"#data-section\">Data</a></nav>\n<div class=\"tools\"></div>\n</header>\n",
      html->out);
}

/* The rules behind the words, for those who read no manual. */
static void put_rules(FILE *out) {
  fputs(
      "<section id=\"sure\">\n<h2>How sure</h2>\n<dl class=\"rules\">\n"
      "<dt>★ best set</dt><dd>With 95&nbsp;% confidence the fastest method is among the starred: those that no other beats "
      "in a "
      "one-sided sign test at 5&nbsp;% divided by the number of others.</dd>\n"
      "<dt>rank</dt><dd>A range, right for all pairs of a table at once (Holm). It is wider than the best set, which asks "
      "only who "
      "can be the fastest.</dd>\n"
      "<dt>speed</dt><dd>Time of the baseline divided by time of the method, paired inside each round, so that what the "
      "machine did "
      "to both cancels; median, with the interval that the sign test gives. Above 1 is faster. Intervals hold for all rows "
      "of a "
      "table together.</dd>\n"
      "<dt>verdict</dt><dd><i>faster</i>, <i>slower</i> or <i>same</i> only where the whole interval lies beyond, or "
      "inside, the "
      "margin: the one asked for, or what two identical entries showed in this run, if that is more. Else <i>unclear</i>, "
      "which "
      "never means that there is no difference.</dd>\n"
      "<dt>rounds</dt><dd>Every round measures each method once, in a fresh random order, each in a process of its own. "
      "Nothing is "
      "dropped as an outlier, and nothing stops when it looks significant.</dd>\n</dl>\n</section>\n",
      out);
}

static void put_data_section(const struct html *html) {
  fputs(
      "<section id=\"data-section\">\n<h2>Data</h2>\n<p class=\"sub\">All that is drawn here stands in this page as "
      "JSON.</p>\n"
      "<p class=\"downloads\"></p>\n<details class=\"licences\"><summary>Licences of what this page embeds</summary><pre>",
      html->out);
  for (const char *const *piece = html_assets.licences; *piece != NULL; piece++) html_escape(html->out, *piece);
  fputs("</pre></details>\n</section>\n", html->out);
}

static void put_scripts(const struct html *html) {
  html_data(html);
  fputs("<script>", html->out);
  put_pieces(html->out, html_assets.library);
  fputs("</script>\n<script>", html->out);
  put_pieces(html->out, html_assets.program);
  fputs("</script>\n", html->out);
}

static void put_curves(const struct html *html) {
  for (unsigned run = 0; run < html->count; run++) {
    const struct page page = html_page(html, run, NULL);
    html_lines(&page, "p", page_curves);
  }
}

static void put_document(const struct html *html) {
  put_head(html);
  put_banner(html);
  fputs("<noscript><p class=\"noscript\">Charts need scripts; every number is in the tables.</p></noscript>\n<main>\n",
        html->out);
  html_answers(html);
  html_warnings(html);
  fputs(
      "<section id=\"overview\" hidden>\n<h2>Overview</h2>\n<div class=\"charts\"></div>\n</section>\n<div "
      "id=\"details\">\n",
      html->out);
  put_curves(html);
  for (unsigned i = 0; i < html->section_count; i++) html_section(html, i);
  fputs("</div>\n", html->out);
  html_conditions(html);
  put_rules(html->out);
  html_methods(html);
  put_data_section(html);
  fputs("</main>\n<div id=\"said\" class=\"visually-hidden\" role=\"status\" aria-live=\"polite\"></div>\n", html->out);
  put_scripts(html);
  fputs("</body>\n</html>\n", html->out);
}

static void write_runs(const struct report_run *runs, unsigned count, const struct report_options *options, FILE *out) {
  struct html html = {.out = out, .runs = runs, .count = count, .options = options};
  if (html_assets.missing == NULL && make_sections(&html)) put_document(&html);
  release_sections(&html);
}

static void write_html(const struct summary *summary, const struct report_options *options, FILE *out) {
  write_runs(&(struct report_run){"", summary}, 1, options, out);
}

static const char *missing(void) { return html_assets.missing; }

const struct report report_html = {.name = "html",
                                   .suffix = ".html",
                                   .summary = "the answer as one page to look at, with charts",
                                   .write = write_html,
                                   .write_runs = write_runs,
                                   .missing = missing};
