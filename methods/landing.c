/*
 * landing.c - gets and gives back the memory where operations land. The hot part is inline in landing.h.
 */
#include "landing.h"

#include <errno.h>

#include "os/os.h"

/* The next multiple of `alignment` (a power of two); false where it does not fit. */
static bool round_up(uint64_t length, size_t alignment, size_t *out) {
  if (length > SIZE_MAX / 2 || alignment > SIZE_MAX / 2) return false;
  *out = ((size_t)length + alignment - 1) & ~(alignment - 1);
  return true;
}

static int measure_out(struct landing *landing, const struct weir_job *job, unsigned slots) {
  if (landing->whole) return round_up(job->part_length, landing->alignment, &landing->size) ? 0 : -EOVERFLOW;
  if (!round_up(job->block, landing->alignment, &landing->stride)) return -EOVERFLOW;
  if (landing->stride > SIZE_MAX / slots) return -EOVERFLOW;
  landing->size = landing->stride * slots;
  return 0;
}

static int get(struct landing *landing, const struct weir_job *job) {
  if (landing->size == 0) return 0; /* an empty partition */
  void *data = NULL;
  int error = job->host->buffer_get(job, landing->size, landing->alignment, landing->policy, &data);
  if (error) return job->host->fail(job, error, "no memory for a buffer of %zu bytes", landing->size);
  landing->data = data;
  return 0;
}

static void put(struct landing *landing, const struct weir_job *job) {
  if (landing->data) job->host->buffer_put(job, landing->data, landing->size);
  landing->data = NULL;
}

int landing_setup(struct landing *landing, const struct weir_job *job, const struct landing_wish *wish) {
  landing->whole = job->task == WEIR_TASK_WHOLE;
  landing->policy = landing->whole ? wish->policy : WEIR_BUFFER_REUSED;
  /* Slots on pages of their own, so that two transfers never share a page. */
  landing->alignment = wish->alignment > os_page_size() ? wish->alignment : os_page_size();
  int error = measure_out(landing, job, wish->slots ? wish->slots : 1);
  if (error) return job->host->fail(job, error, "the buffers do not fit into the address space");
  return landing->policy == WEIR_BUFFER_REUSED ? get(landing, job) : 0;
}

int landing_open(struct landing *landing, const struct weir_job *job) {
  return landing->policy == WEIR_BUFFER_REUSED ? 0 : get(landing, job);
}

void landing_close(struct landing *landing, const struct weir_job *job) {
  if (landing->policy != WEIR_BUFFER_REUSED) put(landing, job);
}

void landing_teardown(struct landing *landing, const struct weir_job *job) { put(landing, job); }
