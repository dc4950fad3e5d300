/*
 * ring.c - many requests in flight through io_uring: plain, with registered buffers and file, direct, in chains, and through
 * several rings. What happens in a run is told in queue.c.
 */
#include "queue.h"

enum { PLAIN_WORKERS = QUEUE_OWN };
enum { LINKED_CHAIN = QUEUE_OWN };
enum { SEVERAL_RINGS = QUEUE_OWN };

static enum weir_buffer_policy policy_of(const struct weir_job *job) {
  return (enum weir_buffer_policy)job->params[QUEUE_BUFFER];
}

static struct queue_options plain(const struct weir_job *job) {
  struct queue_options options = {.policy = policy_of(job)};
  queue_take_params(&options, job);
  return options;
}
static struct queue_options plain_only(const struct weir_job *job) {
  struct queue_options options = plain(job);
  options.near = job->params[PLAIN_WORKERS] != 0;
  return options;
}
/* Registered memory has to stay, so there is no fresh memory to choose here. */
static struct queue_options fixed(const struct weir_job *job) {
  struct queue_options options = {.policy = WEIR_BUFFER_REUSED, .registration = QUEUE_REGISTERS};
  queue_take_params(&options, job);
  return options;
}
static struct queue_options direct(const struct weir_job *job) {
  struct queue_options options = {.policy = policy_of(job), .direct = true, .registration = QUEUE_REGISTERS_IF_IT_CAN};
  queue_take_params(&options, job);
  return options;
}
static struct queue_options linked(const struct weir_job *job) {
  struct queue_options options = plain(job);
  options.chain = (unsigned)job->params[LINKED_CHAIN];
  return options;
}
/* No ring without a request. */
static struct queue_options several(const struct weir_job *job) {
  struct queue_options options = direct(job);
  options.rings = (unsigned)job->params[SEVERAL_RINGS];
  if (options.rings > options.depth) options.rings = options.depth;
  return options;
}

#define RING_ENTRIES(name)                                                          \
  static int setup_##name(void *state, const struct weir_job *job) {                \
    const struct queue_options options = name(job);                                 \
    return queue_setup(state, job, &options);                                       \
  }                                                                                 \
  static int probe_##name(const struct weir_job *job, struct weir_reason *reason) { \
    const struct queue_options options = name(job);                                 \
    return queue_probe(job, &options, reason);                                      \
  }
RING_ENTRIES(plain_only)
RING_ENTRIES(fixed)
RING_ENTRIES(direct)
RING_ENTRIES(linked)
RING_ENTRIES(several)

#define PARAM_BUFFER [QUEUE_BUFFER] = LANDING_PARAM_BUFFER(NULL)
static const struct weir_param plain_params[] = {
    QUEUE_PARAMS(LANDING_BLOCK_SWEEP, NULL), PARAM_BUFFER,
    [PLAIN_WORKERS] = {.name = "workers",
                       .kind = WEIR_PARAM_CHOICE,
                       .preset = "any",
                       .choices = "any|near",
                       WEIR_PARAM_EVERYWHERE,
                       .help = "near: the system's threads for this ring stay on the CPU of the one that asks"}};
static const struct weir_param fixed_params[] = {QUEUE_PARAMS(LANDING_BLOCK_SWEEP, NULL)};
/* What a device gains from depth, the page cache does not have to give. */
static const struct weir_param direct_params[] = {QUEUE_PARAMS(LANDING_BLOCK_SWEEP, "8|32"), PARAM_BUFFER};
static const struct weir_param linked_params[] = {
    QUEUE_PARAMS(NULL, NULL), PARAM_BUFFER,
    [LINKED_CHAIN] = {.name = "chain",
                      .kind = WEIR_PARAM_COUNT,
                      .preset = "4",
                      .min = 2,
                      .max = QUEUE_CHAIN_MAX,
                      WEIR_PARAM_EVERYWHERE,
                      .help = "requests that follow each other; with durability each: a write and its flush"}};
static const struct weir_param several_params[] = {
    QUEUE_PARAMS(NULL, NULL), PARAM_BUFFER,
    [SEVERAL_RINGS] = {.name = "rings",
                       .kind = WEIR_PARAM_COUNT,
                       .preset = "2",
                       .min = 1,
                       .max = QUEUE_RINGS_MAX,
                       WEIR_PARAM_EVERYWHERE,
                       .help = "rings of one thread that share the depth; batch has no meaning for more than one"}};

const struct weir_method methods_ring_plain = {QUEUE_METHOD,
                                               QUEUE_ALL_DIRECTIONS,
                                               .name = "ring/plain",
                                               .summary = "several requests in flight through the page cache",
                                               .calls = "io_uring: READ, WRITE (RWF_DSYNC when each is durable)",
                                               .capabilities = WEIR_CAP_DEPTH | WEIR_CAP_PACED,
                                               .params = plain_params,
                                               .param_count = METHODS_COUNT(plain_params),
                                               .probe = probe_plain_only,
                                               .setup = setup_plain_only};

const struct weir_method methods_ring_fixed = {QUEUE_METHOD,
                                               QUEUE_ALL_DIRECTIONS,
                                               .name = "ring/fixed",
                                               .summary = "ring/plain with registered buffers and a registered file",
                                               .calls = "io_uring: READ_FIXED, WRITE_FIXED, IOSQE_FIXED_FILE",
                                               .capabilities = WEIR_CAP_DEPTH | WEIR_CAP_PACED,
                                               .params = fixed_params,
                                               .param_count = METHODS_COUNT(fixed_params),
                                               .probe = probe_fixed,
                                               .setup = setup_fixed};

const struct weir_method methods_ring_direct = {
    QUEUE_METHOD,
    QUEUE_ALL_DIRECTIONS,
    .name = "ring/direct",
    .summary = "several requests in flight past the page cache",
    .calls = "open(2) O_DIRECT, io_uring: READ_FIXED, WRITE_FIXED, IOSQE_FIXED_FILE; the unaligned end pwrite(2)",
    .capabilities = WEIR_CAP_DEPTH | WEIR_CAP_DIRECT | WEIR_CAP_PACED,
    .params = direct_params,
    .param_count = METHODS_COUNT(direct_params),
    .probe = probe_direct,
    .setup = setup_direct};

const struct weir_method methods_ring_linked = {
    QUEUE_METHOD,
    QUEUE_READS_AND_WRITES,
    .name = "ring/linked",
    .summary = "ring/plain in chains: a request begins when the one before it is done",
    .calls = "io_uring: READ, WRITE, FSYNC with IOSQE_IO_LINK",
    .capabilities = WEIR_CAP_DEPTH | WEIR_CAP_VARIANT | WEIR_CAP_PACED,
    .params = linked_params,
    .param_count = METHODS_COUNT(linked_params),
    .probe = probe_linked,
    .setup = setup_linked};

const struct weir_method methods_ring_several = {
    QUEUE_METHOD,
    QUEUE_READS_AND_WRITES,
    .name = "ring/several",
    .summary = "ring/direct with several rings in one thread, requests dealt out in turn",
    .calls = "open(2) O_DIRECT, io_uring: READ_FIXED, WRITE_FIXED, IOSQE_FIXED_FILE; the unaligned end pwrite(2)",
    .capabilities = WEIR_CAP_DEPTH | WEIR_CAP_DIRECT | WEIR_CAP_VARIANT | WEIR_CAP_PACED,
    .params = several_params,
    .param_count = METHODS_COUNT(several_params),
    .probe = probe_several,
    .setup = setup_several};
