/*
 * make.c - from what the user said to a plan. Pure: whether a method works here is found later.
 *
 * There are two sources of groups: a suite's text, thinned out by the demand words that were said, or, without a suite,
 * every combination of those words (combine.c). Both end in add_group, which fills a group with cells.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "plan/parts.h"

#define MIB (UINT64_C(1) << 20)
#define SMALLEST_DEFAULT (16 * MIB)
#define GROUPS_MAX 64u

/* What the user's specs came to, one for each. */
struct wish {
  struct spec spec;
  unsigned cells;        /* in all groups */
  struct plan_error why; /* why it did not fit, last seen */
};

struct making {
  const struct plan_request *request;
  struct plan *plan;
  struct plan_error *error;
  struct spec_scope scope;
  unsigned wish_count;
  struct wish *wishes;
  struct wish *baseline; /* --baseline, or NULL */
  struct wish *also;     /* one for each of request->also */
};

/* A group to be filled: from the suite, or NULL texts. */
struct draft {
  struct plan_demand demand;
  const char *name;     /* of the suite's group, or NULL */
  unsigned spec_count;
  const struct suite_spec *specs;
  struct suite_spec baseline; /* spec or style, or NULL */
  unsigned priority;
  uint64_t smallest_bytes;
  unsigned style_count;
  const struct suite_style *styles;
  uint64_t loops;
};

/* ---- cells ---- */

static int add_wishes(struct making *making, struct plan_group *group) {
  for (unsigned i = 0; i < making->wish_count; i++) {
    struct wish *wish = &making->wishes[i];
    int count = spec_expand(&wish->spec, &making->scope, group, &wish->why);
    if (count < 0) *making->error = wish->why;
    if (count < 0) return count;
    wish->cells += (unsigned)count;
  }
  return 0;
}

/* Puts before the error where in the suite it is. */
static int at_line(struct making *making, unsigned line, int code) {
  struct plan_error *error = making->error;
  char text[sizeof error->text];
  if (code != -EINVAL) return code;
  snprintf(text, sizeof text, "%.200s: line %u: ", making->plan->suite, line);
  const size_t before = strlen(text);
  strncat(text, error->text, sizeof text - 1 - before);
  memcpy(error->text, text, sizeof text);
  return code;
}

/* One spec of a suite. There it has to fit: a suite that asks for what cannot be is wrong. */
static int add_suite_spec(struct making *making, unsigned line, const char *text, struct plan_group *group) {
  struct spec *spec = malloc(sizeof *spec);
  struct spec_scope scope = making->scope;
  scope.option = "--suite";
  int code = spec ? spec_parse(text, &scope, spec, making->error) : -ENOMEM;
  if (code == 0) code = spec_expand(spec, &scope, group, making->error);
  free(spec);
  return at_line(making, line, code == 0 ? -EINVAL : code < 0 ? code : 0);
}

static int add_suite_methods(struct making *making, const struct draft *draft, struct plan_group *group) {
  int code = 0;
  for (unsigned i = 0; i < draft->spec_count && code == 0; i++)
    code = add_suite_spec(making, draft->specs[i].line, draft->specs[i].text, group);
  return code;
}

static int add_every(struct making *making, struct plan_group *group) {
  struct wish *every = calloc(1, sizeof *every);
  if (!every) return -ENOMEM;
  spec_every(&every->spec);
  int code = spec_expand(&every->spec, &making->scope, group, making->error);
  free(every);
  return code < 0 ? code : 0;
}

/* ---- styles ---- */

static bool is_built_in(const struct making *making, const char *spec) {
  size_t length = strcspn(spec, "[");
  for (const struct weir_method *const *method = making->scope.methods; *method; method++)
    if (strlen((*method)->name) == length && memcmp((*method)->name, spec, length) == 0) return true;
  return false;
}

/* A method that not every build has: its row says so. */
static int add_missing(struct making *making, const char *spec, struct plan_group *group) {
  const struct spec_scope *scope = &making->scope;
  struct plan_cell cell = {.status = PLAN_UNAVAILABLE};
  int code = 0;
  snprintf(cell.method, sizeof cell.method, "%.*s", (int)strcspn(spec, "["), spec);
  snprintf(cell.reason, sizeof cell.reason, "this weir was built without it");
  snprintf(cell.remedy, sizeof cell.remedy, "install what scripts/setup.sh lists and build again");
  for (unsigned t = 0; t < scope->threads->count; t++)
    for (cell.place = 0; cell.place < scope->place_count && code == 0; cell.place++) {
      cell.threads = (unsigned)scope->threads->values[t];
      code = group_append(group, &cell, scope->place_count > 1 ? scope->places[cell.place] : NULL);
    }
  return code;
}

static int add_style(struct making *making, const struct suite_style *style, struct plan_group *group) {
  const char *spec = group->demand.direction == WEIR_WRITE ? style->writer : style->reader;
  unsigned before = group->cell_count;
  if (!spec) return 0;
  int code = is_built_in(making, spec) ? add_suite_spec(making, style->line, spec, group) : add_missing(making, spec, group);
  for (unsigned i = before; i < group->cell_count; i++)
    snprintf(group->cells[i].style, sizeof group->cells[i].style, "%s", style->name);
  return code;
}

static int add_named(struct making *making, const struct draft *draft, struct plan_group *group) {
  int code = 0;
  if (making->wish_count) return add_wishes(making, group);
  for (unsigned i = 0; i < draft->style_count && code == 0; i++) code = add_style(making, &draft->styles[i], group);
  if (code < 0) return code;
  if (draft->spec_count) return add_suite_methods(making, draft, group);
  return draft->style_count ? 0 : add_every(making, group);
}

static int find_cell(const struct plan_group *group, const struct spec *spec) {
  for (unsigned i = 0; i < group->cell_count; i++)
    if (spec_matches(spec, &group->cells[i])) return (int)i;
  return -1;
}

static const char *also_option(const struct plan_request *request, unsigned index) {
  return index < request->also_must ? "--exec" : "--plugin";
}

/* Contenders from outside that are not there by name. */
static int add_also(struct making *making, struct plan_group *group) {
  struct spec_scope scope = making->scope;
  for (unsigned i = 0; i < making->request->also.count; i++) {
    scope.option = also_option(making->request, i);
    struct wish *wish = &making->also[i];
    int count = find_cell(group, &wish->spec) >= 0 ? 1 : spec_expand(&wish->spec, &scope, group, &wish->why);
    if (count < 0) *making->error = wish->why;
    if (count < 0) return count;
    wish->cells += (unsigned)count;
  }
  return 0;
}

static int add_cells(struct making *making, const struct draft *draft, struct plan_group *group) {
  int code = add_named(making, draft, group);
  return code == 0 ? add_also(making, group) : code;
}

/* ---- the baseline: the cell that comes first ---- */

/* Leads the group with the cell that the spec names, adding it where it is missing. 1, 0 when it does not fit, or an error.
 */
static int lead_with(struct making *making, const struct spec *spec, const char *option, struct plan_group *group,
                     struct plan_error *why) {
  struct spec_scope scope = making->scope;
  scope.option = option;
  int cell = find_cell(group, spec);
  if (cell < 0) {
    cell = (int)group->cell_count;
    int count = spec_expand(spec, &scope, group, why);
    if (count <= 0) return count;
  }
  if (group->cells[cell].capabilities & WEIR_CAP_FLOOR)
    return plan_fail(why, option, spec->text, NULL, "'%s' moves no data; it cannot be a baseline", spec->text);
  group_lead(group, (unsigned)cell);
  return 1;
}

static int lead_with_text(struct making *making, const struct suite_spec *baseline, struct plan_group *group) {
  const char *text = baseline->text;
  for (unsigned i = 0; i < group->cell_count; i++)
    if (strcmp(group->cells[i].style, text) == 0) {
      group_lead(group, i);
      return 0;
    }
  struct spec *spec = malloc(sizeof *spec);
  struct spec_scope scope = making->scope;
  scope.option = "--suite";
  int code = spec ? spec_parse(text, &scope, spec, making->error) : -ENOMEM;
  if (code == 0) code = lead_with(making, spec, "--suite", group, making->error);
  free(spec);
  return at_line(making, baseline->line, code == 0 ? -EINVAL : code < 0 ? code : 0);
}

static unsigned place_in_list(const struct making *making, const struct plan_cell *cell) {
  unsigned place = 0;
  while (making->scope.methods[place] && strcmp(making->scope.methods[place]->name, cell->method) != 0) place++;
  return place;
}

/* Nobody named a baseline: the method that stands first in the list, so that the order of -m does not matter. */
static void lead_by_list(const struct making *making, struct plan_group *group) {
  const unsigned none = group->cell_count;
  unsigned first = none;
  for (unsigned i = 0; i < group->cell_count; i++) {
    if (group->cells[i].capabilities & WEIR_CAP_FLOOR) continue;
    if (first == none || place_in_list(making, &group->cells[i]) < place_in_list(making, &group->cells[first])) first = i;
  }
  if (first != none) group_lead(group, first);
}

static int choose_baseline(struct making *making, const struct draft *draft, struct plan_group *group) {
  if (making->baseline) {
    int code = lead_with(making, &making->baseline->spec, "--baseline", group, &making->baseline->why);
    if (code < 0) *making->error = making->baseline->why;
    if (code != 0) making->baseline->cells++;
    if (code != 0) return code < 0 ? code : 0;
  }
  if (draft->baseline.text && !making->wish_count) return lead_with_text(making, &draft->baseline, group);
  lead_by_list(making, group);
  return 0;
}

/* ---- groups ---- */

static bool group_id_taken(const struct plan *plan, const char *id) {
  for (unsigned i = 0; i < plan->group_count; i++)
    if (strcmp(plan->groups[i].id, id) == 0) return true;
  return false;
}

/* The suite's name for it, or one made from the demand; the size where several are measured; a number where that is not
 * enough. */
static char *group_id(const struct making *making, const struct draft *draft) {
  char id[GROUP_ID_MAX], numbered[GROUP_ID_MAX + 16], size[UNITS_TEXT_MAX];
  bool with_size = making->request->size.count > 1;
  if (!draft->name)
    group_demand_id(&draft->demand, with_size, id);
  else if (with_size)
    snprintf(id, sizeof id, "%s-%s", draft->name, units_size_name(draft->demand.size_bytes, size));
  else
    snprintf(id, sizeof id, "%s", draft->name);
  snprintf(numbered, sizeof numbered, "%s", id);
  for (unsigned number = 2; group_id_taken(making->plan, numbered); number++)
    snprintf(numbered, sizeof numbered, "%s-%u", id, number);
  return group_text_copy(numbered);
}

static int push_group(struct plan *plan, const struct plan_group *group) {
  struct plan_group *groups = realloc(plan->groups, (plan->group_count + 1u) * sizeof *groups);
  if (!groups) return -ENOMEM;
  plan->groups = groups;
  groups[plan->group_count++] = *group;
  return 0;
}

/* A user's file that is a stream is read to its end; files that weir makes are what is copied, and many. */
static int check_file(struct making *making, const struct plan_demand *demand) {
  const char *word = plan_task_words[demand->task];
  if (!making->request->file) return 0;
  if (weir_task_has_files(demand->task))
    return plan_fail(making->error, "--task", word, NULL, "task '%s' works on files that weir makes; leave FILE out", word);
  if (!weir_task_streams(demand->task) || demand->size_bytes == making->request->file_bytes) return 0;
  return plan_fail(making->error, making->request->size.count ? "--size" : "--task", word, NULL,
                   "task '%s' takes a whole FILE; a part of it would cut its last line", word);
}

static int check_request_size(struct making *making, const struct plan_demand *demand) {
  char request[UNITS_TEXT_MAX], size[UNITS_TEXT_MAX];
  if (making->request->file || demand->request_bytes <= demand->size_bytes) return 0;
  return plan_fail(making->error, making->request->request.count ? "--request" : "--size", "", NULL,
                   "a request of %s is larger than the file of %s", units_size_name(demand->request_bytes, request),
                   units_size_name(demand->size_bytes, size));
}

/* Every member has at least a page. */
static int check_members(struct making *making, const struct plan_demand *demand) {
  char least[UNITS_TEXT_MAX];
  if (demand->size_bytes / PLAN_MEMBER_GRAIN >= demand->members) return 0;
  return plan_fail(making->error, "--size", "", NULL, "%u members need at least %s", demand->members,
                   units_size_name(demand->members * PLAN_MEMBER_GRAIN, least));
}

/* They are rows all the same: who asks for a rate learns why they are missing. */
static void put_out_unpaced(struct plan_group *group) {
  for (unsigned i = 0; i < group->cell_count; i++) {
    struct plan_cell *cell = &group->cells[i];
    if (group->demand.rate_per_s <= 0 || cell->status != PLAN_OK || (cell->capabilities & WEIR_CAP_PACED)) continue;
    cell->status = PLAN_UNAVAILABLE;
    snprintf(cell->reason, sizeof cell->reason, "it begins its requests when it likes: it cannot be given a rate");
    snprintf(cell->remedy, sizeof cell->remedy, "leave --rate out");
  }
}

static int fill_group(struct making *making, const struct draft *draft, struct plan_group *group) {
  int code = add_cells(making, draft, group);
  if (code == 0 && group->cell_count) code = choose_baseline(making, draft, group);
  if (code < 0 || !group->cell_count) return code;
  put_out_unpaced(group);
  group->id = group_id(making, draft);
  if (!group->id) return -ENOMEM;
  code = group_retitle(group);
  return code < 0 ? code : push_group(making->plan, group);
}

/* Adds the group unless no method fits it. */
static int add_group(struct making *making, const struct draft *draft) {
  struct plan *plan = making->plan;
  int code = check_request_size(making, &draft->demand);
  if (code == 0) code = check_file(making, &draft->demand);
  if (code == 0) code = check_members(making, &draft->demand);
  if (code < 0) return code;
  if (plan->group_count == GROUPS_MAX)
    return plan_fail(making->error, "--size", "", NULL, "more than %u groups; say fewer words or sizes", GROUPS_MAX);
  struct plan_group group = {.demand = draft->demand, .priority = draft->priority, .loops = draft->loops};
  group.size_fixed = making->request->size.count > 0 || making->request->file;
  group.smallest_bytes = draft->smallest_bytes < draft->demand.size_bytes ? draft->smallest_bytes : draft->demand.size_bytes;
  if (group.smallest_bytes && group.smallest_bytes < group.demand.members * PLAN_MEMBER_GRAIN)
    group.smallest_bytes = group.demand.members * PLAN_MEMBER_GRAIN;
  unsigned before = plan->group_count;
  code = fill_group(making, draft, &group);
  if (plan->group_count == before) group_release(&group);
  return code;
}

/* ---- groups of a suite ---- */

static bool asked(const struct plan_words *words, unsigned value) { return !words->count || plan_has_word(words, value); }

static bool asked_size(const struct plan_sizes *sizes, uint64_t value) {
  for (unsigned i = 0; i < sizes->count; i++)
    if (sizes->values[i] == value) return true;
  return !sizes->count;
}

/* Of one member there is nothing to stripe over. */
static bool asked_group(const struct plan_request *request, const struct plan_demand *demand) {
  bool writes = demand->direction == WEIR_WRITE;
  if (request->file && weir_task_has_files(demand->task)) return false;
  if ((plan_striped(request) || request->rate_per_s > 0) && demand->task != WEIR_TASK_BLOCKS) return false;
  if (request->file && (writes || (demand->cache == PLAN_COLD && !plan_has_word(&request->cache, PLAN_COLD)))) return false;
  return asked(&request->only, demand->direction) && asked(&request->task, demand->task) &&
         asked(&request->direction, demand->direction) && asked(&request->access, demand->access) &&
         asked(&request->durability, demand->durability) &&
         (writes ? asked(&request->target, demand->target) : !request->target.count) &&
         asked(&request->cache, demand->cache) && asked(&request->consumer, demand->consumer) &&
         asked(&request->process, demand->process) && asked_size(&request->request, demand->request_bytes);
}

static int add_suite_group(struct making *making, const struct suite_group *group) {
  struct draft draft = {group->demand,   group->name,           group->spec_count,  group->specs,  group->baseline,
                        group->priority, group->smallest_bytes, group->style_count, group->styles, group->loops};
  struct plan_sizes sizes = plan_sizes_for(making->request, group->demand.size_bytes);
  if (draft.demand.access == WEIR_RANDOM && making->request->coverage > 0) draft.demand.coverage = making->request->coverage;
  int code = 0;
  for (unsigned i = 0; i < sizes.count && code == 0; i++) {
    if (i > 0 && sizes.values[i] == sizes.values[i - 1]) continue;
    draft.demand.size_bytes = sizes.values[i];
    plan_apply(making->request, &draft.demand);
    code = add_group(making, &draft);
  }
  return code;
}

static int nothing_asked(struct making *making, const struct suite *suite) {
  char text[128] = "";
  size_t used = 0;
  for (unsigned i = 0; i < suite->group_count && used < sizeof text; i++)
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? ", " : "", suite->groups[i].name);
  return plan_fail(making->error, "--suite", suite->name, NULL, "no group of '%s' fits what is asked; it has %s",
                   suite->name, text);
}

static int unknown_suite(struct making *making, const char *name) {
  const char *names[65] = {NULL};
  char list[128];
  for (unsigned i = 0; i < 64 && plan_suites[i].name; i++) names[i] = plan_suites[i].name;
  return plan_fail(making->error, "--suite", name, plan_nearest(name, names), "unknown suite '%.40s'; choose from %s", name,
                   plan_word_list(names, list, sizeof list));
}

/* The suite's own effort and flush, where nothing else was said. */
static void take_settings(struct making *making, const struct suite *suite) {
  const struct plan_request *request = making->request;
  if (!request->rounds && !request->time_ns) making->plan->rounds = suite->rounds;
  if (request->flush == PLAN_UNSAID && suite->flush >= 0) making->plan->flush = (enum plan_flush)suite->flush;
}

static int groups_from_suite(struct making *making, const char *name) {
  const struct plan_suite own = {.name = name, .text = making->request->suite_text}, *found = plan_suites;
  while (found->name && strcmp(found->name, name) != 0) found++;
  if (own.text) found = &own;
  if (!found->name) return unknown_suite(making, name);
  struct suite suite;
  int code = suite_parse(found->name, found->text, &suite, making->error);
  if (code < 0) return code;
  if (!suite.group_count) code = plan_fail(making->error, "--suite", name, NULL, "%.200s: there is no [group NAME] in it", name);
  take_settings(making, &suite);
  unsigned fitting = 0;
  for (unsigned i = 0; i < suite.group_count && code == 0; i++) {
    if (!asked_group(making->request, &suite.groups[i].demand)) continue;
    fitting++;
    code = add_suite_group(making, &suite.groups[i]);
  }
  if (code == 0 && !fitting) code = nothing_asked(making, &suite);
  suite_release(&suite);
  return code;
}

/* ---- groups of words ---- */

static bool demand_there(const struct plan *plan, const struct plan_demand *demand) {
  for (unsigned i = 0; i < plan->group_count; i++)
    if (plan_same_demand(&plan->groups[i].demand, demand)) return true;
  return false;
}

static int add_combination(void *context, const struct plan_demand *demand) {
  struct making *making = context;
  const struct draft draft = {.demand = *demand, .priority = making->plan->group_count, .smallest_bytes = SMALLEST_DEFAULT};
  const bool wanted = asked(&making->request->only, demand->direction);
  return wanted && !demand_there(making->plan, demand) ? add_group(making, &draft) : 0;
}

/* ---- putting it together ---- */

/* The suite to take groups from, or NULL when the words alone make them. The cache alone is a view of the usual uses. */
static const char *suite_for(const struct plan_request *request) {
  const struct plan_words *const words[] = {&request->task,   &request->direction, &request->access, &request->durability,
                                            &request->target, &request->consumer,  &request->process};
  if (request->suite) return request->suite;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (words[i]->count) return NULL;
  return request->methods.count || request->request.count ? NULL : "default";
}

static int copy_places(const struct plan_request *request, struct plan *plan) {
  /* A user's file is where it is: places would only name the same cell several times. */
  const struct plan_strings *said = request->members.count ? &request->members : &request->places;
  unsigned count = said->count && !request->file ? said->count : 1;
  plan->places = calloc(count, sizeof *plan->places);
  if (!plan->places) return -ENOMEM;
  for (; plan->place_count < count; plan->place_count++) {
    const char *place = said->count ? said->values[plan->place_count] : ".";
    if (!(plan->places[plan->place_count] = group_text_copy(place))) return -ENOMEM;
  }
  return 0;
}

static int copy_settings(const struct plan_request *request, const char *suite, struct plan *plan) {
  plan->seed = request->seed;
  plan->rounds = request->rounds;
  plan->time_ns = request->time_ns ? request->time_ns : PLAN_TIME_DEFAULT_NS;
  plan->fill_time = request->time_ns != 0;
  plan->margin = request->margin;
  plan->flush = request->flush < 0 ? PLAN_FLUSH_DONTNEED : (enum plan_flush)request->flush;
  plan->rank_by = request->rank_by;
  plan->latency = request->latency || request->rate_per_s > 0;
  plan->private_copies = request->private_copies;
  plan->suite = group_text_copy(suite ? suite : "");
  if (request->file && !(plan->file = group_text_copy(request->file))) return -ENOMEM;
  return plan->suite ? copy_places(request, plan) : -ENOMEM;
}

static int parse_wishes(struct making *making) {
  const struct plan_request *request = making->request;
  making->wishes = calloc(request->methods.count + 1u, sizeof *making->wishes);
  if (!making->wishes) return -ENOMEM;
  for (unsigned i = 0; i < request->methods.count; i++) {
    int code = spec_parse(request->methods.values[i], &making->scope, &making->wishes[i].spec, making->error);
    if (code < 0) return code;
    making->wish_count++;
  }
  return 0;
}

static int parse_also(struct making *making) {
  const struct plan_request *request = making->request;
  struct spec_scope scope = making->scope;
  making->also = calloc(request->also.count + 1u, sizeof *making->also);
  if (!making->also) return -ENOMEM;
  int code = 0;
  for (unsigned i = 0; i < request->also.count && code == 0; i++) {
    scope.option = also_option(request, i);
    code = spec_parse(request->also.values[i], &scope, &making->also[i].spec, making->error);
  }
  return code;
}

static int parse_baseline(struct making *making) {
  const struct plan_request *request = making->request;
  if (!request->baseline) return 0;
  struct spec_scope scope = making->scope;
  scope.option = "--baseline";
  making->baseline = &making->wishes[request->methods.count];
  return spec_parse(request->baseline, &scope, &making->baseline->spec, making->error);
}

/* Every spec must have come to something, and so must the whole. */
static uint64_t largest_block(const struct weir_method *const *methods) {
  uint64_t largest = 0;
  for (; *methods; methods++)
    for (size_t i = 0; i < (*methods)->param_count; i++) {
      const struct weir_param *param = &(*methods)->params[i];
      if (strcmp(param->name, "block") == 0 && param->max > largest) largest = param->max;
    }
  return largest;
}

static int fail_empty(const struct making *making) {
  char asked[UNITS_TEXT_MAX], most[UNITS_TEXT_MAX];
  const struct plan_sizes *requests = &making->request->request;
  uint64_t largest = largest_block(making->scope.methods);
  for (unsigned i = 0; i < requests->count && largest; i++)
    if (requests->values[i] > largest)
      return plan_fail(making->error, "--request", "", NULL, "no method makes requests of %s; %s is the most",
                       units_size_name(requests->values[i], asked), units_size_name(largest, most));
  return plan_fail(making->error, "--method", "", NULL, "no method can do what is asked; see 'weir list methods'");
}

static int check_made(struct making *making) {
  for (unsigned i = 0; i < making->wish_count; i++)
    if (!making->wishes[i].cells) {
      *making->error = making->wishes[i].why;
      return -EINVAL;
    }
  for (unsigned i = 0; i < making->request->also_must; i++)
    if (!making->also[i].cells && making->also[i].why.text[0]) {
      *making->error = making->also[i].why;
      return -EINVAL;
    }
  if (!making->plan->group_count) return fail_empty(making);
  if (!making->baseline || making->baseline->cells) return 0;
  *making->error = making->baseline->why;
  return -EINVAL;
}

static int make_groups(struct making *making, const char *suite) {
  int code = parse_wishes(making);
  if (code == 0) code = parse_also(making);
  if (code == 0) code = parse_baseline(making);
  if (code == 0) code = suite ? groups_from_suite(making, suite) : plan_combine(making->request, add_combination, making);
  return code == 0 ? check_made(making) : code;
}

int plan_make(const struct plan_request *request, const struct weir_method *const *methods, struct plan *out,
              struct plan_error *error) {
  static const struct plan_words one_thread = {1, {1}};
  const char *suite = suite_for(request);
  *out = (struct plan){0};
  int code = plan_check_request(request, error);
  if (code == 0) code = copy_settings(request, suite, out);
  struct making making = {.request = request, .plan = out, .error = error};
  const struct plan_words member_threads = {1, {(int)plan_striped(request)}};
  const struct plan_words *threads = request->threads.count ? &request->threads : &one_thread;
  making.scope = (struct spec_scope){.methods = methods, .threads = plan_striped(request) ? &member_threads : threads,
                                     .place_count = plan_striped(request) ? 1 : out->place_count, .places = out->places,
                                     .members = plan_striped(request), .option = "--method"};
  if (code == 0) code = make_groups(&making, suite);
  free(making.wishes);
  free(making.also);
  if (code < 0) plan_release(out);
  return code;
}
