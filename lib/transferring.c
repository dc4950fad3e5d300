/*
 * transferring.c - moving bytes until all are moved. A short transfer is never taken for the end of the file: only one of no
 * bytes is. The pieces of 1 GiB, the repeating and the waiting are done beneath, in os.
 */
#include "lib/internal.h"

int weir__pread(os_file file, void *data, size_t size, uint64_t offset, size_t *done) {
  size_t got = 0;
  int64_t count = 0;
  while (got < size) {
    count = os_pread(file, (char *)data + got, size - got, offset + got);
    if (count <= 0) break;
    got += (size_t)count;
  }
  *done = got;
  return count < 0 ? (int)count : 0;
}

/* Nothing written and no reason given: asking again could go on for ever. */
static int64_t progress(int64_t count) { return count == 0 ? WEIR_EIO : count; }

int weir__pwrite(os_file file, const void *data, size_t size, uint64_t offset, size_t *done) {
  size_t put = 0;
  int64_t count = 0;
  while (put < size) {
    count = progress(os_pwrite(file, (const char *)data + put, size - put, offset + put));
    if (count < 0) break;
    put += (size_t)count;
  }
  *done = put;
  return count < 0 ? (int)count : 0;
}

int weir__read(os_file file, void *data, size_t size, size_t *done) {
  size_t got = 0;
  int64_t count = 0;
  while (got < size) {
    count = os_read(file, (char *)data + got, size - got);
    if (count <= 0) break;
    got += (size_t)count;
  }
  *done = got;
  return count < 0 ? (int)count : 0;
}

int weir__write(os_file file, const void *data, size_t size, size_t *done) {
  size_t put = 0;
  int64_t count = 0;
  while (put < size) {
    count = progress(os_write(file, (const char *)data + put, size - put));
    if (count < 0) break;
    put += (size_t)count;
  }
  *done = put;
  return count < 0 ? (int)count : 0;
}
