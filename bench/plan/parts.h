/*
 * parts.h - what the plan's own files share: specs, suites, groups in the making. Not for other folders.
 */
#ifndef WEIR_PLAN_PARTS_H
#define WEIR_PLAN_PARTS_H

#include "plan/plan.h"

/* ---- words.c ---- */

/* Fills *error and returns -EINVAL, so that `return plan_fail(...)` reads well. `hint` may be NULL. */
int plan_fail(struct plan_error *error, const char *option, const char *value, const char *hint, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* "read, write" */
const char *plan_word_list(const char *const *words, char *out, size_t size);

/* Is it among those that were said? */
bool plan_has_word(const struct plan_words *words, unsigned value);

/* ---- contradiction.c ---- */

/* 0, or -EINVAL with *error filled. */
int plan_check_request(const struct plan_request *request, struct plan_error *error);

/* ---- combine.c ---- */

/* The sizes to measure: what was said, else `usual`; never more than the user's file holds. */
struct plan_sizes plan_sizes_for(const struct plan_request *request, uint64_t usual);
/* Parts that a file is striped over, or 0. */
unsigned plan_striped(const struct plan_request *request);
/* What the user said beside the words, what the task leaves no choice about, and all of FILE where that is a stream. */
void plan_apply(const struct plan_request *request, struct plan_demand *demand);
/* Every combination of the words, in order, until `each` returns other than 0: then that is returned. */
int plan_combine(const struct plan_request *request, int (*each)(void *context, const struct plan_demand *demand),
                 void *context);

/* ---- spec.c: 'family/variant[param=value|value,threads=2]' ---- */

#define SPEC_VALUES_MAX 16u
#define SPEC_PARAMS_MAX (WEIR_PARAMS_MAX + 1u) /* and threads */

struct spec_param {
  char name[24];
  unsigned count;
  char values[SPEC_VALUES_MAX][32];
};
struct spec {
  char text[192]; /* as written, for messages */
  char name[64];  /* may hold * and ? */
  bool sweep;     /* parameters that are not said take their sweep, else their preset */
  unsigned param_count;
  struct spec_param params[SPEC_PARAMS_MAX];
};
/* What a spec is expanded with. */
struct spec_scope {
  const struct weir_method *const *methods;
  const struct plan_words *threads; /* at least one */
  unsigned place_count; /* that are compared: with members just one */
  char *const *places;
  unsigned members; /* as in the demand */
  const char *option; /* for messages: --method, --baseline, --suite */
};

/* Syntax, names and values are checked here; whether it fits a demand is seen by spec_expand. */
int spec_parse(const char *text, const struct spec_scope *scope, struct spec *out, struct plan_error *error);
/* Every method, swept. */
void spec_every(struct spec *out);
/*
 * Appends the cells that the spec names in this group. Returns how many; 0 when none fits the demand, and then *error says
 * why; or -EINVAL, -ENOMEM.
 */
int spec_expand(const struct spec *spec, const struct spec_scope *scope, struct plan_group *group, struct plan_error *error);
/* Does the cell belong to what the spec names? Parameters that the spec does not say do not matter. */
bool spec_matches(const struct spec *spec, const struct plan_cell *cell);

/* Are all values that the parameter proposes itself values that it may have? 0, or -EINVAL. */
int spec_check_param(const struct weir_param *param, struct plan_error *error);

/* ---- suite.c ---- */

/*
 * A style is what a study calls a way of moving bytes: one spec for groups that read, one for groups that write. The cells
 * of the two carry its name.
 */
struct suite_style {
  char name[PLAN_STYLE_MAX];
  unsigned line; /* where it stands */
  char *reader, *writer; /* NULL: the style has no part in such groups */
};
struct suite_spec {
  unsigned line;
  char *text; /* NULL: none */
};
struct suite_group {
  char name[96];
  struct plan_demand demand;
  unsigned priority;
  uint64_t smallest_bytes, loops;
  unsigned spec_count;  /* none, and no styles: all that fit */
  const struct suite_spec *specs;
  struct suite_spec baseline; /* a spec, or the name of a style */
  unsigned style_count;
  const struct suite_style *styles;
};
struct suite_family; /* a section as it was read; owns the texts of its groups */
struct suite {
  const char *name;
  unsigned rounds; /* 0: not said */
  int flush;       /* enum plan_flush, or PLAN_UNSAID */
  unsigned group_count;
  struct suite_group *groups;
  unsigned family_count;
  struct suite_family *families;
};
/* Reads a suite's text. 0, -ENOMEM, or -EINVAL with line and key named. */
int suite_parse(const char *name, const char *text, struct suite *out, struct plan_error *error);
void suite_release(struct suite *suite);

/* ---- group.c ---- */

#define GROUP_ID_MAX 160u
char *group_text_copy(const char *text);
/* A name for the demand: "read-sequential-warm". */
void group_demand_id(const struct plan_demand *demand, bool with_size, char out[GROUP_ID_MAX]);
/* What the task leaves no choice about: the access of streams, the targets of writers of streams, the direction of copies. */
void plan_settle_demand(struct plan_demand *demand);
/* Sets the title from the demand. */
int group_retitle(struct plan_group *group);
/* Appends a cell (shallow copy) and gives it its unique name. */
int group_append(struct plan_group *group, const struct plan_cell *cell, const char *place);
/* Puts the cell in first place, where measuring takes its baseline from. */
void group_lead(struct plan_group *group, unsigned cell);
void group_release(struct plan_group *group);

#endif
