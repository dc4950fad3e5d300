/*
 * made.c - made files: a demand's words for the generator, and its bytes to memory or to a file.
 */
#include "measure/made.h"

#include <errno.h>

#include "base/random.h"
#include "os/os.h"

enum { PIECE = 1024 * 1024 };

static enum generate_kind kind_of(enum weir_task task) {
  if (task == WEIR_TASK_RECORDS) return GENERATE_RECORDS;
  if (task == WEIR_TASK_TYPED) return GENERATE_TYPED;
  return weir_task_streams(task) ? GENERATE_TEXT : GENERATE_RANDOM;
}

struct generate_options made_options(const struct plan_demand *demand, uint64_t seed) {
  return (struct generate_options){.kind = kind_of(demand->task),
                                   .seed = random_mix(seed),
                                   .size_bytes = demand->size_bytes,
                                   .item_bytes = (unsigned)(demand->item_bytes ? demand->item_bytes : PLAN_ITEM_DEFAULT)};
}

uint64_t made_size(const struct plan_demand *demand, uint64_t seed) {
  const struct generate_options options = made_options(demand, seed);
  return generate_size(&options);
}

int made_fill(const struct generate_options *options, void *out, size_t size) {
  struct generator generator;
  int code = generate_open(&generator, options);
  if (code < 0) return code;
  size_t done = 0;
  for (size_t got; done < size && (got = generate_next(&generator, (char *)out + done, size - done)) > 0;) done += got;
  generate_close(&generator);
  return done == size ? 0 : -ENODATA;
}

static int write_all(struct generator *generator, os_file file, void *data, volatile int *interrupted) {
  uint64_t at = 0;
  for (size_t got; (got = generate_next(generator, data, PIECE)) > 0; at += got) {
    const int64_t put = os_pwrite_full(file, data, got, at);
    if (put != (int64_t)got) return put < 0 ? (int)put : -ENOSPC;
    if (interrupted && *interrupted) return -EINTR;
  }
  return 0;
}

int made_write(const struct generate_options *options, const char *path, volatile int *interrupted) {
  struct generator generator;
  os_file file = os_no_file;
  void *data;
  int code = generate_open(&generator, options);
  if (code < 0) return code;
  code = os_memory_get(PIECE, 0, &data);
  if (code == 0) {
    code = os_open(path, OS_WRITE | OS_CREATE | OS_TRUNCATE, &file);
    if (code == 0) code = write_all(&generator, file, data, interrupted);
    if (code == 0) code = os_sync(file, true);
    const int closed = os_close(file);
    if (code == 0) code = closed;
    os_memory_put(data, PIECE);
  }
  generate_close(&generator);
  return code;
}
