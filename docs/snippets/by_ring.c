/* by_ring.c - the methods of io_uring in the few lines that a program of one's own needs, by liburing. See by_hand.c. */
#include <liburing.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

#include "lines_of_c.h"

/*= ring/plain ring/direct ring/linked ring/several */
int ring_read(int fd, uint64_t file_size, char *blocks, unsigned size, unsigned depth) { /* `blocks`: depth * size bytes */
  struct io_uring ring;
  struct io_uring_cqe *done;
  uint64_t next = 0, pending = 0;
  if (io_uring_queue_init(depth, &ring, IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN) < 0) return -1;
  for (unsigned i = 0; i < depth && next < file_size; i++, pending++, next += size) {
    struct io_uring_sqe *request = io_uring_get_sqe(&ring);
    io_uring_prep_read(request, fd, blocks + (size_t)i * size, size, next);
    io_uring_sqe_set_data64(request, i);
  }
  for (; pending > 0 && io_uring_submit_and_wait(&ring, 1) >= 0 && io_uring_wait_cqe(&ring, &done) == 0; pending--) {
    uint64_t slot = io_uring_cqe_get_data64(done);
    int count = done->res; /* below `size`: go on behind it, unless the file ends there */
    io_uring_cqe_seen(&ring, done);
    if (count < 0) break;
    use(blocks + slot * size, (size_t)count);
    if (next >= file_size) continue;
    struct io_uring_sqe *request = io_uring_get_sqe(&ring);
    io_uring_prep_read(request, fd, blocks + slot * size, size, next);
    io_uring_sqe_set_data64(request, slot);
    next += size;
    pending++;
  }
  io_uring_queue_exit(&ring);
  return pending ? -1 : 0;
}

/*= ring/fixed */
int ring_prepare_fixed(struct io_uring *ring, int fd, char *blocks, unsigned size, unsigned depth) { /* once */
  struct iovec all = {blocks, (size_t)size * depth};
  int result = io_uring_register_buffers(ring, &all, 1);
  return result < 0 ? result : io_uring_register_files(ring, &fd, 1);
}
void ring_add_fixed(struct io_uring *ring, char *blocks, unsigned slot, unsigned size, uint64_t at) { /* for each block */
  struct io_uring_sqe *request = io_uring_get_sqe(ring);
  io_uring_prep_read_fixed(request, 0, blocks + (size_t)slot * size, size, at, 0);
  io_uring_sqe_set_flags(request, IOSQE_FIXED_FILE);
  io_uring_sqe_set_data64(request, slot);
}
