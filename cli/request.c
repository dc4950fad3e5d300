/*
 * request.c - from a command line to a plan: reads the options, looks at the FILE and the directories that they name, and
 * refuses what cannot be measured before anything is touched.
 */
#include "cli/request.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/random.h"
#include "base/units.h"
#include "cli/suite_file.h"
#include "os/os.h"

#define MARGIN_DEFAULT 0.03

/* ---- the user's file ---- */

static int refuse_file(const char *path, int code) { return command_cannot("'%s': %s", path, strerror(-code)); }

/* It says 0. Files that the kernel makes up do so and give data all the same; their size is not known before they are read. */
static int refuse_size(const char *path) {
  os_file file;
  char byte;
  int code = os_open(path, OS_READ | OS_NO_WAIT, &file);
  if (code < 0) return refuse_file(path, code);
  int64_t count = os_read(file, &byte, 1);
  os_close(file);
  if (count < 0) return refuse_file(path, (int)count);
  return count ? command_cannot("'%s' has a size that the system does not tell; copy it to a file first", path)
               : command_cannot("'%s' is empty: there is nothing to read", path);
}

static const char *misfit_of_kind(enum os_kind kind) {
  switch (kind) {
    case OS_REGULAR:
      return NULL;
    case OS_DIRECTORY:
      return "is a directory; name a file, or make files there with --dir";
    case OS_FIFO:
      return "is a FIFO; only regular files are measured";
    case OS_SOCKET:
      return "is a socket; only regular files are measured";
    case OS_CHARACTER_DEVICE:
      return "is a character device; only regular files are measured";
    case OS_BLOCK_DEVICE:
      return "is a block device; these are not measured yet";
    default:
      return "is no regular file";
  }
}

/* Some made-up files tell a page and give less; the last byte of a file that is as long as it says is there. */
static int check_whole(const char *path, uint64_t size) {
  os_file file;
  char byte;
  int code = os_open(path, OS_READ | OS_NO_WAIT, &file);
  if (code < 0) return refuse_file(path, code);
  int64_t count = os_pread(file, &byte, 1, size - 1);
  os_close(file);
  if (count < 0) return refuse_file(path, (int)count);
  return count ? 0 : command_cannot("'%s' gives less than the size that the system tells; copy it to a file first", path);
}

int request_take_file(const char *path, struct plan_request *request) {
  struct os_stat stat;
  int code = os_stat_path(path, &stat);
  if (code < 0) return refuse_file(path, code);
  const char *misfit = misfit_of_kind(stat.kind);
  if (misfit) return command_cannot("'%s' %s", path, misfit);
  request->file = path;
  request->file_bytes = stat.size;
  return stat.size ? check_whole(path, stat.size) : refuse_size(path);
}

static int look_at_operands(const struct command *command, const struct option_operands *operands,
                            struct plan_request *request) {
  if (operands->count == 0) return 0;
  if (operands->count > 1)
    return command_fail(command, NULL, NULL, "one FILE at a time; '%s' is one too many", operands->values[1]);
  return request_take_file(operands->values[0], request);
}

/* ---- directories ---- */

static int look_at_place(const struct command *command, const char *option, const char *path, struct os_stat *stat) {
  int code = os_stat_path(path, stat);
  if (code < 0) return command_fail(command, option, NULL, "'%s': %s", path, strerror(-code));
  if (stat->kind != OS_DIRECTORY)
    return command_fail(command, option, NULL, "'%s' is a %s, no directory", path, os_kind_name(stat->kind));
  if (access(path, W_OK | X_OK) < 0) return command_fail(command, option, NULL, "'%s': %s", path, strerror(errno));
  return 0;
}

static int look_at_list(const struct command *command, const char *option, const struct plan_strings *places) {
  struct os_stat seen[sizeof places->values / sizeof *places->values];
  for (unsigned i = 0; i < places->count; i++) {
    const char *place = places->values[i];
    int code = look_at_place(command, option, place, &seen[i]);
    if (code) return code;
    for (unsigned j = 0; j < i; j++)
      if (seen[j].device == seen[i].device && seen[j].inode == seen[i].inode)
        return command_fail(command, option, NULL, "'%s' and '%s' are the same directory", places->values[j], place);
  }
  return 0;
}

int request_check_place(const struct command *command, const char *path) {
  struct os_stat stat;
  return look_at_place(command, "--dir", path, &stat);
}

static int look_at_places(const struct command *command, const struct plan_request *request) {
  if (request->file && request->places.count)
    return command_fail(command, "--dir", NULL, "goes with files that weir makes; '%s' is read where it is", request->file);
  static const struct plan_strings here = {1, {"."}};
  if (request->members.count) return look_at_list(command, "--member", &request->members);
  if (!request->places.count && !request->file) return look_at_list(command, "--dir", &here);
  return look_at_list(command, "--dir", &request->places);
}

/* ---- the command line ---- */

uint64_t request_fresh_seed(void) { return random_mix(os_wall_ns() ^ (uint64_t)os_process_id() << 48) & 0xffffffffu; }

enum option_result request_parse(const struct command *command, int argc, char **argv, struct request *out) {
  struct option_operands operands;
  *out = (struct request){.plan.margin = MARGIN_DEFAULT, .plan.flush = PLAN_UNSAID};
  enum option_result result = option_parse(command, argc, argv, out, &operands);
  return result == OPTION_GO ? request_settle(command, out, &operands) : result;
}

enum option_result request_settle(const struct command *command, struct request *out, const struct option_operands *operands) {
  if (out->memory.count > 1) command_fail(command, "--memory", NULL, "one limit for the whole run");
  if (out->memory.count > 1) return OPTION_BAD;
  if (outside_open(command, &out->outside) != 0) return OPTION_BAD;
  outside_join(&out->outside, &out->plan);
  if (suite_file_read(command, out->plan.suite, &out->suite_text) != 0) return OPTION_BAD;
  out->plan.suite_text = out->suite_text;
  out->plan.seed = out->seed.said ? out->seed.value : request_fresh_seed();
  if (look_at_operands(command, operands, &out->plan) != 0) return OPTION_BAD;
  return look_at_places(command, &out->plan) == 0 ? OPTION_GO : OPTION_BAD;
}

void request_release(struct request *request) {
  outside_close(&request->outside);
  free(request->suite_text);
  request->suite_text = NULL;
}

/* The command line as it was given, kept for the reports. */
static int keep_arguments(int argc, char **argv, struct run *run) {
  run->arguments = calloc((size_t)argc + 1, sizeof *run->arguments);
  if (!run->arguments) return -ENOMEM;
  for (int i = -1; i < argc; i++) {
    run->arguments[run->argument_count] = strdup(i < 0 ? "weir" : argv[i]);
    if (!run->arguments[run->argument_count++]) return -ENOMEM;
  }
  return 0;
}

/* ---- what FILE leaves out ---- */

static bool plan_has(const struct plan *plan, const char *id) {
  for (unsigned i = 0; i < plan->group_count; i++)
    if (strcmp(plan->groups[i].id, id) == 0) return true;
  return false;
}

/* Names the groups of `whole` that read (or do not) and are not in the plan. How many. */
static unsigned print_left_out(const struct plan *whole, const struct plan *plan, bool reads, const char *why) {
  unsigned count = 0;
  for (unsigned i = 0; i < whole->group_count; i++) {
    const struct plan_group *group = &whole->groups[i];
    if ((group->demand.direction == WEIR_READ) != reads || plan_has(plan, group->id)) continue;
    fprintf(stderr, "%s%s", count++ ? ", " : why, group->id);
  }
  if (count) fprintf(stderr, "\n");
  return count;
}

/* The same suite once more, as if weir made the files: what is missing then was left out because of FILE. */
static void note_left_out(const struct plan_request *request, const struct weir_method *const *methods,
                          const struct plan *plan) {
  struct plan_request without = *request;
  struct plan_error error;
  struct plan whole;
  without.file = NULL;
  without.suite = plan->suite;
  without.size.count = 0;
  if (plan_make(&without, methods, &whole, &error) < 0) return;
  print_left_out(&whole, plan, false, "left out, for FILE is only read: ");
  if (print_left_out(&whole, plan, true, "left out, for cold empties the cache of FILE: "))
    fprintf(stderr, "with them: weir bench --cache warm,cold '%s'\n", request->file);
  plan_release(&whole);
}

static void note_sizes(const struct plan_request *request) {
  char asked[UNITS_TEXT_MAX], there[UNITS_TEXT_MAX];
  for (unsigned i = 0; i < request->size.count; i++)
    if (request->size.values[i] > request->file_bytes)
      fprintf(stderr, "--size %s: FILE has only %s; that is what is measured\n",
              units_size_name(request->size.values[i], asked), units_size_text((double)request->file_bytes, there));
}

void request_notes(const struct request *request, const struct plan *plan) {
  if (!request->plan.file || request->quiet) return;
  if (*plan->suite) note_left_out(&request->plan, request->outside.methods, plan);
  note_sizes(&request->plan);
}

/* ---- the plan ---- */

int request_plan(const struct command *command, const struct request *request, int argc, char **argv, struct run *run) {
  struct plan_error error;
  int code = keep_arguments(argc, argv, run);
  if (code == 0) code = plan_make(&request->plan, request->outside.methods, &run->plan, &error);
  if (code == -ENOMEM) return command_cannot("out of memory");
  if (code < 0) return command_fail(command, error.option, error.hint[0] ? error.hint : NULL, "%s", error.text);
  return 0;
}
