/*
 * counters.c - what the kernel counted: of this process, of a device, of the machine's stalls. Totals; callers subtract.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "os/linux/calls.h"
#include "os/linux/procfs.h"

static uint64_t status_bytes(const char *field) {
  char text[4096];
  int64_t kib = procfs_text("/proc/self/status", text, sizeof text) < 0 ? -1 : procfs_field(text, field);
  return kib >= 0 ? (uint64_t)kib * 1024 : 0;
}

uint64_t os_resident_bytes(void) { return status_bytes("VmRSS:"); }
/* Not ru_maxrss: that lives on over fork and exec and cannot be set back. */
uint64_t os_peak_bytes(void) { return status_bytes("VmHWM:"); }
int os_peak_reset(void) { return procfs_write("/proc/self/clear_refs", "5"); }

int64_t os_storage_read_bytes(void) {
  char text[512];
  return procfs_text("/proc/self/io", text, sizeof text) < 0 ? -1 : procfs_field(text, "read_bytes:");
}

void os_usage(struct os_usage *out) {
  struct rusage usage = {0};
  struct timespec cpu = {0};
  (void)getrusage(RUSAGE_SELF, &usage);
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
  *out = (struct os_usage){
      .cpu_ns = (uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec,
      .minor_faults = (uint64_t)usage.ru_minflt,
      .major_faults = (uint64_t)usage.ru_majflt,
      .voluntary_switches = (uint64_t)usage.ru_nvcsw,
      .involuntary_switches = (uint64_t)usage.ru_nivcsw,
  };
}

static uint64_t time_ns(struct timeval time) { return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u; }

void os_usage_add_children(struct os_usage *out) {
  struct rusage usage = {0};
  (void)getrusage(RUSAGE_CHILDREN, &usage);
  out->cpu_ns += time_ns(usage.ru_utime) + time_ns(usage.ru_stime);
  out->minor_faults += (uint64_t)usage.ru_minflt;
  out->major_faults += (uint64_t)usage.ru_majflt;
  out->voluntary_switches += (uint64_t)usage.ru_nvcsw;
  out->involuntary_switches += (uint64_t)usage.ru_nivcsw;
}

uint64_t os_children_peak_bytes(void) {
  struct rusage usage = {0};
  (void)getrusage(RUSAGE_CHILDREN, &usage);
  return (uint64_t)usage.ru_maxrss * 1024;
}

/* ---- devices ---- */

/* Fields of a block device's stat file, in its order. A sector is 512 bytes here, whatever the device says. */
enum { STAT_READ_SECTORS = 2, STAT_WRITE_SECTORS = 6, STAT_FLUSHES = 15, STAT_FIELDS = 17 };

static int read_stat(const char *path, uint64_t fields[STAT_FIELDS], unsigned *count) {
  char text[512];
  if (procfs_text(path, text, sizeof text) < 0) return -ENODEV;
  char *at = text, *end;
  for (*count = 0; *count < STAT_FIELDS; ++*count, at = end) {
    fields[*count] = strtoull(at, &end, 10);
    if (end == at) break;
  }
  return *count > STAT_WRITE_SECTORS ? 0 : -ENODEV;
}

/* Flushes are counted for whole disks only. */
static void read_flushes(const char *device, struct os_device_counters *out) {
  char path[128];
  uint64_t fields[STAT_FIELDS];
  unsigned count;
  (void)snprintf(path, sizeof path, "%s/partition", device);
  bool partition = procfs_number(path) > 0;
  (void)snprintf(path, sizeof path, partition ? "%s/../stat" : "%s/stat", device);
  out->flushes_known = read_stat(path, fields, &count) == 0 && count > STAT_FLUSHES;
  if (out->flushes_known) out->flushes = fields[STAT_FLUSHES];
}

int os_device_counters(uint64_t device, struct os_device_counters *out) {
  char directory[64], path[80];
  uint64_t fields[STAT_FIELDS];
  unsigned count;
  *out = (struct os_device_counters){0};
  if (major(device) == 0) return -ENODEV; /* made-up numbers of file systems without one device */
  (void)snprintf(directory, sizeof directory, "/sys/dev/block/%u:%u", major(device), minor(device));
  (void)snprintf(path, sizeof path, "%s/stat", directory);
  int error = read_stat(path, fields, &count);
  if (error) return error;
  out->read_bytes = fields[STAT_READ_SECTORS] * 512;
  out->write_bytes = fields[STAT_WRITE_SECTORS] * 512;
  read_flushes(directory, out);
  return 0;
}

/* ---- stalls ---- */

/* cpu user nice system idle iowait irq softirq steal ..., in clock ticks */
static void read_times(struct os_pressure *out) {
  char text[1024];
  unsigned long long user, nice, system, irq, soft, steal;
  const long ticks = sysconf(_SC_CLK_TCK);
  if (ticks <= 0 || procfs_text("/proc/stat", text, sizeof text) < 0) return;
  if (sscanf(text, "cpu %llu %llu %llu %*u %*u %llu %llu %llu", &user, &nice, &system, &irq, &soft, &steal) != 6) return;
  const unsigned long long tick_ns = 1000000000ull / (unsigned long long)ticks;
  out->steal_ns = (int64_t)(steal * tick_ns);
  out->busy_ns = (int64_t)((user + nice + system + irq + soft) * tick_ns);
}

/* some avg10=0.00 avg60=0.00 avg300=0.00 total=MICROSECONDS */
static int64_t stall_ns(const char *path) {
  char text[256];
  if (procfs_text(path, text, sizeof text) < 0) return -1;
  const char *total = strstr(text, "total=");
  return total ? (int64_t)strtoull(total + 6, NULL, 10) * 1000 : -1;
}

void os_pressure(struct os_pressure *out) {
  *out = (struct os_pressure){
      .steal_ns = -1,
      .busy_ns = -1,
      .cpu_stall_ns = stall_ns("/proc/pressure/cpu"),
      .io_stall_ns = stall_ns("/proc/pressure/io"),
      .memory_stall_ns = stall_ns("/proc/pressure/memory"),
  };
  read_times(out);
}

/* Not from /proc/cpuinfo: on large machines that wakes every processor. */
int64_t os_processor_hz(void) {
  char path[96];
  const int cpu = sched_getcpu();
  (void)snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", cpu);
  const int64_t khz = cpu < 0 ? -1 : procfs_number(path);
  return khz > 0 ? khz * 1000 : -1;
}
