/* victim.c - see victim.h. It lies in the first place; small beside what is measured, beside the memory and beside the disk.
 */
#include "measure/victim.h"

#include <stdlib.h>

#include "measure/sampler.h"

#define VICTIM_MOST (UINT64_C(32) << 20)
#define VICTIM_LEAST (UINT64_C(256) << 10)

static uint64_t least_of(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* As large as the largest file that is measured, and an eighth of the memory and of the free room at most. */
static uint64_t size_of(const struct sampler *sampler) {
  const struct plan *plan = &sampler->run->plan;
  struct os_place place;
  uint64_t largest = 0, memory = os_available_bytes();
  if (sampler->scratch.count == 0 || plan->file || os_place(plan->places[0], &place) < 0 || place.ram_backed) return 0;
  for (unsigned g = 0; g < plan->group_count; g++)
    if (plan->groups[g].demand.size_bytes > largest) largest = plan->groups[g].demand.size_bytes;
  if (sampler->options->memory_limit) memory = least_of(memory, sampler->options->memory_limit);
  return least_of(least_of(VICTIM_MOST, largest), least_of(memory, place.free_bytes) / 8);
}

static void make(struct victim *victim, const struct sampler *sampler) {
  victim->refused = true;
  victim->size = size_of(sampler);
  if (victim->size < VICTIM_LEAST) return;
  victim->path = scratch_path(sampler->scratch.paths[0], "victim");
  if (!victim->path) return;
  if (layout_write(victim->path, victim->size, &sampler->content, sampler->options->interrupted) == 0) return;
  os_remove(victim->path);
  free(victim->path);
  victim->path = NULL;
}

static int64_t cached(const struct victim *victim, bool fill) {
  os_file file;
  struct os_cache state;
  if (!victim->path || os_open(victim->path, OS_READ, &file) < 0) return -1;
  int result = os_cache_state(file, 0, victim->size, &state);
  if (result == 0 && fill && state.cached_bytes < victim->size) {
    result = layout_read_through(file, victim->size);
    if (result == 0) result = os_cache_state(file, 0, victim->size, &state);
  }
  os_close(file);
  return result < 0 ? -1 : (int64_t)state.cached_bytes;
}

int64_t victim_ready(struct victim *victim, const struct sampler *sampler) {
  if (!victim->refused) make(victim, sampler);
  return cached(victim, true);
}

int64_t victim_lost(const struct victim *victim, int64_t before) {
  const int64_t after = cached(victim, false);
  return after < 0 ? -1 : after < before ? before - after : 0;
}

void victim_release(struct victim *victim) {
  if (victim->path) os_remove(victim->path);
  free(victim->path);
  *victim = (struct victim){.refused = true};
}
