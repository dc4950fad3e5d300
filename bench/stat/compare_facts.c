/*
 * compare_facts.c - are two runs of one machine, and what else is not as it was? Facts that make numbers incomparable
 * refuse; others are only told.
 */
#include "stat/compare_facts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fact_rule {
  const char *name; /* of the fact; of a place: behind "place.0." */
  const char *what;
  bool refuses;
  double tolerance; /* of a number: as a share */
};

static const struct fact_rule machine_rules[] = {
    {"system", "system", true, 0},
    {"processor", "processor", true, 0},
    {"cpus", "processors", true, 0},
    {"memory_bytes", "memory", true, 0.05}, /* kernels keep different amounts for themselves */
    {"hypervisor", "hypervisor", true, 0},
    {"kernel", "kernel", true, 0},
    {"weir.version", "weir", false, 0},
    {"governor", "governor", false, 0},
    {"huge_pages", "huge pages", false, 0},
    {"reclaim", "memory reclaim", false, 0},
    {"clock_source", "clock source", false, 0},
};
static const struct fact_rule place_rules[] = {
    {"file_system", "file system", true, 0},
    {"device", "device", true, 0},
    {"special", "kind of file system", true, 0},
    {"options", "mount options", false, 0},
    {"scheduler", "scheduler", false, 0},
    {"read_ahead_kib", "read-ahead", false, 0},
    {"path", "directory", false, 0},
};
#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

struct list {
  struct compare_difference *items;
  unsigned count, room;
  int error;
};

static void add(struct list *list, const char *what, int place, const char *before, const char *now, bool refuses) {
  if (list->count == list->room) {
    struct compare_difference *items = realloc(list->items, (list->room + 16u) * sizeof *items);
    if (!items) list->error = -ENOMEM;
    if (!items) return;
    list->items = items;
    list->room += 16;
  }
  struct compare_difference *item = &list->items[list->count++];
  *item = (struct compare_difference){.before = before ? before : "", .now = now ? now : "", .refuses = refuses};
  if (place > 0)
    snprintf(item->what, sizeof item->what, "%.36s %d", what, place + 1);
  else
    snprintf(item->what, sizeof item->what, "%.47s", what);
}

static bool alike(const char *before, const char *now, double tolerance) {
  if (strcmp(before, now) == 0) return true;
  const double a = strtod(before, NULL), b = strtod(now, NULL);
  return tolerance > 0 && a > 0 && b > 0 && a < b * (1 + tolerance) && b < a * (1 + tolerance);
}

/* What only one run tells was not looked at by the other: it may be the same. */
static void look_at(struct list *list, const struct run *before, const struct run *now, const struct fact_rule *rule,
                    const char *prefix, int place) {
  char name[64];
  snprintf(name, sizeof name, "%s%s", prefix, rule->name);
  const char *old = run_fact_text(before, name), *new = run_fact_text(now, name);
  if (!old && !new) return;
  if (!old || !new) {
    const bool told = (old && *old) || (new &&*new);
    if (told) add(list, rule->what, place, old, new, rule->refuses && strcmp(rule->name, "special") == 0);
  } else if (!alike(old, new, rule->tolerance)) {
    add(list, rule->what, place, old, new, rule->refuses);
  }
}

static void look_at_places(struct list *list, const struct run *before, const struct run *now) {
  const unsigned most = before->plan.place_count > now->plan.place_count ? before->plan.place_count : now->plan.place_count;
  char prefix[24] = "file.";
  if (before->plan.file || now->plan.file) {
    for (size_t i = 0; i < COUNT_OF(place_rules); i++) look_at(list, before, now, &place_rules[i], prefix, 0);
    return;
  }
  for (unsigned p = 0; p < most; p++) {
    snprintf(prefix, sizeof prefix, "place.%u.", p);
    for (size_t i = 0; i < COUNT_OF(place_rules); i++) look_at(list, before, now, &place_rules[i], prefix, (int)p);
  }
}

static const char *yes_no(bool yes) { return yes ? "yes" : "no"; }

static void look_at_plan(struct list *list, const struct plan *before, const struct plan *now) {
  if (!before->file != !now->file) add(list, "a file of the user's", 0, yes_no(before->file), yes_no(now->file), true);
  if (before->flush != now->flush)
    add(list, "how cold is made", 0, plan_flush_words[before->flush], plan_flush_words[now->flush], true);
  if (before->latency != now->latency)
    add(list, "every operation timed", 0, yes_no(before->latency), yes_no(now->latency), true);
  if (before->private_copies != now->private_copies)
    add(list, "private copies", 0, yes_no(before->private_copies), yes_no(now->private_copies), true);
}

int compare_facts(const struct run *before, const struct run *now, struct compare_difference **out, unsigned *count) {
  struct list list = {0};
  for (size_t i = 0; i < COUNT_OF(machine_rules); i++) look_at(&list, before, now, &machine_rules[i], "", 0);
  look_at_places(&list, before, now);
  look_at_plan(&list, &before->plan, &now->plan);
  *out = list.items;
  *count = list.count;
  return list.error;
}
