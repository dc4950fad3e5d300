/*
 * hand.c - what people write by hand, as contenders: malloc and fread, a read loop, a map, getline, fread for each field of
 * packed records. Plain code as it stands in many programs, errors checked; nothing here is slower than it has to be.
 *
 * Whole-file ways open, read and close in `run`: that is what one such piece of code does.
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "passes.h"

enum { FRESH, HEAP };

/*
 * The C library keeps what was freed and gives it again without a page fault, up to 32 MiB once something large was freed.
 * `fresh` turns that off, so that each pass is like the first one of a program.
 */
static int setup_memory(void *state, const struct weir_job *job) {
  (void)state;
  if (job->params[0] == FRESH) mallopt(M_MMAP_THRESHOLD, 128 * 1024);
  return 0;
}

static long size_of(FILE *file) {
  if (fseek(file, 0, SEEK_END) != 0) return -1;
  long size = ftell(file);
  rewind(file);
  return size;
}

static int read_whole(FILE *file, const struct weir_job *job, struct weir_flow *flow, uint64_t limit) {
  long size = size_of(file);
  if (size < 0 || (uint64_t)size < job->part_length) return -EIO;
  char *data = malloc((size_t)size + 1);
  if (!data) return -ENOMEM;
  size_t got = fread(data, 1, (size_t)size, file);
  data[got] = '\0';
  if (got == (size_t)size) weir_deliver(flow, 0, data, (size_t)limit);
  free(data);
  return got == (size_t)size ? 0 : -EIO;
}

static int run_malloc_fread(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  (void)state;
  FILE *file = fopen(job->path, "rb");
  if (!file) return -errno;
  int code = read_whole(file, job, flow, passes_limit(job, budget));
  if (fclose(file) != 0 && code == 0) code = -errno;
  return passes_done(job, flow, budget, code);
}

/* ---- mmap ---------------------------------------------------------------------------------------------------------- */

static int run_mmap(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  struct stat facts;
  int code = 0, file = open(job->path, O_RDONLY);
  (void)state;
  if (file < 0) return -errno;
  if (fstat(file, &facts) < 0 || (uint64_t)facts.st_size < job->part_length) code = -EIO;
  void *data = code == 0 ? mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
  if (code == 0 && data == MAP_FAILED) code = -errno;
  close(file);
  if (code < 0) return code;
  weir_deliver(flow, 0, data, (size_t)passes_limit(job, budget));
  munmap(data, (size_t)facts.st_size);
  return passes_done(job, flow, budget, 0);
}

/* ---- a read loop --------------------------------------------------------------------------------------------------- */

struct loop_state {
  int file;
  char *buffer;
};

/*
 * On a page, as good as it gets. What malloc gives for such a size lies 16 bytes behind one, and there the kernel's copy was
 * seen to take five times as long: loads seem to wait for stores whose addresses look alike.
 */
static int setup_loop(void *state, const struct weir_job *job) {
  struct loop_state *s = state;
  void *buffer;
  if (posix_memalign(&buffer, 4096, (size_t)job->block) != 0) return -ENOMEM;
  s->buffer = memset(buffer, 1, (size_t)job->block);
  return 0;
}

static int open_loop(void *state, const struct weir_job *job) {
  struct loop_state *s = state;
  s->file = open(job->path, O_RDONLY);
  return s->file < 0 ? -errno : 0;
}

static int run_loop(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  const struct loop_state *s = state;
  const uint64_t count = budget < job->operations ? budget : job->operations;
  for (uint64_t i = 0; i < count && !weir_stopped(flow); i++) {
    const uint64_t began = weir_operation_begin(flow), offset = weir_order_offset(job, i);
    const size_t length = weir_order_length(job, offset);
    const ssize_t got = read(s->file, s->buffer, length);
    if (got != (ssize_t)length) return got < 0 ? -errno : -EIO;
    weir_deliver(flow, offset, s->buffer, length);
    weir_operation_end(flow, began);
  }
  return 0;
}

static int close_loop(void *state, const struct weir_job *job) {
  (void)job;
  return close(((struct loop_state *)state)->file) < 0 ? -errno : 0;
}

static void teardown_loop(void *state, const struct weir_job *job) {
  (void)job;
  free(((struct loop_state *)state)->buffer);
}

/* ---- getline ------------------------------------------------------------------------------------------------------- */

static int run_getline(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  const uint64_t limit = passes_limit(job, budget);
  struct passes pieces = passes_begin(flow);
  char *line = NULL;
  size_t room = 0;
  ssize_t length;
  (void)state;
  FILE *file = fopen(job->path, "r");
  if (!file) return -errno;
  while (pieces.offset < limit && (length = getline(&line, &room, file)) > 0) passes_deliver(&pieces, line, (size_t)length);
  passes_end(&pieces);
  int code = ferror(file) ? -EIO : 0;
  free(line);
  if (fclose(file) != 0 && code == 0) code = -errno;
  return passes_done(job, flow, budget, code);
}

/* ---- packed records, field by field -------------------------------------------------------------------------------- */

/*
 * A 32-bit count, then for each record a text with a varint length before it and bytes with a 32-bit length before them,
 * little-endian.
 */
struct fields {
  FILE *file;
  struct passes pieces;
  char *room;
  size_t size;
};

static int get(struct fields *f, void *data, size_t length) {
  if (fread(data, 1, length, f->file) != length) return -EIO;
  passes_deliver(&f->pieces, data, length);
  return 0;
}

static int get_u32(struct fields *f, uint32_t *out) {
  unsigned char b[4];
  int code = get(f, b, 4);
  *out = (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
  return code;
}

static int get_varint(struct fields *f, uint32_t *out) {
  unsigned char byte = 0x80;
  *out = 0;
  for (unsigned shift = 0; byte & 0x80; shift += 7) {
    if (shift > 28 || get(f, &byte, 1) < 0) return -EIO;
    *out |= (uint32_t)(byte & 0x7f) << shift;
  }
  return 0;
}

static int get_field(struct fields *f, uint32_t length) {
  if (length > f->size) {
    char *room = realloc(f->room, length);
    if (!room) return -ENOMEM;
    f->room = room;
    f->size = length;
  }
  return get(f, f->room, length);
}

static int get_record(struct fields *f) {
  uint32_t length;
  int code = get_varint(f, &length);
  if (code == 0) code = get_field(f, length);
  if (code == 0) code = get_u32(f, &length);
  return code == 0 ? get_field(f, length) : code;
}

static int run_fields(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  const uint64_t limit = passes_limit(job, budget);
  struct fields f = {.file = fopen(job->path, "rb"), .pieces = passes_begin(flow)};
  uint32_t count = 0;
  (void)state;
  if (!f.file) return -errno;
  int code = get_u32(&f, &count);
  for (uint32_t i = 0; i < count && code == 0 && f.pieces.offset < limit; i++) code = get_record(&f);
  passes_end(&f.pieces);
  free(f.room);
  fclose(f.file);
  return passes_done(job, flow, budget, code);
}

/* ---- the list ------------------------------------------------------------------------------------------------------ */

static const struct weir_param memory_params[] = {{.name = "memory",
                                                   .kind = WEIR_PARAM_CHOICE,
                                                   .preset = "fresh",
                                                   .choices = "fresh|heap",
                                                   WEIR_PARAM_EVERYWHERE,
                                                   .help = "new from the system each time, or as malloc keeps it"}};
static const struct weir_param loop_params[] = {{.name = "block",
                                                 .kind = WEIR_PARAM_SIZE,
                                                 .preset = "256KiB",
                                                 .min = 1,
                                                 .max = 1 << 30,
                                                 WEIR_PARAM_EVERYWHERE,
                                                 .help = "bytes a request"}};

static const struct weir_method malloc_fread = {
    PASSES_WHOLE,          .name = "hand/malloc-fread", .summary = "fseek, ftell, malloc, fread, free",
    .calls = "fread(3)",   .params = memory_params,     .param_count = 1,
    .setup = setup_memory, .run = run_malloc_fread};
static const struct weir_method map = {
    PASSES_WHOLE,       .name = "hand/mmap",           .summary = "open, fstat, mmap, munmap",
    .calls = "mmap(2)", .capabilities = WEIR_CAP_VIEW, .run = run_mmap};
static const struct weir_method read_loop = {PASSES_METHOD,
                                             .tasks = WEIR_BIT(WEIR_TASK_BLOCKS),
                                             .name = "hand/read-loop",
                                             .summary = "read into one buffer",
                                             .calls = "read(2)",
                                             .params = loop_params,
                                             .param_count = 1,
                                             .state_size = sizeof(struct loop_state),
                                             .setup = setup_loop,
                                             .open = open_loop,
                                             .run = run_loop,
                                             .close = close_loop,
                                             .teardown = teardown_loop};
static const struct weir_method lines = {PASSES_WHOLE, .name = "hand/getline", .summary = "line by line",
                                         .calls = "getline(3)", .run = run_getline};
static const struct weir_method records = {PASSES_WHOLE, .name = "hand/fread-fields", .summary = "packed records",
                                           .calls = "fread(3) for each field", .run = run_fields};

static const struct weir_method *const all[] = {&malloc_fread, &map, &read_loop, &lines, &records, NULL};

weir_plugin_entry WEIR_PLUGIN_ENTRY; /* the same signature for all */
const struct weir_method *const *WEIR_PLUGIN_ENTRY(uint32_t abi) { return abi == WEIR_METHOD_ABI ? all : NULL; }
