/*
 * copier.c - copies of files by one call after the other: read and write, a mapped source, the C library's streams, what the
 * system does by itself (copy_file_range, sendfile, splice, shared storage), past the page cache, and the program cp.
 */
#include "copier.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "aligned.h"

#define CHUNK_SWEEP "4KiB|64KiB|256KiB|1MiB"

/* ---- the phases ---------------------------------------------------------------------------------------------------- */

int copier_get_buffers(struct copier *c, const struct weir_job *job, unsigned count) {
  void *room = NULL;
  c->size = count * c->chunk;
  int error = job->host->buffer_get(job, c->size, c->granule, WEIR_BUFFER_REUSED, &room);
  if (error) return job->host->fail(job, error, "no memory for %zu bytes", c->size);
  c->data = room;
  return 0;
}

int copier_setup(void *state, const struct weir_job *job) {
  struct copier *c = state;
  c->way = job->data;
  c->pipe_in = c->pipe_out = os_no_file;
  c->granule = 1;
  if (c->way->chunked) c->chunk = (size_t)job->params[COPIER_CHUNK];
  if (c->way->extends) c->extend = (enum target_extend)job->params[COPIER_EXTEND];
  int error = files_setup(&c->files, job);
  if (!error && c->way->setup) error = c->way->setup(c, job);
  return error || c->way->buffers == 0 ? error : copier_get_buffers(c, job, c->way->buffers);
}

int copier_open(void *state, const struct weir_job *job) {
  struct copier *c = state;
  return c->way->open ? c->way->open(c, job) : 0;
}

int copier_close(void *state, const struct weir_job *job) {
  struct copier *c = state;
  (void)job;
  if (c->way->close) c->way->close(c);
  return 0;
}

void copier_teardown(void *state, const struct weir_job *job) {
  struct copier *c = state;
  files_teardown(&c->files);
  if (c->way && c->way->teardown) c->way->teardown(c);
  if (c->data && !c->lost) job->host->buffer_put(job, c->data, c->size);
}

static int open_copy(struct copier *c, const struct weir_job *job, struct copier_pair *pair) {
  const char *name = files_copy(&c->files, job, pair->offset);
  int error = os_open(name, OS_WRITE | OS_CREATE | OS_EXCLUSIVE | c->way->flags, &pair->to);
  if (error) return files_failed(job, "creating the copy of", pair->offset, error);
  if (!c->way->extends || pair->length == 0) return 0;
  error = target_give_length(pair->to, pair->length, c->extend);
  return error ? files_failed(job, "allocating the copy of", pair->offset, error) : 0;
}

int copier_flush_directory(const struct weir_job *job) {
  int error = os_sync_directory(job->copy_directory);
  return error ? target_refused(job, "flushing the directory of the copies", error) : 0;
}

int copier_flush(const struct weir_job *job, const struct copier_pair *pair) {
  if (job->durability != WEIR_DURABILITY_EACH) return 0;
  int error = os_sync(pair->to, true);
  return error ? files_failed(job, "flushing", pair->offset, error) : copier_flush_directory(job);
}

static int copy_opened(struct copier *c, const struct weir_job *job, struct copier_pair *pair) {
  int error = files_check_size(job, pair->from, pair->offset);
  if (!error) error = open_copy(c, job, pair);
  if (!error) error = c->way->move(c, job, pair);
  if (!error && pair->to != os_no_file) error = copier_flush(job, pair);
  return error;
}

/* The first failure is the one that is told. */
static int copy_pair(struct copier *c, const struct weir_job *job, uint64_t offset) {
  struct copier_pair pair = {.to = os_no_file, .offset = offset, .length = weir_order_length(job, offset)};
  int error = files_open(&c->files, job, offset, c->way->flags, &pair.from);
  if (error) return error;
  error = copy_opened(c, job, &pair);
  const int from = os_close(pair.from), to = os_close(pair.to);
  if (error) return error;
  return from || to ? files_failed(job, to ? "closing the copy of" : "closing", offset, to ? to : from) : 0;
}

int copier_flush_name(struct copier *c, const struct weir_job *job, uint64_t offset) {
  int error = os_sync_file_path(files_copy(&c->files, job, offset));
  return error ? files_failed(job, "flushing", offset, error) : 0;
}

static int copy_by_name(struct copier *c, const struct weir_job *job, uint64_t offset) {
  (void)files_source(&c->files, job, offset);
  (void)files_copy(&c->files, job, offset);
  int error = c->way->by_name(c, job, offset);
  if (error || c->way->durable || job->durability != WEIR_DURABILITY_EACH) return error;
  error = copier_flush_name(c, job, offset);
  return error ? error : copier_flush_directory(job);
}

int copier_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct copier *c = state;
  const uint64_t count = budget < job->operations ? budget : job->operations;
  for (c->done = 0; c->done < count && !weir_stopped(flow); c->done++) {
    const uint64_t began = weir_operation_begin(flow), offset = weir_order_offset(job, c->done);
    int error = c->way->move ? copy_pair(c, job, offset) : copy_by_name(c, job, offset);
    if (error) return error;
    weir_passed(flow, weir_order_length(job, offset));
    weir_operation_end(flow, began);
  }
  return 0;
}

int copier_sync(void *state, const struct weir_job *job) {
  struct copier *c = state;
  int error = 0;
  for (uint64_t i = 0; i < c->done && !error; i++) error = copier_flush_name(c, job, weir_order_offset(job, i));
  return error || c->done == 0 ? error : copier_flush_directory(job);
}

/* ---- what ways share ----------------------------------------------------------------------------------------------- */

int copier_judge(const struct weir_job *job, const struct copier_pair *pair, const char *doing, size_t at, int64_t count) {
  if (count > 0) return 0;
  return count < 0 ? files_failed(job, doing, pair->offset + at, (int)count) : files_ended(job, pair->offset + at);
}

int copier_write(const struct weir_job *job, const struct copier_pair *pair, const void *data, size_t length, size_t at) {
  for (size_t done = 0; done < length;) {
    const int64_t count = os_write(pair->to, (const char *)data + done, length - done);
    if (count <= 0) return files_failed(job, "writing", pair->offset + at + done, count < 0 ? (int)count : -EIO);
    done += (size_t)count;
  }
  return 0;
}

int copier_probe_extend(const struct weir_job *job, struct weir_reason *reason) {
  return target_probe_extend(job, (enum target_extend)job->params[COPIER_EXTEND], reason);
}

static size_t next_chunk(const struct copier *c, const struct copier_pair *pair, size_t done) {
  return pair->length - done < c->chunk ? pair->length - done : c->chunk;
}

/* Two nameless files to try something on, the first with a page of data. False where the system has none: then the run
 * tells. */
static bool open_trial(const struct weir_job *job, os_file *from, os_file *to) {
  static const char page[4096];
  if (target_open_scratch(job, 0, from) != 0) return false;
  if (target_open_scratch(job, 0, to) == 0) {
    if (os_pwrite_full(*from, page, sizeof page, 0) == (int64_t)sizeof page) return true;
    (void)os_close(*to);
  }
  (void)os_close(*from);
  return false;
}

static void close_trial(os_file from, os_file to) {
  (void)os_close(from);
  (void)os_close(to);
}

/* ---- copy/read-write ----------------------------------------------------------------------------------------------- */

static int move_by_reading(struct copier *c, const struct weir_job *job, struct copier_pair *pair) {
  for (size_t done = 0; done < pair->length;) {
    const int64_t count = os_read(pair->from, c->data, next_chunk(c, pair, done));
    int error = copier_judge(job, pair, "reading", done, count);
    if (!error) error = copier_write(job, pair, c->data, (size_t)count, done);
    if (error) return error;
    done += (size_t)count;
  }
  return 0;
}

static const struct copier_way by_reading = {.chunked = true, .buffers = 1, .extends = true, .move = move_by_reading};
static const struct weir_param read_write_params[] = {
    [COPIER_CHUNK] = COPIER_PARAM_CHUNK("64KiB", CHUNK_SWEEP),
    [COPIER_EXTEND] = METHODS_PARAM_EXTEND(METHODS_EXTEND_AT),
};

const struct weir_method methods_copy_read_write = {COPIER_METHOD,
                                                    .name = "copy/read-write",
                                                    .summary = "reads a chunk, writes it, and so on",
                                                    .calls = "read(2), write(2) in a loop",
                                                    .params = read_write_params,
                                                    .param_count = METHODS_COUNT(read_write_params),
                                                    .probe = copier_probe_extend,
                                                    .data = &by_reading};

/* ---- copy/mapped --------------------------------------------------------------------------------------------------- */

static int move_mapped(struct copier *c, const struct weir_job *job, struct copier_pair *pair) {
  void *data = NULL;
  (void)c;
  int error = os_map(pair->from, pair->length, 0, &data);
  if (error) return files_failed(job, "mapping", pair->offset, error);
  error = copier_write(job, pair, data, pair->length, 0);
  (void)os_unmap(data, pair->length);
  return error;
}

static const struct copier_way mapped = {.move = move_mapped};

const struct weir_method methods_copy_mapped = {COPIER_METHOD, .name = "copy/mapped",
                                                .summary = "writes a mapping of the source",
                                                .calls = "mmap(2), write(2), munmap(2)", .data = &mapped};

/* ---- copy/stdio ---------------------------------------------------------------------------------------------------- */

/* errno as the library left it, or the plainest error where it left none. */
static int stream_error(void) { return errno ? -errno : -EIO; }

static int move_streams(struct copier *c, const struct weir_job *job, const struct copier_pair *pair, FILE *in, FILE *out) {
  for (size_t done = 0; done < pair->length;) {
    errno = 0;
    const size_t count = fread(c->data, 1, next_chunk(c, pair, done), in);
    if (count == 0 && ferror(in)) return files_failed(job, "reading", pair->offset + done, stream_error());
    if (count == 0) return files_ended(job, pair->offset + done);
    if (fwrite(c->data, 1, count, out) != count) return files_failed(job, "writing", pair->offset + done, stream_error());
    done += count;
  }
  errno = 0;
  if (fflush(out) != 0) return files_failed(job, "emptying the stream of", pair->offset, stream_error());
  return copier_flush(job, pair);
}

/* The streams own the descriptors. */
static int move_by_streams(struct copier *c, const struct weir_job *job, struct copier_pair *pair) {
  FILE *in = fdopen((int)pair->from, "r"), *out = in ? fdopen((int)pair->to, "w") : NULL;
  int error =
      out ? move_streams(c, job, pair, in, out) : files_failed(job, "opening a stream on", pair->offset, stream_error());
  if (in) pair->from = os_no_file;
  if (out) pair->to = os_no_file;
  errno = 0;
  if (out && fclose(out) != 0 && !error) error = files_failed(job, "closing the copy of", pair->offset, stream_error());
  if (in) (void)fclose(in);
  return error;
}

static const struct copier_way by_streams = {.chunked = true, .buffers = 1, .move = move_by_streams};
static const struct weir_param stdio_params[] = {[COPIER_CHUNK] = COPIER_PARAM_CHUNK("64KiB", "4KiB|64KiB")};

const struct weir_method methods_copy_stdio = {COPIER_METHOD,
                                               .name = "copy/stdio",
                                               .summary = "the C library's streams",
                                               .calls = "fdopen(3), fread(3), fwrite(3), fclose(3)",
                                               .params = stdio_params,
                                               .param_count = METHODS_COUNT(stdio_params),
                                               .data = &by_streams};

/* ---- copy/copy-file-range, copy/sendfile --------------------------------------------------------------------------- */

static int move_by_range(struct copier *c, const struct weir_job *job, struct copier_pair *pair) {
  (void)c;
  for (size_t done = 0; done < pair->length;) {
    const int64_t count = os_copy_range(pair->from, done, pair->to, done, pair->length - done);
    int error = copier_judge(job, pair, "copying", done, count);
    if (error) return error;
    done += (size_t)count;
  }
  return 0;
}

static int move_by_sending(struct copier *c, const struct weir_job *job, struct copier_pair *pair) {
  (void)c;
  for (size_t done = 0; done < pair->length;) {
    const int64_t count = os_send_file(pair->from, done, pair->to, pair->length - done);
    int error = copier_judge(job, pair, "copying", done, count);
    if (error) return error;
    done += (size_t)count;
  }
  return 0;
}

static int probe_range(const struct weir_job *job, struct weir_reason *reason) {
  os_file from, to;
  if (!open_trial(job, &from, &to)) return 0;
  const int64_t count = os_copy_range(from, 0, to, 0, 4096);
  close_trial(from, to);
  return count < 0 ? target_unavailable(reason, (int)count, "copy_file_range here", "use copy/read-write") : 0;
}

static int probe_sending(const struct weir_job *job, struct weir_reason *reason) {
  os_file from, to;
  if (!open_trial(job, &from, &to)) return 0;
  const int64_t count = os_send_file(from, 0, to, 4096);
  close_trial(from, to);
  return count < 0 ? target_unavailable(reason, (int)count, "sendfile to a file here", "use copy/read-write") : 0;
}

static const struct copier_way by_range = {.move = move_by_range};
static const struct copier_way by_sending = {.move = move_by_sending};

const struct weir_method methods_copy_range = {COPIER_METHOD,
                                               .name = "copy/copy-file-range",
                                               .summary = "the system copies, or shares where the file system can",
                                               .calls = "copy_file_range(2)",
                                               .probe = probe_range,
                                               .data = &by_range};

const struct weir_method methods_copy_sendfile = {
    COPIER_METHOD,          .name = "copy/sendfile", .summary = "the system moves the pages of the source to the copy",
    .calls = "sendfile(2)", .probe = probe_sending,  .data = &by_sending};

/* ---- copy/splice --------------------------------------------------------------------------------------------------- */

static void close_pipe(struct copier *c) {
  (void)os_close(c->pipe_in);
  (void)os_close(c->pipe_out);
  c->pipe_in = c->pipe_out = os_no_file;
}

static int open_pipe(struct copier *c, const struct weir_job *job) {
  int error = os_pipe(&c->pipe_out, &c->pipe_in);
  if (error) return target_refused(job, "making a pipe", error);
  error = os_pipe_resize(c->pipe_in, (size_t)job->params[COPIER_CHUNK]);
  if (!error) return 0;
  close_pipe(c);
  return target_refused(job, "making a pipe of that size", error);
}

static int drain_pipe(struct copier *c, const struct weir_job *job, const struct copier_pair *pair, size_t at,
                      size_t length) {
  for (size_t done = 0; done < length;) {
    const int64_t count = os_splice(c->pipe_out, pair->to, length - done);
    if (count <= 0) return files_failed(job, "writing", pair->offset + at + done, count < 0 ? (int)count : -EIO);
    done += (size_t)count;
  }
  return 0;
}

static int move_through_pipe(struct copier *c, const struct weir_job *job, struct copier_pair *pair) {
  for (size_t done = 0; done < pair->length;) {
    const int64_t count = os_splice(pair->from, c->pipe_in, pair->length - done);
    int error = copier_judge(job, pair, "reading", done, count);
    if (!error) error = drain_pipe(c, job, pair, done, (size_t)count);
    if (error) return error;
    done += (size_t)count;
  }
  return 0;
}

static int probe_pipe(const struct weir_job *job, struct weir_reason *reason) {
  os_file out, in, from, to;
  int error = os_pipe(&out, &in);
  if (error) return target_unavailable(reason, error, "making a pipe", "raise the limit on open files (ulimit -n)");
  error = os_pipe_resize(in, (size_t)job->params[COPIER_CHUNK]);
  if (error) (void)target_unavailable(reason, error, "a pipe of that size", "raise fs.pipe-max-size, or use a smaller pipe");
  if (!error && open_trial(job, &from, &to)) {
    int64_t count = os_splice(from, in, 4096);
    if (count > 0) count = os_splice(out, to, (uint64_t)count);
    close_trial(from, to);
    if (count < 0) error = target_unavailable(reason, (int)count, "splice here", "use copy/read-write");
  }
  close_trial(out, in);
  return error;
}

static const struct copier_way through_pipe = {.open = open_pipe, .close = close_pipe, .move = move_through_pipe};
static const struct weir_param splice_params[] = {[COPIER_CHUNK] = {.name = "pipe",
                                                                    .kind = WEIR_PARAM_SIZE,
                                                                    .preset = "64KiB",
                                                                    .sweep = "64KiB|1MiB",
                                                                    .min = 4096,
                                                                    .max = 1 << 30,
                                                                    WEIR_PARAM_EVERYWHERE,
                                                                    .help = "bytes that the pipe holds"}};

const struct weir_method methods_copy_splice = {COPIER_METHOD,
                                                .name = "copy/splice",
                                                .summary = "the system moves pages into a pipe and out of it",
                                                .calls = "splice(2) in a loop, to and from one pipe",
                                                .params = splice_params,
                                                .param_count = METHODS_COUNT(splice_params),
                                                .probe = probe_pipe,
                                                .data = &through_pipe};

/* ---- copy/reflink -------------------------------------------------------------------------------------------------- */

static int move_by_sharing(struct copier *c, const struct weir_job *job, struct copier_pair *pair) {
  (void)c;
  int error = os_clone(pair->from, pair->to);
  return error ? files_failed(job, "sharing the storage of", pair->offset, error) : 0;
}

static int probe_sharing(const struct weir_job *job, struct weir_reason *reason) {
  os_file from, to;
  if (!open_trial(job, &from, &to)) return 0;
  int error = os_clone(from, to);
  close_trial(from, to);
  return error
             ? target_unavailable(reason, error, "files cannot share storage here",
                                  "use a directory on a file system with reflinks such as btrfs, or xfs made with reflink=1")
             : 0;
}

static const struct copier_way by_sharing = {.move = move_by_sharing};

const struct weir_method methods_copy_reflink = {COPIER_METHOD,
                                                 .name = "copy/reflink",
                                                 .summary = "the copy shares the storage of the source until one changes",
                                                 .calls = "ioctl(2) FICLONE",
                                                 .probe = probe_sharing,
                                                 .data = &by_sharing};

/* ---- copy/direct --------------------------------------------------------------------------------------------------- */

static int setup_direct(struct copier *c, const struct weir_job *job) {
  os_file trial;
  c->granule = ALIGNED_WHEN_NOT_TOLD;
  if (target_open_scratch(job, OS_DIRECT, &trial) == 0) {
    c->granule = aligned_granule_of(trial);
    (void)os_close(trial);
  }
  c->chunk = aligned_up(c->chunk, c->granule);
  return 0;
}

/* The last bytes do not fill a granule: they go through the page cache. */
static int write_tail(struct copier *c, const struct weir_job *job, const struct copier_pair *pair, size_t length,
                      size_t at) {
  int error = os_set_direct(pair->to, false);
  if (error) return files_failed(job, "writing the unaligned end of", pair->offset, error);
  return copier_write(job, pair, c->data + aligned_down(length, c->granule), length % c->granule, at);
}

static int write_direct(struct copier *c, const struct weir_job *job, const struct copier_pair *pair, size_t length,
                        size_t at) {
  const size_t whole = aligned_down(length, c->granule);
  int error = copier_write(job, pair, c->data, whole, at);
  return error || whole == length ? error : write_tail(c, job, pair, length, at + whole);
}

/* Reads whole granules until the chunk or the file ends: a direct read goes on from a multiple of the granule only. */
static int read_direct(struct copier *c, const struct weir_job *job, const struct copier_pair *pair, size_t length,
                       size_t at) {
  for (size_t done = 0; done < length;) {
    const size_t wanted = aligned_up(length, c->granule) - done;
    const int64_t count = os_pread(pair->from, c->data + done, wanted, at + done);
    int error = copier_judge(job, pair, "reading", at + done, count);
    if (error) return error;
    done += (size_t)count;
    if (done < length && done % c->granule != 0) return files_ended(job, pair->offset + at + done);
  }
  return 0;
}

static int move_direct(struct copier *c, const struct weir_job *job, struct copier_pair *pair) {
  for (size_t done = 0; done < pair->length;) {
    const size_t length = next_chunk(c, pair, done);
    int error = read_direct(c, job, pair, length, done);
    if (!error) error = write_direct(c, job, pair, length, done);
    if (error) return error;
    done += length;
  }
  return 0;
}

#define DIRECT_REMEDY "use copy/read-write, or a directory on a file system with direct I/O such as ext4 or xfs"

static int probe_direct(const struct weir_job *job, struct weir_reason *reason) {
  os_file file;
  int error = copier_probe_extend(job, reason);
  if (error) return error;
  error = target_open_scratch(job, OS_DIRECT, &file);
  if (error == -EOPNOTSUPP) return 0; /* no way to try: opening will tell */
  if (error) return target_unavailable(reason, error, "opening for direct I/O", DIRECT_REMEDY);
  error = aligned_try(file, true, aligned_granule_of(file));
  (void)os_close(file);
  return error ? target_unavailable(reason, error, "the first direct transfer", DIRECT_REMEDY) : 0;
}

static const struct copier_way direct = {
    .flags = OS_DIRECT, .chunked = true, .buffers = 1, .extends = true, .setup = setup_direct, .move = move_direct};
static const struct weir_param direct_params[] = {
    [COPIER_CHUNK] = COPIER_PARAM_CHUNK("1MiB", "64KiB|1MiB"),
    [COPIER_EXTEND] = METHODS_PARAM_EXTEND(METHODS_EXTEND_AT),
};

const struct weir_method methods_copy_direct = {
    COPIER_METHOD,
    .name = "copy/direct",
    .summary = "reads and writes past the page cache",
    .calls = "open(2) O_DIRECT, pread(2), write(2) in a loop; the unaligned end through the page cache",
    .capabilities = WEIR_CAP_DIRECT,
    .params = direct_params,
    .param_count = METHODS_COUNT(direct_params),
    .probe = probe_direct,
    .data = &direct};

/* ---- copy/cp ------------------------------------------------------------------------------------------------------- */

static int probe_cp(const struct weir_job *job, struct weir_reason *reason) {
  char program[512];
  (void)job;
  int error = os_program_find("cp", program, sizeof program);
  return error ? target_unavailable(reason, error, "no program cp along PATH", "set PATH to where it is") : 0;
}

static int setup_cp(struct copier *c, const struct weir_job *job) {
  int error = os_program_find("cp", c->program, sizeof c->program);
  return error ? target_refused(job, "looking for cp", error) : 0;
}

static int run_cp(struct copier *c, const struct weir_job *job, uint64_t offset) {
  const char *const argv[] = {c->program, "--", c->files.source, c->files.copy, NULL};
  const os_file streams[3] = {os_no_file, os_no_file, os_no_file};
  struct os_exit end;
  os_process process;
  int error = os_program_start(c->program, argv, streams, &process);
  if (!error) error = os_process_wait(process, UINT64_MAX, &end);
  if (error) return files_failed(job, "running cp on", offset, error);
  if (!end.crashed && end.code == 0) return 0;
  return job->host->fail(job, -EIO, "cp on file %08" PRIu64 " ended with %s %d", offset / job->block,
                         end.crashed ? "signal" : "status", end.code);
}

static const struct copier_way by_cp = {.setup = setup_cp, .by_name = run_cp};

const struct weir_method methods_copy_cp = {COPIER_METHOD,
                                            .name = "copy/cp",
                                            .summary = "the program cp, started for each file",
                                            .calls = "fork(2), execve(2) cp",
                                            .capabilities = WEIR_CAP_PROGRAM,
                                            .probe = probe_cp,
                                            .data = &by_cp};
