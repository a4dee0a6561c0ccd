/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What workers are given to do, and queues of it. A request is in one queue at most, and goes with
 * it. */

#include "source.h"

/* A query for a worker, or word that a device has gone. */
typedef struct Request {
	struct Request *next;
	Query query;
	void *owner;	      /* the pool's; NULL: forgotten, the answer is for nobody */
	uint64_t queued_usec; /* CLOCK_MONOTONIC */
	bool forget;	      /* not a query: the worker closes what it has open of query.device */
	bool sent;
} Request;

typedef struct RequestQueue {
	Request *first, *last;
} RequestQueue;

void request_append(RequestQueue *q, Request *r);
/* Takes all of FROM to the end of Q. */
void request_append_all(RequestQueue *q, RequestQueue *from);
Request *request_pop(RequestQueue *q);
/* Takes R out of Q if it is in there. */
bool request_remove(RequestQueue *q, const Request *r);
void request_free_all(RequestQueue *q);
