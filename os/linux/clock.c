/*
 * clock.c - time. The fast clock is the processor's counter, used only where the kernel itself counts with it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "os/linux/calls.h"
#include "os/linux/procfs.h"

#define CLOCK_SOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define BATCHES 31u
#define BATCH_READS 1000u        /* 31 x 1000 reads of 20 to 60 ns: one or two ms */
#define CALIBRATION_NS 10000000u /* a pair of reads is good to about 50 ns: 10 ms give 5 parts in a million */
#define CALIBRATION_PAIRS 16
#define SHIFT 32

#if defined(__SIZEOF_INT128__)
__extension__ typedef unsigned __int128 wide;
#else
typedef uint64_t wide; /* wide enough: the counter is trusted on 64-bit processors only */
#endif

static uint64_t read_clock(clockid_t id) {
  struct timespec now;
  (void)clock_gettime(id, &now); /* cannot fail for the clocks used here */
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t os_clock_ns(void) { return read_clock(CLOCK_MONOTONIC); }
uint64_t os_wall_ns(void) { return read_clock(CLOCK_REALTIME); }

void os_sleep_ns(uint64_t ns) {
  uint64_t until, now = os_clock_ns();
  if (__builtin_add_overflow(now, ns, &until)) until = UINT64_MAX;
  struct timespec end = {.tv_sec = (time_t)(until / 1000000000u), .tv_nsec = (long)(until % 1000000000u)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR) continue;
}

/* ---- facts ---- */

/* The kernel keeps `tsc` only while it finds it constant; the flags say that it neither changes its rate nor sleeps. */
static bool counter_trusted(const char *source) {
#if defined(__x86_64__)
  char text[16384], flags[4096];
  if (strcmp(source, "tsc") != 0 || procfs_text("/proc/cpuinfo", text, sizeof text) < 0) return false;
  return procfs_line(text, "flags", flags, sizeof flags) && procfs_has_word(flags, "constant_tsc") &&
         procfs_has_word(flags, "nonstop_tsc");
#else
  (void)source;
  return false;
#endif
}

static uint64_t smallest_step(void) {
  uint64_t smallest = UINT64_MAX, before = os_clock_ns();
  for (unsigned i = 0; i < BATCHES * BATCH_READS || smallest == UINT64_MAX; i++) {
    uint64_t now = os_clock_ns();
    if (now != before && now - before < smallest) smallest = now - before;
    before = now;
  }
  return smallest;
}

static int by_value(const void *left, const void *right) {
  uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return (a > b) - (a < b);
}

static double median_read_ns(void) {
  uint64_t batches[BATCHES];
  for (unsigned batch = 0; batch < BATCHES; batch++) {
    uint64_t begin = os_clock_ns();
    for (unsigned i = 0; i < BATCH_READS - 1; i++) (void)os_clock_ns();
    batches[batch] = os_clock_ns() - begin;
  }
  qsort(batches, BATCHES, sizeof batches[0], by_value);
  return (double)batches[BATCHES / 2] / BATCH_READS;
}

void os_clock_measure(struct os_clock_facts *out) {
  *out = (struct os_clock_facts){.name = "monotonic"};
  (void)procfs_text(CLOCK_SOURCE, out->source, sizeof out->source);
  out->counter_trusted = counter_trusted(out->source);
  out->step_ns = (double)smallest_step();
  out->read_ns = median_read_ns();
}

/* ---- the fast clock ---- */

enum { FAST_UNKNOWN, FAST_CALIBRATING, FAST_COUNTER, FAST_SYSTEM };

/* Written once by whoever moves `state` from unknown, published by its release store, never changed after. */
static struct {
  atomic_int state;
  uint64_t ticks, ns; /* one moment in both */
  uint64_t scale;     /* nanoseconds a tick, times 2^SHIFT */
} fast;

static inline uint64_t counter(void) {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return 0;
#endif
}

struct moment {
  uint64_t ticks, ns;
};

/* The closest pair of some: an interrupt between the reads spoils one, not all. */
static struct moment read_pair(void) {
  struct moment best = {0};
  uint64_t closest = UINT64_MAX;
  for (int i = 0; i < CALIBRATION_PAIRS; i++) {
    uint64_t before = counter(), ns = os_clock_ns(), after = counter();
    if (after - before >= closest) continue;
    closest = after - before;
    best = (struct moment){.ticks = before + closest / 2, .ns = ns};
  }
  return best;
}

static int calibrate(void) {
  char source[32];
  (void)procfs_text(CLOCK_SOURCE, source, sizeof source);
  if (!counter_trusted(source)) return FAST_SYSTEM;
  struct moment first = read_pair();
  os_sleep_ns(CALIBRATION_NS);
  struct moment second = read_pair();
  if (second.ticks <= first.ticks || second.ns <= first.ns) return FAST_SYSTEM;
  fast.ticks = second.ticks;
  fast.ns = second.ns;
  fast.scale = (uint64_t)(((wide)(second.ns - first.ns) << SHIFT) / (second.ticks - first.ticks));
  return fast.scale ? FAST_COUNTER : FAST_SYSTEM;
}

int os_fast_clock_start(void) {
  int state = FAST_UNKNOWN;
  if (atomic_compare_exchange_strong(&fast.state, &state, FAST_CALIBRATING)) {
    atomic_store_explicit(&fast.state, calibrate(), memory_order_release);
    return 0;
  }
  while (atomic_load_explicit(&fast.state, memory_order_acquire) == FAST_CALIBRATING) (void)sched_yield();
  return 0;
}

uint64_t os_fast_clock_ns(void) {
  if (atomic_load_explicit(&fast.state, memory_order_acquire) != FAST_COUNTER) return os_clock_ns();
  uint64_t ticks = counter();
  if (ticks < fast.ticks) return fast.ns; /* another core's counter may lag by a hair */
  return fast.ns + (uint64_t)(((wide)(ticks - fast.ticks) * fast.scale) >> SHIFT);
}
