/* html_latency.c - the time of single operations as a table; the chart beside it needs scripts, this does not. */
#include "report/html_parts.h"

static bool shows_any(const struct page *page) {
  bool any = false;
  for (size_t column = 0; column < page_latency_count(); column++) any = any || page_latency_is_shown(page, column);
  return any;
}

static void put_titles(const struct page *page) {
  fputs("<thead><tr><th scope=\"col\">time of an operation</th>", page->out);
  for (size_t column = 0; column < page_latency_count(); column++)
    if (page_latency_is_shown(page, column))
      fprintf(page->out, "<th scope=\"col\" class=\"r\">%s</th>", page_latency_title(column));
  fputs("</tr></thead>\n", page->out);
}

static void put_row(const struct page *page, const struct stat_cell *cell) {
  fputs("<tr><th scope=\"row\">", page->out);
  html_name(page->out, cell->plan->id);
  fputs("</th>", page->out);
  for (size_t column = 0; column < page_latency_count(); column++) {
    struct text text = {0};
    if (!page_latency_is_shown(page, column)) continue;
    page_put_latency(cell, column, true, &text);
    fputs("<td class=\"r\">", page->out);
    html_escape(page->out, text.length > 0 ? text_string(&text) : "–");
    fputs("</td>", page->out);
    text_release(&text);
  }
  fputs("</tr>\n", page->out);
}

void html_latency(const struct page *page) {
  if (!page_has_latency(page) || !shows_any(page)) return;
  fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Time of an operation: ", page->out);
  html_words(page->out, page->group->plan->title);
  fputs("\"><table class=\"results latency\">\n", page->out);
  put_titles(page);
  fputs("<tbody>\n", page->out);
  for (unsigned i = 0; i < page->group->order_count; i++) {
    const struct stat_cell *cell = &page->group->cells[page->group->order[i]];
    if (page_is_measured(cell) && cell->latency) put_row(page, cell);
  }
  fputs("</tbody></table></div>\n", page->out);
}
