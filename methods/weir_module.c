/*
 * weir_module.c - the methods as a library of their own, libweir left open: `weir compare --rerun` loads a build of libweir
 * first, and then this, whose calls bind to that build. It is loaded by the program alone and is no plugin of users'.
 */
#include "methods.h"
#include "weir.h"

typedef void module_function(void);

/* The function of libweir that calls from here reach. */
module_function *weir_module_bound(void);
module_function *weir_module_bound(void) { return (module_function *)weir_version; }

weir_plugin_entry WEIR_PLUGIN_ENTRY;
const struct weir_method *const *WEIR_PLUGIN_ENTRY(uint32_t abi) { return abi == WEIR_METHOD_ABI ? methods_list : NULL; }
