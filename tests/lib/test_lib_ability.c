/*
 * test_lib_ability.c - what file systems can do, how it is learned and forgotten by nobody, and what WEIR_AUTO makes of it.
 * What depends on the table being empty runs in a process of its own.
 */
#define _GNU_SOURCE
#include "lib/internal.h"
#include "tests/lib/inject.h"

static char directory[] = "lib-ability-XXXXXX";

static int set_up(void **state) { return mkdtemp(directory) ? 0 : -1; }
static int tear_down(void **state) { return os_remove_tree(directory); }

static struct path make(const char *name, size_t size) {
  const struct path path = path_in(directory, name);
  char *data = calloc(1, size + 1);
  assert_non_null(data);
  put_content(path.text, data, size);
  free(data);
  return path;
}

static const enum weir_feature features[] = {
    WEIR_FEATURE_RING,        WEIR_FEATURE_DIRECT,      WEIR_FEATURE_UNCACHED,   WEIR_FEATURE_CLONE,
    WEIR_FEATURE_PREALLOCATE, WEIR_FEATURE_CACHE_STATE, WEIR_FEATURE_HUGE_PAGES,
};
#define FEATURES (sizeof features / sizeof features[0])

static void answers_stay_the_same(void **state) {
  const struct path path = make("asked", 10000);
  const unsigned before = open_files(), names = entries_in(directory);
  for (size_t i = 0; i < FEATURES; i++) {
    const char *first = NULL, *second = NULL;
    const bool can = weir_can(path.text, features[i], &first);
    assert_non_null(first);
    assert_int_equal(weir_can(directory, features[i], &second), can);
    assert_string_equal(first, second);
    assert_int_equal(weir_can(path.text, features[i], NULL), can);
    printf("# %zu: %s, %s\n", i, can ? "yes" : "no", first);
  }
  assert_int_equal(open_files(), before);
  assert_int_equal(entries_in(directory), names); /* nothing is left of trying */
}

static void what_cannot_be_asked_is_no(void **state) {
  const char *reason = NULL;
  assert_false(weir_can(path_in(directory, "none").text, WEIR_FEATURE_DIRECT, &reason));
  assert_string_equal(reason, "no such file or directory");
  assert_false(weir_can(directory, (enum weir_feature)99, &reason));
  assert_non_null(reason);
  assert_false(weir_can(NULL, WEIR_FEATURE_RING, &reason));
  assert_false(weir_can("/dev/null", WEIR_FEATURE_DIRECT, &reason));
  assert_string_equal(reason, "not a regular file");
}

/* ---- each in a process of its own ---- */

static unsigned failed_line;
#define expect(condition) ((condition) || failed_line ? (void)0 : (void)(failed_line = __LINE__))

static int run_body(void *context) {
  void (**body)(void) = context;
  (*body)();
  if (failed_line) (void)fprintf(stderr, "line %u failed\n", failed_line);
  return failed_line != 0;
}

static int run(void (*body)(void)) {
  os_process child;
  struct os_exit status;
  assert_int_equal(os_process_fork(run_body, &body, &child), 0);
  assert_int_equal(os_process_wait(child, UINT64_MAX, &status), 0);
  assert_false(status.crashed);
  return status.code;
}

static unsigned asked;
static ssize_t refuse_flags(int fd, const struct iovec *parts, int count, off_t offset, int flags) {
  asked++;
  errno = EOPNOTSUPP;
  return -1;
}

static void a_refusal_is_remembered_body(void) {
  const struct path path = make("refusal", 5000);
  const char *reason = NULL;
  (void)os_override("preadv2", (os_function *)refuse_flags);
  expect(!weir_can(path.text, WEIR_FEATURE_UNCACHED, &reason));
  expect(reason && strcmp(reason, "the file system does not offer it") == 0);
  expect(asked == 1);
  expect(!weir_can(path.text, WEIR_FEATURE_UNCACHED, &reason));
  expect(asked == 1);
}
static void a_refusal_is_remembered(void **state) { assert_int_equal(run(a_refusal_is_remembered_body), 0); }

static ssize_t bad_sector(int fd, void *data, size_t size, off_t offset) {
  asked++;
  errno = EIO;
  return -1;
}

static void a_bad_sector_says_nothing_of_others_body(void) {
  const struct path path = make("bad-sector", 5000);
  (void)os_override("pread", (os_function *)bad_sector);
  const bool can = weir_can(path.text, WEIR_FEATURE_DIRECT, NULL);
  expect(!can || asked == 0); /* 0: refused before anything is read */
  if (asked) {
    (void)weir_can(path.text, WEIR_FEATURE_DIRECT, NULL);
    expect(asked == 2);
  }
}
static void a_bad_sector_says_nothing_of_others(void **state) {
  assert_int_equal(run(a_bad_sector_says_nothing_of_others_body), 0);
}

static void what_use_shows_counts_body(void) {
  struct path path = make("use", 5000);
  os_file file;
  struct os_stat stat;
  const char *reason = NULL;
  expect(weir__open(path.text, OS_READ, 0, 0, &file, &stat, NULL) == 0);
  expect(weir__can(file, &stat, WEIR_FEATURE_CLONE, NULL)); /* believed until it is tried */
  weir__cannot(&stat, WEIR_FEATURE_CLONE);
  expect(!weir__can(file, &stat, WEIR_FEATURE_CLONE, &reason));
  expect(reason && strcmp(reason, "it was refused when it was used") == 0);
  expect(weir__can(file, &stat, WEIR_FEATURE_PREALLOCATE, NULL)); /* the others are not touched */
  stat.device += 1;
  expect(weir__can(file, &stat, WEIR_FEATURE_CLONE, NULL)); /* nor other file systems */
  (void)os_close(file);
}
static void what_use_shows_counts(void **state) { assert_int_equal(run(what_use_shows_counts_body), 0); }

static int no_ring(unsigned entries, void *ring, void *params) { return -EPERM; }

static void forbidden_rings_are_told_body(void) {
  const char *reason = NULL;
  if (!os_override("io_uring_setup", (os_function *)no_ring)) return; /* built without */
  expect(!weir_can(".", WEIR_FEATURE_RING, &reason));
  expect(reason && strcmp(reason, "the system does not permit it") == 0);
}
static void forbidden_rings_are_told(void **state) { assert_int_equal(run(forbidden_rings_are_told_body), 0); }

/* More devices than the table has rows: answers are right all the same. */
static void a_full_table_still_answers_body(void) {
  struct os_stat stat = {.kind = OS_REGULAR};
  for (unsigned i = 0; i < 1000; i++) {
    stat.device = i * 77 + 5;
    weir__cannot(&stat, WEIR_FEATURE_CLONE);
  }
  unsigned remembered = 0;
  for (unsigned i = 0; i < 1000; i++) {
    stat.device = i * 77 + 5;
    remembered += !weir__can(os_no_file, &stat, WEIR_FEATURE_CLONE, NULL);
  }
  expect(remembered >= 60 && remembered <= 64);
  struct path path = make("full", 5000);
  expect(weir_can(path.text, WEIR_FEATURE_CACHE_STATE, NULL) == weir_can(path.text, WEIR_FEATURE_CACHE_STATE, NULL));
}
static void a_full_table_still_answers(void **state) { assert_int_equal(run(a_full_table_still_answers_body), 0); }

static void *learn_much(void *context) {
  struct os_stat stat = {.kind = OS_REGULAR};
  for (unsigned i = 0; i < 2000; i++) {
    stat.device = i % 20;
    weir__cannot(&stat, features[i % 6 + 1 == 6 ? 3 : i % 6 + 1]);
    (void)weir__can(os_no_file, &stat, features[(i + 3) % FEATURES], NULL);
    if (weir__process() != weir__process()) return context;
  }
  return NULL;
}
static void all_threads_may_learn_body(void) {
  struct os_thread *threads[4];
  for (unsigned i = 0; i < 4; i++) expect(os_thread_start(learn_much, NULL, &threads[i]) == 0);
  for (unsigned i = 0; i < 4; i++) expect(os_thread_join(threads[i]) == 0);
  struct os_stat stat = {.kind = OS_REGULAR, .device = 1};
  expect(!weir__can(os_no_file, &stat, WEIR_FEATURE_UNCACHED, NULL));
}
static void all_threads_may_learn(void **state) { assert_int_equal(run(all_threads_may_learn_body), 0); }

/* ---- how much is cached ---- */

static int no_cachestat(int fd, void *range, void *out) {
  errno = ENOSYS;
  return -1;
}
static int no_mincore(void *address, size_t length, unsigned char *out) {
  errno = EPERM;
  return -1;
}

static void cached_bytes_are_a_percentage(void **state) {
  const struct path path = make("cached", 100000);
  os_file file;
  struct os_stat stat;
  assert_int_equal(weir__open(path.text, OS_READ, 0, 0, &file, &stat, NULL), 0);
  assert_int_equal(weir__cached_percent(file, 0, 0), 100);
  const int percent = weir__cached_percent(file, 0, 100000);
  assert_in_range(percent + 1, 0, 101);
  if (percent >= 0) assert_int_equal(percent, 100);
  replace("cachestat", (os_function *)no_cachestat);
  replace("mincore", (os_function *)no_mincore);
  const int sampled = weir__cached_percent(file, 0, 100000);
  restore("cachestat"), restore("mincore");
  assert_true(sampled == -1 || sampled == 100);
  assert_int_equal(os_close(file), 0);
}

/* ---- what would be chosen ---- */

static void every_use_gets_an_answer(void **state) {
  static const size_t sizes[] = {0, 1, 100000, 20 * MIB};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    const struct path path = make("chosen", sizes[i]);
    for (unsigned use = WEIR_USE_WHOLE; use <= WEIR_USE_COPY; use++) {
      struct weir_choice how = {0};
      assert_int_equal(weir_how(path.text, (enum weir_use)use, 0, &how, NULL), 0);
      assert_int_not_equal(how.strategy, WEIR_AUTO);
      assert_non_null(how.reason);
      assert_true(how.depth >= 1);
    }
  }
  struct weir_choice how;
  assert_int_equal(weir_how(path_in(directory, "chosen").text, WEIR_USE_STREAM, 0, &how, NULL), 0);
  if (weir_can(directory, WEIR_FEATURE_CACHE_STATE, NULL)) {
    assert_int_equal(how.strategy, WEIR_BUFFERED);
    assert_string_equal(how.reason, "the file is cached");
  }
}

static void what_cannot_be_answered_is_an_error(void **state) {
  struct weir_choice how;
  struct weir_error error;
  const struct path none = path_in(directory, "none");
  assert_int_equal(weir_how(none.text, WEIR_USE_WHOLE, 0, &how, &error), WEIR_ENOENT);
  assert_int_equal(weir_how(none.text, WEIR_USE_WRITE, 100, &how, &error), 0); /* need not exist */
  assert_int_equal(how.strategy, WEIR_BUFFERED);
  assert_int_equal(weir_how("not-there-either", WEIR_USE_WRITE, 100, &how, &error), 0); /* in the current directory */
  assert_int_equal(weir_how("no/such/directory/file", WEIR_USE_WRITE, 100, &how, &error), WEIR_ENOENT);
  assert_int_equal(weir_how(directory, WEIR_USE_WRITE, 100, &how, &error), WEIR_EISDIR);
  assert_int_equal(weir_how(directory, WEIR_USE_WHOLE, 100, &how, &error), WEIR_EISDIR);
  assert_int_equal(weir_how("/dev/null", WEIR_USE_WHOLE, 100, &how, &error), WEIR_ENOTREG);
  assert_int_equal(weir_how(none.text, (enum weir_use)99, 0, &how, &error), WEIR_EINVAL);
  assert_int_equal(weir_how(NULL, WEIR_USE_WRITE, 0, &how, &error), WEIR_EINVAL);
  assert_int_equal(weir_how(none.text, WEIR_USE_WRITE, 0, NULL, &error), WEIR_EINVAL);
}

static void more_than_memory_passes_the_cache_by(void **state) {
  struct weir_choice how;
  const struct path path = path_in(directory, "flood");
  assert_int_equal(weir_how(path.text, WEIR_USE_WRITE, UINT64_C(1) << 60, &how, NULL), 0);
  assert_true(how.strategy == WEIR_UNCACHED || how.strategy == WEIR_DIRECT || how.strategy == WEIR_BUFFERED);
  if (how.strategy != WEIR_BUFFERED) assert_string_equal(how.reason, "larger than half of the free memory");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_refusal_is_remembered),
      cmocka_unit_test(a_bad_sector_says_nothing_of_others),
      cmocka_unit_test(what_use_shows_counts),
      cmocka_unit_test(forbidden_rings_are_told),
      cmocka_unit_test(a_full_table_still_answers),
      cmocka_unit_test(all_threads_may_learn),
      cmocka_unit_test(answers_stay_the_same), /* what follows fills the table of this process */
      cmocka_unit_test(what_cannot_be_asked_is_no),
      cmocka_unit_test(cached_bytes_are_a_percentage),
      cmocka_unit_test(every_use_gets_an_answer),
      cmocka_unit_test(what_cannot_be_answered_is_an_error),
      cmocka_unit_test(more_than_memory_passes_the_cache_by),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
