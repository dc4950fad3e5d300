/*
 * trial.c - the small core of the tests. Keeps one scratch directory and one content for the life of the test program.
 */
#define _GNU_SOURCE
#include "trial.h"

#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/units.h"
#include "os/os.h"
#include "trial_files.h"

static struct {
  char directory[PATH_MAX], path[PATH_MAX + 16];
  unsigned char *content, *coverage;
  unsigned buffers; /* got and not yet given back */
  atomic_int *stop; /* of the trial that is running */
} scene;

/* One instance in its core. */
struct instance {
  struct weir_job job;
  struct weir_flow flow;
  struct trial_result *result;
  const struct trial *trial;
  atomic_int *stop;
  uint64_t hooks;
  void *state;
  bool open;
};

int trial_begin(void) {
  char name[] = "weir-methods-XXXXXX", here[PATH_MAX - 32];
  if (!mkdtemp(name) || !getcwd(here, sizeof here)) return -1;
  (void)snprintf(scene.directory, sizeof scene.directory, "%s/%s", here, name);
  (void)snprintf(scene.path, sizeof scene.path, "%s/file", scene.directory);
  scene.content = malloc(TRIAL_SIZE_MAX);
  scene.coverage = malloc(TRIAL_SIZE_MAX);
  if (!scene.content || !scene.coverage) return -1;
  uint64_t word = 0x5eed;
  for (uint64_t i = 0; i < TRIAL_SIZE_MAX; i++) {
    word = word * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    scene.content[i] = (unsigned char)(word >> 56);
  }
  return 0;
}

void trial_finish(void) {
  (void)unlink(scene.path);
  (void)os_remove_tree(trial_sources());
  (void)os_remove_tree(trial_copies());
  (void)rmdir(scene.directory);
  free(scene.content);
  free(scene.coverage);
}

static void must(bool fine, const char *what) {
  if (fine) return;
  perror(what);
  abort();
}

/* ---- contexts of Linux AIO ----------------------------------------------------------------------------------------- */

#define POOL_DEPTH 1024u /* the most that a method asks for */

static struct {
  unsigned long contexts[16];
  unsigned count;
} pool;

static int pool_setup(unsigned depth, unsigned long *out) {
  must(depth <= POOL_DEPTH, "depth of a context");
  if (pool.count == 0) return (int)syscall(SYS_io_setup, POOL_DEPTH, out);
  *out = pool.contexts[--pool.count];
  return 0;
}
static int pool_destroy(unsigned long context) {
  if (pool.count == sizeof pool.contexts / sizeof pool.contexts[0]) return (int)syscall(SYS_io_destroy, context);
  pool.contexts[pool.count++] = context;
  return 0;
}

void trial_pool_contexts(void) {
  must(os_override("io_setup", (os_function *)pool_setup) != NULL, "io_setup");
  must(os_override("io_destroy", (os_function *)pool_destroy) != NULL, "io_destroy");
}

const char *trial_path(void) { return scene.path; }
const char *trial_directory(void) { return scene.directory; }
const unsigned char *trial_content(void) { return scene.content; }

/* ---- files --------------------------------------------------------------------------------------------------------- */

static void write_file(const unsigned char *data, uint64_t size) {
  const int fd = open(scene.path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  must(fd >= 0, "open");
  for (uint64_t at = 0; at < size;) {
    const ssize_t count = write(fd, data + at, (size_t)(size - at));
    must(count > 0, "write");
    at += (uint64_t)count;
  }
  must(close(fd) == 0, "close");
}

static void set_coin(struct weir_job *job) {
  job->write_share = UINT64_C(1) << 31;
  job->write_key = 0xc01;
}

/* What is going to be read is there; what is going to be written is not. */
static void lay_out_mixed(const struct trial *trial) {
  struct weir_job job = {.block = trial->block};
  set_coin(&job);
  for (uint64_t i = 0; i < trial->size; i++)
    scene.coverage[i] = weir_order_writes(&job, i) ? (unsigned char)~scene.content[i] : scene.content[i];
  write_file(scene.coverage, trial->size);
}

void trial_lay_out(const struct trial *trial) {
  if (weir_task_has_files(trial->task)) {
    trial_lay_out_files(trial);
    return;
  }
  if (trial->direction == WEIR_MIXED) {
    lay_out_mixed(trial);
    return;
  }
  if (trial->direction == WEIR_READ) {
    write_file(scene.content, trial->size);
    return;
  }
  (void)unlink(scene.path);
  if (trial->target == WEIR_TARGET_NEW) return;
  /* Anything but the content. A file to be truncated may be longer than what comes. */
  const bool full = trial->target != WEIR_TARGET_PREALLOCATED;
  memset(scene.coverage, 0xee, (size_t)trial->size);
  write_file(scene.coverage, full ? trial->size : 0);
  if (full) return;
  os_file file;
  must(os_open(scene.path, OS_WRITE, &file) == 0, "open");
  if (os_allocate(file, trial->size) != 0) must(os_resize(file, trial->size) == 0, "resize");
  must(os_close(file) == 0, "close");
}

bool trial_file_is_right(uint64_t size) {
  static unsigned char piece[65536];
  struct stat facts;
  if (stat(scene.path, &facts) != 0 || (uint64_t)facts.st_size != size) return false;
  const int fd = open(scene.path, O_RDONLY);
  bool right = fd >= 0;
  for (uint64_t at = 0; at < size && right;) {
    const ssize_t count = read(fd, piece, sizeof piece);
    right = count > 0 && memcmp(piece, scene.content + at, (size_t)count) == 0;
    at += count > 0 ? (uint64_t)count : 0;
  }
  if (fd >= 0) (void)close(fd);
  return right;
}

unsigned trial_descriptors(void) {
  unsigned count = 0;
  DIR *list = opendir("/proc/self/fd");
  must(list != NULL, "/proc/self/fd");
  while (readdir(list)) count++;
  (void)closedir(list);
  return count;
}

/* ---- services and hooks -------------------------------------------------------------------------------------------- */

static int buffer_get(const struct weir_job *job, size_t length, size_t alignment, enum weir_buffer_policy policy,
                      void **out) {
  (void)job;
  if (length == 0 || alignment > os_page_size()) return -22;
  const int error = os_memory_get(length, policy == WEIR_BUFFER_HUGE ? OS_MEMORY_HUGE : 0, out);
  if (error) return error;
  if (policy == WEIR_BUFFER_REUSED) memset(*out, 0x5a, length);
  scene.buffers++;
  return 0;
}

static void buffer_put(const struct weir_job *job, void *buffer, size_t length) {
  (void)job;
  must(os_memory_put(buffer, length) == 0, "memory given back with another length");
  scene.buffers--;
}

static int fail(const struct weir_job *job, int code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(job->reason->text, sizeof job->reason->text, format, arguments);
  va_end(arguments);
  return code;
}

static const struct weir_host host = {.abi = WEIR_METHOD_ABI,
                                      .struct_size = sizeof(struct weir_host),
                                      .buffer_get = buffer_get,
                                      .buffer_put = buffer_put,
                                      .fail = fail};

static void cover(struct instance *self, uint64_t offset, size_t length) {
  for (uint64_t i = offset; i < offset + length; i++) {
    if (scene.coverage[i]) self->result->twice++;
    if (!scene.coverage[i]) self->result->covered++;
    scene.coverage[i] = 1;
  }
  if (++self->hooks == self->trial->stop_after) atomic_store(self->stop, 1);
}

static void deliver(struct weir_flow *flow, uint64_t offset, const void *data, size_t length) {
  struct instance *self = flow->core;
  const unsigned char *bytes = data;
  if (offset + length > self->trial->size) {
    self->result->wrong += length;
    return;
  }
  if (memcmp(bytes, scene.content + offset, length) != 0) self->result->wrong += length;
  flow->sum += weir_touch(offset, data, length);
  cover(self, offset, length);
}

static void supply(struct weir_flow *flow, uint64_t offset, void *data, size_t length) {
  struct instance *self = flow->core;
  if (offset + length > self->trial->size) {
    self->result->wrong += length;
    return;
  }
  memcpy(data, scene.content + offset, length);
  cover(self, offset, length);
}

static uint64_t next_tick(void) {
  static uint64_t ticks;
  return ++ticks;
}
static void latency(struct weir_flow *flow, uint64_t elapsed_ns) {
  struct instance *self = flow->core;
  if (elapsed_ns > 0) self->result->latencies++;
  /* Bytes that are copied pass no hook. */
  if (self->trial->task == WEIR_TASK_COPY && ++self->hooks == self->trial->stop_after) atomic_store(self->stop, 1);
}

/* ---- the job ------------------------------------------------------------------------------------------------------- */

static uint64_t preset(const struct weir_param *param) {
  uint64_t value = 0;
  if (param->kind == WEIR_PARAM_SIZE) must(units_parse_size(param->preset, &value) == 0, "preset");
  if (param->kind == WEIR_PARAM_COUNT) must(units_parse_count(param->preset, &value) == 0, "preset");
  if (param->kind != WEIR_PARAM_CHOICE) return value;
  const char *found = strstr(param->choices, param->preset);
  must(found != NULL, "preset");
  for (const char *at = param->choices; at < found; at++) value += *at == '|';
  return value;
}

void trial_presets(struct trial *trial) {
  for (size_t i = 0; i < trial->method->param_count; i++) trial->params[i] = preset(&trial->method->params[i]);
}

int trial_param(const struct weir_method *method, const char *name) {
  for (size_t i = 0; i < method->param_count; i++)
    if (strcmp(method->params[i].name, name) == 0) return (int)i;
  return -1;
}

static unsigned instances_of(const struct trial *trial) { return trial->instances ? trial->instances : 1; }

/* Partitions begin on multiples of the block; the last ones may be empty. */
static void cut_partition(struct weir_job *job) {
  const uint64_t blocks = (job->file_size + job->block - 1) / job->block;
  const uint64_t share = (blocks + job->instances - 1) / job->instances;
  uint64_t begin = job->instance * share * job->block, end = begin + share * job->block;
  if (begin > job->file_size) begin = job->file_size;
  if (end > job->file_size) end = job->file_size;
  job->part_offset = begin;
  job->part_length = end - begin;
  job->blocks = (job->part_length + job->block - 1) / job->block;
  job->operations = job->blocks;
}

static void set_order(struct weir_job *job) {
  unsigned bits = 1;
  while (bits < 63 && (UINT64_C(1) << bits) < job->blocks) bits++;
  job->order_mask = (UINT64_C(1) << bits) - 1;
  job->order_shift = bits / 2 > 0 ? bits / 2 : 1;
  for (unsigned i = 0; i < 3; i++) job->order_key[i] = UINT64_C(0x9e3779b97f4a7c15) * (2 * i + 1) | 1;
}

static void make_job(const struct trial *trial, unsigned number, struct trial_result *result, struct weir_job *job) {
  *job = (struct weir_job){.abi = WEIR_METHOD_ABI,
                           .struct_size = sizeof *job,
                           .task = trial->task,
                           .direction = trial->direction,
                           .access = trial->access,
                           .durability = trial->durability,
                           .target = trial->target,
                           .consumer = trial->consumer,
                           .path = weir_task_has_files(trial->task) ? trial_sources() : scene.path,
                           .copy_directory = trial->task == WEIR_TASK_COPY ? trial_copies() : NULL,
                           .directory = scene.directory,
                           .file_size = trial->size,
                           .instance = number,
                           .instances = instances_of(trial),
                           .params = trial->params,
                           .block = trial->block,
                           .host = &host,
                           .reason = &result->reason,
                           .data = trial->method->data};
  cut_partition(job);
  set_order(job);
  set_coin(job);
}

/* ---- the life ------------------------------------------------------------------------------------------------------ */

static bool note(struct trial_result *result, enum trial_end end, int error) {
  if (error && result->end == TRIAL_DONE) {
    /* too little memory may be locked for now, and the method says what would help: that is not here, not wrong */
    bool poor = end == TRIAL_SETUP && error == -ENOMEM && result->reason.remedy[0];
    result->end = poor ? TRIAL_UNAVAILABLE : end;
    result->error = error;
  }
  return error == 0;
}

static bool open_all(struct instance *all, unsigned count, const struct weir_method *method, struct trial_result *result) {
  bool fine = true;
  for (unsigned i = 0; i < count && fine; i++) {
    all[i].open = fine = note(result, TRIAL_OPEN, method->open(all[i].state, &all[i].job));
  }
  return fine;
}

static bool run_all(struct instance *all, unsigned count, const struct trial *trial, struct trial_result *result) {
  bool fine = true;
  for (unsigned i = 0; i < count && fine; i++) {
    const uint64_t budget = trial->limited ? trial->budget : UINT64_MAX;
    fine = note(result, TRIAL_RUN, trial->method->run(all[i].state, &all[i].job, &all[i].flow, budget));
    result->operations += all[i].flow.operations;
    result->bytes += all[i].flow.bytes;
    result->sum += all[i].flow.sum;
  }
  return fine;
}

static bool sync_all(struct instance *all, unsigned count, const struct trial *trial, struct trial_result *result) {
  bool fine = true;
  for (unsigned i = 0; i < count && fine && trial->durability == WEIR_DURABILITY_END && trial->method->sync; i++)
    fine = note(result, TRIAL_SYNC, trial->method->sync(all[i].state, &all[i].job));
  return fine;
}

static void close_all(struct instance *all, unsigned count, const struct weir_method *method, struct trial_result *result) {
  for (unsigned i = 0; i < count; i++) {
    if (!all[i].open) continue;
    all[i].open = false;
    const struct weir_reason before = result->reason;
    const bool fine = note(result, TRIAL_CLOSE, method->close(all[i].state, &all[i].job));
    if (!fine && result->end != TRIAL_CLOSE) result->reason = before; /* the first failure is the one to tell */
  }
}

static void one_pass(struct instance *all, unsigned count, const struct trial *trial, struct trial_result *result) {
  result->operations = result->bytes = result->sum = result->latencies = result->covered = result->twice = 0;
  if (!trial->as_it_is) trial_lay_out(trial);
  memset(scene.coverage, 0, TRIAL_SIZE_MAX);
  for (unsigned i = 0; i < count; i++) {
    all[i].hooks = 0;
    all[i].flow = (struct weir_flow){.mode = trial->consumer,
                                     .stop = all[i].stop,
                                     .deliver = deliver,
                                     .supply = supply,
                                     .clock = trial->timed ? next_tick : NULL,
                                     .latency = latency,
                                     .core = &all[i]};
  }
  if (open_all(all, count, trial->method, result) && run_all(all, count, trial, result))
    (void)sync_all(all, count, trial, result);
  close_all(all, count, trial->method, result);
}

static void live(struct instance *all, unsigned count, const struct trial *trial, struct trial_result *result) {
  const struct weir_method *method = trial->method;
  unsigned ready = 0;
  for (bool fine = true; ready < count && fine; ready++)
    fine = note(result, TRIAL_SETUP, method->setup ? method->setup(all[ready].state, &all[ready].job) : 0);
  for (unsigned pass = 0; pass < (trial->passes ? trial->passes : 1) && result->end == TRIAL_DONE; pass++)
    one_pass(all, count, trial, result);
  for (unsigned i = 0; i < ready; i++)
    if (method->teardown) method->teardown(all[i].state, &all[i].job);
}

void trial_run(const struct trial *trial, struct trial_result *result) {
  const struct weir_method *method = trial->method;
  const unsigned count = instances_of(trial);
  struct instance all[TRIAL_INSTANCES_MAX];
  atomic_int stop = 0;
  scene.stop = &stop;
  memset(result, 0, sizeof *result);
  if (!trial->as_it_is) trial_lay_out(trial);
  for (unsigned i = 0; i < count; i++) {
    all[i] = (struct instance){.result = result, .trial = trial, .stop = &stop};
    make_job(trial, i, result, &all[i].job);
    all[i].state = calloc(1, method->state_size ? method->state_size : 1);
    must(all[i].state != NULL, "calloc");
    result->expected_operations += all[i].job.operations;
  }
  const int probed = method->probe ? method->probe(&all[0].job, &result->reason) : 0;
  if (note(result, TRIAL_UNAVAILABLE, probed)) live(all, count, trial, result);
  for (unsigned i = 0; i < count; i++) free(all[i].state);
  must(scene.buffers == 0 || trial->may_leak, "all buffers are given back");
}

void trial_stop(void) { atomic_store(scene.stop, 1); }

const char *trial_name(const struct trial *t, char *out, size_t size) {
  static const char *const tasks[] = {"blocks", "whole", "lines", "text",
                                                             "records", "typed", "copy", "many"}, *const directions[] = {"read", "write", "mixed"},
                           *const accesses[] = {"sequential", "random"}, *const durabilities[] = {"none", "end", "each"},
                           *const targets[] = {"overwrite", "truncate", "new", "preallocated"};
  int used = snprintf(out, size, "%s %s %s %s durability=%s target=%s size=%" PRIu64 " block=%" PRIu64 " instances=%u",
                      t->method->name, tasks[t->task], directions[t->direction], accesses[t->access],
                      durabilities[t->durability], targets[t->target], t->size, t->block, instances_of(t));
  for (size_t i = 0; i < t->method->param_count && used > 0 && (size_t)used < size; i++)
    used += snprintf(out + used, size - (size_t)used, " %s=%" PRIu64, t->method->params[i].name, t->params[i]);
  return out;
}
