/*
 * many.c - reads many files, each by itself: opens, reads and closes one after the other, in the ways in which programs do.
 * Several at once is in many_ring.c; several threads are the core's business.
 *
 * Those that do not ask for the size read until they meet the end, which is one call more; those that do ask need the
 * question instead.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "aligned.h"
#include "files.h"
#include "methods.h"
#include "target.h"

enum { MANY_CHUNK, MANY_HINT, MANY_KEEP };

struct many {
  struct files files;
  const struct many_way *way; /* job->data */
  unsigned char *data;
  size_t size, granule;
  os_file directory; /* many/openat */
  /* many/read: files that stay open for a while, the oldest is closed next */
  enum os_advice hint;
  os_file *kept;
  size_t keep, next;
};

struct many_way {
  bool chunked;    /* has the parameter `chunk`; else the buffer holds a whole file */
  bool unbuffered; /* has no buffer at all */
  bool hinted;     /* has `hint` and `keep` */
  bool below;      /* opens below the directory */
  unsigned flags;  /* enum os_open_flag */
  /* Opens the file at `offset` of the job, hands over its bytes, closes it. */
  int (*read)(struct many *m, const struct weir_job *job, struct weir_flow *flow, uint64_t offset);
};

/* ---- the phases ---------------------------------------------------------------------------------------------------- */

static int get_buffer(struct many *m, const struct weir_job *job) {
  void *room = NULL;
  m->size = aligned_up(m->way->chunked ? (size_t)job->params[MANY_CHUNK] : (size_t)job->block, m->granule);
  int error = job->host->buffer_get(job, m->size, m->granule, WEIR_BUFFER_REUSED, &room);
  if (error) return job->host->fail(job, error, "no memory for %zu bytes", m->size);
  m->data = room;
  return 0;
}

static int make_room_to_keep(struct many *m, const struct weir_job *job) {
  m->hint = (enum os_advice)job->params[MANY_HINT];
  m->keep = (size_t)job->params[MANY_KEEP];
  m->kept = m->keep ? malloc(m->keep * sizeof *m->kept) : NULL;
  if (m->keep && !m->kept) return job->host->fail(job, -ENOMEM, "no memory for %zu descriptors", m->keep);
  for (size_t i = 0; i < m->keep; i++) m->kept[i] = os_no_file;
  return 0;
}

/* Of files like the job's, tried on a nameless one beside them. */
static size_t find_granule(const struct weir_job *job) {
  os_file trial;
  if (target_open_scratch(job, OS_DIRECT, &trial) != 0) return ALIGNED_WHEN_NOT_TOLD;
  const size_t granule = aligned_granule_of(trial);
  (void)os_close(trial);
  return granule;
}

static int many_setup(void *state, const struct weir_job *job) {
  struct many *m = state;
  m->way = job->data;
  m->granule = m->way->flags & OS_DIRECT ? find_granule(job) : 1;
  int error = files_setup(&m->files, job);
  if (!error && m->way->hinted) error = make_room_to_keep(m, job);
  return error || m->way->unbuffered ? error : get_buffer(m, job);
}

static int many_open(void *state, const struct weir_job *job) {
  struct many *m = state;
  int error = m->way->below ? os_open(job->path, OS_READ, &m->directory) : 0;
  return error ? target_refused(job, "opening the directory", error) : 0;
}

static int many_close(void *state, const struct weir_job *job) {
  struct many *m = state;
  int error = 0;
  for (size_t i = 0; i < m->keep; i++) {
    const int failed = os_close(m->kept[i]);
    m->kept[i] = os_no_file;
    if (!error) error = failed;
  }
  if (m->way->below) error = os_close(m->directory);
  return error ? target_refused(job, "closing", error) : 0;
}

static void many_teardown(void *state, const struct weir_job *job) {
  struct many *m = state;
  files_teardown(&m->files);
  free(m->kept);
  if (m->data) job->host->buffer_put(job, m->data, m->size);
}

static int many_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct many *m = state;
  const uint64_t count = budget < job->operations ? budget : job->operations;
  for (uint64_t i = 0; i < count && !weir_stopped(flow); i++) {
    const uint64_t began = weir_operation_begin(flow);
    int error = m->way->read(m, job, flow, weir_order_offset(job, i));
    if (error) return error;
    weir_operation_end(flow, began);
  }
  return 0;
}

/* ---- what ways share ----------------------------------------------------------------------------------------------- */

/* A failure is told before the file is closed, and nothing that the close says is told after it. */
static int close_after(const struct weir_job *job, os_file file, uint64_t offset, int error) {
  if (!error) return files_close(job, file, offset);
  (void)os_close(file);
  return error;
}

/* Until the end, whose place is compared with the job's. */
static int read_to_end(const struct many *m, const struct weir_job *job, struct weir_flow *flow, os_file file,
                       uint64_t offset) {
  const size_t length = weir_order_length(job, offset);
  size_t done = 0;
  for (;;) {
    const int64_t count = os_read(file, m->data, m->size);
    if (count < 0) return files_failed(job, "reading", offset + done, (int)count);
    if (count == 0) return done < length ? files_ended(job, offset + done) : 0;
    if ((size_t)count > length - done) return files_too_long(job, offset);
    weir_deliver(flow, offset + done, m->data, (size_t)count);
    done += (size_t)count;
  }
}

/* ---- many/read, many/openat ---------------------------------------------------------------------------------------- */

/* Puts the file in the place of the one that has been open longest. */
static os_file keep(struct many *m, os_file file) {
  if (m->keep == 0) return file;
  const os_file oldest = m->kept[m->next];
  m->kept[m->next] = file;
  m->next = (m->next + 1) % m->keep;
  return oldest;
}

static int read_one(struct many *m, const struct weir_job *job, struct weir_flow *flow, uint64_t offset) {
  os_file file;
  int error = files_open(&m->files, job, offset, 0, &file);
  if (error) return error;
  if (m->hint != OS_ADVICE_NORMAL) error = os_advise(file, 0, 0, m->hint);
  if (error) (void)files_failed(job, "telling the system how to read", offset, error);
  if (!error) error = read_to_end(m, job, flow, file, offset);
  return close_after(job, keep(m, file), offset, error);
}

static int read_below(struct many *m, const struct weir_job *job, struct weir_flow *flow, uint64_t offset) {
  os_file file;
  int error = os_open_at(m->directory, files_base_name(files_source(&m->files, job, offset)), OS_READ, &file);
  if (error) return files_failed(job, "opening", offset, error);
  return close_after(job, file, offset, read_to_end(m, job, flow, file, offset));
}

#define MANY_PARAM_CHUNK                                                                                          \
  {                                                                                                               \
    .name = "chunk", .kind = WEIR_PARAM_SIZE, .preset = "64KiB", .sweep = "4KiB|64KiB", .min = 1, .max = 1 << 30, \
    WEIR_PARAM_EVERYWHERE, .help = "bytes read at a time, until the file ends"                                    \
  }

static const struct many_way by_path = {.chunked = true, .hinted = true, .read = read_one};
static const struct many_way below = {.chunked = true, .below = true, .read = read_below};
static const struct weir_param read_params[] = {[MANY_CHUNK] = MANY_PARAM_CHUNK,
                                                [MANY_HINT] = METHODS_PARAM_HINT,
                                                [MANY_KEEP] = {.name = "keep",
                                                               .kind = WEIR_PARAM_COUNT,
                                                               .preset = "0",
                                                               .min = 0,
                                                               .max = 1000,
                                                               WEIR_PARAM_EVERYWHERE,
                                                               .help = "files that stay open after they were read"}};
static const struct weir_param chunk_params[] = {[MANY_CHUNK] = MANY_PARAM_CHUNK};

#define MANY_METHOD                                                                                                       \
  METHODS_ABI, METHODS_READS, .tasks = WEIR_BIT(WEIR_TASK_MANY), .accesses = METHODS_BOTH_ACCESSES,                       \
                              .state_size = sizeof(struct many), .setup = many_setup, .open = many_open, .run = many_run, \
                              .close = many_close, .teardown = many_teardown

const struct weir_method methods_many_read = {MANY_METHOD,
                                              .name = "many/read",
                                              .summary = "opens each file and reads until it ends",
                                              .calls = "open(2), read(2) until 0, close(2)",
                                              .params = read_params,
                                              .param_count = METHODS_COUNT(read_params),
                                              .data = &by_path};

const struct weir_method methods_many_openat = {
    MANY_METHOD,
    .name = "many/openat",
    .summary = "opens each file below its open directory and reads until it ends",
    .calls = "openat(2), read(2) until 0, close(2)",
    .params = chunk_params,
    .param_count = METHODS_COUNT(chunk_params),
    .data = &below};

/* ---- many/pread-stat, many/direct ---------------------------------------------------------------------------------- */

/* The whole file by as few calls as can be; past the page cache, whole granules are asked for. */
static int read_exactly(const struct many *m, const struct weir_job *job, os_file file, uint64_t offset, size_t length) {
  for (size_t done = 0; done < length;) {
    const int64_t count = os_pread(file, m->data + done, aligned_up(length, m->granule) - done, done);
    if (count < 0) return files_failed(job, "reading", offset + done, (int)count);
    done += (size_t)count;
    if (done < length && (count == 0 || done % m->granule != 0)) return files_ended(job, offset + done);
  }
  return 0;
}

static int read_sized(struct many *m, const struct weir_job *job, struct weir_flow *flow, uint64_t offset) {
  const size_t length = weir_order_length(job, offset);
  os_file file;
  int error = files_open(&m->files, job, offset, m->way->flags, &file);
  if (error) return error;
  error = files_check_size(job, file, offset);
  if (!error) error = read_exactly(m, job, file, offset, length);
  if (!error) weir_deliver(flow, offset, m->data, length);
  return close_after(job, file, offset, error);
}

#define DIRECT_REMEDY "use many/read, or a directory on a file system with direct I/O such as ext4 or xfs"

static int probe_direct(const struct weir_job *job, struct weir_reason *reason) {
  os_file file;
  int error = target_open_scratch(job, OS_DIRECT, &file);
  if (error == -EOPNOTSUPP) return 0; /* no way to try: opening will tell */
  if (error) return target_unavailable(reason, error, "opening for direct I/O", DIRECT_REMEDY);
  error = aligned_try(file, true, aligned_granule_of(file));
  (void)os_close(file);
  return error ? target_unavailable(reason, error, "the first direct transfer", DIRECT_REMEDY) : 0;
}

static const struct many_way sized = {.read = read_sized};
static const struct many_way direct = {.flags = OS_DIRECT, .read = read_sized};

const struct weir_method methods_many_pread_stat = {MANY_METHOD, .name = "many/pread-stat",
                                                    .summary = "asks each file for its size and reads it by one call",
                                                    .calls = "open(2), fstat(2), pread(2), close(2)", .data = &sized};

const struct weir_method methods_many_direct = {MANY_METHOD,
                                                .name = "many/direct",
                                                .summary = "the same past the page cache",
                                                .calls = "open(2) O_DIRECT, fstat(2), pread(2), close(2)",
                                                .capabilities = WEIR_CAP_DIRECT,
                                                .probe = probe_direct,
                                                .data = &direct};

/* ---- many/stdio ---------------------------------------------------------------------------------------------------- */

static int read_stream(const struct many *m, const struct weir_job *job, struct weir_flow *flow, FILE *stream,
                       uint64_t offset) {
  const size_t length = weir_order_length(job, offset);
  size_t done = 0;
  for (;;) {
    errno = 0;
    const size_t count = fread(m->data, 1, m->size, stream);
    if (count > length - done) return files_too_long(job, offset);
    if (count > 0) weir_deliver(flow, offset + done, m->data, count);
    done += count;
    if (ferror(stream)) return files_failed(job, "reading", offset + done, errno ? -errno : -EIO);
    if (feof(stream)) return done < length ? files_ended(job, offset + done) : 0;
  }
}

static int read_by_stream(struct many *m, const struct weir_job *job, struct weir_flow *flow, uint64_t offset) {
  errno = 0;
  FILE *stream = fopen(files_source(&m->files, job, offset), "rbe");
  if (!stream) return files_failed(job, "opening", offset, errno ? -errno : -EIO);
  int error = read_stream(m, job, flow, stream, offset);
  errno = 0;
  if (fclose(stream) != 0 && !error) error = files_failed(job, "closing", offset, errno ? -errno : -EIO);
  return error;
}

static const struct many_way by_stream = {.chunked = true, .read = read_by_stream};

const struct weir_method methods_many_stdio = {MANY_METHOD,
                                               .name = "many/stdio",
                                               .summary = "the C library's streams, until they end",
                                               .calls = "fopen(3), fread(3), fclose(3)",
                                               .params = chunk_params,
                                               .param_count = METHODS_COUNT(chunk_params),
                                               .data = &by_stream};

/* ---- many/mapped --------------------------------------------------------------------------------------------------- */

static int read_mapped(struct many *m, const struct weir_job *job, struct weir_flow *flow, uint64_t offset) {
  const size_t length = weir_order_length(job, offset);
  void *data = NULL;
  os_file file;
  int error = files_open(&m->files, job, offset, 0, &file);
  if (error) return error;
  error = files_check_size(job, file, offset);
  if (error) return close_after(job, file, offset, error);
  error = os_map(file, length, job->params[0] ? OS_MAP_POPULATE : 0, &data);
  if (error) return close_after(job, file, offset, files_failed(job, "mapping", offset, error));
  weir_deliver(flow, offset, data, length);
  error = os_unmap(data, length);
  return close_after(job, file, offset, error ? files_failed(job, "unmapping", offset, error) : 0);
}

static const struct many_way mapped = {.unbuffered = true, .read = read_mapped};
static const struct weir_param mapped_params[] = {
    {.name = "pages",
     .kind = WEIR_PARAM_CHOICE,
     .preset = "touched",
     .choices = "touched|populated",
     WEIR_PARAM_EVERYWHERE,
     .help = "pages come in where they are touched, or all when the file is mapped (MAP_POPULATE)"}};

const struct weir_method methods_many_mapped = {MANY_METHOD,
                                                .name = "many/mapped",
                                                .summary = "maps each file and looks at it there",
                                                .calls = "open(2), fstat(2), mmap(2), munmap(2), close(2)",
                                                .capabilities = WEIR_CAP_VIEW,
                                                .params = mapped_params,
                                                .param_count = METHODS_COUNT(mapped_params),
                                                .data = &mapped};
