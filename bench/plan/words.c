/*
 * words.c - the words of a demand and how the nearest right one is found. Pure.
 *
 * The lists are in the order of their enums; nothing else spells these words.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "plan/parts.h"

const char *const plan_task_words[] = {"blocks", "whole", "lines", "text", "records", "typed", "copy", "many", NULL};
const char *const plan_direction_words[] = {"read", "write", "mixed", NULL};
const char *const plan_only_words[] = {"read", "write", NULL}; /* the first of the directions */
const char *const plan_access_words[] = {"sequential", "random", NULL};
const char *const plan_durability_words[] = {"none", "end", "each", NULL};
const char *const plan_target_words[] = {"overwrite", "truncate", "new", "preallocated", NULL};
const char *const plan_consumer_words[] = {"none", "touch", "hash", "verify", NULL};
const char *const plan_cache_words[] = {"warm", "cold", NULL};
const char *const plan_process_words[] = {"same", "fresh", NULL};
const char *const plan_flush_words[] = {"dontneed", "file", "drop", NULL};
const char *const plan_rank_words[] = {"time", "transfer", "cpu", "memory", NULL};

bool plan_has_word(const struct plan_words *words, unsigned value) {
  for (unsigned i = 0; i < words->count; i++)
    if (words->values[i] == (int)value) return true;
  return false;
}

int plan_word_index(const char *const *words, const char *word) {
  for (int i = 0; words[i]; i++)
    if (strcmp(words[i], word) == 0) return i;
  return -1;
}

/* Longer words than this are nobody's typing mistake. */
#define WORD_MAX 63u

static unsigned smaller(unsigned a, unsigned b) { return a < b ? a : b; }

/* Insertions, deletions, replacements and swaps of neighbours that lead from a to b. Both are at most WORD_MAX long. */
static unsigned distance(const char *a, const char *b) {
  unsigned rows[3][WORD_MAX + 1], *before = rows[0], *above = rows[1], *row = rows[2];
  size_t length = strlen(b);
  for (size_t j = 0; j <= length; j++) above[j] = (unsigned)j;
  for (size_t i = 1; a[i - 1]; i++) {
    row[0] = (unsigned)i;
    for (size_t j = 1; j <= length; j++) {
      row[j] = smaller(smaller(above[j], row[j - 1]) + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = smaller(row[j], before[j - 2] + 1);
    }
    unsigned *spare = before;
    before = above, above = row, row = spare;
  }
  return above[length];
}

const char *plan_nearest(const char *word, const char *const *words) {
  const char *nearest = NULL;
  if (strlen(word) > WORD_MAX) return NULL;
  unsigned limit = (unsigned)(strlen(word) / 3);
  for (; *words; words++) {
    if (strlen(*words) > WORD_MAX) continue;
    unsigned steps = distance(word, *words);
    if (steps > limit || (nearest && steps == limit)) continue;
    nearest = *words;
    limit = steps;
  }
  return nearest;
}

const char *plan_word_list(const char *const *words, char *out, size_t size) {
  size_t used = 0;
  out[0] = '\0';
  for (int i = 0; words[i] && used < size; i++) {
    int length = snprintf(out + used, size - used, "%s%s", i ? ", " : "", words[i]);
    used += length > 0 ? (size_t)length : 0;
  }
  return out;
}

int plan_fail(struct plan_error *error, const char *option, const char *value, const char *hint, const char *format, ...) {
  *error = (struct plan_error){{0}, {0}, {0}, {0}};
  snprintf(error->option, sizeof error->option, "%s", option);
  snprintf(error->value, sizeof error->value, "%s", value ? value : "");
  snprintf(error->hint, sizeof error->hint, "%s", hint ? hint : "");
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error->text, sizeof error->text, format, arguments);
  va_end(arguments);
  return -EINVAL;
}
