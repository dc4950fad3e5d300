/*
 * suite.c - reads the text of a suite into groups to be made. Pure; what the specs in it mean is seen in make.c.
 *
 * A section is a family of groups: where keys of the demand hold lists (request = 64|256|1KiB), every combination is a group
 * of its own, named after the section and its words.
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

/* The keys that may hold lists, in the order in which a family turns them: the last one fastest. */
enum {
  AXIS_TASK,
  AXIS_DIRECTION,
  AXIS_ACCESS,
  AXIS_REQUEST,
  AXIS_SIZE,
  AXIS_DURABILITY,
  AXIS_TARGET,
  AXIS_CACHE,
  AXIS_CONSUMER,
  AXIS_PROCESS,
  AXES
};
#define AXIS_VALUES_MAX 16u
#define STYLES_MAX 48u

#define STYLE_KEY "style."

struct suite_axis {
  unsigned count; /* 0: not said */
  uint64_t values[AXIS_VALUES_MAX];
};

struct suite_family {
  char name[48];
  struct suite_axis axes[AXES];
  uint64_t smallest_bytes, item_bytes, loops;
  double coverage;
  unsigned priority, line;
  unsigned spec_count;
  struct suite_spec *specs, baseline;
  unsigned style_count;
  struct suite_style styles[STYLES_MAX];
};

struct reader {
  const char *suite, *rest;
  unsigned line, section_line; /* where it is, and where the last section began */
  struct suite *out;
  struct suite_family *family; /* being filled, or NULL */
  char section[64];
  uint32_t seen; /* bits of the keys given in this section */
  int code;
  struct plan_error *error;
};

/* ---- keys ---- */

struct key {
  const char *name;
  int (*set)(struct reader *reader, const char *value); /* NULL: an axis */
  unsigned axis;
  const char *const *words; /* of an axis; NULL: sizes */
};

static int suite_fail(struct reader *reader, const char *value, const char *hint, const char *text) {
  return reader->code =
             plan_fail(reader->error, "--suite", value, hint, "%.200s: line %u: %s", reader->suite, reader->line, text);
}

static int bad_value(struct reader *reader, const char *key, const char *value, const char *allowed) {
  char text[280];
  snprintf(text, sizeof text, "%s: '%s' is not %s", key, value, allowed);
  return suite_fail(reader, value, NULL, text);
}

static int bad_size(struct reader *reader, const char *key, const char *value, const char *allowed) {
  char text[280], hint[UNITS_TEXT_MAX];
  snprintf(text, sizeof text, "%s: '%s' is not %s", key, value, allowed);
  return suite_fail(reader, value, units_size_hint(value, hint), text);
}

static int set_smallest(struct reader *reader, const char *value) {
  if (units_parse_size(value, &reader->family->smallest_bytes) == 0) return 0;
  return bad_size(reader, "smallest", value, "a size like 16MiB");
}

static int set_item(struct reader *reader, const char *value) {
  if (units_parse_size(value, &reader->family->item_bytes) == 0 && reader->family->item_bytes <= PLAN_ITEM_MAX) return 0;
  return bad_size(reader, "item", value, "a size up to 1MiB");
}

static int set_loops(struct reader *reader, const char *value) {
  if (units_parse_count(value, &reader->family->loops) == 0 && reader->family->loops <= 1000000) return 0;
  return bad_value(reader, "loops", value, "a number up to 1000000");
}

static int set_coverage(struct reader *reader, const char *value) {
  double *coverage = &reader->family->coverage;
  if (units_parse_share(value, coverage) == 0 && *coverage > 0 && *coverage <= 1) return 0;
  return bad_value(reader, "coverage", value, "a share above 0 and up to 100%");
}

static int set_priority(struct reader *reader, const char *value) {
  uint64_t priority = 0;
  if (units_parse_count(value, &priority) < 0 || priority > 1000)
    return bad_value(reader, "priority", value, "a number from 0 (dropped last) to 1000");
  reader->family->priority = (unsigned)priority;
  return 0;
}

static int set_baseline(struct reader *reader, const char *value) {
  reader->family->baseline = (struct suite_spec){reader->line, group_text_copy(value)};
  return reader->family->baseline.text ? 0 : (reader->code = -ENOMEM);
}

static int add_spec(struct reader *reader, const char *text, size_t length) {
  struct suite_family *family = reader->family;
  struct suite_spec *specs = realloc(family->specs, (family->spec_count + 1u) * sizeof *specs);
  if (!specs) return reader->code = -ENOMEM;
  family->specs = specs;
  specs[family->spec_count] = (struct suite_spec){reader->line, strndup(text, length)};
  return specs[family->spec_count++].text ? 0 : (reader->code = -ENOMEM);
}

/* Adds the words of the line to the list of specs. */
static int add_methods(struct reader *reader, const char *value) {
  static const char space[] = " \t\r\n";
  int code = 0;
  for (const char *at = value + strspn(value, space); *at && code == 0; at += strspn(at, space)) {
    const size_t length = strcspn(at, space);
    code = add_spec(reader, at, length);
    at += length;
  }
  return code;
}

enum { KEY_METHODS = AXES, KEY_FIRST_PLAIN };

static const struct key *key_find(const char *name) {
  static const struct key keys[] = {
      [AXIS_TASK] = {"task", NULL, AXIS_TASK, plan_task_words},
      [AXIS_DIRECTION] = {"direction", NULL, AXIS_DIRECTION, plan_direction_words},
      [AXIS_ACCESS] = {"access", NULL, AXIS_ACCESS, plan_access_words},
      [AXIS_REQUEST] = {"request", NULL, AXIS_REQUEST, NULL},
      [AXIS_SIZE] = {"size", NULL, AXIS_SIZE, NULL},
      [AXIS_DURABILITY] = {"durability", NULL, AXIS_DURABILITY, plan_durability_words},
      [AXIS_TARGET] = {"target", NULL, AXIS_TARGET, plan_target_words},
      [AXIS_CACHE] = {"cache", NULL, AXIS_CACHE, plan_cache_words},
      [AXIS_CONSUMER] = {"consumer", NULL, AXIS_CONSUMER, plan_consumer_words},
      [AXIS_PROCESS] = {"process", NULL, AXIS_PROCESS, plan_process_words},
      [KEY_METHODS] = {"methods", add_methods, 0, NULL},
      [KEY_FIRST_PLAIN] = {"smallest", set_smallest, 0, NULL},
      {"item", set_item, 0, NULL},
      {"loops", set_loops, 0, NULL},
      {"coverage", set_coverage, 0, NULL},
      {"priority", set_priority, 0, NULL},
      {"baseline", set_baseline, 0, NULL},
      {NULL, NULL, 0, NULL},
  };
  const struct key *key = keys;
  while (key->name && strcmp(key->name, name) != 0) key++;
  return key->name ? key : NULL;
}

static unsigned key_number(const struct key *key) { return (unsigned)(key - key_find("task")); }

static int unknown_key(struct reader *reader, const char *name) {
  const char *names[32] = {NULL};
  char list[256], text[320];
  const struct key *key = key_find("task");
  unsigned count = 0;
  for (; key[count].name; count++) names[count] = key[count].name;
  names[count] = STYLE_KEY "NAME";
  snprintf(text, sizeof text, "unknown key '%.24s'; allowed: %s", name, plan_word_list(names, list, sizeof list));
  return suite_fail(reader, name, plan_nearest(name, names), text);
}

/* ---- axes: word|word|word ---- */

/* Cuts the next part off "64 | 256": its text without white space, and `*list` behind it. False at the end. */
static bool next_part(const char **list, char *out, size_t size) {
  static const char space[] = " \t";
  if (!*list) return false;
  const char *part = *list + strspn(*list, space);
  size_t length = strcspn(part, "|"), trimmed = length;
  while (trimmed > 0 && strchr(space, part[trimmed - 1])) trimmed--;
  snprintf(out, size, "%.*s", (int)trimmed, part);
  *list = part[length] ? part + length + 1 : NULL;
  return true;
}

static int unknown_word(struct reader *reader, const struct key *key, const char *value) {
  char list[160], text[280];
  snprintf(text, sizeof text, "%s: unknown value '%.32s'; allowed: %s", key->name, value,
           plan_word_list(key->words, list, sizeof list));
  return suite_fail(reader, value, plan_nearest(value, key->words), text);
}

static int take_part(struct reader *reader, const struct key *key, const char *part) {
  struct suite_axis *axis = &reader->family->axes[key->axis];
  uint64_t value = 0;
  if (axis->count == AXIS_VALUES_MAX) return bad_value(reader, key->name, part, "among the first 16 values, which are all");
  if (key->words) {
    int index = plan_word_index(key->words, part);
    if (index < 0) return unknown_word(reader, key, part);
    value = (uint64_t)index;
  } else if (units_parse_size(part, &value) < 0 || value == 0) {
    return bad_size(reader, key->name, part, key->axis == AXIS_SIZE ? "a size like 64MiB" : "a size like 4KiB");
  }
  for (unsigned i = 0; i < axis->count; i++)
    if (axis->values[i] == value) return bad_value(reader, key->name, part, "new in its list");
  axis->values[axis->count++] = value;
  return 0;
}

static int take_axis(struct reader *reader, const struct key *key, const char *value) {
  char part[64];
  int code = 0;
  while (code == 0 && next_part(&value, part, sizeof part)) code = take_part(reader, key, part);
  return code;
}

/* ---- styles: style.NAME = READER WRITER, or one method that does both; '-' for none ---- */

static int keep_style(struct reader *reader, struct suite_style *style, const char *reading, const char *writing) {
  if (strcmp(reading, "-") != 0 && !(style->reader = group_text_copy(reading))) return reader->code = -ENOMEM;
  if (strcmp(writing, "-") != 0 && !(style->writer = group_text_copy(writing))) return reader->code = -ENOMEM;
  return 0;
}

static int take_style(struct reader *reader, const char *name, const char *value) {
  static const char space[] = " \t";
  struct suite_family *family = reader->family;
  char specs[2][192] = {"", ""};
  unsigned count = 0;
  for (const char *at = value + strspn(value, space); *at; count++) {
    size_t length = strcspn(at, space);
    if (count < 2) snprintf(specs[count], sizeof specs[count], "%.*s", (int)length, at);
    at += length + strspn(at + length, space);
  }
  if (!*name || strlen(name) >= PLAN_STYLE_MAX) return bad_value(reader, "style", name, "a name of 1 to 15 letters");
  if (count < 1 || count > 2) return bad_value(reader, name, value, "a method that reads and one that writes");
  for (unsigned i = 0; i < family->style_count; i++)
    if (strcmp(family->styles[i].name, name) == 0) return bad_value(reader, "style", name, "new in its group");
  if (family->style_count == STYLES_MAX) return bad_value(reader, "style", name, "among the first 48, which are all");
  struct suite_style *style = &family->styles[family->style_count++];
  snprintf(style->name, sizeof style->name, "%s", name);
  style->line = reader->line;
  return keep_style(reader, style, specs[0], count == 2 ? specs[1] : specs[0]);
}

static int take_key(struct reader *reader, const char *name, const char *value) {
  if (strncmp(name, STYLE_KEY, strlen(STYLE_KEY)) == 0) return take_style(reader, name + strlen(STYLE_KEY), value);
  const struct key *key = key_find(name);
  if (!key) return unknown_key(reader, name);
  uint32_t bit = 1u << key_number(key);
  if ((reader->seen & bit) && key_number(key) != KEY_METHODS) {
    char text[64];
    snprintf(text, sizeof text, "%s is given twice or runs over two lines", key->name);
    return suite_fail(reader, value, NULL, text);
  }
  reader->seen |= bit;
  return key->set ? key->set(reader, value) : take_axis(reader, key, value);
}

/* ---- sections ---- */

/* A section is seen when its first key comes; what is wrong with it stands in its own line. */
static int section_fail(struct reader *reader, const char *value, const char *hint, const char *text) {
  reader->line = reader->section_line;
  return suite_fail(reader, value, hint, text);
}

static int start_family(struct reader *reader, const char *name) {
  struct suite *suite = reader->out;
  for (unsigned i = 0; i < suite->family_count; i++)
    if (strcmp(suite->families[i].name, name) == 0) return section_fail(reader, name, NULL, "this group is there twice");
  struct suite_family *families = realloc(suite->families, (suite->family_count + 1u) * sizeof *families);
  if (!families) return reader->code = -ENOMEM;
  suite->families = families;
  reader->family = &families[suite->family_count];
  *reader->family = (struct suite_family){.coverage = 1, .priority = 1, .line = reader->section_line};
  snprintf(reader->family->name, sizeof reader->family->name, "%s", name);
  suite->family_count++;
  return 0;
}

static int start_section(struct reader *reader, const char *section) {
  reader->section[0] = '\0';
  strncat(reader->section, section, sizeof reader->section - 1);
  reader->family = NULL;
  reader->seen = 0;
  if (strcmp(section, "suite") == 0) return 0;
  if (strncmp(section, "group ", 6) == 0 && section[6]) return start_family(reader, section + 6);
  char text[128];
  const bool group = strncmp(section, "group", 5) != 0 && strchr(section, ' ');
  snprintf(text, sizeof text, "unknown section [%.40s]; allowed: [suite], [group NAME]", section);
  return section_fail(reader, section, group ? "group NAME" : NULL, text);
}

/* What holds for the whole suite. The summary is read when the program is built. */
static int take_setting(struct reader *reader, const char *name, const char *value) {
  static const char *const names[] = {"summary", "rounds", "flush", NULL};
  char list[96], text[160];
  uint64_t rounds = 0;
  switch (plan_word_index(names, name)) {
    case 0:
      return 0;
    case 1:
      if (units_parse_count(value, &rounds) < 0 || rounds == 0 || rounds > 1000)
        return bad_value(reader, "rounds", value, "a number from 1 to 1000");
      reader->out->rounds = (unsigned)rounds;
      return 0;
    case 2:
      reader->out->flush = plan_word_index(plan_flush_words, value);
      if (reader->out->flush >= 0) return 0;
      return bad_value(reader, "flush", value, plan_word_list(plan_flush_words, list, sizeof list));
    default:
      snprintf(text, sizeof text, "the section [suite] has no key '%.24s'; allowed: %s", name,
               plan_word_list(names, list, sizeof list));
      return suite_fail(reader, name, plan_nearest(name, names), text);
  }
}

/* Called by the INI reader; non-zero is success. */
static int on_value(void *context, const char *section, const char *name, const char *value) {
  struct reader *reader = context;
  if (reader->code < 0) return 0;
  if (strcmp(section, reader->section) != 0 && start_section(reader, section) < 0) return 0;
  return (reader->family ? take_key(reader, name, value) : take_setting(reader, name, value)) == 0;
}

/* Hands over the next line, in the manner of fgets. */
static char *next_line(char *out, int room, void *context) {
  struct reader *reader = context;
  if (!*reader->rest) return NULL;
  size_t span = strcspn(reader->rest, "\n");
  reader->line++;
  if (reader->rest[strspn(reader->rest, " \t")] == '[') reader->section_line = reader->line;
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

/* ---- from families to groups ---- */

static uint64_t value_of(const struct suite_family *family, const unsigned at[AXES], unsigned axis, uint64_t usual) {
  return family->axes[axis].count ? family->axes[axis].values[at[axis]] : usual;
}

static struct plan_demand demand_at(const struct suite_family *family, const unsigned at[AXES]) {
  struct plan_demand demand = {
      .task = (enum weir_task)value_of(family, at, AXIS_TASK, WEIR_TASK_BLOCKS),
      .direction = (enum weir_direction)value_of(family, at, AXIS_DIRECTION, WEIR_READ),
      .access = (enum weir_access)value_of(family, at, AXIS_ACCESS, WEIR_SEQUENTIAL),
      .target = (enum weir_target)value_of(family, at, AXIS_TARGET, WEIR_TARGET_OVERWRITE),
      .cache = (enum plan_cache)value_of(family, at, AXIS_CACHE, PLAN_WARM),
      .consumer = (enum weir_consumer)value_of(family, at, AXIS_CONSUMER, WEIR_CONSUMER_TOUCH),
      .process = (enum plan_process)value_of(family, at, AXIS_PROCESS, PLAN_SAME),
      .size_bytes = value_of(family, at, AXIS_SIZE, 0),
      .item_bytes = family->item_bytes,
      .coverage = 1,
  };
  bool random = demand.access == WEIR_RANDOM, writes = demand.direction == WEIR_WRITE;
  demand.request_bytes = value_of(family, at, AXIS_REQUEST, random ? 4096 : 0);
  uint64_t durability = value_of(family, at, AXIS_DURABILITY, writes ? WEIR_DURABILITY_END : WEIR_DURABILITY_NONE);
  demand.durability = (enum weir_durability)durability;
  if (random) demand.coverage = family->coverage;
  plan_settle_demand(&demand);
  if (demand.direction == WEIR_MIXED) demand.write_share = PLAN_WRITE_SHARE_DEFAULT;
  return demand;
}

/* The section's name, and the words by which its groups differ: "study-read-sequential-64". */
static void name_group(const struct suite_family *family, const unsigned at[AXES], char *out, size_t size) {
  const struct key *keys = key_find("task");
  size_t used = (size_t)snprintf(out, size, "%s", family->name);
  for (unsigned axis = 0; axis < AXES && used < size; axis++) {
    char number[UNITS_TEXT_MAX];
    if (family->axes[axis].count < 2) continue;
    uint64_t value = family->axes[axis].values[at[axis]];
    const char *word = keys[axis].words ? keys[axis].words[value] : units_size_name(value, number);
    used += (size_t)snprintf(out + used, size - used, "-%s", word);
  }
}

static bool next_group(const struct suite_family *family, unsigned at[AXES]) {
  for (unsigned axis = AXES; axis-- > 0;) {
    if (++at[axis] < family->axes[axis].count) return true;
    at[axis] = 0;
  }
  return false;
}

static int family_fail(const char *suite, const struct suite_family *family, struct plan_error *error, const char *what) {
  return plan_fail(error, "--suite", family->name, NULL, "%.200s: line %u: [group %s] %s", suite, family->line, family->name,
                   what);
}

static int check_family(const char *suite, const struct suite_family *family, const struct plan_demand *demand,
                        struct plan_error *error) {
  const bool in_order = demand->task == WEIR_TASK_WHOLE || weir_task_streams(demand->task);
  char what[96];
  if (!demand->size_bytes) return family_fail(suite, family, error, "has no size");
  snprintf(what, sizeof what, "task %s has no request size and no random access", plan_task_words[demand->task]);
  if (in_order && (demand->access == WEIR_RANDOM || family->axes[AXIS_REQUEST].count))
    return family_fail(suite, family, error, what);
  if (demand->direction == WEIR_READ && demand->durability != WEIR_DURABILITY_NONE)
    return family_fail(suite, family, error, "reading has no durability");
  return 0;
}

static int push_group(struct suite *suite, const struct suite_family *family, const unsigned at[AXES],
                      const struct plan_demand *demand) {
  struct suite_group *groups = realloc(suite->groups, (suite->group_count + 1u) * sizeof *groups);
  if (!groups) return -ENOMEM;
  suite->groups = groups;
  struct suite_group *group = &groups[suite->group_count++];
  *group = (struct suite_group){.demand = *demand,
                                .priority = family->priority,
                                .smallest_bytes = family->smallest_bytes,
                                .loops = family->loops,
                                .spec_count = family->spec_count,
                                .specs = family->specs,
                                .baseline = family->baseline,
                                .style_count = family->style_count,
                                .styles = family->styles};
  name_group(family, at, group->name, sizeof group->name);
  return 0;
}

/* Bounds what a damaged or hostile suite can ask for. */
#define GROUPS_MAX 1000u

static int make_family(struct suite *suite, const struct suite_family *family, struct plan_error *error) {
  unsigned at[AXES] = {0};
  int code = 0;
  do {
    struct plan_demand demand = demand_at(family, at);
    if (suite->group_count == GROUPS_MAX)
      return plan_fail(error, "--suite", family->name, NULL, "%s: more than %u groups", suite->name, GROUPS_MAX);
    code = check_family(suite->name, family, &demand, error);
    if (code == 0) code = push_group(suite, family, at, &demand);
  } while (code == 0 && next_group(family, at));
  return code;
}

int suite_parse(const char *name, const char *text, struct suite *out, struct plan_error *error) {
  *out = (struct suite){.name = name, .flush = PLAN_UNSAID};
  struct reader reader = {.suite = name, .rest = text, .out = out, .error = error};
  int bad_line = ini_parse_stream(next_line, &reader, on_value, &reader);
  if (reader.code == 0 && bad_line > 0) {
    reader.line = (unsigned)bad_line;
    suite_fail(&reader, "", NULL, "expected [section] or key = value");
  }
  for (unsigned i = 0; i < out->family_count && reader.code == 0; i++)
    reader.code = make_family(out, &out->families[i], error);
  if (reader.code < 0) suite_release(out);
  return reader.code;
}

static void release_family(struct suite_family *family) {
  for (unsigned i = 0; i < family->style_count; i++) {
    free(family->styles[i].reader);
    free(family->styles[i].writer);
  }
  for (unsigned i = 0; i < family->spec_count; i++) free(family->specs[i].text);
  free(family->specs);
  free(family->baseline.text);
}

void suite_release(struct suite *suite) {
  for (unsigned i = 0; i < suite->family_count; i++) release_family(&suite->families[i]);
  free(suite->families);
  free(suite->groups);
  *suite = (struct suite){.name = suite->name};
}
