/*
 * plugin.h - methods from a shared library of the user's: loaded, checked, and copied into the form that this build knows.
 */
#ifndef WEIR_PLUGIN_H
#define WEIR_PLUGIN_H

#include "weir/method.h"

struct plugin {
  unsigned count;
  struct weir_method *methods; /* copies; their functions and texts lie in the library, which stays loaded */
};

/*
 * Loads the library and takes its methods in. What it does while it is loaded is tried in a process of its own first, so
 * that a crash or a hang there is an error like others. 0, or a negative errno value with words in `problem`.
 */
int plugin_open(const char *path, struct plugin *out, struct weir_reason *problem);
/* The same without the trial, for a worker, which is such a process itself. */
int plugin_load(const char *path, struct plugin *out, struct weir_reason *problem);
void plugin_close(struct plugin *plugin);

#endif
