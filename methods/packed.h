/*
 * packed.h - the format of packed records (WEIR_RECORDS_FORMAT): its lengths, and the loop that takes a file apart.
 *
 * A reader brings the calls that get at the next bytes as a struct packed_way. The way is a constant of the run function
 * that hands it over, so the compiler folds it into the loop. No length is believed before it was compared with what is left
 * of the file.
 */
#ifndef WEIR_PACKED_H
#define WEIR_PACKED_H

#include <errno.h>

#include "little.h"
#include "target.h"
#include "weir/method.h"

#define PACKED_VARINT_MAX 5u /* bytes that 32 bits take in groups of 7 */
#define PACKED_LENGTH_MAX 4u /* bytes of a length that are taken at once */

/* Where a reader stands, the first member of its state. */
struct packed_place {
  uint64_t at; /* the next byte in the file */
  int error;   /* of the call that gave NULL */
};

/* The next `length` bytes, which the file has, in one piece that is valid until the next call; moves `at`. NULL: told. */
typedef const unsigned char *packed_take(void *state, const struct weir_job *job, size_t length);
struct packed_way {
  packed_take *length; /* 1 ... PACKED_LENGTH_MAX bytes of a length or a count */
  packed_take *field;
  void (*drop)(void *state); /* a field was handed over; NULL: nothing to do */
};

/* "a text of 77 bytes at byte 12 where 5 are left": -EBADMSG. */
int packed_malformed(const struct weir_job *job, const char *what, uint64_t length, uint64_t at);

/* `length` in groups of 7 bits; how many bytes that took. */
static inline size_t packed_varint(unsigned char out[PACKED_VARINT_MAX], uint32_t length) {
  size_t count = 0;
  for (; length >= 0x80; length >>= 7) out[count++] = (unsigned char)(length | 0x80);
  out[count++] = (unsigned char)length;
  return count;
}

#define PACKED_FOLDED static inline __attribute__((always_inline))

PACKED_FOLDED const unsigned char *packed_length_bytes(void *state, const struct weir_job *job, size_t count,
                                                       struct packed_way way) {
  struct packed_place *place = state;
  if (count <= job->file_size - place->at) return way.length(state, job, count);
  place->error = packed_malformed(job, "a length", count, place->at);
  return NULL;
}

PACKED_FOLDED int packed_u32(void *state, const struct weir_job *job, uint64_t *value, struct packed_way way) {
  const unsigned char *bytes = packed_length_bytes(state, job, 4, way);
  if (!bytes) return ((struct packed_place *)state)->error;
  *value = little_load32(bytes);
  return 0;
}

PACKED_FOLDED int packed_u7(void *state, const struct weir_job *job, uint64_t *value, struct packed_way way) {
  struct packed_place *place = state;
  *value = 0;
  for (unsigned i = 0; i < PACKED_VARINT_MAX; i++) {
    const unsigned char *byte = packed_length_bytes(state, job, 1, way);
    if (!byte) return place->error;
    const unsigned char bits = *byte;
    *value |= (uint64_t)(bits & 0x7f) << 7 * i;
    if (bits < 0x80 && *value <= UINT32_MAX) return 0;
    if (bits < 0x80) break;
  }
  return job->host->fail(job, -EBADMSG, "a length of more than 32 bits before byte %llu", (unsigned long long)place->at);
}

PACKED_FOLDED int packed_hand_over(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t length,
                                   struct packed_way way) {
  struct packed_place *place = state;
  if (length > job->file_size - place->at || (size_t)length != length)
    return packed_malformed(job, "a field", length, place->at);
  const unsigned char *data = way.field(state, job, (size_t)length);
  if (!data) return place->error;
  weir_item(flow, data, (size_t)length);
  if (way.drop) way.drop(state);
  return 0;
}

PACKED_FOLDED int packed_record(void *state, const struct weir_job *job, struct weir_flow *flow, struct packed_way way) {
  uint64_t length = 0;
  int error = packed_u7(state, job, &length, way);
  if (!error) error = packed_hand_over(state, job, flow, length, way);
  if (!error) error = packed_u32(state, job, &length, way);
  return error ? error : packed_hand_over(state, job, flow, length, way);
}

/* Hands over all fields of the file. What stands behind its last record is left alone. */
PACKED_FOLDED int packed_read(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget,
                              struct packed_way way) {
  uint64_t count = 0;
  *(struct packed_place *)state = (struct packed_place){0, 0};
  if (budget == 0) return 0;
  const uint64_t began = weir_operation_begin(flow);
  int error = packed_u32(state, job, &count, way);
  for (uint64_t i = 0; i < count && !error; i++) {
    if (weir_stopped(flow)) return 0;
    error = packed_record(state, job, flow, way);
  }
  if (!error) weir_operation_end(flow, began);
  return error;
}

#endif
