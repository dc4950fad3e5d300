/*
 * suite.c - reads the text of a suite into groups to be made. Pure; what the specs in it mean is seen in make.c.
 *
 * The INI reader calls back once a value, and once more for each line that continues it. Which line it is at it does not
 * tell, so the lines are counted where they are handed over.
 */
#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "plan/parts.h"

struct reader {
  const char *suite, *rest;
  unsigned line;
  struct suite *out;
  struct suite_group *group; /* being filled, or NULL */
  char section[64];
  uint32_t seen; /* bits of the keys given in this section */
  int code;
  struct plan_error *error;
};

/* ---- keys ---- */

struct key {
  const char *name;
  const char *const *words; /* a word key: its list */
  int (*set)(struct reader *reader, const char *value);
};

static int suite_fail(struct reader *reader, const char *value, const char *hint, const char *text) {
  return reader->code =
             plan_fail(reader->error, "--suite", value, hint, "%s: line %u: %s", reader->suite, reader->line, text);
}

static int bad_value(struct reader *reader, const char *key, const char *value, const char *allowed) {
  char text[160];
  snprintf(text, sizeof text, "%s: '%s' is not %s", key, value, allowed);
  return suite_fail(reader, value, NULL, text);
}

static int set_size(struct reader *reader, const char *value) {
  if (units_parse_size(value, &reader->group->demand.size_bytes) == 0) return 0;
  return bad_value(reader, "size", value, "a size like 64MiB");
}

static int set_request(struct reader *reader, const char *value) {
  reader->group->has_request = true;
  if (units_parse_size(value, &reader->group->demand.request_bytes) == 0 && reader->group->demand.request_bytes) return 0;
  return bad_value(reader, "request", value, "a size like 4KiB");
}

static int set_smallest(struct reader *reader, const char *value) {
  if (units_parse_size(value, &reader->group->smallest_bytes) == 0) return 0;
  return bad_value(reader, "smallest", value, "a size like 16MiB");
}

static int set_coverage(struct reader *reader, const char *value) {
  double *coverage = &reader->group->demand.coverage;
  if (units_parse_share(value, coverage) == 0 && *coverage > 0 && *coverage <= 1) return 0;
  return bad_value(reader, "coverage", value, "a share above 0 and up to 100%");
}

static int set_priority(struct reader *reader, const char *value) {
  uint64_t priority = 0;
  if (units_parse_count(value, &priority) < 0 || priority > 1000)
    return bad_value(reader, "priority", value, "a number from 0 (dropped last) to 1000");
  reader->group->priority = (unsigned)priority;
  return 0;
}

static int set_baseline(struct reader *reader, const char *value) {
  reader->group->baseline = group_text_copy(value);
  return reader->group->baseline ? 0 : (reader->code = -ENOMEM);
}

/* Adds the words of the line to the list of specs, one a line. */
static int add_methods(struct reader *reader, const char *value) {
  struct suite_group *group = reader->group;
  size_t used = strlen(group->methods), size = used + strlen(value) + 2;
  char *methods = realloc(group->methods, size);
  if (!methods) return reader->code = -ENOMEM;
  group->methods = methods;
  snprintf(methods + used, size - used, "%s\n", value);
  return 0;
}

enum {
  KEY_TASK,
  KEY_DIRECTION,
  KEY_ACCESS,
  KEY_DURABILITY,
  KEY_TARGET,
  KEY_CACHE,
  KEY_CONSUMER,
  KEY_PROCESS,
  KEY_METHODS,
  KEY_FIRST_PLAIN
};

static const struct key *key_find(const char *name) {
  static const struct key keys[] = {
      [KEY_TASK] = {"task", plan_task_words, NULL},
      [KEY_DIRECTION] = {"direction", plan_direction_words, NULL},
      [KEY_ACCESS] = {"access", plan_access_words, NULL},
      [KEY_DURABILITY] = {"durability", plan_durability_words, NULL},
      [KEY_TARGET] = {"target", plan_target_words, NULL},
      [KEY_CACHE] = {"cache", plan_cache_words, NULL},
      [KEY_CONSUMER] = {"consumer", plan_consumer_words, NULL},
      [KEY_PROCESS] = {"process", plan_process_words, NULL},
      [KEY_METHODS] = {"methods", NULL, add_methods},
      [KEY_FIRST_PLAIN] = {"size", NULL, set_size},
      {"request", NULL, set_request},
      {"smallest", NULL, set_smallest},
      {"coverage", NULL, set_coverage},
      {"priority", NULL, set_priority},
      {"baseline", NULL, set_baseline},
      {NULL, NULL, NULL},
  };
  const struct key *key = keys;
  while (key->name && strcmp(key->name, name) != 0) key++;
  return key->name ? key : NULL;
}

static unsigned key_number(const struct key *key) { return (unsigned)(key - key_find("task")); }

/* The demand's word number `key`. */
static void set_word(struct suite_group *group, unsigned key, int value) {
  struct plan_demand *demand = &group->demand;
  switch (key) {
    case KEY_TASK:
      demand->task = (enum weir_task)value;
      break;
    case KEY_DIRECTION:
      demand->direction = (enum weir_direction)value;
      break;
    case KEY_ACCESS:
      demand->access = (enum weir_access)value;
      break;
    case KEY_DURABILITY:
      demand->durability = (enum weir_durability)value, group->has_durability = true;
      break;
    case KEY_TARGET:
      demand->target = (enum weir_target)value;
      break;
    case KEY_CACHE:
      demand->cache = (enum plan_cache)value;
      break;
    case KEY_CONSUMER:
      demand->consumer = (enum weir_consumer)value;
      break;
    case KEY_PROCESS:
      demand->process = (enum plan_process)value;
      break;
    default:
      break;
  }
}

static int unknown_key(struct reader *reader, const char *name) {
  const char *names[32] = {NULL};
  char list[128], text[160];
  const struct key *key = key_find("task");
  for (unsigned i = 0; key[i].name; i++) names[i] = key[i].name;
  snprintf(text, sizeof text, "unknown key '%.24s'; allowed: %s", name, plan_word_list(names, list, sizeof list));
  return suite_fail(reader, name, plan_nearest(name, names), text);
}

static int take_word(struct reader *reader, const struct key *key, const char *value) {
  char list[96], text[160];
  int index = plan_word_index(key->words, value);
  if (index < 0) {
    snprintf(text, sizeof text, "%s: unknown value '%.32s'; allowed: %s", key->name, value,
             plan_word_list(key->words, list, sizeof list));
    return suite_fail(reader, value, plan_nearest(value, key->words), text);
  }
  set_word(reader->group, key_number(key), index);
  return 0;
}

static int take_key(struct reader *reader, const char *name, const char *value) {
  const struct key *key = key_find(name);
  if (!key) return unknown_key(reader, name);
  uint32_t bit = 1u << key_number(key);
  if ((reader->seen & bit) && key_number(key) != KEY_METHODS) {
    char text[64];
    snprintf(text, sizeof text, "%s is given twice or runs over two lines", key->name);
    return suite_fail(reader, value, NULL, text);
  }
  reader->seen |= bit;
  return key->words ? take_word(reader, key, value) : key->set(reader, value);
}

/* ---- sections ---- */

static int start_group(struct reader *reader, const char *name) {
  struct suite *suite = reader->out;
  for (unsigned i = 0; i < suite->group_count; i++)
    if (strcmp(suite->groups[i].name, name) == 0) return suite_fail(reader, name, NULL, "this group is there twice");
  struct suite_group *groups = realloc(suite->groups, (suite->group_count + 1u) * sizeof *groups);
  if (!groups) return reader->code = -ENOMEM;
  suite->groups = groups;
  reader->group = &groups[suite->group_count];
  *reader->group = (struct suite_group){
      .demand = {.consumer = WEIR_CONSUMER_TOUCH, .coverage = 1}, .priority = 1, .methods = group_text_copy("")};
  snprintf(reader->group->name, sizeof reader->group->name, "%s", name);
  if (!reader->group->methods) return reader->code = -ENOMEM;
  suite->group_count++;
  return 0;
}

static int start_section(struct reader *reader, const char *section) {
  reader->section[0] = '\0';
  strncat(reader->section, section, sizeof reader->section - 1);
  reader->group = NULL;
  reader->seen = 0;
  if (strcmp(section, "suite") == 0) return 0;
  if (strncmp(section, "group ", 6) == 0 && section[6]) return start_group(reader, section + 6);
  return suite_fail(reader, section, NULL, "unknown section; allowed: [suite], [group NAME]");
}

/* Called by the INI reader; non-zero is success. */
static int on_value(void *context, const char *section, const char *name, const char *value) {
  struct reader *reader = context;
  if (reader->code < 0) return 0;
  if (strcmp(section, reader->section) != 0 && start_section(reader, section) < 0) return 0;
  if (reader->group) return take_key(reader, name, value) == 0;
  if (strcmp(name, "summary") == 0) return 1;
  suite_fail(reader, name, NULL, "the section [suite] has one key: summary");
  return 0;
}

/* Hands over the next line, in the manner of fgets. */
static char *next_line(char *out, int room, void *context) {
  struct reader *reader = context;
  if (!*reader->rest) return NULL;
  size_t span = strcspn(reader->rest, "\n");
  reader->line++;
  if (span + 2 > (size_t)room) {
    if (reader->code == 0) suite_fail(reader, "", NULL, "the line is too long");
    return NULL;
  }
  memcpy(out, reader->rest, span);
  out[span] = '\n';
  out[span + 1] = '\0';
  reader->rest += span + (reader->rest[span] == '\n');
  return out;
}

/* ---- what must hold when all is read ---- */

static int complete_group(const char *suite, struct suite_group *group, struct plan_error *error) {
  struct plan_demand *demand = &group->demand;
  bool whole = demand->task == WEIR_TASK_WHOLE, writes = demand->direction == WEIR_WRITE;
  if (!demand->size_bytes) return plan_fail(error, "--suite", group->name, NULL, "%s: [%s] has no size", suite, group->name);
  if (whole && (demand->access == WEIR_RANDOM || group->has_request))
    return plan_fail(error, "--suite", group->name, NULL, "%s: [%s] task whole has no request size and no random access",
                     suite, group->name);
  if (!writes && demand->durability != WEIR_DURABILITY_NONE)
    return plan_fail(error, "--suite", group->name, NULL, "%s: [%s] reading has no durability", suite, group->name);
  if (writes && !group->has_durability) demand->durability = WEIR_DURABILITY_END;
  if (demand->access == WEIR_RANDOM && !group->has_request) demand->request_bytes = 4096;
  return 0;
}

int suite_parse(const char *name, const char *text, struct suite *out, struct plan_error *error) {
  *out = (struct suite){.name = name};
  struct reader reader = {.suite = name, .rest = text, .out = out, .error = error};
  int bad_line = ini_parse_stream(next_line, &reader, on_value, &reader);
  if (reader.code == 0 && bad_line > 0) {
    reader.line = (unsigned)bad_line;
    suite_fail(&reader, "", NULL, "expected [section] or key = value");
  }
  for (unsigned i = 0; i < out->group_count && reader.code == 0; i++)
    reader.code = complete_group(name, &out->groups[i], error);
  if (reader.code < 0) suite_release(out);
  return reader.code;
}

void suite_release(struct suite *suite) {
  for (unsigned i = 0; i < suite->group_count; i++) {
    free(suite->groups[i].methods);
    free(suite->groups[i].baseline);
  }
  free(suite->groups);
  *suite = (struct suite){.name = suite->name};
}
