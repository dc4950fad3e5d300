/*
 * directory.c - names: making, removing, renaming and listing them. Trees are removed by descriptor, so that a link or a
 * mount that appears meanwhile cannot lead the removal elsewhere.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "os/linux/calls.h"

/* Scratch trees are two levels deep. Each level holds a descriptor open; more than this is not one of ours. */
#define TREE_DEPTH_MAX 32
/* Some file systems skip entries when others are removed under readdir; another pass finds them. */
#define TREE_PASSES_MAX 8

int os_remove(const char *path) { return call_result(sys(unlink)(path)); }
int os_make_directory(const char *path) { return call_result(sys(mkdir)(path, S_IRWXU)); }
int os_rename(const char *from, const char *to) { return call_result(sys(rename)(from, to)); }

/* Opens the directory itself, not what a link of this name points to. */
static int open_directory(int parent, const char *name, int flags, DIR **out) {
  int fd;
  do fd = sys(openat)(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
  while (fd < 0 && errno == EINTR);
  if (fd < 0) return -errno;
  fd = call_above_standard(fd);
  if (fd < 0) return fd;
  *out = fdopendir(fd);
  if (*out) return 0;
  int error = -errno;
  (void)sys(close)(fd);
  return error;
}

/* The next name except . and .. in *name, NULL at the end. */
static int next_name(DIR *directory, const char **name) {
  struct dirent *entry;
  do {
    errno = 0;
    entry = readdir(directory);
    if (!entry && errno) return -errno;
  } while (entry && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0));
  *name = entry ? entry->d_name : NULL;
  return 0;
}

int os_list_directory(const char *path, int (*each)(void *context, const char *name), void *context) {
  DIR *directory;
  int result = open_directory(AT_FDCWD, path, 0, &directory);
  if (result) return result;
  for (const char *name; (result = next_name(directory, &name)) == 0 && name;) {
    result = each(context, name);
    if (result) break;
  }
  (void)closedir(directory);
  return result;
}

struct tree {
  dev_t device;
};

static int remove_tree_at(const struct tree *tree, int parent, const char *name, unsigned depth);

static int remove_entry(const struct tree *tree, int parent, const char *name, unsigned depth) {
  if (sys(unlinkat)(parent, name, 0) == 0 || errno == ENOENT) return 0;
  if (errno != EISDIR && errno != EPERM) return -errno;
  int refused = -errno;
  int error = depth < TREE_DEPTH_MAX ? remove_tree_at(tree, parent, name, depth + 1) : -ELOOP;
  return error == -ENOTDIR ? refused : error; /* EPERM on a file is what it says */
}

/* Removes what is in the directory; goes on after a failure and returns the first one. */
static int empty_directory(const struct tree *tree, DIR *directory, unsigned depth, unsigned *seen) {
  int first_error = 0;
  *seen = 0;
  rewinddir(directory);
  for (;;) {
    const char *name;
    int error = next_name(directory, &name);
    if (!error && !name) return first_error;
    if (!error) {
      ++*seen;
      error = remove_entry(tree, dirfd(directory), name, depth);
    } else {
      return first_error ? first_error : error;
    }
    if (error && !first_error) first_error = error;
  }
}

static int remove_tree_at(const struct tree *tree, int parent, const char *name, unsigned depth) {
  DIR *directory;
  int error = open_directory(parent, name, O_NOFOLLOW, &directory);
  if (error) return error == -ELOOP ? -ENOTDIR : error;
  struct stat status;
  error = call_result(sys(fstat)(dirfd(directory), &status));
  if (!error && depth > 0 && status.st_dev != tree->device) error = -EXDEV; /* something is mounted here */
  unsigned seen = 1;
  struct tree here = {.device = depth > 0 ? tree->device : status.st_dev};
  for (int pass = 0; !error && seen && pass < TREE_PASSES_MAX; pass++)
    error = empty_directory(&here, directory, depth, &seen);
  (void)closedir(directory);
  return error ? error : call_result(sys(unlinkat)(parent, name, AT_REMOVEDIR));
}

int os_remove_tree(const char *path) {
  char literal[4096]; /* PATH_MAX of the kernel */
  size_t length = strlen(path);
  while (length > 1 && path[length - 1] == '/') length--; /* "link/" would be followed in spite of O_NOFOLLOW */
  if (length >= sizeof literal) return -ENAMETOOLONG;
  memcpy(literal, path, length);
  literal[length] = '\0';
  return remove_tree_at(&(struct tree){0}, AT_FDCWD, literal, 0);
}
