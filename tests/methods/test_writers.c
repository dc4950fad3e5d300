/*
 * test_writers.c - the writers of lines and text: whatever text lies ready, whatever the parameters, the file is that text
 * byte for byte; and what happens when calls come short, are interrupted, or the file cannot grow.
 *
 * Driven by the list of methods. Those that write past os.h (the C library's and C++'s streams) meet only what the kernel
 * does.
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
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/units.h"
#include "methods/decode.h"
#include "methods/methods.h"
#include "os/os.h"

#define PATH "weir-writers-file"

/* ---- the text that lies ready ------------------------------------------------------------------------------------------
 */

static struct weir_input ready;

static void take_apart(char *data, size_t size) {
  struct weir_span *items = calloc(size + 1, sizeof *items);
  uint16_t *units = calloc(decode_room(size), sizeof *units);
  assert_true(items && units);
  size_t count = 0;
  for (size_t at = 0; at < size; count++) {
    const char *end = memchr(data + at, '\n', size - at);
    const size_t length = end ? (size_t)(end + 1 - data) - at : size - at;
    items[count] = (struct weir_span){data + at, length};
    at += length;
  }
  struct decode decode = {.begun = true};
  const size_t unit_count = decode_units(&decode, data, size, units);
  assert_true(decode.invalid == 0 && decode.carried == 0);
  ready = (struct weir_input){
      .data = data, .size = size, .items = items, .item_count = count, .units = units, .unit_count = unit_count};
}

static void forget(void) {
  free((void *)(uintptr_t)ready.data);
  free((void *)(uintptr_t)ready.items);
  free((void *)(uintptr_t)ready.units);
}

/* Lines of 1 to 2 * `average` bytes, some with characters of two, three and four bytes; the last one may lack its end. */
static void make_text(size_t size, size_t average, bool ended) {
  static const char *const strangers[] = {"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xef\xbb\xbf"};
  char *data = malloc(size + 1);
  assert_non_null(data);
  uint64_t word = 99;
  for (size_t at = 0, left = average; at < size; left--) {
    word = word * UINT64_C(6364136223846793005) + 1442695040888963407u;
    const unsigned draw = (unsigned)(word >> 40);
    const char *stranger = strangers[draw % 4];
    if (left == 0 || (ended && at + 1 == size)) {
      data[at++] = '\n';
      left = 1 + draw % (2 * average);
    } else if (draw % 61 == 0 && at + strlen(stranger) < size) {
      memcpy(data + at, stranger, strlen(stranger));
      at += strlen(stranger);
    } else {
      data[at++] = (char)(' ' + draw % 95);
    }
  }
  take_apart(data, size);
}

/* ---- a life ------------------------------------------------------------------------------------------------------------
 */

struct life {
  const struct weir_method *method;
  enum weir_task task;
  enum weir_durability durability;
  enum weir_target target;
  uint64_t params[WEIR_PARAMS_MAX];
  bool as_it_is; /* the file is not made ready */
  bool stopped;  /* from the start */
  /* what came of it */
  int error;
  bool available;
  struct weir_reason reason;
  uint64_t operations, bytes;
};

static atomic_int stop;
static unsigned buffers;

static int buffer_get(const struct weir_job *job, size_t length, size_t alignment, enum weir_buffer_policy policy,
                      void **out) {
  assert_true(length > 0 && alignment <= os_page_size());
  const int error = os_memory_get(length, policy == WEIR_BUFFER_HUGE ? OS_MEMORY_HUGE : 0, out);
  if (!error) buffers++;
  return error;
}
static void buffer_put(const struct weir_job *job, void *buffer, size_t length) {
  assert_int_equal(os_memory_put(buffer, length), 0);
  buffers--;
}
static int keep_reason(const struct weir_job *job, int code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(job->reason->text, sizeof job->reason->text, format, arguments);
  va_end(arguments);
  return code;
}
static const struct weir_host host = {WEIR_METHOD_ABI, sizeof(struct weir_host), buffer_get, buffer_put, keep_reason, NULL};

static unsigned descriptors(void) {
  unsigned count = 0;
  DIR *list = opendir("/proc/self/fd");
  assert_non_null(list);
  while (readdir(list)) count++;
  (void)closedir(list);
  return count;
}

/* What is there before is longer than most of what comes. */
static void lay_out(const struct life *life) {
  static const char old[5000] = "not the text";
  (void)unlink(PATH);
  if (life->target == WEIR_TARGET_NEW) return;
  const int fd = open(PATH, O_WRONLY | O_CREAT, 0600);
  assert_true(fd >= 0 && write(fd, old, sizeof old) == (ssize_t)sizeof old && close(fd) == 0);
}

static void pass(struct life *life, void *state, const struct weir_job *job) {
  const struct weir_method *m = life->method;
  struct weir_flow flow = {.mode = WEIR_CONSUMER_VERIFY, .stop = &stop};
  atomic_store(&stop, life->stopped);
  life->error = m->open(state, job);
  if (life->error) return;
  life->error = m->run(state, job, &flow, UINT64_MAX);
  if (!life->error && life->durability == WEIR_DURABILITY_END) life->error = m->sync(state, job);
  const int closed = m->close(state, job);
  if (!life->error) life->error = closed;
  life->operations = flow.operations;
  life->bytes = flow.bytes;
}

static void live(struct life *life) {
  const struct weir_method *m = life->method;
  const unsigned before = descriptors();
  struct weir_job job = {.abi = WEIR_METHOD_ABI,
                         .struct_size = sizeof job,
                         .task = life->task,
                         .direction = WEIR_WRITE,
                         .access = WEIR_SEQUENTIAL,
                         .durability = life->durability,
                         .target = life->target,
                         .consumer = WEIR_CONSUMER_VERIFY,
                         .path = PATH,
                         .directory = ".",
                         .file_size = ready.size,
                         .part_length = ready.size,
                         .instances = 1,
                         .params = life->params,
                         .block = ready.size,
                         .blocks = 1,
                         .operations = 1,
                         .host = &host,
                         .reason = &life->reason,
                         .data = m->data,
                         .input = &ready};
  void *state = calloc(1, m->state_size);
  assert_non_null(state);
  memset(&life->reason, 0, sizeof life->reason);
  life->operations = life->bytes = 0;
  life->error = m->probe ? m->probe(&job, &life->reason) : 0;
  life->available = life->error == 0;
  if (life->available) {
    life->error = m->setup(state, &job);
    for (unsigned i = 0; i < 2 && !life->error; i++) { /* a state serves several passes */
      if (!life->as_it_is) lay_out(life);
      pass(life, state, &job);
    }
    m->teardown(state, &job);
  }
  free(state);
  assert_int_equal(buffers, 0);
  assert_int_equal(descriptors(), before);
}

static void blame(const struct life *life, const char *what) {
  print_error("%s: %s\n  durability %d target %d size %zu error %d reason '%s' operations %llu bytes %llu; parameters",
              life->method->name, what, (int)life->durability, (int)life->target, ready.size, life->error, life->reason.text,
              (unsigned long long)life->operations, (unsigned long long)life->bytes);
  for (size_t i = 0; i < life->method->param_count; i++)
    print_error(" %s=%llu", life->method->params[i].name, (unsigned long long)life->params[i]);
  print_error("\n");
  fail();
}

static bool file_begins_with(size_t size, bool ends_there) {
  struct stat facts;
  char *data = malloc(size + 1);
  const int fd = open(PATH, O_RDONLY);
  assert_true(data && fd >= 0 && fstat(fd, &facts) == 0);
  const bool right = read(fd, data, size) == (ssize_t)size && (size == 0 || memcmp(data, ready.data, size) == 0);
  (void)close(fd);
  free(data);
  return right && (!ends_there || (size_t)facts.st_size == size);
}

static void check(struct life *life) {
  live(life);
  if (!life->available) {
    if (!life->reason.text[0] || !life->reason.remedy[0]) blame(life, "no reason");
    print_message("SKIPPED %s: %s (%s)\n", life->method->name, life->reason.text, life->reason.remedy);
    return;
  }
  if (life->error) blame(life, "failed");
  if (life->operations != 1 || life->bytes != ready.size) blame(life, "counts");
  if (!file_begins_with(ready.size, true)) blame(life, "file");
}

/* ---- methods and parameters --------------------------------------------------------------------------------------------
 */

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

typedef void visit(struct life *life);
static unsigned for_each_writer(visit *each) {
  unsigned count = 0;
  for (const struct weir_method *const *at = methods_list; *at; at++) {
    for (unsigned task = WEIR_TASK_LINES; task <= WEIR_TASK_TEXT; task++) {
      if (!((*at)->directions & WEIR_BIT(WEIR_WRITE)) || !((*at)->tasks & WEIR_BIT(task))) continue;
      struct life life = {.method = *at, .task = (enum weir_task)task, .target = WEIR_TARGET_TRUNCATE};
      for (size_t i = 0; i < (*at)->param_count; i++) life.params[i] = preset(&(*at)->params[i]);
      each(&life);
      count++;
    }
  }
  return count;
}

/* Values of one parameter: all words of a choice, or numbers that meet every edge. */
static unsigned values_of(const struct weir_param *param, uint64_t values[8]) {
  static const uint64_t numbers[] = {0, 1, 4, 7, 64, 1000, 1024, 65536};
  unsigned count = 0;
  if (param->kind == WEIR_PARAM_CHOICE) {
    values[count++] = 0;
    for (const char *at = param->choices; *at; at++)
      if (*at == '|') values[count] = count, count++;
    return count;
  }
  for (size_t i = 0; i < 8; i++)
    if (numbers[i] >= param->min && numbers[i] <= param->max) values[count++] = numbers[i];
  return count;
}

/* One parameter at a time. */
static void vary(struct life *life, bool numbers) {
  const struct weir_method *m = life->method;
  check(life);
  for (size_t i = 0; i < m->param_count; i++) {
    if (!numbers && m->params[i].kind != WEIR_PARAM_CHOICE) continue;
    const uint64_t kept = life->params[i];
    uint64_t values[8];
    const unsigned count = values_of(&m->params[i], values);
    for (unsigned j = 0; j < count; j++) {
      life->params[i] = values[j];
      if (values[j] != kept) check(life);
    }
    life->params[i] = kept;
  }
}

/* ---- tests: what is written --------------------------------------------------------------------------------------------
 */

static const struct {
  size_t size, average;
  bool ended;
} texts[] = {{0, 1, true},          {1, 1, true},       {1, 8, false},      {2, 8, true},
             {4096, 66, true},      {65536, 200, true}, {65537, 66, false}, {30000, 1, true},
             {100000, 90000, true}, {20000, 66, false}, {300000, 66, true}};

static void every_text(visit *each) {
  for (size_t i = 0; i < METHODS_COUNT(texts); i++) {
    make_text(texts[i].size, texts[i].average, texts[i].ended);
    assert_true(for_each_writer(each) >= 10);
    forget();
  }
}
static void the_file_is_the_text(void **unused) { every_text(check); }

static void vary_all(struct life *life) {
  for (unsigned target = 0; target < 2; target++) {
    life->target = target ? WEIR_TARGET_NEW : WEIR_TARGET_TRUNCATE;
    vary(life, true);
  }
}
static void parameters_change_nothing_in_the_file(void **unused) {
  make_text(30001, 66, false);
  (void)for_each_writer(vary_all);
  forget();
}

static void durably(struct life *life) {
  for (unsigned i = 0; i < 4; i++) {
    life->durability = i % 2 ? WEIR_DURABILITY_EACH : WEIR_DURABILITY_END;
    life->target = i / 2 ? WEIR_TARGET_NEW : WEIR_TARGET_TRUNCATE;
    if (life->method->durabilities & WEIR_BIT(life->durability)) vary(life, false); /* each write takes the device's time */
  }
}
static void durable_files_are_the_text(void **unused) {
  make_text(2000, 66, true);
  (void)for_each_writer(durably);
  forget();
}

static void meet_existing(struct life *life) {
  lay_out(life); /* truncate: something is there */
  life->target = WEIR_TARGET_NEW;
  life->as_it_is = true;
  live(life);
  if (life->available && (life->error != -EEXIST || !life->reason.text[0])) blame(life, "overwrote what was there");
}
static void a_new_file_is_never_an_old_one(void **unused) {
  make_text(2000, 66, true);
  (void)for_each_writer(meet_existing);
  forget();
}

/* ---- tests: calls that do not play along -------------------------------------------------------------------------------
 */

static struct {
  bool interrupt, cut; /* every second call says EINTR; calls come short */
  size_t unit;         /* as many bytes, or a multiple, go by one call: what passes the cache by cannot go on elsewhere */
  uint64_t limit;      /* bytes that go well; UINT64_MAX: all */
  int error;           /* what is said then */
  uint64_t stop_at;    /* the flow is stopped when so many bytes went */
  uint64_t written, random;
  unsigned calls;
} fault;

/* How many of `length` bytes go; -1 with errno where none. */
static ssize_t allowed(size_t length) {
  if (fault.interrupt && ++fault.calls % 2) {
    errno = EINTR;
    return -1;
  }
  if (fault.written >= fault.limit) {
    errno = fault.error;
    return -1;
  }
  fault.random = fault.random * UINT64_C(6364136223846793005) + 1442695040888963407u;
  const size_t units = length / fault.unit;
  if (fault.cut && units > 1) length = (1 + (size_t)(fault.random >> 33) % (units - 1)) * fault.unit;
  return (ssize_t)(fault.limit - fault.written < length ? fault.limit - fault.written : length);
}
static ssize_t count_in(ssize_t count) {
  if (count > 0) fault.written += (uint64_t)count;
  if (fault.written >= fault.stop_at) atomic_store(&stop, 1);
  return count;
}
static ssize_t bad_write(int fd, const void *data, size_t length) {
  const ssize_t some = allowed(length);
  return some < 0 ? some : count_in(write(fd, data, (size_t)some));
}
static ssize_t bad_pwrite(int fd, const void *data, size_t length, off_t offset) {
  const ssize_t some = allowed(length);
  return some < 0 ? some : count_in(pwrite(fd, data, (size_t)some, offset));
}
static ssize_t bad_writev(int fd, const struct iovec *parts, int count) {
  struct iovec kept[1024];
  size_t length = 0;
  for (int i = 0; i < count; i++) length += parts[i].iov_len;
  ssize_t some = allowed(length);
  if (some < 0) return some;
  int used = 0;
  for (; some > 0; some -= (ssize_t)kept[used++].iov_len) {
    kept[used] = parts[used];
    if (kept[used].iov_len > (size_t)some) kept[used].iov_len = (size_t)some;
  }
  return count_in(writev(fd, kept, used));
}

static void replace_writes(bool on) {
  assert_non_null(os_override("write", on ? (os_function *)bad_write : NULL));
  assert_non_null(os_override("pwrite", on ? (os_function *)bad_pwrite : NULL));
  assert_non_null(os_override("writev", on ? (os_function *)bad_writev : NULL));
}

static unsigned met; /* methods that made a replaced call */

/* Runs with the fault; true where a replaced call was made. */
static bool live_with_fault(struct life *life) {
  fault.written = 0;
  fault.calls = 0;
  fault.unit = life->method->capabilities & WEIR_CAP_DIRECT ? 4096 : 1;
  if (fault.limit != UINT64_MAX) fault.limit -= fault.limit % fault.unit;
  replace_writes(true);
  live(life);
  replace_writes(false);
  if (fault.written == 0 && fault.calls == 0 && life->available)
    print_message("SKIPPED %s: writes past os.h\n", life->method->name);
  met += fault.written > 0 || fault.calls > 0;
  return life->available && (fault.written > 0 || fault.calls > 0);
}

static void go_short(struct life *life) {
  for (unsigned i = 1; i < 4; i++) {
    memset(&fault, 0, sizeof fault);
    fault.limit = fault.stop_at = UINT64_MAX;
    fault.interrupt = i & 1;
    fault.cut = i & 2;
    if (!live_with_fault(life)) return;
    if (life->error || life->operations != 1 || life->bytes != ready.size) blame(life, "did not go on");
    if (!file_begins_with(ready.size, true)) blame(life, "file");
  }
}
static void short_and_interrupted_calls_go_on(void **unused) {
  make_text(60000, 66, true);
  met = 0;
  (void)for_each_writer(go_short);
  assert_true(met >= 8);
  forget();
}

static void run_full(struct life *life) {
  static const int errors[] = {ENOSPC, EIO, EDQUOT};
  for (size_t i = 0; i < METHODS_COUNT(errors); i++) {
    memset(&fault, 0, sizeof fault);
    fault.limit = i == 1 ? 0 : 40001;
    fault.interrupt = true; /* so that the call is seen when nothing goes */
    fault.stop_at = UINT64_MAX;
    fault.error = errors[i];
    if (!live_with_fault(life)) return;
    if (life->error != -errors[i] || !life->reason.text[0] || life->operations) blame(life, "told nothing");
    if (!file_begins_with((size_t)fault.limit, false)) blame(life, "what went before");
  }
}
static void a_full_disk_is_told(void **unused) {
  make_text(200000, 66, true);
  met = 0;
  (void)for_each_writer(run_full);
  assert_true(met >= 24);
  forget();
}

/* By the kernel itself, which also those meet that write past os.h. */
static void outgrow(struct life *life) {
  const struct rlimit small = {49152, RLIM_INFINITY}, all = {RLIM_INFINITY, RLIM_INFINITY};
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  live(life);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
  if (life->available && (life->error != -EFBIG || !life->reason.text[0] || life->operations)) blame(life, "told nothing");
}
static void a_file_that_may_not_grow_is_told(void **unused) {
  assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
  make_text(200000, 66, true);
  (void)for_each_writer(outgrow);
  forget();
}

/* ---- tests: stopping ---------------------------------------------------------------------------------------------------
 */

static void stop_first(struct life *life) {
  life->stopped = true;
  live(life);
  if (life->available && (life->error || life->operations || life->bytes)) blame(life, "ran on");
}
static void a_stopped_flow_passes_nothing(void **unused) {
  make_text(20000, 66, true);
  (void)for_each_writer(stop_first);
  forget();
}

static void stop_amid(struct life *life) {
  memset(&fault, 0, sizeof fault);
  fault.limit = UINT64_MAX;
  fault.stop_at = 1;
  if (!live_with_fault(life)) return;
  if (life->error) blame(life, "failed");
  /* what goes by one call is done by then */
  if (life->operations ? life->bytes != ready.size : life->bytes >= ready.size) blame(life, "counts");
  if (!file_begins_with((size_t)life->bytes, true)) blame(life, "file");
}
static void what_was_passed_before_a_stop_is_in_the_file(void **unused) {
  make_text(3000000, 66, true);
  met = 0;
  (void)for_each_writer(stop_amid);
  assert_true(met >= 8);
  forget();
}

static int finish(void **unused) { return unlink(PATH) == 0 || errno == ENOENT ? 0 : -1; }

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_file_is_the_text),
      cmocka_unit_test(parameters_change_nothing_in_the_file),
      cmocka_unit_test(durable_files_are_the_text),
      cmocka_unit_test(a_new_file_is_never_an_old_one),
      cmocka_unit_test(short_and_interrupted_calls_go_on),
      cmocka_unit_test(a_full_disk_is_told),
      cmocka_unit_test(a_file_that_may_not_grow_is_told),
      cmocka_unit_test(a_stopped_flow_passes_nothing),
      cmocka_unit_test(what_was_passed_before_a_stop_is_in_the_file),
  };
  return cmocka_run_group_tests_name("writers", tests, NULL, finish);
}
