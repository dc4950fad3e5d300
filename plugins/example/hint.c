/*
 * hint.c - an example of a plugin: positional reads after telling the system that they come in order. One request at a time,
 * blocks only. docs/plugins.md says how to build it and what each function may do.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "weir/method.h"

struct hint_state { int fd; void *block; };

static int hint_setup(void *state, const struct weir_job *job) {
  struct hint_state *s = state;
  return job->host->buffer_get(job, (size_t)job->block, 1, WEIR_BUFFER_REUSED, &s->block);
}

static int hint_open(void *state, const struct weir_job *job) {
  struct hint_state *s = state;
  s->fd = open(job->path, O_RDONLY | O_CLOEXEC);
  if (s->fd < 0) return job->host->fail(job, -errno, "opening: %s", strerror(errno));
  (void)posix_fadvise(s->fd, (off_t)job->part_offset, (off_t)job->part_length, POSIX_FADV_SEQUENTIAL);
  return 0;
}

/* Until all is there: a call may transfer less than it was asked for. */
static int hint_read(int fd, char *data, size_t length, uint64_t offset) {
  for (size_t done = 0; done < length;) {
    const ssize_t count = pread(fd, data + done, length - done, (off_t)(offset + done));
    if (count == 0) return -ENODATA;
    if (count < 0 && errno != EINTR) return -errno;
    if (count > 0) done += (size_t)count;
  }
  return 0;
}

static int hint_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  const struct hint_state *s = state;
  const uint64_t count = budget < job->operations ? budget : job->operations;
  for (uint64_t i = 0; i < count && !weir_stopped(flow); i++) {
    const uint64_t began = weir_operation_begin(flow), offset = weir_order_offset(job, i);
    const size_t length = weir_order_length(job, offset);
    const int error = hint_read(s->fd, s->block, length, offset);
    if (error) return job->host->fail(job, error, "reading %zu bytes at %llu", length, (unsigned long long)offset);
    weir_deliver(flow, offset, s->block, length);
    weir_operation_end(flow, began);
  }
  return 0;
}

static int hint_close(void *state, const struct weir_job *job) { return close(((struct hint_state *)state)->fd) ? -errno : 0; }

static void hint_teardown(void *state, const struct weir_job *job) {
  struct hint_state *s = state;
  if (s->block) job->host->buffer_put(job, s->block, (size_t)job->block);
}

static const struct weir_param hint_params[] = {
    {.name = "block", .kind = WEIR_PARAM_SIZE, .preset = "128KiB", .sweep = "64KiB|1MiB", .min = 1, .max = 1 << 30,
     WEIR_PARAM_EVERYWHERE, .help = "bytes a request"}};

static const struct weir_method hint_sequential = {
    .abi = WEIR_METHOD_ABI, .struct_size = sizeof(struct weir_method), .name = "hint/sequential",
    .summary = "pread after a hint that the reads come in order", .calls = "posix_fadvise(2), pread(2)",
    .tasks = WEIR_BIT(WEIR_TASK_BLOCKS), .directions = WEIR_BIT(WEIR_READ), .accesses = WEIR_BIT(WEIR_SEQUENTIAL),
    .durabilities = WEIR_BIT(WEIR_DURABILITY_NONE), .params = hint_params, .param_count = 1,
    .state_size = sizeof(struct hint_state), .setup = hint_setup, .open = hint_open, .run = hint_run,
    .close = hint_close, .teardown = hint_teardown};

static const struct weir_method *const hint_methods[] = {&hint_sequential, NULL};

weir_plugin_entry WEIR_PLUGIN_ENTRY; /* the same signature for all */
const struct weir_method *const *WEIR_PLUGIN_ENTRY(uint32_t abi) { return abi == WEIR_METHOD_ABI ? hint_methods : NULL; }
