/*
 * pair.c - two plugins for the tests with the same method: built with SLOWER 0 and 1, the second takes three times as long.
 */
#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "weir/method.h"

struct pair_state {
  int fd;
  void *block;
};

static int pair_setup(void *state, const struct weir_job *job) {
  struct pair_state *s = state;
  return job->host->buffer_get(job, (size_t)job->block, 1, WEIR_BUFFER_REUSED, &s->block);
}

static int pair_open(void *state, const struct weir_job *job) {
  struct pair_state *s = state;
  s->fd = open(job->path, O_RDONLY | O_CLOEXEC);
  return s->fd < 0 ? -errno : 0;
}

static double now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int pair_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  const struct pair_state *s = state;
  const double first = now_ns();
  const uint64_t count = budget < job->operations ? budget : job->operations;
  for (uint64_t i = 0; i < count && !weir_stopped(flow); i++) {
    const uint64_t began = weir_operation_begin(flow), offset = weir_order_offset(job, i);
    const size_t length = weir_order_length(job, offset);
    if (pread(s->fd, s->block, length, (off_t)offset) != (ssize_t)length) return -EIO;
    weir_deliver(flow, offset, s->block, length);
    weir_operation_end(flow, began);
  }
  const double took = now_ns() - first;
  for (const double end = now_ns() + SLOWER * took * 2; SLOWER && now_ns() < end;) continue;
  return 0;
}

static int pair_close(void *state, const struct weir_job *job) {
  return close(((struct pair_state *)state)->fd) ? -errno : 0;
}

static void pair_teardown(void *state, const struct weir_job *job) {
  struct pair_state *s = state;
  if (s->block) job->host->buffer_put(job, s->block, (size_t)job->block);
}

static const struct weir_param pair_params[] = {{.name = "block",
                                                 .kind = WEIR_PARAM_SIZE,
                                                 .preset = "128KiB",
                                                 .min = 1,
                                                 .max = 1 << 30,
                                                 WEIR_PARAM_EVERYWHERE,
                                                 .help = "bytes a request"}};
static const struct weir_method pair_read = {.abi = WEIR_METHOD_ABI,
                                             .struct_size = sizeof(struct weir_method),
                                             .name = "pair/read",
                                             .summary = "pread",
                                             .tasks = WEIR_BIT(WEIR_TASK_BLOCKS),
                                             .directions = WEIR_BIT(WEIR_READ),
                                             .accesses = WEIR_BIT(WEIR_SEQUENTIAL),
                                             .durabilities = WEIR_BIT(WEIR_DURABILITY_NONE),
                                             .params = pair_params,
                                             .param_count = 1,
                                             .state_size = sizeof(struct pair_state),
                                             .setup = pair_setup,
                                             .open = pair_open,
                                             .run = pair_run,
                                             .close = pair_close,
                                             .teardown = pair_teardown};
static const struct weir_method *const pair_methods[] = {&pair_read, NULL};

weir_plugin_entry WEIR_PLUGIN_ENTRY;
const struct weir_method *const *WEIR_PLUGIN_ENTRY(uint32_t abi) { return abi == WEIR_METHOD_ABI ? pair_methods : NULL; }
