/* claims_markdown.c - the verdicts on published claims as Markdown: one table, and below it each comparison. */
#include "report/claims_text.h"

static void put_cell(FILE *out, const char *text) {
  for (; *text; text++) {
    if (*text == '|')
      fputs("\\|", out);
    else if (*text == '<')
      fputs("&lt;", out);
    else
      putc(*text == '\n' ? ' ' : *text, out);
  }
  fputs(" | ", out);
}

static void put_code(FILE *out, const char *name) { fprintf(out, "`%s`", name); }

static void put_row(const struct claim_report *claims, const struct claim_result *result, FILE *out) {
  const struct claim_finding *shown = claims_shown(claims, result);
  struct text published = {0}, here = {0};
  if (shown) claims_put_published(&published, shown->test);
  if (shown) claims_put_value(&here, shown);
  fprintf(out, "| %s | ", result->claim->id);
  put_cell(out, result->claim->says);
  put_cell(out, text_string(&published));
  put_cell(out, text_string(&here));
  put_cell(out, claim_verdict_words[result->verdict]);
  put_cell(out, claim_strength_words[result->strength]);
  put_cell(out, result->reason);
  putc('\n', out);
  text_release(&published);
  text_release(&here);
}

static void put_finding(const struct claim_finding *finding, FILE *out) {
  struct text value = {0}, published = {0};
  claims_put_value(&value, finding);
  claims_put_published(&published, finding->test);
  fprintf(out, "- %s%s%s: ", claim_role_words[finding->setup->role], *finding->setup->name ? ", " : "",
          finding->setup->name);
  put_code(out, finding->first);
  if (*finding->second) fputs(" against ", out);
  if (*finding->second) put_code(out, finding->second);
  if (finding->test->kind == CLAIM_EVIDENCE)
    fprintf(out, " %s", claim_quantity_words[finding->test->quantity]);
  else
    fprintf(out, " %s", claim_expect_words[finding->test->expect]);
  fprintf(out, " (%s): **%s**", finding->title, claim_verdict_words[finding->verdict]);
  if (value.length) fprintf(out, ", here %s", text_string(&value));
  if (published.length) fprintf(out, ", published %s", text_string(&published));
  if (finding->n) fprintf(out, ", %u rounds", finding->n);
  if (finding->reason[0]) fprintf(out, "; %s", finding->reason);
  putc('\n', out);
  text_release(&value);
  text_release(&published);
}

static void put_details(const struct claim_report *claims, const struct claim_result *result, FILE *out) {
  fprintf(out, "\n### %s: %s\n\n%s\n", result->claim->id, claim_verdict_words[result->verdict], result->claim->says);
  if (*result->claim->published) fprintf(out, "\nPublished: %s\n", result->claim->published);
  if (*result->claim->trap) fprintf(out, "\nTrap: %s\n", result->claim->trap);
  putc('\n', out);
  for (unsigned f = 0; f < result->count; f++) put_finding(&claims->findings[result->first + f], out);
}

void claims_markdown(const struct claim_report *claims, const struct report_options *options, FILE *out) {
  struct text counts = {0};
  (void)options;
  claims_put_counts(&counts, claims);
  fprintf(out, "# weir claims\n\n%s%s.\n\n", claims->interrupted ? "Interrupted. " : "", text_string(&counts));
  fputs("Ratios are the time of the second cell by that of the first, with 95 % intervals.\n\n", out);
  fputs("| id | claim | published | here | verdict | strength | why |\n|---|---|---|---|---|---|---|\n", out);
  for (unsigned i = 0; i < claims->result_count; i++) put_row(claims, &claims->results[i], out);
  for (unsigned i = 0; i < claims->result_count; i++) put_details(claims, &claims->results[i], out);
  text_release(&counts);
}
