/*
 * reference.c - streams taken apart byte by byte. Nothing here is fast or shared with any method: that is its use.
 */
#include "measure/reference.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "measure/generate.h"
#include "measure/made.h"
#include "os/os.h"

#define REPLACEMENT 0xfffdu

/* ---- lists that grow ---- */

struct spans {
  struct weir_span *list;
  size_t count, room;
};

static int add_span(struct spans *spans, const unsigned char *data, size_t size) {
  if (spans->count == spans->room) {
    const size_t room = spans->room ? 2 * spans->room : 1024;
    struct weir_span *list = realloc(spans->list, room * sizeof *list);
    if (!list) return -ENOMEM;
    spans->list = list;
    spans->room = room;
  }
  spans->list[spans->count++] = (struct weir_span){(const char *)data, size};
  return 0;
}

/* ---- lines ---- */

/* With or without their ends. */
static int split_lines(const struct reference *r, bool ends, struct weir_span **out, size_t *count) {
  struct spans spans = {0};
  int code = 0;
  for (size_t begin = 0, at = 0; at < r->size && code == 0; at++) {
    const bool last = at + 1 == r->size, newline = r->data[at] == '\n';
    if (!newline && !last) continue;
    size_t stop = at + 1;
    if (!ends && newline) stop--;
    if (!ends && newline && stop > begin && r->data[stop - 1] == '\r') stop--;
    code = add_span(&spans, r->data + begin, stop - begin);
    begin = at + 1;
  }
  *out = spans.list;
  *count = spans.count;
  return code;
}

/* ---- records ---- */

static bool take_number(const struct reference *r, size_t *at, uint32_t *out) {
  if (r->size - *at < 4) return false;
  *out = (uint32_t)r->data[*at] | (uint32_t)r->data[*at + 1] << 8 | (uint32_t)r->data[*at + 2] << 16 |
         (uint32_t)r->data[*at + 3] << 24;
  *at += 4;
  return true;
}

static bool take_varint(const struct reference *r, size_t *at, uint32_t *out) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 35; shift += 7) {
    if (*at == r->size) return false;
    const unsigned char byte = r->data[(*at)++];
    value |= (uint64_t)(byte & 127) << shift;
    if (byte & 128) continue;
    *out = (uint32_t)value;
    return value <= UINT32_MAX;
  }
  return false;
}

static int split_records(struct reference *r) {
  struct spans spans = {0};
  uint32_t count = 0, size = 0;
  size_t at = 0;
  int code = take_number(r, &at, &count) ? 0 : -EBADMSG;
  for (uint64_t field = 0; field < 2 * (uint64_t)count && code == 0; field++) {
    const bool good = field % 2 == 0 ? take_varint(r, &at, &size) : take_number(r, &at, &size);
    if (!good || r->size - at < size) code = -EBADMSG;
    if (code == 0) code = add_span(&spans, r->data + at, size);
    at += size;
  }
  r->items = spans.list;
  r->item_count = spans.count;
  return code;
}

/* ---- text: UTF-8, what is none becomes U+FFFD, one for each longest part that could have begun a character ---- */

struct lead {
  unsigned more;           /* bytes behind it */
  unsigned char low, high; /* what the first of them may be */
};

static struct lead lead_of(unsigned char byte) {
  if (byte >= 0xc2 && byte <= 0xdf) return (struct lead){1, 0x80, 0xbf};
  if (byte == 0xe0) return (struct lead){2, 0xa0, 0xbf};
  if (byte == 0xed) return (struct lead){2, 0x80, 0x9f};
  if (byte >= 0xe1 && byte <= 0xef) return (struct lead){2, 0x80, 0xbf};
  if (byte == 0xf0) return (struct lead){3, 0x90, 0xbf};
  if (byte == 0xf4) return (struct lead){3, 0x80, 0x8f};
  if (byte >= 0xf1 && byte <= 0xf3) return (struct lead){3, 0x80, 0xbf};
  return (struct lead){0, 0, 0};
}

static uint32_t next_character(const struct reference *r, size_t *at) {
  const unsigned char first = r->data[(*at)++];
  if (first < 0x80) return first;
  struct lead lead = lead_of(first);
  if (lead.more == 0) return REPLACEMENT;
  uint32_t value = first & (0x3fu >> lead.more);
  for (unsigned i = 0; i < lead.more; i++) {
    if (*at == r->size || r->data[*at] < lead.low || r->data[*at] > lead.high) return REPLACEMENT;
    value = value << 6 | (r->data[(*at)++] & 0x3fu);
    lead.low = 0x80;
    lead.high = 0xbf;
  }
  return value;
}

static int decode(struct reference *r) {
  static const unsigned char mark[3] = {0xef, 0xbb, 0xbf};
  r->mark = r->size >= sizeof mark && memcmp(r->data, mark, sizeof mark) == 0 ? sizeof mark : 0;
  r->units = malloc((r->size ? r->size : 1) * sizeof *r->units); /* no byte makes more than one unit */
  if (!r->units) return -ENOMEM;
  for (size_t at = r->mark; at < r->size;) {
    uint32_t value = next_character(r, &at);
    if (value >= 0x10000) {
      value -= 0x10000;
      r->units[r->unit_count++] = (uint16_t)(0xd800 | value >> 10);
      value = 0xdc00 | (value & 0x3ff);
    }
    r->units[r->unit_count++] = (uint16_t)value;
  }
  return 0;
}

/* ---- making it ---- */

static int take_apart(struct reference *r) {
  int code = 0;
  if (r->task == WEIR_TASK_LINES || r->task == WEIR_TASK_TEXT) code = split_lines(r, false, &r->items, &r->item_count);
  if (r->task == WEIR_TASK_RECORDS) code = split_records(r);
  if (code == 0 && r->task == WEIR_TASK_TEXT) code = decode(r);
  return code;
}

static int get_room(struct reference *r, enum weir_task task, uint64_t size) {
  void *data;
  *r = (struct reference){.task = task};
  if (size > REFERENCE_SIZE_MAX || size > SIZE_MAX / 4) return -EFBIG;
  const size_t room = size ? (size_t)size : 1;
  const int code = os_memory_get(room, 0, &data);
  if (code < 0) return code;
  r->data = data;
  r->room = room;
  r->size = (size_t)size;
  return 0;
}

static int finish(struct reference *r, int code) {
  if (code == 0) code = take_apart(r);
  if (code < 0) reference_free(r);
  return code;
}

int reference_load(struct reference *out, enum weir_task task, const char *path, uint64_t size) {
  os_file file;
  int code = get_room(out, task, size);
  if (code < 0) return code;
  code = os_open(path, OS_READ, &file);
  if (code < 0) return finish(out, code);
  const int64_t got = os_pread_full(file, out->data, out->size, 0);
  os_close(file);
  return finish(out, got < 0 ? (int)got : (uint64_t)got < size ? -ENODATA : 0);
}

static void fill_input(struct reference *r) {
  r->input = (struct weir_input){.data = (const char *)r->data, .size = r->size};
  if (r->lines) {
    r->input.items = r->lines;
    r->input.item_count = r->item_count;
  } else {
    r->input.items = r->items;
    r->input.item_count = r->item_count;
  }
  r->input.units = r->units;
  r->input.unit_count = r->unit_count;
  if (r->task != WEIR_TASK_TYPED) return;
  r->input.typed = (const struct weir_typed *)(const void *)r->data;
  r->input.typed_count = r->size / sizeof(struct weir_typed);
}

int reference_make(struct reference *out, const struct plan_demand *demand, uint64_t seed) {
  struct generate_options options = made_options(demand, seed);
  int code = get_room(out, demand->task, demand->size_bytes);
  if (code < 0) return code;
  code = made_fill(&options, out->data, out->size);
  code = finish(out, code);
  if (code == 0 && (demand->task == WEIR_TASK_LINES || demand->task == WEIR_TASK_TEXT))
    code = split_lines(out, true, &out->lines, &out->item_count);
  if (code == 0) fill_input(out);
  if (code < 0) reference_free(out);
  return code;
}

void reference_free(struct reference *r) {
  if (r->data) os_memory_put(r->data, r->room);
  free(r->items);
  free(r->lines);
  free(r->units);
  *r = (struct reference){0};
}

/* ---- sums, through the very functions that methods call ---- */

uint64_t reference_hash_item(uint64_t index, const void *data, size_t length) {
  return XXH3_64bits_withSeed(data, length, index);
}

static void hash_item(struct weir_flow *flow, const void *data, size_t length) {
  flow->sum += reference_hash_item(flow->items, data, length);
}

static void total_items(const struct reference *r, enum weir_consumer consumer, struct reference_total *out) {
  struct weir_flow flow = {.mode = consumer == WEIR_CONSUMER_HASH ? consumer : WEIR_CONSUMER_TOUCH, .item = hash_item};
  for (size_t i = 0; i < r->item_count; i++) weir_item(&flow, r->items[i].data, r->items[i].size);
  *out = (struct reference_total){true, true, flow.items, flow.bytes, flow.sum};
}

static uint64_t typed_value(const struct weir_typed *typed, unsigned field) {
  uint64_t value;
  switch (field) {
    case 0:
      return (uint64_t)(int64_t)typed->number;
    case 1:
      return (uint64_t)(int64_t)typed->kind;
    case 2:
      memcpy(&value, &typed->value, sizeof value);
      return value;
    default:
      return (uint64_t)typed->time;
  }
}

static void total_values(const struct reference *r, struct reference_total *out) {
  struct weir_flow flow = {.mode = WEIR_CONSUMER_TOUCH};
  for (size_t at = 0; at + sizeof(struct weir_typed) <= r->size; at += sizeof(struct weir_typed)) {
    struct weir_typed typed;
    memcpy(&typed, r->data + at, sizeof typed);
    for (unsigned field = 0; field < 4; field++) weir_value(&flow, typed_value(&typed, field));
  }
  *out = (struct reference_total){true, true, flow.values, 0, flow.sum};
}

void reference_totals(const struct reference *r, enum weir_consumer consumer, struct reference_total out[REFERENCE_FORMS]) {
  const bool hash = consumer == WEIR_CONSUMER_HASH; /* of bytes it depends on how they are cut */
  memset(out, 0, REFERENCE_FORMS * sizeof *out);
  if (r->task == WEIR_TASK_TYPED) {
    total_values(r, &out[REFERENCE_VALUES]);
    return;
  }
  total_items(r, consumer, &out[REFERENCE_ITEMS]);
  if (r->task != WEIR_TASK_TEXT) return;
  out[REFERENCE_BYTES] = (struct reference_total){true, !hash, r->size, r->size, weir_touch(0, r->data, r->size)};
  out[REFERENCE_UNITS] =
      (struct reference_total){true, !hash, r->unit_count, 2 * r->unit_count, weir_touch(0, r->units, 2 * r->unit_count)};
}
