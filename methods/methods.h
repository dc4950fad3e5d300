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

/* Reads deliver, writes supply; what is neither has no whole to be. */
#define METHODS_MIXES \
  .directions = WEIR_BIT(WEIR_MIXED), .tasks = WEIR_BIT(WEIR_TASK_BLOCKS), .durabilities = METHODS_ALL_DURABILITIES

#define METHODS_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* What the system is told about a file that is read through the page cache; its values in the order of enum os_advice. */
#define METHODS_PARAM_HINT                                                                            \
  {                                                                                                   \
    .name = "hint", .kind = WEIR_PARAM_CHOICE, .preset = "none", .choices = "none|sequential|random", \
    WEIR_PARAM_EVERYWHERE, .help = "what the system is told (posix_fadvise) when the file is opened"  \
  }

/* How a file that has no length yet gets it; its values in the order of enum target_extend. */
#define METHODS_EXTEND_AT "grow|ftruncate|fallocate|zero-range"
#define METHODS_EXTEND_IN_ORDER METHODS_EXTEND_AT "|append"
#define METHODS_PARAM_EXTEND(ways)                                                                                \
  {                                                                                                               \
    .name = "extend", .kind = WEIR_PARAM_CHOICE, .preset = "grow", .choices = (ways), WEIR_PARAM_EVERYWHERE,      \
    .help = "how a new or truncated file gets its length: by each write, or ahead by one call; append: O_APPEND", \
    .targets = WEIR_BIT(WEIR_TARGET_NEW) | WEIR_BIT(WEIR_TARGET_TRUNCATE)                                         \
  }

/* How durable writes are made, `flush` in fd and direct; its values in this order. */
enum methods_flush { METHODS_FLUSH_DATASYNC, METHODS_FLUSH_DSYNC };
#define METHODS_PARAM_FLUSH                                                                                                \
  {                                                                                                                        \
    .name = "flush", .kind = WEIR_PARAM_CHOICE, .preset = "fdatasync", .sweep = "fdatasync|dsync",                         \
    .choices = "fdatasync|dsync", .tasks = WEIR_ANY, .accesses = WEIR_ANY, .durabilities = WEIR_BIT(WEIR_DURABILITY_EACH), \
    .help = "fdatasync: one call after each write; dsync: the file is opened so that each write itself is durable"         \
  }

#endif
