/*
 * option.c - reads a command's options by its table. What the values mean together is the command's business.
 */
#include "cli/option.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cli/command.h"

#define ROWS_MAX 80
#define LIST_TEXT_MAX 256

static const struct option_row help_row = {.name = "help", .letter = 'h', .kind = OPTION_FLAG, .help = "show this help"};

struct parsing {
  const struct command *command;
  const struct option_row *row;
  char *target; /* of the row's value */
};

static int bad(const struct parsing *parsing, const char *hint, const char *value, const char *what) {
  char option[40];
  snprintf(option, sizeof option, "--%s", parsing->row->name);
  return command_fail(parsing->command, option, hint, "'%s' %s", value, what);
}

/* ---- one value ---- */

static int parse_word(const struct parsing *parsing, const char *text, int *out) {
  const char *const *words = parsing->row->words;
  int index = plan_word_index(words, text);
  if (index >= 0) {
    *out = index;
    return 0;
  }
  char option[40], list[128] = "";
  size_t used = 0;
  for (int i = 0; words[i] && used < sizeof list; i++)
    used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", words[i]);
  const char *hint = plan_nearest(text, words);
  snprintf(option, sizeof option, "--%s", parsing->row->name);
  if (hint) return command_fail(parsing->command, option, hint, "unknown value '%s'", text);
  return command_fail(parsing->command, option, NULL, "unknown value '%s'; choose from %s", text, list);
}

static int parse_count(const struct parsing *parsing, const char *text, uint64_t *out) {
  char what[80];
  uint64_t low = parsing->row->low, high = parsing->row->high;
  if (units_parse_count(text, out) < 0) return bad(parsing, NULL, text, "is not a number");
  if (*out >= low && *out <= high) return 0;
  snprintf(what, sizeof what, "is out of range, %llu to %llu", (unsigned long long)low, (unsigned long long)high);
  return bad(parsing, NULL, text, what);
}

static int parse_size(const struct parsing *parsing, const char *text, uint64_t *out) {
  char hint[UNITS_TEXT_MAX];
  int code = units_parse_size(text, out);
  if (code == -ERANGE) return bad(parsing, NULL, text, "is too large");
  return code < 0 ? bad(parsing, units_size_hint(text, hint), text, "is not a size; write bytes or 64KiB, 256MiB, 4kB (4000)") : 0;
}

static int parse_duration(const struct parsing *parsing, const char *text) {
  uint64_t *out = (uint64_t *)(void *)parsing->target;
  int code = units_parse_duration(text, out);
  if (code == -ERANGE) return bad(parsing, NULL, text, "is too long");
  if (code < 0) return bad(parsing, NULL, text, "is not a time; write 30s, 5m, 1h");
  return *out ? 0 : bad(parsing, NULL, text, "is no time at all");
}

static int parse_share(const struct parsing *parsing, const char *text) {
  double *out = (double *)(void *)parsing->target;
  if (units_parse_share(text, out) < 0) return bad(parsing, NULL, text, "is not a share; write 3% or 0.03");
  return *out >= 0 && *out <= 1 ? 0 : bad(parsing, NULL, text, "is out of range, 0% to 100%");
}

static int parse_rate(const struct parsing *parsing, const char *text) {
  double *out = (double *)(void *)parsing->target;
  return units_parse_rate(text, out) < 0 ? bad(parsing, NULL, text, "is not a rate; write 1000, 2.5k or 1000/s") : 0;
}

static int parse_seed(const struct parsing *parsing, const char *text) {
  struct option_seed *out = (struct option_seed *)(void *)parsing->target;
  out->said = true;
  return units_parse_seed(text, &out->value) < 0 ? bad(parsing, NULL, text, "is not a seed; write 0x5EED or 24301") : 0;
}

/* ---- lists ---- */

static int add_word(const struct parsing *parsing, const char *text) {
  struct plan_words *out = (struct plan_words *)(void *)parsing->target;
  int index = 0;
  int code = parse_word(parsing, text, &index);
  for (unsigned i = 0; i < out->count && code == 0; i++)
    if (out->values[i] == index) return 0;
  if (code == 0) out->values[out->count++] = index; /* no list of words is longer than the array */
  return code;
}

static int add_count(const struct parsing *parsing, const char *text) {
  struct plan_words *out = (struct plan_words *)(void *)parsing->target;
  uint64_t value = 0;
  if (out->count == sizeof out->values / sizeof *out->values) return bad(parsing, NULL, text, "is one value too many");
  int code = parse_count(parsing, text, &value);
  if (code == 0) out->values[out->count++] = (int)value;
  return code;
}

static int add_size(const struct parsing *parsing, const char *text) {
  struct plan_sizes *out = (struct plan_sizes *)(void *)parsing->target;
  if (out->count == sizeof out->values / sizeof *out->values) return bad(parsing, NULL, text, "is one value too many");
  int code = parse_size(parsing, text, &out->values[out->count]);
  if (code == 0) out->count++;
  return code;
}

/* Calls `add` for each part of "a,b,c". */
static int parse_list(const struct parsing *parsing, const char *text, int (*add)(const struct parsing *, const char *)) {
  char list[LIST_TEXT_MAX];
  if (strlen(text) >= sizeof list) return bad(parsing, NULL, text, "is too long");
  snprintf(list, sizeof list, "%s", text);
  for (char *part = list;;) {
    size_t span = strcspn(part, ",");
    bool last = !part[span];
    part[span] = '\0';
    int code = add(parsing, part);
    if (code || last) return code;
    part += span + 1;
  }
}

static int add_text(const struct parsing *parsing, const char *text) {
  struct plan_strings *out = (struct plan_strings *)(void *)parsing->target;
  if (out->count == sizeof out->values / sizeof *out->values) return bad(parsing, NULL, text, "is one value too many");
  if (!*text) return bad(parsing, NULL, text, "is empty");
  out->values[out->count++] = text;
  return 0;
}

static int take(const struct parsing *parsing, const char *text) {
  uint64_t count = 0;
  int code = 0;
  switch (parsing->row->kind) {
    case OPTION_FLAG:
      *(bool *)(void *)parsing->target = true;
      return 0;
    case OPTION_TEXT:
      *(const char **)(void *)parsing->target = text;
      return 0;
    case OPTION_TEXTS:
      return add_text(parsing, text);
    case OPTION_WORD:
      return parse_word(parsing, text, (int *)(void *)parsing->target);
    case OPTION_WORDS:
      return parse_list(parsing, text, add_word);
    case OPTION_SIZES:
      return parse_list(parsing, text, add_size);
    case OPTION_COUNTS:
      return parse_list(parsing, text, add_count);
    case OPTION_DURATION:
      return parse_duration(parsing, text);
    case OPTION_SHARE:
      return parse_share(parsing, text);
    case OPTION_RATE:
      return parse_rate(parsing, text);
    case OPTION_SEED:
      return parse_seed(parsing, text);
    case OPTION_COUNT:
      code = parse_count(parsing, text, &count);
      if (code == 0) *(unsigned *)(void *)parsing->target = (unsigned)count;
      return code;
  }
  return 0;
}

/* ---- the command line ---- */

struct tables {
  int count;
  const struct option_row *rows[ROWS_MAX];
  struct option longs[ROWS_MAX + 1];
  char shorts[2 * ROWS_MAX + 2];
};

/* Long options report this plus their row, short ones their letter. */
#define LONG_BASE 1000

static int argument_of(const struct option_row *row) {
  if (!row->argument) return no_argument;
  return row->otherwise ? optional_argument : required_argument;
}

static void tables_add(struct tables *tables, const struct option_row *row) {
  size_t used = strlen(tables->shorts);
  struct option *entry = &tables->longs[tables->count];
  *entry = (struct option){.name = row->name, .has_arg = argument_of(row)};
  entry->val = LONG_BASE + tables->count;
  tables->rows[tables->count++] = row;
  if (row->letter)
    snprintf(tables->shorts + used, sizeof tables->shorts - used, "%c%s", row->letter, row->argument ? (row->otherwise ? "::" : ":") : "");
}

static struct tables tables_of(const struct option_row *rows) {
  struct tables tables = {.shorts = ":"};
  for (; rows && rows->name; rows++) {
    assert(tables.count < ROWS_MAX - 1);
    tables_add(&tables, rows);
  }
  tables_add(&tables, &help_row);
  return tables;
}

static const struct option_row *find_row(const struct tables *tables, int value) {
  for (int i = 0; i < tables->count; i++)
    if (value == LONG_BASE + i || (value != 0 && value == tables->rows[i]->letter)) return tables->rows[i];
  return NULL;
}

/* --naem or --naem=value, of which getopt tells only that it is wrong. */
static int unknown_long(const struct command *command, const struct tables *tables, const char *text) {
  const char *names[ROWS_MAX + 1] = {NULL};
  char name[64], hint[72] = "";
  snprintf(name, sizeof name, "%.*s", (int)strcspn(text + 2, "="), text + 2);
  unsigned begun = 0;
  for (int i = 0; i < tables->count; i++) {
    names[i] = tables->rows[i]->name;
    begun += strncmp(names[i], name, strlen(name)) == 0;
  }
  if (begun > 1) return command_fail(command, NULL, NULL, "option '--%s' is ambiguous", name);
  const char *nearest = plan_nearest(name, names);
  if (nearest) snprintf(hint, sizeof hint, "--%s", nearest);
  return command_fail(command, NULL, nearest ? hint : NULL, "unknown option '--%s'", name);
}

static int refused(const struct command *command, const struct tables *tables, int answer, const char *text) {
  const struct option_row *row = find_row(tables, optopt);
  if (answer == ':' && row)
    return command_fail(command, NULL, NULL, "option '--%s' needs a value: %s", row->name, row->argument);
  if (row) return command_fail(command, NULL, NULL, "option '--%s' takes no value", row->name);
  if (optopt) return command_fail(command, NULL, NULL, "unknown option '-%c'", optopt);
  return unknown_long(command, tables, text);
}

enum option_result option_parse(const struct command *command, int argc, char **argv, void *target,
                                struct option_operands *operands) {
  const struct tables tables = tables_of(command->options);
  optind = 0; /* begin anew, also where an earlier parse left off */
  opterr = 0;
  for (int answer; (answer = getopt_long(argc, argv, tables.shorts, tables.longs, NULL)) != -1;) {
    if (answer == '?' || answer == ':') {
      refused(command, &tables, answer, argv[optind - 1]);
      return OPTION_BAD;
    }
    const struct option_row *row = find_row(&tables, answer);
    if (row == &help_row) {
      help_command(command);
      return OPTION_DONE;
    }
    struct parsing parsing = {command, row, (char *)target + row->offset};
    if (take(&parsing, optarg ? optarg : row->otherwise) != 0) return OPTION_BAD;
  }
  *operands = (struct option_operands){argc - optind, argv + optind};
  return OPTION_GO;
}

/* ---- help ---- */

#define HELP_COLUMN 27

/* After the help, or on a line of their own where that ends with a new line. */
static void print_words(const char *const *words, const char *help) {
  printf("%s(", *help && help[strlen(help) - 1] == '\n' ? "" : " ");
  for (int i = 0; words[i]; i++) printf("%s%s", i ? ", " : "", words[i]);
  printf(")");
}

static void print_row(const struct option_row *row) {
  char left[80];
  int used = row->letter ? snprintf(left, sizeof left, "  -%c, ", row->letter) : snprintf(left, sizeof left, "      ");
  snprintf(left + used, sizeof left - (size_t)used, "--%s%s%s%s", row->name, row->argument ? (row->otherwise ? "[=" : "=") : "",
           row->argument ? row->argument : "", row->otherwise ? "]" : "");
  printf("%-*s", HELP_COLUMN, left);
  if (strlen(left) >= HELP_COLUMN) printf("\n%*s", HELP_COLUMN, "");
  for (const char *line = row->help; *line;) {
    size_t span = strcspn(line, "\n");
    printf("%.*s", (int)span, line);
    line += span;
    if (*line) printf("\n%*s", HELP_COLUMN, (line++, ""));
  }
  if (row->words) print_words(row->words, row->help);
  printf("\n");
}

void option_help(const struct option_row *rows) {
  for (; rows && rows->name; rows++) {
    if (rows->section) printf("\n%s:\n", rows->section);
    print_row(rows);
  }
  print_row(&help_row);
}
