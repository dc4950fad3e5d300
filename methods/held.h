/*
 * held.h - the job's file as one piece of memory, for readers of streams: mapped, or read whole into a buffer.
 *
 * Mapped: held_probe_map in probe, held_map in open, held_unmap in close. Read: held_setup in setup, held_open in open,
 * held_read in run, held_close in close, held_teardown in teardown; a buffer that is `reused` lives from setup to teardown,
 * a `fresh` or `huge` one from open to close, so that its cost is timed.
 */
#ifndef WEIR_HELD_H
#define WEIR_HELD_H

#include "methods.h"
#include "target.h"

struct held {
  const unsigned char *data; /* all of the file: job->file_size bytes */
  size_t size;
  void *room; /* NULL while there is no buffer */
  os_file file;
  enum weir_buffer_policy policy;
};

/* ---- mapped; the parameters in this order -------------------------------------------------------------------------- */

enum { HELD_MAPPING, HELD_ADVICE, HELD_MAP_OWN };
#define HELD_MAP_PARAMS(tried)                                                                       \
  [HELD_MAPPING] = {.name = "mapping",                                                               \
                    .kind = WEIR_PARAM_CHOICE,                                                       \
                    .preset = "shared",                                                              \
                    .choices = "shared|private",                                                     \
                    WEIR_PARAM_EVERYWHERE,                                                           \
                    .help = "the file's own pages, or such as become copies when they are written"}, \
  [HELD_ADVICE] = {.name = "advice",                                                                 \
                   .kind = WEIR_PARAM_CHOICE,                                                        \
                   .preset = "none",                                                                 \
                   .sweep = (tried),                                                                 \
                   .choices = "none|sequential|populate",                                            \
                   WEIR_PARAM_EVERYWHERE,                                                            \
                   .help = "what the system is told of the map; populate: all pages mapped in ahead by one call"}

int held_probe_map(const struct weir_job *job, struct weir_reason *reason);
int held_map(struct held *held, const struct weir_job *job);
int held_unmap(struct held *held, const struct weir_job *job);

/* ---- read ---------------------------------------------------------------------------------------------------------- */

/* The values are those of enum weir_buffer_policy. */
#define HELD_PARAM_BUFFER(tried)                                                                                      \
  {                                                                                                                   \
    .name = "buffer", .kind = WEIR_PARAM_CHOICE, .preset = "fresh", .sweep = (tried), .choices = "fresh|reused|huge", \
    WEIR_PARAM_EVERYWHERE, .help = "memory for the whole file: new each time, used before, or new in huge pages"      \
  }

int held_setup(struct held *held, const struct weir_job *job, enum weir_buffer_policy policy);
int held_open(struct held *held, const struct weir_job *job);
int held_read(struct held *held, const struct weir_job *job);
int held_close(struct held *held, const struct weir_job *job);
void held_teardown(struct held *held, const struct weir_job *job);

#endif
