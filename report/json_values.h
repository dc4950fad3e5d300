/*
 * json_values.h - values of JSON documents: what is not known, and what is no number, is null. Not for other folders.
 */
#ifndef WEIR_JSON_VALUES_H
#define WEIR_JSON_VALUES_H

#include <jansson.h>

#include "stat/summary.h"

/* Both take `value` over; NULL becomes null. */
void value_put(json_t *object, const char *key, json_t *value);
void value_append(json_t *array, json_t *value);

/* NULL for text that is missing or empty. Bytes that are no UTF-8 are spelled as run_text_encode does. */
json_t *value_text(const char *text);
json_t *value_count(uint64_t count);
/* NULL for numbers that are 0, or -1, when they are not known. */
json_t *value_positive(double number);
json_t *value_known(double number);
json_t *value_interval(const struct stat_interval *interval);

#endif
