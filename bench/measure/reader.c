/* reader.c - single values out of the JSON of a run file. */
#include "measure/reader.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int reader_wrong(struct reader *reader, const char *format, ...) {
  char text[160];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (reader->problem_size > 0) snprintf(reader->problem, reader->problem_size, "line %zu: %s", reader->line, text);
  return -EINVAL;
}

int reader_wrong_key(struct reader *reader, const char *key, const char *expected) {
  return reader_wrong(reader, "'%s' is missing or not %s", key, expected);
}

static bool parse_digits(const char *text, int base, uint64_t *out) {
  char *end;
  if (text[0] < '0' || text[0] > '9') return false; /* no sign, no space */
  errno = 0;
  unsigned long long number = strtoull(text, &end, base);
  if (errno != 0 || *end != '\0' || number > UINT64_MAX) return false;
  *out = number;
  return true;
}

bool reader_count_of(const json_t *value, uint64_t *out) {
  if (json_is_string(value)) return parse_digits(json_string_value(value), 10, out);
  if (!json_is_integer(value) || json_integer_value(value) < 0) return false;
  *out = (uint64_t)json_integer_value(value);
  return true;
}

int reader_count(struct reader *reader, const json_t *object, const char *key, uint64_t *out) {
  return reader_count_of(json_object_get(object, key), out) ? 0 : reader_wrong_key(reader, key, "a count");
}

int reader_unsigned(struct reader *reader, const json_t *object, const char *key, unsigned *out) {
  uint64_t count;
  if (!reader_count_of(json_object_get(object, key), &count) || count > UINT_MAX)
    return reader_wrong_key(reader, key, "a count");
  *out = (unsigned)count;
  return 0;
}

int reader_counts(struct reader *reader, const json_t *object, const struct count_field *fields, size_t count, void *base) {
  for (size_t i = 0; i < count; i++) {
    uint64_t value;
    int code = reader_count(reader, object, fields[i].name, &value);
    if (code < 0) return code;
    memcpy((char *)base + fields[i].at, &value, sizeof value);
  }
  return 0;
}

int reader_hex(struct reader *reader, const json_t *object, const char *key, uint64_t *out) {
  const char *text = json_string_value(json_object_get(object, key));
  if (text == NULL || strncmp(text, "0x", 2) != 0 || strlen(text) > 18 || text[2] == '\0') {
    return reader_wrong_key(reader, key, "a 0x... string");
  }
  return parse_digits(text, 16, out) ? 0 : reader_wrong_key(reader, key, "a 0x... string");
}

/* Missing and null are unknown. */
static int reader_maybe(struct reader *reader, const json_t *object, const char *key, int64_t *out) {
  const json_t *value = json_object_get(object, key);
  *out = -1;
  if (value == NULL || json_is_null(value)) return 0;
  if (!json_is_integer(value) || json_integer_value(value) < 0) return reader_wrong_key(reader, key, "a count or null");
  *out = json_integer_value(value);
  return 0;
}

int reader_share(struct reader *reader, const json_t *object, const char *key, int32_t *ppm) {
  const json_t *value = json_object_get(object, key);
  *ppm = -1;
  if (value == NULL || json_is_null(value)) return 0;
  double share = json_number_value(value);
  if (!json_is_number(value) || share < 0 || share > 1) return reader_wrong_key(reader, key, "a share or null");
  *ppm = (int32_t)(share * 1e6 + 0.5);
  return 0;
}

int reader_integer(struct reader *reader, const json_t *object, const char *key, int32_t *out) {
  const json_t *value = json_object_get(object, key);
  if (!json_is_integer(value) || json_integer_value(value) < -1 || json_integer_value(value) > READER_ROUNDS_MAX) {
    return reader_wrong_key(reader, key, "a number in range");
  }
  *out = (int32_t)json_integer_value(value);
  return 0;
}

int reader_real(struct reader *reader, const json_t *object, const char *key, double *out) {
  const json_t *value = json_object_get(object, key);
  if (!json_is_number(value) || json_number_value(value) < 0) return reader_wrong_key(reader, key, "a number");
  *out = json_number_value(value);
  return 0;
}

int reader_bool(struct reader *reader, const json_t *object, const char *key, bool *out) {
  const json_t *value = json_object_get(object, key);
  if (!json_is_boolean(value)) return reader_wrong_key(reader, key, "true or false");
  *out = json_is_true(value);
  return 0;
}

int reader_word(struct reader *reader, const json_t *object, const char *key, const char *const *words, unsigned *out) {
  const char *text = json_string_value(json_object_get(object, key));
  int index = text ? plan_word_index(words, text) : -1;
  if (index < 0) return reader_wrong_key(reader, key, "a known word");
  *out = (unsigned)index;
  return 0;
}

/* A copy that the caller owns. */
int reader_take_text(const json_t *value, char **out) {
  char *copy = strdup(json_string_value(value));
  if (copy == NULL) return -ENOMEM;
  run_text_decode(copy);
  *out = copy;
  return 0;
}

int reader_text(struct reader *reader, const json_t *object, const char *key, char **out) {
  const json_t *value = json_object_get(object, key);
  if (!json_is_string(value)) return reader_wrong_key(reader, key, "text");
  return reader_take_text(value, out);
}

/* Into an array of `size`; text that was too long for it never came from there. */
int reader_fixed(struct reader *reader, const json_t *object, const char *key, char *out, size_t size) {
  char *text = NULL;
  int code = reader_text(reader, object, key, &text);
  if (code < 0) return code;
  if (strlen(text) >= size) code = reader_wrong(reader, "'%s' is too long", key);
  if (code == 0) memcpy(out, text, strlen(text) + 1);
  free(text);
  return code;
}

int reader_array(struct reader *reader, const json_t *object, const char *key, size_t max, const json_t **out) {
  const json_t *value = json_object_get(object, key);
  if (!json_is_array(value)) return reader_wrong_key(reader, key, "a list");
  if (json_array_size(value) > max) return reader_wrong(reader, "'%s' has more than %zu entries", key, max);
  *out = value;
  return 0;
}

int reader_object(struct reader *reader, const json_t *object, const char *key, const json_t **out) {
  *out = json_object_get(object, key);
  return json_is_object(*out) ? 0 : reader_wrong_key(reader, key, "an object");
}

/* An owned list of owned strings. */
int reader_strings(struct reader *reader, const json_t *object, const char *key, char ***out, unsigned *count) {
  const json_t *array;
  int code = reader_array(reader, object, key, UINT_MAX, &array);
  if (code < 0) return code;
  size_t size = json_array_size(array);
  *out = calloc(size ? size : 1, sizeof **out);
  if (*out == NULL) return -ENOMEM;
  for (size_t i = 0; i < size; i++) {
    const json_t *value = json_array_get(array, i);
    if (!json_is_string(value)) return reader_wrong(reader, "'%s' holds something that is not text", key);
    code = reader_take_text(value, &(*out)[i]);
    if (code < 0) return code;
    *count = (unsigned)i + 1;
  }
  return 0;
}

/* One that is missing was not measured: 0. */
int reader_reals(struct reader *reader, const json_t *line, const struct count_field *fields, size_t count, void *base) {
  int code = 0;
  for (size_t i = 0; i < count && code == 0; i++) {
    double value = 0;
    if (json_object_get(line, fields[i].name)) code = reader_real(reader, line, fields[i].name, &value);
    memcpy((char *)base + fields[i].at, &value, sizeof value);
  }
  return code;
}

int reader_maybes(struct reader *reader, const json_t *line, const struct count_field *fields, size_t count, void *base) {
  int code = 0;
  for (size_t i = 0; code == 0 && i < count; i++) {
    int64_t value;
    code = reader_maybe(reader, line, fields[i].name, &value);
    memcpy((char *)base + fields[i].at, &value, sizeof value);
  }
  return code;
}
