/*
 * copy.c - a plugin for the tests: pread as fd/pread does it, once exactly and once with every request made longer by 6 %.
 * Built with PAIR, it has one method, pair/read, made longer by that share: two builds are an old and a new one.
 */
#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "weir/method.h"

struct copy_state { int fd; void *block; };

/* Shares by which a request is made longer; weir_method.data. */
#ifdef PAIR
static const double pair = PAIR;
#else
static const double exact = 0, slow = 0.06;
#endif

static int copy_setup(void *state, const struct weir_job *job) {
  struct copy_state *s = state;
  return job->host->buffer_get(job, (size_t)job->block, 1, WEIR_BUFFER_REUSED, &s->block);
}

static int copy_open(void *state, const struct weir_job *job) {
  struct copy_state *s = state;
  s->fd = open(job->path, O_RDONLY | O_CLOEXEC);
  return s->fd < 0 ? -errno : 0;
}

/* Of this thread's own work: waiting for a processor that others use is not made longer. */
static double now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* As much longer as the share says, of what the request itself took: the same 6 % on a fast machine and on a slow one. */
static void linger(double began, double share) {
  double end = now_ns();
  end += (end - began) * share;
  while (now_ns() < end) continue;
}

static int copy_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  const struct copy_state *s = state;
  const double share = *(const double *)job->data;
  const uint64_t count = budget < job->operations ? budget : job->operations;
  for (uint64_t i = 0; i < count && !weir_stopped(flow); i++) {
    const double lingers_from = share > 0 ? now_ns() : 0;
    const uint64_t began = weir_operation_begin(flow), offset = weir_order_offset(job, i);
    const size_t length = weir_order_length(job, offset);
    for (size_t done = 0; done < length;) {
      const ssize_t got = pread(s->fd, (char *)s->block + done, length - done, (off_t)(offset + done));
      if (got == 0) return -ENODATA;
      if (got < 0 && errno != EINTR) return -errno;
      if (got > 0) done += (size_t)got;
    }
    weir_deliver(flow, offset, s->block, length);
    if (share > 0) linger(lingers_from, share);
    weir_operation_end(flow, began);
  }
  return 0;
}

static int copy_close(void *state, const struct weir_job *job) { return close(((struct copy_state *)state)->fd) ? -errno : 0; }

static void copy_teardown(void *state, const struct weir_job *job) {
  struct copy_state *s = state;
  if (s->block) job->host->buffer_put(job, s->block, (size_t)job->block);
}

static const struct weir_param copy_params[] = {{.name = "block", .kind = WEIR_PARAM_SIZE, .preset = "128KiB", .min = 1,
                                                 .max = 1 << 30, WEIR_PARAM_EVERYWHERE, .help = "bytes a request"}};

#define COPY(variant, share)                                                                                                \
  {.abi = WEIR_METHOD_ABI, .struct_size = sizeof(struct weir_method), .name = variant, .summary = "a copy of fd/pread",      \
   .tasks = WEIR_BIT(WEIR_TASK_BLOCKS), .directions = WEIR_BIT(WEIR_READ),                                                  \
   .accesses = WEIR_BIT(WEIR_SEQUENTIAL) | WEIR_BIT(WEIR_RANDOM), .durabilities = WEIR_BIT(WEIR_DURABILITY_NONE),           \
   .params = copy_params, .param_count = 1, .state_size = sizeof(struct copy_state), .setup = copy_setup,                   \
   .open = copy_open, .run = copy_run, .close = copy_close, .teardown = copy_teardown, .data = &(share)}

#ifdef PAIR
static const struct weir_method pair_read = COPY("pair/read", pair);
static const struct weir_method *const copy_methods[] = {&pair_read, NULL};
#else
static const struct weir_method copy_exact = COPY("copy/exact", exact), copy_slow = COPY("copy/slow", slow);
static const struct weir_method *const copy_methods[] = {&copy_exact, &copy_slow, NULL};
#endif

weir_plugin_entry WEIR_PLUGIN_ENTRY;
const struct weir_method *const *WEIR_PLUGIN_ENTRY(uint32_t abi) { return abi == WEIR_METHOD_ABI ? copy_methods : NULL; }
