/*
 * save.h - putting a file in place: in one step by a temporary file that takes its name, or written where it stands. What
 * save.c and writer.c share; it moves no bytes itself.
 */
#ifndef WEIR_SAVE_H
#define WEIR_SAVE_H

#include "lib/internal.h"

/* `path` is the caller's and must live as long. */
struct weir__save {
  const char *path;
  os_file file;
  os_file old_file;    /* the file that is replaced, locked; os_no_file */
  char *target;        /* with WEIR_ATOMIC: the path that it will have; links are followed */
  char *temporary;     /* the path that it has until then; NULL: written in place, or named already */
  unsigned flags;      /* WEIR_ATOMIC, WEIR_DURABLE, WEIR_NEW */
  bool created;        /* in place, and there was none before */
  bool directory_done; /* the directory was flushed after it was created */
  bool replaces;       /* `old`, whose mode and owner are kept */
  struct os_stat old;  /* with WEIR_ATOMIC */
  struct os_stat stat; /* of `file` when it was opened */
};

/* Flags that weir__save_begin understands: those of weir_write_file, and WEIR_LOCK. */
#define WEIR__SAVE_FLAGS \
  (WEIR_ATOMIC | WEIR_DURABLE | WEIR_PREALLOCATE | WEIR_NEW | WEIR_NO_FOLLOW | WEIR_ANY_KIND | WEIR_LOCK)

/* Opens the file to write to. `os_flags`: more of enum os_open_flag. After a failure there is nothing to undo. */
int weir__save_begin(struct weir__save *save, const char *path, unsigned os_flags, unsigned flags, unsigned mode,
                     struct weir_error *error);
/* Flushes what is written so far and, where the file is new, its name. */
int weir__save_flush(struct weir__save *save);
/* Cuts the file to `size` unless that is UINT64_MAX, flushes it and gives it its name as the flags ask, and closes it. On
 * a failure before it has its name it is undone. */
int weir__save_finish(struct weir__save *save, uint64_t size, struct weir_error *error);
/* Closes the file. A temporary or new one is removed; another is cut to `size` unless that is UINT64_MAX. */
void weir__save_undo(struct weir__save *save, uint64_t size);
/* Closes the file and touches nothing: for the child of a fork. */
void weir__save_drop(struct weir__save *save);
/* Flushes the directory that holds `path`, where a last part that is a link leads. */
int weir__sync_directory_of(const char *path);

#endif
