/*
 * outside.c - loads contenders from outside and puts them behind those that are built in. What they are is checked where
 * they are made; here their names are kept apart.
 */
#include "cli/outside.h"

#include <stdlib.h>
#include <string.h>

#include "measure/measure.h"
#include "methods/methods.h"

static int fail(const struct command *command, const char *option, const char *value, const struct weir_reason *problem) {
  return command_fail(command, option, NULL, "'%s': %s%s%s", value, problem->text, problem->remedy[0] ? "; " : "",
                      problem->remedy);
}

static unsigned count_methods(const struct weir_method *const *methods) {
  unsigned count = 0;
  while (methods && methods[count]) count++;
  return count;
}

/* ---- the list ---- */

static int add_method(struct outside *outside, const struct weir_method *method, struct weir_reason *problem) {
  unsigned count = count_methods(outside->methods);
  for (unsigned i = 0; i < count; i++)
    if (strcmp(outside->methods[i]->name, method->name) == 0) {
      snprintf(problem->text, sizeof problem->text, "there is a method '%s' already", method->name);
      return -1;
    }
  const struct weir_method **methods = realloc(outside->methods, (count + 2) * sizeof *methods);
  if (!methods) return -1;
  methods[count] = method;
  methods[count + 1] = NULL;
  outside->methods = methods;
  return 0;
}

static int add_built_in(struct outside *outside) {
  unsigned count = count_methods(methods_list);
  outside->methods = malloc((count + 1) * sizeof *outside->methods);
  if (!outside->methods) return command_cannot("out of memory");
  for (unsigned i = 0; i <= count; i++) outside->methods[i] = methods_list[i];
  return 0;
}

static int add_argument(struct outside *outside, const char *option, const char *value) {
  size_t count = 0;
  while (outside->worker_arguments && outside->worker_arguments[count]) count++;
  const char **arguments = realloc(outside->worker_arguments, (count + 3) * sizeof *arguments);
  if (!arguments) return command_cannot("out of memory");
  outside->worker_arguments = arguments;
  arguments[count] = option;
  arguments[count + 1] = value;
  arguments[count + 2] = NULL;
  return 0;
}

/* ---- plugins ---- */

/* `load` is plugin_open, or plugin_load in a worker. */
static int add_plugin(const struct command *command, struct outside *outside, unsigned index,
                      int (*load)(const char *, struct plugin *, struct weir_reason *)) {
  const char *file = outside->plugin_files.values[index];
  struct plugin *plugin = &outside->plugins[index];
  struct weir_reason problem = {.text = "out of memory"};
  if (load(file, plugin, &problem) < 0) return fail(command, "--plugin", file, &problem);
  for (unsigned i = 0; i < plugin->count; i++)
    if (add_method(outside, &plugin->methods[i], &problem) < 0) return fail(command, "--plugin", file, &problem);
  return add_argument(outside, "--plugin", file);
}

/* ---- commands ---- */

static int make_exec(struct outside *outside, unsigned index, unsigned number, struct weir_reason *problem) {
  struct exec **exec = &outside->execs[index];
  exec_free(*exec);
  *exec = NULL;
  *problem = (struct weir_reason){.text = ""};
  int result = exec_make(outside->commands.values[index], number, exec, problem);
  return result < 0 ? result : add_method(outside, exec_method(*exec), problem);
}

/* Two commands that run the same program get the names exec/wc and exec/wc-2. */
static int add_exec(const struct command *command, struct outside *outside, unsigned index) {
  const char *text = outside->commands.values[index];
  struct weir_reason problem;
  int result = make_exec(outside, index, 1, &problem);
  for (unsigned number = 2; result < 0 && outside->execs[index] && !exec_is_named(outside->execs[index]) && number < 100; number++)
    result = make_exec(outside, index, number, &problem);
  if (result < 0) return fail(command, "--exec", text, &problem);
  return add_argument(outside, "--exec", text);
}

/* ---- sides of a comparison ---- */

static int add_side(const struct command *command, struct outside *outside, unsigned index, sides_loader *load) {
  static const char *const options[SIDES_MAX] = {"--old", "--new"};
  const char *file = outside->side_files[index];
  struct side *side = &outside->sides[index];
  struct weir_reason problem = {.text = "out of memory"};
  if (!file) return 0;
  if (side_open(side, file, index, load, &problem) < 0)
    return command_cannot("'%s': %s%s%s", file, problem.text, problem.remedy[0] ? "; " : "", problem.remedy);
  for (unsigned i = 0; i < side->methods.count; i++)
    if (add_method(outside, &side->methods.methods[i], &problem) < 0) return command_cannot("'%s': %s", file, problem.text);
  return add_argument(outside, options[index], file);
}

struct measure_prepare outside_prepare(struct outside *outside) {
  const bool bound = outside->sides[0].is_library || outside->sides[1].is_library;
  return (struct measure_prepare){outside->sides, bound ? sides_prepare : NULL};
}

static int add_all(const struct command *command, struct outside *outside,
                   int (*load)(const char *, struct plugin *, struct weir_reason *)) {
  outside->plugins = calloc(outside->plugin_files.count + 1u, sizeof *outside->plugins);
  outside->execs = calloc(outside->commands.count + 1u, sizeof *outside->execs);
  if (!outside->plugins || !outside->execs) return command_cannot("out of memory");
  int code = add_built_in(outside);
  for (unsigned i = 0; i < outside->plugin_files.count && code == 0; i++) code = add_plugin(command, outside, i, load);
  for (unsigned i = 0; i < outside->commands.count && code == 0; i++) code = add_exec(command, outside, i);
  for (unsigned i = 0; i < SIDES_MAX && code == 0; i++) code = add_side(command, outside, i, load);
  return code;
}

int outside_open(const struct command *command, struct outside *outside) { return add_all(command, outside, plugin_open); }

void outside_close(struct outside *outside) {
  for (unsigned i = 0; i < outside->plugin_files.count && outside->plugins; i++) plugin_close(&outside->plugins[i]);
  for (unsigned i = 0; i < outside->commands.count && outside->execs; i++) exec_free(outside->execs[i]);
  for (unsigned i = 0; i < SIDES_MAX; i++) side_close(&outside->sides[i]);
  free(outside->plugins);
  free(outside->execs);
  free(outside->methods);
  free(outside->worker_arguments);
  outside->plugins = NULL;
  outside->execs = NULL;
  outside->methods = NULL;
  outside->worker_arguments = NULL;
}

static void join(struct plan_request *request, const struct weir_method *method) {
  struct plan_strings *also = &request->also;
  if (method->capabilities & WEIR_CAP_FLOOR || also->count == sizeof also->values / sizeof *also->values) return;
  also->values[also->count++] = method->name;
}

void outside_join(const struct outside *outside, struct plan_request *request) {
  for (unsigned i = 0; i < outside->commands.count; i++) join(request, exec_method(outside->execs[i]));
  request->also_must = request->also.count;
  for (unsigned i = 0; i < outside->plugin_files.count && !request->methods.count; i++)
    for (unsigned m = 0; m < outside->plugins[i].count; m++) join(request, &outside->plugins[i].methods[m]);
}

/* ---- the worker ---- */

static const struct option_row worker_rows[] = {OUTSIDE_PLUGIN_ROW(offsetof(struct outside, plugin_files)),
                                                OUTSIDE_EXEC_ROW(offsetof(struct outside, commands)),
                                                {.name = "old",
                                                 .argument = "FILE",
                                                 .kind = OPTION_TEXT,
                                                 .offset = offsetof(struct outside, side_files[0]),
                                                 .help = "of a comparison"},
                                                {.name = "new",
                                                 .argument = "FILE",
                                                 .kind = OPTION_TEXT,
                                                 .offset = offsetof(struct outside, side_files[1]),
                                                 .help = "of a comparison"},
                                                {0}};
static const struct command worker_command = {.name = "__worker", .options = worker_rows};

int outside_worker(int argc, char **argv) {
  struct outside outside = {.methods = NULL};
  struct option_operands operands;
  int code = EXIT_CANNOT;
  if (option_parse(&worker_command, argc, argv, &outside, &operands) == OPTION_GO &&
      add_all(&worker_command, &outside, plugin_load) == 0) {
    const struct measure_prepare prepare = outside_prepare(&outside);
    code = measure_worker_main(outside.methods, &prepare);
  }
  outside_close(&outside);
  return code;
}
