/* doctor_machine.c - what `weir doctor` finds out about the machine and this process. Touches no file but those of the
 * system. */
#include <string.h>

#include "base/units.h"
#include "cli/doctor.h"

#define MIB ((uint64_t)1 << 20)

/* ---- clock and processor ------------------------------------------------------------------------------------------- */

#define READ_NS_MOST 200.0 /* a clock that needs a system call: more than many an operation that it times */
#define STEP_NS_MOST 1000.0

static void look_at_clock(const struct doctor_scene *scene, struct doctor_finding *out) {
  struct os_clock_facts clock;
  char step[UNITS_TEXT_MAX], read[UNITS_TEXT_MAX];
  os_clock_measure(&clock);
  bool slow = clock.read_ns > READ_NS_MOST || clock.step_ns > STEP_NS_MOST;
  units_time_text(clock.step_ns, step);
  units_time_text(clock.read_ns, read);
  if (!slow && clock.counter_trusted) {
    doctor_ok(out, "%s from %s, step %s, one read %s, counter trusted", clock.name, clock.source, step, read);
  } else {
    doctor_say(out, DOCTOR_WARN,
               slow ? "boot with clocksource=tsc if the processor has one; without it leave --latency out"
                    : "single operations are timed by the slower system clock; their latency is a little too long",
               "%s from %s, step %s, one read %s, counter %strusted", clock.name, clock.source, step, read,
               clock.counter_trusted ? "" : "not ");
  }
}

static void look_at_governor(const struct doctor_scene *scene, struct doctor_finding *out) {
  const char *governor = scene->machine.governor;
  if (!governor[0])
    doctor_say(out, DOCTOR_SKIP, "none in a virtual machine; elsewhere load the processor's cpufreq driver",
               "the system does not tell who governs the processor's speed");
  else if (strcmp(governor, "performance") == 0)
    doctor_ok(out, "performance");
  else
    doctor_say(out, DOCTOR_WARN, "cpupower frequency-set -g performance", "%s: the processor's speed follows its load",
               governor);
}

static void look_at_frequency(const struct doctor_scene *scene, struct doctor_finding *out) {
  uint64_t hz = scene->machine.processor_hz;
  if (hz)
    doctor_ok(out, "%u.%02u GHz now, %u CPUs for this process", (unsigned)(hz / 1000000000), (unsigned)(hz / 10000000 % 100),
              scene->machine.cpus);
  else
    doctor_say(out, DOCTOR_SKIP, "none; times are right without it", "the system does not tell");
}

/* ---- who else is there --------------------------------------------------------------------------------------------- */

#define WATCH_NS UINT64_C(300000000)
#define STEAL_MOST 0.01

static void look_at_steal(const struct doctor_scene *scene, struct doctor_finding *out) {
  struct os_pressure before, after;
  os_pressure(&before);
  uint64_t began = os_clock_ns();
  os_sleep_ns(WATCH_NS);
  os_pressure(&after);
  double time_ns = (double)(os_clock_ns() - began) * (scene->machine.cpus ? scene->machine.cpus : 1);
  if (before.steal_ns < 0 || after.steal_ns < 0) {
    doctor_say(out, DOCTOR_SKIP, "none", "the system does not tell what other guests take");
    return;
  }
  double share = (double)(after.steal_ns - before.steal_ns) / time_ns;
  unsigned tenths = share > 0 ? (unsigned)(share * 1000 + 0.5) : 0;
  if (share <= STEAL_MOST)
    doctor_ok(out, "%u.%u %% of 0.3 s", tenths / 10, tenths % 10);
  else
    doctor_say(out, DOCTOR_WARN, "measure when the host is quiet, or give more --rounds",
               "%u.%u %% of 0.3 s went to other guests", tenths / 10, tenths % 10);
}

static void look_at_virtualization(const struct doctor_scene *scene, struct doctor_finding *out) {
  if (!scene->machine.hypervisor[0])
    doctor_ok(out, "none seen: cold means the disk");
  else
    doctor_say(out, DOCTOR_WARN, "for the disk itself, measure on bare metal or read more than the host's memory",
               "guest of %s: cold means out of this guest's cache, the host may still have it", scene->machine.hypervisor);
}

/* ---- memory -------------------------------------------------------------------------------------------------------- */

static void look_at_huge_pages(const struct doctor_scene *scene, struct doctor_finding *out) {
  const char *chosen = scene->machine.huge_pages;
  char size[UNITS_TEXT_MAX];
  if (!chosen[0])
    doctor_say(out, DOCTOR_SKIP, "a kernel with CONFIG_TRANSPARENT_HUGEPAGE", "this kernel has no transparent huge pages");
  else if (strcmp(chosen, "never") == 0)
    doctor_say(out, DOCTOR_WARN, "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
               "never: methods that ask for huge pages get small ones");
  else
    doctor_ok(out, "%s, of %s", chosen, units_size_text((double)os_huge_page_size(), size));
}

static void look_at_reclaim(const struct doctor_scene *scene, struct doctor_finding *out) {
  if (!scene->machine.reclaim[0])
    doctor_ok(out, "no proactive reclaim seen");
  else
    doctor_say(out, DOCTOR_WARN, "stop it while you measure (DAMON: write off to the kdamond's state; zram: swapoff)",
               "%s: warm files may leave the cache; such samples are taken again", scene->machine.reclaim);
}

static void look_at_memory_limit(const struct doctor_scene *scene, struct doctor_finding *out) {
  char limit[UNITS_TEXT_MAX], all[UNITS_TEXT_MAX];
  units_size_text((double)scene->machine.group_limit_bytes, limit);
  units_size_text((double)scene->machine.memory_bytes, all);
  if (scene->machine.group_limit_bytes == UINT64_MAX)
    doctor_ok(out, "none; the machine has %s", all);
  else
    doctor_say(out, DOCTOR_WARN, "keep --size well below it, or raise the control group's memory.max",
               "a control group lets us have %s of %s, page cache included", limit, all);
}

/* ---- limits of the process ----------------------------------------------------------------------------------------- */

#define LOCKED_LEAST (8 * MIB) /* what rings with registered buffers of usual sizes and depths want */
#define FILES_LEAST 256u       /* threads with a file each, and a few of our own */

static void look_at_locked_memory(const struct doctor_scene *scene, struct doctor_finding *out) {
  char text[UNITS_TEXT_MAX];
  uint64_t limit = scene->limits.locked_bytes;
  units_size_text((double)limit, text);
  if (limit == UINT64_MAX || limit >= LOCKED_LEAST)
    doctor_ok(out, "%s may be locked", limit == UINT64_MAX ? "any amount" : text);
  else
    doctor_say(out, DOCTOR_WARN, "ulimit -l unlimited (root), or memlock in /etc/security/limits.conf",
               "%s may be locked: rings with registered buffers may be refused", text);
}

static void look_at_open_files(const struct doctor_scene *scene, struct doctor_finding *out) {
  uint64_t limit = scene->limits.open_files;
  if (limit == UINT64_MAX)
    doctor_ok(out, "any number");
  else if (limit >= FILES_LEAST)
    doctor_ok(out, "up to %llu", (unsigned long long)limit);
  else
    doctor_say(out, DOCTOR_WARN, "ulimit -n 1024", "up to %llu: too few for many --threads", (unsigned long long)limit);
}

static void say_limit(struct doctor_finding *out, uint64_t limit, const char *remedy, const char *what) {
  char text[UNITS_TEXT_MAX];
  if (limit == UINT64_MAX)
    doctor_ok(out, "no limit");
  else
    doctor_say(out, DOCTOR_WARN, remedy, "%s of at most %s", what, units_size_text((double)limit, text));
}

static void look_at_file_size(const struct doctor_scene *scene, struct doctor_finding *out) {
  say_limit(out, scene->limits.file_bytes, "ulimit -f unlimited, or a --size below it", "files");
}

static void look_at_address_space(const struct doctor_scene *scene, struct doctor_finding *out) {
  say_limit(out, scene->limits.address_bytes, "ulimit -v unlimited, or a --size well below it", "memory and maps");
}

/* ---- what else can be used ----------------------------------------------------------------------------------------- */

#define REGISTERED_BYTES (4 * MIB) /* a depth of 32 with blocks of 128 KiB */

/* 0 where a ring takes memory to keep; it counts as locked in older systems. */
static int try_registering(void) {
  struct os_ring *ring = NULL;
  void *memory = NULL;
  const size_t length = REGISTERED_BYTES;
  int code = os_memory_get(length, 0, &memory);
  if (code == 0) code = os_ring_open(32, &ring);
  if (code == 0) code = os_ring_register_buffers(ring, &memory, &length, 1);
  if (ring) os_ring_close(ring);
  if (memory) os_memory_put(memory, length);
  return code;
}

static void look_at_ring(const struct doctor_scene *scene, struct doctor_finding *out) {
  char why[192] = "", remedy[160] = "";
  int code = os_ring_probe(why, sizeof why, remedy, sizeof remedy);
  int registered = code == 0 ? try_registering() : 0;
  if (code < 0)
    doctor_say(out, DOCTOR_SKIP, remedy[0] ? remedy : "a kernel from 5.6 on that allows it", "%s",
               why[0] ? why : "rings cannot be opened here");
  else if (registered < 0)
    doctor_say(out, DOCTOR_WARN, "ulimit -l unlimited (root), or memlock in /etc/security/limits.conf",
               "rings can be opened, but 4 MiB of memory cannot be registered: %s", strerror(-registered));
  else
    doctor_ok(out, "rings can be opened, and memory registered (tried)");
}

static void look_for(const char *program, const char *remedy, const char *loss, struct doctor_finding *out) {
  char path[512];
  if (os_program_find(program, path, sizeof path) == 0)
    doctor_ok(out, "%.200s", path);
  else
    doctor_say(out, DOCTOR_SKIP, remedy, "not found: %s", loss);
}

static void look_for_strace(const struct doctor_scene *scene, struct doctor_finding *out) {
  look_for("strace", "apt-get install strace", "--show-calls needs it", out);
}

static void look_for_fio(const struct doctor_scene *scene, struct doctor_finding *out) {
  look_for("fio", "apt-get install fio", "'make peers' compares with it", out);
}

const struct doctor_look doctor_looks_machine[] = {
    {.name = "clock", .look = look_at_clock},
    {.name = "governor", .look = look_at_governor},
    {.name = "frequency", .look = look_at_frequency},
    {.name = "steal", .look = look_at_steal},
    {.name = "virtualization", .look = look_at_virtualization},
    {.name = "huge pages", .look = look_at_huge_pages},
    {.name = "memory reclaim", .look = look_at_reclaim},
    {.name = "memory limit", .look = look_at_memory_limit},
    {.name = "locked memory", .look = look_at_locked_memory},
    {.name = "open files", .look = look_at_open_files},
    {.name = "file size", .look = look_at_file_size},
    {.name = "address space", .look = look_at_address_space},
    {.name = "io_uring", .look = look_at_ring},
    {.name = "strace", .look = look_for_strace},
    {.name = "fio", .look = look_for_fio},
    {0},
};
