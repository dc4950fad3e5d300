/*
 * doctor_conditions.c - what `weir doctor` finds out about how quiet and how even the machine is, and what else this process
 * may do. Touches no file but those of the system; the control group that it tries is made and removed by a child.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cli/doctor.h"

#define MIB ((uint64_t)1 << 20)

/* ---- the processor's speed ------------------------------------------------------------------------------------------ */

static void look_at_turbo(const struct doctor_scene *scene, struct doctor_finding *out) {
  if (scene->conditions.boost < 0)
    doctor_say(out, DOCTOR_SKIP, "none in a virtual machine; elsewhere the processor's cpufreq driver shows it",
               "the system does not tell whether the processor speeds up for a while");
  else if (scene->conditions.boost == 0)
    doctor_ok(out, "off: the processor keeps its rated speed");
  else
    doctor_say(out, DOCTOR_WARN,
               "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo, or echo 0 > /sys/devices/system/cpu/cpufreq/boost",
               "on: the processor is faster while it is cool and its other cores idle");
}

static void look_at_heat(const struct doctor_scene *scene, struct doctor_finding *out) {
  int64_t count = scene->conditions.throttled;
  if (count < 0)
    doctor_say(out, DOCTOR_SKIP, "none in a virtual machine; times are right without it",
               "the system does not tell whether heat slows the processor");
  else if (count == 0)
    doctor_ok(out, "the processor was never slowed by heat since it was started");
  else
    doctor_say(out, DOCTOR_WARN, "better cooling; or look whether the number grows while you measure",
               "the processor was slowed by heat %lld times since it was started", (long long)count);
}

/* ---- which processors ----------------------------------------------------------------------------------------------- */

static void look_at_siblings(const struct doctor_scene *scene, struct doctor_finding *out) {
  if (scene->conditions.siblings < 0)
    doctor_say(out, DOCTOR_SKIP, "none; it matters for --threads above 1 only", "the system does not tell");
  else if (scene->conditions.siblings == 0)
    doctor_ok(out, "no two CPUs share a core");
  else
    doctor_say(out, DOCTOR_WARN, "for several threads: echo off > /sys/devices/system/cpu/smt/control",
               "two CPUs share a core: what runs on one slows the other");
}

static void look_at_isolation(const struct doctor_scene *scene, struct doctor_finding *out) {
  const char *isolated = scene->conditions.isolated;
  const unsigned mine = scene->machine.cpus;
  const int64_t online = scene->conditions.online_cpus;
  char remedy[128];
  if (isolated[0]) {
    snprintf(remedy, sizeof remedy, "taskset -c %.40s weir bench ..., if nothing else runs there", isolated);
    doctor_say(out, DOCTOR_WARN, remedy, "CPUs %s are kept apart from all others, and are used only if told", isolated);
  } else if (online > 0 && mine < online) {
    doctor_ok(out, "this process may use %u of %lld CPUs", mine, (long long)online);
  } else {
    doctor_ok(out, "none kept apart; cells are compared inside rounds, which does without");
  }
}

static void look_at_nodes(const struct doctor_scene *scene, struct doctor_finding *out) {
  int64_t nodes = scene->conditions.nodes;
  if (nodes < 0)
    doctor_say(out, DOCTOR_SKIP, "none; a machine without such nodes has one", "the system does not tell");
  else if (nodes <= 1)
    doctor_ok(out, "all memory is equally near");
  else
    doctor_say(out, DOCTOR_WARN, "numactl --cpunodebind=0 --membind=0 weir bench ...",
               "memory lies at %lld nodes: page cache at another one is slower", (long long)nodes);
}

/* ---- who else is there ---------------------------------------------------------------------------------------------- */

#define WAITS_MOST 500     /* hundredths of a percent of the last 10 s */
#define LOAD_SHARE_MOST 25 /* hundredths of a running program for each CPU: one on a machine of four */

static bool waits(int64_t hundredths) { return hundredths > WAITS_MOST; }
static unsigned percent(int64_t hundredths) { return hundredths > 0 ? (unsigned)(hundredths / 100) : 0; }

static void look_at_load(const struct doctor_scene *scene, struct doctor_finding *out) {
  const struct os_conditions *c = &scene->conditions;
  const unsigned cpus = scene->machine.cpus ? scene->machine.cpus : 1;
  const unsigned load = c->load_hundredths > 0 ? (unsigned)c->load_hundredths : 0;
  if (c->load_hundredths < 0)
    doctor_say(out, DOCTOR_SKIP, "a system with /proc", "the system does not tell what others do");
  else if (waits(c->cpu_waits_hundredths) || waits(c->io_waits_hundredths) || waits(c->memory_waits_hundredths))
    doctor_say(out, DOCTOR_WARN, "stop what else runs, or give more --rounds",
               "in %u %% of the last 10 s somebody waited for a CPU, in %u %% for a disk, in %u %% for memory",
               percent(c->cpu_waits_hundredths), percent(c->io_waits_hundredths), percent(c->memory_waits_hundredths));
  else if (load > LOAD_SHARE_MOST * cpus)
    doctor_say(out, DOCTOR_WARN, "stop what else runs, or give more --rounds",
               "%u.%02u programs ran or waited for a disk in the last minute, on %u CPUs", load / 100, load % 100, cpus);
  else
    doctor_ok(out, "%u.%02u programs ran in the last minute; nobody waited%s", load / 100, load % 100,
              c->cpu_waits_hundredths < 0 ? ", as far as is told" : "");
}

static void look_at_container(const struct doctor_scene *scene, struct doctor_finding *out) {
  if (!scene->conditions.container[0])
    doctor_ok(out, "none seen");
  else
    doctor_say(out, DOCTOR_WARN, "name a directory that is mounted from outside (a volume); compare with a run outside",
               "in a container (%s): its own files lie on a stacked file system, its limits are set outside",
               scene->conditions.container);
}

/* ---- memory --------------------------------------------------------------------------------------------------------- */

#define SWAP_USED_MOST (64 * MIB)
#define WRITE_BACK_LEAST (256 * MIB) /* twice the file of a usual run */

static void look_at_swap(const struct doctor_scene *scene, struct doctor_finding *out) {
  const struct os_conditions *c = &scene->conditions;
  char all[UNITS_TEXT_MAX], used[UNITS_TEXT_MAX];
  units_size_text((double)c->swap_bytes, all);
  units_size_text((double)c->swap_used_bytes, used);
  if (c->swap_bytes < 0)
    doctor_say(out, DOCTOR_SKIP, "a system with /proc", "the system does not tell");
  else if (c->swap_bytes == 0)
    doctor_ok(out, "none: memory in use stays where it is");
  else if (c->swap_used_bytes > (int64_t)SWAP_USED_MOST)
    doctor_say(out, DOCTOR_WARN, "end what takes memory, then swapoff -a and swapon -a",
               "%s of %s in use: memory is short, and swapping uses a disk", used, all);
  else
    doctor_ok(out, "%s, %s in use%s", all, used, c->packed_swap == 1 ? ", packed in memory first (zswap)" : "");
}

static void look_at_write_back(const struct doctor_scene *scene, struct doctor_finding *out) {
  int64_t start = scene->conditions.write_back_bytes;
  char text[UNITS_TEXT_MAX];
  units_size_text((double)start, text);
  if (start < 0)
    doctor_say(out, DOCTOR_SKIP, "a system with /proc", "the system does not tell when it begins to write by itself");
  else if (start >= (int64_t)WRITE_BACK_LEAST)
    doctor_ok(out, "the system begins to write by itself at %s of changed pages", text);
  else
    doctor_say(out, DOCTOR_WARN,
               "sysctl vm.dirty_background_bytes=536870912 (and vm.dirty_bytes above it), or a smaller --size",
               "begins at %s of changed pages: writes that are not durable meet the disk before they end", text);
}

/* ---- this process --------------------------------------------------------------------------------------------------- */

static void look_at_layout(const struct doctor_scene *scene, struct doctor_finding *out) {
  int layout = scene->conditions.random_layout;
  if (layout < 0)
    doctor_say(out, DOCTOR_SKIP, "a system with /proc", "the system does not tell");
  else if (layout > 0)
    doctor_ok(out, "on: a new process (--process fresh, another run) has addresses of its own");
  else
    doctor_say(out, DOCTOR_WARN, "sysctl kernel.randomize_va_space=2; not under setarch -R or a debugger",
               "off: all runs share one layout of memory, whose luck looks like a difference");
}

/* The level that the system sets tells why it is not permitted. */
static void look_at_counters(const struct doctor_scene *scene, struct doctor_finding *out) {
  struct os_cycles counters;
  const long long level = (long long)scene->conditions.counters_level;
  int code = os_cycles_start(&counters);
  if (code == 0) os_cycles_stop(&counters);
  if (code == 0)
    doctor_ok(out, "cycles and instructions can be counted (tried)");
  else if (code == -EACCES || code == -EPERM)
    doctor_say(out, DOCTOR_SKIP, "sysctl kernel.perf_event_paranoid=1, or root; in a container: let perf_event_open through",
               "cycles and instructions may not be counted by this user (perf_event_paranoid %lld)", level);
  else
    doctor_say(out, DOCTOR_SKIP, "bare metal, or a virtual machine that shows its counters",
               "no cycles and instructions can be counted here: %s", strerror(-code));
}

static int ascending(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

#define SLEEP_NS UINT64_C(100000)
#define LATE_MOST UINT64_C(1000000) /* a tick of a kernel without fine timers is 1 to 10 ms */

static void look_at_timer(const struct doctor_scene *scene, struct doctor_finding *out) {
  enum { TRIES = 15 };
  uint64_t late[TRIES];
  char text[UNITS_TEXT_MAX];
  (void)scene;
  for (unsigned i = 0; i < TRIES; i++) {
    uint64_t began = os_clock_ns();
    os_sleep_ns(SLEEP_NS);
    uint64_t took = os_clock_ns() - began;
    late[i] = took > SLEEP_NS ? took - SLEEP_NS : 0;
  }
  qsort(late, TRIES, sizeof *late, ascending);
  units_time_text((double)late[TRIES / 2], text);
  if (late[TRIES / 2] <= LATE_MOST)
    doctor_ok(out, "a sleep of 100 us ends %s late (median of %d)", text, TRIES);
  else
    doctor_say(out, DOCTOR_WARN, "a kernel with CONFIG_HIGH_RES_TIMERS, booted without highres=off; or a quieter machine",
               "a sleep of 100 us ends %s late (median of %d): requests cannot be paced", text, TRIES);
}

/* ---- what is tried by a child --------------------------------------------------------------------------------------- */

#define GROUP_BYTES (256 * MIB)
#define GROUP_NS UINT64_C(1000000000)

/* Ends with the number of the error. */
static int try_group(void *context) {
  struct os_memory_group group = {{0}, {0}};
  (void)context;
  os_process_shield();
  int code = os_memory_group_make(GROUP_BYTES, &group);
  if (code == 0) code = os_memory_group_leave(&group);
  int removed = os_memory_group_remove(&group);
  return -(code ? code : removed);
}

static void look_at_groups(const struct doctor_scene *scene, struct doctor_finding *out) {
  os_process child;
  struct os_exit end = {false, EIO};
  (void)scene;
  int code = os_process_fork(try_group, NULL, &child);
  if (code == 0 && (code = os_process_wait(child, GROUP_NS, &end)) < 0) os_process_kill(child);
  if (code == 0 && !end.crashed) code = -end.code;
  if (code == 0 && !end.crashed)
    doctor_ok(out, "a control group with less memory can be made (--memory)");
  else
    doctor_say(out, DOCTOR_SKIP, "root, or a delegated group: systemd-run --user --scope -p Delegate=yes",
               "no control group with less memory can be made (--memory): %s", strerror(code ? -code : EIO));
}

const struct doctor_look doctor_looks_conditions[] = {
    {.name = "turbo", .look = look_at_turbo},           {.name = "heat", .look = look_at_heat},
    {.name = "shared cores", .look = look_at_siblings}, {.name = "isolation", .look = look_at_isolation},
    {.name = "memory nodes", .look = look_at_nodes},    {.name = "other load", .look = look_at_load},
    {.name = "container", .look = look_at_container},   {.name = "swap", .look = look_at_swap},
    {.name = "write-back", .look = look_at_write_back}, {.name = "address layout", .look = look_at_layout},
    {.name = "timer", .look = look_at_timer},           {.name = "perf events", .look = look_at_counters},
    {.name = "memory groups", .look = look_at_groups},  {0},
};
