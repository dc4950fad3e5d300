/*
 * test_packed.c - methods that read and write packed records and typed values, and those that read byte by byte: a file cut
 * at every byte, every byte damaged, short and interrupted transfers, full disks, stops. A slow parser says what is right.
 *
 * All of the list that have these tasks are tested, with every choice of each parameter and with buffers of a few bytes.
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
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "methods/methods.h"
#include "os/os.h"

#define FILE_MAX ((size_t)1 << 20)
#define ITEMS_MAX 64u
#define TYPED_MAX 1000u

/* What came out of a file, or should have. */
struct outcome {
  bool good;
  size_t item_count, item_bytes;
  size_t lengths[ITEMS_MAX];
  unsigned char bytes[FILE_MAX];
};

static struct {
  char directory[PATH_MAX], path[PATH_MAX + 16];
  unsigned char file[FILE_MAX]; /* what the file holds, or shall hold */
  size_t size;
  unsigned buffers;
  struct outcome seen, wanted;
  struct weir_typed typed[TYPED_MAX];
  size_t stop_after; /* items; 0: never */
  atomic_int stop;
  struct weir_reason reason;
} scene;

/* One life of a method. */
struct life {
  const struct weir_method *method;
  enum weir_task task;
  enum weir_direction direction;
  enum weir_durability durability;
  enum weir_target target;
  enum weir_consumer consumer;
  const struct weir_input *input;
  uint64_t params[WEIR_PARAMS_MAX];
  uint64_t budget;
  unsigned passes; /* 0 counts as 2 */
  bool stopped;    /* before it runs */
  size_t missing;  /* bytes that the job promises and the file lacks */
  bool plain;      /* all parameters at their presets only */
  bool as_it_is;   /* the file was laid out by the test */
};
struct result {
  bool unavailable;
  int error;
  struct weir_flow flow;
};

static void fail_life(const struct life *life, const struct result *result, const char *what) {
  print_error("%s: %s; error %d '%s', %zu bytes in the file\n  params", life->method->name, what, result->error,
              scene.reason.text, scene.size);
  for (size_t i = 0; i < life->method->param_count; i++)
    print_error(" %s=%llu", life->method->params[i].name, (unsigned long long)life->params[i]);
  print_error("\n");
  fail();
}

/* ---- the host ------------------------------------------------------------------------------------------------------ */

static int buffer_get(const struct weir_job *job, size_t length, size_t alignment, enum weir_buffer_policy policy,
                      void **out) {
  (void)job, (void)alignment, (void)policy;
  *out = malloc(length); /* so that sanitizers see its borders */
  if (!*out) return -ENOMEM;
  memset(*out, 0x5a, length);
  scene.buffers++;
  return 0;
}
static void buffer_put(const struct weir_job *job, void *buffer, size_t length) {
  (void)job, (void)length;
  free(buffer);
  scene.buffers--;
}
static int keep_reason(const struct weir_job *job, int code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(job->reason->text, sizeof job->reason->text, format, arguments);
  va_end(arguments);
  return code;
}
static const struct weir_host host = {.abi = WEIR_METHOD_ABI,
                                      .struct_size = sizeof(struct weir_host),
                                      .buffer_get = buffer_get,
                                      .buffer_put = buffer_put,
                                      .fail = keep_reason};

static void see_item(struct weir_flow *flow, const void *data, size_t length) {
  struct outcome *seen = &scene.seen;
  assert_true(seen->item_count < ITEMS_MAX && length <= FILE_MAX - seen->item_bytes);
  memcpy(seen->bytes + seen->item_bytes, data, length);
  seen->item_bytes += length;
  seen->lengths[seen->item_count++] = length;
  if (flow->items == scene.stop_after) atomic_store(&scene.stop, 1);
}

/* Bytes come in order. */
static void see_bytes(struct weir_flow *flow, uint64_t offset, const void *data, size_t length) {
  struct outcome *seen = &scene.seen;
  (void)flow;
  assert_true(offset == seen->item_bytes && length <= FILE_MAX - seen->item_bytes);
  memcpy(seen->bytes + seen->item_bytes, data, length);
  seen->item_bytes += length;
}

/* ---- a life -------------------------------------------------------------------------------------------------------- */

/* Not cut to nothing first: some file systems then flush what is written next, when it is closed. */
static void put_file(void) {
  const int fd = open(scene.path, O_WRONLY | O_CREAT, 0600);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, scene.file, scene.size), (ssize_t)scene.size);
  assert_int_equal(ftruncate(fd, (off_t)scene.size), 0);
  assert_int_equal(close(fd), 0);
}

/* What a writer finds: nothing, or a file that is longer and has nothing of the right one. */
static void put_old_file(enum weir_target target) {
  static unsigned char old[FILE_MAX];
  (void)unlink(scene.path);
  if (target == WEIR_TARGET_NEW) return;
  memset(old, 0xee, sizeof old);
  const int fd = open(scene.path, O_WRONLY | O_CREAT, 0600);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, old, scene.size + 100), (ssize_t)scene.size + 100);
  assert_int_equal(close(fd), 0);
}

static bool file_is_right(void) {
  static unsigned char found[FILE_MAX + 1];
  const int fd = open(scene.path, O_RDONLY);
  if (fd < 0) return false;
  const ssize_t count = read(fd, found, sizeof found);
  assert_int_equal(close(fd), 0);
  return count == (ssize_t)scene.size && memcmp(found, scene.file, scene.size) == 0;
}

static unsigned descriptors(void) {
  unsigned count = 0;
  DIR *list = opendir("/proc/self/fd");
  assert_non_null(list);
  while (readdir(list)) count++;
  (void)closedir(list);
  return count;
}

static int call(int error, int next) { return error ? error : next; }

static void pass(const struct life *life, const struct weir_job *job, void *state, struct result *result) {
  const struct weir_method *m = life->method;
  scene.seen.item_count = scene.seen.item_bytes = 0;
  result->flow = (struct weir_flow){.mode = life->consumer, .stop = &scene.stop, .deliver = see_bytes, .item = see_item};
  int error = m->open(state, job);
  if (error) {
    result->error = error;
    return;
  }
  error = m->run(state, job, &result->flow, life->budget);
  if (!error && life->durability == WEIR_DURABILITY_END && m->sync) error = m->sync(state, job);
  result->error = call(error, m->close(state, job));
  if (error) result->error = error;
}

/* What the last pass gave. */
static void live(const struct life *life, struct result *result) {
  const struct weir_method *m = life->method;
  const unsigned before = descriptors();
  struct weir_job job = {.abi = WEIR_METHOD_ABI, .struct_size = sizeof job, .task = life->task, .data = m->data};
  job.direction = life->direction;
  job.durability = life->durability;
  job.target = life->target;
  job.consumer = life->consumer;
  job.path = scene.path;
  job.directory = scene.directory;
  job.file_size = job.part_length = job.block = scene.size;
  job.instances = 1;
  job.params = life->params;
  job.blocks = job.operations = 1;
  job.host = &host;
  job.reason = &scene.reason;
  job.input = life->input;
  *result = (struct result){.unavailable = false};
  memset(&scene.reason, 0, sizeof scene.reason);
  atomic_store(&scene.stop, life->stopped);
  if (life->direction == WEIR_READ && !life->as_it_is) put_file();
  if (life->missing) assert_int_equal(truncate(scene.path, (off_t)(scene.size - life->missing)), 0);
  void *state = calloc(1, m->state_size ? m->state_size : 1);
  assert_non_null(state);
  result->unavailable = m->probe && m->probe(&job, &scene.reason) < 0;
  if (!result->unavailable) {
    result->error = m->setup(state, &job);
    for (unsigned i = 0; i < (life->passes ? life->passes : 2) && !result->error; i++) {
      if (life->direction == WEIR_WRITE && !life->as_it_is) put_old_file(life->target);
      pass(life, &job, state, result);
    }
    m->teardown(state, &job);
  }
  free(state);
  if (scene.buffers) fail_life(life, result, "buffers leaked");
  if (descriptors() != before) fail_life(life, result, "descriptors leaked");
  if (!result->unavailable && result->error && !scene.reason.text[0]) fail_life(life, result, "no reason");
}

/* ---- all of the list, in all forms --------------------------------------------------------------------------------- */

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

/* The values that a parameter takes here, besides its preset. */
static unsigned value_count(const struct weir_param *param) {
  if (param->kind != WEIR_PARAM_CHOICE) return 4;
  unsigned count = 1;
  for (const char *at = param->choices; *at; at++) count += *at == '|';
  return count;
}
static uint64_t value_of(const struct weir_param *param, unsigned index) {
  static const uint64_t sizes[] = {1, 7, 64, 1000};
  if (param->kind == WEIR_PARAM_CHOICE) return index;
  return sizes[index] < param->min ? param->min : sizes[index];
}

static unsigned lives; /* that were led in this test */

static bool meant(const struct weir_param *param, const struct life *life) {
  return !param->targets || (life->direction == WEIR_WRITE && (param->targets & WEIR_BIT(life->target)));
}

static void each_form(struct life *life, void (*each)(struct life *life)) {
  for (size_t i = 0; i < life->method->param_count; i++) life->params[i] = preset(&life->method->params[i]);
  each(life);
  for (size_t i = 0; i < life->method->param_count && !life->plain; i++) {
    const struct weir_param *param = &life->method->params[i];
    const uint64_t kept = life->params[i];
    for (unsigned value = 0; meant(param, life) && value < value_count(param); value++) {
      life->params[i] = value_of(param, value);
      if (life->params[i] != kept) each(life);
    }
    life->params[i] = kept;
  }
}

static bool is_ours(const struct weir_method *method, enum weir_task task, enum weir_direction direction) {
  static const char family[] = "records/";
  if (!(method->tasks & WEIR_BIT(task)) || !(method->directions & WEIR_BIT(direction))) return false;
  return task != WEIR_TASK_TEXT || strncmp(method->name, family, sizeof family - 1) == 0;
}

static void for_each_method(const struct life *pattern, void (*each)(struct life *life)) {
  unsigned methods = 0;
  lives = 0;
  for (const struct weir_method *const *at = methods_list; *at; at++) {
    if (!is_ours(*at, pattern->task, pattern->direction)) continue;
    struct life life = *pattern;
    life.method = *at;
    life.budget = UINT64_MAX;
    each_form(&life, each);
    methods++;
  }
  assert_true(methods >= 3 && (lives > methods || pattern->plain));
}

/* False where it is not available here, which is said. */
static bool lead(const struct life *life, struct result *result) {
  live(life, result);
  lives++;
  if (result->unavailable) print_message("SKIPPED %s: %s\n", life->method->name, scene.reason.text);
  return !result->unavailable;
}

/* ---- packed records ------------------------------------------------------------------------------------------------ */

static const size_t text_lengths[] = {0, 1, 127, 128, 3, 300}, body_lengths[] = {0, 5, 1, 130, 40, 2};
#define RECORD_COUNT (sizeof text_lengths / sizeof text_lengths[0])

static struct weir_span spans[2 * RECORD_COUNT];
static struct weir_input records_input;

static void add(size_t length, unsigned seed) {
  for (size_t i = 0; i < length; i++) scene.file[scene.size++] = (unsigned char)('a' + (i + seed) % 26);
}

/* The file, and its fields for writers. */
static void make_records(void) {
  static unsigned char copy[FILE_MAX];
  size_t at = 0;
  scene.size = 0;
  for (unsigned i = 0; i < 4; i++) scene.file[scene.size++] = i == 0 ? (unsigned char)RECORD_COUNT : 0;
  for (unsigned i = 0; i < RECORD_COUNT; i++) {
    const size_t text = text_lengths[i], body = body_lengths[i];
    if (text >= 128) scene.file[scene.size++] = (unsigned char)(text % 128 + 128);
    scene.file[scene.size++] = (unsigned char)(text >= 128 ? text / 128 : text);
    spans[2 * i].data = (const char *)copy + scene.size;
    spans[2 * i].size = text;
    add(text, i);
    const unsigned char length[4] = {(unsigned char)body, 0, 0, 0};
    memcpy(scene.file + scene.size, length, 4);
    scene.size += 4;
    spans[2 * i + 1].data = (const char *)copy + scene.size;
    spans[2 * i + 1].size = body;
    add(body, 100 + i);
  }
  for (; at < scene.size; at++) copy[at] = scene.file[at];
  records_input =
      (struct weir_input){.data = (const char *)copy, .size = scene.size, .items = spans, .item_count = 2 * RECORD_COUNT};
}

/* The slow parser: each byte by itself. */
static bool next_byte(size_t *at, unsigned *out) {
  if (*at == scene.size) return false;
  *out = scene.file[(*at)++];
  return true;
}
static bool slow_u32(size_t *at, uint64_t *out) {
  unsigned byte = 0;
  *out = 0;
  for (unsigned i = 0; i < 4; i++) {
    if (!next_byte(at, &byte)) return false;
    *out += (uint64_t)byte << 8 * i;
  }
  return true;
}
static bool slow_varint(size_t *at, uint64_t *out) {
  unsigned byte = 128;
  *out = 0;
  for (unsigned i = 0; byte >= 128; i++) {
    if (i == 5 || !next_byte(at, &byte)) return false;
    *out += (uint64_t)(byte % 128) << 7 * i;
  }
  return *out <= UINT32_MAX;
}
static bool slow_field(size_t *at, uint64_t length) {
  struct outcome *wanted = &scene.wanted;
  if (length > scene.size - *at) return false;
  wanted->lengths[wanted->item_count++] = (size_t)length;
  for (uint64_t i = 0; i < length; i++) wanted->bytes[wanted->item_bytes++] = scene.file[(*at)++];
  return true;
}
static void parse_slowly(void) {
  size_t at = 0;
  uint64_t count = 0, length = 0;
  scene.wanted.item_count = scene.wanted.item_bytes = 0;
  bool good = slow_u32(&at, &count);
  for (uint64_t i = 0; i < count && good; i++)
    good = slow_varint(&at, &length) && slow_field(&at, length) && slow_u32(&at, &length) && slow_field(&at, length);
  scene.wanted.good = good;
}

static bool same_items(void) {
  const struct outcome *a = &scene.seen, *b = &scene.wanted;
  return a->item_count == b->item_count && a->item_bytes == b->item_bytes &&
         memcmp(a->lengths, b->lengths, a->item_count * sizeof a->lengths[0]) == 0 &&
         memcmp(a->bytes, b->bytes, a->item_bytes) == 0;
}

static void check_records(struct life *life) {
  struct result result;
  if (!lead(life, &result)) return;
  if ((result.error == 0) != scene.wanted.good) fail_life(life, &result, "other than the slow parser");
  if (result.flow.operations != (scene.wanted.good ? 1 : 0)) fail_life(life, &result, "operations");
  if (!same_items()) fail_life(life, &result, "other fields than the slow parser");
}

static const struct life read_records = {.task = WEIR_TASK_RECORDS, .consumer = WEIR_CONSUMER_VERIFY};

static void files_cut_at_every_byte(void **unused) {
  make_records();
  const size_t whole = scene.size;
  for (scene.size = 0; scene.size <= whole; scene.size++) {
    parse_slowly();
    assert_true(scene.wanted.good == (scene.size == whole));
    for_each_method(&read_records, check_records);
  }
}

static void every_byte_damaged(void **unused) {
  static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};
  unsigned bad = 0;
  make_records();
  for (size_t at = 0; at < scene.size; at++) {
    const unsigned char kept = scene.file[at];
    /* Inside of a field nothing but the field changes: one value tells that. */
    const bool inside = kept >= 'a' && kept <= 'z';
    for (size_t i = 0; i < (inside ? 1 : sizeof values); i++) {
      scene.file[at] = values[i];
      parse_slowly();
      bad += !scene.wanted.good;
      for_each_method(&read_records, check_records);
    }
    scene.file[at] = kept;
  }
  assert_true(bad > 20);
}

/* Every length of four bytes and of seven bits, as hostile as it goes. */
static void hostile_lengths(void **unused) {
  static const unsigned char files[][12] = {
      {1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f, 'a', 'b', 'c'},    /* a text of 4 GiB - 1 */
      {1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, /* a length without an end */
      {1, 0, 0, 0, 1, 'a', 0xff, 0xff, 0xff, 0xff, 'b', 'c'},       /* bytes, 4 GiB - 1 of them */
      {0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0},             /* 4 Gi records */
      {1, 0, 0, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80}, /* a zero without an end */
  };
  for (size_t i = 0; i < METHODS_COUNT(files); i++) {
    scene.size = sizeof files[i];
    memcpy(scene.file, files[i], scene.size);
    parse_slowly();
    assert_false(scene.wanted.good);
    for_each_method(&read_records, check_records);
  }
}

static void what_stands_behind_the_records_is_left_alone(void **unused) {
  make_records();
  memset(scene.file + scene.size, 0xff, 1000);
  scene.size += 1000;
  parse_slowly();
  assert_true(scene.wanted.good && scene.wanted.item_count == 2 * RECORD_COUNT);
  for_each_method(&read_records, check_records);
}

static void check_stop(struct life *life) {
  struct result result;
  if (!lead(life, &result)) return;
  if (result.error || result.flow.operations) fail_life(life, &result, "stopped, but done");
}
static void check_stopped_items(struct life *life) {
  struct result result;
  scene.stop_after = 4;
  life->passes = 1;
  const bool here = lead(life, &result);
  scene.stop_after = 0;
  if (here && (result.error || result.flow.operations || scene.seen.item_count < 4 || scene.seen.item_count > 5))
    fail_life(life, &result, "did not stop");
}
static void a_stopped_pass_does_not_count(void **unused) {
  make_records();
  for_each_method(&read_records, check_stopped_items);
  struct life life = read_records;
  life.stopped = true;
  for_each_method(&life, check_stop);
  life = (struct life){.task = WEIR_TASK_RECORDS, .direction = WEIR_WRITE, .stopped = true, .input = &records_input};
  life.target = WEIR_TARGET_NEW;
  for_each_method(&life, check_stop);
}

static void check_no_budget(struct life *life) {
  struct result result;
  life->budget = 0;
  if (!lead(life, &result)) return;
  if (result.error || result.flow.operations || result.flow.items) fail_life(life, &result, "worked without a budget");
}
static void no_budget_is_no_work(void **unused) {
  make_records();
  for_each_method(&read_records, check_no_budget);
}

static void check_touch(struct life *life) {
  struct weir_flow flow = {.mode = WEIR_CONSUMER_TOUCH};
  struct result result;
  if (!lead(life, &result)) return;
  for (size_t i = 0; i < 2 * RECORD_COUNT; i++) weir_item(&flow, spans[i].data, spans[i].size);
  if (result.error || result.flow.sum != flow.sum || result.flow.bytes != flow.bytes || result.flow.items != flow.items)
    fail_life(life, &result, "sum");
}
static void touched_fields_have_one_sum(void **unused) {
  struct life life = read_records;
  make_records();
  life.consumer = WEIR_CONSUMER_TOUCH;
  for_each_method(&life, check_touch);
}

/* ---- writers ------------------------------------------------------------------------------------------------------- */

static void check_written(struct life *life) {
  struct result result;
  if (!lead(life, &result)) return;
  if (result.error || result.flow.operations != 1) fail_life(life, &result, "failed");
  if (result.flow.bytes != scene.size) fail_life(life, &result, "bytes");
  if (!file_is_right()) fail_life(life, &result, "file");
}

static void write_in_all_ways(enum weir_task task, const struct weir_input *input) {
  static const enum weir_target targets[] = {WEIR_TARGET_NEW, WEIR_TARGET_TRUNCATE};
  for (unsigned i = 0; i < 6; i++) {
    struct life life = {.task = task, .direction = WEIR_WRITE, .input = input, .target = targets[i % 2]};
    life.durability = (enum weir_durability)(i / 2);
    life.plain = i > 0; /* what waits for the disk is done once for each method */
    for_each_method(&life, check_written);
  }
}

static void written_records_are_the_file(void **unused) {
  make_records();
  write_in_all_ways(WEIR_TASK_RECORDS, &records_input);
}

/* ---- typed values -------------------------------------------------------------------------------------------------- */

static struct weir_input typed_input;

static void store(uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; i++) scene.file[scene.size++] = (unsigned char)(value >> 8 * i);
}

static void make_typed(size_t count) {
  uint64_t word = 0x5eed, bits;
  scene.size = 0;
  for (size_t i = 0; i < count; i++) {
    word = word * UINT64_C(6364136223846793005) + 1442695040888963407u;
    struct weir_typed *typed = &scene.typed[i];
    typed->number = i == 0 ? INT32_MIN : (int32_t)(word >> 32);
    typed->kind = i == 1 ? -1 : (int32_t)i;
    typed->value = (double)(int64_t)word / 3;
    typed->time = i == 2 ? INT64_MIN : (int64_t)(word * 3);
    memcpy(&bits, &typed->value, sizeof bits);
    store((uint32_t)typed->number, 4);
    store((uint32_t)typed->kind, 4);
    store(bits, 8);
    store((uint64_t)typed->time, 8);
  }
  typed_input =
      (struct weir_input){.data = (const char *)scene.file, .size = scene.size, .typed = scene.typed, .typed_count = count};
}

static uint64_t value_at(size_t struct_at, unsigned field) {
  static const unsigned at[] = {0, 4, 8, 16}, sizes[] = {4, 4, 8, 8};
  uint64_t value = 0;
  for (unsigned i = 0; i < sizes[field]; i++) value += (uint64_t)scene.file[struct_at + at[field] + i] << 8 * i;
  if (sizes[field] == 4 && value >> 31) value |= UINT64_C(0xffffffff00000000);
  return value;
}

static void check_typed(struct life *life) {
  struct result result;
  uint64_t sum = 0, values = 0;
  if (!lead(life, &result)) return;
  if (scene.size % 24) {
    if (result.error == 0 || result.flow.operations) fail_life(life, &result, "took a part for a struct");
    return;
  }
  for (size_t at = 0; at < scene.size; at += 24)
    for (unsigned field = 0; field < 4; field++) sum += value_at(at, field) * (2 * ++values + 1);
  if (result.error || result.flow.operations != 1) fail_life(life, &result, "failed");
  if (result.flow.values != values || result.flow.sum != sum) fail_life(life, &result, "values");
}

static const struct life read_typed = {.task = WEIR_TASK_TYPED, .consumer = WEIR_CONSUMER_VERIFY};

static void typed_files_cut_at_every_byte(void **unused) {
  make_typed(10);
  for (scene.size = 0; scene.size <= 240; scene.size++) for_each_method(&read_typed, check_typed);
}
static void typed_values_are_those_of_the_file(void **unused) {
  make_typed(TYPED_MAX);
  for_each_method(&read_typed, check_typed);
  struct life life = read_typed;
  life.stopped = true;
  for_each_method(&life, check_stop);
}
static void written_values_are_the_file(void **unused) {
  make_typed(0);
  write_in_all_ways(WEIR_TASK_TYPED, &typed_input);
  make_typed(300);
  write_in_all_ways(WEIR_TASK_TYPED, &typed_input);
  struct life life = {.task = WEIR_TASK_TYPED, .direction = WEIR_WRITE, .input = &typed_input, .stopped = true};
  life.target = WEIR_TARGET_NEW;
  for_each_method(&life, check_stop);
}

/* ---- byte by byte -------------------------------------------------------------------------------------------------- */

static void check_bytes(struct life *life) {
  struct result result;
  if (!lead(life, &result)) return;
  if (result.error || result.flow.operations != 1 || result.flow.bytes != scene.size) fail_life(life, &result, "failed");
  if (scene.seen.item_bytes != scene.size || memcmp(scene.seen.bytes, scene.file, scene.size) != 0)
    fail_life(life, &result, "bytes");
}
static void bytes_come_in_order(void **unused) {
  static const size_t sizes[] = {0, 1, 4095, 4096, 4097, 99991};
  struct life life = {.task = WEIR_TASK_TEXT, .consumer = WEIR_CONSUMER_VERIFY};
  for (size_t i = 0; i < METHODS_COUNT(sizes); i++) {
    for (scene.size = 0; scene.size < sizes[i]; scene.size++) /* zeros and 0xff, which getc must not take for an end */
      scene.file[scene.size] = (unsigned char)(scene.size % 3 ? scene.size * 7 : 0xff);
    for_each_method(&life, check_bytes);
  }
  life.stopped = true;
  for_each_method(&life, check_stop);
}

/* ---- when the world does not play along ---------------------------------------------------------------------------- */

static struct {
  unsigned calls, met;
  size_t most;    /* bytes a call */
  bool interrupt; /* every second call says EINTR */
  uint64_t limit; /* the byte at which all calls end with `error`; 0: none */
  int error;
} fault;

static bool refuse(uint64_t offset) {
  fault.met++;
  if (fault.interrupt && ++fault.calls % 2) {
    errno = EINTR;
    return true;
  }
  if (!fault.limit || offset < fault.limit) return false;
  errno = fault.error;
  return true;
}
static size_t cut(uint64_t offset, size_t length) {
  if (fault.most && length > fault.most) length = fault.most;
  if (fault.limit && fault.limit - offset < length) length = (size_t)(fault.limit - offset);
  return length;
}
static uint64_t place(int fd) { return (uint64_t)lseek(fd, 0, SEEK_CUR); }
static ssize_t bad_read(int fd, void *data, size_t length) {
  return refuse(place(fd)) ? -1 : read(fd, data, cut(place(fd), length));
}
static ssize_t bad_pread(int fd, void *data, size_t length, off_t offset) {
  return refuse((uint64_t)offset) ? -1 : pread(fd, data, cut((uint64_t)offset, length), offset);
}
static ssize_t bad_write(int fd, const void *data, size_t length) {
  return refuse(place(fd)) ? -1 : write(fd, data, cut(place(fd), length));
}
static ssize_t bad_pwrite(int fd, const void *data, size_t length, off_t offset) {
  return refuse((uint64_t)offset) ? -1 : pwrite(fd, data, cut((uint64_t)offset, length), offset);
}

static void override(bool on) {
  assert_non_null(os_override("read", on ? (os_function *)bad_read : NULL));
  assert_non_null(os_override("pread", on ? (os_function *)bad_pread : NULL));
  assert_non_null(os_override("write", on ? (os_function *)bad_write : NULL));
  assert_non_null(os_override("pwrite", on ? (os_function *)bad_pwrite : NULL));
}

static unsigned methods_met;

static void with_short_calls(struct life *life) {
  memset(&fault, 0, sizeof fault);
  fault.most = 5;
  fault.interrupt = true;
  override(true);
  if (life->direction == WEIR_WRITE) check_written(life);
  if (life->direction == WEIR_READ && life->task == WEIR_TASK_RECORDS) check_records(life);
  if (life->direction == WEIR_READ && life->task == WEIR_TASK_TYPED) check_typed(life);
  override(false);
  methods_met += fault.met > 0;
}

/* What makes its own calls does not meet the fault. A writer may notice where it flushes or closes. */
static void with_an_error(struct life *life) {
  struct result result;
  memset(&fault, 0, sizeof fault);
  fault.limit = scene.size / 2;
  fault.error = life->direction == WEIR_WRITE ? ENOSPC : EIO;
  override(true);
  const bool here = lead(life, &result);
  override(false);
  methods_met += fault.met > 0;
  if (!here || fault.met == 0) return;
  if (result.error != -fault.error || result.flow.operations > (life->direction == WEIR_WRITE ? 1 : 0))
    fail_life(life, &result, "other than the error that there was");
}

static void go_through(const struct life *life, void (*each)(struct life *life)) {
  methods_met = 0;
  for_each_method(life, each);
  assert_true(methods_met >= 2);
}
static void short_calls_and_errors(void **unused) {
  struct life write = {.direction = WEIR_WRITE, .target = WEIR_TARGET_NEW};
  make_records();
  parse_slowly();
  write.task = WEIR_TASK_RECORDS;
  write.input = &records_input;
  go_through(&read_records, with_short_calls);
  go_through(&read_records, with_an_error);
  go_through(&write, with_short_calls);
  go_through(&write, with_an_error);
  make_typed(100);
  write.task = WEIR_TASK_TYPED;
  write.input = &typed_input;
  go_through(&read_typed, with_short_calls);
  go_through(&read_typed, with_an_error);
  go_through(&write, with_short_calls);
  go_through(&write, with_an_error);
}

/* The file is shorter than the job says: an error, never a pass that counts. */
static void check_ended(struct life *life) {
  struct result result;
  if (!lead(life, &result)) return;
  if (result.error >= 0 || result.flow.operations) fail_life(life, &result, "no error");
}
static void files_that_end_early_are_errors(void **unused) {
  struct life life = read_records;
  make_records();
  life.missing = 60;
  for_each_method(&life, check_ended);
  make_typed(100);
  life = read_typed;
  life.missing = 48;
  for_each_method(&life, check_ended);
  life = (struct life){.task = WEIR_TASK_TEXT, .consumer = WEIR_CONSUMER_VERIFY, .missing = 1};
  for_each_method(&life, check_ended);
}

static void check_refused(struct life *life) {
  struct result result;
  live(life, &result);
  lives++;
  const int wanted = life->direction == WEIR_READ ? -ENOENT : -EEXIST;
  if (result.unavailable ? !scene.reason.text[0] : result.error != wanted) fail_life(life, &result, "not refused");
}
static void files_that_are_not_there_and_those_that_are(void **unused) {
  struct life read = read_records, write = {.task = WEIR_TASK_RECORDS, .direction = WEIR_WRITE, .input = &records_input};
  read.as_it_is = write.as_it_is = true;
  write.target = WEIR_TARGET_NEW;
  make_records();
  put_file();
  for_each_method(&write, check_refused);
  assert_true(file_is_right());
  make_typed(10);
  write.task = WEIR_TASK_TYPED;
  write.input = &typed_input;
  put_file();
  for_each_method(&write, check_refused);
  assert_true(file_is_right());
  (void)unlink(scene.path);
  for_each_method(&read, check_refused);
  read.task = WEIR_TASK_TYPED;
  for_each_method(&read, check_refused);
}

/* ---- begin and end ------------------------------------------------------------------------------------------------- */

static int begin(void **unused) {
  char name[] = "weir-packed-XXXXXX", here[PATH_MAX - 32];
  if (!mkdtemp(name) || !getcwd(here, sizeof here)) return -1;
  (void)snprintf(scene.directory, sizeof scene.directory, "%s/%s", here, name);
  (void)snprintf(scene.path, sizeof scene.path, "%s/file", scene.directory);
  return 0;
}
static int finish(void **unused) {
  (void)unlink(scene.path);
  return rmdir(scene.directory);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(files_cut_at_every_byte),
      cmocka_unit_test(every_byte_damaged),
      cmocka_unit_test(hostile_lengths),
      cmocka_unit_test(what_stands_behind_the_records_is_left_alone),
      cmocka_unit_test(a_stopped_pass_does_not_count),
      cmocka_unit_test(no_budget_is_no_work),
      cmocka_unit_test(touched_fields_have_one_sum),
      cmocka_unit_test(written_records_are_the_file),
      cmocka_unit_test(typed_files_cut_at_every_byte),
      cmocka_unit_test(typed_values_are_those_of_the_file),
      cmocka_unit_test(written_values_are_the_file),
      cmocka_unit_test(bytes_come_in_order),
      cmocka_unit_test(short_calls_and_errors),
      cmocka_unit_test(files_that_end_early_are_errors),
      cmocka_unit_test(files_that_are_not_there_and_those_that_are),
  };
  return cmocka_run_group_tests_name("packed", tests, begin, finish);
}
