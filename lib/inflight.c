/*
 * inflight.c - many requests at once: the queue of weir.h, on a ring of the system or on threads (inflight_threads.c).
 *
 * A request is the caller's memory and carries all that is known about it; the queue itself holds only who works, how many
 * are out and which are back. What completes short goes on from where it stopped. What a ring cannot do after all is done by
 * a plain call in the waiting thread, which gives the true answer.
 */
#include "lib/inflight.h"

#include <stdlib.h>

#define DEPTH_DEFAULT 32u
#define DEPTH_MAX 32768u /* entries that a ring of Linux can have */
#define THREADS_DEFAULT 64u
#define THREADS_MAX 1024u
#define REAP_MAX 64u
#define TRANSFER_MAX ((size_t)1 << 30)
#define CHUNK_SHIFT 30 /* of a registered buffer: no more than 1 GiB each */
#define CHUNKS_MAX 1024u
#define TRIES_MAX 16u    /* of one request that brought nothing */
#define SUBMITS_MAX 50u  /* in a row that brought nothing; os.h waits a tenth of a second in each */
#define MEMORY_TRIES 10u /* the system frees a closed ring a little later, and until then its memory counts */
#define MEMORY_PAUSE_NS 1000000u

struct weir_queue {
  int process;
  unsigned depth;
  size_t pending;       /* submitted and not given back */
  struct os_ring *ring; /* or NULL */
  bool only_ring;
  unsigned thread; /* the only one that may use the ring; 0: any */
  size_t in_ring;
  size_t unsent; /* of those in the ring: the system has not seen them */
  struct weir__hands *hands;
  struct weir_request *back, *back_last; /* done, to be given back first */
  struct weir_file *wanted_file;         /* to be registered */
  void *wanted_buffers;
  size_t wanted_bytes;
  const struct weir_file *file; /* registered, or NULL */
  const char *buffers;          /* registered, or NULL */
  size_t buffers_bytes;
  struct weir_choice how;
};

/* ---- one request --------------------------------------------------------------------------------------------------- */

static bool finish(struct weir_request *request, int status) {
  request->status = status;
  request->transferred = request->done;
  return true;
}

/* `state` counts how often it brought nothing. */
static bool try_again(struct weir_request *request) { return ++request->state <= TRIES_MAX; }

/* A failure is final: later flushes of the file give it again. */
static int flushed(struct weir_file *file, int error) {
  int none = 0;
  if (error == WEIR_EINVAL) error = WEIR_EOPNOTSUPP; /* pipes and the like have no stable storage */
  if (error) (void)atomic_compare_exchange_strong(&file->sync_error, &none, error);
  return error;
}

void weir__request_perform(struct weir_request *request) {
  struct weir_file *file = request->file;
  char *data = request->data ? (char *)request->data + request->done : NULL; /* a flush has none */
  const uint64_t offset = request->offset + request->done;
  size_t moved = 0;
  int code;
  if (request->operation == WEIR_OP_READ)
    code = weir__file_pread(file, data, request->size - request->done, offset, &moved);
  else if (request->operation == WEIR_OP_WRITE)
    code = weir__file_pwrite(file, data, request->size - request->done, offset, &moved);
  else
    code = flushed(file, os_sync(file->os, false));
  request->done += moved;
  (void)finish(request, code);
}

/* ---- what is refused ----------------------------------------------------------------------------------------------- */

static bool aligned(const struct weir_request *request) {
  const struct weir_file *file = request->file;
  const uint64_t sector = file->offset_alignment - 1; /* powers of two */
  return !file->direct || (((uintptr_t)request->data & (file->memory_alignment - 1)) == 0 &&
                           ((request->size | request->offset) & sector) == 0);
}

static bool access_allows(const struct weir_request *request) {
  const enum weir_access_mode access = request->file->access;
  if (request->operation == WEIR_OP_READ) return access == WEIR_OPEN_READ || access == WEIR_OPEN_UPDATE;
  return request->operation == WEIR_OP_SYNC || access != WEIR_OPEN_READ;
}

/* 0, or why this request cannot be taken. */
static int check(const struct weir_queue *queue, const struct weir_request *request) {
  if (!request || !request->file || (unsigned)request->operation > WEIR_OP_SYNC) return WEIR_EINVAL;
  if (request->file->process != queue->process) return WEIR_EFORKED;
  if (!access_allows(request)) return WEIR_EBADF;
  if (request->operation == WEIR_OP_SYNC) return 0;
  if (!request->file->seekable) return WEIR_ESPIPE;
  /* what is appended goes to the end, wherever it was sent */
  if (request->operation == WEIR_OP_WRITE && request->file->access == WEIR_OPEN_APPEND) return WEIR_EINVAL;
  if (!request->data && request->size) return WEIR_EINVAL;
  if (request->offset > INT64_MAX || request->size > INT64_MAX - request->offset) return WEIR_EOVERFLOW;
  return aligned(request) ? 0 : WEIR_EINVAL;
}

/* ---- the ring ------------------------------------------------------------------------------------------------------ */

static void put_back(struct weir_queue *queue, struct weir_request *request) {
  request->next = NULL;
  if (queue->back)
    queue->back_last->next = request;
  else
    queue->back = request;
  queue->back_last = request;
}

/* The registered buffer that holds all of these bytes, or -1. */
static int find_buffer(const struct weir_queue *queue, const char *data, size_t size) {
  const size_t at = (size_t)((uintptr_t)data - (uintptr_t)queue->buffers); /* huge where data lie before */
  if (!queue->buffers || at >= queue->buffers_bytes || size > queue->buffers_bytes - at) return -1;
  const size_t chunk = at >> CHUNK_SHIFT;
  return chunk == (at + size - 1) >> CHUNK_SHIFT ? (int)chunk : -1;
}

/* Puts what is left of a request into the ring. False: it is finished without. */
static bool put_in_ring(struct weir_queue *queue, struct weir_request *request) {
  static const enum os_ring_kind kinds[] = {
      [WEIR_OP_READ] = OS_RING_READ, [WEIR_OP_WRITE] = OS_RING_WRITE, [WEIR_OP_SYNC] = OS_RING_SYNC};
  const size_t left = request->size - request->done, part = left < TRANSFER_MAX ? left : TRANSFER_MAX;
  const bool transfers = request->operation != WEIR_OP_SYNC;
  char *data = transfers ? (char *)request->data + request->done : NULL;
  const struct os_ring_request ring_request = {
      .kind = kinds[request->operation],
      .file = request->file->os,
      .registered_file = request->file == queue->file,
      .buffer_index = transfers ? find_buffer(queue, data, part) : -1,
      .uncached = transfers && request->file->uncached,
      .data = data,
      .length = transfers ? (uint32_t)part : 0,
      .offset = transfers ? request->offset + request->done : 0,
      .tag = (uintptr_t)request,
  };
  if (os_ring_queue(queue->ring, &ring_request)) {
    weir__request_perform(request);
    return false;
  }
  queue->unsent++;
  queue->in_ring++;
  return true;
}

/* What a plain call may still do: the ring, or the thread that submitted, could not. */
static bool worth_a_plain_call(int32_t result) {
  return result == WEIR_EINTR || result == WEIR_EAGAIN || result == WEIR_ECANCELED || result == WEIR_EINVAL ||
         result == WEIR_ENOSYS || result == WEIR_EOPNOTSUPP;
}

/*
 * Takes in what a completion says of a transfer. True: it is finished. The rest goes into the ring again, but a plain call
 * does it where the ring did not want to, where it brought nothing (there were systems on which a ring said so before the
 * end), and where a direct transfer stopped within a sector (at the end of the file most likely, and it cannot go on there).
 */
static bool complete_transfer(struct weir_queue *queue, struct weir_request *request, int32_t result) {
  if ((result == WEIR_EINTR || result == WEIR_EAGAIN) && try_again(request)) return !put_in_ring(queue, request);
  if (result < 0 && !worth_a_plain_call(result)) return finish(request, result);
  if (result > 0) {
    const size_t left = request->size - request->done;
    request->done += (size_t)result < left ? (size_t)result : left;
    if (request->done == request->size) return finish(request, 0);
    if (request->done % request->file->offset_alignment == 0) return !put_in_ring(queue, request);
  }
  weir__request_perform(request);
  return true;
}

static bool complete(struct weir_queue *queue, struct weir_request *request, int32_t result) {
  if (request->operation != WEIR_OP_SYNC) return complete_transfer(queue, request, result);
  if (!worth_a_plain_call(result)) return finish(request, flushed(request->file, result < 0 ? result : 0));
  weir__request_perform(request);
  return true;
}

static size_t reap(struct weir_queue *queue, struct weir_request **done, size_t max) {
  struct os_ring_completion completions[REAP_MAX];
  size_t count = 0;
  while (count < max) {
    const size_t room = max - count < REAP_MAX ? max - count : REAP_MAX;
    const unsigned got = os_ring_reap(queue->ring, completions, (unsigned)room);
    queue->in_ring -= got;
    for (unsigned i = 0; i < got; i++) {
      struct weir_request *request = (struct weir_request *)(uintptr_t)completions[i].tag;
      if (complete(queue, request, completions[i].result)) done[count++] = request;
    }
    if (got < room) break;
  }
  return count;
}

/* Hands over and waits for one round. The error of a ring that refuses for good, or for long. */
static int pass_on(struct weir_queue *queue, size_t wait) {
  int error;
  unsigned tries = 0;
  do error = os_ring_submit(queue->ring, (unsigned)wait);
  while ((error == WEIR_EAGAIN || error == WEIR_EBUSY) && ++tries < SUBMITS_MAX && queue->pending > 0 && wait > 0);
  if (!error) queue->unsent = 0;
  return error;
}

static int wait_ring(struct weir_queue *queue, struct weir_request **done, size_t max, size_t least, size_t *count) {
  size_t got = reap(queue, done, max);
  for (bool asked = false; got < least || queue->unsent || (got == 0 && max && !asked); asked = true) {
    const int error = pass_on(queue, got < least ? least - got : 0);
    const size_t more = reap(queue, done + got, max - got);
    got += more;
    if (error && !more) {
      *count = got;
      return error;
    }
  }
  *count = got;
  return 0;
}

/* ---- who works ---------------------------------------------------------------------------------------------------- */

/* A ring for one thread is the faster one: it wakes that thread once for many completions. */
static int open_ring(struct weir_queue *queue, bool movable) {
  int (*const opener)(unsigned, struct os_ring **) = movable ? os_ring_open_movable : os_ring_open;
  int error;
  unsigned tries = 0;
  while ((error = opener(queue->depth, &queue->ring)) == WEIR_ENOMEM && ++tries < MEMORY_TRIES) os_sleep_ns(MEMORY_PAUSE_NS);
  if (error) queue->ring = NULL;
  queue->thread = movable ? 0 : weir__thread();
  return error;
}

/* Pays off where it is allowed; the limit of locked memory is one of many reasons why it may not be. */
static void register_buffers(struct weir_queue *queue) {
  char *const buffers = queue->wanted_buffers;
  const size_t bytes = queue->wanted_bytes;
  void *data[CHUNKS_MAX];
  size_t lengths[CHUNKS_MAX], at = 0;
  unsigned count = 0;
  if (!buffers || !bytes || (bytes - 1) >> CHUNK_SHIFT >= CHUNKS_MAX) return;
  for (; at < bytes; at += lengths[count++]) {
    data[count] = buffers + at;
    lengths[count] = bytes - at < TRANSFER_MAX ? bytes - at : TRANSFER_MAX;
  }
  if (os_ring_register_buffers(queue->ring, data, lengths, count)) return;
  queue->buffers = buffers;
  queue->buffers_bytes = bytes;
}

static int make_ring(struct weir_queue *queue, bool movable) {
  const int error = open_ring(queue, movable);
  queue->file = NULL;
  queue->buffers = NULL;
  if (error) return error;
  register_buffers(queue);
  if (queue->wanted_file && os_ring_register_file(queue->ring, queue->wanted_file->os) == 0)
    queue->file = queue->wanted_file;
  return 0;
}

static int make_hands(struct weir_queue *queue, unsigned threads) {
  return weir__hands_open(threads < queue->depth ? threads : queue->depth, &queue->hands);
}

/* The queue is used by another thread than before: if the ring is empty it is changed for one that any thread may use. */
static int move_here(struct weir_queue *queue) {
  const bool nobody = !queue->ring && !queue->hands; /* it failed before */
  if (!nobody && (!queue->ring || !queue->thread || queue->thread == weir__thread())) return 0;
  if (queue->in_ring) return WEIR_EPERM;
  os_ring_close(queue->ring);
  int error = make_ring(queue, true);
  if (error && !queue->only_ring) error = make_hands(queue, THREADS_DEFAULT);
  queue->how.strategy = queue->hands ? WEIR_THREADS : WEIR_RING;
  queue->how.threads = queue->hands ? weir__hands_size(queue->hands) : 0;
  return error;
}

/* ---- submit and wait ----------------------------------------------------------------------------------------------- */

static size_t take_back(struct weir_queue *queue, struct weir_request **done, size_t max) {
  size_t count = 0;
  while (queue->back && count < max) {
    done[count++] = queue->back;
    queue->back = queue->back->next;
  }
  return count;
}

/* With nothing to do, or nothing left to hope for. */
static bool finish_at_once(struct weir_request *request) {
  if (request->operation != WEIR_OP_SYNC) return request->size == 0 && finish(request, 0);
  const int error = atomic_load(&request->file->sync_error);
  return error && finish(request, error);
}

static void begin(struct weir_queue *queue, struct weir_request *request, struct weir_request **for_hands) {
  request->status = 0;
  request->transferred = request->done = 0;
  request->state = 0;
  request->next = NULL;
  queue->pending++;
  if (finish_at_once(request)) {
    put_back(queue, request);
  } else if (queue->ring) {
    if (!put_in_ring(queue, request)) put_back(queue, request);
  } else {
    request->next = *for_hands;
    *for_hands = request;
  }
}

/*
 * A device that has told of all its requests at once has nothing to do while the next ones are prepared: the first of them is
 * sent at once, then as many again as are under way. A caller who has just one request sends it when he waits. What the ring
 * refuses here is sent with the rest.
 */
static void pass_early(struct weir_queue *queue, bool more) {
  const size_t sent = queue->in_ring - queue->unsent, least = more ? 1 : 2;
  if (!queue->ring || queue->unsent < least || queue->unsent < sent) return;
  if (os_ring_submit(queue->ring, 0) == 0) queue->unsent = 0;
}

/* In the order in which they were submitted. */
static struct weir_request *reversed(struct weir_request *list) {
  struct weir_request *out = NULL;
  while (list) {
    struct weir_request *next = list->next;
    list->next = out;
    out = list;
    list = next;
  }
  return out;
}

int weir_queue_submit(struct weir_queue *queue, struct weir_request *const *requests, size_t count, size_t *taken) {
  struct weir_request *for_hands = NULL;
  size_t done = 0;
  if (taken) *taken = 0;
  if (!queue || (!requests && count)) return WEIR_EINVAL;
  if (weir__process() != queue->process) return WEIR_EFORKED;
  int code = move_here(queue);
  while (!code && done < count) {
    code = queue->pending < queue->depth ? check(queue, requests[done]) : WEIR_EBUSY;
    if (code) break;
    begin(queue, requests[done++], &for_hands);
    pass_early(queue, done < count);
  }
  if (for_hands) weir__hands_put(queue->hands, reversed(for_hands));
  if (taken) *taken = done;
  return code;
}

static size_t wait_hands(struct weir_queue *queue, struct weir_request **done, size_t max, size_t least) {
  struct weir_request *request = weir__hands_get(queue->hands, least);
  while (request) {
    struct weir_request *next = request->next;
    put_back(queue, request);
    request = next;
  }
  return take_back(queue, done, max);
}

int weir_queue_wait(struct weir_queue *queue, struct weir_request **done, size_t max, size_t least) {
  if (!queue || (!done && max)) return WEIR_EINVAL;
  if (weir__process() != queue->process) return WEIR_EFORKED;
  if (max > queue->pending) max = queue->pending;
  if (max == 0) return 0;
  if (least > max) least = max;
  int error = move_here(queue);
  if (error) return error;
  size_t count = take_back(queue, done, max), more = 0;
  const size_t wanted = least > count ? least - count : 0;
  if (queue->ring)
    error = wait_ring(queue, done + count, max - count, wanted, &more);
  else
    more = wait_hands(queue, done + count, max - count, wanted);
  count += more;
  queue->pending -= count;
  return error && count == 0 ? error : (int)count;
}

size_t weir_queue_pending(const struct weir_queue *queue) { return queue ? queue->pending : 0; }

void weir_queue_how(const struct weir_queue *queue, struct weir_choice *how) { *how = queue->how; }

/* ---- open and close ------------------------------------------------------------------------------------------------ */

static void describe(struct weir_queue *queue, const struct weir_file *file, const char *reason) {
  queue->how = (struct weir_choice){.strategy = queue->ring ? WEIR_RING : WEIR_THREADS,
                                    .direct = file && file->direct,
                                    .depth = queue->depth,
                                    .threads = queue->hands ? weir__hands_size(queue->hands) : 0,
                                    .reason = reason};
}

static int use_ring(struct weir_queue *queue, const struct weir_queue_options *options) {
  queue->only_ring = options->strategy == WEIR_RING;
  queue->wanted_file = options->file;
  queue->wanted_buffers = options->buffers;
  queue->wanted_bytes = options->buffers ? options->buffers_bytes : 0;
  const int error = make_ring(queue, options->any_thread);
  if (!error) describe(queue, options->file, options->strategy == WEIR_RING ? "as asked for" : "io_uring can be had");
  return error;
}

static int use_threads(struct weir_queue *queue, const struct weir_queue_options *options) {
  const int error = make_hands(queue, options->threads ? options->threads : THREADS_DEFAULT);
  if (!error)
    describe(queue, options->file, options->strategy == WEIR_THREADS ? "as asked for" : "io_uring cannot be had here");
  return error;
}

static int start(struct weir_queue *queue, const struct weir_queue_options *options) {
  int error = WEIR_ENOSYS;
  if (options->strategy != WEIR_THREADS) error = use_ring(queue, options);
  if (error && options->strategy != WEIR_RING) error = use_threads(queue, options);
  return error;
}

static int check_options(const struct weir_queue_options *options) {
  const enum weir_strategy strategy = options->strategy;
  if (strategy != WEIR_AUTO && strategy != WEIR_RING && strategy != WEIR_THREADS) return WEIR_EINVAL;
  if (options->depth > DEPTH_MAX || options->threads > THREADS_MAX) return WEIR_EINVAL;
  if (options->file && options->file->process != weir__process()) return WEIR_EFORKED;
  return weir__check(0, 0, options->reserved);
}

int weir_queue_open(const struct weir_queue_options *options, struct weir_queue **out, struct weir_error *error) {
  static const struct weir_queue_options preset;
  if (!options) options = &preset;
  if (!out) return weir__fail(error, WEIR_EINVAL, "queue", NULL, 0, 0, 0);
  *out = NULL;
  int code = check_options(options);
  if (code) return weir__fail(error, code, "queue", NULL, 0, 0, 0);
  struct weir_queue *queue = calloc(1, sizeof *queue);
  if (!queue) return weir__fail(error, WEIR_ENOMEM, "queue", NULL, 0, 0, 0);
  queue->process = weir__process();
  queue->depth = options->depth ? options->depth : DEPTH_DEFAULT;
  code = start(queue, options);
  if (code) {
    free(queue);
    return weir__fail(error, code, "queue", NULL, 0, 0, 0);
  }
  *out = queue;
  return 0;
}

/* True: nothing is out any more. */
static bool drain(struct weir_queue *queue) {
  struct weir_request *done[REAP_MAX];
  int count = 0;
  while (queue->pending && count >= 0) count = weir_queue_wait(queue, done, REAP_MAX, 1);
  return queue->pending == 0;
}

void weir_queue_close(struct weir_queue *queue) {
  if (!queue) return;
  const bool ours = weir__process() == queue->process;
  /* In a forked process neither the threads nor the ring's memory are there. What is still out, because the ring is broken
   * or another thread's, may be written to at any time, so the ring is left as it is. */
  if (ours && drain(queue)) {
    os_ring_close(queue->ring);
    weir__hands_close(queue->hands);
  }
  free(queue);
}
