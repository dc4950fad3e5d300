/*
 * procfs.h - reading the short texts in which the kernel tells about itself (/proc, /sys). Private to this folder.
 */
#ifndef WEIR_OS_PROCFS_H
#define WEIR_OS_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The start of a file, cut to size - 1 bytes, without the last line feed. Its length, or a negative errno value. */
int64_t procfs_text(const char *path, char *out, size_t size);
/* A whole file of any length in new memory, which the caller frees; NULL when it cannot be read. */
char *procfs_whole(const char *path);
/* A file that holds one number; -1 when it does not, or cannot be read. */
int64_t procfs_number(const char *path);
/* Writes a word. */
int procfs_write(const char *path, const char *word);
/* The number after `key` at the start of a line ("VmHWM:  123 kB" -> 123); -1 when it is not there. */
int64_t procfs_field(const char *text, const char *key);
/* The rest of the line that starts with `key`, after white space and one colon; false when it is not there. */
bool procfs_line(const char *text, const char *key, char *out, size_t size);
/* The word in brackets of "always [madvise] never"; "" when there is none. */
void procfs_chosen(const char *text, char *out, size_t size);
/* Does the space-separated list hold this word? */
bool procfs_has_word(const char *list, const char *word);

#endif
