/*
 * test_os_gate.c - gates: each kind counts, lets nobody through at zero, wakes who waits, and carries what was written
 * before.
 */
#include <stdatomic.h>

#include "check.h"

#define THREADS 3u
#define ROUNDS 2000u

static const enum os_gate_kind kinds[] = {OS_GATE_LOCK, OS_GATE_EVENT, OS_GATE_SEMAPHORE, OS_GATE_SPIN, OS_GATE_ATOMIC};
#define KINDS (sizeof kinds / sizeof kinds[0])

struct scene {
  struct os_gate *there, *back;
  unsigned plain; /* no atomic: the gates alone keep it in order */
  atomic_uint passed;
};

static struct os_gate *open_gate(enum os_gate_kind kind) {
  struct os_gate *gate = NULL;
  assert_int_equal(os_gate_open(kind, &gate), 0);
  return gate;
}

static void what_is_given_is_kept(void **state) {
  for (size_t i = 0; i < KINDS; i++) {
    struct os_gate *gate = open_gate(kinds[i]);
    for (unsigned n = 0; n < 5; n++) os_gate_give(gate);
    for (unsigned n = 0; n < 5; n++) os_gate_take(gate); /* a lost one would hang here */
    os_gate_close(gate);
  }
  os_gate_close(NULL);
}

static void *pass_once(void *context) {
  struct scene *scene = context;
  os_gate_take(scene->there);
  atomic_fetch_add(&scene->passed, 1);
  os_gate_give(scene->back);
  return NULL;
}

static void as_many_pass_as_are_given(void **state) {
  for (size_t i = 0; i < KINDS; i++) {
    struct scene scene = {.there = open_gate(kinds[i]), .back = open_gate(kinds[i])};
    struct os_thread *threads[THREADS];
    for (unsigned n = 0; n < THREADS; n++) assert_int_equal(os_thread_start(pass_once, &scene, &threads[n]), 0);
    os_sleep_ns(20000000); /* they wait, most likely */
    assert_int_equal(atomic_load(&scene.passed), 0);
    for (unsigned n = 1; n <= THREADS; n++) {
      os_gate_give(scene.there);
      os_gate_take(scene.back);
      os_sleep_ns(2000000);
      assert_int_equal(atomic_load(&scene.passed), n);
    }
    for (unsigned n = 0; n < THREADS; n++) assert_int_equal(os_thread_join(threads[n]), 0);
    os_gate_close(scene.there);
    os_gate_close(scene.back);
  }
}

static void *count_back(void *context) {
  struct scene *scene = context;
  for (unsigned n = 0; n < ROUNDS; n++) {
    os_gate_take(scene->there);
    scene->plain++;
    os_gate_give(scene->back);
  }
  return NULL;
}

static void what_was_written_before_is_seen_behind(void **state) {
  for (size_t i = 0; i < KINDS; i++) {
    struct scene scene = {.there = open_gate(kinds[i]), .back = open_gate(kinds[i])};
    struct os_thread *thread;
    assert_int_equal(os_thread_start(count_back, &scene, &thread), 0);
    for (unsigned n = 0; n < ROUNDS; n++) {
      assert_int_equal(scene.plain, 2 * n);
      scene.plain++;
      os_gate_give(scene.there);
      os_gate_take(scene.back);
    }
    assert_int_equal(os_thread_join(thread), 0);
    assert_int_equal(scene.plain, 2 * ROUNDS);
    os_gate_close(scene.there);
    os_gate_close(scene.back);
  }
}

static int no_eventfd(unsigned count, int flags) {
  errno = EMFILE;
  return -1;
}

static void a_system_without_events_is_told(void **state) {
  struct os_gate *gate = NULL;
  replace("eventfd", (os_function *)no_eventfd);
  assert_int_equal(os_gate_open(OS_GATE_EVENT, &gate), -EMFILE);
  assert_null(gate);
  restore("eventfd");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_given_is_kept),
      cmocka_unit_test(as_many_pass_as_are_given),
      cmocka_unit_test(what_was_written_before_is_seen_behind),
      cmocka_unit_test(a_system_without_events_is_told),
  };
  return cmocka_run_group_tests_name("gates", tests, NULL, NULL);
}
