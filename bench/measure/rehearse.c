/*
 * rehearse.c - what one pass should deliver: its requests are played against the content that the file holds, or by plain
 * reads of the user's file.
 */
#include <errno.h>

#include "measure/cells.h"
#include "measure/flow.h"
#include "measure/worker.h"

static bool hashes(const struct worker_order *order) { return order->consumer == WEIR_CONSUMER_HASH; }

static uint64_t sum_of(const struct worker_order *order, uint64_t offset, const void *data, size_t length) {
  struct weir_flow flow;
  struct flow_core core;
  const struct flow_setup setup = {.consumer = WEIR_CONSUMER_HASH};
  if (!hashes(order)) return weir_touch(offset, data, length);
  flow_init(&flow, &core, &setup);
  weir_deliver(&flow, offset, data, length);
  return flow.sum;
}

struct rehearsal {
  const struct content *content;
  os_file file;
  unsigned char *data;
};

/* The sum of one piece: from the content where that is enough, else from the bytes themselves. */
static int rehearse_piece(const struct rehearsal *with, struct worker_order *order, uint64_t offset, size_t length) {
  order->expected_bytes += length;
  if (!order->check) return 0;
  if (with->content && !hashes(order)) {
    order->expected += content_sum(with->content, offset, length);
    return 0;
  }
  if (with->content)
    content_fill(with->content, offset, with->data, length);
  else if (os_pread_full(with->file, with->data, length, offset) != (int64_t)length)
    return -EIO;
  order->expected += sum_of(order, offset, with->data, length);
  return 0;
}

/* Plays one instance's requests against the content, or plain reads of the user's file. */
static int rehearse(const struct rehearsal *with, struct worker_order *order, const struct weir_job *job) {
  order->expected_operations += job->operations;
  if (job->task == WEIR_TASK_WHOLE && job->operations == job->blocks)
    return rehearse_piece(with, order, job->part_offset, (size_t)job->part_length);
  int result = 0;
  for (uint64_t i = 0; i < job->operations && result == 0; i++) {
    uint64_t offset = weir_order_offset(job, i);
    if (job->direction == WEIR_MIXED && weir_order_writes(job, offset)) { /* counted, and not summed: nothing is read */
      order->expected_bytes += weir_order_length(job, offset);
      continue;
    }
    result = rehearse_piece(with, order, offset, weir_order_length(job, offset));
  }
  return result;
}

static int rehearse_instance(const struct worker_scene *scene, struct worker_order *order, unsigned index) {
  const struct content all = {order->content_seed, scene->content->pool};
  const struct content content = content_of_member(&all, worker_file_index(order, index));
  const struct worker_file *file = &order->files[worker_file_index(order, index)];
  const struct cell_files files = {.path = file->path,
                                   .directory = file->directory,
                                   .content = order->own_content ? &content : NULL,
                                   .round = order->sample.round};
  struct rehearsal with = {.content = files.content, .file = os_no_file};
  struct cell_job job;
  void *data = NULL;
  cell_job_init(&job, &scene->run->plan, order->group, order->cell, index, &files);
  uint64_t largest = job.job.task == WEIR_TASK_WHOLE ? job.job.part_length : job.job.block;
  if (largest > job.job.part_length) largest = job.job.part_length;
  bool needs_data = order->check && (!with.content || hashes(order)) && largest > 0;
  int result = needs_data ? os_memory_get((size_t)largest, 0, &data) : 0;
  if (result == 0 && needs_data && !with.content) result = os_open(file->path, OS_READ, &with.file);
  with.data = data;
  if (result == 0) result = rehearse(&with, order, &job.job);
  os_close(with.file);
  if (data) os_memory_put(data, (size_t)largest);
  return result;
}

int worker_expect(const struct worker_scene *scene, struct worker_order *order) {
  const struct plan_cell *cell = &scene->run->plan.groups[order->group].cells[order->cell];
  const struct plan_demand *demand = &scene->run->plan.groups[order->group].demand;
  int result = 0;
  order->expected = order->expected_bytes = order->expected_operations = 0;
  if (weir_task_streams(demand->task)) {
    if (!scene->stream) return -EINVAL;
    reference_totals(scene->stream, (enum weir_consumer)order->consumer, order->totals);
    order->expected_operations = 1;
    order->expected_bytes = demand->size_bytes;
    return 0;
  }
  for (unsigned i = 0; i < (cell->threads ? cell->threads : 1) && result == 0; i++)
    result = rehearse_instance(scene, order, i);
  return result;
}
