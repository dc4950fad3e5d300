/*
 * mounts.c - reads /proc/self/mountinfo, whose rows are
 * "36 35 98:0 /root /point rw,noatime master:1 - ext4 /dev/root rw,errors=continue".
 */
#define _GNU_SOURCE
#include "os/linux/mounts.h"

#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

static bool is_octal(const char *text) {
  for (int i = 0; i < 3; i++) {
    if (text[i] < '0' || text[i] > '7') return false;
  }
  return true;
}

/* Blanks, line feeds and backslashes in names are written \040, \012, \134. */
static void decode(char *text) {
  char *to = text;
  for (const char *from = text; *from;) {
    if (from[0] == '\\' && is_octal(from + 1)) {
      *to++ = (char)(((from[1] - '0') << 6) | ((from[2] - '0') << 3) | (from[3] - '0'));
      from += 4;
    } else {
      *to++ = *from++;
    }
  }
  *to = '\0';
}

static bool parse(char *row, struct mount *out) {
  char *words[6], *word;
  for (int i = 0; i < 6; i++) {
    words[i] = strsep(&row, " ");
    if (!words[i]) return false;
  }
  while ((word = strsep(&row, " ")) && strcmp(word, "-") != 0) continue; /* optional fields, any number */
  *out = (struct mount){.root = words[3], .point = words[4], .options = words[5]};
  out->type = strsep(&row, " ");
  out->source = strsep(&row, " ");
  out->super_options = strsep(&row, " ");
  if (!out->super_options || sscanf(words[2], "%u:%u", &out->major, &out->minor) != 2) return false;
  decode(out->root);
  decode(out->point);
  decode(out->source);
  return true;
}

bool mounts_next(char **table, struct mount *out) {
  for (char *row; (row = strsep(table, "\n"));) {
    if (parse(row, out)) return true;
  }
  return false;
}

/* Is `path` the mount point or below it? */
static bool lies_on(const char *path, const char *point) {
  size_t length = strlen(point);
  if (length == 1) return true; /* "/" */
  return strncmp(path, point, length) == 0 && (path[length] == '\0' || path[length] == '/');
}

bool mounts_find(char *table, const char *path, dev_t device, struct mount *out) {
  size_t best = 0;
  bool best_device = false;
  for (struct mount mount; mounts_next(&table, &mount);) {
    if (!lies_on(path, mount.point)) continue;
    bool same = makedev(mount.major, mount.minor) == device;
    size_t length = strlen(mount.point);
    if (best_device > same || (best_device == same && length < best)) continue;
    best = length;
    best_device = same;
    *out = mount;
  }
  return best > 0;
}
