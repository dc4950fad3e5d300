/*
 * layout.c - making scratch files. Files are shared by the groups that want the same thing (place, role, size); warm and
 * cold readers have files of their own, so that neither has to undo the other's work.
 */
#include "measure/layout.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

static const char *const role_names[] = {"warm", "cold", "write", "mixed", "flush", "user"};

enum { PIECE = 1024 * 1024 };

/* `size` bytes of the content from `begin` on. */
static int write_piece(const char *path, uint64_t size, uint64_t begin, const struct content *content,
                       volatile int *interrupted) {
  os_file file = os_no_file;
  void *data;
  int result = os_memory_get(PIECE, 0, &data);
  if (result < 0) return result;
  result = os_open(path, OS_WRITE | OS_CREATE | OS_TRUNCATE, &file);
  for (uint64_t at = 0; result == 0 && at < size; at += PIECE) {
    size_t piece = size - at < PIECE ? (size_t)(size - at) : PIECE;
    content_fill(content, begin + at, data, piece);
    int64_t put = os_pwrite_full(file, data, piece, at);
    if (put >= 0 && put < (int64_t)piece)
      put = os_pwrite_full(file, (char *)data + put, piece - (size_t)put, at + (uint64_t)put);
    if (put < 0) result = (int)put; /* the rest alone tells why it did not fit: a full disk, a quota, a limit */
    if (interrupted && *interrupted) result = -EINTR;
  }
  if (result == 0) result = os_sync(file, true);
  int closed = os_close(file);
  os_memory_put(data, PIECE);
  return result < 0 ? result : closed;
}

int layout_write(const char *path, uint64_t size, const struct content *content, volatile int *interrupted) {
  return write_piece(path, size, 0, content, interrupted);
}

/* ---- which files ---------------------------------------------------------------------------------------------------- */

static enum layout_role role_of(const struct plan *plan, const struct plan_group *group) {
  const bool copies = group->demand.task == WEIR_TASK_COPY; /* what is written there has a place of its own */
  if (plan->file) return LAYOUT_USER;
  if (group->demand.direction == WEIR_WRITE && !copies) return LAYOUT_WRITE;
  if (group->demand.direction == WEIR_MIXED) return LAYOUT_MIXED;
  return group->demand.cache == PLAN_COLD ? LAYOUT_READ_COLD : LAYOUT_READ_WARM;
}

static struct layout_file *find(struct layout *layout, const struct layout_file *wish) {
  for (unsigned i = 0; i < layout->count; i++) {
    struct layout_file *file = &layout->files[i];
    if (file->role == wish->role && file->place == wish->place && file->member == wish->member &&
        file->owner == wish->owner && file->owner_group == wish->owner_group && file->size == wish->size &&
        file->task == wish->task && file->item_bytes == wish->item_bytes && file->part_bytes == wish->part_bytes)
      return file;
  }
  return NULL;
}

/* What a cell works on. */
static struct layout_file wish_of(const struct plan *plan, unsigned g, unsigned cell, unsigned member) {
  const struct plan_group *group = &plan->groups[g];
  const struct plan_demand *demand = &group->demand;
  struct layout_file wish = {.role = role_of(plan, group), .place = group->cells[cell].place, .size = demand->size_bytes};
  if (wish.role == LAYOUT_USER) {
    wish.place = 0;
    return wish;
  }
  if (plan->private_copies) {
    wish.owner = cell + 1;
    wish.owner_group = g + 1;
  }
  if (demand->members) {
    wish.place = wish.member = member;
    wish.size = plan_member_bytes(demand, member);
  } else if (weir_task_streams(demand->task)) {
    wish.task = demand->task == WEIR_TASK_TEXT ? WEIR_TASK_LINES : demand->task; /* they read the same file */
    wish.item_bytes = demand->item_bytes;
  } else if (weir_task_has_files(demand->task)) {
    wish.task = demand->task;
    wish.part_bytes = demand->request_bytes;
  }
  return wish;
}

uint64_t layout_parts(const struct layout_file *file) {
  return file->part_bytes ? file->size / file->part_bytes + (file->size % file->part_bytes != 0) : 1;
}

uint64_t layout_part(const struct layout_file *file, uint64_t index, bool copies, char *out) {
  if (!file->part_bytes) {
    strcpy(out, file->path);
    return file->size;
  }
  weir_name_at(out, copies ? file->copies : file->path, index);
  const uint64_t begin = index * file->part_bytes;
  return file->size - begin < file->part_bytes ? file->size - begin : file->part_bytes;
}

int layout_clear_copies(const struct layout_file *file) {
  int code = os_remove_tree(file->copies);
  return code < 0 && code != -ENOENT ? code : os_make_directory(file->copies);
}

struct layout_file *layout_find(struct layout *layout, const struct plan *plan, unsigned group, unsigned cell,
                                unsigned member) {
  const struct layout_file wish = wish_of(plan, group, cell, member);
  return find(layout, &wish);
}

struct layout_file *layout_flush_file(struct layout *layout, const struct layout_file *file) {
  const struct layout_file wish = {.role = LAYOUT_FLUSH, .place = file->place, .size = file->size};
  return find(layout, &wish);
}

static char *user_directory(const char *path) {
  const char *slash = strrchr(path, '/');
  if (!slash) return strdup(".");
  return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

/* Where it lies: the name tells all that makes it unlike the others. */
static char *path_of(const struct layout_file *file, const char *before) {
  char name[160], task[64] = "", owner[32] = "";
  const unsigned long long size = file->size, item = file->part_bytes ? file->part_bytes : file->item_bytes;
  if (file->task != WEIR_TASK_BLOCKS) snprintf(task, sizeof task, "-%s-%llu", plan_task_words[file->task], item);
  if (file->owner) snprintf(owner, sizeof owner, "-%u-%u", file->owner_group, file->owner);
  snprintf(name, sizeof name, "%s%s-%llu%s%s", before, role_names[file->role], size, task, owner);
  return scratch_path(file->directory, name);
}

static int want(struct layout *layout, const struct run *run, const struct scratch *scratch, struct layout_file wish) {
  struct layout_file *known = find(layout, &wish);
  if (known) {
    known->wanted = true;
    return 0;
  }
  struct layout_file *files = realloc(layout->files, (layout->count + 1) * sizeof *files);
  if (!files) return -ENOMEM;
  layout->files = files;
  if (wish.role == LAYOUT_USER) {
    if (!layout->user_directory) layout->user_directory = user_directory(run->plan.file);
    wish.path = strdup(run->plan.file);
    wish.directory = layout->user_directory;
  } else {
    wish.directory = scratch->paths[wish.place];
    if (wish.task == WEIR_TASK_COPY && !(wish.copies = path_of(&wish, "copies-"))) return -ENOMEM;
    wish.path = path_of(&wish, "");
  }
  if (!wish.path || !wish.directory) return -ENOMEM;
  wish.wanted = true;
  files[layout->count++] = wish;
  return 0;
}

/* The file of a cell, or of one of its members, and what cold takes beside it. */
static int want_cell(struct layout *layout, const struct run *run, const struct scratch *scratch,
                     const struct plan_group *group, const struct layout_file *wish) {
  const bool flushes = run->plan.flush == PLAN_FLUSH_FILE && group->demand.cache == PLAN_COLD;
  const struct layout_file flush = {.role = LAYOUT_FLUSH, .place = wish->place, .size = wish->size};
  int result = want(layout, run, scratch, *wish);
  if (result == 0 && flushes && scratch->count > wish->place) result = want(layout, run, scratch, flush);
  return result;
}

static int want_all(struct layout *layout, const struct run *run, const struct scratch *scratch) {
  const struct plan *plan = &run->plan;
  int result = 0;
  for (unsigned g = 0; g < plan->group_count && result == 0; g++) {
    const struct plan_group *group = &plan->groups[g];
    for (unsigned c = 0; c < group->cell_count && !group->dropped; c++) {
      if (plan->private_copies && group->cells[c].status != PLAN_OK) continue;
      for (unsigned m = 0; m < (group->demand.members ? group->demand.members : 1) && result == 0; m++) {
        const struct layout_file wish = wish_of(plan, g, c, m);
        result = want_cell(layout, run, scratch, group, &wish);
      }
    }
  }
  return result;
}

/* ---- space ---------------------------------------------------------------------------------------------------------- */

/* Members may be directories of one disk: then they share its room. */
static bool share_room(const struct plan *plan, unsigned a, unsigned b) {
  struct os_stat first, second;
  if (a == b) return true;
  return os_stat_path(plan->places[a], &first) == 0 && os_stat_path(plan->places[b], &second) == 0 &&
         first.device == second.device;
}

/* A twentieth of what is needed and at least 64 MiB stay free: a benchmark must not be what fills a disk. */
static int check_space(const struct layout *layout, const struct run *run, unsigned place, struct weir_reason *problem) {
  uint64_t need = 0;
  for (unsigned i = 0; i < layout->count; i++) {
    const struct layout_file *file = &layout->files[i];
    struct os_stat stat;
    bool there = os_stat_path(file->path, &stat) == 0 && stat.size == file->size;
    if (file->role == LAYOUT_USER || !file->wanted || there || !share_room(&run->plan, file->place, place)) continue;
    if (file->size > UINT64_MAX / 8 - need) return -EFBIG;
    need += file->copies ? 2 * file->size : file->size;
  }
  struct os_place facts;
  if (need == 0 || os_place(run->plan.places[place], &facts) < 0) return 0;
  uint64_t margin = need / 20 > UINT64_C(64) << 20 ? need / 20 : UINT64_C(64) << 20;
  if (need + margin <= facts.free_bytes) return 0;
  char a[UNITS_TEXT_MAX], b[UNITS_TEXT_MAX];
  snprintf(problem->text, sizeof problem->text, "scratch files need %s and a margin in '%.80s', where %s are free",
           units_size_text((double)need, a), run->plan.places[place], units_size_text((double)facts.free_bytes, b));
  snprintf(problem->remedy, sizeof problem->remedy, "use a smaller --size, or name another place with --dir");
  return -ENOSPC;
}

/* The files get the names that they would have without the scratch directory: none of them is there yet. */
int layout_fits(const struct run *run, struct weir_reason *problem) {
  const struct plan *plan = &run->plan;
  bool scratch_needed = !plan->file || plan->flush == PLAN_FLUSH_FILE;
  const struct scratch names = {.count = scratch_needed ? plan->place_count : 0, .paths = plan->places};
  struct layout layout = {0};
  int result = want_all(&layout, run, &names);
  for (unsigned place = 0; place < names.count && result == 0; place++) result = check_space(&layout, run, place, problem);
  layout_release(&layout);
  return result;
}

/* ---- update --------------------------------------------------------------------------------------------------------- */

static void drop_unwanted(struct layout *layout) {
  unsigned kept = 0;
  for (unsigned i = 0; i < layout->count; i++) {
    struct layout_file file = layout->files[i];
    if (file.wanted || file.role == LAYOUT_USER) {
      layout->files[kept++] = file;
      continue;
    }
    if (file.part_bytes)
      os_remove_tree(file.path);
    else
      os_remove(file.path);
    if (file.copies) os_remove_tree(file.copies);
    free(file.path);
    free(file.copies);
  }
  layout->count = kept;
}

/* Each of many files has the bytes that a single one would have there. */
static int lay_parts(const struct layout_file *file, const struct content *content, volatile int *interrupted) {
  char path[LAYOUT_PATH_MAX];
  int code = os_remove_tree(file->path);
  if (code < 0 && code != -ENOENT) return code;
  code = os_make_directory(file->path);
  for (uint64_t i = 0; i < layout_parts(file) && code == 0; i++) {
    const uint64_t size = layout_part(file, i, false, path);
    code = write_piece(path, size, i * file->part_bytes, content, interrupted);
  }
  if (code == 0 && file->copies) code = layout_clear_copies(file);
  return code;
}

static int lay_stream(const struct layout_file *file, const struct content *content, volatile int *interrupted) {
  const struct plan_demand demand = {.task = file->task, .size_bytes = file->size, .item_bytes = file->item_bytes};
  const struct generate_options options = made_options(&demand, content->seed);
  return made_write(&options, file->path, interrupted);
}

static int lay_one(const struct layout_file *file, const struct content *content, volatile int *interrupted) {
  const struct content own = content_of_member(content, file->member);
  if (file->part_bytes) return lay_parts(file, content, interrupted);
  if (weir_task_streams(file->task)) return lay_stream(file, content, interrupted);
  return layout_write(file->path, file->size, &own, interrupted);
}

static int lay(struct layout_file *file, const struct content *content, const struct measure_options *options,
               struct weir_reason *problem) {
  struct os_stat stat;
  int result = 0;
  const bool laid = file->part_bytes && file->is_whole; /* a directory's size says nothing */
  if (file->role != LAYOUT_USER && !laid && (os_stat_path(file->path, &stat) < 0 || stat.size != file->size)) {
    result = lay_one(file, content, options->interrupted);
    if (result < 0 && result != -EINTR)
      snprintf(problem->text, sizeof problem->text, "the scratch file '%.100s' cannot be written: %s", file->path,
               strerror(-result));
    file->is_whole = result == 0;
  }
  if (result == 0) result = os_stat_path(file->path, &stat);
  if (result == 0) file->device = stat.device;
  if (result == 0) file->seen = stat;
  if (result < 0 && result != -EINTR && !problem->text[0])
    snprintf(problem->text, sizeof problem->text, "'%.120s': %s", file->path, strerror(-result));
  return result;
}

int layout_update(struct layout *layout, const struct run *run, const struct scratch *scratch, const struct content *content,
                  const struct measure_options *options, struct weir_reason *problem) {
  for (unsigned i = 0; i < layout->count; i++) layout->files[i].wanted = false;
  int result = want_all(layout, run, scratch);
  if (result < 0) return result;
  drop_unwanted(layout);
  for (unsigned place = 0; place < scratch->count; place++) {
    result = check_space(layout, run, place, problem);
    if (result < 0) return result;
  }
  for (unsigned i = 0; i < layout->count && result == 0; i++) {
    const struct measure_event event = {.kind = MEASURE_LAYOUT, .run = run, .text = role_names[layout->files[i].role]};
    if (options->observer.event) options->observer.event(options->observer.context, &event);
    result = lay(&layout->files[i], content, options, problem);
  }
  return result;
}

void layout_release(struct layout *layout) {
  for (unsigned i = 0; i < layout->count; i++) {
    free(layout->files[i].path);
    free(layout->files[i].copies);
  }
  free(layout->files);
  free(layout->user_directory);
  *layout = (struct layout){0};
}
