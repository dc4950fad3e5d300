/* test_limits.c - what is measured of devices, and that nothing but a reason is left where it cannot be. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "measure/layout.h"
#include "measure/limits.h"
#include "os/os.h"

#define MIB (UINT64_C(1) << 20)

static char place[64];
static char *places[] = {place};
static struct content content;
static volatile int interrupted;

static int make_place(void **state) {
  (void)state;
  snprintf(place, sizeof place, "limits-test-%d", os_process_id());
  os_remove_tree(place);
  interrupted = 0;
  return os_make_directory(place) == 0 ? content_init(&content, 7) : -1;
}

static int drop_place(void **state) {
  (void)state;
  content_free(&content);
  return os_remove_tree(place);
}

static int count_name(void *context, const char *name) {
  (void)name;
  ++*(unsigned *)context;
  return 0;
}

static struct plan_cell cell = {.threads = 1};
static struct plan_group group = {.cell_count = 1, .cells = &cell};

/* Measures for one group of this demand; the place is as empty as before. */
static int measure(struct run *run, struct plan_demand demand, char *file) {
  const struct scratch scratch = {.count = 1, .paths = places};
  const struct measure_options options = {.interrupted = &interrupted};
  unsigned left = 0;
  group.demand = demand;
  *run = (struct run){.plan = {.place_count = 1, .places = places, .group_count = 1, .groups = &group, .file = file}};
  const int code = limits_measure(run, &scratch, &content, &options);
  os_list_directory(place, count_name, &left);
  assert_int_equal(left, file != NULL);
  return code;
}

static bool takes_direct(void) {
  char path[96];
  os_file handle;
  snprintf(path, sizeof path, "%s/direct", place);
  const int code = os_open(path, OS_WRITE | OS_CREATE | OS_DIRECT, &handle);
  if (code == 0) os_close(handle);
  os_remove(path);
  if (code < 0) print_message("skipped: no direct transfers in this place: %s\n", strerror(-code));
  return code == 0;
}

static const struct plan_demand cold = {.cache = PLAN_COLD, .size_bytes = 9 * MIB};
static const struct plan_demand cold_random = {.cache = PLAN_COLD, .access = WEIR_RANDOM, .size_bytes = MIB};
static const struct plan_demand durable = {.direction = WEIR_WRITE, .durability = WEIR_DURABILITY_END, .size_bytes = MIB};

static void only_what_some_cell_needs_is_measured(void **state) {
  (void)state;
  struct run run;
  if (!takes_direct()) skip();
  assert_int_equal(measure(&run, (struct plan_demand){.size_bytes = MIB}, NULL), 0); /* warm reads, no device */
  assert_null(run.limits);
  assert_int_equal(measure(&run, cold, NULL), 0);
  assert_true(run.limits[0].read_bytes_per_s > 0 && run.limits[0].random_reads_per_s == 0);
  assert_true(run.limits[0].write_bytes_per_s == 0 && run.limits[0].sync_ns == 0);
  free(run.limits);
  assert_int_equal(measure(&run, cold_random, NULL), 0);
  assert_true(run.limits[0].read_bytes_per_s > 0 && run.limits[0].random_reads_per_s > 0);
  free(run.limits);
  assert_int_equal(measure(&run, durable, NULL), 0);
  assert_true(run.limits[0].write_bytes_per_s > 0 && run.limits[0].sync_ns > 0 && run.limits[0].read_bytes_per_s == 0);
  assert_string_equal(run.limits[0].reason, "");
  free(run.limits);
}

static void a_direct_cell_in_a_warm_group_needs_the_device_too(void **state) {
  (void)state;
  struct run run;
  if (!takes_direct()) skip();
  cell.capabilities = WEIR_CAP_DIRECT;
  assert_int_equal(measure(&run, (struct plan_demand){.size_bytes = MIB}, NULL), 0);
  cell.capabilities = 0;
  assert_true(run.limits && run.limits[0].read_bytes_per_s > 0);
  free(run.limits);
}

static void what_lies_in_memory_has_no_device(void **state) {
  (void)state;
  struct run run;
  const struct scratch scratch = {.count = 1, .paths = places};
  const struct measure_options options = {.interrupted = &interrupted};
  group.demand = cold;
  run = (struct run){.plan = {.place_count = 1, .places = places, .group_count = 1, .groups = &group}};
  assert_int_equal(run_add_fact(&run, "place.0.ram_backed", "1"), 0);
  assert_int_equal(limits_measure(&run, &scratch, &content, &options), 0);
  assert_true(run.limits[0].read_bytes_per_s == 0);
  assert_string_equal(run.limits[0].reason, "");
  free(run.limits);
  free(run.facts[0].name);
  free(run.facts[0].text);
  free(run.facts);
}

static int refuse_direct(const char *path, int flags, mode_t mode) {
  if (flags & O_DIRECT) {
    errno = EINVAL;
    return -1;
  }
  return open(path, flags, mode);
}

static void where_direct_is_refused_a_reason_stands(void **state) {
  (void)state;
  struct run run;
  os_function *before = os_override("open", (os_function *)refuse_direct);
  assert_non_null(before);
  const int code = measure(&run, durable, NULL);
  os_override("open", NULL);
  assert_int_equal(code, 0);
  assert_true(run.limits[0].write_bytes_per_s == 0 && run.limits[0].sync_ns > 0); /* flushing goes without */
  assert_non_null(strstr(run.limits[0].reason, "direct transfers"));
  free(run.limits);
}

static int failing_sync(int fd) {
  (void)fd;
  errno = EIO;
  return -1;
}

static void a_flush_that_fails_ends_nothing(void **state) {
  (void)state;
  struct run run;
  os_function *before = os_override("fdatasync", (os_function *)failing_sync);
  assert_non_null(before);
  const int code = measure(&run, durable, NULL);
  os_override("fdatasync", NULL);
  assert_int_equal(code, 0);
  assert_true(run.limits[0].sync_ns == 0);
  assert_non_null(strstr(run.limits[0].reason, "flushing: "));
  free(run.limits);
}

static void an_interrupt_leaves_no_file(void **state) {
  (void)state;
  struct run run;
  interrupted = 1;
  assert_int_equal(measure(&run, cold, NULL), -EINTR);
  interrupted = 0;
  free(run.limits);
}

/* Read, and neither written nor touched; too small a one is not measured. */
static void the_users_file_is_only_read(void **state) {
  (void)state;
  char path[96];
  struct run run;
  struct os_stat before, after;
  if (!takes_direct()) skip();
  snprintf(path, sizeof path, "%s/mine", place);
  assert_int_equal(layout_write(path, 9 * MIB, &content, &interrupted), 0);
  assert_int_equal(os_stat_path(path, &before), 0);
  assert_int_equal(measure(&run, cold, path), 0);
  assert_true(run.limits[0].read_bytes_per_s > 0);
  free(run.limits);
  assert_int_equal(os_stat_path(path, &after), 0);
  assert_true(before.size == after.size && before.modified_ns == after.modified_ns);
  assert_int_equal(layout_write(path, MIB, &content, &interrupted), 0);
  assert_int_equal(measure(&run, cold, path), 0);
  assert_non_null(strstr(run.limits[0].reason, "too small"));
  free(run.limits);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(only_what_some_cell_needs_is_measured, make_place, drop_place),
      cmocka_unit_test_setup_teardown(a_direct_cell_in_a_warm_group_needs_the_device_too, make_place, drop_place),
      cmocka_unit_test_setup_teardown(what_lies_in_memory_has_no_device, make_place, drop_place),
      cmocka_unit_test_setup_teardown(where_direct_is_refused_a_reason_stands, make_place, drop_place),
      cmocka_unit_test_setup_teardown(a_flush_that_fails_ends_nothing, make_place, drop_place),
      cmocka_unit_test_setup_teardown(an_interrupt_leaves_no_file, make_place, drop_place),
      cmocka_unit_test_setup_teardown(the_users_file_is_only_read, make_place, drop_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
