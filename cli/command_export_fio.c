/*
 * command_export_fio.c - `weir export-fio CELL`: the command line with which fio does what a cell does, so that anybody can
 * check a row of a table with a tool that he knows. Measures nothing and makes no file.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fio_job.h"
#include "cli/request.h"
#include "methods/methods.h"

#define SCRATCH_NAME "weir-fio.data"

static const struct option_row rows[] = {
    REQUEST_DEMAND_ROWS,
    {.section = "Contender",
     .name = "threads",
     .argument = "COUNTS",
     .kind = OPTION_COUNTS,
     .offset = REQUEST_AT(plan.threads),
     .low = 1,
     .high = 256,
     .help = "instances that share the work (1)"},
    {.name = "dir",
     .letter = 'd',
     .argument = "DIR",
     .kind = OPTION_TEXTS,
     .offset = REQUEST_AT(plan.places),
     .help = "where fio makes its file (.)"},
    {0},
};

/* ---- the command line that is read ---- */

/* Names of cells may end with @DIR, the place, and with #2, the second of one name. */
static char *without_place(const char *cell, struct plan_request *request) {
  char *text = malloc(strlen(cell) + 1);
  if (!text) return NULL;
  strcpy(text, cell);
  char *hash = strrchr(text, '#');
  if (hash && hash[1] && strspn(hash + 1, "0123456789") == strlen(hash + 1)) *hash = '\0';
  char *place = strchr(text, '@');
  if (!place) return text;
  *place = '\0';
  if (!request->places.count) request->places = (struct plan_strings){1, {place + 1}};
  return text;
}

static enum option_result read_request(const struct command *self, int argc, char **argv, struct request *out,
                                       const char **cell) {
  struct option_operands operands;
  *out = (struct request){.plan.flush = PLAN_UNSAID};
  enum option_result result = option_parse(self, argc, argv, out, &operands);
  if (result != OPTION_GO) return result;
  if (operands.count == 0)
    command_fail(self, NULL, NULL, "name a cell as tables show it, e.g. 'fd/pread[block=128KiB]'");
  else if (operands.count > 2)
    command_fail(self, NULL, NULL, "one CELL and one FILE; '%s' is one too many", operands.values[2]);
  else if (out->plan.places.count > 1)
    command_fail(self, "--dir", NULL, "one directory: fio makes one file");
  else if (out->memory.count)
    command_fail(self, "--memory", NULL, "fio sets no such limit; run its command in a control group that has it");
  else if (operands.count == 1 || request_take_file(operands.values[1], &out->plan) == 0) {
    *cell = operands.values[0];
    return OPTION_GO;
  }
  return OPTION_BAD;
}

/* ---- the command line that is printed ---- */

/* For a shell: in single quotes unless it is plain. fio's own list of files is separated by colons. */
static void print_file(const char *path) {
  printf("'--filename=");
  for (; *path; path++) {
    if (*path == '\'')
      printf("'\\''");
    else if (*path == ':')
      printf("\\:");
    else
      putchar(*path);
  }
  putchar('\'');
}

/* Comments end with their line, whatever a name holds. */
static void print_harmless(const char *text) {
  for (; *text; text++) putchar((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text);
}

static void print_writer_words(const struct plan_demand *demand) {
  printf(" --durability %s --target %s", plan_durability_words[demand->durability], plan_target_words[demand->target]);
}

/* The same in weir, with all that the demand says. */
static void print_bench(const struct plan_demand *demand, const struct plan_cell *cell) {
  printf("# Beside it: weir bench --direction %s --access %s --size %" PRIu64, plan_direction_words[demand->direction],
         plan_access_words[demand->access], demand->size_bytes);
  if (demand->request_bytes) printf(" --request %" PRIu64, demand->request_bytes);
  if (demand->access == WEIR_RANDOM && demand->coverage < 1) printf(" --coverage %.6g", demand->coverage);
  if (demand->direction == WEIR_WRITE) print_writer_words(demand);
  if (demand->direction == WEIR_MIXED) printf(" --write-share %.6g", demand->write_share);
  if (demand->rate_per_s > 0) printf(" --rate %.6g", demand->rate_per_s);
  printf(" --cache %s --consumer none -m '", plan_cache_words[demand->cache]);
  print_harmless(cell->id);
  printf("'\n");
}

static void print_job(const struct plan_group *group, const struct plan_cell *cell, const struct fio_job *job,
                      const char *path) {
  printf("# %s: ", group->title);
  print_harmless(cell->id);
  printf("\n");
  print_bench(&group->demand, cell);
  printf("# What is not the same:\n");
  for (unsigned i = 0; i < job->note_count; i++) printf("# - %s\n", job->notes[i].text);
  printf("fio --name=weir");
  for (unsigned i = 0; i < job->option_count; i++) printf(" \\\n  %s", job->options[i].text);
  if (job->opens_file) printf(" \\\n  ");
  if (job->opens_file) print_file(path);
  printf("\n");
}

static int export_cell(const struct plan *plan, const struct plan_group *group, const struct plan_cell *cell,
                       const char *path) {
  struct fio_job *job = malloc(sizeof *job);
  if (!job) return command_cannot("out of memory");
  int code = fio_job_make(group, cell, plan->flush, plan->file != NULL, job);
  if (code == 0)
    print_job(group, cell, job, path);
  else
    code = command_cannot("'%s' cannot be said in fio: %s", cell->id, job->reason);
  free(job);
  return code;
}

static char *path_of(const struct plan *plan) {
  const char *place = plan->place_count ? plan->places[0] : ".";
  const char *parts[] = {plan->file ? plan->file : place, plan->file ? "" : "/" SCRATCH_NAME};
  size_t size = strlen(parts[0]) + strlen(parts[1]) + 1;
  char *path = malloc(size);
  if (path) snprintf(path, size, "%s%s", parts[0], parts[1]);
  return path;
}

/* Every group that the options name, one command each. */
static int export_plan(const struct plan *plan) {
  char *path = path_of(plan);
  int code = path ? EXIT_FINE : command_cannot("out of memory");
  for (unsigned i = 0; i < plan->group_count && path; i++)
    for (unsigned j = 0; j < plan->groups[i].cell_count; j++) {
      if (i + j) printf("\n");
      if (export_cell(plan, &plan->groups[i], &plan->groups[i].cells[j], path) != 0) code = EXIT_CANNOT;
    }
  free(path);
  return code;
}

static int run_export_fio(const struct command *self, int argc, char **argv) {
  struct request request;
  struct plan plan;
  struct plan_error error;
  const char *cell = NULL;
  enum option_result parsed = read_request(self, argc, argv, &request, &cell);
  if (parsed != OPTION_GO) return parsed == OPTION_DONE ? EXIT_FINE : EXIT_CANNOT;
  char *method = without_place(cell, &request.plan);
  if (!method) return command_cannot("out of memory");
  request.plan.methods = (struct plan_strings){1, {method}};
  int code = plan_make(&request.plan, methods_list, &plan, &error);
  if (code == 0) {
    code = export_plan(&plan);
    plan_release(&plan);
  } else if (code == -ENOMEM) {
    code = command_cannot("out of memory");
  } else {
    const char *option = strcmp(error.option, "--method") == 0 ? "CELL" : error.option;
    code = command_fail(self, option, error.hint[0] ? error.hint : NULL, "%s", error.text);
  }
  free(method);
  return code;
}

const struct command cmd_export_fio = {
    .name = "export-fio",
    .synopsis = "[OPTION]... CELL [FILE]",
    .summary = "print the fio command that does what a cell does",
    .description =
        "Prints a command line of fio for CELL, a method with parameters as tables show it, under the demand that the same\n"
        "options as those of 'weir bench' name, so that a row can be checked with another tool. Lines that begin with # "
        "say\n"
        "what is not the same. fio makes a file of its own and removes it, or reads FILE. What fio cannot do is told, with\n"
        "exit status 2. Runs nothing.",
    .examples =
        "  weir export-fio fd/pread\n"
        "  weir export-fio 'ring/direct[depth=32]' --access random --cache cold\n"
        "  weir export-fio 'fd/pwrite[flush=dsync]' --direction write --request 4k --durability each | sh\n",
    .options = rows,
    .run = run_export_fio,
};
