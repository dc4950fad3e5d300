/*
 * fuzz_records.c - any bytes as records and as fields of all kinds: never beyond the data, in order, and the same from
 * memory as from a file in blocks of a few bytes.
 */
#include "fuzz.h"
#include "lib/internal.h"

/* The next record, or a field of the kind that the script says. */
static int take(struct weir_records *records, uint8_t script, struct weir_slice *slice) {
  if (!(script & 1)) return weir_records_next(records, slice);
  return weir_records_field(records, (enum weir_record_prefix)((script >> 1 & 15) % (WEIR_RECORD_VARINT + 1)), script >> 5,
                            slice);
}

static void check(struct weir_records *one, struct weir_records *other, const char *begin, const char *stop,
                  const uint8_t *script, size_t turns) {
  for (size_t i = 0;; i++) {
    struct weir_slice a, b;
    const int result = take(one, script[i % turns], &a);
    REQUIRE(take(other, script[i % turns], &b) == result);
    if (result <= 0) break;
    REQUIRE(a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0));
    REQUIRE(a.data >= begin && a.size <= (size_t)(stop - a.data));
    if (a.data + a.size == begin && i > 1000) break; /* records of nothing go on for ever */
    begin = a.data + a.size;
  }
  REQUIRE(weir_records_close(one, NULL) == weir_records_close(other, NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  enum { TURNS = 4, HEAD = 4 + TURNS };
  static const size_t blocks[] = {1, 2, 5, 31, 64, 200, 4096, 65536};
  static const char path[] = "records";
  if (size < HEAD) return 0;
  const struct weir_record_format format = {.prefix = (enum weir_record_prefix)(data[0] % (WEIR_RECORD_VARINT + 1)),
                                            .fixed_bytes = data[1] & 31,
                                            .max_bytes = data[2],
                                            .header_bytes = data[3] & 15};
  const char *text = (const char *)data + HEAD;
  put_file(path, text, size - HEAD);
  struct weir_records *one, *other;
  const int code = weir_records_open_memory(text, size - HEAD, &format, &one, NULL);
  REQUIRE(weir__records_open(path, &format, blocks[data[3] >> 5], &other, NULL) == code);
  if (code == 0) check(one, other, text, text + size - HEAD, data + 4, TURNS);
  return 0;
}
