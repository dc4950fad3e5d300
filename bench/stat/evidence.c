/*
 * evidence.c - medians over the samples of one cell. What grows with the work is per pass; -1 stands where no sample tells.
 */
#include "stat/evidence.h"

#include "stat/exact.h"
#include "stat/label.h"
#include "stat/limit.h"
#include "stat/machine.h"
#include "stat/paired.h"

/* One reading of a sample, negative when unknown. */
typedef double reading(const struct sample *sample);

static double per_pass(const struct sample *sample, double value) { return value / (double)sample->passes; }
/* Counters that say -1 when the system does not tell. */
static double counted(const struct sample *sample, int64_t value) {
  return value < 0 ? -1 : per_pass(sample, (double)value);
}
static double share(int32_t ppm) { return ppm < 0 ? -1 : ppm / 1e6; }

static double read_open(const struct sample *s) { return per_pass(s, (double)s->phase_ns[RUN_OPEN]); }
static double read_run(const struct sample *s) { return per_pass(s, (double)s->phase_ns[RUN_RUN]); }
static double read_sync(const struct sample *s) { return per_pass(s, (double)s->phase_ns[RUN_SYNC]); }
static double read_close(const struct sample *s) { return per_pass(s, (double)s->phase_ns[RUN_CLOSE]); }
static double read_bytes(const struct sample *s) { return per_pass(s, (double)s->bytes); }
static double read_operations(const struct sample *s) { return per_pass(s, (double)s->operations); }
static double read_items(const struct sample *s) { return per_pass(s, (double)s->items); }
static double read_resident_before(const struct sample *s) { return share(s->resident_before_ppm); }
static double read_resident_after(const struct sample *s) { return share(s->resident_after_ppm); }
static double read_device_read(const struct sample *s) { return counted(s, s->device_read_bytes); }
static double read_device_write(const struct sample *s) { return counted(s, s->device_write_bytes); }
static double read_flushes(const struct sample *s) { return counted(s, s->flushes); }
static double read_cpu(const struct sample *s) { return per_pass(s, (double)s->cpu_ns); }
static double read_minor_faults(const struct sample *s) { return per_pass(s, (double)s->minor_faults); }
static double read_major_faults(const struct sample *s) { return per_pass(s, (double)s->major_faults); }
static double read_cycles(const struct sample *s) { return counted(s, s->cycles); }
static double read_instructions(const struct sample *s) { return counted(s, s->instructions); }
static double read_voluntary(const struct sample *s) { return per_pass(s, (double)s->voluntary_switches); }
static double read_involuntary(const struct sample *s) { return per_pass(s, (double)s->involuntary_switches); }
static double read_cache_before(const struct sample *s) { return (double)s->cache_before_bytes; }
static double read_cache_after(const struct sample *s) { return (double)s->cache_after_bytes; }
static double read_peak(const struct sample *s) { return (double)s->peak_bytes; }
static double read_setup(const struct sample *s) { return (double)s->setup_ns; }

/* The known readings of a cell, sorted, in the scratch of the series. */
static unsigned collect(const struct series *series, unsigned cell, reading *read) {
  unsigned n = 0;
  for (size_t r = 0; r < series->round_count; r++) {
    const struct sample *sample = series_sample(series, cell, r);
    double value = sample ? read(sample) : -1;
    if (value >= 0) series->scratch[n++] = value;
  }
  exact_sort(series->scratch, n);
  return n;
}

static double median(const struct series *series, unsigned cell, reading *read) {
  unsigned n = collect(series, cell, read);
  return n > 0 ? exact_middle(series->scratch, n) : -1;
}

static void fill_medians(const struct series *series, unsigned index, struct stat_cell *cell) {
  static reading *const phases[RUN_PHASES] = {read_open, read_run, read_sync, read_close};
  for (int phase = 0; phase < RUN_PHASES; phase++) cell->phases_ns[phase] = median(series, index, phases[phase]);
  cell->resident_before = median(series, index, read_resident_before);
  cell->resident_after = median(series, index, read_resident_after);
  cell->device_read_bytes = median(series, index, read_device_read);
  cell->device_write_bytes = median(series, index, read_device_write);
  cell->flushes = median(series, index, read_flushes);
  cell->cpu_ns = median(series, index, read_cpu);
  cell->minor_faults = median(series, index, read_minor_faults);
  cell->major_faults = median(series, index, read_major_faults);
  cell->peak_bytes = median(series, index, read_peak);
  cell->setup_ns = median(series, index, read_setup);
  cell->cycles = median(series, index, read_cycles);
  cell->instructions = median(series, index, read_instructions);
  cell->voluntary_switches = median(series, index, read_voluntary);
  cell->involuntary_switches = median(series, index, read_involuntary);
}

/* Not per pass: the passes of a sample find the same cache. */
static void fill_cache(const struct series *series, unsigned index, struct stat_cell *cell) {
  const double before = median(series, index, read_cache_before), after = median(series, index, read_cache_after);
  cell->cache_growth_known = before >= 0 && after >= 0;
  if (cell->cache_growth_known) cell->cache_growth_bytes = after - before;
}

struct stat_interval evidence_resident(const struct series *series) {
  unsigned n = 0;
  for (unsigned c = 0; c < series->cell_count; c++)
    for (size_t r = 0; r < series->round_count; r++) {
      const struct sample *sample = series_sample(series, c, r);
      if (sample && read_resident_before(sample) >= 0) series->scratch[n++] = read_resident_before(sample);
    }
  if (n == 0) return (struct stat_interval){.known = false};
  exact_sort(series->scratch, n);
  return (struct stat_interval){exact_middle(series->scratch, n), series->scratch[0], series->scratch[n - 1], true};
}

/* The pilot of a writer is verified; its sample tells what was in the cache when the file was read back. */
static bool is_read_back(const struct series *series, const struct sample *sample) {
  return sample->group == series->group && (sample->flags & RUN_PILOT) && sample->status == RUN_OK &&
         !(sample->flags & RUN_PARTIAL) && sample->resident_after_ppm >= 0 && sample->resident_after_ppm < LABEL_COLD_PPM;
}

unsigned evidence_read_back(const struct series *series) {
  unsigned count = 0;
  for (size_t i = 0; i < series->run->sample_count && series->plan->demand.direction == WEIR_WRITE; i++)
    count += is_read_back(series, &series->run->samples[i]);
  return count;
}

/* ---- what the pilot counted ---- */

static bool is_pilot(const struct series *series, unsigned index, const struct sample *sample) {
  return sample->group == series->group && sample->cell == index && (sample->flags & RUN_PILOT) && sample->status == RUN_OK &&
         !(sample->flags & RUN_PARTIAL) && sample->passes > 0;
}

/* Of the size that was measured: the pilot may have tried a larger file than there was time for. */
static void take_allocations(const struct sample *sample, double bytes, struct stat_cell *cell) {
  if (sample->allocations < 0 || sample->allocated_bytes < 0 || read_bytes(sample) != bytes) return;
  cell->allocations = (double)sample->allocations;
  cell->allocated_bytes = (double)sample->allocated_bytes;
}

/* With requests of a fixed size the calls grow with the bytes. */
static void take_calls(const struct series *series, const struct sample *sample, double bytes, struct stat_cell *cell) {
  const enum weir_task task = series->plan->demand.task;
  const bool grows = task != WEIR_TASK_WHOLE && !weir_task_streams(task) && sample->bytes > 0 && bytes > 0;
  if (sample->system_calls < 0 || (!grows && read_bytes(sample) != bytes)) return;
  cell->system_calls = (double)sample->system_calls * (grows ? bytes / read_bytes(sample) : 1);
}

static void take_victim(const struct sample *sample, struct stat_cell *cell) {
  if (sample->victim_bytes <= 0 || sample->victim_lost_bytes < 0) return;
  cell->evicted_share = (double)sample->victim_lost_bytes / (double)sample->victim_bytes;
}

static void fill_pilot(const struct series *series, unsigned index, struct stat_cell *cell) {
  const double bytes = median(series, index, read_bytes);
  cell->allocations = cell->allocated_bytes = cell->system_calls = cell->evicted_share = -1;
  for (size_t i = 0; i < series->run->sample_count; i++) {
    const struct sample *sample = &series->run->samples[i];
    if (!is_pilot(series, index, sample)) continue;
    take_allocations(sample, bytes, cell);
    take_calls(series, sample, bytes, cell);
    take_victim(sample, cell);
  }
}

void evidence_fill(const struct series *series, unsigned index, struct stat_cell *cell) {
  fill_medians(series, index, cell);
  fill_pilot(series, index, cell);
  fill_cache(series, index, cell);
  cell->cpu_ns_per_byte = -1;
  cell->n = collect(series, index, sample_elapsed_ns);
  if (cell->n == 0) return;
  cell->elapsed_ns = paired_interval(series->scratch, cell->n, exact_interval_rank(cell->n, PAIRED_LEVEL));
  if (cell->plan->capabilities & WEIR_CAP_FLOOR) return; /* it moved nothing: no rate, no label */
  cell->bytes_per_s = median(series, index, read_bytes) / cell->elapsed_ns.median * 1e9;
  const double bytes = median(series, index, read_bytes);
  if (bytes > 0 && cell->cpu_ns >= 0) cell->cpu_ns_per_byte = cell->cpu_ns / bytes;
  cell->operations_per_s = median(series, index, read_operations) / cell->elapsed_ns.median * 1e9;
  cell->items_per_s = median(series, index, read_items) / cell->elapsed_ns.median * 1e9;
  label_cell(series, index, cell->label);
  limit_fill(series, index, cell);
  machine_steadiness(series, index, cell);
}
