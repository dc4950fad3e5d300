/*
 * extents.c - which bytes of a file have storage: holes, extents allocated but never written, and their number.
 *
 * FIEMAP knows extents. What lies between them is a hole only if SEEK_DATA agrees: data that wait for delayed allocation
 * have no extent yet on some file systems. SEEK_HOLE alone would call unwritten extents holes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <unistd.h>

#include "os/linux/calls.h"

#define EXTENTS_AT_ONCE 128u

/* Bytes of [from, to) that SEEK_DATA does not call data; `segments` counts the runs of data. */
static int64_t holes_between(int fd, uint64_t from, uint64_t to, uint32_t *segments) {
  uint64_t holes = 0, at = from;
  while (at < to) {
    off_t data = sys(lseek)(fd, (off_t)at, SEEK_DATA);
    if (data < 0 && errno != ENXIO) return errno == EINVAL ? -EOPNOTSUPP : -errno;
    if (data < 0 || (uint64_t)data >= to) return (int64_t)(holes + (to - at)); /* ENXIO: no data up to the end */
    holes += (uint64_t)data - at;
    off_t end = sys(lseek)(fd, data, SEEK_HOLE);
    if (end < 0) return -errno;
    if (end <= data) return -EOPNOTSUPP; /* no progress: the file changes, or the answer makes no sense */
    ++*segments;
    at = (uint64_t)end;
  }
  return (int64_t)holes;
}

struct walk {
  int fd;
  uint64_t length, at;
  struct os_layout *out;
};

static int add_gap(struct walk *walk, uint64_t to) {
  uint32_t segments = 0;
  int64_t holes = holes_between(walk->fd, walk->at, to, &segments);
  if (holes < 0) return (int)holes;
  walk->out->hole_bytes += (uint64_t)holes;
  walk->at = to;
  return 0;
}

static int add_extent(struct walk *walk, const struct fiemap_extent *extent) {
  uint64_t begin = extent->fe_logical < walk->length ? extent->fe_logical : walk->length;
  uint64_t room = walk->length - begin;
  uint64_t end = begin + (extent->fe_length < room ? extent->fe_length : room);
  if (begin > walk->at) {
    int error = add_gap(walk, begin);
    if (error) return error;
  }
  if (end <= walk->at) return 0;
  if (extent->fe_flags & FIEMAP_EXTENT_UNWRITTEN) walk->out->unwritten_bytes += end - walk->at;
  walk->out->extents++;
  walk->at = end;
  return 0;
}

static int add_batch(struct walk *walk, struct fiemap *map, bool *last) {
  *map = (struct fiemap){.fm_start = walk->at, .fm_length = walk->length - walk->at, .fm_extent_count = EXTENTS_AT_ONCE};
  if (sys(ioctl)(walk->fd, FS_IOC_FIEMAP, map) < 0) return -errno;
  uint64_t before = walk->at;
  *last = map->fm_mapped_extents == 0;
  for (unsigned i = 0; i < map->fm_mapped_extents; i++) {
    int error = add_extent(walk, &map->fm_extents[i]);
    if (error) return error;
    *last = *last || (map->fm_extents[i].fe_flags & FIEMAP_EXTENT_LAST);
  }
  *last = *last || walk->at == before;
  return 0;
}

static int walk_extents(struct walk *walk) {
  struct fiemap *map = calloc(1, sizeof *map + EXTENTS_AT_ONCE * sizeof map->fm_extents[0]);
  if (!map) return -ENOMEM;
  int error = 0;
  for (bool last = false; !error && !last && walk->at < walk->length;) error = add_batch(walk, map, &last);
  free(map);
  return error ? error : add_gap(walk, walk->length);
}

static bool means_no_fiemap(int error) {
  return error == -EOPNOTSUPP || error == -ENOTTY || error == -EINVAL || error == -ENOSYS;
}

static int find_layout(int fd, uint64_t length, struct os_layout *out) {
  struct walk walk = {.fd = fd, .length = length, .out = out};
  int error = walk_extents(&walk);
  if (!means_no_fiemap(error)) return error;
  *out = (struct os_layout){0};
  int64_t holes = holes_between(fd, 0, length, &out->extents); /* memory file systems: runs of data are all there is */
  if (holes < 0) return (int)holes;
  out->hole_bytes = (uint64_t)holes;
  return 0;
}

int os_file_layout(os_file file, uint64_t length, struct os_layout *out) {
  struct stat status;
  int error = call_result(sys(fstat)((int)file, &status));
  if (error) return error;
  if (!S_ISREG(status.st_mode)) return -EOPNOTSUPP;
  if (length > (uint64_t)status.st_size) length = (uint64_t)status.st_size;
  *out = (struct os_layout){0};
  off_t position = sys(lseek)((int)file, 0, SEEK_CUR); /* SEEK_DATA moves it */
  if (position < 0) return -errno;
  error = find_layout((int)file, length, out);
  if (sys(lseek)((int)file, position, SEEK_SET) < 0 && !error) error = -errno;
  return error;
}
