/* progress.h - tells on standard error how far a run is. Observes; changes nothing. */
#ifndef WEIR_CLI_PROGRESS_H
#define WEIR_CLI_PROGRESS_H

#include "measure/measure.h"

struct progress {
  bool quiet, terminal;
  bool verbose;      /* a plain line for every sample */
  double precision;  /* of the times so far, a fraction; 0: not known yet */
  uint64_t precise_ns; /* when it is to be computed again */
  bool drawn;        /* a line stands on the terminal */
  uint64_t shown_ns; /* when the last line was shown */
  unsigned tenths;   /* of the samples, at the last plain line */
  enum measure_event_kind kind;
};

struct progress progress_start(bool quiet);
struct measure_observer progress_observer(struct progress *progress);
/* Takes the line away. */
void progress_end(struct progress *progress);

#endif
