/*
 * show_calls.c - what a method really asks of the kernel. One sample on a small file is taken by a worker under strace; what
 * stands between the two marks that the worker makes around the timed pass is counted and its beginning shown.
 */
#include "cli/show_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "measure/measure.h"
#include "os/os.h"

#define FILE_BYTES (UINT64_C(1) << 20)
#define LINES_SHOWN 12u
#define LINE_WIDTH 110
#define NAMES_MAX 64u

/* ---- reading the trace ---------------------------------------------------------------------------------------------- */

struct call_count { char name[32]; unsigned count; };
struct calls {
  unsigned count, names;
  struct call_count list[NAMES_MAX];
  unsigned shown;
  const char *lines[LINES_SHOWN];
};

/* A line without the number of its process; NULL where it is no call: signals, exits, the second half of a call. */
static char *call_of(char *line) {
  line += strspn(line, "0123456789");
  line += strspn(line, " ");
  return *line >= 'a' && *line <= 'z' && strchr(line, '(') ? line : NULL;
}

static void count_call(struct calls *calls, const char *line) {
  size_t length = strcspn(line, "(");
  unsigned i = 0;
  while (i < calls->names && (strncmp(calls->list[i].name, line, length) != 0 || calls->list[i].name[length])) i++;
  if (i == NAMES_MAX || length >= sizeof calls->list[i].name) return;
  if (i == calls->names) {
    calls->names++;
    snprintf(calls->list[i].name, sizeof calls->list[i].name, "%.*s", (int)length, line);
  }
  calls->list[i].count++;
  calls->count++;
  if (calls->shown < LINES_SHOWN) calls->lines[calls->shown++] = line;
}

/* Changes `trace`, in which the lines shown then lie. false: the marks are not there. */
static bool read_trace(char *trace, struct calls *calls) {
  bool inside = false;
  for (char *line = strtok(trace, "\n"); line; line = strtok(NULL, "\n")) {
    if (strstr(line, MEASURE_MARK_END)) return inside;
    char *call = call_of(line);
    if (inside && call) count_call(calls, call);
    if (strstr(line, MEASURE_MARK_BEGIN)) inside = true;
  }
  return false;
}

static int by_count(const void *a, const void *b) {
  const struct call_count *one = a, *other = b;
  if (one->count != other->count) return one->count < other->count ? 1 : -1;
  return strcmp(one->name, other->name);
}

static void print_calls(const struct plan_group *group, struct calls *calls) {
  printf("%s, one pass: %s\n\n", group->cells[0].id, group->title);
  qsort(calls->list, calls->names, sizeof *calls->list, by_count);
  printf("   calls  name\n");
  for (unsigned i = 0; i < calls->names; i++) printf("  %6u  %s\n", calls->list[i].count, calls->list[i].name);
  if (!calls->count) printf("       0  none: nothing of this pass enters the kernel by a call\n");
  if (calls->shown) printf("\n%s:\n", calls->shown < calls->count ? "They begin with" : "These are");
  for (unsigned i = 0; i < calls->shown; i++)
    printf("  %.*s%s\n", LINE_WIDTH, calls->lines[i], strlen(calls->lines[i]) > LINE_WIDTH ? " ..." : "");
}

/* ---- the run -------------------------------------------------------------------------------------------------------- */

/* What the method does first of what it can do. */
static int plan_one(const struct command *command, const struct outside *outside, const struct plan_strings *places,
                    const char *spec, struct plan *out) {
  struct plan_request request = {.places = *places, .methods = {1, {spec}}, .size = {1, {FILE_BYTES}},
                                 .target = {2, {WEIR_TARGET_OVERWRITE, WEIR_TARGET_NEW}}};
  struct plan_error error;
  for (int i = 0; plan_task_words[i]; i++) request.task.values[request.task.count++] = i;
  for (int i = 0; plan_direction_words[i]; i++) request.direction.values[request.direction.count++] = i;
  for (int i = 0; plan_access_words[i]; i++) request.access.values[request.access.count++] = i;
  int code = plan_make(&request, outside->methods, out, &error);
  if (code == -EINVAL) return command_fail(command, "--show-calls", error.hint[0] ? error.hint : NULL, "%s", error.text);
  return code < 0 ? command_cannot("%s", strerror(-code)) : 0;
}

static char *whole_text(os_file file) {
  struct os_stat stat;
  if (os_stat_file(file, &stat) < 0) return NULL;
  char *text = malloc((size_t)stat.size + 1);
  int64_t got = text ? os_pread_full(file, text, (size_t)stat.size, 0) : 0;
  if (text) text[got > 0 ? got : 0] = '\0';
  return text;
}

static int tell(const struct plan_group *group, os_file trace, const char *why) {
  struct calls calls = {.count = 0};
  char *text = whole_text(trace);
  bool found = text && read_trace(text, &calls);
  if (found) print_calls(group, &calls);
  int code = EXIT_FINE;
  if (found && why[0]) {
    fprintf(stderr, "weir: the pass failed: %s\n", why);
    code = EXIT_BAD_ANSWER;
  }
  if (!found)
    code = command_cannot("the calls of '%s' could not be followed%s%s; strace needs ptrace, which containers and "
                          "kernel.yama.ptrace_scope may forbid",
                          group->cells[0].id, why[0] ? ": " : "", why);
  free(text);
  return code;
}

static int trace(const struct outside *outside, struct run *run, const char *strace) {
  os_file file;
  char path[64];
  struct weir_reason problem = {.text = ""};
  int code = os_memory_file("weir-trace", 0, &file);
  if (code == 0) code = os_memory_file_path(file, path, sizeof path);
  const char *const prefix[] = {strace, "-f", "-qq", "-s", "16", "-o", path, NULL};
  const struct measure_options options = {.methods = outside->methods, .worker_arguments = outside->worker_arguments,
                                          .worker_prefix = prefix, .interrupted = command_interrupts()};
  if (code == 0) code = os_interrupts_catch(command_interrupts());
  if (code == 0) code = measure_one(run, &options, &problem);
  if (code == -EINTR) {
    code = EXIT_INTERRUPTED;
  } else if (code < 0) {
    code = command_cannot("%s%s%s", problem.text[0] ? problem.text : strerror(-code), problem.remedy[0] ? "; " : "",
                          problem.remedy);
  } else {
    code = tell(&run->plan.groups[0], file, problem.text);
  }
  os_close(file);
  return code;
}

int show_calls(const struct command *command, const struct outside *outside, const struct plan_strings *places,
               const char *spec) {
  char strace[4096];
  struct run run = {.argument_count = 0};
  int code = plan_one(command, outside, places, spec, &run.plan);
  if (code == 0 && os_program_find("strace", strace, sizeof strace) < 0)
    code = command_cannot("--show-calls needs the program strace, which is not installed; install the package strace");
  else if (code == 0)
    code = trace(outside, &run, strace);
  run_release(&run);
  return code;
}
