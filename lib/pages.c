/*
 * pages.c - memory that bytes are moved to and from: pages from the system, struct weir_bytes, and pools of buffers. What
 * counts is how often a page is touched for the first time: that costs more than filling it.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/internal.h"

#define KIB ((size_t)1024)
#define MIB (KIB * 1024)

/* ---- pages ---- */

/* Below this the zeroing of a whole huge page costs more than a few small ones. */
#define HUGE_FROM MIB
/* Lengths are rounded up to this where at least HUGE_TAIL of it is used: the tail then is one page more, not hundreds. */
#define HUGE_UNIT (2 * MIB)
#define HUGE_TAIL (512 * KIB)

/* Bytes to map for `bytes`: the same for what it gives itself. 0 when there is no such number. */
static size_t mapped_bytes(size_t bytes) {
  if (bytes > SIZE_MAX / 2) return 0; /* the distance of two addresses must be a number too */
  bytes = weir__round_up(bytes ? bytes : 1, os_page_size());
  return bytes % HUGE_UNIT >= HUGE_TAIL ? weir__round_up(bytes, HUGE_UNIT) : bytes;
}

static bool wants_huge(size_t bytes, unsigned flags) {
  if (flags & WEIR_SMALL_PAGES) return false;
  return bytes >= (flags & WEIR_HUGE ? HUGE_TAIL : HUGE_FROM);
}

int weir__pages_get(size_t bytes, unsigned flags, void **out) {
  const size_t length = mapped_bytes(bytes);
  if (!length) return WEIR_ENOMEM;
  if (wants_huge(bytes, flags)) {
    const size_t huge = weir__huge_page();
    if (huge && huge <= length) return os_memory_get_huge(length, huge, out);
  }
  const bool refuse_huge = (flags & WEIR_SMALL_PAGES) && length >= HUGE_UNIT;
  return os_memory_get(length, refuse_huge ? OS_MEMORY_SMALL : 0, out);
}

void weir__pages_put(void *pages, size_t bytes) {
  if (pages) (void)os_memory_put(pages, mapped_bytes(bytes));
}

/* ---- bytes ---- */

/*
 * weir_bytes.kind: where the memory is from, and above that
 *   of malloc: how many bytes before `data` its memory begins, for it begins where copies from files are slow;
 *   of pages: how many of 4 KiB from the start may have been written to; all behind them is as the system gave it, zero.
 *   MARK_ALL: unknown.
 */
enum { FROM_NOWHERE, FROM_MALLOC, FROM_PAGES, FROM_MASK = 3 };
#define MARK_SHIFT 2
#define MARK_ALL (UINT32_MAX >> MARK_SHIFT)
#define MARK_UNIT (4 * KIB)
#define ALIGNMENT 64u /* of what malloc gives */

static size_t mark_of(size_t written) {
  const size_t units = written / MARK_UNIT + (written % MARK_UNIT != 0);
  return units < MARK_ALL ? units : MARK_ALL;
}

static void set_mark(struct weir_bytes *bytes, size_t mark) {
  bytes->kind = (unsigned)(mark << MARK_SHIFT) | (bytes->kind & FROM_MASK);
}

static bool is_pages(const struct weir_bytes *bytes) { return (bytes->kind & FROM_MASK) == FROM_PAGES; }

static void put_memory(const struct weir_bytes *bytes) {
  switch (bytes->kind & FROM_MASK) {
    case FROM_MALLOC:
      free(bytes->data - (bytes->kind >> MARK_SHIFT));
      break;
    case FROM_PAGES:
      weir__pages_put(bytes->data, bytes->capacity + 1);
      break;
    default:
      break;
  }
}

void weir_bytes_free(struct weir_bytes *bytes) {
  if (!bytes) return;
  put_memory(bytes);
  *bytes = (struct weir_bytes){0};
}

static int get_pages(size_t capacity, unsigned flags, struct weir_bytes *out) {
  void *pages;
  const int error = weir__pages_get(capacity + 1, flags, &pages);
  if (error) return error;
  *out = (struct weir_bytes){.data = pages, .capacity = mapped_bytes(capacity + 1) - 1, .kind = FROM_PAGES};
  return 0;
}

static int get_malloc(size_t capacity, struct weir_bytes *out) {
  char *memory = malloc(capacity + 1 + ALIGNMENT);
  if (!memory) return WEIR_ENOMEM;
  const unsigned skip = (unsigned)(-(uintptr_t)memory % ALIGNMENT);
  *out = (struct weir_bytes){.data = memory + skip, .capacity = capacity, .kind = skip << MARK_SHIFT | FROM_MALLOC};
  return 0;
}

static bool is_enough(const struct weir_bytes *bytes, size_t capacity, unsigned flags) {
  if (!bytes->data || bytes->capacity < capacity) return false;
  return !(flags & WEIR__PAGES) || is_pages(bytes);
}

int weir__bytes_room(struct weir_bytes *bytes, size_t capacity, size_t keep, unsigned flags) {
  if (is_enough(bytes, capacity, flags)) return 0;
  if (capacity == SIZE_MAX) return WEIR_ENOMEM;
  if (keep == 0) { /* before the new is taken, so that both are never there at once */
    put_memory(bytes);
    *bytes = (struct weir_bytes){0};
  }
  struct weir_bytes fresh;
  const bool pages = (flags & WEIR__PAGES) || wants_huge(capacity, flags) || capacity >= HUGE_FROM;
  const int error = pages ? get_pages(capacity, flags & ~WEIR__PAGES, &fresh) : get_malloc(capacity, &fresh);
  if (error) return error;
  if (keep) memcpy(fresh.data, bytes->data, keep);
  fresh.size = bytes->size;
  if (pages) set_mark(&fresh, mark_of(keep));
  put_memory(bytes);
  *bytes = fresh;
  return 0;
}

int weir__bytes_reserve(struct weir_bytes *bytes, size_t capacity, size_t keep, unsigned flags) {
  const int error = weir__bytes_room(bytes, capacity, keep, flags);
  if (is_pages(bytes)) set_mark(bytes, MARK_ALL);
  return error;
}

void weir__bytes_end(struct weir_bytes *bytes, size_t size, size_t written) {
  bytes->size = size;
  if (is_pages(bytes)) {
    const size_t before = bytes->kind >> MARK_SHIFT, now = mark_of(written), mark = now > before ? now : before;
    set_mark(bytes, mark);
    if (mark != MARK_ALL && size / MARK_UNIT >= mark) return; /* zero as it is */
  }
  bytes->data[size] = '\0';
}

/* ---- pools ---- */

/*
 * Free buffers form a stack, so that the one that was used last, still in the processor's cache, goes out first. Its top is
 * the number of a buffer plus one (0: none) below a count that makes every change a different value: threads that look at
 * an old top cannot mistake it for the present one.
 */
#define POOL_COUNT_MAX (UINT32_MAX - 1)

struct pool_slot {
  atomic_uint below; /* on the stack: number plus one */
  atomic_bool out;
};

struct weir_pool {
  char *memory;
  size_t stride, bytes;
  unsigned count;
  _Atomic uint64_t top;
  struct pool_slot slots[];
};

static uint64_t next_top(uint64_t top, unsigned number_plus_one) { return ((top >> 32) + 1) << 32 | number_plus_one; }

/* Whole pages for each; false when there is no such number. */
static bool measure_pool(size_t buffer_bytes, unsigned count, size_t *stride, size_t *bytes, size_t *head) {
  if (buffer_bytes > SIZE_MAX - os_page_size()) return false;
  *stride = weir__round_up(buffer_bytes, os_page_size());
  if (*stride > SIZE_MAX / count) return false;
  *bytes = *stride * count; /* of which each slot is a small part, so that the next cannot overflow either */
  *head = sizeof(struct weir_pool) + count * sizeof(struct pool_slot);
  return true;
}

int weir_pool_open(size_t buffer_bytes, unsigned count, unsigned flags, struct weir_pool **out) {
  size_t stride, bytes, head;
  void *memory;
  if (!out) return WEIR_EINVAL;
  *out = NULL;
  if (!buffer_bytes || !count || count > POOL_COUNT_MAX) return WEIR_EINVAL;
  if (weir__check(flags, WEIR_HUGE | WEIR_SMALL_PAGES, NULL)) return WEIR_EINVAL;
  if (!measure_pool(buffer_bytes, count, &stride, &bytes, &head)) return WEIR_ENOMEM;
  struct weir_pool *pool = malloc(head);
  if (!pool) return WEIR_ENOMEM;
  const int error = weir__pages_get(bytes, flags, &memory);
  if (error) {
    free(pool);
    return error;
  }
  pool->memory = memory;
  pool->stride = stride;
  pool->bytes = bytes;
  pool->count = count;
  for (unsigned i = 0; i < count; i++) {
    atomic_init(&pool->slots[i].below, i + 1 < count ? i + 2 : 0);
    atomic_init(&pool->slots[i].out, false);
  }
  atomic_init(&pool->top, 1);
  *out = pool;
  return 0;
}

void *weir_pool_get(struct weir_pool *pool) {
  uint64_t top = atomic_load_explicit(&pool->top, memory_order_acquire);
  unsigned number;
  do {
    number = (unsigned)(top & UINT32_MAX);
    if (!number) return NULL;
  } while (!atomic_compare_exchange_weak_explicit(&pool->top, &top, next_top(top, pool->slots[number - 1].below),
                                                  memory_order_acq_rel, memory_order_acquire));
  atomic_store(&pool->slots[number - 1].out, true);
  return pool->memory + (size_t)(number - 1) * pool->stride;
}

/* What is not of this pool, or is in it already, is left alone: it would be given to two. */
void weir_pool_put(struct weir_pool *pool, void *buffer) {
  const uintptr_t first = (uintptr_t)pool->memory, at = (uintptr_t)buffer;
  if (at < first || at - first >= pool->bytes || (at - first) % pool->stride != 0) return;
  const unsigned index = (unsigned)((at - first) / pool->stride);
  if (!atomic_exchange(&pool->slots[index].out, false)) return;
  uint64_t top = atomic_load_explicit(&pool->top, memory_order_acquire);
  do atomic_store(&pool->slots[index].below, (unsigned)(top & UINT32_MAX));
  while (!atomic_compare_exchange_weak_explicit(&pool->top, &top, next_top(top, index + 1), memory_order_acq_rel,
                                                memory_order_acquire));
}

void *weir_pool_memory(const struct weir_pool *pool, size_t *bytes) {
  if (bytes) *bytes = pool->bytes;
  return pool->memory;
}

void weir_pool_close(struct weir_pool *pool) {
  if (!pool) return;
  weir__pages_put(pool->memory, pool->bytes);
  free(pool);
}
