/*
 * crew.h - several threads that do one thing together and end with it; the calling thread is one of them. One such thing is
 * here too: filling one piece of memory from one file.
 */
#ifndef WEIR_CREW_H
#define WEIR_CREW_H

#include "lib/internal.h"

#define WEIR__CREW_MAX 256u

/* Calls work(context, member) from up to `members` threads at once, with 0 from the calling one, and returns how many there
 * were when all are done. There may be fewer than asked for: one alone must be able to do all the work. */
unsigned weir__crew_work(unsigned members, void (*work)(void *context, unsigned member), void *context);

/* ---- filling memory ---- */

#define WEIR__CREW_PIECE ((size_t)2 << 20) /* taken at a time: a huge page, zeroed and filled while it is in cache */
#define WEIR__CREW_READERS 64u             /* threads at most */

struct weir__crew_source {
  os_file file;
  bool positional; /* else it is read from where it stands, by one thread only */
  bool uncached;
  uint64_t offset; /* of the first byte */
  size_t align;    /* of direct reads; 1 otherwise */
};

/* One read of the bytes at `at`, counted from source->offset. May be short; 0 is the end. */
int64_t weir__crew_read(const struct weir__crew_source *source, void *data, size_t size, size_t at);

struct weir__crew_result {
  size_t done; /* all bytes before this are there */
  int code;    /* what ended it there: an error, or 0 for the end of the file or of `size` */
};
/* Reads `size` bytes with up to `helpers` more threads and returns how many there were. Behind an error or the end that one
 * of them meets, others may have written already. */
unsigned weir__crew_fill(const struct weir__crew_source *source, char *data, size_t size, unsigned helpers,
                         struct weir__crew_result *result);

#endif
