/*
 * outside.h - contenders that are not built in, and with them the one list of methods that a command works with.
 */
#ifndef WEIR_CLI_OUTSIDE_H
#define WEIR_CLI_OUTSIDE_H

#include "cli/command.h"
#include "cli/sides.h"
#include "measure/exec.h"
#include "measure/plugin.h"

struct outside {
  struct plan_strings plugin_files, commands; /* what the options say */
  const char *side_files[SIDES_MAX];          /* OLD and NEW of a comparison, or NULL */
  /* made of it */
  struct plugin *plugins;             /* one for each file */
  struct exec **execs;                /* one for each command */
  struct side sides[SIDES_MAX];       /* of a comparison */
  const struct weir_method **methods; /* NULL-terminated: what is built in, then what came from outside */
  const char **worker_arguments;    /* NULL-terminated: the same options again, for newly executed workers */
};

#define OUTSIDE_PLUGIN_ROW(at)                                                            \
  {                                                                                       \
    .name = "plugin", .argument = "FILE", .kind = OPTION_TEXTS, .offset = at,             \
    .help = "load methods from a shared library; may be repeated\n(see docs/plugins.md)"  \
  }

#define OUTSIDE_EXEC_ROW(at)                                                                                        \
  {                                                                                                                 \
    .name = "exec", .argument = "COMMAND", .kind = OPTION_TEXTS, .offset = at,                                      \
    .help = "a whole program as a contender, {} for the file:\n'[NAME=]COMMAND {} [=> CHECKSUM]'; may be repeated"  \
  }

/* Loads and checks what the options name. 0, or EXIT_CANNOT with the error printed. Close it in both cases. */
int outside_open(const struct command *command, struct outside *outside);
void outside_close(struct outside *outside);
/* What workers do before they use a method; for measure_options. */
struct measure_prepare outside_prepare(struct outside *outside);
/* Lets them compete beside what is measured anyhow: commands always, plugins' methods unless the user named methods. */
void outside_join(const struct outside *outside, struct plan_request *request);
/* `weir __worker OPTION...`: one sample, with the same contenders. */
int outside_worker(int argc, char **argv);

#endif
