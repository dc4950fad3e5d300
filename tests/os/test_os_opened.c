/*
 * test_os_opened.c - what can be asked of and changed about an open file, and memory that forked processes do not share.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "check.h"

static void new_files_get_their_mode(void **state) {
  static const unsigned modes[] = {0600, 0640, 0755, 0444};
  (void)umask(0);
  for (size_t i = 0; i < 4; i++) {
    const struct path path = path_in(*state, "mode");
    os_file file;
    struct os_stat stat;
    assert_int_equal(os_open_mode(path.text, OS_WRITE | OS_CREATE | OS_EXCLUSIVE, modes[i], &file), 0);
    assert_int_equal(os_stat_file(file, &stat), 0);
    assert_int_equal(stat.mode, modes[i]);
    assert_int_equal(stat.owner, geteuid());
    assert_int_equal(stat.links, 1);
    assert_int_equal(os_set_mode(file, 0700), 0);
    assert_int_equal(os_set_owner(file, stat.owner, stat.group), 0);
    assert_int_equal(os_stat_file(file, &stat), 0);
    assert_int_equal(stat.mode, 0700);
    assert_int_equal(os_close(file), 0);
    assert_int_equal(os_remove(path.text), 0);
  }
  (void)umask(022);
}

static void links_are_refused_on_request(void **state) {
  const struct path path = path_in(*state, "link");
  os_file file;
  assert_int_equal(os_close(make_file(*state, "target", 10)), 0);
  assert_int_equal(symlink("target", path.text), 0);
  assert_int_equal(os_open(path.text, OS_READ | OS_NO_FOLLOW, &file), -ELOOP);
  assert_int_equal(os_open(path.text, OS_READ, &file), 0);
  assert_int_equal(os_close(file), 0);
}

static bool does_not_block(os_file file) { return fcntl((int)file, F_GETFL) & O_NONBLOCK; }

static void waiting_is_put_off_until_wanted(void **state) {
  const struct path path = path_in(*state, "fifo");
  os_file file;
  assert_int_equal(mkfifo(path.text, 0600), 0);
  assert_int_equal(os_open(path.text, OS_READ | OS_STAY_READY, &file), -EINVAL);
  assert_int_equal(os_open(path.text, OS_READ | OS_NO_WAIT, &file), 0);
  assert_false(does_not_block(file));
  assert_int_equal(os_close(file), 0);
  assert_int_equal(os_open(path.text, OS_READ | OS_NO_WAIT | OS_STAY_READY, &file), 0);
  assert_true(does_not_block(file));
  assert_int_equal(os_wait_again(file), 0);
  assert_false(does_not_block(file));
  assert_int_equal(os_close(file), 0);
}

static void an_open_file_tells_what_it_allows(void **state) {
  static const unsigned asked[] = {OS_READ, OS_WRITE, OS_READ | OS_WRITE, OS_WRITE | OS_APPEND};
  assert_int_equal(os_close(make_file(*state, "allows", 10)), 0);
  unsigned flags;
  for (size_t i = 0; i < 4; i++) {
    os_file file = open_in(*state, "allows", asked[i]), copy;
    assert_int_equal(os_opened_for(file, &flags), 0);
    assert_int_equal(flags, asked[i]);
    assert_int_equal(os_duplicate(file, &copy), 0);
    assert_true(copy > 2 && copy != file);
    assert_int_equal(fcntl((int)copy, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    assert_int_equal(os_close(file), 0);
    assert_int_equal(os_opened_for(copy, &flags), 0);
    assert_int_equal(flags, asked[i]);
    assert_int_equal(os_close(copy), 0);
  }
  const int name = open(*state, O_PATH | O_CLOEXEC);
  assert_int_equal(os_opened_for(name, &flags), 0);
  assert_int_equal(flags & (OS_READ | OS_WRITE), 0);
  assert_int_equal(close(name), 0);
  assert_int_equal(os_opened_for(-1, &flags), -EBADF);
  os_file none;
  assert_int_equal(os_duplicate(-1, &none), -EBADF);
}

static void a_reopened_file_has_its_own_position(void **state) {
  os_file file = make_file(*state, "again", 100), again;
  assert_int_equal(os_seek(file, 50), 0);
  const int error = os_reopen(file, OS_READ, &again);
  if (error == -EOPNOTSUPP) skip_because("no /proc here");
  assert_int_equal(error, 0);
  unsigned char byte;
  assert_int_equal(os_read(again, &byte, 1), 1);
  assert_int_equal(byte, 0);
  assert_int_equal(os_tell(again), 1);
  assert_int_equal(os_tell(file), 50);
  assert_int_equal(os_close(again), 0);
  assert_int_equal(os_close(file), 0);
  os_file ends[2];
  assert_int_equal(os_pipe(&ends[0], &ends[1]), 0);
  assert_int_equal(os_tell(ends[0]), -ESPIPE);
  assert_int_equal(os_close(ends[0]), 0);
  assert_int_equal(os_close(ends[1]), 0);
}

static void direct_is_begun_and_ended(void **state) {
  os_file file = make_file(*state, "direct", 4096);
  unsigned flags;
  const int error = os_set_direct(file, true);
  if (error == -EINVAL) skip_because("no direct transfers here");
  assert_int_equal(error, 0);
  assert_int_equal(os_opened_for(file, &flags), 0);
  assert_int_equal(flags, OS_READ | OS_WRITE | OS_DIRECT);
  assert_int_equal(os_set_direct(file, false), 0);
  assert_int_equal(os_opened_for(file, &flags), 0);
  assert_int_equal(flags, OS_READ | OS_WRITE);
  assert_int_equal(os_close(file), 0);
}

static void shared_locks_stand_beside_each_other(void **state) {
  assert_int_equal(os_close(make_file(*state, "locks", 1)), 0);
  os_file first = open_in(*state, "locks", OS_READ), second = open_in(*state, "locks", OS_READ),
          third = open_in(*state, "locks", OS_READ);
  assert_int_equal(os_lock_shared(first), 0);
  assert_int_equal(os_lock_shared(second), 0);
  assert_int_equal(os_lock(third), -EWOULDBLOCK);
  assert_int_equal(os_close(first), 0);
  assert_int_equal(os_close(second), 0);
  assert_int_equal(os_lock(third), 0);
  assert_int_equal(os_close(third), 0);
}

static void write_back_is_a_hint(void **state) {
  os_file file = make_file(*state, "back", 10000);
  const int error = os_write_back(file, 0, 10000);
  assert_true(error == 0 || error == -ENOSYS || error == -EOPNOTSUPP || error == -EINVAL);
  assert_int_equal(os_write_back(file, 1, UINT64_MAX), -EOVERFLOW);
  assert_int_equal(os_close(file), 0);
}

/* ---- waiting ---- */

static void pipes_tell_when_they_are_ready(void **state) {
  os_file ends[2];
  char byte = 'x';
  assert_int_equal(os_pipe(&ends[0], &ends[1]), 0);
  assert_int_equal(os_wait_ready(ends[1], true), 0);
  assert_int_equal(os_write(ends[1], &byte, 1), 1);
  assert_int_equal(os_wait_ready(ends[0], false), 0);
  assert_int_equal(os_close(ends[1]), 0);
  assert_int_equal(os_read(ends[0], &byte, 1), 1);
  assert_int_equal(os_wait_ready(ends[0], false), 0); /* its end is something to be read too */
  assert_int_equal(os_close(ends[0]), 0);
  assert_int_equal(os_wait_ready(99999, false), -EBADF);
}

static unsigned tries;
static ssize_t not_cached(int fd, const struct iovec *parts, int count, off_t offset, int flags) {
  tries++;
  assert_int_equal(flags, 8);
  errno = EAGAIN;
  return -1;
}

static void what_is_not_cached_is_not_waited_for(void **state) {
  os_file file = make_file(*state, "cached", 10);
  char byte;
  const struct os_piece piece = {&byte, 1};
  const int64_t count = os_preadv(file, &piece, 1, 0, OS_TRANSFER_CACHED);
  assert_true(count == 1 || count == -EOPNOTSUPP || count == -EAGAIN);
  replace("preadv2", (os_function *)not_cached);
  tries = 0;
  assert_int_equal(os_preadv(file, &piece, 1, 0, OS_TRANSFER_CACHED), -EAGAIN);
  assert_int_equal(tries, 1);
  restore("preadv2");
  assert_int_equal(os_close(file), 0);
}

/* ---- memory ---- */

static void pages_that_are_not_there_are_an_error(void **state) {
  os_file file = make_file(*state, "populate", 8192);
  void *view;
  assert_int_equal(os_map(file, 16384, 0, &view), 0);
  const int error = os_map_populate(view, 8192);
  if (error == -EOPNOTSUPP) {
    assert_int_equal(os_unmap(view, 16384), 0);
    skip_because("this system cannot populate a map");
  }
  assert_int_equal(error, 0);
  assert_int_equal(os_map_populate((char *)view + 100, 100), 0);
  assert_int_equal(os_map_populate(view, 16384), -EFAULT);
  assert_int_equal(os_map_populate(view, 0), 0);
  assert_int_equal(os_map_advise(view, 8192, (enum os_advice)99), -EINVAL);
  assert_int_equal(os_advise(file, 0, 0, OS_ADVICE_HUGE), -EINVAL);
  assert_int_equal(os_unmap(view, 16384), 0);
  assert_int_equal(os_close(file), 0);
}

static int sees_zero(void *context) { return *(volatile int *)context; }

static int no_wiping(void *address, size_t length, int advice) {
  if (advice != MADV_WIPEONFORK) return madvise(address, length, advice);
  errno = EINVAL;
  return -1;
}

static void wiped_memory_is_zero_in_a_forked_process(void **state) {
  void *memory;
  os_process child;
  struct os_exit status;
  const int error = os_memory_get(4096, OS_MEMORY_WIPED, &memory);
  if (error == -EOPNOTSUPP) skip_because("this system cannot wipe memory");
  assert_int_equal(error, 0);
  *(int *)memory = 42;
  assert_int_equal(os_process_fork(sees_zero, memory, &child), 0);
  assert_int_equal(os_process_wait(child, UINT64_MAX, &status), 0);
  assert_int_equal(status.code, 0);
  assert_int_equal(*(int *)memory, 42);
  assert_int_equal(os_memory_put(memory, 4096), 0);
  replace("madvise", (os_function *)no_wiping);
  assert_int_equal(os_memory_get(4096, OS_MEMORY_WIPED, &memory), -EOPNOTSUPP);
  restore("madvise");
}

static void memory_by_huge_pages_is_aligned(void **state) {
  const size_t huge = os_huge_page_size();
  static const size_t lengths[] = {1, 4096, 2 * MIB, 5 * MIB, 6 * MIB};
  for (size_t i = 0; i < 5; i++) {
    void *memory;
    assert_int_equal(os_memory_get_huge(lengths[i], huge, &memory), 0);
    if (huge) assert_int_equal((uintptr_t)memory % huge, 0);
    memset(memory, 1, lengths[i]);
    assert_int_equal(os_memory_put(memory, lengths[i]), 0);
    assert_int_equal(os_memory_get(lengths[i], OS_MEMORY_SMALL, &memory), 0);
    memset(memory, 1, lengths[i]);
    assert_int_equal(os_memory_put(memory, lengths[i]), 0);
  }
}

static void memory_is_locked_or_refused(void **state) {
  void *memory;
  assert_int_equal(os_memory_get(4096, 0, &memory), 0);
  const int error = os_memory_lock(memory, 4096);
  assert_true(error == 0 || error == -ENOMEM || error == -EPERM || error == -EAGAIN);
  if (!error) assert_int_equal(os_memory_unlock(memory, 4096), 0);
  assert_int_equal(os_memory_put(memory, 4096), 0);
}

static void the_machine_tells_parts_of_itself(void **state) {
  struct os_machine machine;
  os_machine(&machine);
  assert_int_equal(os_processors(), machine.cpus);
  assert_true(os_processors() >= 1);
  if (machine.available_bytes) assert_in_range(os_available_bytes(), 1, machine.memory_bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(new_files_get_their_mode),
      cmocka_unit_test(links_are_refused_on_request),
      cmocka_unit_test(waiting_is_put_off_until_wanted),
      cmocka_unit_test(an_open_file_tells_what_it_allows),
      cmocka_unit_test(a_reopened_file_has_its_own_position),
      cmocka_unit_test(direct_is_begun_and_ended),
      cmocka_unit_test(shared_locks_stand_beside_each_other),
      cmocka_unit_test(write_back_is_a_hint),
      cmocka_unit_test(pipes_tell_when_they_are_ready),
      cmocka_unit_test(what_is_not_cached_is_not_waited_for),
      cmocka_unit_test(pages_that_are_not_there_are_an_error),
      cmocka_unit_test(wiped_memory_is_zero_in_a_forked_process),
      cmocka_unit_test(memory_by_huge_pages_is_aligned),
      cmocka_unit_test(memory_is_locked_or_refused),
      cmocka_unit_test(the_machine_tells_parts_of_itself),
  };
  return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
