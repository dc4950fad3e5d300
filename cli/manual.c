/*
 * manual.c - weir(1) and a page for each command, in the sections of man-pages(7). What all commands share - exit codes,
 * environment, files - is told once here; the rest comes from the command tables.
 */
#include "cli/manual.h"

#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/topics.h"
#include "version.h"

/* ---- roff ---- */

/* In prose a hyphen is one, unless an option begins with it. */
static bool is_minus(const char *text, size_t at, bool code) {
  return code || at == 0 || text[at + 1] == '-' || text[at - 1] == '-' || text[at - 1] == ' ';
}

static void put(const char *text, size_t length, bool code) {
  if (length && (*text == '.' || *text == '\'')) printf("\\&");
  for (size_t i = 0; i < length; i++) {
    if (text[i] == '\\')
      printf("\\e");
    else if (text[i] == '-' && is_minus(text, i, code))
      printf("\\-");
    else
      putchar(text[i]);
  }
}

void manual_code(const char *text) { put(text, strlen(text), true); }

void manual_text(const char *text) {
  while (*text) {
    const size_t length = strcspn(text, "\n");
    const char *line = text + strspn(text, " ");
    if (length == 0)
      printf(".PP");
    else if (line < text + length)
      put(line, length - (size_t)(line - text), false);
    printf("\n");
    text += length + (text[length] == '\n');
  }
}

static void put_example(const char *text) {
  printf(".EX\n");
  while (*text) {
    const size_t length = strcspn(text, "\n");
    put(text, length, true);
    printf("\n");
    text += length + (text[length] == '\n');
  }
  printf(".EE\n");
}

static void put_entry(const char *name, const char *text) {
  printf(".TP\n.B ");
  manual_code(name);
  printf("\n");
  manual_text(text);
}

void manual_head(const char *page, unsigned section, const char *about) {
  printf(".TH ");
  for (const char *at = page; *at; at++) putchar(*at >= 'a' && *at <= 'z' ? *at - 'a' + 'A' : *at);
  printf(" %u \"\" \"weir %s\" \"weir\"\n.SH NAME\n", section, WEIR_VERSION);
  manual_code(page);
  printf(" \\- ");
  manual_text(about);
}

/* ---- what all commands share ---- */

struct note {
  const char *name, *text;
};

static const struct note exits[] = {
    {"0", "All went well."},
    {"1", "The answer is bad: a method delivered wrong data, a copy failed, a comparison shows a regression."},
    {"2", "The command line is wrong, or weir could not run or could not write what it was asked to."},
    {"130", "Interrupted. What was measured until then is written."},
};
static const struct note unsure = {"3", "Only with --strict: the answer is not clear."};

static const struct note environment[] = {
    {"NO_COLOR", "Not empty: no colours. It goes before the next two."},
    {"CLICOLOR_FORCE", "Neither empty nor 0: colours wherever the output goes."},
    {"CLICOLOR", "0: no colours."},
    {"TERM", "Where it is dumb or missing there are no colours, and progress comes in plain lines."},
    {"COLUMNS", "Width of tables, from 20. Without it that of the terminal; what goes elsewhere shows every column."},
    {"LC_ALL, LC_CTYPE, LANG",
     "Where the first that is set names no UTF-8 the output holds nothing but ASCII, as with --ascii. Nothing else follows "
     "the locale: a decimal point is a point."},
};

static const struct note files[] = {
    {".weir-*", "Directory of scratch files in each --dir (.), removed at the end, also after a kill."},
    {"*.jsonl", "Run file: every sample as it was taken. weir report reads it."},
    {"*.ini", "Suite of your own, for --suite."},
};

static void put_notes(const char *title, const struct note *notes, size_t count) {
  printf(".SH %s\n", title);
  for (size_t i = 0; i < count; i++) put_entry(notes[i].name, notes[i].text);
}

static bool has_option(const struct command *command, const char *name) {
  for (const struct option_row *row = command->options; row && row->name; row++)
    if (strcmp(row->name, name) == 0) return true;
  return false;
}

static void put_exits(bool can_be_unsure) {
  printf(".SH EXIT STATUS\n");
  for (size_t i = 0; i < sizeof exits / sizeof *exits; i++) {
    if (strcmp(exits[i].name, "130") == 0 && can_be_unsure) put_entry(unsure.name, unsure.text);
    put_entry(exits[i].name, exits[i].text);
  }
}

static void put_shared(bool can_be_unsure) {
  put_exits(can_be_unsure);
  put_notes("ENVIRONMENT", environment, sizeof environment / sizeof *environment);
  put_notes("FILES", files, sizeof files / sizeof *files);
}

/* All pages of the program but this one. */
static void put_see_also(const char *page) {
  printf(".SH SEE ALSO\n");
  if (strcmp(page, "weir") != 0) printf(".BR weir (1),\n");
  for (unsigned i = 0; command_list[i]; i++) {
    if (strcmp(command_list[i]->name, page) == 0) continue;
    printf(".BR weir\\-");
    manual_code(command_list[i]->name);
    printf(" (1),\n");
  }
  printf(".BR weir (3),\n.BR weir\\-methods (7),\n.BR weir\\-studies (7)\n");
}

/* ---- options ---- */

static void put_words(const char *const *words) {
  printf("(");
  for (unsigned i = 0; words[i]; i++) {
    printf("%s", i ? ", " : "");
    manual_code(words[i]);
  }
  printf(")\n");
}

static void put_option(const struct option_row *row) {
  printf(".TP\n");
  if (row->letter) printf("\\fB\\-%c\\fR, ", row->letter);
  printf("\\fB\\-\\-");
  manual_code(row->name);
  printf("\\fR");
  if (row->argument && row->otherwise)
    printf("[=\\fI%s\\fR]", row->argument);
  else if (row->argument)
    printf("=\\fI%s\\fR", row->argument);
  printf("\n");
  manual_text(row->help);
  if (row->words) put_words(row->words);
}

static void put_options(const struct option_row *rows) {
  printf(".SH OPTIONS\n");
  for (; rows && rows->name; rows++) {
    if (rows->section) printf(".SS \"%s\"\n", rows->section);
    put_option(rows);
  }
  printf(".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nshow the help\n");
}

/* ---- pages ---- */

static void put_synopsis(const char *command, const char *synopsis) {
  printf(".SH SYNOPSIS\n.B weir");
  if (*command) printf(" ");
  manual_code(command);
  printf("\n");
  manual_code(synopsis);
  printf("\n.SH DESCRIPTION\n");
}

static void print_command(const struct command *command) {
  char page[64];
  snprintf(page, sizeof page, "weir-%s", command->name);
  manual_head(page, 1, command->summary);
  put_synopsis(command->name, command->synopsis);
  manual_text(command->description);
  put_options(command->options);
  put_shared(has_option(command, "strict"));
  printf(".SH EXAMPLES\n");
  put_example(command->examples);
  put_see_also(command->name);
}

static void print_overview(void) {
  manual_head("weir", 1, "measure ways to read and write files side by side");
  put_synopsis("", "COMMAND [OPTION]... [FILE]");
  manual_text(
      "weir measures every way of reading and writing files that this machine offers, in random order, round after round,\n"
      "and prints a ranked answer with ties, what it rests on and what it costs. Results go to standard output, progress\n"
      "and notes to standard error. Options stand after the command and have the same form everywhere.\n"
      "\n"
      "Sizes: 4k = 4K = 4KiB = 4096 bytes, 4kB = 4000. Times: 250ms, 30s, 5m, 1h. Shares: 3% or 0.03.\n");
  printf(".SS Commands\n");
  for (unsigned i = 0; command_list[i]; i++) {
    printf(".TP\n.BR weir\\-");
    manual_code(command_list[i]->name);
    printf(" (1)\n");
    manual_text(command_list[i]->summary);
  }
  printf(".SS \"Topics of weir help\"\n");
  for (unsigned i = 0; topic_list[i].name; i++) put_entry(topic_list[i].name, topic_list[i].summary);
  printf(
      ".SH OPTIONS\n.TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nshow the commands\n.TP\n\\fB\\-\\-version\\fR\nshow the "
      "version\n");
  put_shared(true);
  printf(".SH EXAMPLES\n");
  put_example(
      "  weir bench                              the usual uses, here, in about a minute\n"
      "  weir bench --cache cold -o run.jsonl    cold uses only; keeps every sample\n"
      "  weir report run.jsonl                   shows the results again\n");
  put_see_also("weir");
}

bool manual_print(const char *page) {
  if (strcmp(page, "weir") == 0) {
    print_overview();
    return true;
  }
  if (strcmp(page, "methods") == 0) {
    manual_methods();
    return true;
  }
  for (unsigned i = 0; command_list[i]; i++) {
    if (strcmp(command_list[i]->name, page) != 0) continue;
    print_command(command_list[i]);
    return true;
  }
  return false;
}
