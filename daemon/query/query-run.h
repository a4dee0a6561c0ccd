/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One query from beginning to end. */

#include "query-target.h"

/* Takes an answer, in the order of struct SourceHandler. If a function returns a negative errno,
 * the query ends at once, without END. */
typedef struct Sink {
	int (*device)(void *userdata, const Query *q, const DeviceSnapshot *s);
	/* LAST: the end follows at once, so it may be sent together with this port. */
	int (*port)(void *userdata, const Query *q, uint32_t port, int error, const PortSnapshot *s,
		    bool last);
	/* LIBRARY_FAILED: that of WireEnd */
	int (*end)(void *userdata, const Query *q, int error, bool library_failed,
		   const char *text);
	void *userdata;
} Sink;

/* Answers Q. Returns 0, whatever the hardware says, or the error of SINK. */
int query_run(Querier *querier, const Query *q, const Sink *sink);
