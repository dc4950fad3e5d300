/*
 * state.c - cache states: warm and cold are made, then checked. What cannot be checked is said to be unknown; what the
 * check refutes is flagged, never called by the name that was asked for.
 */
#include <errno.h>
#include <stdlib.h>

#include "measure/layout.h"

enum { PIECE = 1024 * 1024, COLD_PPM = 10000, ALL_PPM = 1000000 };

static int32_t resident(os_file file, uint64_t size) {
  struct os_cache cache;
  if (size == 0) return ALL_PPM;
  if (os_cache_state(file, 0, size, &cache) < 0) return -1;
  if (cache.cached_bytes >= size) return ALL_PPM;
  return (int32_t)((double)cache.cached_bytes * 1e6 / (double)size);
}

/* A place among the bytes of many files weighs what the file has. */
int32_t layout_resident_ppm(const struct layout_file *file) {
  char path[LAYOUT_PATH_MAX];
  double sum = 0;
  if (file->size == 0) return ALL_PPM;
  for (uint64_t i = 0; i < layout_parts(file); i++) {
    os_file handle;
    const uint64_t size = layout_part(file, i, false, path);
    if (os_open(path, OS_READ, &handle) < 0) return -1;
    const int32_t ppm = resident(handle, size);
    os_close(handle);
    if (ppm < 0) return -1;
    sum += (double)ppm * (double)size;
  }
  return (int32_t)(sum / (double)file->size);
}

int64_t layout_copies_cached(const struct layout_file *file) {
  char path[LAYOUT_PATH_MAX];
  int64_t sum = 0;
  for (uint64_t i = 0; file->copies && i < layout_parts(file); i++) {
    os_file handle;
    struct os_cache cache;
    const uint64_t size = layout_part(file, i, true, path);
    const int code = os_open(path, OS_READ, &handle);
    if (code == -ENOENT) continue;
    if (code < 0) return -1;
    const int known = os_cache_state(handle, 0, size, &cache);
    os_close(handle);
    if (known < 0) return -1;
    sum += (int64_t)cache.cached_bytes;
  }
  return sum;
}

/* In order and in pieces of 1 MiB: how a cache was filled decides the size of its folios, and with it what wins. */
int layout_read_through(os_file file, uint64_t size) {
  void *data;
  int result = os_memory_get(PIECE, 0, &data);
  if (result < 0) return result;
  for (uint64_t at = 0; at < size;) {
    int64_t got = os_pread(file, data, size - at < PIECE ? (size_t)(size - at) : PIECE, at);
    if (got < 0) result = (int)got;
    if (got <= 0) break;
    at += (uint64_t)got;
  }
  os_memory_put(data, PIECE);
  return result;
}

static int evict(os_file file, uint64_t size) {
  os_sync(file, false); /* dirty pages stay; of a file opened for reading too. A failure shows in the check. */
  return os_cache_evict(file, 0, size);
}

static int warm_part(const char *path, uint64_t size, bool was_warm) {
  os_file handle;
  int result = os_open(path, OS_READ, &handle);
  if (result < 0) return result;
  int flags = 0;
  int32_t ppm = resident(handle, size);
  if (ppm != ALL_PPM || !was_warm) {
    if (ppm >= 0 && was_warm) flags |= RUN_REWARMED;
    evict(handle, size);
    result = layout_read_through(handle, size);
    ppm = resident(handle, size);
    if (ppm >= 0 && ppm < ALL_PPM - COLD_PPM) flags |= RUN_NOT_WARM;
  }
  os_close(handle);
  return result < 0 ? result : flags;
}

int layout_make_warm(struct layout_file *file) {
  char path[LAYOUT_PATH_MAX];
  int flags = 0, result = 0;
  for (uint64_t i = 0; i < layout_parts(file) && result >= 0; i++) {
    const uint64_t size = layout_part(file, i, false, path);
    result = warm_part(path, size, file->is_warm);
    if (result > 0) flags |= result;
  }
  file->is_warm = result >= 0;
  return result < 0 ? result : flags;
}

static int flush_by_file(const struct layout_file *flush_file) {
  os_file handle;
  if (!flush_file) return -ENOENT;
  int result = os_open(flush_file->path, OS_READ, &handle);
  if (result < 0) return result;
  result = layout_read_through(handle, flush_file->size);
  os_close(handle);
  return result;
}

static int cool_part(const char *path, uint64_t size, enum plan_flush flush, const struct layout_file *flush_file) {
  os_file handle;
  int result = os_open(path, OS_READ, &handle);
  if (result < 0) return result;
  int32_t ppm = -1;
  /* some pages may be pinned for a moment (write-back just ended, a reader in the kernel): a second try finds them free */
  for (unsigned try = 0; try < 3; try++) {
    if (flush == PLAN_FLUSH_FILE) result = flush_by_file(flush_file);
    if (flush == PLAN_FLUSH_DROP) {
      os_sync(handle, false);
      result = os_cache_drop_all();
    }
    if (flush == PLAN_FLUSH_DONTNEED) result = evict(handle, size);
    ppm = resident(handle, size);
    if (result < 0 || ppm < 0 || ppm < COLD_PPM || flush == PLAN_FLUSH_FILE) break;
    os_sleep_ns(UINT64_C(2000000));
  }
  os_close(handle);
  if (result < 0) return result;
  return ppm >= COLD_PPM && size > 0 ? RUN_NOT_COLD : 0;
}

int layout_make_cold(struct layout_file *file, enum plan_flush flush, struct layout_file *flush_file) {
  char path[LAYOUT_PATH_MAX];
  int flags = 0, result = 0;
  file->is_warm = false;
  for (uint64_t i = 0; i < layout_parts(file) && result >= 0; i++) {
    const uint64_t size = layout_part(file, i, false, path);
    /* reading another file, or dropping all, is done once for all of them */
    result = i > 0 && flush != PLAN_FLUSH_DONTNEED ? 0 : cool_part(path, size, flush, flush_file);
    if (result > 0) flags |= result;
  }
  return result < 0 ? result : flags;
}

static int settle_part(const char *path, uint64_t size) {
  os_file handle;
  int result = os_open(path, OS_READ, &handle);
  if (result < 0) return result;
  uint64_t deadline = os_clock_ns() + UINT64_C(5000000000);
  result = os_sync(handle, true);
  if (result == -EINVAL || result == -ENOSYS || result == -EROFS) result = 0; /* nothing here can be synced */
  int flags = RUN_UNSETTLED;
  do {
    struct os_cache cache;
    int state = os_cache_state(handle, 0, size, &cache);
    if (state < 0 || !cache.dirty_known || cache.dirty_bytes + cache.writeback_bytes == 0) flags = 0;
    if (flags == 0) break;
    os_sleep_ns(UINT64_C(1000000));
  } while (result == 0 && os_clock_ns() < deadline);
  os_close(handle);
  return result < 0 ? result : flags;
}

/* Begins to write all copies back, so that those that are waited for one by one do not each wait for a device alone. */
static void begin_to_settle(const struct layout_file *file) {
  char path[LAYOUT_PATH_MAX];
  os_file handle;
  for (uint64_t i = 0; i < layout_parts(file); i++) {
    const uint64_t size = layout_part(file, i, true, path);
    if (os_open(path, OS_READ, &handle) < 0) continue;
    (void)os_write_back(handle, 0, size);
    (void)os_close(handle);
  }
}

/* What is in the cache now of a written file got there in the writer's way. */
int layout_settle(struct layout_file *file) {
  char path[LAYOUT_PATH_MAX];
  int flags = 0, result = 0;
  if (!file->copies) file->is_warm = false;
  if (file->copies) begin_to_settle(file);
  for (uint64_t i = 0; i < layout_parts(file) && result >= 0; i++) {
    const uint64_t size = layout_part(file, i, file->copies != NULL, path);
    result = settle_part(path, size);
    if (result == -ENOENT && file->copies) result = 0; /* a pass that was stopped makes fewer */
    if (result > 0) flags |= result;
  }
  return result < 0 ? result : flags;
}
