/*
 * test_lib_queue.c - the queue, by ring and by threads: every byte and every request exactly once at every depth, short and
 * put-off transfers, failures at every position, what is refused, systems without rings, threads or locked memory, forks.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/lib/inject.h"
#include "weir.h"

#ifdef OS_HAS_LIBURING
#include <liburing.h>
#endif

#define BLOCK ((size_t)4096)
#define BLOCKS ((size_t)70)
#define TAIL ((size_t)100)
#define FILE_BYTES (BLOCKS * BLOCK + TAIL)
#define DEPTH_MOST 64u

static const enum weir_strategy ways[] = {WEIR_RING, WEIR_THREADS};

static unsigned char byte_at(uint64_t offset) { return (unsigned char)((offset * 2654435761u) >> 13 ^ offset); }

static void fill(unsigned char *data, size_t size, uint64_t offset) {
  for (size_t i = 0; i < size; i++) data[i] = byte_at(offset + i);
}

static void assert_holds(const unsigned char *data, size_t size, uint64_t offset) {
  for (size_t i = 0; i < size; i++)
    if (data[i] != byte_at(offset + i)) fail_msg("byte %zu of the request at %llu", i, (unsigned long long)offset);
}

static struct path make_input(const char *scratch) {
  const struct path path = path_in(scratch, "input");
  unsigned char *data = malloc(FILE_BYTES);
  assert_non_null(data);
  fill(data, FILE_BYTES, 0);
  put_content(path.text, data, FILE_BYTES);
  free(data);
  return path;
}

static struct weir_file *open_file(const char *path, enum weir_access_mode access, enum weir_strategy strategy) {
  struct weir_file *file = NULL;
  const struct weir_open_options options = {.access = access, .strategy = strategy};
  return weir_file_open(path, &options, &file, NULL) < 0 ? NULL : file;
}

static bool no_ring(void) {
  char why[128] = "";
  const int error = os_ring_probe(why, sizeof why, NULL, 0);
  if (error) printf("[  SKIPPED ] by ring: %s\n", why);
  return error != 0;
}

static struct weir_queue *open_queue(struct weir_queue_options options) {
  struct weir_queue *queue = NULL;
  struct weir_error error = {0};
  if (weir_queue_open(&options, &queue, &error) < 0) fail_msg("%s", weir_strerror(error.code));
  return queue;
}

/* A page of its own behind the memory may not be touched. */
static unsigned char *guarded(size_t size) {
  const size_t whole = (size + BLOCK - 1) / BLOCK * BLOCK;
  unsigned char *memory = mmap(NULL, whole + BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(memory, MAP_FAILED);
  assert_int_equal(mprotect(memory + whole, BLOCK, PROT_NONE), 0);
  return memory + whole - size;
}
static void release_guarded(unsigned char *memory, size_t size) {
  const size_t whole = (size + BLOCK - 1) / BLOCK * BLOCK;
  assert_int_equal(munmap(memory - (whole - size), whole + BLOCK), 0);
}

/* ---- every byte, every request once ---- */

struct flight {
  struct weir_queue *queue;
  struct weir_file *file;
  struct weir_request requests[DEPTH_MOST];
  struct weir_request *idle[DEPTH_MOST];
  unsigned char *memory;
  size_t idle_count, next, back;
  bool seen[BLOCKS + 1];
};

static void take_in(struct flight *f, struct weir_request *request) {
  const size_t block = (size_t)(request->offset / BLOCK);
  const size_t wanted = block < BLOCKS ? BLOCK : TAIL;
  assert_false(f->seen[block]);
  f->seen[block] = true;
  assert_int_equal(request->status, 0);
  assert_int_equal(request->transferred, wanted);
  assert_ptr_equal(request->user, &f->seen[block]);
  if (request->operation == WEIR_OP_READ) assert_holds(request->data, wanted, request->offset);
  f->idle[f->idle_count++] = request;
  f->back++;
}

static struct weir_request *next_request(struct flight *f, enum weir_operation operation) {
  struct weir_request *request = f->idle[--f->idle_count];
  const size_t block = (f->next++ * 37) % (BLOCKS + 1); /* 37 and 71 have no common factor: all, in no order */
  request->operation = operation;
  request->file = f->file;
  request->size = operation == WEIR_OP_WRITE && block == BLOCKS ? TAIL : BLOCK;
  request->offset = block * BLOCK;
  request->data = f->memory + (size_t)(request - f->requests) * BLOCK;
  request->user = &f->seen[block];
  if (operation == WEIR_OP_WRITE) fill(request->data, request->size, request->offset);
  return request;
}

/* The whole file by requests of a block each, in batches. */
static void fly(struct weir_queue *queue, struct weir_file *file, enum weir_operation operation, unsigned depth,
                unsigned char *memory) {
  static struct flight f;
  f = (struct flight){.queue = queue, .file = file, .memory = memory};
  for (unsigned i = 0; i < depth; i++) f.idle[f.idle_count++] = &f.requests[i];
  while (f.back < BLOCKS + 1) {
    struct weir_request *batch[DEPTH_MOST], *done[DEPTH_MOST];
    size_t count = 0, taken = 99;
    while (f.idle_count && f.next < BLOCKS + 1 && count < 1 + f.next % 7) batch[count++] = next_request(&f, operation);
    assert_int_equal(weir_queue_submit(queue, batch, count, &taken), 0);
    assert_int_equal(taken, count);
    assert_true(weir_queue_pending(queue) <= depth);
    const bool must = f.idle_count == 0 || f.next == BLOCKS + 1;
    const int got = weir_queue_wait(queue, done, 1 + f.back % depth, must ? 1 + f.back % 3 : 0);
    assert_true(got >= (must ? 1 : 0) && (size_t)got <= 1 + f.back % depth);
    for (int i = 0; i < got; i++) take_in(&f, done[i]);
  }
  assert_int_equal(weir_queue_pending(queue), 0);
}

static void every_byte_comes_once_at_every_depth(void **state) {
  const struct path path = make_input(*state);
  struct weir_file *file = open_file(path.text, WEIR_OPEN_READ, WEIR_AUTO);
  unsigned char *memory = guarded(DEPTH_MOST * BLOCK);
  for (unsigned way = 0; way < 2; way++) {
    if (ways[way] == WEIR_RING && no_ring()) continue;
    for (unsigned depth = 1; depth <= DEPTH_MOST; depth += depth < 9 ? 1 : 11) {
      const bool registers = depth % 2;
      const size_t part = (depth + 1) / 2 * BLOCK - 100; /* one request lies across its end */
      struct weir_queue *queue = open_queue((struct weir_queue_options){.depth = depth,
                                                                        .strategy = ways[way],
                                                                        .buffers = registers ? memory : NULL,
                                                                        .buffers_bytes = registers ? part : 0,
                                                                        .file = registers ? file : NULL});
      struct weir_choice how;
      weir_queue_how(queue, &how);
      assert_int_equal(how.strategy, ways[way]);
      assert_int_equal(how.depth, depth);
      assert_int_equal(how.threads, ways[way] == WEIR_RING ? 0 : depth);
      memset(memory, 0, DEPTH_MOST * BLOCK);
      fly(queue, file, WEIR_OP_READ, depth, memory);
      weir_queue_close(queue);
    }
  }
  release_guarded(memory, DEPTH_MOST * BLOCK);
  assert_int_equal(weir_file_close(file, NULL), 0);
}

static void assert_file_holds(const char *path) {
  unsigned char *data = malloc(FILE_BYTES + 1);
  assert_non_null(data);
  assert_int_equal(get_content(path, data, FILE_BYTES + 1), FILE_BYTES);
  assert_holds(data, FILE_BYTES, 0);
  free(data);
}

static void run_sync(struct weir_queue *queue, struct weir_file *file, int expected) {
  struct weir_request request = {.operation = WEIR_OP_SYNC, .file = file}, *one = &request, *done = NULL;
  assert_int_equal(weir_queue_submit(queue, &one, 1, NULL), 0);
  assert_int_equal(weir_queue_wait(queue, &done, 1, 1), 1);
  assert_ptr_equal(done, one);
  assert_int_equal(request.status, expected);
  assert_int_equal(request.transferred, 0);
}

static void written_bytes_are_all_there(void **state) {
  const struct path path = path_in(*state, "output");
  unsigned char *memory = guarded(DEPTH_MOST * BLOCK);
  for (unsigned way = 0; way < 2; way++) {
    if (ways[way] == WEIR_RING && no_ring()) continue;
    for (unsigned depth = 1; depth <= DEPTH_MOST; depth *= 4) {
      struct weir_file *file = open_file(path.text, WEIR_OPEN_WRITE, WEIR_AUTO);
      struct weir_queue *queue = open_queue((struct weir_queue_options){
          .depth = depth, .strategy = ways[way], .file = file, .buffers = memory, .buffers_bytes = DEPTH_MOST * BLOCK});
      fly(queue, file, WEIR_OP_WRITE, depth, memory);
      run_sync(queue, file, 0);
      weir_queue_close(queue);
      assert_int_equal(weir_file_close(file, NULL), 0);
      assert_file_holds(path.text);
    }
  }
  release_guarded(memory, DEPTH_MOST * BLOCK);
}

static void direct_files_to_their_last_byte(void **state) {
  const struct path path = make_input(*state);
  struct weir_file *file = open_file(path.text, WEIR_OPEN_READ, WEIR_DIRECT);
  if (!file) skip_because("no direct access here");
  unsigned char *memory = guarded(DEPTH_MOST * BLOCK);
  for (unsigned way = 0; way < 2; way++) {
    if (ways[way] == WEIR_RING && no_ring()) continue;
    struct weir_queue *queue = open_queue((struct weir_queue_options){
        .depth = 32, .strategy = ways[way], .file = file, .buffers = memory, .buffers_bytes = 32 * BLOCK});
    struct weir_choice how;
    weir_queue_how(queue, &how);
    assert_true(how.direct);
    fly(queue, file, WEIR_OP_READ, 32, memory);
    struct weir_request odd[] = {{.file = file, .data = memory, .size = BLOCK},
                                 {.file = file, .data = memory + 1, .size = BLOCK},
                                 {.file = file, .data = memory, .size = BLOCK}};
    struct weir_request *all[] = {&odd[0], &odd[1], &odd[2]}, *done[3];
    size_t taken = 9;
    assert_int_equal(weir_queue_submit(queue, all, 3, &taken), WEIR_EINVAL);
    assert_int_equal(taken, 1);
    odd[1].data = memory;
    odd[1].size = BLOCK - 1;
    assert_int_equal(weir_queue_submit(queue, all + 1, 1, &taken), WEIR_EINVAL);
    odd[1].size = BLOCK;
    odd[1].offset = 1;
    assert_int_equal(weir_queue_submit(queue, all + 1, 1, &taken), WEIR_EINVAL);
    assert_int_equal(weir_queue_wait(queue, done, 3, 3), 1);
    assert_ptr_equal(done[0], &odd[0]);
    weir_queue_close(queue);
  }
  release_guarded(memory, DEPTH_MOST * BLOCK);
  assert_int_equal(weir_file_close(file, NULL), 0);
}

/* ---- what is refused, and what is done at once ---- */

static int submit_one(struct weir_queue *queue, struct weir_request *request) {
  size_t taken = 7;
  const int code = weir_queue_submit(queue, &request, 1, &taken);
  assert_int_equal(taken, code == 0);
  return code;
}

static void requests_that_cannot_be_right_are_refused(void **state) {
  const struct path path = make_input(*state), out = path_in(*state, "appended");
  struct weir_file *file = open_file(path.text, WEIR_OPEN_READ, WEIR_AUTO);
  struct weir_file *append = open_file(out.text, WEIR_OPEN_APPEND, WEIR_AUTO), *pipe_file = NULL;
  int ends[2];
  char byte;
  assert_int_equal(pipe(ends), 0);
  assert_int_equal(weir_file_from(ends[0], WEIR_OPEN_READ, &pipe_file, NULL), 0);
  for (unsigned way = 0; way < 2; way++) {
    if (ways[way] == WEIR_RING && no_ring()) continue;
    struct weir_queue *queue = open_queue((struct weir_queue_options){.depth = 2, .strategy = ways[way]});
    struct weir_request good = {.file = file, .data = &byte, .size = 1}, bad = {.data = &byte, .size = 1};
    assert_int_equal(submit_one(queue, &bad), WEIR_EINVAL);
    bad = (struct weir_request){.file = file, .size = 1};
    assert_int_equal(submit_one(queue, &bad), WEIR_EINVAL);
    bad = (struct weir_request){.file = file, .data = &byte, .size = 1, .operation = (enum weir_operation)3};
    assert_int_equal(submit_one(queue, &bad), WEIR_EINVAL);
    bad = (struct weir_request){.file = file, .data = &byte, .size = 1, .operation = WEIR_OP_WRITE};
    assert_int_equal(submit_one(queue, &bad), WEIR_EBADF);
    bad = (struct weir_request){.file = append, .data = &byte, .size = 1};
    assert_int_equal(submit_one(queue, &bad), WEIR_EBADF);
    bad.operation = WEIR_OP_WRITE;
    assert_int_equal(submit_one(queue, &bad), WEIR_EINVAL);
    bad = (struct weir_request){.file = pipe_file, .data = &byte, .size = 1};
    assert_int_equal(submit_one(queue, &bad), WEIR_ESPIPE);
    bad = (struct weir_request){.file = file, .data = &byte, .size = 1, .offset = UINT64_MAX};
    assert_int_equal(submit_one(queue, &bad), WEIR_EOVERFLOW);
    bad.offset = INT64_MAX;
    assert_int_equal(submit_one(queue, &bad), WEIR_EOVERFLOW);
    assert_int_equal(weir_queue_submit(queue, NULL, 1, NULL), WEIR_EINVAL);
    assert_int_equal(weir_queue_submit(NULL, NULL, 0, NULL), WEIR_EINVAL);
    assert_int_equal(weir_queue_wait(queue, NULL, 1, 1), WEIR_EINVAL);
    assert_int_equal(weir_queue_submit(queue, NULL, 0, NULL), 0);
    assert_int_equal(submit_one(queue, &good), 0);
    weir_queue_close(queue);
    assert_int_equal(good.status, 0);
    assert_int_equal(good.transferred, 1);
  }
  assert_int_equal(weir_file_close(pipe_file, NULL), 0);
  assert_int_equal(close(ends[0]) | close(ends[1]), 0);
  assert_int_equal(weir_file_close(append, NULL), 0);
  assert_int_equal(weir_file_close(file, NULL), 0);
}

static void a_full_queue_takes_what_fits(void **state) {
  const struct path path = make_input(*state);
  struct weir_file *file = open_file(path.text, WEIR_OPEN_READ, WEIR_AUTO);
  unsigned char bytes[6];
  for (unsigned way = 0; way < 2; way++) {
    if (ways[way] == WEIR_RING && no_ring()) continue;
    struct weir_queue *queue = open_queue((struct weir_queue_options){.depth = 3, .strategy = ways[way]});
    struct weir_request requests[6], *all[6], *done[6];
    for (unsigned i = 0; i < 6; i++) {
      requests[i] = (struct weir_request){.file = file, .data = &bytes[i], .size = i % 3 ? 1 : 0, .offset = i};
      all[i] = &requests[i];
    }
    size_t taken = 0;
    assert_int_equal(weir_queue_submit(queue, all, 6, &taken), WEIR_EBUSY);
    assert_int_equal(taken, 3);
    assert_int_equal(weir_queue_pending(queue), 3);
    assert_int_equal(weir_queue_wait(queue, done, 6, 6), 3); /* no more can come */
    assert_int_equal(weir_queue_wait(queue, done, 6, 6), 0);
    assert_int_equal(weir_queue_submit(queue, all + 3, 3, NULL), 0);
    assert_int_equal(weir_queue_wait(queue, done, 1, 5), 1);
    assert_int_equal(weir_queue_wait(queue, done, 0, 1), 0);
    assert_int_equal(weir_queue_pending(queue), 2);
    assert_int_equal(weir_queue_wait(queue, done, 6, 2), 2);
    for (unsigned i = 0; i < 6; i++) {
      assert_int_equal(requests[i].status, 0);
      assert_int_equal(requests[i].transferred, i % 3 ? 1 : 0);
      if (i % 3) assert_int_equal(bytes[i], byte_at(i));
    }
    weir_queue_close(queue);
  }
  weir_queue_close(NULL);
  assert_int_equal(weir_file_close(file, NULL), 0);
}

static void options_that_make_no_sense_are_refused(void **state) {
  (void)state;
  struct weir_queue *queue = (struct weir_queue *)state;
  struct weir_error error;
  assert_int_equal(weir_queue_open(&(struct weir_queue_options){.strategy = WEIR_MAPPED}, &queue, &error), WEIR_EINVAL);
  assert_null(queue);
  assert_int_equal(error.code, WEIR_EINVAL);
  assert_int_equal(weir_queue_open(&(struct weir_queue_options){.reserved = {0, 1}}, &queue, NULL), WEIR_EINVAL);
  assert_int_equal(weir_queue_open(&(struct weir_queue_options){.depth = 1u << 20}, &queue, NULL), WEIR_EINVAL);
  assert_int_equal(weir_queue_open(NULL, NULL, NULL), WEIR_EINVAL);
  assert_int_equal(weir_queue_open(NULL, &queue, NULL), 0);
  struct weir_choice how;
  weir_queue_how(queue, &how);
  assert_int_equal(how.depth, 32);
  assert_non_null(how.reason);
  weir_queue_close(queue);
}

static void reads_at_and_behind_the_end(void **state) {
  const struct path path = make_input(*state);
  struct weir_file *file = open_file(path.text, WEIR_OPEN_READ, WEIR_AUTO);
  for (unsigned way = 0; way < 2; way++) {
    if (ways[way] == WEIR_RING && no_ring()) continue;
    struct weir_queue *queue = open_queue((struct weir_queue_options){.depth = 4, .strategy = ways[way]});
    unsigned char data[4][64];
    const uint64_t offsets[4] = {FILE_BYTES - 64, FILE_BYTES - 1, FILE_BYTES, FILE_BYTES + 5000};
    struct weir_request requests[4], *all[4], *done[4];
    for (unsigned i = 0; i < 4; i++) {
      requests[i] = (struct weir_request){.file = file, .data = data[i], .size = 64, .offset = offsets[i]};
      all[i] = &requests[i];
    }
    assert_int_equal(weir_queue_submit(queue, all, 4, NULL), 0);
    assert_int_equal(weir_queue_wait(queue, done, 4, 4), 4);
    const size_t expected[4] = {64, 1, 0, 0};
    for (unsigned i = 0; i < 4; i++) {
      assert_int_equal(requests[i].status, 0);
      assert_int_equal(requests[i].transferred, expected[i]);
      assert_holds(data[i], expected[i], offsets[i]);
    }
    weir_queue_close(queue);
  }
  assert_int_equal(weir_file_close(file, NULL), 0);
}

static void closing_waits_for_all(void **state) {
  const struct path path = make_input(*state);
  struct weir_file *file = open_file(path.text, WEIR_OPEN_READ, WEIR_AUTO);
  static unsigned char data[32][4096];
  for (unsigned way = 0; way < 2; way++) {
    if (ways[way] == WEIR_RING && no_ring()) continue;
    struct weir_queue *queue = open_queue((struct weir_queue_options){.strategy = ways[way]});
    struct weir_request requests[32], *all[32];
    memset(data, 0, sizeof data);
    for (unsigned i = 0; i < 32; i++) {
      requests[i] = (struct weir_request){.file = file, .data = data[i], .size = BLOCK, .offset = i * BLOCK};
      all[i] = &requests[i];
    }
    assert_int_equal(weir_queue_submit(queue, all, 32, NULL), 0);
    weir_queue_close(queue);
    for (unsigned i = 0; i < 32; i++) {
      assert_int_equal(requests[i].transferred, BLOCK);
      assert_holds(data[i], BLOCK, i * BLOCK);
    }
  }
  assert_int_equal(weir_file_close(file, NULL), 0);
}

static void *wait_elsewhere(void *context) {
  struct weir_request *done[8];
  static int count;
  count = weir_queue_wait(context, done, 8, 8);
  return &count;
}

/* A whole request; the queue is empty before and after. */
static void *read_elsewhere(void *context) {
  static int count;
  struct weir_request *done, *one = context;
  struct weir_queue *queue = one->user;
  count = weir_queue_submit(queue, &one, 1, NULL);
  if (count == 0) count = weir_queue_wait(queue, &done, 1, 1);
  return &count;
}

static int in_thread(void *(*body)(void *context), void *context) {
  pthread_t thread;
  void *result;
  assert_int_equal(pthread_create(&thread, NULL, body, context), 0);
  assert_int_equal(pthread_join(thread, &result), 0);
  return *(int *)result;
}

/* What one thread submitted is taken in by another, if that was asked for, or if nothing is pending any more. */
static void threads_take_turns(void **state) {
  const struct path path = make_input(*state);
  struct weir_file *file = open_file(path.text, WEIR_OPEN_READ, WEIR_AUTO);
  static unsigned char data[8][4096];
  for (unsigned way = 0; way < 4; way++) {
    const bool any = way >= 2, bound = ways[way % 2] == WEIR_RING && !any;
    if (ways[way % 2] == WEIR_RING && no_ring()) continue;
    struct weir_queue *queue = open_queue((struct weir_queue_options){.depth = 8,
                                                                      .strategy = ways[way % 2],
                                                                      .file = file,
                                                                      .any_thread = any,
                                                                      .buffers = data,
                                                                      .buffers_bytes = sizeof data});
    struct weir_request requests[8], *all[8], *done[8];
    for (unsigned round = 0; round < 3; round++) {
      memset(data, 0, sizeof data);
      for (unsigned i = 0; i < 8; i++) {
        requests[i] = (struct weir_request){.file = file, .data = data[i], .size = BLOCK, .offset = (round * 8 + i) * BLOCK};
        all[i] = &requests[i];
      }
      assert_int_equal(weir_queue_submit(queue, all, 8, NULL), 0);
      int before = 0;
      if (round == 1) before = weir_queue_wait(queue, done, 1, 0); /* in flight, not only queued */
      if (bound && round < 2) {
        assert_int_equal(in_thread(wait_elsewhere, queue), WEIR_EPERM);
        before += weir_queue_wait(queue, done, 8, 8);
        assert_int_equal(before, 8);
      } else {
        assert_int_equal(before + in_thread(wait_elsewhere, queue), 8);
      }
      for (unsigned i = 0; i < 8; i++) assert_holds(data[i], BLOCK, requests[i].offset);
      requests[0].user = queue;
      if (round == 1) assert_int_equal(in_thread(read_elsewhere, requests), 1);
    }
    weir_queue_close(queue);
  }
  assert_int_equal(weir_file_close(file, NULL), 0);
}

/* ---- faults of the ring ---- */

static struct {
  unsigned count;      /* requests or completions seen */
  unsigned cut, again; /* every so many are cut short, are put off */
  unsigned fail_at;    /* this one fails */
  int error;
} fault;

#ifdef OS_HAS_LIBURING
static void cut_requests(struct io_uring *ring) {
  for (unsigned at = ring->sq.sqe_head; at != ring->sq.sqe_tail; at++) {
    struct io_uring_sqe *request = &ring->sq.sqes[at & ring->sq.ring_mask];
    if (fault.cut && request->len > 1) request->len = 1 + ++fault.count * 1237 % request->len;
  }
}

static void spoil_completions(struct io_uring *ring) {
  struct io_uring_cqe *completion;
  unsigned head;
  io_uring_for_each_cqe(ring, head, completion) {
    if (completion->flags == 0x40000000u) continue; /* seen before */
    completion->flags = 0x40000000u;
    fault.count++;
    if (fault.again && fault.count % fault.again == 0) completion->res = fault.count % 2 ? -EAGAIN : -EINTR;
    if (fault.fail_at && fault.count == fault.fail_at) completion->res = fault.error;
  }
}

static int bad_enter(struct io_uring *ring, unsigned wait) {
  cut_requests(ring);
  const int result = io_uring_submit_and_wait(ring, wait);
  spoil_completions(ring);
  return result;
}
static int bad_poll(struct io_uring *ring) {
  cut_requests(ring);
  const int result = io_uring_submit_and_get_events(ring);
  spoil_completions(ring);
  return result;
}
static void bad_ring(bool on) {
  replace("io_uring_enter", on ? (os_function *)bad_enter : NULL);
  replace("io_uring_poll", on ? (os_function *)bad_poll : NULL);
}
#else
static void bad_ring(bool on) { (void)on; }
#endif

static ssize_t bad_pread(int fd, void *data, size_t length, off_t offset) {
  const unsigned number = __atomic_add_fetch(&fault.count, 1, __ATOMIC_SEQ_CST);
  if (fault.fail_at && number == fault.fail_at) return errno = -fault.error, -1;
  if (fault.again && number % fault.again == 0) return errno = number % 2 ? EAGAIN : EINTR, -1;
  if (fault.cut && length > 1) length = 1 + number * 1237 % length;
  return pread(fd, data, length, offset);
}
static ssize_t bad_pwrite(int fd, const void *data, size_t length, off_t offset) {
  const unsigned number = __atomic_add_fetch(&fault.count, 1, __ATOMIC_SEQ_CST);
  if (fault.again && number % fault.again == 0) return errno = number % 2 ? EAGAIN : EINTR, -1;
  if (fault.cut && length > 1) length = 1 + number * 1237 % length;
  return pwrite(fd, data, length, offset);
}

/* Switches the faults on for one way. */
static void spoil(enum weir_strategy way, bool on) {
  if (way == WEIR_RING) {
    bad_ring(on);
  } else {
    replace("pread", on ? (os_function *)bad_pread : NULL);
    replace("pwrite", on ? (os_function *)bad_pwrite : NULL);
  }
}

static void short_and_put_off_transfers_go_on(void **state) {
  const struct path path = make_input(*state), out = path_in(*state, "output");
  struct weir_file *file = open_file(path.text, WEIR_OPEN_READ, WEIR_AUTO);
  unsigned char *memory = guarded(DEPTH_MOST * BLOCK);
  for (unsigned way = 0; way < 2; way++) {
    if (ways[way] == WEIR_RING && no_ring()) continue;
    for (unsigned kind = 1; kind <= 3; kind++) {
      struct weir_file *target = open_file(out.text, WEIR_OPEN_WRITE, WEIR_AUTO);
      struct weir_queue *queue = open_queue((struct weir_queue_options){
          .depth = 8, .strategy = ways[way], .file = file, .buffers = memory, .buffers_bytes = 8 * BLOCK});
      fault.count = fault.fail_at = 0;
      fault.cut = kind & 1;
      fault.again = kind & 2 ? 3 : 0;
      spoil(ways[way], true);
      fly(queue, file, WEIR_OP_READ, 8, memory);
      fly(queue, target, WEIR_OP_WRITE, 8, memory);
      spoil(ways[way], false);
      weir_queue_close(queue);
      assert_int_equal(weir_file_close(target, NULL), 0);
      assert_file_holds(out.text);
    }
  }
  release_guarded(memory, DEPTH_MOST * BLOCK);
  assert_int_equal(weir_file_close(file, NULL), 0);
}

static void a_ring_that_always_puts_off_is_done_without(void **state) {
  if (no_ring()) skip();
  const struct path path = make_input(*state);
  struct weir_file *file = open_file(path.text, WEIR_OPEN_READ, WEIR_AUTO);
  unsigned char *memory = guarded(8 * BLOCK);
  struct weir_queue *queue = open_queue((struct weir_queue_options){.depth = 8, .strategy = WEIR_RING});
  fault.count = fault.fail_at = fault.cut = 0;
  fault.again = 1;
  bad_ring(true);
  fly(queue, file, WEIR_OP_READ, 8, memory);
  bad_ring(false);
  weir_queue_close(queue);
  release_guarded(memory, 8 * BLOCK);
  assert_int_equal(weir_file_close(file, NULL), 0);
}

/* Operations that a kernel does not know, and requests that ended with the thread that made them. */
static void what_a_ring_cannot_do_is_done_by_a_plain_call(void **state) {
  if (no_ring()) skip();
  const struct path path = make_input(*state);
  struct weir_file *file = open_file(path.text, WEIR_OPEN_READ, WEIR_AUTO);
  unsigned char *memory = guarded(4 * BLOCK);
  static const int errors[] = {-EINVAL, -EOPNOTSUPP, -ENOSYS, -ECANCELED, 0};
  for (unsigned i = 0; i < sizeof errors / sizeof errors[0]; i++) {
    for (unsigned at = 1; at < 6; at++) {
      struct weir_queue *queue = open_queue((struct weir_queue_options){.depth = 4, .strategy = WEIR_RING});
      fault.count = fault.cut = fault.again = 0;
      fault.fail_at = at;
      fault.error = errors[i];
      bad_ring(true);
      fly(queue, file, WEIR_OP_READ, 4, memory);
      bad_ring(false);
      weir_queue_close(queue);
    }
  }
  release_guarded(memory, 4 * BLOCK);
  assert_int_equal(weir_file_close(file, NULL), 0);
}

static void one_that_fails_leaves_the_others(void **state) {
  const struct path path = make_input(*state);
  struct weir_file *file = open_file(path.text, WEIR_OPEN_READ, WEIR_AUTO);
  static unsigned char data[12][4096];
  for (unsigned way = 0; way < 2; way++) {
    if (ways[way] == WEIR_RING && no_ring()) continue;
    for (unsigned at = 1; at <= 12; at++) {
      struct weir_queue *queue = open_queue((struct weir_queue_options){.depth = 12, .strategy = ways[way]});
      struct weir_request requests[12], *all[12], *done[12];
      unsigned failed = 0;
      memset(data, 0, sizeof data);
      for (unsigned i = 0; i < 12; i++) {
        requests[i] = (struct weir_request){.file = file, .data = data[i], .size = BLOCK, .offset = i * BLOCK};
        all[i] = &requests[i];
      }
      fault.count = fault.cut = fault.again = 0;
      fault.fail_at = at;
      fault.error = -EIO;
      spoil(ways[way], true);
      assert_int_equal(weir_queue_submit(queue, all, 12, NULL), 0);
      assert_int_equal(weir_queue_wait(queue, done, 12, 12), 12);
      spoil(ways[way], false);
      for (unsigned i = 0; i < 12; i++) {
        failed += requests[i].status == WEIR_EIO && requests[i].transferred == 0;
        if (requests[i].status == 0) assert_holds(data[i], BLOCK, i * BLOCK);
        assert_true(requests[i].status == 0 || requests[i].status == WEIR_EIO);
      }
      assert_int_equal(failed, 1);
      weir_queue_close(queue);
    }
  }
  fault.fail_at = 0;
  assert_int_equal(weir_file_close(file, NULL), 0);
}

static int bad_fdatasync(int fd) {
  (void)fd;
  return errno = EIO, -1;
}

static void a_failed_flush_stays_failed(void **state) {
  for (unsigned way = 0; way < 2; way++) {
    if (ways[way] == WEIR_RING && no_ring()) continue;
    struct weir_file *file = open_file(path_in(*state, "flushed").text, WEIR_OPEN_WRITE, WEIR_AUTO);
    struct weir_queue *queue = open_queue((struct weir_queue_options){.depth = 2, .strategy = ways[way]});
    run_sync(queue, file, 0);
    fault.count = fault.cut = fault.again = 0;
    fault.fail_at = 1;
    fault.error = -EIO;
    if (ways[way] == WEIR_RING)
      bad_ring(true);
    else
      replace("fdatasync", (os_function *)bad_fdatasync);
    run_sync(queue, file, WEIR_EIO);
    bad_ring(false);
    restore("fdatasync");
    run_sync(queue, file, WEIR_EIO);
    assert_int_equal(weir_file_sync(file), WEIR_EIO);
    weir_queue_close(queue);
    assert_int_equal(weir_file_close(file, NULL), WEIR_EIO);
  }
  fault.fail_at = 0;
}

/* ---- systems that have less ---- */

static int setup_error;
static int refuse_setup(unsigned entries, void *ring, void *params) {
  (void)entries, (void)ring, (void)params;
  return setup_error;
}
static int refuse_registration(void *ring, const void *what, unsigned count) {
  (void)ring, (void)what, (void)count;
  return -ENOMEM;
}

static void without_a_ring_threads_do_it(void **state) {
  const struct path path = make_input(*state);
  struct weir_file *file = open_file(path.text, WEIR_OPEN_READ, WEIR_AUTO);
  unsigned char *memory = guarded(8 * BLOCK);
  static const int errors[] = {-EPERM, -ENOSYS, -ENOMEM, -EACCES, -EMFILE, -EOPNOTSUPP};
  for (unsigned i = 0; i < sizeof errors / sizeof errors[0]; i++) {
    struct weir_queue *queue = NULL;
    struct weir_error error = {0};
    struct weir_choice how;
    setup_error = errors[i];
    const bool known = os_override("io_uring_setup", (os_function *)refuse_setup) != NULL;
    if (known) {
      assert_int_equal(weir_queue_open(&(struct weir_queue_options){.strategy = WEIR_RING}, &queue, &error), errors[i]);
      assert_null(queue);
      assert_int_equal(error.code, errors[i]);
    }
    queue = open_queue((struct weir_queue_options){.depth = 8, .file = file, .buffers = memory, .buffers_bytes = 8 * BLOCK});
    if (known) restore("io_uring_setup");
    weir_queue_how(queue, &how);
    assert_int_equal(how.strategy, WEIR_THREADS);
    fly(queue, file, WEIR_OP_READ, 8, memory);
    weir_queue_close(queue);
  }
  release_guarded(memory, 8 * BLOCK);
  assert_int_equal(weir_file_close(file, NULL), 0);
}

static void without_registration_it_goes_on(void **state) {
  if (no_ring()) skip();
  const struct path path = make_input(*state);
  struct weir_file *file = open_file(path.text, WEIR_OPEN_READ, WEIR_AUTO);
  unsigned char *memory = guarded(8 * BLOCK);
  replace("io_uring_register_buffers", (os_function *)refuse_registration);
  replace("io_uring_register_files", (os_function *)refuse_registration);
  struct weir_queue *queue = open_queue((struct weir_queue_options){
      .depth = 8, .strategy = WEIR_RING, .file = file, .buffers = memory, .buffers_bytes = 8 * BLOCK});
  restore("io_uring_register_buffers");
  restore("io_uring_register_files");
  fly(queue, file, WEIR_OP_READ, 8, memory);
  weir_queue_close(queue);
  release_guarded(memory, 8 * BLOCK);
  assert_int_equal(weir_file_close(file, NULL), 0);
}

static unsigned threads_left;
static int few_threads(pthread_t *out, const pthread_attr_t *attributes, void *(*body)(void *), void *context) {
  return threads_left ? threads_left--, pthread_create(out, attributes, body, context) : EAGAIN;
}

static void with_fewer_threads_it_goes_on(void **state) {
  const struct path path = make_input(*state);
  struct weir_file *file = open_file(path.text, WEIR_OPEN_READ, WEIR_AUTO);
  unsigned char *memory = guarded(8 * BLOCK);
  for (unsigned count = 0; count < 4; count++) {
    struct weir_queue *queue = NULL;
    struct weir_choice how;
    threads_left = count;
    replace("pthread_create", (os_function *)few_threads);
    const int code = weir_queue_open(&(struct weir_queue_options){.depth = 8, .strategy = WEIR_THREADS}, &queue, NULL);
    restore("pthread_create");
    assert_int_equal(code, count ? 0 : WEIR_EAGAIN);
    if (!count) continue;
    weir_queue_how(queue, &how);
    assert_int_equal(how.threads, count);
    fly(queue, file, WEIR_OP_READ, 8, memory);
    weir_queue_close(queue);
  }
  release_guarded(memory, 8 * BLOCK);
  assert_int_equal(weir_file_close(file, NULL), 0);
}

static void lack_of_memory_is_told(void **state) {
  (void)state;
  const unsigned files = open_files();
  for (unsigned way = 0; way < 2; way++) {
    if (ways[way] == WEIR_RING && no_ring()) continue;
    bool hit = true;
    for (unsigned at = 1; hit; at++) {
      struct weir_queue *queue = NULL;
      inject_memory_arm(at);
      const int code = weir_queue_open(&(struct weir_queue_options){.depth = 3, .strategy = ways[way]}, &queue, NULL);
      hit = inject_memory_disarm();
      if (code == 0)
        weir_queue_close(queue);
      else
        assert_int_equal(code, WEIR_ENOMEM);
      if (!hit) assert_int_equal(code, 0);
    }
  }
  assert_int_equal(open_files(), files);
}

/* ---- other processes ---- */

static int use_in_child(struct weir_queue *queue, struct weir_file *file) {
  char byte;
  struct weir_request request = {.file = file, .data = &byte, .size = 1}, *one = &request, *done;
  if (weir_queue_submit(queue, &one, 1, NULL) != WEIR_EFORKED) return 1;
  if (weir_queue_wait(queue, &done, 1, 1) != WEIR_EFORKED) return 2;
  struct weir_queue *mine = NULL;
  if (weir_queue_open(&(struct weir_queue_options){.file = file}, &mine, NULL) != WEIR_EFORKED) return 3;
  if (weir_queue_open(NULL, &mine, NULL) != 0) return 4;
  if (weir_queue_submit(mine, &one, 1, NULL) != WEIR_EFORKED) return 5; /* the file is the parent's */
  weir_queue_close(mine);
  weir_queue_close(queue);
  return 0;
}

static void a_forked_process_is_told(void **state) {
  const struct path path = make_input(*state);
  struct weir_file *file = open_file(path.text, WEIR_OPEN_READ, WEIR_AUTO);
  unsigned char *memory = guarded(8 * BLOCK);
  for (unsigned way = 0; way < 2; way++) {
    if (ways[way] == WEIR_RING && no_ring()) continue;
    struct weir_queue *queue = open_queue((struct weir_queue_options){.depth = 8, .strategy = ways[way]});
    const pid_t child = fork();
    if (child == 0) _exit(use_in_child(queue, file));
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    fly(queue, file, WEIR_OP_READ, 8, memory); /* still whole */
    weir_queue_close(queue);
  }
  release_guarded(memory, 8 * BLOCK);
  assert_int_equal(weir_file_close(file, NULL), 0);
}

static int read_without_locked_memory(const char *path) {
  const struct rlimit none = {0, 0};
  if (geteuid() == 0 && setresuid(65534, 65534, 65534)) return 77;
  if (setrlimit(RLIMIT_MEMLOCK, &none)) return 77;
  struct weir_file *file = open_file(path, WEIR_OPEN_READ, WEIR_AUTO);
  if (!file) return 77;
  static unsigned char data[4 << 20];
  struct weir_queue *queue = NULL;
  const struct weir_queue_options options = {.depth = 4, .file = file, .buffers = data, .buffers_bytes = sizeof data};
  if (weir_queue_open(&options, &queue, NULL)) return 2;
  struct weir_request request = {.file = file, .data = data, .size = FILE_BYTES + 10}, *one = &request, *done;
  if (weir_queue_submit(queue, &one, 1, NULL)) return 3;
  if (weir_queue_wait(queue, &done, 1, 1) != 1 || request.status || request.transferred != FILE_BYTES) return 4;
  for (size_t i = 0; i < FILE_BYTES; i++)
    if (data[i] != byte_at(i)) return 5;
  weir_queue_close(queue);
  return weir_file_close(file, NULL) ? 6 : 0;
}

static void no_locked_memory_is_enough(void **state) {
  const struct path path = make_input(*state);
  if (chmod(*state, 0755)) skip_because("the directory cannot be opened to others");
  const pid_t child = fork();
  if (child == 0) _exit(read_without_locked_memory(path.text));
  int status = -1;
  assert_int_equal(waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) skip_because("no other user, or the file is not theirs to read");
  assert_int_equal(status, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_byte_comes_once_at_every_depth),
      cmocka_unit_test(written_bytes_are_all_there),
      cmocka_unit_test(direct_files_to_their_last_byte),
      cmocka_unit_test(requests_that_cannot_be_right_are_refused),
      cmocka_unit_test(a_full_queue_takes_what_fits),
      cmocka_unit_test(options_that_make_no_sense_are_refused),
      cmocka_unit_test(reads_at_and_behind_the_end),
      cmocka_unit_test(closing_waits_for_all),
      cmocka_unit_test(threads_take_turns),
      cmocka_unit_test(short_and_put_off_transfers_go_on),
      cmocka_unit_test(a_ring_that_always_puts_off_is_done_without),
      cmocka_unit_test(what_a_ring_cannot_do_is_done_by_a_plain_call),
      cmocka_unit_test(one_that_fails_leaves_the_others),
      cmocka_unit_test(a_failed_flush_stays_failed),
      cmocka_unit_test(without_a_ring_threads_do_it),
      cmocka_unit_test(without_registration_it_goes_on),
      cmocka_unit_test(with_fewer_threads_it_goes_on),
      cmocka_unit_test(lack_of_memory_is_told),
      cmocka_unit_test(a_forked_process_is_told),
      cmocka_unit_test(no_locked_memory_is_enough),
  };
  return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
