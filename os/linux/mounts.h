/*
 * mounts.h - finding things in the table of mounts (/proc/self/mountinfo). Private to this folder.
 */
#ifndef WEIR_OS_MOUNTS_H
#define WEIR_OS_MOUNTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* One row. The words are in the table's memory, octal escapes decoded. */
struct mount {
  unsigned major, minor;
  char *root, *point, *options, *type, *source, *super_options;
};

/* Cuts the next row out of `*table`, which it changes and moves on. false at the end. */
bool mounts_next(char **table, struct mount *out);
/*
 * The mount that `path` (absolute, without links) lies on: the longest mount point above it, of this device if there is
 * one; of several on one point the last, which covers the others. false when there is none.
 */
bool mounts_find(char *table, const char *path, dev_t device, struct mount *out);

#endif
