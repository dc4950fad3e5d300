/*
 * plugin.c - taking in methods from a shared library. Nothing that a plugin says is believed before it was checked here: the
 * rest of the program may rely on it as on what is built in. What its methods do when they run is the worker's business.
 */
#include "measure/plugin.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/os.h"
#include "plan/plan.h"

#define TEXT_OF(word) #word
#define NAME_OF(word) TEXT_OF(word)
#define ENTRY_NAME NAME_OF(WEIR_PLUGIN_ENTRY)

/* What every method has had since the ABI began; what came later is NULL where a plugin is older. */
#define SIZE_MIN (offsetof(struct weir_method, teardown) + sizeof(((struct weir_method *)NULL)->teardown))
#define METHODS_MAX 256u
#define STATE_MAX ((size_t)1 << 30)
#define TRIAL_NS (UINT64_C(10) * 1000000000)

static int refuse(struct weir_reason *problem, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int refuse(struct weir_reason *problem, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(problem->text, sizeof problem->text, format, arguments);
  va_end(arguments);
  return -EINVAL;
}

/* ---- one method ----------------------------------------------------------------------------------------------------- */

/* The words of a struct that a newer header made longer, or an older one shorter, in the shape that this build knows. */
static int take_struct(const struct weir_method *from, struct weir_method *out, struct weir_reason *problem) {
  if (from->abi != WEIR_METHOD_ABI)
    return refuse(problem, "a method is made for ABI %u of weir/method.h; this weir has %u", from->abi, WEIR_METHOD_ABI);
  if (from->struct_size < SIZE_MIN)
    return refuse(problem, "a method says that its struct has %u bytes; ABI %u began with %zu", from->struct_size,
                  WEIR_METHOD_ABI, SIZE_MIN);
  *out = (struct weir_method){.abi = 0};
  memcpy(out, from, from->struct_size < sizeof *out ? from->struct_size : sizeof *out);
  out->struct_size = (uint32_t)sizeof *out;
  return 0;
}

static int check_method(const struct weir_method *method, struct weir_reason *problem) {
  struct plan_error error;
  if (!method->name || !method->name[0]) return refuse(problem, "a method has no name");
  if (plan_check_method(method, &error) < 0) return refuse(problem, "%s", error.text);
  if (!method->summary) return refuse(problem, "'%.60s' has no summary", method->name);
  if (!method->run) return refuse(problem, "'%.60s' has no function 'run'", method->name);
  if (method->state_size > STATE_MAX) return refuse(problem, "'%.60s' wants a state of more than 1 GiB", method->name);
  return 0;
}

static int take_method(struct plugin *plugin, const struct weir_method *from, struct weir_reason *problem) {
  struct weir_method *methods = realloc(plugin->methods, (plugin->count + 1) * sizeof *methods);
  if (!methods) return -ENOMEM;
  plugin->methods = methods;
  int result = take_struct(from, &methods[plugin->count], problem);
  if (result == 0) result = check_method(&methods[plugin->count], problem);
  if (result < 0) return result;
  for (unsigned i = 0; i < plugin->count; i++)
    if (strcmp(methods[i].name, methods[plugin->count].name) == 0)
      return refuse(problem, "two methods are called '%.60s'", methods[i].name);
  plugin->count++;
  return 0;
}

/* ---- the library ---------------------------------------------------------------------------------------------------- */

static int take_all(const struct weir_method *const *list, struct plugin *out, struct weir_reason *problem) {
  int result = 0;
  if (!list) return refuse(problem, "it does not serve ABI %u of weir/method.h, which this weir has", WEIR_METHOD_ABI);
  if (!*list) return refuse(problem, "it has no methods");
  for (; *list && result == 0; list++) {
    if (out->count == METHODS_MAX) return refuse(problem, "it has more than %u methods, or its list has no end", METHODS_MAX);
    result = take_method(out, *list, problem);
  }
  return result;
}

int plugin_load(const char *path, struct plugin *out, struct weir_reason *problem) {
  struct os_library *library;
  os_function *function;
  *out = (struct plugin){.count = 0};
  *problem = (struct weir_reason){.text = ""};
  int result = os_library_open(path, &library, problem->text, sizeof problem->text);
  if (result < 0) return result;
  if (os_library_function(library, ENTRY_NAME, &function) < 0)
    return refuse(problem, "it has no function '" ENTRY_NAME "'; see docs/plugins.md");
  result = take_all(((weir_plugin_entry *)function)(WEIR_METHOD_ABI), out, problem);
  if (result < 0) plugin_close(out);
  return result;
}

void plugin_close(struct plugin *plugin) {
  free(plugin->methods);
  *plugin = (struct plugin){.count = 0};
}

/* ---- the trial ------------------------------------------------------------------------------------------------------ */

/* Whether it is refused does not matter here: that is told by the one who loads it for good. */
static int trial_body(void *context) {
  struct plugin plugin;
  struct weir_reason ignored;
  os_process_shield();
  if (plugin_load(context, &plugin, &ignored) == 0) plugin_close(&plugin);
  return 0;
}

static int try_to_load(const char *path, struct weir_reason *problem) {
  os_process trial;
  struct os_exit end;
  void *context = (void *)(uintptr_t)path;
  int result = os_process_fork(trial_body, context, &trial);
  if (result < 0) return result;
  result = os_process_wait(trial, TRIAL_NS, &end);
  if (result == -ETIMEDOUT) {
    os_process_kill(trial);
    os_process_wait(trial, UINT64_MAX, &end);
    return refuse(problem, "loading it did not end within 10 s");
  }
  if (result < 0) return result;
  if (end.crashed) return refuse(problem, "it crashed with %s while it was loaded", os_crash_name(end.code));
  return end.code ? refuse(problem, "it ended the program while it was loaded, with exit code %d", end.code) : 0;
}

int plugin_open(const char *path, struct plugin *out, struct weir_reason *problem) {
  *out = (struct plugin){.count = 0};
  *problem = (struct weir_reason){.text = ""};
  int result = try_to_load(path, problem);
  if (result == 0) result = plugin_load(path, out, problem);
  if (result < 0 && !problem->text[0]) refuse(problem, "%s", strerror(-result));
  return result;
}
