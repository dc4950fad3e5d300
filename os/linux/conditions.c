/*
 * conditions.c - how quiet and how even the machine is: speed that changes, cores that are shared, others that work, memory
 * that is moved away. What cannot be found out stays unknown.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>

#include "os/linux/calls.h"
#include "os/linux/procfs.h"

#define CPUS "/sys/devices/system/cpu/"
#define ASK_PERSONALITY 0xffffffffUL

/* ---- processor ---- */

/* Intel's driver tells what is off, the others what is on. */
static int find_boost(void) {
  int64_t off = procfs_number(CPUS "intel_pstate/no_turbo");
  if (off >= 0) return off == 0;
  int64_t on = procfs_number(CPUS "cpufreq/boost");
  return on < 0 ? -1 : on != 0;
}

/* "0-3,8": how many. -1 for what is no such list. */
static int64_t count_list(const char *path) {
  char text[512];
  int64_t count = 0;
  if (procfs_text(path, text, sizeof text) < 0) return -1;
  for (char *at = text, *end; *at; at = end + (*end == ',')) {
    unsigned long first = strtoul(at, &end, 10), last = first;
    if (end == at) return -1;
    if (*end == '-') last = strtoul(end + 1, &end, 10);
    if (last < first || (*end != '\0' && *end != ',')) return -1;
    count += (int64_t)(last - first) + 1;
  }
  return count;
}

static void find_processors(struct os_conditions *out) {
  out->boost = find_boost();
  out->siblings = (int)procfs_number(CPUS "smt/active");
  out->throttled = procfs_number(CPUS "cpu0/thermal_throttle/package_throttle_count");
  out->online_cpus = count_list(CPUS "online");
  out->nodes = count_list("/sys/devices/system/node/online");
  if (procfs_text(CPUS "isolated", out->isolated, sizeof out->isolated) < 0) out->isolated[0] = '\0';
}

/* ---- others ---- */

/* "1.25 ..." -> 125 */
static int64_t hundredths(const char *text) {
  char *end;
  unsigned long whole = strtoul(text, &end, 10);
  if (end == text) return -1;
  unsigned long part = 0;
  if (*end == '.' && end[1] >= '0' && end[1] <= '9') {
    part = (unsigned long)(end[1] - '0') * 10;
    if (end[2] >= '0' && end[2] <= '9') part += (unsigned long)(end[2] - '0');
  }
  return (int64_t)(whole * 100 + part);
}

/* some avg10=1.25 avg60=... */
static int64_t waiting(const char *path) {
  char text[256];
  if (procfs_text(path, text, sizeof text) < 0) return -1;
  const char *average = strstr(text, "some avg10=");
  return average ? hundredths(average + strlen("some avg10=")) : -1;
}

static void find_others(struct os_conditions *out) {
  char text[128];
  out->load_hundredths = procfs_text("/proc/loadavg", text, sizeof text) < 0 ? -1 : hundredths(text);
  out->cpu_waits_hundredths = waiting("/proc/pressure/cpu");
  out->io_waits_hundredths = waiting("/proc/pressure/io");
  out->memory_waits_hundredths = waiting("/proc/pressure/memory");
}

/* ---- memory ---- */

static int64_t kib_field(const char *text, const char *key) {
  int64_t kib = procfs_field(text, key);
  return kib < 0 ? -1 : kib * 1024;
}

/* A limit in bytes counts before one in percent of what is available. */
static int64_t write_back_start(int64_t available) {
  int64_t bytes = procfs_number("/proc/sys/vm/dirty_background_bytes");
  if (bytes > 0) return bytes;
  int64_t percent = procfs_number("/proc/sys/vm/dirty_background_ratio");
  return percent < 0 || available < 0 ? -1 : available / 100 * percent;
}

static void find_memory(struct os_conditions *out) {
  char text[4096], word[8];
  int64_t free_swap = -1, available = -1;
  if (procfs_text("/proc/meminfo", text, sizeof text) >= 0) {
    out->swap_bytes = kib_field(text, "SwapTotal:");
    free_swap = kib_field(text, "SwapFree:");
    available = kib_field(text, "MemAvailable:");
  }
  if (out->swap_bytes >= 0 && free_swap >= 0) out->swap_used_bytes = out->swap_bytes - free_swap;
  out->swappiness = procfs_number("/proc/sys/vm/swappiness");
  if (procfs_text("/sys/module/zswap/parameters/enabled", word, sizeof word) >= 0) out->packed_swap = word[0] == 'Y';
  out->write_back_bytes = write_back_start(available);
}

/* ---- this process ---- */

static int find_layout(void) {
  int process = personality(ASK_PERSONALITY);
  if (process >= 0 && (process & ADDR_NO_RANDOMIZE)) return 0;
  return (int)procfs_number("/proc/sys/kernel/randomize_va_space");
}

static bool is_there(const char *path) {
  char byte[2];
  return procfs_text(path, byte, sizeof byte) >= 0;
}

static void find_container(char *out, size_t size) {
  static const char *const words[] = {"docker", "kubepods", "containerd", "lxc", "libpod"};
  char groups[4096];
  if (procfs_text("/run/systemd/container", out, size) > 0) return;
  out[0] = '\0';
  if (is_there("/.dockerenv")) (void)snprintf(out, size, "docker");
  if (!out[0] && is_there("/run/.containerenv")) (void)snprintf(out, size, "podman");
  if (out[0] || procfs_text("/proc/1/cgroup", groups, sizeof groups) < 0) return;
  for (size_t i = 0; i < sizeof words / sizeof *words && !out[0]; i++)
    if (strstr(groups, words[i])) (void)snprintf(out, size, "%s", words[i]);
}

void os_conditions(struct os_conditions *out) {
  *out = (struct os_conditions){.swap_bytes = -1, .swap_used_bytes = -1, .packed_swap = -1};
  find_processors(out);
  find_others(out);
  find_memory(out);
  out->random_layout = find_layout();
  out->counters_level = procfs_number("/proc/sys/kernel/perf_event_paranoid");
  find_container(out->container, sizeof out->container);
}
