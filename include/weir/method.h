/*
 * weir/method.h - what a contender fills in.
 *
 * A method is one way of moving the bytes of a file: `fd/pread`, `map/view`, `ring/direct`. It describes itself in a
 * struct weir_method and the core measures it. A plugin includes this header, exports one function (WEIR_PLUGIN_ENTRY) and
 * needs no symbol of the executable: all services come as function pointers in struct weir_host.
 *
 * Life cycle of one sample, per instance (thread):
 *
 *     probe(job) -> setup -> { open -> run -> sync -> close } x passes -> teardown
 *
 * probe, setup and teardown are not timed (setup is shown as its own cost); open, run, sync and close are, each for
 * itself. Every function returns 0, or a negative errno value after which only close (if open had succeeded) and teardown
 * are called. `state` is `state_size` bytes, allocated and zeroed by the core, one for each instance.
 *
 * Threads: the core may run several instances of one method at once, each on its own state and its own partition. A
 * method keeps no global data.
 *
 * The structs below grow only at their end; `abi` and `struct_size` tell how much of them is there. struct weir_param and
 * struct weir_reason, which have no such fields, stay as they are for one value of WEIR_METHOD_ABI.
 */
#ifndef WEIR_METHOD_H
#define WEIR_METHOD_H

#ifdef __cplusplus
#include <atomic>
typedef std::atomic<int> weir_atomic_int;
#else
#include <stdatomic.h>
typedef atomic_int weir_atomic_int;
#endif
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_METHOD_ABI 1u

/* ---- the words of a demand: all that the user fixes ---------------------------------------------------------------- */

enum weir_task {
  WEIR_TASK_BLOCKS, /* requests of one size, each delivered by itself */
  WEIR_TASK_WHOLE,  /* the whole file (or partition) lies in memory at once, then it is delivered */
  /* From here on the file is a stream, and one pass is one operation: all of it, by one instance. */
  WEIR_TASK_LINES,   /* line by line; written: from lines that lie ready */
  WEIR_TASK_TEXT,    /* a file of text in whatever form: bytes, text, lines; written: from text that lies ready */
  WEIR_TASK_RECORDS, /* field by field of packed records: see WEIR_RECORDS_FORMAT */
  WEIR_TASK_TYPED,   /* value by value: see struct weir_typed */
  /* The job's bytes lie in many files of `block` bytes, in order; an operation is one file: weir_many_path. */
  WEIR_TASK_COPY, /* each file is copied: from weir_many_path to weir_copy_path; there may be just one file */
  WEIR_TASK_MANY, /* each file is read by itself and delivered in pieces of any size */
};
enum weir_direction {
  WEIR_READ,
  WEIR_WRITE,
  WEIR_MIXED, /* every request of the order is a read or a write, by a seeded coin: weir_order_writes */
};
enum weir_access { WEIR_SEQUENTIAL, WEIR_RANDOM };
enum weir_durability {
  WEIR_DURABILITY_NONE, /* the data may still be in the page cache when the clock stops */
  WEIR_DURABILITY_END,  /* one flush to stable storage, in the sync phase */
  WEIR_DURABILITY_EACH, /* every operation is on stable storage before the next one counts as done */
};
enum weir_target {
  WEIR_TARGET_OVERWRITE,    /* an existing file of full size, all of it written before */
  WEIR_TARGET_TRUNCATE,     /* an existing file, cut to zero when it is opened */
  WEIR_TARGET_NEW,          /* no file yet; the first instance creates it, and fails if something is there */
  WEIR_TARGET_PREALLOCATED, /* an existing file of full size whose extents are allocated but not written */
};
enum weir_consumer {
  WEIR_CONSUMER_NONE,   /* bytes are only counted */
  WEIR_CONSUMER_TOUCH,  /* readers: one load a cache line; writers: data that depends on the offset */
  WEIR_CONSUMER_HASH,   /* readers: every byte is hashed */
  WEIR_CONSUMER_VERIFY, /* readers: every byte is compared with what the file holds */
};

/* Bit of an enum value above, for the masks in struct weir_method and struct weir_param. */
#define WEIR_BIT(value) (1u << (value))
#define WEIR_ANY 0xffffffffu

/* Is the file a stream, of which a pass takes all? */
static inline bool weir_task_streams(enum weir_task task) { return task >= WEIR_TASK_LINES && task <= WEIR_TASK_TYPED; }
/* Do the job's bytes lie in many files? */
static inline bool weir_task_has_files(enum weir_task task) { return task == WEIR_TASK_COPY || task == WEIR_TASK_MANY; }

/*
 * A file of packed records, little-endian, after study C: a 32-bit count; then of each record two fields: a text, its length
 * before it in groups of 7 bits, lowest first, each but the last with its top bit set; and bytes, their length before them in
 * 32 bits. Handed over is each field without its length.
 */
#define WEIR_RECORDS_FORMAT "u32 count, then: varint length, text, u32 length, bytes"

/* A record of task `typed`, as it lies in the file, little-endian, without a gap. Handed over are its four fields, in order,
 * each as the bits of an unsigned 64-bit number; the int32_t ones sign-extended. */
struct weir_typed {
  int32_t number, kind;
  double value;
  int64_t time;
};

/* ---- parameters: what the programmer may pick ---------------------------------------------------------------------- */

enum weir_param_kind {
  WEIR_PARAM_SIZE,   /* bytes; written as 64KiB */
  WEIR_PARAM_COUNT,  /* a plain number */
  WEIR_PARAM_CHOICE, /* one of the words in `choices`; the value is its index */
};

/*
 * One parameter. `preset` is used when nothing is said. `sweep` lists the values that a group tries when the user names
 * none, e.g. "64KiB|256KiB|1MiB"; NULL tries `preset` alone. A parameter called `block` is the request size: where the
 * demand fixes the request size, the core sets it and does not show it as a choice.
 * `tasks`, `accesses`, `durabilities` and `targets` are WEIR_BIT masks of where the parameter has a meaning; one with
 * `targets` has it in direction write only, and 0 means no such limit.
 */
struct weir_param {
  const char *name;
  enum weir_param_kind kind;
  const char *preset;
  const char *sweep;
  const char *choices; /* WEIR_PARAM_CHOICE: "fresh|reused|huge" */
  uint64_t min, max;   /* WEIR_PARAM_SIZE and WEIR_PARAM_COUNT */
  uint32_t tasks, accesses, durabilities;
  const char *help;
  uint32_t targets;
};

/* For a parameter that has a meaning in every use: initializes those three masks. */
#define WEIR_PARAM_EVERYWHERE .tasks = WEIR_ANY, .accesses = WEIR_ANY, .durabilities = WEIR_ANY

#define WEIR_PARAMS_MAX 8

/* ---- the flow: the one seam where data passes ---------------------------------------------------------------------- */

#define WEIR_CACHE_LINE 64u

/*
 * Counts and checks the bytes that pass. One for each instance; only that instance's thread writes it while it runs.
 * `stop` is polled between operations; when it is set, run returns 0 early with what it has done so far.
 */
struct weir_flow {
  enum weir_consumer mode;
  const weir_atomic_int *stop;
  uint64_t operations; /* finished operations; of a stream: 1 at its end */
  uint64_t bytes;      /* bytes delivered or supplied */
  uint64_t sum;        /* position-keyed sum of the touched lines */
  /* modes hash and verify, and all writers that are not `none`: supplied by the core */
  void (*deliver)(struct weir_flow *flow, uint64_t offset, const void *data, size_t length);
  void (*supply)(struct weir_flow *flow, uint64_t offset, void *data, size_t length);
  /* latency per operation; both NULL when it is off */
  uint64_t (*clock)(void);
  void (*latency)(struct weir_flow *flow, uint64_t elapsed_ns);
  void *core; /* the core's own */
  /*
   * Streams: what has been handed over in which form. A pass uses one of them, and that one is checked: items (lines without
   * their end, fields of records), UTF-16 units, values, or else bytes in order by weir_deliver.
   */
  uint64_t items, units, values;
  void (*item)(struct weir_flow *flow, const void *data, size_t length); /* modes hash and verify */
  /* Open loop: operations begin at times of their own, whether those before are done or not; NULL when it is off. */
  uint64_t due_ns; /* when the next operation is to begin, by `clock` */
  uint64_t (*pace)(struct weir_flow *flow);
};

/* The weight of the cache line that starts at `position` in the position-keyed sum. */
static inline uint64_t weir_line_key(uint64_t position) {
  return (position / WEIR_CACHE_LINE + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

/*
 * Loads the first byte of each cache line of the file that lies in the piece and adds it to a sum that does not depend on
 * the order or the size of the pieces. Lines are those of the file, so the answer is the same for every block size.
 */
static inline uint64_t weir_touch(uint64_t offset, const void *data, size_t length) {
  const unsigned char *bytes = (const unsigned char *)data;
  size_t at = (size_t)((WEIR_CACHE_LINE - offset % WEIR_CACHE_LINE) % WEIR_CACHE_LINE);
  uint64_t key = weir_line_key(offset + at), sum = 0;
  for (; at < length; at += WEIR_CACHE_LINE, key += UINT64_C(0x9e3779b97f4a7c15)) sum += (bytes[at] + UINT64_C(1)) * key;
  return sum;
}

/* A reader hands over `length` bytes that the file holds at `offset`. The data need to be valid during the call only. */
static inline void weir_deliver(struct weir_flow *flow, uint64_t offset, const void *data, size_t length) {
  flow->bytes += length;
  if (flow->mode == WEIR_CONSUMER_NONE) return;
  if (flow->mode == WEIR_CONSUMER_TOUCH) {
    flow->sum += weir_touch(offset, data, length);
    return;
  }
  flow->deliver(flow, offset, data, length);
}

/*
 * A reader hands over the next line or field. A line is what stands before LF, without one CR before that; behind the last LF
 * there is a line only if there are bytes. The data need to be valid during the call only.
 */
static inline void weir_item(struct weir_flow *flow, const void *data, size_t length) {
  const uint64_t key = weir_line_key(WEIR_CACHE_LINE * flow->items++);
  flow->bytes += length;
  if (flow->mode == WEIR_CONSUMER_NONE) return;
  if (flow->mode == WEIR_CONSUMER_TOUCH) {
    const unsigned char *bytes = (const unsigned char *)data;
    uint64_t sum = length + 1;
    for (size_t at = 0; at < length; at += WEIR_CACHE_LINE) sum = sum * 257 + bytes[at];
    flow->sum += sum * key;
    return;
  }
  flow->item(flow, data, length);
}

/* A reader hands over the next UTF-16 units of the text, in the machine's byte order, without a byte order mark. What is no
 * UTF-8 in the file counts as U+FFFD, one for each longest part that could have begun a character. */
static inline void weir_units(struct weir_flow *flow, const uint16_t *units, size_t count) {
  const uint64_t offset = 2 * flow->units;
  flow->units += count;
  flow->bytes += 2 * count;
  if (flow->mode == WEIR_CONSUMER_NONE) return;
  if (flow->mode == WEIR_CONSUMER_TOUCH)
    flow->sum += weir_touch(offset, units, 2 * count);
  else
    flow->deliver(flow, offset, units, 2 * count);
}

/* A reader hands over the next value. */
static inline void weir_value(struct weir_flow *flow, uint64_t value) {
  flow->values++;
  if (flow->mode != WEIR_CONSUMER_NONE) flow->sum += value * (2 * flow->values + 1);
}

/* A writer of a stream has passed on `length` bytes of job->input; a copier has copied so many. */
static inline void weir_passed(struct weir_flow *flow, uint64_t length) { flow->bytes += length; }

/*
 * A writer asks for the `length` bytes that belong at `offset`; they are stored at `data`. In mode `none` nothing is
 * stored: `data` keeps what the host's buffer service put there.
 */
static inline void weir_supply(struct weir_flow *flow, uint64_t offset, void *data, size_t length) {
  flow->bytes += length;
  if (flow->mode != WEIR_CONSUMER_NONE) flow->supply(flow, offset, data, length);
}

static inline bool weir_stopped(const struct weir_flow *flow) {
#ifdef __cplusplus
  return flow->stop->load(std::memory_order_relaxed) != 0;
#else
  return atomic_load_explicit(flow->stop, memory_order_relaxed) != 0;
#endif
}

/*
 * Brackets around one operation, submit to data usable: begun right before it is handed to the system (writers: with the data
 * at hand), ended when the data have been delivered. One test each when latency is off. At a given rate, begin waits until the
 * operation is due and tells when that was: an operation that is kept waiting by others counts from when it should have begun.
 */
static inline uint64_t weir_operation_begin(struct weir_flow *flow) {
  if (!flow->clock) return 0;
  return flow->pace ? flow->pace(flow) : flow->clock();
}
/* Would begin return at once? For those that have other requests to look after meanwhile. */
static inline bool weir_operation_due(const struct weir_flow *flow) { return !flow->pace || flow->due_ns <= flow->clock(); }
static inline bool weir_is_paced(const struct weir_flow *flow) { return flow->pace != NULL; }
static inline void weir_operation_end(struct weir_flow *flow, uint64_t began_ns) {
  flow->operations++;
  if (flow->clock) flow->latency(flow, flow->clock() - began_ns);
}

/* ---- the job: what one instance has to do -------------------------------------------------------------------------- */

struct weir_job;

/* Why something cannot be done or went wrong here, and what would help. Text is cut to fit, never allocated. */
struct weir_reason {
  char text[192];
  char remedy[160];
};

/* How memory for data is got. */
enum weir_buffer_policy {
  WEIR_BUFFER_FRESH,  /* new memory, not yet touched: its page faults happen where it is first used */
  WEIR_BUFFER_REUSED, /* touched before the clock starts */
  WEIR_BUFFER_HUGE,   /* new memory in huge pages where the system grants them, not yet touched */
};

/* Services of the core. All may be called from any instance's thread. */
struct weir_host {
  uint32_t abi, struct_size;
  /*
   * `length` bytes of page-aligned memory, at least `alignment`-aligned. Writers' buffers of policy REUSED come filled
   * with incompressible bytes. 0, or -ENOMEM. The caller gives it back with the same length.
   */
  int (*buffer_get)(const struct weir_job *job, size_t length, size_t alignment, enum weir_buffer_policy policy, void **out);
  void (*buffer_put)(const struct weir_job *job, void *buffer, size_t length);
  /* Keeps a printf-style text for the report; returns `code` so that `return job->host->fail(...)` reads well. */
  int (*fail)(const struct weir_job *job, int code, const char *format, ...)
#if defined(__GNUC__)
      __attribute__((format(printf, 3, 4)))
#endif
      ;
  /*
   * For contenders that are whole programs with a clock of their own (fio): the run phase of this instance took `run_ns`
   * and `cpu_ns`, as the program itself says, in place of what was seen from outside. Called in run, at most once a pass.
   * The sample is flagged "self-timed".
   */
  void (*claim_time)(const struct weir_job *job, uint64_t run_ns, uint64_t cpu_ns);
};

/* What writers of streams are given, ready in memory before the clock starts; never changed. */
struct weir_span {
  const char *data;
  size_t size;
};
struct weir_input {
  const char *data; /* the file that is wanted, byte for byte */
  size_t size;
  const struct weir_span *items; /* lines with their LF (all of `data`, in order), or fields of records without lengths */
  size_t item_count;
  const uint16_t *units; /* text: the same in UTF-16 */
  size_t unit_count;
  const struct weir_typed *typed; /* typed: the same as structs */
  size_t typed_count;
};

struct weir_job {
  uint32_t abi, struct_size;
  enum weir_task task;
  enum weir_direction direction;
  enum weir_access access;
  enum weir_durability durability;
  enum weir_target target;
  enum weir_consumer consumer;
  const char *path;         /* the file, literal */
  const char *directory;    /* its directory */
  uint64_t file_size;       /* bytes of the region that the job works on, counted from `file_offset` 0 of the file */
  uint64_t part_offset;     /* this instance's partition, in bytes of the file */
  uint64_t part_length;
  unsigned instance;        /* 0 ... instances - 1; instance 0 opens first and is the one that creates or truncates */
  unsigned instances;
  const uint64_t *params;   /* one value for each entry of the method's `params`, in that order */
  /* The order of requests inside the partition; see weir_order_offset. */
  uint64_t block;           /* request size in bytes */
  uint64_t blocks;          /* requests that cover the partition: ceil(part_length / block) */
  uint64_t operations;      /* requests of one pass: `blocks`, or fewer when random access covers a part only */
  uint64_t order_mask;      /* random: 2^n - 1 >= blocks - 1 */
  uint64_t order_key[3];    /* random: seeds; each is odd */
  unsigned order_shift;     /* random: about half of n */
  const struct weir_host *host;
  struct weir_reason *reason; /* where host->fail and probe put their words */
  /* direction mixed: the coin of weir_order_writes */
  uint64_t write_share;     /* of 2^32 */
  uint64_t write_key;
  const void *data;         /* weir_method.data */
  const struct weir_input *input; /* writers of streams; NULL for all others */
  const char *copy_directory;     /* task copy: where copies go; empty when a pass begins; NULL for all others */
};

/*
 * Tasks `copy` and `many`: the file that holds the bytes at `offset` (of weir_order_offset), weir_order_length of them: in
 * the directory job->path, and its copy. `out` needs room for the directory's name and WEIR_MANY_NAME more.
 */
#define WEIR_MANY_NAME 24
static inline char *weir_name_at(char *out, const char *directory, uint64_t number) {
  char *end = out;
  while (*directory) *end++ = *directory++;
  *end++ = '/';
  for (unsigned digit = 0; digit < 8; digit++, number /= 10) end[7 - digit] = (char)('0' + number % 10);
  end[8] = '\0';
  return out;
}
static inline char *weir_many_path(const struct weir_job *job, uint64_t offset, char *out) {
  return weir_name_at(out, job->path, offset / job->block);
}
static inline char *weir_copy_path(const struct weir_job *job, uint64_t offset, char *out) {
  return weir_name_at(out, job->copy_directory, offset / job->block);
}

/*
 * The file offset of operation `index` (0 ... operations - 1). Sequential: one after the other. Random: a seeded
 * permutation of the blocks, so that no block comes twice and a prefix of it is a random subset. Three rounds of odd
 * multiplication and xor-shift permute [0, 2^n); values past the end are walked on (fewer than two steps on average).
 */
static inline uint64_t weir_order_offset(const struct weir_job *job, uint64_t index) {
  if (job->access == WEIR_RANDOM) {
    do {
      for (int round = 0; round < 3; round++) {
        index = (index * job->order_key[round] + (job->order_key[round] >> 32)) & job->order_mask;
        index ^= index >> job->order_shift;
      }
    } while (index >= job->blocks);
  }
  return job->part_offset + index * job->block;
}

/* Bytes of the request at `offset`: `block`, or what is left of the partition. */
static inline size_t weir_order_length(const struct weir_job *job, uint64_t offset) {
  uint64_t left = job->part_offset + job->part_length - offset;
  return (size_t)(left < job->block ? left : job->block);
}

/*
 * Direction mixed: is the request at `offset` a write? Decided by a hash of the block's number, so it does not depend on the
 * order, and the same blocks are written in every pass.
 */
static inline bool weir_order_writes(const struct weir_job *job, uint64_t offset) {
  uint64_t hash = (offset / job->block + job->write_key) * UINT64_C(0x9e3779b97f4a7c15);
  hash ^= hash >> 32;
  hash *= UINT64_C(0xd6e8feb86659fd93);
  return hash >> 32 < job->write_share;
}

/* ---- the method ---------------------------------------------------------------------------------------------------- */

enum weir_capability {
  WEIR_CAP_FLOOR = 1u << 0,   /* moves no data: not checked, not ranked (null) */
  WEIR_CAP_VIEW = 1u << 1,    /* delivers without a copy: bounded by the scan floor, not by the copy floor */
  WEIR_CAP_DIRECT = 1u << 2,  /* passes the page cache by */
  WEIR_CAP_DEPTH = 1u << 3,   /* keeps several requests in flight */
  WEIR_CAP_VARIANT = 1u << 5, /* close kin of another method: takes part when a name or pattern says so, not by itself */
  WEIR_CAP_OUTSIDE = 1u << 4, /* a program of its own moves the bytes: they do not pass here and cannot be checked; ranked */
  WEIR_CAP_PROGRAM = 1u << 6, /* starts programs and waits for them: what they take counts; checked like all others */
  WEIR_CAP_PACED = 1u << 7,   /* task blocks: weir_operation_begin stands before every request: it can be given a rate */
};

struct weir_method {
  uint32_t abi, struct_size;
  const char *name;    /* family/variant */
  const char *summary; /* one line for `weir list methods` */
  const char *calls;   /* the calls and flags that move the data, e.g. "pread(2) in a loop" */
  uint32_t tasks, directions, accesses, durabilities; /* WEIR_BIT masks */
  uint32_t capabilities;
  const struct weir_param *params;
  size_t param_count; /* at most WEIR_PARAMS_MAX */
  size_t state_size;
  /* Can this run here? 0, or a negative errno value with reason and remedy filled in. May open job->path. NULL: always. */
  int (*probe)(const struct weir_job *job, struct weir_reason *reason);
  int (*setup)(void *state, const struct weir_job *job);
  int (*open)(void *state, const struct weir_job *job);
  /* Does the first `budget` operations of the seeded order, fewer if the flow is stopped; counts in `flow`. */
  int (*run)(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget);
  int (*sync)(void *state, const struct weir_job *job); /* called when durability is `end`; NULL where never needed */
  int (*close)(void *state, const struct weir_job *job);
  void (*teardown)(void *state, const struct weir_job *job);
  const void *data; /* the method's own; it comes back as job->data, so that several entries can share their functions */
};

static inline bool weir_is_first(const struct weir_job *job) { return job->instance == 0; }

/* A plugin exports this: a NULL-terminated list of its methods, or NULL if it cannot serve this ABI. */
#define WEIR_PLUGIN_ENTRY weir_plugin_methods
typedef const struct weir_method *const *weir_plugin_entry(uint32_t abi);

#ifdef __cplusplus
}
#endif

#endif
