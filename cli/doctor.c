/*
 * doctor.c - `weir doctor`: what decides here what can be measured and how well. One line each: ok, warn or skip, and what
 * would help. It judges the conditions, never the results, and leaves nothing behind.
 *
 * All that touches the directory is done by a child process, because a file system that hangs would hang us too: what it
 * has not found out in time is a finding of its own.
 */
#include "cli/doctor.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/terminal.h"
#include "measure/run.h"

#define PLACE_NS UINT64_C(2000000000)
#define GONE_NS UINT64_C(100000000) /* a killed process that sits in a hanging file system does not end: it is left */
enum { LOOKS_MAX = 32 };

/* Lies in memory that the child shares. */
struct doctor {
  struct doctor_scene scene;
  atomic_int place_code; /* 1 not looked at yet, 0, or why the directory cannot be used */
  struct doctor_finding machine[LOOKS_MAX], conditions[LOOKS_MAX], place[LOOKS_MAX];
};

struct doctor_request {
  int format;
};
enum { FORMAT_TABLE, FORMAT_JSON };
static const char *const format_words[] = {"table", "json", NULL};
static const struct option_row rows[] = {
    {.section = "Options",
     .name = "format",
     .argument = "FORMAT",
     .kind = OPTION_WORD,
     .offset = offsetof(struct doctor_request, format),
     .words = format_words,
     .help = "how it is printed"},
    {0},
};

/* ---- findings ---- */

static void look_at_all(const struct doctor_look *looks, const struct doctor_scene *scene, struct doctor_finding *out) {
  for (unsigned i = 0; looks[i].name && i < LOOKS_MAX; i++) looks[i].look(scene, &out[i]);
}

/* ---- the directory, in a process of its own ---- */

static int look_at_directory(struct doctor *doctor) {
  struct os_stat stat;
  const char *path = doctor->scene.directory;
  int code = os_stat_path(path, &stat);
  if (code == 0 && stat.kind != OS_DIRECTORY) code = -ENOTDIR;
  if (code == 0 && access(path, W_OK | X_OK) < 0) code = -errno;
  if (code == 0) code = doctor_try_directory(path);
  return code == 0 ? os_place(path, &doctor->scene.place) : code;
}

static int look_at_place(void *context) {
  struct doctor *doctor = context;
  os_process_shield();
  int code = look_at_directory(doctor);
  atomic_store(&doctor->place_code, code);
  if (code == 0) look_at_all(doctor_looks_place, &doctor->scene, doctor->place);
  return 0;
}

static void give_up(struct doctor *doctor) {
  for (unsigned i = 0; doctor_looks_place[i].name; i++) {
    if (atomic_load(&doctor->place[i].state) != DOCTOR_PENDING) continue;
    doctor_say(&doctor->place[i], DOCTOR_WARN, "look at the file system: it hangs, or is very slow",
               "no answer within 2 s");
  }
}

static void wait_for_place(struct doctor *doctor, os_process child, uint64_t began_ns) {
  struct os_exit end;
  uint64_t spent = os_clock_ns() - began_ns;
  if (os_process_wait(child, spent < PLACE_NS ? PLACE_NS - spent : 0, &end) < 0) {
    os_process_kill(child);
    os_process_wait(child, GONE_NS, &end);
  }
  give_up(doctor);
}

static int examine(struct doctor *doctor) {
  os_process child;
  os_machine(&doctor->scene.machine);
  os_limits(&doctor->scene.limits);
  os_conditions(&doctor->scene.conditions);
  atomic_store(&doctor->place_code, 1);
  uint64_t began = os_clock_ns();
  int code = os_process_fork(look_at_place, doctor, &child);
  if (code < 0) return command_cannot("the directory cannot be looked at: %s", strerror(-code));
  look_at_all(doctor_looks_machine, &doctor->scene, doctor->machine);
  look_at_all(doctor_looks_conditions, &doctor->scene, doctor->conditions);
  wait_for_place(doctor, child, began);
  code = atomic_load(&doctor->place_code);
  return code < 0 ? command_cannot("'%s': %s", doctor->scene.directory, strerror(-code)) : 0;
}

/* ---- printing ---- */

static const char *const state_words[] = {
    [DOCTOR_PENDING] = "warn", [DOCTOR_OK] = "ok", [DOCTOR_WARN] = "warn", [DOCTOR_SKIP] = "skip"};

/* Names of devices and mounts may hold anything. */
static void print_harmless(const char *text) {
  for (; *text; text++) putchar((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text);
}

static void print_lines(const struct doctor_look *looks, const struct doctor_finding *found) {
  for (unsigned i = 0; looks[i].name; i++) {
    printf("%-4s  %-14s  ", state_words[atomic_load(&found[i].state)], looks[i].name);
    print_harmless(found[i].text);
    if (found[i].remedy[0]) terminal_put(stdout, " → ");
    print_harmless(found[i].remedy);
    putchar('\n');
  }
}

static json_t *text_value(const char *text) {
  char *encoded = run_text_encode(text);
  json_t *value = encoded ? json_string(encoded) : NULL;
  free(encoded);
  return value;
}

static int add_findings(json_t *list, const struct doctor_look *looks, const struct doctor_finding *found) {
  int code = 0;
  for (unsigned i = 0; looks[i].name && code == 0; i++) {
    json_t *line = json_object();
    code = json_object_set_new(line, "state", json_string(state_words[atomic_load(&found[i].state)]));
    if (code == 0) code = json_object_set_new(line, "name", json_string(looks[i].name));
    if (code == 0) code = json_object_set_new(line, "finding", text_value(found[i].text));
    if (code == 0) code = json_object_set_new(line, "remedy", text_value(found[i].remedy));
    if (json_array_append_new(list, line) < 0) code = -1;
  }
  return code;
}

static int print_json(const struct doctor *doctor) {
  json_t *document = json_object(), *list = json_array();
  int code = json_object_set_new(document, "schema", json_integer(1));
  if (code == 0) code = json_object_set_new(document, "directory", text_value(doctor->scene.directory));
  if (code == 0) code = add_findings(list, doctor_looks_machine, doctor->machine);
  if (code == 0) code = add_findings(list, doctor_looks_conditions, doctor->conditions);
  if (code == 0) code = add_findings(list, doctor_looks_place, doctor->place);
  if (json_object_set_new(document, "findings", list) < 0) code = -1;
  if (code == 0) code = json_dumpf(document, stdout, JSON_INDENT(2));
  if (code == 0) putchar('\n');
  json_decref(document);
  return code < 0 ? command_cannot("out of memory, or a write failed") : EXIT_FINE;
}

static int print_findings(const struct doctor *doctor, const struct doctor_request *request) {
  if (request->format == FORMAT_JSON) return print_json(doctor);
  print_lines(doctor_looks_machine, doctor->machine);
  print_lines(doctor_looks_conditions, doctor->conditions);
  print_lines(doctor_looks_place, doctor->place);
  return EXIT_FINE;
}

/* ---- the command ---- */

static int run_doctor(const struct command *self, int argc, char **argv) {
  struct doctor_request request = {.format = FORMAT_TABLE};
  struct option_operands operands;
  void *memory;
  enum option_result parsed = option_parse(self, argc, argv, &request, &operands);
  if (parsed != OPTION_GO) return parsed == OPTION_DONE ? EXIT_FINE : EXIT_CANNOT;
  if (operands.count > 1) return command_fail(self, NULL, NULL, "one directory at a time");
  if (os_memory_get(sizeof(struct doctor), OS_MEMORY_SHARED, &memory) < 0) return command_cannot("out of memory");
  struct doctor *doctor = memory;
  doctor->scene.directory = operands.count ? operands.values[0] : ".";
  int code = examine(doctor);
  if (code == 0) code = print_findings(doctor, &request);
  os_memory_put(memory, sizeof *doctor);
  return code;
}

const struct command cmd_doctor = {
    .name = "doctor",
    .synopsis = "[OPTION]... [DIR]",
    .summary = "tell what helps or hinders measuring here",
    .description =
        "Looks at the machine, at the limits of this process and at the directory DIR (.), and says in a line each what is\n"
        "ok, what makes numbers worse (warn), what cannot be had here (skip), and what would help. What it calls working "
        "it\n"
        "has tried. Takes a second or two and leaves nothing behind.",
    .examples =
        "  weir doctor\n"
        "  weir doctor /mnt/data\n"
        "  weir doctor --format json\n",
    .options = rows,
    .run = run_doctor,
};
