/* plan.c - `weir plan`: what `weir bench` would measure with the same options. Times nothing, leaves nothing. */
#include "cli/request.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "measure/measure.h"
#include "os/os.h"

static const struct option_row rows[] = {
    REQUEST_DEMAND_ROWS,
    REQUEST_CONTENDER_ROWS,
    REQUEST_EFFORT_ROWS,
    {0},
};

static void print_cell(const struct plan_cell *cell, bool baseline, int width) {
  if (cell->status == PLAN_OK)
    printf("  %s%s\n", cell->id, baseline ? "  (baseline)" : cell->capabilities & WEIR_CAP_FLOOR ? "  (floor)" : "");
  else
    printf("  %-*s  unavailable: %s%s%s%s\n", width, cell->id, cell->reason, cell->remedy[0] ? " (" : "", cell->remedy,
           cell->remedy[0] ? ")" : "");
}

static void print_group(const struct plan_group *group) {
  int width = 0;
  printf("%s: %s\n", group->id, group->title);
  for (unsigned i = 0; i < group->cell_count; i++)
    if ((int)strlen(group->cells[i].id) > width) width = (int)strlen(group->cells[i].id);
  for (unsigned i = 0; i < group->cell_count; i++) print_cell(&group->cells[i], i == group->baseline, width);
  printf("\n");
}

static uint64_t largest_file(const struct plan *plan) {
  uint64_t largest = 0;
  for (unsigned i = 0; i < plan->group_count; i++)
    if (plan_member_bytes(&plan->groups[i].demand, 0) > largest) largest = plan_member_bytes(&plan->groups[i].demand, 0);
  return largest;
}

static void print_place(const struct plan *plan, const char *path) {
  char size[UNITS_TEXT_MAX], space[UNITS_TEXT_MAX];
  struct os_place place;
  printf("files: of up to %s in a directory '.weir-...' in '%s', removed at the end",
         units_size_text((double)largest_file(plan), size), path);
  if (os_place(path, &place) == 0)
    printf("; %s%s, %s free", place.file_system, place.ram_backed ? " (in memory)" : "",
           units_size_text((double)place.free_bytes, space));
  printf("\n");
}

static void print_plan(const struct plan *plan) {
  unsigned cells = 0;
  char time[UNITS_TEXT_MAX];
  for (unsigned i = 0; i < plan->group_count; i++) {
    print_group(&plan->groups[i]);
    cells += plan_group_k(&plan->groups[i]);
  }
  if (plan->file)
    printf("files: '%s', only read\n", plan->file);
  else
    for (unsigned i = 0; i < plan->place_count; i++) print_place(plan, plan->places[i]);
  printf("cells: %u that can be measured here, in %u group%s\n", cells, plan->group_count,
         plan->group_count == 1 ? "" : "s");
  if (plan->rounds) {
    printf("rounds: %u and one to warm up, however long they take\n", plan->rounds);
    return;
  }
  printf("time: %s; if that is too short, files get smaller or whole groups are left out\n",
         units_duration_text(plan->time_ns, time));
}

static int probe_and_print(const struct request *request, struct run *run) {
  struct weir_reason problem = {{0}, {0}};
  const struct measure_options options = {.methods = request->outside.methods,
                                          .worker_arguments = request->outside.worker_arguments,
                                          .memory_limit = request->memory.values[0],
                                          .interrupted = command_interrupts()};
  int code = os_interrupts_catch(command_interrupts());
  if (code == 0) code = measure_probe(run, &options, &problem);
  if (code == -EINTR) return EXIT_INTERRUPTED;
  if (code < 0) return command_cannot("%s", problem.text[0] ? problem.text : strerror(-code));
  print_plan(&run->plan);
  return EXIT_FINE;
}

static int run_plan(const struct command *self, int argc, char **argv) {
  struct request request;
  struct run run = {0};
  enum option_result parsed = request_parse(self, argc, argv, &request);
  int code = parsed == OPTION_BAD ? EXIT_CANNOT : EXIT_FINE;
  if (parsed == OPTION_GO) code = request_plan(self, &request, argc, argv, &run);
  if (parsed == OPTION_GO && code == 0) request_notes(&request, &run.plan);
  if (parsed == OPTION_GO && code == 0) code = probe_and_print(&request, &run);
  run_release(&run);
  request_release(&request);
  return code;
}

const struct command cmd_plan = {
    .name = "plan",
    .synopsis = "[OPTION]... [FILE]",
    .summary = "show what bench would measure",
    .description =
        "Shows the groups and cells that 'weir bench' with the same options would measure, which of them work here, and\n"
        "what files they need. Measures nothing and leaves no file.",
    .examples =
        "  weir plan\n"
        "  weir plan --task whole --cache warm,cold\n"
        "  weir plan -m 'ring/*' --access random\n",
    .options = rows,
    .run = run_plan,
};
