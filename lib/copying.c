/*
 * copying.c - weir_copy_file and weir_copy: what is asked for, whether it makes sense, and the result. The bytes are moved
 * in copy_one.c and copy_many.c.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/copy_one.h"

#define BLOCK_DEFAULT ((size_t)512 << 10)
#define BLOCK_MAX ((size_t)1 << 30)
#define THREADS_MAX 64u
#define FLAGS \
  (WEIR_COPY_REPLACE | WEIR_COPY_VERIFY | WEIR_COPY_MODE | WEIR_COPY_NO_CLONE | WEIR_COPY_DENSE | WEIR_DURABLE | WEIR_ATOMIC)

static const struct weir_copy_options preset;

static int check_options(const struct weir_copy_options *options) {
  if (options->threads > THREADS_MAX) return WEIR_EINVAL;
  return weir__check(options->flags, FLAGS, options->reserved);
}

/* What is read and not yet written is never more than the window. */
static size_t block_bytes(const struct weir_copy_options *options) {
  size_t block = options->block_bytes ? options->block_bytes : BLOCK_DEFAULT;
  if (block > BLOCK_MAX) block = BLOCK_MAX;
  return options->window_bytes && options->window_bytes < block ? options->window_bytes : block;
}

int weir_copy_file(const char *from, const char *to, const struct weir_copy_options *options,
                   struct weir_copy_result *result, struct weir_error *error) {
  struct weir_copy_result own;
  struct os_stat stat;
  if (!options) options = &preset;
  if (!result) result = &own;
  *result = (struct weir_copy_result){0};
  int code = from && to ? check_options(options) : WEIR_EINVAL;
  if (code) {
    result->status = weir__fail(&result->error, code, "copy", from, 0, 0, 0);
  } else {
    struct weir__copying call = {.options = options, .block_bytes = block_bytes(options)};
    struct weir__source source = {.path = from, .file = os_no_file};
    struct weir__copy copy = {.call = &call, .source = &source, .path = to, .result = result};
    struct weir__workspace space = {0};
    if (os_stat_path(from, &stat) == 0) copy.expected = stat.size;
    call.tally.now = (struct weir_copy_progress){.bytes_total = copy.expected, .copies_total = 1};
    weir__tally_tell(&call);
    weir__copy_whole(&copy, &space);
    weir__tally_tell(&call);
    weir__workspace_release(&space);
  }
  if (result->status && error) *error = result->error;
  return result->status;
}

/* ---- many ---------------------------------------------------------------------------------------------------------- */

struct name {
  const char *text;
  size_t length, source;
};

struct plan {
  struct weir__copying call;
  struct weir__many many;
  struct os_stat *source_stats, *directory_stats;
  struct weir__file_id *ids;
  struct name *names;
  size_t *first_alike; /* of each directory: the first one that is the same */
  bool *taken;         /* has the name at hand been given away there? */
  struct weir_copy_result *own_results;
};

static struct weir_copy_result *result_of(const struct plan *plan, size_t source, size_t directory) {
  return &plan->many.results[source * plan->many.directory_count + directory];
}

static void refuse(const struct plan *plan, size_t i, size_t d, int code, const char *operation, const char *path) {
  struct weir_copy_result *result = result_of(plan, i, d);
  if (result->status == WEIR__COPY_TODO) result->status = weir__fail(&result->error, code, operation, path, 0, 0, 0);
}

static int compare_ids(const void *a, const void *b) {
  const struct weir__file_id *x = a, *y = b;
  if (x->device != y->device) return x->device < y->device ? -1 : 1;
  return x->inode < y->inode ? -1 : x->inode > y->inode;
}

static int compare_names(const void *a, const void *b) {
  const struct name *x = a, *y = b;
  const size_t length = x->length < y->length ? x->length : y->length;
  const int order = memcmp(x->text, y->text, length);
  if (order) return order;
  if (x->length != y->length) return x->length < y->length ? -1 : 1;
  return x->source < y->source ? -1 : x->source > y->source;
}

const char *weir__last_part(const char *path, size_t *length) {
  size_t end = strlen(path);
  while (end && path[end - 1] == '/') end--;
  size_t begin = end;
  while (begin && path[begin - 1] != '/') begin--;
  *length = end - begin;
  return path + begin;
}

/* Sizes to count on, and files that must not be written to. What cannot be asked will fail when it is opened. */
static void look_at_sources(struct plan *plan) {
  for (size_t i = 0; i < plan->many.source_count; i++) {
    struct os_stat *stat = &plan->source_stats[i];
    plan->names[i].source = i;
    plan->names[i].text = weir__last_part(plan->many.sources[i], &plan->names[i].length);
    if (os_stat_path(plan->many.sources[i], stat)) continue;
    plan->ids[plan->call.id_count++] = (struct weir__file_id){.device = stat->device, .inode = stat->inode};
  }
  qsort(plan->ids, plan->call.id_count, sizeof *plan->ids, compare_ids);
  qsort(plan->names, plan->many.source_count, sizeof *plan->names, compare_names);
}

static void look_at_directories(struct plan *plan) {
  for (size_t d = 0; d < plan->many.directory_count; d++) {
    struct os_stat *stat = &plan->directory_stats[d];
    int code = os_stat_path(plan->many.directories[d], stat);
    if (!code && stat->kind != OS_DIRECTORY) code = WEIR_ENOTDIR;
    for (size_t i = 0; code && i < plan->many.source_count; i++) refuse(plan, i, d, code, "open", plan->many.directories[d]);
    plan->first_alike[d] = d;
    for (size_t before = 0; !code && before < d && plan->first_alike[d] == d; before++) {
      const struct os_stat *other = &plan->directory_stats[before];
      if (other->kind == OS_DIRECTORY && weir__same_file(other, stat)) plan->first_alike[d] = before;
    }
  }
}

static bool alike(const struct name *a, const struct name *b) {
  return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

/* The same name in the same directory can be had by one only. */
static void give_away(struct plan *plan, size_t source) {
  for (size_t d = 0; d < plan->many.directory_count; d++) {
    if (result_of(plan, source, d)->status != WEIR__COPY_TODO) continue;
    if (plan->taken[plan->first_alike[d]])
      refuse(plan, source, d, WEIR_EEXIST, "copy", plan->many.sources[source]);
    else
      plan->taken[plan->first_alike[d]] = true;
  }
}

static void refuse_twins(struct plan *plan) {
  for (size_t i = 0; i < plan->many.source_count; i++) {
    if (i == 0 || !alike(&plan->names[i - 1], &plan->names[i]))
      memset(plan->taken, 0, plan->many.directory_count * sizeof *plan->taken);
    give_away(plan, plan->names[i].source);
  }
}

static void add_up(struct plan *plan) {
  struct weir_copy_progress *now = &plan->call.tally.now;
  for (size_t i = 0; i < plan->many.source_count; i++) {
    for (size_t d = 0; d < plan->many.directory_count; d++) {
      if (result_of(plan, i, d)->status != WEIR__COPY_TODO) continue;
      now->bytes_total += plan->source_stats[i].size;
      now->copies_total++;
    }
  }
}

static int allocate(struct plan *plan, size_t copies, bool results) {
  const size_t sources = plan->many.source_count, directories = plan->many.directory_count;
  plan->source_stats = calloc(sources, sizeof *plan->source_stats);
  plan->directory_stats = calloc(directories, sizeof *plan->directory_stats);
  plan->ids = calloc(sources, sizeof *plan->ids);
  plan->names = calloc(sources, sizeof *plan->names);
  plan->first_alike = calloc(directories, sizeof *plan->first_alike);
  plan->taken = calloc(directories, sizeof *plan->taken);
  if (results) plan->own_results = calloc(copies, sizeof *plan->own_results);
  const bool all = plan->source_stats && plan->directory_stats && plan->ids && plan->names && plan->first_alike &&
                   plan->taken && (!results || plan->own_results);
  return all ? 0 : WEIR_ENOMEM;
}

static void release(struct plan *plan) {
  free(plan->own_results);
  free(plan->taken);
  free(plan->first_alike);
  free(plan->names);
  free(plan->ids);
  free(plan->directory_stats);
  free(plan->source_stats);
}

static void make_all(struct plan *plan) {
  look_at_sources(plan);
  look_at_directories(plan);
  refuse_twins(plan);
  add_up(plan);
  plan->call.ids = plan->ids;
  plan->many.call = &plan->call;
  plan->many.source_stats = plan->source_stats;
  plan->many.directory_stats = plan->directory_stats;
  weir__tally_tell(&plan->call);
  weir__copy_many(&plan->many);
  weir__tally_tell(&plan->call);
}

static int first_failure(const struct plan *plan, size_t copies, struct weir_error *error) {
  for (size_t i = 0; i < copies; i++) {
    const struct weir_copy_result *result = &plan->many.results[i];
    if (result->status == 0) continue;
    if (error) *error = result->error;
    return result->status;
  }
  return 0;
}

static bool any_missing(const char *const *paths, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!paths[i]) return true;
  return false;
}

int weir_copy(const char *const *sources, size_t source_count, const char *const *directories, size_t directory_count,
              const unsigned char *map, const struct weir_copy_options *options, struct weir_copy_result *results,
              struct weir_error *error) {
  if (!options) options = &preset;
  int code = (!sources && source_count) || (!directories && directory_count) ? WEIR_EINVAL : check_options(options);
  if (!code && (any_missing(sources, source_count) || any_missing(directories, directory_count))) code = WEIR_EINVAL;
  if (!code && directory_count && source_count > SIZE_MAX / directory_count / sizeof *results) code = WEIR_EOVERFLOW;
  const size_t copies = source_count * directory_count;
  if (code || copies == 0) return code ? weir__fail(error, code, "copy", NULL, 0, 0, 0) : 0;
  struct plan plan = {
      .call = {.options = options, .block_bytes = block_bytes(options)},
      .many = {
          .sources = sources, .source_count = source_count, .directories = directories, .directory_count = directory_count}};
  code = allocate(&plan, copies, !results);
  plan.many.results = results ? results : plan.own_results;
  for (size_t i = 0; plan.many.results && i < copies; i++) {
    struct weir_copy_result *result = &plan.many.results[i];
    *result = (struct weir_copy_result){0};
    if (map && !map[i]) continue;
    result->status = code ? weir__fail(&result->error, code, "copy", NULL, 0, 0, 0) : WEIR__COPY_TODO;
  }
  if (!code) make_all(&plan);
  code = code ? weir__fail(error, code, "copy", NULL, 0, 0, 0) : first_failure(&plan, copies, error);
  release(&plan);
  return code;
}
