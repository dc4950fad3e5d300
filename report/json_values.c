/* json_values.c - values of JSON documents. json_real has no value for what is no number, so that becomes null as well. */
#include "report/json_values.h"

#include <stdlib.h>

void value_put(json_t *object, const char *key, json_t *value) {
  (void)json_object_set_new_nocheck(object, key, value ? value : json_null());
}

void value_append(json_t *array, json_t *value) { (void)json_array_append_new(array, value ? value : json_null()); }

json_t *value_text(const char *text) {
  char *encoded = text && text[0] ? run_text_encode(text) : NULL;
  json_t *value = encoded ? json_string(encoded) : NULL;
  free(encoded);
  return value;
}

json_t *value_count(uint64_t count) {
  return count <= INT64_MAX ? json_integer((json_int_t)count) : json_real((double)count);
}

json_t *value_positive(double number) { return number > 0 ? json_real(number) : NULL; }
json_t *value_known(double number) { return number >= 0 ? json_real(number) : NULL; }

json_t *value_interval(const struct stat_interval *interval) {
  if (!(interval->median > 0)) return NULL;
  json_t *object = json_object();
  value_put(object, "median", json_real(interval->median));
  value_put(object, "low", interval->known ? json_real(interval->low) : NULL);
  value_put(object, "high", interval->known ? json_real(interval->high) : NULL);
  return object;
}
