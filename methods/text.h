/*
 * text.h - what the readers of whole texts share: a text that grows, and a reader of UTF-16 units on top of a feed.
 */
#ifndef WEIR_TEXT_H
#define WEIR_TEXT_H

#include "decode.h"
#include "feed.h"

/* How the bytes are to become text; the order of the words of TEXT_PARAM_DECODE. */
enum text_decode { TEXT_UTF16, TEXT_UTF8 };
#define TEXT_PARAM_DECODE(tried)                                                                                        \
  {                                                                                                                     \
    .name = "decode", .kind = WEIR_PARAM_CHOICE, .preset = "utf16", .sweep = (tried), .choices = "utf16|utf8",          \
    WEIR_PARAM_EVERYWHERE, .help = "utf16: the bytes become UTF-16 units; utf8: they stay, and are looked through only" \
  }

/* A size between 1 byte and 1 GiB. */
#define TEXT_PARAM_SIZE(word, usual, tried, text)                                                                     \
  {                                                                                                                   \
    .name = (word), .kind = WEIR_PARAM_SIZE, .preset = (usual), .sweep = (tried), .min = 1, .max = UINT64_C(1) << 30, \
    WEIR_PARAM_EVERYWHERE, .help = (text)                                                                             \
  }

int text_no_memory(const struct weir_job *job);
/* What decoding needs of memory for the job's file has to fit into the address space. For setup. */
int text_check_size(const struct weir_job *job);

/* ---- a text that grows --------------------------------------------------------------------------------------------- */

/* `count` items of `unit` bytes: 1 or 2. */
struct text {
  char *data;
  size_t count, room, unit;
};
static inline void text_begin(struct text *t, size_t unit) { *t = (struct text){.unit = unit}; }
/* Memory for `more` items; doubles what there is. */
int text_grow(struct text *t, const struct weir_job *job, size_t more);
/* Gives back what is not used. */
int text_trim(struct text *t, const struct weir_job *job);
void text_free(struct text *t);

static inline int text_reserve(struct text *t, const struct weir_job *job, size_t more) {
  return t->room - t->count >= more ? 0 : text_grow(t, job, more);
}
static inline uint16_t *text_units(const struct text *t) { return (uint16_t *)(void *)t->data + t->count; }

/* Adds items. */
static inline int text_append(struct text *t, const struct weir_job *job, const void *items, size_t count) {
  int error = text_reserve(t, job, count);
  if (error) return error;
  if (count) memcpy(t->data + t->count * t->unit, items, count * t->unit);
  t->count += count;
  return 0;
}

/* Adds the units of a piece of UTF-8, or of its end. */
static inline int text_append_decoded(struct text *t, const struct weir_job *job, struct decode *d, const void *data,
                                      size_t length) {
  int error = text_reserve(t, job, decode_room(length));
  if (!error) t->count += decode_units(d, data, length, text_units(t));
  return error;
}
static inline int text_append_end(struct text *t, const struct weir_job *job, struct decode *d) {
  int error = text_reserve(t, job, 1);
  if (!error) t->count += decode_end(d, text_units(t));
  return error;
}

static inline void text_deliver_units(const struct text *t, struct weir_flow *flow) {
  if (t->count > 0) weir_units(flow, (const uint16_t *)(const void *)t->data, t->count);
}

/* ---- units one block after the other ------------------------------------------------------------------------------- */

struct text_chars {
  struct feed *feed;
  struct decode decode;
  char *bytes;     /* of one read */
  uint16_t *units; /* of these bytes, not yet taken from `begin` on */
  size_t room, begin, end;
  bool ended;
};
int text_chars_setup(struct text_chars *c, const struct weir_job *job, uint64_t room);
void text_chars_open(struct text_chars *c, struct feed *feed);
void text_chars_teardown(struct text_chars *c);
/* Reads until there is a unit: 1, 0 at the end, or an error. */
int text_chars_load(struct text_chars *c);
/* Is there one? */
static inline int text_chars_peek(struct text_chars *c) { return c->begin < c->end ? 1 : text_chars_load(c); }
/* Until there are `count` or the file ends; how many. */
int64_t text_chars_read(struct text_chars *c, uint16_t *out, size_t count);

#endif
