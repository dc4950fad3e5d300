/* no_assets.c - in place of what npm brings: nothing, and the reason. It comes before the library's own, which is then left out. */
#include "report/html_parts.h"

const struct html_assets html_assets = {.missing = "npm is not installed"};
