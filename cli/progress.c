/*
 * progress.c - one line on a terminal, drawn anew at most ten times a second; elsewhere, and on dumb terminals, a plain line at every tenth of the
 * samples or half a minute.
 */
#include "cli/progress.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "base/units.h"
#include "cli/terminal.h"
#include "os/os.h"
#include "report/display.h"
#include "stat/precision.h"

#define DRAW_NS UINT64_C(100000000)
#define PLAIN_NS UINT64_C(30000000000)
#define PRECISE_NS UINT64_C(1000000000)
#define PRECISE_SHARE 50u /* of the time computing it takes, at least so much passes before it is done again */

struct progress progress_start(bool quiet) {
  return (struct progress){.quiet = quiet, .terminal = terminal_can_redraw(stderr)};
}

/* ---- the words ---- */

/* The layout's names for its files, in words for people. */
static const char *layout_words(const char *role) {
  static const char *const roles[] = {"warm", "cold", "write", "mixed", "flush", "user", NULL};
  static const char *const words[] = {"writing the file for warm reads", "writing the file for cold reads",
                                      "writing the file to be overwritten",
                                      "writing the file for mixed requests", "writing the file that flushes the cache",
                                      "checking your file"};
  int index = role ? plan_word_index(roles, role) : -1;
  return index < 0 ? "writing files" : words[index];
}

/* "round 5/28", "burn-in round", ... */
static const char *phase_of(const struct measure_event *event, char out[48]) {
  switch (event->kind) {
    case MEASURE_LAYOUT:
      return layout_words(event->text);
    case MEASURE_FLOORS:
      return "measuring the machine";
    case MEASURE_PILOT:
      return "trying methods";
    case MEASURE_SAMPLE:
      if (event->round == 0) return "burn-in round";
      snprintf(out, 48, "round %u/%u", event->round, event->rounds);
      return out;
    default:
      return "";
  }
}

static const char *what_of(const struct measure_event *event) {
  const struct plan *plan = &event->run->plan;
  if ((event->kind != MEASURE_SAMPLE && event->kind != MEASURE_PILOT) || event->group >= plan->group_count) return "";
  return plan->groups[event->group].title;
}

/*
 * Appends as many whole parts "a, b, c" of the title as the columns hold: a line must not end within a number and its unit.
 */
static void append_parts(char *line, size_t size, const char *title, unsigned columns) {
  size_t used = strlen(line), fitting = 0, column = display_width(line) + 1;
  for (size_t at = 0;; at++) {
    bool end = title[at] == '\0' || (title[at] == ',' && title[at + 1] == ' ');
    if (end && column <= columns) fitting = at;
    if (title[at] == '\0') break;
    column += ((unsigned char)title[at] & 0xc0) != 0x80;
  }
  if (fitting && used + fitting + 2 <= size) snprintf(line + used, size - used, " %.*s", (int)fitting, title);
}

/* ", ±1.9 %" or nothing. */
static const char *precision_of(const struct progress *progress, const struct measure_event *event, char out[32]) {
  struct text text = {0};
  if (event->kind == MEASURE_SAMPLE && event->round && progress->precision > 0) {
    text_put(&text, terminal_is_ascii() ? ", +-" : ", ±");
    text_decimal(&text, progress->precision * 100, 1);
    text_put(&text, " %");
  }
  snprintf(out, 32, "%s", text_string(&text));
  text_release(&text);
  return out;
}

/* Round and time first: they are what a narrow terminal has to keep. Then how sure the times are, then what is measured. */
static void line_of(const struct progress *progress, const struct measure_event *event, char *out, size_t size,
                    unsigned columns) {
  char phase[48], left[UNITS_TEXT_MAX], sure[32];
  const char *precision = precision_of(progress, event, sure);
  for (;; precision = "") {
    if (event->left_ns)
      snprintf(out, size, "[%s%s, %s left]", phase_of(event, phase), precision, units_duration_text(event->left_ns, left));
    else
      snprintf(out, size, "[%s%s]", phase_of(event, phase), precision);
    if (!*precision || display_width(out) <= columns) break;
  }
  append_parts(out, size, what_of(event), columns);
}

/* How far apart the ends of the intervals are by now; not more often than it is worth. */
static void look_at_precision(struct progress *progress, const struct measure_event *event, uint64_t now_ns) {
  if (event->kind != MEASURE_SAMPLE || now_ns < progress->precise_ns) return;
  progress->precision = stat_precision(event->run);
  const uint64_t cost = os_clock_ns() - now_ns;
  progress->precise_ns = now_ns + (cost * PRECISE_SHARE > PRECISE_NS ? cost * PRECISE_SHARE : PRECISE_NS);
}

/* ---- the line ---- */

static void draw(struct progress *progress, const struct measure_event *event) {
  char line[256];
  unsigned width = terminal_width(stderr);
  line_of(progress, event, line, sizeof line, width > 1 ? width - 1 : 79);
  fprintf(stderr, "\r%s\x1b[K", line);
  fflush(stderr);
  progress->drawn = true;
}

static bool due(const struct progress *progress, const struct measure_event *event, uint64_t now_ns) {
  bool other = event->kind != progress->kind || !progress->shown_ns;
  if (progress->terminal) return other || now_ns - progress->shown_ns >= DRAW_NS;
  if (event->kind == MEASURE_SAMPLE && event->total && event->done * 10 / event->total > progress->tenths) return true;
  return other || now_ns - progress->shown_ns >= PLAIN_NS;
}

static unsigned cells_unavailable(const struct plan_group *group) {
  unsigned count = 0;
  for (unsigned i = 0; i < group->cell_count; i++) count += group->cells[i].status != PLAN_OK && !group->cells[i].twin;
  return count;
}

/* Does the number of rounds that a verdict takes come before the time? The pilot is part of the time. */
static bool takes_longer(const struct measure_event *event) {
  const struct plan *plan = &event->run->plan;
  if (plan->rounds && !plan->fill_time) return false;
  return event->elapsed_ns + event->left_ns > plan->time_ns + plan->time_ns / 10;
}

static void show_plan(const struct measure_event *event) {
  const struct plan *plan = &event->run->plan;
  char time[UNITS_TEXT_MAX];
  unsigned groups = 0, cells = 0, unavailable = 0;
  for (unsigned i = 0; i < plan->group_count; i++) {
    if (plan->groups[i].dropped) continue;
    groups++;
    cells += plan_group_k(&plan->groups[i]);
    unavailable += cells_unavailable(&plan->groups[i]);
  }
  fprintf(stderr, "plan: %u cell%s in %u group%s", cells, cells == 1 ? "" : "s", groups, groups == 1 ? "" : "s");
  const unsigned left_out = plan->group_count - groups;
  if (left_out) fprintf(stderr, ", %u group%s left out for lack of time", left_out, left_out == 1 ? "" : "s");
  if (unavailable) fprintf(stderr, ", %u unavailable", unavailable);
  if (event->left_ns) fprintf(stderr, ", about %s", units_duration_text(event->elapsed_ns + event->left_ns, time));
  fprintf(stderr, "\n");
  if (takes_longer(event))
    fprintf(stderr, "longer than the %s of --time: fewer rounds could tell nothing apart\n",
            units_duration_text(plan->time_ns, time));
}

/* ---- a line for every sample ---- */

static void show_flags(uint32_t flags) {
  for (unsigned i = 0; run_flag_words[i]; i++)
    if (flags & (1u << i) & ~(uint32_t)(RUN_PILOT | RUN_BURN_IN)) fprintf(stderr, ", %s", run_flag_words[i]);
}

/* "round 3/20: read-sequential-warm fd/pread[block=128KiB]: 12.3 ms, 4 passes" */
static void show_sample(const struct measure_event *event) {
  const struct plan_group *group = &event->run->plan.groups[event->group];
  const struct plan_cell *cell = &group->cells[event->cell];
  const struct sample *sample = event->run->sample_count ? &event->run->samples[event->run->sample_count - 1] : NULL;
  char phase[48], time[UNITS_TEXT_MAX];
  fprintf(stderr, "%s: %s %s", phase_of(event, phase), group->id, cell->id);
  if (cell->status != PLAN_OK)
    fprintf(stderr, ": %s%s%s", cell->reason, cell->remedy[0] ? "; " : "", cell->remedy);
  else if (sample && sample->group == event->group && sample->cell == event->cell)
    fprintf(stderr, ": %s, %llu pass%s", units_time_text(sample_elapsed_ns(sample), time), (unsigned long long)sample->passes,
            sample->passes == 1 ? "" : "es");
  if (sample && cell->status == PLAN_OK) show_flags(sample->flags);
  fprintf(stderr, "\n");
}

static bool is_sample(const struct measure_event *event) {
  return (event->kind == MEASURE_SAMPLE || event->kind == MEASURE_PILOT) && event->group < event->run->plan.group_count;
}

static void on_event(void *context, const struct measure_event *event) {
  struct progress *progress = context;
  uint64_t now_ns = os_clock_ns();
  char line[256];
  if (progress->quiet) return;
  if (event->kind == MEASURE_PLANNED || event->kind == MEASURE_DONE) progress_end(progress);
  if (event->kind == MEASURE_PLANNED) show_plan(event);
  if (progress->verbose && is_sample(event)) {
    show_sample(event);
    return;
  }
  if (event->kind == MEASURE_PLANNED || event->kind == MEASURE_DONE || !due(progress, event, now_ns)) return;
  look_at_precision(progress, event, now_ns);
  if (progress->terminal && !progress->verbose) {
    draw(progress, event);
  } else {
    line_of(progress, event, line, sizeof line, UINT_MAX);
    fprintf(stderr, "%s\n", line);
  }
  progress->shown_ns = now_ns;
  progress->kind = event->kind;
  if (event->kind == MEASURE_SAMPLE && event->total) progress->tenths = (unsigned)(event->done * 10 / event->total);
}

struct measure_observer progress_observer(struct progress *progress) {
  return (struct measure_observer){.context = progress, .event = on_event};
}

void progress_end(struct progress *progress) {
  if (progress->drawn) fprintf(stderr, "\r\x1b[K");
  progress->drawn = false;
}
