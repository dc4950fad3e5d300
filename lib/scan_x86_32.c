/*
 * scan_x86_32.c - takes the place of scan_x86_64.c in 32-bit builds.
 */
#include "lib/scan_x86.h"

const struct weir__scanner *weir__scanner_x86_64(void) { return NULL; }
