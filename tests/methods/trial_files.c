/*
 * trial_files.c - lays out the files of tasks `copy` and `many` and checks what became of them, by plain calls.
 */
#define _GNU_SOURCE
#include "trial_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/os.h"

static void must(bool fine, const char *what) {
  if (fine) return;
  perror(what);
  abort();
}

static const char *below(char out[PATH_MAX + 32], const char *name) {
  (void)snprintf(out, PATH_MAX + 32, "%s/%s", trial_directory(), name);
  return out;
}

const char *trial_sources(void) {
  static char path[PATH_MAX + 32];
  return below(path, "sources");
}

const char *trial_copies(void) {
  static char path[PATH_MAX + 32];
  return below(path, "copies");
}

static uint64_t file_count(const struct trial *trial) { return (trial->size + trial->block - 1) / trial->block; }

static size_t file_length(const struct trial *trial, uint64_t number) {
  const uint64_t left = trial->size - number * trial->block;
  return (size_t)(left < trial->block ? left : trial->block);
}

static void write_one(const struct trial *trial, uint64_t number) {
  char path[PATH_MAX + 64];
  const int fd = open(weir_name_at(path, trial_sources(), number), O_WRONLY | O_CREAT | O_EXCL, 0600);
  const size_t length = file_length(trial, number);
  must(fd >= 0, "open");
  must(write(fd, trial_content() + number * trial->block, length) == (ssize_t)length, "write");
  must(close(fd) == 0, "close");
}

static void empty(const char *directory) {
  (void)os_remove_tree(directory);
  must(mkdir(directory, 0700) == 0, "mkdir");
}

void trial_lay_out_files(const struct trial *trial) {
  empty(trial_sources());
  empty(trial_copies());
  for (uint64_t i = 0; i < file_count(trial); i++) write_one(trial, i);
}

static bool is_right(const struct trial *trial, uint64_t number) {
  static unsigned char data[TRIAL_SIZE_MAX + 1];
  char path[PATH_MAX + 64];
  const size_t length = file_length(trial, number);
  const int fd = open(weir_name_at(path, trial_copies(), number), O_RDONLY);
  if (fd < 0) return false;
  const bool right =
      read(fd, data, length + 1) == (ssize_t)length && memcmp(data, trial_content() + number * trial->block, length) == 0;
  (void)close(fd);
  return right;
}

static uint64_t entries(const char *directory) {
  uint64_t count = 0;
  DIR *list = opendir(directory);
  must(list != NULL, directory);
  while (readdir(list)) count++;
  (void)closedir(list);
  return count - 2; /* . and .. */
}

uint64_t trial_copy_count(void) { return entries(trial_copies()); }

bool trial_copies_are_right(const struct trial *trial, uint64_t count) {
  if (entries(trial_copies()) != count) return false;
  for (uint64_t i = 0; i < count; i++)
    if (!is_right(trial, i)) return false;
  return true;
}
