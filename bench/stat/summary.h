/*
 * summary.h - the third noun: what the samples say. Everything a report prints is in here; no report computes a statistic.
 *
 * stat_summarize is pure: the same run gives the same summary. Times are per pass. See
 * docs/statistics.md for the rules, the reasons and the exact floors.
 */
#ifndef WEIR_SUMMARY_H
#define WEIR_SUMMARY_H

#include "measure/run.h"

/* `known` false: median alone is meaningful when n > 0, low and high are not known (too few rounds). */
struct stat_interval { double median, low, high; bool known; };

enum stat_verdict { STAT_BASELINE, STAT_FASTER, STAT_SAME, STAT_SLOWER, STAT_UNCLEAR, STAT_NONE /* failed, unavailable, floor */ };
extern const char *const stat_verdict_words[]; /* "baseline", "faster", "same", "slower", "unclear", "" */

/*
 * Time of single operations, from their submission (with a rate: their intended start) to the moment when their data are handed
 * over. A percentile is the median over rounds of the round's percentile; it is given where a sample has at least ten
 * operations beyond it.
 */
#define STAT_PERCENTILES 5u
struct stat_percentile { const char *name; double share; uint64_t operations; /* fewest that a sample must have */ };
extern const struct stat_percentile stat_percentiles[STAT_PERCENTILES];
struct stat_latency {
  struct stat_interval percentile_ns[STAT_PERCENTILES]; /* median 0: not given */
  uint64_t operations;           /* of the sample that has fewest */
  double late_share;             /* at a rate: of the operations, those that began after the next one was due; else -1 */
  bool is_log2;                  /* from a file of an older weir, which kept octaves only: no percentiles */
  size_t slot_count;
  struct histogram_entry slots[];/* all analysed samples together */
};

/* The last rounds of writers: the rates lie within 20 % of their mean, and the line through them moves by 10 % of it at most. */
#define STAT_STEADY_ROUNDS 5u
#define STAT_STEADY_RANGE 0.20
#define STAT_STEADY_SLOPE 0.10
enum stat_steadiness { STAT_STEADINESS_UNKNOWN, STAT_STEADY, STAT_NOT_STEADY };

struct stat_cell {
  const struct plan_cell *plan;  /* id, method, params, status, reason */
  enum plan_status status;       /* also failed by its samples */
  const char *reason;
  unsigned n;                    /* samples analysed */
  struct stat_interval elapsed_ns;
  double phases_ns[RUN_PHASES];  /* medians */
  double bytes_per_s, operations_per_s, items_per_s; /* from the median; 0 when they mean nothing */
  struct stat_interval speed_ratio; /* baseline / this, of the ranked quantity */
  bool ranked;                   /* rank_low and rank_high are known */
  unsigned rank_low, rank_high;  /* 1 = fastest */
  enum stat_verdict verdict;
  bool best;                     /* in the best set */
  char label[64];                /* "warm", "guest-cold", "mixed+not-durable" ... */
  double limit_percent;          /* of the speed that `limit` allows; 0 unknown */
  const char *limit;             /* what bounds it: "memory copy", "device sequential" ...; NULL unknown */
  /* medians, of what grows with the work per pass; resident as a fraction; -1 unknown */
  double resident_before, resident_after, device_read_bytes, device_write_bytes, flushes;
  double cpu_ns, minor_faults, major_faults, peak_bytes;
  double cpu_ns_per_byte, cycles, instructions, voluntary_switches, involuntary_switches;
  double allocations, allocated_bytes, system_calls; /* of one pass, from the pilot */
  double evicted_share;          /* of a file in the page cache that nobody used, gone after one sample of the pilot; -1 unknown */
  bool cache_growth_known;
  double cache_growth_bytes;     /* what its files, and copies of them, have more in the page cache after a sample; may be less */
  double setup_ns;
  struct stat_latency *latency;  /* NULL: operations were not timed */
  enum stat_steadiness steadiness; /* writers */
  double steady_range, steady_slope; /* of the rate over the last STAT_STEADY_ROUNDS, as shares of its mean */
};

/* What the machine did during the rounds of a group, or of all groups; burn-in is not in it. */
struct stat_machine {
  unsigned rounds, noisy;        /* that were watched; of these not like the others: see enum run_noise */
  unsigned noisy_by[RUN_NOISE_KINDS];
  double control_ns;             /* median of the control that stands before and after each round; 0 unknown */
  double control_noise;          /* spread of its change within a round: 1.4826 * MAD of ln, a fraction; -1 unknown */
  double drift;                  /* its change from the first round to the last by the median slope; above 0: slower */
  bool drift_known;
  double steal, cpu_stall, io_stall, memory_stall; /* shares of the time (of all processors: steal); -1 unknown */
  double slowest_hz, fastest_hz; /* of the processor; 0 unknown */
  double waited_ns;              /* for the machine to be quiet */
};

/*
 * What follows for somebody who writes a program: facts only, each from cells that were measured in this run. Words are the
 * reports'.
 */
/* A parameter of the cell that leads, along which cells of the same method were measured that differ in nothing else. */
struct stat_knob {
  const struct plan_param *least, *most;  /* values measured; NULL: only one was */
  const struct plan_param *enough;        /* the least that no other one of them is surely faster than */
  const struct plan_param *beats_from;    /* the least from which on all are faster than the baseline; NULL: not all, or it is least */
};
/* Groups of this run that differ from this one in the size of file or request alone: where the lead begins and ends. */
struct stat_crossing {
  unsigned measured;                /* values, with this group's */
  uint64_t least, most;             /* of them */
  uint64_t from;                    /* least from which on, up to this one, the lead's method is faster than the baseline; 0: not here */
  uint64_t below;                   /* the next smaller value; 0: none was measured */
  enum stat_verdict below_verdict;  /* the lead's method against the baseline there */
  uint64_t above;                   /* the next larger value at which the lead's method is not in the best set; 0: none */
  const struct stat_cell *above_lead;
};
/* A group of this run that differs in one word. */
struct stat_change {
  const struct stat_group *group;
  const char *word;                 /* "cold", "random", "each" ... */
  const struct stat_cell *lead;     /* first of the best set there */
  bool holds;                       /* the lead's method is in the best set there too */
};
#define STAT_CHANGES_MAX 4u
struct stat_advice {
  const struct stat_cell *lead;     /* NULL: the group makes no claim, and nothing is advised */
  bool keeps_baseline;              /* the lead is the baseline: no other one is surely faster */
  unsigned tied;                    /* others in the best set */
  const struct stat_cell *frugal;   /* of these, one that takes a fifth less processor time than the lead; NULL: none */
  struct stat_knob block, depth;
  struct stat_crossing size, request;
  double cpu_ratio;                 /* lead by baseline; 0 unknown */
  double extra_bytes;               /* of memory, beyond the baseline's; may be negative */
  bool knows_memory;
  double extra_faults;              /* minor ones of a pass, likewise; 0 unknown */
  unsigned change_count;
  struct stat_change changes[STAT_CHANGES_MAX];
  const char *not_measured[3];      /* "cold", "durable" ...: what could change it; NULL-terminated */
};

struct stat_group {
  const struct plan_group *plan;
  unsigned k;                    /* cells that count and have samples */
  unsigned rounds;               /* complete rounds analysed */
  int baseline;                  /* index of the baseline cell, -1 none */
  unsigned needed_best, needed_baseline, needed_pairs; /* exact floors for this k */
  bool state_missed;             /* the file was in no sample in the cache state that was asked for */
  struct stat_interval resident_before; /* share of the file in the cache before samples: median, least and most */
  unsigned read_back;            /* writers: cells whose file was read back past the cache in the pilot, and was right */
  bool claims;                   /* enough rounds for a best set */
  unsigned best_count;
  struct stat_interval twin;     /* A/A: baseline / twin, plain 95 % */
  double margin;                 /* effective: max(asked, bound of the A/A difference) */
  double smallest_callable_ratio;/* 0: none at this number of rounds */
  double noise;                  /* spread of the twin's paired differences: 1.4826 * MAD of ln, a fraction; 0 unknown */
  bool lower_is_better_bytes;    /* rank_by memory: the quantity is bytes, not time */
  unsigned steady, not_steady;   /* writers: cells that reached a steady state, and those that did not */
  struct stat_machine machine;
  unsigned cell_count;
  struct stat_cell *cells;       /* same order as in the plan (twin included) */
  struct stat_interval *pairs;   /* cell_count x cell_count: [i * cell_count + j] = speed of j against i */
  unsigned *order;               /* cell indices for printing: ranked by median, then failed, then unavailable; no twin */
  unsigned order_count;
  struct stat_advice advice;
};

/*
 * Groups that differ in nothing but the request size, of cells through the page cache and past it: how the rate grows with
 * the request. The half-power point is the smallest request with which some cell of that side reaches half of the side's best
 * rate, and the least depth that does so there.
 */
struct stat_curve_side {
  const struct stat_cell *best, *half;
  uint64_t best_request_bytes, half_request_bytes;
  unsigned best_depth, half_depth; /* requests in flight of one instance */
  bool half_is_smallest;           /* no smaller request was measured */
  double cpu_ns_per_gib;           /* of the best; -1 unknown */
};
struct stat_curve {
  const struct plan_group *first;  /* of its groups */
  unsigned group_count;
  uint64_t smallest_request_bytes;
  struct stat_curve_side buffered, unbuffered;
  double buffered_share;           /* best buffered rate by best unbuffered one */
};

struct summary {
  const struct run *run;         /* plan, facts, floors, warnings, arguments; not owned, must outlive the summary */
  unsigned group_count;
  struct stat_group *groups;
  unsigned rounds, rounds_planned; /* complete ones, and planned: of the groups with most */
  size_t analysed;               /* samples, of all groups */
  bool failed;                   /* some cell delivered wrong data or crashed: exit 1 */
  bool inconclusive;             /* some group has no claim or nothing but unclear: exit 3 with --strict */
  unsigned curve_count;
  struct stat_curve *curves;
  struct stat_machine machine;   /* of all groups */
  uint32_t *noise;               /* of each of run->rounds: bits of enum run_noise */
};

int stat_summarize(const struct run *run, struct summary *out); /* 0 or -ENOMEM */
void stat_release(struct summary *summary);

#endif
