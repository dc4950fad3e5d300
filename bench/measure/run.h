/*
 * run.h - the second noun: what was measured. Plan, machine, floors and every sample, as they stand in a run file.
 *
 * A run file is JSON Lines: a header (schema, plan, environment), a line for the floors, one for the limits of each place, one line a sample, a trailer.
 * Samples are appended between rounds, so that an interrupted run keeps all that it measured. run_read(run_write(x)) is x:
 * all values are integers, strings or reals printed in full.
 */
#ifndef WEIR_RUN_H
#define WEIR_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/histogram.h"
#include "plan/plan.h"

#define RUN_SCHEMA 1

enum run_phase { RUN_OPEN, RUN_RUN, RUN_SYNC, RUN_CLOSE, RUN_PHASES };

enum run_flag {
  RUN_PILOT = 1 << 0,      /* before the rounds; never analysed */
  RUN_BURN_IN = 1 << 1,    /* round 0; never analysed */
  RUN_PARTIAL = 1 << 2,    /* stopped before its work was done; never analysed */
  RUN_REWARMED = 1 << 3,   /* pages had left the cache and were read back before the clock started */
  RUN_NOT_COLD = 1 << 4,   /* eviction did not reach < 1 % resident */
  RUN_NOT_WARM = 1 << 5,   /* warming did not reach >= 99 % resident */
  RUN_UNSETTLED = 1 << 6,  /* dirty pages were left when the wash-out reached its cap */
  RUN_SELF_TIMED = 1 << 8, /* the contender's own clock, see weir_host.claim_time */
  RUN_RETAKEN = 1 << 7,    /* pages left the cache while it was measured, so it was taken again; never analysed */
};
/* Their words in files, in bit order, NULL-terminated. */
extern const char *const run_flag_words[];

enum run_status { RUN_OK, RUN_FAILED };

/* Working set of the memory floors: they bound files that are at least as large, not what fits into a cache. */
#define RUN_FLOOR_BYTES ((uint64_t)64 << 20)

/* One timed run of one cell. Byte and page counters are -1 when the system does not tell. */
struct sample {
  uint32_t group, cell;
  int32_t round;            /* -1 pilot, 0 burn-in, 1 ... */
  int32_t position;         /* in the round's order */
  int32_t predecessor;      /* cell measured before in the same group, -1 none */
  uint64_t start_ns;        /* monotonic */
  uint64_t passes, operations, bytes;
  uint64_t items;           /* lines, fields, values or UTF-16 units handed over; 0 where the task has none */
  uint64_t phase_ns[RUN_PHASES];
  uint64_t setup_ns, prepare_ns;
  uint64_t cpu_ns, minor_faults, major_faults, voluntary_switches, involuntary_switches;
  uint64_t peak_bytes;      /* resident at most, beyond what the process had before its set-up */
  int32_t resident_before_ppm, resident_after_ppm;
  int64_t device_read_bytes, device_write_bytes, flushes, foreign_bytes, steal_ns;
  int64_t cpu_stall_ns, io_stall_ns, memory_stall_ns; /* of the whole machine meanwhile (pressure stall information) */
  int64_t allocations, allocated_bytes; /* of one pass, see os_allocations_begin; counted in the pilot alone */
  int64_t system_calls;                 /* of one pass, see os_call_count_start; counted in the pilot alone */
  int64_t cycles, instructions;         /* see os_cycles_start */
  int64_t cache_before_bytes, cache_after_bytes; /* of its files, and of copies of them, in the page cache */
  /* Of a file that lay in the page cache and that nobody used meanwhile: before, and what was gone after. In the pilot alone. */
  int64_t victim_bytes, victim_lost_bytes;
  uint64_t checksum;        /* position-keyed sum over one pass */
  enum run_status status;
  char reason[192];         /* of a failed one */
  uint32_t flags;           /* enum run_flag */
  uint64_t late;            /* with a rate: operations that began after the next one was due */
  /* with plan.latency: where its histogram lies in run.latency, see run_keep_latency */
  size_t latency_first, latency_count;
  bool latency_is_log2;     /* from a file of an older weir: the slots are floor(log2(ns)) */
};

/* Elapsed time of one pass: all phases, divided by passes. 0 when nothing was done. */
double sample_elapsed_ns(const struct sample *sample);

/* Speeds that nothing on this machine can beat, measured in the same run. 0: not measured. */
struct run_floors {
  double harness_ns_per_op, harness_latency_ns_per_op, clock_read_ns, clock_step_ns, syscall_ns, page_fault_ns,
      huge_page_fault_ns, memcpy_bytes_per_s, scan_bytes_per_s;
};

/*
 * What the device of a place, or of the user's file, can do at best, by direct transfers with many requests in flight, measured
 * in the same run. 0: not measured, because no cell needs it or for `reason`.
 */
struct run_limits {
  double read_bytes_per_s, random_reads_per_s /* of RUN_LIMIT_RANDOM_BYTES */, write_bytes_per_s, sync_ns;
  char reason[128];
};
#define RUN_LIMIT_RANDOM_BYTES 4096u

/*
 * One round of one group, and what the machine did meanwhile; counters of the whole machine, -1 when the system does not
 * tell. The control is a fixed piece of work, the same in every run; it stands before the first sample and after the last.
 */
enum { RUN_FIRST, RUN_LAST, RUN_ANCHORS };
struct run_round {
  uint32_t group;
  int32_t round;                /* as in samples */
  uint64_t start_ns, elapsed_ns, waited_ns; /* waited: before it began, for the machine to be quiet */
  uint64_t anchor_ns[RUN_ANCHORS]; /* the control; 0 not measured */
  int64_t steal_ns, cpu_stall_ns, io_stall_ns, memory_stall_ns, busy_ns, processor_hz;
};

/* Why a round may not be like the others. It is kept all the same. */
enum run_noise {
  RUN_NOISE_CONTROL = 1 << 0, /* the control took longer than its usual spread explains */
  RUN_NOISE_STEAL = 1 << 1,   /* the host gave the processors to others */
  RUN_NOISE_DEVICE = 1 << 2,  /* others used the device */
  RUN_NOISE_STALL = 1 << 3,   /* somebody waited for a device, where our samples read from memory */
  RUN_NOISE_SPEED = 1 << 4,   /* the processor ran slower than usual */
};
#define RUN_NOISE_KINDS 5u
extern const char *const run_noise_words[]; /* in bit order, NULL-terminated */

/* A fact about machine, place or program. `number`: the text is an integer and is written without quotes. */
struct run_fact { char *name, *text; bool number; };

/* Something the reader must know: W01 ... with a remedy ("" if none). */
struct run_warning { char id[8]; char text[256]; char remedy[192]; };

struct run {
  struct plan plan;
  unsigned argument_count;
  char **arguments;
  unsigned fact_count;
  struct run_fact *facts;
  struct run_floors floors;
  struct run_limits *limits;      /* one for each of plan.places, or NULL */
  size_t sample_count, sample_room;
  struct sample *samples;
  size_t latency_count, latency_room;
  struct histogram_entry *latency; /* of all samples, one after the other */
  size_t round_count, round_room;
  struct run_round *rounds;
  unsigned warning_count;
  struct run_warning warnings[16];
  bool interrupted;
};

int run_add_fact(struct run *run, const char *name, const char *text);
int run_add_number(struct run *run, const char *name, int64_t value);
const char *run_fact_text(const struct run *run, const char *name); /* NULL when unknown */
/* Ignored when the same id and text are there already, or no room is left. */
void run_warn(struct run *run, const char *id, const char *remedy, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
int run_add_sample(struct run *run, const struct sample *sample);
/* Keeps these slots in the run and tells the sample where. 0 or -ENOMEM. */
int run_keep_latency(struct run *run, struct sample *sample, const struct histogram_entry *entries, size_t count);
/* latency_count entries, sorted by slot; NULL without any. */
const struct histogram_entry *run_latency(const struct run *run, const struct sample *sample);
int run_add_round(struct run *run, const struct run_round *round);
/* Pure: what is odd about each of run->rounds, as bits of enum run_noise; `out` has room for one of each. 0 or -ENOMEM. */
int run_judge_rounds(const struct run *run, uint32_t *out);
void run_release(struct run *run);

/* ---- the file ---- */

/*
 * Paths and arguments may hold bytes that are no UTF-8, JSON may not. encode spells any bytes as UTF-8 (plain text stays as
 * it is; see run.c), decode turns that back in place. The caller frees what encode returns; NULL when memory is short.
 */
char *run_text_encode(const char *text);
void run_text_decode(char *text);

/* Each writes whole lines and flushes nothing; the stream's error flag tells of failures. */
void run_write_header(const struct run *run, FILE *out);
void run_write_floors(const struct run *run, FILE *out);
void run_write_limits(const struct run *run, FILE *out); /* nothing where there are none */
/* `run` gives the names that the line bears; the sample need not be among its samples. */
void run_write_sample(const struct run *run, const struct sample *sample, FILE *out);
void run_write_round(const struct run *run, const struct run_round *round, FILE *out);
/* What the pilot found: passes, rounds, sizes, unavailable cells; written once it is known, after the pilot's samples. */
void run_write_found(const struct run *run, FILE *out);
void run_write_trailer(const struct run *run, FILE *out); /* warnings, interrupted */
/*
 * Reads a run file. A cut last line (killed run) is accepted with a warning. `methods` may be NULL. 0, -EINVAL with
 * `problem` = "line 12: ...", -ENOMEM.
 */
int run_read(FILE *in, const struct weir_method *const *methods, struct run *out, char *problem, size_t problem_size);

#endif
