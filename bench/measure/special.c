/* special.c - see special.h. Looks at names and at a few pieces of a file; changes nothing, the page cache included. */
#include "measure/special.h"

#include <errno.h>
#include <string.h>

#include "measure/compress.h"

/* ---- file systems -------------------------------------------------------------------------------------------------- */

static bool is_one_of(const char *word, const char *const *words) {
  for (; *words; words++)
    if (strcmp(word, *words) == 0) return true;
  return false;
}

const char *special_kind(const struct os_place *place) {
  static const char *const stacked[] = {"overlay", "overlayfs", "aufs", "unionfs", "ecryptfs", NULL};
  static const char *const remote[] = {"nfs",  "nfs4",   "cifs", "smb3",   "smbfs", "9p",     "virtiofs", "ceph",   "afs",
                                       "coda", "lustre", "gpfs", "beegfs", "pvfs2", "vboxsf", "hgfs",     "prl_fs", NULL};
  const char *type = place->file_system;
  if (is_one_of(type, stacked)) return "overlay";
  if (is_one_of(type, remote)) return "network";
  if (strcmp(type, "fuse") == 0 || strcmp(type, "fuseblk") == 0 || strncmp(type, "fuse.", 5) == 0) return "fuse";
  return NULL;
}

bool special_packs(const struct os_place *place) {
  static const char word[] = "compress"; /* btrfs: compress, compress-force; f2fs: compress_algorithm */
  for (const char *at = place->options; *at; at += strcspn(at, ","), at += *at == ',') {
    if (strncmp(at, word, sizeof word - 1) != 0) continue;
    const char *value = at + strcspn(at, "=,");
    return strncmp(value, "=no", 3) != 0;
  }
  return false;
}

/* ---- compressible data --------------------------------------------------------------------------------------------- */

enum { PIECES = 64, PIECE = 4096 };

struct tally {
  uint64_t bytes, packed;
};

static int add_piece(os_file file, uint64_t offset, void *data, struct tally *tally) {
  struct os_cache before;
  size_t packed;
  int known = os_cache_state(file, offset, PIECE, &before);
  int64_t got = os_pread_full(file, data, PIECE, offset);
  if (known == 0 && before.cached_bytes == 0) os_cache_evict(file, offset, PIECE);
  if (got <= 0) return (int)got;
  int result = compress_size(data, (size_t)got, &packed);
  if (result < 0) return result;
  tally->bytes += (uint64_t)got;
  tally->packed += packed;
  return 0;
}

int special_ratio(os_file file, uint64_t size, double *ratio) {
  struct tally tally = {0};
  uint64_t pieces = size / PIECE < PIECES ? size / PIECE + (size % PIECE != 0) : PIECES;
  void *data;
  int result = os_memory_get(PIECE, 0, &data);
  if (result < 0) return result;
  os_advise(file, 0, 0, OS_ADVICE_RANDOM); /* a read of one piece brings one piece */
  for (uint64_t i = 0; i < pieces && result == 0; i++)
    result = add_piece(file, size / PIECE / pieces * i * PIECE, data, &tally);
  os_memory_put(data, PIECE);
  if (result == 0 && tally.bytes == 0) result = -ENODATA;
  if (result == 0) *ratio = (double)tally.packed / (double)tally.bytes;
  return result;
}
