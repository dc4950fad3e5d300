/*
 * runfile_fields.c - the tables of the fields of a run file. Names and places only; what a value may be is seen in
 * runread.c.
 */
#include "measure/runfile_fields.h"

#include <assert.h>
#include <string.h>

const struct count_field runfile_sample_counts[] = {
    {"setup_ns", offsetof(struct sample, setup_ns)},
    {"prepare_ns", offsetof(struct sample, prepare_ns)},
    {"cpu_ns", offsetof(struct sample, cpu_ns)},
    {"minor_faults", offsetof(struct sample, minor_faults)},
    {"major_faults", offsetof(struct sample, major_faults)},
    {"voluntary_switches", offsetof(struct sample, voluntary_switches)},
    {"involuntary_switches", offsetof(struct sample, involuntary_switches)},
    {"peak_bytes", offsetof(struct sample, peak_bytes)},
};
const struct count_field runfile_sample_work[] = {
    {"start_ns", offsetof(struct sample, start_ns)},
    {"passes", offsetof(struct sample, passes)},
    {"operations", offsetof(struct sample, operations)},
    {"bytes", offsetof(struct sample, bytes)},
};
const struct count_field runfile_sample_phases[] = {
    {"open_ns", offsetof(struct sample, phase_ns) + RUN_OPEN * sizeof(uint64_t)},
    {"run_ns", offsetof(struct sample, phase_ns) + RUN_RUN * sizeof(uint64_t)},
    {"sync_ns", offsetof(struct sample, phase_ns) + RUN_SYNC * sizeof(uint64_t)},
    {"close_ns", offsetof(struct sample, phase_ns) + RUN_CLOSE * sizeof(uint64_t)},
};
/* int64_t, -1 unknown */
const struct count_field runfile_sample_maybes[] = {
    {"device_read_bytes", offsetof(struct sample, device_read_bytes)},
    {"device_write_bytes", offsetof(struct sample, device_write_bytes)},
    {"flushes", offsetof(struct sample, flushes)},
    {"foreign_bytes", offsetof(struct sample, foreign_bytes)},
    {"steal_ns", offsetof(struct sample, steal_ns)},
    {"cpu_stall_ns", offsetof(struct sample, cpu_stall_ns)},
    {"io_stall_ns", offsetof(struct sample, io_stall_ns)},
    {"memory_stall_ns", offsetof(struct sample, memory_stall_ns)},
};
/* int64_t, -1 unknown, and then they are not written: most samples do not count them */
const struct count_field runfile_sample_rares[] = {
    {"allocations", offsetof(struct sample, allocations)},
    {"allocated_bytes", offsetof(struct sample, allocated_bytes)},
    {"system_calls", offsetof(struct sample, system_calls)},
    {"cycles", offsetof(struct sample, cycles)},
    {"instructions", offsetof(struct sample, instructions)},
    {"cache_before_bytes", offsetof(struct sample, cache_before_bytes)},
    {"cache_after_bytes", offsetof(struct sample, cache_after_bytes)},
    {"victim_bytes", offsetof(struct sample, victim_bytes)},
    {"victim_lost_bytes", offsetof(struct sample, victim_lost_bytes)},
};
const struct count_field runfile_round_counts[] = {
    {"start_ns", offsetof(struct run_round, start_ns)},
    {"elapsed_ns", offsetof(struct run_round, elapsed_ns)},
    {"waited_ns", offsetof(struct run_round, waited_ns)},
    {"anchor_first_ns", offsetof(struct run_round, anchor_ns) + RUN_FIRST * sizeof(uint64_t)},
    {"anchor_last_ns", offsetof(struct run_round, anchor_ns) + RUN_LAST * sizeof(uint64_t)},
};
const struct count_field runfile_round_maybes[] = {
    {"steal_ns", offsetof(struct run_round, steal_ns)},
    {"cpu_stall_ns", offsetof(struct run_round, cpu_stall_ns)},
    {"io_stall_ns", offsetof(struct run_round, io_stall_ns)},
    {"memory_stall_ns", offsetof(struct run_round, memory_stall_ns)},
    {"busy_ns", offsetof(struct run_round, busy_ns)},
    {"processor_hz", offsetof(struct run_round, processor_hz)},
};
const struct count_field runfile_floor_reals[] = {
    {"harness_ns_per_op", offsetof(struct run_floors, harness_ns_per_op)},
    {"harness_latency_ns_per_op", offsetof(struct run_floors, harness_latency_ns_per_op)},
    {"clock_read_ns", offsetof(struct run_floors, clock_read_ns)},
    {"clock_step_ns", offsetof(struct run_floors, clock_step_ns)},
    {"syscall_ns", offsetof(struct run_floors, syscall_ns)},
    {"page_fault_ns", offsetof(struct run_floors, page_fault_ns)},
    {"huge_page_fault_ns", offsetof(struct run_floors, huge_page_fault_ns)},
    {"memcpy_bytes_per_s", offsetof(struct run_floors, memcpy_bytes_per_s)},
    {"scan_bytes_per_s", offsetof(struct run_floors, scan_bytes_per_s)},
};

const struct count_field runfile_limit_reals[] = {
    {"read_bytes_per_s", offsetof(struct run_limits, read_bytes_per_s)},
    {"random_reads_per_s", offsetof(struct run_limits, random_reads_per_s)},
    {"write_bytes_per_s", offsetof(struct run_limits, write_bytes_per_s)},
    {"sync_ns", offsetof(struct run_limits, sync_ns)},
};

/* All enums of a demand are reached as unsigned numbers. */
static_assert(sizeof(enum weir_task) == sizeof(unsigned) && sizeof(enum plan_process) == sizeof(unsigned), "enum size");

void runfile_demand_words(struct word_field out[DEMAND_WORDS]) {
  const struct word_field fields[DEMAND_WORDS] = {
      {"task", plan_task_words, offsetof(struct plan_demand, task)},
      {"direction", plan_direction_words, offsetof(struct plan_demand, direction)},
      {"access", plan_access_words, offsetof(struct plan_demand, access)},
      {"durability", plan_durability_words, offsetof(struct plan_demand, durability)},
      {"target", plan_target_words, offsetof(struct plan_demand, target)},
      {"cache", plan_cache_words, offsetof(struct plan_demand, cache)},
      {"process", plan_process_words, offsetof(struct plan_demand, process)},
      {"consumer", plan_consumer_words, offsetof(struct plan_demand, consumer)},
  };
  memcpy(out, fields, sizeof fields);
}

const char *const runfile_status_words[] = {"ok", "unavailable", "failed", NULL}; /* enum plan_status */
const char *const runfile_sample_status_words[] = {"ok", "failed", NULL};         /* enum run_status */
