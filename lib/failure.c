/*
 * failure.c - codes as text, and filling in what failed. Constants only: nothing here follows a locale or keeps memory.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/internal.h"

#define TEXT(x) #x
#define VERSION(major, minor, patch) TEXT(major) "." TEXT(minor) "." TEXT(patch)

const char *weir_version(void) { return VERSION(WEIR_VERSION_MAJOR, WEIR_VERSION_MINOR, WEIR_VERSION_PATCH); }

/* ---- errno values that weir.h does not name: constants too, so that any thread may keep the pointer ---- */

#define ONES(front)                                                                                                       \
  "error " front "0", "error " front "1", "error " front "2", "error " front "3", "error " front "4", "error " front "5", \
      "error " front "6", "error " front "7", "error " front "8", "error " front "9"
#define TENS(front)                                                                                                      \
  ONES(front "0"), ONES(front "1"), ONES(front "2"), ONES(front "3"), ONES(front "4"), ONES(front "5"), ONES(front "6"), \
      ONES(front "7"), ONES(front "8"), ONES(front "9")

static const char numbered[1000][10] = {
    ONES(""),  ONES("1"), ONES("2"), ONES("3"), ONES("4"), ONES("5"), ONES("6"), ONES("7"), ONES("8"), ONES("9"),
    TENS("1"), TENS("2"), TENS("3"), TENS("4"), TENS("5"), TENS("6"), TENS("7"), TENS("8"), TENS("9"),
};

const char *weir_strerror(int code) {
  switch (code) {
#define ERROR_TEXT(name, value, text) \
  case value:                         \
    return text;
    WEIR_ERRORS(ERROR_TEXT)
#undef ERROR_TEXT
    default:
      if (code >= 0) return "no error";
      return code > -1000 ? numbered[-code] : "unknown error";
  }
}

const char *weir_error_name(int code) {
  switch (code) {
#define ERROR_NAME(name, value, text) \
  case value:                         \
    return #name;
    WEIR_ERRORS(ERROR_NAME)
#undef ERROR_NAME
    case WEIR_OK:
      return "WEIR_OK";
    default:
      return "";
  }
}

/* ---- what failed ---- */

/* Paths hold any byte but zero; in a line of text a newline, or what moves a terminal's cursor, becomes '?'. */
static void one_line(char *out, size_t size, const char *path) {
  size_t length = 0;
  for (; path[length] && length + 1 < size; length++) {
    const unsigned char byte = (unsigned char)path[length];
    out[length] = byte < 0x20 || byte == 0x7f ? '?' : path[length];
  }
  out[length] = '\0';
}

int weir_error_text(const struct weir_error *error, char *out, size_t size) {
  char path[sizeof error->path] = "", place[32] = "";
  if (!error) return snprintf(out, size, "%s", "no error");
  one_line(path, sizeof path, error->path);
  if (error->offset || error->size) (void)snprintf(place, sizeof place, " at %" PRIu64, error->offset);
  return snprintf(out, size, "%s%s%s%s%s%s", error->operation ? error->operation : "", path[0] ? " " : "", path, place,
                  error->operation || path[0] ? ": " : "", weir_strerror(error->code));
}

/* The end of what is too long tells more than its start; it begins with a whole character. */
static void keep_path(char *out, size_t size, const char *path) {
  size_t length = strlen(path);
  if (length >= size) {
    path += length - (size - 1);
    while (((unsigned char)*path & 0xc0) == 0x80) path++;
    length = strlen(path);
  }
  memmove(out, path, length + 1);
}

int weir__fail(struct weir_error *error, int code, const char *operation, const char *path, uint64_t offset, uint64_t size,
               uint64_t transferred) {
  if (!error) return code;
  error->code = code;
  error->operation = operation;
  error->offset = offset;
  error->size = size;
  error->transferred = transferred;
  keep_path(error->path, sizeof error->path, path ? path : "");
  return code;
}

int weir__report(struct weir_error *error, int code, const struct weir_error *last) {
  if (!code || !error) return code;
  *error = *last;
  if (last->code == code) return code;
  *error = (struct weir_error){.code = code, .operation = last->operation ? last->operation : "close"};
  memcpy(error->path, last->path, sizeof error->path);
  return code;
}

int weir__check(unsigned flags, unsigned known, const uint64_t reserved[4]) {
  if (flags & ~known) return WEIR_EINVAL;
  for (unsigned i = 0; reserved && i < 4; i++) {
    if (reserved[i]) return WEIR_EINVAL;
  }
  return 0;
}

const char *weir_strategy_name(enum weir_strategy strategy) {
  static const char *const names[] = {
      [WEIR_AUTO] = "auto",         [WEIR_BUFFERED] = "buffered", [WEIR_MAPPED] = "mapped",   [WEIR_DIRECT] = "direct",
      [WEIR_UNCACHED] = "uncached", [WEIR_RING] = "ring",         [WEIR_THREADS] = "threads",
  };
  return (unsigned)strategy <= WEIR_THREADS ? names[strategy] : "unknown";
}
