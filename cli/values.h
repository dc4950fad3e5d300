/*
 * values.h - what may stand as the value of an option, or as an operand of a command: for completion, which is made from the
 * same tables as the parser and the help.
 */
#ifndef WEIR_CLI_VALUES_H
#define WEIR_CLI_VALUES_H

#include "cli/command.h"

enum value_kind {
  VALUE_NONE,      /* the option takes no value */
  VALUE_FREE,      /* numbers, sizes, times, text: nothing to propose */
  VALUE_WORDS,     /* one of the words */
  VALUE_LIST,      /* words between commas */
  VALUE_FILE,      /* a file */
  VALUE_DIRECTORY, /* a directory */
  VALUE_EITHER,    /* one of the words, or a file */
};

#define VALUE_WORDS_MAX 300
struct values {
  enum value_kind kind;
  unsigned count;
  const char *words[VALUE_WORDS_MAX + 1]; /* NULL-terminated; not owned */
};

/* By the row's own words, else by what its `argument` is called: DIR, FILE, SPEC, SUITE, STUDY, FORMAT. */
struct values values_of_option(const struct option_row *row);
/* The words of the command, and files where it takes them; of `help` the commands, topics and methods. */
struct values values_of_operands(const struct command *command);

#endif
