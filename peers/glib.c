/*
 * glib.c - GLib's way to read a file, as a contender. Built where GLib is.
 */
#include <errno.h>
#include <glib.h>

#include "passes.h"

static int run_get_contents(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  gchar *data = NULL;
  gsize size = 0;
  (void)state;
  if (!g_file_get_contents(job->path, &data, &size, NULL)) return -EIO;
  int code = size >= job->part_length ? 0 : -EIO;
  if (code == 0) weir_deliver(flow, 0, data, (size_t)passes_limit(job, budget));
  g_free(data);
  return passes_done(job, flow, budget, code);
}

static const struct weir_method get_contents = {PASSES_WHOLE, .name = "glib/get-contents",
                                                .summary = "a whole file by one call of GLib",
                                                .calls = "g_file_get_contents", .run = run_get_contents};
static const struct weir_method *const all[] = {&get_contents, NULL};

weir_plugin_entry WEIR_PLUGIN_ENTRY; /* the same signature for all */
const struct weir_method *const *WEIR_PLUGIN_ENTRY(uint32_t abi) { return abi == WEIR_METHOD_ABI ? all : NULL; }
