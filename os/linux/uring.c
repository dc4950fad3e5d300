/*
 * uring.c - the engine of rings that is io_uring, through liburing. A build without liburing says so, like a kernel without.
 *
 * One thread owns a ring. Requests queued or in flight never exceed the depth; the completion queue has twice the room, so
 * it cannot overflow.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "os/linux/calls.h"
#include "os/linux/procfs.h"
#include "os/linux/ring.h"

static void say(char *out, size_t size, const char *text) {
  if (out && size) (void)snprintf(out, size, "%s", text);
}

#ifdef OS_HAS_LIBURING

#include <fcntl.h>
#include <linux/fs.h>

#ifndef RWF_DONTCACHE
#define RWF_DONTCACHE 0x80 /* since 6.14 */
#endif

#define SYSCTL "/proc/sys/kernel/io_uring_disabled"
/* Bound on EAGAIN and EBUSY, which pass when memory or completions are freed: a tenth of a second. */
#define SUBMIT_TRIES 1000u
#define SUBMIT_PAUSE_NS 100000u

struct uring {
  struct os_ring base;
  struct io_uring uring;
  bool has_file;
};

static struct uring *own(struct os_ring *ring) { return (struct uring *)(void *)ring; }

/* From the best set of flags to none: kernels refuse those they do not know with EINVAL. */
static const unsigned setup_flags[] = {
    IORING_SETUP_SUBMIT_ALL | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN, /* 6.1 */
    IORING_SETUP_SUBMIT_ALL | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_COOP_TASKRUN,  /* 6.0 */
    IORING_SETUP_SUBMIT_ALL | IORING_SETUP_COOP_TASKRUN,                               /* 5.19 */
    IORING_SETUP_SUBMIT_ALL,                                                           /* 5.18 */
    0,
};

/* With SINGLE_ISSUER the thread that opens a ring is the only one that may use it. */
static int setup(unsigned depth, bool movable, struct io_uring *uring) {
  int error = -EINVAL;
  for (size_t i = 0; error == -EINVAL && i < sizeof setup_flags / sizeof setup_flags[0]; i++) {
    if (movable && (setup_flags[i] & IORING_SETUP_SINGLE_ISSUER)) continue;
    struct io_uring_params params = {.flags = setup_flags[i]};
    do error = sys(io_uring_setup)(depth, uring, &params);
    while (error == -EINTR);
  }
  return error;
}

static void uring_close(struct os_ring *ring) {
  io_uring_queue_exit(&own(ring)->uring);
  free(ring);
}

static int uring_register_file(struct os_ring *base, os_file file) {
  struct uring *ring = own(base);
  int fd = (int)file;
  if (!ring->has_file) {
    int error = sys(io_uring_register_files)(&ring->uring, &fd, 1);
    ring->has_file = error >= 0;
    return error < 0 ? error : 0;
  }
  int updated = io_uring_register_files_update(&ring->uring, 0, &fd, 1);
  return updated < 0 ? updated : 0;
}

static int uring_register_buffers(struct os_ring *ring, void *const *buffers, const size_t *lengths, unsigned count) {
  struct iovec *parts = calloc(count, sizeof *parts);
  if (!parts) return -ENOMEM;
  for (unsigned i = 0; i < count; i++) parts[i] = (struct iovec){.iov_base = buffers[i], .iov_len = lengths[i]};
  int error = sys(io_uring_register_buffers)(&own(ring)->uring, parts, count);
  free(parts);
  return error < 0 ? error : 0;
}

static int uring_reserve_files(struct os_ring *ring, unsigned count) {
  int error = sys(io_uring_register_files_sparse)(&own(ring)->uring, count);
  return error < 0 ? error : 0;
}

static int uring_keep_near(struct os_ring *ring) {
  cpu_set_t set; /* a machine with more CPUs says EINVAL: then they run where they like */
  CPU_ZERO(&set);
  if (sys(sched_getaffinity)(0, sizeof set, &set) < 0) return -errno;
  return io_uring_register_iowq_aff(&own(ring)->uring, sizeof set, &set);
}

static void prepare(struct io_uring_sqe *entry, const struct os_ring_request *request) {
  int fd = request->registered_file ? (int)request->slot : (int)request->file;
  bool fixed = request->buffer_index >= 0;
  switch (request->kind) {
    case OS_RING_READ:
      if (fixed)
        io_uring_prep_read_fixed(entry, fd, request->data, request->length, request->offset, request->buffer_index);
      else
        io_uring_prep_read(entry, fd, request->data, request->length, request->offset);
      break;
    case OS_RING_WRITE:
      if (fixed)
        io_uring_prep_write_fixed(entry, fd, request->data, request->length, request->offset, request->buffer_index);
      else
        io_uring_prep_write(entry, fd, request->data, request->length, request->offset);
      if (request->data_sync) entry->rw_flags = RWF_DSYNC;
      break;
    case OS_RING_SYNC:
      io_uring_prep_fsync(entry, fd, IORING_FSYNC_DATASYNC);
      break;
    case OS_RING_OPEN:
      io_uring_prep_openat_direct(entry, AT_FDCWD, request->path, O_RDONLY, 0, request->slot);
      break;
    case OS_RING_CLOSE:
      io_uring_prep_close_direct(entry, request->slot);
      break;
  }
  if (request->uncached) entry->rw_flags |= RWF_DONTCACHE;
  if (request->registered_file) entry->flags |= IOSQE_FIXED_FILE;
  if (request->linked) entry->flags |= IOSQE_IO_LINK;
  if (request->linked_anyway) entry->flags |= IOSQE_IO_HARDLINK;
  io_uring_sqe_set_data64(entry, request->tag);
}

static int uring_queue(struct os_ring *ring, const struct os_ring_request *request) {
  struct io_uring_sqe *entry = io_uring_get_sqe(&own(ring)->uring);
  if (!entry) return -EBUSY;
  prepare(entry, request);
  return 0;
}

static bool submitted(const struct uring *ring, unsigned wait) {
  return io_uring_sq_ready(&ring->uring) == 0 && io_uring_cq_ready(&ring->uring) >= wait;
}

/* With deferred task work, completions show up only when the owner enters the kernel and asks for them. */
static int enter(struct uring *ring, unsigned wait) {
  return wait ? sys(io_uring_enter)(&ring->uring, wait) : sys(io_uring_poll)(&ring->uring);
}

static int uring_submit(struct os_ring *base, unsigned wait) {
  struct uring *ring = own(base);
  unsigned tries = 0;
  for (;;) {
    unsigned queued = io_uring_sq_ready(&ring->uring);
    int count = enter(ring, wait);
    if (count < 0 && count != -EINTR && count != -EAGAIN && count != -EBUSY) return count;
    if (submitted(ring, wait)) return 0;
    if (count == -EINTR || count > 0 || (count == 0 && queued == 0)) continue; /* it went on; EINTR cuts a wait short */
    if (++tries > SUBMIT_TRIES) return count < 0 ? count : -EAGAIN;
    os_sleep_ns(SUBMIT_PAUSE_NS);
  }
}

static unsigned uring_reap(struct os_ring *ring, struct os_ring_completion *out, unsigned max) {
  struct io_uring *uring = &own(ring)->uring;
  struct io_uring_cqe *entry;
  unsigned head, count = 0;
  io_uring_for_each_cqe(uring, head, entry) {
    if (count == max) break;
    out[count++] = (struct os_ring_completion){.tag = entry->user_data, .result = entry->res};
  }
  io_uring_cq_advance(uring, count);
  return count;
}

static const struct ring_engine engine = {.close = uring_close,
                                          .queue = uring_queue,
                                          .submit = uring_submit,
                                          .reap = uring_reap,
                                          .register_file = uring_register_file,
                                          .register_buffers = uring_register_buffers,
                                          .reserve_files = uring_reserve_files,
                                          .keep_near = uring_keep_near};

static int open_ring(unsigned depth, bool movable, struct os_ring **out) {
  struct uring *ring = calloc(1, sizeof *ring);
  if (!ring) return -ENOMEM;
  ring->base.engine = &engine;
  int error = setup(depth, movable, &ring->uring);
  if (error) {
    free(ring);
    return error;
  }
  /* Saves a look-up a call, for this thread only; older kernels do without. */
  if (!movable) (void)io_uring_register_ring_fd(&ring->uring);
  *out = &ring->base;
  return 0;
}

int uring_open(unsigned depth, struct os_ring **out) { return open_ring(depth, false, out); }
int uring_open_movable(unsigned depth, struct os_ring **out) { return open_ring(depth, true, out); }

/* ---- why not ---- */

struct words {
  const char *why, *remedy;
};

static struct words refused_words(void) {
  switch (procfs_number(SYSCTL)) {
    case 2:
      return (struct words){"io_uring is disabled by kernel.io_uring_disabled=2", "sysctl kernel.io_uring_disabled=0"};
    case 1:
      return (struct words){"io_uring is kept for privileged users by kernel.io_uring_disabled=1",
                            "sysctl kernel.io_uring_disabled=0, or join the group kernel.io_uring_group"};
    default:
      return (struct words){"io_uring is refused (EPERM), most likely by the seccomp filter of a container",
                            "allow io_uring_setup, io_uring_enter and io_uring_register in the container's seccomp profile"};
  }
}

static struct words missing_words(void) {
  if (procfs_number(SYSCTL) >= 0) { /* the kernel has it, so somebody stands between */
    return (struct words){"io_uring is hidden (ENOSYS), most likely by the seccomp filter of a container",
                          "allow io_uring_setup, io_uring_enter and io_uring_register in the container's seccomp profile"};
  }
  return (struct words){"this kernel has no io_uring (ENOSYS)", "Linux 5.6 or later built with CONFIG_IO_URING"};
}

static struct words words_for(int error) {
  switch (error) {
    case -EPERM:
      return refused_words();
    case -ENOSYS:
      return missing_words();
    case -EACCES:
      return (struct words){"io_uring is refused (EACCES) by a security module", "allow it in the module's policy"};
    case -ENOMEM:
      return (struct words){"no memory for a ring (ENOMEM): the limit of locked memory is too low", "ulimit -l unlimited"};
    case -EMFILE:
      return (struct words){"no descriptor left for a ring (EMFILE)", "ulimit -n 4096"};
    case -ENFILE:
      return (struct words){"the system has no file left for a ring (ENFILE)", "raise fs.file-max"};
    case -EOPNOTSUPP:
      return (struct words){"io_uring is not supported (EOPNOTSUPP) by this sandbox", "run outside of the sandbox"};
    default:
      return (struct words){"a ring cannot be set up here", ""};
  }
}

int os_ring_probe(char *why, size_t why_size, char *remedy, size_t remedy_size) {
  struct io_uring uring;
  int error = setup(4, false, &uring);
  if (!error) {
    io_uring_queue_exit(&uring);
    return 0;
  }
  struct words words = words_for(error);
  say(why, why_size, words.why);
  say(remedy, remedy_size, words.remedy);
  return error;
}

#else

int uring_open(unsigned depth, struct os_ring **out) { return -ENOSYS; }
int uring_open_movable(unsigned depth, struct os_ring **out) { return -ENOSYS; }

int os_ring_probe(char *why, size_t why_size, char *remedy, size_t remedy_size) {
  say(why, why_size, "built without liburing");
  say(remedy, remedy_size, "install liburing's headers and build again");
  return -ENOSYS;
}

#endif
