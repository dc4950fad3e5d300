/*
 * made_run.h - runs made by hand for the tests of the stat stage: one group, cells m0, m1 ..., times as the test says.
 */
#ifndef WEIR_MADE_RUN_H
#define WEIR_MADE_RUN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stat/summary.h"

#define MADE_BYTES UINT64_C(1048576)

static inline char *made_text(const char *text) {
  char *copy = malloc(strlen(text) + 1);
  if (!copy) abort();
  return strcpy(copy, text);
}

static inline void *made_room(size_t count, size_t size) {
  void *room = calloc(count, size);
  if (!room) abort();
  return room;
}

/* A run of one group with `cells` available cells; warm sequential reads, margin 3 %, baseline m0. */
static inline struct run made_run(unsigned cells) {
  struct run run = {.plan = {.margin = 0.03, .group_count = 1}};
  run.plan.suite = made_text("");
  struct plan_group *group = run.plan.groups = made_room(1, sizeof *group);
  *group = (struct plan_group){.id = made_text("g"), .title = made_text("made"), .cell_count = cells, .passes = 1};
  group->demand = (struct plan_demand){.consumer = WEIR_CONSUMER_TOUCH, .size_bytes = MADE_BYTES, .coverage = 1};
  group->cells = made_room(cells + 1, sizeof *group->cells);
  for (unsigned c = 0; c < cells; c++) {
    struct plan_cell *cell = &group->cells[c];
    snprintf(cell->method, sizeof cell->method, "m/%u", c);
    cell->id = made_text(cell->method);
    cell->threads = 1;
  }
  return run;
}

static inline struct plan_cell *made_cell(struct run *run, unsigned cell) { return &run->plan.groups[0].cells[cell]; }

/* Makes the last cell the twin of cell `of`. */
static inline void made_twin(struct run *run, unsigned of) {
  struct plan_group *group = &run->plan.groups[0];
  struct plan_cell *twin = &group->cells[group->cell_count - 1];
  memcpy(twin->method, group->cells[of].method, sizeof twin->method);
  twin->twin = true;
}

/* A warm sample of one pass that takes `elapsed_ns`, nearly all of it in the run phase. */
static inline struct sample made_sample(unsigned cell, int round, double elapsed_ns) {
  struct sample sample = {.cell = cell, .round = round, .predecessor = -1, .passes = 1, .operations = 16};
  uint64_t total_ns = (uint64_t)(elapsed_ns + 0.5);
  sample.bytes = MADE_BYTES;
  sample.phase_ns[RUN_OPEN] = total_ns > 1000 ? 1000 : 0;
  sample.phase_ns[RUN_RUN] = total_ns - sample.phase_ns[RUN_OPEN];
  sample.cpu_ns = total_ns;
  sample.peak_bytes = 4096;
  sample.resident_before_ppm = sample.resident_after_ppm = 1000000;
  sample.device_write_bytes = sample.flushes = sample.foreign_bytes = sample.steal_ns = -1;
  return sample;
}

static inline void made_add(struct run *run, struct sample sample) {
  if (run_add_sample(run, &sample) != 0) abort();
}

static inline void made_time(struct run *run, unsigned cell, int round, double elapsed_ns) {
  made_add(run, made_sample(cell, round, elapsed_ns));
}

static inline struct summary made_summary(const struct run *run) {
  struct summary summary;
  if (stat_summarize(run, &summary) != 0) abort();
  return summary;
}

#endif
