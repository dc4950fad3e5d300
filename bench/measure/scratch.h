/*
 * scratch.h - one locked directory for each place and run, and the janitor who removes it whatever happens to the run.
 */
#ifndef WEIR_SCRATCH_H
#define WEIR_SCRATCH_H

#include "os/os.h"
#include "weir/method.h"

#define SCRATCH_PREFIX ".weir-"

struct scratch {
  unsigned count;
  char **paths;      /* one directory for each place, in the plan's order */
  os_file *locks;
  os_file lifeline;  /* write end of the janitor's pipe; when its last copy closes, the janitor sweeps */
  os_process janitor;
};

/* Sweeps what dead runs left in these directories, then makes new ones. */
int scratch_open(struct scratch *scratch, char *const *places, unsigned count, struct weir_reason *problem);
/* Lets the janitor sweep, and waits for it; sweeps itself where the janitor did not. Negative: something is left. */
int scratch_close(struct scratch *scratch);
/* Removes scratch directories in `place` whose run is gone. Returns how many. */
unsigned scratch_sweep(const char *place);
/* place/.weir-.../name; the caller frees it. NULL: no memory. */
char *scratch_path(const char *directory, const char *name);

#endif
