/*
 * allocations.c - malloc and its kin, on top of glibc's own under their second names, and os_memory_get, by the linker's
 * --wrap: they do what they always do, and count when asked. The program's own calls, the C library's, those of C++ and of
 * plugins all come here. Memory that is mapped by other calls is not seen.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "os/os.h"

/* glibc's, exported for this use. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);

int __real_os_memory_get(size_t length, unsigned flags, void **out);
int __real_os_memory_get_huge(size_t length, size_t huge_page, void **out);
int __wrap_os_memory_get(size_t length, unsigned flags, void **out);
int __wrap_os_memory_get_huge(size_t length, size_t huge_page, void **out);

void *memalign(size_t alignment, size_t size);

static atomic_bool counts;
static _Atomic uint64_t allocations, allocated_bytes;

static void note(uint64_t bytes) {
  if (!atomic_load_explicit(&counts, memory_order_relaxed)) return;
  atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&allocated_bytes, bytes, memory_order_relaxed);
}

/* ---- what others call ---- */

void *malloc(size_t size) {
  note(size);
  return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  size_t bytes;
  if (!__builtin_mul_overflow(count, size, &bytes)) note(bytes);
  return __libc_calloc(count, size);
}

/* To nothing it frees. */
void *realloc(void *old, size_t size) {
  if (!old || size) note(size);
  return __libc_realloc(old, size);
}

void *reallocarray(void *old, size_t count, size_t size) {
  size_t bytes;
  if (!__builtin_mul_overflow(count, size, &bytes)) return realloc(old, bytes);
  errno = ENOMEM;
  return NULL;
}

void free(void *memory) { __libc_free(memory); }

void *memalign(size_t alignment, size_t size) {
  note(size);
  return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **out, size_t alignment, size_t size) {
  if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
  const int kept = errno; /* it is not this call's to change */
  void *memory = memalign(alignment, size);
  errno = kept;
  if (!memory) return ENOMEM;
  *out = memory;
  return 0;
}

int __wrap_os_memory_get(size_t length, unsigned flags, void **out) {
  note(length);
  return __real_os_memory_get(length, flags, out);
}

int __wrap_os_memory_get_huge(size_t length, size_t huge_page, void **out) {
  note(length);
  return __real_os_memory_get_huge(length, huge_page, out);
}

/* ---- counting ---- */

int os_allocations_begin(void) {
  atomic_store(&allocations, 0);
  atomic_store(&allocated_bytes, 0);
  atomic_store(&counts, true);
  return 0;
}

void os_allocations_end(struct os_allocations *out) {
  atomic_store(&counts, false);
  *out = (struct os_allocations){.count = atomic_load(&allocations), .bytes = atomic_load(&allocated_bytes)};
}
