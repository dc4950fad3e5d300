/*
 * progress.c - one line on a terminal, drawn anew at most ten times a second; elsewhere a plain line at every tenth of the
 * samples or half a minute.
 */
#include "cli/progress.h"

#include <inttypes.h>
#include <string.h>

#include "base/units.h"
#include "cli/terminal.h"
#include "os/os.h"

#define DRAW_NS UINT64_C(100000000)
#define PLAIN_NS UINT64_C(30000000000)

struct progress progress_start(bool quiet) {
  return (struct progress){.quiet = quiet, .terminal = terminal_is(stderr)};
}

static void append(char *out, size_t size, const char *mark, const char *text) {
  size_t used = strlen(out);
  if (text && *text) snprintf(out + used, size - used, "%s%s", mark, text);
}

static const char *phase_of(const struct measure_event *event, char out[48]) {
  switch (event->kind) {
    case MEASURE_LAYOUT:
      return "writing files";
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
  if (event->kind == MEASURE_LAYOUT) return event->text ? event->text : "";
  if ((event->kind != MEASURE_SAMPLE && event->kind != MEASURE_PILOT) || event->group >= plan->group_count) return "";
  return plan->groups[event->group].title;
}

static void line_of(const struct measure_event *event, char *out, size_t size) {
  char phase[48], left[UNITS_TEXT_MAX], eta[UNITS_TEXT_MAX + 16] = "";
  snprintf(out, size, "[%s]", phase_of(event, phase));
  append(out, size, " ", what_of(event));
  if (event->left_ns) snprintf(eta, sizeof eta, "about %s left", units_duration_text(event->left_ns, left));
  append(out, size, " \xc2\xb7 ", eta);
}

/* Cuts the line to so many columns, at a character's beginning. */
static void cut(char *line, unsigned columns) {
  unsigned used = 0;
  for (char *at = line; *at; at++) {
    if (((unsigned char)*at & 0xc0) != 0x80 && ++used > columns) {
      *at = '\0';
      return;
    }
  }
}

static void draw(struct progress *progress, const struct measure_event *event) {
  char line[256];
  unsigned width = terminal_width(stderr);
  line_of(event, line, sizeof line);
  cut(line, width > 1 ? width - 1 : 79);
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
  if (groups < plan->group_count) fprintf(stderr, ", %u left out for lack of time", plan->group_count - groups);
  if (unavailable) fprintf(stderr, ", %u unavailable", unavailable);
  if (event->left_ns) fprintf(stderr, ", about %s", units_duration_text(event->left_ns, time));
  fprintf(stderr, "\n");
}

static void on_event(void *context, const struct measure_event *event) {
  struct progress *progress = context;
  uint64_t now_ns = os_clock_ns();
  char line[256];
  if (progress->quiet) return;
  if (event->kind == MEASURE_PLANNED || event->kind == MEASURE_DONE) progress_end(progress);
  if (event->kind == MEASURE_PLANNED) show_plan(event);
  if (event->kind == MEASURE_PLANNED || event->kind == MEASURE_DONE || !due(progress, event, now_ns)) return;
  if (progress->terminal) {
    draw(progress, event);
  } else {
    line_of(event, line, sizeof line);
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
