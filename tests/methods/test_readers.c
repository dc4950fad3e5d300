/*
 * test_readers.c - readers of lines and text on small files of every kind, with all that their parameters can say: what they
 * hand over is compared with what slow code makes of the same bytes; and what they do when calls come short, fail or are
 * interrupted, when the file is not as long as was said, and when they are told to stop.
 *
 * test_readers [FAMILY]: those whose name begins with it; else the families that read with one call at a time.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/units.h"
#include "methods/methods.h"
#include "methods/stream.h"
#include "os/os.h"
#include "utf8_reference.h"

#define FILE_MAX 120000u
#define CAPTURE_MAX (3 * FILE_MAX)

static const char *chosen; /* a family */

/* ---- files --------------------------------------------------------------------------------------------------------- */

#define TEXT(name, text) \
  { name, text, sizeof(text) - 1 }
static const struct sample {
  const char *name, *text;
  size_t length;
} samples[] = {
    TEXT("nothing", ""),
    TEXT("one byte", "x"),
    TEXT("an empty line", "\n"),
    TEXT("empty lines", "\n\n\n\n"),
    TEXT("one line", "a line\n"),
    TEXT("no newline at the end", "first\nsecond"),
    TEXT("CRLF", "first\r\nsecond\r\n\r\nlast\r\n"),
    TEXT("CRs that end nothing", "\ra\rb\r\r\nc\r"),
    TEXT("CR at the end", "line\r"),
    TEXT("zero bytes", "a\0b\n\0\n\0\0c"),
    TEXT("a mark", "\xef\xbb\xbfmarked\nline\n"),
    TEXT("a mark alone", "\xef\xbb\xbf"),
    TEXT("each length", "a\xc3\xa4\n\xe2\x82\xac\xf0\x9f\x98\x80z\nend"),
    TEXT("latin-1", "caf\xe9 na\xefve\n\xfc\xdf\n"),
    TEXT("invalid in many ways", "\xc0\xaf\xed\xa0\x80\n\xf4\x90\x80\x80\xf0\x9f\n\xe1\x80 \xf1\x80\x80z\xff"),
    TEXT("cut off", "text\n\xf0\x9f\x98"),
    TEXT("cut off before LF", "text\xf0\x9f\x98\n"),
};
enum { SAMPLES = sizeof samples / sizeof *samples };

static struct {
  char path[64], directory[32];
  unsigned char data[FILE_MAX]; /* what the file is to hold */
  size_t size;
  const char *name;
  struct reference_units units;
} file = {.directory = "weir-readers-XXXXXX"};

static uint64_t next_random(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
  return *state >> 33;
}

/* Lines of all lengths up to twice `average`, a few bytes of them no ASCII. */
static void make_lines(size_t size, unsigned average) {
  uint64_t state = size;
  size_t left = 0;
  for (file.size = 0; file.size < size; left--) {
    if (left == 0) left = 1 + next_random(&state) % (2 * average);
    const bool other = left > 2 && next_random(&state) % 50 == 0 && file.size + 2 < size;
    if (left == 1) {
      file.data[file.size++] = '\n';
    } else if (other) {
      file.data[file.size++] = 0xc3;
      file.data[file.size++] = (unsigned char)(0x80 + next_random(&state) % 64);
    } else {
      file.data[file.size++] = (unsigned char)(' ' + next_random(&state) % 90);
    }
  }
}

static void write_file(size_t size) {
  const int fd = open(file.path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  assert_true(fd >= 0);
  for (size_t at = 0; at < size;) {
    const size_t here = size - at < file.size ? size - at : file.size; /* longer than the content: it begins again */
    assert_int_equal(write(fd, file.data, here), here);
    at += here;
  }
  assert_int_equal(close(fd), 0);
  reference_decode(&file.units, file.data, file.size);
}

static void use_sample(size_t i) {
  memcpy(file.data, samples[i].text, samples[i].length);
  file.size = samples[i].length;
  file.name = samples[i].name;
  write_file(file.size);
}

static void use_lines(size_t size, unsigned average) {
  make_lines(size, average);
  file.name = "lines";
  write_file(file.size);
}

static bool has_zero(void) { return memchr(file.data, 0, file.size) != NULL; }
static bool has_mark(void) { return file.size >= 3 && memcmp(file.data, "\xef\xbb\xbf", 3) == 0; }

/* ---- the core ------------------------------------------------------------------------------------------------------ */

/* What a pass handed over: items, each with its length before it, units or bytes. */
static struct capture {
  unsigned char data[CAPTURE_MAX];
  size_t size;
  bool wrong_place, items, units, bytes, overflow;
  uint64_t hooks, stop_after; /* the flow is stopped at that one; 0: never */
} got, wanted;
static atomic_int stop;
static unsigned buffers;

static void capture_add(struct capture *c, const void *data, size_t length) {
  c->overflow |= c->size + length > CAPTURE_MAX;
  if (c->overflow) return;
  if (length) memcpy(c->data + c->size, data, length);
  c->size += length;
}

static void capture_item(struct capture *c, const void *data, size_t length) {
  const uint32_t size = (uint32_t)length;
  c->items = true;
  capture_add(c, &size, sizeof size);
  capture_add(c, data, length);
}

static void count_hook(void) {
  if (++got.hooks == got.stop_after) atomic_store(&stop, 1);
}

static void on_deliver(struct weir_flow *flow, uint64_t offset, const void *data, size_t length) {
  got.wrong_place |= offset != got.size;
  if (flow->units > 0)
    got.units = true;
  else
    got.bytes = true;
  capture_add(&got, data, length);
  count_hook();
}

static void on_item(struct weir_flow *flow, const void *data, size_t length) {
  (void)flow;
  capture_item(&got, data, length);
  count_hook();
}

static int buffer_get(const struct weir_job *job, size_t length, size_t alignment, enum weir_buffer_policy policy,
                      void **out) {
  (void)job, (void)policy;
  if (length == 0 || posix_memalign(out, alignment > 4096 ? alignment : 4096, length) != 0) return -ENOMEM;
  memset(*out, 0xa5, length);
  buffers++;
  return 0;
}
static void buffer_put(const struct weir_job *job, void *buffer, size_t length) {
  (void)job, (void)length;
  buffers--;
  free(buffer);
}
static int fail_job(const struct weir_job *job, int code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(job->reason->text, sizeof job->reason->text, format, arguments);
  va_end(arguments);
  return code;
}
static const struct weir_host host = {.abi = WEIR_METHOD_ABI,
                                      .struct_size = sizeof host,
                                      .buffer_get = buffer_get,
                                      .buffer_put = buffer_put,
                                      .fail = fail_job};

static unsigned descriptors(void) {
  DIR *directory = opendir("/proc/self/fd");
  unsigned count = 0;
  assert_non_null(directory);
  while (readdir(directory)) count++;
  (void)closedir(directory);
  return count;
}

struct life {
  const struct weir_method *method;
  enum weir_task task;
  uint64_t params[WEIR_PARAMS_MAX];
  uint64_t budget;
  bool unasked; /* run without asking the probe */
};
struct outcome {
  int probed, error; /* the first error of setup, open, run, close */
  struct weir_reason reason;
  struct weir_flow flow;
};

static const char *describe(const struct life *life) {
  static char out[512];
  int used = snprintf(out, sizeof out, "%s on '%s' (%zu bytes), task %d", life->method->name, file.name, file.size,
                      (int)life->task);
  for (size_t i = 0; i < life->method->param_count; i++) {
    const size_t room = used < (int)sizeof out ? sizeof out - (size_t)used : 0;
    used += snprintf(out + used, room, " %s=%llu", life->method->params[i].name, (unsigned long long)life->params[i]);
  }
  return out;
}

/* The core's promise: the whole file is one operation of one instance. */
static struct weir_job make_job(const struct life *life, struct outcome *outcome) {
  return (struct weir_job){.abi = WEIR_METHOD_ABI,
                           .struct_size = sizeof(struct weir_job),
                           .task = life->task,
                           .direction = WEIR_READ,
                           .consumer = WEIR_CONSUMER_HASH,
                           .path = file.path,
                           .directory = file.directory,
                           .file_size = file.size,
                           .part_length = file.size,
                           .instances = 1,
                           .params = life->params,
                           .block = file.size ? file.size : 1,
                           .blocks = 1,
                           .operations = 1,
                           .order_mask = 1,
                           .order_key = {1, 1, 1},
                           .order_shift = 1,
                           .host = &host,
                           .reason = &outcome->reason,
                           .data = life->method->data};
}

static void forget(void) {
  const uint64_t stop_after = got.stop_after;
  got.size = 0;
  got.wrong_place = got.items = got.units = got.bytes = got.overflow = false;
  got.hooks = 0;
  got.stop_after = stop_after;
}

static int pass(const struct life *life, void *state, const struct weir_job *job, struct outcome *outcome) {
  forget();
  outcome->flow = (struct weir_flow){.mode = WEIR_CONSUMER_HASH, .stop = &stop, .deliver = on_deliver, .item = on_item};
  int error = life->method->open(state, job);
  if (error) return error;
  error = life->method->run(state, job, &outcome->flow, life->budget);
  const int closed = life->method->close(state, job);
  return error ? error : closed;
}

/* Two passes, unless the first fails. */
static void live(const struct life *life, struct outcome *outcome) {
  const unsigned before = descriptors();
  *outcome = (struct outcome){.probed = 0};
  const struct weir_job job = make_job(life, outcome);
  atomic_store(&stop, 0);
  if (life->method->probe && !life->unasked) outcome->probed = life->method->probe(&job, &outcome->reason);
  if (outcome->probed) return;
  void *state = calloc(1, life->method->state_size);
  assert_non_null(state);
  outcome->error = life->method->setup(state, &job);
  for (int i = 0; i < 2 && !outcome->error && !atomic_load(&stop); i++) outcome->error = pass(life, state, &job, outcome);
  life->method->teardown(state, &job);
  free(state);
  if (buffers != 0) fail_msg("%s: buffers were not given back", describe(life));
  if (descriptors() != before) fail_msg("%s: descriptors leaked", describe(life));
}

/* ---- what is right ------------------------------------------------------------------------------------------------- */

static void want_items(void) {
  const unsigned char *at = file.data, *end = file.data + file.size;
  while (at < end) {
    const unsigned char *stop_at = at;
    while (stop_at < end && *stop_at != '\n') stop_at++;
    size_t length = (size_t)(stop_at - at);
    if (stop_at < end && length > 0 && at[length - 1] == '\r') length--;
    capture_item(&wanted, at, length);
    at = stop_at + 1;
  }
}

static void want_same_form(void) {
  wanted.size = 0;
  if (got.items)
    want_items();
  else if (got.units)
    capture_add(&wanted, file.units.unit, 2 * file.units.count);
  else
    capture_add(&wanted, file.data, file.size);
}

/* Some cannot do some files, and owe a reason and a remedy. */
static bool may_refuse(const struct life *life) {
  if (strcmp(life->method->name, "lines/fgets") == 0) return has_zero();
  return strcmp(life->method->name, "weir/read-text") == 0 && file.units.invalid > 0;
}

static void check_whole(const struct life *life, const struct outcome *o) {
  if (o->probed) fail_msg("%s: not available: %s", describe(life), o->reason.text);
  if (o->error == -EILSEQ && may_refuse(life) && o->reason.text[0] && o->reason.remedy[0]) return;
  if (o->error || o->reason.text[0]) fail_msg("%s: error %d: %s", describe(life), o->error, o->reason.text);
  if (may_refuse(life)) fail_msg("%s: what cannot be done was done", describe(life));
  if (o->flow.operations != 1) fail_msg("%s: %d operations", describe(life), (int)o->flow.operations);
  if (got.items + got.units + got.bytes > 1 || got.wrong_place || got.overflow)
    fail_msg("%s: forms are mixed", describe(life));
  if (life->task == WEIR_TASK_LINES && file.size > 0 && !got.items) fail_msg("%s: no lines", describe(life));
  if (file.size > 0 && !got.items && !got.units && !got.bytes && !has_mark()) fail_msg("%s: nothing", describe(life));
  want_same_form();
  if (got.size == 0 && has_mark()) return; /* nothing but a mark, left out */
  if (got.size != wanted.size || memcmp(got.data, wanted.data, wanted.size) != 0)
    fail_msg("%s: what was handed over is wrong: %zu bytes, %zu wanted", describe(life), got.size, wanted.size);
}

/* ---- which methods, with which parameters -------------------------------------------------------------------------- */

/* The C++ methods of a build without such a compiler: their rows say so, and nothing more can be tried. */
static bool is_left_out(const struct weir_method *method) {
  static bool told;
  if (stream_built_in() || strncmp(method->name, "stream/", 7) != 0) return false;
  if (!told) printf("SKIPPED %s: built without a C++ compiler\n", method->name);
  told = true;
  return true;
}

static bool is_chosen(const struct weir_method *method) {
  static const char *const families[] = {"text/", "lines/", "iconv/", "stream/getline", "weir/"};
  const uint32_t tasks = WEIR_BIT(WEIR_TASK_LINES) | WEIR_BIT(WEIR_TASK_TEXT);
  if (!(method->tasks & tasks) || !(method->directions & WEIR_BIT(WEIR_READ))) return false;
  if (is_left_out(method)) return false;
  if (chosen) return strncmp(method->name, chosen, strlen(chosen)) == 0;
  for (size_t i = 0; i < METHODS_COUNT(families); i++)
    if (strncmp(method->name, families[i], strlen(families[i])) == 0) return true;
  return false;
}

static uint64_t preset(const struct weir_param *param) {
  uint64_t value = 0;
  if (param->kind == WEIR_PARAM_SIZE) assert_int_equal(units_parse_size(param->preset, &value), 0);
  if (param->kind == WEIR_PARAM_COUNT) assert_int_equal(units_parse_count(param->preset, &value), 0);
  if (param->kind != WEIR_PARAM_CHOICE) return value;
  const char *found = strstr(param->choices, param->preset);
  assert_non_null(found);
  for (const char *at = param->choices; at < found; at++) value += *at == '|';
  return value;
}

static unsigned words(const struct weir_param *param) {
  unsigned count = 1;
  for (const char *at = param->choices; *at; at++) count += *at == '|';
  return count;
}

/* Of a choice all values; of a number the preset, the least, and two small ones. */
static unsigned values_of(const struct weir_param *param, enum weir_task task, uint64_t out[4]) {
  out[0] = preset(param);
  if (!(param->tasks & WEIR_BIT(task))) return 1;
  if (param->kind == WEIR_PARAM_CHOICE) {
    const bool huge = strcmp(param->name, "bounds") == 0 || strcmp(param->name, "strategy") == 0; /* tested by themselves */
    const unsigned count = huge ? 1 : words(param);
    for (unsigned i = 0; i < count && !huge; i++) out[i] = i;
    return count;
  }
  out[1] = param->min;
  out[2] = param->min > 3 ? param->min : 3;
  out[3] = param->min > 17 ? param->min : 17;
  return 4;
}

typedef void visit(struct life *life);

/* All combinations from parameter `i` on. */
static void vary(struct life *life, size_t i, visit *each) {
  uint64_t values[8];
  if (i == life->method->param_count) {
    each(life);
    return;
  }
  const unsigned count = values_of(&life->method->params[i], life->task, values);
  for (unsigned v = 0; v < count; v++) {
    life->params[i] = values[v];
    vary(life, i + 1, each);
  }
}

static struct life usual(const struct weir_method *method, enum weir_task task) {
  struct life life = {.method = method, .task = task, .budget = UINT64_MAX};
  for (size_t i = 0; i < method->param_count; i++) life.params[i] = preset(&method->params[i]);
  return life;
}

static void each_method(bool varied, visit *each) {
  unsigned met = 0;
  for (const struct weir_method *const *at = methods_list; *at; at++) {
    for (enum weir_task task = WEIR_TASK_LINES; is_chosen(*at) && task <= WEIR_TASK_TEXT; task++) {
      struct life life = usual(*at, task);
      if (!((*at)->tasks & WEIR_BIT(task))) continue;
      met++;
      if (varied)
        vary(&life, 0, each);
      else
        each(&life);
    }
  }
  assert_true(met > 0);
}

static void right(struct life *life) {
  struct outcome outcome;
  live(life, &outcome);
  check_whole(life, &outcome);
}

/* ---- tests --------------------------------------------------------------------------------------------------------- */

static void every_kind_of_file_by_every_parameter(void **unused) {
  for (size_t i = 0; i < SAMPLES; i++) {
    use_sample(i);
    each_method(true, right);
  }
}

static void lines_longer_than_every_buffer(void **unused) {
  use_lines(300, 60);
  each_method(true, right);
  use_lines(100000, 30000);
  each_method(false, right);
  use_lines(FILE_MAX, 66);
  each_method(false, right);
}

static void every_strategy_of_the_library(struct life *life) {
  for (size_t i = 0; i < life->method->param_count; i++) {
    const struct weir_param *param = &life->method->params[i];
    if (strcmp(param->name, "strategy") != 0) continue;
    for (life->params[i] = 0; life->params[i] < words(param); life->params[i]++) {
      struct outcome outcome;
      live(life, &outcome);
      if (outcome.probed)
        print_message("SKIPPED %s strategy %d: %s\n", life->method->name, (int)life->params[i], outcome.reason.text);
      else
        check_whole(life, &outcome);
    }
  }
}

static void strategies(void **unused) {
  use_lines(100000, 66);
  each_method(false, every_strategy_of_the_library);
}

static struct life named(const char *name) {
  for (const struct weir_method *const *at = methods_list; *at; at++)
    if (strcmp((*at)->name, name) == 0) return usual(*at, WEIR_TASK_TEXT);
  fail_msg("no method %s", name);
  return (struct life){0};
}

static void set(struct life *life, const char *name, uint64_t value) {
  for (size_t i = 0; i < life->method->param_count; i++)
    if (strcmp(life->method->params[i].name, name) == 0) life->params[i] = value;
}

/* A search that runs on through old lines hands over only the file's. */
static void unbounded_split(void **unused) {
  if (chosen) return;
  static const size_t kinds[] = {5, 10, 14};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    use_sample(kinds[i]);
    for (uint64_t decode = 0; decode < 3; decode++) {
      struct life life = named("text/split");
      set(&life, "bounds", 1);
      set(&life, "decode", decode);
      right(&life);
    }
  }
}

/* What the answer must not depend on. */
static unsigned met;
static uint64_t fault_random;
static uint64_t bad_call;
static bool in_turn(void) {
  met++;
  if (met % 3 != 0) return false;
  errno = EINTR;
  return true;
}
static size_t cut(size_t length) {
  fault_random = fault_random * UINT64_C(6364136223846793005) + 1442695040888963407u;
  return length > 1 ? 1 + (size_t)(fault_random >> 33) % (length - 1) : length;
}
static ssize_t short_read(int fd, void *data, size_t length) { return in_turn() ? -1 : read(fd, data, cut(length)); }
static ssize_t short_pread(int fd, void *data, size_t length, off_t offset) {
  return in_turn() ? -1 : pread(fd, data, cut(length), offset);
}
static ssize_t failing(void) {
  errno = EIO;
  return -1;
}
static ssize_t bad_read(int fd, void *data, size_t length) {
  return ++met >= bad_call ? failing() : read(fd, data, cut(length));
}
static ssize_t bad_pread(int fd, void *data, size_t length, off_t offset) {
  return ++met >= bad_call ? failing() : pread(fd, data, cut(length), offset);
}

static void replace(os_function *by_read, os_function *by_pread) {
  met = 0;
  assert_non_null(os_override("read", by_read));
  assert_non_null(os_override("pread", by_pread));
}

static void right_though_short(struct life *life) {
  replace((os_function *)short_read, (os_function *)short_pread);
  struct outcome outcome;
  live(life, &outcome);
  const bool reached = met > 0;
  replace(NULL, NULL);
  check_whole(life, &outcome);
  if (!reached) print_message("SKIPPED %s: makes its calls past os.h, so no short one reaches it\n", life->method->name);
}

static void short_and_interrupted_reads(void **unused) {
  use_lines(100000, 66);
  each_method(false, right_though_short);
}

static void tells_the_error(struct life *life) {
  for (bad_call = 1; bad_call <= 3; bad_call++) {
    replace((os_function *)bad_read, (os_function *)bad_pread);
    struct outcome o;
    live(life, &o);
    const bool reached = met >= bad_call;
    replace(NULL, NULL);
    if (!reached) {
      check_whole(life, &o);
      if (bad_call == 1)
        print_message("SKIPPED %s: makes its calls past os.h, so no error reaches it\n", life->method->name);
      return;
    }
    if (o.error != -EIO || !strstr(o.reason.text, "nput/output error"))
      fail_msg("%s: call %d failed; error %d: '%s'", describe(life), (int)bad_call, o.error, o.reason.text);
  }
}

static void errors_are_told(void **unused) {
  use_lines(100000, 66);
  each_method(false, tells_the_error);
}

static void notices_the_end(struct life *life) {
  struct outcome o;
  live(life, &o);
  if (o.error != -ENODATA || !strstr(o.reason.text, "ended"))
    fail_msg("%s: the file is too short; error %d: '%s'", describe(life), o.error, o.reason.text);
}

static void a_file_that_is_too_short(void **unused) {
  static const size_t sizes[] = {0, 1, 4096, 50000, 99000};
  use_lines(100000, 66);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    const bool cuts = (file.data[sizes[i]] & 0xc0) == 0x80; /* a character, which some would tell first */
    write_file(sizes[i] - cuts);
    each_method(false, notices_the_end);
  }
}

/* Handed over is just what the job said, or nothing and why; where the file grows later, what the library reads to its end
 * too. */
static void checks_more(const struct life *life, const struct outcome *o) {
  const bool library = life->unasked && strncmp(life->method->name, "weir/", 5) == 0;
  want_same_form();
  const bool same = got.size == wanted.size && memcmp(got.data, wanted.data, wanted.size) == 0;
  if (o->error ? !o->reason.text[0] : !same && !library)
    fail_msg("%s: the file has more: error %d '%s', %zu bytes", describe(life), o->error, o->reason.text, got.size);
}

static void refuses_more(struct life *life) {
  struct outcome o;
  live(life, &o);
  if (!o.probed) checks_more(life, &o);
  if (o.probed && (!o.reason.text[0] || !o.reason.remedy[0])) fail_msg("%s: refused without words", describe(life));
  life->unasked = true;
  live(life, &o);
  checks_more(life, &o);
}

static void a_file_that_is_too_long(void **unused) {
  use_lines(50000, 66);
  write_file(100000);
  each_method(false, refuses_more);
}

static void nothing_without_budget(struct life *life) {
  struct outcome o;
  life->budget = 0;
  live(life, &o);
  if (o.error || o.flow.operations || o.flow.bytes) fail_msg("%s: worked without budget", describe(life));
}

/* Told to stop at a line, it hands over no other; a pass that was stopped does not count unless all of it was there. */
static void stops_soon(struct life *life) {
  static const uint64_t hooks[] = {1, 2, 700};
  for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++) {
    struct outcome o;
    got.stop_after = hooks[i];
    live(life, &o);
    got.stop_after = 0;
    if (o.error) fail_msg("%s: stopped; error %d: '%s'", describe(life), o.error, o.reason.text);
    if (got.hooks > hooks[i]) fail_msg("%s: %d pieces after the stop", describe(life), (int)(got.hooks - hooks[i]));
    want_same_form();
    const bool whole = got.size == wanted.size;
    if (o.flow.operations > whole) fail_msg("%s: counted a pass that was stopped", describe(life));
    if (memcmp(got.data, wanted.data, got.size) != 0) fail_msg("%s: stopped, and wrong", describe(life));
  }
}

static void budget_and_stop(void **unused) {
  use_lines(100000, 66);
  each_method(false, nothing_without_budget);
  each_method(false, stops_soon);
}

static void no_file(struct life *life) {
  struct outcome o;
  life->unasked = true;
  live(life, &o);
  if (o.error != -ENOENT || !strstr(o.reason.text, "o such file"))
    fail_msg("%s: no file; error %d: '%s'", describe(life), o.error, o.reason.text);
}

static void a_file_that_is_gone(void **unused) {
  use_lines(1000, 66);
  assert_int_equal(unlink(file.path), 0);
  each_method(false, no_file);
}

static int begin(void **unused) {
  if (!mkdtemp(file.directory)) return -1;
  (void)snprintf(file.path, sizeof file.path, "%s/file", file.directory);
  return 0;
}
static int finish(void **unused) {
  (void)unlink(file.path);
  return rmdir(file.directory);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_kind_of_file_by_every_parameter),
      cmocka_unit_test(lines_longer_than_every_buffer),
      cmocka_unit_test(strategies),
      cmocka_unit_test(unbounded_split),
      cmocka_unit_test(short_and_interrupted_reads),
      cmocka_unit_test(errors_are_told),
      cmocka_unit_test(a_file_that_is_too_short),
      cmocka_unit_test(a_file_that_is_too_long),
      cmocka_unit_test(budget_and_stop),
      cmocka_unit_test(a_file_that_is_gone),
  };
  if (argc > 1) chosen = argv[1];
  return cmocka_run_group_tests_name("readers", tests, begin, finish);
}
