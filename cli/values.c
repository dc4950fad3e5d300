/* values.c - see values.h. Names of methods, suites, studies and reports come from the lists that the program works with. */
#include "cli/values.h"

#include <string.h>

#include "cli/topics.h"
#include "methods/methods.h"
#include "plan/claims.h"
#include "report/overlay.h"
#include "report/report.h"

static void add(struct values *values, const char *word) {
  if (values->count < VALUE_WORDS_MAX) values->words[values->count++] = word;
}

static void add_words(struct values *values, const char *const *words) {
  for (; *words; words++) add(values, *words);
}

static void add_methods(struct values *values) {
  for (unsigned i = 0; methods_list[i]; i++) add(values, methods_list[i]->name);
}

static void add_suites(struct values *values) {
  for (const struct plan_suite *suite = plan_suites; suite->name; suite++) add(values, suite->name);
}

static void add_studies(struct values *values) {
  for (const struct overlay *overlay = overlay_list; overlay->name; overlay++) add(values, overlay->name);
}

static void add_formats(struct values *values) {
  for (unsigned i = 0; report_list[i]; i++) add(values, report_list[i]->name);
  add(values, "jsonl");
}

/* What an option's value is called tells what it is. */
static const struct {
  const char *argument;
  enum value_kind kind;
  void (*add)(struct values *values);
} names[] = {
    {"DIR", VALUE_DIRECTORY, NULL},      {"FILE", VALUE_FILE, NULL},          {"SPEC", VALUE_WORDS, add_methods},
    {"SUITE", VALUE_EITHER, add_suites}, {"STUDY", VALUE_WORDS, add_studies}, {"FORMAT", VALUE_WORDS, add_formats},
};

struct values values_of_option(const struct option_row *row) {
  struct values values = {.kind = row->argument ? VALUE_FREE : VALUE_NONE};
  if (row->otherwise) values.kind = VALUE_NONE; /* behind a space it would be the next word's */
  if (values.kind == VALUE_NONE) return values;
  if (row->words) {
    values.kind = row->kind == OPTION_WORDS ? VALUE_LIST : VALUE_WORDS;
    add_words(&values, row->words);
    return values;
  }
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strcmp(names[i].argument, row->argument) != 0) continue;
    values.kind = names[i].kind;
    if (names[i].add) names[i].add(&values);
  }
  return values;
}

struct values values_of_operands(const struct command *command) {
  struct values values = {.kind = VALUE_WORDS};
  if (command->operands) add_words(&values, command->operands);
  for (unsigned i = 0; command == &cmd_help && command_list[i]; i++) add(&values, command_list[i]->name);
  for (unsigned i = 0; command == &cmd_help && topic_list[i].name; i++) add(&values, topic_list[i].name);
  if (command == &cmd_help) add_methods(&values);
  for (unsigned i = 0; command == &cmd_claims && claims_texts[i].name; i++) add(&values, claims_texts[i].name);
  if (!values.count)
    values.kind = VALUE_FILE;
  else if (strstr(command->synopsis, "FILE"))
    values.kind = VALUE_EITHER;
  return values;
}
