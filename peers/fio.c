/*
 * fio.c - fio as a contender: a plugin whose methods run the fio that is installed and claim the time and the processor time
 * that fio reports of itself, so that neither its start nor its own reporting counts against it.
 *
 * fio is started once a sample, in the untimed set-up, on the same file, request size, order and depth as the cell beside it.
 * Its data are not looked at, so it is compared under consumer `none` only. Writers overwrite the file that is there.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "weir/method.h"

extern char **environ;

enum { PARAM_BLOCK, PARAM_DEPTH, PARAM_DIRECT, PARAM_TUNED };
enum { NO, YES, REGISTERED };
#define OUTPUT_MAX ((size_t)1 << 20)
#define ARGUMENTS_MAX 64
#define ARGUMENT_MAX 4200

struct fio_state { uint64_t run_ns, cpu_ns; }; /* of one pass of the job */

struct command { char text[ARGUMENTS_MAX][ARGUMENT_MAX]; char *list[ARGUMENTS_MAX + 1]; unsigned count; };

static void add(struct command *command, const char *format, const char *value) {
  if (command->count == ARGUMENTS_MAX) return;
  char *slot = command->text[command->count];
  snprintf(slot, ARGUMENT_MAX, format, value);
  command->list[command->count++] = slot;
  command->list[command->count] = NULL;
}

static void add_number(struct command *command, const char *format, uint64_t value) {
  char text[32];
  snprintf(text, sizeof text, "%llu", (unsigned long long)value);
  add(command, format, text);
}

/* What makes fio use io_uring as well as it can: registered buffers and file, and (`yes`) requests in batches. */
static void add_tuning(struct command *command, const struct weir_job *job) {
  uint64_t depth = job->params[PARAM_DEPTH], batch = depth > 4 ? depth / 4 : 1;
  if (job->params[PARAM_TUNED] == NO) return;
  add(command, "%s", "--fixedbufs=1");
  add(command, "%s", "--registerfiles=1");
  if (job->params[PARAM_TUNED] == REGISTERED) return;
  add_number(command, "--iodepth_batch_submit=%s", batch);
  add_number(command, "--iodepth_batch_complete_min=%s", batch);
  add_number(command, "--iodepth_batch_complete_max=%s", depth);
}

/* Nothing is put into the buffers between two writes, as the core does it under consumer `none`. */
static void add_file(struct command *command, const struct weir_job *job) {
  add(command, "--filename=%s", job->path);
  if (job->direction == WEIR_READ) {
    add(command, "%s", "--readonly");
    return;
  }
  add(command, "%s", "--overwrite=1");
  add(command, "%s", "--fallocate=none");
  add(command, "%s", "--scramble_buffers=0");
}

/*
 * One job of fio that moves `bytes`. Its null engine opens no file. Cache: fio would drop the file's pages at its start; the
 * core has put them into the state that is wanted.
 */
static void describe(struct command *command, const struct weir_job *job, const char *engine, const char *name,
                     uint64_t bytes) {
  bool random = job->access == WEIR_RANDOM;
  add(command, "--name=%s", name);
  add(command, "%s", "--stonewall");
  add(command, "--ioengine=%s", engine);
  add(command, "--rw=%s", job->direction == WEIR_WRITE ? (random ? "randwrite" : "write") : (random ? "randread" : "read"));
  if (strcmp(engine, "null") != 0) add_file(command, job);
  add_number(command, "--filesize=%s", job->file_size);
  add_number(command, "--bs=%s", job->block);
  add_number(command, "--size=%s", job->file_size);
  add_number(command, "--io_size=%s", bytes);
  add_number(command, "--iodepth=%s", job->params[PARAM_DEPTH]);
  add(command, "%s", job->params[PARAM_DIRECT] == YES ? "--direct=1" : "--direct=0");
  add(command, "%s", "--invalidate=0");
  add(command, "%s", "--thread");
  add_tuning(command, job);
}

static bool writes_cached(const struct weir_job *job) {
  return job->direction == WEIR_WRITE && job->params[PARAM_DIRECT] == NO;
}

/* Writers through the page cache get the untimed start of a pass that the core gives to all others: its pages are dirty then. */
static void describe_all(struct command *command, const struct weir_job *job, const char *engine, uint64_t loops) {
  uint64_t bytes = job->operations * job->block;
  add(command, "%s", "fio");
  add(command, "%s", "--output-format=json");
  if (writes_cached(job)) describe(command, job, engine, "warm", (job->operations / 16 + 1) * job->block);
  describe(command, job, engine, "peer", bytes * loops);
}

static int run(struct command *command, char *output) {
  int ends[2], status = 0;
  pid_t child;
  posix_spawn_file_actions_t actions;
  if (pipe(ends) < 0) return -errno;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  int error = posix_spawnp(&child, command->list[0], &actions, NULL, command->list, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  size_t length = 0;
  while (!error && length + 1 < OUTPUT_MAX) {
    ssize_t got = read(ends[0], output + length, OUTPUT_MAX - 1 - length);
    if (got <= 0 && !(got < 0 && errno == EINTR)) break;
    if (got > 0) length += (size_t)got;
  }
  output[length] = '\0';
  close(ends[0]);
  if (error) return -error;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
}

static json_t *job_called(json_t *root, const char *name) {
  json_t *list = json_object_get(root, "jobs");
  for (size_t i = 0; i < json_array_size(list); i++) {
    const char *called = json_string_value(json_object_get(json_array_get(list, i), "jobname"));
    if (called && strcmp(called, name) == 0) return json_array_get(list, i);
  }
  return NULL;
}

/* fio's own words: operations, run time in ms, which it rounds up, and the shares of that time spent as user and system. */
static int understand(const char *output, const struct weir_job *job, struct fio_state *state) {
  const char *start = strchr(output, '{'); /* notes may stand before */
  json_t *root = start ? json_loads(start, JSON_DISABLE_EOF_CHECK, NULL) : NULL;
  json_t *peer = job_called(root, "peer");
  json_t *side = json_object_get(peer, job->direction == WEIR_WRITE ? "write" : "read");
  double ops = json_number_value(json_object_get(side, "total_ios"));
  double run_ms = json_number_value(json_object_get(side, "runtime")) - 0.5;
  double cpu = json_number_value(json_object_get(peer, "usr_cpu")) + json_number_value(json_object_get(peer, "sys_cpu"));
  json_decref(root);
  if (ops < 1 || run_ms <= 0) return -EIO;
  double pass_ns = run_ms * 1e6 / ops * (double)job->operations;
  state->run_ns = (uint64_t)pass_ns;
  state->cpu_ns = (uint64_t)(pass_ns * cpu / 100);
  return 0;
}

/*
 * Passes that are long enough for a clock of milliseconds: half a second by a first guess of the time of one request. Writers
 * through the page cache get one: the first finds clean pages, as all others in a round do, and a second one would not.
 */
static uint64_t choose_loops(const struct weir_job *job, const char *engine) {
  double guess_ns = strcmp(engine, "null") == 0 ? 100 : job->params[PARAM_DIRECT] == YES ? 20000.0 : 1000;
  guess_ns += (double)job->block / 2; /* 2 GB/s */
  double pass_ns = guess_ns * (double)job->operations;
  return pass_ns < 4e8 && !writes_cached(job) ? (uint64_t)(4e8 / pass_ns) + 1 : 1;
}

static int measure(void *state, const struct weir_job *job, const char *engine) {
  struct command *command = calloc(1, sizeof *command);
  char *output = malloc(OUTPUT_MAX);
  int error = command && output ? 0 : -ENOMEM;
  if (!error) {
    describe_all(command, job, engine, choose_loops(job, engine));
    error = run(command, output);
  }
  if (!error) error = understand(output, job, state);
  free(command);
  free(output);
  return error ? job->host->fail(job, error, "fio --ioengine=%s did not end well", engine) : 0;
}

static int setup_null(void *state, const struct weir_job *job) { return measure(state, job, "null"); }
static int setup_psync(void *state, const struct weir_job *job) { return measure(state, job, "psync"); }
static int setup_mmap(void *state, const struct weir_job *job) { return measure(state, job, "mmap"); }
static int setup_ring(void *state, const struct weir_job *job) { return measure(state, job, "io_uring"); }
static int setup_libaio(void *state, const struct weir_job *job) { return measure(state, job, "libaio"); }

static int claim(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  const struct fio_state *s = state;
  (void)budget;
  flow->operations = job->operations;
  for (uint64_t i = 0; i < job->operations; i++) flow->bytes += weir_order_length(job, weir_order_offset(job, i));
  job->host->claim_time(job, s->run_ns, s->cpu_ns);
  return 0;
}

static int nothing(void *state, const struct weir_job *job) {
  (void)state;
  (void)job;
  return 0;
}

static int probe(const struct weir_job *job, struct weir_reason *reason) {
  if (job->consumer != WEIR_CONSUMER_NONE) {
    snprintf(reason->text, sizeof reason->text, "fio does not look at what it reads");
    snprintf(reason->remedy, sizeof reason->remedy, "compare with --consumer=none");
    return -EOPNOTSUPP;
  }
  if (job->direction == WEIR_WRITE && job->target != WEIR_TARGET_OVERWRITE) {
    snprintf(reason->text, sizeof reason->text, "fio makes new files before its clock starts");
    snprintf(reason->remedy, sizeof reason->remedy, "compare with --target=overwrite");
    return -EOPNOTSUPP;
  }
  if (job->host->struct_size < offsetof(struct weir_host, claim_time) + sizeof job->host->claim_time) return -ENOSYS;
  if (job->params[PARAM_BLOCK] == 0) return -EINVAL;
  if (system("command -v fio >/dev/null 2>&1") == 0) return 0;
  snprintf(reason->text, sizeof reason->text, "fio is not installed");
  snprintf(reason->remedy, sizeof reason->remedy, "apt-get install fio");
  return -ENOENT;
}

static const struct weir_param params[] = {
    {.name = "block", .kind = WEIR_PARAM_SIZE, .preset = "128KiB", .min = 1, .max = 1 << 30, WEIR_PARAM_EVERYWHERE,
     .help = "bytes a request"},
    {.name = "depth", .kind = WEIR_PARAM_COUNT, .preset = "1", .min = 1, .max = 1024, WEIR_PARAM_EVERYWHERE,
     .help = "requests in flight"},
    {.name = "direct", .kind = WEIR_PARAM_CHOICE, .preset = "no", .choices = "no|yes", WEIR_PARAM_EVERYWHERE,
     .help = "pass the page cache by"},
    {.name = "tuned", .kind = WEIR_PARAM_CHOICE, .preset = "no", .choices = "no|yes|registered",
     WEIR_PARAM_EVERYWHERE, .help = "registered buffers and file; yes: requests in batches too"},
};

#define FIO(id, engine, directions_of, setup_function, text)                                                                              \
  static const struct weir_method id = {                                                                                   \
      .abi = WEIR_METHOD_ABI, .struct_size = sizeof(struct weir_method), .name = "fio/" engine, .summary = text,          \
      .calls = "fio --ioengine=" engine, .tasks = WEIR_BIT(WEIR_TASK_BLOCKS),                                             \
      .directions = directions_of, .accesses = WEIR_ANY, .durabilities = WEIR_BIT(WEIR_DURABILITY_NONE),                   \
      .capabilities = WEIR_CAP_OUTSIDE | WEIR_CAP_DEPTH, .params = params, .param_count = sizeof params / sizeof *params,  \
      .state_size = sizeof(struct fio_state), .probe = probe, .setup = setup_function, .open = nothing, .run = claim,      \
      .close = nothing}

#define READS WEIR_BIT(WEIR_READ)
#define BOTH (WEIR_BIT(WEIR_READ) | WEIR_BIT(WEIR_WRITE))
FIO(fio_null, "null", READS, setup_null, "fio's engine that does nothing: its harness");
FIO(fio_psync, "psync", BOTH, setup_psync, "fio with pread and pwrite");
FIO(fio_mmap, "mmap", BOTH, setup_mmap, "fio with a mapped file, copied block by block");
FIO(fio_ring, "io_uring", BOTH, setup_ring, "fio with io_uring");
FIO(fio_libaio, "libaio", BOTH, setup_libaio, "fio with Linux AIO");

/*
 * The same for weir: every step of its harness and no transfer, as methods/null.c does it. That one is a floor and not
 * ranked; this one is a contender.
 */
static int run_nothing(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  static unsigned char block[1];
  uint64_t count = budget < job->operations ? budget : job->operations;
  (void)state;
  for (uint64_t i = 0; i < count && !weir_stopped(flow); i++) {
    uint64_t began = weir_operation_begin(flow), offset = weir_order_offset(job, i);
    weir_deliver(flow, offset, block, weir_order_length(job, offset));
    weir_operation_end(flow, began);
  }
  return 0;
}

static const struct weir_method weir_null = {
    .abi = WEIR_METHOD_ABI, .struct_size = sizeof(struct weir_method), .name = "weir/null",
    .summary = "weir's harness, without a transfer", .calls = "none", .tasks = WEIR_BIT(WEIR_TASK_BLOCKS),
    .directions = WEIR_BIT(WEIR_READ), .accesses = WEIR_ANY, .durabilities = WEIR_BIT(WEIR_DURABILITY_NONE),
    .capabilities = WEIR_CAP_OUTSIDE, .params = params, .param_count = 1, .state_size = 1, .probe = probe, .open = nothing,
    .run = run_nothing, .close = nothing};

static const struct weir_method *const all[] = {&fio_null, &fio_psync, &fio_mmap, &fio_ring, &fio_libaio,
                                               &weir_null, NULL};

const struct weir_method *const *weir_plugin_methods(uint32_t abi);
const struct weir_method *const *weir_plugin_methods(uint32_t abi) { return abi == WEIR_METHOD_ABI ? all : NULL; }
