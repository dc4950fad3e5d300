/*
 * inflight.h - what inflight.c (the queue) and inflight_threads.c (threads that work through requests) share.
 */
#ifndef WEIR_INFLIGHT_H
#define WEIR_INFLIGHT_H

#include "lib/internal.h"

/* Does what is left of a request in the calling thread and sets its status and count. */
void weir__request_perform(struct weir_request *request);

/* Threads with a list of requests to do and one of those that are done, both by `next`. One thread puts and gets. */
struct weir__hands;
/* With as many of `threads` as can be started, at least one. */
int weir__hands_open(unsigned threads, struct weir__hands **out);
unsigned weir__hands_size(const struct weir__hands *hands);
void weir__hands_put(struct weir__hands *hands, struct weir_request *first);
/* All that are done, NULL if none, when at least `least` are; no more may be waited for than were put. */
struct weir_request *weir__hands_get(struct weir__hands *hands, size_t least);
/* When all that was put is done. */
void weir__hands_close(struct weir__hands *hands);

#endif
