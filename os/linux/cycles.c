/*
 * cycles.c - what the processor counts of this process: cycles and instructions, in the kernel too. Nothing where the
 * machine shows no such counters or the user may not look at them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <unistd.h>

#include "os/linux/calls.h"

static int open_counter(uint64_t what) {
  struct perf_event_attr attributes = {
      .type = PERF_TYPE_HARDWARE,
      .size = sizeof attributes,
      .config = what,
      .inherit = 1, /* threads that are started later */
      .exclude_hv = 1,
      .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
  };
  int fd = sys(perf_event_open)(&attributes);
  return fd < 0 ? -errno : call_above_standard(fd);
}

int os_cycles_start(struct os_cycles *out) {
  *out = (struct os_cycles){os_no_file, os_no_file};
  const int cycles = open_counter(PERF_COUNT_HW_CPU_CYCLES);
  if (cycles < 0) return cycles;
  const int instructions = open_counter(PERF_COUNT_HW_INSTRUCTIONS);
  if (instructions < 0) {
    (void)sys(close)(cycles);
    return instructions;
  }
  *out = (struct os_cycles){cycles, instructions};
  return 0;
}

/* Where there are more events than counters the kernel lets them take turns: what was seen stands for all of the time. */
static int64_t read_counter(os_file file) {
  struct {
    uint64_t value, enabled, running;
  } seen;
  if (file == os_no_file || os_read(file, &seen, sizeof seen) != (int64_t)sizeof seen) return -1;
  if (seen.running == seen.enabled) return (int64_t)seen.value;
  return seen.running == 0 ? -1 : (int64_t)((double)seen.value / (double)seen.running * (double)seen.enabled);
}

void os_cycles_read(const struct os_cycles *counters, int64_t *cycles, int64_t *instructions) {
  *cycles = read_counter(counters->cycles);
  *instructions = read_counter(counters->instructions);
}

void os_cycles_stop(struct os_cycles *counters) {
  (void)os_close(counters->cycles);
  (void)os_close(counters->instructions);
  *counters = (struct os_cycles){os_no_file, os_no_file};
}
