/*
 * readback.c - what is on the device, or at least no longer in the cache, is what was handed over: files that were written
 * are read once more past the cache and compared, byte by byte. Not timed.
 */
#include "measure/readback.h"

#include <stdio.h>

#include "measure/cells.h"
#include "os/os.h"

struct read_back {
  os_file file;
  const struct content *content; /* what was written */
  const struct content *kept;    /* what mixed requests found and left */
  void *data;
  size_t room;
};

static bool piece_differs(const struct read_back *with, bool written, uint64_t offset, uint64_t length, struct sample *out) {
  char text[128];
  const struct content *content = written ? with->content : with->kept;
  for (uint64_t done = 0; done < length;) {
    size_t piece = length - done < with->room ? (size_t)(length - done) : with->room;
    int64_t got = os_pread_full(with->file, with->data, piece, offset + done);
    size_t good = got > 0 ? content_mismatch(content, offset + done, with->data, (size_t)got) : 0;
    if (good < piece) {
      snprintf(text, sizeof text, "wrong data: read back, the byte at offset %llu is not what was written",
               (unsigned long long)(offset + done + good));
      sampler_fail(out, text);
      return true;
    }
    done += piece;
  }
  return false;
}

/* The requests of every instance of this file, as they were made. */
static void compare_requests(struct sampler *sampler, const struct layout_file *file, const struct read_back *with,
                             struct sample *out) {
  const struct plan *plan = &sampler->run->plan;
  const struct cell_files files = {
      .path = file->path, .directory = file->directory, .content = with->content, .round = out->round};
  const bool striped = plan->groups[out->group].demand.members > 0;
  const unsigned threads = plan->groups[out->group].cells[out->cell].threads, first = striped ? file->member : 0;
  const unsigned end = striped ? first + 1 : threads ? threads : 1;
  for (unsigned t = first; t < end; t++) {
    struct cell_job job;
    cell_job_init(&job, plan, out->group, out->cell, t, &files);
    bool mixed = job.job.direction == WEIR_MIXED, all = !mixed && job.job.operations == job.job.blocks;
    if (all && piece_differs(with, true, job.job.part_offset, job.job.part_length, out)) return;
    for (uint64_t i = 0; !all && i < job.job.operations; i++) {
      uint64_t offset = weir_order_offset(&job.job, i);
      bool written = !mixed || weir_order_writes(&job.job, offset);
      if (piece_differs(with, written, offset, weir_order_length(&job.job, offset), out)) return;
    }
  }
}

void read_back_file(struct sampler *sampler, struct layout_file *file, struct sample *out) {
  const struct content all = {sampler->order->supply_seed, sampler->content.pool};
  const struct content all_kept = {sampler->order->content_seed, sampler->content.pool};
  const struct content content = content_of_member(&all, file->member), kept = content_of_member(&all_kept, file->member);
  struct read_back with = {.content = &content, .kept = &kept, .room = 1024 * 1024};
  struct os_stat stat;
  if (os_stat_path(file->path, &stat) == 0 && stat.size != file->size &&
      sampler->run->plan.groups[out->group].pass_bytes == 0)
    sampler_fail(out, "wrong data: the file has not the right size");
  if (os_memory_get(with.room, 0, &with.data) < 0) return;
  if (os_open(file->path, OS_READ, &with.file) == 0) {
    os_cache_evict(with.file, 0, file->size);
    const int32_t left = layout_resident_ppm(file); /* proof that what is read now is not what the writer left behind */
    if (file->member == 0 || left < 0 || (out->resident_after_ppm >= 0 && left > out->resident_after_ppm))
      out->resident_after_ppm = left;
    compare_requests(sampler, file, &with, out);
    os_close(with.file);
  } else {
    sampler_fail(out, "wrong data: the file is not there after it was written");
  }
  os_memory_put(with.data, with.room);
}

/* ---- the same for streams and copies ---- */

static int compare_with_file(struct read_back *with, const unsigned char *want, uint64_t begin, const char *path,
                             uint64_t size, struct sample *out) {
  char text[160];
  struct os_stat stat;
  int code = os_open(path, OS_READ, &with->file);
  if (code < 0) {
    sampler_fail(out, "wrong data: the file is not there after it was written");
    return code;
  }
  code = os_stat_file(with->file, &stat);
  if (code == 0 && stat.size != size) sampler_fail(out, "wrong data: the file has not the right size");
  os_cache_evict(with->file, 0, size);
  for (uint64_t at = 0; at < size && code == 0 && out->status == RUN_OK; at += with->room) {
    const size_t piece = size - at < with->room ? (size_t)(size - at) : with->room;
    const int64_t got = os_pread_full(with->file, with->data, piece, at);
    const size_t have = got > 0 ? (size_t)got : 0;
    size_t good = want ? 0 : content_mismatch(with->content, begin + at, with->data, have);
    while (want && good < have && want[at + good] == ((const unsigned char *)with->data)[good]) good++;
    if (good == piece) continue;
    snprintf(text, sizeof text, "wrong data: read back, the byte at offset %llu of '%.60s' is not what was written",
             (unsigned long long)(at + good), path);
    sampler_fail(out, text);
  }
  os_close(with->file);
  return code;
}

void read_back_parts(struct sampler *sampler, const struct layout_file *file, struct sample *out) {
  char path[LAYOUT_PATH_MAX];
  struct read_back with = {.content = &sampler->content, .room = 1024 * 1024};
  const struct reference *stream = sampler->scene.stream;
  if (os_memory_get(with.room, 0, &with.data) < 0) return;
  for (uint64_t i = 0; i < layout_parts(file) && out->status == RUN_OK; i++) {
    const uint64_t size = layout_part(file, i, file->copies != NULL, path);
    (void)compare_with_file(&with, stream ? stream->data : NULL, i * file->part_bytes, path, size, out);
  }
  os_memory_put(with.data, with.room);
}
