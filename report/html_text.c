/* html_text.c - words as HTML. Names come from users, plugins and files and may hold anything: nothing gets out unescaped.
 */
#include <stdlib.h>
#include <string.h>

#include "report/html_parts.h"

/* Wider than any sentence, so that none is broken. */

static const char *escape_of(char letter) {
  static const char special[] = {'&', '<', '>', '"', '\'', '\x1f', '\0'};
  static const char *const escaped[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;", "&nbsp;"};
  const char *found = strchr(special, letter);
  return found != NULL ? escaped[found - special] : NULL;
}

void html_escape(FILE *out, const char *text) {
  for (; *text != '\0'; text++) {
    const char *escape = escape_of(*text);
    if (escape != NULL) {
      fputs(escape, out);
    } else {
      putc(*text, out);
    }
  }
}

void html_words(FILE *out, const char *words) {
  struct text text = {0};
  text_name(&text, words);
  html_escape(out, text_string(&text));
  text_release(&text);
}

void html_name(FILE *out, const char *name) {
  struct text text = {0};
  text_name(&text, name);
  const char *params = strchr(text_string(&text), '[');
  fputs("<code>", out);
  for (const char *at = text_string(&text); *at != '\0'; at++) {
    const char letter[2] = {*at, '\0'};
    if (at == params) fputs("<wbr><span class=\"p\">", out);
    html_escape(out, letter);
    if (strchr(",/@", *at) != NULL && at[1] != '\0') fputs("<wbr>", out);
  }
  fputs(params ? "</span></code>" : "</code>", out);
  text_release(&text);
}

static void put_element(const struct page *page, const char *element, const char *line) {
  fprintf(page->out, "<%s>", element);
  html_escape(page->out, line);
  fprintf(page->out, "</%s>\n", element);
}

void html_lines(const struct page *page, const char *element, void (*print)(const struct page *page)) {
  page_lines(page, print, put_element, element);
}
