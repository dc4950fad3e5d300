/* compress_zlib.c - see compress.h. Level 1: what is packed on the way to a disk is packed in a hurry. */
#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#include "measure/compress.h"

int compress_size(const void *data, size_t length, size_t *packed) {
  uLongf room = compressBound((uLong)length);
  Bytef *out = malloc(room);
  if (!out) return -ENOMEM;
  int code = compress2(out, &room, data, (uLong)length, 1);
  free(out);
  *packed = room;
  return code == Z_OK ? 0 : -ENOMEM;
}
