/*
 * unpaired.c - the distribution of Mann and Whitney's count, by adding only, and the interval that follows from it. Runs of
 * different hours have no rounds in common, so that nothing can be paired; this asks only that all samples of both were
 * drawn alike.
 */
#include "stat/unpaired.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "stat/exact.h"

/* ---- the count ----------------------------------------------------------------------------------------------------- */

/*
 * P(u of the m * n pairs are in favour) for all u, row by row: of j values on one side, row[j][u]. The largest of all i + j
 * values lies on the first side with probability i / (i + j) and then beats all j of the other.
 */
static double *count_law(unsigned m, unsigned n) {
  const size_t width = (size_t)m * n + 1;
  double *rows = calloc((n + (size_t)1) * width, sizeof *rows), *fresh = calloc(width, sizeof *fresh);
  for (unsigned j = 0; rows && fresh && j <= n; j++) rows[j * width] = 1;
  for (unsigned i = 1; rows && fresh && i <= m; i++) {
    for (unsigned j = 1; j <= n; j++) { /* row j still holds i - 1 values, row j - 1 holds i */
      const double mine = (double)i / (i + j), other = (double)j / (i + j);
      for (size_t u = 0; u <= (size_t)i * j; u++)
        fresh[u] = (u >= j ? mine * rows[j * width + u - j] : 0) + other * rows[(j - 1) * width + u];
      memcpy(&rows[j * width], fresh, ((size_t)i * j + 1) * sizeof *fresh);
    }
  }
  free(fresh);
  if (!fresh) {
    free(rows);
    return NULL;
  }
  if (rows) memmove(rows, rows + n * width, width * sizeof *rows);
  return rows;
}

/* Largest r with P(count <= r - 1) <= tail. */
static unsigned exact_rank(unsigned m, unsigned n, double tail) {
  double *law = count_law(m, n), sum = 0;
  unsigned rank = 0;
  if (!law) return 0;
  while (rank < m * n / 2 && (sum += law[rank]) <= tail * (1 + 1e-9)) rank++;
  free(law);
  return rank;
}

/* P(Z > z) for the standard normal law is `tail`: by halving, for tails of 1e-12 and more. */
static double normal_point(double tail) {
  double low = 0, high = 8;
  for (int i = 0; i < 60; i++) {
    const double middle = (low + high) / 2;
    if (erfc(middle / sqrt(2)) / 2 > tail) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return high;
}

unsigned unpaired_rank(unsigned m, unsigned n, double alpha) {
  if (m == 0 || n == 0) return 0;
  if (m <= UNPAIRED_EXACT_MAX && n <= UNPAIRED_EXACT_MAX) return exact_rank(m, n, alpha / 2);
  const double pairs = (double)m * n, deviation = sqrt(pairs * ((double)m + n + 1) / 12);
  const double rank = floor(pairs / 2 + 0.5 - normal_point(alpha / 2) * deviation);
  if (rank > UINT32_MAX) return UINT32_MAX; /* a lower rank only widens the interval */
  return rank > 0 ? (unsigned)rank : 0;
}

/* The least tail of n against n is one in C(2n, n). */
unsigned unpaired_needed(double alpha) {
  unsigned n = 0;
  for (double tail = 1; tail > alpha / 2 * (1 + 1e-9) && n < 64; n++) tail *= (n + 1.0) / (2 * (2.0 * n + 1));
  return n;
}

/* ---- the interval -------------------------------------------------------------------------------------------------- */

/* How many of the differences a[i] - b[j] are at most `limit`; both sorted. */
static size_t count_up_to(const double *a, unsigned m, const double *b, unsigned n, double limit) {
  size_t count = 0;
  unsigned at = n; /* of b, how many are not low enough to make the difference too large; falls as a grows */
  for (unsigned i = 0; i < m; i++) {
    while (at > 0 && a[i] - b[n - at] > limit) at--;
    count += at;
  }
  return count;
}

/* The r-th smallest difference, 1 the first, without a list of them: halved down to the last digits of a double. */
static double pick(const double *a, unsigned m, const double *b, unsigned n, size_t r) {
  double low = a[0] - b[n - 1], high = a[m - 1] - b[0];
  for (int i = 0; i < 200 && low < high; i++) {
    const double middle = low + (high - low) / 2;
    if (middle == low || middle == high) break;
    if (count_up_to(a, m, b, n, middle) >= r) {
      high = middle;
    } else {
      low = middle;
    }
  }
  return count_up_to(a, m, b, n, low) >= r ? low : high;
}

static double *sorted_copy(const double *values, unsigned count) {
  double *copy = malloc(count * sizeof *copy);
  if (copy) memcpy(copy, values, count * sizeof *copy);
  if (copy) exact_sort(copy, count);
  return copy;
}

int unpaired_interval(const double *a, unsigned m, const double *b, unsigned n, unsigned rank, struct stat_interval *out) {
  const size_t count = (size_t)m * n;
  *out = (struct stat_interval){0};
  if (count == 0) return 0;
  double *left = sorted_copy(a, m), *right = sorted_copy(b, n);
  const int error = left && right ? 0 : -ENOMEM;
  if (!error) {
    out->median = (pick(left, m, right, n, (count + 1) / 2) + pick(left, m, right, n, count / 2 + 1)) / 2;
    out->known = rank > 0;
    if (rank > 0) out->low = pick(left, m, right, n, rank);
    if (rank > 0) out->high = pick(left, m, right, n, count - rank + 1);
  }
  free(left);
  free(right);
  return error;
}
