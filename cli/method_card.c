/* method_card.c - one method on one page: what it does and calls, what can be set, and the few lines of C that do it. */
#include "cli/method_card.h"

#include <stdio.h>
#include <string.h>

#include "methods/methods.h"
#include "report/snippets.h"

const struct weir_method *method_card_find(const char *name) {
  for (unsigned i = 0; methods_list[i]; i++)
    if (strcmp(methods_list[i]->name, name) == 0) return methods_list[i];
  return NULL;
}

static void print_words(const char *title, const char *const *words, uint32_t bits) {
  const char *before = "";
  printf("  %-11s", title);
  for (unsigned i = 0; words[i]; i++) {
    if (!(bits & WEIR_BIT(i))) continue;
    printf("%s%s", before, words[i]);
    before = ", ";
  }
  printf("\n");
}

static void print_params(const struct weir_method *method) {
  for (unsigned i = 0; i < method->param_count; i++) {
    const struct weir_param *param = &method->params[i];
    printf("  %-11s%s (%s%s%s)\n", param->name, param->help ? param->help : "", param->preset ? param->preset : "",
           param->choices ? " of " : "", param->choices ? param->choices : "");
  }
}

static void print_code(const char *title, const char *code) {
  if (!code) return;
  printf("\n%s\n\n", title);
  for (const char *end; *code; code = end) {
    end = strchr(code, '\n');
    end = end ? end + 1 : code + strlen(code);
    printf("    %.*s", (int)(end - code), code);
  }
}

static int first_bit(uint32_t bits) {
  int bit = 0;
  while (bit < 31 && !(bits & WEIR_BIT(bit))) bit++;
  return bit;
}

void method_card_print(const struct weir_method *method) {
  const struct plan_demand demand = {.task = (enum weir_task)first_bit(method->tasks),
                                     .direction = (enum weir_direction)first_bit(method->directions),
                                     .access = (enum weir_access)first_bit(method->accesses)};
  const char *plain = snippet_plain(method->name);
  printf("%s: %s\n\n", method->name, method->summary);
  if (method->calls) printf("  %-11s%s\n", "calls", method->calls);
  print_words("tasks", plan_task_words, method->tasks);
  print_words("directions", plan_direction_words, method->directions);
  print_words("access", plan_access_words, method->accesses);
  print_params(method);
  print_code("In C:", plain);
  print_code(plain ? "The same use by libweir:" : "This use by libweir:", snippet_library(&demand));
}
