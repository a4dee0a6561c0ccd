/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Requests to workers, and queues of them. A request is in one queue at most, and goes with it. */

#include "source.h"

/* A device as the pool knows it. The pointer means nothing to a worker. */
typedef struct PoolDevice PoolDevice;

/* A query for a worker, or word that a device has gone. */
typedef struct Request {
	struct Request *next; /* in its queue */
	Query query;
	/* Whose query it is. NULL: the device has been forgotten, and nobody wants the answer. */
	PoolDevice *owner;
	uint64_t queued_usec; /* CLOCK_MONOTONIC: since when it waits for a worker */
	/* Sent: until then the worker process may begin queries of its own first. 0: it has not. */
	uint64_t overtaken_usec;
	uint64_t took_usec;  /* answered: how long the worker has worked on it */
	bool library_failed; /* answered: that of WireEnd */
	bool forget;	     /* not a query: the worker closes what it has open of query.device */
	bool sent;	     /* the worker process has been sent it */
	bool own;	     /* the worker process asks it by itself: it was not sent */
} Request;

typedef struct RequestQueue {
	Request *first, *last;
} RequestQueue;

/* Puts R, which is in no queue, at the end of Q. */
void request_append(RequestQueue *q, Request *r);
/* Takes all of FROM to the end of Q. */
void request_append_all(RequestQueue *q, RequestQueue *from);
/* Takes the first out of Q, NULL if there is none. */
Request *request_pop(RequestQueue *q);
/* Takes R out of Q if it is in there. */
bool request_remove(RequestQueue *q, const Request *r);
/* Frees all requests in Q, which is empty then. */
void request_free_all(RequestQueue *q);
