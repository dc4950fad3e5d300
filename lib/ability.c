/*
 * ability.c - what this system and its file systems can do, and what follows from it for WEIR_AUTO. Holds the only memory
 * that the library keeps between calls: a table of verdicts, one row for each device that holds files. All of it is atomic
 * and only ever learns, so that threads need no lock; who comes late tries the same thing again and finds the same.
 */
#include <string.h>

#include "lib/internal.h"

#define KIB ((size_t)1024)
#define MIB (KIB * 1024)

/* ---- the table ---- */

enum verdict {
  UNKNOWN,
  YES,
  NO_SYSTEM,
  NO_FILE_SYSTEM,
  NO_PERMISSION,
  NO_IN_USE,
  NO_NOW, /* not learned: it may be different next time */
};

static const char *const reasons[] = {
    [UNKNOWN] = "not tried yet",
    [YES] = "it works",
    [NO_SYSTEM] = "the system does not offer it",
    [NO_FILE_SYSTEM] = "the file system does not offer it",
    [NO_PERMISSION] = "the system does not permit it",
    [NO_IN_USE] = "it was refused when it was used",
    [NO_NOW] = "it could not be tried now",
};

#define ROWS 64u        /* devices; what finds no row is tried anew each time */
#define VERDICT_BITS 4u /* of a feature in a row */
#define VERDICT_MASK 15u
#define SYSTEM_KEY UINT64_MAX /* the row for what does not depend on the file system */
#define HUGE_UNKNOWN SIZE_MAX

static struct {
  struct {
    _Atomic uint64_t key; /* device plus one; 0: free */
    atomic_uint verdicts;
  } rows[ROWS];
  _Atomic size_t huge_page;
  _Atomic(atomic_uint *) process; /* memory that a forked process finds zeroed; &no_process where there is none */
  atomic_uint processes;
  atomic_uint no_process;
  atomic_uint threads;
} learned = {.huge_page = HUGE_UNKNOWN};

/* The device's row, made where it is missing; NULL when all are taken. */
static atomic_uint *row_of(uint64_t key) {
  for (unsigned i = 0; i < ROWS; i++) {
    const unsigned at = (unsigned)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 58) + i;
    uint64_t there = atomic_load(&learned.rows[at % ROWS].key);
    if (there == 0 && atomic_compare_exchange_strong(&learned.rows[at % ROWS].key, &there, key)) there = key;
    if (there == key) return &learned.rows[at % ROWS].verdicts;
  }
  return NULL;
}
_Static_assert(ROWS == 1u << (64 - 58), "the hash has as many bits as the table needs");

static uint64_t key_of(const struct os_stat *stat, enum weir_feature feature) {
  if (feature == WEIR_FEATURE_RING || feature == WEIR_FEATURE_HUGE_PAGES) return SYSTEM_KEY;
  return stat->device + 1;
}

static enum verdict recall(uint64_t key, enum weir_feature feature) {
  const atomic_uint *row = row_of(key);
  return row ? (enum verdict)(atomic_load(row) >> (VERDICT_BITS * (unsigned)feature) & VERDICT_MASK) : UNKNOWN;
}

static void learn(uint64_t key, enum weir_feature feature, enum verdict verdict) {
  atomic_uint *row = row_of(key);
  if (!row || verdict == UNKNOWN || verdict == NO_NOW) return;
  const unsigned shift = VERDICT_BITS * (unsigned)feature;
  unsigned before = atomic_load(row), after;
  do after = (before & ~(VERDICT_MASK << shift)) | (unsigned)verdict << shift;
  while (!atomic_compare_exchange_weak(row, &before, after));
}

/* ---- trying it out ---- */

static enum verdict of_error(int error) {
  switch (error) {
    case 0:
      return YES;
    case WEIR_EPERM:
    case WEIR_EACCES:
      return NO_PERMISSION;
    case WEIR_ENOMEM:
    case WEIR_EMFILE:
    case WEIR_ENFILE:
    case WEIR_EAGAIN:
    case WEIR_EINTR:
      return NO_NOW;
    case WEIR_ENOSYS:
      return NO_SYSTEM;
    default:
      return NO_FILE_SYSTEM;
  }
}

/* Some refuse at the open, some only at the first transfer, so one block is really read. */
static enum verdict read_directly(os_file file) {
  uint32_t memory = 1, offset = 1;
  const int error = os_direct_alignment(file, &memory, &offset);
  if (error && error != WEIR_EOPNOTSUPP) return NO_FILE_SYSTEM;
  const size_t block = !error && offset > 4 * KIB ? offset : 4 * KIB;
  void *data;
  if (weir__pages_get(block, 0, &data)) return NO_NOW;
  const int64_t count = os_pread(file, data, block, 0);
  weir__pages_put(data, block);
  if (count < 0) return count == WEIR_EIO ? NO_NOW : NO_FILE_SYSTEM; /* a bad sector is this file's misfortune */
  return count == 0 ? UNKNOWN : YES;                                 /* an empty file proves nothing */
}

static enum verdict try_direct(os_file file) {
  os_file again;
  const int error = os_reopen(file, OS_READ | OS_DIRECT, &again);
  if (error == WEIR_EINVAL) return NO_FILE_SYSTEM;
  if (error) return UNKNOWN;
  const enum verdict verdict = read_directly(again);
  (void)os_close(again);
  return verdict;
}

static enum verdict try_uncached(os_file file) {
  char byte;
  const struct os_piece piece = {&byte, 1};
  const int64_t count = os_preadv(file, &piece, 1, 0, OS_TRANSFER_UNCACHED);
  if (count >= 0) return YES;
  return count == WEIR_EOPNOTSUPP || count == WEIR_ENOSYS ? NO_FILE_SYSTEM : UNKNOWN;
}

static enum verdict try_cache_state(os_file file) {
  struct os_cache state;
  const int error = os_cache_state(file, 0, 1, &state);
  if (!error) return YES;
  return error == WEIR_EPERM ? NO_NOW : of_error(error); /* own files may be asked about */
}

/* Features that only a change would show are believed in until weir__cannot says otherwise. */
static enum verdict try_feature(os_file file, enum weir_feature feature) {
  switch (feature) {
    case WEIR_FEATURE_RING: {
      const int error = os_ring_probe(NULL, 0, NULL, 0);
      return error == WEIR_EOPNOTSUPP ? NO_SYSTEM : of_error(error);
    }
    case WEIR_FEATURE_HUGE_PAGES:
      return weir__huge_page() ? YES : NO_SYSTEM;
    case WEIR_FEATURE_DIRECT:
      return file == os_no_file ? UNKNOWN : try_direct(file);
    case WEIR_FEATURE_UNCACHED:
      return file == os_no_file ? UNKNOWN : try_uncached(file);
    case WEIR_FEATURE_CACHE_STATE:
      return file == os_no_file ? UNKNOWN : try_cache_state(file);
    default:
      return UNKNOWN;
  }
}

static enum verdict verdict_of(os_file file, const struct os_stat *stat, enum weir_feature feature) {
  const uint64_t key = key_of(stat, feature);
  enum verdict verdict = recall(key, feature);
  if (verdict == UNKNOWN) {
    verdict = try_feature(file, feature);
    learn(key, feature, verdict);
  }
  return verdict;
}

bool weir__can(os_file file, const struct os_stat *stat, enum weir_feature feature, const char **reason) {
  const enum verdict verdict = verdict_of(file, stat, feature);
  if (reason) *reason = reasons[verdict];
  return verdict == YES || verdict == UNKNOWN;
}

void weir__cannot(const struct os_stat *stat, enum weir_feature feature) {
  learn(key_of(stat, feature), feature, NO_IN_USE);
}

/* ---- facts about the machine ---- */

unsigned weir__processors(void) { return os_processors(); }

size_t weir__huge_page(void) {
  size_t size = atomic_load_explicit(&learned.huge_page, memory_order_relaxed);
  if (size != HUGE_UNKNOWN) return size;
  size = os_huge_page_size();
  atomic_store_explicit(&learned.huge_page, size, memory_order_relaxed);
  return size;
}

static atomic_uint *make_process_word(void) {
  atomic_uint *word = &learned.no_process, *before = NULL;
  void *page;
  if (os_memory_get(os_page_size(), OS_MEMORY_WIPED, &page) == 0) word = page;
  if (atomic_compare_exchange_strong(&learned.process, &before, word)) return word;
  if (word != &learned.no_process) (void)os_memory_put(page, os_page_size());
  return before;
}

/* Asking the system for the number of the process on every transfer would cost a good part of a small one. */
int weir__process(void) {
  atomic_uint *word = atomic_load_explicit(&learned.process, memory_order_acquire);
  if (!word) word = make_process_word();
  if (word == &learned.no_process) return os_process_id();
  unsigned number = atomic_load_explicit(word, memory_order_relaxed);
  if (number) return (int)number;
  const unsigned fresh = atomic_fetch_add(&learned.processes, 1) + 1;
  return (int)(atomic_compare_exchange_strong(word, &number, fresh) ? fresh : number);
}

unsigned weir__thread(void) {
  static _Thread_local unsigned number; /* an address would come again when the thread has ended */
  if (!number) number = atomic_fetch_add(&learned.threads, 1) + 1;
  return number;
}

/* ---- how much of a file is cached ---- */

#define SAMPLES 8u

/* For systems that do not tell: bytes here and there, read only where that needs no device. */
static int sample_cache(os_file file, uint64_t offset, uint64_t length) {
  unsigned cached = 0;
  for (unsigned i = 0; i < SAMPLES; i++) {
    char byte;
    const struct os_piece piece = {&byte, 1};
    const int64_t count = os_preadv(file, &piece, 1, offset + (length - 1) / (SAMPLES - 1) * i, OS_TRANSFER_CACHED);
    if (count < 0 && count != WEIR_EAGAIN) return -1;
    cached += count > 0;
  }
  return (int)(cached * 100 / SAMPLES);
}

/* Asking about a range takes as long as a twentieth of reading it, so of large ones only some windows are looked at. */
#define WINDOWS 16u
#define WINDOW (128 * KIB)

int weir__cached_percent(os_file file, uint64_t offset, uint64_t length) {
  struct os_cache state;
  if (length == 0) return 100;
  const bool whole = length <= 2 * WINDOWS * WINDOW;
  const uint64_t window = whole ? length : WINDOW, step = length / WINDOWS;
  uint64_t cached = 0, looked_at = 0;
  for (unsigned i = 0; i < (whole ? 1 : WINDOWS); i++) {
    if (os_cache_state(file, offset + i * step, window, &state)) return sample_cache(file, offset, length);
    cached += state.cached_bytes;
    looked_at += window;
  }
  return (int)((double)cached * 100 / (double)looked_at);
}

/* ---- what WEIR_AUTO does ---- */

#define WARM_PERCENT 90      /* from here on a file counts as cached */
#define COLD_SMALL (4 * MIB) /* the system's own read-ahead is enough for less */
#define WHOLE_THREADS_FROM (16 * MIB)
#define WHOLE_THREAD_BYTES (8 * MIB)  /* at least, for each thread: starting one costs as much as copying 0.3 MiB */
#define WHOLE_THREADS_MAX 4u          /* memory is busy then */
#define MEMORY_ASKED_FROM (256 * MIB) /* below it, finding out what is free costs more than it saves */

static void set(struct weir_choice *how, enum weir_strategy strategy, size_t block_bytes, unsigned depth,
                const char *reason) {
  *how = (struct weir_choice){.strategy = strategy, .block_bytes = block_bytes, .depth = depth, .reason = reason};
}

/* Would leave no room in memory for anything else's pages. */
static bool floods_memory(uint64_t bytes) {
  if (bytes < MEMORY_ASKED_FROM) return false;
  const uint64_t available = os_available_bytes();
  return available && bytes > available / 2;
}

/* Past the cache in the way that is there, or false. */
static bool pass_by(os_file file, const struct os_stat *stat, size_t block_bytes, unsigned depth, struct weir_choice *how) {
  const char *reason = "larger than half of the free memory";
  if (weir__can(file, stat, WEIR_FEATURE_UNCACHED, NULL)) {
    set(how, WEIR_UNCACHED, block_bytes, 1, reason);
    return true;
  }
  if (!weir__can(file, stat, WEIR_FEATURE_DIRECT, NULL)) return false;
  set(how, WEIR_DIRECT, block_bytes, depth, reason);
  how->direct = true;
  return true;
}

static void choose_whole(os_file file, const struct os_stat *stat, struct weir__part range, struct weir_choice *how) {
  const uint64_t bytes = range.bytes;
  set(how, WEIR_BUFFERED, 0, 1, "small enough for one thread");
  if (bytes < WHOLE_THREADS_FROM) return;
  if (floods_memory(bytes) && weir__cached_percent(file, range.offset, bytes) < WARM_PERCENT &&
      pass_by(file, stat, 0, 1, how))
    return;
  unsigned threads = weir__processors();
  if (threads > WHOLE_THREADS_MAX) threads = WHOLE_THREADS_MAX;
  if (threads > bytes / WHOLE_THREAD_BYTES) threads = (unsigned)(bytes / WHOLE_THREAD_BYTES);
  if (threads < 2) {
    how->reason = "one processor";
    return;
  }
  set(how, WEIR_THREADS, 2 * MIB, threads, "large enough for several threads");
  how->threads = threads - 1;
}

static void choose_stream(os_file file, const struct os_stat *stat, struct weir__part range, struct weir_choice *how) {
  const uint64_t bytes = range.bytes;
  const int cached = bytes ? weir__cached_percent(file, range.offset, bytes) : 100;
  if (cached >= WARM_PERCENT) {
    set(how, WEIR_BUFFERED, 256 * KIB, 1, bytes ? "the file is cached" : "the file is empty or tells no size");
  } else if (bytes < COLD_SMALL) {
    set(how, WEIR_BUFFERED, 256 * KIB, 1, "small: the system reads ahead by itself");
  } else if (!floods_memory(bytes) || !pass_by(file, stat, MIB, 4, how)) {
    set(how, WEIR_THREADS, MIB, 4, cached < 0 ? "the system does not tell what is cached" : "the file is not cached");
    how->threads = 1;
  }
}

static void choose_random(os_file file, const struct os_stat *stat, struct weir__part range, struct weir_choice *how) {
  const uint64_t bytes = range.bytes;
  const int cached = bytes ? weir__cached_percent(file, range.offset, bytes) : 100;
  if (cached >= WARM_PERCENT) {
    set(how, WEIR_BUFFERED, 4 * KIB, 1, "the file is cached");
  } else if (weir__can(file, stat, WEIR_FEATURE_RING, NULL)) {
    set(how, WEIR_RING, 4 * KIB, 32, "the file is not cached");
  } else {
    set(how, WEIR_THREADS, 4 * KIB, 32, "the file is not cached and there are no rings");
    how->threads = 32;
  }
}

static void choose_write(os_file file, const struct os_stat *stat, uint64_t bytes, struct weir_choice *how) {
  if (floods_memory(bytes) && pass_by(file, stat, MIB, 4, how)) return;
  set(how, WEIR_BUFFERED, MIB, 1, "the system writes back by itself");
}

void weir__choose(os_file file, const struct os_stat *stat, enum weir_use use, struct weir__part range,
                  struct weir_choice *how) {
  if (use != WEIR_USE_WRITE && range.bytes == 0) range.bytes = stat->size > range.offset ? stat->size - range.offset : 0;
  if (stat->kind != OS_REGULAR && stat->kind != OS_BLOCK_DEVICE) {
    set(how, WEIR_BUFFERED, 64 * KIB, 1, "not a regular file");
    return;
  }
  switch (use) {
    case WEIR_USE_WHOLE:
      choose_whole(file, stat, range, how);
      break;
    case WEIR_USE_STREAM:
      choose_stream(file, stat, range, how);
      break;
    case WEIR_USE_RANDOM:
      choose_random(file, stat, range, how);
      break;
    case WEIR_USE_WRITE:
      choose_write(file, stat, range.bytes, how);
      break;
    default:
      set(how, WEIR_BUFFERED, MIB, 1, "the system copies, where it can without moving bytes");
      break;
  }
}

/* ---- the public questions ---- */

/* The directory part of a path, or false when that is too long to be one. */
static bool parent(const char *path, char *out, size_t size) {
  const char *slash = strrchr(path, '/');
  const size_t length = slash ? (size_t)(slash - path) : 0;
  if (length + 2 > size) return false;
  if (length == 0) {
    memcpy(out, slash ? "/" : ".", 2);
    return true;
  }
  memcpy(out, path, length);
  out[length] = '\0';
  return true;
}

#define PATH_MAX_BYTES 4096

static int how_to_write(const char *path, uint64_t bytes, struct weir_choice *how, struct weir_error *error) {
  char directory[PATH_MAX_BYTES];
  struct os_stat stat;
  int code = os_stat_path(path, &stat);
  if (code == WEIR_ENOENT) {
    code = parent(path, directory, sizeof directory) ? os_stat_path(directory, &stat) : WEIR_ENAMETOOLONG;
    if (!code && stat.kind != OS_DIRECTORY) code = WEIR_ENOTDIR;
    stat.kind = OS_REGULAR; /* as the file will be */
  }
  if (!code && stat.kind == OS_DIRECTORY) code = WEIR_EISDIR;
  if (code) return weir__fail(error, code, "stat", path, 0, 0, 0);
  weir__choose(os_no_file, &stat, WEIR_USE_WRITE, (struct weir__part){0, bytes}, how);
  return 0;
}

int weir_how(const char *path, enum weir_use use, uint64_t bytes, struct weir_choice *how, struct weir_error *error) {
  if (!path || !how || (unsigned)use > WEIR_USE_COPY) return weir__fail(error, WEIR_EINVAL, "how", path, 0, 0, 0);
  if (use == WEIR_USE_WRITE) return how_to_write(path, bytes, how, error);
  os_file file;
  struct os_stat stat;
  const int code = weir__open(path, OS_READ, 0, 0, &file, &stat, error);
  if (code) return code;
  weir__choose(file, &stat, use, (struct weir__part){0, bytes}, how);
  (void)os_close(file);
  return 0;
}

/* ---- features that only a change shows: tried on a file without a name ---- */

static enum verdict try_preallocate(os_file file) {
  const int error = os_allocate(file, 4 * KIB);
  return error == WEIR_EOPNOTSUPP ? NO_FILE_SYSTEM : error ? UNKNOWN : YES;
}

/* A whole block, so that direct reads have something to read. */
static int make_unnamed(const char *path, bool is_directory, os_file *out) {
  char directory[PATH_MAX_BYTES], block[4096] = {0};
  if (!is_directory && !parent(path, directory, sizeof directory)) return WEIR_ENAMETOOLONG;
  const int error = os_open(is_directory ? path : directory, OS_READ | OS_WRITE | OS_UNNAMED, out);
  if (error) return error;
  const int64_t count = os_pwrite_full(*out, block, sizeof block, 0);
  if (count >= 0) return 0;
  (void)os_close(*out);
  return (int)count;
}

static enum verdict try_clone(const char *path, bool is_directory, os_file from) {
  os_file to;
  if (make_unnamed(path, is_directory, &to)) return UNKNOWN;
  const int error = os_clone(from, to);
  (void)os_close(to);
  return of_error(error);
}

static enum verdict try_on_unnamed(const char *path, bool is_directory, const struct os_stat *stat,
                                   enum weir_feature feature, const char **reason) {
  const uint64_t key = key_of(stat, feature);
  enum verdict verdict = recall(key, feature);
  os_file file;
  if (verdict != UNKNOWN) return verdict;
  const int error = make_unnamed(path, is_directory, &file);
  if (error) {
    *reason = "no file can be made there to try it";
    return NO_NOW;
  }
  if (feature == WEIR_FEATURE_PREALLOCATE) {
    verdict = try_preallocate(file);
  } else {
    verdict = feature == WEIR_FEATURE_CLONE ? try_clone(path, is_directory, file) : try_feature(file, feature);
  }
  (void)os_close(file);
  learn(key, feature, verdict);
  return verdict;
}

/* Those that reading an existing file shows. */
static bool is_shown_by_reading(enum weir_feature feature) {
  return feature != WEIR_FEATURE_CLONE && feature != WEIR_FEATURE_PREALLOCATE;
}

bool weir_can(const char *path, enum weir_feature feature, const char **reason) {
  const char *why = NULL;
  os_file file;
  struct os_stat stat;
  enum verdict verdict = NO_NOW;
  int error =
      path && (unsigned)feature <= WEIR_FEATURE_HUGE_PAGES ? os_open(path, OS_READ | OS_NO_WAIT, &file) : WEIR_EINVAL;
  if (error) {
    why = weir_strerror(error);
  } else {
    error = os_stat_file(file, &stat);
    if (error) {
      why = weir_strerror(error);
    } else if (stat.kind == OS_REGULAR && stat.size && is_shown_by_reading(feature)) {
      verdict = verdict_of(file, &stat, feature);
    } else if (key_of(&stat, feature) == SYSTEM_KEY) {
      verdict = verdict_of(os_no_file, &stat, feature);
    } else if (stat.kind == OS_REGULAR || stat.kind == OS_DIRECTORY) {
      verdict = try_on_unnamed(path, stat.kind == OS_DIRECTORY, &stat, feature, &why);
    } else {
      why = weir_strerror(WEIR_ENOTREG);
    }
    (void)os_close(file);
  }
  if (reason) *reason = why ? why : reasons[verdict];
  return verdict == YES || verdict == UNKNOWN;
}
