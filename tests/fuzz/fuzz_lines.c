/*
 * fuzz_lines.c - any bytes as text, from memory and from a file in blocks of a few bytes: the same lines as found one after
 * the other by memchr.
 */
#include "fuzz.h"
#include "weir.h"

/* What must come next. */
struct expected {
  const char *text;
  size_t size, at, most;
  unsigned flags;
  uint64_t skipped;
  uint64_t number; /* of the line given last */
  unsigned marks;
};

/* 1 and the line, 0 at the end, or WEIR_ELIMIT. */
static int expect(struct expected *e, struct weir_slice *line) {
  while (e->at < e->size) {
    const char *begin = e->text + e->at, *newline = memchr(begin, '\n', e->size - e->at);
    const size_t whole = newline ? (size_t)(newline - begin) : e->size - e->at;
    size_t content = whole;
    if (newline && whole && newline[-1] == '\r' && !(e->flags & WEIR_KEEP_CR)) content--;
    const bool is_part = content > e->most && (e->flags & WEIR_LONG_PARTS);
    if (!(e->marks & WEIR_LINE_PART)) e->number++;
    e->marks = is_part ? WEIR_LINE_PART : newline ? 0 : WEIR_LINE_NO_NEWLINE;
    *line = (struct weir_slice){begin, is_part ? e->most : content};
    e->at += is_part ? e->most : whole + (newline != NULL);
    if (is_part || content <= e->most) return 1;
    if (!(e->flags & WEIR_LONG_SKIP)) return WEIR_ELIMIT;
    e->skipped++;
  }
  return 0;
}

static int check_next(struct weir_lines *lines, struct expected *e) {
  struct weir_slice want, line;
  uint64_t offset, number;
  const int wanted = expect(e, &want), got = weir_lines_next(lines, &line);
  REQUIRE(got == wanted);
  if (got <= 0) return got;
  REQUIRE(line.size == want.size && memcmp(line.data, want.data, want.size) == 0);
  weir_lines_position(lines, &offset, &number);
  REQUIRE(offset == (uint64_t)(want.data - e->text) && number == e->number && weir_lines_marks(lines) == e->marks);
  return 1;
}

static int check_batch(struct weir_lines *lines, struct expected *e) {
  struct weir_batch batch;
  struct weir_slice want;
  const int got = weir_lines_batch(lines, &batch);
  REQUIRE(got <= 0 || (batch.count > 0 && (uint32_t)(batch.ends[-1] + batch.gap) == batch.begin));
  for (size_t i = 0; got > 0 && i < batch.count; i++) {
    const struct weir_slice line = weir_batch_line(&batch, i);
    REQUIRE(expect(e, &want) == 1 && line.size == want.size && memcmp(line.data, want.data, want.size) == 0);
  }
  if (got <= 0) REQUIRE(expect(e, &want) == got);
  return got;
}

/* `turns`: so many lines one by one, then a batch, and so on. */
static void check(struct weir_lines *lines, struct expected e, unsigned turns) {
  int result = 1, first_error = 0;
  while (result) {
    for (unsigned i = 0; i < turns && result; i++) {
      result = check_next(lines, &e);
      if (result < 0 && !first_error) first_error = result;
    }
    if (result) result = check_batch(lines, &e);
    if (result < 0 && !first_error) first_error = result;
  }
  REQUIRE(lines->skipped == e.skipped);
  REQUIRE(weir_lines_close(lines, NULL) == first_error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const size_t longest[] = {0, 1, 2, 3, 7, 20, 64, 300}, blocks[] = {0, 1, 2, 5, 31, 64, 200, 4096};
  static const char path[] = "text";
  if (size < 3) return 0;
  struct weir_lines lines;
  struct weir_lines_options options = {.max_line = longest[data[0] & 7], .block_bytes = blocks[data[0] >> 3 & 7]};
  if (data[1] & 1) options.flags |= WEIR_KEEP_CR;
  if (data[1] & 8) options.flags |= WEIR_SKIP_BOM;
  if (data[1] & 2) options.flags |= data[1] & 4 ? WEIR_LONG_PARTS : WEIR_LONG_SKIP;
  struct expected e = {.text = (const char *)data + 3,
                       .size = size - 3,
                       .flags = options.flags,
                       .most = options.max_line ? options.max_line : SIZE_MAX};
  if ((data[1] & 8) && e.size >= 3 && memcmp(e.text, "\xef\xbb\xbf", 3) == 0) e.at = 3;
  REQUIRE(weir_lines_open_memory(&lines, e.text, e.size, &options, NULL) == 0);
  check(&lines, e, data[2] & 7);
  put_file(path, e.text, e.size);
  REQUIRE(weir_lines_open(&lines, path, &options, NULL) == 0);
  check(&lines, e, data[2] >> 3 & 7);
  return 0;
}
