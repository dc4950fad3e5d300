/* compare_facts.h - in what the conditions of two runs differ; a step of compare.c. */
#ifndef WEIR_COMPARE_FACTS_H
#define WEIR_COMPARE_FACTS_H

#include "stat/compare.h"

/* Makes the list, which the caller frees; its texts are those of the runs. 0 or -ENOMEM. */
int compare_facts(const struct run *before, const struct run *now, struct compare_difference **out, unsigned *count);

#endif
