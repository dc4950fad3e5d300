/*
 * compress.h - how far data can be packed. A disk, a host or a file system that packs data moves fewer bytes than a reader
 * gets, and what it then shows is not the speed of the medium.
 */
#ifndef WEIR_COMPRESS_H
#define WEIR_COMPRESS_H

#include <stddef.h>

/* Bytes that are left of `data` when it is packed quickly. -ENOSYS: this weir was built without a library for it. */
int compress_size(const void *data, size_t length, size_t *packed);

#endif
