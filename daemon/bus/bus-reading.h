/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Calls for what is read on demand (reading.h). Each is for one or more ports, and waits for one of
 * them after the other. */

#include "bus.h"
#include "long-reply-kinds.h"

/* Goes from port to port, while some may come and go. */
typedef struct PortWalk {
	const Cache *cache;
	const char *paths; /* the ports that are left: an object path and a newline for each; NULL:
			      all */
	size_t i;	   /* where the device of the last port was */
	uint32_t device;   /* its index */
	uint32_t port;	   /* the number of that port */
} PortWalk;

/* The next port, NULL: there is none. */
Port *port_walk_next(PortWalk *w);

/* A call for what is read of ports. */
typedef struct ReadingQuestion {
	QueryKind kind;
	LongReplyKind reply;   /* which shows it: LongReplyQuestion.text has the paths */
	char *paths;	       /* as PortWalk.paths. bus_ask_readings() takes it over */
	uint64_t timeout_usec; /* then the reply shows what there is; UINT64_MAX: waits as long as
				  it takes */
} ReadingQuestion;

/* Answers M when Q has been read. Returns what a method has to return to sd-bus. */
int bus_ask_readings(Bus *b, sd_bus_message *m, const ReadingQuestion *q, sd_bus_error *error);
/* The same for M, a call of P, for which REPLY shows what KIND has read of it. */
int bus_ask_reading(sd_bus_message *m, const Port *p, QueryKind kind, LongReplyKind reply,
		    sd_bus_error *error);

/* The reading of P for the reply to Q. NULL: it has failed with *RET_ERROR, a negative errno, which
 * *RET_TEXT says in words. */
const Reading *bus_reading_for(const LongReplyQuestion *q, const Port *p, QueryKind kind,
			       int *ret_error, const char **ret_text);
