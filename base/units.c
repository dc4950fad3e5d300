/*
 * units.c - numbers for people, by whole-number arithmetic and tables of suffixes. Knows nothing of locales.
 */
#include "base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)
#define TIB (UINT64_C(1) << 40)
#define PIB (UINT64_C(1) << 50)

/* What may stand behind a number, and how many of the smallest unit it stands for. */
struct suffix {
  const char *text;
  uint64_t factor;
};

/* "kb" and "mb" are missing on purpose: they are read as bits, as 1000 and as 1024. */
static const struct suffix size_suffixes[] = {
    {"", 1},
    {"B", 1},
    {"k", KIB},
    {"K", KIB},
    {"KiB", KIB},
    {"kiB", KIB},
    {"kB", UINT64_C(1000)},
    {"KB", UINT64_C(1000)},
    {"m", MIB},
    {"M", MIB},
    {"MiB", MIB},
    {"MB", UINT64_C(1000000)},
    {"g", GIB},
    {"G", GIB},
    {"GiB", GIB},
    {"GB", UINT64_C(1000000000)},
    {"t", TIB},
    {"T", TIB},
    {"TiB", TIB},
    {"TB", UINT64_C(1000000000000)},
    {"p", PIB},
    {"P", PIB},
    {"PiB", PIB},
    {"PB", UINT64_C(1000000000000000)},
    {NULL, 0},
};

static const struct suffix duration_suffixes[] = {
    {"", UINT64_C(1000000000)},
    {"ns", 1},
    {"us", 1000},
    {"ms", 1000000},
    {"s", 1000000000},
    {"m", UINT64_C(60000000000)},
    {"min", UINT64_C(60000000000)},
    {"h", UINT64_C(3600000000000)},
    {NULL, 0},
};

/* Shares are counted in billionths. */
#define SHARE_ONE UINT64_C(1000000000)
static const struct suffix share_suffixes[] = {{"", SHARE_ONE}, {"%", SHARE_ONE / 100}, {NULL, 0}};

/* As shares, in billionths. */
static const struct suffix rate_suffixes[] = {{"", SHARE_ONE},           {"/s", SHARE_ONE},           {"k", SHARE_ONE * 1000},
                                              {"k/s", SHARE_ONE * 1000}, {"M", SHARE_ONE * 1000000}, {"M/s", SHARE_ONE * 1000000},
                                              {NULL, 0}};

static const struct suffix count_suffixes[] = {{"", 1}, {NULL, 0}};

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static const char *skip_digits(const char *text) {
  while (is_digit(*text)) text++;
  return text;
}

/* Digits in `base` 10 or 16 up to `end`; `end` is behind the last one. */
static int parse_digits(const char *text, const char *end, unsigned base, uint64_t *out) {
  uint64_t value = 0;
  for (; text < end; text++) {
    unsigned digit = is_digit(*text) ? (unsigned)(*text - '0') : (unsigned)((*text | 0x20) - 'a') + 10;
    if (value > (UINT64_MAX - digit) / base) return -ERANGE;
    value = value * base + digit;
  }
  *out = value;
  return 0;
}

/*
 * The digits behind a decimal point, as whole units of `factor`, rounded down. From the last digit to the first, so that
 * nothing overflows however many there are, and nested floors give the floor of the exact value.
 */
static uint64_t fraction_of(const char *digits, const char *end, uint64_t factor) {
  uint64_t value = 0;
  while (end > digits) value = (value + (uint64_t)(*--end - '0') * factor) / 10;
  return value;
}

/* number = digits [ "." digits ] suffix. A fraction of a unit that cannot be divided is not a number of this kind. */
static int parse_scaled(const char *text, const struct suffix *suffixes, uint64_t *out) {
  const char *whole_end = skip_digits(text), *fraction = whole_end, *end = whole_end;
  if (whole_end == text) return -EINVAL;
  if (*whole_end == '.') {
    fraction = whole_end + 1;
    end = skip_digits(fraction);
    if (end == fraction) return -EINVAL;
  }
  while (suffixes->text && strcmp(suffixes->text, end) != 0) suffixes++;
  if (!suffixes->text || (fraction != whole_end && suffixes->factor == 1)) return -EINVAL;

  uint64_t whole;
  int error = parse_digits(text, whole_end, 10, &whole);
  if (error) return error;
  if (whole > UINT64_MAX / suffixes->factor) return -ERANGE;
  whole *= suffixes->factor;
  uint64_t part = fraction_of(fraction, end, suffixes->factor);
  if (whole > UINT64_MAX - part) return -ERANGE;
  *out = whole + part;
  return 0;
}

int units_parse_size(const char *text, uint64_t *bytes) { return parse_scaled(text, size_suffixes, bytes); }

/* The number, with a point where a comma stands. Returns what is behind it and the white space that follows. */
static const char *copy_number(const char *text, char *out, size_t size) {
  size_t used = 0;
  for (; (is_digit(*text) || *text == '.' || *text == ',') && used + 1 < size; text++) out[used++] = *text == ',' ? '.' : *text;
  out[used] = '\0';
  return text + strspn(text, " \t");
}

/* Whoever writes a letter that is none of a unit's beginnings, or many of them, means something else. */
const char *units_size_hint(const char *text, char out[UNITS_TEXT_MAX]) {
  static const char letters[] = "KMGTP";
  char number[16];
  uint64_t ignored;
  const char *unit = copy_number(text + strspn(text, " \t"), number, sizeof number);
  const char letter = *unit >= 'a' && *unit <= 'z' ? (char)(*unit - 'a' + 'A') : *unit;
  if (!*number || strlen(unit) > 9 || units_parse_size(text, &ignored) != -EINVAL) return NULL;
  if (letter && strchr(letters, letter))
    snprintf(out, UNITS_TEXT_MAX, "%s%ciB", number, letter);
  else if (!letter || letter == 'B')
    snprintf(out, UNITS_TEXT_MAX, "%s", number);
  else
    return NULL;
  return units_parse_size(out, &ignored) == 0 ? out : NULL;
}

int units_parse_duration(const char *text, uint64_t *ns) { return parse_scaled(text, duration_suffixes, ns); }

int units_parse_count(const char *text, uint64_t *count) { return parse_scaled(text, count_suffixes, count); }

int units_parse_share(const char *text, double *fraction) {
  uint64_t billionths;
  int error = parse_scaled(text, share_suffixes, &billionths);
  if (error) return error;
  if (billionths > SHARE_ONE) return -ERANGE;
  *fraction = (double)billionths / (double)SHARE_ONE;
  return 0;
}

int units_parse_ratio(const char *text, double *ratio) {
  static const struct suffix plain[] = {{"", SHARE_ONE}, {NULL, 0}};
  uint64_t billionths;
  int error = parse_scaled(text, plain, &billionths);
  if (!error) *ratio = (double)billionths / (double)SHARE_ONE;
  return error;
}

int units_parse_rate(const char *text, double *per_s) {
  uint64_t billionths;
  int error = parse_scaled(text, rate_suffixes, &billionths);
  if (error) return error;
  if (billionths == 0) return -ERANGE;
  *per_s = (double)billionths / (double)SHARE_ONE;
  return 0;
}

int units_parse_seed(const char *text, uint64_t *seed) {
  if (text[0] != '0' || (text[1] | 0x20) != 'x') return units_parse_count(text, seed);
  const char *digits = text + 2, *end = digits + strspn(digits, "0123456789abcdefABCDEF");
  if (end == digits || *end) return -EINVAL;
  return parse_digits(digits, end, 16, seed);
}

/* ---- writing ------------------------------------------------------------------------------------------------------- */

static const char *const binary_units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
enum { BINARY_UNITS = sizeof binary_units / sizeof *binary_units };

const char *units_size_name(uint64_t bytes, char out[UNITS_TEXT_MAX]) {
  int unit = 0;
  for (; unit < BINARY_UNITS - 1 && bytes != 0 && bytes % 1024 == 0; unit++) bytes /= 1024;
  snprintf(out, UNITS_TEXT_MAX, "%" PRIu64 "%s", bytes, unit ? binary_units[unit] : "");
  return out;
}

/* What still fits whole-number arithmetic. */
#define PRINTABLE_MAX 1.8446e19

static bool printable(double value) { return value >= 0 && value < PRINTABLE_MAX; }

/* Three digits: 1.23, 12.3, 123, 1234. Decimals are printed as integers, so no locale can put a comma there. */
static void put_number(double value, const char *unit, char out[UNITS_TEXT_MAX]) {
  if (value < 9.995) {
    unsigned hundredths = (unsigned)(value * 100 + 0.5);
    snprintf(out, UNITS_TEXT_MAX, "%u.%02u %s", hundredths / 100, hundredths % 100, unit);
  } else if (value < 99.95) {
    unsigned tenths = (unsigned)(value * 10 + 0.5);
    snprintf(out, UNITS_TEXT_MAX, "%u.%u %s", tenths / 10, tenths % 10, unit);
  } else {
    snprintf(out, UNITS_TEXT_MAX, "%" PRIu64 " %s", (uint64_t)(value + 0.5), unit);
  }
}

static void put_whole(double value, const char *unit, char out[UNITS_TEXT_MAX]) {
  snprintf(out, UNITS_TEXT_MAX, "%" PRIu64 " %s", (uint64_t)(value + 0.5), unit);
}

/* Divides by 1024 until what would be printed is below that; 1023.6 KiB is 1.00 MiB. */
static int scale_binary(double *value) {
  int unit = 0;
  for (; unit < BINARY_UNITS - 1 && *value >= 1023.5; unit++) *value /= 1024;
  return unit;
}

const char *units_size_text(double bytes, char out[UNITS_TEXT_MAX]) {
  if (!printable(bytes)) return strcpy(out, "-");
  int unit = scale_binary(&bytes);
  if (unit == 0 || floor(bytes) == bytes) {
    put_whole(bytes, binary_units[unit], out);
  } else {
    put_number(bytes, binary_units[unit], out);
  }
  return out;
}

const char *units_rate_text(double bytes_per_s, char out[UNITS_TEXT_MAX]) {
  static const char *const units[BINARY_UNITS] = {"B/s", "KiB/s", "MiB/s", "GiB/s", "TiB/s", "PiB/s"};
  if (!printable(bytes_per_s)) return strcpy(out, "-");
  int unit = scale_binary(&bytes_per_s);
  put_number(bytes_per_s, units[unit], out);
  return out;
}

const char *units_time_text(double ns, char out[UNITS_TEXT_MAX]) {
  static const char *const units[] = {"ns", "us", "ms", "s"};
  if (!printable(ns)) return strcpy(out, "-");
  int unit = 0;
  for (; unit < 3 && ns >= 999.5; unit++) ns /= 1000;
  if (ns > 0) {
    put_number(ns, units[unit], out);
  } else {
    put_whole(0, "ns", out);
  }
  return out;
}

/* Two neighbouring units, the smaller one left out when it is zero. */
static void put_two(uint64_t large, const char *large_unit, uint64_t small, const char *small_unit,
                    char out[UNITS_TEXT_MAX]) {
  if (small) {
    snprintf(out, UNITS_TEXT_MAX, "%" PRIu64 " %s %" PRIu64 " %s", large, large_unit, small, small_unit);
  } else {
    snprintf(out, UNITS_TEXT_MAX, "%" PRIu64 " %s", large, large_unit);
  }
}

const char *units_duration_text(uint64_t ns, char out[UNITS_TEXT_MAX]) {
  const uint64_t second = UINT64_C(1000000000);
  uint64_t seconds = ns / second + (ns % second >= second / 2);
  if (ns > 0 && seconds == 0) seconds = 1;
  if (seconds < 60) {
    put_two(seconds, "s", 0, "", out);
  } else if (seconds < 3600) {
    put_two(seconds / 60, "min", seconds % 60, "s", out);
  } else {
    uint64_t minutes = (seconds + 30) / 60;
    put_two(minutes / 60, "h", minutes % 60, "min", out);
  }
  return out;
}
