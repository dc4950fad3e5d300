/*
 * by_hand.c - what each method does, in the few lines that a program of one's own needs. `weir help METHOD`, reports and
 * method cards show these functions as they stand: each belongs to the methods named in the line above it. The build
 * compiles them. They stop at the first error and leave it in errno; use() is the caller's. They want _GNU_SOURCE.
 */
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <iconv.h>
#include <linux/aio_abi.h>
#include <linux/fs.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lines_of_c.h"

/* ---- reading blocks ------------------------------------------------------------------------------------------------ */

/*= fd/read sys/read */
int read_blocks(const char *path, char *block, size_t size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t count = fd < 0 ? -1 : 0;
  while (fd >= 0 && (count = read(fd, block, size)) > 0) use(block, (size_t)count);
  if (fd >= 0) close(fd);
  return count < 0 ? -1 : 0;
}

/*= fd/pread sys/pread */
int pread_blocks(const char *path, char *block, size_t size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  off_t at = 0;
  ssize_t count = fd < 0 ? -1 : 0;
  for (; fd >= 0 && (count = pread(fd, block, size, at)) > 0; at += count) use(block, (size_t)count);
  if (fd >= 0) close(fd);
  return count < 0 ? -1 : 0;
}

/*= fd/readv */
int readv_blocks(int fd, char *block, size_t size) { /* one call fills four pieces */
  struct iovec pieces[4];
  ssize_t count;
  for (unsigned i = 0; i < 4; i++) pieces[i] = (struct iovec){block + i * (size / 4), size / 4};
  while ((count = readv(fd, pieces, 4)) > 0) use(block, (size_t)count);
  return count < 0 ? -1 : 0;
}

/*= fd/preadv2 */
int preadv2_blocks(int fd, char *block, size_t size) {
  struct iovec piece = {block, size};
  off_t at = 0;
  ssize_t count;
  for (; (count = preadv2(fd, &piece, 1, at, 0)) > 0; at += count) use(block, (size_t)count);
  return count < 0 ? -1 : 0;
}

/*= stdio/fread */
int fread_blocks(const char *path, char *block, size_t size) {
  FILE *file = fopen(path, "rb");
  if (!file) return -1;
  for (size_t count; (count = fread(block, 1, size, file)) > 0;) use(block, count);
  int failed = ferror(file);
  fclose(file);
  return failed ? -1 : 0;
}

/*= map/view map/populate */
int view_file(const char *path) { /* map/populate: MAP_SHARED | MAP_POPULATE. The file must not be cut meanwhile */
  struct stat status;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &status) < 0 || status.st_size == 0) return fd < 0 ? -1 : close(fd);
  size_t size = (size_t)status.st_size;
  char *data = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
  close(fd);
  if (data == MAP_FAILED) return -1;
  use(data, size);
  return munmap(data, size);
}

/*= map/copy */
int copy_from_view(const char *data, size_t file_size, char *block, size_t size) { /* `data`: the file, mapped */
  for (size_t at = 0; at < file_size; at += size) {
    size_t count = file_size - at < size ? file_size - at : size;
    memcpy(block, data + at, count);
    use(block, count);
  }
  return 0;
}

/*= map/window */
int view_windows(int fd, size_t file_size, size_t window) { /* `window`: a multiple of the page size */
  for (size_t at = 0; at < file_size; at += window) {
    size_t count = file_size - at < window ? file_size - at : window;
    char *data = mmap(NULL, count, PROT_READ, MAP_SHARED, fd, (off_t)at);
    if (data == MAP_FAILED) return -1;
    use(data, count);
    munmap(data, count);
  }
  return 0;
}

/*= direct/pread */
int read_direct(const char *path, size_t size) { /* `size`: a multiple of 4096, as memory and offsets have to be */
  void *block = NULL;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_DIRECT);
  ssize_t count = fd < 0 || posix_memalign(&block, 4096, size) ? -1 : 0;
  for (off_t at = 0; count >= 0 && (count = pread(fd, block, size, at)) > 0; at += count) use(block, (size_t)count);
  if (fd >= 0) close(fd);
  free(block);
  return count < 0 ? -1 : 0;
}

/*= dontcache/read */
int read_uncached(int fd, char *block, size_t size) { /* RWF_DONTCACHE is 0x80; EOPNOTSUPP before Linux 6.14 */
  struct iovec piece = {block, size};
  off_t at = 0;
  ssize_t count;
  for (; (count = preadv2(fd, &piece, 1, at, 0x80)) > 0; at += count) use(block, (size_t)count);
  return count < 0 ? -1 : 0;
}

/*= aio/libaio aio/cached */
int read_by_kernel_aio(int fd, char *blocks, size_t size, unsigned depth) { /* aio/libaio: `fd` opened with O_DIRECT */
  aio_context_t context = 0;
  struct iocb request[64], *list[64];
  struct io_event done[64];
  if (depth > 64 || syscall(SYS_io_setup, depth, &context) < 0) return -1;
  long started = 0, finished = 0;
  for (unsigned i = 0; i < depth; i++) {
    request[i] = (struct iocb){.aio_data = i,
                               .aio_lio_opcode = IOCB_CMD_PREAD,
                               .aio_fildes = (unsigned)fd,
                               .aio_buf = (uintptr_t)(blocks + i * size),
                               .aio_nbytes = size,
                               .aio_offset = (long long)(i * size)};
    list[i] = &request[i];
  }
  started = syscall(SYS_io_submit, context, (long)depth, list); /* then again with the next offset, as each one is done */
  if (started > 0) finished = syscall(SYS_io_getevents, context, started, (long)depth, done, NULL);
  for (long i = 0; i < finished; i++)
    if (done[i].res > 0) use(blocks + done[i].data * size, (size_t)done[i].res);
  syscall(SYS_io_destroy, context);
  return finished < (long)depth ? -1 : 0;
}

/*= aio/posix */
int read_by_posix_aio(int fd, char *blocks, size_t size, unsigned depth) {
  struct aiocb request[64];
  ssize_t count = 0;
  for (unsigned i = 0; i < depth && i < 64; i++) {
    request[i] =
        (struct aiocb){.aio_fildes = fd, .aio_buf = blocks + i * size, .aio_nbytes = size, .aio_offset = (off_t)(i * size)};
    if (aio_read(&request[i]) < 0) depth = i;
  }
  for (unsigned i = 0; i < depth && i < 64; i++) { /* and start the next one with its offset */
    const struct aiocb *one = &request[i];
    while (aio_error(one) == EINPROGRESS) aio_suspend(&one, 1, NULL);
    if ((count = aio_return(&request[i])) > 0) use(blocks + i * size, (size_t)count);
  }
  return count < 0 ? -1 : 0;
}

/* ---- writing blocks ------------------------------------------------------------------------------------------------ */

/*= fd/write sys/write */
int write_blocks(const char *path, const char *data, size_t size) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  ssize_t count = fd < 0 ? -1 : 0;
  for (size_t done = 0; fd >= 0 && done < size && (count = write(fd, data + done, size - done)) >= 0;) done += (size_t)count;
  if (count >= 0) count = fdatasync(fd); /* leave it out where losing the data in a power cut is no matter */
  if (fd >= 0 && close(fd) < 0) count = -1;
  return count < 0 ? -1 : 0;
}

/*= fd/pwrite sys/pwrite */
int pwrite_blocks(int fd, const char *data, size_t size, off_t at) {
  for (ssize_t count; size > 0; data += count, size -= (size_t)count, at += count)
    if ((count = pwrite(fd, data, size, at)) < 0) return -1;
  return fdatasync(fd); /* leave it out where losing the data in a power cut is no matter */
}

/*= fd/writev */
int writev_blocks(int fd, const char *head, size_t head_size, const char *body, size_t body_size) {
  struct iovec pieces[2] = {{(void *)(uintptr_t)head, head_size}, {(void *)(uintptr_t)body, body_size}};
  ssize_t count = writev(fd, pieces, 2);
  return count < 0 || (size_t)count < head_size + body_size ? -1 : 0; /* a short count: go on with the rest */
}

/*= fd/pwritev2 */
int pwritev2_blocks(int fd, const char *data, size_t size, off_t at) { /* RWF_DSYNC: durable when it returns */
  for (ssize_t count; size > 0; data += count, size -= (size_t)count, at += count) {
    struct iovec piece = {(void *)(uintptr_t)data, size};
    if ((count = pwritev2(fd, &piece, 1, at, RWF_DSYNC)) < 0) return -1;
  }
  return 0;
}

/*= stdio/fwrite */
int fwrite_blocks(const char *path, const char *data, size_t size) {
  FILE *file = fopen(path, "wb");
  if (!file) return -1;
  int failed = fwrite(data, 1, size, file) != size || fflush(file) != 0 || fdatasync(fileno(file)) < 0;
  return fclose(file) != 0 || failed ? -1 : 0;
}

/*= map/write */
int write_mapped(int fd, const char *data, size_t size) { /* `fd` open for reading and writing */
  if (ftruncate(fd, (off_t)size) < 0) return -1;
  char *view = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (view == MAP_FAILED) return -1;
  memcpy(view, data, size);
  int result = msync(view, size, MS_SYNC);
  munmap(view, size);
  return result;
}

/*= map/window-write */
int write_windows(int fd, const char *data, size_t size, size_t window) { /* `window`: a multiple of the page size */
  if (ftruncate(fd, (off_t)size) < 0) return -1;
  for (size_t at = 0; at < size; at += window) {
    size_t count = size - at < window ? size - at : window;
    char *view = mmap(NULL, count, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)at);
    if (view == MAP_FAILED) return -1;
    memcpy(view, data + at, count);
    munmap(view, count);
  }
  return fdatasync(fd);
}

/*= direct/pwrite */
int write_direct(const char *path, const char *data, size_t size) { /* `data` aligned to 4096, `size` a multiple of it */
  int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_DIRECT, 0666);
  ssize_t count = fd < 0 ? -1 : 0;
  for (size_t at = 0; fd >= 0 && at < size && (count = pwrite(fd, data + at, size - at, (off_t)at)) > 0;)
    at += (size_t)count;
  if (count >= 0) count = fdatasync(fd); /* past the page cache is not yet past the cache of the device */
  if (fd >= 0) close(fd);
  return count < 0 ? -1 : 0;
}

/*= dontcache/write */
int write_uncached(int fd, const char *data, size_t size, off_t at) { /* RWF_DONTCACHE is 0x80; from Linux 6.14 on */
  for (ssize_t count; size > 0; data += count, size -= (size_t)count, at += count) {
    struct iovec piece = {(void *)(uintptr_t)data, size};
    if ((count = pwritev2(fd, &piece, 1, at, 0x80)) < 0) return -1;
  }
  return fdatasync(fd);
}

/*= fd/mixed direct/mixed */
int read_or_write(int fd, char *block, size_t size, off_t at, bool writes) { /* direct/mixed: O_DIRECT, all aligned */
  ssize_t count = writes ? pwrite(fd, block, size, at) : pread(fd, block, size, at);
  return count < 0 || (size_t)count != size ? -1 : 0;
}

/*= map/mixed */
int read_or_write_mapped(char *view, char *block, size_t size, size_t at, bool writes) { /* PROT_READ | PROT_WRITE */
  memcpy(writes ? view + at : block, writes ? block : view + at, size);
  return 0;
}

/* ---- lines and text ------------------------------------------------------------------------------------------------ */

/*= lines/getline */
int lines_by_getline(const char *path) {
  FILE *file = fopen(path, "r");
  char *line = NULL;
  size_t room = 0;
  if (!file) return -1;
  for (ssize_t length; (length = getline(&line, &room, file)) >= 0;) use(line, (size_t)length);
  int failed = ferror(file);
  free(line);
  fclose(file);
  return failed ? -1 : 0;
}

/*= lines/fgets */
int lines_by_fgets(const char *path, char *line, int size) { /* longer lines come in pieces */
  FILE *file = fopen(path, "r");
  if (!file) return -1;
  while (fgets(line, size, file)) use(line, strlen(line));
  int failed = ferror(file);
  fclose(file);
  return failed ? -1 : 0;
}

/*= lines/strdup lines/array */
int lines_kept(FILE *file, char **lines, size_t most) { /* returns how many; each is the caller's to free */
  char *line = NULL;
  size_t room = 0, count = 0;
  while (count < most && getline(&line, &room, file) >= 0)
    if (!(lines[count++] = strdup(line))) break;
  free(line);
  return (int)count;
}

/*= lines/slices lines/iterator lines/mapped lines/slice-array text/split text/line-append */
void lines_of_memory(const char *text, size_t size) { /* `text`: the whole file, read or mapped; nothing is copied */
  for (const char *end, *stop = text + size; text < stop; text = end + 1) {
    end = memchr(text, '\n', (size_t)(stop - text));
    if (!end) end = stop;
    use(text, (size_t)(end - text));
  }
}

/*= text/bytes text/chunks */
int text_bytes(const char *path, char *block, size_t size) { /* UTF-8 as it is: a cut character goes on in the next block */
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t count = fd < 0 ? -1 : 0;
  while (fd >= 0 && (count = read(fd, block, size)) > 0) use(block, (size_t)count);
  if (fd >= 0) close(fd);
  return count < 0 ? -1 : 0;
}

/*= text/whole text/steps text/grow text/append */
char *text_whole(const char *path, size_t *size) { /* ends with a zero byte; free() it. text/grow: realloc as it comes */
  struct stat status;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  char *text = fd < 0 || fstat(fd, &status) < 0 ? NULL : malloc((size_t)status.st_size + 1);
  ssize_t count = 0;
  for (*size = 0; text && *size < (size_t)status.st_size; *size += (size_t)count)
    if ((count = read(fd, text + *size, (size_t)status.st_size - *size)) <= 0) break;
  if (text) text[*size] = '\0';
  if (fd >= 0) close(fd);
  return text;
}

/*= iconv/decode iconv/encode */
size_t convert(const char *from, const char *to, char *in, size_t in_size, char *out, size_t out_size) {
  iconv_t converter = iconv_open(to, from);
  char *at = out;
  if (converter == (iconv_t)-1) return 0;
  size_t wrong = iconv(converter, &in, &in_size, &at, &out_size); /* EILSEQ: invalid at `in`; E2BIG: no more room */
  iconv_close(converter);
  return wrong == (size_t)-1 ? 0 : (size_t)(at - out);
}

/*= lines/fputs text/fwrite */
int lines_by_fputs(const char *path, char *const *lines, size_t count) {
  FILE *file = fopen(path, "w");
  if (!file) return -1;
  for (size_t i = 0; i < count; i++)
    if (fputs(lines[i], file) < 0 || putc('\n', file) < 0) break;
  int failed = ferror(file);
  return fclose(file) != 0 || failed ? -1 : 0;
}

/*= lines/writev */
int lines_by_writev(int fd, const char *const *lines, size_t count) { /* up to IOV_MAX / 2 at once; see a short count */
  struct iovec pieces[128];
  for (size_t i = 0; i < count && i < 64; i++) {
    pieces[2 * i] = (struct iovec){(void *)(uintptr_t)lines[i], strlen(lines[i])};
    pieces[2 * i + 1] = (struct iovec){(void *)(uintptr_t) "\n", 1};
  }
  return writev(fd, pieces, (int)(2 * (count < 64 ? count : 64))) < 0 ? -1 : 0;
}

/*= lines/buffer lines/each lines/encode text/write */
/*= text/encode-whole text/encode-steps text/write-direct text/write-mapped */
int lines_by_buffer(int fd, const char *const *lines, size_t count) { /* one write for each 64 KiB */
  static char buffer[65536];
  size_t used = 0;
  for (size_t i = 0; i < count; i++) {
    size_t length = strlen(lines[i]);
    if (length >= sizeof buffer) return errno = EINVAL, -1;
    if (used + length + 1 > sizeof buffer && (write(fd, buffer, used) != (ssize_t)used)) return -1;
    if (used + length + 1 > sizeof buffer) used = 0;
    memcpy(buffer + used, lines[i], length);
    buffer[used += length] = '\n';
    used++;
  }
  return write(fd, buffer, used) == (ssize_t)used ? 0 : -1;
}

/* ---- records and typed values -------------------------------------------------------------------------------------- */

/*= records/stdio records/bytes-stdio */
int records_by_stdio(FILE *file, char *record, size_t room) { /* a 32-bit length before each */
  uint32_t size; /* little-endian, as this machine is; a hostile length is refused, not read */
  while (fread(&size, sizeof size, 1, file) == 1) {
    if (size > room || fread(record, 1, size, file) != size) return -1;
    use(record, size);
  }
  return ferror(file) ? -1 : 0;
}

/*= records/mapped-view records/mapped-copy records/slurp records/bytes-mapped records/bytes-slurp */
int records_of_memory(const char *data, size_t size) { /* `data`: the whole file, mapped or read */
  for (uint32_t length; size >= sizeof length; data += length, size -= length) {
    memcpy(&length, data, sizeof length);
    data += sizeof length, size -= sizeof length;
    if (length > size) return -1;
    use(data, length);
  }
  return size == 0 ? 0 : -1;
}

/*= records/fwrite */
int record_by_fwrite(FILE *file, const void *data, uint32_t size) {
  return fwrite(&size, sizeof size, 1, file) == 1 && fwrite(data, 1, size, file) == size ? 0 : -1;
}

/*= records/buffer */
size_t record_to_buffer(char *buffer, size_t used, const void *data, uint32_t size) { /* write it out when it is full */
  memcpy(buffer + used, &size, sizeof size);
  memcpy(buffer + used + sizeof size, data, size);
  return used + sizeof size + size;
}

/*= typed/stdio-fields typed/stdio-structs typed/ifstream */
int structs_by_stdio(FILE *file) { /* -fields: one fread for each member */
  struct point point;
  while (fread(&point, sizeof point, 1, file) == 1) use(&point, sizeof point);
  return ferror(file) ? -1 : 0;
}

/*= typed/fd-blocks typed/slurp typed/whole typed/mapped */
int structs_by_blocks(int fd, struct point *points, size_t count) { /* many at once; -mapped: mmap instead */
  size_t have = 0;
  for (ssize_t got; (got = read(fd, (char *)points + have, count * sizeof *points - have)) > 0;) {
    size_t whole = (have + (size_t)got) / sizeof *points;
    for (size_t i = 0; i < whole; i++) use(&points[i], sizeof points[i]);
    have = (have + (size_t)got) % sizeof *points;
    memmove(points, points + whole, have);
  }
  return have == 0 ? 0 : -1;
}

/* ---- copies, many files -------------------------------------------------------------------------------------------- */

/*= copy/read-write copy/direct */
int copy_by_blocks(int from, int to, char *block, size_t size) { /* copy/direct: both O_DIRECT, all aligned */
  ssize_t count;
  while ((count = read(from, block, size)) > 0)
    for (ssize_t done = 0, written; done < count; done += written)
      if ((written = write(to, block + done, (size_t)(count - done))) < 0) return -1;
  return count < 0 ? -1 : 0;
}

/*= copy/mapped */
int copy_mapped(const char *view, size_t size, int to) { /* `view`: the source, mapped */
  for (ssize_t count; size > 0; view += count, size -= (size_t)count)
    if ((count = write(to, view, size)) < 0) return -1;
  return 0;
}

/*= copy/stdio */
int copy_by_stdio(FILE *from, FILE *to, char *block, size_t size) {
  for (size_t count; (count = fread(block, 1, size, from)) > 0;)
    if (fwrite(block, 1, count, to) != count) return -1;
  return ferror(from) || fflush(to) ? -1 : 0;
}

/*= copy/copy-file-range */
int copy_in_kernel(int from, int to) { /* EXDEV, EINVAL: fall back to reading and writing */
  ssize_t count;
  while ((count = copy_file_range(from, NULL, to, NULL, (size_t)1 << 30, 0)) > 0) continue;
  return count < 0 ? -1 : 0;
}

/*= copy/sendfile */
int copy_by_sendfile(int from, int to) {
  ssize_t count;
  while ((count = sendfile(to, from, NULL, (size_t)1 << 30)) > 0) continue;
  return count < 0 ? -1 : 0;
}

/*= copy/splice */
int copy_by_splice(int from, int to) {
  int ends[2];
  ssize_t in = 0, out = 0;
  if (pipe(ends) < 0) return -1;
  while ((in = splice(from, NULL, ends[1], NULL, 65536, 0)) > 0)
    for (; in > 0; in -= out)
      if ((out = splice(ends[0], NULL, to, NULL, (size_t)in, 0)) <= 0) goto end;
end:
  close(ends[0]);
  close(ends[1]);
  return in < 0 || out < 0 ? -1 : 0;
}

/*= copy/reflink */
int copy_shared(int from, int to) { /* XFS, Btrfs, bcachefs: no bytes move; EOPNOTSUPP elsewhere */
  return ioctl(to, FICLONE, from);
}

/*= copy/cp */
int copy_by_program(char *from, char *to) {
  char *arguments[] = {"cp", "--", from, to, NULL};
  int status;
  pid_t child;
  if (posix_spawnp(&child, "cp", NULL, NULL, arguments, NULL) || waitpid(child, &status, 0) < 0) return -1;
  return status == 0 ? 0 : -1;
}

/*= many/read many/pread-stat many/direct many/mapped */
int read_many(char *const *paths, size_t count, char *block, size_t size) { /* no fstat where the block holds them all */
  for (size_t i = 0; i < count; i++) {
    int fd = open(paths[i], O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : 0;
    while (fd >= 0 && (got = read(fd, block, size)) > 0) use(block, (size_t)got);
    if (fd >= 0) close(fd);
    if (got < 0) return -1;
  }
  return 0;
}

/*= many/openat */
int read_many_at(int directory, const char *name, char *block, size_t size) { /* the directory's path is looked up once */
  int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
  ssize_t got = fd < 0 ? -1 : 0;
  while (fd >= 0 && (got = read(fd, block, size)) > 0) use(block, (size_t)got);
  if (fd >= 0) close(fd);
  return got < 0 ? -1 : 0;
}

/*= many/stdio */
int read_many_by_stdio(const char *path, char *block, size_t size) { /* once for each file */
  FILE *file = fopen(path, "rb");
  if (!file) return -1;
  for (size_t got; (got = fread(block, 1, size, file)) > 0;) use(block, got);
  int failed = ferror(file);
  return fclose(file) != 0 || failed ? -1 : 0;
}
