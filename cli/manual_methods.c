/*
 * manual_methods.c - weir-methods(7): every method that is built in, with its calls, what it serves and its parameters.
 * Whether a method works on a machine is not in it: `weir list methods` tries that.
 */
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "cli/command.h"
#include "cli/manual.h"
#include "methods/methods.h"

static void put_words(const char *title, uint32_t mask, const char *const *words) {
  bool all = true, any = false;
  for (unsigned i = 0; words[i]; i++) all = all && (mask & WEIR_BIT(i));
  if (all && title[0] != 'T') return; /* what serves every demand need not say so; tasks are always told */
  printf("%s", title);
  for (unsigned i = 0; words[i]; i++)
    if (mask & WEIR_BIT(i)) printf("%s%s", any ? ", " : " ", words[i]), any = true;
  printf(".\n");
}

static void put_range(const struct weir_param *param) {
  char low[UNITS_TEXT_MAX], high[UNITS_TEXT_MAX];
  if (param->kind == WEIR_PARAM_CHOICE)
    manual_code(param->choices);
  else if (param->kind == WEIR_PARAM_SIZE)
    printf("%s to %s", units_size_name(param->min, low), units_size_name(param->max, high));
  else
    printf("%llu to %llu", (unsigned long long)param->min, (unsigned long long)param->max);
}

static void put_param(const struct weir_param *param) {
  printf(".TP\n\\fB");
  manual_code(param->name);
  printf("\\fR=");
  manual_code(param->preset);
  printf(" (");
  put_range(param);
  printf(")\n");
  manual_text(param->help ? param->help : "no more is said of it");
}

static void put_method(const struct weir_method *method) {
  printf(".SS ");
  manual_code(method->name);
  printf("\n");
  manual_code(method->summary);
  printf(".\n");
  if (method->calls) {
    printf("Calls: ");
    manual_code(method->calls);
    printf(".\n");
  }
  put_words("Tasks:", method->tasks, plan_task_words);
  put_words("Directions:", method->directions, plan_direction_words);
  put_words("Accesses:", method->accesses, plan_access_words);
  put_words("Durabilities:", method->durabilities, plan_durability_words);
  if (method->capabilities & WEIR_CAP_VARIANT) printf("Takes part only when a name or pattern says so.\n");
  for (size_t i = 0; i < method->param_count; i++) put_param(&method->params[i]);
}

void manual_methods(void) {
  manual_head("weir-methods", 7, "the ways of reading and writing files that weir measures");
  printf(".SH DESCRIPTION\n");
  manual_text(
      "A method is named family/variant, and its parameters stand behind it: fd/pread[block=64KiB|1MiB] is two cells, one "
      "for\n"
      "each block size. In names * and ? match any letters. Below, each parameter stands with what it is when nothing is\n"
      "said, and with its range. Every method takes threads=N besides, the instances that share the work.\n"
      "\n"
      "What works on this machine, and why the rest does not, is told by weir list methods.\n");
  printf(".SH METHODS\n");
  for (unsigned i = 0; methods_list[i]; i++) put_method(methods_list[i]);
  printf(".SH SEE ALSO\n.BR weir (1),\n.BR weir\\-bench (1),\n.BR weir\\-list (1),\n.BR weir\\-studies (7)\n");
}
