/*
 * machine.c - facts about the machine that a reader of the numbers must know. What cannot be found out stays empty.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "os/linux/calls.h"
#include "os/linux/group.h"
#include "os/linux/mounts.h"
#include "os/linux/procfs.h"

#define DAMON "/sys/kernel/mm/damon/admin/kdamonds"

static void copy_text(char *out, size_t size, const char *text) { (void)snprintf(out, size, "%.*s", (int)size - 1, text); }

/* ---- processor and hypervisor ---- */

/* What the hypervisor calls itself, in the processor's leaf that is kept for it. */
static void hypervisor_signature(char out[16]) {
  out[0] = '\0';
#if defined(__x86_64__)
  unsigned words[4] = {0};
  __cpuid(0x40000000, words[0], words[1], words[2], words[3]);
  memcpy(out, &words[1], 12);
  out[12] = '\0';
#endif
}

static const char *hypervisor_name(const char *signature) {
  static const struct {
    const char *signature, *name;
  } known[] = {
      {"KVMKVMKVM", "KVM"},     {"Microsoft Hv", "Hyper-V"},   {"VMwareVMware", "VMware"}, {"XenVMMXenVMM", "Xen"},
      {"TCGTCGTCGTCG", "QEMU"}, {"bhyve bhyve ", "bhyve"},     {"ACRNACRNACRN", "ACRN"},   {"VBoxVBoxVBox", "VirtualBox"},
      {"Linux KVM Hv", "KVM"},  {" lrpepyh  vr", "Parallels"},
  };
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    if (strcmp(known[i].signature, signature) == 0) return known[i].name;
  }
  return "unknown hypervisor";
}

/* "Amazon EC2 m5.large": who made the (virtual) board, as far as one may read it. */
static void product(char *out, size_t size) {
  char vendor[48], name[48];
  bool has_vendor = procfs_text("/sys/class/dmi/id/sys_vendor", vendor, sizeof vendor) > 0;
  bool has_name = procfs_text("/sys/class/dmi/id/product_name", name, sizeof name) > 0;
  (void)snprintf(out, size, "%s%s%s", has_vendor ? vendor : "", has_vendor && has_name ? " " : "", has_name ? name : "");
}

static void find_hypervisor(const char *cpuinfo, struct os_machine *out) {
  char flags[4096], signature[16], board[100];
  if (!procfs_line(cpuinfo, "flags", flags, sizeof flags) || !procfs_has_word(flags, "hypervisor")) return;
  hypervisor_signature(signature);
  product(board, sizeof board);
  char text[160];
  (void)snprintf(text, sizeof text, board[0] ? "%s (%s)" : "%s", hypervisor_name(signature), board);
  copy_text(out->hypervisor, sizeof out->hypervisor, text);
}

/* The driver's word, else what /proc/cpuinfo says. */
static uint64_t processor_hz(const char *cpuinfo) {
  char text[32];
  int64_t khz = procfs_number("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq");
  if (khz > 0) return (uint64_t)khz * 1000;
  if (!procfs_line(cpuinfo, "cpu MHz", text, sizeof text)) return 0;
  double mhz = (double)strtoul(text, NULL, 10); /* "2500.000": the fraction tells nothing */
  return mhz > 0 ? (uint64_t)(mhz * 1e6) : 0;
}

static void find_processor(const struct utsname *names, struct os_machine *out) {
  char cpuinfo[16384];
  if (procfs_text("/proc/cpuinfo", cpuinfo, sizeof cpuinfo) < 0) cpuinfo[0] = '\0';
  if (!procfs_line(cpuinfo, "model name", out->processor, sizeof out->processor)) {
    copy_text(out->processor, sizeof out->processor, names->machine);
  }
  find_hypervisor(cpuinfo, out);
  out->processor_hz = processor_hz(cpuinfo);
}

/* CPUs that this process may use. */
static unsigned count_cpus(void) {
  cpu_set_t set;
  if (sys(sched_getaffinity)(0, sizeof set, &set) == 0) return (unsigned)CPU_COUNT(&set);
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? (unsigned)online : 1;
}

/* ---- memory ---- */

/* What a group's limit leaves: cache can be dropped, so it counts as available. -1 when there is no limit. */
static int64_t group_available(const char *group, bool second_version, uint64_t *lowest_limit) {
  char path[512], stat[8192];
  (void)snprintf(path, sizeof path, "%s/%s", group, second_version ? "memory.max" : "memory.limit_in_bytes");
  int64_t limit = procfs_number(path);
  if (limit < 0) return -1; /* no such file, or "max" */
  if ((uint64_t)limit < *lowest_limit) *lowest_limit = (uint64_t)limit;
  (void)snprintf(path, sizeof path, "%s/%s", group, second_version ? "memory.current" : "memory.usage_in_bytes");
  int64_t used = procfs_number(path), file = 0;
  (void)snprintf(path, sizeof path, "%s/memory.stat", group);
  if (procfs_text(path, stat, sizeof stat) > 0) {
    int64_t inactive = procfs_field(stat, second_version ? "inactive_file " : "total_inactive_file ");
    int64_t active = procfs_field(stat, second_version ? "active_file " : "total_active_file ");
    file = (inactive > 0 ? inactive : 0) + (active > 0 ? active : 0);
  }
  used = used > file ? used - file : 0;
  return limit > used ? limit - used : 0;
}

static void lower_available(const char *mount_point, const char *group, bool second_version, struct os_machine *out) {
  char path[400];
  int length = snprintf(path, sizeof path, "%s%s", mount_point, strcmp(group, "/") == 0 ? "" : group);
  if (length < 0 || (size_t)length >= sizeof path) return;
  size_t root = strlen(mount_point);
  for (;;) { /* the limits of all groups above hold too */
    int64_t available = group_available(path, second_version, &out->group_limit_bytes);
    if (available >= 0 && (uint64_t)available < out->available_bytes) out->available_bytes = (uint64_t)available;
    char *slash = strrchr(path, '/');
    if (!slash || (size_t)(slash - path) < root) return;
    *slash = '\0';
  }
}

static void apply_group_limits(struct os_machine *out) {
  char groups[4096], group[300];
  char *table = procfs_whole("/proc/self/mountinfo"), *rest = table;
  if (procfs_text("/proc/self/cgroup", groups, sizeof groups) < 0) groups[0] = '\0';
  for (struct mount mount; rest && mounts_next(&rest, &mount);) {
    bool second_version = strcmp(mount.type, "cgroup2") == 0;
    bool first_version = strcmp(mount.type, "cgroup") == 0 && strstr(mount.super_options, "memory");
    if (!first_version && !second_version) continue;
    if (group_path(groups, second_version, group, sizeof group)) lower_available(mount.point, group, second_version, out);
  }
  free(table);
}

static void find_memory(struct os_machine *out) {
  char text[4096];
  if (procfs_text("/proc/meminfo", text, sizeof text) < 0) return;
  int64_t total = procfs_field(text, "MemTotal:"), available = procfs_field(text, "MemAvailable:");
  out->memory_bytes = total > 0 ? (uint64_t)total * 1024 : 0;
  out->available_bytes = available > 0 ? (uint64_t)available * 1024 : 0;
  apply_group_limits(out);
  if (out->group_limit_bytes >= out->memory_bytes) out->group_limit_bytes = UINT64_MAX; /* more than there is: none */
}

unsigned os_processors(void) { return count_cpus(); }

uint64_t os_available_bytes(void) {
  struct os_machine facts = {.group_limit_bytes = UINT64_MAX};
  find_memory(&facts);
  return facts.available_bytes;
}

/* ---- reclaim that empties an idle cache ---- */

static void add_words(char *out, size_t size, const char *words) {
  size_t used = strlen(out);
  (void)snprintf(out + used, size - used, "%s%s", used ? "; " : "", words);
}

/* Reads one scheme; true when it pages memory out. `age_us`: how long memory must lie idle, -1 unknown. */
static bool pages_out(const char *context, int64_t scheme, int64_t *age_us) {
  char path[256], action[32];
  (void)snprintf(path, sizeof path, "%s/schemes/%" PRId64 "/action", context, scheme);
  if (procfs_text(path, action, sizeof action) < 0 || strcmp(action, "pageout") != 0) return false;
  (void)snprintf(path, sizeof path, "%s/schemes/%" PRId64 "/access_pattern/age/min", context, scheme);
  int64_t age = procfs_number(path);
  (void)snprintf(path, sizeof path, "%s/monitoring_attrs/intervals/aggr_us", context);
  int64_t interval_us = procfs_number(path);
  if (age < 0 || interval_us < 0 || __builtin_mul_overflow(age, interval_us, age_us)) *age_us = -1;
  return true;
}

static bool context_pages_out(const char *context, int64_t *age_us) {
  char path[256];
  (void)snprintf(path, sizeof path, "%s/schemes/nr_schemes", context);
  int64_t count = procfs_number(path);
  for (int64_t i = 0; i < count; i++) {
    if (pages_out(context, i, age_us)) return true;
  }
  return false;
}

static bool daemon_pages_out(int64_t daemon, int64_t *age_us) {
  char path[128], state[16];
  (void)snprintf(path, sizeof path, DAMON "/%" PRId64 "/state", daemon);
  if (procfs_text(path, state, sizeof state) < 0 || strcmp(state, "on") != 0) return false;
  (void)snprintf(path, sizeof path, DAMON "/%" PRId64 "/contexts/nr_contexts", daemon);
  int64_t count = procfs_number(path);
  for (int64_t i = 0; i < count; i++) {
    (void)snprintf(path, sizeof path, DAMON "/%" PRId64 "/contexts/%" PRId64, daemon, i);
    if (context_pages_out(path, age_us)) return true;
  }
  return false;
}

/* os_list_directory's callback: 1 when this process is a DAMON daemon. */
static int is_daemon(void *context, const char *name) {
  char path[300], command[32];
  if (name[0] < '0' || name[0] > '9') return 0;
  (void)snprintf(path, sizeof path, "/proc/%s/comm", name);
  return procfs_text(path, command, sizeof command) > 0 && strncmp(command, "kdamond.", 8) == 0;
}

static void find_damon(struct os_machine *out) {
  char text[8], words[64];
  int64_t count = procfs_number(DAMON "/nr_kdamonds"), age_us = -1;
  bool found = false;
  for (int64_t i = 0; i < count && !found; i++) found = daemon_pages_out(i, &age_us);
  if (found && age_us >= 0) {
    (void)snprintf(words, sizeof words, "DAMON pages out after %" PRId64 " s idle", age_us / 1000000);
    add_words(out->reclaim, sizeof out->reclaim, words);
  } else if (found) {
    add_words(out->reclaim, sizeof out->reclaim, "DAMON pages out idle memory");
  } else if (count < 0 && os_list_directory("/proc", is_daemon, NULL) == 1) {
    add_words(out->reclaim, sizeof out->reclaim, "DAMON runs (only root may see what it does)");
  }
  if (procfs_text("/sys/module/damon_reclaim/parameters/enabled", text, sizeof text) > 0 && text[0] == 'Y') {
    add_words(out->reclaim, sizeof out->reclaim, "DAMON reclaim");
  }
}

static void find_reclaim(struct os_machine *out) {
  char text[4096];
  find_damon(out);
  if (procfs_text("/proc/swaps", text, sizeof text) > 0 && strstr(text, "/zram")) {
    add_words(out->reclaim, sizeof out->reclaim, "zram swap");
  }
}

/* ---- all of it ---- */

void os_machine(struct os_machine *out) {
  struct utsname names = {0};
  char text[64], kernel[140];
  *out = (struct os_machine){.cpus = count_cpus(), .group_limit_bytes = UINT64_MAX};
  (void)uname(&names);
  copy_text(out->system, sizeof out->system, names.sysname);
  (void)snprintf(kernel, sizeof kernel, "%s %s", names.release, names.machine);
  copy_text(out->kernel, sizeof out->kernel, kernel);
  find_processor(&names, out);
  find_memory(out);
  (void)procfs_text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", out->governor, sizeof out->governor);
  if (procfs_text("/sys/kernel/mm/transparent_hugepage/enabled", text, sizeof text) > 0) {
    procfs_chosen(text, out->huge_pages, sizeof out->huge_pages);
  }
  find_reclaim(out);
}
