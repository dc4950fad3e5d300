/*
 * sides.c - takes in OLD and NEW. Plugins are loaded as ever and only renamed. A build of libweir has no methods of its own:
 * the worker of a sample loads it, and then the module that holds the weir methods with the library left open, so that they
 * bind to that build. Each worker is a process of its own, so that OLD and NEW never meet.
 */
#include "cli/sides.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "methods/methods.h"
#include "os/os.h"

const char *const sides_endings[SIDES_MAX] = {".old", ".new"};

#define FAMILY "weir/"
#define MODULE "weir-methods.so"

static int refuse(struct weir_reason *problem, const char *text, const char *detail) {
  snprintf(problem->text, sizeof problem->text, "%s%.100s", text, detail);
  return -EINVAL;
}

/* ---- names --------------------------------------------------------------------------------------------------------- */

static int rename_methods(struct side *side, unsigned index, struct weir_reason *problem) {
  side->names = calloc(side->methods.count + (size_t)1, sizeof *side->names);
  if (!side->names) return -ENOMEM;
  for (unsigned i = 0; i < side->methods.count; i++) {
    const char *name = side->methods.methods[i].name;
    const size_t size = strlen(name) + strlen(sides_endings[index]) + 1;
    if (size > sizeof((struct plan_cell *)0)->method)
      return refuse(problem, "this name is too long for a comparison: ", name);
    side->names[i] = malloc(size);
    if (!side->names[i]) return -ENOMEM;
    snprintf(side->names[i], size, "%s%s", name, sides_endings[index]);
    side->methods.methods[i].name = side->names[i];
  }
  return 0;
}

/* ---- builds of libweir --------------------------------------------------------------------------------------------- */

static bool is_libweir(const char *file) {
  struct os_library *library;
  os_function *function;
  char ignored[8];
  return os_library_open(file, &library, ignored, sizeof ignored) == 0 &&
         os_library_function(library, "weir_version", &function) == 0;
}

/* The module beside the program, as in the build, or where it was installed. */
static int open_module(struct os_library **out, struct weir_reason *problem) {
  char path[1024];
  if (os_self_path(path, sizeof path) == 0) {
    char *slash = strrchr(path, '/');
    const size_t room = slash ? sizeof path - (size_t)(slash + 1 - path) : 0;
    if (room > sizeof MODULE) snprintf(slash + 1, room, "%s", MODULE);
    struct os_stat stat;
    if (room > sizeof MODULE && os_stat_path(path, &stat) == 0)
      return os_library_open(path, out, problem->text, sizeof problem->text);
  }
  return os_library_open(WEIR_MODULES "/" MODULE, out, problem->text, sizeof problem->text);
}

static int take_built_in(struct side *side) {
  unsigned count = 0, all = 0;
  while (methods_list[all]) all++;
  side->methods.methods = calloc(all + (size_t)1, sizeof *side->methods.methods);
  if (!side->methods.methods) return -ENOMEM;
  for (unsigned i = 0; i < all; i++)
    if (strncmp(methods_list[i]->name, FAMILY, strlen(FAMILY)) == 0) side->methods.methods[count++] = *methods_list[i];
  side->methods.count = count;
  return 0;
}

static const struct weir_method *find_base(const struct weir_method *const *list, const char *name) {
  const size_t length = strlen(name) - strlen(sides_endings[0]);
  for (; *list; list++)
    if (strlen((*list)->name) == length && strncmp((*list)->name, name, length) == 0) return *list;
  return NULL;
}

/* The methods of the module, bound to this build and to no other. */
static int load_bound(const char *file, const struct weir_method *const **out, struct weir_reason *problem) {
  struct os_library *library, *module;
  os_function *theirs, *bound, *entry;
  int result = os_library_share(file, &library, problem->text, sizeof problem->text);
  if (result == 0) result = open_module(&module, problem);
  if (result < 0) return result;
  if (os_library_function(library, "weir_version", &theirs) < 0 ||
      os_library_function(module, "weir_module_bound", &bound) < 0 ||
      os_library_function(module, "weir_plugin_methods", &entry) < 0)
    return refuse(problem, "no build of libweir, or no module to measure it with: ", file);
  if (((os_function * (*)(void)) bound)() != theirs)
    return refuse(problem, "the methods did not bind to this build: ", file);
  *out = ((weir_plugin_entry *)entry)(WEIR_METHOD_ABI);
  return *out ? 0 : refuse(problem, "the module is of another version: ", MODULE);
}

int sides_prepare(void *context, const struct weir_method *method, struct weir_reason *problem) {
  struct side *sides = context;
  for (unsigned s = 0; s < SIDES_MAX; s++)
    for (unsigned i = 0; sides[s].is_library && i < sides[s].methods.count; i++) {
      struct weir_method *mine = &sides[s].methods.methods[i];
      const struct weir_method *const *list;
      if (mine != method) continue;
      const int result = load_bound(sides[s].file, &list, problem);
      const struct weir_method *base = result == 0 ? find_base(list, mine->name) : NULL;
      if (!base) return result ? result : refuse(problem, "the module lacks ", mine->name);
      const char *name = mine->name;
      *mine = *base;
      mine->name = name;
    }
  return 0;
}

/* ---- opening ------------------------------------------------------------------------------------------------------- */

int side_open(struct side *side, const char *file, unsigned index, sides_loader *load, struct weir_reason *problem) {
  *side = (struct side){.file = file};
  int result = load(file, &side->methods, problem);
  if (result < 0 && result != -ENOMEM && is_libweir(file)) {
    problem->text[0] = '\0';
    side->is_library = true;
    result = take_built_in(side);
  }
  return result == 0 ? rename_methods(side, index, problem) : result;
}

void side_close(struct side *side) {
  for (unsigned i = 0; side->names && i < side->methods.count; i++) free(side->names[i]);
  free(side->names);
  plugin_close(&side->methods);
  *side = (struct side){.file = NULL};
}

/* ---- what the user names ------------------------------------------------------------------------------------------- */

static int add(struct plan_strings *out, struct sides_texts *made, const char *head, size_t head_length, const char *ending,
               const char *tail) {
  const size_t size = head_length + strlen(ending) + strlen(tail) + 1;
  char **texts = realloc(made->texts, (made->count + (size_t)1) * sizeof *texts);
  if (!texts) return -ENOMEM;
  made->texts = texts;
  texts[made->count] = malloc(size);
  if (!texts[made->count]) return -ENOMEM;
  snprintf(texts[made->count], size, "%.*s%s%s", (int)head_length, head, ending, tail);
  if (out->count < sizeof out->values / sizeof *out->values) out->values[out->count++] = texts[made->count];
  made->count++;
  return 0;
}

/* Does the pattern name a method of some side, as it is called without the ending? */
static bool names_some(const struct side *sides, const char *pattern, size_t length) {
  char name[64], plain[64];
  if (length >= sizeof name) return false;
  snprintf(name, sizeof name, "%.*s", (int)length, pattern);
  for (unsigned s = 0; s < SIDES_MAX; s++)
    for (unsigned i = 0; i < sides[s].methods.count; i++) {
      const char *full = sides[s].methods.methods[i].name;
      snprintf(plain, sizeof plain, "%.*s", (int)(strlen(full) - strlen(sides_endings[s])), full);
      if (fnmatch(name, plain, 0) == 0) return true;
    }
  return false;
}

int sides_specs(const struct side sides[SIDES_MAX], const struct plan_strings *said, struct plan_strings *out,
                struct sides_texts *made) {
  int code = 0;
  for (unsigned i = 0; i < said->count; i++) {
    const char *spec = said->values[i];
    const size_t length = strcspn(spec, "[");
    const bool both = names_some(sides, spec, length);
    for (unsigned s = 0; s < (both ? SIDES_MAX : 1) && code == 0; s++)
      code = add(out, made, spec, length, both ? sides_endings[s] : "", spec + length);
  }
  return code;
}

void sides_texts_release(struct sides_texts *texts) {
  for (unsigned i = 0; i < texts->count; i++) free(texts->texts[i]);
  free(texts->texts);
  *texts = (struct sides_texts){0};
}
