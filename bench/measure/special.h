/*
 * special.h - files and file systems whose numbers are no numbers of a disk: stacked, remote or served by a program; packed
 * on the way; data that pack well.
 */
#ifndef WEIR_SPECIAL_H
#define WEIR_SPECIAL_H

#include "os/os.h"

/* "overlay", "fuse", "network", or NULL: a file system that keeps its data on a device of this machine, or in memory. */
const char *special_kind(const struct os_place *place);
/* Does the file system pack what is written? */
bool special_packs(const struct os_place *place);

/* Data that pack to less than this share are called compressible. */
#define SPECIAL_COMPRESSIBLE 0.9
/*
 * What packing leaves of a sample of the file's first `size` bytes, as a fraction. Pages that were not in the cache are
 * taken out again. -ENOSYS: built without a library for it.
 */
int special_ratio(os_file file, uint64_t size, double *ratio);

#endif
