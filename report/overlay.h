/*
 * overlay.h - figures that a study published, to be set beside ours: the same style, access, direction and sizes on the
 * author's machine. They come from suites/data and are constants of the program.
 */
#ifndef WEIR_OVERLAY_H
#define WEIR_OVERLAY_H

#include "plan/plan.h"

struct overlay_figure {
  const char *style;
  enum weir_access access;
  enum weir_direction direction;
  uint64_t request_bytes;     /* 0: the study fixed none */
  uint64_t size_bytes, loops; /* 0: any */
  double seconds, mb_per_s;   /* as published; MB/s 0: not published */
};
struct overlay {
  const char *name, *source, *machine, *file;
  unsigned count;
  const struct overlay_figure *figures;
};
extern const struct overlay overlay_list[]; /* NULL-terminated by name */

/* NULL when there is none; *hint is then the nearest name, or NULL. */
const struct overlay *overlay_by_name(const char *name, const char **hint);
/* What the study says of this cell; NULL when it says nothing, or `overlay` is NULL. */
const struct overlay_figure *overlay_find(const struct overlay *overlay, const struct plan_group *group,
                                          const struct plan_cell *cell);

#endif
