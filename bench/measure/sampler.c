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
#include "measure/readback.h"

#define SECOND UINT64_C(1000000000)
/* A worker gets this long, and twice what a round of its group costs, before it is told to stop, and this long again before it is killed. */
#define HANG_NS (120 * SECOND)
#define GRACE_NS (10 * SECOND)

/* No bytes to compare: nothing is moved, or not before our eyes. */
#define UNSEEN ((uint32_t)WEIR_CAP_FLOOR | WEIR_CAP_OUTSIDE)

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
  sampler->scene = (struct worker_scene){.run = run, .content = &sampler->content, .prepare = options->prepare,
                                         .janitor = sampler->scratch.lifeline};
  if (result == 0) result = sampler_layout(sampler, problem);
  if (result < 0 && result != -EINTR && !problem->text[0])
    snprintf(problem->text, sizeof problem->text, "the run cannot be prepared: %s", strerror(-result));
  if (result < 0) sampler_close(sampler);
  return result;
}

static void forget_streams(struct sampler *sampler) {
  for (unsigned i = 0; i < sampler->stream_count; i++) reference_free(&sampler->streams[i].reference);
  sampler->stream_count = 0;
}

/* Made streams end with a whole record. */
static int settle_sizes(struct sampler *sampler) {
  struct plan *plan = &sampler->run->plan;
  int code = 0;
  for (unsigned g = 0; g < plan->group_count && code == 0 && !plan->file; g++) {
    const struct plan_demand *demand = &plan->groups[g].demand;
    if (!weir_task_streams(demand->task)) continue;
    const uint64_t size = made_size(demand, sampler->content.seed);
    if (size != demand->size_bytes) code = plan_resize(&plan->groups[g], size);
  }
  return code;
}

int sampler_layout(struct sampler *sampler, struct weir_reason *problem) {
  forget_streams(sampler);
  const int code = settle_sizes(sampler);
  if (code < 0) return code;
  sampler->sum_count = 0;
  sampler->plan_is_stale = true;
  return layout_update(&sampler->layout, sampler->run, &sampler->scratch, &sampler->content, sampler->options, problem);
}

void sampler_close(struct sampler *sampler) {
  layout_release(&sampler->layout);
  victim_release(&sampler->victim);
  int left = scratch_close(&sampler->scratch);
  if (left < 0)
    run_warn(sampler->run, "W11", "remove it by hand, or let the next run there do it",
             "a directory '" SCRATCH_PREFIX "...' could not be removed: %s", strerror(-left));
  content_free(&sampler->content);
  if (sampler->order) os_unmap(sampler->order, sizeof *sampler->order);
  os_close(sampler->order_file);
  os_close(sampler->plan_file);
  free(sampler->sums);
  forget_streams(sampler);
  free(sampler->streams);
  *sampler = (struct sampler){.order_file = os_no_file, .plan_file = os_no_file, .scratch = {.lifeline = os_no_file}};
}

/* ---- the file's state ------------------------------------------------------------------------------------------------ */

static bool writes(const struct plan_demand *demand) { return demand->direction != WEIR_READ; }
static bool reads(const struct plan_demand *demand) { return demand->direction != WEIR_WRITE; }

/* What one cell works on: a file, or one for each member of a striped demand. */
struct files {
  unsigned count;
  struct layout_file *list[PLAN_MEMBERS_MAX];
};

static bool find_files(struct sampler *sampler, const struct sampler_wish *wish, struct files *out) {
  const struct plan *plan = &sampler->run->plan;
  const unsigned members = plan->groups[wish->group].demand.members;
  out->count = members ? members : 1;
  for (unsigned i = 0; i < out->count; i++) {
    out->list[i] = layout_find(&sampler->layout, plan, wish->group, wish->cell, i);
    if (!out->list[i]) return false;
  }
  return true;
}

/* Of all files together, each by its size; -1 when the system does not tell it of one. */
static int32_t resident_ppm(const struct files *files) {
  double sum = 0, size = 0;
  for (unsigned i = 0; i < files->count; i++) {
    const int32_t ppm = layout_resident_ppm(files->list[i]);
    if (ppm < 0) return -1;
    sum += (double)ppm * (double)files->list[i]->size;
    size += (double)files->list[i]->size;
  }
  return size > 0 ? (int32_t)(sum / size) : layout_resident_ppm(files->list[0]);
}

/* What files, and the copies that were made of them, have in the cache; -1 when the system does not tell it of one. */
static int64_t cached_bytes(const struct files *files, int32_t ppm) {
  double size = 0;
  int64_t copied = 0;
  for (unsigned i = 0; i < files->count; i++) {
    struct os_stat stat;
    const int64_t copies = layout_copies_cached(files->list[i]);
    if (copies < 0) return -1;
    copied += copies;
    if (os_stat_path(files->list[i]->path, &stat) != -ENOENT) size += (double)files->list[i]->size;
  }
  if (size > 0 && ppm < 0) return -1;
  return copied + (int64_t)(size * ppm / 1e6);
}

/* A target that was there before: full size, every block written. */
static int restore_target(struct sampler *sampler, struct layout_file *file) {
  struct os_stat stat;
  if (file->is_whole && os_stat_path(file->path, &stat) == 0 && stat.size == file->size) return 0;
  const struct content content = content_of_member(&sampler->content, file->member);
  int result = layout_write(file->path, file->size, &content, sampler->options->interrupted);
  file->is_whole = result == 0;
  return result;
}

/* Writers of streams: what lies there when they begin is something else. */
static int restore_stream_target(struct sampler *sampler, struct layout_file *file) {
  const int code = layout_write(file->path, file->size, &sampler->content, sampler->options->interrupted);
  file->is_whole = false;
  return code;
}

static int allocate_target(struct layout_file *file) {
  os_file handle;
  file->is_whole = false;
  os_remove(file->path);
  int result = os_open(file->path, OS_WRITE | OS_CREATE | OS_EXCLUSIVE, &handle);
  if (result < 0) return result;
  result = os_allocate(handle, file->size);
  if (result == 0) result = os_sync(handle, true);
  os_close(handle);
  return result;
}

/* What the user asked for and this machine, file system or user may not: a row with its reason, not a wrong answer. */
static bool cannot_prepare(const struct sampler *sampler, const struct sampler_wish *wish, int error,
                           struct weir_reason *unavailable) {
  const struct plan_demand *demand = &sampler->run->plan.groups[wish->group].demand;
  bool allocates = writes(demand) && demand->target == WEIR_TARGET_PREALLOCATED;
  if (error != -EPERM && error != -EACCES && error != -EOPNOTSUPP) return false;
  snprintf(unavailable->text, sizeof unavailable->text, "%s: %s",
           allocates                       ? "the file system cannot preallocate"
           : demand->cache == PLAN_COLD    ? "the file cannot be made cold"
                                           : "the file cannot be made warm",
           strerror(-error));
  snprintf(unavailable->remedy, sizeof unavailable->remedy, "%s",
           allocates                                       ? "use --target=new, or another file system with --dir"
           : sampler->run->plan.flush == PLAN_FLUSH_DROP   ? "--flush=drop needs root; --flush=dontneed does not"
                                                           : "use a file that you may read and own");
  return true;
}

static int make_state(struct sampler *sampler, const struct plan_demand *demand, struct layout_file *file) {
  if (demand->cache == PLAN_WARM) return layout_make_warm(file);
  struct layout_file *flush_file = layout_flush_file(&sampler->layout, file);
  return layout_make_cold(file, sampler->run->plan.flush, flush_file);
}

/* Returns flags, or a negative errno value. */
static int prepare(struct sampler *sampler, const struct sampler_wish *wish, struct layout_file *file) {
  const struct plan_demand *demand = &sampler->run->plan.groups[wish->group].demand;
  if (demand->task == WEIR_TASK_COPY) {
    const int code = layout_clear_copies(file);
    if (code < 0) return code;
    return wish->keep_state ? 0 : make_state(sampler, demand, file);
  }
  if (!writes(demand)) return wish->keep_state ? 0 : make_state(sampler, demand, file);
  if (weir_task_streams(demand->task) && demand->target == WEIR_TARGET_TRUNCATE) return restore_stream_target(sampler, file);
  if (demand->target == WEIR_TARGET_PREALLOCATED) return allocate_target(file);
  if (demand->target == WEIR_TARGET_NEW) {
    int gone = os_remove(file->path);
    file->is_whole = false;
    return gone == -ENOENT ? 0 : gone;
  }
  int result = restore_target(sampler, file);
  if (demand->target == WEIR_TARGET_TRUNCATE) file->is_whole = false;
  if (result < 0 || demand->target == WEIR_TARGET_TRUNCATE || wish->keep_state) return result;
  return make_state(sampler, demand, file);
}

static int prepare_all(struct sampler *sampler, const struct sampler_wish *wish, const struct files *files) {
  int flags = 0;
  for (unsigned i = 0; i < files->count; i++) {
    const int result = prepare(sampler, wish, files->list[i]);
    if (result < 0) return result;
    flags |= result;
  }
  return flags;
}

/* ---- what a pass should deliver --------------------------------------------------------------------------------------- */

/* Requests depend on the round only where access is random, and sums on the block only where pieces are hashed. */
static struct sampler_sum sum_key(const struct sampler *sampler, const struct sampler_wish *wish) {
  const struct plan_group *group = &sampler->run->plan.groups[wish->group];
  const struct plan_cell *cell = &group->cells[wish->cell];
  return (struct sampler_sum){.group = wish->group,
                              .consumer = sampler->order->check ? sampler->order->consumer : UINT32_MAX,
                              .threads = cell->threads,
                              .round = group->demand.access == WEIR_RANDOM ? wish->round : 0,
                              .block = cell_block(group, cell)};
}

static bool same_key(const struct sampler_sum *a, const struct sampler_sum *b) {
  return a->group == b->group && a->consumer == b->consumer && a->threads == b->threads && a->round == b->round &&
         a->block == b->block;
}

/* Sums of earlier rounds will not be asked for again. */
static void forget_rounds(struct sampler *sampler, int32_t round) {
  unsigned kept = 0;
  for (unsigned i = 0; i < sampler->sum_count; i++)
    if (sampler->sums[i].round == 0 || sampler->sums[i].round >= round) sampler->sums[kept++] = sampler->sums[i];
  sampler->sum_count = kept;
}

/* The stream of this sample, made or read once. Growing the list moves what it holds, so the scene is set each time. */
static int set_stream(struct sampler *sampler, const struct sampler_wish *wish, const struct layout_file *file) {
  const struct plan_demand *demand = &sampler->run->plan.groups[wish->group].demand;
  const struct sampler_stream want = {.task = demand->task,
                                      .input = demand->direction == WEIR_WRITE,
                                      .file = file->role == LAYOUT_USER ? file : NULL, /* what is made is alike */
                                      .size = demand->size_bytes,
                                      .item = demand->item_bytes};
  sampler->scene.stream = NULL;
  if (!weir_task_streams(demand->task)) return 0;
  unsigned i = 0;
  for (; i < sampler->stream_count; i++) {
    const struct sampler_stream *known = &sampler->streams[i];
    if (known->task == want.task && known->input == want.input && known->file == want.file && known->size == want.size &&
        known->item == want.item)
      break;
  }
  if (i == sampler->stream_count) {
    struct sampler_stream *streams = realloc(sampler->streams, (i + 1) * sizeof *streams);
    if (!streams) return -ENOMEM;
    sampler->streams = streams;
    streams[i] = want;
    const int code = want.input ? reference_make(&streams[i].reference, demand, sampler->content.seed)
                                : reference_load(&streams[i].reference, demand->task, file->path, demand->size_bytes);
    if (code < 0) return code;
    sampler->stream_count++;
  }
  sampler->scene.stream = &sampler->streams[i].reference;
  return 0;
}

static int expect(struct sampler *sampler, const struct sampler_wish *wish) {
  struct worker_order *order = sampler->order;
  const struct plan_group *group = &sampler->run->plan.groups[wish->group];
  bool unseen = group->cells[wish->cell].capabilities & UNSEEN;
  const bool cut_freely = group->demand.task == WEIR_TASK_MANY && order->consumer == WEIR_CONSUMER_HASH; /* so are hashes */
  order->check = !unseen && reads(&group->demand) && order->consumer != WEIR_CONSUMER_NONE && !cut_freely;
  struct sampler_sum want = sum_key(sampler, wish);
  for (unsigned i = 0; i < sampler->sum_count; i++) {
    const struct sampler_sum *known = &sampler->sums[i];
    if (!same_key(known, &want)) continue;
    order->expected = known->sum;
    order->expected_bytes = known->bytes;
    order->expected_operations = known->operations;
    memcpy(order->totals, known->totals, sizeof order->totals);
    return 0;
  }
  int result = worker_expect(&sampler->scene, order);
  if (result < 0) return result;
  forget_rounds(sampler, wish->round);
  struct sampler_sum *sums = realloc(sampler->sums, (sampler->sum_count + 1) * sizeof *sums);
  if (!sums) return -ENOMEM;
  sampler->sums = sums;
  want.sum = order->expected;
  want.bytes = order->expected_bytes;
  want.operations = order->expected_operations;
  memcpy(want.totals, order->totals, sizeof want.totals);
  sums[sampler->sum_count++] = want;
  return 0;
}

/* A verified pass compares all that readers deliver, and has writers write what can be compared. Floors have no data. */
static enum weir_consumer consumer_of(const struct sampler_wish *wish, const struct plan_group *group) {
  enum weir_consumer consumer = group->demand.consumer;
  if (!wish->verify || (group->cells[wish->cell].capabilities & UNSEEN)) return consumer;
  if (reads(&group->demand)) return WEIR_CONSUMER_VERIFY;
  if (weir_task_streams(group->demand.task) || weir_task_has_files(group->demand.task)) return consumer;
  return consumer == WEIR_CONSUMER_NONE ? WEIR_CONSUMER_TOUCH : consumer;
}

static int name_files(struct worker_order *order, const struct files *files) {
  order->file_count = files->count;
  for (unsigned i = 0; i < files->count; i++) {
    const struct layout_file *file = files->list[i];
    struct worker_file *out = &order->files[i];
    if (strlen(file->path) >= sizeof out->path || strlen(file->directory) >= sizeof out->directory) return -ENAMETOOLONG;
    strcpy(out->path, file->path);
    strcpy(out->directory, file->directory);
    out->device = file->device;
  }
  return 0;
}

/* What most samples do not count. */
static void forget_counts(struct sample *sample) {
  sample->allocations = sample->allocated_bytes = sample->system_calls = sample->cycles = sample->instructions = -1;
  sample->cache_before_bytes = sample->cache_after_bytes = sample->victim_bytes = sample->victim_lost_bytes = -1;
}

/* Operations whose calls stand for those of all: enough for buffers to fill and empty, few enough for each call to be watched. */
static uint64_t counting_budget(const struct plan_group *group, const struct plan_cell *cell) {
  const uint64_t least = 16, most = group->demand.durability == WEIR_DURABILITY_EACH ? 64 : 4096;
  if (group->demand.task == WEIR_TASK_WHOLE || weir_task_streams(group->demand.task)) return UINT64_MAX;
  const uint64_t operations = (UINT64_C(4) << 20) / cell_block(group, cell);
  return operations < least ? least : operations > most ? most : operations;
}

static int write_order(struct sampler *sampler, const struct sampler_wish *wish, const struct files *files) {
  struct worker_order *order = sampler->order;
  const struct plan_group *group = &sampler->run->plan.groups[wish->group];
  const struct layout_file *file = files->list[0];
  memset(order, 0, offsetof(struct worker_order, file_count));
  int code = name_files(order, files);
  if (code < 0) return code;
  if (file->copies && strlen(file->copies) >= sizeof order->copies) return -ENAMETOOLONG;
  if (file->copies) strcpy(order->copies, file->copies);
  order->group = wish->group;
  order->cell = wish->cell;
  order->passes = group->passes && !wish->verify ? group->passes : 1;
  order->consumer = consumer_of(wish, group);
  order->own_content = file->role != LAYOUT_USER;
  order->content_seed = sampler->content.seed;
  order->supply_seed = order->content_seed;
  /*
   * What is written is new each time, or a method that writes nothing would pass. Mixed requests read the same file again,
   * so there it is new in the pilot alone, and in the rounds what the file holds anyway.
   */
  const bool given = weir_task_streams(group->demand.task) || weir_task_has_files(group->demand.task);
  if (!given && (!reads(&group->demand) || (writes(&group->demand) && wish->verify)))
    order->supply_seed = random_mix(sampler->content.seed ^ ++sampler->writes);
  if (!reads(&group->demand)) order->content_seed = order->supply_seed;
  order->probe = wish->probe;
  order->warm_up = !wish->verify && !wish->count_calls;
  order->count_allocations = wish->verify;
  order->count_calls = wish->count_calls;
  order->budget = counting_budget(group, &group->cells[wish->cell]);
  order->mark = sampler->options->worker_prefix != NULL;
  order->parent = order->mark ? 0 : os_process_id();
  order->sample.round = wish->round;
  forget_counts(&order->sample);
  code = set_stream(sampler, wish, file);
  return code < 0 || wish->count_calls ? code : expect(sampler, wish);
}

/* ---- running the worker ------------------------------------------------------------------------------------------------ */

static int forked_worker(void *context) {
  struct sampler *sampler = context;
  os_process_shield();
  if (os_process_follow_parent(sampler->order->parent) < 0) return 1;
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

/* The caller frees the list, not the texts. NULL: no memory. */
static const char **worker_command(const struct measure_options *options, const char *self) {
  const char *const none[] = {NULL};
  const char *const *before = options->worker_prefix ? options->worker_prefix : none;
  const char *const *after = options->worker_arguments ? options->worker_arguments : none;
  size_t room = 3, count = 0;
  for (size_t i = 0; before[i]; i++) room++;
  for (size_t i = 0; after[i]; i++) room++;
  const char **command = malloc(room * sizeof *command);
  if (!command) return NULL;
  for (size_t i = 0; before[i]; i++) command[count++] = before[i];
  command[count++] = self;
  command[count++] = "__worker";
  for (size_t i = 0; after[i]; i++) command[count++] = after[i];
  command[count] = NULL;
  return command;
}

static int start_worker(struct sampler *sampler, const struct plan_group *group, os_process *worker) {
  if (group->demand.process == PLAN_SAME && !sampler->options->worker_prefix) return os_process_fork(forked_worker, sampler, worker);
  int result = publish_plan(sampler);
  if (result < 0) return result;
  char self[WORKER_PATH_MAX];
  result = os_self_path(self, sizeof self);
  if (result < 0) return result;
  const os_file keep[] = {sampler->plan_file, sampler->order_file};
  const char **arguments = worker_command(sampler->options, self);
  result = arguments ? os_process_spawn(arguments, keep, 2, worker) : -ENOMEM;
  free(arguments);
  return result;
}

/* Waits, passing on interrupts and caps. *killed: it did not stop when told to. */
static int await_worker(struct sampler *sampler, os_process worker, uint64_t cap_ns, struct os_exit *end, bool *killed) {
  volatile int *interrupted = sampler->options->interrupted;
  uint64_t stop_at = os_clock_ns() + cap_ns, kill_at = UINT64_MAX;
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

void sampler_fail(struct sample *out, const char *text) {
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
    sampler_fail(out, "did not end, and not when told to");
  } else if (end->crashed) {
    bool ended = strcmp(os_crash_name(end->code), "SIGKILL") == 0; /* not by us: then it is `killed` */
    snprintf(text, sizeof text, "crashed with %s%s", os_crash_name(end->code),
             ended ? ", as the system does when memory runs out" : "");
    sampler_fail(out, text);
  } else if (outcome == WORKER_FAILED) {
    sampler_fail(out, order->reason.text);
  } else if (outcome != WORKER_DONE) {
    sampler_fail(out, "ended without a result");
  }
}

/* What no worker wrote is empty. */
static int take_latency(struct sampler *sampler, struct sample *out) {
  if (!sampler->run->plan.latency) return 0;
  struct histogram_entry *entries = malloc(HISTOGRAM_SLOTS * sizeof *entries);
  if (!entries) return -ENOMEM;
  const int result = run_keep_latency(sampler->run, out, entries, histogram_pack(sampler->order->latency, entries));
  free(entries);
  return result;
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
  got.cache_before_bytes = out->cache_before_bytes;
  got.victim_bytes = out->victim_bytes;
  got.resident_after_ppm = -1;
  got.status = RUN_OK;
  got.reason[0] = '\0';
  *out = got;
}

/* ---- the whole of it ---- */

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
static void wash_out(struct sampler *sampler, const struct sampler_wish *wish, const struct files *files, struct sample *out) {
  int flags = 0;
  out->resident_after_ppm = resident_ppm(files);
  out->cache_after_bytes = cached_bytes(files, out->resident_after_ppm);
  if (out->victim_bytes > 0) out->victim_lost_bytes = victim_lost(&sampler->victim, out->victim_bytes);
  if (!writes(&sampler->run->plan.groups[wish->group].demand)) return;
  for (unsigned i = 0; i < files->count && flags >= 0; i++) {
    const int result = layout_settle(files->list[i]);
    flags = result < 0 ? result : flags | result;
  }
  if (flags > 0) out->flags |= (uint32_t)flags;
  if (flags >= 0) return;
  char text[128];
  snprintf(text, sizeof text, "what was written did not reach the storage: %s", strerror(-flags));
  sampler_fail(out, text);
}

static int run_worker(struct sampler *sampler, const struct sampler_wish *wish, struct sample *out, struct weir_reason *unavailable) {
  const struct plan_group *group = &sampler->run->plan.groups[wish->group];
  os_process worker;
  struct os_exit end;
  bool killed;
  int result = start_worker(sampler, group, &worker);
  for (unsigned tries = 0; result == -EAGAIN && tries < 40; tries++) { /* the limit of processes: others may end */
    os_sleep_ns(SECOND / 40);
    result = start_worker(sampler, group, &worker);
  }
  if (result < 0) return result;
  uint64_t guard_ns = HANG_NS + 2 * group->round_cost_ns;
  result = await_worker(sampler, worker, wish->cap_ns ? wish->cap_ns : guard_ns, &end, &killed);
  if (result < 0) return result;
  take_record(sampler->order, out);
  if (atomic_load(&sampler->order->outcome) == WORKER_UNAVAILABLE && !end.crashed && !killed)
    *unavailable = sampler->order->reason;
  else
    judge(sampler, &end, killed, out);
  return take_latency(sampler, out);
}

/* What was measured is not what was laid out: no fault of the method. */
static void blame_change_of(const struct layout_file *file, struct sample *out) {
  struct os_stat now;
  if (file->role == LAYOUT_WRITE || file->role == LAYOUT_MIXED || file->part_bytes) return;
  bool gone = os_stat_path(file->path, &now) < 0;
  /* The size too: it changes a moment before the time does, and that moment is enough for a SIGBUS. */
  bool same = !gone && now.inode == file->seen.inode && now.size == file->seen.size;
  if (same && now.modified_ns == file->seen.modified_ns) return;
  const char *what = gone                                 ? "removed"
                     : now.inode != file->seen.inode      ? "replaced"
                     : now.size < file->seen.size         ? "cut short"
                                                          : "changed";
  snprintf(out->reason, sizeof out->reason, "the file was %s by another program during the run", what);
}

static void blame_change(const struct files *files, struct sample *out) {
  for (unsigned i = 0; i < files->count && out->status == RUN_FAILED; i++) blame_change_of(files->list[i], out);
}

/* The file cannot be read as it could when the run began: a failed row. All else is the end of the run. */
static int without_order(const struct files *files, int error, struct sample *out) {
  if (error == -ENOMEM || error == -ENAMETOOLONG || error == -EINTR) return error;
  sampler_fail(out, strerror(-error));
  blame_change(files, out);
  return 0;
}

int sampler_take(struct sampler *sampler, const struct sampler_wish *wish, struct sample *out, struct weir_reason *unavailable) {
  const struct plan *plan = &sampler->run->plan;
  const struct plan_group *group = &plan->groups[wish->group];
  struct files files;
  uint64_t began = os_clock_ns();
  *unavailable = (struct weir_reason){0};
  *out = (struct sample){.group = wish->group, .cell = wish->cell, .round = wish->round, .position = wish->position,
                         .predecessor = wish->predecessor, .flags = wish->flags, .resident_before_ppm = -1};
  forget_counts(out);
  if (!find_files(sampler, wish, &files)) return -ENOENT;
  if (wish->probe && too_big(group, &group->cells[wish->cell], unavailable)) return 0;
  int result = write_order(sampler, wish, &files);
  if (result < 0) return without_order(&files, result, out);
  result = prepare_all(sampler, wish, &files);
  if (result == -EINTR) return result;
  if (result < 0 && cannot_prepare(sampler, wish, result, unavailable)) return 0;
  if (result < 0) return without_order(&files, result, out);
  out->flags |= (uint32_t)result;
  if (wish->with_victim) {
    const uint64_t asked = os_clock_ns();
    out->victim_bytes = victim_ready(&sampler->victim, sampler); /* last: what makes files cold may empty the whole cache */
    began += os_clock_ns() - asked;
  }
  out->resident_before_ppm = resident_ppm(&files);
  out->cache_before_bytes = cached_bytes(&files, out->resident_before_ppm);
  uint64_t prepared = os_clock_ns();
  result = run_worker(sampler, wish, out, unavailable);
  if (result < 0 || unavailable->text[0]) return result;
  uint64_t ended = os_clock_ns();
  wash_out(sampler, wish, &files, out);
  out->prepare_ns = prepared - began + (os_clock_ns() - ended);
  bool complete = out->status == RUN_OK && !(out->flags & RUN_PARTIAL);
  bool spoilt = wish->verify && group->demand.direction == WEIR_MIXED; /* the next one reads what was there before */
  for (unsigned i = 0; i < files.count && group->demand.target == WEIR_TARGET_OVERWRITE && (!complete || spoilt); i++)
    files.list[i]->is_whole = false;
  bool unseen = group->cells[wish->cell].capabilities & UNSEEN;
  for (unsigned i = 0; i < files.count && wish->verify && complete && !unseen && writes(&group->demand); i++) {
    if (sampler->scene.stream || files.list[i]->copies)
      read_back_parts(sampler, files.list[i], out);
    else
      read_back_file(sampler, files.list[i], out);
  }
  blame_change(&files, out);
  return 0;
}
