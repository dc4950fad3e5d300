/*
 * aligned.h - what transfers past the page cache ask for: memory, offset and length in multiples of the file system's
 * granule.
 *
 * A file's last bytes rarely fill a granule. Readers ask for whole granules and accept the short count. Writers never write
 * past the file: the unfilled rest goes through a second, buffered descriptor.
 */
#ifndef WEIR_ALIGNED_H
#define WEIR_ALIGNED_H

#include "os/os.h"
#include "weir/method.h"

/* One granule for memory, offset and length: the largest that any of them needs. A power of two. */
size_t aligned_granule(const struct weir_job *job);

#define ALIGNED_WHEN_NOT_TOLD 4096u
/* The same of an open file. */
size_t aligned_granule_of(os_file file);
/* One real transfer on a file opened for direct I/O: a write where it is a scratch file, else a read. The plain error. */
int aligned_try(os_file file, bool scratch, size_t granule);

/* Opens for direct I/O, compares the request size with the granule, and does a real transfer. */
int aligned_probe(const struct weir_job *job, struct weir_reason *reason);

/* The buffered descriptor for the rest of a writer's partition; os_no_file where it ends on a granule. */
int aligned_open_rest(const struct weir_job *job, size_t granule, unsigned flags, os_file *out);
/* Writes the `length` bytes at `offset` that do not fill a granule. */
int aligned_write_rest(const struct weir_job *job, os_file rest, const void *data, size_t length, uint64_t offset);

static inline size_t aligned_down(size_t length, size_t granule) { return length & ~(granule - 1); }
static inline size_t aligned_up(size_t length, size_t granule) { return (length + granule - 1) & ~(granule - 1); }

#endif
