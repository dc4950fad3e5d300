/*
 * transferring.c - moving bytes until all are moved. A short transfer is never taken for the end of the file: only one of no
 * bytes is. The pieces of 1 GiB, the repeating and the waiting are done beneath, in os.
 */
#include <string.h>

#include "lib/internal.h"

/*
 * Processors copy by one instruction that is several times slower where the destination lies 1 to 31 bytes behind the source
 * in its page: the processor then takes the two for overlapping. The page cache has bytes where the file has them, so that
 * is what happens to memory from malloc, which begins 16 bytes into a page when it is large. Two copies that lie well, by
 * way of a block that stays in the first cache, take a third of the time.
 */
#define PAGE 4096u
#define SLOW_GAP 32u
#define APART_FROM 1024u /* less is not worth it */
#define APART_GAP 64u
#define APART_BLOCK 32768u

static bool lies_badly(uintptr_t to, uintptr_t from) {
  const uintptr_t gap = (to - from) % PAGE;
  return gap != 0 && gap < SLOW_GAP;
}

/* Where in `room` a block lies well to both the file's pages and `data`. */
static char *lie_well(char *room, uintptr_t phase) { return room + (phase - (uintptr_t)room) % PAGE; }

static int64_t read_apart(os_file file, char *data, size_t size, uint64_t offset) {
  char room[APART_BLOCK + PAGE], *block = lie_well(room, (uintptr_t)data + APART_GAP);
  size_t done = 0;
  while (done < size) {
    const size_t want = size - done < APART_BLOCK ? size - done : APART_BLOCK;
    const int64_t count = os_pread(file, block, want, offset + done);
    if (count < 0 && done == 0) return count;
    if (count <= 0) break;
    memcpy(data + done, block, (size_t)count);
    done += (size_t)count;
    if ((size_t)count < want) break;
  }
  return (int64_t)done;
}

static int64_t write_apart(os_file file, const char *data, size_t size, uint64_t offset) {
  char room[APART_BLOCK + PAGE], *block = lie_well(room, (uintptr_t)offset + APART_GAP);
  size_t done = 0;
  while (done < size) {
    const size_t want = size - done < APART_BLOCK ? size - done : APART_BLOCK;
    memcpy(block, data + done, want);
    const int64_t count = os_pwrite(file, block, want, offset + done);
    if (count < 0 && done == 0) return count;
    if (count <= 0) break;
    done += (size_t)count;
    if ((size_t)count < want) break;
  }
  return (int64_t)done;
}

int64_t weir__pread_once(os_file file, void *data, size_t size, uint64_t offset) {
  const bool apart = size >= APART_FROM && lies_badly((uintptr_t)data, (uintptr_t)offset);
  return apart ? read_apart(file, data, size, offset) : os_pread(file, data, size, offset);
}

int64_t weir__pwrite_once(os_file file, const void *data, size_t size, uint64_t offset) {
  const bool apart = size >= APART_FROM && lies_badly((uintptr_t)offset, (uintptr_t)data);
  return apart ? write_apart(file, data, size, offset) : os_pwrite(file, data, size, offset);
}

int weir__pread(os_file file, void *data, size_t size, uint64_t offset, size_t *done) {
  size_t got = 0;
  int64_t count = 0;
  while (got < size) {
    count = weir__pread_once(file, (char *)data + got, size - got, offset + got);
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
    count = progress(weir__pwrite_once(file, (const char *)data + put, size - put, offset + put));
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
