/*
 * claim.c - fetches the differences that each check of the claims asks for, out of the samples, and has the rule judge them.
 */
#include "stat/claim.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stat/exact.h"
#include "stat/label.h"
#include "stat/series.h"

/* ---- what stands in the way ---- */

static const struct stat_group *group_of(const struct summary *summary, unsigned group) {
  return group < summary->group_count ? &summary->groups[group] : NULL;
}

static bool in_memory(const struct run *run, const struct plan_demand *demand) {
  const char *ram = run_fact_text(run, "place.0.ram_backed");
  return ram && strcmp(ram, "1") == 0 && (demand->cache == PLAN_COLD || demand->durability != WEIR_DURABILITY_NONE);
}

static void cannot(struct claim_finding *finding, const char *what, const char *why) {
  finding->verdict = CLAIM_CANNOT_TEST;
  snprintf(finding->reason, sizeof finding->reason, "%.63s%s%.150s", what, *what ? ": " : "", why);
}

static void unclear(struct claim_finding *finding, const char *why) {
  finding->verdict = CLAIM_UNCLEAR;
  finding->rounds_needed = exact_rounds_needed(0.05 / 2);
  snprintf(finding->reason, sizeof finding->reason, "%.200s", why);
}

/* Is this side what the check takes it for? If not, the finding says why. */
static bool side_is_fit(const struct summary *summary, const struct claim_side *side, struct claim_finding *finding) {
  const struct stat_group *group = group_of(summary, side->group);
  if (!group) {
    unclear(finding, "not measured");
    return false;
  }
  const struct stat_cell *cell = &group->cells[side->cell];
  const struct plan_demand *demand = &group->plan->demand;
  if (cell->status != PLAN_OK)
    cannot(finding, cell->plan->id, cell->reason && *cell->reason ? cell->reason : "it did not work here");
  else if (in_memory(summary->run, demand))
    cannot(finding, "",
           "files here are in memory: nothing is cold and nothing durable; name a directory on a disk with --dir");
  else if (group->plan->dropped)
    unclear(finding, group->plan->drop_reason);
  else if (demand->cache == PLAN_COLD && summary->run->plan.flush != PLAN_FLUSH_FILE && group->state_missed)
    cannot(finding, "", "the file was in no sample out of the cache");
  else
    return true;
  return false;
}

/* ---- from samples to differences ---- */

struct gathering {
  const struct summary *summary;
  struct run view; /* the run as if ranked by what the case ranks by */
  const struct claim_check *check;
  unsigned rounds; /* highest number of a round */
  double *sums;    /* of differences, for each round */
  unsigned *counts;
  double *values; /* of one cell, for each round; NAN where there is none */
};

static unsigned last_round(const struct run *run) {
  int32_t last = 0;
  for (size_t i = 0; i < run->sample_count; i++)
    if (run->samples[i].round > last) last = run->samples[i].round;
  return last < 1000000 ? (unsigned)last : 1000000u; /* files can say anything */
}

/* ln of what is compared, of every round that the cell has: added to the values with this sign. */
static int add_side(struct gathering *gathering, const struct claim_side *side, double sign) {
  struct series series;
  const struct stat_group *group = &gathering->summary->groups[side->group];
  int code = series_collect(&gathering->view, side->group, group->cells, &series);
  if (code < 0) return code;
  double *fresh = malloc((gathering->rounds + (size_t)1) * sizeof *fresh);
  for (unsigned r = 0; fresh && r <= gathering->rounds; r++) fresh[r] = NAN;
  for (size_t i = 0; fresh && i < series.round_count; i++) {
    const struct sample *sample = series_sample(&series, side->cell, i);
    if (!sample || (unsigned)sample->round > gathering->rounds) continue;
    const double bytes = (double)sample->bytes / (double)sample->passes;
    fresh[sample->round] = series_value(&series, side->cell, i);
    if (gathering->check->per == CLAIM_PER_BYTE) fresh[sample->round] -= log(bytes);
  }
  for (unsigned r = 0; fresh && r <= gathering->rounds; r++) gathering->values[r] += sign * fresh[r];
  series_release(&series);
  free(fresh);
  return fresh ? 0 : -ENOMEM;
}

static int add_pair(struct gathering *gathering, unsigned index) {
  for (unsigned r = 0; r <= gathering->rounds; r++) gathering->values[r] = 0;
  int code = add_side(gathering, &gathering->check->second[index], 1);
  if (code == 0) code = add_side(gathering, &gathering->check->first[index], -1);
  for (unsigned r = 0; code == 0 && r <= gathering->rounds; r++) {
    if (!isfinite(gathering->values[r])) continue;
    gathering->sums[r] += gathering->values[r];
    gathering->counts[r]++;
  }
  return code;
}

/* Puts the differences of all complete rounds into `values`, sorted. */
static unsigned finish(struct gathering *gathering) {
  unsigned n = 0;
  for (unsigned r = 0; r <= gathering->rounds; r++)
    if (gathering->counts[r] == gathering->check->count)
      gathering->values[n++] = gathering->sums[r] / gathering->check->count;
  exact_sort(gathering->values, n);
  return n;
}

static int start(struct gathering *gathering) {
  const size_t room = gathering->rounds + (size_t)1;
  gathering->sums = calloc(room, sizeof *gathering->sums);
  gathering->counts = calloc(room, sizeof *gathering->counts);
  gathering->values = calloc(room, sizeof *gathering->values);
  return gathering->sums && gathering->counts && gathering->values ? 0 : -ENOMEM;
}

static void end(struct gathering *gathering) {
  free(gathering->sums);
  free(gathering->counts);
  free(gathering->values);
}

static int compare(const struct summary *summary, struct claim_finding *finding) {
  struct gathering gathering = {.summary = summary, .view = *summary->run, .check = finding->check};
  gathering.view.plan.rank_by = finding->setup->rank;
  gathering.rounds = last_round(summary->run);
  int code = start(&gathering);
  for (unsigned i = 0; i < finding->check->count && code == 0; i++) code = add_pair(&gathering, i);
  if (code == 0) {
    const unsigned n = finish(&gathering);
    claim_decide(gathering.values, n, finding);
  }
  end(&gathering);
  return code;
}

/* ---- evidence ---- */

static double share_of_bytes(const struct sample *sample, int64_t moved) {
  return moved < 0 || !sample->bytes ? -1 : (double)moved / (double)sample->bytes;
}

/* Negative: not known. */
static double quantity_of(const struct sample *sample, enum claim_quantity quantity) {
  switch (quantity) {
    case CLAIM_RESIDENT_BEFORE:
      return sample->resident_before_ppm / 1e6;
    case CLAIM_RESIDENT_AFTER:
      return sample->resident_after_ppm / 1e6;
    case CLAIM_DEVICE_READ:
      return share_of_bytes(sample, sample->device_read_bytes);
    case CLAIM_DEVICE_WRITE:
      return share_of_bytes(sample, sample->device_write_bytes);
    case CLAIM_DEVIATION:
      break;
  }
  return sample_elapsed_ns(sample);
}

/* How far each lies from the middle. */
static void to_deviations(double *values, unsigned n) {
  exact_sort(values, n);
  const double middle = n ? exact_middle(values, n) : 1;
  for (unsigned i = 0; i < n; i++) values[i] = expm1(fabs(log(values[i] / middle)));
}

static int weigh(const struct summary *summary, struct claim_finding *finding) {
  const struct claim_side *side = &finding->check->first[0];
  const enum claim_quantity quantity = finding->test->quantity;
  struct series series;
  int code = series_collect(summary->run, side->group, summary->groups[side->group].cells, &series);
  if (code < 0) return code;
  unsigned n = 0, rounds = 0;
  for (size_t i = 0; i < series.round_count; i++) {
    const struct sample *sample = series_sample(&series, side->cell, i);
    const double value = sample ? quantity_of(sample, quantity) : -1;
    rounds += sample != NULL;
    if (value >= 0) series.scratch[n++] = value;
  }
  if (quantity == CLAIM_DEVIATION) to_deviations(series.scratch, n);
  exact_sort(series.scratch, n);
  claim_weigh(series.scratch, n, finding);
  if (rounds && !n) cannot(finding, claim_quantity_words[quantity], "the system does not tell it here");
  series_release(&series);
  return 0;
}

/* ---- findings ---- */

/*
 * What is asked, or what two entries of the same cell differ by, if that is more. The median of that difference and not the far
 * end of its interval: the noise of these rounds is in the interval of the claim's own ratio already, and with a dozen rounds
 * counting it twice would leave most claims open.
 */
static double margin_of_group(const struct summary *summary, unsigned group) {
  const struct stat_interval *twin = &summary->groups[group].twin;
  const double asked = fmax(summary->run->plan.margin, 0);
  return twin->median > 0 ? fmax(asked, expm1(fabs(log(twin->median)))) : asked;
}

/* The larger of the margins of the two groups; of a mean, the mean over its pairs. */
static double margin_of(const struct summary *summary, const struct claim_check *check, bool pairs) {
  double sum = 0;
  for (unsigned i = 0; i < check->count; i++) {
    const double first = margin_of_group(summary, check->first[i].group);
    const double second = pairs ? margin_of_group(summary, check->second[i].group) : 0;
    sum += log1p(fmax(first, second));
  }
  return expm1(sum / check->count);
}

static bool is_fit(const struct summary *summary, struct claim_finding *finding) {
  const struct claim_check *check = finding->check;
  const bool pairs = finding->test->kind != CLAIM_EVIDENCE;
  for (unsigned i = 0; i < check->count; i++)
    if (!side_is_fit(summary, &check->first[i], finding) || (pairs && !side_is_fit(summary, &check->second[i], finding)))
      return false;
  return true;
}

static const struct plan_group *planned(const struct claims_plan *plan, const struct claim_check *check, unsigned group) {
  return &plan->parts[check->part].plan.groups[group];
}

static int judge(const struct claims_plan *plan, const struct summary *summaries, const struct claim_check *check,
                 struct claim_finding *finding) {
  const struct claim *claim = &plan->book->claims[check->claim];
  const struct summary *summary = &summaries[check->part];
  *finding = (struct claim_finding){.claim = claim, .setup = &claim->cases[check->setup], .check = check, .second = ""};
  finding->test = &finding->setup->tests[check->test];
  const bool pairs = finding->test->kind != CLAIM_EVIDENCE;
  finding->title = planned(plan, check, check->first[0].group)->title;
  finding->first = planned(plan, check, check->first[0].group)->cells[check->first[0].cell].id;
  if (pairs) finding->second = planned(plan, check, check->second[0].group)->cells[check->second[0].cell].id;
  if (!is_fit(summary, finding)) return 0;
  finding->margin = margin_of(summary, check, pairs);
  return pairs ? compare(summary, finding) : weigh(summary, finding);
}

/* ---- results ---- */

static const char *need_text(const struct claim *claim) {
  for (unsigned i = 0; i < claim->case_count; i++) {
    const struct claim_case *setup = &claim->cases[i];
    if (setup->role == CLAIM_DECIDES && setup->need == CLAIM_NEEDS_NETWORK)
      return "this directory is not on another machine; name one that is with --dir";
    if (setup->role == CLAIM_DECIDES && setup->place == CLAIM_PLACE_ARRAY)
      return "it takes an array of disks; name a directory on each with --member";
    if (setup->role == CLAIM_DECIDES && setup->place == CLAIM_PLACE_MEMORY) return "there is no directory in memory here";
  }
  return NULL;
}

static void conclude(struct claim_report *report, unsigned claim, struct claim_result *result) {
  const struct claims_book *book = report->plan->book;
  *result = (struct claim_result){.claim = &book->claims[claim], .shown = -1};
  while (result->first < report->finding_count && report->findings[result->first].claim != result->claim) result->first++;
  while (result->first + result->count < report->finding_count &&
         report->findings[result->first + result->count].claim == result->claim)
    result->count++;
  claim_conclude(report->findings, result);
  const char *need = need_text(result->claim);
  if (result->verdict == CLAIM_CANNOT_TEST && need && !*result->claim->cannot) {
    char others[sizeof result->reason];
    memcpy(others, result->reason, sizeof others);
    snprintf(result->reason, sizeof result->reason, "%s%s%.500s", need, *others ? "; " : "", others);
  }
  report->verdicts[result->verdict]++;
}

int claims_judge(const struct claims_plan *plan, const bool *wanted, const struct summary *summaries,
                 struct claim_report *out) {
  const struct claims_book *book = plan->book;
  *out = (struct claim_report){.plan = plan, .summaries = summaries};
  out->findings = calloc(plan->check_count + (size_t)1, sizeof *out->findings);
  out->results = calloc(book->claim_count + (size_t)1, sizeof *out->results);
  int code = out->findings && out->results ? 0 : -ENOMEM;
  for (unsigned i = 0; i < plan->check_count && code == 0; i++)
    code = judge(plan, summaries, &plan->checks[i], &out->findings[out->finding_count++]);
  for (unsigned i = 0; i < book->claim_count && code == 0; i++)
    if (!wanted || wanted[i]) conclude(out, i, &out->results[out->result_count++]);
  for (unsigned i = 0; i < plan->part_count && code == 0; i++) {
    out->failed = out->failed || summaries[i].failed;
    out->interrupted = out->interrupted || !summaries[i].run || summaries[i].run->interrupted;
  }
  if (code < 0) claims_report_release(out);
  return code;
}

void claims_report_release(struct claim_report *report) {
  free(report->findings);
  free(report->results);
  *report = (struct claim_report){0};
}
