/*
 * allocates.c - a plugin for the tests: reads the whole file by plain reads, and takes known amounts of memory on the way: in
 * setup, which does not count, and `times` pieces of `size` bytes in run, which do.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "weir/method.h"

struct allocates_state { int fd; char *before, *data; };

static int allocates_setup(void *state, const struct weir_job *job) {
  struct allocates_state *s = state;
  s->before = malloc(12345);
  return s->before ? 0 : -ENOMEM;
}

static int allocates_open(void *state, const struct weir_job *job) {
  struct allocates_state *s = state;
  s->fd = open(job->path, O_RDONLY | O_CLOEXEC);
  return s->fd < 0 ? -errno : job->host->buffer_get(job, (size_t)job->part_length, 1, WEIR_BUFFER_FRESH, (void **)&s->data);
}

static int allocates_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  const struct allocates_state *s = state;
  for (uint64_t i = 0; i < job->params[0]; i++) {
    char *volatile piece = malloc((size_t)job->params[1]);
    free(piece);
  }
  const ssize_t got = pread(s->fd, s->data, (size_t)job->part_length, (off_t)job->part_offset);
  if (got != (ssize_t)job->part_length) return -EIO;
  weir_deliver(flow, job->part_offset, s->data, (size_t)got);
  flow->operations += job->operations;
  return 0;
}

static int allocates_close(void *state, const struct weir_job *job) {
  struct allocates_state *s = state;
  job->host->buffer_put(job, s->data, (size_t)job->part_length);
  return close(s->fd) ? -errno : 0;
}

static void allocates_teardown(void *state, const struct weir_job *job) { free(((struct allocates_state *)state)->before); }

static const struct weir_param allocates_params[] = {
    {.name = "times", .kind = WEIR_PARAM_COUNT, .preset = "3", .max = 1000000, WEIR_PARAM_EVERYWHERE, .help = "pieces"},
    {.name = "size", .kind = WEIR_PARAM_SIZE, .preset = "100", .max = 1 << 20, WEIR_PARAM_EVERYWHERE, .help = "bytes of one"}};

static const struct weir_method allocates = {
    .abi = WEIR_METHOD_ABI, .struct_size = sizeof(struct weir_method), .name = "allocates/pieces", .summary = "takes memory",
    .tasks = WEIR_BIT(WEIR_TASK_WHOLE), .directions = WEIR_BIT(WEIR_READ), .accesses = WEIR_BIT(WEIR_SEQUENTIAL),
    .durabilities = WEIR_BIT(WEIR_DURABILITY_NONE), .params = allocates_params, .param_count = 2,
    .state_size = sizeof(struct allocates_state), .setup = allocates_setup, .open = allocates_open, .run = allocates_run,
    .close = allocates_close, .teardown = allocates_teardown};
static const struct weir_method *const allocates_methods[] = {&allocates, NULL};

weir_plugin_entry WEIR_PLUGIN_ENTRY;
const struct weir_method *const *WEIR_PLUGIN_ENTRY(uint32_t abi) { return abi == WEIR_METHOD_ABI ? allocates_methods : NULL; }
