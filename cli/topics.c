/*
 * topics.c - what `weir help` explains beside the commands: how many rounds claims take, what the marks in a table mean, and
 * the warnings. The warnings themselves are raised in bench/measure; tests/cli proves that each of them is explained here.
 */
#include "cli/topics.h"

#include <stdio.h>
#include <string.h>

#include "cli/terminal.h"
#include "report/display.h"
#include "stat/exact.h"

#define WIDTH 100u

static void print_rounds(void) {
  static const unsigned counts[] = {2, 3, 5, 10, 20, 30, 50, 100, 200};
  printf(
      "A round is one sample of every method, in a fresh random order. Below these numbers of rounds no\n"
      "data, however clear, can support the claim:\n\n"
      "  methods  best set  verdicts  ranks\n");
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    printf("  %7u  %8u  %8u  %5u\n", counts[i], exact_floor_best(counts[i]), exact_floor_baseline(counts[i]),
           exact_floor_pairs(counts[i]));
  printf(
      "\nThey are where claims begin, not where they become likely: with 30 methods a difference of 5 %% is\n"
      "found in about 60 %% of runs of 20 rounds and 95 %% of runs of 30. --rounds sets the number. Without it\n"
      "a run takes 20; fewer where time is short, but never fewer than verdicts need; more to use up\n"
      "a --time. More methods take more rounds: name those that matter with -m.\n");
}

static void print_ranks(void) {
  terminal_put(
      stdout,
      "★         may be the fastest: no other method beat it in enough rounds. With 95 % confidence the\n"
      "          truly fastest one is starred. One question only: each method against the best.\n"
      "rank 2–4  one method is surely faster, and the data do not tell this one from two others. Ranks\n"
      "          hold for all pairs at once, which takes more: a method may be alone with its ★ and still\n"
      "          have rank 1–2.\n"
      "verdict   against the baseline: faster or slower if the whole interval lies beyond the margin, same if\n"
      "          it lies within. Unclear: the data do not decide. It never means \"no difference\".\n"
      "speed     the median of ratios inside each round; GiB/s is the median of the method's own samples.\n"
      "          What slowed a whole round touches only the second: their orders may differ by a little.\n"
      "bar       the speed from zero: full up to the lower end of its interval, light up to the upper end.\n"
      "ratio     ranked by cpu or memory, the column says how much of it the method uses, the baseline being\n"
      "          1: below is less.\n");
}

/* Words for each id; the report has the numbers. */
static const struct {
  const char *id, *meaning;
} warnings[] = {
    {"W02", "The processor changes its speed. Rounds even it out, intervals get wider. As root: cpupower frequency-set -g "
            "performance."},
    {"W03", "In a virtual machine the host may have the file in its memory: what is called guest-cold need not come from "
            "the disk."},
    {"W04", "The directory lies in memory (tmpfs). Nothing measured there tells of a disk: name another one with --dir."},
    {"W05", "Cold was wanted, and pages stayed in the cache, mostly because another program uses the file. Such samples "
            "are not compared: close it, or as root use --flush=drop."},
    {"W06", "A whole pass would take too long, so that each pass moves a part of the file only: the same part for all "
            "methods of the group."},
    {"W07", "Warm was wanted, and the file did not stay in the cache: it is too large for the free memory. Such samples "
            "are not compared: use a smaller --size."},
    {"W08", "Writing left more data in memory than the disk took within 5 s. The sample after it was disturbed."},
    {"W09", "Other programs used the same device meanwhile. The samples are kept; their intervals are honest, but wide."},
    {"W10", "The run broke off; what was measured until then is shown."},
    {"W11", "The scratch directory could not be removed: remove '.weir-...' by hand, or let the next run there do it."},
    {"W12", "The file lies on another machine or on a file system above others: cold, direct and durable end there, and no "
            "number is one of a disk."},
    {"W13", "The file system compresses: its device moves fewer bytes than a reader gets."},
    {"W14", "Parts of the file were never written, so that reading them moves nothing from a disk: measure a copy made with "
            "cp --sparse=never."},
    {"W15", "The file's bytes pack well: a disk, host or file system that compresses moves fewer than a reader gets."},
    {"W16", "The run took longer than --time: it tries every method once and takes no fewer rounds than verdicts need (see "
            "'weir help rounds')."},
    {"W17", "The run was given less memory than there is (--memory), so that files could be larger than memory."},
    {"W18", "FILE is large, and only its beginning was measured: name more of it with --size."},
    {"W19", "The run file ends too early: the run was killed or the disk was full. Its whole lines are used."},
    {"W20", "In some rounds the machine was not what it usually is: the control, a fixed piece of work before and after each "
            "round, was slow (control), the host took the processors (steal), others used the device (device) or somebody "
            "waited for one while our samples read memory (stall), or the processor ran slowly (speed). They are kept: "
            "intervals are honest, but wide. --wait-quiet waits for better times."},
    {"W21", "The directory lies on a loop device whose file is in this machine's page cache: what is cold to the file system "
            "need not come from a disk, and what its device moved need not have reached one."},
};

static void print_warnings(void) {
  printf("Warnings stand below a report. None of them makes its numbers wrong; each limits what they mean.\n\n");
  for (size_t i = 0; i < sizeof warnings / sizeof *warnings; i++) {
    printf("%s ", warnings[i].id);
    display_wrap(stdout, &(struct display_box){WIDTH, 4, 4}, warnings[i].meaning);
  }
}

const struct topic topic_list[] = {
    {"rounds", "how many rounds it takes to claim anything", print_rounds},
    {"ranks", "what star, rank, verdict and speed mean", print_ranks},
    {"warnings", "the warnings below a report, W02 to W21", print_warnings},
    {NULL, NULL, NULL},
};
