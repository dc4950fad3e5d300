/*
 * number.c - numbers in text, in the "C" locale whatever the program has chosen.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <locale.h>
#include <stdlib.h>

#include "os/os.h"

int os_parse_double(const char *text, double *value, size_t *used) {
  locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (plain == (locale_t)0) return -ENOMEM;
  char *end;
  *value = strtod_l(text, &end, plain);
  *used = (size_t)(end - text);
  freelocale(plain);
  return 0;
}
