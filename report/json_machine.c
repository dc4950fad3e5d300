/*
 * json_machine.c - what the machine did, for JSON documents: over all rounds, and round by round. What is not known is null.
 */
#include <stdlib.h>

#include "report/json_parts.h"
#include "report/json_values.h"

static json_t *maybe_value(int64_t count) { return count >= 0 ? json_integer(count) : NULL; }

static json_t *noisy_value(const struct stat_machine *machine) {
  json_t *object = json_object();
  for (unsigned kind = 0; kind < RUN_NOISE_KINDS; kind++)
    value_put(object, run_noise_words[kind], json_integer(machine->noisy_by[kind]));
  return object;
}

json_t *json_machine(const struct stat_machine *machine) {
  if (machine->rounds == 0) return NULL;
  json_t *object = json_object();
  value_put(object, "rounds", json_integer(machine->rounds));
  value_put(object, "noisy_rounds", json_integer(machine->noisy));
  value_put(object, "noisy_by", noisy_value(machine));
  value_put(object, "control_ns", value_positive(machine->control_ns));
  value_put(object, "control_noise", value_known(machine->control_noise));
  value_put(object, "drift", machine->drift_known ? json_real(machine->drift) : NULL);
  value_put(object, "steal", value_known(machine->steal));
  value_put(object, "cpu_stall", value_known(machine->cpu_stall));
  value_put(object, "io_stall", value_known(machine->io_stall));
  value_put(object, "memory_stall", value_known(machine->memory_stall));
  value_put(object, "slowest_hz", value_positive(machine->slowest_hz));
  value_put(object, "fastest_hz", value_positive(machine->fastest_hz));
  value_put(object, "waited_ns", value_known(machine->waited_ns));
  return object;
}

static json_t *words_value(uint32_t noise) {
  json_t *array = json_array();
  for (unsigned kind = 0; kind < RUN_NOISE_KINDS; kind++)
    if (noise >> kind & 1u) (void)json_array_append_new(array, json_string(run_noise_words[kind]));
  return array;
}

static json_t *round_value(const struct run *run, const struct run_round *round, uint32_t noise) {
  json_t *object = json_object(), *control = json_array();
  char *group = run_text_encode(run->plan.groups[round->group].id);
  value_put(object, "group", group ? json_string(group) : NULL);
  free(group);
  value_put(object, "round", json_integer(round->round));
  value_put(object, "start_ns", value_count(round->start_ns));
  value_put(object, "elapsed_ns", value_count(round->elapsed_ns));
  value_put(object, "waited_ns", value_count(round->waited_ns));
  for (unsigned i = 0; i < RUN_ANCHORS; i++) {
    const uint64_t ns = round->anchor_ns[i];
    (void)json_array_append_new(control, ns ? value_count(ns) : json_null());
  }
  value_put(object, "control_ns", control);
  value_put(object, "steal_ns", maybe_value(round->steal_ns));
  value_put(object, "cpu_stall_ns", maybe_value(round->cpu_stall_ns));
  value_put(object, "io_stall_ns", maybe_value(round->io_stall_ns));
  value_put(object, "memory_stall_ns", maybe_value(round->memory_stall_ns));
  value_put(object, "busy_ns", maybe_value(round->busy_ns));
  value_put(object, "processor_hz", maybe_value(round->processor_hz));
  value_put(object, "noisy", words_value(noise));
  return object;
}

json_t *json_time_line(const struct summary *summary) {
  const struct run *run = summary->run;
  json_t *array = json_array();
  for (size_t i = 0; i < run->round_count; i++)
    (void)json_array_append_new(array, round_value(run, &run->rounds[i], summary->noise[i]));
  return array;
}
