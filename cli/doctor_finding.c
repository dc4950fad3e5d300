/* doctor_finding.c - how a look at something says what it found. */
#include <stdarg.h>
#include <stdio.h>

#include "cli/doctor.h"

static void set(struct doctor_finding *out, enum doctor_state state, const char *remedy, const char *format, va_list list) {
  vsnprintf(out->text, sizeof out->text, format, list);
  snprintf(out->remedy, sizeof out->remedy, "%s", remedy);
  atomic_store(&out->state, (int)state);
}

void doctor_ok(struct doctor_finding *out, const char *format, ...) {
  va_list list;
  va_start(list, format);
  set(out, DOCTOR_OK, "", format, list);
  va_end(list);
}

void doctor_say(struct doctor_finding *out, enum doctor_state state, const char *remedy, const char *format, ...) {
  va_list list;
  va_start(list, format);
  set(out, state, remedy, format, list);
  va_end(list);
}
