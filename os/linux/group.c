/*
 * group.c - control groups: finding our own, and making one whose memory is limited, page cache included.
 *
 * Of the first version every group can limit memory; of the second only one whose parent hands that on and holds no process
 * itself, which our own does. So it is tried below our own group and then below each one above it. What groups hand on to
 * those below them is never changed.
 */
#define _GNU_SOURCE
#include "os/linux/group.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/linux/calls.h"
#include "os/linux/mounts.h"
#include "os/linux/procfs.h"

/* The path of our group: of "0::/path" for the second version, of "4:memory:/path" for the first. */
bool group_path(const char *groups, bool second_version, char *out, size_t size) {
  for (const char *row = groups; *row; row += strcspn(row, "\n"), row += *row == '\n') {
    const char *controllers = strchr(row, ':');
    const char *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path) return false;
    const char *memory = strstr(controllers, "memory");
    bool wanted = second_version ? path == controllers + 1 : memory && memory < path;
    if (!wanted) continue;
    (void)snprintf(out, size, "%.*s", (int)strcspn(path + 1, "\n"), path + 1);
    return true;
  }
  return false;
}


static int group_write(const char *group, const char *file, const char *word) {
  char path[640];
  if (snprintf(path, sizeof path, "%s/%s", group, file) >= (int)sizeof path) return -ENAMETOOLONG;
  return procfs_write(path, word);
}

static int enter(const char *group) { return group_write(group, "cgroup.procs", "0"); }

/* The limit, for swap space too where that is counted: else the memory would only be slower. */
static int set_limit(const char *group, bool second_version, uint64_t limit) {
  char number[32];
  (void)snprintf(number, sizeof number, "%llu", (unsigned long long)limit);
  int error = group_write(group, second_version ? "memory.max" : "memory.limit_in_bytes", number);
  if (!error) (void)group_write(group, second_version ? "memory.swap.max" : "memory.memsw.limit_in_bytes", second_version ? "0" : number);
  return error;
}

/* One place to put it. The name is written down before there is anything of that name. */
static int make_below(const char *parent, const char *name, bool second_version, uint64_t limit, struct os_memory_group *out) {
  char path[sizeof out->path];
  if (snprintf(path, sizeof path, "%s/%s", parent, name) >= (int)sizeof path) return -ENAMETOOLONG;
  memcpy(out->path, path, sizeof path);
  int error = call_result(sys(mkdir)(path, 0755));
  if (error) out->path[0] = '\0';
  if (error) return error;
  error = set_limit(path, second_version, limit);
  if (error == -ENOENT) error = -EOPNOTSUPP; /* the group above does not hand this on */
  if (!error) error = enter(path);
  if (error) (void)os_memory_group_remove(out);
  return error;
}

/* The name of a group of a process that is gone? What it left is removed where nothing is in it. */
static int sweep_one(void *context, const char *name) {
  char path[640];
  const char *parent = context;
  int used = 0;
  long pid = 0;
  if (sscanf(name, OS_MEMORY_GROUP_PREFIX "%ld%n", &pid, &used) != 1 || name[used] || pid <= 1) return 0;
  if (sys(kill)((pid_t)pid, 0) == 0 || errno != ESRCH) return 0;
  if (snprintf(path, sizeof path, "%s/%s", parent, name) < (int)sizeof path) (void)rmdir(path);
  return 0;
}

/* In our own group and those above it, up to the mount. The first refusal is the error that tells most. */
static int make_in_mount(const struct mount *mount, const char *group, bool second_version, uint64_t limit,
                         struct os_memory_group *out) {
  char parent[sizeof out->home], name[48];
  size_t root = strlen(mount->root), point = strlen(mount->point);
  if (root > 1 && strncmp(group, mount->root, root) == 0) group += root; /* a container sees its part only */
  int length = snprintf(parent, sizeof parent, "%s%s", mount->point, strcmp(group, "/") == 0 ? "" : group);
  if (length < 0 || (size_t)length >= sizeof parent) return -ENAMETOOLONG;
  (void)snprintf(name, sizeof name, OS_MEMORY_GROUP_PREFIX "%d", (int)getpid());
  int first = 0;
  out->home[0] = '\0';
  for (;;) {
    if (access(parent, F_OK) == 0) {
      if (!out->home[0]) memcpy(out->home, parent, sizeof parent);
      (void)os_list_directory(parent, sweep_one, parent);
      int error = make_below(parent, name, second_version, limit, out);
      if (!error) return 0;
      if (!first || first == -EOPNOTSUPP) first = error;
    }
    char *slash = strrchr(parent, '/');
    if (!slash || (size_t)(slash - parent) < point) return first ? first : -ENOENT;
    *slash = '\0';
  }
}

int os_memory_group_make(uint64_t limit, struct os_memory_group *out) {
  char groups[4096], group[512];
  char *table = procfs_whole("/proc/self/mountinfo"), *rest = table;
  int result = -EOPNOTSUPP;
  if (procfs_text("/proc/self/cgroup", groups, sizeof groups) < 0) groups[0] = '\0';
  for (struct mount mount; result != 0 && rest && mounts_next(&rest, &mount);) {
    bool second_version = strcmp(mount.type, "cgroup2") == 0;
    bool first_version = strcmp(mount.type, "cgroup") == 0 && strstr(mount.super_options, "memory");
    if (!(first_version || second_version) || !group_path(groups, second_version, group, sizeof group)) continue;
    int error = make_in_mount(&mount, group, second_version, limit, out);
    if (error == 0 || result == -EOPNOTSUPP || result == -ENOENT) result = error;
  }
  free(table);
  return result;
}

int os_memory_group_enter(const struct os_memory_group *group) { return enter(group->path); }
int os_memory_group_leave(const struct os_memory_group *group) { return enter(group->home); }

int os_memory_group_remove(struct os_memory_group *group) {
  if (!group->path[0]) return 0;
  int error = rmdir(group->path) < 0 ? -errno : 0;
  if (error == -ENOENT) error = 0;
  if (!error) group->path[0] = '\0';
  return error;
}
