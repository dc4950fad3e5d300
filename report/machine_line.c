/*
 * machine_line.c - what the machine did meanwhile, in one sentence below the groups, and which writers had not come to rest.
 * It computes nothing.
 */
#include <math.h>

#include "report/page.h"

static void put_percent(struct text *out, double share) {
  const double percent = share * 100;
  text_decimal(out, percent, fabs(percent) < 9.95 ? 1 : 0);
  text_put(out, DISPLAY_GLUE "%");
}

/* ", steal 0.3 %"; nothing where it is not known. */
static void put_share(struct text *out, const char *name, double share) {
  if (share < 0) return;
  text_format(out, ", %s" DISPLAY_GLUE, name);
  put_percent(out, share);
}

static void put_control(struct text *out, const struct stat_machine *machine) {
  text_put(out, "the control");
  if (machine->control_noise >= 0) {
    text_put(out, " varied by" DISPLAY_GLUE "±");
    put_percent(out, machine->control_noise);
    text_put(out, " within rounds");
  }
  if (!machine->drift_known) return;
  text_put(out, machine->control_noise >= 0 ? " and drifted by" DISPLAY_GLUE : " drifted by" DISPLAY_GLUE);
  if (machine->drift > 0) text_put(out, "+");
  put_percent(out, machine->drift);
}

static void put_speed(struct text *out, const struct stat_machine *machine) {
  if (!(machine->fastest_hz > 0)) return;
  text_put(out, ", processor" DISPLAY_GLUE);
  text_decimal(out, machine->slowest_hz / 1e9, 2);
  text_put(out, DISPLAY_GLUE "…" DISPLAY_GLUE);
  text_decimal(out, machine->fastest_hz / 1e9, 2);
  text_put(out, DISPLAY_GLUE "GHz");
}

void page_machine(const struct page *page) {
  const struct stat_machine *machine = &page->summary->machine;
  struct text text = {0};
  if (machine->rounds == 0 || !(machine->control_ns > 0)) return;
  put_control(&text, machine);
  put_share(&text, "steal", machine->steal);
  put_share(&text, "waiting for CPU", machine->cpu_stall);
  put_share(&text, "for I/O", machine->io_stall);
  put_share(&text, "for memory", machine->memory_stall);
  put_speed(&text, machine);
  text_format(&text, "; %u of %u rounds noisy", machine->noisy, machine->rounds);
  fputs("machine: ", page->out);
  display_wrap(page->out, &(struct display_box){page->width, 9, 9}, text_string(&text));
  text_release(&text);
}

/* The one that moved most stands for all. */
static const struct stat_cell *least_steady(const struct stat_group *group) {
  const struct stat_cell *found = NULL;
  for (unsigned c = 0; c < group->cell_count; c++) {
    const struct stat_cell *cell = &group->cells[c];
    if (cell->plan->twin || cell->steadiness != STAT_NOT_STEADY) continue;
    if (!found || cell->steady_range > found->steady_range) found = cell;
  }
  return found;
}

void page_steadiness(const struct page *page) {
  const struct stat_group *group = page->group;
  const struct stat_cell *worst = least_steady(group);
  struct text text = {0};
  if (!worst) return;
  text_format(&text,
              "not steady: over the last %u rounds the rate of %u of %u methods moved by more than 20" DISPLAY_GLUE
              "%%, or by more than 10" DISPLAY_GLUE "%% in one direction; that of ",
              STAT_STEADY_ROUNDS, group->not_steady, group->steady + group->not_steady);
  page_put_glued(&text, worst->plan->id);
  text_put(&text, " by ");
  put_percent(&text, worst->steady_range);
  text_put(&text, ".");
  page_sentence(page, "!", text_string(&text));
  text_release(&text);
}
