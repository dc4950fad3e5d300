/*
 * label.c - names what a number is, from the evidence beside it: a claim of the plan ("cold") that the evidence does not
 * bear out is not repeated here.
 */
#include "stat/label.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Parts per million of the file in the page cache. */
#define WARM_PPM 990000
/* Share of the delivered bytes that the device must have moved for a number to be the device's. */
#define DEVICE_SHARE 0.99

static void add_word(char out[64], const char *word) {
  size_t used = strlen(out);
  snprintf(out + used, 64 - used, "%s%s", used ? "+" : "", word);
}

static bool fact_is_positive(const struct run *run, const char *name) {
  const char *text = run_fact_text(run, name);
  return text && strtoll(text, NULL, 10) > 0;
}

static bool is_guest(const struct run *run) {
  const char *text = run_fact_text(run, "hypervisor");
  return text && *text;
}

/* The fact of this name about the user's file, or about the place where the cell's file lies: of members the first one that
 * has it, since what is true of one of them is true of the time of all. `value`: only if it is this; NULL: any. */
static const char *place_fact(const struct series *series, unsigned cell, const char *name, const char *value) {
  const unsigned members = series->plan->demand.members;
  const char *found = NULL;
  char full[48];
  for (unsigned m = 0; m < (members ? members : 1) && !found; m++) {
    snprintf(full, sizeof full, "file.%s", name);
    if (!series->run->plan.file) snprintf(full, sizeof full, "place.%u.%s", series->plan->cells[cell].place + m, name);
    found = run_fact_text(series->run, full);
    if (found && value && strcmp(found, value) != 0) found = NULL;
  }
  return found;
}

static bool place_is(const struct series *series, unsigned cell, const char *name) {
  return place_fact(series, cell, name, "1") != NULL;
}

bool label_ram_backed(const struct series *series, unsigned cell) { return place_is(series, cell, "ram_backed"); }

/* What stands between the file and a disk: whatever the cache and the counters say, they say it of that. */
static void label_place(const struct series *series, unsigned cell, char out[64]) {
  const char *special = place_fact(series, cell, "special", NULL);
  if (place_is(series, cell, "packs")) add_word(out, "compressing");
  if (special) add_word(out, special);
  if (place_is(series, cell, "loop")) add_word(out, "loop");
}

/* ---- readers ------------------------------------------------------------------------------------------------------- */

/* Both halves are needed: where the pages were before, and what the device had to move. */
enum label_source label_source(const struct sample *sample) {
  const double pass_bytes = sample->passes ? (double)sample->bytes / (double)sample->passes : 0;
  if (sample->resident_before_ppm < 0 || sample->device_read_bytes < 0) return LABEL_UNKNOWN;
  if (sample->resident_before_ppm >= WARM_PPM) return sample->device_read_bytes == 0 ? LABEL_CACHE : LABEL_BOTH;
  if (sample->resident_before_ppm >= LABEL_COLD_PPM) return LABEL_BOTH;
  return (double)sample->device_read_bytes >= DEVICE_SHARE * pass_bytes ? LABEL_DEVICE : LABEL_BOTH;
}

/* One sample that is not known makes the cell unknown; samples that disagree make it mixed. */
static enum label_source source_of_all(const struct series *series, unsigned cell) {
  enum label_source all = LABEL_UNKNOWN;
  bool first = true;
  for (size_t r = 0; r < series->round_count; r++) {
    const struct sample *sample = series_sample(series, cell, r);
    if (!sample) continue;
    enum label_source source = label_source(sample);
    if (source == LABEL_UNKNOWN) return LABEL_UNKNOWN;
    all = first || source == all ? source : LABEL_BOTH;
    first = false;
  }
  return all;
}

static void label_reader(const struct series *series, unsigned cell, char out[64]) {
  const struct run *run = series->run;
  const char *const words[] = {
      [LABEL_UNKNOWN] = "unknown",
      [LABEL_CACHE] = "warm",
      [LABEL_DEVICE] = is_guest(run) ? "guest-cold" : "cold",
      [LABEL_BOTH] = "mixed",
  };
  add_word(out, label_ram_backed(series, cell) ? "ram-backed" : words[source_of_all(series, cell)]);
  if (run->plan.file && fact_is_positive(run, "file.hole_bytes")) add_word(out, "holes");
  if (run->plan.file && fact_is_positive(run, "file.unwritten_bytes")) add_word(out, "unwritten");
  if (run->plan.file && fact_is_positive(run, "file.compressible")) add_word(out, "compressible");
}

/* ---- writers ------------------------------------------------------------------------------------------------------- */

static uint64_t in_flight(const struct plan_cell *cell) {
  uint64_t depth = 1;
  for (unsigned i = 0; i < cell->param_count && (cell->capabilities & WEIR_CAP_DEPTH); i++)
    if (strcmp(cell->params[i].name, "depth") == 0 && cell->params[i].value > 0) depth = cell->params[i].value;
  return depth * (cell->threads ? cell->threads : 1);
}

/*
 * Flushes that durability takes at least. A device may answer all that wait at the same time with one, and no counter shows
 * a write that is durable by itself (FUA): too few are then a doubt, not a proof.
 */
static uint64_t flushes_needed(const struct series *series, unsigned cell, const struct sample *sample) {
  if (series->plan->demand.durability != WEIR_DURABILITY_EACH) return sample->passes;
  uint64_t needed = sample->operations / in_flight(&series->plan->cells[cell]);
  return needed ? needed : 1;
}

/* A device without a cache of its own needs none; one that writes single requests through may have done so unseen. */
static const char *no_flush_word(const struct series *series, unsigned cell) {
  if (place_fact(series, cell, "write_cache", "write through")) return "no-flush-needed";
  const bool each = series->plan->demand.durability == WEIR_DURABILITY_EACH;
  return each && place_is(series, cell, "write_through") ? "no-flush-seen" : "not-durable";
}

/* Judged by the majority of samples; one that cannot tell makes the cell unknown. */
static const char *flush_word(const struct series *series, unsigned cell) {
  unsigned enough = 0, few = 0, none = 0;
  for (size_t r = 0; r < series->round_count; r++) {
    const struct sample *sample = series_sample(series, cell, r);
    if (!sample) continue;
    if (sample->flushes < 0) return "unknown";
    if (sample->flushes == 0)
      none++;
    else if ((uint64_t)sample->flushes < flushes_needed(series, cell, sample))
      few++;
    else
      enough++;
  }
  if (enough > few + none) return "durable";
  return none > few ? no_flush_word(series, cell) : "few-flushes-seen";
}

static void label_writer(const struct series *series, unsigned cell, char out[64]) {
  if (label_ram_backed(series, cell)) {
    add_word(out, "ram-backed");
  } else if (series->plan->demand.durability == WEIR_DURABILITY_NONE) {
    add_word(out, "not-durable");
  } else {
    add_word(out, flush_word(series, cell));
  }
}

static bool has_samples(const struct series *series, unsigned cell) {
  for (size_t r = 0; r < series->round_count; r++) {
    if (series_sample(series, cell, r)) return true;
  }
  return false;
}

void label_cell(const struct series *series, unsigned cell, char out[64]) {
  out[0] = '\0';
  if (!has_samples(series, cell)) return;
  if (series->plan->demand.direction == WEIR_READ) {
    label_reader(series, cell, out);
    if (series->plan->cells[cell].capabilities & WEIR_CAP_OUTSIDE) add_word(out, "exec"); /* its bytes were not seen */
  } else {
    label_writer(series, cell, out);
  }
  label_place(series, cell, out);
}
