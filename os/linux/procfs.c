/*
 * procfs.c - reading the short texts in which the kernel tells about itself. Their st_size is a lie; they are read to the
 * end. Nothing depends on the locale.
 */
#define _GNU_SOURCE
#include "os/linux/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/linux/calls.h"

#define WHOLE_MAX ((size_t)16 << 20) /* a mountinfo with a hundred thousand mounts */

static int64_t read_up_to(int fd, char *out, size_t room) {
  size_t done = 0;
  while (done < room) {
    int64_t count = os_read(fd, out + done, room - done);
    if (count < 0) return count;
    if (count == 0) break;
    done += (size_t)count;
  }
  return (int64_t)done;
}

int64_t procfs_text(const char *path, char *out, size_t size) {
  out[0] = '\0';
  int fd = call_open_above(path, O_RDONLY, 0);
  if (fd < 0) return fd;
  int64_t length = read_up_to(fd, out, size - 1);
  (void)os_close(fd);
  if (length > 0 && out[length - 1] == '\n') length--;
  out[length < 0 ? 0 : length] = '\0';
  return length;
}

static char *read_growing(int fd) {
  char *text = NULL;
  size_t length = 0;
  for (size_t room = 16384; room <= WHOLE_MAX; room *= 2) {
    char *larger = realloc(text, room);
    if (!larger) break;
    text = larger;
    int64_t count = read_up_to(fd, text + length, room - 1 - length);
    if (count < 0) break;
    length += (size_t)count;
    text[length] = '\0';
    if (length < room - 1) return text;
  }
  free(text);
  return NULL;
}

char *procfs_whole(const char *path) {
  int fd = call_open_above(path, O_RDONLY, 0);
  if (fd < 0) return NULL;
  char *text = read_growing(fd);
  (void)os_close(fd);
  return text;
}

static int64_t parse(const char *text) {
  char *end;
  errno = 0;
  int64_t value = strtoll(text, &end, 10);
  return end == text || errno ? -1 : value;
}

int64_t procfs_number(const char *path) {
  char text[64];
  return procfs_text(path, text, sizeof text) < 0 ? -1 : parse(text);
}

int procfs_write(const char *path, const char *word) {
  int fd = call_open_above(path, O_WRONLY, 0);
  if (fd < 0) return fd;
  int64_t count = os_write(fd, word, strlen(word));
  int error = os_close(fd);
  return count < 0 ? (int)count : error;
}

static const char *after_key(const char *text, const char *key) {
  size_t length = strlen(key);
  for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
    if (strncmp(line, key, length) == 0) return line + length;
  }
  return NULL;
}

int64_t procfs_field(const char *text, const char *key) {
  const char *value = after_key(text, key);
  return value ? parse(value) : -1;
}

bool procfs_line(const char *text, const char *key, char *out, size_t size) {
  const char *value = after_key(text, key);
  if (!value) return false;
  value += strspn(value, " \t");
  if (*value == ':') value++;
  value += strspn(value, " \t");
  (void)snprintf(out, size, "%.*s", (int)strcspn(value, "\n"), value);
  return true;
}

void procfs_chosen(const char *text, char *out, size_t size) {
  const char *open = strchr(text, '[');
  (void)snprintf(out, size, "%.*s", open ? (int)strcspn(open + 1, "]") : 0, open ? open + 1 : "");
}

bool procfs_has_word(const char *list, const char *word) {
  size_t length = strlen(word);
  for (const char *at = list; *at;) {
    size_t here = strcspn(at, " \t\n");
    if (here == length && strncmp(at, word, length) == 0) return true;
    at += here + strspn(at + here, " \t\n");
  }
  return false;
}
