/* html_methods.c - a card for each method of the runs: which calls move the data, with what choices, where it took part. */
#include <string.h>

#include "report/html_parts.h"
#include "report/snippets.h"

static const struct plan *plan_of(const struct html *html, unsigned run) { return &html->runs[run].summary->run->plan; }

/* Cells of all runs in their order, numbered. Returns NULL at the end. */
struct place {
  unsigned run, group, cell;
};

static const struct plan_cell *cell_at(const struct html *html, struct place *at) {
  for (; at->run < html->count; at->run++, at->group = 0) {
    const struct plan *plan = plan_of(html, at->run);
    for (; at->group < plan->group_count; at->group++, at->cell = 0)
      if (at->cell < plan->groups[at->group].cell_count) return &plan->groups[at->group].cells[at->cell];
  }
  return NULL;
}

static bool told_before(const struct html *html, const struct place *here, const char *method) {
  struct place at = {0, 0, 0};
  for (const struct plan_cell *cell; (cell = cell_at(html, &at)) != NULL; at.cell++) {
    if (at.run == here->run && at.group == here->group && at.cell == here->cell) return false;
    if (strcmp(cell->method, method) == 0) return true;
  }
  return false;
}

static void put_param(FILE *out, const struct weir_param *param) {
  fputs("<li><code>", out);
  html_escape(out, param->name);
  fputs("</code> ", out);
  html_escape(out, param->help ? param->help : "");
  if (param->preset && param->preset[0]) {
    fputs(" <span class=\"preset\">(", out);
    html_words(out, param->preset);
    fputs(")</span>", out);
  }
  fputs("</li>\n", out);
}

static void put_implementation(FILE *out, const struct weir_method *method) {
  fputs("<p>", out);
  html_words(out, method->summary ? method->summary : "");
  fputs("</p>\n", out);
  if (method->calls && method->calls[0]) {
    fputs("<p class=\"calls\">", out);
    html_words(out, method->calls);
    fputs("</p>\n", out);
  }
  if (method->param_count == 0) return;
  fputs("<ul class=\"params\">\n", out);
  for (size_t i = 0; i < method->param_count; i++) put_param(out, &method->params[i]);
  fputs("</ul>\n", out);
}

/* Links to the questions in which it took part. */
static void put_sections(const struct html *html, const char *method) {
  const char *before = "<p class=\"where\">in ";
  for (unsigned i = 0; i < html->section_count; i++) {
    const struct plan_group *group = NULL;
    for (unsigned run = 0; run < html->count && group == NULL; run++) {
      const struct stat_group *stat = html_group(html, &html->sections[i], run);
      for (unsigned c = 0; stat != NULL && c < stat->cell_count && group == NULL; c++)
        if (strcmp(stat->cells[c].plan->method, method) == 0) group = stat->plan;
    }
    if (group == NULL) continue;
    fprintf(html->out, "%s<a href=\"#g%u\">", before, i);
    html_words(html->out, group->id);
    fputs("</a>", html->out);
    before = ", ";
  }
  fputs("</p>\n", html->out);
}

static void put_card(const struct html *html, const struct plan_cell *cell) {
  fputs("<article class=\"method\">\n<h3>", html->out);
  html_name(html->out, cell->method);
  fputs("</h3>\n", html->out);
  if (cell->impl != NULL) {
    put_implementation(html->out, cell->impl);
  } else {
    fputs("<p>This program does not have it: it is known by its name alone.</p>\n", html->out);
  }
  html_code(html->out, "in C", snippet_plain(cell->method));
  put_sections(html, cell->method);
  fputs("</article>\n", html->out);
}

void html_methods(const struct html *html) {
  struct place at = {0, 0, 0};
  fputs(
      "<section id=\"methods\">\n<h2>Methods</h2>\n<p class=\"sub\">Timed are open, run, sync and close of each pass. "
      "Set-up "
      "(buffers, rings, threads), making the file warm or cold, and waiting for dirty pages afterwards are not.</p>\n"
      "<div class=\"cards\">\n",
      html->out);
  for (const struct plan_cell *cell; (cell = cell_at(html, &at)) != NULL; at.cell++)
    if (!told_before(html, &at, cell->method)) put_card(html, cell);
  fputs("</div>\n</section>\n", html->out);
}
