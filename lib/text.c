/*
 * text.c - encodings: which one a text is in, whether it is valid, and from one to another piece by piece. It knows no
 * locale, no other encodings than those of weir.h, and leaves marks, line ends and normal forms as they are.
 */
#include <string.h>

#include "lib/internal.h"

#define REPLACEMENT 0xfffdu
#define INVALID UINT32_MAX  /* in place of a character */
#define DETECT_BYTES 4096u  /* what a guess looks at, from the first byte on that is not ASCII */
#define SMALLEST_ROOM 4096u /* for decoded text */

/* ---- one character ------------------------------------------------------------------------------------------------- */

/*
 * A reader takes one character from [in, in + size), size > 0, and returns how many bytes it has; 0 where more bytes are
 * needed to tell. For what is invalid *code is INVALID and the count says how many bytes are one error: for UTF-8 the
 * longest start of a character that goes wrong.
 */

/* Leaves out overlong forms, surrogates and what is above U+10FFFF: they show in the second byte. */
static inline bool second_fits(unsigned lead, unsigned second) {
  unsigned lowest = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  unsigned highest = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  return second >= lowest && second <= highest;
}

static inline bool follows(unsigned byte) { return (byte & 0xc0) == 0x80; }

/* 0: no character begins with it. */
static inline size_t lead_length(unsigned lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

static inline size_t read_utf8(const unsigned char *in, size_t size, uint32_t *code) {
  size_t length = lead_length(in[0]);
  *code = length == 1 ? in[0] : INVALID;
  if (length <= 1) return 1;
  uint32_t bits = in[0] & (0x7fu >> length);
  for (size_t i = 1; i < length; i++) {
    if (i == size) return 0;
    if (!(i == 1 ? second_fits(in[0], in[1]) : follows(in[i]))) return i;
    bits = bits << 6 | (in[i] & 0x3fu);
  }
  *code = bits;
  return length;
}

static inline bool is_surrogate(uint32_t code) { return code >= 0xd800 && code <= 0xdfff; }

static inline uint32_t unit16(const unsigned char *in, bool big) {
  return big ? (uint32_t)in[0] << 8 | in[1] : (uint32_t)in[1] << 8 | in[0];
}

static inline size_t read_utf16(const unsigned char *in, size_t size, bool big, uint32_t *code) {
  *code = INVALID;
  if (size < 2) return 0;
  uint32_t first = unit16(in, big);
  if (!is_surrogate(first)) {
    *code = first;
    return 2;
  }
  if (first >= 0xdc00) return 2;
  if (size < 4) return 0;
  uint32_t second = unit16(in + 2, big);
  if (second < 0xdc00 || second > 0xdfff) return 2;
  *code = 0x10000 + ((first & 0x3ff) << 10 | (second & 0x3ff));
  return 4;
}

static inline size_t read_utf32(const unsigned char *in, size_t size, bool big, uint32_t *code) {
  *code = INVALID;
  if (size < 4) return 0;
  uint32_t value = big ? unit16(in, true) << 16 | unit16(in + 2, true) : unit16(in + 2, false) << 16 | unit16(in, false);
  if (value <= 0x10ffff && !is_surrogate(value)) *code = value;
  return 4;
}

static inline size_t read_character(enum weir_encoding from, const unsigned char *in, size_t size, uint32_t *code) {
  switch (from) {
    case WEIR_UTF8:
      return read_utf8(in, size, code);
    case WEIR_UTF16LE:
      return read_utf16(in, size, false, code);
    case WEIR_UTF16BE:
      return read_utf16(in, size, true, code);
    case WEIR_UTF32LE:
      return read_utf32(in, size, false, code);
    case WEIR_UTF32BE:
      return read_utf32(in, size, true, code);
    case WEIR_ENCODING_UNKNOWN:
    case WEIR_LATIN1:
      break;
  }
  *code = in[0];
  return 1;
}

/* Both return how many bytes they wrote, 0 where they do not fit. */
static inline size_t write_utf8(uint32_t code, unsigned char *out, size_t size) {
  size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  if (length > size) return 0;
  if (length == 1) {
    out[0] = (unsigned char)code;
    return 1;
  }
  for (size_t i = length - 1; i > 0; i--, code >>= 6) out[i] = (unsigned char)(0x80 | (code & 0x3f));
  out[0] = (unsigned char)(0xf00u >> length | code); /* as many ones as bytes, then a zero */
  return length;
}

static inline size_t write_utf16(uint32_t code, bool big, unsigned char *out, size_t size) {
  size_t length = code < 0x10000 ? 2 : 4;
  if (length > size) return 0;
  uint32_t units[2] = {code, 0};
  if (length == 4) {
    units[0] = 0xd800 + ((code - 0x10000) >> 10);
    units[1] = 0xdc00 + (code & 0x3ff);
  }
  for (size_t i = 0; i < length; i += 2) {
    out[i + !big] = (unsigned char)(units[i / 2] >> 8);
    out[i + big] = (unsigned char)units[i / 2];
  }
  return length;
}

static inline size_t write_character(enum weir_encoding to, uint32_t code, unsigned char *out, size_t size) {
  return to == WEIR_UTF8 ? write_utf8(code, out, size) : write_utf16(code, to == WEIR_UTF16BE, out, size);
}

/* ---- many characters ----------------------------------------------------------------------------------------------- */

/* How many bytes from the start are ASCII. */
static size_t ascii_run(const unsigned char *data, size_t size) {
  size_t i = 0;
  for (; size - i >= 16; i += 16) {
    uint64_t words[2];
    memcpy(words, data + i, sizeof words);
    if ((words[0] | words[1]) & 0x8080808080808080u) break;
  }
  while (i < size && data[i] < 0x80) i++;
  return i;
}

/* The length of the character of several bytes that begins here; 0 when it is invalid or cut off. */
static size_t valid_length(const unsigned char *at, size_t size) {
  unsigned lead = at[0];
  if (lead < 0xe0) return lead >= 0xc2 && size >= 2 && follows(at[1]) ? 2 : 0;
  if (lead < 0xf0) return size >= 3 && second_fits(lead, at[1]) && follows(at[2]) ? 3 : 0;
  return lead <= 0xf4 && size >= 4 && second_fits(lead, at[1]) && follows(at[2]) && follows(at[3]) ? 4 : 0;
}

size_t weir_utf8_valid(const void *data, size_t size) {
  const unsigned char *at = data;
  size_t i = 0;
  while (i < size) {
    size_t length = at[i] < 0x80 ? ascii_run(at + i, size - i) : valid_length(at + i, size - i);
    if (!length) break;
    i += length;
  }
  return i;
}

/* ---- what encoding ------------------------------------------------------------------------------------------------- */

/* UTF-32 before UTF-16, whose mark is the beginning of it. */
static const struct mark {
  enum weir_encoding encoding;
  unsigned size;
  unsigned char bytes[4];
} marks[] = {
    {WEIR_UTF32LE, 4, {0xff, 0xfe, 0, 0}}, {WEIR_UTF32BE, 4, {0, 0, 0xfe, 0xff}}, {WEIR_UTF8, 3, {0xef, 0xbb, 0xbf}},
    {WEIR_UTF16LE, 2, {0xff, 0xfe}},       {WEIR_UTF16BE, 2, {0xfe, 0xff}},
};

/* The mark that the data begin with, of this encoding or (unknown) of any; NULL: none. */
static const struct mark *find_mark(enum weir_encoding encoding, const unsigned char *data, size_t size) {
  for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
    const struct mark *mark = &marks[i];
    bool wanted = encoding == WEIR_ENCODING_UNKNOWN || encoding == mark->encoding;
    if (wanted && size >= mark->size && memcmp(data, mark->bytes, mark->size) == 0) return mark;
  }
  return NULL;
}

/* Every whole character is valid, and none is NUL. */
static bool reads_as(enum weir_encoding encoding, const unsigned char *data, size_t size) {
  for (size_t i = 0; i < size;) {
    uint32_t code;
    size_t length = read_character(encoding, data + i, size - i, &code);
    if (!length) break;
    if (code == INVALID || code == 0) return false;
    i += length;
  }
  return true;
}

/*
 * Valid UTF-8 up to a character that the end cuts off. At the end of a whole text that would rather be a last letter of
 * Latin-1, unless a character of several bytes came before it.
 */
static bool reads_as_utf8(const unsigned char *data, size_t size, bool whole) {
  size_t valid = weir_utf8_valid(data, size);
  uint32_t code;
  if (valid == size) return true;
  if (read_utf8(data + valid, size - valid, &code) != 0) return false;
  return !whole || ascii_run(data, valid) < valid;
}

/* Text of bytes, perhaps with NULs between its parts: no other control characters than those of printers and terminals. */
static bool reads_as_bytes(const unsigned char *data, size_t size) {
  for (size_t i = 0; i < size; i++) {
    bool control = data[i] < ' ' && data[i] != 0 && data[i] != '\t' && data[i] != '\n' && data[i] != '\f' &&
                   data[i] != '\r' && data[i] != 0x1b;
    if (control) return false;
  }
  return reads_as_utf8(data, size, false);
}

/*
 * UTF-16 shows by zeros, the upper halves of spaces, digits and Latin letters, that stand nearly all on one side. Few of
 * them in what reads well as bytes are separators.
 */
static enum weir_encoding guess_utf16(const unsigned char *data, size_t size) {
  size_t zeros[2] = {0, 0}, units = size / 2;
  for (size_t i = 0; i < units * 2; i++) zeros[i & 1] += data[i] == 0;
  bool little = zeros[1] >= zeros[0];
  size_t upper = zeros[little], lower = zeros[!little];
  if (upper == 0 || upper <= lower * 3 || upper < units / 32) return WEIR_ENCODING_UNKNOWN;
  if (upper < units - units / 4 && reads_as_bytes(data, size)) return WEIR_ENCODING_UNKNOWN;
  enum weir_encoding encoding = little ? WEIR_UTF16LE : WEIR_UTF16BE;
  return reads_as(encoding, data, size) ? encoding : WEIR_ENCODING_UNKNOWN;
}

static enum weir_encoding guess(const unsigned char *data, size_t size, bool whole) {
  size_t first = size < DETECT_BYTES ? size : DETECT_BYTES;
  /* UTF-32 has a zero in every character, so that no other text passes for it by accident */
  if (first >= 4 && reads_as(WEIR_UTF32LE, data, first)) return WEIR_UTF32LE;
  if (first >= 4 && reads_as(WEIR_UTF32BE, data, first)) return WEIR_UTF32BE;
  enum weir_encoding wide = guess_utf16(data, first);
  if (wide != WEIR_ENCODING_UNKNOWN) return wide;
  return reads_as_utf8(data, size, whole) ? WEIR_UTF8 : WEIR_LATIN1;
}

enum weir_encoding weir_detect(const void *data, size_t size, size_t *mark_bytes) {
  const struct mark *mark = find_mark(WEIR_ENCODING_UNKNOWN, data, size);
  if (mark_bytes) *mark_bytes = mark ? mark->size : 0;
  return mark ? mark->encoding : guess(data, size, size < DETECT_BYTES);
}

const char *weir_encoding_name(enum weir_encoding encoding) {
  switch (encoding) {
    case WEIR_UTF8:
      return "UTF-8";
    case WEIR_UTF16LE:
      return "UTF-16LE";
    case WEIR_UTF16BE:
      return "UTF-16BE";
    case WEIR_UTF32LE:
      return "UTF-32LE";
    case WEIR_UTF32BE:
      return "UTF-32BE";
    case WEIR_LATIN1:
      return "ISO-8859-1";
    case WEIR_ENCODING_UNKNOWN:
      break;
  }
  return "unknown";
}

/* ---- piece by piece ------------------------------------------------------------------------------------------------ */

static bool known(enum weir_encoding encoding) { return encoding >= WEIR_UTF8 && encoding <= WEIR_LATIN1; }

int weir_decoder_init(struct weir_decoder *decoder, enum weir_encoding from, enum weir_encoding to, bool replace) {
  bool target = to == WEIR_UTF8 || to == WEIR_UTF16LE || to == WEIR_UTF16BE;
  if (!known(from) || !target) return WEIR_EINVAL;
  *decoder = (struct weir_decoder){.from = from, .to = to, .replace = replace};
  return 0;
}

static void forward(struct weir_slice *in, size_t count) {
  in->data += count;
  in->size -= count;
}

/* The input begins in the carry: as much of both as a character can need, in one piece. */
static size_t join(const struct weir_decoder *decoder, const struct weir_slice *in, unsigned char *piece) {
  size_t more = sizeof decoder->carry - decoder->carried;
  if (more > in->size) more = in->size;
  memcpy(piece, decoder->carry, decoder->carried);
  if (more) memcpy(piece + decoder->carried, in->data, more);
  return decoder->carried + more;
}

/* Counts `count` bytes as used, those of the carry first. */
static void use(struct weir_decoder *decoder, struct weir_slice *in, size_t count) {
  unsigned carried = count < decoder->carried ? (unsigned)count : decoder->carried;
  decoder->offset += count;
  decoder->carried -= carried;
  memmove(decoder->carry, decoder->carry + carried, decoder->carried);
  if (count > carried) forward(in, count - carried);
}

/* All that is left begins a character: at most 3 bytes with those that are there. */
static void carry_over(struct weir_decoder *decoder, struct weir_slice *in) {
  memcpy(decoder->carry + decoder->carried, in->data, in->size);
  decoder->carried += (unsigned)in->size;
  forward(in, in->size);
}

/* One character, also where it is cut or invalid. There is input. */
static int step(struct weir_decoder *decoder, struct weir_slice *in, char **out, size_t *out_size, bool last) {
  unsigned char piece[sizeof decoder->carry];
  const unsigned char *at = (const unsigned char *)in->data;
  size_t size = in->size;
  if (decoder->carried) {
    size = join(decoder, in, piece);
    at = piece;
  }
  uint32_t code;
  size_t length = read_character(decoder->from, at, size, &code);
  if (length == 0 && !last) {
    carry_over(decoder, in);
    return 0;
  }
  if (length == 0) length = size; /* the end cuts it off: one error, whatever is there of it */
  bool invalid = code == INVALID;
  if (invalid && !decoder->replace) return WEIR_EILSEQ;
  size_t written = write_character(decoder->to, invalid ? REPLACEMENT : code, (unsigned char *)*out, *out_size);
  if (!written) return WEIR_MORE;
  decoder->replaced += invalid;
  use(decoder, in, length);
  *out += written;
  *out_size -= written;
  return 0;
}

/* What is left of both sides. */
struct span {
  const unsigned char *in, *in_end;
  unsigned char *out, *out_end;
};

/* Written once and compiled for each pair of encodings: the choices below are made by the compiler. */
#define FOR_EACH_PAIR static inline __attribute__((always_inline))
#define ASCII_STEP 8u /* bytes of input that are looked at together */
#define LONGEST 4     /* bytes of a character, in any encoding */
#define STEP_ROOM (2 * ASCII_STEP)

FOR_EACH_PAIR bool is_ascii(enum weir_encoding from, const unsigned char *in) {
  static const unsigned char bytes[ASCII_STEP] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80};
  static const unsigned char little[ASCII_STEP] = {0x80, 0xff, 0x80, 0xff, 0x80, 0xff, 0x80, 0xff};
  static const unsigned char big[ASCII_STEP] = {0xff, 0x80, 0xff, 0x80, 0xff, 0x80, 0xff, 0x80};
  uint64_t word, others;
  memcpy(&word, in, sizeof word);
  memcpy(&others, from == WEIR_UTF16LE ? little : from == WEIR_UTF16BE ? big : bytes, sizeof others);
  return (word & others) == 0;
}

/* ASCII_STEP bytes that are ASCII. Returns how many bytes it writes. */
FOR_EACH_PAIR size_t convert_ascii(enum weir_encoding from, enum weir_encoding to, const unsigned char *in,
                                   unsigned char *out) {
  bool wide_in = from == WEIR_UTF16LE || from == WEIR_UTF16BE, wide_out = to != WEIR_UTF8;
  size_t count = wide_in ? ASCII_STEP / 2 : ASCII_STEP, in_low = from == WEIR_UTF16BE, out_low = to == WEIR_UTF16BE;
  unsigned char ascii[ASCII_STEP], done[STEP_ROOM] = {0};
  for (size_t i = 0; i < count; i++) ascii[i] = in[wide_in ? 2 * i + in_low : i];
  for (size_t i = 0; i < count; i++) done[wide_out ? 2 * i + out_low : i] = ascii[i];
  size_t written = wide_out ? 2 * count : count;
  memcpy(out, done, written);
  return written;
}

/* Valid characters, as long as one more is there and has room for certain. */
FOR_EACH_PAIR void convert(enum weir_encoding from, enum weir_encoding to, struct span *span) {
  const unsigned char *in = span->in;
  unsigned char *out = span->out;
  bool wide = from == WEIR_UTF32LE || from == WEIR_UTF32BE;
  while (span->in_end - in >= LONGEST && span->out_end - out >= LONGEST) {
    while (!wide && span->in_end - in >= (ptrdiff_t)ASCII_STEP && span->out_end - out >= (ptrdiff_t)STEP_ROOM &&
           is_ascii(from, in)) {
      out += convert_ascii(from, to, in, out);
      in += ASCII_STEP;
    }
    if (span->in_end - in < LONGEST || span->out_end - out < LONGEST) break;
    uint32_t code;
    size_t length = read_character(from, in, LONGEST, &code);
    if (code == INVALID) break;
    in += length;
    out += write_character(to, code, out, LONGEST);
  }
  span->in = in;
  span->out = out;
}

FOR_EACH_PAIR void convert_to(enum weir_encoding from, enum weir_encoding to, struct span *span) {
  switch (to) {
    case WEIR_UTF16LE:
      convert(from, WEIR_UTF16LE, span);
      break;
    case WEIR_UTF16BE:
      convert(from, WEIR_UTF16BE, span);
      break;
    default:
      convert(from, WEIR_UTF8, span);
  }
}

static void convert_span(enum weir_encoding from, enum weir_encoding to, struct span *span) {
  switch (from) {
    case WEIR_UTF8:
      convert_to(WEIR_UTF8, to, span);
      break;
    case WEIR_UTF16LE:
      convert_to(WEIR_UTF16LE, to, span);
      break;
    case WEIR_UTF16BE:
      convert_to(WEIR_UTF16BE, to, span);
      break;
    case WEIR_UTF32LE:
      convert_to(WEIR_UTF32LE, to, span);
      break;
    case WEIR_UTF32BE:
      convert_to(WEIR_UTF32BE, to, span);
      break;
    case WEIR_ENCODING_UNKNOWN:
    case WEIR_LATIN1:
      convert_to(WEIR_LATIN1, to, span);
      break;
  }
}

/* Many characters in one go, with nothing carried: stops before one that is cut, invalid or has no room, or earlier. */
static void run(struct weir_decoder *decoder, struct weir_slice *in, char **out, size_t *out_size) {
  struct span span = {.in = (const unsigned char *)in->data, .out = (unsigned char *)*out};
  size_t read, written;
  if (!*out_size) return;
  if (decoder->from == WEIR_UTF8 && decoder->to == WEIR_UTF8) {
    read = written = weir_utf8_valid(in->data, in->size < *out_size ? in->size : *out_size);
    if (read) memcpy(*out, in->data, read);
  } else {
    span.in_end = span.in + in->size;
    span.out_end = span.out + *out_size;
    convert_span(decoder->from, decoder->to, &span);
    read = (size_t)(span.in - (const unsigned char *)in->data);
    written = (size_t)(span.out - (unsigned char *)*out);
  }
  if (!read) return;
  use(decoder, in, read);
  *out += written;
  *out_size -= written;
}

int weir_decode(struct weir_decoder *decoder, struct weir_slice *in, char **out, size_t *out_size, bool last) {
  if (!known(decoder->from)) return WEIR_EINVAL;
  while (in->size || (last && decoder->carried)) {
    if (!decoder->carried) run(decoder, in, out, out_size);
    if (!in->size && !decoder->carried) break;
    int status = step(decoder, in, out, out_size, last);
    if (status) return status;
  }
  return 0;
}

/* ---- a whole file -------------------------------------------------------------------------------------------------- */

/* By its mark; else a guess from the first characters that are not ASCII, so that a bad byte far behind them stays an error
 * of their encoding. */
static enum weir_encoding detect_file(const unsigned char *data, size_t size) {
  const struct mark *mark = find_mark(WEIR_ENCODING_UNKNOWN, data, size);
  if (mark) return mark->encoding;
  size_t ascii = ascii_run(data, size);
  size_t looked = size - ascii > DETECT_BYTES ? ascii + DETECT_BYTES : size;
  return guess(data, looked, looked == size);
}

/* Room behind the text for what `left` bytes of input become, or half as much as there is: whichever is more. */
static int make_room(struct weir_bytes *text, size_t left, size_t *capacity) {
  size_t more = left / 8 + SMALLEST_ROOM;
  more += left > text->size / 2 ? left : text->size / 2;
  if (more > SIZE_MAX / 2 - text->size) return WEIR_ENOMEM;
  *capacity = text->size + more;
  return weir__bytes_reserve(text, *capacity, text->size, 0);
}

static int decode_all(struct weir_decoder *decoder, struct weir_slice in, struct weir_bytes *text) {
  int code = WEIR_MORE;
  while (code == WEIR_MORE) {
    size_t capacity;
    code = make_room(text, in.size, &capacity);
    if (code < 0) break;
    char *out = text->data + text->size;
    size_t room = capacity - text->size;
    code = weir_decode(decoder, &in, &out, &room, true);
    text->size = (size_t)(out - text->data);
  }
  if (text->data) text->data[text->size] = 0;
  return code;
}

/* What was read becomes what was decoded, all of it or what came before the error. */
static int decode_file(const char *path, struct weir_decoder *decoder, size_t mark, struct weir_bytes *text,
                       struct weir_error *error) {
  struct weir_bytes decoded = {0};
  struct weir_slice in = {text->data + mark, text->size - mark};
  int code = decode_all(decoder, in, &decoded);
  if (decoded.data) {
    weir_bytes_free(text);
    *text = decoded;
  } else {
    text->size = 0;
    text->data[0] = 0;
  }
  if (code == 0) return 0;
  return weir__fail(error, code, "decode", path, mark + decoder->offset, 1, text->size);
}

int weir_read_text(const char *path, enum weir_encoding from, bool replace, struct weir_bytes *text,
                   struct weir_error *error) {
  if (from != WEIR_ENCODING_UNKNOWN && !known(from)) return weir__fail(error, WEIR_EINVAL, "decode", path, 0, 0, 0);
  int code = weir_read_file(path, text, NULL, error);
  if (code < 0) return code;
  const unsigned char *data = (const unsigned char *)text->data;
  if (from == WEIR_ENCODING_UNKNOWN) from = detect_file(data, text->size);
  const struct mark *found = find_mark(from, data, text->size);
  size_t mark = found ? found->size : 0, size = text->size - mark;
  if (from == WEIR_UTF8 && weir_utf8_valid(text->data + mark, size) == size) { /* nothing to be done but for the mark */
    if (mark) memmove(text->data, text->data + mark, size + 1);
    text->size = size;
    return 0;
  }
  struct weir_decoder decoder;
  code = weir_decoder_init(&decoder, from, WEIR_UTF8, replace);
  return code < 0 ? weir__fail(error, code, "decode", path, 0, 0, 0) : decode_file(path, &decoder, mark, text, error);
}
