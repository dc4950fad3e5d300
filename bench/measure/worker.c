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
#include "measure/readings.h"

struct crew;

struct instance {
  struct crew *crew;
  unsigned index;       /* in the crew; job.instance is that on the file */
  struct content content, supplied; /* of its file */
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
  struct content content, supplied; /* the run's pool with this order's seeds */
  const struct reference *stream;   /* or NULL */
  struct reference own_stream;      /* of a newly executed worker */
  uint64_t claimed_cpu_ns;
  atomic_uint arrived, turn; /* the barrier */
  atomic_int failed;
  atomic_bool not_set_up; /* nothing was timed: a lack of means, not a wrong answer */
  atomic_bool going_on; /* what instance 0 decided last for all */
  uint64_t stamps[RUN_PHASES + 1];
  struct os_call_count *calls; /* or NULL */
  uint64_t call_stamps[RUN_PHASES + 1];
  struct os_cycles cycles;
};

static const struct plan_group *group_of(const struct crew *crew) {
  return &crew->scene->run->plan.groups[crew->order->group];
}

/* ---- barrier ------------------------------------------------------------------------------------------------------- */

/* Sleeps: an instance that spun until the slowest is there would take processor time from it, and be charged for it. */
static void barrier(struct crew *crew) {
  if (crew->count == 1) return;
  unsigned turn = atomic_load(&crew->turn);
  if (atomic_fetch_add(&crew->arrived, 1) + 1 < crew->count) {
    while (atomic_load(&crew->turn) == turn) os_wait_word((const volatile unsigned *)&crew->turn, turn);
    return;
  }
  atomic_store(&crew->arrived, 0);
  atomic_fetch_add(&crew->turn, 1);
  os_wake_word((const volatile unsigned *)&crew->turn);
}
static_assert(sizeof(atomic_uint) == sizeof(unsigned), "os_wait_word looks at the plain word");

/*
 * All instances go on, or none does. Each looking for itself would not do: one may fail in the next pass before another has
 * looked at this one, and would then wait for it for ever.
 */
static bool agree(struct instance *self, bool wish) {
  struct crew *crew = self->crew;
  barrier(crew);
  if (self->index == 0) atomic_store(&crew->going_on, wish && atomic_load(&crew->failed) == 0);
  barrier(crew);
  return atomic_load(&crew->going_on);
}

/* Where calls are counted, nobody goes on before they have been read. */
static void stamp(struct instance *self, unsigned phase) {
  struct crew *crew = self->crew;
  if (self->index == 0) crew->stamps[phase] = os_clock_ns();
  if (!crew->calls) return;
  if (self->index == 0) crew->call_stamps[phase] = os_call_count_read(crew->calls);
  barrier(crew);
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

static enum reference_form form_of(const struct weir_flow *flow) {
  if (flow->items) return REFERENCE_ITEMS;
  if (flow->units) return REFERENCE_UNITS;
  return flow->values ? REFERENCE_VALUES : REFERENCE_BYTES;
}

/* The form in which the stream came, or any that the task takes where nothing came. */
static enum reference_form stream_form(const struct worker_order *order, const struct weir_flow *flow) {
  enum reference_form form = form_of(flow);
  if (form == REFERENCE_BYTES && flow->bytes == 0)
    for (unsigned i = 0; i < REFERENCE_FORMS; i++)
      if (order->totals[i].allowed) return (enum reference_form)i;
  return form;
}

static void complain(struct crew *crew, const char *what, uint64_t got, uint64_t wanted) {
  struct worker_order *order = crew->order;
  snprintf(order->reason.text, sizeof order->reason.text, "wrong data: %llu %s, %llu expected", (unsigned long long)got, what,
           (unsigned long long)wanted);
  atomic_store(&crew->failed, 1);
}

static uint64_t count_of(const struct weir_flow *flow, enum reference_form form) {
  return form == REFERENCE_ITEMS ? flow->items : form == REFERENCE_UNITS ? flow->units : form == REFERENCE_VALUES ? flow->values : flow->bytes;
}

/* Everything came, in one form that the task takes, and it was right. */
static void check_stream(struct crew *crew, const struct weir_flow *flow) {
  static const char *const names[] = {"bytes came", "items came", "UTF-16 units came", "values came"};
  struct worker_order *order = crew->order;
  const enum reference_form form = stream_form(order, flow);
  const struct reference_total *want = &order->totals[form];
  if (group_of(crew)->demand.direction == WEIR_WRITE) {
    if (flow->bytes != order->expected_bytes) complain(crew, "bytes were passed on", flow->bytes, order->expected_bytes);
  } else if (!want->allowed) {
    say(order, "wrong data: it came in a form that the task does not take");
    atomic_store(&crew->failed, 1);
  } else if (count_of(flow, form) != want->count) {
    complain(crew, names[form], count_of(flow, form), want->count);
  } else if (form != REFERENCE_VALUES && flow->bytes != want->bytes) {
    complain(crew, "bytes passed", flow->bytes, want->bytes);
  } else if (order->check && want->has_sum && flow->sum != want->sum) {
    snprintf(order->reason.text, sizeof order->reason.text, "wrong data: checksum 0x%016llx, 0x%016llx expected",
             (unsigned long long)flow->sum, (unsigned long long)want->sum);
    atomic_store(&crew->failed, 1);
  }
  if (atomic_load(&crew->failed) == 0 && flow->operations != 1) complain(crew, "operations done", flow->operations, 1);
}

/* All that a pass should do was done: every request, every byte, and for readers the right ones. */
static void check_pass(struct crew *crew, uint64_t sum, uint64_t bytes, uint64_t operations) {
  struct worker_order *order = crew->order;
  char text[sizeof order->reason.text];
  if (crew->method->capabilities & WEIR_CAP_FLOOR) return;
  if (bytes != order->expected_bytes)
    snprintf(text, sizeof text, "wrong data: %llu bytes passed, %llu expected", (unsigned long long)bytes,
             (unsigned long long)order->expected_bytes);
  else if (operations != order->expected_operations)
    snprintf(text, sizeof text, "wrong data: %llu requests done, %llu expected", (unsigned long long)operations,
             (unsigned long long)order->expected_operations);
  else if (order->check && sum != order->expected)
    snprintf(text, sizeof text, "wrong data: checksum 0x%016llx, 0x%016llx expected", (unsigned long long)sum,
             (unsigned long long)order->expected);
  else
    return;
  say(order, text);
  atomic_store(&crew->failed, 1);
}

static void check_bytes(struct crew *crew, const struct instance *instance) {
  const struct flow_core *core = instance->core;
  char text[sizeof crew->order->reason.text];
  if (core->bad_item)
    snprintf(text, sizeof text, "wrong data: item %llu is not what the file holds", (unsigned long long)core->bad_offset);
  else if (core->bad)
    snprintf(text, sizeof text, "wrong data: the byte at offset %llu is not what the file holds",
             (unsigned long long)core->bad_offset);
  else if (core->error < 0)
    snprintf(text, sizeof text, "the file could not be read for comparison: %s", strerror(-core->error));
  else
    return;
  say(crew->order, text);
  atomic_store(&crew->failed, 1);
}

/* What the slowest instance says of itself, and what all say of their processor time; 0: nobody says anything. */
static uint64_t claimed_ns(const struct crew *crew, uint64_t *cpu_ns) {
  uint64_t slowest = 0;
  for (unsigned i = 0; i < crew->count; i++) {
    const struct cell_job *job = crew->instances[i].job;
    if (!job->claims_time) continue;
    if (job->claimed_run_ns > slowest) slowest = job->claimed_run_ns;
    if (cpu_ns) *cpu_ns += job->claimed_cpu_ns;
  }
  return slowest;
}

#define UNCHECKED ((uint32_t)WEIR_CAP_FLOOR | WEIR_CAP_OUTSIDE)

static uint64_t order_size(const struct crew *crew) { return group_of(crew)->demand.size_bytes; }

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
  uint64_t claimed = claimed_ns(crew, &crew->claimed_cpu_ns);
  if (claimed) sample->phase_ns[RUN_RUN] += claimed - (crew->stamps[RUN_RUN + 1] - crew->stamps[RUN_RUN]);
  const struct weir_flow *first = crew->instances[0].flow;
  const bool stream = weir_task_streams(group_of(crew)->demand.task);
  const bool whole = stream && !stopped(crew) && first->operations; /* then the rate is that of the file, in whatever form */
  sample->passes++;
  sample->items += first->items + first->units + first->values;
  sample->bytes += whole ? order_size(crew) : bytes;
  sample->operations += operations;
  sample->checksum = sum;
  if (atomic_load(&crew->failed)) return;
  if (stopped(crew))
    sample->flags |= RUN_PARTIAL;
  else if (stream && !(crew->method->capabilities & UNCHECKED))
    check_stream(crew, first);
  else if (!stream)
    check_pass(crew, sum, bytes, operations);
}

/* ---- the window ---------------------------------------------------------------------------------------------------- */

/* Programs that do the work count with all they took. */
static bool works_outside(const struct weir_method *method) {
  return method->capabilities & ((uint32_t)WEIR_CAP_OUTSIDE | WEIR_CAP_PROGRAM);
}

/* The untimed pass before the window: code, descriptors and allocators are met for the first time here. */
static bool warms_up(const struct crew *crew) {
  const struct plan_demand *demand = &group_of(crew)->demand;
  return crew->order->warm_up && demand->cache == PLAN_WARM &&
         (demand->direction == WEIR_READ || demand->target == WEIR_TARGET_OVERWRITE);
}

/* One that is cut short says nothing of the whole, and what a program of its own takes is not seen. */
static void record_allocations(struct crew *crew) {
  struct sample *sample = &crew->order->sample;
  struct os_allocations taken;
  os_allocations_end(&taken);
  if (stopped(crew) || works_outside(crew->method)) return;
  sample->allocations = (int64_t)taken.count;
  sample->allocated_bytes = (int64_t)taken.bytes;
}

static void timed_window(struct instance *self) {
  struct crew *crew = self->crew;
  struct worker_order *order = crew->order;
  bool leads = self->index == 0;
  struct readings before = {0}, after = {0};
  if (leads) {
    readings_before(order, &crew->cycles, works_outside(crew->method), &before);
    order->sample.start_ns = os_clock_ns();
  }
  uint64_t pass = 0;
  do {
    const bool counts = leads && order->count_allocations && os_allocations_begin() == 0;
    if (order->mark) os_mark(MEASURE_MARK_BEGIN);
    one_pass(self, UINT64_MAX);
    if (order->mark) os_mark(MEASURE_MARK_END);
    if (counts) record_allocations(crew);
    if (leads) record_pass(crew);
  } while (agree(self, ++pass < order->passes && !stopped(crew)));
  if (!leads) return;
  readings_after(order, &crew->cycles, works_outside(crew->method), &after);
  readings_record(order, &before, &after, group_of(crew)->demand.direction == WEIR_READ);
  if (claimed_ns(crew, NULL)) {
    order->sample.cpu_ns = crew->claimed_cpu_ns;
    order->sample.flags |= RUN_SELF_TIMED;
  }
}

/* ---- the calls of a pass ---- */

/*
 * Of a pass that was cut short, what its requests took grows with their number; opening, syncing and closing do not. What
 * the harness itself does between the stamps takes no call that counts.
 */
static void record_calls(struct crew *crew) {
  const uint64_t *at = crew->call_stamps;
  uint64_t done = 0, all = 0;
  for (unsigned i = 0; i < crew->count; i++) {
    done += crew->instances[i].flow->operations;
    all += crew->instances[i].job->job.operations;
  }
  if (atomic_load(&crew->failed) || done == 0) return;
  const uint64_t running = at[RUN_RUN + 1] - at[RUN_RUN], around = at[RUN_PHASES] - at[RUN_OPEN] - running;
  const double scale = done < all ? (double)all / (double)done : 1;
  crew->order->sample.system_calls = (int64_t)(around + (uint64_t)((double)running * scale + 0.5));
}

static void counted_pass(struct instance *self) {
  one_pass(self, self->crew->order->budget);
  if (self->index == 0) record_calls(self->crew);
}

static void *instance_main(void *context) {
  struct instance *self = context;
  struct crew *crew = self->crew;
  const struct weir_method *method = crew->method;
  const struct weir_job *job = &self->job->job;
  uint64_t began = os_clock_ns();
  int result = method->setup ? method->setup(self->state, job) : 0;
  note(self, result);
  if (result < 0) atomic_store(&crew->not_set_up, true);
  if (self->index == 0) crew->order->sample.setup_ns = os_clock_ns() - began;
  bool on = agree(self, true);
  if (on && warms_up(crew)) {
    one_pass(self, job->operations / 16 + 1);
    on = agree(self, true);
  }
  self->core->late = 0;
  if (self->core->latency) memset(self->core->latency, 0, HISTOGRAM_SLOTS * sizeof *self->core->latency);
  if (on && crew->order->count_calls)
    counted_pass(self);
  else if (on)
    timed_window(self);
  if (method->teardown) method->teardown(self->state, job);
  return NULL;
}

/* ---- the crew ------------------------------------------------------------------------------------------------------ */

/* Of one instance. Comparing every byte takes a time of its own, and is not what the rate is for. */
static double rate_of(const struct crew *crew) {
  const struct plan_demand *demand = &group_of(crew)->demand;
  const bool checks = crew->order->consumer == WEIR_CONSUMER_VERIFY && demand->consumer != WEIR_CONSUMER_VERIFY;
  return checks ? 0 : demand->rate_per_s / crew->count;
}

static int hire(struct crew *crew, unsigned index) {
  const struct worker_order *order = crew->order;
  struct instance *self = &crew->instances[index];
  const struct weir_input *input = crew->stream && crew->stream->input.data ? &crew->stream->input : NULL;
  const struct worker_file *file = &order->files[worker_file_index(order, index)];
  const struct cell_files files = {.path = file->path,
                                   .directory = file->directory,
                                   .content = order->own_content ? &self->content : NULL,
                                   .input = input,
                                   .copy_directory = order->copies[0] ? order->copies : NULL,
                                   .round = order->sample.round};
  *self = (struct instance){.crew = crew, .index = index,
                            .content = content_of_member(&crew->content, worker_file_index(order, index)),
                            .supplied = content_of_member(&crew->supplied, worker_file_index(order, index)), .job = malloc(sizeof *self->job), .flow = aligned_alloc(128, 256),
                            .core = malloc(sizeof *self->core), .state = calloc(1, crew->method->state_size + 128)};
  static_assert(sizeof(struct weir_flow) <= 256, "an allocation of its own, away from other instances");
  if (self->flow) *self->flow = (struct weir_flow){.core = NULL};
  if (!self->job || !self->flow || !self->core || !self->state) return -ENOMEM;
  cell_job_init(self->job, &crew->scene->run->plan, order->group, order->cell, index, &files);
  self->job->job.consumer = (enum weir_consumer)order->consumer;
  const struct flow_setup setup = {
      .consumer = self->job->job.consumer, .direction = self->job->job.direction, .content = files.content,
      .supplied = &self->supplied, .stream = crew->stream, .reference = crew->reference, .stop = &crew->order->stop, .latency = crew->scene->run->plan.latency,
      .rate_per_s = rate_of(crew)};
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
      char text[96];
      snprintf(text, sizeof text, "a thread could not be started: %s", strerror(-result));
      say(crew->order, text);
      atomic_store(&crew->order->outcome, WORKER_FAILED);
      _Exit(1);
    }
  }
  instance_main(&crew->instances[0]);
  for (unsigned i = 1; i < crew->count; i++) os_thread_join(crew->instances[i].thread);
  for (unsigned i = 0; i < crew->count; i++) {
    const struct instance *instance = &crew->instances[i];
    crew->order->sample.late += instance->core->late;
    for (unsigned slot = 0; instance->core->latency && slot < HISTOGRAM_SLOTS; slot++)
      crew->order->latency[slot] += instance->core->latency[slot];
    if (instance->result < 0) return instance->result;
  }
  return 0;
}

static void report_failure(struct crew *crew, int result) {
  struct worker_order *order = crew->order;
  if (order->reason.text[0]) return;
  for (unsigned i = 0; i < crew->count; i++) {
    const struct cell_job *job = crew->instances[i].job;
    if (!job || !job->reason.text[0]) continue;
    order->reason = job->reason;
    return;
  }
  say(order, strerror(-result));
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

/* Both see what is started later, so they begin before the instances do. */
static int start_counters(struct crew *crew) {
  crew->cycles = (struct os_cycles){os_no_file, os_no_file};
  if (crew->order->count_calls) return os_call_count_start((const volatile unsigned *)&crew->turn, &crew->calls);
  if (!works_outside(crew->method)) (void)os_cycles_start(&crew->cycles);
  return 0;
}

static enum worker_outcome do_order(struct crew *crew) {
  int result = start_counters(crew);
  for (unsigned i = 0; i < crew->count && result == 0; i++) result = hire(crew, i);
  if (result == 0 && probe_refuses(crew)) return WORKER_UNAVAILABLE;
  if (result == 0 && crew->order->passes > 0) result = work_together(crew);
  if (result == 0 && !atomic_load(&crew->failed)) return WORKER_DONE;
  report_failure(crew, result);
  return atomic_load(&crew->not_set_up) ? WORKER_UNAVAILABLE : WORKER_FAILED;
}

/* A newly executed worker has not inherited it. Readers need it for comparing only. */
static int make_stream(struct crew *crew) {
  const struct worker_order *order = crew->order;
  const struct plan_demand *demand = &group_of(crew)->demand;
  int code = 0;
  if (!weir_task_streams(demand->task)) return 0;
  if (demand->direction == WEIR_WRITE)
    code = reference_make(&crew->own_stream, demand, order->content_seed);
  else if (order->consumer == WEIR_CONSUMER_VERIFY)
    code = reference_load(&crew->own_stream, demand->task, order->files[0].path, demand->size_bytes);
  else
    return 0;
  crew->stream = &crew->own_stream;
  return code;
}

/* False: this cell cannot be measured, and the order says why. */
static bool prepare(const struct worker_scene *scene, const struct plan_cell *cell, struct worker_order *order) {
  if (!scene->prepare.prepare || !cell->impl) return true;
  if (scene->prepare.prepare(scene->prepare.context, cell->impl, &order->reason) == 0) return true;
  atomic_store(&order->outcome, (int)WORKER_UNAVAILABLE);
  return false;
}

int worker_body(const struct worker_scene *scene, struct worker_order *order) {
  os_close(scene->janitor);
  os_memory_volunteer(); /* a row less is better than a run less */
  if (!prepare(scene, &scene->run->plan.groups[order->group].cells[order->cell], order)) return 0;
  os_peak_reset();
  uint64_t resident = os_resident_bytes();
  const struct plan_cell *cell = &scene->run->plan.groups[order->group].cells[order->cell];
  unsigned count = cell->threads ? cell->threads : 1;
  struct crew crew = {.scene = scene, .order = order, .method = cell->impl, .count = count, .reference = os_no_file,
                      .content = {order->content_seed, scene->content->pool},
                      .supplied = {order->supply_seed, scene->content->pool}};
  crew.instances = calloc(count, sizeof *crew.instances);
  if (!crew.instances || !cell->impl) return 1;
  crew.stream = scene->stream;
  if (!crew.stream && make_stream(&crew) < 0) return 1;
  if (!order->own_content && os_open(order->files[0].path, OS_READ, &crew.reference) < 0) crew.reference = os_no_file;
  enum worker_outcome outcome = do_order(&crew);
  for (unsigned i = 0; i < count; i++) dismiss(&crew.instances[i]);
  free(crew.instances);
  reference_free(&crew.own_stream);
  os_close(crew.reference);
  os_cycles_stop(&crew.cycles);
  uint64_t peak = os_peak_bytes();
  order->sample.peak_bytes = peak > resident ? peak - resident : 0;
  uint64_t program = works_outside(cell->impl) ? os_children_peak_bytes() : 0;
  if (program > order->sample.peak_bytes) order->sample.peak_bytes = program;
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

int measure_worker_main(const struct weir_method *const *methods, const struct measure_prepare *prepare) {
  const os_file plan_file = 3, order_file = 4;
  struct run run = {0};
  struct content content;
  void *order;
  os_process_shield();
  if (os_map(order_file, sizeof(struct worker_order), OS_MAP_WRITE, &order) < 0) return 2;
  int parent = ((struct worker_order *)order)->parent;
  if (parent != 0 && os_process_follow_parent(parent) < 0) return 2;
  if (read_plan(plan_file, methods, &run) < 0) return 2;
  if (content_init(&content, run.plan.seed) < 0) return 2;
  if (run.plan.latency) os_fast_clock_start();
  const struct worker_scene scene = {.run = &run, .content = &content, .prepare = *prepare, .janitor = os_no_file};
  const int code = worker_body(&scene, order);
  /* what programs do when they end may stop the thread that answers for the calls counted, and then wait for its answer */
  if (((const struct worker_order *)order)->count_calls) _Exit(code);
  return code;
}
