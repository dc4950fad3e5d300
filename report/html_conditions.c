/* html_conditions.c - under what conditions the numbers came about: command, machine, places; of several runs side by side.
 */
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "report/html_parts.h"

/* One row: a fact of each run, by name or by what `put` says. */
struct row {
  const char *label;
  void (*put)(const struct run *run, struct text *out); /* NULL: the fact called `label` */
};

static bool ends_with(const char *text, const char *end) {
  const size_t length = strlen(text), tail = strlen(end);
  return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* As a shell takes it. */
static void put_argument(struct text *out, const char *argument) {
  const bool plain = argument[0] != '\0' && argument[strspn(argument,
                                                            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                            "0123456789-_=/.,:+@%")] == '\0';
  if (plain) {
    text_put(out, argument);
    return;
  }
  text_put(out, "'");
  for (; *argument != '\0'; argument++) text_format(out, "%s", *argument == '\'' ? "'\\''" : (char[2]){*argument, '\0'});
  text_put(out, "'");
}

static void put_command(const struct run *run, struct text *out) {
  for (unsigned i = 0; i < run->argument_count; i++) {
    if (i > 0) text_put(out, " ");
    put_argument(out, run->arguments[i]);
  }
}

static void put_suite(const struct run *run, struct text *out) { text_put(out, run->plan.suite ? run->plan.suite : ""); }
static void put_rank(const struct run *run, struct text *out) { text_put(out, plan_rank_words[run->plan.rank_by]); }
static void put_seed(const struct run *run, struct text *out) {
  text_format(out, "0x%llX", (unsigned long long)run->plan.seed);
}
static void put_margin(const struct run *run, struct text *out) {
  text_decimal(out, run->plan.margin * 100, 1);
  text_put(out, " %");
}

static const struct row plan_rows[] = {
    {"suite", put_suite}, {"ranked by", put_rank}, {"margin", put_margin}, {"seed", put_seed}};

/* "place.0.file_system" as "place 0 file system", "memory_bytes" as "memory" */
static void put_label(struct text *out, const char *name) {
  size_t length = strlen(name);
  if (ends_with(name, "_bytes")) length -= strlen("_bytes");
  if (ends_with(name, "_kib")) length -= strlen("_kib");
  if (ends_with(name, "_s")) length -= strlen("_s");
  char *label = strndup(name, length);
  for (char *at = label; at != NULL && *at != '\0'; at++)
    if (*at == '_' || *at == '.') *at = ' ';
  if (label != NULL) text_name(out, label);
  free(label);
}

/* Days since 1970 as a date of the Gregorian calendar; years begin in March here, so that the odd day comes last. */
static void put_time(struct text *out, long long seconds) {
  const long long days = seconds / 86400, shifted = days + 719468, era = shifted / 146097, of_era = shifted % 146097;
  const long long year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  const long long of_year = of_era - (365 * year + year / 4 - year / 100), month = (5 * of_year + 2) / 153;
  const long long shown = month < 10 ? month + 3 : month - 9;
  text_format(out, "%lld-%02lld-%02lld %02lld:%02lld UTC", year + era * 400 + (shown <= 2), shown,
              of_year - (153 * month + 2) / 5 + 1, seconds % 86400 / 3600, seconds % 3600 / 60);
}

static bool is_yes_or_no(const char *name) {
  static const char *const ends[] = {"_trusted", ".rotational", ".ram_backed", ".packs", ".compressible"};
  bool found = false;
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) found = found || ends_with(name, ends[i]);
  return found;
}

static void put_fact(struct text *out, const char *name, const char *value) {
  char size[UNITS_TEXT_MAX];
  const double number = strtod(value, NULL);
  if (ends_with(name, "_bytes")) {
    text_put(out, units_size_text(number, size));
  } else if (ends_with(name, "_kib")) {
    text_put(out, units_size_text(number * 1024, size));
  } else if (is_yes_or_no(name) && (strcmp(value, "1") == 0 || strcmp(value, "0") == 0)) {
    text_put(out, value[0] == '1' ? "yes" : "no");
  } else if (strcmp(name, "started_s") == 0 && number > 0 && number < 1e11) {
    put_time(out, strtoll(value, NULL, 10));
  } else {
    text_put(out, value);
  }
}

static void put_value(const struct run *run, const struct row *row, struct text *out) {
  const char *value = row->put ? NULL : run_fact_text(run, row->label);
  if (row->put) row->put(run, out);
  if (value != NULL) put_fact(out, row->label, value);
}

static bool runs_differ(const struct html *html, const struct row *row) {
  struct text first = {0}, other = {0};
  bool differ = false;
  put_value(html->runs[0].summary->run, row, &first);
  for (unsigned run = 1; run < html->count; run++) {
    text_clear(&other);
    put_value(html->runs[run].summary->run, row, &other);
    differ = differ || strcmp(text_string(&first), text_string(&other)) != 0;
  }
  text_release(&first);
  text_release(&other);
  return differ;
}

static void put_row(const struct html *html, const struct row *row) {
  struct text text = {0};
  put_label(&text, row->label);
  fprintf(html->out, runs_differ(html, row) ? "<tr class=\"differs\"><th scope=\"row\">" : "<tr><th scope=\"row\">");
  html_escape(html->out, text_string(&text));
  fputs("</th>", html->out);
  for (unsigned run = 0; run < html->count; run++) {
    text_clear(&text);
    put_value(html->runs[run].summary->run, row, &text);
    fputs("<td>", html->out);
    html_words(html->out, text_string(&text));
    fputs("</td>", html->out);
  }
  fputs("</tr>\n", html->out);
  text_release(&text);
}

/* A fact is told where the first run that has it stands. */
static bool told_before(const struct html *html, unsigned run, const char *name) {
  for (unsigned i = 0; i < run; i++)
    if (run_fact_text(html->runs[i].summary->run, name) != NULL) return true;
  return false;
}

static void put_commands(const struct html *html) {
  for (unsigned run = 0; run < html->count; run++) {
    struct text text = {0};
    put_command(html->runs[run].summary->run, &text);
    fputs("<p class=\"command\">", html->out);
    if (html->count > 1) fprintf(html->out, "<span class=\"letter\">%c</span> ", HTML_LETTER(run));
    fputs("<code data-copy>", html->out);
    html_words(html->out, text_string(&text));
    fputs("</code></p>\n", html->out);
    text_release(&text);
  }
}

static void put_heads(const struct html *html) {
  if (html->count < 2) return;
  fputs("<thead><tr><td></td>", html->out);
  for (unsigned run = 0; run < html->count; run++) {
    fprintf(html->out, "<th scope=\"col\"><span class=\"letter\">%c</span> ", HTML_LETTER(run));
    html_words(html->out, html->runs[run].name);
    fputs("</th>", html->out);
  }
  fputs("</tr></thead>\n", html->out);
}

void html_conditions(const struct html *html) {
  fputs("<section id=\"conditions\">\n<h2>Conditions</h2>\n", html->out);
  put_commands(html);
  fprintf(html->out,
          "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Conditions\"><table class=\"facts%s\">\n",
          html->count > 1 ? " several" : "");
  put_heads(html);
  fputs("<tbody>\n", html->out);
  for (size_t i = 0; i < sizeof plan_rows / sizeof *plan_rows; i++) put_row(html, &plan_rows[i]);
  for (unsigned run = 0; run < html->count; run++) {
    const struct run *source = html->runs[run].summary->run;
    for (unsigned i = 0; i < source->fact_count; i++)
      if (!told_before(html, run, source->facts[i].name)) put_row(html, &(struct row){source->facts[i].name, NULL});
  }
  fputs("</tbody></table></div>\n", html->out);
  for (unsigned run = 0; run < html->count; run++) {
    const struct page page = html_page(html, run, NULL);
    html_lines(&page, "p", page_floors);
    html_lines(&page, "p", page_machine);
  }
  fputs("</section>\n", html->out);
}
