/*
 * list.c - the names of the built-in methods, in the order in which they are shown. A new method is one line here.
 */
#include "methods.h"

const struct weir_method *const methods_list[] = {
    &methods_fd_pread,
    &methods_fd_read,
    &methods_fd_pwrite,
    &methods_fd_write,
    &methods_stdio_fread,
    &methods_stdio_fwrite,
    &methods_map_copy,
    &methods_map_view,
    &methods_map_populate,
    &methods_map_write,
    &methods_direct_pread,
    &methods_direct_pwrite,
    &methods_ring_plain,
    &methods_ring_fixed,
    &methods_ring_direct,
    &methods_null,
    NULL,
};
