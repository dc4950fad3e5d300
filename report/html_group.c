/* html_group.c - one question: its table for each run, what is said below it, and the place where scripts draw. */
#include <stdlib.h>
#include <string.h>

#include "report/html_parts.h"

static bool column_has_text(const struct page *page, size_t column) {
  bool any = false;
  for (unsigned i = 0; i < page->group->order_count && !any; i++) {
    const struct stat_cell *cell = &page->group->cells[page->group->order[i]];
    struct text text = {0};
    if (page_is_measured(cell)) page_put_column(page, cell, column, &text);
    any = text.length > 0;
    text_release(&text);
  }
  return any;
}

static void put_titles(const struct page *page, const bool *shown) {
  fputs("<thead><tr>", page->out);
  for (size_t column = 0; column < page_column_count(); column++) {
    if (!shown[column]) continue;
    fprintf(page->out, "<th scope=\"col\" data-key=\"%s\"%s>", page_column_key(column),
            page_column_is_right(column) ? " class=\"r\"" : "");
    html_escape(page->out, page_column_title(page, column));
    fputs("</th>", page->out);
  }
  fputs("</tr></thead>\n", page->out);
}

static void put_name(const struct page *page, const struct stat_cell *cell) {
  fputs("<th scope=\"row\">", page->out);
  if (page_is_starred(page, cell)) fputs("<span class=\"star\" title=\"best set\">★</span> ", page->out);
  if (cell->plan->style[0]) {
    fputs("<span class=\"style\">", page->out);
    html_words(page->out, cell->plan->style);
    fputs("</span> ", page->out);
  }
  html_name(page->out, cell->plan->id);
  fputs("</th>", page->out);
}

static void put_field(const struct page *page, const struct stat_cell *cell, size_t column) {
  struct text text = {0};
  if (page_column_is_name(column)) {
    put_name(page, cell);
    return;
  }
  page_put_column(page, cell, column, &text);
  fputs(page_column_is_right(column) ? "<td class=\"r\">" : "<td>", page->out);
  html_escape(page->out, text.length > 0 ? text_string(&text) : "–");
  fputs("</td>", page->out);
  text_release(&text);
}

/* The place of this cell among those of the JSON document, which leaves the twin out. */
static unsigned json_index(const struct stat_group *group, unsigned cell) {
  unsigned index = 0;
  for (unsigned i = 0; i < cell; i++) index += !group->cells[i].plan->twin;
  return index;
}

static void put_row(const struct page *page, unsigned index, const bool *shown) {
  const struct stat_cell *cell = &page->group->cells[index];
  fprintf(page->out, "<tr data-cell=\"%u\"%s>", json_index(page->group, index),
          page_is_starred(page, cell) ? " class=\"best\""
          : page_is_floor(cell)       ? " class=\"floor\""
                                      : "");
  for (size_t column = 0; column < page_column_count(); column++)
    if (shown[column]) put_field(page, cell, column);
  fputs("</tr>\n", page->out);
}

static void put_table(const struct page *page) {
  bool *shown = calloc(page_column_count(), sizeof *shown), any = false;
  for (size_t column = 0; shown != NULL && column < page_column_count(); column++) {
    shown[column] = column_has_text(page, column);
    any = any || shown[column];
  }
  if (any) {
    fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Results of ", page->out);
    html_words(page->out, page->group->plan->title);
    fputs("\"><table class=\"results\">\n", page->out);
    put_titles(page, shown);
    fputs("<tbody>\n", page->out);
    for (unsigned i = 0; i < page->group->order_count; i++)
      if (page_is_measured(&page->group->cells[page->group->order[i]])) put_row(page, page->group->order[i], shown);
    fputs("</tbody></table></div>\n", page->out);
  }
  free(shown);
}

/* ---- what follows ---------------------------------------------------------------------------------------------------- */

void html_code(FILE *out, const char *title, const char *code) {
  if (code == NULL) return;
  fputs("<details class=\"code\"><summary>", out);
  html_escape(out, title);
  fputs("</summary><pre><code>", out);
  html_escape(out, code);
  fputs("</code></pre></details>\n", out);
}

static void put_advice(const struct page *page) {
  struct text text = {0};
  if (page->group->advice.lead == NULL) return;
  page_put_advice(page, &text);
  if (text.length > 0) {
    fputs("<div class=\"advice\"><p>", page->out);
    html_escape(page->out, text_string(&text));
    fputs("</p>\n", page->out);
    html_code(page->out, "in C, by hand", page_plain_code(page));
    html_code(page->out, "in C, by libweir", page_library_code(page));
    fputs("</div>\n", page->out);
  }
  text_release(&text);
}

/* ---- the section ----------------------------------------------------------------------------------------------------- */

static void put_run(const struct html *html, const struct html_section *section, unsigned run) {
  const struct stat_group *group = html_group(html, section, run);
  const struct page page = html_page(html, run, group);
  fprintf(html->out, "<div class=\"run\" data-run=\"%u\" data-group=\"%u\">\n", run, section->groups[run]);
  if (html->count > 1) {
    fprintf(html->out, "<h3><span class=\"letter\">%c</span> ", HTML_LETTER(run));
    html_words(html->out, html->runs[run].name);
    fputs(" <span class=\"sub\">", html->out);
    html_words(html->out, group->plan->title);
    fputs("</span></h3>\n", html->out);
  }
  if (group->plan->dropped) {
    html_lines(&page, "p", page_dropped);
  } else {
    put_table(&page);
    html_latency(&page);
    put_advice(&page);
    fputs("<ul class=\"remarks\">\n", html->out);
    html_lines(&page, "li", page_answer);
    html_lines(&page, "li", page_certainty);
    html_lines(&page, "li", page_evidence);
    html_lines(&page, "li", page_steadiness);
    html_lines(&page, "li", page_absences);
    html_lines(&page, "li", page_latency_notes);
    fputs("</ul>\n", html->out);
  }
  fputs("</div>\n", html->out);
}

static void put_heading(const struct html *html, const struct stat_group *group, unsigned run, unsigned index) {
  struct text left = {0}, right = {0};
  const struct page page = html_page(html, run, group);
  page_put_heading(&page, &left, &right);
  fprintf(html->out, "<h2 id=\"h%u\">", index);
  html_words(html->out, group->plan->title);
  fputs("</h2>\n<p class=\"sub\">", html->out);
  const size_t title = strlen(group->plan->title);
  const bool titled = strncmp(text_string(&left), group->plan->title, title) == 0;
  if (titled) html_escape(html->out, text_string(&left) + title + strspn(text_string(&left) + title, " ·\xc2\xb7"));
  if (html->count == 1 && right.length > 0) {
    fputs(titled ? " · " : "", html->out);
    html_escape(html->out, text_string(&right));
  }
  fputs("</p>\n", html->out);
  text_release(&left);
  text_release(&right);
}

void html_section(const struct html *html, unsigned index) {
  const struct html_section *section = &html->sections[index];
  bool titled = false;
  fprintf(html->out, "<section class=\"group\" id=\"g%u\" aria-labelledby=\"h%u\">\n", index, index);
  for (unsigned run = 0; run < html->count; run++) {
    const struct stat_group *group = html_group(html, section, run);
    if (group == NULL) continue;
    if (!titled) {
      put_heading(html, group, run, index);
      fprintf(html->out, "<div class=\"charts\" data-section=\"%u\"></div>\n", index);
    }
    titled = true;
    put_run(html, section, run);
  }
  fputs("</section>\n", html->out);
}
