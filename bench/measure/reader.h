/*
 * reader.h - single values out of the JSON of a run file, each checked. Not for other files than runread.c.
 *
 * All return 0, -EINVAL with the reader's problem told ("line 12: 'round' is missing or not a count"), or -ENOMEM.
 */
#ifndef WEIR_READER_H
#define WEIR_READER_H

#include <jansson.h>

#include "measure/runfile_fields.h"

/* Rounds that no honest run comes near. */
#define READER_ROUNDS_MAX 100000

struct reader {
  struct run *run;
  const struct weir_method *const *methods;
  size_t line;
  bool header, floors, trailer;
  char *problem;
  size_t problem_size;
};

/* A number, or a string of digits; false if it is none. */
bool reader_count_of(const json_t *value, uint64_t *out);

int reader_wrong_key(struct reader *reader, const char *key, const char *expected);
int reader_wrong(struct reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Copies that the caller owns. */
int reader_take_text(const json_t *value, char **out);
int reader_count(struct reader *reader, const json_t *object, const char *key, uint64_t *out);
int reader_unsigned(struct reader *reader, const json_t *object, const char *key, unsigned *out);
int reader_counts(struct reader *reader, const json_t *object, const struct count_field *fields, size_t count, void *base);
int reader_hex(struct reader *reader, const json_t *object, const char *key, uint64_t *out);
int reader_share(struct reader *reader, const json_t *object, const char *key, int32_t *ppm);
int reader_integer(struct reader *reader, const json_t *object, const char *key, int32_t *out);
int reader_real(struct reader *reader, const json_t *object, const char *key, double *out);
int reader_bool(struct reader *reader, const json_t *object, const char *key, bool *out);
int reader_word(struct reader *reader, const json_t *object, const char *key, const char *const *words, unsigned *out);
int reader_text(struct reader *reader, const json_t *object, const char *key, char **out);
int reader_fixed(struct reader *reader, const json_t *object, const char *key, char *out, size_t size);
int reader_array(struct reader *reader, const json_t *object, const char *key, size_t max, const json_t **out);
int reader_object(struct reader *reader, const json_t *object, const char *key, const json_t **out);
int reader_strings(struct reader *reader, const json_t *object, const char *key, char ***out, unsigned *count);
/* By table, at their places from `base` on. Reals that are missing are 0. */
int reader_reals(struct reader *reader, const json_t *line, const struct count_field *fields, size_t count, void *base);
int reader_maybes(struct reader *reader, const json_t *line, const struct count_field *fields, size_t count, void *base);

#endif
