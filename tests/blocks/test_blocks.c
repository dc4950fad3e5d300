/* The block study is whole: 140 cells of five styles and a ring beside them, and what was published of each of the 140. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "methods/methods.h"
#include "plan/plan.h"
#include "report/overlay.h"

static struct plan made;

static void make(const struct plan_request *request, const struct weir_method *const *methods) {
  struct plan_error error;
  if (plan_make(request, methods, &made, &error) < 0) fail_msg("%s: %s", error.option, error.text);
}

static struct plan_request blocks(void) { return (struct plan_request){.suite = "blocks", .flush = PLAN_UNSAID}; }

static unsigned cells_of_style(const char *style) {
  unsigned count = 0;
  for (unsigned g = 0; g < made.group_count; g++)
    for (unsigned c = 0; c < made.groups[g].cell_count; c++) count += strcmp(made.groups[g].cells[c].style, style) == 0;
  return count;
}

static void every_style_has_its_28_cells(void **state) {
  const struct plan_request request = blocks();
  const char *const styles[] = {"FILE", "Hnd", "MMap", "Stream", "Win", "Ring"};
  make(&request, methods_list);
  for (size_t i = 0; i < sizeof styles / sizeof *styles; i++) assert_int_equal(cells_of_style(styles[i]), 28);
  plan_release(&made);
}

static void no_group_is_there_twice(void **state) {
  const struct plan_request request = blocks();
  make(&request, methods_list);
  for (unsigned a = 0; a < made.group_count; a++)
    for (unsigned b = 0; b < a; b++) assert_string_not_equal(made.groups[a].id, made.groups[b].id);
  assert_string_equal(made.groups[0].id, "study-read-sequential-64");
  assert_string_equal(made.groups[27].id, "study-write-random-256KiB");
  plan_release(&made);
}

static void its_demand_is_that_of_the_study(void **state) {
  const struct plan_request request = blocks();
  make(&request, methods_list);
  for (unsigned g = 0; g < 28; g++) {
    const struct plan_demand *demand = &made.groups[g].demand;
    assert_int_equal(demand->size_bytes, UINT64_C(100) << 20);
    assert_int_equal(demand->durability, WEIR_DURABILITY_NONE);
    assert_int_equal(demand->target, WEIR_TARGET_OVERWRITE);
    assert_int_equal(demand->cache, PLAN_COLD);
    assert_true(demand->coverage == (demand->access == WEIR_RANDOM ? 0.5 : 1));
    assert_string_equal(made.groups[g].cells[0].style, "FILE");
  }
  plan_release(&made);
}

static void rounds_and_flush_are_the_suites_unless_said(void **state) {
  struct plan_request request = blocks();
  make(&request, methods_list);
  assert_int_equal(made.rounds, 7);
  assert_int_equal(made.flush, PLAN_FLUSH_FILE);
  plan_release(&made);
  request.rounds = 2;
  request.flush = PLAN_FLUSH_DONTNEED;
  make(&request, methods_list);
  assert_int_equal(made.rounds, 2);
  assert_int_equal(made.flush, PLAN_FLUSH_DONTNEED);
  plan_release(&made);
  request = blocks();
  request.time_ns = 1;
  make(&request, methods_list);
  assert_int_equal(made.rounds, 0); /* as many as the time allows */
  plan_release(&made);
  make(&(struct plan_request){.flush = PLAN_UNSAID}, methods_list);
  assert_int_equal(made.flush, PLAN_FLUSH_DONTNEED);
  plan_release(&made);
}

/* A build without C++, say: the row is there and tells why nothing stands in it. */
static void what_is_not_built_in_is_a_row_with_a_reason(void **state) {
  const struct plan_request request = blocks();
  const struct weir_method *some[512] = {NULL};
  unsigned count = 0;
  for (unsigned i = 0; methods_list[i]; i++)
    if (strncmp(methods_list[i]->name, "stream/", 7) != 0) some[count++] = methods_list[i];
  make(&request, some);
  assert_int_equal(cells_of_style("Stream"), 28);
  for (unsigned g = 0; g < 28; g++)
    for (unsigned c = 0; c < made.groups[g].cell_count; c++) {
      const struct plan_cell *cell = &made.groups[g].cells[c];
      bool missing = strcmp(cell->style, "Stream") == 0;
      assert_int_equal(cell->status, missing ? PLAN_UNAVAILABLE : PLAN_OK);
      assert_int_equal(cell->reason[0] != '\0', missing);
      assert_int_equal(cell->remedy[0] != '\0', missing);
    }
  plan_release(&made);
}

static void every_cell_of_the_study_has_its_figure(void **state) {
  const struct plan_request request = blocks();
  const char *hint = NULL;
  const struct overlay *overlay = overlay_by_name("study-e", &hint);
  unsigned found = 0;
  assert_non_null(overlay);
  assert_int_equal(overlay->count, 140);
  make(&request, methods_list);
  for (unsigned g = 0; g < made.group_count; g++)
    for (unsigned c = 0; c < made.groups[g].cell_count; c++) {
      const struct overlay_figure *figure = overlay_find(overlay, &made.groups[g], &made.groups[g].cells[c]);
      found += figure != NULL;
      assert_true(figure == NULL || (figure->seconds > 0 && figure->mb_per_s > 0));
    }
  assert_int_equal(found, 140);
  const struct overlay_figure *first = overlay_find(overlay, &made.groups[14], &made.groups[14].cells[0]);
  assert_string_equal(made.groups[14].id, "study-write-sequential-64");
  assert_true(first && first->seconds == 1.872 && first->mb_per_s == 53.431);
  plan_release(&made);
}

static void unknown_studies_have_a_hint(void **state) {
  const char *hint = NULL;
  assert_null(overlay_by_name("study_e", &hint));
  assert_string_equal(hint, "study-e");
  assert_null(overlay_by_name("nothing like it", &hint));
  assert_null(hint);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_style_has_its_28_cells),
      cmocka_unit_test(no_group_is_there_twice),
      cmocka_unit_test(its_demand_is_that_of_the_study),
      cmocka_unit_test(rounds_and_flush_are_the_suites_unless_said),
      cmocka_unit_test(what_is_not_built_in_is_a_row_with_a_reason),
      cmocka_unit_test(every_cell_of_the_study_has_its_figure),
      cmocka_unit_test(unknown_studies_have_a_hint),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
