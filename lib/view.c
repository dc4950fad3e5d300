/*
 * view.c - a file's own pages as memory. What cannot be mapped, as files that the system makes up, is read into memory of
 * ours instead: the caller sees the same.
 */
#include "lib/internal.h"

/* weir_view.file: what `map` is. */
enum { NOTHING, MAPPED, READ };
#define KIND_MASK 0xffu /* of weir_bytes.kind: all that its release needs */

static int advice_of(enum weir_hint hint, enum os_advice *advice) {
  static const enum os_advice advices[] = {
      [WEIR_HINT_NONE] = OS_ADVICE_NORMAL,
      [WEIR_HINT_SEQUENTIAL] = OS_ADVICE_SEQUENTIAL,
      [WEIR_HINT_RANDOM] = OS_ADVICE_RANDOM,
      [WEIR_HINT_ONCE] = OS_ADVICE_SEQUENTIAL,
  };
  if ((unsigned)hint >= sizeof advices / sizeof advices[0]) return WEIR_EINVAL;
  *advice = advices[hint];
  return 0;
}

/* Every byte is read once: what cannot be read is an error here and not a signal later. */
static int read_through(os_file file, uint64_t offset, size_t size) {
  char block[16384];
  for (size_t at = 0; at < size;) {
    const size_t want = size - at < sizeof block ? size - at : sizeof block;
    const int64_t count = os_pread(file, block, want, offset + at);
    if (count <= 0) return count < 0 ? (int)count : WEIR_ETRUNCATED;
    at += (size_t)count;
  }
  return 0;
}

/* The map says only that a page is bad; reading says why. */
static int populate_map(os_file file, uint64_t offset, const struct weir_view *view) {
  const int code = os_map_populate(view->map, view->size);
  if (!code) return 0;
  const int reason = code == WEIR_EFAULT || code == WEIR_EOPNOTSUPP ? read_through(file, offset, view->size) : code;
  return reason || code == WEIR_EOPNOTSUPP ? reason : WEIR_EIO;
}

static int map(os_file file, uint64_t offset, size_t size, struct weir_view *view) {
  void *address;
  const int code = os_map_part(file, offset, size, 0, &address);
  if (!code) *view = (struct weir_view){.data = address, .size = size, .map = address, .map_size = size, .file = MAPPED};
  return code;
}

/* No size need not mean no bytes: all up to `length` (0: all) of a file that tells none. */
static int read_unsized(os_file file, const struct os_stat *stat, const char *path, uint64_t offset, size_t length,
                        struct weir_bytes *bytes, struct weir_error *error) {
  const struct weir_read_options options = {.offset = offset, .max_bytes = length, .strategy = WEIR_BUFFERED, .threads = 1};
  struct weir_error failure;
  const int code = weir__read_whole(file, stat, path, bytes, &options, &failure);
  if (!code || (code == WEIR_ELIMIT && length)) return 0;
  if (error) *error = failure;
  return code;
}

static int read_sized(os_file file, const char *path, uint64_t offset, size_t size, struct weir_bytes *bytes,
                      struct weir_error *error) {
  int code = weir__bytes_room(bytes, size, 0, 0);
  if (code) return weir__fail(error, code, "allocate", path, offset, size, 0);
  size_t done;
  code = weir__pread(file, bytes->data, size, offset, &done);
  weir__bytes_end(bytes, done, done);
  return code ? weir__fail(error, code, "read", path, offset + done, size - done, done) : 0;
}

/* The memory lives on in the view, with what gives it back. */
static int keep(int code, struct weir_bytes *bytes, struct weir_view *view) {
  if (code) {
    weir_bytes_free(bytes);
    return code;
  }
  *view = (struct weir_view){.data = bytes->data,
                             .size = bytes->size,
                             .map = bytes->data,
                             .map_size = bytes->capacity,
                             .file = READ + (int)(bytes->kind & KIND_MASK)};
  return 0;
}

/* The bytes of the range that the file has; WEIR_EOVERFLOW where they are more than memory can hold. */
static int measure(uint64_t file_size, uint64_t offset, size_t length, size_t *size) {
  const uint64_t left = file_size > offset ? file_size - offset : 0, most = length && length < left ? length : left;
  *size = (size_t)most;
  return most > SIZE_MAX / 2 ? WEIR_EOVERFLOW : 0;
}

static int look(struct weir_view *view, os_file file, const struct os_stat *stat, const char *path, uint64_t offset,
                size_t length, enum os_advice advice, bool populate, struct weir_error *error) {
  size_t size;
  int code = measure(stat->size, offset, length, &size);
  if (code) return weir__fail(error, code, "map", path, offset, length, 0);
  struct weir_bytes bytes = {0};
  if (stat->size == 0) return keep(read_unsized(file, stat, path, offset, length, &bytes, error), &bytes, view);
  if (map(file, offset, size, view)) return keep(read_sized(file, path, offset, size, &bytes, error), &bytes, view);
  if (advice != OS_ADVICE_NORMAL) (void)os_map_advise(view->map, view->map_size, advice);
  code = populate ? populate_map(file, offset, view) : 0;
  if (!code) return 0;
  (void)weir_view_close(view);
  return weir__fail(error, code, "map", path, offset, size, 0);
}

int weir_view_open(struct weir_view *view, const char *path, uint64_t offset, size_t length, enum weir_hint hint,
                   bool populate, struct weir_error *error) {
  enum os_advice advice = OS_ADVICE_NORMAL;
  os_file file;
  struct os_stat stat;
  if (!view) return weir__fail(error, WEIR_EINVAL, "map", path, 0, 0, 0);
  *view = (struct weir_view){0};
  if (advice_of(hint, &advice)) return weir__fail(error, WEIR_EINVAL, "map", path, 0, 0, 0);
  int code = weir__open(path, OS_READ | OS_STAY_READY, 0, 0, &file, &stat, error);
  if (code) return code;
  code = look(view, file, &stat, path, offset, length, advice, populate, error);
  (void)os_close(file); /* a map lives without it */
  return code;
}

int weir_view_close(struct weir_view *view) {
  if (!view) return 0;
  int code = 0;
  if (view->file == MAPPED) {
    code = os_unmap(view->map, view->map_size);
  } else if (view->file >= READ) {
    struct weir_bytes bytes = {.data = view->map, .capacity = view->map_size, .kind = (unsigned)(view->file - READ)};
    weir_bytes_free(&bytes);
  }
  *view = (struct weir_view){0};
  return code;
}
