/*
 * spec.c - from 'fd/pread[block=64KiB|1MiB]' to cells. Pure.
 *
 * A spec is checked in two steps: spec_parse finds what is wrong with it whatever the demand (syntax, unknown names, values
 * out of range); spec_expand then sees what of it fits a group's demand. A method that does not fit is no error here: the
 * caller knows whether the spec fits elsewhere.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "plan/parts.h"

#define THREADS_MAX 256u

/* ---- names and globs ---- */

/* Does `text` match `pattern`, where * is any characters and ? is any one? */
static bool glob_matches(const char *pattern, const char *text) {
  const char *star = NULL, *retry = NULL;
  while (*text) {
    if (*pattern == '*') {
      star = pattern++;
      retry = text;
    } else if (*pattern == '?' || *pattern == *text) {
      pattern++;
      text++;
    } else if (star) {
      pattern = star + 1;
      text = ++retry;
    } else {
      return false;
    }
  }
  while (*pattern == '*') pattern++;
  return !*pattern;
}

static bool is_glob(const char *name) { return strpbrk(name, "*?") != NULL; }

/*
 * Floors are contenders only when somebody names them, not when a pattern happens to catch them. Variants are left out where
 * nobody said anything: a group of very many cells decides little.
 */
static bool names_method(const struct spec *spec, const struct weir_method *method) {
  if (spec->sweep && (method->capabilities & WEIR_CAP_VARIANT)) return false;
  size_t family = strcspn(spec->name, "/");
  bool wild = strcspn(spec->name, "*?") < family;
  if (wild && (method->capabilities & WEIR_CAP_FLOOR)) return false;
  return glob_matches(spec->name, method->name);
}

static int find_param(const struct weir_method *method, const char *name) {
  for (size_t i = 0; i < method->param_count; i++)
    if (strcmp(method->params[i].name, name) == 0) return (int)i;
  return -1;
}

static const struct spec_param *find_said(const struct spec *spec, const char *name) {
  for (unsigned i = 0; i < spec->param_count; i++)
    if (strcmp(spec->params[i].name, name) == 0) return &spec->params[i];
  return NULL;
}

/* ---- values ---- */

/* Index of the word in "fresh|reused|huge", or -1. */
static int choice_index(const char *choices, const char *word) {
  size_t length = strlen(word);
  for (int index = 0;; index++) {
    size_t span = strcspn(choices, "|");
    if (span == length && memcmp(choices, word, span) == 0) return index;
    if (!choices[span]) return -1;
    choices += span + 1;
  }
}

/* The text of choice number `index`. */
static void choice_text(const char *choices, uint64_t index, char *out, size_t size) {
  for (; index; index--) choices += strcspn(choices, "|") + 1;
  snprintf(out, size, "%.*s", (int)strcspn(choices, "|"), choices);
}

static void value_text(const struct weir_param *param, uint64_t value, char *out, size_t size) {
  char text[UNITS_TEXT_MAX];
  if (param->kind == WEIR_PARAM_CHOICE)
    choice_text(param->choices, value, out, size);
  else if (param->kind == WEIR_PARAM_SIZE)
    snprintf(out, size, "%s", units_size_name(value, text));
  else
    snprintf(out, size, "%llu", (unsigned long long)value);
}

static int choice_parse(const struct weir_param *param, const char *text, const char *option, uint64_t *out,
                        struct plan_error *error) {
  int index = choice_index(param->choices, text);
  if (index >= 0) {
    *out = (uint64_t)index;
    return 0;
  }
  return plan_fail(error, option, text, NULL, "%s: unknown value '%s'; choose from %s", param->name, text, param->choices);
}

static int value_parse(const struct weir_param *param, const char *text, const char *option, uint64_t *out,
                       struct plan_error *error) {
  if (param->kind == WEIR_PARAM_CHOICE) return choice_parse(param, text, option, out, error);
  char hint[UNITS_TEXT_MAX];
  bool size = param->kind == WEIR_PARAM_SIZE;
  if ((size ? units_parse_size(text, out) : units_parse_count(text, out)) < 0)
    return plan_fail(error, option, text, size ? units_size_hint(text, hint) : NULL, "%s: '%s' is not a %s", param->name, text,
                     size ? "size" : "number");
  if (*out >= param->min && *out <= param->max) return 0;
  char low[32], high[32];
  value_text(param, param->min, low, sizeof low);
  value_text(param, param->max, high, sizeof high);
  return plan_fail(error, option, text, NULL, "%s: %s is out of range, %s to %s", param->name, text, low, high);
}

/* ---- axes: the values that each parameter takes ---- */

struct axis {
  unsigned count;
  bool quiet; /* a preset that nobody named and that is not swept: not part of a cell's name */
  uint64_t values[SPEC_VALUES_MAX];
};

static int axis_add(struct axis *axis, const struct weir_param *param, const char *text, const char *option,
                    struct plan_error *error) {
  if (axis->count == SPEC_VALUES_MAX)
    return plan_fail(error, option, text, NULL, "%s: more than %u values", param->name, SPEC_VALUES_MAX);
  int code = value_parse(param, text, option, &axis->values[axis->count], error);
  if (code == 0) axis->count++;
  return code;
}

/* Adds the values of "64KiB|1MiB". */
static int axis_add_list(struct axis *axis, const struct weir_param *param, const char *list, const char *option,
                         struct plan_error *error) {
  char text[32];
  int code = 0;
  for (;;) {
    size_t span = strcspn(list, "|");
    snprintf(text, sizeof text, "%.*s", (int)span, list);
    code = axis_add(axis, param, text, option, error);
    if (code < 0 || !list[span]) return code;
    list += span + 1;
  }
}

static const char *all_values(const struct weir_param *param) {
  if (param->sweep) return param->sweep;
  return param->kind == WEIR_PARAM_CHOICE ? param->choices : param->preset;
}

/* The values that the spec gives this parameter; '*' stands for the method's own list. */
static int axis_fill(struct axis *axis, const struct weir_param *param, const struct spec *spec, const char *option,
                     struct plan_error *error) {
  const struct spec_param *said = find_said(spec, param->name);
  axis->count = 0;
  axis->quiet = !said && !param->sweep;
  if (!said) return axis_add_list(axis, param, spec->sweep && param->sweep ? param->sweep : param->preset, option, error);
  int code = 0;
  for (unsigned i = 0; i < said->count && code == 0; i++) {
    if (strcmp(said->values[i], "*") == 0)
      code = axis_add_list(axis, param, all_values(param), option, error);
    else
      code = axis_add(axis, param, said->values[i], option, error);
  }
  return code;
}

static int threads_fill(struct axis *axis, const struct spec *spec, const struct spec_scope *scope,
                        struct plan_error *error) {
  static const struct weir_param param = {
      .name = "threads", .kind = WEIR_PARAM_COUNT, .preset = "1", .min = 1, .max = THREADS_MAX};
  if (scope->members && find_said(spec, param.name))
    return plan_fail(error, scope->option, spec->text, NULL, "'%s': each of the %u members has one thread", spec->text,
                     scope->members);
  if (find_said(spec, param.name)) return axis_fill(axis, &param, spec, scope->option, error);
  axis->count = scope->threads->count;
  for (unsigned i = 0; i < axis->count; i++) axis->values[i] = (uint64_t)scope->threads->values[i];
  return 0;
}

/* ---- reading a spec ---- */

static int parse_param(const char *text, size_t length, const struct spec_scope *scope, struct spec *out,
                       struct plan_error *error) {
  size_t name = strcspn(text, "=");
  if (name == 0 || name >= length || length - name < 2)
    return plan_fail(error, scope->option, out->text, NULL, "'%s': expected parameter=value, got '%.*s'", out->text,
                     (int)length, text);
  if (out->param_count == SPEC_PARAMS_MAX)
    return plan_fail(error, scope->option, out->text, NULL, "'%s': too many parameters", out->text);
  struct spec_param *param = &out->params[out->param_count++];
  snprintf(param->name, sizeof param->name, "%.*s", (int)name, text);
  const char *value = text + name + 1, *end = text + length;
  for (param->count = 0; value <= end; param->count++) {
    size_t span = strcspn(value, "|,]");
    if (param->count == SPEC_VALUES_MAX || span == 0 || span >= sizeof param->values[0])
      return plan_fail(error, scope->option, out->text, NULL, "'%s': bad list of values for %s", out->text, param->name);
    snprintf(param->values[param->count], sizeof param->values[0], "%.*s", (int)span, value);
    value += span + 1;
  }
  return 0;
}

static int parse_brackets(const char *text, const struct spec_scope *scope, struct spec *out, struct plan_error *error) {
  size_t length = strlen(text);
  if (length < 3 || text[length - 1] != ']' || strcspn(text, "]") != length - 1)
    return plan_fail(error, scope->option, out->text, NULL, "'%s': expected [parameter=value,...] after the name",
                     out->text);
  for (const char *at = text + 1; at < text + length;) {
    size_t span = strcspn(at, ",]");
    int code = parse_param(at, span, scope, out, error);
    if (code < 0) return code;
    const char *name = out->params[out->param_count - 1].name;
    if (find_said(out, name) != &out->params[out->param_count - 1])
      return plan_fail(error, scope->option, out->text, NULL, "'%s': %s is given twice", out->text, name);
    at += span + 1;
  }
  return 0;
}

/* Names of methods or parameters, for messages and hints. */
struct names {
  unsigned count;
  const char *list[257];
};

static void names_add(struct names *names, const char *name) {
  if (names->count == 256) return;
  for (unsigned i = 0; i < names->count; i++)
    if (strcmp(names->list[i], name) == 0) return;
  names->list[names->count++] = name;
  names->list[names->count] = NULL;
}

/* 'pread' means 'fd/pread'; else the nearest by letters, of the whole name or of the part after the slash. */
static const char *nearest_method(const char *name, const struct weir_method *const *methods) {
  struct names names = {0}, variants = {0};
  for (; *methods; methods++) {
    const char *slash = strchr((*methods)->name, '/');
    if (slash && strcmp(slash + 1, name) == 0) return (*methods)->name;
    names_add(&names, (*methods)->name);
    if (slash) names_add(&variants, (*methods)->name);
  }
  const char *nearest = plan_nearest(name, names.list);
  for (unsigned i = 0; i < variants.count && !nearest && !strchr(name, '/'); i++) {
    const char *variant[] = {strchr(variants.list[i], '/') + 1, NULL};
    if (plan_nearest(name, variant)) nearest = variants.list[i];
  }
  return nearest;
}

static int check_name(const struct spec *spec, const struct spec_scope *scope, struct plan_error *error) {
  for (const struct weir_method *const *method = scope->methods; *method; method++)
    if (names_method(spec, *method)) return 0;
  if (is_glob(spec->name))
    return plan_fail(error, scope->option, spec->name, NULL, "no method matches '%s'; see 'weir list methods'", spec->name);
  const char *hint = nearest_method(spec->name, scope->methods);
  if (hint) return plan_fail(error, scope->option, spec->name, hint, "unknown method '%s'", spec->name);
  return plan_fail(error, scope->option, spec->name, NULL, "unknown method '%s'; see 'weir list methods'", spec->name);
}

static int unknown_param(const struct spec *spec, const char *name, const struct spec_scope *scope,
                         struct plan_error *error) {
  struct names names = {0};
  char list[128];
  for (const struct weir_method *const *method = scope->methods; *method; method++)
    for (size_t i = 0; names_method(spec, *method) && i < (*method)->param_count; i++)
      names_add(&names, (*method)->params[i].name);
  names_add(&names, "threads");
  return plan_fail(error, scope->option, name, plan_nearest(name, names.list), "%s has no parameter '%s'; it has %s",
                   spec->name, name, plan_word_list(names.list, list, sizeof list));
}

/* Every parameter that is said must be known to some method that the spec names. */
static int check_param_names(const struct spec *spec, const struct spec_scope *scope, struct plan_error *error) {
  for (unsigned i = 0; i < spec->param_count; i++) {
    const char *name = spec->params[i].name;
    bool known = strcmp(name, "threads") == 0;
    for (const struct weir_method *const *method = scope->methods; *method && !known; method++)
      known = names_method(spec, *method) && find_param(*method, name) >= 0;
    if (!known) return unknown_param(spec, name, scope, error);
  }
  return 0;
}

/* Does this method know all that is said, with values in range? */
static int check_method(const struct spec *spec, const struct weir_method *method, const struct spec_scope *scope,
                        struct plan_error *error) {
  struct axis axis;
  for (unsigned i = 0; i < spec->param_count; i++) {
    int at = find_param(method, spec->params[i].name);
    if (at < 0 && strcmp(spec->params[i].name, "threads") == 0) continue;
    if (at < 0) return unknown_param(spec, spec->params[i].name, scope, error);
    int code = axis_fill(&axis, &method->params[at], spec, scope->option, error);
    if (code < 0) return code;
  }
  return threads_fill(&axis, spec, scope, error);
}

/* At least one method must be able to serve the spec under some demand. */
static int check_values(const struct spec *spec, const struct spec_scope *scope, struct plan_error *error) {
  struct plan_error first = {{0}, {0}, {0}, {0}}, next;
  for (const struct weir_method *const *method = scope->methods; *method; method++) {
    if (!names_method(spec, *method)) continue;
    if (check_method(spec, *method, scope, &next) == 0) return 0;
    if (!first.text[0]) first = next;
  }
  *error = first;
  return -EINVAL;
}

int spec_parse(const char *text, const struct spec_scope *scope, struct spec *out, struct plan_error *error) {
  *out = (struct spec){.sweep = false};
  size_t name = strcspn(text, "[");
  if (strlen(text) >= sizeof out->text || name >= sizeof out->name)
    return plan_fail(error, scope->option, text, NULL, "'%.60s...' is too long", text);
  snprintf(out->text, sizeof out->text, "%s", text);
  snprintf(out->name, sizeof out->name, "%.*s", (int)name, text);
  if (name == 0) return plan_fail(error, scope->option, text, NULL, "'%s' names no method", text);
  int code = text[name] ? parse_brackets(text + name, scope, out, error) : 0;
  if (code == 0) code = check_name(out, scope, error);
  if (code == 0) code = check_param_names(out, scope, error);
  return code == 0 ? check_values(out, scope, error) : code;
}

void spec_every(struct spec *out) { *out = (struct spec){.text = "*", .name = "*", .sweep = true}; }

/* ---- does it fit the demand? ---- */

static bool has_bit(uint32_t mask, unsigned value) { return (mask & WEIR_BIT(value)) != 0; }

static const char *misfit_word(const struct weir_method *method, const struct plan_demand *demand) {
  if (!has_bit(method->tasks, demand->task)) return plan_task_words[demand->task];
  if (!has_bit(method->directions, demand->direction)) return plan_direction_words[demand->direction];
  if (!has_bit(method->accesses, demand->access)) return plan_access_words[demand->access];
  if (!has_bit(method->durabilities, demand->durability)) return plan_durability_words[demand->durability];
  return NULL;
}

static bool param_applies(const struct weir_param *param, const struct plan_demand *demand) {
  if (param->targets && (demand->direction != WEIR_WRITE || !has_bit(param->targets, demand->target))) return false;
  return has_bit(param->tasks, demand->task) && has_bit(param->accesses, demand->access) &&
         has_bit(param->durabilities, demand->durability);
}

static bool param_is_request(const struct weir_param *param, const struct plan_demand *demand) {
  return demand->request_bytes && !weir_task_has_files(demand->task) && strcmp(param->name, "block") == 0;
}

static bool param_fits(const struct weir_param *param, const struct spec *spec, const struct plan_demand *demand,
                       const struct spec_scope *scope, struct plan_error *error) {
  char size[UNITS_TEXT_MAX];
  bool said = find_said(spec, param->name) != NULL;
  if (param_is_request(param, demand)) {
    units_size_name(demand->request_bytes, size);
    if (said)
      return plan_fail(error, scope->option, spec->text, NULL, "'%s': block is fixed by the request size, %s", spec->text,
                       size) == 0;
    if (demand->request_bytes < param->min || demand->request_bytes > param->max)
      return plan_fail(error, scope->option, spec->text, NULL, "'%s' cannot make requests of %s", spec->text, size) == 0;
  } else if (said && !param_applies(param, demand)) {
    return plan_fail(error, scope->option, spec->text, NULL, "'%s': %s has no meaning for what is asked", spec->text,
                     param->name) == 0;
  }
  return true;
}

static bool method_fits(const struct weir_method *method, const struct spec *spec, const struct plan_demand *demand,
                        const struct spec_scope *scope, struct plan_error *error) {
  const char *word = misfit_word(method, demand);
  if (word) return plan_fail(error, scope->option, spec->text, NULL, "'%s' does not do '%s' here", spec->text, word) == 0;
  if (demand->members && (method->capabilities & WEIR_CAP_OUTSIDE))
    return plan_fail(error, scope->option, spec->text, NULL, "'%s' is a program of its own, for one file; leave --member out",
                     spec->text) == 0;
  for (size_t i = 0; i < method->param_count; i++)
    if (!param_fits(&method->params[i], spec, demand, scope, error)) return false;
  return check_method(spec, method, scope, error) == 0;
}

int spec_check_param(const struct weir_param *param, struct plan_error *error) {
  static const struct spec plain = {.sweep = false};
  static const struct spec swept = {.sweep = true};
  struct axis axis;
  int code = axis_fill(&axis, param, &plain, "", error);
  return code < 0 ? code : axis_fill(&axis, param, &swept, "", error);
}

/* ---- the cartesian product ---- */

/* One axis for each parameter, then threads, then places. */
#define AXES_MAX (WEIR_PARAMS_MAX + 2u)

struct product {
  const struct weir_method *method;
  const struct plan_demand *demand;
  unsigned count;
  struct axis axes[AXES_MAX];
  unsigned at[AXES_MAX];
};

static int product_fill(struct product *product, const struct spec *spec, const struct spec_scope *scope,
                        struct plan_error *error) {
  const struct weir_method *method = product->method;
  assert(method->param_count <= WEIR_PARAMS_MAX);
  static const struct spec unsaid = {.sweep = false};
  for (size_t i = 0; i < method->param_count; i++) {
    const struct weir_param *param = &method->params[i];
    struct axis *axis = &product->axes[product->count++];
    if (param_is_request(param, product->demand)) {
      *axis = (struct axis){.count = 1, .values = {product->demand->request_bytes}};
      continue;
    }
    bool applies = param_applies(param, product->demand);
    int code = axis_fill(axis, param, applies ? spec : &unsaid, scope->option, error);
    if (code < 0) return code;
  }
  struct axis *threads = &product->axes[product->count++];
  int code = threads_fill(threads, spec, scope, error);
  for (unsigned i = 0; i < threads->count && code == 0 && weir_task_streams(product->demand->task); i++)
    if (threads->values[i] != 1)
      code = plan_fail(error, find_said(spec, "threads") ? scope->option : "--threads", spec->text, NULL,
                       "task '%s' is one stream: it has one thread", plan_task_words[product->demand->task]);
  struct axis *places = &product->axes[product->count++];
  for (places->count = 0; places->count < scope->place_count && places->count < SPEC_VALUES_MAX; places->count++)
    places->values[places->count] = places->count;
  return code;
}

static uint64_t product_value(const struct product *product, unsigned axis) {
  return product->axes[axis].values[product->at[axis]];
}

static struct plan_cell product_cell(const struct product *product) {
  const struct weir_method *method = product->method;
  struct plan_cell cell = {.impl = method, .capabilities = method->capabilities};
  snprintf(cell.method, sizeof cell.method, "%s", method->name);
  cell.param_count = (unsigned)method->param_count;
  for (unsigned i = 0; i < cell.param_count; i++) {
    const struct weir_param *param = &method->params[i];
    struct plan_param *out = &cell.params[i];
    snprintf(out->name, sizeof out->name, "%s", param->name);
    out->value = product_value(product, i);
    value_text(param, out->value, out->text, sizeof out->text);
    out->fixed = param_is_request(param, product->demand) || !param_applies(param, product->demand) || product->axes[i].quiet;
  }
  cell.threads = (unsigned)product_value(product, cell.param_count);
  cell.place = (unsigned)product_value(product, cell.param_count + 1);
  return cell;
}

/* The next combination, the last axis turning fastest; false after the last one. */
static bool product_next(struct product *product) {
  for (unsigned axis = product->count; axis-- > 0;) {
    if (++product->at[axis] < product->axes[axis].count) return true;
    product->at[axis] = 0;
  }
  return false;
}

static int expand_method(const struct weir_method *method, const struct spec *spec, const struct spec_scope *scope,
                         struct plan_group *group, struct plan_error *error) {
  struct product product = {.method = method, .demand = &group->demand};
  int code = product_fill(&product, spec, scope, error);
  if (code < 0) return code;
  int count = 0;
  do {
    if (group->cell_count == PLAN_CELLS_MAX)
      return plan_fail(error, scope->option, spec->text, NULL,
                       "more than %u cells in one group; name fewer methods or values", PLAN_CELLS_MAX);
    struct plan_cell cell = product_cell(&product);
    code = group_append(group, &cell, scope->place_count > 1 ? scope->places[cell.place] : NULL);
    if (code < 0) return code;
    count++;
  } while (product_next(&product));
  return count;
}

int spec_expand(const struct spec *spec, const struct spec_scope *scope, struct plan_group *group,
                struct plan_error *error) {
  int count = 0;
  for (const struct weir_method *const *method = scope->methods; *method; method++) {
    if (!names_method(spec, *method) || !method_fits(*method, spec, &group->demand, scope, error)) continue;
    int added = expand_method(*method, spec, scope, group, error);
    if (added < 0) return added;
    count += added;
  }
  return count;
}

static bool value_matches(const struct spec_param *said, const struct weir_param *param, uint64_t value) {
  struct plan_error ignored;
  uint64_t wanted = 0;
  for (unsigned i = 0; i < said->count; i++)
    if (strcmp(said->values[i], "*") == 0 ||
        (value_parse(param, said->values[i], "", &wanted, &ignored) == 0 && wanted == value))
      return true;
  return false;
}

bool spec_matches(const struct spec *spec, const struct plan_cell *cell) {
  static const struct weir_param threads = {.name = "threads", .kind = WEIR_PARAM_COUNT, .min = 1, .max = THREADS_MAX};
  if (!cell->impl || !names_method(spec, cell->impl)) return false;
  for (unsigned i = 0; i < spec->param_count; i++) {
    const struct spec_param *said = &spec->params[i];
    int at = find_param(cell->impl, said->name);
    if (at < 0 && strcmp(said->name, "threads") != 0) return false;
    if (at >= 0 ? !value_matches(said, &cell->impl->params[at], cell->params[at].value)
                : !value_matches(said, &threads, cell->threads))
      return false;
  }
  return true;
}
