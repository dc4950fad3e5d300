/*
 * check.c - whether a method from elsewhere may stand in a plan. What is built in is checked by tests instead.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "plan/parts.h"

/* All other characters mean something where methods are named: brackets, lists, patterns, places. */
#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.+"

static int refuse(struct plan_error *error, const struct weir_method *method, const char *what) {
  return plan_fail(error, "", method->name, NULL, "'%.60s' %s", method->name, what);
}

/* family/variant */
static bool is_method_name(const char *name) {
  size_t family = strspn(name, NAME_LETTERS);
  if (family == 0 || name[family] != '/') return false;
  size_t variant = strspn(name + family + 1, NAME_LETTERS);
  return variant > 0 && !name[family + 1 + variant] && strlen(name) < sizeof((struct plan_cell *)NULL)->method;
}

static int check_masks(const struct weir_method *method, struct plan_error *error) {
  if (!(method->tasks & (WEIR_BIT(WEIR_TASK_MANY + 1) - 1))) return refuse(error, method, "serves no task");
  if (!(method->directions & (WEIR_BIT(WEIR_READ) | WEIR_BIT(WEIR_WRITE) | WEIR_BIT(WEIR_MIXED))))
    return refuse(error, method, "serves no direction");
  if (!(method->accesses & (WEIR_BIT(WEIR_SEQUENTIAL) | WEIR_BIT(WEIR_RANDOM)))) return refuse(error, method, "serves no access");
  const uint32_t durabilities =
      WEIR_BIT(WEIR_DURABILITY_NONE) | WEIR_BIT(WEIR_DURABILITY_END) | WEIR_BIT(WEIR_DURABILITY_EACH);
  return method->durabilities & durabilities ? 0 : refuse(error, method, "serves no durability");
}

static bool is_param_name(const char *name) {
  return name && name[0] && !name[strspn(name, NAME_LETTERS)] && strlen(name) < sizeof((struct plan_param *)NULL)->name &&
         strcmp(name, "threads") != 0;
}

static int check_param(const struct weir_method *method, size_t index, struct plan_error *error) {
  const struct weir_param *param = &method->params[index];
  struct plan_error why;
  char text[sizeof why.text];
  if (!is_param_name(param->name)) return refuse(error, method, "has a parameter without a usable name");
  for (size_t i = 0; i < index; i++)
    if (strcmp(method->params[i].name, param->name) == 0) return refuse(error, method, "has a parameter twice");
  if (param->kind != WEIR_PARAM_SIZE && param->kind != WEIR_PARAM_COUNT && param->kind != WEIR_PARAM_CHOICE)
    return refuse(error, method, "has a parameter of unknown kind");
  if (param->kind == WEIR_PARAM_CHOICE && (!param->choices || !param->choices[0]))
    return refuse(error, method, "has a choice without choices");
  if (!param->preset) return refuse(error, method, "has a parameter without a preset");
  if (spec_check_param(param, &why) == 0) return 0;
  snprintf(text, sizeof text, "has a bad preset or sweep: %.120s", why.text);
  return refuse(error, method, text);
}

int plan_check_method(const struct weir_method *method, struct plan_error *error) {
  *error = (struct plan_error){.text = ""};
  if (!is_method_name(method->name))
    return refuse(error, method, "is no name for a method: it has to be family/variant, of letters, digits and - _ . +");
  int code = check_masks(method, error);
  if (code < 0) return code;
  if (method->param_count > WEIR_PARAMS_MAX) return refuse(error, method, "has too many parameters");
  if (method->param_count && !method->params) return refuse(error, method, "has no list of parameters");
  for (size_t i = 0; i < method->param_count && code == 0; i++) code = check_param(method, i, error);
  return code;
}
