/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The state of rdmad for the HTTP side and the Varlink side. Nothing here waits: a side asks for
 * the state, and is told later.
 *
 * All who ask while rdmad is being asked get the same answer. Of ports and devices those are read
 * again that have changed, which the shared memory of rdmad tells without a call, or a signal of a
 * device; all are read again after a change of many. The counters are read at most once a second.
 * rdmad is never started by a question.
 */

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include "metrics.h"
#include "util.h"

/* A side is told no later than so long after it asked. A rdmad that has not answered by then is
 * not up. */
#define SOURCE_TIMEOUT_USEC (5 * USEC_PER_SEC)
/* How long a call of GetCounters() waits for devices: those that take longer have no counters.
 * A device that is asked after one that hangs waits half a second for that (QueryTimeoutSec=). */
#define SOURCE_COUNTERS_USEC (700 * USEC_PER_MSEC)
/* Counters that are not older are not read again. */
#define SOURCE_FRESH_USEC USEC_PER_SEC

typedef struct Source Source;
typedef struct SourceRequest SourceRequest;

/* The state at one time. */
typedef struct SourceState {
	bool up;	 /* rdmad has answered */
	uint64_t serial; /* another one if anything here is another one */
	/* The answer of rdmad. NULL, which metrics_visit() takes too, if rdmad is not up. */
	const Metrics *metrics;
	uint64_t duration_usec; /* how long it took to get that */
} SourceState;

/* The state is here. STATE belongs to the source, and changes after the function has returned. */
typedef void (*SourceDone)(void *userdata, const SourceState *state);

/* Connects to the bus at ADDRESS (NULL: the system bus) at the first question, and again after the
 * connection was lost. -ENOMEM. */
int source_new(sd_event *event, const char *address, Source **ret);
/* Frees the requests too, without calling DONE. Takes NULL. */
void source_free(Source *s);
DEFINE_CLEANUP(Source, source_free);

/* Asks for the state. DONE is called once, from the event loop and never from within this function;
 * *RET does not exist any more then. -ENOMEM. */
int source_ask(Source *s, SourceDone done, void *userdata, SourceRequest **ret);
/* Gives up a request whose DONE has not been called. Takes NULL. */
void source_request_free(SourceRequest *q);
