/*
 * rounds.c - how many rounds it takes before anything can be said at all. Pure arithmetic, for planning; the tests themselves
 * are in stat/exact.c, and tests/stat proves that both agree.
 */
#include "plan/plan.h"

#define FAMILY_LEVEL 0.05

/* Smallest n with 2 * 2^-n <= 5 % / (k - 1): n wins of n is the clearest that a two-sided sign test can see. */
unsigned plan_rounds_for_verdicts(unsigned k) {
  unsigned n = 1;
  for (double p = 1; p * (k < 2 ? 1 : k - 1) > FAMILY_LEVEL; p /= 2) n++;
  return n;
}
