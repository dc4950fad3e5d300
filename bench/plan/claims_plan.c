/*
 * claims_plan.c - from claims to plans: groups of all demands that the chosen claims ask for, each once, with the cells that
 * any of them names; and for each test the cells that it compares. Pure.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/claims.h"
#include "plan/parts.h"

/* A group of a case: what '@words' can name. */
struct site {
  unsigned setup, part, group;
  char name[96];
};

struct making {
  const struct claims_book *book;
  const struct claims_request *request;
  const struct weir_method *const *methods;
  struct claims_plan *out;
  struct plan_error *error;
  /* the claim being made */
  unsigned claim;
  unsigned site_count;
  struct site *sites;
};

static const struct claim *claim_of(const struct making *making) { return &making->book->claims[making->claim]; }

static int make_fail(struct making *making, const char *setup, const char *text) {
  const char *id = claim_of(making)->id;
  return plan_fail(making->error, "claims", id, NULL, "%s%s%s: %s", id, *setup ? " " : "", setup, text);
}

/* What went wrong below is told together with the claim. */
static int told(struct making *making, const char *setup, int code) {
  char text[sizeof making->error->text];
  if (code != -EINVAL) return code;
  snprintf(text, sizeof text, "%s", making->error->text);
  return make_fail(making, setup, text);
}

/* ---- parts ---- */

static const char *place_of(const struct making *making, enum claim_place place) {
  return place == CLAIM_PLACE_MEMORY ? making->request->memory : making->request->place;
}

static unsigned members_of(const struct making *making, enum claim_place place) {
  return place == CLAIM_PLACE_ARRAY ? making->request->members->count : 0;
}

static int copy_places(const struct making *making, enum claim_place place, struct plan *plan) {
  const unsigned members = members_of(making, place), count = members ? members : 1;
  plan->places = calloc(count, sizeof *plan->places);
  if (!plan->places) return -ENOMEM;
  for (; plan->place_count < count; plan->place_count++) {
    const char *path = members ? making->request->members->values[plan->place_count] : place_of(making, place);
    if (!(plan->places[plan->place_count] = group_text_copy(path))) return -ENOMEM;
  }
  return 0;
}

static int start_part(struct making *making, const struct claim_case *setup) {
  const struct claims_request *request = making->request;
  struct claims_plan *out = making->out;
  if (out->part_count == CLAIMS_PARTS_MAX) return make_fail(making, setup->name, "too many ways to make cold and places");
  struct claims_part *part = &out->parts[out->part_count++];
  *part = (struct claims_part){.flush = (enum plan_flush)setup->flush, .place = setup->place};
  part->plan = (struct plan){.seed = request->seed, .rounds = request->rounds, .time_ns = request->time_ns};
  part->plan.margin = request->margin;
  part->plan.flush = part->flush;
  part->plan.suite = group_text_copy("claims");
  return part->plan.suite ? copy_places(making, setup->place, &part->plan) : -ENOMEM;
}

/* Index of the part that holds such cases, or an error. */
static int find_part(struct making *making, const struct claim_case *setup) {
  const struct claims_plan *out = making->out;
  for (unsigned i = 0; i < out->part_count; i++)
    if (out->parts[i].flush == (enum plan_flush)setup->flush && out->parts[i].place == setup->place) return (int)i;
  int code = start_part(making, setup);
  return code < 0 ? code : (int)out->part_count - 1;
}

/* ---- groups ---- */

static int push_group(struct plan *plan, const struct suite_group *from) {
  struct plan_group *groups = realloc(plan->groups, (plan->group_count + 1u) * sizeof *groups);
  if (!groups) return -ENOMEM;
  plan->groups = groups;
  struct plan_group *group = &groups[plan->group_count++];
  *group = (struct plan_group){.demand = from->demand, .size_fixed = true, .smallest_bytes = from->demand.size_bytes};
  group->priority = CLAIM_BESIDE;
  group->loops = from->loops;
  group->id = group_text_copy(from->name);
  return group->id ? group_retitle(group) : -ENOMEM;
}

/* Index of the plan's group with this demand. */
static int find_group(struct plan *plan, const struct suite_group *wanted) {
  for (unsigned i = 0; i < plan->group_count; i++)
    if (plan->groups[i].loops == wanted->loops && plan_same_demand(&plan->groups[i].demand, &wanted->demand)) return (int)i;
  int code = push_group(plan, wanted);
  return code < 0 ? code : (int)plan->group_count - 1;
}

static int add_site(struct making *making, unsigned setup, unsigned part, struct suite_group *wanted) {
  struct site *sites = realloc(making->sites, (making->site_count + 1u) * sizeof *sites);
  if (!sites) return -ENOMEM;
  making->sites = sites;
  struct plan *plan = &making->out->parts[part].plan;
  wanted->demand.members = members_of(making, making->out->parts[part].place);
  int group = find_group(plan, wanted);
  if (group < 0) return group;
  struct site *site = &sites[making->site_count++];
  *site = (struct site){.setup = setup, .part = part, .group = (unsigned)group};
  snprintf(site->name, sizeof site->name, "%s", wanted->name);
  /* What decides claims is dropped last. */
  struct plan_group *found = &plan->groups[group];
  const unsigned role = claim_of(making)->cases[setup].role;
  if (role < found->priority) found->priority = role;
  return 0;
}

static void name_family(const struct claim *claim, const struct claim_case *setup, char *out, size_t size) {
  snprintf(out, size, "%s%s%s", claim->id, *setup->name ? "-" : "", setup->name);
}

static int add_groups(struct making *making, unsigned index) {
  const struct claim_case *setup = &claim_of(making)->cases[index];
  char family[96];
  name_family(claim_of(making), setup, family, sizeof family);
  const size_t size = strlen(family) + strlen(setup->demand) + 16;
  char *text = malloc(size);
  if (!text) return -ENOMEM;
  snprintf(text, size, "[group %s]\n%s\n", family, setup->demand);
  struct suite suite = {0};
  int part = find_part(making, setup);
  int code = part < 0 ? part : told(making, setup->name, suite_parse("claims", text, &suite, making->error));
  if (code == 0 && !suite.group_count) code = make_fail(making, setup->name, "no size is given");
  for (unsigned i = 0; i < suite.group_count && code == 0; i++)
    code = add_site(making, index, (unsigned)part, &suite.groups[i]);
  suite_release(&suite);
  free(text);
  return code;
}

/* ---- cells ---- */

static int same_cell(const struct plan_group *group, const struct plan_cell *cell) {
  for (unsigned i = 0; i < group->cell_count; i++)
    if (strcmp(group->cells[i].id, cell->id) == 0) return (int)i;
  return -1;
}

/* Index of the cell in its group, which gets it if it is new there. */
static int take_cell(struct plan_group *group, const struct plan_cell *cell) {
  int found = same_cell(group, cell);
  if (found >= 0) return found;
  int code = group_append(group, cell, NULL);
  return code < 0 ? code : (int)group->cell_count - 1;
}

/* The one cell that the spec names under the site's demand. */
static int find_cell(struct making *making, const struct site *site, const char *text) {
  struct plan *plan = &making->out->parts[site->part].plan;
  const unsigned members = members_of(making, making->out->parts[site->part].place);
  const struct plan_words threads = {1, {members ? (int)members : 1}};
  const struct spec_scope scope = {.methods = making->methods,
                                   .threads = &threads,
                                   .place_count = 1,
                                   .places = plan->places,
                                   .members = members,
                                   .option = "claims"};
  struct plan_group alone = {.demand = plan->groups[site->group].demand};
  struct spec *spec = malloc(sizeof *spec);
  int code = spec ? spec_parse(text, &scope, spec, making->error) : -ENOMEM;
  if (code == 0) code = spec_expand(spec, &scope, &alone, making->error);
  if (code == 0) code = -EINVAL;
  if (code > 1) code = plan_fail(making->error, "claims", text, NULL, "'%s' names %d cells", text, code);
  if (code == 1) code = take_cell(&plan->groups[site->group], &alone.cells[0]);
  group_release(&alone);
  free(spec);
  return code;
}

/* ---- tests ---- */

/* The site that 'spec@words' names, or `usual` where nothing is named; NULL when there is none. */
static const struct site *find_site(const struct making *making, const struct site *usual, const char *spec) {
  const char *at = strchr(spec, '@');
  char family[96], in_case[200], in_claim[200];
  if (!at) return usual;
  const struct claim *claim = claim_of(making);
  name_family(claim, &claim->cases[usual->setup], family, sizeof family);
  snprintf(in_case, sizeof in_case, "%s-%s", family, at + 1);
  snprintf(in_claim, sizeof in_claim, "%s-%s", claim->id, at + 1);
  for (unsigned i = 0; i < making->site_count; i++)
    if (strcmp(making->sites[i].name, in_case) == 0 || strcmp(making->sites[i].name, in_claim) == 0)
      return &making->sites[i];
  return NULL;
}

static int find_side(struct making *making, const struct site *site, const char *spec, struct claim_side *out) {
  char name[192];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(spec, "@"), spec);
  int cell = find_cell(making, site, name);
  if (cell < 0) return cell;
  *out = (struct claim_side){site->group, (unsigned)cell};
  return 0;
}

static struct claim_check *new_check(struct making *making, unsigned setup, unsigned test, unsigned part) {
  struct claims_plan *out = making->out;
  struct claim_check *checks = realloc(out->checks, (out->check_count + 1u) * sizeof *checks);
  if (!checks) return NULL;
  out->checks = checks;
  struct claim_check *check = &checks[out->check_count++];
  *check = (struct claim_check){.claim = making->claim, .setup = setup, .test = test, .part = part};
  check->first = calloc(making->site_count + 1u, sizeof *check->first);
  check->second = calloc(making->site_count + 1u, sizeof *check->second);
  return check->first && check->second ? check : NULL;
}

/* Adds to the check what the test compares at this site. */
static int add_pair(struct making *making, struct claim_check *check, const struct site *site) {
  const struct claim_case *setup = &claim_of(making)->cases[check->setup];
  const struct claim_test *test = &setup->tests[check->test];
  const struct site *first = find_site(making, site, test->first);
  const struct site *second = !first || !test->second ? first : find_site(making, first, test->second);
  if (!first || !second) return make_fail(making, setup->name, "a test names a group that is not there");
  if (first->part != second->part) return make_fail(making, setup->name, "a test goes over two plans");
  int code = find_side(making, first, test->first, &check->first[check->count]);
  if (code == 0 && test->second) code = find_side(making, second, test->second, &check->second[check->count]);
  if (code < 0) return told(making, setup->name, code);
  bool across = first->group != second->group;
  check->per = setup->per >= 0 ? (enum claim_per)setup->per : across ? CLAIM_PER_BYTE : CLAIM_PER_PASS;
  check->part = first->part;
  check->count++;
  return 0;
}

static bool names_site(const struct claim_test *test) {
  return strchr(test->first, '@') || (test->second && strchr(test->second, '@'));
}

/* A pair is tested in every group of its case, but once where it names its groups; a mean is one test over all groups. */
static int add_test(struct making *making, unsigned index, unsigned number) {
  const struct claim_test *test = &claim_of(making)->cases[index].tests[number];
  struct claim_check *check = NULL;
  int code = 0;
  for (unsigned i = 0; i < making->site_count && code == 0; i++) {
    const struct site *site = &making->sites[i];
    if (site->setup != index) continue;
    if (!check || test->kind != CLAIM_MEAN) check = new_check(making, index, number, site->part);
    code = check ? add_pair(making, check, site) : -ENOMEM;
    if (names_site(test)) break;
  }
  return code;
}

static int add_beside(struct making *making, unsigned index) {
  static const char space[] = " \t";
  const struct claim_case *setup = &claim_of(making)->cases[index];
  char spec[192];
  int code = 0;
  for (const char *at = setup->beside + strspn(setup->beside, space); *at && code >= 0; at += strspn(at, space)) {
    size_t length = strcspn(at, space);
    snprintf(spec, sizeof spec, "%.*s", (int)length, at);
    at += length;
    for (unsigned i = 0; i < making->site_count && code >= 0; i++)
      if (making->sites[i].setup == index) code = find_cell(making, &making->sites[i], spec);
  }
  return told(making, setup->name, code < 0 ? code : 0);
}

/* ---- the whole ---- */

static bool can_be_held(const struct making *making, const struct claim_case *setup) {
  if (setup->need == CLAIM_NEEDS_NETWORK && !making->request->network) return false;
  if (setup->place == CLAIM_PLACE_ARRAY) return making->request->members && making->request->members->count > 1;
  return setup->place != CLAIM_PLACE_MEMORY || making->request->memory;
}

static int add_claim(struct making *making) {
  const struct claim *claim = claim_of(making);
  int code = 0;
  making->site_count = 0;
  for (unsigned i = 0; i < claim->case_count && code == 0; i++)
    if (can_be_held(making, &claim->cases[i])) code = add_groups(making, i);
  for (unsigned i = 0; i < claim->case_count && code == 0; i++)
    for (unsigned t = 0; t < claim->cases[i].test_count && code == 0; t++) code = add_test(making, i, t);
  for (unsigned i = 0; i < claim->case_count && code == 0; i++) code = add_beside(making, i);
  return code;
}

int claims_make(const struct claims_book *book, const struct claims_request *request,
                const struct weir_method *const *methods, struct claims_plan *out, struct plan_error *error) {
  *out = (struct claims_plan){.book = book};
  struct making making = {.book = book, .request = request, .methods = methods, .out = out, .error = error};
  int code = 0;
  for (making.claim = 0; making.claim < book->claim_count && code == 0; making.claim++)
    if (!request->wanted || request->wanted[making.claim]) code = add_claim(&making);
  free(making.sites);
  if (code < 0) claims_plan_release(out);
  return code;
}

void claims_plan_release(struct claims_plan *plan) {
  for (unsigned i = 0; i < plan->check_count; i++) {
    free(plan->checks[i].first);
    free(plan->checks[i].second);
  }
  free(plan->checks);
  for (unsigned i = 0; i < plan->part_count; i++) plan_release(&plan->parts[i].plan);
  *plan = (struct claims_plan){0};
}
