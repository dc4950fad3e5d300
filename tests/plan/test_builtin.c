/* The suites and methods that are built in fit each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "methods/methods.h"
#include "plan/plan.h"

static void make(const struct plan_request *request, struct plan *plan) {
  struct plan_error error;
  if (plan_make(request, methods_list, plan, &error) < 0) fail_msg("%s: %s", error.option, error.text);
}

/* A style whose method is not in this build is a row that says so; but only C++ may be missing. */
static bool may_be_missing(const struct plan_cell *cell) {
  return strncmp(cell->method, "stream/", 7) == 0 || strcmp(cell->method, "typed/ifstream") == 0;
}

static void check_suite_group(const struct plan_group *group) {
  assert_in_range(group->cell_count, 2, 32);
  for (unsigned i = 0; i < group->cell_count; i++)
    if (group->cells[i].status != PLAN_OK && !may_be_missing(&group->cells[i])) fail_msg("no method %s", group->cells[i].method);
}

/* A group of one cell ranks nothing; a group of very many never gets its rounds. */
static void suites_make_plans(void **state) {
  for (const struct plan_suite *suite = plan_suites; suite->name; suite++) {
    struct plan plan;
    make(&(struct plan_request){.suite = suite->name}, &plan);
    for (unsigned i = 0; i < plan.group_count; i++) check_suite_group(&plan.groups[i]);
    assert_true(plan.group_count >= 1);
    assert_true(suite->summary[0] != '\0');
    plan_release(&plan);
  }
}

/* Whatever is asked without naming methods must not end in "too many cells". */
static void every_demand_makes_a_plan(void **state) {
  struct plan plan;
  make(
      &(struct plan_request){
          .task = {2, {0, 1}}, .access = {2, {0, 1}}, .direction = {2, {0, 1}}, .durability = {3, {0, 1, 2}}},
      &plan);
  for (unsigned i = 0; i < plan.group_count; i++) assert_in_range(plan.groups[i].cell_count, 2, PLAN_CELLS_MAX);
  plan_release(&plan);
}

/* Every preset and every value of a sweep is one that the method itself accepts. */
static void methods_accept_their_own_values(void **state) {
  struct plan plan;
  for (unsigned i = 0; methods_list[i]; i++) {
    const bool mixes = methods_list[i]->directions == WEIR_BIT(WEIR_MIXED);
    if (mixes && !plan_direction_words[WEIR_MIXED]) continue; /* no word for it yet */
    struct plan_words tasks = {0, {0}};
    for (int task = 0; plan_task_words[task] && (!mixes || task == 0); task++) tasks.values[tasks.count++] = task;
    const struct plan_words durabilities = {3, {0, 1, 2}};
    const struct plan_words directions = {mixes ? 1 : 2, {mixes ? WEIR_MIXED : WEIR_READ, WEIR_WRITE}};
    make(
        &(struct plan_request){
            .task = tasks, .direction = directions, .durability = durabilities, .methods = {1, {methods_list[i]->name}}},
        &plan);
    assert_true(plan.group_count >= 1);
    plan_release(&plan);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(suites_make_plans),
      cmocka_unit_test(every_demand_makes_a_plan),
      cmocka_unit_test(methods_accept_their_own_values),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
