/*
 * exact.c - binomial tails and what follows from them: critical counts, floors, order-statistic ranks, Holm. No sample and
 * no clock is known here.
 */
#include "stat/exact.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* Family level of all claims. */
#define LEVEL 0.05
/* Power that "could have been called" means. */
#define POWER 0.8
/* A tail that equals alpha rejects; rounding of a sum of thousands of terms stays below this. */
#define ROUNDING 1e-9

static bool at_most(double tail, double alpha) { return tail <= alpha * (1 + ROUNDING); }

/*
 * C(n, k) p^k q^(n - k), multiplied in an order that keeps the product near 1 as long as it can: no logarithm, and no
 * underflow before the answer itself is that small.
 */
static double binomial_term(unsigned n, unsigned k, double p) {
  unsigned ways = 0, heads = k, tails = n - k;
  double term = 1;
  while (ways < k || heads || tails) {
    if (ways < k && (term <= 1 || (!heads && !tails))) {
      ways++;
      term *= (double)(n - k + ways) / ways;
    } else if (heads) {
      term *= p;
      heads--;
    } else {
      term *= 1 - p;
      tails--;
    }
  }
  return term;
}

/* Sums outwards from the largest term of the tail. */
double exact_upper_tail(unsigned n, unsigned wins, double p) {
  assert(p >= 0 && p <= 1);
  if (wins == 0) return 1;
  if (wins > n || p == 0) return 0;
  if (p == 1) return 1;
  unsigned mode = (unsigned)((n + 1.0) * p), start = mode > wins ? mode : wins;
  if (start > n) start = n;
  double first = binomial_term(n, start, p), odds = p / (1 - p), sum = first, term = first;
  for (unsigned k = start; k < n && term > 0; k++) sum += term *= (double)(n - k) / (k + 1.0) * odds;
  term = first;
  for (unsigned k = start; k > wins && term > 0; k--) sum += term *= k / (n - k + 1.0) / odds;
  return sum < 1 ? sum : 1;
}

unsigned exact_critical_wins(unsigned n, double alpha) {
  unsigned low = 0, high = n + 1; /* `high` rejects, whatever is below `low` does not */
  while (low < high) {
    unsigned middle = low + (high - low) / 2;
    if (at_most(exact_upper_tail(n, middle, 0.5), alpha)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return high;
}

unsigned exact_rounds_needed(double alpha) {
  assert(alpha > 0);
  unsigned n = 0;
  for (double all_heads = 1; !at_most(all_heads, alpha); all_heads /= 2) n++;
  return n;
}

/* The rank r is the largest with P(r - 1 or fewer of n values lie below the median) <= alpha / 2. */
unsigned exact_interval_rank(unsigned n, double alpha) {
  unsigned rank = n + 1 - exact_critical_wins(n, alpha / 2), middle = (n + 1) / 2;
  return rank < middle ? rank : middle;
}

/* Fewer than two methods need no rounds: there is nothing to compare. */
unsigned exact_floor_baseline(unsigned k) { return k < 2 ? 0 : exact_rounds_needed(LEVEL / (k - 1) / 2); }

unsigned exact_floor_best(unsigned k) { return k < 2 ? 0 : exact_rounds_needed(LEVEL / (k - 1)); }

unsigned exact_floor_pairs(unsigned k) { return k < 2 ? 0 : exact_rounds_needed(LEVEL / (0.5 * k * (k - 1.0)) / 2); }

/* Power counts rejections in the right direction only; 50 halvings reach the last digits of a double. */
double exact_detectable_win(unsigned n, double alpha) {
  unsigned critical = exact_critical_wins(n, alpha / 2);
  if (critical > n) return 0;
  double low = 0, high = 1;
  for (int i = 0; i < 50; i++) {
    double middle = (low + high) / 2;
    if (exact_upper_tail(n, critical, middle) >= POWER) {
      high = middle;
    } else {
      low = middle;
    }
  }
  return high;
}

struct hypothesis {
  double p;
  size_t index;
};

static int by_p(const void *left, const void *right) {
  const struct hypothesis *a = left, *b = right;
  if (a->p != b->p) return a->p < b->p ? -1 : 1;
  return a->index < b->index ? -1 : a->index > b->index;
}

int exact_holm(const double *p, size_t count, double alpha, bool *reject) {
  if (count == 0) return 0;
  if (count > SIZE_MAX / sizeof(struct hypothesis)) return -ENOMEM;
  struct hypothesis *sorted = malloc(count * sizeof *sorted);
  if (!sorted) return -ENOMEM;
  for (size_t i = 0; i < count; i++) {
    sorted[i] = (struct hypothesis){p[i], i};
    reject[i] = false;
  }
  qsort(sorted, count, sizeof *sorted, by_p);
  for (size_t i = 0; i < count && at_most(sorted[i].p, alpha / (double)(count - i)); i++) reject[sorted[i].index] = true;
  free(sorted);
  return 0;
}

/* Shell's sort with Ciura's gaps: no allocation, and quick for the few dozen values that a pair of cells has. */
void exact_sort(double *values, size_t n) {
  static const size_t gaps[] = {1750, 701, 301, 132, 57, 23, 10, 4, 1};
  for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++) {
    size_t gap = gaps[g];
    for (size_t i = gap; i < n; i++) {
      double value = values[i];
      size_t at = i;
      for (; at >= gap && values[at - gap] > value; at -= gap) values[at] = values[at - gap];
      values[at] = value;
    }
  }
}

double exact_middle(const double *sorted, size_t n) {
  assert(n > 0);
  return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

double exact_median(double *values, size_t n) {
  exact_sort(values, n);
  return exact_middle(values, n);
}
