/*
 * reference.h - what a stream holds, found in the plainest way: its lines, its fields, its values, its text in UTF-16. Every
 * sample of a stream is compared with the sums from here, the pilot with the data themselves, and writers are given them.
 */
#ifndef WEIR_REFERENCE_H
#define WEIR_REFERENCE_H

#include "plan/plan.h"
#include "weir/method.h"

/* The forms in which a pass may hand over a stream. */
enum reference_form { REFERENCE_BYTES, REFERENCE_ITEMS, REFERENCE_UNITS, REFERENCE_VALUES, REFERENCE_FORMS };

/* What a whole pass in this form comes to. */
struct reference_total {
  bool allowed;  /* the task takes this form */
  bool has_sum;  /* `sum` is known; otherwise only counts are compared */
  uint64_t count; /* items, units, values; bytes of the form `bytes` */
  uint64_t bytes; /* as counted by the flow */
  uint64_t sum;
};

struct reference {
  enum weir_task task;
  struct weir_span *items; /* without lengths and line ends */
  size_t item_count;
  struct weir_span *lines; /* writers: lines with their ends */
  uint16_t *units;
  size_t unit_count;
  unsigned char *data; /* the file */
  size_t size, room;
  size_t mark; /* bytes of a byte order mark at its start, which is no part of the text */
  struct weir_input input;
};

/* The largest stream whose reference is kept in memory. */
#define REFERENCE_SIZE_MAX (UINT64_C(4) << 30)

/* From a file, by plain reads. 0; -EFBIG above REFERENCE_SIZE_MAX; -EBADMSG: no records; or what reading says. */
int reference_load(struct reference *out, enum weir_task task, const char *path, uint64_t size);
/* What a made file of this demand would hold; also fills `input`. */
int reference_make(struct reference *out, const struct plan_demand *demand, uint64_t seed);
void reference_free(struct reference *reference);
/* What passes of each form come to under this consumer. */
void reference_totals(const struct reference *reference, enum weir_consumer consumer,
                      struct reference_total out[REFERENCE_FORMS]);
/* The hash of item `index` under consumer hash. */
uint64_t reference_hash_item(uint64_t index, const void *data, size_t length);

#endif
