/*
 * command_claims.c - `weir claims`: what published studies said, retested here: plans, measure, stat, report. It chooses the
 * claims, divides the time, and tells; the claims are data (claims/), their verdicts come from stat/claim.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/progress.h"
#include "cli/request.h"
#include "cli/terminal.h"
#include "measure/special.h"
#include "methods/methods.h"
#include "os/os.h"
#include "report/claims_text.h"

#define MARGIN_DEFAULT 0.03
/* All claims end within 20 minutes; a few of them take less. */
#define TIME_ALL_NS UINT64_C(1020000000000)
#define TIME_GROUP_NS UINT64_C(12000000000)
#define TIME_LEAST_NS UINT64_C(30000000000)
/* Of the time of a group, what no division takes from it. */
#define TIME_GROUP_LEAST_NS UINT64_C(4000000000)
/* Where files in memory go, if it is there. */
#define MEMORY_PLACE "/dev/shm"

struct claims_options {
  struct output_options output;
  const char *place;
  struct plan_strings members;
  uint64_t time_ns;
  unsigned rounds;
  double margin;
  struct option_seed seed;
  bool list, strict, quiet;
};
#define CLAIMS_AT(member) offsetof(struct claims_options, member)

static const char *const format_words[] = {"text", "json", "markdown", NULL};
static const struct option_row rows[] = {
    {.section = "What to do",
     .name = "list",
     .letter = 'l',
     .kind = OPTION_FLAG,
     .offset = CLAIMS_AT(list),
     .help = "show the claims, their figures and their traps; measure\nnothing"},
    {.name = "dir",
     .letter = 'd',
     .argument = "DIR",
     .kind = OPTION_TEXT,
     .offset = CLAIMS_AT(place),
     .help = "where files are made and removed (.)"},
    {.name = "member",
     .argument = "DIR",
     .kind = OPTION_TEXTS,
     .offset = CLAIMS_AT(members),
     .help = "a disk of an array, for the claims on arrays; may be\nrepeated"},
    {.section = "Effort",
     .name = "time",
     .letter = 't',
     .argument = "TIME",
     .kind = OPTION_DURATION,
     .offset = CLAIMS_AT(time_ns),
     .help = "for the whole run (17m; less for a few claims)"},
    {.name = "rounds",
     .argument = "N",
     .kind = OPTION_COUNT,
     .offset = CLAIMS_AT(rounds),
     .low = 0,
     .high = 100000,
     .help = "samples of each cell (0: up to 20, as --time allows)"},
    {.name = "margin",
     .argument = "SHARE",
     .kind = OPTION_SHARE,
     .offset = CLAIMS_AT(margin),
     .help = "smaller differences do not matter (3%)"},
    {.name = "seed",
     .argument = "N",
     .kind = OPTION_SEED,
     .offset = CLAIMS_AT(seed),
     .help = "the same seed gives the same orders and data"},
    {.section = "Results",
     .name = "output",
     .letter = 'o',
     .argument = "FILE",
     .kind = OPTION_TEXTS,
     .offset = CLAIMS_AT(output.files),
     .help = "write the verdicts there too, by suffix: .json, .txt, .md;\n'-' is standard output; may be repeated"},
    {.name = "format",
     .argument = "FORMAT",
     .kind = OPTION_TEXT,
     .offset = CLAIMS_AT(output.format),
     .words = format_words,
     .help = "format on standard output"},
    {.name = "color",
     .argument = "WHEN",
     .kind = OPTION_WORD,
     .offset = CLAIMS_AT(output.color),
     .words = terminal_color_words,
     .help = "colours on standard output"},
    {.name = "ascii",
     .kind = OPTION_FLAG,
     .offset = CLAIMS_AT(output.ascii),
     .help = "tables in nothing but ASCII, as where the locale is no UTF-8"},
    {.name = "strict", .kind = OPTION_FLAG, .offset = CLAIMS_AT(strict), .help = "exit 3 when some verdict is unclear"},
    {.name = "quiet", .letter = 'q', .kind = OPTION_FLAG, .offset = CLAIMS_AT(quiet), .help = "no progress and no notes"},
    {0},
};

/* One run of the command. */
struct claiming {
  const struct command *self;
  struct claims_options options;
  struct claims_book book;
  bool *wanted; /* one for each claim */
  struct claims_plan plan;
  struct run *runs; /* one for each part */
  struct summary *summaries;
  struct output_list outputs;
};

/* ---- which claims ---- */

static int unknown_claim(const struct claiming *claiming, const char *word) {
  const struct claims_book *book = &claiming->book;
  const char **names = calloc(book->claim_count + book->study_count + (size_t)1, sizeof *names);
  if (!names) return command_cannot("out of memory");
  for (unsigned i = 0; i < book->claim_count; i++) names[i] = book->claims[i].id;
  for (unsigned i = 0; i < book->study_count; i++) names[book->claim_count + i] = book->studies[i].file;
  int code = command_fail(claiming->self, NULL, plan_nearest(word, names), "unknown claim '%s'", word);
  free(names);
  return code;
}

/* An id, or the name of a study's file: all of its claims. */
static int choose(struct claiming *claiming, const char *word) {
  const struct claims_book *book = &claiming->book;
  const int claim = claims_find(book, word);
  bool found = claim >= 0;
  if (found) claiming->wanted[claim] = true;
  for (unsigned i = 0; i < book->claim_count; i++) {
    if (strcmp(book->studies[book->claims[i].study].file, word) != 0) continue;
    claiming->wanted[i] = found = true;
  }
  return found ? 0 : unknown_claim(claiming, word);
}

static int choose_all(struct claiming *claiming, const struct option_operands *operands) {
  struct plan_error error;
  int code = claims_read(claims_texts, &claiming->book, &error);
  if (code < 0) return command_cannot("%s", code == -ENOMEM ? "out of memory" : error.text);
  claiming->wanted = calloc(claiming->book.claim_count + (size_t)1, sizeof *claiming->wanted);
  if (!claiming->wanted) return command_cannot("out of memory");
  for (unsigned i = 0; i < claiming->book.claim_count; i++) claiming->wanted[i] = operands->count == 0;
  for (int i = 0; i < operands->count && code == 0; i++) code = choose(claiming, operands->values[i]);
  return code;
}

/* ---- --list ---- */

static void list_line(const char *before, const char *text) {
  if (!*text) return;
  printf("       %s", before);
  display_wrap(stdout, &(struct display_box){100, 7 + strlen(before), 7}, text);
}

static void list_claims(const struct claiming *claiming) {
  const struct claim_study *study = NULL;
  for (unsigned i = 0; i < claiming->book.claim_count; i++) {
    const struct claim *claim = &claiming->book.claims[i];
    if (!claiming->wanted[i]) continue;
    if (study != &claiming->book.studies[claim->study]) {
      printf("%s", study ? "\n" : "");
      study = &claiming->book.studies[claim->study];
      printf("%s (%s): ", study->name, study->file);
      display_wrap(stdout, &(struct display_box){100, strlen(study->name) + strlen(study->file) + 5, 2}, study->title);
    }
    printf("  %-5s", claim->id);
    display_wrap(stdout, &(struct display_box){100, 7, 7}, claim->says);
    list_line("published: ", claim->published);
    list_line("trap: ", claim->trap);
    list_line("cannot be tested: ", claim->cannot);
  }
}

/* ---- the plan ---- */

static bool is_network(const char *path) {
  struct os_place place;
  const char *kind = os_place(path, &place) == 0 ? special_kind(&place) : NULL;
  return kind && strcmp(kind, "network") == 0;
}

static const char *memory_place(void) {
  struct os_place place;
  return os_place(MEMORY_PLACE, &place) == 0 && place.ram_backed && place.free_bytes > 0 ? MEMORY_PLACE : NULL;
}

static int make_plan(struct claiming *claiming) {
  const struct claims_options *options = &claiming->options;
  const char *place = options->place ? options->place : ".";
  struct plan_error error;
  int code = request_check_place(claiming->self, place);
  for (unsigned i = 0; i < options->members.count && code == 0; i++)
    code = request_check_place(claiming->self, options->members.values[i]);
  if (code) return code;
  const struct claims_request request = {.wanted = claiming->wanted,
                                         .place = place,
                                         .memory = memory_place(),
                                         .members = &options->members,
                                         .network = is_network(place),
                                         .seed = options->seed.said ? options->seed.value : request_fresh_seed(),
                                         .rounds = options->rounds,
                                         .margin = options->margin};
  code = claims_make(&claiming->book, &request, methods_list, &claiming->plan, &error);
  return code < 0 ? command_cannot("%s", code == -ENOMEM ? "out of memory" : error.text) : 0;
}

/* ---- measuring ---- */

static unsigned count_cells(const struct plan *plan) {
  unsigned count = 0;
  for (unsigned i = 0; i < plan->group_count; i++) count += plan->groups[i].cell_count + 1; /* and a twin */
  return count;
}

static uint64_t whole_time(const struct claiming *claiming) {
  uint64_t groups = 0;
  if (claiming->options.time_ns) return claiming->options.time_ns;
  for (unsigned i = 0; i < claiming->plan.part_count; i++) groups += claiming->plan.parts[i].plan.group_count;
  const uint64_t time = groups * TIME_GROUP_NS;
  return time > TIME_ALL_NS ? TIME_ALL_NS : time < TIME_LEAST_NS ? TIME_LEAST_NS : time;
}

/*
 * What is left goes to the parts by their cells, after each of those that follow has what its groups take at least: those
 * that come later get what earlier ones leave.
 */
static uint64_t time_of_part(const struct claiming *claiming, unsigned part, uint64_t left_ns) {
  unsigned cells = 0;
  uint64_t groups = 0;
  for (unsigned i = part; i < claiming->plan.part_count; i++) {
    cells += count_cells(&claiming->plan.parts[i].plan);
    groups += claiming->plan.parts[i].plan.group_count;
  }
  const uint64_t least = groups * TIME_GROUP_LEAST_NS < left_ns / 2 ? TIME_GROUP_LEAST_NS : left_ns / 2 / (groups + 1);
  const uint64_t by_groups = claiming->plan.parts[part].plan.group_count * least, rest = left_ns - groups * least;
  return cells ? by_groups + rest / cells * count_cells(&claiming->plan.parts[part].plan) : left_ns;
}

static int measure_part(struct claiming *claiming, unsigned index, uint64_t time_ns, struct weir_reason *problem) {
  struct claims_part *part = &claiming->plan.parts[index];
  struct run *run = &claiming->runs[index];
  struct progress progress = progress_start(claiming->options.quiet);
  const struct measure_options options = {
      .methods = methods_list, .interrupted = command_interrupts(), .observer = progress_observer(&progress)};
  part->plan.time_ns = time_ns;
  run->plan = part->plan;
  if (!claiming->options.quiet && claiming->plan.part_count > 1)
    fprintf(stderr, "part %u of %u: files in '%s'%s, cold by %s\n", index + 1, claiming->plan.part_count,
            run->plan.places[0], part->place == CLAIM_PLACE_ARRAY ? " and other members" : "",
            plan_flush_words[run->plan.flush]);
  int code = measure_run(run, &options, problem);
  progress_end(&progress);
  part->plan = run->plan;
  return code;
}

/* A part that could not be measured leaves its claims unclear; what the others say stands. */
static int measure_parts(struct claiming *claiming) {
  const uint64_t began = os_clock_ns(), whole = whole_time(claiming);
  int code = os_interrupts_catch(command_interrupts());
  if (!claiming->options.quiet && claiming->plan.part_count)
    fprintf(stderr, "seed: 0x%" PRIX64 "\n", claiming->plan.parts[0].plan.seed);
  for (unsigned i = 0; i < claiming->plan.part_count && code == 0; i++) {
    struct weir_reason problem = {{0}, {0}};
    const uint64_t spent = os_clock_ns() - began;
    code = measure_part(claiming, i, time_of_part(claiming, i, spent < whole ? whole - spent : 1), &problem);
    if (code == 0 || code == -EINTR) continue;
    command_cannot("%s%s%s", problem.text[0] ? problem.text : strerror(-code), problem.remedy[0] ? "; " : "",
                   problem.remedy);
    code = claiming->plan.part_count > 1 ? 0 : code;
  }
  return code == -EINTR ? 0 : code;
}

/* ---- telling ---- */

static int tell_report(struct claiming *claiming, const struct claim_report *report) {
  int code = output_write_claims(&claiming->outputs, report);
  if (code == 0 && report->interrupted) code = *command_interrupts() ? EXIT_INTERRUPTED : EXIT_CANNOT;
  if (code == 0 && report->failed) code = EXIT_BAD_ANSWER;
  if (code == 0 && report->verdicts[CLAIM_UNCLEAR] && claiming->options.strict) code = EXIT_UNSURE;
  return code;
}

static bool was_measured(const struct run *run) { return run->sample_count > 0; }

static int tell(struct claiming *claiming) {
  struct claim_report report;
  int code = 0;
  for (unsigned i = 0; i < claiming->plan.part_count && code == 0; i++)
    if (was_measured(&claiming->runs[i])) code = stat_summarize(&claiming->runs[i], &claiming->summaries[i]);
  if (code == 0) code = claims_judge(&claiming->plan, claiming->wanted, claiming->summaries, &report);
  if (code < 0) return command_cannot("out of memory");
  code = tell_report(claiming, &report);
  claims_report_release(&report);
  return code;
}

static int measure_and_tell(struct claiming *claiming) {
  claiming->runs = calloc(claiming->plan.part_count + (size_t)1, sizeof *claiming->runs);
  claiming->summaries = calloc(claiming->plan.part_count + (size_t)1, sizeof *claiming->summaries);
  if (!claiming->runs || !claiming->summaries) return command_cannot("out of memory");
  int code = measure_parts(claiming);
  return code < 0 ? EXIT_CANNOT : tell(claiming);
}

static int check_formats(const struct claiming *claiming) {
  for (unsigned i = 0; i < claiming->outputs.count; i++) {
    const struct output *output = &claiming->outputs.outputs[i];
    if (output->report && output->report->write_claims) continue;
    return command_fail(claiming->self, output->standard ? "--format" : "--output", NULL,
                        "%s: verdicts are written as text, json or markdown", output->name);
  }
  return 0;
}

static int prepare_outputs(struct claiming *claiming) {
  struct output_options *options = &claiming->options.output;
  if (options->format && strcmp(options->format, "text") == 0) options->format = "table";
  int code = output_prepare(claiming->self, options, NULL, &claiming->outputs);
  return code ? code : check_formats(claiming);
}

static int claims(struct claiming *claiming, const struct option_operands *operands) {
  int code = choose_all(claiming, operands);
  if (code) return code;
  if (claiming->options.list) {
    list_claims(claiming);
    return EXIT_FINE;
  }
  code = make_plan(claiming);
  if (code == 0) code = prepare_outputs(claiming);
  return code ? code : measure_and_tell(claiming);
}

static void release(struct claiming *claiming) {
  for (unsigned i = 0; i < claiming->plan.part_count; i++) {
    if (claiming->summaries) stat_release(&claiming->summaries[i]);
    if (!claiming->runs) continue;
    claiming->runs[i].plan = (struct plan){0}; /* the part's own */
    run_release(&claiming->runs[i]);
  }
  free(claiming->summaries);
  free(claiming->runs);
  output_release(&claiming->outputs);
  claims_plan_release(&claiming->plan);
  claims_release(&claiming->book);
  free(claiming->wanted);
}

static int run_claims(const struct command *self, int argc, char **argv) {
  struct claiming claiming = {.self = self, .options.margin = MARGIN_DEFAULT};
  struct option_operands operands;
  enum option_result parsed = option_parse(self, argc, argv, &claiming.options, &operands);
  int code = parsed == OPTION_BAD ? EXIT_CANNOT : EXIT_FINE;
  if (parsed == OPTION_GO) code = claims(&claiming, &operands);
  release(&claiming);
  return code;
}

const struct command cmd_claims = {
    .name = "claims",
    .synopsis = "[OPTION]... [ID|STUDY]...",
    .summary = "retest what published studies said",
    .description =
        "Measures what published studies of file I/O compared, and says of each claim whether it holds here, is reversed, "
        "a\n"
        "tie, unclear, or cannot be tested and why. Without ID: all of them, in under 20 minutes.",
    .examples =
        "  weir claims --list                          what is claimed, by whom, and what to beware of\n"
        "  weir claims C11 C13                         two claims\n"
        "  weir claims study-e -o verdicts.md          all claims of a study; keeps the verdicts\n",
    .options = rows,
    .run = run_claims,
};
