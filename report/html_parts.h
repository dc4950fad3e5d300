/*
 * html_parts.h - what the files of the HTML report share. Not for other folders.
 *
 * The page is whole without its scripts: answer, conditions, tables and remarks are plain HTML, printed here. The scripts of
 * report/web read the same summary as JSON and add charts and what moves.
 */
#ifndef WEIR_HTML_PARTS_H
#define WEIR_HTML_PARTS_H

#include "report/page.h"

/* What the build embeds, in pieces; see scripts/embed-web.py. Hashes are those of the content security policy. */
struct html_assets {
  const char *missing; /* why this build has none of the others, or NULL */
  const char *const *style, *const *library, *const *program, *const *licences;
  const char *library_hash, *program_hash;
};
extern const struct html_assets html_assets;

struct html {
  FILE *out;
  const struct report_run *runs;
  unsigned count;
  const struct report_options *options;
  unsigned section_count;
  struct html_section *sections;
};

/* Groups of several runs that ask the same, side by side. */
struct html_section {
  unsigned *groups; /* of each run; HTML_NO_GROUP: this run has none such */
};
#define HTML_NO_GROUP UINT32_MAX

/* "A", "B" ...: short names of runs. */
#define HTML_LETTER(run) ('A' + (char)((run) % 26))

/* ---- html_text.c: words of any origin as HTML ---- */

void html_escape(FILE *out, const char *text);
/* A name of any bytes as code that may be broken where a reader would break it. */
void html_name(FILE *out, const char *name);
/* Any bytes, made harmless. */
void html_words(FILE *out, const char *words);
/* What `print` says of this page, each line as an element of this name. */
void html_lines(const struct page *page, const char *element, void (*print)(const struct page *page));

/* ---- html_answer.c, html_conditions.c, html_group.c, html_methods.c, html_data.c: parts of the document in their order
 * ---- */

/* The page of one group, or with NULL of the run. */
struct page html_page(const struct html *html, unsigned run, const struct stat_group *group);
const struct stat_group *html_group(const struct html *html, const struct html_section *section, unsigned run);
void html_answers(const struct html *html);
void html_warnings(const struct html *html);
void html_conditions(const struct html *html);
/* The time of single operations, where it was taken. */
void html_latency(const struct page *page);
void html_section(const struct html *html, unsigned index);
void html_methods(const struct html *html);
/* Lines of C that can be opened; NULL: nothing. */
void html_code(FILE *out, const char *title, const char *code);
/* Summary and samples as JSON that may stand in a script element. */
void html_data(const struct html *html);

#endif
