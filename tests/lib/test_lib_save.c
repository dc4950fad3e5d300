/*
 * test_lib_save.c - weir_write_file: what it makes, what it keeps, what it refuses, and that no failure of any call or
 * request for memory leaves a stray name, an open file or half of an atomic save.
 */
#define _GNU_SOURCE
#include <sys/file.h>
#include <sys/wait.h>

#include "inject.h"
#include "weir.h"

static const char old_text[] = "what was there before, longer than the new text", new_text[] = "what is there now";
#define OLD_SIZE (sizeof old_text - 1)
#define NEW_SIZE (sizeof new_text - 1)

static char directory[96], path[160];

static int set_up(void **state) {
  strcpy(directory, "lib-save-XXXXXX");
  if (!mkdtemp(directory)) return -1;
  (void)snprintf(path, sizeof path, "%s/file", directory);
  (void)umask(022);
  inject_begin();
  return 0;
}

static int tear_down(void **state) {
  inject_disarm();
  inject_memory_disarm();
  for (size_t i = 0; i < INJECT_NAME_COUNT; i++) (void)os_override(inject_names[i], NULL);
  (void)chmod(directory, 0700);
  return os_remove_tree(directory);
}

static struct path in(const char *name) { return path_in(directory, name); }

static int save_to(const char *to, unsigned flags) {
  struct weir_write_options options = {.flags = flags};
  return weir_write_file(to, new_text, NEW_SIZE, &options, NULL);
}

static unsigned mode_of(const char *name) {
  struct stat status;
  assert_int_equal(lstat(name, &status), 0);
  return status.st_mode & 07777;
}

static const unsigned all_flags[] = {0,
                                     WEIR_DURABLE,
                                     WEIR_PREALLOCATE,
                                     WEIR_PREALLOCATE | WEIR_DURABLE,
                                     WEIR_ATOMIC,
                                     WEIR_ATOMIC | WEIR_DURABLE,
                                     WEIR_ATOMIC | WEIR_PREALLOCATE | WEIR_DURABLE | WEIR_NO_FOLLOW};
#define FLAGS_COUNT (sizeof all_flags / sizeof all_flags[0])

/* ---- what it makes ---- */

static void makes_a_file_of_exactly_these_bytes(void **state) {
  for (size_t i = 0; i < FLAGS_COUNT; i++) {
    for (unsigned is_new = 0; is_new < 2; is_new++) {
      assert_int_equal(save_to(path, all_flags[i] | (is_new ? WEIR_NEW : 0)), 0);
      assert_true(holds(path, new_text, NEW_SIZE));
      assert_int_equal(mode_of(path), 0644);
      assert_int_equal(entries_in(directory), 1);
      assert_int_equal(unlink(path), 0);
    }
  }
}

static void replaces_longer_and_shorter_files_and_keeps_their_mode(void **state) {
  for (size_t i = 0; i < FLAGS_COUNT; i++) {
    for (size_t size = 0; size <= OLD_SIZE; size += OLD_SIZE) {
      put_content(path, old_text, size);
      assert_int_equal(chmod(path, 0604), 0);
      assert_int_equal(save_to(path, all_flags[i]), 0);
      assert_true(holds(path, new_text, NEW_SIZE));
      assert_int_equal(mode_of(path), 0604);
      assert_int_equal(entries_in(directory), 1);
      assert_int_equal(weir_write_file(path, NULL, 0, &(struct weir_write_options){.flags = all_flags[i]}, NULL), 0);
      assert_true(holds(path, "", 0));
    }
  }
}

static void takes_the_mode_that_is_asked_for_less_the_umask(void **state) {
  for (unsigned flags = 0; flags <= WEIR_ATOMIC; flags += WEIR_ATOMIC) {
    assert_int_equal(weir_write_file(path, "x", 1, &(struct weir_write_options){.flags = flags, .mode = 0720}, NULL), 0);
    assert_int_equal(mode_of(path), 0700);
    assert_int_equal(unlink(path), 0);
  }
}

static void keeps_the_owner_where_allowed(void **state) {
  put_content(path, old_text, OLD_SIZE);
  if (chown(path, 12345, 23456) != 0) skip_because("only a privileged user can give files away");
  assert_int_equal(chmod(path, 06755), 0);
  assert_int_equal(save_to(path, WEIR_ATOMIC), 0);
  struct stat status;
  assert_int_equal(stat(path, &status), 0);
  assert_int_equal(status.st_uid, 12345);
  assert_int_equal(status.st_gid, 23456);
  assert_int_equal(status.st_mode & 07777, 06755);
}

/* Bits that lend the owner's rights would lend those of another one. */
static void drops_set_user_bits_where_the_owner_cannot_be_kept(void **state) {
  put_content(path, old_text, OLD_SIZE);
  if (chown(path, 12345, 23456) != 0) skip_because("only a privileged user can give files away");
  assert_int_equal(chmod(path, 06755), 0);
  inject_arm("fchown", 1, EPERM);
  assert_int_equal(save_to(path, WEIR_ATOMIC), 0);
  assert_true(inject_disarm());
  struct stat status;
  assert_int_equal(stat(path, &status), 0);
  assert_int_equal(status.st_uid, geteuid());
  assert_int_equal(status.st_gid, 23456);
  assert_int_equal(status.st_mode & 07777, 0755);
}

static void an_atomic_save_is_another_file_and_a_plain_one_is_not(void **state) {
  struct stat before, after;
  put_content(path, old_text, OLD_SIZE);
  assert_int_equal(link(path, in("other name").text), 0);
  assert_int_equal(stat(path, &before), 0);
  assert_int_equal(save_to(path, 0), 0);
  assert_int_equal(stat(path, &after), 0);
  assert_true(before.st_ino == after.st_ino);
  put_content(path, old_text, OLD_SIZE);
  assert_int_equal(save_to(path, WEIR_ATOMIC), 0);
  assert_int_equal(stat(path, &after), 0);
  assert_true(before.st_ino != after.st_ino);
  assert_true(holds(in("other name").text, old_text, OLD_SIZE));
}

/* ---- links ---- */

static void follows_links_to_what_they_lead_to(void **state) {
  assert_int_equal(mkdir(in("deep").text, 0700), 0);
  assert_int_equal(symlink("deep/second", in("first").text), 0);
  assert_int_equal(symlink("../file", in("deep/second").text), 0);
  for (size_t i = 0; i < FLAGS_COUNT; i++) {
    if (all_flags[i] & WEIR_NO_FOLLOW) continue;
    for (unsigned there = 0; there < 2; there++) {
      if (there) put_content(path, old_text, OLD_SIZE);
      assert_int_equal(save_to(in("first").text, all_flags[i]), 0);
      assert_true(holds(path, new_text, NEW_SIZE));
      struct stat status;
      assert_int_equal(lstat(in("first").text, &status), 0);
      assert_true(S_ISLNK(status.st_mode));
      assert_int_equal(entries_in(directory), 3);
      assert_int_equal(entries_in(in("deep").text), 1);
      assert_int_equal(unlink(path), 0);
    }
  }
}

static void follows_a_link_with_an_absolute_path(void **state) {
  char *whole = realpath(directory, NULL), target[512];
  assert_non_null(whole);
  (void)snprintf(target, sizeof target, "%s/file", whole);
  free(whole);
  assert_int_equal(symlink(target, in("link").text), 0);
  assert_int_equal(save_to(in("link").text, WEIR_ATOMIC | WEIR_DURABLE), 0);
  assert_true(holds(path, new_text, NEW_SIZE));
  assert_int_equal(entries_in(directory), 2);
}

static void refuses_links_where_asked_and_loops_always(void **state) {
  put_content(path, old_text, OLD_SIZE);
  assert_int_equal(symlink("file", in("link").text), 0);
  assert_int_equal(symlink("loop", in("loop").text), 0);
  for (unsigned flags = 0; flags <= WEIR_ATOMIC; flags += WEIR_ATOMIC) {
    assert_int_equal(save_to(in("link").text, flags | WEIR_NO_FOLLOW), WEIR_ELOOP);
    assert_int_equal(save_to(in("loop").text, flags), WEIR_ELOOP);
    assert_int_equal(save_to(in("loop").text, flags | WEIR_DURABLE), WEIR_ELOOP);
  }
  assert_true(holds(path, old_text, OLD_SIZE));
  assert_int_equal(entries_in(directory), 3);
}

static void new_means_that_nothing_had_the_name(void **state) {
  put_content(path, old_text, OLD_SIZE);
  assert_int_equal(symlink("nowhere", in("link").text), 0);
  for (size_t i = 0; i < FLAGS_COUNT; i++) {
    assert_int_equal(save_to(path, all_flags[i] | WEIR_NEW), WEIR_EEXIST);
    assert_int_equal(save_to(in("link").text, all_flags[i] | WEIR_NEW), WEIR_EEXIST);
    assert_int_equal(entries_in(directory), 2);
  }
  assert_true(holds(path, old_text, OLD_SIZE));
}

/* Somebody makes the file while it is written. */
static int make_it_meanwhile(const char *from, const char *to, unsigned flags) {
  put_content(path, old_text, OLD_SIZE);
  return inject_real_renameat2(from, to, flags);
}
static void new_never_replaces_what_came_meanwhile(void **state) {
  (void)os_override("renameat2", (os_function *)make_it_meanwhile);
  assert_int_equal(save_to(path, WEIR_NEW | WEIR_ATOMIC), WEIR_EEXIST);
  assert_true(holds(path, old_text, OLD_SIZE));
  assert_int_equal(entries_in(directory), 1);
}

static void new_works_where_renaming_without_replacing_is_unknown(void **state) {
  static const int errors[] = {EINVAL, ENOSYS, EOPNOTSUPP};
  for (size_t i = 0; i < 3; i++) {
    inject_arm("renameat2", 1, errors[i]);
    assert_int_equal(save_to(path, WEIR_NEW | WEIR_ATOMIC), 0);
    assert_true(inject_disarm());
    assert_true(holds(path, new_text, NEW_SIZE));
    assert_int_equal(entries_in(directory), 1);
    assert_int_equal(unlink(path), 0);
  }
}

/* ---- what it refuses ---- */

static void refuses_what_is_not_a_file(void **state) {
  assert_int_equal(mkfifo(in("fifo").text, 0600), 0);
  assert_int_equal(mkdir(in("folder").text, 0700), 0);
  put_content(path, old_text, OLD_SIZE);
  for (size_t i = 0; i < FLAGS_COUNT; i++) {
    unsigned flags = all_flags[i];
    assert_int_equal(save_to(in("fifo").text, flags), WEIR_ENOTREG);
    assert_int_equal(save_to("/dev/null", flags), WEIR_ENOTREG);
    assert_int_equal(save_to(in("folder").text, flags), WEIR_EISDIR);
    assert_int_equal(save_to(in("folder/").text, flags), WEIR_EISDIR);
    assert_int_equal(save_to(in("folder/..").text, flags), WEIR_EISDIR);
    assert_int_equal(save_to(in("missing/").text, flags), WEIR_EISDIR);
    assert_int_equal(save_to(in("missing/file").text, flags), WEIR_ENOENT);
    assert_int_equal(save_to(in("file/file").text, flags), WEIR_ENOTDIR);
    int code = save_to(in("file/").text, flags); /* the system knows two words for it */
    assert_true(code == WEIR_ENOTDIR || code == WEIR_EISDIR);
    assert_int_equal(save_to("", flags), WEIR_ENOENT);
  }
  assert_int_equal(entries_in(directory), 3);
}

static void refuses_bad_arguments(void **state) {
  struct weir_error error = {0};
  assert_int_equal(weir_write_file(NULL, "x", 1, NULL, &error), WEIR_EINVAL);
  assert_int_equal(error.code, WEIR_EINVAL);
  assert_int_equal(weir_write_file(path, NULL, 1, NULL, NULL), WEIR_EINVAL);
  assert_int_equal(save_to(path, WEIR_LOCK), WEIR_EINVAL);
  assert_int_equal(save_to(path, WEIR_EXACT), WEIR_EINVAL);
  struct weir_write_options options = {.reserved = {0, 0, 0, 1}};
  assert_int_equal(weir_write_file(path, "x", 1, &options, NULL), WEIR_EINVAL);
  assert_int_equal(entries_in(directory), 0);
}

static void devices_are_taken_where_asked(void **state) {
  assert_int_equal(save_to("/dev/null", WEIR_ANY_KIND), 0);
  assert_int_equal(save_to("/dev/null", WEIR_ANY_KIND | WEIR_DURABLE), WEIR_EOPNOTSUPP);
  struct weir_write_options options = {.flags = WEIR_ANY_KIND};
  struct weir_error error = {0};
  assert_int_equal(weir_write_file("/dev/full", new_text, NEW_SIZE, &options, &error), WEIR_ENOSPC);
  assert_int_equal(error.code, WEIR_ENOSPC);
  assert_string_equal(error.operation, "write");
  assert_string_equal(error.path, "/dev/full");
  assert_int_equal(error.transferred, 0);
  assert_int_equal(error.size, NEW_SIZE);
  assert_int_equal(save_to("/dev/null", WEIR_ANY_KIND | WEIR_ATOMIC), WEIR_ENOTREG);
}

static void writes_to_a_fifo_where_asked(void **state) {
  assert_int_equal(mkfifo(in("fifo").text, 0600), 0);
  int reader = open(in("fifo").text, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  assert_true(reader >= 0);
  assert_int_equal(save_to(in("fifo").text, WEIR_ANY_KIND | WEIR_PREALLOCATE), 0);
  char text[64];
  assert_int_equal(read(reader, text, sizeof text), NEW_SIZE);
  assert_memory_equal(text, new_text, NEW_SIZE);
  assert_int_equal(close(reader), 0);
}

/* ---- temporary files ---- */

static struct path slot(unsigned number) {
  char name[64];
  (void)snprintf(name, sizeof name, ".file.weir-%06u", number);
  return in(name);
}

static int hold(const char *name) {
  int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  assert_true(fd >= 0);
  assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
  return fd;
}

static void clears_what_a_crash_left(void **state) {
  for (unsigned count = 1; count <= 9; count++) {
    for (unsigned i = 0; i < count; i++) put_content(slot(i).text, old_text, OLD_SIZE);
    assert_int_equal(save_to(path, WEIR_ATOMIC), 0);
    assert_int_equal(entries_in(directory), 1);
    put_content(slot(count % 4).text, old_text, OLD_SIZE);
    assert_int_equal(save_to(path, WEIR_ATOMIC | WEIR_NO_FOLLOW), 0);
    assert_int_equal(entries_in(directory), 1);
  }
}

static void leaves_what_a_living_process_holds(void **state) {
  int first = hold(slot(0).text), third = hold(slot(2).text);
  put_content(slot(1).text, old_text, OLD_SIZE);
  put_content(slot(5).text, old_text, OLD_SIZE);
  assert_int_equal(save_to(path, WEIR_ATOMIC), 0);
  assert_true(holds(path, new_text, NEW_SIZE));
  assert_int_equal(entries_in(directory), 3);
  assert_true(is_there(slot(0).text) && is_there(slot(2).text));
  assert_int_equal(close(first), 0);
  assert_int_equal(close(third), 0);
  assert_int_equal(save_to(path, WEIR_ATOMIC), 0);
  assert_int_equal(entries_in(directory), 1);
}

static void leaves_what_is_no_file_and_other_names(void **state) {
  assert_int_equal(mkdir(slot(0).text, 0700), 0);
  assert_int_equal(symlink("../lib-save", slot(1).text), 0);
  assert_int_equal(mkfifo(slot(2).text, 0600), 0);
  put_content(in(".file.weir-00000").text, "", 0);
  put_content(in(".files.weir-000000").text, "", 0);
  assert_int_equal(save_to(path, WEIR_ATOMIC), 0);
  assert_true(holds(path, new_text, NEW_SIZE));
  assert_int_equal(entries_in(directory), 6);
}

static void more_savers_at_once_than_there_are_slots_are_refused(void **state) {
  static int held[256];
  for (unsigned i = 0; i < 256; i++) held[i] = hold(slot(i).text);
  assert_int_equal(save_to(path, WEIR_ATOMIC), WEIR_EBUSY);
  assert_int_equal(close(held[200]), 0);
  assert_int_equal(save_to(path, WEIR_ATOMIC), 0);
  assert_int_equal(entries_in(directory), 256);
  for (unsigned i = 0; i < 256; i++) (void)(i == 200 ? 0 : close(held[i]));
  assert_int_equal(save_to(path, WEIR_ATOMIC), 0);
  assert_int_equal(entries_in(directory), 1);
}

/* Another save takes the file for a left one between its making and its locking. */
static unsigned thieves;
static int steal_and_lock(int fd, int operation) {
  if (thieves && thieves--) (void)unlink(slot(0).text);
  return inject_real_flock(fd, operation);
}
static int hold_against(int fd, int operation) {
  if (!thieves || !thieves--) return inject_real_flock(fd, operation);
  errno = EWOULDBLOCK;
  return -1;
}
static void survives_being_taken_for_a_left_file(void **state) {
  int (*const ways[])(int, int) = {steal_and_lock, hold_against};
  for (unsigned way = 0; way < 2; way++) {
    for (unsigned times = 1; times < 12; times++) {
      thieves = times;
      (void)os_override("flock", (os_function *)ways[way]);
      assert_int_equal(save_to(path, WEIR_ATOMIC), 0);
      (void)os_override("flock", (os_function *)inject_real_flock);
      assert_true(holds(path, new_text, NEW_SIZE));
      (void)save_to(path, WEIR_ATOMIC);
      assert_int_equal(entries_in(directory), 1);
      assert_int_equal(unlink(path), 0);
    }
  }
}

static int no_locks(int fd, int operation) {
  errno = ENOLCK;
  return -1;
}
static void without_locks_nothing_of_others_is_removed(void **state) {
  (void)os_override("flock", (os_function *)no_locks);
  put_content(slot(0).text, old_text, OLD_SIZE);
  assert_int_equal(save_to(path, WEIR_ATOMIC), 0);
  assert_true(holds(path, new_text, NEW_SIZE));
  assert_true(is_there(slot(0).text));
}

static void names_of_every_length_can_be_saved(void **state) {
  char name[256];
  for (size_t length = 1; length <= 255; length += length < 230 ? 29 : 1) {
    memset(name, 'n', length);
    name[length] = 0;
    for (size_t i = 0; i + 1 < length && length > 200; i += 2) memcpy(name + i, "\xc3\xa4", 2); /* a with two dots */
    char long_path[400];
    (void)snprintf(long_path, sizeof long_path, "%s/%s", directory, name);
    assert_int_equal(save_to(long_path, WEIR_ATOMIC), 0);
    assert_true(holds(long_path, new_text, NEW_SIZE));
    assert_int_equal(entries_in(directory), 1);
    assert_int_equal(unlink(long_path), 0);
  }
  char long_path[400];
  memset(name, 'n', sizeof name - 1);
  name[255] = 0;
  (void)snprintf(long_path, sizeof long_path, "%s/x%s", directory, name);
  for (size_t i = 0; i < FLAGS_COUNT; i++) assert_int_equal(save_to(long_path, all_flags[i]), WEIR_ENAMETOOLONG);
}

/* Some file systems take only whole characters. */
static void long_names_are_cut_between_characters(void **state) {
  char name[256] = "n", long_path[400];
  for (size_t i = 1; i < 255; i += 2) memcpy(name + i, "\xc3\xa4", 3);
  (void)snprintf(long_path, sizeof long_path, "%s/%s", directory, name);
  struct weir_writer_options options = {.flags = WEIR_ATOMIC};
  struct weir_writer writer;
  assert_int_equal(weir_writer_open(&writer, long_path, &options, NULL), 0);
  DIR *entries = opendir(directory);
  assert_non_null(entries);
  const struct dirent *entry;
  while ((entry = readdir(entries)) && strlen(entry->d_name) < 3) {
  }
  assert_non_null(entry);
  const char *mark = strstr(entry->d_name, ".weir-000000");
  assert_non_null(mark);
  assert_int_equal(mark[-1], (char)0xa4);
  (void)closedir(entries);
  weir_writer_abandon(&writer);
}

static void works_in_the_current_directory(void **state) {
  char here[512];
  assert_non_null(getcwd(here, sizeof here));
  assert_int_equal(chdir(directory), 0);
  int code = save_to("bare", WEIR_ATOMIC | WEIR_DURABLE);
  int code_new = save_to("bare2", WEIR_DURABLE);
  assert_int_equal(chdir(here), 0);
  assert_int_equal(code, 0);
  assert_int_equal(code_new, 0);
  assert_true(holds(in("bare").text, new_text, NEW_SIZE));
  assert_int_equal(entries_in(directory), 2);
}

/* ---- several at once ---- */

static int save_often(char letter) {
  char text[3000];
  memset(text, letter, sizeof text);
  struct weir_write_options options = {.flags = WEIR_ATOMIC};
  for (unsigned i = 0; i < 300; i++) {
    if (weir_write_file(path, text, sizeof text, &options, NULL)) return 1;
  }
  return 0;
}

static void several_processes_may_save_one_file(void **state) {
  pid_t savers[3];
  assert_int_equal(save_often('a'), 0);
  for (unsigned i = 0; i < 3; i++) {
    savers[i] = fork();
    assert_true(savers[i] >= 0);
    if (savers[i] == 0) _exit(save_often((char)('a' + (int)i)));
  }
  char text[3001];
  bool whole = true;
  for (unsigned i = 0; i < 1000; i++) {
    size_t size = get_content(path, text, sizeof text);
    whole = whole && size == 3000 && text[0] >= 'a' && text[0] <= 'c' && memcmp(text, text + 1, size - 1) == 0;
  }
  for (unsigned i = 0; i < 3; i++) {
    int status;
    assert_int_equal(waitpid(savers[i], &status, 0), savers[i]);
    assert_int_equal(status, 0);
  }
  assert_true(whole);
  assert_int_equal(entries_in(directory), 1);
}

/* ---- failures ---- */

/* With each use of each call failing once: nothing stray, no open file, and what stands there is what was said. */
static void check_after_failure(int code, unsigned flags, bool there) {
  bool is_old = there ? holds(path, old_text, OLD_SIZE) : !is_there(path), is_new = holds(path, new_text, NEW_SIZE);
  if (code == 0 || code == WEIR_EDURABLE)
    assert_true(is_new);
  else if (flags & WEIR_ATOMIC)
    assert_true(is_old || is_new);
  else if (flags & WEIR_NEW)
    assert_false(is_there(path));
  assert_int_equal(entries_in(directory), is_there(path) ? 1 : 0);
}

static void every_call_may_fail(void **state) {
  static const unsigned more[] = {WEIR_NEW, WEIR_NEW | WEIR_DURABLE,
                                  WEIR_NEW | WEIR_ATOMIC | WEIR_DURABLE | WEIR_PREALLOCATE};
  for (size_t f = 0; f < FLAGS_COUNT + 3; f++) {
    unsigned flags = f < FLAGS_COUNT ? all_flags[f] : more[f - FLAGS_COUNT];
    for (size_t c = 0; c < INJECT_NAME_COUNT; c++) {
      if (strcmp(inject_names[c], "unlink") == 0) continue; /* what cannot be removed stays */
      for (unsigned there = 0; there < (flags & WEIR_NEW ? 1 : 2); there++) {
        bool hit = true;
        for (unsigned at = 1; hit; at++) {
          (void)unlink(path);
          if (there) put_content(path, old_text, OLD_SIZE);
          if (there) assert_int_equal(chmod(path, 0640), 0);
          unsigned files = open_files();
          inject_arm(inject_names[c], at, EIO);
          int code = save_to(path, flags);
          hit = inject_disarm();
          assert_int_equal(open_files(), files);
          if (!hit) assert_int_equal(code, 0);
          check_after_failure(code, flags, there);
        }
      }
    }
  }
}

static void memory_may_be_short_everywhere(void **state) {
  for (size_t f = 0; f < FLAGS_COUNT; f++) {
    bool hit = true;
    put_content(path, old_text, OLD_SIZE);
    for (unsigned at = 1; hit; at++) {
      unsigned files = open_files();
      inject_memory_arm(at);
      int code = save_to(path, all_flags[f]);
      hit = inject_memory_disarm();
      if (code != WEIR_EDURABLE) assert_int_equal(code, hit ? WEIR_ENOMEM : 0); /* short where the directory is looked for */
      assert_int_equal(open_files(), files);
      assert_int_equal(entries_in(directory), 1);
      assert_true(code == WEIR_ENOMEM ? holds(path, old_text, OLD_SIZE) : holds(path, new_text, NEW_SIZE));
    }
  }
}

static void interruptions_are_repeated(void **state) {
  static const char *const repeated[] = {"open", "pwrite", "fsync", "fdatasync", "ftruncate", "fallocate", "flock"};
  for (size_t f = 0; f < FLAGS_COUNT; f++) {
    for (size_t c = 0; c < sizeof repeated / sizeof repeated[0]; c++) {
      put_content(path, old_text, OLD_SIZE);
      inject_arm(repeated[c], 1, EINTR);
      assert_int_equal(save_to(path, all_flags[f]), 0);
      (void)inject_disarm();
      assert_true(holds(path, new_text, NEW_SIZE));
      assert_int_equal(entries_in(directory), 1);
    }
  }
}

static size_t room, step; /* bytes that the disk takes yet, and at most in one call */
static ssize_t small_disk(int fd, const void *data, size_t size, off_t offset) {
  if (size > step) size = step;
  if (size > room) size = room;
  if (size == 0) {
    errno = ENOSPC;
    return -1;
  }
  ssize_t count = inject_real_pwrite(fd, data, size, offset);
  if (count > 0) room -= (size_t)count;
  return count;
}

static void the_disk_may_be_full_at_every_byte(void **state) {
  (void)os_override("pwrite", (os_function *)small_disk);
  for (size_t f = 0; f < FLAGS_COUNT; f++) {
    for (step = 1; step <= NEW_SIZE; step++) {
      for (size_t taken = 0; taken <= NEW_SIZE; taken++) {
        put_content(path, old_text, OLD_SIZE);
        struct weir_write_options options = {.flags = all_flags[f]};
        struct weir_error error = {0};
        room = taken;
        int code = weir_write_file(path, new_text, NEW_SIZE, &options, &error);
        assert_int_equal(code, taken == NEW_SIZE ? 0 : WEIR_ENOSPC);
        assert_int_equal(error.code, code);
        if (code) assert_int_equal(error.transferred, taken);
        if (code && (all_flags[f] & WEIR_ATOMIC))
          assert_true(holds(path, old_text, OLD_SIZE));
        else
          assert_true(holds(path, new_text, taken));
        assert_int_equal(entries_in(directory), 1);
      }
    }
  }
}

static void a_failed_flush_of_the_directory_is_told_apart(void **state) {
  struct weir_error error = {0};
  struct weir_write_options options = {.flags = WEIR_ATOMIC | WEIR_DURABLE};
  inject_arm("fsync", 2, EIO);
  assert_int_equal(weir_write_file(path, new_text, NEW_SIZE, &options, &error), WEIR_EDURABLE);
  assert_true(inject_disarm());
  assert_int_equal(error.code, WEIR_EDURABLE);
  assert_true(holds(path, new_text, NEW_SIZE));
  assert_int_equal(unlink(path), 0);
  options.flags = WEIR_DURABLE;
  inject_arm("fsync", 2, EIO);
  assert_int_equal(weir_write_file(path, new_text, NEW_SIZE, &options, NULL), WEIR_EDURABLE);
  assert_true(inject_disarm());
}

static void a_failed_flush_of_the_data_leaves_the_old_file(void **state) {
  put_content(path, old_text, OLD_SIZE);
  inject_arm("fsync", 1, EIO);
  assert_int_equal(save_to(path, WEIR_ATOMIC | WEIR_DURABLE), WEIR_EIO);
  assert_true(inject_disarm());
  assert_true(holds(path, old_text, OLD_SIZE));
  assert_int_equal(entries_in(directory), 1);
}

/* Network file systems tell only at a close that data did not arrive. */
static void a_failed_close_leaves_the_old_file(void **state) {
  put_content(path, old_text, OLD_SIZE);
  bool hit = true, refused = false;
  for (unsigned at = 1; hit; at++) {
    inject_arm("close", at, EDQUOT);
    int code = save_to(path, WEIR_ATOMIC);
    hit = inject_disarm();
    if (code && holds(path, old_text, OLD_SIZE)) refused = true;
    assert_int_equal(entries_in(directory), 1);
  }
  assert_true(refused);
}

static off_t allocated;
static int allocate_error;
static int note_allocation(int fd, int mode, off_t offset, off_t length) {
  allocated = length;
  errno = allocate_error;
  return allocate_error ? -1 : inject_real_fallocate(fd, mode, offset, length);
}

static void space_is_reserved_where_asked(void **state) {
  (void)os_override("fallocate", (os_function *)note_allocation);
  allocate_error = 0;
  allocated = -1;
  assert_int_equal(save_to(path, 0), 0);
  assert_int_equal(allocated, -1);
  static const int tolerated[] = {0, EOPNOTSUPP, ENOSYS, EINVAL};
  for (size_t i = 0; i < 4; i++) {
    allocate_error = tolerated[i];
    allocated = -1;
    assert_int_equal(save_to(path, WEIR_PREALLOCATE), 0);
    assert_int_equal(allocated, NEW_SIZE);
    assert_true(holds(path, new_text, NEW_SIZE));
  }
  allocate_error = ENOSPC;
  put_content(path, old_text, OLD_SIZE);
  assert_int_equal(save_to(path, WEIR_PREALLOCATE | WEIR_ATOMIC), WEIR_ENOSPC);
  assert_int_equal(save_to(path, WEIR_PREALLOCATE), WEIR_ENOSPC);
  assert_true(holds(path, old_text, OLD_SIZE));
}

static void large_durable_data_are_written_back_on_the_way(void **state) {
  size_t size = 20 * MIB + 123;
  char *data = malloc(size);
  assert_non_null(data);
  for (size_t i = 0; i < size; i++) data[i] = (char)(i * 7 + i / 4096);
  struct weir_write_options options = {.flags = WEIR_DURABLE | WEIR_PREALLOCATE};
  inject_arm("sync_file_range", 1000, EIO);
  assert_int_equal(weir_write_file(path, data, size, &options, NULL), 0);
  assert_int_equal(inject.calls, 2);
  assert_true(holds(path, data, size));
  free(data);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(makes_a_file_of_exactly_these_bytes),
      TEST(replaces_longer_and_shorter_files_and_keeps_their_mode),
      TEST(takes_the_mode_that_is_asked_for_less_the_umask),
      TEST(keeps_the_owner_where_allowed),
      TEST(drops_set_user_bits_where_the_owner_cannot_be_kept),
      TEST(an_atomic_save_is_another_file_and_a_plain_one_is_not),
      TEST(follows_links_to_what_they_lead_to),
      TEST(follows_a_link_with_an_absolute_path),
      TEST(refuses_links_where_asked_and_loops_always),
      TEST(new_means_that_nothing_had_the_name),
      TEST(new_never_replaces_what_came_meanwhile),
      TEST(new_works_where_renaming_without_replacing_is_unknown),
      TEST(refuses_what_is_not_a_file),
      TEST(refuses_bad_arguments),
      TEST(devices_are_taken_where_asked),
      TEST(writes_to_a_fifo_where_asked),
      TEST(clears_what_a_crash_left),
      TEST(leaves_what_a_living_process_holds),
      TEST(leaves_what_is_no_file_and_other_names),
      TEST(more_savers_at_once_than_there_are_slots_are_refused),
      TEST(survives_being_taken_for_a_left_file),
      TEST(without_locks_nothing_of_others_is_removed),
      TEST(names_of_every_length_can_be_saved),
      TEST(long_names_are_cut_between_characters),
      TEST(works_in_the_current_directory),
      TEST(several_processes_may_save_one_file),
      TEST(every_call_may_fail),
      TEST(memory_may_be_short_everywhere),
      TEST(interruptions_are_repeated),
      TEST(the_disk_may_be_full_at_every_byte),
      TEST(a_failed_flush_of_the_directory_is_told_apart),
      TEST(a_failed_flush_of_the_data_leaves_the_old_file),
      TEST(a_failed_close_leaves_the_old_file),
      TEST(space_is_reserved_where_asked),
      TEST(large_durable_data_are_written_back_on_the_way),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
