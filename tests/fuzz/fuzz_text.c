/*
 * fuzz_text.c - any bytes in any encoding: decoded in pieces into little room, they become what they become at once.
 */
#include "fuzz.h"
#include "weir.h"

struct result {
  int code;
  char *text;
  size_t size;
  uint64_t offset, replaced;
};

/* At most `piece` bytes in and `room` bytes out at a time. */
static struct result decode(struct weir_decoder decoder, const char *data, size_t size, size_t piece, size_t room) {
  struct result result = {.text = malloc(6 * size + 6)};
  REQUIRE(result.text);
  char *out = result.text;
  for (size_t at = 0; result.code == 0;) {
    const size_t step = size - at < piece ? size - at : piece;
    const bool last = step == size - at;
    struct weir_slice in = {data + at, step};
    do {
      size_t left = (size_t)(result.text + 6 * size + 6 - out);
      if (left > room) left = room;
      result.code = weir_decode(&decoder, &in, &out, &left, last);
    } while (result.code == WEIR_MORE);
    at += step;
    if (last) break;
  }
  result.size = (size_t)(out - result.text);
  result.offset = decoder.offset;
  result.replaced = decoder.replaced;
  return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct weir_decoder decoder;
  if (size < 3) return 0;
  const char *text = (const char *)data + 3;
  const enum weir_encoding from = (enum weir_encoding)(data[0] % 8), to = (enum weir_encoding)(data[0] >> 4 & 3);
  if (weir_decoder_init(&decoder, from, to, data[0] >> 7) != 0) return 0;
  size_t mark;
  (void)weir_detect(text, size - 3, &mark);
  REQUIRE(weir_utf8_valid(text, size - 3) <= size - 3);
  struct result whole = decode(decoder, text, size - 3, size, SIZE_MAX);
  struct result parts = decode(decoder, text, size - 3, 1 + data[1] % 16u, 6 + data[2] % 16u);
  REQUIRE(whole.code == parts.code && whole.offset == parts.offset && whole.replaced == parts.replaced);
  REQUIRE(whole.size == parts.size && memcmp(whole.text, parts.text, whole.size) == 0);
  if (from == WEIR_UTF8 && to == WEIR_UTF8 && whole.code == 0 && whole.replaced == 0) {
    REQUIRE(whole.size == size - 3 && memcmp(whole.text, text, whole.size) == 0);
  }
  free(whole.text);
  free(parts.text);
  return 0;
}
