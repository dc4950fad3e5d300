/*
 * worker.c - what happens inside the process of one sample: set up, warm up, the timed window, the record.
 *
 * The window is cut into phases by wall-clock stamps taken by instance 0 behind barriers, so that with N instances a phase
 * lasts as long as its slowest instance.
 */
#include "measure/worker.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/cells.h"
#include "measure/flow.h"
#include "measure/measure.h"

struct crew;

struct instance {
  struct crew *crew;
  struct cell_job *job; /* its own allocation: instances must not share cache lines */
  struct weir_flow *flow;
  struct flow_core *core;
  void *state;
  bool is_open;
  int result; /* first error of this instance */
  struct os_thread *thread;
};

struct crew {
  const struct worker_scene *scene;
  struct worker_order *order;
  const struct weir_method *method;
  unsigned count;
  struct instance *instances;
  os_file reference;
  struct content content; /* the run's pool with this order's seed */
  atomic_uint arrived, turn; /* the barrier */
  atomic_int failed;
  atomic_bool going_on; /* what instance 0 decided last for all */
  uint64_t stamps[RUN_PHASES + 1];
};

static const struct plan_group *group_of(const struct crew *crew) {
  return &crew->scene->run->plan.groups[crew->order->group];
}

/* ---- barrier ------------------------------------------------------------------------------------------------------- */

/* Spins a little, then yields: phases are short, and there may be fewer processors than instances. */
static void barrier(struct crew *crew) {
  if (crew->count == 1) return;
  unsigned turn = atomic_load(&crew->turn);
  if (atomic_fetch_add(&crew->arrived, 1) + 1 == crew->count) {
    atomic_store(&crew->arrived, 0);
    atomic_fetch_add(&crew->turn, 1);
    return;
  }
  for (unsigned spins = 0; atomic_load(&crew->turn) == turn; spins++)
    if (spins > 200) os_thread_yield();
}

/*
 * All instances go on, or none does. Each looking for itself would not do: one may fail in the next pass before another has
 * looked at this one, and would then wait for it for ever.
 */
static bool agree(struct instance *self, bool wish) {
  struct crew *crew = self->crew;
  barrier(crew);
  if (self->job->job.instance == 0) atomic_store(&crew->going_on, wish && atomic_load(&crew->failed) == 0);
  barrier(crew);
  return atomic_load(&crew->going_on);
}

static void stamp(struct instance *self, unsigned phase) {
  if (self->job->job.instance == 0) self->crew->stamps[phase] = os_clock_ns();
}

/* ---- one instance -------------------------------------------------------------------------------------------------- */

static void note(struct instance *self, int result) {
  if (result >= 0 || self->result < 0) return;
  self->result = result;
  atomic_store(&self->crew->failed, 1);
}

static bool going(const struct instance *self) { return atomic_load(&self->crew->failed) == 0; }

static void open_phase(struct instance *self) {
  const struct weir_method *method = self->crew->method;
  if (!going(self)) return;
  int result = method->open ? method->open(self->state, &self->job->job) : 0;
  note(self, result);
  self->is_open = result >= 0;
}

/* open -> run -> sync -> close, with a stamp at each seam. */
static void one_pass(struct instance *self, uint64_t budget) {
  struct crew *crew = self->crew;
  const struct weir_method *method = crew->method;
  const struct weir_job *job = &self->job->job;
  flow_reset(self->flow);
  barrier(crew);
  stamp(self, RUN_OPEN);
  if (job->instance == 0) open_phase(self);
  barrier(crew); /* the first instance creates or truncates; the others find the file ready */
  if (job->instance != 0) open_phase(self);
  barrier(crew);
  stamp(self, RUN_RUN);
  if (going(self)) note(self, method->run(self->state, job, self->flow, budget));
  barrier(crew);
  stamp(self, RUN_SYNC);
  if (going(self) && method->sync && job->durability == WEIR_DURABILITY_END) note(self, method->sync(self->state, job));
  barrier(crew);
  stamp(self, RUN_CLOSE);
  if (self->is_open && method->close) note(self, method->close(self->state, job));
  self->is_open = false;
  barrier(crew);
  stamp(self, RUN_PHASES);
}

/* ---- after a pass, by instance 0 alone ----------------------------------------------------------------------------- */

static bool stopped(const struct crew *crew) { return atomic_load(&crew->order->stop) != 0; }

static void say(struct worker_order *order, const char *text) {
  snprintf(order->reason.text, sizeof order->reason.text, "%s", text);
}

static void check_pass(struct crew *crew, uint64_t sum, uint64_t bytes, uint64_t operations) {
  struct worker_order *order = crew->order;
  if (crew->method->capabilities & WEIR_CAP_FLOOR) return;
  const struct plan *plan = &crew->scene->run->plan;
  uint64_t want_bytes = cell_bytes(plan, order->group, order->cell);
  bool exact = group_of(crew)->demand.access == WEIR_SEQUENTIAL && group_of(crew)->pass_bytes == 0;
  bool wrong_sum = order->check && sum != order->expected;
  bool wrong_bytes = exact && bytes != want_bytes;
  if (operations == 0 && want_bytes > 0) wrong_bytes = true;
  if (!wrong_sum && !wrong_bytes) return;
  char text[sizeof order->reason.text];
  if (wrong_bytes)
    snprintf(text, sizeof text, "wrong data: %llu bytes passed, %llu expected", (unsigned long long)bytes,
             (unsigned long long)want_bytes);
  else
    snprintf(text, sizeof text, "wrong data: checksum 0x%016llx, 0x%016llx expected", (unsigned long long)sum,
             (unsigned long long)order->expected);
  say(order, text);
  atomic_store(&crew->failed, 1);
}

static void check_bytes(struct crew *crew, const struct instance *instance) {
  const struct flow_core *core = instance->core;
  char text[sizeof crew->order->reason.text];
  if (core->bad)
    snprintf(text, sizeof text, "wrong data: the byte at offset %llu is not what the file holds",
             (unsigned long long)core->bad_offset);
  else if (core->error < 0)
    snprintf(text, sizeof text, "the file could not be read for comparison: %s", strerror(-core->error));
  else
    return;
  say(crew->order, text);
  atomic_store(&crew->failed, 1);
}

/* Adds what a pass did to the record. */
static void record_pass(struct crew *crew) {
  struct sample *sample = &crew->order->sample;
  uint64_t sum = 0, bytes = 0, operations = 0;
  for (unsigned i = 0; i < crew->count; i++) {
    const struct instance *instance = &crew->instances[i];
    sum += instance->flow->sum;
    bytes += instance->flow->bytes;
    operations += instance->flow->operations;
    check_bytes(crew, instance);
  }
  for (unsigned phase = 0; phase < RUN_PHASES; phase++)
    sample->phase_ns[phase] += crew->stamps[phase + 1] - crew->stamps[phase];
  sample->passes++;
  sample->bytes += bytes;
  sample->operations += operations;
  sample->checksum = sum;
  if (atomic_load(&crew->failed)) return;
  if (stopped(crew))
    sample->flags |= RUN_PARTIAL;
  else
    check_pass(crew, sum, bytes, operations);
}

/* ---- the window ---------------------------------------------------------------------------------------------------- */

struct readings { struct os_usage usage; struct os_device_counters device; struct os_pressure pressure; bool has_device; };

static void take_readings(const struct worker_order *order, struct readings *out) {
  out->has_device = os_device_counters(order->device, &out->device) == 0;
  os_pressure(&out->pressure);
  os_usage(&out->usage);
}

static void record_usage(struct worker_order *order, const struct readings *a, const struct readings *b) {
  struct sample *s = &order->sample;
  s->cpu_ns = b->usage.cpu_ns - a->usage.cpu_ns;
  s->minor_faults = b->usage.minor_faults - a->usage.minor_faults;
  s->major_faults = b->usage.major_faults - a->usage.major_faults;
  s->voluntary_switches = b->usage.voluntary_switches - a->usage.voluntary_switches;
  s->involuntary_switches = b->usage.involuntary_switches - a->usage.involuntary_switches;
  s->peak_bytes = b->usage.peak_bytes;
  s->steal_ns = a->pressure.steal_ns < 0 ? -1 : b->pressure.steal_ns - a->pressure.steal_ns;
}

/*
 * Reads: what this process made the device read; all else that the device did meanwhile is foreign. Writes leave a process
 * through the page cache and other threads of the kernel, so only the device itself knows.
 */
static void record_device(struct worker_order *order, const struct readings *a, const struct readings *b, bool reader) {
  struct sample *s = &order->sample;
  s->device_read_bytes = s->device_write_bytes = s->flushes = s->foreign_bytes = -1;
  if (!a->has_device || !b->has_device) return;
  int64_t own = a->usage.storage_read_bytes < 0 ? -1 : b->usage.storage_read_bytes - a->usage.storage_read_bytes;
  int64_t read = (int64_t)(b->device.read_bytes - a->device.read_bytes);
  int64_t written = (int64_t)(b->device.write_bytes - a->device.write_bytes);
  s->device_read_bytes = own >= 0 && own < read ? own : read;
  s->device_write_bytes = written;
  if (a->device.flushes_known && b->device.flushes_known) s->flushes = (int64_t)(b->device.flushes - a->device.flushes);
  s->foreign_bytes = read - s->device_read_bytes + (reader ? written : 0);
}

/* The untimed pass before the window: code, descriptors and allocators are met for the first time here. */
static bool warms_up(const struct crew *crew) {
  const struct plan_demand *demand = &group_of(crew)->demand;
  return crew->order->warm_up && demand->cache == PLAN_WARM &&
         (demand->direction == WEIR_READ || demand->target == WEIR_TARGET_OVERWRITE);
}

static void timed_window(struct instance *self) {
  struct crew *crew = self->crew;
  struct worker_order *order = crew->order;
  bool leads = self->job->job.instance == 0;
  struct readings before = {0}, after = {0};
  if (leads) {
    take_readings(order, &before);
    order->sample.start_ns = os_clock_ns();
  }
  uint64_t pass = 0;
  do {
    one_pass(self, UINT64_MAX);
    if (leads) record_pass(crew);
  } while (agree(self, ++pass < order->passes && !stopped(crew)));
  if (!leads) return;
  take_readings(order, &after);
  record_usage(order, &before, &after);
  record_device(order, &before, &after, group_of(crew)->demand.direction == WEIR_READ);
}

static void *instance_main(void *context) {
  struct instance *self = context;
  struct crew *crew = self->crew;
  const struct weir_method *method = crew->method;
  const struct weir_job *job = &self->job->job;
  uint64_t began = os_clock_ns();
  int result = method->setup ? method->setup(self->state, job) : 0;
  note(self, result);
  if (job->instance == 0) crew->order->sample.setup_ns = os_clock_ns() - began;
  bool on = agree(self, true);
  if (on && warms_up(crew)) {
    one_pass(self, job->operations / 16 + 1);
    on = agree(self, true);
  }
  memset(self->core->latency, 0, sizeof self->core->latency);
  if (on) timed_window(self);
  if (method->teardown) method->teardown(self->state, job);
  return NULL;
}

/* ---- the crew ------------------------------------------------------------------------------------------------------ */

static int hire(struct crew *crew, unsigned index) {
  const struct worker_order *order = crew->order;
  struct instance *self = &crew->instances[index];
  const struct cell_files files = {order->path, order->directory, order->own_content ? &crew->content : NULL};
  *self = (struct instance){.crew = crew, .job = malloc(sizeof *self->job), .flow = aligned_alloc(128, 256),
                            .core = malloc(sizeof *self->core), .state = calloc(1, crew->method->state_size + 128)};
  static_assert(sizeof(struct weir_flow) <= 256, "an allocation of its own, away from other instances");
  if (!self->job || !self->flow || !self->core || !self->state) return -ENOMEM;
  cell_job_init(self->job, &crew->scene->run->plan, order->group, order->cell, index, &files);
  self->job->job.consumer = (enum weir_consumer)order->consumer;
  const struct flow_setup setup = {
      .consumer = self->job->job.consumer, .direction = self->job->job.direction, .content = files.content,
      .reference = crew->reference, .stop = &crew->order->stop, .latency = crew->scene->run->plan.latency};
  return flow_init(self->flow, self->core, &setup);
}

static void dismiss(struct instance *self) {
  if (self->flow && self->core) flow_free(self->flow);
  free(self->job);
  free(self->flow);
  free(self->core);
  free(self->state);
}

static int work_together(struct crew *crew) {
  for (unsigned i = 1; i < crew->count; i++) {
    int result = os_thread_start(instance_main, &crew->instances[i], &crew->instances[i].thread);
    if (result < 0) {
      /* those that run wait at the first barrier for ever: give up as a process */
      say(crew->order, "a thread could not be started");
      atomic_store(&crew->order->outcome, WORKER_FAILED);
      _Exit(1);
    }
  }
  instance_main(&crew->instances[0]);
  for (unsigned i = 1; i < crew->count; i++) os_thread_join(crew->instances[i].thread);
  for (unsigned i = 0; i < crew->count; i++) {
    const struct instance *instance = &crew->instances[i];
    for (unsigned slot = 0; slot < RUN_LATENCY_SLOTS; slot++)
      crew->order->sample.latency[slot] += instance->core->latency[slot];
    if (instance->result < 0) return instance->result;
  }
  return 0;
}

static void report_failure(struct crew *crew, int result) {
  struct worker_order *order = crew->order;
  const char *text = NULL;
  for (unsigned i = 0; i < crew->count && !text; i++)
    if (crew->instances[i].job && crew->instances[i].job->reason.text[0]) text = crew->instances[i].job->reason.text;
  if (order->reason.text[0]) return;
  say(order, text ? text : strerror(-result));
}

static bool probe_refuses(struct crew *crew) {
  struct worker_order *order = crew->order;
  struct cell_job *job = crew->instances[0].job;
  if (!order->probe || !crew->method->probe) return false;
  int result = crew->method->probe(&job->job, &order->reason);
  if (result >= 0) {
    order->reason = (struct weir_reason){0};
    return false;
  }
  if (!order->reason.text[0]) say(order, strerror(-result));
  return true;
}

static enum worker_outcome do_order(struct crew *crew) {
  int result = 0;
  for (unsigned i = 0; i < crew->count && result == 0; i++) result = hire(crew, i);
  if (result == 0 && probe_refuses(crew)) return WORKER_UNAVAILABLE;
  if (result == 0 && crew->order->passes > 0) result = work_together(crew);
  if (result == 0 && !atomic_load(&crew->failed)) return WORKER_DONE;
  report_failure(crew, result);
  return WORKER_FAILED;
}

int worker_body(const struct worker_scene *scene, struct worker_order *order) {
  os_close(scene->janitor);
  const struct plan_cell *cell = &scene->run->plan.groups[order->group].cells[order->cell];
  unsigned count = cell->threads ? cell->threads : 1;
  struct crew crew = {.scene = scene, .order = order, .method = cell->impl, .count = count, .reference = os_no_file,
                      .content = {order->content_seed, scene->content->pool}};
  crew.instances = calloc(count, sizeof *crew.instances);
  if (!crew.instances || !cell->impl) return 1;
  if (!order->own_content && os_open(order->path, OS_READ, &crew.reference) < 0) crew.reference = os_no_file;
  enum worker_outcome outcome = do_order(&crew);
  for (unsigned i = 0; i < count; i++) dismiss(&crew.instances[i]);
  free(crew.instances);
  os_close(crew.reference);
  atomic_store(&order->outcome, (int)outcome);
  return 0;
}

/* The other side of `--process fresh`: files 3 and 4 are the plan, as text, and the order. */
static int read_plan(os_file file, const struct weir_method *const *methods, struct run *run) {
  struct os_stat stat;
  char problem[256];
  int result = os_stat_file(file, &stat);
  if (result < 0) return result;
  char *text = malloc((size_t)stat.size + 1);
  if (!text) return -ENOMEM;
  FILE *stream = NULL;
  if (os_pread_full(file, text, (size_t)stat.size, 0) == (int64_t)stat.size) stream = fmemopen(text, (size_t)stat.size, "r");
  result = stream ? run_read(stream, methods, run, problem, sizeof problem) : -EIO;
  if (stream) fclose(stream);
  free(text);
  return result;
}

int measure_worker_main(const struct weir_method *const *methods) {
  const os_file plan_file = 3, order_file = 4;
  struct run run = {0};
  struct content content;
  void *order;
  os_process_follow_parent();
  os_process_shield();
  if (os_map(order_file, sizeof(struct worker_order), OS_MAP_WRITE, &order) < 0) return 2;
  if (read_plan(plan_file, methods, &run) < 0) return 2;
  if (content_init(&content, run.plan.seed) < 0) return 2;
  if (run.plan.latency) os_fast_clock_start();
  const struct worker_scene scene = {&run, &content, os_no_file};
  return worker_body(&scene, order);
}

/* ---- what a pass should deliver ------------------------------------------------------------------------------------ */

/* Plays one instance's requests against the content, or plain reads, with the consumer's own arithmetic. */
static int expected_of(const struct worker_scene *scene, const struct worker_order *order, unsigned index, uint64_t *sum) {
  const struct plan_group *group = &scene->run->plan.groups[order->group];
  const struct content content = {order->content_seed, scene->content->pool};
  const struct cell_files files = {order->path, order->directory, order->own_content ? &content : NULL};
  struct cell_job job;
  cell_job_init(&job, &scene->run->plan, order->group, order->cell, index, &files);
  bool whole = group->demand.task == WEIR_TASK_WHOLE;
  uint64_t length = whole ? job.job.part_length : job.job.block;
  if (length > job.job.part_length) length = job.job.part_length;
  if (length == 0) return 0;
  void *data;
  int result = os_memory_get((size_t)length, 0, &data);
  if (result < 0) return result;
  os_file file = os_no_file;
  if (!order->own_content) result = os_open(order->path, OS_READ, &file);
  for (uint64_t i = 0; i < (whole ? 1 : job.job.operations) && result == 0; i++) {
    uint64_t offset = whole ? job.job.part_offset : weir_order_offset(&job.job, i);
    size_t piece = whole ? (size_t)length : weir_order_length(&job.job, offset);
    if (order->own_content)
      content_fill(&content, offset, data, piece);
    else if (os_pread_full(file, data, piece, offset) != (int64_t)piece)
      result = -EIO;
    struct weir_flow flow = {.mode = WEIR_CONSUMER_NONE};
    struct flow_core core;
    const struct flow_setup setup = {.consumer = (enum weir_consumer)order->consumer, .content = &content};
    flow_init(&flow, &core, &setup);
    if (setup.consumer == WEIR_CONSUMER_HASH)
      weir_deliver(&flow, offset, data, piece);
    else
      flow.sum = weir_touch(offset, data, piece);
    *sum += flow.sum;
  }
  os_close(file);
  os_memory_put(data, (size_t)length);
  return result;
}

int worker_expected(const struct worker_scene *scene, const struct worker_order *order, uint64_t *sum) {
  const struct plan_group *group = &scene->run->plan.groups[order->group];
  const struct plan_cell *cell = &group->cells[order->cell];
  *sum = 0;
  bool touch = order->consumer != WEIR_CONSUMER_HASH;
  if (order->own_content && touch && group->demand.access == WEIR_SEQUENTIAL && group->pass_bytes == 0) {
    const struct content content = {order->content_seed, scene->content->pool};
    *sum = content_sum(&content, 0, group->demand.size_bytes);
    return 0;
  }
  int result = 0;
  for (unsigned i = 0; i < (cell->threads ? cell->threads : 1) && result == 0; i++)
    result = expected_of(scene, order, i, sum);
  return result;
}
