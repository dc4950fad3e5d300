/*
 * request.h - what `bench` and `plan` are asked to measure: their common options, the FILE operand, and the plan of it.
 */
#ifndef WEIR_CLI_REQUEST_H
#define WEIR_CLI_REQUEST_H

#include "cli/output.h"
#include "cli/outside.h"
#include "cli/terminal.h"

struct request {
  struct plan_request plan;
  struct option_seed seed;
  struct output_options output;
  struct outside outside; /* contenders from outside, and with them all methods that there are */
  struct plan_sizes memory; /* one, or none */
  uint64_t quiet_wait_ns;
  char *suite_text;         /* of a suite of the user's own, or NULL */
  bool strict, quiet, verbose;
};

#define REQUEST_AT(member) offsetof(struct request, member)
#define REQUEST_WORDS_ROW(word, text)                                                          \
  {                                                                                            \
    .name = #word, .argument = "WORDS", .kind = OPTION_WORDS, .offset = REQUEST_AT(plan.word), \
    .words = plan_##word##_words, .help = text                                                 \
  }

/* What to measure. */
#define REQUEST_DEMAND_ROWS                                                                                                \
  {.section = "What to measure (lists are separated by commas; every combination is a group)",                             \
   .name = "suite",                                                                                                        \
   .argument = "SUITE",                                                                                                    \
   .kind = OPTION_TEXT,                                                                                                    \
   .offset = REQUEST_AT(plan.suite),                                                                                       \
   .help = "take groups from a suite; the words below select among them\n(default, when no word but --cache and no method is said); what\nholds a / or ends in .ini is a file of yours (docs/suites.md)"}, \
      REQUEST_WORDS_ROW(only, "of these groups: all that read, or all that write\n"), REQUEST_WORDS_ROW(task, "what is done"), REQUEST_WORDS_ROW(direction, "reading or writing"),                         \
      REQUEST_WORDS_ROW(access, "in which order"),                                                                         \
      {.name = "size",                                                                                                     \
       .argument = "SIZES",                                                                                                \
       .kind = OPTION_SIZES,                                                                                               \
       .offset = REQUEST_AT(plan.size),                                                                                    \
       .help = "size of the file (128MiB); of FILE: its first so many bytes"},                                             \
      {.name = "request",                                                                                                  \
       .argument = "SIZES",                                                                                                \
       .kind = OPTION_SIZES,                                                                                               \
       .offset = REQUEST_AT(plan.request),                                                                                 \
       .help = "fix the request size; else it is the method's choice\n(random access: 4KiB)"},                             \
      REQUEST_WORDS_ROW(durability, "when writers wait for stable storage"),                                               \
      REQUEST_WORDS_ROW(target, "the file before it is written\n"), REQUEST_WORDS_ROW(cache, "state of the page cache"),   \
      {.name = "flush",                                                                                                    \
       .argument = "HOW",                                                                                                  \
       .kind = OPTION_WORD,                                                                                                \
       .offset = REQUEST_AT(plan.flush),                                                                                   \
       .words = plan_flush_words,                                                                                          \
       .help = "how cold is made"},                                                                                        \
      REQUEST_WORDS_ROW(consumer, "what is done with the bytes"), REQUEST_WORDS_ROW(process, "where a sample runs"), {     \
    .name = "memory", .argument = "SIZE", .kind = OPTION_SIZES, .offset = REQUEST_AT(memory),                              \
    .help = "run with no more memory than this, page cache included\n(needs root or a delegated control group)"             \
  }, {                                                                                                                     \
    .name = "coverage", .argument = "SHARE", .kind = OPTION_SHARE, .offset = REQUEST_AT(plan.coverage),                    \
    .help = "random access: share of the blocks in one pass (100%)"                                                        \
  }, {                                                                                                                     \
    .name = "write-share", .argument = "SHARE", .kind = OPTION_SHARE, .offset = REQUEST_AT(plan.write_share),              \
    .help = "direction mixed: share of the requests that write (30%)"                                                      \
  }, {                                                                                                                     \
    .name = "rate", .argument = "N[/s]", .kind = OPTION_RATE, .offset = REQUEST_AT(plan.rate_per_s),                       \
    .help = "so many requests a second begin, done or not those before; time\nis taken of every one (task blocks)"          \
  }, {                                                                                                                     \
    .name = "item", .argument = "BYTES", .kind = OPTION_COUNT, .offset = REQUEST_AT(plan.item_bytes), .low = 1,            \
    .high = PLAN_ITEM_MAX,                                                                                                 \
    .help = "lines, text: average bytes of a line in a made file (66)"                                                     \
  }

/* Who competes, and where. */
#define REQUEST_CONTENDER_ROWS                                                                                            \
  {.section = "Contenders",                                                                                               \
   .name = "method",                                                                                                      \
   .letter = 'm',                                                                                                         \
   .argument = "SPEC",                                                                                                    \
   .kind = OPTION_TEXTS,                                                                                                  \
   .offset = REQUEST_AT(plan.methods),                                                                                    \
   .help = "'family/variant[parameter=value|value,...]', * and ? in the\nname; may be repeated (default: all that fit, but for close\nvariants, which '*' holds too)"}, \
      {.name = "threads",                                                                                                 \
       .argument = "COUNTS",                                                                                              \
       .kind = OPTION_COUNTS,                                                                                             \
       .offset = REQUEST_AT(plan.threads),                                                                                \
       .low = 1,                                                                                                          \
       .high = 256,                                                                                                       \
       .help = "instances that share the work (1)"},                                                                      \
      {.name = "baseline",                                                                                                \
       .argument = "SPEC",                                                                                                \
       .kind = OPTION_TEXT,                                                                                               \
       .offset = REQUEST_AT(plan.baseline),                                                                               \
       .help = "what the others are compared with (of those measured, the\nmethod that is first in 'weir list methods': fd/pread ...)"},                                                                      \
      OUTSIDE_PLUGIN_ROW(REQUEST_AT(outside.plugin_files)), OUTSIDE_EXEC_ROW(REQUEST_AT(outside.commands)),               \
  {                                                                                                                       \
    .name = "dir", .letter = 'd', .argument = "DIR", .kind = OPTION_TEXTS, .offset = REQUEST_AT(plan.places),             \
    .help = "where files are made and removed (.); several compare places"                                                \
  }, {                                                                                                                    \
    .name = "member", .argument = "DIR", .kind = OPTION_TEXTS, .offset = REQUEST_AT(plan.members),                        \
    .help = "a disk of an array: each file is striped over all members,\none thread for each (task blocks)"               \
  }, {                                                                                                                    \
    .name = "private-copies", .kind = OPTION_FLAG, .offset = REQUEST_AT(plan.private_copies),                             \
    .help = "every method has files of its own; else all share them"                                                      \
  }

/* How long, how sure. */
#define REQUEST_EFFORT_ROWS                                                                                           \
  {.section = "Effort",                                                                                               \
   .name = "time",                                                                                                    \
   .letter = 't',                                                                                                     \
   .argument = "TIME",                                                                                                \
   .kind = OPTION_DURATION,                                                                                           \
   .offset = REQUEST_AT(plan.time_ns),                                                                                \
   .help = "for the whole run (60s)"},                                                                                \
      {.name = "rounds",                                                                                              \
       .argument = "N",                                                                                               \
       .kind = OPTION_COUNT,                                                                                          \
       .offset = REQUEST_AT(plan.rounds),                                                                             \
       .low = 0,                                                                                                      \
       .high = 100000,                                                                                                \
       .help = "samples of each cell (0: the suite's, else 20, or what --time\nallows)"},                                  \
      {.name = "wait-quiet",                                                                                          \
       .argument = "TIME",                                                                                            \
       .otherwise = "10s",                                                                                            \
       .kind = OPTION_DURATION,                                                                                       \
       .offset = REQUEST_AT(quiet_wait_ns),                                                                           \
       .help = "before each round wait until the machine is quiet, at most\nso long (10s); not part of --time"},      \
      {.name = "margin",                                                                                              \
       .argument = "SHARE",                                                                                           \
       .kind = OPTION_SHARE,                                                                                          \
       .offset = REQUEST_AT(plan.margin),                                                                             \
       .help = "smaller differences do not matter (3%)"},                                                             \
      {.name = "rank-by",                                                                                             \
       .argument = "WHAT",                                                                                            \
       .kind = OPTION_WORD,                                                                                           \
       .offset = REQUEST_AT(plan.rank_by),                                                                            \
       .words = plan_rank_words,                                                                                      \
       .help = "what is compared and ranked"},                                                                                     \
      {.name = "latency", .kind = OPTION_FLAG, .offset = REQUEST_AT(plan.latency), .help = "time every operation"}, { \
    .name = "seed", .argument = "N", .kind = OPTION_SEED, .offset = REQUEST_AT(seed),                                 \
    .help = "the same seed gives the same orders and data"                                                            \
  }

/*
 * Reads the command line into *out and checks what can be checked without measuring: the FILE operand and the directories.
 * OPTION_GO, OPTION_DONE or OPTION_BAD.
 */
enum option_result request_parse(const struct command *command, int argc, char **argv, struct request *out);
/* The second half of it, for commands that read their options themselves: what the options name is opened and looked at. */
enum option_result request_settle(const struct command *command, struct request *out, const struct option_operands *operands);
void request_release(struct request *request);
/* Makes the plan in run->plan and keeps the command line. 0, or EXIT_CANNOT with the error printed. */
int request_plan(const struct command *command, const struct request *request, int argc, char **argv, struct run *run);
/* Says on standard error what is not measured because of FILE, unless quiet. */
void request_notes(const struct request *request, const struct plan *plan);

/* Takes the user's file, or says why it cannot be measured: 0, or EXIT_CANNOT. */
int request_take_file(const char *path, struct plan_request *request);

/* What other commands that make files ask: a seed where none was said; a directory for them, or EXIT_CANNOT, told. */
uint64_t request_fresh_seed(void);
int request_check_place(const struct command *command, const char *path);

#endif
