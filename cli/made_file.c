/*
 * made_file.c - writes under another name in the same directory, flushes and renames. Fragments come from a second file, the
 * spacer, that is allocated a piece at a time in turns with the first and has no name, so that nothing of it can be left.
 */
#include "cli/made_file.h"

#include <errno.h>
#include <string.h>

#include "base/random.h"

#define TRIES 100
#define SPACER_MAX (UINT64_C(1) << 20) /* a longer gap makes no difference to a reader */

static size_t directory_length(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? (size_t)(slash - path) + 1 : 0;
}

/* A new file in the directory of `made`, and its name. */
static int open_temporary(const struct made_file *made, unsigned mode, os_file *out, char name[MADE_FILE_PATH_MAX]) {
  uint64_t number = random_mix(os_wall_ns() ^ (uint64_t)os_process_id() << 40);
  for (int i = 0; i < TRIES; i++, number = random_mix(number)) {
    const int needed =
        snprintf(name, MADE_FILE_PATH_MAX, "%s.weir-%06llx", made->directory, (unsigned long long)(number & 0xffffff));
    if (needed < 0 || needed >= MADE_FILE_PATH_MAX) return -ENAMETOOLONG;
    const int code = os_open_mode(name, OS_READ | OS_WRITE | OS_CREATE | OS_EXCLUSIVE, mode, out);
    if (code != -EEXIST) return code;
  }
  return -EEXIST;
}

/* ---- pieces ---- */

static int open_spacer(struct made_file *made) {
  char name[MADE_FILE_PATH_MAX];
  if (os_open(made->directory, OS_WRITE | OS_UNNAMED, &made->spacer) == 0) return 0;
  const int code = open_temporary(made, 0600, &made->spacer, name);
  return code ? code : os_remove(name);
}

/* Where piece `index` begins: pieces differ by MADE_FILE_PIECE_MIN at most. */
static uint64_t piece_begin(const struct made_file *made, unsigned index) {
  const uint64_t units = made->size / MADE_FILE_PIECE_MIN + (made->size % MADE_FILE_PIECE_MIN != 0);
  const uint64_t begin = (units / made->pieces * index + units % made->pieces * index / made->pieces) * MADE_FILE_PIECE_MIN;
  return begin < made->size ? begin : made->size;
}

static uint64_t spacer_bytes(const struct made_file *made) {
  const uint64_t piece = piece_begin(made, 1);
  return piece < SPACER_MAX ? piece : SPACER_MAX;
}

/* Both files grow in turns, so that neither finds its next block free. */
static int reserve_in_turns(struct made_file *made) {
  const uint64_t gap = spacer_bytes(made);
  int code = 0;
  for (unsigned i = 0; i < made->pieces && code == 0; i++) {
    const uint64_t begin = piece_begin(made, i);
    code = os_allocate_part(made->file, begin, piece_begin(made, i + 1) - begin);
    if (code == 0 && i + 1 < made->pieces) code = os_allocate_part(made->spacer, made->spaced, gap);
    made->spaced += gap;
  }
  return code;
}

static int begin_pieces(struct made_file *made) {
  int code = open_spacer(made);
  if (code == 0) code = reserve_in_turns(made);
  made->one_by_one = code == -EOPNOTSUPP;
  made->spaced = 0;
  return made->one_by_one ? 0 : code;
}

/* Where space is taken only as data are written back. The data are any: they go with the spacer. */
static int grow_spacer(struct made_file *made) {
  static const unsigned char data[4096];
  int64_t code = os_sync(made->file, true);
  for (uint64_t left = spacer_bytes(made); left > 0 && code >= 0; left -= (uint64_t)code, made->spaced += (uint64_t)code) {
    code = os_pwrite_full(made->spacer, data, left < sizeof data ? (size_t)left : sizeof data, made->spaced);
    if (code <= 0) break;
  }
  return code < 0 ? (int)code : os_sync(made->spacer, true);
}

static int write_part(struct made_file *made, const unsigned char *data, size_t length) {
  const int64_t count = os_pwrite_full(made->file, data, length, made->written);
  if (count < 0) return (int)count;
  made->written += (uint64_t)count;
  return (size_t)count == length ? 0 : -EIO;
}

int made_file_write(struct made_file *made, const void *data, size_t length) {
  const unsigned char *bytes = data;
  if (!made->one_by_one) return write_part(made, bytes, length);
  int code = 0;
  while (length > 0 && code == 0) {
    const uint64_t left = piece_begin(made, made->piece + 1) - made->written;
    const size_t part = left < length ? (size_t)left : length;
    code = write_part(made, bytes, part);
    bytes += part;
    length -= part;
    if (part < left || code) continue;
    made->piece++;
    if (made->piece < made->pieces) code = grow_spacer(made);
  }
  return code;
}

/* ---- the whole ---- */

int made_file_begin(struct made_file *made, const char *path, uint64_t size, unsigned pieces, bool replaces) {
  const size_t length = directory_length(path);
  *made = (struct made_file){.path = path, .file = os_no_file, .spacer = os_no_file, .size = size, .pieces = pieces};
  made->replaces = replaces;
  if (length >= sizeof made->directory) return -ENAMETOOLONG;
  snprintf(made->directory, sizeof made->directory, "%.*s", length ? (int)length : 2, length ? path : "./");
  int code = open_temporary(made, 0666, &made->file, made->temporary);
  if (code) return code;
  if (pieces) code = begin_pieces(made);
  if (code) made_file_undo(made);
  return code;
}

static int close_file(struct made_file *made) {
  const os_file file = made->file;
  made->file = os_no_file;
  return os_close(file);
}

int made_file_finish(struct made_file *made, int64_t *extents) {
  struct os_layout layout;
  int code = os_sync(made->file, true);
  *extents = code == 0 && os_file_layout(made->file, made->size, &layout) == 0 ? (int64_t)layout.extents : -1;
  if (code == 0) code = close_file(made);
  if (code == 0) code = made->replaces ? os_rename(made->temporary, made->path) : os_rename_new(made->temporary, made->path);
  if (code) {
    made_file_undo(made);
    return code;
  }
  (void)os_close(made->spacer);
  (void)os_sync_directory(made->directory); /* not every file system can; the file itself is safe */
  return 0;
}

void made_file_undo(struct made_file *made) {
  (void)close_file(made);
  (void)os_close(made->spacer);
  (void)os_remove(made->temporary);
}
