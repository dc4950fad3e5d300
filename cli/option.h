/*
 * option.h - one table of options for each command: the parser, --help and all that is made from them read the same rows.
 */
#ifndef WEIR_CLI_OPTION_H
#define WEIR_CLI_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plan/plan.h"

struct command;

enum option_kind {                  /* what is stored at `offset` */
                   OPTION_FLAG,     /* bool */
                   OPTION_TEXT,     /* const char * */
                   OPTION_TEXTS,    /* struct plan_strings; the option may be repeated */
                   OPTION_WORD,     /* int: index in `words` */
                   OPTION_WORDS,    /* struct plan_words: indices in `words`, separated by commas */
                   OPTION_SIZES,    /* struct plan_sizes, separated by commas */
                   OPTION_COUNT,    /* unsigned, from `low` to `high` */
                   OPTION_COUNTS,   /* struct plan_words, separated by commas, from `low` to `high` */
                   OPTION_DURATION, /* uint64_t nanoseconds, above 0 */
                   OPTION_SHARE,    /* double, a fraction from 0 to 1 */
                   OPTION_RATE,     /* double, a second */
                   OPTION_SEED,     /* struct option_seed */
};

struct option_seed {
  bool said;
  uint64_t value;
};

struct option_row {
  const char *section; /* starts a section of the help; NULL: same as the row before */
  const char *name;
  char letter;          /* or 0 */
  const char *argument; /* NULL: takes none; DIR, FILE, SPEC, SUITE, STUDY, FORMAT tell completion what it is */
  enum option_kind kind;
  size_t offset;
  const char *const *words; /* also of OPTION_TEXT, whose values its command checks itself */
  uint64_t low, high;
  const char *otherwise; /* the value without one: the argument may then be left out, and stands behind = only */
  const char *help; /* the words are added by the help itself */
};

struct option_operands {
  int count;
  char **values;
};

/* Goes on / all is said (help was printed) / an error was printed. */
enum option_result { OPTION_GO, OPTION_DONE, OPTION_BAD };

/* Parses argv by the command's table into `target`; options may stand after operands; -- ends them. */
enum option_result option_parse(const struct command *command, int argc, char **argv, void *target,
                                struct option_operands *operands);
/* The "Options:" part of --help. */
void option_help(const struct option_row *rows);

#endif
