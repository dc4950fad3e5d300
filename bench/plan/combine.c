/* combine.c - from the words of a request to demands: what was said, what is usual, and every combination of lists. */
#include "plan/parts.h"

#define MIB (UINT64_C(1) << 20)
#define SIZE_DEFAULT (128 * MIB)
#define REQUEST_DEFAULT UINT64_C(4096)
/* Without --size no more than this much of a user's file is read in one pass. The title tells how much. */
#define FILE_REGION_MAX (1024 * MIB)

struct plan_sizes plan_sizes_for(const struct plan_request *request, uint64_t usual) {
  struct plan_sizes sizes = request->size;
  if (!sizes.count) sizes = (struct plan_sizes){1, {request->file ? FILE_REGION_MAX : usual}};
  for (unsigned i = 0; i < sizes.count && request->file; i++)
    if (sizes.values[i] > request->file_bytes) sizes.values[i] = request->file_bytes;
  return sizes;
}

unsigned plan_striped(const struct plan_request *request) { return request->members.count > 1 ? request->members.count : 0; }

void plan_apply(const struct plan_request *request, struct plan_demand *demand) {
  if (request->item_bytes) demand->item_bytes = request->item_bytes;
  demand->members = plan_striped(request);
  demand->rate_per_s = request->rate_per_s;
  plan_settle_demand(demand);
  if (request->file && !request->size.count && weir_task_streams(demand->task)) demand->size_bytes = request->file_bytes;
}

/* One axis for each word, in the order in which they turn: the last one fastest. */
enum {
  BY_TASK,
  BY_DIRECTION,
  BY_ACCESS,
  BY_REQUEST,
  BY_SIZE,
  BY_DURABILITY,
  BY_TARGET,
  BY_CACHE,
  BY_CONSUMER,
  BY_PROCESS,
  AXES
};

struct combination {
  unsigned count[AXES], at[AXES];
  uint64_t values[AXES][16];
};

static void take_words(struct combination *all, unsigned axis, const struct plan_words *words, unsigned usual) {
  all->count[axis] = words->count ? words->count : 1;
  all->values[axis][0] = usual;
  for (unsigned i = 0; i < words->count; i++) all->values[axis][i] = (uint64_t)words->values[i];
}

static void take_sizes(struct combination *all, unsigned axis, const struct plan_sizes *sizes, uint64_t usual) {
  all->count[axis] = sizes->count ? sizes->count : 1;
  all->values[axis][0] = usual;
  for (unsigned i = 0; i < sizes->count; i++) all->values[axis][i] = sizes->values[i];
}

static void take_request(struct combination *all, const struct plan_request *request) {
  struct plan_sizes sizes = plan_sizes_for(request, SIZE_DEFAULT);
  take_words(all, BY_TASK, &request->task, WEIR_TASK_BLOCKS);
  take_words(all, BY_DIRECTION, request->direction.count ? &request->direction : &request->only, WEIR_READ);
  take_words(all, BY_ACCESS, &request->access, WEIR_SEQUENTIAL);
  take_sizes(all, BY_REQUEST, &request->request, 0);
  take_sizes(all, BY_SIZE, &sizes, SIZE_DEFAULT);
  take_words(all, BY_DURABILITY, &request->durability, WEIR_DURABILITY_END);
  take_words(all, BY_TARGET, &request->target, WEIR_TARGET_OVERWRITE);
  take_words(all, BY_CACHE, &request->cache, PLAN_WARM);
  take_words(all, BY_CONSUMER, &request->consumer, WEIR_CONSUMER_TOUCH);
  take_words(all, BY_PROCESS, &request->process, PLAN_SAME);
}

static uint64_t word_of(const struct combination *all, unsigned axis) { return all->values[axis][all->at[axis]]; }

static bool next_combination(struct combination *all) {
  for (unsigned axis = AXES; axis-- > 0;) {
    if (++all->at[axis] < all->count[axis]) return true;
    all->at[axis] = 0;
  }
  return false;
}

/* Words that mean nothing in a combination take their plain value, so that it equals the one where they were not said. */
static struct plan_demand demand_of(const struct combination *all, const struct plan_request *request) {
  struct plan_demand demand = {
      .task = (enum weir_task)word_of(all, BY_TASK),
      .direction = (enum weir_direction)word_of(all, BY_DIRECTION),
      .access = (enum weir_access)word_of(all, BY_ACCESS),
      .durability = (enum weir_durability)word_of(all, BY_DURABILITY),
      .target = (enum weir_target)word_of(all, BY_TARGET),
      .consumer = (enum weir_consumer)word_of(all, BY_CONSUMER),
      .cache = (enum plan_cache)word_of(all, BY_CACHE),
      .process = (enum plan_process)word_of(all, BY_PROCESS),
      .size_bytes = word_of(all, BY_SIZE),
      .request_bytes = word_of(all, BY_REQUEST),
      .coverage = 1,
  };
  plan_apply(request, &demand);
  if (demand.task == WEIR_TASK_WHOLE) {
    demand.access = WEIR_SEQUENTIAL;
    demand.request_bytes = 0;
  }
  if (demand.access == WEIR_RANDOM) {
    if (!demand.request_bytes) demand.request_bytes = REQUEST_DEFAULT;
    if (request->coverage > 0) demand.coverage = request->coverage;
  }
  if (demand.direction == WEIR_MIXED) {
    demand.write_share = request->write_share > 0 ? request->write_share : PLAN_WRITE_SHARE_DEFAULT;
    demand.target = WEIR_TARGET_OVERWRITE;
    demand.task = WEIR_TASK_BLOCKS;
    if (!request->durability.count) demand.durability = WEIR_DURABILITY_NONE;
  } else if (demand.task == WEIR_TASK_COPY) {
    if (!request->durability.count) demand.durability = WEIR_DURABILITY_NONE;
  } else if (demand.direction == WEIR_READ) {
    demand.durability = WEIR_DURABILITY_NONE;
    demand.target = WEIR_TARGET_OVERWRITE;
  } else if (demand.target == WEIR_TARGET_NEW || demand.target == WEIR_TARGET_TRUNCATE) {
    demand.cache = PLAN_WARM;
  }
  return demand;
}

int plan_combine(const struct plan_request *request, int (*each)(void *context, const struct plan_demand *demand),
                 void *context) {
  struct combination all = {{0}, {0}, {{0}}};
  take_request(&all, request);
  int code = 0;
  do {
    const struct plan_demand demand = demand_of(&all, request);
    code = each(context, &demand);
  } while (code == 0 && next_combination(&all));
  return code;
}
