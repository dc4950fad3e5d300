/*
 * copy_many.c - many files to many directories: the calling thread reads each source once, threads of each destination write
 * what was read. Blocks are shared by all destinations that want them and come back when the last one is done with them:
 * their number is the window. What has one destination only is left to a thread of that as a whole.
 *
 * One lock guards all that threads share; it is never held while a file is touched.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/copy_one.h"

#define PASSES 256u /* sources at once: small files fill no window, and each may hold a descriptor */
#define WINDOW_DEFAULT ((size_t)64 << 20)

/* One thing to do for the threads of a destination: a block of a copy, or its end. */
struct entry {
  struct entry *next;
  struct made *made;
  struct block *block; /* NULL: no more come */
};

struct block {
  struct block *next;
  char *data;
  size_t size;
  uint64_t offset;
  unsigned users;
  struct entry *entries; /* one for each destination */
};

enum stage { UNTOUCHED, OPENING, OPEN };

/* A copy being made. */
struct made {
  struct weir__copy copy;
  struct pass *pass;
  char *path;
  enum stage stage;
  bool wanted, whole, cloned, ended;
  unsigned outstanding; /* entries not yet done */
  uint64_t total;
  struct entry end;
};

/* A source being read, or whose copies are not all done. */
struct pass {
  struct weir__source source;
  size_t remaining;  /* copies; 0: free */
  struct made *made; /* one for each destination */
};

struct lane {
  struct fan *fan;
  struct entry *first, *last;
  struct weir__bell bell;
  bool no_clone; /* refused before */
  unsigned thread_count;
};

struct lane_thread {
  struct lane *lane;
  struct os_thread *thread;
  struct weir__workspace space;
};

struct fan {
  const struct weir__many *many;
  struct weir__lock lock;
  struct weir__bell room; /* a block or a pass is free */
  struct lane *lanes;
  struct lane_thread *threads;
  size_t thread_count;
  struct pass *passes;
  struct made *made;
  struct block *blocks, *free;
  struct entry *entries;
  struct weir__workspace memory, own;
  bool stop;
};

static bool to_do(const struct weir__many *many, size_t source, size_t directory) {
  return many->results[source * many->directory_count + directory].status == WEIR__COPY_TODO;
}

static char *path_in(const char *directory, const char *source) {
  size_t name_length, length = strlen(directory);
  const char *name = weir__last_part(source, &name_length);
  char *path = malloc(length + 1 + name_length + 1);
  if (!path) return NULL;
  memcpy(path, directory, length);
  if (length && path[length - 1] != '/') path[length++] = '/';
  memcpy(path + length, name, name_length);
  path[length + name_length] = '\0';
  return path;
}

static void prepare(const struct weir__many *many, struct made *made, struct weir__source *source, size_t i, size_t d) {
  *made = (struct made){.path = path_in(many->directories[d], many->sources[i]), .wanted = true};
  made->copy.call = many->call;
  made->copy.source = source;
  made->copy.path = made->path ? made->path : many->directories[d];
  made->copy.result = &many->results[i * many->directory_count + d];
  made->copy.expected = many->source_stats[i].size;
  if (!made->path) (void)weir__copy_fail(&made->copy, WEIR_ENOMEM, "copy", many->sources[i], 0, 0);
}

/* ---- threads of a destination; those that say so are called and return with the lock held -------------------------- */

static void push(struct lane *lane, struct entry *entry, struct made *made, struct block *block) {
  *entry = (struct entry){.made = made, .block = block};
  made->outstanding++;
  if (lane->first)
    lane->last->next = entry;
  else
    lane->first = entry;
  lane->last = entry;
  weir__bell_ring(&lane->bell);
}

static void give_block_back(struct fan *fan, struct block *block) {
  block->next = fan->free;
  fan->free = block;
  weir__bell_ring(&fan->room);
}

/* With the lock held. The first thread that has something of a copy opens its file. */
static void open_file(struct lane *lane, struct made *made) {
  struct fan *fan = lane->fan;
  while (made->stage == OPENING) weir__bell_wait(&lane->bell, &fan->lock);
  if (made->stage == OPEN) return;
  made->stage = OPENING;
  weir__unlock(&fan->lock);
  if (!made->whole && atomic_load(&made->copy.status) == 0) (void)weir__copy_begin(&made->copy);
  weir__lock(&fan->lock);
  made->stage = OPEN;
  weir__bell_ring(&lane->bell);
}

/* With the lock held. A copy that has failed takes its blocks and does nothing with them, so that it holds nobody back. */
static void write_block(struct fan *fan, struct made *made, struct block *block) {
  if (atomic_load(&made->copy.status) == 0) {
    weir__unlock(&fan->lock);
    (void)weir__copy_write(&made->copy, block->data, block->size, block->offset);
    weir__lock(&fan->lock);
  }
  if (--block->users == 0) give_block_back(fan, block);
}

/* With the lock held. Nobody else has anything of this copy any more. */
static void end_copy(struct fan *fan, struct made *made, struct weir__workspace *space) {
  struct pass *pass = made->pass;
  weir__unlock(&fan->lock);
  if (made->whole && atomic_load(&made->copy.status) == 0)
    weir__copy_whole(&made->copy, space);
  else
    weir__copy_end(&made->copy, space, made->total);
  free(made->path);
  weir__lock(&fan->lock);
  if (pass->remaining == 1) {
    weir__unlock(&fan->lock);
    weir__source_close(&pass->source);
    weir__lock(&fan->lock);
  }
  pass->remaining--;
  weir__bell_ring(&fan->room);
}

static void *work(void *context) {
  struct lane_thread *self = context;
  struct lane *lane = self->lane;
  struct fan *fan = lane->fan;
  weir__lock(&fan->lock);
  while (lane->first || !fan->stop) {
    struct entry *entry = lane->first;
    if (!entry) {
      weir__bell_wait(&lane->bell, &fan->lock);
      continue;
    }
    lane->first = entry->next;
    struct made *made = entry->made;
    struct block *block = entry->block;
    open_file(lane, made);
    if (block) write_block(fan, made, block);
    if (--made->outstanding == 0 && made->ended) end_copy(fan, made, &self->space);
  }
  weir__unlock(&fan->lock);
  weir__workspace_release(&self->space);
  return NULL;
}

/* ---- the reading thread -------------------------------------------------------------------------------------------- */

static struct pass *take_pass(struct fan *fan) {
  struct pass *found = NULL;
  weir__lock(&fan->lock);
  while (!found) {
    for (unsigned i = 0; i < PASSES && !found; i++)
      if (fan->passes[i].remaining == 0) found = &fan->passes[i];
    if (!found) weir__bell_wait(&fan->room, &fan->lock);
  }
  weir__unlock(&fan->lock);
  return found;
}

static struct block *take_block(struct fan *fan) {
  weir__lock(&fan->lock);
  while (!fan->free) weir__bell_wait(&fan->room, &fan->lock);
  struct block *block = fan->free;
  fan->free = block->next;
  weir__unlock(&fan->lock);
  return block;
}

static bool wants_blocks(struct made *made) { return made->wanted && !made->cloned && atomic_load(&made->copy.status) == 0; }

/* Hands the block to all that want it. False: nobody does, or it is empty. */
static bool hand_out(struct fan *fan, struct pass *pass, struct block *block) {
  weir__lock(&fan->lock);
  block->users = 0;
  for (size_t d = 0; d < fan->many->directory_count && block->size; d++) {
    if (!wants_blocks(&pass->made[d])) continue;
    block->users++;
    push(&fan->lanes[d], &block->entries[d], &pass->made[d], block);
  }
  const bool wanted = block->users > 0;
  if (!wanted) give_block_back(fan, block);
  weir__unlock(&fan->lock);
  return wanted;
}

static void fail_all(struct fan *fan, struct pass *pass, int code, const char *operation, uint64_t offset) {
  for (size_t d = 0; d < fan->many->directory_count; d++) {
    struct made *made = &pass->made[d];
    if (made->wanted && !made->cloned) (void)weir__copy_fail(&made->copy, code, operation, pass->source.path, offset, 0);
  }
}

/* Reads [range.begin, range.end); *at is how far, *ended whether the file is over. False: it makes no sense to go on. */
static bool spread(struct fan *fan, struct pass *pass, struct weir__range range, uint64_t *at, bool *ended) {
  const size_t block_bytes = fan->many->call->block_bytes;
  bool go_on = true;
  *at = range.begin;
  while (go_on && !*ended && *at < range.end) {
    struct block *block = take_block(fan);
    const size_t want = range.end - *at < block_bytes ? (size_t)(range.end - *at) : block_bytes;
    const int code = weir__pread(pass->source.file, block->data, want, *at, &block->size);
    const size_t got = block->size;
    block->offset = *at;
    go_on = hand_out(fan, pass, block);
    *at += got;
    *ended = got < want;
    if (code) {
      fail_all(fan, pass, code, "read", *at);
      go_on = false;
    }
  }
  return go_on || *ended;
}

static bool anybody(struct fan *fan, struct pass *pass) {
  for (size_t d = 0; d < fan->many->directory_count; d++)
    if (wants_blocks(&pass->made[d])) return true;
  return false;
}

static uint64_t read_once(struct fan *fan, struct pass *pass) {
  struct weir__ranges ranges = weir__ranges_of(&pass->source, fan->many->call->options->flags);
  struct weir__range range;
  uint64_t at = 0;
  bool ended = false;
  while (!ended && anybody(fan, pass) && weir__ranges_next(&ranges, &range))
    if (!spread(fan, pass, range, &at, &ended)) break;
  return weir__ranges_total(&ranges, at, ended);
}

/* Shares storage with those destinations that can, which costs next to nothing; no thread knows of these copies yet. */
static void clone_where_possible(struct fan *fan, struct pass *pass) {
  const struct weir__many *many = fan->many;
  if ((many->call->options->flags & WEIR_COPY_NO_CLONE) || pass->source.stat.size == 0) return;
  for (size_t d = 0; d < many->directory_count; d++) {
    struct made *made = &pass->made[d];
    if (!made->wanted || fan->lanes[d].no_clone || many->directory_stats[d].device != pass->source.stat.device) continue;
    made->stage = OPEN;
    if (weir__copy_begin(&made->copy)) continue;
    made->cloned = weir__copy_clone(&made->copy);
    fan->lanes[d].no_clone = !made->cloned;
  }
}

static void push_ends(struct fan *fan, struct pass *pass, uint64_t total) {
  weir__lock(&fan->lock);
  for (size_t d = 0; d < fan->many->directory_count; d++) {
    struct made *made = &pass->made[d];
    if (!made->wanted) continue;
    made->total = made->cloned ? made->copy.counted : total;
    made->ended = true;
    push(&fan->lanes[d], &made->end, made, NULL);
  }
  weir__unlock(&fan->lock);
}

/* One source to several destinations. */
static void share(struct fan *fan, struct pass *pass) {
  struct weir_error error = {0};
  uint64_t total = 0;
  const int code = weir__source_open(&pass->source, pass->source.path, &error);
  if (code) {
    fail_all(fan, pass, code, error.operation, 0);
  } else {
    clone_where_possible(fan, pass);
    for (size_t d = 0; d < fan->many->directory_count; d++)
      if (pass->made[d].wanted && !pass->made[d].cloned) pass->made[d].copy.result->method = "read and write";
    total = read_once(fan, pass);
    /* Only these look into it again; a descriptor for each file that waits somewhere could be more than there are. */
    if (!(fan->many->call->options->flags & (WEIR_COPY_VERIFY | WEIR_COPY_MODE))) weir__source_close(&pass->source);
  }
  push_ends(fan, pass, total);
}

/* A copy in the calling thread. */
static void make_here(const struct weir__many *many, size_t i, size_t d, struct weir__workspace *space) {
  struct weir__source source = {.path = many->sources[i], .file = os_no_file};
  struct made made;
  prepare(many, &made, &source, i, d);
  if (made.path)
    weir__copy_whole(&made.copy, space);
  else
    weir__copy_end(&made.copy, space, 0);
  free(made.path);
}

static void one_source(struct fan *fan, size_t i) {
  const struct weir__many *many = fan->many;
  size_t by_threads = 0;
  for (size_t d = 0; d < many->directory_count; d++) {
    if (!to_do(many, i, d)) continue;
    if (fan->lanes[d].thread_count)
      by_threads++;
    else
      make_here(many, i, d, &fan->own);
  }
  if (by_threads == 0) return;
  struct pass *pass = take_pass(fan);
  pass->source = (struct weir__source){.path = many->sources[i], .file = os_no_file};
  for (size_t d = 0; d < many->directory_count; d++) {
    struct made *made = &pass->made[d];
    *made = (struct made){0};
    if (!to_do(many, i, d) || !fan->lanes[d].thread_count) continue;
    prepare(many, made, &pass->source, i, d);
    made->pass = pass;
    made->whole = by_threads == 1;
  }
  pass->remaining = by_threads;
  if (by_threads == 1)
    push_ends(fan, pass, 0);
  else
    share(fan, pass);
}

/* ---- set-up -------------------------------------------------------------------------------------------------------- */

/* As many blocks as the window holds, and no more than there is to read. */
static size_t block_count(const struct weir__many *many) {
  const struct weir_copy_options *options = many->call->options;
  const size_t block = many->call->block_bytes, window = options->window_bytes ? options->window_bytes : WINDOW_DEFAULT;
  size_t count = window / block, needed = 2;
  for (size_t i = 0; i < many->source_count && needed < count; i++) {
    const uint64_t blocks = many->source_stats[i].size / block + 2;
    needed += blocks < count ? (size_t)blocks : count;
  }
  if (needed < count) count = needed;
  return count ? count : 1;
}

/* With less memory the window is smaller. */
static int make_blocks(struct fan *fan) {
  const struct weir__many *many = fan->many;
  const size_t block = many->call->block_bytes, lanes = many->directory_count;
  size_t count = block_count(many);
  int code = WEIR_ENOMEM;
  for (; count && code; count /= 2) {
    code = weir__workspace_get(&fan->memory, count * block);
    if (!code) break;
  }
  if (code) return code;
  fan->blocks = calloc(count, sizeof *fan->blocks);
  fan->entries = calloc(count * lanes, sizeof *fan->entries);
  if (!fan->blocks || !fan->entries) return WEIR_ENOMEM;
  for (size_t i = count; i-- > 0;) {
    fan->blocks[i] = (struct block){.data = fan->memory.data + i * block, .entries = &fan->entries[i * lanes]};
    give_block_back(fan, &fan->blocks[i]);
  }
  return 0;
}

static int make_fan(struct fan *fan, size_t threads) {
  const size_t lanes = fan->many->directory_count;
  fan->lanes = calloc(lanes, sizeof *fan->lanes);
  fan->threads = calloc(lanes * threads, sizeof *fan->threads);
  fan->passes = calloc(PASSES, sizeof *fan->passes);
  fan->made = calloc(PASSES * lanes, sizeof *fan->made);
  if (!fan->lanes || !fan->threads || !fan->passes || !fan->made) return WEIR_ENOMEM;
  for (unsigned i = 0; i < PASSES; i++) fan->passes[i].made = &fan->made[i * lanes];
  for (size_t d = 0; d < lanes; d++) fan->lanes[d].fan = fan;
  return lanes > 1 ? make_blocks(fan) : 0;
}

static void start_threads(struct fan *fan, size_t threads) {
  for (size_t d = 0; d < fan->many->directory_count; d++) {
    for (size_t i = 0; i < threads; i++) {
      struct lane_thread *thread = &fan->threads[fan->thread_count];
      thread->lane = &fan->lanes[d];
      if (os_thread_start(work, thread, &thread->thread)) break; /* those that there are do it, or this one */
      fan->thread_count++;
      fan->lanes[d].thread_count++;
    }
  }
}

static void stop_threads(struct fan *fan) {
  weir__lock(&fan->lock);
  fan->stop = true;
  for (size_t d = 0; d < fan->many->directory_count; d++) weir__bell_ring(&fan->lanes[d].bell);
  weir__unlock(&fan->lock);
  for (size_t i = 0; i < fan->thread_count; i++) (void)os_thread_join(fan->threads[i].thread);
}

static void release_fan(struct fan *fan) {
  weir__workspace_release(&fan->memory);
  weir__workspace_release(&fan->own);
  free(fan->entries);
  free(fan->blocks);
  free(fan->made);
  free(fan->passes);
  free(fan->threads);
  free(fan->lanes);
}

static void copy_here(const struct weir__many *many, struct weir__workspace *space) {
  for (size_t i = 0; i < many->source_count; i++)
    for (size_t d = 0; d < many->directory_count; d++)
      if (to_do(many, i, d)) make_here(many, i, d, space);
}

void weir__copy_many(const struct weir__many *many) {
  const unsigned threads = many->call->options->threads ? many->call->options->threads : 1;
  struct fan fan = {.many = many};
  /* Where one thread would do it all, or where there is no memory for more, it is this one. */
  if ((many->directory_count == 1 && threads == 1) || make_fan(&fan, threads)) {
    copy_here(many, &fan.own);
  } else {
    start_threads(&fan, threads);
    for (size_t i = 0; i < many->source_count; i++) one_source(&fan, i);
    stop_threads(&fan);
  }
  release_fan(&fan);
}
