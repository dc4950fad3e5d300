/*
 * claims.h - what published studies said, and the cells whose times answer it.
 *
 * A claim is a sentence with a source. Its cases are demands (each may be a family of groups, as in a suite); a test of a
 * case sets one cell beside another, or asks what a cell left behind. Claims become groups of a few plans, those with the same
 * demand share a group, and every test knows its cells. Pure: the verdicts are drawn in stat/claim.c.
 *
 * Ownership: strings belong to the book, plans and checks to the claims_plan; the release functions free them.
 */
#ifndef WEIR_CLAIMS_H
#define WEIR_CLAIMS_H

#include "plan/plan.h"

/* What the claim says of `first` against `second`. */
enum claim_expect {
  CLAIM_FASTER,
  CLAIM_SLOWER,
  CLAIM_EQUAL,
  CLAIM_NOT_SLOWER, /* nothing is said of how much faster, or whether at all */
};
enum claim_role {
  CLAIM_DECIDES,  /* the verdict is drawn from these cases alone */
  CLAIM_ORIGINAL, /* the study's own set-up, which mixes in something else: shown, with a verdict of its own */
  CLAIM_BESIDE,   /* further conditions: shown the same way */
};
enum claim_kind {
  CLAIM_PAIR,     /* the ratio of two cells, of one group or of two */
  CLAIM_MEAN,     /* the geometric mean of that ratio over all groups of the case */
  CLAIM_EVIDENCE, /* something counted of one cell, above or below a limit */
};
/* What times of cells are divided by before they are compared. */
enum claim_per { CLAIM_PER_PASS, CLAIM_PER_BYTE };
enum claim_quantity {
  CLAIM_RESIDENT_BEFORE, /* share of the file in the page cache before the clock starts, and after it stops */
  CLAIM_RESIDENT_AFTER,
  CLAIM_DEVICE_READ, /* bytes that the device moved meanwhile, as a share of the bytes of the pass */
  CLAIM_DEVICE_WRITE,
  CLAIM_DEVIATION, /* how far a single time lies from the median of all */
};
/* What a case takes that not every machine has. */
enum claim_need { CLAIM_NEEDS_NOTHING, CLAIM_NEEDS_NETWORK };
/* Where a case's files are: in the user's directory, in memory, or striped over the members of an array. */
enum claim_place { CLAIM_PLACE_HERE, CLAIM_PLACE_MEMORY, CLAIM_PLACE_ARRAY };

/* In enum order, NULL-terminated. */
extern const char *const claim_expect_words[], *const claim_role_words[], *const claim_quantity_words[];

struct claim_test {
  enum claim_kind kind;
  enum claim_expect expect;
  char *first, *second;                 /* specs; 'spec@words' names the group of the case; evidence has no second */
  double published_low, published_high; /* time of second / time of first; 0: no figure */
  enum claim_quantity quantity;         /* evidence */
  bool above;
  double limit; /* a fraction */
};

struct claim_case {
  char *name;   /* unique in its claim; "" */
  char *demand; /* lines of a suite's group */
  char *note;   /* what is set up here, or "" */
  char *beside; /* further cells, between white space: shown, not judged */
  enum claim_role role;
  enum plan_rank rank;
  enum claim_need need;
  enum claim_place place;
  int flush; /* enum plan_flush */
  int per;   /* enum claim_per, or PLAN_UNSAID: a byte for cells of two groups, else a pass */
  unsigned test_count;
  struct claim_test *tests;
};

struct claim {
  char *id;
  unsigned study; /* of the book */
  char *says, *published, *trap;
  char *cannot; /* why no verdict is possible here, or "" */
  unsigned case_count;
  struct claim_case *cases;
};

struct claim_study {
  char *file; /* "study-a" */
  char *name, *title;
};

struct claims_book {
  unsigned study_count, claim_count;
  struct claim_study *studies;
  struct claim *claims;
};

/* The texts that are built in: name and text of each file. NULL-terminated by name. */
struct claims_text { const char *name, *text; };
extern const struct claims_text claims_texts[];

/* Reads such a list. 0, -ENOMEM, or -EINVAL with file, line and key in *error. */
int claims_read(const struct claims_text *texts, struct claims_book *out, struct plan_error *error);
void claims_release(struct claims_book *book);
/* Index of the claim with this id in any case of letters, or -1. */
int claims_find(const struct claims_book *book, const char *id);

/* ---- from claims to plans ---- */

struct claim_side { unsigned group, cell; };

/* One test, and where its cells are: one pair, or for a mean one pair of each group. */
struct claim_check {
  unsigned claim, setup, test; /* of the book; `setup` is the index of the case */
  unsigned part;
  enum claim_per per;
  unsigned count;
  struct claim_side *first, *second;
};

/* Plans differ where one plan cannot hold what cases ask for: how cold is made, and where files are. */
struct claims_part {
  enum plan_flush flush;
  enum claim_place place;
  struct plan plan;
};
#define CLAIMS_PARTS_MAX 4u

struct claims_plan {
  const struct claims_book *book; /* not owned */
  unsigned part_count;
  struct claims_part parts[CLAIMS_PARTS_MAX];
  unsigned check_count;
  struct claim_check *checks; /* in the order of the book */
};

struct claims_request {
  const bool *wanted;   /* one for each claim of the book; NULL: all */
  const char *place;    /* directory for scratch files */
  const char *memory;   /* directory in memory, or NULL: cases that want one are left out */
  const struct plan_strings *members; /* directories of an array; NULL, or less than two: cases of arrays are left out */
  bool network;         /* `place` is on another machine */
  uint64_t seed;
  unsigned rounds;      /* 0: planned from the time */
  uint64_t time_ns;
  double margin;
};

/* 0, -ENOMEM, or -EINVAL with the claim in error->value. Cases that this machine cannot hold have no checks. */
int claims_make(const struct claims_book *book, const struct claims_request *request,
                const struct weir_method *const *methods, struct claims_plan *out, struct plan_error *error);
void claims_plan_release(struct claims_plan *plan);

#endif
