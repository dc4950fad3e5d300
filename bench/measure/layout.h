/*
 * layout.h - the files that cells work on: laid out before anything is timed, fully written, incompressible, synced.
 */
#ifndef WEIR_LAYOUT_H
#define WEIR_LAYOUT_H

#include "measure/content.h"
#include "measure/made.h"
#include "measure/measure.h"
#include "measure/scratch.h"

enum layout_role { LAYOUT_READ_WARM, LAYOUT_READ_COLD, LAYOUT_WRITE, LAYOUT_MIXED, LAYOUT_FLUSH, LAYOUT_USER, LAYOUT_ROLES };

struct layout_file {
  enum layout_role role;
  unsigned place;
  unsigned member;      /* of a striped demand: which; else 0 */
  unsigned owner;       /* the cell that has it alone, in its group; both counted from 1. 0: shared */
  unsigned owner_group;
  uint64_t size;
  enum weir_task task;  /* of a stream: what the file holds; of copy and many: they are many files; else blocks */
  uint64_t item_bytes;  /* as in the demand */
  uint64_t part_bytes;  /* many files: bytes of each; else 0 */
  char *path;           /* literal; of many files: their directory */
  char *copies;         /* task copy: the directory for them; else NULL */
  const char *directory;/* of the file; not owned */
  uint64_t device;      /* os_stat.device */
  bool is_whole;        /* full size, every block written */
  struct os_stat seen;  /* when it was laid out */
  bool is_warm;         /* was warmed by us since it was last evicted or written */
  bool wanted;
};

/* Files that one layout_file stands for: 1, or many. `out` has room for a path and WEIR_MANY_NAME more; returns the size of
 * that file. With `copies`, the copy of it. */
uint64_t layout_parts(const struct layout_file *file);
uint64_t layout_part(const struct layout_file *file, uint64_t index, bool copies, char *out);
#define LAYOUT_PATH_MAX (4096 + WEIR_MANY_NAME)
/* Empties the directory of copies. */
int layout_clear_copies(const struct layout_file *file);

struct layout {
  struct layout_file *files;
  unsigned count;
  char *user_directory;
};

/*
 * Makes the files of every group that is not dropped, and removes those that no group needs any more. Safe to call again
 * after sizes have changed. -EINTR when interrupted, -ENOSPC (with words) before anything is written that would not fit.
 */
int layout_update(struct layout *layout, const struct run *run, const struct scratch *scratch, const struct content *content,
                  const struct measure_options *options, struct weir_reason *problem);
/* Is there room for all of them? Writes nothing. 0, or -ENOSPC with words. */
int layout_fits(const struct run *run, struct weir_reason *problem);
/* What an instance works on: member `member` of a striped demand, else always the same file. */
struct layout_file *layout_find(struct layout *layout, const struct plan *plan, unsigned group, unsigned cell, unsigned member);
/* The second file that --flush=file reads: as large, in the same place; NULL if there is none. */
struct layout_file *layout_flush_file(struct layout *layout, const struct layout_file *file);
/* Writes `size` bytes of content to `path` (made or cut) and syncs them. */
int layout_write(const char *path, uint64_t size, const struct content *content, volatile int *interrupted);
void layout_release(struct layout *layout);

/* ---- cache states -------------------------------------------------------------------------------------------------- */

/* Share of the first `size` bytes in the cache, in millionths; -1 when the system does not tell. */
int32_t layout_resident_ppm(const struct layout_file *file);
/* Bytes in the cache of the copies that were made of it; those that are not there have none. -1 as above. */
int64_t layout_copies_cached(const struct layout_file *file);
/* Bring the file into the state; return enum run_flag bits, or a negative errno value. */
int layout_make_warm(struct layout_file *file);
/* Reads the first `size` bytes as warming does. */
int layout_read_through(os_file file, uint64_t size);
int layout_make_cold(struct layout_file *file, enum plan_flush flush, struct layout_file *flush_file);
/* Waits until nothing of the file is dirty or being written back, 5 s at most. Negative: what was written got lost. */
int layout_settle(struct layout_file *file);

#endif
