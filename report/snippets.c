/* snippets.c - finds the lines that go with a method or a use. */
#include "report/snippets.h"

#include <stdio.h>
#include <string.h>

const char *snippet_plain(const char *method) {
  for (const struct snippet *snippet = snippet_plain_list; snippet->key; snippet++)
    if (strcmp(snippet->key, method) == 0) return snippet->text;
  return NULL;
}

/* Keys name task, direction and access, in this order; where they leave out the last ones, these make no difference. */
const char *snippet_library(const struct plan_demand *demand) {
  char words[96];
  snprintf(words, sizeof words, "%s %s %s ", plan_task_words[demand->task], plan_direction_words[demand->direction],
           plan_access_words[demand->access]);
  for (const struct snippet *snippet = snippet_library_list; snippet->key; snippet++) {
    const size_t length = strlen(snippet->key);
    if (strncmp(snippet->key, words, length) == 0 && words[length] == ' ') return snippet->text;
  }
  return NULL;
}
