/*
 * output.h - where the results go: -o FILE, --format, standard output. Named files are written whole or not at all.
 */
#ifndef WEIR_CLI_OUTPUT_H
#define WEIR_CLI_OUTPUT_H

#include "cli/command.h"
#include "report/report.h"

/* What the options say. */
struct output_options {
  struct plan_strings files;
  const char *format;
  const char *overlay;
  int color; /* enum terminal_color */
  int view;  /* enum report_view */
  bool ascii;
};
#define OUTPUT_ROWS(type, member)                                                                                         \
  {.section = "Results",                                                                                                  \
   .name = "output",                                                                                                      \
   .letter = 'o',                                                                                                         \
   .argument = "FILE",                                                                                                    \
   .kind = OPTION_TEXTS,                                                                                                  \
   .offset = offsetof(type, member.files),                                                                                \
   .help =                                                                                                                \
       "write the results there too, by suffix: .jsonl (run file),\n.html, .json, .txt, .md, .csv; '-' is standard output;\nmay " \
       "be repeated"},                                                                                                   \
      {.name = "format",                                                                                                  \
       .argument = "FORMAT",                                                                                              \
       .kind = OPTION_TEXT,                                                                                               \
       .offset = offsetof(type, member.format),                                                                           \
       .help = "format on standard output: table, html, json, csv,\nmarkdown, jsonl"},                                           \
      {.name = "overlay",                                                                                                 \
       .argument = "STUDY",                                                                                               \
       .kind = OPTION_TEXT,                                                                                               \
       .offset = offsetof(type, member.overlay),                                                                          \
       .help = "set the figures that a study published beside ours (study-a of\nsuite api, -b of text, -c of records, -e of blocks)"},\
      {.name = "columns", .argument = "WHAT", .kind = OPTION_WORD, .offset = offsetof(type, member.view),                 \
       .words = report_view_words, .help = "of tables for people: what a method achieves, or what it\ncosts"},               \
  {                                                                                                                       \
    .name = "color", .argument = "WHEN", .kind = OPTION_WORD, .offset = offsetof(type, member.color),                     \
    .words = terminal_color_words, .help = "colours on standard output"                                                   \
  }, {                                                                                                                    \
    .name = "ascii", .kind = OPTION_FLAG, .offset = offsetof(type, member.ascii),                                         \
    .help = "tables in nothing but ASCII, as where the locale is no UTF-8"                                                \
  }

struct output {
  const char *name;            /* as the user wrote it */
  const struct report *report; /* NULL: the run file */
  bool standard;               /* standard output */
  bool straight;               /* a device or FIFO: no temporary file, no rename */
  char path[1024];             /* links followed */
  bool exists;
  uint64_t device, inode; /* of the file, or of its directory while there is no such file */
};
struct output_list {
  unsigned count;
  bool live; /* standard output gets the run file while it is made */
  bool color;
  enum report_view view;
  bool ascii, ascii_here; /* everywhere; on standard output */
  unsigned width;
  const struct overlay *overlay; /* or NULL */
  struct output *outputs;
};

/*
 * Finds out, before anything is measured, whether all can be written, and that nothing overwrites `input` ("-" is standard
 * input, NULL none) or another output. 0, or EXIT_CANNOT with the error printed.
 */
int output_prepare(const struct command *command, const struct output_options *options, const char *input,
                   struct output_list *out);
/* The same for one more input. */
int output_check_input(const struct command *command, const char *input, const struct output_list *list);
/* Can all of them hold several runs? 0, or EXIT_CANNOT with the error printed. */
int output_check_several(const struct command *command, const struct output_list *list);
/* Where the run file goes while it is being made, or NULL; output_write then does not write it again. */
FILE *output_live(struct output_list *list);
/* Is there a run file among them? */
bool output_keeps_samples(const struct output_list *list);
/* Writes them all, even if one fails. 0, or EXIT_CANNOT with the errors printed. */
int output_write(const struct output_list *list, const struct summary *summary);
/* The same for several runs side by side. */
int output_write_runs(const struct output_list *list, const struct report_run *runs, unsigned count);
/* The same for the verdicts on claims, which have no run file. */
int output_write_claims(const struct output_list *list, const struct claim_report *claims);
/* And for two runs side by side; a run file among them holds the run now. */
int output_write_comparison(const struct output_list *list, const struct comparison *comparison);
void output_release(struct output_list *list);

/* Flushes standard output; EXIT_CANNOT and an error printed when what was printed did not get there, else `code`. */
int output_finish(int code);

#endif
