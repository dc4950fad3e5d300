/*
 * units.h - numbers for people: reading and writing sizes, times, shares, in one place.
 *
 * Pure functions; no locale (a decimal point is a point). Parsers return 0, or -EINVAL (not a number of this kind) or
 * -ERANGE (does not fit), and touch *out only on success.
 */
#ifndef WEIR_UNITS_H
#define WEIR_UNITS_H

#include <stddef.h>
#include <stdint.h>

#define UNITS_TEXT_MAX 32

/* "4096", "4k" = "4K" = "4KiB" = 4096, "4kB" = 4000; also M, G, T, P and a decimal fraction ("1.5GiB"). Bytes. */
int units_parse_size(const char *text, uint64_t *bytes);
/* For what units_parse_size refuses: the size that was most likely meant ("64KiB" for "64 kib"), or NULL. */
const char *units_size_hint(const char *text, char out[UNITS_TEXT_MAX]);
/* "30s", "5m", "1h", "250ms", "90" (seconds). Nanoseconds. */
int units_parse_duration(const char *text, uint64_t *ns);
/* "3%" or "0.03". A fraction. */
int units_parse_share(const char *text, double *fraction);
/* "13.6": how many times something is something else. */
int units_parse_ratio(const char *text, double *ratio);
/* "1000", "2.5k", "1000/s": how often a second; k and M are thousands and millions. Above 0. */
int units_parse_rate(const char *text, double *per_s);
int units_parse_count(const char *text, uint64_t *count);
/* "0x5EED", "24301". */
int units_parse_seed(const char *text, uint64_t *seed);

/* Exact: "64KiB", "1000", "1536KiB"; reads back as the same number. Used in names. */
const char *units_size_name(uint64_t bytes, char out[UNITS_TEXT_MAX]);
/* Rounded, with a space: "64 KiB", "1.50 GiB". */
const char *units_size_text(double bytes, char out[UNITS_TEXT_MAX]);
/* "12.3 GiB/s" */
const char *units_rate_text(double bytes_per_s, char out[UNITS_TEXT_MAX]);
/* Three digits with unit: "1.23 ms", "45.0 s", "312 ns". */
const char *units_time_text(double ns, char out[UNITS_TEXT_MAX]);
/* For estimates: "4 s", "2 min 5 s", "1 h 10 min". */
const char *units_duration_text(uint64_t ns, char out[UNITS_TEXT_MAX]);

#endif
