/*
 * memory.h - the run with less memory than the machine has, so that files may be larger than memory.
 */
#ifndef WEIR_MEMORY_H
#define WEIR_MEMORY_H

#include "os/os.h"
#include "weir/method.h"

/* Less is not enough for the program itself. */
#define MEMORY_LIMIT_MIN ((uint64_t)16 << 20)

struct memory {
  struct os_memory_group *group; /* shared with the janitor; NULL: no limit */
  os_file lifeline;              /* when its last copy closes, the janitor removes the group */
  os_process janitor;
};

/* Makes the group, and nobody is in it. `limit` 0: none is wanted. 0, or a negative errno value with words in `problem`. */
int memory_open(struct memory *memory, uint64_t limit, struct weir_reason *problem);
/*
 * From here on what this process reads into the page cache counts, and so do its workers, which are the first to go when it
 * does not suffice. Preparing files has to count too: a page belongs to who brought it in.
 */
int memory_enter(const struct memory *memory, struct weir_reason *problem);
/* Leaves and removes it. */
void memory_close(struct memory *memory);

#endif
