/*
 * fio_job.c - from a demand and a choice to the options of a job of fio. What fio does by itself and weir does not (hints,
 * changed buffers, preallocation) is switched off, so that what is left to tell apart stands in the notes.
 */
#include "cli/fio_job.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SECTOR 512u

/* ---- text ---- */

static void write_text(struct fio_text *list, unsigned *count, unsigned most, const char *format, va_list arguments) {
  if (*count == most) return;
  vsnprintf(list[*count].text, sizeof list->text, format, arguments);
  ++*count;
}

__attribute__((format(printf, 2, 3))) static void option(struct fio_job *job, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_text(job->options, &job->option_count, FIO_OPTIONS_MAX, format, arguments);
  va_end(arguments);
}

__attribute__((format(printf, 2, 3))) static void note(struct fio_job *job, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_text(job->notes, &job->note_count, FIO_NOTES_MAX, format, arguments);
  va_end(arguments);
}

__attribute__((format(printf, 2, 3))) static int refuse(struct fio_job *job, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(job->reason, sizeof job->reason, format, arguments);
  va_end(arguments);
  return -EOPNOTSUPP;
}

/* ---- methods ---- */

enum { CACHED, DIRECT };
struct engine {
  const char *method, *name;
  int direct;
  const char *more; /* an option of the engine, or NULL */
};
static const struct engine engines[] = {
    {"null", "null", CACHED, NULL},
    {"fd/pread", "psync", CACHED, NULL},
    {"fd/pwrite", "psync", CACHED, NULL},
    {"fd/mixed", "psync", CACHED, NULL},
    {"fd/read", "sync", CACHED, NULL},
    {"fd/write", "sync", CACHED, NULL},
    {"fd/preadv2", "pvsync2", CACHED, NULL},
    {"fd/pwritev2", "pvsync2", CACHED, NULL},
    {"sys/pread", "psync", CACHED, NULL},
    {"sys/pwrite", "psync", CACHED, NULL},
    {"sys/read", "sync", CACHED, NULL},
    {"sys/write", "sync", CACHED, NULL},
    {"map/copy", "mmap", CACHED, NULL},
    {"map/write", "mmap", CACHED, NULL},
    {"map/mixed", "mmap", CACHED, NULL},
    {"direct/pread", "psync", DIRECT, NULL},
    {"direct/pwrite", "psync", DIRECT, NULL},
    {"direct/mixed", "psync", DIRECT, NULL},
    {"dontcache/read", "pvsync2", CACHED, "--uncached=1"},
    {"dontcache/write", "pvsync2", CACHED, "--uncached=1"},
    {"ring/plain", "io_uring", CACHED, NULL},
    {"ring/fixed", "io_uring", CACHED, "--fixedbufs=1"},
    {"ring/direct", "io_uring", DIRECT, "--fixedbufs=1"},
    {"aio/libaio", "libaio", DIRECT, NULL},
    {"aio/cached", "libaio", CACHED, NULL},
    {"aio/posix", "posixaio", CACHED, NULL},
};

/* By the beginning of a method's name; the first that fits. */
static const struct {
  const char *method, *why;
} wordless[] = {
    {"stdio/", "it has no engine for the streams of the C library"},
    {"stream/", "it has no engine for the streams of C++"},
    {"fd/readv", "it fills one piece of memory with a request, not several"},
    {"fd/writev", "it takes a request from one piece of memory, not from several"},
    {"map/view", "its mapped reads copy every block"},
    {"map/populate", "it does not map pages in ahead, and its mapped reads copy every block"},
    {"map/window", "it maps the file once, not for each request"},
    {"ring/linked", "it does not link requests"},
    {"ring/several", "one of its jobs has one ring"},
    {"overlap/", "its jobs do nothing with a block while the next ones are read"},
    {"weir/", "libweir is no engine of it; say the method that makes the same calls"},
    {"exec/", "this contender is a program itself"},
    {"", "it has no engine that does this"},
};

static const struct engine *find_engine(const char *method) {
  for (size_t i = 0; i < sizeof engines / sizeof *engines; i++)
    if (strcmp(engines[i].method, method) == 0) return &engines[i];
  return NULL;
}

static const char *why_not(const char *method) {
  size_t i = 0;
  while (strncmp(wordless[i].method, method, strlen(wordless[i].method)) != 0) i++;
  return wordless[i].why;
}

/* The text of a parameter, "" where the method has none of this name. */
static const char *said(const struct plan_cell *cell, const char *name) {
  for (unsigned i = 0; i < cell->param_count; i++)
    if (strcmp(cell->params[i].name, name) == 0) return cell->params[i].text;
  return "";
}

static uint64_t number(const struct plan_cell *cell, const char *name, uint64_t otherwise) {
  for (unsigned i = 0; i < cell->param_count; i++)
    if (strcmp(cell->params[i].name, name) == 0) return cell->params[i].value;
  return otherwise;
}

/* ---- what the user fixes ---- */

static int check_demand(const struct plan_demand *demand, struct fio_job *job) {
  if (demand->task == WEIR_TASK_WHOLE)
    return refuse(job, "it moves request by request through the same memory and never holds a whole file");
  if (demand->task != WEIR_TASK_BLOCKS)
    return refuse(job, "it moves blocks and knows nothing of '%s'", plan_task_words[demand->task]);
  if (demand->members) return refuse(job, "one of its jobs does not stripe a file over several disks");
  return 0;
}

static void say_direction(const struct plan_demand *demand, struct fio_job *job) {
  static const char *const words[][2] = {{"read", "randread"}, {"write", "randwrite"}, {"rw", "randrw"}};
  option(job, "--rw=%s", words[demand->direction][demand->access == WEIR_RANDOM]);
  if (demand->direction == WEIR_MIXED) {
    option(job, "--rwmixwrite=%u", (unsigned)(demand->write_share * 100 + 0.5));
    note(job, "which requests write: fio draws at each request, weir by the place in the file, the same in every pass");
  }
  if (demand->access == WEIR_RANDOM) note(job, "both visit each block once in a pass, in random orders of their own");
}

/* Shares of equal length, as fio has them; weir's differ by a block. */
static void say_sizes(const struct plan_demand *demand, uint64_t block, unsigned threads, struct fio_job *job) {
  const uint64_t blocks = demand->size_bytes / block / threads, share = blocks * block;
  const uint64_t left_out = demand->size_bytes - share * threads;
  uint64_t operations = blocks;
  if (demand->access == WEIR_RANDOM && demand->coverage < 1) {
    operations = (uint64_t)(demand->coverage * (double)blocks + 0.5);
    if (operations == 0) operations = 1;
  }
  option(job, "--bs=%" PRIu64, block);
  option(job, "--filesize=%" PRIu64, share * threads);
  option(job, "--size=%" PRIu64, share);
  if (operations < blocks) option(job, "--io_size=%" PRIu64, operations * block);
  if (threads > 1) {
    option(job, "--numjobs=%u", threads);
    option(job, "--offset_increment=%" PRIu64, share);
    option(job, "--group_reporting");
  }
  if (left_out)
    note(job, "the last %" PRIu64 " bytes are left out: fio moves whole blocks%s", left_out,
         threads > 1 ? ", the same number in each thread" : "");
}

/* fio's rates are whole numbers for one thread, and apart for reads and writes. */
static int say_rate(const struct plan_demand *demand, unsigned threads, struct fio_job *job) {
  const double each = demand->rate_per_s / threads;
  const double writes = demand->direction == WEIR_MIXED ? demand->write_share : demand->direction == WEIR_WRITE;
  const unsigned read_rate = (unsigned)(each * (1 - writes) + 0.5), write_rate = (unsigned)(each * writes + 0.5);
  if (demand->rate_per_s <= 0) return 0;
  if (each > 1e9 || (writes < 1 && read_rate == 0) || (writes > 0 && write_rate == 0))
    return refuse(job, "its rates are whole numbers of requests a second for each thread");
  option(job, "--rate_iops=%u,%u", read_rate ? read_rate : write_rate, write_rate ? write_rate : read_rate);
  note(job, "the rate: fio times a request from when it began, weir from when it was due");
  return 0;
}

static void say_durability(const struct plan_demand *demand, const struct plan_cell *cell, struct fio_job *job) {
  const char *flush = said(cell, "flush");
  const bool mapped = strncmp(cell->method, "map/", 4) == 0;
  if (demand->direction == WEIR_READ || demand->durability == WEIR_DURABILITY_NONE) return;
  if (demand->durability == WEIR_DURABILITY_END) {
    option(job, "--end_fsync=1");
    note(job, "the flush at the end: fio calls %s", mapped ? "msync" : "fsync, weir fdatasync");
  } else if (mapped || strcmp(flush, "fdatasync") == 0) {
    option(job, "--fdatasync=1");
    if (mapped) note(job, "the flush after each write: fio calls msync on its whole mapping");
  } else {
    option(job, "--sync=dsync");
  }
}

static int say_new_file(const struct plan_cell *cell, struct fio_job *job) {
  static const char *const words[][2] = {{"grow", "none"}, {"ftruncate", "truncate"}, {"fallocate", "native"}};
  const char *extend = said(cell, "extend");
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (strcmp(words[i][0], extend) != 0) continue;
    option(job, "--fallocate=%s", words[i][1]);
    note(job, "fio makes the file, and gives it its length, before its clock starts");
    return 0;
  }
  return refuse(job, "it does not do extend=%s", extend);
}

static int say_target(const struct plan_demand *demand, const struct plan_cell *cell, struct fio_job *job) {
  if (demand->direction == WEIR_READ) return 0;
  if (demand->target == WEIR_TARGET_NEW || demand->target == WEIR_TARGET_TRUNCATE) return say_new_file(cell, job);
  if (demand->target == WEIR_TARGET_PREALLOCATED) {
    option(job, "--fallocate=native");
    return 0;
  }
  option(job, "--overwrite=1");
  option(job, "--fallocate=none");
  return 0;
}

static bool has_old_data(const struct plan_demand *demand) {
  return demand->direction != WEIR_WRITE || demand->target == WEIR_TARGET_OVERWRITE;
}

static void say_cache(const struct plan_demand *demand, bool direct, enum plan_flush flush, struct fio_job *job) {
  if (demand->cache == PLAN_COLD) {
    option(job, "--invalidate=1");
    note(job, "cold: fio asks for the file's pages to be dropped; weir also looks whether they are gone");
    if (flush != PLAN_FLUSH_DONTNEED)
      note(job, "cold: --flush=%s is not fio's way; do it by hand before each run", plan_flush_words[flush]);
    return;
  }
  option(job, "--invalidate=0");
  if (!has_old_data(demand) || job->opens_file == false) return;
  if (direct) {
    note(job, "warm: direct requests pass the cache by; what of the file is in it, fio leaves as it is");
    return;
  }
  option(job, "--pre_read=1");
  note(job, "warm: fio reads the file first, in pieces of one block; weir in pieces of 1 MiB after evicting it");
}

static void say_consumer(const struct plan_demand *demand, struct fio_job *job) {
  static const char *const looks[] = {NULL, "loads a byte of each cache line that it got", "hashes every byte that it got",
                                      "compares every byte that it got"};
  const bool none = demand->consumer == WEIR_CONSUMER_NONE;
  if (demand->direction != WEIR_READ) {
    option(job, none ? "--scramble_buffers=0" : "--refill_buffers=1");
    if (!none) note(job, "bytes that are written: both make new ones for each request; how fast is their own matter");
  }
  if (demand->direction != WEIR_WRITE && !none)
    note(job, "bytes that are read: weir %s, fio looks at none; 'weir bench --consumer none' does not either",
         looks[demand->consumer]);
}

/* ---- what the programmer picks ---- */

static int say_advice(const struct plan_cell *cell, struct fio_job *job) {
  const char *hint = said(cell, "hint");
  if (!hint[0]) hint = said(cell, "advice");
  if (!hint[0] || strcmp(hint, "none") == 0) {
    option(job, "--fadvise_hint=0");
    return 0;
  }
  if (strcmp(hint, "sequential") != 0 && strcmp(hint, "random") != 0)
    return refuse(job, "it does not give the advice '%s'", hint);
  option(job, "--fadvise_hint=%s", hint);
  return 0;
}

/* Completions that are waited for at once: 0 stands for a sixteenth of the depth. */
static void say_depth(const struct plan_cell *cell, struct fio_job *job) {
  const uint64_t depth = number(cell, "depth", 0), wanted = number(cell, "batch", 0);
  uint64_t batch = wanted ? wanted : depth / 16;
  if (depth == 0) return;
  if (batch > depth) batch = depth;
  option(job, "--iodepth=%" PRIu64, depth);
  if (batch > 1) {
    option(job, "--iodepth_batch_complete_min=%" PRIu64, batch);
    option(job, "--iodepth_batch_complete_max=%" PRIu64, depth);
    note(job, "weir hands its next requests over in groups that grow; fio one by one (--iodepth_batch)");
  }
}

static int say_extras(const struct plan_cell *cell, struct fio_job *job) {
  if (number(cell, "pieces", 1) != 1) return refuse(job, "it moves a request to or from one piece of memory");
  if (strcmp(said(cell, "workers"), "near") == 0) return refuse(job, "it does not keep the ring's threads on one CPU");
  if (strcmp(said(cell, "flags"), "hipri") == 0) option(job, "--hipri=1");
  return 0;
}

static int say_engine(const struct engine *engine, const struct plan_cell *cell, uint64_t block, struct fio_job *job) {
  option(job, "--ioengine=%s", engine->name);
  option(job, "--thread");
  if (engine->more) option(job, "%s", engine->more);
  if (engine->more && strcmp(engine->more, "--fixedbufs=1") == 0) option(job, "--registerfiles=1");
  if (engine->direct == DIRECT && block % SECTOR)
    return refuse(job, "its direct requests have to be whole sectors; %" PRIu64 " bytes are not", block);
  option(job, "--direct=%d", engine->direct);
  say_depth(cell, job);
  int code = say_extras(cell, job);
  return code ? code : say_advice(cell, job);
}

/* ---- all of it ---- */

/* Of several threads the first that is done would take the file away from the others. */
static void say_file(bool users_file, bool removes, struct fio_job *job) {
  if (!job->opens_file) return;
  if (users_file)
    option(job, "--readonly");
  else if (removes)
    option(job, "--unlink=1");
  if (users_file) return;
  note(job,
       removes ? "fio makes its file, and removes it when it is done" : "fio makes its file; remove it when you are done");
}

static void say_effort(struct fio_job *job) {
  note(job, "fio times every request; weir does so with --latency only");
  note(job, "weir repeats the pass until a sample is long enough; fio does with --loops=N");
}

int fio_job_make(const struct plan_group *group, const struct plan_cell *cell, enum plan_flush flush, bool users_file,
                 struct fio_job *out) {
  const struct plan_demand *demand = &group->demand;
  const struct engine *engine = find_engine(cell->method);
  const uint64_t block = number(cell, "block", demand->request_bytes ? demand->request_bytes : 65536);
  *out = (struct fio_job){.opens_file = strcmp(cell->method, "null") != 0};
  int code = check_demand(demand, out);
  if (code == 0 && !engine) code = refuse(out, "%s", why_not(cell->method));
  if (code == 0 && block * cell->threads > demand->size_bytes)
    code = refuse(out, "the file has no whole block for each thread, and it moves whole blocks");
  if (code == 0) code = say_engine(engine, cell, block, out);
  if (code) return code;
  say_direction(demand, out);
  say_sizes(demand, block, cell->threads, out);
  say_durability(demand, cell, out);
  say_cache(demand, engine->direct == DIRECT, flush, out);
  say_consumer(demand, out);
  code = say_target(demand, cell, out);
  if (code == 0) code = say_rate(demand, cell->threads, out);
  say_file(users_file, cell->threads == 1, out);
  say_effort(out);
  return code;
}
