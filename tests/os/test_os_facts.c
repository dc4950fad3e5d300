/*
 * test_os_facts.c - clock, page cache, layout, counters, machine and place. Asserts no absolute time.
 */
#define _GNU_SOURCE
#include <sys/sysmacros.h>
#include <unistd.h>

#include "check.h"
#include "os/linux/mounts.h"
#include "os/linux/procfs.h"

static bool ram_backed(const char *path) {
  struct os_place place;
  assert_int_equal(os_place(path, &place), 0);
  return place.ram_backed;
}

/* ---- clock ---- */

static void clocks_never_go_back(void **state) {
  assert_int_equal(os_fast_clock_start(), 0);
  assert_int_equal(os_fast_clock_start(), 0);
  uint64_t before = os_clock_ns(), fast_before = os_fast_clock_ns();
  for (int i = 0; i < 100000; i++) {
    uint64_t now = os_clock_ns(), fast_now = os_fast_clock_ns();
    assert_true(now >= before && fast_now >= fast_before);
    before = now;
    fast_before = fast_now;
  }
}

static void fast_clock_keeps_pace(void **state) {
  assert_int_equal(os_fast_clock_start(), 0);
  uint64_t outer_begin = os_clock_ns(), fast_begin = os_fast_clock_ns(), inner_begin = os_clock_ns();
  os_sleep_ns(20000000);
  uint64_t inner_end = os_clock_ns(), fast_end = os_fast_clock_ns(), outer_end = os_clock_ns();
  double fast = (double)(fast_end - fast_begin);
  assert_true(inner_end - inner_begin >= 20000000);
  assert_true(fast > (double)(inner_end - inner_begin) * 0.99 && fast < (double)(outer_end - outer_begin) * 1.01);
}

static void clock_facts_are_plausible(void **state) {
  struct os_clock_facts facts;
  os_clock_measure(&facts);
  assert_string_equal(facts.name, "monotonic");
  assert_true(facts.step_ns >= 1);
  assert_true(facts.read_ns > 0);
  printf("  clock: source %s, trusted %d\n", facts.source, facts.counter_trusted);
  assert_true(os_wall_ns() > UINT64_C(1500000000) * 1000000000);
}

/* ---- page cache ---- */

#define CACHED (MIB + 123)

static uint64_t cached_bytes(os_file file) {
  struct os_cache cache;
  assert_int_equal(os_cache_state(file, 0, CACHED, &cache), 0);
  assert_true(cache.cached_bytes <= CACHED && cache.dirty_bytes <= CACHED && cache.writeback_bytes <= CACHED);
  return cache.cached_bytes;
}

static void read_all(os_file file) {
  char *data = malloc(CACHED);
  assert_int_equal(os_pread_full(file, data, CACHED, 0), (int64_t)CACHED);
  free(data);
}

/* Pages that another CPU has in its hands just then stay; they go when asked again. */
static void evict_all(os_file file) {
  for (int i = 0; i < 50 && cached_bytes(file) > 0; i++) {
    assert_int_equal(os_sync(file, true), 0);
    assert_int_equal(os_cache_evict(file, 0, CACHED), 0);
    if (i > 0) os_sleep_ns(1000000);
  }
  assert_int_equal(cached_bytes(file), 0);
}

static int no_cachestat(int fd, void *range, void *out) {
  errno = ENOSYS;
  return -1;
}

static void cache_is_filled_seen_and_emptied(void **state) {
  if (ram_backed(*state)) skip_because("the current directory lies in memory; nothing can be evicted");
  os_file file = make_file(*state, "cached", CACHED);
  assert_int_equal(cached_bytes(file), CACHED);
  evict_all(file);
  read_all(file);
  assert_int_equal(cached_bytes(file), CACHED);
  replace("cachestat", (os_function *)no_cachestat);
  struct os_cache cache;
  assert_int_equal(os_cache_state(file, 0, CACHED, &cache), 0);
  assert_false(cache.dirty_known);
  assert_int_equal(cache.cached_bytes, CACHED);
  assert_int_equal(os_cache_state(file, 5000, 10, &cache), 0);
  assert_int_equal(cache.cached_bytes, 10);
  restore("cachestat");
  assert_int_equal(os_cache_state(file, 5000, 10, &cache), 0);
  assert_int_equal(cache.cached_bytes, 10);
  assert_int_equal(os_cache_state(file, 0, 0, &cache), 0);
  assert_int_equal(cache.cached_bytes, 0);
  assert_int_equal(os_cache_state(file, UINT64_MAX, 10, &cache), -EOVERFLOW);
  assert_int_equal(os_close(file), 0);
}

static void dirty_pages_are_told(void **state) {
  if (ram_backed(*state)) skip_because("the current directory lies in memory; pages are never written back");
  os_file file = make_file(*state, "dirty", CACHED);
  struct os_cache cache;
  assert_int_equal(os_cache_state(file, 0, CACHED, &cache), 0);
  if (!cache.dirty_known) skip_because("this kernel does not tell dirty pages");
  assert_int_equal(cache.dirty_bytes + cache.writeback_bytes, 0);
  assert_int_equal(os_pwrite(file, "x", 1, 5000), 1);
  assert_int_equal(os_cache_state(file, 0, CACHED, &cache), 0);
  assert_true(cache.dirty_bytes + cache.writeback_bytes > 0);
  assert_int_equal(os_close(file), 0);
}

static int ask_as_nobody(void *context) {
  struct os_cache cache;
  if (geteuid() != 0 || setresuid(65534, 65534, 65534)) return 77;
  (void)os_override("cachestat", (os_function *)no_cachestat);
  return os_cache_state(*(os_file *)context, 0, CACHED, &cache) == -EPERM ? 0 : 1;
}

static void mincore_is_not_asked_about_files_of_others(void **state) {
  os_file file = make_file(*state, "foreign", CACHED);
  os_process process;
  struct os_exit status;
  assert_int_equal(os_process_fork(ask_as_nobody, &file, &process), 0);
  assert_int_equal(os_process_wait(process, UINT64_MAX, &status), 0);
  assert_int_equal(os_close(file), 0);
  if (status.code == 77) skip_because("needs root to become another user");
  assert_true(!status.crashed && status.code == 0);
}

/* ---- layout ---- */

static int no_fiemap(int fd, unsigned long request, void *argument) {
  errno = EOPNOTSUPP;
  return -1;
}

static void holes_are_counted(void **state) {
  os_file file = open_in(*state, "sparse", OS_READ | OS_WRITE | OS_CREATE);
  static char data[65536];
  memset(data, 'd', sizeof data);
  assert_int_equal(os_resize(file, MIB), 0);
  assert_int_equal(os_pwrite_full(file, data, sizeof data, MIB / 2), (int64_t)sizeof data);
  assert_int_equal(os_sync(file, true), 0);
  assert_int_equal(os_seek(file, 77), 0);
  for (int with_fiemap = 1; with_fiemap >= 0; with_fiemap--) {
    struct os_layout layout;
    if (!with_fiemap) replace("ioctl", (os_function *)no_fiemap);
    assert_int_equal(os_file_layout(file, MIB, &layout), 0);
    assert_int_equal(layout.hole_bytes, MIB - sizeof data);
    assert_int_equal(layout.unwritten_bytes, 0);
    assert_true(layout.extents >= 1);
    assert_int_equal(os_file_layout(file, MIB / 4, &layout), 0);
    assert_int_equal(layout.hole_bytes, MIB / 4);
    assert_int_equal(os_file_layout(file, UINT64_MAX, &layout), 0); /* no holes behind the end */
    assert_int_equal(layout.hole_bytes, MIB - sizeof data);
  }
  restore("ioctl");
  assert_int_equal(lseek((int)file, 0, SEEK_CUR), 77); /* the position is left alone */
  assert_int_equal(os_close(file), 0);
}

static void allocated_but_unwritten_is_no_hole(void **state) {
  if (ram_backed(*state)) skip_because("file systems in memory do not tell unwritten pages");
  os_file file = open_in(*state, "unwritten", OS_READ | OS_WRITE | OS_CREATE);
  if (os_allocate(file, MIB) == -EOPNOTSUPP) skip_because("this file system cannot allocate ahead");
  static char data[65536];
  assert_int_equal(os_pwrite_full(file, data, sizeof data, 0), (int64_t)sizeof data);
  assert_int_equal(os_sync(file, true), 0);
  struct os_layout layout;
  int error = os_file_layout(file, MIB, &layout);
  if (error == -EOPNOTSUPP) skip_because("this file system does not tell its layout");
  assert_int_equal(error, 0);
  assert_int_equal(layout.hole_bytes, 0);
  assert_int_equal(layout.unwritten_bytes, MIB - sizeof data);
  assert_int_equal(os_close(file), 0);
}

static void written_files_have_neither(void **state) {
  os_file file = make_file(*state, "full", MIB + 1);
  struct os_layout layout;
  assert_int_equal(os_file_layout(file, MIB + 1, &layout), 0);
  assert_true(layout.hole_bytes == 0 && layout.unwritten_bytes == 0 && layout.extents >= 1);
  assert_int_equal(os_close(file), 0);
  os_file pipe_ends[2];
  assert_int_equal(os_pipe(&pipe_ends[0], &pipe_ends[1]), 0);
  assert_int_equal(os_file_layout(pipe_ends[0], 10, &layout), -EOPNOTSUPP);
  assert_int_equal(os_close(pipe_ends[0]) + os_close(pipe_ends[1]), 0);
}

static void data_that_wait_for_blocks_are_no_hole(void **state) {
  os_file file = open_in(*state, "delayed", OS_READ | OS_WRITE | OS_CREATE);
  static char data[65536];
  assert_int_equal(os_pwrite_full(file, data, sizeof data, 0), (int64_t)sizeof data); /* not synced */
  struct os_layout layout;
  assert_int_equal(os_file_layout(file, sizeof data, &layout), 0);
  assert_int_equal(layout.hole_bytes, 0);
  assert_int_equal(os_close(file), 0);
}

/* ---- counters ---- */

static void usage_grows_with_work(void **state) {
  struct os_usage before, after;
  os_usage(&before);
  void *memory;
  assert_int_equal(os_memory_get(64 * MIB, 0, &memory), 0);
  for (size_t at = 0; at < 64 * MIB; at += 4096) ((volatile char *)memory)[at] = 1;
  os_usage(&after);
  assert_true(after.cpu_ns > before.cpu_ns);
  assert_true(after.minor_faults + after.major_faults > before.minor_faults + before.major_faults);
  uint64_t peak = os_peak_bytes();
  assert_true(peak >= 64 * MIB && os_resident_bytes() >= 64 * MIB);
  assert_int_equal(os_memory_put(memory, 64 * MIB), 0);
  assert_true(os_resident_bytes() <= peak - 32 * MIB);
  int error = os_peak_reset();
  if (error) skip_because("the peak cannot be set back: %s", strerror(-error));
  assert_true(os_peak_bytes() <= peak - 32 * MIB);
}

static void cold_reads_are_counted_by_process_and_device(void **state) {
  if (ram_backed(*state)) skip_because("the current directory lies in memory");
  os_file file = make_file(*state, "counted", CACHED);
  struct os_stat status;
  struct os_device_counters before, after;
  assert_int_equal(os_stat_file(file, &status), 0);
  evict_all(file);
  int error = os_device_counters(status.device, &before);
  int64_t own_before = os_storage_read_bytes();
  read_all(file);
  if (own_before >= 0) assert_true(os_storage_read_bytes() - own_before >= (int64_t)MIB);
  if (error == -ENODEV) skip_because("no single device holds the current directory");
  assert_int_equal(error, 0);
  assert_int_equal(os_device_counters(status.device, &after), 0);
  assert_true(after.read_bytes - before.read_bytes >= MIB);
  assert_true(after.write_bytes >= before.write_bytes && after.flushes >= before.flushes);
  assert_int_equal(os_close(file), 0);
}

static void memory_has_no_device(void **state) {
  struct os_stat status;
  struct os_device_counters counters;
  assert_int_equal(os_stat_path("/proc", &status), 0);
  assert_int_equal(os_device_counters(status.device, &counters), -ENODEV);
  assert_int_equal(os_device_counters(makedev(4000, 5), &counters), -ENODEV);
}

static void pressure_totals_do_not_fall(void **state) {
  struct os_pressure before, after;
  os_pressure(&before);
  os_pressure(&after);
  assert_true(before.steal_ns >= -1 && after.steal_ns >= before.steal_ns);
  assert_true(before.cpu_stall_ns >= -1 && after.cpu_stall_ns >= before.cpu_stall_ns);
  assert_true(before.io_stall_ns >= -1 && after.io_stall_ns >= before.io_stall_ns);
  assert_true(before.memory_stall_ns >= -1 && after.memory_stall_ns >= before.memory_stall_ns);
}

static int fail_open(const char *path, int flags, unsigned mode) {
  errno = EACCES;
  return -1;
}

static void unreadable_counters_are_unknown_not_zero(void **state) {
  replace("open", (os_function *)fail_open);
  struct os_pressure pressure;
  struct os_device_counters counters;
  struct os_machine machine;
  os_pressure(&pressure);
  assert_true(pressure.steal_ns == -1 && pressure.io_stall_ns == -1);
  assert_int_equal(os_storage_read_bytes(), -1);
  assert_int_equal(os_peak_bytes(), 0);
  assert_int_equal(os_device_counters(makedev(8, 0), &counters), -ENODEV);
  os_machine(&machine);
  assert_string_equal(machine.governor, "");
  assert_int_equal(os_cache_drop_all(), -EACCES);
  restore("open");
}

/* ---- machine and place ---- */

static void machine_is_described(void **state) {
  struct os_machine machine;
  os_machine(&machine);
  assert_string_equal(machine.system, "Linux");
  assert_true(machine.kernel[0] && machine.processor[0]);
  assert_true(machine.cpus >= 1);
  assert_true(machine.memory_bytes > 0 && machine.available_bytes <= machine.memory_bytes);
  printf("  %s %s, %s, hypervisor '%s', %u CPUs, governor '%s', huge pages '%s', reclaim '%s'\n", machine.system,
         machine.kernel, machine.processor, machine.hypervisor, machine.cpus, machine.governor, machine.huge_pages,
         machine.reclaim);
}

/* In a chroot the root may be a plain directory of a mount that is not seen from there. */
static bool root_is_mounted(void) {
  char line[4096], mount_point[4096];
  bool found = false;
  FILE *mounts = fopen("/proc/self/mountinfo", "r");
  while (mounts && !found && fgets(line, sizeof line, mounts))
    found = sscanf(line, "%*s %*s %*s %*s %4095s", mount_point) == 1 && strcmp(mount_point, "/") == 0;
  if (mounts) (void)fclose(mounts);
  return found;
}

static void places_are_described(void **state) {
  struct os_place place;
  assert_int_equal(os_place("/", &place), 0);
  if (!root_is_mounted()) skip_because("the root of this chroot is not mounted");
  assert_string_equal(place.mount_point, "/");
  assert_true(place.file_system[0] && place.options[0]);
  printf("  /: %s (%s) on '%s', scheduler '%s', read-ahead %ld KiB, rotational %d\n", place.file_system, place.options,
         place.device, place.scheduler, (long)place.read_ahead_kib, place.rotational);
  assert_int_equal(os_place("no-such-directory", &place), -ENOENT);
  assert_int_equal(os_place(*state, &place), 0);
  assert_true(place.free_bytes > 0);
  if (access("/dev/shm", F_OK) != 0) skip_because("no /dev/shm here");
  assert_int_equal(os_place("/dev/shm", &place), 0);
  assert_string_equal(place.file_system, "tmpfs");
  assert_string_equal(place.mount_point, "/dev/shm");
  assert_string_equal(place.device, "");
  assert_true(place.ram_backed);
}

static const char made_up_mounts[] =
    "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro\n"
    "broken row\n"
    "23 22 0:21 / /proc rw - proc proc rw\n"
    "24 22 8:2 / /my\\040data rw,noatime shared:2 master:3 - xfs /dev/sda2 rw,attr2\n"
    "25 24 0:40 / /my\\040data/sub ro - tmpfs none rw\n"
    "26 22 8:3 / /over rw - ext4 /dev/first rw\n"
    "27 22 8:3 / /over rw - ext4 /dev/second rw\n";

static void find(const char *path, unsigned major_number, unsigned minor_number, const char *source, const char *point) {
  char table[sizeof made_up_mounts];
  memcpy(table, made_up_mounts, sizeof table);
  struct mount mount;
  assert_true(mounts_find(table, path, makedev(major_number, minor_number), &mount));
  assert_string_equal(mount.source, source);
  assert_string_equal(mount.point, point);
}

static void mounts_are_found_by_device_and_longest_path(void **state) {
  find("/home/me", 8, 1, "/dev/sda1", "/");
  find("/my data", 8, 2, "/dev/sda2", "/my data");
  find("/my data/x", 8, 2, "/dev/sda2", "/my data");
  find("/my database", 8, 1, "/dev/sda1", "/");
  find("/my data/sub/x", 0, 40, "none", "/my data/sub");
  find("/over/x", 8, 3, "/dev/second", "/over");
  find("/over/x", 9, 9, "/dev/second", "/over"); /* a number of its own, as btrfs subvolumes have */
  char empty[] = "";
  struct mount mount;
  assert_false(mounts_find(empty, "/", makedev(8, 1), &mount));
}

static void kernel_texts_are_read(void **state) {
  char word[16];
  procfs_chosen("always [madvise] never", word, sizeof word);
  assert_string_equal(word, "madvise");
  procfs_chosen("none", word, sizeof word);
  assert_string_equal(word, "");
  assert_int_equal(procfs_field("A: 1\nVmHWM:\t  123 kB\n", "VmHWM:"), 123);
  assert_int_equal(procfs_field("A: 1\n", "B:"), -1);
  assert_int_equal(procfs_number("/no/such/file"), -1);
  assert_true(procfs_line("x: y\nmodel name\t: Fast One\n", "model name", word, sizeof word));
  assert_string_equal(word, "Fast One");
  assert_true(procfs_has_word("a bc d", "bc") && !procfs_has_word("a bcd", "bc") && !procfs_has_word("", "bc"));
  char *whole = procfs_whole("/proc/self/mountinfo");
  assert_non_null(whole);
  free(whole);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(clocks_never_go_back),
      cmocka_unit_test(fast_clock_keeps_pace),
      cmocka_unit_test(clock_facts_are_plausible),
      cmocka_unit_test(cache_is_filled_seen_and_emptied),
      cmocka_unit_test(dirty_pages_are_told),
      cmocka_unit_test(mincore_is_not_asked_about_files_of_others),
      cmocka_unit_test(holes_are_counted),
      cmocka_unit_test(allocated_but_unwritten_is_no_hole),
      cmocka_unit_test(written_files_have_neither),
      cmocka_unit_test(data_that_wait_for_blocks_are_no_hole),
      cmocka_unit_test(usage_grows_with_work),
      cmocka_unit_test(cold_reads_are_counted_by_process_and_device),
      cmocka_unit_test(memory_has_no_device),
      cmocka_unit_test(pressure_totals_do_not_fall),
      cmocka_unit_test(unreadable_counters_are_unknown_not_zero),
      cmocka_unit_test(machine_is_described),
      cmocka_unit_test(places_are_described),
      cmocka_unit_test(mounts_are_found_by_device_and_longest_path),
      cmocka_unit_test(kernel_texts_are_read),
  };
  return cmocka_run_group_tests_name("facts", tests, make_scratch, remove_scratch);
}
