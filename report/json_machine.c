/*
 * json_machine.c - what the machine did, for JSON documents: over all rounds, and round by round. What is not known is null.
 */
#include <stdlib.h>

#include "report/json_parts.h"

static void put(json_t *object, const char *key, json_t *value) {
  (void)json_object_set_new_nocheck(object, key, value ? value : json_null());
}

static json_t *known_value(double number) { return number >= 0 ? json_real(number) : NULL; }
static json_t *positive_value(double number) { return number > 0 ? json_real(number) : NULL; }
static json_t *count_value(uint64_t count) { return json_integer((json_int_t)(count <= INT64_MAX ? count : INT64_MAX)); }
static json_t *maybe_value(int64_t count) { return count >= 0 ? json_integer(count) : NULL; }

static json_t *noisy_value(const struct stat_machine *machine) {
  json_t *object = json_object();
  for (unsigned kind = 0; kind < RUN_NOISE_KINDS; kind++)
    put(object, run_noise_words[kind], json_integer(machine->noisy_by[kind]));
  return object;
}

json_t *json_machine(const struct stat_machine *machine) {
  if (machine->rounds == 0) return NULL;
  json_t *object = json_object();
  put(object, "rounds", json_integer(machine->rounds));
  put(object, "noisy_rounds", json_integer(machine->noisy));
  put(object, "noisy_by", noisy_value(machine));
  put(object, "control_ns", positive_value(machine->control_ns));
  put(object, "control_noise", known_value(machine->control_noise));
  put(object, "drift", machine->drift_known ? json_real(machine->drift) : NULL);
  put(object, "steal", known_value(machine->steal));
  put(object, "cpu_stall", known_value(machine->cpu_stall));
  put(object, "io_stall", known_value(machine->io_stall));
  put(object, "memory_stall", known_value(machine->memory_stall));
  put(object, "slowest_hz", positive_value(machine->slowest_hz));
  put(object, "fastest_hz", positive_value(machine->fastest_hz));
  put(object, "waited_ns", known_value(machine->waited_ns));
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
  put(object, "group", group ? json_string(group) : NULL);
  free(group);
  put(object, "round", json_integer(round->round));
  put(object, "start_ns", count_value(round->start_ns));
  put(object, "elapsed_ns", count_value(round->elapsed_ns));
  put(object, "waited_ns", count_value(round->waited_ns));
  for (unsigned i = 0; i < RUN_ANCHORS; i++) {
    const uint64_t ns = round->anchor_ns[i];
    (void)json_array_append_new(control, ns ? count_value(ns) : json_null());
  }
  put(object, "control_ns", control);
  put(object, "steal_ns", maybe_value(round->steal_ns));
  put(object, "cpu_stall_ns", maybe_value(round->cpu_stall_ns));
  put(object, "io_stall_ns", maybe_value(round->io_stall_ns));
  put(object, "memory_stall_ns", maybe_value(round->memory_stall_ns));
  put(object, "busy_ns", maybe_value(round->busy_ns));
  put(object, "processor_hz", maybe_value(round->processor_hz));
  put(object, "noisy", words_value(noise));
  return object;
}

json_t *json_time_line(const struct summary *summary) {
  const struct run *run = summary->run;
  json_t *array = json_array();
  for (size_t i = 0; i < run->round_count; i++)
    (void)json_array_append_new(array, round_value(run, &run->rounds[i], summary->noise[i]));
  return array;
}
