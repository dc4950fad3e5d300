/*
 * test_snippets.c - the lines of C beside the methods: every method has some, or is known to have none; none is for a method
 * that does not exist; every use has those of the library. That they compile is the build's to prove (docs/snippets).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "methods/methods.h"
#include "report/snippets.h"

/* The library is its own few lines; C++; and what takes more than a few: threads, rings of copies. */
static const char *const without[] = {"null",      "weir/",     "stream/",      "overlap/", "copy/double",
                                      "copy/ring", "many/ring", "records/ring", NULL};

static bool is_without(const char *name) {
  for (unsigned i = 0; without[i]; i++)
    if (strncmp(name, without[i], strlen(without[i])) == 0) return true;
  return false;
}

static void every_method_has_its_lines(void **state) {
  (void)state;
  unsigned missing = 0;
  for (unsigned i = 0; methods_list[i]; i++) {
    const char *name = methods_list[i]->name;
    if ((snippet_plain(name) != NULL) != is_without(name)) continue;
    print_message("%s: %s\n", name, is_without(name) ? "has lines after all" : "has no lines");
    missing++;
  }
  assert_int_equal(missing, 0);
}

static void no_lines_are_for_nobody(void **state) {
  (void)state;
  for (const struct snippet *snippet = snippet_plain_list; snippet->key; snippet++) {
    bool found = false;
    for (unsigned i = 0; methods_list[i]; i++) found = found || strcmp(methods_list[i]->name, snippet->key) == 0;
    if (!found) print_message("%s is no method\n", snippet->key);
    assert_true(found);
  }
}

static void check_use(const struct weir_method *method, const struct plan_demand *demand) {
  const bool served = (method->tasks & WEIR_BIT(demand->task)) && (method->directions & WEIR_BIT(demand->direction)) &&
                      (method->accesses & WEIR_BIT(demand->access));
  const bool real = demand->direction != WEIR_MIXED || demand->task == WEIR_TASK_BLOCKS;
  if (!served || !real || (method->capabilities & WEIR_CAP_FLOOR)) return;
  if (!snippet_library(demand))
    print_message("%s: no lines for %s %s %s\n", method->name, plan_task_words[demand->task],
                  plan_direction_words[demand->direction], plan_access_words[demand->access]);
  assert_non_null(snippet_library(demand));
}

static void every_use_has_the_lines_of_the_library(void **state) {
  (void)state;
  for (unsigned i = 0; methods_list[i]; i++)
    for (int task = WEIR_TASK_BLOCKS; task <= WEIR_TASK_MANY; task++)
      for (int direction = WEIR_READ; direction <= WEIR_MIXED; direction++)
        for (int access = WEIR_SEQUENTIAL; access <= WEIR_RANDOM; access++) {
          const struct plan_demand demand = {
              .task = (enum weir_task)task, .direction = (enum weir_direction)direction, .access = (enum weir_access)access};
          check_use(methods_list[i], &demand);
        }
}

static void lines_are_of_the_right_use(void **state) {
  (void)state;
  struct plan_demand demand = {.task = WEIR_TASK_BLOCKS, .direction = WEIR_READ, .access = WEIR_RANDOM};
  assert_non_null(strstr(snippet_library(&demand), "weir_queue_submit"));
  demand.access = WEIR_SEQUENTIAL;
  assert_non_null(strstr(snippet_library(&demand), "weir_stream_next"));
  assert_non_null(strstr(snippet_plain("map/populate"), "mmap("));
  assert_null(snippet_plain("map/popul"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_method_has_its_lines), cmocka_unit_test(no_lines_are_for_nobody),
                                     cmocka_unit_test(every_use_has_the_lines_of_the_library),
                                     cmocka_unit_test(lines_are_of_the_right_use)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
