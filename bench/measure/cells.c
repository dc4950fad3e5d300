/*
 * cells.c - jobs. In one round all cells of a group see the same requests in the same order for the same block size: a group
 * compares ways of doing one piece of work. The next round draws another order, so that no cache below ours learns it.
 */
#include "measure/cells.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "os/os.h"

static const struct cell_job *owner(const struct weir_job *job) { return (const struct cell_job *)(const void *)job; }
static_assert(offsetof(struct cell_job, job) == 0, "owner() relies on it");

static int buffer_get(const struct weir_job *job, size_t length, size_t alignment, enum weir_buffer_policy policy, void **out) {
  if (alignment > os_page_size()) return -EINVAL;
  size_t room = length ? length : 1;
  int result = os_memory_get(room, policy == WEIR_BUFFER_HUGE ? OS_MEMORY_HUGE : 0, out);
  if (result < 0 || policy != WEIR_BUFFER_REUSED) return result;
  const struct content *content = owner(job)->content;
  if (job->direction != WEIR_READ && content)
    content_fill(content, 0, *out, room);
  else
    memset(*out, 0x5a, room); /* every page is there before the clock starts, and no file happens to hold this */
  return 0;
}

static void buffer_put(const struct weir_job *job, void *buffer, size_t length) {
  if (buffer) os_memory_put(buffer, length ? length : 1);
}

static int fail(const struct weir_job *job, int code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(job->reason->text, sizeof job->reason->text, format, arguments);
  va_end(arguments);
  return code;
}

/* The job lies at the start of its cell_job, which is not const: only the method's view of it is. */
static void claim_time(const struct weir_job *job, uint64_t run_ns, uint64_t cpu_ns) {
  struct cell_job *self = (struct cell_job *)(uintptr_t)job;
  self->claims_time = true;
  self->claimed_run_ns = run_ns;
  self->claimed_cpu_ns = cpu_ns;
}

uint64_t cell_block(const struct plan_group *group, const struct plan_cell *cell) {
  const struct plan_demand *demand = &group->demand;
  if (weir_task_streams(demand->task)) return demand->size_bytes ? demand->size_bytes : 1;
  if (weir_task_has_files(demand->task)) return demand->request_bytes ? demand->request_bytes : 1;
  for (unsigned i = 0; i < cell->param_count; i++)
    if (strcmp(cell->params[i].name, "block") == 0) return cell->params[i].value;
  return group->demand.request_bytes ? group->demand.request_bytes : 65536;
}

/* floor(blocks * i / n), for any number of blocks: shares that differ by one block at most. */
static uint64_t share_of(uint64_t blocks, unsigned i, unsigned n) {
  return blocks / n * i + blocks % n * i / n;
}

static void set_partition(struct weir_job *job, uint64_t size) {
  uint64_t blocks = size / job->block + (size % job->block != 0);
  uint64_t first = share_of(blocks, job->instance, job->instances);
  uint64_t last = share_of(blocks, job->instance + 1, job->instances);
  job->part_offset = first < blocks || blocks == 0 ? first * job->block : size;
  uint64_t end = last < blocks ? last * job->block : size;
  job->part_length = end - job->part_offset;
  job->blocks = last - first;
}

/* The requests of one pass: all, the share that random access covers, or what fits into the time of a pass. */
static uint64_t pass_operations(const struct weir_job *job, const struct plan_group *group) {
  uint64_t operations = job->blocks;
  if (job->access == WEIR_RANDOM) operations = (uint64_t)(group->demand.coverage * (double)job->blocks + 0.5);
  uint64_t cut = group->pass_bytes / (group->demand.members ? group->demand.members : job->instances) / job->block;
  if (group->pass_bytes != 0 && cut < operations) operations = cut;
  if (operations > job->blocks) operations = job->blocks;
  return operations == 0 && job->blocks > 0 ? 1 : operations;
}

static void set_coin(struct weir_job *job, const struct plan *plan, unsigned group) {
  struct random_state random = random_start(plan->seed, UINT64_C(0xc011) << 40 | group);
  job->write_share = (uint64_t)(plan->groups[group].demand.write_share * 4294967296.0);
  job->write_key = random_next(&random);
}

static void set_order(struct weir_job *job, const struct plan *plan, unsigned group, unsigned instance, int32_t round) {
  job->operations = pass_operations(job, &plan->groups[group]);
  if (job->access != WEIR_RANDOM || job->blocks == 0) return;
  unsigned bits = 1;
  while (bits < 63 && (job->blocks - 1) >> bits != 0) bits++;
  job->order_mask = (UINT64_C(1) << bits) - 1;
  job->order_shift = bits / 2 > 0 ? bits / 2 : 1;
  uint64_t stream = ((uint64_t)(uint32_t)(round + 2) << 32) + ((uint64_t)group << 16) + instance;
  struct random_state random = random_start(plan->seed, stream);
  for (unsigned i = 0; i < 3; i++) job->order_key[i] = random_next(&random) | 1;
}

void cell_job_init(struct cell_job *out, const struct plan *plan, unsigned group, unsigned cell, unsigned instance,
                   const struct cell_files *files) {
  const struct plan_group *g = &plan->groups[group];
  const struct plan_cell *c = &g->cells[cell];
  *out = (struct cell_job){
      .host = {.abi = WEIR_METHOD_ABI, .struct_size = sizeof(struct weir_host), .buffer_get = buffer_get,
               .buffer_put = buffer_put, .fail = fail, .claim_time = claim_time},
      .content = files->content,
      .job = {.abi = WEIR_METHOD_ABI, .struct_size = sizeof(struct weir_job), .task = g->demand.task,
              .direction = g->demand.direction, .access = g->demand.access, .durability = g->demand.durability,
              .target = g->demand.target, .consumer = g->demand.consumer, .path = files->path,
              .directory = files->directory, .file_size = g->demand.size_bytes, .instance = instance,
              .instances = c->threads ? c->threads : 1, .block = cell_block(g, c),
              .data = c->impl ? c->impl->data : NULL, .input = files->input, .copy_directory = files->copy_directory},
  };
  for (unsigned i = 0; i < c->param_count; i++) out->params[i] = c->params[i].value;
  out->job.params = out->params;
  out->job.host = &out->host;
  out->job.reason = &out->reason;
  if (g->demand.members) {
    out->job.file_size = plan_member_bytes(&g->demand, instance);
    out->job.instance = 0;
    out->job.instances = 1;
  }
  set_partition(&out->job, out->job.file_size);
  if (g->demand.direction == WEIR_MIXED) set_coin(&out->job, plan, group);
  set_order(&out->job, plan, group, instance, files->round);
}

uint64_t cell_operations(const struct plan *plan, unsigned group, unsigned cell) {
  const struct cell_files none = {0};
  uint64_t operations = 0;
  unsigned threads = plan->groups[group].cells[cell].threads;
  for (unsigned i = 0; i < (threads ? threads : 1); i++) {
    struct cell_job job;
    cell_job_init(&job, plan, group, cell, i, &none);
    operations += job.job.operations;
  }
  return operations;
}

uint64_t cell_memory(const struct plan_group *group, const struct plan_cell *cell) {
  uint64_t need = group->demand.task == WEIR_TASK_WHOLE ? group->demand.size_bytes : cell_block(group, cell);
  /* a line that is kept costs about as much beside its bytes; decoded text twice them, and a growing one that twice */
  if (weir_task_streams(group->demand.task)) return need > UINT64_MAX / 5 ? UINT64_MAX : 5 * need;
  uint64_t copies = cell->threads ? cell->threads : 1;
  if (group->demand.task == WEIR_TASK_WHOLE) copies = 1; /* each instance holds its part */
  for (unsigned i = 0; i < cell->param_count; i++)
    if (strcmp(cell->params[i].name, "depth") == 0 && group->demand.task == WEIR_TASK_BLOCKS)
      copies *= cell->params[i].value ? cell->params[i].value : 1;
  return need != 0 && copies > UINT64_MAX / need ? UINT64_MAX : need * copies;
}
