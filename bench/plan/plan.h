/*
 * plan.h - the first noun: what will be measured.
 *
 * A plan is groups of cells. A group is one demand (all that the user fixes); a cell is one choice (method, parameters,
 * threads, place). Only cells of one group are ranked against each other. Making a plan is pure: no clock, no I/O. The
 * measure stage fills in the fields marked "found" and nothing else.
 *
 * Ownership: strings and arrays belong to the plan; plan_release frees them. Text in fixed arrays is always terminated.
 */
#ifndef WEIR_PLAN_H
#define WEIR_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/method.h"

enum plan_cache { PLAN_WARM, PLAN_COLD };
enum plan_process { PLAN_SAME, PLAN_FRESH };                 /* worker: forked copy of weir / newly executed */
enum plan_flush { PLAN_FLUSH_DONTNEED, PLAN_FLUSH_FILE, PLAN_FLUSH_DROP }; /* how cold is made */
enum plan_rank { PLAN_RANK_TIME, PLAN_RANK_TRANSFER, PLAN_RANK_CPU, PLAN_RANK_MEMORY };

/* Word lists of the enums, in enum order, NULL-terminated: the only place where they are spelled. */
extern const char *const plan_task_words[], *const plan_direction_words[], *const plan_access_words[],
    *const plan_durability_words[], *const plan_target_words[], *const plan_consumer_words[], *const plan_cache_words[],
    *const plan_process_words[], *const plan_flush_words[], *const plan_rank_words[], *const plan_only_words[];
/* Index of `word` in such a list, or -1. */
int plan_word_index(const char *const *words, const char *word);

#define PLAN_MEMBERS_MAX 64u
#define PLAN_MEMBER_GRAIN UINT64_C(4096) /* shares of members are whole pages, so that all of them suit direct requests */

struct plan_demand {
  enum weir_task task;
  enum weir_direction direction;
  enum weir_access access;
  enum weir_durability durability;
  enum weir_target target;       /* writers */
  enum weir_consumer consumer;
  enum plan_cache cache;         /* readers: of the file; writers: of an existing target */
  enum plan_process process;
  uint64_t size_bytes;
  uint64_t request_bytes;        /* 0: the block size is a choice; copy, many: the size of one file */
  uint64_t item_bytes;           /* streams: average bytes of a line in a made file; 0: PLAN_ITEM_DEFAULT */
  double write_share;            /* direction mixed: share of the requests that write, (0, 1) */
  double coverage;               /* random access: share of the blocks in one pass, (0, 1] */
  double rate_per_s;             /* task blocks: requests that begin a second, over all instances; 0: one after the other */
  unsigned members;              /* the bytes are striped over so many files, one in each place, one instance each; 0: one file */
};

enum plan_status { PLAN_OK, PLAN_UNAVAILABLE, PLAN_FAILED };

struct plan_param {
  char name[24];
  uint64_t value;
  char text[32];
  bool fixed;                    /* not part of the cell's name: given by the demand, without meaning in it, or an unnamed preset */
};

#define PLAN_STYLE_MAX 16u

struct plan_cell {
  char *id;                      /* fd/pread[block=64KiB,threads=2]@/mnt/a#2 ; unique in its group */
  char method[64];               /* family/variant */
  const struct weir_method *impl;/* NULL when the plan was read from a file and this build lacks the method */
  uint32_t capabilities;
  unsigned param_count;
  struct plan_param params[WEIR_PARAMS_MAX];
  unsigned threads;              /* instances */
  unsigned place;                /* index into plan.places */
  char style[PLAN_STYLE_MAX];    /* what a study calls it: "FILE"; "" without one */
  bool twin;                     /* hidden second entry of the baseline (A/A); not ranked, not counted */
  /* found */
  enum plan_status status;
  char reason[192], remedy[160];
};

struct plan_group {
  char *id;                      /* "read-sequential-warm": unique in the plan, made from suite or demand */
  char *title;                   /* "read sequential, 64 MiB, warm" */
  struct plan_demand demand;
  unsigned priority;             /* 0 is dropped last */
  uint64_t loops;                /* passes of each sample; 0: as many as a sample needs to be long enough */
  bool size_fixed;               /* the user named the size: do not shrink it */
  uint64_t smallest_bytes;       /* do not shrink below */
  unsigned cell_count;
  struct plan_cell *cells;
  /* found */
  unsigned baseline;             /* first available cell */
  uint64_t passes;               /* per sample, the same for all cells */
  uint64_t pass_bytes;           /* a pass is cut to about so many bytes, or it would take too long; 0: all */
  uint64_t round_cost_ns;        /* pilot's estimate */
  unsigned rounds;               /* planned, burn-in not counted */
  bool dropped;                  /* did not fit into the time */
  char drop_reason[128];
};

struct plan {
  uint64_t seed;
  unsigned rounds;               /* asked for; 0: planned from the time */
  uint64_t time_ns;              /* budget of the whole run */
  bool fill_time;                /* the user named the time: use it up with rounds, beyond PLAN_ROUNDS_DEFAULT */
  double margin;                 /* practical margin, a fraction */
  enum plan_flush flush;
  enum plan_rank rank_by;
  bool latency;                  /* time every operation */
  bool private_copies;           /* every cell has scratch files of its own */
  char *suite;                   /* "default", "" when made from options */
  char *file;                    /* the user's own file to read, or NULL */
  unsigned place_count;
  char **places;                 /* directories for scratch files: one for each cell's `place`, or one for each member */
  unsigned group_count;
  struct plan_group *groups;
};

#define PLAN_WRITE_SHARE_DEFAULT 0.3
#define PLAN_RATE_MAX 1e8
#define PLAN_ITEM_DEFAULT 66u
#define PLAN_ITEM_MAX (UINT64_C(1) << 20)
#define PLAN_MANY_DEFAULT UINT64_C(65536) /* bytes of each of many files */
#define PLAN_ROUNDS_DEFAULT 20u
#define PLAN_TIME_DEFAULT_NS UINT64_C(60000000000)
#define PLAN_CELLS_MAX 200u

/*
 * What the command line says, before it becomes a plan. Empty lists mean "not said". Words are not copied.
 * Sizes and words are already parsed; every list holds `count` values.
 */
struct plan_words { unsigned count; int values[8]; };
struct plan_sizes { unsigned count; uint64_t values[16]; };
struct plan_strings { unsigned count; const char *values[256]; };
struct plan_request {
  const char *suite;             /* NULL: "default", or none when methods or demand words (cache aside) are given */
  const char *suite_text;        /* of a suite of the user's own, which `suite` names; NULL: it is built in */
  const char *file;              /* NULL, or the user's file; its size below */
  uint64_t file_bytes;
  struct plan_words task, direction, access, durability, target, cache, consumer, process;
  struct plan_sizes size, request;
  struct plan_strings methods;   /* 'fd/pread[block=64KiB|1MiB]', with * and ? in the name; empty: all that fit */
  struct plan_strings also;      /* contenders from outside: join every group that they fit, whatever `methods` says */
  unsigned also_must;            /* the first so many of them have to fit some group, or no plan is made */
  struct plan_words threads;     /* numbers */
  struct plan_strings places;    /* empty: "." */
  struct plan_strings members;   /* several: directories of one striped array; one is a place like any other */
  double coverage;               /* 0: not said */
  double write_share;            /* 0: not said */
  double rate_per_s;             /* 0: not said */
  unsigned item_bytes;           /* 0: not said */
  const char *baseline;          /* NULL: the method that stands first in the list; or a method spec */
  uint64_t seed;
  uint64_t time_ns;              /* 0: PLAN_TIME_DEFAULT_NS */
  unsigned rounds;               /* 0: as the suite says, or planned from the time */
  double margin;
  int flush;                     /* enum plan_flush; PLAN_UNSAID: as the suite says, or dontneed */
  enum plan_rank rank_by;
  bool latency, private_copies;
  struct plan_words only;        /* of the groups that come of all this, those in these directions */
};
#define PLAN_UNSAID (-1)

/* Why a request makes no plan: the option at fault, its value, what is wrong, and the nearest right word ("" if none). */
struct plan_error { char option[32], value[96], text[512], hint[96]; };

/*
 * Makes the plan. `methods` is a NULL-terminated list. Demand words together with a suite select among its groups; sizes
 * and places replace the suite's; without a suite every combination of the words becomes a group. With `file` only groups
 * that read remain, and warm ones unless cold is said. 0, or -EINVAL with *error filled, or -ENOMEM.
 */
int plan_make(const struct plan_request *request, const struct weir_method *const *methods, struct plan *out,
              struct plan_error *error);
void plan_release(struct plan *plan);
/*
 * Can a plan hold this method? Looks at its name, what it serves, and its parameters with their presets and sweeps: all that
 * is taken for granted of what is built in. 0, or -EINVAL with error->text.
 */
int plan_check_method(const struct weir_method *method, struct plan_error *error);
/* Adds a copy of cell `of` as A/A twin at the end of the group. */
int plan_add_twin(struct plan_group *group, unsigned of);
/* Bytes of the file of one member: shares that differ by a page at most. Without members: all. */
uint64_t plan_member_bytes(const struct plan_demand *demand, unsigned member);
bool plan_same_demand(const struct plan_demand *a, const struct plan_demand *b);
/* "read blocks of 64 KiB, sequential, 128 MiB, warm" */
#define PLAN_TITLE_MAX 256u
void plan_demand_title(const struct plan_demand *demand, char out[PLAN_TITLE_MAX]);
/* Sets the size of a group's demand and brings its title up to date. */
int plan_resize(struct plan_group *group, uint64_t size_bytes);

/* The cells in play: available, not twin, not a floor method. This is k of the statistics. */
bool plan_cell_counts(const struct plan_cell *cell);
unsigned plan_group_k(const struct plan_group *group);

/*
 * Rounds below which no verdict of k cells against the baseline is possible at the family level of 5 %. Exact: a sign test
 * over n rounds has no p-value below 2^(1-n).
 */
unsigned plan_rounds_for_verdicts(unsigned k);

/* The order of cells in a round: a fresh permutation from seed, group and round. `order` holds cell_count indices. */
void plan_round_order(const struct plan *plan, unsigned group, unsigned round, uint32_t *order);

/* The suites that are built in: name, summary, text. NULL-terminated by name. */
struct plan_suite { const char *name, *summary, *text; };
extern const struct plan_suite plan_suites[];

/* Nearest word to `word` in a NULL-terminated list (edit distance at most a third of its length), or NULL. */
const char *plan_nearest(const char *word, const char *const *words);

#endif
