/*
 * scratch.c - scratch directories that do not outlive their run. A run holds a lock in its directory and a pipe to its
 * janitor. The pipe closes when the run ends, also by SIGKILL; the janitor then removes everything. Should the janitor be
 * killed too, the next run finds the directory unlocked and sweeps it.
 */
#include "measure/scratch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

#define LOCK_NAME "lock"
/* Removing a few files takes this long only on a disk in trouble. */
#define JANITOR_NS UINT64_C(20000000000)

char *scratch_path(const char *directory, const char *name) {
  size_t length = strlen(directory) + strlen(name) + 2;
  char *path = malloc(length);
  if (path) snprintf(path, length, "%s/%s", directory, name);
  return path;
}

/* ---- sweeping ------------------------------------------------------------------------------------------------------ */

struct sweep { const char *place; unsigned removed; };

static bool is_ours(const char *name) {
  size_t prefix = strlen(SCRATCH_PREFIX);
  if (strncmp(name, SCRATCH_PREFIX, prefix) != 0 || strlen(name) != prefix + 16) return false;
  return strspn(name + prefix, "0123456789abcdef") == 16;
}

/* Only a directory of our name that holds our lock file, unlocked, is the rest of a dead run. */
static int sweep_one(void *context, const char *name) {
  struct sweep *sweep = context;
  if (!is_ours(name)) return 0;
  char *directory = scratch_path(sweep->place, name);
  char *lock = directory ? scratch_path(directory, LOCK_NAME) : NULL;
  os_file file = os_no_file;
  if (lock && os_open(lock, OS_READ | OS_WRITE, &file) == 0 && os_lock(file) == 0 && os_remove_tree(directory) == 0)
    sweep->removed++;
  os_close(file);
  free(lock);
  free(directory);
  return 0;
}

unsigned scratch_sweep(const char *place) {
  struct sweep sweep = {.place = place};
  os_list_directory(place, sweep_one, &sweep);
  return sweep.removed;
}

/* ---- the janitor --------------------------------------------------------------------------------------------------- */

struct janitor { const struct scratch *scratch; os_file read_end; };

/* A worker that is just being killed may make one more file in the middle of it: a second look finds that one too. */
static int remove_all(const struct scratch *scratch) {
  int result = 0;
  for (unsigned i = 0; i < scratch->count; i++) {
    int error = os_remove_tree(scratch->paths[i]);
    for (unsigned tries = 0; error == -ENOTEMPTY && tries < 20; tries++) {
      os_sleep_ns(UINT64_C(10000000));
      error = os_remove_tree(scratch->paths[i]);
    }
    if (error < 0 && error != -ENOENT && result == 0) result = error;
  }
  return result;
}

static int janitor_body(void *context) {
  const struct janitor *janitor = context;
  os_process_shield();
  os_close(janitor->scratch->lifeline);
  char byte;
  while (os_read(janitor->read_end, &byte, 1) > 0) {
  }
  return remove_all(janitor->scratch) < 0;
}

static int hire_janitor(struct scratch *scratch) {
  os_file read_end;
  int result = os_pipe(&read_end, &scratch->lifeline);
  if (result < 0) return result;
  struct janitor janitor = {scratch, read_end};
  result = os_process_fork(janitor_body, &janitor, &scratch->janitor);
  os_close(read_end);
  if (result >= 0) return 0;
  os_close(scratch->lifeline);
  scratch->lifeline = os_no_file;
  return result;
}

/* ---- opening and closing ------------------------------------------------------------------------------------------- */

static int name_directory(struct scratch *scratch, unsigned index, const char *place) {
  char name[64];
  uint64_t id = random_mix(os_wall_ns() + ((uint64_t)os_process_id() << 32) + index);
  snprintf(name, sizeof name, SCRATCH_PREFIX "%016llx", (unsigned long long)id);
  scratch->locks[index] = os_no_file;
  scratch->paths[index] = scratch_path(place, name);
  if (!scratch->paths[index]) return -ENOMEM;
  scratch->count = index + 1;
  return 0;
}

/* The lock gets its name only when it is held, so that no other run can take it for a dead one's. */
static int lock_directory(struct scratch *scratch, unsigned index) {
  char *fresh = scratch_path(scratch->paths[index], LOCK_NAME ".new");
  char *lock = scratch_path(scratch->paths[index], LOCK_NAME);
  int result = fresh && lock ? 0 : -ENOMEM;
  if (result == 0) result = os_open(fresh, OS_READ | OS_WRITE | OS_CREATE | OS_EXCLUSIVE, &scratch->locks[index]);
  if (result == 0) result = os_lock(scratch->locks[index]);
  if (result == 0) result = os_rename(fresh, lock);
  free(fresh);
  free(lock);
  return result;
}

static int open_place(struct scratch *scratch, unsigned index, const char *place, struct weir_reason *problem) {
  scratch_sweep(place);
  int result = os_make_directory(scratch->paths[index]);
  if (result == 0) result = lock_directory(scratch, index);
  if (result == 0) return 0;
  snprintf(problem->text, sizeof problem->text, "no scratch directory can be made in '%s': %s", place, strerror(-result));
  snprintf(problem->remedy, sizeof problem->remedy, "name a directory that you may write with --dir");
  return result;
}

/* The janitor knows the names before anything has them: there is no moment at which a kill leaves something behind. */
int scratch_open(struct scratch *scratch, char *const *places, unsigned count, struct weir_reason *problem) {
  *scratch = (struct scratch){.lifeline = os_no_file, .janitor = -1};
  scratch->paths = calloc(count ? count : 1, sizeof *scratch->paths);
  scratch->locks = calloc(count ? count : 1, sizeof *scratch->locks);
  int result = scratch->paths && scratch->locks ? 0 : -ENOMEM;
  for (unsigned i = 0; result == 0 && i < count; i++) result = name_directory(scratch, i, places[i]);
  if (result == 0 && count > 0) result = hire_janitor(scratch);
  for (unsigned i = 0; result == 0 && i < count; i++) result = open_place(scratch, i, places[i], problem);
  if (result < 0 && !problem->text[0]) snprintf(problem->text, sizeof problem->text, "no janitor: %s", strerror(-result));
  if (result < 0) scratch_close(scratch);
  return result;
}

/* The janitor may have been killed, or stopped; then the run does his work. */
static int dismiss_janitor(struct scratch *scratch) {
  struct os_exit exit;
  if (scratch->lifeline == os_no_file) return 0;
  os_close(scratch->lifeline);
  int result = os_process_wait(scratch->janitor, JANITOR_NS, &exit);
  if (result == 0 && !exit.crashed && exit.code == 0) return 0;
  if (result == -ETIMEDOUT && os_process_kill(scratch->janitor) == 0) os_process_wait(scratch->janitor, UINT64_MAX, NULL);
  return remove_all(scratch);
}

int scratch_close(struct scratch *scratch) {
  int result = dismiss_janitor(scratch);
  for (unsigned i = 0; i < scratch->count; i++) {
    os_close(scratch->locks[i]);
    free(scratch->paths[i]);
  }
  free(scratch->paths);
  free(scratch->locks);
  *scratch = (struct scratch){.lifeline = os_no_file, .janitor = -1};
  return result;
}
