/*
 * crew.h - several threads that fill one piece of memory from one file. The calling thread is one of them.
 */
#ifndef WEIR_CREW_H
#define WEIR_CREW_H

#include "lib/internal.h"

#define CREW_MAX 64u                 /* threads */
#define CREW_PIECE ((size_t)2 << 20) /* taken at a time: a huge page, zeroed and filled while it is in cache */

struct crew_source {
  os_file file;
  bool positional; /* else it is read from where it stands, by one thread only */
  bool uncached;
  uint64_t offset; /* of the first byte */
  size_t align;    /* of direct reads; 1 otherwise */
};

/* One read of the bytes at `at`, counted from source->offset. May be short; 0 is the end. */
int64_t crew_read(const struct crew_source *source, void *data, size_t size, size_t at);

struct crew_result {
  size_t done; /* all bytes before this are there */
  int code;    /* what ended it there: an error, or 0 for the end of the file or of `size` */
};
/* Reads `size` bytes with up to `helpers` more threads and returns how many there were. */
unsigned crew_run(const struct crew_source *source, char *data, size_t size, unsigned helpers, struct crew_result *result);

#endif
