/*
 * watch.c - see watch.h. The control is reading a megabyte that lies in memory, and copying it, a few times over: what a
 * cached read is made of. It is no contender and no unit; it only shows whether the machine is still the same one.
 */
#include "measure/watch.h"

#include <string.h>

#define PIECE ((size_t)1 << 20)
#define TIMES 16u /* some milliseconds */

/* ---- the control ---- */

void watch_open(struct watch *watch, const struct measure_options *options) {
  *watch = (struct watch){.options = options, .file = os_no_file};
  bool good = os_memory_file("weir-control", PIECE, &watch->file) == 0 && os_memory_get(PIECE, 0, &watch->data) == 0 &&
              os_memory_get(PIECE, 0, &watch->copy) == 0;
  if (good) {
    memset(watch->data, 1, PIECE);
    memset(watch->copy, 1, PIECE);
    good = os_pwrite_full(watch->file, watch->data, PIECE, 0) == (int64_t)PIECE;
  }
  if (!good) watch_close(watch);
}

void watch_close(struct watch *watch) {
  os_close(watch->file);
  if (watch->data) os_memory_put(watch->data, PIECE);
  if (watch->copy) os_memory_put(watch->copy, PIECE);
  *watch = (struct watch){.options = watch->options, .file = os_no_file};
}

static uint64_t control_ns(const struct watch *watch) {
  if (watch->file == os_no_file) return 0;
  const uint64_t began = os_clock_ns();
  for (unsigned i = 0; i < TIMES; i++) {
    if (os_pread_full(watch->file, watch->data, PIECE, 0) != (int64_t)PIECE) return 0;
    memcpy(watch->copy, watch->data, PIECE);
    (void)*(volatile unsigned char *)watch->copy;
  }
  return os_clock_ns() - began;
}

/* ---- waiting for quiet ---- */

#define LOOK_NS UINT64_C(200000000)
/* Of the time in which we only look: more is somebody's work. */
#define BUSY_SHARE 0.10
#define STEAL_SHARE 0.02
#define STALL_SHARE 0.05

static bool is_above(int64_t before, int64_t after, double share, uint64_t elapsed_ns) {
  return before >= 0 && after >= 0 && (double)(after - before) > share * (double)elapsed_ns;
}

static bool looks_quiet(void) {
  struct os_pressure a, b;
  os_pressure(&a);
  const uint64_t began = os_clock_ns();
  os_sleep_ns(LOOK_NS);
  const uint64_t elapsed = os_clock_ns() - began;
  os_pressure(&b);
  return !is_above(a.busy_ns, b.busy_ns, BUSY_SHARE, elapsed) && !is_above(a.steal_ns, b.steal_ns, STEAL_SHARE, elapsed) &&
         !is_above(a.cpu_stall_ns, b.cpu_stall_ns, STALL_SHARE, elapsed) &&
         !is_above(a.io_stall_ns, b.io_stall_ns, STALL_SHARE, elapsed) &&
         !is_above(a.memory_stall_ns, b.memory_stall_ns, STALL_SHARE, elapsed);
}

/* At most as long as asked, however loud it is: the round is then measured all the same. */
static uint64_t wait_for_quiet(const struct watch *watch) {
  const uint64_t began = os_clock_ns(), cap = watch->options->quiet_wait_ns;
  if (cap == 0) return 0;
  while (!*watch->options->interrupted && !looks_quiet() && os_clock_ns() - began < cap) continue;
  return os_clock_ns() - began;
}

/* ---- a round ---- */

void watch_begin(struct watch *watch, struct run_round *out) {
  out->waited_ns = wait_for_quiet(watch);
  out->anchor_ns[RUN_FIRST] = control_ns(watch);
  os_pressure(&watch->before);
  out->start_ns = os_clock_ns();
}

static int64_t grown(int64_t before, int64_t after) { return before < 0 || after < before ? -1 : after - before; }

void watch_end(const struct watch *watch, struct run_round *out) {
  struct os_pressure after;
  out->elapsed_ns = os_clock_ns() - out->start_ns;
  os_pressure(&after);
  out->steal_ns = grown(watch->before.steal_ns, after.steal_ns);
  out->cpu_stall_ns = grown(watch->before.cpu_stall_ns, after.cpu_stall_ns);
  out->io_stall_ns = grown(watch->before.io_stall_ns, after.io_stall_ns);
  out->memory_stall_ns = grown(watch->before.memory_stall_ns, after.memory_stall_ns);
  out->busy_ns = grown(watch->before.busy_ns, after.busy_ns);
  out->processor_hz = os_processor_hz();
  out->anchor_ns[RUN_LAST] = control_ns(watch);
}
