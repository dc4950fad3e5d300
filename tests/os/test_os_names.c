/*
 * test_os_names.c - directories: making, listing, renaming, locking, and above all removing no more than was asked for.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include "check.h"

static bool exists(const char *directory, const char *name) { return access(path_in(directory, name).text, F_OK) == 0; }

static void touch(const char *directory, const char *name) {
  assert_int_equal(os_close(open_in(directory, name, OS_WRITE | OS_CREATE)), 0);
}

static void directories_are_made_and_refused(void **state) {
  struct path path = path_in(*state, "made");
  assert_int_equal(os_make_directory(path.text), 0);
  assert_int_equal(os_make_directory(path.text), -EEXIST);
  assert_int_equal(os_remove(path.text), -EISDIR);
  assert_int_equal(os_remove_tree(path.text), 0);
  assert_int_equal(os_remove_tree(path.text), -ENOENT);
}

static void tree_removal_stays_inside(void **state) {
  struct path outside = path_in(*state, "outside"), tree = path_in(*state, "tree"), sub = path_in(tree.text, "sub");
  assert_int_equal(os_make_directory(outside.text), 0);
  touch(outside.text, "precious");
  assert_int_equal(os_make_directory(tree.text), 0);
  assert_int_equal(os_make_directory(sub.text), 0);
  touch(tree.text, "a b\nc");
  touch(sub.text, "deep");
  assert_int_equal(symlink("../outside", path_in(tree.text, "link").text), 0);
  assert_int_equal(symlink("../../outside/precious", path_in(sub.text, "link").text), 0);
  assert_int_equal(symlink("nowhere", path_in(sub.text, "dangling").text), 0);
  assert_int_equal(os_remove_tree(tree.text), 0);
  assert_false(exists(*state, "tree"));
  assert_true(exists(outside.text, "precious"));
}

static void link_to_a_tree_is_not_a_tree(void **state) {
  struct path real = path_in(*state, "real"), link = path_in(*state, "alias"), slash = path_in(*state, "alias/");
  assert_int_equal(os_make_directory(real.text), 0);
  touch(real.text, "precious");
  assert_int_equal(symlink("real", link.text), 0);
  assert_int_equal(os_remove_tree(link.text), -ENOTDIR);
  assert_int_equal(os_remove_tree(slash.text), -ENOTDIR);
  assert_true(exists(real.text, "precious"));
  assert_int_equal(os_remove_tree(path_in(real.text, "precious").text), -ENOTDIR);
  assert_true(exists(real.text, "precious"));
}

static int remove_over_mount(void *directory) {
  struct path tree = path_in(directory, "holder"), sub = path_in(tree.text, "mounted");
  if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL)) return 77;
  if (os_make_directory(tree.text) || os_make_directory(sub.text)) return 1;
  if (mount("none", sub.text, "tmpfs", 0, NULL)) return 77;
  touch(sub.text, "precious");
  if (os_remove_tree(tree.text) != -EXDEV) return 2;
  if (!exists(sub.text, "precious")) return 3;
  return 0;
}

static void tree_removal_does_not_enter_mounts(void **state) {
  os_process process;
  struct os_exit status;
  assert_int_equal(os_process_fork(remove_over_mount, *state, &process), 0);
  assert_int_equal(os_process_wait(process, UINT64_MAX, &status), 0);
  if (status.code == 77) skip_because("no right to mount in a name space of one's own");
  assert_int_equal(status.code, 0);
}

static int count_names(void *context, const char *name) {
  ++*(int *)context;
  return 0;
}
static int stop_at_once(void *context, const char *name) { return 5; }

static void directories_are_listed(void **state) {
  struct path path = path_in(*state, "listed");
  assert_int_equal(os_make_directory(path.text), 0);
  int names = 0;
  assert_int_equal(os_list_directory(path.text, count_names, &names), 0);
  assert_int_equal(names, 0);
  touch(path.text, "one");
  touch(path.text, ".two");
  assert_int_equal(os_list_directory(path.text, count_names, &names), 0);
  assert_int_equal(names, 2);
  assert_int_equal(os_list_directory(path.text, stop_at_once, NULL), 5);
  assert_int_equal(os_list_directory("no-such-directory", count_names, &names), -ENOENT);
}

static void big_trees_go_entirely(void **state) {
  struct path tree = path_in(*state, "big");
  assert_int_equal(os_make_directory(tree.text), 0);
  for (int i = 0; i < 1500; i++) {
    char name[32];
    (void)snprintf(name, sizeof name, "file-%d", i);
    touch(tree.text, name);
  }
  assert_int_equal(os_remove_tree(tree.text), 0);
  assert_false(exists(*state, "big"));
}

static void names_are_changed(void **state) {
  touch(*state, "before");
  assert_int_equal(os_rename(path_in(*state, "before").text, path_in(*state, "after").text), 0);
  assert_false(exists(*state, "before"));
  assert_int_equal(os_remove(path_in(*state, "after").text), 0);
  assert_int_equal(os_remove(path_in(*state, "after").text), -ENOENT);
}

static int rename_error;
static int refuse_renameat2(const char *from, const char *to, unsigned flags) {
  errno = rename_error;
  return -1;
}

/* By the call that does it, and by a link where that is unknown. */
static void new_names_never_replace(void **state) {
  static const int unknown[] = {0, EINVAL, ENOSYS, EOPNOTSUPP};
  struct path from = path_in(*state, "fresh"), to = path_in(*state, "taken");
  for (size_t i = 0; i < 4; i++) {
    rename_error = unknown[i];
    if (rename_error) replace("renameat2", (os_function *)refuse_renameat2);
    touch(*state, "fresh");
    touch(*state, "taken");
    assert_int_equal(os_rename_new(from.text, to.text), -EEXIST);
    assert_true(exists(*state, "fresh"));
    assert_int_equal(os_remove(to.text), 0);
    assert_int_equal(os_rename_new(from.text, to.text), 0);
    assert_false(exists(*state, "fresh"));
    assert_int_equal(os_rename_new(from.text, to.text), -ENOENT);
    restore("renameat2");
    assert_int_equal(os_remove(to.text), 0);
  }
  rename_error = EACCES;
  replace("renameat2", (os_function *)refuse_renameat2);
  touch(*state, "fresh");
  assert_int_equal(os_rename_new(from.text, to.text), -EACCES);
  restore("renameat2");
  assert_int_equal(os_remove(from.text), 0);
}

static void links_are_read(void **state) {
  struct path link = path_in(*state, "leads");
  char where[8];
  assert_int_equal(symlink("nowhere", link.text), 0);
  assert_int_equal(os_read_link(link.text, where, sizeof where), 7);
  assert_memory_equal(where, "nowhere", 7);
  assert_int_equal(os_read_link(link.text, where, 3), 3);
  assert_int_equal(os_read_link(*state, where, sizeof where), -EINVAL);
  assert_int_equal(os_read_link(path_in(*state, "missing").text, where, sizeof where), -ENOENT);
  assert_int_equal(os_remove(link.text), 0);
}

static void second_lock_is_refused_until_the_first_is_closed(void **state) {
  os_file first = open_in(*state, "locked", OS_READ | OS_WRITE | OS_CREATE);
  os_file second = open_in(*state, "locked", OS_READ | OS_WRITE);
  assert_int_equal(os_lock(first), 0);
  assert_int_equal(os_lock(first), 0);
  assert_int_equal(os_lock(second), -EWOULDBLOCK);
  assert_int_equal(os_close(first), 0);
  assert_int_equal(os_lock(second), 0);
  assert_int_equal(os_close(second), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(directories_are_made_and_refused),
      cmocka_unit_test(tree_removal_stays_inside),
      cmocka_unit_test(link_to_a_tree_is_not_a_tree),
      cmocka_unit_test(tree_removal_does_not_enter_mounts),
      cmocka_unit_test(directories_are_listed),
      cmocka_unit_test(big_trees_go_entirely),
      cmocka_unit_test(names_are_changed),
      cmocka_unit_test(new_names_never_replace),
      cmocka_unit_test(links_are_read),
      cmocka_unit_test(second_lock_is_refused_until_the_first_is_closed),
  };
  return cmocka_run_group_tests_name("names", tests, make_scratch, remove_scratch);
}
