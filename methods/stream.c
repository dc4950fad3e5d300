/*
 * stream.c - the C++ streams as contenders: what they are asked to do, and in which order. They themselves are in
 * stream.cpp.
 *
 * The file is opened by os.h first, so that creation and truncation follow the demand, and a second time by the stream,
 * which cannot be given a descriptor. The library's own calls go past os.h.
 */
#include "stream.h"

#include <errno.h>
#include <stdio.h>

#include "feed.h"
#include "landing.h"
#include "methods.h"
#include "target.h"

enum { PARAM_BLOCK, PARAM_BUFFER, PARAM_ROOM, PARAM_EXTEND };
enum { CIN_SYNC = 2 };
enum { LINES_ROOM, LINES_EXTEND };
enum { GETLINE_FROM, GETLINE_SYNC, GETLINE_ROOM };
enum { FROM_IFSTREAM, FROM_CIN };

struct stream_state {
  struct landing landing;
  struct stream_wish wish;
  struct stream *stream;
  os_file file;
  enum target_extend extend; /* of writers */
};

/* ---- life ---------------------------------------------------------------------------------------------------------- */

static int probe_stream(const struct weir_job *job, uint64_t extend, struct weir_reason *reason) {
  if (!stream_built_in())
    return target_unfit(reason, -ENOSYS, "built without a C++ compiler", "install g++ and build again");
  return job->direction == WEIR_WRITE ? target_probe_extend(job, (enum target_extend)extend, reason) : 0;
}

static int probe(const struct weir_job *job, struct weir_reason *reason) {
  return probe_stream(job, job->direction == WEIR_WRITE ? job->params[PARAM_EXTEND] : 0, reason);
}

static int probe_lines(const struct weir_job *job, struct weir_reason *reason) {
  return probe_stream(job, job->params[LINES_EXTEND], reason);
}

static int probe_cin(const struct weir_job *job, struct weir_reason *reason) {
  if (job->instances > 1)
    return target_unfit(reason, -EBUSY, "a process has one standard input", "use one thread, or stream/ifstream");
  return probe(job, reason);
}

static int probe_getline(const struct weir_job *job, struct weir_reason *reason) {
  const int error = feed_probe(job, reason);
  return error ? error : probe_stream(job, 0, reason);
}

static int setup_with(struct stream_state *s, const struct weir_job *job, enum stream_kind kind) {
  s->wish = (struct stream_wish){.kind = kind, .path = job->path, .writes = job->direction == WEIR_WRITE};
  return landing_setup(&s->landing, job,
                       &(struct landing_wish){.policy = (enum weir_buffer_policy)job->params[PARAM_BUFFER]});
}

static int get_room(struct stream_state *s, const struct weir_job *job, size_t size) {
  void *room = NULL;
  if (size == 0) return 0;
  int error = job->host->buffer_get(job, size, 1, WEIR_BUFFER_REUSED, &room);
  if (error) return job->host->fail(job, error, "no memory for a stream buffer of %zu bytes", size);
  s->wish.buffer = room;
  s->wish.buffer_size = size;
  return 0;
}

static int setup_file(struct stream_state *s, const struct weir_job *job, enum stream_kind kind) {
  if (job->direction == WEIR_WRITE) s->extend = (enum target_extend)job->params[PARAM_EXTEND];
  int error = setup_with(s, job, kind);
  return error ? error : get_room(s, job, (size_t)job->params[PARAM_ROOM]);
}

static int setup_fstream(void *state, const struct weir_job *job) { return setup_file(state, job, STREAM_FSTREAM); }
static int setup_lines(void *state, const struct weir_job *job) {
  struct stream_state *s = state; /* without a landing: lines lie ready */
  s->extend = (enum target_extend)job->params[LINES_EXTEND];
  s->wish = (struct stream_wish){.kind = STREAM_FSTREAM, .path = job->path, .writes = true};
  return get_room(s, job, (size_t)job->params[LINES_ROOM]);
}
/* Lines need no landing either: the stream gives each in memory of its own. */
static int setup_getline(void *state, const struct weir_job *job) {
  struct stream_state *s = state;
  const bool standard = job->params[GETLINE_FROM] == FROM_CIN;
  s->wish = (struct stream_wish){.kind = standard ? STREAM_CIN : STREAM_FSTREAM,
                                 .path = job->path,
                                 .sets_sync = true,
                                 .synced = job->params[GETLINE_SYNC] == 0};
  return standard ? 0 : get_room(s, job, (size_t)job->params[GETLINE_ROOM]);
}
static int setup_filebuf(void *state, const struct weir_job *job) { return setup_file(state, job, STREAM_FILEBUF); }
static int setup_cin(void *state, const struct weir_job *job) {
  struct stream_state *s = state;
  int error = setup_with(s, job, STREAM_CIN);
  s->wish.synced = job->params[CIN_SYNC] == 0;
  return error;
}

static int open_file(struct stream_state *s, const struct weir_job *job) {
  if (!s->wish.writes) return target_open(job, 0, &s->file);
  const bool empty = job->target == WEIR_TARGET_NEW || job->target == WEIR_TARGET_TRUNCATE;
  s->wish.appends = empty && s->extend == TARGET_APPEND;
  return target_open_extending(job, 0, s->extend, &s->file);
}

static int seek_to(const struct stream_state *s, const struct weir_job *job, uint64_t offset) {
  int error = stream_seek(s->stream, offset);
  return error ? target_failed(job, "seeking to", offset, 0, error) : 0;
}

static int open_stream(struct stream_state *s, const struct weir_job *job) {
  s->wish.descriptor = (int)s->file;
  int error = stream_open(&s->wish, &s->stream);
  if (error) return target_refused(job, "opening a stream", error);
  if (job->access == WEIR_SEQUENTIAL && job->part_offset > 0) error = seek_to(s, job, job->part_offset);
  if (!error) error = landing_open(&s->landing, job);
  if (error) (void)stream_close(s->stream);
  return error;
}

static int open_both(void *state, const struct weir_job *job) {
  struct stream_state *s = state;
  int error = open_file(s, job);
  if (error) return error;
  error = open_stream(s, job);
  if (error) (void)os_close(s->file);
  return error;
}

static int close_both(void *state, const struct weir_job *job) {
  struct stream_state *s = state;
  landing_close(&s->landing, job);
  const int error = stream_close(s->stream), closed = target_close(job, s->file);
  return error ? target_refused(job, "closing the stream", error) : closed;
}

static void teardown(void *state, const struct weir_job *job) {
  struct stream_state *s = state;
  if (s->wish.buffer) job->host->buffer_put(job, s->wish.buffer, s->wish.buffer_size);
  landing_teardown(&s->landing, job);
}

static int sync_both(void *state, const struct weir_job *job) {
  const struct stream_state *s = state;
  int error = stream_flush(s->stream);
  return error ? target_refused(job, "emptying the stream's buffer", error) : target_sync(job, s->file);
}

/* ---- moving -------------------------------------------------------------------------------------------------------- */

static int read_piece(const struct stream_state *s, const struct weir_job *job, struct landing_piece piece) {
  const int64_t count = stream_read(s->stream, piece.data, piece.length);
  if (count == (int64_t)piece.length) return 0;
  if (count < 0) return target_failed(job, "reading", piece.offset, piece.length, (int)count);
  return target_ended(job, piece.offset + (uint64_t)count);
}

static int run_read(const struct stream_state *s, const struct weir_job *job, struct weir_flow *flow, uint64_t count) {
  const bool seek_each = job->access == WEIR_RANDOM;
  uint64_t done = 0;
  for (; done < count && !weir_stopped(flow); done++) {
    const uint64_t began = weir_operation_begin(flow);
    const struct landing_piece piece = landing_piece(&s->landing, job, done, 0);
    int error = seek_each ? seek_to(s, job, piece.offset) : 0;
    if (!error) error = read_piece(s, job, piece);
    if (error) return error;
    landing_deliver(&s->landing, flow, piece);
    weir_operation_end(flow, began);
  }
  landing_deliver_rest(&s->landing, job, flow, done);
  return 0;
}

static int write_piece(const struct stream_state *s, const struct weir_job *job, struct landing_piece piece) {
  int error = stream_write(s->stream, piece.data, piece.length);
  if (error) return target_failed(job, "writing", piece.offset, piece.length, error);
  if (job->durability != WEIR_DURABILITY_EACH) return 0;
  error = stream_flush(s->stream);
  if (!error) error = os_sync(s->file, false);
  return error ? target_failed(job, "flushing", piece.offset, piece.length, error) : 0;
}

static int run_write(const struct stream_state *s, const struct weir_job *job, struct weir_flow *flow, uint64_t count) {
  const bool seek_each = job->access == WEIR_RANDOM;
  uint64_t done = 0;
  landing_supply_all(&s->landing, job, flow, count);
  for (; done < count && !weir_stopped(flow); done++) {
    const struct landing_piece piece = landing_piece(&s->landing, job, done, 0);
    landing_supply(&s->landing, flow, piece);
    const uint64_t began = weir_operation_begin(flow);
    int error = seek_each ? seek_to(s, job, piece.offset) : 0;
    if (!error) error = write_piece(s, job, piece);
    if (error) return error;
    weir_operation_end(flow, began);
  }
  landing_settle(&s->landing, job, flow, count, done);
  return 0;
}

/* Takes one CR off a line that had an LF behind it. */
static size_t text_of(const char *line, size_t length, bool ended) {
  return ended && length > 0 && line[length - 1] == '\r' ? length - 1 : length;
}

static int run_getline(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  const struct stream_state *s = state;
  const uint64_t began = weir_operation_begin(flow);
  uint64_t at = 0;
  if (budget == 0) return 0;
  while (!weir_stopped(flow)) {
    const char *line;
    size_t length;
    bool ended;
    const int more = stream_line(s->stream, &line, &length, &ended);
    if (more < 0) return target_failed(job, "reading", at, job->part_length - at, more);
    if (more == 0) {
      const int error = feed_end(&(struct feed){.job = job, .at = at});
      if (!error) weir_operation_end(flow, began);
      return error;
    }
    at += length + ended;
    weir_item(flow, line, text_of(line, length, ended));
  }
  return 0;
}

/* Lines between two looks at the flow's stop. */
#define BATCH 256u

/* They lie one behind the other. */
static uint64_t bytes_of(const struct weir_span *lines, size_t count) {
  return (uint64_t)(lines[count - 1].data - lines->data) + lines[count - 1].size;
}

static int run_lines(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  const struct stream_state *s = state;
  const size_t count = job->input->item_count;
  if (budget == 0) return 0;
  for (size_t from = 0; from < count; from += BATCH) {
    const struct weir_span *lines = job->input->items + from;
    const size_t some = count - from < BATCH ? count - from : BATCH;
    if (weir_stopped(flow)) return 0;
    int error = stream_write_each(s->stream, lines, some);
    if (error) return target_failed(job, "writing", flow->bytes, bytes_of(lines, some), error);
    weir_passed(flow, bytes_of(lines, some));
  }
  int error = stream_flush(s->stream);
  if (error) return target_refused(job, "emptying the stream's buffer", error);
  flow->operations++;
  return 0;
}

static int run(void *state, const struct weir_job *job, struct weir_flow *flow, uint64_t budget) {
  const struct stream_state *s = state;
  const uint64_t count = landing_count(job, budget);
  return s->wish.writes ? run_write(s, job, flow, count) : run_read(s, job, flow, count);
}

/* ---- entries ------------------------------------------------------------------------------------------------------- */

#define PARAM_STREAMBUF                                                                                 \
  {                                                                                                     \
    .name = "streambuf", .kind = WEIR_PARAM_SIZE, .preset = "8KiB", .min = 0, .max = LANDING_BLOCK_MAX, \
    WEIR_PARAM_EVERYWHERE, .help = "the stream's buffer; 0 is unbuffered, 8KiB what libstdc++ takes"    \
  }
static const struct weir_param file_params[] = {[PARAM_BLOCK] = LANDING_PARAM_BLOCK(NULL),
                                                [PARAM_BUFFER] = LANDING_PARAM_BUFFER(NULL),
                                                [PARAM_ROOM] = PARAM_STREAMBUF,
                                                [PARAM_EXTEND] = METHODS_PARAM_EXTEND(METHODS_EXTEND_IN_ORDER)};
static const struct weir_param lines_params[] = {
    [LINES_ROOM] = PARAM_STREAMBUF, [LINES_EXTEND] = METHODS_PARAM_EXTEND(METHODS_EXTEND_IN_ORDER)};
#define PARAM_SYNC(usual)                                                                                     \
  {                                                                                                           \
    .name = "sync", .kind = WEIR_PARAM_CHOICE, .preset = (usual), .choices = "yes|no", WEIR_PARAM_EVERYWHERE, \
    .help = "does it keep step with stdin (std::ios::sync_with_stdio)"                                        \
  }
static const struct weir_param getline_params[] = {
    [GETLINE_FROM] = {.name = "from",
                      .kind = WEIR_PARAM_CHOICE,
                      .preset = "ifstream",
                      .choices = "ifstream|cin",
                      WEIR_PARAM_EVERYWHERE,
                      .help = "which stream: of the file, or standard input, redirected to it"},
    [GETLINE_SYNC] = PARAM_SYNC("no"),
    [GETLINE_ROOM] = PARAM_STREAMBUF};
static const struct weir_param cin_params[] = {
    [PARAM_BLOCK] = LANDING_PARAM_BLOCK(NULL), [PARAM_BUFFER] = LANDING_PARAM_BUFFER(NULL), [CIN_SYNC] = PARAM_SYNC("no")};

#define STREAM_METHOD                                                                                                     \
  METHODS_ABI, .tasks = METHODS_BOTH_TASKS, .accesses = METHODS_BOTH_ACCESSES, .state_size = sizeof(struct stream_state), \
               .open = open_both, .run = run, .close = close_both, .teardown = teardown
#define STREAM_FILE STREAM_METHOD, .params = file_params, .probe = probe

const struct weir_method methods_stream_ifstream = {STREAM_FILE,
                                                    METHODS_READS,
                                                    .name = "stream/ifstream",
                                                    .summary = "C++ input file stream",
                                                    .calls = "std::ifstream read; seekg before each random one",
                                                    .param_count = PARAM_EXTEND,
                                                    .setup = setup_fstream};

const struct weir_method methods_stream_ofstream = {
    STREAM_FILE,
    METHODS_WRITES,
    .name = "stream/ofstream",
    .summary = "C++ output file stream",
    .calls = "std::ofstream write; seekp before each random one; flush, fdatasync(2)",
    .param_count = METHODS_COUNT(file_params),
    .setup = setup_fstream,
    .sync = sync_both};

const struct weir_method methods_stream_getline = {
    METHODS_ABI,
    METHODS_READS,
    .name = "stream/getline",
    .summary = "line by line out of a C++ input stream",
    .calls = "std::getline from std::ifstream, or from std::cin after dup2(2)",
    .tasks = WEIR_BIT(WEIR_TASK_LINES) | WEIR_BIT(WEIR_TASK_TEXT),
    .accesses = WEIR_BIT(WEIR_SEQUENTIAL),
    .params = getline_params,
    .param_count = METHODS_COUNT(getline_params),
    .state_size = sizeof(struct stream_state),
    .probe = probe_getline,
    .setup = setup_getline,
    .open = open_both,
    .run = run_getline,
    .close = close_both,
    .teardown = teardown};

/* A stream opens its file itself and not so that each write is durable. */
const struct weir_method methods_stream_lines = {
    METHODS_ABI,
    .directions = WEIR_BIT(WEIR_WRITE),
    .durabilities = WEIR_BIT(WEIR_DURABILITY_NONE) | WEIR_BIT(WEIR_DURABILITY_END),
    .name = "stream/write-lines",
    .summary = "line by line into a C++ output file stream",
    .calls = "std::ofstream write; flush, fdatasync(2)",
    .tasks = WEIR_BIT(WEIR_TASK_LINES) | WEIR_BIT(WEIR_TASK_TEXT),
    .accesses = WEIR_BIT(WEIR_SEQUENTIAL),
    .params = lines_params,
    .param_count = METHODS_COUNT(lines_params),
    .state_size = sizeof(struct stream_state),
    .probe = probe_lines,
    .setup = setup_lines,
    .open = open_both,
    .run = run_lines,
    .sync = sync_both,
    .close = close_both,
    .teardown = teardown};

const struct weir_method methods_stream_filebuf = {
    STREAM_FILE,
    .directions = WEIR_BIT(WEIR_READ) | WEIR_BIT(WEIR_WRITE),
    .durabilities = METHODS_ALL_DURABILITIES,
    .name = "stream/filebuf",
    .summary = "the buffer beneath C++ file streams, without their upper layer",
    .calls = "std::filebuf sgetn, sputn; pubseekpos before each random one; pubsync, fdatasync(2)",
    .capabilities = WEIR_CAP_VARIANT,
    .param_count = METHODS_COUNT(file_params),
    .setup = setup_filebuf,
    .sync = sync_both};

const struct weir_method methods_stream_cin = {STREAM_METHOD,
                                               METHODS_READS,
                                               .name = "stream/cin",
                                               .summary = "C++ standard input, redirected to the file",
                                               .calls = "dup2(2), std::cin read; seekg before each random one",
                                               .capabilities = WEIR_CAP_VARIANT,
                                               .params = cin_params,
                                               .param_count = METHODS_COUNT(cin_params),
                                               .probe = probe_cin,
                                               .setup = setup_cin};
