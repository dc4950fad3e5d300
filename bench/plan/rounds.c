/*
 * rounds.c - how many rounds it takes before anything can be said at all. Pure arithmetic; the tests themselves are in
 * stat/exact.c, and a test there proves that both agree.
 */
#include "plan/plan.h"

#define FAMILY_LEVEL 0.05

/* Smallest n with 2 * 2^-n <= 5 % / comparisons: n wins of n is the clearest that a two-sided sign test can see. */
static unsigned rounds_for(double comparisons) {
  unsigned n = 1;
  for (double p = 1; p * comparisons > FAMILY_LEVEL; p /= 2) n++;
  return n;
}

unsigned plan_rounds_for_verdicts(unsigned k) { return k < 2 ? rounds_for(1) : rounds_for(k - 1); }
unsigned plan_rounds_for_ranks(unsigned k) { return k < 2 ? rounds_for(1) : rounds_for((double)k * (k - 1) / 2); }
