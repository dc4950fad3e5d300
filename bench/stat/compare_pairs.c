/*
 * compare_pairs.c - old and new that took turns in the rounds of one run: the pairs of the ranking, read as before and now.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stat/compare.h"
#include "stat/ranking.h"

/* "m/x.old[block=4KiB]" with "new" gives "m/x.new[block=4KiB]", with "" the name of both; NULL: it is no such cell. */
static char *renamed(const struct plan_cell *cell, const char *ending, const char *other) {
  const size_t length = strlen(cell->method), tail = strlen(ending);
  if (length <= tail || strcmp(cell->method + length - tail, ending) != 0) return NULL;
  if (strncmp(cell->id, cell->method, length) != 0) return NULL;
  const size_t size = strlen(cell->id) + strlen(other) + 1;
  char *name = malloc(size);
  if (name) snprintf(name, size, "%.*s%s%s", (int)(length - tail), cell->id, other, cell->id + length);
  return name;
}

static int find(const struct stat_group *group, const char *id) {
  for (unsigned c = 0; id && c < group->cell_count; c++)
    if (!group->cells[c].plan->twin && strcmp(group->cells[c].plan->id, id) == 0) return (int)c;
  return -1;
}

static bool is_measured(const struct stat_cell *cell) { return cell->status == PLAN_OK && cell->n > 0; }

static void explain(struct compare_row *row) {
  const struct stat_cell *bad = is_measured(row->before) ? row->now : row->before;
  snprintf(row->reason, sizeof row->reason, "%s: %.130s", bad == row->now ? "now" : "before",
           bad->reason && *bad->reason ? bad->reason : "no samples");
  row->broke = is_measured(row->before) && row->now->status == PLAN_FAILED;
}

static void judge(const struct comparison *comparison, struct compare_group *group, struct compare_row *row) {
  const struct stat_group *from = group->now;
  const size_t old = (size_t)(row->before - from->cells), new = (size_t)(row->now - from->cells);
  row->n_before = row->before->n;
  row->n_now = row->now->n;
  if (!is_measured(row->before) || !is_measured(row->now)) {
    explain(row);
    return;
  }
  group->k++;
  row->speed_ratio = row->as_measured = from->pairs[old * from->cell_count + new];
  row->verdict = from->rounds >= from->needed_baseline ? ranking_judge(row->speed_ratio, group->margin, comparison->margin)
                                                       : STAT_UNCLEAR;
}

/* Keeps the name. */
static int keep(struct comparison *out, char *name) {
  char **made = name ? realloc(out->made, (out->made_count + (size_t)1) * sizeof *made) : NULL;
  if (!made) free(name);
  if (!made) return -ENOMEM;
  out->made = made;
  made[out->made_count++] = name;
  return 0;
}

static int add_row(struct comparison *out, struct compare_group *group, unsigned cell, const char *const endings[2]) {
  const struct plan_cell *plan = group->now->cells[cell].plan;
  if (plan->twin) return 0;
  char *old = renamed(plan, endings[1], endings[0]);
  const int other = find(group->now, old);
  free(old);
  if (other < 0) return 0;
  char *name = renamed(plan, endings[1], "");
  const int error = keep(out, name);
  if (error) return error;
  struct compare_row *row = &group->rows[group->row_count++];
  *row = (struct compare_row){
      .name = name, .before = &group->now->cells[other], .now = &group->now->cells[cell], .verdict = STAT_NONE};
  judge(out, group, row);
  return 0;
}

static int fill_group(struct comparison *out, const struct stat_group *from, const char *const endings[2],
                      struct compare_group *group) {
  *group = (struct compare_group){.before = from, .now = from, .rounds_needed = from->needed_baseline};
  group->margin = from->margin > out->margin ? from->margin : out->margin;
  group->rows = calloc(from->cell_count + (size_t)1, sizeof *group->rows);
  if (!group->rows) return -ENOMEM;
  int error = 0;
  for (unsigned c = 0; c < from->cell_count && !error; c++) error = add_row(out, group, c, endings);
  if (from->plan->dropped)
    snprintf(group->reason, sizeof group->reason, "not measured: %.120s", from->plan->drop_reason);
  else if (from->rounds < from->needed_baseline)
    snprintf(group->reason, sizeof group->reason, "%u rounds: verdicts on %u cells need %u", from->rounds, from->k,
             from->needed_baseline);
  return error;
}

int compare_pairs(const struct summary *run, const char *const endings[2], const struct compare_options *options,
                  struct comparison *out) {
  *out = (struct comparison){.before = run, .now = run, .before_name = options->before_name, .now_name = options->now_name};
  out->margin = options->margin >= 0 ? options->margin : run->run->plan.margin;
  out->interleaved = true;
  out->groups = calloc(run->group_count + (size_t)1, sizeof *out->groups);
  int error = out->groups ? 0 : -ENOMEM;
  for (unsigned g = 0; g < run->group_count && !error; g++)
    error = fill_group(out, &run->groups[g], endings, &out->groups[out->group_count++]);
  compare_count(out);
  if (error) compare_release(out);
  return error;
}
