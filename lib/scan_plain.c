/*
 * scan_plain.c - the scanners of processors for which there is no version of their own.
 */
#include "lib/internal.h"

const struct weir__scanner *weir__scanner(unsigned i) { return i ? NULL : &weir__scanner_plain; }
