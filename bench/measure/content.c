/*
 * content.c - the bytes of scratch files. See content.h for what they are; here is only how they are made quickly: a copy
 * from the pool (which stays in the second-level cache) and one store a line, so that making data costs a writer little
 * beside moving them.
 */
#include "measure/content.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "weir/method.h"

enum { LINE = WEIR_CACHE_LINE, STAMP = sizeof(uint64_t) };

int content_init(struct content *content, uint64_t seed) {
  unsigned char *pool = malloc(CONTENT_POOL);
  if (!pool) return -ENOMEM;
  struct random_state random = random_start(seed, 1);
  for (size_t at = 0; at < CONTENT_POOL; at += sizeof(uint64_t)) {
    uint64_t word = random_next(&random);
    memcpy(pool + at, &word, sizeof word);
  }
  *content = (struct content){.seed = seed, .pool = pool};
  return 0;
}

void content_free(struct content *content) {
  free(content->pool);
  content->pool = NULL;
}

struct content content_of_member(const struct content *content, unsigned member) {
  const uint64_t seed = content->seed;
  return (struct content){.seed = member ? random_mix(seed ^ (uint64_t)member << 48) : seed, .pool = content->pool};
}

static uint64_t stamp(const struct content *content, uint64_t line) { return random_mix(content->seed + line); }

static void copy_pool(const struct content *content, uint64_t offset, unsigned char *data, size_t length) {
  while (length > 0) {
    size_t at = (size_t)(offset % CONTENT_POOL);
    size_t piece = CONTENT_POOL - at < length ? CONTENT_POOL - at : length;
    memcpy(data, content->pool + at, piece);
    offset += piece;
    data += piece;
    length -= piece;
  }
}

/* The bytes of one line's stamp that fall into [offset, offset + length). */
static void stamp_edge(const struct content *content, uint64_t line, uint64_t offset, unsigned char *data, size_t length) {
  uint64_t word = stamp(content, line);
  const unsigned char *bytes = (const unsigned char *)&word;
  for (unsigned i = 0; i < STAMP; i++) {
    uint64_t position = line * LINE + i;
    if (position >= offset && position - offset < length) data[position - offset] = bytes[i];
  }
}

void content_fill(const struct content *content, uint64_t offset, void *data, size_t length) {
  unsigned char *bytes = data;
  copy_pool(content, offset, bytes, length);
  uint64_t end = offset + length;
  uint64_t first = (offset + LINE - 1) / LINE; /* lines whose stamp lies wholly inside */
  uint64_t last = end < STAMP ? 0 : (end - STAMP) / LINE + 1;
  if (offset % LINE != 0) stamp_edge(content, offset / LINE, offset, bytes, length);
  for (uint64_t line = first; line < last; line++) {
    uint64_t word = stamp(content, line);
    memcpy(bytes + (line * LINE - offset), &word, sizeof word);
  }
  if (last >= first && last * LINE < end) stamp_edge(content, last, offset, bytes, length);
}

size_t content_mismatch(const struct content *content, uint64_t offset, const void *data, size_t length) {
  const unsigned char *bytes = data;
  unsigned char want[16 * 1024];
  for (size_t at = 0; at < length;) {
    size_t piece = length - at < sizeof want ? length - at : sizeof want;
    content_fill(content, offset + at, want, piece);
    if (memcmp(bytes + at, want, piece) != 0) {
      size_t i = 0;
      while (bytes[at + i] == want[i]) i++;
      return at + i;
    }
    at += piece;
  }
  return length;
}

uint64_t content_sum(const struct content *content, uint64_t offset, uint64_t length) {
  uint64_t sum = 0;
  for (uint64_t line = (offset + LINE - 1) / LINE; line * LINE < offset + length; line++) {
    uint64_t word = stamp(content, line);
    unsigned char first;
    memcpy(&first, &word, 1);
    sum += (first + UINT64_C(1)) * weir_line_key(line * LINE);
  }
  return sum;
}
