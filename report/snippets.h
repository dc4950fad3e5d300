/* snippets.h - the few lines of C that do what a method does, and what libweir does for the same use. From docs/snippets. */
#ifndef WEIR_SNIPPETS_H
#define WEIR_SNIPPETS_H

#include "plan/plan.h"

struct snippet {
  const char *key, *text; /* text: whole lines */
};
extern const struct snippet snippet_plain_list[], snippet_library_list[]; /* ended by a NULL key */

/* Of a method of this name; NULL: none is kept (methods of libweir, C++ streams, and what takes more than a few lines). */
const char *snippet_plain(const char *method);
/* Of a use; NULL: none. */
const char *snippet_library(const struct plan_demand *demand);

#endif
