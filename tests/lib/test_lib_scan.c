/*
 * test_lib_scan.c - every scanner that this processor can run, against a loop over bytes: all small sizes at all alignments,
 * between pages that must not be touched.
 */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "lib/internal.h"
#include "tests/os/check.h"

#define SIZE_MOST 300u
#define ENDS_GUARD 0xdeadbeefu

static struct { char *begin, *end; /* two pages; those before and behind cannot be touched */ } guarded;

static int make_guarded(void **state) {
  const size_t page = os_page_size();
  char *pages = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return -1;
  if (mprotect(pages, page, PROT_NONE) || mprotect(pages + 3 * page, page, PROT_NONE)) return -1;
  guarded.begin = pages + page;
  guarded.end = pages + 3 * page;
  return 0;
}

static int drop_guarded(void **state) { return munmap(guarded.begin - os_page_size(), 4 * os_page_size()); }

static uint32_t next_random(uint32_t *seed) { return *seed = *seed * 1664525u + 1013904223u; }

/* `density`: of 256 bytes so many are LF, and as many CR. */
static void fill(char *data, size_t size, unsigned density, uint32_t seed) {
  for (size_t i = 0; i < size; i++) {
    const uint32_t random = next_random(&seed) >> 8 & 255;
    data[i] = random < density ? '\n' : random < 2 * density ? '\r' : random < 250 ? (char)random : '\0';
  }
}

struct answer {
  size_t count, used;
  bool cr;
  uint32_t ends[SIZE_MOST + 2];
};

static struct answer expected(const char *data, size_t from, size_t size, size_t max) {
  struct answer answer = {.used = from};
  for (size_t i = from; i < size && answer.count < max; i++) {
    answer.used = i + 1;
    if (data[i] != '\n') continue;
    answer.ends[answer.count++] = (uint32_t)i;
    if (i && data[i - 1] == '\r') answer.cr = true;
  }
  return answer;
}

static void check_lines(const struct weir__scanner *scanner, const char *data, size_t from, size_t size, size_t max) {
  const struct answer all = expected(data, from, size, max);
  struct answer got = {0};
  got.ends[max] = ENDS_GUARD;
  got.count = scanner->lines(data, from, size, got.ends, max, &got.used, &got.cr);
  const bool in_parts = got.count > 0 && max - got.count < 64 && got.used < all.used;
  const struct answer want = in_parts ? expected(data, from, got.used, max) : all;
  if (got.count != want.count || got.used != want.used || got.cr != want.cr ||
      memcmp(got.ends, want.ends, want.count * sizeof *want.ends) != 0 || got.ends[max] != ENDS_GUARD) {
    fail_msg("%s: from %zu of %zu, at most %zu: %zu ends, used %zu, cr %d; wanted %zu, %zu, %d", scanner->name, from, size,
             max, got.count, got.used, got.cr, want.count, want.used, want.cr);
  }
}

static void check_count(const struct weir__scanner *scanner, const char *data, size_t size) {
  uint64_t want = 0;
  for (size_t i = 0; i < size; i++) want += data[i] == '\n';
  assert_int_equal(scanner->count(data, size), want);
}

static const unsigned densities[] = {0, 1, 4, 30, 128};
#define DENSITIES (sizeof densities / sizeof densities[0])

static void each_size(const struct weir__scanner *scanner) {
  for (size_t size = 0; size <= SIZE_MOST; size++) {
    for (size_t d = 0; d < DENSITIES; d++) {
      char *const places[] = {guarded.begin, guarded.end - size};
      for (size_t p = 0; p < 2; p++) {
        fill(places[p], size, densities[d], (uint32_t)(size * 8 + d));
        check_lines(scanner, places[p], 0, size, SIZE_MOST + 1);
        check_count(scanner, places[p], size);
      }
    }
  }
}

static void each_alignment(const struct weir__scanner *scanner) {
  for (size_t shift = 0; shift < 64; shift++) {
    for (size_t size = SIZE_MOST - 64; size <= SIZE_MOST; size += 7) {
      char *data = guarded.begin + shift;
      fill(data, size, 30, (uint32_t)(shift * 1000 + size));
      check_lines(scanner, data, 0, size, SIZE_MOST + 1);
      check_count(scanner, data, size);
      for (size_t from = 0; from <= size; from += 3) check_lines(scanner, data, from, size, SIZE_MOST + 1);
    }
  }
}

/* The index is full at every place: in the fast part, in the careful one, and exactly at the end. */
static void each_room(const struct weir__scanner *scanner) {
  char *data = guarded.end - SIZE_MOST;
  for (size_t d = 0; d < DENSITIES; d++) {
    fill(data, SIZE_MOST, densities[d], (uint32_t)d);
    for (size_t max = 0; max <= SIZE_MOST; max++) {
      check_lines(scanner, data, 0, SIZE_MOST, max);
      check_lines(scanner, data, 17, SIZE_MOST, max);
    }
  }
}

/* Every byte by itself, and beside every other that matters. */
static void each_byte(const struct weir__scanner *scanner) {
  char *data = guarded.end - 64;
  for (unsigned byte = 0; byte < 256; byte++) {
    memset(data, (int)byte, 64);
    check_lines(scanner, data, 0, 64, 64);
    check_count(scanner, data, 64);
    for (size_t i = 0; i < 64; i += 9) {
      data[i] = '\n';
      check_lines(scanner, data, 0, 64, 64);
    }
  }
}

static void each_place_of_cr(const struct weir__scanner *scanner) {
  char *data = guarded.end - 200;
  for (size_t i = 0; i < 199; i++) {
    memset(data, 'x', 200);
    data[i] = '\r';
    check_lines(scanner, data, 0, 200, 200);
    data[i + 1] = '\n';
    check_lines(scanner, data, 0, 200, 200);
    check_lines(scanner, data, i + 1, 200, 200);
    check_lines(scanner, data, i + 1, i + 2, 200);
  }
}

/* More than a byte can count in every lane. */
static void counts_above_a_byte(const struct weir__scanner *scanner) {
  const size_t size = 300 * 1000;
  char *data = malloc(size);
  assert_non_null(data);
  memset(data, '\n', size);
  for (size_t less = 0; less < 130; less++) assert_int_equal(scanner->count(data + less / 2, size - less), size - less);
  free(data);
}

static void for_each(void (*check)(const struct weir__scanner *scanner)) {
  for (unsigned i = 0; weir__scanner(i); i++) check(weir__scanner(i));
}

static void all_sizes_agree(void **state) { for_each(each_size); }
static void all_alignments_agree(void **state) { for_each(each_alignment); }
static void a_full_index_is_never_exceeded(void **state) { for_each(each_room); }
static void all_bytes_agree(void **state) { for_each(each_byte); }
static void every_cr_is_seen(void **state) { for_each(each_place_of_cr); }
static void many_newlines_are_counted(void **state) { for_each(counts_above_a_byte); }

static void the_last_scanner_is_plain(void **state) {
  unsigned count = 0;
  while (weir__scanner(count)) printf("scanner %s\n", weir__scanner(count++)->name);
  assert_true(count > 0);
  assert_ptr_equal(weir__scanner(count - 1), &weir__scanner_plain);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_sizes_agree),
      cmocka_unit_test(all_alignments_agree),
      cmocka_unit_test(a_full_index_is_never_exceeded),
      cmocka_unit_test(all_bytes_agree),
      cmocka_unit_test(every_cr_is_seen),
      cmocka_unit_test(many_newlines_are_counted),
      cmocka_unit_test(the_last_scanner_is_plain),
  };
  return cmocka_run_group_tests(tests, make_guarded, drop_guarded);
}
