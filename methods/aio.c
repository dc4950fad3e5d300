/*
 * aio.c - the older ways to keep several requests in flight: Linux AIO, which is asynchronous for direct transfers only, and
 * POSIX AIO, which is threads of the C library. What happens in a run is told in queue.c.
 */
#include "queue.h"

static struct queue_options usual(const struct weir_job *job, enum os_ring_engine engine) {
  struct queue_options options = {
      .engine = engine, .opens_durable = true, .policy = (enum weir_buffer_policy)job->params[QUEUE_BUFFER]};
  queue_take_params(&options, job);
  return options;
}

static struct queue_options libaio(const struct weir_job *job) {
  struct queue_options options = usual(job, OS_RING_KERNEL);
  options.direct = true;
  return options;
}
static struct queue_options cached(const struct weir_job *job) { return usual(job, OS_RING_KERNEL); }
static struct queue_options posix(const struct weir_job *job) { return usual(job, OS_RING_THREADS); }

#define AIO_ENTRIES(name)                                                           \
  static int setup_##name(void *state, const struct weir_job *job) {                \
    const struct queue_options options = name(job);                                 \
    return queue_setup(state, job, &options);                                       \
  }                                                                                 \
  static int probe_##name(const struct weir_job *job, struct weir_reason *reason) { \
    const struct queue_options options = name(job);                                 \
    return queue_probe(job, &options, reason);                                      \
  }
AIO_ENTRIES(libaio)
AIO_ENTRIES(cached)
AIO_ENTRIES(posix)

static const struct weir_param aio_params[] = {QUEUE_PARAMS(NULL, NULL), [QUEUE_BUFFER] = LANDING_PARAM_BUFFER(NULL)};

const struct weir_method methods_aio_libaio = {
    QUEUE_METHOD,
    QUEUE_ALL_DIRECTIONS,
    .name = "aio/libaio",
    .summary = "several requests in flight past the page cache, by Linux AIO",
    .calls = "open(2) O_DIRECT, io_submit(2), io_getevents(2); the unaligned end pwrite(2)",
    .capabilities = WEIR_CAP_DEPTH | WEIR_CAP_DIRECT | WEIR_CAP_PACED,
    .params = aio_params,
    .param_count = METHODS_COUNT(aio_params),
    .probe = probe_libaio,
    .setup = setup_libaio};

const struct weir_method methods_aio_cached = {
    QUEUE_METHOD,
    QUEUE_ALL_DIRECTIONS,
    .name = "aio/cached",
    .summary = "Linux AIO through the page cache, where io_submit itself waits: one request after the other",
    .calls = "io_submit(2), io_getevents(2)",
    .capabilities = WEIR_CAP_DEPTH | WEIR_CAP_VARIANT | WEIR_CAP_PACED,
    .params = aio_params,
    .param_count = METHODS_COUNT(aio_params),
    .probe = probe_cached,
    .setup = setup_cached};

const struct weir_method methods_aio_posix = {
    QUEUE_METHOD,
    QUEUE_ALL_DIRECTIONS,
    .name = "aio/posix",
    .summary = "POSIX AIO: threads of the C library, which serve one file's requests one after the other",
    .calls = "aio_read(3), aio_write(3), aio_suspend(3)",
    .capabilities = WEIR_CAP_DEPTH | WEIR_CAP_VARIANT | WEIR_CAP_PACED,
    .params = aio_params,
    .param_count = METHODS_COUNT(aio_params),
    .probe = probe_posix,
    .setup = setup_posix};
