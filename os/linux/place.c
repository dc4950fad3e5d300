/*
 * place.c - where a directory lies: file system, its options, the device beneath and how that is driven.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "os/linux/calls.h"
#include "os/linux/mounts.h"
#include "os/linux/procfs.h"

#define DEVICE_DIRECTORY_SIZE 80

static void copy_text(char *out, size_t size, const char *text) { (void)snprintf(out, size, "%.*s", (int)size - 1, text); }

static bool list_has(const char *list, const char *word, size_t length) {
  for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',') {
    if (strcspn(at, ",") == length && strncmp(at, word, length) == 0) return true;
  }
  return false;
}

/* The options of this mount, then those of the file system that are not said already. A word that does not fit is left out.
 */
static void join_options(const char *mount, const char *super, char *out, size_t size) {
  copy_text(out, size, mount);
  for (const char *at = super; *at; at += strcspn(at, ","), at += *at == ',') {
    size_t word = strcspn(at, ","), used = strlen(out);
    if (list_has(out, at, word) || used + 1 + word >= size) continue;
    (void)snprintf(out + used, size - used, "%s%.*s", used ? "," : "", (int)word, at);
  }
}

/* "254:1" -> the directory of that device; false when there is none. */
static bool find_device(dev_t device, char directory[DEVICE_DIRECTORY_SIZE]) {
  (void)snprintf(directory, DEVICE_DIRECTORY_SIZE, "/sys/dev/block/%u:%u", major(device), minor(device));
  return major(device) != 0 && access(directory, F_OK) == 0;
}

/* File systems with a device number of their own (btrfs) name the block device as the source of the mount. */
static bool find_source_device(const char *source, char directory[DEVICE_DIRECTORY_SIZE]) {
  struct stat status;
  return source[0] == '/' && sys(stat)(source, &status) == 0 && S_ISBLK(status.st_mode) &&
         find_device(status.st_rdev, directory);
}

static void device_name(const char *directory, char *out, size_t size) {
  char target[512];
  ssize_t length = sys(readlink)(directory, target, sizeof target - 1);
  if (length < 0) return;
  target[length] = '\0';
  const char *slash = strrchr(target, '/');
  copy_text(out, size, slash ? slash + 1 : target);
}

/* How the whole disk is driven; a partition has no queue of its own. */
static void read_queue(const char *device, struct os_place *out) {
  char path[DEVICE_DIRECTORY_SIZE + 48], text[128];
  (void)snprintf(path, sizeof path, "%s/queue", device);
  const char *queue = access(path, F_OK) == 0 ? "queue" : "../queue";
  (void)snprintf(path, sizeof path, "%s/%s/scheduler", device, queue);
  if (procfs_text(path, text, sizeof text) > 0) {
    procfs_chosen(text, out->scheduler, sizeof out->scheduler);
    if (!out->scheduler[0]) copy_text(out->scheduler, sizeof out->scheduler, text);
  }
  (void)snprintf(path, sizeof path, "%s/%s/rotational", device, queue);
  out->rotational = (int)procfs_number(path);
  (void)snprintf(path, sizeof path, "%s/%s/read_ahead_kb", device, queue);
  out->read_ahead_kib = procfs_number(path);
  (void)snprintf(path, sizeof path, "%s/%s/write_cache", device, queue);
  (void)procfs_text(path, out->write_cache, sizeof out->write_cache);
  (void)snprintf(path, sizeof path, "%s/%s/fua", device, queue);
  out->write_through = (int)procfs_number(path);
}

/* A loop device that does not pass the cache by holds what it reads and writes there, whatever is done about the files on it. */
static bool is_cached_loop(const char *device) {
  char path[DEVICE_DIRECTORY_SIZE + 48];
  (void)snprintf(path, sizeof path, "%s/loop", device);
  const char *loop = access(path, F_OK) == 0 ? "loop" : "../loop"; /* of a partition: that of the whole */
  (void)snprintf(path, sizeof path, "%s/%s/dio", device, loop);
  return procfs_number(path) == 0;
}

/* What the disk works with, and how the partition lies on it. */
static void read_sectors(const char *device, struct os_place *out) {
  char path[DEVICE_DIRECTORY_SIZE + 48];
  (void)snprintf(path, sizeof path, "%s/queue", device);
  const char *queue = access(path, F_OK) == 0 ? "queue" : "../queue";
  (void)snprintf(path, sizeof path, "%s/%s/discard_max_bytes", device, queue);
  out->discard_bytes = procfs_number(path);
  (void)snprintf(path, sizeof path, "%s/%s/physical_block_size", device, queue);
  out->sector_bytes = procfs_number(path);
  (void)snprintf(path, sizeof path, "%s/alignment_offset", device);
  out->misaligned_bytes = procfs_number(path);
}

/* What the file system itself reads ahead, where it does not use the disk's value (btrfs, network). */
static void read_own_read_ahead(dev_t device, struct os_place *out) {
  char path[DEVICE_DIRECTORY_SIZE];
  (void)snprintf(path, sizeof path, "/sys/class/bdi/%u:%u/read_ahead_kb", major(device), minor(device));
  int64_t own = procfs_number(path);
  if (own >= 0) out->read_ahead_kib = own;
}

static bool in_memory(long type) {
  unsigned long magic = (unsigned long)type & 0xffffffffUL; /* devtmpfs says TMPFS_MAGIC or RAMFS_MAGIC */
  return magic == TMPFS_MAGIC || magic == RAMFS_MAGIC || magic == HUGETLBFS_MAGIC;
}

static void describe_mount(const char *path, dev_t device, struct os_place *out) {
  char directory[DEVICE_DIRECTORY_SIZE], *table = procfs_whole("/proc/self/mountinfo");
  struct mount mount;
  bool found = table && mounts_find(table, path, device, &mount);
  if (found) {
    copy_text(out->file_system, sizeof out->file_system, mount.type);
    copy_text(out->mount_point, sizeof out->mount_point, mount.point);
    join_options(mount.options, mount.super_options, out->options, sizeof out->options);
  }
  if (find_device(device, directory) || (found && find_source_device(mount.source, directory))) {
    device_name(directory, out->device, sizeof out->device);
    read_queue(directory, out);
    read_sectors(directory, out);
    out->loop = is_cached_loop(directory);
  } else if (found && strpbrk(mount.source, "/:")) {
    copy_text(out->device, sizeof out->device, mount.source); /* server:/export */
  }
  free(table);
}

int os_place(const char *path, struct os_place *out) {
  *out = (struct os_place){.read_ahead_kib = -1, .rotational = -1, .write_through = -1, .discard_bytes = -1, .sector_bytes = -1,
                           .misaligned_bytes = -1};
  char *real = realpath(path, NULL);
  if (!real) return -errno;
  struct stat status;
  struct statfs system;
  int error = call_result(sys(stat)(real, &status));
  if (!error) error = call_result(sys(statfs)(real, &system));
  if (!error) {
    out->ram_backed = in_memory((long)system.f_type);
    if (__builtin_mul_overflow((uint64_t)system.f_bavail, (uint64_t)system.f_frsize, &out->free_bytes)) {
      out->free_bytes = UINT64_MAX;
    }
    if (__builtin_mul_overflow((uint64_t)system.f_blocks, (uint64_t)system.f_frsize, &out->total_bytes)) {
      out->total_bytes = UINT64_MAX;
    }
    out->free_files = (uint64_t)system.f_ffree;
    out->total_files = (uint64_t)system.f_files;
    describe_mount(real, status.st_dev, out);
    if (!out->ram_backed) read_own_read_ahead(status.st_dev, out);
  }
  free(real);
  return error;
}
