/*
 * copies.c - copies as contenders: cp, several cp one after the other, and weir_copy, from the scratch file to directories
 * beside it. Making and removing the directories is not timed. cp is a whole process; next to a copy of this size its start
 * is nothing.
 */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "weir.h"
#include "weir/method.h"

extern char **environ;

#define TARGETS_MAX 8
#define PATH_ROOM 4200

struct target {
  char directory[PATH_ROOM], file[PATH_ROOM + 260];
};
struct copies {
  unsigned count;
  struct target targets[TARGETS_MAX];
};

static void remove_files(const struct copies *s) {
  for (unsigned i = 0; i < s->count; i++) (void)unlink(s->targets[i].file);
}

static int setup(void *state, const struct weir_job *job) {
  struct copies *s = state;
  const char *slash = strrchr(job->path, '/');
  for (; s->count < job->params[0]; s->count++) {
    struct target *target = &s->targets[s->count];
    snprintf(target->directory, sizeof target->directory, "%s/copy-%u", job->directory, s->count);
    snprintf(target->file, sizeof target->file, "%s/copy-%u/%s", job->directory, s->count, slash ? slash + 1 : job->path);
    if (mkdir(target->directory, 0700) < 0 && errno != EEXIST) return -errno;
  }
  remove_files(s);
  return 0;
}

static void teardown(void *state, const struct weir_job *job) {
  const struct copies *s = state;
  (void)job;
  remove_files(s);
  for (unsigned i = 0; i < s->count; i++) (void)rmdir(s->targets[i].directory);
}

static int nothing(void *state, const struct weir_job *job) {
  (void)state;
  (void)job;
  return 0;
}

static int run_cp(const char *from, char *to) {
  char program[] = "cp", *source = strdup(from);
  char *arguments[] = {program, source, to, NULL};
  pid_t child;
  int status = 0, error = source ? posix_spawnp(&child, program, NULL, NULL, arguments, environ) : ENOMEM;
  while (!error && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  free(source);
  if (error) return -error;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
}

/* The short pass before the window copies nothing: what it left would be in the way. */
static bool counts(const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  if (budget < job->operations) return false;
  flow->operations = job->operations;
  flow->bytes += job->part_length;
  return true;
}

static int run_all_cp(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct copies *s = state;
  int code = 0;
  if (!counts(job, flow, budget)) return 0;
  for (unsigned i = 0; i < s->count && code == 0; i++) code = run_cp(job->path, s->targets[i].file);
  return code ? job->host->fail(job, code, "cp did not end well") : 0;
}

static int run_library(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  const struct copies *s = state;
  const struct weir_copy_options options = {.flags = WEIR_COPY_REPLACE}; /* as cp does; of a second pass */
  const char *sources[] = {job->path}, *directories[TARGETS_MAX];
  struct weir_copy_result results[TARGETS_MAX];
  struct weir_error error;
  char text[WEIR_ERROR_TEXT_MAX];
  if (!counts(job, flow, budget)) return 0;
  for (unsigned i = 0; i < s->count; i++) directories[i] = s->targets[i].directory;
  int code = s->count == 1 ? weir_copy_file(job->path, s->targets[0].file, &options, results, &error)
                           : weir_copy(sources, 1, directories, s->count, NULL, &options, results, &error);
  if (code >= 0) return 0;
  weir_error_text(&error, text, sizeof text);
  return job->host->fail(job, code, "%s", text);
}

static int probe(const struct weir_job *job, struct weir_reason *reason) {
  if (job->consumer == WEIR_CONSUMER_NONE && job->instances == 1) return 0;
  snprintf(reason->text, sizeof reason->text, "what is copied is not seen here");
  snprintf(reason->remedy, sizeof reason->remedy, "compare with --consumer=none and one thread");
  return -EOPNOTSUPP;
}

static const struct weir_param params[] = {{.name = "to",
                                            .kind = WEIR_PARAM_COUNT,
                                            .preset = "1",
                                            .min = 1,
                                            .max = TARGETS_MAX,
                                            WEIR_PARAM_EVERYWHERE,
                                            .help = "destinations"}};

#define COPIES                                                                                                              \
  .abi = WEIR_METHOD_ABI, .struct_size = sizeof(struct weir_method), .tasks = WEIR_BIT(WEIR_TASK_WHOLE),                    \
  .directions = WEIR_BIT(WEIR_READ), .accesses = WEIR_BIT(WEIR_SEQUENTIAL), .durabilities = WEIR_BIT(WEIR_DURABILITY_NONE), \
  .capabilities = WEIR_CAP_OUTSIDE, .params = params, .param_count = 1, .state_size = sizeof(struct copies),                \
  .probe = probe, .setup = setup, .open = nothing, .close = nothing, .teardown = teardown

static const struct weir_method cp = {COPIES, .name = "copies/cp", .summary = "cp, one after the other", .calls = "cp(1)",
                                      .run = run_all_cp};
static const struct weir_method library = {COPIES, .name = "copies/weir", .summary = "libweir, all destinations at once",
                                           .calls = "weir_copy_file(3), weir_copy(3)", .run = run_library};
static const struct weir_method *const all[] = {&cp, &library, NULL};

weir_plugin_entry WEIR_PLUGIN_ENTRY; /* the same signature for all */
const struct weir_method *const *WEIR_PLUGIN_ENTRY(uint32_t abi) { return abi == WEIR_METHOD_ABI ? all : NULL; }
