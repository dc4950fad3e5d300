/*
 * methods.h - the contenders that are built in, one file a family.
 *
 * To the core: one list (list.c). To the families: what every one of them states alike. Not for plugins; they see
 * weir/method.h only.
 */
#ifndef WEIR_METHODS_H
#define WEIR_METHODS_H

#include "weir/method.h"

/* NULL-terminated. The first entry that fits a demand is its natural baseline. */
extern const struct weir_method *const methods_list[];

/* The first two fields of every entry. */
#define METHODS_ABI .abi = WEIR_METHOD_ABI, .struct_size = (uint32_t)sizeof(struct weir_method)

#define METHODS_BOTH_TASKS (WEIR_BIT(WEIR_TASK_BLOCKS) | WEIR_BIT(WEIR_TASK_WHOLE))
#define METHODS_BOTH_ACCESSES (WEIR_BIT(WEIR_SEQUENTIAL) | WEIR_BIT(WEIR_RANDOM))
/* A reader leaves nothing to be made durable. */
#define METHODS_READS .directions = WEIR_BIT(WEIR_READ), .durabilities = WEIR_BIT(WEIR_DURABILITY_NONE)
#define METHODS_ALL_DURABILITIES \
  (WEIR_BIT(WEIR_DURABILITY_NONE) | WEIR_BIT(WEIR_DURABILITY_END) | WEIR_BIT(WEIR_DURABILITY_EACH))
#define METHODS_WRITES .directions = WEIR_BIT(WEIR_WRITE), .durabilities = METHODS_ALL_DURABILITIES

#define METHODS_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* How durable writes are made, `flush` in fd and direct; its values in this order. */
enum methods_flush { METHODS_FLUSH_DATASYNC, METHODS_FLUSH_DSYNC };
#define METHODS_PARAM_FLUSH                                                                                                \
  {                                                                                                                        \
    .name = "flush", .kind = WEIR_PARAM_CHOICE, .preset = "fdatasync", .sweep = "fdatasync|dsync",                         \
    .choices = "fdatasync|dsync", .tasks = WEIR_ANY, .accesses = WEIR_ANY, .durabilities = WEIR_BIT(WEIR_DURABILITY_EACH), \
    .help = "fdatasync: one call after each write; dsync: the file is opened so that each write itself is durable"         \
  }

#endif
