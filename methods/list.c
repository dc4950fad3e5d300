/*
 * list.c - the names of the built-in methods, in the order in which they are shown. A new method is one line here.
 */
#include "methods.h"

/* X(what follows `methods_` in the name of the method's struct) */
#define METHODS(X)     \
  X(fd_pread)          \
  X(fd_read)           \
  X(fd_readv)          \
  X(fd_preadv2)        \
  X(fd_pwrite)         \
  X(fd_write)          \
  X(fd_writev)         \
  X(fd_pwritev2)       \
  X(fd_mixed)          \
  X(sys_pread)         \
  X(sys_read)          \
  X(sys_pwrite)        \
  X(sys_write)         \
  X(stdio_fread)       \
  X(stdio_fwrite)      \
  X(stream_ifstream)   \
  X(stream_ofstream)   \
  X(stream_filebuf)    \
  X(stream_cin)        \
  X(map_copy)          \
  X(map_view)          \
  X(map_populate)      \
  X(map_window)        \
  X(map_write)         \
  X(map_window_write)  \
  X(map_mixed)         \
  X(direct_pread)      \
  X(direct_pwrite)     \
  X(direct_mixed)      \
  X(dontcache_read)    \
  X(dontcache_write)   \
  X(ring_plain)        \
  X(ring_fixed)        \
  X(ring_direct)       \
  X(ring_linked)       \
  X(ring_several)      \
  X(aio_libaio)        \
  X(aio_cached)        \
  X(aio_posix)         \
  X(lines_fputs)       \
  X(lines_writev)      \
  X(lines_buffer)      \
  X(lines_each)        \
  X(lines_encode)      \
  X(stream_lines)      \
  X(text_write)        \
  X(text_fwrite)       \
  X(text_encode_whole) \
  X(text_encode_steps) \
  X(iconv_encode)      \
  X(text_bytes)        \
  X(text_whole)        \
  X(text_steps)        \
  X(text_grow)         \
  X(text_chunks)       \
  X(text_append)       \
  X(text_line_append)  \
  X(iconv_decode)      \
  X(lines_getline)     \
  X(lines_fgets)       \
  X(lines_strdup)      \
  X(lines_slices)      \
  X(lines_iterator)    \
  X(lines_mapped)      \
  X(lines_array)       \
  X(stream_getline)    \
  X(lines_slice_array) \
  X(text_split)        \
  X(overlap_none)      \
  X(overlap_ring)      \
  X(overlap_aio)       \
  X(overlap_thread)    \
  X(overlap_text_all)  \
  X(overlap_text_grow) \
  X(overlap_lines_append) \
  X(weir_read_file)    \
  X(weir_write_file)   \
  X(weir_view)         \
  X(weir_stream)       \
  X(weir_writer)       \
  X(weir_pread)        \
  X(weir_pwrite)       \
  X(weir_queue)        \
  X(weir_queue_direct) \
  X(weir_read_text)    \
  X(weir_decode)       \
  X(weir_lines_next)   \
  X(weir_lines_batch)  \
  X(weir_lines_owned)  \
  X(weir_read_lines)   \
  X(weir_write_lines)  \
  X(weir_write_text)   \
  X(weir_write_pieces) \
  X(weir_encode)       \
  X(copy_read_write)   \
  X(copy_double)       \
  X(copy_mapped)       \
  X(copy_stdio)        \
  X(copy_range)        \
  X(copy_sendfile)     \
  X(copy_splice)       \
  X(copy_reflink)      \
  X(copy_direct)       \
  X(copy_ring)         \
  X(copy_cp)           \
  X(many_read)         \
  X(many_openat)       \
  X(many_pread_stat)   \
  X(many_stdio)        \
  X(many_mapped)       \
  X(many_direct)       \
  X(many_ring)         \
  X(weir_copy)         \
  X(weir_copy_many)    \
  X(weir_read_many)    \
  X(null)

#define DECLARE(name) extern const struct weir_method methods_##name;
METHODS(DECLARE)

#define ENTRY(name) &methods_##name,
const struct weir_method *const methods_list[] = {METHODS(ENTRY) NULL};
