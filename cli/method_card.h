/* method_card.h - what `weir help METHOD` tells of one method. */
#ifndef WEIR_CLI_METHOD_CARD_H
#define WEIR_CLI_METHOD_CARD_H

#include "weir/method.h"

/* A built-in method of this name, or NULL. */
const struct weir_method *method_card_find(const char *name);
void method_card_print(const struct weir_method *method);

#endif
