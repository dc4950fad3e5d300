/*
 * inflight.h - what inflight.c (the queue) and inflight_threads.c (threads that work through requests) share.
 */
#ifndef WEIR_INFLIGHT_H
#define WEIR_INFLIGHT_H

#include "lib/internal.h"

/* Does what is left of a request in the calling thread and sets its status and count. */
void weir__request_perform(struct weir_request *request);

/* Threads with a list of requests to do and one of those that are done, both by `next`. One thread puts and gets. */
struct weir__crew;
/* With as many of `threads` as can be started, at least one. */
int weir__crew_open(unsigned threads, struct weir__crew **out);
unsigned weir__crew_size(const struct weir__crew *crew);
void weir__crew_put(struct weir__crew *crew, struct weir_request *first);
/* All that are done, NULL if none, when at least `least` are; no more may be waited for than were put. */
struct weir_request *weir__crew_get(struct weir__crew *crew, size_t least);
/* When all that was put is done. */
void weir__crew_close(struct weir__crew *crew);

#endif
