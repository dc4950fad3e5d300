/*
 * random_reads.c - reads 1000 blocks of 4 KiB here and there, 32 at a time, and adds up their first bytes: random_reads
 * FILE.
 */
#include <stdio.h>
#include <weir.h>

enum { BLOCK = 4096, DEPTH = 32, READS = 1000 };

static int read_all(struct weir_queue *queue, struct weir_file *file, uint64_t blocks, unsigned long long *sum) {
  static unsigned char memory[DEPTH][BLOCK];
  static struct weir_request requests[DEPTH], *idle[DEPTH];
  for (int i = 0; i < DEPTH; i++) idle[i] = &requests[i];
  uint64_t random = 1;
  for (int begun = 0, ended = 0, count = DEPTH; ended < READS; ended += count) {
    for (int i = 0; i < count && begun < READS; i++, begun++) {
      struct weir_request *request = idle[i];
      random = random * 6364136223846793005u + 1442695040888963407u;
      *request = (struct weir_request){.file = file, .data = memory[request - requests], .size = BLOCK};
      request->offset = (random >> 33) % blocks * BLOCK;
      int code = weir_queue_submit(queue, &request, 1, NULL);
      if (code < 0) return code;
    }
    count = weir_queue_wait(queue, idle, DEPTH, 1);
    if (count < 0) return count;
    for (int i = 0; i < count; i++) {
      if (idle[i]->status < 0) return idle[i]->status;
      *sum += *(unsigned char *)idle[i]->data;
    }
  }
  return 0;
}

int main(int argc, char **argv) {
  struct weir_file *file = NULL;
  struct weir_queue *queue = NULL;
  struct weir_open_options options = {.hint = WEIR_HINT_RANDOM};
  unsigned long long sum = 0;
  int code = weir_file_open(argc == 2 ? argv[1] : "", &options, &file, NULL);
  int64_t blocks = code == 0 ? weir_file_size(file) / BLOCK : 0;
  if (code == 0) code = blocks > 0 ? weir_queue_open(NULL, &queue, NULL) : WEIR_ETRUNCATED;
  if (code == 0) code = read_all(queue, file, (uint64_t)blocks, &sum);
  weir_queue_close(queue); /* before the file: it waits for what is under way */
  weir_file_close(file, NULL);
  printf("%s, sum %llu\n", weir_strerror(code), sum);
  return code < 0;
}
