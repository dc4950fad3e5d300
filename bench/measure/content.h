/*
 * content.h - what scratch files hold: bytes that follow from seed and offset alone, so that every piece of every file can
 * be made, and checked, anywhere and in any order.
 *
 * A line of 64 bytes is 8 bytes hashed from its number, then bytes of a random pool that repeats every 128 KiB. That is
 * the largest record that the common compressing file systems look at (btrfs extents, zfs records), and the hashed bytes
 * make every 4 KiB page unlike every other: neither compression nor deduplication finds anything.
 */
#ifndef WEIR_CONTENT_H
#define WEIR_CONTENT_H

#include <stddef.h>
#include <stdint.h>

#define CONTENT_POOL ((size_t)128 * 1024)

struct content {
  uint64_t seed;
  unsigned char *pool; /* CONTENT_POOL bytes */
};

/* Each member of a striped file has bytes of its own, or who reads one of them twice would not be found out. */
struct content content_of_member(const struct content *content, unsigned member);

int content_init(struct content *content, uint64_t seed); /* 0 or -ENOMEM */
void content_free(struct content *content);
/* Stores the bytes that belong at `offset`. */
void content_fill(const struct content *content, uint64_t offset, void *data, size_t length);
/* Index of the first byte that is not what belongs at `offset`, or `length`. */
size_t content_mismatch(const struct content *content, uint64_t offset, const void *data, size_t length);
/* The position-keyed sum (weir_touch) of [offset, offset + length), without making the bytes. */
uint64_t content_sum(const struct content *content, uint64_t offset, uint64_t length);

#endif
