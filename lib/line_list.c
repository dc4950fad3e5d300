/*
 * line_list.c - what is built on top of weir_lines: all lines of a file in memory, and a callback for batches of them.
 */
#include <stdlib.h>

#include "lib/lines.h"

static const struct weir_lines_options no_options;

/* ---- all lines in memory ---- */

static int make_room(struct weir_line_list *list, size_t *capacity, size_t more) {
  if (more <= *capacity - list->count) return 0;
  size_t wanted = *capacity > SIZE_MAX / 2 ? SIZE_MAX : 2 * *capacity;
  if (wanted - list->count < more) wanted = list->count + more;
  if (wanted < more || wanted > SIZE_MAX / sizeof *list->line) return WEIR_ENOMEM;
  struct weir_slice *larger = realloc(list->line, wanted * sizeof *larger);
  if (!larger) return WEIR_ENOMEM;
  list->line = larger;
  *capacity = wanted;
  return 0;
}

static int add_all(struct weir_line_list *list, struct weir_lines *lines, size_t capacity) {
  struct weir_batch batch;
  int result;
  while ((result = weir_lines_batch(lines, &batch)) > 0) {
    const int error = make_room(list, &capacity, batch.count);
    if (error) return error;
    for (size_t i = 0; i < batch.count; i++) list->line[list->count++] = weir_batch_line(&batch, i);
  }
  return result;
}

/* Counts first, so that the list is made once and in its size. */
static int list_lines(struct weir_line_list *list, const struct weir_lines_options *options, struct weir_error *where) {
  struct weir_lines lines;
  size_t capacity = 0;
  int code = weir_lines_open_memory(&lines, list->text.data, list->text.size, options, where);
  if (code) return code;
  const uint64_t count = weir__count_newlines(list->text.data, list->text.size) + 1;
  code = count > SIZE_MAX ? WEIR_ENOMEM : make_room(list, &capacity, (size_t)count);
  if (!code) code = add_all(list, &lines, capacity);
  if (code) *where = *weir_lines_error(&lines);
  (void)weir_lines_close(&lines, NULL);
  return code;
}

int weir_read_lines(const char *path, struct weir_line_list *list, const struct weir_lines_options *options,
                    struct weir_error *error) {
  struct weir_error where = {0};
  if (!list) return weir__fail(error, WEIR_EINVAL, "read", path, 0, 0, 0);
  *list = (struct weir_line_list){0};
  if (!options) options = &no_options;
  int code = weir__lines_check(options);
  if (code) return weir__fail(error, code, "read", path, 0, 0, 0);
  const struct weir_read_options how = {.strategy = options->strategy, .flags = options->flags & WEIR_ANY_KIND};
  code = weir_read_file(path, &list->text, &how, error);
  if (!code) {
    code = list_lines(list, options, &where);
    if (code) (void)weir__fail(error, code, "read line", path, where.offset, where.size, list->text.size);
  }
  if (code) weir_line_list_free(list);
  return code;
}

void weir_line_list_free(struct weir_line_list *list) {
  if (!list) return;
  free(list->line);
  weir_bytes_free(&list->text);
  *list = (struct weir_line_list){0};
}

/* ---- batches of a certain size ---- */

/* How many lines of the batch make up about `bytes`: one at least. */
static size_t lines_of_bytes(const struct weir_batch *batch, size_t bytes) {
  size_t low = 0, high = batch->count - 1; /* the first line that reaches `bytes`, or the last */
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if ((size_t)batch->ends[middle] + batch->gap - batch->begin >= bytes)
      high = middle;
    else
      low = middle + 1;
  }
  return low + 1;
}

static struct weir_batch split(struct weir_batch *rest, size_t lines, size_t bytes) {
  struct weir_batch part = *rest;
  if (bytes) part.count = lines_of_bytes(rest, bytes);
  if (lines && part.count > lines) part.count = lines;
  rest->begin = (size_t)part.ends[part.count - 1] + part.gap;
  rest->ends += part.count;
  rest->count -= part.count;
  rest->number += part.count;
  return part;
}

int weir_lines_each(const char *path, size_t lines, size_t bytes, const struct weir_lines_options *options,
                    weir_lines_callback *each, void *context, struct weir_error *error) {
  struct weir_lines open;
  struct weir_batch batch;
  if (!each) return weir__fail(error, WEIR_EINVAL, "open", path, 0, 0, 0);
  int result = weir_lines_open(&open, path, options, error);
  if (result) return result;
  while ((result = weir_lines_batch(&open, &batch)) > 0) {
    for (result = 0; batch.count && !result;) {
      const struct weir_batch part = split(&batch, lines, bytes);
      result = each(context, &part);
    }
    if (result) break;
  }
  if (result < 0 && error && weir_lines_error(&open)->code == result) *error = *weir_lines_error(&open);
  (void)weir_lines_close(&open, NULL);
  return result;
}
