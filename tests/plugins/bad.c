/*
 * bad.c - plugins that are wrong in one way each: BAD names it. The build makes one library of each.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "weir/method.h"

enum bad {
  BAD_CRASH, BAD_LIES_BYTES, BAD_LIES_COUNT, BAD_HANGS, BAD_EXITS,          /* when they run */
  BAD_ABI, BAD_OLD, BAD_NEW, BAD_SHORT, BAD_NO_SYMBOL, BAD_NULL, BAD_EMPTY, /* when they are taken in */
  BAD_NO_NAME, BAD_NAME, BAD_TWICE, BAD_CLASH, BAD_NO_RUN, BAD_PARAMS, BAD_PRESET, BAD_MASK,
  BAD_LOAD_CRASH, BAD_LOAD_EXIT,
};

static int bad_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  static char zeroes[1 << 20];
  if (BAD == BAD_CRASH) raise(SIGSEGV);
  if (BAD == BAD_EXITS) _exit(0);
  while (BAD == BAD_HANGS && !weir_stopped(flow)) continue;
  for (uint64_t i = 0; i < job->operations && i < budget; i++) {
    const uint64_t offset = weir_order_offset(job, i);
    size_t length = weir_order_length(job, offset);
    if (BAD == BAD_LIES_COUNT && length > 1 && i == 0) length--;
    weir_deliver(flow, offset, zeroes, length);
    weir_operation_end(flow, weir_operation_begin(flow));
  }
  return 0;
}

static const struct weir_param bad_params[] = {
    {.name = "block", .kind = WEIR_PARAM_SIZE, .preset = BAD == BAD_PRESET ? "many" : "128KiB", .min = 1, .max = 1 << 20,
     WEIR_PARAM_EVERYWHERE, .help = "bytes a request"}};

/* A struct as a later header may have it, with more at its end. */
struct later { struct weir_method method; uint64_t more[8]; };

#define SIZE                                                                                                   \
  (BAD == BAD_NEW     ? sizeof(struct later)                                                                   \
   : BAD == BAD_OLD   ? offsetof(struct weir_method, data)                                                     \
   : BAD == BAD_SHORT ? 40                                                                                     \
                      : sizeof(struct weir_method))

static const struct later bad = {
    .method = {.abi = BAD == BAD_ABI ? 7 : WEIR_METHOD_ABI, .struct_size = SIZE,
               .name = BAD == BAD_NO_NAME ? "" : BAD == BAD_NAME ? "bad/[name]" : BAD == BAD_CLASH ? "fd/pread" : "bad/one",
               .summary = "wrong in one way", .tasks = BAD == BAD_MASK ? 0 : WEIR_BIT(WEIR_TASK_BLOCKS),
               .directions = WEIR_BIT(WEIR_READ), .accesses = WEIR_BIT(WEIR_SEQUENTIAL),
               .durabilities = WEIR_BIT(WEIR_DURABILITY_NONE), .params = bad_params,
               .param_count = BAD == BAD_PARAMS ? 9 : 1, .run = BAD == BAD_NO_RUN ? NULL : bad_run,
               .data = (const void *)(uintptr_t)64},
    .more = {1, 2, 3, 4, 5, 6, 7, 8}};

static const struct weir_method *bad_list[300];

#if BAD == 9 /* BAD_NO_SYMBOL */
#define ENTRY weir_plugin_something_else
#else
#define ENTRY WEIR_PLUGIN_ENTRY
#endif

weir_plugin_entry ENTRY;
const struct weir_method *const *ENTRY(uint32_t abi) {
  if (BAD == BAD_LOAD_CRASH) raise(SIGSEGV);
  if (BAD == BAD_LOAD_EXIT) _exit(5);
  if (BAD == BAD_NULL) return NULL;
  if (BAD != BAD_EMPTY) bad_list[0] = &bad.method;
  if (BAD == BAD_TWICE) bad_list[1] = &bad.method;
  return bad_list;
}
