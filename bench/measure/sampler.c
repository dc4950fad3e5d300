/*
 * sampler.c - taking one sample. All that happens here is outside the timed window; it is shown as prepare_ns.
 */
#include "measure/sampler.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/units.h"
#include "measure/cells.h"

#define SECOND UINT64_C(1000000000)
/* A worker gets this long before it is told to stop, and this long again before it is killed. */
#define HANG_NS (120 * SECOND)
#define GRACE_NS (10 * SECOND)

/* ---- opening -------------------------------------------------------------------------------------------------------- */

static int share_order(struct sampler *sampler) {
  void *order;
  int result = os_memory_file("weir-order", sizeof *sampler->order, &sampler->order_file);
  if (result < 0) return result;
  result = os_map(sampler->order_file, sizeof *sampler->order, OS_MAP_WRITE, &order);
  if (result == 0) sampler->order = order;
  return result;
}

int sampler_open(struct sampler *sampler, struct run *run, const struct measure_options *options, struct weir_reason *problem) {
  *sampler = (struct sampler){.run = run, .options = options, .order_file = os_no_file, .plan_file = os_no_file,
                              .scratch = {.lifeline = os_no_file}, .plan_is_stale = true};
  const struct plan *plan = &run->plan;
  bool scratch_needed = !plan->file || plan->flush == PLAN_FLUSH_FILE;
  int result = scratch_open(&sampler->scratch, plan->places, scratch_needed ? plan->place_count : 0, problem);
  if (result == 0) result = content_init(&sampler->content, plan->seed);
  if (result == 0) result = share_order(sampler);
  sampler->scene = (struct worker_scene){run, &sampler->content, sampler->scratch.lifeline};
  if (result == 0) result = sampler_layout(sampler, problem);
  if (result < 0 && result != -EINTR && !problem->text[0])
    snprintf(problem->text, sizeof problem->text, "%s", strerror(-result));
  if (result < 0) sampler_close(sampler);
  return result;
}

int sampler_layout(struct sampler *sampler, struct weir_reason *problem) {
  sampler->sum_count = 0;
  sampler->plan_is_stale = true;
  return layout_update(&sampler->layout, sampler->run, &sampler->scratch, &sampler->content, sampler->options, problem);
}

void sampler_close(struct sampler *sampler) {
  layout_release(&sampler->layout);
  scratch_close(&sampler->scratch);
  content_free(&sampler->content);
  if (sampler->order) os_unmap(sampler->order, sizeof *sampler->order);
  os_close(sampler->order_file);
  os_close(sampler->plan_file);
  free(sampler->sums);
  *sampler = (struct sampler){.order_file = os_no_file, .plan_file = os_no_file, .scratch = {.lifeline = os_no_file}};
}

/* ---- the file's state ------------------------------------------------------------------------------------------------ */

static bool writes(const struct plan_demand *demand) { return demand->direction == WEIR_WRITE; }

/* A target that was there before: full size, every block written. */
static int restore_target(struct sampler *sampler, struct layout_file *file) {
  struct os_stat stat;
  if (os_stat_path(file->path, &stat) == 0 && stat.size == file->size) return 0;
  return layout_write(file->path, file->size, &sampler->content, sampler->options->interrupted);
}

static int allocate_target(const struct layout_file *file, struct sample *out) {
  os_file handle;
  os_remove(file->path);
  int result = os_open(file->path, OS_WRITE | OS_CREATE | OS_EXCLUSIVE, &handle);
  if (result < 0) return result;
  result = os_allocate(handle, file->size);
  if (result == 0) result = os_sync(handle, true);
  os_close(handle);
  if (result == -EOPNOTSUPP) snprintf(out->reason, sizeof out->reason, "the file system cannot preallocate");
  return result;
}

static int make_state(struct sampler *sampler, const struct plan_demand *demand, struct layout_file *file) {
  if (demand->cache == PLAN_WARM) return layout_make_warm(file);
  struct layout_file *flush_file = layout_flush_file(&sampler->layout, file->place);
  return layout_make_cold(file, sampler->run->plan.flush, flush_file);
}

/* Returns flags, or a negative errno value. */
static int prepare(struct sampler *sampler, const struct sampler_wish *wish, struct layout_file *file, struct sample *out) {
  const struct plan_demand *demand = &sampler->run->plan.groups[wish->group].demand;
  if (!writes(demand)) return wish->keep_state ? 0 : make_state(sampler, demand, file);
  if (demand->target == WEIR_TARGET_PREALLOCATED) return allocate_target(file, out);
  if (demand->target == WEIR_TARGET_NEW) {
    int gone = os_remove(file->path);
    return gone == -ENOENT ? 0 : gone;
  }
  int result = restore_target(sampler, file);
  if (result < 0 || demand->target == WEIR_TARGET_TRUNCATE || wish->keep_state) return result;
  return make_state(sampler, demand, file);
}

/* ---- what a pass should deliver --------------------------------------------------------------------------------------- */

static int expect(struct sampler *sampler, const struct sampler_wish *wish) {
  struct worker_order *order = sampler->order;
  const struct plan_group *group = &sampler->run->plan.groups[wish->group];
  const struct plan_cell *cell = &group->cells[wish->cell];
  order->check = !writes(&group->demand) && order->consumer != WEIR_CONSUMER_NONE;
  if (!order->check || (cell->capabilities & WEIR_CAP_FLOOR)) return 0;
  bool any_block =
      group->demand.access == WEIR_SEQUENTIAL && order->consumer != WEIR_CONSUMER_HASH && group->pass_bytes == 0;
  struct sampler_sum want = {wish->group, order->consumer == WEIR_CONSUMER_HASH, any_block ? 0 : cell->threads,
                             any_block ? 0 : cell_block(group, cell), 0};
  for (unsigned i = 0; i < sampler->sum_count; i++) {
    const struct sampler_sum *known = &sampler->sums[i];
    if (known->group != want.group || known->consumer != want.consumer || known->threads != want.threads ||
        known->block != want.block)
      continue;
    order->expected = known->sum;
    return 0;
  }
  int result = worker_expected(&sampler->scene, order, &want.sum);
  if (result < 0) return result;
  struct sampler_sum *sums = realloc(sampler->sums, (sampler->sum_count + 1) * sizeof *sums);
  if (!sums) return -ENOMEM;
  sampler->sums = sums;
  sums[sampler->sum_count++] = want;
  order->expected = want.sum;
  return 0;
}

/* A verified pass compares all that readers deliver, and has writers write what can be compared. Floors have no data. */
static enum weir_consumer consumer_of(const struct sampler_wish *wish, const struct plan_group *group) {
  enum weir_consumer consumer = group->demand.consumer;
  if (!wish->verify || (group->cells[wish->cell].capabilities & WEIR_CAP_FLOOR)) return consumer;
  if (!writes(&group->demand)) return WEIR_CONSUMER_VERIFY;
  return consumer == WEIR_CONSUMER_NONE ? WEIR_CONSUMER_TOUCH : consumer;
}

static int write_order(struct sampler *sampler, const struct sampler_wish *wish, const struct layout_file *file) {
  struct worker_order *order = sampler->order;
  const struct plan_group *group = &sampler->run->plan.groups[wish->group];
  if (strlen(file->path) >= sizeof order->path || strlen(file->directory) >= sizeof order->directory) return -ENAMETOOLONG;
  memset(order, 0, sizeof *order);
  strcpy(order->path, file->path);
  strcpy(order->directory, file->directory);
  order->group = wish->group;
  order->cell = wish->cell;
  order->passes = group->passes && !wish->verify ? group->passes : 1;
  order->consumer = consumer_of(wish, group);
  order->own_content = file->role != LAYOUT_USER;
  order->content_seed = sampler->content.seed;
  if (writes(&group->demand)) order->content_seed = random_mix(sampler->content.seed ^ ++sampler->writes);
  order->probe = wish->probe;
  order->warm_up = !wish->verify;
  order->device = file->device;
  return expect(sampler, wish);
}

/* ---- running the worker ------------------------------------------------------------------------------------------------ */

static int forked_worker(void *context) {
  struct sampler *sampler = context;
  os_process_follow_parent();
  os_process_shield();
  return worker_body(&sampler->scene, sampler->order);
}

/* A newly executed worker reads the plan from a file in memory, as `weir report` reads it from a run file. */
static int publish_plan(struct sampler *sampler) {
  if (!sampler->plan_is_stale && sampler->plan_file != os_no_file) return 0;
  char *text = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);
  if (!stream) return -ENOMEM;
  run_write_header(sampler->run, stream);
  run_write_found(sampler->run, stream);
  int result = fclose(stream) == 0 ? 0 : -ENOMEM;
  os_close(sampler->plan_file);
  sampler->plan_file = os_no_file;
  if (result == 0) result = os_memory_file("weir-plan", size, &sampler->plan_file);
  if (result == 0 && os_pwrite_full(sampler->plan_file, text, size, 0) != (int64_t)size) result = -EIO;
  free(text);
  sampler->plan_is_stale = result < 0;
  return result;
}

static int start_worker(struct sampler *sampler, const struct plan_group *group, os_process *worker) {
  if (group->demand.process == PLAN_SAME) return os_process_fork(forked_worker, sampler, worker);
  int result = publish_plan(sampler);
  if (result < 0) return result;
  char self[WORKER_PATH_MAX];
  result = os_self_path(self, sizeof self);
  if (result < 0) return result;
  const char *const arguments[] = {self, "__worker", NULL};
  const os_file keep[] = {sampler->plan_file, sampler->order_file};
  return os_process_spawn(arguments, keep, 2, worker);
}

/* Waits, passing on interrupts and caps. *killed: it did not stop when told to. */
static int await_worker(struct sampler *sampler, os_process worker, uint64_t cap_ns, struct os_exit *end, bool *killed) {
  volatile int *interrupted = sampler->options->interrupted;
  uint64_t stop_at = os_clock_ns() + (cap_ns ? cap_ns : HANG_NS), kill_at = UINT64_MAX;
  *killed = false;
  for (;;) {
    uint64_t now = os_clock_ns();
    uint64_t slice = stop_at > now && stop_at - now < SECOND / 20 ? stop_at - now : SECOND / 20;
    int result = os_process_wait(worker, slice, end);
    if (result != -ETIMEDOUT) return result;
    now = os_clock_ns();
    bool wanted = now >= stop_at || (interrupted && *interrupted > 0);
    if (wanted && kill_at == UINT64_MAX) {
      atomic_store(&sampler->order->stop, 1);
      kill_at = now + GRACE_NS;
    }
    if (now < kill_at && !(interrupted && *interrupted > 1)) continue;
    os_process_kill(worker);
    *killed = true;
  }
}

/* ---- the record --------------------------------------------------------------------------------------------------------- */

static void fail_sample(struct sample *out, const char *text) {
  out->status = RUN_FAILED;
  if (!out->reason[0]) snprintf(out->reason, sizeof out->reason, "%s", text);
}

static void judge(struct sampler *sampler, const struct os_exit *end, bool killed, struct sample *out) {
  const struct worker_order *order = sampler->order;
  char text[128];
  enum worker_outcome outcome = (enum worker_outcome)atomic_load(&order->outcome);
  volatile int *interrupted = sampler->options->interrupted;
  if (killed && interrupted && *interrupted > 0) {
    out->flags |= RUN_PARTIAL;
  } else if (killed) {
    fail_sample(out, "did not end, and not when told to");
  } else if (end->crashed) {
    snprintf(text, sizeof text, "crashed with %s", os_crash_name(end->code));
    fail_sample(out, text);
  } else if (outcome == WORKER_FAILED) {
    fail_sample(out, order->reason.text);
  } else if (outcome != WORKER_DONE) {
    fail_sample(out, "ended without a result");
  }
}

static void take_record(const struct worker_order *order, struct sample *out) {
  struct sample got = order->sample;
  got.group = out->group;
  got.cell = out->cell;
  got.round = out->round;
  got.position = out->position;
  got.predecessor = out->predecessor;
  got.flags |= out->flags;
  got.resident_before_ppm = out->resident_before_ppm;
  got.resident_after_ppm = -1;
  got.status = RUN_OK;
  got.reason[0] = '\0';
  *out = got;
}

/* Writers in the pilot: what is on the device, or at least no longer in the cache, is what was handed over. */
static void read_back(struct sampler *sampler, struct layout_file *file, struct sample *out) {
  const struct plan_group *group = &sampler->run->plan.groups[out->group];
  const struct content content = {sampler->order->content_seed, sampler->content.pool};
  os_file handle;
  void *data;
  const size_t piece = 1024 * 1024;
  struct os_stat stat;
  if (group->pass_bytes != 0 || (group->demand.access == WEIR_RANDOM && group->demand.coverage < 1)) return;
  if (os_stat_path(file->path, &stat) == 0 && stat.size != file->size) fail_sample(out, "wrong data: the file has not the right size");
  if (os_memory_get(piece, 0, &data) < 0) return;
  if (os_open(file->path, OS_READ, &handle) == 0) {
    os_cache_evict(handle, 0, file->size);
    for (uint64_t at = 0; at < file->size; at += piece) {
      size_t length = file->size - at < piece ? (size_t)(file->size - at) : piece;
      int64_t got = os_pread_full(handle, data, length, at);
      if (got == (int64_t)length && content_mismatch(&content, at, data, length) == length) continue;
      char text[128];
      size_t good = got > 0 ? content_mismatch(&content, at, data, (size_t)got) : 0;
      snprintf(text, sizeof text, "wrong data: read back, the byte at offset %llu is not what was written",
               (unsigned long long)(at + good));
      fail_sample(out, text);
      break;
    }
    os_close(handle);
  }
  os_memory_put(data, piece);
}

static bool too_big(const struct plan_group *group, const struct plan_cell *cell, struct weir_reason *reason) {
  struct os_machine machine;
  char a[UNITS_TEXT_MAX], b[UNITS_TEXT_MAX];
  os_machine(&machine);
  uint64_t need = cell_memory(group, cell);
  if (machine.available_bytes == 0 || need <= machine.available_bytes / 2) return false;
  snprintf(reason->text, sizeof reason->text, "its buffers need %s; half of the free memory is %s",
           units_size_text((double)need, a), units_size_text((double)machine.available_bytes / 2, b));
  snprintf(reason->remedy, sizeof reason->remedy, "choose a smaller block, depth or size");
  return true;
}

/* Wash-out: what a writer left to the system is done before anything else is measured. */
static void wash_out(struct sampler *sampler, const struct sampler_wish *wish, struct layout_file *file, struct sample *out) {
  out->resident_after_ppm = layout_resident_ppm(file);
  if (!writes(&sampler->run->plan.groups[wish->group].demand)) return;
  int flags = layout_settle(file);
  if (flags > 0) out->flags |= (uint32_t)flags;
}

static int run_worker(struct sampler *sampler, const struct sampler_wish *wish, struct sample *out, struct weir_reason *unavailable) {
  const struct plan_group *group = &sampler->run->plan.groups[wish->group];
  os_process worker;
  struct os_exit end;
  bool killed;
  int result = start_worker(sampler, group, &worker);
  if (result < 0) return result;
  result = await_worker(sampler, worker, wish->cap_ns, &end, &killed);
  if (result < 0) return result;
  take_record(sampler->order, out);
  if (atomic_load(&sampler->order->outcome) == WORKER_UNAVAILABLE && !end.crashed && !killed)
    *unavailable = sampler->order->reason;
  else
    judge(sampler, &end, killed, out);
  return 0;
}

int sampler_take(struct sampler *sampler, const struct sampler_wish *wish, struct sample *out, struct weir_reason *unavailable) {
  const struct plan *plan = &sampler->run->plan;
  const struct plan_group *group = &plan->groups[wish->group];
  struct layout_file *file = layout_find(&sampler->layout, plan, wish->group, wish->cell);
  uint64_t began = os_clock_ns();
  *unavailable = (struct weir_reason){0};
  *out = (struct sample){.group = wish->group, .cell = wish->cell, .round = wish->round, .position = wish->position,
                         .predecessor = wish->predecessor, .flags = wish->flags, .resident_before_ppm = -1};
  if (!file) return -ENOENT;
  if (wish->probe && too_big(group, &group->cells[wish->cell], unavailable)) return 0;
  int result = write_order(sampler, wish, file);
  if (result < 0) return result;
  result = prepare(sampler, wish, file, out);
  if (result == -EINTR) return result;
  if (result < 0) fail_sample(out, strerror(-result));
  if (result < 0) return 0;
  out->flags |= (uint32_t)result;
  out->resident_before_ppm = layout_resident_ppm(file);
  uint64_t prepared = os_clock_ns();
  result = run_worker(sampler, wish, out, unavailable);
  if (result < 0 || unavailable->text[0]) return result;
  uint64_t ended = os_clock_ns();
  wash_out(sampler, wish, file, out);
  out->prepare_ns = prepared - began + (os_clock_ns() - ended);
  bool complete = out->status == RUN_OK && !(out->flags & RUN_PARTIAL);
  bool floor = group->cells[wish->cell].capabilities & WEIR_CAP_FLOOR;
  if (wish->verify && complete && !floor && writes(&group->demand)) read_back(sampler, file, out);
  return 0;
}
