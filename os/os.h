/*
 * os.h - all that weir asks of an operating system, in plain words.
 *
 * One folder for each system holds functions of these names (linux/, later win32/); the build chooses the folder. Nothing
 * here is named after one system. Every function that can fail returns 0 or a count on success and a negative errno value
 * on failure, never touches errno-dependent state of the caller and never prints. Interrupted calls (EINTR) are repeated
 * inside, except close. Functions are safe to call from several threads on different objects.
 *
 * The calls beneath go through a table that tests override by name: see os_override at the end.
 */
#ifndef WEIR_OS_H
#define WEIR_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- files --------------------------------------------------------------------------------------------------------- */

typedef intptr_t os_file; /* a descriptor or handle; os_no_file when there is none */
#define os_no_file ((os_file)-1)

enum os_open_flag {
  OS_READ = 1 << 0,
  OS_WRITE = 1 << 1,
  OS_CREATE = 1 << 2,
  OS_EXCLUSIVE = 1 << 3,  /* with OS_CREATE: fails with -EEXIST */
  OS_TRUNCATE = 1 << 4,
  OS_DIRECT = 1 << 5,     /* pass the page cache by; -EINVAL where refused (it may be refused at the first transfer too) */
  OS_DATA_SYNC = 1 << 6,  /* every write is durable when it returns */
  OS_NO_WAIT = 1 << 7,    /* opening a FIFO or device does not block */
  OS_UNNAMED = 1 << 8,    /* a new file without a name in directory `path`; -EOPNOTSUPP where unknown */
  OS_APPEND = 1 << 9,     /* every write goes to the end, wherever the file stands */
  OS_NO_FOLLOW = 1 << 10, /* -ELOOP if `path` itself is a symbolic link */
  OS_STAY_READY = 1 << 11, /* with OS_NO_WAIT: transfers do not wait either, until os_wait_again */
};

/* Opens `path` literally. Never inherited by other programs, never descriptor 0-2. New files have mode 0600. */
int os_open(const char *path, unsigned flags, os_file *out);
/* The same; new files get `mode` (0 to 07777) as the umask leaves it. */
int os_open_mode(const char *path, unsigned flags, unsigned mode, os_file *out);
/* The same for a file that is there, named as seen from an open directory; OS_CREATE and what needs a mode is -EINVAL. */
int os_open_at(os_file directory, const char *name, unsigned flags, os_file *out);
/* The file behind `file` once more, with a position and flags of its own. -EOPNOTSUPP where the system has no way. */
int os_reopen(os_file file, unsigned flags, os_file *out);
/* A second descriptor for the same position and flags; like os_open never inherited and never 0-2. */
int os_duplicate(os_file file, os_file *out);
/* What an open file allows: of OS_READ, OS_WRITE, OS_APPEND, OS_DIRECT, and OS_NO_WAIT where transfers do not wait. */
int os_opened_for(os_file file, unsigned *flags);
/* Ends OS_STAY_READY; begins or ends OS_DIRECT. They change the open file itself, so only what we opened may be given. */
int os_wait_again(os_file file);
int os_set_direct(os_file file, bool direct);
/* Waits until a pipe or the like can be read or written. Regular files always can. */
int os_wait_ready(os_file file, bool to_write);
/* Closes once, whatever happens, and reports what close reported. os_no_file is 0. */
int os_close(os_file file);

/* One transfer; may be short. At most 1 GiB a call (systems differ above 2 GiB). 0 = end of file. */
int64_t os_read(os_file file, void *data, size_t length);
int64_t os_write(os_file file, const void *data, size_t length);
int64_t os_pread(os_file file, void *data, size_t length, uint64_t offset);
int64_t os_pwrite(os_file file, const void *data, size_t length, uint64_t offset);
/* Until all is transferred or end of file (reads); the count, or the error if nothing went before it. */
int64_t os_pread_full(os_file file, void *data, size_t length, uint64_t offset);
int64_t os_pwrite_full(os_file file, const void *data, size_t length, uint64_t offset);
int os_seek(os_file file, uint64_t offset);
int64_t os_tell(os_file file); /* -ESPIPE: has no position */

/* The same transfers by the system call itself, without the C library's wrapper. */
int64_t os_raw_read(os_file file, void *data, size_t length);
int64_t os_raw_write(os_file file, const void *data, size_t length);
int64_t os_raw_pread(os_file file, void *data, size_t length, uint64_t offset);
int64_t os_raw_pwrite(os_file file, const void *data, size_t length, uint64_t offset);

/* One transfer from or to several pieces of memory. 1 GiB all in all at most; may be short, in the middle of a piece too. */
struct os_piece { void *data; size_t length; };
enum os_transfer_flag {
  OS_TRANSFER_POLLED = 1 << 0,   /* ask the device again and again instead of waiting for its interrupt */
  OS_TRANSFER_UNCACHED = 1 << 1, /* through the page cache, but leave nothing in it */
  OS_TRANSFER_CACHED = 1 << 2,   /* only what needs no waiting for a device, maybe short; -EAGAIN if there is nothing */
};
int64_t os_readv(os_file file, const struct os_piece *pieces, unsigned count);
int64_t os_writev(os_file file, const struct os_piece *pieces, unsigned count);
/* `flags` of enum os_transfer_flag: -EOPNOTSUPP where the system or the file system does not know one. */
int64_t os_preadv(os_file file, const struct os_piece *pieces, unsigned count, uint64_t offset, unsigned flags);
int64_t os_pwritev(os_file file, const struct os_piece *pieces, unsigned count, uint64_t offset, unsigned flags);

/* Flushes data (and, with `metadata`, all attributes) to stable storage. A failure is final: do not repeat. */
int os_sync(os_file file, bool metadata);
int os_sync_directory(const char *path);
/* Begins to write changed pages of the range back and does not wait. Makes nothing durable; a hint like os_advise. */
int os_write_back(os_file file, uint64_t offset, uint64_t length);
int os_resize(os_file file, uint64_t size);
/* Allocates blocks for [0, size) and sets the size; -EOPNOTSUPP where the file system cannot. Never writes data. */
int os_allocate(os_file file, uint64_t size);
/* The same, and what was in [0, size) before reads as zeros. */
int os_allocate_zeroed(os_file file, uint64_t size);
/* os_allocate for [offset, offset + length) alone; what is before may stay a hole. */
int os_allocate_part(os_file file, uint64_t offset, uint64_t length);

enum os_advice {
  OS_ADVICE_NORMAL,
  OS_ADVICE_SEQUENTIAL,
  OS_ADVICE_RANDOM,
  OS_ADVICE_WILL_NEED, /* read it ahead now */
  OS_ADVICE_HUGE,      /* maps only: in huge pages, where the file system can */
  OS_ADVICE_ONCE,      /* files only: not used again */
};
/* A hint. The caller may ignore a failure. length 0 = to the end. */
int os_advise(os_file file, uint64_t offset, uint64_t length, enum os_advice advice);

enum os_kind { OS_REGULAR, OS_DIRECTORY, OS_FIFO, OS_SOCKET, OS_CHARACTER_DEVICE, OS_BLOCK_DEVICE, OS_OTHER };
struct os_stat {
  enum os_kind kind;
  uint64_t size;      /* a hint only: 0 or too large for files that the kernel makes up */
  uint64_t allocated; /* bytes that have storage, as far as the system tells */
  uint64_t device, inode;
  int64_t modified_ns; /* since 1970 */
  uint64_t links;      /* names that it has */
  uint32_t mode;       /* permissions, 0 to 07777 */
  uint32_t owner, group;
};
int os_stat_file(os_file file, struct os_stat *out);
int os_stat_path(const char *path, struct os_stat *out); /* does not open; follows links */
const char *os_kind_name(enum os_kind kind);             /* "regular file", "directory", ... */

int os_set_mode(os_file file, uint32_t mode); /* 0 to 07777, whatever the umask */
int os_set_owner(os_file file, uint32_t owner, uint32_t group);

/* What direct transfers need on this file. -EOPNOTSUPP: not told; assume 4096 and try. */
int os_direct_alignment(os_file file, uint32_t *memory, uint32_t *offset);

/* Bytes in [0, length) that are holes, and bytes allocated but never written. -EOPNOTSUPP where it cannot be known. */
struct os_layout { uint64_t hole_bytes, unwritten_bytes; uint32_t extents; };
int os_file_layout(os_file file, uint64_t length, struct os_layout *out);

int os_remove(const char *path);                        /* a file */
int os_make_directory(const char *path);                /* mode 0700; -EEXIST */
int os_remove_tree(const char *path);                   /* a directory and all in it; never follows links out of it */
int os_rename(const char *from, const char *to);
int os_rename_new(const char *from, const char *to); /* never replaces: -EEXIST. After a crash there may be both names */
/* Where a symbolic link leads, not terminated; the length, `size` if it may be longer. -EINVAL: it is none. */
int64_t os_read_link(const char *path, char *out, size_t size);
int os_sync_file_path(const char *path);                /* open, sync, close */
/* Calls `each` with every name in the directory except . and .. until it returns non-zero, and returns that. */
int os_list_directory(const char *path, int (*each)(void *context, const char *name), void *context);
/* Exclusive advisory lock that goes with the open file. -EWOULDBLOCK if another holds it. */
int os_lock(os_file file);
int os_lock_shared(os_file file); /* the same, beside others that are shared too */

/* ---- copies -------------------------------------------------------------------------------------------------------- */

/* Lets `to` share all storage of `from`: the same bytes, no space of its own until one of them changes. Any failure means
 * "not these two": -EOPNOTSUPP, -EXDEV, -EINVAL ... */
int os_clone(os_file from, os_file to);
/*
 * The system moves up to `length` bytes, 1 GiB at most, without showing them. May be short. 0 should be the end but is not
 * always; whatever fails, reading and writing may still do.
 */
int64_t os_copy_range(os_file from, uint64_t from_offset, os_file to, uint64_t to_offset, uint64_t length);
/* The same, from `from_offset` to where `to` stands, which moves on. */
int64_t os_send_file(os_file from, uint64_t from_offset, os_file to, uint64_t length);
/* The same between a pipe and a file, each where it stands; 0: the file ended, or nobody holds the pipe's other end. */
int64_t os_splice(os_file from, os_file to, uint64_t length);
/* Where the first data, the first hole at or behind `offset` begins; the end counts as a hole. They move the position.
 * -ENXIO: no more data, or behind the end. -EOPNOTSUPP: it cannot be known. */
int os_next_data(os_file file, uint64_t offset, uint64_t *out);
int os_next_hole(os_file file, uint64_t offset, uint64_t *out);
/* Permissions and times. Bits that lend the owner's identity only where both files have the same owner. */
int os_copy_attributes(os_file from, os_file to);

/* ---- C streams ----------------------------------------------------------------------------------------------------- */

/* fread and fwrite of single bytes that take no lock: the stream is the calling thread's alone. */
size_t os_stream_read(void *data, size_t length, FILE *stream);
size_t os_stream_write(const void *data, size_t length, FILE *stream);

/* ---- maps ---------------------------------------------------------------------------------------------------------- */

enum os_map_flag {
  OS_MAP_WRITE = 1 << 0,
  OS_MAP_POPULATE = 1 << 1,
  OS_MAP_PRIVATE = 1 << 2, /* what is written stays in this process's memory */
};
/* Maps [0, length) of the file, shared unless OS_MAP_PRIVATE. length 0 gives a valid pointer that is unmapped with length 0. */
int os_map(os_file file, size_t length, unsigned flags, void **out);
/* The same for [offset, offset + length), wherever it starts: *out is the address of the byte at `offset`. */
int os_map_part(os_file file, uint64_t offset, size_t length, unsigned flags, void **out);
/* What os_map or os_map_part gave, whole. */
int os_unmap(void *address, size_t length);
/* Writes the pages of [address, address + length) to the file and waits. Addresses need no alignment. */
int os_map_sync(void *address, size_t length);
int os_map_advise(void *address, size_t length, enum os_advice advice);
/* Brings all pages of [address, address + length) in for reading, with an error (-EFAULT) where touching them would kill:
 * beyond the end of the file, or unreadable. -EOPNOTSUPP: the system does not know how. */
int os_map_populate(void *address, size_t length);

/* ---- rings: many requests in flight -------------------------------------------------------------------------------- */

struct os_ring; /* one thread only */
/* Who works through the requests. */
enum os_ring_engine {
  OS_RING_SHARED,  /* the system, by queues in memory that both sides see: io_uring */
  OS_RING_KERNEL,  /* the system, by calls that hand over and fetch: Linux AIO; waits inside unless transfers are direct */
  OS_RING_THREADS, /* threads of the C library: POSIX AIO */
};
enum os_ring_kind {
  OS_RING_READ,
  OS_RING_WRITE,
  OS_RING_SYNC,
  OS_RING_OPEN,  /* `path`, for reading, into place `slot` of those that os_ring_reserve_files made */
  OS_RING_CLOSE, /* what is in `slot` */
};
struct os_ring_request {
  enum os_ring_kind kind;
  os_file file;
  bool registered_file;   /* use the file given to os_ring_register_file */
  bool data_sync;         /* writes: durable when done */
  bool uncached;          /* through the page cache, leaving nothing in it; -EOPNOTSUPP where unknown */
  int buffer_index;       /* >= 0: `data` lies in that registered buffer; -1: plain memory */
  void *data;
  uint32_t length;
  uint64_t offset;
  uint64_t tag;           /* comes back with the completion */
  /* The request queued next is begun when this one is done, and is -ECANCELED when this one failed or came short. Ends with
   * what is submitted at once. OS_RING_SHARED only. */
  bool linked;
  bool linked_anyway; /* the same, and it is begun too when this one failed or came short */
  unsigned slot;      /* with registered_file: which; 0 is that of os_ring_register_file */
  const char *path;   /* valid until the completion is taken */
};
struct os_ring_completion { uint64_t tag; int32_t result; /* count or negative errno value */ };

/* A ring for `depth` requests in flight. Any failure means "not here": -ENOSYS, -EPERM, -ENOMEM ... */
int os_ring_open(unsigned depth, struct os_ring **out); /* OS_RING_SHARED */
/* The same; any thread may use it, one at a time, also while requests are in flight. */
int os_ring_open_movable(unsigned depth, struct os_ring **out);
int os_ring_open_engine(enum os_ring_engine engine, unsigned depth, struct os_ring **out);
void os_ring_close(struct os_ring *ring); /* the caller has reaped everything before */
/* Registration saves look-ups; -EOPNOTSUPP where the engine has none. */
int os_ring_register_file(struct os_ring *ring, os_file file);
int os_ring_register_buffers(struct os_ring *ring, void *const *buffers, const size_t *lengths, unsigned count);
/* Room for `count` files that only this ring sees: OS_RING_OPEN. Instead of os_ring_register_file. OS_RING_SHARED only. */
int os_ring_reserve_files(struct os_ring *ring, unsigned count);
/* Those that work for the ring run only where the calling thread may: see os_thread_pin. -EOPNOTSUPP as above. */
int os_ring_keep_near(struct os_ring *ring);
/* Puts one request into the queue without a system call. -EBUSY when `depth` requests are queued or in flight. */
int os_ring_queue(struct os_ring *ring, const struct os_ring_request *request);
/* Hands all queued requests to the system and waits until at least `wait` completions can be reaped. */
int os_ring_submit(struct os_ring *ring, unsigned wait);
/* Takes up to `max` completions; returns how many. */
unsigned os_ring_reap(struct os_ring *ring, struct os_ring_completion *out, unsigned max);
/* Can rings be opened here at all? 0, or the error with words for the user in `why` and `remedy` (both may be NULL). */
int os_ring_probe(char *why, size_t why_size, char *remedy, size_t remedy_size);

/* ---- memory -------------------------------------------------------------------------------------------------------- */

size_t os_page_size(void);
size_t os_huge_page_size(void); /* 0 when there are none */
enum os_memory_flag {
  OS_MEMORY_HUGE = 1 << 0,   /* ask for huge pages, aligned to them; given silently as small pages where refused */
  OS_MEMORY_SHARED = 1 << 1, /* also seen by processes forked later */
  OS_MEMORY_SMALL = 1 << 2,  /* never in huge pages */
  OS_MEMORY_WIPED = 1 << 3,  /* zeroed again in processes forked later; -EOPNOTSUPP where that is unknown */
};
/* Zeroed pages, untouched. `length` > 0. */
int os_memory_get(size_t length, unsigned flags, void **out);
/* OS_MEMORY_HUGE for who knows the size of huge pages already. */
int os_memory_get_huge(size_t length, size_t huge_page, void **out);
int os_memory_put(void *address, size_t length);
/* Keeps memory from being paged out: -ENOMEM, -EPERM above what the process may lock. */
int os_memory_lock(void *address, size_t length);
int os_memory_unlock(void *address, size_t length);

/*
 * Counts how often all threads of this program ask malloc and its kin and os_memory_get for memory, and for how many bytes,
 * from begin to end. realloc counts as asking for all of the new size; giving back counts for nothing. -EOPNOTSUPP: this
 * program is built without counting, see os/meson.build. One count at a time.
 */
struct os_allocations { uint64_t count, bytes; };
int os_allocations_begin(void);
void os_allocations_end(struct os_allocations *out);

/*
 * A group of processes that has no more memory than this, page cache included. Plain data, so that it can lie in memory that
 * several processes see; `path` is set before anything of that name exists and "" when nothing does.
 */
#define OS_MEMORY_GROUP_PREFIX "weir-" /* and the number of the process that made it */
struct os_memory_group { char path[512], home[512]; };
/* Makes one and enters it. -EOPNOTSUPP: the system has no such groups; -EACCES, -EPERM and others: not permitted here. */
int os_memory_group_make(uint64_t limit, struct os_memory_group *out);
/* Moves the calling process, with what it starts later, in and back to where it was. */
int os_memory_group_enter(const struct os_memory_group *group);
int os_memory_group_leave(const struct os_memory_group *group);
int os_memory_group_remove(struct os_memory_group *group); /* -EBUSY while a process is in it */
/* Where memory runs out, this process is to be ended before others. */
void os_memory_volunteer(void);

/* ---- processes and threads ----------------------------------------------------------------------------------------- */

typedef intptr_t os_process;
struct os_exit { bool crashed; int code; /* exit code, or signal number when crashed */ };
/* Runs body(context) in a copy of this process and exits with its value, without running exit handlers. */
int os_process_fork(int (*body)(void *context), void *context, os_process *out);
/* Starts a program with these arguments (argv[0] is its path); `keep` files stay open in it under the numbers 3, 4, ... */
int os_process_spawn(const char *const *argv, const os_file *keep, unsigned keep_count, os_process *out);
/* Waits for at most timeout_ns (UINT64_MAX: for ever). -ETIMEDOUT: still running. */
int os_process_wait(os_process process, uint64_t timeout_ns, struct os_exit *out);
int os_process_kill(os_process process);
/*
 * Starts a program for its own sake, with these standard streams (os_no_file: nothing to read, not kept), in a process group
 * of its own, killed when the thread that started it ends. Returns when it runs, or with the reason why it cannot.
 */
int os_program_start(const char *file, const char *const *argv, const os_file streams[3], os_process *out);
/* The file that a shell would run for this name: along PATH, or the name itself if it holds a slash. -ENOENT, -EACCES. */
int os_program_find(const char *name, char *out, size_t size);
/* Ends the whole group of a program, all that it started with it. -ESRCH: nobody is left. */
int os_process_kill_group(os_process leader);
const char *os_crash_name(int code); /* "SIGBUS", ... */
int os_self_path(char *out, size_t size); /* the running program's file */
/* Detaches from terminal signals so that Ctrl-C reaches only the parent (for janitors and workers). */
int os_process_shield(void);
/*
 * The calling process is killed when the thread that started it ends (for workers, never for janitors). -ESRCH: `parent`,
 * an os_process_id, is gone already.
 */
int os_process_follow_parent(int parent);
int os_process_id(void);

int os_pipe(os_file *read_end, os_file *write_end);
/* Lets a pipe hold at least so many bytes. -EPERM: more than this user may have. */
int os_pipe_resize(os_file pipe, size_t bytes);
/* A nameless file in memory that can be mapped and handed to a spawned process. */
int os_memory_file(const char *name, uint64_t size, os_file *out);

/* A name under which other processes of this user can open it, as long as it is open here. */
int os_memory_file_path(os_file file, char *out, size_t size);
/* A system call that does nothing but show this text to who looks at the calls of this process. */
void os_mark(const char *text);

struct os_thread; /* joined exactly once */
int os_thread_start(void *(*body)(void *context), void *context, struct os_thread **out);
int os_thread_join(struct os_thread *thread);
void os_thread_yield(void);
/* Sleeps while *word is `value`; may also return without a reason, so look again. Wake after changing the word. */
void os_wait_word(const volatile unsigned *word, unsigned value);
void os_wake_word(const volatile unsigned *word); /* all that wait */
void os_wake_one(const volatile unsigned *word);  /* one of them */
/* Keeps the calling thread on one CPU, counted from 0 among those the process may use. */
int os_thread_pin(unsigned cpu);

/* A count by which one thread tells another. How is the caller's choice; each of them orders memory, and any thread may use it. */
enum os_gate_kind {
  OS_GATE_LOCK,      /* a lock and a condition */
  OS_GATE_EVENT,     /* an object of the system: a call for every give and every take */
  OS_GATE_SEMAPHORE, /* the semaphore of the C library */
  OS_GATE_SPIN,      /* an atomic number, looked at again and again; other threads get the CPU now and then */
  OS_GATE_ATOMIC,    /* an atomic number; a call only to sleep at zero and to wake who sleeps */
};
struct os_gate;
int os_gate_open(enum os_gate_kind kind, struct os_gate **out);
void os_gate_close(struct os_gate *gate); /* no thread uses it any more; NULL is nothing */
void os_gate_give(struct os_gate *gate);  /* one more */
void os_gate_take(struct os_gate *gate);  /* one less; waits until there is one */

/* The first interrupt (Ctrl-C, SIGTERM, SIGHUP) sets *flag to 1, the second to 2, ... Also ignores SIGPIPE and SIGXFSZ. */
int os_interrupts_catch(volatile int *flag);

/* ---- numbers ------------------------------------------------------------------------------------------------------ */

/* The number that a text begins with, as strtod reads it where no locale was chosen; *used is its length. -ENOMEM. */
int os_parse_double(const char *text, double *value, size_t *used);

/* ---- clock --------------------------------------------------------------------------------------------------------- */

/* Monotonic nanoseconds. */
uint64_t os_clock_ns(void);
/* Wall clock, nanoseconds since 1970. Only for names and records. */
uint64_t os_wall_ns(void);
struct os_clock_facts {
  char name[32];        /* "monotonic" */
  char source[32];      /* what the kernel counts with, e.g. "tsc" */
  bool counter_trusted; /* the processor's counter runs at a constant rate and the kernel itself trusts it */
  double step_ns;       /* smallest difference seen between two reads that differ */
  double read_ns;       /* median cost of one read */
};
void os_clock_measure(struct os_clock_facts *out); /* takes a few milliseconds */
/*
 * A cheaper clock for single operations: the processor's counter scaled to nanoseconds where the kernel trusts it, else
 * os_clock_ns. Calibrated by os_fast_clock_start, which must have returned once before.
 */
int os_fast_clock_start(void);
uint64_t os_fast_clock_ns(void);
void os_sleep_ns(uint64_t ns);

/* ---- page cache ---------------------------------------------------------------------------------------------------- */

struct os_cache { uint64_t cached_bytes, dirty_bytes, writeback_bytes; bool dirty_known; };
/* Pages of [offset, offset + length) in the cache. -EOPNOTSUPP / -EPERM when the system does not tell (us). */
int os_cache_state(os_file file, uint64_t offset, uint64_t length, struct os_cache *out);
/* Takes clean pages of the range out of the cache, as far as the system does it. Dirty ones must be synced before. */
int os_cache_evict(os_file file, uint64_t offset, uint64_t length);
/* Drops every clean page of the machine. Needs privilege: -EPERM, -EACCES. */
int os_cache_drop_all(void);

/* ---- counters ------------------------------------------------------------------------------------------------------ */

/* Of this process, all threads. Cheap and without file access, so that it can stand right beside what is measured. */
struct os_usage {
  uint64_t cpu_ns;
  uint64_t minor_faults, major_faults;
  uint64_t voluntary_switches, involuntary_switches;
};
void os_usage(struct os_usage *out);
void os_usage_add_children(struct os_usage *out); /* adds what ended children took that were waited for */
/* The most that one of them had. Not less than this process had when it started them: that is where they begin. */
uint64_t os_children_peak_bytes(void);
uint64_t os_resident_bytes(void);      /* memory that this process has in use now */
uint64_t os_peak_bytes(void);          /* the most it had since it started or os_peak_reset */
/* Sets the peak back to what is resident now. A forked process starts with the peak at its parent's resident set. */
int os_peak_reset(void);
int64_t os_storage_read_bytes(void);   /* what this process made devices read; -1 unknown */

/*
 * Counts the system calls that the calling thread and all threads and processes that it starts from now on make, until this
 * process ends: there is no way back, and each call takes some microseconds more. Calls that wait at or wake `own` do not
 * count, nor does reading the clock. Once a process. -ENOSYS, -EBUSY, -EPERM ...: not here.
 */
struct os_call_count;
int os_call_count_start(const volatile unsigned *own, struct os_call_count **out);
uint64_t os_call_count_read(const struct os_call_count *count);

/*
 * Cycles and instructions of the calling thread and all threads that it starts from now on, in the system too: totals, -1
 * unknown. -ENOENT, -EOPNOTSUPP: the machine has, or shows, no such counters. -EACCES, -EPERM: not permitted to this user.
 */
struct os_cycles { os_file cycles, instructions; };
int os_cycles_start(struct os_cycles *out);
void os_cycles_read(const struct os_cycles *counters, int64_t *cycles, int64_t *instructions);
void os_cycles_stop(struct os_cycles *counters);

struct os_device_counters { uint64_t read_bytes, write_bytes, flushes; bool flushes_known; };
/* Of the device that holds files with this os_stat.device. -ENODEV: none (memory, network, stacked file systems). */
int os_device_counters(uint64_t device, struct os_device_counters *out);

/* Of the whole machine; totals, -1 unknown. busy: what all processors worked, whoever for. */
struct os_pressure { int64_t steal_ns, cpu_stall_ns, io_stall_ns, memory_stall_ns, busy_ns; };
void os_pressure(struct os_pressure *out);
int64_t os_processor_hz(void); /* how fast the processor of the calling thread runs now; -1 unknown */

/* ---- machine facts ------------------------------------------------------------------------------------------------- */

struct os_machine {
  char system[32], kernel[128], processor[96], hypervisor[64]; /* hypervisor: "" on bare metal */
  unsigned cpus;
  uint64_t processor_hz; /* of the first processor now; 0 unknown */
  uint64_t memory_bytes, available_bytes;
  uint64_t group_limit_bytes; /* what a control group lets us use of it, page cache included; UINT64_MAX: no limit */
  char governor[32], huge_pages[32], reclaim[96]; /* "" unknown; reclaim: proactive reclaim that empties idle cache */
};
void os_machine(struct os_machine *out);
/* Its `cpus`, and the lower of `available_bytes` and what the control groups leave, without the rest. */
unsigned os_processors(void);
uint64_t os_available_bytes(void);

/* What this process may have at most; UINT64_MAX: no limit. */
struct os_limits { uint64_t locked_bytes, open_files, file_bytes, address_bytes; };
void os_limits(struct os_limits *out);

/* How quiet and how even the machine is. Numbers are -1 and texts "" where the system does not tell. */
struct os_conditions {
  int boost;           /* may the processor go beyond its rated speed for a while? 1, 0 */
  int siblings;        /* do CPUs share cores? 1, 0 */
  int64_t throttled;   /* how often heat slowed the first processor since it was started */
  int64_t online_cpus, nodes;
  char isolated[64];   /* CPUs that the scheduler gives nothing by itself: "2-3" */
  int64_t load_hundredths; /* who runs or waits, average of a minute, in hundredths */
  int64_t cpu_waits_hundredths, io_waits_hundredths, memory_waits_hundredths; /* % of 10 s in which somebody waited, times 100 */
  int64_t swap_bytes, swap_used_bytes, swappiness;
  int packed_swap;          /* swapped pages are packed in memory: 1, 0 */
  int64_t write_back_bytes; /* so much changed page cache, and the system begins to write by itself */
  int random_layout;        /* addresses of new programs are drawn anew: 2 all, 1 some, 0 none */
  int64_t counters_level;   /* who may count cycles: the larger, the fewer */
  char container[32];       /* what kind of container this process is in */
};
void os_conditions(struct os_conditions *out);

struct os_place {
  char file_system[32], options[256], mount_point[256], device[64], scheduler[32];
  int64_t read_ahead_kib;     /* -1 unknown */
  int rotational;             /* 1, 0, -1 unknown */
  char write_cache[16];       /* of the device: "write back" needs flushes, "write through" does not; "" unknown */
  int write_through;          /* can it write single requests through (FUA)? 1, 0, -1 unknown */
  bool loop;                  /* the device is a file whose bytes go through this machine's page cache once more */
  bool ram_backed;            /* data never leave memory (tmpfs and the like) */
  uint64_t free_bytes;        /* for this user */
  uint64_t total_bytes, free_files, total_files; /* total_files 0: the file system has no such limit */
  int64_t discard_bytes;      /* what the device can be told at once that it is not used any more; 0: cannot; -1 unknown */
  int64_t sector_bytes;       /* what the device works with inside; -1 unknown */
  int64_t misaligned_bytes;   /* how far the partition begins off such a sector; -1 unknown */
};
int os_place(const char *path, struct os_place *out);

/* ---- libraries ----------------------------------------------------------------------------------------------------- */

typedef void os_function(void);
struct os_library; /* loaded once and never unloaded */
/* Loads a shared library from the file `path`, its names not seen by others. `why` gets the system's words on failure. */
int os_library_open(const char *path, struct os_library **out, char *why, size_t why_size);
/* The same, and libraries that are loaded later find its names. */
int os_library_share(const char *path, struct os_library **out, char *why, size_t why_size);
int os_library_function(struct os_library *library, const char *name, os_function **out); /* -ENOENT */

/* ---- for tests ----------------------------------------------------------------------------------------------------- */

/*
 * Replaces the system call used under `name` ("pread", "open", "fallocate" ...) and returns the one before; NULL puts the
 * system's own back. Returns NULL and changes nothing when the name is unknown. Not while other threads are at work.
 */
os_function *os_override(const char *name, os_function *replacement);

#endif
