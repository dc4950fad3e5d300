/*
 * environment.c - the facts beside the numbers: program, machine, places, the user's file; and the warnings that follow
 * from them. A number without its conditions is not a result.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "measure/measure.h"
#include "measure/special.h"
#include "os/os.h"
#include "version.h"

static int text_fact(struct run *run, const char *name, const char *text) {
  return text[0] ? run_add_fact(run, name, text) : 0;
}

/* What the samples will not tell, and why. */
static int counter_facts(struct run *run) {
  char text[160];
  struct os_cycles cycles;
  const int error = os_cycles_start(&cycles);
  os_cycles_stop(&cycles);
  if (error == 0) return run_add_fact(run, "cycles", "counted");
  const char *why = error == -ENOENT || error == -EOPNOTSUPP || error == -ENODEV
                        ? "the machine shows no such counters, as is usual in guests"
                    : error == -EACCES || error == -EPERM ? "not permitted to this user; see kernel.perf_event_paranoid"
                                                          : strerror(-error);
  snprintf(text, sizeof text, "not counted: %s", why);
  return run_add_fact(run, "cycles", text);
}

static int try_counting_calls(void *context) {
  struct os_call_count *count;
  return -os_call_count_start(context, &count);
}

/* There is no way back from counting, so a process that is made for it tries. */
static int call_facts(struct run *run) {
  char text[160];
  unsigned word = 0;
  os_process child;
  struct os_exit end = {.code = EAGAIN};
  if (os_process_fork(try_counting_calls, &word, &child) == 0) (void)os_process_wait(child, UINT64_MAX, &end);
  if (!end.crashed && end.code == 0) return run_add_fact(run, "system_calls", "counted");
  snprintf(text, sizeof text, "not counted: %s", end.crashed ? os_crash_name(end.code) : strerror(end.code));
  return run_add_fact(run, "system_calls", text);
}

static int machine_facts(struct run *run) {
  struct os_machine machine;
  struct os_clock_facts clock;
  os_machine(&machine);
  os_clock_measure(&clock);
  int result = run_add_fact(run, "weir.version", WEIR_VERSION);
  if (result == 0) result = text_fact(run, "system", machine.system);
  if (result == 0) result = text_fact(run, "kernel", machine.kernel);
  if (result == 0) result = text_fact(run, "processor", machine.processor);
  if (result == 0) result = run_add_fact(run, "hypervisor", machine.hypervisor);
  if (result == 0) result = run_add_number(run, "cpus", machine.cpus);
  if (result == 0) result = run_add_number(run, "memory_bytes", (int64_t)machine.memory_bytes);
  if (result == 0) result = run_add_number(run, "available_bytes", (int64_t)machine.available_bytes);
  if (result == 0) result = text_fact(run, "governor", machine.governor);
  if (result == 0) result = text_fact(run, "huge_pages", machine.huge_pages);
  if (result == 0) result = text_fact(run, "reclaim", machine.reclaim);
  if (result == 0) result = text_fact(run, "clock", clock.name);
  if (result == 0) result = text_fact(run, "clock_source", clock.source);
  if (result == 0) result = run_add_number(run, "clock_counter_trusted", clock.counter_trusted);
  if (result == 0) result = run_add_fact(run, "pinning", "none");
  if (result == 0) result = counter_facts(run);
  if (result == 0) result = call_facts(run);
  if (result == 0) result = run_add_number(run, "started_s", (int64_t)(os_wall_ns() / UINT64_C(1000000000)));
  if (machine.governor[0] && strcmp(machine.governor, "performance") != 0)
    run_warn(run, "W02", "cpupower frequency-set -g performance", "the processor's speed is governed by '%s'",
             machine.governor);
  if (machine.hypervisor[0])
    run_warn(run, "W03", "for the disk itself, measure on bare metal or read more than the host's memory",
             "this is a guest (%s): 'guest-cold' data may still be in the host's cache", machine.hypervisor);
  return result;
}

/* ---- places ----------------------------------------------------------------------------------------------------------- */

static int place_text(struct run *run, const char *prefix, const char *name, const char *text) {
  char full[64];
  snprintf(full, sizeof full, "%s.%s", prefix, name);
  return text_fact(run, full, text);
}

static int place_number(struct run *run, const char *prefix, const char *name, int64_t value) {
  char full[64];
  snprintf(full, sizeof full, "%s.%s", prefix, name);
  return run_add_number(run, full, value);
}

/* What stands between the files and a disk of this machine. */
static int special_facts(struct run *run, const char *prefix, const char *path, const struct os_place *place) {
  const char *kind = special_kind(place);
  int result = kind ? place_text(run, prefix, "special", kind) : 0;
  if (kind)
    run_warn(run, "W12", "name a directory on a disk of this machine with --dir",
             "'%.120s' lies on %s (%s): cold, direct and durable end at that file system, so no number here is one of a disk",
             path, kind, place->file_system);
  if (result < 0 || !special_packs(place)) return result;
  run_warn(run, "W13", "mount without compression, or keep to data that do not pack",
           "'%.120s' lies on a file system that compresses (%s): its device moves fewer bytes than a reader gets", path,
           place->file_system);
  return place_number(run, prefix, "packs", 1);
}

static int place_facts(struct run *run, const char *prefix, const char *path) {
  struct os_place place;
  int result = place_text(run, prefix, "path", path);
  if (result < 0 || os_place(path, &place) < 0) return result;
  result = place_text(run, prefix, "file_system", place.file_system);
  if (result == 0) result = place_text(run, prefix, "options", place.options);
  if (result == 0) result = place_text(run, prefix, "mount_point", place.mount_point);
  if (result == 0) result = place_text(run, prefix, "device", place.device);
  if (result == 0) result = place_text(run, prefix, "scheduler", place.scheduler);
  if (result == 0 && place.read_ahead_kib >= 0) result = place_number(run, prefix, "read_ahead_kib", place.read_ahead_kib);
  if (result == 0 && place.rotational >= 0) result = place_number(run, prefix, "rotational", place.rotational);
  if (result == 0) result = place_text(run, prefix, "write_cache", place.write_cache);
  if (result == 0 && place.write_through >= 0) result = place_number(run, prefix, "write_through", place.write_through);
  if (result == 0 && place.loop) result = place_number(run, prefix, "loop", 1);
  if (place.loop)
    run_warn(run, "W21", "losetup --direct-io=on, or name a directory on a disk with --dir",
             "'%.120s' lies on a loop device (%s) whose file this machine caches: cold and device bytes end at that cache",
             path, place.device);
  if (result == 0) result = place_number(run, prefix, "ram_backed", place.ram_backed);
  if (result == 0) result = place_number(run, prefix, "free_bytes", (int64_t)place.free_bytes);
  if (place.ram_backed)
    run_warn(run, "W04", "name a directory on a disk with --dir", "'%.150s' is in memory (%s): nothing here tells of a disk",
             path, place.file_system);
  return result == 0 ? special_facts(run, prefix, path, &place) : result;
}

/* ---- the user's file -------------------------------------------------------------------------------------------------- */

/* The groups work on the beginning of the file, each on as much as its demand says. */
static uint64_t measured_bytes(const struct plan *plan, uint64_t size) {
  uint64_t most = 0;
  for (unsigned g = 0; g < plan->group_count; g++)
    if (plan->groups[g].demand.size_bytes > most) most = plan->groups[g].demand.size_bytes;
  return most < size ? most : size;
}

static int size_facts(struct run *run, const char *path, const struct os_stat *stat, uint64_t measured) {
  char part[UNITS_TEXT_MAX], all[UNITS_TEXT_MAX];
  int result = place_number(run, "file", "size_bytes", (int64_t)stat->size);
  if (result == 0) result = place_number(run, "file", "allocated_bytes", (int64_t)stat->allocated);
  if (result == 0) result = place_number(run, "file", "measured_bytes", (int64_t)measured);
  if (measured < stat->size)
    run_warn(run, "W18", "name more of it with --size", "only the first %s of the %s of '%.120s' are measured",
             units_size_text((double)measured, part), units_size_text((double)stat->size, all), path);
  return result;
}

static int hole_facts(struct run *run, const char *path, const struct os_layout *layout, uint64_t size) {
  char empty[UNITS_TEXT_MAX], all[UNITS_TEXT_MAX];
  uint64_t nowhere = layout->hole_bytes + layout->unwritten_bytes;
  int result = place_number(run, "file", "extents", layout->extents);
  if (result == 0) result = place_number(run, "file", "hole_bytes", (int64_t)layout->hole_bytes);
  if (result == 0) result = place_number(run, "file", "unwritten_bytes", (int64_t)layout->unwritten_bytes);
  if (nowhere > 0)
    run_warn(run, "W14", "measure a copy of it: cp --sparse=never",
             "%s of %s of '%.100s' were never written (holes or unwritten extents): reading them moves nothing from a disk",
             units_size_text((double)nowhere, empty), units_size_text((double)size, all), path);
  return result;
}

static int pack_facts(struct run *run, const char *path, os_file file, uint64_t size) {
  char text[16];
  double ratio;
  int code = special_ratio(file, size, &ratio);
  if (code == -ENOSYS) return run_add_fact(run, "file.compress_ratio", "not looked at: built without zlib");
  if (code < 0) return code == -ENOMEM ? code : 0;
  unsigned hundredths = (unsigned)(ratio * 100 + 0.5);
  snprintf(text, sizeof text, "%u.%02u", hundredths / 100, hundredths % 100);
  int result = run_add_fact(run, "file.compress_ratio", text);
  if (result < 0 || ratio >= SPECIAL_COMPRESSIBLE) return result;
  run_warn(run, "W15", "files that weir makes itself do not pack: leave FILE out",
           "'%.120s' packs to %u %% (zlib): a disk, host or file system that compresses moves fewer bytes than a reader gets",
           path, hundredths);
  return place_number(run, "file", "compressible", 1);
}

static bool fact_says(const struct run *run, const char *name, const char *value) {
  const char *text = run_fact_text(run, name);
  return text && strcmp(text, value) == 0;
}

static int file_facts(struct run *run, const char *path) {
  os_file file;
  struct os_stat stat = {0};
  struct os_layout layout = {0};
  uint64_t size = 0;
  int result = place_facts(run, "file", path);
  if (result < 0 || os_open(path, OS_READ | OS_NO_WAIT, &file) < 0) return result;
  if (os_stat_file(file, &stat) == 0) {
    size = measured_bytes(&run->plan, stat.size);
    result = size_facts(run, path, &stat, size);
  }
  if (result == 0 && os_file_layout(file, size, &layout) == 0) result = hole_facts(run, path, &layout, size);
  bool has_data = layout.hole_bytes + layout.unwritten_bytes < size;
  if (result == 0 && has_data && !fact_says(run, "file.ram_backed", "1")) result = pack_facts(run, path, file, size);
  os_close(file);
  return result;
}

int measure_environment(struct run *run) {
  int result = machine_facts(run);
  char prefix[24];
  for (unsigned i = 0; i < run->plan.place_count && result == 0 && !run->plan.file; i++) {
    snprintf(prefix, sizeof prefix, "place.%u", i);
    result = place_facts(run, prefix, run->plan.places[i]);
  }
  if (result == 0 && run->plan.file) result = file_facts(run, run->plan.file);
  return result;
}
