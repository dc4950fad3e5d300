/*
 * doctor.h - what `weir doctor` looks at: one finding for each thing that decides what can be measured here and how well.
 */
#ifndef WEIR_CLI_DOCTOR_H
#define WEIR_CLI_DOCTOR_H

#include <stdatomic.h>

#include "os/os.h"

enum doctor_state { DOCTOR_PENDING, DOCTOR_OK, DOCTOR_WARN, DOCTOR_SKIP };

/* `remedy` is "" for what is ok, and for nothing else. */
struct doctor_finding {
  atomic_int state; /* enum doctor_state; set last, by whoever found it */
  char text[224], remedy[160];
};

/* What all looks share; gathered once. */
struct doctor_scene {
  const char *directory;
  struct os_machine machine;
  struct os_limits limits;
  struct os_conditions conditions;
  struct os_place place; /* of the directory; for doctor_looks_place only */
};

struct doctor_look {
  const char *name;
  void (*look)(const struct doctor_scene *scene, struct doctor_finding *out);
};

/* Each ended by a nameless one. Looks at the place touch the directory, and so may take as long as that likes. */
extern const struct doctor_look doctor_looks_machine[], doctor_looks_conditions[], doctor_looks_place[];

/* Can files be made in this directory? 0, or why not. */
int doctor_try_directory(const char *directory);

void doctor_ok(struct doctor_finding *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The state is DOCTOR_WARN or DOCTOR_SKIP. */
void doctor_say(struct doctor_finding *out, enum doctor_state state, const char *remedy, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
