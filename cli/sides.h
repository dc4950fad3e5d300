/*
 * sides.h - OLD and NEW of `weir compare --rerun`: two plugins with the same methods, or two builds of libweir, as
 * contenders of one run. Their methods are called NAME.old and NAME.new.
 */
#ifndef WEIR_CLI_SIDES_H
#define WEIR_CLI_SIDES_H

#include "measure/measure.h"
#include "measure/plugin.h"

#define SIDES_MAX 2u
extern const char *const sides_endings[SIDES_MAX]; /* ".old", ".new" */

struct side {
  const char *file;
  bool is_library;       /* a build of libweir: its methods are bound in the worker */
  struct plugin methods; /* copies, under their new names */
  char **names;          /* of them */
};

typedef int sides_loader(const char *path, struct plugin *out, struct weir_reason *problem);
/* `index` 0: OLD, 1: NEW. `load` is plugin_open, or plugin_load in a worker. 0 or a negative errno value with words. */
int side_open(struct side *side, const char *file, unsigned index, sides_loader *load, struct weir_reason *problem);
void side_close(struct side *side);
/* struct measure_prepare: binds the method, if it is one of a build of libweir, to that build. `context`: both sides. */
int sides_prepare(void *context, const struct weir_method *method, struct weir_reason *problem);

/* Puts into `out` what the user's specs mean here: "family/name[...]" stands for both of its sides. 0 or -ENOMEM; the texts
 * are added to `made`, which the caller frees with its count. */
struct sides_texts {
  unsigned count;
  char **texts;
};
int sides_specs(const struct side sides[SIDES_MAX], const struct plan_strings *said, struct plan_strings *out,
                struct sides_texts *made);
void sides_texts_release(struct sides_texts *texts);

#endif
