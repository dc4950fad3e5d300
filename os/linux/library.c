/*
 * library.c - loading shared libraries: plugins. They are never unloaded, because what they left behind (threads, exit
 * handlers, text in reports) may outlive any moment that we could choose.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "os/linux/calls.h"

static int explain(char *why, size_t why_size, int code) {
  const char *text = dlerror();
  if (why && why_size) (void)snprintf(why, why_size, "%s", text ? text : strerror(-code));
  return code;
}

/* A name without a slash would be searched along library paths; here it is a file like every other. */
static int open_library(const char *path, int scope, struct os_library **out, char *why, size_t why_size) {
  char literal[PATH_MAX];
  const char *lead = strchr(path, '/') ? "" : "./";
  if (snprintf(literal, sizeof literal, "%s%s", lead, path) >= (int)sizeof literal) return explain(why, why_size, -ENAMETOOLONG);
  *out = (struct os_library *)dlopen(literal, RTLD_NOW | scope);
  return *out ? 0 : explain(why, why_size, -ENOEXEC);
}

int os_library_open(const char *path, struct os_library **out, char *why, size_t why_size) {
  return open_library(path, RTLD_LOCAL, out, why, why_size);
}

int os_library_share(const char *path, struct os_library **out, char *why, size_t why_size) {
  return open_library(path, RTLD_GLOBAL, out, why, why_size);
}

int os_library_function(struct os_library *library, const char *name, os_function **out) {
  void *found = dlsym(library, name);
  if (!found) return -ENOENT;
  memcpy(out, &found, sizeof found); /* ISO C has no cast from data to functions; POSIX has the same bytes */
  return 0;
}
