/* compare_words.c - two runs side by side, in words. It computes nothing. */
#include <math.h>

#include "report/compare_text.h"
#include "report/page.h"

void compare_put_difference(struct text *out, const struct compare_difference *difference) {
  text_format(out, "%s ", difference->what);
  text_name(out, *difference->before ? difference->before : "not told");
  text_put(out, " → ");
  text_name(out, *difference->now ? difference->now : "not told");
  if (difference->refuses) text_put(out, " (!)");
}

void compare_put_refusal(struct text *out, const struct comparison *comparison) {
  const char *before = "";
  text_put(out, "not compared: the runs differ in ");
  for (unsigned i = 0; i < comparison->difference_count; i++) {
    if (!comparison->differences[i].refuses) continue;
    text_put(out, before);
    text_put(out, comparison->differences[i].what);
    before = ", ";
  }
  text_put(out, "; to compare them all the same: --any-machine");
}

/* "4.2 % slower"; beyond twice and half percentages only confuse. */
static void put_change(struct text *out, double ratio) {
  const double times = ratio >= 1 ? ratio : 1 / ratio;
  if (times < 1.0005) {
    text_put(out, "unchanged");
    return;
  }
  text_decimal(out, times <= 2 ? (times - 1) * 100 : times, 1);
  text_put(out, times <= 2 ? DISPLAY_GLUE "% " : "× ");
  text_put(out, ratio >= 1 ? "faster" : "slower");
}

void compare_put_machine(struct text *out, const struct comparison *comparison) {
  const struct stat_interval *shift = &comparison->shift;
  if (!(shift->median > 0)) return;
  text_put(out, "the machine as a whole: ");
  put_change(out, shift->median);
  if (shift->low < shift->high) {
    text_put(out, " now (by group from ");
    put_change(out, shift->low);
    text_put(out, " to ");
    put_change(out, shift->high);
    text_put(out, ")");
  } else {
    text_put(out, " now");
  }
  text_put(out, comparison->absolute ? "; part of the rows below (--absolute)" : "; taken out of the rows below");
}

void compare_put_group(struct text *out, const struct compare_group *group) {
  if (group->before && group->before == group->now)
    text_format(out, "%u rounds, interleaved", group->now->rounds);
  else if (group->before && group->now)
    text_format(out, "%u and %u rounds", group->before->rounds, group->now->rounds);
  if (group->k == 0 || !(group->shift.median > 0)) return;
  text_put(out, " · as a whole ");
  put_change(out, group->shift.median);
  if (!(group->control > 0)) return;
  text_put(out, " · the control ");
  put_change(out, group->control);
}

void compare_put_interval(struct text *out, const struct stat_interval *interval) {
  if (!interval->known) return;
  page_put_ratio(out, interval->low);
  text_put(out, " … ");
  page_put_ratio(out, interval->high);
}

void compare_put_speed(struct text *out, const struct stat_interval *interval) {
  if (!(interval->median > 0)) return;
  page_put_ratio(out, interval->median);
  text_put(out, "×");
}

void compare_put_note(struct text *out, const struct compare_group *group, const struct compare_row *row) {
  if (row->reason[0]) {
    text_name(out, row->reason);
  } else if (row->verdict == STAT_SLOWER || row->verdict == STAT_FASTER) {
    text_put(out, "beyond ");
    text_decimal(out, group->margin * 100, 1);
    text_put(out, DISPLAY_GLUE "%");
  }
}

static void put_count(struct text *out, unsigned count, const char *one, const char *many) {
  text_format(out, "%s%u %s", out->length ? ", " : "", count, count == 1 ? one : many);
}

void compare_put_counts(struct text *out, const struct comparison *comparison) {
  const unsigned *counts = comparison->counts;
  put_count(out, counts[STAT_SLOWER], "regression", "regressions");
  if (comparison->broken) put_count(out, comparison->broken, "method broke", "methods broke");
  put_count(out, counts[STAT_FASTER], "improvement", "improvements");
  put_count(out, counts[STAT_SAME], "same", "same");
  put_count(out, counts[STAT_UNCLEAR], "unclear", "unclear");
  if (counts[STAT_NONE] > comparison->broken)
    put_count(out, counts[STAT_NONE] - comparison->broken, "not in both", "not in both");
}

const char *compare_cell_name(const struct compare_row *row) { return row->name; }
const char *compare_group_title(const struct compare_group *group) {
  return (group->now ? group->now : group->before)->plan->title;
}
const char *compare_verdict(const struct compare_row *row) {
  return row->broke ? "broke" : stat_verdict_words[row->verdict];
}
