/*
 * slice.c - what one does with a line: copy it, take its columns, read a number. Nothing here looks at files.
 */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "lib/internal.h"

char *weir_slice_copy(struct weir_slice slice) {
  if (slice.size == SIZE_MAX) return NULL;
  char *copy = malloc(slice.size + 1);
  if (!copy) return NULL;
  if (slice.size) memcpy(copy, slice.data, slice.size);
  copy[slice.size] = '\0';
  return copy;
}

/* Not isspace: that follows the locale. */
static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool weir_slice_field(struct weir_slice *rest, struct weir_slice *field) {
  const char *at = rest->data, *const end = rest->size ? rest->data + rest->size : rest->data;
  while (at != end && is_space(*at)) at++;
  const char *const begin = at;
  while (at != end && !is_space(*at)) at++;
  rest->size = (size_t)(end - at);
  rest->data = at;
  if (at == begin) return false;
  *field = (struct weir_slice){begin, (size_t)(at - begin)};
  return true;
}

/* ---- numbers ---- */

/*
 * Up to 2^53 and 10^22 are exact in a double, so that one multiplication or division of two of them rounds once, to the
 * nearest: W. D. Clinger, "How to read floating point numbers accurately", 1990. All else is left to the system, and all
 * where the processor counts with more digits than a double has (x87), for that rounds twice.
 */
#define EXACT_MAX (UINT64_C(1) << 53)
#define EXACT_POWER 22
static const double powers[EXACT_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                               1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* Digits, a point, digits: no exponent. False where that is not all, or not exact. */
static bool read_exact(const char *at, const char *end, double *value) {
  uint64_t digits = 0;
  int count = 0, behind = 0;
  bool point = false;
  for (; at != end; at++) {
    if (*at == '.' && !point) {
      point = true;
      continue;
    }
    if (*at < '0' || *at > '9' || digits > (EXACT_MAX - 9) / 10) return false;
    digits = digits * 10 + (uint64_t)(*at - '0');
    behind += point;
    count++;
  }
  if (!count || behind > EXACT_POWER || FLT_EVAL_METHOD != 0) return false;
  *value = (double)digits / powers[behind];
  return true;
}

/* What strtod takes beyond a number that stands alone: space before it, and the hexadecimal form. */
static bool is_plain(struct weir_slice slice) {
  if (!slice.size || is_space(slice.data[0])) return false;
  return !memchr(slice.data, 'x', slice.size) && !memchr(slice.data, 'X', slice.size) &&
         !memchr(slice.data, '(', slice.size);
}

static int read_any(struct weir_slice slice, double *value) {
  char few[64], *text = slice.size < sizeof few ? few : malloc(slice.size + 1);
  if (!text) return WEIR_ENOMEM;
  memcpy(text, slice.data, slice.size);
  text[slice.size] = '\0';
  size_t used = 0;
  double found = 0;
  int code = os_parse_double(text, &found, &used);
  if (!code && used != slice.size) code = WEIR_EFORMAT;
  if (!code) *value = found;
  if (text != few) free(text);
  return code;
}

int weir_slice_double(struct weir_slice slice, double *value) {
  if (!is_plain(slice)) return WEIR_EFORMAT;
  const bool minus = slice.data[0] == '-', sign = minus || slice.data[0] == '+';
  double found;
  if (!read_exact(slice.data + sign, slice.data + slice.size, &found)) return read_any(slice, value);
  *value = minus ? -found : found;
  return 0;
}
