/* limits.c - what this process may have at most, as ulimit shows it. The limits of control groups are in machine.c. */
#define _GNU_SOURCE
#include <sys/resource.h>

#include "os/linux/calls.h"

/* The soft limit is the one that counts; what cannot be asked is no limit. */
static uint64_t limit_of(__rlimit_resource_t resource) {
  struct rlimit limit;
  if (getrlimit(resource, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  return (uint64_t)limit.rlim_cur;
}

void os_limits(struct os_limits *out) {
  *out = (struct os_limits){.locked_bytes = limit_of(RLIMIT_MEMLOCK),
                            .open_files = limit_of(RLIMIT_NOFILE),
                            .file_bytes = limit_of(RLIMIT_FSIZE),
                            .address_bytes = limit_of(RLIMIT_AS)};
}
