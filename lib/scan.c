/*
 * scan.c - finding newlines, in C alone: what every processor can do, and what the faster versions are tested against.
 * Which version is used here is said by scan_x86.c or scan_plain.c; the build takes one of them.
 */
#include <string.h>

#include "lib/internal.h"

bool weir__has_cr(const char *data, const uint32_t *ends, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (ends[i] && data[ends[i] - 1] == '\r') return true;
  }
  return false;
}

static size_t plain_lines(const char *data, size_t from, size_t size, uint32_t *ends, size_t max, size_t *used, bool *cr) {
  size_t count = 0;
  while (count < max && from < size) {
    const char *found = memchr(data + from, '\n', size - from);
    from = found ? (size_t)(found - data) + 1 : size;
    if (found) ends[count++] = (uint32_t)(from - 1);
  }
  *used = from;
  if (weir__has_cr(data, ends, count)) *cr = true;
  return count;
}

static uint64_t plain_count(const char *data, size_t size) {
  uint64_t count = 0;
  for (size_t i = 0; i < size; i++) count += data[i] == '\n';
  return count;
}

const struct weir__scanner weir__scanner_plain = {.name = "plain", .lines = plain_lines, .count = plain_count};

size_t weir__scan_lines(const char *data, size_t from, size_t size, uint32_t *ends, size_t max, size_t *used, bool *cr) {
  return weir__scanner(0)->lines(data, from, size, ends, max, used, cr);
}

uint64_t weir__count_newlines(const char *data, size_t size) { return weir__scanner(0)->count(data, size); }
