/*
 * memory.c - a limit on memory for one run, and its end. A group without processes costs nothing but stays for ever, so a
 * janitor process outside of it removes it whatever happens to the run; scratch.c does the same for files.
 */
#include "measure/memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

#define REMOVE_TRIES 500u /* while the processes of a killed run are still ending */
#define REMOVE_PAUSE_NS (UINT64_C(10) * 1000000)

static void remove_group(struct os_memory_group *group) {
  int result = os_memory_group_remove(group);
  for (unsigned tries = 0; result == -EBUSY && tries < REMOVE_TRIES; tries++) {
    os_sleep_ns(REMOVE_PAUSE_NS);
    result = os_memory_group_remove(group);
  }
}

struct janitor { const struct memory *memory; os_file read_end; };

static int janitor_body(void *context) {
  const struct janitor *janitor = context;
  char byte;
  os_process_shield();
  os_close(janitor->memory->lifeline);
  while (os_read(janitor->read_end, &byte, 1) > 0) continue;
  remove_group(janitor->memory->group);
  return 0;
}

static int hire_janitor(struct memory *memory) {
  struct janitor janitor = {.memory = memory};
  int result = os_pipe(&janitor.read_end, &memory->lifeline);
  if (result < 0) return result;
  result = os_process_fork(janitor_body, &janitor, &memory->janitor);
  os_close(janitor.read_end);
  if (result < 0) os_close(memory->lifeline);
  if (result < 0) memory->lifeline = os_no_file;
  return result;
}

static int explain(int code, struct weir_reason *problem) {
  if (code == -EOPNOTSUPP)
    snprintf(problem->text, sizeof problem->text, "no control group that could limit memory is here, so there is no --memory");
  else
    snprintf(problem->text, sizeof problem->text, "no control group with a limit on memory can be made: %s", strerror(-code));
  snprintf(problem->remedy, sizeof problem->remedy,
           "run it as root, or where a group is delegated to you: systemd-run --user --scope weir ...");
  return code;
}

int memory_open(struct memory *memory, uint64_t limit, struct weir_reason *problem) {
  void *group;
  char least[UNITS_TEXT_MAX];
  *memory = (struct memory){.lifeline = os_no_file};
  if (limit == 0) return 0;
  if (limit < MEMORY_LIMIT_MIN) {
    snprintf(problem->text, sizeof problem->text, "--memory: less than %s is not enough for the program itself",
             units_size_name(MEMORY_LIMIT_MIN, least));
    return -EINVAL;
  }
  int result = os_memory_get(sizeof *memory->group, OS_MEMORY_SHARED, &group);
  if (result < 0) return result;
  memory->group = group;
  result = hire_janitor(memory);
  if (result == 0) result = os_memory_group_make(limit, memory->group);
  if (result == 0) result = os_memory_group_leave(memory->group);
  if (result < 0) memory_close(memory);
  return result < 0 ? explain(result, problem) : 0;
}

int memory_enter(const struct memory *memory, struct weir_reason *problem) {
  int result = memory->group ? os_memory_group_enter(memory->group) : 0;
  return result < 0 ? explain(result, problem) : 0;
}

void memory_close(struct memory *memory) {
  if (!memory->group) return;
  if (memory->group->path[0]) (void)os_memory_group_leave(memory->group);
  if (memory->lifeline != os_no_file) {
    os_close(memory->lifeline);
    os_process_wait(memory->janitor, UINT64_MAX, NULL);
  }
  os_memory_put(memory->group, sizeof *memory->group);
  *memory = (struct memory){.lifeline = os_no_file};
}
