/* suite_file.c - see suite_file.h. */
#include "cli/suite_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/os.h"

/* No suite that a plan can hold is longer. */
#define TEXT_MAX ((size_t)1 << 20)
#define SUFFIX ".ini"

static bool names_file(const char *suite) {
  const size_t length = strlen(suite), tail = strlen(SUFFIX);
  return strchr(suite, '/') || (length > tail && strcmp(suite + length - tail, SUFFIX) == 0);
}

static bool is_built_in(const char *suite) {
  for (const struct plan_suite *known = plan_suites; known->name; known++)
    if (strcmp(known->name, suite) == 0) return true;
  return false;
}

static bool is_file(const char *path) {
  struct os_stat stat;
  return os_stat_path(path, &stat) == 0 && stat.kind == OS_REGULAR;
}

/* A name that was not meant to be one of ours: the file of this name, with or without its end, is in this directory. */
static int check_name(const struct command *command, const char *suite) {
  char path[256];
  const int length = snprintf(path, sizeof path, "./%s", suite);
  if (length < 0 || (size_t)length + strlen(SUFFIX) >= sizeof path || is_built_in(suite)) return 0;
  if (!is_file(path)) memcpy(path + length, SUFFIX, sizeof SUFFIX);
  return is_file(path) ? command_fail(command, "--suite", path, "unknown suite '%s'; a file is named with its path", suite)
                       : 0;
}

static int refuse(const struct command *command, const char *path, const char *why) {
  return command_fail(command, "--suite", NULL, "'%s': %s", path, why);
}

static int read_text(const struct command *command, const char *path, char **text) {
  FILE *in = fopen(path, "r");
  if (!in) return refuse(command, path, strerror(errno));
  char *data = malloc(TEXT_MAX + 1);
  errno = 0;
  const size_t length = data ? fread(data, 1, TEXT_MAX + 1, in) : 0;
  const char *why = ferror(in) ? strerror(errno ? errno : EIO) : NULL;
  fclose(in);
  if (!data) return command_cannot("out of memory");
  if (!why && length > TEXT_MAX) why = "is longer than 1 MiB";
  if (!why && memchr(data, '\0', length)) why = "is no text: it holds a NUL byte";
  if (!why) data[length] = '\0';
  if (!why) *text = data;
  if (why) free(data);
  return why ? refuse(command, path, why) : 0;
}

int suite_file_read(const struct command *command, const char *suite, char **text) {
  struct os_stat stat;
  char why[64];
  *text = NULL;
  if (!suite) return 0;
  if (!names_file(suite)) return check_name(command, suite);
  const int code = os_stat_path(suite, &stat);
  if (code < 0) return refuse(command, suite, strerror(-code));
  snprintf(why, sizeof why, "is a %s, no file", os_kind_name(stat.kind));
  return stat.kind == OS_REGULAR ? read_text(command, suite, text) : refuse(command, suite, why);
}
