/*
 * gather.c - the parts of gather.h that are needed once for each buffer.
 */
#include "gather.h"

#include <errno.h>

int gather_setup(struct gather *g, const struct weir_job *job, uint64_t size) {
  void *data = NULL;
  int error = job->host->buffer_get(job, (size_t)size, 1, WEIR_BUFFER_REUSED, &data);
  if (error) return job->host->fail(job, error, "no memory for a buffer of %zu bytes", (size_t)size);
  g->data = data;
  g->size = (size_t)size;
  return 0;
}

int gather_open(struct gather *g, const struct weir_job *job, enum target_extend extend) {
  g->used = 0;
  g->at = 0;
  return target_open_extending(job, job->durability == WEIR_DURABILITY_EACH ? OS_DATA_SYNC : 0, extend, &g->file);
}

int gather_sync(struct gather *g, const struct weir_job *job) { return target_sync(job, g->file); }
int gather_close(struct gather *g, const struct weir_job *job) { return target_close(job, g->file); }
void gather_teardown(struct gather *g, const struct weir_job *job) {
  if (g->data) job->host->buffer_put(job, g->data, g->size);
}

int gather_write(struct gather *g, const struct weir_job *job, const void *data, size_t length) {
  for (size_t done = 0; done < length;) {
    int64_t count = os_write(g->file, (const unsigned char *)data + done, length - done);
    if (count == 0) count = -EIO; /* neither progress nor a reason: trying again might never end */
    if (count < 0) return target_failed(job, "writing", g->at, length - done, (int)count);
    done += (size_t)count;
    g->at += (uint64_t)count;
  }
  return 0;
}

int gather_finish(struct gather *g, const struct weir_job *job) {
  const size_t length = g->used;
  g->used = 0;
  return gather_write(g, job, g->data, length);
}

int gather_put_slow(struct gather *g, const struct weir_job *job, const void *data, size_t length) {
  const unsigned char *at = data;
  while (length > 0) {
    const size_t room = g->size - g->used, count = length < room ? length : room;
    memcpy(g->data + g->used, at, count);
    g->used += count;
    at += count;
    length -= count;
    int error = g->used == g->size ? gather_finish(g, job) : 0;
    if (error) return error;
  }
  return 0;
}
