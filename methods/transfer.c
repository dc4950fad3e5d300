/*
 * transfer.c - the parts of transfer.h that no loop needs often: set-up, opening, flushing, going on after short counts.
 */
#include "transfer.h"

#include <errno.h>

int transfer_setup_reader(void *state, const struct weir_job *job) {
  struct transfer *t = state;
  t->hint = (enum os_advice)job->params[TRANSFER_HINT];
  const enum weir_buffer_policy policy = (enum weir_buffer_policy)job->params[TRANSFER_BUFFER];
  return landing_setup(&t->landing, job, &(struct landing_wish){.policy = policy});
}

int transfer_setup_writer(void *state, const struct weir_job *job) {
  struct transfer *t = state;
  t->flush = (enum methods_flush)job->params[TRANSFER_FLUSH];
  t->extend = (enum target_extend)job->params[TRANSFER_EXTEND];
  const enum weir_buffer_policy policy = (enum weir_buffer_policy)job->params[TRANSFER_BUFFER];
  return landing_setup(&t->landing, job, &(struct landing_wish){.policy = policy});
}

int transfer_setup_mixer(void *state, const struct weir_job *job) {
  struct transfer *t = state;
  t->flush = (enum methods_flush)job->params[TRANSFER_MIXED_FLUSH];
  return landing_setup(&t->landing, job, &(struct landing_wish){.policy = WEIR_BUFFER_REUSED});
}

int transfer_probe_writer(const struct weir_job *job, struct weir_reason *reason) {
  return target_probe_extend(job, (enum target_extend)job->params[TRANSFER_EXTEND], reason);
}

int transfer_probe_flags(const struct weir_job *job, unsigned flags, const char *remedy, struct weir_reason *reason) {
  const bool writes = job->direction == WEIR_WRITE;
  unsigned char byte = 0;
  os_file file;
  /* Where there is no file to try on, opening or the first transfer will tell. */
  if (flags == 0 || (writes ? target_open_scratch(job, 0, &file) : os_open(job->path, OS_READ, &file)) != 0) return 0;
  const struct os_piece piece = {&byte, 1};
  const int64_t count = writes ? os_pwritev(file, &piece, 1, 0, flags) : os_preadv(file, &piece, 1, 0, flags);
  (void)os_close(file);
  return count < 0 ? target_unavailable(reason, (int)count, "a transfer with these flags", remedy) : 0;
}

int transfer_open(void *state, const struct weir_job *job) {
  struct transfer *t = state;
  const bool through = job->durability == WEIR_DURABILITY_EACH && t->flush == METHODS_FLUSH_DSYNC;
  int error = target_open_extending(job, through ? OS_DATA_SYNC : 0, t->extend, &t->file);
  if (error) return error;
  error = target_advise(job, t->file, t->hint);
  if (!error) error = landing_open(&t->landing, job);
  if (error) (void)os_close(t->file);
  return error;
}

int transfer_sync(void *state, const struct weir_job *job) { return target_sync(job, ((struct transfer *)state)->file); }

int transfer_close(void *state, const struct weir_job *job) {
  struct transfer *t = state;
  landing_close(&t->landing, job);
  return target_close(job, t->file);
}

void transfer_teardown(void *state, const struct weir_job *job) {
  landing_teardown(&((struct transfer *)state)->landing, job);
}

int transfer_seek(const struct transfer *t, const struct weir_job *job, uint64_t offset) {
  int error = os_seek(t->file, offset);
  return error ? target_failed(job, "seeking to", offset, 0, error) : 0;
}

int transfer_flush(const struct transfer *t, const struct weir_job *job, struct landing_piece piece) {
  int error = os_sync(t->file, false);
  return error ? target_failed(job, "flushing", piece.offset, piece.length, error) : 0;
}

int transfer_read_on(const struct transfer *t, const struct weir_job *job, struct landing_piece piece, int64_t count,
                     transfer_call *call) {
  size_t done = 0;
  for (;;) {
    const uint64_t offset = piece.offset + done;
    if (count < 0) return target_failed(job, "reading", offset, piece.length - done, (int)count);
    if (count == 0) return target_ended(job, offset);
    done += (size_t)count;
    if (done == piece.length) return 0;
    count = call(t, piece.data + done, piece.length - done, piece.offset + done);
  }
}

int transfer_write_on(const struct transfer *t, const struct weir_job *job, struct landing_piece piece, int64_t count,
                      transfer_call *call) {
  size_t done = 0;
  for (;;) {
    const uint64_t offset = piece.offset + done;
    if (count == 0) count = -EIO; /* neither progress nor a reason: trying again might never end */
    if (count < 0) return target_failed(job, "writing", offset, piece.length - done, (int)count);
    done += (size_t)count;
    if (done == piece.length) return 0;
    count = call(t, piece.data + done, piece.length - done, piece.offset + done);
  }
}
