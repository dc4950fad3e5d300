/* uncounted.c - os_allocations_begin for programs that are built without allocations.c: it cannot be known. */
#include <errno.h>

#include "os/os.h"

int os_allocations_begin(void) { return -EOPNOTSUPP; }
void os_allocations_end(struct os_allocations *out) { *out = (struct os_allocations){0}; }
