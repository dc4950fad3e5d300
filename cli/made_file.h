/*
 * made_file.h - a new file that appears whole or not at all, in one piece of the disk or, on request, in many. It knows
 * nothing of contents.
 */
#ifndef WEIR_CLI_MADE_FILE_H
#define WEIR_CLI_MADE_FILE_H

#include "os/os.h"

#define MADE_FILE_PIECE_MIN 4096u
#define MADE_FILE_PATH_MAX 4096

struct made_file {
  const char *path;
  char directory[MADE_FILE_PATH_MAX], temporary[MADE_FILE_PATH_MAX];
  os_file file;
  uint64_t size, written;
  unsigned pieces; /* that shall lie apart; 0: wherever the file system puts them */
  unsigned piece;  /* the one that is written now */
  os_file spacer;  /* what is allocated between two pieces; os_no_file */
  uint64_t spaced; /* bytes of it */
  bool one_by_one; /* the file system reserves nothing: each piece is written and flushed before the spacer grows */
  bool replaces;
};

/*
 * Makes a temporary file beside `path`. `pieces`: in how many it shall lie, each at least MADE_FILE_PIECE_MIN; 0 leaves
 * that to the file system. With pieces it takes up to twice the space until it is finished. 0 or a negative errno value,
 * with nothing left behind.
 */
int made_file_begin(struct made_file *made, const char *path, uint64_t size, unsigned pieces, bool replaces);
/* Appends; all calls together give `size` bytes. */
int made_file_write(struct made_file *made, const void *data, size_t length);
/* Puts it on stable storage and gives it its name: -EEXIST if there is one by now and it is not to be replaced. *extents:
 * in how many pieces it lies; -1: cannot be known. After a failure nothing is left. */
int made_file_finish(struct made_file *made, int64_t *extents);
void made_file_undo(struct made_file *made);

#endif
