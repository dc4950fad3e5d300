/*
 * test_base.c - numbers for people and seeded numbers against known answers. Draws are seeded: no test is left to chance.
 */
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "base/units.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define KIB UINT64_C(1024)
#define UNTOUCHED UINT64_C(0x5EED5EED5EED)

typedef int parser(const char *text, uint64_t *out);

struct reading {
  const char *text;
  int result;
  uint64_t value;
};

static void check_readings(parser *parse, const struct reading *readings, size_t count) {
  for (size_t i = 0; i < count; i++) {
    uint64_t value = UNTOUCHED;
    int result = parse(readings[i].text, &value);
    uint64_t expected = readings[i].result ? UNTOUCHED : readings[i].value;
    if (result != readings[i].result || value != expected) {
      fail_msg("\"%s\" gave %d, %llu", readings[i].text, result, (unsigned long long)value);
    }
  }
}

/* ---- units --------------------------------------------------------------------------------------------------------- */

static void every_size_suffix_is_read(void **state) {
  (void)state;
  static const struct reading readings[] = {
      {"0", 0, 0},
      {"4096", 0, 4096},
      {"7B", 0, 7},
      {"4k", 0, 4 * KIB},
      {"4K", 0, 4 * KIB},
      {"4KiB", 0, 4 * KIB},
      {"4kiB", 0, 4 * KIB},
      {"4kB", 0, 4000},
      {"4KB", 0, 4000},
      {"3m", 0, 3 * KIB * KIB},
      {"3M", 0, 3 * KIB * KIB},
      {"3MiB", 0, 3 * KIB * KIB},
      {"3MB", 0, 3000000},
      {"2g", 0, 2 * KIB * KIB * KIB},
      {"2G", 0, 2 * KIB * KIB * KIB},
      {"2GiB", 0, 2 * KIB * KIB * KIB},
      {"2GB", 0, 2000000000},
      {"5t", 0, 5 * KIB * KIB * KIB * KIB},
      {"5T", 0, 5 * KIB * KIB * KIB * KIB},
      {"5TiB", 0, 5 * KIB * KIB * KIB * KIB},
      {"5TB", 0, UINT64_C(5000000000000)},
      {"6p", 0, 6 * KIB * KIB * KIB * KIB * KIB},
      {"6P", 0, 6 * KIB * KIB * KIB * KIB * KIB},
      {"6PiB", 0, 6 * KIB * KIB * KIB * KIB * KIB},
      {"6PB", 0, UINT64_C(6000000000000000)},
      {"1.5GiB", 0, 3 * KIB * KIB * KIB / 2},
      {"0.66MB", 0, 660000},
      {"0.1k", 0, 102}, /* rounded down */
      {"0.00048828125M", 0, 512},
      {"0.99999999999999999999999999999k", 0, 1023},
      {"007", 0, 7},
  };
  check_readings(units_parse_size, readings, COUNT_OF(readings));
}

static void what_is_no_size_is_refused(void **state) {
  (void)state;
  static const struct reading readings[] = {
      {"", -EINVAL, 0},    {" 4k", -EINVAL, 0},  {"4k ", -EINVAL, 0},  {"4 k", -EINVAL, 0},    {"4kb", -EINVAL, 0},
      {"-1", -EINVAL, 0},  {"+1", -EINVAL, 0},   {"k", -EINVAL, 0},    {".5G", -EINVAL, 0},    {"1.G", -EINVAL, 0},
      {"1.5", -EINVAL, 0}, {"1.5B", -EINVAL, 0}, {"1,5G", -EINVAL, 0}, {"1.5.2G", -EINVAL, 0}, {"0x10", -EINVAL, 0},
      {"1e6", -EINVAL, 0}, {"4kk", -EINVAL, 0},  {"nan", -EINVAL, 0},  {"inf", -EINVAL, 0},    {"4Q", -EINVAL, 0},
  };
  check_readings(units_parse_size, readings, COUNT_OF(readings));
}

static void what_was_meant_by_a_wrong_size_is_found(void **state) {
  (void)state;
  static const char *const hints[][2] = {{"64kib", "64KiB"}, {"64 KiB", "64KiB"}, {"4kb", "4KiB"},     {"4gb", "4GiB"},    {"1,5G", "1.5GiB"},
                                         {"1GIB", "1GiB"},   {"4kk", "4KiB"},     {"10MBytes", "10MiB"}, {" 7 ", "7"},       {"12b", "12"},
                                         {"5bytes", "5"},    {"4Q", NULL},        {"0x10", NULL},      {"1e6", NULL},      {"-1", NULL},
                                         {"", NULL},         {"much", NULL},      {"1.5", NULL},       {"1.5.2G", NULL},   {"16384pib", NULL},
                                         {"3 megabytes or more", NULL}, {"0", NULL}, {"4KiB", NULL}};
  for (size_t i = 0; i < COUNT_OF(hints); i++) {
    char out[UNITS_TEXT_MAX];
    uint64_t bytes;
    const char *found = units_size_hint(hints[i][0], out);
    if (!found != !hints[i][1]) fail_msg("'%s': %s", hints[i][0], found ? found : "no hint");
    if (!found) continue;
    assert_string_equal(found, hints[i][1]);
    assert_int_equal(units_parse_size(found, &bytes), 0);
  }
}

static void a_size_beyond_64_bits_is_out_of_range(void **state) {
  (void)state;
  static const struct reading readings[] = {
      {"18446744073709551615", 0, UINT64_MAX},
      {"18446744073709551616", -ERANGE, 0},
      {"99999999999999999999999999", -ERANGE, 0},
      {"16383P", 0, UINT64_C(16383) << 50},
      {"16384P", -ERANGE, 0},
      {"16383.9999999999999999999P", 0, UINT64_MAX},
      {"18014398509481983k", 0, UINT64_C(18014398509481983) << 10},
      {"18014398509481984k", -ERANGE, 0},
  };
  check_readings(units_parse_size, readings, COUNT_OF(readings));
}

static void durations_are_read(void **state) {
  (void)state;
  const uint64_t second = UINT64_C(1000000000);
  const struct reading readings[] = {
      {"90", 0, 90 * second},
      {"30s", 0, 30 * second},
      {"5m", 0, 300 * second},
      {"5min", 0, 300 * second},
      {"1h", 0, 3600 * second},
      {"250ms", 0, second / 4},
      {"3us", 0, 3000},
      {"12ns", 0, 12},
      {"1.5h", 0, 5400 * second},
      {"0.5", 0, second / 2},
      {"0", 0, 0},
      {"1.5ns", -EINVAL, 0},
      {"5 m", -EINVAL, 0},
      {"-1s", -EINVAL, 0},
      {"", -EINVAL, 0},
      {"1d", -EINVAL, 0},
      {"5124095h", 0, UINT64_C(5124095) * 3600 * second},
      {"5124096h", -ERANGE, 0},
  };
  check_readings(units_parse_duration, readings, COUNT_OF(readings));
}

static void counts_and_seeds_are_read(void **state) {
  (void)state;
  static const struct reading counts[] = {
      {"0", 0, 0},
      {"24301", 0, 24301},
      {"1.5", -EINVAL, 0},
      {"4k", -EINVAL, 0},
      {"", -EINVAL, 0},
      {"-1", -EINVAL, 0},
      {"18446744073709551616", -ERANGE, 0},
  };
  static const struct reading seeds[] = {
      {"24301", 0, 24301},
      {"0x5EED", 0, 0x5EED},
      {"0X5eed", 0, 0x5EED},
      {"0xffffffffffffffff", 0, UINT64_MAX},
      {"0x10000000000000000", -ERANGE, 0},
      {"0x", -EINVAL, 0},
      {"0x5EEG", -EINVAL, 0},
      {"5EED", -EINVAL, 0},
      {"", -EINVAL, 0},
      {"0", 0, 0},
  };
  check_readings(units_parse_count, counts, COUNT_OF(counts));
  check_readings(units_parse_seed, seeds, COUNT_OF(seeds));
}

static void ratios_are_read(void **state) {
  (void)state;
  double ratio = -1;
  static const struct { const char *text; double per_s; } rates[] = {
      {"1000", 1000}, {"1000/s", 1000}, {"2.5k", 2500}, {"2.5k/s", 2500}, {"0.5", 0.5}, {"1M/s", 1e6}};
  for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
    assert_int_equal(units_parse_rate(rates[i].text, &ratio), 0);
    assert_true(ratio == rates[i].per_s);
  }
  assert_int_equal(units_parse_rate("0", &ratio), -ERANGE);
  assert_int_equal(units_parse_rate("10/m", &ratio), -EINVAL);
  assert_int_equal(units_parse_rate("10KiB", &ratio), -EINVAL);
  assert_int_equal(units_parse_rate("", &ratio), -EINVAL);
  assert_int_equal(units_parse_ratio("13.6", &ratio), 0);
  assert_true(ratio == 13.6);
  assert_int_equal(units_parse_ratio("0.215", &ratio), 0);
  assert_true(ratio == 0.215);
  assert_int_equal(units_parse_ratio("2%", &ratio), -EINVAL);
  assert_int_equal(units_parse_ratio("2x", &ratio), -EINVAL);
  assert_int_equal(units_parse_ratio("-2", &ratio), -EINVAL);
  assert_true(ratio == 0.215);
}

static void shares_are_read(void **state) {
  (void)state;
  double share = -1;
  assert_int_equal(units_parse_share("3%", &share), 0);
  assert_true(share == 0.03);
  assert_int_equal(units_parse_share("0.03", &share), 0);
  assert_true(share == 0.03);
  assert_int_equal(units_parse_share("2.5%", &share), 0);
  assert_true(share == 0.025);
  assert_int_equal(units_parse_share("0", &share), 0);
  assert_true(share == 0);
  assert_int_equal(units_parse_share("100%", &share), 0);
  assert_true(share == 1);
  assert_int_equal(units_parse_share("101%", &share), -ERANGE);
  assert_int_equal(units_parse_share("3", &share), -ERANGE);
  assert_int_equal(units_parse_share("3 %", &share), -EINVAL);
  assert_int_equal(units_parse_share("%", &share), -EINVAL);
  assert_int_equal(units_parse_share("-3%", &share), -EINVAL);
  assert_true(share == 1);
}

static void size_names_read_back_as_the_same_number(void **state) {
  (void)state;
  char text[UNITS_TEXT_MAX];
  assert_string_equal(units_size_name(64 * KIB, text), "64KiB");
  assert_string_equal(units_size_name(1000, text), "1000");
  assert_string_equal(units_size_name(1536 * KIB, text), "1536KiB");
  assert_string_equal(units_size_name(0, text), "0");
  struct random_state random = random_start(1, 0);
  for (unsigned i = 0; i < 20000; i++) {
    uint64_t bytes = i < 5000 ? i : random_next(&random) >> random_below(&random, 64) << random_below(&random, 64), back = 0;
    assert_int_equal(units_parse_size(units_size_name(bytes, text), &back), 0);
    assert_true(back == bytes);
  }
}

struct writing {
  double value;
  const char *text;
};

static void check_writings(const char *(*write)(double, char *), const struct writing *writings, size_t count) {
  char text[UNITS_TEXT_MAX];
  for (size_t i = 0; i < count; i++) assert_string_equal(write(writings[i].value, text), writings[i].text);
}

static void rounded_numbers_are_written(void **state) {
  (void)state;
  const double gib = 1073741824.0;
  const struct writing sizes[] = {
      {0, "0 B"},
      {1, "1 B"},
      {511.6, "512 B"},
      {1023.6, "1.00 KiB"},
      {65536, "64 KiB"},
      {1.5 * gib, "1.50 GiB"},
      {1023.7 * 1024, "1.00 MiB"},
      {12.34 * gib, "12.3 GiB"},
      {999 * gib, "999 GiB"},
      {-1, "-"},
      {NAN, "-"},
      {INFINITY, "-"},
  };
  const struct writing rates[] = {
      {12.3 * gib, "12.3 GiB/s"}, {64 * 1024, "64.0 KiB/s"}, {0, "0.00 B/s"}, {9.996 * gib, "10.0 GiB/s"}, {NAN, "-"},
  };
  const struct writing times[] = {
      {0, "0 ns"},      {1.234, "1.23 ns"},   {312, "312 ns"},     {999.6, "1.00 us"}, {1234567, "1.23 ms"},
      {45e9, "45.0 s"}, {9.996e6, "10.0 ms"}, {99.96e6, "100 ms"}, {1234e9, "1234 s"}, {-1, "-"},
  };
  check_writings(units_size_text, sizes, COUNT_OF(sizes));
  check_writings(units_rate_text, rates, COUNT_OF(rates));
  check_writings(units_time_text, times, COUNT_OF(times));
}

static void estimates_are_written(void **state) {
  (void)state;
  static const struct {
    uint64_t ns;
    const char *text;
  } writings[] = {
      {0, "0 s"},
      {1, "1 s"},
      {UINT64_C(4000000000), "4 s"},
      {UINT64_C(59700000000), "1 min"},
      {UINT64_C(125000000000), "2 min 5 s"},
      {UINT64_C(3600000000000), "1 h"},
      {UINT64_C(4200000000000), "1 h 10 min"},
      {UINT64_MAX, "5124095 h 35 min"},
  };
  char text[UNITS_TEXT_MAX];
  for (size_t i = 0; i < COUNT_OF(writings); i++) {
    assert_string_equal(units_duration_text(writings[i].ns, text), writings[i].text);
  }
}

static void a_decimal_comma_changes_nothing(void **state) {
  (void)state;
  static const char *const locales[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "nl_NL.UTF-8"};
  const char *set = NULL;
  for (size_t i = 0; i < COUNT_OF(locales) && !set; i++) set = setlocale(LC_ALL, locales[i]);
  if (!set) {
    print_message("skipped: no locale with a decimal comma is installed\n");
    skip();
  }
  char text[UNITS_TEXT_MAX];
  uint64_t bytes = 0;
  assert_int_equal(units_parse_size("1.5k", &bytes), 0);
  assert_int_equal(bytes, 1536);
  assert_string_equal(units_size_text(1.5 * 1048576, text), "1.50 MiB");
  setlocale(LC_ALL, "C");
}

/* ---- random -------------------------------------------------------------------------------------------------------- */

/* Published reference outputs: xoshiro256** from state 1, 2, 3, 4 and splitmix64 from seed 1234567. */
static void generators_give_the_published_numbers(void **state) {
  (void)state;
  static const uint64_t xoshiro[] = {
      UINT64_C(11520),
      UINT64_C(0),
      UINT64_C(1509978240),
      UINT64_C(1215971899390074240),
      UINT64_C(1216172134540287360),
      UINT64_C(607988272756665600),
      UINT64_C(16172922978634559625),
      UINT64_C(8476171486693032832),
      UINT64_C(10595114339597558777),
      UINT64_C(2904607092377533576),
  };
  static const uint64_t splitmix[] = {
      UINT64_C(6457827717110365317), UINT64_C(3203168211198807973),  UINT64_C(9817491932198370423),
      UINT64_C(4593380528125082431), UINT64_C(16408922859458223821),
  };
  struct random_state random = {{1, 2, 3, 4}};
  for (size_t i = 0; i < COUNT_OF(xoshiro); i++) assert_true(random_next(&random) == xoshiro[i]);
  for (size_t i = 0; i < COUNT_OF(splitmix); i++) {
    assert_true(random_mix(1234567 + i * UINT64_C(0x9e3779b97f4a7c15)) == splitmix[i]);
  }
  random = random_start(1234567, 0);
  for (size_t i = 0; i < 4; i++) assert_true(random.word[i] == splitmix[i]);
}

static void streams_of_a_seed_differ_and_repeat(void **state) {
  (void)state;
  struct random_state first = random_start(7, 0), again = random_start(7, 0), other = random_start(7, 1);
  unsigned equal = 0;
  for (unsigned i = 0; i < 1000; i++) {
    uint64_t draw = random_next(&first);
    assert_true(draw == random_next(&again));
    equal += draw == random_next(&other);
  }
  assert_int_equal(equal, 0);
}

/* Sum of (seen - expected)^2 / expected. */
static double chi_square(const unsigned *seen, size_t cells, double expected) {
  double sum = 0;
  for (size_t i = 0; i < cells; i++) sum += (seen[i] - expected) * (seen[i] - expected) / expected;
  return sum;
}

/* 120 orders of five, 119 degrees of freedom: 174 is exceeded by chance once in a thousand; the seed is fixed. */
static void all_permutations_are_equally_likely(void **state) {
  (void)state;
  enum { DRAWS = 60000, ORDERS = 120 };
  unsigned seen[ORDERS] = {0};
  struct random_state random = random_start(0x5EED, 0);
  for (unsigned i = 0; i < DRAWS; i++) {
    uint32_t order[5];
    random_permutation(&random, 5, order);
    unsigned code = 0;
    for (unsigned a = 0; a < 5; a++) {
      unsigned smaller = 0;
      for (unsigned b = a + 1; b < 5; b++) smaller += order[b] < order[a];
      code = code * (5 - a) + smaller;
    }
    assert_true(code < ORDERS);
    seen[code]++;
  }
  assert_true(chi_square(seen, ORDERS, (double)DRAWS / ORDERS) < 174);
}

static void a_permutation_holds_each_number_once(void **state) {
  (void)state;
  struct random_state random = random_start(3, 9);
  for (uint32_t count = 0; count <= 200; count++) {
    uint32_t order[200];
    unsigned char seen[200] = {0};
    random_permutation(&random, count, order);
    for (uint32_t i = 0; i < count; i++) {
      assert_true(order[i] < count);
      assert_int_equal(seen[order[i]]++, 0);
    }
  }
}

static void draws_below_a_limit_are_uniform(void **state) {
  (void)state;
  unsigned seen[7] = {0};
  struct random_state random = random_start(11, 0);
  for (unsigned i = 0; i < 70000; i++) seen[random_below(&random, 7)]++;
  assert_true(chi_square(seen, 7, 10000) < 22.5); /* 6 degrees of freedom, 1 in 1000 */
  /* Half of all draws of 64 bits lie beyond this limit: a plain remainder would be biased two to one. */
  const uint64_t limit = (UINT64_C(1) << 63) + 1;
  for (unsigned i = 0; i < 1000; i++) assert_true(random_below(&random, limit) < limit);
  assert_true(random_below(&random, 1) == 0);
}

static void unit_and_normal_have_their_moments(void **state) {
  (void)state;
  enum { DRAWS = 200000 };
  double unit = 0, mean = 0, square = 0, fourth = 0;
  struct random_state random = random_start(5, 5);
  for (unsigned i = 0; i < DRAWS; i++) {
    double u = random_unit(&random), z = random_normal(&random);
    assert_true(u >= 0 && u < 1);
    assert_true(isfinite(z));
    unit += u;
    mean += z;
    square += z * z;
    fourth += z * z * z * z;
  }
  assert_true(fabs(unit / DRAWS - 0.5) < 0.003);
  assert_true(fabs(mean / DRAWS) < 0.01);
  assert_true(fabs(square / DRAWS - 1) < 0.02);
  assert_true(fabs(fourth / DRAWS - 3) < 0.15);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_size_suffix_is_read),
      cmocka_unit_test(what_is_no_size_is_refused),
      cmocka_unit_test(what_was_meant_by_a_wrong_size_is_found),
      cmocka_unit_test(a_size_beyond_64_bits_is_out_of_range),
      cmocka_unit_test(durations_are_read),
      cmocka_unit_test(counts_and_seeds_are_read),
      cmocka_unit_test(ratios_are_read),
      cmocka_unit_test(shares_are_read),
      cmocka_unit_test(size_names_read_back_as_the_same_number),
      cmocka_unit_test(rounded_numbers_are_written),
      cmocka_unit_test(estimates_are_written),
      cmocka_unit_test(a_decimal_comma_changes_nothing),
      cmocka_unit_test(generators_give_the_published_numbers),
      cmocka_unit_test(streams_of_a_seed_differ_and_repeat),
      cmocka_unit_test(all_permutations_are_equally_likely),
      cmocka_unit_test(a_permutation_holds_each_number_once),
      cmocka_unit_test(draws_below_a_limit_are_uniform),
      cmocka_unit_test(unit_and_normal_have_their_moments),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
