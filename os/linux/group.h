/*
 * group.h - control groups: which one this process is in. Private to this folder.
 */
#ifndef WEIR_OS_GROUP_H
#define WEIR_OS_GROUP_H

#include <stdbool.h>
#include <stddef.h>

/* Our group's path below its mount, from the text of /proc/self/cgroup; of the first version, that for memory. */
bool group_path(const char *groups, bool second_version, char *out, size_t size);

#endif
