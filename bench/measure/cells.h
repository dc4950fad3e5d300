/*
 * cells.h - from a cell of the plan to the jobs of its instances: partitions, orders of requests, host services.
 */
#ifndef WEIR_CELLS_H
#define WEIR_CELLS_H

#include "measure/content.h"
#include "plan/plan.h"
#include "weir/method.h"

/* One instance of a cell, ready to run. `job` points into the other members: do not copy or move it. */
struct cell_job {
  struct weir_job job;
  struct weir_host host;
  struct weir_reason reason;
  uint64_t params[WEIR_PARAMS_MAX];
  const struct content *content; /* fills writers' buffers; NULL for readers of user files */
  bool claims_time;              /* this pass was timed by the contender itself: */
  uint64_t claimed_run_ns, claimed_cpu_ns;
};

struct cell_files {
  const char *path, *directory;
  const struct content *content;
  const struct weir_input *input;  /* writers of streams; else NULL */
  const char *copy_directory;      /* task copy; else NULL */
  int32_t round; /* random orders differ from round to round, and are the same for all cells in it */
};

/* Makes the job of one instance of a cell; an instance of a striped demand is alone on the file of its member. Needs cell->impl. Pure, but for the services in `host`. */
void cell_job_init(struct cell_job *out, const struct plan *plan, unsigned group, unsigned cell, unsigned instance,
                   const struct cell_files *files);
/* Requests of one pass over all instances. */
uint64_t cell_operations(const struct plan *plan, unsigned group, unsigned cell);
/* The request size of a cell: all of a stream, the size of one of many files, its `block`, or the demand's. */
uint64_t cell_block(const struct plan_group *group, const struct plan_cell *cell);
/* Memory that the buffers of a cell need at once; UINT64_MAX when it does not fit a number. */
uint64_t cell_memory(const struct plan_group *group, const struct plan_cell *cell);

#endif
