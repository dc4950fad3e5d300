/*
 * test_doctor.c - what weir doctor makes of a machine: /proc, /sys and /run are a tree of the test's own, in which one thing
 * after the other is wrong. Each finding is ok on a quiet machine, warns of what was changed, and is skipped where the
 * system tells nothing; only what is ok has no remedy.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/doctor.h"
#include "tests/os/check.h"

static char tree[64];
static bool steals;
static unsigned stat_reads;

static bool is_of_system(const char *path) {
  static const char *const roots[] = {"/proc/", "/sys/", "/run/", "/.dockerenv"};
  for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
    if (strncmp(path, roots[i], strlen(roots[i])) == 0) return true;
  return false;
}

/* A file of the tree, with the folders above it. */
static void put(const char *path, const char *text) {
  char full[320];
  assert_in_range(snprintf(full, sizeof full, "%s%s", tree, path), 1, sizeof full - 1);
  for (char *slash = full + strlen(tree) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
    *slash = '\0';
    assert_true(mkdir(full, 0700) == 0 || errno == EEXIST);
  }
  FILE *file = fopen(full, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

/* Another guest takes a second whenever somebody looks. */
static void put_times(void) {
  char text[96];
  snprintf(text, sizeof text, "cpu  10 0 10 100 0 0 0 %u 0 0\n", steals ? 100 * stat_reads++ : 0);
  put("/proc/stat", text);
}

static int fake_open(const char *path, int flags, mode_t mode) {
  char full[320];
  if (!is_of_system(path)) return open(path, flags, mode);
  if (strcmp(path, "/proc/stat") == 0) put_times();
  const char *device = strncmp(path, "/sys/dev/block/", 15) == 0 ? strrchr(path, '/') : NULL;
  snprintf(full, sizeof full, "%s%s%s", tree, device ? "/device" : "", device ? device : path);
  return open(full, flags, mode);
}

#define CPUS "/sys/devices/system/cpu/"
#define QUIET "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
#define MEMORY "MemTotal: 8000000 kB\nMemFree: 6000000 kB\nMemAvailable: 6000000 kB\n"
static void put_quiet_machine(void) {
  static const char *const files[][2] = {
      {CPUS "intel_pstate/no_turbo", "1\n"},
      {CPUS "smt/active", "0\n"},
      {CPUS "cpu0/thermal_throttle/package_throttle_count", "0\n"},
      {CPUS "cpu0/cpufreq/scaling_governor", "performance\n"},
      {CPUS "cpu0/cpufreq/scaling_cur_freq", "2500000\n"},
      {CPUS "online", "0-1,4\n"},
      {CPUS "isolated", "\n"},
      {"/sys/devices/system/node/online", "0\n"},
      {"/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"},
      {"/sys/kernel/mm/damon/admin/kdamonds/nr_kdamonds", "0\n"},
      {"/proc/cpuinfo", "model name\t: Test\nflags\t\t: fpu tsc\n"},
      {"/proc/loadavg", "0.10 0.20 0.30 1/100 1\n"},
      {"/proc/pressure/cpu", QUIET},
      {"/proc/pressure/io", QUIET},
      {"/proc/pressure/memory", QUIET},
      {"/proc/meminfo", MEMORY "SwapTotal: 0 kB\nSwapFree: 0 kB\n"},
      {"/proc/swaps", "Filename Type Size Used Priority\n"},
      {"/proc/sys/vm/swappiness", "60\n"},
      {"/proc/sys/vm/dirty_background_bytes", "0\n"},
      {"/proc/sys/vm/dirty_background_ratio", "10\n"},
      {"/proc/sys/kernel/randomize_va_space", "2\n"},
      {"/proc/sys/kernel/perf_event_paranoid", "2\n"},
      {"/proc/1/cgroup", "0::/init.scope\n"},
      {"/proc/self/cgroup", "0::/a/b\n"},
      {"/proc/self/mountinfo", "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"},
      {"/sys/fs/cgroup/a/memory.max", "max\n"},
  };
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) put(files[i][0], files[i][1]);
}

/* ---- looking ---- */

static const struct doctor_look *find_look(const char *name) {
  const struct doctor_look *const lists[] = {doctor_looks_machine, doctor_looks_conditions, doctor_looks_place};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    for (const struct doctor_look *look = lists[i]; look->name; look++)
      if (strcmp(look->name, name) == 0) return look;
  fail_msg("nothing looks at '%s'", name);
  return NULL;
}

static void gather(struct doctor_scene *scene) {
  *scene = (struct doctor_scene){.directory = "."};
  os_machine(&scene->machine);
  os_limits(&scene->limits);
  os_conditions(&scene->conditions);
}

static void expect_finding(const struct doctor_scene *scene, const char *name, enum doctor_state state, const char *words) {
  struct doctor_finding found = {0};
  find_look(name)->look(scene, &found);
  if (atomic_load(&found.state) != (int)state || !strstr(found.text, words))
    fail_msg("%s: state %d, not %d: '%s', wanted '%s'", name, atomic_load(&found.state), state, found.text, words);
  assert_int_equal(found.remedy[0] != '\0', state != DOCTOR_OK);
  for (const char *at = found.text; *at; at++) assert_true(*at != '\n');
}

static int empty_tree(void **state) {
  (void)state;
  strcpy(tree, "doctor-test-XXXXXX");
  steals = false;
  stat_reads = 0;
  if (!mkdtemp(tree)) return -1;
  replace("open", (os_function *)fake_open);
  return 0;
}

static int quiet_tree(void **state) {
  if (empty_tree(state)) return -1;
  put_quiet_machine();
  return 0;
}

static int remove_tree(void **state) {
  (void)state;
  restore("open");
  return os_remove_tree(tree);
}

/* ---- the machine ---- */

static void quiet_machine_is_ok(void **state) {
  static const char *const names[] = {"governor",     "frequency", "steal", "virtualization", "huge pages", "memory reclaim",
                                      "memory limit", "turbo",     "heat",  "shared cores",   "isolation",  "memory nodes",
                                      "other load",   "container", "swap",  "write-back"};
  struct doctor_scene scene;
  (void)state;
  gather(&scene);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) expect_finding(&scene, names[i], DOCTOR_OK, "");
  if (!(personality(0xffffffffUL) & ADDR_NO_RANDOMIZE)) expect_finding(&scene, "address layout", DOCTOR_OK, "on");
  assert_int_equal(scene.conditions.online_cpus, 3);
  assert_int_equal(scene.conditions.load_hundredths, 10);
}

static void what_is_not_told_is_skipped(void **state) {
  static const char *const names[] = {"governor",     "frequency",  "turbo", "heat",      "shared cores",
                                      "memory nodes", "other load", "swap",  "write-back"};
  struct doctor_scene scene;
  (void)state;
  gather(&scene);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) expect_finding(&scene, names[i], DOCTOR_SKIP, "");
  expect_finding(&scene, "container", DOCTOR_OK, "none");
}

static void each_disturbance_is_told(void **state) {
  static const struct {
    const char *path, *text, *name, *words;
  } wrong[] = {
      {CPUS "intel_pstate/no_turbo", "0\n", "turbo", "on:"},
      {CPUS "smt/active", "1\n", "shared cores", "share a core"},
      {CPUS "cpu0/thermal_throttle/package_throttle_count", "12\n", "heat", "12 times"},
      {CPUS "cpu0/cpufreq/scaling_governor", "powersave\n", "governor", "powersave"},
      {CPUS "isolated", "2-3\n", "isolation", "2-3"},
      {"/sys/devices/system/node/online", "0-1\n", "memory nodes", "2 nodes"},
      {"/sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n", "huge pages", "never"},
      {"/sys/module/damon_reclaim/parameters/enabled", "Y\n", "memory reclaim", "DAMON reclaim"},
      {"/proc/swaps", "Filename\n/dev/zram0 partition 100 0 100\n", "memory reclaim", "zram"},
      {"/proc/cpuinfo", "model name\t: Test\nflags\t\t: fpu hypervisor tsc\n", "virtualization", "guest"},
      {"/proc/loadavg", "400.25 0.20 0.30 9/100 1\n", "other load", "400.25 programs"},
      {"/proc/pressure/io", "some avg10=12.34 avg60=0.00 avg300=0.00 total=9\n", "other load", "12 % for a disk"},
      {"/run/systemd/container", "podman\n", "container", "podman"},
      {"/.dockerenv", "", "container", "docker"},
      {"/proc/1/cgroup", "0::/kubepods/burstable/pod1\n", "container", "kubepods"},
      {"/proc/meminfo", MEMORY "SwapTotal: 2000000 kB\nSwapFree: 1000000 kB\n", "swap", "in use"},
      {"/proc/sys/vm/dirty_background_bytes", "16777216\n", "write-back", "16 MiB"},
      {"/proc/sys/kernel/randomize_va_space", "0\n", "address layout", "off"},
      {"/sys/fs/cgroup/a/memory.max", "1073741824\n", "memory limit", "1 GiB of"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    struct doctor_scene scene;
    put_quiet_machine();
    put(wrong[i].path, wrong[i].text);
    gather(&scene);
    expect_finding(&scene, wrong[i].name, DOCTOR_WARN, wrong[i].words);
    char path[320];
    snprintf(path, sizeof path, "%s%s", tree, wrong[i].path);
    assert_int_equal(unlink(path), 0);
  }
}

static void what_other_guests_take_is_told(void **state) {
  struct doctor_scene scene;
  (void)state;
  gather(&scene);
  steals = true;
  expect_finding(&scene, "steal", DOCTOR_WARN, "other guests");
}

/* ---- the place ---- */

#define GIB (MIB * 1024)
static struct doctor_scene good_place(void) {
  struct doctor_scene scene = {.directory = "."};
  scene.place = (struct os_place){.file_system = "ext4",
                                  .options = "rw,relatime",
                                  .mount_point = "/data",
                                  .device = "sda1",
                                  .scheduler = "none",
                                  .read_ahead_kib = 128,
                                  .rotational = 0,
                                  .free_bytes = 50 * GIB,
                                  .total_bytes = 100 * GIB,
                                  .free_files = 1000000,
                                  .total_files = 2000000,
                                  .discard_bytes = 1 << 20,
                                  .sector_bytes = 4096,
                                  .misaligned_bytes = 0};
  return scene;
}

static void good_place_is_ok(void **state) {
  static const char *const names[] = {"file system", "mount options", "free space", "disk",
                                      "scheduler",   "read-ahead",    "discard",    "sectors"};
  const struct doctor_scene scene = good_place();
  (void)state;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) expect_finding(&scene, names[i], DOCTOR_OK, "");
}

static void options_that_change_numbers_are_told(void **state) {
  static const char *const options[][2] = {{"rw,nobarrier", "nobarrier"},   {"rw,barrier=0", "barrier=0"},
                                           {"rw,sync", "every write"},      {"rw,data=journal,sync", "every write"},
                                           {"rw,data=journal", "twice"},    {"rw,strictatime", "every read"},
                                           {"ro", "nothing can be written"}};
  (void)state;
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    struct doctor_scene scene = good_place();
    strcpy(scene.place.options, options[i][0]);
    expect_finding(&scene, "mount options", DOCTOR_WARN, options[i][1]);
  }
  struct doctor_scene scene = good_place();
  strcpy(scene.place.options, "rw,async,errors=remount-ro");
  expect_finding(&scene, "mount options", DOCTOR_OK, "async");
}

static void room_that_is_short_is_told(void **state) {
  struct doctor_scene scene = good_place();
  (void)state;
  scene.place.free_bytes = 4 * GIB;
  expect_finding(&scene, "free space", DOCTOR_WARN, "left over");
  scene.place.free_bytes = MIB;
  expect_finding(&scene, "free space", DOCTOR_WARN, "smaller");
  scene = good_place();
  scene.place.free_files = 3;
  expect_finding(&scene, "free space", DOCTOR_WARN, "3 more files");
  scene.place.total_files = 0;
  expect_finding(&scene, "free space", DOCTOR_OK, "");
}

static void disks_that_hinder_are_told(void **state) {
  struct doctor_scene scene = good_place();
  (void)state;
  strcpy(scene.place.options, "rw,discard");
  expect_finding(&scene, "discard", DOCTOR_WARN, "given back at once");
  scene.place.misaligned_bytes = 512;
  expect_finding(&scene, "sectors", DOCTOR_WARN, "512 bytes off");
  strcpy(scene.place.scheduler, "bfq");
  expect_finding(&scene, "scheduler", DOCTOR_WARN, "bfq");
  scene.place.read_ahead_kib = 0;
  expect_finding(&scene, "read-ahead", DOCTOR_WARN, "none");
}

static void place_without_a_disk_is_skipped(void **state) {
  static const char *const names[] = {"disk", "scheduler", "read-ahead", "discard", "sectors"};
  struct doctor_scene scene = {.directory = "/dev/shm"};
  (void)state;
  scene.place = (struct os_place){.file_system = "tmpfs",
                                  .ram_backed = true,
                                  .read_ahead_kib = -1,
                                  .rotational = -1,
                                  .discard_bytes = -1,
                                  .sector_bytes = -1,
                                  .misaligned_bytes = -1};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) expect_finding(&scene, names[i], DOCTOR_SKIP, "");
}

static void write_cache_is_told(void **state) {
  struct doctor_scene scene = good_place();
  (void)state;
  expect_finding(&scene, "write cache", DOCTOR_SKIP, "");
  strcpy(scene.place.write_cache, "write back");
  scene.place.write_through = 1;
  expect_finding(&scene, "write cache", DOCTOR_OK, "FUA");
  scene.place.write_through = 0;
  expect_finding(&scene, "write cache", DOCTOR_OK, "write back: what is durable is flushed");
  strcpy(scene.place.write_cache, "write through");
  expect_finding(&scene, "write cache", DOCTOR_OK, "costs nothing");
  strcpy(scene.machine.hypervisor, "KVM");
  expect_finding(&scene, "write cache", DOCTOR_WARN, "leaves this guest");
}

/* Whatever the machine has: each answer of the system is told as what it is. */
static int counters_error;
static int fail_to_count(void *attributes) {
  (void)attributes;
  errno = counters_error;
  return -1;
}

static void lack_of_counters_is_told(void **state) {
  struct doctor_scene scene;
  (void)state;
  gather(&scene);
  replace("perf_event_open", (os_function *)fail_to_count);
  counters_error = EACCES;
  expect_finding(&scene, "perf events", DOCTOR_SKIP, "perf_event_paranoid 2");
  counters_error = ENOENT;
  expect_finding(&scene, "perf events", DOCTOR_SKIP, "here");
  restore("perf_event_open");
}

/* What the kernel tells of a device comes into the facts of a place on it. */
static void device_is_read_from_its_files(void **state) {
  struct os_place place;
  (void)state;
  restore("open");
  int code = os_place(".", &place);
  replace("open", (os_function *)fake_open);
  assert_int_equal(code, 0);
  if (place.rotational < 0) skip_because("no disk beneath the current directory");
  char *table = NULL;
  size_t size = 0;
  FILE *mounts = fopen("/proc/self/mountinfo", "r");
  assert_non_null(mounts);
  assert_true(getdelim(&table, &size, '\0', mounts) > 0);
  fclose(mounts);
  put("/proc/self/mountinfo", table);
  free(table);
  put("/device/discard_max_bytes", "2097152\n");
  put("/device/physical_block_size", "4096\n");
  put("/device/alignment_offset", "3584\n");
  put("/device/scheduler", "mq-deadline [bfq] none\n");
  assert_int_equal(os_place(".", &place), 0);
  assert_int_equal(place.discard_bytes, 2097152);
  assert_int_equal(place.sector_bytes, 4096);
  assert_int_equal(place.misaligned_bytes, 3584);
  assert_string_equal(place.scheduler, "bfq");
  assert_true(place.total_bytes >= place.free_bytes && place.total_bytes > 0);
}

#define IN_QUIET_TREE(test) cmocka_unit_test_setup_teardown(test, quiet_tree, remove_tree)
#define IN_EMPTY_TREE(test) cmocka_unit_test_setup_teardown(test, empty_tree, remove_tree)

int main(void) {
  const struct CMUnitTest tests[] = {
      IN_QUIET_TREE(quiet_machine_is_ok),
      IN_EMPTY_TREE(what_is_not_told_is_skipped),
      IN_QUIET_TREE(each_disturbance_is_told),
      IN_QUIET_TREE(what_other_guests_take_is_told),
      cmocka_unit_test(good_place_is_ok),
      cmocka_unit_test(options_that_change_numbers_are_told),
      cmocka_unit_test(room_that_is_short_is_told),
      cmocka_unit_test(disks_that_hinder_are_told),
      cmocka_unit_test(place_without_a_disk_is_skipped),
      cmocka_unit_test(write_cache_is_told),
      IN_QUIET_TREE(lack_of_counters_is_told),
      IN_EMPTY_TREE(device_is_read_from_its_files),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
