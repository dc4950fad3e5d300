/*
 * selftest_tools.c - what the checks of `weir selftest` are made of: files made and compared without the library, and the
 * evidence for direct and durable. What was wrong first is what is told.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/selftest.h"
#include "weir.h"

const char *selftest_path(struct selftest *test, const char *name) {
  snprintf(test->path, sizeof test->path, "%s/%s", test->scene->directory, name);
  return test->path;
}

/* ---- findings ------------------------------------------------------------------------------------------------------ */

bool selftest_expect(struct selftest *test, bool fine, const char *what) {
  struct selftest_result *result = test->result;
  if (fine) return true;
  if (result->correct != SELFTEST_NO) snprintf(result->note, sizeof result->note, "%s", what);
  result->correct = SELFTEST_NO;
  return false;
}

/* Refused for what the place is, not for what was asked. */
static bool is_refusal(int64_t code) { return code == WEIR_EOPNOTSUPP || code == WEIR_ENOSYS || code == WEIR_EPERM; }

bool selftest_went(struct selftest *test, int64_t code, const char *call) {
  struct selftest_result *result = test->result;
  char text[160];
  if (code >= 0) return true;
  snprintf(text, sizeof text, "%s: %s", call, weir_strerror((int)code));
  if (!is_refusal(code)) return selftest_expect(test, false, text);
  if (result->correct != SELFTEST_NO) snprintf(result->note, sizeof result->note, "%s", text);
  result->here = SELFTEST_NO;
  return false;
}

/* The scene, not the library, is at fault. */
static bool scene_failed(struct selftest *test, const char *what, int64_t code) {
  char text[160];
  snprintf(text, sizeof text, "%s: %s", what, code < 0 ? strerror((int)-code) : "cut short");
  return selftest_expect(test, false, text);
}

/* ---- files --------------------------------------------------------------------------------------------------------- */

bool selftest_make(struct selftest *test, const char *name, const void *data, size_t size) {
  os_file file;
  int64_t code = os_open(selftest_path(test, name), OS_READ | OS_WRITE | OS_CREATE | OS_TRUNCATE, &file);
  if (code < 0) return scene_failed(test, "a file cannot be made", code);
  code = size ? os_pwrite_full(file, data, size, 0) : 0;
  const int synced = os_sync(file, true);
  const int closed = os_close(file);
  if (code != (int64_t)size) return scene_failed(test, "a file cannot be written", code);
  return synced == 0 && closed == 0 ? true : scene_failed(test, "a file cannot be flushed", synced ? synced : closed);
}

static bool same_bytes(os_file file, const unsigned char *data, size_t size) {
  unsigned char piece[16384];
  for (size_t at = 0; at < size;) {
    const size_t want = size - at < sizeof piece ? size - at : sizeof piece;
    if (os_pread_full(file, piece, want, at) != (int64_t)want || memcmp(piece, data + at, want) != 0) return false;
    at += want;
  }
  return true;
}

bool selftest_holds(struct selftest *test, const char *name, const void *data, size_t size) {
  os_file file;
  struct os_stat stat;
  if (!selftest_expect(test, os_open(selftest_path(test, name), OS_READ, &file) == 0, "what was written is not there"))
    return false;
  (void)os_sync(file, false);
  (void)os_cache_evict(file, 0, size);
  const bool sized = os_stat_file(file, &stat) == 0 && stat.size == size;
  const bool same = sized && same_bytes(file, data, size);
  (void)os_close(file);
  selftest_expect(test, sized, "what was written has not the right size");
  return selftest_expect(test, same || !sized, "what was written reads back differently");
}

/* ---- evidence ------------------------------------------------------------------------------------------------------ */

void selftest_cool(struct selftest *test, const char *name) {
  os_file file;
  struct os_stat stat;
  if (os_open(selftest_path(test, name), OS_READ, &file) < 0) return;
  (void)os_sync(file, false);
  if (os_stat_file(file, &stat) == 0) (void)os_cache_evict(file, 0, stat.size);
  (void)os_close(file);
}

static void say_direct(struct selftest_result *result, enum selftest_answer answer, const char *note) {
  result->direct = answer;
  if (!result->note[0]) snprintf(result->note, sizeof result->note, "%s", note);
}

void selftest_passed_by(struct selftest *test, const char *name, int64_t code) {
  struct selftest_result *result = test->result;
  struct os_cache cache;
  struct os_stat stat;
  os_file file;
  char text[160];
  if (code < 0) {
    const bool refused = is_refusal(code) || code == WEIR_EINVAL;
    snprintf(text, sizeof text, "past the cache: %s", weir_strerror((int)code));
    if (!refused) selftest_expect(test, false, text);
    say_direct(result, SELFTEST_NO, text);
    return;
  }
  if (os_open(selftest_path(test, name), OS_READ, &file) < 0) return;
  const int known = os_stat_file(file, &stat) == 0 ? os_cache_state(file, 0, stat.size, &cache) : -ENOENT;
  (void)os_close(file);
  if (known < 0)
    say_direct(result, SELFTEST_UNSEEN, "the system does not tell what is in the cache");
  else if (cache.cached_bytes > 0)
    say_direct(result, SELFTEST_NO, "accepted past the cache, and found in it afterwards");
  else
    result->direct = SELFTEST_YES;
}

struct selftest_flushes selftest_watch(const struct selftest *test) {
  struct os_device_counters counters;
  if (os_device_counters(test->scene->device, &counters) < 0 || !counters.flushes_known)
    return (struct selftest_flushes){0, false};
  return (struct selftest_flushes){counters.flushes, true};
}

void selftest_flushed(struct selftest *test, const struct selftest_flushes *watch, int64_t code) {
  const struct selftest_flushes now = selftest_watch(test);
  struct selftest_result *result = test->result;
  char text[160];
  if (code < 0) {
    result->durable = SELFTEST_NO;
    snprintf(text, sizeof text, "not durable: %s", weir_strerror((int)code));
    selftest_expect(test, false, text);
    return;
  }
  const bool seen = watch->known && now.known && now.before > watch->before;
  result->durable = seen ? SELFTEST_YES : SELFTEST_UNSEEN;
  if (!seen && !result->note[0])
    snprintf(
        result->note, sizeof result->note, "%s",
        watch->known ? "flushed without an error; the device was asked for no flush" : "the device tells of no flushes");
}
