/*
 * noise.c - which rounds were not like the others, and why. The rule looks at the control and at what the machine tells of
 * itself, never at the times of samples, and nothing is dropped for it.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/run.h"

const char *const run_noise_words[] = {"control", "steal", "device", "stall", "speed", NULL};

/* Shares of the time of a round. */
#define STEAL_SHARE 0.02
#define STALL_SHARE 0.10
/* A processor below this share of its usual speed is slow; a control must exceed this to count, however even the others are.
 */
#define SPEED_SHARE 0.90
#define CONTROL_LEAST 0.05
/* Three standard deviations, which 1.4826 median distances estimate. */
#define CONTROL_SPREADS (3 * 1.4826)
/* What others may move on the device: journals and logs stay below that. */
#define DEVICE_LEAST (INT64_C(1) << 20)

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Sorts them. 0 of none. */
static double median_of(double *values, size_t count) {
  if (count == 0) return 0;
  qsort(values, count, sizeof *values, ascending);
  return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* ---- the usual ---- */

struct usual {
  double control_ns, control_spread, hz; /* 0: not known */
};

static int find_usual(const struct run *run, struct usual *out) {
  double *values = calloc(RUN_ANCHORS * run->round_count + 1, sizeof *values);
  if (!values) return -ENOMEM;
  size_t count = 0;
  for (size_t i = 0; i < run->round_count; i++)
    for (unsigned a = 0; a < RUN_ANCHORS; a++)
      if (run->rounds[i].anchor_ns[a] > 0) values[count++] = (double)run->rounds[i].anchor_ns[a];
  out->control_ns = median_of(values, count);
  for (size_t i = 0; i < count; i++) values[i] = fabs(values[i] - out->control_ns);
  out->control_spread = median_of(values, count);
  count = 0;
  for (size_t i = 0; i < run->round_count; i++)
    if (run->rounds[i].processor_hz > 0) values[count++] = (double)run->rounds[i].processor_hz;
  out->hz = median_of(values, count);
  free(values);
  return 0;
}

/* ---- one round ---- */

static bool control_is_slow(const struct run_round *round, const struct usual *usual) {
  const double least = CONTROL_LEAST * usual->control_ns, spread = CONTROL_SPREADS * usual->control_spread;
  const double most = usual->control_ns + (spread > least ? spread : least);
  return usual->control_ns > 0 && ((double)round->anchor_ns[RUN_FIRST] > most || (double)round->anchor_ns[RUN_LAST] > most);
}

static double processors(const struct run *run) {
  const char *text = run_fact_text(run, "cpus");
  const double count = text ? (double)strtoul(text, NULL, 10) : 0;
  return count > 0 ? count : 1;
}

/* Our own samples and what prepares them wait for a device everywhere else. */
static bool reads_memory(const struct run *run, const struct run_round *round) {
  const struct plan_demand *demand = &run->plan.groups[round->group].demand;
  return demand->direction == WEIR_READ && demand->cache == PLAN_WARM && !run_fact_text(run, "memory_limit_bytes");
}

static uint32_t judge(const struct run *run, const struct run_round *round, const struct usual *usual) {
  const double elapsed = (double)round->elapsed_ns;
  uint32_t noise = 0;
  if (control_is_slow(round, usual)) noise |= RUN_NOISE_CONTROL;
  if ((double)round->steal_ns > STEAL_SHARE * elapsed * processors(run)) noise |= RUN_NOISE_STEAL;
  if (reads_memory(run, round) && (double)round->io_stall_ns > STALL_SHARE * elapsed) noise |= RUN_NOISE_STALL;
  if (round->processor_hz > 0 && (double)round->processor_hz < SPEED_SHARE * usual->hz) noise |= RUN_NOISE_SPEED;
  return noise;
}

/* ---- what samples saw on the device ---- */

struct place { /* of a round in run->rounds */
  int32_t round;
  uint32_t group;
  size_t index;
};

static int by_place(const void *a, const void *b) {
  const struct place *x = a, *y = b;
  if (x->round != y->round) return x->round < y->round ? -1 : 1;
  return (x->group > y->group) - (x->group < y->group);
}

static bool has_company(const struct sample *sample) {
  if (sample->foreign_bytes < 0) return false;
  const int64_t read = sample->device_read_bytes > 0 ? sample->device_read_bytes : 0;
  const int64_t written = sample->device_write_bytes > 0 ? sample->device_write_bytes : 0;
  return sample->foreign_bytes > DEVICE_LEAST && sample->foreign_bytes / 2 > read / 40 + written / 40;
}

static int judge_devices(const struct run *run, uint32_t *out) {
  struct place *places = calloc(run->round_count + 1, sizeof *places);
  if (!places) return -ENOMEM;
  for (size_t i = 0; i < run->round_count; i++) places[i] = (struct place){run->rounds[i].round, run->rounds[i].group, i};
  qsort(places, run->round_count, sizeof *places, by_place);
  for (size_t i = 0; i < run->sample_count; i++) {
    const struct sample *sample = &run->samples[i];
    if ((sample->flags & RUN_PILOT) || !has_company(sample)) continue;
    const struct place wanted = {sample->round, sample->group, 0};
    const struct place *place = bsearch(&wanted, places, run->round_count, sizeof *places, by_place);
    if (place) out[place->index] |= RUN_NOISE_DEVICE;
  }
  free(places);
  return 0;
}

int run_judge_rounds(const struct run *run, uint32_t *out) {
  struct usual usual;
  const int code = find_usual(run, &usual);
  if (code < 0) return code;
  for (size_t i = 0; i < run->round_count; i++) out[i] = judge(run, &run->rounds[i], &usual);
  return judge_devices(run, out);
}
