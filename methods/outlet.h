/*
 * outlet.h - the way out for writers of streams: the job's file, opened as the demand says, and what goes into it in order.
 *
 * Bytes go by write(2) and writev(2), or through a stream of the C library on top of the same descriptor. A state that
 * begins with a struct outlet takes outlet_open, outlet_sync, outlet_close and outlet_teardown as they are. Errors are told
 * here.
 */
#ifndef WEIR_OUTLET_H
#define WEIR_OUTLET_H

#include <stdio.h>

#include "methods.h"
#include "target.h"

struct outlet {
  os_file file;
  FILE *stream; /* on top of `file`, which it owns; NULL: none */
  char *room;   /* the stream's buffer; NULL: unbuffered */
  size_t room_size;
  bool streams, unlocked;
  uint64_t at; /* bytes passed on since it was opened */
};

/* Parameters: these come first, in this order; those of streams next, then a method's own. */
enum { OUTLET_EXTEND, OUTLET_THROUGH, OUTLET_OWN };
enum { OUTLET_BUFFER = OUTLET_OWN, OUTLET_LOCK, OUTLET_STREAM_OWN };
#define OUTLET_PARAMS                                                 \
  [OUTLET_EXTEND] = METHODS_PARAM_EXTEND(METHODS_EXTEND_IN_ORDER),    \
  [OUTLET_THROUGH] = {.name = "through",                              \
                      .kind = WEIR_PARAM_CHOICE,                      \
                      .preset = "no",                                 \
                      .choices = "no|yes",                            \
                      .tasks = WEIR_ANY,                              \
                      .accesses = WEIR_ANY,                           \
                      .durabilities = WEIR_BIT(WEIR_DURABILITY_NONE), \
                      .help = "yes: each write reaches the storage (O_DSYNC) though nobody asks; durability each has it"}
/* `tried` are the sizes that a group tries. */
#define OUTLET_STREAM_PARAMS(usual, tried)                                                                 \
  OUTLET_PARAMS,                                                                                           \
      [OUTLET_BUFFER] = {.name = "buffer",                                                                 \
                         .kind = WEIR_PARAM_SIZE,                                                          \
                         .preset = (usual),                                                                \
                         .sweep = (tried),                                                                 \
                         .min = 0,                                                                         \
                         .max = OUTLET_SIZE_MAX,                                                           \
                         WEIR_PARAM_EVERYWHERE,                                                            \
                         .help = "the stream's buffer (setvbuf); 0 is unbuffered, 4KiB what glibc takes"}, \
      [OUTLET_LOCK] = {.name = "lock",                                                                     \
                       .kind = WEIR_PARAM_CHOICE,                                                          \
                       .preset = "locked",                                                                 \
                       .choices = "locked|unlocked",                                                       \
                       WEIR_PARAM_EVERYWHERE,                                                              \
                       .help = "does each call lock the stream"}
/* As LANDING_BLOCK_MAX: one transfer at most. */
#define OUTLET_SIZE_MAX (UINT64_C(1) << 30)

/* Their order is that of the file, so it is always in order, and one instance has it all. */
#define OUTLET_METHOD                                                                                             \
  METHODS_ABI, METHODS_WRITES, .accesses = WEIR_BIT(WEIR_SEQUENTIAL), .probe = outlet_probe, .open = outlet_open, \
                               .sync = outlet_sync, .close = outlet_close

int outlet_probe(const struct weir_job *job, struct weir_reason *reason);
/* In setup: from now on it opens as a stream. */
int outlet_setup_stream(struct outlet *outlet, const struct weir_job *job);
int outlet_open(void *state, const struct weir_job *job);
int outlet_sync(void *state, const struct weir_job *job);
int outlet_close(void *state, const struct weir_job *job);
void outlet_teardown(void *state, const struct weir_job *job);

/* All of it, by as many calls as that takes; counted as passed on. */
int outlet_write(struct outlet *outlet, const struct weir_job *job, struct weir_flow *flow, const void *data, size_t length);
/* The same for several pieces, which are changed. */
int outlet_write_pieces(struct outlet *outlet, const struct weir_job *job, struct weir_flow *flow, struct os_piece *pieces,
                        unsigned count);
/* What went wrong while the stream wrote `length` bytes. */
int outlet_put_failed(const struct outlet *outlet, const struct weir_job *job, size_t length);
/* Empties the stream's buffer. */
int outlet_flush(struct outlet *outlet, const struct weir_job *job);

/* By fwrite. Not repeated when interrupted: the standard leaves open what of the buffer is lost. */
static inline int outlet_put(struct outlet *outlet, const struct weir_job *job, struct weir_flow *flow, const void *data,
                             size_t length) {
  const size_t put =
      outlet->unlocked ? os_stream_write(data, length, outlet->stream) : fwrite(data, 1, length, outlet->stream);
  if (put != length) return outlet_put_failed(outlet, job, length);
  outlet->at += length;
  weir_passed(flow, length);
  return 0;
}

#endif
