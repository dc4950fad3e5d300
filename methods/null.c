/*
 * null.c - the floor: all that a method does for an operation, except the I/O. What it costs is the harness itself.
 *
 * It opens no file and delivers what happens to lie in the buffer, so nothing it delivers is checked.
 */
#include "landing.h"
#include "methods.h"

static int null_setup(void *state, const struct weir_job *job) {
  return landing_setup(state, job, &(struct landing_wish){.policy = WEIR_BUFFER_REUSED});
}

static int null_open(void *state, const struct weir_job *job) {
  (void)state, (void)job;
  return 0;
}

static int null_read(const struct landing *landing, const struct weir_job *job, struct weir_flow *flow, uint64_t count) {
  uint64_t done = 0;
  for (; done < count && !weir_stopped(flow); done++) {
    const uint64_t began = weir_operation_begin(flow);
    landing_deliver(landing, flow, landing_piece(landing, job, done, 0));
    weir_operation_end(flow, began);
  }
  landing_deliver_rest(landing, job, flow, done);
  return 0;
}

static int null_write(const struct landing *landing, const struct weir_job *job, struct weir_flow *flow, uint64_t count) {
  uint64_t done = 0;
  landing_supply_all(landing, job, flow, count);
  for (; done < count && !weir_stopped(flow); done++) {
    landing_supply(landing, flow, landing_piece(landing, job, done, 0));
    weir_operation_end(flow, weir_operation_begin(flow));
  }
  landing_settle(landing, job, flow, count, done);
  return 0;
}

static int null_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  /* Copies that nothing else can reach, so that the compiler may keep them in registers across the stores to the flow. */
  const struct landing landing = *(const struct landing *)state;
  const struct weir_job local = *job;
  const uint64_t count = landing_count(job, budget);
  return job->direction == WEIR_READ ? null_read(&landing, &local, flow, count) : null_write(&landing, &local, flow, count);
}

static void null_teardown(void *state, const struct weir_job *job) { landing_teardown(state, job); }

static const struct weir_param null_params[] = {{.name = "block",
                                                 .kind = WEIR_PARAM_SIZE,
                                                 .preset = "128KiB",
                                                 .min = 1,
                                                 .max = LANDING_BLOCK_MAX,
                                                 WEIR_PARAM_EVERYWHERE,
                                                 .help = "bytes a request"}};

const struct weir_method methods_null = {METHODS_ABI,
                                         .name = "null",
                                         .summary = "no I/O at all: what the harness itself costs an operation",
                                         .calls = "none",
                                         .tasks = METHODS_BOTH_TASKS,
                                         .directions = WEIR_BIT(WEIR_READ) | WEIR_BIT(WEIR_WRITE),
                                         .accesses = METHODS_BOTH_ACCESSES,
                                         .durabilities = METHODS_ALL_DURABILITIES,
                                         .capabilities = WEIR_CAP_FLOOR | WEIR_CAP_PACED,
                                         .params = null_params,
                                         .param_count = METHODS_COUNT(null_params),
                                         .state_size = sizeof(struct landing),
                                         .setup = null_setup,
                                         .open = null_open,
                                         .run = null_run,
                                         .close = null_open,
                                         .teardown = null_teardown};
