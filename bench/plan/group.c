/*
 * group.c - groups and their cells: names, titles, twins, the order of a round. Pure; what goes into a group is decided in
 * make.c and spec.c.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/units.h"
#include "plan/parts.h"

char *group_text_copy(const char *text) {
  size_t size = strlen(text) + 1;
  char *copy = malloc(size);
  if (copy) memcpy(copy, text, size);
  return copy;
}

/* ---- text that grows in a fixed array ---- */

struct line {
  char *out;
  size_t size, used;
};

static void add(struct line *line, const char *mark, const char *text) {
  if (line->used >= line->size) return;
  int length = snprintf(line->out + line->used, line->size - line->used, "%s%s", line->used ? mark : "", text);
  if (length > 0) line->used += (size_t)length;
}

/* ---- names of groups ---- */

static void add_request_id(struct line *line, const struct plan_demand *demand) {
  char text[UNITS_TEXT_MAX];
  add(line, "-", plan_access_words[demand->access]);
  if (demand->request_bytes) add(line, "-", units_size_name(demand->request_bytes, text));
}

static void add_writer_id(struct line *line, const struct plan_demand *demand) {
  if (demand->target != WEIR_TARGET_OVERWRITE) add(line, "-", plan_target_words[demand->target]);
  const char *const words[] = {"buffered", "durable", "durable-each"};
  add(line, "-", words[demand->durability]);
}

void group_demand_id(const struct plan_demand *demand, bool with_size, char out[GROUP_ID_MAX]) {
  struct line line = {out, GROUP_ID_MAX, 0};
  char text[UNITS_TEXT_MAX];
  out[0] = '\0';
  if (demand->task != WEIR_TASK_BLOCKS) add(&line, "-", plan_task_words[demand->task]);
  if (demand->task != WEIR_TASK_COPY) add(&line, "-", plan_direction_words[demand->direction]);
  if (demand->task == WEIR_TASK_BLOCKS || demand->task == WEIR_TASK_MANY) add_request_id(&line, demand);
  if (demand->item_bytes) add(&line, "-lines-of-", units_size_name(demand->item_bytes, text));
  if (demand->direction != WEIR_READ) add_writer_id(&line, demand);
  if (demand->direction != WEIR_WRITE || demand->cache == PLAN_COLD) add(&line, "-", plan_cache_words[demand->cache]);
  if (demand->consumer != WEIR_CONSUMER_TOUCH) add(&line, "-consumer-", plan_consumer_words[demand->consumer]);
  if (demand->process == PLAN_FRESH) add(&line, "-", "fresh");
  if (demand->rate_per_s > 0) snprintf(text, sizeof text, "%.9g", demand->rate_per_s);
  if (demand->rate_per_s > 0) add(&line, "-rate-", text);
  if (demand->members) snprintf(text, sizeof text, "%u", demand->members);
  if (demand->members) add(&line, "-striped-", text);
  if (with_size) add(&line, "-", units_size_name(demand->size_bytes, text));
}

bool plan_same_demand(const struct plan_demand *a, const struct plan_demand *b) {
  return a->task == b->task && a->direction == b->direction && a->access == b->access && a->durability == b->durability &&
         a->target == b->target && a->consumer == b->consumer && a->cache == b->cache && a->process == b->process &&
         a->size_bytes == b->size_bytes && a->request_bytes == b->request_bytes && a->item_bytes == b->item_bytes &&
         a->coverage == b->coverage && a->write_share == b->write_share && a->rate_per_s == b->rate_per_s &&
         a->members == b->members;
}

/* ---- titles ---- */

void plan_settle_demand(struct plan_demand *demand) {
  const bool stream = weir_task_streams(demand->task), files = weir_task_has_files(demand->task);
  if (!stream && !files) demand->item_bytes = 0;
  if (stream) {
    demand->access = WEIR_SEQUENTIAL;
    demand->request_bytes = 0;
    if (demand->target != WEIR_TARGET_NEW && demand->direction == WEIR_WRITE) demand->target = WEIR_TARGET_TRUNCATE;
    if (demand->direction == WEIR_MIXED) demand->direction = WEIR_READ;
  }
  if (demand->task == WEIR_TASK_MANY) demand->direction = WEIR_READ;
  if (demand->task == WEIR_TASK_COPY) {
    demand->direction = WEIR_WRITE;
    demand->target = WEIR_TARGET_NEW;
    demand->access = WEIR_SEQUENTIAL;
    if (!demand->request_bytes || demand->request_bytes > demand->size_bytes) demand->request_bytes = demand->size_bytes;
  }
  if (demand->task == WEIR_TASK_MANY && !demand->request_bytes) demand->request_bytes = PLAN_MANY_DEFAULT;
}

static void add_files(struct line *line, const struct plan_demand *demand) {
  char text[64], size[UNITS_TEXT_MAX];
  const uint64_t count = (demand->size_bytes + demand->request_bytes - 1) / demand->request_bytes;
  const char *verb = demand->task == WEIR_TASK_COPY ? "copy" : "read";
  units_size_text((double)demand->request_bytes, size);
  if (count == 1)
    snprintf(text, sizeof text, "%s a file", verb);
  else
    snprintf(text, sizeof text, "%s %llu files of %s", verb, (unsigned long long)count, size);
  add(line, "", text);
  if (demand->task == WEIR_TASK_MANY && demand->access == WEIR_RANDOM) add(line, ", ", "random");
  add(line, ", ", units_size_text((double)demand->size_bytes, size));
}

static void add_stream(struct line *line, const struct plan_demand *demand) {
  const char *const words[] = {"lines", "text", "records", "typed values"};
  char text[UNITS_TEXT_MAX];
  add(line, "", plan_direction_words[demand->direction]);
  add(line, " ", words[demand->task - WEIR_TASK_LINES]);
  if (demand->item_bytes) add(line, " with lines of ", units_size_text((double)demand->item_bytes, text));
  add(line, ", ", units_size_text((double)demand->size_bytes, text));
}

static void add_what(struct line *line, const struct plan_demand *demand) {
  char text[UNITS_TEXT_MAX];
  if (weir_task_has_files(demand->task)) {
    add_files(line, demand);
    return;
  }
  if (weir_task_streams(demand->task)) {
    add_stream(line, demand);
    return;
  }
  add(line, "", plan_direction_words[demand->direction]);
  add(line, " ", demand->task == WEIR_TASK_WHOLE ? "whole file" : "blocks");
  if (demand->request_bytes) add(line, " of ", units_size_text((double)demand->request_bytes, text));
  if (demand->task == WEIR_TASK_BLOCKS) add(line, ", ", plan_access_words[demand->access]);
  add(line, ", ", units_size_text((double)demand->size_bytes, text));
  if (demand->members) snprintf(text, sizeof text, "%u", demand->members);
  if (demand->members) add(line, " striped over ", text);
}

static void add_coverage(struct line *line, const struct plan_demand *demand) {
  char text[48];
  if (demand->access != WEIR_RANDOM || demand->coverage >= 1) return;
  snprintf(text, sizeof text, "%.3g %% of the blocks", demand->coverage * 100);
  add(line, ", ", text);
}

static void add_how(struct line *line, const struct plan_demand *demand) {
  const char *const targets[] = {"overwritten", "truncated first", "new file", "preallocated"};
  const char *const durabilities[] = {"not durable", "durable at the end", "every write durable"};
  const char *const consumers[] = {"bytes not touched", "", "bytes hashed", "bytes verified"};
  char text[48];
  if (demand->direction == WEIR_WRITE) add(line, ", ", targets[demand->target]);
  if (demand->direction == WEIR_MIXED) {
    snprintf(text, sizeof text, "%.3g %% writes", demand->write_share * 100);
    add(line, ", ", text);
  }
  if (demand->direction != WEIR_READ) add(line, ", ", durabilities[demand->durability]);
  if (demand->direction != WEIR_WRITE || demand->cache == PLAN_COLD) add(line, ", ", plan_cache_words[demand->cache]);
  if (demand->consumer != WEIR_CONSUMER_TOUCH) add(line, ", ", consumers[demand->consumer]);
  if (demand->process == PLAN_FRESH) add(line, ", ", "fresh process");
  if (demand->rate_per_s > 0) {
    snprintf(text, sizeof text, "%.9g requests/s", demand->rate_per_s);
    add(line, ", ", text);
  }
}

void plan_demand_title(const struct plan_demand *demand, char out[PLAN_TITLE_MAX]) {
  struct line line = {out, PLAN_TITLE_MAX, 0};
  add_what(&line, demand);
  add_coverage(&line, demand);
  add_how(&line, demand);
}

int group_retitle(struct plan_group *group) {
  char text[PLAN_TITLE_MAX];
  plan_demand_title(&group->demand, text);
  char *title = group_text_copy(text);
  if (!title) return -ENOMEM;
  free(group->title);
  group->title = title;
  return 0;
}

/* floor(pages * i / n), for any number of pages. */
static uint64_t share_end(uint64_t pages, unsigned i, unsigned n) { return pages / n * i + pages % n * i / n; }

uint64_t plan_member_bytes(const struct plan_demand *demand, unsigned member) {
  const uint64_t size = demand->size_bytes, pages = size / PLAN_MEMBER_GRAIN + (size % PLAN_MEMBER_GRAIN != 0);
  if (!demand->members) return size;
  const uint64_t begin = share_end(pages, member, demand->members) * PLAN_MEMBER_GRAIN;
  const uint64_t end = member + 1 < demand->members ? share_end(pages, member + 1, demand->members) * PLAN_MEMBER_GRAIN : size;
  return end - begin;
}

int plan_resize(struct plan_group *group, uint64_t size_bytes) {
  uint64_t before = group->demand.size_bytes;
  group->demand.size_bytes = size_bytes;
  int code = group_retitle(group);
  if (code < 0) group->demand.size_bytes = before;
  return code;
}

/* ---- cells ---- */

/* Room for the longest name: method, eight parameters, threads, and a path of any length is added to it. */
#define CELL_NAME_MAX 640u

/* Everything that tells the cell apart, without #2; instances of members are no choice. Caller frees. */
static char *cell_name(const struct plan_group *group, const struct plan_cell *cell, const char *place) {
  size_t size = CELL_NAME_MAX + (place ? strlen(place) : 0);
  char *name = malloc(size), text[64];
  if (!name) return NULL;
  struct line line = {name, size, 0};
  const char *mark = "[";
  add(&line, "", cell->method);
  for (unsigned i = 0; i < cell->param_count; i++) {
    const struct plan_param *param = &cell->params[i];
    if (param->fixed) continue;
    snprintf(text, sizeof text, "%s=%s", param->name, param->text);
    add(&line, mark, text);
    mark = ",";
  }
  if (cell->threads > 1 && !group->demand.members) {
    snprintf(text, sizeof text, "threads=%u", cell->threads);
    add(&line, mark, text);
    mark = ",";
  }
  if (*mark == ',') add(&line, "]", "");
  if (place) add(&line, "@", place);
  return name;
}

static bool cell_name_taken(const struct plan_group *group, const char *name) {
  for (unsigned i = 0; i < group->cell_count; i++)
    if (strcmp(group->cells[i].id, name) == 0) return true;
  return false;
}

/* Takes `name` over and gives it back, with #2, #3 ... where the group has it already. */
static char *cell_name_unique(const struct plan_group *group, char *name) {
  if (!cell_name_taken(group, name)) return name;
  size_t size = strlen(name) + 16;
  char *numbered = malloc(size);
  for (unsigned number = 2; numbered; number++) {
    snprintf(numbered, size, "%s#%u", name, number);
    if (!cell_name_taken(group, numbered)) break;
  }
  free(name);
  return numbered;
}

static int cell_push(struct plan_group *group, const struct plan_cell *cell, char *id) {
  struct plan_cell *cells = id ? realloc(group->cells, (group->cell_count + 1u) * sizeof *cells) : NULL;
  if (!cells) {
    free(id);
    return -ENOMEM;
  }
  group->cells = cells;
  cells[group->cell_count] = *cell;
  cells[group->cell_count++].id = id;
  return 0;
}

int group_append(struct plan_group *group, const struct plan_cell *cell, const char *place) {
  char *name = cell_name(group, cell, place);
  if (!name) return -ENOMEM;
  return cell_push(group, cell, cell_name_unique(group, name));
}

void group_lead(struct plan_group *group, unsigned cell) {
  struct plan_cell leader = group->cells[cell];
  memmove(group->cells + 1, group->cells, cell * sizeof leader);
  group->cells[0] = leader;
}

int plan_add_twin(struct plan_group *group, unsigned of) {
  assert(of < group->cell_count);
  struct plan_cell twin = group->cells[of];
  size_t size = strlen(twin.id) + sizeof "#twin";
  char *id = malloc(size);
  if (id) snprintf(id, size, "%s#twin", twin.id);
  twin.twin = true;
  return cell_push(group, &twin, id);
}

bool plan_cell_counts(const struct plan_cell *cell) {
  return cell->status == PLAN_OK && !cell->twin && !(cell->capabilities & WEIR_CAP_FLOOR);
}

unsigned plan_group_k(const struct plan_group *group) {
  unsigned k = 0;
  for (unsigned i = 0; i < group->cell_count; i++) k += plan_cell_counts(&group->cells[i]);
  return k;
}

void plan_round_order(const struct plan *plan, unsigned group, unsigned round, uint32_t *order) {
  struct random_state state = random_start(plan->seed, random_mix(((uint64_t)group << 32 | round) + 1));
  random_permutation(&state, plan->groups[group].cell_count, order);
}

/* ---- the end ---- */

void group_release(struct plan_group *group) {
  for (unsigned i = 0; i < group->cell_count; i++) free(group->cells[i].id);
  free(group->cells);
  free(group->id);
  free(group->title);
  *group = (struct plan_group){0};
}

void plan_release(struct plan *plan) {
  for (unsigned i = 0; i < plan->group_count; i++) group_release(&plan->groups[i]);
  for (unsigned i = 0; i < plan->place_count; i++) free(plan->places[i]);
  free(plan->groups);
  free(plan->places);
  free(plan->suite);
  free(plan->file);
  *plan = (struct plan){0};
}
