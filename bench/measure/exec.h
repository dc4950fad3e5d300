/*
 * exec.h - a command of the user's as a contender: a whole program, timed from its start to its end.
 */
#ifndef WEIR_EXEC_H
#define WEIR_EXEC_H

#include "weir/method.h"

struct exec;

/*
 * Reads '[NAME=]COMMAND ... {} ... [=> CHECKSUM]'. 0, -EINVAL with words in `problem`, or -ENOMEM. `number` above 1 is added
 * to a name that was not said, where the plain one is taken.
 */
int exec_make(const char *text, unsigned number, struct exec **out, struct weir_reason *problem);
void exec_free(struct exec *exec);
/* exec/NAME; valid until it is freed. */
const struct weir_method *exec_method(const struct exec *exec);
bool exec_is_named(const struct exec *exec); /* the user said NAME */

#endif
