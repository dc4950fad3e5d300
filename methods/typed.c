/*
 * typed.c - files of typed values (struct weir_typed): read and written value by value and struct by struct through the C
 * library's stream and C++'s, in blocks, out of a mapping, and whole.
 */
#include <errno.h>
#include <string.h>

#include "cstream.h"
#include "gather.h"
#include "held.h"
#include "methods.h"
#include "stream.h"
#include "typed.h"

static const struct {
  unsigned char at, size;
} fields[] = {{TYPED_NUMBER, 4}, {TYPED_KIND, 4}, {TYPED_VALUE, 8}, {TYPED_TIME, 8}};

/* All structs of the file or of the input, `each` for every one; *ended when none is left. */
typedef int each_struct(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t number);
static inline __attribute__((always_inline)) int for_each(void *state, const struct weir_job *job, struct weir_flow *flow,
                                                          uint64_t count, bool *ended, each_struct *each) {
  int error = 0;
  *ended = false;
  for (uint64_t i = 0; i < count && !error; i++) {
    if (i % TYPED_STRETCH == 0 && weir_stopped(flow)) return 0;
    error = each(state, job, flow, i);
  }
  *ended = !error;
  return error;
}

static int check_end(const struct weir_job *job) {
  const unsigned rest = (unsigned)(job->file_size % TYPED_BYTES);
  return rest ? job->host->fail(job, -EBADMSG, "the file ends with %u bytes of a struct of %zu", rest, TYPED_BYTES) : 0;
}

/* A whole pass of a reader, or of a writer that needs nothing at the end. */
static inline __attribute__((always_inline)) int pass(void *state, const struct weir_job *job, struct weir_flow *flow,
                                                      uint64_t budget, each_struct *each) {
  const bool writes = job->direction == WEIR_WRITE;
  bool ended = false;
  if (budget == 0) return 0;
  const uint64_t began = weir_operation_begin(flow);
  int error = writes ? 0 : check_end(job);
  if (!error)
    error = for_each(state, job, flow, writes ? job->input->typed_count : job->file_size / TYPED_BYTES, &ended, each);
  if (ended) weir_operation_end(flow, began);
  return error;
}

#define TYPED METHODS_ABI, .tasks = WEIR_BIT(WEIR_TASK_TYPED), .accesses = WEIR_BIT(WEIR_SEQUENTIAL)
#define READS_AND_WRITES .directions = WEIR_BIT(WEIR_READ) | WEIR_BIT(WEIR_WRITE), .durabilities = METHODS_ALL_DURABILITIES
#define PARAMS(list) .params = (list), .param_count = METHODS_COUNT(list)

/* ---- typed/stdio-fields, typed/stdio-structs ------------------------------------------------------------------------ */

enum { STDIO_SETVBUF, STDIO_LOCK, STDIO_EXTEND };

static int stdio_probe(const struct weir_job *job, struct weir_reason *reason) {
  return target_probe_extend(job, (enum target_extend)job->params[STDIO_EXTEND], reason);
}
static int stdio_setup(void *state, const struct weir_job *job) {
  return cstream_setup(state, job, job->params[STDIO_SETVBUF], job->params[STDIO_LOCK]);
}
static int stdio_open(void *state, const struct weir_job *job) {
  return cstream_open(state, job, (enum target_extend)job->params[STDIO_EXTEND]);
}
static int stdio_sync(void *state, const struct weir_job *job) { return cstream_sync(state, job); }
static int stdio_close(void *state, const struct weir_job *job) { return cstream_close(state, job); }
static void stdio_teardown(void *state, const struct weir_job *job) { cstream_teardown(state, job); }

static inline int read_fields(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t number) {
  unsigned char bytes[TYPED_BYTES];
  for (size_t i = 0; i < METHODS_COUNT(fields); i++) {
    const uint64_t offset = number * TYPED_BYTES + fields[i].at;
    int error = cstream_read(state, job, offset, bytes + fields[i].at, fields[i].size);
    if (error) return error;
  }
  typed_deliver(flow, bytes);
  return 0;
}
static inline int write_fields(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t number) {
  unsigned char bytes[TYPED_BYTES];
  typed_store(bytes, job->input->typed + number);
  for (size_t i = 0; i < METHODS_COUNT(fields); i++) {
    const uint64_t offset = number * TYPED_BYTES + fields[i].at;
    int error = cstream_write(state, job, offset, bytes + fields[i].at, fields[i].size);
    if (error) return error;
  }
  weir_passed(flow, TYPED_BYTES);
  return 0;
}
static inline int read_struct(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t number) {
  unsigned char bytes[TYPED_BYTES];
  int error = cstream_read(state, job, number * TYPED_BYTES, bytes, TYPED_BYTES);
  if (!error) typed_deliver(flow, bytes);
  return error;
}
static inline int write_struct(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t number) {
  unsigned char bytes[TYPED_BYTES];
  typed_store(bytes, job->input->typed + number);
  int error = cstream_write(state, job, number * TYPED_BYTES, bytes, TYPED_BYTES);
  if (!error) weir_passed(flow, TYPED_BYTES);
  return error;
}

static int fields_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  if (job->direction == WEIR_WRITE) return pass(state, job, flow, budget, write_fields);
  return pass(state, job, flow, budget, read_fields);
}
static int structs_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  if (job->direction == WEIR_WRITE) return pass(state, job, flow, budget, write_struct);
  return pass(state, job, flow, budget, read_struct);
}

static const struct weir_param stdio_params[] = {[STDIO_SETVBUF] = CSTREAM_PARAM_SETVBUF,
                                                 [STDIO_LOCK] = CSTREAM_PARAM_LOCK("locked|unlocked"),
                                                 [STDIO_EXTEND] = METHODS_PARAM_EXTEND(METHODS_EXTEND_IN_ORDER)};

#define TYPED_STDIO                                                                                            \
  TYPED, READS_AND_WRITES, PARAMS(stdio_params), .state_size = sizeof(struct cstream), .probe = stdio_probe,   \
                                                 .setup = stdio_setup, .open = stdio_open, .sync = stdio_sync, \
                                                 .close = stdio_close, .teardown = stdio_teardown

const struct weir_method methods_typed_stdio_fields = {
    TYPED_STDIO, .name = "typed/stdio-fields", .summary = "value by value through the C library's stream",
    .calls = "fdopen(3), setvbuf(3), fread(3) or fwrite(3) for each value; fdatasync(2) or O_DSYNC", .run = fields_run};

const struct weir_method methods_typed_stdio_structs = {
    TYPED_STDIO, .name = "typed/stdio-structs", .summary = "struct by struct through the C library's stream",
    .calls = "fdopen(3), setvbuf(3), fread(3) or fwrite(3) for each struct; fdatasync(2) or O_DSYNC", .run = structs_run};

/* ---- typed/ifstream ------------------------------------------------------------------------------------------------ */

enum { CPP_BY, CPP_STREAMBUF };
enum { BY_STRUCT, BY_FIELD };

struct cpp_state {
  struct stream *stream;
  struct stream_wish wish;
};

static int cpp_probe(const struct weir_job *job, struct weir_reason *reason) {
  (void)job;
  if (stream_built_in()) return 0;
  return target_unfit(reason, -ENOSYS, "built without a C++ compiler", "install g++ and build again");
}
static int cpp_setup(void *state, const struct weir_job *job) {
  struct cpp_state *s = state;
  const size_t size = (size_t)job->params[CPP_STREAMBUF];
  void *room = NULL;
  s->wish = (struct stream_wish){.kind = STREAM_FSTREAM, .path = job->path};
  if (size == 0) return 0;
  int error = job->host->buffer_get(job, size, 1, WEIR_BUFFER_REUSED, &room);
  if (error) return job->host->fail(job, error, "no memory for a stream buffer of %zu bytes", size);
  s->wish.buffer = room;
  s->wish.buffer_size = size;
  return 0;
}
static int cpp_open(void *state, const struct weir_job *job) {
  struct cpp_state *s = state;
  int error = stream_open(&s->wish, &s->stream);
  return error ? target_refused(job, "opening for reading", error) : 0;
}
static int cpp_get(const struct cpp_state *s, const struct weir_job *job, uint64_t offset, unsigned char *data,
                   size_t size) {
  const int64_t count = stream_read(s->stream, data, size);
  if (count == (int64_t)size) return 0;
  if (count < 0) return target_failed(job, "reading", offset, size, (int)count);
  return target_ended(job, offset + (uint64_t)count);
}
static inline int cpp_struct(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t number) {
  unsigned char bytes[TYPED_BYTES];
  int error = cpp_get(state, job, number * TYPED_BYTES, bytes, TYPED_BYTES);
  if (!error) typed_deliver(flow, bytes);
  return error;
}
static inline int cpp_fields(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t number) {
  unsigned char bytes[TYPED_BYTES];
  for (size_t i = 0; i < METHODS_COUNT(fields); i++) {
    int error = cpp_get(state, job, number * TYPED_BYTES + fields[i].at, bytes + fields[i].at, fields[i].size);
    if (error) return error;
  }
  typed_deliver(flow, bytes);
  return 0;
}
static int cpp_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  if (job->params[CPP_BY] == BY_FIELD) return pass(state, job, flow, budget, cpp_fields);
  return pass(state, job, flow, budget, cpp_struct);
}
static int cpp_close(void *state, const struct weir_job *job) {
  int error = stream_close(((struct cpp_state *)state)->stream);
  return error ? target_refused(job, "closing the stream", error) : 0;
}
static void cpp_teardown(void *state, const struct weir_job *job) {
  struct cpp_state *s = state;
  if (s->wish.buffer) job->host->buffer_put(job, s->wish.buffer, s->wish.buffer_size);
}

static const struct weir_param cpp_params[] = {[CPP_BY] = {.name = "by",
                                                           .kind = WEIR_PARAM_CHOICE,
                                                           .preset = "struct",
                                                           .sweep = "struct|field",
                                                           .choices = "struct|field",
                                                           WEIR_PARAM_EVERYWHERE,
                                                           .help = "what one call reads"},
                                               [CPP_STREAMBUF] = {.name = "streambuf",
                                                                  .kind = WEIR_PARAM_SIZE,
                                                                  .preset = "8KiB",
                                                                  .min = 0,
                                                                  .max = 1 << 30,
                                                                  WEIR_PARAM_EVERYWHERE,
                                                                  .help = "the stream's buffer; 0 is unbuffered, 8KiB what "
                                                                          "libstdc++ takes"}};

const struct weir_method methods_typed_ifstream = {TYPED,
                                                   METHODS_READS,
                                                   .name = "typed/ifstream",
                                                   .summary = "struct by struct or value by value through a C++ stream",
                                                   .calls = "std::ifstream read",
                                                   PARAMS(cpp_params),
                                                   .state_size = sizeof(struct cpp_state),
                                                   .probe = cpp_probe,
                                                   .setup = cpp_setup,
                                                   .open = cpp_open,
                                                   .run = cpp_run,
                                                   .close = cpp_close,
                                                   .teardown = cpp_teardown};

/* ---- typed/fd-blocks ----------------------------------------------------------------------------------------------- */

enum { BLOCKS_BLOCK, BLOCKS_EXTEND };

/* Before the data of a reader there is room for the part of a struct that the block before ended with. */
#define CARRY_BYTES WEIR_CACHE_LINE

struct blocks_state {
  struct gather gather; /* a reader uses its file alone */
  unsigned char *room;
  size_t block;
};

static int blocks_probe(const struct weir_job *job, struct weir_reason *reason) {
  return target_probe_extend(job, (enum target_extend)job->params[BLOCKS_EXTEND], reason);
}
static int blocks_setup(void *state, const struct weir_job *job) {
  struct blocks_state *s = state;
  void *room = NULL;
  s->block = (size_t)job->params[BLOCKS_BLOCK];
  if (job->direction == WEIR_WRITE) return gather_setup(&s->gather, job, s->block);
  int error = job->host->buffer_get(job, CARRY_BYTES + s->block, 1, WEIR_BUFFER_REUSED, &room);
  if (error) return job->host->fail(job, error, "no memory for a buffer of %zu bytes", s->block);
  s->room = room;
  return 0;
}
static int blocks_open(void *state, const struct weir_job *job) {
  return gather_open(&((struct blocks_state *)state)->gather, job, (enum target_extend)job->params[BLOCKS_EXTEND]);
}

/* The next block of the file, behind the carry. */
static int read_block(const struct blocks_state *s, const struct weir_job *job, uint64_t at, size_t *length) {
  const size_t wanted = job->file_size - at < s->block ? (size_t)(job->file_size - at) : s->block;
  const int64_t count = os_read(s->gather.file, s->room + CARRY_BYTES, wanted);
  if (count < 0) return target_failed(job, "reading", at, wanted, (int)count);
  if (count == 0) return target_ended(job, at);
  *length = (size_t)count;
  return 0;
}

static int read_blocks(const struct blocks_state *s, const struct weir_job *job, struct weir_flow *flow, bool *ended) {
  size_t carry = 0, length = 0;
  for (uint64_t at = 0; at < job->file_size; at += length) {
    if (weir_stopped(flow)) return 0;
    int error = read_block(s, job, at, &length);
    if (error) return error;
    const unsigned char *next = s->room + CARRY_BYTES - carry, *end = s->room + CARRY_BYTES + length;
    for (; (size_t)(end - next) >= TYPED_BYTES; next += TYPED_BYTES) typed_deliver(flow, next);
    carry = (size_t)(end - next);
    memmove(s->room + CARRY_BYTES - carry, next, carry); /* they overlap where a block is shorter than a struct */
  }
  *ended = true;
  return 0;
}

static inline int put_struct(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t number) {
  unsigned char bytes[TYPED_BYTES];
  typed_store(bytes, job->input->typed + number);
  int error = gather_put(&((struct blocks_state *)state)->gather, job, bytes, TYPED_BYTES);
  if (!error) weir_passed(flow, TYPED_BYTES);
  return error;
}

static int write_blocks(struct blocks_state *s, const struct weir_job *job, struct weir_flow *flow, bool *ended) {
  int error = for_each(s, job, flow, job->input->typed_count, ended, put_struct);
  return error ? error : gather_finish(&s->gather, job);
}

static int blocks_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  bool ended = false;
  if (budget == 0) return 0;
  const uint64_t began = weir_operation_begin(flow);
  int error = job->direction == WEIR_WRITE ? 0 : check_end(job);
  if (!error)
    error = job->direction == WEIR_WRITE ? write_blocks(state, job, flow, &ended) : read_blocks(state, job, flow, &ended);
  if (!error && ended) weir_operation_end(flow, began);
  return error;
}

static int blocks_sync(void *state, const struct weir_job *job) {
  return gather_sync(&((struct blocks_state *)state)->gather, job);
}
static int blocks_close(void *state, const struct weir_job *job) {
  return gather_close(&((struct blocks_state *)state)->gather, job);
}
static void blocks_teardown(void *state, const struct weir_job *job) {
  struct blocks_state *s = state;
  gather_teardown(&s->gather, job);
  if (s->room) job->host->buffer_put(job, s->room, CARRY_BYTES + s->block);
}

static const struct weir_param blocks_params[] = {
    [BLOCKS_BLOCK] = GATHER_PARAM_BLOCK, [BLOCKS_EXTEND] = METHODS_PARAM_EXTEND(METHODS_EXTEND_IN_ORDER)};

const struct weir_method methods_typed_fd_blocks = {
    TYPED,
    READS_AND_WRITES,
    .name = "typed/fd-blocks",
    .summary = "structs taken from, or put into, blocks of a buffer of our own",
    .calls = "open(2), read(2) or write(2) in a loop; fdatasync(2) or O_DSYNC",
    PARAMS(blocks_params),
    .state_size = sizeof(struct blocks_state),
    .probe = blocks_probe,
    .setup = blocks_setup,
    .open = blocks_open,
    .run = blocks_run,
    .sync = blocks_sync,
    .close = blocks_close,
    .teardown = blocks_teardown};

/* ---- typed/mapped, typed/slurp ------------------------------------------------------------------------------------- */

enum { SLURP_BUFFER };

static inline int held_struct(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t number) {
  (void)job;
  typed_deliver(flow, ((const struct held *)state)->data + (size_t)number * TYPED_BYTES);
  return 0;
}
static int mapped_setup(void *state, const struct weir_job *job) {
  (void)state, (void)job;
  return 0;
}
static int mapped_open(void *state, const struct weir_job *job) { return held_map(state, job); }
static int mapped_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  return pass(state, job, flow, budget, held_struct);
}
static int mapped_close(void *state, const struct weir_job *job) { return held_unmap(state, job); }

static int slurp_setup(void *state, const struct weir_job *job) {
  return held_setup(state, job, (enum weir_buffer_policy)job->params[SLURP_BUFFER]);
}
static int slurp_open(void *state, const struct weir_job *job) { return held_open(state, job); }
static int slurp_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  int error = budget ? held_read(state, job) : 0;
  return error ? error : pass(state, job, flow, budget, held_struct);
}
static int slurp_close(void *state, const struct weir_job *job) { return held_close(state, job); }
static void held_end(void *state, const struct weir_job *job) { held_teardown(state, job); }

static const struct weir_param mapped_params[] = {HELD_MAP_PARAMS("none|populate")};
static const struct weir_param slurp_params[] = {[SLURP_BUFFER] = HELD_PARAM_BUFFER("fresh|reused")};

#define TYPED_HELD TYPED, METHODS_READS, .state_size = sizeof(struct held), .teardown = held_end

const struct weir_method methods_typed_mapped = {TYPED_HELD,
                                                 .name = "typed/mapped",
                                                 .summary = "structs where they lie in the mapped file",
                                                 .calls = "mmap(2), munmap(2)",
                                                 .capabilities = WEIR_CAP_VIEW,
                                                 PARAMS(mapped_params),
                                                 .probe = held_probe_map,
                                                 .setup = mapped_setup,
                                                 .open = mapped_open,
                                                 .run = mapped_run,
                                                 .close = mapped_close};

const struct weir_method methods_typed_slurp = {TYPED_HELD,
                                                .name = "typed/slurp",
                                                .summary = "the file is read whole, as an array of structs",
                                                .calls = "read(2) of the whole file",
                                                PARAMS(slurp_params),
                                                .setup = slurp_setup,
                                                .open = slurp_open,
                                                .run = slurp_run,
                                                .close = slurp_close};

/* ---- typed/whole --------------------------------------------------------------------------------------------------- */

enum { WHOLE_EXTEND };

static bool stores_low_byte_first(void) {
  const uint16_t one = 1;
  unsigned char bytes[2];
  memcpy(bytes, &one, sizeof bytes);
  return bytes[0] == 1;
}

static int whole_probe(const struct weir_job *job, struct weir_reason *reason) {
  if (!stores_low_byte_first())
    return target_unfit(reason, -EOPNOTSUPP,
                        "this machine's values lie high byte first in memory, the file's low byte first",
                        "use typed/fd-blocks");
  return target_probe_extend(job, (enum target_extend)job->params[WHOLE_EXTEND], reason);
}
static int whole_open(void *state, const struct weir_job *job) {
  return gather_open(state, job, (enum target_extend)job->params[WHOLE_EXTEND]);
}
static int whole_run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  const struct weir_input *input = job->input;
  if (budget == 0 || weir_stopped(flow)) return 0;
  const uint64_t began = weir_operation_begin(flow);
  int error = gather_write(state, job, input->typed, input->typed_count * TYPED_BYTES);
  if (error) return error;
  weir_passed(flow, input->typed_count * TYPED_BYTES);
  weir_operation_end(flow, began);
  return 0;
}
static int whole_sync(void *state, const struct weir_job *job) { return gather_sync(state, job); }
static int whole_close(void *state, const struct weir_job *job) { return gather_close(state, job); }
static void whole_teardown(void *state, const struct weir_job *job) { gather_teardown(state, job); }

static const struct weir_param whole_params[] = {[WHOLE_EXTEND] = METHODS_PARAM_EXTEND(METHODS_EXTEND_IN_ORDER)};

const struct weir_method methods_typed_whole = {TYPED,
                                                METHODS_WRITES,
                                                .name = "typed/whole",
                                                .summary = "the array of structs as it lies in memory, by one write",
                                                .calls = "open(2), write(2); fdatasync(2) or O_DSYNC",
                                                PARAMS(whole_params),
                                                .state_size = sizeof(struct gather),
                                                .probe = whole_probe,
                                                .setup = mapped_setup,
                                                .open = whole_open,
                                                .run = whole_run,
                                                .sync = whole_sync,
                                                .close = whole_close,
                                                .teardown = whole_teardown};
