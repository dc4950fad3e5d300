/*
 * selftest.h - what `weir selftest` checks: calls of the library, each in a process of its own, and methods. A check fills
 * in a result in memory that its parent sees; it prints nothing.
 */
#ifndef WEIR_CLI_SELFTEST_H
#define WEIR_CLI_SELFTEST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "os/os.h"

/* NONE: it has no meaning here; UNSEEN: done without an error, and nobody tells whether it is so. */
enum selftest_answer { SELFTEST_NONE, SELFTEST_YES, SELFTEST_NO, SELFTEST_UNSEEN };
enum selftest_state { SELFTEST_PENDING, SELFTEST_DONE };

struct selftest_result {
  atomic_int state; /* enum selftest_state; set last */
  enum selftest_answer here, correct, direct, durable;
  char note[224]; /* the first thing that is wrong, else why something is not here */
  char remedy[160];
};

#define SELFTEST_BYTES ((size_t)1 << 20) /* of scene.data, which no file system packs */

struct selftest_scene {
  const char *directory; /* scratch, the checks' own */
  const unsigned char *data;
  uint64_t device;
};

/* One check while it runs. */
struct selftest {
  const struct selftest_scene *scene;
  struct selftest_result *result;
  char path[4400]; /* of selftest_path */
};

struct selftest_check {
  const char *name;
  const char *calls; /* of weir.h, separated by spaces */
  void (*run)(struct selftest *test);
};

/* Each ended by a nameless one. */
extern const struct selftest_check selftest_reading[], selftest_writing[];

/* ---- selftest_tools.c: what checks are made of. None of it uses the library. ---- */

/* The path of a file of this name; valid until the next call. */
const char *selftest_path(struct selftest *test, const char *name);
/* Writes the file and puts it on the disk. */
bool selftest_make(struct selftest *test, const char *name, const void *data, size_t size);
/* Does the file hold exactly this? Read back past the cache as far as possible. */
bool selftest_holds(struct selftest *test, const char *name, const void *data, size_t size);
/* Something is wrong, if it is: the first one is kept. Returns `fine`. */
bool selftest_expect(struct selftest *test, bool fine, const char *what);
/* The same for what a call of the library returned; what cannot be had here is not wrong. */
bool selftest_went(struct selftest *test, int64_t code, const char *call);

/* Takes the file out of the cache. */
void selftest_cool(struct selftest *test, const char *name);
/* After a transfer past the cache, which ended with `code`: did it leave the file outside? */
void selftest_passed_by(struct selftest *test, const char *name, int64_t code);

/* Around a call that makes something durable. */
struct selftest_flushes {
  uint64_t before;
  bool known;
};
struct selftest_flushes selftest_watch(const struct selftest *test);
void selftest_flushed(struct selftest *test, const struct selftest_flushes *watch, int64_t code);

/* ---- selftest_methods.c ---- */

/*
 * Tries all methods in `place`, by a process of its own that makes its own scratch directory. results has one entry for each
 * of `methods`. Ends when *interrupted is set, or at `deadline_ns` of os_clock_ns: what is not done then stays pending. 0,
 * or a negative errno value.
 */
struct weir_method;
int selftest_methods(const struct weir_method *const *methods, const char *place, struct selftest_result *results,
                     volatile int *interrupted, uint64_t deadline_ns);

#endif
