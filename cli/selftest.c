/*
 * selftest.c - `weir selftest`: every call of the library and every method, tried in the user's own directory. What is here,
 * is it right, did direct pass the cache, did durable reach the device: a line each, and an exit code.
 *
 * Each check of a call is a process of its own, so that a crash or a file system that hangs costs one line. All files lie in
 * a scratch directory that a janitor removes whatever happens.
 */
#include "cli/selftest.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/random.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "measure/run.h"
#include "measure/scratch.h"
#include "methods/methods.h"

#define SECOND UINT64_C(1000000000)
#define TOTAL_NS (25 * SECOND) /* nothing new is begun after it */
#define CHECK_NS (5 * SECOND)  /* of one check */
#define SLICE_NS (SECOND / 50)
enum { CHECKS_MAX = 64, METHODS_MAX = 256 };

/* Lies in memory that the checks share. */
struct board {
  unsigned char data[SELFTEST_BYTES];
  struct selftest_result calls[CHECKS_MAX], methods[METHODS_MAX];
};

struct session {
  const char *place;
  struct os_place facts;
  struct board *board;
  struct scratch scratch;
  struct selftest_scene scene;
  const struct selftest_check *checks[CHECKS_MAX];
  const struct weir_method *methods[METHODS_MAX + 1]; /* without those that move no data */
  unsigned check_count, method_count;
  uint64_t began_ns;
  volatile int *interrupted;
  bool table; /* printed as it comes */
};

struct request {
  int format;
};
enum { FORMAT_TABLE, FORMAT_JSON };
static const char *const format_words[] = {"table", "json", NULL};
static const struct option_row rows[] = {
    {.section = "Options",
     .name = "format",
     .argument = "FORMAT",
     .kind = OPTION_WORD,
     .offset = offsetof(struct request, format),
     .words = format_words,
     .help = "how it is printed"},
    {0},
};

/* ---- what there is to check ---------------------------------------------------------------------------------------- */

static void add_checks(struct session *s, const struct selftest_check *list) {
  for (; list->name && s->check_count < CHECKS_MAX; list++) s->checks[s->check_count++] = list;
}

static void gather(struct session *s) {
  add_checks(s, selftest_reading);
  add_checks(s, selftest_writing);
  for (unsigned i = 0; methods_list[i] && s->method_count < METHODS_MAX; i++)
    if (!(methods_list[i]->capabilities & WEIR_CAP_FLOOR)) s->methods[s->method_count++] = methods_list[i];
}

/* ---- one check, in a process of its own ---------------------------------------------------------------------------- */

struct errand {
  const struct session *session;
  const struct selftest_check *check;
  struct selftest_result *result;
  int parent;
};

static int run_check(void *context) {
  const struct errand *errand = context;
  struct selftest test = {.scene = &errand->session->scene, .result = errand->result};
  os_process_shield();
  if (os_process_follow_parent(errand->parent) < 0) return 1;
  os_close(errand->session->scratch.lifeline); /* only the session keeps the janitor waiting */
  errand->check->run(&test);
  if (test.result->here == SELFTEST_NONE) test.result->here = SELFTEST_YES;
  if (test.result->here == SELFTEST_YES && test.result->correct == SELFTEST_NONE) test.result->correct = SELFTEST_YES;
  atomic_store(&test.result->state, SELFTEST_DONE);
  return 0;
}

static void say_broken(struct selftest_result *result, const char *text) {
  result->here = SELFTEST_YES;
  result->correct = SELFTEST_NO;
  snprintf(result->note, sizeof result->note, "%s", text);
  atomic_store(&result->state, SELFTEST_DONE);
}

/* Waits for its end; false: it took too long and was killed. */
static bool await(const struct session *s, os_process child, struct os_exit *end) {
  const uint64_t kill_at = os_clock_ns() + CHECK_NS;
  while (os_process_wait(child, SLICE_NS, end) == -ETIMEDOUT) {
    if (os_clock_ns() < kill_at && *s->interrupted == 0) continue;
    (void)os_process_kill(child);
    (void)os_process_wait(child, SECOND, end); /* one that sits in a hanging file system is left */
    return false;
  }
  return true;
}

static void check_calls(const struct session *s, unsigned index) {
  struct selftest_result *result = &s->board->calls[index];
  struct errand errand = {s, s->checks[index], result, os_process_id()};
  os_process child;
  struct os_exit end = {.crashed = false};
  char text[64];
  int code = os_process_fork(run_check, &errand, &child);
  if (code < 0) {
    say_broken(result, strerror(-code));
    return;
  }
  const bool ended = await(s, child, &end);
  if (*s->interrupted || atomic_load(&result->state) == SELFTEST_DONE) return;
  snprintf(text, sizeof text, "ended by %s", ended && end.crashed ? os_crash_name(end.code) : "itself");
  say_broken(result, ended ? text : "no answer within 5 s");
}

/* ---- printing ------------------------------------------------------------------------------------------------------ */

static const char *const answer_words[] = {
    [SELFTEST_NONE] = "-", [SELFTEST_YES] = "yes", [SELFTEST_NO] = "no", [SELFTEST_UNSEEN] = "unseen"};

static bool is_done(const struct selftest_result *result) { return atomic_load(&result->state) == SELFTEST_DONE; }
static bool is_wrong(const struct selftest_result *result) {
  return is_done(result) && (result->correct == SELFTEST_NO || result->durable == SELFTEST_NO);
}

/* Notes may hold what devices and systems say. */
static void print_harmless(const char *text) {
  for (; *text; text++) putchar((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text);
}

static void print_heading(const char *what) {
  printf("%-28s %-5s %-8s %-7s %s\n", what, "here", "correct", "direct", "durable");
}

static void print_note(const char *mark, const struct selftest_result *result) {
  printf("  %s", mark);
  print_harmless(result->note);
  if (result->remedy[0]) terminal_put(stdout, " → ");
  print_harmless(result->remedy);
}

static void print_result(const char *name, const struct selftest_result *result) {
  if (!is_done(result)) {
    printf("%-28s ?     not tried: no time was left\n", name);
    return;
  }
  printf("%-28s %-5s %-8s %-7s ", name, answer_words[result->here], answer_words[result->correct],
         answer_words[result->direct]);
  printf(result->note[0] ? "%-7s" : "%s", answer_words[result->durable]);
  if (result->note[0]) print_note(is_wrong(result) ? "WRONG: " : "", result);
  putchar('\n');
  fflush(stdout);
}

struct tally {
  unsigned all, right, absent, wrong, late;
};

static void tally_up(const struct selftest_result *results, unsigned count, struct tally *out) {
  for (unsigned i = 0; i < count; i++) {
    const struct selftest_result *result = &results[i];
    out->all++;
    if (!is_done(result))
      out->late++;
    else if (is_wrong(result))
      out->wrong++;
    else if (result->here == SELFTEST_NO)
      out->absent++;
    else
      out->right++;
  }
}

static struct tally tally_of(const struct session *s) {
  struct tally tally = {0};
  tally_up(s->board->calls, s->check_count, &tally);
  tally_up(s->board->methods, s->method_count, &tally);
  return tally;
}

static void print_end(const struct session *s) {
  const struct tally tally = tally_of(s);
  char text[UNITS_TEXT_MAX];
  printf("\n%u of %u are here and right", tally.right, tally.all);
  if (tally.absent) printf(", %u not here", tally.absent);
  if (tally.late) printf(", %u not tried", tally.late);
  printf(", %u wrong; %s\n", tally.wrong, units_duration_text(os_clock_ns() - s->began_ns, text));
}

/* ---- JSON ---------------------------------------------------------------------------------------------------------- */

static json_t *text_value(const char *text) {
  char *encoded = run_text_encode(text);
  json_t *value = encoded ? json_string(encoded) : NULL;
  free(encoded);
  return value;
}

static json_t *words_value(const char *words) {
  json_t *list = json_array();
  for (; *words; words += strspn(words, " ")) {
    const size_t length = strcspn(words, " ");
    json_array_append_new(list, json_stringn(words, length));
    words += length;
  }
  return list;
}

static json_t *answer_value(const struct selftest_result *result, enum selftest_answer answer) {
  return is_done(result) && answer != SELFTEST_NONE ? json_string(answer_words[answer]) : json_null();
}

static int add_result(json_t *list, const char *name, const char *calls, const struct selftest_result *result) {
  json_t *line = json_object();
  int code = json_object_set_new(line, "name", json_string(name));
  if (code == 0 && calls) code = json_object_set_new(line, "calls", words_value(calls));
  if (code == 0) code = json_object_set_new(line, "tried", json_boolean(is_done(result)));
  if (code == 0) code = json_object_set_new(line, "here", answer_value(result, result->here));
  if (code == 0) code = json_object_set_new(line, "correct", answer_value(result, result->correct));
  if (code == 0) code = json_object_set_new(line, "direct", answer_value(result, result->direct));
  if (code == 0) code = json_object_set_new(line, "durable", answer_value(result, result->durable));
  if (code == 0) code = json_object_set_new(line, "note", text_value(result->note));
  if (code == 0) code = json_object_set_new(line, "remedy", text_value(result->remedy));
  return json_array_append_new(list, line) < 0 ? -1 : code;
}

static int print_json(const struct session *s) {
  json_t *document = json_object(), *calls = json_array(), *methods = json_array();
  const struct tally tally = tally_of(s);
  int code = json_object_set_new(document, "schema", json_integer(1));
  if (code == 0) code = json_object_set_new(document, "directory", text_value(s->place));
  if (code == 0) code = json_object_set_new(document, "file_system", text_value(s->facts.file_system));
  if (code == 0) code = json_object_set_new(document, "wrong", json_integer(tally.wrong));
  if (code == 0) code = json_object_set_new(document, "not_tried", json_integer(tally.late));
  for (unsigned i = 0; i < s->check_count && code == 0; i++)
    code = add_result(calls, s->checks[i]->name, s->checks[i]->calls, &s->board->calls[i]);
  for (unsigned i = 0; i < s->method_count && code == 0; i++)
    code = add_result(methods, s->methods[i]->name, NULL, &s->board->methods[i]);
  if (json_object_set_new(document, "calls", calls) < 0) code = -1;
  if (json_object_set_new(document, "methods", methods) < 0) code = -1;
  if (code == 0) code = json_dumpf(document, stdout, JSON_INDENT(2));
  if (code == 0) putchar('\n');
  json_decref(document);
  return code < 0 ? command_cannot("out of memory, or a write failed") : EXIT_FINE;
}

/* ---- the session --------------------------------------------------------------------------------------------------- */

static bool goes_on(const struct session *s) { return *s->interrupted == 0 && os_clock_ns() - s->began_ns < TOTAL_NS; }

static void all_calls(const struct session *s) {
  if (s->table) print_heading("library");
  for (unsigned i = 0; i < s->check_count && *s->interrupted == 0; i++) {
    if (goes_on(s)) check_calls(s, i);
    if (s->table && *s->interrupted == 0) print_result(s->checks[i]->name, &s->board->calls[i]);
  }
}

static int all_methods(const struct session *s) {
  if (!goes_on(s)) return 0;
  int code = selftest_methods(s->methods, s->place, s->board->methods, s->interrupted, s->began_ns + TOTAL_NS);
  if (code < 0) return command_cannot("the methods cannot be tried: %s", strerror(-code));
  if (!s->table || *s->interrupted) return 0;
  putchar('\n');
  print_heading("method");
  for (unsigned i = 0; i < s->method_count; i++) print_result(s->methods[i]->name, &s->board->methods[i]);
  return 0;
}

/* What was found is told even if the methods could not be tried: that is an answer too, if it is bad. */
static int check_all(const struct session *s) {
  all_calls(s);
  const int code = all_methods(s);
  if (*s->interrupted) return EXIT_INTERRUPTED;
  if (s->table) print_end(s);
  const int printed = s->table ? 0 : print_json(s);
  return printed ? printed : tally_of(s).wrong > 0 ? EXIT_BAD_ANSWER : code;
}

/* Can files be made there at all? */
static int look_at_place(struct session *s) {
  struct os_stat stat;
  int code = os_stat_path(s->place, &stat);
  if (code == 0 && stat.kind != OS_DIRECTORY) code = -ENOTDIR;
  if (code == 0 && access(s->place, W_OK | X_OK) < 0) code = -errno;
  if (code == 0) code = os_place(s->place, &s->facts);
  s->scene.device = code == 0 ? stat.device : 0;
  return code < 0 ? command_cannot("'%s': %s", s->place, strerror(-code)) : 0;
}

static void fill_board(struct board *board) {
  for (size_t i = 0; i < SELFTEST_BYTES; i += sizeof(uint64_t)) {
    const uint64_t word = random_mix(i + 1);
    memcpy(board->data + i, &word, sizeof word);
  }
}

static int in_scratch(struct session *s) {
  struct weir_reason problem = {{0}, {0}};
  char *places[1];
  char place[4096];
  snprintf(place, sizeof place, "%s", s->place);
  places[0] = place;
  int code = scratch_open(&s->scratch, places, 1, &problem);
  if (code < 0) return command_cannot("%s", problem.text);
  s->scene.directory = s->scratch.paths[0];
  s->scene.data = s->board->data;
  code = check_all(s);
  if (scratch_close(&s->scratch) < 0) fprintf(stderr, "weir: a directory '" SCRATCH_PREFIX "...' could not be removed\n");
  return code;
}

static int selftest(struct session *s) {
  void *memory;
  int code = look_at_place(s);
  if (code != 0) return code;
  if (s->facts.free_bytes < 64 * SELFTEST_BYTES) return command_cannot("'%s': less than 64 MiB are free", s->place);
  if (os_memory_get(sizeof *s->board, OS_MEMORY_SHARED, &memory) < 0) return command_cannot("out of memory");
  s->board = memory;
  fill_board(s->board);
  gather(s);
  code = os_interrupts_catch(s->interrupted) < 0 ? command_cannot("interrupts cannot be caught") : in_scratch(s);
  (void)os_memory_put(memory, sizeof *s->board);
  return code;
}

static int run_selftest(const struct command *self, int argc, char **argv) {
  struct request request = {.format = FORMAT_TABLE};
  struct option_operands operands;
  enum option_result parsed = option_parse(self, argc, argv, &request, &operands);
  if (parsed != OPTION_GO) return parsed == OPTION_DONE ? EXIT_FINE : EXIT_CANNOT;
  if (operands.count > 1) return command_fail(self, NULL, NULL, "one directory at a time");
  struct session session = {.place = operands.count ? operands.values[0] : ".",
                            .began_ns = os_clock_ns(),
                            .interrupted = command_interrupts(),
                            .table = request.format == FORMAT_TABLE};
  if (strlen(session.place) > 3072) return command_cannot("'%.60s...': %s", session.place, strerror(ENAMETOOLONG));
  return selftest(&session);
}

const struct command cmd_selftest = {
    .name = "selftest",
    .synopsis = "[OPTION]... [DIR]",
    .summary = "check every call of the library and every method here",
    .description =
        "Tries every call of libweir and every method on small files in DIR (.), in under half a minute, and says of each\n"
        "whether it is here, whether its bytes are right, whether direct transfers passed the cache, and whether durable\n"
        "ones made the device flush. 'unseen': done without an error, but the system does not tell. Leaves nothing behind.\n"
        "Exit code 0: all that is here is right; 1: something is wrong; 2: it could not be tried.",
    .examples =
        "  weir selftest\n"
        "  weir selftest /mnt/data\n"
        "  weir selftest --format json /mnt/data\n",
    .options = rows,
    .run = run_selftest,
};
