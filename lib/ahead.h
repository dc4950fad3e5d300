/*
 * ahead.h - block streams as the library's own files use them. ahead_open.c opens and chooses, ahead.c hands blocks out,
 * flight.c keeps several of them in flight. A reader of lines may put the rest of the block before in front of the next one: every block
 * has that much room before it.
 */
#ifndef WEIR_AHEAD_H
#define WEIR_AHEAD_H

#include "lib/internal.h"

/* One block's place in memory. Direct transfers take whole sectors, so reading may begin before the block and end behind. */
struct weir__slot {
  char *memory;    /* where reading begins; the room is before it */
  uint64_t offset; /* of memory[0] in the file */
  size_t skip;     /* bytes of memory that come before the block */
  size_t want;     /* bytes to read, from `memory` on */
  size_t got;      /* of them are there */
  int error;
  atomic_uint done; /* flight.c: is it read? */
};

/* Buffered reading: how far ahead the system is asked to read. */
struct weir__ahead {
  bool ask;           /* a first try takes only what is cached, so that a miss is seen */
  bool sequential;    /* the system has been told that reads come in order */
  uint64_t distance;  /* bytes asked for ahead of the block; 0: it is all cached */
  uint64_t most;      /* of `distance` */
  uint64_t requested; /* the file is asked for up to here */
  unsigned hits;      /* blocks in a row that were cached */
};

struct weir__flight;

struct weir_stream {
  os_file file;     /* blocks are read from here */
  os_file plain;    /* the same file through the page cache, where `file` is direct; os_no_file: none */
  bool close_file;  /* with the stream */
  bool close_plain; /* likewise */
  bool positional;
  int pushed; /* a byte that was taken from a pipe before and comes first; -1: none */
  bool exact;
  bool may_change;   /* WEIR_AUTO: what is refused is done another way */
  unsigned transfer; /* of enum os_transfer_flag */
  struct os_stat stat;
  size_t alignment; /* of offsets and lengths; 1: any */
  size_t block, room, stride;
  void *pages;
  size_t pages_bytes;
  char *map; /* the whole range, mapped */
  size_t map_bytes;
  struct weir__slot *slots;
  unsigned slot_count;         /* a power of two */
  struct weir__slot *held;     /* whose block the caller has */
  struct weir__flight *flight; /* NULL: each block is read when it is wanted */
  struct weir__ahead ahead;
  uint64_t begin, position, end; /* of the range, of the next block, behind the range */
  uint64_t known_end;            /* the size at the open, at most `end`: reading ahead stops here, not reading */
  uint64_t cut;                  /* where blocks are cut; 0: nowhere */
  bool ended;
  int failed;      /* given by every further call */
  int first_error; /* given by the close */
  int process;
  struct weir_choice how;
  struct weir_error error; /* error.path is set from the start */
};

/* ---- ahead_open.c ---- */

/* As weir_stream_open and weir_stream_open_file; `room`: keep room before each block. */
int weir__stream_open(const char *path, const struct weir_stream_options *options, bool room, struct weir_stream **out,
                      struct weir_error *error);
int weir__stream_open_file(struct weir_file *file, const struct weir_stream_options *options, bool room,
                           struct weir_stream **out, struct weir_error *error);
/* Another stream of the same file, which must stay open as long: one block in memory, read when it is wanted. */
int weir__stream_clone(const struct weir_stream *stream, struct weir_stream **out);
/* Memory for `count` blocks, of how many there are without a flight; `flags` of weir__pages_get. */
int weir__slots_make(struct weir_stream *stream, unsigned count, unsigned flags);
void weir__slots_drop(struct weir_stream *stream);
unsigned weir__slots_at_rest(const struct weir_stream *stream);
/* From a file that passes the page cache by to the same file through it. */
int weir__stream_take_plain(struct weir_stream *stream);
/* What is told from now on: plain reads, for this reason, a constant. */
void weir__stream_buffered(struct weir_stream *stream, const char *reason);
/* What is in flight has ended. */
void weir__stream_release(struct weir_stream *stream);

/* ---- ahead.c ---- */

/* Goes on at `offset` of the file. No block reaches across `cut`, and those behind it are small. Only for clones. */
void weir__stream_restart(struct weir_stream *stream, uint64_t offset, uint64_t cut);
/*
 * As weir_stream_next; `tail`, at most weir__stream_room bytes of the block before, is put right before block->data. At the
 * end it may have been moved too: then block->data is not NULL.
 */
int weir__stream_next(struct weir_stream *stream, const char *tail, size_t tail_size, struct weir_slice *block);
size_t weir__stream_room(const struct weir_stream *stream);
/* The whole range, where it is mapped. */
bool weir__stream_whole(const struct weir_stream *stream, struct weir_slice *whole);

/* ---- shared with flight.c ---- */

/* Makes `slot` the place of the block at `position` of the file; nothing of it is read yet. */
void weir__slot_prepare(const struct weir_stream *stream, struct weir__slot *slot, uint64_t position);
/* Reads what is still missing of it, up to the end of the file. Sets slot->error. Any thread. */
void weir__slot_read(const struct weir_stream *stream, struct weir__slot *slot);

/* ---- flight.c ---- */

/* Keeps up to `depth` blocks in flight, by a ring or by `threads` threads; fewer threads if no more can be had. */
int weir__flight_open(struct weir_stream *stream, bool ring, unsigned depth, unsigned threads);
/* The next block's slot when it has been read, with its error; NULL if it is behind what is known of the file, so that it
 * is not read ahead. *error: the ring itself has failed. */
struct weir__slot *weir__flight_take(struct weir_stream *stream, int *error);
/* Begins to read more. To be called when the block before has been given back. */
void weir__flight_go_on(struct weir_stream *stream);
unsigned weir__flight_threads(const struct weir_stream *stream);
/* Waits for what is in flight and ends it. False: the system may still write to the slots; their memory must stay. */
bool weir__flight_close(struct weir_stream *stream);

#endif
